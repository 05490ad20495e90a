//! Probes that are joined with the objects of `tiles`, tile by tile, against a double loop.

use broadphase::{Aabb, Context, Frame, Isa, Live, Pair, PairStore, Probes, Real, Spec, Tag, pairs_between};
use broadphase_testing::{Random, executors};

/// Where boxes are, and how large.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Boxes of similar sizes, evenly spread.
    Even,
    /// Corners on integers: most that touch only touch.
    Ties,
    /// Sizes over four orders of magnitude.
    Sizes,
    /// Half of them in a corner, a thousandth as large.
    Cluster,
    /// Some with infinite sides, some far outside of what the others occupy.
    Infinite,
    /// Flat along one axis, and points.
    Flat,
}

const KINDS: [Kind; 6] = [Kind::Even, Kind::Ties, Kind::Sizes, Kind::Cluster, Kind::Infinite, Kind::Flat];

fn boxes<const D: usize, T: Real>(kind: Kind, count: usize, side: f64, random: &mut Random) -> Vec<Aabb<D, T>> {
    let value = |random: &mut Random| {
        let scale = if kind == Kind::Cluster && random.below(2) == 0 { 1e-3 } else { 1.0 };
        let size = if kind == Kind::Sizes { 10f64.powf(random.unit() * 4.0 - 2.5) } else { scale };
        let (mut min, mut max) = ([T::ZERO; D], [T::ZERO; D]);
        for k in 0..D {
            let at = random.unit() * side * scale;
            let (low, high) = match kind {
                Kind::Ties => (at.floor(), at.floor() + random.below(3) as f64),
                Kind::Flat if k == D - 1 => (0.0, 0.0),
                Kind::Flat if random.below(4) == 0 => (at, at),
                Kind::Infinite if random.below(40) == 0 => (f64::NEG_INFINITY, at),
                Kind::Infinite if random.below(40) == 0 => (at * 1e6, f64::INFINITY),
                Kind::Infinite if random.below(40) == 0 => (at * 1e5, at * 1e5 + 1e5),
                _ => (at, at + random.unit() * size * 2.0),
            };
            (min[k], max[k]) = (T::from_f64(low), T::from_f64(high));
        }
        Aabb::new(min, max)
    };
    (0..count).map(|_| value(random)).collect()
}

fn double_loop<const D: usize, T: Real>(probes: &[Aabb<D, T>], boxes: &[Aabb<D, T>], live: impl Fn(u32) -> bool) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (a, probe) in (0..).zip(probes) {
        pairs.extend((0..).zip(boxes).filter(|(b, value)| live(*b) && probe.overlaps(value)).map(|(b, _)| Pair { a, b }));
    }
    pairs
}

/// Small tiles, so that a few thousand boxes have many.
fn spec(isa: Option<Isa>) -> Spec {
    let isa = isa.map(|isa| format!(":isa={isa}")).unwrap_or_default();
    format!("tiles:target=64{isa}").parse().unwrap()
}

/// Every kind of objects meets every kind of probes: many, as many as objects, a few per tile, one.
fn joins<const D: usize, T: Real>() {
    let mut random = Random(D as u64 + size_of::<T>() as u64);
    for kind in KINDS {
        for (objects, probes, other) in [(1500, 1500, kind), (1500, 200, Kind::Even), (90, 2500, kind), (2500, 3, kind)] {
            let side = (objects as f64 * 4.0).powf(1.0 / D as f64);
            let boxes: Vec<Aabb<D, T>> = boxes(kind, objects, side, &mut random);
            let probes: Vec<Aabb<D, T>> = self::boxes(other, probes, side, &mut random);
            let mut words = vec![!0u64; objects.div_ceil(64)];
            (0..objects).step_by(9).for_each(|id| words[id / 64] &= !(1 << (id % 64)));
            let is_live = |id: u32| words[id as usize / 64] >> (id % 64) & 1 == 1;
            let expected = double_loop(&probes, &boxes, is_live);
            let frame = Frame { live: Live::Bits(&words), ..Frame::new(&boxes) };
            let mut lists = Vec::new();
            for isa in Isa::available() {
                let mut structure = spec(Some(isa)).build::<D, T>().unwrap();
                let mut context = Context::new();
                structure.update(&frame, &mut context).unwrap();
                let mut store = PairStore::default();
                // Repeated, since the second call finds the memory of the first.
                for _ in 0..2 {
                    let asked = Probes { boxes: &probes, ids: None, recurring: false };
                    structure.probe(&frame, asked, &mut context, &mut store).unwrap();
                    assert_eq!(
                        store.sorted(),
                        expected,
                        "{kind:?} and {other:?}, {objects} objects, {} probes, {isa}",
                        probes.len()
                    );
                }
                lists.push(store.to_vec());
            }
            assert!(lists.windows(2).all(|two| two[0] == two[1]), "{kind:?}: the list depends on the instruction set");
        }
    }
}

