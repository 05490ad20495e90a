"""Docstrings are true, stubs fit, the version is one."""

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import broadphase
from broadphase import _errors

ROOT = Path(__file__).resolve().parents[1]


def documented():
    yield "broadphase", broadphase.__doc__
    for name in broadphase.__all__:
        value = getattr(broadphase, name)
        if not callable(value):
            continue
        yield name, value.__doc__
        if inspect.isclass(value) and not issubclass(value, BaseException):
            for method in vars(value):
                if not method.startswith("_"):
                    yield f"{name}.{method}", getattr(value, method).__doc__


@pytest.mark.parametrize(("name", "text"), list(documented()))
def test_everything_is_documented_and_its_examples_run(name, text):
    assert text and text.strip(), f"{name} has no docstring"
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), {}, name, None, 0)
    failed, _ = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert failed == 0


PAGES = [ROOT / "README.md", *sorted((ROOT / "../../docs/guide").glob("*.md"))]


@pytest.mark.parametrize("page", [page for page in PAGES if "```python" in page.read_text()], ids=lambda page: page.name)
def test_the_examples_of_the_pages_run(page):
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S)):
        name = f"{page.name} block {number}"
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, {}, name, None, 0)
            assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
        else:
            exec(compile(block, name, "exec"), {})


def test_the_version_is_that_of_the_workspace():
    found = re.search(r'\[workspace.package\]\s*version = "([^"]+)"', (ROOT / "../../Cargo.toml").read_text())
    assert broadphase.__version__ == found.group(1)


def test_every_code_of_the_library_is_known():
    """A new error of the library needs a decision: a class, or ``ArgumentError``."""
    source = (ROOT / "../broadphase/src/error.rs").read_text()
    codes = set(re.findall(r'=> "([a-z-]+)"', source))
    plain = {"invalid-frame", "count-mismatch", "invalid-argument", "invalid-margin", "invalid-query", "invalid-value", "wrong-length", "invalid-element"}
    assert codes and codes - plain - set(_errors._CLASSES) == set()


def test_the_stubs_fit(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    for command in (["mypy.stubtest", "broadphase._broadphase"], ["mypy", "--strict", str(ROOT / "tests/typed.py")]):
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_a_typed_one():
    assert (Path(broadphase.__file__).parent / "py.typed").exists()
    assert broadphase.NO_HANDLE == 2**64 - 1
    names = [algorithm["name"] for algorithm in broadphase.list_algorithms()]
    assert len(names) == len(set(names)) and {"auto", "tiles", "brute-force", "kd-tree", "hash-grid"} <= set(names)
