//! Queries, probes and outlines see every object where it is, whatever the grid has put off.

use std::ops::ControlFlow;

use broadphase::{Aabb, BroadPhase, Changes, Context, Frame, Live, Pair, PairStore, Probes, Ray, Real, Strength};

use super::{RandomBoxes, build, extra};
use broadphase_testing::{Random, naive};

#[test]
fn queries_and_probes_match_a_scan() {
    let mut random = Random(31);
    let boxes: Vec<Aabb<3, f32>> = (0..800).map(|i| if i == 9 { Aabb::everything() } else { random.aabb(60.0) }).collect();
    let frame = Frame::new(&boxes);
    for spec in ["hash-grid:threshold=0", "hash-grid:threshold=1000", "hash-grid:threshold=0:dims=4:density=1"] {
        let mut structure = build::<3, f32>(spec);
        structure.update(&frame, &mut Context::new()).unwrap();
        let reader = structure.reader().unwrap();
        for round in 0..60 {
            let area: Aabb<3, f32> = if round == 0 { Aabb::everything() } else { random.aabb(60.0) };
            let mut found = Vec::new();
            reader.in_box(&frame, &area, &mut |id| {
                found.push(id);
                ControlFlow::Continue(())
            });
            found.sort_unstable();
            let expected: Vec<u32> = (0..800).filter(|&id| boxes[id as usize].overlaps(&area)).collect();
            assert_eq!(found, expected, "{spec} {area:?}");

            let direction = std::array::from_fn(|k| if round % 3 == k { 0.0 } else { f64::from(random.unit_f32()) as f32 - 0.5 });
            let length = if round % 2 == 0 { f32::INFINITY } else { 100.0 };
            let ray = Ray::new(area.min.map(|x| x.clamp(-50.0, 50.0)), direction, length);
            let mut entered = Vec::new();
            reader.along_ray(&frame, &ray, &mut |id, _| {
                entered.push(id);
                ControlFlow::Continue(length)
            });
            entered.sort_unstable();
            let expected: Vec<u32> = (0..800).filter(|&id| ray.enters(&boxes[id as usize]).is_some()).collect();
            assert_eq!(entered, expected, "{spec} {ray:?}");
        }
        let probes: Vec<Aabb<3, f32>> = (0..50).map(|_| random.aabb(60.0)).collect();
        let mut store = PairStore::default();
        let given = Probes { boxes: &probes, ids: None, recurring: false };
        structure.probe(&frame, given, &mut Context::new(), &mut store).unwrap();
        let all = (0..50u32).flat_map(|a| (0..800u32).map(move |b| Pair { a, b }));
        let expected: Vec<Pair> = all.filter(|p| probes[p.a as usize].overlaps(&boxes[p.b as usize])).collect();
        assert_eq!(store.sorted(), expected, "{spec}");
    }
}

