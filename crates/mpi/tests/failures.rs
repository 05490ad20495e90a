//! Faults of one rank are reported on all ranks, and no rank waits forever.

use std::time::Duration;

use broadphase::Aabb;
use broadphase_mpi::{Departure, Distributed, Error, Options, Reporting, Threads, Transport, TransportError};

type Space = Distributed<2, f32, Threads>;

fn start(transport: Threads) -> Result<Space, Error> {
    Distributed::new(transport.with_timeout(Duration::from_secs(20)), Options::default())
}

fn square(x: f32) -> Aabb<2, f32> {
    Aabb::new([x, 0.0], [x + 1.5, 1.0])
}

#[test]
fn a_nan_on_one_rank_is_the_same_error_on_all_and_the_next_frame_is_right() {
    let results = Threads::run(3, |transport| {
        let me = transport.rank();
        let mut space = start(transport)?;
        let id = [me as u64];
        space.assign(&id, &[square(me as f32)])?;
        space.update()?;
        if me == 1 {
            let refused = space.assign(&id, &[Aabb::new([f32::NAN, 0.0], [1.0, 1.0])]);
            assert!(matches!(refused, Err(Error::Local(_))), "{refused:?}");
        }
        let failed = space.update().unwrap_err();
        let before = space.cross_pairs().len();
        space.assign(&id, &[square(0.0)])?;
        space.update()?;
        Ok::<_, Error>((failed.to_string(), before, space.cross_pairs().len()))
    });
    for (rank, result) in results.into_iter().enumerate() {
        let expected = "rank 1: object 0: a corner is NaN on axis x; remove the object or repair it";
        assert_eq!(result.unwrap(), (expected.to_string(), [1, 1, 0][rank], [2, 1, 0][rank]));
    }
}

#[test]
fn options_that_differ_are_refused_at_the_start_with_the_rank() {
    let results = Threads::run(3, |transport| {
        let me = transport.rank();
        let reporting = if me == 2 { Reporting::Both } else { Reporting::Once };
        Space::new(transport, Options::default().with_reporting(reporting)).map(drop)
    });
    for result in results {
        let text = result.unwrap_err().to_string();
        assert!(text.starts_with("rank 2 is broadphase-mpi") && text.contains("reporting Both, "), "{text}");
    }
}

#[test]
fn dimensions_and_scalars_that_differ_are_refused_at_the_start() {
    let results = Threads::run(2, |transport| match transport.rank() {
        0 => Distributed::<2, f32, _>::new(transport, Options::default()).map(drop),
        _ => Distributed::<3, f64, _>::new(transport, Options::default()).map(drop),
    });
    for result in results {
        let text = result.unwrap_err().to_string();
        assert!(text.contains("rank 1 is") && text.contains("3D, float64") && text.contains("2D, float32"), "{text}");
    }
}

#[test]
fn ranks_in_different_calls_are_told_so() {
    let results = Threads::run(2, |transport| {
        let me = transport.rank();
        let mut space = start(transport)?;
        if me == 0 { space.update() } else { space.plan(None).map(drop) }
    });
    assert!(results.iter().all(|result| matches!(result, Err(Error::Diverged { .. }))), "{results:?}");
}

#[test]
fn a_rank_that_panics_or_leaves_ends_the_others_waiting() {
    let (send, receive) = std::sync::mpsc::channel();
    let mut job = Threads::job(3);
    let threads: Vec<_> = job
        .drain(..)
        .map(|transport| {
            let send = send.clone();
            std::thread::spawn(move || {
                let me = transport.rank();
                let mut space = start(transport).unwrap();
                if me == 1 {
                    std::panic::resume_unwind(Box::new("as asked"));
                }
                send.send(space.update()).unwrap();
            })
        })
        .collect();
    drop(send);
    let results: Vec<_> = receive.iter().collect();
    assert_eq!(results.len(), 2);
    for result in results {
        let gone = TransportError::Gone { rank: 1, reason: "it panicked".to_string() };
        assert_eq!(result, Err(Error::Transport(gone)));
    }
    assert_eq!(threads.into_iter().filter_map(|thread| thread.join().err()).count(), 1);
}

#[test]
fn a_rank_with_too_many_pairs_fails_alone_and_recovers() {
    let results = Threads::run(2, |transport| {
        let me = transport.rank();
        let options = Options { pair_limit: if me == 0 { 10 } else { 1000 }, ..Options::default() };
        let mut space = Distributed::<2, f32, _>::new(transport, options)?;
        let ids: Vec<u64> = (0..20).map(|id| id + 100 * me as u64).collect();
        space.assign(&ids, &[square(5.0 * me as f32); 20])?;
        let first = space.update().is_ok();
        let count = space.local_pairs().unwrap().len();
        let apart: Vec<_> = (0..20).map(|x| square(3.0 * x as f32 + 100.0 * me as f32)).collect();
        space.assign(&ids, &apart)?;
        space.update()?;
        Ok::<_, Error>((first, count, space.local_pairs().unwrap().len(), space.cross_pairs().len()))
    });
    assert_eq!(results[0], Ok((false, 0, 0, 0)));
    assert_eq!(results[1], Ok((true, 190, 0, 0)));
}

#[test]
fn departures_that_make_no_sense_move_nothing() {
    let results = Threads::run(2, |transport| {
        let me = transport.rank();
        let mut space = start(transport)?;
        let index = space.insert(7, square(0.0))?;
        let wrong = [Departure { to: 2, index }, Departure { to: 1, index: 99 }, Departure { to: 1, index }];
        let mut texts = Vec::new();
        for list in [&wrong[..1], &wrong[1..2], &[wrong[2], wrong[2]][..]] {
            let list = if me == 0 { list } else { &[] };
            texts.push(space.migrate(list, |_| ()).unwrap_err().to_string());
        }
        assert_eq!(space.len(), 1);
        Ok::<_, Error>(texts)
    });
    let texts = results[1].as_ref().unwrap();
    assert_eq!(results[0].as_ref().unwrap(), texts);
    assert_eq!(texts[0], "rank 0: there is no rank 2; the job has 2 ranks, counted from 0");
    assert_eq!(texts[1], "rank 0: object 99 does not exist: it was removed, or never inserted");
    assert_eq!(texts[2], "rank 0: object 0 is to leave twice; list it once");
}

#[test]
fn wrong_indices_and_boxes_are_errors_of_the_caller_alone() {
    let mut space = start(Threads::job(1).pop().unwrap()).unwrap();
    let index = space.insert(1, square(0.0)).unwrap();
    assert!(matches!(space.insert(2, Aabb::new([1.0, 0.0], [0.0, 0.0])), Err(Error::Local(_))));
    assert_eq!(space.remove(5), Err(Error::UnknownObject { index: 5 }));
    assert_eq!(space.set_box(5, square(0.0)), Err(Error::UnknownObject { index: 5 }));
    assert!(matches!(space.set_box(index, Aabb::new([f32::NAN; 2], [0.0; 2])), Err(Error::Local(_))));
    assert!(matches!(space.set_boxes(&[]), Err(Error::WrongLength { .. })));
    assert!(matches!(space.assign(&[1], &[]), Err(Error::WrongLength { .. })));
    space.update().unwrap();
    space.remove(index).unwrap();
    assert_eq!(space.remove(index), Err(Error::UnknownObject { index }));
    space.update().unwrap();
    assert_eq!((space.len(), space.is_empty(), space.get_box(index), space.id(index)), (0, true, None, None));
}
