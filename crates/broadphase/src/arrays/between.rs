//! Pairs of two lists that move from frame to frame.

use super::run::WAITING;
use crate::algorithms::{BroadPhase, Probes, Spec};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::pairs::{Pair, PairSort, PairStore};

/// Pairs of two lists that move from frame to frame, and which of them started and ended: sensors and targets, agents and obstacles.
///
/// A pair is (index in `a`, index in `b`). Lists may grow and shrink; an index stands for the same object from frame to frame.
///
/// ```
/// use broadphase::{Aabb, Between, Pair};
/// let doors = [Aabb::new([0.0, 0.0], [1.0, 1.0]), Aabb::new([5.0, 0.0], [6.0, 1.0])];
/// let mut visits = Between::new()?;
/// visits.update(&[Aabb::point([0.5, 0.5])], &doors)?;
/// assert_eq!(visits.started(), [Pair { a: 0, b: 0 }]);
/// visits.update(&[Aabb::point([5.5, 0.5])], &doors)?;
/// assert_eq!(visits.started(), [Pair { a: 0, b: 1 }]);
/// assert_eq!(visits.ended(), [Pair { a: 0, b: 0 }]);
/// # Ok::<(), broadphase::Error>(())
/// ```
///
/// # Cost
/// `b` is kept in a structure, and the boxes of `a` are joined with it. If `b` has not changed, only those boxes of `a` that have changed are joined. So
/// pass the list that is larger, or moves less, as the second one. If nothing moved, a frame costs one comparison of all boxes.
#[derive(Debug)]
pub struct Between<const D: usize, T: Real> {
    structure: Box<dyn BroadPhase<D, T>>,
    context: Context,
    store: PairStore,
    /// The largest number of pairs.
    limit: u64,
    /// The lists of the last frame.
    a: Vec<Aabb<D, T>>,
    b: Vec<Aabb<D, T>>,
    /// The pairs of the last frame, sorted.
    pairs: Vec<Pair>,
    started: Vec<Pair>,
    ended: Vec<Pair>,
    /// Must all boxes of `a` be looked up, since the structure may hold another list than `b`, or a filter may have removed pairs?
    all: bool,
    scratch: Scratch<D, T>,
}

/// Buffers that can be dropped without changing a result.
#[derive(Debug)]
struct Scratch<const D: usize, T> {
    changed: Vec<bool>,
    probes: Vec<Aabb<D, T>>,
    ids: Vec<u32>,
    fresh: Vec<Pair>,
    merged: Vec<Pair>,
    sorter: PairSort,
}

impl<const D: usize, T: Real> Between<D, T> {
    /// Two empty lists, with the default algorithm, on the calling thread.
    pub fn new() -> Result<Self, Error> {
        Self::with(&Spec::default(), Context::new())
    }

    /// Two empty lists, with the given algorithm and context.
    pub fn with(algorithm: &Spec, context: Context) -> Result<Self, Error> {
        let scratch = Scratch {
            changed: Vec::new(),
            probes: Vec::new(),
            ids: Vec::new(),
            fresh: Vec::new(),
            merged: Vec::new(),
            sorter: PairSort::default(),
        };
        let [pairs, started, ended] = [const { Vec::new() }; 3];
        let (structure, store) = (algorithm.build()?, PairStore::default());
        Ok(Self {
            structure,
            context,
            limit: store.limit(),
            store,
            a: Vec::new(),
            b: Vec::new(),
            pairs,
            started,
            ended,
            all: true,
            scratch,
        })
    }

    /// Sets the largest number of pairs; more are [`Error::TooManyPairs`]. Pairs that a filter rejects do not count.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Runs the next frame: finds all pairs, and which started and ended.
    ///
    /// # Errors
    /// As for [`pairs_between`](crate::pairs_between). Pairs and events are then still those of the last frame, and the next frame is
    /// compared with them.
    pub fn update(&mut self, a: &[Aabb<D, T>], b: &[Aabb<D, T>]) -> Result<(), Error> {
        self.run(a, b, None)
    }

    /// Like [`update`](Between::update), but only with pairs for which `keep` returns true.
    pub fn update_filtered(
        &mut self,
        a: &[Aabb<D, T>],
        b: &[Aabb<D, T>],
        mut keep: impl FnMut(Pair) -> bool,
    ) -> Result<(), Error> {
        self.run(a, b, Some(&mut keep))
    }

    /// The pairs of the last frame, sorted.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The pairs that the frame before did not have, sorted.
    pub fn started(&self) -> &[Pair] {
        &self.started
    }

    /// The pairs that only the frame before had, sorted.
    pub fn ended(&self) -> &[Pair] {
        &self.ended
    }

