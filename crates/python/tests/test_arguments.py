"""What arrays may look like, what is copied, and what is refused with which words."""

import pickle
import sys

import numpy as np
import pytest

import broadphase
from broadphase import _broadphase
from conftest import naive_pairs, random_boxes

ADDRESS = _broadphase._address


def address(array):
    return array.__array_interface__["data"][0]


# --- no copy -----------------------------------------------------------------------------------------------------------------------------


def test_a_c_contiguous_array_is_read_where_it_is(dim, dtype):
    boxes = random_boxes(50, dim, dtype)
    assert ADDRESS(boxes) == address(boxes)
    boxes.flags.writeable = False
    assert ADDRESS(boxes) == address(boxes)
    assert ADDRESS(boxes[10:]) == address(boxes) + 10 * boxes.strides[0]


def test_array_likes_with_such_memory_are_read_where_they_are(tmp_path):
    boxes = random_boxes(50, 3, np.float32)
    np.save(tmp_path / "boxes.npy", boxes)
    mapped = np.load(tmp_path / "boxes.npy", mmap_mode="r")
    assert isinstance(mapped, np.memmap) and ADDRESS(mapped) == address(mapped)

    class ArrayLike:
        def __array__(self, dtype=None, copy=None):
            return boxes

    class DLPack:
        def __dlpack__(self, **options):
            return boxes.__dlpack__(**options)

        def __dlpack_device__(self):
            return boxes.__dlpack_device__()

    for value in (ArrayLike(), DLPack()):
        assert ADDRESS(value) == address(boxes)
        np.testing.assert_array_equal(broadphase.pairs(value), naive_pairs(boxes))


def test_the_result_is_the_librarys_memory():
    found = broadphase.pairs(random_boxes(300, 3))
    assert not found.flags.owndata and found.base is not None and type(found.base).__name__ == "PySliceContainer"
    assert found.flags.c_contiguous and found.flags.writeable
    found += 1  # it is the caller's now


# --- converted -----------------------------------------------------------------------------------------------------------------------------


def views(boxes):
    n, width = boxes.shape
    wide = np.zeros((2 * n, width + 2), boxes.dtype)
    wide[::2, 1:-1] = boxes
    raw = bytearray(boxes.nbytes + 1)
    shifted = np.frombuffer(raw, np.uint8)[1:].view(boxes.dtype).reshape(boxes.shape)
    shifted[:] = boxes
    yield "fortran", np.asfortranarray(boxes)
    yield "strided", wide[::2, 1:-1]
    yield "reversed", np.ascontiguousarray(boxes[::-1])[::-1]
    yield "transposed", np.ascontiguousarray(boxes.T).T
    yield "big-endian", boxes.astype(boxes.dtype.newbyteorder(">"))
    yield "little-endian", boxes.astype(boxes.dtype.newbyteorder("<"))
    yield "unaligned", shifted
    yield "list", boxes.tolist()
    yield "rows", [row for row in boxes]


def test_any_layout_gives_the_same_pairs(dim, dtype):
    boxes = random_boxes(80, dim, dtype)
    expected = naive_pairs(boxes)
    for name, view in views(boxes):
        np.testing.assert_array_equal(broadphase.pairs(view), expected, err_msg=name)
        np.testing.assert_array_equal(broadphase.pairs((np.asarray(view)[:, :dim], np.asarray(view)[:, dim:])), expected, err_msg=name)


@pytest.mark.parametrize("small", [np.float16, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, ">i8", ">f2"])
def test_small_numbers_are_widened_exactly(small, dim):
    boxes = (random_boxes(80, dim) * 4).round()
    np.testing.assert_array_equal(broadphase.pairs(boxes.astype(small)), naive_pairs(boxes))


def test_integers_that_float64_cannot_hold_are_refused():
    with pytest.raises(broadphase.ArgumentError, match="boxes: integers beyond 2\\*\\*53"):
        broadphase.pairs(np.array([[0, 0, 2**53 + 1, 1]]))
    assert len(broadphase.pairs(np.array([[0, 0, 2**53, 1], [2**53, 0, 2**53, 1]]))) == 1


def test_corners_of_two_types_are_compared_as_float64():
    lo = np.zeros((2, 2), np.float32)
    hi = np.array([[0.1, 1], [1, 1]])
    assert len(broadphase.pairs((lo, hi))) == 1
    lo[1, 0] = np.float32(0.1)  # above the 0.1 of float64
    assert len(broadphase.pairs((lo, hi))) == 0
    assert len(broadphase.pairs((lo, hi.astype(np.float32)))) == 1


def test_torch_tensors_are_read_where_they_are():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    boxes = torch.from_numpy(random_boxes(50, 3, np.float32))
    assert ADDRESS(boxes) == boxes.data_ptr()


# --- refused -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        None,
        "boxes",
        b"boxes",
        object(),
        {"a": 1},
        {1, 2},
        [["a", "b", "c", "d"]],
        [[1, 2], [3]],
        np.zeros((3, 4), bool),
        np.zeros((3, 4), complex),
        np.zeros((3, 4), np.longdouble),
        np.zeros((3, 4), object),
        np.zeros((3, 4), "datetime64[s]"),
        np.ma.masked_array(np.zeros((3, 4))),
        [None],
        lambda: 0,
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("call", [broadphase.pairs, broadphase.count, broadphase.iter_pairs, broadphase.World().insert])
def test_what_is_no_array_of_numbers_is_a_type_error(value, call):
    with pytest.raises(TypeError, match=r"boxes: expected float32 or float64 numbers of shape \(n, 4\) or \(n, 6\)"):
        call(value)


