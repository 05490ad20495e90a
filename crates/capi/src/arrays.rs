//! Boxes and points in arrays: one call, one list.

use std::ffi::c_void;

use broadphase::{Aabb, NeighborSearch, Neighbors, Pair, Real, Search, Shape, Tag};

use crate::executor::executor;
use crate::input::*;
use crate::status::*;
use crate::types::*;

/// A list of pairs, which belongs to the caller: free it with bp_pair_list_free.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_pair_list {
    /// The pairs; null if there are none.
    pub pairs: *const bp_pair,
    /// How many there are.
    pub count: usize,
    /// What the library frees. Do not change it.
    pub owner: *mut c_void,
}

impl bp_pair_list {
    pub(crate) const EMPTY: Self = Self { pairs: std::ptr::null(), count: 0, owner: std::ptr::null_mut() };

    fn new(list: Vec<Pair>) -> Self {
        if list.is_empty() {
            return Self::EMPTY;
        }
        let (pairs, count) = (list.as_ptr().cast(), list.len());
        Self { pairs, count, owner: Box::into_raw(Box::new(list)).cast() }
    }
}

/// All overlapping pairs of `count` boxes, as positions, sorted.
///
/// `def` may be null for the defaults; `error` may be null. On error the list is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_pairs(
    format: bp_format,
    boxes: *const c_void,
    count: usize,
    def: *const bp_search_def,
    list: *mut bp_pair_list,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let list = Out::new("list", list)?;
        list.set(bp_pair_list::EMPTY);
        let input = Input { boxes, count, second: None, def: self::def("def", def)? };
        list.set(bp_pair_list::new(by_format!(format, list_pairs(&input))?));
        Ok(())
    })
}

/// All overlapping pairs of a box of `a` and a box of `b`, as positions in both, sorted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_pairs_between(
    format: bp_format,
    a: *const c_void,
    a_count: usize,
    b: *const c_void,
    b_count: usize,
    def: *const bp_search_def,
    list: *mut bp_pair_list,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let list = Out::new("list", list)?;
        list.set(bp_pair_list::EMPTY);
        let input = Input { boxes: a, count: a_count, second: Some((b, b_count)), def: self::def("def", def)? };
        list.set(bp_pair_list::new(by_format!(format, list_pairs(&input))?));
        Ok(())
    })
}

/// The number of overlapping pairs of `count` boxes; no list is made.
#[cfg(not(target_arch = "wasm32"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_count_pairs(
    format: bp_format,
    boxes: *const c_void,
    count: usize,
    def: *const bp_search_def,
    pair_count: *mut u64,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let pair_count = Out::new("pair_count", pair_count)?;
        let input = Input { boxes, count, second: None, def: self::def("def", def)? };
        pair_count.set(by_format!(format, count_pairs(&input))?);
        Ok(())
    })
}

/// The number of overlapping pairs of a box of `a` and a box of `b`.
#[cfg(not(target_arch = "wasm32"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_count_pairs_between(
    format: bp_format,
    a: *const c_void,
    a_count: usize,
    b: *const c_void,
    b_count: usize,
    def: *const bp_search_def,
    pair_count: *mut u64,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let pair_count = Out::new("pair_count", pair_count)?;
        let input = Input { boxes: a, count: a_count, second: Some((b, b_count)), def: self::def("def", def)? };
        pair_count.set(by_format!(format, count_pairs(&input))?);
        Ok(())
    })
}

/// Frees a list of pairs and empties it. Null and an empty list are fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_pair_list_free(list: *mut bp_pair_list) {
    let _ = guard(|| {
        if !list.is_null() {
            let list = one_mut("list", list)?;
            free(list.owner.cast::<Vec<Pair>>());
            *list = bp_pair_list::EMPTY;
        }
        Ok(())
    });
}

/// The result that a search returns.
struct Input {
    boxes: *const c_void,
    count: usize,
    second: Option<(*const c_void, usize)>,
    def: bp_search_def,
}

fn list_pairs<const D: usize, T: Real>(input: &Input) -> Result<Vec<Pair>, Fail> {
    Ok(search::<D, T>(input)?.list()?)
}

#[cfg(not(target_arch = "wasm32"))]
fn count_pairs<const D: usize, T: Real>(input: &Input) -> Result<u64, Fail> {
    Ok(search::<D, T>(input)?.count()?)
}

/// A user pointer that a callback gets on any thread, as the header says.
#[derive(Clone, Copy)]
pub(crate) struct User(pub(crate) *mut c_void);

// SAFETY: (caller) the header says that callbacks are called from any thread of the definition.
unsafe impl Send for User {}
// SAFETY: (caller) as above.
unsafe impl Sync for User {}

impl User {
    /// The pointer; as a method, so that closures capture the whole.
    pub(crate) fn pointer(self) -> *mut c_void {
        self.0
    }
}

