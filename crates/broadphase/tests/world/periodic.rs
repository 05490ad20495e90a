//! Worlds whose space repeats, against a model that looks at all images.

use broadphase::geometry::{HalfSpaces, Measure, Nearest, NearestToBox};
use broadphase::{
    Aabb, Ball, Error, HalfSpace, Handle, Object, ObjectKind, Pairing, Period, Ray, Real, Shape, Spec, Strength, Swept,
    SweptBall, Tag, World,
};

use crate::model::Model;
use crate::{Random, specs};

/// The side of the space.
const SIDE: u64 = 16;

/// An object of any kind: boxes up to half the space and a little less for margins, a third of them outside of the space, corners often on a border.
fn object<const D: usize, T: Real>(random: &mut Random) -> Object<D, T> {
    let far = random.below(3) == 0;
    let size = [1, 3, SIDE / 2 - 1][random.below(3) as usize];
    let aabb: Aabb<D, T> = random.aabb(if far { 5 * SIDE } else { SIDE }, size);
    let aabb = aabb.translate([T::from_f64(if far { -2.0 * SIDE as f64 } else { 0.0 }); D]);
    let kind = [ObjectKind::Dynamic, ObjectKind::Dynamic, ObjectKind::Static, ObjectKind::Kinematic][random.below(4) as usize];
    let tag = [Tag::default(), Tag::default(), Tag::in_layers(1).meeting(2), Tag::in_layers(2), Tag::default().with_env(3)];
    let object = Object::new(aabb).with_kind(kind).with_tag(tag[random.below(5) as usize]).with_user(random.below(9));
    let object = object.with_margin(T::from_f64([0.0, 0.0, 0.25][random.below(3) as usize]));
    let shape = [None, None, None, Some(Shape::Ball), Some(Shape::Box)][random.below(5) as usize];
    Object { shape, sensor: random.below(8) == 0, ..object }
}

struct Pair<const D: usize, T: Real> {
    world: World<D, T>,
    model: Model<D, T>,
    random: Random,
}

impl<const D: usize, T: Real> Pair<D, T> {
    fn new(spec: &Spec, period: Period<D, T>, seed: u64) -> Self {
        let (mut world, mut model) = (World::new(), Model::new());
        world.set_algorithm(spec).unwrap();
        world.set_period(Some(period)).unwrap();
        model.period = Some(period);
        Self { world, model, random: Random(seed) }
    }

    fn any(&mut self) -> Option<Handle> {
        let count = self.model.objects.len() as u64;
        let at = if count == 0 { return None } else { self.random.below(count) };
        self.model.objects.keys().nth(at as usize).copied()
    }

    /// One change, or several.
    fn change(&mut self) {
        let fresh = object(&mut self.random);
        let Some(handle) = self.any().filter(|_| self.random.below(4) > 0) else {
            let handle = self.world.insert(fresh).unwrap();
            self.model.objects.insert(handle, fresh);
            return;
        };
        let known = self.model.objects.get_mut(&handle).unwrap();
        match self.random.below(16) {
            0 | 1 => {
                self.world.remove(handle).unwrap();
                self.model.objects.remove(&handle);
            }
            2 => {
                self.world.set_kind(handle, fresh.kind).unwrap();
                known.kind = fresh.kind;
            }
            3 => {
                self.world.set_tag(handle, fresh.tag).unwrap();
                known.tag = fresh.tag;
            }
            4 => {
                self.world.set_shape(handle, fresh.shape).unwrap();
                known.shape = fresh.shape;
            }
            5 => {
                let pairing = [Pairing::ALL, Pairing::CONTACTS][self.random.below(2) as usize];
                self.world.set_pairing(pairing);
                self.model.pairing = pairing;
            }
            6 => {
                let shape = [Shape::Ball, Shape::Box][self.random.below(2) as usize];
                self.world.set_world_shape(shape);
                self.model.shape = shape;
            }
            7 => {
                // Everything drifts, over the borders too.
                let by = [T::from_f64(self.random.below(7) as f64 - 3.0); D];
                self.model.objects.values_mut().for_each(|object| object.aabb = object.aabb.translate(by));
                let list: Vec<_> = self.model.objects.iter().map(|(handle, object)| (*handle, object.aabb)).collect();
                self.world.set_boxes_of(&list).unwrap();
            }
            _ => {
                self.world.set_box(handle, fresh.aabb).unwrap();
                known.aabb = fresh.aabb;
            }
        }
    }

