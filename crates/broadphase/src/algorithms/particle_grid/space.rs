//! From a point to its cell, and from a cell to the slot that holds its slice.

use super::{Hash, Options, Storage};
use crate::geometry::{Aabb, Real};
use crate::kernels::prefetch;

/// Cells are wider than a particle by this share, which covers what the distance test and the cell's number may round.
const SLACK: f64 = 1.0 / 1024.0;
/// A dense grid has at most this many cells per particle, and these on top; wider cells are correct too.
const CELLS_PER_PARTICLE: f64 = 4.0;
const CELLS_ON_TOP: f64 = 4096.0;

/// Cells of a block on each axis, as bits: in space, what the particles of a block look up fits in the second cache.
const BLOCK_BITS: u32 = 4;
/// An odd number whose products have well mixed upper bits.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Adjacent cells whose slots are on their way from memory at once.
const BATCH: usize = 14;

/// The geometry of a built grid.
#[derive(Clone, Debug)]
pub(super) struct Space<const D: usize> {
    pub(super) origin: [f64; D],
    /// Cells per unit length.
    pub(super) inverse: [f64; D],
    /// Cells per axis, of a world with an end.
    pub(super) dims: Option<[i64; D]>,
    /// The sides of that world.
    pub(super) sides: [f64; D],
    pub(super) periodic: bool,
    hash: Option<Hash>,
    /// Slots: cells of a dense grid, or the size of the hash table.
    pub(super) slots: usize,
}

/// The extent of finite points, within a quarter of the range so that its sides are finite, and the largest finite coordinate.
pub(super) fn extent<const D: usize, T: Real>(points: &[[T; D]]) -> (Aabb<D, f64>, f64) {
    let mut all: Aabb<D, f64> = Aabb::empty();
    let mut largest = 0.0f64;
    for point in points {
        for k in 0..D {
            let x = point[k].to_f64();
            if x.is_finite() {
                all.min[k] = all.min[k].min(in_range(x));
                all.max[k] = all.max[k].max(in_range(x));
                largest = largest.max(x.abs());
            }
        }
    }
    (all, largest)
}

/// The coordinate, or the nearest one within a quarter of the range.
pub(super) fn in_range(x: f64) -> f64 {
    x.clamp(-0.25 * f64::MAX, 0.25 * f64::MAX)
}

/// The world for points of this extent: the extent and a tenth of it on each side.
pub(super) fn world_around<const D: usize>(extent: &Aabb<D, f64>) -> Aabb<D, f64> {
    let side = |k: usize| if extent.min[k] <= extent.max[k] { extent.max[k] - extent.min[k] } else { 0.0 };
    let low = |k: usize| if extent.min[k] <= extent.max[k] { extent.min[k] } else { 0.0 };
    Aabb { min: std::array::from_fn(|k| low(k) - 0.1 * side(k)), max: std::array::from_fn(|k| low(k) + 1.1 * side(k)) }
}

impl<const D: usize> Space<D> {
    /// The cells for `count` particles of a radius; `largest` is the largest coordinate.
    pub(super) fn new<T: Real>(radius: T, options: &Options<D, T>, world: &Aabb<D, f64>, count: usize, largest: f64) -> Self {
        // Squares of smaller differences round to zero, so points this near may pass for equal.
        let least = if T::KEY_BITS == 32 { (-70f64).exp2() } else { (-530f64).exp2() };
        // Cells finer than the resolution of the coordinates gain nothing.
        let least = least.max(largest * (-40f64).exp2());
        let width = (2.0 * radius.to_f64() * (1.0 + SLACK)).max(least);
        let (hash, slots) = match options.storage {
            Storage::Dense => (None, 0),
            Storage::Hashed { hash, slots } => (Some(hash), slots.unwrap_or_else(|| hash.usual_slots(count)).max(16)),
        };
        if hash.is_some() && !options.periodic {
            let inverse = [1.0 / width; D];
            return Self { origin: [0.0; D], inverse, dims: None, sides: [0.0; D], periodic: false, hash, slots };
        }
        let sides: [f64; D] = std::array::from_fn(|k| world.max[k] - world.min[k]);
        let most = CELLS_PER_PARTICLE * count as f64 + CELLS_ON_TOP;
        let mut width = width;
        let cells = |width: f64| sides.map(|side| cells_on(side, width, options.periodic));
        while hash.is_none() && cells(width).iter().product::<f64>() > most {
            width *= 1.0 + 0.1 / D as f64;
        }
        let dims = cells(width).map(|c| c as i64);
        let inverse = std::array::from_fn(|k| if options.periodic { dims[k] as f64 / sides[k] } else { 1.0 / width });
        let slots = if hash.is_some() { slots } else { dims.iter().product::<i64>() as usize };
        Self { origin: world.min, inverse, dims: Some(dims), sides, periodic: options.periodic, hash, slots }
    }

    /// May slices hold particles of other cells?
    pub(super) fn is_hashed(&self) -> bool {
        self.hash.is_some()
    }

    /// The cell of a point: wrapped around or clamped to the border where the world has an end. Monotone between two wraps.
    #[inline(always)]
    pub(super) fn cell<T: Real>(&self, point: &[T; D]) -> [i64; D] {
        let mut cell = std::array::from_fn(|k| floor((point[k].to_f64() - self.origin[k]) * self.inverse[k]));
        self.settle(&mut cell);
        cell
    }

