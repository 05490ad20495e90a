//! Pairs within a distance, nearest objects and closest pairs, against double loops.

use broadphase::{
    Aabb, Ball, DistanceSearch, Error, Executor, Near, Proximity, Real, closest_pair, closest_pair_between, nearest,
    nearest_between, pairs_within, pairs_within_between,
};

use crate::for_all_kinds;
use crate::naive::boxes;

/// The definition of the distance of two boxes.
fn gap<const D: usize, T: Real>(a: &Aabb<D, T>, b: &Aabb<D, T>) -> T {
    let mut sum = T::ZERO;
    for k in 0..D {
        let d = if a.min[k] > b.max[k] {
            a.min[k] - b.max[k]
        } else if b.min[k] > a.max[k] {
            b.min[k] - a.max[k]
        } else {
            T::ZERO
        };
        sum = if k == 0 { d * d } else { sum + d * d };
    }
    sum.sqrt()
}

/// Compares every call with double loops over `distance` and `within`.
fn compare<const D: usize, T: Real, P: Proximity<D, T> + std::fmt::Debug>(objects: &[P], limits: &[f64], what: &str) {
    let n = objects.len();
    let near = |a: usize, b: usize, distance: T| Near { a: a as u32, b: b as u32, distance };
    let (front, back) = objects.split_at(n / 3);
    for &limit in limits {
        let limit = T::from_f64(limit);
        let all = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        let expected: Vec<_> =
            all.filter_map(|(a, b)| objects[a].within(&objects[b], limit).map(|distance| near(a, b, distance))).collect();
        assert_eq!(pairs_within(objects, limit).unwrap(), expected, "{what} within {limit}");
        let all = (0..front.len()).flat_map(|a| (0..back.len()).map(move |b| (a, b)));
        let expected: Vec<_> =
            all.filter_map(|(a, b)| front[a].within(&back[b], limit).map(|distance| near(a, b, distance))).collect();
        assert_eq!(pairs_within_between(front, back, limit).unwrap(), expected, "{what} within {limit}, two lists");
    }
    let order = |x: &(T, u32), y: &(T, u32)| x.partial_cmp(y).expect("numbers");
    for k in [0, 1, 3, n + 5] {
        let found = nearest(objects, k).unwrap();
        let between = nearest_between(front, back, k).unwrap();
        assert_eq!((found.len(), between.len()), (n, front.len()));
        for a in 0..n {
            let others = (0..n).filter(|&b| b != a);
            let mut row: Vec<(T, u32)> = others.map(|b| (objects[a].distance(&objects[b]), b as u32)).collect();
            row.sort_by(order);
            row.truncate(k);
            let got: Vec<(T, u32)> = found.with_distances(a).map(|(b, distance)| (distance, b)).collect();
            assert_eq!(got, row, "{what}: {k} nearest to {a}");
        }
        for a in 0..front.len() {
            let mut row: Vec<(T, u32)> = (0..back.len()).map(|b| (front[a].distance(&back[b]), b as u32)).collect();
            row.sort_by(order);
            row.truncate(k);
            let got: Vec<(T, u32)> = between.with_distances(a).map(|(b, distance)| (distance, b)).collect();
            assert_eq!(got, row, "{what}: {k} nearest to {a}, two lists");
        }
    }
    let least = |best: Option<Near<T>>, next: Near<T>| match best {
        Some(best) if best.distance <= next.distance => Some(best),
        _ => Some(next),
    };
    let all = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let expected = all.map(|(a, b)| near(a, b, objects[a].distance(&objects[b]))).fold(None, least);
    assert_eq!(closest_pair(objects).unwrap(), expected, "{what}");
    let all = (0..front.len()).flat_map(|a| (0..back.len()).map(move |b| (a, b)));
    let expected = all.map(|(a, b)| near(a, b, front[a].distance(&back[b]))).fold(None, least);
    assert_eq!(closest_pair_between(front, back).unwrap(), expected, "{what}");
    // Jobs in any order, on any number of threads, give the same.
    let one = || DistanceSearch::new(objects).executor(Reversed);
    let two = || DistanceSearch::between(front, back).executor(Reversed);
    assert_eq!(one().nearest(3), nearest(objects, 3), "{what}");
    assert_eq!(two().nearest(3), nearest_between(front, back, 3), "{what}");
    assert_eq!(one().closest_pair(), closest_pair(objects), "{what}");
    assert_eq!(two().closest_pair(), closest_pair_between(front, back), "{what}");
    let limit = T::from_f64(limits[0]);
    assert_eq!(one().within(limit), pairs_within(objects, limit), "{what}");
}

/// Runs jobs from the last to the first.
struct Reversed;

impl Executor for Reversed {
    fn width(&self) -> usize {
        3
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        (0..jobs).rev().for_each(|number| job(number, number % 3));
    }

    fn work_per_worker(&self) -> usize {
        1
    }
}

