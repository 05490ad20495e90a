//! The algorithms, behind one interface and in one list.
//!
//! Every folder has the same files: `mod.rs` (data and invariants), `update.rs`, `pairs.rs`, `validate.rs`, and `query.rs` if the structure
//! answers queries by itself. A method of the interface is implemented in the file of its name. No algorithm uses another one. The feature
//! `papers` adds those of the papers and their baselines. Tests, benches and the tool loop over [`list`], so every listed algorithm is tested.

#[cfg(feature = "papers")]
pub mod baselines;
pub mod brute_force;
mod common;
#[cfg(feature = "papers")]
pub mod hash_grid;
mod interface;
mod list;
#[cfg(feature = "papers")]
pub mod kd_tree;
#[cfg(feature = "papers")]
pub mod level_grid;
#[cfg(feature = "papers")]
pub mod octree;
#[cfg(feature = "papers")]
pub mod sort_and_sweep;
#[cfg(feature = "papers")]
pub mod particle_grid;
mod spec;
#[cfg(feature = "papers")]
pub mod sweep;
pub mod tiles;
mod typed;
mod with_kernels;

pub use crate::error::Violation;
pub(crate) use crate::error::ensure;
pub(crate) use common::{assert_dimension, scan};
pub use interface::{BroadPhase, Found, Outline, Probes, Query, Region, Stats, Strength};
pub use list::{Descriptor, Kind, OptionDescriptor, list};
pub use spec::{COMMON_OPTIONS, Spec};
