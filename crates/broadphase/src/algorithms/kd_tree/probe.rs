//! Probes: other boxes against the objects, by one descent each.

use std::ops::ControlFlow;

use super::KdTree;
use crate::algorithms::common::probe_chunks;
use crate::algorithms::{Probes, Query};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Frame;
use crate::pairs::PairStore;

impl<const D: usize, T: Real> KdTree<D, T> {
    pub(super) fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        probe_chunks(frame, probes, context, out, |range, hits| {
            let mut tests = 0;
            for index in range {
                let area = &probes.boxes[index];
                tests += self.tested(area);
                self.in_box(frame, area, &mut |id| {
                    hits.push(probes.pair(index, id));
                    if hits.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
            }
            hits.count_tests(tests);
        })
    }
}
