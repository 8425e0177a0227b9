"""What all tasks of a sort know: the files, and which bytes of them each task reads."""

# pyright: basic

from __future__ import annotations

import dataclasses
import uuid
from typing import Any

import ray

from .._gpusort import LOOKED, Task, is_packed, unpacked
from ._paths import opened, read, system_of

#: Bytes that are read to find where a record begins or ends.
BLOCK = 1 << 16

#: Bytes of a compressed file that always have some of its content.
PACKED = 1 << 20

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


#: A file's name, the bytes that it begins with, and whether these are all.
Looked = tuple[str, bytes, bool]


@dataclasses.dataclass(frozen=True)
class Plan:
    arguments: dict[str, Any]
    to: str | None
    looked: list[Looked]
    """What decides the format and the kinds of keys, once for all tasks."""
    files: list[File]
    tasks: list[list[Stretch]]
    threads: int
    cores: int
    """How many tasks run at once."""
    name: str = dataclasses.field(default_factory=lambda: uuid.uuid4().hex)

    def weight(self, stretch: Stretch) -> int:
        """About how many bytes of records a stretch has: of what is compressed some times its own."""
        return (stretch.end - stretch.begin) * (4 if self.files[stretch.file].is_compressed else 1)

    def task(self, folder: str | None = None) -> Task:
        of = (self.name, folder)
        if _made.get("of") != of:
            _made.update(of=of, task=Task.of(self.arguments, self.to, [folder] if folder else [], self.looked))
        return _made["task"]


#: The last task of this process, and what it is of: processes do several, and to decide takes a while.
_made: dict[str, Any] = {}


def beginning(path: str, size: int, is_compressed: bool, most: int) -> Looked:
    """At most so many bytes that a file has, as they are once it is decompressed."""
    if not is_compressed or not most:
        return path, read(path, 0, min(most, size)) if most else b"", most >= size
    length = max(most, PACKED)
    while True:
        content = unpacked(read(path, 0, min(length, size)), most + 1)
        if len(content) > most or length >= size:
            return path, content[:most], len(content) <= most
        length *= 4


def records_of(task: Task, path: str, size: int) -> tuple[int, bool]:
    """Where a file's records begin, and whether its first line ends with CR LF."""
    length = BLOCK
    while True:
        found = task.records(read(path, 0, min(length, size)), length >= size)
        if found is not None or length >= size:
            return found or (0, False)
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
    is_binary = arguments["from_"] == "bin"
    packed = [size > 0 and is_packed(path, is_binary, read(path, 0, 16)) for path, size in zip(inputs, sizes)]
    looked: list[Looked] = []
    left = LOOKED
    for path, size, is_compressed in zip(inputs, sizes, packed):
        looked.append(beginning(path, size, is_compressed, left))
        left -= len(looked[-1][1])
    task = Task.of(arguments, to, [], looked)
    width = task.format[1]
    if width:
        # Names say it all.
        looked = [(path, b"", False) for path in inputs]
    files = []
    for path, size, is_compressed in zip(inputs, sizes, packed):
        records, is_crlf = 0, False
        if arrays:
            records = begins[path][1]
        elif size and not is_compressed:
            records, is_crlf = records_of(task, path, size)
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
    return Plan(arguments, to, looked, files, tasks, threads, cores)


def cores_of(threads: int) -> int:
    """How many tasks of so many threads run at once."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)


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