    fn update(&mut self) {
        let (pairs, started, ended) = self.model.update();
        let update = self.world.update().unwrap();
        assert_eq!(self.world.sorted_pairs(), pairs);
        assert_eq!(update.started(), started);
        assert_eq!(update.ended(), ended);
        self.world.validate(Strength::Geometry).unwrap();
    }

    fn ask(&mut self) {
        let (random, model) = (&mut self.random, &self.model);
        let area: Aabb<D, T> = random.aabb(SIDE, 5).translate([T::from_f64(random.below(3) as f64 * 16.0 - 16.0); D]);
        let by: [T; D] = std::array::from_fn(|_| T::from_f64(random.below(31) as f64 - 15.0));
        let ball = Ball { center: area.min, radius: T::from_f64(random.below(4) as f64) };
        let reader = self.world.read().unwrap();
        let handles = |list: Vec<(Handle, T)>| list.into_iter().map(|(handle, _)| handle).collect::<Vec<_>>();
        assert_eq!(reader.all_in_box(&area).unwrap(), handles(model.search(&area, T::ZERO, None)));
        assert_eq!(reader.all_in_ball(&ball).unwrap(), handles(model.search(&ball, T::ZERO, None)));
        assert_eq!(reader.all_at_point(area.max).unwrap(), handles(model.search(&Aabb::point(area.max), T::ZERO, None)));
        let sorted = |measure: &dyn Measure<D, T>, limit: T| {
            let mut list = model.search(measure, limit, None);
            list.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap().then(a.0.cmp(&b.0)));
            list
        };
        if by.iter().any(|c| *c != T::ZERO) {
            let ray = Ray::new(area.min, by, T::ONE);
            assert_eq!(reader.all_along_ray(&ray).unwrap(), sorted(&ray, ray.length));
            assert_eq!(reader.first_along_ray(&ray).unwrap(), sorted(&ray, ray.length).first().copied());
        }
        let swept = Swept { start: area, displacement: by };
        assert_eq!(reader.all_along_swept(&swept).unwrap(), sorted(&swept, T::ONE));
        let swept = SweptBall { start: ball, displacement: by };
        assert_eq!(reader.all_along_swept_ball(&swept).unwrap(), sorted(&swept, T::ONE));
        let (k, mut found) = (1 + random.below(9) as usize, Vec::new());
        let nearest = |measure: &dyn Measure<D, T>, limit: T| {
            let list = sorted(measure, limit * limit).into_iter().take(k);
            list.map(|(handle, square)| (handle, square.sqrt())).collect::<Vec<_>>()
        };
        for limit in [T::INFINITY, T::from_f64(3.0)] {
            reader.nearest_within(area.min, k, limit, &mut found).unwrap();
            assert_eq!(found, nearest(&Nearest(area.min), limit));
            reader.nearest_to_box(&area, k, limit, &mut found).unwrap();
            assert_eq!(found, nearest(&NearestToBox(area), limit));
        }
        let everything = self.model.objects.keys().copied().collect::<Vec<_>>();
        assert_eq!(reader.all_in_box(&Aabb::everything()).unwrap(), everything);
        let long = Aabb::new([T::from_f64(-100.0); D], [T::from_f64(-80.0); D]);
        let periodic = (0..D).all(|axis| self.model.period.unwrap().length(axis).is_some());
        assert!(!periodic || reader.all_in_box(&long).unwrap() == everything, "an area as long as the period holds all");
    }
}

