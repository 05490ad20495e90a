//! `world`: every operation of `World` beside the naive world: kinds, tags, environments, margins, shapes, values, filters, periods, snapshots, clones,
//! other algorithms and threads midway, faults. Continuous detection has a model of its own (`continuous.rs`).

use broadphase::{
    Aabb, Error, Handle, Object, ObjectKind, Pairing, Period, Real, Report, Shape, Snapshot, Spec, Strength, Tag, World,
};

use crate::model::Model;
use crate::nasty::Coordinates;
use crate::step::{context, specs};
use crate::{Bytes, Counts, continuous};

/// Runs an input.
pub fn run(data: &[u8]) -> Counts {
    let mut bytes = Bytes::new(data);
    match bytes.below(8) {
        0 | 1 => Run::<2, f32>::new(&mut bytes).drive(&mut bytes),
        2 | 3 => Run::<3, f32>::new(&mut bytes).drive(&mut bytes),
        4 => Run::<2, f64>::new(&mut bytes).drive(&mut bytes),
        5 => Run::<3, f64>::new(&mut bytes).drive(&mut bytes),
        6 => continuous::drive::<2>(&mut bytes),
        _ => continuous::drive::<3>(&mut bytes),
    }
}

/// The algorithms that a world of boxes can use.
pub(crate) fn box_specs() -> Vec<&'static Spec> {
    specs().iter().filter(|spec| spec.descriptor().shapes == [Shape::Box, Shape::Ball]).collect()
}

/// A tag; half of them are the default.
pub(crate) fn tag(bytes: &mut Bytes) -> Tag {
    match bytes.below(16) {
        0..8 => Tag::default(),
        8 => Tag::new(1, 2),
        9 => Tag::new(2, 1),
        10 => Tag::new(0, u32::MAX),
        11 => Tag::default().with_group(3),
        code @ 12..15 => Tag::default().with_env(code as u32),
        _ => Tag::new(3, 3).with_env(12),
    }
}

fn kind(bytes: &mut Bytes) -> ObjectKind {
    *bytes.pick(&[ObjectKind::Dynamic, ObjectKind::Dynamic, ObjectKind::Dynamic, ObjectKind::Static, ObjectKind::Kinematic])
}

fn margin<T: Real>(bytes: &mut Bytes) -> T {
    T::from_f64(f64::from(bytes.byte().saturating_sub(190)) * 0.25).min(T::ONE)
}

/// A world beside its model.
struct Run<const D: usize, T: Real> {
    world: World<D, T>,
    model: Model<D, T>,
    specs: Vec<&'static Spec>,
    coordinates: Coordinates,
    /// Balls need finite boxes to have a meaning that rounding does not decide.
    balls: bool,
    dead: Vec<Handle>,
    /// Does the model know the pairs against which the next events are computed? Not after a frame that was only counted.
    comparable: bool,
    failed: bool,
    counts: Counts,
}

impl<const D: usize, T: Real> Run<D, T> {
    fn new(bytes: &mut Bytes) -> Self {
        let (mut world, mut model) = (World::new(), Model::new());
        let specs = box_specs();
        let spec = *bytes.pick(&specs);
        world.set_algorithm(spec).expect("a listed algorithm");
        let mut coordinates = Coordinates::draw(bytes);
        let mut counts = Counts::default();
        if bytes.one_in(6) {
            coordinates = Coordinates::Lattice;
            let lengths = std::array::from_fn(|_| if bytes.one_in(4) { None } else { Some(T::from_f64(16.0)) });
            let period = Period::axes(lengths).with_origin([T::from_f64(-8.0); D]);
            world.set_period(Some(period)).expect("a sound period");
            model.period = Some(period);
            counts.meet("a period");
        }
        counts.meet(&spec.to_string());
        counts.meet(&format!("{D}D {}", T::NAME));
        let balls = coordinates.is_tame();
        Self { world, model, specs, coordinates, balls, dead: Vec::new(), comparable: true, failed: false, counts }
    }

