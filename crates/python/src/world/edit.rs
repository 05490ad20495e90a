//! Objects in, out, and changed.

use broadphase::{Aabb, Error, Handle, Object, ObjectKind, Tag, World};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::{PyWorld, handle_array, with_world};
use crate::arguments::{self, Data, Scalar, Table, column};
use crate::errors::{OrRaise, wrong_shape};
use crate::output;

/// Boxes in the type of a world; an error if they are of another dimension.
pub(super) fn boxes_for<'py, const D: usize, T: Scalar>(
    value: &Bound<'py, PyAny>,
    argument: &'static str,
    _: &World<D, T>,
) -> PyResult<Data<'py, T>> {
    let table = arguments::boxes(value, argument)?;
    if table.columns != 2 * D {
        let expected = format!("(n, {}), or a tuple (lo, hi) of (n, {D}), for a world of dimension {D},", 2 * D);
        return Err(wrong_shape(value.py(), argument, &expected, &[table.rows, table.columns]));
    }
    T::convert(table.floats)
}

/// Points, directions or displacements in the type of a world.
pub(super) fn vectors_for<'py, const D: usize, T: Scalar>(
    value: &Bound<'py, PyAny>,
    argument: &'static str,
    _: &World<D, T>,
) -> PyResult<Data<'py, T>> {
    const IN_PLANE: arguments::Shape = arguments::Shape { columns: &[2], text: "(n, 2)" };
    const IN_SPACE: arguments::Shape = arguments::Shape { columns: &[3], text: "(n, 3)" };
    let table = Table::new(value, argument, if D == 2 { &IN_PLANE } else { &IN_SPACE })?;
    T::convert(table.floats)
}

/// What `insert` says of the objects besides their boxes, by column; none if it is the same default for all.
struct Columns<'py> {
    kinds: Option<PyReadonlyArray1<'py, u8>>,
    layers: Option<PyReadonlyArray1<'py, u32>>,
    masks: Option<PyReadonlyArray1<'py, u32>>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
    envs: Option<PyReadonlyArray1<'py, u32>>,
    user: Option<PyReadonlyArray1<'py, u64>>,
    margins: Option<PyReadonlyArray1<'py, f64>>,
}

/// The numbers of a column, none if it is not given.
fn numbers<'a, T: numpy::Element>(column: &'a Option<PyReadonlyArray1<'_, T>>) -> PyResult<Option<&'a [T]>> {
    column.as_ref().map(|column| Ok(column.as_slice()?)).transpose()
}

impl Columns<'_> {
    fn objects<const D: usize, T: Scalar>(&self, boxes: &[Aabb<D, T>]) -> PyResult<Vec<Object<D, T>>> {
        let (kinds, user, margins) = (numbers(&self.kinds)?, numbers(&self.user)?, numbers(&self.margins)?);
        let (layers, masks) = (numbers(&self.layers)?, numbers(&self.masks)?);
        let (groups, envs) = (numbers(&self.groups)?, numbers(&self.envs)?);
        let plain = Tag::default();
        let object = |(at, &aabb)| Object {
            tag: Tag {
                layer: layers.map_or(plain.layer, |list| list[at]),
                mask: masks.map_or(plain.mask, |list| list[at]),
                group: groups.map_or(plain.group, |list| list[at]),
                env: envs.map_or(plain.env, |list| list[at]),
            },
            kind: match kinds.map_or(0, |list| list[at]) {
                0 => ObjectKind::Dynamic,
                1 => ObjectKind::Static,
                _ => ObjectKind::Kinematic,
            },
            margin: margins.map_or(T::ZERO, |list| T::from_f64(list[at])),
            user: user.map_or(0, |list| list[at]),
            ..Object::new(aabb)
        };
        Ok(boxes.iter().enumerate().map(object).collect())
    }
}

