//! Probes, cut into chunks: joined in groups with sorted boxes, or one by one, where the structure names candidates and the exact test is made here.

use std::ops::{ControlFlow, Range};

#[cfg(feature = "papers")]
use super::TrackedBoxes;
use crate::algorithms::Probes;
use crate::buffer_pool::BufferPool;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::{Order, PairSink, Soa, Sorted};
use crate::objects::Frame;
#[cfg(feature = "papers")]
use crate::pairs::Pair;
use crate::pairs::{PairStore, Revision};

/// What a structure calls with each candidate, at most once with each; after a break it stops.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(u32) -> ControlFlow<()>;

/// Probes that share a chunk.
const PROBES_PER_CHUNK: usize = 1024;

/// The work of one probe, in the units of [`Context::run_weighted`].
const PROBE: usize = 300;

/// An error unless there are as many ids as boxes, or none.
pub(crate) fn check_ids<const D: usize, T>(probes: Probes<'_, D, T>) -> Result<(), Error> {
    match probes.ids.filter(|ids| ids.len() != probes.boxes.len()) {
        Some(ids) => Err(Error::InvalidFrame { index: ids.len(), reason: "there are not as many probe ids as probe boxes" }),
        None => Ok(()),
    }
}

/// Runs probes in chunks: `join` reports the pairs of a range of them.
///
/// Probes without ids have no slots, and so neither tags nor shapes: their boxes decide.
pub(crate) fn probe_chunks<const D: usize, T: Real>(
    frame: &Frame<'_, D, T>,
    probes: Probes<'_, D, T>,
    context: &Context,
    out: &mut PairStore,
    join: impl Fn(Range<usize>, &mut PairSink<'_>) + Sync,
) -> Result<(), Error> {
    check_ids(probes)?;
    let chunks = probes.boxes.len().div_ceil(PROBES_PER_CHUNK);
    let unfiltered = Frame { live: frame.live, ..Frame::new(frame.boxes) };
    let view = if probes.ids.is_some() { frame } else { &unfiltered };
    out.begin(view, context, Revision::default(), chunks)?;
    context.run_weighted(chunks, PROBE * probes.boxes.len(), |chunk, worker| {
        let range = chunk * PROBES_PER_CHUNK..((chunk + 1) * PROBES_PER_CHUNK).min(probes.boxes.len());
        out.rewrite(chunk, worker, view, |hits| join(range, hits));
    });
    out.finish(context, chunks).map(|_| ())
}

/// Buffers of [`probe_sorted`], which several threads may call at once.
#[derive(Clone, Debug)]
pub(crate) struct ProbeBuffers<const D: usize, T: Real> {
    /// The probes in ascending order on the sweep axis.
    order: BufferPool<Vec<u32>>,
    /// Probes that are tested together.
    rows: BufferPool<Soa<D, T>>,
}

impl<const D: usize, T: Real> Default for ProbeBuffers<D, T> {
    fn default() -> Self {
        Self { order: BufferPool::default(), rows: BufferPool::default() }
    }
}

impl<const D: usize, T: Real> ProbeBuffers<D, T> {
    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.order.bytes(super::bytes_of) + self.rows.bytes(Soa::bytes)
    }
}

/// All pairs of a probe with a sorted box. The probes are sorted too, so that neighbors share the range of positions they are tested
/// against.
pub(crate) fn probe_sorted<const D: usize, T: Real>(
    boxes: &Sorted<D, T>,
    buffers: &ProbeBuffers<D, T>,
    frame: &Frame<'_, D, T>,
    probes: Probes<'_, D, T>,
    context: &Context,
    out: &mut PairStore,
) -> Result<(), Error> {
    let order = if probes.ids.is_some() { Order::Canonical } else { Order::AsGiven };
    let axis = boxes.axes()[0];
    let mut sorted = buffers.order.take();
    sorted.clear();
    sorted.extend(0..probes.boxes.len() as u32);
    // A stable sort would allocate.
    sorted.sort_unstable_by_key(|&index| (probes.boxes[index as usize].min[axis].order_key(), index));
    let result = probe_chunks(frame, probes, context, out, |range, hits| {
        let ordered = sorted[range].iter().map(|&index| {
            let id = probes.ids.map_or(index, |ids| ids[index as usize]);
            (id, probes.boxes[index as usize])
        });
        let mut rows = buffers.rows.take();
        boxes.probe(context.kernels(), ordered, &mut rows, order, hits);
        buffers.rows.give(rows);
    });
    buffers.order.give(sorted);
    result
}

/// All pairs of a probe with an object among the `candidates` of its box.
pub(crate) fn probe_each<const D: usize, T: Real>(
    frame: &Frame<'_, D, T>,
    probes: Probes<'_, D, T>,
    context: &mut Context,
    out: &mut PairStore,
    candidates: impl Fn(&Aabb<D, T>, Visit<'_>) + Sync,
) -> Result<(), Error> {
    probe_chunks(frame, probes, context, out, |range, hits| {
        let mut tests = 0;
        for index in range {
            let probe = &probes.boxes[index];
            candidates(probe, &mut |id| {
                tests += 1;
                if frame.boxes[id as usize].overlaps(probe) {
                    hits.push(probes.pair(index, id));
                }
                if hits.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
        hits.count_tests(tests);
    })
}

/// All pairs as paper 004 finds them: each object in turn queries the structure, and is tested against every candidate but itself. So a pair is tested
/// from both sides; the object with the smaller id reports it.
#[cfg(feature = "papers")]
pub(crate) fn query_each_object<const D: usize, T: Real>(
    tracked: &TrackedBoxes<D, T>,
    frame: &Frame<'_, D, T>,
    context: &mut Context,
    out: &mut PairStore,
    candidates: impl Fn(&Aabb<D, T>, Visit<'_>) + Sync,
) -> Result<Revision, Error> {
    let slots = tracked.slots();
    let chunks = slots.div_ceil(PROBES_PER_CHUNK);
    let kept = out.begin(frame, context, tracked.revision(), chunks)? && !tracked.is_dirty();
    if !kept {
        let clock = context.clock();
        context.run_weighted(chunks, PROBE * slots, |chunk, worker| {
            let range = chunk * PROBES_PER_CHUNK..((chunk + 1) * PROBES_PER_CHUNK).min(slots);
            out.rewrite(chunk, worker, frame, |hits| {
                for id in range.map(|id| id as u32).filter(|&id| tracked.is_live(id)) {
                    let (area, mut tests) = (tracked.get(id), 0);
                    candidates(area, &mut |other| {
                        if other != id {
                            tests += 1;
                            if tracked.get(other).overlaps(area) && id < other {
                                hits.push(Pair { a: id, b: other });
                            }
                        }
                        if hits.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    });
                    hits.count_tests(tests);
                }
            });
        });
        context.record("ask", clock);
    }
    out.finish(context, chunks)
}
