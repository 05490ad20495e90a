//! The join of one tile: quantized boxes are swept in bytes and confirmed in words, and in floats only where words are equal.
//!
//! Here, x is the sweep axis of the tile, whichever axis of the world that is.
//!
//! # Input
//! [`Record`]s of the objects that reach into the tile, each quantized to 16 bits relative to the tile, by a monotone map: a
//! lower coordinate is 0 before the tile, and at least 1 otherwise.
//!
//! # Method
//! 1. Counting sort by the upper bits of the lower x, rounded up: eight of them, or more if runs are short. A record's candidates are
//!    then one run: from the next record to the end of the bucket that its upper x falls into. The bounds come from the sort, so x is never
//!    compared again.
//! 2. Along the run, y and z are compared in bytes, four to a record, as many at once as a register has: one subtraction that saturates
//!    leaves zero for the candidates. (A column for each side, compared by itself, was slower.) Two rows at once, since their runs are
//!    nearly the same. The candidates of a window are appended without a branch, as a mask.
//! 3. Each candidate is confirmed on its words, four of them at once if registers are wide enough. If the words are disjoint on any axis, it is no
//!    pair; if they overlap strictly on all axes, it is one; if two words are equal, the boxes decide. Those candidates are listed and tested
//!    afterwards: a mispredicted branch here costs more than a box test. If there are many, as when objects stand side by side, the
//!    boxes of the tile are copied into the order of the records.
//!
//! If records change along one axis only, the candidates of later frames are known (`neighbors.rs`), and all steps are skipped: the boxes decide.
//!
//! How a tile is sorted and swept depends on its own records alone, so the order of its pairs does not depend on the worker that joins it, or on
//! the tile that the worker joined before.
//!
//! # Exactness
//! For a monotone map q, `x <= y` implies `q(x) <= q(y)`: no pair is lost in steps 1 to 3. And `q(x) < q(y)` implies `x < y`: a
//! pair that is strict on all words is a pair of the boxes. The upper byte of a word is a monotone map too.
//!
//! # No duplicates
//! A pair is reported only in the tile that holds the lower corner of its intersection on the lattice, `max(a.min, b.min)` on each
//! axis. In any other tile that both objects reach, both start before the tile on some axis, where both words are zero.

mod between;
mod confirm;
mod join;
mod movers;
mod neighbors;
mod order;
mod probe;
mod sort;
mod sweep;

pub(crate) use between::{Columns, Set, join_sets};
pub(crate) use confirm::Confirmation;
pub(super) use confirm::{Candidate, FOUR, MOST};
#[cfg(target_arch = "x86_64")]
pub(super) use confirm::{LOWEST_INSIDE, WIDEST};
pub(crate) use join::join;
pub(crate) use movers::{TileMovers, join_movers, list_flagged};
pub(crate) use neighbors::Neighbors;
pub(crate) use order::{RunOrder, reinsert, sort_run};
pub(crate) use probe::probe;

use super::arch::{Simd, Words};
use super::prefetch::PrefetchList;
use crate::error::Error;
use crate::geometry::Real;
use crate::memory;
use confirm::SortedBox;
use sort::Buckets;
use sweep::{Find, strip};

/// Words of a [`Record`] that hold coordinates, as bits of [`Words::zeros`]: lanes 0 to 5.
pub(crate) const COORDINATES: u32 = 0xfff;
/// Words that hold lower coordinates: lanes 0, 2 and 3.
const LOWER: u32 = 0xf3;

/// The words of each axis of a [`Record`]: of the lower coordinate, and of the upper one.
const WORDS: [[usize; 2]; 3] = [[0, 1], [2, 4], [3, 5]];

/// A box in a tile: `min.x, !max.x, min.y, min.z, !max.y, !max.z`, then the id in two halves, possibly with [`Record::FLAG`].
///
/// The upper coordinates are inverted, so that one comparison of all lanes with [`Words::reach`] tests lower and upper sides. The four words
/// that the sweep compares lie side by side.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record(pub(crate) [u16; 8]);

