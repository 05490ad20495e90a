//! The cases that break broad phases, each a function that makes its frames.

use broadphase::{Aabb, Pair, Real};

use crate::data::{Layout, Random};
use crate::script::{Run, Table, Tell};
use crate::subjects::{Subject, Trial, in_every_space};
use broadphase_testing::naive as oracle;

type Frames<const D: usize, T> = Vec<Vec<Aabb<D, T>>>;

/// Frames that suit a subject, with their pairs by definition.
struct Prepared<const D: usize, T: Real> {
    frames: Frames<D, T>,
    pairs: Vec<Vec<Pair>>,
}

impl<const D: usize, T: Real> Prepared<D, T> {
    fn new(subject: &Subject, mut frames: Frames<D, T>) -> Self {
        frames.iter_mut().for_each(|boxes| subject.fit(boxes));
        let pairs = frames.iter().map(|boxes| oracle::pairs(&subject.frame(boxes))).collect();
        Self { frames, pairs }
    }

    /// Runs the subject through the frames, forward and back, with the changes given in each way.
    fn follow(&self, subject: &Subject) {
        for tell in Tell::EACH {
            let mut run = Run::new(subject);
            let mut table = Table::default();
            let there = 0..self.frames.len();
            for at in there.clone().chain(there.rev()) {
                let boxes = &self.frames[at];
                table.resize(boxes.len());
                for (id, value) in boxes.iter().enumerate() {
                    // Compared by bits: -0.0 for +0.0 is a change too.
                    if !table.is_live(id as u32) || bits(&table.boxes[id]) != bits(value) {
                        table.set(id as u32, *value);
                    }
                }
                table.settle();
                run.step_expecting(&table.frame(subject, tell), &self.pairs[at], &format!("frame {at}, {tell:?}"));
            }
        }
    }
}

fn bits<const D: usize, T: Real>(value: &Aabb<D, T>) -> [[u64; D]; 2] {
    [value.min, value.max].map(|corner| corner.map(|c| c.to_f64().to_bits()))
}

/// Tries frames on every subject; the oracle works once for all that take boxes as they are.
fn try_on_all<const D: usize, T: Real>(trial: &mut Trial, frames: Frames<D, T>) {
    for equal_balls in [false, true] {
        let Some(first) = trial.subjects.iter().find(|subject| subject.equal_balls == equal_balls) else { continue };
        let prepared = Prepared::new(first, frames.clone());
        trial.each(|subject| {
            if subject.equal_balls == equal_balls {
                prepared.follow(subject);
            }
        });
    }
}

fn boxed<const D: usize, T: Real>(min: [f64; D], max: [f64; D]) -> Aabb<D, T> {
    Aabb::new(min.map(T::from_f64), max.map(T::from_f64))
}

fn cube<const D: usize, T: Real>(min: [f64; D], side: f64) -> Aabb<D, T> {
    boxed(min, min.map(|c| c + side))
}

/// All points of a lattice of `count` per axis.
fn lattice<const D: usize>(count: usize) -> Vec<[f64; D]> {
    (0..count.pow(D as u32)).map(|i| std::array::from_fn(|k| (i / count.pow(k as u32) % count) as f64)).collect()
}

/// Unit cubes side by side: neighbors share a face, an edge or a corner; then a hair apart.
fn touching_faces_edges_and_corners<const D: usize, T: Real>(trial: &mut Trial) {
    let at = |spacing: f64| lattice::<D>(4).into_iter().map(|p| cube(p.map(|c| c * spacing - 2.0), 1.0)).collect();
    try_on_all::<D, T>(trial, vec![at(1.0), at(1.0 + 1e-6), at(1.0)]);
}

fn equal_boxes<const D: usize, T: Real>(trial: &mut Trial) {
    let twice = |by: f64| (0..60).map(|i| cube([(i / 2) as f64 * by; D], 1.5)).collect();
    try_on_all::<D, T>(trial, vec![twice(1.0), twice(2.0), twice(0.0)]);
}

