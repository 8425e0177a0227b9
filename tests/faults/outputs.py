"""Where the output goes: full disks, closed descriptors, other users who look on, what a replaced file keeps."""

from __future__ import annotations

import itertools
import os
import signal
import stat
import struct
import time
from pathlib import Path

import data
from harness import Job, NotPossible, Run, Scenario, Setup, compare, is_root, mount_tmpfs, remount_read_only
from harness import snapshot, unmount

NOBODY = 65534

# --- disk ------------------------------------------------------------------------------------------------------

# All that writes to standard output without being asked for a file.
TALKERS = ["--help", "--version", "sort --help", "devices", "completions bash", "completions zsh", "man", "man sort"]
TALKERS += ["gen -c 10", "gen -c 1000 --to bin", "gen -c 100K", "bench -s 256 --runs 1 --warmup 0 -a bitonic -d cpu"]
TALKERS += ["bench -s 256 --runs 1 --warmup 0 -a bitonic -d cpu --plot -", "bench --export-csv - -s 256 -d cpu --runs 1"]
BLOCK = 64 * 1024


def prepare_disk(setup: Setup, folder: Path) -> None:
    jobs = data.jobs(setup, 10_000)
    setup.shared["jobs"] = jobs
    writers = [job for job in jobs.values() if job.new and job.kind != "bench"]
    cases = []
    for job in writers:
        cases += [(run_full, job, 0), (run_full, job, 1), (run_read_only_disk, job)]
    to_stdout = [job for job in jobs.values() if job.out]
    cases += [(run_full_stdout, job.args, job.stdin) for job in to_stdout]
    cases += [(run_full_stdout, talker.split(), None) for talker in TALKERS]
    some = [job for job in to_stdout if not job.stdin]
    cases += [(run_full_output, job.args) for job in some]
    cases += [(run_elsewhere, where) for where in ELSEWHERE]
    cases += [(run_check_full, name) for name in ("check", "check of disorder")]
    setup.shared["cases"] = cases


def run_case(run: Run) -> None:
    """A case of a fixed list."""
    function, *rest = run.shared["cases"][run.index]
    function(run, *rest)
    run.no_traces()


