//! The kd-tree against brute force, and the claims of its paper in counted form.

use broadphase::{
    Aabb, BroadPhase, Changes, Context, Frame, Live, Pair, PairStore, Real, Spec, Strength, Want, step,
};

const VARIANTS: [&str; 4] = ["kd-tree", "kd-tree-complete", "kd-tree-incremental", "kd-tree-rebuilt"];

/// A small deterministic generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    /// In 0..1.
    fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / (1u64 << 30) as f64
    }

    fn cube<const D: usize, T: Real>(&mut self, world: f64, size: f64) -> Aabb<D, T> {
        let min: [T; D] = std::array::from_fn(|_| T::from_f64(self.unit() * world - world * 0.5));
        Aabb::new(min, std::array::from_fn(|k| min[k] + T::from_f64(size)))
    }
}

fn build<const D: usize, T: Real>(spec: &str) -> Box<dyn BroadPhase<D, T>> {
    spec.parse::<Spec>().unwrap().build().unwrap()
}

fn truth<const D: usize, T: Real>(frame: &Frame<'_, D, T>) -> Vec<Pair> {
    let mut store = PairStore::default();
    let frame = frame.with_changes(Changes::All);
    step(&mut *build::<D, T>("brute-force"), &frame, &mut Context::new(), &mut store).unwrap();
    store.sorted()
}

fn extra(structure: &dyn BroadPhase<3, f32>, name: &str) -> f64 {
    let stats = structure.stats();
    stats.extra.iter().find(|entry| entry.0 == name).unwrap_or_else(|| panic!("no figure '{name}'")).1
}

/// Compares sorted lists, and says little of long ones.
fn assert_same(found: &[Pair], expected: &[Pair], what: &str) {
    let missing: Vec<_> = expected.iter().filter(|p| found.binary_search(p).is_err()).take(5).collect();
    let extra: Vec<_> = found.iter().filter(|p| expected.binary_search(p).is_err()).take(5).collect();
    assert!(found == expected, "{what}: {} of {} pairs; missing {missing:?}, extra {extra:?}", found.len(), expected.len());
}

/// Random motion of several kinds, insertion, removal, growth, unbounded boxes, skipped searches, fresh stores.
fn follows_random_changes<const D: usize, T: Real>(spec: &str, seed: u64) {
    let mut random = Random(seed);
    let world = if D == 2 { 30.0 } else { 12.0 };
    let mut boxes: Vec<Aabb<D, T>> = (0..500).map(|_| random.cube(world, 1.0)).collect();
    let mut live = vec![!0u64; 16];
    let mut structure = build::<D, T>(spec);
    let (mut context, mut store) = (Context::new(), PairStore::new(Want::Both));
    let mut last: Vec<Pair> = Vec::new();
    for round in 0..60 {
        let (mut moved, mut inserted, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        if round % 13 == 5 {
            for _ in 0..60 {
                let id = boxes.len() as u32;
                boxes.push(random.cube(world, 1.0));
                live[id as usize / 64] |= 1 << (id % 64);
                inserted.push(id);
            }
        }
        let busy = [0, 5, 40, 400][round / 3 % 4];
        for _ in 0..random.below(busy + 1) {
            let id = random.below(boxes.len() as u64) as u32;
            if moved.contains(&id) || inserted.contains(&id) || removed.contains(&id) {
                continue;
            }
            let (word, bit) = (id as usize / 64, 1 << (id % 64));
            let old = live[word] & bit != 0;
            if old && random.below(8) == 0 {
                live[word] &= !bit;
                removed.push(id);
                continue;
            }
            let value = &mut boxes[id as usize];
            *value = match random.below(20) {
                0 => Aabb::new([T::NEG_INFINITY; D], value.max.map(|c| c.min(T::from_f64(world)))),
                1 => random.cube(world, 0.0),
                2 | 3 => random.cube(world, 1.0),
                // Within epsilon, mostly: static for the tree, but the pairs may change.
                4..=9 if value.is_finite() => value.translate(std::array::from_fn(|_| T::from_f64(random.unit() * 0.004 - 0.002))),
                _ if value.is_finite() => value.translate(std::array::from_fn(|_| T::from_f64(random.unit() - 0.5))),
                _ => random.cube(world, 2.0),
            };
            live[word] |= bit;
            if old { moved.push(id) } else { inserted.push(id) }
        }
        let changes = match round % 10 {
            3 => Changes::All,
            0 | 1 | 7 | 8 => Changes::Unknown,
            _ => Changes::Listed { moved: &moved, inserted: &inserted, removed: &removed },
        };
        let frame = Frame { live: Live::Bits(&live), ..Frame::new(&boxes).with_changes(changes) };
        structure.update(&frame, &mut context).unwrap();
        structure.validate(&frame, Strength::Geometry).unwrap_or_else(|e| panic!("{spec} round {round}: {e}"));
        if round % 6 == 4 {
            continue; // two updates before a search
        }
        structure.pairs(&frame, &mut context, &mut store).unwrap();
        let expected = truth(&frame);
        assert_same(&store.sorted(), &expected, &format!("{spec} round {round}"));
        let started: Vec<_> = expected.iter().filter(|p| last.binary_search(p).is_err()).copied().collect();
        let ended: Vec<_> = last.iter().filter(|p| expected.binary_search(p).is_err()).copied().collect();
        assert_same(store.started(), &started, &format!("{spec} round {round}, started"));
        assert_same(store.ended(), &ended, &format!("{spec} round {round}, ended"));
        last = expected;
        if round % 17 == 9 {
            let mut fresh = PairStore::default();
            structure.pairs(&frame, &mut context, &mut fresh).unwrap();
            assert_same(&fresh.sorted(), &last, &format!("{spec} round {round}, a fresh store"));
            store.clear();
            last.clear();
        }
    }
}

#[test]
fn every_variant_follows_random_changes() {
    for variant in VARIANTS {
        for options in [":t=8", ":t=64", ":t=20:mode=tree", ":mode=sweep"] {
            let spec = format!("{variant}{options}");
            follows_random_changes::<3, f32>(&spec, 1);
            follows_random_changes::<2, f64>(&spec, 2);
        }
    }
    for spec in ["kd-tree:t=8:k=0", "kd-tree:t=8:k=100", "kd-tree-incremental:t=8:epsilon=0", "kd-tree-incremental:t=8:epsilon=0.3"] {
        follows_random_changes::<2, f32>(spec, 3);
        follows_random_changes::<3, f64>(spec, 4);
    }
}
