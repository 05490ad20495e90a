//! Frames of `auto`, in which each allocation is refused in turn; the frames after it are compared with a double loop.

use std::collections::BTreeSet;

use super::{boxes, contexts, for_each_refusal, naive, survives};
use broadphase::{Aabb, BroadPhase, Changes, Context, Frame, Pair, PairStore, Report, Spec, Strength, step};

/// What the caller of a frame says about its changes.
#[derive(Clone, Copy)]
enum Told {
    Unknown,
    All,
    /// One object in so many moved since the last frame.
    Listed(usize),
}

/// A frame, and what the caller says.
struct Scene {
    boxes: Vec<Aabb<3, f32>>,
    told: Told,
}

/// A frame of objects that all move.
fn moving(count: usize, time: f32) -> Scene {
    Scene { boxes: boxes(count, time), told: Told::Unknown }
}

/// Frames in which one object in `share` moves, with the changes listed or not.
fn settled(count: usize, share: usize, frames: usize, is_listed: bool) -> Vec<Scene> {
    let mut list = boxes(count, 0.0);
    let mut scenes = vec![Scene { boxes: list.clone(), told: Told::All }];
    for frame in 1..frames {
        for id in (0..count).step_by(share) {
            let by = [0.11 * ((frame + id) % 3) as f32, -0.07, 0.3];
            list[id] = list[id].translate(by);
        }
        scenes.push(Scene { boxes: list.clone(), told: if is_listed { Told::Listed(share) } else { Told::Unknown } });
    }
    scenes
}

/// A structure with its pairs, and those of the last frame that succeeded.
struct Run {
    structure: Box<dyn BroadPhase<3, f32>>,
    context: Context,
    store: PairStore,
    shown: BTreeSet<Pair>,
    has_failed: bool,
}

impl Run {
    fn new(report: Report, context: &Context) -> Self {
        let structure = Spec::default().build().expect("auto");
        let (context, store) = (context.clone(), PairStore::new(report));
        Self { structure, context, store, shown: BTreeSet::new(), has_failed: false }
    }

    /// One frame. After a failure, the caller cannot say what changed.
    fn show(&mut self, scene: &Scene) -> Result<(), broadphase::Error> {
        let mut moved = [0; 4096];
        let listed = |share: usize| (0..scene.boxes.len() as u32).step_by(share);
        let changes = match scene.told {
            Told::Listed(share) if !self.has_failed => {
                listed(share).zip(&mut moved).for_each(|(id, at)| *at = id);
                Changes::Listed { moved: &moved[..listed(share).count()], inserted: &[], removed: &[] }
            }
            Told::All => Changes::All,
            _ => Changes::Unknown,
        };
        let frame = Frame::new(&scene.boxes).with_changes(changes);
        let result = step(&mut *self.structure, &frame, &mut self.context, &mut self.store);
        self.has_failed = result.is_err();
        result
    }

    fn check(&mut self, scene: &Scene, expected: &BTreeSet<Pair>, what: &str) {
        assert_eq!(self.store.len(), expected.len() as u64, "{what}");
        if self.store.report() != Report::Count {
            assert!(self.store.to_vec().into_iter().collect::<BTreeSet<Pair>>() == *expected, "{what}");
        }
        if self.store.report().delta() {
            assert!(self.store.started().iter().eq(expected.difference(&self.shown)), "{what}: started");
            assert!(self.store.ended().iter().eq(self.shown.difference(expected)), "{what}: ended");
        }
        self.shown.clone_from(expected);
        self.structure.validate(&Frame::new(&scene.boxes), Strength::Geometry).expect(what);
    }
}

