//! Single instructions that safe Rust does not offer: prefetching, and the truncation of coordinates to the lattice.

use super::arch::Truncate;

/// Prefetches a cache line. Affects nothing but time.
#[inline(always)]
fn prefetch_address(target: *const i8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: (isa) SSE is part of x86-64; a prefetch takes any address, and has no effect that a program can see.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(target);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}

/// Prefetches the cache line of `list[at]`, inside or just after the list, which is written soon. Affects nothing but time.
#[inline(always)]
pub(crate) fn prefetch_for_writing<X>(list: &[X], at: usize) {
    prefetch_address(list.as_ptr().wrapping_add(at).cast());
}

/// Prefetches `slice[index]`, if there is such an element. Affects nothing but time.
#[inline(always)]
pub(crate) fn prefetch<V>(slice: &[V], index: usize) {
    let Some(value) = slice.get(index) else { return };
    let first = std::ptr::from_ref(value).cast::<i8>();
    prefetch_address(first);
    if size_of::<V>() > 16 {
        prefetch_address(first.wrapping_add(size_of::<V>() - 1));
    }
}

/// Cache lines that will be read later, prefetched one by one during other work: a burst of prefetches would delay all other loads.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrefetchList {
    /// The addresses of the lines.
    lines: Vec<usize>,
    /// How many of them have been prefetched.
    prefetched: usize,
}

impl PrefetchList {
    /// Replaces the list by the lines of some slices.
    pub(crate) fn set<V>(&mut self, slices: &[&[V]]) {
        self.lines.clear();
        self.prefetched = 0;
        for slice in slices {
            let start = slice.as_ptr().addr();
            // Without memory for the list, nothing is prefetched.
            if self.lines.try_reserve(size_of_val(*slice) / LINE + 1).is_ok() {
                self.lines.extend((start..start + size_of_val(*slice)).step_by(LINE)); // reserved
            }
        }
    }

    /// Prefetches the next line.
    #[inline(always)]
    pub(crate) fn prefetch_next(&mut self) {
        if let Some(&line) = self.lines.get(self.prefetched) {
            self.prefetched += 1;
            prefetch_address(std::ptr::without_provenance(line));
        }
    }

    /// Prefetches the next few lines, so many that `calls` calls prefetch all.
    #[inline(always)]
    pub(crate) fn prefetch_some(&mut self, calls: usize) {
        (0..self.lines.len().div_ceil(calls)).for_each(|_| self.prefetch_next());
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.capacity() * size_of::<usize>()
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Lattice coordinates are below this.
pub(crate) const LATTICE_END: i32 = 1 << 30;
/// The last place that a float is clamped to: exact in `f32`, whose steps are 64 there.
pub(crate) const LAST_PLACE: i32 = LATTICE_END - 64;

macro_rules! truncate {
    ($t:ty) => {
        impl Truncate for $t {
            #[inline(always)]
            fn truncate(self) -> i32 {
                const TOP: $t = LAST_PLACE as $t;
                // Written so that NaN becomes the bound, and each line is one instruction.
                let value = if self > 0.0 { self } else { 0.0 };
                let value = if value < TOP { value } else { TOP };
                // SAFETY: (in range) 0 <= value < 2^30, and not NaN.
                unsafe { value.to_int_unchecked() }
            }
        }
    };
}

truncate!(f32);
truncate!(f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncation_saturates_and_maps_nan_to_zero() {
        for (value, expected) in [(f32::NAN, 0), (-1.0, 0), (3.99, 3), (f32::INFINITY, LATTICE_END - 64), (2e9, LATTICE_END - 64)]
        {
            assert_eq!(value.truncate(), expected);
            assert_eq!(f64::from(value).truncate(), expected);
        }
    }
}
