//! Guard pages: every allocation ends at a page that cannot be touched, or begins behind one, so that a load or store out of bounds by one byte ends
//! the process. All algorithms run so, with every instruction set that the CPU has: the kernels' reads ahead and their tails stay inside.
//!
//! A binary of its own, since it replaces the allocator. Linux only: it maps pages itself.
#![cfg(target_os = "linux")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::{c_int, c_long, c_void};

use broadphase::{
    Aabb, Context, Frame, Isa, Kernels, NeighborSearch, PairStore, Probes, Real, Report, Shape, Spec, algorithms, step,
};
use broadphase_testing::{Random, naive};

unsafe extern "C" {
    fn mmap(at: *mut c_void, length: usize, protection: c_int, flags: c_int, file: c_int, offset: c_long) -> *mut c_void;
    fn munmap(at: *mut c_void, length: usize) -> c_int;
    fn mprotect(at: *mut c_void, length: usize, protection: c_int) -> c_int;
}

const PAGE: usize = 4096;
const READ_WRITE: c_int = 3;
const PRIVATE_ANONYMOUS: c_int = 0x22;

/// Where the guard page is.
#[derive(Clone, Copy, PartialEq)]
enum Guard {
    None,
    Behind,
    Before,
}

thread_local! {
    static GUARD: Cell<Guard> = const { Cell::new(Guard::None) };
}

/// Maps pages of its own for allocations of a guarded thread; all others are the system's. A table of addresses tells them apart.
struct Guarded;

/// Addresses of guarded allocations, and where their pages start: an open table, large enough for a test.
mod table {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    const SLOTS: usize = 1 << 16;
    static ADDRESSES: [AtomicUsize; SLOTS] = [const { AtomicUsize::new(0) }; SLOTS];
    static STARTS: [AtomicUsize; SLOTS] = [const { AtomicUsize::new(0) }; SLOTS];
    /// An address was here.
    const GONE: usize = 1;

    fn slot(at: usize, k: usize) -> usize {
        ((at >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40).wrapping_add(k) % SLOTS
    }

    /// False if there is no room.
    pub fn insert(at: usize, start: usize) -> bool {
        (0..SLOTS).map(|k| slot(at, k)).any(|slot| {
            let free = ADDRESSES[slot].load(SeqCst);
            let taken = free <= GONE && ADDRESSES[slot].compare_exchange(free, at, SeqCst, SeqCst).is_ok();
            if taken {
                STARTS[slot].store(start, SeqCst);
            }
            taken
        })
    }

    /// Where the pages of an address start, if it is in the table; it is not afterwards.
    pub fn remove(at: usize) -> Option<usize> {
        for slot in (0..SLOTS).map(|k| slot(at, k)) {
            match ADDRESSES[slot].load(SeqCst) {
                0 => return None,
                found if found == at => {
                    let start = STARTS[slot].load(SeqCst);
                    ADDRESSES[slot].store(GONE, SeqCst);
                    return Some(start);
                }
                _ => {}
            }
        }
        None
    }
}

/// The pages of an allocation, with one that cannot be touched on either side.
fn mapped(layout: &Layout) -> usize {
    layout.size().max(1).next_multiple_of(PAGE) + 2 * PAGE
}

// SAFETY: (allocator) memory is the system's, or pages of its own that are as large and aligned as asked for and are unmapped once.
unsafe impl GlobalAlloc for Guarded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let guard = GUARD.try_with(Cell::get).unwrap_or(Guard::None);
        if guard == Guard::None || layout.align() > PAGE {
            // SAFETY: (allocator) the caller's duties, passed on.
            return unsafe { System.alloc(layout) };
        }
        let length = mapped(&layout);
        // SAFETY: (allocator) fresh pages, of which all but the first and the last may be used.
        unsafe {
            let start = mmap(std::ptr::null_mut(), length, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0).cast::<u8>();
            if start.addr() == usize::MAX {
                return std::ptr::null_mut();
            }
            let (first, last) = (start.addr() + PAGE, start.addr() + length - PAGE);
            let at = if guard == Guard::Before { first } else { (last - layout.size()) & !(layout.align() - 1) };
            if !table::insert(at, start.addr()) {
                return std::ptr::null_mut();
            }
            start.write_bytes(0xa5, length); // what was never written is not zero
            mprotect(start.cast(), PAGE, 0);
            mprotect(start.with_addr(last).cast(), PAGE, 0);
            start.with_addr(at)
        }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        match table::remove(at.addr()) {
            // SAFETY: (allocator) the mapping that `alloc` made.
            Some(start) => _ = unsafe { munmap(at.with_addr(start).cast(), mapped(&layout)) },
            // SAFETY: (allocator) it was the system's.
            None => unsafe { System.dealloc(at, layout) },
        }
    }
}

