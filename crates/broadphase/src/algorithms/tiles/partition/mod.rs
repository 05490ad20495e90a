//! The partition of space into tiles, found by one or two table look-ups.
//!
//! A table is a grid of cells over a box of the lattice; an entry names the tile that the cell belongs to, or, where objects are
//! dense, a finer table. Tiles are boxes of whole cells, made by repeated bisection until few enough objects are
//! left, so each holds about the same number, whatever the distribution.

mod build;

use super::lattice::Place;
use crate::error::Error;
use crate::geometry::each_axis;
use crate::kernels::LATTICE_END;
use crate::kernels::quantize::{CellMap, Corners};
use crate::memory;
use build::Rules;

/// What the memory is for, in errors.
const TILES: &str = "the partition";

/// The place of a tile, the resolution of its records, and its sweep axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tile {
    /// The lowest place inside.
    pub(crate) low: Place,
    /// The lowest place outside, on each axis.
    pub(crate) high: Place,
    /// Lattice steps per quantum on each axis, as a power of two.
    pub(crate) shift: [u8; 3],
    /// The sweep axis: the one on which its objects are spread most.
    pub(crate) axis: u8,
}

impl Tile {
    /// Does the intersection of two boxes start here, if they overlap?
    pub(crate) fn contains_start(&self, a: &Corners, b: &Corners) -> bool {
        let (a, b) = (a.low(), b.low());
        (0..3).all(|k| (self.low[k]..self.high[k]).contains(&a[k].max(b[k])))
    }

    /// How many quanta cover it along the sweep axis.
    pub(crate) fn quanta(&self) -> u32 {
        let axis = self.axis as usize;
        ((self.high[axis] - self.low[axis]) as u32) >> self.shift[axis]
    }

    /// Is the upper corner of a box inside, if the lower one is? Then the box reaches no other tile.
    #[inline(always)]
    pub(crate) fn holds_end(&self, high: &Place) -> bool {
        (0..3).all(|k| high[k] < self.high[k])
    }

    /// Does the box reach the tile?
    pub(crate) fn is_reached_by(&self, corners: &Corners) -> bool {
        let (low, high) = (corners.low(), corners.high());
        (0..3).all(|k| low[k] < self.high[k] && self.low[k] <= high[k])
    }
}

/// A grid of cells with an entry each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Table {
    /// The lowest place inside.
    pub(crate) low: Place,
    /// Lattice steps per cell on each axis, as a power of two.
    pub(crate) shift: [u8; 3],
    /// Cells on each axis, as a power of two.
    pub(crate) bits: [u8; 3],
    /// Its first entry.
    pub(crate) start: u32,
}

/// An entry with this bit names a table, one without it a tile.
pub(crate) const FINER: u16 = 1 << 15;
/// The most tiles that entries can name.
const MAX_TILES: usize = FINER as usize - 1;

/// Tiles, tables and entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partition {
    pub(crate) tiles: Vec<Tile>,
    pub(crate) tables: Vec<Table>,
    pub(crate) entries: Vec<u16>,
    /// By tile: the expected number of records, estimated from the sample.
    pub(crate) expected: Vec<f32>,
    /// Tiles that are set aside for dense cells whose tables are not built yet, one each; used only while partitioning.
    promised: usize,
}

/// The sample of objects that a partition is made from.
pub(crate) struct Sample<'a> {
    pub(crate) points: &'a mut [Point],
    /// The number of objects that each point represents.
    pub(crate) weight: usize,
    /// The target number of objects per tile.
    pub(crate) target: usize,
}

/// An object on the lattice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) center: Place,
    pub(crate) size: [f32; 3],
}

/// The mean size of some objects.
pub(crate) fn mean_size(points: &[Point]) -> [f64; 3] {
    let sum = |k: usize| points.iter().map(|point| f64::from(point.size[k])).sum::<f64>();
    each_axis(|k| sum(k) / points.len().max(1) as f64)
}

impl Table {
    /// The index of the entry for a place inside.
    #[inline(always)]
    pub(crate) fn index(&self, at: &Place) -> usize {
        let cell = |k: usize| ((at[k] - self.low[k]) >> self.shift[k]) as usize;
        self.start as usize + (cell(0) | cell(1) << self.bits[0] | cell(2) << (self.bits[0] + self.bits[1]))
    }

    /// The number of entries.
    pub(crate) fn cells(&self) -> usize {
        1 << (self.bits[0] + self.bits[1] + self.bits[2])
    }
}

impl Partition {
    /// The root table's map from places to cells, for the kernels.
    pub(crate) fn root(&self) -> CellMap {
        let Table { shift, bits, .. } = self.tables[0];
        CellMap::new(shift.map(i32::from), [0, i32::from(bits[0]), i32::from(bits[0] + bits[1])])
    }

