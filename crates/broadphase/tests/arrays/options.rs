//! `Search` with each option, and bad input.

use broadphase::{Aabb, Ball, BoxFault, Cancel, Error, Pair, Real, Search, Shape, Spec, Tag, Threads, pairs, pairs_between};

use crate::for_all_kinds;
use crate::naive::{self, Random, boxes};

fn tags(count: usize, seed: u64) -> Vec<Tag> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| {
            Tag::new(1 << random.below(4), random.below(16) as u32)
                .with_group(random.below(3) as u32)
                .with_env(random.below(3) as u32)
        })
        .collect()
}

fn one_list<const D: usize, T: Real>() {
    for count in [0, 1, 2, 90, 700] {
        let list = boxes::<D, T>(count, 12.0, 3.0, 3);
        let expected = naive::pairs(count, |a, b| list[a].overlaps(&list[b]));
        assert_eq!(pairs(&list).unwrap(), expected);
        let search = Search::new(&list);
        assert_eq!(search.count().unwrap(), expected.len() as u64);
        let mut unsorted = search.clone().sort(false).list().unwrap();
        let threaded = search.clone().sort(false).workers(3).unwrap().list().unwrap();
        assert_eq!(unsorted, threaded, "any number of threads gives the same list");
        unsorted.sort_unstable();
        assert_eq!(unsorted, expected);
        for name in ["brute-force", "tiles", "kd-tree", "hash-grid", "sweep:isa=scalar", "sort-and-sweep"] {
            assert_eq!(search.clone().algorithm(name.parse().unwrap()).list().unwrap(), expected, "{name}");
        }

        let grown: Vec<_> = list.iter().map(|b| b.grow(T::from_f64(0.3))).collect();
        let expected = naive::pairs(count, |a, b| grown[a].overlaps(&grown[b]));
        assert_eq!(search.clone().margin(T::from_f64(0.3)).list().unwrap(), expected);
        let ball = |b: &Aabb<D, T>| Ball::of_box(b);
        let expected = naive::pairs(count, |a, b| grown[a].overlaps(&grown[b]) && ball(&grown[a]).overlaps(&ball(&grown[b])));
        let balls = search.clone().margin(T::from_f64(0.3)).shape(Shape::Ball);
        assert_eq!(balls.list().unwrap(), expected);
        assert_eq!(balls.count().unwrap(), expected.len() as u64);

        let tags = tags(count, 5);
        let odd = |a: usize, b: usize| (a + b) % 2 == 1;
        let expected = naive::pairs(count, |a, b| list[a].overlaps(&list[b]) && tags[a].allows(&tags[b]) && odd(a, b));
        let filtered = search.clone().tags(&tags).filter(|pair| odd(pair.a as usize, pair.b as usize));
        assert_eq!(filtered.list().unwrap(), expected);
        assert_eq!(filtered.count().unwrap(), expected.len() as u64);
    }
}

#[test]
fn one_list_with_each_option_matches_a_double_loop() {
    for_all_kinds!(one_list);
}

fn two_lists<const D: usize, T: Real>() {
    for (m, n) in [(0, 0), (0, 5), (5, 0), (1, 1), (400, 300), (30, 900), (900, 30)] {
        let (a, b) = (boxes::<D, T>(m, 12.0, 3.0, 3), boxes::<D, T>(n, 12.0, 2.0, 4));
        let expected = naive::pairs_between(m, n, |x, y| a[x].overlaps(&b[y]));
        assert_eq!(pairs_between(&a, &b).unwrap(), expected);
        let search = Search::between(&a, &b);
        assert_eq!(search.count().unwrap(), expected.len() as u64);
        assert_eq!(search.clone().workers(2).unwrap().list().unwrap(), expected);
        let spec: Spec = "kd-tree".parse().unwrap();
        assert_eq!(search.clone().algorithm(spec).list().unwrap(), expected);

        let (tags_a, tags_b) = (tags(m, 5), tags(n, 6));
        let ball = |b: &Aabb<D, T>| Ball::of_box(b);
        let meets = |x: usize, y: usize| a[x].overlaps(&b[y]) && ball(&a[x]).overlaps(&ball(&b[y]));
        let tagged = search.clone().shape(Shape::Ball).tags(&tags_a);
        let expected = naive::pairs_between(m, n, |x, y| meets(x, y) && tags_a[x].allows(&Tag::default()));
        assert_eq!(tagged.list().unwrap(), expected, "the second list has default tags");
        let expected = naive::pairs_between(m, n, |x, y| meets(x, y) && tags_a[x].allows(&tags_b[y]) && (x + y) % 3 > 0);
        let filtered = tagged.tags_b(&tags_b).filter(|pair| (pair.a + pair.b) % 3 > 0);
        assert_eq!(filtered.list().unwrap(), expected);
        assert_eq!(filtered.count().unwrap(), expected.len() as u64);
    }
}

