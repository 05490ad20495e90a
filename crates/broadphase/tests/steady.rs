//! No allocation in the steady state: once buffers have met the largest frame, frames come and go without the allocator.
//!
//! A binary of its own, since it replaces the allocator. Counts are per thread: the frames run on the test's own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;

use broadphase::{
    Aabb, Ball, Changes, Context, Frame, PairStore, Ray, Real, Report, Shape, Spec, Swept, Tag, World2, World3, algorithms, step,
};

/// The system's allocator, with a count of calls that ask for memory.
struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// The calls of this thread so far.
fn calls() -> u64 {
    CALLS.with(Cell::get)
}

fn count() {
    CALLS.with(|calls| calls.set(calls.get() + 1));
}

// SAFETY: (allocator) every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: (allocator) the caller's duties, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: (allocator) the caller's duties, passed on.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: (allocator) the caller's duties, passed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Enough for several tiles, leaves and chunks.
const N: usize = 1200;
/// The motion repeats after that many frames.
const PERIOD: usize = 5;
/// Periods before counting, and counted.
const WARM_UP: usize = 5;
const COUNTED: usize = 2;

/// One frame of the motion: its boxes, and which objects differ from the frame before it.
struct Moment<const D: usize, T> {
    boxes: Vec<Aabb<D, T>>,
    moved: Vec<u32>,
}

/// Equal cubes on a jittered lattice, each on its own small orbit; every fifth object stands still. Coordinates are multiples of 1/8,
/// so that the cubes stay exactly equal, as some algorithms want; and so near that their balls touch too.
fn motion<const D: usize, T: Real>() -> Vec<Moment<D, T>> {
    let per_axis = (N as f64).powf(1.0 / D as f64).ceil() as usize;
    let place = |id: usize, phase: usize| -> Aabb<D, T> {
        let corner: [f64; D] = std::array::from_fn(|k| {
            let jitter = ((id * 40_503) >> (4 + 3 * k)) % 8;
            let orbit = if id.is_multiple_of(5) { 0 } else { (phase + id + 2 * k) % PERIOD };
            let swing = orbit.min(PERIOD - orbit);
            (id / per_axis.pow(k as u32) % per_axis) as f64 * 1.25 + (jitter + swing) as f64 / 8.0
        });
        Aabb::new(corner.map(T::from_f64), corner.map(|c| T::from_f64(c + 1.0)))
    };
    let frame = |phase: usize| -> Vec<Aabb<D, T>> { (0..N).map(|id| place(id, phase)).collect() };
    let moments = (0..PERIOD).map(|phase| {
        let (boxes, last) = (frame(phase), frame((phase + PERIOD - 1) % PERIOD));
        let moved = (0..N as u32).filter(|&id| boxes[id as usize] != last[id as usize]).collect();
        Moment { boxes, moved }
    });
    moments.collect()
}

/// The allocations of the counted periods, for one way of telling the changes.
fn allocations<const D: usize, T: Real>(spec: &Spec, moments: &[Moment<D, T>], tell: &str, report: Report) -> u64 {
    let shape = if spec.descriptor().shapes.contains(&Shape::Box) { Shape::Box } else { Shape::Ball };
    let mut structure = spec.build::<D, T>().expect("listed for this dimension");
    let (mut context, mut store) = (Context::new(), PairStore::new(report));
    let mut before = 0;
    for number in 0..(WARM_UP + COUNTED) * PERIOD {
        let moment = &moments[number % PERIOD];
        let changes = match tell {
            "unknown" => Changes::Unknown,
            "listed" if number > 0 => Changes::Listed { moved: &moment.moved, inserted: &[], removed: &[] },
            _ => Changes::All,
        };
        if number == WARM_UP * PERIOD {
            before = calls();
        }
        let frame = Frame { shape, changes, ..Frame::new(&moment.boxes) };
        step(&mut *structure, &frame, &mut context, &mut store).expect("a good frame");
    }
    let spent = calls() - before;
    assert!(!store.is_empty(), "the motion has pairs");
    spent
}

