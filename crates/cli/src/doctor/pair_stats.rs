//! The pairs of a recording: how many, which object has the most, which only touch, and how fast they change.

use broadphase::{Aabb, Pair, Real, Report, Shape};

use super::sample::Sample;
use broadphase_bench::context;
use broadphase_bench::failure::Failure;
use broadphase_bench::rows::{Ours, Refusal, RowRunner};

/// The most pairs that are analyzed one by one; if there are more, only their number is reported.
const LISTED: u64 = 50_000_000;

/// The pairs of a recording.
#[derive(Clone, Debug)]
pub struct PairStats {
    /// Pairs per object in each frame that was analyzed: smallest, mean, largest.
    pub least: f64,
    pub mean: f64,
    pub most: f64,
    /// Details of the first frame, unless it has too many pairs.
    pub detail: Option<Detail>,
    /// The share of the second frame's pairs that are new in it.
    pub started: Option<f64>,
}

/// The pairs of the first frame.
#[derive(Clone, Debug)]
pub struct Detail {
    /// The number of pairs.
    pub pairs: u64,
    /// The object with most pairs, and how many they are.
    pub busiest: Option<(u32, u32)>,
    /// The share of objects without a pair.
    pub alone: f64,
    /// The share of pairs that only touch: the boxes share a side, an edge or a corner and no volume.
    pub touching: f64,
    /// The share of pairs in which a giant or infinite object takes part.
    pub with_giants: f64,
}

impl PairStats {
    /// Finds the pairs of the frames of a sample. `giants` are numbers in the recording.
    pub fn of<const D: usize, T: Real>(sample: &Sample<D, T>, shape: Shape, giants: &[u32]) -> Result<Self, Failure> {
        let spec = "auto".parse()?;
        let mut counter = Ours::<D, T>::new(&spec, context(1)?, shape, Report::Count)?;
        let mut counts = Vec::new();
        for (number, boxes) in sample.numbered() {
            counter.frame(boxes).map_err(|refusal| failure(refusal, number))?;
            counts.push(counter.store().len());
        }
        let n = sample.count().max(1) as f64;
        let per_object = counts.iter().map(|&count| count as f64 / n);
        let mut pair_stats = Self {
            least: per_object.clone().fold(f64::INFINITY, f64::min),
            mean: per_object.clone().sum::<f64>() / counts.len().max(1) as f64,
            most: per_object.fold(0.0, f64::max),
            detail: None,
            started: None,
        };
        if counts.iter().take(2).all(|&count| count <= LISTED) {
            let mut lister = Ours::<D, T>::new(&spec, context(1)?, shape, Report::All)?;
            let mut list = |number: usize, boxes: &[Aabb<D, T>]| -> Result<Vec<Pair>, Failure> {
                lister.frame(boxes).map_err(|refusal| failure(refusal, number))?;
                Ok(lister.store().sorted())
            };
            let first = list(0, sample.first())?;
            pair_stats.detail = Some(Detail::of(sample, &first, giants));
            if let Some(second) = sample.windows.first().and_then(|window| window.frames.get(1)) {
                let second = list(1, second)?;
                let kept = common(&first, &second);
                pair_stats.started = (!second.is_empty()).then(|| 1.0 - kept as f64 / second.len() as f64);
            }
        }
        Ok(pair_stats)
    }
}

fn failure(refusal: Refusal, frame: usize) -> Failure {
    match refusal {
        Refusal::Unsuited(text) | Refusal::Failed(text) => Failure::Data(format!("frame {frame}: {text}")),
    }
}

impl Detail {
    fn of<const D: usize, T: Real>(sample: &Sample<D, T>, pairs: &[Pair], giants: &[u32]) -> Self {
        let (boxes, n) = (sample.first(), sample.count());
        let mut partners = vec![0u32; n];
        let mut is_giant = vec![false; n];
        giants.iter().filter_map(|giant| sample.ids.binary_search(giant).ok()).for_each(|at| is_giant[at] = true);
        let touch = |a: &Aabb<D, T>, b: &Aabb<D, T>| (0..D).any(|k| a.max[k] == b.min[k] || b.max[k] == a.min[k]);
        let (mut touching, mut with_giants) = (0u64, 0u64);
        for pair in pairs {
            let (a, b) = (pair.a as usize, pair.b as usize);
            partners[a] += 1;
            partners[b] += 1;
            touching += u64::from(touch(&boxes[a], &boxes[b]));
            with_giants += u64::from(is_giant[a] || is_giant[b]);
        }
        let busiest = (0..n).max_by_key(|&object| (partners[object], n - object)).filter(|&object| partners[object] > 0);
        let share = |count: u64| count as f64 / pairs.len().max(1) as f64;
        Self {
            pairs: pairs.len() as u64,
            busiest: busiest.map(|object| (sample.ids[object], partners[object])),
            alone: partners.iter().filter(|&&count| count == 0).count() as f64 / n.max(1) as f64,
            touching: share(touching),
            with_giants: share(with_giants),
        }
    }
}

/// How many pairs two sorted lists share.
fn common(a: &[Pair], b: &[Pair]) -> usize {
    let mut others = b.iter().peekable();
    let mut count = 0;
    for pair in a {
        while others.next_if(|other| *other < pair).is_some() {}
        count += usize::from(others.next_if_eq(&pair).is_some());
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_pairs_are_counted_once() {
        let list = |keys: &[(u32, u32)]| keys.iter().map(|&(a, b)| Pair::new(a, b)).collect::<Vec<_>>();
        let (a, b) = (list(&[(0, 1), (0, 2), (3, 4), (5, 6)]), list(&[(0, 2), (1, 2), (5, 6), (7, 8)]));
        assert_eq!((common(&a, &b), common(&b, &a), common(&a, &[]), common(&a, &a)), (2, 2, 0, 4));
    }
}
