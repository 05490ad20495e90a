//! How experiments measure: with the rows, turns and clocks of `bench`, within a time budget.

use std::str::FromStr;
use std::time::{Duration, Instant};

use broadphase::Shape;
use broadphase_scenes::SceneSpec;
use serde_json::Value;

use super::Mode;
use super::curves::Points;
use broadphase_bench::failure::Failure;
use broadphase_bench::progress::Progress;
use broadphase_bench::ratios::{self, Ratio};
use broadphase_bench::source::Setting;
use broadphase_bench::verdict;
use broadphase_bench::{Choice, Source};
use broadphase_bench::{Clock, Drive, Outcome, Request, json, ms, timed};

/// Seconds for all experiments of a quick run. The last measurement of each may overshoot its budget; the whole run takes under 15 minutes.
const TOTAL_BUDGET: f64 = 600.0;

/// Seconds after which a quick experiment starts no further measurement, at least and at most.
const BUDGET: (f64, f64) = (3.0, 18.0);

/// The share of the budget that a row of a quick run may spend in frames.
const ROW_SHARE: f64 = 0.14;

/// Seconds that a row of a full run may spend in frames.
const FULL_ROW: f64 = 600.0;

/// The budget of the next quick experiment, when `passed` seconds are over and `left` experiments remain, itself included.
pub fn budget(passed: f64, left: usize) -> f64 {
    ((TOTAL_BUDGET - passed) / left.max(1) as f64).clamp(BUDGET.0, BUDGET.1)
}

/// The state of one experiment: its mode, its clock, and every row so far.
pub struct Lab {
    /// How much is run.
    pub mode: Mode,
    /// Seconds after which nothing more is started, in a quick run.
    budget: f64,
    /// The start of the progress bar's text.
    title: String,
    /// Upper limits of the objects and frames of any measurement. Only tests set them.
    limits: (usize, usize),
    started: Instant,
    rows: Vec<Value>,
    notes: Vec<String>,
    checked: Vec<Checked>,
}

/// The rows that ran on one setting so far, in one trial or several: all must have found the same pairs.
struct Checked {
    /// Scene, number of objects, shape, number of frames skipped between blocks.
    setting: (String, usize, Shape, usize),
    /// The rows, by name and number of threads, each once.
    rows: Vec<(String, usize)>,
    /// The hash of the pairs of each frame.
    hashes: Vec<u64>,
}

/// One measurement: rows that take turns on the frames of a scene.
pub struct Trial<'a> {
    scene: String,
    n: usize,
    frames: usize,
    skip: usize,
    algorithms: &'a [&'a str],
    peers: &'a [&'a str],
    shape: Shape,
    threads: usize,
    series: bool,
}

impl<'a> Trial<'a> {
    /// Some algorithms on a scene.
    pub fn new(scene: &str, n: usize, frames: usize, algorithms: &'a [&'a str]) -> Self {
        let scene = scene.to_string();
        Self { scene, n, frames, skip: 0, algorithms, peers: &[], shape: Shape::Box, threads: 1, series: false }
    }

    /// Skips this many frames between blocks of eight, to sample a long run.
    pub fn skipping(mut self, frames: usize) -> Self {
        self.skip = frames;
        self
    }

    /// Adds those of these peers that the build has.
    pub fn with_peers(mut self, peers: &'a [&'a str]) -> Self {
        self.peers = peers;
        self
    }

    /// Objects are balls, given by their boxes.
    pub fn of_balls(mut self) -> Self {
        self.shape = Shape::Ball;
        self
    }

    /// On several threads.
    pub fn on_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Also records the structure's figures of every frame.
    pub fn with_series(mut self) -> Self {
        self.series = true;
        self
    }
}

impl Lab {
    /// A lab for one experiment, with a budget in seconds that counts in quick runs.
    pub fn new(mode: Mode, title: String, budget: f64) -> Self {
        let limits = (usize::MAX, usize::MAX);
        Self { mode, budget, title, limits, started: Instant::now(), rows: Vec::new(), notes: Vec::new(), checked: Vec::new() }
    }

