//! Pairs within a distance, the closest pair, and the nearest of every object: for boxes, balls and points.
//!
//! # Cost
//! Pairs within a distance cost as much as the pairs of boxes grown by half of it. The nearest objects cost a search in a tree for each object. Bad
//! case: many objects that overlap, all at distance 0.

mod nearest;
mod proximity;
mod search;
mod within;

pub use nearest::{closest_pair, closest_pair_between, nearest, nearest_between};
pub use proximity::Proximity;
pub use search::DistanceSearch;
pub use within::{pairs_within, pairs_within_between};

/// Two objects and their distance. In results of two lists, `a` is an index into the first one, and `b` into the second.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Near<T> {
    /// The smaller index.
    pub a: u32,
    /// The larger index.
    pub b: u32,
    /// Their Euclidean distance: 0 if they overlap.
    pub distance: T,
}
