//! Meshes: which vertices, edges and faces may collide, at one moment or during a step.
//!
//! In space, candidates are pairs of a vertex and a face, and pairs of two edges; in the plane, pairs of an edge and a vertex. A candidate is a
//! pair of elements whose boxes overlap and that share no vertex. An element's box is the smallest one around its vertices, at one moment or at
//! both ends of a step, grown by the inflation. A narrow phase or a continuous collision test takes these candidates.
//!
//! # Cost
//! Two joins of boxes: vertices with faces, and edges with edges. Pairs that share a vertex are dropped while they are found. Bad cases: faces much
//! longer than others, and many elements at one place.

mod candidates;
mod elements;

use candidates::Joins;
pub use candidates::MeshCandidates;
use elements::Elements;

use std::fmt;

use crate::algorithms::Spec;
use crate::arrays::Cancel;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::par::Executor;

/// The candidates of a mesh at one moment. For a moving mesh, several bodies, inflation or a filter: [`Mesh`].
///
/// ```
/// use broadphase::{Pair, mesh::mesh_candidates};
/// // Two triangles, one over the other.
/// let vertices = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [1.0, 1.0, 0.0], [9.0, 1.0, 1.0], [9.0, 9.0, 1.0]];
/// let (edges, faces) = ([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]], [[0, 1, 2], [3, 4, 5]]);
/// let found = mesh_candidates(&vertices, &edges, &faces)?;
/// assert_eq!(found.vertex_face, [Pair { a: 3, b: 0 }]);
/// # Ok::<(), broadphase::Error>(())
/// ```
///
/// # Errors
/// As for [`Mesh::new`] and [`Mesh::update`].
pub fn mesh_candidates<const D: usize, T: Real>(
    vertices: &[[T; D]],
    edges: &[[u32; 2]],
    faces: &[[u32; 3]],
) -> Result<MeshCandidates, Error> {
    let mut mesh = Mesh::new(vertices.len(), edges, faces)?;
    mesh.update(vertices)?;
    Ok(mesh.into_candidates())
}

/// May two vertices collide?
type CanCollide = Box<dyn Fn(u32, u32) -> bool + Send + Sync>;

/// A mesh that moves from step to step: its edges and faces stay, its vertices move.
///
/// Structures are kept from step to step, and no memory is allocated after the largest step.
///
/// ```
/// use broadphase::{Pair, mesh::Mesh};
/// // A ground edge, and a point that falls through it during the step.
/// let (before, after) = ([[0.0, 0.0], [4.0, 0.0], [1.0, 2.0]], [[0.0, 0.0], [4.0, 0.0], [1.0, -2.0]]);
/// let mut mesh = Mesh::new(3, &[[0, 1]], &[])?;
/// assert!(mesh.update(&before)?.edge_vertex.is_empty());
/// assert_eq!(mesh.update_swept(&before, &after)?.edge_vertex, [Pair { a: 0, b: 2 }]);
/// # Ok::<(), broadphase::Error>(())
/// ```
pub struct Mesh<const D: usize, T: Real> {
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
    rules: Rules,
    inflation: T,
    elements: Elements<D, T>,
    joins: Joins<D, T>,
    context: Context,
    cancel: Option<Cancel>,
    candidates: MeshCandidates,
}

/// Which vertices may collide.
struct Rules {
    /// The body of each vertex; none if all are of one body.
    bodies: Vec<u32>,
    self_collision: bool,
    can_collide: Option<CanCollide>,
}

impl Rules {
    /// May two elements collide? They must share no vertex, and at least one vertex of each must be allowed to collide with one of the other.
    #[inline]
    fn allow(&self, a: &[u32], b: &[u32]) -> bool {
        if a.iter().any(|v| b.contains(v)) {
            return false;
        }
        if !self.self_collision && self.bodies.get(a[0] as usize) == self.bodies.get(b[0] as usize) {
            return false;
        }
        self.can_collide.as_ref().is_none_or(|can_collide| a.iter().any(|&v| b.iter().any(|&w| can_collide(v, w))))
    }
}

impl<const D: usize, T: Real> fmt::Debug for Mesh<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mesh")
            .field("edges", &self.edges.len())
            .field("faces", &self.faces.len())
            .field("inflation", &self.inflation)
            .field("candidates", &self.candidates)
            .finish_non_exhaustive()
    }
}

