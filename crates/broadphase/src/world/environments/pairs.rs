//! A group's pairs are a chunk.

use std::sync::Mutex;

use super::{Environments, Group, open, read, write};
use crate::algorithms::Probes;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore, Report, Revision};

/// The first error of any job; which one comes first does not matter to who reads it.
#[derive(Default)]
pub(super) struct Failure(Mutex<Option<Error>>);

impl Failure {
    pub(super) fn note(&self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
        }
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        self.0.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).map_or(Ok(()), Err)
    }
}

impl<const D: usize, T: Real> Group<D, T> {
    /// Pairs of its own objects, if any changed.
    fn find_own(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.touched) {
            let Self { structure, boxes, context, own, shape, .. } = self;
            structure.pairs(&Frame { shape: *shape, ..Frame::new(boxes) }, context, own)?;
        }
        Ok(())
    }

    /// Pairs with environment 0: (number there, number here), in `cross`.
    fn find_cross(&mut self, zero: &Self) -> Result<bool, Error> {
        if zero.slots.is_empty() || self.slots.is_empty() {
            return Ok(false);
        }
        let turned = zero.slots.len() > self.slots.len();
        let (context, cross) = (&mut self.context, &mut self.cross);
        if turned {
            zero.structure.probe(&zero.frame(), Probes { boxes: &self.boxes, ids: None }, context, cross)?;
        } else {
            let frame = Frame { shape: self.shape, ..Frame::new(&self.boxes) };
            self.structure.probe(&frame, Probes { boxes: &zero.boxes, ids: None }, context, cross)?;
        }
        Ok(turned)
    }
}

impl<const D: usize, T: Real> Environments<D, T> {
    pub(super) fn find(&mut self, frame: &Frame<'_, D, T>, context: &Context, out: &mut PairStore) -> Result<(), Error> {
        let chunks = self.groups.len();
        // Where all tags allow each other within an environment, nobody needs to look at them.
        let plain = self.groups.iter_mut().all(|group| open(group).plain);
        let frame = &Frame { tags: frame.tags.filter(|_| !plain), ..*frame };
        let kept = out.begin(frame, context, self.revision, chunks);
        let result = self.join(frame, context, out, !kept);
        if let Err(error) = result {
            out.roll_back();
            self.groups.iter_mut().for_each(|group| open(group).touched = true);
            self.revision = Revision::default();
            return Err(error);
        }
        self.revision = out.finish(chunks)?;
        Ok(())
    }

    fn join(&mut self, frame: &Frame<'_, D, T>, context: &Context, out: &PairStore, all: bool) -> Result<(), Error> {
        let Some((zero, others)) = self.groups.split_first_mut() else { return Ok(()) };
        let zero = open(zero);
        let all_others = all || zero.touched;
        if all_others {
            zero.find_own()?;
            out.rewrite(0, 0, frame, |hits| {
                hits.count_tests(zero.own.tests());
                zero.own.for_each_chunk(|pairs| pairs.iter().for_each(|&pair| hits.push(spread(zero, pair))));
            });
        }
        let (zero, failure) = (&*zero, Failure::default());
        context.run(others.len(), |number, worker| {
            let mut group = write(&others[number]);
            if !(all_others || group.touched) {
                return;
            }
            let turned = group.find_own().and_then(|()| group.find_cross(zero));
            let group = &*group;
            match turned {
                Err(error) => failure.note(Err(error)),
                Ok(turned) => out.rewrite(number + 1, worker, frame, |hits| {
                    hits.count_tests(group.own.tests());
                    group.own.for_each_chunk(|pairs| pairs.iter().for_each(|&pair| hits.push(spread(group, pair))));
                    if zero.slots.is_empty() || group.slots.is_empty() {
                        return;
                    }
                    hits.count_tests(group.cross.tests());
                    group.cross.for_each_chunk(|pairs| {
                        for &Pair { a, b } in pairs {
                            let (there, here) = if turned { (b, a) } else { (a, b) };
                            hits.push(Pair::new(zero.slots[there as usize], group.slots[here as usize]));
                        }
                    });
                }),
            }
        });
        failure.finish()
    }

    /// Probes of an environment meet it and environment 0; probes of environment 0, and those without one, meet all.
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
        let sorted = envs.map(|envs| {
            let mut order: Vec<u32> = (0..probes.boxes.len() as u32).collect();
            order.sort_by_key(|&probe| envs[probe as usize]); // stable, so in order within an environment
            order
        });
        out.begin(view, context, Revision::default(), self.groups.len());
        let failure = Failure::default();
        context.run(self.groups.len(), |number, worker| {
            let group = read(&self.groups[number]);
            let chosen: Option<Vec<u32>> = match (envs, &sorted) {
                (Some(envs), Some(order)) if number > 0 => {
                    let of = |env: u32| {
                        let from = order.partition_point(|&probe| envs[probe as usize] < env);
                        &order[from..order.partition_point(|&probe| envs[probe as usize] <= env)]
                    };
                    Some([of(0), of(group.env)].concat())
                }
                _ => None,
            };
            let boxes: Option<Vec<Aabb<D, T>>> =
                chosen.as_ref().map(|list| list.iter().map(|&probe| probes.boxes[probe as usize]).collect());
            let boxes = boxes.as_deref().unwrap_or(probes.boxes);
            if boxes.is_empty() || group.slots.is_empty() {
                return;
            }
            let (mut found, mut alone) = (PairStore::new(Report::All), Context::new().with_kernels(context.kernels()));
            match group.structure.probe(&group.frame(), Probes { boxes, ids: None }, &mut alone, &mut found) {
                Err(error) => failure.note(Err(error)),
                Ok(()) => out.rewrite(number, worker, view, |hits| {
                    hits.count_tests(found.tests());
                    found.for_each_chunk(|pairs| {
                        for &Pair { a, b } in pairs {
                            let probe = chosen.as_ref().map_or(a, |list| list[a as usize]);
                            let slot = group.slots[b as usize];
                            hits.push(probes.ids.map_or(Pair { a: probe, b: slot }, |ids| Pair::new(ids[probe as usize], slot)));
                        }
                    });
                }),
            }
        });
        match failure.finish() {
            Ok(()) => out.finish(self.groups.len()).map(|_| ()),
            Err(error) => {
                out.roll_back();
                Err(error)
            }
        }
    }
}

/// A pair of numbers in a group as a pair of slots; ascending numbers are ascending slots.
#[inline(always)]
fn spread<const D: usize, T: Real>(group: &Group<D, T>, pair: Pair) -> Pair {
    Pair { a: group.slots[pair.a as usize], b: group.slots[pair.b as usize] }
}
