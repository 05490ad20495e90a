//! A pair of objects, and the hash of a set of pairs.

/// Two objects whose boxes overlap, in canonical order: `a < b`.
///
/// In results of two sets, `a` is an index into the first and `b` into the second, so `a < b` need not hold.
/// Plain data: two `u32`, castable with `bytemuck`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pair {
    /// The smaller id.
    pub a: u32,
    /// The larger id.
    pub b: u32,
}

/// By the first id, then by the second, in a single comparison: lists of pairs are sorted in every frame that reports events.
impl Ord for Pair {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Pair {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Pair {
    /// The canonical pair of two ids.
    ///
    /// ```
    /// use broadphase::Pair;
    /// assert_eq!(Pair::new(7, 3), Pair { a: 3, b: 7 });
    /// ```
    #[inline(always)]
    pub fn new(x: u32, y: u32) -> Self {
        Self { a: x.min(y), b: x.max(y) }
    }

    /// `a << 32 | b`: orders as pairs do.
    #[inline(always)]
    pub fn key(self) -> u64 {
        u64::from(self.a) << 32 | u64::from(self.b)
    }

    /// The other object, if `id` is one of the two.
    #[inline(always)]
    pub fn other(self, id: u32) -> Option<u32> {
        if self.a == id {
            Some(self.b)
        } else if self.b == id {
            Some(self.a)
        } else {
            None
        }
    }
}

/// The order-independent hash of a set of pairs: the wrapping sum of MurmurHash3's 64-bit finalizer over [`Pair::key`].
///
/// ```
/// use broadphase::{Pair, pairs_hash};
/// let (p, q) = (Pair::new(0, 1), Pair::new(4, 2));
/// assert_eq!(pairs_hash(&[p, q]), pairs_hash(&[q, p]));
/// ```
pub fn pairs_hash(pairs: &[Pair]) -> u64 {
    pairs.iter().fold(0, |sum: u64, pair| sum.wrapping_add(finalize(pair.key())))
}

fn finalize(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}
