//! Probes: other boxes against the objects, by one descent each.

use std::ops::ControlFlow;

use super::KdTree;
use crate::algorithms::{Probes, Query};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Frame;
use crate::pairs::{Lineage, Pair, PairStore};

/// Probes that share a chunk.
const PROBES_PER_CHUNK: usize = 1024;

impl<const D: usize, T: Real> KdTree<D, T> {
    pub(super) fn join_probes(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
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
                    let area = &probes.boxes[index];
                    tests += self.tested(area);
                    self.in_box(frame, area, &mut |id| {
                        hits.push(match probes.ids {
                            Some(ids) => Pair::new(ids[index], id),
                            None => Pair { a: index as u32, b: id },
                        });
                        if hits.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    });
                }
                hits.count_tests(tests);
            });
        });
        out.finish(chunks).map(|_| ())
    }
}
