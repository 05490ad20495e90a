"""How each package is driven: as its users would, with the options that make it fastest here.

A function gets arrays and returns what is timed: from the arrays to all pairs, each at least once. All run on one thread.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import numpy.typing as npt

Run = Callable[[], Any]
Floats = npt.NDArray[np.float64]


def scipy_pairs(points: Floats, reach: float, p: float) -> Run:
    from scipy.spatial import cKDTree

    # An unbalanced tree is built faster, and searched as fast.
    return lambda: cKDTree(points, balanced_tree=False).query_pairs(reach, p=p, output_type="ndarray")


def shapely_boxes(boxes: Floats) -> Run:
    import shapely

    def run() -> Any:
        rectangles = shapely.box(*boxes.T)
        found = shapely.STRtree(rectangles).query(rectangles)
        return found[:, found[0] < found[1]].T

    return run


def rtree_boxes(boxes: Floats) -> Run:
    from rtree import index

    dim = boxes.shape[1] // 2
    lo, hi = np.ascontiguousarray(boxes[:, :dim]), np.ascontiguousarray(boxes[:, dim:])
    ids = np.arange(len(boxes), dtype=np.int64)

    def run() -> Any:
        properties = index.Property(dimension=dim)
        stream = zip(ids.tolist(), np.hstack([lo, hi]).tolist(), [None] * len(ids)) if dim == 2 else ((i, tuple(row), None) for i, row in zip(ids.tolist(), boxes.tolist()))
        tree = index.Index(stream, properties=properties)
        found, counts = tree.intersection_v(lo, hi)
        owners = np.repeat(ids, counts.astype(np.int64))
        keep = owners < found
        return np.column_stack([owners[keep], found[keep]])

    return run


def vesin_pairs(points: Floats, cutoff: float) -> Run:
    import vesin

    none = np.zeros((3, 3))

    def run() -> Any:
        i, j = vesin.NeighborList(cutoff=cutoff, full_list=False).compute(points=points, box=none, periodic=False, quantities="ij")
        return np.column_stack([i, j])

    return run


def matscipy_pairs(points: Floats, cutoff: float) -> Run:
    from matscipy.neighbours import neighbour_list

    cell, start = np.diag(points.max(axis=0) - points.min(axis=0) + 1), points.min(axis=0)

    def run() -> Any:
        i, j = neighbour_list("ij", positions=points, cell=cell, cell_origin=start, pbc=[False] * 3, cutoff=cutoff)
        keep = i < j
        return np.column_stack([i[keep], j[keep]])

    return run


def freud_pairs(points: Floats, cutoff: float) -> Run:
    import freud

    freud.parallel.set_num_threads(1)
    side = 4 * (np.abs(points).max() + cutoff)  # so wide that its periodic space does not show
    box = freud.box.Box.cube(side)

    def run() -> Any:
        query = freud.locality.AABBQuery(box, points.astype(np.float32))
        found = query.query(query.points, {"r_max": cutoff, "exclude_ii": True}).toNeighborList()
        i, j = found.query_point_indices, found.point_indices
        keep = i < j
        return np.column_stack([i[keep], j[keep]])

    return run


def coal_boxes(lo: Floats, hi: Floats) -> Run:
    import coal

    # The objects are made beforehand: coal has no call that takes arrays.
    objects = [coal.CollisionObject(coal.Box(*size), np.eye(3), center) for size, center in zip(hi - lo, (lo + hi) / 2)]
    for one in objects:
        one.computeAABB()

    def run() -> Any:
        manager = coal.DynamicAABBTreeCollisionManager()
        for one in objects:
            manager.registerObject(one)
        manager.setup()
        collected = coal.CollisionCallBackCollect(64 * len(objects))
        manager.collide(collected)
        return CoalPairs(collected, objects)

    return run


class CoalPairs:
    """What coal has collected. Python cannot read its pairs, but ask for their number, and for one of them."""

    def __init__(self, collected: Any, objects: list[Any]) -> None:
        self.collected, self.objects = collected, objects

    def agrees(self, ours: npt.NDArray[Any]) -> bool:
        """The same number, and the pairs of ours that were tried: all, or 500 of them."""
        tried = ours[:: max(1, len(ours) // 500)]

        def found(a: Any, b: Any) -> bool:
            return bool(self.collected.exist(a, b) or self.collected.exist(b, a))

        return int(self.collected.numCollisionPairs()) == len(ours) and all(found(self.objects[i], self.objects[j]) for i, j in tried.tolist())


def ipctk_boxes(boxes: Floats, method: str) -> Run:
    import ipctk

    ipctk.set_num_threads(1)
    # A box is the way of a vertex during a step.
    dim = boxes.shape[1] // 2
    none = np.zeros((0, 2), np.int32), np.zeros((0, 3), np.int32)

    def run() -> Any:
        structure = getattr(ipctk, method)()
        structure.build(np.asfortranarray(boxes[:, :dim]), np.asfortranarray(boxes[:, dim:]), *none, 0.0)
        return structure.detect_vertex_vertex_candidates()

    def listed() -> Any:
        return Candidates(run())

    return listed


class Candidates:
    """A list of ipctk's candidates, which becomes an array only when it is compared: not part of its time."""

    def __init__(self, found: Any) -> None:
        self.found = found

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        names = {"VertexVertexCandidate": ("vertex0_id", "vertex1_id"), "EdgeEdgeCandidate": ("edge0_id", "edge1_id"), "FaceVertexCandidate": ("vertex_id", "face_id")}
        rows = [[getattr(one, name) for name in names[type(one).__name__]] for one in self.found]
        return np.array(rows, dtype=dtype or np.int64).reshape(-1, 2)


def ipctk_mesh(data: Any, method: str) -> Run:
    import ipctk

    ipctk.set_num_threads(1)
    now, then, edges, faces = data
    mesh = ipctk.CollisionMesh(np.asfortranarray(now), edges, faces)

    def run() -> Any:
        found = ipctk.Candidates()
        found.build(mesh, np.asfortranarray(now), np.asfortranarray(then), 0.0, getattr(ipctk, method)())
        return Lazy(found)

    return run


class Lazy(tuple):  # type: ignore[type-arg]
    """Both lists of ipctk's candidates, read when they are compared."""

    def __new__(cls, found: Any) -> Lazy:
        return super().__new__(cls, (_Field(found, "fv_candidates"), _Field(found, "ee_candidates")))


class _Field:
    def __init__(self, found: Any, name: str) -> None:
        self.found, self.name = found, name

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        return Candidates(getattr(self.found, self.name)).__array__(dtype)


def warp_bvh(lo: Floats, hi: Floats) -> Run:
    import warp

    from .warp_kernel import find

    warp.config.quiet = True
    lower, upper = lo.astype(np.float32), hi.astype(np.float32)
    room = 16 * len(lo)

    def run() -> Any:
        lowers, uppers = (warp.array(corner, dtype=warp.vec3, device="cpu") for corner in (lower, upper))
        tree = warp.Bvh(lowers, uppers)
        pairs, count = warp.empty(room, dtype=warp.vec2i, device="cpu"), warp.zeros(1, dtype=int, device="cpu")
        warp.launch(find, dim=len(lower), inputs=[tree.id, lowers, uppers, pairs, count], device="cpu")
        if count.numpy()[0] > room:
            raise MemoryError("more pairs than the array holds")
        return pairs.numpy()[: count.numpy()[0]]

    return run
