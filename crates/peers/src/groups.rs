//! Two groups of objects, for users who do not need every pair: two sets against each other, or movers among scenery.

use broadphase::Pair;

/// Which pairs are requested from a peer: those of a member of the first group and one of the second, always; those within the first group if the
/// second one is scenery; those within the second group never.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    second: Vec<bool>,
    still: bool,
}

impl Groups {
    /// Two sets: only pairs of an object for which `second` is false with one for which it is true.
    pub fn two_sets(second: Vec<bool>) -> Self {
        Self { second, still: false }
    }

    /// Scenery: objects for which `still` is true keep their boxes in every frame, and are not paired with one another.
    pub fn scenery(still: Vec<bool>) -> Self {
        Self { second: still, still: true }
    }

    /// The objects that it divides.
    pub fn len(&self) -> usize {
        self.second.len()
    }

    /// Does it divide no objects?
    pub fn is_empty(&self) -> bool {
        self.second.is_empty()
    }

    /// Is an object in the second group?
    #[inline(always)]
    pub fn in_second(&self, id: u32) -> bool {
        self.second[id as usize]
    }

    /// For each object, whether it is in the second group.
    #[cfg(any(bullet, cgal))]
    pub(crate) fn second(&self) -> &[bool] {
        &self.second
    }

    /// Does the second group keep its boxes? Then objects of the first one are paired with one another too.
    pub fn still(&self) -> bool {
        self.still
    }

    /// Is a pair requested?
    #[inline(always)]
    pub fn allows(&self, pair: &Pair) -> bool {
        let (a, b) = (self.in_second(pair.a), self.in_second(pair.b));
        a != b || (self.still && !a)
    }
}

/// The groups of a peer that keeps a structure for each, and which structures a frame has to bring up to date.
#[cfg(any(feature = "peers", feature = "box3d"))]
#[derive(Default)]
pub(crate) struct Division {
    groups: Option<Groups>,
    /// The objects of the last frame; the structure of the scenery is made for them.
    n: usize,
}

#[cfg(any(feature = "peers", feature = "box3d"))]
impl Division {
    /// Divides the objects from now on.
    pub(crate) fn set(&mut self, groups: &Groups) {
        *self = Self { groups: Some(groups.clone()), n: 0 };
    }

    /// Are there two groups?
    pub(crate) fn divides(&self) -> bool {
        self.groups.is_some()
    }

    #[cfg_attr(not(feature = "peers"), allow(dead_code))]
    /// Starts a frame. True if the second structure has to take in its boxes: not if it is that of the same scenery as before.
    pub(crate) fn update_second(&mut self, n: usize) -> bool {
        let same = std::mem::replace(&mut self.n, n) == n;
        self.groups.as_ref().is_some_and(|groups| !groups.still || !same)
    }

    /// Are pairs within the first structure requested?
    pub(crate) fn within_first(&self) -> bool {
        self.groups.as_ref().is_none_or(|groups| groups.still)
    }

    /// Is an object in this structure? Without groups, all are in the first.
    #[inline(always)]
    pub(crate) fn holds(&self, second: bool, id: u32) -> bool {
        self.groups.as_ref().map_or(!second, |groups| groups.in_second(id) == second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sets_meet_across_and_movers_meet_everything() {
        let allowed = |groups: &Groups| [(0, 2), (0, 1), (1, 3)].map(|(a, b)| groups.allows(&Pair::new(a, b)));
        let second = vec![false, true, false, true];
        assert_eq!(allowed(&Groups::two_sets(second.clone())), [false, true, false]);
        assert_eq!(allowed(&Groups::scenery(second)), [true, true, false]);
    }
}
