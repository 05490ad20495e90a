//! What stands between an overlap and a pair, besides the movers' tags and shape, which the frame itself applies.

use super::SharedFilter;
use crate::geometry::Real;
use crate::objects::side::Side;
use crate::objects::table::Table;
use crate::objects::{ObjectKind, Shape};
use crate::pairs::Retain;

/// The rules of a world. Each costs nothing where no object needs it.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a, const D: usize, T> {
    pub(super) table: &'a Table<D, T>,
    pub(super) shape: Shape,
    pub(super) filter: Option<&'a SharedFilter>,
}

impl<const D: usize, T: Real> Rules<'_, D, T> {
    /// Is there a rule for pairs of two movers?
    pub(super) fn for_own(&self) -> bool {
        self.filter.is_some() || self.table.count(ObjectKind::Kinematic) > 0 || self.mixes_shapes()
    }

    /// Two movers: not both kinematic, shapes of their own, and the user's filter.
    pub(super) fn apply_own(&self, fresh: &mut Retain<'_>) {
        let movers = &self.table.movers;
        if movers.kinematic.any() {
            fresh.retain(|pair| !(movers.kinematic.get(pair.a) && movers.kinematic.get(pair.b)));
        }
        if self.mixes_shapes() {
            self.test_shapes(fresh, movers, movers);
        }
        self.ask_user(fresh, false, movers.aligned);
    }

    /// May one mover be a ball and another one not? Then the frame itself does not test balls.
    fn mixes_shapes(&self) -> bool {
        self.table.movers.shapes.any() || (self.shape == Shape::Ball && self.table.movers.swept.any())
    }

    /// The exact tests of balls with balls and with boxes.
    fn test_shapes(&self, fresh: &mut Retain<'_>, of_a: &Side<D, T>, of_b: &Side<D, T>) {
        fresh.retain(|pair| {
            let (a, b) = (&of_a.boxes[pair.a as usize], &of_b.boxes[pair.b as usize]);
            of_a.shape(pair.a, self.shape).meets(a, of_b.shape(pair.b, self.shape), b)
        });
    }

    /// Is there a rule for pairs of a mover and a static?
    pub(super) fn for_mixed(&self) -> bool {
        let (movers, statics) = (&self.table.movers, &self.table.statics);
        self.filter.is_some() || self.has_balls() || movers.tags.any() || statics.tags.any()
    }

    /// May there be balls at all?
    fn has_balls(&self) -> bool {
        self.shape == Shape::Ball || self.table.movers.shapes.any() || self.table.statics.shapes.any()
    }

    /// A mover and a static, slots of different sides: tags, balls, and the user's filter. Kinematic movers are not probed at all.
    pub(super) fn apply_mixed(&self, fresh: &mut Retain<'_>) {
        let (movers, statics) = (&self.table.movers, &self.table.statics);
        if movers.tags.any() || statics.tags.any() {
            fresh.retain(|pair| movers.tags.get(pair.a).allows(&statics.tags.get(pair.b)));
        }
        if self.has_balls() {
            self.test_shapes(fresh, movers, statics);
        }
        self.ask_user(fresh, true, false);
    }

    /// The user's filter sees indices of handles; where slots are the same numbers, nothing is renamed.
    fn ask_user(&self, fresh: &mut Retain<'_>, mixed: bool, aligned: bool) {
        let Some(filter) = self.filter else { return };
        if aligned {
            return filter(fresh);
        }
        fresh.rename(|pair| self.table.to_indices(pair, mixed));
        filter(fresh);
        fresh.rename(|pair| self.table.to_slots(pair, mixed));
    }
}
