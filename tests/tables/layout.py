"""The layout of Parquet beside pyarrow: row groups, folders of files, and row groups that a merge copies.

    layout.py gpusort --cases 100 [--seed 1]

A case is sorted files whose row groups overlap here and there. They are merged, or sorted as one, in a random layout. The
rows must be those of a slow stable sort; what was copied must be the same bytes with the same indexes and filters, and
what overlaps with nothing must have been copied.
"""

import decimal
import json
import math
import os
import random
import subprocess
import tempfile

import pyarrow
import pyarrow.parquet

from generated import arguments, noticed, run_all

TYPES = {
    "int": (pyarrow.int64(), lambda number: number),
    "unsigned": (pyarrow.uint32(), lambda number: number),
    "text": (pyarrow.string(), lambda number: f"{number:06}" * 30),
    "time": (pyarrow.timestamp("us"), lambda number: number * 1_000_003),
    "decimal": (pyarrow.decimal128(20, 3), lambda number: decimal.Decimal(number)),
    "float": (pyarrow.float64(), lambda number: -0.0 if number == 7 else math.nan if number % 97 == 5 else float(number)),
}


def key(value, descending, nulls_first):
    """What orders a value: nulls and NaN at their ends, and zeros of floats by their signs."""
    if value is None:
        return (-2,) if nulls_first else (2,)
    if isinstance(value, float):
        return (1,) if math.isnan(value) else (0, *(-x if descending else x for x in (value, math.copysign(1, value))))
    if isinstance(value, str):
        return (0, tuple(-ord(letter) for letter in value) if descending else tuple(map(ord, value)))
    return (0, -value if descending else value)


def chunks(path, group):
    """The bytes of the columns of a row group."""
    columns = [group.column(number) for number in range(group.num_columns)]
    with open(path, "rb") as file:
        found = []
        for column in columns:
            file.seek(column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset)
            found.append(file.read(column.total_compressed_size))
    return tuple(found)


def groups(path):
    metadata = pyarrow.parquet.ParquetFile(path).metadata
    return [metadata.row_group(number) for number in range(metadata.num_row_groups)]


def filters(path, group):
    """The bloom filters of a row group, without the headers."""
    columns = [group.column(number) for number in range(group.num_columns)]
    with open(path, "rb") as file:
        found = []
        for column in columns:
            if column.bloom_filter_offset is not None:
                file.seek(column.bloom_filter_offset)
                found.append(file.read(column.bloom_filter_length)[-32:])
        return found


def files(rng, folder):
    """Writes sorted files; returns their paths, all rows in order, and what the keys are."""
    kind = rng.choice(["int", "int", "unsigned", "text", "time", "decimal", "float"])
    arrow, value = TYPES[kind]
    descending, nulls_first, nulls = rng.random() < 0.3, rng.random() < 0.3, rng.choice([0, 0, 0, 0.02])
    second, count = rng.random() < 0.3, rng.randrange(1, 6)
    numbers = sorted(rng.randrange(rng.choice([20, 300, 100_000])) for _ in range(rng.choice([0, 60, 900, 900, 900])))
    # Stretches of the order go to one file, or are strewn over all.
    of_file, at = [[] for _ in range(count)], 0
    while at < len(numbers):
        stretch = numbers[at : at + rng.randrange(1, 200)]
        at += len(stretch)
        owner = None if rng.random() < 0.3 else rng.randrange(count)
        for number in stretch:
            of_file[rng.randrange(count) if owner is None else owner].append(number)
    keys = [("k", descending)] + ([("s", False)] if second else [])
    by = lambda row: tuple(key(row[name], descends, nulls_first) for name, descends in keys)
    rows, paths, at = [], [], 0
    schema = pyarrow.schema([("k", arrow), ("s", pyarrow.int32()), ("at", pyarrow.int64()), ("l", pyarrow.list_(pyarrow.int16()))])
    bloom = {"k": {"ndv": 100}} if rng.random() < 0.3 else None
    how = {
        "compression": rng.choice(["none", "snappy", "zstd"]),
        "write_page_index": rng.random() < 0.5,
        "write_page_checksum": rng.random() < 0.5,
        "use_dictionary": rng.random() < 0.5,
        "data_page_version": rng.choice(["1.0", "2.0"]),
        "data_page_size": rng.choice([64, 2**20]),
        "bloom_filter_options": bloom,
        "store_schema": rng.random() < 0.5,
    }
    for number, own in enumerate(of_file):
        own = [{"k": None if rng.random() < nulls else value(one), "s": rng.randrange(3), "l": [one % 7] * (one % 3)} for one in own]
        own.sort(key=by)
        for row in own:
            row["at"] = at
            at += 1
        path = os.path.join(folder, f"{number}.parquet")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(own, schema), path, row_group_size=rng.choice([9, 20, 50, 1000]), **how)
        paths.append(path)
        rows += own
    rows.sort(key=by)
    is_exact = kind != "float" and not nulls and not second
    return paths, rows, keys, nulls_first, how, is_exact


