"""What every scenario stands on: one run of the command in folders of its own, and the checks common to all runs."""

from __future__ import annotations

import ctypes
import hashlib
import os
import random
import re
import resource
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

TIMEOUT = 120.0
UMASK = 0o022

# What is expected of a file: its bytes, or a function that says what is wrong with them.
Expected = bytes | Callable[[bytes], "str | None"]


class NotPossible(Exception):
    """The machine, or who runs this, does not allow it; never counted as passed."""


@dataclass
class Setup:
    """What all runs of one call of the harness share. Forked into every worker."""

    binary: Path
    root: Path
    seed: int
    full: bool
    keep: bool = False
    workers: int = 1
    timeout: float = TIMEOUT
    # What the scenario has prepared.
    shared: dict = field(default_factory=dict)


@dataclass
class Scenario:
    """A group of runs: `run` makes one, `prepare` fills `setup.shared` before the first in `folder`."""

    name: str
    run: Callable[[Run], None]
    prepare: Callable[[Setup, Path], None] | None = None
    # How many runs in full; else `prepare` makes a list of cases, which is short and always run whole.
    full: int = 0
    # At most so many at once, where a run needs much of the machine.
    at_once: int = 64

    def count(self, setup: Setup) -> int:
        if "cases" in setup.shared:
            return len(setup.shared["cases"])
        return self.full if setup.full else max(1, self.full // 10)


@dataclass
class Outcome:
    """How one call of the command ended."""

    code: int
    out: bytes
    err: bytes
    seconds: float
    hung: bool


@dataclass
class Job:
    """A call of the command whose right result is known."""

    kind: str
    args: list[str]
    # Files that are there before, links, and what is new or different after success; all relative.
    old: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    new: dict[str, Expected] = field(default_factory=dict)
    out: Expected | None = None
    # Standard input: this file, or its content through a pipe.
    stdin: str | None = None
    piped: bool = False
    # What it ends with when nothing is in its way.
    code: int = 0
    # An interrupted call may have replaced some of its files.
    partial: bool = False


@dataclass
class Report:
    """What one run tells the main process."""

    scenario: str
    index: int
    failures: list[str]
    commands: list[str]
    not_possible: str | None
    old_whole: int
    old_broken: int
    strays: int
    tally: Counter
    folder: str


def is_root() -> bool:
    return os.geteuid() == 0


# --- One run -------------------------------------------------------------------------------------------------


class Run:
    """One case of a scenario: its random numbers, its folders, its failures."""

    def __init__(self, setup: Setup, scenario: str, index: int):
        self.setup, self.scenario, self.index = setup, scenario, index
        self.shared = setup.shared
        self.rng = random.Random(f"{setup.seed}/{scenario}/{index}")
        self.folder = Path(tempfile.mkdtemp(prefix=f"{scenario}-{index}-", dir=setup.root))
        self.work, self.scratch, self.config = (self.folder / name for name in ("work", "tmp", "config"))
        for folder in (self.folder, self.work, self.scratch, self.config):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)
        self.failures: list[str] = []
        # Those that failed, as they could be typed.
        self.commands: list[str] = []
        self.tally: Counter = Counter()
        self.old_whole = self.old_broken = self.strays = 0
        self.last_command = ""

    def fail(self, problem: str) -> None:
        self.failures.append(problem)
        if self.last_command and self.last_command not in self.commands:
            self.commands.append(self.last_command)

    def give_to(self, user: int, group: int | None = None) -> None:
        """The folders of this run, to another user."""
        for folder in (self.work, self.scratch, self.config):
            os.chown(folder, user, user if group is None else group)

    def environment(self, extra: dict[str, str] | None = None) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.folder),
            "TMPDIR": str(self.scratch),
            "XDG_CONFIG_HOME": str(self.config),
            "GPUSORT_DEVICE": "cpu",
            **(extra or {}),
        }

    def start(
        self,
        *args: str,
        limits: Iterable[tuple[int, int]] = (),
        user: int | None = None,
        group: int | None = None,
        groups: Iterable[int] = (),
        umask: int = UMASK,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        cgroup: Path | None = None,
        redirect: str = "",
        first: str = "",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) -> subprocess.Popen:
        """Starts the command as leader of a process group. `redirect` is what a shell is told, like `<&- >> a`, and
        `first` what the shell does before it."""
        command = [str(self.setup.binary), *args]
        if redirect or first:
            command = ["/bin/sh", "-c", f'{first}exec "$0" "$@" {redirect}', *command]
        limits, groups = list(limits), list(groups)

        special = umask != UMASK or cgroup is not None or user is not None or limits

        def prepare() -> None:
            os.umask(umask)
            if cgroup is not None:
                (cgroup / "cgroup.procs").write_text(str(os.getpid()))
            if user is not None:
                for which, most in limits:
                    if which == resource.RLIMIT_NPROC:
                        resource.setrlimit(which, (most, most))
                os.setgroups(groups)
                os.setgid(user if group is None else group)
                os.setuid(user)
            for which, most in limits:
                resource.setrlimit(which, (most, most))

        files = [(sign, getattr(file, "name", None)) for sign, file in (("<", stdin), (">", stdout))]
        plumbing = [f"{sign} {shlex.quote(name)}" for sign, name in files if isinstance(name, str)]
        plumbing = " ".join([*plumbing, redirect])
        self.last_command = self.as_typed(args, limits, user, group, groups, umask, env, cwd, cgroup, plumbing, first)
        return subprocess.Popen(
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=self.environment(env),
            cwd=self.work if cwd is None else cwd,
            start_new_session=True,
            # Without one it starts several times as fast.
            preexec_fn=prepare if special else None,
        )

    def as_typed(self, args, limits, user, group, groups, umask, env, cwd, cgroup, redirect, first) -> str:
        """The same as a line for a shell."""
        names = {
            resource.RLIMIT_AS: "as",
            resource.RLIMIT_DATA: "data",
            resource.RLIMIT_NPROC: "nproc",
            resource.RLIMIT_NOFILE: "nofile",
            resource.RLIMIT_FSIZE: "fsize",
        }
        parts = [f"cd {shlex.quote(str(self.work if cwd is None else cwd))} && {first}"]
        if umask != UMASK:
            parts.append(f"umask {umask:03o};")
        if cgroup is not None:
            parts.append(f"(in the cgroup {cgroup})")
        parts.append("GPUSORT_DEVICE=" + (env or {}).get("GPUSORT_DEVICE", "cpu"))
        if user is not None:
            more = f"--groups {','.join(map(str, groups))}" if groups else "--clear-groups"
            parts.append(f"setpriv --reuid {user} --regid {user if group is None else group} {more}")
        if limits:
            parts.append("prlimit " + " ".join(f"--{names[which]}={most}" for which, most in limits))
        shown = shlex.join(["gpusort", *args])
        if len(args) > 20:
            shown = f"{shlex.join(['gpusort', *args[:8]])} ... {shlex.join(args[-4:])}"
        parts.append(shown + (f" {redirect}" if redirect else ""))
        return " ".join(parts)

    def gpusort(
        self,
        *args: str,
        codes: Iterable[int] = (0, 2),
        feed: bytes | None = None,
        during: Callable[[subprocess.Popen], None] | None = None,
        timeout: float | None = None,
        stderr_open: bool = True,
        **how,
    ) -> Outcome:
        """Runs the command to its end and checks what holds for every run."""
        if feed is not None:
            how["stdin"] = subprocess.PIPE
        begin = time.monotonic()
        process = self.start(*args, **how)
        if feed is not None:
            self.last_command += f"  (stdin: {feed[:60]!r}{'...' if len(feed) > 60 else ''} through a pipe)"
        if during is not None:
            during(process)
        outcome = self.end(process, feed, begin, timeout)
        self.check_outcome(outcome, codes, stderr_open)
        return outcome

    def end(self, process, feed: bytes | None, begin: float, timeout: float | None = None) -> Outcome:
        hung = False
        try:
            out, err = process.communicate(feed, timeout or self.setup.timeout)
        except subprocess.TimeoutExpired:
            hung = True
            kill_group(process.pid)
            out, err = process.communicate()
        seconds = time.monotonic() - begin
        left = group_members(process.pid)
        if left and not hung:
            self.fail(f"processes left behind: {left}")
        kill_group(process.pid)
        return Outcome(process.returncode, out or b"", err or b"", seconds, hung)

    def check_outcome(self, outcome: Outcome, codes: Iterable[int], stderr_open: bool = True) -> None:
        codes = tuple(codes)
        said = f"; stderr: {outcome.err[:300]!r}" if outcome.err else ""
        self.tally[f"exit {outcome.code}"] += 1
        if outcome.hung:
            self.fail(f"hung for {outcome.seconds:.0f} s{said}")
            return
        if outcome.code not in codes:
            self.fail(f"{how_it_ended(outcome.code)}, where {' or '.join(map(str, codes))} is right{said}")
        for problem in stderr_problems(outcome.code, outcome.err, stderr_open):
            self.fail(problem + said)

    # --- Jobs ---

    def lay_out(self, job: Job, user: int | None = None) -> None:
        """The files that are there before a job."""
        for name, content in job.old.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            if user is not None:
                os.chown(path, user, user)
                if path.parent != self.work:
                    os.chown(path.parent, user, user)
        for name, target in job.links.items():
            (self.work / name).symlink_to(target)

    def attempt(self, job: Job, codes: Iterable[int] = (2,), partial: bool = False, **how) -> Outcome:
        """Runs a job. Besides the code that it ends with when nothing is in its way, it may end with one of `codes`,
        and then nothing has changed, but for jobs that may be done in part."""
        self.lay_out(job, how.get("user"))
        before = snapshot(self.work)
        source = None
        if job.stdin and job.piped:
            how["feed"] = Path(job.stdin).read_bytes()
        elif job.stdin:
            source = how["stdin"] = open(job.stdin, "rb")
        try:
            outcome = self.gpusort(*job.args, codes={job.code, *codes}, **how)
        finally:
            if source:
                source.close()
        if outcome.code == job.code:
            self.complete(before, job.new)
            if job.out is not None and how.get("stdout", subprocess.PIPE) == subprocess.PIPE:
                if problem := compare(outcome.out, job.out):
                    self.fail(f"stdout: {problem}")
        else:
            self.unchanged(before, job.new if partial or job.partial else {})
        return outcome

    def complete(self, before: dict, new: dict[str, Expected]) -> None:
        """The folder is as it was, with what is new."""
        after = snapshot(self.work)
        for name, expected in new.items():
            path = self.work / name
            if not path.is_file():
                self.fail(f"{name}: is not there, though all went well")
            elif problem := compare(path.read_bytes(), expected):
                self.fail(f"{name}: {problem}")
        self.others(before, after, new)

    def unchanged(self, before: dict, maybe: dict[str, Expected] | None = None) -> None:
        """The folder is as it was; of `maybe`, each may be as it was or complete."""
        after = snapshot(self.work)
        for name, expected in (maybe or {}).items():
            path = self.work / name
            if name not in after:
                if name in before:
                    self.old_broken += 1
                    self.fail(f"{name}: the old file is gone")
            elif before.get(name) == after[name]:
                self.old_whole += 1
            elif problem := compare(path.read_bytes(), expected):
                self.old_broken += name in before
                self.fail(f"{name}: neither the old file nor the new one: {problem}")
        self.others(before, after, maybe or {})

    def others(self, before: dict, after: dict, new: Iterable[str]) -> None:
        """What is not among `new` is as it was, and nothing has come that was not meant to."""
        new = set(new)
        folders = {str(parent) for name in new for parent in Path(name).parents}
        for name, entry in before.items():
            if name in new:
                continue
            if name not in after:
                self.old_broken += 1
                self.fail(f"{name}: the old file is gone")
            elif after[name] != entry:
                self.old_broken += 1
                self.fail(f"{name}: the old file has changed: {entry.brief()} is now {after[name].brief()}")
            elif entry.kind == "file":
                self.old_whole += 1
        for name in after.keys() - before.keys() - new - folders:
            self.strays += 1
            self.fail(f"{name}: a stray, {after[name].brief()}")

    def no_traces(self) -> None:
        """Nothing is left in the folders for temporary files and settings."""
        for folder in (self.scratch, self.config):
            for name in snapshot(folder):
                self.strays += 1
                self.fail(f"{folder.name}/{name}: a stray")


