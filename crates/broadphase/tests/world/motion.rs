//! Remedies against tunnelling, against their definitions, written down naively; and what they promise.

use std::collections::{BTreeMap, BTreeSet};

use broadphase::{
    Aabb, Ball, ContinuousDetection, Error, Handle, Object, ObjectKind, Shape, Strength, Swept, World, World2, World3,
};

use crate::{Random, specs};

type Pairs = BTreeSet<(Handle, Handle)>;

/// An object of the naive world: where it is, and where it was at the last update, if it has a way.
#[derive(Clone, Copy)]
struct Naive {
    object: Object<2, f64>,
    before: Option<Aabb<2, f64>>,
}

impl Naive {
    /// Sub-steps by definition: powers of two are tried until one is enough.
    fn steps(&self, step: f64, most: u32) -> u32 {
        let (to, Some(from)) = (self.object.aabb, self.before) else { return 1 };
        let mut steps = 1;
        let enough = |steps: u32| {
            (0..2).all(|k| {
                let travel = (to.min[k] - from.min[k]).abs().max((to.max[k] - from.max[k]).abs());
                let size = (to.max[k] - to.min[k]).min(from.max[k] - from.min[k]) + 2.0 * self.object.margin;
                travel == 0.0 || travel / f64::from(steps) <= step * size
            })
        };
        while !enough(steps) && steps * 2 <= most {
            steps *= 2;
        }
        steps
    }

    /// The box after a share of the way.
    fn at(&self, share: f64) -> Aabb<2, f64> {
        let to = self.object.aabb;
        let from = self.before.unwrap_or(to);
        let between = |from: [f64; 2], to: [f64; 2]| std::array::from_fn(|k| from[k] * (1.0 - share) + to[k] * share);
        Aabb::new(between(from.min, to.min), between(from.max, to.max))
    }
}

fn meet(a: (&Object<2, f64>, Aabb<2, f64>, bool), b: (&Object<2, f64>, Aabb<2, f64>, bool)) -> bool {
    let (p, q) = (a.1.grow(a.0.margin), b.1.grow(b.0.margin));
    let is_ball = |(object, _, swept): (&Object<2, f64>, Aabb<2, f64>, bool)| object.shape == Some(Shape::Ball) && !swept;
    p.overlaps(&q)
        && a.0.kind.pairs_with(b.0.kind)
        && match (is_ball(a), is_ball(b)) {
            (false, false) => true,
            (true, true) => Ball::inscribed(&p).overlaps(&Ball::inscribed(&q)),
            (true, false) => Ball::inscribed(&p).overlaps_box(&q),
            (false, true) => Ball::inscribed(&q).overlaps_box(&p),
        }
}

/// All pairs of objects that `place` puts somewhere: a box, and whether it is swept.
fn pairs_at(all: &BTreeMap<Handle, Naive>, place: impl Fn(&Naive) -> (Aabb<2, f64>, bool), into: &mut Pairs) {
    let placed: Vec<_> = all.iter().map(|(handle, naive)| (*handle, naive.object, place(naive))).collect();
    for (i, (a, x, at_a)) in placed.iter().enumerate() {
        for (b, y, at_b) in &placed[i + 1..] {
            if meet((x, at_a.0, at_a.1), (y, at_b.0, at_b.1)) {
                into.insert((*a, *b));
            }
        }
    }
}

fn pairs_of_frame(all: &BTreeMap<Handle, Naive>, remedy: ContinuousDetection) -> Pairs {
    let mut pairs = Pairs::new();
    match remedy {
        ContinuousDetection::None => pairs_at(all, |naive| (naive.object.aabb, false), &mut pairs),
        ContinuousDetection::Swept => {
            let whole = |naive: &Naive| naive.before.map_or(naive.object.aabb, |from| from.union(&naive.object.aabb));
            pairs_at(all, |naive| (whole(naive), whole(naive) != naive.object.aabb), &mut pairs);
        }
        ContinuousDetection::SubSteps { step, most } => {
            let looks = all.values().map(|naive| naive.steps(step, most)).max().unwrap_or(1);
            for look in 1..=looks {
                let share = |naive: &Naive| {
                    let steps = naive.steps(step, most);
                    f64::from((look * steps).div_ceil(looks)) / f64::from(steps)
                };
                pairs_at(all, |naive| (naive.at(share(naive)), false), &mut pairs);
            }
        }
    }
    pairs
}

