//! The three steps of the scatter that are worth vectors: a box's corners on the lattice, their cells in a table, and the record
//! of a tile. Each in plain Rust, and for AVX2 in a handful of instructions.
//!
//! Both forms round alike: a subtraction, a multiplication, a clamp that takes NaN for the lower bound, a truncation.

use super::lanes::Simd;
use super::tile::Record;
use crate::geometry::{Aabb, Real};

/// The lower corner of a box on the lattice in lanes 0 to 2, the upper one in lanes 4 to 6: eight lanes, so that one vector holds
/// both. Lanes 3 and 7 are free.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Corners(pub(crate) [i32; 8]);

/// Where a map to the lattice starts, and its factor, as [`Corners`] lie.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Map<T> {
    pub(crate) origin: [T; 8],
    pub(crate) scale: [T; 8],
}

/// How a table finds a cell: `(corner >> shift) << place`, or-ed over the axes; as [`Corners`] lie.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CellMap {
    pub(crate) shift: [i32; 8],
    pub(crate) place: [i32; 8],
}

/// A tile's lowest place on the lattice, and lattice steps per quantum as powers of two; lane 3 is free.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TileMap {
    pub(crate) low: [i32; 4],
    pub(crate) shift: [u8; 4],
}

/// The corners of a box, and whether it is valid.
#[inline(always)]
pub(crate) fn corners<const D: usize, T: Real, S: Simd>(_: S, value: &Aabb<D, T>, map: &Map<T>) -> (Corners, bool) {
    if S::HAS_AVX2 && D == 3 && size_of::<T>() == 4 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: (isa) `S` is proven by the kernel table, and says that it has AVX2.
        return unsafe {
            avx2::corners(bytemuck::cast_ref(value), bytemuck::cast_ref(&map.origin), bytemuck::cast_ref(&map.scale))
        };
    }
    let mut corners = Corners::default();
    for k in 0..D {
        corners.0[k] = ((value.min[k] - map.origin[k]) * map.scale[k]).truncate();
        corners.0[k + 4] = ((value.max[k] - map.origin[k]) * map.scale[k]).truncate();
    }
    (corners, value.is_valid())
}

/// The cells of the lower and the upper corner in a table that starts at the lattice's origin.
#[inline(always)]
pub(crate) fn cells<S: Simd>(_: S, corners: &Corners, map: &CellMap) -> (u32, u32) {
    if S::HAS_AVX2 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: (isa) `S` is proven by the kernel table, and says that it has AVX2.
        return unsafe { avx2::cells(corners, map) };
    }
    let mut cells = (0, 0);
    for k in 0..3 {
        cells.0 |= corners.0[k] >> map.shift[k] << map.place[k];
        cells.1 |= corners.0[k + 4] >> map.shift[k] << map.place[k];
    }
    (cells.0 as u32, cells.1 as u32)
}

