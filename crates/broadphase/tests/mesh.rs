//! Candidates of meshes, against double loops and against the ground truth of others.
//!
//! The folder named by `BROADPHASE_DATA` holds `cloth-funnel` (its README has the format). Without it that test says that it was skipped.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use broadphase::mesh::{Mesh, MeshCandidates, mesh_candidates};
use broadphase::{Aabb, Cancel, Error, Pair, Real, Threads};

struct Scene<const D: usize, T> {
    vertices: Vec<[T; D]>,
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
}

/// Crumpled sheets: grids of vertices, moved at random, with their triangles. Edges are ordered by the larger vertex, then the smaller one.
fn sheets<const D: usize, T: Real>(count: usize, side: usize, seed: u64) -> Scene<D, T> {
    let mut state = seed;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let (mut vertices, mut faces) = (Vec::new(), Vec::new());
    for sheet in 0..count {
        let first = vertices.len() as u32;
        for at in 0..side * side {
            let place = [(at % side) as f64, (at / side) as f64 + 0.3 * sheet as f64, 0.7 * sheet as f64];
            vertices.push(std::array::from_fn(|k| T::from_f64(place[k] + 1.5 * random())));
        }
        for at in (0..side * (side - 1)).filter(|at| at % side != side - 1) {
            let corner = first + at as u32;
            let (right, up) = (corner + 1, corner + side as u32);
            faces.extend([[corner, right, up], [up, right, up + 1]]);
        }
    }
    let edges = edges_of(&faces);
    Scene { vertices, edges, faces }
}

fn edges_of(faces: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let sides = faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let unique: BTreeSet<[u32; 2]> = sides.map(|[a, b]| [a.max(b), a.min(b)]).collect();
    unique.into_iter().collect()
}

/// Candidates by the definition.
fn naive<const D: usize, T: Real>(
    scene: &Scene<D, T>,
    next: Option<&[[T; D]]>,
    inflation: T,
    allow: impl Fn(&[u32], &[u32]) -> bool,
) -> MeshCandidates {
    let around = |element: &[u32]| {
        let mut all = Aabb::<D, T>::empty();
        for &vertex in element {
            all = all.union(&Aabb::point(scene.vertices[vertex as usize]));
            if let Some(next) = next {
                all = all.union(&Aabb::point(next[vertex as usize]));
            }
        }
        all.grow(inflation)
    };
    let vertices: Vec<Vec<u32>> = (0..scene.vertices.len() as u32).map(|vertex| vec![vertex]).collect();
    let edges: Vec<Vec<u32>> = scene.edges.iter().map(|edge| edge.to_vec()).collect();
    let faces: Vec<Vec<u32>> = scene.faces.iter().map(|face| face.to_vec()).collect();
    let join = |a: &[Vec<u32>], b: &[Vec<u32>], is_self: bool| -> Vec<Pair> {
        let boxes: Vec<_> = b.iter().map(|element| around(element)).collect();
        let mut pairs = Vec::new();
        for (i, x) in a.iter().enumerate() {
            let own = around(x);
            for (j, y) in b.iter().enumerate().skip(if is_self { i + 1 } else { 0 }) {
                if own.overlaps(&boxes[j]) && !x.iter().any(|v| y.contains(v)) && allow(x, y) {
                    pairs.push(Pair { a: i as u32, b: j as u32 });
                }
            }
        }
        pairs
    };
    if D == 2 {
        return MeshCandidates { edge_vertex: join(&edges, &vertices, false), ..Default::default() };
    }
    MeshCandidates { vertex_face: join(&vertices, &faces, false), edge_edge: join(&edges, &edges, true), ..Default::default() }
}

