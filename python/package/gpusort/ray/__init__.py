"""Sorts of files and datasets by a Ray cluster: ``pip install "./python[ray]"`` in a clone.

::

    inputs -- sample --> splitters
    inputs -- map ----> sorted runs on the nodes' disks, cut by splitters
                        the same range of all runs -- reduce --> part-00000.csv, part-00001.csv, ...

Ray places tasks, tries them again and tells of progress. What goes through its object store is names, offsets, and the
first 7 MiB of the inputs, which decide for all tasks what keys are. Records are read by the task that sorts them, lie on
its node's disk, and are pulled from there by the task that writes them. Blocks of datasets are in the object store
already, and stay there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._manifest import Manifest, Part, Source
from ._sort import sort_files

if TYPE_CHECKING:
    from ._dataset import sort

__all__ = ["Manifest", "Part", "Source", "sort", "sort_files"]


def __getattr__(name: str) -> Any:
    # Ray Data takes a second to import, and files need nothing of it.
    if name == "sort":
        from ._dataset import sort

        return sort
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
