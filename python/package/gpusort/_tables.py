"""Sorts Arrow tables and data frames."""

from __future__ import annotations

import io
import operator
import re
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar, overload

import numpy as np

from . import _gpusort
from ._arrays import argsort, is_arrow, is_pandas, library, readable, sorted_rows, unique
from ._devices import device_of
from ._files import folders_of, sort_file
from ._keys import keys_of, nulls_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from ._devices import KeptDevice
    from ._files import Path
    from ._keys import Key, Keys, Nulls


Table = TypeVar("Table")


class _Reader(Protocol):
    """A reader of batches, which sorts to a table."""

    def read_all(self) -> Any: ...


def _numbers(names: list[Any], columns: list[Any]) -> list[int]:
    """Returns the number of each column, from 0.

    Raises KeyError for a missing column, and ValueError for an ambiguous name.
    """
    for name in names:
        if name not in columns:
            raise KeyError(f"no column {name!r}; there are {', '.join(map(str, columns)) or 'none'}")
        if columns.count(name) > 1:
            raise ValueError(f"{columns.count(name)} columns are called {name!r}; give them different names")
    return [columns.index(name) for name in names]


def _columns(frame: Any, names: list[Any]) -> list[Any]:
    """Returns the columns with these names; in a pandas frame also levels of the index."""
    known = list(frame.column_names if library(frame) == "pyarrow" else frame.columns)
    levels = [level for level in frame.index.names if level is not None] if is_pandas(frame) else []
    numbers = _numbers(names, known + levels)
    return [
        frame[name] if number < len(known) else frame.index.get_level_values(name)
        for name, number in zip(names, numbers)
    ]


class _Options(TypedDict, total=False):
    """The keys of rows, and their order."""

    by: Keys | None
    descending: bool | Sequence[bool] | None
    ascending: bool | Sequence[bool] | None
    nulls: Nulls | Sequence[Nulls] | None
    na_position: Nulls | None
    device: str | int | KeptDevice
    threads: int | None


@overload
def sort_table(table: _Reader, /, keys: Keys | None = None, **options: Unpack[_Options]) -> Any: ...
@overload
def sort_table(table: Table, /, keys: Keys | None = None, **options: Unpack[_Options]) -> Table: ...
def sort_table(
    table: Any,
    /,
    keys: Keys | None = None,
    *,
    by: Keys | None = None,
    descending: bool | Sequence[bool] | None = None,
    ascending: bool | Sequence[bool] | None = None,
    nulls: Nulls | Sequence[Nulls] | None = None,
    na_position: Nulls | None = None,
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
) -> Any:
    """Returns the table with its rows in order; rows with equal keys keep their order.

    table
        A pyarrow table or record batch, a Polars or pandas data frame, a DuckDB relation, or any
        other object with ``__arrow_c_stream__``.  The result has the type of the table; a reader gives a
        table.
    keys, by
        One column or several, primary key first: a name, a pair of a name and "asc" or "desc", a
        :class:`gpusort.Key`, or ``pl.col("name")``.  For pandas, also a level of the index.  Ordered
        categories and enumerations keep their own order.
    descending, ascending
        The direction of keys without their own direction: one value for all keys, or a value for each.
    nulls, na_position
        The place of nulls and NaN, for all keys or for each: "last" (the default) or "first".

    The other arguments are those of :func:`sort`.  Raises TypeError for objects that are no tables, KeyError
    for a missing column, and ValueError for an ambiguous one.

    >>> import pyarrow as pa
    >>> table = pa.table({"name": ["b", "a", "b"], "n": [1, 2, 3]})
    >>> sort_table(table, ["name", ("n", "desc")]).to_pydict()
    {'name': ['a', 'b', 'b'], 'n': [2, 3, 1]}
    >>> sort_table(table, by=["name", "n"], ascending=[False, True])["n"].to_pylist()
    [1, 3, 2]
    """
    all_keys = keys_of(
        keys, by=by, descending=descending, ascending=ascending, nulls=nulls, na_position=na_position
    )
    if is_pandas(table):
        if not hasattr(table, "columns"):
            raise TypeError(f"{type(table).__name__} is not a table; use sort(x)")
        # take() of pandas keeps the index and all types.
        return table.take(_order(table, all_keys, device, threads))
    if hasattr(table, "collect") and not is_arrow(table):
        raise TypeError("a lazy frame has no rows yet; use sort_table(frame.collect(), ...)")
    if not is_arrow(table):
        raise TypeError(f"{type(table).__name__} is not a table of Arrow or a data frame")
    names = [key.name for key in all_keys]
    orders = orders_of(all_keys)
    if hasattr(table, "project") and library(table).endswith("duckdb"):
        numbers = _numbers(names, list(table.columns))
        columns, order, back = _of_relation(table, numbers)
        rows = _gpusort.ArrowTable(table.project(", ".join(columns)))
        sorted_rows = rows.sort(order, orders, device_of(device), threads)  # noqa: F841  # pyright: ignore
        return table.query("gpusort_rows", f"SELECT {', '.join(back)} FROM sorted_rows")
    rows = _gpusort.ArrowTable(_readable(table))
    numbers = _numbers(names, rows.names)
    return _back(table, rows.sort(numbers, orders, device_of(device), threads))


