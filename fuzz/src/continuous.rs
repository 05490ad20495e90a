//! Continuous detection of a world, by fractions of whole numbers: boxes on a lattice, so that every time of contact is exact.

use std::collections::{BTreeMap, BTreeSet};

use broadphase::{Aabb, ContinuousDetection, Handle, Object, ObjectKind, World};

use crate::step::context;
use crate::world::box_specs;
use crate::{Bytes, Counts};

/// An object, and where it was at the last update, if it has a way.
struct Mover<const D: usize> {
    object: Object<D, f64>,
    before: Option<Aabb<D, f64>>,
}

type Pairs = BTreeSet<(Handle, Handle)>;

/// A box in halves.
fn aabb<const D: usize>(bytes: &mut Bytes) -> Aabb<D, f64> {
    let min: [f64; D] = std::array::from_fn(|_| f64::from(bytes.byte() % 48) * 0.5 - 12.0);
    Aabb::new(min, std::array::from_fn(|k| min[k] + f64::from(bytes.byte() % 5) * 0.5))
}

/// Do the two touch at any time of the frame? Gaps are linear in time; the times at which all are closed are an interval between fractions.
fn meet_on_the_way<const D: usize>(a: &Mover<D>, b: &Mover<D>) -> bool {
    let starts = [a, b].map(|mover| mover.before.unwrap_or(mover.object.aabb));
    let ends = [a, b].map(|mover| mover.object.aabb);
    let whole = |gap: f64| (gap * 64.0) as i128;
    let (mut from, mut to) = ((0i128, 1i128), (1i128, 1i128));
    for k in 0..D {
        for (x, y) in [(0, 1), (1, 0)] {
            let (start, end) = (whole(starts[x].min[k] - starts[y].max[k]), whole(ends[x].min[k] - ends[y].max[k]));
            match (start > 0, end > 0) {
                (true, true) => return false,
                (true, false) if start * from.1 > from.0 * (start - end) => from = (start, start - end),
                (false, true) if -start * to.1 < to.0 * (end - start) => to = (-start, end - start),
                _ => {}
            }
        }
    }
    from.0 * to.1 <= to.0 * from.1
}

/// The box around a whole way. Objects with different numbers of sub-steps are not seen at the same time, so this is all that a pair of them says.
fn whole<const D: usize>(mover: &Mover<D>) -> Aabb<D, f64> {
    mover.before.map_or(mover.object.aabb, |before| before.union(&mover.object.aabb))
}

fn pairs<const D: usize>(all: &BTreeMap<Handle, Mover<D>>, meet: impl Fn(&Mover<D>, &Mover<D>) -> bool) -> Pairs {
    let list: Vec<_> = all.iter().collect();
    let mut found = Pairs::new();
    for (at, (a, x)) in list.iter().enumerate() {
        for (b, y) in &list[at + 1..] {
            if x.object.kind.pairs_with(y.object.kind) && meet(x, y) {
                found.insert((**a, **b));
            }
        }
    }
    found
}

/// Runs an input: swept pairs are those that touch on their ways; those of sub-steps contain the present ones, and only objects whose ways
/// come near.
pub(crate) fn drive<const D: usize>(bytes: &mut Bytes) -> Counts {
    let mut counts = Counts::default();
    let mut world = World::<D, f64>::new();
    let specs = box_specs();
    let spec = *bytes.pick(&specs);
    world.set_algorithm(spec).expect("listed");
    world.set_context(context(bytes));
    let step = *bytes.pick(&[0.25, 0.5, 1.0]);
    let detection = *bytes.pick(&[
        ContinuousDetection::Swept,
        ContinuousDetection::SUB_STEPS,
        ContinuousDetection::SubSteps { step, most: 4 },
    ]);
    world.set_continuous_detection(detection).expect("sound settings");
    counts.meet(&format!("{detection:?} in {D}D"));
    let mut all: BTreeMap<Handle, Mover<D>> = BTreeMap::new();
    let mut last = Pairs::new();
    for _ in 0..80 {
        if bytes.is_empty() {
            break;
        }
        change(&mut world, &mut all, bytes, &mut counts);
        if !bytes.one_in(4) {
            continue;
        }
        let swept = pairs(&all, meet_on_the_way);
        let near = pairs(&all, |a, b| whole(a).overlaps(&whole(b)));
        let present = pairs(&all, |a, b| a.object.aabb.overlaps(&b.object.aabb));
        let update = world.update().expect("sound objects");
        let found: Pairs = world.pairs().collect();
        counts.operation("update with continuous detection");
        counts.compared += found.len() as u64;
        if detection == ContinuousDetection::Swept {
            assert_eq!(found, swept, "swept pairs, {}", world.algorithm());
        } else {
            assert!(found.is_superset(&present), "a present pair is missing with {detection:?}, {}", world.algorithm());
            assert!(found.is_subset(&near), "a pair whose ways are apart with {detection:?}, {}", world.algorithm());
        }
        assert!(update.started().handles().iter().copied().eq(found.difference(&last).copied()), "started");
        assert!(update.ended().handles().iter().copied().eq(last.difference(&found).copied()), "ended");
        assert!(update.started().iter().all(|event| (0.0..=1.0).contains(&event.time)));
        last = found;
        all.values_mut().for_each(|mover| mover.before = (mover.object.kind != ObjectKind::Static).then_some(mover.object.aabb));
    }
    counts
}

fn change<const D: usize>(
    world: &mut World<D, f64>,
    all: &mut BTreeMap<Handle, Mover<D>>,
    bytes: &mut Bytes,
    counts: &mut Counts,
) {
    let (code, fresh) = (bytes.below(16), aabb(bytes));
    let at = bytes.below(all.len().max(1));
    counts.operation(&format!("continuous {code}"));
    let Some(handle) = all.keys().nth(at).copied().filter(|_| code >= 5) else {
        let kind = *bytes.pick(&[ObjectKind::Dynamic, ObjectKind::Dynamic, ObjectKind::Static, ObjectKind::Kinematic]);
        let mut object = Object::new(fresh).with_kind(kind);
        object.previous = (code == 4).then(|| aabb(bytes));
        let handle = world.insert(object).expect("a valid object");
        let before = object.previous.unwrap_or(fresh);
        all.insert(handle, Mover { object, before: (kind != ObjectKind::Static).then_some(before) });
        return;
    };
    match code {
        5 => {
            world.remove(handle).expect("living");
            all.remove(&handle);
        }
        6 => {
            world.teleport(handle, fresh).expect("living");
            if let Some(mover) = all.get_mut(&handle) {
                (mover.object.aabb, mover.before) = (fresh, None);
            }
        }
        _ => {
            world.set_box(handle, fresh).expect("living");
            if let Some(mover) = all.get_mut(&handle) {
                mover.object.aabb = fresh;
            }
        }
    }
}
