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

/// The name under which a forge links to a heading: lower case, hyphens for spaces, nothing but letters, digits and hyphens.
fn anchor_of(heading: &str) -> String {
    let title = heading.trim_start_matches('#').trim().to_lowercase();
    title.chars().map(|c| if c == ' ' { '-' } else { c }).filter(|c| c.is_alphanumeric() || *c == '-').collect()
}

/// All pages: those at the root, those of the guide, and those of the packages.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = Vec::new();
    for folder in
        ["", "docs/guide", "benchmarks", "crates/python", "crates/capi", "crates/mpi", "npm", "integrations/bevy_broadphase"]
    {
        let entries = std::fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        pages.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    assert!(pages.len() > 15, "{pages:?}");
    pages
}

/// The addresses of all links of a page, those in code left out.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next())
}

#[test]
fn links_between_the_pages_lead_somewhere() {
    for path in pages() {
        let text = std::fs::read_to_string(&path).expect("a page that was listed");
        let folder = path.parent().expect("a page is in a folder");
        for link in links(&text).filter(|link| !link.starts_with("https://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { folder.join(file) };
            assert!(target.exists(), "{} links to {link}", path.display());
            if !anchor.is_empty() {
                let target = std::fs::read_to_string(&target).expect("a page with headings");
                let known = target.lines().any(|line| line.starts_with('#') && anchor_of(line) == anchor);
                assert!(known, "{} links to {link}", path.display());
            }
        }
    }
}

/// Every page of the guide can be reached from its first one.
#[test]
fn the_guide_lists_all_its_pages() {
    let index = page("docs/guide/README.md");
    for path in pages().iter().filter(|path| path.parent().is_some_and(|folder| folder.ends_with("docs/guide"))) {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a page has a name");
        assert!(name == "README.md" || links(&index).any(|link| link == name), "the guide does not list {name}");
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
