"""``python -m broadphase compare`` runs, compares before it measures, and refuses to time what differs."""

import subprocess
import sys

import numpy as np
import pytest

from broadphase import compare
from broadphase.compare.cases import CASES, canonical


def run(*arguments, cwd):
    return subprocess.run([sys.executable, "-m", "broadphase", *arguments], capture_output=True, text=True, cwd=cwd)


def test_it_prints_a_table_for_each_case(tmp_path):
    done = run("compare", "--n", "200", "--repeat", "2", "--cases", "cubes,squares,rectangles,balls,mesh", "--markdown", "out.md", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for case in ("cubes", "squares", "rectangles", "balls", "mesh"):
        assert CASES[case].title in done.stdout
    assert "| broadphase |" in (tmp_path / "out.md").read_text()


def test_usage_errors_are_said(tmp_path):
    assert run(cwd=tmp_path).returncode == 2
    assert run("compare", "--cases", "spheres", cwd=tmp_path).returncode == 2
    assert run("compare", "--n", "many", cwd=tmp_path).returncode == 2


def test_a_row_that_finds_other_pairs_gets_no_time(monkeypatch):
    case = CASES["cubes"]
    wrong = {"one pair too few": lambda data: lambda: case.ours(data)()[1:]}
    monkeypatch.setattr(type(case), "peers", wrong)
    with pytest.raises(SystemExit, match="one pair too few finds other pairs"):
        compare.measure(case, 500, 1, 1.0)


def test_a_missing_package_is_said(monkeypatch):
    case = CASES["cubes"]

    def absent(data):
        import a_package_that_does_not_exist  # noqa: F401

    monkeypatch.setattr(type(case), "peers", {"absent": absent})
    rows = compare.measure(case, 50, 1, 1.0)
    assert rows[1]["skipped"] == "not installed (a_package_that_does_not_exist)" and rows[0]["ms"] > 0


def test_canonical_order():
    np.testing.assert_array_equal(canonical([[3, 1], [0, 2], [1, 3]]), [[0, 2], [1, 3]])
    vertex_face, edge_edge = np.array([[5, 3], [3, 5]]), np.array([[2, 1]])
    np.testing.assert_array_equal(canonical((vertex_face, edge_edge)), [[3, 5], [5, 3], [-1, -1], [1, 2]])
