//! Brute force against the definition, with every instruction set, as a first line of defence under the generic suite.

use broadphase::{
    Aabb, BroadPhase, Changes, Context, Frame, Isa, Kernels, Live, Pair, PairStore, Real, Spec, Strength, Want, step,
};

/// A small deterministic generator, enough for boxes.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn aabb<const D: usize, T: Real>(&mut self) -> Aabb<D, T> {
        let min: [T; D] = std::array::from_fn(|_| T::from_f64(self.below(40) as f64));
        Aabb::new(min, std::array::from_fn(|k| min[k] + T::from_f64(self.below(5) as f64)))
    }
}

fn naive<const D: usize, T: Real>(boxes: &[Aabb<D, T>], live: impl Fn(u32) -> bool) -> Vec<Pair> {
    let n = boxes.len() as u32;
    let all = (0..n).flat_map(|a| (a + 1..n).map(move |b| Pair { a, b }));
    all.filter(|p| live(p.a) && live(p.b) && boxes[p.a as usize].overlaps(&boxes[p.b as usize])).collect()
}

fn changes_against_naive<const D: usize, T: Real>(name: &str, isa: Isa) {
    let mut random = Random(7);
    let mut boxes: Vec<Aabb<D, T>> = (0..2000).map(|_| random.aabb()).collect();
    let mut live = vec![!0u64; boxes.len().div_ceil(64)];
    let mut structure: Box<dyn BroadPhase<D, T>> = name.parse::<Spec>().unwrap().build().unwrap();
    let mut context = Context::new().with_kernels(Kernels::new(isa).unwrap());
    let mut store = PairStore::new(Want::Both);
    let mut last: Vec<Pair> = Vec::new();
    for round in 0..60 {
        let (mut moved, mut inserted, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..random.below([3, 30, 300][round % 3]) {
            let id = random.below(boxes.len() as u64) as u32;
            if moved.contains(&id) || inserted.contains(&id) || removed.contains(&id) {
                continue;
            }
            let (word, bit) = (id as usize / 64, 1 << (id % 64));
            let old = live[word] & bit != 0;
            if old && random.below(3) == 0 {
                live[word] &= !bit;
                removed.push(id);
            } else {
                boxes[id as usize] = random.aabb();
                live[word] |= bit;
                if old { moved.push(id) } else { inserted.push(id) }
            }
        }
        let changes = match round % 10 {
            0 => Changes::All,
            1 => Changes::Unknown,
            _ => Changes::Listed { moved: &moved, inserted: &inserted, removed: &removed },
        };
        let frame = Frame { live: Live::Bits(&live), ..Frame::new(&boxes).with_changes(changes) };
        step(&mut *structure, &frame, &mut context, &mut store).unwrap();
        structure.validate(&frame, Strength::Geometry).unwrap();
        let expected = naive(&boxes, |id| frame.live.contains(id));
        assert_eq!(store.sorted(), expected, "{name} {isa} round {round}");
        let started: Vec<_> = expected.iter().filter(|p| last.binary_search(p).is_err()).copied().collect();
        let ended: Vec<_> = last.iter().filter(|p| expected.binary_search(p).is_err()).copied().collect();
        assert_eq!((store.started(), store.ended()), (&started[..], &ended[..]), "{name} {isa} round {round}");
        last = expected;
    }
}

#[test]
fn algorithms_follow_changes_with_every_instruction_set() {
    for name in ["brute-force", "tiles", "tiles:target=64"] {
        for isa in Isa::available() {
            changes_against_naive::<2, f32>(name, isa);
            changes_against_naive::<3, f32>(name, isa);
            changes_against_naive::<2, f64>(name, isa);
            changes_against_naive::<3, f64>(name, isa);
        }
    }
}
