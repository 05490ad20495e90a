//! The definition of a right answer: a double loop that shares no code with the library, and comparisons that say what differs.

use broadphase::{Aabb, Ball, Frame, Pair, PairStore, Real, Shape};

/// All pairs of boxes whose slots are `live`, sorted.
pub fn pairs_of<const D: usize, T: Real>(boxes: &[Aabb<D, T>], live: impl Fn(u32) -> bool) -> Vec<Pair> {
    let n = boxes.len() as u32;
    let all = (0..n).flat_map(|a| (a + 1..n).map(move |b| Pair { a, b }));
    all.filter(|p| live(p.a) && live(p.b) && touch(&boxes[p.a as usize], &boxes[p.b as usize])).collect()
}

/// All pairs of the frame, by definition, sorted. The filter closure is not called.
pub fn pairs<const D: usize, T: Real>(frame: &Frame<'_, D, T>) -> Vec<Pair> {
    let ids: Vec<u32> = frame.ids().collect();
    let mut found = Vec::new();
    for (at, &a) in ids.iter().enumerate() {
        for &b in &ids[at + 1..] {
            if meet(frame, a, b) {
                found.push(Pair { a, b });
            }
        }
    }
    found
}

/// Do two objects of the frame pair?
pub fn meet<const D: usize, T: Real>(frame: &Frame<'_, D, T>, a: u32, b: u32) -> bool {
    let (x, y) = (&frame.boxes[a as usize], &frame.boxes[b as usize]);
    touch(x, y)
        && (frame.shape == Shape::Box || Ball::of_box(x).overlaps(&Ball::of_box(y)))
        && frame.tags.is_none_or(|tags| tags[a as usize].allows(&tags[b as usize]))
}

/// Do two closed boxes overlap? Written anew here, so that it is independent of the library's test.
pub fn touch<const D: usize, T: Real>(a: &Aabb<D, T>, b: &Aabb<D, T>) -> bool {
    (0..D).all(|k| !(a.max[k] < b.min[k] || b.max[k] < a.min[k]))
}

/// The pairs of `new` that are not in `old`; both sorted.
pub fn without(new: &[Pair], old: &[Pair]) -> Vec<Pair> {
    new.iter().filter(|pair| old.binary_search(pair).is_err()).copied().collect()
}

/// Fails unless both sorted lists are the same; the message lists what is missing, extra or double.
#[track_caller]
pub fn assert_same(found: &[Pair], expected: &[Pair], what: &str) {
    if found == expected {
        return;
    }
    let (missing, extra) = (without(expected, found), without(found, expected));
    let double: Vec<_> = found.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]).collect();
    let show = |list: &[Pair]| {
        let first: Vec<_> = list.iter().take(5).map(|p| format!("({}, {})", p.a, p.b)).collect();
        format!("{} [{}{}]", list.len(), first.join(", "), if list.len() > 5 { ", ..." } else { "" })
    };
    panic!(
        "{what}: {} pairs found, {} expected; missing {}, extra {}, double {}",
        found.len(),
        expected.len(),
        show(&missing),
        show(&extra),
        show(&double)
    );
}

/// Fails unless the store holds exactly the expected pairs, each once and canonical.
#[track_caller]
pub fn assert_holds(store: &PairStore, expected: &[Pair], what: &str) {
    assert_same(&store.sorted(), expected, what);
    assert_eq!(store.len(), expected.len() as u64, "{what}: the store's count");
}

/// Fails unless what started and ended is the difference of the two sorted lists.
#[track_caller]
pub fn assert_events(store: &PairStore, last: &[Pair], now: &[Pair], what: &str) {
    assert_same(store.started(), &without(now, last), &format!("{what}, started"));
    assert_same(store.ended(), &without(last, now), &format!("{what}, ended"));
}
