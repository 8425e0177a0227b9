"""Sorts files and datasets on a Ray cluster: ``pip install "./python[ray]"`` in a clone.

::

    inputs -- sample --> splitters
    inputs -- map ----> sorted runs on the nodes' disks, cut by splitters
                        the same range of all runs -- reduce --> part-00000.csv, part-00001.csv, ...

Ray places tasks, retries them, and reports progress. Its object store carries only names, offsets, and the first 7 MiB
of the inputs, which decide the types of keys for all tasks. The task that sorts records reads them and keeps them on its
node's disk; the task that writes them pulls them from there. Blocks of datasets are already in the object store, and
stay there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._manifest import Manifest, Part, Source
from ._sort import sort_files

if TYPE_CHECKING:
    from ._dataset import sort

__all__ = ["Manifest", "Part", "Source", "sort", "sort_files"]


def __getattr__(name: str) -> Any:
    # The import of Ray Data takes a second, and sorts of files do not need it.
    if name == "sort":
        from ._dataset import sort

        return sort
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
