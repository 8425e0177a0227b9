#!/usr/bin/env python3
"""Times sorts of inputs several times as large as the memory that is allowed: gpusort beside GNU sort and DuckDB.

    cargo build --release
    python3 -m venv .venv && .venv/bin/pip install duckdb
    sudo .venv/bin/python benches/memory/larger.py FOLDER [--size 8G] [--memory 1G] [--cores 2] [--only binary] [--json FILE]

FOLDER is on the disk that inputs, outputs and temporary files are to be on; three times the size of the input must be
free. Everything runs in a control group of twice the memory (and so many cores), so that the page cache does not stand in
for the disk; before every run it is emptied of the input. The disk's own speed is measured in the same group, by reading
and writing as many bytes as a sort in two passes does. Outputs are compared byte for byte with what gpusort makes with all memory,
which is timed, too, outside of the group's limit.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GPUSORT = os.environ.get("GPUSORT", str(ROOT / "target/release/gpusort"))
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
BLOCK = 8 << 20

DUCKDB = """
import duckdb, sys
columns, key, header, source, target, memory, folder, threads = sys.argv[1:]
database = duckdb.connect()
database.execute(f"set memory_limit='{memory}MiB'; set temp_directory='{folder}'; set threads={threads}; "
                 "set preserve_insertion_order=false; set max_temp_directory_size='100GB'")
database.execute(f"copy (select * from read_csv('{source}', header={header}, columns={columns}) order by {key}) "
                 f"to '{target}' (header {header})")
