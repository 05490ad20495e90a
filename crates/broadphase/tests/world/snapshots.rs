//! Snapshots: the same future, and what is not one of ours.

use broadphase::{
    Aabb, ContinuousDetection, Error, Object, ObjectKind, Report, Shape, Snapshot, Spec, Strength, Tag, World, World2, World3,
};

use crate::{Random, specs};

type Text = Result<Snapshot<3, f32>, serde_json::Error>;

fn object(random: &mut Random) -> Object<3, f32> {
    let kind = [ObjectKind::Dynamic, ObjectKind::Dynamic, ObjectKind::Static, ObjectKind::Kinematic][random.below(4) as usize];
    let tag = [Tag::default(), Tag::new(1, 1), Tag::default().with_env(3), Tag::default().with_env(4)][random.below(4) as usize];
    let mut object = Object::new(random.aabb(12, 3)).with_kind(kind).with_tag(tag).with_user(random.below(1000));
    if random.below(30) == 0 {
        object.aabb.max[2] = f32::INFINITY;
    }
    object.with_margin(random.below(3) as f32 * 0.1)
}

/// One frame of a life: moves, comings and goings, the same in every world with the same seed.
fn live(world: &mut World3, random: &mut Random) {
    let handles: Vec<_> = world.iter().map(|(handle, _)| handle).collect();
    for handle in handles {
        match random.below(40) {
            0 => _ = world.remove(handle).unwrap(),
            1 => world.set_tag(handle, object(random).tag).unwrap(),
            2 => world.set_kind(handle, object(random).kind).unwrap(),
            3..20 => world.set_box(handle, object(random).aabb).unwrap(),
            _ => {}
        }
    }
    for _ in 0..random.below(8) {
        world.insert(object(random)).unwrap();
    }
}

fn same_future(spec: &Spec) {
    let (mut world, mut random) = (World3::new(), Random(7));
    world.set_algorithm(spec).unwrap();
    let objects: Vec<_> = (0..250).map(|_| object(&mut random)).collect();
    world.insert_many(&objects).unwrap();
    for _ in 0..5 {
        live(&mut world, &mut random);
        world.update().unwrap();
    }
    live(&mut world, &mut random); // changes that no update has seen yet
    let text = serde_json::to_string(&world.snapshot()).unwrap();
    let mut again = World3::new();
    again.insert(Aabb::point([0.0; 3])).unwrap();
    again.restore(&serde_json::from_str::<Snapshot<3, f32>>(&text).unwrap()).unwrap();
    assert!(again.pairs().eq(world.pairs()) && again.iter().eq(world.iter()));
    let mut other = Random(random.0);
    for frame in 0..100 {
        let (now, then) = (world.update().unwrap(), again.update().unwrap());
        assert_eq!(
            (now.started().handles(), now.ended().handles()),
            (then.started().handles(), then.ended().handles()),
            "{spec}, frame {frame}"
        );
        assert!(world.pairs().eq(again.pairs()), "{spec}: the lists differ in frame {frame}");
        live(&mut world, &mut random);
        live(&mut again, &mut other);
    }
    assert!(world.sorted_pairs().len() > 20);
}

#[test]
fn a_restored_world_goes_on_with_the_identical_lists_for_100_frames() {
    specs(3).iter().for_each(same_future);
}

