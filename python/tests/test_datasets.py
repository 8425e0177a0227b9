"""Datasets of Ray and data frames of Dask: their rows in order, whatever they are divided into."""

import functools
import math

import numpy as np
import oracle
import pandas as pd
import pyarrow as pa
import pytest

import gpusort
import gpusort.dask
import gpusort.ray
import ray
import ray.data
from gpusort.ray import _dataset

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def little_tasks(cluster, monkeypatch):
    """Blocks of these tests are worth a task each."""
    monkeypatch.setattr(_dataset, "LEAST", 1)
    monkeypatch.setattr(_dataset, "MOST", 1)
    ray.data.DataContext.get_current().enable_progress_bars = False


def column(random, kind, count):
    words = random.integers(0, 1 << 40, count) % random.choice([3, 50, 1 << 40])
    gone = random.random(count) < random.choice([0, 0.1])
    if kind == "float":
        values = np.where(random.random(count) < 0.1, np.nan, words / 8)
        return pa.array(values, mask=gone)
    if kind == "time":
        return pa.array((words % (1 << 32)).astype("M8[s]"), mask=gone)
    texts = pa.array([f"{'a long beginning of texts ' * (word % 2)}{word}" for word in words], pa.string(), mask=gone)
    return {"text": texts, "category": texts.dictionary_encode(), "integer": pa.array(words, mask=gone)}[kind]


def in_order(rows, keys):
    """Python's own stable sort of rows by pairs of a name, whether it is descending, and where nulls and NaN go."""

    def place(value, descending, nulls, nan):
        is_nan = isinstance(value, float) and math.isnan(value)
        # Where both are at one end, NaN is next to the numbers.
        return {"first": -2, "last": 2}[nulls] if value is None else {"first": -1, "last": 1}[nan] if is_nan else 0

    def compare(a, b):
        for name, descending, nulls, nan in keys:
            of = [place(row[name], descending, nulls, nan) for row in (a, b)]
            if of[0] != of[1]:
                return of[0] - of[1]
            if of[0] == 0 and a[name] != b[name]:
                return (-1 if a[name] < b[name] else 1) * (-1 if descending else 1)
        return 0

    return sorted(rows, key=functools.cmp_to_key(compare))


def test_the_oracle_knows_the_order():
    rows = [{"a": value} for value in (1.0, math.nan, None, 2.0)]
    found = [row["a"] for row in in_order(rows, [("a", True, "last", "first")])]
    assert math.isnan(found[0]) and found[1:] == [2.0, 1.0, None]
    assert in_order(rows, [("a", False, "last", "last")])[0]["a"] == 1.0


