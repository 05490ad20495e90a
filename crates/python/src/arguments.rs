//! Arrays in: borrowed from NumPy where they are as the library wants them, converted otherwise.
//!
//! An exact `numpy.ndarray` of native float32 or float64, two-dimensional, C-contiguous and aligned is borrowed. Everything else goes through
//! `_convert.py` first, which returns such an array or raises. Floats are widened where two arrays differ, never narrowed.

use broadphase::{Aabb, Real};
use bytemuck::Pod;
use numpy::prelude::*;
use numpy::{Element, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::errors::{python_function, wrong_shape};

/// Numbers in C order: borrowed from an array, or a list of our own.
pub(crate) enum Data<'py, T: Element> {
    /// The array is C-contiguous.
    Array(PyReadonlyArray2<'py, T>),
    List(Vec<T>),
}

impl<T: Element + Copy> Data<'_, T> {
    pub(crate) fn numbers(&self) -> PyResult<&[T]> {
        match self {
            Data::Array(array) => Ok(array.as_slice()?),
            Data::List(list) => Ok(list),
        }
    }
}

/// Floats of either width.
pub(crate) enum Floats<'py> {
    Single(Data<'py, f32>),
    Double(Data<'py, f64>),
}

/// A float of the library that NumPy has too.
pub(crate) trait Scalar: Real + Element + Pod {
    /// The floats as this type: as they are, or converted; narrowing rounds to nearest.
    fn convert(floats: Floats<'_>) -> PyResult<Data<'_, Self>>;
}

impl Scalar for f32 {
    fn convert(floats: Floats<'_>) -> PyResult<Data<'_, f32>> {
        match floats {
            Floats::Single(data) => Ok(data),
            Floats::Double(data) => Ok(Data::List(data.numbers()?.iter().map(|&x| x as f32).collect())),
        }
    }
}

impl Scalar for f64 {
    fn convert(floats: Floats<'_>) -> PyResult<Data<'_, f64>> {
        match floats {
            Floats::Double(data) => Ok(data),
            Floats::Single(data) => Ok(Data::List(data.numbers()?.iter().map(|&x| f64::from(x)).collect())),
        }
    }
}

/// A two-dimensional array of floats.
pub(crate) struct Table<'py> {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) floats: Floats<'py>,
}

/// What shape an argument must have: how many columns, and how to say it.
pub(crate) struct Shape {
    pub(crate) columns: &'static [usize],
    pub(crate) text: &'static str,
}

pub(crate) const BOXES: Shape =
    Shape { columns: &[4, 6], text: "(n, 4) or (n, 6), rows min..., max..., or a tuple (lo, hi) of (n, 2) or (n, 3)" };
const CORNERS: Shape = Shape { columns: &[2, 3], text: "(n, 2) or (n, 3)" };

static FLOATS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

impl<'py> Table<'py> {
    pub(crate) fn new(value: &Bound<'py, PyAny>, argument: &'static str, shape: &Shape) -> PyResult<Self> {
        let table = match Self::borrow(value)? {
            Some(table) => table,
            None => {
                let convert = python_function(value.py(), &FLOATS, "broadphase._convert", "floats")?;
                let array = convert.call1((value, argument, shape.text))?;
                match Self::borrow(&array)? {
                    Some(table) => table,
                    None => unreachable!("_convert.floats returns a C-contiguous array of native floats"),
                }
            }
        };
        if !shape.columns.contains(&table.columns) {
            return Err(wrong_shape(value.py(), argument, shape.text, &[table.rows, table.columns]));
        }
        Ok(table)
    }

    /// The array itself, if it is as the library wants it.
    fn borrow(value: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if !value.is_exact_instance_of::<PyUntypedArray>() {
            return Ok(None);
        }
        let floats = if let Some(array) = plain::<f32>(value)? {
            Floats::Single(Data::Array(array))
        } else if let Some(array) = plain::<f64>(value)? {
            Floats::Double(Data::Array(array))
        } else {
            return Ok(None);
        };
        let shape = match &floats {
            Floats::Single(Data::Array(array)) => array.shape(),
            Floats::Double(Data::Array(array)) => array.shape(),
            _ => &[0, 0],
        };
        Ok(Some(Self { rows: shape[0], columns: shape[1], floats }))
    }

    fn is_double(&self) -> bool {
        matches!(self.floats, Floats::Double(_))
    }

    /// The same numbers as float64.
    fn widened(self) -> PyResult<Self> {
        Ok(Self { floats: Floats::Double(f64::convert(self.floats)?), ..self })
    }
}

/// Two tables of the same float type: if they differ, both as float64, which is exact.
pub(crate) fn alike<'py>(a: Table<'py>, b: Table<'py>) -> PyResult<(Table<'py>, Table<'py>)> {
    if a.is_double() == b.is_double() { Ok((a, b)) } else { Ok((a.widened()?, b.widened()?)) }
}

/// A two-dimensional, C-contiguous, aligned array of `T`, borrowed; `None` for any other.
fn plain<'py, T: Element>(value: &Bound<'py, PyAny>) -> PyResult<Option<PyReadonlyArray2<'py, T>>> {
    match value.cast::<PyArray2<T>>() {
        Ok(array) if array.is_c_contiguous() && array.is_aligned() => Ok(Some(array.try_readonly()?)),
        _ => Ok(None),
    }
}

