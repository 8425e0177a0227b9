#!/usr/bin/env python3
"""Sorts inputs of many sizes in a small budget, compares the bytes with those of a sort in all memory, and tells the peaks.

    cargo build --release
    python3 benches/memory/budget.py FOLDER [--memory 64M] [--sizes 1M,2M,63M,64M,65M,1G] [--only text]

The peak of a process may be 1.1 times the budget and 64 MB (`docs/reliability.md`). Each format is sorted, of text and tables also
through a pipe, and the positions of each.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GPUSORT = os.environ.get("GPUSORT", str(ROOT / "target/release/gpusort"))
UNITS = {"K": 1000, "M": 1000**2, "G": 1000**3}


def bytes_of(text):
    return int(float(text[:-1]) * UNITS[text[-1]]) if text[-1] in UNITS else int(text)


def gen(path, element, count, *more):
    subprocess.run([GPUSORT, "gen", "-q", "-t", element, "-c", str(count), *more, "-o", str(path)], check=True)


def lines(path, size, line):
    """Lines by a function of a number, as many as there is room for."""
    with open(path, "w") as file:
        number = 0
        while file.tell() < size:
            file.write("".join(line(number + more) for more in range(10_000)))
            number += 10_000


def mixed(number):
    """A number that seems random, of few digits."""
    return number * 2654435761 % 2**32 % 100_003


FORMATS = {
    "u32.bin": (lambda path, size: gen(path, "u32", size // 4, "--to", "bin"), ["-t", "u32"], False),
    "f64.npy": (lambda path, size: gen(path, "f64", size // 8, "--to", "npy"), [], False),
    "u8.bin": (lambda path, size: gen(path, "u8", size, "--to", "bin"), ["-t", "u8"], False),
    "integers.txt": (lambda path, size: gen(path, "i32", size // 11, "--to", "text"), [], True),
    "decimals.txt": (lambda path, size: gen(path, "f64", size // 20, "--to", "text"), [], True),
    "prices.txt": (lambda path, size: lines(path, size, lambda n: f"{mixed(n) / 100:.2f}\n"), [], True),
    "digits.txt": (lambda path, size: lines(path, size, lambda n: f"{mixed(n) % 10}\n"), [], True),
    "short.txt": (lambda path, size: lines(path, size, lambda n: f"{mixed(n) % 9}.{'5' if n % 2 else '50'}\n"), [], True),
    "table.csv": (
        lambda path, size: lines(path, size, lambda n: f"{mixed(n)},{mixed(n + 7) / 8},row {n}\n"),
        ["-k", "2:r", "-k", "1", "--no-header"],
        True,
    ),
    "column.tsv": (lambda path, size: lines(path, size, lambda n: f"{mixed(n) % 7}\n"), ["-k", "1", "--no-header"], True),
}


def sort(command, source, piped):
    """The report, and the peak of memory in bytes."""
    stdin = open(source, "rb") if piped else subprocess.DEVNULL
    if piped:
        # A file on standard input has a size; a pipe has none.
        stdin = subprocess.Popen(["cat"], stdin=stdin, stdout=subprocess.PIPE).stdout
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE)
    told = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command}: {status}")
    return json.loads(told), usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--memory", default="64M")
    parser.add_argument("--sizes", default="1M,2M,63M,64M,65M,1G")
    parser.add_argument("--only")
    args = parser.parse_args()
    budget = int(args.memory[:-1]) * {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[args.memory[-1]]
    most = budget * 1.1 + 64e6
    failed = 0
    os.environ["TMPDIR"] = str(args.folder)
    for size in args.sizes.split(","):
        for name, (make, options, is_text) in FORMATS.items():
            if args.only and args.only not in name:
                continue
            source, whole, parts = (args.folder / (kind + name) for kind in ("in-", "whole-", "parts-"))
            make(source, bytes_of(size))
            for positions in (False, True):
                ways = ["--argsort", "--to", "bin"] if positions else []
                ours = [GPUSORT, "sort", "-d", "cpu", *options, *ways, "--json", "--timing", "stdout"]
                sort([*ours, str(source), "-o", str(whole)], source, False)
                for piped in (False, True) if is_text and not positions else (False,):
                    named = ["-f", name.rsplit(".", 1)[1].replace("txt", "text")] if piped else [str(source)]
                    to = ["-o", str(parts), "--memory", args.memory]
                    told, peak = sort([*ours, *named, *to], source, piped)
                    same = subprocess.run(["cmp", "--quiet", whole, parts]).returncode == 0
                    is_right = same and peak <= most
                    failed += not is_right
                    how = ("positions" if positions else "records") + (" piped" if piped else "")
                    print(
                        f"{size:>5} {name:13} {how:14} {told['runs']:4} runs {told['spilled_bytes'] / 1e6:9.1f} MB spilled "
                        f"{peak / 1e6:7.1f} MB peak {told['ms']['total']:9.0f} ms"
                        + ("" if same else "  OTHER BYTES") + ("" if peak <= most else "  TOO MUCH MEMORY"),
                        flush=True,
                    )
                whole.unlink()
                parts.unlink()
            source.unlink()
    print(f"{failed} failed; at most {most / 1e6:.0f} MB")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
