//! The particle grid of paper 003, through both doors: points and a radius, and boxes that stand for balls.

use broadphase::algorithms::particle_grid::{Hash, NeighborLists, Options, ParticleGrid, Storage};
use broadphase::{Aabb, Changes, Context, Frame, Isa, Kernels, Live, Pair, PairStore, Real, Report, Shape, Spec, Strength, step};

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }

    fn points<const D: usize, T: Real>(&mut self, n: usize, side: f64) -> Vec<[T; D]> {
        (0..n).map(|_| std::array::from_fn(|_| T::from_f64((self.unit() - 0.5) * side))).collect()
    }
}

/// The definition: the squares of the differences, from the first axis on, to the nearest image if `period` is given.
fn near<const D: usize, T: Real>(a: &[T; D], b: &[T; D], radius: T, period: Option<f64>) -> bool {
    let mut sum = T::ZERO;
    for k in 0..D {
        let mut d = a[k] - b[k];
        if let Some(side) = period {
            d = T::from_f64(d.to_f64() - (d.to_f64() / side).round() * side);
        }
        sum = if k == 0 { d * d } else { sum + d * d };
    }
    sum <= (radius + radius) * (radius + radius)
}

fn naive<const D: usize, T: Real>(points: &[[T; D]], radius: T, period: Option<f64>) -> Vec<Pair> {
    let n = points.len() as u32;
    let all = (0..n).flat_map(|a| (a + 1..n).map(move |b| Pair { a, b }));
    all.filter(|p| near(&points[p.a as usize], &points[p.b as usize], radius, period)).collect()
}

fn storages() -> Vec<Storage> {
    let hashed = Hash::ALL.into_iter().flat_map(|(_, hash)| {
        // A table of 7 slots makes nearly all of the adjacent cells share slots.
        [None, Some(7), Some(1)].map(|slots| Storage::Hashed { hash, slots })
    });
    std::iter::once(Storage::Dense).chain(hashed).collect()
}

fn all_answers_agree<const D: usize, T: Real>(points: &[[T; D]], radius: T, options: Options<D, T>, context: &Context) {
    let period = options.world.filter(|_| options.periodic).map(|world| world.max[0].to_f64() - world.min[0].to_f64());
    let expected = naive(points, radius, period);
    let mut grid = ParticleGrid::new(radius, options.clone()).unwrap();
    grid.build(points, context).unwrap();
    grid.validate(points).unwrap();
    let mut store = PairStore::default();
    grid.pairs(points, context, &mut store).unwrap();
    assert_eq!(store.sorted(), expected, "{D} dimensions, {options:?}");

    let mut neighbors = vec![Vec::new(); points.len()];
    for pair in &expected {
        neighbors[pair.a as usize].push(pair.b);
        neighbors[pair.b as usize].push(pair.a);
    }
    let (mut full, mut half) = (NeighborLists::default(), NeighborLists::default());
    grid.neighbor_lists(points, false, context, &mut full).unwrap();
    grid.neighbor_lists(points, true, context, &mut half).unwrap();
    assert_eq!((full.items.len(), half.items.len()), (2 * expected.len(), expected.len()));
    for (index, list) in neighbors.iter_mut().enumerate() {
        list.sort_unstable();
        assert_eq!(full.of(index), &list[..]);
        assert!(half.of(index).iter().eq(list.iter().filter(|&&other| other as usize > index)));
        let mut found = Vec::new();
        grid.for_each_neighbor(points, index, |other| found.push(other));
        found.sort_unstable();
        assert_eq!(found, *list, "neighbors of {index}, {options:?}");
    }
}

#[test]
fn every_storage_gives_all_pairs_and_lists_in_one_to_five_dimensions() {
    fn check<const D: usize>(side: f64) {
        let mut random = Random(D as u64);
        for storage in storages() {
            let single = Options { storage, ..Options::default() };
            all_answers_agree(&random.points::<D, f32>(150, side), 0.5, single, &Context::new());
            let double = Options { storage, ..Options::default() };
            all_answers_agree(&random.points::<D, f64>(150, side), 0.5, double, &Context::new());
        }
    }
    check::<1>(60.0);
    check::<2>(10.0);
    check::<3>(6.0);
    check::<4>(4.0);
    check::<5>(3.0);
}

#[test]
fn every_instruction_set_and_thread_count_gives_the_same_list() {
    let points = Random(8).points::<3, f32>(3000, 14.0);
    let mut lists = Vec::new();
    for isa in Isa::available() {
        for threads in [1, 2, 3] {
            let context = Context::new().with_kernels(Kernels::new(isa).unwrap());
            let context = context.with_executor(broadphase::Threads::new(threads).unwrap());
            let mut grid = ParticleGrid::new(0.5f32, Options::default()).unwrap();
            let mut store = PairStore::default();
            grid.build(&points, &context).unwrap();
            grid.pairs(&points, &context, &mut store).unwrap();
            lists.push((store.to_vec(), store.tests()));
        }
    }
    assert!(lists[0].0.len() > 1000 && lists.iter().all(|list| *list == lists[0]));
}

