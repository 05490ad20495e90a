//! Bits and digits: a set of integers as a bit tree, and a radix sort of indices. Knows nobody.

mod radix;
#[cfg(feature = "papers")]
mod succ_tree;

pub(crate) use radix::{IndexSort, Key};
#[cfg(feature = "papers")]
pub(crate) use succ_tree::SuccTree;
