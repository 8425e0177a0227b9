#!/usr/bin/env python3
"""Compares a gpusort with the oracle on generated cases, or the oracle with a folder of cases.

run.py BINARY [--cases N] [--seed S] [--scale K] [--only FAMILY] [--case I] [--show N] [--skip-undecided]
       [--extra "-d cpu -q --memory 1"] [--compare "-d 0"]
run.py --write FOLDER [--cases N] [--seed S]
run.py --cases-folder FOLDER
"""

import argparse
import functools
import json
import multiprocessing
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import cases_folder
import modes
import oracle
from generate import FAMILIES, Case, case
from options import parse
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


def write_files(one: Case, folder: str | Path) -> None:
    """Write the files of a case."""
    for name, data in one.files.items():
        (Path(folder) / name).write_bytes(data)


def environment() -> dict[str, str]:
    """Give the environment of the binary: no defaults and no measured costs of this machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GPUSORT_")}
    return dict(kept, LC_ALL="C", GPUSORT_DEVICE="cpu", XDG_CONFIG_HOME="/nowhere")


def call(binary: str, words: list[str], folder: str, stdin: bytes | None, extra: tuple[str, ...] = ()):
    """Run the binary; give its output, its messages and its exit code.

    `extra` has options of a sort, such as devices, which a check and a merge do not take.
    """
    sorts = words[0] != "check" and "-m" not in words
    command = [binary, *words, *(extra if sorts else ())]
    try:
        done = subprocess.run(command, cwd=folder, input=stdin or b"", capture_output=True, timeout=300,
                              env=environment())
    except subprocess.TimeoutExpired:
        return b"", b"no answer within 300 seconds", 124
    return done.stdout, done.stderr, done.returncode


def difference(want: Result, output: bytes, messages: bytes, code: int, checks: bool = False) -> str:
    """Say how the outcome differs from what the oracle wants, or nothing.

    The output of `check` does not count.
    """
    if code != want.code:
        return f"exit code {code}, wanted {want.code} {want.error}"
    if code == 2:
        encoded = [word.encode("utf-8", "surrogateescape") for word in want.words]
        missing = [word.decode("utf-8", "replace") for word in encoded if word not in messages]
        return f"the message lacks {missing}" if missing else "output beside an error" if output else ""
    return "" if output == want.output or checks else "other output"


def compared(runner, one: Case, got: tuple[bytes, bytes, int], compare: str) -> str:
    """Say how a second run with the options `compare` differs from the first run, or nothing.

    If the options name a device other than the CPU, the report must tell that the sort ran there.
    """
    words = shlex.split(compare)
    output, messages, code = runner(one.words, one.stdin, (*words, "--timing", "stderr", "--json"))
    if (output, code) != (got[0], got[2]):
        said = messages[-300:].decode("utf-8", "replace").strip()
        return f"other output or exit code {code} with {compare}: {said}"
    on_device = b'"device":{' in messages and b'"kind":"cpu"' not in messages
    if code == 0 and {"-d", "--device"} & set(words) and not on_device:
        return f"not on the device of {compare}"
    return ""


def run_case(binary: str, one: Case, extra: str = "", compare: str = ""):
    """Run one case; give what differs, what was wanted, and what came."""
    want = expected(one)
    options = tuple(shlex.split(extra))
    with tempfile.TemporaryDirectory() as folder:
        write_files(one, folder)

        def runner(words, stdin, more=()):
            return call(binary, words, folder, stdin, (*options, *more))

        got = output, messages, code = runner(one.words, one.stdin)
        checks = one.words[0] == "check"
        wrong = difference(want, output, messages, code, checks)
        if not wrong and not checks and compare:
            wrong = compared(runner, one, got, compare)
        if not wrong and not checks and want.code == 0 and one.number % 4 == 0:
            wrong = modes.differences(runner, one, want, Path(folder))
    return wrong, want, output, messages


def show(one: Case, wrong: str, want: Result, output: bytes, messages: bytes, again: list[str]) -> None:
    """Print a failure and the command that reproduces it."""
    print(f"--- {one.family} {one.number}: {wrong}")
    print(f"    {one.command}" + (" < stdin" if one.stdin is not None else ""))
    print(f"    again: {shlex.join([*again, '--only', one.family, '--case', str(one.number)])}")
    if want.labels:
        print(f"    undecided: {', '.join(sorted(want.labels))}")
    if messages:
        print(f"    message: {messages[:300].decode('utf-8', 'replace').strip()}")
    if "output" in wrong or want.code == 0:
        left, right = want.output.split(b"\n"), output.split(b"\n")
        pairs = enumerate(zip(left, right))
        at = next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))
        wanted, came = (b"".join(lines[at:at + 1])[:100] for lines in (left, right))
        print(f"    line {at + 1}: wanted {wanted!r}, came {came!r}")


def numbered(arguments: argparse.Namespace) -> list[tuple[str, int]]:
    """Give the family and number of each case."""
    families = [arguments.only] if arguments.only else list(FAMILIES)
    each = -(-arguments.cases // len(families))
    numbers = [arguments.case] if arguments.case is not None else range(each)
    return [(family, number) for family in families for number in numbers]


def run_numbered(name: tuple[str, int], binary: str, arguments: argparse.Namespace):
    """Make and run one case; a process of the pool does this."""
    one = case(*name, arguments.seed, arguments.scale)
    return (one, *run_case(binary, one, arguments.extra, arguments.compare))


def again_words(binary: str, arguments: argparse.Namespace) -> list[str]:
    """Give the words that run a case of these arguments again."""
    words = [sys.argv[0], binary, "--seed", str(arguments.seed)]
    words += ["--scale", str(arguments.scale)] if arguments.scale != 1 else []
    words += [f"--extra={arguments.extra}"] if arguments.extra else []
    return words + ([f"--compare={arguments.compare}"] if arguments.compare else [])


def run_families(binary: str, arguments: argparse.Namespace) -> int:
    """Run all cases and print a summary for each family; give the exit code."""
    total, failed, labels = Counter(), Counter(), Counter()
    work = functools.partial(run_numbered, binary=binary, arguments=arguments)
    with multiprocessing.Pool(arguments.jobs) as pool:
        for one, wrong, want, output, messages in pool.imap(work, numbered(arguments), chunksize=4):
            if want.labels and arguments.skip_undecided:
                continue
            total[one.family] += 1
            if not wrong:
                continue
            failed[one.family] += 1
            labels.update(want.labels)
            if failed.total() <= arguments.show:
                show(one, wrong, want, output, messages, again_words(binary, arguments))
            if arguments.case is not None:
                print_case(one, want, output)
    for family in total:
        print(f"{family:20} {total[family]:5} cases {failed[family]:5} differ")
    print(f"{'all':20} {total.total():5} cases {failed.total():5} differ")
    for label, count in labels.most_common():
        print(f"    {count} of the differences reach the undecided place {label}")
    return 1 if failed or not total else 0


def print_case(one: Case, want: Result, output: bytes) -> None:
    """Print a case in full."""
    for name, data in (one.files or {"stdin": one.stdin or b""}).items():
        print(f"== {name}\n{data.decode('utf-8', 'replace')}")
    print(f"== wanted\n{want.output.decode('utf-8', 'replace')}")
    print(f"== came\n{output.decode('utf-8', 'replace')}")


def write_cases(folder: Path, arguments: argparse.Namespace) -> int:
    """Write the sorts that have a result, for a program that runs all of them in one process.

    Each case is a folder with its inputs, `case.json` with the options, and the output in `expected`.
    """
    for family, number in numbered(arguments):
        one = case(family, number, arguments.seed, arguments.scale)
        want = expected(one)
        if want.code or want.labels or one.words[0] == "check":
            continue
        place = folder / f"{family}-{number}"
        place.mkdir()
        options = parse(one.words)
        write_files(one, place)
        if one.stdin is not None:
            (place / "stdin").write_bytes(one.stdin)
        what = asdict(options) | {
            "keys": [key.raw for key in options.keys],
            "files": options.files or ["stdin"],
            "command": one.command,
        }
        (place / "case.json").write_text(json.dumps(what))
        (place / "expected").write_bytes(want.output)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--cases", type=int, default=1000, help="number of cases over all families")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=int, default=1, help="how many times as many records a case has")
    parser.add_argument("--only", choices=list(FAMILIES), help="one family")
    parser.add_argument("--case", type=int, help="one case of the family, in full")
    parser.add_argument("--show", type=int, default=10, help="number of failures to print")
    parser.add_argument("--skip-undecided", action="store_true",
                        help="leave out cases that reach an undecided place")
    parser.add_argument("--extra", default="", help="more options of each sort, in one word")
    parser.add_argument("--compare", default="",
                        help="sort again with these options, too, and demand the same bytes and exit code")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of cases at a time")
    parser.add_argument("--write", type=Path,
                        help="run nothing, but write the cases with results to a folder")
    parser.add_argument("--cases-folder", type=Path, help="compare the oracle with a folder of cases")
    arguments = parser.parse_args()
    if arguments.cases_folder:
        return cases_folder.run_folder(arguments.cases_folder)
    if arguments.write:
        return write_cases(arguments.write, arguments)
    if not arguments.binary:
        parser.error("BINARY, --write or --cases-folder")
    return run_families(os.path.abspath(arguments.binary), arguments)


if __name__ == "__main__":
    sys.exit(main())
