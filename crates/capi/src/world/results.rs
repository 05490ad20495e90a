//! The frame, and what it found.

use broadphase::{Handle, PairEvents, Real};

#[cfg(not(target_arch = "wasm32"))]
use super::Inner;
use super::{Typed, bp_id_list, bp_world, change, each};
use crate::input::*;
#[cfg(not(target_arch = "wasm32"))]
use crate::object::Keeper;
use crate::status::*;
use crate::types::*;

/// What an update found. The lists belong to the world, and stay until its next update.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_update {
    /// The number of pairs; bp_world_pairs lists them.
    pub pair_count: u64,
    /// The pairs that the last update did not have, sorted; none unless events are reported.
    pub started: *const bp_id_pair,
    /// How many there are.
    pub started_count: usize,
    /// The pairs of the last update that no longer exist, sorted; ids of removed objects are those that were valid.
    pub ended: *const bp_id_pair,
    /// How many there are.
    pub ended_count: usize,
}

/// Applies all changes, and finds all pairs and which of them started and ended since the last successful update. `update` may be null.
///
/// On error all objects stay as they are, and the next update reports the difference to the last successful one. A null `world` and a
/// misaligned `update` change nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_update(world: *mut bp_world, update: *mut bp_update) -> bp_status {
    change(world, |inner| {
        let out = if update.is_null() { None } else { Some(Out::new("update", update)?) };
        let found = each!(inner, world => {
            let pair_count = world.world.update()?.len();
            let (started, ended) = (world.world.started().handles(), world.world.ended().handles());
            bp_update {
                pair_count,
                started: started.as_ptr().cast(),
                started_count: started.len(),
                ended: ended.as_ptr().cast(),
                ended_count: ended.len(),
            }
        });
        if let Some(out) = out {
            out.set(found);
        }
        Ok(())
    })
}

/// A pair that started or ended, with its users, value and time.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_pair_event {
    /// The object with the smaller index.
    pub a: bp_object_id,
    /// The other object.
    pub b: bp_object_id,
    /// The user number of `a`, even if it was removed.
    pub user_a: u64,
    /// The user number of `b`, even if it was removed.
    pub user_b: u64,
    /// The value that the pair had when it ended, if it had one.
    pub value: u64,
    /// When the two first touched, as a fraction of the frame, with continuous detection; 1 without, and for pairs that ended.
    pub time: f64,
    /// Did the pair have a value? 0 or 1.
    pub has_value: u8,
}

/// A list of events, which belongs to the world, and stays until the next call that returns events.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_event_list {
    /// The events.
    pub events: *const bp_pair_event,
    /// How many there are.
    pub count: usize,
}

/// The pairs that started with the last update, with user numbers and times.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_started(world: *mut bp_world, list: *mut bp_event_list) -> bp_status {
    change(world, |inner| {
        let out = Out::new("list", list)?;
        out.set(each!(inner, world => list_events(world.world.started(), &mut world.events)));
        Ok(())
    })
}

/// The pairs that ended with the last update, with user numbers and values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_ended(world: *mut bp_world, list: *mut bp_event_list) -> bp_status {
    change(world, |inner| {
        let out = Out::new("list", list)?;
        out.set(each!(inner, world => list_events(world.world.ended(), &mut world.events)));
        Ok(())
    })
}

fn list_events(events: PairEvents<'_>, list: &mut Vec<bp_pair_event>) -> bp_event_list {
    list.clear();
    list.extend(events.iter().map(|event| bp_pair_event {
        a: event.a.into(),
        b: event.b.into(),
        user_a: event.user_a,
        user_b: event.user_b,
        value: event.value.unwrap_or_default(),
        time: event.time,
        has_value: event.value.is_some().into(),
    }));
    bp_event_list { events: list.as_ptr(), count: list.len() }
}

/// A list of pairs of a world, which belongs to it, and stays until the next call that returns such a list.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_id_pair_list {
    /// The pairs.
    pub pairs: *const bp_id_pair,
    /// How many there are.
    pub count: usize,
}

/// All pairs of the last update, in an order that is the same for any number of threads; none with BP_REPORT_COUNT. Costs a copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_pairs(world: *mut bp_world, list: *mut bp_id_pair_list) -> bp_status {
    change(world, |inner| {
        let out = Out::new("list", list)?;
        out.set(each!(inner, world => world.list_pairs(false)));
        Ok(())
    })
}

