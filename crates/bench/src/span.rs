//! Work and span: how much of a frame runs in parallel, and what more cores could make of it.
//!
//! A frame is sequential except for its regions (`Context::regions`). In them, the *work* is the time of all jobs, the *span* that of the longest
//! job of each region, which no number of cores shortens. The projection to other numbers of cores follows from these alone: it assumes that jobs
//! take as long there as here, and that they are shared evenly. It is a projection, not a measurement. It is made from the row on the most threads, whose
//! work is cut into jobs, over the time of one thread.

use std::rc::Rc;

use broadphase::{CORES, Regions};
use serde_json::{Map, Value, json};

use super::measure::{Sorted, ms};
use super::outcome::{Clock, Outcome, Record};
use super::ratios::{ratio, times};
use super::table::digits;

/// The figures of a row, medians over its measured frames, times in ms.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Parallel regions per frame.
    pub regions: f64,
    /// Outside of regions.
    pub sequential_ms: f64,
    /// The time that passes outside of regions, of the time of the frame.
    pub sequential_share: f64,
    /// In jobs, of all workers together.
    pub jobs_ms: f64,
    /// The work: outside of regions and in jobs, of all workers together, without waiting.
    pub work_ms: f64,
    /// In the longest job of each region.
    pub longest_ms: f64,
    /// Workers that wait in a region: for the last job, or to be woken.
    pub waiting_ms: f64,
    /// A projection: what a frame would take on as many cores as [`CORES`] says.
    pub projected_ms: [f64; CORES.len()],
}

impl Span {
    /// The figures of a row, if its regions were measured.
    pub fn of(outcome: &Outcome) -> Option<Self> {
        let frames: Vec<(f64, Regions)> =
            outcome.measured().map(|record: &Record| Some((ms(record.timing.wall), record.regions?))).collect::<Option<_>>()?;
        let median = |figure: &dyn Fn(f64, &Regions) -> f64| {
            Sorted::new(frames.iter().map(|(wall, regions)| figure(*wall, regions))).median()
        };
        let sequential = |wall: f64, regions: &Regions| (wall - ms(regions.wall)).max(0.0);
        let mut projected_ms = [0.0; CORES.len()];
        for (at, projection) in projected_ms.iter_mut().enumerate() {
            *projection = median(&|wall, regions| sequential(wall, regions) + ms(regions.on[at]))?;
        }
        Some(Self {
            regions: median(&|_, regions| regions.count as f64)?,
            sequential_ms: median(&sequential)?,
            sequential_share: median(&|wall, regions| sequential(wall, regions) / wall)?,
            jobs_ms: median(&|_, regions| ms(regions.jobs))?,
            work_ms: median(&|wall, regions| sequential(wall, regions) + ms(regions.jobs))?,
            longest_ms: median(&|_, regions| ms(regions.longest))?,
            waiting_ms: median(&|_, regions| ms(regions.waiting))?,
            projected_ms,
        })
    }

    /// How many times as fast as `alone`, a row on one thread, a frame would be on as many cores as [`CORES`] says. The jobs are those of this row: on
    /// one thread, structures do not cut what they would cut for several.
    pub fn projected_over(&self, alone: &Span) -> [f64; CORES.len()] {
        self.projected_ms.map(|time| alone.work_ms / time)
    }

    /// For scripts. `speed_up` is that over the row of the fewest threads; [`speed_up`] has it.
    pub fn json(&self) -> Value {
        json!({
            "regions": self.regions,
            "sequential_ms": self.sequential_ms,
            "sequential_share": self.sequential_share,
            "jobs_ms": self.jobs_ms,
            "work_ms": self.work_ms,
            "longest_ms": self.longest_ms,
            "waiting_ms": self.waiting_ms,
            "projected_speed_up": by_cores(self.projected_over(self)),
            "speed_up": null,
        })
    }
}

/// Figures by number of cores.
fn by_cores(figures: [f64; CORES.len()]) -> Map<String, Value> {
    CORES.iter().zip(figures).map(|(cores, figure)| (cores.to_string(), json!(figure))).collect()
}

/// The row on the fewest threads that ran the same on the same frames, if `outcome` ran on more.
fn base<'a>(outcomes: &'a [Outcome], outcome: &Outcome) -> Option<&'a Outcome> {
    let is_same = |other: &&Outcome| {
        Rc::ptr_eq(&other.setting, &outcome.setting)
            && (&other.name, other.drive, other.peer) == (&outcome.name, outcome.drive, outcome.peer)
            && other.right()
    };
    let fewest = outcomes.iter().filter(is_same).min_by_key(|other| other.threads)?;
    (fewest.threads < outcome.threads).then_some(fewest)
}

/// For scripts: the speed-up of a row over that of the fewest threads, by wall time, with its interval; how much more work it made; and what its work
/// and span promise on more cores.
pub fn speed_up(outcomes: &[Outcome], outcome: &Outcome) -> Value {
    let Some((base, ratio)) = base(outcomes, outcome).and_then(|base| Some((base, ratio(base, outcome, Clock::Wall)?))) else {
        return Value::Null;
    };
    let (low, high, probability) = ratio.interval.unwrap_or((ratio.median, ratio.median, 0.0));
    let works = Span::of(base).zip(Span::of(outcome));
    json!({
        "threads": base.threads,
        "median": ratio.median,
        "low": low,
        "high": high,
        "probability": probability,
        "work_ratio": works.as_ref().map(|(base, this)| this.work_ms / base.work_ms),
        "projected": works.map(|(base, this)| by_cores(this.projected_over(&base))),
    })
}

