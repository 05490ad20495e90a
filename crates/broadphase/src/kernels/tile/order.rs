//! Runs of records that are sorted along x, by their lower coordinate: a mover can overlap only a short range of them, and a record is found without
//! a pass over its run.

use super::Record;
use crate::kernels::prefetch::prefetch;
use crate::memory;

/// Records per cache line.
const LINE: usize = 4;

/// The properties of the sorted runs of a tile that bound a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunOrder {
    /// An upper bound on the width of records along x.
    pub(crate) widest: u16,
    /// The inverse of the tile's extent along x, as a fraction of [`ONE`].
    scale: u32,
}

/// The unit of [`RunOrder::scale`], as a power of two.
const ONE: u32 = 24;

impl RunOrder {
    /// The order of empty runs, in a tile that covers `extent` quanta along x.
    pub(crate) fn new(extent: u32) -> Self {
        Self { widest: 0, scale: (1 << ONE) / extent.clamp(1, 1 << 16) }
    }

    /// Widens the bound for a record that was added.
    #[inline(always)]
    pub(crate) fn widen(&mut self, record: &Record) {
        self.widest = self.widest.max(record.width());
    }

    /// The least lower coordinate of records that may reach a record.
    #[inline(always)]
    pub(crate) fn reach(&self, record: &Record) -> u16 {
        record.span().0.saturating_sub(self.widest)
    }

    /// Where a record that starts at `x` is expected, if records are spread evenly over the tile.
    #[inline(always)]
    fn expected(&self, run: &[Record], x: u16) -> usize {
        let expected = (run.len() as u64 * u64::from(x) * u64::from(self.scale)) >> ONE;
        (expected as usize).min(run.len())
    }

    /// The first record of a sorted run that starts at `x` or behind: by steps of growing length from where it is expected, then by bisection.
    #[inline(always)]
    pub(crate) fn first_from(&self, run: &[Record], x: u16) -> usize {
        let is_before = |at: usize| run[at].span().0 < x;
        let start = self.expected(run, x);
        let (mut below, mut above, mut step) = (start, start, LINE);
        if start < run.len() && is_before(start) {
            // The answer is behind `below`.
            loop {
                above = (below + step).min(run.len());
                if above == run.len() || !is_before(above) {
                    break;
                }
                (below, step) = (above, 2 * step);
            }
            below += 1;
        } else {
            // The answer is at most `above`.
            loop {
                below = above.saturating_sub(step);
                if below == 0 || is_before(below) {
                    break;
                }
                (above, step) = (below, 2 * step);
            }
        }
        below + run[below..above].partition_point(|record| record.span().0 < x)
    }

    /// A position in a sorted run before which no record starts at `x` or later; usually a few records before the first that does. For passes that
    /// continue from there: bisection would cost more than those records.
    #[inline(always)]
    pub(crate) fn near_before(&self, run: &[Record], x: u16) -> usize {
        let near = near(run);
        let Some(mut at) = self.expected(run, x).checked_sub(near) else { return 0 };
        let is_before = |at: usize| run.get(at).is_some_and(|record| record.span().0 < x);
        for _ in 0..STEPS {
            if !is_before(at) {
                break;
            }
            if !is_before(at + near) {
                return at;
            }
            at += near;
        }
        self.first_from(run, x)
    }

    /// Where the record of an object is in a sorted run, if it starts at `x` there.
    #[inline(always)]
    pub(crate) fn position(&self, run: &[Record], x: u16, id: u32) -> Option<usize> {
        let first = self.near_before(run, x);
        let near = run[first..].iter().take_while(|record| record.span().0 <= x);
        near.zip(first..).find(|(record, _)| record.id() == id).map(|(_, at)| at)
    }

    /// Prefetches the records of a sorted run from where those that start at `x` are expected.
    #[inline(always)]
    pub(crate) fn prefetch_from(&self, run: &[Record], x: u16) {
        let start = self.expected(run, x);
        let near = near(run);
        (start.saturating_sub(near)..start + 2 * near + LINE).step_by(LINE).for_each(|at| prefetch(run, at));
    }

