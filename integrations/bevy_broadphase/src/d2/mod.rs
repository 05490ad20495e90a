//! The plug-in for avian2d.

use avian2d as avian;

/// The number of axes.
const D: usize = 2;

#[path = "../plugin.rs"]
mod plugin;
pub use plugin::{BroadphasePlugin, BroadphaseWorld, TreeUpkeep, collect_collision_pairs};
