"""Sorts arrays, tables and files, on all cores or on a GPU.

>>> import numpy as np, gpusort
>>> gpusort.sort(np.array([2.5, np.nan, -1.0]))
array([-1. ,  2.5,  nan])
>>> gpusort.argsort([30, 10, 20, 10])
array([1, 3, 2, 0])

All sorts are stable. The order is total: -inf ... -0, +0 ... +inf, then NaN, NaT and nulls. NaN, NaT and
nulls are last in both directions, unless ``nulls="first"``.
"""

from ._arrays import argsort, argtop, is_sorted, lexsort, rank, sort, top, unique
from ._devices import Device, devices
from ._files import Checked, Progress, Report, check_file, count_file, merge_files, shuffle_file, sort_file
from ._gpusort import VERSION as __version__
from ._keys import Key
from ._sorter import Sorter
from ._tables import merge_tables, sort_reader, sort_table, top_table

__all__ = [
    "Checked",
    "Device",
    "Key",
    "Progress",
    "Report",
    "Sorter",
    "__version__",
    "argsort",
    "argtop",
    "check_file",
    "count_file",
    "devices",
    "is_sorted",
    "lexsort",
    "merge_files",
    "merge_tables",
    "rank",
    "shuffle_file",
    "sort",
    "sort_file",
    "sort_reader",
    "sort_table",
    "top",
    "top_table",
    "unique",
]
