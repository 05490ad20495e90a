//! The allocator of slots and handle indices: lowest free number first, so that a world that shrank becomes dense again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Live;

/// Allocates numbers from 0 on. A number is *free*, *live*, or *vacated*: not live, but not to be reused yet.
///
/// The next number depends only on which are free, so two allocators with the same history agree.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Slots {
    len: usize,
    live: Vec<u64>,
    count: usize,
    /// The numbers that were live when [`remember`](Slots::remember) was last called.
    known: Vec<u64>,
    /// May `live` differ from `known`?
    changed: bool,
    /// The free numbers below `len`, and possibly some from `len` on, which are ignored.
    free: BinaryHeap<Reverse<u32>>,
}

#[inline(always)]
fn bit(words: &[u64], slot: u32) -> bool {
    words.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
}

impl Slots {
    /// How many numbers there are, in use or not.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How many are live.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Are all numbers live?
    #[inline(always)]
    pub(crate) fn are_all_live(&self) -> bool {
        self.count == self.len
    }

    /// May the live numbers differ from the known ones?
    pub(crate) fn has_changed(&self) -> bool {
        self.changed
    }

    /// Is the number live?
    #[inline(always)]
    pub(crate) fn contains(&self, slot: u32) -> bool {
        bit(&self.live, slot)
    }

    /// Was the number live when [`remember`](Slots::remember) was last called?
    pub(crate) fn knows(&self, slot: u32) -> bool {
        bit(&self.known, slot)
    }

    /// The live numbers, in the form that frames use.
    pub(crate) fn live(&self) -> Live<'_> {
        if self.are_all_live() { Live::All } else { Live::Bits(&self.live) }
    }

    /// The live numbers, ascending.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.live.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let low = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (low < 64).then_some(index as u32 * 64 + low)
            })
        })
    }

    /// The number that [`take`](Slots::take) gives next.
    pub(crate) fn next(&mut self) -> usize {
        match self.free.peek() {
            Some(&Reverse(slot)) if (slot as usize) < self.len => slot as usize,
            Some(_) => {
                self.free.clear(); // the lowest is beyond the end, so all are
                self.len
            }
            None => self.len,
        }
    }

    /// Makes the lowest free number live, and returns it.
    pub(crate) fn take(&mut self) -> u32 {
        let slot = self.next();
        if slot == self.len {
            self.len += 1;
            if self.live.len() * 64 < self.len {
                self.live.push(0); // reserved by callers that may run out of memory
                self.known.resize(self.live.len(), 0); // so that making numbers known needs no memory
            }
        } else {
            self.free.pop();
        }
        self.live[slot / 64] |= 1 << (slot % 64);
        self.count += 1;
        self.changed = true;
        slot as u32
    }

    /// Makes a live number vacated: no longer live, but not to be reused yet.
    pub(crate) fn vacate(&mut self, slot: u32) {
        debug_assert!(self.contains(slot));
        self.live[slot as usize / 64] &= !(1 << (slot % 64));
        self.count -= 1;
        self.changed = true;
    }

    /// Makes a vacated number free again.
    pub(crate) fn release(&mut self, slot: u32) {
        self.free.push(Reverse(slot));
    }

    /// Makes the live numbers the known ones.
    pub(crate) fn remember(&mut self) {
        if std::mem::take(&mut self.changed) {
            self.known.clone_from(&self.live);
        }
    }

    /// Adds the live numbers to the known ones.
    pub(crate) fn remember_also(&mut self) {
        self.known.resize(self.live.len().max(self.known.len()), 0);
        self.known.iter_mut().zip(&self.live).for_each(|(known, live)| *known |= live);
        self.changed = true;
    }

    /// One more than the highest live number.
    pub(crate) fn end(&self) -> usize {
        let last = self.live.iter().rposition(|&word| word != 0);
        last.map_or(0, |index| index * 64 + 64 - self.live[index].leading_zeros() as usize)
    }

    /// Forgets the numbers from `len` on, which must all be free.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = len;
        self.live.truncate(len.div_ceil(64));
        self.known.truncate(len.div_ceil(64));
        if let (Some(word), false) = (self.known.last_mut(), len.is_multiple_of(64)) {
            *word &= !(!0 << (len % 64));
        }
    }

    /// Makes room for `more`; false if there is no memory for it.
    pub(crate) fn reserve(&mut self, more: usize) -> bool {
        let words = (self.len + more).div_ceil(64);
        self.live.try_reserve(words.saturating_sub(self.live.len())).is_ok()
            && self.known.try_reserve(words.saturating_sub(self.known.len())).is_ok()
    }

    /// Makes sure that one more number can be vacated, and that all vacated ones can be freed; false if there is no memory for it.
    pub(crate) fn reserve_release(&mut self) -> bool {
        self.free.try_reserve(self.len - self.count + 1).is_ok()
    }

    pub(crate) fn shrink(&mut self) {
        let len = self.len;
        self.free.retain(|&Reverse(slot)| (slot as usize) < len);
        self.free.shrink_to_fit();
        self.live.shrink_to_fit();
        self.known.shrink_to_fit();
    }

    /// Is a deserialized allocator consistent? Counts must be right, and free numbers must not be live.
    #[cfg(feature = "serde")]
    pub(super) fn is_sound(&self) -> bool {
        let mut free: Vec<u32> = self.free.iter().map(|&Reverse(slot)| slot).filter(|&slot| (slot as usize) < self.len).collect();
        free.sort_unstable();
        self.live.len() == self.len.div_ceil(64)
            && self.end() <= self.len
            && self.live.iter().map(|word| word.count_ones() as usize).sum::<usize>() == self.count
            && free.windows(2).all(|two| two[0] != two[1])
            && free.iter().all(|&slot| !self.contains(slot))
    }

    /// Are these numbers vacated, each of them listed once?
    #[cfg(feature = "serde")]
    pub(super) fn are_vacated(&self, numbers: impl Iterator<Item = u32>) -> bool {
        let mut listed: Vec<u32> = numbers.collect();
        let known = listed.iter().all(|&slot| (slot as usize) < self.len && !self.contains(slot));
        listed.extend(self.free.iter().map(|&Reverse(slot)| slot).filter(|&slot| (slot as usize) < self.len));
        listed.sort_unstable();
        known && listed.windows(2).all(|two| two[0] != two[1])
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        (self.live.capacity() + self.known.capacity()) * 8 + self.free.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_number_comes_first_even_after_truncation() {
        let mut slots = Slots::default();
        (0..200).for_each(|k| assert_eq!(slots.take(), k));
        for slot in (50..200).chain([7]) {
            slots.vacate(slot);
            slots.release(slot);
        }
        assert_eq!((slots.count(), slots.end()), (49, 50));
        slots.truncate(50);
        assert_eq!((slots.take(), slots.take(), slots.take()), (7, 50, 51));
        assert!(slots.ids().eq(0..52));
    }

    #[test]
    fn vacated_numbers_are_not_reused_and_known_ones_are_remembered() {
        let mut slots = Slots::default();
        assert_eq!((slots.take(), slots.take()), (0, 1));
        slots.remember();
        slots.vacate(0);
        assert_eq!(slots.take(), 2);
        assert!(slots.knows(0) && !slots.knows(2) && !slots.contains(0));
        slots.remember_also();
        assert!(slots.knows(0) && slots.knows(2));
        slots.release(0);
        assert_eq!(slots.take(), 0);
    }
}