    /// One tile for all `objects`, of mean `size` on the lattice.
    pub(crate) fn whole(size: [f64; 3], objects: usize) -> Result<Self, Error> {
        let mut partition = Self::default();
        memory::push(&mut partition.tables, Table { shift: [30; 3], ..Table::default() }, TILES)?;
        memory::push(&mut partition.entries, 0, TILES)?;
        let narrowest = (1..3).fold(0, |best, k| if size[k] < size[best] { k } else { best });
        partition.add_tile([0; 3], [LATTICE_END; 3], narrowest as u8)?;
        memory::push(&mut partition.expected, objects as f32, TILES)?;
        Ok(partition)
    }

    /// Cuts space by a sample of the objects.
    pub(crate) fn of(sample: Sample<'_>) -> Result<Self, Error> {
        let mut partition = Self::default();
        let target = sample.target.max(sample.points.len() * sample.weight * 2 / MAX_TILES);
        let rules = Rules { target: target.div_ceil(sample.weight), size: mean_size(sample.points) };
        partition.build_table(sample.points, [0; 3], [30; 3], &rules)?;
        partition.expected.iter_mut().for_each(|count| *count *= sample.weight as f32);
        Ok(partition)
    }

    /// The tile at a place.
    #[inline(always)]
    pub(crate) fn tile_at(&self, at: &Place) -> u16 {
        let mut entry = self.entries[self.tables[0].index(at)];
        while entry & FINER != 0 {
            entry = self.entries[self.tables[(entry & !FINER) as usize].index(at)];
        }
        entry
    }

    /// Visits each tile that the box `low..=high` reaches, once, in a fixed order.
    pub(crate) fn visit(&self, low: &Place, high: &Place, visit: &mut dyn FnMut(u16)) {
        self.visit_table(0, low, high, low, visit);
    }

    /// Does a step between cells of the root table lead to the same cell or to the next one on one axis?
    #[inline(always)]
    pub(crate) fn is_one_cell(&self, step: i32) -> bool {
        let bits = self.tables[0].bits;
        (step <= 1) | (step == 1 << bits[0]) | (step == 1 << (bits[0] + bits[1]))
    }

    /// The tiles that a box reaches, if it reaches at most the next cell of the root table on each axis, as most boxes do: then every reached
    /// cell holds a corner, and at most eight look-ups are needed. `low` is the cell of the lower corner, which comes first; `steps` lead to
    /// the others. `None` if the box is larger or an entry names a finer table.
    #[inline(always)]
    pub(crate) fn corner_tiles(&self, low: u32, steps: [i32; 3]) -> Option<([u16; 8], usize)> {
        let bits = self.tables[0].bits;
        let (mut cells, mut corners) = ([low as usize; 8], 1);
        for (step, place) in steps.into_iter().zip([0, bits[0], bits[0] + bits[1]]) {
            if step > 1 << place {
                return None;
            }
            if step != 0 {
                for at in 0..corners {
                    cells[(corners + at) & 7] = cells[at & 7] + step as usize;
                }
                corners *= 2;
            }
        }
        let mut seen = [0u16; 8];
        let (mut count, mut finer) = (0, 0);
        for &cell in &cells[..corners & 15] {
            let entry = self.entries[cell];
            finer |= entry;
            let is_new = !seen[..count].contains(&entry);
            seen[count & 7] = entry;
            count += usize::from(is_new);
        }
        (finer & FINER == 0).then_some((seen, count))
    }

    /// `corner` is the lower corner of the whole box, of which `low..=high` is the part inside the table.
    fn visit_table(&self, table: usize, low: &Place, high: &Place, corner: &Place, visit: &mut dyn FnMut(u16)) {
        let table = &self.tables[table];
        let cell = |at: i32, k: usize| (at - table.low[k]) >> table.shift[k];
        let first: [i32; 3] = each_axis(|k| cell(low[k], k));
        let last: [i32; 3] = each_axis(|k| cell(high[k], k));
        for z in first[2]..=last[2] {
            for y in first[1]..=last[1] {
                let row =
                    table.start as usize + ((y as usize) << table.bits[0] | (z as usize) << (table.bits[0] + table.bits[1]));
                let mut x = first[0];
                while x <= last[0] {
                    let entry = self.entries[row + x as usize];
                    if entry & FINER != 0 {
                        let at = [x, y, z];
                        let start: Place = each_axis(|k| table.low[k] + (at[k] << table.shift[k]));
                        let part_low: Place = each_axis(|k| low[k].max(start[k]));
                        let part_high: Place = each_axis(|k| high[k].min(start[k] + ((1i64 << table.shift[k]) - 1) as i32));
                        self.visit_table((entry & !FINER) as usize, &part_low, &part_high, corner, visit);
                        x += 1;
                        continue;
                    }
                    // A tile is visited at the cell that holds the lower corner of its part of the box.
                    let tile = &self.tiles[entry as usize];
                    let is_first = |k: usize, at: i32| cell(tile.low[k].max(corner[k]), k) == at;
                    if is_first(0, x) && is_first(1, y) && is_first(2, z) {
                        visit(entry);
                    }
                    x = cell(tile.high[0] - 1, 0) + 1;
                }
            }
        }
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.tiles.capacity() * size_of::<Tile>()
            + self.tables.capacity() * size_of::<Table>()
            + self.entries.capacity() * 2
            + self.expected.capacity() * 4
    }

