//! The project's pages say what is so: paths that exist, algorithms that are listed.

use std::path::{Path, PathBuf};

use broadphase::algorithms;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The words between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

#[test]
fn every_path_in_the_pages_exists() {
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = page(name);
        let paths: Vec<_> = quoted(&text).filter(|word| word.starts_with("crates/") || word.starts_with("scripts/")).collect();
        assert!(paths.len() > 3, "{name} names {} paths", paths.len());
        for path in paths {
            assert!(root().join(path).exists(), "{name} names {path}, which does not exist");
        }
    }
}

#[test]
fn every_listed_algorithm_has_its_row_in_the_readme() {
    let text = page("README.md");
    let rows: String = text.lines().filter(|line| line.starts_with('|')).collect::<Vec<_>>().join("\n");
    for algorithm in algorithms::list() {
        assert!(quoted(&rows).any(|word| word == algorithm.name), "README.md has no row for {}", algorithm.name);
    }
}

/// All Markdown files of the repository, without build output and installed packages.
fn pages() -> Vec<PathBuf> {
    let (mut pages, mut folders) = (Vec::new(), vec![root()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())).flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() {
                let skipped = name.starts_with('.') || ["target", "node_modules", "dist"].contains(&name.as_str());
                folders.extend((!skipped).then_some(path));
            } else if name.ends_with(".md") {
                pages.push(path);
            }
        }
    }
    assert!(pages.len() > 30, "{pages:?}");
    pages.sort();
    pages
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The README's first screen says how far ahead the library is, in figures of the record, rounded.
#[test]
fn the_readme_has_the_figures_of_the_record() {
    let record = page("benchmarks/RESULTS.md");
    let summary = record.lines().find(|line| line.starts_with("- **In ")).expect("a record begins with its summary");
    let figures: Vec<f64> =
        summary.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|word| word.parse().ok()).collect();
    let [comparisons, least, most, mean] = figures[..] else { panic!("{summary}") };
    let readme = page("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = format!("is {least:.1} to {most:.1} times as fast as the best other library of the same run");
    assert!(readme.contains(&expected), "README.md does not say '{expected}'");
    let expected = format!("{mean:.1} times in the geometric mean of {comparisons} comparisons");
    assert!(readme.contains(&expected), "README.md does not say '{expected}'");
}

/// The lines of a page, each with whether it belongs to a block of code.
fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut code = false;
    text.lines().map(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        (line, code || fence)
    })
}

/// The lines of a page outside of code, without the words between backquotes.
fn prose(text: &str) -> String {
    let lines = lines(text).filter(|&(_, code)| !code);
    lines.map(|(line, _)| line.split('`').step_by(2).collect::<Vec<_>>().join("`") + "\n").collect()
}

/// The addresses of all links and pictures of a page.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let after =
        |opening: &'static str, closing: char| prose.split(opening).skip(1).filter_map(move |rest| rest.split(closing).next());
    let named = after("](", ')').chain(after(" src=\"", '"')).chain(after(" href=\"", '"')).map(str::to_owned);
    let listed =
        prose.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: ")).map(|(_, address)| address.trim().to_owned());
    named.chain(listed).collect()
}

/// The anchors of a page as a forge makes them from its headings: lower case, hyphens for spaces, otherwise letters, digits, hyphens and underscores
/// of the visible text; the second of two equal ones ends in -1.
fn anchors(text: &str) -> Vec<String> {
    let mut titles: Vec<String> = Vec::new();
    let mut anchors = Vec::new();
    for (line, _) in lines(text).filter(|&(line, code)| !code && line.starts_with('#')) {
        let mut title = line.trim_start_matches('#').trim().to_lowercase();
        while let Some(start) = title.find("](") {
            let end = title[start..].find(')').map_or(title.len(), |end| start + end + 1);
            title.replace_range(start..end, "");
        }
        let spaced = title.chars().map(|c| if c == ' ' { '-' } else { c });
        let anchor: String = spaced.filter(|c| c.is_alphanumeric() || ['-', '_'].contains(c)).collect();
        let same = titles.iter().filter(|known| **known == anchor).count();
        anchors.push(if same == 0 { anchor.clone() } else { format!("{anchor}-{same}") });
        titles.push(anchor);
    }
    anchors
}

#[test]
fn anchors_are_those_of_a_forge() {
    let text = "# One `two`: three_four\n```sh\n# a comment\n```\n## [link](../page.md), more\n## Twice\n## Twice\n";
    assert_eq!(anchors(text), ["one-two-three_four", "link-more", "twice", "twice-1"]);
    let text = "[a](b.md#c) `[no](link.md)` <img src=\"d.svg\"> ![e](f.png)\n```\n[no](link.md)\n```\n[g]: h.md\n";
    assert_eq!(links(text), ["b.md#c", "f.png", "d.svg", "h.md"]);
}

