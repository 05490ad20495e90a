//! The paper's parameters, all settable.

use crate::algorithms::common::nearest_in;
use crate::algorithms::{OptionDescriptor, Spec};
use crate::error::Error;

/// How the structure follows moving objects (section 2.6 of the paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Each object is compared with its cell, and moved if it has left it.
    Individual,
    /// All cells are cleared and all objects inserted again.
    Reinsert,
}

/// The parameters of a [`HashGrid`](super::HashGrid).
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The ratio of the cell sizes of two successive levels.
    pub factor: f64,
    /// The cell size from which those of all levels follow: `base * factor^k`. `None`: the size of the first object times the root of the factor.
    /// Structures with the same base have the same cell sizes, whichever objects they get first.
    pub base: Option<f64>,
    /// The cells of a new grid per axis, powers of two from 4 to 1024; 2^24 in all at most.
    pub dims: [u32; 3],
    /// Cells per object: with fewer, a grid is doubled.
    pub density: u32,
    /// Up to this many objects, all pairs are tested and no grid exists.
    pub threshold: usize,
    /// How moving objects are followed.
    pub strategy: Strategy,
    /// Ids per container of a cell.
    pub capacity: usize,
    /// The most shapes of long or flat cells; 0 keeps to the paper's cubes.
    pub shapes: usize,
    /// What searching one more level costs an object, in tests: levels share a grid where that is cheaper. 0 keeps to the paper's levels.
    pub merge: f64,
    /// From this many slots on, listed changes wait until the memory they need has arrived.
    pub patience: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            factor: 2.0,
            base: None,
            dims: [16; 3],
            density: 8,
            threshold: 600,
            strategy: Strategy::Individual,
            capacity: 6,
            shapes: 32,
            merge: 400.0,
            patience: 1 << 18,
        }
    }
}

/// The most cells of a new grid: two objects must not take a gigabyte.
const MOST_CELLS: u64 = 1 << 24;

/// What the list shows; `strategy` has the value of the listed name.
macro_rules! descriptors {
    ($strategy:literal) => {
        &[
            OptionDescriptor { name: "factor", default: "2", help: "cell size of a level by that of the one below: 1.1 to 16" },
            OptionDescriptor {
                name: "base",
                default: "first",
                help: "a cell size, from which those of all levels follow; first: the first object's size times the root of the factor",
            },
            OptionDescriptor {
                name: "dims",
                default: "16",
                help: "cells of a new grid per axis, powers of two from 4 to 1024, 16 million cells at most: one number, or one per axis as in 64x16x4",
            },
            OptionDescriptor { name: "density", default: "8", help: "cells per object, below which a grid doubles: 1 to 64" },
            OptionDescriptor { name: "threshold", default: "600", help: "up to this many objects, all pairs are tested instead" },
            OptionDescriptor {
                name: "strategy",
                default: $strategy,
                help: "individual: objects that left their cell are moved; reinsert: all cells are cleared and filled again",
            },
            OptionDescriptor { name: "capacity", default: "6", help: "ids per container of a cell: 2 to 64" },
            OptionDescriptor {
                name: "merge",
                default: "400",
                help: "tests that searching a level costs; levels share a grid where that is cheaper; 0: never",
            },
            OptionDescriptor {
                name: "patience",
                default: "262144",
                help: "from this many objects on, listed changes wait for their memory in a short queue",
            },
            OptionDescriptor { name: "shapes", default: "32", help: "the most shapes of long or flat cells; 0: cubes only" },
            crate::algorithms::common::PAPER_OPTION,
        ]
    };
}

pub(crate) const INDIVIDUAL: &[OptionDescriptor] = descriptors!("individual");
pub(crate) const REINSERT: &[OptionDescriptor] = descriptors!("reinsert");

