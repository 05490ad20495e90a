//! The join of wide ghosts with all objects of this rank, and what their owners are told of it.
//!
//! A wide object is found by the rank of the other object, since objects do not travel to wide ones. With
//! [`Reporting::Both`](crate::Reporting::Both) its owner is told what started and what ended. Two wide objects are sent to each other's ranks, and
//! both ranks find the pair.
//!
//! Cost: k wide ghosts and n objects take k·n comparisons.

use std::collections::BTreeMap;

use broadphase::{Aabb, Real};

use crate::ghosts::Origin;
use crate::pairs::{CrossPair, difference};
use crate::slots::Slots;
use crate::wire::{Malformed, Reader, put};

/// A pair as its owner is told it: the owner's index and the other one in one word, the wide object's id, the other one's.
type Told = [u64; 3];

/// The wide ghosts of all ranks.
#[derive(Clone, Debug)]
pub(crate) struct WideGhosts<const D: usize, T: Real> {
    slots: Slots<D, T, Origin>,
    /// What each owner was told, ascending.
    told: BTreeMap<usize, Vec<Told>>,
    /// What each rank has told this one, ascending.
    heard: BTreeMap<usize, Vec<CrossPair>>,
    found: Vec<CrossPair>,
    scratch: [Vec<Told>; 3],
}

impl<const D: usize, T: Real> Default for WideGhosts<D, T> {
    fn default() -> Self {
        Self {
            slots: Slots::default(),
            told: BTreeMap::new(),
            heard: BTreeMap::new(),
            found: Vec::new(),
            scratch: [const { Vec::new() }; 3],
        }
    }
}

impl<const D: usize, T: Real> WideGhosts<D, T> {
    /// Where the ghosts are held.
    pub(crate) fn ghosts(&mut self) -> &mut Slots<D, T, Origin> {
        &mut self.slots
    }

    /// The number of ghosts.
    pub(crate) fn count(&self) -> usize {
        self.slots.count()
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let told = self.told.values().chain(&self.scratch).map(Vec::capacity).sum::<usize>() * size_of::<Told>();
        let heard = self.heard.values().chain([&self.found]).map(Vec::capacity).sum::<usize>() * size_of::<CrossPair>();
        self.slots.bytes() + told + heard
    }

    /// Finds the pairs of wide ghosts with this rank's objects, of which `wide` lists the wide ones; of two wide objects, those for which
    /// `reports` says so. They are appended to `out`.
    pub(crate) fn join(
        &mut self,
        objects: &Slots<D, T, u64>,
        wide: &[u32],
        reports: impl Fn(usize, &Aabb<D, T>, &Aabb<D, T>) -> bool,
        out: &mut Vec<CrossPair>,
    ) {
        self.slots.settle(); // nobody asks what changed
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

    /// Appends to `message` what changed in the pairs with wide objects of `rank`.
    pub(crate) fn write(&mut self, rank: usize, message: &mut Vec<u8>) {
        let [new, started, ended] = &mut self.scratch;
        let old = self.told.entry(rank).or_default();
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

    /// Follows a message of [`write`](WideGhosts::write).
    pub(crate) fn read(&mut self, rank: usize, message: &[u8]) -> Result<(), Malformed> {
        let mut reader = Reader::new(message);
        let (ended, started) = (reader.one::<u32>()?, reader.one::<u32>()?);
        let (ended, started) = (reader.take::<Told>(ended as usize)?, reader.take::<Told>(started as usize)?);
        reader.end()?;
        let pair = |[indices, wide_id, id]: Told| {
            CrossPair::new(((indices >> 32) as u32, wide_id), Origin { rank: rank as u32, index: indices as u32, id })
        };
        let heard = self.heard.entry(rank).or_default();
        let mut gone: Vec<CrossPair> = ended.iter().map(pair).collect();
        gone.sort_unstable();
        heard.retain(|pair| gone.binary_search(pair).is_err());
        heard.extend(started.iter().map(pair));
        heard.sort_unstable();
        Ok(())
    }

    /// Forgets what was told to and heard from ranks that are no such neighbors any more.
    pub(crate) fn forget(&mut self, tells: impl Fn(usize) -> bool, hears: impl Fn(usize) -> bool) {
        self.told.retain(|&rank, _| tells(rank));
        self.heard.retain(|&rank, _| hears(rank));
    }

    /// Appends what other ranks have found for this one.
    pub(crate) fn heard(&self, out: &mut Vec<CrossPair>) {
        self.heard.values().for_each(|pairs| out.extend_from_slice(pairs));
    }
}
