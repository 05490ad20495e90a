//! Decompositions of a list of boxes that every rank has: how the tool distributes files and scenes over the ranks.

use std::str::FromStr;

use broadphase::{Aabb, Real};

/// How a list of boxes is distributed over the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Slabs across the longest axis, with equal numbers of objects.
    Slab,
    /// Recursive bisection: halves across the longest axis, until each rank has one part.
    Bisect,
    /// By a hash of the object's number: all ranks overlap everywhere, the worst case.
    Random,
}

impl Split {
    /// All, by name.
    pub const NAMES: [&'static str; 3] = ["slab", "bisect", "random"];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl FromStr for Split {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Slab, Self::Bisect, Self::Random];
        let found = all.into_iter().find(|split| split.name() == text);
        found.ok_or_else(|| format!("'{text}' is not a split; use one of {}", Self::NAMES.join(", ")))
    }
}

/// Which rank has which object, and what region each rank owns.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares<const D: usize, T> {
    /// The rank of each object.
    pub ranks: Vec<u32>,
    /// By rank, half-open boxes without gaps; empty for [`Split::Random`].
    pub regions: Vec<Aabb<D, T>>,
}

impl<const D: usize, T: Real> Shares<D, T> {
    /// The rank whose region contains the center of the box, if any does.
    pub fn rank_of(&self, aabb: &Aabb<D, T>) -> Option<u32> {
        let center = aabb.center();
        let holds = |region: &Aabb<D, T>| (0..D).all(|k| region.min[k] <= center[k] && center[k] < region.max[k]);
        self.regions.iter().position(holds).map(|rank| rank as u32)
    }
}

/// Distributes boxes over `ranks` ranks. Deterministic.
pub fn share<const D: usize, T: Real>(boxes: &[Aabb<D, T>], ranks: usize, split: Split) -> Shares<D, T> {
    let mut shares = Shares { ranks: vec![0; boxes.len()], regions: Vec::new() };
    if split == Split::Random {
        shares.ranks = (0..boxes.len() as u64).map(|id| (mix(id) % ranks as u64) as u32).collect();
        return shares;
    }
    let mut ids: Vec<u32> = (0..boxes.len() as u32).collect();
    shares.regions = vec![Aabb::everything(); ranks];
    let whole = Part { first: 0, ranks, region: Aabb::everything(), axis: None };
    cut(boxes, &mut ids, whole, split, &mut shares);
    shares
}

/// The 64-bit finalizer of MurmurHash3.
fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ x >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ x >> 33
}

/// Objects that are still to be cut.
struct Part<const D: usize, T> {
    first: usize,
    ranks: usize,
    region: Aabb<D, T>,
    /// The axis to cut across, if it is fixed: all slabs are cut across the same one.
    axis: Option<usize>,
}

fn cut<const D: usize, T: Real>(
    boxes: &[Aabb<D, T>],
    ids: &mut [u32],
    part: Part<D, T>,
    split: Split,
    shares: &mut Shares<D, T>,
) {
    if part.ranks == 1 {
        ids.iter().for_each(|&id| shares.ranks[id as usize] = part.first as u32);
        shares.regions[part.first] = part.region;
        return;
    }
    let axis = part.axis.unwrap_or_else(|| longest_axis(boxes, ids));
    let half = part.ranks / 2;
    let middle = (ids.len() as u64 * half as u64 / part.ranks as u64) as usize;
    // By center, then by number: a total order, whatever the boxes are.
    let order = |id: &u32| (boxes[*id as usize].center()[axis].order_key(), *id);
    let place = if ids.is_empty() {
        part.region.max[axis]
    } else {
        let at = middle.min(ids.len() - 1);
        ids.select_nth_unstable_by_key(at, order);
        let center = boxes[ids[at] as usize].center()[axis];
        if center.is_nan() { part.region.max[axis] } else { center }
    };
    let (mut lower, mut upper) = (part.region, part.region);
    lower.max[axis] = place;
    upper.min[axis] = place;
    let (low, high) = ids.split_at_mut(middle);
    let axis = (split == Split::Slab).then_some(axis);
    cut(boxes, low, Part { first: part.first, ranks: half, region: lower, axis }, split, shares);
    cut(boxes, high, Part { first: part.first + half, ranks: part.ranks - half, region: upper, axis }, split, shares);
}

fn longest_axis<const D: usize, T: Real>(boxes: &[Aabb<D, T>], ids: &[u32]) -> usize {
    let mut bound = Aabb::empty();
    for center in ids.iter().map(|&id| boxes[id as usize].center()) {
        if center.iter().all(|x| x.is_finite()) {
            bound = bound.union(&Aabb::point(center));
        }
    }
    let size = bound.size();
    (1..D).fold(0, |best, k| if size[k] > size[best] { k } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_equal_and_regions_have_their_objects() {
        let boxes: Vec<Aabb<2, f32>> =
            (0..1000u64).map(|id| Aabb::point([(mix(id) % 9973) as f32, (mix(id + 5000) % 499) as f32])).collect();
        for split in [Split::Slab, Split::Bisect] {
            for ranks in [1, 2, 3, 7, 8] {
                let shares = share(&boxes, ranks, split);
                for rank in 0..ranks as u32 {
                    let count = shares.ranks.iter().filter(|&&other| other == rank).count();
                    assert!(count.abs_diff(1000 / ranks) <= 2, "{split:?} {ranks}: {count}");
                }
                let astray = boxes.iter().zip(&shares.ranks).filter(|&(aabb, &rank)| shares.rank_of(aabb) != Some(rank));
                // Only ties with the object at a cut may be on its other side.
                assert!(astray.count() <= 3 * ranks);
            }
        }
    }

    #[test]
    fn no_list_is_too_short_or_too_strange() {
        let strange = [Aabb::everything(), Aabb::point([0.0f32; 2]), Aabb::new([f32::NEG_INFINITY; 2], [0.0; 2])];
        for boxes in [&strange[..0], &strange[..1], &strange[..]] {
            for split in [Split::Slab, Split::Bisect, Split::Random] {
                assert!(share(boxes, 5, split).ranks.iter().all(|&rank| rank < 5));
            }
        }
    }
}
