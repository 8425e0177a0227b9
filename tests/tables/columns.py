"""Parquet and Arrow beside a slow sort of Python's, and engines that read what comes out.

    columns.py gpusort --cases 100 [--seed 1]

A case is a table of random columns, written by pyarrow, DuckDB or Polars in one of many ways, and sorted by some
of them: in all memory or in little, whole or its first rows, each key once, or merged with others. What comes out is read
by all three; it must be the same rows, of the same types, in the order that Python finds.
"""

import decimal
import math
import os
import random
import re
import struct
import subprocess
import tempfile

import duckdb
import polars
import pyarrow
import pyarrow.parquet

from generated import arguments, noticed, run_all

D = decimal.Decimal


def texts(rng):
    return "".join(rng.choice("abßz\U0001F600 ") for _ in range(rng.randrange(5)))


# Types, and values of them, by the random numbers of a case.
TYPES = [
    (pyarrow.int64(), lambda rng: rng.choice([rng.randrange(-5, 5), rng.randrange(-(2**63), 2**63)])),
    (pyarrow.int32(), lambda rng: rng.randrange(-9, 9)),
    (pyarrow.int8(), lambda rng: rng.randrange(-128, 128)),
    (pyarrow.uint16(), lambda rng: rng.randrange(2**16)),
    (pyarrow.uint64(), lambda rng: rng.choice([rng.randrange(5), rng.randrange(2**64)])),
    (pyarrow.float64(), lambda rng: rng.choice([0.0, -0.0, math.nan, math.inf, -math.inf, rng.random() - 0.5])),
    (pyarrow.float32(), lambda rng: struct.unpack("f", struct.pack("f", rng.random() * 10 - 5))[0]),
    (pyarrow.bool_(), lambda rng: rng.random() < 0.5),
    (pyarrow.string(), texts),
    (pyarrow.large_string(), texts),
    (pyarrow.binary(), lambda rng: rng.randbytes(rng.randrange(4))),
    (pyarrow.date32(), lambda rng: rng.randrange(-1000, 20000)),
    (pyarrow.timestamp("us", "UTC"), lambda rng: rng.randrange(-(10**15), 10**15)),
    (pyarrow.timestamp("ms"), lambda rng: rng.randrange(10**12)),
    (pyarrow.decimal128(9, 2), lambda rng: D(rng.randrange(-(10**9) + 1, 10**9)).scaleb(-2)),
    (pyarrow.decimal128(30, 5), lambda rng: D(rng.randrange(-(10**29), 10**29)).scaleb(-5, decimal.Context(prec=40))),
    (pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), lambda rng: rng.choice(["x", "yy", "", "z"])),
]
NESTED = [
    (pyarrow.list_(pyarrow.int32()), lambda rng: [rng.choice([None, rng.randrange(9)]) for _ in range(rng.randrange(4))]),
    (pyarrow.struct([("x", pyarrow.int32()), ("y", pyarrow.string())]), lambda rng: {"x": rng.choice([None, rng.randrange(4)]), "y": texts(rng)}),
    (pyarrow.map_(pyarrow.string(), pyarrow.int32()), lambda rng: [(str(at), rng.randrange(9)) for at in range(rng.randrange(3))]),
]


def column(rng, kind, value, rows):
    nulls = rng.choice([0, 0, 0.3])
    values = [None if rng.random() < nulls else value(rng) for _ in range(rows)]
    if pyarrow.types.is_date(kind) or pyarrow.types.is_timestamp(kind):
        width = pyarrow.int32() if pyarrow.types.is_date(kind) else pyarrow.int64()
        return pyarrow.array(values, width).cast(kind)
    return pyarrow.array(values, kind)


