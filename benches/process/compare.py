#!/usr/bin/env python3
"""Times whole processes, from files to files: gpusort beside GNU sort, DuckDB, Polars, xan and numpy.

    cargo build --release
    python3 -m venv .venv && .venv/bin/pip install numpy polars duckdb
    .venv/bin/python benches/process/compare.py [--rounds 7] [--scale 1.0] [--only table] [--json FILE]

Every round runs each program once, one after the other, beginning with another one each time; what is
compared is the times of one round, so that a machine that is slower for a while slows both. Each writes a
new file, which is checked against an independent sort of the same data: byte for byte where a program keeps
the spelling, as numbers where it does not. What is not installed is left out with a line that says so.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GPUSORT = str(ROOT / "target/release/gpusort")

POLARS = """
import polars as pl, sys
t, source, target = sys.argv[1:]
t = pl.Int64 if t == 'i' else pl.Float64
data = pl.read_csv(source, has_header=False, new_columns=['x'], schema_overrides={'x': t})
data.sort('x').write_csv(target, include_header=False)
"""
DUCKDB = """
import duckdb, sys
t, source, target = sys.argv[1:]
t = 'BIGINT' if t == 'i' else 'DOUBLE'
duckdb.sql(f"copy (select x from read_csv('{source}', header=false, columns={{'x': '{t}'}}) order by x) "
           f"to '{target}' (header false)")
"""
POLARS_TABLE = """
import polars as pl, sys
source, target = sys.argv[1:]
pl.read_csv(source).sort('price').write_csv(target)
"""
DUCKDB_TABLE = """
import duckdb, sys
source, target = sys.argv[1:]
duckdb.sql(f"copy (select * from read_csv('{source}') order by price) to '{target}' (header)")
"""
POLARS_LINES = """
import polars as pl, sys
source, target = sys.argv[1:]
lines = pl.read_csv(source, has_header=False, new_columns=['line'], separator='\\x01', quote_char=None)
key = pl.col('line').str.strip_chars_start().str.split(' ').list.first().cast(pl.Int64)
lines.sort(key).write_csv(target, include_header=False, quote_style='never')
"""
DUCKDB_LINES = """
import duckdb, sys
source, target = sys.argv[1:]
duckdb.sql(f"copy (select line from read_csv('{source}', header=false, columns={{'line': 'VARCHAR'}}, delim='\\x01', quote='') "
           f"order by split_part(ltrim(line), ' ', 1)::BIGINT) to '{target}' (header false, delimiter '\\x01', quote '')")
"""
POLARS_BED = """
import polars as pl, sys
source, target = sys.argv[1:]
names = ['chrom', 'start', 'end', 'name']
bed = pl.read_csv(source, has_header=False, new_columns=names, separator='\\t', quote_char=None)
bed.sort('chrom', 'start', maintain_order=True).write_csv(target, include_header=False, separator='\\t', quote_style='never')
"""
DUCKDB_BED = """
import duckdb, sys
source, target = sys.argv[1:]
columns = "{'chrom': 'VARCHAR', 'start': 'BIGINT', 'end': 'BIGINT', 'name': 'VARCHAR'}"
duckdb.sql(f"copy (select * from read_csv('{source}', header=false, columns={columns}, delim='\\t', quote='') "
           f"order by chrom, start) to '{target}' (header false, delimiter '\\t', quote '')")
"""
POLARS_WORDS = """
import polars as pl, sys
source, target = sys.argv[1:]
lines = pl.read_csv(source, has_header=False, new_columns=['line'], separator='\\x01', quote_char=None)
lines.sort('line', maintain_order=True).write_csv(target, include_header=False, quote_style='never')
"""
DUCKDB_WORDS = """
import duckdb, sys
source, target = sys.argv[1:]
duckdb.sql(f"copy (select line from read_csv('{source}', header=false, columns={{'line': 'VARCHAR'}}, delim='\\x01', quote='') "
           f"order by line) to '{target}' (header false, delimiter '\\x01', quote '')")
