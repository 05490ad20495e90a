//! Discs that are pushed apart until none overlap, as paper 003 does it: find the pairs, move both of each by half of their
//! overlap, away from the midpoint.
//!
//! `cargo run --release --example separation -- [discs] [steps]`

use broadphase::algorithms::particle_grid::{Options, ParticleGrid};
use broadphase::{Context, Error, PairStore};

const RADIUS: f32 = 0.5;

fn main() -> Result<(), Error> {
    let number = |at: usize, default: usize| std::env::args().nth(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (count, steps) = (number(1, 20_000), number(2, 60));
    let mut points = scatter(count);
    let mut grid = ParticleGrid::new(RADIUS, Options::default())?;
    let (context, mut pairs) = (Context::new(), PairStore::default());
    println!("{count} discs of radius {RADIUS}");
    println!("step  overlapping pairs  deepest overlap");
    for step in 0..=steps {
        grid.build(&points, &context)?;
        grid.pairs(&points, &context, &mut pairs)?;
        let deepest = separate(&mut points, &pairs);
        if step % 10 == 0 {
            println!("{step:4}  {:17}  {deepest:15.4}", pairs.len());
        }
    }
    Ok(())
}

/// Discs at random in a square, of which they cover two fifths.
fn scatter(count: usize) -> Vec<[f32; 2]> {
    let side = (count as f32 * std::f32::consts::PI * RADIUS * RADIUS / 0.4).sqrt();
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32 * side
    };
    (0..count).map(|_| [random(), random()]).collect()
}

/// Moves both discs of each pair by half of their overlap; returns the deepest one.
fn separate(points: &mut [[f32; 2]], pairs: &PairStore) -> f32 {
    let mut deepest = 0f32;
    pairs.for_each_chunk(|chunk| {
        for pair in chunk {
            let (a, b) = (points[pair.a as usize], points[pair.b as usize]);
            let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
            let distance = dx.hypot(dy);
            let overlap = 2.0 * RADIUS - distance;
            if overlap <= 0.0 {
                continue; // pushed apart already, by another pair
            }
            deepest = deepest.max(overlap);
            // Two discs at one place go apart along x.
            let (ux, uy) = if distance > 0.0 { (dx / distance, dy / distance) } else { (1.0, 0.0) };
            let push = 0.5 * overlap;
            points[pair.a as usize] = [a[0] - ux * push, a[1] - uy * push];
            points[pair.b as usize] = [b[0] + ux * push, b[1] + uy * push];
        }
    });
    deepest
}
