//! A bullet game: fast bullets and moving enemies, hundreds fired and gone each frame, no hit lost. Every hit is compared with a double loop:
//! `cargo run --release --example bullets`.

#[path = "support/picture.rs"]
mod picture;

use std::collections::HashMap;

use broadphase::{Aabb, ContinuousDetection, Error, Handle, Object, Tag, World2f64};

const BULLET: u32 = 1;
const ENEMY: u32 = 2;

/// Where something is at the start and at the end of the frame.
type Flight = (Aabb<2, f64>, Aabb<2, f64>);

fn main() -> Result<(), Error> {
    let mut state = 1u64;
    let mut random = move |from: f64, to: f64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        from + (to - from) * (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut world = World2f64::new();
    world.set_continuous_detection(ContinuousDetection::Swept)?;
    let (mut bullets, mut enemies): (HashMap<Handle, Flight>, HashMap<Handle, Flight>) = Default::default();
    let (mut hits, mut most) = (0, 0);
    for frame in 0..30 {
        // Everything flies on: bullets far, enemies a little.
        for (list, reach) in [(&mut bullets, 40.0), (&mut enemies, 3.0)] {
            for (&handle, flight) in list.iter_mut() {
                let next = flight.1.translate([random(-reach, reach), random(-reach, reach)]);
                *flight = (flight.1, next);
                world.set_box(handle, next)?;
            }
        }
        // New ones: a bullet is fired in the middle of a frame, and has already flown when it is inserted.
        for (list, full, layer, half) in [(&mut bullets, 5000, BULLET, 0.1), (&mut enemies, 300, ENEMY, 2.0)] {
            let missing = if frame == 0 { full } else { (full - list.len()).min(400) };
            for _ in 0..missing {
                let muzzle = Aabb::from_center([random(0.0, 1000.0), random(0.0, 1000.0)], [half; 2]);
                let now = muzzle.translate([random(-20.0, 20.0), random(-20.0, 20.0)]);
                let tag = Tag::in_layers(layer).meeting(BULLET + ENEMY - layer); // bullets meet enemies, and nothing else
                let handle = world.insert(Object::new(now).moved_from(muzzle).with_tag(tag).with_user(layer.into()))?;
                list.insert(handle, (muzzle, now));
            }
        }
        let expected = count_hits(&bullets, &enemies);
        let mut found = 0;
        for hit in world.update()?.started() {
            // The bullet is gone with its first hit, the enemy with any.
            let (bullet, enemy) = if hit.user_a == BULLET.into() { (hit.a, hit.b) } else { (hit.b, hit.a) };
            assert!((0.0..=1.0).contains(&hit.time));
            for (list, handle) in [(&mut bullets, bullet), (&mut enemies, enemy)] {
                if list.remove(&handle).is_some() {
                    world.remove(handle)?;
                }
            }
            found += 1;
        }
        assert_eq!(found, expected, "frame {frame}");
        (hits, most) = (hits + found, most.max(world.len()));
    }
    println!("{hits} hits in 30 frames of up to {most} objects, each found by the double loop too");
    assert!(hits > 1000);
    picture::save("bullets", |picture| draw(picture, &bullets, &enemies));
    Ok(())
}

/// A corner of the field: where everything flew in the last frame.
fn draw(picture: &mut picture::Picture, bullets: &HashMap<Handle, Flight>, enemies: &HashMap<Handle, Flight>) {
    let center = |aabb: &Aabb<2, f64>| aabb.center().map(|c| c as f32);
    let here = |flight: &&Flight| center(&flight.1).iter().all(|c| (0.0..300.0).contains(c));
    enemies.values().filter(here).for_each(|(_, now)| {
        picture.rectangles([Aabb::from_center(center(now), [2.0; 2])], picture::ORANGE);
    });
    bullets.values().filter(here).for_each(|(before, now)| picture.line([center(before), center(now)], picture::BLUE));
}

/// Every bullet with every enemy: the times at which they overlap on each axis have one in common.
fn count_hits(bullets: &HashMap<Handle, Flight>, enemies: &HashMap<Handle, Flight>) -> usize {
    let meet = |(a, b): (&Flight, &Flight)| {
        let (mut first, mut last) = (0.0f64, 1.0f64);
        for k in 0..2 {
            for (start, end) in
                [(a.0.min[k] - b.0.max[k], a.1.min[k] - b.1.max[k]), (b.0.min[k] - a.0.max[k], b.1.min[k] - a.1.max[k])]
            {
                match (start > 0.0, end > 0.0) {
                    (true, true) => return false,
                    (true, false) => first = first.max(start / (start - end)),
                    (false, true) => last = last.min(start / (start - end)),
                    (false, false) => {}
                }
            }
        }
        first <= last
    };
    bullets.values().flat_map(|bullet| enemies.values().map(move |enemy| (bullet, enemy))).filter(|&pair| meet(pair)).count()
}
