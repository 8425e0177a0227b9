"""What gpusort must print for a table or an array, worked out without any of its code.

The order is found twice, by pandas or numpy and by Python's sorted(); the two must agree.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key
from itertools import zip_longest
from math import copysign, inf, isinf
from typing import NamedTuple

import numpy as np
import pandas as pd

BOM = b"\xef\xbb\xbf"
RANGES = {
    "u32": (0, 2**32 - 1),
    "i32": (-(2**31), 2**31 - 1),
    "u64": (0, 2**64 - 1),
    "i64": (-(2**63), 2**63 - 1),
}


@dataclass
class Options:
    """The options that decide what comes out."""

    keys: list[str] = field(default_factory=list)
    reverse: bool = False
    unique: bool = False
    top: int | None = None
    argsort: bool = False
    nan: str = "last"
    empty: str = "last"
    invalid: str = "error"
    type: str = "auto"
    header: bool = True
    to_text: bool = False
    lines: bool = False
    leading: bool = False
    zero: bool = False  # NUL ends lines
    text: bool = False  # tokens, each a record
    plain: bool = False  # text or lines, as the first line decides
    single: bool = False  # text of one token a line
    above: int = 0  # lines of the header before the one with the names
    comments: bool = False
    empty_said: bool = False
    invalid_said: bool = False
    numeric: bool = False  # -n
    versions: bool = False  # -V, beside the type
    sizes: bool = False  # -h, beside the type
    fold: bool = False  # -f
    na: list[str] = field(default_factory=list)
    decimal: str = ""
    thousands: str = ""

    @property
    def says_numbers(self) -> bool:
        """Whether keys of no kind are numbers or times, as something says, and never text."""
        invalid = self.invalid_said or self.invalid != "error"
        return self.text or self.leading or self.numeric or invalid or self.nan == "error"


@dataclass
class Case:
    """Files, how gpusort is called, and what the call means."""

    files: list[tuple[str, bytes]]
    args: list[str]
    options: Options
    delimiter: bytes = b","  # empty for blanks
    dtype: str = ""  # numpy's name of an array's type; empty for tables
    stdin: bool = False  # the only file is given on standard input
    packed: dict[str, bytes] = field(default_factory=dict)  # what is in files that are compressed

    @property
    def is_npy(self) -> bool:
        return re.search(r"\.npy(\.gz|\.zst)?$", self.files[0][0], re.IGNORECASE) is not None

    @property
    def is_table(self) -> bool:
        return not self.dtype


@dataclass
class Expected:
    """An exit code and standard output; for an error, expressions of which one matches stderr."""

    code: int
    stdout: bytes = b""
    stderr: list[str] = field(default_factory=list)
    count: int = 0  # records that come out
    in_order: bool = False  # whether they were in order already
    why: str = ""  # the kinds of errors there are


class Undecided(Exception):
    """The rules do not say what comes out; such a case is not used."""


class Row(NamedTuple):
    """A record: its bytes without and with only its line end, its fields, its place."""

    raw: bytes
    end: bytes
    fields: list[bytes]
    file: int
    line: int


# ---- rows -------------------------------------------------------------------------------------


def split(data: bytes, delimiter: bytes, file: int = 0) -> tuple[list[Row], list[int]]:
    """Rows of a file without BOM, and for a quote never closed the lines that an error may name."""
    plain = rb"[^\n" + re.escape(delimiter) + rb"]*"
    # Possessive, as `"a""` must not be read again as a closed field and a quote.
    one_field = re.compile(rb'"((?:[^"]++|"")*+)"(' + plain + rb')|(?!")(' + plain + rb")")
    rows = []
    at, line = 0, 1
    while at < len(data):
        start = at
        fields = []
        while True:
            found = one_field.match(data, at)
            if found is None:
                return rows, [line, line + data.count(b"\n", start, at)]
            quoted, tail, literal = found.groups()
            fields.append(literal if quoted is None else quoted.replace(b'""', b'"') + tail)
            at = found.end()
            if data[at : at + 1] != delimiter:
                break
            at += 1
        raw, end = data[start:at], data[at : at + 1]
        if end and raw.endswith(b"\r"):
            raw, end = raw[:-1], b"\r\n"
            fields[-1] = fields[-1][:-1]
        rows.append(Row(raw, end, fields, file, line))
        line += raw.count(b"\n") + 1
        at += 1
    return rows, []


WORD = re.compile(
    rb"[0-9]{4}-[0-9]{2}-[0-9]{2}[ \t]"
    rb"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})?(?![^ \t])"
    rb"|\[[^\] \t]*[ \t][^\[\] \t]*\](?![^ \t])"
    rb"|[^ \t]+"
)


WORD_OR_LF = re.compile(WORD.pattern.replace(rb"[^ \t]", rb"[^ \t\n]").replace(rb"\] \t]", rb"\] \t\n]"))


def split_lines(data: bytes, delimiter: bytes, file: int = 0, zero: bool = False) -> list[Row]:
    """Lines of a file without BOM, and their fields: words, or what is between delimiters."""
    if zero:
        *lines, last = data.split(b"\0")
        ended = [(raw, b"\0") for raw in lines] + [(last, b"")] * bool(last)
        words = [raw.split(delimiter) if delimiter else WORD_OR_LF.findall(raw) for raw, _ in ended]
        return [Row(*line, fields, file, number) for number, (line, fields) in enumerate(zip(ended, words), 1)]
    *lines, last = data.split(b"\n")
    ended = [(raw, b"\n") for raw in lines] + [(last, b"")] * bool(last)
    rows = []
    for line, (raw, end) in enumerate(ended, 1):
        if end and raw.endswith(b"\r"):
            raw, end = raw[:-1], b"\r\n"
        fields = raw.split(delimiter) if delimiter else WORD.findall(raw)
        rows.append(Row(raw, end, fields, file, line))
    return rows


def lines_of_text(data: bytes) -> list[bytes]:
    """Lines of a file without BOM: CR alone ends one, too; comments, which begin with #, are blank."""
    return [b"" if raw.startswith(b"#") else raw for raw in re.split(rb"\r\n|\r|\n", data)]