fn points<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(1);
    let mut frame = || (0..200).map(|_| Aabb::point(std::array::from_fn(|_| T::from_f64(random.below(6) as f64)))).collect();
    try_on_all::<D, T>(trial, vec![frame(), frame()]);
}

fn zero_thickness<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(2);
    let mut sheet = |i: usize| {
        let mut value: Aabb<D, T> = Layout::Lattice.draw(&mut random, 150);
        value.max[i % D] = value.min[i % D];
        value
    };
    let frames = (0..2).map(|_| (0..150).map(&mut sheet).collect()).collect();
    try_on_all::<D, T>(trial, frames);
}

/// Boxes that end at -0.0 and boxes that start at +0.0, and the other way round.
fn negative_zero_touches_positive_zero<const D: usize, T: Real>(trial: &mut Trial) {
    let frame = |left: f64, right: f64| {
        let low = (0..10).map(|_| boxed([-1.0; D], [left; D]));
        low.chain((0..10).map(|_| boxed([right; D], [1.0; D]))).collect()
    };
    try_on_all::<D, T>(trial, vec![frame(-0.0, 0.0), frame(0.0, -0.0), frame(-0.0, -0.0), frame(-1e-30, 0.0)]);
}

/// Boxes that start at +0.0 and end at -0.0, as valid ones may: their extent there is -0.0. And some that are thick.
fn extents_of_negative_zero<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(20);
    let mut frame = |thick: usize| {
        let mut boxes: Vec<Aabb<D, T>> = (0..200).map(|_| random.around([5.0; D], 5.0, 1.0)).collect();
        for (i, value) in boxes.iter_mut().enumerate() {
            let (low, high) = if i < thick { (T::from_f64(-1.0), T::ONE) } else { (T::ZERO, -T::ZERO) };
            (value.min[D - 1], value.max[D - 1]) = (low, high);
        }
        boxes
    };
    try_on_all::<D, T>(trial, vec![frame(15), frame(0), frame(1)]);
}

/// On one axis all are at one place that is no round number, or a hair apart: what is cut from their span is cut from rounding errors.
fn a_span_of_nothing_but_rounding<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(21);
    let mut frame = |at: f64, axis: usize| {
        let mut boxes: Vec<Aabb<D, T>> = (0..300).map(|_| random.around([0.0; D], 10.0, 2.0)).collect();
        for (i, value) in boxes.iter_mut().enumerate() {
            let low = T::from_f64(at);
            (value.min[axis], value.max[axis]) = (low, if i % 3 == 0 { low.next_up() } else { low });
        }
        boxes
    };
    let frames = [(0.1, 0), (38.3667636764457, 1), (1234.567, D - 1), (5e-324, 0), (-3.3, 1)].map(|(at, axis)| frame(at, axis));
    try_on_all::<D, T>(trial, frames.to_vec());
}

/// All sizes and places of one magnitude, from near the smallest numbers to near the largest.
fn every_magnitude<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(22);
    let exponents: &[i32] = if T::KEY_BITS == 32 { &[-36, -20, 20, 36] } else { &[-200, -50, -38, 53, 100, 290] };
    let mut frame = |exponent: &i32| {
        let unit = 10f64.powi(*exponent);
        let scaled = |value: Aabb<D, f64>| boxed(value.min.map(|c| c * unit), value.max.map(|c| c * unit));
        (0..150).map(|_| scaled(random.around([0.0; D], 8.0, 2.0))).collect()
    };
    try_on_all::<D, T>(trial, exponents.iter().map(&mut frame).collect());
}

/// Half-spaces, slabs, columns and the whole space among ordinary boxes; they come, move and go.
fn infinite_sides<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(3);
    let mut ordinary: Vec<Aabb<D, T>> = Layout::Lattice.boxes(&mut random, 120);
    let plain = ordinary.clone();
    for (i, value) in ordinary.iter_mut().enumerate().filter(|(i, _)| i % 9 == 0) {
        match i / 9 % 4 {
            0 => value.min[i % D] = T::NEG_INFINITY,
            1 => value.max[i % D] = T::INFINITY,
            2 => (value.min[i % D], value.max[i % D]) = (T::NEG_INFINITY, T::INFINITY),
            _ => *value = Aabb::everything(),
        }
    }
    let all = vec![Aabb::everything(); 70];
    try_on_all::<D, T>(trial, vec![plain, ordinary, all]);
}

