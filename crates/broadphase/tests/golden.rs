//! Golden lists: a hash of the pair list of every scene, algorithm, dimension and scalar, in the order in which pairs are handed out. The order
//! follows from data alone, so threads and instruction sets must give the committed hash too. A change of any is deliberate:
//! `BROADPHASE_GOLDEN=write cargo test -p broadphase --test golden` rewrites `tests/data/golden-lists.txt`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use broadphase::{Aabb, Context, Frame, Isa, Kernels, Pair, PairStore, Real, Report, Shape, Spec, algorithms, step};
use broadphase_scenes::{AnyScene, Scene, SceneSpec, list};
use broadphase_testing::executors::{Serialized, threads};

const N: usize = 260;
const FRAMES: usize = 3;
/// The most threads. A wasm module has one.
const THREADS: usize = if cfg!(target_family = "wasm") { 1 } else { 4 };
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/golden-lists.txt");

/// FNV-1a over the pairs in their order, and over what started and ended.
fn hash(mut hash: u64, list: &[Pair]) -> u64 {
    for word in list.iter().flat_map(|pair| [pair.a, pair.b]).chain([u32::MAX]) {
        hash = (hash ^ u64::from(word)).wrapping_mul(0x100_0000_01b3);
    }
    hash
}

fn run<const D: usize, T: Real>(spec: &Spec, frames: &[Vec<Aabb<D, T>>], context: Context) -> u64 {
    let mut structure = spec.build::<D, T>().expect("listed");
    let (mut context, mut store) = (context, PairStore::new(Report::Both));
    frames.iter().fold(0xcbf2_9ce4_8422_2325, |sum, boxes| {
        step(&mut *structure, &Frame::new(boxes), &mut context, &mut store).expect("a good frame");
        hash(hash(hash(sum, &store.to_vec()), store.started()), store.ended())
    })
}

/// The frames of a scene in another scalar, exactly.
fn frames<const D: usize, T: Real>(scene: &mut dyn Scene<D>) -> Vec<Vec<Aabb<D, T>>> {
    let exact = |corner: [f32; D]| corner.map(|c| T::from_f64(c.into()));
    let mut frame = |_| {
        let boxes = scene.boxes().iter().map(|b| Aabb::new(exact(b.min), exact(b.max))).collect();
        scene.advance();
        boxes
    };
    (0..FRAMES).map(&mut frame).collect()
}

/// Algorithms that take boxes of any size, and tiles so small that a few hundred objects fill several.
fn specs() -> Vec<Spec> {
    let names = algorithms::list().iter().filter(|d| d.shapes.contains(&Shape::Box)).map(|d| d.name);
    names.chain(["tiles:target=32", "kd-tree:t=16"]).map(|name| name.parse().expect("listed")).collect()
}

fn of_space<const D: usize, T: Real>(scene: &str, frames: &[Vec<Aabb<D, T>>], found: &mut BTreeMap<String, u64>) {
    for spec in specs() {
        let golden = run(&spec, frames, Context::new());
        let what = format!("{scene} {spec} {D}D {}", T::NAME);
        for count in 2..=THREADS {
            assert_eq!(run(&spec, frames, Context::new().with_executor(threads(count))), golden, "{what}: {count} threads");
        }
        assert_eq!(run(&spec, frames, Context::new().with_executor(Serialized::reversed(3))), golden, "{what}: reversed");
        for kernels in Isa::available().filter_map(Kernels::new) {
            let context = Context::new().with_kernels(kernels);
            assert_eq!(run(&spec, frames, context), golden, "{what}: {}", kernels.isa());
        }
        found.insert(what, golden);
    }
}

#[test]
fn lists_are_those_of_the_committed_file_on_all_threads_and_instruction_sets() {
    let mut found = BTreeMap::new();
    let extra = ["uniform:dim=2", "pile:dim=2", "sizes:dim=2"];
    let names = list().iter().map(|scene| scene.name).filter(|name| !name.ends_with("-simulated"));
    for name in names.chain(extra) {
        let build = || name.parse::<SceneSpec>().expect("listed").build(N, 5).expect("a scene");
        match (build(), build()) {
            (AnyScene::Two(mut single), AnyScene::Two(mut double)) => {
                of_space::<2, f32>(name, &frames(&mut *single), &mut found);
                of_space::<2, f64>(name, &frames(&mut *double), &mut found);
            }
            (AnyScene::Three(mut single), AnyScene::Three(mut double)) => {
                of_space::<3, f32>(name, &frames(&mut *single), &mut found);
                of_space::<3, f64>(name, &frames(&mut *double), &mut found);
            }
            _ => unreachable!("the same scene twice"),
        }
    }
    let mut text = String::from(
        "# scene algorithm dimension scalar: hash of lists and events of 3 frames of 260 objects (tests/golden.rs)\n",
    );
    found.iter().for_each(|(what, hash)| _ = writeln!(text, "{what}: {hash:016x}"));
    if std::env::var("BROADPHASE_GOLDEN").is_ok_and(|value| value == "write") {
        std::fs::write(FILE, &text).expect("a file that can be written");
    }
    let committed = std::fs::read_to_string(FILE).expect("tests/data/golden-lists.txt");
    let differ: Vec<&str> = text.lines().filter(|line| !committed.lines().any(|other| other == *line)).collect();
    assert!(
        differ.is_empty() && text.lines().count() == committed.lines().count(),
        "{} lists differ:\n{}",
        differ.len(),
        differ.join("\n")
    );
}