fn compare<const D: usize, T: Real>() {
    let scene = sheets::<D, T>(3, 8, 5);
    let Scene { vertices, edges, faces } = &scene;
    let expected = naive(&scene, None, T::ZERO, |_, _| true);
    assert!(!expected.is_empty());
    assert_eq!(mesh_candidates(vertices, edges, faces).unwrap(), expected);

    // From step to step: all move, some, none.
    let inflation = T::from_f64(0.05);
    let mesh = || Mesh::new(vertices.len(), edges, faces).unwrap().with_inflation(inflation).unwrap();
    let (mut one, mut two) = (mesh(), mesh().with_executor(Threads::new(2).unwrap()));
    let mut scene = sheets::<D, T>(3, 8, 5);
    for step in 0..6 {
        let mut next = scene.vertices.clone();
        for (index, vertex) in next.iter_mut().enumerate().filter(|(index, _)| [1, 3, usize::MAX][step % 3] > index % 4) {
            vertex[step % D] += T::from_f64(((index * 7 + step * 3) % 11) as f64 * 0.1 - 0.5);
        }
        let expected = naive(&scene, Some(&next), inflation, |_, _| true);
        assert_eq!(*one.update_swept(&scene.vertices, &next).unwrap(), expected, "step {step}");
        assert_eq!(*two.update_swept(&scene.vertices, &next).unwrap(), expected, "step {step}, threads");
        scene.vertices = next;
        assert_eq!(*one.update(&scene.vertices).unwrap(), naive(&scene, None, inflation, |_, _| true), "step {step}");
        assert_eq!(one.candidates().len(), naive(&scene, None, inflation, |_, _| true).len());
    }

    // Three bodies, a filter.
    let bodies: Vec<u32> = (0..vertices.len()).map(|vertex| (vertex / 64) as u32).collect();
    let apart = mesh().with_bodies(&bodies, false).unwrap().update(&scene.vertices).unwrap().clone();
    let body = |element: &[u32]| bodies[element[0] as usize];
    assert_eq!(apart, naive(&scene, None, inflation, |a, b| body(a) != body(b)));
    let with_self = mesh().with_bodies(&bodies, true).unwrap().update(&scene.vertices).unwrap().clone();
    assert_eq!(with_self, naive(&scene, None, inflation, |_, _| true));
    let can_collide = |a: u32, b: u32| (a + b).is_multiple_of(3);
    let filtered = mesh().with_can_collide(can_collide).update(&scene.vertices).unwrap().clone();
    let any = |a: &[u32], b: &[u32]| a.iter().any(|&v| b.iter().any(|&w| can_collide(v, w)));
    assert_eq!(filtered, naive(&scene, None, inflation, any));
}

#[test]
fn candidates_are_those_of_a_double_loop() {
    compare::<2, f32>();
    compare::<2, f64>();
    compare::<3, f32>();
    compare::<3, f64>();
}

#[test]
fn empty_meshes_and_single_elements_have_no_candidates() {
    assert!(mesh_candidates::<3, f32>(&[], &[], &[]).unwrap().is_empty());
    let triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    assert!(mesh_candidates(&triangle, &[[0, 1], [1, 2], [2, 0]], &[[0, 1, 2]]).unwrap().is_empty());
    assert!(mesh_candidates(&[[0.0, 0.0], [1.0, 1.0]], &[[0, 1]], &[]).unwrap().is_empty());
}

#[test]
fn bad_meshes_are_named_and_leave_the_candidates_as_they_were() {
    let scene = sheets::<3, f64>(2, 4, 1);
    let Scene { vertices, edges, faces } = &scene;
    let error = mesh_candidates(vertices, &[[0, 1], [2, 32]], faces).unwrap_err();
    assert_eq!(error, Error::InvalidElement { argument: "edges", index: 1, vertex: 32, vertices: 32 });
    assert_eq!(error.to_string(), "edges: number 1 names vertex 32, but there are 32 vertices");
    let mut mesh = Mesh::new(vertices.len(), edges, faces).unwrap();
    let before = mesh.update(vertices).unwrap().clone();
    let mut bad = vertices.clone();
    bad[9][2] = f64::NAN;
    let error = mesh.update_swept(vertices, &bad).unwrap_err();
    assert_eq!((error.argument(), error.index(), error.axis()), (Some("vertices_next"), Some(9), Some(2)));
    let error = mesh.update(&vertices[1..]).unwrap_err();
    assert_eq!(error, Error::WrongLength { argument: "vertices", found: 31, expected: 32 });
    assert_eq!(*mesh.candidates(), before);
    assert!(mesh.with_bodies(&[0; 3], true).is_err());
    let inflated = Mesh::<3, f64>::new(0, &[], &[]).unwrap().with_inflation(-1.0);
    assert!(matches!(inflated, Err(Error::InvalidValue { argument: "inflation", .. })));
}

