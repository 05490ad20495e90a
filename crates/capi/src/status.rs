//! The status that a call returns, and the record of an error.

use std::ffi::{CStr, c_char};

use broadphase::Error;

/// What a function returns: BP_OK, or why nothing has changed. Numbers are stable.
pub type bp_status = i32;

/// The call did what it says.
pub const BP_OK: bp_status = 0;
/// A box has a NaN corner, or its lower corner is above its upper one.
pub const BP_INVALID_BOX: bp_status = 1;
/// More objects than ids: 2^32 - 2.
pub const BP_TOO_MANY_OBJECTS: bp_status = 2;
/// More pairs than the limit.
pub const BP_TOO_MANY_PAIRS: bp_status = 3;
/// An allocation failed.
pub const BP_OUT_OF_MEMORY: bp_status = 4;
/// The threads could not be started.
pub const BP_THREADS_UNAVAILABLE: bp_status = 5;
/// Lists that do not fit each other.
pub const BP_INVALID_FRAME: bp_status = 6;
/// Two lists that belong together have different lengths.
pub const BP_COUNT_MISMATCH: bp_status = 7;
/// An argument is not one that the call takes.
pub const BP_INVALID_ARGUMENT: bp_status = 8;
/// An id whose object was removed, or of another world, or the null id.
pub const BP_STALE_HANDLE: bp_status = 9;
/// A margin that is negative, infinite or NaN.
pub const BP_INVALID_MARGIN: bp_status = 10;
/// A query that has no meaning, such as a ray of zero direction.
pub const BP_INVALID_QUERY: bp_status = 11;
/// A snapshot of another version, or of a world of another format.
pub const BP_FOREIGN_SNAPSHOT: bp_status = 12;
/// A snapshot that is broken.
pub const BP_INVALID_SNAPSHOT: bp_status = 13;
/// No algorithm has that name.
pub const BP_UNKNOWN_ALGORITHM: bp_status = 14;
/// The algorithm, or the function, is not part of this build.
pub const BP_MISSING_FEATURE: bp_status = 15;
/// The algorithm has no such option.
pub const BP_UNKNOWN_OPTION: bp_status = 16;
/// An option's value is not one that it takes.
pub const BP_INVALID_OPTION: bp_status = 17;
/// The call was cancelled.
pub const BP_CANCELLED: bp_status = 18;
/// A point with a coordinate that is NaN, or infinite where that has no meaning.
pub const BP_INVALID_POINT: bp_status = 19;
/// A number that the argument does not take.
pub const BP_INVALID_VALUE: bp_status = 20;
/// A list that must be as long as another one, and is not.
pub const BP_WRONG_LENGTH: bp_status = 21;
/// In a periodic space: a box that is longer than half the period.
pub const BP_BOX_TOO_LONG: bp_status = 22;
/// An edge or face of a mesh names a vertex that does not exist.
pub const BP_INVALID_ELEMENT: bp_status = 23;
/// The algorithm does not suit the objects.
pub const BP_UNSUITED: bp_status = 24;
/// A pointer is null where there must be something.
pub const BP_NULL_POINTER: bp_status = 100;
/// A pointer is not aligned to what it points to.
pub const BP_MISALIGNED_POINTER: bp_status = 101;
/// A count that no array in memory can have.
pub const BP_INVALID_COUNT: bp_status = 102;
/// A format that is none of BP_FORMAT_*, or another one than that of the object.
pub const BP_INVALID_FORMAT: bp_status = 103;
/// A definition that was not made by its bp_default_... function.
pub const BP_INVALID_DEF: bp_status = 104;
/// An error inside the library. Please report it. The object that was called can only be destroyed.
pub const BP_INTERNAL_ERROR: bp_status = 105;
/// An error that this version of the header has no number for.
pub const BP_OTHER_ERROR: bp_status = 106;

/// Every status with its name; those of the library are the codes of `broadphase::Error`.
pub(crate) const NAMES: &[(bp_status, &CStr)] = &[
    (BP_OK, c"ok"),
    (BP_INVALID_BOX, c"invalid-box"),
    (BP_TOO_MANY_OBJECTS, c"too-many-objects"),
    (BP_TOO_MANY_PAIRS, c"too-many-pairs"),
    (BP_OUT_OF_MEMORY, c"out-of-memory"),
    (BP_THREADS_UNAVAILABLE, c"threads-unavailable"),
    (BP_INVALID_FRAME, c"invalid-frame"),
    (BP_COUNT_MISMATCH, c"count-mismatch"),
    (BP_INVALID_ARGUMENT, c"invalid-argument"),
    (BP_STALE_HANDLE, c"stale-handle"),
    (BP_INVALID_MARGIN, c"invalid-margin"),
    (BP_INVALID_QUERY, c"invalid-query"),
    (BP_FOREIGN_SNAPSHOT, c"foreign-snapshot"),
    (BP_INVALID_SNAPSHOT, c"invalid-snapshot"),
    (BP_UNKNOWN_ALGORITHM, c"unknown-algorithm"),
    (BP_MISSING_FEATURE, c"missing-feature"),
    (BP_UNKNOWN_OPTION, c"unknown-option"),
    (BP_INVALID_OPTION, c"invalid-option"),
    (BP_CANCELLED, c"cancelled"),
    (BP_INVALID_POINT, c"invalid-point"),
    (BP_INVALID_VALUE, c"invalid-value"),
    (BP_WRONG_LENGTH, c"wrong-length"),
    (BP_BOX_TOO_LONG, c"box-too-long"),
    (BP_INVALID_ELEMENT, c"invalid-element"),
    (BP_UNSUITED, c"unsuited"),
    (BP_NULL_POINTER, c"null-pointer"),
    (BP_MISALIGNED_POINTER, c"misaligned-pointer"),
    (BP_INVALID_COUNT, c"invalid-count"),
    (BP_INVALID_FORMAT, c"invalid-format"),
    (BP_INVALID_DEF, c"invalid-def"),
    (BP_INTERNAL_ERROR, c"internal-error"),
    (BP_OTHER_ERROR, c"other-error"),
];

