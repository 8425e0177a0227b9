"""Sorts of tables: Arrow's, and data frames."""

from __future__ import annotations

import operator
import re
import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _gpusort
from ._arrays import _each, _nulls_first, argsort, is_arrow, is_pandas, lexsort, library, readable, unique
from ._devices import device_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ._arrays import Nulls
    from ._devices import KeptDevice


def _named(keys: Any) -> tuple[list[Any], list[bool]]:
    """The names of keys, and whether each is descending."""
    if isinstance(keys, dict):
        several: list[Any] = list(cast("dict[Any, Any]", keys).items())
    elif isinstance(keys, (list, set)) or (hasattr(keys, "__iter__") and not isinstance(keys, (str, tuple))):
        several = list(cast("Sequence[Any]", keys))
    else:
        several = [keys]
    names: list[Any] = []
    descending: list[bool] = []
    for key in several:
        pair = cast("tuple[Any, ...]", key if isinstance(key, tuple) else (key, "asc"))
        if len(pair) != 2 or pair[1] not in ("asc", "desc", "ascending", "descending"):
            raise ValueError(f'a key is a name, ("name", "asc") or ("name", "desc"), not {key!r}')
        names.append(pair[0])
        descending.append(pair[1].startswith("desc"))
    if not names:
        raise ValueError("no keys to sort by")
    return names, descending


def _numbers(names: list[Any], columns: list[Any]) -> list[int]:
    """The number of each column, from 0."""
    for name in names:
        if name not in columns:
            raise KeyError(f"no column {name!r}; there are {', '.join(map(str, columns)) or 'none'}")
        if columns.count(name) > 1:
            raise ValueError(f"{columns.count(name)} columns are called {name!r}; give them different names")
    return [columns.index(name) for name in names]


def sort_table(
    table: Any,
    /,
    keys: str | Sequence[str | tuple[str, str]],
    *,
    nulls: Nulls | Sequence[Nulls] = "last",
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
) -> Any:
    """The table with its rows in order; rows with equal keys keep theirs.

    table
        A table or record batch of pyarrow, a data frame of Polars or pandas, a relation of DuckDB, or
        anything else that has ``__arrow_c_stream__``.  The result is of the same kind; that of a reader is
        a table.
    keys
        A column, or several, of which the first is the primary one: names, or pairs of a name and "asc"
        or "desc", as pyarrow has them.  Categories that are ordered, and enumerations, are in their order.
    nulls
        Where nulls and NaN go, for all keys or one for each: "last" or "first".

    >>> import pyarrow as pa
    >>> table = pa.table({"name": ["b", "a", "b"], "n": [1, 2, 3]})
    >>> sort_table(table, [("name", "asc"), ("n", "desc")]).to_pydict()
    {'name': ['a', 'b', 'b'], 'n': [2, 3, 1]}
    """
    names, descending = _named(keys)
    places = [_nulls_first(value) for value in _each(nulls, len(names), "nulls")]
    if is_pandas(table):
        if not hasattr(table, "columns"):
            raise TypeError(f"{type(table).__name__} is not a table; use sort(x)")
        # Its own gathering keeps the index and every type.
        _numbers(names, list(table.columns))
        columns = [table[name] for name in names]
        of_nulls: list[Nulls] = ["first" if first else "last" for first in places]
        order = lexsort(columns, descending=descending, nulls=of_nulls, device=device, threads=threads)
        return table.take(order)
    if hasattr(table, "collect") and not is_arrow(table):
        raise TypeError("a lazy frame has no rows yet; use sort_table(frame.collect(), ...)")
    if not is_arrow(table):
        raise TypeError(f"{type(table).__name__} is not a table of Arrow or a data frame")
    orders = [(down, first, first) for down, first in zip(descending, places)]
    if hasattr(table, "project") and library(table).endswith("duckdb"):
        numbers = _numbers(names, list(table.columns))
        columns, order, back = _of_relation(table, numbers)
        rows = _gpusort.ArrowTable(table.project(", ".join(columns)))
        sorted_rows = rows.sort(order, orders, device_of(device), threads)  # noqa: F841  # pyright: ignore
        return table.query("gpusort_rows", f"SELECT {', '.join(back)} FROM sorted_rows")
    rows = _gpusort.ArrowTable(_readable(table))
    numbers = _numbers(names, rows.names)
    return _back(table, rows.sort(numbers, orders, device_of(device), threads))


