//! Pairs of two lists that move from frame to frame.

use std::sync::OnceLock;

use super::last_lists::{LastLists, Motion};
use super::run::WAITING;
use crate::algorithms::{BroadPhase, Probes, Spec};
use crate::buffer_pool::BufferPool;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory;
use crate::objects::Frame;
use crate::pairs::{Pair, PairSort, PairStore, Report};

/// What the memory is for, in errors.
const PAIRS: &str = "pairs of two lists";

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
/// `b` is kept in a structure, and the boxes of `a` are joined with it. If `b` stays as it is for a third frame, only those boxes of `a` that have
/// changed are joined. So pass the list that is larger, or moves less, as the second one. If nothing moved, a frame costs one comparison of all boxes.
/// Pairs are sorted when [`pairs`](Between::pairs) is called; [`len`](Between::len) and [`for_each_chunk`](Between::for_each_chunk) need no sorted list. Without
/// [events](Between::set_events), started and ended pairs are not looked for.
#[derive(Debug)]
pub struct Between<const D: usize, T: Real> {
    structure: Box<dyn BroadPhase<D, T>>,
    context: Context,
    /// The largest number of pairs.
    limit: u64,
    /// The lists of the last frame.
    last: LastLists<D, T>,
    /// Must all boxes of `a` be joined, since the structure may hold another list than `b`, or a filter may have removed pairs?
    all: bool,
    /// The pairs of the last frame.
    store: PairStore,
    /// The same pairs, sorted, once they were asked for; first ids are below `bound`.
    sorted: OnceLock<Vec<Pair>>,
    bound: usize,
    /// Buffers for the sorted list.
    spare: BufferPool<(Vec<Pair>, PairSort)>,
    started: Vec<Pair>,
    ended: Vec<Pair>,
    scratch: Scratch<D, T>,
}

/// Buffers that can be dropped without changing a result.
#[derive(Debug)]
struct Scratch<const D: usize, T> {
    /// The pairs of some boxes of `a`, before a filter.
    found: PairStore,
    changed: Vec<bool>,
    probes: Vec<Aabb<D, T>>,
    ids: Vec<u32>,
    fresh: Vec<Pair>,
    merged: Vec<Pair>,
    sorter: PairSort,
}

impl<const D: usize, T> Default for Scratch<D, T> {
    fn default() -> Self {
        Self {
            found: PairStore::default(),
            changed: Vec::new(),
            probes: Vec::new(),
            ids: Vec::new(),
            fresh: Vec::new(),
            merged: Vec::new(),
            sorter: PairSort::default(),
        }
    }
}

impl<const D: usize, T: Real> Between<D, T> {
    /// Two empty lists, with the default algorithm, on the calling thread.
    pub fn new() -> Result<Self, Error> {
        Self::with(&Spec::default(), Context::new())
    }

    /// Two empty lists, with the given algorithm and context.
    pub fn with(algorithm: &Spec, context: Context) -> Result<Self, Error> {
        Ok(Self {
            structure: algorithm.build()?,
            context,
            limit: PairStore::DEFAULT_LIMIT,
            last: LastLists::new(),
            all: true,
            store: PairStore::new(Report::Both),
            sorted: OnceLock::new(),
            bound: 0,
            spare: BufferPool::default(),
            started: Vec::new(),
            ended: Vec::new(),
            scratch: Scratch::default(),
        })
    }

