//! Motion that all objects share, estimated from the sample: motion along a single axis, and common drift, expansion and contraction.

use super::lattice::Lattice;
use super::partition::Partition;
use super::plan::tuned::{FEWEST_MOVES, FOLLOWERS, SIGNIFICANT, STEEP};
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::objects::changes::ChangeTracker;

/// The common motion of all objects along an axis: a shift, and a scaling about a center.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GlobalMotion {
    pub(crate) center: f64,
    pub(crate) shift: f64,
    pub(crate) factor: f64,
}

impl GlobalMotion {
    /// No motion.
    pub(crate) const NONE: Self = Self { center: 0.0, shift: 0.0, factor: 1.0 };

    /// Where the motion takes `x`.
    pub(crate) fn apply(&self, x: f64) -> f64 {
        x + self.shift + (self.factor - 1.0) * (x - self.center)
    }
}

/// How many objects of the sample are in another tile than in the last frame, whose lattice was `before`. An object that moved by less than its
/// own size counts as staying in its tile, so most frames need no look-up.
pub(super) fn relocated<const D: usize, T: Real>(
    tracker: &ChangeTracker<D, T>,
    frame: &Frame<'_, D, T>,
    (before, now): (&Lattice<D, T>, &Lattice<D, T>),
    partition: &Partition,
) -> usize {
    let is_far =
        |(to, from): &(&Aabb<D, T>, &Aabb<D, T>)| (0..D).any(|k| (to.min[k] - from.min[k]).abs() > from.max[k] - from.min[k]);
    let tile = |lattice: &Lattice<D, T>, value: &Aabb<D, T>| partition.tile_at(&lattice.corners(value).low());
    tracker.sample(frame).filter(is_far).filter(|(to, from)| tile(now, to) != tile(before, from)).count()
}

/// The axis along which all objects of the sample moved since the last frame, if they moved along no other. `None` in the plane, where it is not used.
pub(super) fn motion_axis<const D: usize, T: Real>(tracker: &ChangeTracker<D, T>, frame: &Frame<'_, D, T>) -> Option<usize> {
    let mut has_moved = [false; D];
    for (now, before) in tracker.sample(frame) {
        for (k, has_moved) in has_moved.iter_mut().enumerate() {
            *has_moved |= (now.min[k] != before.min[k]) | (now.max[k] != before.max[k]);
        }
    }
    let mut moved = (0..D).filter(|&k| has_moved[k]);
    moved.next().filter(|_| D == 3 && moved.next().is_none())
}

/// The common motion of the objects since the last frame, estimated from the sample: on each axis, a straight line fitted to the moves as a
/// function of position.
///
/// A shift or slope that is small compared with its standard error counts as zero. Objects that were off the lattice are ignored, since one
/// outlier would determine the line. So would one object that jumps while the others rest; therefore a slope must also come close to the moves of
/// most objects.
pub(super) fn global_motion<const D: usize, T: Real>(
    tracker: &ChangeTracker<D, T>,
    frame: &Frame<'_, D, T>,
    lattice: &Lattice<D, T>,
) -> [GlobalMotion; D] {
    let moves = tracker.sample(frame).filter(|(_, before)| lattice.contains(before));
    let on_axis = |k: usize, now: &Aabb<D, T>, before: &Aabb<D, T>| {
        let x = before.min[k].to_f64();
        (x - lattice.start(k), now.min[k].to_f64() - x)
    };
    let mut fits = [LineFit::default(); D];
    for (now, before) in moves.clone() {
        for (k, fit) in fits.iter_mut().enumerate() {
            let (place, by) = on_axis(k, now, before);
            fit.add(place, by);
        }
    }
    std::array::from_fn(|k| {
        let mut motion = fits[k].motion(true);
        let follows = |(place, by): (f64, f64)| (motion.apply(place) - place - by).abs() * 2.0 < by.abs();
        if motion.factor != 1.0 {
            let followers = moves.clone().filter(|(now, before)| follows(on_axis(k, now, before))).count();
            if (followers as f64) < FOLLOWERS * fits[k].count {
                motion = fits[k].motion(false);
            }
        }
        GlobalMotion { center: motion.center + lattice.start(k), ..motion }
    })
}

/// Sums over places and moves on one axis, for a least-squares line.
#[derive(Clone, Copy, Debug, Default)]
struct LineFit {
    count: f64,
    places: f64,
    moves: f64,
    places_squared: f64,
    products: f64,
    moves_squared: f64,
}

impl LineFit {
    /// Adds the move of one object.
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

    /// The fitted line, without the parts that are not significant, and without a slope unless `may_slope`.
    fn motion(&self, may_slope: bool) -> GlobalMotion {
        if self.count < FEWEST_MOVES {
            return GlobalMotion::NONE;
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
        GlobalMotion { center, shift: if is_shift { mean } else { 0.0 }, factor: 1.0 + slope }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The common motion of 2,000 points on a diagonal, on the first axis, when each is moved.
    fn motion_of(motion: impl Fn(usize, f64) -> f64) -> GlobalMotion {
        let before: Vec<Aabb<2, f64>> = (0..2000).map(|i| Aabb::point([f64::from(i); 2])).collect();
        let after: Vec<_> = before.iter().enumerate().map(|(i, b)| Aabb::point([motion(i, b.min[0]), b.min[1]])).collect();
        let (first, second) = (Frame::new(&before), Frame::new(&after));
        let mut tracker = ChangeTracker::default();
        tracker.commit_everything(&first).unwrap();
        let [motion, other] = global_motion(&tracker, &second, &Lattice::over(&first).unwrap());
        assert_eq!((other.shift, other.factor), (0.0, 1.0), "nothing happens on the other axis");
        motion
    }

    /// A number from -1 to 1, a different one for each object.
    fn noise(i: usize) -> f64 {
        (i as u32).wrapping_mul(0x9e37_79b9) as f64 / f64::from(1u32 << 31) - 1.0
    }

    #[test]
    fn global_motion_is_what_most_objects_have_in_common() {
        let is_none = |motion: GlobalMotion| (motion.shift, motion.factor) == (0.0, 1.0);
        assert!(is_none(motion_of(|_, x| x)), "all stand still");
        let drift = motion_of(|i, x| x + 5.0 + noise(i));
        assert!((drift.shift - 5.0).abs() < 0.5 && drift.factor == 1.0, "{drift:?}");
        let spread = motion_of(|i, x| x * 1.1 - 40.0 + noise(i));
        assert!((spread.apply(0.0) + 40.0).abs() < 2.0 && (spread.factor - 1.1).abs() < 0.01, "{spread:?}");
        // One in a hundred jumps, all of them from one end, which makes a good line; the rest is at rest.
        let jumps = motion_of(|i, x| if i > 1980 { x + 5000.0 } else { x });
        assert_eq!(jumps.factor, 1.0, "{jumps:?}");
        assert!(is_none(motion_of(|i, x| x + f64::INFINITY * f64::from(i as u8 % 2))), "infinite moves do not count");
        assert_eq!(motion_of(|_, x| x * 3.0).factor, 1.0, "too steep");
    }
}
