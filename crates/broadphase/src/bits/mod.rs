//! Bits and digits: a bit set, a set of integers as a bit tree, and a radix sort of indices.

mod bit_set;
#[cfg(feature = "papers")]
mod radix;
#[cfg(feature = "papers")]
mod succ_tree;

pub(crate) use bit_set::{BitSet, bit, each_bit, set_bit};
#[cfg(feature = "papers")]
pub(crate) use radix::{IndexSort, Key, sort_entries};
#[cfg(feature = "papers")]
pub(crate) use succ_tree::SuccTree;
