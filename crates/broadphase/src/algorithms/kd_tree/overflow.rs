//! The budget of the cache of pairs: why a margin does not make it quadratic.
//!
//! Held boxes reach beyond the objects' own by epsilon, a share of the *mean* size. Where a few sizes dwarf the rest, epsilon dwarfs
//! the small objects, and every two of them are near: 100,000 cubes of size 1 beside as many of size 1e17 make 5e9 near pairs, of which
//! few touch. Thin plates do the same with equal sizes, and so do objects that shrink inside the boxes they hold.
//!
//! 1. The cache may hold [`BUDGET`] pairs per object and per pair that touched in the last search. They are counted while it grows.
//! 2. A search that exceeds the budget is given up. Every object holds its own box, without a margin, and the frame is searched again: now
//!    the cached pairs are the pairs themselves, and need no bound.
//! 3. For [`PATIENCE`] frames epsilon is 0, and only objects that have not moved at all are static. Then a margin is tried again; each time that it
//!    fails, the wait is twice as long.
//!
//! So the cache is linear in objects and pairs, and within the budget, epsilon is the paper's. A more robust mean instead would change
//! epsilon in every scene of mixed sizes, and bound nothing: plates may be of equal size.

use super::KdTree;
use super::coherency::Coherency;
use super::pairs::Method;
use super::walk::Walker;
use crate::backoff::Backoff;
use crate::bits::{BitSet, each_bit};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::Stop;
use crate::objects::Frame;
use crate::pairs::{PairStore, Revision};

/// Cached pairs per object and per touching pair. Cubes packed with gaps less than epsilon have 13 each, and use them; all
/// listed scenes have less than 1 (`cached pairs` in `broadphase bench ... --algorithms kd-tree-incremental --json -`).
const BUDGET: u64 = 16;

/// Frames without a margin after the cache has overflowed for the first time.
const PATIENCE: u32 = 64;

/// How many cached pairs there may be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CacheBudget {
    /// Pairs that touched in the last search.
    pub(super) touching: u64,
    /// Frames that go without a margin.
    tight: Backoff<PATIENCE, { u32::MAX }>,
}

impl CacheBudget {
    /// For so many objects.
    pub(super) fn limit(&self, objects: usize) -> u64 {
        BUDGET.saturating_mul(self.touching.saturating_add(objects as u64))
    }

    /// A frame begins. May there be a margin?
    pub(super) fn allows_margin(&mut self) -> bool {
        self.tight.step() == 0
    }

    /// A search for `objects` objects gave up at `limit`, and another one has counted the touching pairs. If those are many more than
    /// was known, the margin may not be to blame, and is tried again at once.
    fn learn(&mut self, limit: u64, objects: usize) {
        if self.limit(objects) / 2 < limit {
            self.tight.fail();
        }
    }
}

impl<const D: usize, T: Real> Coherency<D, T> {
    /// Each of `members` holds its own box from now on, and nothing stays of the wider ones.
    fn tighten(&mut self, members: &BitSet, boxes: &[Aabb<D, T>]) {
        self.epsilon = T::ZERO;
        for (word, &bits) in members.words().iter().enumerate() {
            each_bit(bits, word * 64, |id| self.held[id as usize] = boxes[id as usize]);
        }
        self.give_back();
        // Any object may be in the wrong node.
        self.arranged = false;
    }
}

impl<const D: usize, T: Real> KdTree<D, T> {
    /// A search into the cache and, if it exceeds the budget, another one without a margin.
    pub(super) fn search_within_budget(
        &mut self,
        frame: &Frame<'_, D, T>,
        context: &Context,
        out: &mut PairStore,
        method: (Method, bool),
    ) -> Result<(), Error> {
        let objects = self.tree.order.len();
        let limit = self.coherency.as_ref().map_or(u64::MAX, |coherency| coherency.budget.limit(objects));
        let mut stop = self.search_cached(frame, context, out, method, limit);
        if stop == Some(Stop::Limit) {
            out.roll_back();
            self.start_over(frame, context);
            out.begin(frame, context, Revision::default(), self.chunks())?;
            stop = self.search_cached(frame, context, out, (Method::Fill, false), u64::MAX);
            if let Some(coherency) = &mut self.coherency {
                coherency.budget.learn(limit, objects);
            }
        }
        match stop {
            None => Ok(()),
            Some(_) => Err(Error::OutOfMemory { what: "the cache of pairs" }),
        }
    }

