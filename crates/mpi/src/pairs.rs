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
    /// By exactly one rank of the job. If the lower corner of the intersection lies in the domain of exactly one of the two ranks
    /// ([`Distributed::set_domain`](crate::Distributed::set_domain)), by that rank; otherwise by the one with the lower number. A pair of a wide
    /// object and another one is reported by the rank of the other one.
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

/// Decides from one object's box alone which of two ranks may report a pair of this object, which is on the first rank, with one on the second. An
/// object travels only to ranks that may report a pair of it, and is joined with ghosts only if its own rank may.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reporters<'a, const D: usize, T> {
    pub(crate) reporting: Reporting,
    pub(crate) own_domain: &'a [Aabb<D, T>],
    pub(crate) other_domain: &'a [Aabb<D, T>],
    /// Has the first rank the lower number?
    pub(crate) is_lower: bool,
}

/// Who may report pairs of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MayReport {
    pub(crate) own: bool,
    pub(crate) other: bool,
}

/// How a box lies relative to the domains of its own rank and of another one, in this order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relation {
    /// Does it overlap the domain?
    pub(crate) reaches: [bool; 2],
    /// Is it inside one box of the domain?
    pub(crate) within: [bool; 2],
}

impl<const D: usize, T: Real> Reporters<'_, D, T> {
    /// The lower corner of an intersection lies in both boxes. If one rank alone owns the corner, the box reaches the domain of that rank. If both own it
    /// or neither does, the lower rank reports: either the box reaches that rank's domain, or it is not inside the other rank's.
    #[inline(always)]
    pub(crate) fn may(&self, Relation { reaches, within }: Relation) -> MayReport {
        let both = self.reporting == Reporting::Both;
        MayReport {
            own: both | reaches[0] | (self.is_lower & !within[1]),
            other: both | reaches[1] | (!self.is_lower & !within[0]),
        }
    }
}

/// Does a box reach a domain, which is half-open? On one axis, by minimum and maximum.
#[cfg(test)]
pub(crate) fn reaches<T: Real>(value: [T; 2], domain: [T; 2]) -> bool {
    (domain[0] <= value[1]) & (value[0] < domain[1])
}

/// Is a box within a domain? On one axis.
#[cfg(test)]
pub(crate) fn is_within<T: Real>(value: [T; 2], domain: [T; 2]) -> bool {
    (domain[0] <= value[0]) & (value[1] < domain[1])
}

/// Compares two sorted lists: `started` gets what only the new one has, `ended` what only the old one has.
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

    /// Boxes and domains on a small lattice, so that all relations of their sides occur.
    #[test]
    fn a_rank_that_reports_a_pair_is_one_that_may_by_either_box_alone() {
        let mut seed = 11u64;
        let mut number = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) % below) as f32
        };
        let mut pruned = 0;
        for trial in 0..20_000 {
            let mut aabb = |inf: bool| {
                let min = [number(6), number(6)];
                let max = [min[0] + number(4), if inf && number(4) == 0.0 { f32::INFINITY } else { min[1] + number(4) }];
                Aabb::new(min, max)
            };
            let boxes = [aabb(false), aabb(false)];
            let domains: [Vec<Aabb<2, f32>>; 2] =
                [(0..trial % 3).map(|_| aabb(true)).collect(), (0..trial / 3 % 3).map(|_| aabb(true)).collect()];
            let may = |own: usize| {
                let other = 1 - own;
                let reporting = Reporting::Once;
                let holds = |domain: usize, test: fn([f32; 2], [f32; 2]) -> bool| {
                    let sides = |aabb: &Aabb<2, f32>, k: usize| [aabb.min[k], aabb.max[k]];
                    domains[domain].iter().any(|domain| (0..2).all(|k| test(sides(&boxes[own], k), sides(domain, k))))
                };
                let relation = Relation {
                    reaches: [holds(own, reaches), holds(other, reaches)],
                    within: [holds(own, is_within), holds(other, is_within)],
                };
                Reporters { reporting, own_domain: &domains[own], other_domain: &domains[other], is_lower: own == 0 }
                    .may(relation)
            };
            let (first, second) = (may(0), may(1));
            pruned += [first.own, first.other, second.own, second.other].iter().filter(|may| !**may).count();
            if boxes[0].overlaps(&boxes[1]) {
                if reports((0, &boxes[0]), (1, &boxes[1]), &domains) {
                    assert!(first.own && second.other, "{boxes:?} {domains:?}");
                } else {
                    assert!(first.other && second.own, "{boxes:?} {domains:?}");
                }
            }
        }
        assert!(pruned > 5_000, "{pruned}");
    }

    #[test]
    fn differences_are_those_of_sets() {
        let (mut started, mut ended) = (vec![9], vec![9]);
        difference(&[1, 3, 5], &[0, 3, 4, 7], &mut started, &mut ended);
        assert_eq!((started, ended), (vec![0, 4, 7], vec![1, 5]));
    }
}
