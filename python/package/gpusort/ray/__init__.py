"""Sorts of files by a Ray cluster: ``pip install "./python[ray]"`` in a clone.

::

    inputs -- sample --> splitters
    inputs -- map ----> sorted runs on the nodes' disks, cut by splitters
                        the same range of all runs -- reduce --> part-00000.csv, part-00001.csv, ...

Ray places tasks, tries them again and tells of progress. What goes through its object store is names and offsets:
records are read by the task that sorts them, lie on its node's disk, and are pulled from there by the task that
writes them.
"""

from ._manifest import Manifest, Part
from ._sort import sort_files

__all__ = ["Manifest", "Part", "sort_files"]
