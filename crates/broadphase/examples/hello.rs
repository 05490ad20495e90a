//! Boxes in an array, and the same boxes in a world: `cargo run --example hello`.

#[path = "support/picture.rs"]
mod picture;

use broadphase::{Aabb, Error, World2, pairs};

fn main() -> Result<(), Error> {
    let mut boxes = [
        Aabb::new([0.0, 0.0], [2.0, 2.0]), // 0
        Aabb::new([1.0, 1.0], [3.0, 3.0]), // 1: overlaps 0
        Aabb::new([9.0, 9.0], [9.5, 9.5]), // 2: alone
        Aabb::new([3.0, 0.0], [4.0, 1.0]), // 3: touches 1 in one corner, which counts
    ];

    // One call, if all you have is an array.
    let found = pairs(&boxes)?;
    println!("pairs in the array:");
    found.iter().for_each(|pair| println!("  {} and {}", pair.a, pair.b));
    assert_eq!(found.len(), 2);

    // A world, if they move: it remembers, and works on what changed.
    let mut world = World2::new();
    let handles = world.insert_many(&boxes)?;
    println!("pairs in the world: {}", world.update()?.len());

    boxes[2] = Aabb::new([2.5, 2.5], [3.5, 3.5]);
    world.set_box(handles[2], boxes[2])?;
    let update = world.update()?;
    println!("after box 2 came closer: {}", update.len());
    for (a, b) in update.started().handles() {
        println!("  new: {} and {}", a.index, b.index);
    }
    assert_eq!(update.started(), [(handles[1], handles[2])]);

    picture::save("hello", |picture| {
        let (alone, others): (Vec<_>, Vec<_>) = (0..4).partition(|&k| !found.iter().any(|pair| pair.a == k || pair.b == k));
        picture.rectangles(alone.into_iter().map(|k| boxes[k as usize]), picture::ORANGE); // the one that came closer
        picture.rectangles(others.into_iter().map(|k| boxes[k as usize]), picture::BLUE);
    });
    let algorithm = world.stats().algorithm;
    println!("found by {algorithm}");
    Ok(())
}