// SAFETY: (layout) a list of integers.
unsafe impl bytemuck::Zeroable for Record {}

const _: () = assert!(size_of::<Record>() == 16);

impl Record {
    /// From quantized corners, the lower one first.
    ///
    /// Put together in two registers: eight narrow stores would cost more than all the arithmetic before them.
    #[inline(always)]
    pub(crate) fn new(corners: [u16; 6], id: u32) -> Self {
        let c = corners.map(u64::from);
        let low = c[0] | (!c[3] & 0xffff) << 16 | c[1] << 32 | c[2] << 48;
        let high = (!c[4] & 0xffff) | (!c[5] & 0xffff) << 16 | u64::from(id) << 32;
        Self(bytemuck::cast([low.to_le(), high.to_le()]))
    }

    /// A bit of the id that says that the object has changed.
    pub(crate) const FLAG: u32 = 1 << 31;

    /// The object.
    #[inline(always)]
    pub(crate) fn id(&self) -> u32 {
        self.flagged_id() & !Self::FLAG
    }

    /// Does it have the flag?
    #[inline(always)]
    pub(crate) fn is_flagged(&self) -> bool {
        self.flagged_id() & Self::FLAG != 0
    }

    /// The same record without the flag.
    #[inline(always)]
    pub(crate) fn without_flag(mut self) -> Self {
        self.0[7] &= !((Self::FLAG >> 16) as u16).to_le();
        self
    }

    #[inline(always)]
    fn flagged_id(&self) -> u32 {
        (u64::from_le(bytemuck::cast::<_, [u64; 2]>(self.0)[1]) >> 32) as u32
    }

    /// The bits in which two records differ.
    #[inline(always)]
    pub(crate) fn difference(&self, other: &Self) -> u128 {
        bytemuck::cast::<_, u128>(self.0) ^ bytemuck::cast::<_, u128>(other.0)
    }

    /// All bits of the coordinates on the axes except one, of the three in the record's order.
    pub(crate) fn bits_but(axis: usize) -> u128 {
        let mut words = [0; 8];
        for k in (0..3).filter(|&k| k != axis) {
            WORDS[k].into_iter().for_each(|word| words[word] = u16::MAX);
        }
        Self(words).difference(&Self::default())
    }

    /// Does the object's lower corner lie in the tile, and not before it? That is so for one record of an object.
    #[inline(always)]
    pub(crate) fn is_home(&self) -> bool {
        (self.0[0] != 0) & (self.0[2] != 0) & (self.0[3] != 0)
    }

    /// The lower and the upper x.
    #[inline(always)]
    pub(crate) fn span(&self) -> (u16, u16) {
        (self.0[0], !self.0[1])
    }

    /// The width along x, inside the tile.
    #[inline(always)]
    pub(crate) fn width(&self) -> u16 {
        let (low, high) = self.span();
        high.saturating_sub(low)
    }
}

/// Candidates are confirmed when this many wait, so that the buffers stay in the cache.
const BATCH: usize = 1024;
/// Lists of bytes are this much longer than the records: the widest window.
const PAD: usize = 64;

/// What the memory of the buffers is for.
const BUFFERS: &str = "buffers of the joins";

