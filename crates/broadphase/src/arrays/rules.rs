//! The rules that decide which overlaps of slots are pairs of objects.

use std::sync::Arc;

use super::prepare::Prepared;
use crate::geometry::{Period, Real};
use crate::objects::{Shape, Tag};
use crate::pairs::Pair;

/// [`Tag::default`].
const UNTAGGED: Tag = Tag::new(u32::MAX, u32::MAX);

/// A closure that decides on pairs of objects.
pub(super) type Keep<'a> = Arc<dyn Fn(Pair) -> bool + Send + Sync + 'a>;

/// The rules of a search of one list (`a` and `b` are then the same) or two.
pub(super) struct Rules<'r, 'a, const D: usize, T: Real> {
    pub(super) a: &'r Prepared<'a, D, T>,
    pub(super) b: &'r Prepared<'a, D, T>,
    /// Is it one list? A pair of objects is then canonical, and an object does not pair with its own image.
    pub(super) is_self: bool,
    pub(super) shape: Shape,
    pub(super) keep: Option<&'r Keep<'a>>,
}

impl<const D: usize, T: Real> Rules<'_, '_, D, T> {
    /// Can an overlap of boxes fail to be a pair for any other reason than tags and shape?
    pub(super) fn decide(&self) -> bool {
        self.keep.is_some() || !self.a.is_plain() || !self.b.is_plain()
    }

    /// The objects of two slots.
    #[inline(always)]
    pub(super) fn objects(&self, slots: Pair) -> Pair {
        let (a, b) = (self.a.owner(slots.a), self.b.owner(slots.b));
        if self.is_self { Pair::new(a, b) } else { Pair { a, b } }
    }

    /// Are two slots, which overlap by box, tags and shape, the pair of their objects? Of several images that overlap, the first ones are.
    #[inline]
    pub(super) fn allows(&self, slots: Pair) -> bool {
        if self.is_image(slots) && !self.are_first(slots) {
            return false;
        }
        self.keep.is_none_or(|keep| keep(self.objects(slots)))
    }

    /// The same for slots of which only the boxes are known to overlap.
    #[inline]
    pub(super) fn allows_overlap(&self, slots: Pair) -> bool {
        let tagged = match (self.a.tag(slots.a), self.b.tag(slots.b)) {
            (None, None) => true,
            (a, b) => a.unwrap_or(&UNTAGGED).allows(b.unwrap_or(&UNTAGGED)),
        };
        tagged && self.shapes_meet(slots) && self.allows(slots)
    }

    fn shapes_meet(&self, slots: Pair) -> bool {
        self.shape == Shape::Box || self.shape.meets(&self.a.boxes[slots.a as usize], self.shape, &self.b.boxes[slots.b as usize])
    }

    #[inline(always)]
    fn is_image(&self, slots: Pair) -> bool {
        (slots.a as usize >= self.a.count) | (slots.b as usize >= self.b.count)
    }

    /// Is this the one combination of images of two objects that counts?
    fn are_first(&self, slots: Pair) -> bool {
        let (a, b) = (self.a.owner(slots.a), self.b.owner(slots.b));
        if self.is_self && a == b {
            return false;
        }
        if self.shape == Shape::Ball {
            return self.are_first_balls(slots);
        }
        let (shift_a, shift_b) = (self.a.shift(slots.a), self.b.shift(slots.b));
        Period::is_first((&self.a.boxes[a as usize], shift_a), (&self.b.boxes[b as usize], shift_b))
    }

    /// The same for balls, whose images are tested in order: the first that overlap count.
    #[cold]
    fn are_first_balls(&self, slots: Pair) -> bool {
        let (mut a, mut b) = (self.a.owner(slots.a), self.b.owner(slots.b));
        let mut wanted = (slots.a, slots.b);
        if self.is_self && a > b {
            (a, b) = (b, a);
            wanted = (slots.b, slots.a);
        }
        for slot in self.a.slots(a) {
            for other in self.b.slots(b) {
                let overlap = self.a.boxes[slot as usize].overlaps(&self.b.boxes[other as usize]);
                if overlap && self.shapes_meet(Pair { a: slot, b: other }) {
                    return (slot, other) == wanted;
                }
            }
        }
        false
    }
}
