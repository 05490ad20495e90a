"""All overlapping pairs among boxes, points and meshes in NumPy arrays: the broad phase of collision detection.

>>> import numpy, broadphase
>>> boxes = numpy.array([[0, 0, 1, 1], [5, 5, 6, 6], [1, 1, 2, 2]], dtype=numpy.float32)
>>> broadphase.pairs(boxes)
array([[0, 2]], dtype=uint32)

What you need, and what you call:

==============================================  ==================================================
pairs of boxes, once                            ``pairs``, ``pairs_between``, ``count``
more pairs than memory holds                    ``iter_pairs``, ``iter_pairs_between``
points within a radius, also periodic           ``neighbors``, ``neighbor_pairs``
candidates of a mesh, also swept over a step    ``mesh_candidates``
boxes that move; what started and ended; rays   ``World``
ipctk, newton and ASE with this inside          ``broadphase.adapters``
a comparison with other libraries               ``python -m broadphase compare``
==============================================  ==================================================
"""

from ._broadphase import (
    NO_HANDLE,
    PairChunks,
    Update,
    World,
    __version__,
    count,
    iter_pairs,
    iter_pairs_between,
    list_algorithms,
    mesh_candidates,
    neighbor_pairs,
    neighbors,
    pairs,
    pairs_between,
)
from ._errors import (
    AlgorithmError,
    ArgumentError,
    BoxError,
    BusyError,
    CancelledError,
    Error,
    HandleError,
    LimitError,
    OutOfMemoryError,
    PointError,
    SnapshotError,
)
from ._results import MeshCandidates

__all__ = [
    "NO_HANDLE",
    "AlgorithmError",
    "ArgumentError",
    "BoxError",
    "BusyError",
    "CancelledError",
    "Error",
    "HandleError",
    "LimitError",
    "MeshCandidates",
    "OutOfMemoryError",
    "PairChunks",
    "PointError",
    "SnapshotError",
    "Update",
    "World",
    "__version__",
    "count",
    "iter_pairs",
    "iter_pairs_between",
    "list_algorithms",
    "mesh_candidates",
    "neighbor_pairs",
    "neighbors",
    "pairs",
    "pairs_between",
]
