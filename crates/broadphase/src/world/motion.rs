//! What happens between two updates: remedies against objects that pass through each other unseen.
//!
//! A world sees objects where they are at each update. An object that moves farther than its size between two of them may jump over
//! another one (tunnelling). Paper 004, section 4.1, proposes to look at fast objects more often than at slow ones: [`ContinuousDetection::SubSteps`]. The
//! other remedy is as old: boxes around the whole way, [`ContinuousDetection::Swept`]. `examples/tunnelling.rs` compares them.

use super::World;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::Handle;
use crate::objects::table::Table;

/// What is done against objects that pass through each other between two updates.
///
/// The way of a mover is the straight line from its box at the last successful update to its present one. Objects that are new, statics, and
/// what was [teleported](World::teleport) have no way: they are where they are.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ContinuousDetection {
    /// Nothing: pairs are those of the present boxes.
    #[default]
    None,
    /// A detection rate per object. A mover gets `k` sub-steps: the least power of two, up to `most`, for which a sub-step is no longer than
    /// `step` times its size on any axis; slow ones have one. With K the largest k, an update looks K times: in look `s` an object is at
    /// `ceil(s * k / K) / k` of its way. All pairs that any look sees are pairs of the update; the last one sees the present boxes.
    ///
    /// So a pair of [`ContinuousDetection::None`] is a pair here. With `step` up to 0.5, unless `most` is [too small](MotionStats::capped): two objects
    /// that cross along one axis, and overlap on the others all the while, are a pair of this update or were one of the last; so are two
    /// that, at any time of the way, overlap by more than a sub-step of each on every axis. What only grazes another in passing may be missed.
    ///
    /// Cost: a look costs what its movers change, so a frame costs the sum of all k, not n times K; and a pass over all movers. Differences are
    /// found in every update, whatever is [wanted](World::set_report).
    SubSteps {
        /// The longest sub-step, in sizes of the object: above 0, up to 1.
        step: f64,
        /// The most sub-steps: 1 to 1024.
        most: u32,
    },
    /// An object's box is the one around its box at the last update and its present one: no contact on the way is missed, and objects may be
    /// pairs that pass the same place at different times, or a diagonal from afar. Balls on their way count as boxes. Queries see these boxes
    /// until the object is moved again.
    ///
    /// Cost: larger boxes, so more pairs; an object that stops changes once more; and a pass over all movers.
    Swept,
}

impl ContinuousDetection {
    /// The detection rate with sub-steps of half a size, and at most 64 of them.
    pub const SUB_STEPS: Self = ContinuousDetection::SubSteps { step: 0.5, most: 64 };

    pub(super) fn check(self) -> Result<(), Error> {
        let fault = |option, value: String, expected: &str| {
            Err(Error::InvalidOption { algorithm: "the remedy", option, value, expected: expected.into() })
        };
        match self {
            ContinuousDetection::SubSteps { step, .. } if !(step > 0.0 && step <= 1.0) => {
                fault("step", step.to_string(), "a number above 0, up to 1")
            }
            ContinuousDetection::SubSteps { most, .. } if !(1..=1024).contains(&most) => {
                fault("most", most.to_string(), "a number from 1 to 1024")
            }
            _ => Ok(()),
        }
    }
}

/// What the remedy did in the last update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MotionStats {
    /// How often pairs were looked for.
    pub looks: u32,
    /// Movers with more than one sub-step, or with a swept box.
    pub fast: usize,
    /// Boxes that were placed on the way, the present ones not counted.
    pub placed: u64,
    /// Movers that would need more sub-steps than allowed: what is promised does not hold for them.
    pub capped: usize,
    /// Pairs that are none in the present boxes.
    pub fleeting: usize,
}

/// A mover on its way, in `steps` sub-steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way<const D: usize, T> {
    pub(super) slot: u32,
    pub(super) steps: u32,
    pub(super) from: Aabb<D, T>,
    pub(super) to: Aabb<D, T>,
}

impl<const D: usize, T: Real> Way<D, T> {
    /// The box after `number` sub-steps.
    pub(super) fn at(&self, number: u32) -> Aabb<D, T> {
        if number >= self.steps {
            return self.to;
        }
        let share = T::from_f64(f64::from(number) / f64::from(self.steps));
        // A way may be longer than the largest number, but not its parts.
        let between = |from: T, to: T| match to - from {
            _ if from == to => to,
            way if way.is_finite() => from + way * share,
            _ => from * (T::ONE - share) + to * share,
        };
        let min: [T; D] = std::array::from_fn(|k| between(self.from.min[k], self.to.min[k]));
        // Rounding must not turn a thin box inside out.
        Aabb::new(min, std::array::from_fn(|k| between(self.from.max[k], self.to.max[k]).max(min[k])))
    }
}

/// The remedy, and what it must remember.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(bound = "T: Real"))]
pub(super) struct Motion<const D: usize, T> {
    pub(super) detection: ContinuousDetection,
    /// By slot of the movers: the box at the last successful update, or an empty one. Kept if there is a remedy.
    #[cfg_attr(feature = "serde", serde(with = "crate::objects::bits::boxes"))]
    before: Vec<Aabb<D, T>>,
    /// Pairs of the last update that its last look did not see, sorted.
    pub(super) fleeting: Vec<(Handle, Handle)>,
    pub(super) stats: MotionStats,
    /// Those with more than one sub-step; scratch.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) ways: Vec<Way<D, T>>,
}

impl<const D: usize, T: Real> Default for Motion<D, T> {
    fn default() -> Self {
        let stats = MotionStats::default();
        Self { detection: ContinuousDetection::None, before: Vec::new(), fleeting: Vec::new(), stats, ways: Vec::new() }
    }
}

