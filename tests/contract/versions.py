"""Versions of section 4, kind 3, in the order of `sort -V`."""

import re

from undecided import mark

VERSION = re.compile(rb"v?([0-9]+(?:\.[0-9]+)*)(?:[-+~/:].*)?", re.S)


def points_of_version(text: bytes) -> int | None:
    """Give the number of points of a version, or None where the field is none.

    A version is `v` or nothing, numbers with points, then anything behind `-`, `+`, `~`, `/` or `:` (section 4, kind 3).
    """
    match = VERSION.fullmatch(text)
    return match[1].count(b".") if match else None


def is_digit(text: bytes, at: int) -> bool:
    return at < len(text) and 48 <= text[at] <= 57


def is_letter(byte: int) -> bool:
    return 65 <= byte <= 90 or 97 <= byte <= 122


def rank(text: bytes, at: int) -> int:
    """Rank one byte as `sort -V` does: `~`, the end, digits, letters, then all others."""
    if at == len(text):
        return -1
    byte = text[at]
    if is_digit(text, at):
        return 0
    if is_letter(byte):
        return byte
    return -2 if byte == 126 else byte + 256


def compare_runs(a: bytes, b: bytes) -> int:
    """Compare runs of bytes that are no digits, then runs of digits by value, in turn."""
    i = j = 0
    while i < len(a) or j < len(b):
        while (i < len(a) and not is_digit(a, i)) or (j < len(b) and not is_digit(b, j)):
            left, right = rank(a, i), rank(b, j)
            if left != right:
                return left - right
            i, j = i + 1, j + 1
        first = i
        while is_digit(a, i):
            i += 1
        second = j
        while is_digit(b, j):
            j += 1
        left, right = int(a[first:i] or b"0"), int(b[second:j] or b"0")
        if left != right:
            return -1 if left < right else 1
    return 0


SUFFIX = re.compile(rb"(?:\.[A-Za-z~][A-Za-z0-9~]*)+\Z")


def without_suffix(text: bytes) -> bytes:
    """Cut the suffix of a file's name, such as `.tar.gz`; at least one byte stays."""
    match = SUFFIX.search(text, 1)
    return text[: match.start()] if match else text


def compare(a: bytes, b: bytes) -> int:
    """Compare two texts as `sort -V` does (section 4: "ordered as by `sort -V`")."""
    if not a or not b:
        return bool(a) - bool(b)
    if a.startswith(b".") and b.startswith(b"."):
        mark("versions-that-begin-with-a-point")
    special = compare_dots(a, b)
    if special is not None:
        return special
    return compare_runs(without_suffix(a), without_suffix(b)) or compare_runs(a, b)


def compare_dots(a: bytes, b: bytes) -> int | None:
    """Order `.`, then `..`, then names that begin with a point, then others; None where that does not decide."""
    def group(text: bytes) -> int:
        return 0 if text == b"." else 1 if text == b".." else 2 if text.startswith(b".") else 3

    left, right = group(a), group(b)
    if left != right:
        return left - right
    return 0 if left < 2 else None
