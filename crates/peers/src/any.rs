//! From a concrete peer to the generic caller: four concrete combinations, one cast.
//!
//! A library supports the combinations it supports, as concrete types; the caller is generic over `D` and `T`. Specialization
//! would join the two; a cast through [`Any`] does so on stable, without `unsafe`, once per peer built.

use std::any::Any;

use crate::Peer;

/// Makes an [`AnyPeer`] out of a peer for one combination.
#[cfg_attr(not(any(feature = "peers", feature = "rapier", feature = "box3d", feature = "physx", bullet, cgal)), allow(dead_code))]
pub(crate) trait Erase<const D: usize> {
    fn erase(peer: Box<dyn Peer<D, Self>>) -> AnyPeer;
}

impl Erase<2> for f32 {
    fn erase(peer: Box<dyn Peer<2, f32>>) -> AnyPeer {
        AnyPeer::Flat32(peer)
    }
}

impl Erase<2> for f64 {
    fn erase(peer: Box<dyn Peer<2, f64>>) -> AnyPeer {
        AnyPeer::Flat64(peer)
    }
}

impl Erase<3> for f32 {
    fn erase(peer: Box<dyn Peer<3, f32>>) -> AnyPeer {
        AnyPeer::Solid32(peer)
    }
}

impl Erase<3> for f64 {
    fn erase(peer: Box<dyn Peer<3, f64>>) -> AnyPeer {
        AnyPeer::Solid64(peer)
    }
}

/// A peer for one of the four combinations of dimension and scalar.
#[cfg_attr(not(any(feature = "peers", feature = "rapier", feature = "box3d", feature = "physx", bullet, cgal)), allow(dead_code))]
pub(crate) enum AnyPeer {
    /// 2D `f32`.
    Flat32(Box<dyn Peer<2, f32>>),
    /// 2D `f64`.
    Flat64(Box<dyn Peer<2, f64>>),
    /// 3D `f32`.
    Solid32(Box<dyn Peer<3, f32>>),
    /// 3D `f64`.
    Solid64(Box<dyn Peer<3, f64>>),
}

impl AnyPeer {
    /// The peer for the caller's `D` and `T`, if these are the ones it was made for.
    pub(crate) fn into_peer<const D: usize, T: 'static>(self) -> Option<Box<dyn Peer<D, T>>> {
        fn cast<A: 'static, B: 'static>(from: A) -> Option<B> {
            (Box::new(from) as Box<dyn Any>).downcast::<B>().ok().map(|same| *same)
        }
        match self {
            Self::Flat32(peer) => cast(peer),
            Self::Flat64(peer) => cast(peer),
            Self::Solid32(peer) => cast(peer),
            Self::Solid64(peer) => cast(peer),
        }
    }
}
