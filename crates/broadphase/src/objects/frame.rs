//! One frame as an algorithm sees it: borrowed boxes, and what changed.

use std::fmt;

use crate::error::Error;
use crate::geometry::{Aabb, Ball, Real};
use crate::objects::Retain;
use crate::objects::Tag;
use crate::pair::Pair;

/// The most objects a frame can hold: ids are `u32`, and the last one is reserved.
pub const MAX_OBJECTS: usize = u32::MAX as usize - 1;

/// Which slots hold an object.
#[derive(Clone, Copy, Debug)]
pub enum Live<'a> {
    /// All of them.
    All,
    /// Slot `i` does if bit `i % 64` of word `i / 64` is set. Missing words count as zero.
    Bits(&'a [u64]),
}

impl Live<'_> {
    /// Does slot `id` hold an object?
    #[inline(always)]
    pub fn contains(&self, id: u32) -> bool {
        match self {
            Live::All => true,
            Live::Bits(words) => words.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1),
        }
    }

    /// The live ones of the slots `64 * index` to `64 * index + 63`, a bit each. Slots from `slots` on, the number of all slots, are not live.
    #[inline(always)]
    pub(crate) fn word(&self, index: usize, slots: usize) -> u64 {
        let inside = match slots.saturating_sub(64 * index) {
            0 => 0,
            left @ 1..64 => !(!0 << left),
            _ => !0,
        };
        match self {
            Live::All => inside,
            Live::Bits(words) => inside & words.get(index).copied().unwrap_or(0),
        }
    }
}

/// What changed since the last frame that the same structure was updated with.
#[derive(Clone, Copy, Debug)]
pub enum Changes<'a> {
    /// The caller does not know or say: the structure compares boxes, or treats all as moved.
    Unknown,
    /// Everything may have changed, including the number of slots.
    All,
    /// Exactly these slots changed; everything else is as it was. Each slot is in one list, once. A slot that was emptied and
    /// filled again between two frames is `moved`. An object whose tag changed is `moved` too.
    Listed {
        /// Objects with a new box or tag.
        moved: &'a [u32],
        /// Slots that were empty and are live now.
        inserted: &'a [u32],
        /// Slots that were live and are empty now.
        removed: &'a [u32],
    },
}

impl Changes<'_> {
    /// Did the caller list the changes, and are there none?
    pub(crate) fn lists_nothing(&self) -> bool {
        matches!(self, Changes::Listed { moved: [], inserted: [], removed: [] })
    }
}

/// The shape that a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Shape {
    /// The box itself.
    #[default]
    Box,
    /// The ball inscribed in it ([`Ball::of_box`]; the box should be a cube): two objects pair if their boxes overlap and their balls do too.
    Ball,
}

/// A closure that removes pairs chunk by chunk, after the exact test and the tags.
pub type Filter<'a> = &'a (dyn Fn(&mut Retain<'_>) + Sync);

/// The input of one frame. It borrows the caller's boxes; structures never own them.
///
/// ```
/// use broadphase::{Aabb, Frame};
/// let boxes = [Aabb::new([0.0, 0.0], [1.0, 1.0])];
/// assert_eq!(Frame::new(&boxes).count(), 1);
/// ```
#[derive(Clone, Copy)]
pub struct Frame<'a, const D: usize, T> {
    /// The boxes by slot. A slot that is not live may hold anything.
    pub boxes: &'a [Aabb<D, T>],
    /// Which slots are live.
    pub live: Live<'a>,
    /// The tags by slot, if there are any.
    pub tags: Option<&'a [Tag]>,
    /// What changed. With tags or a filter, [`Changes::Unknown`] counts as [`Changes::All`], since a structure compares boxes only.
    pub changes: Changes<'a>,
    /// What the boxes stand for.
    pub shape: Shape,
    /// A filter that can remove pairs. If its decisions change, pass [`Changes::All`], or list the affected objects as moved.
    pub filter: Option<Filter<'a>>,
}

impl<const D: usize, T: Real> fmt::Debug for Frame<'_, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tags, changes, shape, filter, .. } = self;
        f.debug_struct("Frame")
            .field("slots", &self.slots())
            .field("objects", &self.count())
            .field("has_tags", &tags.is_some())
            .field("changes", changes)
            .field("shape", shape)
            .field("has_filter", &filter.is_some())
            .finish()
    }
}

impl<'a, const D: usize, T: Real> Frame<'a, D, T> {
    /// A frame of boxes, all live, without tags, changes unknown.
    pub fn new(boxes: &'a [Aabb<D, T>]) -> Self {
        Self { boxes, live: Live::All, tags: None, changes: Changes::Unknown, shape: Shape::Box, filter: None }
    }

