//! Pairs, neighbors of one particle, and neighbor lists.

use super::grid::ParticleGrid;
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::ball_runs::{PointBlock, join_balls};
use crate::kernels::prefetch;
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore, Revision};

/// Chunks of pairs, at most.
const CHUNKS: usize = 1024;
/// How far ahead of their use points are requested from memory.
pub(super) const AHEAD: usize = 12;
/// Particles per chunk, at least, on average.
const PER_CHUNK: usize = 256;

/// Neighbor lists in compressed rows: those of particle i are `items[starts[i]..starts[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeighborLists {
    /// The start of each list, and the end of the last.
    pub starts: Vec<usize>,
    /// The neighbors, list after list.
    pub items: Vec<u32>,
}

impl NeighborLists {
    /// The neighbors of particle `index`, ascending.
    pub fn of(&self, index: usize) -> &[u32] {
        &self.items[self.starts[index]..self.starts[index + 1]]
    }

    /// Makes the lists of `count` particles from their pairs.
    pub(super) fn fill(&mut self, count: usize, pairs: &PairStore, half: bool) {
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        pairs.for_each_chunk(|chunk| {
            for pair in chunk {
                self.starts[pair.a as usize] += 1;
                self.starts[pair.b as usize] += usize::from(!half);
            }
        });
        let mut total = 0;
        for start in &mut self.starts {
            total += *start;
            *start = total;
        }
        self.items.clear();
        self.items.resize(total, 0);
        pairs.for_each_chunk(|chunk| {
            for pair in chunk {
                self.put(pair.a, pair.b);
                if !half {
                    self.put(pair.b, pair.a);
                }
            }
        });
        for index in 0..count {
            let list = self.starts[index]..self.starts[index + 1];
            self.items[list].sort_unstable();
        }
    }

    fn put(&mut self, of: u32, neighbor: u32) {
        let start = &mut self.starts[of as usize];
        *start -= 1;
        self.items[*start] = neighbor;
    }
}

impl<const D: usize, T: Real> ParticleGrid<D, T> {
    /// The searchers that belong to a chunk, of so many.
    pub(super) fn chunk_searchers(&self, chunk: usize, chunks: usize) -> &[u32] {
        let all = self.searchers();
        let at = |c: usize| (all.len() as u64 * c as u64 / chunks as u64) as usize;
        &all[at(chunk)..at(chunk + 1)]
    }

    /// The range of slots that belongs to a chunk, of so many.
    pub(super) fn chunk_slots(&self, chunk: usize, chunks: usize) -> std::ops::Range<usize> {
        let slots = self.space.slots as u64;
        let at = |c: usize| (slots * c as u64 / chunks as u64) as usize;
        at(chunk)..at(chunk + 1)
    }

    /// The number of chunks: a matter of the particles, not of the threads.
    pub(super) fn chunk_count(&self) -> usize {
        (self.order.len() / PER_CHUNK).clamp(1, CHUNKS).min(self.space.slots.max(1))
    }

    pub(super) fn find_pairs(&mut self, points: &[[T; D]], context: &Context, out: &mut PairStore) -> Result<Revision, Error> {
        let frame = Frame::<D, T>::new(&[]);
        let chunks = self.chunk_count();
        out.begin(&frame, context, Revision::default(), chunks)?;
        if self.is_in_rows() {
            self.scratch.sorted.gather(points, &self.order);
        } else {
            self.lay_out(points);
        }
        let this = &*self;
        context.run_weighted(chunks, SEEK * points.len(), |chunk, worker| {
            out.rewrite(chunk, worker, &frame, |hits| {
                if this.is_in_rows() {
                    let slots = this.chunk_slots(chunk, chunks);
                    let (starts, ahead) = (&this.starts, &this.ahead);
                    let (points, reach) = (&this.scratch.sorted, this.reach());
                    return join_balls(context.kernels(), PointBlock { points, starts, cells: slots, ahead, reach }, hits);
                }
                for &index in this.chunk_searchers(chunk, chunks) {
                    let mut tests = 0;
                    this.meet(&points[index as usize], index, &mut tests, |other| hits.push(Pair::new(index, other)));
                    hits.count_tests(tests);
                    if hits.stopped() {
                        return;
                    }
                }
            });
        });
        out.finish(context, chunks)
    }

    /// The square of the largest distance of neighbors.
    fn reach(&self) -> T {
        (self.radius + self.radius) * (self.radius + self.radius)
    }

    /// Copies the particles into their slices, for [`meet`](Self::meet).
    pub(super) fn lay_out(&mut self, points: &[[T; D]]) {
        let items = &mut self.scratch.items;
        items.clear();
        items.extend(self.order.iter().enumerate().map(|(at, &index)| {
            if let Some(&later) = self.order.get(at + AHEAD) {
                prefetch(points, later as usize);
            }
            (points[index as usize], index)
        }));
    }

    /// The neighbors that one particle meets, so that of two neighbors one meets the other: in cells ahead, and in its own cell
    /// those with a larger index. In a world that repeats, a cell may be ahead and behind: there the larger index counts.
    #[inline]
    pub(super) fn meet(&self, own: &[T; D], index: u32, tests: &mut u64, mut visit: impl FnMut(u32)) {
        let (space, reach) = (&self.space, self.reach());
        let home = space.cell(own);
        space.for_each_slice(&home, !space.periodic, &self.starts, &self.scratch.items, |slice, cell| {
            let by_index = space.periodic || *cell == home;
            for (point, other) in slice {
                if by_index && *other <= index {
                    continue;
                }
                *tests += 1;
                if self.distance(own, point) <= reach && self.is_at_home(point, cell) {
                    visit(*other);
                }
            }
        });
    }

    /// All neighbors of one particle.
    #[inline]
    pub(super) fn for_each_near(&self, points: &[[T; D]], index: u32, visit: &mut impl FnMut(u32)) {
        let (own, reach) = (&points[index as usize], self.reach());
        self.space.for_each_slice(&self.space.cell(own), false, &self.starts, &self.order, |slice, cell| {
            for &other in slice {
                let point = &points[other as usize];
                if other != index && self.distance(own, point) <= reach && self.is_at_home(point, cell) {
                    visit(other);
                }
            }
        });
    }

    /// Two of the adjacent cells may share a slot of the table: a particle counts only where the cell is its own.
    #[inline(always)]
    fn is_at_home(&self, point: &[T; D], cell: &[i64; D]) -> bool {
        !self.space.is_hashed() || self.space.cell(point) == *cell
    }

    /// The square of the distance: to the nearest image, if the world repeats.
    #[inline(always)]
    fn distance(&self, a: &[T; D], b: &[T; D]) -> T {
        let mut sum = T::ZERO;
        for k in 0..D {
            let mut d = a[k] - b[k];
            if self.space.periodic {
                let side = self.space.sides[k];
                let turns = (d.to_f64() / side).round();
                d = T::from_f64(d.to_f64() - turns * side);
            }
            sum = if k == 0 { d * d } else { sum + d * d };
        }
        sum
    }
}
