//! Continuous detection, against its definitions, written down naively; and what they promise.

use std::collections::{BTreeMap, BTreeSet};

use broadphase::{
    Aabb, Ball, ContinuousDetection, Error, Handle, Object, ObjectKind, Period, Shape, Strength, Swept, SweptBall, World, World2,
    World3,
};

use crate::periodic_motion::Space;
use crate::{Random, specs};

type Pairs = BTreeSet<(Handle, Handle)>;

/// An object of the naive world: where it is, and where it was at the last update, if it has a way.
#[derive(Clone, Copy)]
struct Naive {
    object: Object<2, f64>,
    before: Option<Aabb<2, f64>>,
}

/// Sub-steps of a mover by definition: powers of two are tried until one is enough; `None` if all that are allowed are too few.
impl Naive {
    fn steps(&self, step: f64, most: u32) -> Option<u32> {
        let (to, Some(from)) = (self.object.aabb, self.before) else { return Some(1) };
        let enough = |steps: u32| {
            (0..2).all(|k| {
                let travel = (to.min[k] - from.min[k]).abs().max((to.max[k] - from.max[k]).abs());
                let size = (to.max[k] - to.min[k]).min(from.max[k] - from.min[k]) + 2.0 * self.object.margin;
                travel == 0.0 || travel / f64::from(steps) <= step * size
            })
        };
        (0..).map(|power| 1 << power).take_while(|&steps| steps <= most).find(|&steps| enough(steps))
    }

    /// The box after a share of the way.
    fn at(&self, share: f64) -> Aabb<2, f64> {
        let to = self.object.aabb;
        let from = self.before.unwrap_or(to);
        let between = |from: [f64; 2], to: [f64; 2]| std::array::from_fn(|k| from[k] * (1.0 - share) + to[k] * share);
        Aabb::new(between(from.min, to.min), between(from.max, to.max))
    }

    /// The box around the whole way.
    fn whole(&self) -> Aabb<2, f64> {
        self.at(0.0).union(&self.object.aabb)
    }

    fn is_ball(&self) -> bool {
        self.object.shape == Some(Shape::Ball)
    }

    fn grown(&self, share: f64) -> Aabb<2, f64> {
        self.at(share).grow(self.object.margin)
    }

    /// The same object, moved along with its way.
    fn moved(&self, by: [f64; 2]) -> Self {
        let object = Object { aabb: self.object.aabb.translate(by), ..self.object };
        Self { object, before: self.before.map(|before| before.translate(by)) }
    }

    /// The same object in a space that repeats: in the space, its way the shortest one.
    fn wrapped(&self, space: &Space) -> Self {
        let mut wrapped = *self;
        for k in 0..2 {
            let Some(length) = space.0[k] else { continue };
            let along = |periods: f64| std::array::from_fn(|axis| if axis == k { periods * length } else { 0.0 });
            while wrapped.object.aabb.min[k] < 0.0 {
                wrapped = wrapped.moved(along(1.0));
            }
            while wrapped.object.aabb.min[k] >= length {
                wrapped = wrapped.moved(along(-1.0));
            }
            let to = wrapped.object.aabb.min[k];
            let images = wrapped.before.map(|before| (-40..=40).map(move |step| before.translate(along(f64::from(step)))));
            let apart = |image: &Aabb<2, f64>| (image.min[k] - to).abs();
            wrapped.before = images.and_then(|images| images.min_by(|a, b| apart(a).total_cmp(&apart(b))));
        }
        wrapped
    }
}

/// Do the two touch where they are?
fn meet((a, p): (&Naive, Aabb<2, f64>), (b, q): (&Naive, Aabb<2, f64>)) -> bool {
    let (p, q) = (p.grow(a.object.margin), q.grow(b.object.margin));
    p.overlaps(&q)
        && match (a.is_ball(), b.is_ball()) {
            (false, false) => true,
            (true, true) => Ball::of_box(&p).overlaps(&Ball::of_box(&q)),
            (true, false) => Ball::of_box(&p).overlaps_box(&q),
            (false, true) => Ball::of_box(&q).overlaps_box(&p),
        }
}