"""
GNU_TABLE = 'head -n 1 "$0" > "$1" && tail -n +2 "$0" | sort -s -t, -k3,3g >> "$1"'
NUMPY = """
import numpy, sys
source, target = sys.argv[1:]
data = numpy.fromfile(source, 'i4')
data.sort()
data.tofile(target)
"""


def has(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode == 0


def python(code, *args):
    return [sys.executable, "-c", code, *args]


def gnu(option, source, target):
    return ["sort", option, "-s", source, "-o", target]


class Task:
    """What is to be done: a name, the input, the programs with their command lines, and the check."""

    def __init__(self, name, source, programs, expected, seldom=()):
        self.name, self.source, self.programs, self.expected = name, source, programs, expected
        # Programs that take so long that three rounds have to do.
        self.seldom = seldom


def tasks(folder, scale):
    file = lambda name: str(folder / name)
    ten, five = int(10_000_000 * scale), int(5_000_000 * scale)
    ints, floats, binary, few = file("ints.txt"), file("floats.txt"), file("ints.i32"), file("few.txt")
    for count, name in [(ten, ints), (ten, binary), (1000, few)]:
        subprocess.run([GPUSORT, "gen", "-q", "--count", str(count), "-t", "i32", "-o", name], check=True)
    make_floats(five, floats)

    text = {"gpusort": lambda s, t: [GPUSORT, "sort", "-q", s, "-o", t]}
    if shutil.which("sort"):
        text["GNU sort"] = None
    for name, module, code in [("Polars", "polars", POLARS), ("DuckDB", "duckdb", DUCKDB)]:
        if has(module):
            text[name] = code
        else:
            print(f"{name} is not installed and left out", file=sys.stderr)

    def commands(kind):
        def command(name):
            if name == "gpusort":
                return text[name]
            if name == "GNU sort":
                return lambda s, t: gnu("-n" if kind == "i" else "-g", s, t)
            return lambda s, t: python(text[name], kind, s, t)

        return {name: command(name) for name in text}

    yield Task(f"{ten:,} i32 as text", ints, commands("i"), numbers_in_order(int), {"GNU sort"})
    yield Task(f"{five:,} f64 as text", floats, commands("f"), numbers_in_order(float), {"GNU sort"})
    yield Task("1,000 i32 as text", few, {n: c for n, c in commands("i").items() if n in ("gpusort", "GNU sort")}, numbers_in_order(int))
    raw = {"gpusort": text["gpusort"]}
    if has("numpy"):
        raw["numpy"] = lambda s, t: python(NUMPY, s, t)
    yield Task(f"{ten:,} i32, binary", binary, raw, words_in_order)

    rows = int(2_000_000 * scale)
    table = file("table.csv")
    make_table(rows, table)
    by_price = lambda *more: lambda s, t: [GPUSORT, "sort", "-q", "-k", "price", *more, s, "-o", t]
    programs = {"gpusort": by_price(), "gpusort --top 100": by_price("--top", "100")}
    for name, module, code in [("Polars", "polars", POLARS_TABLE), ("DuckDB", "duckdb", DUCKDB_TABLE)]:
        if has(module):
            programs[name] = lambda s, t, code=code: python(code, s, t)
    if shutil.which("xan"):
        programs["xan"] = lambda s, t: ["xan", "sort", "-N", "-s", "price", s, "-o", t]
        programs["xan -p"] = lambda s, t: ["xan", "sort", "-p", "-N", "-s", "price", s, "-o", t]
    else:
        print("xan is not installed and left out", file=sys.stderr)
    if shutil.which("sort"):
        programs["GNU sort"] = lambda s, t: ["sh", "-c", GNU_TABLE, s, t]
    yield Task(f"table of {rows:,} rows", table, programs, rows_in_order, {"GNU sort", "xan", "xan -p"})


    lines = file("lines.txt")
    make_lines(five, lines)
    programs = {"gpusort": lambda s, t: [GPUSORT, "sort", "-q", "-k", "1", s, "-o", t]}
    for name, module, code in [("Polars", "polars", POLARS_LINES), ("DuckDB", "duckdb", DUCKDB_LINES)]:
        if has(module):
            programs[name] = lambda s, t, code=code: python(code, s, t)
    if shutil.which("sort"):
        programs["GNU sort -n"] = lambda s, t: ["sort", "-n", s, "-o", t]
        programs["GNU sort -n -s"] = lambda s, t: gnu("-n", s, t)
    yield Task(f"{five:,} lines of uniq -c", lines, programs, lines_in_order, {"GNU sort -n"})

    bed, names, urls = file("peaks.bed"), file("names.txt"), file("urls.txt")
    make_bed(five, bed)
    subprocess.run([GPUSORT, "gen", "-q", "--count", str(int(3_000_000 * scale)), "-t", "text", "-o", names], check=True)
    make_urls(rows, urls)
    by_chrom = ["-k1,1", "-k2,2n"]
    for source, name, keys, codes in [
        (bed, f"BED of {five:,} rows", by_chrom, [POLARS_BED, DUCKDB_BED]),
        (names, f"{int(3_000_000 * scale):,} names", [], [POLARS_WORDS, DUCKDB_WORDS]),
        (urls, f"{rows:,} URLs", [], [POLARS_WORDS, DUCKDB_WORDS]),
    ]:
        programs = {"gpusort": lambda s, t, keys=keys: [GPUSORT, "sort", "-q", *keys, s, "-o", t]}
        for program, module, code in zip(["Polars", "DuckDB"], ["polars", "duckdb"], codes):
            if has(module):
                programs[program] = lambda s, t, code=code: python(code, s, t)
        if shutil.which("sort"):
            programs["GNU sort -s"] = lambda s, t, keys=keys: ["sort", "-s", *keys, s, "-o", t]
        yield Task(name, source, programs, texts_in_order(bool(keys)))

    timed = file("timed.csv")
    make_timed(rows, timed)
    by = lambda key: lambda s, t: [GPUSORT, "sort", "-q", "-k", key, s, "-o", t]
    yield Task(f"table of {rows:,} rows by a time", timed, {"gpusort": by("when"), "by a float": by("price")}, lambda *_: None)


def make_bed(count, path):
    import random

    rng = random.Random(1)
    chroms = [f"chr{name}" for name in [*range(1, 23), "X", "Y"]]
    with open(path, "w") as out:
        for row in range(count):
            start = rng.randrange(240_000_000)
            out.write(f"{rng.choice(chroms)}\t{start}\t{start + rng.randrange(20, 2000)}\tpeak_{row}\n")


def make_urls(count, path):
    import random

    rng = random.Random(1)
    hosts = ["https://www.example.com/", "https://www.example.org/shop/", "https://www.wikipedia.org/wiki/"]
    folders = ["category/electronics/", "category/books/fiction/", "user/profile/settings/", "static/images/thumbnails/"]
    with open(path, "w") as out:
        for _ in range(count):
            out.write(f"{rng.choice(hosts)}{rng.choice(folders)}item-{rng.randrange(10**9)}.html\n")


def texts_in_order(is_bed):
    """The lines of the input by Python's own stable sort; those of DuckDB, which is not stable, by their keys."""

    def key(line):
        if not is_bed:
            return line
        chrom, start, _ = line.split(b"\t", 2)
        return chrom, int(start)

    def check(source, outputs):
        lines = open(source, "rb").read().splitlines()
        lines.sort(key=key)
        for name, output in outputs.items():
            found = open(output, "rb").read().splitlines()
            if found == lines:
                continue
            if name != "DuckDB" or list(map(key, found)) != list(map(key, lines)) or sorted(found) != sorted(lines):
                sys.exit(f"{name}: not the input's lines in order")

    return check


