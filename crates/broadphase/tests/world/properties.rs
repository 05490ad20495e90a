//! Random sequences of every operation, on a world and on the model; shrunk to a short one if they ever differ.

use std::ops::ControlFlow;

use broadphase::geometry::{HalfSpaces, Measure, Nearest, NearestToBox};
use broadphase::{
    Aabb, Ball, Error, HalfSpace, Handle, Object, ObjectKind, Pairing, Ray, Real, Report, Shape, Spec, Strength, Swept,
    SweptBall, Tag, World,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::model::Model;
use crate::specs;

/// A box in small integers, made into any dimension.
#[derive(Clone, Copy, Debug)]
struct RawBox {
    min: [u8; 3],
    size: [u8; 3],
    endless: bool,
}

impl RawBox {
    fn build<const D: usize, T: Real>(&self) -> Aabb<D, T> {
        let min: [T; D] = std::array::from_fn(|k| T::from_f64(f64::from(self.min[k]) - 8.0));
        let mut max: [T; D] = std::array::from_fn(|k| min[k] + T::from_f64(f64::from(self.size[k])));
        if self.endless {
            max[D - 1] = T::INFINITY;
        }
        Aabb::new(min, max)
    }
}

#[derive(Clone, Copy, Debug)]
struct RawObject {
    aabb: RawBox,
    tag: u8,
    kind: u8,
    margin: u8,
    shape: u8,
    sensor: bool,
}

fn tag(code: u8) -> Tag {
    match code {
        0..4 => Tag::default(),
        4 => Tag::new(1, 2),
        5 => Tag::new(2, 1),
        6 => Tag::default().with_group(3),
        7..10 => Tag::default().with_env(u32::from(code)),
        _ => Tag::new(3, 3).with_env(7),
    }
}

fn kind(code: u8) -> ObjectKind {
    match code {
        0..4 => ObjectKind::Dynamic,
        4..7 => ObjectKind::Static,
        _ => ObjectKind::Kinematic,
    }
}

/// Most have none of their own, so that worlds without any are met as well.
fn shape(code: u8) -> Option<Shape> {
    match code {
        0..12 => None,
        12 => Some(Shape::Box),
        _ => Some(Shape::Ball),
    }
}

fn margin<T: Real>(code: u8) -> T {
    T::from_f64(f64::from(code.saturating_sub(5)) * 0.5)
}

impl RawObject {
    fn build<const D: usize, T: Real>(&self) -> Object<D, T> {
        let object = Object::new(self.aabb.build()).with_tag(tag(self.tag)).with_kind(kind(self.kind));
        let object = object.with_margin(margin(self.margin)).with_user(u64::from(self.tag) << 32);
        Object { shape: shape(self.shape), sensor: self.sensor, ..object }
    }
}

/// One call. A `usize` picks one of the living (or dead) handles.
#[derive(Clone, Debug)]
enum Op {
    Insert(RawObject),
    InsertMany(Vec<RawObject>),
    InsertBad(Vec<RawObject>),
    Remove(usize),
    RemoveMany(Vec<usize>),
    RemoveMost(usize),
    UseStale(usize),
    SetBox(usize, RawBox),
    SetBoxesOf(Vec<(usize, RawBox)>),
    SetBoxes(Vec<RawBox>, bool),
    SetTag(usize, u8),
    SetKind(usize, u8),
    SetMargin(usize, u8),
    SetShape(usize, u8),
    SetSensor(usize, bool),
    Pairing(bool, bool),
    Refilter(usize),
    Shrink,
    Structures(usize),
    WorldMargin(u8),
    Filter(u8),
    Shape(bool),
    Report(u8),
    Algorithm(usize),
    Value(usize),
    Read(RawBox, u8),
    Snapshot,
    Update,
    FailedUpdate,
    Clear,
    Clone,
}

fn raw_box() -> impl Strategy<Value = RawBox> {
    let endless = prop::bool::weighted(0.04);
    (any::<[u8; 3]>(), any::<[u8; 3]>(), endless).prop_map(|(min, size, endless)| RawBox {
        min: min.map(|c| c % 16),
        size: size.map(|c| c % 5),
        endless,
    })
}

fn raw_object() -> impl Strategy<Value = RawObject> {
    let codes = (0..11u8, 0..8u8, 0..8u8, 0..14u8);
    (raw_box(), codes, prop::bool::weighted(0.06)).prop_map(|(aabb, (tag, kind, margin, shape), sensor)| RawObject {
        aabb,
        tag,
        kind,
        margin,
        shape,
        sensor,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let pick = any::<usize>;
    prop_oneof![
        8 => raw_object().prop_map(Op::Insert),
        3 => prop::collection::vec(raw_object(), 0..20).prop_map(Op::InsertMany),
        1 => prop::collection::vec(raw_object(), 0..4).prop_map(Op::InsertBad),
        4 => pick().prop_map(Op::Remove),
        1 => prop::collection::vec(pick(), 0..5).prop_map(Op::RemoveMany),
        1 => (0..8usize).prop_map(Op::RemoveMost),
        1 => pick().prop_map(Op::UseStale),
        8 => (pick(), raw_box()).prop_map(|(k, b)| Op::SetBox(k, b)),
        2 => prop::collection::vec((pick(), raw_box()), 0..8).prop_map(Op::SetBoxesOf),
        2 => (prop::collection::vec(raw_box(), 1..6), any::<bool>()).prop_map(|(b, swap)| Op::SetBoxes(b, swap)),
        2 => (pick(), 0..11u8).prop_map(|(k, t)| Op::SetTag(k, t)),
        3 => (pick(), 0..8u8).prop_map(|(k, t)| Op::SetKind(k, t)),
        2 => (pick(), 0..8u8).prop_map(|(k, m)| Op::SetMargin(k, m)),
        2 => (pick(), 10..14u8).prop_map(|(k, s)| Op::SetShape(k, s)),
        1 => (pick(), any::<bool>()).prop_map(|(k, s)| Op::SetSensor(k, s)),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(k, s)| Op::Pairing(k, s)),
        1 => pick().prop_map(Op::Refilter),
        1 => Just(Op::Shrink),
        1 => pick().prop_map(Op::Structures),
        1 => (0..8u8).prop_map(Op::WorldMargin),
        1 => (0..4u8).prop_map(Op::Filter),
        1 => any::<bool>().prop_map(Op::Shape),
        1 => (0..4u8).prop_map(Op::Report),
        1 => pick().prop_map(Op::Algorithm),
        2 => pick().prop_map(Op::Value),
        3 => (raw_box(), 0..22u8).prop_map(|(b, t)| Op::Read(b, t)),
        1 => Just(Op::Snapshot),
        12 => Just(Op::Update),
        1 => Just(Op::FailedUpdate),
        1 => Just(Op::Clear),
        1 => Just(Op::Clone),
    ]
}

/// A world beside its model.
struct Run<const D: usize, T: Real> {
    world: World<D, T>,
    model: Model<D, T>,
    specs: Vec<Spec>,
    dead: Vec<Handle>,
    /// May balls be used? Not with an algorithm that does not support them.
    balls: bool,
    /// Does the model know what the world's last difference was made against? Not after a frame that was only counted.
    comparable: bool,
    /// Did the last update fail? Then there are no pairs to be seen.
    failed: bool,
}

impl<const D: usize, T: Real> Run<D, T> {
    fn new(spec: &Spec) -> Self {
        let mut world = World::new();
        world.set_algorithm(spec).unwrap();
        let balls = specs(D).iter().all(|s| s.descriptor().shapes.contains(&Shape::Ball));
        Self { world, model: Model::new(), specs: specs(D), dead: Vec::new(), balls, comparable: true, failed: false }
    }

    fn pick(&self, k: usize) -> Option<Handle> {
        let count = self.model.objects.len();
        (count > 0).then(|| *self.model.objects.keys().nth(k % count).unwrap())
    }

    fn forget(&mut self, handle: Handle) {
        self.model.objects.remove(&handle);
        self.dead.push(handle);
    }

    fn edit(&mut self, k: usize, world: impl FnOnce(&mut World<D, T>, Handle), model: impl FnOnce(&mut Object<D, T>)) {
        if let Some(handle) = self.pick(k) {
            world(&mut self.world, handle);
            model(self.model.objects.get_mut(&handle).unwrap());
        }
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Insert(raw) => {
                let object = raw.build();
                self.model.objects.insert(self.world.insert(object).unwrap(), object);
            }
            Op::InsertMany(raw) => {
                let objects: Vec<_> = raw.iter().map(RawObject::build).collect();
                let handles = self.world.insert_many(&objects).unwrap();
                self.model.objects.extend(handles.into_iter().zip(objects));
            }
            Op::InsertBad(raw) => {
                let mut objects: Vec<_> = raw.iter().map(RawObject::build).collect();
                objects.push(Object::new(Aabb::point([T::NAN; D])));
                assert!(
                    matches!(self.world.insert_many(&objects), Err(Error::InvalidBox { index: Some(index), .. }) if index == raw.len())
                );
            }
            Op::Remove(k) => {
                if let Some(handle) = self.pick(*k) {
                    assert_eq!(self.world.remove(handle).unwrap(), self.model.objects[&handle]);
                    self.forget(handle);
                }
            }
            Op::RemoveMany(picks) => {
                let handles: Vec<_> = picks.iter().filter_map(|&k| self.pick(k)).collect();
                let twice = (1..handles.len()).any(|i| handles[..i].contains(&handles[i]));
                assert_eq!(self.world.remove_many(&handles).is_err(), twice);
                if !twice {
                    handles.into_iter().for_each(|handle| self.forget(handle));
                }
            }
            Op::RemoveMost(eighths) => {
                let keep = self.model.objects.len() * eighths / 32;
                let handles: Vec<_> = self.model.objects.keys().copied().skip(keep).collect();
                self.world.remove_many(&handles).unwrap();
                handles.into_iter().for_each(|handle| self.forget(handle));
            }
            Op::UseStale(k) => self.use_stale(*k),
            Op::SetBox(k, raw) => {
                let aabb = raw.build();
                self.edit(*k, |w, h| w.set_box(h, aabb).unwrap(), |o| o.aabb = aabb);
            }
            Op::SetBoxesOf(list) => {
                let list: Vec<_> = list.iter().filter_map(|(k, raw)| Some((self.pick(*k)?, raw.build()))).collect();
                self.world.set_boxes_of(&list).unwrap();
                list.iter().for_each(|(h, aabb)| self.model.objects.get_mut(h).unwrap().aabb = *aabb);
            }
            Op::SetBoxes(raw, swap) => self.set_boxes(raw, *swap),
            Op::SetTag(k, code) => self.edit(*k, |w, h| w.set_tag(h, tag(*code)).unwrap(), |o| o.tag = tag(*code)),
            Op::SetKind(k, code) => self.edit(*k, |w, h| w.set_kind(h, kind(*code)).unwrap(), |o| o.kind = kind(*code)),
            Op::SetMargin(k, code) => {
                self.edit(*k, |w, h| w.set_margin(h, margin(*code)).unwrap(), |o| o.margin = margin(*code));
            }
            Op::SetShape(k, code) => {
                self.edit(*k, |w, h| w.set_shape(h, shape(*code)).unwrap(), |o| o.shape = shape(*code));
            }
            Op::WorldMargin(code) => {
                self.world.set_world_margin(margin(*code)).unwrap();
                self.model.margin = margin(*code);
            }
            _ => self.apply_more(op),
        }
    }

    fn apply_more(&mut self, op: &Op) {
        match op {
            Op::Filter(0) => {
                self.world.clear_filter();
                self.model.filter = 0;
            }
            Op::Filter(3) => {
                // By handles, with the same answers.
                self.world.set_pair_filter(|pair| !(pair.a.index + pair.b.index).is_multiple_of(4));
                self.model.filter = 4;
            }
            Op::Filter(code) => {
                let modulus = u32::from(*code) + 1;
                self.world.set_filter(move |fresh| fresh.retain(|pair| !(pair.a + pair.b).is_multiple_of(modulus)));
                self.model.filter = modulus;
            }
            Op::SetSensor(k, sensor) => {
                self.edit(*k, |w, h| w.set_sensor(h, *sensor).unwrap(), |o| o.sensor = *sensor);
            }
            Op::Pairing(kinematic_kinematic, kinematic_static) => {
                let pairing = Pairing { kinematic_kinematic: *kinematic_kinematic, kinematic_static: *kinematic_static };
                self.world.set_pairing(pairing);
                self.model.pairing = pairing;
            }
            Op::Refilter(k) => {
                // The answers have not changed, and neither do the pairs.
                if let Some(handle) = self.pick(*k) {
                    self.world.refilter(handle).unwrap();
                }
            }
            Op::Shrink => self.world.shrink(),
            Op::Structures(k) => {
                // As a structure of the user's own would be passed.
                let spec = &self.specs[k % self.specs.len()];
                self.world.set_structures(spec.build().unwrap(), spec.build().unwrap());
            }
            Op::Shape(ball) if self.balls => {
                self.model.shape = if *ball { Shape::Ball } else { Shape::Box };
                self.world.set_world_shape(self.model.shape);
            }
            Op::Report(code) => {
                let report = [Report::Both, Report::All, Report::Delta, Report::Count][usize::from(*code)];
                self.world.set_report(report);
                if report == Report::Count {
                    self.model.values.clear();
                }
            }
            Op::Algorithm(k) => self.world.set_algorithm(&self.specs[k % self.specs.len()]).unwrap(),
            Op::Value(k) => self.set_value(*k),
            Op::Read(raw, code) => {
                self.read(raw);
                self.ask_all(&raw.build(), (*code < 11).then(|| tag(*code)));
            }
            Op::Snapshot => self.snapshot(),
            Op::Update => self.update(),
            Op::FailedUpdate => self.fail(),
            Op::Clear => {
                self.world.clear();
                self.model.objects.keys().copied().collect::<Vec<_>>().into_iter().for_each(|h| self.forget(h));
            }
            Op::Clone => {
                let mut left = std::mem::take(&mut self.world);
                self.world = left.clone();
                left.clear(); // what happens to one does not happen to the other
                left.update().unwrap();
            }
            _ => {}
        }
    }

    fn use_stale(&mut self, k: usize) {
        let Some(&handle) = self.dead.get(k % self.dead.len().max(1)) else { return };
        let stale = Error::StaleHandle { index: handle.index, generation: handle.generation };
        assert_eq!(self.world.remove(handle).unwrap_err(), stale);
        assert_eq!(self.world.set_box(handle, Aabb::default()).unwrap_err(), stale);
        assert!(!self.world.contains(handle));
    }

    /// New boxes for all movers, or for those of some positions; by copy or by swap.
    fn set_boxes(&mut self, raw: &[RawBox], swap: bool) {
        let movers: Vec<Handle> = self.world.movers().collect();
        let few = raw.len() < 3;
        let next = |at: usize, old: Aabb<D, T>| if few && !at.is_multiple_of(4) { old } else { raw[at % raw.len()].build() };
        let boxes: Vec<_> = movers.iter().enumerate().map(|(at, h)| next(at, self.model.objects[h].aabb)).collect();
        if swap {
            let mut slots = vec![Aabb::point([T::NAN; D]); self.world.mover_slots()];
            for (handle, aabb) in movers.iter().zip(&boxes) {
                slots[self.world.slot(*handle).unwrap().unwrap() as usize] = *aabb;
            }
            self.world.swap_boxes(&mut slots).unwrap();
        } else {
            self.world.set_mover_boxes(&boxes).unwrap();
        }
        movers.iter().zip(boxes).for_each(|(h, aabb)| self.model.objects.get_mut(h).unwrap().aabb = aabb);
    }

    fn set_value(&mut self, k: usize) {
        let count = self.model.last.len();
        if count == 0 || !self.comparable || self.failed || self.world.report() == Report::Count {
            return;
        }
        let (a, b) = *self.model.last.iter().nth(k % count).unwrap();
        if self.world.contains(a) && self.world.contains(b) {
            assert!(self.world.set_pair_value(b, a, k as u64).unwrap());
            self.model.values.insert((a, b), k as u64);
        }
    }

    /// Every kind of question, with and without a tag.
    fn ask_all(&mut self, area: &Aabb<D, T>, tag: Option<Tag>) {
        let half = |c: T| c * T::HALF + T::from_f64(0.1);
        let (point, step) = (area.min.map(half), std::array::from_fn(|k| half(area.min[(k + 1) % D])));
        let ball = Ball { center: point, radius: T::from_f64(1.7) };
        let sides = [point, step].map(|normal| HalfSpace { normal, offset: T::ONE });
        let reader = self.world.read().unwrap();
        let reader = tag.map_or(reader, |tag| reader.with_tag(tag));
        let model = &self.model;
        let region = |measure: &dyn Measure<D, T>| -> Vec<Handle> {
            model.search(measure, T::ZERO, tag).into_iter().map(|(handle, _)| handle).collect()
        };
        let mut found = Vec::new();
        macro_rules! collect {
            ($method:ident($($argument:expr),*) -> $limit:expr) => {{
                found.clear();
                reader.$method($($argument),*, |handle, at| { found.push((handle, at)); ControlFlow::Continue($limit) }).unwrap();
                found.sort_by_key(|pair| pair.0);
                &found
            }};
        }
        let mut seen = Vec::new();
        macro_rules! visit {
            ($method:ident($argument:expr)) => {{
                seen.clear();
                reader
                    .$method($argument, |handle| {
                        seen.push(handle);
                        ControlFlow::Continue(())
                    })
                    .unwrap();
                seen.sort_unstable();
                &seen
            }};
        }
        assert_eq!(*visit!(in_box(area)), region(area));
        assert_eq!(*visit!(at_point(area.min)), region(&Aabb::point(area.min)));
        assert_eq!(*visit!(in_ball(&ball)), region(&ball));
        assert_eq!(*visit!(in_frustum(&sides)), region(&HalfSpaces(&sides)));
        let (swept, rolling) = (Swept::new(Aabb::new(point, point), step), SweptBall::new(ball, step));
        assert_eq!(*collect!(along_swept(&swept) -> T::ONE), model.search(&swept, T::ONE, tag));
        assert_eq!(*collect!(along_swept_ball(&rolling) -> T::ONE), model.search(&rolling, T::ONE, tag));
        let mut first = model.search(&rolling, T::ONE, tag);
        first.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap());
        assert_eq!(reader.first_along_swept_ball(&rolling).unwrap(), first.first().copied());
        let ray = Ray::new(point, step, T::from_f64(30.0));
        assert_eq!(*collect!(along_ray(&ray) -> ray.length), model.search(&ray, ray.length, tag));
        let mut near = model.search(&Nearest(point), T::INFINITY, tag);
        near.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap());
        near.iter_mut().for_each(|(_, square)| *square = square.sqrt());
        for k in [0, 1, 3, 1000] {
            reader.nearest(point, k, &mut found).unwrap();
            assert_eq!(found, near[..k.min(near.len())], "the {k} nearest to {point:?}");
        }
        let sorted = |measure: &dyn Measure<D, T>, limit: T| {
            let mut hits = model.search(measure, limit, tag);
            hits.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap());
            hits
        };
        let distance = T::from_f64(4.5);
        let mut near = sorted(&NearestToBox(*area), distance * distance);
        near.iter_mut().for_each(|(_, square)| *square = square.sqrt());
        reader.nearest_to_box(area, 4, distance, &mut found).unwrap();
        assert_eq!(found, near[..near.len().min(4)]);
        reader.nearest_within(point, 1000, distance, &mut found).unwrap();
        assert_eq!(found.len(), sorted(&Nearest(point), distance * distance).len());
        assert_eq!(reader.all_along_ray(&ray).unwrap(), sorted(&ray, ray.length));
        assert_eq!(reader.all_along_swept(&swept).unwrap(), sorted(&swept, T::ONE));
        assert_eq!(reader.all_along_swept_ball(&rolling).unwrap(), sorted(&rolling, T::ONE));
        assert_eq!(reader.all_in_ball(&ball).unwrap(), region(&ball));
        assert_eq!(reader.all_at_point(area.min).unwrap(), region(&Aabb::point(area.min)));
        assert_eq!(reader.all_in_frustum(&sides).unwrap(), region(&HalfSpaces(&sides)));
        // Narrowed down: by layers, without one object, by a test.
        let even = |handle: Handle| handle.index.is_multiple_of(2);
        let Some((&first, _)) = model.objects.first_key_value() else { return };
        let seen: Vec<Handle> = reader.in_layers(1).excluding(first).matching(&even).all_in_box(area).unwrap();
        let expected = region(area).into_iter().filter(|h| *h != first && even(*h) && model.objects[h].tag.layer & 1 != 0);
        assert!(seen.into_iter().eq(expected));
    }

    /// Through a file and back, in the middle of everything.
    #[cfg(feature = "serde")]
    fn snapshot(&mut self) {
        let text = serde_json::to_string(&self.world.snapshot()).unwrap();
        let before: Vec<_> = self.world.pairs().collect();
        let snapshot: broadphase::Snapshot<D, T> = serde_json::from_str(&text).unwrap();
        self.world.restore(&snapshot).unwrap();
        assert!(self.world.pairs().eq(before));
    }

    #[cfg(not(feature = "serde"))]
    fn snapshot(&mut self) {}

    fn read(&mut self, raw: &RawBox) {
        let area = raw.build();
        let ray = Ray::new(std::array::from_fn(|_| T::ZERO), std::array::from_fn(|k| area.min[k] + T::HALF), T::ONE);
        let reader = self.world.read().unwrap();
        assert_eq!(reader.all_in_box(&area).unwrap(), self.model.in_box(&area));
        assert_eq!(reader.first_along_ray(&ray).unwrap(), self.model.first_along_ray(&ray));
    }

    fn fail(&mut self) {
        let expected = self.model.pairs().len();
        // With differences wanted, a failed frame leaves no trace in the next difference.
        if expected > 0 && self.world.report().delta() && self.comparable {
            self.world.set_pair_limit(expected as u64 - 1);
            assert_eq!(self.world.update().unwrap_err(), Error::TooManyPairs { limit: expected as u64 - 1 });
            assert_eq!(self.world.pairs().count(), 0);
            self.failed = true;
            self.world.set_pair_limit(u64::MAX);
        }
    }

    fn update(&mut self) {
        let (pairs, started, ended) = self.model.update();
        self.failed = false;
        let report = self.world.report();
        let update = self.world.update().unwrap();
        assert_eq!(update.len(), pairs.len() as u64);
        if report == Report::Count {
            self.comparable = false;
            return;
        }
        if report.delta() {
            if self.comparable {
                assert_eq!((update.started().handles(), update.ended().handles()), (&started[..], &ended[..]));
            } else {
                assert_eq!((update.started().handles(), update.ended().handles()), (&pairs[..], &[][..]));
            }
        } else {
            assert!(update.started().is_empty() && update.ended().is_empty());
        }
        self.comparable = true;
        assert_eq!(self.world.sorted_pairs(), pairs);
        for (&(a, b), &value) in &self.model.values {
            assert_eq!(self.world.pair_value(a, b).unwrap(), Some(value));
        }
        for &handle in self.model.objects.keys() {
            let of = pairs.iter().filter_map(|&(a, b)| if a == handle { Some(b) } else { (b == handle).then_some(a) });
            let mut of: Vec<_> = of.collect();
            of.sort_unstable();
            assert!(self.world.pairs_of(handle).unwrap().eq(of));
        }
    }

    fn check(&mut self) {
        assert_eq!(self.world.len(), self.model.objects.len());
        assert!(self.world.iter().eq(self.model.objects.iter().map(|(h, o)| (*h, o.aabb))));
        for (&handle, object) in &self.model.objects {
            assert_eq!(self.world.object(handle).unwrap(), *object);
        }
    }
}

