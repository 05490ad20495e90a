//! New coordinates, sorted by insertion.

use super::Sweep3Axis;
use super::ends::End;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::memory::{push, reserve};
use crate::objects::{Changes, Frame};
use crate::pairs::Pair;

/// If more than one object in `SHARE` is new, everything is sorted from scratch.
const SHARE: usize = 8;
/// What the memory is for.
const ENDS: &str = "the ends of boxes";

impl<const D: usize, T: Real> Sweep3Axis<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        let clock = context.clock();
        if self.is_broken {
            frame.check_lists()?;
            self.ledger.update(&frame.with_changes(Changes::All))?;
        } else {
            self.ledger.update(frame)?;
        }
        let result = self.follow();
        self.is_broken = result.is_err();
        context.record("sort", clock);
        result
    }

    /// Follows the changes of the ledger. On error the lists are incomplete.
    fn follow(&mut self) -> Result<(), Error> {
        let new = self.ledger.come().len();
        if self.is_broken || new * SHARE > self.axes[0].len() / 2 {
            return self.start_over();
        }
        if !self.ledger.gone().is_empty() {
            self.forget();
        }
        for &id in self.ledger.come() {
            for (axis, ends) in self.axes.iter_mut().enumerate() {
                End::both(id, self.ledger.get(id), axis).into_iter().try_for_each(|end| push(ends, end, ENDS))?;
            }
        }
        if new + self.ledger.moved().len() > 0 {
            (0..D).try_for_each(|axis| self.sort(axis))?;
        }
        Ok(())
    }

    /// Sorts all ends, and sweeps over the first axis: an object that starts is tested with all that have started and not ended.
    fn start_over(&mut self) -> Result<(), Error> {
        let objects = self.ledger.ids().count();
        for (axis, ends) in self.axes.iter_mut().enumerate() {
            ends.clear();
            reserve(ends, 2 * objects, ENDS)?;
            ends.extend(self.ledger.ids().flat_map(|id| End::both(id, self.ledger.get(id), axis)));
            ends.sort_unstable_by(End::order);
        }
        self.overlaps.clear();
        let mut open: Vec<u32> = Vec::new();
        reserve(&mut open, objects, ENDS)?;
        for &end in &self.axes[0] {
            if end.is_upper() {
                open.retain(|&other| other != end.id());
                continue;
            }
            self.tests += open.len() as u64;
            let value = self.ledger.get(end.id());
            for &other in open.iter().filter(|&&other| self.ledger.get(other).overlaps(value)) {
                self.overlaps.insert(Pair::new(end.id(), other))?;
            }
            open.push(end.id());
        }
        Ok(())
    }

    /// Drops the ends and pairs of what is gone.
    fn forget(&mut self) {
        let Self { ledger, axes, overlaps, .. } = self;
        // New objects are not in the lists yet, so an object that the ledger does not hold is gone.
        axes.iter_mut().for_each(|ends| ends.retain(|end| ledger.holds(end.id())));
        overlaps.retain(|pair| ledger.holds(pair.a) && ledger.holds(pair.b));
    }

    /// The insertion sort. The ledger has the new boxes on all axes, so a test gives the result of the frame.
    fn sort(&mut self, axis: usize) -> Result<(), Error> {
        let Self { ledger, axes, overlaps, tests, .. } = self;
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
}
