"""Sorts, checks and merges files of any size."""

from __future__ import annotations

import glob
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypedDict, cast

from . import _gpusort
from ._devices import device_of
from ._keys import keys_of
from ._manifest import is_manifest, parts_of

if TYPE_CHECKING:
    from typing import Unpack

    from ._devices import KeptDevice
    from ._keys import Keys



class Readable(Protocol):
    """A binary file object to read from."""

    def read(self, size: int, /) -> bytes: ...


class Writable(Protocol):
    """A binary file object to write to."""

    def write(self, data: bytes, /) -> Any: ...


Path = str | PathLike[str]


class Progress(NamedTuple):
    """The progress of a phase."""

    phase: str
    """``read``, ``parse``, ``sort``, ``write`` or ``merge``."""
    done: int
    """The finished amount: bytes in a read, passes in a sort, records in other phases."""
    total: int | None
    """The total amount, or None if it is unknown."""


class Options(TypedDict, total=False):
    """The interpretation and the order of inputs: options of ``gpusort sort`` by their names.

    The command's further options follow the conventions of ``sort``; use ``type`` instead.
    """

    type: str
    """The type of keys without their own type: ``number``, ``time``, ``size``, ``duration``, ``version``,
    ``text``, ``hex`` or ``month``, or a number type such as ``u32`` or ``f64``. By default, the fields decide."""
    from_: str
    """The format of the inputs: ``lines``, ``csv``, ``tsv``, ``jsonl``, ``bin``, ``npy``, ``parquet``,
    ``arrow``, or ``text`` for numbers, with any number of them on a line. By default, the names of the inputs
    decide; other names mean lines."""
    header: bool | int
    """True if the first line names columns, or the number of header lines."""
    comments: bool
    """True to move lines that begin with # to the top; the last of these lines may name columns."""
    delimiter: str
    """The separator of fields."""
    zero_terminated: bool
    """True if lines end in NUL."""
    leading: bool
    """True to compare only the number at the beginning of a field, in keys of numbers and other types."""
    na: str | Sequence[str]
    """Words that count as empty fields."""
    decimal: str
    """The decimal sign."""
    thousands: str
    """The thousands separator."""
    time_format: str
    """The format of times, as for strftime."""
    reverse: bool
    """True for descending order of keys without their own direction."""
    unique: bool
    """True to keep only the first record of each key."""
    nan: Literal["last", "first", "error"]
    """The place of NaN, or an error."""
    empty: Literal["last", "first", "error"]
    """The place of empty fields, or an error."""
    invalid: Literal["error", "last", "first", "skip"]
    """The place of records with a field that is not of the key's type, or an error; "skip" leaves them out."""
    numeric_sort: bool
    """True to read all fields as numbers, like ``type="number"``."""
    ignore_case: bool
    """True to compare ASCII letters without case."""
    memory: int | str
    """The maximum memory: in bytes, or as in "2G" or "50%". The default is three quarters of the available
    memory."""


@dataclass(frozen=True)
class Report:
    """The result of a sort or a merge."""

    records: int
    """Records read, without rows that were left out because of an invalid field."""
    repeated: int
    """Records left out because their keys were repeated."""
    cut: int
    """Records left out after the first ones."""
    nan: int
    empty: int
    invalid: int
    """The numbers of keys that are NaN (``nan``), empty, or not of their type (``invalid``)."""
    skipped: int
    """Records left out because of an invalid field."""
    bytes: int
    """Bytes of input."""
    types: list[str]
    """The types of the keys: ``number``, ``time``, ``size``, ``duration``, ``version``, ``text``, ``hex``,
    ``month``, ``list`` or ``hilbert``; for binary inputs and typed columns, their own types."""
    format: str
    """The format of the output."""
    runs: int
    """The number of sorted runs in temporary files; 0 if everything fitted in memory."""
    spilled_bytes: int
    device: str
    algorithm: str
    variant: str
    why: str
    """The reason for the choice of the device."""
    seconds: dict[str, float]
    """The time of each phase, and the total."""


