//! The peers written in Rust, feature `peers`.

mod box_intersect_ze;
mod guard;
mod parry;
mod rstar;

use guard::Guard;

use crate::any::{AnyPeer, Erase};
use crate::{Peer, PeerError, PeerSpec};

/// The peer that `spec` names, if it is one of these and supports the dimension and the scalar.
pub(crate) fn open(spec: &PeerSpec, dim: usize, scalar: &str) -> Result<Option<AnyPeer>, PeerError> {
    let name = spec.descriptor().name;
    let peer = match (name, dim, scalar) {
        ("parry", 2, "float32") => guarded(name, parry::Rapier::<2, parry::Flat>::new(spec.option("skin")?)),
        ("parry", 3, "float32") => guarded(name, parry::Rapier::<3, parry::Solid>::new(spec.option("skin")?)),
        ("parry-refit", 2, "float32") => guarded(name, parry::Refit::<2, parry::Flat>::default()),
        ("parry-refit", 3, "float32") => guarded(name, parry::Refit::<3, parry::Solid>::default()),
        ("rstar", 2, "float32") => guarded(name, rstar::RStar::<2, f32>::default()),
        ("rstar", 2, "float64") => guarded(name, rstar::RStar::<2, f64>::default()),
        ("rstar", 3, "float32") => guarded(name, rstar::RStar::<3, f32>::default()),
        ("rstar", 3, "float64") => guarded(name, rstar::RStar::<3, f64>::default()),
        ("box-intersect-ze", 2, "float32") => guarded(name, box_intersect_ze::BoxIntersect::<2, f32>::default()),
        ("box-intersect-ze", 2, "float64") => guarded(name, box_intersect_ze::BoxIntersect::<2, f64>::default()),
        ("box-intersect-ze", 3, "float32") => guarded(name, box_intersect_ze::BoxIntersect::<3, f32>::default()),
        ("box-intersect-ze", 3, "float64") => guarded(name, box_intersect_ze::BoxIntersect::<3, f64>::default()),
        _ => return Ok(None),
    };
    Ok(Some(peer))
}

fn guarded<const D: usize, T: Erase<D> + 'static>(name: &'static str, peer: impl Peer<D, T> + 'static) -> AnyPeer {
    T::erase(Box::new(Guard::new(name, peer)))
}