/// Boxes from an array `(n, 2D)`, or from a tuple of lower and upper corners.
pub(crate) fn boxes<'py>(value: &Bound<'py, PyAny>, argument: &'static str) -> PyResult<Table<'py>> {
    let Ok(corners) = value.cast::<PyTuple>() else { return Table::new(value, argument, &BOXES) };
    let py = value.py();
    if corners.len() != 2 {
        return Err(wrong_shape(py, argument, BOXES.text, &[corners.len()]));
    }
    let (lo, hi) =
        (Table::new(&corners.get_item(0)?, argument, &CORNERS)?, Table::new(&corners.get_item(1)?, argument, &CORNERS)?);
    if (lo.rows, lo.columns) != (hi.rows, hi.columns) {
        let expected = format!("({}, {}), as that of lo, for hi", lo.rows, lo.columns);
        return Err(wrong_shape(py, argument, &expected, &[hi.rows, hi.columns]));
    }
    let (rows, columns) = (lo.rows, 2 * lo.columns);
    let floats = match alike(lo, hi)? {
        (Table { floats: Floats::Single(lo), .. }, Table { floats: Floats::Single(hi), .. }) => {
            Floats::Single(Data::List(join(lo.numbers()?, hi.numbers()?, columns / 2)))
        }
        (Table { floats: Floats::Double(lo), .. }, Table { floats: Floats::Double(hi), .. }) => {
            Floats::Double(Data::List(join(lo.numbers()?, hi.numbers()?, columns / 2)))
        }
        _ => unreachable!("both tables have the same type"),
    };
    Ok(Table { rows, columns, floats })
}

/// The points of a tuple `(points, points)`, which stands for boxes without extent; `None` for anything else.
pub(crate) fn points<'py>(value: &Bound<'py, PyAny>, argument: &'static str) -> PyResult<Option<Table<'py>>> {
    let Ok(corners) = value.cast::<PyTuple>() else { return Ok(None) };
    if corners.len() != 2 || !corners.get_item(0)?.is(&corners.get_item(1)?) {
        return Ok(None);
    }
    Table::new(&corners.get_item(0)?, argument, &CORNERS).map(Some)
}

/// Numbers as rows of `D`.
pub(crate) fn rows<const D: usize, T>(numbers: &[T]) -> &[[T; D]] {
    numbers.as_chunks().0
}

/// Rows of both, side by side.
fn join<T: Scalar>(lo: &[T], hi: &[T], columns: usize) -> Vec<T> {
    fn both<const D: usize, T: Scalar>(lo: &[T], hi: &[T]) -> Vec<T> {
        let boxes: Vec<Aabb<D, T>> = rows(lo).iter().zip(rows(hi)).map(|(&lo, &hi)| Aabb::new(lo, hi)).collect();
        bytemuck::allocation::cast_vec(boxes)
    }
    if columns == 2 { both::<2, T>(lo, hi) } else { both::<3, T>(lo, hi) }
}