"""


def bytes_of(text):
    return int(float(text[:-1]) * UNITS[text[-1]]) if text[-1] in UNITS else int(text)


class Group:
    """A control group with a limit of memory, of the first or the second version."""

    def __init__(self, memory):
        first = Path("/sys/fs/cgroup/memory")
        self.folder = (first if first.is_dir() else Path("/sys/fs/cgroup")) / "gpusort-larger"
        self.folder.mkdir(exist_ok=True)
        if first.is_dir():
            self.limit, self.peak = "memory.limit_in_bytes", "memory.max_usage_in_bytes"
        else:
            self.limit, self.peak = "memory.max", "memory.peak"
        (self.folder / self.limit).write_text(str(memory))

    def join(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))


def forget(path):
    """Drops what the page cache has of a file."""
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def run(command, group, cores, inputs):
    """Seconds, and the most memory of the process in MB."""
    for path in inputs:
        forget(path)

    def begin():
        if cores:
            os.sched_setaffinity(0, range(cores))
        if group:
            group.join()

    start = time.perf_counter()
    process = subprocess.Popen(command, preexec_fn=begin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
    out = process.stdout.read()
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"{command}: {said.decode()[-800:]}")
    return seconds, usage.ru_maxrss / 1024, out


def disk(folder, group, cores, source, passes):
    """Seconds to read and to write the bytes of an input once, in the group, times the number of passes."""
    target = folder / "copy"
    read = ["dd", f"if={source}", "of=/dev/null", "bs=8M", "status=none"]
    write = ["dd", "if=/dev/zero", f"of={target}", "bs=8M", "status=none", f"count={source.stat().st_size // BLOCK}", "conv=fsync"]
    times = [run(command, group, cores, [source])[0] for command in (read, write)]
    target.unlink()
    return [seconds * passes for seconds in times]


def same(a, b):
    return subprocess.run(["cmp", "--quiet", str(a), str(b)]).returncode == 0


def tasks(folder, size):
    """Name, input, how to make it, options of gpusort, GNU sort's key, DuckDB's columns, key and header."""
    gen = lambda element, count, *more: [GPUSORT, "gen", "-q", "-t", element, "-c", str(count), *more]
    integer, table = "{'x': 'BIGINT'}", "{'a': 'BIGINT', 'b': 'DOUBLE', 'c': 'VARCHAR'}"
    yield "binary", folder / "x.u32", gen("u32", size // 4), [], None, None
    yield "integers", folder / "x.txt", gen("i32", int(size / 11), "--to", "text"), [], ["-n"], (integer, "x", "false")
    yield "decimals", folder / "d.txt", gen("f64", int(size / 19.5), "--to", "text"), [], ["-g"], ("{'x': 'DOUBLE'}", "x", "false")
    yield "table", folder / "t.csv", None, ["-k", "b"], ["-t,", "-k2,2g"], (table, "b", "true")


def make_table(path, size):
    """Rows of an integer, a decimal and a word."""
    import random

    random.seed(1)
    words = [random.choice(["north", "south", "east", "west"]) + str(number) for number in range(1000)]
    # Bytes that are as random as they need to be, made quickly: a part, again and again with other numbers in front.
    with open(path, "w") as file:
        file.write("a,b,c\n")
        count = 0
        while file.tell() < size:
            rows = [f"{count + row},{random.random() * 1e6:.6f},{words[(count + row) % 1000]}\n" for row in range(100_000)]
            file.write("".join(rows))
            count += len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", type=bytes_of, default=8 << 30)
    parser.add_argument("--memory", type=bytes_of, default=1 << 30)
    parser.add_argument("--cores", type=int)
    parser.add_argument("--no-group", action="store_true", help="where there are no control groups: without a limit")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", action="append")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    group, cores = None if args.no_group else Group(2 * args.memory), args.cores
    threads = str(cores or os.cpu_count())
    temporary = args.folder / "temporary"
    temporary.mkdir(exist_ok=True)
    ENV.update(LC_ALL="C", TMPDIR=str(temporary))
    records = []
    for name, source, making, options, gnu, duck in tasks(args.folder, args.size):
        if args.only and name not in args.only:
            continue
        if making is None:
            make_table(source, args.size)
        else:
            subprocess.run([*making, "-o", str(source)], check=True)
        size = source.stat().st_size
        ours = [GPUSORT, "sort", "-d", "cpu", *options, str(source)]
        report = ["--json", "--timing", "stdout"]
        whole, result = args.folder / f"whole{source.suffix}", args.folder / f"result{source.suffix}"
        little = ["--memory", str(args.memory), "-T", str(temporary)]
        memory = str(args.memory)
        programs = {
            "all memory": (None, [*ours, "-o", str(whole), "--memory", "90%", *report]),
            "gpusort": (group, [*ours, "-o", str(result), *little, *report]),
        }
        if gnu and "gnu" not in args.without:
            sort = ["sort", *gnu, "-s", "-S", memory + "b", "-T", str(temporary), f"--parallel={threads}", str(source), "-o", str(result)]
            if source.suffix == ".csv":
                line = 'tail -n +2 "$0" | sort "$@"'
                sort = ["sh", "-c", line, str(source), *[word for word in sort[1:] if word != str(source)]]
            programs["GNU sort"] = (group, sort)
        if duck and "duckdb" not in args.without:
            columns, key, header = duck
            rest = [columns, key, header, str(source), str(result), str(args.memory >> 20), str(temporary), threads]
            programs["DuckDB"] = (group, [sys.executable, "-c", DUCKDB, *rest])
        print(f"\n{name}: {size / 1e9:.2f} GB, {args.memory >> 20} MiB of memory, {threads} cores", flush=True)
        for number in range(args.rounds):
            for way, seconds in zip(("read twice", "write twice"), disk(args.folder, group, cores, source, 2)):
                records.append({"task": name, "round": number, "program": "disk: " + way, "s": seconds})
                print(f"  {'disk: ' + way:24} {seconds:7.2f} s", flush=True)
            for program, (where, command) in programs.items():
                seconds, peak, out = run(command, where, cores, [source])
                record = {"task": name, "bytes": size, "round": number, "program": program, "s": seconds, "peak_mb": peak}
                note = ""
                if "gpusort" in program or "memory" in program:
                    told = json.loads(out)
                    record |= {"runs": told["runs"], "spilled_bytes": told["spilled_bytes"], "ms": told["ms"]}
                    ms = {phase: round(value) for phase, value in told["ms"].items() if value >= 1}
                    note = f"{told['runs']} runs, {told['spilled_bytes'] / 1e9:.2f} GB spilled, {ms}"
                if program == "gpusort" or program == "GNU sort" and source.suffix != ".csv":
                    forget(result)
                    record["right"] = same(whole, result)
                    note += "" if record["right"] else " OUTPUT DIFFERS"
                print(f"  {program:24} {seconds:7.2f} s {peak:6.0f} MB  {note}", flush=True)
                records.append(record)
                result.unlink(missing_ok=True)
            whole.unlink()
        source.unlink()
        if args.json:
            args.json.write_text(json.dumps(records, indent=1) + "\n")
    return 0 if all(record.get("right", True) for record in records) else 1


ENV = dict(os.environ)

if __name__ == "__main__":
    sys.exit(main())
