"""Arrow arrays and tables, and the libraries that have them."""

import decimal
import warnings

import numpy as np
import oracle
import pytest

import gpusort

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")

NUMBERS = ["u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"]


def texts(random, count):
    """Texts that begin alike, and others."""
    beginning = random.choice(["", "https://www.example.com/a/long/beginning/", "é"])
    return [beginning + str(number) * int(number % 4) for number in random.integers(0, 60, count)]


def generated(random, count):
    """An array of Arrow of any type that has an order."""
    kind = int(random.integers(0, 19))
    mask = random.integers(0, 4, count) == 0 if random.integers(0, 2) else np.zeros(count, bool)
    if kind < 11:
        values = oracle.elements(random, NUMBERS[kind], count)
        if values.dtype.kind == "f":
            # Of these pyarrow has no order.
            values[values == 0] = 0
            values[np.isnan(values)] = np.nan
        return pa.array(values, mask=mask)
    words = random.integers(-(10**12), 10**12, count)
    if kind == 11:
        return pa.array(words % 2 == 0, mask=mask)
    if kind == 12:
        return pa.array((words // 100).astype("M8[s]"), mask=mask)
    if kind == 13:
        return pa.array((words % 30000).astype("i4"), mask=mask).cast(pa.date32())
    if kind == 14:
        numbers = [None if gone else decimal.Decimal(int(word)) / 100 for word, gone in zip(words, mask, strict=True)]
        return pa.array(numbers, pa.decimal128(30, 2))
    found = [None if gone else text for text, gone in zip(texts(random, count), mask, strict=True)]
    array = pa.array(found, pa.string())
    types = {15: pa.string(), 16: pa.large_string(), 17: pa.binary()}
    return array.dictionary_encode() if kind == 18 else array.cast(types[kind])


def indices(array, descending, nulls):
    """Positions by pyarrow, whose sort is stable; NaN are beside the nulls there, too."""
    plain = array.dictionary_decode() if isinstance(array, pa.DictionaryArray) else array
    if plain.type == pa.float16():
        plain = plain.cast(pa.float32())
    keys = [("key", "descending" if descending else "ascending")]
    with warnings.catch_warnings():
        # Its newer releases have a place for each key, which older ones do not take.
        warnings.simplefilter("ignore", FutureWarning)
        place = "at_end" if nulls == "last" else "at_start"
        return pc.sort_indices(pa.table({"key": plain}), sort_keys=keys, null_placement=place).to_numpy()


def test_generated_arrays_of_arrow():
    random = np.random.default_rng(50)
    for case in range(oracle.CASES):
        count = int(random.integers(0, 120))
        array = generated(random, count)
        if random.integers(0, 2):
            array = array.slice(int(random.integers(0, count + 1)), int(random.integers(0, count + 1)))
        descending, nulls = bool(random.integers(0, 2)), str(random.choice(["last", "first"]))
        options = {"descending": descending, "nulls": nulls}
        note = f"case {case}: {array.type} {options} {array.to_pylist()}"
        right = indices(array, descending, nulls)
        given = array
        if random.integers(0, 3) == 0:
            cut = int(random.integers(0, len(array) + 1))
            given = pa.chunked_array([array.slice(0, cut), array.slice(cut)], array.type)
        assert np.array_equal(gpusort.argsort(given, **options), right), note
        found = gpusort.sort(given, **options)
        assert type(found) is type(given) and found.type == given.type, note
        values = array.take(pa.array(right))
        assert repr(found.to_pylist()) == repr(values.to_pylist()), note
        found.validate(full=True)
        k = int(random.integers(0, len(array) + 2))
        assert repr(gpusort.top(given, k, **options).to_pylist()) == repr(values.to_pylist()[:k]), note
        assert np.array_equal(gpusort.argtop(given, k, **options), right[:k]), note
        assert gpusort.is_sorted(found, **options), note
        different = gpusort.unique(given, return_index=True, return_inverse=True, return_counts=True, **options)
        if pa.types.is_dictionary(array.type) or array.type == pa.float16():
            continue
        assert len(different[0]) == pc.count_distinct(array, mode="all").as_py(), note
        assert repr(pa.array(different[0]).take(pa.array(different[2])).to_pylist()) == repr(array.to_pylist()), note
        assert different[3].sum() == len(array), note


def test_generated_tables():
    random = np.random.default_rng(51)
    for case in range(oracle.CASES // 4):
        count = int(random.integers(0, 150))
        table = pa.table({"place": np.arange(count)} | {f"c{at}": generated(random, count) for at in range(3)})
        names = [f"c{at}" for at in random.permutation(3)[: int(random.integers(1, 4))]]
        directions = [str(random.choice(["asc", "desc"])) for _ in names]
        if random.integers(0, 2):
            cut = count // 3
            table = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
        found = gpusort.sort_table(table, list(zip(names, directions, strict=True)))
        ranks = [
            gpusort.rank(table[name], method="dense", descending=direction == "desc")
            for name, direction in zip(names, directions, strict=True)
        ]
        right = np.lexsort(ranks[::-1])
        assert found.schema == table.schema
        assert np.array_equal(found["place"].to_numpy(), right), f"case {case}: {table.schema} {names} {directions}"
        rows = table.take(pa.array(right))
        assert repr(found.to_pylist()) == repr(rows.to_pylist()), f"case {case}"


def test_many_rows_of_texts_and_numbers():
    random = np.random.default_rng(52)
    count = 200_000
    table = pa.table(
        {
            "name": [f"https://www.example.com/{number:06}" for number in random.integers(0, 50_000, count)],
            "n": random.integers(0, 5, count),
            "place": np.arange(count),
        }
    )
    found = gpusort.sort_table(table, [("name", "asc"), ("n", "desc")])
    right = pc.sort_indices(table, sort_keys=[("name", "ascending"), ("n", "descending")])
    assert found["place"].to_pylist() == right.to_pylist()
    assert found.take(pa.array([0, 1])) .to_pylist() == table.take(right.slice(0, 2)).to_pylist()
    first = gpusort.sort_table(table, "n", threads=1)["place"].to_numpy()
    assert np.array_equal(first, np.argsort(table["n"].to_numpy(), kind="stable"))


def test_record_batches_and_readers():
    batch = pa.record_batch({"n": [2, 1], "t": ["x", "y"]})
    found = gpusort.sort_table(batch, "n")
    assert isinstance(found, pa.RecordBatch) and found.to_pydict() == {"n": [1, 2], "t": ["y", "x"]}
    assert gpusort.sort_table(batch.slice(0, 0), "n").num_rows == 0
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch, batch])
    assert gpusort.sort_table(reader, "n")["n"].to_pylist() == [1, 1, 2, 2]
    marked = pa.table({"n": [2, 1]}).replace_schema_metadata({"k": "v"})
    assert gpusort.sort_table(marked, "n").schema.metadata == {b"k": b"v"}


def test_what_has_no_order():
    nested = pa.array([[1], [2]])
    with pytest.raises(TypeError, match="have no order; cast them to numbers"):
        gpusort.sort(nested)
    table = pa.table({"n": [2, 1], "list": nested})
    assert gpusort.sort_table(table, "n")["list"].to_pylist() == [[2], [1]]
    with pytest.raises(TypeError, match="have no order"):
        gpusort.sort_table(table, "list")
    with pytest.raises(KeyError, match="no column 'm'; there are n, list"):
        gpusort.sort_table(table, "m")
    with pytest.raises(TypeError, match='write "name", \\("name", "desc"\\)'):
        gpusort.sort_table(table, [("n", "up")])
    with pytest.raises(TypeError, match="list is not a table"):
        gpusort.sort_table([1, 2], "n")
    with pytest.raises(TypeError, match="is not sorted into another one"):
        gpusort.sort(pa.array([1]), out=np.empty(1, np.int64))


def test_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"name": ["b", None, "a", "b"], "x": [1.0, float("nan"), None, 3.0]})
    found = gpusort.sort_table(frame, [("name", "asc"), ("x", "desc")])
    assert isinstance(found, pl.DataFrame) and found.schema == frame.schema
    assert found["name"].to_list() == ["a", "b", "b", None]
    assert found["x"].to_list()[1:3] == [3.0, 1.0]
    series = gpusort.sort(frame["x"], nulls="first")
    assert series.name == "x" and str(series.to_list()) == "[None, nan, 1.0, 3.0]"
    if int(pl.__version__.split(".")[0]) >= 2:
        # Older releases give out such arrays damaged.
        labels = pl.Series("c", ["low", "high", "low"], pl.Enum(["low", "high"]))
        assert gpusort.sort(labels).dtype == labels.dtype
    with pytest.raises(TypeError, match="lazy frame has no rows yet"):
        gpusort.sort_table(frame.lazy(), "x")
    random = np.random.default_rng(53)
    frame = pl.DataFrame({"t": texts(random, 500), "n": random.integers(0, 9, 500), "at": np.arange(500)})
    found = gpusort.sort_table(frame, ["n", "t"])
    assert found.equals(frame.sort(["n", "t"], maintain_order=True))


