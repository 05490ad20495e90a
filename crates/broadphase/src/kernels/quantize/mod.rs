//! From boxes to records: the corners of boxes on the lattice, their cells in a table, and their records in a tile. Pure functions over
//! slices, each in plain Rust; an instruction set may replace them by a few vector instructions ([`Quantize`]).
//!
//! All forms round in the same way: a subtraction, a multiplication, a clamp that maps NaN to the lower bound, a truncation.

mod batch;
mod piecewise;
pub(super) mod refresh;

pub(crate) use batch::Batch;
pub(crate) use piecewise::{KNOTS, PiecewiseMap};
pub(super) use refresh::Rewritten;
#[cfg(target_arch = "x86_64")]
pub(super) use refresh::{AHEAD, prefetch_box};
pub(crate) use refresh::{Relocation, RelocationList, Source, TilePlace, refresh_changed, rewrite_straddling};

use std::ops::Range;

use bytemuck::TransparentWrapper;

use super::arch::{BASELINE, Kernel, Registers, Simd};
use super::boxed;
use super::prefetch::{LAST_PLACE, LATTICE_END};
use super::tile::Record;
use crate::error::Error;
use crate::geometry::{Aabb, Real, each_axis};

/// Integers per box: the lower corner, then the upper one. In 2D, z reaches over the whole lattice.
pub(crate) const CORNERS: usize = 6;
/// The last place of the lattice.
const LAST: i32 = LATTICE_END - 1;
/// The axes repeat after this many integers, four boxes, for the widest vectors.
pub(super) const PERIOD: usize = 4 * CORNERS;

/// The lower and the upper corner of a box on the lattice. The last integer is not used: vectors read it.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Corners(pub(crate) [i32; CORNERS + 1]);

// SAFETY: (layout) `repr(transparent)`.
unsafe impl TransparentWrapper<[i32; CORNERS + 1]> for Corners {}

/// A map from coordinates to the lattice: origin and factor for each integer of [`Corners`], four times; or a piecewise-linear map instead.
#[repr(C, align(32))]
#[derive(Clone, Debug)]
pub(crate) struct Map<T> {
    pub(super) origin: [T; PERIOD],
    pub(super) scale: [T; PERIOD],
    piecewise: Option<Box<PiecewiseMap<T>>>,
}

impl<T: Real> Map<T> {
    /// A map from the origin and the factor of each axis.
    pub(crate) fn new(origin: [T; 3], scale: [T; 3]) -> Self {
        let by_lane = |values: [T; 3]| each_axis(|lane| values[lane % 3]);
        Self { origin: by_lane(origin), scale: by_lane(scale), piecewise: None }
    }

    /// A map that is linear only between knots.
    pub(crate) fn piecewise(piecewise: PiecewiseMap<T>) -> Result<Self, Error> {
        let piecewise = boxed(piecewise, "the lattice")?;
        Ok(Self { piecewise: Some(piecewise), ..Self::new([T::ZERO; 3], [T::ONE; 3]) })
    }

    /// Is it linear on each axis? It nearly always is.
    #[inline(always)]
    pub(crate) fn is_linear(&self) -> bool {
        self.piecewise.is_none()
    }

    /// Where an axis starts, and its factor.
    pub(crate) fn axis(&self, axis: usize) -> (T, T) {
        (self.origin[axis], self.scale[axis])
    }

    /// Is the box on the lattice without being clamped?
    #[inline(always)]
    pub(crate) fn contains<const D: usize>(&self, value: &Aabb<D, T>) -> bool {
        if let Some(piecewise) = &self.piecewise {
            return (0..D).all(|k| piecewise.contains(k, value.min[k]) && piecewise.contains(k, value.max[k]));
        }
        let last = T::from_f64(f64::from(LAST_PLACE));
        (0..D).all(|k| {
            let steps = |x: T| (x - self.origin[k]) * self.scale[k];
            (steps(value.min[k]) > -T::ONE) & (steps(value.max[k]) <= last)
        })
    }
}

/// How a table finds a cell: `(corner >> shift) << place`, or-ed over the axes; an entry for each integer of [`Corners`].
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellMap {
    pub(super) shift: [i32; PERIOD],
    pub(crate) place: [i32; PERIOD],
}

impl CellMap {
    /// A map from the shift and the place of each axis.
    pub(crate) fn new(shift: [i32; 3], place: [i32; 3]) -> Self {
        Self { shift: each_axis(|lane| shift[lane % 3]), place: each_axis(|lane| place[lane % 3]) }
    }

    /// The contribution of each axis to the index of the cell of a box's lower corner, and of its upper corner.
    #[inline(always)]
    pub(crate) fn cells(&self, corners: &Corners) -> ([i32; 3], [i32; 3]) {
        let part = |lane: usize| corners.0[lane] >> self.shift[lane] << self.place[lane];
        ([part(0), part(1), part(2)], [part(3), part(4), part(5)])
    }
}

