//! Pairs of two ranks, and which rank reports them.

use broadphase::{Aabb, Real};

use crate::ghosts::Origin;

/// An object of this rank and an object of another one whose boxes overlap.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrossPair {
    /// The index of this rank's object.
    pub local: u32,
    /// The other object's rank.
    pub rank: u32,
    /// The other object's index on its rank.
    pub remote: u32,
    /// The global id of this rank's object.
    pub local_id: u64,
    /// The global id of the other object.
    pub remote_id: u64,
}

impl CrossPair {
    pub(crate) fn new((local, local_id): (u32, u64), other: Origin) -> Self {
        Self { local, rank: other.rank, remote: other.index, local_id, remote_id: other.id }
    }

    /// The global ids, the smaller one first: the same on both sides.
    pub fn ids(&self) -> (u64, u64) {
        (self.local_id.min(self.remote_id), self.local_id.max(self.remote_id))
    }
}

/// Where a pair of two ranks is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reporting {
    /// In exactly one place of the job: by the rank in whose domain the lower corner of the intersection lies, if it is one of the two and the only
    /// one ([`Distributed::set_domain`](crate::Distributed::set_domain)), else by the lower rank. A pair with a wide object is reported by
    /// the rank of the other one.
    #[default]
    Once,
    /// By both ranks.
    Both,
}

/// Does `rank` report a pair with an object of `other`?
pub(crate) fn reports<const D: usize, T: Real>(
    (rank, own): (usize, &Aabb<D, T>),
    (other, ghost): (usize, &Aabb<D, T>),
    domains: &[Vec<Aabb<D, T>>],
) -> bool {
    let corner: [T; D] = std::array::from_fn(|k| if own.min[k] < ghost.min[k] { ghost.min[k] } else { own.min[k] });
    let owns = |rank: usize| {
        let holds = |domain: &Aabb<D, T>| (0..D).all(|k| domain.min[k] <= corner[k] && corner[k] < domain.max[k]);
        domains.get(rank).is_some_and(|domain| domain.iter().any(holds))
    };
    match (owns(rank), owns(other)) {
        (true, false) => true,
        (false, true) => false,
        _ => rank < other,
    }
}

/// What only the new and what only the old of two sorted lists has.
pub(crate) fn difference<P: Copy + Ord>(old: &[P], new: &[P], started: &mut Vec<P>, ended: &mut Vec<P>) {
    started.clear();
    ended.clear();
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (old.get(i), new.get(j)) {
        if x < y {
            ended.push(*x);
        } else if y < x {
            started.push(*y);
        }
        let order = x.cmp(y);
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
    ended.extend_from_slice(&old[i..]);
    started.extend_from_slice(&new[j..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_of_two_ranks_reports_whatever_the_domains() {
        let boxes = [Aabb::new([0.0, 0.0], [2.0, 2.0]), Aabb::new([1.0, -1.0], [3.0, 1.0])];
        let half = |min: f64, max: f64| vec![Aabb::new([min, f64::NEG_INFINITY], [max, f64::INFINITY])];
        let everywhere = vec![Aabb::everything()];
        let all = [vec![], vec![vec![], vec![]], vec![half(-9.0, 1.0), half(1.0, 9.0)], vec![everywhere.clone(), everywhere]];
        let expected = [true, true, false, true]; // the corner is at x = 1, on the lower side of the second half
        for (domains, first) in all.iter().zip(expected) {
            assert_eq!(reports((0, &boxes[0]), (1, &boxes[1]), domains), first);
            assert_eq!(reports((1, &boxes[1]), (0, &boxes[0]), domains), !first);
        }
    }

    #[test]
    fn differences_are_those_of_sets() {
        let (mut started, mut ended) = (vec![9], vec![9]);
        difference(&[1, 3, 5], &[0, 3, 4, 7], &mut started, &mut ended);
        assert_eq!((started, ended), (vec![0, 4, 7], vec![1, 5]));
    }
}
