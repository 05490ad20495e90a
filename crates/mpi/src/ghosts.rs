//! Ghosts: copies of another rank's objects, kept from frame to frame. Only changes travel.
//!
//! Sender and receiver hold the same list, ordered by the sender's slots. A message has two bits for each old entry (is it gone, has its box changed),
//! then the changed boxes, then the new objects. If nothing changed, it has only the two bits per ghost.

use broadphase::{Aabb, Real};

use crate::select::Chosen;
use crate::slots::{Slots, ascending};
use crate::wire::{Malformed, Reader, put};

/// Which object a ghost is a copy of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) rank: u32,
    pub(crate) index: u32,
    pub(crate) id: u64,
}

/// The sender's copy of a receiver's list.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing<const D: usize, T: Real> {
    /// By slot, ascending.
    sent: Vec<Chosen<D, T>>,
}

impl<const D: usize, T: Real> Default for Outgoing<D, T> {
    fn default() -> Self {
        Self { sent: Vec::new() }
    }
}

fn set(bits: &mut [u8], index: usize) {
    bits[index / 8] |= 1 << (index % 8);
}

impl<const D: usize, T: Real> Outgoing<D, T> {
    /// Appends the changes that turn the receiver's list into `chosen`, which is ascending. The changes of `slots` must be listed.
    pub(crate) fn write(&mut self, chosen: &[Chosen<D, T>], slots: &Slots<D, T, u64>, message: &mut Vec<u8>) {
        let mut replaced = ascending(slots.replaced());
        let Self { sent } = self;
        let head = message.len();
        put(message, &[sent.len() as u32, 0]);
        let bits = sent.len().div_ceil(8);
        let flags = message.len();
        message.reserve(2 * bits + size_of_val(chosen));
        message.resize(flags + 2 * bits, 0);
        // Changed boxes of old entries are appended at once; new entries are few, and follow at the end.
        let mut new = Vec::new();
        let mut at = 0;
        for &(slot, value) in chosen {
            while at < sent.len() && sent[at].0 < slot {
                set(&mut message[flags..], at);
                at += 1;
            }
            let known = at < sent.len() && sent[at].0 == slot;
            // An entry whose slot has another object now is marked as gone by the loop above, in the next round.
            if known && !replaced.has(slot) {
                if sent[at].1 != value {
                    set(&mut message[flags + bits..], at);
                    put(message, &[value]);
                }
                at += 1;
            } else {
                new.push((slot, value));
            }
        }
        (at..sent.len()).for_each(|at| set(&mut message[flags..], at));
        message[head + 4..head + 8].copy_from_slice(bytemuck::bytes_of(&(new.len() as u32)));
        new.iter().for_each(|&(slot, _)| put(message, &[slot]));
        new.iter().for_each(|&(slot, _)| put(message, &[slots.value(slot)]));
        new.iter().for_each(|&(_, value)| put(message, &[value]));
        sent.clear();
        sent.extend_from_slice(chosen);
    }

    /// The receiver has dropped its list.
    pub(crate) fn clear(&mut self) {
        self.sent.clear();
    }

    /// The entries of the receiver's list.
    pub(crate) fn len(&self) -> usize {
        self.sent.len()
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.sent.capacity() * size_of::<Chosen<D, T>>()
    }
}

/// The ghosts of one sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incoming {
    /// The sender's slot, and ours; by the sender's, ascending.
    ghosts: Vec<(u32, u32)>,
    /// The new ones of a message.
    new: Vec<(u32, u32)>,
}

impl Incoming {
    /// Applies a message of [`Outgoing::write`]. After an error the list and the slots are inconsistent: the caller ends the job.
    pub(crate) fn read<const D: usize, T: Real>(
        &mut self,
        reader: &mut Reader<'_>,
        rank: u32,
        slots: &mut Slots<D, T, Origin>,
    ) -> Result<(), Malformed> {
        let Self { ghosts, new: added } = self;
        let (old, new) = (reader.one::<u32>()? as usize, reader.one::<u32>()? as usize);
        if old != ghosts.len() {
            return Err(Malformed);
        }
        let bits = old.div_ceil(8);
        let (gone, moved) = (reader.bytes(bits)?, reader.bytes(bits)?);
        let moves = gone.iter().zip(moved).map(|(gone, moved)| (moved & !gone).count_ones() as usize).sum();
        let boxes = reader.take::<Aabb<D, T>>(moves)?;
        let (mut kept, mut taken) = (0, 0);
        for at in 0..old {
            let (index, slot) = ghosts[at];
            let flag = |bits: &[u8]| bits[at / 8] >> (at % 8) & 1 == 1;
            if flag(gone) {
                slots.remove(slot);
                continue;
            }
            if flag(moved) {
                slots.set_box(slot, valid(boxes.get(taken))?);
                taken += 1;
            }
            ghosts[kept] = (index, slot);
            kept += 1;
        }
        if taken != moves {
            return Err(Malformed); // bits beyond the last ghost
        }
        let indices = reader.take::<u32>(new)?;
        let ids = reader.take::<u64>(new)?;
        let boxes = reader.take::<Aabb<D, T>>(new)?;
        added.clear();
        for at in 0..new {
            let origin = Origin { rank, index: indices.get(at), id: ids.get(at) };
            let slot = slots.insert(valid(boxes.get(at))?, origin).map_err(|_| Malformed)?;
            added.push((origin.index, slot));
        }
        // Merged from the end: both parts are ascending, and the new one is short.
        ghosts.resize(kept + new, (0, 0));
        let mut at = kept + new;
        while let Some(&last) = added.last() {
            at -= 1;
            if kept > 0 && ghosts[kept - 1] > last {
                kept -= 1;
                ghosts[at] = ghosts[kept];
            } else {
                ghosts[at] = last;
                added.pop();
            }
        }
        Ok(())
    }

