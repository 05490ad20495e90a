//! Pairs out: the chunked store, filters, and what started and ended.

pub(crate) mod events;
mod pair;
mod retain;
mod store;

pub use pair::{Pair, pairs_hash};
pub use retain::Retain;
pub use store::{PairStore, Report, Revision};
