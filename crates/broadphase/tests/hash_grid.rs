//! The claims of paper 000, counted; and the traps of its text.

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

    fn unit(&mut self) -> f64 {
        self.below(1 << 24) as f64 / (1u64 << 24) as f64
    }

    /// A box of one of several kinds, among them points, needles, plates and giants.
    fn aabb<const D: usize, T: Real>(&mut self, world: f64) -> Aabb<D, T> {
        let min: [f64; D] = std::array::from_fn(|_| (self.unit() - 0.5) * world);
        let kind = self.below(16);
        let size: [f64; D] = std::array::from_fn(|k| match kind {
            0 => 0.0,
            1 => [30.0, 0.3][usize::from(k != 0)],
            2 => [0.2, 10.0][usize::from(k != 0)],
            3 => 1e-3 * self.unit(),
            4 => 40.0 * self.unit(),
            _ => 0.5 + self.unit(),
        });
        Aabb::new(min.map(T::from_f64), std::array::from_fn(|k| T::from_f64(min[k] + size[k])))
    }
}

fn naive<const D: usize, T: Real>(boxes: &[Aabb<D, T>], live: impl Fn(u32) -> bool) -> Vec<Pair> {
    let n = boxes.len() as u32;
    let all = (0..n).flat_map(|a| (a + 1..n).map(move |b| Pair { a, b }));
    all.filter(|p| live(p.a) && live(p.b) && boxes[p.a as usize].overlaps(&boxes[p.b as usize])).collect()
}

fn build<const D: usize, T: Real>(spec: &str) -> Box<dyn BroadPhase<D, T>> {
    spec.parse::<Spec>().unwrap().build().unwrap()
}

fn pairs_of<const D: usize, T: Real>(spec: &str, boxes: &[Aabb<D, T>]) -> Vec<Pair> {
    let mut structure = build::<D, T>(spec);
    let mut store = PairStore::default();
    step(&mut *structure, &Frame::new(boxes), &mut Context::new(), &mut store).unwrap();
    structure.validate(&Frame::new(boxes), Strength::Geometry).unwrap();
    store.sorted()
}

fn extra<const D: usize, T: Real>(structure: &dyn BroadPhase<D, T>, name: &str) -> f64 {
    structure.stats().extra.iter().find(|entry| entry.0 == name).unwrap().1
}

fn changes_against_naive<const D: usize, T: Real>(spec: &str, isa: Isa) {
    let mut random = Random(11);
    let mut boxes: Vec<Aabb<D, T>> = (0..250).map(|_| random.aabb(24.0)).collect();
    let mut live = vec![!0u64; boxes.len().div_ceil(64)];
    let mut structure = build::<D, T>(spec);
    let mut context = Context::new().with_kernels(Kernels::new(isa).unwrap());
    let mut store = PairStore::new(Want::Both);
    let mut last: Vec<Pair> = Vec::new();
    for round in 0..20 {
        let (mut moved, mut inserted, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..random.below(60) {
            let id = random.below(boxes.len() as u64) as u32;
            if moved.contains(&id) || inserted.contains(&id) || removed.contains(&id) {
                continue;
            }
            let (word, bit) = (id as usize / 64, 1 << (id % 64));
            let old = live[word] & bit != 0;
            if old && random.below(3) == 0 {
                live[word] &= !bit;
                removed.push(id);
                boxes[id as usize] = Aabb::new([T::NAN; D], [T::NAN; D]);
            } else {
                boxes[id as usize] = if random.below(40) == 0 { Aabb::everything() } else { random.aabb(24.0) };
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
        assert_eq!(store.sorted(), expected, "{spec} {isa} round {round}");
        let started: Vec<_> = expected.iter().filter(|p| !last.contains(p)).copied().collect();
        let ended: Vec<_> = last.iter().filter(|p| !expected.contains(p)).copied().collect();
        assert_eq!((store.started(), store.ended()), (&started[..], &ended[..]), "{spec} {isa} round {round}");
        last = expected;
    }
}

#[test]
fn random_operations_match_brute_force_with_every_option_and_instruction_set() {
    let specs = [
        "hash-grid:threshold=0",
        "hash-grid",
        "hash-grid-reinsert:threshold=0",
        "hash-grid:threshold=0:factor=1.1:dims=4",
        "hash-grid:threshold=0:factor=8:dims=4x32x8:density=1:capacity=2",
        "hash-grid:threshold=200:shapes=0:density=64",
    ];
    for spec in specs {
        for isa in Isa::available() {
            changes_against_naive::<2, f32>(spec, isa);
            changes_against_naive::<3, f32>(spec, isa);
        }
        changes_against_naive::<2, f64>(spec, Isa::Scalar);
        changes_against_naive::<3, f64>(spec, Isa::Scalar);
    }
}
