//! A decomposition that balances the load: a suggestion, which the caller may follow by migrating objects.
//!
//! Recursive coordinate bisection: space is cut across the axis on which the objects' centers extend furthest, so that each part gets weight in
//! proportion to its ranks, and so on until each part has one rank. A cut is found from two histograms of 256 bins, the second one inside the bin of
//! the first, summed over all ranks. Weights are integers, so sums are exact, and all ranks find the same cuts.
//!
//! Cost: four passes over the objects for each of log2(ranks) levels, and five reductions, the largest of 256 numbers for each part of the level. Bad
//! case: many objects at one point, which no plane separates.

use broadphase::{Aabb, Real};

use crate::collective::{self, Call};
use crate::distributed::Distributed;
use crate::error::Error;
use crate::migrate::Departure;
use crate::transport::{Reduce, Transport, all_gather};

/// Bins of a histogram.
const BINS: usize = 256;

/// A decomposition of space into one region per rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan<const D: usize, T> {
    /// A box for each rank, half-open on every axis, without gaps; boxes at the border reach to infinity. Pass a rank's own to
    /// [`Distributed::set_domain`].
    pub regions: Vec<Aabb<D, T>>,
    /// The objects of this rank whose center is in another rank's region. Pass them to [`Distributed::migrate`].
    pub departures: Vec<Departure>,
    /// The weight that each rank will have once all departures are made.
    pub weights: Vec<u64>,
}

impl<const D: usize, T: Real> Plan<D, T> {
    /// The largest weight over the mean: 1 is perfect.
    pub fn imbalance(&self) -> f64 {
        let total: u64 = self.weights.iter().sum();
        let most = self.weights.iter().copied().max().unwrap_or(0);
        if total == 0 { 1.0 } else { most as f64 * self.weights.len() as f64 / total as f64 }
    }

    /// The rank in whose region a point lies.
    pub fn rank_of(&self, point: &[T; D]) -> Option<usize> {
        self.regions.iter().position(|region| (0..D).all(|k| region.min[k] <= point[k] && point[k] < region.max[k]))
    }
}

/// A part of space, and the range of ranks that share it.
#[derive(Clone, Debug)]
struct Part<const D: usize, T> {
    region: Aabb<D, T>,
    first: usize,
    ranks: usize,
}

/// How a part is cut.
struct Cut {
    axis: usize,
    low: f64,
    high: f64,
    /// The weight that should end up below the cut.
    target: u128,
    /// The weight below `low`.
    below: u128,
}

/// An integer that orders as the float does.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The float of a [`key`].
fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

fn bin(at: f64, low: f64, high: f64) -> usize {
    ((((at - low) / (high - low)) * BINS as f64) as usize).min(BINS - 1)
}

/// What a plan needs to know of an object.
struct Item<const D: usize, T> {
    index: u32,
    weight: u64,
    center: [T; D],
    part: usize,
}

impl<const D: usize, T: Real, C: Transport> Distributed<D, T, C> {
    /// Finds a decomposition of space with equal weights, and which objects of this rank would have to move. Nothing moves by itself. Collective.
    ///
    /// `weights` has a number for each index, or is `None` if all objects count the same. Objects whose center is not finite stay where they are.
    ///
    /// # Errors
    /// [`Error::Rank`], on all ranks, if weights are missing.
    pub fn plan(&mut self, weights: Option<&[u32]>) -> Result<Plan<D, T>, Error> {
        let found = weights.map_or(self.slots(), <[u32]>::len);
        let expected = self.slots();
        let missing = || Error::WrongLength { argument: "weights", found, expected }.to_string();
        let fault = self.fault.clone().or_else(|| (found != expected).then(missing));
        let mut message = Vec::new();
        collective::head(&mut message, Call::Plan, fault.as_deref());
        all_gather(&mut self.transport, &message, &mut self.table)?;
        collective::check(&self.table, Call::Plan)?;
        let item = |index: u32| {
            let center = self.objects.boxes()[index as usize].center();
            let weight = weights.map_or(1, |weights| u64::from(weights[index as usize]));
            center.iter().all(|x| x.is_finite()).then_some(Item { index, weight, center, part: 0 })
        };
        let mut items: Vec<Item<D, T>> = self.objects.ids().filter_map(item).collect();
        let size = self.size();
        let mut parts = vec![Part { region: Aabb::everything(), first: 0, ranks: size }];
        while parts.iter().any(|part| part.ranks > 1) {
            let cuts = self.find_cuts(&parts, &items)?;
            parts = split(&parts, &cuts, &mut items);
        }
        let mut weights = vec![0; size];
        items.iter().for_each(|item| weights[item.part] += item.weight);
        self.transport.all_reduce(&mut weights, Reduce::Sum)?;
        let rank = self.rank();
        let leaving = items.iter().filter(|item| item.part != rank);
        let departures = leaving.map(|item| Departure { to: item.part, index: item.index }).collect();
        Ok(Plan { regions: parts.into_iter().map(|part| part.region).collect(), departures, weights })
    }

