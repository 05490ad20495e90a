//! Outside ground truth: a step of a cloth simulation, and the pairs that others found in it.
//!
//! The folder named by `BROADPHASE_DATA` holds `cloth-funnel` (its README has the format): a mesh at two steps, and lists of pairs of
//! vertices and faces, and of edges and edges, whose boxes meet during the step. Every listed pair must be found, and the whole set
//! must be that of brute force, in the self form and in the bipartite form. Without the folder the test says that it was skipped.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use broadphase::{
    Aabb, BroadPhase, Changes, Context, Frame, Pair, PairStore, Probes, Shape, Spec, Strength, Swept, algorithms, step,
};

type Box3 = Aabb<3, f64>;

/// A mesh at one step.
struct Mesh {
    vertices: Vec<[f64; 3]>,
    faces: Vec<[u32; 3]>,
}

/// Reads the binary little-endian PLY files of the data set: vertices of three doubles, triangles of a byte and three `i32`.
fn read_mesh(path: &Path) -> Mesh {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let end = b"end_header\n";
    let body = bytes.windows(end.len()).position(|w| w == end).expect("a PLY header") + end.len();
    let header = String::from_utf8_lossy(&bytes[..body]);
    let count = |element: &str| -> usize {
        let line = header.lines().find_map(|line| line.strip_prefix("element ")?.strip_prefix(element)).expect("a count");
        line.trim().parse().expect("a number")
    };
    let (vertices, faces) = (count("vertex"), count("face"));
    let (points, triangles) = bytes[body..].split_at(vertices * 24);
    let double = |at: &[u8]| f64::from_le_bytes(at.try_into().expect("8 bytes"));
    let index = |at: &[u8]| u32::from_le_bytes(at.try_into().expect("4 bytes"));
    assert_eq!(triangles.len(), faces * 13, "{}", path.display());
    Mesh {
        vertices: points.chunks_exact(24).map(|p| std::array::from_fn(|k| double(&p[k * 8..k * 8 + 8]))).collect(),
        faces: triangles.chunks_exact(13).map(|f| std::array::from_fn(|k| index(&f[1 + k * 4..5 + k * 4]))).collect(),
    }
}

/// The elements of the mesh in the order of the data set's ids, each as the box of its whole step.
struct Cloth {
    boxes: Vec<Box3>,
    /// The first edge and the first face.
    edges: usize,
    faces: usize,
    listed: Vec<Pair>,
}

impl Cloth {
    fn read(folder: &Path) -> Self {
        let (before, after) = (read_mesh(&folder.join("227.ply")), read_mesh(&folder.join("228.ply")));
        let points: Vec<Box3> =
            before.vertices.iter().zip(&after.vertices).map(|(&a, &b)| Aabb::point(a).union(&Aabb::point(b))).collect();
        let around = |vertices: &[u32]| vertices.iter().fold(Box3::empty(), |all, &v| all.union(&points[v as usize]));
        let sides = before.faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        // Ordered by the larger vertex, then the smaller one.
        let edges: BTreeSet<[u32; 2]> = sides.map(|[a, b]| [a.max(b), a.min(b)]).collect();
        let mut boxes = points.clone();
        boxes.extend(edges.iter().map(|edge| around(edge)));
        boxes.extend(before.faces.iter().map(|face| around(face)));
        let mut listed = read_pairs(&folder.join("227vf.json"));
        listed.extend(read_pairs(&folder.join("227ee.json")));
        Self { boxes, edges: points.len(), faces: points.len() + edges.len(), listed }
    }
}

fn read_pairs(path: &Path) -> Vec<Pair> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let pairs: Vec<[u32; 2]> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    pairs.into_iter().map(|[a, b]| Pair::new(a, b)).collect()
}

/// All pairs of the boxes by one algorithm, sorted.
fn self_form(spec: &Spec, boxes: &[Box3]) -> Vec<Pair> {
    let mut structure = spec.build().expect("in 3D");
    let (mut context, mut store) = (Context::new(), PairStore::default());
    let frame = Frame::new(boxes).with_changes(Changes::All);
    step(&mut *structure, &frame, &mut context, &mut store).unwrap_or_else(|error| panic!("{spec}: {error}"));
    structure.validate(&frame, Strength::Geometry).unwrap_or_else(|error| panic!("{spec}: {error}"));
    store.sorted()
}