def make_timed(count, path):
    import datetime
    import random

    rng = random.Random(1)
    begin = datetime.datetime(2020, 1, 1)
    with open(path, "w") as out:
        out.write("id,price,when\n")
        for row in range(count):
            when = begin + datetime.timedelta(seconds=rng.randrange(200_000_000), microseconds=rng.randrange(1_000_000))
            out.write(f"{row},{rng.gauss(100, 50):.6f},{when:%Y-%m-%d %H:%M:%S.%f}\n")


def make_lines(count, path):
    import random

    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 14))) for _ in range(100_000)]
    with open(path, "w") as out:
        for _ in range(0, count, 100_000):
            made = min(count, 100_000)
            out.writelines(f"{int(rng.paretovariate(0.6)):7d} {rng.choice(words)}\n" for _ in range(made))


def lines_in_order(source, outputs):
    """The lines of the input by Python's own stable sort; those of programs that are not stable by their keys."""
    key = lambda line: int(line.split(None, 1)[0])
    lines = open(source, "rb").read().splitlines(keepends=True)
    expected = sorted(lines, key=key)
    for name, output in outputs.items():
        found = open(output, "rb").read().splitlines(keepends=True)
        if found == expected:
            continue
        if name in ("gpusort", "GNU sort -n -s") or sorted(found) != sorted(lines) or list(map(key, found)) != list(map(key, expected)):
            sys.exit(f"{name}: not the input's lines in order")


def make_floats(count, path):
    import random

    rng = random.Random(1)
    with open(path, "w") as out:
        for _ in range(0, count, 100_000):
            out.writelines(f"{rng.gauss(0, 1e3):.17g}\n" for _ in range(min(count, 100_000)))


