//! Neighbors of points, against a double loop.

use broadphase::{Cancel, Error, NeighborSearch, Neighbors, Period, Real, neighbors};
use proptest::prelude::*;

use crate::naive::Random;

fn points<const D: usize, T: Real>(count: usize, side: f64, seed: u64) -> Vec<[T; D]> {
    let mut random = Random(seed);
    (0..count)
        .map(|index| {
            let point: [f64; D] = std::array::from_fn(|_| random.unit() * side);
            // Some on whole numbers, so that distances are exactly the radius.
            point.map(|x| T::from_f64(if index % 3 == 0 { x.floor() } else { x }))
        })
        .collect()
}

/// Rows by the definition.
fn naive<const D: usize, T: Real>(points: &[[T; D]], radius: T, period: Option<&Period<D, T>>, half: bool) -> Neighbors<T> {
    let mut rows = Neighbors { offsets: vec![0], indices: Vec::new(), distances: Vec::new() };
    let wrapped: Vec<[T; D]> = points.iter().map(|&p| period.map_or(p, |period| period.wrap(p))).collect();
    for a in 0..points.len() {
        for b in 0..points.len() {
            let mut sum = T::ZERO;
            for k in 0..D {
                let (x, y) = (wrapped[a][k], wrapped[b][k]);
                let d = period.map_or((x - y).abs(), |period| {
                    let d = (x - y).abs();
                    period.length(k).map_or(d, |length| if d < length - d { d } else { length - d })
                });
                sum = if k == 0 { d * d } else { sum + d * d };
            }
            if a != b && sum <= radius * radius && (!half || a < b) {
                rows.indices.push(b as u32);
                rows.distances.push(sum.sqrt());
            }
        }
        rows.offsets.push(rows.indices.len());
    }
    rows
}

fn compare<const D: usize, T: Real>(points: &[[T; D]], radius: T, period: Option<Period<D, T>>, what: &str) {
    let expected = naive(points, radius, period.as_ref(), false);
    let mut search = NeighborSearch::new(points, radius);
    if let Some(period) = period {
        search = search.periodic(period);
    } else {
        let found = neighbors(points, radius).unwrap();
        assert_eq!((&found.offsets, &found.indices), (&expected.offsets, &expected.indices), "{what}");
        assert!(found.distances.is_empty());
    }
    assert_eq!(search.clone().distances().list().unwrap(), expected, "{what}");
    assert_eq!(search.clone().distances().workers(3).unwrap().list().unwrap(), expected, "{what}, threads");
    let pairs = search.pairs().unwrap();
    assert_eq!(pairs, search.clone().half().workers(3).unwrap().pairs().unwrap(), "{what}, threads");
    let half = search.half().distances().list().unwrap();
    assert_eq!(half.pairs(), pairs, "{what}, half");
    assert_eq!(half, naive(points, radius, period.as_ref(), true), "{what}, half");
    assert!(half.pairs().is_sorted());
    assert_eq!(half.pairs().len() * 2, expected.indices.len());
}

fn all<const D: usize, T: Real>() {
    let side = [0.0, 60.0, 14.0, 8.0, 6.0][D];
    for count in [0, 1, 2, 40, 600] {
        let list = points::<D, T>(count, side, 3);
        for radius in [0.0, 0.3, 1.0, 2.0, 3.5, 100.0] {
            compare(&list, T::from_f64(radius), None, &format!("{count} points within {radius}"));
        }
        let mut list = points::<D, T>(count, 3.0 * side, 5);
        list.iter_mut().for_each(|p| *p = p.map(|x| x - T::from_f64(side)));
        let lengths = [T::from_f64(side); D];
        let mixed = std::array::from_fn(|k| (k % 2 == 0).then_some(T::from_f64(side)));
        let shifted = Period::new(lengths).with_origin([T::from_f64(-17.5); D]);
        for (name, period) in [("all", Period::new(lengths)), ("some", Period::axes(mixed)), ("shifted", shifted)] {
            // Many cells, three, two, one.
            for radius in [0.0, 0.4, 1.0, side / 3.1, side / 2.5, side / 2.0] {
                let what = format!("{count} points within {radius}, period along {name} axes");
                compare(&list, T::from_f64(radius), Some(period), &what);
            }
        }
    }
}

#[test]
fn rows_match_a_double_loop_in_one_to_four_dimensions() {
    all::<1, f32>();
    all::<1, f64>();
    all::<2, f32>();
    all::<2, f64>();
    all::<3, f32>();
    all::<3, f64>();
    all::<4, f32>();
    all::<4, f64>();
}

#[test]
fn five_dimensions_work_too() {
    let list = points::<5, f64>(300, 4.0, 1);
    compare(&list, 1.0, None, "5D");
    compare(&list, 1.0, Some(Period::new([4.0; 5])), "5D, periodic");
}

