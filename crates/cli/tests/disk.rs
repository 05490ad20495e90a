//! A full disk, a file that is cut short, a process that is killed while it writes: what was there before stays, nothing half-written takes its name.
#![cfg(unix)]

mod tool;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tool::Folder;

/// Runs the tool in a shell that limits files to a number of blocks of 512 bytes. The signal that comes with the limit is ignored, so that
/// writing fails as it does on a full disk.
fn run_limited(folder: &Folder, blocks: usize, line: &str) -> (i32, String) {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {line}");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_broadphase")]).current_dir(&folder.0);
    let output = command.output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_full_disk_is_an_error_and_leaves_the_old_file() {
    let folder = Folder::new();
    folder.ok("record pile --n 50 --frames 1 -o a.npy");
    folder.ok("pairs a.npy -o p.npy");
    let (recording, pairs) = (fs::read(folder.0.join("a.npy")).unwrap(), fs::read(folder.0.join("p.npy")).unwrap());
    // The scene does not fit, then the pairs of a scene that is there.
    let (code, said) = run_limited(&folder, 8, "record pile --n 5000 --frames 3 -o a.npy");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("a.npy") && said.contains("write"), "{said}");
    assert_eq!(fs::read(folder.0.join("a.npy")).unwrap(), recording, "the old file stays");
    folder.ok("record pile --n 5000 --frames 1 -o b.npy");
    let (code, said) = run_limited(&folder, 8, "pairs b.npy -o p.npy");
    assert_eq!(code, 1, "{said}");
    assert_eq!(fs::read(folder.0.join("p.npy")).unwrap(), pairs, "the old pairs stay");
    assert_eq!(names(&folder.0), ["a.npy", "b.npy", "p.npy"], "nothing half-written stays");
}

#[test]
fn a_full_device_behind_standard_output_is_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = Folder::new();
    folder.ok("record pile --n 3000 --frames 1 -o a.npy");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadphase"));
    let output = command.args(["pairs", "a.npy"]).current_dir(&folder.0).stdout(full).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && !said.is_empty() && !said.contains("panicked"), "{said}");
}

#[test]
fn every_way_to_cut_a_file_short_is_an_error_that_names_it() {
    let folder = Folder::new();
    folder.ok("record pile --n 20 --frames 2 -o a.npy");
    let whole = fs::read(folder.0.join("a.npy")).unwrap();
    for length in (0..whole.len()).step_by(whole.len() / 40).chain([1, 5, 6, 9, 10, 127, 128, whole.len() - 1]) {
        fs::write(folder.0.join("cut.npy"), &whole[..length]).unwrap();
        let run = folder.run("pairs cut.npy -o p.npy");
        assert!(run.code == 1 && run.stderr.contains("cut.npy") && !run.stderr.contains("panicked"), "{length}: {}", run.stderr);
        assert!(!folder.0.join("p.npy").exists(), "{length}");
    }
}

#[test]
fn a_killed_process_leaves_the_old_file_whole() {
    let folder = Folder::new();
    folder.ok("record pile --n 50 --frames 1 -o a.npy");
    let before = fs::read(folder.0.join("a.npy")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadphase"));
    command.args(["record", "pile", "--n", "20000", "--frames", "2000", "-o", "a.npy"]).current_dir(&folder.0);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Until something is written under the other name.
    let (start, is_partial) = (Instant::now(), |name: &String| name.ends_with(".partial"));
    let written = || {
        names(&folder.0)
            .iter()
            .find(|name| is_partial(name))
            .is_some_and(|name| fs::metadata(folder.0.join(name)).is_ok_and(|data| data.len() > 0))
    };
    while !written() {
        assert!(start.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none(), "it does not write");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(fs::read(folder.0.join("a.npy")).unwrap(), before, "the old file stays");
    folder.ok("record pile --n 60 --frames 1 -o a.npy");
    assert_ne!(fs::read(folder.0.join("a.npy")).unwrap(), before);
}
