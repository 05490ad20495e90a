//! A peer by name, with its options: `cgal:cutoff=100`.

use std::fmt;
use std::str::FromStr;

use broadphase::Real;
use broadphase::spec_text::{self, Named};

use crate::any::AnyPeer;
use crate::{Peer, PeerDescriptor, PeerError, list};

/// A peer that this build has, with checked options. Prints as it was written.
///
/// ```
/// use broadphase_peers::{PeerError, PeerSpec};
/// let error = "pary".parse::<PeerSpec>().unwrap_err();
/// assert_eq!(error, PeerError::UnknownPeer { name: "pary".into(), nearest: "parry" });
/// ```
#[derive(Clone, Debug)]
pub struct PeerSpec {
    text: String,
    descriptor: &'static PeerDescriptor,
    /// Option and value, in the order given; a later one wins.
    #[cfg_attr(not(any(feature = "peers", cgal)), allow(dead_code))]
    options: Vec<(&'static str, String)>,
}

impl PeerSpec {
    /// What is known about the peer.
    pub fn descriptor(&self) -> &'static PeerDescriptor {
        self.descriptor
    }

    /// Makes a peer for boxes of `D` dimensions and scalar `T`, empty: the first frame sets it up.
    ///
    /// # Errors
    /// [`PeerError::Unsuited`] if it does not support `D` or `T`; [`PeerError::BadValue`] for an option it cannot read.
    pub fn build<const D: usize, T: Real>(&self) -> Result<Box<dyn Peer<D, T>>, PeerError> {
        let unsuited = || PeerError::Unsuited { peer: self.descriptor.name, dim: D, scalar: T::NAME };
        self.open(D, T::NAME)?.and_then(AnyPeer::into_peer).ok_or_else(unsuited)
    }

    /// The value of an option, or its default.
    #[cfg_attr(not(any(feature = "peers", cgal)), allow(dead_code))]
    pub(crate) fn option<V: FromStr>(&self, name: &str) -> Result<V, PeerError> {
        let peer = self.descriptor.name;
        let known = self.descriptor.options.iter().find(|known| known.0 == name);
        let &(option, default, _) = known.ok_or_else(|| self.descriptor.unknown_option(name))?;
        let given = self.options.iter().rev().find(|given| given.0 == option).map(|given| given.1.as_str());
        let value = given.unwrap_or(default);
        value.parse().map_err(|_| PeerError::BadValue { peer, option, value: value.into() })
    }

    fn open(&self, dim: usize, scalar: &'static str) -> Result<Option<AnyPeer>, PeerError> {
        #[cfg(feature = "peers")]
        if let Some(peer) = crate::rust::open(self, dim, scalar)? {
            return Ok(Some(peer));
        }
        #[cfg(any(feature = "cpp-peers", feature = "jolt"))]
        if let Some(peer) = crate::cpp::open(self, dim, scalar)? {
            return Ok(Some(peer));
        }
        #[cfg(feature = "rapier")]
        if let Some(peer) = crate::rapier::open(self.descriptor.name, dim, scalar) {
            return Ok(Some(peer));
        }
        #[cfg(feature = "box3d")]
        if let Some(peer) = crate::box3d::open(self.descriptor.name, dim, scalar) {
            return Ok(Some(peer));
        }
        #[cfg(feature = "physx")]
        if let Some(peer) = crate::physx::open(self.descriptor.name, dim, scalar) {
            return Ok(Some(peer));
        }
        let _ = (dim, scalar);
        Ok(None)
    }
}

impl PeerDescriptor {
    fn unknown_option(&self, option: &str) -> PeerError {
        let known: Vec<_> = self.options.iter().map(|known| known.0).collect();
        PeerError::UnknownOption { peer: self.name, option: option.into(), known: known.join(", ") }
    }
}

impl Named for PeerDescriptor {
    fn name(&self) -> &'static str {
        self.name
    }

    fn options(&self) -> Vec<&'static str> {
        self.options.iter().map(|option| option.0).collect()
    }
}

impl FromStr for PeerSpec {
    type Err = PeerError;

    fn from_str(text: &str) -> Result<Self, PeerError> {
        let descriptor = spec_text::find(text, list())
            .map_err(|unknown| PeerError::UnknownPeer { name: unknown.name, nearest: unknown.nearest })?;
        if !descriptor.built {
            return Err(PeerError::NotBuilt { peer: descriptor.name, remedy: descriptor.remedy() });
        }
        let mut options = Vec::new();
        for (option, value) in
            spec_text::options(text, descriptor).map_err(|unknown| descriptor.unknown_option(&unknown.option))?
        {
            match value.filter(|value| !value.is_empty()) {
                Some(value) => options.push((option, value.to_string())),
                None => return Err(PeerError::BadValue { peer: descriptor.name, option, value: String::new() }),
            }
        }
        Ok(Self { text: text.into(), descriptor, options })
    }
}

impl fmt::Display for PeerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