def alone(paths, descending, span):
    """The row groups that overlap with none of another file, and have a number of rows within a span."""
    all_of = []
    for number, path in enumerate(paths):
        for group in groups(path):
            if group.num_rows > 0:
                low, high = group.column(0).statistics.min, group.column(0).statistics.max
                all_of.append((number, low, high, group, path))
    precedes = lambda one, next: (next[1] > one[2] if not descending else next[2] < one[1]) or (
        one[0] < next[0] and (next[1] == one[2] if not descending else next[2] == one[1])
    )
    is_alone = lambda one: all(other[0] == one[0] or precedes(one, other) or precedes(other, one) for other in all_of)
    return [(path, group) for number, low, high, group, path in filter(is_alone, all_of) if group.num_rows in span]


def run(binary, args):
    done = subprocess.run([binary, *args], stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, (done.stdout + done.stderr).decode()


def case(rng, binary, folder):
    paths, rows, keys, nulls_first, how, is_exact = files(rng, folder)
    merges, splits = rng.random() < 0.7, rng.random() < 0.5
    out = os.path.join(folder, "out" if splits else "out.parquet")
    most = rng.choice([None, None, 1, 15, 50, 1000]) if len(rows) < 500 or rng.random() < 0.5 else None
    size = rng.choice([None, None, None, 1, "20K", "1M"])
    split = rng.choice([1, 3000, "20K", "1G"]) if splits else None
    compression = rng.choice([None, None, "zstd:9", "gzip:1", how["compression"]])
    by = [part for name, descending in keys for part in ("-k", name + (":r" if descending else ""))]
    by += ["--empty", "first"] if nulls_first else []
    args = ["sort", "--json", "--timing", "stderr", *by, *paths, "-o", out]
    args += ["-m"] if merges else ["-d", "cpu"]
    for option, said in [("row-group-rows", most), ("row-group-size", size), ("split-size", split), ("parquet-compression", compression)]:
        args += [f"--{option}", str(said)] if said is not None else []
    args += ["--memory", "1"] if rng.random() < 0.2 else []
    code, said = run(binary, args)
    assert code == 0, f"{args}: {said}"
    report = json.loads(said)
    parts = [os.path.join(out, name) for name in sorted(os.listdir(out)) if name.startswith("part-")] if splits else [out]
    read = pyarrow.concat_tables(pyarrow.parquet.read_table(path) for path in parts)
    assert read.column("at").to_pylist() == [row["at"] for row in rows], f"{args}\n{said}"
    source = pyarrow.concat_tables(pyarrow.parquet.read_table(path) for path in paths)
    assert read.schema == source.schema, args
    assert repr(read.to_pylist()) == repr(source.take(read.column("at")).to_pylist()), args
    assert report["n"] == len(rows)
    if splits:
        assert sorted(os.listdir(out)) == ["_SUCCESS", "manifest.json", *(os.path.basename(path) for path in parts)]
        manifest = json.load(open(os.path.join(out, "manifest.json")))
        assert [(one["name"], one["rows"], one["bytes"]) for one in manifest["parts"]] == [
            (os.path.basename(path), pyarrow.parquet.ParquetFile(path).metadata.num_rows, os.path.getsize(path)) for path in parts
        ]
        assert run(binary, ["check", os.path.join(out, "manifest.json")]) == (0, ""), args
        # The footers, with statistics and indexes of tiny pages, are not counted.
        sizes = [[sum(group.column(number).total_compressed_size for number in range(group.num_columns)) for group in groups(path)] for path in parts]
        limit = {1: 1, 3000: 3000, "20K": 20480, "1G": 2**30}[split]
        assert all(sum(of_file) <= limit * 2 + 800 * len(of_file) or len(of_file) <= 1 for of_file in sizes), f"{args}: {sizes}"
        assert all(sum(of_file) >= limit / 2 for of_file in sizes[:-1]) or report.get("copied_groups") or limit == 3000, f"{args}: {sizes}"
    named = {None: how["compression"], "zstd:9": "zstd", "gzip:1": "gzip"}.get(compression, compression)
    found = [(path, group) for path in parts for group in groups(path)]
    names = [column.path for column in pyarrow.parquet.ParquetFile(parts[0]).schema]
    for path, group in found:
        assert group.num_rows <= (most or 2**20), f"{args}: {group.num_rows} rows"
        columns = [group.column(number) for number in range(group.num_columns)]
        assert {column.compression.lower() for column in columns} == {named.replace("none", "uncompressed")}, args
        assert [(names[one.column_index], one.descending, one.nulls_first) for one in group.sorting_columns] == [
            (name, descending, nulls_first) for name, descending in keys
        ], args
        assert how["bloom_filter_options"] is None or columns[0].bloom_filter_offset is not None, args
    inputs = [(path, group) for path in paths for group in groups(path)]
    before = {chunks(path, group): (path, group) for path, group in inputs if group.num_rows > 0}
    copied = [(path, group) for path, group in found if chunks(path, group) in before]
    assert len(copied) >= report.get("copied_groups", 0), f"{args}: {said}"
    for path, group in copied:
        source, old = before[chunks(path, group)]
        for number in range(group.num_columns):
            one, other = group.column(number), old.column(number)
            # The order of floats is another one in files of pyarrow.
            if report.get("copied_groups", 0) == len(copied) and one.physical_type != "DOUBLE":
                assert (one.has_offset_index, one.has_column_index) == (other.has_offset_index, other.has_column_index), args
            assert one.statistics == other.statistics if one.physical_type != "DOUBLE" else not one.is_stats_set or not one.statistics.has_min_max
        assert filters(path, group) == filters(source, old), args
    for path, group in found:
        if chunks(path, group) not in before:
            bytes_of_group = sum(group.column(number).total_compressed_size for number in range(group.num_columns))
            limit = {None: 2**40, 1: 1, "20K": 20480, "1M": 2**20}[size]
            # Of few rows the size is estimated by those before; headers of pages are not counted.
            assert bytes_of_group <= limit * 2 + 400 * group.num_columns or group.num_rows <= 16, f"{args}: {group.num_rows} rows of {bytes_of_group} bytes"
            assert all(group.column(number).has_offset_index for number in range(group.num_columns)), args
    if not merges:
        assert "copied_groups" not in report
    elif is_exact and size is None and split != 1 and split != 3000 and compression not in ("zstd:9", "gzip:1"):
        span = range((most or 2) // 2 if most else 0, (most or 2**20) + 1)
        kept = alone(paths, keys[0][1], span)
        assert report.get("copied_groups", 0) == len(kept), f"{args}: {report.get('copied_groups')} of {len(kept)}"
        assert report.get("copied_rows", 0) == sum(group.num_rows for _, group in kept), args


def two_files(folder, numbers, **how):
    """Writes a file for each list of numbers, in row groups of 100; returns their paths."""
    paths = [os.path.join(folder, f"{number}.parquet") for number in range(len(numbers))]
    for path, of_file in zip(paths, numbers):
        made = pyarrow.table({"k": pyarrow.array(of_file, pyarrow.int64()), "v": [f"v{number}" * 5 for number in of_file]})
        pyarrow.parquet.write_table(made, path, row_group_size=100, **how)
    return paths


def damage_is_found(binary, folder):
    """Statistics that are false, row groups and files that are not in order, and damaged pages of what is copied."""
    out = os.path.join(folder, "out.parquet")
    refused = lambda paths: run(binary, ["sort", "-q", "-m", "-k", "k", *paths, "-o", out])

    paths = two_files(folder, [list(range(2000, 2100)), list(range(2050, 2150))])
    assert refused(paths) == (0, "") and groups(out)[0].num_rows == 200
    with open(paths[0], "rb") as file:
        data = bytearray(file.read())
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    false = data[:footer] + data[footer:].replace((2099).to_bytes(8, "little"), (2010).to_bytes(8, "little"))
    assert false != data
    for path, order in [(paths[0], paths), (os.path.join(folder, "false.parquet"), [paths[1], os.path.join(folder, "false.parquet")])]:
        with open(path, "wb") as file:
            file.write(false)
        code, said = refused(order)
        assert code == 2 and "the statistics of a row group contradict its rows" in said, said

    numbers = list(range(100)) + list(range(200, 300))
    for wrong in [numbers[100:] + numbers[:100], [5, 4] + numbers[2:], numbers[:198] + [299, 298]]:
        paths = two_files(folder, [wrong, list(range(400, 500))])
        code, said = refused(paths)
        assert code == 2 and "out of order" in said, f"{wrong}: {said}"

    paths = two_files(folder, [list(range(100)), list(range(100, 200)), list(range(200, 300))], compression="none", use_dictionary=False)
    os.remove(out)
    values = groups(paths[1])[0].column(1)
    with open(paths[1], "rb") as file:
        whole = file.read()
    for change in [lambda page: bytes(len(page)), lambda page: b"\xff" * len(page), lambda page: page[::-1]]:
        begin = values.data_page_offset
        with open(paths[1], "wb") as file:
            file.write(whole[:begin] + change(whole[begin : begin + 12]) + whole[begin + 12 :])
        code, said = refused(paths)
        assert code == 2 and "1.parquet: invalid Parquet" in said and not os.path.exists(out), said


def compression_is_kept(binary, folder):
    """Where a column is stored in another way than the input has it: pyarrow stores small decimals as bytes."""
    path, out = os.path.join(folder, "in.parquet"), os.path.join(folder, "out.parquet")
    table = pyarrow.table({"k": [2, 1], "price": pyarrow.array([2, 1]).cast(pyarrow.decimal128(21, 2)).cast(pyarrow.decimal128(9, 2))})
    pyarrow.parquet.write_table(table, path, compression={"k": "gzip", "price": "zstd"}, bloom_filter_options={"k": {"ndv": 100}})
    assert run(binary, ["sort", "-q", "-k", "k", path, "-o", out]) == (0, "")
    columns = [groups(out)[0].column(number) for number in range(2)]
    assert [column.compression for column in columns] == ["GZIP", "ZSTD"] and columns[0].bloom_filter_offset is not None
    assert pyarrow.parquet.read_table(out) == table.take([1, 0])


def encodings_are_kept(binary, folder):
    """A dictionary above the usual limit of 1 MiB is kept; a column without one gets none, unless it is the key."""
    path, out = os.path.join(folder, "encoded.parquet"), os.path.join(folder, "encodings.parquet")
    count = 100_000
    words, hashes = [f"{at * 7919 % 50_000:040}" for at in range(count)], [at * 2654435761 % 2**32 for at in range(count)]
    requested = {"plain": "PLAIN", "delta": "DELTA_BINARY_PACKED", "split": "BYTE_STREAM_SPLIT", "text": "DELTA_BYTE_ARRAY", "k": "PLAIN"}
    table = pyarrow.table({"word": words, "plain": hashes, "delta": hashes, "split": [at / 3 for at in hashes], "text": words, "k": hashes})
    options = {"use_dictionary": ["word"], "column_encoding": requested, "dictionary_pagesize_limit": 2**30}
    pyarrow.parquet.write_table(table, path, **options)
    for more in ([], ["--memory", "8M"]):
        assert run(binary, ["sort", "-q", "-k", "k", path, "-o", out, *more]) == (0, "")
        assert pyarrow.parquet.read_table(out) == table.sort_by("k")
        for group in groups(out):
            found = {group.column(number).path_in_schema: group.column(number) for number in range(group.num_columns)}
            assert {name: column.has_dictionary_page for name, column in found.items()} == {name: name in ("word", "k") for name in found}, found
            for name in ("plain", "delta", "split", "text"):
                assert requested[name] in found[name].encodings, found[name]
        size = lambda path: sum(group.column(0).total_uncompressed_size for group in groups(path))
        assert more or size(out) <= size(path) + 4096, f"{size(out)} bytes of {size(path)}"


def self_test(rng):
    assert key(None, True, True) < key(5, True, True) < key(4, True, True) < key(math.nan, True, True)
    assert key(-0.0, False, False) < key(0.0, False, False) < key(math.inf, False, False) < key(math.nan, False, False) < key(None, False, False)
    # A program that copies its first input must be found out.
    script = 'for one; do case $one in *0.parquet) first=$one;; */out*) out=$one;; esac; done\ncp $first $out; echo "{\\"n\\": 0}"\n'
    found = noticed(rng, script, case)
    assert found > 15, f"{found} of 20 wrong answers were noticed"


def main():
    asked = arguments()
    self_test(random.Random(7))
    with tempfile.TemporaryDirectory() as folder:
        damage_is_found(asked.binary, folder)
        compression_is_kept(asked.binary, folder)
        encodings_are_kept(asked.binary, folder)
    run_all(asked.cases, asked.seed, lambda rng, folder, _: case(rng, asked.binary, folder))


main()
