//! `particles`: neighbors of points and pairs of boxes in one call, in plain and periodic spaces, against double loops over all images.

use broadphase::{Aabb, Ball, Error, NeighborSearch, Neighbors, Pair, Period, Real, Search, Shape, pairs_between};
use broadphase_testing::executors::Serialized;
use broadphase_testing::naive::touch;

use crate::nasty::Coordinates;
use crate::world::box_specs;
use crate::{Bytes, Counts};

/// Runs an input.
pub fn run(data: &[u8]) -> Counts {
    let mut bytes = Bytes::new(data);
    match bytes.below(5) {
        0 => drive::<2, f32>(&mut bytes),
        1 => drive::<3, f32>(&mut bytes),
        2 => drive::<2, f64>(&mut bytes),
        3 => drive::<3, f64>(&mut bytes),
        _ => drive::<1, f64>(&mut bytes),
    }
}

fn drive<const D: usize, T: Real>(bytes: &mut Bytes) -> Counts {
    let mut counts = Counts::default();
    counts.meet(&format!("{D}D {}", T::NAME));
    let mut left = 8;
    while left > 0 && (!bytes.is_empty() || left == 8) {
        left -= 1;
        let coordinates = Coordinates::draw(bytes);
        points::<D, T>(bytes, coordinates, &mut counts);
        // Lists of boxes are compiled for the plane and for space.
        match D {
            2 => boxes::<2, T>(bytes, coordinates, &mut counts),
            3 => boxes::<3, T>(bytes, coordinates, &mut counts),
            _ => {}
        }
    }
    counts
}

/// None, or a period along some axes.
fn period<const D: usize, T: Real>(bytes: &mut Bytes, coordinates: Coordinates) -> Option<Period<D, T>> {
    let code = bytes.below(4);
    if code == 0 {
        return None;
    }
    let lengths = std::array::from_fn(|_| {
        (!bytes.one_in(4)).then(|| {
            if code == 3 && !coordinates.is_tame() {
                coordinates.coordinate::<T>(bytes)
            } else {
                T::from_f64(f64::from(1 + bytes.byte() % 24))
            }
        })
    });
    let origin = if bytes.one_in(2) { T::ZERO } else { T::from_f64(f64::from(bytes.byte()) * 0.25 - 20.0) };
    Some(Period::axes(lengths).with_origin([origin; D]))
}

/// A period that no search may refuse.
fn is_sound<const D: usize, T: Real>(period: &Period<D, T>) -> bool {
    (0..D).all(|k| {
        let length = period.length(k).unwrap_or(T::ONE);
        let (low, high) = period.ends(k).unwrap_or((T::ZERO, T::ONE));
        length > T::ZERO && length.is_finite() && low < high && low.is_finite() && high.is_finite()
    })
}

