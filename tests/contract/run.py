#!/usr/bin/env python3
"""Compares a gpusort with the oracle on generated cases, or the oracle with a folder of cases.

run.py BINARY [--cases N] [--seed S] [--only FAMILY] [--case I] [--show N] [--undecided]
run.py --cases-folder FOLDER
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import cases_folder
import modes
import oracle
from generate import FAMILIES, Case, case
from oracle import Result


def reader(one: Case):
    """Give the function that reads the files of a case."""
    def read(name: str) -> bytes:
        if name == "-":
            return one.stdin or b""
        if name not in one.files:
            raise FileNotFoundError(name)
        return one.files[name]
    return read


def expected(one: Case) -> Result:
    """Ask the oracle."""
    return oracle.run(one.words, reader(one))


def write_files(one: Case, folder: str) -> None:
    """Write the files of a case."""
    for name, data in one.files.items():
        (Path(folder) / name).write_bytes(data)


def environment() -> dict[str, str]:
    """Give the environment of the binary."""
    return dict(os.environ, LC_ALL="C", GPUSORT_DEVICE="cpu")


def call(binary: str, words: list[str], folder: str, stdin: bytes | None) -> tuple[bytes, bytes, int]:
    """Run the binary; give its output, its messages and its exit code."""
    try:
        done = subprocess.run([binary, *words], cwd=folder, input=stdin or b"", capture_output=True, timeout=60, env=environment())
    except subprocess.TimeoutExpired:
        return b"", b"no answer within 60 seconds", 124
    return done.stdout, done.stderr, done.returncode


def difference(want: Result, output: bytes, messages: bytes, code: int, checks: bool = False) -> str:
    """Say how the outcome differs from what the oracle wants, or nothing; of `check` the output does not count."""
    if code != want.code:
        return f"exit code {code}, wanted {want.code} {want.error}"
    if code == 2:
        missing = [word for word in want.words if word.encode("utf-8", "surrogateescape") not in messages]
        return f"the message lacks {missing}" if missing else "output beside an error" if output else ""
    return "" if output == want.output or checks else "other output"


def run_case(binary: str, one: Case) -> tuple[str, Result, bytes, bytes]:
    """Run one case; give what differs, what was wanted, and what came."""
    want = expected(one)
    with tempfile.TemporaryDirectory() as folder:
        write_files(one, folder)
        output, messages, code = call(binary, one.words, folder, one.stdin)
        checks = one.words[0] == "check"
        wrong = difference(want, output, messages, code, checks)
        if not wrong and not checks and want.code == 0 and one.number % 4 == 0:
            wrong = modes.differences(lambda words, stdin: call(binary, words, folder, stdin), one, want, Path(folder))
    return wrong, want, output, messages


def show(one: Case, wrong: str, want: Result, output: bytes, messages: bytes, seed: int, binary: str) -> None:
    """Print a failure and the command that reproduces it."""
    print(f"--- {one.family} {one.number}: {wrong}")
    print(f"    {one.command}" + (" < stdin" if one.stdin is not None else ""))
    print(f"    again: {sys.argv[0]} {binary} --seed {seed} --only {one.family} --case {one.number}")
    if want.labels:
        print(f"    undecided: {', '.join(sorted(want.labels))}")
    if messages:
        print(f"    message: {messages[:300].decode('utf-8', 'replace').strip()}")
    if "output" in wrong or want.code == 0:
        left, right = want.output.split(b"\n"), output.split(b"\n")
        at = next((i for i, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right)))
        print(f"    line {at + 1}: wanted {b''.join(left[at:at + 1])[:100]!r}, came {b''.join(right[at:at + 1])[:100]!r}")


def run_families(binary: str, arguments: argparse.Namespace) -> int:
    """Run all cases and print a summary for each family; give the exit code."""
    families = [arguments.only] if arguments.only else list(FAMILIES)
    total, failed, shown, labels = Counter(), Counter(), 0, Counter()
    numbers = [arguments.case] if arguments.case is not None else range(-(-arguments.cases // len(families)))
    for family in families:
        for number in numbers:
            one = case(family, number, arguments.seed)
            wrong, want, output, messages = run_case(binary, one)
            if want.labels and arguments.skip_undecided:
                continue
            total[family] += 1
            if not wrong:
                continue
            failed[family] += 1
            labels.update(want.labels)
            if shown < arguments.show:
                shown += 1
                show(one, wrong, want, output, messages, arguments.seed, binary)
            if arguments.case is not None:
                print_case(one, want, output)
    for family in families:
        print(f"{family:20} {total[family]:5} cases {failed[family]:5} differ")
    print(f"{'all':20} {sum(total.values()):5} cases {sum(failed.values()):5} differ")
    for label, count in labels.most_common():
        print(f"    {count} of the differences reach the undecided place {label}")
    return 1 if failed else 0


def print_case(one: Case, want: Result, output: bytes) -> None:
    """Print a case in full."""
    for name, data in (one.files or {"stdin": one.stdin or b""}).items():
        print(f"== {name}\n{data.decode('utf-8', 'replace')}")
    print(f"== wanted\n{want.output.decode('utf-8', 'replace')}\n== came\n{output.decode('utf-8', 'replace')}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--cases", type=int, default=1000, help="number of cases over all families")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(FAMILIES), help="one family")
    parser.add_argument("--case", type=int, help="one case of the family, in full")
    parser.add_argument("--show", type=int, default=10, help="number of failures to print")
    parser.add_argument("--skip-undecided", action="store_true", help="leave out cases that reach an undecided place")
    parser.add_argument("--cases-folder", type=Path, help="compare the oracle with a folder of cases")
    arguments = parser.parse_args()
    if arguments.cases_folder:
        return cases_folder.run_folder(arguments.cases_folder)
    if not arguments.binary:
        parser.error("BINARY or --cases-folder")
    return run_families(os.path.abspath(arguments.binary), arguments)


if __name__ == "__main__":
    sys.exit(main())