#[test]
fn a_world_that_repeats_finds_neighbors_across_its_sides() {
    let mut random = Random(4);
    // Down to worlds of one and two cells, where the cells on both sides are the same one.
    for side in [1.3, 2.2, 3.4, 9.0] {
        for storage in storages() {
            let world = Aabb::new([-1.0f32; 2], [side as f32 - 1.0; 2]);
            let options = Options { storage, world: Some(world), periodic: true };
            let mut points = random.points::<2, f32>(80, side);
            points.extend(random.points::<2, f32>(20, 10.0 * side)); // far outside: other images of points inside
            all_answers_agree(&points, 0.5, options, &Context::new());
        }
    }
    assert_eq!(
        ParticleGrid::<2, f32>::new(0.5, Options { periodic: true, ..Options::default() }).unwrap_err().code(),
        "unsuited"
    );
}

#[test]
fn particles_outside_of_a_bounded_world_are_clamped_and_still_found() {
    let mut random = Random(6);
    let world = Some(Aabb::new([-2.0f32; 3], [2.0; 3]));
    let mut points = random.points::<3, f32>(300, 12.0);
    points.extend([[1e30, 0.0, 0.0], [1e30, 0.0, 0.0], [f32::INFINITY, 0.0, 0.0], [0.0, f32::NEG_INFINITY, 0.0]]);
    all_answers_agree(&points, 0.5, Options { world, ..Options::default() }, &Context::new());
}

#[test]
fn odd_radii_and_places_stay_exact() {
    let mut random = Random(9);
    for storage in [Storage::Dense, Storage::Hashed { hash: Hash::Xor, slots: None }] {
        let options = || Options { storage, ..Options::default() };
        let mut points = random.points::<2, f32>(100, 3.0);
        points.extend_from_within(..20);
        all_answers_agree(&points, 0.0, options(), &Context::new());
        all_answers_agree(&points, 1e-30, options(), &Context::new());
        all_answers_agree(&points, 1e6, options(), &Context::new());
        let far: Vec<[f32; 2]> = points.iter().map(|p| [p[0] + 3e7, p[1] - 1e6]).collect();
        all_answers_agree(&far, 0.25, options(), &Context::new());
        let tiny: Vec<[f32; 2]> = points.iter().map(|p| p.map(|x| x * 1e-38)).collect();
        all_answers_agree(&tiny, 1e-39, options(), &Context::new());
        all_answers_agree(&vec![[1.0f32, 2.0]; 60], 0.5, options(), &Context::new());
        // Rows of particles that touch exactly, where floors of floats are at their worst.
        let row: Vec<[f32; 2]> = (0..200).map(|i| [i as f32 * 0.857_759_06, 0.0]).collect();
        all_answers_agree(&row, 0.428_879_53, options(), &Context::new());
        all_answers_agree(&[], 0.5, options(), &Context::new());
    }
    for radius in [-1.0f32, f32::NAN, f32::INFINITY, 1e25] {
        assert_eq!(ParticleGrid::<3, f32>::new(radius, Options::default()).unwrap_err().code(), "unsuited");
    }
    let mut grid = ParticleGrid::new(0.5f32, Options::default()).unwrap();
    assert_eq!(grid.build(&[[0.0, 1.0], [0.0, f32::NAN]], &Context::new()).unwrap_err().code(), "invalid-box");
    assert_eq!(grid.pairs(&[[0.0; 2]], &Context::new(), &mut PairStore::default()).unwrap_err().code(), "invalid-frame");
}

#[test]
fn each_particle_is_compared_with_a_bounded_number_of_others_however_many_there_are() {
    let per_particle = |n: usize, storage: Storage| {
        // The volume of the balls is two fifths of the world's.
        let side = (n as f64 * std::f64::consts::PI / 6.0 / 0.4).cbrt();
        let points = Random(2).points::<3, f32>(n, side);
        let mut grid = ParticleGrid::new(0.5f32, Options { storage, ..Options::default() }).unwrap();
        let mut store = PairStore::new(Report::Count);
        grid.build(&points, &Context::new()).unwrap();
        grid.pairs(&points, &Context::new(), &mut store).unwrap();
        store.tests() as f64 / n as f64
    };
    for storage in [Storage::Dense, Storage::Hashed { hash: Hash::Xor, slots: None }] {
        let (few, many) = (per_particle(4_000, storage), per_particle(60_000, storage));
        assert!(many < 45.0 && many < 1.5 * few, "{storage:?}: {few}, then {many} tests per particle");
    }
}

