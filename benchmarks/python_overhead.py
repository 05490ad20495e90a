"""The frames of crates/capi/examples/update.rs through `broadphase.World`: see benchmarks/python-overhead."""

import statistics
import subprocess
import sys
import time

import broadphase
import numpy as np


class Random:
    """The generator of update.rs, many numbers at once: the state after i steps is power[i] * state + sum[i]."""

    def __init__(self, most: int) -> None:
        with np.errstate(over="ignore"):
            self.power = np.cumprod(np.full(most, 6364136223846793005, dtype=np.uint64))
            before = np.concatenate([np.ones(1, dtype=np.uint64), self.power[:-1]])
            self.sum = np.cumsum(before) * np.uint64(1442695040888963407)
        self.state = np.uint64(1)

    def uniform(self, rows: int) -> "np.ndarray":
        count = 3 * rows
        with np.errstate(over="ignore"):
            states = self.power[:count] * self.state + self.sum[:count]
        self.state = states[-1]
        return ((states >> np.uint64(40)).astype(np.float64) / 16777216.0).reshape(rows, 3)


def run(n: int, frames: int) -> tuple[float, float, float, int]:
    """The medians, in milliseconds, of setting all boxes, of updating, and of updating with the arrays of events; and a sum over all pairs."""
    random = Random(3 * n)
    low = (random.uniform(n) * np.cbrt(n * 8.0 / 3.0)).astype(np.float32)
    boxes = np.concatenate([low, low + np.float32(1.0)], axis=1)
    world = broadphase.World(dim=3, dtype="float32")
    handles = world.insert(boxes)
    world.update()
    times: list[tuple[float, float, float]] = []
    total = 0
    for _ in range(frames):
        step = (random.uniform(n) - 0.5).astype(np.float32) * np.float32(0.2)
        boxes[:, :3] += step
        boxes[:, 3:] += step
        start = time.perf_counter()
        world.set_boxes(handles, boxes)
        middle = time.perf_counter()
        found = world.update()
        end = time.perf_counter()
        started, ended = found.started, found.ended
        read = time.perf_counter()
        times.append((middle - start, end - middle, read - middle))
        total += 3 * found.count + 5 * len(started) + 7 * len(ended)
    set_boxes, update, with_events = (1e3 * sorted(row[k] for row in times)[frames // 2] for k in range(3))
    return set_boxes, update, with_events, total


def main() -> None:
    program, n, frames, turns = sys.argv[1], *map(int, sys.argv[2:])
    python, rust = [], []
    for _ in range(turns):
        python.append(run(n, frames))
        words = subprocess.run([program, str(n), str(frames)], check=True, capture_output=True, text=True).stdout.split()
        rust.append((float(words[0]), float(words[1]), float(words[1]), int(words[2])))
    if len({row[3] for row in python + rust}) != 1:
        sys.exit("python-overhead: the two do not find the same pairs")
    print(f"{n} boxes, {frames} frames, in turns; milliseconds, medians and least of the medians")
    for at, what in enumerate(("set boxes", "update", "update, with its arrays of events")):
        (ours, ours_least), (theirs, theirs_least) = ((statistics.median(row[at] for row in rows), min(row[at] for row in rows)) for rows in (python, rust))
        print(f"{what}: Python {ours:.3f} ({ours_least:.3f}), Rust {theirs:.3f} ({theirs_least:.3f}), ratio {ours / theirs:.3f} ({ours_least / theirs_least:.3f})")


main()
