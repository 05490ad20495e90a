//! One-shot calls.

use super::{boxes, contexts, for_each_refusal, naive, survives};
use broadphase::{Pair, Period, Search, Shape, Tag, pairs, pairs_between};

#[test]
fn every_refused_allocation_of_a_one_shot_call_is_a_typed_error() {
    contexts();
    for count in [40, 900, 5000] {
        let list = boxes(count, 0.0);
        let expected: Vec<Pair> = naive(&list, |_| true).into_iter().collect();
        let refused = for_each_refusal(|refusal| {
            if let Some(found) = survives(refusal, || pairs(&list)) {
                assert!(found == expected, "{count} objects, {refusal:?}");
            }
        });
        assert!(refused > 10, "{refused} of {count} objects");
        for_each_refusal(|refusal| {
            if let Some(found) = survives(refusal, || Search::new(&list).margin(0.0).count()) {
                assert_eq!(found, expected.len() as u64);
            }
        });
    }
}

#[test]
fn every_refused_allocation_of_two_lists_is_a_typed_error() {
    for (few, many) in [(30, 50), (300, 2500), (3000, 3000)] {
        let (a, b) = (boxes(few, 0.0), boxes(many, 7.0));
        let mut expected = Vec::new();
        for (index, own) in a.iter().enumerate() {
            let others = b.iter().enumerate().filter(|(_, other)| own.overlaps(other));
            expected.extend(others.map(|(other, _)| Pair { a: index as u32, b: other as u32 }));
        }
        let refused = for_each_refusal(|refusal| {
            if let Some(found) = survives(refusal, || pairs_between(&a, &b)) {
                assert!(found == expected, "{few} and {many} objects, {refusal:?}");
            }
        });
        assert!(refused > 10, "{refused} of {few} and {many} objects");
    }
}

fn sorted(mut list: Vec<Pair>) -> Vec<Pair> {
    list.sort_unstable();
    list
}

#[test]
fn every_refused_allocation_of_a_search_with_options_is_a_typed_error() {
    contexts();
    let list = boxes(900, 0.0);
    let side = 900f32.cbrt() * 1.2;
    let tags: Vec<Tag> = (0..900).map(|id| Tag::new(1 << (id % 3), if id % 7 == 0 { 1 } else { u32::MAX })).collect();
    let (points, few): (Vec<[f32; 3]>, _) = (list.iter().map(|value| value.min).collect(), boxes(300, 5.0));
    let space = Period::new([side; 3]);
    let searches: [(&str, Search<'_, 3, f32>); 7] = [
        ("a period", Search::new(&list).periodic(space).tags(&tags)),
        ("a period, balls, not sorted", Search::new(&list).periodic(space).shape(Shape::Ball).sort(false)),
        ("half-open", Search::new(&list).half_open().tags(&tags)),
        ("an owned list", Search::new(list.clone()).margin(0.1)),
        ("points", Search::points(&points).margin(0.6).shape(Shape::Ball)),
        ("two lists in a period", Search::between(&list, &few).periodic(space)),
        ("two lists with tags", Search::between(&few, &list).tags_b(&tags)),
    ];
    let mut all = Vec::with_capacity(20_000); // the test's own, so it is never refused
    for (what, search) in &searches {
        let expected = sorted(search.list().expect("nothing is refused"));
        assert!(expected.len() > 100 && expected.len() < 20_000, "{what}: {} pairs", expected.len());
        let refused = for_each_refusal(|refusal| {
            if let Some(found) = survives(refusal, || search.list()) {
                assert!(sorted(found) == expected, "{what}, {refusal:?}");
            }
        });
        assert!(refused > 5, "{what}: {refused} refused");
        for_each_refusal(|refusal| {
            all.clear();
            let in_pieces = || search.chunks(700)?.try_for_each(|piece| piece.map(|piece| all.extend(piece)));
            if survives(refusal, in_pieces).is_some() {
                all.sort_unstable();
                assert!(all == expected, "{what} in pieces, {refusal:?}");
            }
        });
    }
}
