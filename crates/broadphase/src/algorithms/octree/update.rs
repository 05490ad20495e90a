//! Objects are inserted, moved and removed one by one; all of them are inserted again when the world changes.

use super::Octree;
use crate::algorithms::common::NONE;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory;
use crate::objects::Frame;

impl<const D: usize, T: Real> Octree<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, _context: &mut Context) -> Result<(), Error> {
        while self.options.paper && self.inserted.len() < frame.slots() {
            memory::push(&mut self.inserted, Aabb::empty(), "the boxes of an octree")?;
        }
        self.tracked.update(frame)?;
        if self.bounds.follow(&self.tracked) || self.nodes.is_empty() {
            self.insert_all(frame.slots());
            return Ok(());
        }
        for at in 0..self.tracked.removed().len() {
            self.remove(self.tracked.removed()[at]);
        }
        self.bins.resize_slots(frame.slots());
        for at in 0..self.tracked.moved().len() {
            let id = self.tracked.moved()[at];
            if self.options.paper || self.bins.bin_of(id) != Some(self.node_for(self.tracked.get(id))) {
                self.remove(id);
                self.insert(id);
                self.reinsertions += 1;
            }
        }
        for at in 0..self.tracked.inserted().len() {
            self.insert(self.tracked.inserted()[at]);
        }
        Ok(())
    }

    /// A new tree over the current world, with all objects.
    fn insert_all(&mut self, slots: usize) {
        let Some(&world) = self.bounds.world() else { return };
        self.plant(&world);
        self.bins.resize_slots(slots);
        for id in 0..slots as u32 {
            if self.tracked.is_live(id) {
                self.insert(id);
            }
        }
    }

    fn insert(&mut self, id: u32) {
        let node = self.node_for(self.tracked.get(id));
        self.bins.place(id, node);
        if self.options.paper {
            self.inserted[id as usize] = *self.tracked.get(id);
        }
        self.count_up(node, |population| population + 1);
        if self.is_overfull(node) {
            self.split(node);
        }
    }

    /// The object knows its node: no search. In paper mode, it is traced down by the box it was inserted with, and searched for in the list.
    fn remove(&mut self, id: u32) {
        let node = if self.options.paper {
            let node = self.node_for(&self.inserted[id as usize]);
            match self.bins.search_and_take(id, node) {
                Some(passed) => self.passed += passed,
                None => unreachable!("an object stands where the box it was inserted with leads to"),
            }
            node
        } else {
            self.bins.take(id)
        };
        self.count_up(node, |population| population - 1);
        if self.options.split > 0 {
            self.merge_above(node);
        }
    }

    fn count_up(&mut self, mut node: u32, change: impl Fn(u32) -> u32) {
        while node != NONE {
            let Some(place) = self.nodes.get_mut(node as usize) else { break };
            place.population = change(place.population);
            node = place.parent;
        }
    }
}