fn far_ones<const D: usize, T: Real>() {
    // A crowd and a few points very far away: cells as narrow as the radius would be far too many, and wide ones hold the whole crowd.
    let mut list = points::<D, T>(700, 10.0, 2);
    for index in 0..8 {
        list[index * 50] = [T::from_f64(1e9 * (index as f64 - 3.0)); D];
    }
    compare(&list, T::from_f64(0.5), None, "a crowd and far points");
    list[3] = [T::INFINITY; D];
    list[4] = [T::INFINITY; D];
    list[5][0] = T::NEG_INFINITY;
    compare(&list, T::from_f64(0.5), None, "infinite points are near to nothing");
    // Differences whose squares underflow count as none.
    let tiny = T::MIN_POSITIVE.sqrt() * T::from_f64(0.3);
    let close: Vec<[T; D]> = (0..60).map(|index| [T::from_f64(index as f64 * 0.5) * tiny; D]).collect();
    compare(&close, T::ZERO, None, "squares underflow");
    let same = vec![[T::ONE; D]; 150];
    compare(&same, T::ZERO, None, "all at one place");
    compare(&same, T::ONE, Some(Period::new([T::from_f64(4.0); D])), "all at one place, periodic");
    compare(&[[T::ZERO; D], [-T::ZERO; D]], T::ZERO, None, "both zeros");
    let huge: Vec<[T; D]> = [-1.0, -0.9, 0.0, 1.0].map(|x| [T::MAX * T::from_f64(x); D]).to_vec();
    compare(&huge, T::ONE, None, "an extent that overflows");
}

#[test]
fn outliers_infinities_ties_and_underflow_are_as_in_a_double_loop() {
    far_ones::<1, f64>();
    far_ones::<2, f32>();
    far_ones::<2, f64>();
    far_ones::<3, f32>();
    far_ones::<3, f64>();
    far_ones::<4, f32>();
}

#[test]
fn bad_input_is_named() {
    let mut list = points::<3, f32>(50, 4.0, 1);
    let radius = |radius: f32| neighbors(&points::<3, f32>(5, 4.0, 1), radius);
    for bad in [-1.0, f32::NAN, f32::INFINITY, 1e30] {
        assert!(matches!(radius(bad), Err(Error::InvalidValue { argument: "radius", .. })), "{bad}");
    }
    let search = NeighborSearch::new(&list, 3.0).periodic(Period::axes([None, Some(5.0), None]));
    let error = search.list().unwrap_err();
    assert_eq!(error.to_string(), "radius: 3 is not allowed; it must be at most half of each period");
    list[7][2] = f32::INFINITY;
    assert!(neighbors(&list, 1.0).is_ok());
    let error = NeighborSearch::new(&list, 1.0).periodic(Period::new([9.0; 3])).list().unwrap_err();
    assert_eq!(error, Error::InvalidPoint { index: 7, axis: 2, value: f64::INFINITY });
    list[31][1] = f32::NAN;
    let error = neighbors(&list, 1.0).unwrap_err();
    assert_eq!((error.code(), error.index(), error.axis()), ("invalid-point", Some(31), Some(1)));
    let cancel = Cancel::new();
    cancel.cancel();
    assert_eq!(NeighborSearch::new(&list[..5], 1.0).cancel(&cancel).list(), Err(Error::Cancelled));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_points_any_radius_any_period(
        list in prop::collection::vec(prop::array::uniform3(-20i32..20), 0..80),
        radius in 0u32..24,
        lengths in prop::array::uniform3(prop::option::of(6u32..30)),
        scale in prop::sample::select(vec![1.0f64, 0.1, 1.0 / 3.0, 1e20]),
    ) {
        let list: Vec<[f64; 3]> = list.iter().map(|p| p.map(|x| f64::from(x) * scale)).collect();
        let shortest = lengths.iter().flatten().min().copied().unwrap_or(100);
        let radius = (f64::from(radius) * 0.5).min(f64::from(shortest) / 2.0) * scale;
        let period = Period::axes(lengths.map(|length| length.map(|length| f64::from(length) * scale)));
        compare(&list, radius.min(shortest as f64 * scale * 0.5), Some(period), "random");
        compare(&list, radius, None, "random");
    }
}

/// A box near the lower end, moved by so long a period, would lose its width: the points are compared in their cells instead.
#[test]
fn a_period_that_swallows_the_radius_loses_no_neighbor() {
    let mut points = vec![[0.0; 1]; 60];
    points.extend([[-8.0], [8.0], [1.0 - f64::EPSILON / 2.0]]);
    compare(&points, 7.0, Some(Period::new([6.8e38])), "a period of 6.8e38");
    let points: Vec<[f32; 2]> = points.iter().map(|p| [p[0] as f32, 0.5]).collect();
    compare(&points, 7.0, Some(Period::axes([Some(1e30), None])), "a period along x of 1e30");
}
