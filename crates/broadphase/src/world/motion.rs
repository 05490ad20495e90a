//! Continuous detection: what objects hit between two updates.
//!
//! A world sees objects where they are at each update. An object that moves farther than its size between two of them may jump over
//! another one (tunneling). Two methods find such hits. [`ContinuousDetection::Swept`] sweeps boxes and tests the two motions exactly.
//! [`ContinuousDetection::SubSteps`] is that of paper 004, section 4.1: fast objects are looked at more often than slow ones. To look at slow ones less
//! often than once per update, there is [`UpdateIntervals`](crate::UpdateIntervals), which can miss pairs and is not part of a world.
//! `examples/tunneling.rs` compares them.

use super::World;
use crate::error::Error;
use crate::geometry::{Aabb, Path, Period, Real};
use crate::memory;
use crate::objects::table::Table;
use crate::objects::{Handle, Shape};
use crate::periodic::LONGEST_SWEPT;

/// What the memory is for, in errors.
const PATHS: &str = "paths of objects";

/// How to find objects that pass through each other between two updates.
///
/// A mover's path is the straight line from its box at the last successful update to its current one; every side of the box moves at constant
/// speed. The path of a new object begins where it was inserted, or at its [previous box](crate::Object::moved_from). Statics and objects that were
/// [teleported](World::teleport) have no path. In a [space that repeats](World::set_period), the path is the shorter way around.
///
/// | | finds | cost |
/// | --- | --- | --- |
/// | `None` | the pairs of the current boxes | nothing |
/// | `Swept` | every two objects that touch at any time of the frame | larger boxes, one test per candidate, a pass over all movers |
/// | `SubSteps` | those that overlap at the end of a sub-step | one search per sub-step of the fastest, a pass over all movers |
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ContinuousDetection {
    /// Nothing: pairs are those of the current boxes.
    #[default]
    None,
    /// A detection rate per object. A mover gets `k` sub-steps: the smallest power of two for which a sub-step is no longer than `step` times its
    /// size on any axis; slow movers get one. With K the largest k, an update searches for pairs K times: in search `s` an object is at
    /// `ceil(s * k / K) / k` of its path. The pairs of the update are those of all searches; the last search uses the current boxes. A mover that would
    /// need more than `most` sub-steps, because it is very fast, flat or a point, is swept instead, as with `Swept`.
    ///
    /// So every pair of `None` is a pair here. With `step` up to 0.5, two objects that cross along one axis and overlap on the others all the time are a
    /// pair of this update or the last one; so are two that, at any time, overlap by more than a sub-step of each on every axis. An object that only
    /// grazes another one may be missed.
    ///
    /// Cost: a search costs what its movers change, so a frame costs the sum of all k, not n times K; and a pass over all movers. Events are
    /// found in every update, whatever the [report](World::set_report).
    SubSteps {
        /// The longest sub-step, in sizes of the object: above 0, up to 1.
        step: f64,
        /// The most sub-steps: 1 to 1024.
        most: u32,
    },
    /// Two objects are a pair if they touch at any time during the frame, while both move: no hit is missed, none is invented, and each has its
    /// [time](crate::PairEvent::time). Balls are swept as balls. Queries see the box around the whole path until the object is moved again.
    ///
    /// Cost: structures see larger boxes, and each candidate of a mover is tested; an object that stops changes once more; and a pass over
    /// all movers. A ball and a box of which one changes its size in the same frame count with the larger size.
    Swept,
}

impl ContinuousDetection {
    /// Sub-steps of half a size, at most 64 of them.
    pub const SUB_STEPS: Self = ContinuousDetection::SubSteps { step: 0.5, most: 64 };

    pub(super) fn check(self) -> Result<(), Error> {
        let fault = |argument, value: String, expected| Err(Error::InvalidArgument { argument, value, expected });
        match self {
            ContinuousDetection::SubSteps { step, .. } if !(step > 0.0 && step <= 1.0) => {
                fault("the step of ContinuousDetection::SubSteps", step.to_string(), "a number above 0, up to 1")
            }
            ContinuousDetection::SubSteps { most, .. } if !(1..=1024).contains(&most) => {
                fault("the most of ContinuousDetection::SubSteps", most.to_string(), "a number from 1 to 1024")
            }
            _ => Ok(()),
        }
    }
}

