//! A world as bytes: snapshots, pickles and copies.

use broadphase::{Error, Snapshot, World};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use super::{Any, Inner, PyWorld, build, with_world};
use crate::arguments::Scalar;
use crate::call;
use crate::errors::OrRaise;

/// How every snapshot begins; then the dimension and the bytes of a float.
const MAGIC: &[u8; 8] = b"bpworld\x01";

fn broken(reason: impl ToString) -> Error {
    Error::InvalidSnapshot { reason: reason.to_string() }
}

fn write<const D: usize, T: Scalar>(world: &mut World<D, T>) -> Result<Vec<u8>, Error> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend([D as u8, size_of::<T>() as u8]);
    postcard::to_extend(&world.snapshot(), bytes).map_err(broken)
}

fn read<const D: usize, T: Scalar>(world: &mut World<D, T>, bytes: &[u8]) -> Result<(), Error> {
    let (snapshot, rest) = postcard::take_from_bytes::<Snapshot<D, T>>(bytes).map_err(broken)?;
    if !rest.is_empty() {
        return Err(broken("bytes follow its end"));
    }
    world.restore(&snapshot)
}

/// The world of a snapshot.
fn restore(bytes: &[u8], width: usize) -> Result<Any, Error> {
    let content = bytes.strip_prefix(MAGIC).ok_or_else(|| broken("it does not begin as the snapshot of a world does"))?;
    let (&[dim, size], content) = content.split_first_chunk::<2>().ok_or_else(|| broken("it is cut short"))?;
    if !matches!((dim, size), (2 | 3, 4 | 8)) {
        return Err(broken("it is of an unknown kind of world"));
    }
    let mut any = build(usize::from(dim), size == 8, &Default::default(), width)?;
    with_world!(&mut any, world => read(world, content))?;
    Ok(any)
}

#[pymethods]
impl PyWorld {
    /// The world as bytes: objects, handles, pairs, events and settings, except for the threads. ``World.from_snapshot`` continues from them, with
    /// the same handles and the same pairs in the same order. Worlds can be pickled, too.
    ///
    /// >>> import broadphase, pickle
    /// >>> world = broadphase.World(dim=2)
    /// >>> handles = world.insert([[0, 0, 1, 1], [1, 1, 2, 2]])
    /// >>> again = pickle.loads(pickle.dumps(world))
    /// >>> again.update().count
    /// 1
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut inner = self.lock(py)?;
        let any = &mut inner.any;
        let bytes = py.detach(|| with_world!(any, world => write(world))).or_raise(py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The world of a snapshot, on ``workers`` threads.
    #[staticmethod]
    #[pyo3(signature = (data, *, workers = 1))]
    fn from_snapshot(py: Python<'_>, data: &[u8], workers: i64) -> PyResult<Self> {
        let width = call::width(py, workers)?;
        let any = restore(data, width).or_raise(py)?;
        Ok(Self(std::sync::Mutex::new(Inner { any, workers })))
    }

    /// Pickling goes through a snapshot.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let workers = self.lock(py)?.workers;
        let partial = py.import("functools")?.getattr("partial")?;
        let keywords = PyDict::new(py);
        keywords.set_item("workers", workers)?;
        let restore = partial.call((py.get_type::<PyWorld>().getattr("from_snapshot")?,), Some(&keywords))?;
        Ok((restore, PyTuple::new(py, [self.snapshot(py)?])?))
    }

    /// A copy of the world, with the same objects, handles and pairs, which is independent from now on.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let inner = self.lock(py)?;
        let inner: &Inner = &inner;
        Ok(Self(std::sync::Mutex::new(py.detach(|| inner.clone()))))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(py)
    }
}
