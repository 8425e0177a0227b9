#!/usr/bin/env python3
"""Faults on purpose: signals, kills, full disks, little memory, few threads, odd files, mutated input.

    python3 tests/faults/run.py PATH/TO/gpusort [--full | --tenth] [--only NAME...] [--seed N] [--case K] [--keep]
    python3 tests/faults/run.py --self-test

Exit code 1 if anything failed. Some scenarios need root; where something is not possible, the table says why.
A failure is told with the command that makes the same run again: `--case K` makes only that run, and `--keep` keeps its
folder. What is random comes from the seed, the scenario and the number of the run; when a signal arrives is up to the
machine, so such a run may have to be made several times.

signals.py  signals, kill, together, tune     random moments; several runs in one folder
sweeps.py   space, resident                   limits of memory, from little to plenty
limits.py   memory, cgroup, threads, files    limits of the system
outputs.py  disk, descriptors, foreign        where the output goes, and who looks on
spill.py    spill                             temporary files
pipes.py    pipes                             slow and vanishing ends, FIFOs, long rows
mutated.py  mutated                           inputs that were tampered with
selftest.py                                   faults that are planted, to see that the checks see them
"""

from __future__ import annotations

import sys

sys.dont_write_bytecode = True

import argparse
import multiprocessing
import os
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

import limits
import mutated
import outputs
import pipes
import signals
import spill
import sweeps
from harness import TIMEOUT, UMASK, NotPossible, Report, Scenario, Setup, one, remove

SCENARIOS: list[Scenario] = [
    scenario for module in (signals, sweeps, limits, outputs, spill, pipes, mutated) for scenario in module.SCENARIOS
]
# Failures of each scenario; characters of one.
SHOWN = 3
LONGEST = 1500


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", nargs="?", help="the gpusort to test")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--full", action="store_true", help="all runs")
    size.add_argument("--tenth", action="store_true", help="a tenth of them, which is the default")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[scenario.name for scenario in SCENARIOS])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="only this run of each scenario")
    parser.add_argument("--shown", type=int, default=SHOWN, help="how many failures of each scenario to show")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds after which a run hangs")
    parser.add_argument("--keep", action="store_true", help="keep the folders of runs that failed")
    parser.add_argument("--self-test", action="store_true", help="plant faults, and see each caught")
    return parser.parse_args()


# Forked into the workers with it.
CURRENT: tuple[Setup, Scenario] | None = None


def worker(index: int) -> Report:
    assert CURRENT
    return one(*CURRENT, index)


def run_scenario(setup: Setup, scenario: Scenario, case: int | None) -> tuple[list[Report], str | None, float]:
    """All its reports, or why it is not possible, and its seconds."""
    global CURRENT
    begin = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"{scenario.name}-", dir=setup.root))
    folder.chmod(0o755)
    setup.shared = {}
    CURRENT = (setup, scenario)
    reports, why = [], None
    try:
        if scenario.prepare:
            scenario.prepare(setup, folder)
        indices = list(range(scenario.count(setup))) if case is None else [case]
        workers = min(setup.workers, scenario.at_once, len(indices))
        with multiprocessing.get_context("fork").Pool(workers) as pool:
            reports = list(pool.imap_unordered(worker, indices, chunksize=16 if len(indices) > 1000 else 1))
    except NotPossible as reason:
        why = str(reason)
    finally:
        if setup.shared.get("clean_up"):
            setup.shared["clean_up"]()
        if not setup.keep:
            remove(folder)
    return sorted(reports, key=lambda report: report.index), why, time.monotonic() - begin


def clean(text: str) -> str:
    """Without what a terminal would take for commands, and not endless."""
    text = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"


def row(name: str, *cells: str) -> str:
    widths = (7, 8, 8, 16, 8, 9)
    return f"{name:<12}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))


def summary(name: str, reports: list[Report], why: str | None, seconds: float) -> list[str]:
    if why is not None:
        return [f"{name:<12}  not possible here: {why}"]
    made = [report for report in reports if report.not_possible is None]
    failed = sum(bool(report.failures) for report in made)
    whole, broken = (sum(getattr(report, of) for report in made) for of in ("old_whole", "old_broken"))
    strays = sum(report.strays for report in made)
    cells = (len(made), len(made) - failed, failed, f"{whole} of {whole + broken}", strays, f"{seconds:.1f}")
    told = [row(name, *map(str, cells))]
    others = Counter(report.not_possible for report in reports if report.not_possible is not None)
    return told + [f"{'':<12}  {count} not possible here: {reason}" for reason, count in others.items()]


def main() -> int:
    options = arguments()
    os.umask(UMASK)
    if options.self_test:
        import selftest

        return selftest.main()
    if not options.binary:
        sys.exit("which gpusort? python3 tests/faults/run.py target/release/gpusort")
    # Where that is no folder in memory: temporary files count there.
    root = Path(tempfile.mkdtemp(prefix="gpusort-faults-", dir="/var/tmp" if os.path.isdir("/var/tmp") else None))
    # Other users run it too.
    root.chmod(0o755)
    binary = root / "gpusort"
    shutil.copy(options.binary, binary)
    binary.chmod(0o755)
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    setup = Setup(binary, root, options.seed, options.full, options.keep, workers, options.timeout)
    table, failures = [], []
    begin = time.monotonic()
    try:
        for scenario in SCENARIOS:
            if options.only and scenario.name not in options.only:
                continue
            reports, why, seconds = run_scenario(setup, scenario, options.case)
            table += summary(scenario.name, reports, why, seconds)
            failures.append([report for report in reports if report.failures])
            print(table[-1] if why else table[-1 - (table[-1].startswith(" "))], file=sys.stderr, flush=True)
            tally = sum((report.tally for report in reports), Counter())
            print("   ", ", ".join(f"{count} {what}" for what, count in tally.most_common()), file=sys.stderr)
    finally:
        if not options.keep:
            remove(root)
    size = " --full" if options.full else ""
    print(row("scenario", "runs", "passed", "failed", "old files whole", "strays", "seconds"))
    print("\n".join(table))
    print(f"{'':<12}{time.monotonic() - begin:>56.1f}")
    for reports in failures:
        for report in reports[: options.shown]:
            again = f"--only {report.scenario} --seed {options.seed} --case {report.index}{size}"
            print(f"\n{report.scenario} {report.index}: run.py {options.binary} {again} --keep")
            for failure in report.failures[:4]:
                print("  " + clean(failure))
            if len(report.failures) > 4:
                print(f"  and {len(report.failures) - 4} more")
            for command in report.commands[:2]:
                print("    " + clean(command))
            if options.keep:
                print(f"  its folder: {report.folder}")
        if len(reports) > options.shown:
            print(f"\n{reports[0].scenario}: {len(reports) - options.shown} more failed (--shown N shows more)")
    return int(any(failures))


if __name__ == "__main__":
    sys.exit(main())
