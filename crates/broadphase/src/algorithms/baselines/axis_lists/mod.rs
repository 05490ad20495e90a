//! Sorted lists of ends, one per axis, and the set of pairs that follows from their exchanges: Baraff and Witkin's sweep and prune.
//!
//! At equal coordinates lower ends stand before upper ends, so that touching counts. New coordinates are written into the lists, which are then
//! sorted by insertion. Each exchange of a lower end with an upper end is the moment at which two boxes meet or part on that axis: meeting,
//! they are tested, and are a pair if they overlap on all axes; parting, they are a pair no more. New objects are appended, as if they
//! came from infinity. If many come at once, the lists are sorted from scratch, and one axis is swept.
//!
//! `sweep_3axis` has one such set of lists for all objects, `grid_sap` one for each cell.

mod ends;
mod pair_set;

pub(super) use ends::End;
pub(super) use pair_set::PairSet;

use crate::algorithms::common::{Ledger, bytes_of};
use crate::algorithms::{Violation, ensure};
use crate::error::Error;
use crate::geometry::Real;
use crate::memory::{push, reserve};
use crate::pairs::Pair;

/// If more than one object in `SHARE` is new, everything is sorted from scratch.
const SHARE: usize = 8;
/// What the memory is for.
const ENDS: &str = "the ends of boxes";

/// The lists of some objects of a ledger.
#[derive(Clone, Debug)]
pub(super) struct AxisLists<const D: usize, T> {
    /// The ends on each axis, sorted.
    pub(super) axes: [Vec<End<T>>; D],
    /// All overlapping pairs.
    pub(super) overlaps: PairSet,
    /// Tests since they were last asked for.
    tests: u64,
}

impl<const D: usize, T> Default for AxisLists<D, T> {
    fn default() -> Self {
        Self { axes: std::array::from_fn(|_| Vec::new()), overlaps: PairSet::default(), tests: 0 }
    }
}

/// What happened to the objects of the lists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Events<'a> {
    /// Objects that are new to the lists.
    pub(super) come: &'a [u32],
    /// May any have left them?
    pub(super) left: bool,
    /// May any have moved?
    pub(super) moved: bool,
}

impl<const D: usize, T: Real> AxisLists<D, T> {
    /// The number of objects.
    pub(super) fn len(&self) -> usize {
        self.axes[0].len() / 2
    }

    /// The objects that start at or before a coordinate on the first axis, in order.
    pub(super) fn started(&self, until: T) -> impl Iterator<Item = u32> {
        let started = self.axes[0].iter().take_while(move |end| end.at() <= until);
        started.filter(|end| !end.is_upper()).map(|end| end.id())
    }

    /// The tests since the last call.
    pub(super) fn take_tests(&mut self) -> u64 {
        std::mem::take(&mut self.tests)
    }

    /// The bytes it holds outside of itself.
    pub(super) fn bytes(&self) -> usize {
        self.axes.iter().map(bytes_of).sum::<usize>() + self.overlaps.bytes()
    }

    /// Follows what happened; `stays` tells which of the present objects are still part of the lists. On error the lists are incomplete.
    pub(super) fn follow(&mut self, ledger: &Ledger<D, T>, events: Events<'_>, stays: impl Fn(u32) -> bool) -> Result<(), Error> {
        let Events { come, left, moved } = events;
        if left {
            self.axes.iter_mut().for_each(|ends| ends.retain(|end| stays(end.id())));
            self.overlaps.retain(|pair| stays(pair.a) && stays(pair.b));
        }
        if come.len() * SHARE > self.len() {
            let mut all = Vec::new();
            reserve(&mut all, self.len() + come.len(), ENDS)?;
            all.extend(self.started(T::INFINITY).chain(come.iter().copied()));
            return self.start_over(ledger, &all);
        }
        for &id in come {
            for (axis, ends) in self.axes.iter_mut().enumerate() {
                End::both(id, ledger.get(id), axis).into_iter().try_for_each(|end| push(ends, end, ENDS))?;
            }
        }
        if moved || !come.is_empty() {
            (0..D).try_for_each(|axis| self.sort(ledger, axis))?;
        }
        Ok(())
    }

