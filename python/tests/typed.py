"""What the checkers of types say of the forms of keys, and of what comes back; ``test_types.py`` runs them."""

import io
from typing import Any, assert_type

import numpy as np
import polars as pl
from numpy.typing import NDArray

import gpusort
from gpusort import Key

floats: NDArray[np.float64] = np.zeros(3)
series = pl.Series([1])
frame = pl.DataFrame({"a": [1], "b": [2]})

assert_type(gpusort.sort(floats, descending=True), np.ndarray[Any, np.dtype[np.float64]])
assert_type(gpusort.sort(floats, 0, kind="stable", nulls="first"), np.ndarray[Any, np.dtype[np.float64]])
assert_type(gpusort.sort([3, 1, 2]), np.ndarray[Any, np.dtype[Any]])
assert_type(gpusort.sort(series), pl.Series)
assert_type(gpusort.top(floats, 2), np.ndarray[Any, np.dtype[np.float64]])
assert_type(gpusort.top(series, k=2, threads=1), pl.Series)
assert_type(gpusort.argsort(floats), NDArray[np.int64])
assert_type(gpusort.argtop([1, 2], 1, sorted=False), NDArray[np.int64])
assert_type(gpusort.lexsort([floats, [1, 2, 3]], descending=[True, False]), NDArray[np.int64])
assert_type(gpusort.is_sorted(floats), bool)

pairs = [("a", "desc"), ("b", "asc")]
names = ["a", "b"]
assert_type(gpusort.sort_table(frame, "a"), pl.DataFrame)
assert_type(gpusort.sort_table(frame, pairs), pl.DataFrame)
assert_type(gpusort.sort_table(frame, by=names, ascending=[True, False], na_position="first"), pl.DataFrame)
assert_type(gpusort.sort_table(frame, ["a", ("b", "desc")], nulls="first"), pl.DataFrame)
assert_type(gpusort.sort_table(frame, Key("a", descending=True, nulls="first")), pl.DataFrame)
assert_type(gpusort.sort_table(frame, [pl.col("a"), (pl.col("b"), "desc"), Key("b")]), pl.DataFrame)
assert_type(gpusort.sort_table(frame, {"a": "desc"}, descending=True), pl.DataFrame)
assert_type(gpusort.top_table(frame, 1, names, per="a"), pl.DataFrame)
assert_type(gpusort.merge_tables([frame, frame], "a"), pl.DataFrame)
sorter = gpusort.Sorter(device="cpu")
assert_type(gpusort.sort(floats, device=sorter), np.ndarray[Any, np.dtype[np.float64]])

out = io.BytesIO()
for key in (1, "a"):
    gpusort.sort_file("data/*.csv", out, key=key)
gpusort.sort_file(["a.csv", io.BytesIO()], out, key=["a", ("b", "desc"), Key("c", True), pl.col("d")], memory="1G")
gpusort.sort_file("a.csv", out, key=pairs)
assert_type(gpusort.check_file("a.csv", key=("a", "desc")), gpusort.Checked)
