"""Sorts of Dask data frames: ``pip install "./python[dask]"`` in a clone.

::

    frame.sort_values(["city", "price"], ascending=[True, False], sort_function=gpusort.dask.sort_function)

Dask sends rows to partitions by ranges of the first key; this puts the rows of each partition in order.
"""

# pyright: basic

from __future__ import annotations

from typing import Any

from ._arrays import _each, lexsort

__all__ = ["sort_function"]


def sort_function(
    partition: Any,
    by: str | list[str],
    *,
    ascending: bool | list[bool] = True,
    na_position: str = "last",
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
    names = [by] if isinstance(by, str) else list(by)
    rising = _each(ascending, len(names), "ascending")
    # pandas orders categories as they are listed, whether that is said or not.
    columns = [partition[name] for name in names]
    columns = [column.cat.as_ordered() if hasattr(column.dtype, "categories") else column for column in columns]
    nulls = "first" if na_position == "first" else "last"
    order = lexsort(columns, descending=[not up for up in rising], nulls=nulls, threads=threads)
    result = partition.take(order)
    return result.reset_index(drop=True) if ignore_index else result
