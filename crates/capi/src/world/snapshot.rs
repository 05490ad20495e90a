//! A world as bytes.

use super::{bp_world, change, each};
use crate::input::*;
use crate::status::*;

#[cfg(feature = "snapshots")]
use super::Typed;
#[cfg(feature = "snapshots")]
use broadphase::{Error, Real, Snapshot};

/// The world as bytes, to be stored, sent, or restored by bp_world_restore: objects with their ids, pairs, events and settings; not the filter and
/// the threads. The bytes belong to the world, and stay until its next snapshot.
///
/// Cost: a copy of all objects and pairs, and the next update builds its structures from scratch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_snapshot(world: *mut bp_world, data: *mut *const u8, size: *mut usize) -> bp_status {
    change(world, |inner| {
        let (data, size) = (Out::new("data", data)?, Out::new("size", size)?);
        let bytes = each!(inner, world => world.write_snapshot()?);
        data.set(bytes.as_ptr());
        size.set(bytes.len());
        Ok(())
    })
}

/// Replaces the world by that of a snapshot, with the same ids, pairs and events; its own filter and threads stay. Earlier ids of this world are
/// stale. The bytes must be of a world of the same format; broken ones are BP_INVALID_SNAPSHOT, and the world is unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_restore(world: *mut bp_world, data: *const u8, size: usize) -> bp_status {
    change(world, |inner| {
        let bytes = items("data", data, size)?;
        each!(inner, world => world.read_snapshot(bytes))
    })
}

#[cfg(not(feature = "snapshots"))]
impl<const D: usize, T: broadphase::Real> super::Typed<D, T> {
    fn write_snapshot(&mut self) -> Result<&[u8], Fail> {
        Err(missing())
    }

    fn read_snapshot(&mut self, _: &[u8]) -> Result<(), Fail> {
        Err(missing())
    }
}

#[cfg(not(feature = "snapshots"))]
fn missing() -> Fail {
    Fail::new(BP_MISSING_FEATURE, "", "this build has no snapshots; build with the feature 'snapshots'".to_string())
}

/// The first bytes of a snapshot, and its format: dimension and bytes of a number.
#[cfg(feature = "snapshots")]
const MAGIC: &[u8; 4] = b"bps1";

#[cfg(feature = "snapshots")]
impl<const D: usize, T: Real> Typed<D, T> {
    fn head() -> [u8; 6] {
        let [a, b, c, d] = *MAGIC;
        [a, b, c, d, D as u8, size_of::<T>() as u8]
    }

    fn write_snapshot(&mut self) -> Result<&[u8], Fail> {
        let snapshot = self.world.snapshot();
        self.snapshot.clear();
        let mut bytes = std::mem::take(&mut self.snapshot);
        bytes.extend_from_slice(&Self::head());
        self.snapshot =
            postcard::to_extend(&snapshot, bytes).map_err(|_| Fail::from(Error::OutOfMemory { what: "a snapshot" }))?;
        Ok(&self.snapshot)
    }

    fn read_snapshot(&mut self, bytes: &[u8]) -> Result<(), Fail> {
        let invalid = |reason: &str| Fail::from(Error::InvalidSnapshot { reason: reason.to_string() });
        let (head, body) = bytes.split_at_checked(6).ok_or_else(|| invalid("it is cut short"))?;
        if head[..4] != *MAGIC {
            return Err(invalid("it does not begin as a snapshot does"));
        }
        if head != Self::head() {
            let describe = |head: &[u8]| format!("{}D, {} bytes a number", head[4], head[5]);
            return Err(Error::ForeignSnapshot { found: describe(head), expected: describe(&Self::head()) }.into());
        }
        let snapshot: Snapshot<D, T> = postcard::from_bytes(body).map_err(|error| invalid(&error.to_string()))?;
        Ok(self.world.restore(&snapshot)?)
    }
}
