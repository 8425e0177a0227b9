"""Sorts Dask data frames: ``pip install "./python[dask]"`` in a clone.

::

    frame.sort_values(["city", "price"], ascending=[True, False], sort_function=gpusort.dask.sort_function)

Dask distributes rows to partitions by ranges of the first key; this function sorts each partition.
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
    """Returns a partition in the order of ``pandas.DataFrame.sort_values``; rows with equal keys keep their order.
    One difference: pandas considers -0 and +0 equal, but here -0 precedes +0.

    This is the ``sort_function`` of Dask's ``sort_values``. Dask passes all arguments except ``threads``, which
    belongs in ``sort_function_kwargs``.

    threads
        The maximum number of cores for a partition; all cores by default.

    >>> import pandas
    >>> sort_function(pandas.DataFrame({"n": [2, 1]}), "n")["n"].tolist()
    [1, 2]
    """
    result = sort_table(partition, by=by, ascending=ascending, na_position=na_position, threads=threads)
    return result.reset_index(drop=True) if ignore_index else result
