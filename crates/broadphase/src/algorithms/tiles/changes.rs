//! Coherence: what changed since the last frame, and what that touches.
//!
//! Three states. *Untracked*: only a small sample of boxes is remembered; where everything moves, comparing everything would be
//! wasted. *Tracked*: the last frame's boxes are remembered, because the sample stood still or because the caller lists changes;
//! a frame is compared box by box, or the lists are believed. *Restless*: a tracked frame moved too much; after a few of them,
//! tracking ends, and if it never paid, it does not start again for a while.
//!
//! To remember the first frame, in case that all stand still, lost: where they do not, fresh memory and its return cost half a
//! frame more than is saved where they do.

use super::lattice::{Flow, Lattice};
use super::partition::Partition;
use crate::geometry::{Aabb, Real};
use crate::kernels::tile::Record;
use crate::objects::{Changes, Frame, Live};

/// Up to how many changed slots of a thousand it pays to keep the pairs of the others.
///
/// To keep them costs a comparison of all boxes, a look at every kept pair, and the joins of the changed objects; to find all pairs again costs
/// the more, the more tests a full join makes per object. Measured with boxes of one size at 16,000 and 128,000 objects of which a share moves,
/// by CPU time (`cargo test --release -p broadphase --test tiles -- --ignored --nocapture cost_by_share`): the two cost the same at 45, 60
/// and 90 per mille for 46, 62 and 84 tests per object where boxes, records and pairs stay in the second-level cache, and at 22, 45 and 85 per
/// mille where they do not.
fn most_changed(slots: usize, tests_per_object: usize) -> usize {
    let per_mille = if slots <= IN_CACHE { tests_per_object } else { tests_per_object.saturating_sub(OUT_OF_CACHE) };
    per_mille.clamp(FEWEST_CHANGED, MOST_CHANGED)
}

/// Slots up to which boxes, records and pairs stay in the second-level cache.
const IN_CACHE: usize = 1 << 15;
/// What waiting for memory costs, in tests per object.
const OUT_OF_CACHE: usize = 20;
/// The bounds of [`most_changed`].
const FEWEST_CHANGED: usize = 10;
const MOST_CHANGED: usize = 125;
/// Tests per object of a full join that has not been counted yet.
const TYPICAL_TESTS: usize = 48;
/// Slots up to which records of changed objects are searched for tile by tile for one changed slot in `FEW`; beyond, for one in `FEW_OF_MANY`.
/// If more have changed, a pass over all records in order costs less.
const FIT: usize = 1 << 18;
const FEW: usize = 32;
const FEW_OF_MANY: usize = 128;

/// Restless frames in a row that end tracking.
const RESTLESS: u32 = 2;
/// Frames without tracking after it did not pay, the first time and at most. The number doubles each time.
const FIRST_PAUSE: u32 = 4;
const LONGEST_PAUSE: u32 = 64;
/// A common move counts from so many times its own error on.
const SIGNIFICANT: f64 = 3.0;
/// Objects that spread or gather by more than this in a frame jump; fewer moves than these are on a line by chance; and a line that slopes
/// has to be that of this part of them.
const STEEP: f64 = 0.5;
const FEWEST: f64 = 4.0;
const MOST: f64 = 0.6;
/// Boxes in the sample, about; of few objects, one in so many: to look at the sample would otherwise be a good part of the frame.
const SAMPLE: usize = 128;
const SAMPLED: usize = 32;

/// What an update has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Scatter everything; everything has changed.
    Everything,
    /// Scatter everything; the listed objects have changed.
    Flagged,
    /// Redo the listed objects.
    Listed,
}