#[test]
fn two_lists_with_each_option_match_a_double_loop() {
    for_all_kinds!(two_lists);
}

/// The definition: intervals that contain their lower end and not their upper one.
fn half_open_meet<const D: usize, T: Real>(a: &Aabb<D, T>, b: &Aabb<D, T>) -> bool {
    let has_content = |x: &Aabb<D, T>| (0..D).all(|k| x.min[k] < x.max[k]);
    has_content(a) && has_content(b) && (0..D).all(|k| a.min[k] < b.max[k] && b.min[k] < a.max[k])
}

fn half_open<const D: usize, T: Real>() {
    let mut list = boxes::<D, T>(500, 8.0, 3.0, 9);
    // Whole numbers, flat and empty ones, both zeros, infinite sides.
    list.iter_mut().step_by(2).for_each(|b| (b.min, b.max) = (b.min.map(Real::floor), b.max.map(|x| x.floor())));
    list[0] = Aabb::everything();
    list[1] = Aabb::point([T::ONE; D]);
    list[2] = Aabb::new([-T::ONE; D], [-T::ZERO; D]);
    list[3] = Aabb::new([T::ZERO; D], [T::ONE; D]);
    list[4] = Aabb::new([-T::ZERO; D], [T::ZERO; D]);
    list[5] = Aabb::new([T::INFINITY; D], [T::INFINITY; D]);
    list[6] = Aabb::new([T::NEG_INFINITY; D], [T::NEG_INFINITY; D]);
    let expected = naive::pairs(list.len(), |a, b| half_open_meet(&list[a], &list[b]));
    let search = Search::new(&list).half_open();
    assert_eq!(search.list().unwrap(), expected);
    assert_eq!(search.chunks(100).unwrap().collect::<Result<Vec<_>, _>>().unwrap().concat(), expected);
    assert!(expected.len() < pairs(&list).unwrap().len());
    let (a, b) = list.split_at(200);
    let expected = naive::pairs_between(a.len(), b.len(), |x, y| half_open_meet(&a[x], &b[y]));
    assert_eq!(Search::between(a, b).half_open().list().unwrap(), expected);
    let grown: Vec<_> = list.iter().map(|b| b.grow(T::HALF)).collect();
    let expected = naive::pairs(list.len(), |a, b| half_open_meet(&grown[a], &grown[b]));
    assert_eq!(search.margin(T::HALF).list().unwrap(), expected, "with a margin even a point has content");
}

#[test]
fn half_open_boxes_do_not_touch_and_empty_ones_meet_nothing() {
    for_all_kinds!(half_open);
}

#[test]
fn infinite_sides_negative_zero_and_ties_are_as_in_a_double_loop() {
    let inf = f64::INFINITY;
    let mut list = boxes::<2, f64>(200, 5.0, 2.0, 1);
    list[0] = Aabb::everything();
    list[1] = Aabb::new([-inf, -inf], [inf, -0.0]);
    list[2] = Aabb::new([0.0, 0.0], [0.0, 0.0]);
    list[3] = Aabb::new([inf, 0.0], [inf, 1.0]);
    list.extend([Aabb::new([1.0; 2], [2.0; 2]); 20]);
    let expected = naive::pairs(list.len(), |a, b| list[a].overlaps(&list[b]));
    assert_eq!(pairs(&list).unwrap(), expected);
    let expected = naive::pairs_between(list.len(), list.len(), |a, b| list[a].overlaps(&list[b]));
    assert_eq!(pairs_between(&list, &list).unwrap(), expected);
}