def split_text(data: bytes, file: int = 0) -> list[Row]:
    """Tokens of a file without BOM."""
    rows = []
    for line, raw in enumerate(lines_of_text(data), 1):
        rows += [Row(word, b"\n", [word], file, line) for word in raw.split()]
    return rows


def decided(case: Case) -> Case:
    """The same with what the first record line says of what is text or lines."""
    o = case.options
    if not o.plain:
        return case
    records = [raw.split() for _, data in case.files for raw in lines_of_text(data.removeprefix(BOM))]
    records = [words for words in records if words]
    if not records:
        return case
    if len(records[0]) == 1 and NUMBER.fullmatch(records[0][0]):
        return replace(case, options=replace(o, single=True))
    if case.stdin and len(records) == 1 and all(NUMBER.fullmatch(word) for word in records[0]):
        return case
    return replace(case, options=replace(o, text=False, lines=True), delimiter=b"")


def cross_check_split(data: bytes, delimiter: bytes, rows: list[Row]) -> None:
    """Python's csv module must see the same fields; it takes a lone CR for a line end."""
    if b"\r" in data.replace(b"\r\n", b""):
        return
    text = io.StringIO(data.decode("latin-1"), newline="")
    theirs = [row or [""] for row in csv.reader(text, delimiter=delimiter.decode("latin-1"))]
    ours = [[cell.decode("latin-1") for cell in row.fields] for row in rows]
    assert ours == theirs, "the csv module splits this otherwise"


# ---- keys -------------------------------------------------------------------------------------

INTEGER, DECIMAL, TIME, NAN, EMPTY, INVALID = "integer", "decimal", "time", "nan", "empty", "invalid"
TEXT, DURATION = "text", "duration"
# A number in the usual spelling that the marks of numbers forbid.
MISSPELT = "misspelt"
NUMBER = re.compile(
    rb"(?P<integer>[+-]?[0-9]+)"
    rb"|(?P<decimal>[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity))"
    rb"|(?P<nan>[+-]?nan)",
    re.IGNORECASE,
)


LEADING = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)


TIMES = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[Tt \t](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}:\d{2})?)?", re.ASCII
)
SIZE = re.compile(LEADING.pattern + rb"(?P<unit>[KMGTPEZYRQ](?:iB?|B)?|B)?", re.IGNORECASE)


def read_time(text: str) -> tuple[int, int, bool] | None:
    """Nanoseconds from 1970, decimals, and whether there is a zone, by datetime; it has no year 0 and no second 60."""
    found = TIMES.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    fraction, zone = (found[7] or "").rstrip("0"), found[8]
    whole = second if second < 60 else 59
    try:
        # The Gregorian calendar repeats itself after 400 years.
        at = datetime(year + 400, month, day, hour, minute, whole)
        if zone and zone not in "zZ":
            if int(zone[1:3]) > 23:
                return None
            shift = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:]))
            if int(zone[4:]) > 59:
                return None
            at = at - shift if zone[0] == "+" else at + shift
    except (ValueError, OverflowError):
        return None if year < 9500 else read_late(text)
    if second > 60:
        return None
    seconds = (at - datetime(1970, 1, 1)) // timedelta(seconds=1) - 146097 * 86400 + (second - whole)
    return seconds * 10**9 + int(fraction.ljust(9, "0") or 0), len(fraction), zone is not None


def read_late(text: str) -> tuple[int, int, bool] | None:
    """Years that datetime has, but not 400 of them later."""
    early = read_time(f"{int(text[:4]) - 800:04}{text[4:]}")
    return None if early is None else (early[0] + 2 * 146097 * 86400 * 10**9, *early[1:])


def read_size(text: bytes, leading: bool) -> tuple[str, str] | None:
    """A size as an integer, as what is between two where f64 has no fractions, or as the nearest float."""
    found = SIZE.match(text) if leading else SIZE.fullmatch(text)
    if found is None:
        return None
    unit = (found["unit"] or b"").upper()
    number = found[0][: len(found[0]) - len(unit)].decode()
    power = " KMGTPEZYRQ".find(unit[:1].decode() or " ")
    base = 1000 if len(unit) == 2 and unit.endswith(b"B") and power > 0 else 1024
    value = Fraction(Decimal(number)) * base ** max(power, 0)
    if value == 0 and number.startswith("-"):
        return INTEGER, "-0"
    most = 2**127 - 2**102
    if value.denominator == 1 and (abs(value) <= most or not set(number) & set(".eE")):
        return INTEGER, str(value.numerator)
    if 2**52 <= abs(value) <= most:
        between = abs(value) < 2**100
        return DECIMAL, ("-" if value < 0 else "") + str(int(abs(value))) + "/" * between
    return DECIMAL, repr(float(value)) if abs(value) < 2**1024 - 2**970 else "1e999"