    /// The same frame with other changes.
    pub fn with_changes(mut self, changes: Changes<'a>) -> Self {
        self.changes = changes;
        self
    }

    /// The number of slots, live or not.
    #[inline(always)]
    pub fn slots(&self) -> usize {
        self.boxes.len()
    }

    /// The ids of the live slots, ascending.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        let live = self.live;
        (0..self.boxes.len() as u32).filter(move |&id| live.contains(id))
    }

    /// The number of objects: live slots.
    pub fn count(&self) -> usize {
        match self.live {
            Live::All => self.boxes.len(),
            Live::Bits(words) => {
                let slots = self.boxes.len();
                let whole: u32 = words.iter().take(slots / 64).map(|w| w.count_ones()).sum();
                let rest = words.get(slots / 64).map_or(0, |w| (w & !(!0 << (slots % 64))).count_ones());
                (whole + rest) as usize
            }
        }
    }

    /// May a structure find out what changed by comparing boxes with the last frame's? Only if the caller does not say what changed; and not with tags or
    /// a filter, which may have changed, and which a structure does not compare.
    pub fn may_compare(&self) -> bool {
        matches!(self.changes, Changes::Unknown) && self.tags.is_none() && self.filter.is_none()
    }

    /// Is it certain that no two objects pair, since no layer intersects any mask? One pass over the tags, if there are any.
    pub(crate) fn nothing_can_pair(&self) -> bool {
        let tags = self.tags.unwrap_or(&[]);
        let (layers, masks) = tags.iter().fold((0, 0), |(layers, masks), tag| (layers | tag.layer, masks | tag.mask));
        !tags.is_empty() && layers & masks == 0
    }

    /// Checks what is new in the frame: the number of slots, the lists, and the boxes. Cost: the listed objects, or one pass over all boxes.
    pub fn check(&self) -> Result<(), Error> {
        self.check_lists()?;
        match self.changes {
            Changes::Listed { moved, inserted, .. } => {
                let mut lists = [moved, inserted].into_iter();
                lists.try_for_each(|list| list.iter().try_for_each(|&id| self.boxes[id as usize].check(id as usize)))
            }
            Changes::Unknown | Changes::All => self.check_boxes(),
        }
    }

    /// The part of [`check`](Frame::check) that does not read boxes, for structures whose first pass checks them.
    pub fn check_lists(&self) -> Result<(), Error> {
        let slots = self.boxes.len();
        if slots > MAX_OBJECTS {
            return Err(Error::TooManyObjects { count: slots, limit: MAX_OBJECTS });
        }
        if self.tags.is_some_and(|tags| tags.len() < slots) {
            return Err(Error::InvalidFrame { index: self.tags.map_or(0, <[Tag]>::len), reason: "it has a box but no tag" });
        }
        if let Changes::Listed { moved, inserted, removed } = self.changes {
            for list in [moved, inserted] {
                if let Some(&id) = list.iter().find(|&&id| id as usize >= slots || !self.live.contains(id)) {
                    let reason = "it is listed as moved or inserted, but not live";
                    return Err(Error::InvalidFrame { index: id as usize, reason });
                }
            }
            for &id in removed {
                if (id as usize) < slots && self.live.contains(id) {
                    return Err(Error::InvalidFrame { index: id as usize, reason: "it is listed as removed, but still live" });
                }
            }
        }
        Ok(())
    }

    /// Checks every live box; the error names the first invalid one, which is searched for only on failure.
    pub fn check_boxes(&self) -> Result<(), Error> {
        let valid = match self.live {
            Live::All => self.boxes.iter().fold(true, |all, b| all & b.is_valid()),
            Live::Bits(_) => self.ids().all(|id| self.boxes[id as usize].is_valid()),
        };
        if valid { Ok(()) } else { self.ids().try_for_each(|id| self.boxes[id as usize].check(id as usize)) }
    }

    /// Can tags, shape or filter reject an overlapping pair?
    pub(crate) fn refines(&self) -> bool {
        self.tags.is_some() || self.filter.is_some() || self.shape == Shape::Ball
    }

    /// Removes from `pairs[from..]`, whose boxes overlap, what tags, shape and filter forbid.
    pub(crate) fn refine(&self, pairs: &mut Vec<Pair>, from: usize) {
        let mut retain = Retain::new(pairs, from);
        if let Some(tags) = self.tags {
            retain.retain(|pair| tags[pair.a as usize].allows(&tags[pair.b as usize]));
        }
        if self.shape == Shape::Ball {
            let ball = |id: u32| Ball::of_box(&self.boxes[id as usize]);
            retain.retain(|pair| ball(pair.a).overlaps(&ball(pair.b)));
        }
        if let Some(filter) = self.filter {
            filter(&mut retain);
        }
    }
}
