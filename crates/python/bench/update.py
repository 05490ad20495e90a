"""What ``World.update`` costs from Python: the frames of ``crates/capi/examples/update.rs``, which calls the library from Rust.

``update.py N FRAMES`` prints the medians of setting all boxes and of updating, in milliseconds, and a sum over all numbers of pairs.
``benchmarks/python-overhead`` runs both.
"""

import sys
import time

import numpy as np

import broadphase

STEPS = 1 << 16


class Random:
    """The generator of the Rust program, many numbers at once: powers of its factor, and sums of them, give the states."""

    def __init__(self):
        factor = np.full(STEPS, 6364136223846793005, np.uint64)
        self.power = np.cumprod(factor)
        before = np.concatenate([[np.uint64(1)], self.power[:-1]])
        self.added = np.cumsum(before) * np.uint64(1442695040888963407)
        self.state = np.uint64(1)

    def uniform(self, count):
        found = []
        for start in range(0, count, STEPS):
            number = min(STEPS, count - start)
            states = self.power[:number] * self.state + self.added[:number]
            self.state = states[-1]
            found.append((states >> np.uint64(40)) / 16777216.0)
        return np.concatenate(found)


def main():
    n, frames = (int(word) for word in sys.argv[1:3])
    random, side = Random(), np.cbrt(n * 8 / 3)
    low = (random.uniform(3 * n).reshape(n, 3) * side).astype(np.float32)
    boxes = np.ascontiguousarray(np.hstack([low, low + np.float32(1)]))
    world = broadphase.World()
    handles = world.insert(boxes)
    world.update()
    set_times, update_times, total = [], [], 0
    for _ in range(frames):
        step = (random.uniform(3 * n).reshape(n, 3) - 0.5).astype(np.float32) * np.float32(0.2)
        boxes[:, :3] += step
        boxes[:, 3:] += step
        start = time.perf_counter()
        world.set_boxes(handles, boxes)
        middle = time.perf_counter()
        found = world.update()
        update_times.append(time.perf_counter() - middle)
        set_times.append(middle - start)
        total += found.count * 3 + len(found.started) * 5 + len(found.ended) * 7
    print(f"{1e3 * np.median(set_times):.4f} {1e3 * np.median(update_times):.4f} {total}")


if __name__ == "__main__":
    main()