/// What is known of the last frame, and what has changed since the last `pairs`.
#[derive(Clone, Debug)]
pub(super) struct Coherence<const D: usize, T> {
    /// The boxes and live slots of the last update, while `tracked`.
    pub(super) previous: Vec<Aabb<D, T>>,
    pub(super) live: Vec<u64>,
    tracked: bool,
    restless: u32,
    /// Has any frame been compared with success since tracking started?
    has_paid: bool,
    /// Frames until tracking may start again, and how many there were the last time.
    pause: u32,
    last_pause: u32,
    sample: Vec<Aabb<D, T>>,
    /// The number of slots that the sample was taken from, which decides the objects in it.
    sample_slots: usize,
    /// The changed slots of this update.
    pub(super) list: Vec<u32>,
    /// All changed slots since the last `pairs`: as bits, which stay in the cache while a block is looked through; by slot, since both
    /// objects of every pair are looked up; and as a list.
    pub(super) bits: Vec<u64>,
    pub(super) is_changed: Vec<bool>,
    pub(super) changed: Vec<u32>,
    /// Tiles that hold or held one of them.
    pub(super) touched: Vec<bool>,
    /// All of them do.
    pub(super) all_touched: bool,
    /// The records of changed objects, and no others, have a flag.
    pub(super) flagged: bool,
}

impl<const D: usize, T> Default for Coherence<D, T> {
    fn default() -> Self {
        Self {
            previous: Vec::new(),
            live: Vec::new(),
            tracked: false,
            restless: 0,
            has_paid: false,
            pause: 0,
            last_pause: 0,
            sample: Vec::new(),
            sample_slots: 0,
            list: Vec::new(),
            bits: Vec::new(),
            is_changed: Vec::new(),
            changed: Vec::new(),
            touched: Vec::new(),
            all_touched: true,
            flagged: false,
        }
    }
}

/// Is bit `id` set? Missing words count as zero.
#[inline(always)]
pub(super) fn bit(words: &[u64], id: u32) -> bool {
    Live::Bits(words).contains(id)
}

/// Is bit `id` set, of which there is a word?
#[inline(always)]
pub(super) fn is_set(words: &[u64], id: u32) -> bool {
    words[id as usize / 64] >> (id % 64) & 1 == 1
}

#[inline(always)]
pub(super) fn set_bit(words: &mut [u64], id: u32, value: bool) {
    let (word, bit) = (&mut words[id as usize / 64], 1 << (id % 64));
    *word = if value { *word | bit } else { *word & !bit };
}

impl<const D: usize, T: Real> Coherence<D, T> {
    /// Decides what an update does; for [`Plan::Listed`] and [`Plan::Flagged`], `list` holds the slots. `tests_per_object` are those of a full
    /// join, if they have been counted.
    pub(super) fn plan(&mut self, frame: &Frame<'_, D, T>, compare: bool, tests_per_object: Option<usize>) -> Plan {
        self.list.clear();
        let per_mille = most_changed(frame.slots(), tests_per_object.unwrap_or(TYPICAL_TESTS));
        let limit = frame.slots() * per_mille / 1000 + 8;
        self.pause = self.pause.saturating_sub(1);
        match frame.changes {
            Changes::Listed { moved, inserted, removed } if self.tracked => {
                if moved.len() + inserted.len() + removed.len() > limit {
                    return Plan::Everything;
                }
                self.list.extend(moved.iter().chain(inserted).chain(removed));
                self.plan_of_list(frame)
            }
            // The caller tells what changes: remember the boxes, so that the next list can be believed.
            Changes::Listed { .. } => self.track(),
            Changes::Unknown if compare && frame.may_compare() && self.tracked => {
                if self.previous.len() == frame.slots() && self.compare(frame, limit) {
                    (self.restless, self.has_paid) = (0, true);
                    return self.plan_of_list(frame);
                }
                self.list.clear();
                self.restless += 1;
                if self.restless == RESTLESS {
                    self.tracked = false;
                    self.last_pause = if self.has_paid { 0 } else { (2 * self.last_pause).clamp(FIRST_PAUSE, LONGEST_PAUSE) };
                    self.pause = self.last_pause;
                }
                Plan::Everything
            }
            Changes::Unknown
                if compare && frame.may_compare() && self.pause == 0 && self.sample_stands_still(frame, per_mille) =>
            {
                self.track()
            }
            Changes::Unknown | Changes::All => {
                self.tracked &= !matches!(frame.changes, Changes::All);
                Plan::Everything
            }
        }
    }

    fn track(&mut self) -> Plan {
        self.tracked = true;
        (self.restless, self.has_paid) = (0, false);
        Plan::Everything
    }

    /// The next frame is taken in whole.
    pub(super) fn lose_track(&mut self) {
        self.tracked = false;
    }

