//! Nodes: made, split and taken back.

use super::{Node, Octree};
use crate::algorithms::common::{NONE, World, push};
use crate::geometry::{Aabb, Real};

impl<const D: usize, T: Real> Node<D, T> {
    /// The node of everything.
    fn root(world: &World<D, T>) -> Self {
        let reach = world.extent.map(|c| c * T::HALF);
        Self {
            region: Aabb::everything(),
            middle: std::array::from_fn(|k| world.min[k] + reach[k]),
            reach,
            parent: NONE,
            children: NONE,
            level: 0,
            population: 0,
        }
    }

    /// Child `octant` of this node, which is number `parent`: bit `k` says "above the middle on axis `k`".
    fn child(&self, parent: u32, octant: usize) -> Self {
        let (mut region, mut middle) = (self.region, self.middle);
        let reach = self.reach.map(|c| c * T::HALF);
        for k in 0..D {
            if octant >> k & 1 == 1 {
                region.min[k] = self.middle[k];
                middle[k] += reach[k];
            } else {
                region.max[k] = self.middle[k];
                middle[k] -= reach[k];
            }
            // Rounding does not carry the middle out of the region.
            middle[k] = middle[k].max(region.min[k]).min(region.max[k]);
        }
        Self { region, middle, reach, parent, children: NONE, level: self.level + 1, population: 0 }
    }

    /// The octant that holds the box whole, if one does.
    #[inline(always)]
    pub(super) fn octant_of(&self, value: &Aabb<D, T>) -> Option<u32> {
        let mut octant = 0;
        for k in 0..D {
            if value.min[k] >= self.middle[k] {
                octant |= 1 << k;
            } else if value.max[k] >= self.middle[k] {
                return None;
            }
        }
        Some(octant)
    }

    pub(super) fn is_leaf(&self) -> bool {
        self.children == NONE
    }
}

impl<const D: usize, T: Real> Octree<D, T> {
    /// The root, and with a fixed depth all that is below it.
    pub(super) fn plant(&mut self, world: &World<D, T>) {
        self.nodes.clear();
        self.free.clear();
        self.nodes.push(Node::root(world));
        self.bins.clear(1);
        if self.options.split == 0 {
            let mut node = 0;
            while (self.nodes[node as usize].level as usize) < self.options.depth - 1 {
                self.give_children(node);
                node += 1;
            }
        }
    }

    /// Gives a leaf a family of empty children.
    fn give_children(&mut self, node: u32) {
        let first = self.free.pop().unwrap_or(self.nodes.len() as u32);
        let parent = self.nodes[node as usize];
        for octant in 0..1 << D {
            let child = parent.child(node, octant);
            match self.nodes.get_mut(first as usize + octant) {
                Some(place) => *place = child,
                None => push(&mut self.nodes, child),
            }
        }
        self.bins.extend_to(self.nodes.len());
        self.nodes[node as usize].children = first;
    }

    /// The deepest node that holds the box whole.
    pub(super) fn node_for(&self, value: &Aabb<D, T>) -> u32 {
        let mut number = 0;
        loop {
            let node = &self.nodes[number as usize];
            match node.octant_of(value) {
                Some(octant) if !node.is_leaf() => number = node.children + octant,
                _ => return number,
            }
        }
    }

    /// Does the leaf hold too many objects, and may it have children?
    pub(super) fn is_overfull(&self, node: u32) -> bool {
        let Node { level, population, children, .. } = self.nodes[node as usize];
        let (split, depth) = (self.options.split, self.options.depth);
        split > 0 && children == NONE && population as usize > split && (level as usize) < depth - 1
    }

    /// Splits a leaf, and its children as long as they are overfull.
    pub(super) fn split(&mut self, node: u32) {
        self.give_children(node);
        let parent = self.nodes[node as usize];
        let mut id = self.bins.first(node);
        while id != NONE {
            let next = self.bins.after(id);
            if let Some(octant) = parent.octant_of(self.tracked.get(id)) {
                self.bins.take(id);
                self.bins.place(id, parent.children + octant);
                self.nodes[(parent.children + octant) as usize].population += 1;
            }
            id = next;
        }
        for child in parent.children..parent.children + (1 << D) {
            if self.is_overfull(child) {
                self.split(child);
            }
        }
    }

    /// Above a node that lost an object: the highest that is down to half of what makes a leaf split takes its objects back.
    pub(super) fn merge_above(&mut self, node: u32) {
        let (mut number, mut highest) = (node, NONE);
        while number != NONE && self.nodes[number as usize].population as usize <= self.options.split / 2 {
            highest = number;
            number = self.nodes[number as usize].parent;
        }
        if highest != NONE {
            self.merge(highest);
        }
    }

    fn merge(&mut self, node: u32) {
        let children = std::mem::replace(&mut self.nodes[node as usize].children, NONE);
        if children == NONE {
            return;
        }
        for child in children..children + (1 << D) {
            self.merge(child);
            while self.bins.first(child) != NONE {
                let id = self.bins.first(child);
                self.bins.take(id);
                self.bins.place(id, node);
            }
            self.nodes[child as usize].population = 0;
        }
        push(&mut self.free, children);
    }
}
