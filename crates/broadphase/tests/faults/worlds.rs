//! Worlds: each allocation of inserting, moving, removing and updating is refused in turn.

use std::collections::BTreeSet;

use super::{boxes, contexts, for_each_refusal, survives};
use broadphase::{Aabb, Context, ContinuousDetection, Error, Handle, Object, ObjectKind, Period, Strength, Tag, World3};

type HandlePairs = BTreeSet<(Handle, Handle)>;

/// What kind of world.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Plain,
    /// A space that repeats.
    Repeats,
    Continuous(ContinuousDetection),
}

/// A world, its objects, and the pairs of its last successful update.
struct Run {
    mode: Mode,
    world: World3,
    living: Vec<Handle>,
    shown: HandlePairs,
}

/// The properties of object `id`: one in four is static, one in nine kinematic; two layers; user data.
fn object(id: usize, time: f32, count: usize) -> Object<3, f32> {
    let kind = match id {
        _ if id.is_multiple_of(4) => ObjectKind::Static,
        _ if id.is_multiple_of(9) => ObjectKind::Kinematic,
        _ => ObjectKind::Dynamic,
    };
    let tag = if id.is_multiple_of(5) { Tag::new(2, 3) } else { Tag::new(1, 1) };
    Object::new(boxes(count, time)[id]).with_kind(kind).with_tag(tag).with_user(id as u64 + 1)
}

impl Run {
    fn new(mode: Mode, count: usize, context: &Context) -> Self {
        let mut world = World3::new();
        world.set_context(context.clone());
        match mode {
            Mode::Plain => {}
            Mode::Repeats => world.set_period(Some(Period::new([(count as f32).cbrt() * 1.2; 3]))).expect("a sound period"),
            Mode::Continuous(detection) => world.set_continuous_detection(detection).expect("sound settings"),
        }
        // Room for the test's own list, which must not allocate.
        let mut living = Vec::with_capacity(2 * count);
        let place = boxes(count, 0.0);
        for (id, aabb) in place.iter().enumerate() {
            let properties = object(id % 36, 0.0, 36);
            living.push(world.insert(Object { aabb: *aabb, ..properties }).expect("memory is there"));
        }
        Self { mode, world, living, shown: HandlePairs::new() }
    }

    /// What happens before update number `frame`; on error, some of it has happened.
    fn disturb(&mut self, frame: usize, more: &[Object<3, f32>], moves: &[broadphase::Aabb<3, f32>]) -> Result<(), Error> {
        for object in more {
            let handle = self.world.insert(*object)?;
            self.living.push(handle);
        }
        let share = [1, 40, 7][frame % 3];
        for (at, &aabb) in moves.iter().enumerate().step_by(share) {
            self.world.set_box(self.living[at], aabb)?;
        }
        for _ in 0..2 * more.len() / 3 {
            let at = (frame * 31) % self.living.len();
            self.world.remove(self.living[at])?;
            self.living.swap_remove(at);
        }
        let handle = self.living[frame % self.living.len()];
        let kind = if self.world.kind(handle)? == ObjectKind::Static { ObjectKind::Dynamic } else { ObjectKind::Static };
        self.world.set_kind(handle, kind)?;
        self.world.set_tag(self.living[0], Tag::new(1 + frame as u32 % 3, 3))
    }

    /// All pairs, by a double loop over the objects.
    fn naive(&self) -> HandlePairs {
        let all: Vec<_> = self.living.iter().map(|&handle| (handle, self.world.object(handle).expect("living"))).collect();
        let mut pairs = HandlePairs::new();
        for (at, (a, first)) in all.iter().enumerate() {
            for (b, second) in &all[at + 1..] {
                let may_pair = first.kind.pairs_with(second.kind) && first.tag.allows(&second.tag);
                if may_pair && self.touch(&first.aabb, &second.aabb) {
                    pairs.insert((*a.min(b), *a.max(b)));
                }
            }
        }
        pairs
    }

