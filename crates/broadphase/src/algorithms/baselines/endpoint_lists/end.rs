//! One end of a box on one axis.

use std::cmp::Ordering;

use crate::geometry::{Aabb, Real};

/// A coordinate, and whose end it is: lower ends are even, upper ends odd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct End<T> {
    at: T,
    tag: u64,
}

impl<T: Real> End<T> {
    /// Both ends of an object on an axis.
    pub(super) fn both<const D: usize>(id: u32, value: &Aabb<D, T>, axis: usize) -> [Self; 2] {
        let tag = u64::from(id) << 1;
        [Self { at: value.min[axis], tag }, Self { at: value.max[axis], tag: tag | 1 }]
    }

    /// The object.
    #[inline(always)]
    pub(super) fn id(self) -> u32 {
        (self.tag >> 1) as u32
    }

    /// Is it the upper end?
    #[inline(always)]
    pub(super) fn is_upper(self) -> bool {
        self.tag & 1 == 1
    }

    /// The coordinate.
    #[inline(always)]
    pub(super) fn at(self) -> T {
        self.at
    }

    /// Takes the coordinate from the object's current box.
    #[inline(always)]
    pub(super) fn renew<const D: usize>(&mut self, value: &Aabb<D, T>, axis: usize) {
        self.at = if self.is_upper() { value.max[axis] } else { value.min[axis] };
    }

    /// Does it stand strictly before the other one? Zeros are equal, whatever their sign.
    #[inline(always)]
    pub(super) fn is_before(self, other: Self) -> bool {
        self.at < other.at || (self.at == other.at && !self.is_upper() && other.is_upper())
    }

    /// The order of [`is_before`](End::is_before), made total by the object.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let by_place = self.at.partial_cmp(&other.at).unwrap_or(Ordering::Equal);
        by_place.then(self.is_upper().cmp(&other.is_upper())).then(self.tag.cmp(&other.tag))
    }
}