def test_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "name": ["b", None, "a", "b"],
            "x": [1.0, np.nan, 2.0, 3.0],
            "when": pd.to_datetime(["2020-01-01", None, "1999-01-01", "2020-01-01"]),
            "label": pd.Categorical(["u", "v", "u", "v"]),
        },
        index=[10, 20, 30, 40],
    )
    found = gpusort.sort_table(frame, [("name", "asc"), ("x", "desc")])
    assert found.index.tolist() == [30, 40, 10, 20] and found.dtypes.equals(frame.dtypes)
    assert gpusort.sort_table(frame, ["when", "x"]).index.tolist() == [30, 10, 40, 20]
    assert gpusort.sort(frame["x"]).index.tolist() == [10, 30, 40, 20]
    assert gpusort.sort(frame["x"]).equals(frame["x"].sort_values())
    assert gpusort.argsort(frame["x"]).tolist() == [0, 2, 3, 1]
    assert gpusort.top(frame["x"], 1, descending=True).tolist() == [3.0]
    with pytest.raises(KeyError, match="no column 'y'; there are name, x, when, label"):
        gpusort.sort_table(frame, "y")


def test_first_rows_of_tables():
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    random = np.random.default_rng(61)
    for case in range(200):
        count, values = int(random.choice([0, 1, 2, 10, 200, 3000])), int(random.choice([1, 3, 40]))
        columns = [random.integers(0, limit, count).tolist() for limit in (values, 30)]
        groups, numbers = [[None if random.random() < 0.1 else item for item in column] for column in columns]
        names = [None if group is None else f"g{group}" for group in groups]
        table = pa.table({"g": pa.array(names, "string"), "n": pa.array(numbers, "int64"), "at": pa.array(range(count), "int64")})
        most, down, per = int(random.choice([0, 1, 2, 5, 10**6])), random.random() < 0.5, random.choice([None, "g"])
        sign = -1 if down else 1
        order = sorted(range(count), key=lambda row: (numbers[row] is None, sign * (numbers[row] or 0)))
        seen, expected = {}, []
        for row in order:
            seen[names[row]] = seen.get(names[row], 0) + 1
            if (seen[names[row]] if per else len(expected) + 1) <= most:
                expected.append(row)
        frames = [table, pl.from_arrow(table), table.to_pandas(), table.to_pandas(types_mapper=pd.ArrowDtype)]
        for frame in frames + table.combine_chunks().to_batches():
            found = gpusort.top_table(frame, most, ("n", "desc" if down else "asc"), per=per)
            assert type(found) is type(frame) and np.array(found["at"]).tolist() == expected, (case, most, per)
    with pytest.raises(TypeError, match="list is no table of pyarrow"):
        gpusort.top_table([1], 1, "n")
    with pytest.raises(TypeError, match="lazy frame has no rows yet"):
        gpusort.top_table(pl.from_arrow(table).lazy(), 1, "n")
    with pytest.raises(KeyError, match="no column 'x'; there are g, n, at"):
        gpusort.top_table(table, 1, "n", per="x")
    with pytest.raises(ValueError, match="n is -1; it cannot be negative"):
        gpusort.top_table(table, -1, "n")


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select * from (values (2, 'x'), (1, 'y')) t(n, s)")
    found = gpusort.sort_table(relation, "n")
    assert found.fetchall() == [(1, "y"), (2, "x")]


