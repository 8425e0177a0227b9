"""Sorts, checks and merges of files of any size."""

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

if TYPE_CHECKING:
    from typing import Unpack

    from ._devices import KeptDevice
    from ._keys import Keys



class Readable(Protocol):
    """A file object that gives bytes."""

    def read(self, size: int, /) -> bytes: ...


class Writable(Protocol):
    """A file object that takes bytes."""

    def write(self, data: bytes, /) -> Any: ...


Path = str | PathLike[str]


class Progress(NamedTuple):
    """How far a phase of the work is."""

    phase: str
    """``read``, ``parse``, ``sort``, ``write`` or ``merge``."""
    done: int
    """Of a read bytes, of a sort passes, otherwise records."""
    total: int | None
    """How many there are, if that is known."""


class Options(TypedDict, total=False):
    """How inputs are read and ordered: options of ``gpusort sort`` by their names.

    Those that are not named here are habits of ``sort``, for which there is ``type``.
    """

    type: str
    """What keys are that do not say it: ``number``, ``time``, ``size``, ``duration``, ``version``,
    ``text``, ``hex`` or ``month``, or a type of numbers such as ``u32`` or ``f64``; what their fields are, without
    it."""
    from_: str
    """The format of the inputs: ``lines``, ``csv``, ``tsv``, ``jsonl``, ``bin``, ``npy``, ``parquet``,
    ``arrow``, or ``text``, which is numbers, any number of them a line. That of their names, or lines,
    without it."""
    header: bool | int
    """Whether the first line names columns, or how many lines the header has."""
    comments: bool
    """Lines that begin with # stay on top, wherever they stand; the last of them may name columns."""
    delimiter: str
    """What separates fields."""
    zero_terminated: bool
    """Lines end in NUL."""
    leading: bool
    """Of a field only the number counts that it begins with, in keys that have numbers or a kind."""
    na: str | Sequence[str]
    """Words that count as empty fields."""
    decimal: str
    """The decimal sign."""
    thousands: str
    """What separates thousands."""
    time_format: str
    """How times are written, as for strftime."""
    reverse: bool
    """The largest first, for keys without a direction."""
    unique: bool
    """Only the first record of each key."""
    nan: Literal["last", "first", "error"]
    """Where NaN goes."""
    empty: Literal["last", "first", "error"]
    """Where empty fields go."""
    invalid: Literal["error", "last", "first", "skip"]
    """What becomes of records whose field is not of the key's kind."""
    numeric_sort: bool
    """Fields are numbers, never text: as ``type="number"``."""
    ignore_case: bool
    """Small letters of ASCII count as capital ones."""
    memory: int | str
    """The most memory to take: bytes, or as in "2G" or "50%"; three quarters of what is available,
    without it."""


@dataclass(frozen=True)
class Report:
    """What came of a sort or a merge."""

    records: int
    """Records read, without rows that were left out because of an invalid field."""
    repeated: int
    """Records left out because their keys were repeated."""
    cut: int
    """Records left out after the first ones."""
    nan: int
    empty: int
    invalid: int
    """How many keys are NaN, empty, or not of their kind."""
    skipped: int
    """Records left out because of an invalid field."""
    bytes: int
    """Bytes of input."""
    types: list[str]
    """What the keys are: ``number``, ``time``, ``size``, ``duration``, ``version``, ``text``, ``hex``,
    ``month``, ``list`` or ``hilbert``; of binary and of columns with types, these."""
    format: str
    """The format of what was written."""
    runs: int
    """How many sorted runs in temporary files were merged; none where all was in memory."""
    spilled_bytes: int
    device: str
    algorithm: str
    variant: str
    why: str
    """Why that device."""
    seconds: dict[str, float]
    """The time of each phase, and the total."""


@dataclass(frozen=True)
class Checked:
    """What a check has found; true if all is in order."""

    place: str | None
    """Where the first record is that is out of order: ``file:line``."""
    value: str | None
    """Its key."""
    before: str | None
    """The key of the record before it."""

    @property
    def is_sorted(self) -> bool:
        """Whether all records are in order."""
        return self.place is None

    def __bool__(self) -> bool:
        return self.is_sorted

    def __str__(self) -> str:
        return "in order" if self.is_sorted else f"{self.place}: out of order: {self.value} after {self.before}"


