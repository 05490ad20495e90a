//! Pairs of two worlds.

use broadphase::{Aabb, Error, Handle, Object, ObjectKind, Shape, Tag, Threads, World, World2};

use crate::{Random, specs};

fn fill(seed: u64, n: usize, spec: &broadphase::Spec) -> World<3, f32> {
    let (mut world, mut random) = (World::new(), Random(seed));
    world.set_algorithm(spec).unwrap();
    world.set_world_margin(0.25).unwrap();
    for _ in 0..n {
        let kind = [ObjectKind::Dynamic, ObjectKind::Static, ObjectKind::Kinematic][random.below(3) as usize];
        let tag = [Tag::default(), Tag::new(1, 3), Tag::new(2, 1), Tag::default().with_env(5)][random.below(4) as usize];
        let tag = tag.with_env(if random.below(2) == 0 { tag.env } else { random.below(4) as u32 });
        let shape = [None, None, Some(Shape::Ball), Some(Shape::Box)][random.below(4) as usize];
        let object = Object::new(random.aabb(20, 3)).with_kind(kind).with_tag(tag);
        world.insert(Object { shape, ..object }).unwrap();
    }
    world.set_world_shape(if seed == 1 { Shape::Ball } else { Shape::Box });
    world
}

#[test]
fn a_limit_counts_the_pairs_of_both_sides_together_and_only_those_that_rules_allow() {
    let (mut a, mut b) = (World2::new(), World2::new());
    let apart = Object::new(Aabb::point([0.0, 0.0])).with_tag(Tag::new(1, 2));
    a.insert_many(&[apart; 9]).unwrap();
    b.insert_many(&[apart; 9]).unwrap();
    a.set_pair_limit(7);
    let mut found = Vec::new();
    a.pairs_with(&mut b, &mut found).unwrap();
    assert_eq!(found, []);
    a.insert(Aabb::point([5.0, 0.0])).unwrap();
    for kind in [ObjectKind::Dynamic, ObjectKind::Static] {
        b.insert_many(&[Object::new(Aabb::point([5.0, 0.0])).with_kind(kind); 4]).unwrap();
    }
    assert_eq!(a.pairs_with(&mut b, &mut found), Err(Error::TooManyPairs { limit: 7 }));
    assert_eq!(found, []);
    a.set_pair_limit(8);
    a.pairs_with(&mut b, &mut found).unwrap();
    assert_eq!(found.len(), 8);
}

#[test]
fn pairs_of_two_worlds_are_those_of_a_double_loop() {
    for spec in &specs(3) {
        for (n, m) in [(0, 50), (50, 0), (40, 300), (300, 40)] {
            let (mut a, mut b) = (fill(1, n, spec), fill(2, m, spec));
            let gone: Vec<Handle> = b.iter().map(|(handle, _)| handle).step_by(7).collect();
            b.remove_many(&gone).unwrap();
            let mut expected = Vec::new();
            for (x, _) in a.iter() {
                for (y, _) in b.iter() {
                    let (p, q) = (a.object(x).unwrap(), b.object(y).unwrap());
                    let (own, their) = (a.grown_box(x).unwrap(), b.grown_box(y).unwrap());
                    let (own_shape, their_shape) = (p.shape.unwrap_or(a.world_shape()), q.shape.unwrap_or(b.world_shape()));
                    let meets = own.overlaps(&their) && own_shape.meets(&own, their_shape, &their);
                    if meets && p.kind.pairs_with(q.kind) && p.tag.allows(&q.tag) {
                        expected.push((x, y));
                    }
                }
            }
            let mut found = Vec::new();
            a.pairs_with(&mut b, &mut found).unwrap();
            assert_eq!(found, expected, "{spec}: {n} and {m} objects");
            a.set_context(broadphase::Context::new().with_executor(Threads::new(2).unwrap()));
            a.pairs_with(&mut b, &mut found).unwrap();
            assert_eq!(found, expected, "{spec}: {n} and {m} objects, two threads");
        }
    }
}