@dataclass(frozen=True)
class Checked:
    """The result of a check; true if all records are in order."""

    place: str | None
    """The place of the first record out of order, as ``file:line``; None if all records are in order."""
    value: str | None
    """The key of this record."""
    before: str | None
    """The key of the record before it."""

    @property
    def is_sorted(self) -> bool:
        """True if all records are in order."""
        return self.place is None

    def __bool__(self) -> bool:
        return self.is_sorted

    def __str__(self) -> str:
        return "in order" if self.is_sorted else f"{self.place}: out of order: {self.value} after {self.before}"


def _is_path(path: Any) -> bool:
    return isinstance(path, (str, bytes)) or hasattr(path, "__fspath__")


def folders_of(temp_dir: Any) -> list[Any]:
    """Returns the folders of ``temp_dir`` as a list."""
    return [temp_dir] if _is_path(temp_dir) else list(temp_dir)


def _inputs(inputs: Any) -> list[Any]:
    if _is_path(inputs) or hasattr(inputs, "read"):
        inputs = [inputs]
    if not hasattr(inputs, "__iter__") or hasattr(inputs, "columns"):
        raise TypeError(f"inputs are paths or file objects, not {type(inputs).__name__}")
    found: list[Any] = []
    for one in inputs:
        found += _listed(os.fsdecode(one)) if _is_path(one) else [one]
    if not found:
        raise ValueError("no inputs")
    return found


def is_data(name: str) -> bool:
    """Returns True if a file in a folder is data, and False for the files that a sort writes beside its parts."""
    return not name.startswith((".", "_")) and name != "manifest.json"


def _listed(path: str) -> list[str]:
    """Returns the files of a folder or a pattern in the order of their names, or else the path itself."""
    is_folder = os.path.isdir(path)
    if not is_folder and (os.path.lexists(path) or not glob.has_magic(path)):
        return [path]
    names = glob.glob(os.path.join(glob.escape(path), "*") if is_folder else path, recursive=True)
    found = sorted(name for name in names if is_data(os.path.basename(name)) and not os.path.isdir(name))
    return found if is_folder else found or [path]


def _keys(key: Any) -> list[tuple[str, bool | None]]:
    keys = [] if key is None else keys_of(key)
    if any(one.nulls for one in keys):
        raise TypeError('nulls of all keys of a file go to one end; use empty="first" and nan="first"')
    return [(str(one.name), one.descending) for one in keys]


_DEFAULTS: dict[str, Any] = {
    "type": None,
    "from_": None,
    "header": None,
    "comments": False,
    "delimiter": None,
    "zero_terminated": False,
    "leading": False,
    "na": [],
    "decimal": None,
    "thousands": None,
    "time_format": None,
    "reverse": False,
    "unique": False,
    "nan": "last",
    "empty": None,
    "invalid": None,
    "numeric_sort": False,
    "ignore_case": False,
    "memory": None,
}


def _arguments(key: Any, options: Any) -> dict[str, Any]:
    unknown = options.keys() - _DEFAULTS.keys()
    if unknown:
        raise TypeError(f"unknown option: {', '.join(sorted(unknown))}; there are {', '.join(_DEFAULTS)}")
    arguments: dict[str, Any] = {**_DEFAULTS, **options, "keys": _keys(key)}
    if isinstance(arguments["na"], str):
        arguments["na"] = [arguments["na"]]
    value: Any
    for name, value in arguments.items():
        known = _DEFAULTS.get(name)
        if value is known or name in ("keys", "memory"):
            continue
        if isinstance(known, bool) and not isinstance(value, bool):
            raise TypeError(f"{name} is True or False, not {value!r}")
        if name == "header" and not (isinstance(value, int) and value >= 0):
            raise ValueError(f"header is True, False or a number of lines, not {value!r}")
        if name == "na" and not all(isinstance(word, str) for word in cast("Sequence[object]", value)):
            raise TypeError(f"na is a word or several, not {value!r}")
        if name in ("decimal", "thousands") and not (isinstance(value, str) and len(value) == 1):
            raise ValueError(f"{name} is one character, not {value!r}")
        if name not in ("header", "na") and not isinstance(known, bool) and not isinstance(value, str):
            raise TypeError(f"{name} is a string, not {value!r}")
    if arguments["memory"] is not None:
        arguments["memory"] = str(arguments["memory"])
    if arguments["header"] is not None:
        arguments["header"] = int(arguments["header"])
    return arguments


