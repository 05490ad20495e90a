//! Boxes, balls, rays and nearest objects, asked of 128 k objects: a `World` beside parry's `Bvh`, rstar's and obvhs' trees, in one run, on
//! the same questions.
//!
//! `cargo run --release -p broadphase-peers --features peers --example queries` prints the table of benchmarks/QUERIES.md.
//!
//! Rounds take turns, so that a busy machine disturbs all alike; times are CPU times of the thread. All trees are built before the
//! first question. Answers are compared before any time is printed. What a library does not have is built from what it has, as its users
//! would: rstar casts a ray by a selection function, which sees all that the ray meets; parry and obvhs look for a ball in the box around it.
//! obvhs has no search for the nearest.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Duration;

use broadphase::geometry::{Measure, Nearest};
use broadphase::{Aabb, Ball, Ray, World3};
use cpu_time::ThreadTime;
use obvhs::bvh2::Bvh2;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};
use obvhs::ray::RayHit;
use parry3d::bounding_volume::Aabb as ParryAabb;
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy};
use parry3d::query::PointQuery;
use rstar::{AABB, PointDistance, RTree, RTreeObject, SelectionFunction};

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

impl PointDistance for Item {
    fn distance_2(&self, point: &[f32; 3]) -> f32 {
        squared_distance(point, &self.aabb)
    }
}

/// The definition of the nearest, for all contenders.
fn squared_distance(point: &[f32; 3], aabb: &Aabb<3, f32>) -> f32 {
    Nearest(*point).bound(aabb).unwrap_or(f32::NAN)
}

fn parry_box(of: &Aabb<3, f32>) -> ParryAabb {
    ParryAabb::new(Vector::from(of.min), Vector::from(of.max))
}

fn obvhs_box(of: &Aabb<3, f32>) -> obvhs::aabb::Aabb {
    obvhs::aabb::Aabb::new(of.min.into(), of.max.into())
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

/// The same objects in each library.
struct Subjects {
    boxes: Vec<Aabb<3, f32>>,
    world: World3,
    bvh: Bvh,
    rstar: RTree<Item>,
    /// One box per leaf, so that `primitive_indices` is the identity.
    obvhs: Bvh2,
}

impl Subjects {
    fn new(side: f32) -> Self {
        let mut random = Random(1);
        let boxes: Vec<_> = (0..N).map(|_| Aabb::from_center(random.point(side), [0.5; 3])).collect();
        let mut world = World3::new();
        world.insert_many(&boxes).expect("valid boxes");
        world.update().expect("a frame");
        let leaves: Vec<_> = boxes.iter().map(parry_box).collect();
        let bvh = Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves);
        let rstar = RTree::bulk_load(boxes.iter().enumerate().map(|(id, &aabb)| Item { id: id as u32, aabb }).collect());
        // A tree for many questions: PLOC's medium search, and nodes in the order of traversal.
        let mut obvhs = Bvh2::default();
        let solid: Vec<_> = boxes.iter().map(obvhs_box).collect();
        let ids = (0..N as u32).collect();
        PlocBuilder::new().build_with_bvh(&mut obvhs, PlocSearchDistance::Medium, &solid, ids, SortPrecision::U64, 0);
        obvhs.reorder_in_stack_traversal_order();
        Self { boxes, world, bvh, rstar, obvhs }
    }

    /// Visits what obvhs finds in a box.
    fn obvhs_in_box(obvhs: &Bvh2, area: &Aabb<3, f32>, mut visit: impl FnMut(u32)) {
        obvhs.aabb_traverse(obvhs_box(area), |tree, node| {
            let node = &tree.nodes[node as usize];
            (node.first_index..node.first_index + node.prim_count).for_each(|at| visit(tree.primitive_indices[at as usize]));
            true
        });
    }
}

/// A library's name, and the sum of its answers to all questions.
type Contender<'a> = (&'static str, &'a mut dyn FnMut() -> f64);