#[test]
fn bad_input_is_named_by_argument_index_and_axis() {
    let good = vec![Aabb::new([0.0, 0.0], [1.0, 1.0]); 200];
    let mut bad = good.clone();
    bad[150].max[1] = f64::NAN;
    let fault = Error::InvalidBox { index: Some(150), axis: 1, fault: BoxFault::NotANumber };
    assert_eq!(pairs(&bad), Err(fault.clone()));
    assert_eq!(Search::new(&bad).half_open().list(), Err(fault.clone()));
    assert_eq!(Search::new(&bad).count(), Err(fault.clone()));
    assert_eq!(Search::new(&bad).chunks(5).err(), Some(fault.clone()));
    for (result, name) in [(pairs_between(&bad, &good), "a"), (pairs_between(&good, &bad), "b")] {
        let error = result.unwrap_err();
        assert_eq!(error, Error::Argument { name, error: Box::new(fault.clone()) });
        assert_eq!(error.to_string(), format!("{name}: object 150: a corner is NaN on axis y; remove the object or repair it"));
    }
    let search = Search::new(&good);
    for margin in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(search.clone().margin(margin).list(), Err(Error::InvalidMargin { index: None, .. })));
    }
    let tags = vec![Tag::default(); 3];
    let error = search.clone().tags(&tags).list().unwrap_err();
    assert_eq!(error, Error::WrongLength { argument: "tags", found: 3, expected: 200 });
    assert_eq!(error.to_string(), "tags: there are 3, but there must be 200");
    assert_eq!(search.clone().limit(19_899).list(), Err(Error::TooManyPairs { limit: 19_899 }));
    assert_eq!(search.clone().limit(19_900).list().unwrap().len(), 19_900);
    assert_eq!(Search::between(&good, &good).limit(39_999).list(), Err(Error::TooManyPairs { limit: 39_999 }));
    assert!(search.clone().shape(Shape::Ball).half_open().list().is_err());
}

#[test]
fn a_search_in_progress_is_cancelled_from_another_thread() {
    // Everything overlaps everything: the full search would take very long.
    let list = vec![Aabb::new([0.0f32; 3], [1.0; 3]); 30_000];
    let threads = Threads::new(2).unwrap();
    let cancel = Cancel::new();
    let search = Search::new(&list).cancel(&cancel).executor(threads);
    // The filter is called while the search runs, so that the flag is set in the middle of it.
    let seen = std::sync::atomic::AtomicUsize::new(0);
    let flag = cancel.clone();
    let search = search.filter(|_| {
        if seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 100 {
            std::thread::scope(|scope| {
                scope.spawn(|| flag.cancel());
            });
        }
        true
    });
    assert_eq!(search.list(), Err(Error::Cancelled));
    let calls = seen.load(std::sync::atomic::Ordering::Relaxed);
    assert!(calls > 100 && calls < 10_000_000, "{calls} pairs were looked at after all, of 450 million");
    assert_eq!(search.count(), Err(Error::Cancelled));
    assert_eq!(search.chunks(10).err(), Some(Error::Cancelled));
}

#[test]
fn pieces_are_cancelled_between_two_of_them() {
    // So few pairs that all are found at once, and so many that they are not.
    for count in [300, 3000] {
        let list = vec![Aabb::new([0.0f32; 2], [1.0; 2]); count];
        let cancel = Cancel::new();
        let mut pieces = Search::new(&list).cancel(&cancel).chunks(10_000).unwrap();
        assert_eq!(pieces.next().unwrap().unwrap()[0], Pair { a: 0, b: 1 });
        cancel.cancel();
        assert_eq!(pieces.next(), Some(Err(Error::Cancelled)));
        assert!(pieces.next().is_none());
    }
}

/// Two lists of similar lengths are joined as one, which is given up where most pairs are within one list.
#[test]
fn two_lists_of_which_one_is_a_heap_match_a_double_loop() {
    let mut a = vec![Aabb::new([0.0f64; 3], [1.0; 3]); 800];
    a.extend(boxes::<3, f64>(800, 20.0, 2.0, 3));
    let b = boxes::<3, f64>(1500, 20.0, 2.0, 4);
    let expected = naive::pairs_between(a.len(), b.len(), |x, y| a[x].overlaps(&b[y]));
    assert_eq!(pairs_between(&a, &b).unwrap(), expected);
    assert_eq!(Search::between(&a, &b).workers(2).unwrap().list().unwrap(), expected);
}
