"""The plan of a sort, common to all tasks: the files, and the bytes that each task reads."""

# pyright: basic

from __future__ import annotations

import dataclasses
import uuid
from typing import Any

import ray

from .._gpusort import LOOKED, Task, is_packed, unpacked
from ._paths import opened, read, system_of

#: The bytes to read in search of the beginning or the end of a record.
BLOCK = 1 << 16

#: The bytes of a compressed file that always decompress to some content.
PACKED = 1 << 20

#: A task reads an eighth of its memory, because it holds the data as input, as text, as keys, and as output.
SHARE = 8

#: The minimum number of bytes for a task.
LEAST = 16 << 20


@dataclasses.dataclass(frozen=True)
class File:
    path: str
    size: int
    is_compressed: bool
    records: int = 0
    """The offset of the first record."""
    is_crlf: bool = False


@dataclasses.dataclass(frozen=True)
class Stretch:
    """The records of a file that begin in a range of bytes."""

    file: int
    begin: int
    end: int


#: The name of a file, its first bytes, and True if these are the whole file.
Looked = tuple[str, bytes, bool]


@dataclasses.dataclass(frozen=True)
class Plan:
    arguments: dict[str, Any]
    to: str | None
    looked: list[Looked]
    """The first bytes of the files, which decide the format and the types of keys for all tasks."""
    files: list[File]
    tasks: list[list[Stretch]]
    threads: int
    cores: int
    """The number of simultaneous tasks."""
    name: str = dataclasses.field(default_factory=lambda: uuid.uuid4().hex)

    def weight(self, stretch: Stretch) -> int:
        """Estimates the bytes of a stretch's records; compressed data counts several times."""
        return (stretch.end - stretch.begin) * (4 if self.files[stretch.file].is_compressed else 1)

    def task(self, folder: str | None = None) -> Task:
        of = (self.name, folder)
        if _made.get("of") != of:
            _made.update(of=of, task=Task.of(self.arguments, self.to, [folder] if folder else [], self.looked))
        return _made["task"]


#: The last task object of this process with its plan and folder, for reuse: its construction takes a while.
_made: dict[str, Any] = {}


def beginning(path: str, size: int, is_compressed: bool, most: int) -> Looked:
    """Returns at most ``most`` bytes from the beginning of a file, decompressed."""
    if not is_compressed or not most:
        return path, read(path, 0, min(most, size)) if most else b"", most >= size
    length = max(most, PACKED)
    while True:
        content = unpacked(read(path, 0, min(length, size)), most + 1)
        if len(content) > most or length >= size:
            return path, content[:most], len(content) <= most
        length *= 4


def records_of(task: Task, path: str, size: int) -> tuple[int, bool]:
    """Returns the offset of a file's first record, and True if its first line ends with CR LF."""
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
        # For binary inputs, the names suffice.
        looked = [(path, b"", False) for path in inputs]
    files = []
    for path, size, is_compressed in zip(inputs, sizes, packed):
        records, is_crlf = 0, False
        if arrays:
            records = begins[path][1]
        elif size and not is_compressed:
            records, is_crlf = records_of(task, path, size)
        files.append(File(path, size, is_compressed, records, is_crlf))
    # Enough tasks to keep all cores busy to the end, and tasks large enough to outweigh their start.
    cores = cores_of(threads)
    most = max(min(memory // SHARE, max(sum(sizes) // (4 * cores), LEAST)), BLOCK)
    tasks: list[list[Stretch]] = [[]]
    room = most
    for number, file in enumerate(files):
        begin = file.records if width else 0
        while begin < file.size:
            end = file.size
            # A compressed file is read as a whole, in any number of runs.
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
    """Returns the number of simultaneous tasks with this number of threads each."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)


def array_header(path: str) -> tuple[str, int]:
    """Returns the element type of a .npy file, and the offset of the elements.

    Raises ValueError for unsupported types and shapes, and for a file of another size.
    """
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
