//! `broadphase`, the command-line tool: pairs of recorded boxes, recordings of scenes, and benchmarks side by side.
//!
//! A command goes through `arguments` (all names are checked before anything runs), then `commands` (one file each) or `doctor`. Measurements
//! are made by the crate `broadphase-bench`, experiments by `broadphase-reproduce`. A command that fails returns a `Failure`: one line and an exit
//! code.

mod arguments;
mod commands;
mod doctor;

use std::process::ExitCode;

use arguments::Command;
use broadphase_bench::failure::Failure;
use broadphase_bench::output;

fn main() -> ExitCode {
    output::survive_size_limits();
    let result = arguments::parse(std::env::args_os().skip(1)).and_then(run);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demonstrate => commands::demo::run(),
        Command::Print(text) => output::with_stdout(|out| out.write_all(&text)),
        Command::List { json } => commands::list::run(json),
        Command::Pairs(asked) => commands::pairs::run(&asked),
        Command::Record(asked) => commands::record::run(&asked),
        Command::Bench(asked) => commands::bench::run(&asked),
        Command::Doctor(asked) => doctor::run(&asked),
        Command::View(asked) => commands::view::run(&asked),
        Command::Reproduce(asked) => broadphase_reproduce::run(&asked),
    }
}