/// Do the two touch at any time of the frame? For boxes: a function of the time that is convex on each axis is at most 0 somewhere, by fractions
/// of whole numbers.
fn meet_on_the_way(a: &Naive, b: &Naive) -> bool {
    let (starts, ends) = ((a.grown(0.0), b.grown(0.0)), (a.grown(1.0), b.grown(1.0)));
    let eighths = |x: f64| (x * 64.0) as i64;
    // The times between which the boxes overlap, as fractions.
    let (mut near, mut far) = ((0, 1), (1, 1));
    for k in 0..2 {
        for (start, end) in [
            (starts.0.min[k] - starts.1.max[k], ends.0.min[k] - ends.1.max[k]),
            (starts.1.min[k] - starts.0.max[k], ends.1.min[k] - ends.0.max[k]),
        ] {
            let (start, end) = (eighths(start), eighths(end));
            match (start > 0, end > 0) {
                (true, true) => return false,
                (true, false) if start * near.1 > near.0 * (start - end) => near = (start, start - end),
                (false, true) if -start * far.1 < far.0 * (end - start) => far = (-start, end - start),
                _ => {}
            }
        }
    }
    if near.0 * far.1 > far.0 * near.1 {
        return false;
    }
    match (a.is_ball(), b.is_ball()) {
        (false, false) => true,
        (true, true) => balls_meet(a, b),
        (true, false) => ball_meets_box(a, b),
        (false, true) => ball_meets_box(b, a),
    }
}

/// The least value of a parabola over the frame.
fn balls_meet(a: &Naive, b: &Naive) -> bool {
    let gap = |share: f64| {
        let (p, q) = (Ball::of_box(&a.grown(share)), Ball::of_box(&b.grown(share)));
        let reach = p.radius + q.radius;
        (0..2).map(|k| (p.center[k] - q.center[k]).powi(2)).sum::<f64>() - reach * reach
    };
    let (start, middle, end) = (gap(0.0), gap(0.5), gap(1.0));
    let (square, slope) = (2.0 * (start + end - 2.0 * middle), 4.0 * middle - 3.0 * start - end);
    let lowest = if square > 0.0 { (-slope / (2.0 * square)).clamp(0.0, 1.0) } else { 0.0 };
    start <= 0.0 || end <= 0.0 || (square > 0.0 && start - slope * slope / (4.0 * square) <= 0.0 && lowest > 0.0 && lowest < 1.0)
}

/// As documented: the larger size counts all the time.
fn ball_meets_box(ball: &Naive, other: &Naive) -> bool {
    let (start, end) = (Ball::of_box(&ball.grown(0.0)), Ball::of_box(&ball.grown(1.0)));
    let (from, to) = (other.grown(0.0), other.grown(1.0));
    let half = std::array::from_fn(|k| from.size()[k].max(to.size()[k]) * 0.5);
    let target = if from.size() == to.size() { from } else { Aabb::from_center(from.center(), half) };
    let way = std::array::from_fn(|k| end.center[k] - start.center[k] - (to.center()[k] - from.center()[k]));
    let widest = Ball { center: start.center, radius: start.radius.max(end.radius) };
    start.overlaps_box(&from) || end.overlaps_box(&to) || SweptBall::new(widest, way).enters(&target).is_some()
}

/// All pairs of objects, as `pair` decides.
fn pairs_by(all: &BTreeMap<Handle, Naive>, pair: impl Fn(&Naive, &Naive) -> bool, into: &mut Pairs) {
    let list: Vec<_> = all.iter().collect();
    for (i, (a, x)) in list.iter().enumerate() {
        for (b, y) in &list[i + 1..] {
            if x.object.kind.pairs_with(y.object.kind) && pair(x, y) {
                into.insert((**a, **b));
            }
        }
    }
}

