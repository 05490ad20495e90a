//! Layout promises: boxes and pairs are plain arrays of numbers.

use bytemuck::{Pod, Zeroable};

use crate::geometry::{Aabb, Real};
use crate::pair::Pair;

const _: () = assert!(size_of::<Aabb<3, f32>>() == 24 && size_of::<Aabb<2, f64>>() == 32);
const _: () = assert!(size_of::<Pair>() == 8 && align_of::<Pair>() == 4);

// SAFETY: (zeroable) a box is two arrays of floats, for which all-zero bits are valid.
unsafe impl<const D: usize, T: Real> Zeroable for Aabb<D, T> {}
// SAFETY: (pod) `#[repr(C)]`, two arrays of the same element type: no padding, every bit pattern valid, `Copy`, no references.
unsafe impl<const D: usize, T: Real> Pod for Aabb<D, T> {}

// SAFETY: (zeroable) two integers.
unsafe impl Zeroable for Pair {}
// SAFETY: (pod) `#[repr(C)]`, two u32: no padding, every bit pattern valid, `Copy`, no references.
unsafe impl Pod for Pair {}