    /// The axis and the place of the cut of each part.
    fn find_cuts(&mut self, parts: &[Part<D, T>], items: &[Item<D, T>]) -> Result<Vec<(usize, T)>, Error> {
        let (mut lows, mut highs) = (vec![u64::MAX; parts.len() * D], vec![0; parts.len() * D]);
        let mut totals = vec![0; parts.len()];
        for item in items {
            totals[item.part] += item.weight;
            for k in 0..D {
                let (at, center) = (item.part * D + k, key(item.center[k].to_f64()));
                lows[at] = lows[at].min(center);
                highs[at] = highs[at].max(center);
            }
        }
        self.transport.all_reduce(&mut lows, Reduce::Min)?;
        self.transport.all_reduce(&mut highs, Reduce::Max)?;
        self.transport.all_reduce(&mut totals, Reduce::Sum)?;
        let cut = |part: usize| {
            let side = |k: usize| value(highs[part * D + k]) - value(lows[part * D + k]);
            let axis = (1..D).fold(0, |best, k| if side(k) > side(best) { k } else { best });
            let Part { ranks, .. } = parts[part];
            let is_empty = lows[part * D] == u64::MAX;
            let (low, high) = if is_empty { (0.0, 0.0) } else { (value(lows[part * D + axis]), value(highs[part * D + axis])) };
            let target = u128::from(totals[part]) * (ranks / 2) as u128 / ranks as u128;
            Cut { axis, low, high, target, below: 0 }
        };
        let mut cuts: Vec<Cut> = (0..parts.len()).map(cut).collect();
        let mut places = vec![T::ZERO; parts.len()];
        for _ in 0..2 {
            let mut histogram = vec![0; parts.len() * BINS];
            for item in items.iter().filter(|item| parts[item.part].ranks > 1) {
                let Cut { axis, low, high, .. } = cuts[item.part];
                let at = item.center[axis].to_f64();
                if low <= at && at <= high {
                    histogram[item.part * BINS + bin(at, low, high)] += item.weight;
                }
            }
            self.transport.all_reduce(&mut histogram, Reduce::Sum)?;
            for (part, cut) in cuts.iter_mut().enumerate() {
                places[part] = T::from_f64(cut.narrow(&histogram[part * BINS..(part + 1) * BINS]));
            }
        }
        Ok(cuts.iter().zip(places).map(|(cut, place)| (cut.axis, place)).collect())
    }
}

impl Cut {
    /// Narrows the range to the bin in which the target weight is reached, and returns the end of that bin whose weight below is nearer to the target.
    fn narrow(&mut self, histogram: &[u64]) -> f64 {
        let at = |bin: usize| self.low + (self.high - self.low) * (bin as f64 / BINS as f64);
        let mut below = self.below;
        for (bin, &weight) in histogram.iter().enumerate() {
            let next = below + u128::from(weight);
            if next >= self.target && weight > 0 || bin == BINS - 1 {
                let (start, end) = (at(bin), at(bin + 1));
                let place = if self.target.saturating_sub(below) < next.abs_diff(self.target) { start } else { end };
                (self.low, self.high, self.below) = (start, end, below);
                return place;
            }
            below = next;
        }
        self.high
    }
}

/// Cuts every part that has several ranks in two, and assigns each item to its new part.
fn split<const D: usize, T: Real>(parts: &[Part<D, T>], cuts: &[(usize, T)], items: &mut [Item<D, T>]) -> Vec<Part<D, T>> {
    let mut next = Vec::new();
    let mut starts = Vec::new();
    for (part, &(axis, place)) in parts.iter().zip(cuts) {
        starts.push(next.len());
        if part.ranks == 1 {
            next.push(part.clone());
            continue;
        }
        let half = part.ranks / 2;
        let (mut lower, mut upper) = (part.region, part.region);
        // A cut outside the region would give a region with its corners swapped; with the cut at its border, it is empty instead.
        let place = place.max(part.region.min[axis]).min(part.region.max[axis]);
        lower.max[axis] = place;
        upper.min[axis] = place;
        next.push(Part { region: lower, first: part.first, ranks: half });
        next.push(Part { region: upper, first: part.first + half, ranks: part.ranks - half });
    }
    for item in items {
        let (axis, _) = cuts[item.part];
        let start = starts[item.part];
        let is_cut = parts[item.part].ranks > 1;
        item.part = start + usize::from(is_cut && item.center[axis] >= next[start].region.max[axis]);
    }
    debug_assert!(next.windows(2).all(|pair| pair[0].first < pair[1].first));
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_order_and_can_be_read_back() {
        let values = [-1e300, -1.0, -1e-300, 0.0, 1e-300, 2.5, f64::MAX];
        assert!(values.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert!(values.iter().all(|&x| value(key(x)) == x));
    }
}
