//! What can go wrong, on this rank or on another one.

use std::fmt;

/// Why a call failed. Displays as one line, which names the rank if the cause is on another one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A fault of this rank's own boxes or pairs. The other ranks are not affected.
    Local(broadphase::Error),
    /// A rank could not take part in a collective call. All ranks get this same error, and objects and pairs are unchanged on all of them.
    Rank {
        /// The rank.
        rank: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A rank was started with another version, dimension, scalar or other options. All ranks get this same error.
    Mismatch {
        /// The first rank that differs from rank 0.
        rank: usize,
        /// What that rank is.
        found: String,
        /// What rank 0 is.
        expected: String,
    },
    /// Ranks are in different collective calls.
    Diverged {
        /// The rank.
        rank: usize,
        /// The call it is in.
        found: String,
        /// The call this rank is in.
        expected: &'static str,
    },
    /// No object has this index.
    UnknownObject {
        /// The index, as given.
        index: u32,
    },
    /// No rank has this number.
    UnknownRank {
        /// The number, as given.
        rank: usize,
        /// The number of ranks.
        size: usize,
    },
    /// A list has the wrong length.
    WrongLength {
        /// The argument's name.
        argument: &'static str,
        /// Its length.
        found: usize,
        /// The length that it must have.
        expected: usize,
    },
    /// Messages could not be exchanged.
    Transport(TransportError),
}

/// Why messages could not be exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportError {
    /// A rank panicked, was killed, or left the job while others wait for it.
    Gone {
        /// The rank.
        rank: usize,
        /// What happened to it, as far as known.
        reason: String,
    },
    /// Nothing came within the time limit.
    TimedOut {
        /// The rank that was waited for, if it was one.
        rank: Option<usize>,
        /// How long, in seconds.
        seconds: u64,
    },
    /// A message that cannot be read.
    Malformed {
        /// The sender.
        rank: usize,
    },
    /// A message that the transport cannot carry.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The longest possible.
        limit: usize,
    },
    /// An error of MPI or of the operating system.
    System(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(error) => error.fmt(f),
            Self::Rank { rank, reason } => write!(f, "rank {rank}: {reason}"),
            Self::Mismatch { rank, found, expected } => {
                write!(f, "rank {rank} is {found}, but rank 0 is {expected}; start the same program with the same options on all")
            }
            Self::Diverged { rank, found, expected } => {
                write!(f, "rank {rank} called {found} while others called {expected}; all ranks must make the same calls")
            }
            Self::UnknownObject { index } => write!(f, "object {index} does not exist: it was removed, or never inserted"),
            Self::UnknownRank { rank, size } => write!(f, "there is no rank {rank}; the job has {size} ranks, counted from 0"),
            Self::WrongLength { argument, found, expected } => {
                write!(f, "{argument}: there are {found}, but there must be {expected}")
            }
            Self::Transport(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone { rank, reason } => write!(f, "rank {rank} is gone: {reason}"),
            Self::TimedOut { rank: Some(rank), seconds } => write!(f, "nothing came from rank {rank} within {seconds} s"),
            Self::TimedOut { rank: None, seconds } => write!(f, "some rank did not answer within {seconds} s"),
            Self::Malformed { rank } => write!(f, "rank {rank} sent a message that cannot be read; it may run another program"),
            Self::TooLong { bytes, limit } => {
                write!(f, "a message of {bytes} bytes is longer than the {limit} that can be sent; use more ranks")
            }
            Self::System(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}
impl std::error::Error for TransportError {}

impl From<broadphase::Error> for Error {
    fn from(error: broadphase::Error) -> Self {
        Self::Local(error)
    }
}

impl From<TransportError> for Error {
    fn from(error: TransportError) -> Self {
        Self::Transport(error)
    }
}
