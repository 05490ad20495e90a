//! Lists of few changes, frame after frame: tiles are kept sorted meanwhile, and lists that are false leave no trace.

use super::*;
use broadphase::Report;
use broadphase_testing::executors;

/// A table of slots that changes, with the lists of what changed.
struct Changing<const D: usize, T> {
    boxes: Vec<Aabb<D, T>>,
    live: Vec<u64>,
    side: f32,
    random: Random,
    lists: [Vec<u32>; 3],
}

impl<const D: usize, T: Real> Changing<D, T> {
    fn new(n: usize, side: f32, seed: u64) -> Self {
        let mut random = Random(seed);
        let boxes = (0..n).map(|_| cube(&mut random, side)).collect();
        Self { boxes, live: vec![!0; n.div_ceil(64)], side, random, lists: Default::default() }
    }

    /// Moves, inserts and removes a few. Some jump, some grow to many times their size, some stay where they start on an axis.
    fn change(&mut self, count: usize) {
        self.lists = Default::default();
        for _ in 0..count {
            let id = self.random.below(self.boxes.len() as u64) as u32;
            if self.lists.iter().any(|list| list.contains(&id)) {
                continue;
            }
            let (word, bit) = (id as usize / 64, 1 << (id % 64));
            let was_live = self.live[word] & bit != 0;
            let list = if !was_live {
                self.live[word] |= bit;
                1
            } else if self.random.below(8) == 0 {
                self.live[word] &= !bit;
                2
            } else {
                0
            };
            self.lists[list].push(id);
            let old = self.boxes[id as usize];
            self.boxes[id as usize] = match self.random.below(8) {
                _ if !was_live => cube(&mut self.random, self.side),
                0 => cube(&mut self.random, self.side),
                1 => Aabb::new(old.min, old.max.map(|x| x + T::from_f64(4.0))),
                _ => old.translate(std::array::from_fn(|_| T::from_f64(f64::from(self.random.unit_f32() - 0.5)))),
            };
        }
    }

    fn frame(&self) -> Frame<'_, D, T> {
        let [moved, inserted, removed] = &self.lists;
        Frame { live: Live::Bits(&self.live), changes: Changes::Listed { moved, inserted, removed }, ..Frame::new(&self.boxes) }
    }
}

fn cube<const D: usize, T: Real>(random: &mut Random, side: f32) -> Aabb<D, T> {
    let min = std::array::from_fn(|_| T::from_f64(f64::from(random.unit_f32() * side)));
    Aabb::new(min, min.map(|x| x + T::ONE))
}

/// Enough frames for tiles to be sorted; then several updates between two searches for pairs, a clone, a long list, and a frame of everything.
fn short_lists_agree<const D: usize, T: Real>(spec: &str, n: usize, side: f32, seed: u64) {
    let mut table = Changing::<D, T>::new(n, side, seed);
    let mut run = Run::<D, T>::of(spec);
    run.runs.extend(executors::contexts().into_iter().map(|(_, context)| (build(spec), context, PairStore::new(Report::Both))));
    run.frame(&table.frame().with_changes(Changes::All), "first");
    for round in 0..14 {
        match round {
            8 => {
                // Changes of two updates, of which the second moves some objects again.
                table.change(n / 200);
                for (structure, context, _) in &mut run.runs {
                    structure.update(&table.frame(), context).unwrap();
                }
                let again: Vec<u32> = table.lists[0].iter().step_by(2).copied().collect();
                table.lists = [again, Vec::new(), Vec::new()];
                for id in table.lists[0].clone() {
                    table.boxes[id as usize] = cube(&mut table.random, side);
                }
            }
            9 => {
                table.change(n / 200);
                run.runs.iter_mut().for_each(|(structure, ..)| *structure = structure.boxed_clone());
            }
            10 => table.change(n / 25),
            11 => {
                table.change(n);
                run.frame(&table.frame().with_changes(Changes::All), "everything");
                table.lists = Default::default();
            }
            _ => table.change(n / 200),
        }
        run.frame(&table.frame(), &format!("{spec}, {n} objects, round {round}"));
    }
}

#[test]
fn short_lists_of_changes_agree_in_sorted_tiles_on_every_executor() {
    short_lists_agree::<3, f32>("tiles:target=64", 3000, 30.0, 1);
    short_lists_agree::<2, f32>("tiles", 3000, 90.0, 2);
    short_lists_agree::<2, f64>("tiles:target=64", 3000, 50.0, 3);
    short_lists_agree::<3, f64>("tiles", 2500, 24.0, 4);
}

