//! What one insertion, removal or move costs, however many objects there are.
//!
//! `cargo run --release -p broadphase-cli --example operations -- hash-grid 100000 1000000` prints nanoseconds of CPU per
//! operation for lists of 1 to 1000 objects, what the structure says it touched, the cost of setting up, and the ratio from the
//! fewest objects to the most. Only updates are timed: this is for structures that follow changes one by one. Without arguments,
//! few objects: a smoke test.

use std::error::Error;

use broadphase::{Aabb, BroadPhase, Changes, Context, Frame, Live, Spec};
use broadphase_scenes::{AnyScene, SceneSpec};
use cpu_time::ThreadTime;

/// Objects per list.
const LENGTHS: [usize; 4] = [1, 10, 100, 1000];
/// Operations that one figure is the mean of, and those between two looks at the clock.
const OPERATIONS: usize = 20_000;
const SERIES: usize = 1000;
/// Figures of which the median counts.
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let spec = arguments.next().unwrap_or("hash-grid".to_string()).parse::<Spec>()?;
    let mut counts = arguments.map(|n| n.parse()).collect::<Result<Vec<usize>, _>>()?;
    if counts.is_empty() {
        counts = vec![2_000, 4_000];
    }
    let mut rows = Vec::new();
    for n in counts {
        rows.push(measure(&spec, n)?);
    }
    if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
        for (of_last, of_first) in last.iter().zip(first) {
            let (length, ratios) = (of_first.length, [0, 1, 2].map(|k| of_last.ns[k] / of_first.ns[k]));
            println!(
                "ratio, lists of {length:4}: remove {:.2}, insert {:.2}, move {:.2}; all three {:.2}",
                ratios[0],
                ratios[1],
                ratios[2],
                of_last.ns.iter().sum::<f64>() / of_first.ns.iter().sum::<f64>()
            );
        }
    }
    Ok(())
}

/// Nanoseconds per removal, insertion and move, with lists of a length.
struct Row {
    length: usize,
    ns: [f64; 3],
}

/// A structure over the objects of scene `uniform`, some of which come and go.
struct Site {
    structure: Box<dyn BroadPhase<3, f32>>,
    context: Context,
    boxes: Vec<Aabb<3, f32>>,
    live: Vec<u64>,
    random: u64,
}

fn measure(spec: &Spec, n: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let AnyScene::Three(scene) = "uniform".parse::<SceneSpec>()?.build(n, 0)? else { return Err("a scene in space".into()) };
    let boxes = scene.boxes().to_vec();
    let (live, structure) = (vec![!0; n.div_ceil(64)], spec.build()?);
    let mut site = Site { structure, context: Context::new(), boxes, live, random: 1 };
    let start = ThreadTime::now();
    site.structure.update(&Frame::new(&site.boxes), &mut site.context)?;
    let setup = start.elapsed().as_nanos() as f64 / n as f64;
    print!("{n} objects: set-up {setup:.0} ns per object");
    for (name, word) in [("growth_work", "re-inserted by growth"), ("touched", "cells touched")] {
        if let Some(value) = site.extra(name) {
            print!(", {:.2} {word}", value / n as f64);
        }
    }
    println!(", {:.1} bytes", site.structure.stats().bytes as f64 / n as f64);
    let mut rows = Vec::new();
    for length in LENGTHS.into_iter().filter(|&length| length <= n) {
        let before = site.extra("touched");
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            times.push(site.round(length)?);
        }
        let ns = [0, 1, 2].map(|k| median(times.iter().map(|time| time[k])));
        print!("  lists of {length:4}: remove {:6.0} ns, insert {:6.0} ns, move {:6.0} ns", ns[0], ns[1], ns[2]);
        if let (Some(before), Some(after)) = (before, site.extra("touched")) {
            print!(", {:.2} cells touched", (after - before) / (3 * ROUNDS * OPERATIONS) as f64);
        }
        println!();
        rows.push(Row { length, ns });
    }
    Ok(rows)
}

impl Site {
    /// Removes, inserts at another place and moves as many objects, in lists; nanoseconds per object of each.
    fn round(&mut self, length: usize) -> Result<[f64; 3], Box<dyn Error>> {
        let count = SERIES.min(self.boxes.len());
        let mut times = [0.0; 3];
        for _ in 0..OPERATIONS / SERIES {
            let ids = self.choose(count);
            times[0] += self.series(&ids, length, true, |ids| Changes::Listed { moved: &[], inserted: &[], removed: ids })?;
            self.shift(&ids, [3.0, -2.0, 1.0]);
            times[1] += self.series(&ids, length, true, |ids| Changes::Listed { moved: &[], inserted: ids, removed: &[] })?;
            let ids = self.choose(count);
            self.shift(&ids, [-3.0, 2.0, -1.0]);
            times[2] += self.series(&ids, length, false, |ids| Changes::Listed { moved: ids, inserted: &[], removed: &[] })?;
        }
        Ok(times.map(|time| time / (OPERATIONS / SERIES * count) as f64))
    }

    /// Nanoseconds of updates, list after list. Reading the clock takes as long as an operation, so it is read once.
    fn series<'a>(
        &mut self,
        ids: &'a [u32],
        length: usize,
        flips: bool,
        changes: impl Fn(&'a [u32]) -> Changes<'a>,
    ) -> Result<f64, Box<dyn Error>> {
        let start = ThreadTime::now();
        for list in ids.chunks(length) {
            if flips {
                // Those that are live are not, and the other way round.
                list.iter().for_each(|&id| self.live[id as usize / 64] ^= 1 << (id % 64));
            }
            let frame = Frame { live: Live::Bits(&self.live), ..Frame::new(&self.boxes).with_changes(changes(list)) };
            self.structure.update(&frame, &mut self.context)?;
        }
        Ok(start.elapsed().as_nanos() as f64)
    }

    fn shift(&mut self, ids: &[u32], by: [f32; 3]) {
        ids.iter().for_each(|&id| self.boxes[id as usize] = self.boxes[id as usize].translate(by));
    }

    /// Different objects in random order.
    fn choose(&mut self, count: usize) -> Vec<u32> {
        let mut ids: Vec<u32> = Vec::with_capacity(count);
        let mut chosen = vec![0u64; self.live.len()];
        while ids.len() < count {
            self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let id = ((self.random >> 33) % self.boxes.len() as u64) as u32;
            let (word, bit) = (&mut chosen[id as usize / 64], 1 << (id % 64));
            if *word & bit == 0 {
                *word |= bit;
                ids.push(id);
            }
        }
        ids
    }

    /// A figure of the structure's statistics, if it has it.
    fn extra(&self, name: &str) -> Option<f64> {
        self.structure.stats().extra.into_iter().find(|entry| entry.0 == name).map(|entry| entry.1)
    }
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
