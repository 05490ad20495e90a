//! The peers written in C++, feature `cpp-peers`: each through a small shim under `cpp/`, if its library is installed.

#[cfg(bullet)]
mod bullet;
#[cfg(cgal)]
mod cgal;
#[cfg(any(bullet, cgal))]
mod list;

use crate::any::AnyPeer;
use crate::{PeerError, PeerSpec};

/// The peer that `spec` names, if it is one of these and supports the dimension and the scalar.
pub(crate) fn open(spec: &PeerSpec, dim: usize, scalar: &str) -> Result<Option<AnyPeer>, PeerError> {
    #[cfg(bullet)]
    if let Some(peer) = bullet::open(spec.descriptor().name, dim, scalar)? {
        return Ok(Some(peer));
    }
    #[cfg(cgal)]
    if let Some(peer) = cgal::open(spec, dim, scalar)? {
        return Ok(Some(peer));
    }
    let _ = (spec, dim, scalar);
    Ok(None)
}
