"""Runs in temporary files: full and lost folders, damaged runs, inputs that shrink, readers that go, few open files."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import data
from harness import NotPossible, Run, Scenario, Setup, compare, is_root, mount_tmpfs, remount_read_only, snapshot, unmount

IN_PARTS = ["text in parts", "text in parts from a pipe", "decimals in parts", "table in parts", "u32 in parts"]


# Lines of this width make an input whose first three quarters are longer than the bytes that decisions look at.
WIDE = 1200


def prepare(setup: Setup, folder: Path) -> None:
    setup.shared["jobs"] = data.jobs(setup, 10_000)
    setup.shared["wide jobs"] = data.jobs(setup, 10_000, WIDE)
    several = 10 if setup.full else 2
    cases = []
    for name in IN_PARTS:
        cases += [(run_folder, name, state) for state in ("full", "in memory", "read-only", "not there", "a file")]
        cases += [(run_damage, name, what) for what in ("bit", "end") for _ in range(several)]
        cases += [(run_folder_lost, name), (run_few_files, name), (run_shrinking, name), (run_no_reader, name)]
    setup.shared["cases"] = cases


def run_case(run: Run) -> None:
    function, name, *rest = run.shared["cases"][run.index]
    jobs = "wide jobs" if function in (run_damage, run_folder_lost) else "jobs"
    function(run, run.shared[jobs][name], *rest)
    run.no_traces()


def run_folder(run: Run, job, state: str) -> None:
    """A folder for temporary files in which there is no room, or which is none: refused, and nothing has changed."""
    run.lay_out(job)
    before = snapshot(run.work)
    feed = Path(job.stdin).read_bytes() if job.stdin else None
    place = run.folder / "elsewhere"
    is_mounted = state in ("full", "in memory", "read-only")
    if state == "a file":
        place.write_bytes(b"")
    elif is_mounted:
        if not is_root():
            raise NotPossible("not root, so no file system of its own")
        place.mkdir()
        # More than the half of the memory that files there may take, or one page, which is taken.
        mount_tmpfs(place, 1 << 20 if state == "in memory" else 4096)
        if state == "full":
            (place / "filler").write_bytes(bytes(4096))
    try:
        if state == "read-only":
            remount_read_only(place)
        outcome = run.gpusort(*job.args, "-T", str(place), codes=[2], feed=feed)
        if b"a temporary file in" not in outcome.err:
            run.fail(f"no temporary file in {outcome.err[:300]!r}")
        said = {"full": b"o space left", "in memory": b"the folder is in memory"}.get(state, b"")
        if said not in outcome.err:
            run.fail(f"no {said!r} in {outcome.err[:300]!r}")
        run.unchanged(before)
    finally:
        if is_mounted:
            unmount(place)


def source(job) -> Path:
    """What such a job reads."""
    return Path(job.stdin or next(arg for arg in job.args if Path(arg).is_absolute()))


def through_a_pipe(job) -> list[str]:
    """The arguments of a job that reads standard input in place of its file."""
    args = [arg for arg in job.args if not Path(arg).is_absolute()]
    if any(arg.endswith(".csv") for arg in job.args):
        args += ["-f", "csv"]
    return args + (["-f", "bin", "-t", "u32"] if any(arg.endswith(".u32") for arg in job.args) else [])


def begin(run: Run, job) -> tuple[subprocess.Popen, bytes, Path]:
    """Starts a job and feeds it until there is a run; also what is left to be fed, and the file of the run."""
    run.lay_out(job)
    process = run.start(*through_a_pipe(job), stdin=subprocess.PIPE)
    everything = source(job).read_bytes()
    half = len(everything) * 3 // 4
    process.stdin.write(everything[:half])
    process.stdin.flush()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for link in Path(f"/proc/{process.pid}/fd").iterdir():
            try:
                target = os.readlink(link)
                if target.startswith(str(run.scratch)) and "(deleted)" in target and os.stat(link).st_size > 0:
                    return process, everything[half:], link
            except OSError:
                continue
        time.sleep(0.005)
    process.kill()
    raise NotPossible("no run was found in /proc")


def finish(run: Run, job, process: subprocess.Popen, rest: bytes, codes: list[int]):
    before = snapshot(run.work)
    outcome = run.end(process, rest, time.monotonic())
    run.check_outcome(outcome, codes)
    if outcome.code == 0:
        run.complete(before, job.new)
        if job.out is not None and (problem := compare(outcome.out, job.out)):
            run.fail(f"stdout: {problem}")
    else:
        run.unchanged(before)
    return outcome


def run_damage(run: Run, job, what: str) -> None:
    """A run that the disk gives back other than it was written is told, and nothing is made of it."""
    process, rest, link = begin(run, job)
    size = os.stat(link).st_size
    place = run.rng.randrange(size)
    with open(link, "r+b") as file:
        if what == "end":
            os.ftruncate(file.fileno(), place)
        else:
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 1 << run.rng.randrange(8)]))
    run.last_command += f"  (its run damaged at byte {place} of {size}: {what})"
    outcome = finish(run, job, process, rest, [2])
    if b"a temporary file in" not in outcome.err:
        run.fail(f"no temporary file in {outcome.err[:300]!r}")


def run_folder_lost(run: Run, job) -> None:
    """The file is open, so its folder may go."""
    process, rest, _ = begin(run, job)
    run.scratch.rmdir()
    finish(run, job, process, rest, [0])
    run.scratch.mkdir()


def run_few_files(run: Run, job) -> None:
    """A hundred runs with sixteen open files."""
    lesser = replace(job, args=[*job.args, "--memory", "2K"])
    run.attempt(lesser, codes=[], limits=[(resource.RLIMIT_NOFILE, 16)])


def run_shrinking(run: Run, job) -> None:
    """An input that is cut while it is read is refused, or was read before: no part of it is lost in silence."""
    if job.stdin:
        raise NotPossible("a pipe does not shrink")
    run.lay_out(job)
    before = snapshot(run.work)
    path = source(job)
    mine = run.folder / path.name
    mine.write_bytes(path.read_bytes())
    args = [str(mine) if arg == str(path) else arg for arg in job.args]
    process = run.start(*args)
    time.sleep(run.rng.uniform(0, 0.02))
    os.truncate(mine, mine.stat().st_size // 2)
    outcome = run.end(process, None, time.monotonic())
    run.check_outcome(outcome, [0, 2])
    if outcome.code == 0:
        # Cut before it was opened, or after it was read.
        made = {name: (run.work / name).read_bytes() for name in job.new}
        if any(compare(content, job.new[name]) for name, content in made.items()):
            run.gpusort(*args, codes=[0])
            if any((run.work / name).read_bytes() != content for name, content in made.items()):
                run.fail("neither the whole input nor the half of it")
    else:
        run.unchanged(before)


def run_no_reader(run: Run, job) -> None:
    """A reader that goes in the middle of the merge ends it without a word."""
    args = [arg for arg in job.args if arg != "-o" and not (arg.startswith("old.") or arg.startswith("new."))]
    process = run.start(*args, stdin=subprocess.PIPE if job.stdin else subprocess.DEVNULL)
    if job.stdin:
        process.stdin.write(Path(job.stdin).read_bytes())
        process.stdin.close()
        process.stdin = None
    process.stdout.read(100)
    process.stdout.close()
    process.stdout = None
    outcome = run.end(process, None, time.monotonic())
    run.check_outcome(outcome, [0])


SCENARIOS = [Scenario("spill", run_case, prepare)]
