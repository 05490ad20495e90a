//! Queries that the random sequences do not cover: invalid ones, many at once, breaks, and many threads.

use std::ops::ControlFlow;

use broadphase::{
    Aabb, Answers, Ball, Context, Error, HalfSpace, Handle, Object, ObjectKind, Ray, Swept, SweptBall, Threads, World, World3,
};

use crate::{Random, specs};

fn world(n: usize) -> (World3, Vec<Handle>) {
    let (mut world, mut random) = (World3::new(), Random(4));
    let kind = |k: usize| if k.is_multiple_of(3) { ObjectKind::Static } else { ObjectKind::Dynamic };
    let objects: Vec<Object<3, f32>> = (0..n).map(|k| Object::new(random.aabb(60, 3)).with_kind(kind(k))).collect();
    let handles = world.insert_many(&objects).unwrap();
    (world, handles)
}

#[test]
fn questions_without_meaning_are_errors_and_change_nothing() {
    let (mut world, _) = world(50);
    let before = world.update().unwrap().len();
    let reader = world.read().unwrap();
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let bad = |result: Result<(), Error>| assert!(matches!(result, Err(Error::InvalidQuery { .. })), "{result:?}");
    let never = |_: Handle| -> ControlFlow<()> { panic!("a bad question has no answers") };
    let never_at = |_: Handle, _: f32| -> ControlFlow<(), f32> { panic!("a bad question has no answers") };
    for direction in [[0.0; 3], [nan, 0.0, 1.0], [inf, 0.0, 0.0]] {
        bad(reader.along_ray(&Ray::new([0.0; 3], direction, 1.0), never_at));
        assert!(reader.first_along_ray(&Ray::new([0.0; 3], direction, 1.0)).is_err());
    }
    for length in [-1.0, nan] {
        bad(reader.along_ray(&Ray::new([0.0; 3], [1.0; 3], length), never_at));
    }
    bad(reader.at_point([nan; 3], never));
    bad(reader.in_box(&Aabb::new([1.0; 3], [0.0; 3]), never));
    for (center, radius) in [([0.0; 3], -1.0), ([0.0; 3], nan), ([inf; 3], 1.0)] {
        let ball = Ball { center, radius };
        bad(reader.in_ball(&ball, never));
        bad(reader.along_swept_ball(&SweptBall::new(ball, [1.0; 3]), never_at));
    }
    bad(reader.along_swept(&Swept::new(Aabb::point([0.0; 3]), [nan; 3]), never_at));
    bad(reader.in_frustum(&[], never));
    bad(reader.in_frustum(&[HalfSpace { normal: [0.0; 3], offset: 1.0 }], never));
    bad(reader.in_frustum(&[HalfSpace { normal: [1.0; 3], offset: nan }], never));
    let mut found = vec![];
    bad(reader.nearest([nan; 3], 3, &mut found));
    reader.nearest([0.0; 3], 0, &mut found).unwrap();
    assert!(found.is_empty());
    // One bad question of many: no answers at all.
    let mut answers = Answers::new();
    reader.in_boxes(&[Aabb::everything(); 2], &mut answers).unwrap();
    assert_eq!(answers.get(1).len(), 50);
    bad(reader.in_boxes(&[Aabb::everything(), Aabb::point([nan; 3])], &mut answers));
    assert!(answers.is_empty() && answers.list().is_empty());
    assert_eq!(world.update().unwrap().len(), before);
}

#[test]
fn half_spaces_without_a_common_point_see_nothing_small() {
    let (mut world, _) = world(50);
    let apart = [HalfSpace { normal: [1.0, 0.0, 0.0], offset: 10.0 }, HalfSpace { normal: [-1.0, 0.0, 0.0], offset: -30.0 }];
    world.read().unwrap().in_frustum(&apart, |_| panic!("x <= 10 and x >= 30")).unwrap();
}

