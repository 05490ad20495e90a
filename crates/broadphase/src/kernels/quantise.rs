//! The steps of the scatter that are worth vectors: boxes' corners on the lattice, their cells in a table, and the record of a
//! tile. Each in plain Rust, and for AVX2 in a handful of instructions.
//!
//! Both forms round alike: a subtraction, a multiplication, a clamp that takes NaN for the lower bound, a truncation.

use bytemuck::TransparentWrapper;

use super::lanes::Simd;
use super::prefetch::LATTICE_END;
use super::tile::Record;
use crate::geometry::{Aabb, Real};

/// Integers per box: the lower corner, then the upper one. In 2D, z reaches over the whole lattice.
pub(crate) const CORNERS: usize = 6;
/// The last place of the lattice.
const LAST: i32 = LATTICE_END - 1;
/// The widest vectors meet the same axes again after this many integers: four boxes.
const PERIOD: usize = 4 * CORNERS;

/// The lower and the upper corner of a box on the lattice. The last integer is not used: vectors read it.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Corners(pub(crate) [i32; CORNERS + 1]);

// SAFETY: (layout) `repr(transparent)`.
unsafe impl TransparentWrapper<[i32; CORNERS + 1]> for Corners {}

/// Where a map to the lattice starts, and its factor: an entry for each integer of [`Corners`], four times.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Map<T> {
    origin: [T; PERIOD],
    scale: [T; PERIOD],
}

impl<T: Real> Map<T> {
    /// A map from the origin and the factor of each axis.
    pub(crate) fn new(origin: [T; 3], scale: [T; 3]) -> Self {
        Self { origin: std::array::from_fn(|lane| origin[lane % 3]), scale: std::array::from_fn(|lane| scale[lane % 3]) }
    }
}

/// How a table finds a cell: `(corner >> shift) << place`, or-ed over the axes; an entry for each integer of [`Corners`].
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellMap {
    shift: [i32; PERIOD],
    pub(crate) place: [i32; PERIOD],
}

impl CellMap {
    /// A map from the shift and the place of each axis.
    pub(crate) fn new(shift: [i32; 3], place: [i32; 3]) -> Self {
        Self { shift: std::array::from_fn(|lane| shift[lane % 3]), place: std::array::from_fn(|lane| place[lane % 3]) }
    }
}

/// A tile's lowest place on the lattice less one quantum, lattice steps per quantum as powers of two, and the axis of its sweep.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TileMap {
    low: [i32; 4],
    shift: [u8; 3],
    axis: u8,
}

/// The axes of a record, by the axis that its tile sweeps along, which comes first.
const AXES: [[usize; 3]; 3] = [[0, 1, 2], [1, 0, 2], [2, 0, 1]];

impl TileMap {
    /// The map of a tile that starts at `low`. A quantum less, so that the first quantum inside is 1.
    pub(crate) fn new(low: [i32; 3], shift: [u8; 3], axis: u8) -> Self {
        let biased = |k: usize| low[k] - (1 << shift[k]);
        Self { low: [biased(0), biased(1), biased(2), 0], shift, axis: axis % 3 }
    }
}

/// The corners of a box.
#[inline(always)]
pub(crate) fn corners<const D: usize, T: Real>(value: &Aabb<D, T>, map: &Map<T>) -> Corners {
    let mut corners = Corners([0, 0, 0, LAST, LAST, LAST, 0]);
    for k in 0..D {
        corners.0[k] = ((value.min[k] - map.origin[k]) * map.scale[k]).truncate();
        corners.0[k + 3] = ((value.max[k] - map.origin[k]) * map.scale[k]).truncate();
    }
    corners
}

