"""Files in any file system that fsspec supports."""

# pyright: basic

from __future__ import annotations

import glob
import os
from typing import Any

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from .._files import is_data


def system_of(path: str) -> tuple[Any, str]:
    """Returns the file system of a path or URL, and the path in it."""
    return url_to_fs(path)


def is_local(system: Any) -> bool:
    return isinstance(system, LocalFileSystem)


def join(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"


def opened(path: str) -> Any:
    system, inner = system_of(path)
    return system.open(inner, "rb")


def listed(inputs: Any) -> list[str]:
    """Returns the files of paths, patterns and folders; raises ValueError without any."""
    found: list[str] = []
    for one in [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs:
        system, path = system_of(os.fspath(one))
        names = [path]
        if system.isdir(path):
            names = sorted(system.ls(path, detail=False))
            names = [name for name in names if is_data(os.path.basename(name))]
        elif glob.has_magic(path) and not system.exists(path):
            names = sorted(system.glob(path))
        found += names if is_local(system) else [system.unstrip_protocol(name) for name in names]
    if not found:
        raise ValueError("no inputs")
    return found


def read(path: str, begin: int, end: int) -> bytes:
    with opened(path) as file:
        file.seek(begin)
        return file.read(end - begin)


def lines_before(path: str, end: int) -> int:
    """Counts the line ends before this offset."""
    count = 0
    with opened(path) as file:
        while end > 0 and (block := file.read(min(end, 1 << 24))):
            count += block.count(b"\n")
            end -= len(block)
    return count
