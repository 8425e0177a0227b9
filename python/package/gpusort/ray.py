"""Sorts of files by a Ray cluster: ``pip install "./python[ray]"`` in a clone.

::

    inputs -- sample --> splitters
    inputs -- map ----> sorted runs on the nodes' disks, cut by splitters
                        the same range of all runs -- reduce --> part-00000.csv, part-00001.csv, ...

Ray places tasks, tries them again and tells of progress. What goes through its object store is names and offsets:
records are read by the task that sorts them, lie on its node's disk, and are pulled from there by the task that
writes them.
"""

# pyright: basic

from __future__ import annotations

import contextlib
import dataclasses
import glob
import hmac
import json
import os
import secrets
import shutil
import socket
import socketserver
import tempfile
import threading
import time
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

import ray
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem
from ray.exceptions import RayActorError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ._devices import device_of
from ._files import Key, Path, _arguments
from ._gpusort import VERSION, Task

__all__ = ["Manifest", "Part", "sort_files"]

#: Bytes that are read to find where a record begins or ends.
_BLOCK = 1 << 16

#: A task reads an eighth of its memory: it has that as read, as text, as keys, and as it is written.
_SHARE = 8

#: Bytes that are worth a task.
_LEAST = 16 << 20

_MAGIC = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of the output."""

    name: str
    """Its file's name in the folder."""
    rows: int
    bytes: int
    checksum: str
    """The sum, modulo 2^64, of the xxh3 of each record's bytes, in hexadecimal digits."""


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What a sort wrote; ``manifest.json`` in the output's folder has the same."""

    folder: str
    format: str
    rows: int
    """Rows of all parts."""
    bytes: int
    """Bytes of all inputs."""
    parts: list[Part]
    checksum: str
    """That of all records that were read; the parts' together are the same, unless ``unique``."""
    skipped: int
    """Records left out because of an invalid field."""
    seconds: dict[str, float]
    """The time of each phase."""

    def paths(self) -> list[str]:
        """The files of the parts, in order."""
        return [_joined(self.folder, part.name) for part in self.parts]


# ---- files ---------------------------------------------------------------------------------------


def _system(path: str) -> tuple[Any, str]:
    """The file system of a path or a URL, and the path there."""
    return url_to_fs(path)


def _is_local(system: Any) -> bool:
    return isinstance(system, LocalFileSystem)


def _joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"


def _opened(path: str) -> Any:
    system, inner = _system(path)
    return system.open(inner, "rb")