def test_subclasses_come_back_by_their_library():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")

    class Frame(pd.DataFrame):
        pass

    class Series(pd.Series):
        pass

    class Other(pl.DataFrame):
        pass

    assert isinstance(gpusort.sort_table(Frame({"a": [2, 1]}), "a"), pd.DataFrame)
    assert gpusort.sort(Series([2, 1], index=["x", "y"])).index.tolist() == ["y", "x"]
    assert isinstance(gpusort.sort_table(Other({"a": [2, 1]}), "a"), pl.DataFrame)


def test_ordered_categories_are_in_their_order():
    names, right = ["hi", "lo", "mid", "lo"], ["lo", "lo", "mid", "hi"]
    ordered = pa.DictionaryArray.from_arrays(pa.array([2, 0, 1, 0]), pa.array(["lo", "mid", "hi"]), ordered=True)
    assert ordered.to_pylist() == names and gpusort.sort(ordered).to_pylist() == right
    assert gpusort.sort(ordered.dictionary_decode()).to_pylist() == sorted(names)
    assert gpusort.rank(ordered).tolist() == [4, 1.5, 3, 1.5]
    pd = pytest.importorskip("pandas")
    column = pd.Series(pd.Categorical(names, ["lo", "mid", "hi"], ordered=True))
    assert gpusort.sort(column).tolist() == right and gpusort.sort(column).dtype == column.dtype
    assert gpusort.sort_table(pd.DataFrame({"c": column}), "c")["c"].tolist() == right
    pl = pytest.importorskip("polars")
    if int(pl.__version__.split(".")[0]) >= 2:
        frame = pl.DataFrame({"c": pl.Series(names, dtype=pl.Enum(["lo", "mid", "hi"]))})
        assert gpusort.sort_table(frame, "c")["c"].to_list() == right
        assert gpusort.sort(frame["c"], descending=True).to_list() == right[::-1]


