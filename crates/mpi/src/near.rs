//! Boxes of other ranks near this one, merged into few.
//!
//! A rank sends up to 17 boxes (with the default options). Where they fill a region without gaps, as the boxes of a compact rank do along a common
//! face, one box around them covers the same objects, and each object is compared with one box instead of many. Boxes are merged while that adds little
//! volume within this rank's bound. Objects sent because of the added volume are unnecessary, but harmless.

use broadphase::{Aabb, Real};

/// Two boxes are merged if the box around them has at most this many times their volume.
const FILLED: f64 = 1.25;
/// Added to each side, as a share of the bound's side, so that flat boxes have a volume.
const PADDING: f64 = 1.0 / 1024.0;

/// A box of another rank that reaches this one's objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Near<const D: usize, T> {
    /// The position in the list of neighbors.
    pub(crate) neighbor: u32,
    pub(crate) rank: u32,
    pub(crate) aabb: Aabb<D, T>,
}

/// Appends boxes that cover the part of `near`, which are the boxes of one rank, within `bound`. Objects within the bound that overlap a box of `near`
/// overlap one of them.
pub(crate) fn cover<const D: usize, T: Real>(bound: &Aabb<D, T>, near: &[Near<D, T>], out: &mut Vec<Aabb<D, T>>) {
    let first = out.len();
    for other in near.iter().map(|near| &near.aabb) {
        let clipped = Aabb::new(
            std::array::from_fn(|k| other.min[k].max(bound.min[k])),
            std::array::from_fn(|k| other.max[k].min(bound.max[k])),
        );
        if clipped.is_valid() {
            out.push(clipped);
        }
    }
    let padding: [f64; D] = std::array::from_fn(|k| (bound.max[k].to_f64() - bound.min[k].to_f64()) * PADDING);
    let volume =
        |aabb: &Aabb<D, T>| -> f64 { (0..D).map(|k| aabb.max[k].to_f64() - aabb.min[k].to_f64() + padding[k]).product() };
    let mut merged = true;
    while std::mem::take(&mut merged) {
        let mut at = first;
        while at < out.len() {
            let one = out[at];
            let fills = |other: &Aabb<D, T>| volume(&one.union(other)) <= FILLED * (volume(&one) + volume(other));
            match out[at + 1..].iter().position(fills) {
                Some(distance) => {
                    let other = out.swap_remove(at + 1 + distance);
                    out[at] = one.union(&other);
                    merged = true;
                }
                None => at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(bound: Aabb<2, f32>, boxes: &[Aabb<2, f32>]) -> Vec<Aabb<2, f32>> {
        let near: Vec<_> = boxes.iter().map(|&aabb| Near { neighbor: 0, rank: 1, aabb }).collect();
        let mut out = Vec::new();
        cover(&bound, &near, &mut out);
        out
    }

    #[test]
    fn boxes_along_a_face_become_one_and_those_far_apart_stay() {
        let bound = Aabb::new([0.0, 0.0], [100.0, 100.0]);
        let strip = |i: usize| Aabb::new([98.0 + 0.1 * (i % 3) as f32, i as f32 * 10.0], [140.0, i as f32 * 10.0 + 11.0]);
        let face: Vec<_> = (0..10).map(strip).collect();
        assert_eq!(covers(bound, &face), [Aabb::new([98.0, 0.0], [100.0, 100.0])]);
        let corners = [Aabb::new([-5.0, -5.0], [1.0, 1.0]), Aabb::new([99.0, 99.0], [110.0, 110.0])];
        assert_eq!(covers(bound, &corners).len(), 2);
        assert!(covers(bound, &[Aabb::new([101.0, 0.0], [102.0, 1.0])]).is_empty());
    }

    #[test]
    fn every_clipped_box_is_covered_also_if_flat_or_huge() {
        let mut seed = 3u64;
        let mut noise = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1u64 << 24) as f32 - 0.5
        };
        for trial in 0..200 {
            let spread = [1.0, 1e-30, 1e30, f32::MAX, 0.0][trial % 5];
            let mut aabb = |size: f32| {
                let min = [noise() * spread, noise() * spread];
                let flat = trial % 3 == 0;
                Aabb::new(min, [min[0] + noise().abs() * size * spread, if flat { min[1] } else { min[1] + size * spread }])
            };
            let bound = aabb(1.0);
            let boxes: Vec<_> = (0..trial % 20).map(|_| aabb(0.2)).collect();
            let out = covers(bound, &boxes);
            for other in boxes.iter().filter(|other| other.overlaps(&bound)) {
                let clipped = Aabb::new(
                    std::array::from_fn(|k| other.min[k].max(bound.min[k])),
                    std::array::from_fn(|k| other.max[k].min(bound.max[k])),
                );
                assert!(out.iter().any(|cover| cover.contains(&clipped)), "{trial}");
            }
        }
    }
}
