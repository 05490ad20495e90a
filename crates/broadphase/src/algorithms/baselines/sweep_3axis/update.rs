//! New coordinates, sorted by insertion.

use super::Sweep3Axis;
use crate::algorithms::baselines::axis_lists::Events;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::{Changes, Frame};

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
        let Self { ledger, lists, is_broken } = self;
        if *is_broken {
            let all: Vec<u32> = ledger.ids().collect();
            return lists.start_over(ledger, &all);
        }
        let events = Events { come: ledger.come(), left: !ledger.gone().is_empty(), moved: !ledger.moved().is_empty() };
        lists.follow(ledger, events, |id| ledger.holds(id))
    }
}