/// Runs the contenders in turns and prints the medians. The sums of their answers must be equal, except for what `rounding` allows.
fn race(what: &str, rounding: f64, contenders: &mut [Contender<'_>]) {
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
        let differs = |sum: f64| (sum - sums[0]).abs() > rounding * sums[0].abs();
        assert!(!sums.iter().any(|&sum| differs(sum)), "{what}: the answers differ: {sums:?}");
    }
    let medians: Vec<f64> = times
        .iter_mut()
        .map(|list| {
            list.sort_unstable();
            list[list.len() / 2].as_nanos() as f64 / QUESTIONS as f64
        })
        .collect();
    let best = medians[1..].iter().copied().fold(f64::INFINITY, f64::min);
    let others: Vec<String> = contenders.iter().zip(&medians).map(|((name, _), time)| format!("{name} {time:7.0}")).collect();
    println!("{what:26} {}   ours is {:.2} times as fast as the best", others.join("  "), best / medians[0]);
}

fn boxes(what: &str, subjects: &mut Subjects, side: f32, size: f32) {
    let mut random = Random(2);
    let areas: Vec<Aabb<3, f32>> = (0..QUESTIONS).map(|_| Aabb::from_center(random.point(side), [size * 0.5; 3])).collect();
    let Subjects { world, bvh, rstar, obvhs, .. } = subjects;
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
        sum as f64
    };
    let mut parry = || {
        let sum = |area| bvh.intersect_aabb(&parry_box(area)).map(|id| u64::from(id) + 1).sum::<u64>();
        areas.iter().map(sum).sum::<u64>() as f64
    };
    let mut tree = || {
        let question = |a: &Aabb<3, f32>| AABB::from_corners(a.min, a.max);
        let sum = |area| rstar.locate_in_envelope_intersecting(question(area)).map(|item| u64::from(item.id) + 1).sum::<u64>();
        areas.iter().map(sum).sum::<u64>() as f64
    };
    let mut ploc = || {
        let mut sum = 0;
        areas.iter().for_each(|area| Subjects::obvhs_in_box(obvhs, area, |id| sum += u64::from(id) + 1));
        sum as f64
    };
    race(what, 0.0, &mut [("ours", &mut ours), ("parry", &mut parry), ("rstar", &mut tree), ("obvhs", &mut ploc)]);
}

fn balls(what: &str, subjects: &mut Subjects, side: f32, radius: f32) {
    let mut random = Random(4);
    let balls: Vec<Ball<3, f32>> = (0..QUESTIONS).map(|_| Ball { center: random.point(side), radius }).collect();
    let Subjects { boxes, world, bvh, rstar, obvhs } = subjects;
    let reader = world.read().expect("a reader");
    let reached = |ball: &Ball<3, f32>, id: u32| if ball.overlaps_box(&boxes[id as usize]) { u64::from(id) + 1 } else { 0 };
    let mut ours = || {
        let mut sum = 0;
        for ball in &balls {
            let visit = |handle: broadphase::Handle| {
                sum += u64::from(handle.index) + 1;
                ControlFlow::Continue(())
            };
            reader.in_ball(ball, visit).expect("a valid ball");
        }
        sum as f64
    };
    let mut parry = || {
        let sum = |ball: &Ball<3, f32>| bvh.intersect_aabb(&parry_box(&ball.bounds())).map(|id| reached(ball, id)).sum::<u64>();
        balls.iter().map(sum).sum::<u64>() as f64
    };
    let mut tree = || {
        let found = |ball: &Ball<3, f32>| rstar.locate_within_distance(ball.center, ball.radius * ball.radius);
        balls.iter().map(|ball| found(ball).map(|item| u64::from(item.id) + 1).sum::<u64>()).sum::<u64>() as f64
    };
    let mut ploc = || {
        let mut sum = 0;
        balls.iter().for_each(|ball| Subjects::obvhs_in_box(obvhs, &ball.bounds(), |id| sum += reached(ball, id)));
        sum as f64
    };
    race(what, 0.0, &mut [("ours", &mut ours), ("parry", &mut parry), ("rstar", &mut tree), ("obvhs", &mut ploc)]);
}

