//! Results that are not one list: visitors and pieces.

use std::ops::ControlFlow;

use broadphase::{Aabb, Error, Real, Search, Shape};

use crate::for_all_kinds;
use crate::naive::{self, boxes};

fn streams<const D: usize, T: Real>() {
    for count in [0, 1, 60, 900] {
        let list = boxes::<D, T>(count, 10.0, 3.0, 8);
        for shape in [Shape::Box, Shape::Ball] {
            let search = Search::new(&list).shape(shape).filter(|pair| pair.b % 5 != 0);
            let expected = search.list().unwrap();
            let mut visited = Vec::new();
            let mut visit = |pairs: &[_]| {
                assert!((1..=16_384).contains(&pairs.len()));
                visited.extend_from_slice(pairs);
                ControlFlow::Continue(())
            };
            search.visit(&mut visit).unwrap();
            visited.sort_unstable();
            assert_eq!(visited, expected);
            for size in [1, 7, 1000, usize::MAX] {
                let pieces: Vec<_> = search.chunks(size).unwrap().collect::<Result<_, _>>().unwrap();
                assert_eq!(pieces.concat(), expected, "pieces of {size}");
                let full = pieces.split_last().is_none_or(|(_, full)| full.iter().all(|piece| piece.len() == size));
                assert!(full, "all pieces but the last one have {size} pairs");
            }
            let two = Search::between(&list, &list).shape(shape);
            let pieces: Vec<_> = two.chunks(50).unwrap().collect::<Result<_, _>>().unwrap();
            assert_eq!(pieces.concat(), two.list().unwrap());
            let mut visited = Vec::new();
            two.visit(|pairs| {
                visited.extend_from_slice(pairs);
                ControlFlow::Continue(())
            })
            .unwrap();
            assert_eq!(visited, two.list().unwrap());
        }
    }
}

#[test]
fn visitors_and_pieces_get_what_the_list_has() {
    for_all_kinds!(streams);
}

#[test]
fn a_visitor_stops_the_search_and_a_limit_is_an_error() {
    let list = vec![Aabb::new([0.0f32; 2], [1.0; 2]); 2000];
    let mut calls = 0;
    let search = Search::new(&list);
    search
        .visit(|_| {
            calls += 1;
            ControlFlow::Break(())
        })
        .unwrap();
    assert_eq!(calls, 1);
    let mut count = 0;
    let result = search.clone().limit(100_000).visit(|pairs| {
        count += pairs.len();
        ControlFlow::Continue(())
    });
    assert_eq!(result, Err(Error::TooManyPairs { limit: 100_000 }));
    assert!(count <= 100_000);
    let mut pieces = search.limit(100_000).chunks(60_000).unwrap();
    assert_eq!(pieces.next().unwrap().unwrap().len(), 60_000);
    assert_eq!(pieces.next(), Some(Err(Error::TooManyPairs { limit: 100_000 })));
    assert_eq!(pieces.next(), None);
}

/// Memory is measured where it is asked for: the largest list that a piece or a slice makes, of millions of pairs.
#[test]
fn pieces_stay_small_where_one_object_has_most_pairs() {
    let mut list = boxes::<2, f64>(5000, 3000.0, 1.0, 2);
    list[2500] = Aabb::everything();
    let expected = naive::pairs(list.len(), |a, b| list[a].overlaps(&list[b]));
    let mut found = Vec::new();
    for piece in Search::new(&list).chunks(64).unwrap() {
        let piece = piece.unwrap();
        assert!(piece.len() <= 64);
        found.extend(piece);
    }
    assert_eq!(found, expected);
}

/// More pairs than are found at once: objects are looked up one by one.
#[test]
fn millions_of_pairs_come_in_sorted_pieces() {
    let list = vec![Aabb::new([0.0f32; 2], [1.0; 2]); 3000];
    let mut next = broadphase::Pair { a: 0, b: 1 };
    let mut count = 0;
    for piece in Search::new(&list).chunks(1_000_000).unwrap() {
        let piece = piece.unwrap();
        assert!(piece.len() <= 1_000_000);
        count += piece.len();
        for pair in piece {
            assert_eq!(pair, next);
            next = if next.b < 2999 {
                broadphase::Pair { b: next.b + 1, ..next }
            } else {
                broadphase::Pair { a: next.a + 1, b: next.a + 2 }
            };
        }
    }
    assert_eq!(count, 3000 * 2999 / 2);
}
