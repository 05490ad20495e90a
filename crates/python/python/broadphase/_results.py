"""Results with names."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class MeshCandidates(NamedTuple):
    """What ``mesh_candidates`` returns: sorted ``(k, 2)`` arrays of indices."""

    #: In space: vertex, face.
    vertex_face: npt.NDArray[np.uint32]
    #: In space: two edges, the smaller index first.
    edge_edge: npt.NDArray[np.uint32]
    #: In the plane: edge, vertex.
    edge_vertex: npt.NDArray[np.uint32]
