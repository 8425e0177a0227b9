#!/usr/bin/env python3
"""Draws the pictures of docs/sorts.md and fills its tables, with `gpusort trace`.

    cargo build --release
    python3 docs/sorts/draw.py                  # writes the files that change
    python3 docs/sorts/draw.py --check          # names the files that would change, and exits with 1
    python3 docs/sorts/draw.py --times DEVICE   # times the sorts on a GPU first, into docs/sorts/times.json

The tables have times if times.json exists: a line for each sort and size, from `gpusort trace --json --device`. GPUSORT names
the program, by default target/release/gpusort.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER.parent / "sorts.md"
TIMES = FOLDER / "times.json"
GPUSORT = os.environ.get("GPUSORT", str(FOLDER.parents[1] / "target/release/gpusort"))

# The pictures: sixteen elements in the smallest tiles that show every kind of pass.
FEW = ["-n", "16", "--tile", "4"]
DIGITS = ["-n", "16", "--tile", "8", "-t", "u16"]
PICTURES = {
    "network-bitonic": ["--network"],
    "network-odd-even": ["--network", "-a", "odd-even", "-n", "8"],
    "naive": ["--variant", "naive", *FEW],
    "local-global": ["--variant", "local-global", *FEW],
    "transpose": ["--variant", "transpose", *FEW],
    "fused": ["--variant", "fused", "--animate", *FEW],
    "compared": ["--compare", "naive,fused", "-n", "1K", "--tile", "64"],
    "odd-even-naive": ["-a", "odd-even", "--variant", "naive", *FEW],
    "odd-even-block": ["-a", "odd-even", "--variant", "block", *FEW],
    "onesweep": ["-a", "radix", "--variant", "onesweep", *DIGITS],
    "reduce-scan": ["-a", "radix", "--variant", "reduce-scan", *DIGITS],
    "leading": ["-a", "radix", "--variant", "leading", "-n", "16", "--tile", "8", "-t", "u64"],
}

SORTS = [
    ("bitonic", "naive"),
    ("bitonic", "local-global"),
    ("bitonic", "transpose"),
    ("bitonic", "fused"),
    ("odd-even", "naive"),
    ("odd-even", "block"),
    ("radix", "onesweep"),
    ("radix", "reduce-scan"),
]
SIZES = [("64K", 65_536), ("1M", 1_048_576)]

# What the first article's table states: elements, passes, memory accesses.
STATED = [(256, 64, 16_384), (1024, 100, 102_400), (65_536, 256, 16_777_216), (1_048_576, 400, 419_430_400)]


def gpusort(*args):
    done = subprocess.run([GPUSORT, *args], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"gpusort {' '.join(args)}: {done.stderr.decode()}")
    return done.stdout.decode()


def trace(algorithm, variant, size, *more):
    return json.loads(gpusort("trace", "--json", "-a", algorithm, "--variant", variant, "-n", str(size), *more))


def is_too_long(algorithm, variant, n):
    """Whether its passes are too many to list: a million phases."""
    return (algorithm, variant) == ("odd-even", "naive") and n > 65_536


def timed():
    """The times of times.json by sort and size, and the device's name."""
    if not TIMES.exists():
        return {}, None
    lines = [json.loads(line) for line in TIMES.read_text().splitlines() if line.strip()]
    by_sort = {(line["algo"], line["variant"], line["n"]): line for line in lines}
    return by_sort, lines[0]["device"]["name"] if lines else None


def measure(device):
    lines = [
        gpusort("trace", "--json", "-a", algorithm, "--variant", variant, "-n", size, "--device", device)
        for size, n in SIZES
        for algorithm, variant in SORTS
        if not is_too_long(algorithm, variant, n)
    ]
    # Only the passes of the fused sort have a table of their own.
    whole = [json.loads(line) for line in lines]
    for line in whole:
        if line["variant"] != "fused":
            line["passes"] = []
    TIMES.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in whole))


def grouped(number):
    return f"{number:,}"


def size(number):
    for unit in ["B", "KiB", "MiB", "GiB"]:
        if number < 1024 or unit == "GiB":
            return f"{number:.3g} {unit}" if number < 1000 else f"{number:.0f} {unit}"
        number /= 1024


