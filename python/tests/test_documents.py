"""Examples in docstrings and documents run."""

import doctest
import pathlib
import re

import pytest

import gpusort
from gpusort import _arrays, _files, _sorter, _tables

HERE = pathlib.Path(__file__).parents[1]


@pytest.mark.parametrize("module", [gpusort, _arrays, _files, _sorter, _tables])
def test_docstrings(module):
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0


def test_every_public_name_is_documented():
    for name in gpusort.__all__:
        assert name == "__version__" or getattr(gpusort, name).__doc__, name


def test_examples_of_the_readme(tmp_path, monkeypatch):
    text = (HERE / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
