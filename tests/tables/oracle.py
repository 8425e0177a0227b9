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
    rb"|[^ \t]+"
)


WORD_OR_LF = re.compile(WORD.pattern.replace(rb"[^ \t]", rb"[^ \t\n]"))


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
    if len(records[0]) == 1:
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


def classify(cell: bytes, o: Options) -> tuple[str, str]:
    """What a key field is, and its text if it is a number or a time."""
    value = cell.strip(b" \t")
    if not value:
        return EMPTY, ""
    if o.type == "time" or o.type == "auto" and not (o.leading or o.text):
        if read_time(value.decode("latin-1")):
            return TIME, value.decode()
        if o.type == "time":
            return INVALID, ""
    if o.type == "size":
        size = read_size(value, o.leading)
        if size:
            return size
    if o.leading:
        begins = LEADING.match(value)
        if begins is None or o.type == "size":
            return INVALID, ""
        value = begins.group()
    found = NUMBER.fullmatch(value)
    if found is None:
        return INVALID, ""
    return str(found.lastgroup), value.decode("ascii")


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
    times = {row: read_time(text) for row, (kind, text) in enumerate(cells) if kind == TIME}
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
    """A sort key: for each row its class, number and sign of zero."""

    classes: list[int]  # 0 is a number; less stands before the numbers, more behind
    values: list
    signs: list[int]  # 0 for -0.0, else 1: it only matters beside an equal number
    descending: bool


def make_key(cells: list[tuple[str, str]], values: list, o: Options, descending: bool) -> Key:
    def rank(away: int, end: str) -> int:
        return -away if end == "first" else away

    ranks = {INTEGER: 0, DECIMAL: 0, TIME: 0, NAN: rank(1, o.nan), EMPTY: rank(2, o.empty), INVALID: rank(3, o.invalid)}
    signs = [int(copysign(1, v) > 0) if v == 0 and isinstance(v, float) else 1 for v in values]
    return Key([ranks[kind] for kind, _ in cells], values, signs, descending)


def find_column(wanted: str, names: list[bytes] | None, width: int) -> tuple[int | None, str]:
    """The 0-based column that -k means, if there is one, and its ending."""
    stem, ending = (wanted[:-2], wanted[-1]) if wanted[-2:] in (":r", ":a") else (wanted, "")
    for name, suffix in ((wanted, ""), (stem, ending)):
        hits = [at for at, have in enumerate(names or []) if have == name.encode()]
        if hits:
            return (hits[0] if len(hits) == 1 else None), suffix
    if re.fullmatch("[1-9][0-9]*", stem) and int(stem) <= width:
        return int(stem) - 1, ending
    return None, ending


# ---- order ------------------------------------------------------------------------------------


def order_plain(keys: list[Key], rows: list[int]) -> list[int]:
    """By sorted(), which is stable; a descending key is negated."""
    parts = []
    for classes, values, signs, descending in keys:
        turn = -1 if descending else 1
        parts.append([(c, turn * v, turn * s) for c, v, s in zip(classes, values, signs)])
    whole = list(zip(*parts))
    return sorted(rows, key=lambda row: whole[row])


def order_pandas(keys: list[Key], rows: list[int]) -> list[int]:
    """By DataFrame.sort_values over three columns a key."""
    columns, ascending = {}, []
    for at, (classes, values, signs, descending) in enumerate(keys):
        kept = [values[row] for row in rows]
        wide = all(isinstance(value, float) for value in kept)
        dtype = np.float64 if wide else np.int64 if min(kept, default=0) < 0 else np.uint64
        plain = all(isinstance(value, int) for value in kept)
        if not wide and not (plain and all(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max for value in kept)):
            dtype = object  # nanoseconds of times, sizes
        columns[f"class{at}"] = np.array([classes[row] for row in rows], np.int8)
        columns[f"value{at}"] = np.array(kept, dtype)
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
        return Expected(2, b"", self.patterns, 0, ", ".join(sorted(self.kinds)))


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
        if o.lines and not o.zero and b"\n" not in data and b"\r" in data.rstrip():
            failures.add("CR alone", at)
            return failures.expected()
        if not o.lines and b"\n" not in data and b"\r" in data.rstrip(b"\r"):
            raise Undecided("lines that may end in CR alone")
        if o.lines:
            lines, unclosed = split_lines(data, case.delimiter, at, o.zero), []
        else:
            lines, unclosed = split(data, case.delimiter, at)
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
            first = lines[filled]
            end, lines = first.end, lines[filled + 1 :]
            if header is None:
                header = first
            elif header.fields != first.fields:
                failures.add("header differs", at)
                continue
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
        return Expected(0, in_order=True)

    names = header.fields if header else None
    if not o.keys and width > 1 and not o.lines:
        failures.add("no key")
        return failures.expected()
    columns = []
    for wanted in o.keys or ["1"]:
        column, ending = (0, "") if not o.keys else find_column(wanted, names, width)
        if column is None:
            # The columns there are must be named, but not for a name that several have.
            plain = [name.decode() for name in names or [] if re.fullmatch(rb"[A-Za-z0-9 ]+", name)]
            several = len(set(names or [])) < len(names or [])
            failures.add("column", text=plain[0] if plain and not several else "")
            return failures.expected()
        columns.append((column, {"": o.reverse, "r": True, "a": False}[ending]))

    def cell(row: Row, column: int) -> bytes:
        if o.lines and row.raw.startswith(b"#") and case.delimiter != b"#":
            # It has no number, whatever its fields are.
            return row.raw.strip(b" \t")
        text = row.fields[column] if column < len(row.fields) else b""
        return text.strip(b" \t\n\r\f") if o.zero else text

    cells = [[classify(cell(row, column), o) for row in rows] for column, _ in columns]
    out = set()
    if o.invalid == "skip":
        out = {n for column in cells for n, (kind, _) in enumerate(column) if kind == INVALID}
    counting = [n for n in range(len(rows)) if skipped_count or n not in out]
    refused = {kind for kind in (NAN, EMPTY, INVALID) if getattr(o, kind) == "error"}
    keys = []
    for column, (_, descending) in zip(cells, columns):
        values, bad = key_values([column[n] for n in counting], o.type)
        for n in bad:
            failures.at("type", rows[counting[n]])
        for n in counting:
            if column[n][0] in refused:
                failures.at(column[n][0], rows[n])
        whole: list = [0] * len(rows)
        for n, value in zip(counting, values):
            whole[n] = value
        keys.append(make_key(column, whole, o, descending))
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
    top = bom + (header.raw + header.end if header else b"")
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