    /// A lab whose limits let any experiment finish in a moment.
    #[cfg(test)]
    pub fn tiny() -> Self {
        Self { limits: (300, 12), ..Self::new(Mode::Quick, String::new(), 1e6) }
    }

    /// The number of objects to measure with: `n`, unless a test limits it.
    pub fn objects(&self, n: usize) -> usize {
        n.min(self.limits.0)
    }

    /// The first value in a quick run, the second in a full one.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        match self.mode {
            Mode::Quick => quick,
            Mode::Full => full,
        }
    }

    /// Is there time for one more measurement? If not, adds a note that it is left out.
    pub fn has_time_for(&mut self, what: &str) -> bool {
        let time = self.mode == Mode::Full || self.started.elapsed().as_secs_f64() < self.budget;
        if !time {
            self.note(format!("Time was up before {what}: it is left out."));
        }
        time
    }

    /// Adds a remark to the page, once.
    pub fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// A progress bar for a measurement that is not one of frames.
    pub fn progress(&self, what: &str, steps: usize) -> Progress {
        Progress::new(&format!("{}{what}", self.title), steps)
    }

    /// Measures a trial. Fails if one of our rows finds wrong pairs: no figure comes from a wrong result.
    pub fn run(&mut self, trial: &Trial<'_>) -> Result<Rows, Failure> {
        let algorithms = choices(trial.algorithms, true)?;
        let built = |name: &&&str| broadphase_peers::list().iter().any(|peer| peer.name == **name && peer.built);
        let peers: Vec<&str> = trial.peers.iter().filter(built).copied().collect();
        let request = Request {
            algorithms: &algorithms,
            peers: &choices(&peers, false)?,
            shape: trial.shape,
            threads: &[trial.threads],
            drive: Drive::Step,
            row_limit: Duration::from_secs_f64(self.pick(ROW_SHARE * self.budget, FULL_ROW)),
            min_frames: 1,
            check: false,
            series: trial.series,
            title: &self.title,
        };
        let source = Source::Scene(trial.scene.parse::<SceneSpec>()?);
        let mut setting = Setting::of(&source, Some(self.objects(trial.n)), Some(trial.frames.min(self.limits.1)))?;
        setting.skip = trial.skip;
        let outcomes = request.measure(&source, setting)?;
        verdict(&outcomes)?;
        self.compare(trial, &outcomes)?;
        self.rows.extend(outcomes.iter().map(|outcome| json::row(outcome, false)));
        for outcome in outcomes.iter().filter(|outcome| outcome.stopped) {
            let Outcome { name, setting, records, .. } = outcome;
            let (scene, n, of) = (&setting.scene, setting.n, setting.frames);
            self.note(format!("{name} reached its time limit on {scene}, n = {n}, after {} of {of} frames.", records.len()));
        }
        Ok(Rows(outcomes))
    }

    /// Compares the pairs of the rows with those of every row that ran on the same setting before, in this trial or another.
    fn compare(&mut self, trial: &Trial<'_>, outcomes: &[Outcome]) -> Result<(), Failure> {
        let setting = (trial.scene.clone(), self.objects(trial.n), trial.shape, trial.skip);
        let at = self.checked.iter().position(|checked| checked.setting == setting).unwrap_or_else(|| {
            self.checked.push(Checked { setting, rows: Vec::new(), hashes: Vec::new() });
            self.checked.len() - 1
        });
        let checked = &mut self.checked[at];
        for outcome in outcomes.iter().filter(|outcome| outcome.right()) {
            for (frame, record) in outcome.records.iter().enumerate() {
                match checked.hashes.get(frame) {
                    None => checked.hashes.push(record.hash),
                    Some(&hash) if hash == record.hash => {}
                    Some(_) => {
                        let (scene, n) = (&trial.scene, trial.n);
                        let others: Vec<&str> = checked.rows.iter().map(|row| row.0.as_str()).collect();
                        let others = others.join(", ");
                        let text =
                            format!("{} on {scene}, n = {n}: frame {frame} has other pairs than with {others}", outcome.name);
                        return Err(Failure::Data(text));
                    }
                }
            }
            let row = (outcome.name.clone(), outcome.threads);
            if !checked.rows.contains(&row) {
                checked.rows.push(row);
            }
        }
        Ok(())
    }

    /// The settings on which only one row ran, so that nothing was compared with its pairs.
    pub fn unchecked(&self) -> Vec<String> {
        let alone = self.checked.iter().filter(|checked| checked.rows.len() < 2);
        alone.map(|checked| format!("{}, n = {}: {:?}", checked.setting.0, checked.setting.1, checked.rows)).collect()
    }

    /// Adds a row that was not measured frame by frame.
    pub fn add_row(&mut self, row: Value) {
        self.rows.push(row);
    }

    /// Ends the experiment, and returns all rows, all remarks, and the seconds it took.
    pub fn finish(mut self) -> (Vec<Value>, Vec<String>, f64) {
        for setting in self.unchecked() {
            self.note(format!("Only one row ran, and its pairs were compared with nothing: {setting}."));
        }
        (self.rows, self.notes, self.started.elapsed().as_secs_f64())
    }
}

