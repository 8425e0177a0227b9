"""Sorts by `hilbert(x,y)` beside the definition in `docs/options.md`: in each format, in parts, merged and checked."""

import io
import json
import math
import os
import random
import re
import subprocess
import tempfile

import duckdb
import pyarrow
import pyarrow.parquet

from generated import arguments, noticed, run_all

TEXTS = ["csv", "tsv", "txt", "jsonl"]
NUMBERS = [0, -0.0, 1, -1, 255.99999999999997, 256, -256, 256.5, 511, 512, 1e-13, 1e-14, -1e-14, 3e8, 9007199254740993, 1e300, -5e-324]


def coordinate(number):
    """The place of a number on its axis: 2**51 steps for each power of two from 256 on, and as many below 256."""
    size = abs(number)
    if math.isinf(size):
        steps = 1017 << 51
    elif size < 256:
        steps = int(size * 2.0**43)
    else:
        fraction, exponent = math.frexp(size)
        steps = (exponent - 8 << 51) + int((fraction * 2 - 1) * 2.0**51)
    return (1 << 61) + (-steps if number < 0 else steps)


def curve(x, y, side=1 << 62):
    """The place on the curve through a square: in four quarters, of which the first and the last are turned."""
    place = 0
    while side > 1:
        side //= 2
        right, above = x >= side, y >= side
        place = 4 * place + [[0, 1], [3, 2]][right][above]
        x, y = x - side * right, y - side * above
        if not above:
            x, y = (side - 1 - y, side - 1 - x) if right else (y, x)
    return place


def key(point, options):
    """The key of a point: its class, from the numbers outwards, and its place on the curve."""
    order = [options.get("nan", "last"), options.get("empty", "last"), options.get("invalid", "last")]
    kinds = [3 if isinstance(value, str) else 2 if value is None else 1 if math.isnan(value) else 0 for value in point]
    kind = max(kinds)
    if kind:
        return (-kind if order[kind - 1] == "first" else kind, 0)
    place = curve(*(coordinate(float(value)) for value in point))
    return (0, -place if options["descending"] else place)


def expected(rows, options):
    """The numbers of the rows in order."""
    keys = [(key(row[:2], options), row[2] if options["tie"] else 0) for row in rows]
    is_invalid = lambda number: abs(keys[number][0][0]) == 3
    order = [number for number in range(len(rows)) if not (is_invalid(number) and options.get("invalid") == "skip")]
    order.sort(key=lambda number: keys[number])
    if options["unique"]:
        order = [number for at, number in enumerate(order) if not at or is_invalid(number) or keys[number] != keys[order[at - 1]]]
    return order[: options["top"]]


def generate(rng, form):
    """Rows of two numbers, a tie-break and the number of the row."""
    scales = [rng.choice([1e-3, 1, 90, 180, 1e4, 1e12]) for _ in "xy"]
    are_integers = form in ("parquet", "arrow") and rng.random() < 0.3

    def value(scale, axis):
        if are_integers and axis:
            return rng.choice([rng.randint(-100, 1000), rng.randint(-(1 << 62), 1 << 62), None])
        what = rng.random()
        if what < 0.05:
            return None
        if what < 0.1 and form != "jsonl":
            return math.nan
        if what < 0.13 and form in TEXTS:
            return "word"
        if what < 0.2:
            return float(rng.choice(NUMBERS)) if form not in TEXTS else rng.choice(NUMBERS)
        return rng.choice([rng.uniform(-scale, scale), float(round(rng.uniform(-scale, scale), 1)), float(rng.randint(0, 3))])

    count = rng.choice([0, 1, 5, 100, 100, 3000])
    return [(value(scales[0], 0), value(scales[1], 1), rng.randint(0, 2), number) for number in range(count)]


def spelled(value, form):
    if value is None:
        return "null" if form == "jsonl" else "-" if form == "txt" else ""
    if isinstance(value, str):
        return json.dumps(value) if form == "jsonl" else value
    return "nan" if math.isnan(value) else repr(value)


def encoded(rows, form, all_rows):
    """A file of these rows, in columns of the types of all rows."""
    if form in TEXTS:
        mark = {"csv": ",", "tsv": "\t", "txt": " "}.get(form)
        names = ["x", "y", "tie", "number"]
        lines = [] if form in ("txt", "jsonl") else [mark.join(names)]
        for row in rows:
            fields = [spelled(value, form) for value in row]
            lines.append(mark.join(fields) if mark else "{" + ", ".join(f'"{name}": {field}' for name, field in zip(names, fields)) + "}")
        return "".join(line + "\n" for line in lines).encode()
    types = [pyarrow.int64() if any(isinstance(row[at], int) for row in all_rows) else pyarrow.float64() for at in (0, 1)] + [pyarrow.int64()] * 2
    columns = [pyarrow.array([row[at] for row in rows], kind, from_pandas=False) for at, kind in enumerate(types)]
    table = pyarrow.table(dict(zip(["x", "y", "tie", "number"], columns)))
    file = io.BytesIO()
    if form == "parquet":
        pyarrow.parquet.write_table(table, file, row_group_size=500)
    else:
        with pyarrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, 500)
    return file.getvalue()


