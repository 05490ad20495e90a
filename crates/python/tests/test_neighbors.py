"""``neighbors`` and ``neighbor_pairs`` against a matrix of distances."""

import numpy as np
import pytest

import broadphase


def squared(points, boxsize=None):
    apart = np.abs(points[:, None] - points[None])
    if boxsize is not None:
        lengths = np.broadcast_to(np.asarray(boxsize, dtype=points.dtype), points.shape[1:])
        around = np.where(lengths > 0, lengths - apart, np.inf)
        apart = np.minimum(apart, around)
    total = apart[..., 0] * apart[..., 0]
    for k in range(1, points.shape[1]):
        total = total + apart[..., k] * apart[..., k]
    return total


def naive(points, radius, boxsize=None):
    near = squared(points, boxsize) <= points.dtype.type(radius) ** 2
    np.fill_diagonal(near, False)
    return near


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("n", [0, 1, 2, 400])
def test_rows_equal_a_double_loop(n, columns, dtype):
    points = np.random.default_rng(n).random((n, columns)).astype(dtype) * 5
    offsets, indices = broadphase.neighbors(points, 0.7)
    assert offsets.dtype == np.intp and indices.dtype == np.uint32 and offsets.shape == (n + 1,)
    near = naive(points, 0.7)
    for i in range(n):
        np.testing.assert_array_equal(indices[offsets[i] : offsets[i + 1]], np.flatnonzero(near[i]))


@pytest.mark.parametrize("boxsize", [5.0, [5.0, 0.0, 7.0], [np.inf, 5.0, 5.0]])
def test_periodic_rows(boxsize, dtype):
    lengths = np.broadcast_to(boxsize, 3)
    points = np.random.default_rng(2).random((300, 3)).astype(dtype) * np.where(np.isfinite(lengths) & (lengths > 0), lengths, 5).astype(dtype)
    finite = np.where(np.isinf(lengths), 0, lengths)
    near = naive(points, 0.9, finite)
    offsets, indices = broadphase.neighbors(points, 0.9, boxsize=boxsize)
    np.testing.assert_array_equal(np.diff(offsets), near.sum(axis=1))
    np.testing.assert_array_equal(indices, np.argwhere(near)[:, 1])


def test_half_lists_have_each_pair_once():
    points = np.random.default_rng(3).random((300, 3))
    offsets, indices = broadphase.neighbors(points, 0.2, half=True)
    rows = np.repeat(np.arange(300), np.diff(offsets))
    pairs = broadphase.neighbor_pairs(points, 0.2)
    np.testing.assert_array_equal(np.stack([rows, indices], axis=1), pairs)
    np.testing.assert_array_equal(pairs, np.argwhere(np.triu(naive(points, 0.2), 1)))


def test_distances_belong_to_their_pairs(dtype):
    points = np.random.default_rng(4).random((200, 2)).astype(dtype)
    pairs, distances = broadphase.neighbor_pairs(points, 0.3, distances=True)
    assert distances.dtype == dtype
    np.testing.assert_array_equal(distances, np.sqrt(squared(points)[tuple(pairs.T)]))


def test_workers_do_not_change_the_rows():
    points = np.random.default_rng(5).random((40_000, 3), dtype=np.float32)
    one, two = broadphase.neighbors(points, 0.02), broadphase.neighbors(points, 0.02, workers=-1)
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


@pytest.mark.parametrize("radius", [-1.0, np.nan, np.inf])
def test_a_radius_without_meaning_is_refused(radius):
    with pytest.raises(broadphase.ArgumentError, match="radius"):
        broadphase.neighbors(np.zeros((3, 2)), radius)


def test_bad_points_and_periods_are_named():
    points = np.zeros((4, 3))
    points[2, 1] = np.nan
    with pytest.raises(broadphase.PointError) as caught:
        broadphase.neighbors(points, 1.0)
    assert (caught.value.code, caught.value.index, caught.value.axis) == ("invalid-point", 2, 1)
    for boxsize in (-1.0, np.nan, [1.0, -2.0, 3.0]):
        with pytest.raises(broadphase.ArgumentError, match="boxsize"):
            broadphase.neighbors(np.zeros((3, 3)), 0.1, boxsize=boxsize)
    with pytest.raises(broadphase.ArgumentError, match="shape"):
        broadphase.neighbors(np.zeros((3, 3)), 0.1, boxsize=[1.0, 2.0])
    with pytest.raises(broadphase.ArgumentError, match="half of each period"):
        broadphase.neighbors(np.zeros((3, 3)), 0.6, boxsize=1.0)
