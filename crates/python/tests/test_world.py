"""``World`` against a naive model: a dictionary of boxes and a double loop."""

import copy
import pickle

import numpy as np
import pytest

import broadphase
from conftest import naive_pairs, overlaps, random_boxes, same_rows

NO = broadphase.NO_HANDLE


@pytest.fixture
def world(dim, dtype):
    return broadphase.World(dim=dim, dtype=np.dtype(dtype).name)


class Model:
    """Handles and boxes, and the set of pairs of the last update."""

    def __init__(self):
        self.boxes, self.last = {}, set()

    def update(self):
        handles = np.array(sorted(self.boxes), dtype=np.uint64)
        boxes = np.array([self.boxes[h] for h in handles.tolist()])
        now = {tuple(handles[pair].tolist()) for pair in naive_pairs(boxes)} if len(handles) > 1 else set()
        started, ended, self.last = now - self.last, self.last - now, now
        return now, started, ended


def as_set(array):
    return {tuple(row) for row in array.tolist()}


def test_a_world_follows_its_model(world, dim, dtype):
    rng = np.random.default_rng(7)
    model = Model()
    for frame in range(25):
        new = random_boxes(int(rng.integers(0, 30)), dim, dtype, seed=100 + frame)
        for handle, box in zip(world.insert(new).tolist(), new):
            model.boxes[handle] = box
        handles = np.array(list(model.boxes), dtype=np.uint64)
        gone = rng.choice(handles, min(len(handles) // 4, 20), replace=False)
        world.remove(gone)
        for handle in gone.tolist():
            del model.boxes[handle]
        moved = np.array([h for h in model.boxes if rng.random() < 0.5], dtype=np.uint64)
        boxes = random_boxes(len(moved), dim, dtype, seed=200 + frame)
        world.set_boxes(moved, boxes)
        model.boxes.update(zip(moved.tolist(), boxes))
        update = world.update()
        now, started, ended = model.update()
        assert as_set(update.started) == started and as_set(update.ended) == ended
        assert update.count == len(now) == world.count == len(update)
        listed = world.pairs()
        assert as_set(listed) == now and listed.dtype == np.uint64
        assert (np.lexsort(listed.T[::-1]) == np.arange(len(listed))).all()
        assert same_rows(world.pairs(sort=False), listed)
        assert len(world) == len(model.boxes)
        order = world.handles()
        np.testing.assert_array_equal(world.boxes(order), np.array([model.boxes[h] for h in order.tolist()]).reshape(-1, 2 * dim))


def test_kinds_layers_masks_groups_and_environments(world, dim):
    box = [0.0] * dim + [1.0] * dim

    def count(**options):
        fresh = broadphase.World(dim=dim)
        fresh.insert([box, box, box], **options)
        return fresh.update().count

    assert count() == 3
    assert count(kind="static") == 0 and count(kind="kinematic") == 0
    assert count(kind=["dynamic", "static", "static"]) == 2
    assert count(layers=[1, 2, 1], masks=[2, 1, 1]) == 1
    assert count(groups=[5, 5, 0]) == 2 and count(groups=5) == 0
    assert count(envs=[1, 2, 0]) == 2
    assert count(margins=[0.0, 1.0, 0.5]) == 3


def test_margins_reach_farther():
    world = broadphase.World(dim=2)
    world.insert([[0, 0, 1, 1], [2, 0, 3, 1]], margins=[0.0, 1.0])
    assert world.update().count == 1


def test_user_numbers_come_back_with_events_also_of_removed_objects():
    world = broadphase.World(dim=2)
    a, b = world.insert([[0, 0, 1, 1], [1, 0, 2, 1]], user=[2**64 - 1, 7])
    update = world.update()
    np.testing.assert_array_equal(update.started_user, np.array([[2**64 - 1, 7]], dtype=np.uint64))
    np.testing.assert_array_equal(world.user([b, a]), np.array([7, 2**64 - 1], dtype=np.uint64))
    world.remove([b])
    ended = world.update()
    np.testing.assert_array_equal(ended.ended, [[a, b]])
    np.testing.assert_array_equal(ended.ended_user, np.array([[2**64 - 1, 7]], dtype=np.uint64))
    assert update.started_user.tolist() == [[2**64 - 1, 7]]  # kept updates stay as they were


def rows(result):
    offsets, found = result
    return [set(found[offsets[i] : offsets[i + 1]].tolist()) for i in range(len(offsets) - 1)]


def filled(world, dim, dtype, n=200):
    boxes = random_boxes(n, dim, dtype, seed=11)
    handles = world.insert(boxes, kind=["static" if i % 3 == 0 else "dynamic" for i in range(n)], layers=[1 + i % 2 for i in range(n)])
    return boxes, handles


def test_regions_equal_a_scan(world, dim, dtype):
    boxes, handles = filled(world, dim, dtype)
    areas = random_boxes(60, dim, dtype, seed=12, size=4.0)
    inside = overlaps(areas, boxes)
    assert rows(world.in_boxes(areas)) == [set(handles[row].tolist()) for row in inside]
    odd = inside & (np.arange(len(boxes)) % 2 == 1)
    assert rows(world.in_boxes(areas, layers=2)) == [set(handles[row].tolist()) for row in odd]
    centers, radii = areas[:, :dim].copy(), np.linspace(0.25, 2, 60).astype(np.float16).astype(dtype)
    gap = np.maximum(np.maximum(boxes[None, :, :dim] - centers[:, None], centers[:, None] - boxes[None, :, dim:]), 0)
    inside = (gap.astype(float) ** 2).sum(axis=2) <= radii[:, None].astype(float) ** 2
    assert rows(world.in_balls(centers, radii)) == [set(handles[row].tolist()) for row in inside]


def test_the_nearest_equal_a_scan(world, dim, dtype):
    boxes, handles = filled(world, dim, dtype)
    points = np.random.default_rng(13).random((50, dim)).astype(dtype) * 12 - 1
    gap = np.maximum(np.maximum(boxes[None, :, :dim] - points[:, None], points[:, None] - boxes[None, :, dim:]), 0)
    distance = np.sqrt((gap.astype(float) ** 2).sum(axis=2))
    found, distances = world.nearest(points, 3)
    assert found.shape == distances.shape == (50, 3) and distances.dtype == dtype
    np.testing.assert_allclose(distances, np.sort(distance, axis=1)[:, :3], rtol=1e-5)
    position = {h: i for i, h in enumerate(handles.tolist())}
    chosen = np.array([[position[h] for h in row] for row in found.tolist()])
    np.testing.assert_allclose(np.take_along_axis(distance, chosen, 1), distances, rtol=1e-5, atol=1e-6)
    found, distances = world.nearest(points, 500, max_distance=0.5)
    assert ((distances <= 0.5) == (found != NO)).all() and (distances[found == NO] == np.inf).all()


def test_rays_and_moving_boxes_equal_a_scan(world, dim, dtype):
    boxes, handles = filled(world, dim, dtype)
    rng = np.random.default_rng(14)
    origins = rng.integers(-8, 96, (80, dim)).astype(dtype) / 8
    directions = rng.choice([-1.0, 0.5, 1.0, 2.0], (80, dim)).astype(dtype)
    with np.errstate(all="ignore"):
        a, b = (boxes[None, :, :dim] - origins[:, None]) / directions[:, None], (boxes[None, :, dim:] - origins[:, None]) / directions[:, None]
    near, far = np.minimum(a, b).max(axis=2).clip(0), np.maximum(a, b).min(axis=2)
    at = np.where(near <= np.minimum(far, 5.0), near, np.inf)
    found, times = world.cast_rays(origins, directions, length=5.0)
    np.testing.assert_array_equal(times, at.min(axis=1))
    assert ((found == NO) == np.isinf(times)).all()
    hits = found != NO
    position = {h: i for i, h in enumerate(handles.tolist())}
    assert all(at[i, position[found[i].item()]] == times[i] for i in np.flatnonzero(hits))
    offsets, listed, every = world.cast_rays(origins, directions, length=5.0, all=True)
    assert rows((offsets, listed)) == [set(handles[np.isfinite(row)].tolist()) for row in at]
    np.testing.assert_array_equal(np.sort(every), np.sort(at[np.isfinite(at)]))
    points = np.hstack([origins, origins])
    found_boxes, fractions = world.cast_boxes(points, directions * 5)
    np.testing.assert_array_equal(found_boxes, found)
    np.testing.assert_allclose(fractions * 5, times, rtol=1e-5)


def test_queries_see_changes_before_an_update():
    world = broadphase.World(dim=2)
    (handle,) = world.insert([[0, 0, 1, 1]])
    assert rows(world.in_boxes([[0, 0, 1, 1]])) == [{handle}]
    world.set_boxes(handle, [[5, 5, 6, 6]])
    assert rows(world.in_boxes([[0, 0, 1, 1], [6, 6, 7, 7]])) == [set(), {handle}]


def test_bad_questions_are_named_by_their_index(world, dim):
    world.insert([[0.0] * dim + [1.0] * dim])
    good, bad = [1.0] * dim, [np.nan] * dim
    for call in (
        lambda: world.in_boxes([good + good, good + good, bad + good]),
        lambda: world.in_balls([good, good, bad], 1.0),
        lambda: world.in_balls([good, good, good], [1.0, 0.0, -1.0]),
        lambda: world.cast_rays([good] * 3, [good, good, [0.0] * dim]),
        lambda: world.cast_rays([good] * 3, [good] * 3, length=[1.0, 1.0, -1.0]),
        lambda: world.cast_boxes([good + good] * 3, [good, good, bad]),
        lambda: world.nearest([good, good, bad]),
    ):
        with pytest.raises(broadphase.ArgumentError) as caught:
            call()
        assert (caught.value.code, caught.value.index) == ("invalid-query", 2)


def test_errors_leave_the_world_as_it_was(world, dim):
    good = [0.0] * dim + [1.0] * dim
    handles = world.insert([good, good])
    bad = [0.0] * dim + [np.nan] * dim
    with pytest.raises(broadphase.BoxError) as caught:
        world.insert([good, bad])
    assert caught.value.index == 1 and len(world) == 2
    for order in (handles, handles[::-1]):
        with pytest.raises(broadphase.BoxError) as caught:
            world.set_boxes(order, [good, bad])
        assert (caught.value.index, caught.value.axis) == (1, 0)
    assert world.update().count == 1
    world.remove(handles[0])
    for call in (
        lambda: world.remove(handles),
        lambda: world.set_boxes(handles, [good, good]),
        lambda: world.boxes(handles),
        lambda: world.user(handles),
        lambda: broadphase.World(dim=dim).remove(handles[1]),
        lambda: world.remove([handles[1], handles[1]]),
    ):
        with pytest.raises(broadphase.HandleError) as caught:
            call()
        assert caught.value.code == "stale-handle"
    assert handles[1] in world and handles[0] not in world and len(world) == 1
    other = 5 - dim
    with pytest.raises(broadphase.ArgumentError, match=rf"boxes: expected an array of shape \(n, {2 * dim}\).*dimension {dim}"):
        world.insert([[0.0] * (2 * other)])
    with pytest.raises(broadphase.ArgumentError, match="boxes"):
        world.set_boxes(handles[1:], [good, good])
    for options in ({"layers": [1, 2, 3]}, {"layers": -1}, {"layers": 2**32}, {"kind": "solid"}, {"user": [[1]]}, {"margins": -1.0}):
        with pytest.raises(broadphase.ArgumentError, match=next(iter(options))[:5]):
            world.insert([good], **options)
    for options in ({"layers": 1.5}, {"kind": 3}, {"groups": "a"}, {"margins": "b"}):
        with pytest.raises(TypeError, match=next(iter(options))):
            world.insert([good], **options)
    for call in (lambda: broadphase.World(dim=4), lambda: broadphase.World(dtype="float16"), lambda: broadphase.World(dtype="no")):
        with pytest.raises(broadphase.ArgumentError, match="expected"):
            call()
    for k in (0, -1, 10**9):
        with pytest.raises(broadphase.ArgumentError, match="k"):
            world.nearest([[0.0] * dim], k)


def test_a_restored_world_goes_on_as_the_other_does(world, dim, dtype):
    boxes = random_boxes(150, dim, dtype, seed=21)
    handles = world.insert(boxes, user=np.arange(150), kind=["static" if i % 5 == 0 else "dynamic" for i in range(150)])
    world.update()
    again = broadphase.World.from_snapshot(world.snapshot(), workers=2)
    unpickled = pickle.loads(pickle.dumps(world))
    worlds = [world, again, unpickled, copy.copy(world), copy.deepcopy(world), world.copy()]
    moved = random_boxes(150, dim, dtype, seed=22)
    updates = []
    for each in worlds:
        each.set_boxes(handles, moved)
        each.remove(handles[:10])
        updates.append((each.update(), each.pairs(sort=False)))
    for update, pairs in updates[1:3]:
        np.testing.assert_array_equal(pairs, updates[0][1])
    for update, pairs in updates[1:]:
        np.testing.assert_array_equal(update.started, updates[0][0].started)
        np.testing.assert_array_equal(update.ended, updates[0][0].ended)
        assert same_rows(pairs, updates[0][1])
    assert repr(unpickled) == repr(world)


def test_broken_snapshots_are_refused(world):
    world.insert(random_boxes(10, world.dim, world.dtype))
    world.update()
    data = world.snapshot()
    for broken in [b"", b"bpworld", data[:9], data[:10], data[:-1], data + b"x", b"x" + data, data[:8] + bytes([4, 4]) + data[10:]]:
        with pytest.raises(broadphase.SnapshotError):
            broadphase.World.from_snapshot(broken)
    rng = np.random.default_rng(3)
    for _ in range(300):  # any byte changed: refused, or a world that works
        changed = bytearray(data)
        changed[rng.integers(len(changed))] = rng.integers(256)
        try:
            broadphase.World.from_snapshot(bytes(changed)).update()
        except broadphase.Error:
            pass
    with pytest.raises(TypeError):
        broadphase.World.from_snapshot("text")


def test_stats_and_representation():
    world = broadphase.World(dim=2, dtype="float64", workers=2)
    assert repr(world) == "<broadphase.World dim=2 dtype=float64 algorithm=auto workers=2: 0 objects, 0 pairs>"
    assert (world.dim, world.dtype, len(world), bool(world)) == (2, "float64", 0, True)
    world.insert([[0, 0, 1, 1]] * 3)
    world.insert([[0, 0, 1, 1]], kind="static")
    assert repr(world.update()) == "Update(count=6, started=6, ended=0)"
    stats = world.stats()
    assert (stats["dynamic"], stats["static"], stats["kinematic"], stats["pairs"]) == (3, 1, 0, 6)
    assert stats["bytes"] > 0 and stats["algorithm"] == "auto" and "brute-force" in stats["choice"]


@pytest.mark.parametrize("workers", [1, -1])
def test_ten_thousand_updates_do_not_grow(workers):
    world = broadphase.World(dim=3, workers=workers)
    boxes = random_boxes(300, 3, np.float32, seed=31)
    handles = world.insert(boxes)

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    sizes = []
    for frame in range(10_000):
        boxes[:, [0, 3]] += np.float32(0.01) * (1 if frame % 200 < 100 else -1)
        world.set_boxes(handles, boxes)
        update = world.update()
        update.started, update.ended
        if frame % 50 == 0:
            world.remove(handles[:30])
            handles = np.concatenate([handles[30:], world.insert(boxes[:30])])
            boxes = np.roll(boxes, -30, axis=0)
        if frame in (2_000, 9_999):
            sizes.append((world.stats()["bytes"], resident()))
    assert sizes[1][0] <= 1.5 * sizes[0][0], sizes
    assert sizes[1][1] <= sizes[0][1] + 4_000_000, sizes