def one(setup: Setup, scenario: Scenario, index: int) -> Report:
    """Makes one run and cleans up after it."""
    run = Run(setup, scenario.name, index)
    not_possible = None
    try:
        scenario.run(run)
    except NotPossible as why:
        not_possible = str(why)
    except Exception:
        run.fail(f"the harness itself failed: {traceback.format_exc()}")
    if not (setup.keep and run.failures):
        remove(run.folder)
    return Report(
        scenario.name,
        index,
        run.failures,
        run.commands,
        not_possible,
        run.old_whole,
        run.old_broken,
        run.strays,
        run.tally,
        str(run.folder),
    )


def remove(folder: Path) -> None:
    """A folder and all in it, also what was made unwritable."""
    for path, _, _ in os.walk(folder):
        if not os.access(path, os.W_OK):
            os.chmod(path, 0o755)
    shutil.rmtree(folder, ignore_errors=True)


# --- Checks --------------------------------------------------------------------------------------------------

BAD_WORDS = [b"panicked", b"RUST_BACKTRACE", b"aborted", b"overflow", b"memory allocation of", b"core dumped"]
# C0 but for tab and line feed, DEL, and C1 as UTF-8.
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
LONGEST_LINE = 2000


def stderr_problems(code: int, err: bytes, is_open: bool = True) -> list[str]:
    problems = []
    if code == 2 and is_open and not re.search(rb"^(gpusort: .|error: .)", err, re.MULTILINE):
        problems.append("exit 2 without a message on stderr")
    problems += [f"stderr has {word.decode()!r}" for word in BAD_WORDS if word in err]
    if found := CONTROL.search(err):
        problems.append(f"stderr has a control character: {found[0]!r}")
    if (longest := max(map(len, err.split(b"\n")))) > LONGEST_LINE:
        problems.append(f"stderr has a line of {longest} bytes")
    return problems