/// A tile's map from places to quanta: its lowest place less one quantum, the lattice steps per quantum as powers of two, and its sweep axis, in
/// one vector of four integers.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TileMap {
    low: [i32; 3],
    shift: [u8; 3],
    axis: u8,
}

const _: () = assert!(size_of::<TileMap>() == 16);

/// The axes of a record, by the axis that its tile sweeps along, which comes first.
pub(super) const AXES: [[usize; 3]; 3] = [[0, 1, 2], [1, 0, 2], [2, 0, 1]];

/// Which of a record's axes one of the world's is, in a tile that is swept along `swept`.
pub(crate) fn axis_in_record(swept: u8, axis: usize) -> usize {
    AXES[usize::from(swept % 3)].iter().position(|&k| k == axis).unwrap_or(0)
}

impl TileMap {
    /// The map of a tile that starts at `low`. A quantum less, so that the first quantum inside is 1.
    pub(crate) fn new(low: [i32; 3], shift: [u8; 3], axis: u8) -> Self {
        let biased = |k: usize| low[k] - (1 << shift[k]);
        Self { low: [biased(0), biased(1), biased(2)], shift, axis: axis % 3 }
    }

    /// Lattice steps per quantum, as powers of two.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn shift(&self) -> [u8; 3] {
        self.shift
    }

    /// The axis of the sweep.
    #[inline(always)]
    pub(super) fn axis(&self) -> usize {
        usize::from(self.axis)
    }
}

/// The corners of a box.
pub(crate) fn corners<const D: usize, T: Real>(value: &Aabb<D, T>, map: &Map<T>) -> Corners {
    corners_in(BASELINE, value, map)
}

/// The corners of a box, inside a kernel.
#[inline(always)]
fn corners_in<const D: usize, T: Real, S: Simd>(simd: S, value: &Aabb<D, T>, map: &Map<T>) -> Corners {
    if let Some(piecewise) = &map.piecewise {
        return simd.enter(PiecewiseCorners { value, map: piecewise });
    }
    let mut corners = Corners([0, 0, 0, LAST, LAST, LAST, 0]);
    for k in 0..D {
        let place = |x: T| ((x - map.origin[k]) * map.scale[k]).truncate();
        (corners.0[k], corners.0[k + 3]) = (place(value.min[k]), place(value.max[k]));
    }
    corners
}

/// The corners of a box by a piecewise map, whose knots are searched with the registers of the kernel. A kernel of its own, which is called and not
/// inlined: the search is long, and few maps are piecewise.
struct PiecewiseCorners<'a, const D: usize, T> {
    value: &'a Aabb<D, T>,
    map: &'a PiecewiseMap<T>,
}

impl<const D: usize, T: Real> Kernel for PiecewiseCorners<'_, D, T> {
    type Output = Corners;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Corners {
        let mut corners = Corners([0, 0, 0, LAST, LAST, LAST, 0]);
        for k in 0..D {
            corners.0[k] = self.map.place(simd, k, self.value.min[k]);
            corners.0[k + 3] = self.map.place(simd, k, self.value.max[k]);
        }
        corners
    }
}

/// The steps from boxes to records that an instruction set can do faster than the portable code, which they default to. All forms give the same results.
pub(crate) trait Quantize: Registers {
    /// The record of a box in a tile: quanta from 1, or 0 for a coordinate before the tile.
    #[inline(always)]
    fn record(self, corners: &Corners, tile: &TileMap, id: u32) -> Record {
        record(corners, tile, id)
    }

    /// Maps the first boxes of a list to the lattice, as many as fit into whole registers. Returns how many these are, and whether they are valid.
    #[inline(always)]
    fn fill<const D: usize, T: Real>(
        self,
        _batch: &mut Batch,
        _boxes: &[Aabb<D, T>],
        _map: &Map<T>,
        _cells: &CellMap,
    ) -> (usize, bool) {
        (0, true)
    }

    /// Rewrites the records `inner` of a tile, whose objects were wholly inside. Returns the end of those that still are, packed from the start on, and
    /// whether all boxes are valid. The others are listed. With `TRACK_DELTA`, the list records which bits of the packed ones changed.
    #[inline(always)]
    fn rewrite_inner<const TRACK_DELTA: bool, const D: usize, T: Real>(
        self,
        source: &Source<'_, D, T>,
        place: TilePlace<'_>,
        arena: &mut [Record],
        inner: Range<usize>,
        list: &mut RelocationList,
    ) -> (usize, bool)
    where
        Self: Simd,
    {
        refresh::rewrite_inner::<TRACK_DELTA, D, T, Self>(self, source, place, arena, inner, list)
    }

