//! `pairs`, `pairs_between`, `count` and their iterators.

use std::borrow::Cow;
use std::sync::{Mutex, TryLockError};

use broadphase::{Chunks, Error, Pair, Search};
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::arguments::{self, Boxes, Table, alike, with_boxes, with_points};
use crate::errors::{Fault, OrRaise, wrong_shape, wrong_value};
use crate::memory::Footprint;
use crate::options::Options;
use crate::{call, output};

const AUTO: Cow<'static, str> = Cow::Borrowed("auto");
const BOX: Cow<'static, str> = Cow::Borrowed("box");

/// All pairs of overlapping boxes, as a ``(k, 2)`` uint32 array of indices.
///
/// ``boxes`` is an ``(n, 4)`` or ``(n, 6)`` array of float32 or float64, rows ``min..., max...``, or a tuple ``(lo, hi)`` of two ``(n, 2)`` or
/// ``(n, 3)`` arrays. Boxes are closed: touching counts. Infinite sides are legal. ``(points, points)``, the same array twice, with a ``margin`` are equal
/// boxes or balls around points; it is not copied either.
///
/// ``shape="ball"``: each box stands for the ball inscribed in it. ``margin`` grows every box on every side. ``workers=-1`` uses all cores;
/// the result does not depend on it. Rows are sorted, each with ``a < b``; ``sort=False`` saves the sorting and returns them in another, fixed order.
///
/// A C-contiguous array is not copied, and the result is the library's own memory. Other Python threads run during the call: do not
/// write to the array until it returns.
///
/// >>> import numpy, broadphase
/// >>> boxes = numpy.array([[0, 0, 1, 1], [5, 5, 6, 6], [1, 1, 2, 2]], dtype=numpy.float32)
/// >>> broadphase.pairs(boxes)
/// array([[0, 2]], dtype=uint32)
/// >>> broadphase.pairs(boxes, margin=2.0).tolist()
/// [[0, 1], [0, 2], [1, 2]]
#[pyfunction]
#[pyo3(
    signature = (boxes, *, algorithm = AUTO, shape = BOX, margin = 0.0, workers = 1, sort = true),
    text_signature = "(boxes, *, algorithm='auto', shape='box', margin=0.0, workers=1, sort=True)"
)]
pub(crate) fn pairs<'py>(
    py: Python<'py>,
    boxes: &Bound<'py, PyAny>,
    algorithm: Cow<'_, str>,
    shape: Cow<'_, str>,
    margin: f64,
    workers: i64,
    sort: bool,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let options = Options::new(py, &algorithm, &shape, margin, workers, sort)?;
    let list = match arguments::points(boxes, "boxes")? {
        Some(table) => {
            with_points!(&table, list => call::run(py, table.rows, |cancel| options.apply(Search::points(list), cancel)?.list()))?
        }
        None => {
            let table = arguments::boxes(boxes, "boxes")?;
            with_boxes!(table.boxes()?, list => call::run(py, table.rows, |cancel| options.apply(Search::new(list), cancel)?.list()))?
        }
    };
    output::pairs(py, list)
}

/// All pairs of a box of ``a`` and a box of ``b`` that overlap, as a ``(k, 2)`` uint32 array: index in ``a``, index in ``b``.
///
/// Arguments as for ``pairs``. If one array is float32 and the other float64, both are compared as float64.
///
/// >>> import broadphase
/// >>> players, coins = [[0, 0, 1, 1], [4, 0, 5, 1]], [[4.5, 0.5, 4.5, 0.5]]
/// >>> broadphase.pairs_between(players, coins)
/// array([[1, 0]], dtype=uint32)
#[pyfunction]
#[pyo3(
    signature = (a, b, *, algorithm = AUTO, shape = BOX, margin = 0.0, workers = 1, sort = true),
    text_signature = "(a, b, *, algorithm='auto', shape='box', margin=0.0, workers=1, sort=True)"
)]
#[allow(clippy::too_many_arguments)] // keywords in Python
pub(crate) fn pairs_between<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    algorithm: Cow<'_, str>,
    shape: Cow<'_, str>,
    margin: f64,
    workers: i64,
    sort: bool,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let options = Options::new(py, &algorithm, &shape, margin, workers, sort)?;
    let (a, b) = two_lists(py, a, b)?;
    let size = a.rows + b.rows;
    let list = with_both!(a.boxes()?, b.boxes()?, (x, y) => {
        call::run(py, size, |cancel| options.apply(Search::between(x, y), cancel)?.list())
    })?;
    output::pairs(py, list)
}

