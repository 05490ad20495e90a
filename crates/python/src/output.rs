//! Arrays out: the library's memory, handed to NumPy without a copy.

use broadphase::{Handle, Pair};
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

/// Pairs as an array `(k, 2)`.
pub(crate) fn pairs(py: Python<'_>, list: Vec<Pair>) -> PyResult<Bound<'_, PyArray2<u32>>> {
    let rows = list.len();
    rows_of(py, bytemuck::allocation::cast_vec(list), rows, 2)
}

/// A list as an array of `rows` rows.
pub(crate) fn rows_of<T: numpy::Element>(
    py: Python<'_>,
    list: Vec<T>,
    rows: usize,
    columns: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let array = Array2::from_shape_vec((rows, columns), list)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?;
    Ok(PyArray2::from_owned_array(py, array))
}

/// Offsets of compressed rows, signed as NumPy's own.
pub(crate) fn offsets(py: Python<'_>, list: Vec<usize>) -> Bound<'_, PyArray1<isize>> {
    PyArray1::from_vec(py, bytemuck::allocation::cast_vec(list))
}

/// Pairs of handles as an array `(k, 2)` of their numbers.
pub(crate) fn handle_pairs(
    py: Python<'_>,
    pairs: impl ExactSizeIterator<Item = (Handle, Handle)>,
) -> PyResult<Bound<'_, PyArray2<u64>>> {
    let rows = pairs.len();
    let mut list = Vec::with_capacity(2 * rows);
    list.extend(pairs.flat_map(|(a, b)| [a.to_bits(), b.to_bits()]));
    rows_of(py, list, rows, 2)
}