    /// Is the run sorted, and is no record wider than known?
    pub(crate) fn holds(&self, run: &[Record]) -> bool {
        run.is_sorted_by_key(|record| record.span().0) && run.iter().all(|record| record.width() <= self.widest)
    }
}

/// The approximate distance of records from their expected positions, if they are spread at random.
#[inline(always)]
fn near(run: &[Record]) -> usize {
    1 << ((run.len() | 1).ilog2() / 2)
}

/// Steps after which bisection costs less.
const STEPS: usize = 4;

/// Puts the record `at` in its place, after it has been changed. The others are sorted.
#[inline(always)]
pub(crate) fn reinsert(run: &mut [Record], mut at: usize) {
    let record = run[at];
    let x = record.span().0;
    while at > 0 && run[at - 1].span().0 > x {
        run[at] = run[at - 1];
        at -= 1;
    }
    while at + 1 < run.len() && run[at + 1].span().0 < x {
        run[at] = run[at + 1];
        at += 1;
    }
    run[at] = record;
}

/// Sorts a run. `buffer` is scratch.
pub(crate) fn sort_run(run: &mut [Record], buffer: &mut Vec<Record>) {
    // By the upper byte first, which nearly sorts them.
    let byte = |record: &Record| usize::from(record.span().0 >> 8);
    let mut starts = [0u32; 257];
    run.iter().for_each(|record| starts[byte(record) + 1] += 1);
    let most = starts.iter().max().copied().unwrap_or(0);
    (1..257).for_each(|k| starts[k] += starts[k - 1]);
    let fits = memory::refill(buffer, run.len(), Record::default(), "records").is_ok();
    if most > FEW || !fits {
        // By the id too, so that the order is the same on every machine.
        return run.sort_unstable_by_key(|record| (record.span().0, record.id()));
    }
    buffer.copy_from_slice(run);
    for record in &*buffer {
        let next = &mut starts[byte(record)];
        run[*next as usize] = *record;
        *next += 1;
    }
    // Each is near its place.
    for at in 1..run.len() {
        reinsert(&mut run[..=at], at);
    }
}

/// Records with the same upper byte up to which a run is sorted by insertion.
const FEW: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *seed >> 33
    }

    fn record(x: u64, id: u32) -> Record {
        let x = x as u16;
        Record::new([x, 1, 1, x.saturating_add(9), 9, 9], id)
    }

    #[test]
    fn records_are_found_wherever_they_are_crowded() {
        let mut seed = 1;
        let mut buffer = Vec::new();
        for (count, spread, from, extent) in [
            (0, 1, 0, 1),
            (1, 5, 9, 65_535),
            (7, 3, 0, 2),
            (250, 65_536, 0, 65_535),
            (300, 40, 60_000, 40_000),
            (1000, 700, 0, 65_535),
            (1000, 700, 0, 700),
            (5000, 1, 65_535, 3),
            (4000, 65_536, 0, 65_536),
        ] {
            let mut run: Vec<Record> = (0..count).map(|id| record(from + random(&mut seed) % spread, id)).collect();
            sort_run(&mut run, &mut buffer);
            let order = RunOrder { widest: 9, ..RunOrder::new(extent) };
            assert!(order.holds(&run), "{count} records");
            for x in run.iter().map(|record| record.span().0).chain([0, 1, 77, 65_534, 65_535]) {
                let first = run.partition_point(|record| record.span().0 < x);
                assert_eq!(order.first_from(&run, x), first, "{count} records, from {x}");
                assert!(order.near_before(&run, x) <= first, "{count} records, from {x}");
            }
            for (at, found) in run.iter().enumerate() {
                assert_eq!(order.position(&run, found.span().0, found.id()), Some(at));
                assert_eq!(order.position(&run, found.span().0, count), None);
            }
            for _ in 0..count.min(100) {
                let at = random(&mut seed) as usize % run.len();
                run[at] = record(random(&mut seed) % 65_536, run[at].id());
                reinsert(&mut run, at);
                assert!(order.holds(&run));
            }
            assert!(run.is_empty() || !RunOrder::new(extent).holds(&run), "a record is wider than nothing");
        }
    }
}
