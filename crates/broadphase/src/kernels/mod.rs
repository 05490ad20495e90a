//! The SIMD joins, and all unsafe code of the crate except one pointer in `par`. The joins work on slices only.
//!
//! One call per tile, node or cell run, never per row. A join is written once over the private lane traits
//! of `arch/`, and entered through one shell per instruction set (`isa.rs` chooses it).
//!
//! Every `unsafe` block names the duties it discharges: *isa* (the CPU has the instructions), *in bounds* (an access stays in
//! its slice), *room* (a write stays in reserved capacity), *initialized* (what is taken over was written), *layout*, *pod* and
//! *zeroable* (bytes mean in one type what they mean in the other, and any will do), *in range* (a conversion keeps the value).

#[cfg(feature = "papers")]
pub(crate) mod active;
#[cfg(feature = "papers")]
pub(crate) mod active_blocks;
#[cfg(feature = "papers")]
pub(crate) mod active_tree;
mod aligned_difference;
pub(crate) mod all_pairs;
pub(crate) mod arch;
#[cfg(feature = "papers")]
pub(crate) mod ball_runs;
#[cfg(feature = "papers")]
pub(crate) mod cell_runs;
mod boxed;
mod isa;
mod pair_sink;
#[cfg(feature = "papers")]
pub(crate) mod node;
pub(crate) mod packs;
mod pages;
mod plain;
pub(crate) mod point_runs;
mod prefetch;
pub(crate) mod quantize;
mod soa;
mod sorted;
#[cfg(feature = "papers")]
pub(crate) mod sorted_rows;
#[cfg(feature = "papers")]
pub(crate) mod span;
pub(crate) mod tile;

pub use isa::{Isa, Kernels};
pub use pair_sink::PairSink;

pub(crate) use aligned_difference::walk;
pub(crate) use arch::{Kernel, Scalar, Simd};
pub(crate) use boxed::boxed;
pub(crate) use pages::prefer_huge_pages;
pub(crate) use pair_sink::{Order, Output, RESERVE, Refine, Stop};
pub(crate) use prefetch::{LAST_PLACE, LATTICE_END, prefetch, prefetch_for_writing};
pub(crate) use soa::{PAD, Soa};
pub(crate) use sorted::Sorted;