#[test]
fn many_jobs_on_several_threads_find_the_same_nearest_and_the_first_closest_pair() {
    // Several jobs, and the smallest distance many times over.
    let grid: Vec<[f32; 2]> = (0..5000).map(|i| [(i % 71) as f32, (i / 71) as f32]).collect();
    let threads = || DistanceSearch::new(&grid).workers(3).unwrap();
    assert_eq!(threads().closest_pair().unwrap(), Some(Near { a: 0, b: 1, distance: 1.0 }));
    assert_eq!(DistanceSearch::new(&grid).executor(Reversed).closest_pair().unwrap(), closest_pair(&grid).unwrap());
    assert_eq!(threads().nearest(5).unwrap(), nearest(&grid, 5).unwrap());
    assert_eq!(threads().within(1.5).unwrap(), pairs_within(&grid, 1.5).unwrap());
    // Two that touch, late in the list, and two later.
    let mut boxes: Vec<Aabb<2, f32>> = grid.iter().map(|&at| Aabb::from_center(at, [0.4; 2])).collect();
    boxes[2100] = boxes[4000];
    boxes[4990] = boxes[4991];
    for executor in [1, 2, 4] {
        let search = DistanceSearch::new(&boxes).workers(executor).unwrap();
        assert_eq!(search.closest_pair().unwrap(), Some(Near { a: 2100, b: 4000, distance: 0.0 }));
    }
}

fn all_shapes<const D: usize, T: Real>() {
    for count in [0, 1, 2, 50, 260] {
        for (side, largest) in [(30.0, 0.5), (8.0, 3.0)] {
            let list = boxes::<D, T>(count, side, largest, 3);
            for (a, b) in [(0, 1), (3, 7), (20, 40)] {
                if let (Some(a), Some(b)) = (list.get(a), list.get(b)) {
                    assert_eq!(a.distance(b), gap(a, b));
                    assert_eq!(a.within(b, gap(a, b) + T::ONE), Some(gap(a, b)));
                }
            }
            let limits = [0.0, 0.5, 1.0, 5.0, 100.0];
            compare(&list, &limits, "boxes");
            let points: Vec<[T; D]> = list.iter().map(|b| b.min).collect();
            compare(&points, &limits, "points");
            let balls: Vec<Ball<D, T>> = list.iter().map(|b| Ball { center: b.min, radius: b.max[0] - b.min[0] }).collect();
            compare(&balls, &limits, "balls");
            // Far from the origin, where a coordinate is hardly finer than a ball.
            let far: Vec<Ball<D, T>> = balls
                .iter()
                .map(|b| Ball { center: b.center.map(|x| x + T::ONE / (T::ONE.next_up() - T::ONE)), radius: b.radius })
                .collect();
            compare(&far, &[0.0, 1.0, 3.0], "far balls");
        }
    }
}

#[test]
fn every_distance_is_that_of_a_double_loop() {
    for_all_kinds!(all_shapes);
}

#[test]
fn infinite_boxes_ties_and_underflow_have_distances() {
    let inf = f32::INFINITY;
    let mut list = boxes::<2, f32>(60, 10.0, 2.0, 4);
    list[0] = Aabb::new([-inf, -inf], [inf, -3.0]);
    list[1] = Aabb::new([20.0, -inf], [inf, inf]);
    list[2] = Aabb::new([inf, inf], [inf, inf]);
    compare(&list, &[0.0, 2.0, 15.0], "infinite boxes");
    let same = vec![[1.0f64, 2.0]; 40];
    compare(&same, &[0.0, 1.0], "one place");
    let tiny: Vec<[f32; 2]> = (0..40).map(|i| [i as f32 * 1e-24, 0.0]).collect();
    compare(&tiny, &[0.0, 1e-23], "squares underflow");
    compare(&[[0.0, 1.0], [-0.0, 1.0], [3.0, 1.0]], &[0.0, 3.0], "both zeros");
}

#[test]
fn bad_objects_and_distances_are_named() {
    let mut points = vec![[0.0, 1.0]; 9];
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(pairs_within(&points, bad), Err(Error::InvalidValue { argument: "distance", .. })), "{bad}");
    }
    points[4][1] = f64::NAN;
    for error in [pairs_within(&points, 1.0).unwrap_err(), nearest(&points, 1).unwrap_err(), closest_pair(&points).unwrap_err()] {
        assert_eq!((error.code(), error.index(), error.axis()), ("invalid-point", Some(4), Some(1)));
    }
    let error = nearest_between(&points[..2], &points, 1).unwrap_err();
    assert_eq!((error.argument(), error.index()), (Some("b"), Some(4)));
    let balls = [Ball { center: [0.0, 0.0], radius: -1.0 }];
    assert!(matches!(closest_pair(&balls), Err(Error::InvalidValue { argument: "radius", .. })));
    let boxes = [Aabb::new([0.0, 2.0], [1.0, 1.0])];
    assert!(matches!(pairs_within(&boxes, 1.0), Err(Error::InvalidBox { index: Some(0), axis: 1, .. })));
}
