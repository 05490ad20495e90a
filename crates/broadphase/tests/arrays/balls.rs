//! Balls of about the same size, against a double loop; many of them, which are found by cells of points, against another algorithm.

use broadphase::{Aabb, Ball, Cancel, Error, Pair, Period, Real, Search, Shape, Tag};

use crate::for_all_kinds;
use crate::naive::{self, Random};

/// Balls of radius 1 to `spread` as boxes, every third one at a whole number, so that many touch exactly.
fn balls<const D: usize, T: Real>(count: usize, spread: f64, shift: f64) -> Vec<Aabb<D, T>> {
    let (mut random, side) = (Random(7), (count as f64 * 3.0).powf(1.0 / D as f64));
    (0..count)
        .map(|index| {
            let center: [f64; D] = std::array::from_fn(|_| random.unit() * side);
            let center = if index % 3 == 0 { center.map(f64::floor) } else { center };
            let radius = T::from_f64(1.0 + (spread - 1.0) * random.unit());
            Aabb::from_center(center.map(|x| T::from_f64(x + shift)), [radius; D])
        })
        .collect()
}

/// By the definition.
fn meet<const D: usize, T: Real>(a: &Aabb<D, T>, b: &Aabb<D, T>) -> bool {
    a.overlaps(b) && Ball::of_box(a).overlaps(&Ball::of_box(b))
}

fn compare<const D: usize, T: Real>(list: &[Aabb<D, T>], what: &str) -> Vec<Pair> {
    let expected = naive::pairs(list.len(), |a, b| meet(&list[a], &list[b]));
    let search = Search::new(list).shape(Shape::Ball);
    assert_eq!(search.list().unwrap(), expected, "{what}");
    assert_eq!(search.clone().workers(3).unwrap().list().unwrap(), expected, "{what}, threads");
    assert_eq!(search.clone().algorithm("tiles".parse().unwrap()).list().unwrap(), expected, "{what}, tiles");
    let mut unsorted = search.clone().sort(false).list().unwrap();
    unsorted.sort_unstable();
    assert_eq!(unsorted, expected, "{what}, not sorted");
    assert_eq!(search.count().unwrap(), expected.len() as u64, "{what}, counted");
    assert_eq!(search.chunks(77).unwrap().collect::<Result<Vec<_>, _>>().unwrap().concat(), expected, "{what}, chunks");
    expected
}

fn all<const D: usize, T: Real>() {
    for count in [129, 900] {
        for spread in [1.0, 1.005, 1.02, 3.0] {
            // Far from the origin, centers and radii are rounded: at 3e6 to a quarter, if they are of 32 bits.
            for shift in [0.0, -1000.3, 3e6] {
                let found = compare(&balls::<D, T>(count, spread, shift), &format!("{count} balls up to {spread}, at {shift}"));
                assert!(found.len() > count / 2);
            }
        }
    }
}

#[test]
fn balls_of_about_the_same_size_match_a_double_loop() {
    for_all_kinds!(all);
}

fn odd_ones<const D: usize, T: Real>() {
    let mut list = balls::<D, T>(400, 1.0, 0.0);
    list[7].max[D - 1] = list[7].center()[D - 1]; // half as high: its box is what separates it from others
    compare(&list, "one box is not a cube");
    let mut list = balls::<D, T>(400, 1.0, 0.0);
    list[9] = Aabb::everything();
    compare(&list, "one box is infinite");
    list[9] = Aabb::from_center([T::from_f64(1e30); D], [T::ONE; D]);
    compare(&list, "one ball is far away, and has lost its radius to rounding");
    let points: Vec<_> = list.iter().map(|value| Aabb::point(value.center())).collect();
    compare(&points, "balls without extent");
    let tiny = T::MIN_POSITIVE * T::from_f64(3.0);
    let crowd: Vec<_> = (0..200).map(|k| Aabb::from_center([tiny * T::from_f64(f64::from(k)); D], [tiny; D])).collect();
    compare(&crowd, "squares underflow");
    let huge: Vec<_> = (0..200).map(|k| Aabb::from_center([T::from_f64(f64::from(k)); D], [T::MAX * T::HALF; D])).collect();
    compare(&huge, "squares overflow");
}

