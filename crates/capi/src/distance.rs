//! Distances: pairs within a distance, the nearest of each object, the closest pair. Of boxes, balls or points.

use std::ffi::c_void;

use broadphase::{Aabb, Ball, DistanceSearch, Near, Proximity, Real};

use crate::arrays::bp_neighbor_list;
use crate::executor::executor;
use crate::input::*;
use crate::status::*;
use crate::types::*;

/// What the rows of a distance call are.
pub type bp_rows = u32;
/// Boxes: min..., max...
pub const BP_ROWS_BOXES: bp_rows = 0;
/// Balls: the center, then the radius.
pub const BP_ROWS_BALLS: bp_rows = 1;
/// Points: one number for each axis.
pub const BP_ROWS_POINTS: bp_rows = 2;

/// Options of the distance calls. Make it with bp_default_distance_def.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_distance_def {
    /// Set by bp_default_distance_def.
    pub cookie: u32,
    /// Threads, started for this call: 1 for the calling one alone, 0 for one per core.
    pub threads: u32,
    /// An engine's own threads instead.
    pub executor: bp_executor,
    /// What the rows are; of both lists, if there are two.
    pub rows: bp_rows,
}

/// Distances of boxes, found by the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn bp_default_distance_def() -> bp_distance_def {
    bp_distance_def { cookie: COOKIE, threads: 1, executor: bp_executor::NONE, rows: BP_ROWS_BOXES }
}

/// Two objects by position, and their Euclidean distance.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct bp_near {
    /// The first object, the smaller position if both are of one list.
    pub a: u32,
    /// The second object.
    pub b: u32,
    /// Their distance: 0 if they overlap.
    pub distance: f64,
}

impl bp_near {
    /// No pair.
    const NONE: Self = Self { a: u32::MAX, b: u32::MAX, distance: f64::INFINITY };

    fn new<T: Real>(near: &Near<T>) -> Self {
        Self { a: near.a, b: near.b, distance: near.distance.to_f64() }
    }
}

/// A list of pairs with distances, which belongs to the caller: free it with bp_near_list_free.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_near_list {
    /// The pairs; null if there are none.
    pub pairs: *const bp_near,
    /// How many there are.
    pub count: usize,
    /// What the library frees. Do not change it.
    pub owner: *mut c_void,
}

impl bp_near_list {
    const EMPTY: Self = Self { pairs: std::ptr::null(), count: 0, owner: std::ptr::null_mut() };

    fn new<T: Real>(found: &[Near<T>]) -> Result<Self, Fail> {
        if found.is_empty() {
            return Ok(Self::EMPTY);
        }
        let mut list: Vec<bp_near> = Vec::new();
        list.try_reserve_exact(found.len()).map_err(|_| broadphase::Error::OutOfMemory { what: "pairs" })?;
        list.extend(found.iter().map(bp_near::new));
        let (pairs, count) = (list.as_ptr(), list.len());
        Ok(Self { pairs, count, owner: Box::into_raw(Box::new(list)).cast() })
    }
}

/// The kind of distance search.
#[derive(Clone, Copy)]
enum Question {
    Within(f64, Out<bp_near_list>),
    Nearest(usize, Out<bp_neighbor_list>, bp_format),
    Closest(Out<bp_near>),
}

/// The arguments of a call.
struct Input {
    a: (*const c_void, usize),
    b: Option<(*const c_void, usize)>,
    def: bp_distance_def,
}

/// All pairs of `count` objects that are within `distance` of each other, sorted, with their distances.
///
/// `def` may be null for the defaults (boxes, one thread); `error` may be null. On error the list is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_pairs_within(
    format: bp_format,
    objects: *const c_void,
    count: usize,
    distance: f64,
    def: *const bp_distance_def,
    list: *mut bp_near_list,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let list = empty_list(list)?;
        let input = Input { a: (objects, count), b: None, def: self::def("def", def)? };
        by_format!(format, answer(&input, Question::Within(distance, list)))
    })
}

/// All pairs of an object of `a` and an object of `b` that are within `distance` of each other, as positions in both, sorted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_pairs_within_between(
    format: bp_format,
    a: *const c_void,
    a_count: usize,
    b: *const c_void,
    b_count: usize,
    distance: f64,
    def: *const bp_distance_def,
    list: *mut bp_near_list,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let list = empty_list(list)?;
        let input = Input { a: (a, a_count), b: Some((b, b_count)), def: self::def("def", def)? };
        by_format!(format, answer(&input, Question::Within(distance, list)))
    })
}