#[test]
fn short_lists_of_changes_agree_in_several_blocks() {
    short_lists_agree::<2, f32>("tiles", 34_000, 500.0, 5);
}

#[test]
fn short_lists_cost_tests_in_the_neighborhood_of_the_changes_only() {
    let mut table = Changing::<3, f32>::new(20_000, 100.0, 7);
    let (mut tiles, mut context, mut store) = (build::<3, f32>("tiles"), Context::new(), PairStore::default());
    step(&mut *tiles, &table.frame().with_changes(Changes::All), &mut context, &mut store).unwrap();
    let mut tests = Vec::new();
    for _ in 0..30 {
        table.change(0);
        for _ in 0..20 {
            let id = table.random.below(20_000) as u32;
            if !table.lists[0].contains(&id) {
                table.lists[0].push(id);
                shift(&mut table.boxes[id as usize..=id as usize], 0.2, &mut table.random);
            }
        }
        step(&mut *tiles, &table.frame(), &mut context, &mut store).unwrap();
        tests.push(store.tests() / table.lists[0].len() as u64);
    }
    assert!(tests[2] > 500, "a tile of about a thousand is searched at first: {tests:?}");
    assert!(tests[29] < 200, "a few dozen neighbors later: {tests:?}");
}

/// A pass over all records for a long list took the live slots of the whole frame, but dropped only the records of listed objects. So a later pass over
/// everything found no slot that had been removed since, and kept the records of those that the list had left out.
#[test]
fn a_frame_of_everything_drops_the_records_of_removed_objects_that_a_false_list_left_out() {
    for spec in ["tiles", "tiles:target=64", "auto"] {
        for listed in [10, 200] {
            let mut table = Changing::<3, f32>::new(5000, 30.0, listed as u64);
            let (mut tiles, mut context, mut store) = (build::<3, f32>(spec), Context::new(), PairStore::default());
            step(&mut *tiles, &table.frame().with_changes(Changes::All), &mut context, &mut store).unwrap();
            for round in 0..6 {
                table.change(listed);
                let told = table.lists.clone();
                table.change(60); // inserted, moved and removed without a word
                let [moved, inserted, removed] = told.map(|list| -> Vec<u32> {
                    list.into_iter().filter(|id| !table.lists.iter().any(|hidden| hidden.contains(id))).collect()
                });
                let changes = Changes::Listed { moved: &moved, inserted: &inserted, removed: &removed };
                // What it finds is not specified.
                step(&mut *tiles, &table.frame().with_changes(changes), &mut context, &mut store).unwrap();
                if round % 2 == 1 {
                    let everything = table.frame().with_changes(Changes::All);
                    step(&mut *tiles, &everything, &mut context, &mut store).unwrap();
                    tiles.validate(&everything, Strength::Geometry).unwrap_or_else(|e| panic!("{spec}, {listed} listed: {e}"));
                    let mut fresh = (build::<3, f32>("brute-force"), PairStore::default());
                    step(&mut *fresh.0, &everything, &mut context, &mut fresh.1).unwrap();
                    assert!(store.sorted() == fresh.1.sorted(), "{spec}, {listed} listed, round {round}");
                }
            }
        }
    }
}

/// All objects move, and a few of every block are removed and come back: their records are dropped before the others are rewritten.
fn removed_objects_leave_no_records<const D: usize, T: Real>(n: usize, side: f32, seed: u64) {
    let mut table = Changing::<D, T>::new(n, side, seed);
    let mut run = Run::<D, T>::new();
    for round in 0..6 {
        for _ in 0..n / 100 {
            let id = table.random.below(n as u64) as usize;
            table.live[id / 64] ^= 1 << (id % 64);
        }
        for value in &mut table.boxes {
            let by = std::array::from_fn(|_| T::from_f64(f64::from(table.random.unit_f32() - 0.5) * 0.2));
            *value = value.translate(by);
        }
        let (boxes, live) = (&table.boxes, Live::Bits(&table.live));
        run.frame(&Frame { live, ..Frame::new(boxes) }, &format!("round {round}"));
    }
}

#[test]
fn records_of_removed_objects_are_dropped_where_all_others_are_rewritten() {
    removed_objects_leave_no_records::<2, f32>(3000, 60.0, 1);
    removed_objects_leave_no_records::<3, f64>(3000, 20.0, 2);
    removed_objects_leave_no_records::<3, f32>(70_000, 150.0, 3); // several blocks
}
