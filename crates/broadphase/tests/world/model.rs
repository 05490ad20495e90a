//! The naive world: a map of objects, all pairs by definition, differences as sets.

use std::collections::{BTreeMap, BTreeSet};

use broadphase::geometry::Measure;
use broadphase::{Aabb, Ball, Handle, Object, ObjectKind, Pairing, Period, Ray, Real, Shape, Tag};

/// A world without any structure.
#[derive(Clone)]
pub struct Model<const D: usize, T> {
    pub objects: BTreeMap<Handle, Object<D, T>>,
    pub margin: T,
    pub shape: Shape,
    /// Pairs whose indices add up to a multiple of this are filtered out, if it is not 0.
    pub filter: u32,
    pub pairing: Pairing,
    pub period: Option<Period<D, T>>,
    pub last: BTreeSet<(Handle, Handle)>,
    pub values: BTreeMap<(Handle, Handle), u64>,
}

/// An object with the images of its box.
struct Imaged<'a, const D: usize, T> {
    handle: Handle,
    object: &'a Object<D, T>,
    images: Vec<Aabb<D, T>>,
}

impl<const D: usize, T: Real> Model<D, T> {
    pub fn new() -> Self {
        Self {
            objects: BTreeMap::new(),
            margin: T::ZERO,
            shape: Shape::Box,
            filter: 0,
            pairing: Pairing::CONTACTS,
            period: None,
            last: BTreeSet::new(),
            values: BTreeMap::new(),
        }
    }

    fn grown(&self, object: &Object<D, T>) -> Aabb<D, T> {
        object.aabb.grow(object.margin + self.margin)
    }

    fn pair(&self, a: &Imaged<D, T>, b: &Imaged<D, T>) -> bool {
        let (x, y) = (a.object, b.object);
        a.images.iter().any(|p| b.images.iter().any(|q| p.overlaps(q) && self.shapes_meet((x, p), (y, q))))
            && self.kinds_pair(x, y)
            && x.tag.allows(&y.tag)
            && (self.filter == 0 || !(a.handle.index + b.handle.index).is_multiple_of(self.filter))
    }