/// Reads the binary little-endian PLY files of the data set: vertices of three doubles, triangles of a byte and three `i32`.
#[test]
fn a_cancelled_mesh_keeps_its_candidates() {
    let scene = sheets::<3, f32>(2, 12, 5);
    let cancel = Cancel::new();
    let mut mesh = Mesh::new(scene.vertices.len(), &scene.edges, &scene.faces).unwrap().with_cancel(&cancel);
    let before = mesh.update(&scene.vertices).unwrap().clone();
    assert!(!before.is_empty());
    cancel.cancel();
    let moved: Vec<_> = scene.vertices.iter().map(|vertex| vertex.map(|x| x * 0.5)).collect();
    assert_eq!(mesh.update(&moved), Err(Error::Cancelled));
    assert_eq!(*mesh.candidates(), before);
}

fn read_mesh(path: &Path) -> Scene<3, f64> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let end = b"end_header\n";
    let body = bytes.windows(end.len()).position(|w| w == end).expect("a PLY header") + end.len();
    let header = String::from_utf8_lossy(&bytes[..body]);
    let count = |element: &str| -> usize {
        let line = header.lines().find_map(|line| line.strip_prefix("element ")?.strip_prefix(element)).expect("a count");
        line.trim().parse().expect("a number")
    };
    let (points, triangles) = bytes[body..].split_at(count("vertex") * 24);
    let double = |at: &[u8]| f64::from_le_bytes(at.try_into().expect("8 bytes"));
    let index = |at: &[u8]| u32::from_le_bytes(at.try_into().expect("4 bytes"));
    let faces: Vec<[u32; 3]> =
        triangles.chunks_exact(13).map(|f| std::array::from_fn(|k| index(&f[1 + k * 4..5 + k * 4]))).collect();
    let vertices = points.chunks_exact(24).map(|p| std::array::from_fn(|k| double(&p[k * 8..k * 8 + 8]))).collect();
    let edges = edges_of(&faces);
    Scene { vertices, edges, faces }
}

fn read_pairs(path: &Path) -> Vec<[u32; 2]> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_collisions_that_others_found_in_a_cloth_are_candidates() {
    let Some(folder) = std::env::var_os("BROADPHASE_DATA").map(|data| PathBuf::from(data).join("cloth-funnel")) else {
        eprintln!("skipped: BROADPHASE_DATA does not name the folder that holds cloth-funnel");
        return;
    };
    if !folder.is_dir() {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    }
    let (scene, next) = (read_mesh(&folder.join("227.ply")), read_mesh(&folder.join("228.ply")));
    let mut mesh = Mesh::new(scene.vertices.len(), &scene.edges, &scene.faces).unwrap();
    let found = mesh.update_swept(&scene.vertices, &next.vertices).unwrap();
    assert_eq!((scene.vertices.len(), scene.edges.len()), (9_450, 27_930), "the elements of the data set's README");
    assert_eq!(found.vertex_face.len(), 62_771 - 55_452, "the pairs that share no vertex, of the data set's README");
    let expected = naive(&scene, Some(&next.vertices), 0.0, |_, _| true);
    assert!(*found == expected, "{} and {} candidates", found.vertex_face.len(), found.edge_edge.len());
    // Ids of the lists: vertices, then edges, then faces.
    let (edges, faces) = (scene.vertices.len() as u32, (scene.vertices.len() + scene.edges.len()) as u32);
    let (mut vertex_face, mut edge_edge) = (0, 0);
    for [a, b] in read_pairs(&folder.join("227vf.json")) {
        let pair = Pair { a: a.min(b), b: a.max(b) - faces };
        assert!(found.vertex_face.binary_search(&pair).is_ok(), "vertex {} and face {}", pair.a, pair.b);
        vertex_face += 1;
    }
    for [a, b] in read_pairs(&folder.join("227ee.json")) {
        let pair = Pair::new(a - edges, b - edges);
        assert!(found.edge_edge.binary_search(&pair).is_ok(), "edges {} and {}", pair.a, pair.b);
        edge_edge += 1;
    }
    assert_eq!((vertex_face, edge_edge), (92, 263));
}
