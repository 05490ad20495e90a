//! The steps of the scatter, with AVX2.

use std::arch::x86_64::*;
use std::ops::Range;

use super::rewrite_avx2::TileTransform;
use super::{Avx2, Avx512, rewrite};
use crate::geometry::{Aabb, Real};
use crate::kernels::prefetch::{LAST_PLACE, LATTICE_END};
use crate::kernels::quantize::{
    AXES, Batch, CORNERS, CellMap, Corners, Map, PERIOD, Quantize, RelocationList, Rewritten, Source, TileMap, TilePlace,
    refresh as portable,
};
use crate::kernels::tile::Record;

/// The steps with AVX2. AVX-512 compiles the same code with its own registers: 5 to 7 % less for an update.
macro_rules! quantize_by_avx2 {
    ($token:ty) => {
        impl Quantize for $token {
            #[inline(always)]
            fn record(self, corners: &Corners, tile: &TileMap, id: u32) -> Record {
                // SAFETY: (isa) a value of this type exists only where the CPU has AVX2.
                unsafe { record(&corners.0, tile, id) }
            }

            #[inline(always)]
            fn fill<const D: usize, T: Real>(
                self,
                batch: &mut Batch,
                boxes: &[Aabb<D, T>],
                map: &Map<T>,
                cells: &CellMap,
            ) -> (usize, bool) {
                if const { size_of::<T>() != 4 } || !map.is_linear() {
                    return (0, true);
                }
                let (origin, scale) = (bytemuck::cast_ref(&map.origin), bytemuck::cast_ref(&map.scale));
                let floats = bytemuck::cast_slice(boxes);
                let Batch { corners, parts, .. } = batch;
                // SAFETY: (isa) as above; (in bounds) both lists hold `Batch::LEN` boxes; in space the vectors read beyond the last box, and
                // another one follows.
                unsafe {
                    match D {
                        3 => {
                            let count = boxes.len().saturating_sub(1).min(Batch::LEN) / 4 * 4;
                            (count, fill(floats, count, origin, scale, cells, corners, parts))
                        }
                        2 => {
                            let count = boxes.len().min(Batch::LEN) / 2 * 2;
                            (count, fill_flat(floats, count, origin, scale, cells, corners, parts))
                        }
                        _ => (0, true),
                    }
                }
            }

            #[inline(always)]
            fn rewrite_inner<const TRACK_DELTA: bool, const D: usize, T: Real>(
                self,
                source: &Source<'_, D, T>,
                place: TilePlace<'_>,
                arena: &mut [Record],
                inner: Range<usize>,
                list: &mut RelocationList,
            ) -> (usize, bool) {
                if !rewrite::applies(source) {
                    return portable::rewrite_inner::<TRACK_DELTA, D, T, Self>(self, source, place, arena, inner, list);
                }
                // SAFETY: (isa) as above; (layout) boxes of `D` times two `f32` or `f64`, which differ in size.
                unsafe {
                    if const { size_of::<T>() == 4 } {
                        rewrite::rewrite_inner::<TRACK_DELTA, D, T, TileTransform<f32>>(source, place, arena, inner, list)
                    } else {
                        rewrite::rewrite_inner::<TRACK_DELTA, D, T, TileTransform<f64>>(source, place, arena, inner, list)
                    }
                }
            }

            #[inline(always)]
            unsafe fn straddling_each<const TRACK_DELTA: bool, const D: usize, T: Real>(
                self,
                source: &Source<'_, D, T>,
                place: TilePlace<'_>,
                outer: Range<usize>,
                rewritten: &mut Rewritten<'_>,
            ) -> bool {
                // SAFETY: (isa, layout) as above; (in bounds, room) the caller's duties.
                unsafe {
                    if !rewrite::applies(source) {
                        portable::straddling_each::<TRACK_DELTA, D, T, Self>(self, source, place, outer, rewritten)
                    } else if const { size_of::<T>() == 4 } {
                        rewrite::rewrite_straddling::<TRACK_DELTA, D, T, TileTransform<f32>, Self>(
                            self, source, place, outer, rewritten,
                        )
                    } else {
                        rewrite::rewrite_straddling::<TRACK_DELTA, D, T, TileTransform<f64>, Self>(
                            self, source, place, outer, rewritten,
                        )
                    }
                }
            }
        }
    };
}

