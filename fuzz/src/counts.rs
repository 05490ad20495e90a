//! Statistics of a run: sums for the record, and the situations that it met.

use std::collections::BTreeSet;

/// How much was tested, and which situations were met.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Calls of the library, and objects changed one by one.
    pub operations: u64,
    /// Pairs, answers and values that were compared with the model's.
    pub compared: u64,
    /// Names of situations: an operation, an algorithm, an error. An input with a new one is worth keeping in the corpus.
    pub seen: BTreeSet<String>,
}

impl Counts {
    /// One more operation of that name.
    pub fn operation(&mut self, name: &str) {
        self.operations += 1;
        self.meet(name);
    }

    /// A situation was met.
    pub fn meet(&mut self, name: &str) {
        if !self.seen.contains(name) {
            self.seen.insert(name.to_string());
        }
    }

    /// Adds another run.
    pub fn add(&mut self, other: Counts) {
        self.operations += other.operations;
        self.compared += other.compared;
        if !other.seen.is_subset(&self.seen) {
            self.seen.extend(other.seen);
        }
    }
}