def top_table(
    table: Any,
    n: int,
    /,
    keys: str | Sequence[str | tuple[str, str]],
    *,
    per: str | None = None,
    nulls: Nulls | Sequence[Nulls] = "last",
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
) -> Any:
    """The first n rows in order, or all if there are fewer; with ``per``, the first n of each value of a column.

    table
        A table or record batch of pyarrow, or a data frame of Polars or pandas.  The result is of the same kind.
    per
        The column.  Nulls are one value.

    Other arguments are those of :func:`sort_table`.

    >>> import pyarrow as pa
    >>> table = pa.table({"name": ["b", "a", "b", "b"], "n": [1, 2, 3, 4]})
    >>> top_table(table, 1, ("n", "desc"), per="name").to_pydict()
    {'name': ['b', 'a'], 'n': [4, 2]}
    """
    most = operator.index(n)
    if most < 0:
        raise ValueError(f"n is {most}; it cannot be negative")
    names, descending = _named(keys)
    kind = type(table).__name__
    if hasattr(table, "collect"):
        raise TypeError("a lazy frame has no rows yet; use top_table(frame.collect(), ...)")
    if kind not in ("DataFrame", "Table", "RecordBatch") or not (is_arrow(table) or is_pandas(table)):
        raise TypeError(f"{kind} is no table of pyarrow, and no data frame of Polars or pandas; make one of it")
    columns = list(table.columns if kind == "DataFrame" else table.column_names)
    _numbers([*names, *([] if per is None else [per])], columns)
    of_keys = [table[name] for name in names]
    order = lexsort(of_keys, descending=descending, nulls=nulls, device=device, threads=threads)
    if per is not None:
        # Rows of one value, in order, are neighbours.
        codes = unique(table[per], return_inverse=True, device=device, threads=threads)[1][order]
        places: NDArray[np.int64] = argsort(codes, device=device, threads=threads)
        begins = np.flatnonzero(np.diff(codes[places], prepend=-1))
        numbers = np.arange(places.size) - np.repeat(begins, np.diff(begins, append=places.size))
        order, most = order[np.sort(places[numbers < most])], order.size
    rows: NDArray[np.int64] = order[:most]
    return table[rows] if library(table) == "polars" else table.take(rows)


def _of_relation(relation: Any, numbers: list[int]) -> tuple[list[str], list[int], list[str]]:
    """The columns of DuckDB's relation as Arrow carries them, then keys that Arrow would order otherwise; the
    numbers of the keys among them; and the expressions of the columns, in their own types again."""
    columns: list[str] = []
    back: list[str] = []
    keys: dict[int, str] = {}
    for number, (name, made) in enumerate(zip(relation.columns, relation.types)):
        kind = str(made)
        quoted = '"' + name.replace('"', '""') + '"'
        # Labels of an enumeration are no types.
        words = re.sub("'[^']*'", "", kind)
        changed = [word for word in ("BIT", "TIME WITH TIME ZONE") if re.search(rf"\b{word}\b", words)]
        if changed and (number in numbers or kind not in changed):
            raise TypeError(f"column {name!r} has {kind}, which Arrow changes; cast it to VARCHAR, or leave it out")
        if words.startswith("ENUM") and number in numbers:
            keys[number] = f"enum_code({quoted})"
        columns.append((f"CAST({quoted} AS VARCHAR)" if changed else quoted) + f" AS c{number}")
        back.append(f"CAST(c{number} AS {kind}) AS {quoted}")
    places = {number: len(columns) + at for at, number in enumerate(keys)}
    columns += [f"{key} AS k{at}" for at, key in enumerate(keys.values())]
    return columns, [places.get(number, number) for number in numbers], back


def _readable(table: Any) -> Any:
    """A frame of Polars that Arrow's interface gives out right; all else as it is."""
    if library(table) == "pyarrow" and hasattr(table, "read_all"):
        # Arrow's interface would carry the text of an exception alone.
        return table.read_all()
    if library(table) != "polars" or not hasattr(table, "with_columns"):
        return table
    made = table.get_columns()
    return table.with_columns([readable(column) for column in made]) if made else table


def _back(table: Any, result: _gpusort.ArrowTable) -> Any:
    """A table of the library that this one is of."""
    name = library(table)
    module: Any = sys.modules.get(name)
    if name == "pyarrow":
        made = module.table(result)
        if isinstance(table, module.RecordBatch):
            batches = made.combine_chunks().to_batches()
            return batches[0] if batches else table.slice(0, 0)
        return made
    if name == "polars":
        made = module.DataFrame(result).cast(dict(table.schema))
        # Polars casts no lists to lists of nulls.
        lists = [(kind, made[column]) for column, kind in table.schema.items() if made[column].dtype != kind]
        return made.with_columns(module.Series(of.name, of.to_list(), dtype=kind) for kind, of in lists)
    return result
