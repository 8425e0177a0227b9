"""What all tasks of a sort know: the files, and which bytes of them each task reads."""

# pyright: basic

from __future__ import annotations

import dataclasses
import os
from typing import Any

import ray

from .._gpusort import Task, is_packed, unpacked
from ._paths import opened, read, system_of

#: Bytes that are read to find where a record begins or ends.
BLOCK = 1 << 16

#: A task reads an eighth of its memory: it has that as read, as text, as keys, and as it is written.
SHARE = 8

#: Bytes that are worth a task.
LEAST = 16 << 20


@dataclasses.dataclass(frozen=True)
class File:
    path: str
    size: int
    is_compressed: bool
    records: int = 0
    """Where its records begin."""
    is_crlf: bool = False


@dataclasses.dataclass(frozen=True)
class Stretch:
    """Records of a file that begin in a range of bytes."""

    file: int
    begin: int
    end: int


@dataclasses.dataclass(frozen=True)
class Plan:
    arguments: dict[str, Any]
    to: str | None
    beginning: tuple[str, bytes, bool]
    files: list[File]
    tasks: list[list[Stretch]]
    threads: int
    cores: int
    """How many tasks run at once."""

    def weight(self, stretch: Stretch) -> int:
        """About how many bytes of records a stretch has: of what is compressed some times its own."""
        return (stretch.end - stretch.begin) * (4 if self.files[stretch.file].is_compressed else 1)

    def task(self, folder: str | None = None) -> Task:
        folders = [folder] if folder else []
        made = Task.of(self.arguments, self.to, folders, *self.beginning)
        assert made is not None
        return made


def begun(ask: Any, path: str, size: int, is_compressed: bool) -> tuple[Any, tuple[str, bytes, bool]]:
    """What ``ask`` says of a file by as much of its beginning as it needs; and what that was."""
    length = BLOCK
    while True:
        packed = read(path, 0, min(length, size))
        is_all = len(packed) >= size
        beginning = path, unpacked(packed, 64 * length) if is_compressed and packed else packed, is_all
        if (found := ask(*beginning)) is not None or is_all:
            return found, beginning
        length *= 4


def planned(inputs: list[str], arguments: dict[str, Any], to: str | None, memory: int, threads: int) -> Plan:
    sizes = [int(system.size(inner)) for system, inner in map(system_of, inputs)]
    first = next((number for number, size in enumerate(sizes) if size), 0)
    is_named = inputs[first].lower().endswith(".npy")
    arrays = arguments["from_"] == "npy" or arguments["from_"] is None and is_named
    begins = {path: array_header(path) for path in inputs} if arrays else {}
    if arrays:
        elements = {element for element, _ in begins.values()}
        if len(elements) > 1:
            raise ValueError(f"the arrays have different types: {', '.join(sorted(elements))}")
        arguments = {**arguments, "from_": "bin", "type": elements.pop()}
        to = to or "npy"
    of = lambda *beginning: Task.of(arguments, to, [], *beginning)
    is_binary = arguments["from_"] == "bin"
    packed = [size > 0 and is_packed(path, is_binary, read(path, 0, 16)) for path, size in zip(inputs, sizes)]
    task, beginning = begun(of, inputs[first], sizes[first], packed[first])
    form, width = task.format
    seen = {ending(inputs[first])}
    files = []
    for path, size, is_compressed in zip(inputs, sizes, packed):
        if size and ending(path) not in seen and arguments["from_"] is None:
            seen.add(ending(path))
            other, _ = begun(of, path, size, is_compressed)[0].format
            if other != form:
                raise ValueError(f"{inputs[first]} is {form}, but {path} is {other}; name one format with from_")
        records, is_crlf = 0, False
        if arrays:
            records = begins[path][1]
        elif size and not is_compressed:
            found, _ = begun(lambda _, some, is_all: task.records(some, is_all), path, size, False)
            records, is_crlf = found or (0, False)
        files.append(File(path, size, is_compressed, records, is_crlf))
    # All cores have something to do, to the end; a task has more to do than to begin.
    cores = cores_of(threads)
    most = max(min(memory // SHARE, max(sum(sizes) // (4 * cores), LEAST)), BLOCK)
    tasks: list[list[Stretch]] = [[]]
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
            tasks[-1].append(Stretch(number, begin, end))
            room -= end - begin
            begin = end
    return Plan(arguments, to, beginning, files, tasks, threads, cores)


def cores_of(threads: int) -> int:
    """How many tasks of so many threads run at once."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)


def ending(path: str) -> str:
    """What a file's name ends with, which may tell its format."""
    return os.path.splitext(path.removesuffix(".gz").removesuffix(".zst"))[1].lower()


def array_header(path: str) -> tuple[str, int]:
    """The type of a .npy file's elements, and where they begin."""
    from numpy.lib import format

    with opened(path) as file:
        version = format.read_magic(file)
        read = format.read_array_header_1_0 if version == (1, 0) else format.read_array_header_2_0
        shape, _, dtype = read(file)
        if len(shape) != 1 or dtype.kind not in "iuf" or dtype.str.startswith(">"):
            raise ValueError(f"{path}: expected a one-dimensional array of little-endian numbers, not {dtype} of shape {shape}")
        begin, needed = file.tell(), shape[0] * dtype.itemsize
    system, inner = system_of(path)
    if (after := int(system.size(inner)) - begin) != needed:
        raise ValueError(f"{path}: {shape[0]} {dtype} elements need {needed} bytes, but {after} follow the header")
    return f"{dtype.kind}{8 * dtype.itemsize}", begin