fn search<const D: usize, T: Real>(input: &Input) -> Result<Search<'static, D, T>, Fail> {
    let Input { boxes, count, second, def } = input;
    let name = if second.is_some() { "a" } else { "boxes" };
    let a: &'static [Aabb<D, T>] = rows(name, *boxes, *count)?;
    let mut search = match *second {
        Some((b, count)) => Search::between(a, rows::<Aabb<D, T>>("b", b, count)?),
        None => Search::new(a),
    };
    if !def.tags.is_null() {
        search = search.tags(tags("tags", def.tags, *count)?);
    }
    if let (Some((_, count)), false) = (second, def.tags_b.is_null()) {
        search = search.tags_b(tags("tags_b", def.tags_b, *count)?);
    }
    search = search
        .algorithm(spec("algorithm", def.algorithm)?)
        .executor(executor(def.threads, &def.executor)?)
        .shape(shape("shape", def.shape)?)
        .margin(T::from_f64(def.margin))
        .sort(!flag("unsorted", def.unsorted)?)
        .limit(def.pair_limit);
    if flag("half_open", def.half_open)? {
        search = search.half_open();
    }
    if let Some(period) = period(&def.period, &def.period_origin) {
        search = search.periodic(period);
    }
    if let Some(keep) = def.keep {
        let user = User(def.keep_user);
        // SAFETY: (caller) a function of the header's type, with the user pointer that came with it.
        search = search.filter(move |pair| unsafe { keep(user.pointer(), bp_pair { a: pair.a, b: pair.b }) } != 0);
    }
    Ok(search)
}

fn tags(argument: &'static str, pointer: *const bp_tag, count: usize) -> Result<&'static [Tag], Fail> {
    items(argument, pointer.cast(), count)
}

/// A box or a ball.
pub(crate) fn shape(argument: &'static str, shape: bp_shape) -> Result<Shape, Fail> {
    match shape {
        BP_SHAPE_BOX => Ok(Shape::Box),
        BP_SHAPE_BALL => Ok(Shape::Ball),
        other => Err(not_one_of(argument, other, "BP_SHAPE_BOX or BP_SHAPE_BALL")),
    }
}

/// The neighbors of each point, which belong to the caller: free them with bp_neighbor_list_free.
///
/// Those of point `i` are `indices[offsets[i]] .. indices[offsets[i + 1]]`, ascending (of bp_nearest: nearest first).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_neighbor_list {
    /// Where each row starts, and the end of the last: `point_count + 1` numbers.
    pub offsets: *const usize,
    /// The neighbors, row after row; null if there are none.
    pub indices: *const u32,
    /// Their distances, in the scalar of the points, if requested; otherwise null.
    pub distances: *const c_void,
    /// The number of points.
    pub point_count: usize,
    /// The number of all neighbors.
    pub count: usize,
    /// What the library frees. Do not change it.
    pub owner: *mut c_void,
    /// The format of the points, which the library frees by.
    pub format: bp_format,
}

impl bp_neighbor_list {
    pub(crate) const EMPTY: Self = Self {
        offsets: std::ptr::null(),
        indices: std::ptr::null(),
        distances: std::ptr::null(),
        point_count: 0,
        count: 0,
        owner: std::ptr::null_mut(),
        format: BP_FORMAT_2F,
    };

    /// Rows of points, or other objects, of a format.
    pub(crate) fn new<T: Real>(found: Neighbors<T>, format: bp_format) -> Self {
        let found = Box::new(found);
        Self {
            offsets: found.offsets.as_ptr(),
            indices: if found.indices.is_empty() { std::ptr::null() } else { found.indices.as_ptr() },
            distances: if found.distances.is_empty() { std::ptr::null() } else { found.distances.as_ptr().cast() },
            point_count: found.len(),
            count: found.indices.len(),
            format,
            owner: Box::into_raw(found).cast(),
        }
    }
}

/// The neighbors of each of `count` points within `radius`, as compressed rows.
///
/// `def` may be null for the defaults; `error` may be null. On error the list is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_neighbors(
    format: bp_format,
    points: *const c_void,
    count: usize,
    radius: f64,
    def: *const bp_neighbor_def,
    list: *mut bp_neighbor_list,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let list = Out::new("list", list)?;
        list.set(bp_neighbor_list::EMPTY);
        let def = self::def("def", def)?;
        list.set(by_format!(format, neighbors(format, points, count, radius, &def))?);
        Ok(())
    })
}

/// Frees a list of neighbors and empties it. Null and an empty list are fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_neighbor_list_free(list: *mut bp_neighbor_list) {
    let _ = guard(|| {
        if !list.is_null() {
            let list = one_mut("list", list)?;
            match list.format {
                BP_FORMAT_2D | BP_FORMAT_3D => free(list.owner.cast::<Neighbors<f64>>()),
                _ => free(list.owner.cast::<Neighbors<f32>>()),
            }
            *list = bp_neighbor_list::EMPTY;
        }
        Ok(())
    });
}

fn neighbors<const D: usize, T: Real>(
    format: bp_format,
    points: *const c_void,
    count: usize,
    radius: f64,
    def: &bp_neighbor_def,
) -> Result<bp_neighbor_list, Fail> {
    let points = rows::<[T; D]>("points", points, count)?;
    let mut search = NeighborSearch::new(points, T::from_f64(radius)).executor(executor(def.threads, &def.executor)?);
    if let Some(period) = period(&def.period, &def.period_origin) {
        search = search.periodic(period);
    }
    if flag("half", def.half)? {
        search = search.half();
    }
    if flag("distances", def.distances)? {
        search = search.distances();
    }
    Ok(bp_neighbor_list::new(search.list()?, format))
}
