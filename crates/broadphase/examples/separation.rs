//! Discs that are pushed apart until none overlap, as paper 003 does it: find the pairs, move both of each by half of their
//! overlap, away from the midpoint.
//!
//! `cargo run --release --example separation -- [discs] [steps]`

#[path = "support/picture.rs"]
mod picture;

use broadphase::algorithms::particle_grid::{Options, ParticleGrid};
use broadphase::{Context, Error};

const RADIUS: f32 = 0.5;

fn main() -> Result<(), Error> {
    let number = |at: usize, default: usize| std::env::args().nth(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (count, steps) = (number(1, 20_000), number(2, 60));
    let mut points = scatter(count);
    let mut grid = ParticleGrid::new(RADIUS, Options::default())?;
    let context = Context::new();
    println!("{count} discs of radius {RADIUS}");
    println!("step  pairs pushed apart  deepest overlap");
    let before = points.clone();
    for step in 0..=steps {
        let done = grid.separate(&mut points, &context)?;
        if step % 10 == 0 {
            println!("{step:4}  {:18}  {:15.4}", done.pushed, done.deepest);
        }
    }
    picture::save("separation", |picture| {
        let here = |at: &[f32; 2]| at.iter().all(|c| (50.0..80.0).contains(c));
        picture.discs(before.into_iter().filter(here), RADIUS, picture::ORANGE);
        picture.discs(points.into_iter().filter(here).map(|[x, y]| [x + 35.0, y]), RADIUS, picture::BLUE);
    });
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