def _top(top: Any) -> int | None:
    if top is not None and (not hasattr(top, "__index__") or top < 0):
        raise ValueError(f"top is a number from 0, not {top!r}")
    return top


class _Bar:
    """A line on a terminal that shows the progress."""

    def __init__(self) -> None:
        self.is_shown = False

    def __call__(self, phase: str, done: int, total: int | None) -> None:
        share = f" {100 * done // total:3d} %" if total else ""
        sys.stderr.write(f"\r\x1b[K{phase}{share}")
        sys.stderr.flush()
        self.is_shown = True

    def end(self) -> None:
        if self.is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _told(progress: bool | Callable[[Progress], object] | None) -> tuple[Callable[..., object] | None, _Bar]:
    bar = _Bar()
    if progress is None or progress is False:
        return None, bar
    if progress is True:
        if not sys.stderr.isatty():
            return None, bar
        bar("read", 0, None)
        return bar, bar
    return (lambda *how_far: progress(Progress(*how_far))), bar


_OUTPUT: dict[str, Any] = {
    "work": "sort",
    "to": None,
    "top": None,
    "per": None,
    "argsort": False,
    "count": False,
    "keep_order": False,
    "seed": None,
    "bgzf": False,
    "parquet_compression": None,
    "row_group_rows": None,
    "row_group_size": None,
    "split_size": None,
    "algo": None,
    "variant": None,
    "temp_dir": (),
}


def _write(
    inputs: Any, output: Any, key: Any, options: Any, threads: int | None, progress: Any, device: Any = None, **given: Any
) -> Report:
    of_output: dict[str, Any] = {**_OUTPUT, **given, "top": _top(given["top"])}
    of_output["temp_dir"] = folders_of(of_output["temp_dir"])
    for name in ("row_group_size", "split_size"):
        of_output[name] = None if of_output[name] is None else str(of_output[name])
    tell, bar = _told(progress)
    try:
        arguments = _arguments(key, options)
        return Report(**_gpusort.sort_file(_inputs(inputs), output, arguments, of_output, device, threads, tell))
    finally:
        bar.end()


