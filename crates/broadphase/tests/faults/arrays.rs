//! One-shot calls.

use super::{boxes, contexts, for_each_refusal, naive, survives};
use broadphase::{Pair, Search, pairs, pairs_between};

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
