"""Sorts of Dask data frames: ``pip install "./python[dask]"`` in a clone.

::

    frame.sort_values(["city", "price"], ascending=[True, False], sort_function=gpusort.dask.sort_function)

Dask sends rows to partitions by ranges of the first key; this puts the rows of each partition in order.
"""

# pyright: basic

from __future__ import annotations

from typing import Any

from ._keys import Keys, Nulls
from ._tables import sort_table

__all__ = ["sort_function"]


def sort_function(
    partition: Any,
    by: Keys,
    *,
    ascending: bool | list[bool] = True,
    na_position: Nulls = "last",
    ignore_index: bool = False,
    threads: int | None = None,
) -> Any:
    """A partition in order, as ``pandas.DataFrame.sort_values`` has it; rows with equal keys keep theirs.
    Only -0 and +0, which pandas has as equal, are two keys: -0 comes first.

    For ``sort_function`` of Dask's ``sort_values``, which passes all but ``threads``: that comes from
    ``sort_function_kwargs``.

    threads
        Cores for a partition; all, without it.

    >>> import pandas
    >>> sort_function(pandas.DataFrame({"n": [2, 1]}), "n")["n"].tolist()
    [1, 2]
    """
    result = sort_table(partition, by=by, ascending=ascending, na_position=na_position, threads=threads)
    return result.reset_index(drop=True) if ignore_index else result
