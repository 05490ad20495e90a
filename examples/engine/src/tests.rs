//! The engine against what must be true of it, and its broad phase against a double loop.

use std::collections::BTreeSet;

use broadphase_testing::Random;

use super::*;

const DT: f32 = 1.0 / 60.0;

fn block() -> SharedShape {
    SharedShape::cuboid(0.5, 0.5, 0.5)
}

/// An engine with a floor whose upper side is at height 0.
fn with_floor() -> Engine {
    let mut engine = Engine::new();
    engine.add(Description::fixed(SharedShape::cuboid(50.0, 0.5, 50.0), Vector::new(0.0, -0.5, 0.0))).unwrap();
    engine
}

/// Balls and boxes above the floor.
fn rain(engine: &mut Engine, count: usize, random: &mut Random) {
    for k in 0..count {
        let at = Vector::new(random.unit_f32() * 6.0, 1.0 + random.unit_f32() * 8.0, random.unit_f32() * 6.0);
        let shape = if k % 2 == 0 { SharedShape::ball(0.2 + 0.3 * random.unit_f32()) } else { block() };
        engine.add(Description::new(shape, at)).unwrap();
    }
}

fn body(engine: &Engine, number: usize) -> &Body {
    engine.bodies[number].as_ref().unwrap()
}

#[test]
fn a_stack_of_ten_boxes_stays_standing_and_falls_asleep() {
    let mut engine = with_floor();
    let stack: Vec<usize> =
        (0..10).map(|k| engine.add(Description::new(block(), Vector::new(0.0, 0.5 + k as f32, 0.0))).unwrap()).collect();
    (0..600).for_each(|_| engine.step(DT).unwrap());
    for (level, &number) in stack.iter().enumerate() {
        let at = body(&engine, number).pose.translation;
        assert!((at.y - 0.5 - level as f32).abs() < 0.1 && at.x.abs() < 0.1 && at.z.abs() < 0.1, "box {level} is at {at}");
        assert!(body(&engine, number).is_asleep, "box {level} is awake");
    }
    engine.step(DT).unwrap();
    assert_eq!((engine.world.tests(), engine.events.len()), (0, 0), "sleep costs nothing");
}

#[test]
fn energy_falls_until_everything_rests() {
    let mut engine = with_floor();
    rain(&mut engine, 40, &mut Random(1));
    // Shapes that overlap at first are pushed apart, which needs energy: they are let apart before it is watched.
    (0..30).for_each(|_| engine.step(DT).unwrap());
    let start = engine.energy();
    let mut last = start;
    for step in 0..900 {
        engine.step(DT).unwrap();
        let energy = engine.energy();
        assert!(energy <= last + 0.01 * start.abs(), "step {step}: energy rises from {last} to {energy}");
        last = energy;
    }
    let speed = engine.bodies.iter().flatten().map(|body| body.velocity.length()).fold(0.0, f32::max);
    assert!(last < 0.8 * start && speed < 0.5, "energy {start} to {last}, speed {speed}");
    assert!(engine.bodies.iter().flatten().all(|body| body.pose.translation.y > -0.6), "a body fell through the floor");
}

#[test]
fn contacts_are_those_that_a_double_loop_finds_in_every_step() {
    let mut engine = with_floor();
    let mut random = Random(2);
    rain(&mut engine, 60, &mut random);
    let platform = Description {
        kind: ObjectKind::Kinematic,
        velocity: Vector::new(1.0, 0.0, 0.0),
        ..Description::new(block(), Vector::new(-2.0, 0.6, 3.0))
    };
    engine.add(platform).unwrap();
    for step in 0..200 {
        if step % 10 == 5 {
            let number = 1 + random.below(engine.bodies.len() as u64 - 1) as usize;
            engine.remove(number).unwrap();
            rain(&mut engine, 1, &mut random);
        }
        // The boxes that the broad phase is about to see, and who may meet.
        let boxes: Vec<_> =
            engine.bodies.iter().enumerate().filter_map(|(number, body)| Some((number, body.as_ref()?))).collect();
        let boxes: Vec<_> =
            boxes.iter().map(|(number, body)| (*number, bounds(&body.shape, &body.pose), body.is_dynamic())).collect();
        engine.broad_phase().unwrap();
        let naive: BTreeSet<[usize; 2]> = boxes
            .iter()
            .flat_map(|a| boxes.iter().map(move |b| (a, b)))
            .filter(|(a, b)| a.0 < b.0 && (a.2 || b.2) && a.1.overlaps(&b.1))
            .map(|(a, b)| [a.0, b.0])
            .collect();
        let sorted = |mut pair: [usize; 2]| {
            pair.sort_unstable();
            pair
        };
        let contacts = engine.contacts.iter().flatten();
        let found: BTreeSet<[usize; 2]> = contacts.clone().map(|contact| sorted(contact.bodies)).collect();
        assert_eq!(found, naive, "step {step}");
        assert_eq!(contacts.count(), found.len(), "step {step}: a pair has two contacts");
        engine.step(DT).unwrap();
    }
}

#[test]
fn rays_hit_what_a_loop_over_all_shapes_hits() {
    let mut engine = with_floor();
    let mut random = Random(3);
    rain(&mut engine, 80, &mut random);
    (0..60).for_each(|_| engine.step(DT).unwrap());
    let mut hits = 0;
    for _ in 0..200 {
        let origin = Vector::new(random.unit_f32() * 6.0, 8.0, random.unit_f32() * 6.0);
        let direction = Vector::new(random.unit_f32() - 0.5, -1.0, random.unit_f32() - 0.5);
        let found = engine.cast_ray(origin, direction, 100.0, u32::MAX).unwrap();
        let ray = parry3d::query::Ray::new(origin, direction);
        let all = engine.bodies.iter().flatten().filter_map(|body| body.shape.cast_ray(&body.pose, &ray, 100.0, true));
        let nearest = all.fold(f32::INFINITY, f32::min);
        let distance = found.map_or(f32::INFINITY, |hit| hit.1);
        assert!(distance == nearest || (distance - nearest).abs() < 1e-4, "{distance} instead of {nearest}");
        hits += usize::from(found.is_some_and(|(number, _)| number != 0));
    }
    assert!(hits > 50, "{hits} rays hit a body");
}