    fn start_over(&mut self, frame: &Frame<'_, D, T>, context: &Context) {
        if let Some(coherency) = &mut self.coherency {
            coherency.tighten(&self.members, frame.boxes);
        }
        // What was searched so far depends on the order of jobs, and is not counted.
        self.walkers.iter().for_each(|mut walker| *walker = Walker::default());
        self.arrange(frame, false, context);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, Variant};
    use super::*;
    use crate::pairs::Pair;
    use crate::{Report, Strength, step};

    /// Cached pairs per object and pair that a linear cache may have.
    const MOST: usize = 20;

    type Boxes = Vec<Aabb<3, f32>>;

    /// In 0..1, by object and axis.
    fn noise(id: usize, axis: usize) -> f32 {
        let mixed = (id as u64 * 3 + axis as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 40) as f32 / 2f32.powi(24)
    }

    /// Cubes of size 1 in a corner, most of which swing; every third one is of size `giant`, and stands somewhere in a thousand times that.
    fn two_scales(count: usize, giant: f32, frame: usize) -> Boxes {
        let cube = |id: usize| {
            let third = id.is_multiple_of(3);
            let (world, half) = if third { (giant * 1000.0, giant * 0.5) } else { (60.0, 0.5) };
            let swing = if third || id.is_multiple_of(16) { 0.0 } else { 0.1 * (frame % 3) as f32 };
            Aabb::from_center(std::array::from_fn(|k| noise(id, k) * world + swing), [half; 3])
        };
        (0..count).map(cube).collect()
    }

    fn truth(boxes: &Boxes) -> Vec<Pair> {
        let touching = |a: usize| (a + 1..boxes.len()).filter(move |&b| boxes[a].overlaps(&boxes[b]));
        (0..boxes.len()).flat_map(|a| touching(a).map(move |b| Pair { a: a as u32, b: b as u32 })).collect()
    }

    /// Runs frames, checks pairs and what started and ended, and returns how many pairs are cached after each.
    fn run(variant: Variant, frames: &[Boxes]) -> Vec<usize> {
        let mut tree = KdTree::new(Options { threshold: 64, ..Options::new(variant) });
        let (mut context, mut store) = (Context::new(), PairStore::new(Report::Both));
        let mut last = Vec::new();
        let mut follow = |boxes: &Boxes| {
            let frame = Frame::new(boxes);
            step(&mut tree, &frame, &mut context, &mut store).unwrap();
            tree.validate(&frame, Strength::Geometry).unwrap();
            let now = truth(boxes);
            assert!(store.sorted() == now, "{variant:?}: {} of {} pairs", store.len(), now.len());
            let missing = |from: &[Pair], other: &[Pair]| -> Vec<Pair> {
                from.iter().filter(|pair| other.binary_search(pair).is_err()).copied().collect()
            };
            assert!(store.started() == missing(&now, &last) && store.ended() == missing(&last, &now), "{variant:?}");
            last = now;
            tree.coherency.as_ref().unwrap().count(Vec::len)
        };
        frames.iter().map(&mut follow).collect()
    }

    #[test]
    fn a_mean_size_far_beyond_the_small_objects_does_not_make_the_cache_quadratic() {
        for variant in [Variant::Incremental, Variant::Adaptive] {
            // Of one size first: the sizes part under a cache that has been filled.
            let frames: Vec<_> = (0..8).map(|f| two_scales(1600, if f < 3 { 1.0 } else { 1e17 }, f)).collect();
            let cached = run(variant, &frames);
            assert!(cached.iter().all(|&pairs| pairs <= MOST * (1600 + truth(&frames[7]).len())), "{variant:?}: {cached:?}");
        }
    }

