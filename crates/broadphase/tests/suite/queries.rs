//! Queries against a scan, while objects come, move and go.

use std::ops::ControlFlow;

use broadphase::geometry::{HalfSpaces, Measure, Nearest};
use broadphase::{Aabb, Ball, Frame, HalfSpace, Query, Ray, Real, Swept, SweptBall};

use crate::data::{Layout, Random};
use crate::script::{Run, Table, Tell};
use crate::subjects::{Subject, Trial, in_every_space};
use broadphase_testing::naive::touch;

const N: usize = 400;

/// Every visited id once, in ascending order.
#[track_caller]
fn assert_visits(mut found: Vec<u32>, expected: impl Iterator<Item = u32>, what: &str) {
    found.sort_unstable();
    assert_eq!(found, expected.collect::<Vec<_>>(), "{what}");
}

/// Asks for boxes, rays, balls and swept boxes at random places. Coordinates are multiples of 1/4, so that nothing rounds.
fn ask<const D: usize, T: Real>(reader: &dyn Query<D, T>, frame: &Frame<'_, D, T>, random: &mut Random, what: &str) {
    let reach = 100;
    let at = |random: &mut Random| T::from_f64((random.below(reach) as f64 - reach as f64 / 2.0) * 0.25);
    let of = |id: u32| &frame.boxes[id as usize];
    for _ in 0..8 {
        let min: [T; D] = std::array::from_fn(|_| at(random));
        let max = min.map(|c| c + T::from_f64(random.below(20) as f64 * 0.5));
        let area = Aabb::new(min, max);
        let mut found = Vec::new();
        reader.in_box(frame, &area, &mut |id| {
            found.push(id);
            ControlFlow::Continue(())
        });
        assert_visits(found, frame.ids().filter(|&id| touch(of(id), &area)), &format!("{what}, in {area:?}"));

        let ball = Ball { center: min, radius: T::from_f64(random.below(12) as f64 * 0.5) };
        let mut found = Vec::new();
        reader.in_ball(frame, &ball, &mut |id| {
            found.push(id);
            ControlFlow::Continue(())
        });
        assert_visits(found, frame.ids().filter(|&id| ball.overlaps_box(of(id))), &format!("{what}, in {ball:?}"));

        let swept = Swept::new(area, std::array::from_fn(|_| at(random)));
        let mut found = Vec::new();
        reader.in_swept(frame, &swept, &mut |id, t| {
            assert_eq!(Some(t), swept.enters(of(id)), "{what}: the time of entry of object {id}");
            found.push(id);
            ControlFlow::Continue(())
        });
        assert_visits(found, frame.ids().filter(|&id| swept.enters(of(id)).is_some()), &format!("{what}, in {swept:?}"));

        let mut direction: [T; D] = std::array::from_fn(|_| T::from_f64(random.below(5) as f64 - 2.0));
        if direction.iter().all(|&c| c == T::ZERO) {
            direction[0] = T::ONE;
        }
        cast(reader, frame, Ray::new(min, direction, T::from_f64(random.below(60) as f64)), what);
    }
}

/// All that a ray meets, and the nearest of it.
fn cast<const D: usize, T: Real>(reader: &dyn Query<D, T>, frame: &Frame<'_, D, T>, ray: Ray<D, T>, what: &str) {
    let mut found = Vec::new();
    reader.along_ray(frame, &ray, &mut |id, _| {
        found.push(id);
        ControlFlow::Continue(ray.length)
    });
    let hit = |id: &u32| ray.enters(&frame.boxes[*id as usize]).is_some();
    assert_visits(found, frame.ids().filter(hit), &format!("{what}, along {ray:?}"));
    measure(reader, frame, &ray, ray.length, &format!("{what}, along {ray:?}"));
}

