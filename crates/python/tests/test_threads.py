"""The interpreter runs on during long calls; Ctrl-C ends them; forks and second threads do no harm."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import broadphase
from conftest import random_boxes


def steps_of_another_thread_during(call):
    """How often another Python thread gets a turn while ``call`` runs.

    With an endless switch interval a thread runs only when another one gives the interpreter up by itself: the other thread does so after
    each step, so every step that is counted was possible because ``call`` had released the interpreter.
    """
    steps, stop, ready = 0, False, threading.Event()

    def other():
        nonlocal steps
        ready.set()
        while not stop:
            steps += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=other)
    thread.start()
    ready.wait()
    sys.setswitchinterval(1e6)
    try:
        before = steps
        call()
        return steps - before
    finally:
        sys.setswitchinterval(interval)
        stop = True
        thread.join()


def crowd(n=2500):
    """Boxes that all overlap: a long call over few objects."""
    return np.tile(np.float32([0, 0, 0, 1, 1, 1]), (n, 1))


def test_the_counter_sees_a_call_that_keeps_the_interpreter():
    numbers = list(range(300_000))
    assert all(steps_of_another_thread_during(lambda: sorted(numbers)) == 0 for _ in range(20))


def test_long_calls_release_the_interpreter():
    boxes, large = crowd(), random_boxes(60_000, 3, np.float32, side=300.0, size=3.0)
    points = np.random.default_rng(1).random((20_000, 3))
    world = broadphase.World()
    world.insert(crowd(1500))
    queries = broadphase.World()
    queries.insert(crowd(1500))
    triangles = np.arange(3000).reshape(-1, 3)
    vertices = np.random.default_rng(2).random((3000, 3))
    calls = {
        "pairs": lambda: broadphase.pairs(boxes),
        "pairs of many": lambda: broadphase.pairs(large),
        "pairs_between": lambda: broadphase.pairs_between(boxes, boxes),
        "count": lambda: broadphase.count(boxes),
        "iter_pairs": lambda: list(broadphase.iter_pairs(boxes)),
        "neighbors": lambda: broadphase.neighbors(points, 0.1),
        "mesh_candidates": lambda: broadphase.mesh_candidates(vertices, triangles[:, :2], triangles),
        "update": lambda: world.update(),
        "in_boxes": lambda: queries.in_boxes(boxes[:1000]),
        "snapshot": lambda: world.snapshot(),
    }
    for name, call in calls.items():
        # On a busy machine the other thread may sleep through one call; through many it does not.
        assert any(steps_of_another_thread_during(call) > 0 for _ in range(50)), name


def test_threads_find_the_same_pairs_at_once():
    arrays = [random_boxes(3000, 3, np.float32, seed=seed, side=40.0) for seed in range(4)]
    expected = [broadphase.pairs(boxes) for boxes in arrays]
    wrong = []

    def work(boxes, right, workers):
        for _ in range(20):
            if not np.array_equal(broadphase.pairs(boxes, workers=workers), right):
                wrong.append(1)

    threads = [threading.Thread(target=work, args=(b, e, w)) for b, e in zip(arrays, expected) for w in (1, 2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_one_world_in_two_threads_is_an_error_and_not_undefined():
    world = broadphase.World()
    world.insert(crowd(3000))
    started, seen = threading.Event(), []

    def other():
        started.set()
        while not done:
            try:
                world.pairs()
            except broadphase.BusyError as error:
                seen.append(error)
                return

    done = False
    thread = threading.Thread(target=other)
    thread.start()
    started.wait()
    try:
        for _ in range(20):
            try:
                world.update()
                handles = world.handles()
                world.set_boxes(handles, world.boxes(handles) + 1)
            except broadphase.BusyError as error:
                seen.append(error)
            if seen:
                break
    finally:
        done = True
        thread.join()
    assert seen and seen[0].code == "busy" and isinstance(seen[0], RuntimeError)
    assert world.update().count == 3000 * 2999 // 2  # and it goes on


LONG = {
    # Each takes a second or so, and is repeated until it is interrupted.
    "pairs": "broadphase.pairs(boxes, sort=False)",
    "count": "broadphase.count(boxes)",
    "neighbors": "broadphase.neighbors(boxes[:, :3], 0.04)",
    "mesh_candidates": "broadphase.mesh_candidates(boxes[:, :3], triangles[:, :2], triangles)",
    "in_boxes": "world.in_boxes(boxes)",
}


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_interrupts(name):
    program = f"""
import numpy, broadphase, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
boxes = numpy.random.default_rng(1).random((400_000, 6), dtype=numpy.float32)
boxes[:, 3:] = boxes[:, :3] + 0.05
world = broadphase.World()
world.insert(boxes[:100_000])
world.in_boxes(boxes[:1])
triangles = numpy.random.default_rng(2).integers(0, 400_000, (20_000, 3))
print("ready", flush=True)
try:
    while True:
        {LONG[name]}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    print(len(broadphase.pairs(boxes[:100])) >= 0, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
        assert out.split() == ["interrupted", "True"], out
    finally:
        process.kill()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_has_threads_of_its_own():
    program = """
import numpy, os, sys, broadphase
boxes = numpy.random.default_rng(1).random((50_000, 6), dtype=numpy.float32)
boxes[:, 3:] = boxes[:, :3] + 0.01
world = broadphase.World(workers=2)
world.insert(boxes)
expected = broadphase.pairs(boxes, workers=2), world.update().count
child = os.fork()
found = broadphase.pairs(boxes, workers=2), broadphase.World.from_snapshot(world.snapshot(), workers=2).update().count
assert (found[0] == expected[0]).all() and found[1] == expected[1]
world.set_boxes(world.handles(), boxes + numpy.float32(1))
assert world.update().count > 0
if child:
    assert os.waitpid(child, 0)[1] == 0
    print("both")
else:
    os._exit(0)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "both\n", done.stderr
