"""Seeded random cases: tables and arrays as bytes, with options."""

from __future__ import annotations

import io
import random
import struct
from dataclasses import replace

import numpy as np

from oracle import BOM, Case, Options
from words import Column

NANS = ["nan", "NaN", "NAN", "-nan", "+NaN", "nAn"]
INFS = ["inf", "-inf", "INF", "+inf", "Infinity", "-INFINITY"]
ZEROS = ["-0", "0", "+0"]
DECIMAL_ZEROS = ["-0", "0", "+0", "0.0", "-0.0", ".0", "-0.", "0e5", "-0E-3", "1e-400", "-1e-400"]
WORDS = ["x", "n/a", "0x10", "1_000", "--1", "1e", "e5", ".", "+", "nan1", "infinit", "1 2", "1.2.3", "+-1"]
WORDS += ["NULL", "\uff11", "\u00a01", "1\v", "1'000", "1e5.5", "- 1", "in f", "\u2212" + "1", '5"', "1f"]
WORDS += ["0b1", "1\x00"]
DECIMALS = ["1e3", "1.50", "1.5", "2.01", "5.", ".5", "+.5e1", "1E+3", "1000.0", "-1e-3", "1e308", "-1e308"]
DECIMALS += ["1.7976931348623157e308", "5e-324", "-5e-324", "4.9e-324", "2.2250738585072014e-308", "1e-310", "2e-324"]
DECIMALS += ["9007199254740992", "9007199254740991", "9007199254740993.0", "18446744073709551616", "9007199254740994"]
DECIMALS += ["0.1", "0.10000000000000001", "0.1000000000000000055511151231257827", "1.0000000000000002"]
DECIMALS += ["1e0", "0001.5"]
# For f32: midway between two, and just beside that; the edges of its range.
SINGLES = ["1.00000017881393432617187499", "1.000000178813934326171875", "1.00000017881393432617187501", "16777217"]
SINGLES += ["16777216", "16777218", "16777219", "3.4028235e38", "340282356779733661637539395458142568447", "1e-45"]
SINGLES += ["7.006492321624085e-46", "7.006492321624086e-46", "7e-46", "1.17549435e-38", "0.1", "0.10000000149011612"]
EDGES = {
    "u32": [2**24 - 1, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 2],
    "i32": [-(2**31), -(2**31) + 1, -1, 1, -(2**24) - 1, 2**31 - 1],
    "u64": [2**32, 2**32 + 1, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64 - 2],
    "i64": [-(2**63), -(2**63) + 1, -(2**53) - 1, -(2**32), -1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63 - 2],
}
NAMES = ["a", "b", "c", "value", "price", "x y", "na\u00efve", "\u65e5\u672c", "1", "2", "3", "a:r", "a:a", "b:r"]
NAMES += ["value:r", " lead", "trail ", 'say "hi"', "comma,name", "semi;colon", "tab\tname", "line\nbreak", "-x"]
NAMES += ["", "A", "-", ":r"]
PROSE = ["", "alpha", "Zo\u00eb", "\u65e5\u672c\u8a9e", "\U0001f600", "two words", " padded "]
PROSE += ["#no comment", "a'b", "=1+1", "\\n"]
LITERAL = [b'ab"c', b'a""b', b'x"', b'"a"b', b'"a"b"c"', b'"" "', b' "a"', b"\xff\xfe", b"a\rb", b"\x00"]
FAULTS = ["quote", "width", "invalid", "empty", "nan", "column", "double", "no key", "range", "signs", "inexact"]
FAULTS += ["overflow", "misfit", "header"]
ARRAY_TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]


def some_size(rng: random.Random, number: int) -> int:
    if number % 1000 == 7:  # enough for the parallel ways of reading and sorting
        return rng.randint(100_000, 150_000)
    return rng.choices(
        [rng.randint(0, 3), rng.randint(2, 30), rng.randint(30, 300), rng.randint(1000, 5000)], [12, 55, 31, 2]
    )[0]


def quote(value: bytes) -> bytes:
    return b'"' + value.replace(b'"', b'""') + b'"'


def encode(rng: random.Random, text: str | bytes, delimiter: bytes, often: float = 0.1) -> bytes:
    """A field that reads as this text, quoted where it must be and sometimes where not."""
    value = text.encode() if isinstance(text, str) else text
    needs = delimiter in value or b"\n" in value or b"\r" in value or value.startswith(b'"')
    return quote(value) if needs or rng.random() < often else value


def some_integer(rng: random.Random, flavour: str) -> str:
    low = -20 if flavour.startswith("i") else 0
    value = rng.choice(EDGES[flavour]) if rng.random() < 0.2 else rng.randint(low, 20)
    style = rng.random()
    if style < 0.8:
        return str(value)
    if value == 0:
        return rng.choice(ZEROS)
    sign = "-" if value < 0 else rng.choice(["", "+"])
    return sign + rng.choice(["", "0", "000"]) + str(abs(value))


def some_decimal(rng: random.Random, flavour: str) -> str:
    pick = rng.random()
    if pick < 0.12:
        return rng.choice(DECIMAL_ZEROS)
    if pick < 0.2:
        return rng.choice(INFS)
    if pick < 0.4:
        return rng.choice(SINGLES if flavour == "f32" else DECIMALS)
    if pick < 0.6:
        return str(rng.randint(-9, 9))
    if pick < 0.8:
        return f"{rng.randint(-50, 50) / 10}"
    if flavour == "f32":
        return repr(rng.uniform(-1, 1) * 10.0 ** rng.randint(-40, 37))
    return repr(rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300))