#[test]
fn changes_that_wait_for_memory_are_seen_by_every_reader() {
    let mut random = Random(57);
    let mut boxes: Vec<Aabb<3, f32>> = (0..300).map(|_| random.aabb(30.0)).collect();
    let mut live = vec![!0u64; 7];
    let mut structure = build::<3, f32>("hash-grid:threshold=0:patience=0");
    let mut context = Context::new();
    let mut store = PairStore::default();
    structure.update(&Frame::new(&boxes), &mut context).unwrap();
    for round in 0..2_000 {
        let id = random.below(boxes.len() as u64) as u32;
        let ids = [id];
        let (word, bit) = (id as usize / 64, 1u64 << (id % 64));
        let was_live = live[word] & bit != 0;
        let (mut moved, mut inserted, mut removed): (&[u32], &[u32], &[u32]) = (&[], &[], &[]);
        if random.below(50) == 0 {
            // Slots at the end are cut off, those who wait among them, and come back empty.
            let slots = 200 + random.below(100) as usize;
            let old = boxes.len();
            boxes.resize(slots, Aabb::new([f32::NAN; 3], [f32::NAN; 3]));
            (old.min(slots)..448).for_each(|slot| live[slot / 64] &= !(1 << (slot % 64)));
        } else if was_live && random.below(3) == 0 {
            live[word] &= !bit;
            boxes[id as usize] = Aabb::new([f32::NAN; 3], [f32::NAN; 3]);
            removed = &ids;
        } else {
            live[word] |= bit;
            boxes[id as usize] = if random.below(30) == 0 { Aabb::everything() } else { random.aabb(30.0) };
            if was_live { moved = &ids } else { inserted = &ids }
        }
        let changes = Changes::Listed { moved, inserted, removed };
        let frame = Frame { live: Live::Bits(&live), ..Frame::new(&boxes).with_changes(changes) };
        structure.update(&frame, &mut context).unwrap();

        let area: Aabb<3, f32> = random.aabb(30.0);
        let is_hit = |id: &u32| frame.live.contains(*id) && boxes[*id as usize].overlaps(&area);
        let expected: Vec<u32> = (0..boxes.len() as u32).filter(is_hit).collect();
        let mut found = Vec::new();
        structure.reader().unwrap().in_box(&frame, &area, &mut |id| {
            found.push(id);
            ControlFlow::Continue(())
        });
        found.sort_unstable();
        assert_eq!(found, expected, "round {round}");
        let probes = Probes { boxes: std::slice::from_ref(&area), ids: None, recurring: false };
        structure.probe(&frame, probes, &mut context, &mut store).unwrap();
        assert_eq!(store.sorted(), expected.iter().map(|&b| Pair { a: 0, b }).collect::<Vec<_>>(), "round {round}");
        let ray = Ray::new(area.min, [0.6, -0.5, 0.4], 100.0);
        let mut entered = Vec::new();
        structure.reader().unwrap().along_ray(&frame, &ray, &mut |id, _| {
            entered.push(id);
            ControlFlow::Continue(100.0)
        });
        entered.sort_unstable();
        let is_entered = |id: &u32| frame.live.contains(*id) && ray.enters(&boxes[*id as usize]).is_some();
        assert_eq!(entered, (0..boxes.len() as u32).filter(is_entered).collect::<Vec<_>>(), "round {round}");
        structure.validate(&frame, Strength::Geometry).unwrap();
        structure.outline(&frame, &mut |cell| assert!(cell.bounds.is_valid(), "round {round}"));

        let pairs_of = |structure: &mut dyn BroadPhase<3, f32>| {
            let mut store = PairStore::default();
            structure.pairs(&frame, &mut Context::new(), &mut store).unwrap();
            store.sorted()
        };
        if random.below(20) == 0 {
            let expected = naive::pairs_of(&boxes, |id| frame.live.contains(id));
            assert_eq!(pairs_of(&mut *structure.boxed_clone()), expected, "a copy, round {round}");
            if random.below(2) == 0 {
                assert_eq!(pairs_of(&mut *structure), expected, "round {round}");
            }
        }
    }
}

#[test]
fn a_ray_meets_an_object_that_moved_by_a_whole_turn_of_the_grid_and_so_kept_its_cell() {
    // Cells of the root of two, eight on each axis; the object goes from the middle of a cell to that of the eighth one behind.
    let cell = std::f64::consts::SQRT_2;
    let at = |x: f64| Aabb::<2, f64>::from_center([cell * (x + 0.5), cell * 0.5], [0.5; 2]);
    for told in [Changes::Unknown, Changes::Listed { moved: &[1], inserted: &[], removed: &[] }] {
        let mut boxes: Vec<Aabb<2, f64>> = vec![at(0.0), at(2.0), at(3.0), at(5.0)];
        let mut structure = build::<2, f64>("hash-grid:threshold=0:dims=8:density=1");
        structure.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
        let before = extra(&*structure, "cells");
        boxes[1] = at(10.0);
        let frame = Frame::new(&boxes).with_changes(told);
        structure.update(&frame, &mut Context::new()).unwrap();
        assert_eq!((before, extra(&*structure, "cells")), (64.0, 64.0), "the test is about a grid of eight by eight");
        structure.validate(&frame, Strength::Geometry).unwrap();
        let ray = Ray::new([100.0, cell * 0.5], [-1.0, 0.0], f64::INFINITY);
        let mut entered = Vec::new();
        structure.reader().unwrap().along_ray(&frame, &ray, &mut |id, _| {
            entered.push(id);
            ControlFlow::Continue(f64::INFINITY)
        });
        entered.sort_unstable();
        assert_eq!(entered, [0, 1, 2, 3], "{told:?}");
    }
}

