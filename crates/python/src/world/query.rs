//! Questions, many at once.

use broadphase::{Aabb, Answers, Ball, Error, Handle, Ray, Reader, Real, Swept, World};
use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use super::edit::{boxes_for, vectors_for};
use super::{NO_HANDLE, PyWorld, with_world};
use crate::arguments::{Scalar, column, rows};
use crate::call::{Stop, Watch};
use crate::errors::{wrong_shape, wrong_value};
use crate::output;

/// The number of queries between two checks for signals.
const BLOCK: usize = 1 << 13;

/// Answers in compressed rows.
#[derive(Default)]
struct Rows<T> {
    offsets: Vec<usize>,
    handles: Vec<u64>,
    distances: Vec<T>,
}

/// An answer: a handle, perhaps with a distance.
trait Answer<T>: Copy + Send {
    fn append(self, rows: &mut Rows<T>);
}

impl<T> Answer<T> for Handle {
    fn append(self, rows: &mut Rows<T>) {
        rows.handles.push(self.to_bits());
    }
}

impl<T: Real> Answer<T> for (Handle, T) {
    fn append(self, rows: &mut Rows<T>) {
        rows.handles.push(self.0.to_bits());
        rows.distances.push(self.1);
    }
}

/// Runs all queries, in blocks, while other Python threads run.
///
/// `is_sound` finds the query that the library rejected.
fn ask<const D: usize, T: Scalar, Q: Sync, A: Answer<T>>(
    py: Python<'_>,
    world: &mut World<D, T>,
    layers: Option<u32>,
    questions: &[Q],
    is_sound: impl Fn(&Q) -> bool,
    answer: impl Fn(&Reader<'_, D, T>, &[Q], &mut Answers<A>) -> Result<(), Error> + Sync + Send,
) -> PyResult<Rows<T>> {
    let found = py.detach(|| -> Result<Rows<T>, Stop> {
        let reader = world.read()?.in_layers(layers.unwrap_or(u32::MAX));
        let mut rows = Rows { offsets: vec![0], handles: Vec::new(), distances: Vec::new() };
        let (mut answers, mut watch) = (Answers::new(), Watch::new());
        for block in questions.chunks(BLOCK) {
            answer(&reader, block, &mut answers)?;
            for row in answers.iter() {
                row.iter().for_each(|&found| found.append(&mut rows));
                rows.offsets.push(rows.handles.len());
            }
            watch.check()?;
        }
        Ok(rows)
    });
    found.map_err(|stop| stop.raise(py, || questions.iter().position(|question| !is_sound(question))))
}

/// Compressed rows: offsets and handles.
fn rows_out<T>(py: Python<'_>, rows: Rows<T>) -> PyResult<Bound<'_, PyAny>> {
    (output::offsets(py, rows.offsets), PyArray1::from_vec(py, rows.handles)).into_bound_py_any(py)
}

/// Compressed rows with distances.
fn distances_out<T: Scalar>(py: Python<'_>, rows: Rows<T>) -> PyResult<Bound<'_, PyAny>> {
    let Rows { offsets, handles, distances } = rows;
    (output::offsets(py, offsets), PyArray1::from_vec(py, handles), PyArray1::from_vec(py, distances)).into_bound_py_any(py)
}

/// The first `k` results of each query in an array: `(n,)` for one, `(n, k)` for more, filled up with no handle at infinity.
fn array_out<'py, T: Scalar>(py: Python<'py>, rows: &Rows<T>, k: Option<usize>) -> PyResult<Bound<'py, PyAny>> {
    let (count, columns) = (rows.offsets.len() - 1, k.unwrap_or(1));
    let (mut handles, mut distances) = (vec![NO_HANDLE; count * columns], vec![T::INFINITY; count * columns]);
    for (row, ends) in rows.offsets.windows(2).enumerate() {
        for (column, at) in (ends[0]..ends[1]).take(columns).enumerate() {
            handles[row * columns + column] = rows.handles[at];
            distances[row * columns + column] = rows.distances[at];
        }
    }
    match k {
        None => (PyArray1::from_vec(py, handles), PyArray1::from_vec(py, distances)).into_bound_py_any(py),
        Some(k) => (output::rows_of(py, handles, count, k)?, output::rows_of(py, distances, count, k)?).into_bound_py_any(py),
    }
}

/// Checks that there is a row for each query.
fn same_count(py: Python<'_>, argument: &'static str, expected: usize, found: usize) -> PyResult<()> {
    if found == expected {
        return Ok(());
    }
    Err(wrong_shape(py, argument, &format!("({expected}, ...), a row for each question,"), &[found]))
}

/// # Questions
#[pymethods]
impl PyWorld {
    /// The objects whose box overlaps each of these boxes, in compressed rows: those of box ``i`` are ``handles[offsets[i]:offsets[i + 1]]``.
    ///
    /// All queries use the current boxes, updated or not, grown by their margins; with ``layers``, only objects in one of them.
    ///
    /// >>> import broadphase
    /// >>> world = broadphase.World(dim=2)
    /// >>> handles = world.insert([[0, 0, 1, 1], [4, 4, 5, 5]])
    /// >>> offsets, found = world.in_boxes([[0, 0, 9, 9], [2, 2, 3, 3]])
    /// >>> offsets.tolist(), found.tolist() == handles.tolist()
    /// ([0, 2, 2], True)
    #[pyo3(signature = (boxes, *, layers = None))]
    fn in_boxes<'py>(&self, py: Python<'py>, boxes: &Bound<'py, PyAny>, layers: Option<u32>) -> PyResult<Bound<'py, PyAny>> {
        let mut inner = self.lock(py)?;
        with_world!(&mut inner.any, world => {
            let data = boxes_for(boxes, "boxes", world)?;
            let areas = bytemuck::cast_slice::<_, Aabb<_, _>>(data.numbers()?);
            let found = ask(py, world, layers, areas, Aabb::is_valid, |reader, areas, answers| reader.in_boxes(areas, answers))?;
            rows_out(py, found)
        })
    }

    /// The objects that each ball reaches, in compressed rows. ``radii`` is one number, or one for each center.
    #[pyo3(signature = (centers, radii, *, layers = None))]
    fn in_balls<'py>(
        &self,
        py: Python<'py>,
        centers: &Bound<'py, PyAny>,
        radii: &Bound<'py, PyAny>,
        layers: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut inner = self.lock(py)?;
        with_world!(&mut inner.any, world => {
            let data = vectors_for(centers, "centers", world)?;
            let balls = balls(data.numbers()?, radii, world)?;
            let found = ask(py, world, layers, &balls, Ball::is_valid, |reader, balls, answers| reader.in_balls(balls, answers))?;
            rows_out(py, found)
        })
    }

    /// The first object that each ray enters: handles ``(n,)``, ``NO_HANDLE`` where there is none, and the distance along the ray as a multiple of
    /// its direction, infinite where there is none.
    ///
    /// ``length``, one number or one for each ray, limits how far it goes, in the same unit. With ``all=True``, all objects that it enters, in
    /// compressed rows ``(offsets, handles, distances)``, not sorted by distance.
    ///
    /// >>> import broadphase
    /// >>> world = broadphase.World(dim=2)
    /// >>> near, far = world.insert([[2, 0, 3, 1], [8, 0, 9, 1]])
    /// >>> handles, distances = world.cast_rays([[0, 0.5], [0, 5]], [[1, 0], [1, 0]])
    /// >>> handles.tolist() == [near, broadphase.NO_HANDLE], distances.tolist()
    /// (True, [2.0, inf])
    #[pyo3(signature = (origins, directions, *, length = None, all = false, layers = None), text_signature = "($self, origins, directions, *, length=inf, all=False, layers=None)")]
    fn cast_rays<'py>(
        &self,
        py: Python<'py>,
        origins: &Bound<'py, PyAny>,
        directions: &Bound<'py, PyAny>,
        length: Option<&Bound<'py, PyAny>>,
        all: bool,
        layers: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut inner = self.lock(py)?;
        with_world!(&mut inner.any, world => {
            let (from, along) = (vectors_for(origins, "origins", world)?, vectors_for(directions, "directions", world)?);
            let rays = rays(from.numbers()?, along.numbers()?, length, world, py)?;
            if all {
                let found = ask(py, world, layers, &rays, Ray::is_valid, |reader, rays, answers| reader.along_rays(rays, answers))?;
                return distances_out(py, found);
            }
            let found = ask(py, world, layers, &rays, Ray::is_valid, |reader, rays, answers| reader.first_along_rays(rays, answers))?;
            array_out(py, &found, None)
        })
    }

    /// The first object that each moving box touches: handles ``(n,)``, and the fraction of the displacement, as for ``cast_rays``.
    #[pyo3(signature = (boxes, displacements, *, layers = None))]
    fn cast_boxes<'py>(
        &self,
        py: Python<'py>,
        boxes: &Bound<'py, PyAny>,
        displacements: &Bound<'py, PyAny>,
        layers: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut inner = self.lock(py)?;
        with_world!(&mut inner.any, world => {
            let (data, ways) = (boxes_for(boxes, "boxes", world)?, vectors_for(displacements, "displacements", world)?);
            let sweeps = sweeps(data.numbers()?, ways.numbers()?, world, py)?;
            let found =
                ask(py, world, layers, &sweeps, Swept::is_valid, |reader, sweeps, answers| reader.first_along_sweeps(sweeps, answers))?;
            array_out(py, &found, None)
        })
    }

    /// The ``k`` objects nearest to each point: handles and distances, ``(n, k)`` each, nearest first, filled up with ``NO_HANDLE`` at infinity.
    ///
    /// Inside a box the distance is 0. None is farther than ``max_distance``.
    #[pyo3(signature = (points, k = 1, *, max_distance = f64::INFINITY, layers = None), text_signature = "($self, points, k=1, *, max_distance=inf, layers=None)")]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        k: i64,
        max_distance: f64,
        layers: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut inner = self.lock(py)?;
        let count = with_world!(&inner.any, world => world.len());
        let Some(k) = usize::try_from(k).ok().filter(|&k| k > 0 && k <= count.max(1 << 20)) else {
            return Err(wrong_value(py, "k", "1 or more, and no more than there are objects", &k.to_string()));
        };
        with_world!(&mut inner.any, world => {
            let data = vectors_for(points, "points", world)?;
            nearest_of(py, world, layers, data.numbers()?, k, max_distance)
        })
    }
}