    fn drive(mut self, bytes: &mut Bytes) -> Counts {
        let mut left = 120;
        while !bytes.is_empty() && left > 0 {
            left -= 1;
            self.apply(bytes);
        }
        self.check();
        self.update();
        self.world.validate(Strength::Geometry).unwrap_or_else(|error| panic!("{error}"));
        self.counts
    }

    fn aabb(&self, bytes: &mut Bytes) -> Aabb<D, T> {
        if self.model.period.is_some() {
            // Half a period at most, margins included.
            let min: [T; D] = std::array::from_fn(|_| T::from_f64(f64::from(bytes.byte()) * 0.25 - 32.0));
            return Aabb::new(min, std::array::from_fn(|k| min[k] + T::from_f64(f64::from(bytes.byte() % 17) * 0.25)));
        }
        self.coordinates.aabb(bytes, &[])
    }

    fn object(&self, bytes: &mut Bytes) -> Object<D, T> {
        let object = Object::new(self.aabb(bytes)).with_tag(tag(bytes)).with_kind(kind(bytes));
        let object = object.with_margin(margin(bytes)).with_user(u64::from(bytes.byte()) << 32);
        Object { shape: self.shape(bytes), sensor: bytes.one_in(12), ..object }
    }

    fn shape(&self, bytes: &mut Bytes) -> Option<Shape> {
        let shape = *bytes.pick(&[None, None, None, None, None, Some(Shape::Box), Some(Shape::Ball)]);
        if self.balls { shape } else { None }
    }

    fn pick(&self, bytes: &mut Bytes) -> Option<Handle> {
        let count = self.model.objects.len();
        (count > 0).then(|| bytes.below(count)).and_then(|at| self.model.objects.keys().nth(at).copied())
    }

    fn forget(&mut self, handle: Handle) {
        self.model.objects.remove(&handle);
        self.dead.push(handle);
    }

    fn edit(&mut self, handle: Handle, change: impl FnOnce(&mut Object<D, T>)) {
        change(self.model.objects.get_mut(&handle).expect("a living object"));
    }

    fn apply(&mut self, bytes: &mut Bytes) {
        let code = bytes.below(64);
        self.counts.operation(&format!("operation {code}"));
        match code {
            0..10 => {
                let object = self.object(bytes);
                let handle = self.world.insert(object).expect("a valid object");
                self.model.objects.insert(handle, object);
            }
            10 | 11 => self.insert_many(bytes),
            12 => self.use_bad(bytes),
            13..16 => self.remove(bytes),
            16 => self.remove_many(bytes),
            17 => self.use_stale(bytes),
            18..26 => self.move_one(bytes),
            26 => self.set_boxes_of(bytes),
            27 => self.set_mover_boxes(bytes),
            28..36 => self.change_one(bytes),
            36..44 => self.change_world(bytes),
            44 => self.set_value(bytes),
            45 => self.snapshot(),
            46 => self.fail(),
            47 => self.clone_and_clear(bytes),
            48 => self.read(bytes),
            49 => self.two_worlds(bytes),
            _ => self.update(),
        }
    }

    fn insert_many(&mut self, bytes: &mut Bytes) {
        let objects: Vec<_> = (0..bytes.below(12)).map(|_| self.object(bytes)).collect();
        let handles = self.world.insert_many(&objects).expect("valid objects");
        self.counts.operations += objects.len() as u64;
        self.model.objects.extend(handles.into_iter().zip(objects));
    }

    /// A call with an invalid argument is refused as a whole, and changes nothing.
    fn use_bad(&mut self, bytes: &mut Bytes) {
        let mut objects: Vec<_> = (0..bytes.below(3)).map(|_| self.object(bytes)).collect();
        let (at, bad) = (objects.len(), self.coordinates.invalid(bytes));
        objects.push(Object::new(bad));
        let error = self.world.insert_many(&objects).expect_err("an invalid box");
        assert!(matches!(error, Error::InvalidBox { index: Some(index), .. } if index == at), "{error}");
        assert!(matches!(self.world.insert(bad), Err(Error::InvalidBox { index: None, .. })));
        let margin = *bytes.pick(&[-T::ONE, T::NAN, T::INFINITY]);
        assert!(matches!(self.world.set_world_margin(margin), Err(Error::InvalidMargin { .. })));
        let Some(handle) = self.pick(bytes) else { return };
        assert!(matches!(self.world.set_box(handle, bad), Err(Error::InvalidBox { .. })));
        assert!(matches!(self.world.set_margin(handle, margin), Err(Error::InvalidMargin { .. })));
        let list = [(handle, self.aabb(bytes)), (handle, bad)];
        assert!(matches!(self.world.set_boxes_of(&list), Err(Error::InvalidBox { .. })));
        self.check();
    }