#[pymethods]
impl PyWorld {
    /// Inserts boxes and returns their handles, a uint64 array. All are inserted, or none if one is invalid.
    ///
    /// ``kind``: "dynamic" (pairs with everything), "static" (rarely changes, pairs with dynamic objects only) or "kinematic" (moved by the program,
    /// pairs with dynamic objects only). ``layers`` and ``masks``: bits; two objects pair if each is in a layer that the other's mask has.
    /// Objects of the same group never pair; 0 means no group. Objects of different ``envs`` never pair, except that env 0 pairs with all.
    /// ``user``: a number of yours, which events return. ``margins``: by how much a box is grown on every side. Each is one value for all,
    /// or one for each box.
    ///
    /// >>> import broadphase
    /// >>> world = broadphase.World(dim=2)
    /// >>> handles = world.insert([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1]], groups=[1, 1, 0])
    /// >>> world.update().count
    /// 2
    #[pyo3(signature = (boxes, *, kind = None, layers = None, masks = None, groups = None, user = None, envs = None, margins = None))]
    #[allow(clippy::too_many_arguments)] // keywords in Python
    fn insert<'py>(
        &self,
        py: Python<'py>,
        boxes: &Bound<'py, PyAny>,
        kind: Option<&Bound<'py, PyAny>>,
        layers: Option<&Bound<'py, PyAny>>,
        masks: Option<&Bound<'py, PyAny>>,
        groups: Option<&Bound<'py, PyAny>>,
        user: Option<&Bound<'py, PyAny>>,
        envs: Option<&Bound<'py, PyAny>>,
        margins: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let mut inner = self.lock(py)?;
        let handles = with_world!(&mut inner.any, world => {
            let data = boxes_for(boxes, "boxes", world)?;
            let boxes = bytemuck::cast_slice(data.numbers()?);
            let count = boxes.len();
            let columns = Columns {
                kinds: column(kind, "kind", count, "uint8")?,
                layers: column(layers, "layers", count, "uint32")?,
                masks: column(masks, "masks", count, "uint32")?,
                groups: column(groups, "groups", count, "uint32")?,
                envs: column(envs, "envs", count, "uint32")?,
                user: column(user, "user", count, "uint64")?,
                margins: column(margins, "margins", count, "float64")?,
            };
            let objects = columns.objects(boxes)?;
            py.detach(|| world.insert_many(&objects)).or_raise(py)?
        });
        Ok(handle_array(py, handles))
    }

    /// Removes objects: all, or none if a handle is stale or given twice. Their pairs end with the next update.
    fn remove(&self, py: Python<'_>, handles: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let handles = handle_list(handles)?;
        let any = &mut inner.any;
        py.detach(|| with_world!(any, world => world.remove_many(&handles))).or_raise(py)
    }

    /// Moves or resizes objects: all, or none if a handle is stale or a box is invalid. If a handle is given twice, its last box counts.
    ///
    /// Setting the same box again is not a change, and costs next to nothing.
    fn set_boxes<'py>(&self, py: Python<'py>, handles: &Bound<'py, PyAny>, boxes: &Bound<'py, PyAny>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let handles = handle_list(handles)?;
        with_world!(&mut inner.any, world => {
            let data = boxes_for(boxes, "boxes", world)?;
            let boxes: &[Aabb<_, _>] = bytemuck::cast_slice(data.numbers()?);
            if boxes.len() != handles.len() {
                let expected = format!("({}, ...), a row for each handle,", handles.len());
                return Err(wrong_shape(py, "boxes", &expected, &[boxes.len()]));
            }
            py.detach(|| set_boxes(world, &handles, boxes)).or_raise(py)
        })
    }

    /// The boxes of objects, ``(n, 2 * dim)``, as they were set.
    fn boxes<'py>(&self, py: Python<'py>, handles: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let inner = self.lock(py)?;
        let handles = handle_list(handles)?;
        with_world!(&inner.any, world => {
            let boxes = handles.iter().map(|&handle| world.get_box(handle)).collect::<Result<Vec<_>, _>>().or_raise(py)?;
            box_array(py, boxes)
        })
    }

    /// The user numbers of objects.
    fn user<'py>(&self, py: Python<'py>, handles: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let inner = self.lock(py)?;
        let handles = handle_list(handles)?;
        let users =
            with_world!(&inner.any, world => handles.iter().map(|&handle| world.user(handle)).collect::<Result<Vec<_>, _>>());
        Ok(PyArray1::from_vec(py, users.or_raise(py)?))
    }

    /// The handles of all objects, ascending.
    fn handles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let inner = self.lock(py)?;
        Ok(with_world!(&inner.any, world => handle_array(py, world.iter().map(|(handle, _)| handle))))
    }
}

/// Sets the boxes of the objects that these handles name. An error names the position in the list.
fn set_boxes<const D: usize, T: Scalar>(world: &mut World<D, T>, handles: &[Handle], boxes: &[Aabb<D, T>]) -> Result<(), Error> {
    // All movers in their order, as they were inserted: the boxes need not be copied.
    if world.movers().eq(handles.iter().copied()) {
        return world.set_mover_boxes(boxes);
    }
    let list: Vec<_> = handles.iter().copied().zip(boxes.iter().copied()).collect();
    world.set_boxes_of(&list).map_err(|error| match error {
        Error::InvalidBox { axis, fault, .. } => {
            Error::InvalidBox { index: boxes.iter().position(|aabb| !aabb.is_valid()), axis, fault }
        }
        other => other,
    })
}

fn box_array<const D: usize, T: Scalar>(py: Python<'_>, boxes: Vec<Aabb<D, T>>) -> PyResult<Bound<'_, PyAny>> {
    let rows = boxes.len();
    let numbers: Vec<T> = bytemuck::allocation::cast_vec(boxes);
    Ok(output::rows_of(py, numbers, rows, 2 * D)?.into_any())
}

/// Handles from their numbers.
pub(super) fn handle_list(value: &Bound<'_, PyAny>) -> PyResult<Vec<Handle>> {
    Ok(arguments::handles(value)?.as_slice()?.iter().map(|&bits| Handle::from_bits(bits)).collect())
}