def test_an_object_whose_conversion_fails_is_a_type_error():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("on another device")

    with pytest.raises(TypeError, match="boxes: .*Broken.*on another device"):
        broadphase.pairs(Broken())


@pytest.mark.parametrize("shape", [(), (0,), (6,), (3, 5), (3, 0), (0, 0), (2, 3, 4), (3, 2), (1, 8)])
def test_a_wrong_shape_names_argument_shape_and_what_came(shape):
    text = str(shape).replace("(", r"\(").replace(")", r"\)")
    for name, call in [
        ("boxes", lambda x: broadphase.pairs(x)),
        ("a", lambda x: broadphase.pairs_between(x, np.zeros((1, 4)))),
        ("b", lambda x: broadphase.pairs_between(np.zeros((1, 4)), x)),
    ]:
        with pytest.raises(broadphase.ArgumentError, match=rf"{name}: expected an array of shape \(n, 4\) or \(n, 6\).*got shape {text}") as caught:
            call(np.zeros(shape))
        assert (caught.value.code, caught.value.argument) == ("wrong-shape", name)


def test_corners_must_fit_each_other():
    for corners in [(np.zeros((3, 2)), np.zeros((4, 2))), (np.zeros((3, 2)), np.zeros((3, 3))), (np.zeros((3, 4)), np.zeros((3, 4)))]:
        with pytest.raises(broadphase.ArgumentError, match="boxes: expected an array of shape"):
            broadphase.pairs(corners)
    for corners in [(), (np.zeros((3, 2)),), (np.zeros((3, 2)),) * 3]:
        with pytest.raises(broadphase.ArgumentError, match="boxes"):
            broadphase.pairs(corners)
    with pytest.raises(broadphase.ArgumentError, match="b: .*same dimension"):
        broadphase.pairs_between(np.zeros((3, 4)), np.zeros((3, 6)))


@pytest.mark.parametrize("fault", [np.nan, "swap"])
def test_a_bad_box_is_named_by_index_and_axis(fault, dim, dtype):
    boxes = random_boxes(20, dim, dtype) + np.repeat([0, 1], dim).astype(dtype)
    axis = dim - 1
    if fault == "swap":
        boxes[7, axis], boxes[7, axis + dim] = boxes[7, axis + dim], boxes[7, axis]
    else:
        boxes[7, axis + dim] = fault
    for value in (boxes, (boxes[:, :dim], boxes[:, dim:]), boxes.tolist()):
        with pytest.raises(broadphase.BoxError) as caught:
            broadphase.pairs(value)
        assert (caught.value.code, caught.value.index, caught.value.axis) == ("invalid-box", 7, axis)
        assert "object 7" in str(caught.value) and "xyz"[axis] in str(caught.value)
    with pytest.raises(broadphase.BoxError) as caught:
        broadphase.pairs_between(boxes[:5], boxes)
    assert (caught.value.argument, caught.value.index, caught.value.axis) == ("b", 7, axis)


def test_options_are_checked():
    boxes = np.zeros((3, 4))
    for options, error, text in [
        ({"algorithm": "kd-tre"}, broadphase.AlgorithmError, "did you mean 'kd-tree'"),
        ({"algorithm": "kd-tree:q=1"}, broadphase.AlgorithmError, "q"),
        ({"algorithm": "kd-tree:t=x"}, broadphase.AlgorithmError, "t"),
        ({"algorithm": 7}, TypeError, "algorithm"),
        ({"shape": "cube"}, broadphase.ArgumentError, "shape: expected 'box' or 'ball', got 'cube'"),
        ({"margin": -1.0}, broadphase.ArgumentError, "margin"),
        ({"margin": np.nan}, broadphase.ArgumentError, "margin"),
        ({"margin": "wide"}, TypeError, "margin"),
        ({"workers": 0}, broadphase.ArgumentError, "workers: expected 1 or more, or -1"),
        ({"workers": -2}, broadphase.ArgumentError, "workers"),
        ({"workers": 1.5}, TypeError, "workers"),
        ({"workers": 10**6}, broadphase.LimitError, "threads"),
        ({"sort": "no"}, TypeError, "sort"),
        ({"unknown": 1}, TypeError, "unknown"),
    ]:
        # Before Python 3.11 an exception has no notes, in which the name of an argument of a wrong type is.
        named = sys.version_info >= (3, 11) or error is not TypeError
        with pytest.raises(error, match=text if named else None):
            broadphase.pairs(boxes, **options)
    with pytest.raises(broadphase.ArgumentError, match="chunk: expected 1 or more, got 0"):
        broadphase.iter_pairs(boxes, chunk=0)


def test_errors_are_a_hierarchy_and_can_be_pickled():
    classes = [getattr(broadphase, name) for name in broadphase.__all__ if name.endswith("Error")]
    assert len(classes) == 11
    for cls in classes:
        assert issubclass(cls, broadphase.Error) and issubclass(cls, ValueError)
    assert issubclass(broadphase.OutOfMemoryError, MemoryError) and issubclass(broadphase.BusyError, RuntimeError)
    with pytest.raises(broadphase.BoxError) as caught:
        broadphase.pairs([[0, 0, 1, np.nan]])
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is broadphase.BoxError and vars(again) == vars(caught.value) and str(again) == str(caught.value)


def test_every_code_of_the_library_has_its_class():
    from broadphase import _errors

    assert type(_errors.make("stale-handle", "")) is broadphase.HandleError
    assert type(_errors.make("a-code-of-the-future", "")) is broadphase.ArgumentError