def _listed(inputs: Any) -> list[str]:
    """The files that inputs name: paths, patterns and folders."""
    found: list[str] = []
    for one in [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs:
        system, path = _system(os.fspath(one))
        names = [path]
        if system.isdir(path):
            names = sorted(system.ls(path, detail=False))
            names = [name for name in names if not os.path.basename(name).startswith((".", "_"))]
        elif glob.has_magic(path) and not system.exists(path):
            names = sorted(system.glob(path))
        found += names if _is_local(system) else [system.unstrip_protocol(name) for name in names]
    if not found:
        raise ValueError("no inputs")
    return found


def _read(path: str, begin: int, end: int) -> bytes:
    with _opened(path) as file:
        file.seek(begin)
        return file.read(end - begin)


def _lines_before(path: str, end: int) -> int:
    """Line ends before this place."""
    count = 0
    with _opened(path) as file:
        while end > 0 and (block := file.read(min(end, 1 << 24))):
            count += block.count(b"\n")
            end -= len(block)
    return count


# ---- what all tasks know -------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _File:
    path: str
    size: int
    is_compressed: bool
    records: int = 0
    """Where its records begin."""
    is_crlf: bool = False


@dataclasses.dataclass(frozen=True)
class _Stretch:
    """Records of a file that begin in a range of bytes."""

    file: int
    begin: int
    end: int


@dataclasses.dataclass(frozen=True)
class _Plan:
    arguments: dict[str, Any]
    to: str | None
    beginning: tuple[str, bytes, bool]
    files: list[_File]
    tasks: list[list[_Stretch]]
    threads: int

    def task(self, folder: str | None = None) -> Task:
        folders = [folder] if folder else []
        made = Task.of(self.arguments, self.to, folders, *self.beginning)
        assert made is not None
        return made


def _begun(ask: Any, path: str, size: int) -> tuple[Any, bytes, bool]:
    """What ``ask`` says of a file by as many bytes of its beginning as it needs."""
    length = _BLOCK
    while True:
        beginning = _read(path, 0, min(length, size))
        is_all = len(beginning) >= size
        if (found := ask(beginning, is_all)) is not None or is_all:
            return found, beginning, is_all
        length *= 4


def _planned(inputs: list[str], arguments: dict[str, Any], to: str | None, memory: int, threads: int) -> _Plan:
    sizes = [int(system.size(inner)) for system, inner in map(_system, inputs)]
    heads = [_read(path, 0, 4) if size else b"" for path, size in zip(inputs, sizes)]
    packed = [head.startswith(_MAGIC) for head in heads]
    first = next((number for number, size in enumerate(sizes) if size), 0)
    is_named = inputs[first].lower().endswith(".npy")
    arrays = arguments["from_"] == "npy" or arguments["from_"] is None and is_named
    begins = {path: _array(path) for path in inputs} if arrays else {}
    if arrays:
        elements = {element for element, _ in begins.values()}
        if len(elements) > 1:
            raise ValueError(f"the arrays have different types: {', '.join(sorted(elements))}")
        arguments = {**arguments, "from_": "bin", "type": elements.pop()}
        to = to or "npy"
    if packed[first]:
        beginning = (inputs[first], _unpacked(inputs[first]), False)
        task = Task.of(arguments, to, [], *beginning)
        if task is None:
            raise ValueError(f"{inputs[first]}: the first record is longer than {_BLOCK} bytes")
    else:
        of = lambda some, is_all: Task.of(arguments, to, [], inputs[first], some, is_all)
        task, some, is_all = _begun(of, inputs[first], sizes[first])
        assert task is not None
        beginning = (inputs[first], some, is_all)
    _, width = task.format
    files = []
    for path, size, is_packed in zip(inputs, sizes, packed):
        if is_packed or not size:
            files.append(_File(path, size, is_packed))
            continue
        if arrays:
            files.append(_File(path, size, False, begins[path][1]))
            continue
        records, _, _ = _begun(lambda some, is_all: task.records(some, is_all), path, size)
        begin, is_crlf = records or (0, False)
        files.append(_File(path, size, False, begin, is_crlf))
    # All cores have something to do, to the end; a task has more to do than to begin.
    cores = max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)
    most = max(min(memory // _SHARE, max(sum(sizes) // (4 * cores), _LEAST)), _BLOCK)
    tasks: list[list[_Stretch]] = [[]]
    room = most
    for number, file in enumerate(files):
        begin = file.records if width else 0
        while begin < file.size:
            end = file.size
            # What is compressed is read as a whole, in as many runs as it takes.
            if not file.is_compressed and end - begin > most:
                end = begin + (most // width * width if width else max(most, file.records))
                end = end if end < file.size else file.size
            if tasks[-1] and end - begin > room:
                tasks.append([])
                room = most
            tasks[-1].append(_Stretch(number, begin, end))
            room -= end - begin
            begin = end
    return _Plan(arguments, to, beginning, files, tasks, threads)


def _array(path: str) -> tuple[str, int]:
    """The type of a .npy file's elements, and where they begin."""
    from numpy.lib import format

    with _opened(path) as file:
        version = format.read_magic(file)
        read = format.read_array_header_1_0 if version == (1, 0) else format.read_array_header_2_0
        shape, _, dtype = read(file)
        if len(shape) != 1 or dtype.kind not in "iuf" or dtype.str.startswith(">"):
            raise ValueError(f"{path}: expected a one-dimensional array of little-endian numbers, not {dtype} of shape {shape}")
        return f"{dtype.kind}{8 * dtype.itemsize}", file.tell()


def _unpacked(path: str) -> bytes:
    """The bytes that a compressed file begins with."""
    with _opened(path) as file:
        if file.read(2) == _MAGIC[0]:
            import gzip

            file.seek(0)
            with gzip.GzipFile(fileobj=file) as unpacked:
                return unpacked.read(_BLOCK)
    raise ValueError(f"{path}: the first input is compressed with zstd, which is not supported; put another file first")


# ---- nodes ---------------------------------------------------------------------------------------


#: What names of folders with runs begin with.
_PREFIX = "gpusort-ray-"


def _locked(folder: str) -> Any:
    """A lock on a folder, which ends with this process; None if another one has it."""
    import fcntl

    file = open(os.path.join(folder, ".lock"), "w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _swept(folder: str) -> None:
    """Removes what sorts left whose processes were killed."""
    for old in glob.glob(os.path.join(glob.escape(folder), f"{_PREFIX}*")):
        with contextlib.suppress(OSError):
            # One that is being made has no lock yet.
            if time.time() - os.path.getmtime(old) > 60 and (lock := _locked(old)):
                shutil.rmtree(old, ignore_errors=True)
                lock.close()


class _Requests(socketserver.StreamRequestHandler):
    """Gives ranges of runs to whoever knows the word."""

    def handle(self) -> None:
        server: Any = self.server
        path, offset, length = self.rfile.readline(4096).decode().split(" ")
        word, _, name = path.partition("/")
        if hmac.compare_digest(word, server.word) and "/" not in name:
            with open(os.path.join(server.folder, name), "rb") as file:
                self.connection.sendfile(file, int(offset), int(length))


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024


@ray.remote(num_cpus=0)
class _Node:
    """Holds the runs of a node, and gives them to others."""

    def open(self, folder: str | None) -> tuple[str, str, str]:
        """Makes a folder in this one: its path, the address, and the word."""
        self.folder = tempfile.mkdtemp(prefix=_PREFIX, dir=folder)
        self.lock = _locked(self.folder)
        _swept(os.path.dirname(self.folder))
        ip = ray.util.get_node_ip_address()
        self.server: Any = _Server((ip, 0), _Requests)
        self.server.word, self.server.folder = secrets.token_hex(16), self.folder
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        host, port = self.server.server_address[:2]
        return self.folder, f"{host}:{port}", self.server.word

    def close(self) -> None:
        self.server.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)


def _got(reference: Any) -> Any:
    """A result, or what a task raised, as it raised it."""
    try:
        return ray.get(reference)
    except RayTaskError as error:
        raise error.cause if isinstance(error.cause, (ValueError, OSError, MemoryError)) else error from None


class _Nodes:
    """The nodes that are there, each with what holds its runs."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder
        self.actors: dict[str, Any] = {}
        self.where: dict[str, tuple[str, str, str]] = {}
        self.refresh()

    def refresh(self) -> None:
        alive = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
        for gone in self.actors.keys() - alive:
            del self.actors[gone]
            self.where.pop(gone, None)
        for new in alive - self.actors.keys():
            strategy = NodeAffinitySchedulingStrategy(new, soft=False)
            self.actors[new] = _Node.options(scheduling_strategy=strategy).remote()
        for node, actor in self.actors.items():
            if node not in self.where:
                # One that goes away meanwhile is found by the next look.
                with contextlib.suppress(RayActorError):
                    self.where[node] = _got(actor.open.remote(self.folder))

    def close(self) -> None:
        closing = [actor.close.remote() for actor in self.actors.values()]
        with contextlib.suppress(Exception):
            ray.wait(closing, num_returns=len(closing), timeout=30)
        for actor in self.actors.values():
            ray.kill(actor)


# ---- tasks ---------------------------------------------------------------------------------------


def _given(plan: _Plan, task: Task, stretch: _Stretch, start: int | None) -> tuple[Any, int, int]:
    """The bytes of a stretch from the first record that begins in it, and where these begin and end."""
    file = plan.files[stretch.file]
    if file.is_compressed:
        is_local = _is_local(_system(file.path)[0])
        return file.path if is_local else _read(file.path, 0, file.size), 0, file.size
    if task.format[1]:
        return _read(file.path, stretch.begin, stretch.end), stretch.begin, stretch.end
    if start is None and stretch.begin == 0:
        start = 0
    with _opened(file.path) as opened:
        length = _BLOCK
        while start is None:
            opened.seek(stretch.begin - 1)
            window = opened.read(length)
            found = task.begin(window)
            if found is not None:
                start = stretch.begin - 1 + found
            elif len(window) < length:
                start = file.size
            length *= 4
        if start >= stretch.end:
            return b"", start, start
        opened.seek(start)
        if stretch.end == file.size:
            return opened.read(), start, file.size
        # A header may be what no record is.
        head = file.records if start == 0 else 0
        data = opened.read(stretch.end - start + _BLOCK)
        while True:
            end = task.end(data[head:] if head else data, stretch.end - start - head)
            if end is not None:
                return data[: head + end], start, start + head + end
            more = opened.read(max(len(data) // 4, _BLOCK))
            if not more:
                return data, start, file.size
            data += more


def _sampled(plan: _Plan, number: int, many: int) -> str:
    """Keys of a task's stretches, from some places in each."""
    task = plan.task()
    stretches = plan.tasks[number]
    size = sum(stretch.end - stretch.begin for stretch in stretches)
    found: list[Any] = []
    at = 0
    for stretch in stretches:
        file = plan.files[stretch.file]
        length = stretch.end - stretch.begin
        share = max(1, many * length // max(size, 1))
        if file.is_compressed:
            places = [(None, at, at + length)]
        else:
            windows = min(share, max(1, length // (4 * _BLOCK)), 16)
            step = length // windows
            places = [(stretch.begin + k * step, at + k * step, at + (k + 1) * step) for k in range(windows)]
        for place, begin, end in places:
            part = stretch
            if place is not None:
                width = task.format[1] or 1
                place -= (place - file.records) % width if task.format[1] else 0
                part = _Stretch(stretch.file, place, min(place + _BLOCK // width * width, stretch.end))
            data, start, _ = _given(plan, task, part, None)
            before = None if start == 0 or task.format[1] else (0, file.is_crlf)
            first, last = (min((place << 32) // max(size, 1), (1 << 32) - 1) for place in (begin, end))
            # What is wrong here is told by the task that reads all of it.
            with contextlib.suppress(ValueError):
                given = [(file.path, data, before)]
                found += json.loads(task.sample(given, max(1, share // len(places)), number, first, last, plan.threads))
        at += length
    return json.dumps(found)


@dataclasses.dataclass
class _Done:
    """What a task mapped."""

    mapped: str
    places: list[tuple[int, int]]
    """Where its stretches begin and end."""
    lines: list[int]
    """Line ends in these."""
    node: str
    path: str
    error: Exception | None = None


def _mapped(
    plan: _Plan,
    number: int,
    starts: dict[int, int],
    splitters: str,
    joined: str | None,
    where: dict[str, tuple[str, str, str]],
    device: str,
) -> _Done | None:
    """Sorts a task's stretches to a file of its node; None if it has no place for that."""
    node = ray.get_runtime_context().get_node_id()
    if node not in where:
        return None
    folder = where[node][0]
    task = plan.task(folder)
    given, places, lines = [], [], []
    for at, stretch in enumerate(plan.tasks[number]):
        file = plan.files[stretch.file]
        data, start, end = _given(plan, task, stretch, starts.get(at))
        before = None if start == 0 or task.format[1] or file.is_compressed else (0, file.is_crlf)
        given.append((file.path, data, before))
        places.append((start, end))
        lines.append(data.count(b"\n") if isinstance(data, bytes) and not task.format[1] else 0)
    path = os.path.join(folder, f"{number}-{uuid.uuid4().hex}")
    sort = lambda given: task.map(
        given, number, splitters, joined, path, device_of(device), plan.threads
    )
    try:
        done = sort(given)
        return _Done(done, places, lines, node, path)
    except ValueError as problem:
        error: Exception = problem
    if any(before for _, _, before in given):
        # Once more, to tell the line.
        exact = [
            (name, data, before and (_lines_before(name, start), before[1]))
            for (name, data, before), (start, _) in zip(given, places)
        ]
        try:
            sort(exact)
        except ValueError as problem:
            error = problem
    return _Done("", places, lines, node, path, error)


@dataclasses.dataclass
class _Written:
    """What a task reduced, or the nodes whose runs it could not have."""

    rows: int = 0
    bytes: int = 0
    lost: list[str] = dataclasses.field(default_factory=list)


def _reduced(
    plan: _Plan,
    part: int,
    index: list[_Done],
    joined: str,
    where: dict[str, tuple[str, str, str]],
    output: str,
) -> _Written | None:
    """Merges a range of all runs into a part; None if this node has no place for more runs."""
    here = ray.get_runtime_context().get_node_id()
    if here not in where:
        return None
    if lost := {done.node for done in index} - where.keys():
        return _Written(lost=sorted(lost))
    places = []
    used: set[str] = set()
    for number, done in enumerate(index):
        for run in json.loads(done.mapped)["runs"]:
            of = run["ranges"][part]
            if not of["records"]:
                continue
            _, address, word = where[done.node]
            is_here = done.node == here
            path = done.path if is_here else f"{word}/{os.path.basename(done.path)}"
            place = of["offset"], of["bytes"], of["records"], of["checksum"]
            name = f"a run of task {number}"
            places.append((name, run["element"], place, None if is_here else address, path))
            used.add(done.node)
    folder = where[here][0]
    system, path = _system(output)
    # What is there is complete; elsewhere it is once it is all there.
    local = path if _is_local(system) else os.path.join(folder, os.path.basename(path))
    try:
        report = plan.task(folder).reduce(joined, places, True, local, plan.threads)
    except OSError:
        lost = [node for node in used if not _answers(where[node][1])]
        if not lost:
            raise
        return _Written(lost=lost)
    size = os.path.getsize(local)
    if local != path:
        system.put(local, path)
        os.remove(local)
    return _Written(report["records"] - report["repeated"] - report["cut"], size)


def _answers(address: str) -> bool:
    host, port = address.rsplit(":", 1)
    try:
        with socket.create_connection((host, int(port)), timeout=10):
            return True
    except OSError:
        return False


# ---- the sort ------------------------------------------------------------------------------------


def _memory(threads: int) -> int:
    """Bytes for each task: half of a core's share, where least is."""
    shares = [
        node["Resources"].get("memory", 4 << 30) / node["Resources"]["CPU"]
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU")
    ]
    return max(int(min(shares, default=2 << 30) * threads / 2), 64 << 20)


class _Bars:
    """Bars of Ray's own for each phase."""

    def __init__(self, shown: bool) -> None:
        self.shown, self.bar = shown, None

    def begin(self, phase: str, total: int) -> None:
        self.end()
        if self.shown:
            from ray.experimental.tqdm_ray import tqdm

            self.bar = tqdm(desc=f"gpusort: {phase}", total=total)

    def tell(self) -> None:
        if self.bar is not None:
            self.bar.update(1)

    def end(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


class _Sort:
    """A sort under way: what its driver knows."""

    def __init__(self, plan: _Plan, nodes: _Nodes, ask: dict[str, Any], device: str, bars: _Bars) -> None:
        self.plan, self.nodes, self.device, self.bars = plan, nodes, device, bars
        self.plan_ref = ray.put(plan)
        self.task = plan.task()
        remote = lambda function: ray.remote(function).options(max_retries=3, **ask)
        self.sampled, self.mapped, self.reduced = remote(_sampled), remote(_mapped), remote(_reduced)
        self.pending: dict[Any, int] = {}
        # Where stretches begin, by tasks, that were not where they seemed to.
        self.starts: dict[int, dict[int, int]] = {}

    def wait(self, submit: Any, numbers: Iterable[int], phase: str) -> Iterable[tuple[int, Any]]:
        """Results of tasks as they come; those without a result are submitted again."""
        waiting = list(numbers)
        self.bars.begin(phase, len(waiting))
        # Not more than can be begun soon: what nodes go away with is little then.
        most = 4 * max(1, int(ray.cluster_resources().get("CPU", 1)))
        while waiting or self.pending:
            while waiting and len(self.pending) < most:
                number = waiting.pop(0)
                self.pending[submit(number)] = number
            ready, _ = ray.wait(list(self.pending), num_returns=1)
            number = self.pending.pop(ready[0])
            result = _got(ready[0])
            if result is None:
                # On a node that came later.
                self.nodes.refresh()
                waiting.insert(0, number)
                continue
            yield number, result
            self.bars.tell()

    def sample(self, many: int) -> list[str]:
        each = max(8, many // len(self.plan.tasks))
        submit = lambda number: self.sampled.remote(self.plan_ref, number, each)
        return [found for _, found in self.wait(submit, range(len(self.plan.tasks)), "sample")]

    def map(self, splitters: str, done: dict[int, _Done], again: Iterable[int], joined: str | None = None) -> None:
        """Maps these tasks, and those of which it turns out that they began where no record does."""
        numbers = list(again)
        splitters_ref = ray.put(splitters)
        while numbers:
            submit = lambda number: self.mapped.remote(
                self.plan_ref, number, self.starts.get(number, {}), splitters_ref, joined, self.nodes.where, self.device
            )
            for number, found in self.wait(submit, numbers, "map"):
                done[number] = found
                # An error is one of the data only where the stretch begins with a record.
                if found.error is not None and not any(
                    stretch.begin > self.plan.files[stretch.file].records for stretch in self.plan.tasks[number]
                ):
                    raise found.error
            numbers = self.misplaced(done)
        for _, found in sorted(done.items()):
            if found.error is not None:
                raise found.error

    def misplaced(self, done: dict[int, _Done]) -> list[int]:
        """The tasks with a stretch that does not begin where the one before it ends."""
        wrong = set()
        ends: dict[int, int | None] = {}
        for number in range(len(self.plan.tasks)):
            for at, stretch in enumerate(self.plan.tasks[number]):
                if number not in done:
                    return sorted(wrong)
                start, end = done[number].places[at]
                expected = ends.get(stretch.file)
                if expected is not None and start != expected:
                    self.starts.setdefault(number, {})[at] = expected
                    wrong.add(number)
                # What follows a wrong one is looked at again once that is right.
                ends[stretch.file] = end if number not in wrong else None
        return sorted(wrong)

    def joined(self, done: dict[int, _Done]) -> tuple[str, list[int]]:
        before: dict[int, int] = {}
        found = []
        for number in range(len(self.plan.tasks)):
            lines = []
            for stretch, count in zip(self.plan.tasks[number], done[number].lines):
                lines.append((self.plan.files[stretch.file].path, before.get(stretch.file, 0)))
                before[stretch.file] = before.get(stretch.file, 0) + count
            found.append((done[number].mapped, lines))
        return self.task.join(found)

    def cancel(self) -> None:
        for reference in self.pending:
            with contextlib.suppress(Exception):
                ray.cancel(reference, force=True)


def sort_files(
    inputs: Path | Iterable[Path],
    output_dir: Path,
    *,
    key: Key | Sequence[Key] | None = None,
    to: str | None = None,
    parts: int | None = None,
    memory: int | None = None,
    threads: int = 1,
    num_gpus: float = 0,
    temp_dir: str | None = None,
    progress: bool = False,
    **options: Any,
) -> Manifest:
    """Sorts files by the Ray cluster that is connected, or a local one, into parts in a folder.

    The parts, one after another (of CSV under one header), are byte for byte what :func:`gpusort.sort_file`
    writes: a column has one type in all files, and records with equal keys keep the order of the files.

    inputs
        Paths, patterns, folders, or URLs of any file system that fsspec knows, which every node reads. What is
        compressed is read by one task each; all else by byte ranges.
    output_dir
        A new or empty folder, or a URL of one. ``manifest.json`` says what parts it has, and ``_SUCCESS`` comes
        last; without it nothing there is complete.
    parts
        How many parts; without it as many as tasks read the inputs.
    memory
        Bytes for each task, which Ray keeps free for it; without it half of a core's share of a node.
    threads
        Cores for each task.
    num_gpus
        The share of a GPU for each task that sorts; without one they sort on the CPU.
    temp_dir
        A folder on each node's disk, for sorted runs as large as the inputs; without it the system's.
    options
        Those of :func:`gpusort.sort_file`: how inputs are read and ordered.
    """
    begin = time.monotonic()
    unknown = options.keys() & {"top", "argsort", "bgzf", "parquet_compression"}
    if unknown:
        raise TypeError(f"{', '.join(sorted(unknown))}: not supported by sort_files")
    if not ray.is_initialized():
        ray.init()
    memory = _memory(threads) if memory is None else memory
    arguments = _arguments(key, {**options, "memory": memory})
    files = _listed(inputs)
    folder = os.fspath(output_dir)
    folder = folder if "://" in folder else os.path.abspath(folder)
    _made(folder)
    plan = _planned(files, arguments, to, memory, threads)
    task = plan.task()
    form = plan.to or task.format[0]
    parts = parts or len(plan.tasks)
    bars, seconds = _Bars(progress), {}
    nodes = _Nodes(temp_dir)
    sort = None
    try:
        ask: dict[str, Any] = {"num_cpus": threads, "memory": memory}
        sort = _Sort(plan, nodes, ask, "gpu" if num_gpus else "cpu", bars)
        if num_gpus:
            sort.mapped = sort.mapped.options(num_gpus=num_gpus)
        samples = sort.sample(256 * parts)
        splitters, parts = task.splitters(samples, parts)
        seconds["sample"] = time.monotonic() - begin
        done: dict[int, _Done] = {}
        sort.map(splitters, done, range(len(plan.tasks)))
        joined, again = sort.joined(done)
        if again:
            sort.map(splitters, done, again, joined)
            joined, _ = sort.joined(done)
        seconds["map"] = time.monotonic() - begin - seconds["sample"]
        elements = {run["element"] for found in done.values() for run in json.loads(found.mapped)["runs"]}
        suffix = {"text": "txt", "lines": "txt"}.get(form, form)
        suffix = next(iter(elements - {None}), suffix) if form == "bin" else suffix
        names = [f"part-{number:05}.{suffix}" for number in range(parts)]
        results: dict[int, _Written] = {}
        while len(results) < parts:
            index = ray.put([done[number] for number in range(len(plan.tasks))])
            lost: set[str] = set()
            submit = lambda part: sort.reduced.remote(
                sort.plan_ref, part, index, joined, nodes.where, _joined(folder, names[part])
            )
            for part, result in sort.wait(submit, [part for part in range(parts) if part not in results], "reduce"):
                if result.lost:
                    lost.update(result.lost)
                else:
                    results[part] = result
            if lost:
                # What went away with its node is sorted again elsewhere.
                nodes.refresh()
                gone = [number for number, found in done.items() if found.node in lost]
                sort.map(splitters, done, gone, joined)
        seconds["reduce"] = time.monotonic() - begin - sum(seconds.values())
        manifest = _manifest(plan, folder, form, done, results, names, seconds)
        seconds["total"] = time.monotonic() - begin
        _put(folder, "manifest.json", json.dumps({"gpusort": VERSION, **dataclasses.asdict(manifest)}, indent=1))
        _put(folder, "_SUCCESS", "")
        return manifest
    except BaseException:
        if sort is not None:
            sort.cancel()
        _removed(folder)
        raise
    finally:
        bars.end()
        nodes.close()


def _manifest(
    plan: _Plan,
    folder: str,
    form: str,
    done: dict[int, _Done],
    results: dict[int, _Written],
    names: list[str],
    seconds: dict[str, float],
) -> Manifest:
    mapped = [json.loads(found.mapped) for found in done.values()]
    sums = [0] * len(names)
    for run in (run for task in mapped for run in task["runs"]):
        for part, of in enumerate(run["ranges"]):
            sums[part] = (sums[part] + of["checksum"]) % (1 << 64)
    parts = [
        Part(name, results[part].rows, results[part].bytes, f"{sums[part]:016x}") for part, name in enumerate(names)
    ]
    return Manifest(
        folder=folder,
        format=form,
        rows=sum(part.rows for part in parts),
        bytes=sum(file.size for file in plan.files),
        parts=parts,
        checksum=f"{sum(sums) % (1 << 64):016x}",
        skipped=sum(task["skipped"] for task in mapped),
        seconds=seconds,
    )


def _made(folder: str) -> None:
    """Makes a folder; one that is not empty is refused."""
    system, path = _system(folder)
    if system.exists(path) and system.ls(path):
        raise FileExistsError(f"{folder} is not empty; name a new folder")
    system.makedirs(path, exist_ok=True)


def _put(folder: str, name: str, text: str) -> None:
    system, path = _system(_joined(folder, name))
    begun = f"{path}.{uuid.uuid4().hex}"
    system.pipe_file(begun, text.encode())
    system.mv(begun, path)


def _removed(folder: str) -> None:
    """Removes what a sort that failed has written."""
    with contextlib.suppress(Exception):
        system, path = _system(folder)
        for name in system.ls(path, detail=False):
            if os.path.basename(name).startswith(("part-", "manifest.json", "_SUCCESS")):
                system.rm(name)
