//! Values of pairs: a number of the caller's per pair, kept while the pair exists.

use std::collections::HashMap;

use super::World;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Handle;
use crate::pairs::Pair;

/// Values by pair of indices. Never iterated, so no result depends on the hash.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    map: HashMap<Pair, u64>,
    /// Was a value ever set? Then differences are found, even if they are not reported, to know when a pair ends.
    pub(super) used: bool,
}

impl Values {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Removes the values of these pairs, which have ended, and lists them in the same order; `list` stays empty if no pair has a value.
    pub(super) fn end(&mut self, ended: &[(Handle, Handle)], list: &mut Vec<Option<u64>>) {
        if !self.map.is_empty() {
            list.extend(ended.iter().map(|(a, b)| self.map.remove(&Pair::new(a.index, b.index))));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    pub(super) fn shrink(&mut self) {
        self.map.shrink_to_fit();
    }

    /// All values, sorted by pair.
    #[cfg(feature = "serde")]
    pub(super) fn to_list(&self) -> Vec<(Pair, u64)> {
        let mut list: Vec<_> = self.map.iter().map(|(&pair, &value)| (pair, value)).collect();
        list.sort_unstable();
        list
    }

    #[cfg(feature = "serde")]
    pub(super) fn from_list(list: &[(Pair, u64)], used: bool) -> Self {
        Self { map: list.iter().copied().collect(), used }
    }

    pub(super) fn bytes(&self) -> usize {
        // The table of the standard library has one byte of control per bucket, and 8 buckets for 7 entries.
        self.map.capacity() * 8 / 7 * (size_of::<(Pair, u64)>() + 1)
    }
}

impl<const D: usize, T: Real> World<D, T> {
    /// Attaches a number to a pair of the last update, until the pair ends; returns whether the two are a pair. For contact
    /// caches, timers, or an index into an array of your own.
    ///
    /// The value is reported with the [event](crate::PairEvent::value) that the pair ended, even if one of the two objects was removed.
    ///
    /// Cost: a hash table of the pairs that have a value, and a binary search for pairs that have just started. The first call of a frame for any other
    /// pair costs as much as [`pairs_of`](World::pairs_of). With [`Report::All`](crate::Report::All), differences are found from then on. Worlds that never
    /// call this have no cost.
    ///
    /// ```
    /// use broadphase::{Aabb, World2};
    /// let mut world = World2::new();
    /// let [a, b] = world.insert_many(&[Aabb::point([0.0, 0.0]); 2])?[..] else { unreachable!() };
    /// world.update()?;
    /// assert!(world.set_pair_value(b, a, 7)?);
    /// world.update()?;
    /// assert_eq!(world.pair_value(a, b)?, Some(7));
    /// world.set_box(a, Aabb::point([1.0, 0.0]))?;
    /// world.update()?;
    /// assert_eq!(world.pair_value(a, b)?, None);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn set_pair_value(&mut self, a: Handle, b: Handle, value: u64) -> Result<bool, Error> {
        let fresh = self.started().handles().binary_search(&if a < b { (a, b) } else { (b, a) }).is_ok();
        let (a, b) = (self.table.find(a)?, self.table.find(b)?);
        let paired = fresh || self.neighbors().of(a).binary_search(&b).is_ok();
        if paired {
            self.values.map.try_reserve(1).map_err(|_| Error::OutOfMemory { what: "values of pairs" })?;
            self.values.map.insert(Pair::new(a, b), value);
            if !self.values.used {
                self.values.used = true;
                self.whole = true;
            }
        }
        Ok(paired)
    }

    /// The number attached to a pair, if there is one.
    pub fn pair_value(&self, a: Handle, b: Handle) -> Result<Option<u64>, Error> {
        let (a, b) = (self.table.find(a)?, self.table.find(b)?);
        Ok(self.values.map.get(&Pair::new(a, b)).copied())
    }
}
