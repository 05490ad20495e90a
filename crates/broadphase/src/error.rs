//! The errors of the crate: one enum with stable codes, and the violations that validators report.

use std::fmt;

/// What is wrong with a box on one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxFault {
    /// A corner is NaN.
    NotANumber,
    /// The lower corner is above the upper one.
    MinAboveMax,
}

/// Every error of this crate. After an error, the objects are as they were before the call, and what returned it stays usable.
///
/// [`Error::code`] is stable and meant for programs; the text is meant for people and says what to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A box has a NaN corner, or its lower corner is above its upper one.
    InvalidBox {
        /// Its position in the list that was passed; in a frame, its slot; for an object of a world, its handle's index.
        /// `None` if a single box was passed, as to [`World::insert`](crate::World::insert).
        index: Option<usize>,
        /// 0 for x, 1 for y, 2 for z.
        axis: usize,
        /// What is wrong there.
        fault: BoxFault,
    },
    /// There are more objects than ids.
    TooManyObjects {
        /// How many there are, or would be.
        count: usize,
        /// How many are possible.
        limit: usize,
    },
    /// More pairs than the limit.
    TooManyPairs {
        /// The limit, as set with `World::set_pair_limit`, `PairStore::set_limit` or `Search::limit`.
        limit: u64,
    },
    /// An allocation failed.
    OutOfMemory {
        /// What the memory was for.
        what: &'static str,
    },
    /// The threads of a pool could not be started.
    ThreadsUnavailable {
        /// How many were requested; 0 means one per core.
        requested: usize,
    },
    /// A list of changes or tags does not fit the frame, or a list of probe ids the probes.
    InvalidFrame {
        /// The offending slot, or the number of probe ids.
        index: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A list of boxes for a [`World`](crate::World) does not have one for each mover, or for each of their slots. Other lists:
    /// [`WrongLength`](Error::WrongLength).
    CountMismatch {
        /// What is counted, in the plural, such as "boxes".
        what: &'static str,
        /// How many are needed.
        expected: usize,
        /// How many were passed.
        found: usize,
    },
    /// An argument of [`World`](crate::World) or [`UpdateIntervals`](crate::UpdateIntervals) has a value that is not accepted, here as text. Single
    /// numbers of other calls, and periods: [`InvalidValue`](Error::InvalidValue).
    InvalidArgument {
        /// The argument's name.
        argument: &'static str,
        /// The value, as given.
        value: String,
        /// The values that are accepted.
        expected: &'static str,
    },
    /// A handle whose object was removed, or that belongs to another world.
    StaleHandle {
        /// The handle's index.
        index: u32,
        /// The handle's generation.
        generation: u32,
    },
    /// A margin that is negative, infinite or NaN.
    InvalidMargin {
        /// The object's position in the list that was passed, or its handle's index; `None` for a single new object and for the world's margin.
        index: Option<u32>,
        /// The margin, as given.
        margin: f64,
    },
    /// An invalid query, such as a ray with a zero direction.
    InvalidQuery {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A snapshot that was made by another version of this library, or for another kind of world.
    ForeignSnapshot {
        /// The snapshot's version, dimension and scalar.
        found: String,
        /// Those that this world reads.
        expected: String,
    },
    /// A snapshot that is broken: cut short, or changed.
    InvalidSnapshot {
        /// What is wrong with it.
        reason: String,
    },
    /// No algorithm has that name.
    UnknownAlgorithm {
        /// The name, as given.
        name: String,
        /// The most similar name that exists.
        nearest: &'static str,
    },
    /// The algorithm is not part of this build.
    MissingFeature {
        /// The algorithm.
        algorithm: &'static str,
        /// The feature of the crate that has it.
        feature: &'static str,
    },
    /// The algorithm has no such option.
    UnknownOption {
        /// The algorithm.
        algorithm: &'static str,
        /// The option, as given.
        option: String,
        /// The options that it has.
        known: String,
    },
    /// An option has a value that the algorithm does not accept.
    InvalidOption {
        /// The algorithm.
        algorithm: &'static str,
        /// The option.
        option: &'static str,
        /// The value, as given.
        value: String,
        /// The values that are accepted.
        expected: String,
    },
    /// The caller cancelled the call; see [`Cancel`](crate::Cancel).
    Cancelled,
    /// A point with a NaN coordinate, or with an infinite one where that has no meaning.
    InvalidPoint {
        /// Its position in the list that was passed.
        index: usize,
        /// 0 for x, 1 for y, 2 for z.
        axis: usize,
        /// The coordinate, as given.
        value: f64,
    },
    /// A number, or a number for an axis, is out of its range. Other values: [`InvalidArgument`](Error::InvalidArgument).
    InvalidValue {
        /// The argument's name.
        argument: &'static str,
        /// The axis, if the argument has one value per axis.
        axis: Option<usize>,
        /// The value, as given.
        value: f64,
        /// The values that are accepted.
        expected: &'static str,
    },
    /// A list argument is not as long as the list that it belongs to. The boxes of a world: [`CountMismatch`](Error::CountMismatch).
    WrongLength {
        /// The argument's name.
        argument: &'static str,
        /// Its length.
        found: usize,
        /// The length that it must have.
        expected: usize,
    },
    /// In a periodic space: a box that is longer than half the period.
    BoxTooLong {
        /// Its position in the list that was passed; in a frame, its slot; for an object of a world, its handle's index.
        index: usize,
        /// The axis on which it is too long.
        axis: usize,
        /// Its length there, margins included.
        length: f64,
        /// The period of that axis.
        period: f64,
    },
    /// An edge or face of a mesh names a vertex that does not exist.
    InvalidElement {
        /// `edges` or `faces`.
        argument: &'static str,
        /// The position of the edge or face.
        index: usize,
        /// The vertex that it names.
        vertex: u32,
        /// The number of vertices.
        vertices: usize,
    },
    /// An error in one of several lists that were passed.
    Argument {
        /// The list's name.
        name: &'static str,
        /// What is wrong in it.
        error: Box<Error>,
    },
    /// The algorithm does not suit the frame (its dimension, its shapes, its sizes).
    Unsuited {
        /// The algorithm.
        algorithm: &'static str,
        /// Why not.
        reason: &'static str,
    },
}

impl Error {
    /// A stable name for programs and bindings.
    ///
    /// ```
    /// assert_eq!(broadphase::Error::TooManyPairs { limit: 8 }.code(), "too-many-pairs");
    /// ```
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidBox { .. } => "invalid-box",
            Error::TooManyObjects { .. } => "too-many-objects",
            Error::TooManyPairs { .. } => "too-many-pairs",
            Error::OutOfMemory { .. } => "out-of-memory",
            Error::ThreadsUnavailable { .. } => "threads-unavailable",
            Error::InvalidFrame { .. } => "invalid-frame",
            Error::CountMismatch { .. } => "count-mismatch",
            Error::InvalidArgument { .. } => "invalid-argument",
            Error::StaleHandle { .. } => "stale-handle",
            Error::InvalidMargin { .. } => "invalid-margin",
            Error::InvalidQuery { .. } => "invalid-query",
            Error::ForeignSnapshot { .. } => "foreign-snapshot",
            Error::InvalidSnapshot { .. } => "invalid-snapshot",
            Error::UnknownAlgorithm { .. } => "unknown-algorithm",
            Error::MissingFeature { .. } => "missing-feature",
            Error::UnknownOption { .. } => "unknown-option",
            Error::InvalidOption { .. } => "invalid-option",
            Error::Cancelled => "cancelled",
            Error::InvalidPoint { .. } => "invalid-point",
            Error::InvalidValue { .. } => "invalid-value",
            Error::WrongLength { .. } => "wrong-length",
            Error::BoxTooLong { .. } => "box-too-long",
            Error::InvalidElement { .. } => "invalid-element",
            Error::Argument { error, .. } => error.code(),
            Error::Unsuited { .. } => "unsuited",
        }
    }

    /// The name of the wrong argument: of [`InvalidValue`](Error::InvalidValue), [`InvalidArgument`](Error::InvalidArgument),
    /// [`WrongLength`](Error::WrongLength), [`InvalidElement`](Error::InvalidElement) and [`Argument`](Error::Argument). `None` for other errors.
    pub fn argument(&self) -> Option<&'static str> {
        match self {
            Error::InvalidValue { argument, .. }
            | Error::InvalidArgument { argument, .. }
            | Error::WrongLength { argument, .. }
            | Error::InvalidElement { argument, .. } => Some(argument),
            Error::Argument { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The position of the wrong object, if the error is about one.
    ///
    /// ```
    /// use broadphase::{Aabb, pairs_between};
    /// let error = pairs_between(&[Aabb::point([0.0, 0.0])], &[Aabb::point([0.0, f64::NAN])]).unwrap_err();
    /// assert_eq!((error.code(), error.argument(), error.index(), error.axis()), ("invalid-box", Some("b"), Some(0), Some(1)));
    /// ```
    pub fn index(&self) -> Option<usize> {
        match self {
            Error::InvalidBox { index, .. } => *index,
            Error::InvalidFrame { index, .. }
            | Error::InvalidPoint { index, .. }
            | Error::BoxTooLong { index, .. }
            | Error::InvalidElement { index, .. } => Some(*index),
            Error::StaleHandle { index, .. } => Some(*index as usize),
            Error::InvalidMargin { index, .. } => index.map(|index| index as usize),
            Error::Argument { error, .. } => error.index(),
            _ => None,
        }
    }

    /// The axis on which something is wrong, if the error is about one: 0 for x, 1 for y, 2 for z.
    pub fn axis(&self) -> Option<usize> {
        match self {
            Error::InvalidBox { axis, .. } | Error::InvalidPoint { axis, .. } | Error::BoxTooLong { axis, .. } => Some(*axis),
            Error::InvalidValue { axis, .. } => *axis,
            Error::Argument { error, .. } => error.axis(),
            _ => None,
        }
    }

    /// The same error, attributed to the argument `name`. Missing memory is not the fault of an argument, and there may be none for the attribution.
    pub(crate) fn in_argument(self, name: &'static str) -> Self {
        match self {
            Error::OutOfMemory { .. } => self,
            error => Error::Argument { name, error: Box::new(error) },
        }
    }
}

/// `x`, `y`, `z`, then numbers.
fn axis_name(axis: usize) -> String {
    ["x", "y", "z"].get(axis).map_or_else(|| axis.to_string(), |name| (*name).to_string())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InvalidBox { index, axis, fault } => write_invalid_box(f, *index, *axis, *fault),
            Error::TooManyObjects { count, limit } => {
                write!(f, "{count} objects are more than the {limit} that ids can name; split them into several worlds")
            }
            Error::TooManyPairs { limit } => {
                write!(f, "more than {limit} pairs; raise the limit with World::set_pair_limit or PairStore::set_limit")
            }
            Error::OutOfMemory { what } => write!(f, "out of memory for {what}"),
            Error::ThreadsUnavailable { requested: 0 } => {
                write!(f, "a thread pool with one thread per core could not be started; ask for fewer threads")
            }
            Error::ThreadsUnavailable { requested } => {
                write!(f, "a thread pool of {requested} threads could not be started; ask for fewer")
            }
            Error::InvalidFrame { index, reason } => write!(f, "slot {index}: {reason}"),
            Error::CountMismatch { what, expected, found } => write!(f, "{found} {what} were given, but {expected} are needed"),
            Error::InvalidArgument { argument, value, expected } => {
                write!(f, "{argument} cannot be {value}; it must be {expected}")
            }
            Error::StaleHandle { index, generation } => {
                write!(f, "handle {index} of generation {generation} is stale: its object was removed, or it is another world's")
            }
            Error::InvalidMargin { index, margin } => write_invalid_margin(f, *index, *margin),
            Error::InvalidQuery { reason } => write!(f, "the query is invalid: {reason}"),
            Error::ForeignSnapshot { found, expected } => write!(f, "the snapshot is of {found}; this world reads {expected}"),
            Error::InvalidSnapshot { reason } => write!(f, "the snapshot is broken: {reason}"),
            Error::UnknownAlgorithm { name, nearest } => write!(f, "no algorithm is called '{name}'; did you mean '{nearest}'?"),
            Error::MissingFeature { algorithm, feature } => {
                write!(f, "{algorithm} is not part of this build; add the feature '{feature}' of the crate broadphase")
            }
            Error::UnknownOption { algorithm, option, known } => {
                write!(f, "{algorithm} has no option '{option}'; it has {known}")
            }
            Error::InvalidOption { algorithm, option, value, expected } => {
                write!(f, "{algorithm}: option {option} cannot be '{value}'; it takes {expected}")
            }
            Error::Cancelled => write!(f, "the call was cancelled"),
            Error::InvalidPoint { index, axis, value } => {
                write!(f, "point {index}: {value} on axis {} is not allowed; remove the point or repair it", axis_name(*axis))
            }
            Error::InvalidValue { argument, axis, value, expected } => write_invalid_value(f, argument, *axis, *value, expected),
            Error::WrongLength { argument, found, expected } => {
                write!(f, "{argument}: there are {found}, but there must be {expected}")
            }
            Error::BoxTooLong { index, axis, length, period } => {
                write!(f, "object {index}: {length} on axis {} is more than half the period of {period}", axis_name(*axis))?;
                write!(f, "; cut it into shorter boxes")
            }
            Error::InvalidElement { argument, index, vertex, vertices } => {
                write!(f, "{argument}: number {index} names vertex {vertex}, but there are {vertices} vertices")
            }
            Error::Argument { name, error } => write!(f, "{name}: {error}"),
            Error::Unsuited { algorithm, reason } => write!(f, "{algorithm} does not suit this frame: {reason}"),
        }
    }
}