    /// Drops all ghosts.
    pub(crate) fn clear<const D: usize, T: Real>(&mut self, slots: &mut Slots<D, T, Origin>) {
        for (_, slot) in self.ghosts.drain(..) {
            slots.remove(slot);
        }
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        (self.ghosts.capacity() + self.new.capacity()) * size_of::<(u32, u32)>()
    }
}

/// Boxes in messages are checked like those of the caller.
fn valid<const D: usize, T: Real>(value: Aabb<D, T>) -> Result<Aabb<D, T>, Malformed> {
    if value.is_valid() { Ok(value) } else { Err(Malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(incoming: &Incoming, slots: &Slots<2, f32, Origin>) -> Vec<(u32, u64, f32)> {
        let ghost = |&(index, slot): &(u32, u32)| {
            let origin = slots.value(slot);
            assert_eq!((origin.rank, origin.index), (3, index));
            (index, origin.id, slots.boxes()[slot as usize].min[0])
        };
        incoming.ghosts.iter().map(ghost).collect()
    }

    #[test]
    fn the_receiver_follows_whatever_happens_to_the_sender() {
        let mut seed = 7u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut sender: Slots<2, f32, u64> = Slots::default();
        let (mut outgoing, mut incoming, mut receiver) = (Outgoing::default(), Incoming::default(), Slots::default());
        for id in 0..100 {
            sender.insert(Aabb::point([id as f32, 0.0]), id).unwrap();
        }
        for round in 0..200 {
            for _ in 0..random(30) {
                let slot = random(100) as u32;
                match random(3) {
                    0 => drop(sender.remove(slot)),
                    1 => drop(sender.insert(Aabb::point([random(1000) as f32, 0.0]), 1000 + random(10_000))),
                    _ => drop(sender.set_box(slot, Aabb::point([random(1000) as f32, 0.0]))),
                }
            }
            sender.list_changes();
            let chosen: Vec<_> =
                sender.ids().filter(|_| random(4) > 0).map(|slot| (slot, sender.boxes()[slot as usize])).collect();
            let mut message = Vec::new();
            outgoing.write(&chosen, &sender, &mut message);
            sender.settle();
            let mut reader = Reader::new(&message);
            incoming.read(&mut reader, 3, &mut receiver).unwrap();
            reader.end().unwrap();
            let wanted: Vec<_> = chosen.iter().map(|&(slot, value)| (slot, sender.value(slot), value.min[0])).collect();
            assert_eq!(held(&incoming, &receiver), wanted, "{round}");
            assert_eq!((receiver.count(), outgoing.len()), (wanted.len(), wanted.len()));
        }
    }

    #[test]
    fn an_unchanged_list_costs_two_bits_per_ghost_and_no_damage_is_believed() {
        let mut sender: Slots<2, f32, u64> = Slots::default();
        let point = Aabb::point([0.0; 2]);
        let all: Vec<_> = (0..800).map(|id| (sender.insert(point, id).unwrap(), point)).collect();
        sender.list_changes();
        let (mut outgoing, mut first, mut second) = (Outgoing::default(), Vec::new(), Vec::new());
        outgoing.write(&all, &sender, &mut first);
        sender.settle();
        outgoing.write(&all, &sender, &mut second);
        assert_eq!(second.len(), 8 + 200);
        for cut in [0, 4, 7, 100, first.len() - 1] {
            let mut slots: Slots<2, f32, Origin> = Slots::default();
            assert!(Incoming::default().read(&mut Reader::new(&first[..cut]), 0, &mut slots).is_err(), "{cut}");
        }
        let mut slots: Slots<2, f32, Origin> = Slots::default();
        assert!(Incoming::default().read(&mut Reader::new(&second), 0, &mut slots).is_err(), "a list that it does not have");
    }
}
