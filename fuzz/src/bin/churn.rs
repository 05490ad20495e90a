//! A world under churn for very many frames: objects come, go, move, rest, change kind and jump; the population swells and shrinks. Whatever started and
//! did not end must be the pairs that there are, in every frame by number, at samples one by one and against a sweep that shares no code with the
//! library. Memory must not grow: its peak in the second half of the run is at most that of the first.
//!
//! ```text
//! churn [--objects N] [--frames F] [--workers W] [--seed S]   1,000 objects, 20,000 frames, one worker
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use broadphase::{Aabb, Context, Handle, Object, ObjectKind, Threads, World3};
use broadphase_testing::Random;

/// The system's allocator, with the bytes in use and the most that were since someone asked.
struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    PEAK.fetch_max(BYTES.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

// SAFETY: (allocator) every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: (allocator) the caller's duties, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        // SAFETY: (allocator) the caller's duties, passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The peak since the last call.
fn peak() -> usize {
    PEAK.swap(BYTES.load(Relaxed), Relaxed)
}

struct Churn {
    world: World3,
    random: Random,
    /// The objects that live, in no order.
    living: Vec<Handle>,
    /// The side of the space: one object in two units of volume when the population is largest.
    side: f32,
    most: usize,
    /// Pairs that started and did not end.
    open: HashSet<(Handle, Handle)>,
    started: u64,
    ended: u64,
}

impl Churn {
    fn new(most: usize, seed: u64, context: Context) -> Self {
        let mut world = World3::new();
        world.set_context(context);
        let (living, open) = (Vec::with_capacity(most), HashSet::with_capacity(2 * most));
        let side = (2.0 * most as f32).cbrt();
        Self { world, random: Random(seed), living, side, most, open, started: 0, ended: 0 }
    }

    /// A box somewhere; some are large, some are points.
    fn somewhere(&mut self) -> Aabb<3, f32> {
        let size = match self.random.below(100) {
            0 => 4.0,
            1..10 => 0.0,
            10..30 => 1.5,
            _ => 1.0,
        };
        let min: [f32; 3] = std::array::from_fn(|_| self.random.unit_f32() * self.side);
        Aabb::new(min, min.map(|c| c + size))
    }

    fn any(&mut self) -> Handle {
        self.living[self.random.below(self.living.len() as u64) as usize]
    }

    /// What happens before an update. The population goes from three fifths to all and back, once in 2,000 frames.
    fn disturb(&mut self, frame: u64) {
        let phase = (frame % 2000) as f64 / 1000.0;
        let wanted = (self.most as f64 * (0.6 + 0.4 * phase.min(2.0 - phase))) as usize;
        let turnover = 1 + self.most / 200;
        for _ in 0..turnover.min(self.living.len()) {
            let at = self.random.below(self.living.len() as u64) as usize;
            self.world.remove(self.living.swap_remove(at)).expect("living");
        }
        while self.living.len() > wanted {
            let last = self.living.pop().expect("not empty");
            self.world.remove(last).expect("living");
        }
        while self.living.len() < wanted {
            let kind = [ObjectKind::Static, ObjectKind::Kinematic, ObjectKind::Dynamic][self.random.below(12).min(2) as usize];
            let object = Object::new(self.somewhere()).with_kind(kind);
            self.living.push(self.world.insert(object).expect("a valid object"));
        }
        // A tenth moves a little; in one phase of two everything rests but a few.
        let moves = if (frame / 500).is_multiple_of(2) { self.living.len() / 10 } else { self.living.len() / 200 } + 1;
        for _ in 0..moves {
            let handle = self.any();
            let aabb = self.world.get_box(handle).expect("living");
            let step: [f32; 3] = std::array::from_fn(|_| self.random.unit_f32() * 0.4 - 0.2);
            let size: [f32; 3] = std::array::from_fn(|k| aabb.max[k] - aabb.min[k]);
            let min: [f32; 3] = std::array::from_fn(|k| (aabb.min[k] + step[k]).clamp(0.0, self.side));
            self.world.set_box(handle, Aabb::new(min, std::array::from_fn(|k| min[k] + size[k]))).expect("a valid box");
        }
        let (jumps, handle) = (self.somewhere(), self.any());
        self.world.teleport(handle, jumps).expect("living");
        let (handle, kind) = (self.any(), [ObjectKind::Static, ObjectKind::Dynamic][self.random.below(2) as usize]);
        self.world.set_kind(handle, kind).expect("living");
    }

    /// Events in, and their balance.
    fn update(&mut self) {
        let update = self.world.update().expect("a good frame");
        for pair in update.ended().handles() {
            assert!(self.open.remove(pair), "{pair:?} ended, and had not started");
        }
        for pair in update.started().handles() {
            assert!(self.open.insert(*pair), "{pair:?} started twice");
        }
        self.started += update.started().len() as u64;
        self.ended += update.ended().len() as u64;
        assert_eq!(update.len(), self.open.len() as u64, "pairs that started and did not end");
    }

    /// Every pair against a sweep along x; returns their number.
    fn compare(&self) -> usize {
        let place =
            |&handle: &Handle| (handle, self.world.get_box(handle).expect("living"), self.world.kind(handle).expect("living"));
        let mut all: Vec<_> = self.living.iter().map(place).collect();
        all.sort_by(|(_, a, _), (_, b, _)| a.min[0].total_cmp(&b.min[0]));
        let mut count = 0;
        for (at, (a, x, first)) in all.iter().enumerate() {
            for (b, y, second) in all[at + 1..].iter().take_while(|(_, y, _)| y.min[0] <= x.max[0]) {
                let touch = (1..3).all(|k| x.min[k] <= y.max[k] && y.min[k] <= x.max[k]);
                if touch && first.pairs_with(*second) {
                    count += 1;
                    assert!(self.open.contains(&(*a.min(b), *a.max(b))), "{a:?} and {b:?} are not reported");
                }
            }
        }
        assert_eq!(count, self.open.len(), "pairs of the world, and pairs by definition");
        let listed: HashSet<_> = self.world.pairs().collect();
        assert!(listed == self.open, "the list of pairs is not what started and did not end");
        count
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str, otherwise: u64| {
        let text = arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1));
        text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let (objects, frames) = (value("--objects", 1000), value("--frames", 20_000));
    let (workers, seed) = (value("--workers", 1), value("--seed", 1));
    let context = match workers {
        0 | 1 => Context::new(),
        _ => Context::new().with_executor(Threads::new(workers as usize).expect("threads")),
    };
    let mut churn = Churn::new(objects as usize, seed, context);
    let (start, every) = (Instant::now(), (frames / 200).max(1));
    let (mut samples, mut compared, mut peaks) = (0u64, 0u64, [0; 2]);
    for frame in 0..frames {
        churn.disturb(frame);
        churn.update();
        // Growth to the first plateau is not counted; a sample's own memory is not either.
        if frame % every == every - 1 {
            let half = usize::from(frame >= frames / 2);
            peaks[half] = peaks[half].max(peak());
            compared += churn.compare() as u64;
            samples += 1;
            peak();
        }
    }
    let (started, ended, now) = (churn.started, churn.ended, churn.open.len() as u64);
    assert_eq!(started, ended + now, "started and ended");
    println!(
        "churn: {objects} objects, {frames} frames, {workers} workers, seed {seed}: {started} pairs started, {ended} ended, {now} are left; {compared} \
         pairs compared at {samples} samples; peak of memory {} kB in the first half, {} kB in the second; {:.0} s",
        peaks[0] / 1024,
        peaks[1] / 1024,
        start.elapsed().as_secs_f64()
    );
    // Random motion may fill a buffer a little further in the second half.
    if peaks[1] as f64 > peaks[0] as f64 * 1.05 {
        println!("churn: FAILED: memory grows");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
