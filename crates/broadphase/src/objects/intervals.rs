//! Update intervals: a structure sees the boxes of slow objects less often than once per update.

use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory;
use crate::objects::{Changes, Frame, Shape};

/// What the memory is for, in errors.
const SHOWN: &str = "the boxes of slow objects";

/// Lets a structure see slow objects at longer intervals: opt-in, in front of any structure, and **able to miss pairs for a while**.
///
/// It stands between the caller's boxes and a structure. The structure sees an object's new box when one of the sides has moved by at least `share`
/// of the radius of the object's bounding sphere since it was last seen, and after `most` updates at the latest. So the interval of an object is
/// `share * radius / speed` updates, and at most `most`: fast objects are seen in every update, slow ones rarely. Paper 004 proposes this in section
/// 4.1, together with shorter steps for fast objects. For these, call [`show`](UpdateIntervals::show) more often, with boxes along the way, or see
/// [`ContinuousDetection`](crate::ContinuousDetection). `broadphase reproduce 004-tunneling` measures what each of the two saves and misses.
///
/// # What holds
/// - Two objects whose boxes overlap by more than `share * (radius + radius)` on every axis are a pair, and no pair is farther apart than that on any axis.
/// - A missing pair is found, and an ended one removed, when one of the two is seen again: after `most` updates at the latest.
/// - With `share` 0 every object is seen in every update.
/// - Insertions and removals take effect at once; an object with an infinite side is seen in every update in which its box changes.
/// - To miss no pair, grow the boxes by `share * radius` first. Some pairs are then reported early.
///
/// # Cost
/// A pass over all boxes, and a copy of them. It saves the structure's work for objects that hardly move; a structure that starts from scratch in every
/// frame gains nothing.
///
/// ```
/// use broadphase::{Aabb, Context, Frame, PairStore, Spec, UpdateIntervals, step};
/// let mut boxes = [Aabb::new([0.0f32; 2], [2.0; 2]), Aabb::new([2.1, 0.0], [4.1, 2.0])];
/// let mut structure = "auto".parse::<Spec>()?.build::<2, f32>()?;
/// let (mut context, mut pairs) = (Context::new(), PairStore::default());
/// let mut intervals = UpdateIntervals::new(0.25, 8)?;
/// let mut updates = 0;
/// while pairs.is_empty() {
///     boxes[0] = boxes[0].translate([0.06, 0.0]); // they touch in the second update
///     let seen = intervals.show(&Frame::new(&boxes))?;
///     step(&mut *structure, &seen, &mut context, &mut pairs)?;
///     updates += 1;
/// }
/// // A quarter of the radius of 1.41 is six times 0.06.
/// assert_eq!(updates, 7);
/// # Ok::<(), broadphase::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct UpdateIntervals<const D: usize, T> {
    share: f64,
    most: u32,
    /// By slot: the box that was last shown.
    shown: Vec<Aabb<D, T>>,
    /// By slot: the number of updates since the shown box was the object's current one, or [`GONE`] for a slot without an object.
    ages: Vec<u32>,
    /// Objects whose box was shown in the last update and differs from the one shown before, ascending.
    due: Vec<u32>,
    /// Objects whose box was held back in the last update.
    held: usize,
}

/// The age of an empty slot.
const GONE: u32 = u32::MAX;

impl<const D: usize, T: Real> UpdateIntervals<D, T> {
    /// The sides of a shown box may be off by less than `share` of the radius of the object's bounding sphere, for fewer than `most` updates.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless `share` is from 0 to 1 and `most` at least 1.
    pub fn new(share: f64, most: u32) -> Result<Self, Error> {
        let fault = |argument, value: String, expected| Err(Error::InvalidArgument { argument, value, expected });
        if !(0.0..=1.0).contains(&share) {
            return fault("the share of UpdateIntervals", share.to_string(), "a number from 0 to 1");
        }
        if most == 0 || most == GONE {
            return fault("the most of UpdateIntervals", most.to_string(), "a number from 1 to 4294967294");
        }
        Ok(Self { share, most, shown: Vec::new(), ages: Vec::new(), due: Vec::new(), held: 0 })
    }