UNITS_OF_TIME = {
    "w week weeks": 7 * 86400 * 10**9,
    "d day days": 86400 * 10**9,
    "h hr hrs hour hours": 3600 * 10**9,
    "m min mins minute minutes": 60 * 10**9,
    "s sec secs second seconds": 10**9,
    "ms msec msecs": 10**6,
    "us usec usecs \u00b5s \u03bcs": 1000,
    "ns nsec nsecs": 1,
}
UNIT_OF_TIME = {name: length for names, length in UNITS_OF_TIME.items() for name in names.split()}
LONGEST = 2**84
CLOCK = re.compile(r"(?:(?P<d>\d+)-)?(?:(?P<h>\d+):)?(?P<m>\d+):(?P<s>[0-5]\d)(?:[.,](?P<f>\d+))?", re.ASCII)
ISO = re.compile(
    r"P(?:(?P<W>\d+(?:[.,]\d+)?)W)?(?:(?P<D>\d+(?:[.,]\d+)?)D)?"
    r"(?P<T>T(?:(?P<H>\d+(?:[.,]\d+)?)H)?(?:(?P<M>\d+(?:[.,]\d+)?)M)?(?:(?P<S>\d+(?:[.,]\d+)?)S)?)?",
    re.ASCII | re.IGNORECASE,
)


def read_duration(text: bytes) -> int | None:
    """Nanoseconds; None for what is no duration, or no whole number of them."""
    try:
        spelled = text.decode()
    except UnicodeDecodeError:
        return None
    sign, rest = ("-", spelled[1:]) if spelled.startswith("-") else ("+", spelled.removeprefix("+"))
    if rest[:1] in ("P", "p"):
        sum_of = iso_duration(rest)
    elif ":" in rest:
        sum_of = clock_duration(rest)
    else:
        sum_of = units_duration(rest)
    if sum_of is None or sum_of.denominator != 1 or sum_of > LONGEST:
        return None
    return -int(sum_of) if sign == "-" else int(sum_of)


def units_duration(rest: str) -> Fraction | None:
    """Numbers and units, from large to small; or seconds alone."""
    parts = re.findall(r"((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[ \t]*([^0-9.+ \t-]*)[ \t]*", rest, re.ASCII)
    if re.sub(r"[ \t]", "", rest) != "".join(number + unit for number, unit in parts) or not parts:
        return None
    if rest[:1] in (" ", "\t"):
        return None
    if len(parts) == 1 and not parts[0][1]:
        return Fraction(Decimal(parts[0][0])) * 10**9 if rest.strip() == parts[0][0] else None
    units = [None if unit == "M" else UNIT_OF_TIME.get(lowered(unit)) for _, unit in parts]
    known = [unit for unit in units if unit is not None]
    if len(known) < len(units) or known != sorted(set(known), reverse=True):
        return None
    if not all(number.isdigit() for number, _ in parts[:-1]):
        return None
    return sum((Fraction(Decimal(number)) * unit for (number, _), unit in zip(parts, known)), Fraction(0))


def lowered(text: str) -> str:
    """Small letters of ASCII for capital ones."""
    return text.encode().lower().decode()


def clock_duration(rest: str) -> Fraction | None:
    found = CLOCK.fullmatch(rest)
    if found is None or found["d"] and (not found["h"] or len(found["h"]) > 2 or int(found["h"]) > 23):
        return None
    if found["h"] and (len(found["m"]) != 2 or int(found["m"]) > 59):
        return None
    days, hours, minutes, seconds = (int(found[part] or 0) for part in "dhms")
    fraction = Fraction(int(found["f"] or 0), 10 ** len(found["f"] or ""))
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds + fraction) * 10**9


def iso_duration(rest: str) -> Fraction | None:
    found = ISO.fullmatch(rest)
    if found is None or not found[0][1:] or found["T"] and len(found["T"]) == 1:
        return None
    lengths = {"W": 7 * 86400, "D": 86400, "H": 3600, "M": 60, "S": 1}
    given = [(found[unit].replace(",", "."), length) for unit, length in lengths.items() if found[unit]]
    if any("." in number for number, _ in given[:-1]):
        return None
    return sum((Fraction(Decimal(number)) * length for number, length in given), Fraction(0)) * 10**9


def split_version(name: bytes) -> list[tuple[list[int], int]]:
    """Words, as what their characters weigh, and the numbers after them, by turns."""
    parts = re.findall(rb"([^0-9]*)([0-9]*)", name)
    weigh = {0x7E: -1}
    words = [[weigh.get(c, c if chr(c).isascii() and chr(c).isalpha() else c + 256) for c in word] for word, _ in parts]
    return [(word, int(digits or 0)) for word, (_, digits) in zip(words, parts)]


def compare_versions(a: bytes, b: bytes) -> int:
    """The order of `sort -V`, by its manual."""

    def first_rank(name: bytes) -> int:
        return {b"": 0, b".": 1, b"..": 2}.get(name, 3 if name.startswith(b".") else 4)

    def compare_parts(a: bytes, b: bytes) -> int:
        for (word, number), (other, second) in zip_longest(split_version(a), split_version(b), fillvalue=([], 0)):
            for here, there in zip_longest(word, other, fillvalue=0):
                if here != there:
                    return here - there
            if number != second:
                return -1 if number < second else 1
        return 0

    if a == b or first_rank(a) != first_rank(b):
        return first_rank(a) - first_rank(b)
    ending = re.compile(rb"(\.[A-Za-z~][A-Za-z0-9~]*)*\Z")
    before = [ending.sub(b"", name, count=1) for name in (a, b)]
    return compare_parts(*before) or compare_parts(a, b)


def plainly(value: bytes, o: Options) -> bytes | None:
    """A field with the number that it begins with in the usual spelling; None if it must not have that here."""
    if not o.decimal and not o.thousands:
        return value
    decimal, thousands = (o.decimal or ".").encode(), o.thousands.encode()
    found = re.match(rb"([+-]?)([0-9]+(?:%s[0-9]+)*|)" % (re.escape(thousands) or rb"(?!)"), value)
    assert found
    sign, whole = found.groups()
    groups = whole.split(thousands) if thousands else [whole]
    if len(groups) > 1:
        middle = {len(group) for group in groups[1:-1]} or {3}
        if len(groups[-1]) != 3 or middle not in ({2}, {3}) or len(groups[0]) > max(middle):
            return None
    rest = value[found.end() :]
    if rest.startswith(decimal):
        rest = b"." + rest[len(decimal) :]
    elif rest.startswith(b"."):
        return None
    return sign + b"".join(groups) + rest


