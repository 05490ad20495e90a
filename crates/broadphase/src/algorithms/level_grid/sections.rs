//! Which section a box belongs to, and which it reaches.

use std::ops::{ControlFlow, RangeInclusive};

use crate::algorithms::common::World;
use crate::geometry::{Aabb, Real};
use crate::objects::unbounded::is_bounded;

/// The sections of all levels, numbered in a row.
#[derive(Clone, Debug)]
pub(super) struct Sections<const D: usize, T> {
    min: [T; D],
    levels: Vec<Level<D, T>>,
    /// One more than all: the number of the oversize list.
    pub(super) oversize: u32,
}

/// One grid.
#[derive(Clone, Copy, Debug)]
struct Level<const D: usize, T> {
    /// The number of its first section.
    first: u32,
    /// Sections per axis.
    count: u32,
    /// Sections per unit; 0 on an axis without extent, which makes one section of it.
    per_unit: [T; D],
    /// The largest object on each axis.
    largest: [T; D],
    /// How far an object may reach beyond its center, and a hair more, so that rounding does not matter.
    reach: [T; D],
}

impl<const D: usize, T: Real> Sections<D, T> {
    pub(super) fn new(world: &World<D, T>, levels: usize, ratio: f64) -> Self {
        let mut all = Self { min: world.min, levels: Vec::with_capacity(levels), oversize: 0 };
        for level in 0..levels {
            let count = 2u32 << level;
            let per_axis = T::from_f64(f64::from(count));
            let per_unit = world.extent.map(|extent| {
                let per_unit = per_axis / extent;
                if per_unit.is_finite() { per_unit } else { T::ZERO }
            });
            let largest: [T; D] = std::array::from_fn(|k| match per_unit[k] == T::ZERO {
                true => T::INFINITY,
                false => world.extent[k] / per_axis * T::from_f64(ratio),
            });
            let reach = largest.map(|largest| (largest * T::from_f64(0.5005)).next_up());
            all.levels.push(Level { first: all.oversize, count, per_unit, largest, reach });
            all.oversize += count.pow(D as u32);
        }
        all
    }

    /// The section of a coordinate, as monotone as float subtraction and multiplication are. Outside is the border.
    #[inline(always)]
    fn index(&self, level: &Level<D, T>, axis: usize, c: T) -> u32 {
        let at = ((c - self.min[axis]) * level.per_unit[axis]).to_f64();
        (at as u32).min(level.count - 1) // negative numbers and NaN (an axis without extent) become 0
    }

    /// The section that catches a box.
    pub(super) fn of(&self, value: &Aabb<D, T>) -> u32 {
        let (size, center) = (value.size(), value.center());
        let caught = |level: &&Level<D, T>| (0..D).all(|k| size[k] <= level.largest[k]);
        match self.levels.iter().rev().find(caught).filter(|_| is_bounded(value)) {
            None => self.oversize,
            Some(level) => {
                let along = |k: usize| self.index(level, k, center[k]);
                level.first + (0..D).rev().fold(0, |number, k| number * level.count + along(k))
            }
        }
    }

    /// The level of a section; the oversize list counts as one more.
    pub(super) fn level_of(&self, section: u32) -> usize {
        if section == self.oversize { self.levels.len() } else { self.levels.partition_point(|level| level.first <= section) - 1 }
    }

    /// Calls `visit` with runs of sections of a level, which together hold the centers of all of the level's objects that overlap `area`.
    #[inline(always)]
    pub(super) fn within_reach(
        &self,
        level: usize,
        area: &Aabb<D, T>,
        mut visit: impl FnMut(RangeInclusive<u32>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(level) = self.levels.get(level) else { return visit(self.oversize..=self.oversize) };
        let (mut from, mut to) = ([0; D], [0; D]);
        for k in 0..D {
            from[k] = self.index(level, k, (area.min[k] - level.reach[k]).next_down());
            to[k] = self.index(level, k, (area.max[k] + level.reach[k]).next_up());
        }
        let mut at = from;
        loop {
            let row = level.first + (1..D).rev().fold(0, |number, k| (number + at[k]) * level.count);
            visit(row + from[0]..=row + to[0])?;
            // The next row: count up on the other axes.
            let Some(axis) = (1..D).find(|&k| at[k] < to[k]) else { return ControlFlow::Continue(()) };
            at[axis] += 1;
            at[1..axis].copy_from_slice(&from[1..axis]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_levels_have_the_papers_sections_and_catch_by_a_quarter() {
        let world = World { min: [0.0f32; 3], extent: [16.0; 3] };
        let sections = Sections::new(&world, 4, 0.25);
        assert_eq!(sections.levels.iter().map(|l| l.count.pow(3)).collect::<Vec<_>>(), [8, 64, 512, 4096]);
        let level = |size: f32| sections.level_of(sections.of(&Aabb::from_center([8.5; 3], [size / 2.0; 3])));
        assert_eq!([0.0, 0.25, 0.26, 0.5, 0.51, 1.0, 2.0, 2.1].map(level), [3, 3, 2, 2, 1, 1, 0, 4]);
        assert_eq!(sections.of(&Aabb::point([-5.0; 3])), 8 + 64 + 512, "outside is the border section");
        assert_eq!(sections.of(&Aabb::point([99.0; 3])), sections.oversize - 1);
        assert_eq!(sections.of(&Aabb::everything()), sections.oversize);
    }

    #[test]
    fn a_large_area_probes_all_sections_between_its_end_points() {
        let sections = Sections::new(&World { min: [0.0f64; 2], extent: [16.0; 2] }, 4, 0.25);
        let mut seen = Vec::new();
        let _all = sections.within_reach(3, &Aabb::new([2.5, 4.5], [9.5, 6.5]), |run| {
            seen.extend(run);
            ControlFlow::Continue(())
        });
        let first = 4 + 16 + 64;
        let expected: Vec<u32> = (4..=6).flat_map(|y| (2..=9).map(move |x| first + y * 16 + x)).collect();
        assert_eq!(seen, expected);
    }
}