/// The lines below a table whose rows differ in their number of threads: work and span of each row, and what follows from them for more cores.
pub fn lines(outcomes: &[Outcome]) -> Vec<String> {
    let ours = || outcomes.iter().filter(|outcome| !outcome.peer && outcome.right());
    if ours().all(|outcome| Some(outcome.threads) == ours().next().map(|first| first.threads)) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for outcome in ours() {
        let Some(span) = Span::of(outcome) else { continue };
        let figure = |value: f64| digits(Some(value));
        let base = base(outcomes, outcome).and_then(Span::of);
        let more = base.as_ref().map(|base| format!(", work {} of that on fewer threads", times(span.work_ms / base.work_ms)));
        lines.push(format!(
            "{}: {} regions, {:.0} % sequential, jobs {} ms (longest {}), waiting {} ms{}",
            outcome.title(),
            span.regions,
            100.0 * span.sequential_share,
            figure(span.jobs_ms),
            figure(span.longest_ms),
            figure(span.waiting_ms),
            more.unwrap_or_default(),
        ));
        let most = ours().filter(|other| other.name == outcome.name).map(|other| other.threads).max();
        if let Some(base) = base.filter(|_| most == Some(outcome.threads)) {
            let each = CORES.iter().zip(span.projected_over(&base));
            let each: Vec<String> = each.map(|(cores, speed_up)| format!("{} on {cores}", times(speed_up))).collect();
            lines.push(format!("{}: projected speed-up by work and span, in cores: {}", outcome.title(), each.join(", ")));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::fakes::outcome;
    use super::*;
    use std::time::Duration;

    /// Frames of 10 ms, 2 of them sequential; jobs of 8 ms, the longest of 1.
    fn row(threads: usize) -> Outcome {
        let mut row = outcome("row", "row", false, &[10; 4], &[]);
        row.threads = threads;
        let ms = Duration::from_millis;
        let regions = Regions {
            count: 3,
            wall: ms(8),
            jobs: ms(8),
            longest: ms(1),
            waiting: ms(0),
            on: CORES.map(|cores| ms(1).max(ms(8) / cores as u32)),
        };
        row.records.iter_mut().for_each(|record| record.regions = Some(regions));
        row
    }

    #[test]
    fn more_cores_shorten_regions_down_to_their_longest_job() {
        let span = Span::of(&row(1)).unwrap();
        assert_eq!((span.regions, span.sequential_ms, span.jobs_ms), (3.0, 2.0, 8.0));
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(span.sequential_share, 0.2));
        let projected = span.projected_over(&span);
        assert!(close(projected[0], 10.0 / 6.0) && close(projected[4], 10.0 / 3.0), "{projected:?}");
        assert!(Span::of(&outcome("peer", "peer", true, &[1], &[])).is_none());
    }

    #[test]
    fn the_speed_up_is_that_over_the_fewest_threads_with_interval_and_work() {
        let (one, mut two) = (row(1), row(2));
        two.setting = Rc::clone(&one.setting);
        for record in &mut two.records {
            record.timing.wall = Duration::from_millis(6);
            let regions = record.regions.as_mut().unwrap();
            (regions.wall, regions.jobs) = (Duration::from_millis(4), Duration::from_millis(9));
        }
        let rows = [two, one];
        let found = speed_up(&rows, &rows[0]);
        assert_eq!((&found["threads"], &found["probability"]), (&json!(1), &json!(0.875)));
        let is = |key: &str, value: f64| (found[key].as_f64().unwrap() - value).abs() < 1e-9;
        assert!(is("median", 10.0 / 6.0) && is("low", 10.0 / 6.0) && is("high", 10.0 / 6.0), "{found}");
        assert!(is("work_ratio", 11.0 / 10.0), "{found}");
        assert!((found["projected"]["64"].as_f64().unwrap() - 10.0 / 3.0).abs() < 1e-9, "{found}");
        assert!(lines(&rows).join("\n").contains("waiting 0.0000 ms, work 1.10 of that on fewer threads"));
        assert!(speed_up(&rows, &rows[1]).is_null(), "the fewest are the measure");
        assert!(speed_up(&[rows[1].clone(), row(2)], &row(2)).is_null(), "of another scene");
    }

    #[test]
    fn a_table_of_one_number_of_threads_has_no_lines() {
        assert!(lines(&[row(1), row(1)]).is_empty());
        let (one, mut two) = (row(1), row(2));
        two.setting = Rc::clone(&one.setting);
        let text = lines(&[one, two]).join("\n");
        assert!(text.contains("row: 3 regions, 20 % sequential, jobs 8.00 ms (longest 1.00), waiting 0.0000 ms"), "{text}");
        assert!(text.contains("row on 2 threads: projected speed-up by work and span, in cores: 1.67 on 2"), "{text}");
        assert!(text.contains("row on 2 threads: 3 regions"), "{text}");
    }
}
