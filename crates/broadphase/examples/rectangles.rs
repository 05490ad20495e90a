//! Labels on a map: which rectangles overlap, which lots contain which trees, and the neighbors of each lot.
//!
//! `cargo run --release --example rectangles -- [rectangles]`

#[path = "support/picture.rs"]
mod picture;

use std::time::Instant;

use broadphase::{Aabb, Error, Pair, Search, nearest, pairs, pairs_between, pairs_within};

fn main() -> Result<(), Error> {
    let count = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20_000usize);
    let side = (count as f64).sqrt() * 3.0;
    let mut random = random();
    let mut rectangle = |largest: f64| {
        let (x, y) = (random() * side, random() * side);
        Aabb::new([x, y], [x + random() * largest, y + random() * largest])
    };
    let labels: Vec<Aabb<2, f64>> = (0..count).map(|_| rectangle(4.0)).collect();
    let trees: Vec<Aabb<2, f64>> = (0..count / 2).map(|_| rectangle(0.0)).collect();

    let overlaps = timed("overlapping pairs", || pairs(&labels), Vec::len)?;
    check(&overlaps, labels.len(), labels.len(), |a, b| a < b && labels[a].overlaps(&labels[b]));
    picture::save("rectangles", |picture| {
        let small = |b: &Aabb<2, f64>| Aabb::new(b.min.map(|c| c as f32), b.max.map(|c| c as f32));
        let here = |b: &Aabb<2, f32>| b.max[0].max(b.max[1]) < 70.0;
        let mut overlapping = vec![false; count];
        overlaps.iter().for_each(|pair| [pair.a, pair.b].iter().for_each(|&k| overlapping[k as usize] = true));
        for (label, overlapping) in labels.iter().map(small).zip(overlapping).filter(|(label, _)| here(label)) {
            picture.rectangles([label], if overlapping { picture::BLUE } else { picture::GRAY });
        }
        picture.discs(trees.iter().map(small).filter(here).map(|tree| tree.min), 0.2, picture::GREEN);
    });
    let under = timed("trees under a label", || pairs_between(&labels, &trees), Vec::len)?;
    check(&under, labels.len(), trees.len(), |a, b| labels[a].overlaps(&trees[b]));

    // Pixels: a rectangle from 3 to 5 covers 3 and 4, so that tiles side by side do not overlap.
    let pixels: Vec<_> = labels.iter().map(|b| Aabb::new(b.min.map(f64::floor), b.max.map(f64::floor))).collect();
    let covered = timed("pairs that share a pixel", || Search::new(&pixels).half_open().list(), Vec::len)?;
    let share =
        |a: usize, b: usize| (0..2).all(|k| pixels[a].min[k].max(pixels[b].min[k]) < pixels[a].max[k].min(pixels[b].max[k]));
    check(&covered, pixels.len(), pixels.len(), |a, b| a < b && share(a, b));

    let near = timed("pairs closer than 0.5", || pairs_within(&labels, 0.5), Vec::len)?;
    assert!(near.len() >= overlaps.len() && near.iter().all(|pair| pair.distance <= 0.5));
    let rows = timed("three nearest of each", || nearest(&labels, 3), |rows| rows.indices.len())?;
    assert!(rows.of(0).len() == 3.min(count - 1));
    Ok(())
}

/// Runs something and says how long it took, and how many there are.
fn timed<X>(what: &str, run: impl Fn() -> Result<X, Error>, count: impl Fn(&X) -> usize) -> Result<X, Error> {
    let start = Instant::now();
    let result = run()?;
    println!("{:8} {what} in {:.1?}", count(&result), start.elapsed());
    Ok(result)
}

/// The pairs of a few objects are what a loop over all others finds.
fn check(pairs: &[Pair], a: usize, b: usize, meets: impl Fn(usize, usize) -> bool) {
    for x in (0..a).step_by(a / 50 + 1) {
        let listed = pairs.iter().filter(|pair| pair.a as usize == x).map(|pair| pair.b as usize);
        assert!(listed.eq((0..b).filter(|&y| meets(x, y))), "object {x}");
    }
}

fn random() -> impl FnMut() -> f64 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}
