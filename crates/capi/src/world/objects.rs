//! The properties of objects, except their boxes: set in bulk, all or none, and read.

use std::ffi::c_void;

use broadphase::{Aabb, Error, Handle, ObjectKind, Real, Shape, World};

use super::edit::{handles, kind, own_shape};
use super::{Typed, bp_world, change, each};
use crate::input::*;
use crate::status::*;
use crate::types::*;

pub(super) fn shape_number(shape: Option<Shape>) -> bp_shape {
    match shape {
        None => BP_SHAPE_OF_WORLD,
        Some(Shape::Box) => BP_SHAPE_BOX,
        Some(Shape::Ball) => BP_SHAPE_BALL,
    }
}

fn kind_number(kind: ObjectKind) -> bp_kind {
    match kind {
        ObjectKind::Dynamic => BP_KIND_DYNAMIC,
        ObjectKind::Static => BP_KIND_STATIC,
        ObjectKind::Kinematic => BP_KIND_KINEMATIC,
    }
}

/// Changes the tags of these objects, which decide what they may pair with. All, or none if an id is stale, as for all bp_world_set_... functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_set_tags(
    world: *mut bp_world,
    ids: *const bp_object_id,
    tags: *const bp_tag,
    count: usize,
) -> bp_status {
    change(world, |inner| {
        let (ids, tags) = (handles(ids, count)?, items("tags", tags, count)?);
        each!(inner, world => set_all(&mut world.world, ids, |position| tags[position].into(), |world, id| world.tag(id), World::set_tag))
    })
}

/// Changes the kinds of these objects; their ids stay. Do not use it to put objects to sleep: an object at rest needs no call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_set_kinds(
    world: *mut bp_world,
    ids: *const bp_object_id,
    kinds: *const bp_kind,
    count: usize,
) -> bp_status {
    change(world, |inner| {
        let ids = handles(ids, count)?;
        let kinds = parse(items("kinds", kinds, count)?, |&number| kind("kinds", number))?;
        each!(inner, world => set_all(&mut world.world, ids, |position| kinds[position], |world, id| world.kind(id), World::set_kind))
    })
}

/// Changes the user numbers of these objects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_set_users(
    world: *mut bp_world,
    ids: *const bp_object_id,
    users: *const u64,
    count: usize,
) -> bp_status {
    change(world, |inner| {
        let (ids, users) = (handles(ids, count)?, items("users", users, count)?);
        each!(inner, world => set_all(&mut world.world, ids, |position| users[position], |world, id| world.user(id), World::set_user))
    })
}

/// Changes the margins of these objects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_set_margins(
    world: *mut bp_world,
    ids: *const bp_object_id,
    margins: *const f64,
    count: usize,
) -> bp_status {
    change(world, |inner| {
        let (ids, margins) = (handles(ids, count)?, items("margins", margins, count)?);
        each!(inner, world => world.set_margins(ids, margins))
    })
}

/// Changes the shapes that the boxes of these objects represent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_set_shapes(
    world: *mut bp_world,
    ids: *const bp_object_id,
    shapes: *const bp_shape,
    count: usize,
) -> bp_status {
    change(world, |inner| {
        let ids = handles(ids, count)?;
        let shapes = parse(items("shapes", shapes, count)?, |&number| own_shape("shapes", number))?;
        each!(inner, world => set_all(&mut world.world, ids, |position| shapes[position], |world, id| Ok(world.object(id)?.shape), World::set_shape))
    })
}

/// Makes these objects sensors (trigger volumes), with 1, or no longer, with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_set_sensors(
    world: *mut bp_world,
    ids: *const bp_object_id,
    sensors: *const u8,
    count: usize,
) -> bp_status {
    change(world, |inner| {
        let ids = handles(ids, count)?;
        let sensors = parse(items("sensors", sensors, count)?, |&number| flag("sensors", number))?;
        each!(inner, world => set_all(&mut world.world, ids, |position| sensors[position], |world, id| Ok(world.object(id)?.sensor), World::set_sensor))
    })
}

/// Makes the next update call the filter again for all pairs of these objects, because its decisions have changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_refilter(world: *mut bp_world, ids: *const bp_object_id, count: usize) -> bp_status {
    change(world, |inner| {
        let ids = handles(ids, count)?;
        each!(inner, world => {
            check_ids(&world.world, ids)?;
            ids.iter().try_for_each(|&id| world.world.refilter(id))?;
        });
        Ok(())
    })
}

/// BP_OK if the id names one of this world's objects, otherwise BP_STALE_HANDLE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_contains(world: *mut bp_world, id: bp_object_id) -> bp_status {
    change(world, |inner| each!(inner, world => check_ids(&world.world, &[id.into()])))
}

