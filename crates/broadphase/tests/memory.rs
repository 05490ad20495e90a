//! Memory: frames with infinite objects and with several sizes do not allocate once buffers are warm, and an allocation that is refused is
//! an error, never a shorter list.
//!
//! A binary of its own, since it replaces the allocator. Counts and refusals are per thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use broadphase::implement::{Revision, WritePairs};
use broadphase::{Aabb, Changes, Context, Frame, Pair, PairStore, Real, Report, Shape, Spec, algorithms, step};

/// The system's allocator, which counts calls that ask for memory, and refuses requests above a size.
struct Guarded;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Counts a call, and says whether it is granted.
fn grants(size: usize) -> bool {
    CALLS.with(|calls| calls.set(calls.get() + 1));
    size <= LARGEST.with(Cell::get)
}

// SAFETY: (allocator) every call goes to the system's allocator unchanged, or returns null, which means that it failed.
unsafe impl GlobalAlloc for Guarded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: (allocator) the caller's duties, passed on.
        if grants(layout.size()) { unsafe { System.alloc(layout) } } else { std::ptr::null_mut() }
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
static ALLOCATOR: Guarded = Guarded;

/// Calls `call` with all requests for more than `largest` bytes refused.
fn refusing<R>(largest: usize, call: impl FnOnce() -> R) -> R {
    LARGEST.with(|limit| limit.set(largest));
    let result = call();
    LARGEST.with(|limit| limit.set(usize::MAX));
    result
}

/// The listed algorithms that take boxes, and a few with options, less what `BROADPHASE_ONLY` leaves out.
fn specs() -> Vec<Spec> {
    let only = std::env::var("BROADPHASE_ONLY").unwrap_or_default();
    let names = algorithms::list().iter().filter(|d| d.shapes.contains(&Shape::Box)).map(|d| d.name);
    let extra =
        ["hash-grid:threshold=0", "hash-grid-reinsert:threshold=0", "kd-tree:t=32", "octree:split=8", "grid-sap:resweep=true"];
    let all = names.chain(extra).map(|name| name.parse::<Spec>().expect("a listed name"));
    all.filter(|spec| only.is_empty() || only.split(',').any(|name| name == spec.descriptor().name)).collect()
}

/// Objects, and frames after which the motion repeats.
const N: usize = 1200;
const PERIOD: usize = 5;
/// Periods before counting, and counted.
const WARM_UP: usize = 12;
const COUNTED: usize = 4;

/// One phase of the motion: boxes of several sizes, long ones among them, on small orbits; with `infinite`, also a floor and a wall.
fn moment<const D: usize, T: Real>(phase: usize, infinite: bool, sizes: &[f64]) -> Vec<Aabb<D, T>> {
    let per_axis = (N as f64).powf(1.0 / D as f64).ceil() as usize;
    let place = |id: usize| -> Aabb<D, T> {
        let size = sizes[id % sizes.len()];
        let corner: [f64; D] = std::array::from_fn(|k| {
            let swing = if id.is_multiple_of(5) { 0 } else { (phase + id + 2 * k) % PERIOD };
            (id / per_axis.pow(k as u32) % per_axis) as f64 * 2.0 + swing.min(PERIOD - swing) as f64 * 0.4
        });
        let side = |k: usize| if k == 0 && id % 11 == 3 { size * 6.0 } else { size };
        Aabb::new(corner.map(T::from_f64), std::array::from_fn(|k| T::from_f64(corner[k] + side(k))))
    };
    let mut boxes: Vec<_> = (0..N).map(place).collect();
    if infinite {
        boxes[7] = Aabb::everything();
        boxes[7].max[D - 1] = T::from_f64(0.5);
        boxes[500].min[0] = T::NEG_INFINITY;
    }
    boxes
}

fn steady_frames_do_not_allocate<const D: usize, T: Real>(infinite: bool, sizes: &[f64], failures: &mut Vec<String>) {
    let moments: Vec<_> = (0..PERIOD).map(|phase| moment::<D, T>(phase, infinite, sizes)).collect();
    let moved: Vec<u32> = (0..N as u32).filter(|id| !id.is_multiple_of(5)).collect();
    for spec in specs() {
        for listed in [false, true] {
            let mut structure = spec.build::<D, T>().expect("listed for this dimension");
            let (mut context, mut store) = (Context::new(), PairStore::default());
            let mut before = 0;
            for number in 0..(WARM_UP + COUNTED) * PERIOD {
                if number == WARM_UP * PERIOD {
                    before = CALLS.with(Cell::get);
                }
                let changes = match listed && number > 0 {
                    true => Changes::Listed { moved: &moved, inserted: &[], removed: &[] },
                    false => Changes::Unknown,
                };
                let frame = Frame::new(&moments[number % PERIOD]).with_changes(changes);
                step(&mut *structure, &frame, &mut context, &mut store).expect("a good frame");
            }
            let spent = CALLS.with(Cell::get) - before;
            assert!(!store.is_empty(), "the motion has pairs");
            if spent > 0 {
                failures.push(format!("{spec} in {D}D {}: {spent} allocations, listed {listed}", T::NAME));
            }
        }
    }
}