DATES = ["1970-01-01", "2026-11-21", "0000-01-01", "9999-12-31", "2000-02-29", "1969-12-31", "0400-02-29", "1677-09-21"]
CLOCKS = ["00:00", "10:00", "10:00:00", "23:59:60", "23:59:59", "10:00:01", "09:59:59"]
NO_TIMES = ["2026-02-30", "2026-13-01", "1900-02-29", "2026-11-21T24:00", "2026-11-21T10:60", "2026-11-21T", "20261121"]
NO_TIMES += ["2026-11-21T10:00+0200", "2026-11-21T10:00+24:00", "2026-W47-6", "2026-325", "2026-11-21T10:00:00.", "x"]


def some_time(rng: random.Random, style: int, blank: bool) -> str:
    """A time, with or without a zone, decimals, a time of day."""
    date = rng.choice(DATES) if rng.random() < 0.3 else f"{rng.randint(2020, 2027)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    if style == 0 or (style == 1 and rng.random() < 0.2):
        return date
    clock = rng.choice(CLOCKS)
    if len(clock) == 8 and style & 4 and not date.startswith(("0", "9", "1677")):
        clock += rng.choice([".", ","]) + "".join(rng.choices("0123456789", k=rng.randint(1, 9)))
    zone = rng.choice(["Z", "z", "+00:00", "+02:00", "-11:30", "+23:59"]) if style & 2 else ""
    return date + rng.choice(["T", "t", " ", "\t"] if blank else ["T", "t"]) + clock + zone


def some_size_with_unit(rng: random.Random) -> str:
    number = rng.choice([str(rng.randint(0, 2000)), f"{rng.randint(0, 999) / 10}", f"{rng.randint(-99, 99) / 4}", "-0", "1e3"])
    if rng.random() < 0.02:
        number = rng.choice(["16", "9007199254740993", "9007199254740993.25", "18446744073709551617", "-9e18", "1e23", "1e-400"])
    return number + rng.choice(["", "", "K", "k", "M", "G", "Ki", "KiB", "kB", "MB", "B", "T", "P", "GB", "m"] + ["E", "z", "YiB", "RB", "Q"] * (rng.random() < 0.1))


def of_other_kind(rng: random.Random, o: Options, share: dict[str, float], blank: bool) -> list[str]:
    """Fields that are times or sizes."""
    if o.type == "size":
        pool = [some_size_with_unit(rng) for _ in range(rng.choice([3, 10, 200]))]
    else:
        style = rng.choice([0, 1, 1, 4, 5, 3, 7])
        pool = [some_time(rng, style, blank) for _ in range(rng.choice([1, 3, 10, 200]))]
        if share["invalid"]:
            pool += rng.sample(NO_TIMES, 3)
    return pool


def key_column(rng: random.Random, n: int, flavour: str, o: Options, delimiter: bytes) -> list[bytes]:
    """Numbers of a flavour, with the special fields that the options allow."""
    wide = flavour.startswith("f")
    make = some_decimal if wide else some_integer
    pool = [make(rng, "u32" if flavour == "time" else flavour) for _ in range(rng.choice([1, 3, 10, 50, 200, 2000]))]
    share = {"nan": 0.0, "empty": 0.0, "invalid": 0.0}
    for kind in share:
        if getattr(o, kind) != "error" and (kind != "nan" or wide) and rng.random() < 0.4:
            share[kind] = rng.choice([0.02, 0.1, 0.4])
    if flavour == "time" or o.type in ("time", "size"):
        pool = of_other_kind(rng, o, share, delimiter not in (b" ", b"\t"))
    dressing = rng.choice([0, 0, 0.1, 0.5])
    pads = [pad for pad in (" ", "  ", "\t", " \t") if delimiter.decode() not in pad]
    column = []
    for _ in range(n):
        text = rng.choice(pool)
        for kind, words in (("nan", NANS), ("empty", [""]), ("invalid", WORDS)):
            if share[kind] and rng.random() < share[kind]:
                text = rng.choice(words)
        dress = rng.random() < dressing
        if dress and rng.random() < 0.5:
            text = rng.choice(pads) + text + rng.choice([""] + pads)
        cell = encode(rng, text, delimiter, 0.5 if dress else 0)
        if dress and cell.startswith(b'"') and rng.random() < 0.3:
            cell += rng.choice(pads).encode()
        column.append(cell)
    return column


def text_column(rng: random.Random, n: int, delimiter: bytes) -> list[bytes]:
    """What is carried along: prose, line ends and delimiters in quotes, quotes in odd places."""
    odd = rng.choice([0, 0.1, 0.5])
    special = [delimiter.decode(), "\n", "\r\n", '"', '""', ",", "a\nb\nc", '"quoted"', "\n\n", "end\r\n"]
    column = []
    for _ in range(n):
        if rng.random() >= odd:
            column.append(encode(rng, rng.choice(PROSE), delimiter))
        elif rng.random() < 0.7:
            column.append(quote((rng.choice(PROSE) + rng.choice(special) + rng.choice(PROSE)).encode()))
        else:
            cell = rng.choice(LITERAL)
            column.append(quote(cell) if delimiter in cell else cell)
    return column


