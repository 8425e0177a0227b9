"""Examples in docstrings and documents run."""

import doctest
import pathlib
import re

import pytest

import gpusort
from gpusort import _arrays, _files, _keys, _sorter, _tables

HERE = pathlib.Path(__file__).parents[1]


@pytest.mark.parametrize("module", [gpusort, _arrays, _files, _keys, _sorter, _tables])
def test_docstrings(module):
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0


def executed(document):
    text = document.read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, str(document), "exec"), names)
    return names


def test_examples_of_clusters(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.csv").write_text("id\n2\n1\n")
    names = executed(HERE.parent / "docs" / "clusters.md")
    assert names["manifest"].rows == 2
    assert [(row["city"], row["price"]) for row in names["ds"].take_all()] == [("Oslo", 3), ("Oslo", 2), ("Rome", None)]
    assert names["frame"].compute()["city"].tolist() == ["Oslo", "Rome"]


def test_every_public_name_is_documented():
    for name in gpusort.__all__:
        assert name == "__version__" or getattr(gpusort, name).__doc__, name


def test_examples_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    executed(HERE / "README.md")