/// What is wrong with the links of a page, which has this text.
fn broken_links(page: &Path, text: &str) -> Vec<String> {
    let folder = page.parent().expect("a page is in a folder");
    let whole = root().canonicalize().expect("the repository");
    let mut broken = Vec::new();
    for link in links(text).into_iter().filter(|link| !link.starts_with("https://")) {
        let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
        let target = folder.join(file);
        let exists = file.is_empty() || target.canonicalize().is_ok_and(|target| target.starts_with(&whole));
        let has_anchor = || {
            let headings = anchors(&if file.is_empty() { text.to_owned() } else { read(&target) });
            headings.iter().any(|known| known == anchor)
        };
        if !exists || !anchor.is_empty() && !has_anchor() {
            broken.push(format!("{} links to {link}", page.display()));
        }
    }
    broken
}

#[test]
fn links_of_all_pages_lead_somewhere() {
    let broken: Vec<_> = pages().iter().flat_map(|path| broken_links(path, &read(path))).collect();
    assert_eq!(broken, [""; 0]);
    let bad =
        "# Title\n[a](gone.md) [b](#gone) [c](README.md#gone) [d](../../../../../../etc) [e](#title)\n<img src=\"gone.svg\">";
    assert_eq!(broken_links(&root().join("page.md"), bad).len(), 5);
}

/// Is there a test or an example of this name in a package?
fn in_a_package(folder: &str, name: &str) -> bool {
    ["crates", "integrations", "examples"].iter().any(|packages| {
        let packages = std::fs::read_dir(root().join(packages)).expect("a folder of packages").flatten();
        let mut folders = packages.map(|package| package.path().join(folder));
        folders.any(|folder| folder.join(format!("{name}.rs")).exists() || folder.join(name).join("main.rs").exists())
    })
}

/// Words that begin like this are paths.
const FOLDERS: [&str; 5] = ["benchmarks/", "crates/", "docs/", "integrations/", "scripts/"];

/// What a command, or a word, names that does not exist.
fn missing_in(command: &str) -> Option<&str> {
    let words: Vec<_> = command.split('#').next().unwrap_or(command).split_whitespace().collect();
    let named = words.windows(2).find(|pair| match pair[0] {
        "--example" => !in_a_package("examples", pair[1]),
        "--test" => !in_a_package("tests", pair[1]),
        _ => false,
    });
    // `slabs` is the algorithm that a page of the guide adds.
    let is_path = |word: &str| {
        FOLDERS.iter().any(|start| word.starts_with(start)) && !word.contains(['*', '<']) && !word.ends_with("/slabs")
    };
    named.map(|pair| pair[1]).or_else(|| words.into_iter().find(|word| is_path(word) && !root().join(word).exists()))
}

/// The changelog may name what was there.
#[test]
fn commands_and_paths_of_the_pages_name_what_exists() {
    assert_eq!(missing_in("cargo run --release --example gone -- 1"), Some("gone"));
    assert_eq!(missing_in("cargo test --test golden && scripts/gone"), Some("scripts/gone"));
    let mut missing = Vec::new();
    for path in pages().iter().filter(|path| !path.ends_with("CHANGELOG.md")) {
        let text = read(path);
        let code = lines(&text).filter(|&(line, code)| code && !line.contains("```")).map(|(line, _)| line);
        let inline = lines(&text).filter(|&(_, code)| !code).flat_map(|(line, _)| quoted(line));
        missing.extend(code.chain(inline).filter_map(missing_in).map(|word| format!("{} names {word}", path.display())));
    }
    assert_eq!(missing, [""; 0]);
}

/// Every page of the guide can be reached from its first one, and is a chapter of the book.
#[test]
fn the_guide_and_the_book_list_all_pages_of_the_guide() {
    let (index, book) = (page("docs/guide/README.md"), page("docs/SUMMARY.md"));
    for path in pages().iter().filter(|path| path.parent().is_some_and(|folder| folder.ends_with("docs/guide"))) {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a page has a name");
        assert!(name == "README.md" || links(&index).iter().any(|link| link == name), "the guide does not list {name}");
        assert!(links(&book).iter().any(|link| *link == format!("guide/{name}")), "docs/SUMMARY.md does not list {name}");
    }
}

/// A continued file name, such as `objects/frame.rs`, stands for a file under the library's sources.
#[test]
fn short_paths_exist_under_the_sources() {
    let text = page("ARCHITECTURE.md");
    for word in quoted(&text).filter(|word| word.ends_with(".rs") && word.contains('/') && !word.starts_with("crates/")) {
        assert!(root().join("crates/broadphase/src").join(word).exists(), "ARCHITECTURE.md names {word}");
    }
}
