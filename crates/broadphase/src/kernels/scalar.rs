//! The portable path: one lane. Also the yardstick that the vector paths are compared with.

use super::lanes::{Lanes, Mask, Simd};

/// Always available.
#[derive(Clone, Copy)]
pub struct Scalar;

impl Simd for Scalar {
    type F32 = f32;
    type F64 = f64;
}

impl Mask for bool {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
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
