"""Runs a folder of cases, each with `cmd`, its inputs, and `expected` or `error`, with the oracle as the command."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def is_of_the_oracle(name: str) -> bool:
    """Tell whether a case is about commands and options that the oracle has."""
    return not (name.startswith("count") or name in ("columns", "python", "top-per", "order-of-a-list"))


def link_oracle(folder: Path) -> None:
    """Write a command `gpusort` that is the oracle."""
    program = folder / "gpusort"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} {HERE / 'oracle.py'} \"$@\"\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def run_case(case: Path, programs: Path) -> str:
    """Run one case in a copy of its folder; give what is wrong, or nothing."""
    with tempfile.TemporaryDirectory() as work:
        shutil.copytree(case, work, dirs_exist_ok=True)
        environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", LC_ALL="C", PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run(["bash", "./cmd"], cwd=work, env=environment, capture_output=True, timeout=30)
    wrong = []
    if (case / "expected").exists():
        if done.returncode != 0:
            wrong.append(f"exit code {done.returncode}: {done.stderr[-300:]!r}")
        if done.stdout != (case / "expected").read_bytes():
            wrong.append(f"other output: {done.stdout[:160]!r}")
    if (case / "error").exists():
        if done.returncode != 2:
            wrong.append(f"exit code {done.returncode}")
        if done.stdout:
            wrong.append("output beside an error")
        words = (case / "error").read_text().split()
        wrong += [f"no {word!r} in {done.stderr[:200]!r}" for word in words if word.encode() not in done.stderr]
    return "; ".join(wrong)


def run_folder(folder: Path) -> int:
    """Run all cases of a folder with the oracle; give the exit code."""
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as programs:
        link_oracle(Path(programs))
        for case in sorted(folder.iterdir()):
            if not (case / "cmd").is_file() or not is_of_the_oracle(case.name):
                continue
            wrong = run_case(case, Path(programs))
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"{case.name}: {wrong}")
    print(f"{passed} cases pass under the oracle, {failed} fail")
    return 1 if failed else 0
