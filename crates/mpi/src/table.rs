//! The table of all ranks, gathered in every frame: each rank's row has its tight boxes, and its domain if that was set since the last frame.

use broadphase::{Aabb, Real};

use crate::bounds::SentBoxes;
use crate::wire::{Malformed, Reader, Values, put};

/// In place of the length of a domain: the domain is the one sent before.
const UNCHANGED: u32 = u32::MAX;

/// Appends this rank's row.
pub(crate) fn write<const D: usize, T: Real>(message: &mut Vec<u8>, sent: &SentBoxes<D, T>, domain: Option<&[Aabb<D, T>]>) {
    let domain_count = domain.map_or(UNCHANGED, |domain| domain.len() as u32);
    put(message, &[sent.normal.len() as u32, sent.wide.len() as u32, domain_count]);
    put(message, &[sent.bound]);
    put(message, &sent.normal);
    put(message, &sent.wide);
    put(message, domain.unwrap_or(&[]));
}

/// The row of a rank, read in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a, const D: usize, T: Real> {
    pub(crate) bound: Aabb<D, T>,
    pub(crate) normal: Values<'a, Aabb<D, T>>,
    pub(crate) wide: Values<'a, Aabb<D, T>>,
    pub(crate) domain: Option<Values<'a, Aabb<D, T>>>,
}

impl<'a, const D: usize, T: Real> Row<'a, D, T> {
    pub(crate) fn read(mut reader: Reader<'a>) -> Result<Self, Malformed> {
        let [normal, wide, domain] = [reader.one::<u32>()?, reader.one()?, reader.one()?];
        let bound = reader.one()?;
        let (normal, wide) = (reader.take(normal as usize)?, reader.take(wide as usize)?);
        let domain = if domain == UNCHANGED { None } else { Some(reader.take(domain as usize)?) };
        reader.end()?;
        Ok(Self { bound, normal, wide, domain })
    }

    /// Does a box overlap any of the rank's?
    pub(crate) fn touches(&self, value: &Aabb<D, T>) -> bool {
        self.wide.iter().any(|other| other.overlaps(value))
            || self.bound.overlaps(value) && self.normal.iter().any(|other| other.overlaps(value))
    }
}

/// Another rank with which messages are exchanged in a frame. Both sides find this out from the same table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Neighbor {
    pub(crate) rank: usize,
    /// Do boxes of objects that are not wide overlap?
    pub(crate) normal: bool,
    /// Does it get wide objects of this rank?
    pub(crate) wide_out: bool,
    /// Does this rank get wide objects of it?
    pub(crate) wide_in: bool,
}

impl Neighbor {
    /// The relation of two ranks; `None` if they exchange no messages.
    pub(crate) fn of<const D: usize, T: Real>(rank: usize, mine: &SentBoxes<D, T>, theirs: &Row<'_, D, T>) -> Option<Self> {
        let meets = |value: &Aabb<D, T>| value.overlaps(&theirs.bound) && theirs.normal.iter().any(|other| other.overlaps(value));
        let normal = mine.bound.overlaps(&theirs.bound) && mine.normal.iter().any(meets);
        let wide_out = mine.wide.iter().any(|value| theirs.touches(value));
        let wide_in = theirs.wide.iter().any(|value| mine.touches(&value));
        (normal || wide_out || wide_in).then_some(Self { rank, normal, wide_out, wide_in })
    }

    /// Is there a message to it?
    pub(crate) fn sends(&self) -> bool {
        self.normal || self.wide_out
    }

    /// Is there a message from it?
    pub(crate) fn receives(&self) -> bool {
        self.normal || self.wide_in
    }
}
