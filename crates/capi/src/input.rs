//! Checks what comes from C (pointers, counts, definitions, texts), and catches panics, in one place.
//!
//! # Requirements on callers
//! Only the exported functions call this module, and all of them are `unsafe`: their callers promise, as the header's introduction demands, that a
//! pointer is null or points to as many elements as its count says, of the type in its declaration, for the whole call. What can be checked is checked
//! here: null, alignment, counts that no array can have, definitions that were not made by their function.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use broadphase::{MAX_OBJECTS, Period, Real, Spec};

#[cfg(not(target_arch = "wasm32"))]
use crate::distance::{bp_default_distance_def, bp_distance_def};
use crate::status::*;
use crate::types::*;

/// Runs a call. A panic becomes a status.
pub(crate) fn guard(call: impl FnOnce() -> Result<(), Fail>) -> Result<(), Fail> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let what = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        let text = format!("an error inside the library, please report it: {}", what.unwrap_or_default());
        Err(Fail::new(BP_INTERNAL_ERROR, "", text))
    })
}

/// Runs a call whose error goes to `error`, if that is not null.
pub(crate) fn report(error: *mut bp_error, call: impl FnOnce() -> Result<(), Fail>) -> bp_status {
    let result = guard(|| {
        if !error.is_null() && !error.is_aligned() {
            return Err(misaligned("error"));
        }
        call()
    });
    let (status, record) = match result {
        Ok(()) => (BP_OK, bp_error::NONE),
        Err(fail) => (fail.status, fail.record()),
    };
    if !error.is_null() && error.is_aligned() {
        // SAFETY: (caller) not null and aligned, so it points to a bp_error that may be written.
        unsafe { error.write(record) };
    }
    status
}

fn misaligned(argument: &'static str) -> Fail {
    Fail::new(BP_MISALIGNED_POINTER, argument, format!("{argument} is not aligned to what it points to"))
}

/// Null or not aligned is an error.
fn check_pointer<X>(argument: &'static str, pointer: *const X) -> Result<(), Fail> {
    if pointer.is_null() {
        return Err(Fail::null(argument));
    }
    if pointer.is_aligned() { Ok(()) } else { Err(misaligned(argument)) }
}

/// Null only where nothing is needed, aligned, and not more than memory or ids allow.
fn check_array<X>(argument: &'static str, pointer: *const X, count: usize) -> Result<(), Fail> {
    let bytes = count.checked_mul(size_of::<X>());
    if count > MAX_OBJECTS || bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
        return Err(Fail::new(BP_INVALID_COUNT, argument, format!("{argument}: there cannot be {count} of them")));
    }
    if count == 0 { Ok(()) } else { check_pointer(argument, pointer) }
}

/// An array that the call reads.
pub(crate) fn items<'a, X>(argument: &'static str, pointer: *const X, count: usize) -> Result<&'a [X], Fail> {
    check_array(argument, pointer, count)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: (caller) not null, aligned, below isize::MAX bytes; the caller promises `count` elements for the whole call.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// An array without a type that the call reads.
pub(crate) fn rows<'a, X>(argument: &'static str, pointer: *const c_void, count: usize) -> Result<&'a [X], Fail> {
    items(argument, pointer.cast(), count)
}

/// An array that the call fills.
pub(crate) fn items_out<'a, X>(argument: &'static str, pointer: *mut X, count: usize) -> Result<&'a mut [X], Fail> {
    check_array(argument, pointer, count)?;
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: (caller) as above, and the caller promises that nothing else uses the array during the call.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, count) })
}

/// One value that the call reads.
pub(crate) fn one<'a, X>(argument: &'static str, pointer: *const X) -> Result<&'a X, Fail> {
    check_pointer(argument, pointer)?;
    // SAFETY: (caller) not null, aligned, and the caller promises that it points to one.
    Ok(unsafe { &*pointer })
}

/// One value that the call changes.
pub(crate) fn one_mut<'a, X>(argument: &'static str, pointer: *mut X) -> Result<&'a mut X, Fail> {
    check_pointer(argument, pointer)?;
    // SAFETY: (caller) as above, and the caller promises that nothing else uses it during the call.
    Ok(unsafe { &mut *pointer })
}

/// Where the call writes one result. It may hold anything before.
#[derive(Clone, Copy)]
pub(crate) struct Out<X>(*mut X);

impl<X> Out<X> {
    pub(crate) fn new(argument: &'static str, pointer: *mut X) -> Result<Self, Fail> {
        check_pointer(argument, pointer)?;
        Ok(Self(pointer))
    }

    pub(crate) fn set(self, value: X) {
        // SAFETY: (caller) checked by `new`; the caller promises that it may be written.
        unsafe { self.0.write(value) };
    }
}