/// The record of a box in a tile: quanta from 1, or 0 for what starts before the tile.
#[inline(always)]
pub(crate) fn record<S: Simd>(_: S, corners: &Corners, tile: &TileMap, id: u32) -> Record {
    if S::HAS_AVX2 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: (isa) `S` is proven by the kernel table, and says that it has AVX2.
        return unsafe { avx2::record(&corners.0, tile, id) };
    }
    let mut quanta = [0u16; CORNERS];
    for (place, k) in AXES[usize::from(tile.axis)].into_iter().enumerate() {
        let quantum = |at: i32| ((at - tile.low[k]) >> tile.shift[k]).clamp(0, 65535) as u16;
        (quanta[place], quanta[place + 3]) = (quantum(corners.0[k]), quantum(corners.0[k + 3]));
    }
    Record::new(quanta, id)
}

/// Some boxes on the lattice, and what a table says of them. Arrays, so that the compiler knows their lengths.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    corners: [i32; Batch::LEN * CORNERS + 1],
    /// The part of each axis in the index of the cell.
    parts: [i32; Batch::LEN * CORNERS],
    /// The table's entry for the cell of the lower corner.
    pub(crate) entries: [u16; Batch::LEN],
    /// The id of each, flagged if it has changed.
    pub(crate) ids: [u32; Batch::LEN],
    /// Boxes whose corners have different entries, or one that [`locate`](Batch::locate) was asked to list.
    listed: [u16; Batch::LEN],
}

impl Default for Batch {
    fn default() -> Self {
        let (corners, parts) = ([0; Batch::LEN * CORNERS + 1], [0; Batch::LEN * CORNERS]);
        Self { corners, parts, entries: [0; Batch::LEN], ids: [0; Batch::LEN], listed: [0; Batch::LEN] }
    }
}

impl Batch {
    /// Boxes at most; a power of two.
    pub(crate) const LEN: usize = 512;

    /// Takes the first boxes of a list in, up to [`LEN`](Batch::LEN). Returns whether all of them are valid.
    #[inline(always)]
    pub(crate) fn fill<const D: usize, T: Real, S: Simd>(
        &mut self,
        _: S,
        boxes: &[Aabb<D, T>],
        map: &Map<T>,
        cells: &CellMap,
    ) -> bool {
        let count = boxes.len().min(Self::LEN);
        let (mut done, mut valid) = (0, true);
        if S::HAS_AVX2 && D == 3 && size_of::<T>() == 4 {
            // Four boxes at once, as long as another one follows, since the vectors read a little further.
            done = boxes.len().saturating_sub(1).min(Self::LEN) / 4 * 4;
            #[cfg(target_arch = "x86_64")]
            // SAFETY: (isa) `S` is proven by the kernel table, and says that it has AVX2; (in bounds) both lists hold `LEN` boxes.
            unsafe {
                let (origin, scale) = (bytemuck::cast_ref(&map.origin), bytemuck::cast_ref(&map.scale));
                valid = avx2::fill(bytemuck::cast_slice(boxes), done, origin, scale, cells, &mut self.corners, &mut self.parts);
            }
        }
        if S::HAS_AVX2 && D == 2 && size_of::<T>() == 4 {
            done = count / 2 * 2;
            #[cfg(target_arch = "x86_64")]
            // SAFETY: (isa) as above; (in bounds) both lists hold `LEN` boxes, and `boxes` are at least `done`.
            unsafe {
                let (origin, scale) = (bytemuck::cast_ref(&map.origin), bytemuck::cast_ref(&map.scale));
                valid =
                    avx2::fill_flat(bytemuck::cast_slice(boxes), done, origin, scale, cells, &mut self.corners, &mut self.parts);
            }
        }
        for at in done..count {
            let corners = corners(&boxes[at], map);
            valid &= boxes[at].is_valid();
            for lane in 0..CORNERS {
                self.corners[at * CORNERS + lane] = corners.0[lane];
                self.parts[at * CORNERS + lane] = corners.0[lane] >> cells.shift[lane] << cells.place[lane];
            }
        }
        valid
    }