    fn add_tile(&mut self, low: Place, high: Place, axis: u8) -> Result<u16, Error> {
        // Quanta 1 to 65,535 cover the tile: 65,534 steps after the first.
        let shift = each_axis(|k| {
            let extent = (high[k] - low[k]) as u32;
            (0..31).find(|&s| (extent - 1) >> s <= 65_534).unwrap_or(30)
        });
        // Tiles consist of cells, which are powers of two: so the first quantum behind a tile differs from the last one inside.
        debug_assert!((0..3).all(|k| (high[k] - low[k]) % (1 << shift[k]) == 0 && (high[k] - low[k]) >> shift[k] < 65_535));
        memory::push(&mut self.tiles, Tile { low, high, shift, axis }, TILES)?;
        Ok((self.tiles.len() - 1) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every tile is a box, they cover the lattice without overlap, and a box's visit finds exactly those it meets.
    fn check(partition: &Partition, probes: &[(Place, Place)]) {
        let volume: f64 = partition.tiles.iter().map(|t| (0..3).map(|k| f64::from(t.high[k] - t.low[k])).product::<f64>()).sum();
        assert!((volume / (2f64).powi(90) - 1.0).abs() < 1e-9, "tiles cover {volume}");
        for (low, high) in probes {
            let mut seen = Vec::new();
            partition.visit(low, high, &mut |tile| seen.push(tile));
            seen.sort_unstable();
            let meets = |t: &Tile| (0..3).all(|k| low[k] < t.high[k] && t.low[k] <= high[k]);
            let expected: Vec<u16> = (0..partition.tiles.len() as u16).filter(|&t| meets(&partition.tiles[t as usize])).collect();
            assert_eq!(seen, expected);
            let home = &partition.tiles[usize::from(partition.tile_at(low))];
            assert_eq!(home.holds_end(high), expected.len() == 1);
            let table = &partition.tables[0];
            let (from, to) = (table.index(low), table.index(high));
            let places = [0, table.bits[0], table.bits[0] + table.bits[1]];
            let steps = std::array::from_fn(|k| ((high[k] >> table.shift[k]) - (low[k] >> table.shift[k])) << places[k]);
            assert_eq!(from + steps.iter().sum::<i32>() as usize, to);
            if let Some((mut quick, count)) = partition.corner_tiles(from as u32, steps) {
                assert_eq!(quick[0], partition.tile_at(low), "the lower corner's tile comes first");
                quick[..count].sort_unstable();
                assert_eq!(quick[..count], expected);
            }
            assert!(expected.contains(&partition.tile_at(low)) && expected.contains(&partition.tile_at(high)));
        }
    }

    fn random(seed: &mut u64, below: i32) -> i32 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((*seed >> 33) % below as u64) as i32
    }

    #[test]
    fn there_are_never_more_tiles_than_an_entry_can_name() {
        let mut seed = 5;
        let center = |seed: &mut u64, i: usize| std::array::from_fn(|_| random(seed, 1 << (6 + i % 25)));
        let mut points: Vec<Point> = (0..60_000).map(|i| Point { center: center(&mut seed, i), size: [1.0; 3] }).collect();
        let partition = Partition::of(Sample { points: &mut points, weight: 1, target: 1 }).unwrap();
        assert!(partition.tiles.len() > 10_000 && partition.tiles.len() <= MAX_TILES, "{} tiles", partition.tiles.len());
        check(&partition, &[([0; 3], [1 << 20; 3]), ([7, 9, 11], [7, 9, 11])]);
    }

    #[test]
    fn visits_find_each_tile_once_for_even_clustered_and_flat_objects() {
        let mut seed = 3;
        for kind in 0..4 {
            let size = [if kind == 1 { 256.0 } else { 4_194_304.0 }; 3];
            let mut points: Vec<Point> = (0..20_000)
                .map(|i| {
                    let spread = if kind == 1 && i % 10 > 0 { 1 << 14 } else { LATTICE_END };
                    let mut at: Place = std::array::from_fn(|_| random(&mut seed, spread));
                    if kind == 2 {
                        at[1] = 7;
                    }
                    if kind == 3 {
                        at = [5; 3];
                    }
                    Point { center: at, size }
                })
                .collect();
            let partition = Partition::of(Sample { points: &mut points, weight: 1, target: 500 }).unwrap();
            let probes: Vec<(Place, Place)> = (0..300)
                .map(|i| {
                    let low: Place = std::array::from_fn(|_| random(&mut seed, if i % 2 == 0 { LATTICE_END } else { 1 << 15 }));
                    let reach = [1, 1 << 10, 1 << 24, 1 << 28][i % 4];
                    (low, std::array::from_fn(|k| (low[k] + random(&mut seed, reach)).min(LATTICE_END - 1)))
                })
                .collect();
            check(&partition, &probes);
            assert!(kind != 1 || partition.tables.len() > 1, "a dense corner needs a finer table");
            assert!(kind == 3 || partition.tiles.len() > 20, "{} tiles", partition.tiles.len());
        }
    }
}