    fn remove(&mut self, bytes: &mut Bytes) {
        if let Some(handle) = self.pick(bytes) {
            assert_eq!(self.world.remove(handle).expect("a living object"), self.model.objects[&handle]);
            self.forget(handle);
        }
    }

    fn remove_many(&mut self, bytes: &mut Bytes) {
        let handles: Vec<_> = (0..bytes.below(6)).filter_map(|_| self.pick(bytes)).collect();
        let twice = (1..handles.len()).any(|i| handles[..i].contains(&handles[i]));
        assert_eq!(self.world.remove_many(&handles).is_err(), twice);
        if !twice {
            handles.into_iter().for_each(|handle| self.forget(handle));
        }
    }

    fn use_stale(&mut self, bytes: &mut Bytes) {
        if self.dead.is_empty() {
            return;
        }
        let handle = *bytes.pick(&self.dead);
        let stale = Error::StaleHandle { index: handle.index, generation: handle.generation };
        assert_eq!(self.world.remove(handle).expect_err("a stale handle"), stale);
        assert_eq!(self.world.set_box(handle, Aabb::default()).expect_err("a stale handle"), stale);
        assert!(!self.world.contains(handle) && self.world.pairs_of(handle).is_err());
        assert!(self.world.remove_many(&[handle]).is_err());
    }

    fn move_one(&mut self, bytes: &mut Bytes) {
        if let Some(handle) = self.pick(bytes) {
            let aabb = self.aabb(bytes);
            if bytes.one_in(4) {
                self.world.teleport(handle, aabb).expect("a valid box");
            } else {
                self.world.set_box(handle, aabb).expect("a valid box");
            }
            self.edit(handle, |object| object.aabb = aabb);
        }
    }

    fn set_boxes_of(&mut self, bytes: &mut Bytes) {
        let list: Vec<_> = (0..bytes.below(8)).filter_map(|_| Some((self.pick(bytes)?, self.aabb(bytes)))).collect();
        self.world.set_boxes_of(&list).expect("valid boxes");
        self.counts.operations += list.len() as u64;
        list.iter().for_each(|(handle, aabb)| self.edit(*handle, |object| object.aabb = *aabb));
    }

    /// New boxes for all movers, or for some of them; by copy or by exchange.
    fn set_mover_boxes(&mut self, bytes: &mut Bytes) {
        let movers: Vec<Handle> = self.world.movers().collect();
        let (few, swap) = (bytes.one_in(2), bytes.one_in(2));
        let mut boxes = Vec::new();
        for (at, handle) in movers.iter().enumerate() {
            let old = self.model.objects[handle].aabb;
            boxes.push(if few && !at.is_multiple_of(4) { old } else { self.aabb(bytes) });
        }
        if swap {
            let mut slots = vec![Aabb::point([T::NAN; D]); self.world.mover_slots()];
            for (handle, aabb) in movers.iter().zip(&boxes) {
                slots[self.world.slot(*handle).expect("living").expect("a mover") as usize] = *aabb;
            }
            self.world.swap_boxes(&mut slots).expect("valid boxes");
        } else {
            self.world.set_mover_boxes(&boxes).expect("valid boxes");
        }
        self.counts.operations += movers.len() as u64;
        movers.iter().zip(boxes).for_each(|(handle, aabb)| self.edit(*handle, |object| object.aabb = aabb));
    }

