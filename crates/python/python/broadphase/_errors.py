"""Exceptions. Each has a stable ``code`` for programs, and says where the fault is."""

from __future__ import annotations

from typing import Optional


class Error(ValueError):
    """Every error of the library. What a call was given is unchanged, and a world is usable.

    >>> import broadphase
    >>> try:
    ...     broadphase.pairs([[0, 0, 1, 1], [0, 0, float("nan"), 1]])
    ... except broadphase.Error as error:
    ...     print(error)
    ...     print(error.code, error.index, error.axis)
    object 1: a corner is NaN on axis x; remove the object or repair it
    invalid-box 1 0
    """

    #: A stable name, such as ``"invalid-box"``.
    code: str
    #: The name of the argument that is wrong, where a call takes several.
    argument: Optional[str]
    #: The position of the object that is wrong, where one is.
    index: Optional[int]
    #: The axis on which something is wrong: 0 for x, 1 for y, 2 for z.
    axis: Optional[int]

    def __init__(
        self,
        message: str = "",
        code: str = "invalid-argument",
        argument: Optional[str] = None,
        index: Optional[int] = None,
        axis: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.code, self.argument, self.index, self.axis = code, argument, index, axis


class BoxError(Error):
    """A box with a NaN corner, with ``min`` above ``max``, or too long for a periodic space."""


class PointError(Error):
    """A point with a coordinate that is NaN, or infinite where that has no meaning."""


class ArgumentError(Error):
    """An argument of the wrong shape, length or value."""


class AlgorithmError(Error):
    """An algorithm or option that does not exist, or that does not suit the boxes."""


class HandleError(Error):
    """A handle whose object was removed, or that belongs to another world."""


class SnapshotError(Error):
    """A snapshot that is broken, or of another version or kind of world."""


class LimitError(Error):
    """More objects, pairs or threads than possible."""


class OutOfMemoryError(LimitError, MemoryError):
    """An allocation failed."""


class BusyError(Error, RuntimeError):
    """Two threads used one world, or one iterator, at the same time."""


class CancelledError(Error):
    """A call was cancelled. Ctrl-C raises ``KeyboardInterrupt`` instead."""


_CLASSES = {
    "invalid-box": BoxError,
    "box-too-long": BoxError,
    "invalid-point": PointError,
    "unknown-algorithm": AlgorithmError,
    "missing-feature": AlgorithmError,
    "unknown-option": AlgorithmError,
    "invalid-option": AlgorithmError,
    "unsuited": AlgorithmError,
    "stale-handle": HandleError,
    "foreign-snapshot": SnapshotError,
    "invalid-snapshot": SnapshotError,
    "too-many-objects": LimitError,
    "too-many-pairs": LimitError,
    "threads-unavailable": LimitError,
    "out-of-memory": OutOfMemoryError,
    "busy": BusyError,
    "cancelled": CancelledError,
}


def make(code: str, message: str, argument: Optional[str] = None, index: Optional[int] = None, axis: Optional[int] = None) -> Error:
    """The exception for a code of the library; a code without a class of its own is an ``ArgumentError``."""
    return _CLASSES.get(code, ArgumentError)(message, code, argument, index, axis)


def wrong_shape(argument: str, expected: str, found: tuple[int, ...]) -> Error:
    """An array of the wrong shape."""
    return make("wrong-shape", f"{argument}: expected an array of shape {expected}, got shape {found}", argument)