def stripped(cell: bytes, o: Options) -> bytes:
    return cell.strip(b" \t\n\r\f") if o.zero else cell.strip(b" \t")


def classify(cell: bytes, plan: "Plan", o: Options) -> tuple[str, str | bytes | int]:
    """What a key field is, and its text if it is a number or a time, or what is compared of it."""
    na = [word.encode() for word in o.na]
    if plan.kind in ("text", "version"):
        text = cell.lstrip(b" \t\n" if o.zero else b" \t") if plan.of_sort else cell
        if not text or text in na:
            return EMPTY, ""
        return TEXT, text.upper() if plan.fold else text
    value = stripped(cell, o)
    if not value or value in na:
        return EMPTY, ""
    if plan.kind == "hex":
        digits = re.fullmatch(rb"(?:0[xX])?([0-9A-Fa-f]+)", value)
        return (TEXT, int(digits[1], 16)) if digits else (INVALID, "")
    spelled = plainly(value, o)
    if spelled is None:
        # Words may have marks of numbers in them, and what is a number but for these is none.
        marks = re.escape((o.decimal or ".") + (o.thousands or ""))
        is_number = re.fullmatch(rf"[-+.eE0-9{marks}]*[0-9][-+.eE0-9{marks}]*", value.decode("utf-8", "replace"))
        return MISSPELT if plan.kind == "auto" and is_number else INVALID, ""
    value = spelled
    if plan.kind in ("time", "plain", "auto"):
        time = value.decode("latin-1")
        if read_time(time) or read_clf(time):
            return TIME, time
        if plan.kind == "time":
            return INVALID, ""
    if plan.kind == "duration":
        duration = read_duration(value)
        return (INVALID, "") if duration is None else (DURATION, duration)
    if plan.kind == "size":
        size = read_size(value, o.leading)
        if size:
            return size
    if o.leading:
        begins = LEADING.match(value)
        if begins is None or plan.kind == "size":
            return INVALID, ""
        value = begins.group()
    found = NUMBER.fullmatch(value)
    if found is None:
        return INVALID, ""
    return str(found.lastgroup), value.decode("ascii")


MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def read_clf(text: str) -> tuple[int, int, bool] | None:
    """The same of a time in brackets as access logs have it."""
    found = re.fullmatch(
        r"\[(\d\d)/([A-Za-z]{3})/(\d{4}):(\d\d:\d\d:\d\d)([.,]\d{1,9})?(?: ([+-]\d\d)(\d\d))?\]", text, re.ASCII
    )
    if found is None or found[2].lower() not in MONTHS:
        return None
    date = f"{found[3]}-{MONTHS.index(found[2].lower()) + 1:02}-{found[1]}"
    zone = f"{found[6]}:{found[7]}" if found[6] else ""
    return read_time(f"{date}T{found[4]}{found[5] or ''}{zone}")


def other_unit(values: list[bytes]) -> int | None:
    """The first number that has another unit of time or of size after it than one before."""
    first: dict[str, bytes] = {}
    for at, value in enumerate(values):
        begins = LEADING.match(value)
        rest = value[begins.end() :] if begins else b""
        sorts = {"size": SIZE.fullmatch(b"1" + rest) is not None, "time": read_duration(b"1" + rest) is not None}
        is_word = re.fullmatch(rb"[A-Za-z\x80-\xff]+", rest)
        for sort in [sort for sort, is_one in sorts.items() if is_one and is_word]:
            if first.setdefault(sort, rest) != rest:
                return at
    return None


def to_f32(text: str) -> float:
    """The nearest f32 of a decimal; through f64 alone it would be rounded twice."""
    wide = float(text)
    if wide == 0 or isinf(wide):
        return wide
    with np.errstate(over="ignore"):
        near = np.float32(wide)
        exact = Fraction(Decimal(text))
        if exact == Fraction(wide):
            return float(near)
        around = [np.nextafter(near, np.float32(-inf)), near, np.nextafter(near, np.float32(inf))]

    def distance(candidate: np.float32) -> Fraction:
        edge = int(copysign(2**128, candidate))
        return abs((Fraction(edge) if np.isinf(candidate) else Fraction(float(candidate))) - exact)

    return float(min(around, key=distance))


def key_values(cells: list[tuple[str, str]], asked: str) -> tuple[list, list[int]]:
    """A column's numbers as one type (0 for what is none), and the rows that type cannot hold."""
    times = {row: read_time(text) or read_clf(text) for row, (kind, text) in enumerate(cells) if kind == TIME}
    if any(kind == DURATION for kind, _ in cells):
        return [value if kind == DURATION else 0 for kind, value in cells], []
    if times:
        return time_values(cells, times)
    if asked == "size":
        return size_values(cells)
    integers = [(row, int(text)) for row, (kind, text) in enumerate(cells) if kind == INTEGER]
    others = [row for row, (kind, _) in enumerate(cells) if kind in (DECIMAL, NAN)]
    values: list = [0] * len(cells)
    if asked in RANGES or (asked == "auto" and not others):
        for row, value in integers:
            values[row] = value
        if asked in RANGES:
            low, high = RANGES[asked]
            return values, others + [row for row, value in integers if not low <= value <= high]
        bad = [row for row, value in integers if not -(2**63) <= value < 2**64]
        negative = [row for row, value in integers if value < 0]
        huge = [row for row, value in integers if value >= 2**63]
        return values, bad or (negative + huge if negative and huge else [])
    bad = []
    convert = to_f32 if asked == "f32" else float
    for row, (kind, text) in enumerate(cells):
        if kind in (INTEGER, DECIMAL):
            values[row] = convert(text)
            overflows = isinf(values[row]) and "inf" not in text.lower()
            exact = overflows or asked != "auto" or kind != INTEGER or int(values[row]) == int(text)
            if overflows or not exact:
                bad.append(row)
    return [float(value) for value in values], bad