fn spaces<const D: usize, T: Real>() -> [Period<D, T>; 3] {
    let side = T::from_f64(SIDE as f64);
    [
        Period::new([side; D]),
        Period::axes(std::array::from_fn(|k| (k == 0).then_some(side))),
        Period::axes(std::array::from_fn(|k| (k != 0).then_some(side))).with_origin([T::from_f64(-5.0); D]),
    ]
}

fn follows<const D: usize, T: Real>() {
    for (number, spec) in specs(D).iter().enumerate() {
        for (round, period) in spaces().into_iter().enumerate() {
            let mut pair = Pair::<D, T>::new(spec, period, 1 + number as u64 * 7 + round as u64);
            for frame in 0..30 {
                for _ in 0..[0, 1, 3, 40][frame % 4] {
                    pair.change();
                }
                pair.update();
                if frame % 3 == 0 {
                    pair.ask();
                }
            }
        }
    }
}

#[test]
fn pairs_events_and_queries_are_those_of_all_images_in_the_plane() {
    follows::<2, f32>();
    follows::<2, f64>();
}

#[test]
fn pairs_events_and_queries_are_those_of_all_images_in_space() {
    follows::<3, f32>();
    follows::<3, f64>();
}

#[test]
fn many_objects_that_drift_over_the_borders_keep_their_pairs_right() {
    let mut pair = Pair::<3, f32>::new(&Spec::default(), Period::new([SIDE as f32; 3]), 5);
    for _ in 0..1500 {
        let aabb: Aabb<3, f32> = pair.random.aabb(SIDE * 10, 9);
        let object = Object::new(Aabb::new(aabb.min.map(|x| x / 10.0), aabb.max.map(|x| x / 10.0)));
        let handle = pair.world.insert(object).unwrap();
        pair.model.objects.insert(handle, object);
    }
    for share in [1, 2, 20, 1, 50] {
        let mut list = Vec::new();
        for (at, (handle, object)) in pair.model.objects.iter_mut().enumerate() {
            if at % share == 0 {
                object.aabb = object.aabb.translate([0.25, -0.5, 0.125]);
                list.push((*handle, object.aabb));
            }
        }
        pair.world.set_boxes_of(&list).unwrap();
        pair.update();
        pair.ask();
    }
    let mut again = pair.world.clone();
    let ordered: Vec<_> = pair.world.pairs().collect();
    assert!(again.update().is_ok() && again.pairs().eq(ordered.iter().copied()), "a clone goes on with the same list");
}

#[test]
fn a_period_can_be_set_changed_and_taken_away_and_the_differences_are_right() {
    for spec in specs(2) {
        let mut pair = Pair::<2, f32>::new(&spec, Period::new([16.0; 2]), 3);
        (0..60).for_each(|_| pair.change());
        for period in [None, Some(Period::new([24.0, 20.0])), Some(Period::axes([None, Some(17.0)])), None] {
            pair.world.set_period(period).unwrap();
            pair.model.period = period;
            pair.update();
            assert_eq!(pair.world.period(), period);
        }
    }
}

#[test]
fn a_shift_of_the_origin_takes_the_space_along() {
    let mut pair = Pair::<2, f64>::new(&Spec::default(), Period::new([16.0; 2]), 9);
    (0..80).for_each(|_| pair.change());
    pair.update();
    pair.world.shift_origin([-3.0, 40.0]).unwrap();
    let update = pair.world.update().unwrap();
    assert!(update.started().is_empty() && update.ended().is_empty());
    assert_eq!(pair.world.period().unwrap().ends(1), Some((40.0, 56.0)));
}

