"""Random arguments of every type: a result, a ``TypeError`` or a ``broadphase.Error``; never a crash."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import broadphase
from conftest import naive_pairs

RELAXED = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
ALLOWED = (TypeError, broadphase.Error, OverflowError)

numbers = st.one_of(st.integers(), st.floats(), st.sampled_from([0, 1, -1, 2**31, 2**63, 2**64 - 1, 1e300, float("nan")]))
arrays = hnp.arrays(
    dtype=st.one_of(hnp.floating_dtypes(), hnp.integer_dtypes(), hnp.boolean_dtypes(), hnp.complex_number_dtypes(), hnp.unicode_string_dtypes()),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=7),
)
tables = hnp.arrays(
    dtype=st.sampled_from([np.float32, np.float64, ">f4", np.float16, np.int64, np.uint8]),
    shape=st.tuples(st.integers(0, 12), st.sampled_from([1, 2, 3, 4, 6])),
)
anything = st.one_of(
    arrays, tables, tables, tables, st.tuples(tables, tables), st.none(), st.text(max_size=3), numbers, st.lists(numbers, max_size=6),
    st.lists(st.lists(numbers, min_size=4, max_size=4), max_size=4),
)
words = st.one_of(st.sampled_from(["auto", "box", "ball", "kd-tree", "tiles", "static", "float32"]), st.text(max_size=4), st.none(), numbers)


def attempt(call, *arguments, **options):
    try:
        return call(*arguments, **options)
    except ALLOWED:
        return None


@RELAXED
@given(anything, anything, words, words, numbers, st.one_of(st.integers(-3, 3), numbers))
def test_boxes(a, b, algorithm, shape, margin, workers):
    options = {"algorithm": algorithm, "shape": shape, "margin": margin, "workers": workers}
    for call in (broadphase.pairs, broadphase.count):
        attempt(call, a)
        attempt(call, a, margin=margin)
        attempt(call, a, algorithm=algorithm, shape=shape)
        attempt(call, a, **options)
    attempt(broadphase.pairs_between, a, b)
    attempt(broadphase.pairs_between, a, b, **options)
    pieces = attempt(broadphase.iter_pairs, a, chunk=workers)
    if pieces is not None:
        attempt(list, pieces)


@RELAXED
@given(anything, numbers, anything, st.booleans())
def test_points(points, radius, boxsize, flag):
    attempt(broadphase.neighbors, points, radius, half=flag)
    attempt(broadphase.neighbors, points, radius, boxsize=boxsize)
    attempt(broadphase.neighbor_pairs, points, radius, distances=flag)


@RELAXED
@given(anything, anything, anything, anything, numbers)
def test_meshes(vertices, edges, faces, following, inflation):
    attempt(broadphase.mesh_candidates, vertices, edges, faces)
    attempt(broadphase.mesh_candidates, vertices, edges, faces, vertices_next=following, inflation=inflation)


@RELAXED
@given(st.data())
def test_worlds(data):
    world = attempt(
        broadphase.World,
        data.draw(st.sampled_from([2, 3, 3, 4])),
        data.draw(st.sampled_from(["float32", "float64", np.float32, float, "int8"])),
    )
    if world is None:
        return
    handles = np.zeros(0, np.uint64)
    for _ in range(data.draw(st.integers(1, 6))):
        action = data.draw(st.sampled_from(["insert", "remove", "set_boxes", "update", "ask", "store"]))
        some = st.one_of(st.just(handles), st.just(handles[::2]), anything)
        if action == "insert":
            names = ("kind", "layers", "masks", "groups", "user", "envs", "margins")
            options = data.draw(st.dictionaries(st.sampled_from(names), st.one_of(words, anything), max_size=2))
            found = attempt(world.insert, data.draw(anything), **options)
            handles = handles if found is None else np.concatenate([handles, found])
        elif action == "remove":
            attempt(world.remove, data.draw(some))
        elif action == "set_boxes":
            attempt(world.set_boxes, data.draw(some), data.draw(anything))
        elif action == "update":
            attempt(world.update)
            attempt(world.pairs)
        elif action == "ask":
            attempt(world.in_boxes, data.draw(anything))
            attempt(world.in_balls, data.draw(anything), data.draw(anything))
            attempt(world.cast_rays, data.draw(anything), data.draw(anything), length=data.draw(anything), all=data.draw(st.booleans()))
            attempt(world.cast_boxes, data.draw(anything), data.draw(anything))
            attempt(world.nearest, data.draw(anything), data.draw(st.one_of(st.integers(-2, 9), numbers)))
        else:
            world = broadphase.World.from_snapshot(world.snapshot())


@RELAXED
@given(hnp.arrays(np.float32, st.tuples(st.integers(0, 40), st.sampled_from([4, 6])), elements=st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, np.inf, -np.inf])))
def test_every_valid_list_equals_a_double_loop(boxes):
    dim = boxes.shape[1] // 2
    lo, hi = np.minimum(boxes[:, :dim], boxes[:, dim:]), np.maximum(boxes[:, :dim], boxes[:, dim:])
    valid = np.ascontiguousarray(np.hstack([lo, hi]))
    np.testing.assert_array_equal(broadphase.pairs(valid), naive_pairs(valid))


@RELAXED
@given(st.binary(max_size=200))
def test_snapshots(data):
    attempt(broadphase.World.from_snapshot, data)
    attempt(broadphase.World.from_snapshot, b"bpworld\x01\x03\x04" + data)
