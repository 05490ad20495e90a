//! More movers than one block of probes holds.

use broadphase::{Aabb, Object, Spec, World2};

/// Just over the 65,536 movers that are probed at once.
const MOVERS: usize = 66_000;

#[test]
fn movers_of_every_block_meet_the_statics() {
    let mut world = World2::new();
    world.set_algorithm(&"tiles".parse::<Spec>().unwrap()).unwrap();
    let at = |k: usize| Aabb::point([(k % 300) as f32, (k / 300) as f32]);
    let boxes: Vec<_> = (0..MOVERS).map(at).collect();
    let movers = world.insert_many(&boxes).unwrap();
    // A wall across everything, and one that only the last row touches.
    let wall = world.insert(Object::fixed(Aabb::new([10.0, -1.0], [10.5, 1e9]))).unwrap();
    let last = world.insert(Object::fixed(Aabb::new([0.0, 219.5], [400.0, 230.0]))).unwrap();
    assert_eq!(world.update().unwrap().len(), 220);
    assert_eq!((world.pairs_of(wall).unwrap().count(), world.pairs_of(last).unwrap().count()), (220, 0));

    // One mover of the first block and one of the second; then the statics themselves.
    world.set_box(movers[10], Aabb::point([10.75, 0.0])).unwrap();
    world.set_box(movers[MOVERS - 1], Aabb::point([1.5, 229.0])).unwrap();
    let update = world.update().unwrap();
    let end = (movers[MOVERS - 1], last);
    assert_eq!((update.started().handles(), update.ended().handles()), (&[end][..], &[(movers[10], wall)][..]));
    world.set_box(last, Aabb::new([0.0, 218.5], [2.0, 230.0])).unwrap();
    assert_eq!(world.update().unwrap().started(), [0, 1, 2].map(|k| (movers[219 * 300 + k], last)));
    world.remove(wall).unwrap();
    let update = world.update().unwrap();
    assert_eq!((update.ended().len(), update.len()), (219, 4));
}