/// Buffers of the joins, reused: their content does not outlive a call.
#[derive(Clone, Debug)]
pub(crate) struct Scratch<T> {
    /// The first `len` are those of the current tile.
    sorted: Vec<Record>,
    len: usize,
    /// The upper bytes of `min.y, min.z, !max.y, !max.z`, in sorted order.
    bytes: Vec<u32>,
    /// The upper bounds of another record's bytes if the two overlap: `max.y, max.z, !min.y, !min.z`.
    bounds: Vec<u32>,
    buckets: Buckets,
    /// The upper bytes of all words, where records are not sorted.
    all_bytes: Vec<u64>,
    /// The records, unbounded on one axis.
    unbounded: Vec<Record>,
    /// Holds [`BATCH`] finds and those of a strip of rows.
    finds: Vec<Find>,
    candidates: Vec<Candidate>,
    /// Candidates that words cannot decide.
    open: Vec<Candidate>,
    /// The boxes of the sorted records, if this tile needed them.
    sorted_boxes: Vec<SortedBox<T>>,
    /// An estimate of the number of records that each record is compared with; it decides the length of windows.
    expected_run: usize,
    /// The records of changed objects, if they are known by their flags.
    pub(crate) movers: Vec<Record>,
    /// What the next tile will read, to be prefetched.
    coming: PrefetchList,
}

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Self {
            sorted: Vec::new(),
            len: 0,
            bytes: Vec::new(),
            bounds: Vec::new(),
            buckets: Buckets::default(),
            all_bytes: Vec::new(),
            unbounded: Vec::new(),
            finds: Vec::new(),
            candidates: Vec::new(),
            open: Vec::new(),
            sorted_boxes: Vec::new(),
            expected_run: 0,
            movers: Vec::new(),
            coming: PrefetchList::default(),
        }
    }
}

impl<T: Real> Scratch<T> {
    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let lists = self.finds.capacity() * size_of::<Find>()
            + (self.candidates.capacity() + self.open.capacity()) * size_of::<Candidate>()
            + self.sorted_boxes.capacity() * size_of::<SortedBox<T>>();
        (self.sorted.capacity() + self.unbounded.capacity()) * 16
            + (self.bytes.capacity() + self.bounds.capacity()) * 4
            + self.all_bytes.capacity() * 8
            + self.movers.capacity() * 16
            + self.coming.bytes()
            + lists
    }

    /// Prepares the buffers for a tile of `len` records.
    fn prepare(&mut self, len: usize) -> Result<(), Error> {
        memory::cover(&mut self.sorted, len, BUFFERS)?;
        memory::cover(&mut self.bytes, len + PAD, BUFFERS)?;
        memory::cover(&mut self.bounds, len, BUFFERS)?;
        self.prepare_finds(len)
    }

    /// Prepares the buffers for a tile of `len` records that are not sorted.
    fn prepare_unsorted(&mut self, len: usize) -> Result<(), Error> {
        memory::cover(&mut self.all_bytes, len + PAD, BUFFERS)?;
        self.prepare(len)
    }

    /// Starts a tile of `len` records, for which the buffers are prepared.
    fn begin(&mut self, len: usize) {
        assert!(self.sorted.len() >= len && self.bytes.len() >= len + PAD && self.bounds.len() >= len);
        assert!(self.finds.len() >= BATCH + strip(len).1);
        self.len = len;
        self.sorted_boxes.clear();
    }

    /// Prepares the buffers for the candidates of a tile of `len` records.
    fn prepare_finds(&mut self, len: usize) -> Result<(), Error> {
        memory::cover(&mut self.finds, BATCH + strip(len).1, BUFFERS)?;
        memory::cover(&mut self.candidates, BATCH + MOST, BUFFERS)?;
        memory::cover(&mut self.open, BATCH + MOST + FOUR, BUFFERS)
    }

    /// The width of the widest of the first `len` sorted records, in buckets.
    fn widest(&self, len: usize) -> usize {
        let width = |record: &Record| {
            let (first, last) = self.buckets.both(record);
            last.saturating_sub(first)
        };
        self.sorted[..len].iter().map(width).max().unwrap_or(0)
    }

    /// Copies all records, in their order, and their bytes.
    #[inline(always)]
    fn copy<S: Simd>(&mut self, _: S, runs: &[&[Record]], len: usize) {
        self.begin(len);
        assert!(self.all_bytes.len() >= len + PAD);
        let mut end = 0;
        for run in runs {
            self.sorted[end..end + run.len()].copy_from_slice(run);
            for (record, bytes) in run.iter().zip(&mut self.all_bytes[end..]) {
                // SAFETY: (isa) `S` is proven by the kernel table.
                *bytes = unsafe { S::U16::load(&record.0).upper_bytes() };
            }
            end += run.len();
        }
    }
}
