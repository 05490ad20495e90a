//! `World` and `Update`.
//!
//! The four worlds of the library (2D or 3D, float32 or float64) are one Python class. `edit.rs` changes objects, `query.rs` has the queries,
//! `store.rs` turns a world into bytes and back.

mod edit;
mod query;
mod store;

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, TryLockError};

use broadphase::{Context, Error, Handle, Spec, Update, World};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::errors::{OrRaise, wrong_value};
use crate::pairs::busy;
use crate::{call, options, output};

/// The number for "no object" in arrays of handles.
pub(crate) const NO_HANDLE: u64 = u64::MAX;

/// A world of whichever kind.
#[derive(Clone)]
pub(crate) enum Any {
    Plane32(World<2, f32>),
    Space32(World<3, f32>),
    Plane64(World<2, f64>),
    Space64(World<3, f64>),
}

/// Runs an expression with the world, whatever its kind.
macro_rules! with_world {
    ($any:expr, $world:ident => $body:expr) => {
        match $any {
            $crate::world::Any::Plane32($world) => $body,
            $crate::world::Any::Space32($world) => $body,
            $crate::world::Any::Plane64($world) => $body,
            $crate::world::Any::Space64($world) => $body,
        }
    };
}
pub(crate) use with_world;

/// A world, and the threads it was given.
#[derive(Clone)]
struct Inner {
    any: Any,
    workers: i64,
}

/// Objects that move: their boxes, and the pairs among them, from frame to frame.
///
/// Insert boxes, move them with ``set_boxes``, call ``update`` once a frame: it finds all pairs, and which started and ended. Handles are
/// uint64 numbers; ``handle >> 32`` is a small index, unique among living objects.
///
/// ``dim`` is 2 or 3, ``dtype`` "float32" or "float64". Arrays of another dtype are converted to it, rounding to nearest. A world may be used
/// from any thread, by one at a time; a second one gets a ``BusyError``.
///
/// >>> import broadphase
/// >>> world = broadphase.World(dim=2)
/// >>> floor, = world.insert([[0, -1, 100, 0]], kind="static")
/// >>> ball, = world.insert([[5, 2, 6, 3]])
/// >>> world.update().count
/// 0
/// >>> world.set_boxes([ball], [[5, -0.5, 6, 0.5]])
/// >>> world.update().started.tolist() == [[floor, ball]]
/// True
#[pyclass(frozen, name = "World", module = "broadphase")]
pub(crate) struct PyWorld(Mutex<Inner>);

impl PyWorld {
    /// The world, unless another thread uses it.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner>> {
        match self.0.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::WouldBlock) => Err(busy(py, "this world")),
            // A call has panicked. `validate` can tell whether the world is still sound.
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        }
    }
}

/// A world of a kind, with an algorithm and threads.
fn build(dim: usize, is_double: bool, spec: &Spec, width: usize) -> Result<Any, Error> {
    fn of<const D: usize, T: broadphase::Real>(spec: &Spec, width: usize) -> Result<World<D, T>, Error> {
        let mut world = World::new();
        world.set_algorithm(spec)?;
        if width != 1 {
            world.set_context(Context::new().with_executor(call::pool(width)?));
        }
        Ok(world)
    }
    Ok(match (dim, is_double) {
        (2, false) => Any::Plane32(of(spec, width)?),
        (_, false) => Any::Space32(of(spec, width)?),
        (2, true) => Any::Plane64(of(spec, width)?),
        (_, true) => Any::Space64(of(spec, width)?),
    })
}

/// "float32" or "float64", as text, as a NumPy type or as a dtype: is it the latter?
fn is_double(dtype: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = dtype.py();
    let name = match numpy::PyArrayDescr::new(py, dtype) {
        Ok(descr) => descr.getattr("name")?.extract::<String>()?,
        Err(_) => dtype.repr()?.to_string(),
    };
    match &name[..] {
        "float32" => Ok(false),
        "float64" => Ok(true),
        _ => Err(wrong_value(py, "dtype", "'float32' or 'float64'", &name)),
    }
}

