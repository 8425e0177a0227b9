"""Run gpusort over random cases and compare what it prints, byte by byte, with the oracle.

python run.py target/release/gpusort --cases 10000 --extra '-d cpu -q' --compare '-d 0'
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np

from generate import make_case
from packing import packed
from oracle import (
    BOM,
    Case,
    Expected,
    Undecided,
    cut_comments,
    decided,
    expect,
    read_array,
    split,
    split_lines,
    split_text,
)

KEPT_FAILURES = 5


def records(data: bytes, delimiter: bytes, lines: bool = False, zero: bool = False, text: bool = False) -> list[bytes]:
    """Records of a table without line ends, byte by byte: another way than the oracle's."""
    if text:
        return re.sub(rb"(^|[\r\n])#[^\r\n]*(?=[\r\n]|$)", rb"\1", data).split()
    if zero:
        return data.removesuffix(b"\0").split(b"\0") if data else []
    if lines:
        return [line.rstrip(b"\r\n") for line in io.BytesIO(data)]
    out, start, at_field, quoted = [], 0, True, False
    at, mark = 0, delimiter[0]
    while at < len(data):
        byte = data[at]
        if quoted:
            if byte == 0x22:
                if data[at + 1 : at + 2] == b'"':
                    at += 1
                else:
                    quoted = False
        elif byte == 0x0A:
            out.append(data[start:at])
            start, at_field = at + 1, True
        elif byte == mark:
            at_field = True
        else:
            quoted, at_field = at_field and byte == 0x22, False
        at += 1
    if start < len(data):
        out.append(data[start:])
    return [record.rstrip(b"\r") for record in out]


def lost_or_added(case: Case, expected: Expected, stdout: bytes) -> str:
    """Are the records that came out records that went in, and as many as there must be?"""
    o = case.options
    if case.is_table:
        went_in: list[bytes] = []
        top: list[bytes] = []
        has_header = False
        for name, data in case.files:
            comments, data = cut_comments(data.removeprefix(BOM), o)
            lines = records(data, case.delimiter, o.lines, o.zero, o.text)
            kept = records(comments, b"\0", True, o.zero) if name == case.files[0][0] else []
            if o.header:
                filled = next((at for at, line in enumerate(lines) if line or o.lines), len(lines))
                size = o.above + 1
                header, lines = lines[filled : filled + size], lines[filled + size :]
                kept += [] if has_header else header
                has_header |= bool(header)
            top += kept  # stays at the front
            went_in += lines
        went_in = top + went_in
        if o.argsort:
            came_out = stdout.split(b"\n")[:-1]
            went_in = [b"%d" % at for at in range(len(went_in) - len(top))]
        else:
            comments, rest = cut_comments(stdout.removeprefix(BOM), o)
            came_out = records(comments, b"\0", True, o.zero) + records(rest, case.delimiter, o.lines, o.zero, o.text)
            if came_out[: len(top)] != top:
                return "the header is not the first record"
            came_out, went_in = came_out[len(top) :], went_in[len(top) :]
    else:
        array = read_array(case)
        kind = "<u4" if o.argsort else array.dtype
        if o.argsort:
            array = np.arange(len(array), dtype=kind)
        if o.to_text:
            came_out, went_in = stdout.split(b"\n")[:-1], [b"%d" % value for value in array.tolist()]
        else:
            bits = f"<u{np.dtype(kind).itemsize}"
            came_out, went_in = np.frombuffer(stdout, bits).tolist(), array.view(bits).tolist()
    if len(came_out) != expected.count:
        return f"{len(came_out)} records came out instead of {expected.count}"
    if Counter(came_out) - Counter(went_in):
        return "a record came out that did not go in"
    return ""


def unpack_npy(case: Case, stdout: bytes) -> tuple[str, bytes]:
    """What is wrong with an .npy file, and the elements in it."""
    wanted = np.dtype("<u4" if case.options.argsort else case.dtype).newbyteorder("<")
    try:
        array = np.load(io.BytesIO(stdout))
    except (ValueError, EOFError) as error:
        return f"numpy does not load this: {error}", b""
    if array.dtype != wanted or array.ndim != 1:
        return f"{array.dtype} of {array.ndim} dimensions instead of {wanted}", b""
    return "", array.tobytes()