#[test]
fn every_query_can_be_stopped() {
    for spec in &specs(3) {
        let (mut world, _) = world(300);
        world.set_algorithm(spec).unwrap();
        let reader = world.read().unwrap();
        let calls = std::cell::Cell::new(0);
        let once = |_: Handle| {
            calls.set(calls.get() + 1);
            ControlFlow::Break(())
        };
        let once_at = |handle: Handle, _: f32| match once(handle) {
            ControlFlow::Break(()) => ControlFlow::Break(()),
            ControlFlow::Continue(()) => ControlFlow::Continue(0.0),
        };
        let ball = Ball { center: [30.0; 3], radius: 20.0 };
        reader.in_box(&Aabb::everything(), once).unwrap();
        reader.in_ball(&ball, once).unwrap();
        reader.in_frustum(&[HalfSpace { normal: [1.0; 3], offset: 1000.0 }], once).unwrap();
        reader.along_swept(&Swept::new(Aabb::new([0.0; 3], [60.0; 3]), [1.0; 3]), once_at).unwrap();
        reader.along_swept_ball(&SweptBall::new(ball, [1.0; 3]), once_at).unwrap();
        assert_eq!(calls.get(), 5, "{spec}: one call each");
    }
}

#[test]
fn many_questions_at_once_have_the_answers_of_each_on_any_number_of_threads() {
    for spec in &specs(3) {
        let (mut world, _) = world(700);
        world.set_algorithm(spec).unwrap();
        let mut random = Random(6);
        let areas: Vec<Aabb<3, f32>> = (0..300).map(|_| random.aabb(60, 9)).collect();
        let direction = |a: &Aabb<3, f32>| std::array::from_fn(|k| a.max[k] - a.min[k] + if k == 0 { 0.5 } else { 0.0 });
        let rays: Vec<Ray<3, f32>> = areas.iter().map(|a| Ray::new(a.min, direction(a), 20.0)).collect();
        let points: Vec<[f32; 3]> = areas.iter().map(|a| a.max).collect();
        let mut lists = Vec::new();
        for threads in [1, 2, 4] {
            world.set_context(Context::new().with_executor(Threads::new(threads).unwrap()));
            let reader = world.read().unwrap();
            let (mut boxes, mut first, mut all, mut near) = (Answers::new(), Answers::new(), Answers::new(), Answers::new());
            // Twice: what is left of the first time does not show.
            for _ in 0..2 {
                reader.in_boxes(&areas, &mut boxes).unwrap();
                reader.first_along_rays(&rays, &mut first).unwrap();
                reader.along_rays(&rays, &mut all).unwrap();
                reader.nearest_to(&points, 3, f32::INFINITY, &mut near).unwrap();
            }
            for (k, ray) in rays.iter().enumerate() {
                let mut found = boxes.get(k).to_vec();
                found.sort_unstable();
                assert_eq!(found, reader.all_in_box(&areas[k]).unwrap(), "{spec}");
                assert_eq!(first.get(k).first().copied(), reader.first_along_ray(ray).unwrap(), "{spec}");
                let least = all.get(k).iter().copied().min_by(|a, b| a.1.partial_cmp(&b.1).unwrap().then(a.0.cmp(&b.0)));
                assert_eq!(first.get(k).first().copied(), least, "{spec}");
                let mut found = Vec::new();
                reader.nearest(points[k], 3, &mut found).unwrap();
                assert_eq!(near.get(k), found, "{spec}");
            }
            assert_eq!(boxes.iter().map(<[Handle]>::len).sum::<usize>(), boxes.list().len());
            lists.push((boxes.list().to_vec(), all.list().to_vec()));
        }
        assert!(lists.iter().all(|list| *list == lists[0]), "{spec}: the order depends on the threads");
    }
}

