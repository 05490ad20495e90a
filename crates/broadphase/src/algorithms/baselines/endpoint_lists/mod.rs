//! Sorted lists of endpoints and the pairs that follow from them: the incremental sweep and prune of Baraff and Witkin.
//!
//! # The structure
//! For each axis a list of the ends of some boxes, sorted; at equal coordinates lower ends stand before upper ends, so that touching counts. A
//! set of overlapping pairs. A frame writes the new coordinates into the lists and sorts them by insertion. Each exchange of a lower end
//! with an upper end is the moment at which two boxes meet or part on that axis: meeting, they are tested, and are a pair if they
//! overlap on all axes; parting, they are a pair no more.
//!
//! `sweep-3axis` has one of these for all objects, `grid-sap` one for each cell. A cell holds only some of the pairs of its objects, those that it
//! *owns*: each pair belongs to one cell.
//!
//! # Cost
//! A pass over the ends, and a step per exchange. New objects are appended, as if they came from infinity, and pass by half of the others on each
//! axis; if they are many, the lists are sorted from scratch, and the first axis is swept.

mod end;
mod pair_set;
mod validate;

use crate::algorithms::common::{TrackedBoxes, bytes_of};
use crate::error::Error;
use crate::geometry::Real;
use crate::memory;
use crate::pairs::Pair;

use end::End;
use pair_set::PairSet;

/// If more than one object in `SHARE` is new, the lists are sorted from scratch.
const SHARE: usize = 8;
/// What the memory is for, in errors.
const ENDS: &str = "the ends of boxes";

/// The ends of some boxes on each axis, and the pairs among them. See the module documentation.
#[derive(Clone, Debug)]
pub(super) struct EndpointLists<const D: usize, T: Real> {
    /// The ends on each axis; sorted between updates.
    axes: [Vec<End<T>>; D],
    /// The overlapping pairs that the lists own.
    overlaps: PairSet,
}

/// What sorting counts, and its buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorter {
    /// Box tests since the last [`take_tests`](Sorter::take_tests).
    tests: u64,
    /// Objects that a sweep has met and not left.
    open: Vec<u32>,
}

impl Sorter {
    /// The tests since the last call.
    pub(super) fn take_tests(&mut self) -> u64 {
        std::mem::take(&mut self.tests)
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        bytes_of(&self.open)
    }
}

impl<const D: usize, T: Real> Default for EndpointLists<D, T> {
    fn default() -> Self {
        Self { axes: std::array::from_fn(|_| Vec::new()), overlaps: PairSet::default() }
    }
}

impl<const D: usize, T: Real> EndpointLists<D, T> {
    /// The number of objects.
    pub(super) fn len(&self) -> usize {
        self.axes[0].len() / 2
    }

    /// All pairs, in an order that follows from the calls alone.
    pub(super) fn pairs(&self) -> &[Pair] {
        self.overlaps.pairs()
    }

    /// The objects whose lower end on the first axis is at most `limit`, in the order of these ends.
    pub(super) fn started_before(&self, limit: T) -> impl Iterator<Item = u32> + '_ {
        let started = self.axes[0].iter().take_while(move |end| end.at() <= limit);
        started.filter(|end| !end.is_upper()).map(|end| end.id())
    }

    /// Removes all objects.
    pub(super) fn clear(&mut self) {
        self.axes.iter_mut().for_each(Vec::clear);
        self.overlaps.clear();
    }

    /// Removes the objects of which `is_gone` says so, with their pairs, and writes the current coordinates of the others.
    pub(super) fn remove_and_renew(&mut self, tracked: &TrackedBoxes<D, T>, is_gone: impl Fn(u32) -> bool) {
        let before = self.len();
        for (axis, ends) in self.axes.iter_mut().enumerate() {
            ends.retain_mut(|end| {
                let stays = !is_gone(end.id());
                if stays {
                    end.renew(tracked.get(end.id()), axis);
                }
                stays
            });
        }
        if self.len() < before {
            self.overlaps.retain(|pair| !is_gone(pair.a) && !is_gone(pair.b));
        }
    }

    /// Adds objects, and sorts: by insertion, or from scratch if more than one object in `SHARE` is new. `owns` says which pairs the lists hold;
    /// of two objects that stay, it must say the same as before.
    ///
    /// On error the lists are incomplete.
    pub(super) fn insert_and_sort(
        &mut self,
        tracked: &TrackedBoxes<D, T>,
        new: impl Iterator<Item = u32> + Clone,
        owns: impl Fn(Pair) -> bool,
        sorter: &mut Sorter,
    ) -> Result<(), Error> {
        let anew = new.clone().count() * SHARE > self.len();
        for (axis, ends) in self.axes.iter_mut().enumerate() {
            for id in new.clone() {
                End::both(id, tracked.get(id), axis).into_iter().try_for_each(|end| memory::push(ends, end, ENDS))?;
            }
        }
        match anew {
            true => self.sort_from_scratch(tracked, owns, sorter),
            false => (0..D).try_for_each(|axis| self.sort_by_insertion(axis, tracked, &owns, sorter)),
        }
    }

    /// Sorts all ends, and sweeps over the first axis: an object that starts is tested with all that have started and not ended.
    fn sort_from_scratch(
        &mut self,
        tracked: &TrackedBoxes<D, T>,
        owns: impl Fn(Pair) -> bool,
        sorter: &mut Sorter,
    ) -> Result<(), Error> {
        let Sorter { tests, open } = sorter;
        self.axes.iter_mut().for_each(|ends| ends.sort_unstable_by(End::order));
        self.overlaps.clear();
        open.clear();
        for &end in &self.axes[0] {
            if end.is_upper() {
                open.retain(|&other| other != end.id());
                continue;
            }
            let value = tracked.get(end.id());
            for &other in open.iter() {
                let pair = Pair::new(end.id(), other);
                if owns(pair) {
                    *tests += 1;
                    if tracked.get(other).overlaps(value) {
                        self.overlaps.insert(pair)?;
                    }
                }
            }
            memory::push(open, end.id(), ENDS)?;
        }
        Ok(())
    }

    /// The insertion sort. The boxes are this frame's on all axes, so a test gives the frame's result.
    fn sort_by_insertion(
        &mut self,
        axis: usize,
        tracked: &TrackedBoxes<D, T>,
        owns: impl Fn(Pair) -> bool,
        sorter: &mut Sorter,
    ) -> Result<(), Error> {
        let Self { axes, overlaps } = self;
        let ends = &mut axes[axis];
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
                } else if owns(pair) && !overlaps.contains(pair) {
                    sorter.tests += 1;
                    if tracked.get(pair.a).overlaps(tracked.get(pair.b)) {
                        overlaps.insert(pair)?;
                    }
                }
            }
            ends[at] = end;
        }
        Ok(())
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.axes.iter().map(bytes_of).sum::<usize>() + self.overlaps.bytes()
    }
}