def table(rng):
    rows = rng.choice([0, 1, 2, 7, 50, 300, 2000])
    chosen = [rng.choice(TYPES) for _ in range(rng.randrange(1, 6))] + [rng.choice(NESTED) for _ in range(rng.randrange(0, 2))]
    names = [f"c{number}" for number in range(len(chosen))]
    made = pyarrow.table([column(rng, kind, value, rows) for kind, value in chosen], names=names)
    return made.append_column("at", pyarrow.array(range(rows), pyarrow.int64()))


def raw(array):
    """The values of a column, of which each is ordered by its number, its bytes, or itself."""
    kind = array.type
    if pyarrow.types.is_dictionary(kind):
        return raw(array.cast(kind.value_type))
    if pyarrow.types.is_date(kind):
        return array.cast(pyarrow.int32()).to_pylist()
    if pyarrow.types.is_timestamp(kind):
        return array.cast(pyarrow.int64()).to_pylist()
    if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
        return [None if value is None else value.encode() for value in array.to_pylist()]
    return array.to_pylist()


def rank(value):
    """What orders values that are neither null nor NaN: zeros of floats have signs."""
    if isinstance(value, float):
        return (value, math.copysign(1, value))
    return value


class Key:
    """A value by which rows are ordered in one direction; nulls stay at their end."""

    def __init__(self, value, descending, nulls_first):
        is_nan = isinstance(value, float) and math.isnan(value)
        self.place = (-1 if nulls_first else 2) if value is None else 1 if is_nan else 0
        self.value = None if self.place else rank(value)
        self.descending = descending

    def __eq__(self, other):
        return (self.place, self.value) == (other.place, other.value)

    def __lt__(self, other):
        if self.place or other.place:
            return self.place < other.place
        return other.value < self.value if self.descending else self.value < other.value


def expected(made, keys, nulls_first, unique, top):
    """The numbers of rows in their order."""
    columns = [[Key(value, descending, nulls_first) for value in raw(made.column(name))] for name, descending in keys]
    rows = list(range(made.num_rows))
    by = [tuple(column[row] for column in columns) for row in rows]
    rows.sort(key=lambda row: by[row])
    if unique:
        rows = [row for at, row in enumerate(rows) if at == 0 or by[row] != by[rows[at - 1]]]
    return rows[:top]


def same(one, other):
    """Whether tables are the same, NaN included, whatever chunks or dictionaries they have."""
    if one.schema != other.schema or one.num_rows != other.num_rows:
        return False
    shown = lambda made: [[repr(value) for value in made.column(name).to_pylist()] for name in made.column_names]
    return shown(one) == shown(other)


def write(rng, made, path):
    """Writes a table in one of many ways; returns it as it is read again."""
    if path.endswith(".parquet"):
        has = lambda is_it: any(is_it(kind) for kind in made.schema.types)
        by = rng.choice(["pyarrow"] * 4 + ["duckdb", "polars"])
        # These have no such types.
        is_odd = has(pyarrow.types.is_dictionary) or has(pyarrow.types.is_map) or made.num_rows == 0
        if by == "duckdb" and not is_odd:
            connection = duckdb.connect()
            connection.register("made", made)
            connection.sql(f"copy made to '{path}' (format parquet, compression {rng.choice(['snappy', 'zstd', 'gzip'])}, row_group_size 2048)")
        elif by == "polars" and not is_odd:
            polars.from_arrow(made).write_parquet(path, compression=rng.choice(["zstd", "snappy", "lz4", "uncompressed"]))
        else:
            pyarrow.parquet.write_table(
                made,
                path,
                compression=rng.choice(["none", "snappy", "zstd", "gzip", "brotli", "lz4"]),
                row_group_size=rng.choice([1, 7, 100, 1000, 10**6]),
                use_dictionary=rng.random() < 0.5,
                data_page_version=rng.choice(["1.0", "2.0"]),
                write_statistics=rng.random() < 0.8,
                version=rng.choice(["1.0", "2.4", "2.6"]),
                store_schema=rng.random() < 0.7,
            )
        return pyarrow.parquet.read_table(path)
    compression = rng.choice([None, "lz4", "zstd"])
    options = pyarrow.ipc.IpcWriteOptions(compression=compression, unify_dictionaries=not path.endswith("s"))
    begin = pyarrow.ipc.new_stream if path.endswith("s") else pyarrow.ipc.new_file
    with begin(path, made.schema, options=options) as writer:
        writer.write_table(made, max_chunksize=rng.choice([3, 100, 10**6]))
    return read(path)


