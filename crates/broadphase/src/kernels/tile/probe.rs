//! One box against the records of a tile.

use super::{COORDINATES, LOWER, Record};
use crate::kernels::arch::{Kernel, Simd, Words};
use crate::kernels::isa::Kernels;

/// Appends to `found` the ids of the records that overlap `probe`, and whose common part with it starts in this tile; those that
/// only the boxes can decide come with `false`. There must be room for as many as there are records.
pub(crate) fn probe(kernels: Kernels, records: &[Record], probe: &Record, found: &mut Vec<(u32, bool)>) {
    kernels.run(Probe { records, probe, found });
}

struct Probe<'a> {
    records: &'a [Record],
    probe: &'a Record,
    found: &'a mut Vec<(u32, bool)>,
}

impl Kernel for Probe<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        // SAFETY: (isa) `S` is proven by the kernel table.
        let own = unsafe { S::U16::load(&self.probe.0) };
        // SAFETY: (isa) as above.
        let bound = unsafe { own.reach() };
        for record in self.records {
            // SAFETY: (isa) as above.
            let inside = unsafe { S::U16::load(&record.0).excess(bound).zeros() };
            // Rare, so a branch is cheap.
            if inside & COORDINATES == COORDINATES {
                // SAFETY: (isa) as above.
                let (both_before, equal) = unsafe {
                    let other = S::U16::load(&record.0);
                    (other.or(own).zeros(), other.equal(bound))
                };
                if both_before & LOWER == 0 {
                    self.found.push((record.id(), equal & COORDINATES == 0)); // reserved
                }
            }
        }
    }
}