def test_zeros_in_dictionaries_are_one():
    zeros = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([0.0, -0.0]))
    assert gpusort.rank(zeros).tolist() == [1.5, 1.5] and len(gpusort.unique(zeros)) == 1


def test_what_polars_gives_out_otherwise():
    pl = pytest.importorskip("polars")
    assert gpusort.sort(pl.Series("n", [None, None])).to_list() == [None, None]
    frame = pl.DataFrame({"k": [2, 1], "nothing": [None, None]})
    found = gpusort.sort_table(frame, "k")
    assert found.schema == frame.schema and found["k"].to_list() == [1, 2]
    for values, dtype in (([object(), object()], pl.Object), ([2, 1], pl.Int128)):
        series = pl.Series("o", values, dtype=dtype)
        for call in (gpusort.sort, gpusort.argsort, gpusort.unique, lambda x: gpusort.top(x, 1)):
            with pytest.raises(TypeError, match="is not supported; cast it"):
                call(series)
        with pytest.raises(TypeError, match="is not supported; cast it"):
            gpusort.sort_table(frame.with_columns(series), "k")


def test_what_pandas_has_beside_arrays():
    pd = pytest.importorskip("pandas")
    assert gpusort.sort(pd.Series(pd.arrays.SparseArray([0, 2, 1]))).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="pandas' object is not supported"):
        gpusort.sort(pd.Series(["b", 1], dtype=object))
    frame = pd.DataFrame({"a": [2, 1], "b": [3, 4]})
    assert gpusort.lexsort(frame).tolist() == [1, 0]
    with pytest.raises(TypeError, match="use sort_table"):
        gpusort.sort(frame)
    with pytest.raises(TypeError, match=r"Series is not a table; use sort\(x\)"):
        gpusort.sort_table(frame["a"], "a")
    with pytest.raises(TypeError, match="is not sorted into another one"):
        gpusort.sort(frame["a"], out=np.empty(2, np.int64))
    assert gpusort.sort_table(pd.DataFrame({0: [2, 1]}), 0)[0].tolist() == [1, 2]


