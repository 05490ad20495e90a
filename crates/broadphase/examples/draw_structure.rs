//! Draws a structure as SVG: `cargo run --release --example draw_structure -- [ALGORITHM] [FILE.svg]`.
//!
//! Boxes are blue where they overlap others, the structure's regions are outlined, and darker regions made more tests. The drawings of the guide
//! come from here: `docs/images/tiles.svg` is `tiles:target=60`.

use std::fmt::Write;

use broadphase::{Aabb, Context, Error, Frame, PairStore, Region, Report, Spec, step};

/// The width and height of the drawing.
const SIDE: f32 = 640.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let spec: Spec = arguments.next().unwrap_or("tiles:target=60".to_string()).parse()?;
    let drawing = draw(&spec, &crowd(900))?;
    match arguments.next() {
        Some(path) => std::fs::write(path, drawing)?,
        None => println!("{} bytes of SVG; name a file to keep them", drawing.len()),
    }
    Ok(())
}

/// Boxes that crowd around two points and are sparse elsewhere, as in most scenes.
fn crowd(count: usize) -> Vec<Aabb<2, f32>> {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let mut place = |i: usize| -> [f32; 2] {
        let spread = [random(), random(), random(), random()];
        match i % 3 {
            0 => [SIDE * spread[0], SIDE * spread[1]],
            1 => [180.0 + 170.0 * (spread[0] + spread[1] - 1.0), 200.0 + 170.0 * (spread[2] + spread[3] - 1.0)],
            _ => [470.0 + 120.0 * (spread[0] + spread[1] - 1.0), 450.0 + 150.0 * (spread[2] + spread[3] - 1.0)],
        }
    };
    (0..count).map(|i| (place(i), 2.0 + (i % 5) as f32)).map(|(at, half)| Aabb::from_center(at, [half; 2])).collect()
}

fn draw(spec: &Spec, boxes: &[Aabb<2, f32>]) -> Result<String, Error> {
    let mut structure = spec.build::<2, f32>()?;
    let (mut context, mut found) = (Context::new(), PairStore::new(Report::All));
    let frame = Frame::new(boxes);
    step(&mut *structure, &frame, &mut context, &mut found)?;
    let mut regions: Vec<Region<2, f32>> = Vec::new();
    structure.outline(&frame, &mut |region| regions.push(region));
    let tests_in = |region: &Region<2, f32>| region.chunk.map_or(0, |chunk| found.chunk_tests(chunk));
    let most = regions.iter().map(tests_in).max().unwrap_or(0).max(1);
    let mut overlaps = vec![false; boxes.len()];
    found.to_vec().iter().for_each(|pair| [pair.a, pair.b].iter().for_each(|&id| overlaps[id as usize] = true));

    let mut svg =
        format!("<svg xmlns='http://www.w3.org/2000/svg' viewBox='-2 -2 {0} {0}' font-family='sans-serif'>\n", SIDE + 4.0);
    svg += "<rect x='-2' y='-2' width='100%' height='100%' fill='white'/>\n"; // readable on a dark page too
    for region in &regions {
        let shade = 0.35 * tests_in(region) as f32 / most as f32;
        rectangle(
            &mut svg,
            &region.bounds,
            &format!("fill='#d55e00' fill-opacity='{shade:.2}' stroke='#444' stroke-width='1.5'"),
        );
    }
    for (aabb, overlaps) in boxes.iter().zip(&overlaps) {
        let color = if *overlaps { "#0072b2" } else { "#999" };
        rectangle(&mut svg, aabb, &format!("fill='none' stroke='{color}'"));
    }
    svg += "</svg>\n";
    Ok(svg)
}

/// A rectangle, cut off at the sides of the drawing: the outer regions of a structure have no end.
fn rectangle(svg: &mut String, aabb: &Aabb<2, f32>, style: &str) {
    let [low, high] = [aabb.min, aabb.max].map(|corner| corner.map(|c| c.clamp(0.0, SIDE)));
    let written = writeln!(
        svg,
        "<rect x='{:.1}' y='{:.1}' width='{:.1}' height='{:.1}' {style}/>",
        low[0],
        low[1],
        high[0] - low[0],
        high[1] - low[1]
    );
    written.expect("writing to a string does not fail");
}
