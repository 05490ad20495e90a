//! A world as lines, for a debug view.

use super::World;
use crate::algorithms::Outline;
use crate::error::Error;
use crate::geometry::{Aabb, Real};

/// A line to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line<const D: usize, T> {
    /// One end.
    pub from: [T; D],
    /// The other end.
    pub to: [T; D],
    /// What it is an edge of, to choose a color by.
    pub kind: Outline,
}

/// The edges of a box: 4 in 2D, 12 in 3D.
fn edges<const D: usize, T: Real>(kind: Outline, value: Aabb<D, T>) -> impl Iterator<Item = Line<D, T>> {
    let per_axis = 1 << (D - 1);
    (0..D * per_axis).map(move |edge| {
        let axis = edge / per_axis;
        // The bits that are left choose a side on each of the other axes.
        let mut bits = edge % per_axis;
        let mut from = value.min;
        for k in (0..D).filter(|&k| k != axis) {
            if bits & 1 == 1 {
                from[k] = value.max[k];
            }
            bits >>= 1;
        }
        let mut to = from;
        to[axis] = value.max[axis];
        Line { from, to, kind }
    })
}

impl<const D: usize, T: Real> World<D, T> {
    /// All lines of a debug view: the boxes of the objects, and the cells, nodes or tiles of both structures. Pending changes are applied first. Infinite
    /// sides are cut off a little outside of all finite ones.
    ///
    /// Cost: a pass over objects and structure, and memory for a box each. Algorithms without cells, nodes or tiles show only objects.
    ///
    /// ```
    /// use broadphase::{Aabb, Outline, World3};
    /// let mut world = World3::new();
    /// world.insert(Aabb::new([0.0; 3], [1.0; 3]))?;
    /// assert_eq!(world.debug_lines()?.filter(|line| line.kind == Outline::Object).count(), 12);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn debug_lines(&mut self) -> Result<impl Iterator<Item = Line<D, T>> + use<D, T>, Error> {
        self.flush(None)?;
        let mut list: Vec<(Outline, Aabb<D, T>)> = Vec::new();
        for (engine, side) in [(&self.movers, &self.table.movers), (&self.statics, &self.table.statics)] {
            list.extend(side.slots.ids().map(|slot| (Outline::Object, side.boxes[slot as usize])));
            if let Some(structure) = engine.structure.as_deref().filter(|_| engine.filled) {
                structure.outline(&side.frame(self.shape, None), &mut |region| list.push((region.kind, region.bounds)));
            }
        }
        let bounds = finite_bounds(list.iter().filter(|(kind, _)| *kind == Outline::Object).map(|(_, value)| value));
        Ok(list.into_iter().flat_map(move |(kind, value)| edges(kind, clip(value, &bounds))))
    }
}

/// The box around all finite coordinates, grown by a tenth of its size on each side.
fn finite_bounds<'a, const D: usize, T: Real>(boxes: impl Iterator<Item = &'a Aabb<D, T>>) -> Aabb<D, T> {
    let mut all: Aabb<D, T> = Aabb::empty();
    for value in boxes {
        for k in 0..D {
            for at in [value.min[k], value.max[k]].into_iter().filter(|at| at.is_finite()) {
                all.min[k] = all.min[k].min(at);
                all.max[k] = all.max[k].max(at);
            }
        }
    }
    for k in 0..D {
        if all.min[k] > all.max[k] {
            (all.min[k], all.max[k]) = (-T::ONE, T::ONE);
        }
        let more = (all.max[k] * T::HALF - all.min[k] * T::HALF) * T::from_f64(0.2);
        (all.min[k], all.max[k]) = (all.min[k] - more, all.max[k] + more);
    }
    all
}

fn clip<const D: usize, T: Real>(value: Aabb<D, T>, bounds: &Aabb<D, T>) -> Aabb<D, T> {
    let side = |at: T, k: usize| if at.is_finite() { at } else { at.max(bounds.min[k]).min(bounds.max[k]) };
    Aabb::new(std::array::from_fn(|k| side(value.min[k], k)), std::array::from_fn(|k| side(value.max[k], k)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_four_edges_in_the_plane_and_twelve_in_space_each_along_one_axis() {
        let flat: Vec<_> = edges(Outline::Cell, Aabb::new([0.0f32, 0.0], [1.0, 2.0])).collect();
        assert_eq!(flat.len(), 4);
        let solid: Vec<_> = edges(Outline::Cell, Aabb::new([0.0f64; 3], [1.0, 2.0, 3.0])).collect();
        assert_eq!(solid.len(), 12);
        for (index, line) in solid.iter().enumerate() {
            let moved = (0..3).filter(|&k| line.from[k] != line.to[k]).count();
            assert_eq!(moved, 1, "an edge runs along one axis");
            assert!(solid[..index].iter().all(|other| other != line), "each edge once");
        }
    }
}
