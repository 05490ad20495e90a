//! Two sheets of cloth, one falling through the other during a step: which vertices, edges and faces may collide on the way.
//!
//! `cargo run --release --example cloth -- [vertices along a side] [steps]`

#[path = "support/picture.rs"]
mod picture;

use std::time::Instant;

use broadphase::mesh::{Mesh, MeshCandidates};
use broadphase::{Aabb, Error};

/// Elements closer than this are candidates too.
const THICKNESS: f32 = 0.02;

fn main() -> Result<(), Error> {
    let number = |at: usize, default: usize| std::env::args().nth(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (side, steps) = (number(1, 80).max(2), number(2, 8));
    let (mut edges, mut faces, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    for sheet in 0..2 {
        for at in 0..side * side {
            let (x, y, here) = (at % side, at / side, (sheet * side * side + at) as u32);
            let (right, up) = (here + 1, here + side as u32);
            edges.extend((x + 1 < side).then_some([here, right]));
            edges.extend((y + 1 < side).then_some([here, up]));
            if x + 1 < side && y + 1 < side {
                edges.push([right, up]);
                faces.extend([[here, right, up], [up, right, up + 1]]);
            }
            bodies.push(sheet as u32);
        }
    }
    // Folds of one sheet may meet as well: self collision.
    let mesh = Mesh::new(bodies.len(), &edges, &faces)?.with_inflation(THICKNESS / 2.0)?;
    let mut mesh = mesh.with_bodies(&bodies, true)?;
    println!("{} vertices, {} edges, {} faces", bodies.len(), edges.len(), faces.len());
    println!("step  vertex-face  edge-edge  time");
    let mut now = sheets(side, 0);
    for step in 0..steps {
        let next = sheets(side, step + 1);
        let start = Instant::now();
        let found = mesh.update_swept(&now, &next)?;
        println!("{step:4}  {:11}  {:9}  {:.1?}", found.vertex_face.len(), found.edge_edge.len(), start.elapsed());
        check(&now, &next, &faces, found);
        if step == 2 {
            picture::save("cloth", |picture| draw(picture, side, &now, found));
        }
        now = next;
    }
    Ok(())
}

/// A waving sheet at rest, and one that falls.
fn sheets(side: usize, step: usize) -> Vec<[f32; 3]> {
    let vertex = |at: usize| {
        let (sheet, x, y) = (at / (side * side), at % side, at / side % side);
        let wave = ((x as f32) * 0.4 + sheet as f32).sin() * ((y as f32) * 0.3).cos();
        [x as f32, y as f32, wave + sheet as f32 * (2.0 - 0.7 * step as f32)]
    };
    (0..2 * side * side).map(vertex).collect()
}

/// Every fourth row of both sheets, and every fifth of the vertices that may meet a face.
fn draw(picture: &mut picture::Picture, side: usize, now: &[[f32; 3]], found: &MeshCandidates) {
    let seen = |vertex: usize| [now[vertex][0], 4.0 * now[vertex][2], now[vertex][1]]; // heights stretched
    for (sheet, color) in [picture::GRAY, picture::BLUE].into_iter().enumerate() {
        for row in (0..side).step_by(4) {
            let first = sheet * side * side;
            picture.line_in_space((0..side).map(|k| seen(first + row * side + k)), color);
            picture.line_in_space((0..side).map(|k| seen(first + k * side + row)), color);
        }
    }
    let mut vertices: Vec<usize> = found.vertex_face.iter().map(|pair| pair.a as usize).collect();
    vertices.dedup();
    for [x, y, z] in vertices.into_iter().step_by(5).map(seen) {
        picture.line_in_space([[x, y - 0.4, z], [x, y + 0.4, z]], picture::ORANGE);
    }
}

/// The faces of a few vertices are what a loop over all faces finds.
fn check(now: &[[f32; 3]], next: &[[f32; 3]], faces: &[[u32; 3]], found: &MeshCandidates) {
    let path = |vertex: u32| Aabb::point(now[vertex as usize]).union(&Aabb::point(next[vertex as usize])).grow(THICKNESS / 2.0);
    for vertex in (0..now.len() as u32).step_by(now.len() / 50 + 1) {
        let meets = |face: &[u32; 3]| {
            let around = face.iter().fold(Aabb::empty(), |all, &corner| all.union(&path(corner)));
            !face.contains(&vertex) && around.overlaps(&path(vertex))
        };
        let expected: Vec<u32> = (0..faces.len() as u32).filter(|&face| meets(&faces[face as usize])).collect();
        let listed = found.vertex_face.iter().filter(|pair| pair.a == vertex).map(|pair| pair.b);
        assert!(listed.eq(expected), "vertex {vertex}");
    }
}