impl Options {
    /// The options, each clamped to its range, for `axes` axes; dimensions are rounded up to powers of two, and the largest is halved until
    /// there are at most [`MOST_CELLS`].
    pub(super) fn in_range(self, axes: usize) -> Self {
        let mut dims = self.dims.map(|cells| cells.clamp(4, 1024).next_power_of_two());
        let used = axes.min(3);
        while dims[..used].iter().map(|&cells| u64::from(cells)).product::<u64>() > MOST_CELLS {
            let largest = (1..used).fold(0, |best, k| if dims[k] > dims[best] { k } else { best });
            dims[largest] /= 2;
        }
        Self {
            factor: nearest_in(self.factor, 1.1, 16.0),
            base: self.base.filter(is_base),
            dims,
            density: self.density.clamp(1, 64),
            capacity: self.capacity.clamp(2, 64),
            merge: nearest_in(self.merge, 0.0, 10_000.0),
            shapes: self.shapes.min(256),
            ..self
        }
    }

    /// Reads the options of a spec; `strategy` is the default.
    pub(crate) fn from_spec(spec: &Spec, strategy: Strategy) -> Result<Self, Error> {
        let default = Self::default();
        let dims = match spec.text("dims") {
            None => default.dims,
            Some(text) => parse_dims(text).ok_or_else(|| {
                spec.invalid("dims", text, "powers of two from 4 to 1024: one, or one per axis joined by x".to_string())
            })?,
        };
        let strategy = match spec.text("strategy") {
            None => strategy,
            Some("individual") => Strategy::Individual,
            Some("reinsert") => Strategy::Reinsert,
            Some(text) => return Err(spec.invalid("strategy", text, "individual or reinsert".to_string())),
        };
        let base = match spec.text("base") {
            None | Some("first") => None,
            Some(text) => {
                let base = text.parse().ok().filter(is_base);
                Some(base.ok_or_else(|| spec.invalid("base", text, "a positive number, or first".to_string()))?)
            }
        };
        Ok(Self {
            base,
            factor: spec.value("factor", default.factor, "a number from 1.1 to 16", |f| (1.1..=16.0).contains(f))?,
            dims,
            density: spec.value("density", default.density, "a whole number from 1 to 64", |d| (1..=64).contains(d))?,
            threshold: spec.value("threshold", default.threshold, "a whole number", |_| true)?,
            strategy,
            capacity: spec.value("capacity", default.capacity, "a whole number from 2 to 64", |c| (2..=64).contains(c))?,
            merge: spec.value("merge", default.merge, "a number from 0 to 10000", |m| (0.0..=10_000.0).contains(m))?,
            patience: spec.value("patience", default.patience, "a whole number", |_| true)?,
            shapes: spec.value("shapes", default.shapes, "a whole number up to 256", |s| *s <= 256)?,
        })
    }

    /// The cells of a new grid on an axis, as bits.
    pub(super) fn axis_bits(&self, axis: usize) -> u32 {
        self.dims[axis.min(2)].trailing_zeros()
    }
}

/// Can cells have this size?
fn is_base(size: &f64) -> bool {
    size.is_normal() && *size > 0.0
}

/// `16` or `64x16x4`; missing axes take the last number.
fn parse_dims(text: &str) -> Option<[u32; 3]> {
    let mut dims = [0; 3];
    let mut count = 0;
    for part in text.split('x') {
        let value: u32 = part.parse().ok()?;
        if count == 3 || !value.is_power_of_two() || !(4..=1024).contains(&value) {
            return None;
        }
        dims[count] = value;
        count += 1;
    }
    for k in count..3 {
        dims[k] = dims[count - 1];
    }
    Some(dims)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_powers_of_two_from_four_on() {
        assert_eq!(parse_dims("16"), Some([16; 3]));
        assert_eq!(parse_dims("64x16x4"), Some([64, 16, 4]));
        assert_eq!(parse_dims("8x4"), Some([8, 4, 4]));
        for wrong in ["", "2", "12", "16x", "16x16x16x16", "2048", "-4"] {
            assert_eq!(parse_dims(wrong), None, "{wrong}");
        }
    }
}