def compare(case: Case, expected: Expected, code: int, stdout: bytes, stderr: str) -> str:
    """What is wrong with a run; empty if nothing is."""
    if code != expected.code:
        return f"exit code {code} instead of {expected.code} ({expected.why or 'no error'})"
    if code:
        if stdout:
            return "an error, and yet something on standard output"
        if not any(re.search(pattern, stderr) for pattern in expected.stderr):
            return f"stderr has none of {expected.stderr[:5]} ({expected.why})"
        return ""
    if case.is_npy and not case.options.to_text:
        wrong, stdout = unpack_npy(case, stdout)
        if wrong:
            return wrong
    wrong = lost_or_added(case, expected, stdout)
    if stdout != expected.stdout:
        at = len(os.path.commonprefix([stdout, expected.stdout]))
        here = slice(max(at - 20, 0), at + 40)
        wrong += "; " if wrong else ""
        return f"{wrong}byte {at} differs: {stdout[here]!r} instead of {expected.stdout[here]!r}"
    return wrong


def execute(command: list[str], case: Case, folder: Path) -> tuple[int, bytes, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUSORT_")}
    environment["XDG_CONFIG_HOME"] = "/nowhere"  # no measured costs of this machine
    done = subprocess.run(
        command,
        check=False,
        cwd=folder,
        env=environment,
        input=case.packed.get(*case.files[0]) if case.stdin else b"",
        capture_output=True,
        timeout=300,
    )
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def check_and_merge(begin: list[str], case: Case, expected: Expected, folder: Path) -> str:
    """What is wrong with looking whether this is sorted and with merging parts of what was sorted."""
    o = case.options
    # What was cut off may have been what made a column decimal.
    if o.argsort or o.unique or o.top is not None or o.to_text or case.stdin:
        return ""
    names = [name for name, _ in case.files]
    options = [arg for arg in case.args if arg not in names]
    if o.plain:
        # The first line of what comes out may say something else.
        options += ["-f", "lines" if o.lines else "text"]
    ending = Path(re.sub(r"\.(gz|zst)$", "", names[0], flags=re.IGNORECASE)).suffix
    code, _, stderr = execute([begin[0], "check", *case.args], case, folder)
    if code != (0 if expected.in_order else 1):
        return f"check of the input: exit code {code}; {stderr.strip()}"
    if ending == ".npy":
        return ""
    if case.is_table:
        head = expected.stdout
        comments, head = cut_comments(head.removeprefix(BOM), o)
        if o.text:
            rows = split_text(head)
        elif o.lines:
            rows = split_lines(head, case.delimiter, zero=o.zero)
        else:
            rows = split(head, case.delimiter)[0]
        size = (o.above + 1) * o.header
        header, rows = rows[:size], rows[size:]
        parts = [header + rows[::2], header + rows[1::2]]
        files = [comments + b"".join(row.raw + row.end for row in part) for part in parts]
    else:
        size = np.dtype(case.dtype).itemsize
        items = [expected.stdout[at : at + size] for at in range(0, len(expected.stdout), size)]
        files = [b"".join(items[::2]), b"".join(items[1::2])]
    parts = []
    for number, data in enumerate(files):
        parts.append(f"part{number}{ending}")
        (folder / parts[-1]).write_bytes(data)
    whole = f"whole{ending}"
    (folder / whole).write_bytes(expected.stdout)
    code, _, stderr = execute([begin[0], "sort", "-c", *options, whole], case, folder)
    if code:
        return f"check of the output: exit code {code}; {stderr.strip()}"
    merged = execute([begin[0], "sort", "-q", "-m", *options, *parts], case, folder)
    again = execute([*begin, *options, *parts], case, folder)
    if merged[:2] != again[:2] or merged[0]:
        return f"merged otherwise than sorted: exit code {merged[0]}, {again[0]}; {merged[2].strip()}"
    return ""


def write_case(case: Case, expected: Expected, place: Path) -> None:
    """Leaves a case for a program that does all of them in one process: what is to be done, and what comes out."""
    what = {
        "files": [name for name, _ in case.files],
        "table": case.is_table,
        "dtype": case.dtype,
        "delimiter": case.delimiter[0] if case.delimiter else 0,
        **asdict(case.options),
    }
    (place / "case.json").write_text(json.dumps(what))
    (place / "expected").write_bytes(expected.stdout)


def run_case(number: int, options: argparse.Namespace, folder: Path) -> tuple[int, str, str, str]:
    """Number, kind and command of a case, and what is wrong."""
    tries = 0
    while True:
        case = make_case(f"{options.seed}:{tries}" if tries else str(options.seed), number, options.only)
        try:
            case = decided(case)
            expected = expect(case, use_pandas=number % 3 == 0 and not options.write)
            break
        except Undecided:
            tries += 1
    if number % 5 == 3 and not options.write:
        case, expected = packed(random.Random(f"{options.seed}:{number}"), case, expected)
    place = folder / str(number)
    o = case.options
    kind = "text" if o.text else "line" if o.lines else "table" if case.is_table else "array"
    kind = "error" if expected.code else kind
    if options.write and expected.code:
        return number, kind, "", ""
    place.mkdir()
    for name, data in case.files:
        (place / name).write_bytes(case.packed.get(name, data))
    if options.write:
        write_case(case, expected, place)
        return number, kind, "", ""
    begin = [str(options.binary), "sort", *shlex.split(options.extra)]
    command = [*begin, *case.args]
    wrong = ""
    try:
        result = execute(command, case, place)
        wrong = compare(case, expected, *result)
        if not wrong and options.compare and expected.code == 0:
            # Behind the others, which it may contradict; and with a word on where it ran.
            command = [*begin, *shlex.split(options.compare), "--timing", "stderr", "--json", *case.args]
            other = execute(command, case, place)
            if other[:2] != result[:2]:
                wrong = f"other output with {options.compare}: exit code {other[0]}"
                wrong += "" if other[0] == 0 else "; stderr: " + other[2].strip()
            elif other[2].count('"device":{') != 1 or '"kind":"cpu"' in other[2]:
                wrong = f"not on a GPU with {options.compare}: {other[2].strip()}"
        if not wrong and number % 3 == 1 and expected.code == 0:
            wrong = check_and_merge(begin, case, expected, place)
    except subprocess.TimeoutExpired:
        wrong = "no end after 300 s"
    if wrong:
        (place / "expected").write_bytes(expected.stdout)
        if "result" in locals():
            (place / "stdout").write_bytes(result[1])
            (place / "stderr").write_text(result[2])
            wrong += f"\n  stderr: {result[2].strip()[:500]}" if result[0] != expected.code else ""
    else:
        shutil.rmtree(place)
    return number, kind, shlex.join(command), wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case: to run one again")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", choices=["tables", "lines", "words", "arrays", "texts"], default="")
    parser.add_argument("--extra", default="", help="more options for each run; write --extra=-q")
    parser.add_argument("--compare", default="", help="sort again with these too, and demand the same bytes")
    parser.add_argument("--write", type=Path, help="run nothing, but leave the cases without errors in this folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    options.binary = options.binary.resolve()

    folder = options.write or Path(tempfile.mkdtemp(prefix="gpusort-oracle-"))
    numbers = range(options.first, options.first + options.cases)
    counts: Counter[str] = Counter()
    failures = 0
    with multiprocessing.Pool(options.jobs) as pool:
        work = partial(run_case, options=options, folder=folder)
        for number, kind, command, wrong in pool.imap_unordered(work, numbers, chunksize=8):
            counts[kind] += 1
            if wrong:
                failures += 1
                print(f"seed {options.seed}, case {number}: {wrong}\n  {command}\n  files: {folder / str(number)}")
                if failures == KEPT_FAILURES:
                    print(f"stopped after {failures} failures")
                    pool.terminate()
                    return 1
    if failures:
        return 1
    if not options.write:
        shutil.rmtree(folder)
    print(
        f"{options.cases} cases: {counts['table']} tables, {counts['line']} of lines, {counts['array']} arrays,"
        f" {counts['text']} texts,"
        f" {counts['error']} errors expected, all as expected"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
