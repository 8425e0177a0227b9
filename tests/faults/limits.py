"""Little memory, few threads, few open files, small files: done all the same or refused with a message, never a crash."""

from __future__ import annotations

import hashlib
import math
import os
import random
import resource
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import data
from harness import Job, NotPossible, Run, Scenario, Setup, is_root, snapshot

MIB = 1 << 20

# --- memory: the address space ---------------------------------------------------------------------------------

MOST = 4096 * MIB


def prepare_memory(setup: Setup, folder: Path) -> None:
    counts = [100, 10_000, 400_000] + [1_500_000] * setup.full
    setup.shared["jobs"] = [list(data.jobs(setup, count).values()) for count in counts]
    setup.shared["least"] = {which: least_to_start(setup, which) for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA)}


def least_to_start(setup: Setup, which: int) -> int:
    """With less the dynamic loader does not even reach the program."""
    run = Run(setup, "start", 0)
    limit = 4 * MIB
    while limit < MOST:
        process = run.start("--version", limits=[(which, limit)])
        if run.end(process, None, 0).code in (0, 2):
            return max(limit, 16 * MIB)
        limit += limit // 8
    raise NotPossible("it starts with no limit of memory")


def run_memory(run: Run) -> None:
    which = resource.RLIMIT_DATA if run.index % 5 == 3 else resource.RLIMIT_AS
    jobs = run.rng.choice(run.shared["jobs"])
    # More of the runs where it matters most.
    most = [48 * MIB, 200 * MIB, MOST][run.index % 3]
    limit = int(math.exp(run.rng.uniform(math.log(run.shared["least"][which]), math.log(most))))
    run.attempt(run.rng.choice(jobs), limits=[(which, limit)])
    run.no_traces()


# --- cgroup: the resident memory -------------------------------------------------------------------------------