#[test]
fn the_other_queries_in_bulk_have_the_answers_of_each() {
    let (mut world, _) = world(400);
    world.set_context(Context::new().with_executor(Threads::new(2).unwrap()));
    let mut random = Random(6);
    let areas: Vec<Aabb<3, f32>> = (0..150).map(|_| random.aabb(60, 9)).collect();
    let points: Vec<[f32; 3]> = areas.iter().map(Aabb::center).collect();
    let balls: Vec<Ball<3, f32>> = points.iter().map(|&center| Ball { center, radius: 4.0 }).collect();
    let sweeps: Vec<Swept<3, f32>> = areas.iter().map(|area| Swept::new(*area, [9.0, -5.0, 2.0])).collect();
    let rolls: Vec<SweptBall<3, f32>> = balls.iter().map(|ball| SweptBall::new(*ball, [9.0, -5.0, 2.0])).collect();
    let reader = world.read().unwrap();
    let (mut at, mut within) = (Answers::new(), Answers::new());
    let (mut near, mut swept, mut rolled) = (Answers::new(), Answers::new(), Answers::new());
    reader.at_points(&points, &mut at).unwrap();
    reader.in_balls(&balls, &mut within).unwrap();
    reader.nearest_to_boxes(&areas, 2, 20.0, &mut near).unwrap();
    reader.first_along_sweeps(&sweeps, &mut swept).unwrap();
    reader.first_along_ball_sweeps(&rolls, &mut rolled).unwrap();
    let sorted = |list: &[Handle]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    for k in 0..areas.len() {
        let mut found = Vec::new();
        assert_eq!(sorted(at.get(k)), reader.all_at_point(points[k]).unwrap());
        assert_eq!(sorted(within.get(k)), reader.all_in_ball(&balls[k]).unwrap());
        reader.nearest_to_box(&areas[k], 2, 20.0, &mut found).unwrap();
        assert_eq!(near.get(k), found);
        assert_eq!(swept.get(k).first().copied(), reader.all_along_swept(&sweeps[k]).unwrap().first().copied());
        assert_eq!(rolled.get(k).first().copied(), reader.all_along_swept_ball(&rolls[k]).unwrap().first().copied());
    }
    assert!(near.list().len() > 150 && !swept.list().is_empty() && !at.list().is_empty());
}

/// By distances of many points of each motion, in double precision.
#[test]
fn queries_are_exact_against_balls() {
    let mut random = Random(31);
    let mut unit = || random.below(1000) as f64 / 100.0 - 5.0;
    let (mut hits, mut misses) = (0, 0);
    for _ in 0..400 {
        let mut world: World<2, f64> = World::new();
        let ball = Ball { center: [unit(), unit()], radius: 0.2 + unit().abs() * 0.3 };
        world.insert(Object::ball(ball)).unwrap();
        let (from, way, area) = ([unit(), unit()], [unit(), unit()], Aabb::from_center([unit(), unit()], [1.0, 0.5]));
        let reader = world.read().unwrap();
        let gap =
            |point: [f64; 2]| ((point[0] - ball.center[0]).powi(2) + (point[1] - ball.center[1]).powi(2)).sqrt() - ball.radius;
        let nearest = |area: &Aabb<2, f64>| std::array::from_fn(|k| ball.center[k].clamp(area.min[k], area.max[k]));
        let times = || (0..=4000).map(|k| f64::from(k) / 4000.0);
        let at = |t: f64| std::array::from_fn(|k| from[k] + way[k] * t);
        let check = |found: Option<f64>, reach: f64, distance: &dyn Fn(f64) -> f64| {
            let first = times().find(|&t| distance(t) <= reach);
            match (found, first) {
                (Some(t), _) => assert!(distance(t) <= reach + 1e-9 && first.is_none_or(|first| t <= first + 1e-9)),
                (None, first) => assert_eq!(first, None),
            }
        };
        if way != [0.0; 2] {
            let ray = reader.first_along_ray(&Ray::new(from, way, 1.0)).unwrap();
            check(ray.map(|hit| hit.1), 0.0, &|t| gap(at(t)));
            (hits, misses) = (hits + usize::from(ray.is_some()), misses + usize::from(ray.is_none()));
        }
        let rolling = SweptBall::new(Ball { center: from, radius: 0.75 }, way);
        check(reader.first_along_swept_ball(&rolling).unwrap().map(|hit| hit.1), 0.75, &|t| gap(at(t)));
        let sliding = Swept::new(Aabb::from_center(from, [0.5, 0.25]), way);
        let slid = |t: f64| gap(nearest(&Aabb::from_center(at(t), [0.5, 0.25])));
        check(reader.first_along_swept(&sliding).unwrap().map(|hit| hit.1), 0.0, &slid);
        assert_eq!(reader.all_in_box(&area).unwrap().len(), usize::from(gap(nearest(&area)) <= 0.0));
        let probe = Ball { center: from, radius: 1.5 };
        assert_eq!(reader.all_in_ball(&probe).unwrap().len(), usize::from(gap(from) <= 1.5));
        let mut found = Vec::new();
        reader.nearest(from, 1, &mut found).unwrap();
        assert!((found[0].1 - gap(from).max(0.0)).abs() < 1e-9);
        reader.nearest_to_box(&area, 1, f64::INFINITY, &mut found).unwrap();
        assert!((found[0].1 - gap(nearest(&area)).max(0.0)).abs() < 1e-9);
        let side = HalfSpace { normal: [3.0, 4.0], offset: 2.0 };
        let inside = (3.0 * ball.center[0] + 4.0 * ball.center[1] - 2.0) / 5.0 <= ball.radius;
        assert_eq!(reader.all_in_frustum(&[side]).unwrap().len(), usize::from(inside));
    }
    assert!(hits > 20 && misses > 100, "{hits} hits, {misses} misses");
}

