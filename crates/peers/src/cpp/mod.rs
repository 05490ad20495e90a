//! The peers written in C++, each through a small shim under `cpp/`: Bullet and CGAL if they are installed (feature `cpp-peers`), Jolt
//! (feature `jolt`).

#[cfg(bullet)]
mod bullet;
#[cfg(cgal)]
mod cgal;
#[cfg(feature = "jolt")]
mod jolt;
#[cfg(any(bullet, cgal, feature = "jolt"))]
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
    #[cfg(feature = "jolt")]
    if let Some(peer) = jolt::open(spec.descriptor().name, dim, scalar)? {
        return Ok(Some(peer));
    }
    let _ = (spec, dim, scalar);
    Ok(None)
}
