//! Queries, many at once: each function defines its query, and `answers.rs` runs it.

use std::ffi::c_void;

use super::answers::{Hits, Question, ask};
use super::{bp_answer_list, bp_answers, bp_world};
use crate::object::call;
use crate::status::*;
use crate::types::*;

/// Applies all changes, without searching for pairs. After it, or after an update, and until the next change, several threads may query at once,
/// each with answers of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_prepare_queries(world: *mut bp_world) -> bp_status {
    call(
        world,
        "world",
        |world| &world.0,
        |inner| {
            super::each!(inner, world => { world.world.read()?; });
            Ok(())
        },
    )
}

/// The objects whose box overlaps each box.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_in_boxes(
    world: *mut bp_world,
    def: *const bp_query_def,
    boxes: *const c_void,
    count: usize,
    answers: *mut bp_answers,
    list: *mut bp_answer_list,
) -> bp_status {
    ask(world, def, (answers, list), Question::InBoxes(boxes, count))
}

/// The objects whose box holds each point, surface included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_at_points(
    world: *mut bp_world,
    def: *const bp_query_def,
    points: *const c_void,
    count: usize,
    answers: *mut bp_answers,
    list: *mut bp_answer_list,
) -> bp_status {
    ask(world, def, (answers, list), Question::AtPoints(points, count))
}

/// The objects that each ball reaches; a row is center, radius.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_in_balls(
    world: *mut bp_world,
    def: *const bp_query_def,
    balls: *const c_void,
    count: usize,
    answers: *mut bp_answers,
    list: *mut bp_answer_list,
) -> bp_status {
    ask(world, def, (answers, list), Question::InBalls(balls, count))
}

/// The objects that all half-spaces of each frustum reach. A row is normal, offset: the points whose product with the normal is at most the offset.
/// `sides` has `side_count` rows for each of `count` frusta. A box near an edge of the frustum can pass although it is outside.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_in_frusta(
    world: *mut bp_world,
    def: *const bp_query_def,
    sides: *const c_void,
    side_count: usize,
    count: usize,
    answers: *mut bp_answers,
    list: *mut bp_answer_list,
) -> bp_status {
    ask(world, def, (answers, list), Question::InFrusta(sides, side_count, count))
}

/// All objects that each ray enters, in no order of distance, with `t`. A row is origin, direction, length; the length counts in multiples of
/// the direction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_along_rays(
    world: *mut bp_world,
    def: *const bp_query_def,
    rays: *const c_void,
    count: usize,
    answers: *mut bp_answers,
    list: *mut bp_answer_list,
) -> bp_status {
    ask(world, def, (answers, list), Question::AlongRays(rays, count, Hits::All))
}

/// The first object that each ray enters, with `t`: one answer or none. Of several at the same `t`, the one with the smallest index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_first_along_rays(
    world: *mut bp_world,
    def: *const bp_query_def,
    rays: *const c_void,
    count: usize,
    answers: *mut bp_answers,
    list: *mut bp_answer_list,
) -> bp_status {
    ask(world, def, (answers, list), Question::AlongRays(rays, count, Hits::First))
}

/// All objects that each moving box touches, in no order, with the fraction of the step. A row is min, max, displacement.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_along_sweeps(
    world: *mut bp_world,
    def: *const bp_query_def,
    sweeps: *const c_void,
    count: usize,
    answers: *mut bp_answers,
    list: *mut bp_answer_list,
) -> bp_status {
    ask(world, def, (answers, list), Question::AlongSweeps(sweeps, count, Hits::All))
}

/// The first object that each moving box touches, with the fraction of the step: one answer or none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_first_along_sweeps(
    world: *mut bp_world,
    def: *const bp_query_def,
    sweeps: *const c_void,
    count: usize,
    answers: *mut bp_answers,
    list: *mut bp_answer_list,
) -> bp_status {
    ask(world, def, (answers, list), Question::AlongSweeps(sweeps, count, Hits::First))
}

/// All objects that each moving ball touches, in no order, with the fraction of the step. A row is center, radius, displacement.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_along_ball_sweeps(
    world: *mut bp_world,
    def: *const bp_query_def,
    sweeps: *const c_void,
    count: usize,
    answers: *mut bp_answers,
    list: *mut bp_answer_list,
) -> bp_status {
    ask(world, def, (answers, list), Question::AlongBallSweeps(sweeps, count, Hits::All))
}

/// The first object that each moving ball touches, with the fraction of the step: one answer or none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_first_along_ball_sweeps(
    world: *mut bp_world,
    def: *const bp_query_def,
    sweeps: *const c_void,
    count: usize,
    answers: *mut bp_answers,
    list: *mut bp_answer_list,
) -> bp_status {
    ask(world, def, (answers, list), Question::AlongBallSweeps(sweeps, count, Hits::First))
}

/// The `k` objects nearest to each point, none farther than `distance`, nearest first, with their distances (0 inside).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_nearest_to(
    world: *mut bp_world,
    def: *const bp_query_def,
    points: *const c_void,
    count: usize,
    k: usize,
    distance: f64,
    answers: *mut bp_answers,
    list: *mut bp_answer_list,
) -> bp_status {
    ask(world, def, (answers, list), Question::NearestTo(points, count, k, distance))
}

/// The `k` objects nearest to each box, none farther than `distance`, nearest first, with their distances (0 if they overlap).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_nearest_to_boxes(
    world: *mut bp_world,
    def: *const bp_query_def,
    boxes: *const c_void,
    count: usize,
    k: usize,
    distance: f64,
    answers: *mut bp_answers,
    list: *mut bp_answer_list,
) -> bp_status {
    ask(world, def, (answers, list), Question::NearestToBoxes(boxes, count, k, distance))
}
