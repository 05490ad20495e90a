//! What one row measured: the figures that table, JSON and ratios are made of.

use std::rc::Rc;
use std::time::Duration;

use broadphase::{Regions, Shape};

use super::drives::Drive;
use super::measure::{Sorted, Timing, ms};
use super::rows::Facts;
use super::source::Setting;

/// One frame of one row.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Its time.
    pub timing: Timing,
    /// The number of pairs.
    pub pairs: u64,
    /// Their hash.
    pub hash: u64,
    /// The tests, if they are counted.
    pub tests: Option<u64>,
    /// What its parallel regions took, if they are measured.
    pub regions: Option<Regions>,
    /// The block it ran in.
    pub block: usize,
    /// Does it count in medians? The first frame of a block does not, since it starts with cold caches.
    pub counts: bool,
}

/// Pairs that a row got wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrong {
    /// Pairs that it did not find.
    pub missing: u64,
    /// Pairs that it reported and that do not exist.
    pub extra: u64,
}

impl Wrong {
    /// Is anything wrong?
    pub fn any(self) -> bool {
        self != Self::default()
    }

    /// Adds another frame's.
    pub fn add(&mut self, other: Wrong) {
        self.missing += other.missing;
        self.extra += other.extra;
    }
}

/// Milliseconds of each stage in each frame, zero where a stage did not run.
#[derive(Clone, Debug, Default)]
pub struct Stages(Vec<(&'static str, Vec<f64>)>);

impl Stages {
    /// Adds frame number `frame`; frames come in order.
    pub fn add(&mut self, frame: usize, stages: &[(&'static str, Duration)]) {
        for &(name, time) in stages {
            let at = self.0.iter().position(|stage| stage.0 == name).unwrap_or_else(|| {
                self.0.push((name, Vec::new()));
                self.0.len() - 1
            });
            let times = &mut self.0[at].1;
            times.resize(frame, 0.0);
            times.push(ms(time));
        }
    }
}

/// The clock by which rows are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Time of the one thread, which a busy machine does not disturb.
    Cpu,
    /// Time that passes: the only one that means the same for one thread and for several.
    Wall,
}

impl Clock {
    /// CPU time if all rows have it.
    pub fn of(outcomes: &[Outcome]) -> Self {
        if outcomes.iter().all(|outcome| outcome.cpu_median().is_some()) { Clock::Cpu } else { Clock::Wall }
    }

    /// Its name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Cpu => "CPU time",
            Clock::Wall => "wall time",
        }
    }

    /// Its reading for a frame.
    pub fn read(self, timing: &Timing) -> Duration {
        match self {
            Clock::Cpu => timing.cpu.unwrap_or(timing.wall),
            Clock::Wall => timing.wall,
        }
    }
}

/// The results of a row after its last frame.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What it ran on.
    pub setting: Rc<Setting>,
    /// What a box represents.
    pub shape: Shape,
    /// The algorithm or peer with its options, as given.
    pub name: String,
    /// Its name without options.
    pub base: &'static str,
    /// Is it a peer?
    pub peer: bool,
    /// Threads it ran on.
    pub threads: usize,
    /// How it was driven.
    pub drive: Drive,
    /// The instruction set, if it is ours.
    pub isa: Option<&'static str>,
    /// Its frames, from 0.
    pub records: Vec<Record>,
    /// Its stages.
    pub stages: Stages,
    /// What it reports about itself.
    pub facts: Facts,
    /// Did it reach its limit or fail before the last frame?
    pub stopped: bool,
    /// Why it failed, if it did.
    pub failed: Option<String>,
    /// The oracle that checked every frame, if there was one.
    pub oracle: Option<&'static str>,
    /// What it got wrong.
    pub wrong: Wrong,
    /// The share of objects that moved into each frame, if requested.
    pub moved: Option<Rc<Vec<Option<f64>>>>,
    /// Its own figures after each frame, if series were requested.
    pub trace: Vec<Vec<(&'static str, f64)>>,
}

impl Outcome {
    /// The name, and the number of threads if there are several.
    pub fn title(&self) -> String {
        if self.threads == 1 { self.name.clone() } else { format!("{} on {} threads", self.name, self.threads) }
    }

    /// The frames that count, or frame 0 if that is all there is.
    pub fn measured(&self) -> impl Iterator<Item = &Record> + Clone {
        let none = !self.records.iter().any(|record| record.counts);
        self.records.iter().enumerate().filter(move |(k, record)| record.counts || (none && *k == 0)).map(|(_, record)| record)
    }

    /// The time of every frame from 0, in ms.
    pub fn times(&self, clock: Clock) -> impl Iterator<Item = f64> {
        self.records.iter().map(move |record| ms(clock.read(&record.timing)))
    }

    /// Wall times of the measured frames, in ms.
    pub fn wall(&self) -> Sorted {
        Sorted::new(self.measured().map(|record| ms(record.timing.wall)))
    }

    /// The median CPU time of a frame in ms; unknown with more than one thread.
    pub fn cpu_median(&self) -> Option<f64> {
        let times: Option<Vec<f64>> = self.measured().map(|record| record.timing.cpu.map(ms)).collect();
        Sorted::new(times?.into_iter()).median()
    }

    /// The mean CPU time of a frame in ms; unknown with more than one thread.
    pub fn cpu_mean(&self) -> Option<f64> {
        let times: Option<Vec<f64>> = self.measured().map(|record| record.timing.cpu.map(ms)).collect();
        Sorted::new(times?.into_iter()).mean()
    }

    /// The median of a part of a frame, in ms.
    pub fn part_median(&self, part: impl Fn(&Timing) -> Duration) -> Option<f64> {
        Sorted::new(self.measured().map(|record| ms(part(&record.timing)))).median()
    }

    /// The figure by which rows are ranked: the median of CPU time, or of wall time.
    pub fn rank(&self, clock: Clock) -> f64 {
        let cpu = if clock == Clock::Cpu { self.cpu_median() } else { None };
        cpu.or_else(|| self.wall().median()).unwrap_or(f64::INFINITY)
    }

    /// Medians of the stages over the measured frames, in ms.
    pub fn stage_medians(&self) -> Vec<(&'static str, f64)> {
        let none = !self.records.iter().any(|record| record.counts);
        let median = |times: &[f64]| {
            let measured = self.records.iter().enumerate().filter(|(k, record)| record.counts || (none && *k == 0));
            Sorted::new(measured.map(|(k, _)| times.get(k).copied().unwrap_or(0.0))).median()
        };
        self.stages.0.iter().filter_map(|(name, times)| median(times).map(|median| (*name, median))).collect()
    }

    /// The shortest time of a stage over the measured frames, in ms: stages have no CPU clock, and of the frames that a busy machine
    /// disturbs the fastest is the least disturbed.
    pub fn stage_min(&self, name: &str) -> Option<f64> {
        let times = self.stage_times(name)?;
        let counted = self.records.iter().zip(times).filter(|(record, _)| record.counts).map(|(_, &time)| time);
        counted.min_by(f64::total_cmp)
    }

    /// The time of a stage in each frame, in ms, up to the last one in which it ran.
    pub fn stage_times(&self, name: &str) -> Option<&[f64]> {
        self.stages.0.iter().find(|stage| stage.0 == name).map(|stage| &stage.1[..])
    }

    /// A figure of the row's own after its last frame.
    pub fn extra(&self, name: &str) -> Option<f64> {
        find(&self.facts.extra, name)
    }

    /// A figure of the row's own in each frame of the trace; NaN where it does not have it.
    pub fn traced(&self, name: &str) -> Vec<f64> {
        self.trace.iter().map(|figures| find(figures, name).unwrap_or(f64::NAN)).collect()
    }

    /// Pairs over all frames.
    pub fn pairs_total(&self) -> u64 {
        self.records.iter().map(|record| record.pairs).sum()
    }

    /// The hash over all frames.
    pub fn hash(&self) -> u64 {
        self.records.iter().fold(0, |sum: u64, record| sum.wrapping_add(record.hash))
    }

    /// Tests over all frames, if they are counted.
    pub fn tests_total(&self) -> Option<u64> {
        self.records.iter().map(|record| record.tests).sum()
    }

    /// Tests a second over the measured frames, by CPU time where known.
    pub fn tests_per_second(&self) -> Option<f64> {
        let tests: u64 = self.measured().map(|record| record.tests).sum::<Option<u64>>()?;
        let time: Duration = self.measured().map(|record| record.timing.cpu.unwrap_or(record.timing.wall)).sum();
        (tests > 0 && !time.is_zero()).then(|| tests as f64 / time.as_secs_f64())
    }

    /// Is it right, as far as it was checked?
    pub fn right(&self) -> bool {
        !self.wrong.any() && self.failed.is_none()
    }
}

fn find(figures: &[(&'static str, f64)], name: &str) -> Option<f64> {
    figures.iter().find(|figure| figure.0 == name).map(|figure| figure.1)
}
