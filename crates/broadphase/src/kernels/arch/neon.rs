//! NEON, part of every aarch64.

use std::arch::aarch64::*;

use super::Simd;
use super::lanes::{Bytes, Lanes, Mask, Registers, Words};
use crate::kernels::quantize::Quantize;
use crate::kernels::tile::Confirmation;

/// Two or four lanes.
#[derive(Clone, Copy)]
pub struct Neon(());

impl Simd for Neon {
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

impl Quantize for Neon {}
impl Confirmation for Neon {}

impl Registers for Neon {
    type F32 = float32x4_t;
    type F64 = float64x2_t;
    type U8 = uint8x16_t;
    type U16 = uint16x8_t;

    #[inline(always)]
    unsafe fn fours_within<const G: usize>(bound: u32, others: *const u32) -> u64 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let bound = vreinterpretq_u8_u32(vdupq_n_u32(bound));
            let fit = |at: usize| vmovn_u32(vceqzq_u32(vreinterpretq_u32_u8(vqsubq_u8(vld1q_u8(others.add(at).cast()), bound))));
            (0..G).fold(0, |bits, group| {
                let eight = |at: usize| vmovn_u16(vcombine_u16(fit(at), fit(at + 4)));
                bits | byte_bits(vcombine_u8(eight(16 * group), eight(16 * group + 8))) << (16 * group)
            })
        }
    }

    #[inline(always)]
    unsafe fn eights_within(bound: u64, others: *const u64) -> u64 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let bound = vreinterpretq_u8_u64(vdupq_n_u64(bound));
            let fit = |at: usize| vmovn_u64(vceqzq_u64(vreinterpretq_u64_u8(vqsubq_u8(vld1q_u8(others.add(at).cast()), bound))));
            let four = |at: usize| vmovn_u32(vcombine_u32(fit(at), fit(at + 2)));
            let eight = |at: usize| vmovn_u16(vcombine_u16(four(at), four(at + 4)));
            byte_bits(vcombine_u8(eight(0), eight(8)))
        }
    }
}

impl Mask for uint32x4_t {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: (isa) NEON is part of the target.
        unsafe { vandq_u32(self, other) }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: (isa) NEON is part of the target.
        unsafe { vorrq_u32(self, other) }
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        const WEIGHTS: [u32; 4] = [1, 2, 4, 8];
        // SAFETY: (isa) NEON is part of the target; (in bounds) four weights are read.
        unsafe { vaddvq_u32(vandq_u32(self, vld1q_u32(WEIGHTS.as_ptr()))) }
    }
}

impl Mask for uint64x2_t {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: (isa) NEON is part of the target.
        unsafe { vandq_u64(self, other) }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: (isa) NEON is part of the target.
        unsafe { vorrq_u64(self, other) }
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        // SAFETY: (isa) NEON is part of the target.
        unsafe { (vgetq_lane_u64::<0>(self) & 1 | vgetq_lane_u64::<1>(self) & 2) as u32 }
    }
}

macro_rules! lanes {
    ($v:ty, $t:ty, $n:literal, $mask:ty, $splat:ident, $load:ident, $le:ident, [$add:ident, $sub:ident, $mul:ident]) => {
        impl Lanes for $v {
            type Scalar = $t;
            type Mask = $mask;
            const N: usize = $n;

            #[inline(always)]
            unsafe fn splat(value: $t) -> Self {
                // SAFETY: (isa) the caller's duty.
                unsafe { $splat(value) }
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: (isa, in bounds) the caller's duties.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn le(self, other: Self) -> $mask {
                // SAFETY: (isa) the caller's duty.
                unsafe { $le(self, other) }
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: (isa) the caller's duty.
                unsafe { $add(self, other) }
            }
            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                // SAFETY: (isa) the caller's duty.
                unsafe { $sub(self, other) }
            }
            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                // SAFETY: (isa) the caller's duty.
                unsafe { $mul(self, other) }
            }
        }
    };
}

