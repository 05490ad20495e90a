//! The private lane traits: registers of floats, bytes and words, which every instruction set implements.

/// The integer part of a float, by one instruction.
pub trait Truncate: Sized {
    /// The integer part, held between 0 and the last coordinate of a lattice; 0 for NaN. Monotone.
    fn truncate(self) -> i32;
}

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
/// discharges it by being generic over a [`Simd`](super::Simd) value, which exists only where the CPU has the features.
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

/// A vector register of bytes, for quantized boxes. Duties as for [`Lanes`].
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
}

/// Eight lanes of `u16`: one quantized record. Duties as for [`Lanes`].
pub trait Words: Copy {
    /// Reads eight words.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn load(from: &[u16; 8]) -> Self;
    /// The upper bytes of all lanes, lane 0 lowest.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn upper_bytes(self) -> u64;
    /// For a record in words `min.x, !max.x, min.y, min.z, !max.y, !max.z, id`: the upper bounds of the words of a record that overlaps it, which are
    /// `max.x, !min.x, max.y, max.z, !min.y, !min.z`, and no bound on the id.
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

/// Does no byte exceed its counterpart in `bound`?
///
/// Tests every other byte at once, in lanes of sixteen bits: the bit above each byte of the bound is set, and is still set after the subtraction unless the
/// byte exceeds the bound.
#[inline(always)]
fn bytes_within(bound: u64, bytes: u64) -> bool {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    const MORE: u64 = 0x0100_0100_0100_0100;
    let left = |bound: u64, bytes: u64| (bound & EVEN | MORE) - (bytes & EVEN);
    left(bound, bytes) & left(bound >> 8, bytes >> 8) & MORE == MORE
}

/// The registers of one instruction set, and comparisons over more than one register.
pub trait Registers: Copy {
    /// Registers of `f32`.
    type F32: Lanes<Scalar = f32>;
    /// Registers of `f64`.
    type F64: Lanes<Scalar = f64>;
    /// Registers of bytes.
    type U8: Bytes;
    /// Eight words.
    type U16: Words;

    /// A bit for each of `16 * G` words of four bytes, the first word's lowest: is no byte of the word above its counterpart in `bound`? `G` is at most four.
    ///
    /// # Safety
    /// *isa*; *in bounds*: `others` is valid for reading `16 * G` words.
    #[inline(always)]
    unsafe fn fours_within<const G: usize>(bound: u32, others: *const u32) -> u64 {
        // SAFETY: (in bounds) the caller's duty.
        let fits = |at: usize| bytes_within(u64::from(bound), u64::from(unsafe { *others.add(at) }));
        (0..16 * G).fold(0, |bits, at| bits | u64::from(fits(at)) << at)
    }

    /// The lowest `count` bits of `bits`; all of them if `count` is 64 or more.
    ///
    /// # Safety
    /// *isa*.
    #[inline(always)]
    unsafe fn lowest(bits: u64, count: usize) -> u64 {
        if count < 64 { bits & !(!0 << count) } else { bits }
    }

    /// One bit for each of 16 words of eight bytes, as [`fours_within`](Registers::fours_within).
    ///
    /// # Safety
    /// *isa*; *in bounds*: `others` is valid for reading 16 words.
    #[inline(always)]
    unsafe fn eights_within(bound: u64, others: *const u64) -> u64 {
        // SAFETY: (in bounds) the caller's duty.
        let fits = |at: usize| bytes_within(bound, unsafe { *others.add(at) });
        (0..16).fold(0, |bits, at| bits | u64::from(fits(at)) << at)
    }

    /// One bit for each of eight words of eight bytes that equals its counterpart among eight others.
    ///
    /// # Safety
    /// *isa*; *in bounds*: both are valid for reading eight words, unaligned.
    #[inline(always)]
    unsafe fn same_eights(words: *const u64, others: *const u64) -> u32 {
        // SAFETY: (in bounds) the caller's duty.
        let is_same = |at: usize| unsafe { words.add(at).read_unaligned() == others.add(at).read_unaligned() };
        (0..8).fold(0, |bits, at| bits | u32::from(is_same(at)) << at)
    }

    /// One bit for each of eight words of eight bytes that equals `word`.
    ///
    /// # Safety
    /// *isa*; *in bounds*: `others` is valid for reading eight words, unaligned.
    #[inline(always)]
    unsafe fn equal_eights(word: u64, others: *const u64) -> u32 {
        // SAFETY: (in bounds) the caller's duty.
        let is_equal = |at: usize| unsafe { others.add(at).read_unaligned() == word };
        (0..8).fold(0, |bits, at| bits | u32::from(is_equal(at)) << at)
    }
}
