"""What is compared: objects of each kind, and every package that takes them.

Coordinates are multiples of a power of two, so that sums and products of any package are exact, and the sets of pairs are equal, not nearly
equal. There are about two pairs per object.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

import broadphase

from . import peers

Pairs = npt.NDArray[Any]
Run = Callable[[], Any]
GRID = 2.0**-10


def canonical(pairs: Any) -> Pairs:
    """Rows sorted, each with its smaller index first. Of a mesh: vertex and face as they are, then two edges each."""
    if isinstance(pairs, tuple):
        vertex_face, edge_edge = np.asarray(pairs[0], dtype=np.int64), canonical(pairs[1])
        return np.concatenate([np.unique(vertex_face.reshape(-1, 2), axis=0), [[-1, -1]], edge_edge])
    array = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    return np.unique(np.sort(array, axis=1), axis=0)


def snap(values: npt.NDArray[Any], grid: float = GRID) -> npt.NDArray[Any]:
    return np.round(values / grid) * grid


class Case:
    """One kind of objects: how they are made, our call, and the rows beside it."""

    name = ""
    title = ""
    peers: dict[str, Callable[[Any], Run]] = {}

    def make(self, n: int) -> Any:
        raise NotImplementedError

    def ours(self, data: Any) -> Run:
        raise NotImplementedError

    def rows(self) -> Iterator[tuple[str, Callable[[Any], Run]]]:
        yield "broadphase", self.ours
        yield from self.peers.items()

    def size(self, data: Any) -> int:
        return len(data[0])

    def fixed(self) -> bool:
        """Are the objects the same for every n?"""
        return False


class Cubes(Case):
    """Centers and one edge length."""

    name = "cubes"
    title = "equal cubes in space: centers (n, 3) and an edge"
    dim = 3
    peers = {
        "scipy cKDTree.query_pairs, p=inf": lambda data: peers.scipy_pairs(data[0], data[1], np.inf),
        "coal DynamicAABBTree": lambda data: peers.coal_boxes(data[0] - data[1] / 2, data[0] + data[1] / 2),
        "warp Bvh": lambda data: peers.warp_bvh(data[0] - data[1] / 2, data[0] + data[1] / 2),
    }

    def make(self, n: int) -> Any:
        side = (2.0 ** (self.dim - 2) * n) ** (1 / self.dim)
        return snap(np.random.default_rng(n).random((n, self.dim)) * side), 1.0

    def boxes(self, data: Any) -> Any:
        centers, edge = data
        return centers - edge / 2, centers + edge / 2

    def ours(self, data: Any) -> Run:
        centers, edge = data
        return lambda: broadphase.pairs((centers, centers), margin=edge / 2)


class Squares(Cubes):
    name = "squares"
    title = "equal squares in the plane: centers (n, 2) and an edge"
    dim = 2
    peers = {"scipy cKDTree.query_pairs, p=inf": lambda data: peers.scipy_pairs(data[0], data[1], np.inf)}


class Rectangles(Case):
    name = "rectangles"
    title = "rectangles in the plane: an array (n, 4)"
    peers = {
        "shapely STRtree.query": lambda data: peers.shapely_boxes(data[0]),
        "rtree Index.intersection_v": lambda data: peers.rtree_boxes(data[0]),
    }
    dim = 2

    def make(self, n: int) -> Any:
        rng = np.random.default_rng(n)
        sizes = snap(0.25 + 1.5 * rng.random((n, self.dim)))
        lo = snap(rng.random((n, self.dim)) * (2.0 ** (self.dim - 2) * n) ** (1 / self.dim))
        return (np.ascontiguousarray(np.hstack([lo, lo + sizes])),)

    def ours(self, data: Any) -> Run:
        return lambda: broadphase.pairs(data[0])


class Boxes(Rectangles):
    name = "boxes"
    title = "boxes in space: an array (n, 6)"
    dim = 3
    peers = {
        "ipctk LBVH": lambda data: peers.ipctk_boxes(data[0], "LBVH"),
        "ipctk SweepAndPrune": lambda data: peers.ipctk_boxes(data[0], "SweepAndPrune"),
        "ipctk HashGrid": lambda data: peers.ipctk_boxes(data[0], "HashGrid"),
        "rtree Index.intersection_v": lambda data: peers.rtree_boxes(data[0]),
        "coal DynamicAABBTree": lambda data: peers.coal_boxes(data[0][:, :3], data[0][:, 3:]),
        "warp Bvh": lambda data: peers.warp_bvh(data[0][:, :3], data[0][:, 3:]),
    }


class Balls(Case):
    name = "balls"
    title = "equal balls in space: points (n, 3) and a cutoff"
    peers = {
        "broadphase.neighbor_pairs": lambda data: lambda: broadphase.neighbor_pairs(data[0], data[1]),
        "scipy cKDTree.query_pairs": lambda data: peers.scipy_pairs(data[0], data[1], 2.0),
        "vesin NeighborList": lambda data: peers.vesin_pairs(data[0], data[1]),
        "matscipy neighbour_list": lambda data: peers.matscipy_pairs(data[0], data[1]),
        "freud AABBQuery": lambda data: peers.freud_pairs(data[0], data[1]),
    }

    def make(self, n: int) -> Any:
        # No distance equals the cutoff: packages differ in whether that counts. Its square is no sum of squares of multiples of the grid.
        side = (n * np.pi / 3) ** (1 / 3)
        return snap(np.random.default_rng(n).random((n, 3)) * side), 1.0 + GRID / 7

    def ours(self, data: Any) -> Run:
        points, cutoff = data
        return lambda: broadphase.pairs((points, points), shape="ball", margin=cutoff / 2)


class Mesh(Case):
    name = "mesh"
    title = "a cloth during a step: candidates vertex-face and edge-edge"
    peers = {
        "ipctk LBVH": lambda data: peers.ipctk_mesh(data, "LBVH"),
        "ipctk HashGrid": lambda data: peers.ipctk_mesh(data, "HashGrid"),
    }

    def __init__(self) -> None:
        self.files: list[Path] = []

    def use(self, files: list[str]) -> None:
        self.files = [Path(file) for file in files]

    def fixed(self) -> bool:
        return bool(self.files)

    def make(self, n: int) -> Any:
        """Two sheets of cloth that sink into each other; or the meshes of the given files."""
        if self.files:
            meshes = [read_ply(file) for file in self.files]
            vertices, faces = meshes[0]
            following = meshes[-1][0]
        else:
            side = max(3, int(np.sqrt(n / 12)))
            u, v = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side)))
            waves = 0.02 * np.sin(40 * u) * np.cos(31 * v)
            sheets = [np.column_stack([u, v, waves]), np.column_stack([u, v, 0.03 - waves])]
            corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
            one = np.concatenate([corner[:, None] + [0, 1, side], corner[:, None] + [1, side + 1, side]])
            vertices, faces = np.concatenate(sheets), np.concatenate([one, one + side * side])
            following = vertices + [0.0, 0.0, 0.5 / side] * (2 * (np.arange(len(vertices)) < side * side)[:, None] - 1)
        sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        edges = np.unique(np.sort(sides, axis=1), axis=0)
        scale = 2.0**-20 * 2.0 ** np.ceil(np.log2(np.abs([vertices, following]).max()))
        now, then = snap(vertices, scale), snap(following, scale)
        return now, then, edges.astype(np.int32), faces.astype(np.int32)

    def size(self, data: Any) -> int:
        return len(data[0]) + len(data[2]) + len(data[3])

    def ours(self, data: Any) -> Run:
        now, then, edges, faces = data

        def run() -> Any:
            found = broadphase.mesh_candidates(now, edges, faces, vertices_next=then)
            return found.vertex_face, found.edge_edge

        return run


def read_ply(path: Path) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Vertices and triangles of a binary little-endian PLY file with float coordinates."""
    data = path.read_bytes()
    end = data.index(b"end_header\n") + len(b"end_header\n")
    header = data[:end].decode().splitlines()
    count = {words[1]: int(words[2]) for words in map(str.split, header) if words[:1] == ["element"]}
    scalar = "<f8" if any("double" in line for line in header) else "<f4"
    vertices = np.frombuffer(data, scalar, 3 * count["vertex"], end).reshape(-1, 3)
    faces = np.frombuffer(data, np.dtype([("n", "u1"), ("v", "<i4", 3)]), count["face"], end + vertices.nbytes)
    return vertices.astype(np.float64), faces["v"].astype(np.int64)


CASES: dict[str, Any] = {case.name: case for case in (Cubes(), Squares(), Rectangles(), Boxes(), Balls(), Mesh())}