lanes!(float32x4_t, f32, 4, uint32x4_t, vdupq_n_f32, vld1q_f32, vcleq_f32, [vaddq_f32, vsubq_f32, vmulq_f32]);
lanes!(float64x2_t, f64, 2, uint64x2_t, vdupq_n_f64, vld1q_f64, vcleq_f64, [vaddq_f64, vsubq_f64, vmulq_f64]);

impl Bytes for uint8x16_t {
    const N: usize = 16;

    #[inline(always)]
    unsafe fn splat(value: u8) -> Self {
        // SAFETY: (isa) the caller's duty.
        unsafe { vdupq_n_u8(value) }
    }
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe { vld1q_u8(from) }
    }
    #[inline(always)]
    unsafe fn excess(self, other: Self) -> Self {
        // SAFETY: (isa) the caller's duty.
        unsafe { vqsubq_u8(self, other) }
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: (isa) the caller's duty.
        unsafe { vorrq_u8(self, other) }
    }
    #[inline(always)]
    unsafe fn zeros(self) -> u64 {
        // SAFETY: (isa) the caller's duty.
        unsafe { byte_bits(vceqzq_u8(self)) }
    }
}

/// A bit per lane of an all-ones or all-zeros mask.
///
/// # Safety
/// *isa*.
#[inline(always)]
unsafe fn byte_bits(mask: uint8x16_t) -> u64 {
    const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: (isa) the caller's duty; (in bounds) sixteen weights are read.
    unsafe {
        let bits = vandq_u8(mask, vld1q_u8(WEIGHTS.as_ptr()));
        u64::from(vaddv_u8(vget_low_u8(bits))) | u64::from(vaddv_u8(vget_high_u8(bits))) << 8
    }
}

/// Two bits per lane of an all-ones or all-zeros mask.
///
/// # Safety
/// *isa*.
#[inline(always)]
unsafe fn word_bits(mask: uint16x8_t) -> u32 {
    const WEIGHTS: [u16; 8] = [3, 3 << 2, 3 << 4, 3 << 6, 3 << 8, 3 << 10, 3 << 12, 3 << 14];
    // SAFETY: (isa) the caller's duty; (in bounds) eight weights are read.
    unsafe { u32::from(vaddvq_u16(vandq_u16(mask, vld1q_u16(WEIGHTS.as_ptr())))) }
}

impl Words for uint16x8_t {
    #[inline(always)]
    unsafe fn load(from: &[u16; 8]) -> Self {
        // SAFETY: (isa) the caller's duty; (in bounds) the reference covers eight words.
        unsafe { vld1q_u16(from.as_ptr()) }
    }
    #[inline(always)]
    unsafe fn upper_bytes(self) -> u64 {
        // SAFETY: (isa) the caller's duty.
        unsafe { vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<8>(self))) }
    }
    #[inline(always)]
    unsafe fn reach(self) -> Self {
        const ORDER: [u8; 16] = [2, 3, 0, 1, 8, 9, 10, 11, 4, 5, 6, 7, 255, 255, 255, 255];
        // SAFETY: (isa) the caller's duty; (in bounds) sixteen bytes are read. An index out of range gives zero, inverted all ones.
        unsafe { vmvnq_u16(vreinterpretq_u16_u8(vqtbl1q_u8(vreinterpretq_u8_u16(self), vld1q_u8(ORDER.as_ptr())))) }
    }
    #[inline(always)]
    unsafe fn excess(self, other: Self) -> Self {
        // SAFETY: (isa) the caller's duty.
        unsafe { vqsubq_u16(self, other) }
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: (isa) the caller's duty.
        unsafe { vorrq_u16(self, other) }
    }
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u32 {
        // SAFETY: (isa) the caller's duty.
        unsafe { word_bits(vceqq_u16(self, other)) }
    }
    #[inline(always)]
    unsafe fn zeros(self) -> u32 {
        // SAFETY: (isa) the caller's duty.
        unsafe { word_bits(vceqzq_u16(self)) }
    }
}
