//! Box and ray queries over 128 k objects: ours beside parry's `Bvh` and rstar's tree, in one run, on the same questions.
//!
//! `cargo run --release -p broadphase-peers --features peers --example queries`
//!
//! Rounds take turns, so that a busy machine disturbs all alike; times are CPU times of the thread. All trees are built before the
//! first question. Answers are compared before any time is printed. rstar has no ray cast: a selection function stands in for it, as its
//! documentation suggests, and sees all that the ray meets.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Duration;

use broadphase::{Aabb, Ray, World3};
use cpu_time::ThreadTime;
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy};
use rstar::{AABB, RTree, RTreeObject, SelectionFunction};

const N: usize = 128_000;
const QUESTIONS: usize = 2_000;
const ROUNDS: usize = 15;

struct Random(u64);

impl Random {
    /// In 0..1.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    fn point(&mut self, side: f32) -> [f32; 3] {
        std::array::from_fn(|_| self.next() * side)
    }
}

struct Item {
    id: u32,
    aabb: Aabb<3, f32>,
}

impl RTreeObject for Item {
    type Envelope = AABB<[f32; 3]>;

    fn envelope(&self) -> Self::Envelope {
        AABB::from_corners(self.aabb.min, self.aabb.max)
    }
}

/// What a ray can still meet.
struct Along<'a> {
    ray: &'a Ray<3, f32>,
    length: &'a Cell<f32>,
}

impl SelectionFunction<Item> for Along<'_> {
    fn should_unpack_parent(&self, envelope: &AABB<[f32; 3]>) -> bool {
        let bounds = Aabb::new(envelope.lower(), envelope.upper());
        self.ray.enters(&bounds).is_some_and(|t| t <= self.length.get())
    }

    fn should_unpack_leaf(&self, leaf: &Item) -> bool {
        self.ray.enters(&leaf.aabb).is_some_and(|t| t <= self.length.get())
    }
}

/// The same objects three times.
struct Subjects {
    boxes: Vec<Aabb<3, f32>>,
    world: World3,
    bvh: Bvh,
    rstar: RTree<Item>,
}

impl Subjects {
    fn new(side: f32) -> Self {
        let mut random = Random(1);
        let boxes: Vec<_> = (0..N).map(|_| Aabb::from_center(random.point(side), [0.5; 3])).collect();
        let mut world = World3::new();
        world.insert_many(&boxes).expect("valid boxes");
        world.update().expect("a frame");
        let corner = |c: [f32; 3]| Vector::new(c[0], c[1], c[2]);
        let leaves: Vec<_> = boxes.iter().map(|b| parry3d::bounding_volume::Aabb::new(corner(b.min), corner(b.max))).collect();
        let bvh = Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves);
        let rstar = RTree::bulk_load(boxes.iter().enumerate().map(|(id, &aabb)| Item { id: id as u32, aabb }).collect());
        Self { boxes, world, bvh, rstar }
    }
}

/// Runs the contenders in turns and prints the medians; the sums of their answers must be equal.
fn race(what: &str, contenders: &mut [(&str, &mut dyn FnMut() -> u64)]) {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); contenders.len()];
    for round in 0..=ROUNDS {
        let mut sums = Vec::new();
        for (index, (_, run)) in contenders.iter_mut().enumerate() {
            let start = ThreadTime::now();
            sums.push(run());
            if round > 0 {
                times[index].push(start.elapsed());
            }
        }
        assert!(sums.iter().all(|&sum| sum == sums[0]), "{what}: the answers differ: {sums:?}");
    }
    let medians: Vec<f64> = times
        .iter_mut()
        .map(|list| {
            list.sort_unstable();
            list[list.len() / 2].as_nanos() as f64 / QUESTIONS as f64
        })
        .collect();
    for ((name, _), time) in contenders.iter().zip(&medians) {
        println!("{what:24} {name:8} {time:9.0} ns per question, {:5.2} times ours", time / medians[0]);
    }
}