def some_options(rng: random.Random) -> Options:
    chance = rng.random
    o = Options(reverse=chance() < 0.35, unique=chance() < 0.2, argsort=chance() < 0.15, header=chance() < 0.85)
    o.nan = rng.choice(["last", "last", "first"] + ["error"] * (chance() < 0.2))
    o.empty = rng.choice(["last", "last", "first"] + ["error"] * (chance() < 0.2))
    o.invalid = rng.choice(["error", "last", "first", "skip"])
    if chance() < 0.2:
        o.top = rng.choice([1, 2, 3, 10, 100, 10**6])
    return o


def some_names(rng: random.Random, width: int) -> list[str]:
    names = rng.sample(NAMES, width)
    if width > 1 and rng.random() < 0.03:
        names[0] = names[1]
    # A header of one empty name would be a blank line.
    return ["only" if width == 1 and not name else name for name in names]


def spell(rng: random.Random, o: Options, extra: list[list[str]], table: bool = True) -> list[str]:
    """The options as arguments, in any order but for the keys'."""
    groups = list(extra)
    flags = [("-r", "--reverse", o.reverse), ("-u", "--unique", o.unique), ("-z", "--zero-terminated", o.zero)]
    flags += [("-n", "--numeric-sort", o.numeric), ("-V", "--version-sort", o.versions), ("-f", "--ignore-case", o.fold)]
    groups += [[long if rng.random() < 0.3 else short] for short, long, on in flags if on]
    titled = f"--header={o.above + 1}" if o.above else "--header"
    headed = (titled, o.header) if o.lines or o.above else ("--no-header", not o.header and not o.text)
    groups += [[flag] for flag, on in (("--argsort", o.argsort), headed, ("--leading", o.leading)) if on]
    groups += [["--top", str(o.top)]] * (o.top is not None) + [["--to", "text"]] * o.to_text
    for kind, default in (("nan", "last"), ("empty", "last"), ("invalid", "error"))[: 3 if table else 1]:
        if getattr(o, kind) != default or rng.random() < 0.1:
            groups.append([f"--{kind}", getattr(o, kind)])
            # Those that are said mean more.
            o.empty_said |= kind == "empty"
            o.invalid_said |= kind == "invalid"
    if o.type != "auto" and not o.versions:
        groups.append(["-h"] if o.type == "size" and o.sizes else ["-t", o.type])
    groups += [["--comments"]] * o.comments
    groups += [[f"--na={','.join(o.na)}"]] * bool(o.na)
    groups += [[f"--{name}", getattr(o, name)] for name in ("decimal", "thousands") if getattr(o, name)]
    rng.shuffle(groups)
    for key in o.keys:
        groups.append([f"--key={key}"] if key.startswith("-") or rng.random() < 0.3 else ["-k", key])
    return [word for group in groups for word in group]


def plant(
    rng: random.Random, fault: str, o: Options, columns: list[list[bytes]], keyed: list[int], names: list[str]
) -> None:
    """Put an error into a table that has none; some need more than this."""
    n = len(columns[0])
    at = keyed[0]

    def put(*texts: str) -> None:
        for text, row in zip(texts, rng.sample(range(n), min(n, len(texts)))):
            columns[at][row] = encode(rng, text, b",")

    if fault == "quote":
        # A quote further down would close it.
        columns[-1][rng.choice([n - 1, n - 1, rng.randrange(n)])] = b'"never closed'
    elif fault == "width":
        column = rng.choice(columns)
        column[rng.randrange(n)] = None  # type: ignore[call-overload]  # this field is left out
    elif fault in ("invalid", "empty", "nan"):
        setattr(o, fault, "error")
        put({"invalid": rng.choice(WORDS[:12]), "empty": "", "nan": rng.choice(NANS)}[fault])
    elif fault == "column":
        o.keys[0] = rng.choice(["nosuch", "0", "99", "nosuch:r", "99:a"])
    elif fault == "double":
        names[:] = ["twice"] * len(names)
        o.keys[0] = rng.choice(["twice", "twice:r"])
    elif fault == "no key":
        o.keys = []
    elif fault == "range":
        put(rng.choice(["18446744073709551616", "-9223372036854775809", "9" * 40]))
    elif fault == "signs":
        put("-1", rng.choice(["18446744073709551615", "9223372036854775808"]))
    elif fault == "inexact":
        put("1.5", rng.choice(["9007199254740993", "18446744073709551615", "-36028797018963969", "1" + "0" * 400]))
    elif fault == "overflow":
        put(rng.choice(["1e309", "-1e400", "1.7976931348623159e308"]))
    elif fault == "misfit":
        unfit = [("u32", "-1"), ("u32", "4294967296"), ("i32", "2147483648"), ("i64", "1.0"), ("u64", "nan")]
        kind, text = rng.choice(unfit)
        o.type = rng.choice([kind, "f32"])
        put("1e39" if o.type == "f32" else text)


