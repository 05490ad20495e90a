//! The allocator that refuses.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The system's allocator, which counts the requests of some threads while it is armed, and refuses some.
struct Refusing;

thread_local! {
    static IS_COUNTED: Cell<bool> = const { Cell::new(false) };
}

static IS_ARMED: AtomicBool = AtomicBool::new(false);
static REQUESTS: AtomicUsize = AtomicUsize::new(0);
static REFUSED: AtomicUsize = AtomicUsize::new(0);
static NUMBER: AtomicUsize = AtomicUsize::new(0);
static STAYS: AtomicBool = AtomicBool::new(false);
/// One trial at a time: threads of a pool count in every frame that they work on.
pub static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Which requests are refused: that number, counted from 0, and with `stays` all after it.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    pub number: usize,
    pub stays: bool,
}

/// From now on, requests of this thread count.
pub fn count_this_thread() {
    IS_COUNTED.with(|is| is.set(true));
}

/// From now on, requests of this thread do not count.
pub fn ignore_this_thread() {
    IS_COUNTED.with(|is| is.set(false));
}

/// How many requests were refused so far.
pub fn refused() -> usize {
    REFUSED.load(Relaxed)
}

/// Calls `call` under a refusal. Returns also whether anything was refused.
pub fn refuse<R>(refusal: Refusal, call: impl FnOnce() -> R) -> (R, bool) {
    count_this_thread();
    let before = refused();
    REQUESTS.store(0, Relaxed);
    NUMBER.store(refusal.number, Relaxed);
    STAYS.store(refusal.stays, Relaxed);
    IS_ARMED.store(true, Relaxed);
    let result = call();
    IS_ARMED.store(false, Relaxed);
    ignore_this_thread();
    (result, refused() > before)
}

fn grants(size: usize) -> bool {
    if !IS_ARMED.load(Relaxed) || !IS_COUNTED.with(Cell::get) {
        return true;
    }
    let (request, number) = (REQUESTS.fetch_add(1, Relaxed), NUMBER.load(Relaxed));
    let is_refused = request == number || (STAYS.load(Relaxed) && request > number);
    if is_refused {
        REFUSED.fetch_add(1, Relaxed);
        IS_COUNTED.with(|is| is.set(false));
        if std::env::var_os("BROADPHASE_FAULT_TRACE").is_some() {
            eprintln!("request {request} of {size} bytes is refused\n{}", std::backtrace::Backtrace::force_capture());
        }
        IS_COUNTED.with(|is| is.set(true));
    }
    !is_refused
}

// SAFETY: (allocator) every call goes to the system's allocator unchanged, or returns null, which means that it failed.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: (allocator) the caller's duties, passed on.
        if grants(layout.size()) { unsafe { System.alloc(layout) } } else { std::ptr::null_mut() }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: (allocator) the caller's duties, passed on.
        if grants(layout.size()) { unsafe { System.alloc_zeroed(layout) } } else { std::ptr::null_mut() }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: (allocator) the caller's duties, passed on.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: (allocator) the caller's duties, passed on.
        if grants(size) { unsafe { System.realloc(at, layout, size) } } else { std::ptr::null_mut() }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;