fn pairs_of_frame(all: &BTreeMap<Handle, Naive>, detection: ContinuousDetection, space: &Space) -> Pairs {
    let all = &all.iter().map(|(handle, naive)| (*handle, naive.wrapped(space))).collect::<BTreeMap<_, _>>();
    let shifts = space.shifts();
    let meet = |(a, p): (&Naive, Aabb<2, f64>), (b, q): (&Naive, Aabb<2, f64>)| {
        shifts.iter().any(|&by| meet((a, p), (&b.moved(by), q.translate(by))))
    };
    let meet_on_the_way = |a: &Naive, b: &Naive| shifts.iter().any(|&by| meet_on_the_way(a, &b.moved(by)));
    let overlap = |p: &Aabb<2, f64>, q: &Aabb<2, f64>| shifts.iter().any(|&by| p.overlaps(&q.translate(by)));
    let mut pairs = Pairs::new();
    match detection {
        ContinuousDetection::None => pairs_by(all, |a, b| meet((a, a.object.aabb), (b, b.object.aabb)), &mut pairs),
        ContinuousDetection::Swept => pairs_by(all, meet_on_the_way, &mut pairs),
        ContinuousDetection::SubSteps { step, most } => {
            let looks = all.values().filter_map(|naive| naive.steps(step, most)).max().unwrap_or(1);
            for look in 1..=looks {
                // Where an object is in this look, or the box around its whole way.
                let place = |naive: &Naive| match naive.steps(step, most) {
                    Some(steps) => naive.at(f64::from((look * steps).div_ceil(looks)) / f64::from(steps)),
                    None => naive.whole(),
                };
                let is_swept = |naive: &Naive| naive.steps(step, most).is_none() && naive.whole() != naive.object.aabb;
                let meets = |a: &Naive, b: &Naive| {
                    let (p, q) = (place(a), place(b));
                    if is_swept(a) || is_swept(b) {
                        overlap(&p.grow(a.object.margin), &q.grow(b.object.margin)) && meet_on_the_way(a, b)
                    } else {
                        meet((a, p), (b, q))
                    }
                };
                pairs_by(all, meets, &mut pairs);
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

/// A world and its naive twin through frames of moves, leaps, births and deaths, the detection changing now and then.
pub(crate) fn follow(spec: &broadphase::Spec, seed: u64, space: Space) {
    let mut random = Random(seed);
    let mut world: World<2, f64> = World::new();
    world.set_algorithm(spec).unwrap();
    if space.0 != [None, None] {
        world.set_period(Some(Period::axes(space.0))).unwrap();
    }
    // Some are given outside of the space, if it repeats.
    let away = |random: &mut Random, aabb: Aabb<2, f64>| {
        let periods = random.below(5) as f64 - 2.0;
        aabb.translate(space.0.map(|length| length.unwrap_or(0.0) * periods))
    };
    let methods = [
        ContinuousDetection::SUB_STEPS,
        ContinuousDetection::Swept,
        ContinuousDetection::SubSteps { step: 1.0, most: 6 },
        ContinuousDetection::None,
        ContinuousDetection::SUB_STEPS,
    ];
    let (mut all, mut last): (BTreeMap<Handle, Naive>, Pairs) = Default::default();
    for frame in 0..30 {
        if frame % 6 == 0 {
            let detection = methods[frame / 6];
            world.set_continuous_detection(detection).unwrap();
            all.values_mut().for_each(|naive| naive.before = None);
        }
        for _ in 0..random.below(12) {
            let object = object(&mut random);
            let object = Object { aabb: away(&mut random, object.aabb), ..object };
            // Some come from elsewhere; with continuous detection, the way of the others begins where they are inserted.
            let previous = (random.below(3) == 0).then(|| aabb(&mut random));
            let moving = object.kind != ObjectKind::Static && world.continuous_detection() != ContinuousDetection::None;
            let handle = world.insert(Object { previous, ..object }).unwrap();
            all.insert(handle, Naive { object, before: moving.then_some(previous.unwrap_or(object.aabb)) });
        }
        let handles: Vec<Handle> = all.keys().copied().collect();
        for handle in handles {
            let choice = random.below(12);
            let to = aabb(&mut random);
            let to = away(&mut random, to);
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
        let detection = world.continuous_detection();
        let now = pairs_of_frame(&all, detection, &space);
        if frame % 5 == 4 && !now.is_empty() {
            world.set_pair_limit(now.len() as u64 - 1);
            assert!(matches!(world.update(), Err(Error::TooManyPairs { .. })));
            world.set_pair_limit(u64::MAX);
        }
        world.update().unwrap();
        expect_pairs(&mut world, &all, (&now, &last), &format!("{spec}, seed {seed}, frame {frame}, {detection:?}"));
        assert!(world.iter().eq(all.iter().map(|(h, naive)| (*h, naive.object.aabb))), "objects are where they were put");
        world.validate(Strength::Geometry).unwrap();
        last = now;
        for naive in all.values_mut() {
            naive.before =
                (naive.object.kind != ObjectKind::Static && detection != ContinuousDetection::None).then_some(naive.object.aabb);
        }
    }
}

/// The world has the pairs of this frame, altogether and of each object, and its events are the difference to those of the last frame.
fn expect_pairs(world: &mut World<2, f64>, all: &BTreeMap<Handle, Naive>, (now, last): (&Pairs, &Pairs), what: &str) {
    assert!(world.sorted_pairs().into_iter().eq(now.iter().copied()), "{what}");
    assert!(world.started().handles().iter().eq(now.difference(last)), "{what}: started");
    assert!(world.ended().handles().iter().eq(last.difference(now)), "{what}: ended");
    for &handle in all.keys() {
        let of: BTreeSet<Handle> =
            now.iter().filter(|(a, b)| *a == handle || *b == handle).map(|&(a, b)| if a == handle { b } else { a }).collect();
        assert!(world.pairs_of(handle).unwrap().eq(of), "{what}: pairs of {handle:?}");
    }
}

#[test]
fn every_method_finds_the_pairs_of_its_definition_and_their_differences() {
    for spec in &specs(2) {
        (1..5).for_each(|seed| follow(spec, seed, Space([None, None])));
    }
}

/// What crosses another along one axis, whichever of the two moves, is a pair.
#[test]
fn no_crossing_along_an_axis_is_missed() {
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
        assert_eq!(world.motion_stats().swept, 0);
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
        world.set_mover_boxes(&boxes).unwrap();
        world.update().unwrap();
        // The first five stand still, some of the others go on.
        boxes[5..moved].iter_mut().for_each(|value| *value = value.translate([0.0, 0.5]));
        if swaps {
            world.swap_boxes(&mut boxes.clone()).unwrap();
        } else {
            world.set_mover_boxes(&boxes).unwrap();
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
fn an_object_in_a_freed_slot_has_no_path_after_a_failed_update() {
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
    let started = world.update().unwrap().started().handles().to_vec();
    assert_eq!(started, [(fast, walls[1]), (fast, walls[2])], "nothing passed the first wall");
}

#[test]
fn a_path_longer_than_the_largest_number_is_stepped() {
    let mut world = World2::new();
    world.set_continuous_detection(ContinuousDetection::SUB_STEPS).unwrap();
    let wall = world.insert(Object::fixed(Aabb::new([-1e37, 0.0], [1e37, 1.0]))).unwrap();
    let mover = world.insert(Aabb::new([-3e38, 0.0], [-2e38, 1.0])).unwrap();
    world.update().unwrap();
    world.set_box(mover, Aabb::new([2e38, 0.0], [3e38, 1.0])).unwrap();
    assert_eq!(world.update().unwrap().started(), [(wall, mover)]);
}

#[test]
fn too_many_sub_steps_become_a_swept_box_and_bad_steps_are_rejected() {
    let mut world = World2::new();
    for (step, most) in [(0.0, 4), (f64::NAN, 4), (1.5, 4), (0.5, 0), (0.5, 4096)] {
        let error = world.set_continuous_detection(ContinuousDetection::SubSteps { step, most }).unwrap_err();
        assert_eq!(error.code(), "invalid-argument", "{error}");
        assert!(error.to_string().contains("ContinuousDetection::SubSteps"), "{error}");
    }
    world.set_continuous_detection(ContinuousDetection::SubSteps { step: 0.5, most: 8 }).unwrap();
    let handles = world.insert_many(&[Aabb::new([0.0, 0.0], [1.0, 1.0]), Aabb::point([0.0, 9.0])]).unwrap();
    world.update().unwrap();
    world.set_box(handles[0], Aabb::new([100.0, 0.0], [101.0, 1.0])).unwrap();
    world.set_box(handles[1], Aabb::new([f32::NEG_INFINITY, 9.0], [0.0, 9.0])).unwrap();
    world.update().unwrap();
    let stats = world.motion_stats();
    assert_eq!((stats.searches, stats.fast, stats.placed, stats.swept), (1, 1, 0, 1), "an infinite side is not traveled to");
}

#[test]
fn an_update_without_motion_searches_once_and_ends_fleeting_pairs() {
    let mut world = World2::new();
    world.set_continuous_detection(ContinuousDetection::SUB_STEPS).unwrap();
    let wall = world.insert(Object::fixed(Aabb::new([5.0, 0.0], [5.1, 1.0]))).unwrap();
    let bullet = world.insert(Aabb::new([0.0, 0.0], [1.0, 1.0])).unwrap();
    world.update().unwrap();
    world.set_box(bullet, Aabb::new([9.0, 0.0], [10.0, 1.0])).unwrap();
    assert_eq!(world.update().unwrap().started(), [(wall, bullet)]);
    assert_eq!((world.motion_stats().searches, world.motion_stats().fleeting), (32, 1));
    world.set_continuous_detection(ContinuousDetection::None).unwrap();
    assert_eq!(world.update().unwrap().ended(), [(wall, bullet)]);
    assert!(world.update().unwrap().ended().is_empty() && world.motion_stats().fleeting == 0);
}

#[test]
fn a_point_or_a_flat_mover_does_not_force_the_most_searches() {
    let mut world = World2::new();
    world.set_continuous_detection(ContinuousDetection::SUB_STEPS).unwrap();
    let walls = [10.0, 50.0].map(|x| world.insert(Object::fixed(Aabb::new([x, 0.0], [x + 0.1, 9.0]))).unwrap());
    let movers = [Aabb::new([0.0, 0.0], [0.0, 1.0]), Aabb::point([0.0, 5.0])];
    let handles = world.insert_many(&movers).unwrap();
    world.update().unwrap();
    for (x, hits) in [(5.0, vec![]), (20.0, vec![(walls[0], handles[0]), (walls[0], handles[1])]), (20.5, vec![])] {
        for (handle, from) in handles.iter().zip(&movers) {
            world.set_box(*handle, from.translate([x, 0.0])).unwrap();
        }
        assert_eq!(world.update().unwrap().started(), hits);
        assert_eq!((world.motion_stats().searches, world.motion_stats().swept), (1, 2), "at {x}");
    }
}

/// A pair of swept boxes that do not touch is not one: its hit in the next frame starts a pair.
#[test]
fn a_hit_after_a_near_miss_starts_a_pair() {
    let mut world = World2::new();
    world.set_continuous_detection(ContinuousDetection::Swept).unwrap();
    let target = world.insert(Object::fixed(Aabb::new([8.0, 0.0], [9.0, 1.0]))).unwrap();
    let bullet = world.insert(Aabb::new([0.0, 0.0], [1.0, 1.0])).unwrap();
    world.update().unwrap();
    // Diagonally past the target, which lies in the corner of the swept box.
    world.set_box(bullet, Aabb::new([9.0, 9.0], [10.0, 10.0])).unwrap();
    assert_eq!(world.update().unwrap().started(), []);
    world.set_box(bullet, Aabb::new([9.0, 0.0], [10.0, 1.0])).unwrap();
    let update = world.update().unwrap();
    assert_eq!(update.started(), [(target, bullet)]);
    assert!((update.started().get(0).unwrap().time - 8.0 / 9.0).abs() < 1e-6);
}

#[test]
fn an_object_that_is_moved_before_its_first_update_hits_what_is_on_its_path() {
    for detection in [ContinuousDetection::Swept, ContinuousDetection::SUB_STEPS] {
        let mut world = World3::new();
        world.set_continuous_detection(detection).unwrap();
        let wall = world.insert(Object::fixed(Aabb::new([5.0, 0.0, 0.0], [5.1, 1.0, 1.0]))).unwrap();
        let bullets = world.insert_many(&[Aabb::from_center([0.0, 0.5, 0.5], [0.1; 3]); 2]).unwrap();
        world.set_box(bullets[0], Aabb::from_center([10.0, 0.5, 0.5], [0.1; 3])).unwrap();
        world.teleport(bullets[1], Aabb::from_center([10.0, 0.5, 0.5], [0.1; 3])).unwrap();
        let update = world.update().unwrap();
        assert_eq!(update.started(), [(wall, bullets[0]), (bullets[0], bullets[1])], "{detection:?}");
        assert!((update.started().get(0).unwrap().time - 0.49).abs() < 1e-6, "{detection:?}");
        assert!(
            (update.started().get(1).unwrap().time - 0.98).abs() < 1e-6,
            "{detection:?}: the second one is there all the time"
        );
    }
}

/// Bullets and targets, all moving, fired and gone: every contact of two motions is in the pairs of its frame, at its time, and each is started
/// once.
#[test]
fn no_hit_of_a_bullet_game_is_lost_and_none_is_reported_twice() {
    let (mut world, mut random) = (World::<2, f64>::new(), Random(11));
    world.set_continuous_detection(ContinuousDetection::Swept).unwrap();
    let mut all: BTreeMap<Handle, (Aabb<2, f64>, Aabb<2, f64>)> = BTreeMap::new();
    let (mut last, mut hits) = (Pairs::new(), 0);
    for _ in 0..120 {
        for _ in 0..6 {
            let from: Aabb<2, f64> = Aabb::from_center([random.below(100) as f64, random.below(100) as f64], [0.5; 2]);
            let to = from.translate([random.below(41) as f64 - 20.0, random.below(41) as f64 - 20.0]);
            let handle = if random.below(2) == 0 {
                world.insert(Object::new(to).moved_from(from)).unwrap()
            } else {
                let handle = world.insert(from).unwrap();
                world.set_box(handle, to).unwrap();
                handle
            };
            all.insert(handle, (from, to));
        }
        let update = world.update().unwrap();
        let naive = |(from, to): (Aabb<2, f64>, Aabb<2, f64>)| Naive { object: Object::new(to), before: Some(from) };
        let mut now = Pairs::new();
        for (a, x) in &all {
            for (b, y) in all.range((std::ops::Bound::Excluded(a), std::ops::Bound::Unbounded)) {
                if meet_on_the_way(&naive(*x), &naive(*y)) {
                    now.insert((*a, *b));
                }
            }
        }
        assert!(update.started().handles().iter().eq(now.difference(&last)));
        assert!(update.ended().handles().iter().eq(last.difference(&now)));
        for hit in update.started() {
            let at = |handle: Handle, time: f64| naive(all[&handle]).at(time).grow(1e-9);
            assert!(at(hit.a, hit.time).overlaps(&at(hit.b, hit.time)), "they touch at {}", hit.time);
            let early = hit.time - 1e-6;
            assert!(early < 0.0 || !at(hit.a, early).overlaps(&at(hit.b, early)), "and not before");
        }
        hits += update.started().len();
        last = now;
        // Half of those that were hit are gone, the others fly on.
        for hit in update.started() {
            if random.below(2) == 0 && all.remove(&hit.a).is_some() {
                world.remove(hit.a).unwrap();
            }
        }
        for (handle, (from, to)) in &mut all {
            let next = to.translate([random.below(41) as f64 - 20.0, random.below(41) as f64 - 20.0]);
            (*from, *to) = (*to, next);
            world.set_box(*handle, next).unwrap();
        }
    }
    assert!(hits > 300, "{hits}");
}

#[test]
fn moving_the_origin_changes_no_pair_and_sweeps_nothing() {
    for detection in [ContinuousDetection::None, ContinuousDetection::Swept, ContinuousDetection::SUB_STEPS] {
        let (mut world, mut random) = (World::<2, f64>::new(), Random(5));
        world.set_continuous_detection(detection).unwrap();
        world.set_world_margin(0.25).unwrap();
        let objects: Vec<Object<2, f64>> = (0..300).map(|_| object(&mut random)).collect();
        let handles = world.insert_many(&objects).unwrap();
        world.update().unwrap();
        let before = world.sorted_pairs();
        assert!(before.len() > 50);
        world.shift_origin([1024.0, -512.0]).unwrap();
        assert_eq!(world.get_box(handles[7]).unwrap(), objects[7].aabb.translate([1024.0, -512.0]));
        let update = world.update().unwrap();
        assert!(update.started().is_empty() && update.ended().is_empty(), "{detection:?}: {update:?}");
        assert_eq!((world.sorted_pairs(), world.motion_stats().fast), (before, 0));
        world.validate(Strength::Geometry).unwrap();
        for bad in [[f64::NAN, 0.0], [f64::INFINITY, 0.0]] {
            assert_eq!(world.shift_origin(bad).unwrap_err().code(), "invalid-argument");
        }
    }
    let mut world = World2::new();
    world.insert(Aabb::point([3e38, 0.0])).unwrap();
    assert_eq!(world.shift_origin([3e38, 0.0]).unwrap_err().code(), "invalid-argument");
    assert!(world.read().unwrap().all_in_box(&Aabb::point([3e38, 0.0])).unwrap().len() == 1);
}

#[test]
fn many_are_teleported_at_once_or_none() {
    let mut world = World2::new();
    world.set_continuous_detection(ContinuousDetection::Swept).unwrap();
    world.insert(Object::fixed(Aabb::new([5.0, -50.0], [6.0, 50.0]))).unwrap();
    let handles = world.insert_many(&[Aabb::point([0.0, 0.0]), Aabb::point([0.0, 9.0])]).unwrap();
    world.update().unwrap();
    world.teleport_many(&handles.iter().map(|&handle| (handle, Aabb::point([9.0, 9.0]))).collect::<Vec<_>>()).unwrap();
    assert_eq!(world.update().unwrap().started(), [(handles[0], handles[1])]);
    let bad = [(handles[0], Aabb::point([0.0, 0.0])), (handles[1], Aabb::point([f32::NAN, 0.0]))];
    assert!(world.teleport_many(&bad).is_err());
    assert_eq!(world.get_box(handles[0]).unwrap(), Aabb::point([9.0, 9.0]));
}
