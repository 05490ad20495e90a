"""A broad phase for ipctk.

>>> import ipctk, numpy
>>> from broadphase.adapters.ipctk import BroadPhase
>>> vertices = numpy.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0], [1, 1, 0.1], [9, 1, 1], [9, 9, 1]])
>>> edges, faces = numpy.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]]), numpy.array([[0, 1, 2], [3, 4, 5]])
>>> candidates = ipctk.Candidates()
>>> candidates.build(ipctk.CollisionMesh(vertices, edges, faces), vertices, 0.1, BroadPhase())
>>> [(c.face_id, c.vertex_id) for c in candidates.fv_candidates]
[(0, 3)]
"""

from __future__ import annotations

from typing import Any, Callable

import ipctk
import numpy as np
import numpy.typing as npt

import broadphase

_Ids = npt.NDArray[np.uint32]


class BroadPhase(ipctk.BroadPhase):  # type: ignore[misc]
    """Pass it as ``broad_phase=`` wherever ipctk takes one.

    A candidate is what ipctk's own methods define: two elements that share no vertex, of which the boxes overlap, and of which some two
    vertices may collide. Boxes are those of ipctk: those of the vertices, at both ends of the step, inflated and rounded outwards.
    """

    def __init__(self, *, workers: int = 1) -> None:
        super().__init__()
        self._workers = workers
        self.clear()

    def name(self) -> str:
        return "broadphase"

    def clear(self) -> None:
        self._lo = self._hi = np.zeros((0, 3))
        self._edges, self._faces = np.zeros((0, 2), np.uint32), np.zeros((0, 3), np.uint32)
        self._found: broadphase.MeshCandidates | None = None

    def build(self, *arguments: Any) -> None:
        """``build(vertices, edges, faces, inflation)``, or with the vertices at both ends of a step."""
        *vertices, edges, faces, inflation = arguments
        # The base class asks for candidates by the dimension of what it was given: one vertex tells it.
        super().build(np.asfortranarray(vertices[0][:1]), np.zeros((0, 2), np.int32), np.zeros((0, 3), np.int32), 0.0)
        self.clear()
        lo, hi = np.minimum.reduce(vertices), np.maximum.reduce(vertices)
        self._lo = np.ascontiguousarray(np.nextafter(lo - inflation, -np.inf))
        self._hi = np.ascontiguousarray(np.nextafter(hi + inflation, np.inf))
        self._edges = np.ascontiguousarray(edges, dtype=np.uint32).reshape(-1, 2)
        self._faces = np.ascontiguousarray(faces, dtype=np.uint32).reshape(-1, 3)

    # The boxes of vertices, edges and faces are all unions of vertex boxes, so the corners of the vertex boxes stand for a step's two ends.
    def _mesh(self) -> broadphase.MeshCandidates:
        if self._found is None:
            self._found = broadphase.mesh_candidates(
                self._lo, self._edges, self._faces, vertices_next=self._hi, workers=self._workers
            )
        return self._found

    def _boxes(self, elements: _Ids) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        return self._lo[elements].min(axis=1), self._hi[elements].max(axis=1)

    def _vertices(self) -> _Ids:
        return np.arange(len(self._lo), dtype=np.uint32)[:, None]

    def _select(self, pairs: _Ids, first: _Ids, second: _Ids, make: Callable[[int, int], Any]) -> list[Any]:
        """Candidates of pairs that share no vertex and whose vertices may collide."""
        a, b = first[pairs[:, 0]], second[pairs[:, 1]]
        apart = ~(a[:, :, None] == b[:, None, :]).any(axis=(1, 2))
        pairs, a, b = pairs[apart], a[apart], b[apart]
        may = self.can_vertices_collide
        return [
            make(i, j)
            for (i, j), x, y in zip(pairs.tolist(), a.tolist(), b.tolist())
            if any(may(v, w) for v in x for w in y)
        ]

    def detect_vertex_vertex_candidates(self) -> list[ipctk.VertexVertexCandidate]:
        pairs = broadphase.pairs((self._lo, self._hi), workers=self._workers)
        return self._select(pairs, self._vertices(), self._vertices(), ipctk.VertexVertexCandidate)

    def detect_edge_vertex_candidates(self) -> list[ipctk.EdgeVertexCandidate]:
        if self._lo.shape[1] == 2:
            pairs = self._mesh().edge_vertex
        else:
            pairs = broadphase.pairs_between(self._boxes(self._edges), (self._lo, self._hi), workers=self._workers)
        return self._select(pairs, self._edges, self._vertices(), ipctk.EdgeVertexCandidate)

    def detect_edge_edge_candidates(self) -> list[ipctk.EdgeEdgeCandidate]:
        if self._lo.shape[1] == 2:
            pairs = broadphase.pairs(self._boxes(self._edges), workers=self._workers)
        else:
            pairs = self._mesh().edge_edge
        return self._select(pairs, self._edges, self._edges, ipctk.EdgeEdgeCandidate)

    def detect_face_vertex_candidates(self) -> list[ipctk.FaceVertexCandidate]:
        if self._lo.shape[1] == 2:
            pairs = broadphase.pairs_between(self._boxes(self._faces), (self._lo, self._hi), workers=self._workers)
        else:
            pairs = self._mesh().vertex_face[:, ::-1]
        return self._select(pairs, self._faces, self._vertices(), ipctk.FaceVertexCandidate)

    def detect_edge_face_candidates(self) -> list[ipctk.EdgeFaceCandidate]:
        pairs = broadphase.pairs_between(self._boxes(self._edges), self._boxes(self._faces), workers=self._workers)
        return self._select(pairs, self._edges, self._faces, ipctk.EdgeFaceCandidate)

    def detect_face_face_candidates(self) -> list[ipctk.FaceFaceCandidate]:
        pairs = broadphase.pairs(self._boxes(self._faces), workers=self._workers)
        return self._select(pairs, self._faces, self._faces, ipctk.FaceFaceCandidate)