/// Every allocation of every frame is refused in turn; the frame itself is then shown again, and the one after it.
fn survive_all(name: &str, scenes: &[Scene], report: Report) {
    let expected: Vec<BTreeSet<Pair>> = scenes.iter().map(|scene| naive(&scene.boxes, |_| true)).collect();
    for context in contexts() {
        let mut refused = 0;
        for at in 0..scenes.len() {
            refused += for_each_refusal(|refusal| {
                let what = format!("{name}, frame {at}, width {}, {refusal:?}", context.width());
                let mut run = Run::new(report, &context);
                for earlier in 0..at {
                    run.show(&scenes[earlier]).expect("memory is there");
                    run.shown.clone_from(&expected[earlier]);
                }
                if survives(refusal, || run.show(&scenes[at])).is_some() {
                    run.check(&scenes[at], &expected[at], &what);
                }
                if let Some(later) = scenes.get(at + 1) {
                    run.show(later).expect("memory is there again");
                    run.check(later, &expected[at + 1], &what);
                }
                run.show(&scenes[at]).expect("memory is there again");
                run.check(&scenes[at], &expected[at], &what);
            });
        }
        assert!(refused > 5, "{name}: {refused} allocations were refused");
    }
}

#[test]
fn every_refused_allocation_of_a_small_frame_is_survived() {
    let scenes = [moving(60, 0.0), moving(60, 5.0), moving(90, 6.0), moving(20, 7.0)];
    survive_all("brute force", &scenes, Report::All);
    survive_all("brute force, a few move", &settled(80, 20, 3, true), Report::Both);
}

#[test]
fn every_refused_allocation_of_moving_objects_is_survived() {
    // First, steady, steady; growth; a jump, which repartitions; fewer; and back to brute force after many frames.
    let scenes = [moving(900, 0.0), moving(900, 1.0), moving(900, 2.0), moving(1500, 3.0), moving(1500, 60.0), moving(700, 61.0)];
    survive_all("moving", &scenes, Report::All);
    survive_all("moving, with events", &scenes, Report::Both);
    survive_all("counted", &scenes[..4], Report::Count);
}

#[test]
fn every_refused_allocation_of_many_tiles_is_survived() {
    let scenes = [moving(4000, 0.0), moving(4000, 2.0), moving(4200, 4.0), moving(4200, 40.0)];
    survive_all("many tiles", &scenes, Report::Both);
}

#[test]
fn every_refused_allocation_of_listed_changes_is_survived() {
    survive_all("listed", &settled(2500, 100, 6, true), Report::Both);
}

#[test]
fn every_refused_allocation_of_compared_changes_is_survived() {
    survive_all("compared", &settled(2500, 60, 5, false), Report::Both);
    survive_all("many compared", &settled(2500, 12, 5, false), Report::All);
}

#[test]
fn every_refused_allocation_of_objects_that_move_along_one_axis_is_survived() {
    let pistons = |time: usize| {
        let place =
            |id: usize| [(id % 40) as f32, (id / 40 % 10) as f32, (id / 400) as f32 * 2.0 + ((id * 7 + time) % 60) as f32 * 0.01];
        let boxes = (0..2400).map(|id| Aabb::new(place(id), place(id).map(|x| x + 0.9))).collect();
        Scene { boxes, told: Told::Unknown }
    };
    let scenes: Vec<Scene> = (0..5).map(pistons).collect();
    survive_all("pistons", &scenes, Report::All);
}

#[test]
fn every_refused_allocation_of_clusters_on_different_scales_is_survived() {
    let clusters = |shift: f32| {
        let small = (0..700).map(|i| [i as f32 + shift, 0.0, 0.0]).map(|low| Aabb::new(low, low.map(|x| x + 1.5)));
        let large = (0..700).map(|i| [(i as f32 - 350.0) * 1e17, 5.0, shift]);
        let boxes = small.chain(large.map(|low| Aabb::new(low, [low[0] + 1.5e17, 6.0, shift + 1.0]))).collect();
        Scene { boxes, told: Told::Unknown }
    };
    survive_all("clusters", &[clusters(0.0), clusters(0.25), clusters(0.5)], Report::Both);
}