    /// Looks up the first `count` boxes in a table. Lists those whose corners have different entries, or an entry from `list_from`
    /// on, and returns their number.
    ///
    /// Whether a box is listed is a coin flip, so it is not asked: each is written behind the list, which grows by one or stays.
    #[inline(always)]
    pub(crate) fn locate(&mut self, count: usize, table: &[u16], list_from: u16) -> usize {
        let mut listed = 0;
        for at in 0..count.min(Self::LEN) {
            let (low, high) = self.cells(at);
            let (from, to) = (table[low as usize], table[high as usize]);
            self.entries[at] = from;
            self.listed[listed & (Self::LEN - 1)] = at as u16;
            listed += usize::from((from != to) | (from >= list_from));
        }
        listed
    }

    /// Gives the boxes their ids, from `start` on, with a flag for those that have a bit in `changed`. `start` is a multiple of 64.
    #[inline(always)]
    pub(crate) fn name(&mut self, start: usize, changed: &[u64]) {
        for at in 0..Self::LEN {
            self.ids[at] = (start + at) as u32;
        }
        for (word, &bits) in changed.iter().skip(start / 64).take(Self::LEN / 64).enumerate() {
            let mut bits = bits;
            while bits != 0 {
                self.ids[word * 64 + bits.trailing_zeros() as usize] |= Record::FLAG;
                bits &= bits - 1;
            }
        }
    }

    /// A box that was listed.
    #[inline(always)]
    pub(crate) fn listed(&self, index: usize) -> usize {
        usize::from(self.listed[index])
    }

    /// The corners of a box.
    #[inline(always)]
    pub(crate) fn corners(&self, at: usize) -> &Corners {
        let corners: &[i32; CORNERS + 1] = self.corners[at * CORNERS..][..CORNERS + 1].try_into().unwrap_or(&[0; CORNERS + 1]);
        Corners::wrap_ref(corners)
    }

    /// The cells of a box's lower and upper corner.
    #[inline(always)]
    pub(crate) fn cells(&self, at: usize) -> (u32, u32) {
        let p: &[i32] = &self.parts[at * CORNERS..][..CORNERS];
        ((p[0] | p[1] | p[2]) as u32, (p[3] | p[4] | p[5]) as u32)
    }

