"""Keys have one form in all functions of tables and files."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import gpusort
import gpusort.dask
from gpusort import Key

TABLE = pa.table({"a": [1, 2, 1, None], "b": [3.0, 4.0, 5.0, float("nan")], "row": [0, 1, 2, 3]})
FRAMES = [TABLE, TABLE.to_batches()[0], pl.from_arrow(TABLE), TABLE.to_pandas(types_mapper=pd.ArrowDtype)]

FORMS = [
    (["a", "b"], [0, 2, 1, 3]),
    ([("a", "desc"), ("b", "descending")], [1, 2, 0, 3]),
    ([Key("a", descending=True), "b"], [1, 0, 2, 3]),
    ([pl.col("a"), (pl.col("b"), "desc")], [2, 0, 1, 3]),
    ({"a": "desc", "b": "asc"}, [1, 0, 2, 3]),
    (pl.col("row"), [0, 1, 2, 3]),
    (Key("row", True), [3, 2, 1, 0]),
]


def rows(table):
    return pa.table(table)["row"].to_pylist() if not isinstance(table, pd.DataFrame) else table["row"].tolist()


@pytest.mark.parametrize("keys, order", FORMS)
def test_forms_of_keys(keys, order, tmp_path):
    for frame in FRAMES:
        assert rows(gpusort.sort_table(frame, keys)) == order
        assert rows(gpusort.sort_table(frame, by=keys)) == order
        assert rows(gpusort.top_table(frame, 2, keys)) == order[:2]
        assert rows(gpusort.merge_tables([frame], keys)) == order
    assert rows(gpusort.sort_reader(TABLE.to_reader(), keys).read_all()) == order
    assert rows(gpusort.dask.sort_function(FRAMES[-1], keys)) == order
    source = io.BytesIO(b"a,b,row\n1,3,0\n2,4,1\n1,5,2\n,,3\n")
    target = tmp_path / "out.csv"
    gpusort.sort_file(source, target, key=keys, from_="csv", empty="last")
    assert [int(line.split(",")[2]) for line in target.read_text().splitlines()[1:]] == order


def test_directions_and_nulls_of_the_call():
    for options, order in [
        ({"descending": True}, [1, 2, 0, 3]),
        ({"ascending": False}, [1, 2, 0, 3]),
        ({"ascending": [True, False]}, [2, 0, 1, 3]),
        ({"descending": [True, False], "nulls": "first"}, [3, 1, 0, 2]),
        ({"na_position": "first"}, [3, 0, 2, 1]),
    ]:
        for frame in FRAMES:
            assert rows(gpusort.sort_table(frame, ["a", "b"], **options)) == order
            assert rows(gpusort.top_table(frame, 3, by=["a", "b"], **options)) == order[:3]
    # A key's own order counts.
    assert rows(gpusort.sort_table(TABLE, [("a", "asc"), "b"], descending=True)) == [2, 0, 1, 3]
    assert rows(gpusort.sort_table(TABLE, [Key("a", nulls="first"), "b"])) == [3, 0, 2, 1]
    found = gpusort.sort_table(FRAMES[-1], by=["a", "b"], ascending=[False, True], na_position="first")
    assert found.index.tolist() == FRAMES[-1].sort_values(["a", "b"], ascending=[False, True], na_position="first").index.tolist()


def test_what_is_no_key():
    for keys in [("a",), ("a", "b", "c"), [("a", "up")], [("a", 1)], None, [None], -pl.col("a"), pl.col("a") + 1, pc.field("a"), 2.5, True, [["a"]]]:
        for call in (
            lambda keys: gpusort.sort_table(TABLE, keys),
            lambda keys: gpusort.top_table(TABLE, 1, keys),
            lambda keys: gpusort.sort_reader(TABLE.to_reader(), keys),
            lambda keys: gpusort.sort_file(io.BytesIO(b"a\n1\n"), io.BytesIO(), key=[None] if keys is None else keys),
        ):
            with pytest.raises(TypeError, match=r'a key is .* write "name", \("name", "desc"\) or gpusort.Key'):
                call(keys)
    for options in [{"keys": "a", "by": "a"}, {"by": "a", "descending": True, "ascending": True}, {"by": "a", "nulls": "last", "na_position": "last"}]:
        with pytest.raises(TypeError, match="are one argument; leave out one of them"):
            gpusort.sort_table(TABLE, options.pop("keys", None), **options)
    with pytest.raises(ValueError, match="no keys"):
        gpusort.sort_table(TABLE, [])
    with pytest.raises(ValueError, match="1 keys, but 2 values of ascending"):
        gpusort.sort_table(TABLE, "a", ascending=[True, False])
    with pytest.raises(ValueError, match='nulls is "first" or "last"'):
        gpusort.sort_table(TABLE, Key("a", nulls="end"))
    with pytest.raises(TypeError, match="ascending is True or False"):
        gpusort.sort_table(TABLE, "a", ascending="yes")
    with pytest.raises(TypeError, match='use empty="first"'):
        gpusort.sort_file(io.BytesIO(b"a\n1\n"), io.BytesIO(), key=Key("a", nulls="first"))


def test_levels_of_an_index_of_pandas():
    frame = pd.DataFrame({"n": [1, 2, 3]}, index=pd.MultiIndex.from_tuples([("b", 1), ("a", 2), ("b", 0)], names=["k", "m"]))
    pd.testing.assert_frame_equal(gpusort.sort_table(frame, ["k", "m"]), frame.sort_values(["k", "m"], kind="stable"))
    assert gpusort.top_table(frame, 1, ("n", "desc"), per="k")["n"].tolist() == [3, 2]
    frame["k"] = 0
    with pytest.raises(ValueError, match="2 columns are called 'k'"):
        gpusort.sort_table(frame, "k")
    labels = pd.DataFrame({("x", "desc"): [2, 1]})
    assert gpusort.sort_table(labels, Key(("x", "desc"))).index.tolist() == [1, 0]


def test_merged_tables():
    random = np.random.default_rng(3)
    tables = [pa.table({"k": np.sort(random.integers(0, 50, size)), "t": np.full(size, number)}) for number, size in enumerate([100, 0, 77])]
    right = pa.concat_tables(tables).sort_by([("k", "ascending"), ("t", "ascending")])
    assert gpusort.merge_tables(tables, "k").equals(right)
    assert gpusort.merge_tables(map(pl.from_arrow, tables), "k").to_arrow().equals(right)
    assert gpusort.merge_tables([table.to_pandas() for table in tables], by="k").to_dict("list") == right.to_pydict()
    assert gpusort.merge_tables([batch for table in tables for batch in table.to_batches()], "k").equals(right)
    for wrong in [[], [TABLE, pl.from_arrow(TABLE)], [1]]:
        with pytest.raises(TypeError, match="the tables are several of pyarrow"):
            gpusort.merge_tables(wrong, "k")


def test_readers_are_sorted_beyond_memory(tmp_path):
    random = np.random.default_rng(4)
    schema = pa.schema({"k": pa.int64(), "c": pa.dictionary(pa.int32(), pa.string()), "x": pa.float64()}, metadata={"of": "test"})

    def batches():
        for number in range(40):
            keys = random.integers(0, 1 << 40, 50_000)
            words = pa.array([f"{number}-{word}" for word in keys % 7]).dictionary_encode()
            yield pa.record_batch([pa.array(keys), words, pa.array(keys / 4)], schema=schema)

    all_rows = pa.Table.from_batches(batches(), schema)
    found = gpusort.sort_reader(all_rows.to_reader(), [("k", "desc")], memory="16M", temp_dir=tmp_path)
    assert isinstance(found, pa.RecordBatchReader)
    result = found.read_all()
    right = all_rows.sort_by([("k", "descending")])
    assert result.schema.names == schema.names and result.schema.metadata == schema.metadata
    assert result["k"].equals(right["k"]) and result["x"].equals(right["x"])
    assert result["c"].cast(pa.string()).to_pylist() == right["c"].cast(pa.string()).to_pylist()
    assert list(tmp_path.iterdir()) == []


def test_errors_of_readers():
    schema = pa.schema({"k": pa.int64()})

    def batches():
        yield pa.record_batch([pa.array([2, 1])], schema=schema)
        raise ZeroDivisionError("no rows")

    with pytest.raises(ZeroDivisionError, match="no rows"):
        gpusort.sort_reader(pa.RecordBatchReader.from_batches(schema, batches()), "k")
    with pytest.raises(KeyError, match="no column 'z'"):
        gpusort.sort_reader(TABLE.to_reader(), "z")
    with pytest.raises(ValueError, match="go to one end"):
        gpusort.sort_reader(TABLE.to_reader(), [Key("a", nulls="first"), "b"])
    assert gpusort.sort_reader(TABLE.slice(0, 0).to_reader(), "a").read_all().equals(TABLE.slice(0, 0))
    assert rows(gpusort.sort_reader(pl.from_arrow(TABLE), "b", nulls="first").read_all()) == [3, 0, 1, 2]