def how_it_ended(code: int) -> str:
    return f"exit {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"


def compare(got: bytes, expected: Expected) -> str | None:
    """What is wrong with these bytes, if anything."""
    if callable(expected):
        return expected(got)
    if got == expected:
        return None
    size = f"{len(got)} bytes, not {len(expected)}"
    if expected.startswith(got):
        return f"cut: {size}"
    got_lines, expected_lines = Counter(got.split(b"\n")), Counter(expected.split(b"\n"))
    lost = expected_lines - got_lines
    more = got_lines - expected_lines
    if not lost and not more:
        return "the right lines in a wrong order"

    def some(lines: Counter) -> str:
        return f"{lines.total()} such as {min(lines)[:60]!r}" if lines else "none"

    return f"wrong: {size}; lines lost: {some(lost)}; lines too many: {some(more)}"


@dataclass(frozen=True)
class Entry:
    """What a snapshot knows of a file."""

    kind: str
    mode: int
    owner: tuple[int, int]
    size: int
    content: bytes

    def brief(self) -> str:
        return f"{self.kind} {self.mode:o} of {self.owner[0]}:{self.owner[1]}, {self.size} bytes"


def snapshot(folder: Path) -> dict[str, Entry]:
    """All that is in a folder, by relative names."""
    found = {}
    for path, folders, files in os.walk(folder):
        for name in folders + files:
            whole = os.path.join(path, name)
            about = os.lstat(whole)
            mode = about.st_mode
            size, content = 0, b""
            if stat.S_ISLNK(mode):
                kind, content = "link", os.fsencode(os.readlink(whole))
            elif stat.S_ISDIR(mode):
                kind = "folder"
            elif stat.S_ISREG(mode):
                kind, size = "file", about.st_size
                with open(whole, "rb") as file:
                    content = hashlib.file_digest(file, "blake2b").digest()
            else:
                kind = "special"
            found[os.path.relpath(whole, folder)] = Entry(
                kind, stat.S_IMODE(mode), (about.st_uid, about.st_gid), size, content
            )
    return found


