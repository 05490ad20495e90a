//! The plug-in for avian3d.

use avian3d as avian;

/// The number of axes.
const D: usize = 3;

#[path = "../plugin.rs"]
mod plugin;
pub use plugin::{BroadphasePlugin, BroadphaseWorld, TreeUpkeep, collect_collision_pairs};
