//! Preparation of a list of boxes for a search: grown by the margin, wrapped with images near the borders, half-open ones closed, empty ones left out.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Error;
use crate::geometry::{Aabb, Period, Real};
use crate::memory::{copy, refill, reserve, reserve_exact};
use crate::objects::{Changes, Frame, Live, MAX_OBJECTS, Shape, Tag};

/// What the memory is for, in errors.
const BOXES: &str = "boxes";
const IMAGES: &str = "images of boxes";

/// How boxes are prepared for a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Treatment<const D: usize, T> {
    pub(super) margin: T,
    pub(super) period: Option<Period<D, T>>,
    pub(super) half_open: bool,
}

/// Boxes ready for a search. Slot `i` below [`count`](Prepared::count) is object `i`; further slots are images of objects near a border of a
/// periodic space.
#[derive(Debug)]
pub(super) struct Prepared<'a, const D: usize, T: Real> {
    pub(super) boxes: Cow<'a, [Aabb<D, T>]>,
    tags: Option<Cow<'a, [Tag]>>,
    /// The number of objects.
    pub(super) count: usize,
    /// The object of each image, ascending.
    owners: Vec<u32>,
    /// The axes along which each image is moved, one bit each.
    shifts: Vec<u8>,
    /// Where the images of each object start, and the end of the last one; empty without a period.
    starts: Vec<u32>,
    /// A bit for each slot whose box is not empty; no words if no box is empty.
    live: Vec<u64>,
}

impl<'a, const D: usize, T: Real> Prepared<'a, D, T> {
    pub(super) fn new(boxes: Cow<'a, [Aabb<D, T>]>, tags: Option<&'a [Tag]>, treatment: &Treatment<D, T>) -> Result<Self, Error> {
        let Treatment { margin, period, half_open } = *treatment;
        let count = boxes.len();
        if let Some(tags) = tags.filter(|tags| tags.len() != count) {
            return Err(Error::WrongLength { argument: "tags", found: tags.len(), expected: count });
        }
        let tags = tags.map(Cow::Borrowed);
        let mut prepared =
            Self { boxes, tags, count, owners: Vec::new(), shifts: Vec::new(), starts: Vec::new(), live: Vec::new() };
        if margin == T::ZERO && period.is_none() && !half_open {
            return Ok(prepared); // the structure checks the boxes
        }
        Frame::new(&prepared.boxes).check()?;
        let mut ready = Vec::new();
        reserve_exact(&mut ready, count, BOXES)?;
        for value in prepared.boxes.iter() {
            let grown = if margin == T::ZERO { *value } else { value.grow(margin) };
            if let Some(period) = &period {
                period.check_box(&grown, ready.len())?;
                ready.push(period.wrap_box(&grown)); // reserved
            } else {
                ready.push(grown); // reserved
            }
        }
        if let Some(period) = &period {
            prepared.add_images(&mut ready, period)?;
        }
        if half_open {
            prepared.live = close(&mut ready)?;
        }
        prepared.boxes = Cow::Owned(ready);
        Ok(prepared)
    }

    /// Appends the images of wrapped boxes, and notes whose they are.
    fn add_images(&mut self, boxes: &mut Vec<Aabb<D, T>>, period: &Period<D, T>) -> Result<(), Error> {
        // An object has an image for each set of the axes on which it reaches over the border.
        let most = (1 << D) - 1;
        reserve_exact(&mut self.starts, self.count + 1, IMAGES)?;
        for index in 0..self.count {
            let wrapped = boxes[index];
            self.starts.push(boxes.len() as u32); // reserved
            reserve(boxes, most, IMAGES)?;
            reserve(&mut self.shifts, most, IMAGES)?;
            reserve(&mut self.owners, most, IMAGES)?;
            period.for_each_image(&wrapped, |image, shift| {
                boxes.push(image); // reserved
                self.shifts.push(shift); // reserved
                self.owners.push(index as u32); // reserved
            });
        }
        self.starts.push(boxes.len() as u32); // reserved
        if boxes.len() > MAX_OBJECTS {
            return Err(Error::TooManyObjects { count: boxes.len(), limit: MAX_OBJECTS });
        }
        if let Some(tags) = self.tags.take() {
            let mut list = Vec::new();
            reserve_exact(&mut list, boxes.len(), "tags")?;
            list.extend_from_slice(&tags); // reserved
            list.extend(self.owners.iter().map(|&owner| tags[owner as usize])); // reserved
            self.tags = Some(Cow::Owned(list));
        }
        Ok(())
    }

