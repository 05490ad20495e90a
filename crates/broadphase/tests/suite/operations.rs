//! Random sequences of operations against the oracle, shrunk to a small one when it fails.

use broadphase::{PairStore, Real, Report, Strength};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::data::{Layout, Random};
use crate::script::{Run, Table, Tell};
use crate::subjects::{Subject, Trial, effort, in_every_space};
use broadphase_testing::naive as oracle;

/// What happens to the objects. Counts are shares of the present slots, in 1/256.
#[derive(Clone, Copy, Debug)]
enum Act {
    Insert(u8),
    Remove(u8),
    /// To anywhere.
    Move(u8),
    /// By a small step.
    Nudge(u8),
    /// Another size at the same place.
    Resize(u8),
    /// Removed and filled again: another object in the same slot.
    Replace(u8),
    MoveAll,
    RemoveAll,
    Nothing,
    /// That many slots more, all filled.
    Grow(u8),
    /// That many slots less.
    Shrink(u8),
}

/// What is asked for after the update.
#[derive(Clone, Copy, Debug)]
enum Ask {
    /// Pairs into the usual store.
    Pairs,
    /// Nothing yet: more updates come first.
    Later,
    /// Pairs into a store of their own, behind the back of the usual one.
    Elsewhere,
    /// The usual store wants something else from now on.
    Report(Report),
}

type Step = (Act, Tell, Ask, u64);

fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        any::<u8>().prop_map(Act::Insert),
        any::<u8>().prop_map(Act::Remove),
        any::<u8>().prop_map(Act::Move),
        (0..40u8).prop_map(Act::Nudge),
        any::<u8>().prop_map(Act::Nudge),
        (0..40u8).prop_map(Act::Resize),
        (0..40u8).prop_map(Act::Replace),
        Just(Act::MoveAll),
        Just(Act::RemoveAll),
        Just(Act::Nothing),
        any::<u8>().prop_map(Act::Grow),
        any::<u8>().prop_map(Act::Shrink),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let tell = prop_oneof![3 => Just(Tell::Listed), 1 => Just(Tell::Unknown), 1 => Just(Tell::All)];
    let report = prop_oneof![Just(Report::Count), Just(Report::All), Just(Report::Delta), Just(Report::Both)];
    let ask = prop_oneof![
        6 => Just(Ask::Pairs),
        2 => Just(Ask::Later),
        1 => Just(Ask::Elsewhere),
        1 => report.prop_map(Ask::Report),
    ];
    prop::collection::vec((acts(), tell, ask, any::<u64>()), 1..14)
}

/// Mostly tiny, sometimes beyond the thresholds of the structures.
fn counts() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 0..12usize, 5 => 12..200usize, 2 => 200..500usize, 1 => 1000..1500usize]
}

/// Does one act to the table.
fn perform<const D: usize, T: Real>(subject: &Subject, table: &mut Table<D, T>, layout: Layout, act: Act, random: &mut Random) {
    let n = table.slots();
    let fresh = |random: &mut Random| {
        let mut value = [layout.draw(random, n.max(20))];
        subject.fit(&mut value);
        value[0]
    };
    // Each slot is taken with a chance of share/256, but at least one is.
    let chosen = |share: u8, live: bool, random: &mut Random| -> Vec<u32> {
        let all: Vec<u32> = (0..n as u32).filter(|&id| table.is_live(id) == live).collect();
        let some: Vec<u32> = all.iter().copied().filter(|_| random.below(256) < share as usize).collect();
        if some.is_empty() && !all.is_empty() { vec![all[random.below(all.len())]] } else { some }
    };
    match act {
        Act::Insert(share) => chosen(share, false, random).into_iter().for_each(|id| table.set(id, fresh(random))),
        Act::Remove(share) => chosen(share, true, random).into_iter().for_each(|id| table.remove(id)),
        Act::Move(share) => chosen(share, true, random).into_iter().for_each(|id| table.set(id, fresh(random))),
        Act::Nudge(share) => {
            for id in chosen(share, true, random) {
                let by = std::array::from_fn(|_| T::from_f64((random.below(5) as f64 - 2.0) * 0.25));
                let mut value = [table.boxes[id as usize].translate(by)];
                subject.fit(&mut value);
                table.set(id, value[0]);
            }
        }
        Act::Resize(share) => {
            for id in chosen(share, true, random) {
                let mut value = [table.boxes[id as usize]];
                value[0].max = value[0].min.map(|c| c + T::from_f64(random.between(0.0, 4.0)));
                subject.fit(&mut value);
                table.set(id, value[0]);
            }
        }
        Act::Replace(share) => {
            for id in chosen(share, true, random) {
                table.remove(id);
                table.set(id, fresh(random));
            }
        }
        Act::MoveAll => table.ids().into_iter().for_each(|id| table.set(id, fresh(random))),
        Act::RemoveAll => table.ids().into_iter().for_each(|id| table.remove(id)),
        Act::Nothing => {}
        Act::Grow(count) => {
            table.resize(n + count as usize);
            (n..n + count as usize).for_each(|id| table.set(id as u32, fresh(random)));
        }
        Act::Shrink(count) => table.resize(n.saturating_sub(count as usize)),
    }
}

