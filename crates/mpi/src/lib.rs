#![doc = include_str!("../README.md")]
#![deny(missing_debug_implementations)]
#![cfg_attr(not(feature = "mpi"), deny(unsafe_code))]

mod distributed;
mod update;
mod migrate;
mod plan;
// The parts of a frame, in the order in which they run.
mod options;
mod slots;
mod bounds;
mod collective;
mod table;
mod local;
mod near;
mod select;
mod batch;
mod boundary;
mod ghosts;
mod cross;
mod wide;
mod pairs;
mod stats;
// Used by all of them.
mod error;
pub mod simulate;
pub mod split;
mod transport;
mod wire;

pub use distributed::Distributed;
pub use error::{Error, TransportError};
pub use migrate::{Arrival, Departure};
pub use options::Options;
pub use pairs::{CrossPair, Reporting};
pub use plan::Plan;
pub use stats::{Stages, Traffic};
#[cfg(feature = "mpi")]
pub use transport::mpi::{Mpi, abort_on_panic};
pub use transport::threads::Threads;
pub use transport::{Channel, Gathered, Reduce, Transport};
