"""Pipes and FIFOs: slow and vanishing writers, vanishing readers, rows so long that only linear time will do."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import threading
import time
from pathlib import Path

import data
from harness import Job, Outcome, Run, Scenario, Setup, compare, snapshot

MB = 1_000_000
PIECE = 64 * 1024


def prepare(setup: Setup, folder: Path) -> None:
    jobs = data.jobs(setup, 10_000)
    setup.shared["jobs"] = jobs
    rng = random.Random(f"{setup.seed}/pipes")
    small = data.jobs(setup, 100)
    cases: list[tuple] = []
    for name, options in DRIBBLED.items():
        cases.append((run_dribbled, small[name], options))
    to_stdout = [job for name, job in data.jobs(setup, 400_000).items() if job.out]
    cases += [(run_head, job) for job in to_stdout]
    cases += [(run_closed_reader, job.args, job.stdin) for job in jobs.values() if job.out]
    cases += [(run_closed_reader, call.split(), None) for call in TALKERS]
    cases += [(run_vanishing_writer, *case) for case in VANISHING]
    cases += [(run_fifos, which) for which in FIFOS]
    cases += [(run_each_fifo, which) for which in ("first", "last", "only")]
    cases += [(run_output_fifo, name) for name in ("text to stdout", "table to stdout", "merge words to stdout")]
    cases += [(run_long, name) for name in LONG]
    rng.shuffle(cases)
    setup.shared["cases"] = cases


def run_case(run: Run) -> None:
    function, *rest = run.shared["cases"][run.index]
    function(run, *rest)
    run.no_traces()


# --- Slow writers ----------------------------------------------------------------------------------------------

# Jobs of files, as they are through standard input.
DRIBBLED = {
    "text to stdout": [],
    "decimals to stdout": [],
    "unique": [],
    "table to stdout": ["-f", "csv"],
    "merge to stdout": [],
    "check": [],
    "check of disorder": [],
    "check table": ["-f", "csv"],
    "check u32": ["-f", "bin", "-t", "u32"],
    "merge words to stdout": ["-f", "bin", "-t", "u32"],
}


def write_in_pieces(file, content: bytes, sizes, pause: float = 0.0) -> None:
    """Feeds a pipe; whoever reads may go away."""
    try:
        place = 0
        while place < len(content):
            size = sizes()
            os.write(file.fileno(), content[place : place + size])
            place += size
            if pause:
                time.sleep(pause)
    except BrokenPipeError:
        pass
    finally:
        file.close()


def read_all(run: Run, process: subprocess.Popen, writing: threading.Thread, codes: list[int]) -> Outcome:
    """The end of a run whose input a thread writes."""
    outcome = run.end(process, None, time.monotonic())
    writing.join()
    run.check_outcome(outcome, codes)
    return outcome


def run_dribbled(run: Run, job: Job, options: list[str]) -> None:
    """The first input of a job a few bytes at a time, the others as they are."""
    files = [word for word in job.args if word.startswith("/")]
    args = ["-" if word == files[0] else word for word in job.args]
    reading, writing = os.pipe()
    process = run.start(*args, *options, stdin=reading)
    os.close(reading)
    content = Path(files[0]).read_bytes()
    sizes = lambda: run.rng.choice([1, 1, 2, 3, 7])
    thread = threading.Thread(target=write_in_pieces, args=(os.fdopen(writing, "wb"), content, sizes, 0.0003))
    thread.start()
    outcome = read_all(run, process, thread, [job.code])
    if outcome.code == 0 and job.out is not None and (problem := compare(outcome.out, job.out)):
        run.fail(f"stdout: {problem}")


# --- Vanishing readers -----------------------------------------------------------------------------------------

TALKERS = ["--help", "--version", "sort --help", "devices", "completions bash", "completions fish", "man", "man sort"]
TALKERS += ["gen -c 10", "gen -c 1M", "gen -c 1M --to bin", "bench -s 256 --runs 1 --warmup 0 -a bitonic -d cpu"]


def run_head(run: Run, job: Job) -> None:
    """As `| head -1`: it ends quietly, with 0."""
    with open(job.stdin or os.devnull, "rb") as stdin:
        process = run.start(*job.args, "-q" if job.kind == "sort" else "--quiet", stdin=stdin)
        run.last_command += " | head -c 10"
        os.read(process.stdout.fileno(), 10)
        process.stdout.close()
        process.stdout = None
        outcome = run.end(process, None, time.monotonic())
    run.check_outcome(outcome, [0])
    if outcome.err:
        run.fail(f"not quiet: {outcome.err[:300]!r}")


def run_closed_reader(run: Run, args: list[str], source: str | None) -> None:
    """Nobody reads from the beginning on."""
    reading, writing = os.pipe()
    os.close(reading)
    with open(source or os.devnull, "rb") as stdin:
        outcome = run.gpusort(*args, codes=[0], stdout=writing, stdin=stdin)
        run.last_command += " | true"
    os.close(writing)
    if b"gpusort: " in outcome.err and args[0] != "devices" or b"roken pipe" in outcome.err:
        run.fail(f"not quiet: {outcome.err[:300]!r}")


# --- Vanishing writers -----------------------------------------------------------------------------------------

WORDS = bytes(range(64))
ARRAY = data.npy("u32", WORDS, 16)
# What is written before the writer goes away, the call, its exit code and output.
VANISHING = [
    (b"3\n1\n2", "sort", 0, b"1\n2\n3\n"),
    (b"", "sort", 0, b""),
    (b"3\n1\n-", "sort -k 1:number -o old.txt", 2, None),
    (b"3\n1e", "sort -k 1:number -o old.txt", 2, None),
    (WORDS[:63], "sort -f bin -t u32 -o old.txt", 2, None),
    (WORDS[:61], "sort -m -f bin -t u32 -o old.txt", 2, None),
    (ARRAY[:-1], "sort -f npy -o old.txt", 2, None),
    (ARRAY[:20], "sort -f npy -o old.txt", 2, None),
    (ARRAY[:-4], "sort -m -f npy -o old.txt", 2, None),
    (b'a,b\n2,"x\n1,y\n', "sort -f csv -k a -o old.txt", 2, None),
    (b"a,b\n2,x\n1", "sort -f csv -k a -o old.txt", 2, None),
    (b"a,b\n2,x\n1,y", "sort -f csv -k a", 0, b"a,b\n1,y\n2,x\n"),
    (b"1\n2\n3", "check", 0, b""),
    (b"1\n2\n-", "check -k 1:number", 2, None),
]


def run_vanishing_writer(run: Run, content: bytes, call: str, code: int, out: bytes | None) -> None:
    (run.work / "old.txt").write_bytes(data.OLD)
    before = snapshot(run.work)
    outcome = run.gpusort(*call.split(), codes=[code], feed=content)
    run.unchanged(before)
    if out is not None and (problem := compare(outcome.out, out)):
        run.fail(f"stdout: {problem}")


# --- FIFOs -----------------------------------------------------------------------------------------------------

FIFOS = ["sort f1", "sort f1 f2", "sort -o out.txt f1 f2", "sort -m f1 f2", "sort -m -o out.txt f1 f2", "check f1"]
FIFOS += ["sort --argsort f1 f2", "sort --each -o out f1 f2", "sort < f1", "sort -m - f2 < f1"]


def feed_fifo(path: Path, content: bytes) -> threading.Thread:
    """A writer that waits for a reader; one that never comes is no reason to wait for ever."""

    def write() -> None:
        try:
            with open(path, "wb") as file:
                file.write(content)
        except BrokenPipeError:
            pass

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def run_fifos(run: Run, call: str) -> None:
    first, second = data.lines([b"%d" % n for n in range(1, 6000, 2)]), data.lines([b"%d" % n for n in range(0, 6000, 2)])
    for name in ("f1", "f2"):
        os.mkfifo(run.work / name)
    threads = [feed_fifo(run.work / "f1", first)]
    if "f2" in call:
        threads.append(feed_fifo(run.work / "f2", second))
    words = call.split()
    place = words.index("<") if "<" in words else len(words)
    outcome = run.gpusort(*words[:place], codes=[0], redirect=" ".join(words[place:]))
    tokens = (first + (second if "f2" in call else b"")).split()
    right = b"" if "check" in call else data.sorted_text(tokens)
    if "--argsort" in call:
        right = data.lines([b"%d" % place for place in sorted(range(len(tokens)), key=lambda n: int(tokens[n]))])
    if "--each" in call:
        for name, content in (("f1", first), ("f2", second)):
            if problem := compare((run.work / "out" / name).read_bytes(), content):
                run.fail(f"out/{name}: {problem}")
    else:
        got = (run.work / "out.txt").read_bytes() if "-o" in words else outcome.out
        if problem := compare(got, right):
            run.fail(f"the result: {problem}")
    release(run.work)


def release(folder: Path) -> None:
    """Lets go of writers for whom nobody came."""
    for path in folder.iterdir():
        if stat.S_ISFIFO(path.lstat().st_mode):
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))


def run_each_fifo(run: Run, which: str) -> None:
    """A FIFO has no place to put its sorted content: an error at once, while the other files are sorted."""
    os.mkfifo(run.work / "fifo")
    files = {"a": b"2\n1\n", "b": b"4\n3\n"}
    for name, content in files.items():
        (run.work / name).write_bytes(content)
    order = {"first": ["fifo", "a", "b"], "last": ["a", "b", "fifo"], "only": ["fifo"]}[which]
    before = snapshot(run.work)
    run.gpusort("sort", "--each", "--in-place", *order, codes=[2])
    if not (run.work / "fifo").is_fifo():
        run.fail("the FIFO is gone")
    run.complete(before, {} if which == "only" else {"a": b"1\n2\n", "b": b"3\n4\n"})


def run_output_fifo(run: Run, name: str) -> None:
    """Written through, and still a FIFO afterwards."""
    job = run.shared["jobs"][name]
    os.mkfifo(run.work / "fifo")
    got: list[bytes] = []
    thread = threading.Thread(target=lambda: got.append((run.work / "fifo").read_bytes()), daemon=True)
    thread.start()
    to = {"table to stdout": ["--to", "csv"], "merge words to stdout": ["--to", "bin"]}.get(name, [])
    run.gpusort(*job.args, *to, "-o", "fifo", codes=[0])
    if thread.is_alive():
        # It has perhaps never been opened, which must not keep the reader waiting.
        try:
            os.close(os.open(run.work / "fifo", os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            pass
        thread.join()
    if not (run.work / "fifo").is_fifo():
        run.fail("the FIFO is gone")
    if problem := compare(got[0], job.out):
        run.fail(f"through the FIFO: {problem}")


# --- Long rows -------------------------------------------------------------------------------------------------

LENGTHS = (10 * MB, 40 * MB)
# As many times as long may four times the length take.
MOST_TIMES = 9
TRIES = 5
TEXT, TABLE = [], ["-f", "csv", "-k", "1"]
# The call and the input for a length.
LONG = {
    "check token": (["check", *TEXT], lambda n: b"1\n0." + b"1" * n + b"e3\n"),
    "merge token": (["sort", "-m", *TEXT], lambda n: b"-1\n1." + b"1" * n + b"\n"),
    "check integer": (["check", *TEXT], lambda n: b"1\n" + b"0" * n + b"7\n"),
    "check row": (["check", *TABLE], lambda n: b"a,b\n1," + b"x" * n + b"\n2,y\n"),
    "merge row": (["sort", "-m", *TABLE], lambda n: b"a,b\n1," + b"x" * n + b"\n2,y\n"),
    "check quoted row": (["check", *TABLE], lambda n: b'a,b\n1,"' + b"x\n" * (n // 2) + b'"\n2,y\n'),
    "merge quoted row": (["sort", "-m", *TABLE], lambda n: b'a,b\n1,"' + b'""' * (n // 2) + b'"\n2,y\n'),
    "merge header": (["sort", "-m", *TABLE], lambda n: b"a," + b"b" * n + b"\n1,x\n2,y\n"),
    "check fields": (["check", *TABLE], lambda n: b"1" + b",2" * (n // 2) + b"\n1" + b",2" * (n // 2) + b"\n"),
    "check comment": (["check", "--comments"], lambda n: b"1\n#" + b"c" * n + b"\n2\n"),
    "check blanks": (["check", *TEXT], lambda n: b"1\n2\n" + b" " * n + b"\n"),
    "sort row": (["sort", *TABLE], lambda n: b"a,b\n1," + b"x" * n + b"\n2,y\n"),
    "sort token": (["sort", *TEXT], lambda n: b"-1\n1." + b"1" * n + b"\n"),
}


def run_long(run: Run, name: str) -> None:
    """Four times the length takes about four times the time, and sixteen times where time is quadratic: then it does so every time,
    where other work on the machine slows some runs only."""
    for _ in range(TRIES):
        seconds = [time_long(run, name, length) for length in LENGTHS]
        # What is over in no time has no ratio.
        if run.failures or seconds[1] <= max(1.0, MOST_TIMES * seconds[0]):
            return
    told = (f"{time:.2f} s for {length // MB} MB" for time, length in zip(seconds, LENGTHS, strict=True))
    run.fail(f"not linear: {', '.join(told)}")


def time_long(run: Run, name: str, length: int) -> float:
    """The seconds of one run, whose result must be right."""
    args, make = LONG[name]
    content = make(length)
    reading, writing = os.pipe()
    begin = time.monotonic()
    process = run.start(*args, stdin=reading)
    run.last_command += f"  (a pipe with {name.split(maxsplit=1)[1]} of {length // MB} MB)"
    os.close(reading)
    pipe = os.fdopen(writing, "wb")
    thread = threading.Thread(target=write_in_pieces, args=(pipe, content, lambda: PIECE))
    thread.start()
    outcome = run.end(process, None, begin)
    thread.join()
    run.check_outcome(outcome, [0])
    if args[0] == "sort" and outcome.code == 0 and (problem := compare(outcome.out, content)):
        run.fail(f"stdout: {problem[:200]}")
    return outcome.seconds


SCENARIOS = [Scenario("pipes", run_case, prepare)]
