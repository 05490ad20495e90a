//! Prints pairs per object, moved share and generating time of a scene over its run. Two shares: of the boxes that change at all, and of
//! those that do so for all to see, by more than a thousandth of the edge of a cube.
//!
//! `cargo run --release -p broadphase-scenes --example statistics -- gravity-cubes 4000 600 50`
//! (scene, objects, frames, frames between two lines, seed; pairs are counted up to 200,000 objects)

use std::time::Instant;

use broadphase::Aabb;
use broadphase_scenes::{AnyScene, Scene, SceneSpec};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let spec: SceneSpec = arguments.first().map_or("gravity-cubes", String::as_str).parse()?;
    let number = |at: usize, default: usize| arguments.get(at).map_or(Ok(default), |text| text.parse());
    let (n, frames, every) = (number(1, 4000)?, number(2, 600)?, number(3, 50)?.max(1));
    let start = Instant::now();
    let scene = spec.build(n, number(4, 0)? as u64)?;
    println!("{spec}, {n} objects, built in {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    match scene {
        AnyScene::Two(mut scene) => print(&mut *scene, frames, every),
        AnyScene::Three(mut scene) => print(&mut *scene, frames, every),
    }
    Ok(())
}

fn print<const D: usize>(scene: &mut dyn Scene<D>, frames: usize, every: usize) {
    println!("{:>6} {:>12} {:>8} {:>8} {:>8}  world", "frame", "pairs/object", "moved", "visibly", "ms");
    for frame in 0..frames {
        let told = frame % every == 0;
        let before = if told { scene.boxes().to_vec() } else { Vec::new() };
        let start = Instant::now();
        scene.advance();
        let time = start.elapsed().as_secs_f64() * 1e3;
        if told {
            let n = before.len().max(1) as f64;
            let moves: Vec<f32> = before.iter().zip(scene.boxes()).map(|(a, b)| farthest(a, b)).collect();
            let share = |least: f32| moves.iter().filter(|&&far| far > least).count() as f64 / n;
            let (moved, visibly) = (share(0.0), share(1e-3));
            let world = before.iter().fold(Aabb::empty(), |all, aabb| all.union(aabb)).size();
            let pairs = if before.len() <= 200_000 { format!("{:.3}", pairs(&before) as f64 / n) } else { "-".to_string() };
            println!("{frame:>6} {pairs:>12} {moved:>8.3} {visibly:>8.3} {time:>8.1}  {world:.1?}");
        }
    }
}

/// The farthest that a side of a box moves.
fn farthest<const D: usize>(before: &Aabb<D, f32>, after: &Aabb<D, f32>) -> f32 {
    (0..D).map(|k| (after.min[k] - before.min[k]).abs().max((after.max[k] - before.max[k]).abs())).fold(0.0, f32::max)
}

/// Sorts on x and sweeps.
fn pairs<const D: usize>(boxes: &[Aabb<D, f32>]) -> usize {
    let mut sorted = boxes.to_vec();
    sorted.sort_by(|a, b| a.min[0].total_cmp(&b.min[0]));
    let mut count = 0;
    for (i, aabb) in sorted.iter().enumerate() {
        let reached = sorted[i + 1..].iter().take_while(|other| other.min[0] <= aabb.max[0]);
        count += reached.filter(|other| aabb.overlaps(other)).count();
    }
    count
}