#[test]
fn two_worlds_of_one_period_meet_across_the_borders() {
    let period = Some(Period::new([10.0, 10.0]));
    let (mut ships, mut rocks) = (World::<2, f32>::new(), World::<2, f32>::new());
    let ship = ships.insert(Aabb::new([9.5, 9.5], [10.5, 10.5])).unwrap();
    let rock = rocks.insert(Object::fixed(Aabb::new([20.0, -10.0], [20.25, -9.75]))).unwrap();
    let mut found = Vec::new();
    ships.set_period(period).unwrap();
    let error = ships.pairs_with(&mut rocks, &mut found).unwrap_err();
    assert!(matches!(error, Error::InvalidArgument { argument: "period", .. }), "{error}");
    rocks.set_period(period).unwrap();
    ships.pairs_with(&mut rocks, &mut found).unwrap();
    assert_eq!(found, [(ship, rock)]);
    // A ball that reaches over two borders, but not to the corner of the rock.
    ships.set_shape(ship, Some(Shape::Ball)).unwrap();
    rocks.set_box(rock, Aabb::new([0.45, 0.45], [1.0, 1.0])).unwrap();
    ships.pairs_with(&mut rocks, &mut found).unwrap();
    assert_eq!(found, []);
}

#[test]
fn what_a_periodic_world_cannot_do_is_an_error_that_says_so() {
    let mut world = World::<2, f32>::new();
    let long = world.insert(Aabb::new([0.0, 0.0], [6.0, 1.0])).unwrap();
    let error = world.set_period(Some(Period::new([10.0, 10.0]))).unwrap_err();
    assert_eq!(error, Error::BoxTooLong { index: long.index as usize, axis: 0, length: 6.0, period: 10.0 });
    assert_eq!(world.period(), None);
    assert!(matches!(world.set_period(Some(Period::new([0.0, 1.0]))), Err(Error::InvalidValue { argument: "period", .. })));
    world.set_period(Some(Period::axes([None, Some(10.0)]))).unwrap();
    world.update().unwrap();
    // A box that becomes too long is noticed by the update, which names it; then the world goes on.
    let tall = world.insert(Object::fixed(Aabb::new([0.0, 0.0], [1.0, 1.0])).with_margin(2.5)).unwrap();
    let error = world.update().unwrap_err();
    assert_eq!(error, Error::BoxTooLong { index: tall.index as usize, axis: 1, length: 6.0, period: 10.0 });
    assert!(world.read().is_err());
    world.set_margin(tall, 1.0).unwrap();
    assert_eq!(world.update().unwrap().started(), [(long, tall)]);
    let mut world = World::<2, f32>::new();
    world.set_period(Some(Period::new([10.0; 2]))).unwrap();
    let endless = Ray::new([0.0, 0.0], [1.0, 1.0], f32::INFINITY);
    assert!(matches!(world.read().unwrap().first_along_ray(&endless), Err(Error::InvalidQuery { .. })));
    let wedge = [HalfSpace { normal: [-1.0, 1.0], offset: 0.0 }, HalfSpace { normal: [-1.0, -1.0], offset: 0.0 }];
    let error = world.read().unwrap().all_in_frustum(&wedge).unwrap_err();
    assert!(matches!(error, Error::InvalidQuery { .. }) && error.to_string().contains("far side"), "{error}");
}

/// A view in the plane: an apex, two sides that open around a direction, and a far side.
fn view(random: &mut Random) -> ([f64; 2], Vec<HalfSpace<2, f64>>) {
    let apex = [0, 1].map(|_| random.below(640) as f64 / 8.0 - 30.0);
    let (angle, opening) = (random.below(360) as f64, 5.0 + random.below(70) as f64);
    let toward = |degrees: f64| [degrees.to_radians().cos(), degrees.to_radians().sin()];
    let length = 1.0 + random.below(40) as f64;
    let side = |normal: [f64; 2], beyond: f64| HalfSpace { normal, offset: normal[0] * apex[0] + normal[1] * apex[1] + beyond };
    let sides =
        [side(toward(angle + 90.0 + opening), 0.0), side(toward(angle - 90.0 - opening), 0.0), side(toward(angle), length)];
    (apex, sides.to_vec())
}