    /// Sorts the ends of these objects, and sweeps over the first axis: an object that starts is tested with all that have started and not ended.
    pub(super) fn start_over(&mut self, ledger: &Ledger<D, T>, ids: &[u32]) -> Result<(), Error> {
        for (axis, ends) in self.axes.iter_mut().enumerate() {
            ends.clear();
            reserve(ends, 2 * ids.len(), ENDS)?;
            ends.extend(ids.iter().flat_map(|&id| End::both(id, ledger.get(id), axis)));
            ends.sort_unstable_by(End::order);
        }
        self.overlaps.clear();
        let mut open: Vec<u32> = Vec::new();
        reserve(&mut open, ids.len(), ENDS)?;
        for &end in &self.axes[0] {
            if end.is_upper() {
                open.retain(|&other| other != end.id());
                continue;
            }
            self.tests += open.len() as u64;
            let value = ledger.get(end.id());
            for &other in open.iter().filter(|&&other| ledger.get(other).overlaps(value)) {
                self.overlaps.insert(Pair::new(end.id(), other))?;
            }
            open.push(end.id());
        }
        Ok(())
    }

    /// The insertion sort. The ledger has the new boxes on all axes, so a test gives the result of the frame.
    fn sort(&mut self, ledger: &Ledger<D, T>, axis: usize) -> Result<(), Error> {
        let Self { axes, overlaps, tests } = self;
        let ends = &mut axes[axis];
        ends.iter_mut().for_each(|end| end.renew(ledger.get(end.id()), axis));
        for start in 1..ends.len() {
            let end = ends[start];
            let mut at = start;
            while at > 0 && end.is_before(ends[at - 1]) {
                let passed = ends[at - 1];
                ends[at] = passed;
                at -= 1;
                if end.is_upper() == passed.is_upper() {
                    continue;
                }
                let pair = Pair::new(end.id(), passed.id());
                if end.is_upper() {
                    overlaps.remove(pair); // it ends before the other one starts
                } else if !overlaps.contains(pair) {
                    *tests += 1;
                    if ledger.get(pair.a).overlaps(ledger.get(pair.b)) {
                        overlaps.insert(pair)?;
                    }
                }
            }
            ends[at] = end;
        }
        Ok(())
    }

    /// Are the lists those of `objects` objects, sorted, and up to date? Is every pair found once? With `thoroughly`: are these all pairs?
    pub(super) fn validate(&self, ledger: &Ledger<D, T>, objects: usize, thoroughly: bool) -> Result<(), Violation> {
        for (axis, ends) in self.axes.iter().enumerate() {
            ensure!(ends.len() == 2 * objects, "{} ends on axis {axis} for {objects} objects", ends.len());
            let unsorted = ends.windows(2).position(|two| two[1].is_before(two[0]));
            ensure!(unsorted.is_none(), "the ends on axis {axis} are not sorted at {unsorted:?}");
            for end in ends {
                ensure!(ledger.holds(end.id()), "object {} is gone", end.id());
                let own = End::both(end.id(), ledger.get(end.id()), axis)[usize::from(end.is_upper())];
                ensure!(end.at() == own.at(), "object {} has moved on axis {axis}", end.id());
            }
        }
        let mut pairs = self.overlaps.pairs().to_vec();
        pairs.sort_unstable();
        ensure!(pairs.is_sorted_by(|a, b| a < b), "a pair stands twice");
        let lost = pairs.iter().find(|&&pair| !self.overlaps.contains(pair));
        ensure!(lost.is_none(), "the table does not find {lost:?}");
        if thoroughly {
            let expected = self.sweep(ledger);
            ensure!(pairs == expected, "{} pairs instead of {}", pairs.len(), expected.len());
        }
        Ok(())
    }

    /// All pairs from the first axis, sorted.
    fn sweep(&self, ledger: &Ledger<D, T>) -> Vec<Pair> {
        let (mut found, mut open) = (Vec::new(), Vec::new());
        for end in &self.axes[0] {
            if end.is_upper() {
                open.retain(|&id| id != end.id());
            } else {
                let of = |id: u32| ledger.get(id);
                found.extend(open.iter().filter(|&&id| of(id).overlaps(of(end.id()))).map(|&id| Pair::new(id, end.id())));
                open.push(end.id());
            }
        }
        found.sort_unstable();
        found
    }
}
