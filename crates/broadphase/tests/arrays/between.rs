//! Two lists that move from frame to frame.

use broadphase::{Aabb, Between, Context, Error, Pair, Real, Threads};

use crate::for_all_kinds;
use crate::naive::{self, Random, boxes};

fn follow<const D: usize, T: Real>() {
    let mut random = Random(77);
    let threads = Context::new().with_executor(Threads::new(2).unwrap());
    for (spec, context) in [("auto", Context::new()), ("tiles", threads), ("kd-tree", Context::new())] {
        let mut between = Between::<D, T>::with(&spec.parse().unwrap(), context).unwrap();
        let (mut a, mut b) = (boxes::<D, T>(300, 10.0, 2.0, 1), boxes::<D, T>(500, 10.0, 2.0, 2));
        let mut last: Vec<Pair> = Vec::new();
        for frame in 0..24 {
            // All move, none, a few of the first, a few of the second; lists grow and shrink.
            let (share_a, share_b) = [(1.0, 1.0), (0.0, 0.0), (0.1, 0.0), (0.0, 0.1), (0.9, 0.0)][frame % 5];
            for (list, share) in [(&mut a, share_a), (&mut b, share_b)] {
                for value in list.iter_mut() {
                    if random.unit() < share {
                        *value = value.translate(std::array::from_fn(|_| T::from_f64(random.unit() - 0.5)));
                    }
                }
            }
            match frame % 7 {
                3 => a.truncate(250 + random.below(40)),
                5 => a.extend(boxes::<D, T>(30, 10.0, 2.0, frame as u64)),
                6 => b.truncate(b.len() - 20),
                _ => {}
            }
            between.update(&a, &b).unwrap();
            let expected = naive::pairs_between(a.len(), b.len(), |x, y| a[x].overlaps(&b[y]));
            let mut listed = Vec::new();
            between.for_each_chunk(|pairs| listed.extend_from_slice(pairs));
            listed.sort_unstable();
            assert_eq!((&listed, between.len()), (&expected, expected.len() as u64), "{spec}, frame {frame}");
            if frame % 3 != 1 {
                assert_eq!(between.pairs(), expected, "{spec}, frame {frame}"); // in the other frames, nothing is sorted for the caller
            }
            let only = |list: &[Pair], other: &[Pair]| -> Vec<Pair> {
                list.iter().filter(|pair| other.binary_search(pair).is_err()).copied().collect()
            };
            assert_eq!(between.started(), only(&expected, &last), "{spec}, frame {frame}");
            assert_eq!(between.ended(), only(&last, &expected), "{spec}, frame {frame}");
            last = expected;
        }
    }
}

#[test]
fn pairs_and_events_follow_two_moving_lists() {
    for_all_kinds!(follow);
}

#[test]
fn without_events_the_pairs_are_the_same_and_events_begin_again_with_the_next_frame() {
    let a = boxes::<2, f32>(200, 8.0, 2.0, 1);
    let mut b = boxes::<2, f32>(200, 8.0, 2.0, 2);
    let mut between = Between::new().unwrap();
    let (mut last, mut still) = (Vec::new(), false);
    for frame in 0..12 {
        between.set_events(frame % 4 > 1);
        if !still {
            b.iter_mut().for_each(|value| *value = value.translate([0.3, 0.0]));
        }
        still = frame % 5 > 2;
        between.update(&a, &b).unwrap();
        let expected = naive::pairs_between(200, 200, |x, y| a[x].overlaps(&b[y]));
        assert_eq!(between.pairs(), expected, "frame {frame}");
        let only = |list: &[Pair], other: &[Pair]| -> Vec<Pair> {
            list.iter().filter(|pair| frame % 4 > 1 && other.binary_search(pair).is_err()).copied().collect()
        };
        assert_eq!(
            (between.started(), between.ended()),
            (&only(&expected, &last)[..], &only(&last, &expected)[..]),
            "frame {frame}"
        );
        last = expected;
    }
}

#[test]
fn after_an_error_events_are_against_the_last_good_frame() {
    let (a, b) = (boxes::<2, f32>(100, 6.0, 2.0, 1), boxes::<2, f32>(100, 6.0, 2.0, 2));
    let mut between = Between::new().unwrap();
    between.update(&a, &b).unwrap();
    let before = between.pairs().to_vec();
    let mut bad = b.clone();
    bad[7].min[0] = f32::NAN;
    let error = between.update(&a, &bad).unwrap_err();
    assert_eq!((error.argument(), error.index(), error.axis()), (Some("b"), Some(7), Some(0)));
    let error = between.update(&bad, &b).unwrap_err();
    assert_eq!((error.argument(), error.index()), (Some("a"), Some(7)));
    assert_eq!(between.pairs(), before);

    between.set_limit(3);
    let moved: Vec<_> = b.iter().map(|value| value.translate([0.5, 0.0])).collect();
    assert_eq!(between.update(&a, &moved), Err(Error::TooManyPairs { limit: 3 }));
    assert_eq!(between.pairs(), before);
    between.set_limit(1_000_000);
    between.update(&a, &b).unwrap();
    assert_eq!((between.pairs(), between.started().len(), between.ended().len()), (&before[..], 0, 0));
    between.update(&a, &moved).unwrap();
    assert_eq!(between.pairs(), naive::pairs_between(100, 100, |x, y| a[x].overlaps(&moved[y])));
}

#[test]
fn a_filter_whose_decisions_change_ends_and_starts_pairs() {
    let a = [Aabb::new([0.0, 0.0], [1.0, 1.0])];
    let b = [a[0], a[0]];
    let mut between = Between::new().unwrap();
    between.update_filtered(&a, &b, |pair| pair.b == 0).unwrap();
    assert_eq!(between.pairs(), [Pair { a: 0, b: 0 }]);
    between.update_filtered(&a, &b, |pair| pair.b == 1).unwrap();
    assert_eq!((between.started(), between.ended()), (&[Pair { a: 0, b: 1 }][..], &[Pair { a: 0, b: 0 }][..]));
    between.update(&a, &b).unwrap();
    assert_eq!(between.pairs().len(), 2);
}

/// 6,000,000 pairs of boxes at one place, of which a filter keeps one in 3,000: too many to hold at once before they are filtered.
#[test]
fn pairs_that_a_filter_rejects_do_not_count_toward_the_limit() {
    let boxes = vec![Aabb::new([0.0f32; 2], [1.0; 2]); 3000];
    let (a, b) = (&boxes[..2000], &boxes[..]);
    let same = |pair: Pair| pair.a == pair.b;
    let mut between = Between::new().unwrap();
    between.set_limit(2000);
    between.update_filtered(a, b, same).unwrap();
    assert!(between.pairs().iter().copied().eq((0..2000).map(|k| Pair { a: k, b: k })));
    between.set_limit(1999);
    assert_eq!(between.update_filtered(a, b, same), Err(Error::TooManyPairs { limit: 1999 }));
    assert_eq!((between.pairs().len(), between.started().len()), (2000, 2000), "those of the last frame");
}
