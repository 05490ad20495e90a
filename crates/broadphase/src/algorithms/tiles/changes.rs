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
use super::plan::tuned::{
    FEWEST_MOVES, FIRST_PAUSE, FOLLOWERS, LONGEST_PAUSE, SAMPLE, SAMPLED, SIGNIFICANT, STEEP, TRACKING_TRIES,
};
use super::plan::{Changed, comparing_pays};
use crate::geometry::{Aabb, Real};
use crate::objects::{Changes, Frame, Live};

/// What is known of the last frame, and what has changed since the last `pairs`.
#[derive(Clone, Debug)]
pub(super) struct Coherence<const D: usize, T> {
    /// The boxes and live slots of the last update, while `tracked`.
    pub(super) previous: Vec<Aabb<D, T>>,
    pub(super) live: Vec<u64>,
    tracked: bool,
    failures: u32,
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
            failures: 0,
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
    /// What has changed since the last update; if slots, `list` holds them. Beyond `per_mille` of the slots, it does not pay to tell them apart.
    pub(super) fn changed(&mut self, frame: &Frame<'_, D, T>, compare: bool, per_mille: usize) -> Changed {
        self.list.clear();
        let limit = frame.slots() * per_mille / 1000 + 8;
        self.pause = self.pause.saturating_sub(1);
        let may_compare = compare && frame.may_compare();
        match frame.changes {
            Changes::Listed { moved, inserted, removed } if self.tracked => {
                if moved.len() + inserted.len() + removed.len() > limit {
                    return Changed::Everything;
                }
                self.list.extend(moved.iter().chain(inserted).chain(removed));
                return Changed::Slots(self.list.len());
            }
            // The caller tells what changes: remember the boxes, so that the next list can be believed.
            Changes::Listed { .. } => self.track(),
            Changes::Unknown if may_compare && self.tracked => {
                if self.previous.len() == frame.slots() && self.compare(frame, limit) {
                    (self.failures, self.has_paid) = (0, true);
                    return Changed::Slots(self.list.len());
                }
                self.list.clear();
                self.failures += 1;
                if self.failures == TRACKING_TRIES {
                    self.tracked = false;
                    self.last_pause = if self.has_paid { 0 } else { (2 * self.last_pause).clamp(FIRST_PAUSE, LONGEST_PAUSE) };
                    self.pause = self.last_pause;
                }
            }
            Changes::Unknown if may_compare && self.pause == 0 && self.sample_stands_still(frame, per_mille) => self.track(),
            Changes::Unknown => (),
            Changes::All => self.tracked = false,
        }
        Changed::Everything
    }

    /// Remembers the boxes from this frame on.
    fn track(&mut self) {
        self.tracked = true;
        (self.failures, self.has_paid) = (0, false);
    }

    /// The next frame is taken in whole.
    pub(super) fn lose_track(&mut self) {
        self.tracked = false;
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
        let Some(now) = frame.boxes.get(..self.sample_slots) else { return false };
        let moved = sample_of(now).zip(&self.sample).filter(|(now, before)| now != before).count();
        comparing_pays(moved, self.sample.len(), per_mille)
    }

    /// How many of the sample are in another tile than in the last frame, whose lattice was `before`. An object that moved by less than its own size
    /// counts as being in the same tile, so that most frames look nothing up.
    pub(super) fn relocated(
        &self,
        frame: &Frame<'_, D, T>,
        (before, now): (&Lattice<D, T>, &Lattice<D, T>),
        partition: &Partition,
    ) -> usize {
        if self.sample_slots != frame.slots() {
            return 0;
        }
        let is_far =
            |(to, from): &(&Aabb<D, T>, &Aabb<D, T>)| (0..D).any(|k| (to.min[k] - from.min[k]).abs() > from.max[k] - from.min[k]);
        let tile = |lattice: &Lattice<D, T>, value: &Aabb<D, T>| partition.tile_at(&lattice.corners(value).low());
        let far = sample_of(frame.boxes).zip(&self.sample).filter(is_far);
        far.filter(|(to, from)| tile(now, to) != tile(before, from)).count()
    }

    /// How many objects are sampled.
    pub(super) fn sampled(&self) -> usize {
        self.sample.len()
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
                if (followers as f64) < FOLLOWERS * sums[k].count {
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
        if self.count < FEWEST_MOVES {
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