/// Frees what `Box::into_raw` returned; does nothing for null.
pub(crate) fn free<X>(pointer: *mut X) {
    if !pointer.is_null() && pointer.is_aligned() {
        // SAFETY: (caller) the caller promises that it comes from this library and was not freed.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// A text, or `None` if it is null.
pub(crate) fn text<'a>(argument: &'static str, pointer: *const c_char) -> Result<Option<&'a str>, Fail> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: (caller) the caller promises a text that ends with a zero.
    let text = unsafe { CStr::from_ptr(pointer) };
    let bad = || Fail::new(BP_INVALID_ARGUMENT, argument, format!("{argument} is not UTF-8"));
    text.to_str().map(Some).map_err(|_| bad())
}

/// An algorithm by name; null is the default.
pub(crate) fn spec(argument: &'static str, pointer: *const c_char) -> Result<Spec, Fail> {
    text(argument, pointer)?.map_or_else(|| Ok(Spec::default()), |name| Ok(name.parse()?))
}

/// A definition: its first member is the cookie.
///
/// # Safety
/// `cookie` is the first member of a `#[repr(C)]` type.
pub(crate) unsafe trait Definition: Copy {
    /// What to call for the default.
    const MAKER: &'static str;
    /// Itself, with its defaults.
    fn standard() -> Self;
}

macro_rules! definitions {
    ($($def:ident $maker:ident),+ $(,)?) => {$(
        // SAFETY: (cookie first) asserted here.
        unsafe impl Definition for $def {
            const MAKER: &'static str = stringify!($maker);
            fn standard() -> Self {
                $maker()
            }
        }
        const _: () = assert!(std::mem::offset_of!($def, cookie) == 0);
    )+};
}

definitions!(
    bp_world_def bp_default_world_def,
    bp_object_def bp_default_object_def,
    bp_query_def bp_default_query_def,
    bp_search_def bp_default_search_def,
    bp_neighbor_def bp_default_neighbor_def,
    bp_mesh_def bp_default_mesh_def,
);
#[cfg(not(target_arch = "wasm32"))]
definitions!(bp_distance_def bp_default_distance_def);

/// Is the definition at this address one that was made by its function?
fn check_cookie<D: Definition>(argument: &'static str, pointer: *const D) -> Result<(), Fail> {
    // SAFETY: (caller) not null and aligned, checked before; the cookie is the first member.
    if unsafe { pointer.cast::<u32>().read() } != COOKIE {
        let text = format!("{argument} was not made by {}; call it, then change members", D::MAKER);
        return Err(Fail::new(BP_INVALID_DEF, argument, text));
    }
    Ok(())
}

/// A definition, or its default if it is null.
pub(crate) fn def<D: Definition>(argument: &'static str, pointer: *const D) -> Result<D, Fail> {
    if pointer.is_null() {
        return Ok(D::standard());
    }
    check_pointer(argument, pointer)?;
    check_cookie(argument, pointer)?;
    one(argument, pointer).copied()
}

/// Definitions, each made by its function.
pub(crate) fn defs<'a, D: Definition>(argument: &'static str, pointer: *const D, count: usize) -> Result<&'a [D], Fail> {
    check_array(argument, pointer, count)?;
    for position in 0..count {
        check_cookie(argument, pointer.wrapping_add(position)).map_err(|fail| fail.at(position))?;
    }
    items(argument, pointer, count)
}

/// 0 or 1.
pub(crate) fn flag(argument: &'static str, value: u8) -> Result<bool, Fail> {
    match value {
        0 | 1 => Ok(value == 1),
        _ => Err(not_one_of(argument, u32::from(value), "0 or 1")),
    }
}

/// The error for a number that names nothing.
pub(crate) fn not_one_of(argument: &'static str, value: u32, expected: &str) -> Fail {
    Fail::new(BP_INVALID_ARGUMENT, argument, format!("{argument} cannot be {value}; it must be {expected}"))
}

/// A space that repeats, if any length is not 0.
pub(crate) fn period<const D: usize, T: Real>(lengths: &[f64; 3], origin: &[f64; 3]) -> Option<Period<D, T>> {
    if lengths[..D].iter().all(|&length| length == 0.0) {
        return None;
    }
    let axes = std::array::from_fn(|k| (lengths[k] != 0.0).then(|| T::from_f64(lengths[k])));
    Some(Period::axes(axes).with_origin(std::array::from_fn(|k| T::from_f64(origin[k]))))
}

/// Calls a generic function for the format.
macro_rules! by_format {
    ($format:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $format {
            $crate::types::BP_FORMAT_2F => $function::<2, f32>($($argument),*),
            $crate::types::BP_FORMAT_3F => $function::<3, f32>($($argument),*),
            $crate::types::BP_FORMAT_2D => $function::<2, f64>($($argument),*),
            $crate::types::BP_FORMAT_3D => $function::<3, f64>($($argument),*),
            other => Err($crate::input::bad_format(other)),
        }
    };
}
pub(crate) use by_format;

pub(crate) fn bad_format(format: bp_format) -> Fail {
    let text = format!("format {format} is none; it must be BP_FORMAT_2F, BP_FORMAT_3F, BP_FORMAT_2D or BP_FORMAT_3D");
    Fail::new(BP_INVALID_FORMAT, "format", text)
}
