//! What a world says of itself.

use super::World;
use crate::geometry::Real;
use crate::objects::ObjectKind;

/// Size and content of a [`World`].
#[derive(Clone, Debug, PartialEq)]
pub struct WorldStats {
    /// Dynamic objects.
    pub dynamic: usize,
    /// Static objects.
    pub fixed: usize,
    /// Kinematic objects.
    pub kinematic: usize,
    /// Pairs of the last update.
    pub pairs: u64,
    /// Tests of the last update.
    pub tests: u64,
    /// The algorithm of the movers, with its options.
    pub algorithm: String,
    /// The algorithm of the statics, with its options.
    pub static_algorithm: String,
    /// What `auto` chose for the movers, and why.
    pub choice: Option<String>,
    /// Bytes of the object table.
    pub table_bytes: usize,
    /// Bytes of both structures.
    pub structure_bytes: usize,
    /// Bytes of pairs, differences, values of pairs, and what finding them needs.
    pub pair_bytes: usize,
}

impl WorldStats {
    /// All bytes that the world holds.
    pub fn bytes(&self) -> usize {
        self.table_bytes + self.structure_bytes + self.pair_bytes
    }
}

impl<const D: usize, T: Real> World<D, T> {
    /// Size and content.
    pub fn stats(&self) -> WorldStats {
        let structure = |engine: &super::Engine<D, T>| engine.structure.as_ref().map(|s| s.stats()).unwrap_or_default();
        let (movers, statics) = (structure(&self.movers), structure(&self.statics));
        let events = (self.started.capacity() + self.ended.capacity()) * 16;
        WorldStats {
            dynamic: self.table.count(ObjectKind::Dynamic),
            fixed: self.table.count(ObjectKind::Static),
            kinematic: self.table.count(ObjectKind::Kinematic),
            pairs: self.pair_count(),
            tests: self.tests,
            algorithm: self.movers.spec.to_string(),
            static_algorithm: self.statics.spec.to_string(),
            choice: movers.choice,
            table_bytes: self.table.bytes(),
            structure_bytes: movers.bytes + statics.bytes,
            pair_bytes: self.own.bytes()
                + self.mixed.bytes()
                + events
                + self.values.bytes()
                + self.neighbours.bytes()
                + self.motion.bytes(),
        }
    }
}