/// A box with corners on eighths, so that no place on any way is rounded.
fn aabb(random: &mut Random) -> Aabb<2, f64> {
    let min: [f64; 2] = std::array::from_fn(|_| random.below(200) as f64 / 8.0);
    Aabb::new(min, std::array::from_fn(|k| min[k] + random.below(16) as f64 / 8.0))
}

fn object(random: &mut Random) -> Object<2, f64> {
    let kind = [ObjectKind::Dynamic, ObjectKind::Dynamic, ObjectKind::Static, ObjectKind::Kinematic][random.below(4) as usize];
    let object = Object::new(aabb(random)).with_kind(kind).with_margin(random.below(2) as f64 / 4.0);
    if random.below(3) == 0 { object.with_shape(Shape::Ball) } else { object }
}

/// A world and its naive twin through frames of moves, leaps, births and deaths, the remedy changing now and then.
fn follow(spec: &broadphase::Spec, seed: u64) {
    let mut random = Random(seed);
    let mut world: World<2, f64> = World::new();
    world.set_algorithm(spec).unwrap();
    let remedies = [
        ContinuousDetection::SUB_STEPS,
        ContinuousDetection::Swept,
        ContinuousDetection::SubSteps { step: 1.0, most: 6 },
        ContinuousDetection::None,
        ContinuousDetection::SUB_STEPS,
    ];
    let (mut all, mut last): (BTreeMap<Handle, Naive>, Pairs) = Default::default();
    for frame in 0..30 {
        if frame % 6 == 0 {
            let remedy = remedies[frame / 6];
            world.set_continuous_detection(remedy).unwrap();
            all.values_mut().for_each(|naive| naive.before = None);
        }
        for _ in 0..random.below(12) {
            let object = object(&mut random);
            all.insert(world.insert(object).unwrap(), Naive { object, before: None });
        }
        let handles: Vec<Handle> = all.keys().copied().collect();
        for handle in handles {
            let choice = random.below(12);
            let to = aabb(&mut random);
            let naive = all.get_mut(&handle).unwrap();
            match choice {
                0 => {
                    world.remove(handle).unwrap();
                    all.remove(&handle);
                }
                1 => {
                    world.teleport(handle, to).unwrap();
                    (naive.object.aabb, naive.before) = (to, None);
                }
                2..6 => {
                    world.set_box(handle, to).unwrap();
                    naive.object.aabb = to;
                }
                _ => {}
            }
        }
        let remedy = world.continuous_detection();
        let now = pairs_of_frame(&all, remedy);
        if frame % 5 == 4 && !now.is_empty() {
            world.set_pair_limit(now.len() as u64 - 1);
            assert!(matches!(world.update(), Err(Error::TooManyPairs { .. })));
            world.set_pair_limit(u64::MAX);
        }
        world.update().unwrap();
        assert!(world.sorted_pairs().into_iter().eq(now.iter().copied()), "{spec}, seed {seed}, frame {frame}: {remedy:?}");
        assert!(world.started().iter().eq(now.difference(&last)), "{spec}, seed {seed}, frame {frame}: started");
        assert!(world.ended().iter().eq(last.difference(&now)), "{spec}, seed {seed}, frame {frame}: ended");
        for &handle in all.keys() {
            let of: BTreeSet<Handle> =
                now.iter().filter(|(a, b)| *a == handle || *b == handle).map(|&(a, b)| if a == handle { b } else { a }).collect();
            assert!(world.pairs_of(handle).unwrap().eq(of));
        }
        assert!(world.iter().eq(all.iter().map(|(h, naive)| (*h, naive.object.aabb))), "objects are where they were put");
        world.validate(Strength::Geometry).unwrap();
        last = now;
        for naive in all.values_mut() {
            naive.before =
                (naive.object.kind != ObjectKind::Static && remedy != ContinuousDetection::None).then_some(naive.object.aabb);
        }
    }
}

#[test]
fn every_remedy_finds_the_pairs_of_its_definition_and_their_differences() {
    for spec in &specs(2) {
        (1..5).for_each(|seed| follow(spec, seed));
    }
}

