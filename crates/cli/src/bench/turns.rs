//! Rows take turns, block by block, so that a slow minute of the machine meets them all.

use std::rc::Rc;
use std::time::Duration;

use broadphase::{Aabb, Pair, Real, Shape, pairs_hash};

use super::check::{Oracle, agree};
use super::outcome::{Outcome, Record, Stages, Wrong};
use super::rows::{Contestant, Refusal};
use super::source::{Block, Blocks, Setting};
use crate::failure::Failure;
use crate::progress::Progress;

/// A contestant with its papers and its results so far.
pub struct Row<const D: usize, T> {
    /// Who runs.
    pub contestant: Box<dyn Contestant<D, T>>,
    /// Was it named by the user? Then it must suit.
    pub named: bool,
    /// Time spent in frames.
    spent: Duration,
    /// No more turns.
    done: bool,
    /// It turned out not to suit: no result.
    dropped: bool,
    /// The pairs of each frame of a turn, kept for the oracle.
    kept: Vec<Vec<Pair>>,
    outcome: Outcome,
}

/// How long rows run, and what is said meanwhile.
pub struct Rules<'a> {
    /// The time that a row may spend in frames.
    pub limit: Duration,
    /// Where progress is shown.
    pub progress: &'a Progress,
}

/// What a row is called, and where it runs.
pub struct Label {
    /// With its options, as given.
    pub name: String,
    /// Without them.
    pub base: &'static str,
    /// Is it a peer?
    pub peer: bool,
    /// The threads it runs on.
    pub threads: usize,
    /// The instruction set, if it is ours.
    pub isa: Option<&'static str>,
}

impl<const D: usize, T: Real> Row<D, T> {
    /// A row before its first frame.
    pub fn new(contestant: Box<dyn Contestant<D, T>>, label: Label, named: bool, setting: &Rc<Setting>, shape: Shape) -> Self {
        let outcome = Outcome {
            setting: Rc::clone(setting),
            shape,
            name: label.name,
            base: label.base,
            peer: label.peer,
            threads: label.threads,
            isa: label.isa,
            records: Vec::new(),
            stages: Stages::default(),
            facts: Default::default(),
            stopped: false,
            failed: None,
            oracle: None,
            wrong: Wrong::default(),
            moved: None,
        };
        Self { contestant, named, spent: Duration::ZERO, done: false, dropped: false, kept: Vec::new(), outcome }
    }

    /// Runs the frames of a block, until the limit. Keeps the pairs if `keep`.
    fn turn(&mut self, block: &Block<D, T>, rules: &Rules<'_>, keep: bool) -> Result<(), Failure> {
        self.kept.resize_with(if keep { block.frames().len() } else { 0 }, Vec::new);
        for (k, boxes) in block.frames().iter().enumerate() {
            match self.run(block, k, boxes) {
                Ok(()) => {}
                Err(refusal) => return self.refuse(refusal, block.first + k, rules.progress),
            }
            if keep {
                let kept = &mut self.kept[k];
                kept.clear();
                self.contestant.visit(&mut |pairs| kept.extend_from_slice(pairs));
            }
            rules.progress.step();
            let frames = self.outcome.setting.frames;
            if self.spent > rules.limit && self.outcome.records.len() < frames {
                (self.done, self.outcome.stopped) = (true, true);
                rules.progress.skip(frames - self.outcome.records.len());
                break;
            }
        }
        self.outcome.facts = self.contestant.facts();
        Ok(())
    }

    /// Runs one frame and notes its time, pairs and hash; only the frame itself is timed.
    fn run(&mut self, block: &Block<D, T>, k: usize, boxes: &[Aabb<D, T>]) -> Result<(), Refusal> {
        let timing = self.contestant.frame(boxes)?;
        self.spent += timing.wall;
        let (mut pairs, mut hash) = (0, 0u64);
        self.contestant.visit(&mut |chunk| {
            pairs += chunk.len() as u64;
            hash = hash.wrapping_add(pairs_hash(chunk));
        });
        let outcome = &mut self.outcome;
        outcome.stages.add(outcome.records.len(), self.contestant.stages());
        let tests = self.contestant.tests();
        outcome.records.push(Record { timing, pairs, hash, tests, block: block.number, counts: k > 0 });
        Ok(())
    }

    /// A row that does not suit is an error if it was named, and leaves quietly if not; one that fails is marked.
    fn refuse(&mut self, refusal: Refusal, frame: usize, progress: &Progress) -> Result<(), Failure> {
        let setting = &self.outcome.setting;
        self.done = true;
        progress.skip(setting.frames - self.outcome.records.len());
        match refusal {
            Refusal::Unsuited(text) if self.named => {
                return Err(Failure::Usage(format!("{}, frame {frame}: {text}; choose another", setting.scene)));
            }
            Refusal::Unsuited(text) => {
                self.dropped = true;
                progress.note(&format!("{} is skipped on {}, frame {frame}: {text}", self.outcome.name, setting.scene));
            }
            Refusal::Failed(text) => {
                self.outcome.stopped = true;
                progress.note(&format!("{} stops on {}, frame {frame}: {text}", self.outcome.name, setting.scene));
                self.outcome.failed = Some(text);
            }
        }
        Ok(())
    }
}

/// Runs all rows over all blocks, in each block starting one row further, and says who is right: by the oracle, or by agreement.
pub fn run<const D: usize, T: Real>(
    mut blocks: Blocks<D, T>,
    mut rows: Vec<Row<D, T>>,
    mut oracle: Option<Oracle<D, T>>,
    rules: &Rules<'_>,
) -> Result<Vec<Outcome>, Failure> {
    while let Some(block) = blocks.read()? {
        if rows.iter().all(|row| row.done) {
            break;
        }
        if let Some(oracle) = &mut oracle {
            rules.progress.say(&format!("oracle: {}", oracle.name()));
            oracle.learn(block)?;
        }
        let count = rows.len();
        for place in 0..count {
            let row = &mut rows[(place + block.number) % count];
            if row.done {
                continue;
            }
            rules.progress.say(&row.outcome.name);
            let before = row.outcome.records.len();
            row.turn(block, rules, oracle.is_some())?;
            if let Some(oracle) = &oracle {
                for k in 0..row.outcome.records.len() - before {
                    let wrong = oracle.compare(k, &mut row.kept[k]);
                    row.outcome.wrong.add(wrong);
                }
            }
        }
    }
    let moved = blocks.into_moved().map(Rc::new);
    let oracle = oracle.map(|oracle| oracle.name());
    let kept = rows.into_iter().filter(|row| !row.dropped);
    let mut outcomes: Vec<Outcome> = kept.map(|row| Outcome { moved: moved.clone(), oracle, ..row.outcome }).collect();
    if oracle.is_none() {
        agree(&mut outcomes);
    }
    Ok(outcomes)
}
