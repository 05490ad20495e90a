//! A hint to the memory system: what will be read soon.

/// Starts loading `slice[index]` into the cache, if there is such an element. Changes nothing but time.
#[inline(always)]
pub(crate) fn prefetch<V>(slice: &[V], index: usize) {
    let Some(value) = slice.get(index) else { return };
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(value).cast::<i8>();
        // SAFETY: (isa) SSE is part of every x86-64; (in bounds) both addresses are inside of `value`.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(first);
            if size_of::<V>() > 16 {
                _mm_prefetch::<_MM_HINT_T0>(first.add(size_of::<V>() - 1));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