/// What continuous detection did in the last update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MotionStats {
    /// How often the update searched for pairs.
    #[cfg_attr(feature = "serde", serde(alias = "looks"))] // its name in earlier snapshots
    pub searches: u32,
    /// Movers with more than one sub-step, or with a swept box.
    pub fast: usize,
    /// Boxes that were placed along a path, not counting the current ones.
    pub placed: u64,
    /// Movers with a swept box; with sub-steps, those that would need more than allowed.
    pub swept: usize,
    /// With sub-steps, pairs that the last search, of the current boxes, did not find.
    pub fleeting: usize,
}

/// The path of a mover in this frame, in `steps` sub-steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct SteppedPath<const D: usize, T> {
    pub(super) slot: u32,
    pub(super) steps: u32,
    pub(super) from: Aabb<D, T>,
    pub(super) to: Aabb<D, T>,
    /// The current box as the user gave it: in a space that repeats, `to` is wrapped.
    pub(super) plain: Aabb<D, T>,
}

impl<const D: usize, T: Real> SteppedPath<D, T> {
    /// The box after `number` sub-steps.
    pub(super) fn at(&self, number: u32) -> Aabb<D, T> {
        if number >= self.steps {
            return self.plain;
        }
        let share = T::from_f64(f64::from(number) / f64::from(self.steps));
        // A path may be longer than the largest finite number, but its parts are not.
        let between = |from: T, to: T| match to - from {
            _ if from == to => to,
            length if length.is_finite() => from + length * share,
            _ => from * (T::ONE - share) + to * share,
        };
        let min: [T; D] = std::array::from_fn(|k| between(self.from.min[k], self.to.min[k]));
        // Rounding must not turn a thin box inside out.
        Aabb::new(min, std::array::from_fn(|k| between(self.from.max[k], self.to.max[k]).max(min[k])))
    }
}

/// The method, and its state.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(bound = "T: Real"))]
pub(super) struct Motion<const D: usize, T> {
    pub(super) detection: ContinuousDetection,
    /// By slot of the movers: the box at the last successful update, or where the object was inserted; an empty box for those without a path.
    /// Kept unless detection is `None`.
    #[cfg_attr(feature = "serde", serde(with = "crate::objects::exact::boxes"))]
    before: Vec<Aabb<D, T>>,
    /// Pairs of the last update that its last search did not find, sorted.
    pub(super) fleeting: Vec<(Handle, Handle)>,
    pub(super) stats: MotionStats,
    /// The paths with more than one sub-step, by slot; scratch.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) stepped: Vec<SteppedPath<D, T>>,
    /// Buffers of `sub_steps.rs`.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) scratch: super::sub_steps::Scratch,
}

impl<const D: usize, T: Real> Default for Motion<D, T> {
    fn default() -> Self {
        Self {
            detection: ContinuousDetection::None,
            before: Vec::new(),
            fleeting: Vec::new(),
            stats: MotionStats::default(),
            stepped: Vec::new(),
            scratch: super::sub_steps::Scratch::default(),
        }
    }
}

impl<const D: usize, T: Real> Motion<D, T> {
    /// Does a frame consist of several searches, or did the last one, so that its fleeting pairs have to end?
    pub(super) fn has_sub_steps(&self) -> bool {
        matches!(self.detection, ContinuousDetection::SubSteps { .. }) || !self.fleeting.is_empty()
    }

    /// The start of a mover's path, if it has one.
    fn before(&self, slot: u32) -> Option<&Aabb<D, T>> {
        self.before.get(slot as usize).filter(|aabb| aabb.is_valid())
    }

    /// Makes room for the starts of paths of so many slots, if there are paths.
    pub(super) fn reserve(&mut self, slots: usize) -> Result<(), Error> {
        if self.detection == ContinuousDetection::None {
            return Ok(());
        }
        let more = slots.saturating_sub(self.before.len());
        memory::reserve(&mut self.before, more, PATHS)
    }

    /// Sets the start of the path of the mover in a slot, for which there is [room](Motion::reserve).
    pub(super) fn begin_at(&mut self, slot: u32, aabb: Aabb<D, T>) {
        if self.detection == ContinuousDetection::None {
            return;
        }
        let at = slot as usize;
        if at >= self.before.len() {
            self.before.resize(at + 1, Aabb::empty()); // reserved
        }
        self.before[at] = aabb;
    }

    /// Removes the path of the mover in a slot.
    fn remove_path(&mut self, slot: u32) {
        if let Some(before) = self.before.get_mut(slot as usize) {
            *before = Aabb::empty();
        }
    }

