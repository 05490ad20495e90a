//! Tiles whose runs of records are kept sorted along the sweep axis, so that a few changed objects are found and joined without reading a tile.
//!
//! A tile is sorted after some frames with listed changes in it (`plan.rs`), and is kept sorted while changes are listed: each changed record is moved
//! to its new position (`records/order.rs`). A pass over all records ends that. If changes are not listed, or many, there is no cost.
//!
//! # The bad case
//! One record as wide as the tile makes every range reach back to the start of the tile, about half of its records on average. Finding a record stays fast.

use super::plan::is_worth_sorting;
use crate::error::Error;
use crate::kernels::tile::{Record, RunOrder};
use crate::memory;

/// Whether a tile is sorted.
#[derive(Clone, Copy, Debug, Default)]
struct TileOrder {
    /// Updates with listed changes in the tile since the last pass over all records; and whether `noted` has the tile already.
    patches: u8,
    is_noted: bool,
    /// Present if all runs of the tile are sorted.
    order: Option<RunOrder>,
}

/// Which tiles are sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct SortedTiles {
    /// By tile; empty after a pass over all records.
    tiles: Vec<TileOrder>,
    /// Unsorted tiles that the current patch touches.
    noted: Vec<u16>,
    /// Scratch.
    pub(super) buffer: Vec<Record>,
}

impl SortedTiles {
    /// Marks all tiles as unsorted, before a pass that writes all records.
    pub(super) fn clear(&mut self) {
        self.tiles.clear();
    }

    /// Starts a patch in a partition of `tiles` tiles.
    pub(super) fn begin(&mut self, tiles: usize) -> Result<(), Error> {
        if self.tiles.len() != tiles {
            memory::refill(&mut self.tiles, tiles, TileOrder::default(), "tiles")?;
        }
        Ok(())
    }

    /// The order of a tile's runs, if they are sorted.
    #[inline(always)]
    pub(super) fn order(&self, tile: usize) -> Option<RunOrder> {
        self.tiles.get(tile).and_then(|tile| tile.order)
    }

    /// Widens the order of a sorted tile by a new record.
    #[inline(always)]
    pub(super) fn widen(&mut self, tile: usize, record: &Record) {
        if let Some(order) = &mut self.tiles[tile].order {
            order.widen(record);
        }
    }

    /// Notes that the current patch touches an unsorted tile.
    pub(super) fn note(&mut self, tile: u16) {
        let order = &mut self.tiles[tile as usize];
        // If there is no memory for the list, the tile is not sorted.
        order.is_noted = order.is_noted || memory::push(&mut self.noted, tile, "tiles").is_ok();
    }

    /// Ends a patch: calls `sort` for each noted tile that is worth sorting.
    pub(super) fn finish(&mut self, mut sort: impl FnMut(usize, &mut Vec<Record>) -> RunOrder) {
        let Self { tiles, noted, buffer } = self;
        for tile in noted.drain(..).map(usize::from) {
            let order = &mut tiles[tile];
            order.is_noted = false;
            order.patches += 1;
            if is_worth_sorting(order.patches) {
                order.order = Some(sort(tile, buffer));
            }
        }
    }

    /// Damages the order of a tile, for a test.
    #[cfg(test)]
    pub(super) fn forget_widest(&mut self, tile: usize) {
        self.tiles[tile].order = Some(RunOrder::new(1));
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.tiles.capacity() * size_of::<TileOrder>() + self.noted.capacity() * 2 + self.buffer.capacity() * 16
    }
}
