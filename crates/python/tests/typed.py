"""A program that mypy checks against the stubs; it is not run."""

import numpy as np
import numpy.typing as npt

import broadphase

boxes: npt.NDArray[np.float32] = np.zeros((3, 6), np.float32)
found: npt.NDArray[np.uint32] = broadphase.pairs(boxes, shape="ball", margin=1, workers=-1)
found = broadphase.pairs((boxes[:, :3], boxes[:, 3:]))
found = broadphase.pairs_between(boxes.tolist(), boxes)
number: int = broadphase.count(boxes)
for piece in broadphase.iter_pairs(boxes, chunk=5):
    found = piece
offsets, indices = broadphase.neighbors(boxes[:, :3], 1.0, boxsize=[1, 2, 3])
found = indices
just_pairs: npt.NDArray[np.uint32] = broadphase.neighbor_pairs(boxes[:, :3], 1.0)
with_distances, distances = broadphase.neighbor_pairs(boxes[:, :3], 1.0, distances=True)
found = with_distances
mesh = broadphase.mesh_candidates(boxes[:, :3], [[0, 1]], None, inflation=0.5)
found = mesh.edge_edge
world = broadphase.World(dim=2, dtype=np.float64)
handles = world.insert([[0, 0, 1, 1]], kind="static", layers=1)
world.set_boxes(handles, [[0, 0, 1, 1]])
started: npt.NDArray[np.uint64] = world.update().started
hit, time = world.cast_rays([[0, 0]], [[1, 0]])
rows, hits, times = world.cast_rays([[0, 0]], [[1, 0]], all=True)
again: broadphase.World = broadphase.World.from_snapshot(world.snapshot())
try:
    world.remove(handles)
except broadphase.Error as error:
    code: str = error.code
    where: "int | None" = error.index