    /// Sets the largest number of pairs; more are [`Error::TooManyPairs`]. Pairs that a filter rejects do not count.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Sets whether [`update`](Between::update) finds which pairs started and ended; it does by default. Without, a frame in which most boxes move
    /// costs less, and after an error there may be no pairs until the next frame.
    pub fn set_events(&mut self, events: bool) {
        self.store.set_report(if events { Report::Both } else { Report::All });
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

    /// The pairs of the last frame, sorted. The first call after an update sorts them.
    pub fn pairs(&self) -> &[Pair] {
        self.sorted.get_or_init(|| {
            let (mut list, mut sorter) = self.spare.take();
            self.store.sort_into(&mut list, self.bound, &mut sorter);
            self.spare.give((Vec::new(), sorter));
            list
        })
    }

    /// The number of pairs of the last frame.
    pub fn len(&self) -> u64 {
        self.store.len()
    }

    /// Had the last frame no pairs?
    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    /// Visits the pairs of the last frame, not sorted, in an order that does not depend on the number of threads.
    pub fn for_each_chunk(&self, visit: impl FnMut(&[Pair])) {
        self.store.for_each_chunk(visit);
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
        let motion = self.last.motion(b);
        let filtered = keep.is_some();
        let partial = motion == Motion::Still && !self.all && !filtered;
        if !partial {
            self.all = true; // until all of it is done
            self.structure.update(&Frame::new(b), &mut self.context).map_err(|error| match error {
                Error::InvalidBox { .. } | Error::TooManyObjects { .. } => error.in_argument("b"),
                other => other,
            })?;
        }
        if partial || filtered {
            self.look_up(a, b, partial, keep)?;
            self.replace_pairs(a.len(), partial)?;
        } else {
            self.join(a, b)?;
        }
        self.bound = a.len();
        self.all = true;
        self.last.remember(a, b, motion)?;
        self.all = filtered;
        Ok(())
    }

    /// Finds the pairs of all boxes of `a`. They stay in the store, which finds out what started and ended.
    fn join(&mut self, a: &[Aabb<D, T>], b: &[Aabb<D, T>]) -> Result<(), Error> {
        let Self { structure, context, store, .. } = self;
        store.set_limit(self.limit);
        let found = structure.probe(&Frame::new(b), Probes { boxes: a, ids: None, recurring: true }, context, store);
        let found = found.and_then(|()| {
            let copied = memory::copy(&mut self.started, self.store.started(), PAIRS)
                .and_then(|()| memory::copy(&mut self.ended, self.store.ended(), PAIRS));
            copied.inspect_err(|_| self.store.undo())
        });
        if found.is_ok() || !self.store.report().delta() {
            self.forget_sorted();
        }
        found?;
        // Reserved now, so that `pairs` need not.
        let (mut list, sorter) = self.spare.take();
        let reserved = memory::reserve(&mut list, self.store.len() as usize, PAIRS);
        self.spare.give((list, sorter));
        reserved
    }

    /// Drops the sorted list; its memory is used again.
    fn forget_sorted(&mut self) {
        if let Some(mut list) = self.sorted.take() {
            list.clear();
            let (_, sorter) = self.spare.take();
            self.spare.give((list, sorter));
        }
    }

    /// Replaces the pairs of changed boxes of `a`, or all of them, by those that were looked up.
    fn replace_pairs(&mut self, count: usize, partial: bool) -> Result<(), Error> {
        self.pairs(); // sorts them
        let Self { scratch: Scratch { fresh, merged, sorter, changed, .. }, sorted, store, .. } = self;
        let Some(pairs) = sorted.get_mut() else { return Ok(()) };
        sorter.sort(fresh, count);
        merged.clear();
        if partial {
            let stays = |pair: &Pair| (pair.a as usize) < count && !changed[pair.a as usize];
            merge(pairs.iter().copied().filter(stays), fresh.iter().copied(), merged);
            if merged.len() as u64 > self.limit {
                return Err(Error::TooManyPairs { limit: self.limit });
            }
        } else {
            std::mem::swap(merged, fresh);
        }
        store.hold(merged, merged.len() as u64)?;
        if store.report().delta() {
            difference(pairs, merged, &mut self.started, &mut self.ended);
        } else {
            self.started.clear();
            self.ended.clear();
        }
        std::mem::swap(pairs, merged);
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
        let Self { structure, context, limit, scratch, last, .. } = self;
        let Scratch { found: store, changed, probes, ids, fresh, .. } = scratch;
        ids.clear();
        probes.clear();
        if partial {
            changed.clear();
            changed.extend(a.iter().enumerate().map(|(index, value)| last.has_changed(index, value)));
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
