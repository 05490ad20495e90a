//! What the extras cost: events, small changes, movers among statics, layers, spikes, a second thread.
//!
//! `cargo run --release -p broadphase-cli --example upkeep -- 128000` prints a ratio for each, from CPU times of runs that take
//! turns. Without a number, few objects: a smoke test.

use std::error::Error;

use broadphase::{Aabb, Context, Frame, Handle, Object, PairStore, Report, Spec, Tag, Threads, World3};
use broadphase_scenes::{AnyScene, Scene, SceneSpec};
use cpu_time::{ProcessTime, ThreadTime};

type Boxes = Vec<Aabb<3, f32>>;

fn main() -> Result<(), Box<dyn Error>> {
    let n = std::env::args().nth(1).map_or(Ok(2_000), |n| n.parse())?;
    events("brownian-cubes", n)?;
    events("gravity-cubes", n)?;
    listed(n)?;
    statics(n * 200 / 128)?;
    layers(n)?;
    spikes("brownian-cubes", n)?;
    spikes("pile", n)?;
    two_threads(n * 8)?;
    Ok(())
}

/// The frames of a scene, from a few on, so that it has come into motion.
fn frames(scene: &str, n: usize, count: usize) -> Result<Vec<Boxes>, Box<dyn Error>> {
    let AnyScene::Three(mut scene) = scene.parse::<SceneSpec>()?.build(n, 0)? else { return Err("a scene in space".into()) };
    let mut next = || -> Boxes {
        Scene::advance(&mut *scene);
        scene.boxes().to_vec()
    };
    Ok((0..count).map(|_| next()).collect())
}

