//! What stands between an overlap and a pair, besides the movers' tags and shape, which the frame itself applies.

use super::SharedFilter;
use super::motion::{Motion, touch};
use crate::geometry::{Path, Real};
use crate::objects::side::Side;
use crate::objects::table::Table;
use crate::objects::{ObjectKind, Shape};
use crate::pairs::{Pair, Retain};

/// The rules of a world. Each costs nothing where no object needs it.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a, const D: usize, T: Real> {
    pub(super) table: &'a Table<D, T>,
    pub(super) shape: Shape,
    pub(super) filter: Option<&'a SharedFilter>,
    pub(super) motion: &'a Motion<D, T>,
}

impl<const D: usize, T: Real> Rules<'_, D, T> {
    /// Is there a rule for pairs of two movers?
    pub(super) fn for_own(&self) -> bool {
        self.filter.is_some() || self.table.count(ObjectKind::Kinematic) > 0 || self.mixes_shapes()
    }

    /// Two movers: not both kinematic, shapes and ways of their own, and the user's filter.
    pub(super) fn apply_own(&self, fresh: &mut Retain<'_>) {
        let movers = &self.table.movers;
        if movers.kinematic.any() {
            fresh.retain(|pair| !(movers.kinematic.get(pair.a) && movers.kinematic.get(pair.b)));
        }
        if self.mixes_shapes() {
            fresh.retain(|pair| self.meet(pair, movers));
        }
        self.ask_user(fresh, false, movers.aligned);
    }

    /// Are shapes or ways to be told apart pair by pair? Then the frame itself does not test balls.
    fn mixes_shapes(&self) -> bool {
        self.table.movers.shapes.any() || self.table.movers.swept.any()
    }

    /// The exact test of a mover with an object of `others`: balls and boxes where they are, or on their ways if one is swept.
    fn meet(&self, pair: Pair, others: &Side<D, T>) -> bool {
        let movers = &self.table.movers;
        let (a, b) = (movers.own_shape(pair.a, self.shape), others.own_shape(pair.b, self.shape));
        if movers.swept.get(pair.a) || others.swept.get(pair.b) {
            return touch((&self.path(pair.a, movers), a), (&self.path(pair.b, others), b)).is_some();
        }
        a.meets(&movers.boxes[pair.a as usize], b, &others.boxes[pair.b as usize])
    }

    /// The way of an object of one side or the other; statics have none.
    fn path(&self, slot: u32, side: &Side<D, T>) -> Path<D, T> {
        if std::ptr::eq(side, &self.table.movers) {
            self.motion.path(self.table, slot)
        } else {
            Path::still(side.boxes[slot as usize])
        }
    }

    /// When the two objects of a pair of slots first touch, as a fraction of the frame; 1 if only the end of the frame is known.
    pub(super) fn time(&self, pair: Pair, mixed: bool) -> f64 {
        let (movers, others) = (&self.table.movers, if mixed { &self.table.statics } else { &self.table.movers });
        let (a, b) = (movers.own_shape(pair.a, self.shape), others.own_shape(pair.b, self.shape));
        touch((&self.path(pair.a, movers), a), (&self.path(pair.b, others), b)).map_or(1.0, Real::to_f64)
    }

    /// Is there a rule for pairs of a mover and a static?
    pub(super) fn for_mixed(&self) -> bool {
        let (movers, statics) = (&self.table.movers, &self.table.statics);
        self.filter.is_some() || self.has_shapes() || movers.tags.any() || statics.tags.any()
    }

    /// May there be balls or swept boxes at all?
    fn has_shapes(&self) -> bool {
        self.shape == Shape::Ball || self.mixes_shapes() || self.table.statics.shapes.any()
    }

    /// A mover and a static, slots of different sides: tags, balls, ways, and the user's filter. Kinematic movers are not probed at all.
    pub(super) fn apply_mixed(&self, fresh: &mut Retain<'_>) {
        let (movers, statics) = (&self.table.movers, &self.table.statics);
        if movers.tags.any() || statics.tags.any() {
            fresh.retain(|pair| movers.tags.get(pair.a).allows(&statics.tags.get(pair.b)));
        }
        if self.has_shapes() {
            fresh.retain(|pair| self.meet(pair, statics));
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
