"""Sorts NumPy arrays, Arrow arrays, and objects that convert to either without a copy."""

from __future__ import annotations

import math
import operator
import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast, get_args, overload

import numpy as np

from . import _gpusort
from ._devices import device_of
from ._keys import each, nulls_first

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from ._devices import KeptDevice
    from ._keys import Nulls


Kind = Literal["quicksort", "mergesort", "heapsort", "stable"]
Method = Literal["average", "min", "max", "dense", "ordinal"]
Array = np.ndarray[Any, np.dtype[Any]]
D = TypeVar("D", bound=np.dtype[Any])
X = TypeVar("X")

# Type codes whose elements are keys without conversion.
_PLAIN = frozenset("bBhHiIlLqQefd")


def is_arrow(x: object) -> bool:
    """Returns True if x implements Arrow's C interface."""
    if type(x) is np.ndarray:
        return False
    return hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__")


def library(x: object) -> str:
    """Returns the name of the library that defines the type of x or a base of it, or ""."""
    for base in type(x).__mro__:
        name = base.__module__.partition(".")[0]
        if name in ("pandas", "polars", "pyarrow", "duckdb", "_duckdb"):
            return name
    return ""


def is_pandas(x: object) -> bool:
    """Returns True for objects of pandas, whose own ``take`` keeps the index."""
    return library(x) == "pandas"


def is_strings(x: object) -> bool:
    """Returns True for a NumPy array of strings or bytes: "S", "U" or StringDType."""
    return isinstance(x, np.ndarray) and cast("Array", x).dtype.kind in "SUT"


def _as_strings(x: Any, axis: int | None = -1) -> Any:
    """Returns a list or tuple of strings alone, or of bytes alone, as an array of NumPy; any other x as it is.

    With axis None, an array of strings becomes flat.
    """
    if isinstance(x, (list, tuple)):
        values = cast("Sequence[object]", x)
        for kind in (str, bytes):
            if values and all(isinstance(value, kind) for value in values):
                return np.asarray(values)
        return values
    return x.ravel() if axis is None and is_strings(x) else x


def _unmasked(x: object) -> None:
    if type(x).__module__.startswith("numpy.ma"):
        raise TypeError("masked arrays are not supported; use x.compressed() or x.filled(value)")


