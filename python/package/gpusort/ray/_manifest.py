"""The output of a sort: its folder, and ``manifest.json`` in the folder."""

# pyright: basic

from __future__ import annotations

import contextlib
import dataclasses
import os
import uuid
from collections.abc import Iterable
from typing import Any

from ._paths import join, system_of
from ._plan import Plan
from ._tasks import Done, Written


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of the output."""

    name: str
    """The name of the file in the folder."""
    rows: int
    bytes: int
    xxh3: str
    """The xxh3 checksum of the whole file, in hexadecimal digits."""
    checksum: str
    """The sum, modulo 2^64, of the xxh3 of each record's bytes, equal for any order of the records."""
    first: list[str]
    """The keys of the first row, as messages show them; empty for a part without rows."""
    last: list[str]
    """The keys of the last row."""


@dataclasses.dataclass(frozen=True)
class Source:
    """An input."""

    path: str
    bytes: int
    checksum: str
    """The checksum of the input's records, like that of a part, without skipped records."""


@dataclasses.dataclass(frozen=True)
class Manifest:
    """The description of a sort's output, also written to ``manifest.json`` in the output's folder."""

    folder: str
    format: str
    check: list[str]
    """Options for ``gpusort check`` that, with the next three fields, describe the parts and their order."""
    keys: list[list[Any]]
    na: list[str]
    ignore_case: bool
    rows: int
    """The number of rows in all parts."""
    bytes: int
    """The number of bytes in all inputs."""
    checksum: str
    """The checksum of all parts: the sum of the inputs' checksums, unless ``repeated`` rows are left out."""
    repeated: int
    """Rows left out because their keys were repeated."""
    skipped: int
    """Rows left out because of an invalid field."""
    parts: list[Part]
    inputs: list[Source]
    seconds: dict[str, float]
    """The time of each phase."""

    def paths(self) -> list[str]:
        """Returns the paths of the parts, in order."""
        return [join(self.folder, part.name) for part in self.parts]


def total(checksums: Iterable[int]) -> str:
    return f"{sum(checksums) % (1 << 64):016x}"


def manifest_of(
    plan: Plan,
    folder: str,
    form: str,
    done: dict[int, Done],
    results: dict[int, Written],
    names: list[str],
    seconds: dict[str, float],
) -> Manifest:
    written = [results[part] for part in range(len(names))]
    sums = [0] * len(plan.files)
    skipped = repeated = read = 0
    for number, found in done.items():
        skipped += found.skipped
        repeated += found.repeated
        read += sum(int(ranges[:, 2].sum()) for _, ranges in found.runs)
        for stretch, checksum in zip(plan.tasks[number], found.sums):
            sums[stretch.file] += checksum
    rows = sum(part.rows for part in written)
    manifest = Manifest(
        folder=folder,
        format=form,
        check=checking(plan.arguments, form),
        keys=[list(key) for key in plan.arguments["keys"]],
        na=list(plan.arguments["na"]),
        ignore_case=plan.arguments["ignore_case"],
        rows=rows,
        bytes=sum(file.size for file in plan.files),
        checksum=total(part.checksum for part in written),
        repeated=repeated + read - rows,
        skipped=skipped,
        parts=[
            Part(name, part.rows, part.bytes, total([part.xxh3]), total([part.checksum]), part.first, part.last)
            for name, part in zip(names, written)
        ],
        inputs=[Source(file.path, file.size, total([checksum])) for file, checksum in zip(plan.files, sums)],
        seconds=seconds,
    )
    if not plan.arguments["unique"] and (manifest.repeated or manifest.checksum != total(sums)):
        raise RuntimeError(f"{folder}: {rows} of {read} rows were written, or rows that the inputs do not have")
    return manifest


def checking(arguments: dict[str, Any], form: str) -> list[str]:
    """Returns the options of ``gpusort check`` that correspond to these arguments."""
    options = [f"--from={form}"]
    if arguments["header"] is not None:
        options.append(f"--header={arguments['header']}" if arguments["header"] else "--no-header")
    apart = {"from_", "memory", "ignore_case"} | ({"type"} if form == "npy" else set())
    if arguments["type"] == "number":
        arguments = {**arguments, "type": None, "numeric_sort": True}
    for name, value in arguments.items():
        if name not in apart and value is True:
            options.append(f"--{name.replace('_', '-')}")
        elif name not in apart and isinstance(value, str):
            options.append(f"--{name.replace('_', '-')}={value}")
    return options


def make_folder(folder: str) -> None:
    """Creates a folder; raises FileExistsError if it is not empty."""
    system, path = system_of(folder)
    # The cache may be out of date, if others wrote to the folder.
    system.invalidate_cache()
    if system.exists(path) and system.ls(path):
        raise FileExistsError(f"{folder} is not empty; name a new folder")
    system.makedirs(path, exist_ok=True)


def put(folder: str, name: str, text: str) -> None:
    system, path = system_of(join(folder, name))
    begun = f"{path}.{uuid.uuid4().hex}"
    system.pipe_file(begun, text.encode())
    system.mv(begun, path)


def remove_parts(folder: str) -> None:
    """Removes the files of a failed sort."""
    with contextlib.suppress(Exception):
        system, path = system_of(folder)
        system.invalidate_cache()
        for name in system.ls(path, detail=False):
            if os.path.basename(name).startswith(("part-", "manifest.json", "_SUCCESS")):
                with contextlib.suppress(Exception):
                    system.rm(name)