fn choices<S: FromStr>(names: &[&str], named: bool) -> Result<Vec<Choice<S>>, Failure>
where
    Failure: From<S::Err>,
{
    names.iter().map(|name| Ok(Choice { spec: name.parse()?, named })).collect()
}

/// The number of threads of a parallel row: all that the machine has.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The least share of a core that every thread must get for speed-ups to be judged.
const MIN_CORE_SHARE: f64 = 0.85;

/// Can a speed-up be measured? Not with one core, and not while other processes keep the cores busy, which adds a note.
pub fn has_free_cores(lab: &mut Lab) -> bool {
    let share = core_share();
    if share < MIN_CORE_SHARE {
        let share = (100.0 * share).round();
        lab.note(format!("The machine was busy (a thread got {share} % of a core): speed-ups of threads are not judged."));
    }
    cores() > 1 && share >= MIN_CORE_SHARE
}

/// Runs one thread per core, and returns the smallest share of a core that any of them got: CPU time over wall time.
fn core_share() -> f64 {
    const SPIN: Duration = Duration::from_millis(100);
    let spin = || {
        let start = Instant::now();
        let wait = |_: &mut ()| {
            while start.elapsed() < SPIN {
                std::hint::spin_loop();
            }
            Ok::<(), ()>(())
        };
        let timing = timed(&mut (), wait, |_| Ok(())).ok()?;
        timing.cpu_update.map(|cpu| cpu.as_secs_f64() / timing.update.as_secs_f64())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores()).map(|_| scope.spawn(spin)).collect();
        let shares = threads.into_iter().map(|thread| thread.join().ok().flatten().unwrap_or(0.0));
        shares.fold(1.0, f64::min)
    })
}

/// The rows of one trial, looked up by name.
pub struct Rows(pub Vec<Outcome>);

impl Rows {
    /// The row of that name, if it has a frame that counts.
    pub fn get(&self, name: &str) -> Option<&Outcome> {
        let counts = |row: &&Outcome| row.setting.frames == 1 || row.records.iter().any(|record| record.counts);
        self.0.iter().find(|row| row.name == name && row.right()).filter(counts)
    }

    /// The median time of a frame in ms: CPU time, or with several threads the time that passed.
    pub fn ms(&self, name: &str) -> Option<f64> {
        self.get(name).map(|row| row.rank(Clock::Cpu)).filter(|ms| ms.is_finite())
    }

    /// How many times as long `slow` takes as `fast`: paired block by block, with an interval. CPU time, or with several threads the
    /// time that passed.
    pub fn paired(&self, slow: &str, fast: &str) -> Option<Ratio> {
        let (slow, fast) = (self.get(slow)?, self.get(fast)?);
        let clock = if slow.threads == 1 && fast.threads == 1 { Clock::Cpu } else { Clock::Wall };
        ratios::ratio(slow, fast, clock)
    }

    /// The same ratio for the update, the first part of a frame; always CPU time.
    pub fn paired_update(&self, slow: &str, fast: &str) -> Option<Ratio> {
        let update_only = |name: &str| {
            let mut row = self.get(name)?.clone();
            for record in &mut row.records {
                record.timing.cpu = record.timing.cpu_update;
                record.timing.wall = record.timing.update;
            }
            Some(row)
        };
        ratios::ratio(&update_only(slow)?, &update_only(fast)?, Clock::Cpu)
    }