#[global_allocator]
static ALLOCATOR: Guarded = Guarded;

/// Calls with every allocation of this thread between guard pages.
fn guarded<R>(guard: Guard, call: impl FnOnce() -> R) -> R {
    GUARD.with(|cell| cell.set(guard));
    let result = call();
    GUARD.with(|cell| cell.set(Guard::None));
    result
}

/// Counts around the widths of registers and blocks.
const COUNTS: [usize; 9] = [1, 2, 15, 17, 31, 33, 65, 129, 300];

fn boxes<const D: usize, T: Real>(count: usize, seed: u64) -> Vec<Aabb<D, T>> {
    let mut random = Random(seed);
    let side = (count as f64).powf(1.0 / D as f64) * 1.2;
    let corner = |c: T| (c * T::from_f64(4.0)).floor() / T::from_f64(4.0);
    let cube = |value: Aabb<D, T>| Aabb::new(value.min.map(corner), value.min.map(|c| corner(c) + T::from_f64(1.5)));
    (0..count).map(|_| cube(random.cube(side, 1.5))).collect()
}

/// Frames, probes and a query of one algorithm, in lists that end where their memory ends.
fn follow<const D: usize, T: Real>(spec: &Spec, kernels: Kernels, count: usize) {
    let shape = if spec.descriptor().shapes.contains(&Shape::Box) { Shape::Box } else { Shape::Ball };
    let mut structure = spec.build::<D, T>().expect("listed");
    let (mut context, mut store) = (Context::new().with_kernels(kernels), PairStore::new(Report::Both));
    for seed in 1..4 {
        let boxes = boxes::<D, T>(count, seed);
        let frame = Frame { shape, ..Frame::new(&boxes) };
        step(&mut *structure, &frame, &mut context, &mut store).expect("a good frame");
        naive::assert_holds(&store, &naive::pairs(&frame), &format!("{spec} {D}D {} {count}", kernels.isa()));
        let mut found = PairStore::new(Report::All);
        if structure
            .probe(&frame, Probes { boxes: &boxes[..count.min(5)], ids: None, recurring: false }, &mut context, &mut found)
            .is_ok()
        {
            assert!(!found.is_empty(), "{spec}: probes overlap themselves");
        }
        if let Some(query) = structure.reader() {
            query.in_box(&frame, &boxes[0], &mut |_| std::ops::ControlFlow::Continue(()));
        }
    }
}

#[test]
fn no_kernel_reads_or_writes_past_the_end_of_a_list_or_before_it() {
    let names = algorithms::list().iter().map(|descriptor| descriptor.name);
    let specs: Vec<Spec> = names.chain(["tiles:target=32", "kd-tree:t=8"]).map(|name| name.parse().expect("listed")).collect();
    for guard in [Guard::Behind, Guard::Before] {
        for kernels in Isa::available().filter_map(Kernels::new) {
            for (spec, count) in specs.iter().flat_map(|spec| COUNTS.map(|count| (spec, count))) {
                guarded(guard, || follow::<3, f32>(spec, kernels, count));
                guarded(guard, || follow::<2, f64>(spec, kernels, count));
            }
        }
    }
}

#[test]
fn neighbors_stay_inside_their_lists() {
    for guard in [Guard::Behind, Guard::Before] {
        for count in COUNTS {
            guarded(guard, || {
                let points: Vec<[f32; 3]> = boxes::<3, f32>(count, 9).iter().map(|value| value.min).collect();
                let near = NeighborSearch::new(&points, 1.0).distances().list().expect("sound points");
                assert_eq!(near.len(), count);
            });
        }
    }
}

/// The guard itself works: the byte behind an allocation is in a page that ends the process, which a child shows.
#[test]
fn a_byte_behind_an_allocation_ends_the_process() {
    const VARIABLE: &str = "BROADPHASE_GUARD_CHILD";
    if std::env::var(VARIABLE).is_ok() {
        let list = guarded(Guard::Behind, || vec![1u8; 100]);
        // SAFETY: none: the read is out of bounds, on purpose, in a process of its own that it ends.
        let beyond = unsafe { list.as_ptr().add(100).read_volatile() };
        println!("survived with {beyond}");
        return;
    }
    let this = std::env::current_exe().expect("this binary");
    let arguments = ["--exact", "a_byte_behind_an_allocation_ends_the_process", "--nocapture"];
    let output = std::process::Command::new(this).args(arguments).env(VARIABLE, "1").output().expect("a child");
    assert!(!output.status.success() && !String::from_utf8_lossy(&output.stdout).contains("survived"));
}