fn nearest_of<'py, const D: usize, T: Scalar>(
    py: Python<'py>,
    world: &mut World<D, T>,
    layers: Option<u32>,
    points: &[T],
    k: usize,
    max_distance: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let points: &[[T; D]] = rows(points);
    if points.len().checked_mul(k).is_none_or(|all| all > isize::MAX as usize / 16) {
        return Err(wrong_value(py, "k", "fewer answers than memory can hold", &k.to_string()));
    }
    let limit = T::from_f64(max_distance);
    let is_sound = |point: &[T; D]| point.iter().all(|c| c.is_finite());
    let found = ask(py, world, layers, points, is_sound, |reader, points, answers| reader.nearest_to(points, k, limit, answers))?;
    array_out(py, &found, Some(k))
}

fn balls<const D: usize, T: Scalar>(centers: &[T], radii: &Bound<'_, PyAny>, _: &World<D, T>) -> PyResult<Vec<Ball<D, T>>> {
    let centers: &[[T; D]] = rows(centers);
    let Some(radii) = column::<f64>(Some(radii), "radii", centers.len(), "float64")? else {
        return Err(wrong_value(radii.py(), "radii", "a number, or one for each center", "None"));
    };
    let ball = |(&center, &radius): (&[T; D], &f64)| Ball { center, radius: T::from_f64(radius) };
    Ok(centers.iter().zip(radii.as_slice()?).map(ball).collect())
}