    /// Moves the starts of all paths, when all objects are moved without a motion.
    pub(super) fn translate(&mut self, by: [T; D]) {
        self.before.iter_mut().filter(|aabb| aabb.is_valid()).for_each(|aabb| *aabb = aabb.translate(by));
    }

    pub(super) fn shrink(&mut self) {
        self.before.shrink_to_fit();
        self.fleeting.shrink_to_fit();
        self.stepped = Vec::new();
        self.scratch = super::sub_steps::Scratch::default();
    }

    /// Starts a new update.
    pub(super) fn begin(&mut self) {
        self.stats = MotionStats { searches: 1, ..MotionStats::default() };
        self.stepped.clear();
    }

    /// Finds all paths with more than one sub-step, sweeps those with too many, and returns the largest number of sub-steps.
    pub(super) fn plan(&mut self, table: &mut Table<D, T>, period: Option<&Period<D, T>>) -> Result<u32, Error> {
        self.stepped.clear();
        let ContinuousDetection::SubSteps { step, most } = self.detection else { return Ok(1) };
        let (mut stepped, mut largest) = (std::mem::take(&mut self.stepped), 1);
        for slot in 0..table.movers.slots.len() as u32 {
            if !table.movers.slots.contains(slot) {
                continue;
            }
            let (plain, growth) = (table.movers.plain(slot), table.growth(table.movers.owners[slot as usize]));
            let path = self.path_to(slot, plain, period);
            let needed = path.map_or(1, |path| sub_steps(&path.from, &path.to, growth, step));
            // The least power of two that is enough.
            let steps = if needed <= most { needed.next_power_of_two() } else { u32::MAX };
            if let Some(path) = path.filter(|_| steps > most) {
                table.movers.cover(slot, around(&path, period), growth);
                self.stats.swept += 1;
                continue;
            }
            if table.movers.swept.get(slot) {
                table.movers.cover(slot, plain, growth);
            }
            if let Some(Path { from, to }) = path.filter(|_| steps > 1) {
                memory::push(&mut stepped, SteppedPath { slot, steps, from, to, plain }, PATHS)?;
                largest = largest.max(steps);
            }
        }
        self.stats.fast = stepped.len() + self.stats.swept;
        self.stepped = stepped;
        Ok(largest)
    }

    /// Replaces the current boxes by the swept boxes of this frame.
    pub(super) fn sweep(&mut self, table: &mut Table<D, T>, period: Option<&Period<D, T>>) {
        for slot in 0..table.movers.slots.len() as u32 {
            if table.movers.slots.contains(slot) {
                let plain = table.movers.plain(slot);
                let whole = self.path_to(slot, plain, period).map_or(plain, |path| around(&path, period));
                let growth = table.growth(table.movers.owners[slot as usize]);
                self.stats.swept += usize::from(table.movers.cover(slot, whole, growth));
            }
        }
        self.stats.fast = self.stats.swept;
    }

    /// The path of a mover to its box `to`, if it has one: in wrapped coordinates if the space repeats.
    fn path_to(&self, slot: u32, to: Aabb<D, T>, period: Option<&Period<D, T>>) -> Option<Path<D, T>> {
        let from = *self.before(slot)?;
        let path = period.map_or(Path { from, to }, |period| period.path(&from, &to));
        (path.from != path.to).then_some(path)
    }

    /// The path of a mover in this frame, margins included: in wrapped coordinates if the space repeats.
    pub(super) fn path(&self, table: &Table<D, T>, slot: u32, period: Option<&Period<D, T>>) -> Path<D, T> {
        let growth = table.growth(table.movers.owners[slot as usize]);
        let grow = |aabb: Aabb<D, T>| if growth == T::ZERO { aabb } else { aabb.grow(growth) };
        // During a sub-step, the table holds a box on the path, not its end.
        let at = self.stepped.binary_search_by_key(&slot, |path| path.slot);
        let to = at.map_or_else(|_| table.movers.plain(slot), |at| self.stepped[at].plain);
        let (from, to) = (grow(self.before(slot).copied().unwrap_or(to)), grow(to));
        period.map_or(Path { from, to }, |period| period.path(&from, &to))
    }

    /// Starts all paths at the current boxes, after a successful update.
    pub(super) fn remember(&mut self, table: &Table<D, T>) {
        if self.detection == ContinuousDetection::None {
            return;
        }
        let movers = &table.movers;
        self.before.clear();
        self.before.resize(movers.slots.len(), Aabb::empty()); // reserved
        movers.slots.ids().for_each(|slot| self.before[slot as usize] = movers.plain(slot));
    }