def numbers(path, form):
    """The numbers of the rows of a file. A file of Parquet claims no order."""
    if form == "parquet":
        metadata = pyarrow.parquet.read_metadata(path)
        assert not any(metadata.row_group(group).sorting_columns for group in range(metadata.num_row_groups))
        return pyarrow.parquet.read_table(path)["number"].to_pylist()
    with open(path, "rb") as file:
        content = file.read()
    if form == "arrow":
        return pyarrow.ipc.open_file(content).read_all()["number"].to_pylist()
    lines = content.decode().splitlines()[form in ("csv", "tsv"):]
    return [json.loads(line)["number"] if form == "jsonl" else int(line.replace(",", " ").split()[-1]) for line in lines]


def run(binary, *words, fails=False):
    done = subprocess.run([binary, *words], capture_output=True, check=False)
    assert (done.returncode == 1 if fails else done.returncode == 0), (words, done.returncode, done.stderr)


def case(rng, binary, folder):
    form = rng.choice([*TEXTS, "parquet", "arrow"])
    rows = generate(rng, form)
    options = {name: rng.choice(["first", "last"]) for name in ("nan", "empty") if rng.random() < 0.5}
    if form in TEXTS:
        options["invalid"] = rng.choice(["first", "last", "skip"])
    words = [f"--{name}={place}" for name, place in options.items()] + ["-q"]
    options |= {"descending": rng.random() < 0.3, "tie": rng.random() < 0.3, "unique": rng.random() < 0.2, "top": None}
    columns = "1, 2" if form == "txt" or rng.random() < 0.2 and form != "jsonl" else "x,y"
    keys = ["-k", f"hilbert({columns})" + ":r" * options["descending"]]
    if options["tie"]:
        keys += ["-k", "3" if form == "txt" else "tie"]
    if form == "txt":
        words += ["--na=-"]
    own = ["-u"] if options["unique"] else []
    if rng.random() < 0.2:
        options["top"] = rng.choice([1, 10, 200])
        own += ["--top", str(options["top"])]
    memory = rng.choice([[], ["--memory", "1"]])
    path = lambda name: os.path.join(folder, f"{name}.{form}")
    with open(path("in"), "wb") as file:
        file.write(encoded(rows, form, rows))
    run(binary, "sort", *words, *memory, *keys, *own, path("in"), "-o", path("out"))
    order = expected(rows, options)
    assert numbers(path("out"), form) == order, (form, words, keys, own)
    if form == "csv" and rows and all(not isinstance(value, str) for row in rows for value in row):
        run(binary, "sort", *words, *memory, *keys, *own, path("in"), "-o", os.path.join(folder, "out.parquet"))
        assert numbers(os.path.join(folder, "out.parquet"), "parquet") == order, (words, keys, own)
    if options.get("invalid") == "skip":
        return
    run(binary, "check", *words, *keys, path("out"))
    alone = {**options, "unique": False, "top": None}
    turned = {**alone, "descending": not options["descending"]}
    places = [(key(rows[number][:2], turned), rows[number][2] if options["tie"] else 0) for number in order]
    turned_words = ["-k", f"hilbert({columns})" + ":r" * turned["descending"], *keys[2:]]
    run(binary, "check", *words, *turned_words, path("out"), fails=places != sorted(places))
    middle = len(rows) // 3
    for name, part in (("a", rows[:middle]), ("b", rows[middle:])):
        with open(path(name), "wb") as file:
            file.write(encoded([part[number] for number in expected(part, alone)], form, rows))
    if form in TEXTS or rows:
        run(binary, "merge", *words, *memory, *keys, *own, path("a"), path("b"), "-o", path("merged"))
        assert numbers(path("merged"), form) == order, (form, "merge", words, keys, own)


def row_groups_scanned(path, box):
    """How many row groups DuckDB reads to find the points of a box."""
    (_, plan), = duckdb.sql(f"explain (analyze, format json) select * from '{path}' where x between {box[0]} and {box[1]} and y between {box[2]} and {box[3]}").fetchall()
    return int(re.findall(r'"row_groups_scanned": *(\d+)', plan)[0])


def engines_skip_row_groups(binary, folder):
    """A box in London meets fewer row groups of 2,048 points along the curve than of those in order of a column."""
    rng = random.Random(1)
    rows = [(rng.gauss(-0.1, 0.15), rng.gauss(51.5, 0.1), 0, number) for number in range(200_000)]
    path = lambda name: os.path.join(folder, f"{name}.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"x": [row[0] for row in rows], "y": [row[1] for row in rows]}), path("in"))
    scanned = []
    for by in ("hilbert(x,y)", "x", "y"):
        run(binary, "sort", "-q", "-k", by, path("in"), "-o", path("whole"))
        pyarrow.parquet.write_table(pyarrow.parquet.read_table(path("whole")), path("out"), row_group_size=2048)
        boxes = [(x - 0.03, x + 0.03, y - 0.03, y + 0.03) for x, y, *_ in rows[:20]]
        scanned.append(sum(row_groups_scanned(path("out"), box) for box in boxes))
    assert 3 * scanned[0] < 2 * min(scanned[1:]), scanned
    print(f"row groups scanned for 20 boxes: {scanned[0]} along the curve, {scanned[1]} by x, {scanned[2]} by y")


def main():
    asked = arguments()
    found = noticed(random.Random(7), '[ "$1" = check ] || { while [ "$2" != -o ]; do shift; done; cp "$1" "$3"; }\n', case)
    assert found > 10, f"{found} of 20 wrong answers were noticed"
    with tempfile.TemporaryDirectory() as folder:
        engines_skip_row_groups(asked.binary, folder)
    run_all(asked.cases, asked.seed, lambda rng, folder, _: case(rng, asked.binary, folder))


main()
