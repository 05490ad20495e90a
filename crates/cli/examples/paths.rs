//! What each path into the library costs, over another one that does comparable work.
//!
//! `cargo run --release -p broadphase-cli --example paths -- 16000 128000` prints, for each scene and number of objects, CPU milliseconds (medians of
//! one thread) and ratios (medians over the frames, in which all paths take turns), beside the ratio that is the goal. Pairs are compared first.
//! Without numbers, few objects: a smoke test.

use std::error::Error;

use broadphase::{
    Aabb, Between, BroadPhase, Context, Frame, Handle, Object, ObjectKind, PairStore, Report, Search, Spec, Tag, World3, pairs,
    pairs_between,
};
use broadphase_scenes::{AnyScene, Scene, SceneSpec};
use cpu_time::ThreadTime;

type Boxes = Vec<Aabb<3, f32>>;
/// Runs a frame, and returns the number of pairs, or of started and ended pairs.
type Run<'a> = Box<dyn FnMut(&Boxes) -> Result<usize, broadphase::Error> + 'a>;

/// A path into the library.
struct Path<'a> {
    name: &'static str,
    /// The row that it is compared with, and the goal of the ratio.
    over: Option<(usize, f64)>,
    run: Run<'a>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes: Vec<usize> = std::env::args().skip(1).map(|n| n.parse()).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes.push(1000);
    }
    for n in sizes {
        let count = (4_000_000 / n).clamp(5, 41);
        for scene in ["brownian-cubes", "pile", "sizes", "uniform:k=10"] {
            array_paths(scene, &frames(scene, n, count)?)?;
        }
        for scene in ["settled", "city", "scenery", "scenery:movers=0.1"] {
            static_paths(scene, &frames(scene, n, count)?)?;
        }
    }
    Ok(())
}

/// The frames of a scene, from the second on, so that it is in motion.
fn frames(scene: &str, n: usize, count: usize) -> Result<Vec<Boxes>, Box<dyn Error>> {
    let AnyScene::Three(mut scene) = scene.parse::<SceneSpec>()?.build(n, 0)? else { return Err("a scene in space".into()) };
    let mut next = || -> Boxes {
        Scene::advance(&mut *scene);
        scene.boxes().to_vec()
    };
    Ok((0..count).map(|_| next()).collect())
}

/// One structure, frame after frame.
fn kept(report: Report) -> Result<impl FnMut(&Boxes) -> Result<usize, broadphase::Error>, broadphase::Error> {
    let mut structure: Box<dyn BroadPhase<3, f32>> = Spec::default().build()?;
    let (mut context, mut store) = (Context::new(), PairStore::new(report));
    Ok(move |boxes: &Boxes| {
        broadphase::step(&mut *structure, &Frame::new(boxes), &mut context, &mut store)?;
        Ok(if report.delta() { store.started().len() + store.ended().len() } else { store.len() as usize })
    })
}

/// A world whose objects are set one by one, if their box differs from the last frame's.
fn world(
    objects: impl IntoIterator<Item = Object<3, f32>>,
    first: &Boxes,
) -> Result<impl FnMut(&Boxes) -> Result<usize, broadphase::Error>, broadphase::Error> {
    let mut world = World3::new();
    let handles: Vec<Handle> = objects.into_iter().map(|object| world.insert(object)).collect::<Result<_, _>>()?;
    world.update()?;
    let mut last = first.clone();
    Ok(move |boxes: &Boxes| {
        for ((&handle, &now), last) in handles.iter().zip(boxes).zip(&mut last) {
            if now != *last {
                world.set_box(handle, now)?;
                *last = now;
            }
        }
        let update = world.update()?;
        Ok(update.started().len() + update.ended().len())
    })
}

/// The even or the odd boxes.
fn half(boxes: &Boxes, from: usize) -> Boxes {
    boxes.iter().skip(from).step_by(2).copied().collect()
}

/// The next frame of two lists.
fn follow(between: &mut Between<3, f32>, halves: &[Boxes; 2]) -> Result<usize, broadphase::Error> {
    between.update(&halves[0], &halves[1])?;
    Ok(between.len() as usize)
}

