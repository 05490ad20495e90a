//! The generic suite: what every listed algorithm must pass, in 2D and 3D, with `f32` and `f64`.
//!
//! An algorithm is tested the moment it is listed: every test loops over `algorithms::list()` (`subjects.rs`). The oracle is a
//! double loop (`naive` in `crates/testing`), not the library's brute force, which is tested here like the others.
//!
//! Jobs run in random order, under random worker numbers (`executors` in `crates/testing`): whatever is checked does not depend on it.
//!
//! `BROADPHASE_CASES=10` makes ten times as many random cases; `BROADPHASE_ONLY=hash-grid,kd-tree` runs these algorithms only.

mod data;
mod script;
mod subjects;

mod bad_input;
mod determinism;
mod filters;
mod growth;
mod nasty;
mod operations;
mod probes;
mod queries;
mod scenes;
mod upkeep;
