//! WebAssembly with vectors of 128 bits (`simd128`), where the whole module is compiled for them: a module cannot ask its engine.

use core::arch::wasm32::*;

use super::Simd;
use super::lanes::{Bytes, Lanes, Mask, Registers, Words};
use crate::kernels::quantize::Quantize;
use crate::kernels::tile::Confirmation;

/// Two or four lanes.
#[derive(Clone, Copy)]
pub struct Simd128(());

impl Simd128 {
    /// Part of the target.
    pub const BASELINE: Self = Self(());
}

impl Simd for Simd128 {
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    fn detect() -> Option<Self> {
        Some(Self(()))
    }
}

impl Quantize for Simd128 {}
impl Confirmation for Simd128 {}

/// Four lanes of `f32`. The target has only one type of registers, so each kind of lanes gets a type of its own here.
#[derive(Clone, Copy)]
pub struct F32x4(v128);
/// Two lanes of `f64`.
#[derive(Clone, Copy)]
pub struct F64x2(v128);
/// Sixteen bytes.
#[derive(Clone, Copy)]
pub struct U8x16(v128);
/// Eight words.
#[derive(Clone, Copy)]
pub struct U16x8(v128);
/// All ones or all zeros in each lane of 32 bits.
#[derive(Clone, Copy)]
pub struct Mask32(v128);
/// All ones or all zeros in each lane of 64 bits.
#[derive(Clone, Copy)]
pub struct Mask64(v128);

impl Registers for Simd128 {
    type F32 = F32x4;
    type F64 = F64x2;
    type U8 = U8x16;
    type U16 = U16x8;

    #[inline(always)]
    unsafe fn fours_within<const G: usize>(bound: u32, others: *const u32) -> u64 {
        let bound = u32x4_splat(bound);
        let fit = |at: usize| {
            // SAFETY: (in bounds) the caller's duty; loads need no alignment.
            let four = unsafe { v128_load(others.add(at).cast()) };
            i32x4_eq(u8x16_sub_sat(four, bound), u32x4_splat(0))
        };
        (0..G).fold(0, |bits, group| {
            let eight = |at: usize| i16x8_narrow_i32x4(fit(at), fit(at + 4));
            let sixteen = i8x16_narrow_i16x8(eight(16 * group), eight(16 * group + 8));
            bits | u64::from(i8x16_bitmask(sixteen)) << (16 * group)
        })
    }

    #[inline(always)]
    unsafe fn eights_within(bound: u64, others: *const u64) -> u64 {
        let bound = u64x2_splat(bound);
        (0..8).fold(0, |bits, pair| {
            // SAFETY: (in bounds) the caller's duty; loads need no alignment.
            let two = unsafe { v128_load(others.add(2 * pair).cast()) };
            let fit = i64x2_eq(u8x16_sub_sat(two, bound), u64x2_splat(0));
            bits | u64::from(i64x2_bitmask(fit)) << (2 * pair)
        })
    }
}

macro_rules! lanes {
    ($v:ident, $t:ty, $n:literal, $mask:ident, $bits:ident, $splat:ident, $le:ident, [$add:ident, $sub:ident, $mul:ident]) => {
        impl Mask for $mask {
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                Self(v128_and(self.0, other.0))
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                Self(v128_or(self.0, other.0))
            }
            #[inline(always)]
            fn bits(self) -> u32 {
                u32::from($bits(self.0))
            }
        }

        impl Lanes for $v {
            type Scalar = $t;
            type Mask = $mask;
            const N: usize = $n;

            #[inline(always)]
            unsafe fn splat(value: $t) -> Self {
                Self($splat(value))
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: (in bounds) the caller's duty; loads need no alignment.
                Self(unsafe { v128_load(from.cast()) })
            }
            #[inline(always)]
            unsafe fn le(self, other: Self) -> $mask {
                $mask($le(self.0, other.0))
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                Self($add(self.0, other.0))
            }
            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                Self($sub(self.0, other.0))
            }
            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                Self($mul(self.0, other.0))
            }
        }
    };
}

lanes!(F32x4, f32, 4, Mask32, i32x4_bitmask, f32x4_splat, f32x4_le, [f32x4_add, f32x4_sub, f32x4_mul]);
lanes!(F64x2, f64, 2, Mask64, i64x2_bitmask, f64x2_splat, f64x2_le, [f64x2_add, f64x2_sub, f64x2_mul]);

impl Bytes for U8x16 {
    const N: usize = 16;

    #[inline(always)]
    unsafe fn splat(value: u8) -> Self {
        Self(u8x16_splat(value))
    }
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: (in bounds) the caller's duty; loads need no alignment.
        Self(unsafe { v128_load(from.cast()) })
    }
    #[inline(always)]
    unsafe fn excess(self, other: Self) -> Self {
        Self(u8x16_sub_sat(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        Self(v128_or(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn zeros(self) -> u64 {
        u64::from(u8x16_bitmask(u8x16_eq(self.0, u8x16_splat(0))))
    }
}

impl Words for U16x8 {
    #[inline(always)]
    unsafe fn load(from: &[u16; 8]) -> Self {
        // SAFETY: (in bounds) the reference covers eight words.
        Self(unsafe { v128_load(from.as_ptr().cast()) })
    }
    #[inline(always)]
    unsafe fn upper_bytes(self) -> u64 {
        let upper = u16x8_shr(self.0, 8);
        u64x2_extract_lane::<0>(u8x16_narrow_i16x8(upper, upper))
    }
    #[inline(always)]
    unsafe fn reach(self) -> Self {
        // An index out of range gives zero, inverted all ones.
        let order = u8x16(2, 3, 0, 1, 8, 9, 10, 11, 4, 5, 6, 7, 255, 255, 255, 255);
        Self(v128_not(u8x16_swizzle(self.0, order)))
    }
    #[inline(always)]
    unsafe fn excess(self, other: Self) -> Self {
        Self(u16x8_sub_sat(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        Self(v128_or(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u32 {
        u32::from(u8x16_bitmask(u16x8_eq(self.0, other.0)))
    }
    #[inline(always)]
    unsafe fn zeros(self) -> u32 {
        u32::from(u8x16_bitmask(u16x8_eq(self.0, u16x8_splat(0))))
    }
}