def test_generated_datasets(monkeypatch):
    for case in range(oracle.CASES // 50):
        random = np.random.default_rng(case)
        kinds = random.choice(["integer", "float", "text", "time", "category"], random.integers(1, 4))
        count = int(random.choice([0, 1, 7, 300, 3000]))
        columns = {f"c{number}": column(random, kind, count) for number, kind in enumerate(kinds)}
        table = pa.table({**columns, "row": pa.array(range(count), pa.int64())})
        ends = np.sort(random.integers(0, count + 1, random.integers(0, 6)))
        blocks = [table.slice(begin, end - begin) for begin, end in zip([0, *ends], [*ends, count])]
        names = list(columns)
        descending = [bool(random.integers(0, 2)) for _ in names]
        nulls, nan = ([str(random.choice(["first", "last"])) for _ in names] for _ in range(2))
        parts = [None, 1, 5][random.integers(0, 3)]
        monkeypatch.setattr(_dataset, "MOST", 1 if case % 2 else 1 << 14)
        sort = functools.partial(gpusort.ray.sort, ray.data.from_arrow(blocks), parts=parts)
        if case % 3 == 0:
            nulls, nan = nulls[:1] * len(names), nulls[:1] * len(names)
            found = sort(names if case % 2 else [gpusort.Key(name) for name in names], descending=descending, nulls=nulls[0])
        else:
            found = sort(names, descending=descending, nulls=nulls, nan=nan)
        tables = ray.get(found.to_arrow_refs())
        rows = [row for one in tables for row in one.column("row").to_pylist()]
        expected = in_order(table.to_pylist(), list(zip(names, descending, nulls, nan)))
        assert rows == [row["row"] for row in expected], f"case {case}"
        assert all(one.schema.equals(table.schema) for one in tables)
        assert count == 0 or len(tables) == parts or parts is None and len(tables) <= len(blocks)


def test_one_key_with_many_rows_is_in_several_blocks():
    table = pa.table({"a": [7] * 30_000 + list(range(10_000)), "row": range(40_000)})
    found = gpusort.ray.sort(ray.data.from_arrow([table.slice(at, 5000) for at in range(0, 40_000, 5000)]), "a")
    tables = ray.get(found.to_arrow_refs())
    assert pa.concat_tables(tables).equals(gpusort.sort_table(table, "a"))
    assert max(one.num_rows for one in tables) < 1.5 * 5000


def test_blocks_of_other_types_become_one():
    ds = ray.data.from_arrow([pa.table({"a": [3, 1]}), pa.table({"a": pa.array([None], pa.null())}), pa.table({"a": [2.5]})])
    found = pa.concat_tables(ray.get(gpusort.ray.sort(ds, "a").to_arrow_refs()))
    assert found.to_pydict() == {"a": [1, 2.5, 3, None]}
    found = gpusort.ray.sort(ray.data.from_pandas(pd.DataFrame({"a": ["b", "a"]})), "a").take_all()
    assert found == [{"a": "a"}, {"a": "b"}]
    # What comes of it is a dataset as any other.
    assert gpusort.ray.sort(ray.data.range(1000), "id", descending=True).limit(2).take_all() == [{"id": 999}, {"id": 998}]


def test_what_is_wrong_is_told():
    ds = ray.data.from_arrow([pa.table({"a": [1]}), pa.table({"a": [2]})])
    with pytest.raises(KeyError, match="no column 'b'; there are a"):
        gpusort.ray.sort(ds, "b")
    with pytest.raises(ValueError, match="no keys"):
        gpusort.ray.sort(ds, [])
    with pytest.raises(ValueError, match="1 keys, but 2 values of descending"):
        gpusort.ray.sort(ds, "a", descending=[True, False])
    with pytest.raises(TypeError, match="has no order"):
        gpusort.ray.sort(ray.data.from_arrow(pa.table({"a": [{"b": 1}]})), "a")


@pytest.mark.parametrize("ascending", [True, False, [True, False]])
@pytest.mark.parametrize("na_position", ["first", "last"])
def test_dask(ascending, na_position):
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    rng = np.random.default_rng(1)
    by = ["a", "b"] if isinstance(ascending, list) else ["b", "a"]
    frame = pd.DataFrame({"a": rng.integers(0, 90, 20_000), "b": [f"x{n}" for n in rng.integers(0, 900, 20_000)]})
    frame["c"] = range(len(frame))
    frame.loc[::13, "a"] = np.nan
    frame.loc[frame.index % 17 == 5, "b"] = None
    # Dask has texts of Arrow's, others than those of pandas.
    frame = frame.convert_dtypes(dtype_backend="pyarrow")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers, Client(workers):
        rows = dd.from_pandas(frame, npartitions=5)
        how = {"by": by, "ascending": ascending, "na_position": na_position}
        found = rows.sort_values(sort_function=gpusort.dask.sort_function, **how).compute()
    expected = frame.sort_values(kind="stable", **how)
    pd.testing.assert_frame_equal(found[by].reset_index(drop=True), expected[by].reset_index(drop=True), check_dtype=False)
    assert sorted(found["c"]) == list(range(len(frame)))
    # A partition is stable by itself.
    alone = gpusort.dask.sort_function(frame, **how)
    pd.testing.assert_frame_equal(alone, expected)
    assert gpusort.dask.sort_function(frame, ignore_index=True, **how).index.equals(pd.RangeIndex(len(frame)))


def test_categories_of_pandas_have_their_own_order():
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y", "z", "y"], ["z", "y", "x"]), "b": range(4)})
    for how in ({"ascending": True}, {"ascending": False}):
        expected = frame.sort_values("a", kind="stable", **how)
        pd.testing.assert_frame_equal(gpusort.dask.sort_function(frame, "a", **how), expected)