def orders_of(keys: list[Key]) -> list[tuple[bool, bool, bool]]:
    """Returns the order of each key as flags: descending, nulls first, NaN first."""
    places = [nulls_first(key.nulls or "last") for key in keys]
    return [(bool(key.descending), first, first) for key, first in zip(keys, places)]


def _order(
    table: Any, keys: list[Key], device: str | int | KeptDevice, threads: int | None, most: int | None = None
) -> NDArray[np.int64]:
    """Returns the positions of all rows, or of the first ``most`` rows, in order."""
    columns = _columns(table, [key.name for key in keys])
    directions, places, _ = map(list, zip(*orders_of(keys)))
    return sorted_rows(columns, directions, places, device_of(device), threads, most)


def top_table(
    table: Table,
    n: int,
    /,
    keys: Keys | None = None,
    *,
    per: Any = None,
    by: Keys | None = None,
    descending: bool | Sequence[bool] | None = None,
    ascending: bool | Sequence[bool] | None = None,
    nulls: Nulls | Sequence[Nulls] | None = None,
    na_position: Nulls | None = None,
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
) -> Table:
    """Returns the first n rows in order, or all rows of a shorter table; with ``per``, the first n of each group.

    table
        A pyarrow table or record batch, or a Polars or pandas data frame.  The result has the same type.
    per
        A column; rows with equal values form a group, as do rows with nulls.

    The other arguments are those of :func:`sort_table`.  Raises ValueError for negative n.

    >>> import pyarrow as pa
    >>> table = pa.table({"name": ["b", "a", "b", "b"], "n": [1, 2, 3, 4]})
    >>> top_table(table, 1, ("n", "desc"), per="name").to_pydict()
    {'name': ['b', 'a'], 'n': [4, 2]}
    """
    most = operator.index(n)
    if most < 0:
        raise ValueError(f"n is {most}; it cannot be negative")
    all_keys = keys_of(
        keys, by=by, descending=descending, ascending=ascending, nulls=nulls, na_position=na_position
    )
    kind = type(table).__name__
    if hasattr(table, "collect"):
        raise TypeError("a lazy frame has no rows yet; use top_table(frame.collect(), ...)")
    if kind not in ("DataFrame", "Table", "RecordBatch") or not (is_arrow(table) or is_pandas(table)):
        raise TypeError(f"{kind} is no table of pyarrow, and no data frame of Polars or pandas; make one of it")
    frame: Any = table
    order = _order(frame, all_keys, device, threads, most if per is None else None)
    if per is not None:
        # The stable argsort makes the rows of each group neighbours, and keeps their order.
        groups = _columns(frame, [keys_of(per)[0].name])[0]
        codes = unique(groups, return_inverse=True, device=device, threads=threads)[1][order]
        places: NDArray[np.int64] = argsort(codes, device=device, threads=threads)
        begins = np.flatnonzero(np.diff(codes[places], prepend=-1))
        numbers = np.arange(places.size) - np.repeat(begins, np.diff(begins, append=places.size))
        order = order[np.sort(places[numbers < most])]
    return frame[order] if library(frame) == "polars" else frame.take(order)


def merge_tables(
    tables: Iterable[Table],
    /,
    keys: Keys | None = None,
    **options: Unpack[_Options],
) -> Table:
    """Returns the rows of several tables in order, as one table; rows with equal keys keep the order of the tables.

    tables
        Tables of one library with the same columns: pyarrow tables, or Polars or pandas data frames.  They need
        not be in order: their rows are concatenated, then sorted.
    options
        The other arguments of :func:`sort_table`.

    Raises TypeError without tables, and for mixed or other libraries.

    >>> import pyarrow as pa
    >>> merge_tables([pa.table({"n": [1, 3]}), pa.table({"n": [2]})], "n")["n"].to_pylist()
    [1, 2, 3]
    """
    several: list[Any] = list(tables)
    kinds = {library(table) for table in several}
    if len(kinds) != 1 or not kinds <= {"pyarrow", "polars", "pandas"}:
        raise TypeError("the tables are several of pyarrow, or data frames of Polars, or of pandas")
    module: Any = sys.modules[kinds.pop()]
    joined = module.concat if hasattr(module, "concat") else module.concat_tables
    made = [module.table(table) for table in several] if hasattr(module, "table") else several
    return sort_table(joined(made), keys, **options)


