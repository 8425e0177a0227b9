"""Every type of Arrow, as a column that is carried along and as a key, beside the table in docs/types.md.

    kinds.py gpusort docs/types.md --cases 100 [--seed 1]

A column of each type goes from Arrow and Parquet files to both, sorted in all memory, sorted in little and merged. It comes
out as the table says: with the same values and type, with the same values in the type that the table names, or refused by
name with no output. What a sort writes is the same bytes in any memory, but for nulls in Arrow. Keys are compared with pyarrow's sort_indices.
"""

import decimal
import os
import random
import subprocess

import pyarrow
import pyarrow.compute
import pyarrow.ipc
import pyarrow.parquet

from generated import arguments, noticed, run_all

D = decimal.Decimal


def whole(rng):
    return rng.randrange(-100, 100)


def number(rng):
    return rng.randrange(100)


def text(rng):
    return "".join(rng.choice("abß\U0001F600 ") for _ in range(rng.choice([0, 1, 3, 20])))


def items(rng):
    return [rng.choice([None, rng.randrange(9)]) for _ in range(rng.randrange(4))]


def plain(kind, value):
    """Makes columns of a type from values of it; of times from their numbers."""

    def make(rows, rng):
        values = [None if rng.random() < 0.2 else value(rng) for _ in range(rows)]
        if pyarrow.types.is_temporal(kind) and not pyarrow.types.is_interval(kind):
            return pyarrow.array(values, pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64()).view(kind)
        return pyarrow.array(values, kind)

    return make


def dictionary(keys, values, ordered=False):
    """Makes columns of a dictionary; each has some of the values, in an order of its own unless that is the order of rows."""

    def make(rows, rng):
        own = values if ordered else pyarrow.array(rng.sample(values.to_pylist(), len(values)), values.type)
        numbers = [rng.choice([None, *range(len(own))]) for _ in range(rows)]
        return pyarrow.DictionaryArray.from_arrays(pyarrow.array(numbers, keys), own, ordered=ordered)

    return make


def runs(ends):
    def make(rows, rng):
        places = sorted(rng.sample(range(1, rows), min(5, rows - 1))) + [rows]
        values = pyarrow.array([rng.choice([None, "x", "y"]) for _ in places])
        return pyarrow.RunEndEncodedArray.from_arrays(pyarrow.array(places, ends), values)

    return make


def union(rows, rng):
    tags = pyarrow.array([rng.randrange(2) for _ in range(rows)], pyarrow.int8())
    return pyarrow.UnionArray.from_sparse(tags, [pyarrow.array(range(rows)), pyarrow.array([str(row) for row in range(rows)])])


def extension(kind, value):
    def make(rows, rng):
        return pyarrow.ExtensionArray.from_storage(kind, pyarrow.array([value(rng) for _ in range(rows)], kind.storage_type))

    return make


