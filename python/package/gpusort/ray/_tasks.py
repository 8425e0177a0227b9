"""The tasks of a sort: sample, map and reduce."""

# pyright: basic

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import socket
import uuid
from typing import Any, NamedTuple

import numpy as np
import ray

from .._devices import device_of
from .._gpusort import Task
from ._paths import is_local, lines_before, opened, read, system_of
from ._plan import BLOCK, Plan, Stretch


def bytes_of(plan: Plan, task: Task, stretch: Stretch, start: int | None) -> tuple[Any, int, int]:
    """Returns the bytes of a stretch's records, and their beginning and end in the file."""
    file = plan.files[stretch.file]
    if file.is_compressed:
        is_here = is_local(system_of(file.path)[0])
        return file.path if is_here else read(file.path, 0, file.size), 0, file.size
    if task.format[1]:
        return read(file.path, stretch.begin, stretch.end), stretch.begin, stretch.end
    if start is None and stretch.begin == 0:
        start = 0
    with opened(file.path) as source:
        length = BLOCK
        while start is None:
            source.seek(stretch.begin - 1)
            window = source.read(length)
            found = task.begin(window)
            if found is not None:
                start = stretch.begin - 1 + found
            elif len(window) < length:
                start = file.size
            length *= 4
        if start >= stretch.end:
            return b"", start, start
        source.seek(start)
        if stretch.end == file.size:
            return source.read(), start, file.size
        # A header need not have the form of a record.
        head = file.records if start == 0 else 0
        data = source.read(stretch.end - start + BLOCK)
        while True:
            end = task.end(data[head:] if head else data, stretch.end - start - head)
            if end is not None:
                return data[: head + end], start, start + head + end
            more = source.read(max(len(data) // 4, BLOCK))
            if not more:
                return data, start, file.size
            data += more


def sample_task(plan: Plan, number: int, many: int) -> str:
    """Returns samples of keys from several places in each of a task's stretches, as JSON."""
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
            windows = min(share, max(1, length // (4 * BLOCK)), 16)
            step = length // windows
            places = [(stretch.begin + k * step, at + k * step, at + (k + 1) * step) for k in range(windows)]
        for place, begin, end in places:
            part = stretch
            if place is not None:
                width = task.format[1] or 1
                place -= (place - file.records) % width if task.format[1] else 0
                part = Stretch(stretch.file, place, min(place + BLOCK // width * width, stretch.end))
            data, start, _ = bytes_of(plan, task, part, None)
            before = None if start == 0 or task.format[1] else (0, file.is_crlf)
            first, last = (min((place << 32) // max(size, 1), (1 << 32) - 1) for place in (begin, end))
            # The map task, which reads all records, reports errors.
            with contextlib.suppress(ValueError):
                given = [(file.path, data, before)]
                found += json.loads(task.sample(given, max(1, share // len(places)), number, first, last, plan.threads))
        at += length
    return json.dumps(found)


@dataclasses.dataclass
class Done:
    """The result of a map task."""

    node: str
    path: str
    places: list[tuple[int, int]]
    """The beginning and the end of each stretch."""
    runs: list[tuple[str | None, np.ndarray]] = dataclasses.field(default_factory=list)
    """The element type of each run, and for each part its offset, bytes, records and checksum."""
    sums: list[int] = dataclasses.field(default_factory=list)
    skipped: int = 0
    repeated: int = 0
    error: Exception | None = None

    def sources(self, part: int, number: int) -> list[Source]:
        """Returns the ranges of a part in these runs; ``number`` is the number of their task."""
        found = []
        for element, ranges in self.runs:
            offset, size, records, checksum = ranges[part].tolist()
            if records:
                found.append(Source(f"a run of task {number}", element, (offset, size, records, checksum), self.node, self.path))
        return found


class Source(NamedTuple):
    """A range of a run."""

    name: str
    element: str | None
    range: tuple[int, int, int, int]
    node: str
    path: str


def map_task(
    plan: Plan,
    number: int,
    starts: dict[int, int],
    splitters: str,
    where: dict[str, tuple[str, str, str]],
    device: str | int,
) -> Done | None:
    """Sorts a task's stretches into a file on its node; returns None if the node has no folder for runs."""
    node = ray.get_runtime_context().get_node_id()
    if node not in where:
        return None
    folder = where[node][0]
    task = plan.task(folder)
    given, places = [], []
    for at, stretch in enumerate(plan.tasks[number]):
        file = plan.files[stretch.file]
        data, start, end = bytes_of(plan, task, stretch, starts.get(at))
        before = None if start == 0 or task.format[1] or file.is_compressed else (0, file.is_crlf)
        given.append((file.path, data, before))
        places.append((start, end))
    path = os.path.join(folder, f"{number}-{uuid.uuid4().hex}")

    def sort(given: list[Any]) -> Any:
        try:
            return task.map(given, number, splitters, path, device_of(device), plan.threads)
        except OSError as problem:
            if problem.filename != "a run":
                raise
            host = ray.util.get_node_ip_address()
            raise OSError(problem.errno, problem.strerror, f"{path} on {host}") from None

    done = Done(node, path, places)
    try:
        runs, done.sums, (done.skipped, done.repeated) = sort(given)
        done.runs = [(element, np.frombuffer(words, np.uint64).reshape(-1, 4)) for element, words in runs]
        return done
    except ValueError as problem:
        done.error = problem
    if any(before for _, _, before in given):
        # Maps again with line numbers, for the message.
        exact = [
            (name, data, before and (lines_before(name, start), before[1]))
            for (name, data, before), (start, _) in zip(given, places)
        ]
        try:
            sort(exact)
        except ValueError as problem:
            done.error = problem
    return done


@dataclasses.dataclass
class Written:
    """The part that a task wrote, or the nodes whose runs it could not read."""

    rows: int = 0
    bytes: int = 0
    xxh3: int = 0
    checksum: int = 0
    first: list[str] = dataclasses.field(default_factory=list)
    last: list[str] = dataclasses.field(default_factory=list)
    lost: list[str] = dataclasses.field(default_factory=list)


def reduce_task(
    plan: Plan,
    sources: list[Source],
    where: dict[str, tuple[str, str, str]],
    output: str,
) -> Written | None:
    """Merges sources into a part; returns None if this node has no folder for runs."""
    here = ray.get_runtime_context().get_node_id()
    if here not in where:
        return None
    used = {source.node for source in sources}
    if lost := used - where.keys():
        return Written(lost=sorted(lost))
    places = []
    for source in sources:
        _, address, word = where[source.node]
        pulled = (address, f"{word}/{os.path.basename(source.path)}")
        places.append((*source[:3], *((None, source.path) if source.node == here else pulled)))
    folder = where[here][0]
    system, path = system_of(output)
    # A local file appears when it is complete; a file elsewhere is uploaded when complete.
    local = path if is_local(system) else os.path.join(folder, os.path.basename(path))
    try:
        task = plan.task(folder)
        report = task.reduce(places, True, local, plan.threads)
    except OSError:
        lost = [node for node in used if not answers(where[node][1])]
        if not lost:
            raise
        return Written(lost=lost)
    # Reads the part back, and compares it with the sorted records.
    rows, checksum, first, last, xxh3 = task.tally(local, plan.threads)
    expected = sum(place[2][3] for place in places) % (1 << 64)
    if rows != report["records"] - report["repeated"] or not report["repeated"] and checksum != expected:
        raise OSError(f"{output}: what is read back differs from what was sorted")
    size = os.path.getsize(local)
    if local != path:
        system.put_file(local, path)
        os.remove(local)
        if system.size(path) != size:
            raise OSError(f"{output}: {size} bytes were written, but {system.size(path)} are there")
    return Written(rows, size, xxh3, checksum, first, last)


def answers(address: str) -> bool:
    host, port = address.rsplit(":", 1)
    try:
        with socket.create_connection((host, int(port)), timeout=10):
            return True
    except OSError:
        return False
