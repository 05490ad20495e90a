//! Pairs of a mover and a static object.
//!
//! # The structure
//! Chunk `c` holds the pairs of the movers in slots `256 c ..= 256 c + 255`; `pair.a` is the mover's slot, `pair.b` the static's, in
//! different sides. Movers that changed are probed against the statics' structure; statics that changed, if they are few, against
//! the movers' structure; pairs of two that did not change are kept.
//!
//! If most movers change in every frame, there is nothing to keep: the chunks are then those of the probe, and pairs are written once. (With chunks by
//! mover, they are written, counted, sorted by chunk and written again.)
//!
//! # Cost
//! A probe per mover that changed. If statics changed as well: one probe each and a pass over the pairs here, or, beyond a quarter of
//! the number of movers, a probe per mover.

use std::ops::Range;

use super::probing::{Batch, WAITING, probe_parts};
use super::rules::Rules;
use crate::algorithms::{BroadPhase, Probes};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory;
use crate::objects::side::Side;
use crate::objects::{Filter, Frame, Shape};
use crate::pairs::{Pair, PairStore, Report, Retain, Revision};

/// What the memory is for, in errors.
const PROBES: &str = "probes of statics";
/// Mover slots whose pairs share a chunk.
const ROWS: usize = 256;
/// Chunks that are probed at once, which limits the memory for unfiltered pairs.
const BLOCK: usize = 1 << 12;
/// Changed statics are probed against the movers if there are at most 1/4 as many as movers.
const SHARE: usize = 4;

/// The two structures: movers', statics'.
type Structures<'a, const D: usize, T> = (&'a dyn BroadPhase<D, T>, &'a dyn BroadPhase<D, T>);

/// Pairs of movers and statics.
#[derive(Clone, Debug)]
pub(super) struct Mixed<const D: usize, T> {
    pub(super) store: PairStore,
    /// The revision that the last frame wrote, if its chunks are those of movers.
    revision: Revision,
    /// Did most movers change in the last frame?
    had_all: bool,
    scratch: Scratch<D, T>,
}

/// Buffers that can be dropped without changing a result.
#[derive(Clone, Debug)]
struct Scratch<const D: usize, T> {
    /// The pairs that probes find, before any filter.
    raw: PairStore,
    slots: Vec<u32>,
    boxes: Vec<Aabb<D, T>>,
    envs: Vec<u32>,
    /// Pairs by chunk of a block.
    found: Vec<Pair>,
    /// Where each chunk of the block starts in `found`, and the end of the last one.
    starts: Vec<usize>,
    /// Pairs of a static that changed and a mover that did not, sorted.
    backward: Vec<Pair>,
    /// Chunks of the block that change.
    dirty: Vec<bool>,
    tests: u64,
    /// The world's pair limit.
    limit: u64,
}

impl<const D: usize, T> Default for Scratch<D, T> {
    fn default() -> Self {
        Self {
            raw: PairStore::new(Report::All),
            slots: Vec::new(),
            boxes: Vec::new(),
            envs: Vec::new(),
            found: Vec::new(),
            starts: Vec::new(),
            backward: Vec::new(),
            dirty: Vec::new(),
            tests: 0,
            limit: 0,
        }
    }
}

impl<const D: usize, T> Default for Mixed<D, T> {
    fn default() -> Self {
        let (revision, scratch) = (Revision::default(), Scratch::default());
        Self { store: PairStore::new(Report::Both), revision, had_all: false, scratch }
    }
}

impl<const D: usize, T: Real> Mixed<D, T> {
    /// Marks the stored pairs as outdated, so that the next frame finds all pairs.
    pub(super) fn forget(&mut self) {
        (self.revision, self.had_all) = (Revision::default(), false);
    }

    pub(super) fn bytes(&self) -> usize {
        let Scratch { raw, slots, boxes, envs, found, starts, backward, dirty, .. } = &self.scratch;
        self.store.bytes()
            + raw.bytes()
            + (slots.capacity() + envs.capacity()) * 4
            + boxes.capacity() * size_of::<Aabb<D, T>>()
            + (found.capacity() + backward.capacity()) * size_of::<Pair>()
            + starts.capacity() * size_of::<usize>()
            + dirty.capacity()
    }

