//! Queries by a scan of all objects: what the others are compared with.

use super::BruteForce;
use crate::algorithms::common::scan;
use crate::algorithms::{Found, Query};
use crate::geometry::{Measure, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> Query<D, T> for BruteForce<D, T> {
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        scan(frame, measure, limit, visit);
    }
}