def kinds():
    made = {"null": plain(pyarrow.null(), lambda rng: None), "bool": plain(pyarrow.bool_(), lambda rng: rng.random() < 0.5)}
    for bits in (8, 16, 32, 64):
        made[f"int{bits}"] = plain(getattr(pyarrow, f"int{bits}")(), whole)
        made[f"uint{bits}"] = plain(getattr(pyarrow, f"uint{bits}")(), number)
    for kind in (pyarrow.float16(), pyarrow.float32(), pyarrow.float64()):
        made[str(kind)] = plain(kind, lambda rng: rng.randrange(-9, 9) / 4)
    cases = [pyarrow.decimal32(7, 2), pyarrow.decimal64(15, 2), pyarrow.decimal128(30, 2), pyarrow.decimal256(60, 2)]
    for kind in cases:
        made[str(kind)] = plain(kind, lambda rng: D(whole(rng)).scaleb(-2))
    made["decimal128(7, -2)"] = plain(pyarrow.decimal128(7, -2), lambda rng: D(whole(rng)).scaleb(2))
    made["date32[day]"] = plain(pyarrow.date32(), whole)
    made["date64[ms]"] = plain(pyarrow.date64(), lambda rng: whole(rng) * 86_400_000)
    for kind in (pyarrow.time32("s"), pyarrow.time32("ms"), pyarrow.time64("us"), pyarrow.time64("ns")):
        made[str(kind)] = plain(kind, number)
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "UTC", "Europe/Paris", "+05:30"):
            made[str(pyarrow.timestamp(unit, zone))] = plain(pyarrow.timestamp(unit, zone), whole)
        made[str(pyarrow.duration(unit))] = plain(pyarrow.duration(unit), whole)
    made["month_day_nano_interval"] = plain(pyarrow.month_day_nano_interval(), lambda rng: (number(rng), number(rng), 1))
    for kind in (pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view()):
        made[str(kind)] = plain(kind, lambda rng: rng.randbytes(rng.choice([0, 1, 3, 20])))
    made["fixed_size_binary[3]"] = plain(pyarrow.binary(3), lambda rng: rng.randbytes(3))
    made["fixed_size_binary[0]"] = plain(pyarrow.binary(0), lambda rng: b"")
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
        made[str(kind)] = plain(kind, text)
    item = pyarrow.int32()
    for kind in (pyarrow.list_(item), pyarrow.large_list(item), pyarrow.list_view(item), pyarrow.large_list_view(item)):
        made[str(kind).split("<")[0]] = plain(kind, items)
    made["fixed_size_list"] = plain(pyarrow.list_(item, 2), lambda rng: [1, number(rng)])
    made["struct"] = plain(pyarrow.struct([("x", item), ("y", pyarrow.string())]), lambda rng: {"x": number(rng), "y": text(rng)})
    made["struct without fields"] = plain(pyarrow.struct([]), lambda rng: {})
    made["map"] = plain(pyarrow.map_(pyarrow.string(), item), lambda rng: [(str(at), at) for at in range(rng.randrange(3))])
    made["union"] = union
    words = pyarrow.array(["b", "a", "", "zz", "c"])
    for keys in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        made[f"dictionary of string, {keys}"] = dictionary(getattr(pyarrow, keys)(), words)
    made["ordered dictionary of string"] = dictionary(pyarrow.int8(), words, True)
    made["dictionary of double"] = dictionary(pyarrow.int32(), pyarrow.array([2.5, -1.5, 0.0]))
    made["dictionary of bool"] = dictionary(pyarrow.int32(), pyarrow.array([True, False]))
    made["dictionary of decimal128"] = dictionary(pyarrow.int32(), pyarrow.array([D("1.5"), D("0.5")]))
    made["dictionary of nulls"] = lambda rows, rng: pyarrow.array([None] * rows, pyarrow.string()).dictionary_encode()
    nested = dictionary(pyarrow.int8(), words)
    made["struct with a dictionary"] = lambda rows, rng: pyarrow.StructArray.from_arrays([nested(rows, rng)], ["d"])
    made["list of a dictionary"] = lambda rows, rng: pyarrow.ListArray.from_arrays(pyarrow.array(range(rows + 1), item), nested(rows, rng))
    for ends in (pyarrow.int16(), item, pyarrow.int64()):
        made[f"run_end_encoded, {ends}"] = runs(ends)
    made["extension uuid"] = extension(pyarrow.uuid(), lambda rng: rng.randbytes(16))
    made["extension json"] = extension(pyarrow.json_(), lambda rng: str(number(rng)))
    made["extension bool8"] = extension(pyarrow.bool8(), lambda rng: rng.randrange(2))
    made["extension tensor"] = extension(pyarrow.fixed_shape_tensor(item, [2]), lambda rng: [1, number(rng)])
    return made


def write(made, path, rows):
    if path.endswith(".parquet"):
        pyarrow.parquet.write_table(made, path, row_group_size=rows)
        return
    begin = pyarrow.ipc.new_stream if path.endswith("s") else pyarrow.ipc.new_file
    options = pyarrow.ipc.IpcWriteOptions(unify_dictionaries=not path.endswith("s"))
    with begin(path, made.schema, options=options) as writer:
        writer.write_table(made, max_chunksize=rows)