fn array_paths(scene: &str, frames: &[Boxes]) -> Result<(), Box<dyn Error>> {
    let halves: Vec<[Boxes; 2]> = frames.iter().map(|boxes| [half(boxes, 0), half(boxes, 1)]).collect();
    let [mut one, mut two, mut three] = [(); 3].map(|()| halves.iter().cycle());
    let [mut both, mut plain] = [Between::new()?, Between::new()?];
    plain.set_events(false);
    let ordered = if scene.ends_with("k=10") { 2.5 } else { 2.0 };
    let mut paths = vec![
        Path { name: "step", over: None, run: Box::new(kept(Report::All)?) },
        Path { name: "step with events", over: None, run: Box::new(kept(Report::Both)?) },
        Path {
            name: "World, set_box and update",
            over: Some((1, 1.4)),
            run: Box::new(world(frames[0].iter().map(|&b| Object::new(b)), &frames[0])?),
        },
        Path {
            name: "Search, in any order",
            over: Some((0, 1.6)),
            run: Box::new(|boxes| Ok(Search::new(boxes).sort(false).list()?.len())),
        },
        Path { name: "pairs", over: Some((0, ordered)), run: Box::new(|boxes| Ok(pairs(boxes)?.len())) },
        Path {
            name: "pairs_between, halves",
            over: Some((4, 1.1)),
            run: Box::new(|_| one.next().map_or(Ok(0), |[a, b]| Ok(pairs_between(a, b)?.len()))),
        },
        Path {
            name: "Between, halves",
            over: Some((0, 1.3)),
            run: Box::new(|_| two.next().map_or(Ok(0), |halves| follow(&mut plain, halves))),
        },
        Path {
            name: "Between, with events",
            over: Some((1, 1.3)),
            run: Box::new(|_| three.next().map_or(Ok(0), |halves| follow(&mut both, halves))),
        },
    ];
    report(scene, frames, &mut paths, &[&[0, 3, 4], &[1, 2], &[5, 6, 7]])
}

fn static_paths(scene: &str, frames: &[Boxes]) -> Result<(), Box<dyn Error>> {
    let first = &frames[0];
    let rests: Vec<bool> = (0..first.len()).map(|i| frames.iter().all(|boxes| boxes[i] == first[i])).collect();
    let (scenery, movers) = (Tag::in_layers(1).meeting(2), Tag::in_layers(2));
    let kinds = first
        .iter()
        .zip(&rests)
        .map(|(&b, &rests)| Object::new(b).with_kind(if rests { ObjectKind::Static } else { ObjectKind::Dynamic }));
    let layers = first.iter().zip(&rests).map(|(&b, &rests)| Object::new(b).with_tag(if rests { scenery } else { movers }));
    let mut paths = vec![
        Path { name: "all dynamic, with layers", over: None, run: Box::new(world(layers, first)?) },
        Path { name: "statics", over: Some((0, 1.05)), run: Box::new(world(kinds, first)?) },
    ];
    report(scene, frames, &mut paths, &[&[0, 1]])
}

/// Runs all paths over the frames, in turns, and prints their times. Paths of a group must find as many pairs in each frame.
fn report(scene: &str, frames: &[Boxes], paths: &mut [Path<'_>], groups: &[&[usize]]) -> Result<(), Box<dyn Error>> {
    let mut times = vec![Vec::new(); paths.len()];
    for (number, boxes) in frames.iter().enumerate() {
        let mut found = vec![0; paths.len()];
        for turn in 0..paths.len() {
            let path = (turn + number) % paths.len();
            let start = ThreadTime::now();
            found[path] = (paths[path].run)(boxes)?;
            times[path].push(start.elapsed().as_secs_f64() * 1e3);
        }
        for group in groups {
            assert!(number == 0 || group.iter().all(|&path| found[path] == found[group[0]]), "{scene}: {found:?}");
        }
    }
    println!("{scene}, {} objects", frames[0].len());
    for (path, own) in paths.iter().zip(&times) {
        print!("  {:26}{:9.4} ms", path.name, median(own[1..].to_vec()));
        if let Some((over, goal)) = path.over {
            let ratios = own.iter().zip(&times[over]).skip(1).map(|(own, over)| own / over).collect();
            print!("  {:5.2} of {}, goal {goal}", median(ratios), paths[over].name);
        }
        println!();
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
