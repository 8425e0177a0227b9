"""Signals at random moments: what is interrupted leaves the old file whole and nothing else behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from signal import SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGXCPU

import data
from harness import Job, Run, Scenario, Setup, is_handled, snapshot, stderr_problems

# 300 runs each of the first four, 50 each of the others.
PATTERN = [SIGINT, SIGTERM, SIGHUP, SIGQUIT] * 6 + [SIGALRM, SIGXCPU, SIGUSR1]

MODES = [
    "text to a new file",
    "text over an old file",
    "text through a link",
    "text to stdout",
    "u32",
    "table",
    "argsort",
    "text in parts",
    "table in parts",
    "u32 in parts",
    "each into a folder",
    "each in place",
    "merge",
    "merge to .npy",
    "gen text",
    "gen u32",
    "bench",
]

# How many times its usual length after its start a run may get its signal: others run beside it, which makes it longer.
LATEST = 2.2


def prepare(setup: Setup, folder: Path) -> None:
    jobs = data.jobs(setup, 400_000)
    setup.shared["jobs"] = [jobs[name] for name in MODES]
    setup.shared["names"] = MODES
    setup.shared["seconds"] = [usual_seconds(setup, job) for job in setup.shared["jobs"]]
    setup.shared["handled"] = handled(setup)


def usual_seconds(setup: Setup, job: Job) -> float:
    """The middle of three."""
    seconds = []
    for _ in range(3):
        run = Run(setup, "usual", 0)
        seconds.append(run.attempt(job).seconds)
    return sorted(seconds)[1]


def handled(setup: Setup) -> set[int]:
    """The signals that a sort under way does not leave to the system."""
    run = Run(setup, "handled", 0)
    process = run.start("sort", stdin=subprocess.PIPE)
    end = time.monotonic() + 5
    while time.monotonic() < end and not is_handled(process.pid, SIGINT):
        time.sleep(0.01)
    # Not what is blocked for a moment, as while a thread is made.
    found = set(PATTERN)
    for _ in range(20):
        time.sleep(0.01)
        found = {which for which in found if is_handled(process.pid, which)}
    run.end(process, b"1\n", 0)
    return found


def run_signal(run: Run) -> None:
    which = PATTERN[run.index % len(PATTERN)]
    mode = run.index % len(MODES)
    job = run.shared["jobs"][mode]
    delay = run.rng.uniform(0, LATEST) * run.shared["seconds"][mode]
    was_ready = False

    def send(process: subprocess.Popen) -> None:
        nonlocal was_ready
        time.sleep(delay)
        was_ready = is_handled(process.pid, which)
        if was_ready:
            time.sleep(0.001)
            was_ready = is_handled(process.pid, which)
        process.send_signal(which)
        run.last_command += f"  ({which.name} after {delay * 1000:.1f} ms: {run.shared['names'][mode]})"

    codes = [130]
    # Before there is a handler nobody can do anything about it, as nothing has begun.
    if which in run.shared["handled"]:
        codes.append(-which)
    outcome = run.attempt(job, codes, during=send)
    if outcome.code == -which and was_ready:
        run.fail(f"killed by {which.name}, which it had a handler for")
    if outcome.code == -which and which in run.shared["handled"]:
        run.tally["before its handler"] += 1
    run.no_traces()


def remove_named(run: Run) -> None:
    """A kill between the naming and the renaming of an output leaves the file with its temporary name."""
    for path in run.work.rglob(".gpusort-*.tmp"):
        path.unlink()


def run_kill(run: Run) -> None:
    """After a kill every file is old or complete, and that is all."""
    mode = run.index % len(MODES)
    job = run.shared["jobs"][mode]
    delay = run.rng.uniform(0, LATEST) * run.shared["seconds"][mode]
    run.lay_out(job)
    before = snapshot(run.work)
    process = run.start(*job.args)
    run.last_command += f"  (SIGKILL after {delay * 1000:.1f} ms: {run.shared['names'][mode]})"
    time.sleep(delay)
    process.kill()
    outcome = run.end(process, None, time.monotonic())
    run.tally[f"exit {outcome.code}"] += 1
    if outcome.code not in (0, -signal.SIGKILL):
        run.fail(f"exit {outcome.code} after a kill")
    remove_named(run)
    run.unchanged(before, job.new)
    if outcome.code == 0:
        run.complete(before, job.new)
    run.no_traces()


# --- together ---------------------------------------------------------------------------------------------------


def prepare_together(setup: Setup, folder: Path) -> None:
    setup.shared["job"] = data.jobs(setup, 10_000)["text to stdout"]


def run_together(run: Run) -> None:
    """Several at once in one folder, two of them to the same file, and now and then one is killed."""
    job = run.shared["job"]
    names = ["a", "b", "c", "d", "same", "same"]
    killed = run.rng.randrange(4) if run.index % 2 else None
    processes = []
    for number, name in enumerate(names):
        processes.append(run.start(*job.args, "-q", "-o", name))
        if number == killed:
            time.sleep(run.rng.uniform(0, 0.006))
            processes[number].kill()
    for number, (process, name) in enumerate(zip(processes, names, strict=True)):
        outcome = run.end(process, None, time.monotonic())
        run.last_command = f"gpusort {' '.join(job.args)} -o {name}, with five others in its folder"
        run.check_outcome(outcome, [0, -signal.SIGKILL] if number == killed else [0])
    run.gpusort(*job.args, "-q", "-o", "last", codes=[0])
    new = {name: job.out for name in {*names, "last"}}
    if killed is not None:
        remove_named(run)
        run.unchanged({}, new)
    else:
        run.complete({}, new)
    run.no_traces()


# --- tune ----------------------------------------------------------------------------------------------------

TUNE = ["tune", "--device", "cpu", "--largest", "1M"]
COSTS = "gpusort/costs.json"


def is_costs(got: bytes) -> str | None:
    if not (got.startswith(b"{") and got.rstrip().endswith(b"}")):
        return f"not whole: {got[:50]!r} ... {got[-50:]!r}"
    return None


def prepare_tune(setup: Setup, folder: Path) -> None:
    run = Run(setup, "usual", 0)
    setup.shared["seconds"] = run.gpusort(*TUNE, codes=[0]).seconds
    setup.shared["handled"] = handled(setup)


def run_tune(run: Run) -> None:
    """Every third time there is nowhere to keep what is measured; else it gets a signal."""
    if run.index % 3 == 2:
        return run_tune_unwritable(run)
    which = [SIGINT, SIGTERM][run.rng.randrange(2)]
    to_all, is_old = run.rng.random() < 0.3, run.rng.random() < 0.5
    delay = run.rng.uniform(0, 1.2) * run.shared["seconds"]
    costs = run.config / COSTS
    if is_old:
        costs.parent.mkdir()
        # What is there already must be whole too, or it is an error of its own.
        run.gpusort(*TUNE[:-1], "1K", codes=[0])
    old = costs.read_bytes() if is_old else None

    def send(process: subprocess.Popen) -> None:
        time.sleep(delay)
        if to_all:
            os.killpg(process.pid, which)
        else:
            process.send_signal(which)
        run.last_command += f"  ({which.name} {'to the group ' if to_all else ''}after {delay * 1000:.1f} ms)"

    # To files, since pipes would be waited for until the last process has closed them.
    with open(run.folder / "stdout", "wb") as out, open(run.folder / "stderr", "wb") as err:
        how = {"stdout": out, "stderr": err, "stderr_open": False}
        outcome = run.gpusort(*TUNE, codes=[0, 130, -which], during=send, **how)
    for problem in stderr_problems(outcome.code, (run.folder / "stderr").read_bytes()):
        run.fail(problem)
    for name in snapshot(run.scratch):
        run.strays += 1
        run.fail(f"a stray in TMPDIR: {name}")
    now = costs.read_bytes() if costs.exists() else None
    if outcome.code == 0:
        if now is None or is_costs(now):
            run.fail(f"{COSTS} is not whole after exit 0")
    elif now != old:
        run.fail(f"{COSTS} has changed, though the run was interrupted")
    else:
        run.old_whole += is_old
    for name in snapshot(run.config).keys() - {"gpusort", COSTS}:
        run.strays += 1
        run.fail(f"a stray in the folder for settings: {name}")


def run_tune_unwritable(run: Run) -> None:
    """Refused before anything is measured, which would leave its mark on the time of TMPDIR."""
    kinds = ["a file in its place", "a file in the place of gpusort/", "a folder in the place of costs.json"]
    kinds += ["a read-only folder"]
    kind = kinds[run.index // 3 % len(kinds)]
    how = {}
    if kind == kinds[0]:
        run.config.rmdir()
        run.config.write_bytes(b"")
    elif kind == kinds[1]:
        (run.config / "gpusort").write_bytes(b"")
    elif kind == kinds[2]:
        (run.config / COSTS).mkdir(parents=True)
    else:
        if os.geteuid() == 0:
            how["user"] = 65534
            run.give_to(65534)
        run.config.chmod(0o555)
    before = run.scratch.stat().st_mtime_ns
    run.gpusort(*TUNE, codes=[2], **how)
    run.last_command += f"  (XDG_CONFIG_HOME: {kind})"
    if run.scratch.stat().st_mtime_ns != before:
        run.fail("it has measured before it found that it cannot keep the result")


SCENARIOS = [
    Scenario("signals", run_signal, prepare, full=1350),
    Scenario("kill", run_kill, prepare, full=200),
    Scenario("together", run_together, prepare_together, full=200),
    Scenario("tune", run_tune, prepare_tune, full=42),
]
