"""``pairs``, ``pairs_between``, ``count`` and the iterators against double loops."""

import numpy as np
import pytest

import broadphase
from conftest import naive_between, naive_pairs, random_boxes, same_rows


@pytest.mark.parametrize("n", [0, 1, 2, 17, 300])
def test_pairs_equal_a_double_loop(n, dim, dtype):
    boxes = random_boxes(n, dim, dtype, seed=n)
    found = broadphase.pairs(boxes)
    assert found.dtype == np.uint32 and found.shape[1:] == (2,)
    np.testing.assert_array_equal(found, naive_pairs(boxes))
    assert broadphase.count(boxes) == len(found)


@pytest.mark.parametrize("algorithm", [a["name"] for a in broadphase.list_algorithms()])
def test_every_algorithm_gives_the_same_pairs(algorithm, dim, dtype):
    boxes = random_boxes(200, dim, dtype, seed=5)
    about = next(a for a in broadphase.list_algorithms() if a["name"] == algorithm)
    if "box" not in about["shapes"]:
        with pytest.raises(broadphase.AlgorithmError) as caught:
            broadphase.pairs(boxes, algorithm=algorithm)
        assert caught.value.code == "unsuited"
        return
    np.testing.assert_array_equal(broadphase.pairs(boxes, algorithm=algorithm), naive_pairs(boxes))


def test_unsorted_pairs_are_the_same_set(dim, dtype):
    boxes = random_boxes(500, dim, dtype, seed=3)
    assert same_rows(broadphase.pairs(boxes, sort=False), naive_pairs(boxes))


def test_workers_do_not_change_the_list(dim):
    boxes = random_boxes(5000, dim, np.float32, seed=9, side=40.0)
    one = broadphase.pairs(boxes, sort=False)
    for workers in (2, -1):
        np.testing.assert_array_equal(one, broadphase.pairs(boxes, workers=workers, sort=False))


def test_margin_grows_every_box(dim):
    boxes = random_boxes(200, dim, np.float64, seed=4)
    grown = boxes + np.repeat([-0.25, 0.25], dim)
    np.testing.assert_array_equal(broadphase.pairs(boxes, margin=0.25), naive_pairs(grown))


def test_balls_are_inscribed_in_their_boxes(dim, dtype):
    rng = np.random.default_rng(1)
    centers = rng.integers(0, 100, (300, dim)) / 8.0
    radii = rng.integers(1, 16, 300)[:, None] / 16.0
    boxes = np.hstack([centers - radii, centers + radii]).astype(dtype)
    distance = ((centers[:, None] - centers[None]) ** 2).sum(axis=2)
    meets = distance <= (radii + radii.T) ** 2
    expected = np.argwhere(np.triu(meets, 1))
    np.testing.assert_array_equal(broadphase.pairs(boxes, shape="ball"), expected)


@pytest.mark.parametrize("n", [0, 1, 2, 300, 5000, 70_000])
@pytest.mark.parametrize("shape", ["box", "ball"])
def test_the_same_array_twice_is_points_with_a_margin(n, shape, dim, dtype):
    """Whole numbers with a margin of one half: most pairs touch exactly. Found from the points, without boxes around them."""
    points = np.random.default_rng(n).integers(0, max(4, round((4 * n) ** (1 / dim))), (n, dim)).astype(dtype)
    boxes = np.hstack([points - 0.5, points + 0.5]).astype(dtype)
    expected = broadphase.pairs(boxes, shape=shape, algorithm="brute-force" if n <= 5000 else "sweep")
    found = broadphase.pairs((points, points), shape=shape, margin=0.5)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(broadphase.pairs((points, points), shape=shape, margin=0.5, workers=2), expected)
    assert same_rows(broadphase.pairs((points, points), shape=shape, margin=0.5, sort=False), expected)
    np.testing.assert_array_equal(broadphase.pairs((points, points.copy()), shape=shape, margin=0.5), expected)
    assert broadphase.count((points, points), shape=shape, margin=0.5) == len(expected)
    assert n < 300 or len(expected) > n / 8