    fn plan_of_list(&self, frame: &Frame<'_, D, T>) -> Plan {
        let few = if frame.slots() <= FIT { FEW } else { FEW_OF_MANY };
        let many = self.list.len() > frame.slots() / few && frame.slots() < Record::FLAG as usize;
        if many { Plan::Flagged } else { Plan::Listed }
    }

    /// Lists what differs from the last frame; gives up when it is more than `limit`.
    fn compare(&mut self, frame: &Frame<'_, D, T>, limit: usize) -> bool {
        for (word, (now, before)) in frame.boxes.chunks(64).zip(self.previous.chunks(64)).enumerate() {
            let first = word as u32 * 64;
            let (is, was) = (frame.live.word(word, frame.slots()), self.live[word]);
            let mut changed = (differing(now, before) & is) | (is ^ was);
            if self.list.len() + changed.count_ones() as usize > limit {
                return false;
            }
            while changed != 0 {
                self.list.push(first + changed.trailing_zeros());
                changed &= changed - 1;
            }
        }
        true
    }

    /// Did so few objects of the sample move that comparing all boxes would pay? If there are more slots than when the sample was taken, the
    /// same objects are compared; if there are fewer, the answer is no.
    fn sample_stands_still(&self, frame: &Frame<'_, D, T>, per_mille: usize) -> bool {
        let Some(now) = frame.boxes.get(..self.sample_slots).filter(|_| !self.sample.is_empty()) else { return false };
        let moved = sample_of(now).zip(&self.sample).filter(|(now, before)| now != before).count();
        // A little less than the limit, so that tracking does not start in vain.
        moved * 1250 <= self.sample.len() * per_mille
    }

    /// Have objects jumped since the last frame: is more than the share `1 / share` of the sample in another tile? `before` is the lattice of the last
    /// frame. Most frames are told by the sample alone: an object that moved by less than its own size has not jumped.
    pub(super) fn has_jumped(
        &self,
        frame: &Frame<'_, D, T>,
        (before, now): (&Lattice<D, T>, &Lattice<D, T>),
        partition: &Partition,
        share: usize,
    ) -> bool {
        if self.sample_slots != frame.slots() {
            return false;
        }
        let is_far =
            |(to, from): &(&Aabb<D, T>, &Aabb<D, T>)| (0..D).any(|k| (to.min[k] - from.min[k]).abs() > from.max[k] - from.min[k]);
        let jumps = sample_of(frame.boxes).zip(&self.sample).filter(is_far);
        if jumps.clone().count() * share <= self.sample.len() {
            return false;
        }
        let tile = |lattice: &Lattice<D, T>, value: &Aabb<D, T>| partition.tile_at(&lattice.corners(value).low());
        jumps.filter(|(to, from)| tile(now, to) != tile(before, from)).count() * share > self.sample.len()
    }

    /// The axis along which all of the sample has moved since the last frame, if it has moved along no other.
    pub(super) fn rail(&self, frame: &Frame<'_, D, T>) -> Option<usize> {
        let mut has_moved = [false; D];
        for (now, before) in sample_of(frame.boxes).zip(&self.sample) {
            for (k, has_moved) in has_moved.iter_mut().enumerate() {
                *has_moved |= (now.min[k] != before.min[k]) | (now.max[k] != before.max[k]);
            }
        }
        let mut moved = (0..D).filter(|&k| has_moved[k]);
        moved.next().filter(|_| D == 3 && moved.next().is_none())
    }

