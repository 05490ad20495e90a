//! Partition: a crowded leaf becomes an inner node with two leaves.
//!
//! The plane goes to the mean of the centers on the axis of greatest variance. If that is evaluated negative, which the next
//! frame would undo, further planes are tried in a fixed order: median and quartiles of the same axis, then the other axes. If
//! none is positive, the leaf stays whole: then no quartile parts the objects, because most of them share one place on
//! every axis, and the pairs themselves are many.

use std::ops::Range;

use super::{Counts, Optimizer, is_negative};
use crate::algorithms::kd_tree::nodes::Node;
use crate::geometry::Real;

impl<const D: usize, T: Real> Optimizer<'_, D, T> {
    /// Splits a leaf, unless no plane is worth it.
    pub(super) fn partition(&mut self, node: u32) -> bool {
        let own = self.tree.node(node).own();
        let Some((axis, plane)) = self.find_plane(own.clone()) else { return false };
        self.work.partitions += 1;
        let region = self.tree.node(node).region;
        let left = self.tree.add(Node::leaf(region, own.start, own.start));
        let right = self.tree.add(Node::leaf(region, own.end, own.end));
        let this = self.tree.node_mut(node);
        (this.left, this.right) = (left, right);
        (this.axis, this.plane) = (axis as u32, plane);
        self.filter(node, true);
        true
    }

    fn find_plane(&mut self, own: Range<usize>) -> Option<(usize, T)> {
        let (mean, variance) = self.moments(own.clone());
        let mut axes: [usize; D] = std::array::from_fn(|k| k);
        // Stable: of equal variances, the first axis leads.
        axes.sort_by(|&a, &b| variance[b].total_cmp(&variance[a]));
        let mut centers = std::mem::take(&mut self.scratch.centers);
        let mut found = None;
        for axis in axes {
            let good = |plane: T| !is_negative(self.count(own.clone(), axis, plane));
            if good(mean[axis]) {
                found = Some((axis, mean[axis]));
                break;
            }
            centers.clear();
            centers.extend(self.tree.order[own.clone()].iter().map(|&id| self.boxes[id as usize].center()[axis]));
            let quartile = |quarter: usize, centers: &mut [T]| {
                let at = centers.len() * quarter / 4;
                *centers.select_nth_unstable_by_key(at, |center| center.order_key()).1
            };
            let planes = [2, 1, 3].map(|quarter| quartile(quarter, &mut centers));
            if let Some(plane) = planes.into_iter().find(|&plane| good(plane)) {
                found = Some((axis, plane));
                break;
            }
        }
        self.scratch.centers = centers;
        found
    }

    /// How a plane would part these objects.
    fn count(&self, own: Range<usize>, axis: usize, plane: T) -> Counts {
        let all = own.len();
        let (mut left, mut right) = (0, 0);
        for &id in &self.tree.order[own] {
            let value = &self.boxes[id as usize];
            left += usize::from(value.max[axis] < plane);
            right += usize::from(value.min[axis] > plane);
        }
        Counts { own: all - left - right, left, right }
    }

    /// Mean and variance of the centers on each axis. Each term is divided before it is added, so that no finite input overflows
    /// the mean; the variance may be infinite, which still orders the axes.
    pub(super) fn moments(&self, own: Range<usize>) -> ([T; D], [f64; D]) {
        let share = 1.0 / own.len().max(1) as f64;
        let (mut mean, mut variance) = ([0.0f64; D], [0.0f64; D]);
        for &id in &self.tree.order[own.clone()] {
            let center = self.boxes[id as usize].center();
            for k in 0..D {
                mean[k] += center[k].to_f64() * share;
            }
        }
        for &id in &self.tree.order[own] {
            let center = self.boxes[id as usize].center();
            for k in 0..D {
                let d = center[k].to_f64() - mean[k];
                variance[k] += d * d * share;
            }
        }
        (mean.map(T::from_f64), variance)
    }
}
