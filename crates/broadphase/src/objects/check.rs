//! The invariants of the object table.

use super::side::Side;
use super::table::Table;
use super::{MAX_OBJECTS, ObjectKind};
use crate::error::{Violation, ensure};
use crate::geometry::{Period, Real};

impl<const D: usize, T: Real> Table<D, T> {
    /// Checks that rows and slots refer to each other, that boxes are valid and grown by the margins, and that counts are right.
    pub(crate) fn validate(&self, period: Option<&Period<D, T>>) -> Result<(), Violation> {
        let (movers, statics) = (self.movers.slots.count(), self.statics.slots.count());
        ensure!(self.len() == movers + statics, "{} objects, but {movers} movers and {statics} statics", self.len());
        ensure!(statics == self.count(ObjectKind::Static), "{statics} statics in their side");
        ensure!(self.indices() <= MAX_OBJECTS, "more indices than ids");
        for handle in self.handles() {
            let (side, slot) = self.place(handle.index);
            ensure!(side.slots.contains(slot), "object {handle} has the empty slot {slot}");
            ensure!(side.owners[slot as usize] == handle.index, "slot {slot} belongs to another than {handle}");
            let (plain, growth) = (side.plain(slot), self.growth(handle.index));
            let grown = if growth == T::ZERO { plain } else { plain.grow(growth) };
            ensure!(plain.is_valid(), "object {handle} has an invalid box");
            let seen = &side.boxes[slot as usize];
            // In a space that repeats, the box around a path is in wrapped coordinates.
            let covers = || match period {
                Some(period) => period.any_image(seen, &grown, |seen, grown| seen.contains(grown)),
                None => seen.contains(&grown),
            };
            let swept = side.swept.get(slot) && covers();
            ensure!(swept || *seen == grown, "object {handle} is grown by another margin");
            ensure!(
                side.kinematic.get(slot) == (self.object(handle.index).kind == ObjectKind::Kinematic),
                "object {handle} is kinematic on one side only"
            );
        }
        self.validate_side(&self.movers)?;
        self.validate_side(&self.statics)
    }

    /// Checks a deserialized table. Nothing in it is trusted.
    #[cfg(feature = "serde")]
    pub(crate) fn check(&self, period: Option<&Period<D, T>>) -> Result<(), crate::Error> {
        let broken = |reason: String| Err(crate::Error::InvalidSnapshot { reason });
        if !self.is_sound() {
            return broken("its lists do not fit each other".to_string());
        }
        self.validate(period).or_else(|violation| broken(violation.to_string()))
    }

    fn validate_side(&self, side: &Side<D, T>) -> Result<(), Violation> {
        let len = side.slots.len();
        ensure!(side.boxes.len() == len && side.owners.len() == len, "{} boxes for {len} slots", side.boxes.len());
        ensure!(side.slots.ids().count() == side.slots.count(), "the live slots are miscounted");
        ensure!(side.slots.end() <= len, "a live slot is behind the end");
        let aligned = side.slots.ids().all(|slot| side.owners[slot as usize] == slot);
        ensure!(aligned || !side.aligned, "slots are not the indices that they are said to be");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, Object};

    #[test]
    fn the_validator_detects_a_lost_owner_a_wrong_margin_and_a_wrong_place() {
        let mut table = Table::<2, f32>::default();
        let object = Object::new(Aabb::new([0.0; 2], [1.0; 2])).with_margin(0.5);
        let handle = table.insert(&object, None).unwrap();
        table.insert(&object.with_kind(ObjectKind::Static), None).unwrap();
        table.validate(None).unwrap();

        let mut lost = table.clone();
        lost.movers.owners[0] = 1;
        assert!(lost.validate(None).is_err());
        let mut grown = table.clone();
        grown.statics.boxes[0] = object.aabb;
        assert!(grown.validate(None).is_err());
        let mut empty = table.clone();
        empty.movers.slots.vacate(0);
        assert!(empty.validate(None).is_err());
        let mut unequal = table;
        unequal.set_kind(handle, ObjectKind::Kinematic).unwrap();
        unequal.movers.kinematic.set(0, false);
        assert!(unequal.validate(None).is_err());
    }
}
