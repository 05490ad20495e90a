//! `broadphase view`: a page that shows a scene, live or recorded.

use std::process::{Command, Stdio};

use broadphase_bench::failure::Failure;
use broadphase_bench::output::{self, Target};
use broadphase_bench::progress::note;

use crate::arguments::ViewArguments;

/// Writes the page, or serves it until the process ends.
pub fn run(asked: &ViewArguments) -> Result<(), Failure> {
    if let Some(path) = &asked.output {
        let target = Target::File(path.clone());
        target.probe()?;
        return target.write_text(&broadphase_view::export(&asked.request)?);
    }
    asked.request.check()?;
    let running = broadphase_view::start(asked.request.clone(), asked.port)?;
    output::print(&format!("{}\n", running.address()))?;
    if asked.open && !open(running.address()) {
        note("no browser could be started; open the address yourself");
    }
    note("serving this machine only; Ctrl-C ends it");
    running.wait();
    Ok(())
}

/// Opens the address in the desktop's browser; false if that failed.
fn open(address: &str) -> bool {
    let program: &[&str] = match std::env::consts::OS {
        "macos" => &["open"],
        "windows" => &["cmd", "/C", "start", ""],
        _ => &["xdg-open"],
    };
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Not waited for: some of them run for as long as the browser does.
    command.spawn().is_ok()
}
