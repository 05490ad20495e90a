//! The joins: all pairs, or those of changed objects.

use super::{BruteForce, ROWS_PER_CHUNK, Scratch};
use crate::algorithms::Probes;
use crate::algorithms::common::probe_chunks;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::{Order, Output, PairSink, RESERVE, Soa, all_pairs};
use crate::memory;
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore};

impl<const D: usize, T: Real> BruteForce<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let chunks = self.columns.len().div_ceil(ROWS_PER_CHUNK);
        let kept = out.begin(frame, context, self.revision, chunks)? && !self.changes.is_everything();
        if !kept {
            self.join_all(frame, context, out, chunks);
        } else if self.changes.len() > 0 {
            self.join_changed(frame, context, out, chunks).inspect_err(|_| out.roll_back())?;
        }
        self.revision = out.finish(context, chunks)?;
        self.changes.clear(self.columns.len());
        Ok(())
    }

    fn join_all(&self, frame: &Frame<'_, D, T>, context: &Context, out: &PairStore, chunks: usize) {
        context.run_weighted(chunks, self.columns.len() * self.columns.len() / 16, |chunk, worker| {
            let rows = chunk * ROWS_PER_CHUNK..((chunk + 1) * ROWS_PER_CHUNK).min(self.columns.len());
            out.rewrite(chunk, worker, frame, |hits| all_pairs::join_self(context.kernels(), self.columns.columns(), rows, hits));
        });
    }

    /// Tests every changed object against all; each chunk drops its pairs with a changed object and gets the new ones.
    fn join_changed(
        &mut self,
        frame: &Frame<'_, D, T>,
        context: &Context,
        out: &mut PairStore,
        chunks: usize,
    ) -> Result<(), Error> {
        let Scratch { probes, found, .. } = &mut self.scratch;
        let changed = |id: u32| self.changes.contains(id);
        probes.try_resize(self.changes.len())?;
        for (position, &id) in self.changes.slots().iter().enumerate() {
            probes.set(position, id, &self.columns.get(id as usize)); // an emptied slot is NaN, and finds nothing
        }
        found.clear();
        memory::reserve(found, RESERVE, "pairs")?;
        let mut hits = PairSink::new(std::mem::take(found), None, true, u64::MAX);
        all_pairs::join_between(context.kernels(), probes.columns(), self.columns.columns(), Order::AsGiven, &mut hits);
        let Output { pairs, tests, stop, .. } = hits.finish();
        *found = pairs;
        if stop.is_some() {
            return Err(Error::OutOfMemory { what: "pairs" }); // there is no limit, so it was an allocation that failed
        }
        // Of two changed objects, the smaller id reports the pair; an object does not pair with itself.
        found.retain(|pair| pair.a < pair.b || (pair.a > pair.b && !changed(pair.b)));
        found.iter_mut().for_each(|pair| *pair = Pair::new(pair.a, pair.b));
        found.sort_unstable();

        let mut rest = &found[..];
        let mut tests = Some(tests);
        for chunk in 0..chunks {
            let end = rest.partition_point(|pair| (pair.a as usize) < (chunk + 1) * ROWS_PER_CHUNK);
            let (new, later) = rest.split_at(end);
            rest = later;
            let touched = |pair: Pair| changed(pair.a) || changed(pair.b);
            if !new.is_empty() || tests.is_some() || out.chunk(chunk).iter().any(|&pair| touched(pair)) {
                out.edit(
                    chunk,
                    0,
                    frame,
                    |pair| !touched(pair),
                    |hits| {
                        hits.count_tests(tests.take().unwrap_or(0)); // all of them are counted in the first chunk
                        new.iter().for_each(|&pair| hits.push(pair));
                    },
                );
            }
        }
        Ok(())
    }

    pub(super) fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        let order = if probes.ids.is_some() { Order::Canonical } else { Order::AsGiven };
        probe_chunks(frame, probes, context, out, |range, hits| {
            let mut rows = self.scratch.rows.take_or(Soa::unallocated);
            if rows.try_resize(range.len()).is_err() {
                return hits.stop_out_of_memory();
            }
            for (position, index) in range.enumerate() {
                let id = probes.ids.map_or(index as u32, |ids| ids[index]);
                rows.set(position, id, &probes.boxes[index]);
            }
            all_pairs::join_between(context.kernels(), rows.columns(), self.columns.columns(), order, hits);
            self.scratch.rows.give(rows);
        })
    }
}