#[test]
fn settings_values_and_results_survive() {
    let mut world = World2::new();
    world.set_algorithm(&"kd-tree:t=64".parse().unwrap()).unwrap();
    world.set_report(Report::All);
    world.set_pair_limit(77);
    let h = world.insert_many(&[Aabb::new([0.0, f32::NEG_INFINITY], [1.0, f32::INFINITY]), Aabb::point([0.1, 1e-45])]).unwrap();
    world.set_world_margin(0.1).unwrap();
    world.update().unwrap();
    world.set_pair_value(h[0], h[1], 9).unwrap();
    let text = serde_json::to_string(&world.snapshot()).unwrap();
    let mut again = World2::new();
    again.restore(&serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(again.algorithm().to_string(), "kd-tree:t=64");
    assert_eq!((again.report(), again.world_margin(), again.pair_count()), (Report::All, 0.1, 1));
    assert_eq!(again.pair_value(h[0], h[1]).unwrap(), Some(9));
    assert_eq!(again.get_box(h[1]).unwrap(), world.get_box(h[1]).unwrap());
    again.insert_many(&[Aabb::point([0.5, 0.0]); 13]).unwrap();
    assert_eq!(again.update().unwrap_err(), Error::TooManyPairs { limit: 77 });
}

#[test]
fn a_number_of_pairs_without_a_list_survives_although_a_list_is_reported_next() {
    let mut world = World2::new();
    world.insert_many(&[Aabb::point([0.0, 0.0]); 3]).unwrap();
    world.set_report(Report::Count);
    world.update().unwrap();
    world.set_report(Report::Both);
    let mut again = World2::new();
    again.restore(&world.snapshot()).unwrap();
    assert_eq!((again.pair_count(), again.update().unwrap().started().len()), (3, 3));
}

#[test]
fn pairs_survive_a_snapshot_between_a_change_of_report_and_the_update() {
    let mut world = World2::new();
    let h = world.insert_many(&[Aabb::point([0.0, 0.0]); 3]).unwrap();
    world.update().unwrap();
    world.set_report(Report::Count);
    let mut again = World2::new();
    again.restore(&world.snapshot()).unwrap();
    for world in [&mut world, &mut again] {
        world.set_report(Report::Both); // the number was never asked for
        assert_eq!(world.sorted_pairs(), [(h[0], h[1]), (h[0], h[2]), (h[1], h[2])]);
        assert!(world.update().unwrap().started().is_empty());
    }
}

/// A world whose snapshot can be spoilt, and the text of one.
fn sample() -> (World3, String) {
    let (mut world, mut random) = (World3::new(), Random(2));
    world.set_continuous_detection(ContinuousDetection::SUB_STEPS).unwrap();
    for k in 0..30 {
        let shape = if k % 7 == 0 { Some(Shape::Ball) } else { None };
        world.insert(Object { shape, ..object(&mut random) }).unwrap();
    }
    world.update().unwrap();
    let handles: Vec<_> = world.iter().map(|(handle, _)| handle).collect();
    for &handle in &handles[5..] {
        world.set_box(handle, object(&mut random).aabb).unwrap();
    }
    world.update().unwrap();
    assert!(world.motion_stats().fleeting > 0, "some pairs have only passed");
    // Between two updates: slots that are vacated, and such as are free again.
    let short = world.insert(object(&mut random)).unwrap();
    world.remove_many(&[handles[0], handles[3], short]).unwrap();
    world.read().unwrap();
    world.remove_many(&[handles[1], handles[4]]).unwrap();
    world.set_box(handles[7], object(&mut random).aabb).unwrap();
    let text = serde_json::to_string(&world.snapshot()).unwrap();
    (world, text)
}

#[test]
fn a_snapshot_of_another_version_dimension_or_scalar_is_rejected() {
    let (mut world, text) = sample();
    let before = world.sorted_pairs();
    for (what, to) in [("\"version\":3", "\"version\":4"), ("\"dimension\":3", "\"dimension\":2"), ("float32", "float64")] {
        assert!(text.contains(what));
        let foreign: Snapshot<3, f32> = serde_json::from_str(&text.replacen(what, to, 1)).unwrap();
        let error = world.restore(&foreign).unwrap_err();
        assert_eq!(error.code(), "foreign-snapshot", "{error}");
    }
    // Of another type altogether: the boxes have other lengths, or the header says so.
    let mut flat = World::<2, f64>::new();
    let other: Result<Snapshot<2, f64>, _> = serde_json::from_str(&text);
    assert!(other.is_err() || flat.restore(&other.unwrap()).is_err());
    assert_eq!((world.sorted_pairs(), flat.len()), (before, 0));
}

#[test]
fn a_snapshot_cut_short_is_an_error_of_its_format() {
    let (_, text) = sample();
    for end in (0..text.len()).step_by(97) {
        let cut: Text = serde_json::from_str(&text[..end]);
        assert!(cut.is_err());
    }
}

#[test]
fn a_snapshot_that_was_changed_is_rejected_or_harmless() {
    let (mut world, text) = sample();
    let (before, count) = (world.sorted_pairs(), world.len());
    // Every number of the text in turn becomes another one.
    let numbers: Vec<(usize, usize)> = text
        .match_indices(|c: char| c.is_ascii_digit())
        .map(|(at, _)| at)
        .filter(|&at| !text.as_bytes()[at - 1].is_ascii_digit() && text.as_bytes()[at - 1] != b't')
        .map(|at| (at, at + text[at..].find(|c: char| !c.is_ascii_digit()).unwrap()))
        .collect();
    let mut refused = 0;
    for (from, to) in numbers {
        for other in ["7", "4000000000"] {
            let spoilt: Text = serde_json::from_str(&format!("{}{other}{}", &text[..from], &text[to..]));
            let Ok(snapshot) = spoilt else { continue };
            let mut again = world.clone();
            match again.restore(&snapshot) {
                Err(error) => {
                    refused += 1;
                    assert!(matches!(error.code(), "invalid-snapshot" | "foreign-snapshot"), "{error}");
                    assert_eq!((again.sorted_pairs(), again.len()), (before.clone(), count));
                }
                // What is consistent is taken: a box, a tag, a user's number.
                Ok(()) => {
                    assert_eq!(again.pairs().count(), again.pairs().len());
                    let handles: Vec<_> = again.iter().map(|(handle, _)| handle).collect();
                    handles.iter().for_each(|&handle| _ = again.pairs_of(handle).unwrap().count());
                    _ = again.validate(Strength::Geometry);
                    for k in 0..3 {
                        _ = again.update().map(|update| update.started().iter().count());
                        _ = again.pairs().count();
                        _ = again.insert(Object { shape: Some(Shape::Ball), ..Object::new(Aabb::point([k as f32; 3])) });
                    }
                    handles.iter().for_each(|&handle| _ = again.remove(handle));
                    _ = again.update();
                }
            }
        }
    }
    assert!(refused > 100, "{refused} changes were noticed");
    assert_eq!(world.update().unwrap().len(), world.sorted_pairs().len() as u64);
}

#[test]
fn a_list_of_a_snapshot_that_lost_an_element_is_noticed() {
    let (mut world, text) = sample();
    let before = world.sorted_pairs();
    for name in ["generations", "places", "kinds", "owners", "marks"] {
        let at = text.find(&format!("\"{name}\":[")).unwrap() + name.len() + 4;
        let end = at + text[at..].find([',', ']']).unwrap();
        let comma = usize::from(text.as_bytes()[end] == b',');
        let short = format!("{}{}", &text[..at], &text[end + comma..]);
        let snapshot: Snapshot<3, f32> = serde_json::from_str(&short).unwrap();
        assert_eq!(world.restore(&snapshot).unwrap_err().code(), "invalid-snapshot", "{name}");
        assert_eq!(world.sorted_pairs(), before);
    }
}
