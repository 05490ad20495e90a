//! The state of a query while it searches a structure.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use crate::algorithms::Found;
use crate::geometry::{Aabb, Measure, Real};
use crate::objects::Frame;

/// A running query: a measure, the distance up to which it still searches, and the visitor.
///
/// A structure calls [`may_hold`](Search::may_hold) to prune nodes, and [`offer`](Search::offer) once for each remaining object.
pub(crate) struct Search<'a, 'f, const D: usize, T> {
    frame: &'a Frame<'a, D, T>,
    pub(crate) measure: &'a dyn Measure<D, T>,
    /// How far it still reaches.
    pub(crate) limit: Cell<T>,
    visit: RefCell<Found<'f, T>>,
    refines: bool,
}

impl<'a, 'f, const D: usize, T: Real> Search<'a, 'f, D, T> {
    pub(crate) fn new(frame: &'a Frame<'a, D, T>, measure: &'a dyn Measure<D, T>, limit: T, visit: Found<'f, T>) -> Self {
        Self { frame, measure, limit: Cell::new(limit), visit: RefCell::new(visit), refines: measure.refines() }
    }

    #[inline(always)]
    pub(crate) fn limit(&self) -> T {
        self.limit.get()
    }

    /// A box that overlaps everything within the limit.
    pub(crate) fn reach(&self) -> Aabb<D, T> {
        self.measure.reach(self.limit())
    }

    /// May something inside `bounds` be an answer?
    pub(crate) fn may_hold(&self, bounds: &Aabb<D, T>) -> bool {
        self.measure.bound(bounds).is_some_and(|bound| bound <= self.limit())
    }

    /// Passes an object to the visitor, if it is within the limit.
    pub(crate) fn offer(&self, id: u32) -> ControlFlow<()> {
        match self.measure.bound(&self.frame.boxes[id as usize]) {
            Some(bound) => self.offer_at(id, bound),
            None => ControlFlow::Continue(()),
        }
    }

    /// The same for an object whose bound is known.
    #[inline]
    pub(crate) fn offer_at(&self, id: u32, bound: T) -> ControlFlow<()> {
        if bound > self.limit() {
            return ControlFlow::Continue(());
        }
        let exact = if self.refines { self.measure.distance(&self.frame.boxes[id as usize], bound) } else { Some(bound) };
        match exact {
            Some(distance) if distance <= self.limit() => match (self.visit.borrow_mut())(id, distance) {
                ControlFlow::Continue(limit) => {
                    self.limit.set(limit);
                    ControlFlow::Continue(())
                }
                ControlFlow::Break(()) => ControlFlow::Break(()),
            },
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Tests all objects one by one, for structures without a better way; tests compare the others with it.
pub(crate) fn scan<const D: usize, T: Real>(frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
    let search = Search::new(frame, measure, limit, visit);
    let _broken = frame.ids().try_for_each(|id| search.offer(id));
}