#[test]
fn a_frustum_sees_every_image_within_it_and_nothing_that_no_image_is_near() {
    let mut random = Random(11);
    let mut seen = 0;
    for space in [Period::new([16.0, 16.0]), Period::axes([None, Some(16.0)]).with_origin([0.0, -5.0])] {
        let mut pair = Pair::<2, f64>::new(&Spec::default(), space, 5);
        (0..150).for_each(|_| pair.change());
        pair.update();
        for _ in 0..200 {
            let (_, sides) = view(&mut random);
            let found = pair.world.read().unwrap().all_in_frustum(&sides).unwrap();
            // A scan over many images by the same test; along an axis without a period, a long box may pass it though no part of it does.
            let by_scan = pair.model.search_far(&HalfSpaces(&sides), 8);
            assert!(found.iter().all(|handle| by_scan.contains(handle)));
            assert!(space.length(0).is_none() || found == by_scan);
            // Whatever has a point inside is seen.
            let inside = pair.model.points_far(8, |point| {
                sides.iter().all(|side| side.normal[0] * point[0] + side.normal[1] * point[1] <= side.offset)
            });
            assert!(inside.iter().all(|handle| found.contains(handle)));
            seen += inside.len();
        }
    }
    assert!(seen > 1000, "{seen}");
}

#[cfg(feature = "serde")]
#[test]
fn a_snapshot_of_a_periodic_world_with_objects_on_their_way_goes_on() {
    let mut world = World::<2, f64>::new();
    world.set_period(Some(Period::new([10.0; 2]))).unwrap();
    world.set_continuous_detection(broadphase::ContinuousDetection::Swept).unwrap();
    let at = |x: f64| Aabb::new([x, 0.0], [x + 1.0, 1.0]);
    let (bullet, wall) = (world.insert(at(8.0)).unwrap(), world.insert(Object::fixed(at(2.0))).unwrap());
    world.update().unwrap();
    world.set_box(bullet, at(11.0)).unwrap();
    world.update().unwrap();
    let text = serde_json::to_string(&world.snapshot()).unwrap();
    let mut again = World::<2, f64>::new();
    again.restore(&serde_json::from_str(&text).unwrap()).unwrap();
    for world in [&mut world, &mut again] {
        world.set_box(bullet, at(14.0)).unwrap();
        assert_eq!(world.update().unwrap().len(), 1);
        assert!(world.pairs().eq([(bullet, wall)]));
        world.validate(Strength::Geometry).unwrap();
    }
}

#[cfg(feature = "serde")]
#[test]
fn a_snapshot_of_a_periodic_world_goes_on_with_identical_lists() {
    let mut pair =
        Pair::<3, f32>::new(&Spec::default(), Period::axes([Some(16.0), None, Some(17.3)]).with_origin([0.1, 0.0, 0.7]), 4);
    (0..120).for_each(|_| pair.change());
    pair.update();
    let text = serde_json::to_string(&pair.world.snapshot()).unwrap();
    let mut again = World::<3, f32>::new();
    again.restore(&serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(again.period(), pair.world.period());
    for handle in pair.model.objects.keys().copied().collect::<Vec<_>>() {
        let aabb = pair.world.get_box(handle).unwrap().translate([1.5, 0.0, -2.5]);
        pair.world.set_box(handle, aabb).unwrap();
        again.set_box(handle, aabb).unwrap();
    }
    let (here, there) = (pair.world.update().unwrap(), again.update().unwrap());
    assert_eq!(here.started(), there.started());
    assert!(pair.world.pairs().eq(again.pairs()));
    for damage in ["\"ends\":[]", "\"ends\":[0,0,0,13830554455654793216,0,0]"] {
        let start = text.find("\"ends\":[").unwrap();
        let end = start + text[start..].find(']').unwrap() + 1;
        let broken = format!("{}{damage}{}", &text[..start], &text[end..]);
        let result = serde_json::from_str(&broken).map(|snapshot| again.restore(&snapshot));
        assert!(matches!(result, Ok(Err(Error::InvalidSnapshot { .. }))), "{damage}");
    }
}