def time(ms):
    return f"{ms * 1000:.3g} µs" if ms < 0.9995 else f"{ms:.3g} ms" if ms < 999.5 else f"{ms / 1000:.3g} s"


def table(rows, numbers_from=1):
    head = rows[0]
    rule = ["---" if column < numbers_from else "---:" for column in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows[1:]])


def sorts():
    """Every sort at two sizes."""
    times, device = timed()
    head = ["sort"]
    for _, n in SIZES:
        head += [f"{grouped(n)}: passes", "moved"]
        if device:
            head.append("time")
    rows = [head]
    for algorithm, variant in SORTS:
        row = [f"{algorithm} `{variant}`"]
        for _, n in SIZES:
            if is_too_long(algorithm, variant, n):
                row += [grouped(n), "–"] + (["–"] if device else [])
                continue
            own = trace(algorithm, variant, n)
            row += [grouped(own["dispatches"]), size(own["bytes_moved"])]
            if device:
                measured = times.get((algorithm, variant, n))
                row.append(time(measured["ms"]["sort"]) if measured else "–")
        rows.append(row)
    text = table(rows)
    if device:
        text += f"\n\nTimes are medians of the sort alone on one {device}."
    return text


def passes():
    """The passes of the fused sort of a million, one by one."""
    times, device = timed()
    own = times.get(("bitonic", "fused", 1_048_576)) or trace("bitonic", "fused", 1_048_576)
    head = ["pass", "what it does", "steps", "moved"]
    rows = [head + (["time", "speed of a copy"] if device else [])]
    for row in own["passes"]:
        cells = [str(row["number"]), row["what"], str(row["steps"]), size(row["bytes_moved"])]
        if device and "ms" in row:
            cells += [time(row["ms"]), f"{100 * row.get('part_of_copy', 0):.0f} %"]
        rows.append(cells)
    text = table(rows).replace("| ---: | ---: | ---: |", "| --- | ---: | ---: |", 1)
    timestamp = own.get("ms", {}).get("timestamp", 0)
    if timestamp > 0:
        text += f"\n\n{time(timestamp)} for the timestamp after each pass are subtracted from each time."
    return text


def stated():
    """The first article's numbers compared with ours."""
    rows = [["n", "estimate: passes", "accesses", "naive: passes", "accesses", "local-global", "fused"]]
    for n, said, accesses in STATED:
        naive, local, fused = (trace("bitonic", variant, n) for variant in ["naive", "local-global", "fused"])
        ours = naive["bytes_moved"] // 4
        rows.append(
            [grouped(n), grouped(said), grouped(accesses), grouped(naive["dispatches"]), grouped(ours)]
            + [f"{grouped(own['dispatches'])}; {grouped(own['bytes_moved'] // 4)}" for own in (local, fused)]
        )
    return table(rows, 0)


TABLES = {"sorts": sorts, "passes": passes, "stated": stated}


def filled(page):
    for name, make in TABLES.items():
        begin, end = f"<!-- {name}: filled by sorts/draw.py -->\n", f"<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            sys.exit(f"{PAGE}: no place for the table '{name}'; restore its two comments")
        page = f"{before}{begin}\n{make()}\n\n{end}{after}"
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file would change")
    parser.add_argument("--self-test", action="store_true", help="with --check: test that it finds changes")
    parser.add_argument("--times", metavar="DEVICE", help="time the sorts on this GPU first")
    args = parser.parse_args()
    if args.times:
        measure(args.times)
    made = {FOLDER / f"{name}.svg": gpusort("trace", "--svg", "-", *more) for name, more in PICTURES.items()}
    made[PAGE] = filled(PAGE.read_text())
    if args.self_test:
        made[FOLDER / "naive.svg"] += " "
        made[PAGE] = made[PAGE].replace("| 210 |", "| 211 |")
    changed = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    if args.self_test:
        expected = [FOLDER / "naive.svg", PAGE]
        sys.exit(0 if changed == expected else f"changed {expected}, found {changed}")
    for path in changed:
        if args.check:
            print(f"{path.relative_to(FOLDER.parents[1])} is out of date; run python3 docs/sorts/draw.py")
        else:
            path.write_text(made[path])
    sys.exit(1 if args.check and changed else 0)


if __name__ == "__main__":
    main()