def sort_file(
    inputs: Path | Readable | Iterable[Path | Readable],
    output: Path | Writable,
    *,
    key: Keys | None = None,
    to: str | None = None,
    top: int | None = None,
    per: str | int | None = None,
    argsort: bool = False,
    count: bool = False,
    keep_order: bool = False,
    bgzf: bool = False,
    parquet_compression: str | None = None,
    row_group_rows: int | None = None,
    row_group_size: int | str | None = None,
    split_size: int | str | None = None,
    algo: str = "auto",
    variant: str | None = None,
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
    temp_dir: Path | Sequence[Path] = (),
    progress: bool | Callable[[Progress], object] | None = None,
    **options: Unpack[Options],
) -> Report:
    """Sorts files of any size, also larger than memory, like the command.

    Lines and rows keep their bytes. The first 7 MiB of the inputs and the last MiB of each file decide the types of a
    key's fields: numbers, times or text; a later field of another type is an error. Numbers of any length are compared
    exactly.

    inputs
        A path, a pattern such as ``"data/*.csv"``, a folder with files in the order of their names, a binary file
        object, or several of these, which are sorted together.
    output
        A path or a binary file object. A file is replaced when the result is complete, so it may be an
        input. Names that end in .gz, .bgz or .zst are compressed.
    key
        A column or field: a name, a number from 1, 0 for the whole line, ``"price:r"`` as for the
        command, or another form of :func:`sort_table`; or several keys, primary key first.
        Without a key, lines are ordered by their first field if all of them begin with numbers, times,
        sizes, durations or versions, and then as a whole; otherwise as a whole. Tables need a key.
    to
        The format of the output. By default, the name of the output decides, then the format of the input.
    top
        The maximum number of records; the first records of the result are kept.
    per
        A column: ``top`` applies to each value of the column. Values are compared as text.
    argsort
        True to write the positions of the records instead of the records.
    count
        With ``unique``: True to write the count of each key before its record; tables get a column ``count``.
    keep_order
        With ``unique``: True to write the first record of each key in the order of the input.
    parquet_compression
        The compression of Parquet: ``"zstd"``, ``"snappy"``, ``"lz4"``, ``"gzip"``, ``"brotli"`` or
        ``"none"``, or with a level, as in ``"zstd:9"``. The default is the compression of the first input, or
        snappy.
    row_group_rows, row_group_size
        The limits of a Parquet row group: a number of rows, and a size in bytes or as in "128M".
    split_size
        The approximate size of Parquet files in the folder ``output``, which must be new or empty.
    progress
        True shows a line on a terminal; a function is called with a :class:`Progress`.
    options
        The :class:`Options` for the interpretation and the order of inputs, and for memory.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.csv").write_text("name,price\\nlamp,20\\nbook,9\\n")
    >>> report = sort_file(folder / "in.csv", folder / "out.csv", key="price", memory="1G")
    >>> report.records, (folder / "out.csv").read_text()
    (2, 'name,price\\nbook,9\\nlamp,20\\n')
    """
    if (count or keep_order) and not options.get("unique"):
        raise ValueError("count and keep_order need unique=True")
    if per is not None and (top is None or key is None):
        raise ValueError("per needs top and key")
    return _write(
        inputs,
        output,
        key,
        options,
        threads,
        progress,
        device_of(device),
        to=to,
        top=top,
        per=None if per is None else str(per),
        argsort=argsort,
        count=count,
        keep_order=keep_order,
        bgzf=bgzf,
        parquet_compression=parquet_compression,
        row_group_rows=row_group_rows,
        row_group_size=row_group_size,
        split_size=split_size,
        algo=algo,
        variant=variant,
        temp_dir=temp_dir,
    )


def merge_files(
    inputs: Iterable[Path | Readable],
    output: Path | Writable,
    *,
    key: Keys | None = None,
    to: str | None = None,
    top: int | None = None,
    bgzf: bool = False,
    parquet_compression: str | None = None,
    row_group_rows: int | None = None,
    row_group_size: int | str | None = None,
    split_size: int | str | None = None,
    threads: int | None = None,
    progress: bool | Callable[[Progress], object] | None = None,
    **options: Unpack[Options],
) -> Report:
    """Merges sorted inputs in little memory.

    The arguments are those of :func:`sort_file`.

    >>> import io
    >>> merged = io.BytesIO()
    >>> _ = merge_files([io.BytesIO(b"1\\n3\\n"), io.BytesIO(b"2\\n")], merged)
    >>> merged.getvalue()
    b'1\\n2\\n3\\n'
    """
    return _write(
        inputs,
        output,
        key,
        options,
        threads,
        progress,
        work="merge",
        to=to,
        top=top,
        bgzf=bgzf,
        parquet_compression=parquet_compression,
        row_group_rows=row_group_rows,
        row_group_size=row_group_size,
        split_size=split_size,
    )


