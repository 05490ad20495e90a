//! Evaluate: is a plane worth its node?
//!
//! Cost counts the tests that a node with n own objects and pL, pR objects in its branches needs if nothing else prunes:
//! t = C(n,2) + C(pL,2) + C(pR,2) + n(pL + pR), scaled so that 0 is a perfect halving and 1 no split at all.
//! Balance is min(pL, pR) / (n + max(pL, pR)). The plane is bad if Cost > Balance.
//!
//! What follows: for large counts and equal branches, up to 31 % of the objects may stand on the plane; with none on it, the
//! smaller branch holds at least 23 %. So a branch has at most 77 % of its parent's objects, and the height of a tree over n
//! objects is at most log(n / T) / log(1 / 0.77), whatever the input.

use super::Optimizer;
use crate::geometry::Real;

/// How a plane parts a set of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::algorithms::kd_tree) struct Counts {
    /// On the plane: the node's own.
    pub(in crate::algorithms::kd_tree) own: usize,
    pub(in crate::algorithms::kd_tree) left: usize,
    pub(in crate::algorithms::kd_tree) right: usize,
}

/// Is Cost above Balance? A split with an empty branch always is bad.
pub(in crate::algorithms::kd_tree) fn is_negative(counts: Counts) -> bool {
    let (own, left, right) = (counts.own as f64, counts.left as f64, counts.right as f64);
    let choose_two = |n: f64| n * (n - 1.0) * 0.5;
    let all = own + left + right;
    let tests = choose_two(own) + choose_two(left) + choose_two(right) + own * (left + right);
    let (most, least) = (choose_two(all), 2.0 * choose_two(all * 0.5));
    if most == least || counts.left.min(counts.right) == 0 {
        return true;
    }
    let cost = (tests - least) / (most - least);
    let balance = left.min(right) / (own + left.max(right));
    cost > balance
}

impl<const D: usize, T: Real> Optimizer<'_, D, T> {
    /// Evaluates an inner node, filtered just now.
    pub(super) fn is_negative(&self, node: u32) -> bool {
        let this = self.tree.node(node);
        is_negative(Counts {
            own: this.end - this.begin,
            left: self.tree.population(this.left),
            right: self.tree.population(this.right),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_in_the_module_documentation_hold() {
        let counts = |own, left, right| Counts { own, left, right };
        assert!(!is_negative(counts(0, 500_000, 500_000)));
        assert!(!is_negative(counts(300_000, 350_000, 350_000)));
        assert!(is_negative(counts(320_000, 340_000, 340_000)));
        assert!(!is_negative(counts(0, 240_000, 760_000)));
        assert!(is_negative(counts(0, 220_000, 780_000)));
        assert!(is_negative(counts(10, 0, 0)) && is_negative(counts(0, 0, 0)) && is_negative(counts(0, 0, 10)));
        assert!(!is_negative(counts(0, 1, 1)));
    }
}
