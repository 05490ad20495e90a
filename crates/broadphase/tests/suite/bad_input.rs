//! Bad input gets a typed error that names object and axis, and the structure is as it was.

use broadphase::{BoxFault, Changes, Error, Frame, Live, PairStore, Real, Report, Shape, Strength, Tag};

use crate::data::{Layout, Random};
use crate::script::Run;
use crate::subjects::{Subject, Trial, in_every_space};
use broadphase_testing::naive as oracle;

const N: usize = 200;

/// A structure with one good frame taken in, beside the boxes of that frame.
fn settled<const D: usize, T: Real>(subject: &Subject) -> (Run<D, T>, Vec<broadphase::Aabb<D, T>>) {
    let mut boxes = Layout::Lattice.boxes(&mut Random(31), N);
    subject.fit(&mut boxes);
    let mut run = Run::new(subject);
    run.step(&subject.frame(&boxes), "the good frame");
    (run, boxes)
}

/// Checks that the rejected frame left no trace: the old frame is valid, and gives its pairs into the old store and into a new one.
#[track_caller]
fn assert_unchanged<const D: usize, T: Real>(run: &mut Run<D, T>, old: &Frame<'_, D, T>, what: &str) {
    run.structure.validate(old, Strength::Geometry).unwrap_or_else(|e| panic!("{what}: invalid afterwards: {e}"));
    let mut fresh = PairStore::new(Report::All);
    for store in [&mut run.store, &mut fresh] {
        run.structure.pairs(old, &mut run.context, store).unwrap_or_else(|e| panic!("{what}: {e}"));
        oracle::assert_holds(store, &run.last, what);
    }
    assert!(run.store.started().is_empty() && run.store.ended().is_empty(), "{what}: events without a change");
}

/// NaN and `min > max` at the first, a middle and the last object, on every axis, however the changes are given.
fn an_invalid_box_is_refused_with_object_and_axis<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let (mut run, boxes) = settled::<D, T>(subject);
        for index in [0, N / 2, N - 1] {
            for (axis, fault) in (0..D).flat_map(|k| [(k, BoxFault::NotANumber), (k, BoxFault::MinAboveMax)]) {
                let mut bad = boxes.clone();
                if fault == BoxFault::NotANumber {
                    let corner = if index == 0 { &mut bad[index].min } else { &mut bad[index].max };
                    corner[axis] = T::NAN;
                } else {
                    bad[index].min[axis] = bad[index].max[axis] + T::ONE;
                }
                let moved = [3, index as u32, 5];
                let listed = Changes::Listed { moved: &moved, inserted: &[], removed: &[] };
                for changes in [Changes::All, Changes::Unknown, listed] {
                    let what = format!("object {index}, axis {axis}, {fault:?}, {changes:?}");
                    let error = run.structure.update(&subject.frame(&bad).with_changes(changes), &mut run.context);
                    assert_eq!(error, Err(Error::InvalidBox { index: Some(index), axis, fault }), "{what}");
                    assert_unchanged(&mut run, &subject.frame(&boxes), &what);
                }
            }
        }
        follow_up(subject, &mut run, boxes);
    });
}

/// After the refusals, a good frame with listed changes goes on from the old one.
#[track_caller]
fn follow_up<const D: usize, T: Real>(subject: &Subject, run: &mut Run<D, T>, mut boxes: Vec<broadphase::Aabb<D, T>>) {
    let moved = [0, 7, 90];
    for id in moved {
        boxes[id as usize] = boxes[id as usize + 1];
    }
    let changes = Changes::Listed { moved: &moved, inserted: &[], removed: &[] };
    run.step(&subject.frame(&boxes).with_changes(changes), "the frame after the rejected ones");
}

