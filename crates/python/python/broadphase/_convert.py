"""Arrays that are not as the library wants them: converted, or refused with the reason.

The rules, tested in ``tests/test_arguments.py``:

- float32 and float64 stay; float16 becomes float32; integers become float64, unless that would round them. Nothing is narrowed.
- Other byte orders, strides, Fortran order and unaligned arrays are copied to C order.
- Anything with ``__array__`` or ``__dlpack__``, and nested lists, are converted by NumPy.
- Booleans, complex and long double numbers, objects, text and masked arrays are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import make, wrong_shape

_EXACT = 2**53
_KINDS = {"dynamic": 0, "static": 1, "kinematic": 2}


def _describe(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".replace("builtins.", "")


def _array(value: Any, argument: str, expected: str) -> npt.NDArray[Any]:
    """The value as an array of whatever type, without a copy where possible."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{argument}: expected {expected}, got a masked array; fill it first, or select the rows that count")
    try:
        if hasattr(value, "__array__") or not hasattr(value, "__dlpack__"):
            array = np.asarray(value)
        else:
            array = np.from_dlpack(value)
    except MemoryError:
        raise
    except Exception as error:
        raise TypeError(f"{argument}: expected {expected}, got {_describe(value)}, which NumPy cannot convert: {error}") from error
    return array


def floats(value: Any, argument: str, shape: str) -> npt.NDArray[Any]:
    """A two-dimensional C-contiguous array of native float32 or float64."""
    expected = f"float32 or float64 numbers of shape {shape}"
    array = _array(value, argument, expected)
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f" and size in (2, 4):
        dtype = np.dtype(np.float32)
    elif (kind == "f" and size == 8) or kind in "iu":
        dtype = np.dtype(np.float64)
    else:
        raise TypeError(f"{argument}: expected {expected}, got {_describe(value)} of dtype {array.dtype}")
    if array.ndim != 2:
        raise wrong_shape(argument, shape, array.shape)
    if kind in "iu" and size == 8 and array.size and (int(array.max()) > _EXACT or int(array.min()) < -_EXACT):
        raise make("invalid-value", f"{argument}: integers beyond 2**53 are not exact as float64; shift them towards the origin", argument)
    return np.require(array, dtype, ["C", "A"])


def _integers(value: Any, argument: str, expected: str, dtype: Any) -> npt.NDArray[Any]:
    """An array of integers that fit, as another type of integer."""
    if isinstance(value, (list, tuple)) and all(isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in value):
        value = np.array([int(x) for x in value], dtype=object)  # of large and small integers NumPy makes floats
    array = _array(value, argument, expected)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(dtype)  # what NumPy makes of an empty list
    if array.dtype.kind == "O" and all(isinstance(x, int) for x in array.flat):
        low, high = (min(array.flat), max(array.flat)) if array.size else (0, 0)
        if low < 0 or high > np.iinfo(dtype).max:
            text = f"{argument}: expected {expected}, from 0 to {np.iinfo(dtype).max}, got {low if low < 0 else high}"
            raise make("invalid-value", text, argument)
        array = array.astype(dtype)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{argument}: expected {expected}, got {_describe(value)} of dtype {array.dtype}")
    limit = np.iinfo(dtype).max
    if array.size and (int(array.min()) < 0 or int(array.max()) > limit):
        wrong = np.flatnonzero((array < 0) | (array > limit))[0] if array.ndim else 0
        row = int(wrong) // (array.shape[1] if array.ndim == 2 else 1)
        text = f"{argument}: expected {expected}, from 0 to {limit}, got {array.flat[wrong]} in row {row}"
        raise make("invalid-value", text, argument, row)
    return array


def indices(value: Any, argument: str, shape: str) -> npt.NDArray[np.uint32]:
    """A two-dimensional C-contiguous array of uint32."""
    array = _integers(value, argument, f"integers of shape {shape}", np.uint32)
    if array.ndim != 2:
        raise wrong_shape(argument, shape, array.shape)
    return np.require(array, np.uint32, ["C", "A"])


def handles(value: Any) -> npt.NDArray[np.uint64]:
    """A one-dimensional C-contiguous array of uint64; a single handle is an array of one."""
    array = _integers(value, "handles", "handles, uint64 of shape (n,)", np.uint64)
    if array.ndim > 1:
        raise wrong_shape("handles", "(n,)", array.shape)
    return np.require(np.atleast_1d(array), np.uint64, ["C", "A"])


def column(value: Any, argument: str, count: int, dtype: str) -> npt.NDArray[Any]:
    """One number for each of ``count`` objects, from as many or from one for all. For kinds (uint8): from their names."""
    expected = f"one value, or an array of shape ({count},)"
    if dtype == "uint8":
        names = [value] if isinstance(value, str) else list(value) if isinstance(value, (list, tuple, np.ndarray)) else None
        if names is None or not all(isinstance(name, str) for name in names):
            raise TypeError(f"{argument}: expected 'dynamic', 'static' or 'kinematic', or a list of {count} of them, got {_describe(value)}")
        unknown = [name for name in names if name not in _KINDS]
        if unknown:
            raise make("invalid-value", f"{argument}: expected 'dynamic', 'static' or 'kinematic', got {unknown[0]!r}", argument)
        array: npt.NDArray[Any] = np.array([_KINDS[name] for name in names], dtype=np.uint8)
        array = array[0] if isinstance(value, str) else array
    elif dtype == "float64":
        array = _array(value, argument, expected)
        if array.dtype.kind not in "fiu":
            raise TypeError(f"{argument}: expected numbers, {expected}, got {_describe(value)} of dtype {array.dtype}")
    else:
        array = _integers(value, argument, f"integers, {expected}", np.dtype(dtype))
    if array.ndim == 0 or array.shape == (count,):
        return np.require(np.broadcast_to(array, (count,)), dtype, ["C", "A"])
    raise wrong_shape(argument, f"({count},), or a single value,", array.shape)