def prepare_cgroup(setup: Setup, folder: Path) -> None:
    """Files larger than the memory, made so that their order is known: sorting them here would take minutes."""
    setup.shared["cgroups"] = find_cgroups()
    share = 1 if setup.full else 3
    rng = random.Random(f"{setup.seed}/cgroup")
    words = 75_000_000 // share
    ordered = b"".join(array("I", range(begin, min(begin + MIB, words))).tobytes() for begin in range(0, words, MIB))
    setup.shared["u32"] = (folder / "big.u32", digest(ordered))
    offsets = list(range(61))
    rng.shuffle(offsets)
    every = memoryview(ordered).cast("I")
    with open(folder / "big.u32", "wb") as file:
        for offset in offsets:
            file.write(every[offset::61].tobytes())
    every.release()
    hashed = hashlib.blake2b()
    parts = []
    for begin in range(10_000_000, 10_000_000 + 22_000_000 // share, 100_000):
        part = [b"%d" % number for number in range(begin, begin + 100_000)]
        hashed.update(data.lines(part))
        parts.append(data.lines(part[::-1]))
    rng.shuffle(parts)
    (folder / "big.txt").write_bytes(b"".join(parts))
    setup.shared["txt"] = (folder / "big.txt", hashed.digest())


def digest(content: bytes) -> bytes:
    return hashlib.blake2b(content).digest()


def find_cgroups() -> tuple[Path, str]:
    """A folder in which cgroups of memory can be made, and the file in them that holds the limit."""
    if not is_root():
        raise NotPossible("not root")
    for folder, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        trial = Path(folder, f"gpusort-faults-{os.getpid()}")
        try:
            trial.mkdir()
        except OSError:
            continue
        try:
            (trial / limit).write_text(str(1024 * MIB))
            return Path(folder), limit
        except OSError:
            continue
        finally:
            trial.rmdir()
    raise NotPossible("no cgroup of memory can be made")


@contextmanager
def limited_group(run: Run, most: int) -> Iterator[Path]:
    """A cgroup with this much memory, and no swap space."""
    folder, limit = run.shared["cgroups"]
    cgroup = folder / f"gpusort-faults-{os.getpid()}-{run.index}"
    cgroup.mkdir()
    try:
        (cgroup / limit).write_text(str(most))
        if (cgroup / "memory.swap.max").exists():
            (cgroup / "memory.swap.max").write_text("0")
        yield cgroup
    finally:
        cgroup.rmdir()


def run_cgroup(run: Run) -> None:
    # A file of words, text from a pipe, a file of text, words from a pipe.
    kind, piped = [("u32", False), ("txt", True), ("txt", False), ("u32", True)][run.index % 4]
    path, right = run.shared[kind]
    most = int(math.exp(run.rng.uniform(math.log(64 * MIB), math.log(1024 * MIB))))
    most //= 1 if run.setup.full else 3

    def check(got: bytes) -> str | None:
        return None if digest(got) == right else f"wrong: {len(got)} bytes"

    name = f"old.{kind}"
    how = ["-f", "bin", "-t", "u32"] if kind == "u32" else []
    job = Job("sort", ["sort", *how, str(path), "-o", name], old={name: data.OLD}, new={name: check})
    if piped:
        job = Job("sort", ["sort", *how, "-o", name], job.old, new=job.new, stdin=str(path), piped=True)
    with limited_group(run, most) as cgroup:
        run.attempt(job, cgroup=cgroup, timeout=120)
        for failure in range(len(run.failures)):
            run.failures[failure] += f"  (with {most // MIB} MiB)"
    run.no_traces()


# --- threads ---------------------------------------------------------------------------------------------------


def prepare_threads(setup: Setup, folder: Path) -> None:
    if not is_root():
        raise NotPossible("not root, who alone can be a user that has no other processes")
    setup.shared["jobs"] = [list(data.jobs(setup, count).values()) for count in (3, 10_000, 400_000)]


def run_threads(run: Run) -> None:
    """Everything but the bench can do without any thread but the first."""
    job = run.rng.choice(run.rng.choice(run.shared["jobs"]))
    user = 40_000 + run.index
    run.give_to(user)
    env = {"GPUSORT_DEVICE": run.rng.choice(["auto", "cpu"])}
    # Half of the runs have but a few.
    limit = run.rng.randint(1, 4 if run.index % 2 else 40)
    codes = [2] if job.kind == "bench" else []
    run.attempt(job, codes, limits=[(resource.RLIMIT_NPROC, limit)], user=user, env=env)
    run.no_traces()


# --- files: how many are open, how large they may be -----------------------------------------------------------

MANY = 100
OPEN = [8, 12, 20, 33, 64]
LARGEST = 4096


def prepare_files(setup: Setup, folder: Path) -> None:
    rng = random.Random(f"{setup.seed}/files")
    tokens = data.integers(rng, 3000)
    values = memoryview(data.words(rng, "u32", 3000)).cast("I")
    names: dict[str, list[str]] = {"txt": [], "u32": [], "csv": []}
    for number in range(MANY):
        part, words = tokens[number::MANY], data.sorted_binary(values[number::MANY].tobytes(), "u32")
        table = data.lines([b"key", *sorted(part, key=int)])
        for kind, content in (("txt", data.sorted_text(part)), ("u32", words), ("csv", table)):
            (folder / f"{number}.{kind}").write_bytes(content)
            names[kind].append(str(folder / f"{number}.{kind}"))
    text = data.sorted_text(tokens)
    right = {"txt": text, "u32": data.sorted_binary(values.tobytes(), "u32"), "csv": b"key\n" + text}
    jobs = []
    for kind, content in right.items():
        key = ["-k", "key"] if kind == "csv" else []
        for how in ("-m", "-q"):
            old, new = {f"old.{kind}": data.OLD}, {f"old.{kind}": content}
            args = ["sort", how, *key, *names[kind]]
            jobs.append(Job("sort", [*args, "-o", f"old.{kind}"], old=old, new=new))
            jobs.append(Job("sort", args, out=content))
    unsorted = {f"{number}.txt": data.lines(tokens[number::MANY]) for number in range(MANY)}
    in_order = {f"{number}.txt": data.sorted_text(tokens[number::MANY]) for number in range(MANY)}
    jobs.append(Job("sort", ["sort", "--each", "--in-place", *unsorted], old=unsorted, new=in_order))
    cases = [(job, [(resource.RLIMIT_NOFILE, limit)], []) for job in jobs for limit in OPEN]

    limits = [(resource.RLIMIT_FSIZE, LARGEST)]
    for job in data.jobs(setup, 10_000).values():
        sizes = [len(content) for content in job.new.values() if not callable(content)]
        if any(size > LARGEST for size in sizes) or "old.npy" in job.new:
            cases.append((job, limits, [2]))
    # Much in, little out.
    small = [
        (["-f", "text", "small.txt"], {"small.txt": b" " * 10_000 + b"3\n1\n2\n"}, b"1\n2\n3\n"),
        (["-u", "small.txt"], {"small.txt": b"7\n" * 50_000}, b"7\n"),
        (["--top", "2", "small.txt"], {"small.txt": data.lines(tokens)}, data.lines(text.split(b"\n")[:2])),
        (["-f", "text", "small.txt"], {"small.txt": b"3" + b" \n\n\r\n" * 10_000 + b"1\n"}, b"1\n3\n"),
        (["-k", "1", "--invalid", "skip", "small.csv"], {"small.csv": b"a\n" + b"x\n" * 9000 + b"2\n1\n"}, b"a\n1\n2\n"),
    ]
    for args, old, content in small:
        old["old.out"] = data.OLD
        to = ["--to", "csv"] if "small.csv" in old else ["--to", "text"]
        cases.append((Job("sort", ["sort", *args, *to, "-o", "old.out"], old=old, new={"old.out": content}), limits, []))
    setup.shared["cases"] = [*cases, (None, limits, [2])]


def run_files(run: Run) -> None:
    """A case of the list. What must fail does so with the system's words, and the old file is whole."""
    job, limits, codes = run.shared["cases"][run.index]
    if job is None:
        return run_stdout_too_large(run)
    if not codes:
        run.attempt(job, [], limits=limits)
        return
    run.lay_out(job)
    before = snapshot(run.work)
    feed = Path(job.stdin).read_bytes() if job.stdin else None
    outcome = run.gpusort(*job.args, codes=codes, limits=limits, feed=feed)
    if b"File too large" not in outcome.err and b"file too large" not in outcome.err:
        run.fail(f"no 'File too large' in {outcome.err[:300]!r}")
    run.unchanged(before, job.new if job.partial else {})


def run_stdout_too_large(run: Run) -> None:
    source = data.jobs(run.setup, 10_000)["text to stdout"].args[1]
    with open(run.work / "stdout.txt", "wb") as file:
        outcome = run.gpusort(
            "sort", source, codes=[2], limits=[(resource.RLIMIT_FSIZE, LARGEST)], stdout=file
        )
    if b"ile too large" not in outcome.err:
        run.fail(f"no 'File too large' in {outcome.err[:300]!r}")


SCENARIOS = [
    Scenario("memory", run_memory, prepare_memory, full=200),
    Scenario("cgroup", run_cgroup, prepare_cgroup, full=20, at_once=2),
    Scenario("threads", run_threads, prepare_threads, full=200),
    Scenario("files", run_files, prepare_files),
]
