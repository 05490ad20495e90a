//! `queries`: every question to a world, under every algorithm, against a scan by the same measure; between questions objects move.

use std::cmp::Ordering;

use broadphase::geometry::{HalfSpaces, Measure, Nearest, NearestToBox};
use broadphase::{
    Aabb, Answers, Ball, Error, HalfSpace, Handle, Object, ObjectKind, Ray, Reader, Real, Shape, Swept, SweptBall, Tag, World,
};

use crate::model::Model;
use crate::nasty::Coordinates;
use crate::step::context;
use crate::world::{box_specs, tag};
use crate::{Bytes, Counts};

/// Runs an input.
pub fn run(data: &[u8]) -> Counts {
    let mut bytes = Bytes::new(data);
    match bytes.below(4) {
        0 => Run::<2, f32>::new(&mut bytes).drive(&mut bytes),
        1 => Run::<3, f32>::new(&mut bytes).drive(&mut bytes),
        2 => Run::<2, f64>::new(&mut bytes).drive(&mut bytes),
        _ => Run::<3, f64>::new(&mut bytes).drive(&mut bytes),
    }
}

struct Run<const D: usize, T: Real> {
    world: World<D, T>,
    model: Model<D, T>,
    handles: Vec<Handle>,
    coordinates: Coordinates,
    counts: Counts,
}

/// One question, with all that any kind of question needs.
struct Question<const D: usize, T> {
    area: Aabb<D, T>,
    point: [T; D],
    step: [T; D],
    radius: T,
    limit: T,
    tag: Option<Tag>,
}

impl<const D: usize, T: Real> Run<D, T> {
    fn new(bytes: &mut Bytes) -> Self {
        let (mut world, mut model) = (World::new(), Model::new());
        let specs = box_specs();
        let spec = *bytes.pick(&specs);
        world.set_algorithm(spec).expect("listed");
        world.set_context(context(bytes));
        let coordinates = Coordinates::draw(bytes);
        if coordinates.is_tame() && bytes.one_in(4) {
            model.shape = Shape::Ball;
            world.set_world_shape(Shape::Ball);
        }
        let mut counts = Counts::default();
        counts.meet(&spec.to_string());
        counts.meet(&format!("{D}D {} {:?}", T::NAME, model.shape));
        Self { world, model, handles: Vec::new(), coordinates, counts }
    }

    fn drive(mut self, bytes: &mut Bytes) -> Counts {
        for _ in 0..4 + bytes.below(60) {
            self.insert(bytes);
        }
        let mut left = 60;
        while !bytes.is_empty() && left > 0 {
            left -= 1;
            match bytes.below(8) {
                0 => self.insert(bytes),
                1 | 2 => self.change(bytes),
                3 => self.ask_nonsense(bytes),
                _ => self.ask(bytes),
            }
        }
        self.ask(bytes);
        self.counts
    }

    fn insert(&mut self, bytes: &mut Bytes) {
        let kind = if bytes.one_in(4) { ObjectKind::Static } else { ObjectKind::Dynamic };
        let object = Object::new(self.coordinates.aabb(bytes, &[])).with_kind(kind).with_tag(tag(bytes));
        let handle = self.world.insert(object).expect("a valid object");
        self.model.objects.insert(handle, object);
        self.handles.push(handle);
        self.counts.operation("insert");
    }

    fn change(&mut self, bytes: &mut Bytes) {
        let at = bytes.below(self.handles.len().max(1));
        let Some(&handle) = self.handles.get(at) else { return };
        if bytes.one_in(4) {
            self.world.remove(handle).expect("living");
            self.model.objects.remove(&handle);
            self.handles.swap_remove(at);
        } else {
            let aabb = self.coordinates.aabb(bytes, &[]);
            self.world.set_box(handle, aabb).expect("living");
            self.model.objects.entry(handle).and_modify(|object| object.aabb = aabb);
        }
        self.counts.operation("change");
    }