#[test]
fn every_kind_of_probes_meets_what_a_double_loop_finds_on_every_instruction_set() {
    joins::<2, f32>();
    joins::<2, f64>();
    joins::<3, f32>();
    joins::<3, f64>();
}

#[test]
fn the_list_does_not_depend_on_the_order_of_jobs_or_on_threads() {
    let mut random = Random(5);
    let boxes: Vec<Aabb<3, f32>> = boxes(Kind::Sizes, 3000, 20.0, &mut random);
    let probes: Vec<Aabb<3, f32>> = self::boxes(Kind::Even, 2000, 20.0, &mut random);
    let mut list = None;
    for (name, mut context) in executors::contexts() {
        let mut structure = spec(None).build::<3, f32>().unwrap();
        structure.update(&Frame::new(&boxes), &mut context).unwrap();
        let mut store = PairStore::default();
        structure
            .probe(&Frame::new(&boxes), Probes { boxes: &probes, ids: None, recurring: false }, &mut context, &mut store)
            .unwrap();
        let found = store.to_vec();
        assert!(found.len() > 1000 && *list.get_or_insert_with(|| found.clone()) == found, "{name}");
    }
}

#[test]
fn probes_follow_objects_that_move_and_a_partition_that_is_rebuilt() {
    let mut random = Random(11);
    let mut context = Context::new();
    let mut structure = spec(None).build::<2, f32>().unwrap();
    let (mut store, mut objects) = (PairStore::default(), PairStore::default());
    for step in 0..30 {
        // Growing numbers rebuild the partition; probes grow and shrink.
        let boxes: Vec<Aabb<2, f32>> = boxes(Kind::Even, 500 + step * 60, 40.0 + step as f64, &mut random);
        let probes: Vec<Aabb<2, f32>> = self::boxes(Kind::Sizes, 300 + (step * 377) % 900, 40.0, &mut random);
        let frame = Frame::new(&boxes);
        structure.update(&frame, &mut context).unwrap();
        structure.pairs(&frame, &mut context, &mut objects).unwrap();
        structure.probe(&frame, Probes { boxes: &probes, ids: None, recurring: false }, &mut context, &mut store).unwrap();
        assert_eq!(store.sorted(), double_loop(&probes, &boxes, |_| true), "step {step}");
        structure
            .clone()
            .probe(&frame, Probes { boxes: &probes, ids: None, recurring: false }, &mut context, &mut store)
            .unwrap();
        assert_eq!(store.sorted(), double_loop(&probes, &boxes, |_| true), "a clone, step {step}");
    }
}

#[test]
fn probes_of_others_in_between_do_not_change_the_order_of_a_list() {
    let (mut random, mut context) = (Random(19), Context::new());
    let boxes: Vec<Aabb<3, f32>> = boxes(Kind::Even, 3000, 20.0, &mut random);
    let mut structure = spec(None).build::<3, f32>().unwrap();
    let frame = Frame::new(&boxes);
    structure.update(&frame, &mut context).unwrap();
    let mut list = |probes: &[Aabb<3, f32>], recurring| {
        let mut store = PairStore::default();
        structure.probe(&frame, Probes { boxes: probes, ids: None, recurring }, &mut context, &mut store).unwrap();
        store.to_vec()
    };
    let [ours, others]: [Vec<Aabb<3, f32>>; 2] = std::array::from_fn(|_| self::boxes(Kind::Even, 2000, 20.0, &mut random));
    let first = list(&ours, false);
    assert!(first.len() > 1000);
    for recurring in [false, true] {
        list(&others, recurring);
        assert_eq!(list(&ours, false), first, "recurring: {recurring}");
    }
}

#[test]
fn probes_that_come_again_are_found_where_they_are_now_and_a_clone_lists_them_in_the_same_order() {
    let (mut random, mut context) = (Random(17), Context::new());
    let mut structure = spec(None).build::<3, f32>().unwrap();
    let mut boxes: Vec<Aabb<3, f32>> = boxes(Kind::Sizes, 2500, 20.0, &mut random);
    let mut probes: Vec<Aabb<3, f32>> = self::boxes(Kind::Even, 1500, 20.0, &mut random);
    structure.update(&Frame::new(&boxes), &mut context).unwrap();
    let (mut store, mut other) = (PairStore::default(), PairStore::default());
    for step in 0..40 {
        match step % 10 {
            // All of them jump.
            6 => probes = self::boxes(Kind::Even, 1500, 20.0, &mut random),
            7 => drop(probes.pop()),
            // The objects change, too.
            8 => {
                boxes.iter_mut().for_each(|aabb| *aabb = aabb.translate([0.25, 0.0, -0.25]));
                structure.update(&Frame::new(&boxes), &mut context).unwrap();
            }
            9 => {
                boxes[step] = boxes[step].translate([3.0; 3]);
                structure.update(&Frame::new(&boxes), &mut context).unwrap();
            }
            _ => probes.iter_mut().for_each(|aabb| *aabb = aabb.translate([0.1, 0.05, 0.0])),
        }
        let (frame, probes) = (Frame::new(&boxes), Probes { boxes: &probes, ids: None, recurring: true });
        let clone = structure.clone();
        structure.probe(&frame, probes, &mut context, &mut store).unwrap();
        assert_eq!(store.sorted(), double_loop(probes.boxes, &boxes, |_| true), "step {step}");
        clone.probe(&frame, probes, &mut context, &mut other).unwrap();
        assert_eq!(store.to_vec(), other.to_vec(), "a clone, step {step}");
    }
}

