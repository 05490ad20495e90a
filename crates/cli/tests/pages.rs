//! `bench --html`: one page, whole or not at all.

mod tool;

use serde_json::Value;
use tool::Folder;

/// The JSON that a page carries.
fn embedded(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"results\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_page_has_charts_tables_machine_command_and_json() {
    let folder = Folder::new();
    let line = "bench pile settled sizes --n 50,200 --frames 10 --algorithms auto,brute-force --html page.html";
    let text = folder.ok(line);
    assert!(text.contains("pile: 50 objects"), "the table is printed all the same: {text}");
    assert_eq!(folder.names(), ["page.html"]);
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    // Two charts over scenes, three curves; times, frames and memory of six settings.
    assert_eq!(page.matches("<svg").count(), 2 + 3 + 6 * 3);
    for word in [&format!("broadphase {line}"), "<dt>cpu</dt>", "<p class=\"lead\">", "<!DOCTYPE html>", "</html>"] {
        assert!(page.contains(word), "no '{word}'");
    }
    let results = embedded(&page);
    assert_eq!(results["rows"].as_array().map(Vec::len), Some(12));
    assert!(results["machine"].is_object() && results["rows"][0].get("ms").is_none(), "series only where they are asked for");
}

#[test]
fn a_page_on_stdout_is_alone_there_and_agrees_with_the_json() {
    let folder = Folder::new();
    let page = folder.ok("bench pile --n 60 --frames 9 --algorithms brute-force --series --json a.json --html -");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    let file: Value = serde_json::from_slice(&folder.read("a.json")).unwrap();
    assert_eq!(embedded(&page), file);
}

#[test]
fn a_file_whose_name_is_html_stays_a_name() {
    let folder = Folder::new();
    folder.ok("record pile --n 20 --frames 4 -o a.npy");
    std::fs::rename(folder.path("a.npy"), folder.path("<b>'&.npy")).unwrap();
    let page = folder.ok("bench <b>'&.npy --algorithms brute-force --html -");
    assert!(!page.contains("<b>") && page.contains("&lt;b&gt;&#39;&amp;.npy, n = 20"));
    assert!(
        page.contains(&"'<b>'\\''&.npy'".replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&#39;"))
    );
    assert_eq!(embedded(&page)["rows"][0]["scene"], "<b>'&.npy");
}

#[test]
fn a_page_that_cannot_be_written_is_reported_before_the_work() {
    let folder = Folder::new();
    folder.fails("bench pile --n 50 --frames 2 --html nowhere/page.html", 1, &["nowhere/page.html"]);
    folder.fails("bench pile --n 50 --frames 2 --json a.json --html nowhere/page.html", 1, &["nowhere/page.html"]);
    folder.fails("bench pile --n 50 --html a --json a", 2, &["--json and --html", "same place"]);
    folder.fails("bench pile --n 50 --html - --json -", 2, &["same place"]);
    folder.fails("bench pile --n 50 --html", 2, &["--html"]);
    folder.fails("bench pile --htlm a", 2, &["did you mean '--html'?"]);
    assert!(folder.names().is_empty(), "nothing half-written stays");
}

#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_is_an_error_and_the_old_page_stays() {
    let folder = Folder::new();
    folder.write("page.html", b"old");
    std::os::unix::fs::symlink("/dev/full", folder.path("full.html")).unwrap();
    let run = folder.run("bench pile --n 50 --frames 2 --algorithms brute-force --html full.html");
    assert_eq!((run.code, run.stderr.lines().count()), (1, 1), "{}", run.stderr);
    assert!(run.stderr.contains("full.html: cannot write"), "{}", run.stderr);
    let bad = folder.run("bench missing.npy --html page.html");
    assert_eq!((bad.code, folder.read("page.html")), (1, b"old".to_vec()));
}
