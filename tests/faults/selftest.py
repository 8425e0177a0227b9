"""Faults that are planted, each of which the checks must see; and one command without a fault, which they must pass."""

from __future__ import annotations

import shutil
import struct
import tempfile
from pathlib import Path

import data
import mutated
import spill
from harness import TIMEOUT, Job, Run, Setup, remove

# What a wrong `gpusort sort INPUT -o OUTPUT` does, as a shell script, and what must be said of it.
RIGHT = 'sort -n "$2" > "$TMPDIR/x" && mv "$TMPDIR/x" "$4"\n'
REFUSED = "echo 'gpusort: no' >&2; exit 2\n"
PLANTED = {
    "nothing": (RIGHT, None),
    "a refusal": (REFUSED, None),
    "a wrong order": ('cp "$2" "$4"\n', "right lines in a wrong order"),
    "a lost line": ('sort -n "$2" | sed 1d > "$TMPDIR/x" && mv "$TMPDIR/x" "$4"\n', "lines lost: 1"),
    "a line twice": ('(cat "$2"; echo 3) | sort -n > "$TMPDIR/x" && mv "$TMPDIR/x" "$4"\n', "lines too many: 1"),
    "a cut result": ('sort -n "$2" | head -n 2 > "$4"\n', "cut"),
    "no result": ("", "the right lines in a wrong order|lines lost"),
    "a result that is gone": ('rm "$4"\n', "is not there"),
    "a stray": (RIGHT + "touch .gpusort-abc.tmp\n", "a stray"),
    "a stray after an error": ("touch .gpusort-abc.tmp\n" + REFUSED, "a stray"),
    "a stray in TMPDIR": (RIGHT + 'touch "$TMPDIR/abc"\n', "tmp/abc: a stray"),
    "an old file that was cut": (': > "$4"\n' + REFUSED, "the old file has changed"),
    "an old file that was replaced": (RIGHT + REFUSED, "the old file has changed"),
    "an old file with another mode": ('chmod 600 "$4"\n' + REFUSED, "the old file has changed"),
    "an old file that is gone": ('rm "$4"\n' + REFUSED, "the old file is gone"),
    "another file that has changed": (RIGHT + "echo x >> other.txt\n", "other.txt: the old file has changed"),
    "a wrong exit code": ("echo 'gpusort: no' >&2; exit 3\n", "exit 3"),
    "disorder where nothing is checked": ("exit 1\n", "exit 1"),
    "an error without a message": ("exit 2\n", "without a message"),
    "a message of somebody else": ("echo 'sh: no' >&2; exit 2\n", "without a message"),
    "a panic": ("echo \"thread 'main' panicked at src/main.rs:1\" >&2; exit 101\n", "panicked"),
    "a panic with a good code": ("echo 'gpusort: no' >&2; echo 'note: RUST_BACKTRACE=1' >&2; exit 2\n", "RUST_BACKTRACE"),
    "a crash": ("kill -ABRT $$\n", "killed by SIGABRT"),
    "a kill": ("kill -KILL $$\n", "killed by SIGKILL"),
    "a control character": ("printf 'gpusort: \\033[31mno\\n' >&2; exit 2\n", "a control character"),
    "a control character of C1": ("printf 'gpusort: \\302\\205no\\n' >&2; exit 2\n", "a control character"),
    "an endless line": ("printf 'gpusort: %3000d\\n' 1 >&2; exit 2\n", "a line of"),
    "a hang": ("sleep 60\n", "hung"),
    "a process that goes on": (RIGHT + "sleep 60 > /dev/null 2>&1 &\n", "processes left behind"),
}


def main() -> int:
    root = Path(tempfile.mkdtemp(prefix="gpusort-faults-"))
    root.chmod(0o755)
    missed = []
    try:
        for number, (name, (script, expected)) in enumerate(PLANTED.items()):
            binary = root / f"gpusort-{number}"
            binary.write_text("#!/bin/sh\n" + script)
            binary.chmod(0o755)
            timeout = 2 if expected == "hung" else TIMEOUT
            missed += judge(name, try_planted(Setup(binary, root, 1, False, timeout=timeout), number), expected)
        for name, script, check in SPILLED:
            binary = root / "gpusort-spill"
            binary.write_text("#!/bin/sh\n" + script)
            binary.chmod(0o755)
            missed += judge(name, try_spill(Setup(binary, root, 1, False), check), "where 2 is right")
        for name, problem, expected in checks_alone():
            missed += judge(name, [problem] if problem else [], expected)
    finally:
        remove(root)
    print("\n".join(missed) if missed else "every planted fault was seen, and nothing else")
    return int(bool(missed))


def try_planted(setup: Setup, number: int) -> list[str]:
    run = Run(setup, "self-test", number)
    source = run.folder / "input.txt"
    source.write_bytes(b"10\n9\n8\n")
    old = {"old.txt": b"9\n10\n8\n", "other.txt": data.OLD}
    run.attempt(Job("sort", ["sort", str(source), "-o", "old.txt"], old=old, new={"old.txt": b"8\n9\n10\n"}))
    run.no_traces()
    return run.failures