def size_values(cells: list[tuple[str, str]]) -> tuple[list, list[int]]:
    """A column's sizes, and the rows with one that nothing holds. Python compares integers and floats exactly."""
    has_decimals = any(kind in (DECIMAL, NAN) for kind, _ in cells)
    values: list = [0] * len(cells)
    bad = []
    for row, (kind, text) in enumerate(cells):
        if kind == INTEGER:
            # The only zero that a sign changes is one beside decimals.
            values[row] = -0.0 if has_decimals and text == "-0" else int(text)
            if abs(values[row]) > 2**127 - 2**102:
                bad.append(row)
        elif kind == DECIMAL and text.strip("-/").isdigit():
            whole = int(text.strip("/"))
            values[row] = Fraction(2 * whole + (1 if whole > 0 else -1), 2) if text.endswith("/") else whole
        elif kind == DECIMAL:
            values[row] = float(text)
            if isinf(values[row]) and "inf" not in text.lower():
                bad.append(row)
    return values, bad


def time_values(cells: list[tuple[str, str]], times: dict[int, tuple[int, int, bool]]) -> tuple[list, list[int]]:
    """A column's times in nanoseconds (0 for what is none), and the rows that an error may name."""
    numbers = [row for row, (kind, _) in enumerate(cells) if kind in (INTEGER, DECIMAL)]
    if numbers or len({zoned for _, _, zoned in times.values()}) > 1:
        return [0] * len(cells), numbers + list(times)
    decimals = max(decimals for _, decimals, _ in times.values())
    unit = 10 ** (9 - decimals)
    if not all(-(2**63) <= at // unit < 2**63 for at, _, _ in times.values()):
        return [0] * len(cells), list(times)
    return [times[row][0] if row in times else 0 for row in range(len(cells))], []


class Key(NamedTuple):
    """A sort key: for each row its class, number and sign of zero; of texts the number is a rank."""

    classes: list[int]  # 0 is a number or text; less stands before these, more behind
    values: list
    signs: list[int]  # 0 for -0.0, else 1: it only matters beside an equal number
    descending: bool
    texts: list[str] | None = None  # for pandas: by their code points they compare as the texts do


def make_key(cells: list, values: list, o: Options, plan: "Plan") -> Key:
    def rank(away: int, end: str) -> int:
        return -away if end == "first" else away

    ranks = {INTEGER: 0, DECIMAL: 0, TIME: 0, TEXT: 0, DURATION: 0}
    ranks |= {NAN: rank(1, o.nan), EMPTY: rank(2, plan.empty), INVALID: rank(3, o.invalid)}
    classes = [ranks[kind] for kind, _ in cells]
    if plan.kind in ("text", "version", "hex"):
        return Key(classes, *rank_texts(cells, plan), plan.descending, latin(cells, plan))
    signs = [int(copysign(1, v) > 0) if v == 0 and isinstance(v, float) else 1 for v in values]
    return Key(classes, values, signs, plan.descending)


def rank_texts(cells: list, plan: "Plan") -> tuple[list[int], list[int]]:
    """Of each text how many different ones are before it, and signs, which it has none of."""
    different = sorted({value for kind, value in cells if kind == TEXT})
    if plan.kind == "version":
        different.sort(key=cmp_to_key(compare_versions))
    ranks, rank = {}, 0
    for at, text in enumerate(different):
        if at and plan.kind == "version" and compare_versions(different[at - 1], text):
            rank = at
        ranks[text] = rank if plan.kind == "version" else at
    return [ranks.get(value, 0) if kind == TEXT else 0 for kind, value in cells], [1] * len(cells)


def latin(cells: list, plan: "Plan") -> list[str] | None:
    """Texts as strings with a character for each byte."""
    if plan.kind != "text":
        return None
    return [value.decode("latin-1") if kind == TEXT else "" for kind, value in cells]


KINDS = ("number", "time", "size", "duration", "text", "version", "hex")
LETTERS = "[A-Za-z]*"
SORT_KEY = re.compile(rf"([1-9][0-9]*)(\.[0-9]+)?({LETTERS})(,([0-9]+)(\.[0-9]+)?({LETTERS}))?")


class Plan(NamedTuple):
    """What a key compares."""

    column: int | None  # None is the whole line
    kind: str
    fold: bool
    descending: bool
    of_sort: bool
    empty: str


def global_kind(o: Options) -> str:
    """What fields of keys are that do not say it."""
    if o.type in KINDS:
        return o.type
    if o.leading or o.text or o.type != "auto":
        return "number"
    return "plain" if o.says_numbers else "auto"


def refuses(key: re.Match[str]) -> bool:
    """Whether a key of sort is one that has no equal."""
    field, character, letters, ending, last, end_character, end_letters = key.groups()
    both = letters + (end_letters or "")
    is_number = bool(set(both) & set("ngh"))
    if set(both) & set("diMR"):
        return True
    if character not in (None, ".1") or end_character not in (None, ".0"):
        return True
    if last is not None and (int(last) < int(field) or int(last) > int(field) and not is_number):
        return True
    return last is None and not is_number and bool(both)


def find_key(wanted: str, names: list[bytes] | None, width: int, o: Options) -> Plan | None:
    """What -k means; None if it means nothing here."""
    stem, said = wanted, []
    while True:
        hits = [at for at, have in enumerate(names or []) if have == stem.encode()]
        if hits:
            return plan_of(hits[0], said, None, o) if len(hits) == 1 else None
        if re.fullmatch("[0-9]+", stem):
            number = int(stem)
            if number == 0:
                return plan_of(None, said, None, o)
            return plan_of(number - 1, said, None, o) if number <= width else None
        of_sort = SORT_KEY.fullmatch(stem)
        if of_sort and set(of_sort[3] + (of_sort[7] or "")) <= set("nghVfrbdiMR"):
            is_there = not refuses(of_sort) and int(of_sort[1]) <= width
            return plan_of(int(of_sort[1]) - 1, said, of_sort[3] + (of_sort[7] or ""), o) if is_there else None
        stem, colon, modifier = stem.rpartition(":")
        if not colon or modifier not in ("r", "a", "nocase", *KINDS):
            return None
        said.append(modifier)


def plan_of(column: int | None, said: list[str], letters: str | None, o: Options) -> Plan:
    """`said` has the modifiers from the right; `letters` are those of a key of sort."""
    kinds = [modifier for modifier in said if modifier in KINDS]
    turns = [modifier for modifier in said if modifier in ("r", "a")]
    everywhere = global_kind(o)
    descending = turns[0] == "r" if turns else "r" in letters if letters else o.reverse
    fold = "nocase" in said or "f" in (letters or "") or o.fold and not letters
    if kinds:
        kind = kinds[0]
    elif "nocase" in said:
        kind = "text"
    elif letters:
        of_letter = {"n": "number", "g": "number", "h": "size", "V": "version"}
        kind = next((of_letter[letter] for letter in "nghV" if letter in letters), "text")
    elif everywhere == "auto" and (letters is not None or column is None):
        kind = "text"
    else:
        kind = everywhere
    empty = o.empty
    is_said = o.empty_said or o.empty != "last"
    if kind in ("text", "version", "hex") and letters is not None and not is_said:
        empty = "last" if descending else "first"
    return Plan(column, kind, fold and kind in ("text", "version", "auto"), descending, letters is not None, empty)


# ---- order ------------------------------------------------------------------------------------


def order_plain(keys: list[Key], rows: list[int]) -> list[int]:
    """By sorted(), which is stable; a descending key is negated."""
    parts = []
    for classes, values, signs, descending, _ in keys:
        turn = -1 if descending else 1
        parts.append([(c, turn * v, turn * s) for c, v, s in zip(classes, values, signs)])
    whole = list(zip(*parts))
    return sorted(rows, key=lambda row: whole[row])


def order_pandas(keys: list[Key], rows: list[int]) -> list[int]:
    """By DataFrame.sort_values over three columns a key."""
    columns, ascending = {}, []
    for at, (classes, values, signs, descending, texts) in enumerate(keys):
        kept = [values[row] for row in rows]
        wide = all(isinstance(value, float) for value in kept)
        dtype = np.float64 if wide else np.int64 if min(kept, default=0) < 0 else np.uint64
        plain = all(isinstance(value, int) for value in kept)
        if not wide and not (plain and all(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max for value in kept)):
            dtype = object  # nanoseconds of times, sizes
        columns[f"class{at}"] = np.array([classes[row] for row in rows], np.int8)
        columns[f"value{at}"] = np.array(kept, dtype)
        if texts is not None:
            columns[f"value{at}"] = np.array([texts[row] for row in rows], object)
        columns[f"sign{at}"] = np.array([signs[row] for row in rows], np.int8)
        ascending += [True, not descending, not descending]
    frame = pd.DataFrame(columns, index=np.array(rows, np.int64))
    return frame.sort_values(list(columns), ascending=ascending, kind="stable").index.tolist()


# ---- tables -----------------------------------------------------------------------------------


class Failures:
    """Errors that there are; gpusort may name any of them."""

    def __init__(self, case: Case):
        self.case = case
        self.patterns: list[str] = []
        self.kinds: set[str] = set()

    def add(self, kind: str, file: int | None = None, lines: list[int] | range = (), text: str = "") -> None:
        self.kinds.add(kind)
        name = "" if file is None or self.case.stdin else re.escape(self.case.files[file][0])
        if lines:
            self.patterns += [f"{name}:{line}(?![0-9])" for line in lines]
        else:
            self.patterns.append(re.escape(text) if text else name)

    def at(self, kind: str, row: Row) -> None:
        # A row with line ends inside has several lines, and naming any of them will do.
        self.add(kind, row.file, range(row.line, row.line + row.raw.count(b"\n") + 1))

    def expected(self) -> Expected:
        return Expected(2, b"", self.patterns, why=", ".join(sorted(self.kinds)))


def keys_of(o: Options) -> list[str]:
    """The keys, or what is one without any: the first field, or with letters of text the whole line."""
    if o.keys or not o.lines or o.numeric or not (o.versions or o.fold):
        return o.keys or ["1"]
    return ["0:version" if o.versions else "0:text"]


def cut_comments(data: bytes, o: Options) -> tuple[bytes, bytes]:
    """The lines at the beginning that stay on top, and the rest."""
    end, at = b"\0" if o.zero else b"\n", 0
    while o.comments and data[at : at + 1] == b"#":
        at = data.find(end, at) + 1 or len(data)
    return data[:at], data[at:]


def names_in_comment(comments: bytes, case: Case) -> list[bytes]:
    """The words of the last line of comments."""
    last = comments.rstrip(b"\n\0").removesuffix(b"\r")
    last = re.split(rb"\0" if case.options.zero else rb"\n", last)[-1][1:]
    if case.options.lines:
        names = last.split(case.delimiter) if case.delimiter else WORD.findall(last)
    else:
        rows, unclosed = split(last or b"\n", case.delimiter)
        if unclosed:
            raise Undecided("a comment with a quote")
        names = rows[0].fields
    return names[1:] if names and names[0].endswith(b":") else names


def judge(column: list, plan: "Plan", rows: list[Row], values: list[bytes], failures: "Failures") -> "Plan":
    """What a key of no kind is, by its fields: text where one is a word. Numbers and times beside words are an error."""
    words = [n for n, (kind, _) in enumerate(column) if kind == INVALID]
    others = [
        n
        for n, (kind, text) in enumerate(column)
        if kind in (INTEGER, TIME) or kind == DECIMAL and any(map(str.isdigit, text))
    ]
    misspelt = [n for n, (kind, _) in enumerate(column) if kind == MISSPELT]
    if misspelt or not words:
        for n in misspelt:
            failures.at("numbers in another spelling", rows[n])
        if not (misspelt and words and others):
            return plan
    if others:
        at = words[0] if values[words[0]].lstrip(b" \t").startswith(b"#") else max(words[0], others[0])
        failures.at("words beside numbers", rows[at])
        return plan
    return plan._replace(kind="text")


def expect_table(case: Case, use_pandas: bool = True) -> Expected:
    """What must come out for a table."""
    case = decided(case)
    result = _expect_table(case, use_pandas, skipped_count=False)
    # Whether a row left out may still raise an error or change its columns' type is not said.
    if case.options.invalid == "skip" and result != _expect_table(case, False, skipped_count=True):
        raise Undecided("a row left out decides")
    return result


def _expect_table(case: Case, use_pandas: bool, skipped_count: bool) -> Expected:
    o = case.options
    failures = Failures(case)
    bom = BOM if case.files[0][1].startswith(BOM) and not o.text else b""
    header: Row | None = None
    names_above: list[bytes] | None = None
    top_comments, above = b"", b""
    width = 0
    rows: list[Row] = []  # data rows, with the line end they get
    for at, (_, data) in enumerate(case.files):
        if data.startswith(BOM) and at and not case.files[0][1]:
            raise Undecided("a BOM behind an empty file")
        data = data.removeprefix(BOM)
        if o.text:
            rows += split_text(data, at)
            width = 1
            if o.single:
                for row, after in zip(rows, rows[1:]):
                    if (row.file, row.line) == (after.file, after.line) and row.file == at:
                        failures.at("several on a line", after)
            continue
        comments, data = cut_comments(data, o)
        skipped = comments.count(b"\0" if o.zero else b"\n")
        if at == 0:
            top_comments = comments if not comments or comments[-1:] in b"\n\0" else comments + b"\n"
            if o.zero and comments and not comments.endswith(b"\0"):
                top_comments = comments + b"\0"
        elif comments and not data or o.comments and not case.files[0][1]:
            raise Undecided("a file of nothing but comments")
        if o.lines and not o.zero and b"\n" not in data and b"\r" in data.rstrip():
            failures.add("CR alone", at)
            return failures.expected()
        if not o.lines and b"\n" not in data and b"\r" in data.rstrip(b"\r"):
            raise Undecided("lines that may end in CR alone")
        if o.lines:
            lines, unclosed = split_lines(data, case.delimiter, at, o.zero), []
        else:
            lines, unclosed = split(data, case.delimiter, at)
        if skipped:
            lines = [row._replace(line=row.line + skipped) for row in lines]
            unclosed = [line + skipped for line in unclosed]
        if unclosed:
            failures.add("unclosed quote", at, unclosed)
        elif len(data) < 50_000 and not o.lines:
            cross_check_split(data, case.delimiter, lines)
        filled = next((n for n, row in enumerate(lines) if row.raw or o.lines), None)
        if filled is None:
            if unclosed:
                return failures.expected()
            if case.files[at][1] and (len(case.files) > 1 or lines or bom):
                raise Undecided("a file of nothing but blank lines")
            continue
        end = b""
        if o.header:
            if len(lines) <= filled + o.above:
                raise Undecided("fewer lines than the header has")
            upper, first = lines[filled : filled + o.above], lines[filled + o.above]
            end, lines = first.end, lines[filled + o.above + 1 :]
            upper_bytes = b"".join(row.raw + row.end for row in upper)
            if header is None:
                header, above = first, upper_bytes
            elif header.fields != first.fields or above.replace(b"\r", b"") != upper_bytes.replace(b"\r", b""):
                failures.add("header differs", at)
                continue
        elif comments and not width:
            names_above = names_in_comment(comments, case)
        width = 10**9 if o.lines else width or len((header or lines[filled]).fields)
        lines = [row for row in lines if row.raw or width == 1 or o.lines]
        end = end or next((row.end for row in lines if row.end), b"\0" if o.zero else b"\n")
        if header is not None and header.file == at and not header.end:
            header = header._replace(end=end)
        for row in lines:
            if len(row.fields) != width and not o.lines:
                failures.at("number of fields", row)
            else:
                rows.append(row if row.end else row._replace(end=end))
    if not width:
        return Expected(0, b"" if o.argsort else bom + top_comments if top_comments else b"", in_order=True)

    names = header.fields if header else names_above
    if not o.keys and width > 1 and not o.lines:
        failures.add("no key")
        return failures.expected()
    plans = []
    for wanted in keys_of(o):
        # Without keys it is the first, whatever its name is.
        plan = find_key(wanted, names if o.keys else None, width, o)
        if plan is None:
            # The columns there are must be named, but not for a name that several have.
            plain = [name.decode() for name in names or [] if re.fullmatch(rb"[A-Za-z0-9 ]+", name)]
            several = len(set(names or [])) < len(names or [])
            of_sort = SORT_KEY.fullmatch(wanted)
            failures.add("column", text="" if of_sort else plain[0] if plain and not several else "")
            return failures.expected()
        plans.append(plan)

    def cell(row: Row, plan: Plan) -> bytes:
        if o.lines and row.raw.startswith(b"#") and case.delimiter != b"#" and plan.kind not in ("text", "version"):
            if plan.kind == "hex":
                raise Undecided("a number in base 16 on a line that may be a comment")
            # It has no number, whatever its fields are.
            return row.raw.strip(b" \t")
        if plan.column is None:
            return row.raw
        fields = row.fields
        if plan.of_sort and o.lines and not case.delimiter:
            fields = re.findall(rb"[^ \t\n]+" if o.zero else rb"[^ \t]+", row.raw)
        return fields[plan.column] if plan.column < len(fields) else b""

    cells = []
    for at, plan in enumerate(plans):
        column = [classify(cell(row, plan), plan, o) for row in rows]
        if plan.kind == "auto":
            plan = plans[at] = judge(column, plan, rows, [cell(row, plan) for row in rows], failures)
            if plan.kind == "text":
                blank = any(kind == EMPTY and cell(row, plan) for (kind, _), row in zip(column, rows))
                if blank and plan.empty == "error":
                    raise Undecided("a field of blanks may be empty or text")
                column = [classify(cell(row, plan), plan, o) for row in rows]
        cells.append(column)
    out = set()
    if o.invalid == "skip":
        out = {n for column in cells for n, (kind, _) in enumerate(column) if kind == INVALID}
    counting = [n for n in range(len(rows)) if skipped_count or n not in out]
    keys = []
    for column, plan in zip(cells, plans):
        asked = "size" if plan.kind == "size" else "auto"
        if o.type not in KINDS and plan.kind in ("number", "plain", "auto"):
            asked = o.type
        if o.leading and plan.kind == "number":
            spelled = [plainly(stripped(cell(rows[n], plan), o), o) or b"" for n in counting]
            other = other_unit(spelled)
            if other is not None:
                failures.at("units", rows[counting[other]])
        values, bad = key_values([column[n] for n in counting], asked)
        for n in bad:
            failures.at("type", rows[counting[n]])
        places = {NAN: o.nan, EMPTY: plan.empty, INVALID: o.invalid}
        if plan.kind == "auto":
            del places[INVALID]  # that is a word, and judged
        for n in counting:
            if places.get(column[n][0]) == "error":
                failures.at(column[n][0], rows[n])
        whole: list = [0] * len(rows)
        for n, value in zip(counting, values):
            whole[n] = value
        if failures.patterns:
            continue
        keys.append(make_key(column, whole, o, plan))
    if failures.patterns:
        return failures.expected()

    chosen = [n for n in range(len(rows)) if n not in out]
    if o.unique:
        firsts: dict = {}
        for n in chosen:
            firsts.setdefault(tuple((k.classes[n], k.values[n], k.signs[n]) for k in keys), n)
        chosen = list(firsts.values())
    order = order_plain(keys, chosen)
    if use_pandas:
        assert order == order_pandas(keys, chosen), "pandas orders this otherwise"
    order = order[: o.top]
    if o.argsort:
        return Expected(0, b"".join(b"%d\n" % n for n in order), count=len(order))
    top = bom + top_comments + above + (header.raw + header.end if header else b"")
    out = top + b"".join(rows[n].raw + rows[n].end for n in order)
    return Expected(0, out, count=len(order), in_order=order == sorted(order))


# ---- arrays -----------------------------------------------------------------------------------


def read_array(case: Case) -> np.ndarray:
    """The elements of all files, little-endian."""
    dtype = np.dtype(case.dtype).newbyteorder("<")
    if case.is_npy:
        parts = [np.load(io.BytesIO(data)) for _, data in case.files]
    else:
        parts = [np.frombuffer(data, dtype) for _, data in case.files]
    return np.concatenate(parts).astype(dtype)


def expect_array(case: Case) -> Expected:
    """What must come out for raw binary or .npy."""
    o = case.options
    size = np.dtype(case.dtype).itemsize
    npy = case.is_npy
    for name, data in case.files:
        if not npy and len(data) % size:
            return Expected(2, b"", [re.escape(name)], why="length")
    array = read_array(case)
    bits = array.view(f"<u{size}")
    is_nan = np.isnan(array)
    if o.nan == "error" and is_nan.any():
        return Expected(2, b"", [re.escape(case.files[0][0])], why="nan")

    numbers = np.flatnonzero(~is_nan)
    chosen = numbers[::-1] if o.reverse else numbers  # turned twice, a stable order stays stable
    signs = ~np.signbit(array[chosen]) if array.dtype.kind == "f" else np.zeros(len(chosen))
    order = chosen[np.lexsort((signs, array[chosen]))]
    if o.reverse:
        order = order[::-1]
    plain = array.tolist()
    by_value = sorted(
        numbers.tolist(), key=lambda n: (plain[n], copysign(1, plain[n]) if plain[n] == 0 else 0), reverse=o.reverse
    )
    assert order.tolist() == by_value, "numpy orders this otherwise"

    def nan_rank(n: int) -> tuple[bool, int]:
        negative = bool(np.signbit(array[n]))
        return negative, -int(bits[n]) if negative else int(bits[n])

    nans = sorted(np.flatnonzero(is_nan).tolist(), key=nan_rank)
    order = np.array(nans + by_value if o.nan == "first" else by_value + nans, np.int64)
    if o.unique:
        firsts = set(np.unique(bits, return_index=True)[1].tolist())
        order = np.array([n for n in order.tolist() if n in firsts], np.int64)
    order = order[: o.top]
    result = order.astype("<u4") if o.argsort else array[order]
    if o.to_text:
        return Expected(0, b"".join(b"%d\n" % n for n in result.tolist()), count=len(order))
    return Expected(0, result.tobytes(), count=len(order), in_order=order.tolist() == sorted(order.tolist()))


def expect(case: Case, use_pandas: bool = True) -> Expected:
    return expect_table(case, use_pandas) if case.is_table else expect_array(case)