quantize_by_avx2!(Avx2);
quantize_by_avx2!(Avx512);

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

/// The corners and cells of the first `count` boxes, a multiple of four, in the order of memory. Returns whether all are valid.
///
/// # Safety
/// *isa*: AVX2. *In bounds*: there are more than `count` boxes, and the lists have room for `count`.
#[inline(always)]
unsafe fn fill(
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
        let (zero, top) = (_mm256_setzero_ps(), _mm256_set1_ps(LAST_PLACE as f32));
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
                // If an operand is NaN, the result is the second one.
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

/// Like [`fill`], in 2D: the first `count` boxes, an even number, two at once; in the lists, a box is two halves of three integers.
///
/// # Safety
/// *isa*: AVX2. *In bounds*: there are at least `count` boxes, and the lists have room for them.
#[inline(always)]
unsafe fn fill_flat(
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
        let (zero, top) = (_mm256_setzero_ps(), _mm256_set1_ps(LAST_PLACE as f32));
        let origin = _mm256_setr_ps(*x, *y, *x, *y, *x, *y, *x, *y);
        let scale = _mm256_setr_ps(*u, *v, *u, *v, *u, *v, *u, *v);
        let by_axis = |of: &[i32; PERIOD]| _mm256_set1_epi64x(i64::from(of[1]) << 32 | i64::from(of[0]));
        let (shift, place) = (by_axis(&cells.shift), by_axis(&cells.place));
        let mut valid = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
        let mut at = 0;
        while at < count {
            let value = _mm256_loadu_ps(boxes.as_ptr().add(4 * at));
            // Lanes 0 and 1 of each half compare the lower corner with the upper one. The other lanes compare the same in reverse.
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
pub(super) static ORDERS: [Order; 3] = [order(AXES[0]), order(AXES[1]), order(AXES[2])];

#[repr(C, align(16))]
pub(super) struct Order([u8; 16]);

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

/// The words of a record that are inverted: those of the upper corner.
pub(super) static INVERTED: [i16; 8] = [0, -1, 0, 0, -1, -1, 0, 0];

impl TileMap {
    /// The lowest places less one quantum, and the shifts, for the lower and for the upper corner.
    ///
    /// # Safety
    /// *isa*: AVX2.
    #[inline(always)]
    pub(super) unsafe fn lanes(&self) -> (__m256i, __m256i) {
        // SAFETY: (isa) the caller's duty; (in bounds) the map is one vector of 16 bytes.
        unsafe {
            let all = _mm_load_si128(std::ptr::from_ref(self).cast());
            // Shifts and axis are the last four bytes. The fourth lane of both is not used.
            let shifts = _mm_cvtepu8_epi32(_mm_srli_si128::<12>(all));
            (_mm256_broadcastsi128_si256(all), _mm256_broadcastsi128_si256(shifts))
        }
    }
}

/// # Safety
/// *isa*: AVX2.
#[inline(always)]
unsafe fn record(corners: &[i32; CORNERS + 1], tile: &TileMap, id: u32) -> Record {
    // SAFETY: (isa) the caller's duty; (in bounds) integers 0 to 3 and 3 to 6 of seven, four lanes, four bytes from the shifts on,
    // and an axis is below three.
    unsafe {
        let lower = _mm256_castsi128_si256(_mm_loadu_si128(corners.as_ptr().cast()));
        let at = _mm256_inserti128_si256::<1>(lower, _mm_loadu_si128(corners.as_ptr().add(3).cast()));
        let (low, shift) = tile.lanes();
        let quanta = _mm256_srav_epi32(_mm256_sub_epi32(at, low), shift);
        let words = _mm_packus_epi32(_mm256_castsi256_si128(quanta), _mm256_extracti128_si256::<1>(quanta));
        let order = _mm_load_si128(ORDERS.as_ptr().add(tile.axis()).cast());
        let inverted = _mm_loadu_si128(INVERTED.as_ptr().cast());
        let words = _mm_xor_si128(_mm_shuffle_epi8(words, order), inverted);
        let mut record = Record::default();
        _mm_store_si128(record.0.as_mut_ptr().cast(), _mm_insert_epi32::<3>(words, id as i32));
        record
    }
}
