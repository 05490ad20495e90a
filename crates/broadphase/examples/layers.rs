//! Which objects may pair: layers, groups, environments, kinds, and a closure for the rest: `cargo run --example layers`.

use broadphase::{Aabb, Error, Object, ObjectKind, Tag, World3};

const PLAYER: u32 = 1;
const BULLET: u32 = 2;
const GHOST: u32 = 4;

fn main() -> Result<(), Error> {
    let here = Aabb::new([0.0; 3], [1.0; 3]); // everybody stands in the same place
    let mut world = World3::new();
    let names = ["player", "gun", "bullet", "bullet", "ghost", "lift", "wall"];
    let objects = [
        Object::new(here).with_tag(Tag::new(PLAYER, PLAYER | BULLET).with_group(1)),
        Object::new(here).with_tag(Tag::new(PLAYER, PLAYER | BULLET).with_group(1)), // the player's own: same group
        Object::new(here).with_tag(Tag::new(BULLET, PLAYER)),                        // bullets ignore bullets
        Object::new(here).with_tag(Tag::new(BULLET, PLAYER)),
        Object::new(here).with_tag(Tag::new(GHOST, 0)), // meets nothing
        Object::new(here).with_tag(Tag::new(PLAYER, u32::MAX)).with_kind(ObjectKind::Kinematic),
        Object::fixed(here).with_tag(Tag::new(PLAYER, u32::MAX)),
    ];
    let handles = world.insert_many(&objects)?;
    print(&mut world, &names, "with layers, groups and kinds")?;
    assert_eq!(world.pair_count(), 12); // player and gun with two bullets, lift and wall; bullets with lift and wall

    // Another environment is another world: nothing of environment 2 meets what is in environment 1.
    world.set_tag(handles[2], Tag::new(BULLET, PLAYER).with_env(1))?;
    world.set_tag(handles[0], Tag::new(PLAYER, PLAYER | BULLET).with_group(1).with_env(2))?;
    print(&mut world, &names, "player and one bullet in different environments")?;
    assert_eq!(world.ended(), [(handles[0], handles[2])]);

    // A closure has the last word. It sees indices of handles.
    world.set_filter(|fresh| fresh.retain(|pair| pair.a != 1 && pair.b != 1));
    print(&mut world, &names, "without the gun")?;
    assert!(world.pairs_of(handles[1])?.next().is_none());
    Ok(())
}

fn print(world: &mut World3, names: &[&str], title: &str) -> Result<(), Error> {
    world.update()?;
    println!("{title}: {} pairs", world.pair_count());
    for (a, b) in world.sorted_pairs() {
        println!("  {} {} and {} {}", names[a.index as usize], a.index, names[b.index as usize], b.index);
    }
    Ok(())
}
