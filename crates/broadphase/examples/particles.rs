//! A step of smoothed-particle hydrodynamics (SPH) in a periodic cube: densities from neighbors, pressure pushes particles apart.
//!
//! `cargo run --release --example particles -- [particles] [steps]`

#[path = "support/picture.rs"]
mod picture;

use std::time::Instant;

use broadphase::{Error, NeighborSearch, Neighbors, Period};

/// About thirty particles are within this distance, at one particle per unit of volume.
const RADIUS: f32 = 1.9;

fn main() -> Result<(), Error> {
    let number = |at: usize, default: usize| std::env::args().nth(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (count, steps) = (number(1, 200_000), number(2, 2));
    let side = (count as f32).cbrt().max(4.0);
    let space = Period::new([side; 3]);
    let mut random = random();
    let mut points: Vec<[f32; 3]> = (0..count).map(|_| [(); 3].map(|()| random() * side)).collect();
    println!("{count} particles in a periodic cube of side {side:.1}");
    println!("step  neighbors of each  density, spread  time of the search");
    for step in 0..steps {
        let start = Instant::now();
        let near = NeighborSearch::new(&points, RADIUS).periodic(space).distances().list()?;
        let spent = start.elapsed();
        check(&points, &near, side);
        // The kernel of each neighbor: 1 at no distance, 0 at the radius.
        let weight = |distance: f32| (1.0 - distance / RADIUS).powi(2);
        let density: Vec<f32> = (0..count).map(|i| 1.0 + near.with_distances(i).map(|(_, d)| weight(d)).sum::<f32>()).collect();
        let mean = density.iter().sum::<f32>() / count as f32;
        let spread = (density.iter().map(|d| (d - mean).powi(2)).sum::<f32>() / count as f32).sqrt() / mean;
        let each = near.indices.len() as f32 / count as f32;
        println!("{step:4}  {each:17.1}  {spread:15.4}  {spent:12.1?}");
        if step == 0 {
            picture::save("particles", |picture| {
                for (place, density) in
                    points.iter().zip(&density).filter(|(place, _)| place[2] < 1.0 && place[0].max(place[1]) < 30.0)
                {
                    let color = if *density > 1.1 * mean { picture::ORANGE } else { picture::BLUE };
                    picture.discs([[place[0], place[1]]], 0.1 * density, color);
                }
            });
        }
        // Away from each neighbor, the more the denser it is there.
        let moved = (0..count).map(|i| {
            let mut to = points[i];
            for (j, distance) in near.with_distances(i).filter(|&(_, distance)| distance > 0.0) {
                let push = 0.02 * weight(distance) * (density[i] + density[j as usize]) / mean;
                let away = space.displacement(points[j as usize], points[i]);
                (0..3).for_each(|k| to[k] += push * away[k] / distance);
            }
            space.wrap(to)
        });
        points = moved.collect();
    }
    Ok(())
}

/// A few rows are what a loop over all particles finds.
fn check(points: &[[f32; 3]], near: &Neighbors<f32>, side: f32) {
    let space = Period::new([side; 3]);
    for i in (0..points.len()).step_by(points.len() / 20 + 1) {
        let within = |j: &usize| {
            let d = |k: usize| space.separation(k, points[i][k], points[*j][k]).powi(2);
            *j != i && d(0) + d(1) + d(2) <= RADIUS * RADIUS
        };
        let expected: Vec<u32> = (0..points.len()).filter(within).map(|j| j as u32).collect();
        assert_eq!(near.of(i), expected, "particle {i}");
    }
}

fn random() -> impl FnMut() -> f32 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    }
}
