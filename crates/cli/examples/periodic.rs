//! What a space that repeats costs, and neighbors as rows against pairs that are listed and sorted.
//!
//! `cargo run --release -p broadphase-cli --example periodic -- 200000` prints both, from CPU times of runs that take turns. Without a number, few
//! objects: a smoke test.

use std::error::Error;
use std::hint::black_box;

use broadphase::{Aabb, Context, Frame, NeighborSearch, Pair, PairStore, Period, Periodic, Report, Search, Spec, World, step};
use cpu_time::ThreadTime;

const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let n = std::env::args().nth(1).map_or(Ok(2_000), |n| n.parse())?;
    println!("a space that repeats, {n} boxes that move, against the same space with walls; CPU ms of a frame");
    for (what, smallest, largest) in [("equal boxes", 1.0, 1.0), ("sizes 1 to 30", 1.0, 30.0)] {
        frames::<2>(what, n, smallest, largest)?;
        frames::<3>(what, n, smallest, largest)?;
    }
    println!("neighbors of {n} points, against listing pairs of boxes, testing distances, and sorting; CPU ms");
    for count in [2, 4, 8, 16, 32] {
        points::<2>(n, count as f64)?;
        points::<3>(n, count as f64)?;
    }
    Ok(())
}

fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The median CPU time of each of several pieces of work, which take turns.
fn compare(work: &mut [&mut dyn FnMut(usize)]) -> Vec<f64> {
    let mut times = vec![Vec::new(); work.len()];
    for round in 0..ROUNDS {
        for (work, times) in work.iter_mut().zip(&mut times) {
            let start = ThreadTime::now();
            work(round);
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    let median = |mut list: Vec<f64>| {
        list.remove(0); // buffers grow
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    };
    times.into_iter().map(median).collect()
}

/// Boxes in a cube of about one box per unit of volume and size, most of them small, and a frame later each has moved a little.
fn boxes<const D: usize>(n: usize, smallest: f64, largest: f64) -> (f64, Vec<Vec<Aabb<D, f32>>>) {
    let mut random = random(1);
    // Small sizes are frequent, large ones rare.
    let mut size = || (smallest * (largest / smallest).powf(random().powi(4))) as f32;
    let sizes: Vec<f32> = (0..n).map(|_| size()).collect();
    let volume: f64 = sizes.iter().map(|&size| f64::from(size).powi(D as i32)).sum();
    let side = (2.0 * volume).powf(1.0 / D as f64);
    let mut random = self::random(2);
    let mut corners: Vec<[f32; D]> = (0..n).map(|_| [(); D].map(|()| (random() * side) as f32)).collect();
    let frames = (0..ROUNDS).map(|_| {
        corners.iter_mut().flatten().for_each(|x| *x += (random() - 0.5) as f32 * 0.1);
        corners.iter().zip(&sizes).map(|(min, size)| Aabb::new(*min, min.map(|x| x + size))).collect()
    });
    (side, frames.collect())
}

fn frames<const D: usize>(what: &str, n: usize, smallest: f64, largest: f64) -> Result<(), Box<dyn Error>> {
    let (side, frames) = boxes::<D>(n, smallest, largest);
    let space = Period::new([side as f32; D]);
    let mut plain = Spec::default().build::<D, f32>()?;
    let mut periodic = Periodic::new(Spec::default().build()?, space)?;
    let (mut context, mut found, mut around) = (Context::new(), PairStore::new(Report::All), PairStore::new(Report::All));
    let mut other = Context::new();
    let by_step = compare(&mut [
        &mut |round| step(&mut *plain, &Frame::new(&frames[round]), &mut context, &mut found).expect("a good frame"),
        &mut |round| step(&mut periodic, &Frame::new(&frames[round]), &mut other, &mut around).expect("a good frame"),
    ]);
    let (mut world, mut torus) = (World::<D, f32>::new(), World::<D, f32>::new());
    torus.set_period(Some(space))?;
    world.insert_many(&frames[0])?;
    torus.insert_many(&frames[0])?;
    let update = |world: &mut World<D, f32>, round: usize| {
        world.set_mover_boxes(&frames[round]).expect("as many boxes as movers");
        black_box(world.update().expect("a good frame").len());
    };
    let by_world = compare(&mut [&mut |round| update(&mut world, round), &mut |round| update(&mut torus, round)]);
    let once =
        compare(&mut [&mut |round| _ = black_box(Search::new(&frames[round]).list().expect("good boxes")), &mut |round| {
            _ = black_box(Search::new(&frames[round]).periodic(space).list().expect("short boxes"))
        }]);
    assert!(around.len() >= found.len() && world.pair_count() == found.len() && torus.pair_count() == around.len());
    for (call, times) in [("step", by_step), ("World", by_world), ("Search", once)] {
        let (plain, periodic) = (times[0], times[1]);
        println!("  {D}D {what:14} {call:7} {periodic:8.2} against {plain:8.2}: {:.2} times", periodic / plain);
    }
    Ok(())
}

/// Points of which each has about `count` neighbors.
fn points<const D: usize>(n: usize, count: f64) -> Result<(), Box<dyn Error>> {
    let mut random = random(3);
    let points: Vec<[f32; D]> = (0..n).map(|_| [(); D].map(|()| random() as f32)).collect();
    let ball = if D == 2 { std::f64::consts::PI } else { 4.0 / 3.0 * std::f64::consts::PI };
    let radius = (count / n as f64 / ball).powf(1.0 / D as f64) as f32;
    let pairs = || NeighborSearch::new(&points, radius).pairs().expect("good points");
    let rows = || NeighborSearch::new(&points, radius).list().expect("good points");
    // Each pair once, or from both sides, as rows have them.
    let sorted = |both: bool| {
        let boxes: Vec<_> = points.iter().map(|point| Aabb::from_center(*point, [radius * 0.50001; D])).collect();
        let mut pairs: Vec<Pair> = Search::new(boxes).sort(false).list().expect("good boxes");
        pairs.retain(|pair| {
            let d = |k: usize| points[pair.a as usize][k] - points[pair.b as usize][k];
            (0..D).map(|k| d(k) * d(k)).sum::<f32>() <= radius * radius
        });
        if both {
            pairs.extend_from_within(..);
            let half = pairs.len() / 2;
            pairs[half..].iter_mut().for_each(|pair| *pair = Pair { a: pair.b, b: pair.a });
        }
        pairs.sort_unstable();
        pairs
    };
    assert!(pairs().len().abs_diff(sorted(false).len()) <= 1 + n / 100_000, "but for rounding, the same");
    let times = compare(&mut [
        &mut |_| _ = black_box(pairs()),
        &mut |_| _ = black_box(sorted(false)),
        &mut |_| _ = black_box(rows()),
        &mut |_| _ = black_box(sorted(true)),
    ]);
    println!(
        "  {D}D {count:2} neighbors: pairs {:7.2} against {:7.2}: {:.2} times; rows {:7.2} against {:7.2}: {:.2} times",
        times[0],
        times[1],
        times[0] / times[1],
        times[2],
        times[3],
        times[2] / times[3]
    );
    Ok(())
}
