//! Isolated environments, at the same coordinates.

use broadphase::{Aabb, Object, ObjectKind, Real, Shape, Spec, Strength, Tag, Threads, World};

use crate::model::Model;
use crate::{Random, specs};

/// An object of one of `envs` environments; one in 16 is in environment 0, some are static.
fn draw<const D: usize, T: Real>(random: &mut Random, envs: u64) -> Object<D, T> {
    let env = if random.below(16) == 0 { 0 } else { 1 + random.below(envs) * 1000 };
    let kind = [ObjectKind::Dynamic, ObjectKind::Dynamic, ObjectKind::Static, ObjectKind::Kinematic][random.below(4) as usize];
    Object::new(random.aabb(12, 2)).with_tag(Tag::default().with_env(env as u32)).with_kind(kind)
}

/// Objects that move, come, go, and change their environment; pairs as the naive world has them.
fn follow<const D: usize, T: Real>(spec: &Spec, threads: bool) {
    let (mut world, mut model, mut random) = (World::<D, T>::new(), Model::<D, T>::new(), Random(3));
    world.set_algorithm(spec).unwrap();
    if threads {
        world.set_context(broadphase::Context::new().with_executor(Threads::new(3).unwrap()));
    }
    let objects: Vec<Object<D, T>> = (0..160).map(|_| draw(&mut random, 12)).collect();
    let handles = world.insert_many(&objects).unwrap();
    model.objects.extend(handles.into_iter().zip(objects));
    for round in 0..24 {
        let (pairs, started, ended) = model.update();
        let update = world.update().unwrap();
        assert_eq!((update.started().handles(), update.ended().handles()), (&started[..], &ended[..]), "{spec}, round {round}");
        assert_eq!(world.sorted_pairs(), pairs, "{spec}, round {round}");
        world.validate(Strength::Geometry).unwrap_or_else(|violation| panic!("{spec}, round {round}: {violation}"));
        let tag = Tag::default().with_env(1001);
        let area = random.aabb(12, 6);
        let seen = world.read().unwrap().with_tag(tag).all_in_box(&area).unwrap();
        assert!(seen.iter().copied().eq(model.search(&area, T::ZERO, Some(tag)).into_iter().map(|(handle, _)| handle)));
        assert_eq!(world.read().unwrap().all_in_box(&area).unwrap(), model.in_box(&area), "{spec}, round {round}");

        let living: Vec<_> = model.objects.keys().copied().collect();
        for handle in living {
            match (round % 4, random.below(12)) {
                (1, _) => {} // a frame without changes
                (3, 0) => {
                    world.remove(handle).unwrap();
                    model.objects.remove(&handle);
                }
                (3, 1) => {
                    let tag = draw::<D, T>(&mut random, 12).tag;
                    world.set_tag(handle, tag).unwrap();
                    model.objects.get_mut(&handle).unwrap().tag = tag;
                }
                (_, 2 | 3) => {
                    let aabb: Aabb<D, T> = random.aabb(12, 2);
                    world.set_box(handle, aabb).unwrap();
                    model.objects.get_mut(&handle).unwrap().aabb = aabb;
                }
                _ => {}
            }
        }
        for _ in 0..if round % 4 == 3 { 10 } else { 0 } {
            let object = draw(&mut random, 12);
            model.objects.insert(world.insert(object).unwrap(), object);
        }
        if round == 15 {
            // Nearly all into environment 0: it does not pay any more to keep them apart, and then again it does.
            let living: Vec<_> = model.objects.keys().copied().collect();
            for handle in living.into_iter().skip(8) {
                world.set_tag(handle, Tag::default()).unwrap();
                model.objects.get_mut(&handle).unwrap().tag = Tag::default();
            }
        }
    }
}

#[test]
fn environments_pair_within_themselves_and_with_environment_0_during_churn() {
    for spec in &specs(2) {
        follow::<2, f32>(spec, false);
    }
    for spec in &specs(3) {
        follow::<3, f64>(spec, true);
    }
}

#[test]
fn the_list_of_pairs_does_not_depend_on_threads() {
    let build = |threads: usize| {
        let mut world = World::<3, f32>::new();
        world.set_context(broadphase::Context::new().with_executor(Threads::new(threads).unwrap()));
        let mut random = Random(5);
        let objects: Vec<Object<3, f32>> = (0..3000).map(|_| draw(&mut random, 40)).collect();
        world.insert_many(&objects).unwrap();
        world.update().unwrap();
        world.pairs().map(|(a, b)| (a.index, b.index)).collect::<Vec<_>>()
    };
    let one = build(1);
    assert!(one.len() > 100 && one == build(2) && one == build(4));
}

/// Runs jobs backwards, or in an order that looks random.
struct Shuffled(u64);

impl broadphase::Executor for Shuffled {
    fn width(&self) -> usize {
        3
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        let mut order: Vec<usize> = (0..jobs).rev().collect();
        if self.0 > 0 {
            let mut random = Random(self.0);
            (1..jobs).for_each(|k| order.swap(k, random.below(k as u64 + 1) as usize));
        }
        order.into_iter().for_each(|number| job(number, number % 3));
    }
}

#[test]
fn neither_the_order_of_jobs_nor_a_clone_changes_the_list_of_pairs_of_environments() {
    let run = |context: broadphase::Context, clones: bool| {
        let mut world = World::<3, f32>::new();
        world.set_context(context);
        let mut random = Random(5);
        let objects: Vec<Object<3, f32>> = (0..1500).map(|_| draw(&mut random, 25)).collect();
        let handles = world.insert_many(&objects).unwrap();
        let mut lists = Vec::new();
        for frame in 0..6 {
            world.update().unwrap();
            lists.push(world.pairs().map(|(a, b)| (a.index, b.index)).collect::<Vec<_>>());
            if clones && frame == 2 {
                world = world.clone();
            }
            for &handle in handles.iter().filter(|handle| handle.index % 7 == frame) {
                world.set_box(handle, random.aabb(12, 2)).unwrap();
            }
        }
        lists
    };
    let plain = run(broadphase::Context::new(), false);
    assert!(plain[0].len() > 100);
    assert_eq!(run(broadphase::Context::new(), true), plain, "cloned");
    for seed in [0, 1, 2] {
        assert_eq!(run(broadphase::Context::new().with_executor(Shuffled(seed)), seed == 2), plain, "shuffled by {seed}");
    }
}

#[test]
fn environments_of_balls_pair_as_balls() {
    let (mut world, mut model, mut random) = (World::<2, f64>::new(), Model::<2, f64>::new(), Random(8));
    world.set_world_shape(Shape::Ball);
    model.shape = Shape::Ball;
    for _ in 0..300 {
        let at = [random.below(40) as f64 * 0.25, random.below(40) as f64 * 0.25];
        let tag = Tag::default().with_env(random.below(9) as u32);
        let object = Object::new(Aabb::from_center(at, [0.5; 2])).with_tag(tag);
        model.objects.insert(world.insert(object).unwrap(), object);
    }
    let (pairs, ..) = model.update();
    world.update().unwrap();
    assert!(!pairs.is_empty());
    assert_eq!(world.sorted_pairs(), pairs);
    assert!(world.stats().to_string().contains("8 environments apart"), "{}", world.stats());
}