    /// Wraps or clamps a cell's coordinates.
    #[inline(always)]
    pub(super) fn settle(&self, cell: &mut [i64; D]) {
        if let Some(dims) = &self.dims {
            for k in 0..D {
                cell[k] = if self.periodic { cell[k].rem_euclid(dims[k]) } else { cell[k].clamp(0, dims[k] - 1) };
            }
        }
    }

    /// The group of a cell, of `1 << bits`: those of one block of cells have the same.
    #[inline(always)]
    pub(super) fn group(&self, cell: &[i64; D], bits: u32) -> u32 {
        let block = cell.iter().fold(0u64, |hash, &at| (hash ^ (at >> BLOCK_BITS) as u64).wrapping_mul(MIXER).rotate_left(29));
        (block.wrapping_mul(MIXER) >> 32) as u32 >> (32 - bits)
    }

    /// The slot of a cell.
    #[inline(always)]
    pub(super) fn slot(&self, cell: &[i64; D]) -> usize {
        match (self.hash, &self.dims) {
            (Some(hash), _) => hash.slot(cell, self.slots),
            (None, Some(dims)) => (0..D).rev().fold(0, |index, k| index * dims[k] + cell[k]) as usize,
            (None, None) => 0,
        }
    }

    /// Visits each cell within one step of `cell`, once, however small a periodic world is.
    pub(super) fn for_each_adjacent(&self, cell: &[i64; D], mut visit: impl FnMut(&[i64; D])) {
        let mut steps = [(-1i64, 1i64); D];
        if let Some(dims) = &self.dims {
            for k in 0..D {
                steps[k] = match (self.periodic, dims[k]) {
                    (true, 1) => (0, 0),
                    (true, 2) => (0, 1),
                    (true, _) => (-1, 1),
                    (false, dim) => (if cell[k] == 0 { 0 } else { -1 }, if cell[k] == dim - 1 { 0 } else { 1 }),
                };
            }
        }
        let range = std::array::from_fn(|k| (cell[k].saturating_add(steps[k].0), cell[k].saturating_add(steps[k].1)));
        for_each_cell(&range, |cell| {
            let mut cell = *cell;
            if self.periodic {
                self.settle(&mut cell);
            }
            visit(&cell);
        });
    }

    /// Visits the slice of each adjacent cell, with the cell; table and slices are requested from memory some cells ahead. With
    /// `half`, only the cell itself and those ahead of it: the last axis on which they differ goes up.
    #[inline]
    pub(super) fn for_each_slice<X>(
        &self,
        cell: &[i64; D],
        half: bool,
        starts: &[u32],
        items: &[X],
        mut visit: impl FnMut(&[X], &[i64; D]),
    ) {
        let (mut waiting, mut count) = ([(0, [0i64; D]); BATCH], 0);
        let mut pass = |waiting: &[(usize, [i64; D])]| {
            waiting.iter().for_each(|(slot, _)| prefetch(items, starts[*slot] as usize));
            waiting.iter().for_each(|(slot, cell)| visit(&items[starts[*slot] as usize..starts[*slot + 1] as usize], cell));
        };
        self.for_each_adjacent(cell, |other| {
            if half && other.iter().rev().lt(cell.iter().rev()) {
                return;
            }
            let slot = self.slot(other);
            prefetch(starts, slot);
            waiting[count] = (slot, *other);
            count += 1;
            if count == BATCH {
                pass(&waiting);
                count = 0;
            }
        });
        pass(&waiting[..count]);
    }

    /// Fills `all` with the distances, in a dense grid, from a slot to the middle of each run of three that lies ahead of it. Slots at the end of
    /// a row count the next row's first as adjacent: a few tests more, and no case less.
    pub(super) fn list_ahead(&self, all: &mut Vec<u32>) {
        all.clear();
        let Some(dims) = &self.dims else { return };
        for number in 0..3usize.pow(D as u32 - 1) {
            let (mut rest, mut stride, mut distance) = (number as i64, 1, 0);
            for k in 1..D {
                stride *= dims[k - 1];
                distance += (rest % 3 - 1) * stride;
                rest /= 3;
            }
            if distance > 0 {
                all.push(distance as u32);
            }
        }
    }
}

/// Cells on one axis: at least three in a world that ends, so that runs ahead do not meet; whole cells in one that repeats.
fn cells_on(side: f64, width: f64, periodic: bool) -> f64 {
    if periodic { (side / width).floor().clamp(1.0, 1e9) } else { (side / width).ceil().clamp(3.0, 1e9) }
}

/// Visits all cells of a range, first and last included.
pub(super) fn for_each_cell<const D: usize>(range: &[(i64, i64); D], mut visit: impl FnMut(&[i64; D])) {
    let mut cell: [i64; D] = std::array::from_fn(|k| range[k].0);
    loop {
        visit(&cell);
        let mut k = 0;
        while k < D && cell[k] == range[k].1 {
            cell[k] = range[k].0;
            k += 1;
        }
        if k == D {
            return;
        }
        cell[k] += 1;
    }
}

/// The largest integer not above; saturates.
#[inline(always)]
pub(super) fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole.saturating_sub(i64::from(whole as f64 > x))
}