#[test]
fn layers_sensors_and_their_events_are_those_of_the_description() {
    let mut engine = with_floor();
    let ghost = engine.add(Description { tag: GHOST, ..Description::new(block(), Vector::new(0.0, 3.0, 0.0)) }).unwrap();
    let sensor = Description { is_sensor: true, ..Description::fixed(block(), Vector::new(0.0, -8.0, 0.0)) };
    let sensor = engine.add(Description { tag: GHOST, ..sensor }).unwrap();
    let solid = engine.add(Description::new(block(), Vector::new(5.0, 1.0, 0.0))).unwrap();
    let mut events = Vec::new();
    for _ in 0..120 {
        engine.step(DT).unwrap();
        events.extend_from_slice(&engine.events);
    }
    assert!(body(&engine, ghost).pose.translation.y < -10.0, "the ghost does not fall through the floor");
    assert!((body(&engine, solid).pose.translation.y - 0.5).abs() < 0.05);
    let ghosts: Vec<Event> =
        events.iter().copied().filter(|event| matches!(event, Event::Entered { .. } | Event::Left { .. })).collect();
    assert_eq!(ghosts, [Event::Entered { sensor, body: ghost }, Event::Left { sensor, body: ghost }]);
    assert!(events.contains(&Event::Began(0, solid)));
}

#[test]
fn a_sensor_and_the_body_in_it_that_go_at_once_are_told_apart() {
    for sensor_first in [true, false] {
        let mut engine = Engine::new();
        engine.gravity = Vector::ZERO;
        let at = Vector::ZERO;
        let sensor = Description { is_sensor: true, ..Description::fixed(block(), at) };
        let both = [sensor, Description::new(block(), at)];
        let order = if sensor_first { [0, 1] } else { [1, 0] };
        let mut numbers = [0; 2];
        for which in order {
            numbers[which] = engine.add(both[which].clone()).unwrap();
        }
        let [sensor, body] = numbers;
        engine.step(DT).unwrap();
        assert_eq!(engine.events, [Event::Entered { sensor, body }]);
        engine.remove(sensor).unwrap();
        engine.remove(body).unwrap();
        engine.step(DT).unwrap();
        assert_eq!(engine.events, [Event::Left { sensor, body }]);
        assert!(engine.contacts.iter().all(Option::is_none) && engine.world.pair_count() == 0);
    }
}

#[test]
fn a_body_that_sleeps_on_a_platform_wakes_when_the_platform_starts() {
    let mut engine = Engine::new();
    let platform = Description { kind: ObjectKind::Kinematic, ..Description::new(block(), Vector::new(0.0, -0.5, 0.0)) };
    let platform = engine.add(platform).unwrap();
    let rider = engine.add(Description::new(block(), Vector::new(0.0, 0.5, 0.0))).unwrap();
    (0..120).for_each(|_| engine.step(DT).unwrap());
    assert!(body(&engine, rider).is_asleep);
    engine.bodies[platform].as_mut().unwrap().velocity = Vector::new(0.5, 0.0, 0.0);
    (0..60).for_each(|_| engine.step(DT).unwrap());
    let at = body(&engine, rider).pose.translation;
    assert!(!body(&engine, rider).is_asleep && (at.x - 0.5).abs() < 0.1, "the rider is at {at}");
}

#[test]
fn what_rests_on_a_removed_body_wakes_up_and_falls() {
    let mut engine = with_floor();
    let lower = engine.add(Description::new(block(), Vector::new(0.0, 0.5, 0.0))).unwrap();
    let upper = engine.add(Description::new(block(), Vector::new(0.0, 1.5, 0.0))).unwrap();
    (0..120).for_each(|_| engine.step(DT).unwrap());
    assert!(body(&engine, upper).is_asleep);
    engine.remove(lower).unwrap();
    engine.step(DT).unwrap();
    assert!(engine.events.contains(&Event::Ended(lower, upper)), "{:?}", engine.events);
    (0..120).for_each(|_| engine.step(DT).unwrap());
    assert!((body(&engine, upper).pose.translation.y - 0.5).abs() < 0.05);
}

#[test]
fn two_balls_that_collide_keep_their_momentum() {
    let mut engine = Engine::new();
    engine.gravity = Vector::ZERO;
    let ball = |x: f32, speed: f32| Description {
        velocity: Vector::new(speed, 0.0, 0.0),
        ..Description::new(SharedShape::ball(0.5), Vector::new(x, 0.1 * speed, 0.0))
    };
    let numbers = [ball(-2.0, 3.0), ball(2.0, -1.0)].map(|description| engine.add(description).unwrap());
    let momentum =
        |engine: &Engine| numbers.map(|k| body(engine, k).velocity / body(engine, k).inverse_mass).into_iter().sum::<Vector>();
    let before = momentum(&engine);
    let mut touched = false;
    for _ in 0..120 {
        engine.step(DT).unwrap();
        touched |= engine.events.iter().any(|event| matches!(event, Event::Began(..)));
    }
    assert!(touched && (momentum(&engine) - before).length() < 1e-4);
}
