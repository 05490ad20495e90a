//! The tests with avian3d.

use avian3d as avian;
use bevy_broadphase::d3 as ours;

/// The number of axes.
const AXES: usize = 3;

#[path = "../bodies.rs"]
mod bodies;
#[path = "../changes.rs"]
mod changes;
#[path = "../harness.rs"]
mod harness;
#[path = "../mixed.rs"]
mod mixed;
#[path = "../plugged_in.rs"]
mod plugged_in;
#[path = "../rules.rs"]
mod rules;
mod shapes;