    /// Do two boxes overlap, or any of their images?
    fn touch(&self, a: &Aabb<3, f32>, b: &Aabb<3, f32>) -> bool {
        let Some(period) = self.world.period() else { return a.overlaps(b) };
        let (a, b) = (period.wrap_box(a), period.wrap_box(b));
        let shift =
            |code: usize| std::array::from_fn(|k| period.length(k).unwrap_or(0.0) * [0.0, 1.0, -1.0][code / [1, 3, 9][k] % 3]);
        (0..27).any(|code| a.overlaps(&b.translate(shift(code))))
    }

    /// Compares pairs and events with a double loop, and checks all invariants. Where paths count, events are compared with the pairs, and a double loop
    /// with those of one more update, in which nothing moves.
    fn check(&mut self, what: &str) {
        let has_paths = matches!(self.mode, Mode::Continuous(_));
        let found: HandlePairs = self.world.pairs().collect();
        let expected = if has_paths { found.clone() } else { self.naive() };
        assert!(found == expected, "{what}");
        let started: Vec<_> = expected.difference(&self.shown).copied().collect();
        let ended: Vec<_> = self.shown.difference(&expected).copied().collect();
        assert!(self.world.started() == started, "{what}: started");
        assert!(self.world.ended() == ended, "{what}: ended");
        self.shown = expected;
        self.world.validate(Strength::Geometry).expect(what);
        if has_paths {
            self.world.update().expect("memory is there");
            self.shown = self.world.pairs().collect();
            assert!(self.shown == self.naive(), "{what}: at rest");
        }
    }
}

fn survive_all(mode: Mode, count: usize, frames: usize) {
    for context in contexts() {
        let mut refused = 0;
        for at in 0..frames {
            let change = |frame: usize| {
                let more: Vec<_> =
                    (0..if frame == 3 { count / 2 } else { 6 }).map(|id| object(id, frame as f32, count)).collect();
                (more, boxes(count, frame as f32))
            };
            let (more, moves) = change(at);
            refused += for_each_refusal(|refusal| {
                let what = format!("{mode:?}, {count} objects, frame {at}, width {}, {refusal:?}", context.width());
                let mut run = Run::new(mode, count, &context);
                for earlier in 0..at {
                    let (more, moves) = change(earlier);
                    run.disturb(earlier, &more, &moves[..count / 2]).expect("memory is there");
                    run.world.update().expect("memory is there");
                    run.shown = run.world.pairs().collect();
                }
                let changed = survives(refusal, || {
                    run.disturb(at, &more, &moves[..count / 2])?;
                    run.world.update().map(|_| ())
                });
                if changed.is_some() {
                    run.check(&what);
                } else {
                    run.world.validate(Strength::Geometry).expect(&what);
                }
                run.world.update().expect("memory is there again");
                run.check(&what);
                let (more, moves) = change(at + 1);
                run.disturb(at + 1, &more, &moves[..count / 2]).expect("memory is there again");
                run.world.update().expect("memory is there again");
                run.check(&what);
            });
        }
        assert!(refused > 20, "{refused} allocations were refused");
    }
}

#[test]
fn every_refused_allocation_of_a_small_world_is_survived() {
    survive_all(Mode::Plain, 60, 4);
}

#[test]
fn every_refused_allocation_of_a_world_is_survived() {
    survive_all(Mode::Plain, 700, 5);
}

#[test]
fn every_refused_allocation_in_a_space_that_repeats_is_survived() {
    survive_all(Mode::Repeats, 60, 4);
    survive_all(Mode::Repeats, 300, 3);
}

#[test]
fn every_refused_allocation_of_continuous_detection_is_survived() {
    for detection in [ContinuousDetection::Swept, ContinuousDetection::SUB_STEPS] {
        survive_all(Mode::Continuous(detection), 60, 4);
        survive_all(Mode::Continuous(detection), 300, 3);
    }
}