#[test]
fn probes_with_ids_are_canonical_and_filtered_by_tags() {
    let mut random = Random(3);
    let boxes: Vec<Aabb<3, f64>> = boxes(Kind::Even, 2000, 12.0, &mut random);
    let tags: Vec<Tag> = (0..2000).map(|_| Tag::new(1 << random.below(2), 1 << random.below(2) | 2)).collect();
    let ids: Vec<u32> = (0..2000).filter(|id| id % 3 == 1).collect();
    let mut words = vec![0u64; 2000usize.div_ceil(64)];
    (0..2000).filter(|id| id % 3 != 1).for_each(|id| words[id / 64] |= 1 << (id % 64));
    let probes: Vec<_> = ids.iter().map(|&id| boxes[id as usize]).collect();
    let frame = Frame { live: Live::Bits(&words), tags: Some(&tags), ..Frame::new(&boxes) };
    let (mut context, mut store) = (Context::new(), PairStore::default());
    let mut structure = spec(None).build::<3, f64>().unwrap();
    structure.update(&frame, &mut context).unwrap();
    structure.probe(&frame, Probes { boxes: &probes, ids: Some(&ids), recurring: false }, &mut context, &mut store).unwrap();
    let mut expected = double_loop(&probes, &boxes, |id| id % 3 != 1);
    expected.iter_mut().for_each(|pair| *pair = Pair::new(ids[pair.a as usize], pair.b));
    expected.retain(|pair| tags[pair.a as usize].allows(&tags[pair.b as usize]));
    expected.sort_unstable();
    assert!(expected.len() > 100);
    assert_eq!(store.sorted(), expected);
    let wrong =
        structure.probe(&frame, Probes { boxes: &probes, ids: Some(&ids[1..]), recurring: false }, &mut context, &mut store);
    assert!(wrong.is_err(), "as many ids as boxes are needed");
    let bad = vec![Aabb::new([f64::NAN; 3], [1.0; 3]); 500];
    let wrong = structure.probe(&frame, Probes { boxes: &bad, ids: None, recurring: false }, &mut context, &mut store);
    assert_eq!(wrong.unwrap_err().index(), Some(0), "a probe that is not valid is refused");
    structure.probe(&frame, Probes { boxes: &probes, ids: None, recurring: false }, &mut context, &mut store).unwrap();
    assert_eq!(store.sorted(), double_loop(&probes, &boxes, |id| id % 3 != 1), "after the refusal");
}

#[test]
fn a_limit_on_pairs_stops_a_join_of_two_sets() {
    let all = vec![Aabb::new([0.0f32; 3], [1.0; 3]); 1000];
    let (mut context, mut store) = (Context::new(), PairStore::default());
    let mut structure = spec(None).build::<3, f32>().unwrap();
    structure.update(&Frame::new(&all), &mut context).unwrap();
    store.set_limit(5000);
    let result =
        structure.probe(&Frame::new(&all), Probes { boxes: &all, ids: None, recurring: false }, &mut context, &mut store);
    assert_eq!(result, Err(broadphase::Error::TooManyPairs { limit: 5000 }));
}

#[test]
fn lists_of_any_lengths_are_paired_whichever_is_the_longer() {
    let mut random = Random(23);
    for (first, second) in [(0, 50), (50, 0), (1, 4000), (4000, 1), (30, 4000), (4000, 300), (3000, 3000)] {
        let a: Vec<Aabb<3, f32>> = boxes(Kind::Sizes, first, 15.0, &mut random);
        let b: Vec<Aabb<3, f32>> = boxes(Kind::Even, second, 15.0, &mut random);
        assert_eq!(pairs_between(&a, &b).unwrap(), double_loop(&a, &b, |_| true), "{first} and {second}");
        let count = broadphase::Search::between(&a, &b).count().unwrap();
        assert_eq!(count, double_loop(&a, &b, |_| true).len() as u64, "{first} and {second}");
    }
}
