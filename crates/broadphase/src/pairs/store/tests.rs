use super::*;
use crate::Aabb;

fn write(store: &mut PairStore, revision: &mut Revision, chunks: &[&[u32]]) -> Result<bool, Error> {
    let boxes = [Aabb::new([0.0f32; 2], [1.0; 2]); 1];
    let (frame, context) = (Frame::new(&boxes), Context::new());
    let kept = store.begin(&frame, &context, *revision, chunks.len()).unwrap();
    for (index, chunk) in chunks.iter().enumerate() {
        store.rewrite(index, 0, &frame, |hits| chunk.iter().for_each(|&k| hits.push(Pair { a: k, b: k + 1 })));
    }
    *revision = store.finish(&context, chunks.len())?;
    Ok(kept)
}

fn firsts(pairs: &[Pair]) -> Vec<u32> {
    pairs.iter().map(|pair| pair.a).collect()
}

#[test]
fn differences_balance_when_chunks_move_appear_and_vanish() {
    let (mut store, mut revision) = (PairStore::new(Report::Both), Revision::default());
    assert!(!write(&mut store, &mut revision, &[&[1, 2], &[3], &[7]]).unwrap());
    assert_eq!((firsts(store.started()), store.ended().len()), (vec![1, 2, 3, 7], 0));
    assert!(write(&mut store, &mut revision, &[&[2], &[1, 4]]).unwrap());
    assert_eq!((firsts(store.started()), firsts(store.ended())), (vec![4], vec![3, 7]));
    // Another structure takes over the store: nothing is kept, but the difference is still right.
    assert!(!write(&mut store, &mut Revision::default(), &[&[4, 2, 9]]).unwrap());
    assert_eq!((firsts(store.started()), firsts(store.ended())), (vec![9], vec![1]));
    assert_eq!(store.len(), 3);
}

#[test]
fn the_pairs_of_a_chunk_that_is_not_written_have_ended() {
    let boxes = [Aabb::new([0.0f32; 2], [1.0; 2]); 1];
    let (frame, context) = (Frame::new(&boxes), Context::new());
    let (mut store, mut revision) = (PairStore::new(Report::Both), Revision::default());
    write(&mut store, &mut revision, &[&[4, 9], &[2]]).unwrap();
    // Another structure takes over the store. It has chunks, but no objects in them.
    assert!(!store.begin(&frame, &context, Revision::default(), 2).unwrap());
    revision = store.finish(&context, 2).unwrap();
    assert_eq!((firsts(store.started()), firsts(store.ended()), store.len()), (vec![], vec![2, 4, 9], 0));
    // Chunks that are kept are not written either, and nothing ends.
    write(&mut store, &mut revision, &[&[3], &[5]]).unwrap();
    assert!(store.begin(&frame, &context, revision, 2).unwrap());
    store.finish(&context, 2).unwrap();
    assert_eq!((firsts(store.started()), firsts(store.ended()), store.len()), (vec![], vec![], 2));
}

#[test]
fn a_visitor_of_chunks_may_read_the_store() {
    let (mut store, mut revision) = (PairStore::new(Report::Both), Revision::default());
    write(&mut store, &mut revision, &[&[1, 2], &[3]]).unwrap();
    let mut visited = 0;
    store.for_each_chunk(|pairs| {
        visited += pairs.len();
        assert_eq!((store.sorted().len(), store.to_vec().len(), store.clone().len()), (3, 3, 3));
        assert!(store.bytes() > 0);
        store.for_each_chunk(|inner| assert!(!inner.is_empty()));
    });
    assert_eq!(visited, 3);
}

#[test]
fn the_limit_holds_over_all_chunks_before_memory_is_spent() {
    let boxes = [Aabb::new([0.0f32; 2], [1.0; 2]); 1];
    let (frame, context) = (Frame::new(&boxes), Context::new());
    let mut store = PairStore::new(Report::All);
    store.set_limit(100_000);
    store.begin(&frame, &context, Revision::default(), 100).unwrap();
    for chunk in 0..100 {
        store.rewrite(chunk, 0, &frame, |hits| {
            let mut at = 0;
            while at < 90_000 && !hits.stopped() {
                hits.push(Pair { a: at, b: at + 1 });
                at += 1;
            }
        });
    }
    assert_eq!(store.finish(&context, 100).unwrap_err(), Error::TooManyPairs { limit: 100_000 });
    assert!(store.bytes() < 16 * 200_000, "{} bytes for 100 chunks of 90,000 pairs", store.bytes());
}

#[test]
fn after_a_limit_error_the_next_difference_is_against_the_last_good_frame() {
    let (mut store, mut revision) = (PairStore::new(Report::Both), Revision::default());
    store.set_limit(3);
    write(&mut store, &mut revision, &[&[1, 2]]).unwrap();
    assert_eq!(write(&mut store, &mut revision, &[&[5, 6], &[7, 8]]), Err(Error::TooManyPairs { limit: 3 }));
    assert!(!write(&mut store, &mut revision, &[&[2, 3]]).unwrap());
    assert_eq!((firsts(store.started()), firsts(store.ended())), (vec![3], vec![1]));
}

#[test]
fn after_a_limit_error_in_an_edit_the_next_difference_is_against_the_last_good_frame() {
    let boxes = [Aabb::new([0.0f32; 2], [1.0; 2]); 1];
    let (frame, context) = (Frame::new(&boxes), Context::new());
    let (mut store, mut revision) = (PairStore::new(Report::Both), Revision::default());
    store.set_limit(30);
    let all: Vec<u32> = (0..20).collect();
    write(&mut store, &mut revision, &[&all]).unwrap();
    for many in [40, 100_000] {
        let mut edit = |revision: Revision, new: u32| {
            assert!(store.begin(&frame, &context, revision, 1).unwrap());
            store.edit(
                0,
                0,
                &frame,
                |pair: Pair| pair.a >= 10,
                |hits| (0..new).for_each(|k| hits.push(Pair { a: 200 + k, b: 0 })),
            );
            store.finish(&context, 1)
        };
        assert_eq!(edit(revision, many), Err(Error::TooManyPairs { limit: 30 }));
        assert!(!write(&mut store, &mut revision, &[&all]).unwrap());
        assert_eq!((store.started().len(), store.ended().len(), store.len()), (0, 0, 20), "{many}");
    }
    assert!(store.begin(&frame, &context, revision, 1).unwrap());
    store.edit(0, 0, &frame, |pair: Pair| pair.a >= 10, |hits| hits.push(Pair { a: 200, b: 0 }));
    store.finish(&context, 1).unwrap();
    assert_eq!((firsts(store.started()), firsts(store.ended())), (vec![200], (0..10).collect()));
}
