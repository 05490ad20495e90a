//! NEON, part of every aarch64.

use std::arch::aarch64::*;

use super::lanes::{Lanes, Mask, Simd};

/// Two or four lanes.
#[derive(Clone, Copy)]
pub struct Neon(());

impl Neon {
    pub fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

impl Simd for Neon {
    type F32 = float32x4_t;
    type F64 = float64x2_t;
}

impl Mask for uint32x4_t {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: (isa) NEON is part of the target.
        unsafe { vandq_u32(self, other) }
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
