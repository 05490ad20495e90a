//! The peers written in Rust, feature `peers`.

mod box_intersect_ze;
mod broccoli;
mod bvh;
mod bvh_arena;
mod kiddo;
mod obvhs;
mod parry;
mod rstar;

use ::box_intersect_ze::HasInfinity;
use ::bvh::bounding_hierarchy::BHValue;
use ::rstar::{Point, RTreeNum};
use broadphase::Real;

use self::broccoli::Broccoli;
use self::kiddo::Points;
use self::obvhs::Obvhs;

use crate::any::{AnyPeer, Erase};
use crate::guard::Guard;
use crate::{Peer, PeerError, PeerSpec};

/// The peer that `spec` names, if it is one of these and supports the dimension and the scalar.
pub(crate) fn open(spec: &PeerSpec, dim: usize, scalar: &str) -> Result<Option<AnyPeer>, PeerError> {
    let name = spec.descriptor().name;
    let peer = match (name, dim, scalar) {
        ("parry", 2, "float32") => guarded(name, parry::Rapier::<2, parry::Flat>::new(spec.option("skin")?)),
        ("parry", 3, "float32") => guarded(name, parry::Rapier::<3, parry::Solid>::new(spec.option("skin")?)),
        ("parry-refit", 2, "float32") => guarded(name, parry::Refit::<2, parry::Flat>::default()),
        ("parry-refit", 3, "float32") => guarded(name, parry::Refit::<3, parry::Solid>::default()),
        ("obvhs", 2, "float32") => guarded(name, Obvhs::<2>::new(1, spec.option("search")?)),
        ("obvhs", 3, "float32") => guarded(name, Obvhs::<3>::new(1, spec.option("search")?)),
        ("obvhs-refit", 2, "float32") => guarded(name, Obvhs::<2>::new(spec.option("every")?, spec.option("search")?)),
        ("obvhs-refit", 3, "float32") => guarded(name, Obvhs::<3>::new(spec.option("every")?, spec.option("search")?)),
        ("bvh-arena", 2, "float32") => guarded(name, bvh_arena::Arena::<2>::default()),
        ("bvh-arena", 3, "float32") => guarded(name, bvh_arena::Arena::<3>::default()),
        ("broccoli", 2, "float32") => guarded(name, Broccoli::<f32>::default()),
        ("broccoli", 2, "float64") => guarded(name, Broccoli::<f64>::default()),
        (_, 2, "float32") => return Ok(generic::<2, f32>(name)),
        (_, 2, "float64") => return Ok(generic::<2, f64>(name)),
        (_, 3, "float32") => return Ok(generic::<3, f32>(name)),
        (_, 3, "float64") => return Ok(generic::<3, f64>(name)),
        _ => return Ok(None),
    };
    Ok(Some(peer))
}

/// The peers that support every dimension and scalar alike.
fn generic<const D: usize, T>(name: &'static str) -> Option<AnyPeer>
where
    T: Erase<D> + Real + BHValue + HasInfinity + RTreeNum + Points<D>,
    [T; D]: Point<Scalar = T>,
{
    Some(match name {
        "bvh" => guarded(name, bvh::Rebuilt::<D, T>::default()),
        "rstar" => guarded(name, rstar::RStar::<D, T>::default()),
        "box-intersect-ze" => guarded(name, box_intersect_ze::BoxIntersect::<D, T>::default()),
        "kiddo" => guarded(name, kiddo::Kiddo::<D, T>::default()),
        _ => return None,
    })
}

fn guarded<const D: usize, T: Erase<D> + 'static>(name: &'static str, peer: impl Peer<D, T> + 'static) -> AnyPeer {
    T::erase(Box::new(Guard::new(name, peer)))
}