fn nearest(what: &str, subjects: &mut Subjects, side: f32) {
    let mut random = Random(5);
    let points: Vec<[f32; 3]> = (0..QUESTIONS).map(|_| random.point(side)).collect();
    let Subjects { boxes, world, bvh, rstar, .. } = subjects;
    let reader = world.read().expect("a reader");
    let mut found = Vec::new();
    let mut ours = || {
        let mut distance = |point: &[f32; 3]| {
            reader.nearest(*point, 1, &mut found).expect("a valid point");
            f64::from(found[0].1)
        };
        points.iter().map(&mut distance).sum()
    };
    let mut parry = || {
        let distance = |point: &[f32; 3]| {
            let at = Vector::from(*point);
            let of_node = |node: &parry3d::partitioning::BvhNode, _| node.aabb().distance_to_local_point(at, true);
            let of_leaf = |id: u32, _| Some(squared_distance(point, &boxes[id as usize]).sqrt());
            bvh.find_best(f32::MAX, of_node, of_leaf).map_or(f64::NAN, |(_, distance)| f64::from(distance))
        };
        points.iter().map(distance).sum()
    };
    let mut tree = || {
        let distance = |point: &[f32; 3]| rstar.nearest_neighbor_with_distance_2(*point).map_or(f32::NAN, |found| found.1).sqrt();
        points.iter().map(|point| f64::from(distance(point))).sum()
    };
    race(what, 1e-6, &mut [("ours", &mut ours), ("parry", &mut parry), ("rstar", &mut tree)]);
}

fn rays(what: &str, subjects: &mut Subjects, side: f32) {
    let mut random = Random(3);
    let rays: Vec<Ray<3, f32>> =
        (0..QUESTIONS).map(|_| Ray::new(random.point(side), std::array::from_fn(|_| random.next() - 0.5), 2.0 * side)).collect();
    let Subjects { boxes, world, bvh, rstar, obvhs } = subjects;
    let reader = world.read().expect("a reader");
    let score = |t: Option<f32>| u64::from(t.map_or(0, f32::to_bits));
    let mut ours =
        || rays.iter().map(|ray| score(reader.first_along_ray(ray).expect("a valid ray").map(|(_, t)| t))).sum::<u64>() as f64;
    let mut parry = || {
        let cast = |ray: &Ray<3, f32>| {
            let question = parry3d::query::Ray::new(Vector::from(ray.origin), Vector::from(ray.direction));
            let enter = |id: u32, best: f32| ray.enters(&boxes[id as usize]).filter(|&t| t <= best);
            bvh.cast_ray(&question, ray.length, enter).map(|(_, t)| t)
        };
        rays.iter().map(|ray| score(cast(ray))).sum::<u64>() as f64
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
        rays.iter().map(|ray| score(cast(ray))).sum::<u64>() as f64
    };
    let mut ploc = || {
        let cast = |ray: &Ray<3, f32>| {
            let question = obvhs::ray::Ray::new(ray.origin.into(), ray.direction.into(), 0.0, ray.length);
            let mut hit = RayHit::none();
            obvhs.ray_traverse(question, &mut hit, |_, at| {
                ray.enters(&boxes[obvhs.primitive_indices[at] as usize]).unwrap_or(f32::INFINITY)
            });
            (hit.primitive_id != u32::MAX).then_some(hit.t) // after a miss, `t` is the length of the ray
        };
        rays.iter().map(|ray| score(cast(ray))).sum::<u64>() as f64
    };
    race(what, 0.0, &mut [("ours", &mut ours), ("parry", &mut parry), ("rstar", &mut tree), ("obvhs", &mut ploc)]);
}

fn main() {
    for (name, volume) in [("sparse", 50.0f32), ("dense", 1.5)] {
        let side = (N as f32 * volume).cbrt();
        let mut subjects = Subjects::new(side);
        let start = ThreadTime::now();
        subjects.world.read().expect("a reader").all_in_box(&Aabb::everything()).expect("a valid box");
        println!(
            "{name}: {N} unit cubes, ns per question; ours makes its trees with the first one, in {:.2} ms",
            start.elapsed().as_secs_f64() * 1e3
        );
        boxes(&format!("{name}, box of side 2"), &mut subjects, side, 2.0);
        boxes(&format!("{name}, box of side 10"), &mut subjects, side, 10.0);
        balls(&format!("{name}, ball of radius 3"), &mut subjects, side, 3.0);
        rays(&format!("{name}, first along a ray"), &mut subjects, side);
        nearest(&format!("{name}, nearest to a point"), &mut subjects, side);
    }
}