/// A search finds what a scan finds, with the same distances, and so does one that keeps only the nearest.
fn measure<const D: usize, T: Real>(
    reader: &dyn Query<D, T>,
    frame: &Frame<'_, D, T>,
    measure: &dyn Measure<D, T>,
    limit: T,
    what: &str,
) {
    let distance = |id: u32| {
        let target = &frame.boxes[id as usize];
        measure.bound(target).and_then(|bound| measure.distance(target, bound)).filter(|&at| at <= limit)
    };
    let mut found = Vec::new();
    reader.search(frame, measure, limit, &mut |id, at| {
        assert_eq!(Some(at), distance(id), "{what}: the distance of object {id}");
        found.push(id);
        ControlFlow::Continue(limit)
    });
    assert_visits(found, frame.ids().filter(|&id| distance(id).is_some()), what);

    let mut nearest = None;
    reader.search(frame, measure, limit, &mut |_, at| {
        nearest = Some(at);
        ControlFlow::Continue(at)
    });
    let least = frame.ids().filter_map(distance).min_by(|a, b| a.partial_cmp(b).expect("numbers"));
    assert_eq!(nearest, least, "{what}: the nearest");
}

/// Every kind of question, at places that round.
fn ask_roughly<const D: usize, T: Real>(reader: &dyn Query<D, T>, frame: &Frame<'_, D, T>, random: &mut Random, what: &str) {
    let at = |random: &mut Random| -> [T; D] { std::array::from_fn(|_| T::from_f64(random.between(-12.0, 12.0))) };
    for _ in 0..6 {
        let (center, step, radius) = (at(random), at(random), T::from_f64(random.between(0.0, 4.0)));
        let ball = Ball { center, radius };
        let area = Aabb::new(center, center.map(|c| c + radius));
        let sides = [(at(random), radius), (at(random), T::ZERO)].map(|(normal, offset)| HalfSpace { normal, offset });
        let endless = Ray::new(center, step, T::INFINITY);
        let questions: [(&dyn Measure<D, T>, T, &str); 9] = [
            (&area, T::ZERO, "box"),
            (&ball, T::ZERO, "ball"),
            (&Ray { length: T::ONE, ..endless }, T::ONE, "ray"),
            (&endless, endless.length, "endless ray"),
            (&Swept::new(area, step), T::ONE, "swept box"),
            (&SweptBall::new(ball, step), T::ONE, "swept ball"),
            (&HalfSpaces(&sides), T::ZERO, "frustum"),
            (&Nearest(center), T::INFINITY, "nearest"),
            (&Nearest(center), radius, "nearest within"),
        ];
        for (question, limit, kind) in questions {
            measure(reader, frame, question, limit, &format!("{what}, {kind}"));
        }
    }
}

/// A visitor that breaks is not called again.
fn break_off<const D: usize, T: Real>(reader: &dyn Query<D, T>, frame: &Frame<'_, D, T>) {
    let mut calls = 0;
    reader.in_box(frame, &Aabb::everything(), &mut |_| {
        calls += 1;
        ControlFlow::Break(())
    });
    assert_eq!(calls, usize::from(frame.count() > 0), "calls after a break in a box");
    let mut calls = 0;
    let mut direction = [T::ZERO; D];
    direction[0] = T::ONE;
    reader.along_ray(frame, &Ray::new([T::ZERO; D], direction, T::from_f64(1e6)), &mut |_, _| {
        calls += 1;
        ControlFlow::Break(())
    });
    assert!(calls <= 1, "calls after a break along a ray");
}

/// Where a structure has queries, they equal a scan after every change.
fn queries_equal_a_scan_during_churn<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        for layout in [Layout::Infinite, Layout::Smooth, Layout::Sizes] {
            churn::<D, T>(subject, layout);
        }
    });
}