def _is_path(path: Any) -> bool:
    return isinstance(path, (str, bytes)) or hasattr(path, "__fspath__")


def folders_of(temp_dir: Any) -> list[Any]:
    """The folders of ``temp_dir``."""
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
    """Whether a file of a folder is data, not what a sort wrote beside its parts."""
    return not name.startswith((".", "_")) and name != "manifest.json"


def _listed(path: str) -> list[str]:
    """The files of a folder, or of a pattern, by their names; or the file."""
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
    """A line on a terminal that says how far the work is."""

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
    """Sorts files larger than memory, too, as the command does.

    Lines and rows are written as they were read. What a key's fields are, numbers, times or text, is
    decided by the first 7 MiB of the inputs and the last of each file; a field beyond these that does
    not fit is an error. Numbers are compared exactly, whatever their length.

    inputs
        A path, a pattern such as ``"data/*.csv"``, a folder, which stands for its files by their names, a file
        object that gives bytes, or several of these, which are sorted as one.
    output
        A path, which is replaced once the result is complete and may be an input, or a file object.
        Names that end in .gz, .bgz or .zst are compressed.
    key
        A column or field: a name, a number from 1, 0 for the whole line, ``"price:r"`` as for the
        command, or one of the other forms that :func:`sort_table` takes; several, of which the first is the
        primary one.
        Lines without a key are ordered by their first field, if all of them begin with numbers, times,
        sizes, durations or versions, and then as a whole; else as a whole. Tables need a key.
    to
        The format of the output; that of its name or of the input, without it.
    top
        Maximum number of records, from the first one of the result.
    per
        A column: ``top`` applies to each of its values, which compare as text.
    argsort
        Positions of the records instead of these.
    count
        With ``unique``: the count of each key before its record; tables get a column ``count``.
    keep_order
        With ``unique``: the first record of each key, in the order of the input.
    parquet_compression
        How Parquet is compressed: ``"zstd"``, ``"snappy"``, ``"lz4"``, ``"gzip"``, ``"brotli"`` or
        ``"none"``, or with a level, as in ``"zstd:9"``; as the first input is, or else with snappy, without it.
    row_group_rows, row_group_size
        Limits of a row group of Parquet: a number of rows, and a size in bytes, or as in "128M".
    split_size
        Approximate size of files of Parquet, which are written into the folder ``output``, new or empty.
    progress
        True shows a line on a terminal; a function is called with a :class:`Progress`.
    options
        Those of :class:`Options`: how inputs are read and ordered, and how much memory is taken.

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
    """Merges inputs that are each in order, in little memory.

    Arguments are those of :func:`sort_file`.

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
    """Counts how often each line or key occurs. The most frequent comes first; equal counts are in the order of keys.

    A line follows its count, as with ``uniq -c``; a table gets the columns ``count`` and those of the keys.
    Arguments are those of :func:`sort_file`. Without a key, whole lines are counted; a table needs a key.
    Parquet and Arrow are not counted.

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
    """Writes lines or rows in a random order; each order is equally likely. Headers stay on top.

    seed
        A number from 0 to 2**64 - 1, which gives the same order of the same records everywhere; a new one each time,
        without it.
    top
        The number of records to draw, each at most once; all, without it.
    options
        Those of :class:`Options` that say how inputs are read (``from_``, ``header``, ``comments``,
        ``delimiter``, ``zero_terminated``), and ``memory``. Parquet and Arrow are not shuffled.

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
    """Whether inputs, as one, are in order, and where not.

    Arguments are those of :func:`sort_file`; with ``unique=True`` repeated keys are out of order.

    >>> import io
    >>> found = check_file(io.BytesIO(b"1\\n3\\n2\\n"))
    >>> bool(found), found.value, found.before
    (False, '2', '3')
    """
    tell, bar = _told(progress)
    try:
        found = _gpusort.check_file(_inputs(inputs), _arguments(key, options), threads, tell)
    finally:
        bar.end()
    return Checked(*found) if found else Checked(None, None, None)
