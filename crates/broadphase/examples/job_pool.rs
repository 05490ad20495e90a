//! An engine's own threads and its own array: jobs on a pool whose tasks outlive their caller, and frames that list what changed. Every tenth frame is
//! compared with a double loop: `cargo run --release --example job_pool`.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use broadphase::{Aabb, Changes, Context, Error, Executor, Frame, Live, Pair, PairStore, Report, Spec, step};

type Task = Box<dyn FnOnce() + Send>;

/// A job system as engines have it: threads that wait for tasks.
struct Pool(Vec<Sender<Task>>);

impl Pool {
    fn new(threads: usize) -> Self {
        let start = |_| {
            let (sender, tasks) = channel::<Task>();
            thread::spawn(move || tasks.into_iter().for_each(|task| task()));
            sender
        };
        Self((0..threads).map(start).collect())
    }
}

impl Executor for Pool {
    /// The calling thread works too.
    fn width(&self) -> usize {
        self.0.len() + 1
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        self.run_on(self.width(), jobs, job);
    }

    fn run_on(&self, workers: usize, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let work = |worker| {
            loop {
                match next.fetch_add(1, Ordering::Relaxed) {
                    number if number < jobs => job(number, worker),
                    _ => break,
                }
            }
        };
        let borrowed: &(dyn Fn(usize) + Sync) = &work;
        // SAFETY: tasks of this pool may outlive their caller, so they cannot borrow. These do not outlive this call, which waits for all of them
        // below, even if a job panics.
        let work: &'static (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(borrowed) };
        let (ended, ends) = channel();
        for (thread, worker) in self.0.iter().zip(1..workers.min(jobs)) {
            let ended = ended.clone();
            let task = move || drop(ended.send(catch_unwind(AssertUnwindSafe(|| work(worker)))));
            let _ = thread.send(Box::new(task)); // a thread that is gone drops its task, and the others do all jobs
        }
        drop(ended);
        let own = catch_unwind(AssertUnwindSafe(|| work(0)));
        let panics = [own].into_iter().chain(ends).filter_map(Result::err); // ends when the last task has
        if let Some(panic) = panics.last() {
            resume_unwind(panic);
        }
    }
}

/// An array with empty slots: a box by slot, and a bit for each slot that holds an object.
struct Slots {
    boxes: Vec<Aabb<3, f32>>,
    live: Vec<u64>,
}

impl Slots {
    fn holds(&self, id: u32) -> bool {
        self.live[id as usize / 64] >> (id % 64) & 1 == 1
    }

    fn flip(&mut self, id: u32) {
        self.live[id as usize / 64] ^= 1 << (id % 64);
    }

    /// All pairs, sorted.
    fn double_loop(&self) -> Vec<Pair> {
        let objects: Vec<u32> = (0..self.boxes.len() as u32).filter(|&id| self.holds(id)).collect();
        let mut pairs = Vec::new();
        for (i, &a) in objects.iter().enumerate() {
            let overlapping = objects[i + 1..].iter().filter(|&&b| self.boxes[a as usize].overlaps(&self.boxes[b as usize]));
            pairs.extend(overlapping.map(|&b| Pair { a, b }));
        }
        pairs
    }
}

fn main() -> Result<(), Error> {
    let mut state = 1u64;
    let mut random = move |from: f32, to: f32| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        from + (to - from) * (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let count = 10_000;
    let boxes = (0..count).map(|_| Aabb::from_center([(); 3].map(|()| random(0.0, 40.0)), [0.5; 3])).collect();
    let mut slots = Slots { boxes, live: vec![u64::MAX; count / 64 + 1] };

    let mut structure = "auto".parse::<Spec>()?.build()?;
    let (mut context, mut found) = (Context::new().with_executor(Pool::new(1)), PairStore::new(Report::Both));
    let frame = Frame { live: Live::Bits(&slots.live), ..Frame::new(&slots.boxes) };
    step(&mut *structure, &frame, &mut context, &mut found)?;
    let (mut moved, mut inserted, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..=30 {
        [&mut moved, &mut inserted, &mut removed].into_iter().for_each(Vec::clear);
        for id in 0..count as u32 {
            match (slots.holds(id), random(0.0, 1.0)) {
                (true, chance) if chance < 0.05 => {
                    let by = [(); 3].map(|()| random(-0.5, 0.5));
                    slots.boxes[id as usize] = slots.boxes[id as usize].translate(by);
                    moved.push(id);
                }
                (true, chance) if chance < 0.06 => removed.push(id),
                (false, chance) if chance < 0.5 => inserted.push(id),
                _ => {}
            }
        }
        removed.iter().chain(&inserted).for_each(|&id| slots.flip(id));
        let changes = Changes::Listed { moved: &moved, inserted: &inserted, removed: &removed };
        let frame = Frame { live: Live::Bits(&slots.live), changes, ..Frame::new(&slots.boxes) };
        step(&mut *structure, &frame, &mut context, &mut found)?;
        if number % 10 == 0 {
            assert_eq!(found.sorted(), slots.double_loop());
            let listed = moved.len() + inserted.len() + removed.len();
            let (started, ended) = (found.started().len(), found.ended().len());
            println!("frame {number}: {listed} changes, {} pairs, {started} started, {ended} ended", found.len());
        }
    }
    Ok(())
}
