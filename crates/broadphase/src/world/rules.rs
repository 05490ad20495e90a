//! What stands between an overlap and a pair, besides the movers' tags and shape, which the frame itself applies.

use super::SharedFilter;
use crate::geometry::{Ball, Real};
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
        self.filter.is_some() || self.table.count(ObjectKind::Kinematic) > 0
    }

    /// Two movers: not both kinematic, and the user's filter.
    pub(super) fn apply_own(&self, fresh: &mut Retain<'_>) {
        let movers = &self.table.movers;
        if movers.kinematic.any() {
            fresh.retain(|pair| !(movers.kinematic.get(pair.a) && movers.kinematic.get(pair.b)));
        }
        self.ask_user(fresh, false, movers.aligned);
    }

    /// Is there a rule for pairs of a mover and a static?
    pub(super) fn for_mixed(&self) -> bool {
        self.filter.is_some() || self.shape == Shape::Ball || self.table.movers.tags.any() || self.table.statics.tags.any()
    }

    /// A mover and a static, slots of different sides: tags, balls, and the user's filter. Kinematic movers are not probed at all.
    pub(super) fn apply_mixed(&self, fresh: &mut Retain<'_>) {
        let (movers, statics) = (&self.table.movers, &self.table.statics);
        if movers.tags.any() || statics.tags.any() {
            fresh.retain(|pair| movers.tags.get(pair.a).allows(&statics.tags.get(pair.b)));
        }
        if self.shape == Shape::Ball {
            fresh.retain(|pair| {
                let mover = Ball::inscribed(&movers.boxes[pair.a as usize]);
                mover.overlaps(&Ball::inscribed(&statics.boxes[pair.b as usize]))
            });
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