/// The bad box comes with a change of the table's length, as an insertion or as part of a frame that is new altogether.
fn an_invalid_box_in_a_longer_or_shorter_table_is_refused<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let (mut run, boxes) = settled::<D, T>(subject);
        let mut longer = boxes.clone();
        longer.extend_from_slice(&boxes[..40]);
        longer[N + 20].max[D - 1] = T::NAN;
        let mut shorter = boxes[..N / 2].to_vec();
        shorter[1].min[0] = T::NAN;
        let inserted: Vec<u32> = (N as u32..N as u32 + 40).collect();
        let cut: Vec<u32> = (N as u32 / 2..N as u32).collect();
        let cases = [
            (&longer, Changes::Listed { moved: &[], inserted: &inserted, removed: &[] }, N + 20, D - 1),
            (&longer, Changes::Unknown, N + 20, D - 1),
            (&longer, Changes::All, N + 20, D - 1),
            (&shorter, Changes::Listed { moved: &[1], inserted: &[], removed: &cut }, 1, 0),
            (&shorter, Changes::Unknown, 1, 0),
            (&shorter, Changes::All, 1, 0),
        ];
        for (bad, changes, index, axis) in cases {
            let what = format!("{} slots, {changes:?}", bad.len());
            let error = run.structure.update(&subject.frame(bad).with_changes(changes), &mut run.context);
            assert_eq!(error, Err(Error::InvalidBox { index: Some(index), axis, fault: BoxFault::NotANumber }), "{what}");
            assert_unchanged(&mut run, &subject.frame(&boxes), &what);
        }
        follow_up(subject, &mut run, boxes);
    });
}

/// Lists that name slots beyond the table, dead slots as moved, live slots as removed; too few tags.
fn lists_that_do_not_fit_are_refused_with_the_slot<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let (mut run, boxes) = settled::<D, T>(subject);
        let mut words = [!0u64; N.div_ceil(64)];
        words[0] &= !(1 << 9);
        let holes = Live::Bits(&words);
        let tags = [Tag::default(); N - 1];
        let base = subject.frame(&boxes);
        const BEYOND: u32 = N as u32 + 3;
        let listed = |moved, inserted, removed| Changes::Listed { moved, inserted, removed };
        let cases = [
            (Frame { changes: listed(&[1, BEYOND], &[], &[]), ..base }, BEYOND),
            (Frame { changes: listed(&[], &[BEYOND], &[]), ..base }, BEYOND),
            (Frame { changes: listed(&[9], &[], &[]), live: holes, ..base }, 9),
            (Frame { changes: listed(&[], &[9], &[]), live: holes, ..base }, 9),
            (Frame { changes: listed(&[], &[], &[8]), live: holes, ..base }, 8),
            (Frame { tags: Some(&tags), ..base }, N as u32 - 1),
        ];
        for (bad, slot) in cases {
            let error = run.structure.update(&bad, &mut run.context).expect_err("the frame does not fit");
            assert!(matches!(error, Error::InvalidFrame { index, .. } if index == slot as usize), "slot {slot}: {error}");
            assert_unchanged(&mut run, &base, &format!("slot {slot}"));
        }
        follow_up(subject, &mut run, boxes);
    });
}

/// An algorithm for equal balls says so when it gets something else; every other one takes both shapes.
fn what_does_not_suit_is_refused_and_what_suits_is_taken<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let (mut run, boxes) = settled::<D, T>(subject);
        let name = subject.spec.descriptor().name;
        let unequal = Layout::Smooth.boxes::<D, T>(&mut Random(32), N);
        for (boxes_in, shape) in [(&unequal, Shape::Ball), (&boxes, Shape::Box)] {
            let frame = Frame { shape, changes: Changes::All, ..Frame::new(boxes_in) };
            let result = run.structure.clone().update(&frame, &mut run.context);
            if subject.equal_balls {
                assert!(matches!(result, Err(Error::Unsuited { algorithm, .. }) if algorithm == name), "{shape:?}: {result:?}");
            } else {
                assert_eq!(result, Ok(()), "{shape:?}");
            }
        }
        assert_unchanged(&mut run, &subject.frame(&boxes), "after the unsuited frames");
    });
}

in_every_space!(
    an_invalid_box_is_refused_with_object_and_axis,
    an_invalid_box_in_a_longer_or_shorter_table_is_refused,
    lists_that_do_not_fit_are_refused_with_the_slot,
    what_does_not_suit_is_refused_and_what_suits_is_taken,
);
