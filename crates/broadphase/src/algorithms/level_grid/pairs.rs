//! Every object against the sections within its reach, on its own level and the coarser ones.

use std::ops::{ControlFlow, Range};

use super::sections::Sections;
use super::{LevelGrid, Scratch};
use crate::algorithms::Probes;
use crate::algorithms::common::{probe_each, query_each_object};
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::PairSink;
use crate::memory;
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore};

/// Objects whose pairs share a chunk.
const OBJECTS_PER_CHUNK: usize = 512;

impl<const D: usize, T: Real> LevelGrid<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        if self.options.paper {
            let revision = query_each_object(&self.tracked, frame, context, out, |area, visit| self.visit_in(area, visit))?;
            self.tracked.set_written(revision);
            return Ok(());
        }
        let objects = self.population.iter().sum::<u32>() as usize;
        let chunks = objects.div_ceil(OBJECTS_PER_CHUNK);
        let kept = out.begin(frame, context, self.tracked.revision(), chunks)? && !self.tracked.is_dirty();
        if !kept {
            let clock = context.clock();
            let Scratch { ids, starts, boxes } = &mut self.scratch;
            self.bins.lay_out(ids, starts).inspect_err(|_| out.roll_back())?;
            boxes.clear();
            let all = ids.iter().map(|&id| *self.tracked.get(id));
            memory::extend(boxes, ids.len(), all, "the order of boxes").inspect_err(|_| out.roll_back())?;
            context.record("lay out", clock);
            let clock = context.clock();
            if let Some(sections) = &self.sections {
                context.run_weighted(chunks, SEEK * frame.slots(), |chunk, worker| {
                    let range = chunk * OBJECTS_PER_CHUNK..((chunk + 1) * OBJECTS_PER_CHUNK).min(objects);
                    out.rewrite(chunk, worker, frame, |hits| range.for_each(|at| self.join(sections, at, hits)));
                });
            }
            context.record("join", clock);
        }
        self.tracked.set_written(out.finish(context, chunks)?);
        Ok(())
    }

    pub(super) fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        probe_each(frame, probes, context, out, |area, visit| self.visit_in(area, visit))
    }

    /// The pairs of the object at position `at`: with those behind it on its own level, and with all within reach on coarser ones.
    fn join(&self, sections: &Sections<D, T>, at: usize, hits: &mut PairSink<'_>) {
        if hits.stopped() {
            return;
        }
        let Scratch { ids, starts, boxes } = &self.scratch;
        let (id, area) = (ids[at], &boxes[at]);
        let mut test = |range: Range<usize>| {
            for other in range.clone() {
                if boxes[other].overlaps(area) {
                    hits.push(Pair::new(id, ids[other]));
                }
            }
            hits.count_tests(range.len() as u64);
        };
        let oversize = starts[sections.oversize as usize] as usize;
        let own = if at < oversize { sections.level_of(self.bins.bin_of(id).unwrap_or(sections.oversize)) } else { 0 };
        test(oversize.max(at + 1)..ids.len());
        for level in (0..=own).filter(|&level| at < oversize && self.population[level] > 0) {
            let _all = sections.within_reach(level, area, |run| {
                let (from, to) = (starts[*run.start() as usize] as usize, starts[*run.end() as usize + 1] as usize);
                // Both of a pair on one level have each other within reach: the earlier one reports it.
                let from = if level == own { from.max(at + 1) } else { from };
                test(from..to.max(from));
                ControlFlow::Continue(())
            });
        }
    }
}