/// Rows by the definition.
fn naive<const D: usize, T: Real>(points: &[[T; D]], radius: T, period: Option<&Period<D, T>>, half: bool) -> Neighbors<T> {
    let mut rows = Neighbors { offsets: vec![0], indices: Vec::new(), distances: Vec::new() };
    let wrapped: Vec<[T; D]> = points.iter().map(|&p| period.map_or(p, |period| period.wrap(p))).collect();
    for a in 0..points.len() {
        for b in 0..points.len() {
            let mut sum = T::ZERO;
            for k in 0..D {
                let direct = (wrapped[a][k] - wrapped[b][k]).abs();
                let around = period.and_then(|period| period.length(k)).map(|length| length - direct);
                let d = around.map_or(direct, |around| if direct < around { direct } else { around });
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

fn points<const D: usize, T: Real>(bytes: &mut Bytes, coordinates: Coordinates, counts: &mut Counts) {
    let mut points: Vec<[T; D]> = (0..bytes.below(80)).map(|_| std::array::from_fn(|_| coordinates.coordinate(bytes))).collect();
    if bytes.one_in(16) && !points.is_empty() {
        let at = bytes.below(points.len());
        points[at][bytes.below(D)] = T::NAN;
    }
    let period = period::<D, T>(bytes, coordinates);
    let radius = match bytes.below(8) {
        0 => coordinates.coordinate::<T>(bytes),
        1 => T::NAN,
        _ => T::from_f64(f64::from(bytes.byte() % 32) * 0.25),
    };
    let (half, width) = (bytes.one_in(2), 1 + bytes.below(3));
    let mut search = NeighborSearch::new(&points, radius).distances().executor(Serialized::reversed(width));
    if let Some(period) = period {
        search = search.periodic(period);
    }
    if half {
        search = search.half();
    }
    counts.operations += points.len() as u64;
    let periodic = |k: usize| period.is_some_and(|period| period.length(k).is_some());
    let fits = |period: &Period<D, T>| is_sound(period) && (0..D).all(|k| period.length(k).is_none_or(|l| radius <= l * T::HALF));
    let is_bad = |point: &[T; D]| (0..D).any(|k| point[k].is_nan() || (periodic(k) && !point[k].is_finite()));
    let refused = !(radius >= T::ZERO && (radius * radius).is_finite() && period.as_ref().is_none_or(fits));
    match search.list() {
        Ok(found) => {
            assert!(!refused && !points.iter().any(is_bad), "a fault was not noticed: radius {radius}, {period:?}");
            let expected = naive(&points, radius, period.as_ref(), half);
            assert_eq!(found, expected, "neighbors within {radius} of {points:?}, {period:?}, half {half}");
            counts.compared += expected.indices.len() as u64;
            counts.operation(if period.is_some() { "neighbors in a period" } else { "neighbors" });
        }
        Err(error) => {
            let expected = if refused { "invalid-value" } else { "invalid-point" };
            assert_eq!(error.code(), expected, "{error}: radius {radius}, {period:?}, {points:?}");
            assert!(refused || points.iter().any(is_bad), "{error}");
            counts.operation(&format!("neighbors: {}", error.code()));
        }
    }
}

/// The images of a box: wrapped into the space, and moved down by a period along any axes on which it reaches the upper end.
fn images<const D: usize, T: Real>(period: Option<&Period<D, T>>, value: &Aabb<D, T>) -> Vec<Aabb<D, T>> {
    let Some(period) = period else { return vec![*value] };
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

/// Do any two of their images touch?
fn meet<const D: usize, T: Real>(shape: Shape, a: &[Aabb<D, T>], b: &[Aabb<D, T>]) -> bool {
    let fits = |a: &Aabb<D, T>, b: &Aabb<D, T>| shape == Shape::Box || Ball::of_box(a).overlaps(&Ball::of_box(b));
    a.iter().any(|a| b.iter().any(|b| touch(a, b) && fits(a, b)))
}

fn boxes<const D: usize, T: Real>(bytes: &mut Bytes, coordinates: Coordinates, counts: &mut Counts) {
    let mut list: Vec<Aabb<D, T>> = Vec::new();
    for _ in 0..bytes.below(50) {
        list.push(coordinates.aabb(bytes, &list));
    }
    let others: Vec<Aabb<D, T>> = (0..bytes.below(12)).map(|_| coordinates.aabb(bytes, &list)).collect();
    let period = period::<D, T>(bytes, coordinates).filter(is_sound);
    let shape = if coordinates.is_tame() && bytes.one_in(3) { Shape::Ball } else { Shape::Box };
    let margin = T::from_f64(f64::from(bytes.byte() % 4) * 0.25);
    let specs = box_specs();
    let spec = *bytes.pick(&specs);
    let between = bytes.one_in(3);
    let mut search = if between { Search::between(&list[..], &others[..]) } else { Search::new(&list[..]) };
    search = search.algorithm(spec.clone()).shape(shape).margin(margin);
    if let Some(period) = period {
        search = search.periodic(period);
    }
    counts.operations += (list.len() + others.len()) as u64;
    let grown = |list: &[Aabb<D, T>]| -> Vec<Aabb<D, T>> { list.iter().map(|value| value.grow(margin)).collect() };
    let (first, second) = (grown(&list), grown(&others));
    let is_long = |value: &&Aabb<D, T>| {
        period.is_some_and(|period| {
            (0..D).any(|k| {
                let long = |length: T| !(value.max[k] - value.min[k] <= length * T::HALF && value.min[k].is_finite());
                period.length(k).is_some_and(long)
            })
        })
    };
    match search.list() {
        Err(error) => {
            let error = if let Error::Argument { error, .. } = error { *error } else { error };
            assert!(matches!(error, Error::BoxTooLong { .. }), "{error}");
            assert!(first.iter().chain(&second).any(|value| is_long(&value)), "{error}");
            counts.operation("a box is too long for the period");
        }
        Ok(found) => {
            assert!(!first.iter().find(is_long).is_some_and(|_| true), "a box that is too long was not noticed");
            let index = |a: usize, b: usize| Pair { a: a as u32, b: b as u32 };
            let (first, second) =
                [&first, &second].map(|list| list.iter().map(|value| images(period.as_ref(), value)).collect::<Vec<_>>()).into();
            let expected: Vec<Pair> = if between {
                let all = (0..first.len()).flat_map(|a| (0..second.len()).map(move |b| (a, b)));
                all.filter(|&(a, b)| meet(shape, &first[a], &second[b])).map(|(a, b)| index(a, b)).collect()
            } else {
                let all = (0..first.len()).flat_map(|a| (a + 1..first.len()).map(move |b| (a, b)));
                all.filter(|&(a, b)| meet(shape, &first[a], &first[b])).map(|(a, b)| index(a, b)).collect()
            };
            assert_eq!(found, expected, "{spec}: {period:?}, {shape:?}, margin {margin}");
            counts.compared += expected.len() as u64;
            counts.operation(if period.is_some() { "pairs in a period" } else { "pairs" });
            assert_eq!(search.count().expect("the same search"), expected.len() as u64);
            if between && margin == T::ZERO && shape == Shape::Box && period.is_none() {
                assert_eq!(pairs_between(&list, &others).expect("valid boxes"), expected);
            }
        }
    }
}