# --- Processes -----------------------------------------------------------------------------------------------


def kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def group_members(group: int) -> list[str]:
    """Processes of a group that go on: no zombies, none that is on its way out."""
    members = members_now(group)
    if members:
        # Between a kill and its taking effect there is a moment in which nothing tells of it.
        time.sleep(0.003)
        again = members_now(group)
        members = {process: name for process, name in members.items() if process in again}
    return list(members.values())


def members_now(group: int) -> dict[str, str]:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return {}
    members = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) != group or fields[0] in "ZX" or int(fields[6]) & 0x4:  # PF_EXITING
                continue
            if SIGKILL_BIT & (mask(process.name, "SigPnd") | mask(process.name, "ShdPnd")):
                continue
            name = (process / "cmdline").read_bytes().replace(b"\0", b" ")
            members[process.name] = name.decode(errors="replace").strip()
        except (OSError, IndexError, ValueError):
            continue
    return members


SIGKILL_BIT = 1 << (signal.SIGKILL - 1)


def mask(process: int | str, name: str) -> int:
    """A mask of signals from a process's status; 0 when it is gone."""
    try:
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1], 16)
    except OSError:
        pass
    return 0


def is_handled(process: int, which: int) -> bool:
    """Whether a process has a handler for a signal, or has blocked it, as one does that waits for it."""
    return bool((mask(process, "SigCgt") | mask(process, "SigBlk")) & (1 << (which - 1)))


def mount_tmpfs(folder: Path, size: int) -> None:
    """A file system of its own, in memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, f"size={size}".encode()) != 0:
        raise NotPossible(f"cannot mount: {os.strerror(ctypes.get_errno())}")


def remount_read_only(folder: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(None, os.fsencode(folder), None, 1 | 32, None) != 0:  # MS_RDONLY | MS_REMOUNT
        raise NotPossible(f"cannot mount: {os.strerror(ctypes.get_errno())}")


def unmount(folder: Path) -> None:
    ctypes.CDLL(None).umount2(os.fsencode(folder), 2)  # MNT_DETACH
