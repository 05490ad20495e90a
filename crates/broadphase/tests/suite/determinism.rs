//! The list of pairs, not only the set, is the same for every number of threads, every order of jobs and every instruction set.

use broadphase::{Context, Isa, Kernels, Pair, Real, Report};

use crate::data::{Layout, Random};
use crate::script::{Run, Table, Tell};
use crate::subjects::{Subject, Trial, in_every_space};
use broadphase_testing::executors::{self, Racing};
use broadphase_testing::naive as oracle;

/// Enough for several tiles, leaves and chunks.
const N: usize = 1000;

/// All that a caller can see of one frame.
#[derive(PartialEq)]
struct Seen {
    list: Vec<Pair>,
    started: Vec<Pair>,
    ended: Vec<Pair>,
    tests: u64,
}

/// Tables of a few frames: all new, all nudged, some changed, table longer and shorter, infinite sides among them.
fn tables<const D: usize, T: Real>(subject: &Subject) -> Vec<(Table<D, T>, Tell)> {
    let mut random = Random(41);
    let mut boxes = Layout::Smooth.boxes(&mut random, N);
    boxes.extend(Layout::Infinite.boxes::<D, T>(&mut random, N / 4));
    subject.fit(&mut boxes);
    let mut table = Table::new(boxes);
    table.settle();
    let mut all = vec![(table.clone(), Tell::All)];
    for (every, tell) in [(1, Tell::Unknown), (9, Tell::Listed), (2, Tell::Listed), (7, Tell::Unknown), (50, Tell::Listed)] {
        for id in (0..table.slots() as u32).filter(|id| id.is_multiple_of(every)) {
            let by = std::array::from_fn(|_| T::from_f64((random.below(5) as f64 - 2.0) * 0.25));
            let mut value = [table.boxes[id as usize].translate(by)];
            subject.fit(&mut value);
            if id % 31 == 3 && every == 9 {
                table.remove(id)
            } else if table.is_live(id) {
                table.set(id, value[0])
            }
        }
        if every == 2 {
            table.resize(N);
        }
        table.settle();
        all.push((table.clone(), tell));
    }
    all
}

/// Runs the frames and writes down what is seen.
fn watch<const D: usize, T: Real>(subject: &Subject, tables: &[(Table<D, T>, Tell)], context: Context) -> Vec<Seen> {
    let mut run = Run::with_context(subject, context);
    run.store.set_report(Report::Both);
    let mut seen = Vec::new();
    for (number, (table, tell)) in tables.iter().enumerate() {
        let frame = table.frame(subject, *tell);
        broadphase::step(&mut *run.structure, &frame, &mut run.context, &mut run.store)
            .unwrap_or_else(|e| panic!("frame {number}: {e}"));
        let (started, ended) = (run.store.started().to_vec(), run.store.ended().to_vec());
        seen.push(Seen { list: run.store.to_vec(), started, ended, tests: run.store.tests() });
    }
    seen
}

#[track_caller]
fn assert_alike(found: &[Seen], expected: &[Seen], what: &str) {
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        let sorted = |list: &[Pair]| {
            let mut list = list.to_vec();
            list.sort_unstable();
            list
        };
        oracle::assert_same(&sorted(&found.list), &sorted(&expected.list), &format!("{what}, frame {number}, as sets"));
        let differs = found.list.iter().zip(&expected.list).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{what}, frame {number}: the lists differ from this place on");
        assert_eq!(found.tests, expected.tests, "{what}, frame {number}: tests");
        assert!(found == expected, "{what}, frame {number}: events");
    }
}

/// The pairs of every frame, by definition.
fn definition<const D: usize, T: Real>(subject: &Subject, tables: &[(Table<D, T>, Tell)]) -> Vec<Vec<Pair>> {
    tables.iter().map(|(table, tell)| oracle::pairs(&table.frame(subject, *tell))).collect()
}

fn the_list_is_the_same_for_every_isa_thread_count_and_order_of_jobs<const D: usize, T: Real>(trial: &mut Trial) {
    // The double loop runs once for all subjects that use boxes as they are.
    let plain = trial.subjects.iter().find(|subject| !subject.equal_balls);
    let shared = plain.map(|subject| definition(subject, &tables::<D, T>(subject)));
    trial.each(|subject| {
        let tables = tables::<D, T>(subject);
        let first = watch(subject, &tables, Context::new());
        let own = if subject.equal_balls { Some(definition(subject, &tables)) } else { None };
        for (seen, expected) in first.iter().zip(own.as_ref().or(shared.as_ref()).expect("one of both")) {
            let mut sorted = seen.list.clone();
            sorted.sort_unstable();
            oracle::assert_same(&sorted, expected, "the first run");
        }
        // The widest set is the default: this is a second run of the same as well.
        for isa in Isa::available() {
            let context = Context::new().with_kernels(Kernels::new(isa).expect("available"));
            assert_alike(&watch(subject, &tables, context), &first, isa.name());
        }
        for (name, context) in executors::contexts() {
            assert_alike(&watch(subject, &tables, context), &first, &name);
        }
        let narrow = Context::new().with_executor(Racing(3)).with_kernels(Kernels::new(Isa::Scalar).expect("always"));
        assert_alike(&watch(subject, &tables, narrow), &first, "3 threads that race, scalar");
    });
}

in_every_space!(the_list_is_the_same_for_every_isa_thread_count_and_order_of_jobs);
