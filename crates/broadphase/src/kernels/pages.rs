//! Advice on memory pages, in one place.

/// Huge pages are this large on the systems that take the advice.
#[cfg(target_os = "linux")]
const HUGE: usize = 2 << 20;

/// Requests huge pages for the capacity of a long list that is about to be written: the scatter writes to thousands of places in
/// turn, and each small page would cost a walk through the page table. A hint, which the system may ignore.
///
/// Call it before the memory is touched: pages that exist stay as they are.
pub(crate) fn prefer_huge_pages<X>(list: &[X], room: usize) {
    #[cfg(target_os = "linux")]
    {
        use std::ffi::{c_int, c_void};
        unsafe extern "C" {
            fn madvise(start: *mut c_void, length: usize, advice: c_int) -> c_int;
        }
        const MADV_HUGEPAGE: c_int = 14;
        let start = list.as_ptr().addr().next_multiple_of(HUGE);
        let end = (list.as_ptr().addr() + room * size_of::<X>()) & !(HUGE - 1);
        if start < end {
            let first = list.as_ptr().with_addr(start).cast_mut().cast();
            // SAFETY: (layout) the advice changes neither content nor access of any page, whatever else is in it; a failure is no error.
            let _ = unsafe { madvise(first, end - start, MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (list, room);
}
