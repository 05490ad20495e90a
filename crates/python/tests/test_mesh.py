"""``mesh_candidates`` against double loops over boxes of elements."""

import numpy as np
import pytest

import broadphase
from conftest import overlaps


def soup(n, dim, seed, dtype=np.float64):
    """Vertices with random triangles among them, and the triangles' edges."""
    rng = np.random.default_rng(seed)
    vertices = rng.random((n, dim)).astype(dtype)
    order = np.argsort(vertices[:, 0])
    faces = order[np.arange(n - 2)[:, None] + np.arange(3)]
    edges = np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)
    return vertices, edges, faces


def boxes_of(elements, vertices, following, inflation):
    around = np.concatenate([vertices[elements], following[elements]], axis=1)
    return np.hstack([around.min(axis=1) - inflation, around.max(axis=1) + inflation])


def naive(vertices, edges, faces, following, inflation, dim):
    points = np.arange(len(vertices))[:, None]
    boxes = {name: boxes_of(e, vertices, following, inflation) for name, e in [("v", points), ("e", edges), ("f", faces)]}
    apart = lambda x, y: ~(x[:, None, :, None] == y[None, :, None, :]).any(axis=(2, 3))  # noqa: E731
    if dim == 2:
        return {"edge_vertex": np.argwhere(overlaps(boxes["e"], boxes["v"]) & apart(edges, points))}
    edge_edge = np.triu(overlaps(boxes["e"], boxes["e"]) & apart(edges, edges), 1)
    return {"vertex_face": np.argwhere(overlaps(boxes["v"], boxes["f"]) & apart(points, faces)), "edge_edge": np.argwhere(edge_edge)}


@pytest.mark.parametrize("swept", [False, True])
@pytest.mark.parametrize("inflation", [0.0, 0.0625])
def test_candidates_equal_double_loops(dim, dtype, swept, inflation):
    vertices, edges, faces = soup(60, dim, 1, dtype)
    following = vertices + np.random.default_rng(2).random(vertices.shape).astype(dtype) / 8 if swept else vertices
    found = broadphase.mesh_candidates(
        vertices, edges, faces, vertices_next=following if swept else None, inflation=inflation, workers=2
    )
    expected = naive(vertices, edges, faces, following, dtype(inflation), dim)
    assert any(len(list_) for list_ in expected.values())
    for name in found._fields:
        assert getattr(found, name).dtype == np.uint32
        np.testing.assert_array_equal(getattr(found, name), expected.get(name, np.zeros((0, 2))), err_msg=name)


@pytest.mark.parametrize("integers", [np.uint32, np.int32, np.int64, np.uint8, ">i4"])
def test_integers_of_any_type_name_vertices(integers):
    vertices, edges, faces = soup(40, 3, 3)
    expected = broadphase.mesh_candidates(vertices, edges, faces)
    found = broadphase.mesh_candidates(vertices, edges.astype(integers), np.asfortranarray(faces.astype(integers)))
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a, b)


def test_large_meshes_run_on_a_thread_of_their_own():
    vertices, edges, faces = soup(30_000, 3, 5)
    found = broadphase.mesh_candidates(vertices, edges, faces, workers=-1)
    again = broadphase.mesh_candidates(vertices, edges, faces)
    for a, b in zip(found, again):
        np.testing.assert_array_equal(a, b)


def test_elements_that_name_no_vertex_are_refused():
    vertices, edges, faces = soup(10, 3, 4)
    bad = faces.copy()
    bad[3, 1] = 10
    with pytest.raises(broadphase.ArgumentError) as caught:
        broadphase.mesh_candidates(vertices, edges, bad)
    assert (caught.value.code, caught.value.argument, caught.value.index) == ("invalid-element", "faces", 3)
    bad[3, 1] = -1
    with pytest.raises(broadphase.ArgumentError, match="row 3") as caught:
        broadphase.mesh_candidates(vertices, edges, bad)
    assert caught.value.argument == "faces"
    with pytest.raises(TypeError, match="edges"):
        broadphase.mesh_candidates(vertices, edges * 1.0, faces)
    with pytest.raises(broadphase.ArgumentError, match=r"edges: expected an array of shape \(m, 2\), got shape \(8, 3\)"):
        broadphase.mesh_candidates(vertices, faces, faces)
    with pytest.raises(broadphase.ArgumentError, match="vertices_next"):
        broadphase.mesh_candidates(vertices, edges, faces, vertices_next=vertices[1:])
    with pytest.raises(broadphase.ArgumentError, match="inflation"):
        broadphase.mesh_candidates(vertices, edges, faces, inflation=-1.0)
    with pytest.raises(broadphase.PointError) as caught:
        broadphase.mesh_candidates(np.where(np.arange(10)[:, None] == 7, np.inf, vertices), edges, faces)
    assert caught.value.index == 7