def run_full(run: Run, job: Job, spare: int) -> None:
    """On a file system with room for the old files and no more, or for one block more."""
    need = sum(-(-len(content) // 4096) * 4096 for content in job.old.values())
    if not is_root():
        raise NotPossible("not root, so no small file system")
    mount_tmpfs(run.work, need + BLOCK)
    try:
        run.lay_out(job)
        free = os.statvfs(run.work)
        fill = (free.f_bavail - spare) * free.f_frsize
        (run.work / "filler").write_bytes(bytes(fill))
        before = snapshot(run.work)
        feed = Path(job.stdin).read_bytes() if job.stdin else None
        outcome = run.gpusort(*job.args, codes=[2], feed=feed)
        if b"o space left" not in outcome.err:
            run.fail(f"no 'No space left' in {outcome.err[:300]!r}")
        run.unchanged(before, job.new if job.partial else {})
    finally:
        unmount(run.work)


def run_read_only_disk(run: Run, job: Job) -> None:
    if not is_root():
        raise NotPossible("not root, so no file system of its own")
    mount_tmpfs(run.work, 8 << 20)
    try:
        run.lay_out(job)
        remount_read_only(run.work)
        before = snapshot(run.work)
        feed = Path(job.stdin).read_bytes() if job.stdin else None
        run.gpusort(*job.args, codes=[2], feed=feed)
        run.unchanged(before)
    finally:
        unmount(run.work)


def run_full_stdout(run: Run, args: list[str], source: str | None) -> None:
    with open("/dev/full", "wb") as full, open(source or os.devnull, "rb") as stdin:
        outcome = run.gpusort(*args, codes=[2], stdout=full, stdin=stdin)
    if outcome.code == 2 and b"o space left" not in outcome.err:
        run.fail(f"no 'No space left' in {outcome.err[:300]!r}")


def run_full_output(run: Run, args: list[str]) -> None:
    how = ["--to", "bin"] if args[-1].endswith(".u32") and "--to" not in args else []
    run.gpusort(*args, *how, "-o", "/dev/full", codes=[2])
    if not stat.S_ISCHR(os.stat("/dev/full").st_mode):
        run.fail("/dev/full is no device any more")


def run_check_full(run: Run, name: str) -> None:
    """A check says nothing on standard output, so a full one is no matter."""
    job = run.shared["jobs"][name]
    with open("/dev/full", "wb") as full:
        run.gpusort(*job.args, codes=[job.code], stdout=full)


ELSEWHERE = ["a folder that is not there", "a folder that is a file", "a folder itself", "a folder with a slash"]
ELSEWHERE += ["the working folder is gone", "a read-only folder", "a link to nothing", "a link to itself"]
ELSEWHERE += ["a link into a folder that is not there", "an empty name", "a name that is too long", "a file and a slash"]


def run_elsewhere(run: Run, where: str) -> None:
    """Places that cannot be written to. Each is refused, and nothing changes."""
    text = run.shared["jobs"]["text to stdout"]
    (run.work / "file").write_bytes(data.OLD)
    (run.work / "folder").mkdir()
    target, codes, how = "gone/out.txt", [2], {}
    new = {}
    if where == "a folder that is a file":
        target = "file/out.txt"
    elif where == "a folder itself":
        target = "folder"
    elif where == "a folder with a slash":
        target = "folder/"
    elif where == "a file and a slash":
        target = "file/"
    elif where == "an empty name":
        target = ""
    elif where == "a name that is too long":
        target = "x" * 300
    elif where == "a link to nothing":
        # What it points to is made, as by any redirection.
        (run.work / "link").symlink_to("new.txt")
        target, codes, new = "link", [0], {"new.txt": text.out}
    elif where == "a link to itself":
        (run.work / "link").symlink_to("link")
        target = "link"
    elif where == "a link into a folder that is not there":
        (run.work / "link").symlink_to("gone/new.txt")
        target = "link"
    elif where == "a read-only folder":
        if is_root():
            how["user"] = NOBODY
        target = "folder/out.txt"
        (run.work / "folder").chmod(0o555)
    before = snapshot(run.work)
    if where == "the working folder is gone":
        target = "out.txt"
        how |= {"cwd": run.folder / "gone", "first": "rmdir ../gone; "}
        how["cwd"].mkdir()
    run.gpusort(*text.args, "-o", target, codes=codes, **how)
    if new:
        run.complete(before, new)
    else:
        run.unchanged(before)


# --- descriptors -----------------------------------------------------------------------------------------------

CLOSERS = ["<&-", ">&-", "2>&-"]
CLOSED = [combination for count in range(4) for combination in itertools.combinations(CLOSERS, count)]
# Name, arguments, whether it needs standard input, whether standard output, the usual exit code.
CALLERS = [
    ("sort a file", "sort {disorder}", False, True, 0),
    ("sort a file to a file", "sort {disorder} -o out", False, False, 0),
    ("sort a file over itself", "sort over -o over", False, False, 0),
    ("sort stdin", "sort", True, True, 0),
    ("sort stdin to a file", "sort -o over", True, False, 0),
    ("merge", "sort -m {in_order} {in_order}", False, True, 0),
    ("merge to a file", "sort -m {in_order} {in_order} -o out", False, False, 0),
    ("merge stdin", "sort -m - {in_order} -o over", True, False, 0),
    ("each", "sort --each --in-place over", False, False, 0),
    ("check", "check {in_order}", False, False, 0),
    ("check disorder", "check {disorder}", False, False, 1),
    ("check stdin", "check", True, False, 0),
    ("gen", "gen -c 100", False, True, 0),
    ("gen to a file", "gen -c 100 -o out", False, False, 0),
    ("bench", "bench --sizes 256 -d cpu --runs 1 --warmup 0 -a bitonic", False, True, 0),
    ("devices", "devices", False, True, 0),
    ("completions", "completions bash", False, True, 0),
    ("man", "man", False, True, 0),
    ("help", "--help", False, True, 0),
    ("help of sort", "sort --help", False, True, 0),
    ("version", "--version", False, True, 0),
    ("no such option", "sort --no-such-option", False, False, 2),
    ("no such file", "sort no-such-file -o over", False, False, 2),
]
APPENDED = ["sort -m a b >> a", "sort -m < a >> a", "sort -m a - < b >> a", "sort a b >> a", "sort a >> a"]
APPENDED += ["sort -m a b -o a", "sort -m a b >> b", "sort -m -o /dev/stdout a b >> a"]

IN_ORDER = b"1\n2\n30\n"
DISORDER = b"30\n1\n2\n"


def prepare_descriptors(setup: Setup, folder: Path) -> None:
    (folder / "in-order.txt").write_bytes(IN_ORDER)
    (folder / "disorder.txt").write_bytes(DISORDER)
    setup.shared["names"] = {"in_order": folder / "in-order.txt", "disorder": folder / "disorder.txt"}
    cases = [(run_closed, caller, closed) for caller in CALLERS for closed in CLOSED]
    setup.shared["cases"] = cases + [(run_appended, call) for call in APPENDED]


def run_closed(run: Run, caller: tuple, closed: tuple[str, ...]) -> None:
    name, call, needs_in, needs_out, usual = caller
    args = call.format(**run.shared["names"]).split()
    (run.work / "over").write_bytes(DISORDER)
    before = snapshot(run.work)
    fails = (needs_in and "<&-" in closed) or (needs_out and ">&-" in closed)
    code = 2 if fails or usual == 2 else usual
    with open(run.shared["names"]["in_order"], "rb") as stdin:
        outcome = run.gpusort(
            *args, codes=[code], redirect=" ".join(closed), stdin=stdin, stderr_open="2>&-" not in closed
        )
    if outcome.code != code or code == 2:
        run.unchanged(before)
        return
    doubled = b"1\n1\n2\n2\n30\n30\n"
    right = {
        "sort a file to a file": {"out": IN_ORDER},
        "sort a file over itself": {"over": IN_ORDER},
        "sort stdin to a file": {"over": IN_ORDER},
        "merge to a file": {"out": doubled},
        "merge stdin": {"over": doubled},
        "each": {"over": IN_ORDER},
        "gen to a file": {"out": data.is_something},
    }
    run.complete(before, right.get(name, {}))
    if needs_out:
        out = {"sort a file": IN_ORDER, "sort stdin": IN_ORDER, "merge": doubled}.get(name, data.is_something)
        if problem := compare(outcome.out, out):
            run.fail(f"stdout: {problem}")


def run_appended(run: Run, call: str) -> None:
    """The output is an input. What reads everything first may do that; what reads as it writes would never end."""
    (run.work / "a").write_bytes(b"1\n30\n")
    (run.work / "b").write_bytes(b"2\n4\n")
    before = snapshot(run.work)
    words = call.split()
    begin = next((place for place, word in enumerate(words) if word in ("<", ">>")), len(words))
    run.last_command = call
    new, code = {}, 0
    if "-o a" in call:
        new = {"a": b"1\n2\n4\n30\n"}
    elif "-m" not in words:
        new = {"a": b"1\n30\n" + (b"1\n2\n4\n30\n" if "b" in words else b"1\n30\n")}
    else:
        code = 2
    run.gpusort(*words[:begin], codes=[code], redirect=" ".join(words[begin:]))
    if new:
        run.complete(before, new)
    else:
        run.unchanged(before)


# --- foreign: other users, and what a replaced file keeps -------------------------------------------------------

WATCHED = 200
SECRET = b"8472918263\n"


def prepare_foreign(setup: Setup, folder: Path) -> None:
    cases = [(run_watched,)] * (WATCHED if setup.full else WATCHED // 10)
    cases += [(run_mode, mode) for mode in (0o600, 0o640, 0o644, 0o755, 0o666, 0o604, 0o444, 0o400)]
    cases += [(run_new_mode, umask, how) for umask in (0o000, 0o002, 0o022, 0o027, 0o077) for how in NEW]
    cases += [(run_owner, mode) for mode in (0o600, 0o640, 0o664)]
    cases += [(run_group_kept, mode) for mode in (0o640, 0o660, 0o600)]
    cases += [(run_group_lost, mode) for mode in (0o640, 0o660, 0o664, 0o606, 0o670)]
    cases += [(run_others_file, mode) for mode in (0o666, 0o606, 0o626, 0o662)]
    cases += [(run_attribute,), (run_acl,), (run_acl_of_others,), (run_default_acl,)]
    setup.shared["cases"] = cases


NEW = [["sort"], ["sort", "--argsort"], ["gen", "-c", "9"]]


def run_watched(run: Run) -> None:
    """Another user opens all that comes into the folder and keeps it open; not a byte of the secret may come out."""
    if not is_root():
        raise NotPossible("not root, so nobody else to look on")
    old = run.work / "old.txt"
    old.write_bytes(SECRET * 1000)
    old.chmod(0o600)
    numbers = b"".join(b"%d\n" % run.rng.randrange(10**10) for _ in range(20_000))
    (run.folder / "input.txt").write_bytes(numbers)
    (run.folder / "input.txt").chmod(0o600)
    reading, writing = os.pipe()
    watchers = [start_watcher(run.work, writing) for _ in range(2)]
    os.close(writing)
    time.sleep(0.01)
    for _ in range(3):
        run.gpusort("sort", "-q", str(run.folder / "input.txt"), "-o", "old.txt", codes=[0])
    for watcher in watchers:
        os.kill(watcher, signal.SIGTERM)
    caught = b""
    while piece := os.read(reading, 65536):
        caught += piece
    os.close(reading)
    for watcher in watchers:
        os.waitpid(watcher, 0)
    if caught:
        run.fail(f"another user has read {caught[:200]!r}")
    if (mode := stat.S_IMODE(old.stat().st_mode)) != 0o600:
        run.fail(f"its mode is now {mode:o}")


def start_watcher(folder: Path, writing: int) -> int:
    """A process of another user that writes what it could read."""
    process = os.fork()
    if process:
        return process
    try:
        going = True

        def stop(*_) -> None:
            nonlocal going
            going = False

        signal.signal(signal.SIGTERM, stop)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        os.chdir(folder)
        opened: dict[str, int] = {}
        while going:
            for name in os.listdir("."):
                if name not in opened:
                    try:
                        opened[name] = os.open(name, os.O_RDONLY)
                    except OSError:
                        pass
        for name, file in opened.items():
            if content := os.pread(file, 60, 0):
                os.write(writing, b"%s: %s " % (name.encode(), content))
    finally:
        os._exit(0)


def sort_over(run: Run, old: Path, codes: tuple[int, ...] = (0,), **how) -> int:
    """Sorts something over a file that is there; what it has then is right either way."""
    (run.folder / "input.txt").write_bytes(b"3\n1\n2\n")
    before = old.read_bytes()
    outcome = run.gpusort("sort", "-q", str(run.folder / "input.txt"), "-o", old.name, codes=codes, **how)
    right = b"1\n2\n3\n" if outcome.code == 0 else before
    if old.read_bytes() != right:
        run.fail(f"{old.name} is wrong: {old.read_bytes()[:100]!r}")
    elif outcome.code:
        run.old_whole += 1
    if strays := set(os.listdir(run.work)) - {old.name}:
        run.strays += len(strays)
        run.fail(f"strays: {strays}")
    return outcome.code


def make_old(run: Run, mode: int, owner: tuple[int, int] | None = None) -> Path:
    old = run.work / "old.txt"
    old.write_bytes(data.OLD)
    if owner:
        os.chown(old, *owner)
    old.chmod(mode)
    return old


def run_mode(run: Run, mode: int) -> None:
    """The mode is kept; what may not be written to is refused, but to root."""
    old = make_old(run, mode)
    sort_over(run, old, (0,) if mode & 0o200 else (0, 2))
    if (now := stat.S_IMODE(old.stat().st_mode)) != mode:
        run.fail(f"mode {mode:o} has become {now:o}")


def run_new_mode(run: Run, umask: int, how: list[str]) -> None:
    """A new file has the mode that any program would give it."""
    source = ["-q", str(run.folder / "input.txt")] if how[0] == "sort" else []
    (run.folder / "input.txt").write_bytes(b"3\n1\n2\n")
    run.gpusort(*how, *source, "-o", "new.txt", codes=[0], umask=umask)
    if (now := stat.S_IMODE((run.work / "new.txt").stat().st_mode)) != 0o666 & ~umask:
        run.fail(f"mode {now:o} of a new file, not {0o666 & ~umask:o}")


def run_owner(run: Run, mode: int) -> None:
    """Root replaces somebody's file, which stays theirs."""
    if not is_root():
        raise NotPossible("not root")
    old = make_old(run, mode, (40_001, 40_002))
    sort_over(run, old)
    about = old.stat()
    if (about.st_uid, about.st_gid) != (40_001, 40_002) or stat.S_IMODE(about.st_mode) != mode:
        run.fail(f"{mode:o} of 40001:40002 is now {stat.S_IMODE(about.st_mode):o} of {about.st_uid}:{about.st_gid}")


def run_group_kept(run: Run, mode: int) -> None:
    """Who is in the file's group, if only among others, keeps it."""
    if not is_root():
        raise NotPossible("not root")
    run.give_to(40_001)
    old = make_old(run, mode, (40_001, 40_002))
    sort_over(run, old, user=40_001, groups=[40_002])
    about = old.stat()
    if about.st_gid != 40_002 or stat.S_IMODE(about.st_mode) != mode:
        run.fail(f"{mode:o} of group 40002 is now {stat.S_IMODE(about.st_mode):o} of group {about.st_gid}")


def access(about: os.stat_result, user: int, group: int) -> int:
    """What a user with one group may do, as rwx bits."""
    if user == about.st_uid:
        return about.st_mode >> 6 & 7
    return (about.st_mode >> 3 if group == about.st_gid else about.st_mode) & 7


def check_not_widened(run: Run, before: os.stat_result, after: os.stat_result, user: int) -> None:
    for somebody, group in itertools.product((40_001, 40_003, 40_009), (40_001, 40_002, 40_004, 40_009)):
        was, now = access(before, somebody, group), access(after, somebody, group)
        if somebody != user and now & ~was:
            run.fail(
                f"user {somebody} of group {group} could {was:03b} and now can {now:03b}: {before.st_mode & 0o777:o} of "
                f"{before.st_uid}:{before.st_gid} is now {after.st_mode & 0o777:o} of {after.st_uid}:{after.st_gid}"
            )


def run_group_lost(run: Run, mode: int) -> None:
    """Who is not in the file's group cannot keep it; the group that comes instead gets no more than it had."""
    if not is_root():
        raise NotPossible("not root")
    run.give_to(40_001)
    old = make_old(run, mode, (40_001, 40_002))
    before = old.stat()
    sort_over(run, old, (0, 2), user=40_001)
    check_not_widened(run, before, old.stat(), 40_001)


def run_others_file(run: Run, mode: int) -> None:
    """A file of somebody else that one may write to."""
    if not is_root():
        raise NotPossible("not root")
    run.work.chmod(0o777)
    old = make_old(run, mode, (40_003, 40_004))
    before = old.stat()
    sort_over(run, old, (0, 2), user=40_001)
    check_not_widened(run, before, old.stat(), 40_001)


def attribute(path: Path, name: str) -> bytes | None:
    try:
        return os.getxattr(path, name)
    except OSError:
        return None


def set_attribute(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        raise NotPossible(f"no {name} here: {error.strerror}") from None


def keeps(run: Run, old: Path, name: str, value: bytes) -> None:
    mode = stat.S_IMODE(old.stat().st_mode)
    sort_over(run, old)
    if (now := attribute(old, name)) != value:
        run.fail(f"{name} was {value!r} and is now {now!r}")
    if (now := stat.S_IMODE(old.stat().st_mode)) != mode:
        run.fail(f"mode {mode:o} has become {now:o}")


def run_attribute(run: Run) -> None:
    old = make_old(run, 0o644)
    set_attribute(old, "user.note", b"made by hand")
    keeps(run, old, "user.note", b"made by hand")


def acl(*entries: tuple[int, int, int]) -> bytes:
    """POSIX access control entries: tag, permissions, id."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


USER_OBJ, USER, GROUP_OBJ, MASK, OTHER, NO_ID = 1, 2, 4, 16, 32, 0xFFFFFFFF
READ_FOR_ONE = acl((USER_OBJ, 6, NO_ID), (USER, 4, 40_007), (GROUP_OBJ, 0, NO_ID), (MASK, 4, NO_ID), (OTHER, 0, NO_ID))


def run_acl(run: Run) -> None:
    old = make_old(run, 0o600)
    set_attribute(old, "system.posix_acl_access", READ_FOR_ONE)
    keeps(run, old, "system.posix_acl_access", READ_FOR_ONE)


def run_acl_of_others(run: Run) -> None:
    """The same for root over somebody's file."""
    if not is_root():
        raise NotPossible("not root")
    old = make_old(run, 0o600, (40_001, 40_002))
    set_attribute(old, "system.posix_acl_access", READ_FOR_ONE)
    keeps(run, old, "system.posix_acl_access", READ_FOR_ONE)


def run_default_acl(run: Run) -> None:
    """A folder's default is for new files; one that is replaced does not get it in place of its own."""
    old = make_old(run, 0o600)
    set_attribute(run.work, "system.posix_acl_default", READ_FOR_ONE)
    sort_over(run, old)
    if (now := stat.S_IMODE(old.stat().st_mode)) != 0o600:
        run.fail(f"mode 600 has become {now:o}")
    if (now := attribute(old, "system.posix_acl_access")) is not None:
        run.fail(f"a file without an ACL has got the folder's: {now!r}")


SCENARIOS = [
    Scenario("disk", run_case, prepare_disk),
    Scenario("descriptors", run_case, prepare_descriptors),
    Scenario("foreign", run_case, prepare_foreign),
]