fn balls<const D: usize, T: Real>(points: &[[T; D]], radius: f64) -> Vec<Aabb<D, T>> {
    points.iter().map(|&p| Aabb::from_center(p, [T::from_f64(radius); D])).collect()
}

#[test]
fn the_adapter_agrees_with_brute_force_on_balls() {
    fn check<const D: usize, T: Real>(spec: &str, side: f64) {
        let mut random = Random(5);
        let mut points = random.points::<D, T>(400, side);
        let mut live = vec![!0u64; 7];
        let mut ours = spec.parse::<Spec>().unwrap().build::<D, T>().unwrap();
        let mut oracle = "brute-force".parse::<Spec>().unwrap().build::<D, T>().unwrap();
        let (mut found, mut expected) = (PairStore::new(Report::Both), PairStore::new(Report::Both));
        for round in 0..8 {
            for point in &mut points {
                *point = std::array::from_fn(|k| point[k] + T::from_f64((random.unit() - 0.5) * 0.4));
            }
            live[round % 7] ^= 0x00ff_00f0_0f00_1000 << round;
            let boxes = balls(&points, 0.5);
            let changes = if round == 5 { Changes::All } else { Changes::Unknown };
            let frame = Frame { live: Live::Bits(&live), shape: Shape::Ball, changes, ..Frame::new(&boxes) };
            step(&mut *ours, &frame, &mut Context::new(), &mut found).unwrap();
            step(&mut *oracle, &frame, &mut Context::new(), &mut expected).unwrap();
            ours.validate(&frame, Strength::Geometry).unwrap();
            assert_eq!(found.sorted(), expected.sorted(), "{spec}");
            assert_eq!((found.started(), found.ended()), (expected.started(), expected.ended()), "{spec}");
            let probes = balls(&random.points::<D, T>(30, side), 1.5);
            let given = broadphase::Probes { boxes: &probes, ids: None, recurring: false };
            ours.probe(&frame, given, &mut Context::new(), &mut PairStore::default()).unwrap();
            let (mut a, mut b) = (PairStore::default(), PairStore::default());
            ours.probe(&frame, given, &mut Context::new(), &mut a).unwrap();
            oracle.probe(&frame, given, &mut Context::new(), &mut b).unwrap();
            assert_eq!(a.sorted(), b.sorted(), "{spec}: probes");
        }
    }
    for spec in ["particle-grid", "particle-grid:grid=hashed", "particle-grid:grid=hashed:hash=modular:slots=11"] {
        check::<2, f32>(spec, 16.0);
        check::<3, f32>(spec, 7.0);
        check::<2, f64>(spec, 16.0);
        check::<3, f64>(spec, 7.0);
    }
}

#[test]
fn the_adapter_rejects_boxes_of_different_sizes_and_the_shape_box() {
    let mut structure = "particle-grid".parse::<Spec>().unwrap().build::<2, f32>().unwrap();
    let mut context = Context::new();
    let good = balls(&[[0.0f32, 0.0], [0.5, 0.5]], 0.5);
    let frame = Frame { shape: Shape::Ball, ..Frame::new(&good) };
    structure.update(&frame, &mut context).unwrap();
    let bad = [good[0], Aabb::new([0.0f32; 2], [3.0; 2])];
    let infinite = [good[0], Aabb::everything()];
    for boxes in [&bad[..], &infinite[..]] {
        let error = structure.update(&Frame { shape: Shape::Ball, ..Frame::new(boxes) }, &mut context).unwrap_err();
        assert_eq!(error.code(), "unsuited");
    }
    assert_eq!(structure.update(&Frame::new(&good), &mut context).unwrap_err().code(), "unsuited");
    structure.validate(&frame, Strength::Geometry).unwrap();
}

/// The sides of a world from one end of the range to the other overflow.
#[test]
fn points_at_both_ends_of_the_range_are_found_in_every_storage() {
    for far in [0.8e308, 0.3e308, 1e300] {
        let mut points: Vec<[f64; 2]> = vec![[-far, far], [far, -far], [far, far], [-far, -far], [far, far]];
        points.extend(Random(6).points::<2, f64>(60, 8.0));
        for storage in storages() {
            all_answers_agree(&points, 0.5, Options { storage, ..Options::default() }, &Context::new());
        }
        let world = Some(Aabb::new([-far; 2], [far; 2]));
        all_answers_agree(&points, 0.5, Options { world, ..Options::default() }, &Context::new());
    }
    let world = Some(Aabb::new([-0.9e308; 2], [0.9e308; 2]));
    let periodic = Options { world, periodic: true, ..Options::default() };
    assert_eq!(ParticleGrid::<2, f64>::new(0.5, periodic).unwrap_err().code(), "unsuited");
}
