//! The options that the calls over boxes share.

use broadphase::{Cancel, Error, Real, Search, Shape, Spec};
use pyo3::prelude::*;

use crate::call;
use crate::errors::{OrRaise, wrong_value};

/// Options of a search, checked.
pub(crate) struct Options {
    spec: Spec,
    shape: Shape,
    margin: f64,
    width: usize,
    pub(crate) sort: bool,
}

impl Options {
    pub(crate) fn new(py: Python<'_>, algorithm: &str, shape: &str, margin: f64, workers: i64, sort: bool) -> PyResult<Self> {
        let spec = spec(algorithm).or_raise(py)?;
        let shape = match shape {
            "box" => Shape::Box,
            "ball" => Shape::Ball,
            other => return Err(wrong_value(py, "shape", "'box' or 'ball'", &format!("'{other}'"))),
        };
        Ok(Self { spec, shape, margin, width: call::width(py, workers)?, sort })
    }

    /// With these options, and with what is sought.
    pub(crate) fn apply<'a, const D: usize, T: Real>(
        &self,
        search: Search<'a, D, T>,
        cancel: Option<&Cancel>,
    ) -> Result<Search<'a, D, T>, Error> {
        let mut search = search.algorithm(self.spec.clone()).shape(self.shape).margin(T::from_f64(self.margin)).sort(self.sort);
        if self.width != 1 {
            search = search.executor(call::pool(self.width)?);
        }
        if let Some(cancel) = cancel {
            search = search.cancel(cancel);
        }
        Ok(search)
    }
}

/// An algorithm by its name and options.
pub(crate) fn spec(algorithm: &str) -> Result<Spec, Error> {
    if algorithm == "auto" { Ok(Spec::default()) } else { algorithm.parse() }
}