def make_table(rng: random.Random, number: int) -> Case:
    n = some_size(rng, number)
    fault = rng.choice(FAULTS) if rng.random() < 0.18 and 0 < n < 10_000 else ""
    big = n > 10_000
    o = some_options(rng)
    width = 1 if rng.random() < 0.15 and fault not in ("no key", "double", "width") else rng.randint(2, 6)
    form = rng.choices(["csv", "tsv", ";", "|", " "], [70, 15, 7, 5, 3])[0]
    delimiter = {"csv": b",", "tsv": b"\t"}.get(form, form.encode())
    if fault in ("double", "header"):
        o.header = True

    names = some_names(rng, width)
    keyed = rng.sample(range(width), min(width, rng.choice([1, 1, 1, 2, 2, 3, 4])))
    asked = rng.choice(["u32", "i32", "u64", "i64", "f32", "f64", "time", "size"]) if rng.random() < 0.25 else "auto"
    o.type = asked
    flavours = {}
    for column in keyed:
        pick = rng.choice(["u32", "i32", "u64", "i64", "f64", "f64", "f64", "time"])
        flavours[column] = pick if asked == "auto" or asked == "f64" and pick != "time" else asked
        if asked in ("time", "size"):
            flavours[column] = "u32"
    columns = []
    rows_made = 2000 if big else n
    for column in range(width):
        if column in flavours:
            columns.append(key_column(rng, rows_made, flavours[column], o, delimiter))
        else:
            columns.append(text_column(rng, rows_made, delimiter))
    for column in keyed:
        ending = rng.choice(["", "", "", ":r", ":a"])
        by_name = o.header and names[column] and rng.random() < 0.7
        o.keys.append((names[column] if by_name else str(column + 1)) + ending)
    if width == 1 and rng.random() < 0.5 and not o.keys[0].endswith((":r", ":a")):
        o.keys = []
    if fault:
        o.keys = o.keys or ["1"]
        if fault in ("range", "signs", "inexact"):
            o.type = "auto"
        if fault == "overflow" and o.type in ("time", "size"):
            fault = ""
    if fault:
        plant(rng, fault, o, columns, keyed, names)

    rows = [delimiter.join(cell for cell in cells if cell is not None) for cells in zip(*columns)]
    if big:  # few rows are made and many drawn, each with a number to tell it
        names.append("id")
        rows = [rng.choice(rows) + delimiter + b"%d" % at for at in range(n)]
        if not o.keys:
            o.keys = ["1"]
    return assemble(rng, o, names, rows, form, delimiter, fault)


UNITS = ["%", "ms", "K", "x", ",5", ":30", "e", "e+", ".5.", "/s", "-1", "G", "hours", "seconds", "\u00b5s"]
PLACES = ["/usr/share", "x", "-", "a,b", '"q', "#", "12", "-3.5", "root", "\u65e5\u672c", "[::]", "a\rb", "inf", "info"]
MOMENTS = ["2026-11-21 10:00", "2026-11-21\t10:00:59.5", "1999-12-31 23:59:60+02:00", "2026-11-21 10:00:00Z"]
MOMENTS += ["2026-11-21  10:00", "2026-11-21 10:0", "2026-11-21", "10:00", "2026-1-21 10:00", "2026-11-21 10:00:00x"]
LINE_NAMES = ["USER", "PID", "%CPU", "size", "2", "a:r", "na\u00efve", "Use%", "on", "-x"]
LINE_FAULTS = ["invalid", "empty", "nan", "column", "range", "signs", "inexact", "overflow", "misfit", "header"]


def line_field(
    rng: random.Random, flavour: str, o: Options, share: dict[str, float], pool: list[str], units: list[str]
) -> str | None:
    """A key field of a line, one of the pool if there are any; None where it is missing."""
    for kind, words in (("nan", NANS), ("empty", [""]), ("invalid", WORDS)):
        if rng.random() < share[kind]:
            return rng.choice([word for word in words if not set(word) & set(" \t\n")]) or None
    if pool:
        return rng.choice(pool)
    text = some_decimal(rng, flavour) if flavour.startswith("f") else some_integer(rng, flavour)
    return text + rng.choice(units) if o.leading and rng.random() < 0.4 else text