/// Runs an expression with two lists of boxes of the same kind.
macro_rules! with_both {
    ($a:expr, $b:expr, ($x:ident, $y:ident) => $body:expr) => {
        match ($a, $b) {
            (Boxes::Plane32($x), Boxes::Plane32($y)) => $body,
            (Boxes::Space32($x), Boxes::Space32($y)) => $body,
            (Boxes::Plane64($x), Boxes::Plane64($y)) => $body,
            (Boxes::Space64($x), Boxes::Space64($y)) => $body,
            _ => unreachable!("two_lists gives boxes of one kind"),
        }
    };
}
use with_both;

/// Two lists of boxes of the same dimension and type.
fn two_lists<'py>(py: Python<'py>, a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<(Table<'py>, Table<'py>)> {
    let (a, b) = (arguments::boxes(a, "a")?, arguments::boxes(b, "b")?);
    if a.columns != b.columns {
        return Err(wrong_shape(py, "b", &format!("(n, {}), of the same dimension as a,", a.columns), &[b.rows, b.columns]));
    }
    alike(a, b)
}

/// The number of pairs that ``pairs`` would return, without making the list.
///
/// >>> import broadphase
/// >>> broadphase.count([[0, 0, 1, 1], [5, 5, 6, 6], [1, 1, 2, 2]])
/// 1
#[pyfunction]
#[pyo3(
    signature = (boxes, *, algorithm = AUTO, shape = BOX, margin = 0.0, workers = 1),
    text_signature = "(boxes, *, algorithm='auto', shape='box', margin=0.0, workers=1)"
)]
pub(crate) fn count<'py>(
    py: Python<'py>,
    boxes: &Bound<'py, PyAny>,
    algorithm: Cow<'_, str>,
    shape: Cow<'_, str>,
    margin: f64,
    workers: i64,
) -> PyResult<u64> {
    let options = Options::new(py, &algorithm, &shape, margin, workers, true)?;
    if let Some(table) = arguments::points(boxes, "boxes")? {
        return with_points!(&table, list => call::run(py, table.rows, |cancel| options.apply(Search::points(list), cancel)?.count()));
    }
    let table = arguments::boxes(boxes, "boxes")?;
    with_boxes!(table.boxes()?, list => call::run(py, table.rows, |cancel| options.apply(Search::new(list), cancel)?.count()))
}

/// The rows of ``pairs`` in arrays of at most ``chunk`` rows each, in order: for results larger than memory.
///
/// The boxes are copied, so the array may change meanwhile. Up to four million pairs are found at once; beyond, each
/// piece is found when it is needed.
///
/// >>> import numpy, broadphase
/// >>> boxes = numpy.tile([0.0, 0.0, 1.0, 1.0], (100, 1))
/// >>> [len(piece) for piece in broadphase.iter_pairs(boxes, chunk=2000)]
/// [2000, 2000, 950]
#[pyfunction]
#[pyo3(
    signature = (boxes, *, chunk = 1 << 20, algorithm = AUTO, shape = BOX, margin = 0.0, workers = 1),
    text_signature = "(boxes, *, chunk=1048576, algorithm='auto', shape='box', margin=0.0, workers=1)"
)]
#[allow(clippy::too_many_arguments)] // keywords in Python
pub(crate) fn iter_pairs<'py>(
    py: Python<'py>,
    boxes: &Bound<'py, PyAny>,
    chunk: i64,
    algorithm: Cow<'_, str>,
    shape: Cow<'_, str>,
    margin: f64,
    workers: i64,
) -> PyResult<PairChunks> {
    let options = Options::new(py, &algorithm, &shape, margin, workers, true)?;
    let chunk = chunk_size(py, chunk)?;
    let table = arguments::boxes(boxes, "boxes")?;
    with_boxes!(table.boxes()?, list => {
        let owned = list.to_vec();
        call::run(py, table.rows, |cancel| PairChunks::new(options.apply(Search::new(owned), cancel)?.chunks(chunk)?))
    })
}