fn rays<const D: usize, T: Scalar>(
    origins: &[T],
    directions: &[T],
    length: Option<&Bound<'_, PyAny>>,
    _: &World<D, T>,
    py: Python<'_>,
) -> PyResult<Vec<Ray<D, T>>> {
    let (origins, directions): (&[[T; D]], &[[T; D]]) = (rows(origins), rows(directions));
    same_count(py, "directions", origins.len(), directions.len())?;
    let lengths = column::<f64>(length, "length", origins.len(), "float64")?;
    let lengths = lengths.as_ref().map(|lengths| lengths.as_slice()).transpose()?;
    let ray =
        |(at, (&origin, &direction))| Ray::new(origin, direction, lengths.map_or(T::INFINITY, |list| T::from_f64(list[at])));
    Ok(origins.iter().zip(directions).enumerate().map(ray).collect())
}

fn sweeps<const D: usize, T: Scalar>(
    boxes: &[T],
    displacements: &[T],
    _: &World<D, T>,
    py: Python<'_>,
) -> PyResult<Vec<Swept<D, T>>> {
    let (boxes, ways): (&[Aabb<D, T>], &[[T; D]]) = (bytemuck::cast_slice(boxes), rows(displacements));
    same_count(py, "displacements", boxes.len(), ways.len())?;
    Ok(boxes.iter().zip(ways).map(|(&start, &way)| Swept::new(start, way)).collect())
}
