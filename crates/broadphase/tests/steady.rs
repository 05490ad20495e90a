//! No allocation in the steady state: once buffers have met the largest frame, frames come and go without the allocator.
//!
//! A binary of its own, since it replaces the allocator. Counts are per thread, since tests run at once: a test's own thread counts for itself,
//! and the threads of a pool, once they have been told so, for the one test that uses a pool.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use broadphase::{
    Aabb, Ball, BroadPhase, Changes, Context, Executor, Frame, Object, PairStore, Ray, Real, Report, Shape, Spec, Swept, Tag,
    Threads, World2, World3, algorithms, algorithms::Descriptor, step,
};
use broadphase_testing::executors::{self, Eager, Serialized};

/// The system's allocator, with a count of calls that ask for memory.
struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    /// Is this a thread of the pool?
    static IS_OF_POOL: Cell<bool> = const { Cell::new(false) };
}

/// The calls of the pool's threads.
static POOL_CALLS: AtomicU64 = AtomicU64::new(0);

/// The calls of this thread so far.
fn calls() -> u64 {
    CALLS.with(Cell::get)
}

fn count() {
    CALLS.with(|calls| calls.set(calls.get() + 1));
    if IS_OF_POOL.with(Cell::get) {
        POOL_CALLS.fetch_add(1, Ordering::Relaxed);
    }
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
/// Periods within which the buffers of all workers have met the largest job.
const PATIENCE: usize = 60;

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

/// A structure that is shown the motion, period after period.
struct Site<'a, const D: usize, T: Real> {
    moments: &'a [Moment<D, T>],
    tell: &'static str,
    shape: Shape,
    structure: Box<dyn BroadPhase<D, T>>,
    context: Context,
    store: PairStore,
    started: bool,
}

impl<'a, const D: usize, T: Real> Site<'a, D, T> {
    fn new(spec: &Spec, moments: &'a [Moment<D, T>], (tell, report): (&'static str, Report), context: Context) -> Self {
        let shape = if spec.descriptor().shapes.contains(&Shape::Box) { Shape::Box } else { Shape::Ball };
        let structure = spec.build::<D, T>().expect("listed for this dimension");
        Self { moments, tell, shape, structure, context, store: PairStore::new(report), started: false }
    }

    /// The allocations of one period on this thread.
    fn period(&mut self) -> u64 {
        let before = calls();
        for moment in self.moments {
            let changes = match self.tell {
                "unknown" => Changes::Unknown,
                "listed" if self.started => Changes::Listed { moved: &moment.moved, inserted: &[], removed: &[] },
                _ => Changes::All,
            };
            self.started = true;
            let frame = Frame { shape: self.shape, changes, ..Frame::new(&moment.boxes) };
            step(&mut *self.structure, &frame, &mut self.context, &mut self.store).expect("a good frame");
        }
        assert!(!self.store.is_empty(), "the motion has pairs");
        calls() - before
    }
}

const WAYS: [(&str, Report); 4] =
    [("unknown", Report::All), ("all", Report::All), ("listed", Report::All), ("listed", Report::Both)];