    /// The images of a box by the definition: the box wrapped into the space, and moved down by a period along any axes on which it reaches
    /// the upper end. Without a period, the box.
    fn images(&self, value: &Aabb<D, T>) -> Vec<Aabb<D, T>> {
        let Some(period) = &self.period else { return vec![*value] };
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

    /// Where a query looks for a box: in a space that repeats, wrapped and moved by up to three periods to each side; else where it is.
    fn places(&self, value: &Aabb<D, T>) -> Vec<Aabb<D, T>> {
        self.places_within(value, 3)
    }

    fn places_within(&self, value: &Aabb<D, T>, periods: i32) -> Vec<Aabb<D, T>> {
        let Some(period) = &self.period else { return vec![*value] };
        let mut all = vec![period.wrap_box(value)];
        for k in 0..D {
            let Some(length) = period.length(k) else { continue };
            let moved = |image: &Aabb<D, T>, step: i32| {
                let by = std::array::from_fn(|axis| if axis == k { T::from_f64(f64::from(step)) * length } else { T::ZERO });
                image.translate(by)
            };
            all = all.iter().flat_map(|image| (-periods..=periods).map(move |step| moved(image, step))).collect();
        }
        all
    }

    /// The table of kinds and sensors, case by case.
    fn kinds_pair(&self, x: &Object<D, T>, y: &Object<D, T>) -> bool {
        let count = |kind: ObjectKind| usize::from(x.kind == kind) + usize::from(y.kind == kind);
        match (count(ObjectKind::Static), count(ObjectKind::Kinematic), usize::from(x.sensor) + usize::from(y.sensor)) {
            (2, ..) | (.., 2) => false,
            (.., 1) => true,
            (0, 2, _) => self.pairing.kinematic_kinematic,
            (1, 1, _) => self.pairing.kinematic_static,
            _ => true,
        }
    }

    /// The exact test, as a distance of points: of two centers, or of a center and the nearest point of the box.
    fn shapes_meet(&self, (x, p): (&Object<D, T>, &Aabb<D, T>), (y, q): (&Object<D, T>, &Aabb<D, T>)) -> bool {
        let shape = |object: &Object<D, T>| object.shape.unwrap_or(self.shape);
        let reaches = |ball: &Aabb<D, T>, area: &Aabb<D, T>| {
            let Ball { center, radius } = Ball::of_box(ball);
            let nearest: [T; D] = std::array::from_fn(|k| center[k].max(area.min[k]).min(area.max[k]));
            let squares = (0..D).map(|k| (center[k] - nearest[k]) * (center[k] - nearest[k]));
            squares.reduce(|sum, square| sum + square).unwrap() <= radius * radius
        };
        match (shape(x), shape(y)) {
            (Shape::Box, Shape::Box) => true,
            (Shape::Ball, Shape::Ball) => Ball::of_box(p).overlaps(&Ball::of_box(q)),
            (Shape::Ball, Shape::Box) => reaches(p, q),
            (Shape::Box, Shape::Ball) => reaches(q, p),
        }
    }

    pub fn pairs(&self) -> BTreeSet<(Handle, Handle)> {
        let objects = self.objects.iter();
        let all: Vec<_> =
            objects.map(|(&handle, object)| Imaged { handle, object, images: self.images(&self.grown(object)) }).collect();
        let mut pairs = Vec::new();
        for (at, a) in all.iter().enumerate() {
            pairs.extend(all[at + 1..].iter().filter(|b| self.pair(a, b)).map(|b| (a.handle, b.handle)));
        }
        pairs.into_iter().collect()
    }

    /// The next frame: pairs, started, ended.
    #[allow(clippy::type_complexity)]
    pub fn update(&mut self) -> (Vec<(Handle, Handle)>, Vec<(Handle, Handle)>, Vec<(Handle, Handle)>) {
        let now = self.pairs();
        let started = now.difference(&self.last).copied().collect();
        let ended: Vec<_> = self.last.difference(&now).copied().collect();
        ended.iter().for_each(|pair| _ = self.values.remove(pair));
        self.last = now;
        (self.last.iter().copied().collect(), started, ended)
    }

    /// What a scan finds within `limit`, by handle.
    pub fn search(&self, measure: &dyn Measure<D, T>, limit: T, tag: Option<Tag>) -> Vec<(Handle, T)> {
        let seen = self.objects.iter().filter(|(_, object)| tag.is_none_or(|tag| tag.allows(&object.tag)));
        let distance_of = |object: &Object<D, T>, target: Aabb<D, T>| {
            let at = measure.bound(&target).and_then(|bound| measure.distance(&target, bound));
            let at = match object.shape.unwrap_or(self.shape) {
                Shape::Box => at,
                Shape::Ball => at.and_then(|at| measure.distance_to_ball(&Ball::of_box(&target), at)),
            };
            at.filter(|&at| at <= limit)
        };
        let distance = |object: &Object<D, T>| {
            let places = self.places(&self.grown(object)).into_iter();
            places.filter_map(|target| distance_of(object, target)).min_by(|a, b| a.partial_cmp(b).unwrap())
        };
        seen.filter_map(|(handle, object)| distance(object).map(|at| (*handle, at))).collect()
    }

    /// What a scan finds of images up to so many periods away, wherever they are, by handle.
    pub fn search_far(&self, measure: &dyn Measure<D, T>, periods: i32) -> Vec<Handle> {
        let reached = |object: &Object<D, T>, target: &Aabb<D, T>| match object.shape.unwrap_or(self.shape) {
            Shape::Box => measure.bound(target).is_some(),
            Shape::Ball => {
                let bound = measure.bound(target);
                bound.and_then(|bound| measure.distance_to_ball(&Ball::of_box(target), bound)).is_some()
            }
        };
        let any =
            |object: &Object<D, T>| self.places_within(&self.grown(object), periods).iter().any(|target| reached(object, target));
        self.objects.iter().filter(|(_, object)| any(object)).map(|(handle, _)| *handle).collect()
    }

    /// The objects of which an image up to so many periods away has its center, or a corner of a box, where `inside` says.
    pub fn points_far(&self, periods: i32, inside: impl Fn([T; D]) -> bool) -> Vec<Handle> {
        let any = |object: &Object<D, T>| {
            let is_ball = object.shape.unwrap_or(self.shape) == Shape::Ball;
            self.places_within(&self.grown(object), periods).iter().any(|target| {
                inside(target.center())
                    || !is_ball
                        && (0..1 << D).any(|bits| {
                            inside(std::array::from_fn(|k| if bits >> k & 1 == 1 { target.max[k] } else { target.min[k] }))
                        })
            })
        };
        self.objects.iter().filter(|(_, object)| any(object)).map(|(handle, _)| *handle).collect()
    }

    pub fn in_box(&self, area: &Aabb<D, T>) -> Vec<Handle> {
        let reached = |o: &Object<D, T>| {
            let target = self.grown(o);
            let is_ball = o.shape.unwrap_or(self.shape) == Shape::Ball;
            target.overlaps(area) && (!is_ball || Ball::of_box(&target).overlaps_box(area))
        };
        self.objects.iter().filter(|(_, o)| reached(o)).map(|(h, _)| *h).collect()
    }

    pub fn first_along_ray(&self, ray: &Ray<D, T>) -> Option<(Handle, T)> {
        let hits = self.search(ray, ray.length, None).into_iter();
        hits.min_by(|a, b| a.1.partial_cmp(&b.1).unwrap().then(a.0.cmp(&b.0)))
    }
}