/// The record of a box in a tile: quanta from 1, or 0 for what starts before the tile; in 2D, z is 1..2 for everyone.
#[inline(always)]
pub(crate) fn record<const D: usize, S: Simd>(_: S, corners: &Corners, tile: &TileMap, id: u32) -> Record {
    if S::HAS_AVX2 && D == 3 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: (isa) `S` is proven by the kernel table, and says that it has AVX2.
        return unsafe { avx2::record(corners, tile, id) };
    }
    let mut quanta = [0u16; 8];
    for lane in 0..8 {
        let steps = (corners.0[lane] - tile.low[lane % 4]) >> (tile.shift[lane % 4] & 31);
        quanta[lane] = (steps + 1).clamp(0, 65535) as u16;
    }
    if D == 2 {
        (quanta[2], quanta[6]) = (1, 2);
    }
    Record::new(quanta, id)
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{CellMap, Corners, Record, TileMap};
    use crate::kernels::prefetch::LATTICE_END;

    /// # Safety
    /// *isa*: AVX2.
    #[inline(always)]
    pub(super) unsafe fn corners(value: &[f32; 6], origin: &[f32; 8], scale: &[f32; 8]) -> (Corners, bool) {
        // SAFETY: (isa) the caller's duty; (in bounds) floats 0 to 3 and 2 to 5 of six, eight of eight.
        unsafe {
            let low = _mm_loadu_ps(value.as_ptr());
            let high = _mm_permute_ps::<0b11_11_10_01>(_mm_loadu_ps(value.as_ptr().add(2)));
            let valid = _mm_movemask_ps(_mm_cmple_ps(low, high)) & 7 == 7;
            let both = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high);
            let place = _mm256_mul_ps(_mm256_sub_ps(both, _mm256_loadu_ps(origin.as_ptr())), _mm256_loadu_ps(scale.as_ptr()));
            // The second operand wins over NaN.
            let place = _mm256_max_ps(place, _mm256_setzero_ps());
            let place = _mm256_min_ps(place, _mm256_set1_ps((LATTICE_END - 64) as f32));
            let mut corners = Corners::default();
            _mm256_store_si256(corners.0.as_mut_ptr().cast(), _mm256_cvttps_epi32(place));
            (corners, valid)
        }
    }

    /// # Safety
    /// *isa*: AVX2.
    #[inline(always)]
    pub(super) unsafe fn cells(corners: &Corners, map: &CellMap) -> (u32, u32) {
        // SAFETY: (isa) the caller's duty; (in bounds) eight lanes each, aligned by their types.
        unsafe {
            let at = _mm256_load_si256(corners.0.as_ptr().cast());
            let shift = _mm256_load_si256(map.shift.as_ptr().cast());
            let place = _mm256_load_si256(map.place.as_ptr().cast());
            // Lanes 3 and 7 carry nothing: their shift is 31, and corners are not negative.
            let parts = _mm256_sllv_epi32(_mm256_srlv_epi32(at, shift), place);
            let pairs = _mm256_or_si256(parts, _mm256_shuffle_epi32::<0b10_11_00_01>(parts));
            let all = _mm256_or_si256(pairs, _mm256_shuffle_epi32::<0b01_00_11_10>(pairs));
            (_mm256_cvtsi256_si32(all) as u32, _mm256_extract_epi32::<4>(all) as u32)
        }
    }

    /// # Safety
    /// *isa*: AVX2.
    #[inline(always)]
    pub(super) unsafe fn record(corners: &Corners, tile: &TileMap, id: u32) -> Record {
        // SAFETY: (isa) the caller's duty; (in bounds) eight lanes, four lanes, four bytes.
        unsafe {
            let at = _mm256_load_si256(corners.0.as_ptr().cast());
            let low = _mm256_broadcastsi128_si256(_mm_loadu_si128(tile.low.as_ptr().cast()));
            let shift = _mm_cvtepu8_epi32(_mm_cvtsi32_si128(i32::from_le_bytes(tile.shift)));
            let shift = _mm256_broadcastsi128_si256(shift);
            let quanta = _mm256_add_epi32(_mm256_srav_epi32(_mm256_sub_epi32(at, low), shift), _mm256_set1_epi32(1));
            let words = _mm_packus_epi32(_mm256_castsi256_si128(quanta), _mm256_extracti128_si256::<1>(quanta));
            // min.x min.y min.z - max.x max.y max.z -  becomes  min.x min.y min.z max.x max.y max.z - -
            let order = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1);
            let inverted = _mm_setr_epi16(0, 0, 0, -1, -1, -1, 0, 0);
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

    struct All<'a>(&'a Aabb<3, f32>, &'a Map<f32>, &'a CellMap, &'a TileMap);

    impl Kernel for All<'_> {
        type Output = ([i32; 3], [i32; 3], bool, (u32, u32), Record);

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            let (corners, valid) = corners(simd, self.0, self.1);
            let c = corners.0;
            let cells = cells(simd, &corners, self.2);
            ([c[0], c[1], c[2]], [c[4], c[5], c[6]], valid, cells, record::<3, S>(simd, &corners, self.3, 0xdead_beef))
        }
    }

    #[test]
    fn every_instruction_set_quantises_alike() {
        let map = Map { origin: [-1.0, 2.0, 0.5, 0.0, -1.0, 2.0, 0.5, 0.0], scale: [1e6, 3e7, 7.0, 1.0, 1e6, 3e7, 7.0, 1.0] };
        let cell_map = CellMap { shift: [20, 25, 24, 31, 20, 25, 24, 31], place: [0, 10, 15, 0, 0, 10, 15, 0] };
        let tile = TileMap { low: [1 << 20, 5, 77, 0], shift: [4, 12, 0, 9] };
        let values = [0.0, -0.0, 1.5, -1.0, 7.3, 1e9, -1e9, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, 1e-45];
        for (i, &x) in values.iter().enumerate() {
            for &y in &values {
                let value = Aabb::new([x, y, values[(i + 3) % values.len()]], [y, x, values[(i + 5) % values.len()]]);
                let run = |isa| Kernels::new(isa).unwrap().run(All(&value, &map, &cell_map, &tile));
                for isa in Isa::available() {
                    assert_eq!(run(isa), run(Isa::Scalar), "{isa} {value:?}");
                }
            }
        }
    }
}