    fn change_one(&mut self, bytes: &mut Bytes) {
        let Some(handle) = self.pick(bytes) else { return };
        let world = &mut self.world;
        match bytes.below(8) {
            0 | 1 => {
                let tag = tag(bytes);
                world.set_tag(handle, tag).expect("living");
                self.edit(handle, |object| object.tag = tag);
            }
            2 | 3 => {
                let kind = kind(bytes);
                world.set_kind(handle, kind).expect("living");
                self.edit(handle, |object| object.kind = kind);
            }
            4 => {
                let margin = margin(bytes);
                world.set_margin(handle, margin).expect("a sound margin");
                self.edit(handle, |object| object.margin = margin);
            }
            5 => {
                let shape = self.shape(bytes);
                self.world.set_shape(handle, shape).expect("living");
                self.edit(handle, |object| object.shape = shape);
            }
            6 => {
                let sensor = bytes.one_in(2);
                world.set_sensor(handle, sensor).expect("living");
                self.edit(handle, |object| object.sensor = sensor);
            }
            _ => {
                let user = u64::from(bytes.byte());
                world.refilter(handle).expect("living"); // the answers have not changed, and neither do the pairs
                world.set_user(handle, user).expect("living");
                self.edit(handle, |object| object.user = user);
            }
        }
    }

    fn change_world(&mut self, bytes: &mut Bytes) {
        match bytes.below(10) {
            0 => {
                let margin = margin(bytes);
                self.world.set_world_margin(margin).expect("a sound margin");
                self.model.margin = margin;
            }
            1 => self.filter(bytes.below(4) as u32),
            2 => {
                let pairing = Pairing { kinematic_kinematic: bytes.one_in(2), kinematic_static: bytes.one_in(2) };
                self.world.set_pairing(pairing);
                self.model.pairing = pairing;
            }
            3 => self.world.shrink(),
            4 => {
                let spec = *bytes.pick(&self.specs);
                self.world.set_structures(spec.build().expect("listed"), spec.build().expect("listed"));
                self.counts.meet(&format!("own {spec}"));
            }
            5 if self.balls => {
                self.model.shape = *bytes.pick(&[Shape::Box, Shape::Ball]);
                self.world.set_world_shape(self.model.shape);
            }
            6 => {
                let report = *bytes.pick(&[Report::Both, Report::Both, Report::All, Report::Delta, Report::Count]);
                self.world.set_report(report);
                if report == Report::Count {
                    self.model.values.clear();
                }
            }
            7 | 8 => {
                let spec = *bytes.pick(&self.specs);
                match bytes.one_in(3) {
                    true => self.world.set_static_algorithm(spec).expect("listed"),
                    false => self.world.set_algorithm(spec).expect("listed"),
                }
                self.counts.meet(&format!("switched to {spec}"));
            }
            _ => self.world.set_context(context(bytes)),
        }
    }

    /// Removes the pairs whose indices add up to a multiple of something.
    fn filter(&mut self, code: u32) {
        match code {
            0 => self.world.clear_filter(),
            3 => self.world.set_pair_filter(|pair| !(pair.a.index + pair.b.index).is_multiple_of(4)),
            _ => self.world.set_filter(move |fresh| fresh.retain(|pair| !(pair.a + pair.b).is_multiple_of(code + 1))),
        }
        self.model.filter = if code == 0 { 0 } else { code + 1 };
    }

    fn set_value(&mut self, bytes: &mut Bytes) {
        let count = self.model.last.len();
        if count == 0 || !self.comparable || self.failed || self.world.report() == Report::Count {
            return;
        }
        let (at, value) = (bytes.below(count), u64::from(bytes.byte()));
        let Some(&(a, b)) = self.model.last.iter().nth(at) else { return };
        if self.world.contains(a) && self.world.contains(b) {
            assert!(self.world.set_pair_value(b, a, value).expect("living"), "the pair of the last update is not known");
            self.model.values.insert((a, b), value);
        }
    }

    /// Through bytes and back, in the middle of everything.
    fn snapshot(&mut self) {
        let data = postcard::to_stdvec(&self.world.snapshot()).expect("a snapshot has bytes");
        let before: Vec<_> = self.world.pairs().collect();
        let snapshot: Snapshot<D, T> = postcard::from_bytes(&data).expect("its own bytes");
        self.world.restore(&snapshot).expect("its own snapshot");
        assert!(self.world.pairs().eq(before), "restored pairs differ");
    }