/// Runs one sequence, checking after every step.
fn play<const D: usize, T: Real>(subject: &Subject, layout: Layout, n: usize, seed: u64, steps: &[Step]) {
    let mut boxes = layout.boxes(&mut Random(seed), n);
    subject.fit(&mut boxes);
    let mut table: Table<D, T> = Table::new(boxes);
    let mut run = Run::new(subject);
    for (number, &(act, tell, ask, seed)) in steps.iter().enumerate() {
        let what = format!("step {number} ({act:?}, {tell:?}, {ask:?})");
        perform(subject, &mut table, layout, act, &mut Random(seed));
        table.settle();
        let frame = table.frame(subject, tell);
        run.structure.update(&frame, &mut run.context).unwrap_or_else(|e| panic!("{what}: {e}"));
        run.structure.validate(&frame, Strength::Geometry).unwrap_or_else(|e| panic!("{what}: invalid: {e}"));
        let expected = oracle::pairs(&frame);
        let mut other = PairStore::new(Report::All);
        let store = match ask {
            Ask::Later => continue,
            Ask::Elsewhere => &mut other,
            Ask::Report(report) => {
                run.store.set_report(report);
                &mut run.store
            }
            Ask::Pairs => &mut run.store,
        };
        run.structure.pairs(&frame, &mut run.context, store).unwrap_or_else(|e| panic!("{what}: {e}"));
        run.structure.validate(&frame, Strength::Geometry).unwrap_or_else(|e| panic!("{what}: invalid after pairs: {e}"));
        if matches!(store.report(), Report::All | Report::Both) {
            oracle::assert_holds(store, &expected, &what);
        }
        assert_eq!(store.len(), expected.len() as u64, "{what}: the count");
        if matches!(ask, Ask::Elsewhere) {
            continue;
        }
        if store.report().delta() {
            oracle::assert_events(store, &run.last, &expected, &what);
        }
        // A store that only counts has no pairs to compare the next frame with.
        run.last = if store.report() == Report::Count { Vec::new() } else { expected };
    }
}

/// Inserts, removes, moves, resizes, bulk changes, growing and shrinking tables; changes listed, unknown or all; several updates
/// before one detection; other stores and other wants in between.
fn random_operations_follow_the_oracle<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let config =
            Config { cases: 24 * effort() as u32, max_shrink_iters: 300, failure_persistence: None, ..Config::default() };
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[D as u8; 32]);
        let mut runner = TestRunner::new_with_rng(config, random);
        let layouts = prop::sample::select(&Layout::ALL[..]);
        let result = runner.run(&(layouts, counts(), any::<u64>(), steps()), |(layout, n, seed, steps)| {
            let played =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| play::<D, T>(subject, layout, n, seed, &steps)));
            played.map_err(|panic| TestCaseError::fail(panic_text(&*panic)))
        });
        if let Err(TestError::Fail(reason, (layout, n, seed, steps))) = result {
            panic!("{reason}\n  smallest failing sequence: {layout:?}, n = {n}, seed = {seed}, steps = {steps:?}");
        }
    });
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string())).unwrap_or_default()
}

in_every_space!(random_operations_follow_the_oracle);
