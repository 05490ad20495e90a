//! What a frame costs by the share of objects that move, others in each frame and the same ones in each.
//!
//! `cargo run --release -p broadphase-cli --example moving_share -- 16000 128000` prints the lowest fifth of the CPU times of rows that take turns.
//! Without a number, few objects: a smoke test.

use std::error::Error;

use broadphase::{Aabb, BroadPhase, Context, Frame, PairStore, Spec, step};
use broadphase_scenes::{AnyScene, SceneSpec};
use cpu_time::ThreadTime;

/// Moving objects per thousand.
const SHARES: [usize; 9] = [1, 10, 20, 30, 60, 100, 150, 300, 1000];
/// Rounds in which rows take turns, and frames of a row in one. The first round, and the first frame of each, are not timed.
const ROUNDS: usize = 6;
const FRAMES: usize = 8;

/// Objects of which a share moves.
struct Row {
    per_mille: usize,
    same: bool,
    boxes: Vec<Aabb<3, f32>>,
    structure: Box<dyn BroadPhase<3, f32>>,
    store: PairStore,
    times: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Result<Vec<usize>, _> = std::env::args().skip(1).map(|n| n.parse()).collect();
    let numbers = numbers.map(|list| if list.is_empty() { vec![1_000] } else { list })?;
    for scene in ["brownian-cubes", "pile"] {
        for &n in &numbers {
            measure(scene, n)?;
        }
    }
    Ok(())
}

fn measure(scene: &str, n: usize) -> Result<(), Box<dyn Error>> {
    let AnyScene::Three(built) = scene.parse::<SceneSpec>()?.build(n, 0)? else { return Err("a scene in space".into()) };
    let mut rows = Vec::new();
    for per_mille in SHARES {
        for same in [false, true] {
            let structure = "tiles".parse::<Spec>()?.build()?;
            let (boxes, store) = (built.boxes().to_vec(), PairStore::default());
            rows.push(Row { per_mille, same, boxes, structure, store, times: Vec::new() });
        }
    }
    let mut context = Context::new();
    for round in 0..ROUNDS {
        for row in &mut rows {
            for frame in 0..FRAMES {
                row.shift(round * FRAMES + frame);
                let start = ThreadTime::now();
                step(&mut *row.structure, &Frame::new(&row.boxes), &mut context, &mut row.store)?;
                if round > 0 && frame > 0 {
                    row.times.push(start.elapsed().as_secs_f64() * 1e3);
                }
            }
        }
    }
    println!("{scene}, {n} objects: share that moves, ms if others move in each frame, ms if the same do");
    for pair in rows.chunks_mut(2) {
        let [others, same] = [0, 1].map(|index| {
            pair[index].times.sort_by(f64::total_cmp);
            pair[index].times[pair[index].times.len() / 5]
        });
        println!("  {:5.1} %  {others:8.4}  {same:8.4}", pair[0].per_mille as f64 / 10.0);
    }
    Ok(())
}

impl Row {
    /// Moves the share by up to a tenth of a box.
    fn shift(&mut self, frame: usize) {
        let salt = if self.same { 0 } else { frame as u64 + 1 };
        for (id, value) in self.boxes.iter_mut().enumerate() {
            if hash(id as u64 ^ (salt << 32)) % 1000 < self.per_mille as u64 {
                let step = hash(id as u64 ^ ((frame as u64) << 40));
                *value = value.translate([0, 16, 32].map(|bit| ((step >> bit) & 0xffff) as f32 / 327_675.0 - 0.1));
            }
        }
    }
}

/// A hash of a number: SplitMix64.
fn hash(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
