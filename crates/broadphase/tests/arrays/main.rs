//! Every call for boxes and points in arrays, against double loops.

mod balls;
mod between;
mod distance;
mod naive;
mod neighbors;
mod options;
mod periodic;
mod stream;
