//! The update: leaves that no longer contain their objects are inserted again.

use super::budget::Plan;
use super::{Dbvt, Mode, Scratch};
use crate::algorithms::common::{NONE, push};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::objects::unbounded::is_bounded;
use crate::pairs::Pair;

impl<const D: usize, T: Real> Dbvt<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        self.tracked.update(frame)?;
        let clock = context.clock();
        let slots = self.tracked.slots().max(self.leaves.len());
        self.leaves.resize(slots, NONE);
        self.touched.resize(slots, false);
        for at in 0..self.tracked.removed().len() {
            self.remove(self.tracked.removed()[at]);
        }
        for at in 0..self.tracked.moved().len() {
            let id = self.tracked.moved()[at];
            if !self.fits(id) {
                self.renew(id);
            }
        }
        for at in 0..self.tracked.inserted().len() {
            self.insert(self.tracked.inserted()[at]);
        }
        context.record("insert", clock);
        let clock = context.clock();
        if self.options.mode == Mode::Eager {
            self.renew_candidates();
        }
        self.touched_ids.iter().for_each(|&id| self.touched[id as usize] = false);
        self.touched_ids.clear();
        self.leaves.truncate(frame.slots());
        self.touched.truncate(frame.slots());
        context.record("leaf pairs", clock);
        Ok(())
    }

    fn margin_of(&self, value: &Aabb<D, T>) -> T {
        value.size().into_iter().fold(T::ZERO, T::max) * T::from_f64(self.options.margin)
    }

    /// Is the object in its leaf's box, and is that box no larger than after a step of one margin?
    fn fits(&self, id: u32) -> bool {
        let value = self.tracked.get(id);
        match self.leaves[id as usize] {
            NONE => false,
            leaf => {
                let bounds = &self.tree.node(leaf).bounds;
                let most = self.margin_of(value) * T::from_f64(3.0);
                is_bounded(value) && bounds.contains(value) && value.grow(most).contains(bounds)
            }
        }
    }

    fn touch(&mut self, id: u32) {
        if !std::mem::replace(&mut self.touched[id as usize], true) {
            self.touched_ids.push(id);
        }
    }

    fn insert(&mut self, id: u32) {
        let value = *self.tracked.get(id);
        if is_bounded(&value) {
            self.leaves[id as usize] = self.tree.insert(value.grow(self.margin_of(&value)), id);
            self.touch(id);
        } else {
            self.unbounded.insert(id);
        }
    }

    /// Gives an object that has left its leaf a new one.
    fn renew(&mut self, id: u32) {
        let (value, leaf) = (*self.tracked.get(id), self.leaves[id as usize]);
        if leaf != NONE && is_bounded(&value) {
            self.tree.reinsert(leaf, value.grow(self.margin_of(&value)));
            self.touch(id);
        } else {
            self.remove(id);
            self.insert(id);
        }
    }

    fn remove(&mut self, id: u32) {
        match std::mem::replace(&mut self.leaves[id as usize], NONE) {
            NONE => {
                self.unbounded.remove(id);
            }
            leaf => {
                self.tree.remove(leaf);
                self.touch(id);
            }
        }
    }

    /// Drops the candidates of touched objects, and finds those of inserted ones. Beyond the budget, none are kept.
    fn renew_candidates(&mut self) {
        if self.touched_ids.is_empty() {
            return;
        }
        match self.budget.plan() {
            Plan::Walk => return,
            Plan::Start => (0..self.leaves.len() as u32).for_each(|id| self.touch(id)),
            Plan::Follow => (),
        }
        let limit = self.budget.limit(self.leaves.len());
        if !self.find_candidates(limit) {
            self.candidates = Vec::new();
            self.budget.fail(limit);
        }
    }

    /// Finds the candidates of touched objects. Returns whether there are at most `limit`.
    fn find_candidates(&mut self, limit: u64) -> bool {
        let Self { tree, leaves, candidates, touched, touched_ids, tests, scratch: Scratch { stack, .. }, .. } = self;
        let is_touched = |id: u32| touched[id as usize];
        candidates.retain(|pair| !is_touched(pair.a) && !is_touched(pair.b));
        for &id in touched_ids.iter().filter(|&&id| leaves[id as usize] != NONE) {
            let bounds = tree.node(leaves[id as usize]).bounds;
            stack.clear();
            stack.push(tree.root());
            // Of two that were inserted, the one with the smaller id finds the other.
            let known = |other: u32| other == id || (is_touched(other) && other < id);
            while let Some(at) = stack.pop() {
                let node = tree.node(at);
                if !node.bounds.overlaps(&bounds) {
                    *tests += u64::from(node.object().is_some());
                    continue;
                }
                match node.object() {
                    None => stack.extend(node.children()),
                    Some(other) if known(other) => {}
                    Some(other) => {
                        *tests += 1;
                        push(candidates, Pair::new(id, other));
                    }
                }
            }
            if candidates.len() as u64 > limit {
                return false;
            }
        }
        true
    }
}