def test_bad_points_are_named(dim, dtype):
    points = np.zeros((70_000, dim), dtype)
    points[4321, 1] = np.nan
    for shape in ("box", "ball"):
        with pytest.raises(broadphase.BoxError) as caught:
            broadphase.pairs((points, points), shape=shape, margin=0.5)
        assert (caught.value.index, caught.value.axis) == (4321, 1)
    wrong = np.zeros((5, 4), dtype)
    with pytest.raises(broadphase.Error, match="boxes"):
        broadphase.pairs((wrong, wrong))
    with pytest.raises(broadphase.Error):
        broadphase.pairs((points[:3], points[:3]), margin=-1.0)
    with pytest.raises(TypeError):
        broadphase.pairs(("a", "a"))


@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 5), (40, 0), (1, 1), (60, 250), (300, 20)])
def test_pairs_between_equal_a_double_loop(n, m, dim, dtype):
    a, b = random_boxes(n, dim, dtype, seed=1), random_boxes(m, dim, dtype, seed=2)
    found = broadphase.pairs_between(a, b)
    assert found.dtype == np.uint32 and found.shape[1:] == (2,)
    np.testing.assert_array_equal(found, naive_between(a, b))
    np.testing.assert_array_equal(np.concatenate(list(broadphase.iter_pairs_between(a, b, chunk=7)) or [found]), found)


def test_pairs_between_float32_and_float64_compares_as_float64():
    tenth = np.float32(0.1)  # above 0.1
    a = np.array([[0, 0, tenth, 1]], dtype=np.float32)
    b = np.array([[0.1, 0, 1, 1]], dtype=np.float64)
    assert len(broadphase.pairs_between(a, b)) == 1
    b[0, 0] = np.nextafter(np.float64(tenth), 1)
    assert len(broadphase.pairs_between(a, b)) == 0


@pytest.mark.parametrize("chunk", [1, 7, 1000, 10**9])
def test_chunks_are_bounded_and_make_up_the_list(chunk, dim):
    boxes = random_boxes(120, dim, np.float32, seed=6)
    pieces = list(broadphase.iter_pairs(boxes, chunk=chunk))
    assert all(0 < len(piece) <= chunk for piece in pieces)
    np.testing.assert_array_equal(np.concatenate(pieces), naive_pairs(boxes))


def test_chunks_beyond_the_first_four_million_pairs():
    n = 3200  # 5.1 million pairs
    boxes = np.tile(np.float32([0, 0, 1, 1]), (n, 1))
    total, last = 0, (-1, -1)
    for piece in broadphase.iter_pairs(boxes, chunk=500_000):
        assert len(piece) <= 500_000 and tuple(piece[0]) > last
        total, last = total + len(piece), tuple(piece[-1])
    assert total == n * (n - 1) // 2


def test_chunks_of_no_pairs_are_none():
    assert list(broadphase.iter_pairs(np.zeros((0, 4)))) == []
    assert list(broadphase.iter_pairs([[0, 0, 1, 1], [5, 5, 6, 6]])) == []


def test_chunks_see_the_boxes_as_they_were():
    boxes = np.tile([0.0, 0.0, 1.0, 1.0], (50, 1))
    pieces = broadphase.iter_pairs(boxes, chunk=100)
    boxes[:] = np.nan
    assert sum(len(piece) for piece in pieces) == 50 * 49 // 2


def test_infinite_sides_and_zeros_of_both_signs():
    inf = np.inf
    boxes = np.array([[-inf, -inf, inf, -0.0], [3, 0.0, 4, 1], [5, -2, 6, -1], [0, 1, inf, 2]])
    np.testing.assert_array_equal(broadphase.pairs(boxes), naive_pairs(boxes))


def test_results_larger_than_a_thread_of_their_own(dim):
    """Beyond 32,768 boxes the work runs on another thread, with the same result."""
    boxes = random_boxes(40_000, dim, np.float32, seed=8, side=300.0, size=4.0)
    found = broadphase.pairs(boxes)
    np.testing.assert_array_equal(found, broadphase.pairs(boxes, algorithm="sweep"))
    assert broadphase.count(boxes) == len(found)
    bad = boxes.copy()
    bad[12_345, 1] = np.nan
    with pytest.raises(broadphase.BoxError) as caught:
        broadphase.pairs(bad)
    assert (caught.value.index, caught.value.axis) == (12_345, 1)