    /// Finds all pairs, and returns the number of tests. The movers' touched slots must be sorted.
    pub(super) fn find(
        &mut self,
        rules: &Rules<'_, D, T>,
        structures: Structures<'_, D, T>,
        limit: u64,
        context: &mut Context,
    ) -> Result<u64, Error> {
        let (movers, statics) = (&rules.table.movers, &rules.table.statics);
        let had_all = std::mem::replace(&mut self.had_all, movers.touched.all());
        // Only if most movers changed in the last frame too: otherwise few may change in the next one, which could then keep nothing.
        if had_all && self.had_all && statics.slots.count() > 0 && rules.all_meet_all_statics() {
            self.revision = Revision::default();
            if self.scratch.slots.capacity() > 0 {
                self.scratch = Scratch::default(); // its buffers can be larger than all pairs
            }
            let probes = Probes { boxes: &movers.boxes, ids: None, recurring: true };
            structures.1.probe(&statics.frame(Shape::Box, None), probes, context, &mut self.store)?;
            return Ok(self.store.tests());
        }
        let apply = |fresh: &mut Retain<'_>| rules.apply_mixed_rules(fresh);
        let apply: Option<Filter<'_>> = if rules.has_mixed_rules() { Some(&apply) } else { None };
        let frame = Frame { filter: apply, ..Frame::new(&[]) };
        let chunks = movers.slots.len().div_ceil(ROWS);
        let kept = self.store.begin(&frame, context, self.revision, chunks)?;
        let few = !statics.touched.all() && statics.touched.list().len() <= movers.slots.count() / SHARE;
        let all = !kept || movers.touched.all() || !few;
        self.scratch.tests = 0;
        self.scratch.limit = limit;
        if let Err(error) = self.join(rules, structures, context, &frame, all) {
            self.store.roll_back();
            return Err(error);
        }
        self.revision = self.store.finish(context, chunks)?;
        Ok(self.scratch.tests)
    }

    fn join(
        &mut self,
        rules: &Rules<'_, D, T>,
        (of_movers, of_statics): Structures<'_, D, T>,
        context: &mut Context,
        frame: &Frame<'_, D, T>,
        all: bool,
    ) -> Result<(), Error> {
        let (movers, statics) = (&rules.table.movers, &rules.table.statics);
        self.scratch.backward.clear();
        if !all && statics.touched.any() {
            self.scratch.probe_movers(rules, of_movers, context)?;
        }
        let chunks = movers.slots.len().div_ceil(ROWS);
        for first in (0..chunks).step_by(BLOCK) {
            let block = first..(first + BLOCK).min(chunks);
            self.scratch.choose(rules, &block, all)?;
            if !self.mark_dirty(movers, statics, &block, all)? {
                continue;
            }
            self.scratch.probe_statics(rules, of_statics, context, &block)?;
            let (store, scratch) = (&self.store, &self.scratch);
            context.run(block.len(), |number, worker| {
                if !scratch.dirty[number] {
                    return;
                }
                let chunk = block.start + number;
                let fresh = &scratch.found[scratch.starts[number]..scratch.starts[number + 1]];
                let fresh = fresh.iter().chain(scratch.backward_of(chunk));
                if all {
                    store.rewrite(chunk, worker, frame, |hits| fresh.for_each(|&pair| hits.push(pair)));
                } else {
                    let keep = |pair: Pair| !movers.touched.contains(pair.a) && !statics.touched.contains(pair.b);
                    store.edit(chunk, worker, frame, keep, |hits| fresh.for_each(|&pair| hits.push(pair)));
                }
            });
        }
        Ok(())
    }