#[test]
fn frames_with_infinite_objects_do_not_allocate() {
    let mut failures = Vec::new();
    steady_frames_do_not_allocate::<2, f64>(true, &[1.5], &mut failures);
    steady_frames_do_not_allocate::<3, f32>(true, &[1.5], &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn frames_with_several_sizes_do_not_allocate() {
    let sizes = [1.0, 0.9, 2.5, 1.2, 7.0, 1.0, 0.2, 0.05, 30.0];
    let mut failures = Vec::new();
    steady_frames_do_not_allocate::<2, f32>(false, &sizes, &mut failures);
    steady_frames_do_not_allocate::<3, f32>(false, &sizes, &mut failures);
    steady_frames_do_not_allocate::<3, f64>(true, &sizes, &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Objects whose pairs take more memory than is granted, while every other buffer takes less.
const CROWD: usize = 400;
const GRANTED: usize = 100_000;

#[test]
fn a_refused_allocation_is_an_error_and_never_a_shorter_list() {
    let apart: Vec<Aabb<3, f32>> = (0..CROWD).map(|i| Aabb::from_center([i as f32 * 9.0, 0.0, 0.0], [1.0; 3])).collect();
    let together: Vec<Aabb<3, f32>> = (0..CROWD).map(|i| Aabb::from_center([i as f32 * 1e-3, 0.0, 0.0], [1.0; 3])).collect();
    let all: Vec<u32> = (0..CROWD as u32).collect();
    let expected = CROWD as u64 * (CROWD as u64 - 1) / 2;
    for spec in &specs() {
        for changes in [Changes::Unknown, Changes::Listed { moved: &all, inserted: &[], removed: &[] }] {
            let mut structure = spec.build::<3, f32>().expect("listed for this dimension");
            let (mut context, mut store) = (Context::new(), PairStore::default());
            for _ in 0..3 {
                step(&mut *structure, &Frame::new(&apart), &mut context, &mut store).expect("a good frame");
            }
            let frame = Frame::new(&together).with_changes(changes);
            let result = refusing(GRANTED, || step(&mut *structure, &frame, &mut context, &mut store));
            let found = store.len();
            match &result {
                Ok(()) => assert_eq!(found, expected, "{spec}: a shorter list"),
                Err(error) => assert_eq!(error.code(), "out-of-memory", "{spec}"),
            }
            if spec.descriptor().name == "brute-force" {
                assert!(result.is_err(), "the pairs take more than was granted");
            }
            step(&mut *structure, &Frame::new(&together), &mut context, &mut store).expect("memory is there again");
            assert_eq!(store.len(), expected, "{spec}: the frame after it");
        }
    }
}

/// A chunk whose buffer is exactly full, and cannot grow: its pairs stay, and what an edit adds is an error.
#[test]
fn a_full_chunk_that_cannot_grow_keeps_its_pairs() {
    let boxes = [Aabb::new([0.0f32; 2], [1.0; 2]); 1];
    let (frame, context) = (Frame::new(&boxes), Context::new());
    let mut store = PairStore::new(Report::Both);
    let full = 1 << 14;
    store.begin(&frame, &context, Revision::default(), 1).unwrap();
    store.rewrite(0, 0, &frame, |hits| (0..full).for_each(|k| hits.push(Pair { a: k, b: k + 1 })));
    let revision = store.finish(&context, 1).expect("no limit");
    // The buffer for the pairs that leave does not fit: nothing changes.
    assert!(store.begin(&frame, &context, revision, 1).unwrap());
    refusing(GRANTED, || store.edit(0, 0, &frame, |_| false, |_| ()));
    assert_eq!(store.finish(&context, 1).map(|_| ()).unwrap_err().code(), "out-of-memory");
    assert_eq!(store.len(), u64::from(full));
    store.begin(&frame, &context, Revision::default(), 1).unwrap();
    store.rewrite(0, 0, &frame, |hits| (0..full).for_each(|k| hits.push(Pair { a: k, b: k + 1 })));
    let revision = store.finish(&context, 1).expect("no limit");
    // An edit without new pairs first, for that buffer.
    assert!(store.begin(&frame, &context, revision, 1).unwrap());
    store.edit(0, 0, &frame, |_| true, |_| ());
    let revision = store.finish(&context, 1).expect("no limit");
    assert!(store.begin(&frame, &context, revision, 1).unwrap());
    refusing(GRANTED, || {
        store.edit(0, 0, &frame, |_| true, |hits| (0..full).for_each(|k| hits.push(Pair { a: k, b: k + 2 })));
    });
    assert_eq!(store.finish(&context, 1).map(|_| ()).unwrap_err().code(), "out-of-memory");
    assert_eq!(store.len(), u64::from(full));
}