/// Rounds of changes, and questions after each.
fn churn<const D: usize, T: Real>(subject: &Subject, layout: Layout) {
    let mut random = Random(71);
    let mut boxes = layout.boxes(&mut random, N);
    subject.fit(&mut boxes);
    let mut table: Table<D, T> = Table::new(boxes);
    let mut run = Run::new(subject);
    for round in 0..8 {
        for id in 0..table.slots() as u32 {
            match random.below(12) {
                0 if table.is_live(id) => table.remove(id),
                1 | 2 => {
                    let mut value = [layout.draw(&mut random, N)];
                    subject.fit(&mut value);
                    table.set(id, value[0]);
                }
                _ => {}
            }
        }
        if round == 6 {
            (0..table.slots() as u32).for_each(|id| table.remove(id));
        }
        table.settle();
        let frame = table.frame(subject, if round % 4 == 3 { Tell::Unknown } else { Tell::Listed });
        // Every other time the pairs of the frame are found first: queries need the update only.
        if round % 2 == 0 {
            run.step(&frame, &format!("round {round}"));
        } else {
            run.structure.update(&frame, &mut run.context).unwrap();
        }
        let Some(reader) = run.structure.reader() else { return };
        ask(reader, &frame, &mut random, &format!("round {round}"));
        ask_roughly(reader, &frame, &mut random, &format!("round {round}"));
        break_off(reader, &frame);
    }
}

/// Questions from so far away, of so large a size, or so small a step that they round by many objects; and of boxes at infinity.
fn queries_equal_a_scan_at_the_extremes<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let mut random = Random(73);
        let mut boxes: Vec<Aabb<D, T>> = Layout::Smooth.boxes(&mut random, N);
        for (i, value) in boxes.iter_mut().enumerate().filter(|(i, _)| i % 40 == 0) {
            match i / 40 % 4 {
                0 => *value = Aabb::point([T::INFINITY; D]),
                1 => value.max[0] = T::INFINITY,
                2 => *value = Aabb::point([T::NEG_INFINITY; D]),
                _ => *value = Aabb::point([T::from_f64(1e30); D]),
            }
        }
        subject.fit(&mut boxes);
        let mut run = Run::new(subject);
        let frame = subject.frame(&boxes);
        run.step(&frame, "the only frame");
        let Some(reader) = run.structure.reader() else { return };
        for exponent in [1, 4, 7, 8, 10, 16, 17] {
            for _ in 0..6 {
                let unit: [f64; D] = std::array::from_fn(|_| random.between(-1.0, 1.0));
                let origin = unit.map(|c| T::from_f64(c * 10f64.powi(exponent)));
                let ray = Ray::new(origin, unit.map(|c| T::from_f64(-c)), T::INFINITY);
                cast(reader, &frame, ray, &format!("from 1e{exponent}"));
            }
        }
        let mut slow = [T::ZERO; D];
        slow[0] = T::ZERO.next_up();
        cast(reader, &frame, Ray::new([T::ZERO; D], slow, T::INFINITY), "hardly moving");
        slow[0] = T::MIN_POSITIVE;
        cast(reader, &frame, Ray::new([T::ZERO; D], slow, T::ONE), "hardly moving at all");
        for radius in [1e15, 1e19, 2e19, 1e30] {
            let ball = Ball { center: [T::ONE; D], radius: T::from_f64(radius) };
            measure(reader, &frame, &ball, T::ZERO, &format!("a ball of {radius}"));
        }
        for normal in [T::ONE, -T::ONE, T::from_f64(1e30)] {
            let mut side = HalfSpace { normal: [T::ZERO; D], offset: T::ZERO };
            (side.normal[0], side.normal[D - 1]) = (normal, -normal);
            measure(reader, &frame, &HalfSpaces(&[side]), T::ZERO, &format!("half of space, {normal:?}"));
        }
        for start in [T::ZERO, T::NEG_INFINITY] {
            let swept = Swept::new(Aabb::new([start; D], [T::ONE.min(start.abs()); D]), [T::from_f64(3.0); D]);
            measure(reader, &frame, &swept, T::ONE, &format!("swept from {start:?}"));
        }
        let beyond = Swept::new(Aabb::point([T::NEG_INFINITY; D]), slow);
        measure(reader, &frame, &beyond, T::ONE, "swept at infinity");
    });
}

in_every_space!(queries_equal_a_scan_during_churn, queries_equal_a_scan_at_the_extremes);