#[pymethods]
impl PyWorld {
    #[new]
    #[pyo3(
        signature = (dim = 3, dtype = None, algorithm = Cow::Borrowed("auto"), workers = 1),
        text_signature = "(dim=3, dtype='float32', algorithm='auto', workers=1)"
    )]
    fn new(py: Python<'_>, dim: i64, dtype: Option<&Bound<'_, PyAny>>, algorithm: Cow<'_, str>, workers: i64) -> PyResult<Self> {
        if dim != 2 && dim != 3 {
            return Err(wrong_value(py, "dim", "2 or 3", &dim.to_string()));
        }
        let is_double = dtype.map_or(Ok(false), is_double)?;
        let (spec, width) = (options::spec(&algorithm).or_raise(py)?, call::width(py, workers)?);
        let any = build(dim as usize, is_double, &spec, width).or_raise(py)?;
        Ok(Self(Mutex::new(Inner { any, workers })))
    }

    /// Applies all changes and finds all pairs: their number, and which started and ended since the last update.
    ///
    /// >>> import broadphase
    /// >>> world = broadphase.World(dim=2)
    /// >>> a, b = world.insert([[0, 0, 1, 1], [1, 1, 2, 2]], user=[7, 8])
    /// >>> update = world.update()
    /// >>> update
    /// Update(count=1, started=1, ended=0)
    /// >>> update.started_user.tolist()
    /// [[7, 8]]
    fn update(&self, py: Python<'_>) -> PyResult<PyUpdate> {
        let mut inner = self.lock(py)?;
        let any = &mut inner.any;
        let update = py.detach(|| with_world!(any, world => world.update())).or_raise(py)?;
        Ok(PyUpdate { update, started: PyOnceLock::new(), ended: PyOnceLock::new() })
    }

    /// All pairs of the last update, as a ``(k, 2)`` uint64 array of handles, sorted; ``sort=False`` saves the sorting.
    #[pyo3(signature = (*, sort = true))]
    fn pairs<'py>(&self, py: Python<'py>, sort: bool) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let inner = self.lock(py)?;
        let any = &inner.any;
        let list: Vec<(Handle, Handle)> =
            py.detach(|| with_world!(any, world => if sort { world.sorted_pairs() } else { world.pairs().collect() }));
        output::handle_pairs(py, list.into_iter())
    }

    /// The number of pairs of the last update.
    #[getter]
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(with_world!(&self.lock(py)?.any, world => world.pair_count()))
    }

    /// Sizes and choices: objects by kind, pairs, tests, algorithm and what it chose, bytes.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = with_world!(&self.lock(py)?.any, world => world.stats());
        let dict = PyDict::new(py);
        dict.set_item("dynamic", stats.dynamic)?;
        dict.set_item("static", stats.fixed)?;
        dict.set_item("kinematic", stats.kinematic)?;
        dict.set_item("pairs", stats.pairs)?;
        dict.set_item("tests", stats.tests)?;
        dict.set_item("bytes", stats.bytes())?;
        dict.set_item("algorithm", &stats.algorithm)?;
        dict.set_item("choice", &stats.choice)?;
        dict.set_item("static_algorithm", &stats.static_algorithm)?;
        dict.set_item("static_choice", &stats.static_choice)?;
        dict.set_item("figures", figures(py, &stats.figures)?)?;
        dict.set_item("static_figures", figures(py, &stats.static_figures)?)?;
        Ok(dict)
    }

    /// The dimension: 2 or 3.
    #[getter]
    fn dim(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(with_world!(&self.lock(py)?.any, world => dimension(world)))
    }

    /// "float32" or "float64".
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(with_world!(&self.lock(py)?.any, world => scalar(world)))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(with_world!(&self.lock(py)?.any, world => world.len()))
    }

    /// Always true: a world without objects is still a world.
    fn __bool__(&self) -> bool {
        true
    }

    fn __contains__(&self, py: Python<'_>, handle: u64) -> PyResult<bool> {
        Ok(with_world!(&self.lock(py)?.any, world => world.contains(Handle::from_bits(handle))))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.lock(py)?;
        Ok(with_world!(&inner.any, world => format!(
            "<broadphase.World dim={} dtype={} algorithm={} workers={}: {} objects, {} pairs>",
            dimension(world),
            scalar(world),
            world.algorithm(),
            inner.workers,
            world.len(),
            world.pair_count()
        )))
    }
}

fn dimension<const D: usize, T: broadphase::Real>(_: &World<D, T>) -> usize {
    D
}

fn scalar<const D: usize, T: broadphase::Real>(_: &World<D, T>) -> &'static str {
    if T::NAME == "f32" { "float32" } else { "float64" }
}

fn figures<'py>(py: Python<'py>, list: &[(&'static str, f64)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    list.iter().try_for_each(|(name, value)| dict.set_item(name, value))?;
    Ok(dict)
}

/// What an update found. Keep it as long as you like; arrays are made when they are first used.
#[pyclass(frozen, name = "Update", module = "broadphase")]
pub(crate) struct PyUpdate {
    update: Update,
    started: PyOnceLock<Py<PyArray2<u64>>>,
    ended: PyOnceLock<Py<PyArray2<u64>>>,
}

#[pymethods]
impl PyUpdate {
    /// The number of pairs.
    #[getter]
    fn count(&self) -> u64 {
        self.update.len()
    }

    /// The pairs that the last update did not have: a ``(k, 2)`` uint64 array of handles, sorted.
    #[getter]
    fn started<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let list = self.update.started().handles();
        let array = self.started.get_or_try_init(py, || output::handle_pairs(py, list.iter().copied()).map(Bound::unbind))?;
        Ok(array.bind(py).clone())
    }

    /// The pairs that only the last update had. Handles of removed objects are those that were valid.
    #[getter]
    fn ended<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let list = self.update.ended().handles();
        let array = self.ended.get_or_try_init(py, || output::handle_pairs(py, list.iter().copied()).map(Bound::unbind))?;
        Ok(array.bind(py).clone())
    }

    /// The user numbers of ``started``, ``(k, 2)`` uint64.
    #[getter]
    fn started_user<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        users(py, self.update.started())
    }

    /// The user numbers of ``ended``, including those of removed objects.
    #[getter]
    fn ended_user<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        users(py, self.update.ended())
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.update.len()).unwrap_or(usize::MAX)
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self) -> String {
        let (started, ended) = (self.update.started().len(), self.update.ended().len());
        format!("Update(count={}, started={started}, ended={ended})", self.update.len())
    }
}

fn users<'py>(py: Python<'py>, events: broadphase::PairEvents<'_>) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let list: Vec<u64> = events.iter().flat_map(|event| [event.user_a, event.user_b]).collect();
    output::rows_of(py, list, events.len(), 2)
}

/// Handles as an array of their numbers.
fn handle_array(py: Python<'_>, handles: impl IntoIterator<Item = Handle>) -> Bound<'_, PyArray1<u64>> {
    PyArray1::from_vec(py, handles.into_iter().map(Handle::to_bits).collect())
}