/// Each structure, in the context that `context` makes, in three spaces; `check` says what is wrong.
fn for_each_site(context: impl Fn() -> Context, check: impl Fn(Visit<'_>) -> Option<String>) {
    fn of_space<const D: usize, T: Real>(spec: &Spec, context: &dyn Fn() -> Context, run: &mut dyn FnMut(&str, Visit<'_>)) {
        let moments = motion::<D, T>();
        for way in WAYS {
            let mut site = Site::new(spec, &moments, way, context());
            run(&format!("{spec} in {D}D {}, changes {}, {:?}", T::NAME, way.0, way.1), &mut || site.period());
        }
    }
    let only = std::env::var("BROADPHASE_ONLY").unwrap_or_default();
    let mut failures = Vec::new();
    let mut run = |name: &str, period: Visit<'_>| failures.extend(check(period).map(|wrong| format!("{name}: {wrong}")));
    for descriptor in algorithms::list() {
        if !only.is_empty() && !only.split(',').any(|name| name == descriptor.name) {
            continue;
        }
        let spec: Spec = descriptor.name.parse().expect("a listed name");
        if descriptor.dims.contains(&2) {
            of_space::<2, f32>(&spec, &context, &mut run);
        }
        if descriptor.dims.contains(&3) {
            of_space::<3, f32>(&spec, &context, &mut run);
            of_space::<3, f64>(&spec, &context, &mut run);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Shows one period; returns its allocations.
type Visit<'a> = &'a mut dyn FnMut() -> u64;

/// The allocations after the warm-up.
fn none_after_warm_up(period: Visit<'_>) -> Option<String> {
    (0..WARM_UP).for_each(|_| _ = period());
    let spent: u64 = (0..COUNTED).map(|_| period()).sum();
    (spent > 0).then(|| format!("{spent} allocations"))
}

/// Whether allocations end, within some time, as buffers of all workers have met the largest job.
fn none_in_the_end(period: Visit<'_>) -> Option<String> {
    let mut quiet = 0;
    for _ in 0..PATIENCE {
        quiet = if period() == 0 { quiet + 1 } else { 0 };
        if quiet == COUNTED {
            return None;
        }
    }
    Some(format!("still allocates after {PATIENCE} periods"))
}

#[test]
fn the_steady_state_does_not_allocate() {
    let before = calls();
    drop(std::hint::black_box(Box::new(1)));
    assert!(calls() > before, "the allocator counts");
    for_each_site(Context::new, none_after_warm_up);
}

/// The same jobs for the same workers in each period: what a worker needs, it has.
#[test]
fn the_steady_state_of_several_workers_does_not_allocate() {
    for width in [2, 3] {
        for_each_site(|| Context::new().with_executor(Serialized::forward(width)), none_after_warm_up);
    }
}

/// Threads that count their allocations in [`POOL_CALLS`].
fn counted_threads(width: usize) -> Threads {
    let Eager(threads) = executors::threads(width);
    let told = AtomicU64::new(1); // the calling thread counts for itself
    while told.load(Ordering::Relaxed) < threads.width() as u64 {
        threads.run(threads.width(), &|_, worker| {
            if worker > 0 && !IS_OF_POOL.with(|flag| flag.replace(true)) {
                told.fetch_add(1, Ordering::Relaxed);
            }
            std::thread::yield_now();
        });
    }
    let before = POOL_CALLS.load(Ordering::Relaxed);
    let counts = (0..10_000).any(|_| {
        threads.run(50, &|_, _| {
            drop(std::hint::black_box(Box::new(1)));
            std::thread::yield_now();
        });
        POOL_CALLS.load(Ordering::Relaxed) > before
    });
    assert!(threads.width() == 1 || counts, "the allocator counts on other threads");
    threads
}

/// Which thread runs which job differs from frame to frame. So buffers grow for longer, as long as some worker has not met the largest job,
/// but not for ever. One test for structures and worlds, since the count of the pool's threads is one.
#[test]
fn the_steady_state_of_threads_does_not_allocate() {
    for width in [2, 3] {
        let threads = counted_threads(width);
        let everywhere = |period: Visit<'_>| {
            none_in_the_end(&mut || {
                let before = POOL_CALLS.load(Ordering::Relaxed);
                period() + POOL_CALLS.load(Ordering::Relaxed) - before
            })
        };
        for_each_site(|| Context::new().with_executor(Eager(threads.clone())), everywhere);
        for_each_world(|| Context::new().with_executor(Eager(threads.clone())), everywhere);
    }
}

/// The same jobs for the same workers in each period, as above.
#[test]
fn a_world_with_an_infinite_object_environments_and_statics_at_once_does_not_allocate() {
    for_each_world(Context::new, none_after_warm_up);
    for_each_world(|| Context::new().with_executor(Serialized::forward(3)), none_after_warm_up);
}

/// Each structure in a world, in the context that `context` makes: movers, statics and a plane without end in five environments, some of them in all;
/// `check` says what is wrong.
fn for_each_world(context: impl Fn() -> Context, check: impl Fn(Visit<'_>) -> Option<String>) {
    let moments = motion::<3, f32>();
    let env = |id: usize| Tag::default().with_env(if id.is_multiple_of(16) { 0 } else { 1 + id as u32 % 4 });
    let only = std::env::var("BROADPHASE_ONLY").unwrap_or_default();
    let is_asked = |name: &str| only.is_empty() || only.split(',').any(|asked| asked == name);
    let mut failures = Vec::new();
    let suits = |descriptor: &&Descriptor| descriptor.dims.contains(&3) && descriptor.shapes.contains(&Shape::Box);
    for descriptor in algorithms::list().iter().filter(suits).filter(|descriptor| is_asked(descriptor.name)) {
        let mut world = World3::new();
        world.set_algorithm(&descriptor.name.parse().expect("a listed name")).expect("it suits boxes");
        world.set_context(context());
        let plane = Aabb::new([f32::NEG_INFINITY, 3.0, f32::NEG_INFINITY], [f32::INFINITY, 3.5, f32::INFINITY]);
        world.insert_many(&[Object::new(plane), Object::fixed(plane).with_tag(env(1))]).expect("good boxes");
        let fixed = |id: usize| Object::fixed(moments[0].boxes[id].translate([0.5; 3])).with_tag(env(id));
        world.insert_many(&(0..N).step_by(4).map(fixed).collect::<Vec<_>>()).expect("good boxes");
        let mover = |(id, aabb): (usize, &Aabb<3, f32>)| Object::new(*aabb).with_tag(env(id));
        let objects: Vec<_> = moments[0].boxes.iter().enumerate().map(mover).collect();
        let handles = world.insert_many(&objects).expect("good boxes");
        let mut period = || {
            let before = calls();
            for moment in &moments {
                for &id in &moment.moved {
                    world.set_box(handles[id as usize], moment.boxes[id as usize]).expect("a good box");
                }
                assert!(!world.update().expect("a good frame").is_empty());
            }
            calls() - before
        };
        failures.extend(check(&mut period).map(|wrong| format!("{}: {wrong}", descriptor.name)));
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
            world.set_mover_boxes(boxes).expect("a good frame");
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
            world.set_mover_boxes(&moments[number % PERIOD].boxes).expect("a good frame");
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