    /// What to add to the cell of a box's lower corner for that of its upper one, by axis.
    #[inline(always)]
    pub(crate) fn steps(&self, at: usize) -> [i32; 3] {
        let p = &self.parts[at * CORNERS..][..CORNERS];
        [p[3] - p[0], p[4] - p[1], p[5] - p[2]]
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{AXES, CORNERS, CellMap, PERIOD, Record, TileMap};
    use crate::kernels::prefetch::LATTICE_END;

    /// All ones where a float belongs to an upper corner: not compared with the one three further on.
    static UPPER: [i32; PERIOD] = {
        let mut upper = [0; PERIOD];
        let mut lane = 0;
        while lane < PERIOD {
            upper[lane] = if lane % CORNERS < 3 { 0 } else { -1 };
            lane += 1;
        }
        upper
    };

    /// Corners and cells of the first `count` boxes, a multiple of four: one after the other, as they lie in memory. Returns whether
    /// all are valid.
    ///
    /// # Safety
    /// *isa*: AVX2. *In bounds*: `boxes` are more than `count`, and the lists have room for them.
    #[inline(always)]
    pub(super) unsafe fn fill(
        boxes: &[f32],
        count: usize,
        origin: &[f32; PERIOD],
        scale: &[f32; PERIOD],
        cells: &CellMap,
        corners: &mut [i32],
        parts: &mut [i32],
    ) -> bool {
        debug_assert!(boxes.len() >= count * CORNERS + 3 || count == 0);
        debug_assert!(corners.len() >= count * CORNERS && parts.len() >= count * CORNERS);
        // SAFETY: (isa, in bounds) the caller's duties; the constants have a whole period.
        unsafe {
            let (zero, top) = (_mm256_setzero_ps(), _mm256_set1_ps((LATTICE_END - 64) as f32));
            let mut valid = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
            let mut from = 0;
            while from < count * CORNERS {
                let mut lane = 0;
                while lane < PERIOD {
                    let at = from + lane;
                    let value = _mm256_loadu_ps(boxes.as_ptr().add(at));
                    let ordered = _mm256_cmp_ps::<_CMP_LE_OQ>(value, _mm256_loadu_ps(boxes.as_ptr().add(at + 3)));
                    valid = _mm256_and_ps(valid, _mm256_or_ps(ordered, _mm256_loadu_ps(UPPER.as_ptr().add(lane).cast())));
                    let place = _mm256_sub_ps(value, _mm256_loadu_ps(origin.as_ptr().add(lane)));
                    let place = _mm256_mul_ps(place, _mm256_loadu_ps(scale.as_ptr().add(lane)));
                    // The second operand wins over NaN.
                    let place = _mm256_cvttps_epi32(_mm256_min_ps(_mm256_max_ps(place, zero), top));
                    _mm256_storeu_si256(corners.as_mut_ptr().add(at).cast(), place);
                    let cell = _mm256_srlv_epi32(place, _mm256_loadu_si256(cells.shift.as_ptr().add(lane).cast()));
                    let cell = _mm256_sllv_epi32(cell, _mm256_loadu_si256(cells.place.as_ptr().add(lane).cast()));
                    _mm256_storeu_si256(parts.as_mut_ptr().add(at).cast(), cell);
                    lane += 8;
                }
                from += PERIOD;
            }
            _mm256_movemask_ps(valid) == 0xff
        }
    }

    /// As [`fill`], in 2D: the first `count` boxes, an even number, two at once; in the lists, a box is two halves of three integers.
    ///
    /// # Safety
    /// *isa*: AVX2. *In bounds*: `boxes` are at least `count`, and the lists have room for them.
    #[inline(always)]
    pub(super) unsafe fn fill_flat(
        boxes: &[f32],
        count: usize,
        origin: &[f32; PERIOD],
        scale: &[f32; PERIOD],
        cells: &CellMap,
        corners: &mut [i32],
        parts: &mut [i32],
    ) -> bool {
        debug_assert!(boxes.len() >= count * 4 && corners.len() >= count * CORNERS && parts.len() >= count * CORNERS);
        let ([x, y, ..], [u, v, ..]) = (origin, scale);
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let (zero, top) = (_mm256_setzero_ps(), _mm256_set1_ps((LATTICE_END - 64) as f32));
            let origin = _mm256_setr_ps(*x, *y, *x, *y, *x, *y, *x, *y);
            let scale = _mm256_setr_ps(*u, *v, *u, *v, *u, *v, *u, *v);
            let by_axis = |of: &[i32; PERIOD]| _mm256_set1_epi64x(i64::from(of[1]) << 32 | i64::from(of[0]));
            let (shift, place) = (by_axis(&cells.shift), by_axis(&cells.place));
            let mut valid = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
            let mut at = 0;
            while at < count {
                let value = _mm256_loadu_ps(boxes.as_ptr().add(4 * at));
                // Lanes 0 and 1 of each half: the lower corner against the upper one. The others compare the same the other way round.
                let swapped = _mm256_permute_ps::<0b01_00_11_10>(value);
                let ordered = _mm256_blend_ps::<0b1100_1100>(
                    _mm256_cmp_ps::<_CMP_LE_OQ>(value, swapped),
                    _mm256_cmp_ps::<_CMP_GE_OQ>(value, swapped),
                );
                valid = _mm256_and_ps(valid, ordered);
                let steps = _mm256_mul_ps(_mm256_sub_ps(value, origin), scale);
                let steps = _mm256_cvttps_epi32(_mm256_min_ps(_mm256_max_ps(steps, zero), top));
                let cell = _mm256_sllv_epi32(_mm256_srlv_epi32(steps, shift), place);
                spread(corners.as_mut_ptr().add(CORNERS * at), steps, LATTICE_END - 1);
                spread(parts.as_mut_ptr().add(CORNERS * at), cell, 0);
                at += 2;
            }
            _mm256_movemask_ps(valid) == 0xff
        }
    }