    /// The loop of [`rewrite_straddling`]. Returns whether all boxes are valid.
    ///
    /// # Safety
    /// *In bounds*: the arena has the records `outer`, of which none is before the end. *Room*: for a note of each.
    #[inline(always)]
    unsafe fn straddling_each<const TRACK_DELTA: bool, const D: usize, T: Real>(
        self,
        source: &Source<'_, D, T>,
        place: TilePlace<'_>,
        outer: Range<usize>,
        rewritten: &mut Rewritten<'_>,
    ) -> bool
    where
        Self: Simd,
    {
        // SAFETY: (in bounds, room) the caller's duties.
        unsafe { refresh::straddling_each::<TRACK_DELTA, D, T, Self>(self, source, place, outer, rewritten) }
    }
}

/// The portable form of [`Quantize::record`].
#[inline(always)]
fn record(corners: &Corners, tile: &TileMap, id: u32) -> Record {
    let quantum = |lane: usize| ((corners.0[lane] - tile.low[lane % 3]) >> tile.shift[lane % 3]).clamp(0, 65535) as u16;
    let [x, y, z, u, v, w] = [quantum(0), quantum(1), quantum(2), quantum(3), quantum(4), quantum(5)];
    // A match instead of an index, which would send all quanta through memory.
    let quanta = match tile.axis() {
        0 => [x, y, z, u, v, w],
        1 => [y, x, z, v, u, w],
        _ => [z, x, y, w, u, v],
    };
    Record::new(quanta, id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Isa, Kernels};

    struct All<'a, const D: usize>(&'a [Aabb<D, f32>], &'a Map<f32>, &'a CellMap, &'a TileMap);

    impl<const D: usize> Kernel for All<'_, D> {
        type Output = (bool, Vec<([i32; 6], (u32, u32), Record)>);

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            let mut batch = Batch::default();
            let valid = batch.fill(simd, self.0, self.1, self.2);
            let mut all = Vec::new();
            for at in 0..self.0.len() {
                let corners = batch.corners(at);
                let record = simd.record(corners, self.3, 0xdead_beef);
                all.push((corners.0[..6].try_into().unwrap(), batch.cells(at), record));
            }
            (valid, all)
        }
    }

    #[test]
    fn every_instruction_set_quantizes_alike() {
        let map = Map::new([-1.0, 2.0, 0.5], [1e6, 3e7, 7.0]);
        let cells = CellMap::new([20, 25, 24], [0, 10, 15]);
        let values = [0.0, -0.0, 1.5, -1.0, 7.3, 1e9, -1e9, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, 1e-45];
        let mut boxes = Vec::new();
        for (i, &x) in values.iter().enumerate() {
            for &y in &values {
                boxes.push(Aabb::new([x, y, values[(i + 3) % values.len()]], [y, x, values[(i + 5) % values.len()]]));
            }
        }
        for (isa, axis) in Isa::available().flat_map(|isa| [(isa, 0), (isa, 1), (isa, 2)]) {
            let tile = TileMap::new([1 << 20, 5, 77], [4, 12, 0], axis);
            let run = |isa| Kernels::new(isa).unwrap().run(All(&boxes, &map, &cells, &tile));
            assert_eq!(run(isa), run(Isa::Scalar), "{isa} {axis}");
            let flat: Vec<Aabb<2, f32>> = boxes.iter().map(|b| Aabb::new([b.min[0], b.min[2]], [b.max[0], b.max[2]])).collect();
            let cells = CellMap::new([20, 25, 30], [0, 10, 15]); // in 2D, no table cuts the third axis
            let run = |isa| Kernels::new(isa).unwrap().run(All(&flat, &map, &cells, &tile));
            assert_eq!(run(isa), run(Isa::Scalar), "in 2D, {isa} {axis}");
        }
    }

    #[test]
    fn one_bad_box_at_any_place_is_detected() {
        let (map, cells) = (Map::new([0.0; 3], [1.0; 3]), CellMap::new([30; 3], [0; 3]));
        fn check<const D: usize>(isa: Isa, map: &Map<f32>, cells: &CellMap) {
            for (len, value) in (1..14).flat_map(|len| [(len, f32::NAN), (len, 0.5)]) {
                for bad in 0..len * D {
                    let mut boxes = vec![Aabb::new([1.0; D], [2.0f32; D]); len];
                    let run = |boxes: &[_]| Kernels::new(isa).unwrap().run(All(boxes, map, cells, &TileMap::default())).0;
                    assert!(run(&boxes), "{isa} {len}");
                    boxes[bad / D].max[bad % D] = value;
                    assert!(!run(&boxes), "{D}D {isa} {len} {bad} {value}");
                }
            }
        }
        for isa in Isa::available() {
            check::<2>(isa, &map, &cells);
            check::<3>(isa, &map, &cells);
        }
    }
}
