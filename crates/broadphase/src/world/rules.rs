//! The rules that decide whether an overlap is a pair, except the tags and the shape of movers, which the frame itself applies.

use std::sync::Arc;

use super::motion::{Motion, touch};
use crate::geometry::{Path, Period, Real};
use crate::objects::side::Side;
use crate::objects::table::Table;
use crate::objects::{Handle, ObjectKind, Pairing, Shape};
use crate::pairs::{Pair, Retain};

/// Two objects that form a pair unless the filter rejects them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairCandidate {
    /// The object with the smaller index.
    pub a: Handle,
    /// The other object.
    pub b: Handle,
    /// The user data of `a`.
    pub user_a: u64,
    /// The user data of `b`.
    pub user_b: u64,
}

/// A filter that a world keeps.
#[derive(Clone)]
pub(super) enum KeptFilter {
    /// Chunk by chunk.
    Chunks(Arc<dyn Fn(&mut Retain<'_>) + Send + Sync>),
    /// Pair by pair.
    Pairs(Arc<dyn Fn(&PairCandidate) -> bool + Send + Sync>),
}

/// A filter for one update.
pub(super) type Scoped<'a> = Option<&'a (dyn Fn(&PairCandidate) -> bool + Sync)>;

/// The rules of a world. A rule that no object needs costs nothing.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a, const D: usize, T: Real> {
    pub(super) table: &'a Table<D, T>,
    pub(super) shape: Shape,
    pub(super) filter: Option<&'a KeptFilter>,
    pub(super) scoped: Scoped<'a>,
    pub(super) pairing: Pairing,
    pub(super) motion: &'a Motion<D, T>,
    pub(super) period: Option<Period<D, T>>,
}

impl<const D: usize, T: Real> Rules<'_, D, T> {
    /// Are there rules for pairs of two movers that the frame does not apply by itself?
    pub(super) fn has_mover_rules(&self) -> bool {
        self.filters() || self.table.count(ObjectKind::Kinematic) > 0 || self.table.movers.sensors.any() || self.mixes_shapes()
    }

    /// Is there a user filter?
    fn filters(&self) -> bool {
        self.filter.is_some() || self.scoped.is_some()
    }

    /// May a mover pair with any static at all? If not, it is not probed.
    #[inline]
    pub(super) fn meets_statics(&self, slot: u32) -> bool {
        let movers = &self.table.movers;
        !movers.kinematic.get(slot)
            || self.pairing.kinematic_static
            || movers.sensors.get(slot)
            || self.table.statics.sensors.any()
    }

    /// Is every mover slot live, and does it form a pair with every static whose box it overlaps? Then the result of a probe with all movers' boxes needs no
    /// filter.
    pub(super) fn all_meet_all_statics(&self) -> bool {
        let movers = &self.table.movers;
        let all_are_probed = !movers.kinematic.any() || self.pairing.kinematic_static;
        all_are_probed && movers.slots.are_all_live() && self.period.is_none() && !self.has_mixed_rules()
    }

    /// Applies the rules for two movers: kinds, shapes, motions, and the user's filter.
    pub(super) fn apply_mover_rules(&self, fresh: &mut Retain<'_>) {
        let movers = &self.table.movers;
        if movers.kinematic.any() || movers.sensors.any() {
            fresh.retain(|pair| self.pairing.allows(role(movers, pair.a), role(movers, pair.b)));
        }
        if self.mixes_shapes() {
            fresh.retain(|pair| self.meet(pair, movers));
        }
        self.apply_user_filters(fresh, false, movers.aligned);
    }

    /// Must shapes or motions be tested pair by pair? Then the frame itself does not test balls.
    fn mixes_shapes(&self) -> bool {
        self.table.movers.shapes.any() || self.table.movers.swept.any()
    }

    /// The exact test of a mover with an object of `others`: balls and boxes where they are, or on their paths if one is swept.
    fn meet(&self, pair: Pair, others: &Side<D, T>) -> bool {
        let movers = &self.table.movers;
        let (a, b) = (movers.own_shape(pair.a, self.shape), others.own_shape(pair.b, self.shape));
        if movers.swept.get(pair.a) || others.swept.get(pair.b) {
            return self.touch((pair.a, movers, a), (pair.b, others, b)).is_some();
        }
        let (own, other) = (&movers.boxes[pair.a as usize], &others.boxes[pair.b as usize]);
        match self.period {
            Some(period) => period.any_image(own, other, |own, other| a.meets(own, b, other)),
            None => a.meets(own, b, other),
        }
    }

