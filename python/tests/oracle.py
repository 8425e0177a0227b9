"""What is right, said without the library: Python's own stable sort, and elements compared as what they are."""

import functools
import math
import os

import numpy as np

# How many cases of each kind; the whole of them is for a release.
CASES = int(os.environ.get("GPUSORT_CASES", "2000"))


def is_null(element):
    return bool(np.isnat(element)) if element.dtype.kind in "Mm" else bool(element != element)


def _bits(element):
    return int(np.asarray(element).view(f"u{element.dtype.itemsize}"))


def compare(a, b, descending, first):
    """The documented order of two elements of NumPy."""
    null_a, null_b = is_null(a), is_null(b)
    if null_a != null_b:
        return (1 if null_a else -1) * (-1 if first else 1)
    if null_a:
        if a.dtype.kind != "f":
            return 0
        # Positive NaN by rising bits, then negative ones by falling bits.
        sign = 1 << (8 * a.dtype.itemsize - 1)
        keys = [(0, bits) if bits < sign else (1, -bits) for bits in (_bits(a), _bits(b))]
        return (keys[0] > keys[1]) - (keys[0] < keys[1])
    if a == b:
        order = math.copysign(1, a) - math.copysign(1, b) if a.dtype.kind == "f" and a == 0 else 0
    else:
        order = 1 if a > b else -1
    return -order if descending else order


def positions(row, descending=False, nulls="last"):
    key = functools.cmp_to_key(lambda a, b: compare(row[a], row[b], descending, nulls == "first"))
    return np.array(sorted(range(len(row)), key=key), np.int64)


def along(array, axis, of_row):
    """What `of_row` makes of each row of an axis."""
    if axis is None:
        return of_row(array.ravel())
    moved = np.moveaxis(array, axis, -1)
    rows = [of_row(moved[index]) for index in np.ndindex(moved.shape[:-1])]
    if not rows:
        return None
    return np.moveaxis(np.array(rows).reshape(*moved.shape[:-1], len(rows[0])), -1, axis)


def same(a, b):
    """Whether arrays are the same bit by bit."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


NUMBERS = ["u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8", "?"]
TIMES = ["M8[D]", "M8[ns]", "m8[s]", "m8[us]"]


def elements(random, dtype, count):
    """Elements of this type: few, many, extreme, and nulls."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, count).astype("?")
    words = random.integers(0, 1 << 64, count, dtype=np.uint64)
    shape = random.integers(0, 4)
    if shape == 1:
        words = words % 7
    elif shape == 2:
        words = words * (words % 2) - words % 3
    array = words.astype(f"u{dtype.itemsize}").view(dtype.newbyteorder("=") if dtype.kind != "b" else dtype).copy()
    if shape == 3 and dtype.kind == "f":
        few = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.5], dtype)
        array = few[words % 7]
    if shape in (1, 3) and dtype.kind in "Mm":
        array[words % 5 == 0] = "NaT"
    return array
