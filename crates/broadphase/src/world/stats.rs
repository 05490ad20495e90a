//! Statistics of a world.

use std::fmt;

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
    /// What `auto` chose for the statics, and why; `None` if there have been none.
    pub static_choice: Option<String>,
    /// Bytes of the statics' structure, which are part of `structure_bytes`.
    pub static_bytes: usize,
    /// Figures of the movers' structure: its levels, tiles, copies per object.
    pub figures: Vec<(&'static str, f64)>,
    /// Figures of the statics' structure.
    pub static_figures: Vec<(&'static str, f64)>,
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

/// Readable text: a line each on objects, pairs, algorithms and memory.
///
/// ```
/// use broadphase::{Aabb, World2};
/// let mut world = World2::new();
/// world.insert_many(&[Aabb::point([0.0, 0.0]); 3])?;
/// world.update()?;
/// let text = world.stats().to_string();
/// assert!(text.starts_with("3 objects: 3 dynamic, 0 static, 0 kinematic\n3 pairs, 3 tests\n"), "{text}");
/// # Ok::<(), broadphase::Error>(())
/// ```
impl fmt::Display for WorldStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dynamic, fixed, kinematic, .. } = self;
        let objects = dynamic + fixed + kinematic;
        writeln!(f, "{objects} objects: {dynamic} dynamic, {fixed} static, {kinematic} kinematic")?;
        writeln!(f, "{} pairs, {} tests", self.pairs, self.tests)?;
        match &self.choice {
            Some(choice) => writeln!(f, "algorithm {}: {choice}", self.algorithm)?,
            None => writeln!(f, "algorithm {}", self.algorithm)?,
        }
        match &self.static_choice {
            Some(choice) if *fixed > 0 => writeln!(f, "algorithm of the statics {}: {choice}", self.static_algorithm)?,
            _ if self.static_algorithm != self.algorithm => writeln!(f, "algorithm of the statics {}", self.static_algorithm)?,
            _ => {}
        }
        let [all, table, structures, pairs] = [self.bytes(), self.table_bytes, self.structure_bytes, self.pair_bytes].map(Size);
        write!(f, "{all} in all: objects {table}, structures {structures}, pairs {pairs}")
    }
}

/// Bytes in a unit that leaves one to four digits.
pub(crate) struct Size(pub(crate) usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["B", "KB", "MB", "GB"];
        let (mut value, mut unit) = (self.0 as f64, 0);
        while value >= 9999.5 && unit + 1 < units.len() {
            value /= 1000.0;
            unit += 1;
        }
        write!(f, "{value:.0} {}", units[unit])
    }
}

impl<const D: usize, T: Real> World<D, T> {
    /// Size and content.
    pub fn stats(&self) -> WorldStats {
        let structure = |engine: &super::Engine<D, T>| engine.structure.as_ref().map(|s| s.stats()).unwrap_or_default();
        let (movers, statics) = (structure(&self.movers), structure(&self.statics));
        let events = (self.started.capacity() + self.ended.capacity()) * 16 + self.events.bytes() + self.converter.bytes();
        WorldStats {
            dynamic: self.table.count(ObjectKind::Dynamic),
            fixed: self.table.count(ObjectKind::Static),
            kinematic: self.table.count(ObjectKind::Kinematic),
            pairs: self.pair_count(),
            tests: self.tests,
            algorithm: self.movers.spec.to_string(),
            static_algorithm: self.statics.spec.to_string(),
            choice: movers.choice,
            static_choice: statics.choice,
            static_bytes: statics.bytes,
            figures: movers.extra,
            static_figures: statics.extra,
            table_bytes: self.table.bytes(),
            structure_bytes: movers.bytes + statics.bytes,
            pair_bytes: self.mover_pairs.bytes()
                + self.mixed.bytes()
                + events
                + self.values.bytes()
                + self.neighbors.bytes()
                + self.motion.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn sizes_change_their_unit_at_ten_thousand() {
        let texts = [0, 9999, 10_000, 9_999_499, 9_999_500, 123_000_000_000].map(|bytes| Size(bytes).to_string());
        assert_eq!(texts, ["0 B", "9999 B", "10 KB", "9999 KB", "10 MB", "123 GB"]);
    }
}
