//! The join of wide ghosts with all objects of this rank, and the messages about it to their owners.
//!
//! A pair with a wide object is found by the rank of the other object, since objects do not travel to wide ones. With
//! [`Reporting::Both`](crate::Reporting::Both) that rank sends the owner of the wide object the pairs that started and ended. Two wide objects are sent
//! to each other's ranks, and both ranks find the pair.
//!
//! Cost: k wide ghosts and n objects take k·n comparisons.

use std::collections::BTreeMap;

use broadphase::{Aabb, Real};

use crate::ghosts::Origin;
use crate::pairs::{CrossPair, difference};
use crate::slots::Slots;
use crate::wire::{Malformed, Reader, put};

/// A pair in a message to the owner of the wide object: both indices in one word, the owner's in the upper half; the wide object's id; the other id.
type WirePair = [u64; 3];

/// The wide ghosts of all ranks.
#[derive(Clone, Debug)]
pub(crate) struct WideGhosts<const D: usize, T: Real> {
    slots: Slots<D, T, Origin>,
    /// The pairs that each owner knows from messages, ascending.
    sent: BTreeMap<usize, Vec<WirePair>>,
    /// The pairs that each rank found for this one, ascending.
    received: BTreeMap<usize, Vec<CrossPair>>,
    found: Vec<CrossPair>,
    scratch: [Vec<WirePair>; 3],
}

impl<const D: usize, T: Real> Default for WideGhosts<D, T> {
    fn default() -> Self {
        Self {
            slots: Slots::default(),
            sent: BTreeMap::new(),
            received: BTreeMap::new(),
            found: Vec::new(),
            scratch: [const { Vec::new() }; 3],
        }
    }
}

impl<const D: usize, T: Real> WideGhosts<D, T> {
    /// The ghosts, to be brought up to date.
    pub(crate) fn ghosts(&mut self) -> &mut Slots<D, T, Origin> {
        &mut self.slots
    }

    /// The number of ghosts.
    pub(crate) fn count(&self) -> usize {
        self.slots.count()
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let sent = self.sent.values().chain(&self.scratch).map(Vec::capacity).sum::<usize>() * size_of::<WirePair>();
        let received = self.received.values().chain([&self.found]).map(Vec::capacity).sum::<usize>() * size_of::<CrossPair>();
        self.slots.bytes() + sent + received
    }

    /// Appends to `out` the pairs of wide ghosts with this rank's objects, of which `wide` lists the wide ones. A pair of two wide objects is added only
    /// if `reports` is true.
    pub(crate) fn join(
        &mut self,
        objects: &Slots<D, T, u64>,
        wide: &[u32],
        reports: impl Fn(usize, &Aabb<D, T>, &Aabb<D, T>) -> bool,
        out: &mut Vec<CrossPair>,
    ) {
        self.slots.settle(); // the changes are not used
        self.found.clear();
        for ghost in self.slots.ids() {
            let (value, origin) = (self.slots.boxes()[ghost as usize], self.slots.value(ghost));
            for slot in objects.ids() {
                let own = &objects.boxes()[slot as usize];
                if !value.overlaps(own) {
                    continue;
                }
                let pair = CrossPair::new((slot, objects.value(slot)), origin);
                if wide.binary_search(&slot).is_err() {
                    self.found.push(pair);
                    out.push(pair);
                } else if reports(origin.rank as usize, own, &value) {
                    out.push(pair);
                }
            }
        }
    }

    /// Appends to `message` the pairs with wide objects of `rank` that ended and started since the last one.
    pub(crate) fn write(&mut self, rank: usize, message: &mut Vec<u8>) {
        let [new, started, ended] = &mut self.scratch;
        let old = self.sent.entry(rank).or_default();
        new.clear();
        let found = self.found.iter().filter(|pair| pair.rank as usize == rank);
        new.extend(found.map(|pair| [u64::from(pair.remote) << 32 | u64::from(pair.local), pair.remote_id, pair.local_id]));
        new.sort_unstable();
        difference(old, new, started, ended);
        put(message, &[ended.len() as u32, started.len() as u32]);
        put(message, ended);
        put(message, started);
        std::mem::swap(old, new);
    }

    /// Applies a message of [`write`](WideGhosts::write).
    pub(crate) fn read(&mut self, rank: usize, message: &[u8]) -> Result<(), Malformed> {
        let mut reader = Reader::new(message);
        let (ended, started) = (reader.one::<u32>()?, reader.one::<u32>()?);
        let (ended, started) = (reader.take::<WirePair>(ended as usize)?, reader.take::<WirePair>(started as usize)?);
        reader.end()?;
        let pair = |[indices, wide_id, id]: WirePair| {
            CrossPair::new(((indices >> 32) as u32, wide_id), Origin { rank: rank as u32, index: indices as u32, id })
        };
        let received = self.received.entry(rank).or_default();
        let mut gone: Vec<CrossPair> = ended.iter().map(pair).collect();
        gone.sort_unstable();
        received.retain(|pair| gone.binary_search(pair).is_err());
        received.extend(started.iter().map(pair));
        received.sort_unstable();
        Ok(())
    }

    /// Forgets what was sent to and received from ranks that are no longer such neighbors.
    pub(crate) fn forget(&mut self, sends_to: impl Fn(usize) -> bool, receives_from: impl Fn(usize) -> bool) {
        self.sent.retain(|&rank, _| sends_to(rank));
        self.received.retain(|&rank, _| receives_from(rank));
    }

    /// Appends the pairs that other ranks have found for this one.
    pub(crate) fn append_received(&self, out: &mut Vec<CrossPair>) {
        self.received.values().for_each(|pairs| out.extend_from_slice(pairs));
    }
}