    /// How the objects have moved since the last frame, all together, as far as the sample can tell: on each axis the straight line through
    /// the moves by place.
    ///
    /// What is not far from zero, compared with how it scatters, counts as zero. What was not on the lattice does not count: one outlier
    /// would be a line by itself. So would one that jumped among others that stood still, so a line must also come close to the moves of
    /// most.
    pub(super) fn flow(&self, frame: &Frame<'_, D, T>, lattice: &Lattice<D, T>) -> [Flow; D] {
        let moves = sample_of(frame.boxes).zip(&self.sample).filter(|(_, before)| lattice.holds(before));
        let on_axis = |k: usize, now: &Aabb<D, T>, before: &Aabb<D, T>| {
            let x = before.min[k].to_f64();
            (x - lattice.start(k), now.min[k].to_f64() - x)
        };
        let mut sums = [Moves::default(); D];
        for (now, before) in moves.clone() {
            for (k, sums) in sums.iter_mut().enumerate() {
                let (place, by) = on_axis(k, now, before);
                sums.add(place, by);
            }
        }
        std::array::from_fn(|k| {
            let mut flow = sums[k].flow(true);
            let follows = |(place, by): (f64, f64)| (flow.of(place) - place - by).abs() * 2.0 < by.abs();
            if flow.factor != 1.0 {
                let followers = moves.clone().filter(|(now, before)| follows(on_axis(k, now, before))).count();
                if (followers as f64) < MOST * sums[k].count {
                    flow = sums[k].flow(false);
                }
            }
            Flow { center: flow.center + lattice.start(k), ..flow }
        })
    }

    /// After everything was scattered: remembers what the state asks for.
    pub(super) fn remember(&mut self, frame: &Frame<'_, D, T>, tiles: usize) {
        self.sample.clear();
        self.sample.extend(sample_of(frame.boxes));
        self.sample_slots = frame.slots();
        self.live.clear();
        self.previous.resize(if self.tracked { frame.slots() } else { 0 }, Aabb::default());
        if self.tracked {
            self.previous.copy_from_slice(frame.boxes); // to extend it, box by box, takes ten times as long
            self.live.resize(frame.slots().div_ceil(64), 0);
            let slots = frame.slots();
            self.live.iter_mut().enumerate().for_each(|(word, live)| *live = frame.live.word(word, slots));
        }
        self.forget_changes();
        self.touched.clear();
        self.touched.resize(tiles, false);
        self.bits.resize(frame.slots().div_ceil(64), 0);
        self.is_changed.resize(frame.slots(), false);
        self.all_touched = true;
    }

    /// Makes room for more slots, which start empty.
    pub(super) fn grow(&mut self, slots: usize) {
        self.previous.resize(slots, Aabb::default());
        self.live.resize(slots.div_ceil(64), 0);
        self.bits.resize(slots.div_ceil(64), 0);
        self.is_changed.resize(slots, false);
    }

    /// Books one change; the slot's box from now on is `now`, or it is empty.
    pub(super) fn book(&mut self, id: u32, now: Option<&Aabb<D, T>>) {
        if !bit(&self.bits, id) {
            set_bit(&mut self.bits, id, true);
            self.is_changed[id as usize] = true;
            self.changed.push(id);
        }
        set_bit(&mut self.live, id, now.is_some());
        if let Some(now) = now {
            self.previous[id as usize] = *now;
        }
    }

    /// All changes have found their way into pairs.
    pub(super) fn forget_changes(&mut self) {
        for id in self.changed.drain(..) {
            set_bit(&mut self.bits, id, false);
            self.is_changed[id as usize] = false;
        }
        self.touched.fill(false);
        self.all_touched = false;
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        (self.previous.capacity() + self.sample.capacity()) * size_of::<Aabb<D, T>>()
            + (self.live.capacity() + self.bits.capacity()) * 8
            + self.is_changed.capacity()
            + (self.list.capacity() + self.changed.capacity()) * 4
            + self.touched.capacity()
    }
}

/// Sums over places and moves on one axis, in one pass.
#[derive(Clone, Copy, Debug, Default)]
struct Moves {
    count: f64,
    places: f64,
    moves: f64,
    places_squared: f64,
    products: f64,
    moves_squared: f64,
}

impl Moves {
    #[inline(always)]
    fn add(&mut self, place: f64, by: f64) {
        if by.is_finite() {
            self.count += 1.0;
            self.places += place;
            self.moves += by;
            self.places_squared += place * place;
            self.products += place * by;
            self.moves_squared += by * by;
        }
    }