# What a wrong sort in parts does, and the check that must see it.
WRITE = "printf '8\\n9\\n10\\n' > old.txt\n"
SPILLED = [
    ("a temporary folder that is none, unnoticed", WRITE, lambda run, job: spill.run_folder(run, job, "a file")),
    (
        "a damaged run, unnoticed",
        'echo 8 > "$TMPDIR/x"; exec 3< "$TMPDIR/x"; rm "$TMPDIR/x"; cat > /dev/null\n' + WRITE,
        lambda run, job: spill.run_damage(run, job, "bit"),
    ),
]


def try_spill(setup: Setup, check) -> list[str]:
    run = Run(setup, "self-test-spill", 0)
    source = run.folder / "input.txt"
    source.write_bytes(b"10\n9\n8\n")
    job = Job("sort", ["sort", str(source), "-o", "old.txt"], old={"old.txt": data.OLD}, new={"old.txt": b"8\n9\n10\n"})
    check(run, job)
    return run.failures


def judge(name: str, failures: list[str], expected: str | None) -> list[str]:
    """What is wrong with what the checks said."""
    if expected is None:
        return [f"{name}: said {failure}" for failure in failures]
    seen = any(part in failure for failure in failures for part in expected.split("|"))
    print(f"{'seen' if seen else 'MISSED'}: {name}")
    return [] if seen else [f"{name}: missed; what was said: {failures}"]


def checks_alone():
    """The oracle and the checks of content: a name, what was said, what must be."""
    tokens = [b"nan", b"1e3", b"0.0", b"-0.0", b"007", b"7", b"-inf"]
    right = b"-inf\n-0.0\n0.0\n007\n7\n1e3\nnan\n"
    yield "the order of text", None if data.sorted_text(tokens) == right else "wrong", None
    yield "a right text", mutated.check_text(b" 3 007\r\n1", b"1\n3\n007\n"), None
    yield "a text that lost a token", mutated.check_text(b"3 007\n1", b"1\n3\n"), "cut"
    yield "a text with another spelling", mutated.check_text(b"3 007\n1", b"1\n3\n7\n"), "lost"
    yield "a text of no numbers", mutated.check_text(b"3 x\n", b"3\nx\n"), "is none"
    yield "right numbers", mutated.check_plain(b"10\r\n\n9\n", b"9\n10\r\n\n"), None
    yield "numbers in the order of bytes", mutated.check_plain(b"9\n10\n", b"10\n9\n"), "wrong order"
    yield "right lines", mutated.check_plain(b"# 1\n\n2 b\r\n1 a\n", b"\n# 1\n1 a\n2 b\r\n"), None
    yield "lines that lost one", mutated.check_plain(b"2 b\n1 a\n", b"2 b\n"), "lines lost"
    yield "lines torn into tokens", mutated.check_plain(b"2 7\n1 9\n", b"1\n2\n7\n9\n"), "lines lost"
    yield "right words", mutated.check_plain(b"b7\r\n1.5x\n", b"1.5x\nb7\r\n"), None
    yield "words out of order", mutated.check_plain(b"b7\n1.5x\n", b"b7\n1.5x\n"), "wrong order"
    yield "a right table", mutated.check_table(b"a,b\n2,x\n1,y", b"a,b\n1,y\n2,x\n"), None
    yield "a table that lost a row", mutated.check_table(b"a,b\n2,x\n1,y", b"a,b\n1,y\n"), "rows lost"
    yield "a table with another header", mutated.check_table(b"a,b\n2,x\n", b"2,x\na,b\n"), "another header"
    yield "a quoted table that lost a byte", mutated.check_table(b'a\n"1"\n2\n', b'a\n1"\n2\n'), "bytes lost"
    floats = [0x7FC00001, 0xFFC00002, 0xFFC00001, 0x7F800000, 0x80000000, 0, 0xFF800000, 0x7F800001]
    order = [0xFF800000, 0x80000000, 0, 0x7F800000, 0x7F800001, 0x7FC00001, 0xFFC00002, 0xFFC00001]
    got = data.sorted_binary(struct.pack("<8I", *floats), "f32")
    yield "the order of floats", None if got == struct.pack("<8I", *order) else "wrong", None
    array = data.npy("u32", bytes(16), 4)
    yield "a right array", data.is_npy("u32", bytes(16), 4)(array), None
    yield "a cut array", data.is_npy("u32", bytes(16), 4)(array[:-1]), "wrong data"
    yield "an array of another length", data.is_npy("u32", bytes(16), 4)(data.npy("u32", bytes(16), 3)), "wrong header"
    whole = data.BENCH_COLUMNS + b"\n" + b",".join([b"1"] * len(data.BENCH_COLUMNS.split(b","))) + b"\n"
    yield "a right table of a bench", data.is_bench_csv(whole), None
    yield "a cut table of a bench", data.is_bench_csv(whole[:-1]), "cut"
    yield "a cut row of a bench", data.is_bench_csv(whole[:-6] + b"\n"), "width"


if shutil.which("sort") is None:
    raise SystemExit("the self test needs a POSIX shell and sort")