def test_keys_of_tables():
    table = pa.table({"a": [1, 2]})
    assert gpusort.sort_table(table, {"a": "desc"})["a"].to_pylist() == [2, 1]
    assert gpusort.sort_table(table, [("a", "descending")])["a"].to_pylist() == [2, 1]
    with pytest.raises(KeyError, match="there are none"):
        gpusort.sort_table(pa.table({}), "a")
    twice = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(ValueError, match="2 columns are called 'a'"):
        gpusort.sort_table(twice, "a")
    with pytest.raises(TypeError, match="use sort_table"):
        gpusort.sort(table)
    with pytest.raises(TypeError, match="structs with nulls is not a table"):
        gpusort.sort_table(pa.array([{"a": 2}, None]), "a")
    with pytest.raises(np.exceptions.AxisError):
        gpusort.sort(pa.array([2, 1]), axis=7)


def test_relations_of_duckdb_keep_their_types():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.sql("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'BIT')")
    connection.sql(
        """CREATE TABLE t AS SELECT m, i AS id, uuid() AS u, ('{"a": ' || i || '}')::JSON AS j, (i * 12345678901234567890123456789::HUGEINT) AS h,
        '10101'::BIT AS b, '10:00:00+02'::TIMETZ AS tz, [m] AS l, {'a': m, 'b': '1'} AS s FROM
        (SELECT unnest(['happy', 'sad', 'BIT', NULL, 'ok', 'sad'])::mood AS m, unnest(range(6)) AS i)"""
    )
    table = connection.table("t")
    for keys, order in [
        ("m", "m, id"),
        ([("m", "desc"), ("id", "desc")], "m DESC NULLS LAST, id DESC"),
        ("h", "h"),
        ("u", "u"),
        (["j"], "j"),
    ]:
        result = gpusort.sort_table(table, keys)
        assert result.types == table.types
        assert result.columns == table.columns
        assert result.fetchall() == connection.sql(f"SELECT * FROM t ORDER BY {order}").fetchall()
    # The result is of the relation's connection.
    kept = gpusort.sort_table(table, "m", nulls="first").query("kept", "SELECT count(*), min(id) FROM kept JOIN t USING (id)")
    assert kept.fetchall() == [(6, 0)]
    assert connection.sql("SELECT count(*) FROM duckdb_views() WHERE view_name = 'gpusort_rows'").fetchall() == [(0,)]
    for key in ["b", "tz"]:
        with pytest.raises(TypeError, match=f"column '{key}' has .* which Arrow changes; cast it to VARCHAR"):
            gpusort.sort_table(table, key)
    with pytest.raises(TypeError, match="column 'l' has BIT"):
        gpusort.sort_table(connection.sql("SELECT 1 AS k, ['1'::BIT] AS l"), "k")


def test_errors_of_readers_keep_their_types():
    schema = pa.schema([("k", pa.int64())])
    for error in [OSError("network gone"), KeyboardInterrupt("stop"), ZeroDivisionError("no rows")]:

        def batches(error=error):
            yield pa.record_batch([pa.array([2, 1])], schema=schema)
            raise error

        with pytest.raises(type(error), match=str(error)):
            gpusort.sort_table(pa.RecordBatchReader.from_batches(schema, batches()), "k")


