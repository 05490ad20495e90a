//! Figures 5 and 6: objects that cluster.

use super::{PARALLEL, SEQUENTIAL};
use crate::curves::{Points, median};
use crate::lab::{Curves, Lab, Trial, cores, has_free_cores};
use crate::report::{Chart, Report};
use crate::verdict::{Finding, Rule};
use broadphase_bench::charts::Scale;
use broadphase_bench::failure::Failure;
use broadphase_bench::{Outcome, Record, ms};

/// Frames whose median smooths a curve: a hiccup of the machine is shorter.
const WINDOW: usize = 5;

/// The time of each frame, each the median of its neighborhood; frame 0 is left out.
fn smooth(row: &Outcome, time: impl Fn(&Record) -> f64) -> Points {
    let times: Vec<f64> = row.records.iter().map(time).collect();
    let around = |k: usize| &times[k.saturating_sub(WINDOW / 2).max(1)..(k + WINDOW / 2 + 1).min(times.len())];
    (1..times.len()).filter_map(|k| Some((k as f64, median(around(k).iter().copied())?))).collect()
}

fn wall(record: &Record) -> f64 {
    ms(record.timing.wall)
}

fn cpu(record: &Record) -> f64 {
    ms(record.timing.cpu.unwrap_or(record.timing.wall))
}

/// The mean of a stretch of a curve.
fn mean(points: &[(f64, f64)], from: f64, to: f64) -> Option<f64> {
    let inside: Vec<f64> = points.iter().filter(|point| (from..=to).contains(&point.0)).map(|point| point.1).collect();
    (!inside.is_empty()).then(|| inside.iter().sum::<f64>() / inside.len() as f64)
}

pub fn fig5(lab: &mut Lab) -> Result<Report, Failure> {
    const FRAMES: usize = 500;
    let n = lab.pick(1 << 14, 1 << 19);
    let alone = lab.run(&Trial::new("implosion", n, FRAMES, &[SEQUENTIAL]))?;
    let together = lab.run(&Trial::new("implosion", n, FRAMES, &[PARALLEL]).on_threads(cores()))?;
    let curve = |row: Option<&Outcome>| row.map_or(Points::new(), |row| smooth(row, wall));
    let [alone, together] = [curve(alone.get(SEQUENTIAL)), curve(together.get(PARALLEL))];
    let free = has_free_cores(lab);
    let speed_up = |from: f64, to: f64| {
        let factor = mean(&alone, from, to).zip(mean(&together, from, to)).map(|(alone, together)| alone / together);
        factor.filter(|_| free)
    };
    let (whole, dense) = (speed_up(1.0, FRAMES as f64), speed_up(75.0, 150.0));
    let source = "section 7, figure 5";
    let findings = vec![
        Finding::new(
            "The parallel form is 6.5 times as fast on average (16 cores).",
            source,
            &format!("the parallel form is {{}} times as fast on {} threads", cores()),
            whole,
            Rule::at_least(1.3, 1.05),
        ),
        Finding::new(
            "In the most intense part, frames 75 to 150, the speed-up is larger than on average (7.5 to 11.3).",
            source,
            "in frames 75 to 150 the speed-up is {} times the average one",
            dense.zip(whole).map(|(dense, whole)| dense / whole),
            Rule::at_least(1.05, 0.95),
        ),
    ];
    let curves = Curves(vec![("sequential".to_string(), alone), ("parallel".to_string(), together)]);
    let setup = format!(
        "Scene `implosion`, {n} objects, {FRAMES} frames, one thread and {} threads. Each point is the median of {WINDOW} frames.",
        cores()
    );
    let axes = (("frame", Scale::Linear), ("ms", Scale::Linear));
    Ok(Report { setup, charts: vec![Chart::lines("Time over the implosion", axes.0, axes.1, &curves)], findings })
}

/// The axes stay as they are, or the paper's rule may swap them.
const FIXED: &str = "sweep:axes=xy:swap=off:patrol=0:active=tree";
const SWAPPING: &str = "sweep:axes=xy:swap=on:patrol=0:active=tree";

/// The highest point around the crossing over the level of the first quarter.
fn peak(points: &[(f64, f64)]) -> Option<f64> {
    let frames = points.last()?.0;
    let quiet = median(points.iter().filter(|point| point.0 <= frames / 4.0).map(|point| point.1))?;
    let around = points.iter().filter(|point| (0.35 * frames..=0.65 * frames).contains(&point.0));
    around.map(|point| point.1 / quiet).max_by(f64::total_cmp)
}

pub fn fig6(lab: &mut Lab) -> Result<Report, Failure> {
    let (side, frames) = lab.pick((200usize, 120), (750, 500));
    let mut curves = Curves::default();
    for u in ["x", "y"] {
        let scene = format!("plane-crossing:u={u}:frames={frames}");
        let rows = lab.run(&Trial::new(&scene, side * side, frames, &[FIXED, SWAPPING]).with_series())?;
        for (name, row) in [("axes stay", FIXED), ("axes swap", SWAPPING)] {
            curves.0.push((format!("u = {u}, {name}"), rows.get(row).map_or(Points::new(), |row| smooth(row, cpu))));
        }
    }
    let peaks = |name: &str| ["x", "y"].map(|u| peak(curves.get(&format!("u = {u}, {name}"))));
    let ([fixed_x, fixed_y], swapped) = (peaks("axes stay"), peaks("axes swap"));
    let source = "section 7, figure 6";
    let findings = vec![
        Finding::cases(
            "Without axis swapping, the time increases substantially while the objects cross the plane.",
            source,
            "it rises by half or more in {} directions",
            &[fixed_x, fixed_y].map(|peak| peak.map(|peak| peak >= 1.5)),
        ),
        Finding::new(
            "More so for u = y, the secondary axis.",
            source,
            "the peak for u = y is {} times that for u = x",
            fixed_y.zip(fixed_x).map(|(y, x)| y / x),
            Rule::at_least(1.1, 1.0),
        ),
        Finding::new(
            "With axis swapping, the problem is avoided completely.",
            source,
            "with swapping the highest peak is {} times the quiet level",
            swapped[0].zip(swapped[1]).map(|(x, y)| x.max(y)),
            Rule::at_most(1.3, 2.0),
        ),
    ];
    let setup = format!(
        "Scene `plane-crossing`, {side}² objects, {frames} frames, crossing at half of them; `sweep` on one thread, primary axis x and secondary \
         axis y at first. `patrol=0` leaves the swap to the paper's rule, the dispersion. Each point is the median of {WINDOW} frames."
    );
    let axes = (("frame", Scale::Linear), ("ms", Scale::Linear));
    Ok(Report { setup, charts: vec![Chart::lines("Time over the crossing", axes.0, axes.1, &curves)], findings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_measured_over_the_quiet_level() {
        let points = |high: f64| -> Points { (1..=100).map(|k| (f64::from(k), if k == 50 { high } else { 2.0 })).collect() };
        assert_eq!((peak(&points(8.0)), peak(&points(2.0)), peak(&[])), (Some(4.0), Some(1.0), None));
    }

    #[test]
    fn the_mean_is_that_of_the_stretch() {
        let points = [(1.0, 1.0), (2.0, 3.0), (3.0, 100.0)];
        assert_eq!((mean(&points, 1.0, 2.0), mean(&points, 9.0, 10.0)), (Some(2.0), None));
    }
}