def count_file(
    inputs: Path | Readable | Iterable[Path | Readable],
    output: Path | Writable,
    *,
    key: Keys | None = None,
    top: int | None = None,
    threads: int | None = None,
    temp_dir: Path | Sequence[Path] = (),
    progress: bool | Callable[[Progress], object] | None = None,
    **options: Unpack[Options],
) -> Report:
    """Counts the occurrences of each line or key, most frequent first; equal counts are in the order of keys.

    A line follows its count, as with ``uniq -c``; a table gets a column ``count`` and the columns of the keys.
    Without a key, whole lines are counted; a table needs a key. Parquet and Arrow are not supported.
    The arguments are those of :func:`sort_file`.

    >>> import io
    >>> counted = io.BytesIO()
    >>> _ = count_file(io.BytesIO(b"b\\na\\nb\\n"), counted)
    >>> counted.getvalue()
    b'      2 b\\n      1 a\\n'
    """
    if options.get("unique"):
        raise ValueError("count_file writes each key once; leave unique out")
    return _write(
        inputs, output, key, options, threads, progress, work="count", top=top, temp_dir=temp_dir
    )


_OF_INPUT = ("from_", "header", "comments", "delimiter", "zero_terminated", "memory")


def shuffle_file(
    inputs: Path | Readable | Iterable[Path | Readable],
    output: Path | Writable,
    *,
    seed: int | None = None,
    top: int | None = None,
    threads: int | None = None,
    temp_dir: Path | Sequence[Path] = (),
    progress: bool | Callable[[Progress], object] | None = None,
    **options: Unpack[Options],
) -> Report:
    """Writes lines or rows in a random order; all orders are equally likely. Headers stay on top.

    seed
        A number from 0 to 2**64 - 1: equal seeds give equal orders of equal records on every machine. By default,
        each call has a new seed.
    top
        The number of records to draw without replacement; all records by default.
    options
        The :class:`Options` for the interpretation of inputs (``from_``, ``header``, ``comments``,
        ``delimiter``, ``zero_terminated``), and ``memory``. Parquet and Arrow are not supported.

    >>> import io
    >>> shuffled = io.BytesIO()
    >>> _ = shuffle_file(io.BytesIO(b"1\\n2\\n3\\n"), shuffled, seed=7)
    >>> sorted(shuffled.getvalue().split())
    [b'1', b'2', b'3']
    """
    unknown = options.keys() - set(_OF_INPUT)
    if unknown:
        raise TypeError(f"a shuffle has no {', '.join(sorted(unknown))}; its options are {', '.join(_OF_INPUT)}")
    if seed is None:
        seed = secrets.randbits(64)
    elif not hasattr(seed, "__index__") or not 0 <= seed < 2**64:
        raise ValueError(f"seed is a number from 0 to 2**64 - 1, not {seed!r}")
    return _write(inputs, output, None, options, threads, progress, seed=seed, top=top, temp_dir=temp_dir)


def check_file(
    inputs: Path | Readable | Iterable[Path | Readable],
    *,
    key: Keys | None = None,
    threads: int | None = None,
    progress: bool | Callable[[Progress], object] | None = None,
    **options: Unpack[Options],
) -> Checked:
    """Checks the order of inputs, read one after another, and finds the first record out of order.

    The arguments are those of :func:`sort_file`; with ``unique=True``, repeated keys are out of order.
    The ``manifest.json`` of a sort's output stands for the parts of its folder, their keys and their options; a
    folder that differs from its manifest is a ``ValueError``.

    >>> import io
    >>> found = check_file(io.BytesIO(b"1\\n3\\n2\\n"))
    >>> bool(found), found.value, found.before
    (False, '2', '3')
    """
    tell, bar = _told(progress)
    try:
        files, arguments = _inputs(inputs), _arguments(key, options)
        if key is None and arguments["from_"] is None and is_manifest(files):
            parts = parts_of(files[0])
            if parts is None:
                return Checked(None, None, None)
            # The manifest has all options that decide the order.
            given = {**parts[1], "memory": options.get("memory")}
            files, arguments = parts[0], {**_arguments(None, given), "keys": parts[2]}
        found = _gpusort.check_file(files, arguments, threads, tell)
    finally:
        bar.end()
    return Checked(*found) if found else Checked(None, None, None)
