//! The caller's side of a run: a table of slots that tracks changes, and a structure that is checked after every frame.

use std::collections::BTreeSet;

use broadphase::{Aabb, BroadPhase, Changes, Context, Frame, Live, Pair, PairStore, Real, Report, Strength, step};

use crate::subjects::Subject;
use broadphase_testing::executors::Serialized;
use broadphase_testing::naive as oracle;

/// What the caller says about changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tell {
    Listed,
    Unknown,
    All,
}

impl Tell {
    pub const EACH: [Tell; 3] = [Tell::All, Tell::Unknown, Tell::Listed];
}

/// Boxes by slot, with what changed since the last [`Table::settle`].
#[derive(Clone, Default)]
pub struct Table<const D: usize, T: Real> {
    pub boxes: Vec<Aabb<D, T>>,
    live: Vec<bool>,
    /// Live at the last settling.
    was: Vec<bool>,
    touched: BTreeSet<u32>,
    bits: Vec<u64>,
    lists: [Vec<u32>; 3],
}

impl<const D: usize, T: Real> Table<D, T> {
    pub fn new(boxes: Vec<Aabb<D, T>>) -> Self {
        let mut table = Self::default();
        table.resize(boxes.len());
        boxes.iter().enumerate().for_each(|(id, value)| table.set(id as u32, *value));
        table
    }

    pub fn slots(&self) -> usize {
        self.boxes.len()
    }

    pub fn is_live(&self, id: u32) -> bool {
        self.live[id as usize]
    }

    /// The live slots.
    pub fn ids(&self) -> Vec<u32> {
        (0..self.slots() as u32).filter(|&id| self.is_live(id)).collect()
    }

    /// Fills the slot, or gives its object another box.
    pub fn set(&mut self, id: u32, value: Aabb<D, T>) {
        self.boxes[id as usize] = value;
        self.live[id as usize] = true;
        self.touched.insert(id);
    }

    /// Empties the slot, and leaves something in it that must not matter.
    pub fn remove(&mut self, id: u32) {
        self.boxes[id as usize] = if id.is_multiple_of(2) { Aabb::everything() } else { Aabb::point([T::NAN; D]) };
        self.live[id as usize] = false;
        self.touched.insert(id);
    }

    /// Cuts slots off, with their objects, or appends empty ones.
    pub fn resize(&mut self, slots: usize) {
        (slots..self.slots()).for_each(|id| self.remove(id as u32));
        self.boxes.resize(slots, Aabb::everything());
        self.live.resize(slots, false);
    }

    /// Closes the changes so far: the frame lists them, and the next ones start from here.
    pub fn settle(&mut self) {
        let Self { live, was, touched, lists: [moved, inserted, removed], bits, .. } = self;
        let holds = |table: &[bool], id: u32| table.get(id as usize).copied().unwrap_or(false);
        [&mut *moved, inserted, removed].into_iter().for_each(|list| list.clear());
        for &id in touched.iter() {
            match (holds(was, id), holds(live, id)) {
                (true, true) => moved.push(id),
                (false, true) => inserted.push(id),
                (true, false) => removed.push(id),
                (false, false) => {}
            }
        }
        touched.clear();
        was.clone_from(live);
        bits.clear();
        bits.resize(live.len().div_ceil(64), 0);
        live.iter().enumerate().filter(|(_, live)| **live).for_each(|(id, _)| bits[id / 64] |= 1 << (id % 64));
    }

    /// The frame as of the last settling.
    pub fn frame(&self, subject: &Subject, tell: Tell) -> Frame<'_, D, T> {
        let [moved, inserted, removed] = &self.lists;
        let changes = match tell {
            Tell::Listed => Changes::Listed { moved, inserted, removed },
            Tell::Unknown => Changes::Unknown,
            Tell::All => Changes::All,
        };
        let live = if self.live.iter().all(|&live| live) { Live::All } else { Live::Bits(&self.bits) };
        Frame { live, ..subject.frame(&self.boxes).with_changes(changes) }
    }
}

/// A structure and its store, checked against the oracle after every step.
pub struct Run<const D: usize, T: Real> {
    pub structure: Box<dyn BroadPhase<D, T>>,
    pub context: Context,
    pub store: PairStore,
    /// The pairs of the store's last frame.
    pub last: Vec<Pair>,
}

impl<const D: usize, T: Real> Run<D, T> {
    /// With jobs in random order.
    pub fn new(subject: &Subject) -> Self {
        Self::with_context(subject, Context::new().with_executor(Serialized::shuffled(3, 7)))
    }

    pub fn with_context(subject: &Subject, context: Context) -> Self {
        Self { structure: subject.build(), context, store: PairStore::new(Report::Both), last: Vec::new() }
    }

    /// One frame with the pairs that it must have; checks pairs, events, invariants, and that cost and memory stay sane.
    #[track_caller]
    pub fn step_expecting(&mut self, frame: &Frame<'_, D, T>, expected: &[Pair], what: &str) {
        step(&mut *self.structure, frame, &mut self.context, &mut self.store).unwrap_or_else(|e| panic!("{what}: {e}"));
        self.structure.validate(frame, Strength::Geometry).unwrap_or_else(|e| panic!("{what}: invalid: {e}"));
        oracle::assert_holds(&self.store, expected, what);
        oracle::assert_events(&self.store, &self.last, expected, what);
        self.last = expected.to_vec();
        let n = frame.slots() as u64;
        assert!(self.store.tests() <= n * n + 1000, "{what}: {} tests for {n} slots", self.store.tests());
        let bytes = self.structure.stats().bytes;
        assert!(bytes < (64 << 20), "{what}: {bytes} bytes for {n} slots");
    }

    /// One frame, against the oracle.
    #[track_caller]
    pub fn step(&mut self, frame: &Frame<'_, D, T>, what: &str) {
        self.step_expecting(frame, &oracle::pairs(frame), what);
    }
}
