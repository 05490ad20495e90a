//! The long run: nothing changed costs nothing, memory reaches a plateau, and a copy goes on as the original does.

use broadphase::{PairStore, Real, Report, Strength, step};

use crate::data::{Layout, Random};
use crate::script::{Run, Table, Tell};
use crate::subjects::{Subject, Trial, in_every_space};
use broadphase_testing::naive as oracle;

/// A table of `n` objects that suit the subject.
fn table<const D: usize, T: Real>(subject: &Subject, random: &mut Random, n: usize) -> Table<D, T> {
    let mut boxes = Layout::Smooth.boxes(random, n);
    subject.fit(&mut boxes);
    let mut table = Table::new(boxes);
    table.settle();
    table
}

/// One object in ten leaves, as many come into other slots, and as many move: the number of objects stays what it is.
fn churn<const D: usize, T: Real>(subject: &Subject, table: &mut Table<D, T>, random: &mut Random) {
    let n = table.slots();
    let fresh = |random: &mut Random| {
        let mut value = [Layout::Smooth.draw(random, n)];
        subject.fit(&mut value);
        value[0]
    };
    let (live, empty): (Vec<u32>, Vec<u32>) = (0..n as u32).partition(|&id| table.is_live(id));
    for _ in 0..live.len().div_ceil(10) {
        table.set(live[random.below(live.len())], fresh(random));
    }
    let leaving = n.div_ceil(10).min(live.len());
    (0..leaving).for_each(|k| table.remove(live[k * live.len() / leaving]));
    empty.into_iter().for_each(|id| table.set(id, fresh(random)));
    table.settle();
}

/// A frame in which nothing changed makes no test, and its list is the last one.
fn an_update_that_changes_nothing_makes_no_test<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let mut random = Random(81);
        for n in [5, 90, 1300] {
            let mut table = table::<D, T>(subject, &mut random, n);
            let mut run = Run::new(subject);
            run.step(&table.frame(subject, Tell::All), "the first frame");
            table.settle();
            run.step(&table.frame(subject, Tell::Listed), "the first frame again");
            assert_eq!(run.store.tests(), 0, "tests of the first frame again, n = {n}");
            churn(subject, &mut table, &mut random);
            run.step(&table.frame(subject, Tell::Listed), "a changed frame");
            let list = run.store.to_vec();
            for again in 0..2 {
                table.settle();
                run.step(&table.frame(subject, Tell::Listed), "an unchanged frame");
                assert_eq!(run.store.tests(), 0, "tests of unchanged frame {again}, n = {n}");
                assert!(run.store.to_vec() == list, "the list of unchanged frame {again}, n = {n}");
            }
        }
    });
}

/// A buffer may double once more, late; four bytes lost with each of the 8,000 later insertions are more than this.
const SLACK: usize = 24 << 10;

/// One object in ten leaves, one comes and one moves, 300 frames long: what is held after 100 frames is nearly all.
fn memory_reaches_a_plateau_under_churn<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let mut random = Random(82);
        let mut table = table::<D, T>(subject, &mut random, 400);
        let mut run = Run::new(subject);
        let mut early = 0;
        for frame in 0..300 {
            churn(subject, &mut table, &mut random);
            let frame_now = table.frame(subject, Tell::Listed);
            step(&mut *run.structure, &frame_now, &mut run.context, &mut run.store).unwrap();
            let bytes = run.structure.stats().bytes;
            assert!(bytes > 0, "a structure that holds objects holds bytes");
            if frame < 100 {
                early = early.max(bytes);
            }
            let plateau = (early * 11 / 10).max(early + SLACK);
            assert!(bytes <= plateau, "frame {frame}: {bytes} bytes, but at most {early} in the first 100");
        }
        run.last = oracle::pairs(&table.frame(subject, Tell::Listed));
        oracle::assert_holds(&run.store, &run.last, "the last frame");
    });
}

/// A copy of structure and store goes on exactly as they do, and neither disturbs the other.
fn a_copy_goes_on_as_the_original_does<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let mut random = Random(83);
        let mut table = table::<D, T>(subject, &mut random, 700);
        let mut run = Run::new(subject);
        for (round, tell) in [Tell::All, Tell::Listed, Tell::Unknown, Tell::Listed].into_iter().enumerate() {
            run.step(&table.frame(subject, tell), &format!("round {round}"));
            churn(subject, &mut table, &mut random);
        }
        let mut copy = Run {
            structure: run.structure.boxed_clone(),
            context: run.context.clone(),
            store: run.store.clone(),
            last: run.last.clone(),
        };
        for (round, tell) in [Tell::Listed, Tell::Unknown, Tell::Listed].into_iter().enumerate() {
            let frame = table.frame(subject, tell);
            run.step(&frame, &format!("the original, round {round}"));
            copy.step(&frame, &format!("the copy, round {round}"));
            assert!(run.store.to_vec() == copy.store.to_vec(), "round {round}: the lists differ");
            assert_eq!(run.store.tests(), copy.store.tests(), "round {round}: tests");
            churn(subject, &mut table, &mut random);
        }
        // The copy goes elsewhere; the original does not notice.
        let mut emptied = table.clone();
        emptied.resize(0);
        emptied.settle();
        copy.step(&emptied.frame(subject, Tell::Listed), "the copy, emptied");
        run.step(&table.frame(subject, Tell::Listed), "the original, after the copy went elsewhere");
    });
}

/// Before the first update, a structure is empty and says so.
fn a_new_structure_is_empty_and_valid<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let mut run = Run::<D, T>::new(subject);
        let frame = subject.frame(&[]);
        run.structure.validate(&frame, Strength::Geometry).unwrap();
        let mut store = PairStore::new(Report::All);
        run.structure.pairs(&frame, &mut run.context, &mut store).unwrap();
        assert!(store.is_empty());
        run.step(&frame, "an empty frame");
    });
}

in_every_space!(
    an_update_that_changes_nothing_makes_no_test,
    memory_reaches_a_plateau_under_churn,
    a_copy_goes_on_as_the_original_does,
    a_new_structure_is_empty_and_valid,
);