def _of_strings(x: Array) -> _gpusort.ArrowArray:
    """Converts NumPy strings to Arrow binary, in the order of their code points, as NumPy compares them."""
    _unmasked(x)
    if x.ndim == 0:
        raise np.exceptions.AxisError(-1, 0)
    if x.ndim != 1:
        raise ValueError(f"arrays of strings have one dimension here, not {x.ndim}; sort each row, or use axis=None")
    lengths: Any
    valid: NDArray[np.uint8] | None = None
    if x.dtype.kind == "T":
        strings: list[Any] = x.tolist()
        if not isinstance(getattr(x.dtype, "na_object", ""), str):
            valid = np.fromiter((isinstance(string, str) for string in strings), np.uint8, x.size)
            strings = [string if isinstance(string, str) else "" for string in strings]
        joined = "".join(strings)
        texts: Any = joined.encode()
        is_ascii = len(texts) == len(joined)
        lengths = map(len, strings) if is_ascii else (len(string.encode()) for string in strings)
        lengths = np.fromiter(lengths, np.int64, x.size)
    else:
        native = np.require(x, x.dtype.newbyteorder("="), ["C", "A"])
        texts = np.frombuffer(native, np.uint8 if x.dtype.kind == "S" else np.uint32)
        if x.dtype.kind == "U":
            # Big-endian code points of one width compare in the order of their bytes.
            texts = texts.astype(np.uint8 if texts.max(initial=0) < 256 else ">u4")
        lengths = np.full(x.size, texts.nbytes // max(x.size, 1))
    ends = np.zeros(x.size + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return _gpusort.ArrowArray.of_texts(np.frombuffer(texts, np.uint8), ends, valid)


def readable(x: Any) -> Any:
    """Casts a Polars series to a type that Arrow's interface exports correctly; returns any other x unchanged."""
    if library(x) != "polars" or not hasattr(x, "to_physical"):
        return x
    name = str(x.dtype)
    if name == "Object" or "Int128" in name:
        raise TypeError(f"a Series of {name} is not supported; cast it to numbers or strings")
    return x.cast(_without_null(x.dtype)) if "Null" in name else x


def _without_null(dtype: Any) -> Any:
    """Replaces Null by Boolean in a type: an array of nulls has no buffers in Arrow, but one in Polars."""
    polars: Any = sys.modules["polars"]
    if dtype == polars.Null:
        return polars.Boolean
    if dtype == polars.List:
        return polars.List(_without_null(dtype.inner))
    if dtype == polars.Array:
        return polars.Array(_without_null(dtype.inner), dtype.size)
    if dtype == polars.Struct:
        return polars.Struct({field.name: _without_null(field.dtype) for field in dtype.fields})
    return dtype


def without_index(x: Any) -> Any:
    """Converts objects of pandas to a NumPy or Arrow array; returns any other x readable by Arrow."""
    if is_strings(x):
        return _of_strings(x)
    if not is_pandas(x):
        return readable(x)
    dtype: Any = getattr(x, "dtype", None)
    if dtype is None:
        raise TypeError("a data frame has no order of its own; use sort_table(x, keys), or its columns")
    is_category = str(dtype) == "category"
    if isinstance(dtype, np.dtype) and dtype.kind in "biufMm":
        return x.to_numpy()
    try:
        import pyarrow  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise TypeError(f"pandas' {dtype} needs pyarrow: pip install pyarrow") from None
    arrow: Any = pyarrow
    if is_category:
        # pandas sorts categories by their codes, ordered or not.
        x = getattr(x, "cat", x).as_ordered()
    try:
        return arrow.array(x, from_pandas=True)
    except (arrow.ArrowException, OverflowError) as error:
        array = np.asarray(x)
        if array.dtype.kind in "biufMm":
            return array
        raise TypeError(f"pandas' {dtype} is not supported: {error}") from error


def _refused(dtype: np.dtype[Any]) -> TypeError:
    if dtype.kind == "O":
        return TypeError(
            "NumPy arrays of objects are not supported; use x.astype(str), "
            "or an Arrow array such as pyarrow.array(x)"
        )
    if dtype.kind in "SUT":
        return TypeError("sequences of strings must be flat and of one type")
    if dtype.kind == "V":
        return TypeError("structured arrays are not supported; use lexsort([x['first'], x['second']])")
    return TypeError(f"arrays of {dtype} are not supported; use a type of at most 64 bits")


class _Input:
    """A NumPy array of the input, and a function that converts results back to the type of the input."""

    __slots__ = ("array", "back")

    def __init__(self, x: Any) -> None:
        self.array: Array
        self.back: Callable[[Array], Any] = _same
        name = type(x).__name__
        _unmasked(x)
        if isinstance(x, np.ndarray):
            self.array = np.asarray(x)  # pyright: ignore[reportUnknownArgumentType]
        elif hasattr(x, "__dlpack__"):
            self.array, self.back = _of_tensor(x)
        elif hasattr(x, "__cuda_array_interface__"):
            raise TypeError("this array is on a GPU; copy it to the host first, as in x.cpu() or x.get()")
        else:
            self.array = np.asarray(x)
        dtype = self.array.dtype
        if dtype.kind == "O" and self.array.ndim == 0:
            raise TypeError(f"{name} is not an array or a sequence of numbers")
        if dtype.kind not in "biufMm" or dtype.itemsize > 8:
            raise _refused(dtype)


def _same(result: Array) -> Any:
    return result


def _of_tensor(x: Any) -> tuple[Array, Callable[[Array], Any]]:
    # DLPack's 1 is host memory, 3 host memory pinned for CUDA.
    kind = int(x.__dlpack_device__()[0])
    if kind not in (1, 3):
        raise TypeError("this tensor is on a GPU; copy it to the host first, as in x.cpu()")
    # A PyTorch view may be a lazy negation of shared memory.
    x = getattr(x, "resolve_neg", lambda: x)()
    try:
        array = np.asarray(x) if kind == 3 else np.from_dlpack(x)
    except BufferError as error:
        # The type is missing in NumPy, or the tensor has a gradient.
        raise TypeError(f"this tensor of {getattr(x, 'dtype', 'this type')} is not supported: {error}") from error
    if hasattr(x, "__array_namespace__"):
        space = x.__array_namespace__()
    else:
        space = sys.modules.get(type(x).__module__.partition(".")[0])
    made = getattr(space, "from_dlpack", None)
    return array, _same if made is None else made


class _Keys:
    """The elements of a NumPy array as keys of the library: contiguous, aligned, in native byte order.

    NaT is the least 64-bit integer.  If NaT must be last in ascending order, or first in descending
    order, all keys are decreased by one, so that NaT wraps to the greatest key.
    """

    __slots__ = ("dtype", "keys", "shift")

    def __init__(self, array: Array, *, descending: bool, first: bool) -> None:
        dtype = array.dtype
        self.dtype = dtype
        self.shift = dtype.kind in "Mm" and descending == first
        array = np.require(array, dtype.newbyteorder("="), ["C", "A"])
        if dtype.kind in "Mm":
            self.keys = array.view(np.int64)
            if self.shift:
                self.keys = self.keys - 1
        elif dtype.kind == "b":
            self.keys = array.view(np.uint8)
        else:
            self.keys = array

    def elements(self, keys: Array) -> Array:
        """Converts keys back to elements."""
        if self.shift:
            keys += 1
        if self.dtype.kind in "Mmb":
            keys = keys.view(self.dtype.newbyteorder("="))
        return keys.astype(self.dtype, copy=False)


class _Axis:
    """An axis of a contiguous array: rows of ``row`` elements, with ``inner`` rows interleaved."""

    __slots__ = ("array", "inner", "is_turned", "number", "row")

    def __init__(self, array: Array, axis: int | None) -> None:
        self.is_turned = False
        if axis is None:
            array, axis = array.ravel(), 0
        number = operator.index(axis)
        if array.ndim == 0 or not -array.ndim <= number < array.ndim:
            raise np.exceptions.AxisError(number, array.ndim)
        number %= array.ndim
        if array.flags.f_contiguous and not array.flags.c_contiguous:
            # The transposed array has the same elements in C order.
            self.is_turned = True
            array, number = array.T, array.ndim - 1 - number
        self.array, self.number = array, number
        self.row = array.shape[number]
        self.inner = math.prod(array.shape[number + 1 :])

    def empty(self, dtype: Any, count: int) -> Array:
        """Returns an uninitialised array for ``count`` results of each row."""
        shape = list(self.array.shape)
        shape[self.number] = count
        return np.empty(shape, dtype)

    def back(self, result: Array) -> Array:
        return result.T if self.is_turned else result


def _into(result: Array, out: Array | None) -> Array:
    if out is None:
        return result
    if not isinstance(out, np.ndarray):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"out is an array of NumPy, not {type(out).__name__}")
    if out.shape != result.shape:
        raise ValueError(f"out has the shape {out.shape}, the result {result.shape}")
    if out.dtype != result.dtype:
        raise TypeError(f"out is of {out.dtype}, the result of {result.dtype}")
    out[...] = result
    return out


def _is_plain(x: Array) -> bool:
    """Returns True if the elements in memory are keys without conversion."""
    flags = x.flags
    return x.dtype.char in _PLAIN and x.dtype.isnative and flags.c_contiguous and flags.aligned


def _known(kind: Kind | None) -> None:
    if kind not in (None, *get_args(Kind)):
        raise ValueError(f"kind is quicksort, mergesort, heapsort or stable, not {kind!r}")


def _one_dimension(axis: int | None) -> None:
    if axis is not None and operator.index(axis) not in (-1, 0):
        raise np.exceptions.AxisError(axis, 1)


def _is_simple(x: Any, axis: int | None, nulls: str, device: object) -> bool:
    """Returns True for plain arguments: checking all options would take longer than sorting few elements."""
    return (
        type(x) is np.ndarray
        and x.ndim == 1
        and (axis == -1 or axis == 0)
        and nulls == "last"
        and device == "auto"
        and _is_plain(x)
    )


class _Options(TypedDict, total=False):
    """The options common to the functions on arrays."""

    descending: bool
    nulls: Nulls
    device: str | int | KeptDevice
    threads: int | None


class _Numpys(_Options, total=False):
    stable: bool
    kind: Kind | None


class _Firsts(_Options, total=False):
    axis: int | None
    sorted: bool


@overload
def sort(
    x: np.ndarray[Any, D], /, axis: int | None = -1, *, out: Array | None = None, **options: Unpack[_Numpys]
) -> np.ndarray[Any, D]: ...
@overload
def sort(
    x: Sequence[Any], /, axis: int | None = -1, *, out: Array | None = None, **options: Unpack[_Numpys]
) -> Array: ...
@overload
def sort(x: X, /, axis: int | None = -1, *, out: None = None, **options: Unpack[_Numpys]) -> X: ...
def sort(
    x: Any,
    /,
    axis: int | None = -1,
    *,
    descending: bool = False,
    stable: bool = True,
    kind: Kind | None = None,
    nulls: Nulls = "last",
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
    out: Array | None = None,
) -> Any:
    """Returns a sorted copy of an array, with the shape of x.

    x
        A NumPy array, including strings, a sequence of numbers or strings, an Arrow array (pyarrow,
        Polars, pandas), or a tensor in host memory.  The result has the type of x, except that a
        sequence gives a NumPy array.  Arrays of strings must have one dimension.
    axis
        The axis to sort along; None sorts the flattened array.
    descending
        True for descending order.  NaN, NaT and nulls stay at the end that ``nulls`` names.
    stable, kind
        Accepted for compatibility with NumPy; every sort is stable.
    nulls
        The place of NaN, NaT and Arrow's nulls in both directions: "last" or "first".
    device
        "auto" uses a GPU only if the GPU is expected to finish first; otherwise "cpu", "gpu", the
        number or a part of the name of a GPU, or a :class:`Sorter`.
    threads
        The maximum number of cores; by default, all cores available to the process.
    out
        An array for the result, with the shape and type of the result; ``out=x`` sorts in place.

    Raises TypeError for unsupported types, and ValueError or AxisError for other invalid arguments.

    >>> sort([3.0, float("nan"), -1.0], descending=True)
    array([ 3., -1., nan])
    """
    _known(kind)
    if _is_simple(x, axis, nulls, device) and out is None:
        result = np.empty(x.size, x.dtype)
        _gpusort.sort(x, result, x.size, 1, descending, False, None, threads)
        return result
    x = _as_strings(x, axis)
    if is_strings(x):
        positions, _ = _positions(x, None, axis, descending, nulls, device, threads)
        return _into(x.take(positions), out)
    first, chosen = nulls_first(nulls), device_of(device)
    if is_arrow(x) or is_pandas(x):
        if out is not None:
            raise TypeError("an array of Arrow or pandas is not sorted into another one; leave out out=")
        _one_dimension(axis)
        if is_pandas(x):
            options: dict[str, Any] = {"descending": descending, "nulls": nulls}
            return x.take(argsort(x, device=device, threads=threads, **options))
        array = _gpusort.ArrowArray(readable(x))
        return _arrow_back(x, array.sort(descending, first, chosen, threads))
    given = _Input(x)
    rows = _Axis(given.array, axis)
    if out is x and rows.inner == 1 and axis is not None and _is_plain(rows.array) and not rows.is_turned:
        _gpusort.sort(x, x, rows.row, 1, descending, first, chosen, threads)
        return x
    keys = _Keys(rows.array, descending=descending, first=first)
    result = rows.empty(keys.keys.dtype, rows.row)
    _gpusort.sort(keys.keys, result, rows.row, rows.inner, descending, first, chosen, threads)
    return given.back(_into(rows.back(keys.elements(result)), out))


@overload
def argsort(
    x: Array | Sequence[Any],
    /,
    axis: int | None = -1,
    *,
    out: NDArray[np.int64] | None = None,
    **options: Unpack[_Numpys],
) -> NDArray[np.int64]: ...
@overload
def argsort(
    x: Any, /, axis: int | None = -1, *, out: NDArray[np.int64] | None = None, **options: Unpack[_Numpys]
) -> Any: ...
def argsort(
    x: Any,
    /,
    axis: int | None = -1,
    *,
    descending: bool = False,
    stable: bool = True,
    kind: Kind | None = None,
    nulls: Nulls = "last",
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
    out: NDArray[np.int64] | None = None,
) -> Any:
    """Returns the positions of the elements in sorted order, as int64; equal elements keep their order.

    The result has the shape of x.  For an Arrow array the result is a NumPy array.  The arguments are
    those of :func:`sort`.

    >>> argsort([30, 10, 20, 10])
    array([1, 3, 2, 0])
    """
    _known(kind)
    if _is_simple(x, axis, nulls, device) and out is None:
        positions = np.empty(x.size, np.int64)
        _gpusort.argtop(x, positions, x.size, 1, x.size, descending, False, None, threads)
        return positions
    positions, back = _positions(x, None, axis, descending, nulls, device, threads)
    return back(_into(positions, out))


def _positions(
    x: Any,
    k: int | None,
    axis: int | None,
    descending: bool,
    nulls: Nulls,
    device: str | int | KeptDevice,
    threads: int | None,
) -> tuple[Array, Callable[[Array], Any]]:
    """Returns the positions of the first k or all elements, and a function to convert them to the type of x."""
    first, chosen, x = nulls_first(nulls), device_of(device), without_index(_as_strings(x, axis))
    if is_arrow(x):
        _one_dimension(axis)
        array = _gpusort.ArrowArray(x)
        return _lexsorted([array], [descending], [first], chosen, threads, k), _same
    given = _Input(x)
    rows = _Axis(given.array, axis)
    count = _count(k, rows.row)
    keys = _Keys(rows.array, descending=descending, first=first).keys
    positions = rows.empty(np.int64, count)
    _gpusort.argtop(keys, positions, rows.row, rows.inner, count, descending, first, chosen, threads)
    return rows.back(positions), given.back


def _count(k: int | None, length: int) -> int:
    if k is None:
        return length
    number = operator.index(k)
    if number < 0:
        raise ValueError(f"k is {number}; it cannot be negative")
    return min(number, length)


@overload
def top(x: np.ndarray[Any, D], /, k: int, **options: Unpack[_Firsts]) -> np.ndarray[Any, D]: ...
@overload
def top(x: Sequence[Any], /, k: int, **options: Unpack[_Firsts]) -> Array: ...
@overload
def top(x: X, /, k: int, **options: Unpack[_Firsts]) -> X: ...
def top(
    x: Any,
    /,
    k: int,
    *,
    axis: int | None = -1,
    descending: bool = False,
    sorted: bool = True,
    nulls: Nulls = "last",
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
) -> Any:
    """Returns the first min(k, n) of n elements along the axis, in order.

    ``top(x, k)`` equals ``sort(x)[:k]``; with ``descending=True`` it has the k largest elements.  Only texts
    are sorted completely.  ``sorted`` is accepted for compatibility with PyTorch: the result is always in
    order.  The other arguments are those of :func:`sort`.  Raises ValueError for negative k.

    >>> top([5, -3, 8, -3], 3)
    array([-3, -3,  5])
    """
    x = _as_strings(x, axis)
    if is_pandas(x) or is_strings(x):
        positions, _ = _positions(x, operator.index(k), axis, descending, nulls, device, threads)
        return x.take(positions)
    first, chosen = nulls_first(nulls), device_of(device)
    if is_arrow(x):
        _one_dimension(axis)
        array = _gpusort.ArrowArray(readable(x))
        positions = _lexsorted([array], [descending], [first], chosen, threads, k)
        return _arrow_back(x, array.take(positions))
    given = _Input(x)
    rows = _Axis(given.array, axis)
    count = _count(k, rows.row)
    keys = _Keys(rows.array, descending=descending, first=first)
    best = rows.empty(keys.keys.dtype, count)
    _gpusort.top(keys.keys, best, rows.row, rows.inner, count, descending, first, chosen, threads)
    return given.back(rows.back(keys.elements(best)))


@overload
def argtop(x: Array | Sequence[Any], /, k: int, **options: Unpack[_Firsts]) -> NDArray[np.int64]: ...
@overload
def argtop(x: Any, /, k: int, **options: Unpack[_Firsts]) -> Any: ...
def argtop(
    x: Any,
    /,
    k: int,
    *,
    axis: int | None = -1,
    descending: bool = False,
    sorted: bool = True,
    nulls: Nulls = "last",
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
) -> Any:
    """Returns the positions of the first min(k, n) of n elements, as int64; equal elements keep their order.

    The arguments are those of :func:`top`.

    >>> argtop([5, -3, 8, -3], 3)
    array([1, 3, 0])
    """
    positions, back = _positions(x, operator.index(k), axis, descending, nulls, device, threads)
    return back(positions)


def _lexsorted(
    keys: list[Any],
    descending: list[bool],
    first: list[bool],
    device: _gpusort.Device | None,
    threads: int | None,
    k: int | None = None,
) -> NDArray[np.int64]:
    """Returns the positions of the first k or all rows in the order of the library's keys."""
    positions = np.empty(_count(k, len(keys[0])), np.int64)
    _gpusort.lexsort(keys, positions, descending, first, device, threads)
    return positions


def lexsort(
    keys: Sequence[Any],
    /,
    *,
    descending: bool | Sequence[bool] = False,
    nulls: Nulls | Sequence[Nulls] = "last",
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
) -> NDArray[np.int64]:
    """Returns the positions of rows in the order of several keys, as int64; equal rows keep their order.

    keys
        One-dimensional arrays of equal length: NumPy or Arrow arrays, or sequences of numbers or
        strings.  **The first key is the primary one**, unlike in :func:`numpy.lexsort`.
    descending, nulls
        One value for all keys, or a value for each key.

    Raises ValueError without keys, and for keys of different lengths or several dimensions.

    >>> lexsort([[2, 1, 2, 1], [5.0, 7.0, 4.0, 6.0]], descending=[False, True])
    array([1, 3, 0, 2])
    """
    all_keys: list[Any] = list(keys)
    if hasattr(keys, "columns") and is_pandas(keys):
        all_keys = [keys[name] for name in all_keys]
    if not all_keys:
        raise ValueError("no keys to sort by")
    count = len(all_keys)
    directions = each(descending, count, "descending")
    first = [nulls_first(value) for value in each(nulls, count, "nulls")]
    return sorted_rows(all_keys, directions, first, device_of(device), threads)


def sorted_rows(
    keys: list[Any],
    descending: list[bool],
    first: list[bool],
    device: _gpusort.Device | None,
    threads: int | None,
    most: int | None = None,
) -> NDArray[np.int64]:
    """Returns the positions of all rows, or of the first ``most`` rows, in the order of several keys."""
    known = [
        _key(key, descending=directed, first=at_first)
        for key, directed, at_first in zip(keys, descending, first, strict=True)
    ]
    lengths = {len(key) for key in known}
    if len(lengths) > 1:
        raise ValueError(f"keys are of different lengths: {', '.join(map(str, sorted(lengths)))}")
    return _lexsorted(known, descending, first, device, threads, most)


def _key(key: Any, *, descending: bool, first: bool) -> Any:
    key = without_index(_as_strings(key))
    if is_arrow(key):
        return _gpusort.ArrowArray(key)
    array = _Input(key).array
    if array.ndim != 1:
        raise ValueError(f"a key has {array.ndim} dimensions; keys have one")
    return _Keys(array, descending=descending, first=first).keys


def is_sorted(
    x: Any,
    /,
    *,
    axis: int | None = -1,
    descending: bool = False,
    nulls: Nulls = "last",
    threads: int | None = None,
) -> bool:
    """Returns True if every row along the axis is in the order of :func:`sort`.  Reads the elements once.

    >>> is_sorted([1, 2, 2]), is_sorted([1, 2, 2], descending=True)
    (True, False)
    """
    first, x = nulls_first(nulls), without_index(_as_strings(x, axis))
    if is_arrow(x):
        _one_dimension(axis)
        return _gpusort.ArrowArray(x).is_sorted(descending, first, threads)
    rows = _Axis(_Input(x).array, axis)
    array = np.moveaxis(rows.array, rows.number, -1)
    keys = _Keys(array, descending=descending, first=first).keys
    return _gpusort.is_sorted(keys, rows.row, descending, first, threads)


def _canonical(array: Array) -> Array:
    """Replaces all NaN by one NaN, and both zeros by +0, as NumPy considers them equal."""
    if array.dtype.kind != "f":
        return array
    array = array.copy()
    array[array == 0] = 0
    array[np.isnan(array)] = np.nan
    return array


def _differences(keys: Array) -> NDArray[np.bool_]:
    """Returns a mask of the sorted elements that differ from the element before."""
    differs = np.empty(keys.size, np.bool_)
    differs[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=differs[1:])
    if keys.dtype.kind == "f":
        nan = np.isnan(keys)
        differs[1:] &= ~(nan[1:] & nan[:-1])
    elif keys.dtype.kind in "Mm":
        nat = np.isnat(keys)
        differs[1:] &= ~(nat[1:] & nat[:-1])
    return differs


def unique(
    x: Any,
    /,
    *,
    descending: bool = False,
    nulls: Nulls = "last",
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
) -> Any:
    """Returns the unique elements in order, each as it first occurs, like :func:`numpy.unique`.

    Zeros of both signs are equal, and so are all NaN, all NaT, and all nulls.  With any of the following
    arguments, the result is a tuple of the unique elements and these int64 arrays, in this order:

    return_index
        The position of the first occurrence of each unique element, in the flattened x.
    return_inverse
        The index of each element of x among the unique elements, with the shape of x.
    return_counts
        The number of occurrences of each unique element.

    >>> unique([3, 1, 3], return_counts=True)
    (array([1, 3]), array([1, 2]))
    """
    options: dict[str, Any] = {"descending": descending, "nulls": nulls, "device": device, "threads": threads}
    keys: Array
    series = _as_strings(x, None)
    # Strings keep their shape for the inverse.
    shape: tuple[int, ...] | None = np.shape(x) if is_strings(series) else None
    x = without_index(series)
    if is_arrow(x):
        array = _gpusort.ArrowArray(x)
        # Ranks already include the direction and the place of nulls.
        keys, options = _ranks(array, descending, nulls, threads), {"device": device, "threads": threads}
        shape = keys.shape if shape is None else shape

        def taken(index: Array) -> Any:
            return _arrow_back(series, array.take(index))
    else:
        given = _Input(x)
        flat = given.array.ravel()
        keys, shape = _canonical(flat), given.array.shape
        # Equal elements may have different bits; the first occurrence counts.
        is_canonical = keys.tobytes() == flat.tobytes() if flat.dtype.kind == "f" else True
        if is_canonical and not (return_index or return_inverse or is_pandas(series)):
            values: Array = sort(keys, **options)
            first = np.flatnonzero(_differences(values))
            result: Any = given.back(values[first])
            return (result, np.diff(first, append=values.size)) if return_counts else result

        def taken(index: Array) -> Any:
            return given.back(flat[index])

    positions: NDArray[np.int64] = argsort(keys, **options)
    differs = _differences(keys[positions])
    first = np.flatnonzero(differs)
    index = positions[first]
    is_taken = is_pandas(series) or is_strings(series)
    results: list[Any] = [series.take(index) if is_taken else taken(index)]
    if return_index:
        results.append(index)
    if return_inverse:
        inverse = np.empty(positions.size, np.int64)
        inverse[positions] = np.cumsum(differs) - 1
        results.append(inverse.reshape(shape))
    if return_counts:
        results.append(np.diff(first, append=positions.size))
    return results[0] if len(results) == 1 else tuple(results)


def rank(
    x: Any,
    /,
    *,
    method: Method = "average",
    descending: bool = False,
    nulls: Nulls = "last",
    device: str | int | KeptDevice = "auto",
    threads: int | None = None,
) -> Any:
    """Returns the rank of each element, counted from 1, in an array with the shape of x.

    method
        The rank of equal elements: the "average" of their ranks, as float64; or as int64 the "min" or
        "max" of their ranks; "dense", equal ranks without gaps; or "ordinal", different ranks in the order
        of the input.

    The other arguments are those of :func:`sort`.  Raises ValueError for an unknown method.

    >>> rank([30, 10, 20, 10])
    array([4. , 1.5, 3. , 1.5])
    >>> rank([30, 10, 20, 10], method="dense")
    array([3, 1, 2, 1])
    """
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ValueError(f"method is average, min, max, dense or ordinal, not {method!r}")
    keys: Array
    back: Callable[[Array], Any] = _same
    positions: NDArray[np.int64]
    strings = _as_strings(x, None)
    shape: tuple[int, ...] | None = np.shape(x) if is_strings(strings) else None
    x = without_index(strings)
    if is_arrow(x):
        keys = _ranks(_gpusort.ArrowArray(x), descending, nulls, threads)
        positions = argsort(keys, device=device, threads=threads)
        shape = keys.shape if shape is None else shape
    else:
        given = _Input(x)
        keys, shape, back = _canonical(given.array.ravel()), given.array.shape, given.back
        positions = argsort(keys, descending=descending, nulls=nulls, device=device, threads=threads)
    dtype: Any = np.float64 if method == "average" else np.int64
    ranks: Array = np.empty(positions.size, dtype)
    result: Array = ranks.reshape(shape)
    if method == "ordinal":
        ranks[positions] = np.arange(1, positions.size + 1)
        return back(result)
    differs = _differences(keys[positions])
    group = np.cumsum(differs)
    if method == "dense":
        ranks[positions] = group
        return back(result)
    begins = np.flatnonzero(differs)
    ends = np.append(begins[1:], positions.size)
    of_group: Array = {"min": begins + 1, "max": ends, "average": (begins + 1 + ends) / 2}[method]
    ranks[positions] = of_group[group - 1]
    return back(result)


def _ranks(
    array: _gpusort.ArrowArray, descending: bool, nulls: Nulls, threads: int | None
) -> NDArray[np.int64]:
    """Returns the rank of each element among the unique elements, from 0, as int64."""
    ranks = np.empty(len(array), np.int64)
    array.ranks(ranks, descending, nulls_first(nulls), threads)
    return ranks


def _arrow_back(x: Any, result: _gpusort.ArrowArray) -> Any:
    """Converts a result to the array type of the library of x."""
    name = library(x)
    module: Any = sys.modules.get(name)
    if name == "pyarrow":
        array = module.array(result)
        return module.chunked_array([array]) if isinstance(x, module.ChunkedArray) else array
    if name == "polars":
        return module.Series(x.name, module.Series(result)).cast(x.dtype)
    return result