def read(path):
    if path.endswith(".parquet"):
        return pyarrow.parquet.read_table(path)
    with pyarrow.memory_map(path) as source:
        is_stream = path.endswith("s")
        reader = pyarrow.ipc.open_stream(source) if is_stream else pyarrow.ipc.open_file(source)
        return reader.read_all()


def claimed(path, keys, nulls_first):
    """Whether a file says of itself what it is ordered by."""
    file = pyarrow.parquet.ParquetFile(path)
    names = [file.schema.column(number).path for number in range(len(file.schema))]
    for group in range(file.metadata.num_row_groups):
        said = [(names[one.column_index], one.descending, one.nulls_first) for one in file.metadata.row_group(group).sorting_columns]
        if said != [(name, descending, nulls_first) for name, descending in keys]:
            return False
    return True


def run(binary, args):
    done = subprocess.run([binary, *args], stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, (done.stdout + done.stderr).decode()


def case(rng, binary, folder):
    made = table(rng)
    kind = rng.choice(["parquet"] * 3 + ["arrow", "arrows"])
    source, target = os.path.join(folder, f"in.{kind}"), os.path.join(folder, f"out.{kind}")
    made = write(rng, made, source)
    simple = [name for name in made.column_names if not pyarrow.types.is_nested(made.schema.field(name).type)]
    keys = [(name, rng.random() < 0.5) for name in rng.sample(simple, rng.randrange(1, min(3, len(simple)) + 1))]
    nulls_first, unique = rng.random() < 0.3, rng.random() < 0.2
    top = rng.choice([None, None, None, 0, 1, 5, 100])
    args = ["sort", "-q", "-d", "cpu", source, "-o", target]
    for name, descending in keys:
        args += ["-k", name + (":r" if descending else "")]
    args += ["--empty", "first"] if nulls_first else []
    args += ["-u"] if unique else []
    args += ["--top", str(top)] if top is not None else []
    has_dictionary = any(pyarrow.types.is_dictionary(field.type) for field in made.schema)
    if rng.random() < 0.4:
        args += ["--memory", "1"]
    code, said = run(binary, args)
    assert code == 0, f"{args}: {said}"
    rows = expected(made, keys, nulls_first, unique, top)
    correct = made.take(pyarrow.array(rows, pyarrow.int64()))
    sorted_rows = read(target)
    assert same(correct, sorted_rows), f"{args}: {rows}, not {sorted_rows.column('at').to_pylist()}\n{made.schema}\n{sorted_rows.schema}"
    if kind == "parquet":
        is_plain = not any(pyarrow.types.is_dictionary(made.schema.field(name).type) for name, _ in keys)
        assert claimed(target, keys, nulls_first) or not is_plain, f"{args}: {pyarrow.parquet.ParquetFile(target).metadata}"
        numbers = correct.column("at").to_pylist()
        assert [row[0] for row in duckdb.sql(f"select \"at\" from '{target}'").fetchall()] == numbers, args
        assert polars.read_parquet(target, columns=["at"])["at"].to_list() == numbers, args
    by = [part for name, descending in keys for part in ("-k", name + (":r" if descending else ""))]
    by += ["--empty", "first"] if nulls_first else []
    code, said = run(binary, ["check", "-q", *by, target])
    assert code == 0, f"check {by}: {said}"
    if top is None and not unique:
        # Sorted halves come together as the whole.
        cut = rng.randrange(made.num_rows + 1)
        halves = [os.path.join(folder, f"{half}.parquet") for half in "ab"]
        numbers = [[row for row in rows if row < cut], [row for row in rows if row >= cut]]
        for half, of_half in zip(halves, numbers):
            pyarrow.parquet.write_table(made.take(pyarrow.array(of_half, pyarrow.int64())), half, row_group_size=64)
        merged = os.path.join(folder, "merged.parquet")
        code, said = run(binary, ["sort", "-q", "-m", *by, *halves, "-o", merged])
        assert code == 0, f"merge {by}: {said}"
        assert read(merged).column("at").to_pylist() == rows, f"merge {by}"
        # A further input that repeats all rows adds none.
        once = os.path.join(folder, "once.parquet")
        code, said = run(binary, ["sort", "-q", "-m", "-u", *by, merged, merged, "-o", once])
        assert code == 0, f"merge -u {by}: {said}"
        assert read(once).column("at").to_pylist() == expected(made, keys, nulls_first, True, None), f"merge -u {by}"
        if len(rows) > 1 and expected(correct, keys, nulls_first, False, None) != expected(made, keys, nulls_first, False, None):
            code, said = run(binary, ["check", "-q", *by, source])
            assert code == 1, f"check of what is not in order, {by}: {code} {said}"
    for other in ["arrow", "parquet"]:
        if other != kind and not has_dictionary and rng.random() < 0.3:
            path = os.path.join(folder, f"to.{other}")
            code, said = run(binary, ["sort", "-q", *by, source, "-o", path])
            assert code == 0, f"to {other}: {said}"
            assert read(path).column("at").to_pylist() == expected(made, keys, nulls_first, False, None), f"to {other}"


def self_test(rng):
    """Of an oracle that says nothing else than the tables are the same, nobody knows whether it can."""
    made = pyarrow.table({"a": [2.0, math.nan, None, -0.0, 0.0], "at": range(5)})
    assert expected(made, [("a", False)], False, False, None) == [3, 4, 0, 1, 2]
    assert expected(made, [("a", True)], True, False, None) == [2, 0, 4, 3, 1]
    assert not same(made, made.take([0, 1, 2, 4, 3])), "zeros of both signs are told apart"
    assert same(made, made.take([0, 1, 2, 3, 4]))
    assert not same(made, made.slice(0, 4))
    assert not same(made, made.set_column(1, "at", pyarrow.array(range(5), pyarrow.int32())))
    # Something that only copies must be found out.
    found = noticed(rng, '[ "$1" = check ] || cp "$5" "$7"\n', case)
    assert found > 10, f"{found} of 20 wrong answers were noticed"



def row_groups_scanned(path, low, high):
    """How many row groups DuckDB reads to find the rows of a range."""
    (_, plan), = duckdb.sql(f"explain (analyze, format json) select * from '{path}' where a between {low} and {high}").fetchall()
    found = re.findall(r'"row_groups_scanned": *(\d+)', plan)
    return int(found[0])


def engines_skip_row_groups(binary, folder):
    """Of a sorted file DuckDB reads only the row groups that can have what is asked for; of the same unsorted, all."""
    rows = 1_250_000
    numbers = list(range(rows))
    random.Random(1).shuffle(numbers)
    before, after = f"{folder}/before.parquet", f"{folder}/after.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"a": numbers}), before, row_group_size=rows // 10)
    assert run(binary, ["sort", "-q", "-k", "a", before, "-o", after]) == (0, "")
    assert [row_groups_scanned(path, 400_000, 400_100) for path in (before, after)] == [10, 1]


def main():
    asked = arguments()
    self_test(random.Random(7))
    with tempfile.TemporaryDirectory() as folder:
        engines_skip_row_groups(asked.binary, folder)
    run_all(asked.cases, asked.seed, lambda rng, folder, _: case(rng, asked.binary, folder))


main()