/// The rows of ``pairs_between`` in arrays of at most ``chunk`` rows each, in order. See ``iter_pairs``.
///
/// >>> import numpy, broadphase
/// >>> boxes = numpy.tile([0.0, 0.0, 1.0, 1.0], (30, 1))
/// >>> [len(piece) for piece in broadphase.iter_pairs_between(boxes, boxes, chunk=500)]
/// [500, 400]
#[pyfunction]
#[pyo3(
    signature = (a, b, *, chunk = 1 << 20, algorithm = AUTO, shape = BOX, margin = 0.0, workers = 1),
    text_signature = "(a, b, *, chunk=1048576, algorithm='auto', shape='box', margin=0.0, workers=1)"
)]
#[allow(clippy::too_many_arguments)] // keywords in Python
pub(crate) fn iter_pairs_between<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    chunk: i64,
    algorithm: Cow<'_, str>,
    shape: Cow<'_, str>,
    margin: f64,
    workers: i64,
) -> PyResult<PairChunks> {
    let options = Options::new(py, &algorithm, &shape, margin, workers, true)?;
    let chunk = chunk_size(py, chunk)?;
    let (a, b) = two_lists(py, a, b)?;
    let size = a.rows + b.rows;
    with_both!(a.boxes()?, b.boxes()?, (x, y) => {
        let (x, y) = (x.to_vec(), y.to_vec());
        call::run(py, size, |cancel| PairChunks::new(options.apply(Search::between(x, y), cancel)?.chunks(chunk)?))
    })
}

fn chunk_size(py: Python<'_>, chunk: i64) -> PyResult<usize> {
    match usize::try_from(chunk) {
        Ok(size) if size > 0 => Ok(size),
        _ => Err(wrong_value(py, "chunk", "1 or more", &chunk.to_string())),
    }
}

/// Lists of pairs, whatever the kind of boxes.
type Pieces = Box<dyn Iterator<Item = Result<Vec<Pair>, Error>> + Send>;

/// An iterator over bounded arrays of pairs: what ``iter_pairs`` returns.
#[pyclass(frozen, module = "broadphase")]
pub(crate) struct PairChunks(Mutex<Pieces>);

impl PairChunks {
    fn new<const D: usize, T: broadphase::Real>(chunks: Chunks<'static, D, T>) -> Result<Self, Error> {
        Ok(Self(Mutex::new(Box::new(chunks))))
    }
}

impl Footprint for PairChunks {
    fn bytes(&self) -> usize {
        0
    }
}

#[pymethods]
impl PairChunks {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<u32>>>> {
        let mut pieces = match self.0.try_lock() {
            Ok(pieces) => pieces,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(busy(py, "this iterator")),
        };
        let pieces = &mut *pieces;
        match py.detach(|| pieces.next()) {
            Some(piece) => output::pairs(py, piece.or_raise(py)?).map(Some),
            None => Ok(None),
        }
    }
}

/// Two threads at once.
pub(crate) fn busy(py: Python<'_>, what: &str) -> PyErr {
    let message = format!("{what} is being used by another thread; use it from one thread at a time, or guard it with a lock");
    Fault { code: "busy", message, ..Fault::default() }.raise(py)
}

/// Where the library reads the boxes: the address, and whether it is the array's own memory. For tests.
#[pyfunction]
pub(crate) fn _address(boxes: &Bound<'_, PyAny>) -> PyResult<usize> {
    let table = arguments::boxes(boxes, "boxes")?;
    Ok(with_boxes!(table.boxes()?, list => list.as_ptr() as usize))
}
