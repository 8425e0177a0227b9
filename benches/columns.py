"""Times of Parquet and JSON Lines beside DuckDB and Polars: what benches/results/2026-11-26-columns.md says.

    python3 benches/columns.py gpusort FOLDER [--rows 10000000] [--rounds 3]

Python needs duckdb, numpy, polars and pyarrow. The inputs are made in FOLDER, unless they are there.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

PEER = """
import sys
program, source, target, memory, *keys = sys.argv[1:]
is_json = source.endswith("jsonl")
if program == "duckdb":
    import duckdb
    duckdb.sql("set threads = 2")
    if memory:
        duckdb.sql(f"set memory_limit = '{memory}'; set temp_directory = '{target}.tmp'")
    of = f"read_json('{source}', format = 'newline_delimited')" if is_json else f"'{source}'"
    to = "format json, array false" if is_json else "format parquet"
    duckdb.sql(f"copy (from {of} order by {', '.join(key + ' nulls last' for key in keys)}) to '{target}' ({to})")
else:
    import polars
    rows = polars.read_ndjson(source) if is_json else polars.read_parquet(source)
    by = []
    for key in keys:
        first, *rest = key.split(".")
        column = polars.col(first)
        for name in rest:
            column = column.struct.field(name)
        by.append(column)
    rows = rows.sort(by, maintain_order=True, nulls_last=True)
    rows.write_ndjson(target) if is_json else rows.write_parquet(target, compression="snappy")
"""


def make(folder, rows):
    import numpy
    import pyarrow
    import pyarrow.parquet

    rng = numpy.random.default_rng(3)
    if not (folder / "in.parquet").exists():
        names = numpy.array([f"item-{number:07x}" for number in range(200_000)])
        notes = [None if number < 0.1 else f"n{int(number * 1e9)}" for number in rng.random(rows)]
        table = {
            "id": rng.permutation(rows),
            "price": rng.random(rows) * 1000,
            "qty": rng.integers(0, 1000, rows).astype(numpy.int32),
            "name": names[rng.integers(0, 200_000, rows)],
            "ts": pyarrow.array(rng.integers(16 * 10**14, 18 * 10**14, rows), pyarrow.timestamp("us", "UTC")),
            "note": notes,
        }
        pyarrow.parquet.write_table(pyarrow.table(table), folder / "in.parquet")
    if not (folder / "in.jsonl").exists():
        paths = ["/api/users", "/api/orders", "/login", "/static/app.js", "/health", "/api/items/search"]
        levels = ["info", "warn", "error", "debug"]
        with open(folder / "in.jsonl", "w") as out:
            for _ in range(rows // 2):
                ms, user, at = rng.exponential(80), rng.integers(1, 10**6), int(rng.integers(0, 86_400_000))
                clock = "%02d:%02d:%02d.%03d" % (at // 3_600_000, at // 60_000 % 60, at // 1000 % 60, at % 1000)
                out.write(
                    '{"ts":"2026-11-21T%sZ","level":"%s","path":"%s","user":{"id":%d,"name":"u%x"},"ms":%.3f,"status":%d}\n'
                    % (clock, levels[at % 4], paths[at % 6], user, user * 2654435761 % 2**32, ms, 200 + at % 3 * 100)
                )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpusort")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    make(asked.folder, asked.rows)
    cases = [("in.parquet", keys, None) for keys in (["id"], ["name"], ["qty", "name"])]
    cases += [("in.parquet", [key], memory) for memory in ("300M", "150M") for key in ("id", "name")]
    cases += [("in.jsonl", [key], None) for key in ("ms", "path", "user.id")]
    for name, keys, memory in cases:
        source = asked.folder / name
        target = asked.folder / ("out" + source.suffix)
        by = [part for key in keys for part in ("-k", key)] + (["--memory", memory] if memory else [])
        commands = {"gpusort": [asked.gpusort, "sort", "-q", *by, source, "-o", target]}
        for program in ["duckdb"] if memory else ["duckdb", "polars"]:
            limit = memory.replace("M", "MiB") if memory else ""
            commands[program] = [sys.executable, "-c", PEER, program, str(source), str(target), limit, *keys]
        times = {program: [] for program in commands}
        for _ in range(asked.rounds):
            for program, command in commands.items():
                begin = time.perf_counter()
                code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
                times[program].append(time.perf_counter() - begin if code == 0 else float("nan"))
        shown = ", ".join(f"{program} {statistics.median(all):.2f}" for program, all in times.items())
        print(f"{name} by {', '.join(keys)}{f' within {memory}' if memory else ''}: {shown}", flush=True)


main()
