//! The private lane traits: what a kernel may ask of an instruction set.
//!
//! A kernel is written once, generic over [`Simd`], with every method always inlined; the `#[target_feature]` shells in
//! `isa.rs` are the only place where an instruction set is entered.

/// A mask over [`Lanes::N`] lanes.
pub trait Mask: Copy {
    /// Lane-wise and.
    fn and(self, other: Self) -> Self;
    /// Lane-wise or.
    fn or(self, other: Self) -> Self;
    /// One bit per lane, lane 0 lowest.
    fn bits(self) -> u32;
}

/// A vector register of floats.
///
/// # Safety
/// Every method carries one duty, *isa*: the instruction set that the implementing type stands for is present. A kernel
/// discharges it by being generic over a [`Simd`] value, which exists only where the CPU has the features.
pub trait Lanes: Copy {
    /// The element type.
    type Scalar: Copy;
    /// The result of a comparison.
    type Mask: Mask;
    /// Lanes per register.
    const N: usize;

    /// All lanes the same.
    ///
    /// # Safety
    /// *isa* (see the trait).
    unsafe fn splat(value: Self::Scalar) -> Self;
    /// Reads `N` scalars from `from`, unaligned.
    ///
    /// # Safety
    /// *isa*; and *in bounds*: `from` is valid for reading `N` scalars.
    unsafe fn load(from: *const Self::Scalar) -> Self;
    /// Lane-wise `self <= other`; false where either is NaN.
    ///
    /// # Safety
    /// *isa* (see the trait).
    unsafe fn le(self, other: Self) -> Self::Mask;
    /// Lane-wise `self + other`, rounded.
    ///
    /// # Safety
    /// *isa* (see the trait).
    unsafe fn add(self, other: Self) -> Self;
    /// Lane-wise `self - other`, rounded.
    ///
    /// # Safety
    /// *isa* (see the trait).
    unsafe fn sub(self, other: Self) -> Self;
    /// Lane-wise `self * other`, rounded by itself: never fused with an addition.
    ///
    /// # Safety
    /// *isa* (see the trait).
    unsafe fn mul(self, other: Self) -> Self;
}

/// A vector register of bytes, for quantised boxes. Duties as for [`Lanes`].
pub trait Bytes: Copy {
    /// Lanes per register, at most 64.
    const N: usize;

    /// All lanes the same.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn splat(value: u8) -> Self;
    /// Reads `N` bytes from `from`, unaligned.
    ///
    /// # Safety
    /// *isa*; *in bounds*: `from` is valid for reading `N` bytes.
    unsafe fn load(from: *const u8) -> Self;
    /// Lane-wise `max(self - other, 0)`: zero where `self <= other`.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn excess(self, other: Self) -> Self;
    /// Bitwise or.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn or(self, other: Self) -> Self;
    /// One bit per lane that is zero, lane 0 lowest.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn zeros(self) -> u64;
    /// One bit per lane in which every one of `own` is at most its counterpart, lane 0 lowest.
    ///
    /// # Safety
    /// *isa*.
    #[inline(always)]
    unsafe fn all_at_most<const K: usize>(own: [Self; K], others: [Self; K]) -> u64 {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let mut beyond = own[0].excess(others[0]);
            for k in 1..K {
                beyond = beyond.or(own[k].excess(others[k]));
            }
            beyond.zeros()
        }
    }
}

/// Eight lanes of `u16`: one quantised record. Duties as for [`Lanes`].
pub trait Words: Copy {
    /// Reads eight words.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn load(from: &[u16; 8]) -> Self;
    /// The upper bytes of lanes 2 to 5, lane 2 lowest.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn upper_bytes(self) -> u32;
    /// Lays sixteen records side by side, from `into` on, with `stride` bytes between the places: the upper bytes of lanes 2 to 5, then of lanes
    /// 0 and 1, inverted.
    ///
    /// # Safety
    /// *isa*; *in bounds*: there are sixteen records, and each of these places takes sixteen bytes.
    #[inline(always)]
    unsafe fn lay_out(records: *const [u16; 8], into: *mut u8, stride: usize) {
        for (place, lane) in [2, 3, 4, 5, 0, 1].into_iter().enumerate() {
            for at in 0..16 {
                // SAFETY: (in bounds) the caller's duty.
                unsafe { *into.add(place * stride + at) = !((*records.add(at))[lane] >> 8) as u8 };
            }
        }
    }
    /// Of a record in words `min.x, !max.x, min.y, min.z, !max.y, !max.z, id`, what none of another's words exceeds if the two
    /// overlap: `max.x, !min.x, max.y, max.z, !min.y, !min.z`, and no bound on ids.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn reach(self) -> Self;
    /// Lane-wise `max(self - other, 0)`.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn excess(self, other: Self) -> Self;
    /// Bitwise or.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn or(self, other: Self) -> Self;
    /// Two bits per lane that equals the other's, lane 0 lowest.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn equal(self, other: Self) -> u32;
    /// Two bits per lane that is zero, lane 0 lowest.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn zeros(self) -> u32;
}

/// One instruction set. A value of an implementing type is the proof that the CPU has it.
pub trait Simd: Copy {
    /// Are the instructions of AVX2 among them?
    const HAS_AVX2: bool = false;
    /// Registers of `f32`.
    type F32: Lanes<Scalar = f32>;
    /// Registers of `f64`.
    type F64: Lanes<Scalar = f64>;
    /// Registers of bytes.
    type U8: Bytes;
    /// Eight words.
    type U16: Words;
}