    /// The mean CPU time of a frame in ms, over the frames that count: for runs whose frames differ.
    pub fn mean_ms(&self, name: &str) -> Option<f64> {
        let row = self.get(name)?;
        let times: Vec<f64> = row.measured().map(|record| ms(Clock::Cpu.read(&record.timing))).collect();
        Some(times.iter().sum::<f64>() / times.len() as f64)
    }

    /// The median time of the update, the first part of a frame, in ms.
    pub fn update_ms(&self, name: &str) -> Option<f64> {
        self.get(name)?.part_median(|timing| timing.cpu_update.unwrap_or(timing.update))
    }

    /// The time of a stage in the fastest frame, in ms.
    pub fn stage_ms(&self, name: &str, stage: &str) -> Option<f64> {
        self.get(name)?.stage_min(stage)
    }

    /// A figure that the row's structure reports after its last frame.
    pub fn extra(&self, name: &str, figure: &str) -> Option<f64> {
        self.get(name)?.extra(figure)
    }

    /// Tests of a frame, on average.
    pub fn tests(&self, name: &str) -> Option<f64> {
        let row = self.get(name)?;
        row.tests_total().map(|tests| tests as f64 / row.records.len() as f64)
    }
}

/// Named curves that grow point by point.
#[derive(Clone, Debug, Default)]
pub struct Curves(pub Vec<(String, Points)>);

impl Curves {
    /// Adds a point, if there is one.
    pub fn add(&mut self, name: &str, x: f64, y: Option<f64>) {
        let Some(y) = y else { return };
        match self.0.iter_mut().find(|curve| curve.0 == name) {
            Some(curve) => curve.1.push((x, y)),
            None => self.0.push((name.to_string(), vec![(x, y)])),
        }
    }

    /// The curve of that name; without points if there is none.
    pub fn get(&self, name: &str) -> &[(f64, f64)] {
        self.0.iter().find(|curve| curve.0 == name).map_or(&[], |curve| &curve.1)
    }

    /// The same with every value divided by its x: cost per object.
    pub fn per_x(&self) -> Self {
        let scaled = |points: &Points| points.iter().map(|&(x, y)| (x, y / x)).collect();
        Self(self.0.iter().map(|(name, points)| (name.clone(), scaled(points))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_lab_runs_out_of_time_and_says_so_and_a_full_one_does_not() {
        let mut lab = Lab { budget: 60.0, ..Lab::tiny() };
        assert!(lab.has_time_for("one more"));
        lab.started = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap_or(lab.started);
        assert!(!lab.has_time_for("n = 5"));
        assert!(lab.finish().1[0].contains("n = 5"));
        let mut lab = Lab::new(Mode::Full, String::new(), 1.0);
        lab.started = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap_or(lab.started);
        assert!(lab.has_time_for("n = 5"));
    }

    #[test]
    fn a_row_that_only_set_up_has_no_time() {
        let trial = |frames: usize| Trial::new("uniform", 200, frames, &["brute-force"]);
        let mut rows = Lab::tiny().run(&trial(6)).unwrap();
        assert!(rows.ms("brute-force").is_some() && rows.mean_ms("brute-force").is_some());
        rows.0[0].records.truncate(1);
        assert_eq!((rows.ms("brute-force"), rows.ms("kd-tree")), (None, None));
        let rows = Lab::tiny().run(&trial(1)).unwrap();
        assert!(rows.ms("brute-force").is_some(), "one frame was asked for: it is the measurement");
    }

    #[test]
    fn experiments_share_what_time_is_left() {
        assert_eq!([budget(0.0, 35), budget(0.0, 1), budget(400.0, 20), budget(9999.0, 5)], [600.0 / 35.0, 18.0, 10.0, 3.0]);
    }

    #[test]
    fn threads_beside_those_that_are_measured_take_their_share_of_the_cores() {
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 * cores() {
                scope.spawn(|| {
                    while !done.load(std::sync::atomic::Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let share = core_share();
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(share > 0.0 && share < MIN_CORE_SHARE, "{share}");
        });
    }
}
