//! The world of a bounded structure: where it subdivides space. Objects outside stay correct, but share the cells at the border.
//!
//! The first world is the box of the objects' finite coordinates plus 10 %. It is fitted again when the objects have moved elsewhere:
//!
//! 1. when more than one in [`OUTSIDE_SHARE`] objects has its center outside (and more than [`OUTSIDE_LEAST`] do);
//! 2. when a side is more than [`SHRINK`] times what the objects need. That takes a pass over all boxes, so it is checked once for every
//!    [`CHANGES_PER_CHECK`] changes per object.
//!
//! A fitted world contains all objects, with 5 % to spare on each side, so neither condition holds right after a fit. The cost of a fit
//! is linear in the objects, and both conditions take a number of changes in proportion to them.
//!
//! A world that the caller has given is never changed.

use crate::algorithms::Spec;
use crate::algorithms::common::TrackedBoxes;
use crate::bits::BitSet;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::unbounded::is_bounded;

/// One object in this many may lie outside. If all of them share one border cell, they cost n²/2048 tests.
const OUTSIDE_SHARE: usize = 32;
/// Up to this many objects outside are never too many.
const OUTSIDE_LEAST: usize = 8;
/// The side of the world by that of the objects, above which the world is too large.
const SHRINK: f64 = 1.5;
/// Changes per object from one check of the size to the next.
const CHANGES_PER_CHECK: usize = 4;

/// Are so many of `objects` outside that the world must be fitted again?
pub(crate) fn too_many_outside(outside: usize, objects: usize) -> bool {
    outside > OUTSIDE_LEAST && outside > objects / OUTSIDE_SHARE
}

/// Is a world too large on an axis for objects that would fit into a world of side `fitted`?
pub(crate) fn is_too_large(side: f64, fitted: f64) -> bool {
    side > SHRINK * fitted
}

/// The region that a structure subdivides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct World<const D: usize, T> {
    /// The lower corner.
    pub(crate) min: [T; D],
    /// The extent; finite, and 0 on an axis on which all objects lie in one plane.
    pub(crate) extent: [T; D],
}

impl<const D: usize, T: Real> World<D, T> {
    /// The world of these boxes, or `None` if there are none: their finite coordinates plus 10 %. Coordinates beyond a quarter of the
    /// range count as that quarter, so that the extent stays finite.
    pub(crate) fn around<'a>(boxes: impl Iterator<Item = &'a Aabb<D, T>>) -> Option<Self> {
        let (mut seen, mut hull) = (false, Aabb::<D, T>::empty());
        for value in boxes {
            seen = true;
            for k in 0..D {
                for c in [value.min[k], value.max[k]].into_iter().filter(|c| c.is_finite()) {
                    hull.min[k] = hull.min[k].min(in_range(c));
                    hull.max[k] = hull.max[k].max(in_range(c));
                }
            }
        }
        let twentieth = T::from_f64(0.05);
        let side =
            |k: usize| if hull.min[k] <= hull.max[k] { (hull.min[k], hull.max[k] - hull.min[k]) } else { (T::ZERO, T::ZERO) };
        seen.then(|| Self {
            min: std::array::from_fn(|k| side(k).0 - side(k).1 * twentieth),
            extent: std::array::from_fn(|k| side(k).1 * T::from_f64(1.1)),
        })
    }

    /// The world of a given box, as it is.
    fn given(value: &Aabb<D, T>) -> Self {
        let (min, max) = (value.min.map(in_range), value.max.map(in_range));
        Self { min, extent: std::array::from_fn(|k| max[k] - min[k]) }
    }

    /// Is the center of a box outside? Not that of an unbounded one.
    fn leaves_out(&self, value: &Aabb<D, T>) -> bool {
        let center = value.center();
        is_bounded(value) && !(0..D).all(|k| self.min[k] <= center[k] && center[k] <= self.min[k] + self.extent[k])
    }
}

/// The coordinate, or the nearest one within a quarter of the range.
fn in_range<T: Real>(c: T) -> T {
    let most = T::MAX * T::from_f64(0.25);
    c.max(-most).min(most)
}

/// The current world of a structure, and what decides when it is fitted again.
#[derive(Clone, Debug)]
pub(crate) struct Bounds<const D: usize, T> {
    world: Option<World<D, T>>,
    /// Did the caller give the world?
    given: bool,
    /// The objects whose centers are outside, and their number.
    outside: BitSet,
    outside_count: usize,
    objects: usize,
    /// Objects when the world was fitted.
    fitted_objects: usize,
    /// Changes since the size was last checked.
    changes: usize,
}

impl<const D: usize, T> Default for Bounds<D, T> {
    fn default() -> Self {
        Self {
            world: None,
            given: false,
            outside: BitSet::default(),
            outside_count: 0,
            objects: 0,
            fitted_objects: 0,
            changes: 0,
        }
    }
}

impl<const D: usize, T: Real> Bounds<D, T> {
    /// A world that stays.
    ///
    /// # Errors
    /// [`Error::InvalidBox`] for a box that is not valid, [`Error::Unsuited`] for one that is not finite.
    pub(crate) fn given(world: &Aabb<D, T>, algorithm: &'static str) -> Result<Self, Error> {
        world.check(0)?;
        if !world.is_finite() {
            return Err(Error::Unsuited { algorithm, reason: "its world must be finite" });
        }
        Ok(Self { world: Some(World::given(world)), given: true, ..Self::default() })
    }

