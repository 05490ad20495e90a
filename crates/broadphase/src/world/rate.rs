//! A frame of several searches, called looks: the sub-steps of [`ContinuousDetection::SubSteps`](super::ContinuousDetection::SubSteps).
//!
//! The pairs of look `s` are `E(s)`; those of the frame are the union of all looks. The stores hold the last look's; the rest is *fleeting*: what
//! ended after the first look and did not start again. What started and ended against the frame before follows from four short lists,
//! without a pass over all pairs:
//!
//! ```text
//! started = (E(K) - E(0) - old fleeting) + (fleeting - E(0) - old fleeting)
//! ended   = (E(0) - E(K) - fleeting) + (old fleeting - E(K) - fleeting)
//! ```

use super::World;
use super::rules::Scoped;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Handle;
use crate::pairs::events;

/// A pair that started or ended with a look.
type Turn = ((Handle, Handle), u32, bool);

/// Buffers that can be dropped without changing a result.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    turns: Vec<Turn>,
    fleeting: Vec<(Handle, Handle)>,
    begun: Vec<(Handle, Handle)>,
    over: Vec<(Handle, Handle)>,
}

impl Scratch {
    pub(super) fn bytes(&self) -> usize {
        let Self { turns, fleeting, begun, over } = self;
        let pairs = fleeting.capacity() + begun.capacity() + over.capacity();
        turns.capacity() * size_of::<Turn>() + pairs * size_of::<(Handle, Handle)>()
    }
}

impl<const D: usize, T: Real> World<D, T> {
    /// Finds the pairs of all looks, and what started and ended. On error all objects are where the user put them.
    pub(super) fn find_by_rate(&mut self, scoped: Scoped<'_>) -> Result<(), Error> {
        self.begin_find();
        let looks = self.motion.plan(&mut self.table, self.period.as_ref());
        let mut scratch = std::mem::take(&mut self.motion.scratch);
        let result = self.look_at_all(looks, &mut scratch, scoped);
        self.motion.scratch = scratch;
        if let Err(error) = result {
            self.place(looks, looks);
            self.motion.forget_removed(&self.table);
            return Err(error);
        }
        self.motion.stats.looks = looks;
        self.motion.stats.fleeting = self.motion.fleeting.len();
        self.conclude();
        Ok(())
    }

    fn look_at_all(&mut self, looks: u32, scratch: &mut Scratch, scoped: Scoped<'_>) -> Result<(), Error> {
        scratch.turns.clear();
        (1..=looks).try_for_each(|look| self.look_again(look, looks, &mut scratch.turns, scoped))?;
        last_ended(&mut scratch.turns, &mut scratch.fleeting);
        if self.own.len() + self.mixed.store.len() + scratch.fleeting.len() as u64 > self.limit {
            return Err(Error::TooManyPairs { limit: self.limit });
        }
        events::cancel(&mut self.started, &mut self.ended);
        std::mem::swap(&mut self.motion.fleeting, &mut scratch.fleeting);
        self.merge_fleeting(scratch);
        Ok(())
    }

    /// One look: movers are placed, structures take them in, pairs are found.
    fn look_again(&mut self, look: u32, looks: u32, turns: &mut Vec<Turn>, scoped: Scoped<'_>) -> Result<(), Error> {
        self.place(look, looks);
        self.flush(scoped)?;
        let (started, ended) = (self.started.len(), self.ended.len());
        self.look(scoped)?;
        if look > 1 {
            turns.extend(self.started[started..].iter().map(|&pair| (pair, look, true)));
            turns.extend(self.ended[ended..].iter().map(|&pair| (pair, look, false)));
        }
        Ok(())
    }

    /// Puts the movers that are due where they are in a look.
    fn place(&mut self, look: u32, looks: u32) {
        let ways = std::mem::take(&mut self.motion.ways);
        for way in &ways {
            let every = looks / way.steps; // both are powers of two
            let last = look == looks; // also after an error, from any look on
            if (look - 1).is_multiple_of(every) || last {
                let number = look.div_ceil(every);
                let growth = self.table.growth(self.table.movers.owners[way.slot as usize]);
                self.table.movers.set(way.slot, way.at(number), || growth);
                self.motion.stats.placed += u64::from(number < way.steps);
            }
        }
        self.motion.ways = ways;
    }

    /// From the difference of last looks to that of frames; `scratch` has the fleeting pairs of the frame before.
    fn merge_fleeting(&mut self, scratch: &mut Scratch) {
        let Scratch { fleeting: old, begun, over, .. } = scratch;
        let new = &self.motion.fleeting;
        if old.is_empty() && new.is_empty() {
            return;
        }
        let lacks = |list: &[(Handle, Handle)], pair: &(Handle, Handle)| list.binary_search(pair).is_err();
        let (started, ended) = (&self.started, &self.ended);
        // A fleeting pair is not in the last look: if it was in the one of the frame before, it ended.
        begun.clear();
        begun.extend(started.iter().filter(|pair| lacks(old, pair)));
        begun.extend(new.iter().filter(|pair| lacks(ended, pair) && lacks(old, pair)));
        over.clear();
        over.extend(ended.iter().filter(|pair| lacks(new, pair)));
        over.extend(old.iter().filter(|pair| lacks(started, pair) && lacks(new, pair)));
        begun.sort_unstable();
        over.sort_unstable();
        std::mem::swap(&mut self.started, begun);
        std::mem::swap(&mut self.ended, over);
    }
}

/// Fills `list` with the pairs whose last turn was an end, sorted.
fn last_ended(turns: &mut [Turn], list: &mut Vec<(Handle, Handle)>) {
    turns.sort_unstable();
    list.clear();
    let last = turns.chunk_by(|a, b| a.0 == b.0).filter_map(|turns| turns.last());
    list.extend(last.filter(|(_, _, started)| !started).map(|(pair, _, _)| *pair));
}
