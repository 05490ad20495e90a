"""No copy of what comes in, none of what goes out: by peak memory, each case in a process of its own."""

import subprocess
import sys

import pytest

PEAK = """
import numpy, broadphase
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
n = 2_000_000
boxes = numpy.zeros((n, 6), numpy.float32)
boxes[:, :3] = numpy.arange(n, dtype=numpy.float32)[:, None] % 1000
boxes[:, 0] = numpy.arange(n) // 1000 * 4
boxes[:, 3:] = boxes[:, :3] + 0.25
value = {value}
before = peak()
found = broadphase.count(value)
print(peak() - before, boxes.nbytes)
"""


def grown(program):
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    return [int(word) for word in out.split()]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_contiguous_array_is_not_copied_and_another_one_is():
    borrowed, size = grown(PEAK.format(value="boxes"))
    copied, _ = grown(PEAK.format(value="numpy.asfortranarray(boxes)"))
    assert copied - borrowed > 0.8 * size, (borrowed, copied, size)


OUT = """
import numpy, broadphase, time
def now():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) * 1024
boxes = numpy.zeros((5000, 4), numpy.float32)
broadphase.pairs(boxes[:10])
before = now()
found = broadphase.pairs(boxes)
print(now() - before, found.nbytes)
del found
print(now() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_large_result_is_held_once_and_given_back():
    held, size, left = grown(OUT)
    assert size == 5000 * 4999 // 2 * 8
    assert held < 1.4 * size, (held, size)
    assert left < 0.4 * size, (left, size)


STEADY = """
import numpy, resource, broadphase
boxes = numpy.random.default_rng(1).random((20_000, 6))
boxes[:, 3:] = boxes[:, :3] + 0.02
for _ in range(20):
    broadphase.pairs(boxes)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    broadphase.pairs(boxes)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // 20, boxes.nbytes // 4096)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts page faults")
def test_repeated_calls_reuse_the_memory_of_the_last_one():
    faults, pages = grown(STEADY)
    assert faults < pages // 4, (faults, pages)
