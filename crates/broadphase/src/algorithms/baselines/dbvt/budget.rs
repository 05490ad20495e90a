//! The candidate budget: mode F keeps candidates only while there are not too many.
//!
//! Leaves are larger than their objects, and candidates are the pairs of leaves that overlap. In a stack of thin plates every two leaves overlap,
//! although no two plates do; the same holds for grids of bars that lie across each other. There would be a candidate for every two objects. So
//! candidates are counted, and beyond the budget mode F keeps none: it walks the tree in every frame, as mode D does.

use crate::backoff::Backoff;

/// Candidates per object, and per pair of the last list. Cubes that stand closer than the margin have 13 each.
const BUDGET: u64 = 16;

/// Changed frames for which mode F walks, the first time. Then it tries again; each failure doubles the wait.
const PATIENCE: u32 = 64;

/// How many candidates may be kept, and what earlier frames showed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CandidateBudget {
    /// Pairs in the last list.
    pairs: u64,
    /// The limit at which mode F gave up.
    failed: u64,
    /// Changed frames until the candidates are found again. While there is no wait, they are kept.
    walks: Backoff<PATIENCE, { u32::MAX }>,
}

/// What mode F does with its candidates in a changed frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Those of the objects that changed are found again.
    Follow,
    /// Those of all objects are.
    Start,
    /// There are none.
    Walk,
}

impl CandidateBudget {
    /// Are candidates kept?
    pub(super) fn keeps(&self) -> bool {
        !self.walks.is_waiting()
    }

    /// Plans a changed frame.
    pub(super) fn plan(&mut self) -> Plan {
        match self.walks.step() {
            0 => Plan::Follow,
            1 => Plan::Start,
            _ => Plan::Walk,
        }
    }

    /// The most candidates for a number of objects.
    pub(super) fn limit(&self, objects: usize) -> u64 {
        BUDGET.saturating_mul(self.pairs.saturating_add(objects as u64))
    }

    /// Records that there were more candidates than `limit`.
    pub(super) fn fail(&mut self, limit: u64) {
        self.failed = limit;
        self.walks.fail();
    }

    /// Records the number of pairs of a list. If there are many more than before, the margin may not be the cause, and candidates are tried again.
    pub(super) fn learn(&mut self, pairs: u64, objects: usize) {
        self.pairs = pairs;
        if !self.keeps() && self.limit(objects) / 2 >= self.failed {
            self.walks.end_soon();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dbvt, Mode, Options};
    use super::*;
    use crate::{Aabb, Context, Frame, Pair, PairStore, Strength, step};

    /// Runs frames, checks pairs, and returns how many candidates are kept after each.
    fn run(frames: impl Iterator<Item = Vec<Aabb<3, f32>>>) -> Vec<usize> {
        let mut tree = Dbvt::new(Options { mode: Mode::Eager, margin: 0.1 });
        let mut store = PairStore::default();
        let follow = |boxes: Vec<Aabb<3, f32>>| {
            step(&mut tree, &Frame::new(&boxes), &mut Context::new(), &mut store).unwrap();
            tree.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
            let touching = |a: usize| (a + 1..boxes.len()).filter(|&b| boxes[a].overlaps(&boxes[b])).collect::<Vec<_>>();
            let expected = (0..boxes.len()).flat_map(|a| touching(a).into_iter().map(move |b| Pair::new(a as u32, b as u32)));
            assert!(store.sorted().into_iter().eq(expected));
            tree.candidates.len()
        };
        frames.map(follow).collect()
    }

    #[test]
    fn plates_thinner_than_the_margin_do_not_make_the_candidates_quadratic() {
        // From frame 4 on they stand apart, each in reach of the next.
        let plate = |id: usize, frame: usize| {
            let (at, push) = (id as f32 * if frame < 4 { 1e-4 } else { 0.15 }, frame as f32 * 0.3);
            Aabb::new([push, at, 0.0], [push + 1.0, at + 5e-5, 1.0])
        };
        let candidates = run((0..70).map(|frame| (0..300).map(|id| plate(id, frame)).collect()));
        assert!(candidates.iter().all(|&count| count <= 16 * 300), "{candidates:?}");
        assert_eq!((candidates[63], candidates[69]), (0, 299));
    }

    #[test]
    fn a_crowd_that_touches_keeps_its_candidates() {
        let cube = |id: usize, frame: usize| Aabb::from_center([id as f32 * 0.01 + frame as f32, 0.0, 0.0], [1.0; 3]);
        let candidates = run((0..3).map(|frame| (0..100).map(|id| cube(id, frame)).collect()));
        assert_eq!(candidates, [0, 4950, 4950]);
    }

    #[test]
    fn candidates_are_tried_again_and_each_failure_doubles_the_wait() {
        let mut budget = CandidateBudget::default();
        let mut tries = Vec::new();
        for frame in 0..500 {
            if budget.plan() != Plan::Walk {
                tries.push(frame);
                budget.fail(budget.limit(100));
            }
            budget.learn(0, 100);
        }
        let (first, second) = (PATIENCE, 3 * PATIENCE);
        assert_eq!(tries, [0, first, second, 7 * PATIENCE]);
    }
}
