//! Objects as columns, to be compared with a few boxes all at once, without branches: whether an object overlaps a box is unpredictable.

use broadphase::{Aabb, Real};

use crate::select::Chosen;

/// Objects that are compared at once.
pub(crate) const BATCH: usize = 64;

/// For which objects of a batch a test holds.
pub(crate) type Flags = [bool; BATCH];

/// Some objects. They have finite boxes.
pub(crate) struct Batch<const D: usize, T> {
    objects: [Chosen<D, T>; BATCH],
    min: [[T; BATCH]; D],
    max: [[T; BATCH]; D],
    count: usize,
}

impl<const D: usize, T: Real> Batch<D, T> {
    pub(crate) fn new() -> Self {
        Self { objects: [(0, Aabb::empty()); BATCH], min: [[T::ZERO; BATCH]; D], max: [[T::ZERO; BATCH]; D], count: 0 }
    }

    /// Adds an object if `counts` is true, without a branch. There must be room for one more.
    #[inline(always)]
    pub(crate) fn add(&mut self, object: Chosen<D, T>, counts: bool) {
        let at = self.count % BATCH;
        self.objects[at] = object;
        for k in 0..D {
            self.min[k][at] = object.1.min[k];
            self.max[k][at] = object.1.max[k];
        }
        self.count += usize::from(counts);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.count == BATCH
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Which objects overlap one of the boxes? All objects lie within `bound`; sides of a box beyond the bound are not compared.
    #[inline(always)]
    pub(crate) fn overlap(&self, boxes: &[Aabb<D, T>], bound: &Aabb<D, T>) -> Flags {
        self.any(boxes, |other, k, all| {
            if other.max[k] < bound.max[k] {
                narrow(all, &self.min[k], |min| min <= other.max[k]);
            }
            if bound.min[k] < other.min[k] {
                narrow(all, &self.max[k], |max| other.min[k] <= max);
            }
        })
    }

    /// Which objects reach one of the boxes of a domain, which are half-open? Infinite sides are not compared.
    #[inline(always)]
    pub(crate) fn reach(&self, domain: &[Aabb<D, T>]) -> Flags {
        self.any(domain, |other, k, all| {
            if other.max[k] != T::INFINITY {
                narrow(all, &self.min[k], |min| min < other.max[k]);
            }
            if other.min[k] != T::NEG_INFINITY {
                narrow(all, &self.max[k], |max| other.min[k] <= max);
            }
        })
    }

    /// Which objects are within one of the boxes of a domain?
    #[inline(always)]
    pub(crate) fn within(&self, domain: &[Aabb<D, T>]) -> Flags {
        self.any(domain, |other, k, all| {
            if other.min[k] != T::NEG_INFINITY {
                narrow(all, &self.min[k], |min| other.min[k] <= min);
            }
            if other.max[k] != T::INFINITY {
                narrow(all, &self.max[k], |max| max < other.max[k]);
            }
        })
    }

    /// For which objects does the test hold on all axes with at least one of the boxes? `test` gets a box, an axis, and the flags to narrow.
    #[inline(always)]
    fn any(&self, boxes: &[Aabb<D, T>], test: impl Fn(&Aabb<D, T>, usize, &mut Flags)) -> Flags {
        let mut any = [false; BATCH];
        for other in boxes {
            let mut all = [true; BATCH];
            (0..D).for_each(|k| test(other, k, &mut all));
            for at in 0..BATCH {
                any[at] |= all[at];
            }
        }
        any
    }

    /// Appends the objects for which the flag is set.
    #[inline(always)]
    pub(crate) fn append(&self, flags: &Flags, to: &mut Vec<Chosen<D, T>>) {
        let (list, count) = self.list(flags);
        to.extend(list[..count].iter().map(|&at| self.objects[usize::from(at) % BATCH]));
    }

    /// Appends the slots and the boxes of the objects for which the flag is set.
    #[inline(always)]
    pub(crate) fn append_apart(&self, flags: &Flags, slots: &mut Vec<u32>, boxes: &mut Vec<Aabb<D, T>>) {
        let (list, count) = self.list(flags);
        slots.extend(list[..count].iter().map(|&at| self.objects[usize::from(at) % BATCH].0));
        boxes.extend(list[..count].iter().map(|&at| self.objects[usize::from(at) % BATCH].1));
    }

    /// The positions of the objects for which the flag is set, and how many they are.
    #[inline(always)]
    fn list(&self, flags: &Flags) -> ([u8; BATCH], usize) {
        let (mut list, mut count) = ([0; BATCH], 0);
        for at in 0..self.count.min(BATCH) {
            list[count % BATCH] = at as u8;
            count += usize::from(flags[at]);
        }
        (list, count)
    }
}

/// Clears the flags of objects whose coordinate does not pass the test.
#[inline(always)]
fn narrow<T: Real>(all: &mut Flags, column: &[T; BATCH], test: impl Fn(T) -> bool) {
    for at in 0..BATCH {
        all[at] &= test(column[at]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::{is_within, reaches};

    /// Boxes on a small lattice, so that all relations of their sides occur.
    #[test]
    fn flags_are_those_of_comparisons_of_all_sides_also_if_some_are_infinite() {
        let mut seed = 5u64;
        let mut number = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) % below) as f32
        };
        for trial in 0..500 {
            let mut batch = Batch::<2, f32>::new();
            let mut objects = Vec::new();
            for slot in 0..number(65) as u32 {
                let min = [number(6), number(6)];
                let value = Aabb::new(min, min.map(|x| x + number(4)));
                let counts = number(5) > 0.0;
                batch.add((slot, value), counts);
                objects.extend(counts.then_some((slot, value)));
            }
            let bound = objects.iter().fold(Aabb::empty(), |all: Aabb<2, f32>, object| all.union(&object.1));
            let mut side = |x: f32, sign: f32| if number(3) == 0.0 { sign * f32::INFINITY } else { x };
            let mut other = || {
                let min = [side(2.0, -1.0), side(3.0, -1.0)];
                Aabb::new(min, [side(4.0, 1.0), side(5.0, 1.0)])
            };
            let boxes: Vec<_> = (0..trial % 3).map(|_| other()).collect();
            let by_axis = |test: fn([f32; 2], [f32; 2]) -> bool| {
                let holds = |value: &Aabb<2, f32>| {
                    boxes.iter().any(|other| (0..2).all(|k| test([value.min[k], value.max[k]], [other.min[k], other.max[k]])))
                };
                objects.iter().filter(|object| holds(&object.1)).copied().collect::<Vec<_>>()
            };
            let listed = |flags: Flags| {
                let mut list = Vec::new();
                batch.append(&flags, &mut list);
                list
            };
            assert_eq!(listed(batch.reach(&boxes)), by_axis(reaches));
            assert_eq!(listed(batch.within(&boxes)), by_axis(is_within));
            assert_eq!(listed(batch.overlap(&boxes, &bound)), by_axis(|a, b| a[0] <= b[1] && b[0] <= a[1]));
        }
    }
}
