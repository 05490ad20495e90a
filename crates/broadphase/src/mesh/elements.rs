//! The boxes of a mesh's elements.

use crate::error::Error;
use crate::geometry::{Aabb, Real};

/// The boxes of the vertices, and from them those of edges and faces.
#[derive(Debug)]
pub(super) struct Elements<const D: usize, T> {
    /// The number of vertices.
    count: usize,
    /// The boxes that contain the vertices during the step.
    boxes: Vec<Aabb<D, T>>,
}

impl<const D: usize, T: Real> Elements<D, T> {
    pub(super) fn new(count: usize) -> Self {
        Self { count, boxes: Vec::new() }
    }

    /// The number of vertices.
    pub(super) fn vertices(&self) -> usize {
        self.count
    }

    /// Sets the boxes of the vertices, from their positions at one moment or two. On error nothing has changed.
    pub(super) fn set(
        &mut self,
        argument: &'static str,
        vertices: &[[T; D]],
        next: Option<&[[T; D]]>,
        inflation: T,
    ) -> Result<(), Error> {
        check(argument, vertices, self.count)?;
        if let Some(next) = next {
            check("vertices_next", next, self.count)?;
        }
        self.boxes.clear();
        self.boxes.extend(vertices.iter().enumerate().map(|(index, &vertex)| {
            let now = Aabb::point(vertex);
            let swept = next.map_or(now, |next| now.union(&Aabb::point(next[index])));
            if inflation == T::ZERO { swept } else { swept.grow(inflation) }
        }));
        Ok(())
    }

    /// The boxes of the vertices.
    pub(super) fn boxes(&self) -> &[Aabb<D, T>] {
        &self.boxes
    }

    /// The box around some vertices.
    #[inline]
    pub(super) fn around(&self, element: &[u32]) -> Aabb<D, T> {
        element.iter().fold(Aabb::empty(), |all, &vertex| all.union(&self.boxes[vertex as usize]))
    }
}

/// Checks that there are as many vertices as the mesh has, and that all are finite.
fn check<const D: usize, T: Real>(argument: &'static str, vertices: &[[T; D]], expected: usize) -> Result<(), Error> {
    if vertices.len() != expected {
        return Err(Error::WrongLength { argument, found: vertices.len(), expected });
    }
    for (index, vertex) in vertices.iter().enumerate() {
        if let Some(axis) = vertex.iter().position(|x| !x.is_finite()) {
            return Err(Error::InvalidPoint { index, axis, value: vertex[axis].to_f64() }.in_argument(argument));
        }
    }
    Ok(())
}