    fn question(&self, bytes: &mut Bytes) -> Question<D, T> {
        let area = self.coordinates.aabb(bytes, &[]);
        let point = std::array::from_fn(|_| self.coordinates.coordinate(bytes));
        let step = std::array::from_fn(|_| self.coordinates.coordinate(bytes));
        let (radius, limit) = (self.coordinates.coordinate::<T>(bytes).abs(), self.coordinates.coordinate::<T>(bytes).abs());
        Question { area, point, step, radius, limit, tag: bytes.one_in(3).then(|| tag(bytes)) }
    }

    /// A query that is not valid is refused with one kind of error, before any object is visited.
    fn ask_nonsense(&mut self, bytes: &mut Bytes) {
        let bad = self.coordinates.invalid::<D, T>(bytes);
        let reader = self.world.read().expect("changes are taken in");
        let still = Ray::new([T::ZERO; D], [T::ZERO; D], T::ONE);
        let ball = Ball { center: [T::NAN; D], radius: T::ONE };
        let mut found = Vec::new();
        let errors = [
            reader.all_in_box(&bad).err(),
            reader.all_at_point([T::NAN; D]).err(),
            reader.all_along_ray(&still).err(),
            reader.all_in_ball(&ball).err(),
            reader.all_in_frustum(&[]).err(),
            reader.first_along_swept(&Swept::new(bad, [T::ONE; D])).err(),
            reader.nearest([T::INFINITY; D], 1, &mut found).err(),
            reader.nearest_to_box(&bad, 1, T::ONE, &mut found).err(),
            reader.nearest_within([T::ZERO; D], 1, -T::ONE, &mut found).err(),
        ];
        for (number, error) in errors.into_iter().enumerate() {
            assert!(matches!(error, Some(Error::InvalidQuery { .. })), "question {number}: {error:?}");
            self.counts.operation("nonsense");
        }
    }

    fn ask(&mut self, bytes: &mut Bytes) {
        let question = self.question(bytes);
        let (k, code) = (bytes.below(6), bytes.below(4));
        let reader = self.world.read().expect("changes are taken in");
        let reader = question.tag.map_or(reader, |tag| reader.with_tag(tag));
        let model = &self.model;
        let asker = Asker { reader, model, tag: question.tag };
        self.counts.compared += match code {
            0 => asker.regions(&question),
            1 => asker.motions(&question),
            2 => asker.nearest(&question, k),
            _ => asker.many(&question),
        };
        self.counts.operation(["regions", "motions", "nearest", "many"][code]);
    }
}

/// A reader beside the model.
struct Asker<'a, const D: usize, T: Real> {
    reader: Reader<'a, D, T>,
    model: &'a Model<D, T>,
    tag: Option<Tag>,
}