/// `cases` random sequences of up to 60 operations, the first being an insertion of `crowd` objects.
fn follow<const D: usize, T: Real>(spec: &Spec, cases: u32, crowd: usize) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2000, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let sequences = (prop::collection::vec(raw_object(), crowd), prop::collection::vec(op(), 1..60));
    let result = TestRunner::new_with_rng(config, rng).run(&sequences, |(crowd, ops)| {
        let mut run = Run::<D, T>::new(spec);
        run.apply(&Op::InsertMany(crowd));
        for op in &ops {
            run.apply(op);
        }
        run.check();
        run.update();
        run.world.validate(Strength::Geometry).unwrap();
        Ok(())
    });
    if let Err(error) = result {
        panic!("{spec} in {D}D of {}: {error}", T::NAME);
    }
}

/// The total number of sequences, whatever the number of algorithms.
const CASES: u32 = 1200;

#[test]
fn random_operations_agree_with_the_naive_world_in_2d() {
    let specs = specs(2);
    specs.iter().for_each(|spec| follow::<2, f32>(spec, CASES / specs.len() as u32, 0));
}

#[test]
fn random_operations_agree_with_the_naive_world_in_3d() {
    let specs = specs(3);
    specs.iter().for_each(|spec| follow::<3, f32>(spec, CASES / specs.len() as u32, 0));
}

#[test]
fn random_operations_agree_with_the_naive_world_in_double_precision() {
    for spec in &specs(2) {
        follow::<2, f64>(spec, 20, 0);
    }
    for spec in &specs(3) {
        follow::<3, f64>(spec, 20, 0);
    }
}

#[test]
fn random_operations_agree_with_the_naive_world_where_pairs_fill_several_chunks() {
    let specs = specs(3);
    specs.iter().for_each(|spec| follow::<3, f32>(spec, 40 / specs.len() as u32 + 1, 900));
}
