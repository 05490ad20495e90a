//! Queries: boxes, balls, rays, motions, a camera, the nearest; one by one and many at once:
//! `cargo run --example queries`.

#[path = "support/picture.rs"]
mod picture;

use std::ops::ControlFlow;

use broadphase::{Aabb, Answers, Ball, Context, Error, HalfSpace, Handle, Object, Ray, Swept, SweptBall, Tag, Threads, World3};

const WALL: u32 = 1;
const GLASS: u32 = 2;

fn main() -> Result<(), Error> {
    // A room: a street of pillars, every third one of glass.
    let mut world = World3::new();
    for k in 0..30 {
        let layer = if k % 3 == 0 { GLASS } else { WALL };
        let at = [k as f32 * 2.0, 1.0, (k % 5) as f32];
        let pillar = Object::fixed(Aabb::from_center(at, [0.4, 1.0, 0.4])).with_tag(Tag::new(layer, u32::MAX));
        world.insert(pillar.with_user(k))?;
    }
    world.set_context(Context::new().with_executor(Threads::new(2)?));

    // A reader is never stale, and can be copied into threads.
    let reader = world.read()?;
    let name = |handle: Handle| reader.world().user(handle).unwrap_or(u64::MAX);

    let area = Aabb::new([0.0, 0.0, 0.0], [5.0, 1.0, 5.0]);
    println!("in a box: {:?}", reader.all_in_box(&area)?.into_iter().map(name).collect::<Vec<_>>());

    // Visitors may stop early: is anything there at all?
    let mut anything = false;
    reader.in_ball(&Ball { center: [10.0, 1.0, 0.0], radius: 1.0 }, |_| {
        anything = true;
        ControlFlow::Break(())
    })?;
    println!("something within a meter of (10, 1, 0): {anything}");
    assert!(anything);

    // A ray sees the first object; with a tag, it sees through glass.
    let ray = Ray::new([-5.0, 1.0, 0.0], [1.0, 0.0, 0.0], 100.0);
    let first = reader.first_along_ray(&ray)?;
    let solid = reader.with_tag(Tag::new(u32::MAX, WALL)).first_along_ray(&ray)?;
    for (what, hit) in [("the first thing", first), ("the first wall", solid)] {
        if let Some((handle, t)) = hit {
            println!("along a ray, {what}: pillar {} after {t:.1} m", name(handle));
        }
    }
    assert!(first.map(|hit| hit.1) < solid.map(|hit| hit.1));

    // Things in motion: where does a crate, or a ball, hit first?
    let step = [20.0, 0.0, 0.0];
    let crate_hits = reader.first_along_swept(&Swept::new(Aabb::from_center([-5.0, 1.0, 2.0], [0.5; 3]), step))?;
    let ball_hits = reader.first_along_swept_ball(&SweptBall::new(Ball { center: [-5.0, 1.0, 2.5], radius: 0.5 }, step))?;
    if let (Some((a, s)), Some((b, t))) = (crate_hits, ball_hits) {
        println!("a crate hits pillar {} after {s:.2} of its step, a ball pillar {} after {t:.2}", name(a), name(b));
        assert!(s <= t, "the ball passes beside the edge for a while");
    }

    // What a camera at the origin may see, looking along x, about 11 degrees wide.
    let sides = [HalfSpace { normal: [-0.1, 0.0, 1.0], offset: 0.0 }, HalfSpace { normal: [-0.1, 0.0, -1.0], offset: 0.0 }];
    let mut seen = 0;
    reader.in_frustum(&sides, |_| {
        seen += 1;
        ControlFlow::Continue(())
    })?;
    println!("a camera may see {seen} of {} pillars", reader.world().len());
    assert!(seen > 0 && seen < reader.world().len());

    // The nearest, with their distances.
    let mut near = Vec::new();
    reader.nearest([31.0, 1.0, 2.0], 3, &mut near)?;
    for (handle, distance) in &near {
        println!("near (31, 1, 2): pillar {} at {:.2} m", name(*handle), distance);
    }
    assert_eq!(near.len(), 3);

    // Many rays at once, on all threads, into a buffer that stays.
    let fan: Vec<Ray<3, f32>> =
        (0..1000).map(|k| Ray::new([-5.0, 1.0, -5.0], [1.0, 0.0, k as f32 / 500.0], f32::INFINITY)).collect();
    let mut answers = Answers::new();
    reader.first_along_rays(&fan, &mut answers)?;
    picture::save("queries", |picture| draw(picture, &fan, &answers));
    println!("{} of {} rays of a fan hit something", answers.list().len(), answers.len());
    Ok(())
}

/// The pillars, and the fan as far as it reaches.
fn draw(picture: &mut picture::Picture, fan: &[Ray<3, f32>], answers: &Answers<(Handle, f32)>) {
    for (k, ray) in fan.iter().enumerate().step_by(8) {
        let hit = answers.get(k).first().map(|hit| hit.1);
        let end = std::array::from_fn(|axis| ray.origin[axis] + hit.unwrap_or(12.0) * ray.direction[axis]);
        picture.line_in_space([ray.origin, end], if hit.is_some() { picture::ORANGE } else { picture::BLUE });
    }
    let pillar = |k: usize| Aabb::from_center([k as f32 * 2.0, 1.0, (k % 5) as f32], [0.4, 1.0, 0.4]);
    picture.solids((0..30).map(|k| (pillar(k), if k % 3 == 0 { picture::GREEN } else { picture::GRAY })));
}