    /// Removes the paths of empty slots, after a failed update, so that the next object in such a slot has none.
    pub(super) fn forget_removed(&mut self, table: &Table<D, T>) {
        let slots = (0..).zip(&mut self.before);
        slots.filter(|(slot, _)| !table.movers.slots.contains(*slot)).for_each(|(_, before)| *before = Aabb::empty());
    }

    /// Are all handles below `indices`?
    #[cfg(feature = "serde")]
    pub(super) fn is_sound(&self, indices: usize) -> bool {
        self.fleeting.iter().all(|(a, b)| a.index.max(b.index) < indices as u32)
    }

    pub(super) fn bytes(&self) -> usize {
        self.before.capacity() * size_of::<Aabb<D, T>>()
            + self.fleeting.capacity() * size_of::<(Handle, Handle)>()
            + self.stepped.capacity() * size_of::<SteppedPath<D, T>>()
            + self.scratch.bytes()
    }
}

/// The box around a path.
fn around<const D: usize, T: Real>(path: &Path<D, T>, period: Option<&Period<D, T>>) -> Aabb<D, T> {
    period.map_or_else(|| path.from.union(&path.to), |period| period.cover(path))
}

/// The longest box that structures may get, in periods.
pub(super) fn longest_box<T: Real>(sweeps: bool) -> T {
    if sweeps { T::from_f64(LONGEST_SWEPT) } else { T::HALF }
}

/// When two objects on their paths first touch, given their shapes: in a space that repeats, the first time over all images.
pub(super) fn touch<const D: usize, T: Real>(
    (a, shape_a): (&Path<D, T>, Shape),
    (b, shape_b): (&Path<D, T>, Shape),
    period: Option<&Period<D, T>>,
) -> Option<T> {
    let test = |a: &Path<D, T>, b: &Path<D, T>| touch_here((a, shape_a), (b, shape_b));
    match period {
        Some(period) => period.least_over_images(a, b, &test),
        None => test(a, b),
    }
}

fn touch_here<const D: usize, T: Real>(a: (&Path<D, T>, Shape), b: (&Path<D, T>, Shape)) -> Option<T> {
    match (a.1, b.1) {
        (Shape::Box, Shape::Box) => a.0.boxes_touch(b.0),
        // If balls touch, so do their boxes; rounding may say otherwise, so both are tested.
        (Shape::Ball, Shape::Ball) => a.0.boxes_touch(b.0).and(a.0.balls_touch(b.0)),
        (Shape::Ball, Shape::Box) => a.0.boxes_touch(b.0).and(a.0.ball_touches_box(b.0)),
        (Shape::Box, Shape::Ball) => a.0.boxes_touch(b.0).and(b.0.ball_touches_box(a.0)),
    }
}

/// How many sub-steps a path needs so that none is longer than `step` sizes; saturates.
fn sub_steps<const D: usize, T: Real>(from: &Aabb<D, T>, to: &Aabb<D, T>, growth: T, step: f64) -> u32 {
    let apart = |a: T, b: T| if a == b { 0.0 } else { (a.to_f64() - b.to_f64()).abs() };
    let mut most = 1.0f64;
    for k in 0..D {
        let travel = apart(from.min[k], to.min[k]).max(apart(from.max[k], to.max[k]));
        if !travel.is_finite() {
            return 1; // a side that becomes infinite has no path
        }
        let size = |of: &Aabb<D, T>| of.max[k].to_f64() - of.min[k].to_f64() + 2.0 * growth.to_f64();
        if travel > 0.0 {
            most = most.max((travel / (step * size(from).min(size(to)))).ceil());
        }
    }
    most as u32
}

