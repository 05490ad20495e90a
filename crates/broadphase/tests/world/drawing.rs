//! Lines of a debug view, and statistics for people.

use broadphase::{Aabb, Outline, World2, World3};

use crate::{Random, specs};

#[test]
fn every_object_has_its_edges_and_no_line_is_endless() {
    for spec in &specs(3) {
        let (mut world, mut random) = (World3::new(), Random(3));
        world.set_algorithm(spec).unwrap();
        let mut boxes: Vec<Aabb<3, f32>> = (0..800).map(|_| random.aabb(40, 2)).collect();
        boxes[7].max[1] = f32::INFINITY;
        boxes[9] = Aabb::everything();
        world.insert_many(&boxes).unwrap();
        let lines: Vec<_> = world.debug_lines().unwrap().collect();
        assert_eq!(lines.iter().filter(|line| line.kind == Outline::Object).count(), 800 * 12, "{spec}");
        assert!(lines.iter().flat_map(|line| line.from.iter().chain(&line.to)).all(|c| c.is_finite()), "{spec}");
        let drawn = |kind: Outline| lines.iter().any(|line| line.kind == kind);
        match spec.descriptor().name {
            "tiles" | "auto" => assert!(drawn(Outline::Tile)),
            "octree" | "dbvt-f" | "dbvt-d" => assert!(drawn(Outline::Node)),
            "hash-grid" => assert!(drawn(Outline::Cell)),
            name if name.starts_with("kd-tree") => assert!(drawn(Outline::Node)),
            _ => {}
        }
    }
}

#[test]
fn tiles_cover_the_objects() {
    let (mut world, mut random) = (World2::new(), Random(5));
    world.set_algorithm(&"tiles:target=64".parse().unwrap()).unwrap();
    let boxes: Vec<Aabb<2, f32>> = (0..2000).map(|_| random.aabb(400, 2)).collect();
    world.insert_many(&boxes).unwrap();
    let lines: Vec<_> = world.debug_lines().unwrap().filter(|line| line.kind == Outline::Tile).collect();
    assert!(lines.len() >= 4 * 10, "{} lines", lines.len());
    for k in 0..2 {
        let ends = || lines.iter().flat_map(|line| [line.from[k], line.to[k]]);
        let (low, high) = (ends().fold(f32::INFINITY, f32::min), ends().fold(f32::NEG_INFINITY, f32::max));
        assert!(boxes.iter().all(|b| low <= b.min[k] && b.max[k] <= high), "tiles from {low} to {high}");
    }
}

#[test]
fn statistics_name_objects_pairs_algorithm_and_memory() {
    let mut world = World3::new();
    world.insert_many(&[Aabb::new([0.0; 3], [1.0; 3]); 5]).unwrap();
    world.update().unwrap();
    let text = world.stats().to_string();
    assert_eq!(text.lines().count(), 4, "{text}");
    for part in ["5 objects", "10 pairs", "algorithm auto", "in all: objects"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
