//! `neighbors` and `neighbor_pairs`.

use broadphase::{Cancel, Error, NeighborSearch, Neighbors, Pair, Period};
use numpy::{PyArray1, PyArray2};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::arguments::{self, Floats, Scalar, Shape, Table, column};
use crate::errors::wrong_value;
use crate::{call, output};

const POINTS: Shape = Shape { columns: &[1, 2, 3], text: "(n, 1), (n, 2) or (n, 3)" };

/// The options of a neighbor search.
struct Task {
    radius: f64,
    /// The length of each axis, where it repeats.
    period: Option<Vec<Option<f64>>>,
    half: bool,
    distances: bool,
    width: usize,
}

impl Task {
    fn new(py: Python<'_>, columns: usize, radius: f64, boxsize: Option<&Bound<'_, PyAny>>, workers: i64) -> PyResult<Self> {
        let lengths = column::<f64>(boxsize, "boxsize", columns, "float64")?;
        let period = match &lengths {
            None => None,
            Some(lengths) => Some(lengths.as_slice()?.iter().map(|&length| axis_length(py, length)).collect::<PyResult<_>>()?),
        };
        Ok(Self { radius, period, half: false, distances: false, width: call::width(py, workers)? })
    }

    fn search<'a, const D: usize, T: Scalar>(
        &self,
        points: &'a [T],
        cancel: Option<&Cancel>,
    ) -> Result<NeighborSearch<'a, D, T>, Error> {
        let mut search = NeighborSearch::<D, T>::new(arguments::rows(points), T::from_f64(self.radius));
        if let Some(lengths) = &self.period {
            search = search.periodic(Period::axes(std::array::from_fn(|k| lengths[k].map(T::from_f64))));
        }
        if self.half {
            search = search.half();
        }
        if self.distances {
            search = search.distances();
        }
        if self.width != 1 {
            search = search.executor(call::pool(self.width)?);
        }
        if let Some(cancel) = cancel {
            search = search.cancel(cancel);
        }
        Ok(search)
    }

    /// Rows, in whichever dimension.
    fn rows<T: Scalar>(&self, py: Python<'_>, points: &[T], columns: usize) -> PyResult<Neighbors<T>> {
        call::run(py, points.len() / columns, |cancel| match columns {
            1 => self.search::<1, T>(points, cancel)?.list(),
            2 => self.search::<2, T>(points, cancel)?.list(),
            _ => self.search::<3, T>(points, cancel)?.list(),
        })
    }

    /// Pairs, in whichever dimension.
    fn pairs<T: Scalar>(&self, py: Python<'_>, points: &[T], columns: usize) -> PyResult<Vec<Pair>> {
        call::run(py, points.len() / columns, |cancel| match columns {
            1 => self.search::<1, T>(points, cancel)?.pairs(),
            2 => self.search::<2, T>(points, cancel)?.pairs(),
            _ => self.search::<3, T>(points, cancel)?.pairs(),
        })
    }
}

/// As scipy has it: 0 is an axis that does not repeat. So is infinity.
fn axis_length(py: Python<'_>, length: f64) -> PyResult<Option<f64>> {
    if length > 0.0 && length.is_finite() {
        Ok(Some(length))
    } else if length == 0.0 || length == f64::INFINITY {
        Ok(None)
    } else {
        let expected = "a positive length, or one for each axis; 0 or infinity for an axis that does not repeat";
        Err(wrong_value(py, "boxsize", expected, &length.to_string()))
    }
}

/// Compressed rows: offsets and indices.
type Rows<'py> = (Bound<'py, PyArray1<isize>>, Bound<'py, PyArray1<u32>>);

/// The neighbors of every point within ``radius``, in compressed rows: those of point ``i`` are ``indices[offsets[i]:offsets[i + 1]]``, ascending.
///
/// ``points`` is an ``(n, 2)`` or ``(n, 3)`` array (or ``(n, 1)``). Points at exactly ``radius`` count. ``boxsize``, a number or one per axis,
/// makes the space ``[0, boxsize)`` periodic; 0 leaves an axis as it is; the radius may be up to half of it. ``half=True`` lists each pair
/// once, in the row of its smaller index.
///
/// >>> import broadphase
/// >>> offsets, indices = broadphase.neighbors([[0.0, 0.0], [0.5, 0.0], [0.9, 0.0]], 0.6)
/// >>> offsets.tolist(), indices.tolist()
/// ([0, 1, 3, 4], [1, 0, 2, 1])
/// >>> broadphase.neighbors([[0.1, 0.0], [9.8, 0.0]], 0.6, boxsize=10.0)[1].tolist()
/// [1, 0]
#[pyfunction]
#[pyo3(signature = (points, radius, *, boxsize = None, half = false, workers = 1))]
pub(crate) fn neighbors<'py>(
    py: Python<'py>,
    points: &Bound<'py, PyAny>,
    radius: f64,
    boxsize: Option<&Bound<'py, PyAny>>,
    half: bool,
    workers: i64,
) -> PyResult<Rows<'py>> {
    let table = Table::new(points, "points", &POINTS)?;
    let task = Task { half, ..Task::new(py, table.columns, radius, boxsize, workers)? };
    let (offsets, indices) = match &table.floats {
        Floats::Single(data) => rows(task.rows(py, data.numbers()?, table.columns)?),
        Floats::Double(data) => rows(task.rows(py, data.numbers()?, table.columns)?),
    };
    Ok((output::offsets(py, offsets), PyArray1::from_vec(py, indices)))
}

fn rows<T>(found: Neighbors<T>) -> (Vec<usize>, Vec<u32>) {
    (found.offsets, found.indices)
}

/// All pairs of points within ``radius``, as a sorted ``(k, 2)`` uint32 array, each with ``a < b``; with ``distances=True`` also their distances.
///
/// Other arguments as for ``neighbors``.
///
/// >>> import broadphase
/// >>> pairs, distances = broadphase.neighbor_pairs([[0.0, 0.0], [0.5, 0.0], [2.0, 0.0]], 1.0, distances=True)
/// >>> pairs.tolist(), distances.tolist()
/// ([[0, 1]], [0.5])
#[pyfunction]
#[pyo3(signature = (points, radius, *, boxsize = None, distances = false, workers = 1))]
pub(crate) fn neighbor_pairs<'py>(
    py: Python<'py>,
    points: &Bound<'py, PyAny>,
    radius: f64,
    boxsize: Option<&Bound<'py, PyAny>>,
    distances: bool,
    workers: i64,
) -> PyResult<Bound<'py, PyAny>> {
    let table = Table::new(points, "points", &POINTS)?;
    let task = Task { half: true, distances, ..Task::new(py, table.columns, radius, boxsize, workers)? };
    match &table.floats {
        Floats::Single(data) => listed(py, &task, data.numbers()?, table.columns),
        Floats::Double(data) => listed(py, &task, data.numbers()?, table.columns),
    }
}

fn listed<'py, T: Scalar>(py: Python<'py>, task: &Task, points: &[T], columns: usize) -> PyResult<Bound<'py, PyAny>> {
    if !task.distances {
        return Ok(output::pairs(py, task.pairs(py, points, columns)?)?.into_any());
    }
    let found = task.rows(py, points, columns)?;
    let pairs: Bound<'_, PyArray2<u32>> = output::pairs(py, py.detach(|| found.pairs()))?;
    (pairs, PyArray1::from_vec(py, found.distances)).into_bound_py_any(py)
}