def make_table(count, path):
    import random

    rng = random.Random(1)
    cities = ["Berlin", "Paris", "Oslo", "Rome", "Madrid"]
    with open(path, "w") as out:
        out.write("id,name,price,quantity,city\n")
        for row in range(count):
            quantity = rng.randrange(1000)
            out.write(f"{row},customer {row * 7919 % count},{rng.gauss(100, 50):.6f},{quantity},{cities[quantity % 5]}\n")


def rows_in_order(source, outputs):
    """The rows of the input by Python's own stable sort; those of programs that write numbers anew by price and number."""
    price = lambda row: float(row.split(b",")[2])
    header, *rows = open(source, "rb").read().splitlines(keepends=True)
    rows.sort(key=price)
    for name, output in outputs.items():
        found_header, *found = open(output, "rb").read().splitlines(keepends=True)
        expected = rows[:100] if "--top" in name else rows
        if found_header.strip() == header.strip() and found == expected:
            continue
        same_prices = list(map(price, found)) == list(map(price, expected))
        number = lambda row: int(row.split(b",")[0])
        if name.startswith("gpusort") or not same_prices or sorted(map(number, found)) != list(range(len(rows))):
            sys.exit(f"{name}: not the input's rows in order")


def numbers_in_order(number):
    """The lines of the input by Python's own stable sort; outputs in another spelling as numbers."""

    def check(source, outputs):
        lines = open(source, "rb").read().split()
        lines.sort(key=number)
        expected = b"\n".join(lines) + b"\n"
        for name, output in outputs.items():
            found = open(output, "rb").read()
            if found == expected:
                continue
            if name in ("gpusort", "GNU sort"):
                sys.exit(f"{name}: not the input's lines in order")
            if list(map(number, found.split())) != list(map(number, lines)):
                sys.exit(f"{name}: not the input's numbers in order")

    return check


def words_in_order(source, outputs):
    import array

    def read(path):
        words = array.array("i")
        words.frombytes(open(path, "rb").read())
        return words

    expected = array.array("i", sorted(read(source)))
    for name, output in outputs.items():
        if read(output) != expected:
            sys.exit(f"{name}: not the input's words in order")


def in_a_child(check, *args):
    """Checks in a process of its own: a program's peak memory counts from that of the process which starts it."""
    child = os.fork()
    if child == 0:
        try:
            check(*args)
            os._exit(0)
        except SystemExit as wrong:
            print(wrong, file=sys.stderr)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        sys.exit(f"{args[0]}: an output is wrong")


def run(command):
    """Wall time in seconds and peak memory in bytes."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - begin
    if status:
        sys.exit(f"{command[0]} failed")
    return took, usage.ru_maxrss * 1024


def measure(task, folder, rounds):
    times = {name: [] for name in task.programs}
    peaks = dict.fromkeys(task.programs, 0)
    outputs = {name: str(folder / f"out-{number}{Path(task.source).suffix}") for number, name in enumerate(times)}
    names = list(times)
    for turn in range(rounds + 1):
        for name in names[turn % len(names):] + names[: turn % len(names)]:
            if name in task.seldom and turn > 3:
                continue
            # Into a new file, and without a disk that is still busy with the output of the program before.
            Path(outputs[name]).unlink(missing_ok=True)
            os.sync()
            took, peak = run(task.programs[name](task.source, outputs[name]))
            # The first round fills caches.
            if turn > 0:
                times[name].append(took)
                peaks[name] = max(peaks[name], peak)
    in_a_child(task.expected, task.source, outputs)
    for output in outputs.values():
        os.remove(output)
    return times, peaks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of numbers")
    parser.add_argument("--only", default="", help="tasks with this in their names")
    parser.add_argument("--json", help="where all times go")
    options = parser.parse_args()
    record = []
    print("| task | program | median s | least s | ratio to gpusort | peak MB | of the input |\n|---|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks(Path(folder), options.scale):
            if options.only not in task.name:
                continue
            times, peaks = measure(task, Path(folder), options.rounds)
            for name, took in times.items():
                ratio = statistics.median(other / own for other, own in zip(took, times["gpusort"]))
                size = os.path.getsize(task.source)
                print(f"| {task.name} | {name} | {statistics.median(took):.4g} | {min(took):.4g} | {ratio:.2f} | "
                      f"{peaks[name] / 1e6:.0f} | {peaks[name] / size:.2f} |", flush=True)
                record.append({"task": task.name, "program": name, "seconds": took, "peak_bytes": peaks[name],
                               "input_bytes": size})
    if options.json:
        with open(options.json, "w") as out:
            json.dump(record, out, indent=1)


main()
