//! The libraries people use instead of `broadphase`, each driven as its users would, behind one trait.
//!
//! A benchmark takes a peer from [`list`], parses a [`PeerSpec`] (`cgal:cutoff=100`), builds a [`Peer`] for a dimension and a
//! scalar, and passes it one frame after the other. A frame is everything from "here are this frame's boxes" to "here are its exact
//! pairs": copies into the library's own types, its update, its search, and the filter that a superset needs are all inside.
//!
//! What this crate does not do: tune a peer per scene, or repair one that misses pairs. How each is driven stands in its module,
//! and in the README beside this crate.
//!
//! Without features no peer is built, and [`list`] says so: `peers` builds those written in Rust, `cpp-peers` Bullet and CGAL,
//! `rapier`, `box3d`, `physx` and `jolt` the broad phases of four physics engines.

mod any;
#[cfg(feature = "box3d")]
mod box3d;
#[cfg(any(feature = "cpp-peers", feature = "jolt"))]
mod cpp;
mod descriptor;
mod error;
mod groups;
#[cfg(any(feature = "peers", feature = "rapier"))]
mod guard;
mod peer;
#[cfg(feature = "physx")]
mod physx;
#[cfg(feature = "rapier")]
mod rapier;
#[cfg(feature = "peers")]
mod rust;
mod spec;

pub use descriptor::{PeerDescriptor, list};
pub use error::PeerError;
pub use groups::Groups;
pub use peer::Peer;
pub use spec::PeerSpec;
