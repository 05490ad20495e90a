//! Headless apps in which avian's own broad phase and ours see the same state in every step, and must add the same contact edges.
//!
//! `harness.rs` has the app; the other files have the scenes. They are compiled for avian3d and avian2d.

// The scenes are compiled for each number of axes.
#![allow(clippy::duplicate_mod)]

#[cfg(feature = "2d")]
mod d2;
#[cfg(feature = "3d")]
mod d3;