fn write_invalid_box(f: &mut fmt::Formatter<'_>, index: Option<usize>, axis: usize, fault: BoxFault) -> fmt::Result {
    match index {
        Some(index) => write!(f, "object {index}: ")?,
        None => write!(f, "the box: ")?,
    }
    let axis = axis_name(axis);
    match fault {
        BoxFault::NotANumber => write!(f, "a corner is NaN on axis {axis}; remove the object or repair it"),
        BoxFault::MinAboveMax => write!(f, "min is above max on axis {axis}; swap the corners"),
    }
}

fn write_invalid_margin(f: &mut fmt::Formatter<'_>, index: Option<u32>, margin: f64) -> fmt::Result {
    if let Some(index) = index {
        write!(f, "object {index}: ")?;
    }
    write!(f, "a margin of {margin} is not allowed; margins and their sums must be finite and not negative")
}

fn write_invalid_value(
    f: &mut fmt::Formatter<'_>,
    argument: &str,
    axis: Option<usize>,
    value: f64,
    expected: &str,
) -> fmt::Result {
    write!(f, "{argument}")?;
    if let Some(axis) = axis {
        write!(f, " on axis {}", axis_name(axis))?;
    }
    write!(f, ": {value} is not allowed; it must be {expected}")
}

impl std::error::Error for Error {}

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(
    /// Which, and where.
    pub String,
);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Violation {}

/// Fails a validation with a formatted text unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err($crate::error::Violation(format!($($text)+)));
        }
    };
}
pub(crate) use ensure;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_cannot_start_have_their_own_error() {
        let error = Error::ThreadsUnavailable { requested: 5000 };
        assert_eq!(error.code(), "threads-unavailable");
        assert_eq!(error.to_string(), "a thread pool of 5000 threads could not be started; ask for fewer");
        assert!(Error::ThreadsUnavailable { requested: 0 }.to_string().contains("one thread per core"));
    }
}
