//! The bounded world of paper 004: where subdivision happens. Nothing depends on objects staying inside.

use crate::geometry::{Aabb, Real};

/// The box of the first frame's finite coordinates plus 10 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct World<const D: usize, T> {
    /// The lower corner.
    pub(crate) min: [T; D],
    /// The extent; finite, and 0 on an axis on which all objects lie in one plane.
    pub(crate) extent: [T; D],
}

impl<const D: usize, T: Real> World<D, T> {
    /// The world of these boxes, or `None` if there are none. Coordinates beyond a quarter of the range count as that quarter, so that
    /// the extent stays finite.
    pub(crate) fn around<'a>(boxes: impl Iterator<Item = &'a Aabb<D, T>>) -> Option<Self> {
        let most = T::MAX * T::from_f64(0.25);
        let (mut seen, mut hull) = (false, Aabb::<D, T>::empty());
        for value in boxes {
            seen = true;
            for k in 0..D {
                for c in [value.min[k], value.max[k]].into_iter().filter(|c| c.is_finite()) {
                    let c = c.max(-most).min(most);
                    hull.min[k] = hull.min[k].min(c);
                    hull.max[k] = hull.max[k].max(c);
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
}