impl<const D: usize, T: Real> Asker<'_, D, T> {
    /// Handles within a limit of 0.
    fn region(&self, measure: &dyn Measure<D, T>) -> Vec<Handle> {
        self.model.search(measure, T::ZERO, self.tag).into_iter().map(|(handle, _)| handle).collect()
    }

    /// All within a limit, nearest first, then by handle.
    fn sorted(&self, measure: &dyn Measure<D, T>, limit: T) -> Vec<(Handle, T)> {
        let mut hits = self.model.search(measure, limit, self.tag);
        hits.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal).then(a.0.cmp(&b.0)));
        hits
    }

    fn regions(&self, question: &Question<D, T>) -> u64 {
        let Question { area, point, step, radius, limit, .. } = question;
        let mut compared = 0;
        let mut same = |found: Result<Vec<Handle>, Error>, expected: Vec<Handle>, what: &str| {
            compared += expected.len() as u64 + 1;
            assert_eq!(found.unwrap_or_else(|error| panic!("{what}: {error}")), expected, "{what}");
        };
        same(self.reader.all_in_box(area), self.region(area), "in a box");
        same(self.reader.all_at_point(*point), self.region(&Aabb::point(*point)), "at a point");
        let ball = Ball { center: *point, radius: *radius };
        if ball.is_valid() {
            same(self.reader.all_in_ball(&ball), self.region(&ball), "in a ball");
        }
        let sides = [*point, *step].map(|normal| HalfSpace { normal, offset: *limit });
        if sides.iter().all(HalfSpace::is_valid) {
            same(self.reader.all_in_frustum(&sides), self.region(&HalfSpaces(&sides)), "in a frustum");
        }
        compared
    }

    fn motions(&self, question: &Question<D, T>) -> u64 {
        let Question { area, point, step, radius, limit, .. } = question;
        let mut compared = 0;
        let mut same = |all: Result<Vec<(Handle, T)>, Error>,
                        first: Result<Option<(Handle, T)>, Error>,
                        expected: Vec<(Handle, T)>,
                        what: &str| {
            compared += expected.len() as u64 + 1;
            assert_eq!(first.unwrap_or_else(|error| panic!("{what}: {error}")), expected.first().copied(), "first {what}");
            assert_eq!(all.unwrap_or_else(|error| panic!("{what}: {error}")), expected, "all {what}");
        };
        let ray = Ray::new(*point, *step, *limit);
        if ray.is_valid() {
            let (all, first) = (self.reader.all_along_ray(&ray), self.reader.first_along_ray(&ray));
            same(all, first, self.sorted(&ray, ray.length), "along a ray");
        }
        let swept = Swept::new(*area, *step);
        if swept.is_valid() {
            let (all, first) = (self.reader.all_along_swept(&swept), self.reader.first_along_swept(&swept));
            same(all, first, self.sorted(&swept, T::ONE), "along a moving box");
        }
        let rolling = SweptBall::new(Ball { center: *point, radius: *radius }, *step);
        if rolling.is_valid() {
            let (all, first) = (self.reader.all_along_swept_ball(&rolling), self.reader.first_along_swept_ball(&rolling));
            same(all, first, self.sorted(&rolling, T::ONE), "along a moving ball");
        }
        compared
    }

    fn nearest(&self, question: &Question<D, T>, k: usize) -> u64 {
        let Question { area, point, limit, .. } = question;
        let roots = |mut list: Vec<(Handle, T)>| {
            list.truncate(k);
            list.iter_mut().for_each(|(_, square)| *square = square.sqrt());
            list
        };
        let (mut found, mut compared) = (Vec::new(), 0);
        if point.iter().all(|c| c.is_finite()) {
            self.reader.nearest(*point, k, &mut found).expect("a finite point");
            compared += found.len() as u64;
            assert_eq!(found, roots(self.sorted(&Nearest(*point), T::INFINITY)), "the {k} nearest to {point:?}");
            self.reader.nearest_within(*point, k, *limit, &mut found).expect("a finite point");
            assert_eq!(found, roots(self.sorted(&Nearest(*point), *limit * *limit)), "the {k} nearest within {limit}");
        }
        self.reader.nearest_to_box(area, k, *limit, &mut found).expect("a valid box");
        assert_eq!(found, roots(self.sorted(&NearestToBox(*area), *limit * *limit)), "the {k} nearest to {area:?}");
        compared + found.len() as u64
    }

    /// Several questions at once, and readers that see less.
    fn many(&self, question: &Question<D, T>) -> u64 {
        let Question { area, point, .. } = question;
        let (areas, mut answers) = ([*area, Aabb::point(*point), Aabb::everything()], Answers::default());
        self.reader.in_boxes(&areas, &mut answers).expect("valid boxes");
        let mut compared = 0;
        for (at, area) in areas.iter().enumerate() {
            let mut found = answers.get(at).to_vec();
            found.sort_unstable();
            compared += found.len() as u64;
            assert_eq!(found, self.region(area), "question {at} of many");
        }
        let even = |handle: Handle| handle.index.is_multiple_of(2);
        let Some((&first, _)) = self.model.objects.first_key_value() else { return compared };
        let narrow = self.reader.in_layers(1).excluding(first).matching(&even);
        let seen = |handle: &Handle| *handle != first && even(*handle) && self.model.objects[handle].tag.layer & 1 != 0;
        let expected: Vec<Handle> = self.region(area).into_iter().filter(seen).collect();
        assert_eq!(narrow.all_in_box(area).expect("a valid box"), expected, "a reader that sees less");
        compared + expected.len() as u64
    }
}