    /// Writes two boxes of four integers as two of six, with 0 and `last` for z.
    ///
    /// # Safety
    /// *isa*: AVX2. *In bounds*: `to` takes twelve integers.
    #[inline(always)]
    unsafe fn spread(to: *mut i32, boxes: __m256i, last: i32) {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let (first, second) = (_mm256_castsi256_si128(boxes), _mm256_extracti128_si256::<1>(boxes));
            for (half, from) in [(0, first), (CORNERS, second)] {
                let to = to.add(half);
                _mm_storel_epi64(to.cast(), from);
                _mm_storel_epi64(to.add(3).cast(), _mm_unpackhi_epi64(from, from));
                *to.add(2) = 0;
                *to.add(5) = last;
            }
        }
    }

    /// By sweep axis: `min.x min.y min.z - max.x max.y max.z -` to `min.x max.x min.y min.z max.y max.z - -`, with the axes in the
    /// order of [`AXES`].
    static ORDERS: [Order; 3] = [order(AXES[0]), order(AXES[1]), order(AXES[2])];

    #[repr(C, align(16))]
    struct Order([u8; 16]);

    const fn order([x, y, z]: [usize; 3]) -> Order {
        let words = [x, x + 4, y, z, y + 4, z + 4];
        let mut bytes = [0x80; 16];
        let mut word = 0;
        while word < 6 {
            bytes[2 * word] = 2 * words[word] as u8;
            bytes[2 * word + 1] = 2 * words[word] as u8 + 1;
            word += 1;
        }
        Order(bytes)
    }

    /// # Safety
    /// *isa*: AVX2.
    #[inline(always)]
    pub(super) unsafe fn record(corners: &[i32; CORNERS + 1], tile: &TileMap, id: u32) -> Record {
        // SAFETY: (isa) the caller's duty; (in bounds) integers 0 to 3 and 3 to 6 of seven, four lanes, four bytes from the shifts on,
        // and an axis is below three.
        unsafe {
            let lower = _mm256_castsi128_si256(_mm_loadu_si128(corners.as_ptr().cast()));
            let at = _mm256_inserti128_si256::<1>(lower, _mm_loadu_si128(corners.as_ptr().add(3).cast()));
            let low = _mm256_broadcastsi128_si256(_mm_loadu_si128(tile.low.as_ptr().cast()));
            // With the axis as the fourth shift, of a lane that nobody looks at.
            let shifts = std::ptr::from_ref(tile).cast::<u8>().add(std::mem::offset_of!(TileMap, shift));
            let shift = _mm_cvtepu8_epi32(_mm_loadu_si32(shifts));
            let shift = _mm256_broadcastsi128_si256(shift);
            let quanta = _mm256_srav_epi32(_mm256_sub_epi32(at, low), shift);
            let words = _mm_packus_epi32(_mm256_castsi256_si128(quanta), _mm256_extracti128_si256::<1>(quanta));
            let order = _mm_load_si128(ORDERS.as_ptr().add(usize::from(tile.axis)).cast());
            let inverted = _mm_setr_epi16(0, -1, 0, 0, -1, -1, 0, 0);
            let words = _mm_xor_si128(_mm_shuffle_epi8(words, order), inverted);
            let mut record = Record::default();
            _mm_store_si128(record.0.as_mut_ptr().cast(), _mm_insert_epi32::<3>(words, id as i32));
            record
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Isa, Kernel, Kernels};

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
                let record = record(simd, corners, self.3, 0xdead_beef);
                all.push((corners.0[..6].try_into().unwrap(), batch.cells(at), record));
            }
            (valid, all)
        }
    }

    #[test]
    fn every_instruction_set_quantises_alike() {
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
    fn one_bad_box_at_any_place_is_noticed() {
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