    /// Records which chunks of the block change; false if none does.
    fn mark_dirty(&mut self, movers: &Side<D, T>, statics: &Side<D, T>, block: &Range<usize>, all: bool) -> Result<bool, Error> {
        let Self { store, scratch, .. } = self;
        memory::refill(&mut scratch.dirty, block.len(), all, PROBES)?;
        if all {
            return Ok(true);
        }
        for &slot in within(movers.touched.list(), |&slot| slot, block) {
            scratch.dirty[slot as usize / ROWS - block.start] = true;
        }
        if statics.touched.any() {
            for chunk in block.clone() {
                let dirty = !scratch.backward_of(chunk).is_empty()
                    || store.chunk(chunk).iter().any(|pair| statics.touched.contains(pair.b));
                scratch.dirty[chunk - block.start] |= dirty;
            }
        }
        Ok(scratch.dirty.contains(&true))
    }
}

/// The part of a list, sorted by mover slot, that belongs to a range of chunks.
fn within<'a, V>(list: &'a [V], slot: impl Fn(&V) -> u32, chunks: &Range<usize>) -> &'a [V] {
    let from = list.partition_point(|value| (slot(value) as usize) < chunks.start * ROWS);
    let to = list.partition_point(|value| (slot(value) as usize) < chunks.end * ROWS);
    &list[from..to]
}

impl<const D: usize, T: Real> Scratch<D, T> {
    fn backward_of(&self, chunk: usize) -> &[Pair] {
        within(&self.backward, |pair| pair.a, &(chunk..chunk + 1))
    }

    /// Lists the movers of a block to probe: those that can pair with statics, and, unless `all`, have changed.
    fn choose(&mut self, rules: &Rules<'_, D, T>, block: &Range<usize>, all: bool) -> Result<(), Error> {
        let movers = &rules.table.movers;
        let can_pair = |slot: &u32| movers.slots.contains(*slot) && rules.meets_statics(*slot);
        self.slots.clear();
        if all {
            let end = (block.end * ROWS).min(movers.slots.len());
            let slots = block.start * ROWS..end;
            memory::extend(&mut self.slots, slots.len(), (slots.start as u32..slots.end as u32).filter(can_pair), PROBES)
        } else {
            let touched = within(movers.touched.list(), |&slot| slot, block);
            memory::extend(&mut self.slots, touched.len(), touched.iter().copied().filter(can_pair), PROBES)
        }
    }

    /// Pairs of the chosen movers with any static, by chunk of the block.
    fn probe_statics(
        &mut self,
        rules: &Rules<'_, D, T>,
        structure: &dyn BroadPhase<D, T>,
        context: &mut Context,
        block: &Range<usize>,
    ) -> Result<(), Error> {
        let (movers, statics) = (&rules.table.movers, &rules.table.statics);
        let Self { raw, slots, boxes, envs, found, starts, tests, limit, .. } = self;
        memory::refill(starts, block.len() + 1, 0, PROBES)?;
        found.clear();
        if slots.is_empty() || statics.slots.count() == 0 {
            return Ok(());
        }
        boxes.clear();
        memory::extend(boxes, slots.len(), slots.iter().map(|&slot| movers.boxes[slot as usize]), PROBES)?;
        envs.clear();
        memory::extend(envs, slots.len(), slots.iter().map(|&slot| movers.tags.get(slot).env), PROBES)?;
        // Without a filter, every pair that is found counts.
        raw.set_limit(if rules.has_mixed_rules() { (*limit).max(WAITING) } else { *limit });
        match structure.probe_envs(
            &statics.frame(Shape::Box, None),
            Probes { boxes, ids: None, recurring: false },
            envs,
            context,
            raw,
        ) {
            Err(Error::TooManyPairs { .. }) if rules.has_mixed_rules() => {
                return self.probe_in_parts(rules, structure, context, block);
            }
            result => result?,
        }
        *tests += raw.tests();
        // Counting sort by chunk; probes come in any order.
        let chunk = |probe: u32| slots[probe as usize] as usize / ROWS - block.start;
        raw.for_each_chunk(|pairs| pairs.iter().for_each(|pair| starts[chunk(pair.a)] += 1));
        let mut end = 0;
        for start in starts.iter_mut() {
            let count = std::mem::replace(start, end);
            end += count;
        }
        memory::resize(found, end, Pair::default(), PROBES)?;
        raw.for_each_chunk(|pairs| {
            for pair in pairs {
                let at = &mut starts[chunk(pair.a)];
                found[*at] = Pair { a: slots[pair.a as usize], b: pair.b };
                *at += 1;
            }
        });
        // Each start has become its chunk's end, which is the next chunk's start.
        starts.rotate_right(1);
        starts[0] = 0;
        Ok(())
    }

