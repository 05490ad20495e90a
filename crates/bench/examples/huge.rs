//! Frames of a scene that is too large for the bench, which keeps several frames in memory: here the scene's own boxes are the only ones.
//!
//! `huge [SCENE N [FRAMES] [SLABS]]` prints the CPU time of each frame on one thread, the bytes that `auto` holds, and the most memory that the process
//! had. Then the pairs of the last frame are compared with those of another algorithm, slab by slab: each slab of the world is searched by itself,
//! and a pair counts in the slab where its intersection starts. Numbers of pairs and hashes must be equal, or the exit code is 1.
//!
//! `benchmarks/hundred-million` runs it with a hundred million objects. Without arguments, few objects: a smoke test.

use std::error::Error;
use std::process::ExitCode;

use broadphase::{Aabb, Context, Frame, Pair, PairStore, Report, Spec, pairs_hash};
use broadphase_bench::{Timing, ms, timed};
use broadphase_scenes::{AnyScene, SceneSpec};

/// The algorithm that `auto` is compared with. The two share no search code.
const OTHER: &str = "hash-grid";

/// What is known of a slab: its number of pairs and their hash.
type Sum = (u64, u64);

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() {
        arguments = ["brownian-cubes", "5000"].map(String::from).into();
    }
    let [scene, n, rest @ ..] = &arguments[..] else { return Err("usage: huge [SCENE N [FRAMES] [SLABS]]".into()) };
    let (n, frames): (usize, usize) = (n.parse()?, rest.first().map_or(Ok(4), |frames| frames.parse())?);
    let slabs: usize = rest.get(1).map_or(Ok((n >> 20).max(4)), |slabs| slabs.parse())?;
    let AnyScene::Three(mut scene) = scene.parse::<SceneSpec>()?.build(n, 0)? else { return Err("only scenes in 3D".into()) };
    let mut structure = "auto".parse::<Spec>()?.build::<3, f32>()?;
    let (mut context, mut store) = (Context::new(), PairStore::new(Report::All));
    store.set_limit(u64::MAX);
    for frame in 0..frames.max(1) {
        if frame > 0 {
            scene.advance();
        }
        let now = Frame::new(scene.boxes());
        let state = &mut (&mut structure, &mut context, &mut store);
        let timing = timed(state, |all| all.0.update(&now, all.1), |all| all.0.pairs(&now, all.1, all.2))?;
        print(frame, n, &timing, structure.stats().bytes, store.len());
    }
    drop(structure);
    let slabs = Slabs::over(scene.boxes(), slabs);
    let mut ours: Vec<Sum> = vec![(0, 0); slabs.count];
    store.for_each_chunk(&mut |pairs: &[Pair]| slabs.add(scene.boxes(), pairs, &mut ours));
    drop(store);
    let wrong = slabs.check(scene.boxes(), &ours)?;
    println!("{} slabs by {OTHER}: {} differ; {} pairs", slabs.count, wrong, ours.iter().map(|sum| sum.0).sum::<u64>());
    println!("most memory of the process: {}", peak().unwrap_or_else(|| "unknown".to_string()));
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(frame: usize, n: usize, timing: &Timing, bytes: usize, pairs: u64) {
    let time = ms(timing.cpu.unwrap_or(timing.wall));
    let each = |value: f64| value / n.max(1) as f64;
    println!(
        "frame {frame}: {time:.0} ms of CPU time, {:.1} ns an object, {:.0} bytes an object, {pairs} pairs",
        each(time * 1e6),
        each(bytes as f64)
    );
}

/// The peak of resident memory, as the system reports it.
fn peak() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(|text| text.trim().to_string())
}

/// The world, cut across x.
struct Slabs {
    low: f32,
    width: f32,
    count: usize,
}

impl Slabs {
    fn over(boxes: &[Aabb<3, f32>], count: usize) -> Self {
        let low = boxes.iter().fold(f32::MAX, |low, at| low.min(at.min[0]));
        let high = boxes.iter().fold(f32::MIN, |high, at| high.max(at.max[0]));
        Self { low, width: ((high - low) / count as f32).max(f32::MIN_POSITIVE), count: count.max(1) }
    }

    /// The slab of a coordinate: monotone, so that an object lies in all slabs from that of its least x to that of its greatest.
    fn of(&self, x: f32) -> usize {
        (((x - self.low) / self.width) as usize).min(self.count - 1)
    }

    /// Adds pairs to the slabs in which their intersections start.
    fn add(&self, boxes: &[Aabb<3, f32>], pairs: &[Pair], sums: &mut [Sum]) {
        for pair in pairs {
            let start = boxes[pair.a as usize].min[0].max(boxes[pair.b as usize].min[0]);
            let sum = &mut sums[self.of(start)];
            *sum = (sum.0 + 1, sum.1.wrapping_add(pairs_hash(&[*pair])));
        }
    }

    /// Searches each slab by itself. Returns the number of slabs whose pairs are not those expected.
    fn check(&self, boxes: &[Aabb<3, f32>], expected: &[Sum]) -> Result<usize, Box<dyn Error>> {
        let mut ids: Vec<Vec<u32>> = vec![Vec::new(); self.count];
        for (id, at) in boxes.iter().enumerate() {
            ids[self.of(at.min[0])..=self.of(at.max[0])].iter_mut().for_each(|ids| ids.push(id as u32));
        }
        let mut wrong = 0;
        for (slab, ids) in ids.iter().enumerate() {
            let members: Vec<Aabb<3, f32>> = ids.iter().map(|&id| boxes[id as usize]).collect();
            let mut structure = OTHER.parse::<Spec>()?.build::<3, f32>()?;
            let (mut context, mut store) = (Context::new(), PairStore::new(Report::All));
            let frame = Frame::new(&members);
            structure.update(&frame, &mut context)?;
            structure.pairs(&frame, &mut context, &mut store)?;
            let mut sums: Vec<Sum> = vec![(0, 0); self.count];
            store.for_each_chunk(&mut |pairs: &[Pair]| {
                for pair in pairs {
                    let pair = Pair::new(ids[pair.a as usize], ids[pair.b as usize]);
                    self.add(boxes, &[pair], &mut sums);
                }
            });
            if sums[slab] != expected[slab] {
                println!("slab {slab}: auto has {:?}, {OTHER} has {:?} (pairs, hash)", expected[slab], sums[slab]);
                wrong += 1;
            }
        }
        Ok(wrong)
    }
}