    /// When two objects first touch, each given by its slot, its side and its shape.
    fn touch(&self, a: (u32, &Side<D, T>, Shape), b: (u32, &Side<D, T>, Shape)) -> Option<T> {
        touch((&self.path(a.0, a.1), a.2), (&self.path(b.0, b.1), b.2), self.period.as_ref())
    }

    /// The path of an object of one side or the other; statics have none.
    fn path(&self, slot: u32, side: &Side<D, T>) -> Path<D, T> {
        if std::ptr::eq(side, &self.table.movers) {
            return self.motion.path(self.table, slot, self.period.as_ref());
        }
        let at = &side.boxes[slot as usize];
        Path::still(self.period.map_or(*at, |period| period.wrap_box(at)))
    }

    /// When the two objects of a pair of slots first touch, as a fraction of the frame; 1 if only the end of the frame is known.
    pub(super) fn time(&self, pair: Pair, mixed: bool) -> f64 {
        let (movers, others) = (&self.table.movers, if mixed { &self.table.statics } else { &self.table.movers });
        let (a, b) = (movers.own_shape(pair.a, self.shape), others.own_shape(pair.b, self.shape));
        self.touch((pair.a, movers, a), (pair.b, others, b)).map_or(1.0, Real::to_f64)
    }

    /// Are there rules for pairs of a mover and a static?
    pub(super) fn has_mixed_rules(&self) -> bool {
        let (movers, statics) = (&self.table.movers, &self.table.statics);
        self.filters() || self.has_shapes() || self.has_roles() || movers.tags.any() || statics.tags.any()
    }

    /// Are there sensors, so that roles can rule out a pair of a probed mover and a static?
    fn has_roles(&self) -> bool {
        let (movers, statics) = (&self.table.movers, &self.table.statics);
        movers.sensors.any() || statics.sensors.any()
    }

    /// Can there be balls or swept boxes?
    fn has_shapes(&self) -> bool {
        self.shape == Shape::Ball || self.mixes_shapes() || self.table.statics.shapes.any()
    }

    /// Applies the rules for a mover and a static, slots of different sides: tags, sensors, balls, paths, and the user's filter.
    pub(super) fn apply_mixed_rules(&self, fresh: &mut Retain<'_>) {
        let (movers, statics) = (&self.table.movers, &self.table.statics);
        if movers.tags.any() || statics.tags.any() {
            fresh.retain(|pair| movers.tags.get(pair.a).allows(&statics.tags.get(pair.b)));
        }
        if self.has_roles() {
            let fixed = |slot: u32| (ObjectKind::Static, statics.sensors.get(slot));
            fresh.retain(|pair| self.pairing.allows(role(movers, pair.a), fixed(pair.b)));
        }
        if self.has_shapes() {
            fresh.retain(|pair| self.meet(pair, statics));
        }
        self.apply_user_filters(fresh, true, false);
    }

    /// Applies the user's filters. One by pairs gets handles; one by chunks gets indices, to which slots are converted unless both are equal (`aligned`).
    fn apply_user_filters(&self, fresh: &mut Retain<'_>, mixed: bool, aligned: bool) {
        if let Some(KeptFilter::Chunks(filter)) = self.filter {
            if aligned {
                filter(fresh);
            } else {
                fresh.rename(|pair| self.table.to_indices(pair, mixed));
                filter(fresh);
                fresh.rename(|pair| self.table.to_slots(pair, mixed));
            }
        }
        if let Some(KeptFilter::Pairs(keep)) = self.filter {
            fresh.retain(|pair| keep(&self.candidate(pair, mixed)));
        }
        if let Some(keep) = self.scoped {
            fresh.retain(|pair| keep(&self.candidate(pair, mixed)));
        }
    }

    fn candidate(&self, pair: Pair, mixed: bool) -> PairCandidate {
        let Pair { a, b } = self.table.to_indices(pair, mixed);
        let (user_a, user_b) = (self.table.user(a), self.table.user(b));
        PairCandidate { a: self.table.handle(a), b: self.table.handle(b), user_a, user_b }
    }
}

/// The kind of a mover, and whether it is a sensor.
#[inline]
fn role<const D: usize, T: Real>(movers: &Side<D, T>, slot: u32) -> (ObjectKind, bool) {
    let kind = if movers.kinematic.get(slot) { ObjectKind::Kinematic } else { ObjectKind::Dynamic };
    (kind, movers.sensors.get(slot))
}