class _Stream:
    """A file object with the batches of a reader in Arrow's stream format."""

    def __init__(self, reader: Any) -> None:
        self.batches, self.bytes = iter(reader), io.BytesIO()
        self.writer = sys.modules["pyarrow"].ipc.new_stream(self.bytes, reader.schema)
        self.rest = memoryview(b"")

    def read(self, size: int) -> bytes:
        while not self.rest and self.batches is not None:
            batch = next(self.batches, None)
            if batch is None:
                self.batches = None
                self.writer.close()
            else:
                self.writer.write_batch(batch)
            self.rest = memoryview(self.bytes.getvalue())
            self.bytes.seek(0)
            self.bytes.truncate()
        part, self.rest = self.rest[:size], self.rest[size:]
        return bytes(part)


def sort_reader(
    reader: Any,
    /,
    keys: Keys | None = None,
    *,
    by: Keys | None = None,
    descending: bool | Sequence[bool] | None = None,
    ascending: bool | Sequence[bool] | None = None,
    nulls: Nulls | None = None,
    na_position: Nulls | None = None,
    memory: int | str | None = None,
    temp_dir: Path | Sequence[Path] = (),
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
) -> Any:
    """Returns a ``pyarrow.RecordBatchReader`` of the rows in order, which may exceed memory.

    All rows are read before the first row is returned; rows beyond ``memory`` go to temporary files.

    reader
        A ``pyarrow.RecordBatchReader``, or a stream that pyarrow converts to one, as of DuckDB or Polars.
    memory, temp_dir
        As for :func:`sort_file`; the result is a temporary file in the first folder of ``temp_dir``.

    The other arguments are those of :func:`sort_table`, with one place for the nulls of all keys.

    >>> import pyarrow as pa
    >>> table = pa.table({"n": [3, 1, 2]})
    >>> sort_reader(table.to_reader(), "n", memory="64M").read_all()["n"].to_pylist()
    [1, 2, 3]
    """
    import pyarrow  # pyright: ignore[reportMissingTypeStubs]

    arrow: Any = pyarrow
    all_keys = keys_of(
        keys, by=by, descending=descending, ascending=ascending, nulls=nulls, na_position=na_position
    )
    places = {key.nulls or "last" for key in all_keys}
    if len(places) > 1:
        raise ValueError("nulls of all keys of a reader go to one end")
    place = places.pop()
    if not hasattr(reader, "read_next_batch"):
        reader = arrow.RecordBatchReader.from_stream(reader)
    _numbers([key.name for key in all_keys], reader.schema.names)
    folders = folders_of(temp_dir)
    options: Any = {"empty": place, "nan": place, **({} if memory is None else {"memory": memory})}
    sorted_rows = tempfile.TemporaryFile(dir=folders[0] if folders else None)
    sort_file(
        _Stream(reader),
        sorted_rows,
        key=[(key.name, "desc" if key.descending else "asc") for key in all_keys],
        from_="arrow",
        **options,
        temp_dir=folders,
        device=device,
        threads=threads,
    )
    sorted_rows.seek(0)
    return arrow.ipc.open_stream(sorted_rows)


def _of_relation(relation: Any, numbers: list[int]) -> tuple[list[str], list[int], list[str]]:
    """Returns expressions that export a DuckDB relation to Arrow, including keys that Arrow would order
    differently; the numbers of the keys among them; and expressions that restore the types of columns."""
    columns: list[str] = []
    back: list[str] = []
    keys: dict[int, str] = {}
    for number, (name, made) in enumerate(zip(relation.columns, relation.types)):
        kind = str(made)
        quoted = '"' + name.replace('"', '""') + '"'
        # Labels of an enumeration may look like types.
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
    """Converts a Polars frame or a pyarrow reader to a table that Arrow's interface exports correctly."""
    if library(table) == "pyarrow" and hasattr(table, "read_all"):
        # Through Arrow's interface, an exception would lose its type.
        return table.read_all()
    if library(table) != "polars" or not hasattr(table, "with_columns"):
        return table
    made = table.get_columns()
    return table.with_columns([readable(column) for column in made]) if made else table


def _back(table: Any, result: _gpusort.ArrowTable) -> Any:
    """Converts a result to the table type of the library of ``table``."""
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
        # Polars cannot cast lists to lists of nulls.
        lists = [(kind, made[column]) for column, kind in table.schema.items() if made[column].dtype != kind]
        return made.with_columns(module.Series(of.name, of.to_list(), dtype=kind) for kind, of in lists)
    return result
