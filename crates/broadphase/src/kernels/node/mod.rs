//! The join of one tree node: a sweep over a few hundred boxes, quantized to bytes relative to the node.
//!
//! 1. A sweep sorts boxes by their lower coordinate on one axis, and compares each with the run of those that start before it ends.
//! 2. Here the sort is a counting sort by one byte, and the run's end comes from its counts: the sweep axis is never compared.
//! 3. Along the run, the other axes are compared in bytes, as many at once as a register has.
//! 4. What passes is confirmed on the boxes themselves, so the result is exact: the map to bytes is monotone, and `x <= y`
//!    implies `q(x) <= q(y)`, wherever the two boxes come from.
//!
//! The sweep axis is the one on which the centers of (a sample of) the own boxes vary most. Pairs come in row order, so the list is the same for
//! every register width.
//!
//! The sorted boxes can be cached while they rest: see `cache.rs`. The paper's own join, a sweep over floats, is in `floats.rs`.

mod cache;
mod floats;
mod byte_boxes;
mod sweeps;

use super::arch::{Kernel, Simd};
use super::isa::Kernels;
use super::pair_sink::PairSink;
use crate::geometry::{Aabb, Real};
use byte_boxes::{ByteBoxes, Map};
pub(crate) use cache::{AtRest, NodeCache, join_cached};
pub(crate) use floats::{FloatScratch, join_floats};
use sweeps::{Out, sweep_between, sweep_within};

/// One object in a join.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<const D: usize, T> {
    pub(crate) aabb: Aabb<D, T>,
    pub(crate) id: u32,
    /// Did the object move? Pairs of two objects that did not are not reported.
    pub(crate) moved: bool,
}

/// Boxes looked at for the variance.
const SAMPLE: usize = 64;
/// Candidates are confirmed when this many wait.
const BATCH: usize = 1024;
/// The widest register, in bytes: how far a load may reach behind the last box.
const WIDEST: usize = 64;

/// How long the runs of candidates were.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Runs {
    /// Boxes with a run that is not empty.
    pub(crate) rows: u64,
    /// The sum of the lengths of all runs.
    pub(crate) tests: u64,
    /// Runs of one to eight boxes.
    pub(crate) short: u64,
}

impl Runs {
    /// Counts a run.
    #[inline(always)]
    fn add(&mut self, length: usize) {
        self.rows += u64::from(length > 0);
        self.tests += length as u64;
        self.short += u64::from(length > 0 && length <= 8);
    }

    /// The sums of two counts.
    pub(crate) fn plus(self, other: Runs) -> Runs {
        Runs { rows: self.rows + other.rows, tests: self.tests + other.tests, short: self.short + other.short }
    }
}

/// Buffers of a join, reused; only [`Runs`] outlives a call.
#[derive(Clone, Debug)]
pub(crate) struct Scratch<const D: usize, T> {
    own: ByteBoxes<D>,
    other: ByteBoxes<D>,
    near: Vec<Entry<D, T>>,
    candidates: Vec<u64>,
    pub(crate) runs: Runs,
}

impl<const D: usize, T: Real> Default for Scratch<D, T> {
    fn default() -> Self {
        let candidates = vec![0; BATCH];
        Self { own: ByteBoxes::default(), other: ByteBoxes::default(), near: Vec::new(), candidates, runs: Runs::default() }
    }
}

impl<const D: usize, T: Real> Scratch<D, T> {
    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.own.bytes() + self.other.bytes() + self.near.capacity() * size_of::<Entry<D, T>>() + self.candidates.capacity() * 8
    }
}

/// All overlapping pairs of `own` boxes with each other, and of an own box with one of `others`, that have a box which moved.
/// `bounds` is around the own ones. All boxes are stored in the cache, if there is one.
pub(crate) fn join<const D: usize, T: Real>(
    kernels: Kernels,
    own: &[Entry<D, T>],
    bounds: &Aabb<D, T>,
    others: &[Entry<D, T>],
    cache: Option<&mut NodeCache<D, T>>,
    scratch: &mut Scratch<D, T>,
    hits: &mut PairSink,
) {
    if !own.is_empty() || cache.is_some() {
        kernels.run(NodeJoin { own, bounds, others, cache, scratch, hits });
    }
}

struct NodeJoin<'a, 'h, 'r, const D: usize, T> {
    own: &'a [Entry<D, T>],
    bounds: &'a Aabb<D, T>,
    others: &'a [Entry<D, T>],
    cache: Option<&'a mut NodeCache<D, T>>,
    scratch: &'a mut Scratch<D, T>,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for NodeJoin<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { own, bounds, others, cache, scratch, hits } = self;
        let axis = widest(own, SAMPLE);
        let map = Map::over(bounds);
        let Scratch { own: left, other: right, near: buffer, candidates, runs } = scratch;
        let near = cull(others, buffer, |entry| bounds.overlaps(&entry.aabb));
        left.load(own, &map, axis);
        right.load(near, &map, axis);
        let mut out = Out { candidates, waiting: 0, axis, runs, hits };
        sweep_within(simd, (left, own), &mut out);
        sweep_between(simd, (left, own), (right, near), &mut out);
        if let Some(cache) = cache {
            cache.put((left, own), (right, near), (bounds, map, axis));
            let far = cull(others, buffer, |entry| !bounds.overlaps(&entry.aabb));
            right.load(far, &map, axis);
            cache.put_far((right, far));
        }
    }
}

