//! Objects in and out, and where they are.

use std::ffi::c_void;

use broadphase::{Aabb, Handle, Object, ObjectKind, Real, Shape};

use super::{Typed, bp_world, change, each};
use crate::input::*;
use crate::status::*;
use crate::types::*;

pub(super) fn kind(argument: &'static str, kind: bp_kind) -> Result<ObjectKind, Fail> {
    match kind {
        BP_KIND_DYNAMIC => Ok(ObjectKind::Dynamic),
        BP_KIND_STATIC => Ok(ObjectKind::Static),
        BP_KIND_KINEMATIC => Ok(ObjectKind::Kinematic),
        other => Err(not_one_of(argument, other, "one of BP_KIND_*")),
    }
}

pub(super) fn own_shape(argument: &'static str, shape: bp_shape) -> Result<Option<Shape>, Fail> {
    match shape {
        BP_SHAPE_OF_WORLD => Ok(None),
        BP_SHAPE_BOX => Ok(Some(Shape::Box)),
        BP_SHAPE_BALL => Ok(Some(Shape::Ball)),
        other => Err(not_one_of(argument, other, "one of BP_SHAPE_*")),
    }
}

/// Inserts `count` objects with these boxes, and writes their ids. All, or none on error.
///
/// Their definitions are `defs`, `def_count` of them: one for each object, one for all, or none (null and 0) for the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_insert(
    world: *mut bp_world,
    boxes: *const c_void,
    defs: *const bp_object_def,
    def_count: usize,
    ids: *mut bp_object_id,
    count: usize,
) -> bp_status {
    change(world, |inner| each!(inner, world => world.insert((boxes, count), (defs, def_count), ids)))
}

/// Removes `count` objects: all, or none if an id is stale or in the list twice. Their pairs end with the next update.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_remove(world: *mut bp_world, ids: *const bp_object_id, count: usize) -> bp_status {
    change(world, |inner| {
        let ids = handles(ids, count)?;
        each!(inner, world => world.world.remove_many(ids)?);
        Ok(())
    })
}

/// Removes all objects. Their pairs end with the next update; memory and settings stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_clear(world: *mut bp_world) -> bp_status {
    change(world, |inner| {
        each!(inner, world => world.world.clear());
        Ok(())
    })
}

/// Makes room for more movers and statics.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_reserve(world: *mut bp_world, movers: usize, statics: usize) -> bp_status {
    change(world, |inner| {
        each!(inner, world => world.world.reserve(movers, statics)?);
        Ok(())
    })
}

/// Frees memory that the current objects and pairs do not need. The next update builds the structures from scratch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_shrink(world: *mut bp_world) -> bp_status {
    change(world, |inner| {
        each!(inner, world => world.shrink());
        Ok(())
    })
}

/// Sets the boxes of all movers (dynamic and kinematic objects), in the order of bp_world_movers: that of insertion, as long as none
/// was removed. Boxes that did not change are detected. All, or none on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_set_boxes(world: *mut bp_world, boxes: *const c_void, count: usize) -> bp_status {
    change(world, |inner| {
        each!(inner, world => world.world.set_mover_boxes(rows("boxes", boxes, count)?)?);
        Ok(())
    })
}

/// Moves or resizes these objects: all, or none if an id is stale or a box is invalid. The last box of an id counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_set_boxes_of(
    world: *mut bp_world,
    ids: *const bp_object_id,
    boxes: *const c_void,
    count: usize,
) -> bp_status {
    change(world, |inner| each!(inner, world => world.move_objects(ids, boxes, count, false)))
}

/// Like bp_world_set_boxes_of, for objects without a path to their new place: with continuous detection they hit nothing in between.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_teleport(
    world: *mut bp_world,
    ids: *const bp_object_id,
    boxes: *const c_void,
    count: usize,
) -> bp_status {
    change(world, |inner| each!(inner, world => world.move_objects(ids, boxes, count, true)))
}

/// Moves all objects by one displacement, one number per axis: for worlds whose origin follows the player. It does not count as motion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_shift_origin(world: *mut bp_world, by: *const c_void) -> bp_status {
    change(world, |inner| {
        each!(inner, world => world.world.shift_origin(rows("by", by, 1)?[0])?);
        Ok(())
    })
}

/// Ids as handles.
pub(super) fn handles<'a>(ids: *const bp_object_id, count: usize) -> Result<&'a [Handle], Fail> {
    items("ids", ids.cast(), count)
}

impl<const D: usize, T: Real> Typed<D, T> {
    fn insert(
        &mut self,
        boxes: (*const c_void, usize),
        defs: (*const bp_object_def, usize),
        ids: *mut bp_object_id,
    ) -> Result<(), Fail> {
        let boxes: &[Aabb<D, T>] = rows("boxes", boxes.0, boxes.1)?;
        let out = items_out("ids", ids, boxes.len())?;
        let handles = if defs.1 == 0 {
            self.world.insert_many(boxes)?
        } else {
            let defs = self::defs("defs", defs.0, defs.1)?;
            if defs.len() != 1 && defs.len() != boxes.len() {
                let text = format!("there are {} definitions; there must be none, one, or {}", defs.len(), boxes.len());
                return Err(Fail::new(BP_COUNT_MISMATCH, "defs", text));
            }
            let def = |position: usize| &defs[if defs.len() == 1 { 0 } else { position }];
            let make = |(position, aabb): (usize, &Aabb<D, T>)| object(def(position), *aabb).map_err(|fail| fail.at(position));
            let objects = boxes.iter().enumerate().map(make).collect::<Result<Vec<_>, _>>()?;
            self.world.insert_many(&objects)?
        };
        out.iter_mut().zip(handles).for_each(|(out, handle)| *out = handle.into());
        Ok(())
    }

    fn move_objects(&mut self, ids: *const bp_object_id, boxes: *const c_void, count: usize, teleport: bool) -> Result<(), Fail> {
        let (ids, boxes) = (handles(ids, count)?, rows::<Aabb<D, T>>("boxes", boxes, count)?);
        self.moved.clear();
        self.moved.extend(ids.iter().copied().zip(boxes.iter().copied()));
        if teleport {
            self.world.teleport_many(&self.moved)?
        } else {
            self.world.set_boxes_of(&self.moved)?
        }
        Ok(())
    }

    fn shrink(&mut self) {
        self.world.shrink();
        self.moved = Vec::new();
        self.pairs = Vec::new();
        self.ids = Vec::new();
        self.events = Vec::new();
        self.snapshot = Vec::new();
    }
}

fn object<const D: usize, T: Real>(def: &bp_object_def, aabb: Aabb<D, T>) -> Result<Object<D, T>, Fail> {
    let previous = if def.previous.is_null() { None } else { Some(rows("previous", def.previous, 1)?[0]) };
    Ok(Object {
        aabb,
        tag: def.tag.into(),
        kind: kind("kind", def.kind)?,
        margin: T::from_f64(def.margin),
        user: def.user,
        shape: own_shape("shape", def.shape)?,
        sensor: flag("sensor", def.sensor)?,
        previous,
    })
}