/// Boxes that lie at infinity: `min = max = inf` on one axis or on all.
fn boxes_at_infinity<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(4);
    let mut boxes: Vec<Aabb<D, T>> = Layout::Lattice.boxes(&mut random, 90);
    let plain = boxes.clone();
    for (i, value) in boxes.iter_mut().enumerate().filter(|(i, _)| i % 5 == 0) {
        let end = if i % 10 == 0 { T::INFINITY } else { T::NEG_INFINITY };
        if i % 15 == 0 {
            *value = Aabb::point([end; D]);
        } else {
            (value.min[i % D], value.max[i % D]) = (end, end);
        }
    }
    try_on_all::<D, T>(trial, vec![boxes, plain]);
}

/// Finite boxes whose extent, or whose sum of corners, is more than the largest float.
fn extents_and_centres_that_overflow<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(5);
    let mut boxes: Vec<Aabb<D, T>> = Layout::Smooth.boxes(&mut random, 90);
    let plain = boxes.clone();
    for (i, value) in boxes.iter_mut().enumerate().filter(|(i, _)| i % 6 == 0) {
        match i / 6 % 5 {
            0 => *value = Aabb::new([-T::MAX; D], [T::MAX; D]),
            1 => *value = Aabb::point([T::MAX; D]),
            2 => *value = Aabb::point([-T::MAX; D]),
            3 => (value.min[0], value.max[0]) = (T::MAX * T::HALF, T::MAX),
            _ => (value.min[D - 1], value.max[D - 1]) = (-T::MAX, T::ZERO),
        }
    }
    try_on_all::<D, T>(trial, vec![boxes, plain]);
}

/// Coordinates so small that their squares, and the inverses of their sizes, leave the range.
fn subnormals<const D: usize, T: Real>(trial: &mut Trial) {
    let tiny = T::ZERO.next_up();
    let mut random = Random(6);
    let mut frame = |unit: T| -> Vec<Aabb<D, T>> {
        let mut lattice = Layout::Lattice.boxes::<D, T>(&mut random, 150);
        lattice.iter_mut().for_each(|b| *b = Aabb::new(b.min.map(|c| c * unit), b.max.map(|c| c * unit)));
        lattice
    };
    let mut mixed = frame(tiny);
    mixed.extend(frame(T::ONE));
    let frames = vec![frame(tiny), frame(tiny * T::from_f64(1000.0)), mixed];
    try_on_all::<D, T>(trial, frames);
}

fn size_ratios_of_a_million<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(7);
    let mut frame = || {
        let size = |random: &mut Random| [1e-3, 1.0, 1e3][random.below(3)];
        (0..250)
            .map(|_| {
                let size = size(&mut random);
                random.around([0.0; D], 500.0, size)
            })
            .collect()
    };
    try_on_all::<D, T>(trial, vec![frame(), frame()]);
}

/// At 1e7 an `f32` box of size 2 is a few floats wide.
fn far_coordinates<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(8);
    let frames = [1e6, -1e6, 1e7, -1e7].map(|at| (0..200).map(|_| random.around([at; D], 8.0, 2.0)).collect());
    try_on_all::<D, T>(trial, frames.to_vec());
}

fn across_zero<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(9);
    let mut frame = |middle: f64| (0..200).map(|_| random.around([middle; D], 6.0, 1.5)).collect();
    try_on_all::<D, T>(trial, vec![frame(-6.0), frame(0.0), frame(6.0)]);
}

fn everything_in_one_spot<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(10);
    let equal = vec![cube([3.0; D], 1.0); 300];
    let nearly = (0..300).map(|_| random.around([3.0; D], 0.01, 1.0)).collect();
    let point = vec![Aabb::point([T::from_f64(-7.5); D]); 300];
    try_on_all::<D, T>(trial, vec![equal, nearly, point]);
}

