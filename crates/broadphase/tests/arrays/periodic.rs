//! Spaces that repeat, against a double loop over all images.

use broadphase::{Aabb, Ball, Error, Period, Real, Search, Shape, Tag, pairs};

use crate::for_all_kinds;
use crate::naive::{self, Random};

/// The images of a box by the definition: the box wrapped into the space, and moved down by a period along any axes on which it
/// reaches the upper end.
fn images<const D: usize, T: Real>(period: &Period<D, T>, value: &Aabb<D, T>) -> Vec<Aabb<D, T>> {
    let mut all = vec![period.wrap_box(value)];
    for k in 0..D {
        let Some((low, high)) = period.ends(k) else { continue };
        for image in all.clone() {
            if image.max[k] >= high {
                let mut moved = image;
                (moved.min[k], moved.max[k]) = (image.min[k] - high + low, image.max[k] - high + low);
                all.push(moved);
            }
        }
    }
    all
}

fn meet<const D: usize, T: Real>(period: &Period<D, T>, shape: Shape, a: &Aabb<D, T>, b: &Aabb<D, T>) -> bool {
    let others = images(period, b);
    let ball = |b: &Aabb<D, T>| Ball::of_box(b);
    images(period, a).iter().any(|a| others.iter().any(|b| a.overlaps(b) && (shape == Shape::Box || ball(a).overlaps(&ball(b)))))
}

/// Boxes up to half the period, a third of them outside of the space, some with corners on its borders.
fn scene<const D: usize, T: Real>(count: usize, side: f64, origin: f64, seed: u64) -> Vec<Aabb<D, T>> {
    let mut random = Random(seed);
    let mut boxes: Vec<Aabb<D, T>> = (0..count)
        .map(|index| {
            let far = if index % 3 == 0 { 3.0 } else { 1.0 };
            let mut min: [f64; D] = std::array::from_fn(|_| origin + (random.unit() - (far - 1.0) / 2.0 / far) * side * far);
            let mut size: [f64; D] = std::array::from_fn(|_| random.unit().powi(4) * side / 2.1);
            if index % 5 == 0 {
                (min, size) = (min.map(f64::floor), size.map(f64::floor));
            }
            Aabb::new(min.map(T::from_f64), std::array::from_fn(|k| T::from_f64(min[k] + size[k])))
        })
        .collect();
    let (low, high) = (T::from_f64(origin), T::from_f64(origin + side));
    boxes.extend([
        Aabb::point([low; D]),
        Aabb::point([high; D]),
        Aabb::new([high - T::ONE; D], [high; D]),
        // Exactly half the period, on both sides of each other.
        Aabb::new([low; D], [low + T::from_f64(side / 2.0); D]),
        Aabb::new([low + T::from_f64(side / 2.0); D], [high; D]),
    ]);
    boxes
}

fn wrapped<const D: usize, T: Real>() {
    let spaces = [
        (Period::new([T::from_f64(16.0); D]), 0.0),
        (Period::new([T::from_f64(16.0); D]).with_origin([T::from_f64(-40.0); D]), -40.0),
        (Period::axes(std::array::from_fn(|k| (k != 0).then_some(T::from_f64(16.0)))), 0.0),
        (Period::axes(std::array::from_fn(|k| (k == 0).then_some(T::from_f64(16.0)))), 0.0),
    ];
    for (round, (period, origin)) in spaces.iter().enumerate() {
        for count in [0, 60, 400] {
            let list = scene::<D, T>(count, 16.0, *origin, 3 + round as u64);
            let n = list.len();
            for shape in [Shape::Box, Shape::Ball] {
                let expected = naive::pairs(n, |a, b| meet(period, shape, &list[a], &list[b]));
                let search = Search::new(&list).periodic(*period).shape(shape);
                assert_eq!(search.list().unwrap(), expected, "space {round}, {shape:?}");
                assert_eq!(search.count().unwrap(), expected.len() as u64);
                let pieces = search.chunks(100).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
                assert_eq!(pieces.concat(), expected);
                let (a, b) = list.split_at(n / 3);
                let expected = naive::pairs_between(a.len(), b.len(), |x, y| meet(period, shape, &a[x], &b[y]));
                assert_eq!(Search::between(a, b).periodic(*period).shape(shape).list().unwrap(), expected);
            }
            let tags: Vec<Tag> = (0..n).map(|index| Tag::new(1 << (index % 3), 3)).collect();
            let keep = |a: usize, b: usize| tags[a].allows(&tags[b]) && (a ^ b) & 1 == 1;
            let expected = naive::pairs(n, |a, b| meet(period, Shape::Box, &list[a], &list[b]) && keep(a, b));
            let search = Search::new(&list).periodic(*period).tags(&tags).filter(|pair| (pair.a ^ pair.b) & 1 == 1);
            assert_eq!(search.workers(2).unwrap().list().unwrap(), expected);
        }
    }
}

#[test]
fn boxes_of_mixed_sizes_meet_over_every_border() {
    for_all_kinds!(wrapped);
}

#[test]
fn a_space_larger_than_everything_in_it_changes_nothing() {
    let list = naive::boxes::<3, f32>(500, 20.0, 4.0, 6);
    let space = Period::new([100.0; 3]);
    assert_eq!(Search::new(&list).periodic(space).list().unwrap(), pairs(&list).unwrap());
}

#[test]
fn half_open_boxes_do_not_touch_over_a_border() {
    let list = [Aabb::new([0.0], [1.0]), Aabb::new([9.0], [10.0]), Aabb::new([8.5], [9.25])]
        .map(|b| Aabb::new([b.min[0], 0.0], [b.max[0], 1.0]));
    let search = Search::new(&list).periodic(Period::axes([Some(10.0), None]));
    assert_eq!(search.count().unwrap(), 2);
    assert_eq!(search.half_open().list().unwrap(), [broadphase::Pair { a: 1, b: 2 }]);
}

#[test]
fn a_box_longer_than_half_the_period_is_an_error_that_says_so() {
    let mut list = vec![Aabb::new([0.0, 0.0], [1.0, 1.0]); 3];
    list[2].max[1] = 5.5;
    let search = Search::new(&list).periodic(Period::new([10.0, 10.0]));
    let error = search.list().unwrap_err();
    assert_eq!(error, Error::BoxTooLong { index: 2, axis: 1, length: 5.5, period: 10.0 });
    let text = "object 2: 5.5 on axis y is more than half the period of 10; cut it into shorter boxes";
    assert_eq!(error.to_string(), text);
    let ground = [Aabb::new([f64::NEG_INFINITY, 0.0], [0.0, 1.0])];
    assert!(matches!(Search::new(&ground).periodic(Period::new([1.0, 9.0])).list(), Err(Error::BoxTooLong { .. })));
    for length in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Search::new(&list).periodic(Period::axes([None, Some(length)])).list().unwrap_err();
        assert!(matches!(error, Error::InvalidValue { argument: "period", axis: Some(1), .. }), "{error}");
    }
    let between = Search::between(&list[..1], &list).periodic(Period::new([10.0, 10.0])).list().unwrap_err();
    assert_eq!((between.argument(), between.index(), between.axis()), (Some("b"), Some(2), Some(1)));
}
