//! A ball bounces on a floor: what starts and ends, and a number kept with each pair: `cargo run --example events`.

#[path = "support/picture.rs"]
mod picture;

use broadphase::{Aabb, Error, Object, World2};

fn main() -> Result<(), Error> {
    let mut world = World2::new();
    let floor = world.insert(Object::fixed(Aabb::new([0.0, -1.0], [10.0, 0.0])))?;
    let ball = world.insert(Object::new(ball_at(4.0)).with_user(1))?;

    let (mut height, mut speed) = (4.0f32, 0.0f32);
    let (mut touched, mut left, mut heights) = (0, 0, Vec::new());
    for frame in 0..60u64 {
        speed -= 0.1;
        height += speed;
        if height < 0.5 {
            height = 0.5; // the ball has radius 0.5: it touches the floor
            speed *= -0.8;
        }
        world.set_box(ball, ball_at(height))?;
        for pair in world.update()?.started() {
            println!("frame {frame:2}: touch, at speed {speed:.2}");
            world.set_pair_value(pair.a, pair.b, frame)?; // kept until the pair ends
            touched += 1;
        }
        heights.push((height, world.pair_count() > 0));
        left += world.ended().len();
        for pair in world.ended() {
            println!("frame {frame:2}: in the air, after a touch in frame {:?}", pair.value);
        }
    }

    // Removing the floor ends what it still touches, with the handle that was valid.
    let since = world.pair_value(floor, ball)?;
    let together = since.is_some();
    world.remove(floor)?;
    let update = world.update()?;
    assert_eq!(update.ended().handles().contains(&(floor, ball)), together);
    left += update.ended().len();
    println!("{touched} touches began, {left} are over");
    picture::save("events", |picture| {
        picture.rectangles([Aabb::new([0.0, -0.3], [30.0, 0.0])], picture::GRAY);
        for (frame, (height, touches)) in heights.into_iter().enumerate() {
            let color = if touches { picture::ORANGE } else { picture::BLUE };
            picture.discs([[0.5 * frame as f32 + 0.25, height]], 0.5, color);
        }
    });
    assert!(touched > 2 && touched == left);
    Ok(())
}

fn ball_at(height: f32) -> Aabb<2, f32> {
    Aabb::from_center([5.0, height], [0.5, 0.5])
}
