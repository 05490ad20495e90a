//! The tests with avian2d.

use avian2d as avian;
use bevy_broadphase::d2 as ours;

/// The number of axes.
const AXES: usize = 2;

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