    /// A frame with more pairs than allowed does not affect the next events.
    fn fail(&mut self) {
        let expected = self.model.pairs().len() as u64;
        if expected > 0 && self.world.report().delta() && self.comparable {
            self.world.set_pair_limit(expected - 1);
            assert_eq!(self.world.update().expect_err("too many pairs"), Error::TooManyPairs { limit: expected - 1 });
            assert_eq!(self.world.pairs().count(), 0);
            self.failed = true;
            self.world.set_pair_limit(u64::MAX);
        }
    }

    /// What happens to a clone does not happen to the world; now and then the world itself is cleared.
    fn clone_and_clear(&mut self, bytes: &mut Bytes) {
        let mut left = std::mem::take(&mut self.world);
        self.world = left.clone();
        left.clear();
        left.update().expect("an empty world");
        if bytes.one_in(4) {
            self.world.clear();
            let handles: Vec<_> = self.model.objects.keys().copied().collect();
            handles.into_iter().for_each(|handle| self.forget(handle));
        }
    }

    fn read(&mut self, bytes: &mut Bytes) {
        let area = self.aabb(bytes);
        if self.model.period.is_none() {
            let found = self.world.read().expect("changes are taken in").all_in_box(&area).expect("a valid box");
            self.counts.compared += found.len() as u64;
            assert_eq!(found, self.model.in_box(&area), "in {area:?}");
        }
    }

    /// Pairs with a second world: those that both would have in one.
    fn two_worlds(&mut self, bytes: &mut Bytes) {
        if self.model.filter != 0 {
            return; // a filter of this world does not count for the pairs of two
        }
        let mut other = World::<D, T>::new();
        other.set_period(self.model.period).expect("a sound period");
        other.set_world_margin(self.model.margin).expect("a sound margin");
        other.set_world_shape(self.model.shape);
        let objects: Vec<_> = (0..bytes.below(10)).map(|_| self.object(bytes)).collect();
        let handles = other.insert_many(&objects).expect("valid objects");
        let mut found = Vec::new();
        self.world.pairs_with(&mut other, &mut found).expect("two worlds of one space");
        let mut both = self.model.clone();
        both.objects.extend(handles.iter().zip(&objects).map(|(handle, object)| (*handle, *object)));
        let mut expected = Vec::new();
        for (a, b) in both.pairs() {
            match (handles.contains(&a), handles.contains(&b)) {
                (false, true) => expected.push((a, b)),
                (true, false) => expected.push((b, a)),
                _ => {}
            }
        }
        expected.sort_unstable();
        self.counts.compared += expected.len() as u64;
        assert_eq!(found, expected, "pairs of two worlds");
    }

    fn update(&mut self) {
        let (pairs, started, ended) = self.model.update();
        self.failed = false;
        let report = self.world.report();
        let update = self.world.update().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(update.len(), pairs.len() as u64, "{}: the number of pairs", self.world.algorithm());
        self.counts.compared += (pairs.len() + started.len() + ended.len()) as u64;
        if report == Report::Count {
            self.comparable = false;
            return;
        }
        let events = (update.started().handles(), update.ended().handles());
        match (report.delta(), self.comparable) {
            (true, true) => assert_eq!(events, (&started[..], &ended[..]), "{}", self.world.algorithm()),
            (true, false) => assert_eq!(events, (&pairs[..], &[][..]), "{}", self.world.algorithm()),
            (false, _) => assert_eq!(events, (&[][..], &[][..])),
        }
        self.comparable = true;
        assert_eq!(self.world.sorted_pairs(), pairs, "{}", self.world.algorithm());
        for (&(a, b), &value) in &self.model.values {
            assert_eq!(self.world.pair_value(a, b).expect("living"), Some(value));
        }
    }

    fn check(&mut self) {
        assert_eq!(self.world.len(), self.model.objects.len());
        for (&handle, object) in &self.model.objects {
            assert_eq!(self.world.object(handle).expect("living"), *object);
        }
    }
}