    /// The frame that a structure sees.
    pub(super) fn frame(&self, shape: Shape) -> Frame<'_, D, T> {
        let live = if self.live.is_empty() { Live::All } else { Live::Bits(&self.live) };
        let base = Frame::new(&self.boxes).with_changes(Changes::All);
        Frame { live, tags: self.tags.as_deref(), shape, ..base }
    }

    /// The object of a slot.
    #[inline(always)]
    pub(super) fn owner(&self, slot: u32) -> u32 {
        if (slot as usize) < self.count { slot } else { self.owners[slot as usize - self.count] }
    }

    /// The axes along which a slot is moved, one bit each: none for an object itself.
    #[inline(always)]
    pub(super) fn shift(&self, slot: u32) -> u8 {
        if (slot as usize) < self.count { 0 } else { self.shifts[slot as usize - self.count] }
    }

    /// Are there no images?
    pub(super) fn is_plain(&self) -> bool {
        self.owners.is_empty()
    }

    /// Is no box empty?
    pub(super) fn is_full(&self) -> bool {
        self.live.is_empty()
    }

    /// Does the slot have a box that is not empty?
    pub(super) fn is_live(&self, slot: u32) -> bool {
        self.live.is_empty() || Live::Bits(&self.live).contains(slot)
    }

    /// The slots of an object's images, without the object itself.
    fn images(&self, object: u32) -> Range<u32> {
        match self.starts.get(object as usize..object as usize + 2) {
            Some(&[from, to]) => from..to,
            _ => 0..0,
        }
    }

    /// All live slots of an object: itself, then its images.
    pub(super) fn slots(&self, object: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(object).chain(self.images(object)).filter(|&slot| self.is_live(slot))
    }

    /// The tag of a slot, if there are tags.
    pub(super) fn tag(&self, slot: u32) -> Option<&Tag> {
        self.tags.as_ref().and_then(|tags| tags.get(slot as usize))
    }
}

/// Turns half-open boxes into closed ones that overlap in the same cases, and returns a bit for each that is not empty; no words if no box is
/// empty.
///
/// Among floats, `x < max` is `x <= max.next_down()`.
fn close<const D: usize, T: Real>(boxes: &mut [Aabb<D, T>]) -> Result<Vec<u64>, Error> {
    let mut live = Vec::new();
    refill(&mut live, boxes.len().div_ceil(64), 0u64, BOXES)?;
    let mut empty = false;
    for (slot, value) in boxes.iter_mut().enumerate() {
        if (0..D).all(|k| value.min[k] < value.max[k]) {
            live[slot / 64] |= 1 << (slot % 64);
            value.max = value.max.map(Real::next_down);
        } else {
            empty = true;
        }
    }
    Ok(if empty { live } else { Vec::new() })
}

/// The same list again: a slice that is borrowed, or a copy of one that is owned.
pub(super) fn again<'a, const D: usize, T: Real>(boxes: &Cow<'a, [Aabb<D, T>]>) -> Result<Cow<'a, [Aabb<D, T>]>, Error> {
    Ok(match boxes {
        Cow::Borrowed(boxes) => Cow::Borrowed(boxes),
        Cow::Owned(boxes) => {
            let mut list = Vec::new();
            copy(&mut list, boxes, BOXES)?;
            Cow::Owned(list)
        }
    })
}
