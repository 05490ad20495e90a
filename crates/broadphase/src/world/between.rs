//! Pairs of two worlds.

use super::probing::{Batch, probe_parts};
use super::{Engine, World};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::side::Side;
use crate::objects::{Handle, Shape};
use crate::pairs::{PairStore, Report};

impl<const D: usize, T: Real> World<D, T> {
    /// Fills `found` with all pairs of an object of this world and an object of `other`, sorted: those that [`update`](World::update) would find if all
    /// objects were in one world. Both must have the same [period](World::set_period), or none. Kinds, tags, environments, margins and shapes count; filters do not.
    ///
    /// Use it for a character and its surroundings, two neighboring chunks of a map, or a local world and a remote one. Nothing is kept for the next
    /// call. Cost: for movers and statics of both worlds, a probe for each object of the smaller set in the structure of the larger one, and a sort.
    ///
    /// ```
    /// use broadphase::{Aabb, World2};
    /// let (mut ships, mut rocks) = (World2::new(), World2::new());
    /// let ship = ships.insert(Aabb::new([0.0, 0.0], [2.0, 2.0]))?;
    /// let rock = rocks.insert(Aabb::new([1.0, 1.0], [3.0, 3.0]))?;
    /// let mut hits = Vec::new();
    /// ships.pairs_with(&mut rocks, &mut hits)?;
    /// assert_eq!(hits, [(ship, rock)]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn pairs_with(&mut self, other: &mut Self, found: &mut Vec<(Handle, Handle)>) -> Result<(), Error> {
        found.clear();
        if self.period != other.period {
            let expected = "the period of the other world, or none in both";
            return Err(Error::InvalidArgument { argument: "period", value: format!("{:?}", self.period), expected });
        }
        self.flush(None)?;
        other.flush(None)?;
        let mut context = self.context.clone();
        let mut store = PairStore::new(Report::All);
        for (own, own_fixed) in [(Half::movers(self), false), (Half::statics(self), true)] {
            for (their, their_fixed) in [(Half::movers(other), false), (Half::statics(other), true)] {
                if own_fixed && their_fixed {
                    continue; // two statics never pair
                }
                let limit = self.limit;
                let mut keep = |a: u32, b: u32| {
                    found.extend(own.pair(a, &their, b));
                    found.len() as u64 <= limit
                };
                let result = if own.count() <= their.count() {
                    own.probe(&their, limit, &mut context, &mut store, &mut keep)
                } else {
                    their.probe(&own, limit, &mut context, &mut store, &mut |b, a| keep(a, b))
                };
                if let Err(error) = result {
                    found.clear();
                    return Err(error);
                }
            }
        }
        found.sort_unstable();
        Ok(())
    }
}

/// The movers or the statics of a world, with their structure.
struct Half<'a, const D: usize, T: Real> {
    world: &'a World<D, T>,
    engine: &'a Engine<D, T>,
    side: &'a Side<D, T>,
}

impl<'a, const D: usize, T: Real> Half<'a, D, T> {
    fn movers(world: &'a World<D, T>) -> Self {
        Self { world, engine: &world.movers, side: &world.table.movers }
    }

    fn statics(world: &'a World<D, T>) -> Self {
        Self { world, engine: &world.statics, side: &world.table.statics }
    }

    fn count(&self) -> usize {
        self.side.slots.count()
    }

    /// Calls `keep` with each pair of slots whose boxes overlap: one here, one in `larger`; it returns whether the limit holds.
    fn probe(
        &self,
        larger: &Self,
        limit: u64,
        context: &mut Context,
        store: &mut PairStore,
        keep: &mut dyn FnMut(u32, u32) -> bool,
    ) -> Result<(), Error> {
        let Some(structure) = larger.engine.structure.as_deref().filter(|_| self.count() > 0 && larger.count() > 0) else {
            return Ok(());
        };
        let slots: Vec<u32> = self.side.slots.ids().collect();
        let boxes: Vec<Aabb<D, T>> = slots.iter().map(|&slot| self.side.boxes[slot as usize]).collect();
        let frame = larger.side.frame(Shape::Box, None);
        let envs: Vec<u32> = slots.iter().map(|&slot| self.side.tags.get(slot).env).collect();
        probe_parts(structure, &frame, Batch { boxes: &boxes, envs: &envs }, limit, context, store, &mut |store, first| {
            let mut fits = true;
            store.for_each_chunk(|pairs| fits = fits && pairs.iter().all(|pair| keep(slots[first + pair.a as usize], pair.b)));
            if fits { Ok(()) } else { Err(Error::TooManyPairs { limit }) }
        })?;
        Ok(())
    }

    /// Do the shapes of two slots overlap, given that their boxes do?
    fn shapes_meet(&self, (slot, shape): (u32, Shape), other: &Self, (their, theirs): (u32, Shape)) -> bool {
        let (own, box_of_other) = (&self.side.boxes[slot as usize], &other.side.boxes[their as usize]);
        match self.world.period {
            Some(period) => period.any_image(own, box_of_other, |own, other| shape.meets(own, theirs, other)),
            None => shape.meets(own, theirs, box_of_other),
        }
    }

    /// The handles of two slots, if the rules allow them to pair.
    fn pair(&self, slot: u32, other: &Self, their: u32) -> Option<(Handle, Handle)> {
        let handle = |half: &Self, slot: u32| half.world.table.handle(half.side.owners[slot as usize]);
        let role = |half: &Self, slot: u32| (half.world.table.kind(half.side.owners[slot as usize]), half.side.sensors.get(slot));
        let shape = |half: &Self, slot: u32| half.side.shape(slot, half.world.shape);
        let allowed = self.world.pairing.allows(role(self, slot), role(other, their))
            && self.side.tags.get(slot).allows(&other.side.tags.get(their))
            && self.shapes_meet((slot, shape(self, slot)), other, (their, shape(other, their)));
        allowed.then(|| (handle(self, slot), handle(other, their)))
    }
}