fn boxes(what: &str, subjects: &mut Subjects, side: f32, size: f32) {
    let mut random = Random(2);
    let areas: Vec<Aabb<3, f32>> = (0..QUESTIONS).map(|_| Aabb::from_center(random.point(side), [size * 0.5; 3])).collect();
    let Subjects { world, bvh, rstar, .. } = subjects;
    let reader = world.read().expect("a reader");
    let mut ours = || {
        let mut sum = 0;
        for area in &areas {
            let visit = |handle: broadphase::Handle| {
                sum += u64::from(handle.index) + 1;
                ControlFlow::Continue(())
            };
            reader.in_box(area, visit).expect("a valid box");
        }
        sum
    };
    let mut parry = || {
        let corner = |c: [f32; 3]| Vector::new(c[0], c[1], c[2]);
        let question = |a: &Aabb<3, f32>| parry3d::bounding_volume::Aabb::new(corner(a.min), corner(a.max));
        areas.iter().map(|area| bvh.intersect_aabb(&question(area)).map(|id| u64::from(id) + 1).sum::<u64>()).sum()
    };
    let mut tree = || {
        let question = |a: &Aabb<3, f32>| AABB::from_corners(a.min, a.max);
        let sum = |area| rstar.locate_in_envelope_intersecting(question(area)).map(|item| u64::from(item.id) + 1).sum::<u64>();
        areas.iter().map(sum).sum()
    };
    race(what, &mut [("ours", &mut ours), ("parry", &mut parry), ("rstar", &mut tree)]);
}

fn rays(what: &str, subjects: &mut Subjects, side: f32) {
    let mut random = Random(3);
    let rays: Vec<Ray<3, f32>> =
        (0..QUESTIONS).map(|_| Ray::new(random.point(side), std::array::from_fn(|_| random.next() - 0.5), 2.0 * side)).collect();
    let Subjects { boxes, world, bvh, rstar } = subjects;
    let reader = world.read().expect("a reader");
    let score = |t: Option<f32>| u64::from(t.map_or(0, f32::to_bits));
    let mut ours =
        || rays.iter().map(|ray| score(reader.first_along_ray(ray).expect("a valid ray").map(|(_, t)| t))).sum::<u64>();
    let mut parry = || {
        let corner = |c: [f32; 3]| Vector::new(c[0], c[1], c[2]);
        let cast = |ray: &Ray<3, f32>| {
            let question = parry3d::query::Ray::new(corner(ray.origin), corner(ray.direction));
            let enter = |id: u32, best: f32| ray.enters(&boxes[id as usize]).filter(|&t| t <= best);
            bvh.cast_ray(&question, ray.length, enter).map(|(_, t)| t)
        };
        rays.iter().map(|ray| score(cast(ray))).sum()
    };
    let mut tree = || {
        let cast = |ray: &Ray<3, f32>| {
            let length = Cell::new(ray.length);
            let mut first = None;
            for item in rstar.locate_with_selection_function(Along { ray, length: &length }) {
                if let Some(t) = ray.enters(&item.aabb).filter(|&t| t <= length.get()) {
                    length.set(t);
                    first = Some(t);
                }
            }
            first
        };
        rays.iter().map(|ray| score(cast(ray))).sum()
    };
    race(what, &mut [("ours", &mut ours), ("parry", &mut parry), ("rstar", &mut tree)]);
}

fn main() {
    for (name, volume) in [("sparse", 50.0f32), ("dense", 1.5)] {
        let side = (N as f32 * volume).cbrt();
        let mut subjects = Subjects::new(side);
        let start = ThreadTime::now();
        subjects.world.read().expect("a reader").all_in_box(&Aabb::everything()).expect("a valid box");
        println!(
            "{name}: {N} unit cubes; the first question, which makes all trees: {:.2} ms",
            start.elapsed().as_secs_f64() * 1e3
        );
        boxes(&format!("{name}, box of side 2"), &mut subjects, side, 2.0);
        boxes(&format!("{name}, box of side 10"), &mut subjects, side, 10.0);
        rays(&format!("{name}, first along a ray"), &mut subjects, side);
    }
}