/// CPU milliseconds of one call.
fn timed(work: impl FnOnce()) -> f64 {
    let start = ThreadTime::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Runs structures side by side over the frames; CPU times of each, without the first frame.
fn side_by_side(frames: &[Boxes], reports: &[(Report, Option<&[Tag]>)]) -> Result<Vec<Vec<f64>>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for &(report, tags) in reports {
        rows.push(("auto".parse::<Spec>()?.build::<3, f32>()?, PairStore::new(report), tags, Vec::new()));
    }
    let mut context = Context::new();
    for boxes in frames {
        for (structure, store, tags, times) in &mut rows {
            let frame = Frame { tags: *tags, ..Frame::new(boxes) };
            let start = ThreadTime::now();
            structure.update(&frame, &mut context)?;
            structure.pairs(&frame, &mut context, store)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    Ok(rows.into_iter().map(|(.., times)| times[1..].to_vec()).collect())
}

fn events(scene: &str, n: usize) -> Result<(), Box<dyn Error>> {
    let frames = frames(scene, n, 41)?;
    let mut times = side_by_side(&frames, &[(Report::All, None), (Report::Both, None)])?;
    let (plain, both) = (median(&mut times[0]), median(&mut times[1]));
    println!("events, {scene}, {n} objects: {both:.3} ms with, {plain:.3} without: {:.2} times", both / plain);
    Ok(())
}

fn layers(n: usize) -> Result<(), Box<dyn Error>> {
    let frames = frames("pile", n, 21)?;
    let alone = vec![Tag::new(1, 2); n];
    let mut times = side_by_side(&frames, &[(Report::All, None), (Report::All, Some(&alone))])?;
    let (plain, none) = (median(&mut times[0]), median(&mut times[1]));
    println!("layers that remove all pairs, pile, {n} objects: {none:.3} ms with, {plain:.3} without: {:.2} times", none / plain);
    Ok(())
}

fn spikes(scene: &str, n: usize) -> Result<(), Box<dyn Error>> {
    let frames = frames(scene, n, if n < 50_000 { 301 } else { 101 })?;
    let mut times = side_by_side(&frames, &[(Report::All, None)])?.remove(0);
    let usual = median(&mut times);
    let high = times.iter().filter(|&&t| t > 3.0 * usual).count();
    println!(
        "spikes, {scene}, {n} objects: median {usual:.3} ms, worst {:.2} times that, {high} of {} frames over 3 times",
        times[times.len() - 1] / usual,
        times.len()
    );
    Ok(())
}

/// One object in a hundred, or in a thousand, moves, set by handle; or none does. Compared with a frame in which all do.
fn listed(n: usize) -> Result<(), Box<dyn Error>> {
    let boxes = frames("pile", n, 1)?.remove(0);
    let moved = |boxes: &Boxes, step: usize| -> Boxes {
        let shift = if step.is_multiple_of(2) { 0.1 } else { -0.1 };
        boxes.iter().map(|b| b.translate([shift; 3])).collect()
    };
    for (share, name) in [(100, "1 % moved"), (1000, "0.1 % moved"), (usize::MAX, "nothing moved")] {
        let (mut few, mut all) = (World3::new(), World3::new());
        let handles = few.insert_many(&boxes)?;
        all.insert_many(&boxes)?;
        few.update()?;
        all.update()?;
        let (mut few_times, mut all_times) = (Vec::new(), Vec::new());
        for step in 0..33 {
            let next = moved(&boxes, step);
            let ids = (step..n).step_by(share).filter(|_| share < usize::MAX);
            let list: Vec<(Handle, Aabb<3, f32>)> = ids.map(|i| (handles[i], next[i])).collect();
            let mut result = Ok(());
            few_times.push(timed(|| result = few.set_boxes_of(&list).and_then(|()| few.update().map(drop))));
            result?;
            let mut result = Ok(());
            all_times.push(timed(|| result = all.set_mover_boxes(&next).and_then(|()| all.update().map(drop))));
            result?;
        }
        let (few, all) = (median(&mut few_times), median(&mut all_times));
        println!("{name} and listed, pile, {n} objects: {few:.4} ms, all moved {all:.3}: 1 / {:.0}", all / few);
    }
    Ok(())
}

/// Statics inserted one by one, then a hundred movers among them.
fn statics(n: usize) -> Result<(), Box<dyn Error>> {
    let boxes = frames("pile", n, 1)?.remove(0);
    let mut world = World3::new();
    let mut halves = [0.0; 2];
    for (half, boxes) in boxes.chunks(n.div_ceil(2)).enumerate() {
        let mut result = Ok(());
        halves[half] = timed(|| {
            result =
                boxes.iter().try_for_each(|b| world.insert(Object::fixed(*b)).map(drop)).and_then(|()| world.update().map(drop));
        });
        result?;
    }
    let (first, second) = (halves[0], halves[1]);
    println!("{n} statics inserted one by one: the first half {first:.1} ms, the second {second:.1}");
    let movers = world.insert_many(&boxes[..100])?;
    world.update()?;
    let mut times = Vec::new();
    for step in 0..41 {
        let list: Vec<_> = movers.iter().zip(&boxes).map(|(&h, b)| (h, b.translate([0.01 * step as f32; 3]))).collect();
        let mut result = Ok(());
        times.push(timed(|| result = world.set_boxes_of(&list).and_then(|()| world.update().map(drop))));
        result?;
    }
    let mut rebuilt = Vec::new();
    for _ in 0..5 {
        let (mut tiles, mut store) = ("tiles".parse::<Spec>()?.build::<3, f32>()?, PairStore::new(Report::All));
        let (frame, mut context) = (Frame::new(&boxes), Context::new());
        let mut result = Ok(());
        rebuilt.push(timed(|| {
            result = tiles.update(&frame, &mut context).and_then(|()| tiles.pairs(&frame, &mut context, &mut store));
        }));
        result?;
    }
    let (few, all) = (median(&mut times), median(&mut rebuilt));
    println!("100 movers among them: {few:.4} ms, tiles built anew {all:.2}: 1 / {:.0}", all / few);
    Ok(())
}

fn two_threads(n: usize) -> Result<(), Box<dyn Error>> {
    let frames = frames("brownian-cubes", n, 8)?;
    let mut totals = Vec::new();
    for threads in [1, 2] {
        let mut context = Context::new();
        if threads > 1 {
            context = context.with_executor(Threads::new(threads)?);
        }
        let (mut structure, mut store) = ("auto".parse::<Spec>()?.build::<3, f32>()?, PairStore::new(Report::All));
        let (mut times, mut largest) = (Vec::new(), 0.0f64);
        for boxes in &frames {
            let (start, frame) = (ProcessTime::now(), Frame::new(boxes));
            structure.update(&frame, &mut context)?;
            structure.pairs(&frame, &mut context, &mut store)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
            largest = largest.max(store.worker_tests().max().unwrap_or(0) as f64 / store.tests().max(1) as f64);
        }
        totals.push(median(&mut times[1..]));
        if threads == 2 {
            println!(
                "two threads, brownian-cubes, {n} objects: CPU {:.2} times one thread's; the larger worker made at most {:.0} % of the tests",
                totals[1] / totals[0],
                100.0 * largest
            );
        }
    }
    Ok(())
}
