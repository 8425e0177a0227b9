"""Limits of memory from little to plenty: below what the process itself needs the command refuses with a number, and
from there on it does all of its work, with every limit.

    python3 tests/faults/run.py target/release/gpusort --only space resident           some limits, smaller inputs
    python3 tests/faults/run.py target/release/gpusort --only space resident --full    every ten megabytes, 256 MiB: an hour

A run is one job under all the limits. The last lines tell the least limit with which each job was done.
"""

from __future__ import annotations

import gzip
import hashlib
import random
import re
import resource
from array import array
from pathlib import Path

import data
from harness import Job, Run, Scenario, Setup
from limits import MIB, find_cgroups, limited_group

# With so many megabytes each job is done: what the process itself needs, whatever the size of the input.
ENOUGH_SPACE, ENOUGH_RESIDENT = 60, 40

# Inputs are as their sorted elements, every so many of them together.
STRIDE = 61


def digest(content: bytes) -> bytes:
    return hashlib.blake2b(content).digest()


def is_digest(right: bytes):
    return lambda got: None if digest(got) == right else f"wrong: {len(got)} bytes"


def prepare(setup: Setup, folder: Path) -> None:
    """Inputs whose order is known: sorting them here would take minutes."""
    rng = random.Random(f"{setup.seed}/sweeps")
    offsets = list(range(STRIDE))
    rng.shuffle(offsets)
    size = 16 if setup.full else 2
    jobs: dict[str, Job] = {}

    def put(name: str, content: bytes) -> str:
        (folder / name).write_bytes(content)
        return str(folder / name)

    def job(name: str, args: list[str], right: bytes, **rest) -> None:
        jobs[name] = Job(name, [*args, "-o", "old"], old={"old": data.OLD}, new={"old": is_digest(digest(right))}, **rest)

    def words(name: str, code: str, count: int) -> tuple[str, bytes]:
        ordered = array(code, range(count))
        spread = b"".join(ordered[offset::STRIDE].tobytes() for offset in offsets)
        return put(name, spread), ordered.tobytes()

    def texts(name: str, of, count: int, head: bytes = b"") -> tuple[str, bytes]:
        ordered = [of(number) for number in range(count)]
        spread = [line for offset in offsets for line in ordered[offset::STRIDE]]
        return put(name, head + data.lines(spread)), head + data.lines(ordered)

    path, right = words("words.u32", "I", size << 22)
    job("words", ["sort", path], right)
    job("words, any device", ["sort", "-d", "auto", path], right)
    job("words from a pipe", ["sort", "-f", "bin"], right, stdin=path, piped=True)
    half = len(right) // 8 * 4
    halves = [put(f"half{number}.u32", part) for number, part in enumerate((right[:half], right[half:]))]
    job("merge", ["sort", "-m", *halves], right)
    jobs["check"] = Job("check", ["check", *halves], out=b"")
    path, right = words("words.u64", "Q", size << 20)
    place = {offset: sum(len(range(before, size << 20, STRIDE)) for before in offsets[:at]) for at, offset in enumerate(offsets)}
    positions = array("I", (place[rank % STRIDE] + rank // STRIDE for rank in range(size << 20)))
    job("positions", ["sort", "--argsort", "--to", "bin", path], positions.tobytes())
    del positions
    path, right = words("bytes.u64", "Q", size << 20)
    job("bytes", ["sort", "-f", "bin", "-t", "u8", path], bytes(sorted(Path(path).read_bytes())))
    array_of = data.npy("u64", Path(path).read_bytes(), size << 20)
    job("npy", ["sort", put("words.npy", array_of)], data.npy("u64", right, size << 20))
    path, right = texts("numbers.txt", lambda n: b"%d" % (n + 10_000_000), size * 500_000)
    job("text", ["sort", path], right)
    job("text from a pipe", ["sort"], right, stdin=path, piped=True)
    job("gzip", ["sort", put("numbers.txt.gz", gzip.compress(Path(path).read_bytes(), 1))], right)
    path, right = texts("decimals.txt", lambda n: repr(n / 8).encode(), size * 300_000)
    job("decimals", ["sort", path], right)
    path, right = texts("lines.txt", lambda n: b"row%d  %d" % (n * 7919 % 9973, n), size * 250_000)
    job("lines", ["sort", "-k", "2", path], right)
    head = b"id,name,price\n"
    path, right = texts("table.csv", lambda n: b"%d,item %d,%s" % (n * 7919 % 9973, n, repr(n / 8).encode()), size * 200_000, head)
    job("table", ["sort", "-k", "price", path], right)
    first = right[: len(head) + len(b"".join(right[len(head) : 10_000].splitlines(True)[:10]))]
    jobs["top"] = Job("top", ["sort", "--top", "10", "-k", "price", path], out=first)
    setup.shared["cases"] = list(jobs.values())


def sweep(run: Run, limits: list[int], enough: int, attempt) -> None:
    """Does a job under each limit, from the least on."""
    job = run.shared["cases"][run.index]
    least = None
    for limit in limits:
        before = len(run.failures)
        outcome = attempt(job, limit)
        if outcome.code == job.code:
            least = least or limit
        elif outcome.code == 2 and least:
            run.fail(f"exit 2, though it was done with {least} MiB; stderr: {outcome.err[:300]!r}")
        elif outcome.code == 2 and not re.search(rb"memory.*\d", outcome.err):
            run.fail(f"no number in {outcome.err[:300]!r}")
        run.failures[before:] = [f"with {limit} MiB: {failure}" for failure in run.failures[before:]]
        (run.work / "old").unlink(missing_ok=True)
    run.tally[f"{job.kind} from {least} MiB on"] += 1
    if least is None or least > enough:
        run.fail(f"it was done with {least} MiB at the least, and {enough} are enough")
    run.no_traces()


def run_space(run: Run) -> None:
    limits = [*range(60, 601, 10)] if run.setup.full else [60, 120, 160, 200, 240, 400]
    sweep(run, limits, ENOUGH_SPACE, lambda job, limit: run.attempt(job, limits=[(resource.RLIMIT_AS, limit * MIB)]))


def prepare_resident(setup: Setup, folder: Path) -> None:
    setup.shared["cgroups"] = find_cgroups()
    prepare(setup, folder)


def run_resident(run: Run) -> None:
    limits = [12, 20, *range(30, 201, 10), *range(250, 1001, 50)] if run.setup.full else [12, 20, 40, 80, 160]

    def attempt(job: Job, limit: int):
        with limited_group(run, limit * MIB) as cgroup:
            return run.attempt(job, cgroup=cgroup)

    sweep(run, limits, ENOUGH_RESIDENT, attempt)


SCENARIOS = [Scenario("space", run_space, prepare), Scenario("resident", run_resident, prepare_resident, at_once=2)]