def read(path):
    if path.endswith(".parquet"):
        return pyarrow.parquet.read_table(path)
    with open(path, "rb") as file:
        data = file.read()
    return (pyarrow.ipc.open_stream if path.endswith("s") else pyarrow.ipc.open_file)(data).read_all()


def values(column):
    """The values of a column: of times, their instants in nanoseconds."""
    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        found = []
        for chunk in column.chunks:
            own = values(pyarrow.chunked_array([chunk.dictionary]))
            found += [None if at is None else own[at] for at in chunk.indices.to_pylist()]
        return found
    if pyarrow.types.is_temporal(kind) and not pyarrow.types.is_interval(kind):
        width = pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64()
        unit = {"date32[day]": 86_400 * 10**9, "date64[ms]": 10**6}.get(str(kind))
        unit = unit or {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}[kind.unit]
        return [None if at is None else at * unit for chunk in column.chunks for at in chunk.view(width).to_pylist()]
    found = (one.as_py() for chunk in column.chunks for one in chunk)
    return [None if one is None else repr(one) for one in found]


def described(field):
    about = {key: value for key, value in (field.metadata or {}).items() if key != b"PARQUET:field_id"}
    # The names within a map have no meaning.
    kind = "map" if pyarrow.types.is_map(field.type) else str(field.type)
    return (field.name, kind, field.nullable, about)