def test_is_sorted_and_top_do_not_sort_all():
    """Whatever the kind: they agree with a sort, also where parts of a column meet, and take a part of its time."""
    random = np.random.default_rng(5)
    numbers = random.integers(-50, 50, 200_000)
    kinds = {
        "integers": pa.array(numbers),
        "floats": pa.array(np.where(numbers == 7, np.nan, numbers / 3), mask=numbers == 3),
        "texts": pa.array([f"text {number:4}" for number in numbers], mask=numbers == 3),
        "categories": pa.array([f"{number}" for number in numbers], mask=numbers == 3).dictionary_encode(),
        "decimals": pa.array(numbers).cast(pa.decimal128(38, 2)),
        "booleans": pa.array(numbers > 0, mask=numbers == 3),
    }
    for name, array in kinds.items():
        for descending in (False, True):
            for nulls in ("first", "last"):
                options = {"descending": descending, "nulls": nulls}
                order = gpusort.argsort(array, **options)
                in_order = array.take(pa.array(order))
                assert not gpusort.is_sorted(array, **options), name
                assert gpusort.is_sorted(in_order, **options), name
                assert gpusort.is_sorted(pa.chunked_array([in_order[:1000], in_order[1000:]]), **options), name
                ranks = gpusort.rank(in_order, method="dense", **options)
                for at in (1, 1 << 15, 199_999):
                    lost = np.arange(200_000)
                    lost[at], lost[0] = 0, at
                    expected = np.array_equal(ranks[lost], ranks)
                    assert gpusort.is_sorted(in_order.take(pa.array(lost)), **options) == expected, (name, at)
                for k in (0, 1, 100, 199_999, 300_000):
                    assert gpusort.argtop(array, k, **options).tolist() == order[:k].tolist(), (name, k)
                assert gpusort.top(array, 9, **options).to_pylist() == in_order[:9].to_pylist() or name == "floats"
    assert gpusort.is_sorted(pa.array([], pa.string())) and gpusort.is_sorted(pa.array([None, None]))
    with pytest.raises(TypeError, match="have no order"):
        gpusort.is_sorted(pa.array([[1], [2]]))


def test_unordered_categories_of_pandas_are_in_the_order_of_their_codes():
    pd = pytest.importorskip("pandas")
    series = pd.Series(["lo", "hi", None, "mid", "lo"], dtype=pd.CategoricalDtype(["lo", "mid", "hi"]))
    frame = series.to_frame("c")
    for descending in [False, True]:
        expected = frame.sort_values("c", ascending=not descending, kind="stable")
        keys = [("c", "desc" if descending else "asc")]
        pd.testing.assert_frame_equal(gpusort.sort_table(frame, keys), expected)
        for x in [series, series.array, pd.CategoricalIndex(series)]:
            found = gpusort.sort(x, descending=descending)
            assert list(found.dropna()) == list(expected["c"].dropna())
            assert not series.cat.ordered


def test_nulls_within_types_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"k": [2, 1, 3], "l": [[], [None], None], "s": [{"a": None}, {"a": None}, None], "n": [None] * 3},
        schema_overrides={"l": pl.List(pl.Null), "s": pl.Struct({"a": pl.Null})},
    )
    found = gpusort.sort_table(frame, "k")
    assert found.schema == frame.schema
    assert found.rows() == frame.sort("k").rows()


def test_nan_of_dictionaries():
    array = pa.array([1.0, float("nan"), 2.0, None, -0.0, 0.0]).dictionary_encode()
    assert gpusort.argsort(array).tolist() == [4, 5, 0, 2, 1, 3]
    assert gpusort.argsort(array, descending=True).tolist() == [2, 0, 5, 4, 1, 3]
    assert gpusort.argsort(array, nulls="first").tolist() == [3, 1, 4, 5, 0, 2]


def test_panics_are_runtime_errors():
    """A claim of more nulls than there are, and a capsule that was used."""

    class Twice:
        def __init__(self, x):
            self.capsules = x.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    once = Twice(pa.array([2, 1]))
    assert gpusort.argsort(once).tolist() == [1, 0]
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        gpusort.argsort(once)
    bits = pa.py_buffer(bytes([0xFF]))
    claimed = pa.Array.from_buffers(pa.int64(), 4, [bits, pa.array([3, 1, 2, 0]).buffers()[1]], null_count=3)
    try:
        assert sorted(gpusort.argsort(claimed).tolist()) == [0, 1, 2, 3]
        assert len(gpusort.sort(claimed)) == 4
    except (TypeError, ValueError, RuntimeError):
        pass
