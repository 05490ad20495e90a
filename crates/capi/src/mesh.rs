//! Meshes: which vertices, edges and faces may collide.

use std::ffi::c_void;

use broadphase::Real;
use broadphase::mesh::{Mesh, MeshCandidates};

use crate::arrays::User;
use crate::executor::executor;
use crate::input::*;
use crate::object::{Keeper, call, last_error};
use crate::status::*;
use crate::types::*;

/// A mesh that moves from step to step: its edges and faces stay, its vertices move.
#[derive(Debug)]
pub struct bp_mesh(Keeper<AnyMesh>);

#[derive(Debug)]
enum AnyMesh {
    F2(Mesh<2, f32>),
    F3(Mesh<3, f32>),
    D2(Mesh<2, f64>),
    D3(Mesh<3, f64>),
}

/// The candidates of a mesh: pairs of elements whose boxes overlap and that share no vertex, each list sorted. They belong to the mesh, and stay
/// until its next update.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_mesh_candidates {
    /// In space: `a` is a vertex, `b` a face.
    pub vertex_face: *const bp_pair,
    /// How many there are.
    pub vertex_face_count: usize,
    /// In space: two edges, `a < b`.
    pub edge_edge: *const bp_pair,
    /// How many there are.
    pub edge_edge_count: usize,
    /// In the plane: `a` is an edge, `b` a vertex.
    pub edge_vertex: *const bp_pair,
    /// How many there are.
    pub edge_vertex_count: usize,
}

impl bp_mesh_candidates {
    fn new(found: &MeshCandidates) -> Self {
        Self {
            vertex_face: found.vertex_face.as_ptr().cast(),
            vertex_face_count: found.vertex_face.len(),
            edge_edge: found.edge_edge.as_ptr().cast(),
            edge_edge_count: found.edge_edge.len(),
            edge_vertex: found.edge_vertex.as_ptr().cast(),
            edge_vertex_count: found.edge_vertex.len(),
        }
    }
}

/// Makes a mesh of `vertex_count` vertices, with edges of two vertices and faces of three, one after the other. In the plane, faces are not used.
/// Destroy it with bp_mesh_destroy. `def` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_mesh_create(
    format: bp_format,
    vertex_count: usize,
    edges: *const u32,
    edge_count: usize,
    faces: *const u32,
    face_count: usize,
    def: *const bp_mesh_def,
    mesh: *mut *mut bp_mesh,
    error: *mut bp_error,
) -> bp_status {
    report(error, || {
        let mesh = Out::new("mesh", mesh)?;
        mesh.set(std::ptr::null_mut());
        if vertex_count > broadphase::MAX_OBJECTS {
            return Err(Fail::new(BP_INVALID_COUNT, "vertex_count", format!("there cannot be {vertex_count} vertices")));
        }
        let edges = rows("edges", edges.cast(), edge_count)?;
        let faces = rows("faces", faces.cast(), face_count)?;
        let def = self::def("def", def)?;
        let made = match format {
            BP_FORMAT_2F => AnyMesh::F2(make(vertex_count, edges, faces, &def)?),
            BP_FORMAT_3F => AnyMesh::F3(make(vertex_count, edges, faces, &def)?),
            BP_FORMAT_2D => AnyMesh::D2(make(vertex_count, edges, faces, &def)?),
            BP_FORMAT_3D => AnyMesh::D3(make(vertex_count, edges, faces, &def)?),
            other => return Err(bad_format(other)),
        };
        mesh.set(Box::into_raw(Box::new(bp_mesh(Keeper::new(made)))));
        Ok(())
    })
}

fn make<const D: usize, T: Real>(
    vertices: usize,
    edges: &[[u32; 2]],
    faces: &[[u32; 3]],
    def: &bp_mesh_def,
) -> Result<Mesh<D, T>, Fail> {
    let mut mesh = Mesh::new(vertices, edges, faces)?.with_inflation(T::from_f64(def.inflation))?;
    let no_self_collision = flag("no_self_collision", def.no_self_collision)?;
    if !def.bodies.is_null() {
        mesh = mesh.with_bodies(items("bodies", def.bodies, vertices)?, !no_self_collision)?;
    }
    if let Some(can_collide) = def.can_collide {
        let user = User(def.can_collide_user);
        // SAFETY: (caller) a function of the header's type, with the user pointer that came with it.
        mesh = mesh.with_can_collide(move |a, b| unsafe { can_collide(user.pointer(), a, b) } != 0);
    }
    Ok(mesh.with_executor(executor(def.threads, &def.executor)?))
}

/// Finds the candidates of the vertices at one moment; with `next`, of a step from there to the vertices `next`. On error the candidates of the
/// last step stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_mesh_update(
    mesh: *mut bp_mesh,
    vertices: *const c_void,
    next: *const c_void,
    count: usize,
    candidates: *mut bp_mesh_candidates,
) -> bp_status {
    call(
        mesh,
        "mesh",
        |mesh| &mesh.0,
        |mesh| {
            let candidates = Out::new("candidates", candidates)?;
            let found = match mesh {
                AnyMesh::F2(mesh) => update(mesh, vertices, next, count)?,
                AnyMesh::F3(mesh) => update(mesh, vertices, next, count)?,
                AnyMesh::D2(mesh) => update(mesh, vertices, next, count)?,
                AnyMesh::D3(mesh) => update(mesh, vertices, next, count)?,
            };
            candidates.set(bp_mesh_candidates::new(found));
            Ok(())
        },
    )
}

fn update<const D: usize, T: Real>(
    mesh: &mut Mesh<D, T>,
    vertices: *const c_void,
    next: *const c_void,
    count: usize,
) -> Result<&MeshCandidates, Fail> {
    let vertices = rows("vertices", vertices, count)?;
    Ok(if next.is_null() { mesh.update(vertices)? } else { mesh.update_swept(vertices, rows("next", next, count)?)? })
}

/// The last error of this mesh; BP_OK if its last call had none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_mesh_last_error(mesh: *const bp_mesh, error: *mut bp_error) -> bp_status {
    last_error(mesh, "mesh", |mesh| &mesh.0, error)
}

/// Frees a mesh and its candidates. Null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_mesh_destroy(mesh: *mut bp_mesh) {
    let _ = guard(|| {
        free(mesh);
        Ok(())
    });
}
