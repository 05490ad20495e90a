//! Is the cost of an object the same, however many there are, where it is hard to keep so?
//!
//! `cargo run --release -p broadphase-cli --example linear -- hash-grid 100000 1000000` prints CPU time, tests and pairs per object of
//! a frame in motion, and their ratios from the fewest objects to the most: cubes; needles of 100:1 along all axes; sizes that differ
//! by a million; one giant among cubes; cubes on a line. Without arguments, few objects: a smoke test.

use std::error::Error;

use broadphase::{Aabb, Context, Frame, PairStore, Report, Spec};
use broadphase_scenes::{AnyScene, SceneSpec};
use cpu_time::ThreadTime;

type Boxes = Vec<Aabb<3, f32>>;

const CASES: [&str; 5] = ["cubes", "needles", "sizes", "giant", "line"];
/// Frames of which the fastest counts, behind the first.
const FRAMES: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let spec = arguments.next().unwrap_or("hash-grid".to_string()).parse::<Spec>()?;
    let mut counts = arguments.map(|n| n.parse()).collect::<Result<Vec<usize>, _>>()?;
    if counts.is_empty() {
        counts = vec![1_000, 2_000];
    }
    for case in CASES {
        let mut rows = Vec::new();
        for &n in &counts {
            let row = measure(&spec, boxes(case, n)?)?;
            println!("{case}, {n} objects: {:.0} ns, {:.1} tests, {:.2} pairs per object", row[0], row[1], row[2]);
            rows.push(row);
        }
        let (first, last) = (rows[0], rows[rows.len() - 1]);
        println!("{case}: {:.2} times the time per object, {:.2} times the tests", last[0] / first[0], last[1] / first[1]);
    }
    Ok(())
}

/// Nanoseconds, tests and pairs per object of a frame.
fn measure(spec: &Spec, mut boxes: Boxes) -> Result<[f64; 3], Box<dyn Error>> {
    let (mut structure, mut context, mut store) = (spec.build::<3, f32>()?, Context::new(), PairStore::new(Report::All));
    let mut random = Random(7);
    let mut fastest = f64::INFINITY;
    for frame in 0..=FRAMES {
        let start = ThreadTime::now();
        structure.update(&Frame::new(&boxes), &mut context)?;
        structure.pairs(&Frame::new(&boxes), &mut context, &mut store)?;
        if frame > 0 {
            fastest = fastest.min(start.elapsed().as_nanos() as f64);
        }
        for value in &mut boxes {
            let size = value.size().into_iter().fold(f32::INFINITY, f32::min);
            *value = value.translate(std::array::from_fn(|_| (random.unit() - 0.5) * 0.2 * size));
        }
    }
    let n = boxes.len() as f64;
    Ok([fastest, store.tests() as f64, store.len() as f64].map(|sum| sum / n))
}

/// The objects of a case: as many to a volume, whatever their number.
fn boxes(case: &str, n: usize) -> Result<Boxes, Box<dyn Error>> {
    let scene = if case == "sizes" { "sizes:ratio=1000000" } else { "uniform" };
    let AnyScene::Three(scene) = scene.parse::<SceneSpec>()?.build(n, 0)? else { return Err("a scene in space".into()) };
    let mut boxes = scene.boxes().to_vec();
    let mut random = Random(3);
    match case {
        "needles" => {
            let side = 25.0 * (n as f32).cbrt();
            for value in &mut boxes {
                let mut half = [0.5; 3];
                half[(random.unit() * 3.0) as usize % 3] = 50.0;
                *value = Aabb::from_center(std::array::from_fn(|_| random.unit() * side), half);
            }
        }
        "giant" => boxes[n / 2] = Aabb::new([-1e6; 3], [1e6; 3]),
        "line" => {
            for value in &mut boxes {
                *value = Aabb::from_center([random.unit() * n as f32, 0.0, 0.0], [0.5; 3]);
            }
        }
        _ => {}
    }
    Ok(boxes)
}

/// A small generator: the cases are the same on every machine.
struct Random(u64);

impl Random {
    /// From 0 to 1.
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
}
