//! How ranks exchange messages. MPI is one way ([`Mpi`](crate::Mpi)), threads of one process another ([`Threads`](crate::Threads)); a third party
//! can implement [`Transport`] over its own network layer.

pub(crate) mod threads;
#[cfg(feature = "mpi")]
pub(crate) mod mpi;

use crate::error::TransportError;

/// What a message is for. Order is kept within a channel; messages of different channels are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Channel {
    /// Changes of ghosts.
    Ghosts = 1,
    /// Pairs found on behalf of another rank.
    Pairs = 2,
    /// Objects that change their rank.
    Migration = 3,
}

/// How [`Transport::all_reduce`] combines values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// The sum, wrapping.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

impl Reduce {
    /// Two values combined.
    pub fn apply(self, a: u64, b: u64) -> u64 {
        match self {
            Self::Sum => a.wrapping_add(b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}

/// One contribution of bytes from each rank.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Gathered {
    /// The bytes of a rank.
    pub fn of(&self, rank: usize) -> &[u8] {
        let start = if rank == 0 { 0 } else { self.ends[rank - 1] };
        &self.bytes[start..self.ends[rank]]
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.ends.len()
    }

    /// All bytes together.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Removes all, for a transport that fills it again.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds the contribution of the next rank.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
    }
}

/// The messages of one rank.
///
/// Methods are listed in the order in which a frame calls them. Collective ones ([`start_all_gather`](Transport::start_all_gather) with
/// [`finish_all_gather`](Transport::finish_all_gather), [`all_reduce`](Transport::all_reduce)) are called by all ranks in the same order. Messages
/// from one rank to another in one channel arrive in the order in which they were sent. A call that cannot succeed any more, since a rank is gone,
/// returns an error or ends the job; it never waits forever.
pub trait Transport {
    /// This rank's number, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Starts to send `mine` to all ranks; returns without waiting for them.
    fn start_all_gather(&mut self, mine: &[u8]) -> Result<(), TransportError>;

    /// Waits for what all ranks have passed to [`start_all_gather`](Transport::start_all_gather).
    fn finish_all_gather(&mut self, all: &mut Gathered) -> Result<(), TransportError>;

    /// Replaces each value by the values of all ranks combined.
    fn all_reduce(&mut self, values: &mut [u64], how: Reduce) -> Result<(), TransportError>;

    /// An empty buffer for a message: that of an earlier message, if one is free.
    fn buffer(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Starts to send a message; returns without waiting for the receiver.
    fn send(&mut self, to: usize, channel: Channel, message: Vec<u8>) -> Result<(), TransportError>;

    /// Advances messages under way. Called once a frame, before the join of the local objects.
    fn poll(&mut self) -> Result<(), TransportError> {
        Ok(())
    }

    /// Waits for the next message of a rank.
    fn receive(&mut self, from: usize, channel: Channel, message: &mut Vec<u8>) -> Result<(), TransportError>;
}

/// Starts to gather and waits for the result.
pub(crate) fn all_gather(transport: &mut impl Transport, mine: &[u8], all: &mut Gathered) -> Result<(), TransportError> {
    transport.start_all_gather(mine)?;
    transport.finish_all_gather(all)
}