/// What crosses another along one axis, whichever of the two moves, is a pair.
#[test]
fn nothing_is_crossed_unseen_along_an_axis() {
    let mut random = Random(7);
    for case in 0..300 {
        let mut world = World3::new();
        world.set_continuous_detection(ContinuousDetection::SubSteps { step: 0.5, most: 1024 }).unwrap();
        let axis = random.below(3) as usize;
        let mut aabb = || {
            let half = std::array::from_fn(|k| if k == axis { (10 + random.below(300)) as f32 / 100.0 } else { 1.0 });
            let at = |x: f32| std::array::from_fn(|k| if k == axis { x } else { 0.1 * k as f32 });
            (Aabb::from_center(at((random.below(400) as f32 - 200.0) / 7.0), half), (random.below(400) as f32 - 200.0) / 3.0)
        };
        let ways = [aabb(), aabb()];
        let handles = world.insert_many(&ways.map(|(from, _)| from)).unwrap();
        world.update().unwrap();
        let before = world.pair_count();
        for (handle, (from, by)) in handles.iter().zip(ways) {
            world.set_box(*handle, from.translate(std::array::from_fn(|k| if k == axis { by } else { 0.0 }))).unwrap();
        }
        world.update().unwrap();
        let relative = Swept::new(ways[0].0, std::array::from_fn(|k| if k == axis { ways[0].1 - ways[1].1 } else { 0.0 }));
        let met = relative.enters(&ways[1].0).is_some();
        assert!(!met || before + world.pair_count() > 0, "case {case}: {ways:?}");
        assert_eq!(world.motion_stats().capped, 0);
    }
}

#[test]
fn objects_that_do_not_move_stay_swept_when_all_boxes_are_set_or_swapped() {
    for (spec, swaps, moved) in
        specs(2).iter().flat_map(|spec| [(spec, true, 5), (spec, false, 5), (spec, true, 30), (spec, false, 30)])
    {
        let mut world: World<2, f64> = World::new();
        world.set_algorithm(spec).unwrap();
        world.set_continuous_detection(ContinuousDetection::Swept).unwrap();
        let mut boxes: Vec<Aabb<2, f64>> =
            (0..40).map(|i| Aabb::new([0.0, 3.0 * i as f64], [1.0, 3.0 * i as f64 + 1.0])).collect();
        let handles = world.insert_many(&boxes).unwrap();
        world.update().unwrap();
        boxes[..5].iter_mut().for_each(|value| *value = value.translate([500.0, 0.0]));
        world.set_boxes(&boxes).unwrap();
        world.update().unwrap();
        // The first five stand still, some of the others go on.
        boxes[5..moved].iter_mut().for_each(|value| *value = value.translate([0.0, 0.5]));
        if swaps {
            world.swap_boxes(&mut boxes.clone()).unwrap();
        } else {
            world.set_boxes(&boxes).unwrap();
        }
        world.validate(Strength::Geometry).unwrap_or_else(|fault| panic!("{spec}: {fault:?}"));
        let on_the_way = world.read().unwrap().all_in_box(&Aabb::new([250.0, 0.0], [251.0, 99.0])).unwrap();
        assert_eq!(on_the_way, handles[..5], "{spec}: they stay swept until they move, {swaps}, {moved}");
        world.update().unwrap();
        let on_the_way = world.read().unwrap().all_in_box(&Aabb::new([250.0, 0.0], [251.0, 99.0])).unwrap();
        assert_eq!(on_the_way, [], "{spec}: and not after the next update");
    }
}

#[test]
fn a_ball_that_was_swept_is_a_ball_again_once_it_is_moved() {
    let at = |x: f32| Aabb::new([x, 0.0], [x + 2.0, 2.0]);
    let (mut world, mut other) = (World2::new(), World2::new());
    world.set_world_shape(Shape::Ball);
    world.set_continuous_detection(ContinuousDetection::Swept).unwrap();
    let ball = world.insert(at(0.0)).unwrap();
    world.update().unwrap();
    world.set_box(ball, at(10.0)).unwrap();
    world.update().unwrap();
    let corners = [5.0, 10.1, 20.1, 21.0].map(|x| other.insert(Aabb::point([x, 0.1])).unwrap());
    let mut found = Vec::new();
    world.pairs_with(&mut other, &mut found).unwrap();
    assert_eq!(found, [(ball, corners[0]), (ball, corners[1])], "on its way it is a box");
    world.set_box(ball, at(20.0)).unwrap();
    world.pairs_with(&mut other, &mut found).unwrap();
    assert_eq!(found, [(ball, corners[3])], "and then a ball");
}

