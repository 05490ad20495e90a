//! What the tests of the workspace share: a generator of random numbers, the definition of a right answer, and executors that show whether a result
//! depends on the order of jobs.
//!
//! For tests only; not published.

pub mod executors;
pub mod naive;
mod random;

pub use random::Random;
