//! What can go wrong with a peer, each with what to do about it.

use std::fmt;

/// Why a peer cannot be named, built or run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerError {
    /// No peer has this name.
    UnknownPeer {
        /// The name as given.
        name: String,
        /// The name that is closest to it.
        nearest: &'static str,
    },
    /// The peer exists, but this build lacks it.
    NotBuilt {
        /// The peer's name.
        peer: &'static str,
        /// What to do, in a few words.
        remedy: String,
    },
    /// The peer has no such option.
    UnknownOption {
        /// The peer's name.
        peer: &'static str,
        /// The option as given.
        option: String,
        /// The options there are, separated by commas; empty if there is none.
        known: String,
    },
    /// The option's value cannot be read.
    BadValue {
        /// The peer's name.
        peer: &'static str,
        /// The option.
        option: &'static str,
        /// The value as given.
        value: String,
    },
    /// The peer does not support this dimension or scalar.
    Unsuited {
        /// The peer's name.
        peer: &'static str,
        /// The requested dimension.
        dim: usize,
        /// The requested scalar: `float32` or `float64`.
        scalar: &'static str,
    },
    /// The library gave up on a frame.
    Failed {
        /// The peer's name.
        peer: &'static str,
        /// Its own words.
        reason: String,
    },
}

impl PeerError {
    /// A stable word for the kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownPeer { .. } => "unknown-peer",
            Self::NotBuilt { .. } => "not-built",
            Self::UnknownOption { .. } => "unknown-option",
            Self::BadValue { .. } => "bad-value",
            Self::Unsuited { .. } => "unsuited",
            Self::Failed { .. } => "failed",
        }
    }
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPeer { name, nearest } => write!(f, "no peer is called `{name}`; did you mean `{nearest}`?"),
            Self::NotBuilt { peer, remedy } => write!(f, "peer `{peer}` is not in this build: {remedy}"),
            Self::UnknownOption { peer, option, known } if known.is_empty() => {
                write!(f, "peer `{peer}` has no option `{option}`, nor any other")
            }
            Self::UnknownOption { peer, option, known } => write!(f, "peer `{peer}` has no option `{option}`; it has {known}"),
            Self::BadValue { peer, option, value } => write!(f, "peer `{peer}`: `{value}` is no value for option `{option}`"),
            Self::Unsuited { peer, dim, scalar } => write!(f, "peer `{peer}` does not support {dim}D {scalar}"),
            Self::Failed { peer, reason } => write!(f, "peer `{peer}` failed: {reason}"),
        }
    }
}

impl std::error::Error for PeerError {}