    /// [`probe_statics`](Scratch::probe_statics), filtered part by part, since probes find more pairs than should be held in memory.
    fn probe_in_parts(
        &mut self,
        rules: &Rules<'_, D, T>,
        structure: &dyn BroadPhase<D, T>,
        context: &mut Context,
        block: &Range<usize>,
    ) -> Result<(), Error> {
        let Self { raw, slots, boxes, envs, found, starts, tests, limit, .. } = self;
        let frame = rules.table.statics.frame(Shape::Box, None);
        *tests += probe_parts(structure, &frame, Batch { boxes, envs }, *limit, context, raw, &mut |raw, first| {
            let before = found.len();
            let slot = |probe: u32| slots[first + probe as usize];
            memory::reserve(found, raw.len() as usize, PROBES)?;
            raw.for_each_chunk(|pairs| found.extend(pairs.iter().map(|pair| Pair { a: slot(pair.a), b: pair.b }))); // reserved
            rules.apply_mixed_rules(&mut Retain::new(found, before));
            if found.len() as u64 > *limit { Err(Error::TooManyPairs { limit: *limit }) } else { Ok(()) }
        })?;
        found.sort_unstable();
        for (chunk, start) in (block.start..).zip(starts.iter_mut()) {
            *start = found.partition_point(|pair| (pair.a as usize) < chunk * ROWS);
        }
        Ok(())
    }

    /// Pairs of a static that changed and a mover that did not.
    fn probe_movers(
        &mut self,
        rules: &Rules<'_, D, T>,
        structure: &dyn BroadPhase<D, T>,
        context: &mut Context,
    ) -> Result<(), Error> {
        let (movers, statics) = (&rules.table.movers, &rules.table.statics);
        let Self { raw, slots, boxes, envs, backward, tests, limit, .. } = self;
        slots.clear();
        let touched = statics.touched.list();
        memory::extend(slots, touched.len(), touched.iter().copied().filter(|&slot| statics.slots.contains(slot)), PROBES)?;
        if slots.is_empty() || movers.slots.count() == 0 {
            return Ok(());
        }
        boxes.clear();
        memory::extend(boxes, slots.len(), slots.iter().map(|&slot| statics.boxes[slot as usize]), PROBES)?;
        envs.clear();
        memory::extend(envs, slots.len(), slots.iter().map(|&slot| statics.tags.get(slot).env), PROBES)?;
        let candidate = |mover: u32| !movers.touched.contains(mover) && rules.meets_statics(mover);
        let frame = movers.frame(Shape::Box, None);
        *tests += probe_parts(structure, &frame, Batch { boxes, envs }, *limit, context, raw, &mut |raw, first| {
            memory::reserve(backward, raw.len() as usize, PROBES)?;
            raw.for_each_chunk(|pairs| {
                let fresh = pairs.iter().filter(|pair| candidate(pair.b));
                backward.extend(fresh.map(|pair| Pair { a: pair.b, b: slots[first + pair.a as usize] })); // reserved
            });
            if backward.len() as u64 > *limit {
                rules.apply_mixed_rules(&mut Retain::new(backward, 0)); // rejected pairs do not count toward the limit
            }
            if backward.len() as u64 > *limit { Err(Error::TooManyPairs { limit: *limit }) } else { Ok(()) }
        })?;
        backward.sort_unstable();
        Ok(())
    }
}