    /// The frame that the structure is to see in this update: the current boxes of objects that are due, and the last shown boxes of all others. Live
    /// slots, tags, shape and filter are those of `frame`; its list of changes is not used.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; no box is shown then. An invalid box is shown, so that the structure's error names it.
    pub fn show<'a>(&'a mut self, frame: &Frame<'a, D, T>) -> Result<Frame<'a, D, T>, Error> {
        let slots = frame.slots();
        self.due.clear();
        memory::reserve(&mut self.due, slots, SHOWN)?;
        memory::resize(&mut self.shown, slots, Aabb::empty(), SHOWN)?;
        memory::resize(&mut self.ages, slots, GONE, SHOWN)?;
        self.held = 0;
        for (id, value) in (0..slots as u32).zip(frame.boxes) {
            let (shown, age) = (&mut self.shown[id as usize], &mut self.ages[id as usize]);
            if !frame.live.contains(id) {
                *age = GONE;
            } else if *age == GONE || !is_same(value, shown) {
                let waits = *age != GONE && *age + 1 < self.most && is_near(value, shown, self.share, frame.shape);
                if waits {
                    *age += 1;
                    self.held += 1;
                } else {
                    (*shown, *age) = (*value, 0);
                    self.due.push(id); // reserved
                }
            } else {
                *age = 0;
            }
        }
        Ok(Frame { boxes: &self.shown, changes: Changes::Unknown, ..*frame })
    }

    /// The objects whose current box the last [`show`](UpdateIntervals::show) passed on as new: those inserted, moved far enough, or held back for long
    /// enough. Ascending.
    pub fn due(&self) -> &[u32] {
        &self.due
    }

    /// The number of objects that had moved and were held back.
    pub fn held(&self) -> usize {
        self.held
    }
}

/// Are the boxes equal? A box with NaN equals none.
fn is_same<const D: usize, T: Real>(a: &Aabb<D, T>, b: &Aabb<D, T>) -> bool {
    (0..D).all(|k| a.min[k] == b.min[k] && a.max[k] == b.max[k])
}

