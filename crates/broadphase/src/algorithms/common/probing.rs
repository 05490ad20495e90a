//! Probes one by one: the structure names candidates, the exact test is made here.

use std::ops::ControlFlow;

use crate::algorithms::Probes;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::pairs::{Lineage, Pair, PairStore};

/// What a structure calls with each candidate, at most once with each; after a break it stops.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(u32) -> ControlFlow<()>;

/// Probes that share a chunk.
const PROBES_PER_CHUNK: usize = 1024;

/// All pairs of a probe with an object among the `candidates` of its box.
pub(crate) fn probe_each<const D: usize, T: Real>(
    frame: &Frame<'_, D, T>,
    probes: Probes<'_, D, T>,
    context: &mut Context,
    out: &mut PairStore,
    candidates: impl Fn(&Aabb<D, T>, Visit<'_>) + Sync,
) -> Result<(), Error> {
    let chunks = probes.boxes.len().div_ceil(PROBES_PER_CHUNK);
    let unfiltered = Frame::new(frame.boxes);
    let view = if probes.ids.is_some() { frame } else { &unfiltered };
    out.begin(view, context, Lineage::default(), chunks);
    context.run(chunks, |chunk, worker| {
        let range = chunk * PROBES_PER_CHUNK..((chunk + 1) * PROBES_PER_CHUNK).min(probes.boxes.len());
        out.rewrite(chunk, worker, view, |hits| {
            let mut tests = 0;
            for index in range {
                let probe = &probes.boxes[index];
                candidates(probe, &mut |id| {
                    tests += 1;
                    if frame.boxes[id as usize].overlaps(probe) {
                        hits.push(match probes.ids {
                            None => Pair { a: index as u32, b: id },
                            Some(ids) => Pair::new(ids[index], id),
                        });
                    }
                    if hits.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
            }
            hits.count_tests(tests);
        });
    });
    out.finish(chunks).map(|_| ())
}