/// Boxes as the library sees them.
pub(crate) enum Boxes<'a> {
    Plane32(&'a [Aabb<2, f32>]),
    Space32(&'a [Aabb<3, f32>]),
    Plane64(&'a [Aabb<2, f64>]),
    Space64(&'a [Aabb<3, f64>]),
}

impl Table<'_> {
    /// A table of boxes as boxes.
    pub(crate) fn boxes(&self) -> PyResult<Boxes<'_>> {
        Ok(match (&self.floats, self.columns) {
            (Floats::Single(data), 4) => Boxes::Plane32(bytemuck::cast_slice(data.numbers()?)),
            (Floats::Single(data), _) => Boxes::Space32(bytemuck::cast_slice(data.numbers()?)),
            (Floats::Double(data), 4) => Boxes::Plane64(bytemuck::cast_slice(data.numbers()?)),
            (Floats::Double(data), _) => Boxes::Space64(bytemuck::cast_slice(data.numbers()?)),
        })
    }
}

/// Runs an expression with the boxes of whichever kind.
macro_rules! with_boxes {
    ($boxes:expr, $list:ident => $body:expr) => {
        match $boxes {
            $crate::arguments::Boxes::Plane32($list) => $body,
            $crate::arguments::Boxes::Space32($list) => $body,
            $crate::arguments::Boxes::Plane64($list) => $body,
            $crate::arguments::Boxes::Space64($list) => $body,
        }
    };
}
pub(crate) use with_boxes;

/// Runs an expression with the points of whichever kind, as rows in the plane or in space.
macro_rules! with_points {
    ($table:expr, $list:ident => $body:expr) => {{
        use $crate::arguments::{Floats, rows};
        let table = $table;
        match (&table.floats, table.columns) {
            (Floats::Single(data), 2) => with_points!(@rows 2, data, $list => $body),
            (Floats::Single(data), _) => with_points!(@rows 3, data, $list => $body),
            (Floats::Double(data), 2) => with_points!(@rows 2, data, $list => $body),
            (Floats::Double(data), _) => with_points!(@rows 3, data, $list => $body),
        }
    }};
    (@rows $d:literal, $data:ident, $list:ident => $body:expr) => {{
        let $list = rows::<$d, _>($data.numbers()?);
        $body
    }};
}
pub(crate) use with_points;

static INDICES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Vertices of edges or faces: `(m, N)` uint32, other integers converted.
pub(crate) fn elements<'py, const N: usize>(
    value: &Bound<'py, PyAny>,
    argument: &'static str,
) -> PyResult<PyReadonlyArray2<'py, u32>> {
    let text = if N == 2 { "(m, 2)" } else { "(m, 3)" };
    let array = match plain::<u32>(value)? {
        Some(array) => array,
        None => {
            let convert = python_function(value.py(), &INDICES, "broadphase._convert", "indices")?;
            convert.call1((value, argument, text))?.extract()?
        }
    };
    if array.shape()[1] != N {
        return Err(wrong_shape(value.py(), argument, text, array.shape()));
    }
    Ok(array)
}

static COLUMN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// One number for each of `count` objects: from an array of as many, or the same for all from a single number; `None` stays.
///
/// `convert` is the NumPy type: "uint8" (names of kinds), "uint32", "uint64" or "float64".
pub(crate) fn column<'py, T: Element>(
    value: Option<&Bound<'py, PyAny>>,
    argument: &'static str,
    count: usize,
    dtype: &str,
) -> PyResult<Option<PyReadonlyArray1<'py, T>>> {
    let Some(value) = value.filter(|value| !value.is_none()) else { return Ok(None) };
    let convert = python_function(value.py(), &COLUMN, "broadphase._convert", "column")?;
    Ok(Some(convert.call1((value, argument, count, dtype))?.extract()?))
}

static HANDLES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Handles: one-dimensional uint64, or a single one.
pub(crate) fn handles<'py>(value: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray1<'py, u64>> {
    if let Ok(array) = value.cast::<PyArray1<u64>>()
        && array.is_c_contiguous()
        && array.is_aligned()
    {
        return Ok(array.try_readonly()?);
    }
    let convert = python_function(value.py(), &HANDLES, "broadphase._convert", "handles")?;
    convert.call1((value,))?.extract()
}