def make_lines(rng: random.Random, number: int) -> Case:
    """Lines of words between blanks or of fields between a character, as many as each has."""
    n = some_size(rng, number)
    fault = rng.choice(LINE_FAULTS) if rng.random() < 0.15 and 0 < n < 10_000 else ""
    o = some_options(rng)
    o.lines, o.leading = True, rng.random() < 0.25
    o.header = rng.random() < 0.4 or fault == "header"
    o.zero = rng.random() < 0.15
    delimiter = b"" if rng.random() < 0.7 else rng.choice([b":", b",", b"\t", b";", b" ", b'"', b"x"])
    width = rng.randint(1, 5)
    keyed = rng.sample(range(width), rng.choice([1, 1, 1, min(2, width)]))
    kinds = ["u32", "i32", "u64", "i64", "f32", "f64", "size", "size"] + ["time", "time"] * (not o.leading)
    asked = rng.choice(kinds) if rng.random() < 0.25 else "auto"
    o.type = asked
    flavours = {}
    for column in keyed:
        pick = rng.choice(["u32", "i32", "u64", "i64", "f64"] + ["time"] * 2 * (asked == "auto" and not o.leading))
        flavours[column] = pick if asked in ("auto", "f64", "time", "size") else asked
    share = {"nan": 0.0, "empty": 0.0, "invalid": 0.0}
    for kind in share:
        wide = all(flavour.startswith("f") for flavour in flavours.values())
        if getattr(o, kind) != "error" and (kind != "nan" or wide) and rng.random() < 0.4:
            share[kind] = rng.choice([0.02, 0.1, 0.4])
    moments = rng.choice([0, 0, 0.3])
    # Different units of time or size are refused, mostly in a few lines.
    is_one = [unit for unit in UNITS if not unit.isalpha() or unit in ("x", "e+")]
    units = UNITS if rng.random() < 0.2 else is_one + [rng.choice(UNITS)]
    others = [column for column, kind in flavours.items() if kind == "time" or o.type in ("time", "size")]
    pools = {column: of_other_kind(rng, o, share, True) for column in others}

    def one(extra: dict[int, str]) -> bytes:
        cells: list[str] = []
        for column in range(width + rng.choice([0, 0, 1, 3])):
            if column in flavours:
                cell = extra.get(column) or line_field(
                    rng, flavours[column], o, share, pools.get(column, []), units
                )
            else:
                cell = rng.choice(MOMENTS if rng.random() < moments else PLACES)
            if cell is None:
                if not delimiter:
                    break  # what comes after it would take its place
                cell = ""
            cells.append(cell)
        if delimiter:
            pad = rng.choice(["", "", " ", "\t"] + ["\n"] * o.zero)
            clean = [(pad + cell).encode().replace(delimiter, b"") for cell in cells]
            return delimiter.join(clean)
        blanks = [" ", " ", "  ", "\t", " \t "] + ["\n", " \n"] * o.zero
        line = "".join(cell + rng.choice(blanks) for cell in cells)
        return (rng.choice(["", "", " ", "   ", "\t"]) + (line if rng.random() < 0.1 else line.rstrip(" \t\n"))).encode()

    made = min(n, 2000)
    rows = [one({}) for _ in range(made)]
    if n > 10_000:
        rows = [rng.choice(rows) for _ in range(n)]
    names = rng.sample(LINE_NAMES, width)
    for column in keyed:
        ending = rng.choice(["", "", "", ":r", ":a"])
        o.keys.append((names[column] if o.header and rng.random() < 0.7 else str(column + 1)) + ending)
    if keyed == [0] and rng.random() < 0.3:
        o.keys = []
    if fault in ("invalid", "empty", "nan"):
        setattr(o, fault, "error")
    elif fault == "column":
        o.keys = [rng.choice(["nosuch", "0", "nosuch:r", "0:a", "-"])]
    elif fault == "misfit":
        o.type = rng.choice(["u32", "i32", "f32"])
    planted = {
        "invalid": ["zz"],
        "nan": ["nan"],
        "range": ["18446744073709551616"],
        "signs": ["-1", "18446744073709551615"],
        "inexact": ["1.5", "9007199254740993"],
        "overflow": ["1e309"],
        "misfit": ["-3000000000", "1e39"],
    }.get(fault, [])
    if fault == "empty":
        rows[rng.randrange(len(rows))] = b""
    for text in planted:
        rows[rng.randrange(len(rows))] = one({column: text for column in flavours})
    form = rng.choice(["txt", "log", "out", "stdin"])
    extra = [["--delimiter", delimiter.decode()]] * bool(delimiter)
    if delimiter and o.type == "auto" and rng.random() < 0.5:
        extra = [["-t", delimiter.decode()]]
    if not (o.keys or o.header or o.leading or o.zero) or rng.random() < 0.1:
        extra.append(["-f", "lines"])
    return assemble_lines(rng, o, names, rows, form, delimiter, fault, extra)


MARKS = [(",", ""), (",", "."), ("", ","), (".", "'"), (",", "\u202f"), ("", "_")]
COMMENTS = [b"##fileformat=VCFv4.2", b"# made by hand", b"#", b'#"', b"#a,b\tc", b"# 1 2 3"]
WORD_FAULTS = ["mixed", "mixed", "empty", "invalid", "column", "refused", "width", "header"]
NAMES_OF_WORDS = ["name", "b", "a:r", "Chrom", "na\u00efve", "1,1", "a:text", "2", "note:nocase"]