/// Copies the entries for which `stays` is true to the front of `near`.
#[inline(always)]
fn cull<'a, const D: usize, T: Real>(
    entries: &[Entry<D, T>],
    near: &'a mut Vec<Entry<D, T>>,
    stays: impl Fn(&Entry<D, T>) -> bool,
) -> &'a [Entry<D, T>] {
    if near.len() < entries.len() {
        near.resize(entries.len(), Entry { aabb: Aabb::default(), id: 0, moved: false });
    }
    let mut count = 0;
    for entry in entries {
        near[count] = *entry;
        count += usize::from(stays(entry));
    }
    &near[..count]
}

/// The axis on which the centers of up to `sample` of the boxes, evenly spread over the list, vary most.
#[inline(always)]
fn widest<const D: usize, T: Real>(entries: &[Entry<D, T>], sample: usize) -> usize {
    if entries.is_empty() {
        return 0;
    }
    let (mut sum, mut squares, mut count) = ([T::ZERO; D], [T::ZERO; D], 0);
    // Relative to the first one: far from the origin, the squares of coordinates would be too coarse for their differences.
    let origin = entries[0].aabb.center();
    let stride = entries.len().div_ceil(sample);
    let mut at = 0;
    while at < entries.len() {
        let center = entries[at].aabb.center();
        for k in 0..D {
            let d = center[k] - origin[k];
            sum[k] += d;
            squares[k] += d * d;
        }
        count += 1;
        at += stride;
    }
    let share = T::ONE / T::from_f64(f64::from(count));
    let mut best = 0;
    let mut most = T::NEG_INFINITY;
    for k in 0..D {
        let variance = squares[k] - sum[k] * sum[k] * share;
        if variance > most {
            (best, most) = (k, variance);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Isa;
    use crate::pair::Pair;

    pub(super) fn entries<const D: usize, T: Real>(
        count: u32,
        first: u32,
        mut state: u64,
        spread: f64,
        share: f64,
    ) -> Vec<Entry<D, T>> {
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        let entry = |id| {
            let min: [T; D] = std::array::from_fn(|_| T::from_f64((random() * 40.0).floor() * spread));
            let max = std::array::from_fn(|k| min[k] + T::from_f64((random() * 6.0).floor() * spread));
            Entry { aabb: Aabb::new(min, max), id: first + id, moved: random() < share }
        };
        (0..count).map(entry).collect()
    }

    fn agrees<const D: usize, T: Real>(spread: f64, share: f64) {
        for (own, other) in [(1, 0), (3, 2), (300, 0), (300, 170), (40, 500)] {
            let (a, b) = (entries::<D, T>(own, 0, 1, spread, share), entries::<D, T>(other, 1000, 2, spread, share));
            let bounds = a.iter().fold(Aabb::empty(), |all, entry| all.union(&entry.aabb));
            let mut expected = Vec::new();
            for (i, x) in a.iter().enumerate() {
                let pairs = a[i + 1..].iter().chain(&b).filter(|y| x.aabb.overlaps(&y.aabb));
                let wanted = pairs.filter(|y| x.moved || y.moved);
                expected.extend(wanted.map(|y| Pair::new(x.id, y.id)));
            }
            finds(expected.clone(), &format!("{own} and {other} boxes"), |kernels, hits| {
                join(kernels, &a, &bounds, &b, None, &mut Scratch::default(), hits);
            });
            finds(expected, &format!("{own} and {other} boxes as floats"), |kernels, hits| {
                join_floats(kernels, &a, &b, (&mut FloatScratch::default(), &mut Runs::default()), hits);
            });
        }
    }

    /// Does a join find these pairs, in the same order on every instruction set?
    pub(super) fn finds(mut expected: Vec<Pair>, what: &str, run: impl Fn(Kernels, &mut PairSink)) {
        expected.sort_unstable();
        let mut lists = Isa::available().map(|isa| {
            let mut hits = PairSink::plain();
            run(Kernels::new(isa).unwrap(), &mut hits);
            hits.finish().pairs
        });
        let first = lists.next().unwrap();
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert!(sorted == expected, "{what}: {} of {} pairs", sorted.len(), expected.len());
        assert!(lists.all(|list| list == first), "the list depends on the instruction set");
    }

    #[test]
    fn all_pairs_of_a_node_at_any_scale_in_the_same_order_on_every_isa() {
        for spread in [1.0, 0.0, 1e-44, 1e37] {
            for moved_share in [1.0, 0.1] {
                agrees::<2, f32>(spread, moved_share);
                agrees::<3, f32>(spread, moved_share);
                agrees::<3, f64>(spread, moved_share);
            }
        }
    }
}
