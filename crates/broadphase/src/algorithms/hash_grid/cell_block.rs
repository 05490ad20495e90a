//! A block: the cells that are joined together, laid out row by row with the neighbors they need.
//!
//! The cells of a block are those that share all but the lowest bits of their index: a cube, or a box where an axis has fewer
//! bits. For a join, its objects and those of the cells around it are copied into columns, row after row along x. Then three
//! adjacent cells of a row are one run of the columns, and the 13 neighbors that a cell is tested with (14 with itself) are
//! 5 runs. Only the half of the shell that lies ahead is needed.

use super::cells::{Cells, for_each_bit};
use super::layout::{BLOCK_BITS, Layout};
use crate::geometry::{Aabb, Real};
use crate::kernels::{Soa, prefetch};

/// The shape of a grid's blocks.
#[derive(Clone, Debug)]
pub(super) struct BlockShape<const D: usize> {
    /// Bits of the index inside a block.
    pub(super) bits: u32,
    /// Words of 64 cells per axis, shell excluded.
    words: [usize; D],
    /// The distance of two cells that are neighbors on an axis, in the row-by-row order.
    stride: [usize; D],
    /// Cells in that order, shell included.
    pub(super) cells: usize,
    /// The step from one word to the next, as a part of the index.
    word_step: [u32; D],
    /// The place of each cell of a word relative to its first.
    offsets: Vec<u32>,
    /// The first cell of each row, shell excluded, and the number of cells in a row.
    pub(super) rows: Vec<u32>,
    pub(super) row: usize,
    /// The distance to the middle of each run ahead, beside the own row.
    pub(super) ahead: Vec<u32>,
}

/// The objects of a block and its shell, in columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered<const D: usize, T: Real> {
    /// `starts[c]..starts[c + 1]` are the columns of cell c.
    pub(super) starts: Vec<u32>,
    pub(super) columns: Soa<D, T>,
    /// The objects with their cells, in the order in which the cells are met.
    met: Vec<(u32, u32)>,
    pub(super) nearby: Nearby<D, T>,
}

/// What a block's objects meet in other levels.
#[derive(Clone, Debug, Default)]
pub(super) struct Nearby<const D: usize, T: Real> {
    /// Objects near the block.
    pub(super) others: Soa<D, T>,
    pub(super) ids: Vec<u32>,
    /// Objects that one of the block's has found on its own: its position in the columns, and their ids.
    pub(super) candidates: Vec<(u32, u32)>,
}

/// How far ahead of their use boxes are prefetched.
const AHEAD: usize = 12;

impl<const D: usize> BlockShape<D> {
    pub(super) fn new(layout: &Layout<D>) -> Self {
        let bits = layout.bits().min(BLOCK_BITS);
        let own: [usize; D] = std::array::from_fn(|k| 1 << layout.axis_bits_below(k, bits));
        let mut stride = [1; D];
        for k in 1..D {
            stride[k] = stride[k - 1] * (own[k - 1] + 2);
        }
        // The last axis has a shell on one side only: everything ahead lies there.
        let cells = stride[D - 1] * (own[D - 1] + if D == 1 { 2 } else { 1 });
        let offset = |cell: usize| (0..D).map(|k| layout.coordinate(k, cell as u32) * stride[k]).sum::<usize>() as u32;
        let in_word = layout.cells().min(64);
        Self {
            bits,
            words: std::array::from_fn(|k| own[k] >> layout.word_bits[k]),
            stride,
            cells,
            word_step: std::array::from_fn(|k| layout.place(k, 1 << layout.word_bits[k])),
            offsets: (0..in_word).map(offset).collect(),
            rows: rows(&own, &stride),
            row: own[0],
            ahead: ahead(&stride),
        }
    }

