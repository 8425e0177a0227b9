#!/usr/bin/env python3
"""Compares commands of GNU sort and gpusort: prints a Markdown table, each row from a run of both on a small input.

    cargo build --release
    python3 benches/behaviours/habits.py                                # prints the table
    python3 benches/behaviours/habits.py --check docs/coming-from-sort.md   # exits 1 if the page has a different table

The verdict is computed: "the same" means equal bytes and exit codes; "refused" quotes the error message.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GPUSORT = os.environ.get("GPUSORT", str(ROOT / "target/release/gpusort"))

DU = b"12\t./b\n4\t./a\n1020\t.\n"
UNIQ = b"      3 b\n     12 a\n      1 c\n"
PS = b"USER PID %CPU\nroot 7 0.5\nroot 3 12.0\nme 5 3.1\n"
PASSWD = b"sync:x:4:0\nroot:x:0:9\nbin:x:2:1\n"
SIZES = b"1.5M\ta\n4.0K\tb\n900\tc\n"
MIXED = b"45%\n9ms\n12:30\n"
WORDS = b"b 2\na 10\n"

# The task, the input, the arguments of sort, and those of gpusort sort where they differ.
ROWS = [
    ("numbers, one a line", b"10\n9\n-3\n", "-n", None),
    ("floats with exponents", b"1e3\n5\n-2.5e-1\n", "-g", None),
    ("`-n` of exponents: 1e3 is 1 to GNU", b"1e3\n5\n", "-n", None),
    ("`du`", DU, "-n", None),
    ("`uniq -c`, largest first", UNIQ, "-rn", None),
    ("a field", WORDS, "-k2n", None),
    ("a field, both ends", WORDS, "-k2,2n", None),
    ("a field, reversed", WORDS, "-k 2nr", None),
    ("two fields", b"1 2\n1 1\n0 3\n", "-k1,1n -k2,2nr", None),
    ("fields between colons", PASSWD, "-t: -k3n", None),
    ("sizes", SIZES, "-h", None),
    ("sizes in a field, reversed", b"a 1K\nb 2M\n", "-k2hr", None),
    ("a text field before a number", WORDS, "-k1,1 -k2,2n", None),
    ("words, one a line", b"pear\napple\n", "", None),
    ("lines of several words", b"b a\nb\na c\n", "", None),
    ("lines of numbers as text", b"10 a\n9 b\n", "", "-k 0"),
    ("a text field of numbers", b"b 9\na 10\n", "-k2,2", "-k 2:text"),
    ("a text field, reversed, and a number", WORDS, "-k1,1r -k2,2n", None),
    ("ignoring case", b"b\nA\na\nB\n", "-s -f", None),
    ("versions in a field", b"x v1.10\ny v1.9\n", "-k2,2V", None),
    ("a field to the end of the line", b"x b 1\ny b 2\n", "-k2r", None),
    ("a position within a field", b"x3\nx1\n", "-k1.2n", None),
    ("versions", b"1.10\n1.9\n", "-V", None),
    ("months", b"Feb\nJan\n", "-M", "-t month"),
    ("random order", b"1\n2\n", "-R", None),
    ("equal numbers; GNU then compares whole lines", b"1 b\n1 a\n", "-n", None),
    ("numbers followed by other characters", MIXED, "-n", "-n --leading"),
    ("words among numbers", b"3\nx\n1\n", "-n", "-n --leading --invalid first"),
    ("equal keys; GNU compares whole lines", b"1 b\n1 a\n", "-k1,1n", None),
    ("equal keys, stable", b"1 b\n1 a\n", "-s -k1,1n", None),
    ("distinct lines", b"b\na\nb\n", "-u", None),
    ("the first of equal numbers", b"1 b\n1 a\n0 c\n", "-nu", "-nu -k 1"),
    ("the first of equal keys", b"1 b\n1 a\n0 c\n", "-u -k1,1n", None),
    ("lines that begin with #", b"# x\n2\n1\n", "-n", "-n --comments"),
    ("check", b"1 a\n0 b\n", "-C -k1n", None),
    ("check of sorted lines", b"0 b\n1 a\n", "-c -k1n", None),
    ("blanks before numbers", b"  2\n 10\n1\n", "-b -n", None),
    ("memory, temporary folder, threads", DU, "-n -S 50M -T . --parallel 2", None),
    ("a last line without a line end", b"2\n1", "-n", None),
    ("lines that end in NUL", b"12 a\nb\x003 c\0", "-z -n", None),
    ("blank lines", b"2\n\n1\n", "-n", "-n --empty first"),
]


def run(command, data, folder):
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, input=data, capture_output=True, cwd=folder, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip()


def verdict(theirs, ours):
    if ours[0] == 2:
        said = ours[2].splitlines()[0].removeprefix("gpusort: ").removeprefix("error: ")
        return f"refused: {said}"
    if theirs[:2] == ours[:2]:
        return "the same"
    shown = ours[1].decode().strip().replace("\n", "`, `").replace("\t", " ")
    return f"different: `{shown}`" if ours[0] == theirs[0] else f"exit code {ours[0]}, not {theirs[0]}"


def table():
    lines = ["| for | `sort` | `gpusort sort` | result |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for what, data, args, own in ROWS:
            theirs = run(["sort", *args.split()], data, folder)
            ours = run([GPUSORT, "sort", "-q", *(own or args).split()], data, folder)
            found = verdict(theirs, ours).replace("|", "\\|")
            lines.append(f"| {what} | {f'`{args}`' if args else '(none)'} | {'the same' if own is None else f'`{own}`'} | {found} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", type=Path)
    args = parser.parse_args()
    made = table()
    if args.check is None:
        print(made, end="")
        return 0
    if made in args.check.read_text():
        return 0
    print(f"{args.check} differs from this table:\n{made}", end="")
    return 1


if __name__ == "__main__":
    sys.exit(main())
