//! Statistics of a recording's boxes: sizes, space, motion. Figures are float64 whatever the recording has; comparisons are exact.

use std::collections::HashMap;

use broadphase::{Aabb, Real};

use super::sample::Sample;
use broadphase_bench::Sorted;

/// How large the objects are, in the first frame.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The largest edge of an object; over all objects the smallest, the median, the 99th percentile and the largest.
    pub min: f64,
    pub median: f64,
    pub p99: f64,
    pub max: f64,
    /// Do all objects have the same size on all axes?
    pub equal: bool,
    /// The share of objects whose longest edge is over four times the shortest.
    pub elongated: f64,
}

/// An object that stands out, and by how much.
#[derive(Clone, Copy, Debug)]
pub struct Outlier {
    /// Its number in the recording.
    pub object: u32,
    /// Its largest edge, or its distance from the middle of the world.
    pub value: f64,
}

/// Where the objects are, in the first frame.
#[derive(Clone, Debug)]
pub struct Space {
    /// The sides of the world: the range of 98 % of the centers, and a median object more.
    pub sides: Vec<f64>,
    /// Volume of the boxes over that of the world, without giants and infinite objects.
    pub filled: f64,
    /// Objects of which an edge is a tenth of the world or more, and ten times the median.
    pub giants: Vec<Outlier>,
    /// Objects that lie over four times the world's sides outside it.
    pub far: Vec<Outlier>,
    /// The distance between neighboring numbers at the world's border over the median size.
    pub rounding: f64,
}

/// How objects move, over the windows.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// The share of objects that never move.
    pub still: f64,
    /// The share that moves from one frame to the next, on average.
    pub moved: f64,
    /// The steps of those that move, over the object's own largest edge: median, 99th percentile, largest.
    pub median: f64,
    pub p99: f64,
    pub max: f64,
    /// The share of steps that are longer than the object.
    pub jumps: f64,
    /// Has any object that moves a size? If not, steps cannot be measured by it.
    pub has_sizes: bool,
    /// The mean length of a step.
    pub mean: f64,
    /// The length of the mean step over the mean length of steps: 1 if all move alike.
    pub drift: f64,
}

/// Statistics of a recording's boxes.
#[derive(Clone, Debug)]
pub struct Facts {
    pub sizes: Option<Sizes>,
    pub space: Option<Space>,
    pub motion: Option<Motion>,
    /// Objects with an infinite side.
    pub infinite: usize,
    /// Objects without extent on any axis.
    pub points: usize,
    /// Objects without extent on some axis, but not on all.
    pub flat: usize,
    /// Objects whose box is the same as that of an object before them.
    pub duplicates: usize,
    /// The share of objects whose lower corner has the same x as that of an object before them.
    pub equal_x: f64,
}

/// The largest edge of a box.
fn edge<const D: usize, T: Real>(aabb: &Aabb<D, T>) -> f64 {
    (0..D).map(|k| aabb.max[k].to_f64() - aabb.min[k].to_f64()).fold(0.0, f64::max)
}

fn center<const D: usize, T: Real>(aabb: &Aabb<D, T>) -> [f64; D] {
    std::array::from_fn(|k| (aabb.min[k].to_f64() + aabb.max[k].to_f64()) * 0.5)
}

impl Facts {
    /// Computes them from a sample.
    pub fn of<const D: usize, T: Real>(sample: &Sample<D, T>) -> Self {
        let first = sample.first();
        let empty = |aabb: &Aabb<D, T>| (0..D).filter(|&k| aabb.min[k] == aabb.max[k]).count();
        let sizes = Sizes::of(first);
        let space = sizes.and_then(|sizes| Space::of(first, &sample.ids, &sizes));
        let mut seen = HashMap::new();
        let duplicates = first.iter().filter(|aabb| seen.insert(key(aabb), ()).is_some()).count();
        let mut xs: Vec<u64> = first.iter().map(|aabb| (aabb.min[0].to_f64() + 0.0).to_bits()).collect();
        xs.sort_unstable();
        let repeated = xs.windows(2).filter(|two| two[0] == two[1]).count();
        Self {
            sizes,
            space,
            motion: Motion::of(sample),
            infinite: first.iter().filter(|aabb| !aabb.is_finite()).count(),
            points: first.iter().filter(|aabb| empty(aabb) == D).count(),
            flat: first.iter().filter(|aabb| (1..D).contains(&empty(aabb))).count(),
            duplicates,
            equal_x: repeated as f64 / first.len().max(1) as f64,
        }
    }
}

/// A box as a key that equal boxes share; -0.0 equals +0.0.
fn key<const D: usize, T: Real>(aabb: &Aabb<D, T>) -> ([u64; D], [u64; D]) {
    let bits = |value: T| (value.to_f64() + 0.0).to_bits();
    (aabb.min.map(bits), aabb.max.map(bits))
}