    /// Copies the objects of the block that starts at index `base`, and of its shell.
    pub(super) fn gather<T: Real>(
        &self,
        base: u32,
        layout: &Layout<D>,
        cells: &Cells,
        boxes: &[Aabb<D, T>],
        out: &mut Gathered<D, T>,
    ) {
        let Gathered { starts, columns, met, .. } = out;
        starts.clear();
        starts.resize(self.cells + 1, 0);
        met.clear();
        self.pass_axis(D, base, 0, u64::MAX, layout, &mut |index, first, set| {
            for_each_bit(cells.words[index as usize / 64].occupied & set, |bit| {
                let at = (first + i64::from(self.offsets[bit as usize])) as u32;
                let before = met.len();
                cells.for_each(index + bit, |id| met.push((at, id)));
                starts[at as usize] = (met.len() - before) as u32;
            });
        });
        let mut total = 0;
        for start in &mut *starts {
            total += std::mem::replace(start, total);
        }
        columns.resize(met.len());
        let (mut cell, mut position) = (u32::MAX, 0);
        for (index, &(at, id)) in met.iter().enumerate() {
            if let Some(later) = met.get(index + AHEAD) {
                prefetch(boxes, later.1 as usize);
            }
            position = if at == cell { position + 1 } else { starts[at as usize] as usize };
            cell = at;
            columns.set(position, id, &boxes[id as usize]);
        }
    }

    /// The words of the block and its shell: index of the first cell, its place, and which of the cells are wanted.
    fn pass_axis(&self, axes: usize, index: u32, at: i64, set: u64, layout: &Layout<D>, visit: &mut impl FnMut(u32, i64, u64)) {
        if axes == 0 {
            return visit(index, at, set);
        }
        let k = axes - 1;
        let (part, rest) = (layout.part(k, index), index & !layout.part(k, u32::MAX));
        let inside = 1usize << layout.word_bits[k];
        let last = D > 1 && k == D - 1;
        let shell = usize::from(!last);
        if !last {
            // The last cells of the word before; their place is the shell's.
            let before = layout.back(k, part, self.word_step[k]);
            let set = set & layout.from[k][inside - 1];
            self.pass_axis(k, rest | before, at - ((inside - 1) * self.stride[k]) as i64, set, layout, visit);
        }
        let mut word = part;
        for w in 0..self.words[k] {
            self.pass_axis(k, rest | word, at + ((w * inside + shell) * self.stride[k]) as i64, set, layout, visit);
            word = layout.ahead(k, word, self.word_step[k]);
        }
        let behind = at + ((self.words[k] * inside + shell) * self.stride[k]) as i64;
        self.pass_axis(k, rest | word, behind, set & layout.to[k][0], layout, visit);
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        (self.offsets.capacity() + self.rows.capacity() + self.ahead.capacity()) * 4
    }
}

impl<const D: usize, T: Real> Gathered<D, T> {
    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        let Nearby { others, ids, candidates } = &self.nearby;
        let lists = (self.starts.capacity() + ids.capacity()) * 4 + (self.met.capacity() + candidates.capacity()) * 8;
        self.columns.bytes() + others.bytes() + lists
    }
}

/// The first cell of each row, shell excluded.
fn rows<const D: usize>(own: &[usize; D], stride: &[usize; D]) -> Vec<u32> {
    let count: usize = own[1..].iter().product();
    let row = |mut number: usize| {
        let mut at = stride[0];
        for k in 1..D {
            let shell = usize::from(k != D - 1);
            at += (number % own[k] + shell) * stride[k];
            number /= own[k];
        }
        at as u32
    };
    (0..count).map(row).collect()
}

/// The rows ahead of a row: of all neighbors beside itself, those whose highest differing axis goes up.
fn ahead<const D: usize>(stride: &[usize; D]) -> Vec<u32> {
    let mut all = Vec::new();
    for number in 0..3usize.pow(D as u32 - 1) {
        let mut rest = number;
        let mut at = 0i64;
        for k in 1..D {
            at += (rest % 3) as i64 * stride[k] as i64 - stride[k] as i64;
            rest /= 3;
        }
        if at > 0 {
            all.push(at as u32);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_neighbors_are_five_runs_in_space_and_two_in_the_plane() {
        let space = BlockShape::new(&Layout::<3>::new([4; 3]));
        assert_eq!((space.rows.len(), space.row, space.cells), (256, 16, 18 * 18 * 17));
        // The own row has one neighbor ahead, each other run three: 13 in all.
        assert_eq!(1 + 3 * space.ahead.len(), 13);
        let plane = BlockShape::new(&Layout::<2>::new([4; 2]));
        assert_eq!(1 + 3 * plane.ahead.len(), 4);
    }
}
