//! New coordinates, sorted by insertion.

use super::Sweep3Axis;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::{Changes, Frame};

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
        let Self { tracked, lists, sorter, is_broken } = self;
        if *is_broken {
            lists.clear();
            return lists.insert_and_sort(tracked, tracked.ids(), |_| true, sorter);
        }
        if tracked.removed().len() + tracked.moved().len() + tracked.inserted().len() == 0 {
            return Ok(());
        }
        // New objects are not in the lists yet, so an object that is not live was removed.
        lists.remove_and_renew(tracked, |id| !tracked.is_live(id));
        lists.insert_and_sort(tracked, tracked.inserted().iter().copied(), |_| true, sorter)
    }
}