def make_words(rng: random.Random, number: int) -> Case:
    """Tables and lines by keys that are text, beside keys of other kinds."""
    big = number % 300 == 7
    n = rng.randint(60_000, 120_000) if big else some_size(rng, 0)
    fault = rng.choice(WORD_FAULTS) if rng.random() < 0.12 and 0 < n < 10_000 else ""
    o = some_options(rng)
    o.lines = rng.random() < 0.5
    o.nan = rng.choice(["last"] * 8 + ["first", "error"])
    o.invalid = "error" if rng.random() < 0.8 else rng.choice(["last", "first", "skip"])
    o.zero = o.lines and rng.random() < 0.15
    o.header = rng.random() < (0.3 if o.lines else 0.85) or fault == "header"
    o.above = rng.choice([0, 0, 1, 2]) if o.header and rng.random() < 0.2 else 0
    o.comments = rng.random() < 0.15
    if o.lines:
        delimiter = b"" if rng.random() < 0.5 else rng.choice([b":", b",", b"\t", b";", b" ", b"x"])
        form = rng.choice(["txt", "log", "out", "stdin"])
    else:
        form = rng.choices(["csv", "tsv", ";", "|"], [70, 20, 5, 5])[0]
        delimiter = {"csv": b",", "tsv": b"\t"}.get(form, form.encode())
    marks = rng.choice(MARKS) if rng.random() < 0.12 else ("", "")
    if o.lines and delimiter.decode() in marks:
        marks = ("", "")
    o.decimal, o.thousands = marks
    if rng.random() < 0.15:
        o.na = rng.sample(["NA", "-", "null", "-9999", "nan", "x", "0"], rng.choice([1, 1, 2]))
    everywhere = rng.random()
    if everywhere < 0.04:
        o.versions, o.type = True, "version"
    elif everywhere < 0.1:
        o.fold = True
    elif everywhere < 0.13:
        o.numeric = o.lines
    elif everywhere < 0.16:
        o.type = rng.choice(["text", "version", "hex", "duration", "size"])
        o.sizes = o.type == "size" and o.lines

    width = rng.choices([1, 2, 3, 4], [2, 3, 3, 2])[0]
    width = max(width, 2) if fault == "width" else width
    spaced = bool(delimiter) and delimiter not in (b" ", b"\t")
    columns = [Column(rng, big, spaced, marks) for _ in range(width)]
    names = rng.sample(NAMES_OF_WORDS, width)
    keyed = rng.choices(range(width), k=rng.choice([1, 1, 2, 3]))
    # In comments names are words of their own.
    titled = o.comments and not o.header and rng.random() < 0.5 and (delimiter or o.lines)
    for at in keyed:
        o.keys.append(columns[at].key(rng, names[at] if o.header or titled else str(at + 1), at + 1))
        if o.invalid != "error":
            columns[at].wrong = rng.choice([0, 0.1])
    if rng.random() < 0.08:
        o.keys.insert(rng.randint(0, len(o.keys)), rng.choice(["0", "0:r", "0:version", "0:nocase", "0:text:r"]))
    # In tables letters alone, as -f, do not say what the only column is.
    if (o.lines and rng.random() < 0.08) or (width == 1 and rng.random() < 0.3 and not (o.versions or o.fold)):
        o.keys = []
    if fault == "empty":
        o.empty = "error"
    elif fault == "invalid":
        o.invalid = "error"
        columns[keyed[0]].wrong = 0.1
    elif fault == "column":
        o.keys.append(rng.choice(["nosuch", "nosuch:text", "99", "9:r:text", "1:words", "5,5"]))
    elif fault == "refused":
        o.keys.append(rng.choice(["1,2", "1.2,1", "1f", "1r", "2,1", "1,1d", "1,1M", "1.1,1.3", "1bR", "1,3r", "2n,1"]))

    def row() -> bytes:
        cells = [column.field(rng, o.na) for column in columns]
        if not o.lines:
            return delimiter.join(encode(rng, cell, delimiter, 0.05) for cell in cells)
        return line_of(rng, cells, delimiter, o)

    rows = [row() for _ in range(min(n, 4000))]
    if n > len(rows):
        rows = [rng.choice(rows) for _ in range(n)]
    if fault == "mixed" and rows:
        for text in rng.choices([b"5", b"word", b"2026-11-21", b"1e999", b"nan", b"-.5"], k=2):
            cells = [column.field(rng, o.na) for column in columns]
            cells[keyed[0]] = text
            at = rng.randrange(len(rows))
            rows[at] = line_of(rng, cells, delimiter, o) if o.lines else delimiter.join(encode(rng, cell, delimiter) for cell in cells)
    elif fault == "width" and rows and not o.lines:
        rows[rng.randrange(len(rows))] += delimiter + b"more"
    if o.lines:
        extra = [["--delimiter", delimiter.decode()]] * bool(delimiter)
        if delimiter and (o.type == "auto" or o.versions or o.sizes) and rng.random() < 0.5:
            extra = [["-t", delimiter.decode()]]
        says = o.keys or o.header or o.zero or o.comments
        if not says or rng.random() < 0.1:
            extra.append(["-f", "lines"])
        case = assemble_lines(rng, o, names, rows, form, delimiter, fault, extra)
    else:
        case = assemble(rng, o, names, rows, form, delimiter, fault)
    return with_tops(rng, case, names, bool(titled))


def line_of(rng: random.Random, cells: list[bytes], delimiter: bytes, o: Options) -> bytes:
    """A line of these fields, between blanks up to the first that is empty."""
    ends = b"\0" if o.zero else b"\n\r"
    clean = [bytes(byte for byte in cell if byte not in ends) for cell in cells]
    if delimiter:
        pad = rng.choice([b"", b"", b"", b" ", b"\t "] + [b"\n"] * o.zero)
        return delimiter.join((pad + cell).replace(delimiter, b"") for cell in clean)
    blanks = [b" ", b" ", b"  ", b"\t", b" \t "] + [b"\n", b" \n"] * o.zero
    line = b""
    for cell in clean:
        cell = b"".join(cell.split())
        if not cell:
            break  # what comes after it would take its place
        line += cell + rng.choice(blanks)
    return rng.choice([b"", b"", b" ", b"  \t"]) + (line if rng.random() < 0.2 else line.rstrip(b" \t\n"))


def with_tops(rng: random.Random, case: Case, names: list[str], titled: bool) -> Case:
    """The same with comments, and with lines above the names of the columns."""
    o = case.options
    if not o.comments and not o.above:
        return case
    end = b"\0" if o.zero else b"\n"
    delimiter = case.delimiter or b"\t"
    upper = b"".join(rng.choice([b"a title", b"units", b"x" + delimiter + b"y", b"1"]) + end for _ in range(o.above))
    title = b"#" + delimiter.join(name.encode() for name in names)
    files = []
    for name, data in case.files:
        comments = b"".join(rng.choice(COMMENTS) + end for _ in range(rng.choice([0, 1, 3]))) if o.comments else b""
        comments += (title + end) * titled
        mark = BOM if data.startswith(BOM) else b""
        data = data.removeprefix(BOM)
        files.append((name, mark + comments + (upper + data if data else b"")))
    return replace(case, files=files)