/// All pairs of a probe and a box by one algorithm, sorted.
fn bipartite_form(spec: &Spec, probes: &[Box3], boxes: &[Box3]) -> Vec<Pair> {
    let mut structure: Box<dyn BroadPhase<3, f64>> = spec.build().expect("in 3D");
    let (mut context, mut store) = (Context::new(), PairStore::default());
    let frame = Frame::new(boxes).with_changes(Changes::All);
    structure.update(&frame, &mut context).unwrap_or_else(|error| panic!("{spec}: {error}"));
    let asked = structure.probe(&frame, Probes { boxes: probes, ids: None, recurring: false }, &mut context, &mut store);
    asked.unwrap_or_else(|error| panic!("{spec}: {error}"));
    store.sorted()
}

/// Which listed algorithms take boxes of all sizes in space; `BROADPHASE_ONLY` narrows them down.
fn specs() -> Vec<Spec> {
    let only = std::env::var("BROADPHASE_ONLY").unwrap_or_default();
    let suits = algorithms::list().iter().filter(|d| d.dims.contains(&3) && d.shapes.contains(&Shape::Box));
    let wanted = suits.filter(|d| only.is_empty() || only.split(',').any(|name| name == d.name));
    wanted.map(|d| d.name.parse().expect("a listed name")).collect()
}

#[test]
fn every_algorithm_finds_the_pairs_that_others_found_in_a_cloth() {
    let Some(folder) = std::env::var_os("BROADPHASE_DATA").map(|data| PathBuf::from(data).join("cloth-funnel")) else {
        eprintln!("skipped: BROADPHASE_DATA does not name the folder that holds cloth-funnel");
        return;
    };
    if !folder.is_dir() {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    }
    let cloth = Cloth::read(&folder);
    assert_eq!((cloth.edges, cloth.faces, cloth.boxes.len()), (9_450, 37_380, 55_864), "the elements of the data set's README");
    let expected = self_form(&"brute-force".parse().expect("listed"), &cloth.boxes);
    assert_eq!(cloth.listed.len(), 92 + 263, "the pairs of the data set's README");
    for pair in &cloth.listed {
        assert!(expected.binary_search(pair).is_ok(), "brute force misses ({}, {})", pair.a, pair.b);
    }
    let (edges, faces) = (cloth.edges as u32, cloth.faces as u32);
    let vertex_face: Vec<Pair> = expected.iter().filter(|p| p.a < edges && p.b >= faces).copied().collect();
    assert_eq!(vertex_face.len(), 62_771, "the vertex-face pairs of the data set's README");
    let edge = |id: u32| (edges..faces).contains(&id);
    let edge_edge: Vec<Pair> = expected.iter().filter(|p| edge(p.a) && edge(p.b)).copied().collect();

    for spec in specs() {
        let found = self_form(&spec, &cloth.boxes);
        assert!(found == expected, "{spec}: {} pairs of all elements, {} expected", found.len(), expected.len());
        let shift = |list: Vec<Pair>, a: u32, b: u32| -> Vec<Pair> {
            list.into_iter().map(|p| Pair { a: p.a + a, b: p.b + b }).collect()
        };
        let found = shift(self_form(&spec, &cloth.boxes[cloth.edges..cloth.faces]), edges, edges);
        assert!(found == edge_edge, "{spec}: {} pairs of edges, {} expected", found.len(), edge_edge.len());
        let found = bipartite_form(&spec, &cloth.boxes[..cloth.edges], &cloth.boxes[cloth.faces..]);
        assert!(shift(found, 0, faces) == vertex_face, "{spec}: vertices against faces");
    }
}

/// The data set's union of both steps is the library's swept box.
#[test]
fn the_box_of_a_step_is_the_bounds_of_the_swept_point() {
    let (a, b) = ([1.0, 2.0, 3.0], [0.5, 2.0, 4.0]);
    let swept = Swept::new(Aabb::point(a), std::array::from_fn(|k| b[k] - a[k]));
    assert_eq!(swept.bounds(), Aabb::point(a).union(&Aabb::point(b)));
}
