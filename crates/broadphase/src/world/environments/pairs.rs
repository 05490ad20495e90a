//! The pairs of each group, as one chunk, and its probes.

use std::sync::Mutex;

use super::{Environments, Group, open, read, write};
use crate::algorithms::Probes;
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore, Report, Retain, Revision};
use crate::world::probing::{Batch, WAITING, probe_parts};

/// The error of the first job that failed, by the number of the job: the same whichever thread was first.
#[derive(Default)]
pub(super) struct Failure(Mutex<Option<(usize, Error)>>);

impl Failure {
    pub(super) fn note(&self, job: usize, result: Result<(), Error>) {
        if let Err(error) = result {
            let mut first = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if first.as_ref().is_none_or(|(other, _)| job < *other) {
                *first = Some((job, error));
            }
        }
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        self.0.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// Buffers of a job that probes one group.
#[derive(Debug)]
pub(super) struct ProbeScratch<const D: usize, T> {
    chosen: Vec<u32>,
    boxes: Vec<Aabb<D, T>>,
    found: PairStore,
    context: Context,
}

impl<const D: usize, T: Real> Default for ProbeScratch<D, T> {
    fn default() -> Self {
        Self { chosen: Vec::new(), boxes: Vec::new(), found: PairStore::new(Report::All), context: Context::new() }
    }
}

/// Can tags or a filter remove pairs that the groups find? The groups test balls themselves.
fn filters<const D: usize, T: Real>(frame: &Frame<'_, D, T>) -> bool {
    frame.tags.is_some() || frame.filter.is_some()
}

impl<const D: usize, T: Real> Group<D, T> {
    /// Finds the pairs among its own objects, if any of them changed: at most `limit` that the rules of `frame` allow.
    fn find_own(&mut self, frame: &Frame<'_, D, T>, limit: u64) -> Result<(), Error> {
        if !self.touched {
            return Ok(());
        }
        let Self { structure, boxes, slots, context, own, shape, .. } = self;
        own.set_limit(if filters(frame) { limit.max(WAITING) } else { limit });
        let plain = Frame { shape: *shape, ..Frame::new(boxes) };
        match structure.pairs(&plain, context, own) {
            Err(Error::TooManyPairs { .. }) if filters(frame) => {
                // Filtered at once, so that no more than the limit is held in memory. The next frame starts from scratch.
                let local = |slot: u32| slots.binary_search(&slot).map_or(0, |at| at as u32);
                let apply = |fresh: &mut Retain<'_>| {
                    fresh.rename(|pair| Pair { a: slots[pair.a as usize], b: slots[pair.b as usize] });
                    if let Some(tags) = frame.tags {
                        fresh.retain(|pair| tags[pair.a as usize].allows(&tags[pair.b as usize]));
                    }
                    if let Some(filter) = frame.filter {
                        filter(fresh);
                    }
                    fresh.rename(|pair| Pair { a: local(pair.a), b: local(pair.b) });
                };
                own.clear();
                own.set_limit(limit);
                structure.pairs(&Frame { filter: Some(&apply), ..plain }, context, own)?;
                own.disown();
            }
            result => result?,
        }
        self.touched = false;
        Ok(())
    }

    /// Fills `cross` with the pairs of an object of environment 0 and one of this group, as slots.
    fn find_cross(&mut self, zero: &Self, frame: &Frame<'_, D, T>, limit: u64) -> Result<(), Error> {
        let Self { structure, boxes, slots, context, cross, raw, cross_tests, shape, .. } = self;
        cross.clear();
        *cross_tests = 0;
        if zero.slots.is_empty() || slots.is_empty() {
            return Ok(());
        }
        let swapped = zero.slots.len() > slots.len();
        let take = &mut |raw: &PairStore, first: usize| {
            let before = cross.len();
            raw.for_each_chunk(|pairs| {
                cross.extend(pairs.iter().map(|&Pair { a, b }| {
                    let (probe, object) = (first + a as usize, b as usize);
                    let (there, here) = if swapped { (object, probe) } else { (probe, object) };
                    Pair::new(zero.slots[there], slots[here])
                }));
            });
            if cross.len() as u64 > limit && frame.refines() {
                frame.refine(cross, before);
            }
            if cross.len() as u64 > limit { Err(Error::TooManyPairs { limit }) } else { Ok(()) }
        };
        *cross_tests = if swapped {
            probe_parts(&*zero.structure, &zero.frame(), Batch { boxes, envs: &[] }, limit, context, raw, take)?
        } else {
            let own = Frame { shape: *shape, ..Frame::new(boxes) };
            probe_parts(&**structure, &own, Batch { boxes: &zero.boxes, envs: &[] }, limit, context, raw, take)?
        };
        Ok(())
    }
}

impl<const D: usize, T: Real> Environments<D, T> {
    pub(super) fn find(&mut self, frame: &Frame<'_, D, T>, context: &Context, out: &mut PairStore) -> Result<(), Error> {
        let chunks = self.groups.len();
        // Where all tags allow each other within an environment, they need not be tested.
        let plain = self.groups.iter_mut().all(|group| open(group).plain);
        let frame = &Frame { tags: frame.tags.filter(|_| !plain), ..*frame };
        let kept = out.begin(frame, context, self.revision, chunks)?;
        let result = self.join(frame, context, out, !kept);
        if let Err(error) = result {
            out.roll_back();
            self.groups.iter_mut().for_each(|group| open(group).touched = true);
            self.revision = Revision::default();
            return Err(error);
        }
        self.revision = out.finish(context, chunks)?;
        Ok(())
    }