def make_text(rng: random.Random, number: int) -> Case:
    """Tokens between white space, with comments and line ends of all kinds."""
    n = some_size(rng, number)
    o = some_options(rng)
    o.text, o.header, o.empty, o.invalid = True, False, "last", "error"
    flavour = rng.choice(["u32", "i32", "u64", "i64", "f32", "f64", "f64", "time", "time", "size", "size"])
    o.type = flavour if flavour in ("time", "size") or rng.random() < 0.2 else "auto"
    pool = [
        some_decimal(rng, flavour) if flavour.startswith("f") else some_integer(rng, flavour)
        for _ in range(rng.choice([1, 3, 10, 200]))
        if flavour not in ("time", "size")
    ] or of_other_kind(rng, o, {"invalid": 0.0}, False)
    if flavour.startswith("f") and o.nan != "error":
        pool += NANS[: rng.choice([0, 0, 1, 6])]
    tokens = [rng.choice(pool).encode() for _ in range(n)]
    fault = rng.choice(["invalid", "range", "signs", "inexact", "misfit", ""]) if rng.random() < 0.15 and 0 < n < 10_000 else ""
    planted = {
        "invalid": ["zz", "2026-02-30", "#", "1e"],
        "range": ["18446744073709551616"],
        "signs": ["-1", "18446744073709551615"],
        "inexact": ["1.5", "9007199254740993"],
        "misfit": ["-3000000000", "1e39"],
    }.get(fault, [])
    if fault == "invalid":
        planted = [rng.choice(planted)]
    for text in planted:
        tokens.insert(rng.randint(0, len(tokens)), text.encode())
    parts = rng.randint(2, 4) if rng.random() < 0.1 else 1
    cuts = sorted(rng.randint(0, len(tokens)) for _ in range(parts - 1))
    ends = rng.choice([[b"\n"], [b"\r\n"], [b"\n", b"\r\n", b"\r", b"\n\n"]])
    comments = rng.choice([0, 0, 0.1])
    blanks = rng.choice([[], [], [], [b" "], [b" ", b"\t", b"  ", b"\v", b"\f", b" \t"]])
    # One a line, mostly.
    after = rng.choice([ends, [blank + end for blank in [b"", *blanks] for end in ends], blanks + ends])
    files = []
    for part, (begin, end) in enumerate(zip([0] + cuts, cuts + [len(tokens)])):
        data = bytearray(BOM if rng.random() < 0.1 else b"")
        for token in tokens[begin:end]:
            while rng.random() < comments:
                # At the beginning of the file, too.
                if data and not data.endswith((b"\n", b"\r", BOM)):
                    data += rng.choice(ends)
                data += b"#" + rng.choice([b"", b" 5K 1", b"x"]) + rng.choice(ends)
            if data.endswith((b"\n", b"\r")) and rng.random() < 0.1 and blanks:
                data += rng.choice(blanks)
            data += token + rng.choice(after)
        if rng.random() < 0.3:
            data = bytearray(data.rstrip()) + rng.choice([b"", b"", b" ", b"\n#", b"\r# 1"])
        files.append((f"t{part}.txt", bytes(data)))
    stdin = parts == 1 and rng.random() < 0.2
    extra = [["-f", "text"]] if o.type in ("time", "size") or rng.random() < 0.3 else []
    o.plain = not extra
    names_given = [] if stdin else [name for name, _ in files]
    return Case(files, spell(rng, o, extra, table=False) + names_given, o, b" ", stdin=stdin)


def assemble_lines(
    rng: random.Random,
    o: Options,
    names: list[str],
    rows: list[bytes],
    form: str,
    delimiter: bytes,
    fault: str,
    extra: list[list[str]],
) -> Case:
    """Lines as one or more files."""
    ends = [b"\0"] if o.zero else rng.choices([[b"\n"], [b"\r\n"], [b"\n", b"\r\n"]], [6, 3, 2])[0]
    parts = rng.randint(2, 4) if fault == "header" or form != "stdin" and rng.random() < 0.1 else 1
    form = "txt" if parts > 1 and form == "stdin" else form
    cuts = sorted(rng.randint(0, len(rows)) for _ in range(parts - 1))
    endless = rng.random() < 0.3
    files = []
    for part, (begin, end) in enumerate(zip([0] + cuts, cuts + [len(rows)])):
        lines = rows[begin:end]
        if o.header:
            wanted = ["other"] + names[1:] if fault == "header" and part else names
            lines = [(delimiter or rng.choice([b" ", b"   "])).join(name.encode() for name in wanted)] + lines
        data = bytearray(BOM if rng.random() < 0.1 else b"")
        for line in lines:
            data += line + rng.choice(ends)
        if endless and data.endswith(ends[0][-1:]):
            data = data[:-1].removesuffix(b"\r")
        if parts > 1 and rng.random() < 0.05 or rng.random() < 0.005:
            data = bytearray()
        files.append((f"t{part}.{'txt' if form == 'stdin' else form}", bytes(data)))
    stdin = form == "stdin"
    names_given = ["-"] * (rng.random() < 0.5) if stdin else [name for name, _ in files]
    return Case(files, spell(rng, o, extra) + names_given, o, delimiter, stdin=stdin)