/// Times of entry that underflow to zero or overflow to infinity tell boxes apart no more; the exact test then accepts boxes far from
/// the ray, and so must the grid.
#[test]
fn rays_whose_entry_underflows_or_is_infinite_see_what_a_scan_sees() {
    fn check<T: Real>(exponents: i64) {
        let mut random = Random(91);
        for scale in [-exponents / 2, -6, 0, 6] {
            let size = 2f64.powi(scale as i32);
            let mut place = || T::from_f64((f64::from(random.unit_f32()) - 0.5) * 40.0 * size);
            let mut boxes: Vec<Aabb<2, T>> = Vec::new();
            for _ in 0..200 {
                let min = [place(), place()];
                boxes.push(Aabb::new(min, min.map(|c| c + T::from_f64(size))));
            }
            let frame = Frame::new(&boxes);
            let mut structure = build::<2, T>("hash-grid:threshold=0");
            structure.update(&frame, &mut Context::new()).unwrap();
            let reader = structure.reader().unwrap();
            for round in 0..600 {
                let mut component = || {
                    let exponent = random.below(2 * exponents as u64) as i64 - exponents;
                    T::from_f64((f64::from(random.unit_f32()) - 0.5) * 2f64.powi(exponent as i32))
                };
                let direction = if round % 3 == 0 { [component(), T::ZERO] } else { [component(), component()] };
                let origin = [
                    T::from_f64((f64::from(random.unit_f32()) - 0.5) * 50.0 * size),
                    T::from_f64((f64::from(random.unit_f32()) - 0.5) * 50.0 * size),
                ];
                let ray = Ray::new(origin, direction, if round % 2 == 0 { T::INFINITY } else { T::MAX });
                if !ray.is_valid() {
                    continue;
                }
                let mut entered = Vec::new();
                reader.along_ray(&frame, &ray, &mut |id, _| {
                    entered.push(id);
                    ControlFlow::Continue(ray.length)
                });
                entered.sort_unstable();
                let expected: Vec<u32> = (0..200).filter(|&id| ray.enters(&boxes[id as usize]).is_some()).collect();
                assert_eq!(entered, expected, "{ray:?}, boxes of {size}");
            }
        }
    }
    check::<f32>(127);
    check::<f64>(1022);
}

/// The tests of a frame that was stopped depend on where it was stopped, and must not decide when levels are counted again.
#[test]
fn a_frame_stopped_by_the_limit_leaves_no_trace_in_later_lists() {
    let mut random = Random(3);
    let sizes = |random: &mut Random, n: usize, world: f64| -> Vec<Aabb<3, f32>> {
        let mut cube = || {
            let (min, size) = ([0; 3].map(|_| (f64::from(random.unit_f32()) * world) as f32), 2f32.powi(random.below(6) as i32));
            Aabb::new(min, min.map(|c| c + size))
        };
        (0..n).map(|_| cube()).collect()
    };
    let crowd = sizes(&mut random, 1200, 30.0);
    let later = sizes(&mut random, 1200, 160.0);
    let run = |stopped: bool| {
        let (mut structure, mut context) = (build::<3, f32>("hash-grid:threshold=0"), Context::new());
        let mut lists = Vec::new();
        for (number, boxes) in [&crowd, &later, &crowd, &later, &crowd].into_iter().enumerate() {
            let frame = Frame::new(boxes);
            structure.update(&frame, &mut context).unwrap();
            let mut store = PairStore::default();
            if number == 0 && stopped {
                store.set_limit(10);
                assert_eq!(structure.pairs(&frame, &mut context, &mut store).unwrap_err().code(), "too-many-pairs");
                store.set_limit(PairStore::DEFAULT_LIMIT);
            }
            structure.pairs(&frame, &mut context, &mut store).unwrap();
            lists.push((store.to_vec(), store.tests()));
        }
        lists
    };
    assert!(run(false) == run(true));
}
