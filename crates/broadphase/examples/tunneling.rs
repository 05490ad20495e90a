//! Bullets among crates and thin walls: what is missed without continuous detection, with sub-steps, and with swept boxes, and what each
//! costs: `cargo run --release --example tunneling -- [bullets] [crates]`.
//!
//! A contact is a bullet and another object whose boxes touch at some time of the frame; it is missed if the two are a pair neither of this
//! update nor of the last. A pair that never touches on the way is a false alarm.

#[path = "support/picture.rs"]
mod picture;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use broadphase::{Aabb, ContinuousDetection, Error, Handle, Object, Swept, World3};

const FRAMES: usize = 20;

/// A bullet, and its path in this frame.
struct Bullet {
    handle: Handle,
    at: Aabb<3, f32>,
    way: [f32; 3],
}

struct Random(u64);

impl Random {
    /// Uniform in 0..1.
    fn share(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
}

/// What a method missed, and what it cost.
#[derive(Default)]
struct Outcome {
    contacts: usize,
    missed: usize,
    pairs: u64,
    false_alarms: usize,
    tests: u64,
    searches: u32,
    time: Duration,
}

fn main() -> Result<(), Error> {
    let number = |at: usize, default: usize| std::env::args().nth(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (bullets, crates) = (number(1, 200), number(2, 3000));
    println!("{bullets} bullets among {crates} crates and 20 thin walls, {FRAMES} frames");
    println!("method           contacts  missed     pairs  false alarms      tests  most searches  ms a frame");
    let mut missed = Vec::new();
    for (name, method) in [
        ("none", ContinuousDetection::None),
        ("sub-steps", ContinuousDetection::SUB_STEPS),
        ("swept boxes", ContinuousDetection::Swept),
    ] {
        let o = run(method, bullets, crates)?;
        let ms = o.time.as_secs_f64() * 1e3 / FRAMES as f64;
        println!(
            "{name:15} {:9}  {:6}  {:8}  {:12}  {:9}  {:13}  {ms:10.3}",
            o.contacts, o.missed, o.pairs, o.false_alarms, o.tests, o.searches
        );
        missed.push(o.missed);
    }
    // What each promises: swept boxes miss nothing, and the rate only what grazes in passing.
    assert!(missed[2] == 0 && missed[1] <= missed[0] / 5);
    Ok(())
}

/// All methods see the same frames.
fn run(method: ContinuousDetection, bullets: usize, crates: usize) -> Result<Outcome, Error> {
    let (mut random, mut world) = (Random(1), World3::new());
    world.set_continuous_detection(method)?;
    let side = (crates as f32 * 30.0).cbrt();
    let mut place = |half: f32| Aabb::from_center(std::array::from_fn(|_| random.share() * side), [half; 3]);
    let mut others = Vec::new();
    for at in 0..crates {
        let aabb = place(0.5);
        others.push((world.insert(if at % 2 == 0 { Object::new(aabb) } else { Object::fixed(aabb) })?, aabb));
    }
    for at in 0..20 {
        let x = side * (at as f32 + 0.5) / 20.0;
        let wall = Aabb::new([x, 0.0, 0.0], [x + 0.01, side, side]);
        others.push((world.insert(Object::fixed(wall))?, wall));
    }
    let places: Vec<_> = (0..bullets).map(|_| place(0.1)).collect();
    let handles = world.insert_many(&places)?;
    let mut bullets: Vec<Bullet> =
        handles.into_iter().zip(places).map(|(handle, at)| Bullet { handle, at, way: [0.0; 3] }).collect();
    world.update()?;

    let mut outcome = Outcome::default();
    let mut last: HashSet<(Handle, Handle)> = world.pairs().collect();
    for _ in 0..FRAMES {
        for bullet in &mut bullets {
            let center = bullet.at.center();
            // Up to ten times the size, towards the middle where the side is near.
            bullet.way = std::array::from_fn(|k| {
                let by = (random.share() - 0.5) * 4.0;
                if (0.0..side).contains(&(center[k] + by)) { by } else { -by }
            });
            world.set_box(bullet.handle, bullet.at.translate(bullet.way))?;
        }
        let start = Instant::now();
        world.update()?;
        outcome.time += start.elapsed();
        outcome.tests += world.tests();
        outcome.searches = outcome.searches.max(world.motion_stats().searches);
        let now: HashSet<(Handle, Handle)> = world.pairs().collect();
        picture::save("tunneling", |picture| draw(picture, &bullets, &others));
        judge(&bullets, &others, &now, &last, &mut outcome);
        last = now;
        bullets.iter_mut().for_each(|bullet| bullet.at = bullet.at.translate(bullet.way));
    }
    Ok(outcome)
}

/// Seen from above: everything near the floor, and the ways of all bullets.
fn draw(picture: &mut picture::Picture, bullets: &[Bullet], others: &[(Handle, Aabb<3, f32>)]) {
    let flat = |at: [f32; 3]| [at[0], at[1]];
    for aabb in others.iter().map(|other| &other.1).filter(|aabb| aabb.min[2] < 2.0) {
        let color = if aabb.max[0] - aabb.min[0] < 0.1 { picture::GREEN } else { picture::GRAY };
        picture.rectangles([Aabb::new(flat(aabb.min), flat(aabb.max))], color);
    }
    for bullet in bullets {
        let from = bullet.at.center();
        picture.line([flat(from), std::array::from_fn(|k| from[k] + bullet.way[k])], picture::ORANGE);
    }
}

/// Compares with the truth: every bullet with every other object, by the exact time of contact.
fn judge(
    bullets: &[Bullet],
    others: &[(Handle, Aabb<3, f32>)],
    now: &HashSet<(Handle, Handle)>,
    last: &HashSet<(Handle, Handle)>,
    outcome: &mut Outcome,
) {
    for bullet in bullets {
        let swept = Swept::new(bullet.at, bullet.way);
        for (other, aabb) in others {
            let pair = if *other < bullet.handle { (*other, bullet.handle) } else { (bullet.handle, *other) };
            let (touches, paired) = (swept.enters(aabb).is_some(), now.contains(&pair));
            outcome.contacts += usize::from(touches);
            outcome.missed += usize::from(touches && !paired && !last.contains(&pair));
            outcome.pairs += u64::from(paired);
            outcome.false_alarms += usize::from(paired && !touches);
        }
    }
}
