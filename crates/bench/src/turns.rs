//! Rows take turns, block by block, so that a slow phase of the machine affects all of them alike.

use std::rc::Rc;
use std::time::Duration;

use broadphase::{Aabb, Pair, Real, Shape, pairs_hash};

use super::check::{Oracle, agree};
use super::drives::Drive;
use super::outcome::{Outcome, Record, Stages, Wrong};
use super::rows::{Refusal, RowRunner};
use super::source::{Block, Blocks, Setting};
use crate::failure::Failure;
use crate::progress::Progress;

/// A row with its label and its results so far.
pub struct Row<const D: usize, T> {
    /// What runs.
    pub runner: Box<dyn RowRunner<D, T>>,
    /// Was it named by the user? Then it must suit.
    pub named: bool,
    /// Time spent in frames.
    spent: Duration,
    /// No more turns.
    done: bool,
    /// It does not suit the frames, and has no result.
    dropped: bool,
    outcome: Outcome,
}

/// The pairs of each frame of one turn, if there is an oracle to see them. All rows share it: at a million objects it is 100 MB.
type Kept = Option<Vec<Vec<Pair>>>;

/// How long rows run, and where progress is shown.
pub struct Rules<'a> {
    /// The time that a row may spend in frames.
    pub limit: Duration,
    /// The frames that a row runs whatever its limit.
    pub min_frames: usize,
    /// Keep every frame's figures?
    pub series: bool,
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
    /// How it is driven.
    pub drive: Drive,
    /// The instruction set, if it is ours.
    pub isa: Option<&'static str>,
}

impl<const D: usize, T: Real> Row<D, T> {
    /// A row before its first frame.
    pub fn new(runner: Box<dyn RowRunner<D, T>>, label: Label, named: bool, setting: &Rc<Setting>, shape: Shape) -> Self {
        let outcome = Outcome {
            setting: Rc::clone(setting),
            shape,
            name: label.name,
            base: label.base,
            peer: label.peer,
            threads: label.threads,
            drive: label.drive,
            isa: label.isa,
            records: Vec::new(),
            stages: Stages::default(),
            facts: Default::default(),
            stopped: false,
            failed: None,
            oracle: None,
            wrong: Wrong::default(),
            moved: None,
            trace: Vec::new(),
        };
        Self { runner, named, spent: Duration::ZERO, done: false, dropped: false, outcome }
    }

    /// Runs the frames of a block, until the limit.
    fn turn(&mut self, block: &Block<D, T>, rules: &Rules<'_>, kept: &mut Kept) -> Result<(), Failure> {
        for (k, boxes) in block.frames().iter().enumerate() {
            match self.run(block, k, boxes) {
                Ok(()) => {}
                Err(refusal) => return self.refuse(refusal, block.first + k, rules.progress),
            }
            if let Some(kept) = kept {
                kept.resize_with(kept.len().max(k + 1), Vec::new);
                let kept = &mut kept[k];
                kept.clear();
                self.runner.visit(&mut |pairs| kept.extend_from_slice(pairs));
            }
            if rules.series {
                self.outcome.trace.push(self.runner.facts().extra);
            }
            rules.progress.step();
            let (frames, done) = (self.outcome.setting.frames, self.outcome.records.len());
            if self.spent > rules.limit && done >= rules.min_frames && done < frames {
                (self.done, self.outcome.stopped) = (true, true);
                rules.progress.skip(frames - done);
                break;
            }
        }
        self.outcome.facts = self.runner.facts();
        Ok(())
    }

    /// Runs one frame and notes its time, pairs and hash; only the frame itself is timed.
    fn run(&mut self, block: &Block<D, T>, k: usize, boxes: &[Aabb<D, T>]) -> Result<(), Refusal> {
        let timing = self.runner.frame(boxes)?;
        self.spent += timing.wall;
        let (mut pairs, mut hash) = (0, 0u64);
        self.runner.visit(&mut |chunk| {
            pairs += chunk.len() as u64;
            hash = hash.wrapping_add(pairs_hash(chunk));
        });
        let outcome = &mut self.outcome;
        outcome.stages.add(outcome.records.len(), self.runner.stages());
        let tests = self.runner.tests();
        let regions = self.runner.regions();
        outcome.records.push(Record { timing, pairs, hash, tests, regions, block: block.number, counts: k > 0 });
        Ok(())
    }

