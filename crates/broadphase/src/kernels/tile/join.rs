//! The join of a tile: all pairs of its records.

use super::confirm::Confirm;
use super::sort::{COARSE, FINE, Sort};
use super::sweep::{LONG, MIDDLE, Rows, SHORT, strip};
use super::{BATCH, Record, Scratch};
use crate::geometry::{Aabb, Real};
use crate::kernels::arch::{Kernel, Simd};
use crate::kernels::isa::Kernels;
use crate::kernels::pair_sink::PairSink;

/// Reports all pairs of the records in `runs` that overlap in `boxes` and whose intersection starts in this tile. Also prefetches the records
/// of the next call, `coming`.
pub(crate) fn join<const D: usize, T: Real>(
    kernels: Kernels,
    runs: &[&[Record]],
    coming: &[&[Record]],
    boxes: &[Aabb<D, T>],
    scratch: &mut Scratch<T>,
    hits: &mut PairSink,
) {
    if scratch.prepare(runs.iter().map(|run| run.len()).sum()).is_err() {
        return hits.stop_out_of_memory();
    }
    scratch.coming.set(coming);
    let tests = sort_and_sweep(kernels, runs, scratch, &mut |scratch, count| {
        kernels.run(ConfirmKernel { boxes, scratch, count, hits });
        hits.stopped()
    });
    hits.count_tests(tests);
}

/// Sorts the records and sweeps them; the scratch is prepared for them. `process` gets the number of finds that wait in the scratch, in batches, and returns
/// whether to stop. Returns how many pairs of records were compared; after a stop, the number is too low.
#[inline(always)]
pub(super) fn sort_and_sweep<T: Real>(
    kernels: Kernels,
    runs: &[&[Record]],
    scratch: &mut Scratch<T>,
    process: &mut dyn FnMut(&mut Scratch<T>, usize) -> bool,
) -> u64 {
    kernels.run(Sort { runs, scratch });
    match scratch.expected_run {
        _ if scratch.buckets.are_fine() => sweep_strips::<SHORT, FINE, T>(kernels, scratch, process),
        0..SHORT_RUN => sweep_strips::<SHORT, COARSE, T>(kernels, scratch, process),
        SHORT_RUN..MIDDLE_RUN => sweep_strips::<MIDDLE, COARSE, T>(kernels, scratch, process),
        _ => sweep_strips::<LONG, COARSE, T>(kernels, scratch, process),
    }
}

/// Below the first number of records, a run is short; from the second on, it is long.
const SHORT_RUN: usize = 22;
const MIDDLE_RUN: usize = 36;

/// Sweeps the sorted records in windows of `G` groups, strip by strip, and has the finds processed.
fn sweep_strips<const G: usize, const SHIFT: u32, T: Real>(
    kernels: Kernels,
    scratch: &mut Scratch<T>,
    process: &mut dyn FnMut(&mut Scratch<T>, usize) -> bool,
) -> u64 {
    let (len, first_inside) = (scratch.len, scratch.buckets.start(1));
    let (strip, _) = strip(len);
    let (mut row, mut ends, mut waiting) = (0, 0, 0);
    while row < len {
        // Two records that both start before the tile on x are not paired here.
        let is_before = row < first_inside;
        let rows = row..(row + strip).min(if is_before { first_inside } else { len });
        row = rows.end;
        let Scratch { sorted, bytes, bounds, buckets, finds, .. } = scratch;
        let sorted = &sorted[..len];
        let (sum, found) = if is_before {
            kernels.run(Rows::<G, SHIFT, true> { sorted, bytes, bounds, buckets, rows, finds, waiting })
        } else {
            kernels.run(Rows::<G, SHIFT, false> { sorted, bytes, bounds, buckets, rows, finds, waiting })
        };
        (ends, waiting) = (ends + sum, found);
        scratch.coming.prefetch_some(len / (2 * strip) + 1);
        if (waiting >= BATCH || row == len) && process(scratch, std::mem::take(&mut waiting)) {
            break;
        }
    }
    // The run of a record before the tile starts at the first record inside; the run of any other starts behind the record itself.
    let starts = first_inside * first_inside + (len * (len + 1) - first_inside * (first_inside + 1)) / 2;
    ends.saturating_sub(starts) as u64
}

/// Confirms finds.
struct ConfirmKernel<'a, 'h, 'r, const D: usize, T> {
    boxes: &'a [Aabb<D, T>],
    scratch: &'a mut Scratch<T>,
    count: usize,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for ConfirmKernel<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { boxes, scratch, count, hits } = self;
        Confirm { rows: None, boxes, accepts: |_, _| true }.confirm(simd, scratch, count, hits);
    }
}
