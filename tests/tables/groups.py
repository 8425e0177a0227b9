"""Compares counts, first rows and shuffles of Parquet and Arrow with Python's, over generated tables."""

import json
import math
import os
import random
import subprocess
from collections import Counter

import pyarrow
import pyarrow.ipc
import pyarrow.parquet

from generated import arguments, noticed, run_all


def table(rng, values):
    """A table with keys of several types, which have this many values, and the numbers of the rows."""
    rows = rng.choice([0, 1, 2, 50, 3000, 70_000])

    def some(make, kind):
        drawn = [None if rng.random() < 0.05 else make(rng.randrange(values)) for _ in range(rows)]
        return pyarrow.array(drawn, kind)

    whole, text = some(int, pyarrow.int64()), some(lambda value: f"a text with number {value}", pyarrow.string())
    fields = {"id": pyarrow.array(range(rows), pyarrow.int64()), "i": whole, "t": text}
    fields["f"] = some(lambda value: value / 2 if value else math.nan, pyarrow.float64())
    fields["b"] = some(lambda value: value % 2 == 0, pyarrow.bool_())
    fields["d"] = text.dictionary_encode()
    fields["s"] = pyarrow.StructArray.from_arrays([whole, text], ["i", "t"])
    return pyarrow.table(fields)


def write(rng, content, path):
    if path.endswith("parquet"):
        return pyarrow.parquet.write_table(content, path, row_group_size=rng.choice([100, 10_000, 1_000_000]))
    with pyarrow.OSFile(path, "wb") as file, pyarrow.ipc.new_file(file, content.schema) as writer:
        for batch in content.to_batches(max_chunksize=rng.choice([100, 10_000])):
            writer.write_batch(batch)


def read(path):
    return pyarrow.parquet.read_table(path) if path.endswith("parquet") else pyarrow.ipc.open_file(path).read_all()


def place(value):
    """Where a value comes: NaN after numbers, nulls last."""
    return (2, 0) if value is None else (1, 0) if value == "NaN" else (0, value)


def values_of(content, column):
    """The values of a column, or of a field within it; all NaN are one value."""
    rows = content.column(column.split(".")[0]).to_pylist()
    if "." in column:
        rows = [row[column.split(".")[1]] for row in rows]
    return ["NaN" if isinstance(value, float) and math.isnan(value) else value for value in rows]


def comparable(content):
    return [tuple(map(str, row.values())) for row in content.to_pylist()]


def case(rng, binary, folder):
    path = lambda name: os.path.join(folder, name)

    def run(*words):
        return subprocess.run([binary, *words], check=True, capture_output=True, text=True).stdout

    form, into = rng.choice(["parquet", "arrow"]), rng.choice(["parquet", "arrow"])
    memory = rng.choice([[], [], ["--memory", rng.choice(["1", "4M", "40M"])]])
    column, most = rng.choice(["i", "t", "f", "b", "d", "s.i"]), rng.choice([None, None, 1, 5])
    # All keys without --top must fit in the memory.
    many = rng.choice([1, 3, 50, 5000] + [50_000] * (not memory or most is not None))
    content, source, out = table(rng, many), path(f"in.{form}"), path(f"out.{into}")
    write(rng, content, source)
    top = [] if most is None else ["--top", str(most)]
    values = values_of(content, column)
    counts, firsts = Counter(values), {}
    for number, value in enumerate(values):
        firsts.setdefault(value, number)

    report = json.loads(run("count", "-q", "--json", "-k", column, *top, *memory, source, "-o", out))
    nulls = {name: counts[value] for name, value in (("nan", "NaN"), ("empty", None)) if counts[value]}
    assert {name: report.get(name, 0) for name in nulls} == nulls, (column, memory, report)
    expected = sorted(counts, key=lambda value: (-counts[value], place(value)))[:most]
    found = read(out)
    assert found.column_names == ["count", column]
    found = found.rename_columns(["count", "key"])
    assert values_of(found, "key") == expected, (column, memory)
    assert found["count"].to_pylist() == [counts[value] for value in expected]
    lines = run("count", "-q", "-k", column, *top, *memory, source).splitlines()
    assert [line.split(",")[0] for line in lines] == ["count"] + [str(counts[value]) for value in expected]

    run("sort", "-q", "-u", "--count", "-k", column, *top, *memory, source, "-o", out)
    expected = sorted(counts, key=place)[:most]
    found = read(out)
    assert found["count"].to_pylist() == [counts[value] for value in expected], (column, memory)
    assert comparable(found.drop_columns(["count"])) == comparable(taken(content, [firsts[value] for value in expected]))
    if into == "parquet" and column in "it":
        metadata = pyarrow.parquet.read_metadata(out)
        of_groups = [metadata.row_group(group).sorting_columns for group in range(metadata.num_row_groups)]
        key = pyarrow.parquet.SortingColumn(metadata.schema.to_arrow_schema().get_field_index(column))
        assert all(sorting == (key,) for sorting in of_groups), (column, memory)

    run("sort", "-q", "-u", "--keep-order", "-k", column, *top, *memory, source, "-o", out)
    assert comparable(read(out)) == comparable(taken(content, sorted(firsts.values())[:most])), (column, memory)

    by, each, seen, expected = rng.choice(["id", "i", "t"]), rng.choice([1, 2, 7]), Counter(), []
    keys = values_of(content, by)
    for number in sorted(range(len(values)), key=lambda number: place(keys[number])):
        seen[values[number]] += 1
        if seen[values[number]] <= each:
            expected.append(number)
    # All values must fit in a quarter of the memory.
    if many < 50_000 or not memory:
        run("sort", "-q", "-k", by, "--per", column, "--top", str(each), *memory, source, "-o", out)
        assert comparable(read(out)) == comparable(taken(content, expected)), (by, column, memory)

    seed = str(rng.randrange(100))
    run("shuffle", "-q", "--seed", seed, *top, *memory, source, "-o", out)
    found = read(out)
    with open(path("in.csv"), "w") as lines:
        lines.write("id\n" + "".join(f"{number}\n" for number in range(len(values))))
    expected = [int(line) for line in run("shuffle", "-q", "--seed", seed, *top, path("in.csv")).split()[1:]]
    assert comparable(found) == comparable(taken(content, expected)), (seed, memory)


def taken(content, rows):
    return content.take(pyarrow.array(rows, pyarrow.int64()))


def main():
    asked = arguments()
    found = noticed(random.Random(7), 'for file in "$@"; do case "$file" in *in.*) cp "$file" "${file%in.*}out.${file##*.}";; esac; done\n', case)
    assert found == 20, f"{found} of 20 wrong answers were noticed"
    run_all(asked.cases, asked.seed, lambda rng, folder, _: case(rng, asked.binary, folder))


main()