#[test]
fn balls_that_differ_from_the_others_are_found_too() {
    for_all_kinds!(odd_ones);
}

#[test]
fn errors_of_balls_are_those_of_boxes() {
    let mut list = balls::<3, f32>(500, 1.0, 0.0);
    let count = Search::new(&list).shape(Shape::Ball).list().unwrap().len() as u64;
    let limited = |limit: u64| Search::new(&list).shape(Shape::Ball).limit(limit).list();
    assert_eq!(limited(count).unwrap().len() as u64, count);
    assert_eq!(limited(count - 1).unwrap_err(), Error::TooManyPairs { limit: count - 1 });
    let cancel = Cancel::new();
    cancel.cancel();
    assert_eq!(Search::new(&list).shape(Shape::Ball).cancel(&cancel).list().unwrap_err(), Error::Cancelled);
    list[77].max[1] = f32::NAN;
    assert!(matches!(Search::new(&list).shape(Shape::Ball).list(), Err(Error::InvalidBox { index: Some(77), axis: 1, .. })));
}

#[test]
fn many_balls_are_what_another_algorithm_finds() {
    let list = balls::<3, f64>(70_000, 1.005, 0.3);
    let search = Search::new(&list).shape(Shape::Ball);
    let expected = search.clone().algorithm("tiles".parse().unwrap()).list().unwrap();
    assert!(expected.len() > 70_000);
    assert_eq!(search.list().unwrap(), expected);
    assert_eq!(search.workers(3).unwrap().list().unwrap(), expected);
}

/// Points with a margin against boxes without extent, in every way to ask.
fn points<const D: usize, T: Real>() {
    for count in [0, 1, 129, 900, 5000] {
        let boxes: Vec<Aabb<D, T>> = balls::<D, T>(count, 1.0, 0.0).iter().map(|value| Aabb::point(value.center())).collect();
        let points: Vec<[T; D]> = boxes.iter().map(|value| value.min).collect();
        let tags: Vec<Tag> = (0..count).map(|index| Tag { group: (index % 3) as u32, ..Tag::default() }).collect();
        for shape in [Shape::Box, Shape::Ball] {
            for margin in [T::ZERO, T::ONE] {
                let [at_points, in_boxes] =
                    [Search::points(&points), Search::new(&boxes)].map(|search| search.shape(shape).margin(margin));
                let expected = in_boxes.list().unwrap();
                assert_eq!(at_points.list().unwrap(), expected, "{count} points, {shape:?}, margin {margin:?}");
                assert_eq!(at_points.count().unwrap(), expected.len() as u64);
                assert_eq!(at_points.chunks(100).unwrap().collect::<Result<Vec<_>, _>>().unwrap().concat(), expected);
                assert_eq!(at_points.clone().workers(3).unwrap().list().unwrap(), expected);
                assert_eq!(at_points.clone().tags(&tags).list(), in_boxes.clone().tags(&tags).list());
                assert_eq!(at_points.clone().half_open().list(), in_boxes.clone().half_open().list());
                let period = Period::new([T::from_f64(40.0); D]);
                assert_eq!(at_points.clone().periodic(period).list(), in_boxes.clone().periodic(period).list());
                assert_eq!(
                    at_points.clone().filter(|pair| pair.a % 2 == 0).list(),
                    in_boxes.clone().filter(|pair| pair.a % 2 == 0).list()
                );
            }
        }
    }
    // So many that they are found by cells.
    let many: Vec<[T; D]> = balls::<D, T>(70_000, 1.0, 0.0).iter().map(Aabb::center).collect();
    let search = Search::points(&many).shape(Shape::Ball).margin(T::ONE);
    assert_eq!(search.list().unwrap(), search.clone().algorithm("tiles".parse().unwrap()).list().unwrap());
    let bad = [[T::ZERO; D], [T::NAN; D]];
    let boxes = bad.map(Aabb::point);
    assert_eq!(Search::points(&bad).margin(T::ONE).list(), Search::new(&boxes).margin(T::ONE).list());
    assert_eq!(Search::points(&bad).margin(-T::ONE).list(), Search::new(&boxes).margin(-T::ONE).list());
}

#[test]
fn points_with_a_margin_are_boxes_without_extent() {
    for_all_kinds!(points);
}