#[test]
fn a_reader_of_a_shared_world_needs_no_pending_changes() {
    let (mut world, handles) = world(30);
    assert!(world.try_read().is_none(), "nothing was taken in yet");
    world.update().unwrap();
    assert_eq!(world.try_read().unwrap().all_in_box(&Aabb::everything()).unwrap(), handles);
    for k in [0, 1] {
        // A static one, and a mover.
        world.set_box(handles[k], Aabb::point([100.0 + k as f32; 3])).unwrap();
        assert!(world.try_read().is_none());
        world.read().unwrap();
        assert_eq!(world.try_read().unwrap().all_at_point([100.0 + k as f32; 3]).unwrap(), [handles[k]]);
    }
    assert!(World3::new().try_read().is_some_and(|reader| reader.all_in_box(&Aabb::everything()).unwrap().is_empty()));
}

#[test]
fn a_reader_is_shared_by_threads_that_query_at_once() {
    fn is_shared<V: Copy + Send + Sync>(_: V) {}
    let mut world: World<2, f64> = World::new();
    let mut random = Random(12);
    let boxes: Vec<Aabb<2, f64>> = (0..4000).map(|_| random.aabb(200, 3)).collect();
    world.insert_many(&boxes).unwrap();
    let reader = world.read().unwrap();
    is_shared(reader);
    // The first query builds what the others use: all threads query at once, before anything is built.
    let counts: Vec<usize> = std::thread::scope(|scope| {
        let ask = |_| scope.spawn(move || reader.all_in_box(&Aabb::new([50.0; 2], [120.0; 2])).unwrap().len());
        let threads: Vec<_> = (0..4).map(ask).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let expected = boxes.iter().filter(|b| b.overlaps(&Aabb::new([50.0; 2], [120.0; 2]))).count();
    assert_eq!(counts, [expected; 4]);
}

#[test]
fn a_swept_ball_touches_when_its_distance_says_so() {
    let mut random = Random(21);
    let mut unit = || random.below(1000) as f64 / 100.0 - 5.0;
    for _ in 0..500 {
        let min = [unit(), unit(), unit()];
        let target = Aabb::new(min, min.map(|c| c + unit().abs() * 0.3));
        let ball = Ball { center: [unit(), unit(), unit()], radius: unit().abs() * 0.3 };
        let step = [unit(), unit(), unit()];
        let at = |t: f64| Ball { center: std::array::from_fn(|k| ball.center[k] + step[k] * t), ..ball };
        let grown = |by: f64| Ball { radius: ball.radius + by, ..ball };
        let samples: Vec<f64> = (0..=2000).map(|k| f64::from(k) / 2000.0).collect();
        match SweptBall::new(ball, step).enters(&target) {
            Some(t) => {
                let touching = Ball { radius: ball.radius + 1e-6, ..at(t) };
                assert!(touching.overlaps_box(&target), "at {t} it does not touch");
                let earlier = samples.iter().take_while(|&&s| s < t - 1e-6);
                let shy = |s: f64| Ball { radius: ball.radius - 1e-6, ..at(s) };
                assert!(
                    earlier.into_iter().all(|&s| shy(s).radius < 0.0 || !shy(s).overlaps_box(&target)),
                    "it touched before {t}"
                );
            }
            None => {
                assert!(samples.iter().all(|&s| {
                    let smaller = Ball { center: at(s).center, ..grown(-1e-6) };
                    smaller.radius < 0.0 || !smaller.overlaps_box(&target)
                }));
            }
        }
    }
}
