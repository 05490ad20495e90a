//! Objects in linked lists, one list per node or section, as paper 004 keeps them; linked both ways, so that removal does not search.

use super::{bytes_of, push};
use crate::error::Error;
use crate::memory;

/// No object, no bin, no node.
pub(crate) const NONE: u32 = u32::MAX;

/// What the memory is for, in errors.
const ORDER: &str = "the order of objects";

/// Doubly linked lists through the slots. Every object stores its bin and its neighbors, so inserting and removing are O(1).
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkedBins {
    heads: Vec<u32>,
    links: Vec<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    bin: u32,
    next: u32,
    previous: u32,
}

const FREE: Link = Link { bin: NONE, next: NONE, previous: NONE };

impl LinkedBins {
    /// The number of bins.
    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }

    /// Adds empty bins at the end, until there are `bins`.
    pub(crate) fn extend_to(&mut self, bins: usize) {
        while self.heads.len() < bins {
            push(&mut self.heads, NONE);
        }
    }

    /// Empties all bins and removes those behind the first `bins`.
    pub(crate) fn clear(&mut self, bins: usize) {
        self.heads.clear();
        self.links.fill(FREE);
        self.extend_to(bins);
    }

    /// Makes room for slots; those behind the end are empty.
    pub(crate) fn resize_slots(&mut self, slots: usize) {
        debug_assert!(self.links.iter().skip(slots).all(|link| link.bin == NONE));
        self.links.resize(slots, FREE);
    }

    /// The bin of an object.
    #[inline(always)]
    pub(crate) fn bin_of(&self, id: u32) -> Option<u32> {
        self.links.get(id as usize).map(|link| link.bin).filter(|&bin| bin != NONE)
    }

    /// Puts an object that is in no bin at the front of one.
    pub(crate) fn place(&mut self, id: u32, bin: u32) {
        let head = std::mem::replace(&mut self.heads[bin as usize], id);
        self.links[id as usize] = Link { bin, next: head, previous: NONE };
        if head != NONE {
            self.links[head as usize].previous = id;
        }
    }

    /// Takes an object out of its bin, and returns the bin.
    pub(crate) fn take(&mut self, id: u32) -> u32 {
        let Link { bin, next, previous } = std::mem::replace(&mut self.links[id as usize], FREE);
        match previous {
            NONE => self.heads[bin as usize] = next,
            previous => self.links[previous as usize].next = next,
        }
        if next != NONE {
            self.links[next as usize].previous = previous;
        }
        bin
    }

    /// Takes an object out of a bin as a singly linked list does: from the front, link by link. Returns how many objects were passed,
    /// itself included, or `None` if it is not there.
    pub(crate) fn search_and_take(&mut self, id: u32, bin: u32) -> Option<u64> {
        let passed = self.iter(bin).position(|other| other == id)? as u64 + 1;
        self.take(id);
        Some(passed)
    }

    /// The first object of a bin, or [`NONE`].
    #[inline(always)]
    pub(crate) fn first(&self, bin: u32) -> u32 {
        self.heads[bin as usize]
    }

    /// The object behind another one in its bin, or [`NONE`].
    #[inline(always)]
    pub(crate) fn after(&self, id: u32) -> u32 {
        self.links[id as usize].next
    }

    /// The objects of a bin.
    pub(crate) fn iter(&self, bin: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |id: u32| (id != NONE).then_some(id);
        std::iter::successors(some(self.first(bin)), move |&id| some(self.after(id)))
    }

    /// All objects in the order of bins, and where each bin starts: `starts[bin]..starts[bin + 1]`.
    pub(crate) fn lay_out(&self, ids: &mut Vec<u32>, starts: &mut Vec<u32>) -> Result<(), Error> {
        ids.clear();
        starts.clear();
        for bin in 0..self.heads.len() as u32 {
            memory::push(starts, ids.len() as u32, ORDER)?;
            self.iter(bin).try_for_each(|id| memory::push(ids, id, ORDER))?;
        }
        memory::push(starts, ids.len() as u32, ORDER)
    }

    /// The first bin or object at which the links do not fit, and how many objects there are if all do.
    pub(crate) fn check(&self) -> Result<usize, String> {
        let mut count = 0;
        for bin in 0..self.heads.len() as u32 {
            let mut previous = NONE;
            for id in self.iter(bin) {
                let link = self.links[id as usize];
                if link.bin != bin || link.previous != previous {
                    return Err(format!("object {id} comes after {previous} in bin {bin}, but has the link {link:?}"));
                }
                previous = id;
                count += 1;
                if count > self.links.len() {
                    return Err(format!("the list of bin {bin} has no end"));
                }
            }
        }
        let homed = self.links.iter().filter(|link| link.bin != NONE).count();
        if homed == count { Ok(count) } else { Err(format!("{homed} objects have a bin, {count} are in one")) }
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        bytes_of(&self.heads) + bytes_of(&self.links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taking_out_of_front_middle_and_end_leaves_a_sound_list() {
        let mut bins = LinkedBins::default();
        bins.extend_to(2);
        bins.resize_slots(6);
        (0..5).for_each(|id| bins.place(id, 1));
        for (id, rest) in [(2, vec![4, 3, 1, 0]), (4, vec![3, 1, 0]), (0, vec![3, 1])] {
            assert_eq!(bins.take(id), 1);
            assert_eq!(bins.iter(1).collect::<Vec<_>>(), rest);
            assert_eq!(bins.check(), Ok(rest.len()));
        }
        assert_eq!(
            [bins.search_and_take(4, 1), bins.search_and_take(1, 1), bins.check().ok().map(|n| n as u64)],
            [None, Some(2), Some(1)]
        );
        bins.place(1, 1);
        let mut broken = bins.clone();
        broken.links[3].previous = NONE;
        assert!(broken.check().is_err(), "a wrong back reference");
        bins.heads[0] = 3;
        assert!(bins.check().is_err(), "an object in two lists");
    }
}
