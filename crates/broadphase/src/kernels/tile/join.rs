//! All pairs of a tile.

use super::{BATCH, Record, Scratch, confirm, last_bucket, sort, sweep_row};
use crate::geometry::{Aabb, Real};
use crate::kernels::hits::Hits;
use crate::kernels::isa::{Kernel, Kernels};
use crate::kernels::lanes::Simd;

/// Reports all pairs of the records in `runs` that overlap in `boxes` and whose intersection starts in this tile.
pub(crate) fn join<const D: usize, T: Real>(
    kernels: Kernels,
    runs: &[&[Record]],
    boxes: &[Aabb<D, T>],
    scratch: &mut Scratch,
    hits: &mut Hits,
) {
    kernels.run(TileJoin { runs, boxes, scratch, hits });
}

struct TileJoin<'a, 'h, 'r, const D: usize, T> {
    runs: &'a [&'a [Record]],
    boxes: &'a [Aabb<D, T>],
    scratch: &'a mut Scratch,
    hits: &'h mut Hits<'r>,
}

impl<const D: usize, T: Real> Kernel for TileJoin<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { runs, boxes, scratch, hits } = self;
        let starts = sort(runs, scratch);
        let (len, first_inside) = (starts[257] as usize, starts[1] as usize);
        let (mut tests, mut waiting) = (0, 0);
        for row in 0..len {
            let end = starts[last_bucket(scratch.high_x[row]) + 1] as usize;
            // Two records that both start before the tile on x are not paired here.
            let from = (row + 1).max(if row < first_inside { first_inside } else { 0 });
            tests += end.saturating_sub(from);
            scratch.make_room::<S>(waiting, end.saturating_sub(from));
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) row < len, end <= len, and room was made.
            waiting = unsafe { sweep_row::<D, S>(scratch, row, from, end, waiting) };
            if waiting >= BATCH {
                confirm::<D, T, S>(simd, scratch, waiting, boxes, hits);
                waiting = 0;
                if hits.stopped() {
                    break;
                }
            }
        }
        confirm::<D, T, S>(simd, scratch, waiting, boxes, hits);
        hits.count_tests(tests as u64);
    }
}