    /// A row that does not suit is an error if it was named, and is skipped with a note if not; one that fails is marked.
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

/// Runs all rows over all blocks, in each block starting one row further, and decides which rows are right: by the oracle, or by agreement.
pub fn run<const D: usize, T: Real>(
    mut blocks: Blocks<D, T>,
    mut rows: Vec<Row<D, T>>,
    mut oracle: Option<Oracle<D, T>>,
    rules: &Rules<'_>,
) -> Result<Vec<Outcome>, Failure> {
    let mut kept: Kept = oracle.is_some().then(Vec::new);
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
            row.turn(block, rules, &mut kept)?;
            if let (Some(oracle), Some(kept)) = (&oracle, &mut kept) {
                let frames = kept.iter_mut().take(row.outcome.records.len() - before);
                frames.enumerate().for_each(|(k, pairs)| row.outcome.wrong.add(oracle.compare(k, pairs)));
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::fakes::{Fake, TwoBoxes, setting};
    use super::*;

    type Log = Rc<RefCell<Vec<(&'static str, usize)>>>;

    /// Runs fakes over some frames with a limit of ten seconds.
    fn run_rows(frames: usize, fakes: Vec<Fake>, named: bool, check: bool) -> Result<Vec<Outcome>, Failure> {
        let setting = setting(frames);
        let row = |fake: Fake| {
            let label =
                Label { name: fake.name.to_string(), base: fake.name, peer: false, threads: 1, drive: Drive::Step, isa: None };
            Row::new(Box::new(fake), label, named, &setting, Shape::Box)
        };
        let rows = fakes.into_iter().map(row).collect();
        let oracle = if check { Oracle::new(&setting, Shape::Box, &[])? } else { None };
        let progress = Progress::new("test", 0);
        let rules = Rules { limit: Duration::from_secs(10), min_frames: 1, series: false, progress: &progress };
        run(Blocks::new(Box::new(TwoBoxes), &setting, false), rows, oracle, &rules)
    }

    #[test]
    fn rows_take_turns_in_blocks_and_the_first_moves_on() {
        let log = Log::default();
        let outcomes = run_rows(20, ["a", "b"].map(|name| Fake::honest(name, &log)).into(), true, false).unwrap();
        let firsts: Vec<_> = log.borrow().chunk_by(|x, y| x.0 == y.0).map(|turn| (turn[0].0, turn[0].1, turn.len())).collect();
        // Blocks of 7, 7 and 6 frames: a b, b a, a b; adjacent turns of the same row show as one.
        assert_eq!(firsts, [("a", 0, 7), ("b", 0, 14), ("a", 7, 13), ("b", 14, 6)]);
        for outcome in outcomes {
            assert_eq!((outcome.records.len(), outcome.measured().count(), outcome.right()), (20, 17, true));
        }
    }

    #[test]
    fn a_row_beyond_its_limit_stops_and_its_frames_stay_comparable() {
        let log = Log::default();
        let slow = Fake { takes: Duration::from_secs(4), ..Fake::honest("slow", &log) };
        let outcomes = run_rows(16, vec![slow, Fake::honest("fast", &log)], true, false).unwrap();
        assert_eq!((outcomes[0].stopped, outcomes[0].records.len(), outcomes[0].right()), (true, 3, true));
        assert_eq!((outcomes[1].stopped, outcomes[1].records.len()), (false, 16));
    }

    #[test]
    fn the_oracle_counts_what_is_missing_and_what_is_invented() {
        let log = Log::default();
        let blind = Fake { pairs: vec![], ..Fake::honest("blind", &log) };
        let twice = Fake { pairs: vec![Pair::new(0, 1); 2], ..Fake::honest("twice", &log) };
        let outcomes = run_rows(10, vec![blind, twice, Fake::honest("honest", &log)], true, true).unwrap();
        let wrong: Vec<_> = outcomes.iter().map(|outcome| (outcome.wrong.missing, outcome.wrong.extra)).collect();
        assert_eq!(wrong, [(10, 0), (0, 10), (0, 0)]);
        assert!(outcomes.iter().all(|outcome| outcome.oracle == Some("brute-force")));
    }

    #[test]
    fn one_that_does_not_suit_is_an_error_if_named_and_left_out_if_not() {
        let log = Log::default();
        let fakes = || {
            let unsuited = Fake { gives_up: Some((0, || Refusal::Unsuited("odd".to_string()))), ..Fake::honest("odd", &log) };
            vec![Fake::honest("even", &log), unsuited]
        };
        assert!(matches!(run_rows(4, fakes(), true, false), Err(Failure::Usage(text)) if text.contains("odd")));
        let outcomes = run_rows(4, fakes(), false, false).unwrap();
        assert_eq!(outcomes.iter().map(|outcome| outcome.name.as_str()).collect::<Vec<_>>(), ["even"]);
    }

    #[test]
    fn one_that_fails_keeps_its_frames_and_says_why() {
        let log = Log::default();
        let failing = Fake { gives_up: Some((3, || Refusal::Failed("full".to_string()))), ..Fake::honest("failing", &log) };
        let outcomes = run_rows(6, vec![failing, Fake::honest("other", &log)], false, true).unwrap();
        let outcome = &outcomes[0];
        assert_eq!((outcome.records.len(), outcome.stopped, outcome.failed.as_deref()), (3, true, Some("full")));
        assert_eq!((outcome.right(), outcome.wrong.any()), (false, false));
        assert_eq!(outcomes[1].records.len(), 6);
    }
}
