//! The broad phase of [avian](https://docs.rs/avian3d) by [`broadphase`]: one line in an app, everything else unchanged.
//!
//! ```
//! # #[cfg(feature = "3d")] {
//! use avian3d::prelude::*;
//! use bevy::prelude::*;
//! use bevy_broadphase::d3::BroadphasePlugin;
//!
//! let mut app = App::new();
//! app.add_plugins((MinimalPlugins, TransformPlugin));
//! app.add_plugins(PhysicsPlugins::default().build().disable::<BvhBroadPhasePlugin>().add(BroadphasePlugin::<()>::default()));
//! # }
//! ```
//!
//! With collision hooks `H`, start from `PhysicsPlugins::default().with_collision_hooks::<H>()`, disable `BvhBroadPhasePlugin<H>` and add
//! `BroadphasePlugin::<H>::default()`. For avian2d, take the plug-in from `d2`.
//!
//! # What it does
//! Avian keeps a tree of enlarged boxes per kind of body, and a list of the colliders whose enlarged box changed. Its own broad phase queries the
//! trees once for every collider of that list. This one keeps the same boxes in a [`broadphase::World`], which finds all pairs at once, and adds a
//! contact edge for each pair for which avian would: at least one collider in the list, layers that interact, different bodies, no joint that disables
//! the collision, no hook that rejects it, no edge yet. In steps in which few colliders moved, it queries avian's trees too, since that costs less.
//!
//! # What it does not do
//! Avian's `SpatialQuery` reads the trees, so avian goes on updating them. Apps with few spatial queries save the larger part of that with
//! `TreeUpkeep`. Boxes are `f32` in both precisions, since avian's trees are.
//!
//! A box with a NaN, which only a body with a NaN position has, pairs with nothing here.

// `plugin.rs` is compiled for each number of axes.
#![allow(clippy::duplicate_mod)]

mod mirror;
mod pool;

#[cfg(feature = "2d")]
pub mod d2;
#[cfg(feature = "3d")]
pub mod d3;
