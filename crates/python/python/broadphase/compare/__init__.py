"""This library side by side with the packages that are installed: the same arrays, equal pairs, then times.

Every row gets the same NumPy arrays and must hand back pairs. What a package needs to read them is part of its time, and so is what it needs to
build, since in every frame the objects have moved. Before any time is taken, each row's pairs are compared with ours, as sets. Rows take
turns; the median of a row's runs counts.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np

from .. import __version__
from .cases import CASES, Case, canonical
from .report import markdown, picture


def measure(case: Case, n: int, repeat: int, limit: float) -> list[dict[str, Any]]:
    """The rows of a case: each checked, then timed in turns."""
    data = case.make(n)
    rows: list[dict[str, Any]] = []
    ours = canonical(case.ours(data)())
    for name, peer in case.rows():
        row: dict[str, Any] = {"case": case.name, "n": case.size(data), "pairs": len(ours), "name": name, "times": []}
        try:
            run = peer(data)
        except ImportError as error:
            row["skipped"] = f"not installed ({error.name})"
            rows.append(row)
            continue
        start = time.perf_counter()
        found = run()
        row["first"] = time.perf_counter() - start
        if not (found.agrees(ours) if hasattr(found, "agrees") else np.array_equal(canonical(found), ours)):
            raise SystemExit(f"compare: {name} finds other pairs than broadphase in '{case.name}', n = {n}: no times")
        row["run"] = run
        rows.append(row)
    active = [row for row in rows if "run" in row and row["first"] <= limit]
    for turn in range(repeat):
        for k in range(len(active)):
            row = active[(turn + k) % len(active)]
            start = time.perf_counter()
            row["run"]()
            row["times"].append(time.perf_counter() - start)
    for row in rows:
        if "run" in row:
            row["ms"] = 1e3 * (float(np.median(row["times"])) if row["times"] else row["first"])
            row["single"] = not row["times"]
            del row["run"]
    return rows


def keep_to_one_core() -> None:
    """Some packages start as many threads as there are cores, and have no option for fewer: they see one."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def overhead(repeat: int = 2000) -> float:
    """Microseconds of one ``pairs`` call over 100 boxes that hardly overlap."""
    from .. import pairs

    boxes = CASES["cubes"].boxes(CASES["cubes"].make(100))
    boxes = np.ascontiguousarray(np.hstack(boxes))
    best = np.inf
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(repeat // 20):
            pairs(boxes)
        best = min(best, (time.perf_counter() - start) / (repeat // 20))
    return 1e6 * best


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m broadphase compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", default="1000,16000,128000", help="numbers of objects (default: %(default)s)")
    parser.add_argument("--cases", default=",".join(CASES), help="of %(default)s")
    parser.add_argument("--repeat", type=int, default=9, help="runs of each row (default: %(default)s)")
    parser.add_argument("--row-limit", type=float, default=2.0, help="a row whose first run takes longer, in seconds, is run once (default: %(default)s)")
    parser.add_argument("--mesh", nargs="+", default=[], metavar="PLY", help="for the case 'mesh': one binary PLY file, or two for a step")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    parser.add_argument("--png", type=Path, default=Path("broadphase-compare.png"), metavar="FILE", help="the picture, if matplotlib is installed (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        sizes = [int(word) for word in options.n.split(",")]
        cases = [CASES[word] for word in options.cases.split(",")]
    except (ValueError, KeyError) as error:
        parser.error(f"--n takes numbers, --cases names of {', '.join(CASES)}: {error}")
    if options.mesh:
        CASES["mesh"].use(options.mesh)
    keep_to_one_core()
    rows: list[dict[str, Any]] = []
    print(f"broadphase {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, one worker; 100 boxes: {overhead():.1f} us a call")
    for case in cases:
        for n in sizes if not case.fixed() else sizes[-1:]:
            found = measure(case, n, options.repeat, options.row_limit)
            rows += found
            print("\n" + markdown(found), flush=True)
    if options.markdown:
        options.markdown.write_text("\n\n".join(markdown([r for r in rows if (r["case"], r["n"]) == key]) for key in dict.fromkeys((r["case"], r["n"]) for r in rows)) + "\n")
    if picture(rows, options.png):
        print(f"\npicture: {options.png}")
    else:
        print("\nno picture: matplotlib is not installed", file=sys.stderr)
    return 0
