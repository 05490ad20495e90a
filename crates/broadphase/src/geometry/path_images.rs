//! Ways in a space that repeats.

use super::{Aabb, Path, Period, Real};

/// How many periods two ways may be apart and still meet. In wrapped coordinates a way lies between half a period below the space and one
/// period above it: it ends in the space with its lower corner, moves by at most half a period, and is at most half a period long.
const REACH: i32 = 2;

impl<const D: usize, T: Real> Period<D, T> {
    /// The way of a box during a frame, in wrapped coordinates. It ends at the wrapped box, and begins at the image of `from` whose lower corner is
    /// nearest to that of `to`: it makes no difference whether the caller wraps coordinates.
    pub(crate) fn path(&self, from: &Aabb<D, T>, to: &Aabb<D, T>) -> Path<D, T> {
        let end = self.wrap_box(to);
        if from == to {
            return Path::still(end);
        }
        let mut start = *from;
        for k in 0..D {
            let Some(length) = self.length(k) else { continue };
            let by = ((end.min[k] - from.min[k]) / length + T::HALF).floor() * length;
            (start.min[k], start.max[k]) = (from.min[k] + by, from.max[k] + by);
        }
        Path { from: start, to: end }
    }

    /// A box that holds all of a way, also when it is wrapped and its corners are rounded.
    pub(crate) fn cover(&self, path: &Path<D, T>) -> Aabb<D, T> {
        let mut whole = path.from.union(&path.to);
        let ulps = (T::ONE.next_up() - T::ONE) * T::from_f64(4.0);
        for k in 0..D {
            let Some((low, high)) = self.ends(k) else { continue };
            let rounding = (low.abs().max(high.abs()) + whole.min[k].abs().max(whole.max[k].abs())) * ulps;
            (whole.min[k], whole.max[k]) = (whole.min[k] - rounding, whole.max[k] + rounding);
        }
        whole
    }

    /// The least value of `test` for two ways in wrapped coordinates, over all images in which the boxes around them overlap.
    ///
    /// Images are moved as [`image`](Period::image) moves them, so boxes that overlap at the end of their ways are those that overlap without motion.
    pub(crate) fn least_over_images(
        &self,
        a: &Path<D, T>,
        b: &Path<D, T>,
        test: &impl Fn(&Path<D, T>, &Path<D, T>) -> Option<T>,
    ) -> Option<T> {
        self.least_from(0, a, b, test)
    }

    /// The same for images along the axes from `axis` on.
    fn least_from(
        &self,
        axis: usize,
        a: &Path<D, T>,
        b: &Path<D, T>,
        test: &impl Fn(&Path<D, T>, &Path<D, T>) -> Option<T>,
    ) -> Option<T> {
        if axis == D {
            return test(a, b);
        }
        let reach = if self.length(axis).is_some() { REACH } else { 0 };
        let mut least: Option<T> = None;
        for step in -reach..=reach {
            let (a, b) = (self.lowered(a, axis, step), self.lowered(b, axis, -step));
            if a.overlaps_along(&b, axis) {
                let found = self.least_from(axis + 1, &a, &b, test);
                least = match (least, found) {
                    (Some(least), Some(found)) => Some(least.min(found)),
                    (least, found) => least.or(found),
                };
            }
        }
        least
    }

    /// A path, moved down by `periods` periods along an axis; not moved if that is negative.
    fn lowered(&self, path: &Path<D, T>, axis: usize, periods: i32) -> Path<D, T> {
        let mut moved = *path;
        let Some((low, high)) = self.ends(axis) else { return moved };
        for _ in 0..periods {
            for x in [&mut moved.from.min, &mut moved.from.max, &mut moved.to.min, &mut moved.to.max] {
                x[axis] = (x[axis] - high) + low;
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64, y: f64, size: f64) -> Aabb<2, f64> {
        Aabb::new([x, y], [x + size, y + size])
    }

    #[test]
    fn a_path_takes_the_shorter_way_around_whether_or_not_the_caller_wraps() {
        let space = Period::new([10.0, 10.0]);
        let wrapped = space.path(&at(9.0, 1.0, 1.0), &at(0.5, 1.0, 1.0));
        assert_eq!(wrapped, Path { from: at(-1.0, 1.0, 1.0), to: at(0.5, 1.0, 1.0) });
        assert_eq!(space.path(&at(29.0, 1.0, 1.0), &at(30.5, 1.0, 1.0)), wrapped);
        assert_eq!(space.path(&at(0.5, 1.0, 1.0), &at(0.5, 1.0, 1.0)), Path::still(at(0.5, 1.0, 1.0)));
        let strip = Period::axes([None, Some(10.0)]);
        assert_eq!(strip.path(&at(9.0, 9.5, 1.0), &at(0.5, 10.5, 1.0)), Path { from: at(9.0, -0.5, 1.0), to: at(0.5, 0.5, 1.0) });
    }

    #[test]
    fn paths_meet_in_every_image_and_at_the_earliest_time() {
        let space = Period::new([10.0, 10.0]);
        let touch = |a: &Path<2, f64>, b: &Path<2, f64>| a.boxes_touch(b);
        let bullet = space.path(&at(8.0, 1.0, 1.0), &at(12.0, 1.0, 1.0)); // over the border, to 2
        let wall = Path::still(at(0.0, 0.0, 3.0));
        assert_eq!(space.least_over_images(&bullet, &wall, &touch), Some(0.25));
        assert_eq!(space.least_over_images(&wall, &bullet, &touch), Some(0.25));
        assert_eq!(space.least_over_images(&bullet, &Path::still(at(4.0, 0.0, 3.0)), &touch), None);
        // As long and as fast as allowed: everything is met, some of it in two images, the earlier of which counts.
        let train = space.path(&at(9.0, 0.0, 5.0), &at(14.0, 0.0, 5.0));
        assert_eq!(space.least_over_images(&train, &Path::still(at(8.5, 9.0, 1.0)), &touch), Some(0.0));
        assert_eq!(space.least_over_images(&train, &Path::still(at(6.0, 1.0, 1.0)), &touch), Some(0.4));
    }
}