impl<const D: usize, T: Real> Motion<D, T> {
    /// Is a frame made of looks, or was the last one, so that its fleeting pairs are to end?
    pub(super) fn by_rate(&self) -> bool {
        matches!(self.detection, ContinuousDetection::SubSteps { .. }) || !self.fleeting.is_empty()
    }

    /// Where a mover was at the last update, if it has a way.
    fn before(&self, slot: u32) -> Option<&Aabb<D, T>> {
        self.before.get(slot as usize).filter(|aabb| aabb.is_valid())
    }

    /// A new update.
    pub(super) fn begin(&mut self) {
        self.stats = MotionStats { looks: 1, ..MotionStats::default() };
    }

    /// Finds all ways of more than one sub-step, and returns the largest number of them.
    pub(super) fn plan(&mut self, table: &Table<D, T>) -> u32 {
        self.ways.clear();
        let ContinuousDetection::SubSteps { step, most } = self.detection else { return 1 };
        let (mut ways, mut largest) = (std::mem::take(&mut self.ways), 1);
        for slot in table.movers.slots.ids() {
            let to = table.movers.plain(slot);
            let Some(&from) = self.before(slot).filter(|from| **from != to) else { continue };
            let needed = sub_steps(&from, &to, table.growth(table.movers.owners[slot as usize]), step);
            // The least power of two that is enough, or the largest that is allowed.
            let steps = if needed <= most { needed.next_power_of_two() } else { u32::MAX };
            let steps = if steps <= most { steps } else { 1 << most.ilog2() };
            self.stats.capped += usize::from(steps < needed);
            if steps > 1 {
                ways.push(Way { slot, steps, from, to });
                largest = largest.max(steps);
            }
        }
        self.stats.fast = ways.len();
        self.ways = ways;
        largest
    }

    /// Puts the swept boxes of this frame in place of the present ones.
    pub(super) fn sweep(&mut self, table: &mut Table<D, T>) {
        for slot in 0..table.movers.slots.len() as u32 {
            if table.movers.slots.contains(slot) {
                let plain = table.movers.plain(slot);
                let whole = self.before(slot).map_or(plain, |from| from.union(&plain));
                let growth = table.growth(table.movers.owners[slot as usize]);
                self.stats.fast += usize::from(table.movers.cover(slot, whole, growth));
            }
        }
    }

    /// The update was successful: ways begin here.
    pub(super) fn remember(&mut self, table: &Table<D, T>) {
        if self.detection == ContinuousDetection::None {
            return;
        }
        let movers = &table.movers;
        self.before.clear();
        self.before.resize(movers.slots.len(), Aabb::empty());
        movers.slots.ids().for_each(|slot| self.before[slot as usize] = movers.plain(slot));
    }

    /// The update failed: what comes next into a slot that is empty now has no way.
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
            + self.ways.capacity() * size_of::<Way<D, T>>()
    }
}

/// How many sub-steps a way needs so that none is longer than `step` sizes; saturates.
fn sub_steps<const D: usize, T: Real>(from: &Aabb<D, T>, to: &Aabb<D, T>, growth: T, step: f64) -> u32 {
    let apart = |a: T, b: T| if a == b { 0.0 } else { (a.to_f64() - b.to_f64()).abs() };
    let mut most = 1.0f64;
    for k in 0..D {
        let travel = apart(from.min[k], to.min[k]).max(apart(from.max[k], to.max[k]));
        if !travel.is_finite() {
            return 1; // a side that becomes infinite does not travel there
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
    /// Chooses what is done against objects that pass through each other between two updates. Ways begin with the next one.
    ///
    /// ```
    /// use broadphase::{Aabb, Object, ContinuousDetection, World2};
    /// let mut world = World2::new();
    /// world.set_continuous_detection(ContinuousDetection::SUB_STEPS)?;
    /// let wall = world.insert(Object::fixed(Aabb::new([5.0, 0.0], [5.1, 9.0])))?;
    /// let bullet = world.insert(Aabb::new([0.0, 4.0], [1.0, 5.0]))?;
    /// world.update()?;
    /// world.set_box(bullet, Aabb::new([10.0, 4.0], [11.0, 5.0]))?;
    /// assert_eq!(world.update()?.started(), [(wall, bullet)]); // it has passed through
    /// assert_eq!(world.update()?.ended(), [(wall, bullet)]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn set_continuous_detection(&mut self, detection: ContinuousDetection) -> Result<(), Error> {
        detection.check()?;
        if detection != self.motion.detection {
            self.motion.detection = detection;
            self.motion.before.clear();
            self.table.uncover();
            if detection == ContinuousDetection::Swept {
                self.table.keep_plain();
            }
            self.whole = true;
        }
        Ok(())
    }

    /// What is done against objects that pass through each other.
    pub fn continuous_detection(&self) -> ContinuousDetection {
        self.motion.detection
    }

    /// What the remedy did in the last update.
    pub fn motion_stats(&self) -> MotionStats {
        self.motion.stats
    }

    /// Moves or resizes an object that has no way there: with a [remedy](World::set_continuous_detection), it meets nobody between its last place and this one.
    pub fn teleport(&mut self, handle: Handle, aabb: Aabb<D, T>) -> Result<(), Error> {
        self.table.set_box(handle, aabb)?;
        let slot = self.slot(handle)?;
        if let Some(before) = slot.and_then(|slot| self.motion.before.get_mut(slot as usize)) {
            *before = Aabb::empty();
        }
        Ok(())
    }
}