    #[test]
    fn plates_thinner_than_epsilon_do_not_make_the_cache_quadratic() {
        let plate = |id: usize, frame: usize| {
            let at = [noise(id, 0) * 0.1, (id * 2) as f32 * 1e-7 + if id == 7 { frame as f32 } else { 0.0 }, 0.0];
            Aabb::new(at, [at[0] + 1.0, at[1] + 1e-7, 1.0])
        };
        let frames: Vec<Boxes> = (0..4).map(|frame| (0..1600).map(|id| plate(id, frame)).collect()).collect();
        let cached = run(Variant::Incremental, &frames);
        assert!(cached.iter().all(|&pairs| pairs <= MOST * 1600), "{cached:?}");
    }

    #[test]
    fn objects_that_shrink_inside_their_held_boxes_do_not_stay_near() {
        let cube = |id: usize, frame: usize| {
            let half = if frame == 0 { 50.0 } else { 0.01 };
            let at = std::array::from_fn(|k| noise(id, k) * 40.0 + if id == 7 { frame as f32 } else { 0.0 });
            Aabb::from_center(at, [half; 3])
        };
        let frames: Vec<Boxes> = (0..4).map(|frame| (0..600).map(|id| cube(id, frame)).collect()).collect();
        let cached = run(Variant::Incremental, &frames);
        assert!(cached[0] == 600 * 599 / 2 && cached[3] <= MOST * 600, "{cached:?}");
    }

    #[test]
    fn many_touching_pairs_that_nobody_knew_of_are_not_the_margins_fault() {
        let crowd: Boxes = (0..400).map(|id| Aabb::from_center(std::array::from_fn(|k| noise(id, k)), [1.0; 3])).collect();
        let mut tree = KdTree::new(Options::new(Variant::Incremental));
        for _ in 0..2 {
            step(&mut tree, &Frame::new(&crowd), &mut Context::new(), &mut PairStore::default()).unwrap();
        }
        assert!(tree.coherency.unwrap().epsilon > 0.0);
    }

    #[test]
    fn a_margin_is_tried_again_until_it_fits_and_each_failure_doubles_the_wait() {
        let mut tree = KdTree::new(Options::new(Variant::Incremental));
        let (mut context, mut store) = (Context::new(), PairStore::default());
        let mut margins = Vec::new();
        for frame in 0..200 {
            let boxes = two_scales(600, if frame < 150 { 1e17 } else { 1.0 }, frame);
            tree.update(&Frame::new(&boxes), &mut context).unwrap();
            if tree.coherency.as_ref().unwrap().epsilon > 0.0 {
                margins.push(frame);
            }
            tree.pairs(&Frame::new(&boxes), &mut context, &mut store).unwrap();
        }
        let (first, second) = (1 + PATIENCE as usize, 2 + 3 * PATIENCE as usize);
        assert!(margins.into_iter().eq([0, first].into_iter().chain(second..200)));
    }

    /// Large enough for several jobs, some of which have not begun when others exceed the budget.
    #[cfg(feature = "parallel")]
    #[test]
    fn lists_and_counts_are_the_same_for_any_thread_count_when_the_budget_is_exceeded() {
        for variant in [Variant::Incremental, Variant::Adaptive] {
            let run = |mut context: Context| {
                let (mut tree, mut store) = (KdTree::new(Options::new(variant)), PairStore::new(Report::Both));
                let mut history = Vec::new();
                for frame in 0..6 {
                    let boxes = two_scales(40_000, if frame < 2 { 1.0 } else { 1e17 }, frame);
                    step(&mut tree, &Frame::new(&boxes), &mut context, &mut store).unwrap();
                    history.push((store.to_vec(), store.tests(), store.started().len(), tree.stats().extra));
                }
                assert!(tree.coherency.unwrap().budget.tight.last() > 0, "the cache overflowed");
                history
            };
            let expected = run(Context::new());
            for threads in [2, 5] {
                let found = run(Context::new().with_executor(crate::Threads::new(threads).unwrap()));
                assert!(found == expected, "{variant:?} with {threads} threads");
            }
        }
    }
}