def assemble(
    rng: random.Random, o: Options, names: list[str], rows: list[bytes], form: str, delimiter: bytes, fault: str
) -> Case:
    """Rows as one or more files, with line ends, blank lines and what else a file may have."""
    ends = rng.choices([[b"\n"], [b"\r\n"], [b"\n", b"\r\n"]], [6, 3, 2])[0]
    blank = rng.choice([0.02, 0.2]) if rng.random() < 0.2 else 0
    parts = rng.randint(2, 4) if fault == "header" or rng.random() < 0.1 else 1
    cuts = sorted(rng.randint(0, len(rows)) for _ in range(parts - 1))
    endless = rng.random() < 0.3
    suffix, extra = form if form in ("csv", "tsv") else "csv", []
    if delimiter not in (b",", b"\t"):
        extra.append(["--delimiter", form])
    stdin = parts == 1 and rng.random() < 0.05
    if stdin or rng.random() < 0.05:
        extra.append(["-f", suffix])
        suffix = "txt"
    files = []
    for part, (begin, end) in enumerate(zip([0] + cuts, cuts + [len(rows)])):
        lines = rows[begin:end]
        if o.header:
            wanted = ["other"] + names[1:] if fault == "header" and part else names
            lines = [delimiter.join(encode(rng, name, delimiter) for name in wanted)] + lines
        data = bytearray(BOM if rng.random() < 0.1 else b"")
        for line in lines:
            while blank and rng.random() < blank:
                data += rng.choice(ends)
            data += line + rng.choice(ends)
        while blank and rng.random() < blank:
            data += rng.choice(ends)
        if endless and data.endswith(ends[0][-1:]):
            data = data[:-1].removesuffix(b"\r")
        if parts > 1 and rng.random() < 0.05 or rng.random() < 0.005:
            data = bytearray()
        files.append((f"t{part}.{suffix}", bytes(data)))
    args = spell(rng, o, extra)
    names_given = ["-"] * (rng.random() < 0.5) if stdin else [name for name, _ in files]
    return Case(files, args + names_given, o, delimiter, stdin=stdin)


def some_floats(rng: random.Random, n: int, dtype: str) -> bytes:
    """Finite numbers, zeros, infinities and NaN of many payloads."""
    size = np.dtype(dtype).itemsize
    exponent = {2: 0x7C00, 4: 0x7F800000, 8: 0x7FF0000000000000}[size]
    sign = 1 << (8 * size - 1)
    letter = {2: "H", 4: "I", 8: "Q"}[size]
    pool = [0, sign, exponent, exponent | sign, 1, sign | 1, exponent - 1]
    if rng.random() < 0.5:
        pool += [exponent | (exponent >> 1), exponent | 1, exponent | 2, sign | exponent | 1, 2 * sign - 1, sign - 1]
    pool += [rng.getrandbits(8 * size) for _ in range(rng.choice([0, 5, 500]))]
    pool += struct.unpack(f"<5{letter}", np.array([1, -1, 1.5, 2, -2.25], dtype).tobytes())
    return struct.pack(f"<{n}{letter}", *(rng.choice(pool) for _ in range(n)))


def make_array(rng: random.Random, number: int) -> Case:
    n = some_size(rng, number)
    dtype = rng.choice(ARRAY_TYPES)
    base = np.dtype(dtype).newbyteorder("<")
    if dtype.startswith("f"):
        data = some_floats(rng, n, dtype)
    elif rng.random() < 0.5:
        data = rng.randbytes(n * base.itemsize)
    else:
        edges = np.iinfo(base)
        pool = [edges.min, edges.max, edges.max // 2 + 1, 0, 1, 2, edges.max - 1, edges.min + 1]
        data = np.array([rng.choice(pool) for _ in range(n)], base).tobytes()

    o = Options(reverse=rng.random() < 0.4, unique=rng.random() < 0.25, argsort=rng.random() < 0.25)
    o.nan = rng.choice(["last", "last", "first"])
    if rng.random() < 0.2:
        o.top = rng.choice([1, 2, 3, 10, 10**6])
    o.to_text = rng.random() < 0.3 and (o.argsort or not dtype.startswith("f"))
    name = {"u": "u", "i": "i", "f": "f"}[dtype[0]] + str(8 * base.itemsize)
    kind = rng.choices(["npy", "raw", "bin", "stdin"], [10, 10, 2, 2])[0]
    extra = []
    if kind == "npy":
        array = np.frombuffer(data, base)
        if rng.random() < 0.4:
            array = array.astype(base.newbyteorder(">"))
        stream = io.BytesIO()
        np.lib.format.write_array(stream, array, version=rng.choice([(1, 0), (1, 0), (2, 0)]))
        files = [("a.npy", stream.getvalue())]
    else:
        suffix = name if kind == "raw" else "bin"
        if kind != "raw":
            extra = [["-t", name]]
        if kind == "stdin":
            extra.append(["-f", "bin"])
        cut = rng.randint(0, n) * base.itemsize if kind == "raw" and rng.random() < 0.15 else len(data)
        files = [(f"a{at}.{suffix}", part) for at, part in enumerate([data[:cut], data[cut:]]) if part or not at]
        if rng.random() < 0.07 and base.itemsize > 1 and kind != "stdin":
            files[-1] = (files[-1][0], files[-1][1] + b"\1")
    if dtype.startswith("f") and len(files) == 1 and kind != "stdin" and rng.random() < 0.08:
        o.nan = "error"
    names = [] if kind == "stdin" else [name for name, _ in files]
    return Case(files, spell(rng, o, extra, table=False) + names, o, dtype=dtype, stdin=kind == "stdin")


def make_case(seed: str, number: int, only: str = "") -> Case:
    """Case `number` of a seed: more than a third are of words."""
    rng = random.Random(f"{seed}:{number}")
    makers = {
        "tables": make_table,
        "lines": make_lines,
        "words": make_words,
        "arrays": make_array,
        "texts": make_text,
    }
    drawn = rng.choices(list(makers), [5, 5, 9, 3, 2])[0]
    return makers[only or drawn](rng, number)