    /// The line through the moves by place, which may slope or not, as far as it is significant.
    fn flow(&self, may_slope: bool) -> Flow {
        if self.count < FEWEST {
            return Flow::NONE;
        }
        let (center, mean) = (self.places / self.count, self.moves / self.count);
        let width = self.places_squared - center * self.places;
        let common = self.products - center * self.moves;
        let scatter = (self.moves_squared - mean * self.moves).max(0.0);
        let slope = if width > 0.0 { common / width } else { 0.0 };
        let left = (scatter - slope * common).max(0.0);
        let is_slope = may_slope && slope.abs() < STEEP && slope * common * self.count > SIGNIFICANT * SIGNIFICANT * left;
        let (slope, left) = if is_slope { (slope, left) } else { (0.0, scatter) };
        let is_shift = mean.abs() * self.count > SIGNIFICANT * left.sqrt();
        Flow { center, by: if is_shift { mean } else { 0.0 }, factor: 1.0 + slope }
    }
}

/// A bit for each of up to 64 boxes that differs. Bit for bit: -0.0 differs from 0.0, which costs a test and no more.
#[inline(always)]
fn differing<const D: usize, T: Real>(now: &[Aabb<D, T>], before: &[Aabb<D, T>]) -> u64 {
    let mut changed = 0;
    for (at, (now, before)) in now.iter().zip(before).enumerate() {
        let mut difference = 0;
        for (x, y) in bytemuck::bytes_of(now).as_chunks::<8>().0.iter().zip(bytemuck::bytes_of(before).as_chunks::<8>().0) {
            difference |= u64::from_ne_bytes(*x) ^ u64::from_ne_bytes(*y);
        }
        changed |= u64::from(difference != 0) << at;
    }
    changed
}

/// Some boxes, spread over the slots, at uneven distances: a caller may move every tenth object.
fn sample_of<const D: usize, T: Real>(boxes: &[Aabb<D, T>]) -> impl Iterator<Item = &Aabb<D, T>> + Clone {
    let stride = boxes.len().div_ceil(SAMPLE).max(SAMPLED);
    (0..boxes.len()).step_by(stride).enumerate().map(move |(index, start)| {
        let random = u64::from((index as u32).wrapping_mul(0x9e37_79b9));
        &boxes[(start + ((random * stride as u64) >> 32) as usize).min(boxes.len() - 1)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How 2,000 points on a diagonal flow, on the first axis, when each is moved.
    fn flow_of(motion: impl Fn(usize, f64) -> f64) -> Flow {
        let before: Vec<Aabb<2, f64>> = (0..2000).map(|i| Aabb::point([f64::from(i); 2])).collect();
        let after: Vec<_> = before.iter().enumerate().map(|(i, b)| Aabb::point([motion(i, b.min[0]), b.min[1]])).collect();
        let (first, second) = (Frame::new(&before), Frame::new(&after));
        let mut coherence = Coherence::default();
        coherence.remember(&first, 1);
        let [flow, other] = coherence.flow(&second, &Lattice::over(&first));
        assert_eq!((other.by, other.factor), (0.0, 1.0), "nothing happens on the other axis");
        flow
    }

    /// A number from -1 to 1, a different one for each object.
    fn noise(i: usize) -> f64 {
        (i as u32).wrapping_mul(0x9e37_79b9) as f64 / f64::from(1u32 << 31) - 1.0
    }

    #[test]
    fn a_flow_is_what_most_have_in_common() {
        let is_none = |flow: Flow| (flow.by, flow.factor) == (0.0, 1.0);
        assert!(is_none(flow_of(|_, x| x)), "all stand still");
        let drift = flow_of(|i, x| x + 5.0 + noise(i));
        assert!((drift.by - 5.0).abs() < 0.5 && drift.factor == 1.0, "{drift:?}");
        let spread = flow_of(|i, x| x * 1.1 - 40.0 + noise(i));
        assert!((spread.of(0.0) + 40.0).abs() < 2.0 && (spread.factor - 1.1).abs() < 0.01, "{spread:?}");
        // One in a hundred jumps, all of them from one end, which makes a fine line; the rest stands still.
        let jumps = flow_of(|i, x| if i > 1980 { x + 5000.0 } else { x });
        assert_eq!(jumps.factor, 1.0, "{jumps:?}");
        assert!(is_none(flow_of(|i, x| x + f64::INFINITY * f64::from(i as u8 % 2))), "nobody knows");
        assert_eq!(flow_of(|_, x| x * 3.0).factor, 1.0, "that is no flow");
    }
}