/// The name of a status, such as "invalid-box"; "unknown-status" for a number that is none. Never null.
#[unsafe(no_mangle)]
pub extern "C" fn bp_status_name(status: bp_status) -> *const c_char {
    NAMES.iter().find(|entry| entry.0 == status).map_or(c"unknown-status", |entry| entry.1).as_ptr()
}

/// bp_error.object if the error is not about one object.
pub const BP_NO_OBJECT: u64 = u64::MAX;

/// Details of an error.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_error {
    /// BP_OK if there was none.
    pub status: bp_status,
    /// The axis that is wrong: 0 for x, 1 for y, 2 for z; -1 if there is none.
    pub axis: i32,
    /// The object that is wrong: its position in the list that was handed over; for an id, its index; BP_NO_OBJECT if there is none.
    pub object: u64,
    /// The argument that is wrong, where a call takes several; otherwise empty.
    pub argument: [c_char; 32],
    /// What was wrong and what to do, as one line for people.
    pub text: [c_char; 256],
}

impl bp_error {
    pub(crate) const NONE: Self = Self { status: BP_OK, axis: -1, object: BP_NO_OBJECT, argument: [0; 32], text: [0; 256] };
}

/// An error on its way to the caller.
#[derive(Debug)]
pub(crate) struct Fail {
    pub(crate) status: bp_status,
    axis: Option<usize>,
    object: Option<usize>,
    argument: Option<&'static str>,
    text: String,
}

impl Fail {
    /// An error that only this interface can have.
    pub(crate) fn new(status: bp_status, argument: &'static str, text: String) -> Self {
        Self { status, axis: None, object: None, argument: Some(argument), text }
    }

    /// The same error, at a position of a list.
    pub(crate) fn at(mut self, position: usize) -> Self {
        self.object = Some(position);
        self
    }

    pub(crate) fn null(argument: &'static str) -> Self {
        Self::new(BP_NULL_POINTER, argument, format!("{argument} is null; it must point to something"))
    }

    pub(crate) fn record(&self) -> bp_error {
        let mut error = bp_error {
            status: self.status,
            axis: self.axis.map_or(-1, |axis| axis as i32),
            object: self.object.map_or(BP_NO_OBJECT, |object| object as u64),
            ..bp_error::NONE
        };
        copy_text(self.argument.unwrap_or_default(), &mut error.argument);
        copy_text(&self.text, &mut error.text);
        error
    }
}

impl From<Error> for Fail {
    fn from(error: Error) -> Self {
        let code = error.code();
        let status = NAMES.iter().find(|entry| entry.1.to_bytes() == code.as_bytes()).map_or(BP_OTHER_ERROR, |entry| entry.0);
        Self { status, axis: error.axis(), object: error.index(), argument: error.argument(), text: error.to_string() }
    }
}

/// As much of a text as fits, in whole characters, and a zero.
fn copy_text(text: &str, to: &mut [c_char]) {
    let mut end = text.len().min(to.len() - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    to.fill(0);
    to.iter_mut().zip(text[..end].bytes()).for_each(|(to, byte)| *to = byte as c_char);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique() {
        for (at, entry) in NAMES.iter().enumerate() {
            assert!(NAMES[..at].iter().all(|other| other.0 != entry.0 && other.1 != entry.1), "{entry:?}");
        }
    }

    #[test]
    fn errors_of_the_library_have_a_number() {
        for error in [
            Error::TooManyPairs { limit: 3 },
            Error::Cancelled,
            Error::InvalidQuery { reason: "" },
            Error::CountMismatch { what: "", expected: 1, found: 2 },
            Error::StaleHandle { index: 7, generation: 1 },
        ] {
            let fail = Fail::from(error);
            assert_ne!(fail.status, BP_OTHER_ERROR, "{fail:?}");
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        let mut to = [1; 4];
        copy_text("aé€", &mut to);
        assert_eq!(to.map(|c| c as u8), [b'a', 0xc3, 0xa9, 0]);
        copy_text("aaé", &mut to);
        assert_eq!(to.map(|c| c as u8), [b'a', b'a', 0, 0]);
    }
}
