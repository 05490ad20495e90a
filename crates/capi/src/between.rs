//! Two lists that move from frame to frame.

use std::ffi::c_void;

use broadphase::{Between, Pair, Real};

use crate::executor::context;
use crate::input::*;
use crate::object::{Keeper, call, last_error};
use crate::status::*;
use crate::types::*;

/// Pairs of two lists that move from frame to frame, with what started and what ended.
#[derive(Debug)]
pub struct bp_between(Keeper<AnyBetween>);

#[derive(Debug)]
enum AnyBetween {
    F2(Between<2, f32>),
    F3(Between<3, f32>),
    D2(Between<2, f64>),
    D3(Between<3, f64>),
}

/// The pairs of a frame, as positions in both lists, each sorted. They belong to the bp_between, and stay until its next update.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_between_pairs {
    /// All pairs.
    pub pairs: *const bp_pair,
    /// How many there are.
    pub pair_count: usize,
    /// The pairs that the frame before did not have.
    pub started: *const bp_pair,
    /// How many there are.
    pub started_count: usize,
    /// The pairs that only the frame before had.
    pub ended: *const bp_pair,
    /// How many there are.
    pub ended_count: usize,
}

/// Makes two empty lists, to be destroyed with bp_between_destroy. `def` may be null for the defaults; only its algorithm, threads or executor, and
/// limit of pairs are used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_between_create(
    format: bp_format,
    def: *const bp_search_def,
    between: *mut *mut bp_between,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let between = Out::new("between", between)?;
        between.set(std::ptr::null_mut());
        let def = self::def("def", def)?;
        let made = match format {
            BP_FORMAT_2F => AnyBetween::F2(make(&def)?),
            BP_FORMAT_3F => AnyBetween::F3(make(&def)?),
            BP_FORMAT_2D => AnyBetween::D2(make(&def)?),
            BP_FORMAT_3D => AnyBetween::D3(make(&def)?),
            other => return Err(bad_format(other)),
        };
        between.set(Box::into_raw(Box::new(bp_between(Keeper::new(made)))));
        Ok(())
    })
}

fn make<const D: usize, T: Real>(def: &bp_search_def) -> Result<Between<D, T>, Fail> {
    let mut made = Between::with(&spec("algorithm", def.algorithm)?, context(def.threads, &def.executor)?)?;
    made.set_limit(def.pair_limit);
    Ok(made)
}

/// The next frame: all pairs of a box of `a` and a box of `b`, and what started and ended. On error those of the last frame stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_between_update(
    between: *mut bp_between,
    a: *const c_void,
    a_count: usize,
    b: *const c_void,
    b_count: usize,
    found: *mut bp_between_pairs,
) -> bp_status {
    call(
        between,
        "between",
        |between| &between.0,
        |between| {
            let out = Out::new("found", found)?;
            let (a, b) = ((a, a_count), (b, b_count));
            let found = match between {
                AnyBetween::F2(between) => update(between, a, b)?,
                AnyBetween::F3(between) => update(between, a, b)?,
                AnyBetween::D2(between) => update(between, a, b)?,
                AnyBetween::D3(between) => update(between, a, b)?,
            };
            out.set(found);
            Ok(())
        },
    )
}

fn update<const D: usize, T: Real>(
    between: &mut Between<D, T>,
    a: (*const c_void, usize),
    b: (*const c_void, usize),
) -> Result<bp_between_pairs, Fail> {
    between.update(rows("a", a.0, a.1)?, rows("b", b.0, b.1)?)?;
    let list = |list: &[Pair]| (list.as_ptr().cast(), list.len());
    let ((pairs, pair_count), (started, started_count)) = (list(between.pairs()), list(between.started()));
    let (ended, ended_count) = list(between.ended());
    Ok(bp_between_pairs { pairs, pair_count, started, started_count, ended, ended_count })
}

/// The last error of these lists; BP_OK if their last call had none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_between_last_error(between: *const bp_between, error: *mut bp_error) -> bp_status {
    last_error(between, "between", |between| &between.0, error)
}

/// Frees both lists and their pairs. Null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_between_destroy(between: *mut bp_between) {
    let _ = guard(|| {
        free(between);
        Ok(())
    });
}
