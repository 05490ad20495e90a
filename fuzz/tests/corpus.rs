//! Every input of the committed corpus, and of the findings, through its target.

use std::path::Path;

use broadphase_fuzz::{Counts, TARGETS};

/// Runs all inputs of a folder; a failure names its file.
fn replay(name: &str, run: fn(&[u8]) -> Counts) -> (usize, Counts) {
    let (mut inputs, mut counts) = (0, Counts::default());
    for kind in ["corpus", "findings"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(name);
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let data = std::fs::read(&path).expect("a file of the corpus");
            let found = std::panic::catch_unwind(|| run(&data));
            counts.add(found.unwrap_or_else(|_| panic!("{} fails", path.display())));
            inputs += 1;
        }
    }
    (inputs, counts)
}

#[test]
fn every_input_of_the_corpus_passes_and_every_target_has_some() {
    for (name, run) in TARGETS {
        let (inputs, counts) = replay(name, run);
        assert!(inputs >= 10, "{name}: only {inputs} inputs");
        assert!(counts.operations as usize >= inputs && !counts.seen.is_empty(), "{name}: {counts:?}");
    }
}

#[test]
fn no_input_is_needed_and_zeros_are_fine() {
    for (_, run) in TARGETS {
        run(&[]);
        run(&[0; 300]);
        run(&[255; 300]);
    }
}
