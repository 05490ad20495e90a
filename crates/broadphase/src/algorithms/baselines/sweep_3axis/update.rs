//! New coordinates, sorted by insertion.

use super::Sweep3Axis;
use super::ends::End;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::memory;
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
            self.tracked.update(&frame.with_changes(Changes::All))?;
        } else {
            self.tracked.update(frame)?;
        }
        let result = self.follow();
        self.is_broken = result.is_err();
        context.record("sort", clock);
        result
    }

    /// Takes in what changed. On error the lists are incomplete.
    fn follow(&mut self) -> Result<(), Error> {
        let new = self.tracked.inserted().len();
        if self.is_broken || new * SHARE > self.axes[0].len() / 2 {
            return self.start_over();
        }
        if !self.tracked.removed().is_empty() {
            self.forget();
        }
        for &id in self.tracked.inserted() {
            for (axis, ends) in self.axes.iter_mut().enumerate() {
                End::both(id, self.tracked.get(id), axis).into_iter().try_for_each(|end| memory::push(ends, end, ENDS))?;
            }
        }
        if new + self.tracked.moved().len() > 0 {
            (0..D).try_for_each(|axis| self.sort(axis))?;
        }
        Ok(())
    }

    /// Sorts all ends, and sweeps over the first axis: an object that starts is tested with all that have started and not ended.
    fn start_over(&mut self) -> Result<(), Error> {
        let objects = self.tracked.ids().count();
        for (axis, ends) in self.axes.iter_mut().enumerate() {
            ends.clear();
            let both = self.tracked.ids().flat_map(|id| End::both(id, self.tracked.get(id), axis));
            memory::extend(ends, 2 * objects, both, ENDS)?;
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
            let value = self.tracked.get(end.id());
            for &other in open.iter().filter(|&&other| self.tracked.get(other).overlaps(value)) {
                self.overlaps.insert(Pair::new(end.id(), other))?;
            }
            memory::push(&mut open, end.id(), ENDS)?;
        }
        Ok(())
    }

    /// Drops the ends and pairs of what is gone.
    fn forget(&mut self) {
        let Self { tracked, axes, overlaps, .. } = self;
        // New objects are not in the lists yet, so an object that is not live was removed.
        axes.iter_mut().for_each(|ends| ends.retain(|end| tracked.is_live(end.id())));
        overlaps.retain(|pair| tracked.is_live(pair.a) && tracked.is_live(pair.b));
    }

    /// The insertion sort. The boxes are this frame's on all axes, so a test gives the frame's result.
    fn sort(&mut self, axis: usize) -> Result<(), Error> {
        let Self { tracked, axes, overlaps, tests, .. } = self;
        let ends = &mut axes[axis];
        ends.iter_mut().for_each(|end| end.renew(tracked.get(end.id()), axis));
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
                    if tracked.get(pair.a).overlaps(tracked.get(pair.b)) {
                        overlaps.insert(pair)?;
                    }
                }
            }
            ends[at] = end;
        }
        Ok(())
    }
}