fn everything_on_one_line<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(11);
    let mut along = |axis: usize| {
        let mut one = || {
            let mut corner = [0.0; D];
            corner[axis] = random.between(-200.0, 200.0);
            cube(corner, 1.0)
        };
        (0..300).map(|_| one()).collect()
    };
    try_on_all::<D, T>(trial, vec![along(0), along(D - 1)]);
}

fn everything_in_one_plane<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(12);
    let mut across = |axis: usize| {
        let mut one = || {
            let mut value: Aabb<D, T> = random.around([0.0; D], 10.0, 2.0);
            (value.min[axis], value.max[axis]) = (T::ONE, T::ONE);
            value
        };
        (0..300).map(|_| one()).collect()
    };
    try_on_all::<D, T>(trial, vec![across(D - 1), across(0)]);
}

fn one_giant_among_many<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(13);
    let mut frame = |giant: usize, size: f64| {
        let mut boxes = Layout::Smooth.boxes(&mut random, 400);
        boxes[giant] = cube([-size / 2.0; D], size);
        boxes
    };
    try_on_all::<D, T>(trial, vec![frame(0, 1e6), frame(399, 20.0), frame(17, 1e20)]);
}

fn needles_of_a_hundred_to_one<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(14);
    let mut needle = |i: usize| {
        let mut value: Aabb<D, T> = random.around([0.0; D], 50.0, 0.5);
        value.max[i % D] = value.min[i % D] + T::from_f64(50.0);
        value
    };
    let frames = (0..2).map(|_| (0..250).map(&mut needle).collect()).collect();
    try_on_all::<D, T>(trial, frames);
}

fn one_far_outlier<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(15);
    let mut frame = |at: f64| {
        let mut boxes = Layout::Smooth.boxes(&mut random, 400);
        boxes[200] = cube([at; D], at.abs() * 1e-3);
        boxes
    };
    try_on_all::<D, T>(trial, vec![frame(1e9), frame(-1e30), frame(10.0)]);
}

fn clusters_far_apart<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(16);
    let frames = (0..3).map(|_| Layout::Clusters.boxes(&mut random, 500)).collect();
    try_on_all::<D, T>(trial, frames);
}

/// The whole scene leaves in ever larger steps.
fn drift_to_ten_million<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(17);
    let start: Vec<[f64; D]> = (0..200).map(|_| std::array::from_fn(|_| random.between(0.0, 12.0))).collect();
    let frame = |by: f64| start.iter().map(|p| cube(p.map(|c| c + by), 1.5)).collect();
    let steps = [0.0, 1.0, 3.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];
    try_on_all::<D, T>(trial, steps.map(frame).to_vec());
}

/// Counts around the widths of registers, words and blocks; empty frames between full ones.
fn small_counts<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(18);
    let counts = [0, 1, 2, 0, 3, 63, 64, 65, 1, 127, 129, 0];
    let frames = counts.map(|n| (0..n).map(|_| random.around([0.0; D], 3.0, 1.0)).collect());
    try_on_all::<D, T>(trial, frames.to_vec());
}

/// Beyond the thresholds below which structures do something simpler.
fn counts_of_thousands<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(19);
    let frames = [1000, 3000].map(|n| Layout::Smooth.boxes(&mut random, n)).to_vec();
    try_on_all::<D, T>(trial, frames);
}

in_every_space!(
    touching_faces_edges_and_corners,
    equal_boxes,
    points,
    zero_thickness,
    negative_zero_touches_positive_zero,
    infinite_sides,
    boxes_at_infinity,
    extents_and_centres_that_overflow,
    subnormals,
    size_ratios_of_a_million,
    far_coordinates,
    across_zero,
    everything_in_one_spot,
    everything_on_one_line,
    everything_in_one_plane,
    one_giant_among_many,
    needles_of_a_hundred_to_one,
    one_far_outlier,
    clusters_far_apart,
    drift_to_ten_million,
    small_counts,
    counts_of_thousands,
    extents_of_negative_zero,
    a_span_of_nothing_but_rounding,
    every_magnitude,
);