impl Sizes {
    fn of<const D: usize, T: Real>(boxes: &[Aabb<D, T>]) -> Option<Self> {
        let finite = || boxes.iter().filter(|aabb| aabb.is_finite());
        let edges = Sorted::new(finite().map(edge));
        let lengths = |aabb: &Aabb<D, T>| -> [f64; D] { std::array::from_fn(|k| aabb.max[k].to_f64() - aabb.min[k].to_f64()) };
        let first = lengths(finite().next()?);
        // Edges of boxes at different places round differently.
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-3 * a.abs().max(b.abs());
        let equal = finite().all(|aabb| lengths(aabb).iter().all(|&length| close(length, first[0])));
        let long = finite().filter(|aabb| edge(aabb) > 4.0 * lengths(aabb).into_iter().fold(f64::INFINITY, f64::min)).count();
        Some(Self {
            min: edges.min()?,
            median: edges.median()?,
            p99: edges.percentile(99.0)?,
            max: edges.max()?,
            equal,
            elongated: long as f64 / edges.values().len() as f64,
        })
    }
}

impl Space {
    fn of<const D: usize, T: Real>(boxes: &[Aabb<D, T>], ids: &[u32], sizes: &Sizes) -> Option<Self> {
        let finite = || boxes.iter().zip(ids).filter(|(aabb, _)| aabb.is_finite());
        let centers: Vec<[f64; D]> = finite().map(|(aabb, _)| center(aabb)).collect();
        let axes: [Sorted; D] = std::array::from_fn(|k| Sorted::new(centers.iter().map(|center| center[k])));
        let (mut low, mut high) = ([0.0; D], [0.0; D]);
        for k in 0..D {
            (low[k], high[k]) = (axes[k].percentile(1.0)?, axes[k].percentile(99.0)?);
        }
        let sides: [f64; D] = std::array::from_fn(|k| high[k] - low[k] + sizes.median);
        let largest = sides.iter().copied().fold(0.0, f64::max);
        let is_giant = |aabb: &Aabb<D, T>| {
            let length = |k: usize| aabb.max[k].to_f64() - aabb.min[k].to_f64();
            edge(aabb) >= 10.0 * sizes.median
                && (0..D).any(|k| length(k) > 0.0 && length(k) >= 0.1 * sides[k] && length(k) >= 10.0 * sizes.median)
        };
        let outlier = |(_, &id): (&Aabb<D, T>, &u32), value: f64| Outlier { object: id, value };
        let giants = finite().filter(|(aabb, _)| is_giant(aabb)).map(|found| outlier(found, edge(found.0))).collect();
        let outside = |center: &[f64; D]| (0..D).map(|k| (low[k] - center[k]).max(center[k] - high[k])).fold(0.0, f64::max);
        let far = finite().zip(&centers).filter(|(_, center)| outside(center) > 4.0 * largest);
        let far = far.map(|(found, center)| outlier(found, outside(center))).collect();
        let volume = |aabb: &Aabb<D, T>| (0..D).map(|k| aabb.max[k].to_f64() - aabb.min[k].to_f64()).product::<f64>();
        let filled = finite().filter(|(aabb, _)| !is_giant(aabb)).map(|(aabb, _)| volume(aabb)).sum::<f64>();
        let world = sides.iter().product::<f64>();
        let border = low.iter().chain(&high).fold(0.0f64, |most, value| most.max(value.abs()));
        let border = T::from_f64(border);
        let step = border.next_up().to_f64() - border.to_f64();
        Some(Self {
            sides: sides.to_vec(),
            filled: if world > 0.0 { filled / world } else { 0.0 },
            giants,
            far,
            rounding: if sizes.median > 0.0 { step / sizes.median } else { 0.0 },
        })
    }
}

impl Motion {
    fn of<const D: usize, T: Real>(sample: &Sample<D, T>) -> Option<Self> {
        let n = sample.count();
        let (mut moves, mut steps, mut sum, mut lengths) = (vec![false; n], Vec::new(), [0.0; D], 0.0);
        let (mut transitions, mut count) = (0usize, 0usize);
        for window in &sample.windows {
            for two in window.frames.windows(2) {
                transitions += 1;
                for (object, (before, now)) in two[0].iter().zip(&two[1]).enumerate().filter(|(_, (before, now))| before != now) {
                    moves[object] = true;
                    if !(before.is_finite() && now.is_finite()) {
                        continue;
                    }
                    let (from, to) = (center(before), center(now));
                    let by: [f64; D] = std::array::from_fn(|k| to[k] - from[k]);
                    let length = by.iter().map(|x| x * x).sum::<f64>().sqrt();
                    (0..D).for_each(|k| sum[k] += by[k]);
                    lengths += length;
                    count += 1;
                    let size = edge(now);
                    if size > 0.0 {
                        steps.push(length / size);
                    }
                }
            }
        }
        if transitions == 0 || n == 0 {
            return None;
        }
        let (jumps, sized) = (steps.iter().filter(|&&step| step > 1.0).count(), steps.len());
        let steps = Sorted::new(steps.into_iter());
        let mean = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        Some(Self {
            still: moves.iter().filter(|&&moved| !moved).count() as f64 / n as f64,
            moved: count as f64 / (transitions * n) as f64,
            median: steps.median().unwrap_or(0.0),
            p99: steps.percentile(99.0).unwrap_or(0.0),
            max: steps.max().unwrap_or(0.0),
            jumps: jumps as f64 / sized.max(1) as f64,
            has_sizes: sized > 0,
            mean: lengths / count.max(1) as f64,
            drift: if lengths > 0.0 { mean / lengths } else { 0.0 },
        })
    }
}
