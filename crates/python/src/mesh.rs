//! `mesh_candidates`.

use broadphase::Cancel;
use broadphase::Error;
use broadphase::mesh::{Mesh, MeshCandidates};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::arguments::{Floats, Scalar, Shape, Table, alike, elements, rows};
use crate::errors::{python_function, wrong_shape};
use crate::{call, output};

const VERTICES: Shape = Shape { columns: &[2, 3], text: "(n, 2) or (n, 3)" };

static RESULT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The candidates of a mesh: pairs of elements whose boxes overlap and that share no vertex.
///
/// Returns ``vertex_face`` (vertex, face) and ``edge_edge`` (two edges, the smaller index first) for vertices in space, ``edge_vertex``
/// (edge, vertex) for vertices in the plane; all are sorted ``(k, 2)`` uint32 arrays, and those of the other dimension are empty.
///
/// ``vertices`` is ``(n, 3)`` or ``(n, 2)``, ``edges`` ``(m, 2)`` and ``faces`` ``(m, 3)`` integers; in the plane faces may be ``None``. With
/// ``vertices_next``, an element's box covers the whole step from one position to the next. ``inflation`` grows every box on every side.
///
/// >>> import broadphase
/// >>> ground, falling = [[0.0, 0.0], [4.0, 0.0], [1.0, 2.0]], [[0.0, 0.0], [4.0, 0.0], [1.0, -2.0]]
/// >>> broadphase.mesh_candidates(ground, [[0, 1]], None).edge_vertex.tolist()
/// []
/// >>> broadphase.mesh_candidates(ground, [[0, 1]], None, vertices_next=falling).edge_vertex.tolist()
/// [[0, 2]]
#[pyfunction]
#[pyo3(signature = (vertices, edges, faces = None, *, vertices_next = None, inflation = 0.0, workers = 1))]
pub(crate) fn mesh_candidates<'py>(
    py: Python<'py>,
    vertices: &Bound<'py, PyAny>,
    edges: &Bound<'py, PyAny>,
    faces: Option<&Bound<'py, PyAny>>,
    vertices_next: Option<&Bound<'py, PyAny>>,
    inflation: f64,
    workers: i64,
) -> PyResult<Bound<'py, PyAny>> {
    let width = call::width(py, workers)?;
    let vertices = Table::new(vertices, "vertices", &VERTICES)?;
    let next = vertices_next.map(|next| Table::new(next, "vertices_next", &VERTICES)).transpose()?;
    if let Some(next) = next.as_ref().filter(|next| (next.rows, next.columns) != (vertices.rows, vertices.columns)) {
        let expected = format!("({}, {}), as that of vertices,", vertices.rows, vertices.columns);
        return Err(wrong_shape(py, "vertices_next", &expected, &[next.rows, next.columns]));
    }
    let edges = elements::<2>(edges, "edges")?;
    let faces = faces.map(|faces| elements::<3>(faces, "faces")).transpose()?;
    let edges = bytemuck::cast_slice(edges.as_slice()?);
    let faces = match &faces {
        Some(faces) => bytemuck::cast_slice(faces.as_slice()?),
        None => &[],
    };
    let (columns, size) = (vertices.columns, vertices.rows + edges.len() + faces.len());
    let (vertices, next) = match next {
        Some(next) => alike(vertices, next).map(|(vertices, next)| (vertices, Some(next)))?,
        None => (vertices, None),
    };
    let task = Task { edges, faces, inflation, width };
    let found = match (&vertices.floats, next.as_ref().map(|next| &next.floats)) {
        (Floats::Single(now), None) => task.run(py, size, columns, now.numbers()?, None)?,
        (Floats::Single(now), Some(Floats::Single(next))) => {
            task.run(py, size, columns, now.numbers()?, Some(next.numbers()?))?
        }
        (Floats::Double(now), None) => task.run(py, size, columns, now.numbers()?, None)?,
        (Floats::Double(now), Some(Floats::Double(next))) => {
            task.run(py, size, columns, now.numbers()?, Some(next.numbers()?))?
        }
        _ => unreachable!("alike gives tables of one type"),
    };
    let result = python_function(py, &RESULT, "broadphase._results", "MeshCandidates")?;
    let [vertex_face, edge_edge, edge_vertex] =
        [found.vertex_face, found.edge_edge, found.edge_vertex].map(|list| output::pairs(py, list));
    result.call1((vertex_face?, edge_edge?, edge_vertex?))
}

/// A mesh, except for its vertices.
struct Task<'a> {
    edges: &'a [[u32; 2]],
    faces: &'a [[u32; 3]],
    inflation: f64,
    width: usize,
}

impl Task<'_> {
    fn find<const D: usize, T: Scalar>(
        &self,
        now: &[T],
        next: Option<&[T]>,
        cancel: Option<&Cancel>,
    ) -> Result<MeshCandidates, Error> {
        let now: &[[T; D]] = rows(now);
        let mut mesh = Mesh::new(now.len(), self.edges, self.faces)?.with_inflation(T::from_f64(self.inflation))?;
        if self.width != 1 {
            mesh = mesh.with_executor(call::pool(self.width)?);
        }
        if let Some(cancel) = cancel {
            mesh = mesh.with_cancel(cancel);
        }
        match next {
            Some(next) => mesh.update_swept(now, rows(next))?,
            None => mesh.update(now)?,
        };
        Ok(mesh.into_candidates())
    }

    fn run<T: Scalar>(
        &self,
        py: Python<'_>,
        size: usize,
        columns: usize,
        now: &[T],
        next: Option<&[T]>,
    ) -> PyResult<MeshCandidates> {
        call::run(py, size, |cancel| match columns {
            2 => self.find::<2, T>(now, next, cancel),
            _ => self.find::<3, T>(now, next, cancel),
        })
    }
}