def run(binary, *args):
    done = subprocess.run([binary, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stderr


class Case:
    """A column of a type beside the row of the table about it."""

    def __init__(self, rng, name, make, row, binary, folder):
        self.rng, self.name, self.row, self.binary, self.folder = rng, name, row, binary, folder
        rows = rng.choice([1, 2, 40, 300])
        column = make(rows, rng)
        ids = list(range(rows))
        rng.shuffle(ids)
        schema = pyarrow.schema(
            [pyarrow.field("id", pyarrow.int64(), nullable=False, metadata={"a": "b"}), pyarrow.field("x", column.type, metadata={"c": "d"})],
            metadata={"e": "f"},
        )
        self.table = pyarrow.table([pyarrow.array(ids), column], schema=schema)
        self.places = sorted(range(rows), key=lambda row: ids[row])

    def path(self, name):
        return os.path.join(self.folder, name)

    def sort(self, target, *args):
        path = self.path(target)
        if os.path.exists(path):
            os.remove(path)
        code, said = run(self.binary, "sort", "-q", *args, "-o", path)
        assert code in (0, 2) and "internal error" not in said, f"{self.name} {args}: {said}"
        assert os.path.exists(path) == (code == 0), f"{self.name}: an output beside an error"
        return path if code == 0 else None, said

    def carried(self, source, target):
        """The column along with a key, in each way of sorting."""
        path, rows = self.path(f"in.{source}"), len(self.places)
        try:
            write(self.table, path, self.rng.choice([1, 7, 1000]))
        except (pyarrow.ArrowException, OSError):
            return  # pyarrow does not write it.
        before = read(path)
        halves = [self.path(f"{half}.{source}") for half in "ab"]
        for half, places in zip(halves, (self.places[::2], self.places[1::2])):
            slices = [self.table.slice(place, 1) for place in places]
            write(pyarrow.concat_tables(slices) if slices else self.table.slice(0, 0), half, 1000)
        expected = [values(before.column("x"))[place] for place in self.places]
        says = self.row[2 if target.startswith("arrow") else 3]
        written = []
        for args in ([path], [path, "--memory", "1"], ["-m", *halves]):
            found, said = self.sort(f"out.{target}", "-k", "id", *args)
            where = f"{self.name}, {source} to {target}, {args}"
            if says == "refused":
                assert found is None and "column 'x'" in said, f"{where}: {said}"
                continue
            assert found, f"{where}: {said}"
            after = read(found)
            assert after.column("id").to_pylist() == list(range(rows)), where
            assert values(after.column("x")) == expected, f"{where}: {values(after.column('x'))}, not {expected}"
            wanted = [described(field) for field in before.schema]
            if says != "same" and source != "parquet":
                wanted[1] = (wanted[1][0], says, *wanted[1][2:])
            if source != "parquet" or target == "parquet":
                assert [described(field) for field in after.schema] == wanted, f"{where}: {after.schema}, not {wanted}"
            assert (after.schema.metadata or {}) == (before.schema.metadata or {}), where
            with open(found, "rb") as file:
                written.append(file.read())
        # What is stored for a null is arbitrary.
        has_nulls = before.column("x").null_count > 0 or pyarrow.types.is_nested(before.column("x").type)
        is_same = len(written) < 2 or written[0] == written[1] or target.startswith("arrow") and has_nulls
        assert is_same, f"{self.name}, {source} to {target}: other bytes in little memory"

    def keyed(self):
        """The column as the key."""
        path = self.path("in.arrow")
        write(self.table, path, 1000)
        found, said = self.sort("key.arrow", "-k", "x", path)
        little, _ = self.sort("little.arrow", "-k", "x", path, "--memory", "1")
        if self.row[1] == "no":
            assert found is None and "column 'x'" in said, f"{self.name} as a key: {said}"
            return
        assert found and little, f"{self.name} as a key: {said}"
        column = self.table.column("x").combine_chunks()
        if self.row[1] == "by code":
            column = column.indices
        elif pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        elif isinstance(column.type, pyarrow.BaseExtensionType):
            column = column.storage
        elif column.type in (pyarrow.string_view(), pyarrow.binary_view()):
            column = column.cast(pyarrow.large_binary())
        elif pyarrow.types.is_decimal(column.type):
            # pyarrow 26 orders narrower decimals by their bytes.
            column = column.cast(pyarrow.decimal128(38, 2) if column.type.scale > 0 else pyarrow.decimal128(38, 0))
        elif column.type == pyarrow.float16():
            column = column.cast(pyarrow.float32())
        at = range(len(column))
        keys = column.to_pylist() if pyarrow.types.is_boolean(column.type) or pyarrow.types.is_null(column.type) else None
        if keys is None:
            order = pyarrow.compute.sort_indices(pyarrow.table({"x": column, "at": at}), sort_keys=[("x", "ascending"), ("at", "ascending")]).to_pylist()
        else:
            order = sorted(at, key=lambda row: (keys[row] is None, keys[row] or False, row))
        ids = self.table.column("id").to_pylist()
        for path in (found, little):
            assert read(path).column("id").to_pylist() == [ids[row] for row in order], f"{self.name} as a key"


def run_case(case, are_all):
    """Carry the column through pairs of formats, all or some, and sort by it."""
    for source, target in (("arrow", "arrow"), ("arrow", "parquet"), ("parquet", "parquet"), ("parquet", "arrow"), ("arrows", "arrow"), ("arrow", "arrows")):
        if are_all or case.rng.random() < 0.3:
            case.carried(source, target)
    case.keyed()


def main():
    asked = arguments("document")
    with open(asked.document, encoding="utf-8") as document:
        rows = [line.strip().strip("|").split("|") for line in document if line.startswith("| `")]
    rows = {name: [cell.strip().replace("`", "") for cell in row] for row in rows for name in row[0].strip().strip("`").split("`, `")}
    made = kinds()
    assert set(rows) == set(made), f"the document and the test differ: {set(rows) ^ set(made)}"
    names = sorted(made)

    def case(rng, folder, number, binary=asked.binary):
        name = names[number % len(names)]
        run_case(Case(rng, name, made[name], rows[name], binary, folder), number < len(names))

    # Something that only copies must be found out.
    found = noticed(random.Random(7), 'for last; do :; done\ncp "$5" "$last"\n', lambda rng, stub, folder: case(rng, folder, rng.randrange(len(names)), stub))
    assert found == 20, f"{found} of 20 wrong answers were noticed"
    run_all(max(asked.cases, len(names)), asked.seed, case)


main()