/// All pairs of the last update, sorted: the one list that every algorithm gives. Costs a copy and a sort.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_sorted_pairs(world: *mut bp_world, list: *mut bp_id_pair_list) -> bp_status {
    change(world, |inner| {
        let out = Out::new("list", list)?;
        out.set(each!(inner, world => world.list_pairs(true)));
        Ok(())
    })
}

/// The objects that this one pairs with, as of the last update, by index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_pairs_of(world: *mut bp_world, id: bp_object_id, list: *mut bp_id_list) -> bp_status {
    change(world, |inner| {
        let out = Out::new("list", list)?;
        out.set(each!(inner, world => world.list_ids(|world, ids| {
            ids.extend(world.pairs_of(id.into())?);
            Ok(())
        })?));
        Ok(())
    })
}

/// All pairs of an object of `world`, first, and one of `other`, second, sorted: what an update would report if they were one world. Both must have
/// the same format and be two worlds. Filters are not called.
#[cfg(not(target_arch = "wasm32"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_pairs_with(
    world: *mut bp_world,
    other: *mut bp_world,
    list: *mut bp_id_pair_list,
) -> bp_status {
    change(world, |inner| {
        let out = Out::new("list", list)?;
        if world == other {
            let text = "other is the same world; bp_world_update finds pairs within one".to_string();
            return Err(Fail::new(BP_INVALID_ARGUMENT, "other", text));
        }
        let keeper: &Keeper<Inner> = &one("other", other)?.0;
        // SAFETY: (caller) the header says that a call that may change a world is the only one for it at that time; it is not `world`.
        let other = unsafe { &mut *keeper.get() };
        let found = match (inner, other) {
            (Inner::F2(world), Inner::F2(other)) => world.pairs_with(other)?,
            (Inner::F3(world), Inner::F3(other)) => world.pairs_with(other)?,
            (Inner::D2(world), Inner::D2(other)) => world.pairs_with(other)?,
            (Inner::D3(world), Inner::D3(other)) => world.pairs_with(other)?,
            _ => return Err(Fail::new(BP_INVALID_FORMAT, "other", "the two worlds have different formats".to_string())),
        };
        out.set(found);
        Ok(())
    })
}

/// Attaches a number to a pair of the last update, until the pair ends. `paired` becomes 1, or 0 if the two are no pair; it may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_set_pair_value(
    world: *mut bp_world,
    a: bp_object_id,
    b: bp_object_id,
    value: u64,
    paired: *mut u8,
) -> bp_status {
    change(world, |inner| {
        let out = if paired.is_null() { None } else { Some(Out::new("paired", paired)?) };
        let is_pair = each!(inner, world => world.world.set_pair_value(a.into(), b.into(), value)?);
        if let Some(out) = out {
            out.set(is_pair.into());
        }
        Ok(())
    })
}

/// The number attached to a pair. `has_value` becomes 1, or 0 if there is none, and `value` then 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_pair_value(
    world: *mut bp_world,
    a: bp_object_id,
    b: bp_object_id,
    value: *mut u64,
    has_value: *mut u8,
) -> bp_status {
    change(world, |inner| {
        let (value, has_value) = (Out::new("value", value)?, Out::new("has_value", has_value)?);
        let found = each!(inner, world => world.world.pair_value(a.into(), b.into())?);
        value.set(found.unwrap_or_default());
        has_value.set(found.is_some().into());
        Ok(())
    })
}

impl<const D: usize, T: Real> Typed<D, T> {
    fn list_pairs(&mut self, sorted: bool) -> bp_id_pair_list {
        self.pairs.clear();
        self.pairs.extend(self.world.pairs());
        if sorted {
            self.pairs.sort_unstable();
        }
        list(&self.pairs)
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn pairs_with(&mut self, other: &mut Self) -> Result<bp_id_pair_list, Fail> {
        self.world.pairs_with(&mut other.world, &mut self.pairs)?;
        Ok(list(&self.pairs))
    }
}

fn list(pairs: &[(Handle, Handle)]) -> bp_id_pair_list {
    bp_id_pair_list { pairs: pairs.as_ptr().cast(), count: pairs.len() }
}
