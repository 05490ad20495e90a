//! All pairs of a tile.

use super::judge::Judge;
use super::sweep::Sweep;
use super::{BUCKETS, Record, Scratch, Starts, sort};
use crate::geometry::{Aabb, Real};
use crate::kernels::hits::Hits;
use crate::kernels::isa::{Kernel, Kernels};
use crate::kernels::lanes::Simd;

/// Reports all pairs of the records in `runs` that overlap in `boxes` and whose intersection starts in this tile. Meanwhile, the records
/// of the next call, `coming`, are asked for.
pub(crate) fn join<const D: usize, T: Real>(
    kernels: Kernels,
    runs: &[&[Record]],
    coming: &[&[Record]],
    boxes: &[Aabb<D, T>],
    scratch: &mut Scratch<T>,
    hits: &mut Hits,
) {
    scratch.coming.note(coming);
    kernels.run(TileJoin { runs, boxes, scratch, hits });
}

/// Tests per object below which runs are short.
const SHORT_RUN: usize = 20;

struct TileJoin<'a, 'h, 'r, const D: usize, T> {
    runs: &'a [&'a [Record]],
    boxes: &'a [Aabb<D, T>],
    scratch: &'a mut Scratch<T>,
    hits: &'h mut Hits<'r>,
}

impl<const D: usize, T: Real> Kernel for TileJoin<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let starts = sort(simd, self.runs, self.scratch);
        if self.scratch.short { self.sweep::<true, S>(simd, &starts) } else { self.sweep::<false, S>(simd, &starts) }
    }
}

impl<const D: usize, T: Real> TileJoin<'_, '_, '_, D, T> {
    /// Sweeps the sorted records. `SHORT`: runs are expected to end in the first half of a window.
    #[inline(always)]
    fn sweep<const SHORT: bool, S: Simd>(self, simd: S, starts: &Starts) {
        let Self { boxes, scratch, hits, .. } = self;
        let (len, first_inside) = (starts[BUCKETS] as usize, starts[1] as usize);
        let (sweep, judge) = (Sweep::over(scratch), Judge { rows: None, boxes, counts: |_, _| true });
        let (mut tests, mut waiting) = (0, 0);
        // SAFETY: (in bounds) rows are below `len`.
        let end_of = |row: usize| starts[unsafe { (*sweep.sorted.add(row)).last_bucket() } + 1] as usize;
        let mut coming = std::mem::take(&mut scratch.coming);
        for row in (0..len).step_by(2) {
            // Two records that both start before the tile on x are not paired here.
            let from = (row + 1).max(first_inside);
            let mut ends = [end_of(row), 0];
            tests += ends[0] - from;
            if row + 1 < len {
                ends[1] = end_of(row + 1);
                tests += ends[1] - (row + 2).max(first_inside);
            }
            coming.ask();
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) row < len, with bytes for one more, ends are at most `len`, and no
            // more than a batch waits.
            waiting = unsafe { sweep.two_rows::<D, SHORT, S>(row, from, ends, waiting) };
            if judge.confirm_many(simd, scratch, &mut waiting, row + 2 >= len, hits) {
                break;
            }
        }
        scratch.coming = coming;
        scratch.short = tests < len * SHORT_RUN;
        hits.count_tests(tests as u64);
    }
}
