//! The particle grid as the text has it: `particle-grid:paper=true`.
//!
//! Three arrays: `lookup` from cell to the start of its slice, one entry more than cells; `pointers`, which are indices into the caller's array,
//! cell by cell; and the caller's boxes, which are the arena: nothing is copied from it. Every frame `lookup` is counted, summed up, and
//! `pointers` filled by looking for a free place behind the start of the slice. Then each particle visits its 3x3 (3x3x3) cells, so that a pair
//! is checked from both sides; the smaller index reports it.
//!
//! Two things are as in our own mode, since the result would be wrong or the memory without bound otherwise: cells are wider than a particle by a
//! thousandth, and a dense table has at most a few cells per particle. In a hashed grid two cells may share a slice: a particle of another
//! cell is checked there, which is the unnecessary check that the text accepts, and reported only where it is met in its own cell.

use super::space::{Space, floor, for_each_cell, in_range, world_around};
use super::update::{check_shape, common_radius};
use super::{Options, Storage};
use crate::algorithms::common::{Visit, assert_dimension, bytes_of, implement_broad_phase, probe_each};
use crate::algorithms::{Probes, Spec, Stats, Strength, Violation, ensure};
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::{Aabb, Ball, Real};
use crate::memory;
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore, Revision};

/// No particle.
const NONE: u32 = u32::MAX;
/// Slots whose pairs share a chunk.
const PER_CHUNK: usize = 256;
/// What the memory of an error is for.
const WHAT: &str = "the table of a particle grid";

/// The particle grid of the paper. See the module documentation.
#[derive(Clone, Debug)]
pub struct PaperParticles<const D: usize, T: Real> {
    options: Options<D, T>,
    radius: T,
    /// Known from the first particle on.
    space: Option<Space<D>>,
    lookup: Vec<u32>,
    pointers: Vec<u32>,
    dirty: bool,
    revision: Revision,
}

fn center<const D: usize, T: Real>(frame: &Frame<'_, D, T>, id: u32) -> [T; D] {
    Ball::of_box(&frame.boxes[id as usize]).center
}

impl<const D: usize, T: Real> PaperParticles<D, T> {
    /// An empty structure. A world that repeats is of our own mode only, and ignored.
    pub fn new(storage: Storage, world: Option<Aabb<D, T>>) -> Self {
        assert_dimension::<D>();
        let options = Options { storage, world, periodic: false };
        let [lookup, pointers] = [const { Vec::new() }; 2];
        Self { options, radius: T::ZERO, space: None, lookup, pointers, dirty: true, revision: Revision::default() }
    }

    /// From the options of a [`Spec`].
    pub(crate) fn from_spec(spec: &Spec) -> Result<Self, Error> {
        let structure = Self::new(super::storage(spec)?, spec.world()?);
        super::ParticleGrid::new(T::ONE, structure.options.clone())?;
        Ok(structure)
    }

    fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        frame.check()?;
        check_shape(frame)?;
        let unchanged = frame.changes.lists_nothing();
        if unchanged && self.space.is_some() && frame.count() == self.pointers.len() {
            return Ok(());
        }
        let radius = common_radius(frame)?;
        super::ParticleGrid::new(radius, self.options.clone())?;
        let clock = context.clock();
        let space = self.space_for(frame, radius);
        self.dirty = true;
        memory::refill(&mut self.lookup, space.slots + 1, 0, WHAT)?;
        memory::refill(&mut self.pointers, frame.count(), NONE, WHAT)?;
        let hash = |id: u32| space.slot(&space.cell(&center(frame, id)));
        frame.ids().for_each(|id| self.lookup[hash(id)] += 1);
        let mut sum = 0;
        for entry in &mut self.lookup {
            sum += std::mem::replace(entry, sum);
        }
        for id in frame.ids() {
            let from = self.lookup[hash(id)] as usize;
            let free = self.pointers[from..].iter().position(|&other| other == NONE);
            free.iter().for_each(|free| self.pointers[from + free] = id);
        }
        (self.radius, self.space) = (radius, Some(space));
        context.record("sort", clock);
        Ok(())
    }

    /// The cells of this frame: over the given world, or the particles' own and a tenth on each side.
    fn space_for(&self, frame: &Frame<'_, D, T>, radius: T) -> Space<D> {
        let (mut extent, mut largest) = (Aabb::<D, f64>::empty(), 0.0f64);
        for center in frame.ids().map(|id| center(frame, id)) {
            for (k, x) in center.map(|c| in_range(c.to_f64())).into_iter().enumerate() {
                (extent.min[k], extent.max[k]) = (extent.min[k].min(x), extent.max[k].max(x));
                largest = largest.max(x.abs());
            }
        }
        let given = self
            .options
            .world
            .map(|world| Aabb { min: world.min.map(|c| in_range(c.to_f64())), max: world.max.map(|c| in_range(c.to_f64())) });
        Space::new(radius, &self.options, &given.unwrap_or_else(|| world_around(&extent)), frame.count(), largest)
    }

    /// The particles of a slice.
    #[inline(always)]
    fn slice(&self, slot: usize) -> &[u32] {
        &self.pointers[self.lookup[slot] as usize..self.lookup[slot + 1] as usize]
    }

    fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let chunks = frame.slots().div_ceil(PER_CHUNK);
        let kept = out.begin(frame, context, self.revision, chunks)?;
        if !kept || self.dirty {
            let clock = context.clock();
            context.run_weighted(chunks, SEEK * frame.slots(), |chunk, worker| {
                let slots = chunk * PER_CHUNK..((chunk + 1) * PER_CHUNK).min(frame.slots());
                out.rewrite(chunk, worker, frame, |hits| {
                    for id in slots.map(|id| id as u32).filter(|&id| frame.live.contains(id)) {
                        if hits.stopped() {
                            return;
                        }
                        let mut tests = 0;
                        self.visit_around(frame, id, |other, is_of_cell| {
                            tests += 1;
                            let overlaps = frame.boxes[other as usize].overlaps(&frame.boxes[id as usize]);
                            if id < other && overlaps && is_of_cell() {
                                hits.push(Pair { a: id, b: other });
                            }
                        });
                        hits.count_tests(tests);
                    }
                });
            });
            context.record("check", clock);
        }
        self.revision = out.finish(context, chunks)?;
        self.dirty = false;
        Ok(())
    }

    /// Visits the particles in the slices of the 3x3 or 3x3x3 cells around a particle, but itself. `visit` can ask whether the particle is
    /// of the cell whose slice it is met in: another cell may share it.
    #[inline(always)]
    fn visit_around(&self, frame: &Frame<'_, D, T>, id: u32, mut visit: impl FnMut(u32, &dyn Fn() -> bool)) {
        let Some(space) = &self.space else { return };
        space.for_each_adjacent(&space.cell(&center(frame, id)), |cell| {
            for &other in self.slice(space.slot(cell)).iter().filter(|&&other| other != id) {
                visit(other, &|| !space.is_hashed() || space.cell(&center(frame, other)) == *cell);
            }
        });
    }

    fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        probe_each(frame, probes, context, out, |area, visit| self.visit_in(frame, area, visit))
    }

    /// Visits all particles whose box may overlap `area`: those of the cells it can reach, or all if there are fewer particles than cells.
    fn visit_in(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: Visit<'_>) {
        let Some(space) = &self.space else { return };
        // The center of a box that overlaps is at most a radius away, and a little for rounding.
        let (radius, mut cells) = (self.radius.to_f64() * 1.01, 1.0);
        let range: [(i64, i64); D] = std::array::from_fn(|k| {
            let at = |c: f64| floor((c - space.origin[k]) * space.inverse[k]);
            let (low, high) =
                (at(area.min[k].to_f64() - radius).saturating_sub(1), at(area.max[k].to_f64() + radius).saturating_add(1));
            let clamp = |c: i64| space.dims.map_or(c, |dims| c.clamp(0, dims[k] - 1));
            cells *= clamp(high) as f64 - clamp(low) as f64 + 1.0;
            (clamp(low), clamp(high))
        });
        if cells >= self.pointers.len() as f64 {
            let _broken = self.pointers.iter().copied().try_for_each(visit);
            return;
        }
        let mut broken = false;
        for_each_cell(&range, |cell| {
            for &id in self.slice(space.slot(cell)) {
                if !broken && (!space.is_hashed() || space.cell(&center(frame, id)) == *cell) {
                    broken = visit(id).is_break();
                }
            }
        });
    }

    fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        ensure!(self.pointers.len() == frame.count(), "{} pointers for {} objects", self.pointers.len(), frame.count());
        let Some(space) = &self.space else { return Ok(()) };
        ensure!(self.lookup.is_sorted() && self.lookup.len() == space.slots + 1, "the starts of slices are wrong");
        ensure!(self.lookup.last() == Some(&(self.pointers.len() as u32)), "the last entry is not the number of particles");
        let mut seen: Vec<u32> = self.pointers.clone();
        seen.sort_unstable();
        ensure!(seen.iter().copied().eq(frame.ids()), "the pointers are not the objects of the frame, each once");
        for slot in (0..space.slots).filter(|_| strength == Strength::Geometry) {
            for &id in self.slice(slot) {
                ensure!(
                    space.slot(&space.cell(&center(frame, id))) == slot,
                    "object {id} is in slot {slot}, and belongs elsewhere"
                );
            }
        }
        Ok(())
    }

    fn stats(&self) -> Stats {
        let slots = self.space.as_ref().map_or(0, |space| space.slots);
        let bytes = bytes_of(&self.lookup) + bytes_of(&self.pointers);
        Stats { bytes, choice: None, extra: Vec::from([("cells", slots as f64)]) }
    }
}

implement_broad_phase!(PaperParticles);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Shape;

    #[test]
    fn the_validator_detects_lost_doubled_and_moved_particles() {
        let mut boxes: Vec<_> = (0..60).map(|i| Aabb::from_center([(i % 8) as f32, (i / 8) as f32], [0.6; 2])).collect();
        let frame = Frame { shape: Shape::Ball, ..Frame::new(&boxes) };
        let mut grid = PaperParticles::new(Storage::Dense, None);
        grid.update(&frame, &mut Context::new()).unwrap();
        grid.validate(&frame, Strength::Geometry).unwrap();
        let mut doubled = grid.clone();
        doubled.pointers[4] = doubled.pointers[5];
        assert!(doubled.validate(&frame, Strength::Structure).is_err());
        let mut cut = grid.clone();
        cut.lookup.pop();
        assert!(cut.validate(&frame, Strength::Structure).is_err());
        boxes[3] = boxes[3].translate([5.0, 5.0]);
        assert!(grid.validate(&Frame { shape: Shape::Ball, ..Frame::new(&boxes) }, Strength::Geometry).is_err());
    }
}
