//! Pairs out.

mod pair;

pub use pair::{Pair, pairs_hash};
