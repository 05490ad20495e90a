//! Measures algorithms and peers: they run on the same frames, in turns, under the same clocks, and their pairs are compared.
//!
//! A measurement goes through these modules: the request (`request`, `selection`), frames in blocks (`source`, from an `input`), the rows that run
//! (`rows`, `drives`), in turns (`turns`), under clocks (`measure`), checked (`check`), and the results (`outcome`) as a table, as ratios, as work
//! and span (`span`), as JSON, and as a page with charts (`report`). The crate also has what the tool and the experiments share besides: errors that
//! end a command (`failure`), results that are written whole or not at all (`output`), progress bars, and the machine.

pub mod charts;
mod check;
mod drives;
pub mod failure;
#[cfg(test)]
mod fakes;
pub mod input;
pub mod json;
pub mod machine;
mod measure;
mod outcome;
pub mod output;
pub mod progress;
pub mod ratios;
pub mod report;
mod request;
pub mod rows;
pub mod selection;
pub mod sentence;
pub mod source;
pub mod span;
pub mod table;
mod turns;

pub use drives::Drive;
pub use measure::{Sorted, Timing, ms, timed};
pub use outcome::{Clock, Outcome, Record, Stages, Wrong};
pub use request::{Request, context, verdict};
pub use selection::{Choice, DEFAULT_SEED, Source, shape_name};
