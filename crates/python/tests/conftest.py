"""Naive models that every test compares with: double loops in NumPy, and shared generators of boxes."""

from __future__ import annotations

import numpy as np
import pytest

DTYPES = [np.float32, np.float64]
DIMS = [2, 3]


def random_boxes(n, dim=3, dtype=np.float64, seed=0, side=10.0, size=2.0):
    """Boxes in a cube, a few pairs each, some of them touching exactly."""
    rng = np.random.default_rng(seed)
    lo = rng.integers(0, 64, (n, dim)) * (side / 64)
    hi = lo + rng.integers(0, 16, (n, dim)) * (size / 16)
    return np.hstack([lo, hi]).astype(dtype)


def overlaps(a, b):
    """The matrix of closed overlaps between the boxes of two lists."""
    dim = a.shape[1] // 2
    below = a[:, None, :dim] <= b[None, :, dim:]
    above = b[None, :, :dim] <= a[:, None, dim:]
    return (below & above).all(axis=2)


def naive_pairs(boxes):
    """All pairs of one list, sorted, as ``pairs`` returns them."""
    found = np.argwhere(np.triu(overlaps(boxes, boxes), 1))
    return found.astype(np.uint32).reshape(-1, 2)


def naive_between(a, b):
    return np.argwhere(overlaps(a, b)).astype(np.uint32).reshape(-1, 2)


def same_rows(a, b):
    """The same rows, whatever their order."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, (a.shape, b.shape)
    return (a[np.lexsort(a.T[::-1])] == b[np.lexsort(b.T[::-1])]).all()


@pytest.fixture(params=DIMS, ids=lambda dim: f"{dim}d")
def dim(request):
    return request.param


@pytest.fixture(params=DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def dtype(request):
    return request.param
