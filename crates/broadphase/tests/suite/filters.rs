//! Tags, balls, closures, counts and limits: what stands between an overlap and a pair.

use broadphase::{Changes, Error, Filter, Frame, Pair, PairStore, Real, Report, Retain, Shape, Tag, step};

use crate::data::{Layout, Random};
use crate::script::Run;
use crate::subjects::{Subject, Trial, in_every_space};
use broadphase_testing::naive as oracle;

const N: usize = 300;

fn boxes<const D: usize, T: Real>(subject: &Subject, random: &mut Random) -> Vec<broadphase::Aabb<D, T>> {
    let mut boxes = Layout::Lattice.boxes(random, N);
    subject.fit(&mut boxes);
    boxes
}

fn random_tag(random: &mut Random) -> Tag {
    let bits = |random: &mut Random| 1u32 << random.below(3) | 1 << random.below(3);
    let tag = Tag::new(bits(random), bits(random));
    tag.with_group(random.below(8) as u32).with_env(random.below(3) as u32)
}

/// Tags decide, and an object whose tag changed counts as moved; an unknown change may be one of tags.
fn tags_decide_and_may_change<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let mut random = Random(51);
        let boxes = boxes::<D, T>(subject, &mut random);
        let mut tags: Vec<Tag> = (0..N).map(|_| random_tag(&mut random)).collect();
        let mut run = Run::new(subject);
        run.step(&Frame { tags: Some(&tags), ..subject.frame(&boxes) }, "the first frame");
        assert!(run.last.len() < oracle::pairs(&subject.frame(&boxes)).len(), "the tags forbid something");
        let moved: Vec<u32> = (0..N as u32).step_by(11).collect();
        moved.iter().for_each(|&id| tags[id as usize] = random_tag(&mut random));
        let listed = Changes::Listed { moved: &moved, inserted: &[], removed: &[] };
        run.step(&Frame { tags: Some(&tags), changes: listed, ..subject.frame(&boxes) }, "some tags changed, listed");
        tags.iter_mut().for_each(|tag| *tag = random_tag(&mut random));
        run.step(&Frame { tags: Some(&tags), ..subject.frame(&boxes) }, "all tags changed, unknown");
        run.step(&Frame { changes: Changes::All, ..subject.frame(&boxes) }, "no tags any more");
    });
}

/// The shape decides, and may change from frame to frame.
fn balls_decide_and_the_shape_may_change<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let mut random = Random(52);
        let boxes = boxes::<D, T>(subject, &mut random);
        let nothing = Changes::Listed { moved: &[], inserted: &[], removed: &[] };
        let mut run = Run::new(subject);
        run.step(&Frame { shape: Shape::Ball, ..Frame::new(&boxes) }, "balls");
        if !subject.equal_balls {
            run.step(&Frame { changes: nothing, ..Frame::new(&boxes) }, "boxes again");
            run.step(&Frame { shape: Shape::Ball, changes: nothing, ..Frame::new(&boxes) }, "balls again");
        }
    });
}

/// A closure has the last word.
fn a_closure_has_the_last_word<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let mut random = Random(53);
        let mut boxes = boxes::<D, T>(subject, &mut random);
        let wanted = |pair: Pair| !(pair.a + pair.b).is_multiple_of(3);
        let filter = |pairs: &mut Retain<'_>| pairs.retain(wanted);
        let mut run = Run::new(subject);
        for round in 0..3 {
            let moved: Vec<u32> = (round..N as u32).step_by(17).collect();
            for &id in &moved {
                let mut value = [Layout::Lattice.draw(&mut random, N)];
                subject.fit(&mut value);
                boxes[id as usize] = value[0];
            }
            let listed = Changes::Listed { moved: &moved, inserted: &[], removed: &[] };
            let changes = if round == 0 { Changes::Unknown } else { listed };
            let frame = Frame { filter: Some(&filter), changes, ..subject.frame(&boxes) };
            let mut expected = oracle::pairs(&frame);
            expected.retain(|&pair| wanted(pair));
            run.step_expecting(&frame, &expected, &format!("round {round}"));
        }
    });
}

/// `Report::Count` counts what `Report::All` lists, and keeps no list.
fn a_count_is_the_length_of_the_list<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let boxes = boxes::<D, T>(subject, &mut Random(54));
        let frame = subject.frame(&boxes);
        let expected = oracle::pairs(&frame);
        let mut run = Run::new(subject);
        for report in [Report::Count, Report::All, Report::Count, Report::Delta, Report::Both] {
            run.store.set_report(report);
            step(&mut *run.structure, &frame, &mut run.context, &mut run.store).unwrap();
            assert_eq!(run.store.len(), expected.len() as u64, "{report:?}");
            assert!(report != Report::Count || run.store.to_vec().is_empty(), "a count keeps a list");
        }
    });
}

/// More pairs than the limit are an error that names it; nothing is dropped silently, and the next frame is right.
fn a_pair_limit_is_an_error_and_then_forgotten<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let mut random = Random(55);
        let sparse = boxes::<D, T>(subject, &mut random);
        let dense = vec![sparse[0]; N];
        let mut run = Run::new(subject);
        run.step(&subject.frame(&sparse), "before");
        for (report, limit) in [(Report::Both, 700), (Report::All, 5), (Report::Both, 0)] {
            let mut store = PairStore::new(report);
            for store in [&mut run.store, &mut store] {
                store.set_limit(limit);
                let result = step(&mut *run.structure, &subject.frame(&dense), &mut run.context, store);
                assert_eq!(result, Err(Error::TooManyPairs { limit }));
                store.set_limit(PairStore::DEFAULT_LIMIT);
            }
        }
        run.step(&subject.frame(&dense), "after, against the last good frame");
        run.step(&subject.frame(&sparse), "back again");
    });
}

/// What a closure removes does not count, however many boxes overlap; and a number of pairs has the limit of a list.
fn a_pair_limit_counts_what_the_closure_leaves<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let sparse = boxes::<D, T>(subject, &mut Random(56));
        let dense = vec![sparse[0]; N];
        let few = |fresh: &mut Retain<'_>| fresh.retain(|pair| pair.a + pair.b < 10);
        let none = |fresh: &mut Retain<'_>| fresh.retain(|_| false);
        for report in [Report::Both, Report::Count] {
            let mut run = Run::new(subject);
            run.store.set_report(report);
            let mut count = |filter: Filter<'_>, limit: u64| {
                run.store.set_limit(limit);
                let frame = Frame { filter: Some(filter), ..subject.frame(&dense) };
                step(&mut *run.structure, &frame, &mut run.context, &mut run.store).map(|()| run.store.len())
            };
            assert_eq!(count(&none, 0), Ok(0), "{report:?}");
            assert_eq!(count(&few, 25), Ok(25), "{report:?}");
            assert_eq!(count(&few, 24), Err(Error::TooManyPairs { limit: 24 }), "{report:?}");
        }
    });
}

in_every_space!(
    a_pair_limit_counts_what_the_closure_leaves,
    tags_decide_and_may_change,
    balls_decide_and_the_shape_may_change,
    a_closure_has_the_last_word,
    a_count_is_the_length_of_the_list,
    a_pair_limit_is_an_error_and_then_forgotten,
);