/// # Motion between updates
impl<const D: usize, T: Real> World<D, T> {
    /// Chooses how to find objects that pass through each other between two updates. Paths begin with the next update.
    ///
    /// ```
    /// use broadphase::{Aabb, ContinuousDetection, Object, World2};
    /// let mut world = World2::new();
    /// world.set_continuous_detection(ContinuousDetection::Swept)?;
    /// let wall = world.insert(Object::fixed(Aabb::new([5.0, 0.0], [5.1, 9.0])))?;
    /// let bullet = world.insert(Aabb::new([0.0, 4.0], [1.0, 5.0]))?;
    /// world.update()?;
    /// world.set_box(bullet, Aabb::new([10.0, 4.0], [11.0, 5.0]))?;
    /// for hit in world.update()?.started() {
    ///     assert_eq!((hit.a, hit.b), (wall, bullet)); // it has passed through,
    ///     assert!((hit.time - 0.4).abs() < 1e-6); // and touched the wall after 4 of 10
    /// }
    /// assert_eq!(world.update()?.ended(), [(wall, bullet)]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn set_continuous_detection(&mut self, detection: ContinuousDetection) -> Result<(), Error> {
        detection.check()?;
        if detection != self.motion.detection {
            if detection != ContinuousDetection::None {
                self.table.keep_plain()?;
            }
            self.motion.detection = detection;
            self.motion.before.clear();
            self.table.uncover();
            self.whole = true;
        }
        Ok(())
    }

    /// Checks that no object is longer than half a period. Structures check that themselves, unless they get the boxes around whole paths.
    pub(super) fn check_lengths(&self) -> Result<(), Error> {
        let Some(period) = self.period.filter(|_| self.motion.detection != ContinuousDetection::None) else { return Ok(()) };
        for side in [&self.table.movers, &self.table.statics] {
            for slot in side.slots.ids().filter(|_| side.pending()) {
                let (plain, index) = (side.plain(slot), side.owners[slot as usize]);
                period.check_box(&plain.grow(self.table.growth(index)), index as usize)?;
            }
        }
        Ok(())
    }

    /// The method for objects that pass through each other.
    pub fn continuous_detection(&self) -> ContinuousDetection {
        self.motion.detection
    }

    /// What continuous detection did in the last update.
    pub fn motion_stats(&self) -> MotionStats {
        self.motion.stats
    }

    /// Moves or resizes an object without a path: with [continuous detection](World::set_continuous_detection), it hits nothing between its last box
    /// and this one.
    pub fn teleport(&mut self, handle: Handle, aabb: Aabb<D, T>) -> Result<(), Error> {
        self.table.set_box(handle, &aabb)?;
        self.forget_path(handle)
    }

    /// [Teleports](World::teleport) all listed objects, or none if a handle is stale or a box invalid.
    pub fn teleport_many(&mut self, list: &[(Handle, Aabb<D, T>)]) -> Result<(), Error> {
        self.table.set_boxes_of(list, &self.context)?;
        list.iter().try_for_each(|&(handle, _)| self.forget_path(handle))
    }

    /// Removes the path of an object in the next update.
    pub(super) fn forget_path(&mut self, handle: Handle) -> Result<(), Error> {
        if let Some(slot) = self.slot(handle)? {
            self.motion.remove_path(slot);
        }
        Ok(())
    }

    /// Moves all objects by `by`, for worlds so large that the origin follows the player. This is not a motion: nothing is swept, and nothing is hit. Pairs
    /// stay the same, except where rounding makes boxes touch or separate.
    ///
    /// A displacement that is not finite is [`Error::InvalidArgument`]; so is one that moves a finite box to infinity. Cost: a pass over all
    /// objects, and the next update sees all of them as moved.
    ///
    /// ```
    /// use broadphase::{Aabb, World2};
    /// let mut world = World2::new();
    /// let [a, b] = world.insert_many(&[Aabb::new([1000.0, 0.0], [1002.0, 2.0]), Aabb::new([1001.0, 1.0], [1003.0, 3.0])])?[..] else {
    ///     unreachable!()
    /// };
    /// world.update()?;
    /// world.shift_origin([-1000.0, 0.0])?;
    /// assert_eq!(world.get_box(a)?, Aabb::new([0.0, 0.0], [2.0, 2.0]));
    /// assert!(world.update()?.started().is_empty() && world.pairs().eq([(a, b)]));
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn shift_origin(&mut self, by: [T; D]) -> Result<(), Error> {
        let expected = "a displacement that leaves all finite boxes finite";
        let fault = |by: [T; D]| Err(Error::InvalidArgument { argument: "by", value: format!("{by:?}"), expected });
        if by.iter().any(|c| !c.is_finite()) || !self.table.can_translate(by) {
            return fault(by);
        }
        self.table.translate(by);
        self.motion.translate(by);
        if let Some(period) = &mut self.period {
            *period = period.translate(by);
            for engine in [&mut self.movers, &mut self.statics] {
                *engine = super::Engine { period: self.period, ..engine.fresh() };
            }
        }
        Ok(())
    }
}
