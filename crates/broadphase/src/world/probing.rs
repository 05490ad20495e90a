//! Probes in parts, whose pairs are filtered part by part, so that rejected pairs do not fill the memory.

use crate::algorithms::{BroadPhase, Probes};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::pairs::PairStore;

/// The number of unfiltered pairs to hold in memory at most, or the pair limit if that is larger.
pub(in crate::world) const WAITING: u64 = 1 << 18;

/// Boxes to be paired with the objects of a structure, and their environments, or none.
#[derive(Clone, Copy)]
pub(in crate::world) struct Batch<'a, const D: usize, T> {
    pub(in crate::world) boxes: &'a [Aabb<D, T>],
    pub(in crate::world) envs: &'a [u32],
}

/// Runs the probes in parts, each small enough to find at most [`WAITING`] pairs, or `limit` if that is more; but of at least one probe. After each part,
/// `take` gets its pairs and the number of its first probe, and filters them; it returns an error if too many are left. Returns the number of tests.
pub(in crate::world) fn probe_parts<const D: usize, T: Real>(
    structure: &dyn BroadPhase<D, T>,
    frame: &Frame<'_, D, T>,
    Batch { boxes, envs }: Batch<'_, D, T>,
    limit: u64,
    context: &mut Context,
    raw: &mut PairStore,
    take: &mut dyn FnMut(&PairStore, usize) -> Result<(), Error>,
) -> Result<u64, Error> {
    let (mut from, mut size, mut tests) = (0, boxes.len(), 0);
    while from < boxes.len() {
        let part = from..(from + size).min(boxes.len());
        raw.set_limit(if part.len() > 1 { limit.max(WAITING) } else { PairStore::DEFAULT_LIMIT });
        let probes = Probes { boxes: &boxes[part.clone()], ids: None, recurring: false };
        let found = match envs.get(part.clone()) {
            Some(envs) => structure.probe_envs(frame, probes, envs, context, raw),
            None => structure.probe(frame, probes, context, raw),
        };
        match found {
            Ok(()) => {
                tests += raw.tests();
                take(raw, from)?;
                from = part.end;
            }
            Err(Error::TooManyPairs { .. }) if part.len() > 1 => size = part.len().div_ceil(2),
            Err(error) => return Err(error),
        }
    }
    Ok(tests)
}