/// Has every side moved by less than `share` of the radius of the bounding sphere since it was shown? False if a side is infinite or NaN.
fn is_near<const D: usize, T: Real>(value: &Aabb<D, T>, shown: &Aabb<D, T>, share: f64, shape: Shape) -> bool {
    let side = |k: usize| shown.max[k].to_f64() - shown.min[k].to_f64();
    let radius = match shape {
        Shape::Box => 0.5 * (0..D).map(|k| side(k) * side(k)).sum::<f64>().sqrt(),
        Shape::Ball => 0.5 * (0..D).map(side).fold(f64::INFINITY, f64::min),
    };
    let moved = |from: T, to: T| (to.to_f64() - from.to_f64()).abs();
    let limit = share * radius;
    limit.is_finite() && (0..D).all(|k| moved(shown.min[k], value.min[k]) < limit && moved(shown.max[k], value.max[k]) < limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Live;

    fn ball(x: f64, radius: f64) -> Aabb<2, f64> {
        Aabb::from_center([x, 0.0], [radius; 2])
    }

    #[test]
    fn the_interval_is_the_share_of_the_radius_over_the_speed_and_at_most_the_given_one() {
        // Speeds in radii per update, and the interval with a share of 0.5 and at most 8.
        for (speed, every) in [(0.6, 1), (0.5, 1), (0.26, 2), (0.13, 4), (0.01, 8), (0.0, 0)] {
            let mut intervals = UpdateIntervals::new(0.5, 8).unwrap();
            let mut seen = Vec::new();
            for update in 0..33 {
                let boxes = [ball(4.0 * speed * f64::from(update), 4.0)];
                let frame = Frame { shape: Shape::Ball, ..Frame::new(&boxes) };
                intervals.show(&frame).unwrap();
                if !intervals.due().is_empty() {
                    seen.push(update);
                }
                assert_eq!(intervals.held(), usize::from(intervals.due().is_empty() && speed > 0.0));
            }
            let expected: Vec<i32> = if every == 0 { vec![0] } else { (0..33).step_by(every).collect() };
            assert_eq!(seen, expected, "speed {speed}");
        }
    }

    #[test]
    fn sides_are_never_off_by_more_than_the_share_and_pairs_deeper_than_that_are_never_missed() {
        let mut state = 5u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        let (share, n) = (0.3, 60);
        let mut boxes: Vec<Aabb<2, f64>> =
            (0..n).map(|_| Aabb::from_center([random() * 20.0, random() * 20.0], [0.2 + random(), 0.2 + random()])).collect();
        let radius = |b: &Aabb<2, f64>| 0.5 * (b.size()[0].powi(2) + b.size()[1].powi(2)).sqrt();
        let mut intervals = UpdateIntervals::new(share, 1000).unwrap();
        let (mut held, mut missed) = (0, 0);
        for _ in 0..200 {
            boxes.iter_mut().for_each(|b| *b = b.translate([(random() - 0.5) * 0.2, (random() - 0.5) * 0.2]));
            let shown = intervals.show(&Frame::new(&boxes)).unwrap().boxes.to_vec();
            held += intervals.held();
            for (a, b) in (0..n).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let gap = |of: &[Aabb<2, f64>]| {
                    (0..2).map(|k| (of[a].min[k] - of[b].max[k]).max(of[b].min[k] - of[a].max[k])).fold(f64::MIN, f64::max)
                };
                let (limit, overlaps) = (share * (radius(&boxes[a]) + radius(&boxes[b])), gap(&shown) <= 0.0);
                assert!(overlaps || gap(&boxes) > -limit, "a deep pair is missed");
                assert!(!overlaps || gap(&boxes) < limit, "a pair that is far apart");
                missed += usize::from(!overlaps && gap(&boxes) <= 0.0);
            }
        }
        assert!(held > 100 && missed > 10, "{held} held back, {missed} missed for a while");
    }

    #[test]
    fn inserted_reused_infinite_and_nan_boxes_are_shown_at_once() {
        let mut intervals = UpdateIntervals::new(1.0, 100).unwrap();
        let mut boxes = [ball(0.0, 1.0), ball(9.0, 1.0), ball(20.0, 1.0)];
        let show = |intervals: &mut UpdateIntervals<2, f64>, boxes: &[Aabb<2, f64>], live: &[u64]| {
            intervals.show(&Frame { live: Live::Bits(live), ..Frame::new(boxes) }).unwrap();
            intervals.due().to_vec()
        };
        assert_eq!(show(&mut intervals, &boxes, &[0b011]), [0, 1]);
        assert_eq!(show(&mut intervals, &boxes, &[0b110]), [2]);
        // Slot 0 holds another object now, near the one before.
        boxes[0] = boxes[0].translate([0.1, 0.0]);
        assert_eq!(show(&mut intervals, &boxes, &[0b111]), [0]);
        boxes[1].max[1] = f64::INFINITY;
        boxes[2].min[0] = f64::NAN;
        assert_eq!(show(&mut intervals, &boxes, &[0b111]), [1, 2]);
        boxes[1] = boxes[1].translate([0.1, 0.0]);
        assert_eq!(show(&mut intervals, &boxes, &[0b111]), [1, 2], "NaN is no box that can be kept");
        assert!(show(&mut intervals, &boxes[..1], &[0b1]).is_empty());
        assert_eq!(intervals.shown.len(), 1);
    }

    #[test]
    fn with_a_share_of_zero_everything_that_moves_is_shown_and_bad_arguments_are_errors() {
        let mut intervals = UpdateIntervals::new(0.0, 100).unwrap();
        for update in 0..5 {
            intervals.show(&Frame::new(&[ball(1e-9 * f64::from(update), 1.0), ball(5.0, 1.0)])).unwrap();
            assert_eq!(intervals.due(), if update == 0 { &[0, 1][..] } else { &[0] });
        }
        for (share, most) in [(-0.1, 1), (1.1, 1), (f64::NAN, 1), (0.5, 0), (0.5, u32::MAX)] {
            let error = UpdateIntervals::<2, f32>::new(share, most).unwrap_err();
            let argument = if share == 0.5 { "the most of UpdateIntervals" } else { "the share of UpdateIntervals" };
            assert_eq!((error.code(), error.argument()), ("invalid-argument", Some(argument)));
        }
    }
}
