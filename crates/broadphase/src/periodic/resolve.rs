//! From overlaps of slots to pairs of objects.

use super::images::Images;
use crate::geometry::{Ball, Period, Real};
use crate::objects::Shape;
use crate::pairs::{Pair, Retain};

impl<const D: usize, T: Real> Images<D, T> {
    /// Turns overlaps of slots into pairs of objects, each once.
    pub(super) fn resolve(&self, fresh: &mut Retain<'_>, shape: Shape) {
        let is_image = |pair: &Pair| self.is_image(pair.a.max(pair.b));
        if !fresh.pairs().iter().fold(false, |found, pair| found | is_image(pair)) {
            return;
        }
        fresh.retain(|pair| !is_image(&pair) || self.is_first(pair, shape));
        fresh.rename(|pair| Pair::new(self.owner(pair.a), self.owner(pair.b)));
    }

    /// Is this the one overlap that counts, of all overlaps of images of two objects?
    fn is_first(&self, pair: Pair, shape: Shape) -> bool {
        let (a, b) = (self.owner(pair.a), self.owner(pair.b));
        if a == b {
            return false;
        }
        if shape == Shape::Box {
            return Period::is_first(self.origin(pair.a), self.origin(pair.b));
        }
        // For balls: the first two slots that overlap, in the order of each object's slots. The result does not depend on this order.
        let (one, other, wanted) = if a < b { (a, b, (pair.a, pair.b)) } else { (b, a, (pair.b, pair.a)) };
        let ball = |slot: u32| Ball::of_box(self.boxed(slot));
        let meet = |a: u32, b: u32| self.boxed(a).overlaps(self.boxed(b)) && ball(a).overlaps(&ball(b));
        let mut both = self.slots_of(one).flat_map(|a| self.slots_of(other).map(move |b| (a, b)));
        both.find(|&(a, b)| meet(a, b)) == Some(wanted)
    }
}
