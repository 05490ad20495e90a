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

#[test]
fn links_between_the_pages_lead_somewhere() {
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        let text = page(name);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let known = match link.strip_prefix('#') {
                Some(anchor) => text.lines().any(|line| line.starts_with('#') && anchor_of(line) == anchor),
                None => link.starts_with("https://") || root().join(link).exists(),
            };
            assert!(known, "{name} links to {link}");
        }
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