#[test]
fn what_takes_the_slot_of_a_removed_object_after_a_failed_update_has_no_way() {
    let at = |x: f32| Aabb::new([x, 0.0], [x + 1.0, 1.0]);
    let mut world = World2::new();
    world.set_continuous_detection(ContinuousDetection::SUB_STEPS).unwrap();
    let (old, fast) = (world.insert(at(0.0)).unwrap(), world.insert(at(100.0)).unwrap());
    let walls = [10.0, 110.0, 110.0].map(|x| world.insert(Object::fixed(at(x))).unwrap());
    world.update().unwrap();
    world.remove(old).unwrap();
    world.set_box(fast, at(120.0)).unwrap();
    world.set_pair_limit(1);
    assert_eq!(world.update().unwrap_err(), Error::TooManyPairs { limit: 1 });
    world.set_pair_limit(100);
    let new = world.insert(at(20.0)).unwrap();
    assert_eq!(world.slot(new).unwrap(), Some(0), "the slot of the removed one");
    let started = world.update().unwrap().started().to_vec();
    assert_eq!(started, [(fast, walls[1]), (fast, walls[2])], "nobody passed the first wall");
}

#[test]
fn a_way_longer_than_the_largest_number_is_walked() {
    let mut world = World2::new();
    world.set_continuous_detection(ContinuousDetection::SUB_STEPS).unwrap();
    let wall = world.insert(Object::fixed(Aabb::new([-1e37, 0.0], [1e37, 1.0]))).unwrap();
    let mover = world.insert(Aabb::new([-3e38, 0.0], [-2e38, 1.0])).unwrap();
    world.update().unwrap();
    world.set_box(mover, Aabb::new([2e38, 0.0], [3e38, 1.0])).unwrap();
    assert_eq!(world.update().unwrap().started(), [(wall, mover)]);
}

#[test]
fn too_few_sub_steps_are_told_and_bad_rates_refused() {
    let mut world = World2::new();
    for (step, most) in [(0.0, 4), (f64::NAN, 4), (1.5, 4), (0.5, 0), (0.5, 4096)] {
        let error = world.set_continuous_detection(ContinuousDetection::SubSteps { step, most }).unwrap_err();
        assert_eq!(error.code(), "invalid-option", "{error}");
    }
    world.set_continuous_detection(ContinuousDetection::SubSteps { step: 0.5, most: 8 }).unwrap();
    let handles = world.insert_many(&[Aabb::new([0.0, 0.0], [1.0, 1.0]), Aabb::point([0.0, 9.0])]).unwrap();
    world.update().unwrap();
    world.set_box(handles[0], Aabb::new([100.0, 0.0], [101.0, 1.0])).unwrap();
    world.set_box(handles[1], Aabb::new([f32::NEG_INFINITY, 9.0], [0.0, 9.0])).unwrap();
    world.update().unwrap();
    let stats = world.motion_stats();
    assert_eq!((stats.looks, stats.fast, stats.placed, stats.capped), (8, 1, 7, 1), "an infinite side is not travelled to");
}

#[test]
fn an_update_without_motion_looks_once_and_ends_what_was_fleeting() {
    let mut world = World2::new();
    world.set_continuous_detection(ContinuousDetection::SUB_STEPS).unwrap();
    let wall = world.insert(Object::fixed(Aabb::new([5.0, 0.0], [5.1, 1.0]))).unwrap();
    let bullet = world.insert(Aabb::new([0.0, 0.0], [1.0, 1.0])).unwrap();
    world.update().unwrap();
    world.set_box(bullet, Aabb::new([9.0, 0.0], [10.0, 1.0])).unwrap();
    assert_eq!(world.update().unwrap().started(), [(wall, bullet)]);
    assert_eq!((world.motion_stats().looks, world.motion_stats().fleeting), (32, 1));
    world.set_continuous_detection(ContinuousDetection::None).unwrap();
    assert_eq!(world.update().unwrap().ended(), [(wall, bullet)]);
    assert!(world.update().unwrap().ended().is_empty() && world.motion_stats().fleeting == 0);
}