    fn join(&mut self, frame: &Frame<'_, D, T>, context: &Context, out: &PairStore, all: bool) -> Result<(), Error> {
        let Some((zero, others)) = self.groups.split_first_mut() else { return Ok(()) };
        let (zero, limit) = (open(zero), out.limit());
        let all_others = all || zero.touched;
        if all_others {
            zero.find_own(frame, limit)?;
            out.rewrite(0, 0, frame, |hits| {
                hits.count_tests(zero.own.tests());
                zero.own.for_each_chunk(|pairs| pairs.iter().for_each(|&pair| hits.push(to_slots(zero, pair))));
            });
        }
        let (zero, failure) = (&*zero, Failure::default());
        context.run_weighted(others.len(), SEEK * frame.slots(), |number, worker| {
            let mut group = write(&others[number]);
            if !(all_others || group.touched) {
                return;
            }
            let found = group.find_own(frame, limit).and_then(|()| group.find_cross(zero, frame, limit));
            let group = &*group;
            match found {
                Err(error) => failure.note(number, Err(error)),
                Ok(()) => out.rewrite(number + 1, worker, frame, |hits| {
                    hits.count_tests(group.own.tests() + group.cross_tests);
                    group.own.for_each_chunk(|pairs| pairs.iter().for_each(|&pair| hits.push(to_slots(group, pair))));
                    group.cross.iter().for_each(|&pair| hits.push(pair));
                }),
            }
        });
        failure.finish()
    }

    /// Finds the pairs of probes and objects. Probes of an environment are paired with it and with environment 0; probes of environment 0, or of no known
    /// one, with all.
    pub(super) fn join_probes(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        envs: Option<&[u32]>,
        context: &Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        let unfiltered = Frame { live: frame.live, ..Frame::new(frame.boxes) };
        let view = if probes.ids.is_some() { frame } else { &unfiltered };
        let mut order = self.scratch.take();
        order.chosen.clear();
        if let Some(envs) = envs {
            order.chosen.extend(0..probes.boxes.len() as u32);
            order.chosen.sort_unstable_by_key(|&probe| (envs[probe as usize], probe));
        }
        out.begin(view, context, Revision::default(), self.groups.len())?;
        let (failure, sorted, sink) = (Failure::default(), &order.chosen, &*out);
        context.run_weighted(self.groups.len(), SEEK * (self.groups.len() + probes.boxes.len()), |number, worker| {
            let mut scratch = self.scratch.take();
            let result = self.probe_group(number, probes, envs.map(|envs| (envs, &sorted[..])), sink, context, &mut scratch);
            match result {
                Err(error) => failure.note(number, Err(error)),
                Ok(false) => {}
                Ok(true) => sink.rewrite(number, worker, view, |hits| {
                    let (group, chosen) = (read(&self.groups[number]), &scratch.chosen);
                    hits.count_tests(scratch.found.tests());
                    scratch.found.for_each_chunk(|pairs| {
                        for &Pair { a, b } in pairs {
                            let probe = if chosen.is_empty() { a } else { chosen[a as usize] };
                            let slot = group.slots[b as usize];
                            hits.push(probes.ids.map_or(Pair { a: probe, b: slot }, |ids| Pair::new(ids[probe as usize], slot)));
                        }
                    });
                }),
            }
            self.scratch.give(scratch);
        });
        let result = failure.finish();
        self.scratch.give(order);
        match result {
            Ok(()) => out.finish(context, self.groups.len()).map(|_| ()),
            Err(error) => {
                out.roll_back();
                Err(error)
            }
        }
    }

    /// Probes one group with all probes, or, if their environments are known, with those that may meet it: the probes are then `chosen`. False
    /// if there is nothing to find.
    fn probe_group(
        &self,
        number: usize,
        probes: Probes<'_, D, T>,
        envs: Option<(&[u32], &[u32])>,
        out: &PairStore,
        context: &Context,
        scratch: &mut ProbeScratch<D, T>,
    ) -> Result<bool, Error> {
        let group = read(&self.groups[number]);
        let ProbeScratch { chosen, boxes, found, context: alone } = scratch;
        chosen.clear();
        if let Some((envs, order)) = envs.filter(|_| number > 0) {
            let of = |env: u32| {
                let from = order.partition_point(|&probe| envs[probe as usize] < env);
                &order[from..order.partition_point(|&probe| envs[probe as usize] <= env)]
            };
            chosen.extend_from_slice(of(0));
            chosen.extend_from_slice(of(group.env));
            if chosen.is_empty() {
                return Ok(false);
            }
            boxes.clear();
            boxes.extend(chosen.iter().map(|&probe| probes.boxes[probe as usize]));
        }
        let boxes = if chosen.is_empty() { probes.boxes } else { boxes };
        if boxes.is_empty() || group.slots.is_empty() {
            return Ok(false);
        }
        alone.set_kernels(context.kernels());
        // Probes that are objects are filtered, and rejected pairs do not count toward the limit.
        found.set_limit(if probes.ids.is_none() { out.limit() } else { PairStore::DEFAULT_LIMIT });
        group.structure.probe(&group.frame(), Probes { boxes, ids: None, recurring: false }, alone, found)?;
        Ok(true)
    }
}

/// A pair of numbers in a group as a pair of slots. It stays canonical, since slots ascend in a group.
#[inline(always)]
fn to_slots<const D: usize, T: Real>(group: &Group<D, T>, pair: Pair) -> Pair {
    Pair { a: group.slots[pair.a as usize], b: group.slots[pair.b as usize] }
}
