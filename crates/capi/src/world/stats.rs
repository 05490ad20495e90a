//! Statistics of a world, and its validation.

use std::ffi::{CString, c_char};

use broadphase::Real;

use super::{Typed, bp_world, change, each};
use crate::input::*;
use crate::status::*;

/// Size and content of a world. The texts belong to the world, and stay until the next call for statistics.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_world_stats {
    /// Dynamic objects.
    pub dynamic_count: usize,
    /// Static objects.
    pub static_count: usize,
    /// Kinematic objects.
    pub kinematic_count: usize,
    /// Pairs of the last update.
    pub pair_count: u64,
    /// Tests of the last update: object pairs compared.
    pub test_count: u64,
    /// Bytes of the object table.
    pub table_bytes: usize,
    /// Bytes of the structures.
    pub structure_bytes: usize,
    /// Bytes of pairs and events.
    pub pair_bytes: usize,
    /// Bytes that this interface holds besides: lists that were returned.
    pub list_bytes: usize,
    /// The algorithm of the movers, with its options.
    pub algorithm: *const c_char,
    /// What "auto" chose for the movers, and why; empty with another algorithm.
    pub choice: *const c_char,
    /// All of this as text, in several lines.
    pub text: *const c_char,
}

/// What the texts of the last statistics point to.
#[derive(Debug, Default)]
pub(super) struct Texts {
    algorithm: CString,
    choice: CString,
    text: CString,
}

/// Size and content of a world.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_get_stats(world: *mut bp_world, stats: *mut bp_world_stats) -> bp_status {
    change(world, |inner| {
        let out = Out::new("stats", stats)?;
        out.set(each!(inner, world => world.get_stats()));
        Ok(())
    })
}

/// Checks the invariants of the world: all of them if `thorough` is 1, the cheap ones if it is 0. BP_INTERNAL_ERROR, with the reason in the last
/// error, if one does not hold: a bug of the library.
#[cfg(not(target_arch = "wasm32"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_validate(world: *mut bp_world, thorough: u8) -> bp_status {
    change(world, |inner| {
        let strength = if flag("thorough", thorough)? { broadphase::Strength::Geometry } else { broadphase::Strength::Structure };
        let broken = |violation: broadphase::Violation| Fail::new(BP_INTERNAL_ERROR, "", violation.0);
        each!(inner, world => world.world.validate(strength).map_err(broken))
    })
}

impl<const D: usize, T: Real> Typed<D, T> {
    fn get_stats(&mut self) -> bp_world_stats {
        let stats = self.world.stats();
        let text = |text: &str| CString::new(text).unwrap_or_default();
        self.stats = Texts {
            algorithm: text(&stats.algorithm),
            choice: text(stats.choice.as_deref().unwrap_or_default()),
            text: text(&stats.to_string()),
        };
        let lists = self.moved.capacity() * size_of::<(broadphase::Handle, broadphase::Aabb<D, T>)>()
            + self.pairs.capacity() * 16
            + self.ids.capacity() * 8
            + self.events.capacity() * size_of::<super::bp_pair_event>()
            + self.snapshot.capacity();
        bp_world_stats {
            dynamic_count: stats.dynamic,
            static_count: stats.fixed,
            kinematic_count: stats.kinematic,
            pair_count: stats.pairs,
            test_count: stats.tests,
            table_bytes: stats.table_bytes,
            structure_bytes: stats.structure_bytes,
            pair_bytes: stats.pair_bytes,
            list_bytes: lists,
            algorithm: self.stats.algorithm.as_ptr(),
            choice: self.stats.choice.as_ptr(),
            text: self.stats.text.as_ptr(),
        }
    }
}
