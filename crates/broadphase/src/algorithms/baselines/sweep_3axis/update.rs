//! New coordinates, sorted by insertion.

use super::Sweep3Axis;
use super::ends::End;
use crate::algorithms::common::push;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Frame;
use crate::pairs::Pair;

/// If more than one object in `SHARE` is new, everything is sorted at one go.
const SHARE: usize = 8;

impl<const D: usize, T: Real> Sweep3Axis<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        self.ledger.update(frame)?;
        let clock = context.clock();
        let new = self.ledger.come().len();
        if new * SHARE > self.axes[0].len() / 2 {
            self.start_over();
        } else {
            if !self.ledger.gone().is_empty() {
                self.forget();
            }
            for &id in self.ledger.come() {
                for (axis, ends) in self.axes.iter_mut().enumerate() {
                    End::both(id, self.ledger.get(id), axis).into_iter().for_each(|end| push(ends, end));
                }
            }
            if new + self.ledger.moved().len() > 0 {
                (0..D).for_each(|axis| self.sort(axis));
            }
        }
        context.record("sort", clock);
        Ok(())
    }

    /// Sorts all ends, and sweeps over the first axis: who is open when another one starts is tested with it.
    fn start_over(&mut self) {
        for (axis, ends) in self.axes.iter_mut().enumerate() {
            ends.clear();
            ends.extend(self.ledger.ids().flat_map(|id| End::both(id, self.ledger.get(id), axis)));
            ends.sort_unstable_by(End::order);
        }
        self.overlaps.clear();
        let mut open: Vec<u32> = Vec::new();
        for &end in &self.axes[0] {
            if end.is_upper() {
                open.retain(|&other| other != end.id());
                continue;
            }
            self.tests += open.len() as u64;
            let value = self.ledger.get(end.id());
            for &other in open.iter().filter(|&&other| self.ledger.get(other).overlaps(value)) {
                self.overlaps.insert(Pair::new(end.id(), other));
            }
            open.push(end.id());
        }
    }

    /// Drops the ends and pairs of what is gone.
    fn forget(&mut self) {
        let Self { ledger, axes, overlaps, .. } = self;
        // Nothing that has come is in the lists yet, so who is not held is gone.
        axes.iter_mut().for_each(|ends| ends.retain(|end| ledger.holds(end.id())));
        overlaps.retain(|pair| ledger.holds(pair.a) && ledger.holds(pair.b));
    }

    /// The insertion sort. All boxes are the new ones on all axes already, so a meeting is judged by what holds in the end.
    fn sort(&mut self, axis: usize) {
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
                        overlaps.insert(pair);
                    }
                }
            }
            ends[at] = end;
        }
    }
}