    fn run(&mut self, a: &[Aabb<D, T>], b: &[Aabb<D, T>], keep: Option<&mut dyn FnMut(Pair) -> bool>) -> Result<(), Error> {
        Frame::new(a).check().map_err(|error| error.in_argument("a"))?;
        Frame::new(b).check().map_err(|error| error.in_argument("b"))?;
        let filtered = keep.is_some();
        let partial = !self.all && !filtered && b == self.b;
        if !partial {
            self.all = true; // until all of it is done
            self.structure.update(&Frame::new(b), &mut self.context)?;
        }
        self.look_up(a, b, partial, keep)?;
        let Self { scratch: Scratch { fresh, merged, sorter, changed, .. }, pairs, limit, .. } = self;
        sorter.sort(fresh, a.len());
        merged.clear();
        if partial {
            let stays = |pair: &Pair| (pair.a as usize) < a.len() && !changed[pair.a as usize];
            merge(pairs.iter().copied().filter(stays), fresh.iter().copied(), merged);
            if merged.len() as u64 > *limit {
                return Err(Error::TooManyPairs { limit: *limit });
            }
        } else {
            std::mem::swap(merged, fresh);
        }
        difference(pairs, merged, &mut self.started, &mut self.ended);
        std::mem::swap(pairs, merged);
        replace(&mut self.a, a);
        if !partial {
            replace(&mut self.b, b);
        }
        self.all = filtered;
        Ok(())
    }

    /// Fills `fresh` with the pairs of all boxes of `a`, or of those that have changed. With a filter, boxes are looked up in parts that have few pairs, so
    /// that rejected pairs do not fill the memory.
    fn look_up(
        &mut self,
        a: &[Aabb<D, T>],
        b: &[Aabb<D, T>],
        partial: bool,
        mut keep: Option<&mut dyn FnMut(Pair) -> bool>,
    ) -> Result<(), Error> {
        let Self { structure, context, store, limit, scratch, .. } = self;
        let Scratch { changed, probes, ids, fresh, .. } = scratch;
        ids.clear();
        probes.clear();
        if partial {
            changed.clear();
            changed.extend(a.iter().enumerate().map(|(index, value)| self.a.get(index) != Some(value)));
            ids.extend((0..a.len() as u32).filter(|&index| changed[index as usize]));
            probes.extend(ids.iter().map(|&index| a[index as usize]));
        }
        let boxes = if partial { &probes[..] } else { a };
        fresh.clear();
        let (mut from, mut size) = (0, boxes.len());
        while from < boxes.len() {
            let to = (from + size).min(boxes.len());
            store.set_limit(match keep {
                None => *limit,
                Some(_) if to - from > 1 => WAITING.max(*limit),
                Some(_) => PairStore::DEFAULT_LIMIT,
            });
            let part = Probes { boxes: &boxes[from..to], ids: None, recurring: to - from == boxes.len() };
            match structure.probe(&Frame::new(b), part, context, store) {
                Err(Error::TooManyPairs { .. }) if keep.is_some() && to - from > 1 => {
                    size = (to - from).div_ceil(2);
                    continue;
                }
                result => result?,
            }
            let first = fresh.len();
            let index = |place: u32| if partial { ids[from + place as usize] } else { from as u32 + place };
            store.for_each_chunk(|pairs| fresh.extend(pairs.iter().map(|pair| Pair { a: index(pair.a), b: pair.b })));
            if let Some(keep) = &mut keep {
                let mut kept = first;
                for at in first..fresh.len() {
                    fresh[kept] = fresh[at];
                    kept += usize::from(keep(fresh[at]));
                }
                fresh.truncate(kept);
                if kept as u64 > *limit {
                    return Err(Error::TooManyPairs { limit: *limit });
                }
            }
            from = to;
        }
        Ok(())
    }
}

fn replace<X: Copy>(list: &mut Vec<X>, by: &[X]) {
    list.clear();
    list.extend_from_slice(by);
}

/// Appends two sorted sequences without common pairs, in order.
fn merge(x: impl Iterator<Item = Pair>, y: impl Iterator<Item = Pair>, out: &mut Vec<Pair>) {
    let (mut x, mut y) = (x.peekable(), y.peekable());
    loop {
        out.push(match (x.peek(), y.peek()) {
            (None, None) => return,
            (Some(&first), Some(&second)) if second < first => {
                y.next();
                second
            }
            (Some(&first), _) => {
                x.next();
                first
            }
            (None, Some(&second)) => {
                y.next();
                second
            }
        });
    }
}

/// The pairs that are only in the new, and those that are only in the old, of two sorted lists.
fn difference(old: &[Pair], new: &[Pair], started: &mut Vec<Pair>, ended: &mut Vec<Pair>) {
    started.resize(new.len(), Pair::default());
    ended.resize(old.len(), Pair::default());
    let (mut i, mut j, mut starts, mut ends) = (0, 0, 0, 0);
    // Which of the two comes first is unpredictable: both are written, and counted if they come first.
    while i < old.len() && j < new.len() {
        let (x, y) = (old[i], new[j]);
        (ended[ends], started[starts]) = (x, y);
        ends += usize::from(x.key() < y.key());
        starts += usize::from(y.key() < x.key());
        i += usize::from(x.key() <= y.key());
        j += usize::from(y.key() <= x.key());
    }
    ended.truncate(ends);
    started.truncate(starts);
    ended.extend_from_slice(&old[i..]);
    started.extend_from_slice(&new[j..]);
}
