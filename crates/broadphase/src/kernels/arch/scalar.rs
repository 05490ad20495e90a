//! The portable path: one lane. The vector paths are tested against it.

use super::Simd;
use super::lanes::{Bytes, Lanes, Mask, Registers, Words};
use crate::kernels::quantize::Quantize;
use crate::kernels::tile::Confirmation;

/// Always available.
#[derive(Clone, Copy)]
pub struct Scalar;

impl Simd for Scalar {
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    fn detect() -> Option<Self> {
        Some(Self)
    }
}

impl Quantize for Scalar {}
impl Confirmation for Scalar {}

impl Registers for Scalar {
    type F32 = f32;
    type F64 = f64;
    type U8 = u8;
    type U16 = [u16; 8];
}

impl Mask for bool {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self)
    }
}

macro_rules! one_lane {
    ($t:ty) => {
        impl Lanes for $t {
            type Scalar = $t;
            type Mask = bool;
            const N: usize = 1;

            #[inline(always)]
            unsafe fn splat(value: $t) -> Self {
                value
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: (in bounds) the caller's duty.
                unsafe { *from }
            }
            #[inline(always)]
            unsafe fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                self * other
            }
        }
    };
}

one_lane!(f32);
one_lane!(f64);

impl Bytes for u8 {
    const N: usize = 1;

    #[inline(always)]
    unsafe fn splat(value: u8) -> Self {
        value
    }
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: (in bounds) the caller's duty.
        unsafe { *from }
    }
    #[inline(always)]
    unsafe fn excess(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    unsafe fn zeros(self) -> u64 {
        u64::from(self == 0)
    }
}

impl Words for [u16; 8] {
    #[inline(always)]
    unsafe fn load(from: &[u16; 8]) -> Self {
        *from
    }
    #[inline(always)]
    unsafe fn upper_bytes(self) -> u64 {
        u64::from_le_bytes(self.map(|word| (word >> 8) as u8))
    }
    #[inline(always)]
    unsafe fn reach(self) -> Self {
        let [min_x, not_max_x, min_y, min_z, not_max_y, not_max_z, ..] = self;
        [!not_max_x, !min_x, !not_max_y, !not_max_z, !min_y, !min_z, u16::MAX, u16::MAX]
    }
    #[inline(always)]
    unsafe fn excess(self, other: Self) -> Self {
        std::array::from_fn(|k| self[k].saturating_sub(other[k]))
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        std::array::from_fn(|k| self[k] | other[k])
    }
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u32 {
        (0..8).fold(0, |bits, k| bits | if self[k] == other[k] { 3 << (2 * k) } else { 0 })
    }
    #[inline(always)]
    unsafe fn zeros(self) -> u32 {
        (0..8).fold(0, |bits, k| bits | if self[k] == 0 { 3 << (2 * k) } else { 0 })
    }
}
