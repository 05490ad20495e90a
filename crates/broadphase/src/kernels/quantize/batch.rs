//! Boxes in batches: each step of the scatter is taken for some hundred boxes before the next step.

use super::{CORNERS, CellMap, Corners, Map, corners_in};
use crate::geometry::{Aabb, Real};
use crate::kernels::arch::Simd;
use crate::kernels::tile::Record;
use bytemuck::TransparentWrapper;

/// Some boxes on the lattice, and their entries in a table. Arrays, so that the compiler knows their lengths.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(in crate::kernels) corners: [i32; Batch::LEN * CORNERS + 1],
    /// What each axis adds to the index of the cell.
    pub(in crate::kernels) parts: [i32; Batch::LEN * CORNERS],
    /// The table's entry for the cell of the lower corner.
    pub(crate) entries: [u16; Batch::LEN],
    /// The id of each, flagged if it has changed.
    pub(crate) ids: [u32; Batch::LEN],
    /// Boxes whose corners have different entries, or an entry that [`locate`](Batch::locate) lists.
    listed: [u16; Batch::LEN],
}

impl Default for Batch {
    fn default() -> Self {
        let (corners, parts) = ([0; Batch::LEN * CORNERS + 1], [0; Batch::LEN * CORNERS]);
        Self { corners, parts, entries: [0; Batch::LEN], ids: [0; Batch::LEN], listed: [0; Batch::LEN] }
    }
}

impl Batch {
    /// Boxes at most; a power of two.
    pub(crate) const LEN: usize = 512;

    /// Maps the first boxes of a list, up to [`LEN`](Batch::LEN), to the lattice. Returns whether all of them are valid.
    #[inline(always)]
    pub(crate) fn fill<const D: usize, T: Real, S: Simd>(
        &mut self,
        simd: S,
        boxes: &[Aabb<D, T>],
        map: &Map<T>,
        cells: &CellMap,
    ) -> bool {
        let count = boxes.len().min(Self::LEN);
        let (done, mut valid) = simd.fill(self, boxes, map, cells);
        for at in done..count {
            let corners = corners_in(simd, &boxes[at], map);
            valid &= boxes[at].is_valid();
            for lane in 0..CORNERS {
                self.corners[at * CORNERS + lane] = corners.0[lane];
                self.parts[at * CORNERS + lane] = corners.0[lane] >> cells.shift[lane] << cells.place[lane];
            }
        }
        valid
    }

    /// Looks up the first `count` boxes in a table. Lists those whose corners have different entries, or an entry from `list_from`
    /// on, and returns their number.
    ///
    /// Unpredictable, so computed without a branch: each box is written behind the list, which grows by one or not.
    #[inline(always)]
    pub(crate) fn locate(&mut self, count: usize, table: &[u16], list_from: u16) -> usize {
        let mut listed = 0;
        for at in 0..count.min(Self::LEN) {
            let (low, high) = self.cells(at);
            let (from, to) = (table[low as usize], table[high as usize]);
            self.entries[at] = from;
            self.listed[listed & (Self::LEN - 1)] = at as u16;
            listed += usize::from((from != to) | (from >= list_from));
        }
        listed
    }

    /// Assigns the ids from `start` on, a multiple of 64, with a flag for those that have a bit in `changed`.
    #[inline(always)]
    pub(crate) fn name(&mut self, start: usize, changed: &[u64]) {
        for at in 0..Self::LEN {
            self.ids[at] = (start + at) as u32;
        }
        for (word, &bits) in changed.iter().skip(start / 64).take(Self::LEN / 64).enumerate() {
            let mut bits = bits;
            while bits != 0 {
                self.ids[word * 64 + bits.trailing_zeros() as usize] |= Record::FLAG;
                bits &= bits - 1;
            }
        }
    }

    /// A box that was listed.
    #[inline(always)]
    pub(crate) fn listed(&self, index: usize) -> usize {
        usize::from(self.listed[index])
    }

    /// The corners of a box.
    #[inline(always)]
    pub(crate) fn corners(&self, at: usize) -> &Corners {
        let corners: &[i32; CORNERS + 1] = self.corners[at * CORNERS..][..CORNERS + 1].try_into().unwrap_or(&[0; CORNERS + 1]);
        Corners::wrap_ref(corners)
    }

    /// The cells of a box's lower and upper corner.
    #[inline(always)]
    pub(crate) fn cells(&self, at: usize) -> (u32, u32) {
        let p: &[i32] = &self.parts[at * CORNERS..][..CORNERS];
        ((p[0] | p[1] | p[2]) as u32, (p[3] | p[4] | p[5]) as u32)
    }

    /// What leads from the cell of a box's lower corner to that of its upper one, by axis.
    #[inline(always)]
    pub(crate) fn steps(&self, at: usize) -> [i32; 3] {
        let p = &self.parts[at * CORNERS..][..CORNERS];
        [p[3] - p[0], p[4] - p[1], p[5] - p[2]]
    }
}
