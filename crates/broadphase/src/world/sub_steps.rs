//! A frame of several searches for pairs: the sub-steps of [`ContinuousDetection::SubSteps`](super::ContinuousDetection::SubSteps).
//!
//! The pairs of search `s` are `E(s)`, and those of the frame are the union over all searches. The stores hold the pairs of the last search. The others
//! are *fleeting*: they ended after the first search and did not start again. Which pairs started and ended since the last frame follows from four
//! short lists, without a pass over all pairs:
//!
//! ```text
//! started = (E(K) - E(0) - old fleeting) + (fleeting - E(0) - old fleeting)
//! ended   = (E(0) - E(K) - fleeting) + (old fleeting - E(K) - fleeting)
//! ```

use super::World;
use super::rules::Scoped;
use crate::error::Error;
use crate::geometry::Real;
use crate::memory;
use crate::objects::Handle;
use crate::pairs::events;

/// What the memory is for, in errors.
const EVENTS: &str = "started and ended pairs";

/// A pair that started or ended in a search: the pair, the number of the search, and whether it started.
type Transition = ((Handle, Handle), u32, bool);

/// Buffers that can be dropped without changing a result.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    transitions: Vec<Transition>,
    fleeting: Vec<(Handle, Handle)>,
    begun: Vec<(Handle, Handle)>,
    over: Vec<(Handle, Handle)>,
}

impl Scratch {
    pub(super) fn bytes(&self) -> usize {
        let Self { transitions, fleeting, begun, over } = self;
        let pairs = fleeting.capacity() + begun.capacity() + over.capacity();
        transitions.capacity() * size_of::<Transition>() + pairs * size_of::<(Handle, Handle)>()
    }
}

impl<const D: usize, T: Real> World<D, T> {
    /// Finds the pairs of all searches, and what started and ended. On error all objects are where the user put them.
    pub(super) fn find_in_sub_steps(&mut self, scoped: Scoped<'_>) -> Result<(), Error> {
        self.begin_find();
        let searches = match self.motion.plan(&mut self.table, self.period.as_ref()) {
            Ok(searches) => searches,
            Err(error) => {
                self.motion.forget_removed(&self.table);
                return Err(error);
            }
        };
        let mut scratch = std::mem::take(&mut self.motion.scratch);
        let found = self.search_all(searches, &mut scratch, scoped);
        let result = found.and_then(|()| {
            self.merge_fleeting(&mut scratch);
            self.conclude().inspect_err(|_| self.separate_fleeting(&mut scratch))
        });
        self.motion.scratch = scratch;
        if result.is_err() {
            self.place(searches, searches);
            self.motion.forget_removed(&self.table);
        } else {
            self.motion.stats.searches = searches;
            self.motion.stats.fleeting = self.motion.fleeting.len();
        }
        result
    }

    fn search_all(&mut self, searches: u32, scratch: &mut Scratch, scoped: Scoped<'_>) -> Result<(), Error> {
        scratch.transitions.clear();
        (1..=searches).try_for_each(|search| self.search_step(search, searches, &mut scratch.transitions, scoped))?;
        last_ended(&mut scratch.transitions, &mut scratch.fleeting)?;
        if self.mover_pairs.len() + self.mixed.store.len() + scratch.fleeting.len() as u64 > self.limit {
            return Err(Error::TooManyPairs { limit: self.limit });
        }
        let fleeting = self.motion.fleeting.len() + scratch.fleeting.len();
        for (list, more) in [(&mut scratch.begun, self.started.len()), (&mut scratch.over, self.ended.len())] {
            list.clear();
            memory::reserve(list, more + fleeting, EVENTS)?;
        }
        events::cancel(&mut self.started, &mut self.ended);
        Ok(())
    }

    /// One search: places the movers, updates the structures, and finds the differences.
    fn search_step(
        &mut self,
        search: u32,
        searches: u32,
        transitions: &mut Vec<Transition>,
        scoped: Scoped<'_>,
    ) -> Result<(), Error> {
        self.place(search, searches);
        self.flush(scoped)?;
        let (started, ended) = (self.started.len(), self.ended.len());
        self.find_differences(scoped)?;
        if search > 1 {
            let (started, ended) = (&self.started[started..], &self.ended[ended..]);
            memory::extend(transitions, started.len(), started.iter().map(|&pair| (pair, search, true)), EVENTS)?;
            memory::extend(transitions, ended.len(), ended.iter().map(|&pair| (pair, search, false)), EVENTS)?;
        }
        Ok(())
    }

    /// Moves each mover that takes a sub-step in this search to its place on its path.
    fn place(&mut self, search: u32, searches: u32) {
        let stepped = std::mem::take(&mut self.motion.stepped);
        for path in &stepped {
            let every = searches / path.steps; // both are powers of two
            let last = search == searches; // also after an error, from any search on
            if (search - 1).is_multiple_of(every) || last {
                let number = search.div_ceil(every);
                let growth = self.table.growth(self.table.movers.owners[path.slot as usize]);
                self.table.movers.set(path.slot, &path.at(number), || growth);
                self.motion.stats.placed += u64::from(number < path.steps);
            }
        }
        self.motion.stepped = stepped;
    }

    /// Turns the difference of the last searches of two frames into the difference of the frames. `scratch` has the fleeting pairs of this frame, and room for
    /// the difference; afterwards it has what was replaced.
    fn merge_fleeting(&mut self, scratch: &mut Scratch) {
        std::mem::swap(&mut self.motion.fleeting, &mut scratch.fleeting);
        let Scratch { fleeting: old, begun, over, .. } = scratch;
        let new = &self.motion.fleeting;
        if old.is_empty() && new.is_empty() {
            return;
        }
        let lacks = |list: &[(Handle, Handle)], pair: &(Handle, Handle)| list.binary_search(pair).is_err();
        let (started, ended) = (&self.started, &self.ended);
        // A fleeting pair is not in the last search: if it was in the last search of the previous frame, it is in `ended`.
        begun.extend(started.iter().filter(|pair| lacks(old, pair))); // reserved, as are the others
        begun.extend(new.iter().filter(|pair| lacks(ended, pair) && lacks(old, pair)));
        over.extend(ended.iter().filter(|pair| lacks(new, pair)));
        over.extend(old.iter().filter(|pair| lacks(started, pair) && lacks(new, pair)));
        begun.sort_unstable();
        over.sort_unstable();
        std::mem::swap(&mut self.started, begun);
        std::mem::swap(&mut self.ended, over);
    }

    /// Takes back [`merge_fleeting`](World::merge_fleeting), since the frame was not published.
    fn separate_fleeting(&mut self, scratch: &mut Scratch) {
        std::mem::swap(&mut self.motion.fleeting, &mut scratch.fleeting);
        if !(self.motion.fleeting.is_empty() && scratch.fleeting.is_empty()) {
            std::mem::swap(&mut self.started, &mut scratch.begun);
            std::mem::swap(&mut self.ended, &mut scratch.over);
        }
    }
}

/// Fills `list` with the pairs whose last transition was an end, sorted.
fn last_ended(transitions: &mut [Transition], list: &mut Vec<(Handle, Handle)>) -> Result<(), Error> {
    transitions.sort_unstable();
    list.clear();
    let last = || transitions.chunk_by(|a, b| a.0 == b.0).filter_map(|transitions| transitions.last());
    let ended = || last().filter(|(_, _, started)| !started).map(|(pair, _, _)| *pair);
    memory::extend(list, ended().count(), ended(), EVENTS)
}