/// Frees a list of pairs with distances and empties it. Null and an empty list are fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_near_list_free(list: *mut bp_near_list) {
    let _ = guard(|| {
        if !list.is_null() {
            let list = one_mut("list", list)?;
            free(list.owner.cast::<Vec<bp_near>>());
            *list = bp_near_list::EMPTY;
        }
        Ok(())
    });
}

/// The `k` nearest of each of `count` objects, without itself, nearest first, with distances; of equally near ones, the smaller position first.
/// Fewer than `k` if there are not as many. Free the list with bp_neighbor_list_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_nearest(
    format: bp_format,
    objects: *const c_void,
    count: usize,
    k: usize,
    def: *const bp_distance_def,
    list: *mut bp_neighbor_list,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let list = empty_rows(list)?;
        let input = Input { a: (objects, count), b: None, def: self::def("def", def)? };
        by_format!(format, answer(&input, Question::Nearest(k, list, format)))
    })
}

/// The `k` nearest objects of `b` for each object of `a`, nearest first, as positions in `b`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_nearest_between(
    format: bp_format,
    a: *const c_void,
    a_count: usize,
    b: *const c_void,
    b_count: usize,
    k: usize,
    def: *const bp_distance_def,
    list: *mut bp_neighbor_list,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let list = empty_rows(list)?;
        let input = Input { a: (a, a_count), b: Some((b, b_count)), def: self::def("def", def)? };
        by_format!(format, answer(&input, Question::Nearest(k, list, format)))
    })
}

/// The pair of `count` objects with the smallest distance; of several, the first in sorted order.
///
/// If there is no pair, and on error, both positions are UINT32_MAX and the distance is infinite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_closest_pair(
    format: bp_format,
    objects: *const c_void,
    count: usize,
    def: *const bp_distance_def,
    pair: *mut bp_near,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let pair = no_pair(pair)?;
        let input = Input { a: (objects, count), b: None, def: self::def("def", def)? };
        by_format!(format, answer(&input, Question::Closest(pair)))
    })
}

/// The pair of an object of `a` and an object of `b` with the smallest distance. See bp_closest_pair.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_closest_pair_between(
    format: bp_format,
    a: *const c_void,
    a_count: usize,
    b: *const c_void,
    b_count: usize,
    def: *const bp_distance_def,
    pair: *mut bp_near,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let pair = no_pair(pair)?;
        let input = Input { a: (a, a_count), b: Some((b, b_count)), def: self::def("def", def)? };
        by_format!(format, answer(&input, Question::Closest(pair)))
    })
}

fn empty_list(list: *mut bp_near_list) -> Result<Out<bp_near_list>, Fail> {
    let list = Out::new("list", list)?;
    list.set(bp_near_list::EMPTY);
    Ok(list)
}

fn empty_rows(list: *mut bp_neighbor_list) -> Result<Out<bp_neighbor_list>, Fail> {
    let list = Out::new("list", list)?;
    list.set(bp_neighbor_list::EMPTY);
    Ok(list)
}

fn no_pair(pair: *mut bp_near) -> Result<Out<bp_near>, Fail> {
    let pair = Out::new("pair", pair)?;
    pair.set(bp_near::NONE);
    Ok(pair)
}

fn answer<const D: usize, T: Real>(input: &Input, question: Question) -> Result<(), Fail> {
    match input.def.rows {
        BP_ROWS_BOXES => answer_for::<D, T, Aabb<D, T>>(input, question),
        BP_ROWS_BALLS => answer_for::<D, T, Ball<D, T>>(input, question),
        BP_ROWS_POINTS => answer_for::<D, T, [T; D]>(input, question),
        other => Err(not_one_of("rows", other, "BP_ROWS_BOXES, BP_ROWS_BALLS or BP_ROWS_POINTS")),
    }
}

fn answer_for<const D: usize, T: Real, P: Proximity<D, T> + 'static>(input: &Input, question: Question) -> Result<(), Fail> {
    let name = if input.b.is_some() { "a" } else { "objects" };
    let a: &[P] = rows(name, input.a.0, input.a.1)?;
    let search = match input.b {
        Some((b, count)) => DistanceSearch::between(a, rows("b", b, count)?),
        None => DistanceSearch::new(a),
    };
    let search = search.executor(executor(input.def.threads, &input.def.executor)?);
    match question {
        Question::Within(distance, list) => list.set(bp_near_list::new(&search.within(T::from_f64(distance))?)?),
        Question::Nearest(k, list, format) => list.set(bp_neighbor_list::new(search.nearest(k)?, format)),
        Question::Closest(pair) => pair.set(search.closest_pair()?.as_ref().map_or(bp_near::NONE, bp_near::new)),
    }
    Ok(())
}