    /// The world, known from the first object on.
    pub(crate) fn world(&self) -> Option<&World<D, T>> {
        self.world.as_ref()
    }

    /// Objects when the world was fitted, and now.
    pub(crate) fn population(&self) -> (usize, usize) {
        (self.fitted_objects, self.objects)
    }

    /// Follows the changes. Returns whether the world was fitted again, so that all objects have to be placed again.
    pub(crate) fn follow(&mut self, tracked: &TrackedBoxes<D, T>) -> bool {
        self.objects = self.objects + tracked.inserted().len() - tracked.removed().len();
        if self.given {
            return false;
        }
        let Some(world) = self.world else {
            self.fit(World::around(tracked.ids().map(|id| tracked.get(id))));
            return self.world.is_some();
        };
        self.count_outside(&world, tracked);
        self.changes += tracked.inserted().len() + tracked.removed().len() + tracked.moved().len();
        let check = self.objects > 0 && self.changes > CHANGES_PER_CHECK * self.objects;
        if !check && !too_many_outside(self.outside_count, self.objects) {
            return false;
        }
        self.changes = 0;
        let Some(fitted) = World::around(tracked.ids().map(|id| tracked.get(id))) else { return false };
        let too_large = (0..D).any(|k| is_too_large(world.extent[k].to_f64(), fitted.extent[k].to_f64()));
        let change = fitted != world && (too_large || too_many_outside(self.outside_count, self.objects));
        if change {
            self.fit(Some(fitted));
        }
        change
    }

    /// Stores the current number of objects, after the structure has adapted to it.
    pub(crate) fn note_population(&mut self) {
        self.fitted_objects = self.objects;
    }

    fn fit(&mut self, world: Option<World<D, T>>) {
        self.world = world;
        self.outside.clear();
        self.outside_count = 0;
        self.changes = 0;
        self.note_population();
    }

    fn count_outside(&mut self, world: &World<D, T>, tracked: &TrackedBoxes<D, T>) {
        let Self { outside, outside_count, .. } = self;
        outside.cover(tracked.slots());
        let mut set = |id: u32, is_outside: bool| {
            if (id as usize) < outside.slots() && outside.contains(id) != is_outside {
                if is_outside {
                    outside.insert(id);
                    *outside_count += 1;
                } else {
                    outside.remove(id);
                    *outside_count -= 1;
                }
            }
        };
        tracked.removed().iter().for_each(|&id| set(id, false));
        tracked.moved().iter().chain(tracked.inserted()).for_each(|&id| set(id, world.leaves_out(tracked.get(id))));
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.outside.bytes()
    }
}

impl Spec {
    /// The box of the option `world`, if it is given: the lower corner and the upper one, all numbers joined by slashes.
    pub(crate) fn world<const D: usize, T: Real>(&self) -> Result<Option<Aabb<D, T>>, Error> {
        let Some(text) = self.text("world") else { return Ok(None) };
        let parse = || -> Option<Aabb<D, T>> {
            let numbers: Vec<f64> = text.split('/').map(|part| part.parse().ok()).collect::<Option<_>>()?;
            let corner = |from: usize| std::array::from_fn(|k| T::from_f64(numbers[from + k]));
            (numbers.len() == 2 * D).then(|| Aabb { min: corner(0), max: corner(D) }).filter(|b| b.is_valid() && b.is_finite())
        };
        match text {
            "auto" => Ok(None),
            _ => parse().map(Some).ok_or_else(|| {
                let expected = format!("auto, or {} finite numbers joined by slashes, min then max, as in 0/0/0/10/10/10", 2 * D);
                self.invalid("world", text, expected)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_is_finite_whatever_the_boxes_are() {
        let boxes = [Aabb::<2, f32>::everything(), Aabb::new([-f32::MAX, 2.0], [f32::MAX, f32::INFINITY])];
        let world = World::around(boxes.iter()).unwrap();
        assert!(world.extent[0].is_finite() && world.min[0] + world.extent[0] > 0.0);
        assert_eq!((world.min[1], world.extent[1]), (2.0, 0.0));
        assert_eq!(World::<2, f32>::around([].iter()), None);
        let unit = World::around([Aabb::new([0.0f64], [10.0])].iter()).unwrap();
        assert_eq!((unit.min[0], unit.extent[0]), (-0.5, 11.0));
    }

    #[test]
    fn a_few_objects_outside_or_a_slightly_smaller_crowd_do_not_change_the_world() {
        for (outside, objects, many) in [(8, 8, false), (9, 9, true), (9, 1000, false), (31, 1000, false), (32, 1000, true)] {
            assert_eq!(too_many_outside(outside, objects), many, "{outside} of {objects}");
        }
        assert!(!is_too_large(1.5, 1.0) && is_too_large(1.6, 1.0) && is_too_large(1.0, 0.0) && !is_too_large(0.0, 0.0));
    }
}
