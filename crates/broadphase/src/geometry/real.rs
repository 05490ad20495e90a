//! The two scalars a box can be made of: `f32` and `f64`.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use crate::kernels::arch::lanes::{Lanes, Registers, Truncate};

pub(crate) mod sealed {
    use super::{Lanes, Registers, Truncate};

    /// Ties a scalar to its vector register in each instruction set. Sealed: only `f32` and `f64` have one.
    pub trait Sealed: Truncate {
        type In<S: Registers>: Lanes<Scalar = Self>;

        /// Calls `here` if this crate compiles its structures for the scalar, and `there` if the crate that uses them does. Only the code of the
        /// function that is called gets compiled.
        fn compiled<R>(here: impl FnOnce() -> R, there: impl FnOnce() -> R) -> R;
    }
}

/// A floating-point scalar: `f32` or `f64`. Sealed: the kernels have registers for these two.
pub trait Real:
    sealed::Sealed
    + Copy
    + Default
    + PartialEq
    + PartialOrd
    + Debug
    + Display
    + Send
    + Sync
    + 'static
    + bytemuck::Pod
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + Sum
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// One half.
    const HALF: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// Negative infinity.
    const NEG_INFINITY: Self;
    /// Not a number; as a padding coordinate it fails every comparison, so it overlaps nothing.
    const NAN: Self;
    /// The largest finite value.
    const MAX: Self;
    /// The smallest positive normal value.
    const MIN_POSITIVE: Self;
    /// The name as NumPy writes it: `float32` or `float64`.
    const NAME: &'static str;

    /// The nearest value of this type (exact from `f32`, rounded from `f64` for `f32`).
    fn from_f64(value: f64) -> Self;
    /// The same value as `f64`, exact.
    fn to_f64(self) -> f64;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Is it NaN?
    fn is_nan(self) -> bool;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The largest integer not above.
    fn floor(self) -> Self;
    /// The smaller of two; the other one if one is NaN.
    fn min(self, other: Self) -> Self;
    /// The larger of two; the other one if one is NaN.
    fn max(self, other: Self) -> Self;
    /// The next value towards positive infinity.
    fn next_up(self) -> Self;
    /// The next value towards negative infinity.
    fn next_down(self) -> Self;
    /// An unsigned integer with the same order as the float, -0.0 and +0.0 being equal: what a radix sort needs.
    ///
    /// ```
    /// use broadphase::Real;
    /// assert_eq!((-0.0f32).order_key(), 0.0f32.order_key());
    /// assert!((-1.0f64).order_key() < 1e-300f64.order_key());
    /// ```
    fn order_key(self) -> u64;
    /// The number of significant bits in [`order_key`](Real::order_key): 32 or 64.
    const KEY_BITS: u32;
}

macro_rules! real {
    ($t:ident, $bits:ident, $name:literal) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const HALF: Self = 0.5;
            const INFINITY: Self = $t::INFINITY;
            const NEG_INFINITY: Self = $t::NEG_INFINITY;
            const NAN: Self = $t::NAN;
            const MAX: Self = $t::MAX;
            const MIN_POSITIVE: Self = $t::MIN_POSITIVE;
            const NAME: &'static str = $name;
            const KEY_BITS: u32 = $bits::BITS;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $t::is_nan(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn floor(self) -> Self {
                $t::floor(self)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                $t::min(self, other)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                $t::max(self, other)
            }
            #[inline(always)]
            fn next_up(self) -> Self {
                $t::next_up(self)
            }
            #[inline(always)]
            fn next_down(self) -> Self {
                $t::next_down(self)
            }
            #[inline(always)]
            fn order_key(self) -> u64 {
                // Adding +0.0 turns -0.0 into +0.0 and changes nothing else.
                let bits = (self + 0.0).to_bits();
                let sign = 1 << ($bits::BITS - 1);
                u64::from(if bits & sign != 0 { !bits } else { bits | sign })
            }
        }
    };
}

real!(f32, u32, "float32");
real!(f64, u64, "float64");

impl sealed::Sealed for f32 {
    type In<S: Registers> = S::F32;

    fn compiled<R>(here: impl FnOnce() -> R, _: impl FnOnce() -> R) -> R {
        here()
    }
}

impl sealed::Sealed for f64 {
    type In<S: Registers> = S::F64;

    fn compiled<R>(here: impl FnOnce() -> R, there: impl FnOnce() -> R) -> R {
        #[cfg(feature = "f64")]
        let (call, _) = (here, there);
        #[cfg(not(feature = "f64"))]
        let (_, call) = (here, there);
        call()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_follow_the_order<T: Real>(values: &[T]) {
        for &a in values {
            for &b in values {
                assert_eq!(a < b, a.order_key() < b.order_key(), "{a} {b}");
                assert_eq!(a == b, a.order_key() == b.order_key(), "{a} {b}");
            }
        }
    }

    #[test]
    fn order_keys_follow_the_order_with_equal_zeros() {
        keys_follow_the_order(&[f32::NEG_INFINITY, -1e30, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, f32::MAX, f32::INFINITY]);
        keys_follow_the_order(&[f64::NEG_INFINITY, -1e300, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, f64::MAX, f64::INFINITY]);
    }
}
