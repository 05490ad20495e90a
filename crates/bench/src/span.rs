//! Work and span: how much of a frame runs in parallel, and what more cores could make of it.
//!
//! A frame is sequential but for its regions (`Context::regions`). In them, the *work* is the time of all jobs, the *span* that of the longest
//! job of each region, which no number of cores shortens. The projection to other numbers of cores follows from these alone: it assumes that jobs
//! take as long there as here, and that they are shared evenly. It is a projection, not a measurement.

use broadphase::{CORES, Regions};
use serde_json::{Value, json};

use super::measure::{Sorted, ms};
use super::outcome::{Outcome, Record};
use super::ratios::times;
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
    /// In the longest job of each region.
    pub longest_ms: f64,
    /// Workers that wait in a region: for the last job, or to be woken.
    pub waiting_ms: f64,
    /// How many times as fast as on one core a frame would be on as many cores as [`CORES`] says.
    pub projected: [f64; CORES.len()],
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
        let projected = |at: usize| {
            median(&|wall, regions| {
                let rest = sequential(wall, regions);
                (rest + ms(regions.jobs)) / (rest + ms(regions.on[at]))
            })
        };
        let mut on = [0.0; CORES.len()];
        for (at, projection) in on.iter_mut().enumerate() {
            *projection = projected(at)?;
        }
        Some(Self {
            regions: median(&|_, regions| regions.count as f64)?,
            sequential_ms: median(&sequential)?,
            sequential_share: median(&|wall, regions| sequential(wall, regions) / wall)?,
            jobs_ms: median(&|_, regions| ms(regions.jobs))?,
            longest_ms: median(&|_, regions| ms(regions.longest))?,
            waiting_ms: median(&|_, regions| ms(regions.waiting))?,
            projected: on,
        })
    }

    /// For scripts.
    pub fn json(&self) -> Value {
        let projected: serde_json::Map<String, Value> =
            CORES.iter().zip(self.projected).map(|(cores, speed_up)| (cores.to_string(), json!(speed_up))).collect();
        json!({
            "regions": self.regions,
            "sequential_ms": self.sequential_ms,
            "sequential_share": self.sequential_share,
            "jobs_ms": self.jobs_ms,
            "longest_ms": self.longest_ms,
            "waiting_ms": self.waiting_ms,
            "projected_speed_up": projected,
        })
    }
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
        lines.push(format!(
            "{}: {} regions, {:.0} % sequential, jobs {} ms (longest {}), waiting {} ms",
            outcome.title(),
            span.regions,
            100.0 * span.sequential_share,
            figure(span.jobs_ms),
            figure(span.longest_ms),
            figure(span.waiting_ms),
        ));
        if outcome.threads == 1 {
            let each = CORES.iter().zip(span.projected).map(|(cores, speed_up)| format!("{} on {cores}", times(speed_up)));
            lines.push(format!(
                "{}: projected speed-up by work and span, in cores: {}",
                outcome.name,
                each.collect::<Vec<_>>().join(", ")
            ));
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
        assert!(close(span.projected[0], 10.0 / 6.0) && close(span.projected[4], 10.0 / 3.0), "{:?}", span.projected);
        assert!(Span::of(&outcome("peer", "peer", true, &[1], &[])).is_none());
    }

    #[test]
    fn a_table_of_one_number_of_threads_has_no_lines() {
        assert!(lines(&[row(1), row(1)]).is_empty());
        let text = lines(&[row(1), row(2)]).join("\n");
        assert!(text.contains("row: 3 regions, 20 % sequential, jobs 8.00 ms (longest 1.00), waiting 0.0000 ms"), "{text}");
        assert!(text.contains("row: projected speed-up by work and span, in cores: 1.67 on 2"), "{text}");
        assert!(text.contains("row on 2 threads: 3 regions"), "{text}");
    }
}