/// Writes the boxes of these objects, as they were set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_get_boxes(
    world: *mut bp_world,
    ids: *const bp_object_id,
    boxes: *mut c_void,
    count: usize,
) -> bp_status {
    change(world, |inner| {
        let ids = handles(ids, count)?;
        each!(inner, world => world.get_boxes(ids, boxes))
    })
}

/// Writes the properties of an object, except its box; `previous` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_get_object(world: *mut bp_world, id: bp_object_id, def: *mut bp_object_def) -> bp_status {
    change(world, |inner| {
        let out = Out::new("def", def)?;
        out.set(each!(inner, world => {
            let object = world.world.object(id.into())?;
            bp_object_def {
                kind: kind_number(object.kind),
                tag: object.tag.into(),
                user: object.user,
                margin: object.margin.to_f64(),
                shape: shape_number(object.shape),
                sensor: object.sensor.into(),
                ..bp_default_object_def()
            }
        }));
        Ok(())
    })
}

/// A list of ids, which belongs to the world, and stays until the next call that returns ids.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_id_list {
    /// The ids.
    pub ids: *const bp_object_id,
    /// How many there are.
    pub count: usize,
}

/// The movers (dynamic and kinematic objects), in the order in which bp_world_set_boxes takes their boxes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_movers(world: *mut bp_world, list: *mut bp_id_list) -> bp_status {
    change(world, |inner| {
        let out = Out::new("list", list)?;
        out.set(each!(inner, world => world.list_ids(|world, ids| {
            ids.extend(world.movers());
            Ok(())
        })?));
        Ok(())
    })
}

/// All objects, by index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_objects(world: *mut bp_world, list: *mut bp_id_list) -> bp_status {
    change(world, |inner| {
        let out = Out::new("list", list)?;
        out.set(each!(inner, world => world.list_ids(|world, ids| {
            ids.extend(world.iter().map(|(id, _)| id));
            Ok(())
        })?));
        Ok(())
    })
}

impl<const D: usize, T: Real> Typed<D, T> {
    /// Fills the buffer of ids.
    pub(super) fn list_ids(
        &mut self,
        fill: impl FnOnce(&World<D, T>, &mut Vec<Handle>) -> Result<(), Error>,
    ) -> Result<bp_id_list, Fail> {
        self.ids.clear();
        fill(&self.world, &mut self.ids)?;
        Ok(bp_id_list { ids: self.ids.as_ptr().cast(), count: self.ids.len() })
    }

    fn get_boxes(&self, ids: &[Handle], boxes: *mut c_void) -> Result<(), Fail> {
        let boxes: &mut [Aabb<D, T>] = items_out("boxes", boxes.cast(), ids.len())?;
        check_ids(&self.world, ids)?;
        for (out, &id) in boxes.iter_mut().zip(ids) {
            *out = self.world.get_box(id)?;
        }
        Ok(())
    }

    fn set_margins(&mut self, ids: &[Handle], margins: &[f64]) -> Result<(), Fail> {
        set_all(&mut self.world, ids, |position| T::from_f64(margins[position]), |world, id| world.margin(id), World::set_margin)
    }
}

/// Sets a value of each object. If that fails on the way, those before get back what they had.
fn set_all<const D: usize, T: Real, V>(
    world: &mut World<D, T>,
    ids: &[Handle],
    value: impl Fn(usize) -> V,
    get: impl Fn(&World<D, T>, Handle) -> Result<V, Error>,
    set: impl Fn(&mut World<D, T>, Handle, V) -> Result<(), Error>,
) -> Result<(), Fail> {
    check_ids(world, ids)?;
    let mut before = Vec::new();
    for (position, &id) in ids.iter().enumerate() {
        let had = get(world, id)?;
        if let Err(error) = set(world, id, value(position)) {
            for (&id, had) in ids.iter().zip(before).rev() {
                set(world, id, had)?;
            }
            return Err(Fail::from(error).at(position));
        }
        before.push(had);
    }
    Ok(())
}

/// Converts numbers to the enums that they stand for.
fn parse<N, V>(numbers: &[N], value: impl Fn(&N) -> Result<V, Fail>) -> Result<Vec<V>, Fail> {
    let parse = |(position, number)| value(number).map_err(|fail| fail.at(position));
    numbers.iter().enumerate().map(parse).collect()
}

/// An error if one of them is stale.
fn check_ids<const D: usize, T: Real>(world: &World<D, T>, ids: &[Handle]) -> Result<(), Fail> {
    match ids.iter().find(|&&id| !world.contains(id)) {
        Some(&Handle { index, generation }) => Err(Error::StaleHandle { index, generation }.into()),
        None => Ok(()),
    }
}
