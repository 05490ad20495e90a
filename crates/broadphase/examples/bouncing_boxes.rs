//! A complete tiny simulation: boxes fall into a pit, collide, and come to rest. Broad phase from the library, narrow phase and solver
//! here, in a hundred lines: `cargo run --release --example bouncing_boxes`.
//!
//! The boxes do not turn, so that the narrow phase is short: the axis on which two boxes overlap least is the normal of their contact.

#[path = "support/picture.rs"]
mod picture;

use broadphase::{Aabb, Error, Handle, Object, World2};

const STEP: f32 = 1.0 / 120.0;
const GRAVITY: f32 = -9.81;
/// How much of the speed a bounce keeps.
const BOUNCE: f32 = 0.3;
const PIT: f32 = 40.0;
/// Rounds of the solver: a heap of a few layers comes to rest with these.
const ROUNDS: usize = 24;

struct Body {
    handle: Handle,
    center: [f32; 2],
    half: [f32; 2],
    velocity: [f32; 2],
    /// One over its mass; 0 for what does not move.
    lightness: f32,
}

impl Body {
    fn aabb(&self) -> Aabb<2, f32> {
        Aabb::from_center(self.center, self.half)
    }
}

/// The narrow phase: how deep two bodies are in each other, and on which axis it is least.
fn contact(a: &Body, b: &Body) -> Option<(usize, f32, f32)> {
    let depth = |k: usize| a.half[k] + b.half[k] - (b.center[k] - a.center[k]).abs();
    let axis = if depth(0) < depth(1) { 0 } else { 1 };
    let towards_b = if b.center[axis] < a.center[axis] { -1.0 } else { 1.0 };
    (depth(axis) > 0.0).then(|| (axis, depth(axis), towards_b))
}

/// The solver: takes the speed towards each other away, gives a part of it back, and pushes apart.
fn resolve(a: &mut Body, b: &mut Body) {
    let Some((axis, depth, towards_b)) = contact(a, b) else { return };
    let share = a.lightness + b.lightness;
    if share == 0.0 {
        return;
    }
    let closing = (a.velocity[axis] - b.velocity[axis]) * towards_b;
    if closing > 0.0 {
        let bounce = if closing > 0.5 { BOUNCE } else { 0.0 }; // slow ones come to rest
        let impulse = closing * (1.0 + bounce) / share;
        a.velocity[axis] -= impulse * a.lightness * towards_b;
        b.velocity[axis] += impulse * b.lightness * towards_b;
    }
    let push = (depth - 0.002).max(0.0) * 0.4 / share;
    a.center[axis] -= push * a.lightness * towards_b;
    b.center[axis] += push * b.lightness * towards_b;
}

/// Two different bodies of a list.
fn two(bodies: &mut [Body], a: usize, b: usize) -> (&mut Body, &mut Body) {
    let (left, right) = bodies.split_at_mut(a.max(b));
    if a < b { (&mut left[a], &mut right[0]) } else { (&mut right[0], &mut left[b]) }
}

fn main() -> Result<(), Error> {
    let mut world = World2::new();
    let mut bodies: Vec<Body> = Vec::new();
    let mut add = |world: &mut World2, center: [f32; 2], half: [f32; 2], fixed: bool| -> Result<(), Error> {
        let aabb = Aabb::from_center(center, half);
        let object = if fixed { Object::fixed(aabb) } else { Object::new(aabb) };
        // The user's number leads from a handle to the body.
        let handle = world.insert(object.with_user(bodies.len() as u64))?;
        let lightness = if fixed { 0.0 } else { 1.0 / (half[0] * half[1] * 4.0) };
        bodies.push(Body { handle, center, half, velocity: [0.0; 2], lightness });
        Ok(())
    };
    add(&mut world, [0.0, -1.0], [PIT + 2.0, 1.0], true)?;
    add(&mut world, [-PIT - 1.0, 40.0], [1.0, 42.0], true)?;
    add(&mut world, [PIT + 1.0, 40.0], [1.0, 42.0], true)?;
    for k in 0..300 {
        let (column, row) = (k % 50, k / 50);
        let half = [0.3 + 0.02 * (k % 7) as f32, 0.3 + 0.015 * (k % 11) as f32];
        add(&mut world, [column as f32 * 1.5 - 37.0 + 0.3 * (row % 3) as f32, 2.0 + row as f32 * 1.5], half, false)?;
    }

    let (mut bounces, mut most) = (0, 0);
    for frame in 0..1200 {
        for body in bodies.iter_mut().filter(|body| body.lightness > 0.0) {
            body.velocity[1] += GRAVITY * STEP;
            (0..2).for_each(|k| body.center[k] += body.velocity[k] * STEP);
            world.set_box(body.handle, body.aabb())?;
        }
        let update = world.update()?;
        bounces += update.started().len();
        most = most.max(update.len());
        // Every solver wants its contacts in the same order each time: the library's order is.
        let pairs: Vec<(u64, u64)> =
            world.pairs().map(|(a, b)| Ok((world.user(a)?, world.user(b)?))).collect::<Result<_, Error>>()?;
        for _ in 0..ROUNDS {
            for &(a, b) in &pairs {
                let (a, b) = two(&mut bodies, a as usize, b as usize);
                resolve(a, b);
            }
        }
        if frame % 200 == 199 {
            let energy: f32 = bodies.iter().filter(|b| b.lightness > 0.0).map(|b| speed(b).powi(2) / b.lightness / 2.0).sum();
            println!("{:4.1} s: {:3} pairs, kinetic energy {energy:7.2}", (frame + 1) as f32 * STEP, world.pair_count());
        }
    }
    println!("{bounces} contacts began, {most} pairs at most");
    println!("{}", world.stats());

    picture::save("bouncing_boxes", |picture| {
        for (fixed, color) in [(true, picture::GRAY), (false, picture::BLUE)] {
            let boxes = bodies.iter().filter(|body| (body.lightness == 0.0) == fixed).map(Body::aabb);
            let cut_off = |aabb: Aabb<2, f32>| Aabb::new(aabb.min, [aabb.max[0], aabb.max[1].min(10.0)]); // the walls are high
            picture.rectangles(boxes.map(cut_off), color);
        }
    });
    let fastest = bodies.iter().map(speed).fold(0.0, f32::max);
    assert!(bodies.iter().all(|body| body.center[0].abs() < PIT + 2.0 && body.center[1] > -2.0), "nothing left the pit");
    assert!(fastest < 1.0, "all is nearly at rest: {fastest}");
    assert!(bounces > 300, "every box touched something");
    Ok(())
}

fn speed(body: &Body) -> f32 {
    body.velocity[0].hypot(body.velocity[1])
}
