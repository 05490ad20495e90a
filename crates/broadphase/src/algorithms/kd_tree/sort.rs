//! Entries in the order of their lower coordinate on the sweep axis, as columns.
//!
//! A node has a few hundred entries: they are thrown into about as many buckets by a scaled coordinate, and an insertion sort
//! brings the rest in order. If one bucket gets many (an outlier stretches the scale), a comparison sort does the work.

use crate::geometry::{Aabb, Real};
use crate::kernels::Soa;

/// One object in a search: its box, its id, and whether it is in motion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<const D: usize, T> {
    pub(super) aabb: Aabb<D, T>,
    pub(super) id: u32,
    pub(super) moved: bool,
}

/// Above this many entries in one bucket, insertion would take too long.
const CROWD: u32 = 24;
/// Up to this many entries, insertion alone is best.
const FEW: usize = 16;

/// Buffers of a sort; can be dropped without changing a result.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorter<T> {
    /// Coordinate and index, in order after the sort.
    keys: Vec<(T, u32)>,
    unsorted: Vec<(T, u32)>,
    starts: Vec<u32>,
}

impl<T: Real> Sorter<T> {
    /// Fills `columns` with the entries in ascending order of `min` on `axis`; of equal ones, the first stays first.
    pub(super) fn load<const D: usize>(&mut self, entries: &[Entry<D, T>], axis: usize, columns: &mut Soa<D, T>) {
        self.sort(entries, axis);
        columns.resize(entries.len());
        for (position, &(_, index)) in self.keys.iter().enumerate() {
            let entry = &entries[index as usize];
            columns.set(position, entry.id, &entry.aabb);
        }
    }

    fn sort<const D: usize>(&mut self, entries: &[Entry<D, T>], axis: usize) {
        let keyed = entries.iter().zip(0u32..).map(|(entry, index)| (entry.aabb.min[axis], index));
        let Self { keys, unsorted, starts } = self;
        keys.clear();
        if entries.len() <= FEW {
            keys.extend(keyed);
            insert(keys);
            return;
        }
        unsorted.clear();
        unsorted.extend(keyed);
        let (low, high) = unsorted.iter().fold((T::INFINITY, T::NEG_INFINITY), |(low, high), key| {
            (if key.0 < low { key.0 } else { low }, if key.0 > high { key.0 } else { high })
        });
        let buckets = entries.len().next_power_of_two();
        let scale = T::from_f64(buckets as f64 - 1.0) / (high - low);
        // Monotone, and never beyond the last bucket: a cast from NaN or infinity (no extent at all) stays in range as well.
        let bucket = |value: T| (((value - low) * scale).to_f64() as usize).min(buckets - 1);
        starts.clear();
        starts.resize(buckets, 0);
        unsorted.iter().for_each(|key| starts[bucket(key.0)] += 1);
        let (mut sum, mut most) = (0, 0);
        for start in starts.iter_mut() {
            most = most.max(*start);
            sum += std::mem::replace(start, sum);
        }
        if most > CROWD {
            keys.extend_from_slice(unsorted);
            // Ties by index: the order is that of a stable sort.
            keys.sort_unstable_by_key(|key| (key.0.order_key(), key.1));
            return;
        }
        keys.resize(unsorted.len(), (T::ZERO, 0));
        for key in unsorted.iter() {
            let start = &mut starts[bucket(key.0)];
            keys[*start as usize] = *key;
            *start += 1;
        }
        insert(keys);
    }

    pub(super) fn bytes(&self) -> usize {
        (self.keys.capacity() + self.unsorted.capacity()) * size_of::<(T, u32)>() + self.starts.capacity() * 4
    }
}

/// Insertion sort, stable: linear for what is nearly in order.
fn insert<T: Real>(keys: &mut [(T, u32)]) {
    for at in 1..keys.len() {
        let key = keys[at];
        let mut to = at;
        while to > 0 && keys[to - 1].0 > key.0 {
            keys[to] = keys[to - 1];
            to -= 1;
        }
        keys[to] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_distribution_is_sorted_and_ties_keep_their_order() {
        let outlier = |i: u32| if i == 7 { 1e30 } else { f64::from(i * 7919 % 101) };
        let spread = |i: u32| f64::from(i * 7919 % 1009) - 500.0;
        let same = |_: u32| -0.0;
        let cases: [&dyn Fn(u32) -> f64; 3] = [&outlier, &spread, &same];
        for value in cases {
            for count in [0, 1, 2, 15, 17, 300, 1000] {
                let entry = |id| Entry { aabb: Aabb::point([0.0, value(id)]), id, moved: false };
                let entries: Vec<Entry<2, f64>> = (0..count).map(entry).collect();
                let mut columns = Soa::default();
                Sorter::default().load(&entries, 1, &mut columns);
                let mut expected: Vec<u32> = (0..count).collect();
                expected.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
                assert_eq!(columns.columns().ids()[..count as usize], expected);
            }
        }
    }
}