fn check<const D: usize, T: Real>(spec: &Spec, failures: &mut Vec<String>) {
    let moments = motion::<D, T>();
    for (tell, report) in [("unknown", Report::All), ("all", Report::All), ("listed", Report::All), ("listed", Report::Both)] {
        let spent = allocations::<D, T>(spec, &moments, tell, report);
        if spent > 0 {
            failures.push(format!("{spec} in {D}D {}: {spent} allocations, changes {tell}, {report:?}", T::NAME));
        }
    }
}

#[test]
fn the_steady_state_does_not_allocate() {
    let before = calls();
    drop(std::hint::black_box(Box::new(1)));
    assert!(calls() > before, "the allocator counts");

    let only = std::env::var("BROADPHASE_ONLY").unwrap_or_default();
    let mut failures = Vec::new();
    for descriptor in algorithms::list() {
        if !only.is_empty() && !only.split(',').any(|name| name == descriptor.name) {
            continue;
        }
        let spec: Spec = descriptor.name.parse().expect("a listed name");
        if descriptor.dims.contains(&2) {
            check::<2, f32>(&spec, &mut failures);
        }
        if descriptor.dims.contains(&3) {
            check::<3, f32>(&spec, &mut failures);
            check::<3, f64>(&spec, &mut failures);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A world adds nothing of its own: handles, margins, tags, whole frames and single moves, differences, the pairs of one object.
#[test]
fn a_world_of_movers_does_not_allocate() {
    let moments = motion::<2, f32>();
    let mut world = World2::new();
    world.set_algorithm(&"brute-force".parse().expect("a listed name")).expect("it suits boxes");
    let handles = world.insert_many(&moments[0].boxes).expect("good boxes");
    world.set_world_margin(0.125).expect("a good margin");
    world.set_tag(handles[0], Tag::new(1, 1)).expect("a good handle");
    let mut before = 0;
    for number in 0..(WARM_UP + COUNTED) * PERIOD {
        if number == WARM_UP * PERIOD {
            before = calls();
        }
        let boxes = &moments[number % PERIOD].boxes;
        if number % 2 == 0 {
            world.set_boxes(boxes).expect("a good frame");
        } else {
            handles.iter().zip(boxes).for_each(|(&handle, &aabb)| world.set_box(handle, aabb).expect("a good box"));
        }
        let update = world.update().expect("a good frame");
        assert!(!update.is_empty() && world.pairs().count() as u64 == update.len());
        assert!(world.pairs_of(handles[7]).expect("a good handle").count() < N);
    }
    assert_eq!(calls() - before, 0);
}

/// Questions of every kind, each frame: what the structure prepares for them is prepared in buffers that stay.
#[test]
fn questions_do_not_allocate() {
    let moments = motion::<3, f32>();
    for name in ["auto", "tiles:target=64", "brute-force", "hash-grid", "sweep", "octree"] {
        let mut world = World3::new();
        world.set_algorithm(&name.parse().expect("a listed name")).expect("it suits boxes");
        world.insert_many(&moments[0].boxes).expect("good boxes");
        let (mut near, mut before, mut seen) = (Vec::new(), 0, 0);
        for number in 0..(WARM_UP + COUNTED) * PERIOD {
            if number == WARM_UP * PERIOD {
                before = calls();
            }
            world.set_boxes(&moments[number % PERIOD].boxes).expect("a good frame");
            let reader = world.read().expect("a reader");
            let count = |_| {
                seen += 1;
                ControlFlow::Continue(())
            };
            reader.in_box(&Aabb::new([2.0; 3], [5.0; 3]), count).expect("a good box");
            reader.in_ball(&Ball { center: [5.0; 3], radius: 2.0 }, |_| ControlFlow::Continue(())).expect("a good ball");
            reader.first_along_ray(&Ray::new([0.0; 3], [1.0, 0.9, 0.8], 99.0)).expect("a good ray");
            reader.first_along_swept(&Swept::new(Aabb::point([0.0; 3]), [9.0, 8.0, 9.5])).expect("a good motion");
            reader.nearest([4.0; 3], 5, &mut near).expect("a good point");
        }
        assert_eq!(calls() - before, 0, "{name}");
        assert!(seen > 0 && near.len() == 5);
    }
}
