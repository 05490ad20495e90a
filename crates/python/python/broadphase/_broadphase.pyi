"""Types of the compiled part; the texts are in its docstrings."""

from collections.abc import Sequence
from typing import Any, Final, Literal, Protocol, Union, final, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, TypeAlias

from ._results import MeshCandidates

class _SupportsDLPack(Protocol):
    def __dlpack__(self) -> Any: ...

# Anything that NumPy makes an array of, or that has `__dlpack__`.
_Array: TypeAlias = Union[npt.ArrayLike, _SupportsDLPack]
# `(n, 2D)` rows min..., max..., or `(lo, hi)`, two arrays `(n, D)`.
_Boxes: TypeAlias = Union[_Array, tuple[_Array, _Array]]
_Shape: TypeAlias = Literal["box", "ball"]
_Kind: TypeAlias = Literal["dynamic", "static", "kinematic"]
_Indices: TypeAlias = npt.NDArray[np.uint32]
_Handles: TypeAlias = npt.NDArray[np.uint64]
_Offsets: TypeAlias = npt.NDArray[np.intp]
_Floats: TypeAlias = npt.NDArray[Any]

__all__ = [
    "NO_HANDLE",
    "PairChunks",
    "Update",
    "World",
    "__version__",
    "_address",
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
__version__: Final[str]
NO_HANDLE: Final[int]

def list_algorithms() -> list[dict[str, Any]]: ...
def pairs(
    boxes: _Boxes,
    *,
    algorithm: str = "auto",
    shape: _Shape = "box",
    margin: float = 0.0,
    workers: int = 1,
    sort: bool = True,
) -> _Indices: ...
def pairs_between(
    a: _Boxes,
    b: _Boxes,
    *,
    algorithm: str = "auto",
    shape: _Shape = "box",
    margin: float = 0.0,
    workers: int = 1,
    sort: bool = True,
) -> _Indices: ...
def count(
    boxes: _Boxes, *, algorithm: str = "auto", shape: _Shape = "box", margin: float = 0.0, workers: int = 1
) -> int: ...
def iter_pairs(
    boxes: _Boxes,
    *,
    chunk: int = 1048576,
    algorithm: str = "auto",
    shape: _Shape = "box",
    margin: float = 0.0,
    workers: int = 1,
) -> PairChunks: ...
def iter_pairs_between(
    a: _Boxes,
    b: _Boxes,
    *,
    chunk: int = 1048576,
    algorithm: str = "auto",
    shape: _Shape = "box",
    margin: float = 0.0,
    workers: int = 1,
) -> PairChunks: ...
def neighbors(
    points: _Array, radius: float, *, boxsize: npt.ArrayLike | None = None, half: bool = False, workers: int = 1
) -> tuple[_Offsets, _Indices]: ...
@overload
def neighbor_pairs(
    points: _Array,
    radius: float,
    *,
    boxsize: npt.ArrayLike | None = None,
    distances: Literal[False] = False,
    workers: int = 1,
) -> _Indices: ...
@overload
def neighbor_pairs(
    points: _Array, radius: float, *, boxsize: npt.ArrayLike | None = None, distances: Literal[True], workers: int = 1
) -> tuple[_Indices, _Floats]: ...
def mesh_candidates(
    vertices: _Array,
    edges: _Array,
    faces: _Array | None = None,
    *,
    vertices_next: _Array | None = None,
    inflation: float = 0.0,
    workers: int = 1,
) -> MeshCandidates: ...
def _address(boxes: _Boxes) -> int: ...
@final
class PairChunks:
    def __iter__(self) -> Self: ...
    def __next__(self) -> _Indices: ...

@final
class Update:
    @property
    def count(self) -> int: ...
    @property
    def started(self) -> _Handles: ...
    @property
    def ended(self) -> _Handles: ...
    @property
    def started_user(self) -> _Handles: ...
    @property
    def ended_user(self) -> _Handles: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> Literal[True]: ...

@final
class World:
    def __new__(
        cls,
        dim: Literal[2, 3] = 3,
        dtype: npt.DTypeLike = "float32",
        algorithm: str = "auto",
        workers: int = 1,
    ) -> Self: ...
    @staticmethod
    def from_snapshot(data: bytes, *, workers: int = 1) -> World: ...
    @property
    def dim(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    @property
    def count(self) -> int: ...
    def insert(
        self,
        boxes: _Boxes,
        *,
        kind: _Kind | Sequence[_Kind] | None = None,
        layers: npt.ArrayLike | None = None,
        masks: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        user: npt.ArrayLike | None = None,
        envs: npt.ArrayLike | None = None,
        margins: npt.ArrayLike | None = None,
    ) -> _Handles: ...
    def remove(self, handles: npt.ArrayLike) -> None: ...
    def set_boxes(self, handles: npt.ArrayLike, boxes: _Boxes) -> None: ...
    def boxes(self, handles: npt.ArrayLike) -> _Floats: ...
    def user(self, handles: npt.ArrayLike) -> _Handles: ...
    def handles(self) -> _Handles: ...
    def update(self) -> Update: ...
    def pairs(self, *, sort: bool = True) -> _Handles: ...
    def in_boxes(self, boxes: _Boxes, *, layers: int | None = None) -> tuple[_Offsets, _Handles]: ...
    def in_balls(
        self, centers: _Array, radii: npt.ArrayLike, *, layers: int | None = None
    ) -> tuple[_Offsets, _Handles]: ...
    @overload
    def cast_rays(
        self,
        origins: _Array,
        directions: _Array,
        *,
        length: npt.ArrayLike | None = ...,
        all: Literal[False] = False,
        layers: int | None = None,
    ) -> tuple[_Handles, _Floats]: ...
    @overload
    def cast_rays(
        self,
        origins: _Array,
        directions: _Array,
        *,
        length: npt.ArrayLike | None = ...,
        all: Literal[True],
        layers: int | None = None,
    ) -> tuple[_Offsets, _Handles, _Floats]: ...
    def cast_boxes(
        self, boxes: _Boxes, displacements: _Array, *, layers: int | None = None
    ) -> tuple[_Handles, _Floats]: ...
    def nearest(
        self, points: _Array, k: int = 1, *, max_distance: float = ..., layers: int | None = None
    ) -> tuple[_Handles, _Floats]: ...
    def snapshot(self) -> bytes: ...
    def stats(self) -> dict[str, Any]: ...
    def copy(self) -> World: ...
    def __copy__(self) -> World: ...
    def __deepcopy__(self, memo: Any, /) -> World: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> Literal[True]: ...
    def __contains__(self, handle: int, /) -> bool: ...
