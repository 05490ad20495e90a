//! Pairs out: the chunked store, filters, and what started and ended.

pub(crate) mod events;
mod gather;
mod sort;
mod store;

pub use crate::objects::Retain;
pub use crate::pair::{Pair, pairs_hash};
pub(crate) use sort::PairSort;
pub(crate) use store::WithoutAny;
pub use store::{PairStore, Report, Revision};