impl<const D: usize, T: Real> Mesh<D, T> {
    /// A mesh of `vertices` vertices, with edges and faces that refer to them by index. In the plane, faces are not used.
    ///
    /// # Errors
    /// [`Error::InvalidElement`] for an edge or face with a vertex that does not exist; [`Error::Unsuited`] except in two and three
    /// dimensions.
    pub fn new(vertices: usize, edges: &[[u32; 2]], faces: &[[u32; 3]]) -> Result<Self, Error> {
        check("edges", edges, vertices)?;
        check("faces", faces, vertices)?;
        Ok(Self {
            edges: edges.to_vec(),
            faces: faces.to_vec(),
            rules: Rules { bodies: Vec::new(), self_collision: true, can_collide: None },
            inflation: T::ZERO,
            elements: Elements::new(vertices),
            joins: Joins::new(&Spec::default())?,
            context: Context::new(),
            cancel: None,
            candidates: MeshCandidates::default(),
        })
    }

    /// Grows the box of every element by this much on every side: half the distance within which two elements are candidates.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if it is negative, infinite or NaN.
    pub fn with_inflation(mut self, inflation: T) -> Result<Self, Error> {
        if !(inflation >= T::ZERO && inflation.is_finite()) {
            let expected = "finite, and not negative";
            return Err(Error::InvalidValue { argument: "inflation", axis: None, value: inflation.to_f64(), expected });
        }
        self.inflation = inflation;
        Ok(self)
    }

    /// Several bodies in one mesh: the body of each vertex. Elements belong to the body of their first vertex. With `self_collision`,
    /// elements of one body are candidates too.
    ///
    /// # Errors
    /// [`Error::WrongLength`] if there are not as many as vertices.
    pub fn with_bodies(mut self, bodies: &[u32], self_collision: bool) -> Result<Self, Error> {
        let expected = self.elements.vertices();
        if bodies.len() != expected {
            return Err(Error::WrongLength { argument: "bodies", found: bodies.len(), expected });
        }
        self.rules.bodies = bodies.to_vec();
        self.rules.self_collision = self_collision;
        Ok(self)
    }

    /// Leaves out pairs of elements of which no two vertices may collide.
    pub fn with_can_collide(mut self, can_collide: impl Fn(u32, u32) -> bool + Send + Sync + 'static) -> Self {
        self.rules.can_collide = Some(Box::new(can_collide));
        self
    }

    /// Runs on these threads. Results do not depend on them.
    pub fn with_executor(mut self, executor: impl Executor + 'static) -> Self {
        self.context = Context::new().with_executor(executor);
        self
    }

    /// Makes updates return [`Error::Cancelled`] soon after the flag is set, and from then on.
    pub fn with_cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = Some(cancel.clone());
        self
    }

    /// The candidates at one moment.
    ///
    /// # Errors
    /// [`Error::WrongLength`] if there are not as many vertices as the mesh has, [`Error::InvalidPoint`] for a coordinate that is NaN or
    /// infinite; [`Error::TooManyPairs`] and [`Error::OutOfMemory`] beyond the limits; [`Error::Cancelled`]. The candidates are then those of
    /// the last step.
    pub fn update(&mut self, vertices: &[[T; D]]) -> Result<&MeshCandidates, Error> {
        self.elements.set("vertices", vertices, None, self.inflation)?;
        self.find()
    }

    /// The candidates during a step from one moment to the next: every element's box is the one around both.
    ///
    /// # Errors
    /// As for [`update`](Mesh::update).
    pub fn update_swept(&mut self, vertices: &[[T; D]], vertices_next: &[[T; D]]) -> Result<&MeshCandidates, Error> {
        self.elements.set("vertices", vertices, Some(vertices_next), self.inflation)?;
        self.find()
    }

    /// The candidates of the last step.
    pub fn candidates(&self) -> &MeshCandidates {
        &self.candidates
    }

    /// The candidates of the last step, without a copy.
    pub fn into_candidates(self) -> MeshCandidates {
        self.candidates
    }

    fn find(&mut self) -> Result<&MeshCandidates, Error> {
        let Self { edges, faces, rules, elements, joins, context, cancel, candidates, .. } = self;
        let topology = Topology { edges, faces, rules, cancel: cancel.as_ref() };
        joins.find(&topology, elements, context, candidates)?;
        Ok(candidates)
    }
}

/// What stays from step to step.
struct Topology<'a> {
    edges: &'a [[u32; 2]],
    faces: &'a [[u32; 3]],
    rules: &'a Rules,
    cancel: Option<&'a Cancel>,
}

/// Checks that all elements refer to existing vertices.
fn check<const N: usize>(argument: &'static str, elements: &[[u32; N]], vertices: usize) -> Result<(), Error> {
    for (index, element) in elements.iter().enumerate() {
        if let Some(&vertex) = element.iter().find(|&&vertex| vertex as usize >= vertices) {
            return Err(Error::InvalidElement { argument, index, vertex, vertices });
        }
    }
    Ok(())
}
