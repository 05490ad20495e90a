//! `reproduce`: files and pages, going on where it stopped, and what can go wrong.

mod tool;

use std::fs;
use std::process::Command;

use serde_json::Value;
use tool::Folder;

/// Counts tests and takes no time: the same figures on every machine and in both modes.
const CHEAP: &str = "004-test3";
const OTHER: &str = "004-test4";

fn result(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&folder.read(&format!("out/{name}.json"))).unwrap()
}

fn written(folder: &Folder) -> Vec<String> {
    let names = fs::read_dir(folder.path("out")).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn an_experiment_leaves_its_figures_a_chart_a_page_and_an_index() {
    let folder = Folder::new();
    let said = folder.ok(&format!("reproduce {CHEAP} -o out"));
    assert!(said.starts_with(CHEAP) && said.contains(" done ") && said.ends_with("index.html\n"), "{said}");
    assert_eq!(written(&folder), ["004-test3.html", "004-test3.json", "004-test3.svg", "README.md", "index.html"]);
    let result = result(&folder, CHEAP);
    assert_eq!(
        (&result["experiment"], &result["paper"], &result["run"]["mode"]),
        (&CHEAP.into(), &"004".into(), &"quick".into())
    );
    // Counted, not timed: eight numbers of objects, three structures in two modes.
    let rows = result["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 48);
    assert!(rows.iter().any(|row| row["algorithm"] == "brute-force" && row["n"] == 50 && row["tests_per_mover"] == 49.0));
    let findings = result["findings"].as_array().unwrap();
    for key in ["paper", "source", "ours", "rule", "verdict"] {
        assert!(findings.iter().all(|finding| finding[key].as_str().is_some_and(|text| !text.is_empty())), "{key}");
    }
    let text = |name: &str| String::from_utf8(folder.read(&format!("out/{name}"))).unwrap();
    let (page, index) = (text("004-test3.html"), text("index.html"));
    assert!(page.contains("<svg") && page.contains("<table") && page.contains("section 3.2.3"));
    let sentence = result["sentence"].as_str().unwrap().replace('\'', "&#39;");
    let sentence = sentence.as_str();
    assert!(index.contains("href=\"004-test3.html\"") && index.contains(sentence));
    // On the page, the counts before the colon are a badge.
    let (_, found) = sentence.split_once(": ").unwrap();
    let badge = format!("\">{}</span>", result["verdict"].as_str().unwrap());
    assert!(page.contains(&badge) && page.contains(found), "{badge} {sentence}");
    assert!(index.contains("not run"), "the index also says what is missing");
    assert!(text("004-test3.svg").starts_with("<svg"));
    for page in [&page, &index] {
        assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "nothing is loaded from outside");
    }
}

#[test]
fn what_is_finished_is_kept_and_what_is_not_is_run() {
    let folder = Folder::new();
    folder.ok(&format!("reproduce {CHEAP} -o out"));
    let before = folder.read("out/004-test3.json");
    let said = folder.ok(&format!("reproduce {CHEAP} {OTHER} -o out"));
    let words: Vec<&str> = said.lines().take(2).map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(words, ["kept", "done"], "{said}");
    assert_eq!(folder.read("out/004-test3.json"), before);

    let said = folder.ok(&format!("reproduce {CHEAP} --full -o out"));
    assert!(said.contains(" done "), "another mode is another run: {said}");
    assert_eq!(result(&folder, CHEAP)["run"]["mode"], "full");
}

#[test]
fn a_result_that_is_not_whole_is_made_again() {
    let folder = Folder::new();
    folder.ok(&format!("reproduce {CHEAP} -o out"));
    folder.write("out/004-test3.json", b"{\"experiment\": \"004-te");
    assert!(folder.ok(&format!("reproduce {CHEAP} -o out")).contains(" done "));
    fs::remove_file(folder.path("out/004-test3.svg")).unwrap();
    assert!(folder.ok(&format!("reproduce {CHEAP} -o out")).contains(" done "));
    let mut old = result(&folder, CHEAP);
    old["run"]["version"] = "0.0.1".into();
    folder.write("out/004-test3.json", old.to_string().as_bytes());
    assert!(folder.ok(&format!("reproduce {CHEAP} -o out")).contains(" done "), "an older version's");
}

#[test]
fn bad_names_and_folders_are_refused_before_anything_runs() {
    let folder = Folder::new();
    folder.fails("reproduce 004-tset3 -o out", 2, &["unknown experiment", "did you mean '004-test3'?"]);
    folder.fails("reproduce 004-test3", 2, &["needs -o DIR"]);
    folder.fails("reproduce 004-test3 --quick --full -o out", 2, &["--quick and --full"]);
    assert_eq!(folder.names(), Vec::<String>::new(), "no folder was made");
    folder.write("file", b"");
    folder.fails("reproduce 004-test3 -o file", 1, &["file", "cannot create"]);
    folder.fails("reproduce 004-test3 -o file/below", 1, &["file/below", "cannot create"]);
    fs::create_dir_all(folder.path("out/index.html")).unwrap();
    folder.fails("reproduce 004-test3 -o out", 1, &["out/index.html", "not a regular file"]);
}

/// A limit on the size of files stands for a disk that is full: a write fails half way through a file.
#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_leaves_what_was_written_whole() {
    let folder = Folder::new();
    folder.ok(&format!("reproduce {CHEAP} -o out"));
    let (names, before) = (written(&folder), folder.read("out/004-test3.json"));

    let script = format!("trap '' XFSZ; ulimit -f 8; exec \"$0\" reproduce {CHEAP} {OTHER} -o out");
    let index = fs::metadata(folder.path("out/index.html")).unwrap().len();
    assert!(index > 8 * 1024, "the limit must lie below the size of a page: {index}");
    fs::remove_file(folder.path("out/004-test3.svg")).unwrap(); // so that the first of them is to be written again
    let run = Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_broadphase")]).current_dir(&folder.0).output().unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("cannot write") && said.contains("run the same command again"), "{said}");
    assert_eq!(folder.read("out/004-test3.json"), before, "what was whole is whole");
    assert!(written(&folder).iter().all(|name| names.contains(name)), "nothing half-written stays: {:?}", written(&folder));

    folder.ok(&format!("reproduce {CHEAP} {OTHER} -o out"));
    assert_eq!(written(&folder).len(), 8, "three files for each experiment, index.html and README.md: {:?}", written(&folder));
}
