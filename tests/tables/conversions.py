"""Conversions between tables, beside readings of Python's own.

    conversions.py gpusort --cases 100 [--seed 1]

A case is a table of random columns. Columns that pyarrow wrote become CSV, TSV and JSON Lines, and every value is read
again from its text; fields that a table has, and values of JSON, become Parquet and Arrow, which pyarrow reads, and
text again. A value comes out as it was, or the table is refused by the name of a column, and nothing is written.
"""

import datetime
import decimal
import json
import math
import os
import random
import re
import struct
import subprocess
import tempfile

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from generated import arguments, noticed, run_all

D = decimal.Decimal
FINE = decimal.Context(prec=80)
EPOCH = datetime.datetime(1970, 1, 1)
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def texts(rng):
    return "".join(rng.choice(['a', 'ß', '"', ',', '\t', '\n', '\r\n', ' ', '\U0001F600', '1', '\\', '#', '\x1f']) for _ in range(rng.randrange(5)))


def float_of(rng):
    return rng.choice([0.0, -0.0, 1.0, 1e16, 1e300, 5e-324, rng.random() - 0.5, float(rng.randrange(-9, 9)), struct.unpack("d", rng.randbytes(8))[0]])


def narrow(form, value):
    try:
        return struct.unpack(form, struct.pack(form, value))[0]
    except OverflowError:
        return 0.5


def integers(low, high):
    return lambda rng: rng.choice([rng.randrange(low, high), low, high - 1, 0])


def times(unit, zone=None):
    far = PER_SECOND[unit] * 60 * 60 * 24 * 365
    return pyarrow.timestamp(unit, zone), lambda rng: rng.choice([rng.randrange(-1000 * far, 3000 * far) if unit != "ns" else rng.randrange(-(2**63), 2**63), rng.randrange(-9, 9) * PER_SECOND[unit]])


# Types, and values of them as their storage has them.
TYPES = [
    (pyarrow.int8(), integers(-(2**7), 2**7)),
    (pyarrow.int16(), integers(-(2**15), 2**15)),
    (pyarrow.int32(), integers(-(2**31), 2**31)),
    (pyarrow.int64(), integers(-(2**63), 2**63)),
    (pyarrow.uint8(), integers(0, 2**8)),
    (pyarrow.uint64(), integers(0, 2**64)),
    (pyarrow.float64(), float_of),
    (pyarrow.float32(), lambda rng: narrow("f", float_of(rng))),
    (pyarrow.float16(), lambda rng: narrow("e", float_of(rng))),
    (pyarrow.bool_(), lambda rng: rng.random() < 0.5),
    (pyarrow.null(), lambda rng: None),
    (pyarrow.string(), texts),
    (pyarrow.large_string(), texts),
    (pyarrow.string_view(), texts),
    (pyarrow.decimal128(9, 2), lambda rng: D(rng.randrange(-(10**9) + 1, 10**9)).scaleb(-2)),
    (pyarrow.decimal128(38, 0), lambda rng: D(rng.randrange(-(10**38) + 1, 10**38))),
    (pyarrow.decimal256(50, 20), lambda rng: D(rng.randrange(-(10**50) + 1, 10**50)).scaleb(-20, FINE)),
    (pyarrow.date32(), lambda rng: rng.randrange(-700000, 2000000)),
    (pyarrow.time32("s"), integers(0, 86400)),
    (pyarrow.time32("ms"), integers(0, 86400 * 10**3)),
    (pyarrow.time64("us"), integers(0, 86400 * 10**6)),
    (pyarrow.time64("ns"), integers(0, 86400 * 10**9)),
    *[times(unit) for unit in PER_SECOND],
    times("us", "UTC"),
    times("ms", "+02:00"),
    times("ns", "-09:30"),
    times("us", "Europe/Berlin"),
    *[(pyarrow.duration(unit), integers(-(10**14), 10**14)) for unit in PER_SECOND],
    (pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), lambda rng: rng.choice(["x", "", '"'])),
    (pyarrow.dictionary(pyarrow.int32(), pyarrow.int64()), lambda rng: rng.choice([1, -2, 2**60])),
    (pyarrow.dictionary(pyarrow.uint16(), pyarrow.float64()), float_of),
    (pyarrow.run_end_encoded(pyarrow.int32(), pyarrow.int64()), lambda rng: rng.choice([1, 2])),
    (pyarrow.list_view(pyarrow.timestamp("ms", "Europe/Berlin")), lambda rng: [EPOCH.replace(year=rng.randrange(1, 9999))]),
    (pyarrow.binary(), lambda rng: rng.randbytes(rng.randrange(4))),
    (pyarrow.list_(pyarrow.int32()), lambda rng: [rng.choice([None, rng.randrange(9)]) for _ in range(rng.randrange(4))]),
    (pyarrow.large_list(pyarrow.float64()), lambda rng: [float_of(rng) for _ in range(rng.randrange(3))]),
    (pyarrow.list_(pyarrow.string(), 2), lambda rng: [texts(rng), None]),
    (pyarrow.struct([("x", pyarrow.uint64()), ("ß\"", pyarrow.list_(pyarrow.string()))]), lambda rng: {"x": rng.choice([None, 2**64 - 1]), "ß\"": rng.choice([None, [texts(rng)]])}),
    (pyarrow.map_(pyarrow.string(), pyarrow.int32()), lambda rng: [("a", 1)]),
]


def is_time(kind):
    return pyarrow.types.is_temporal(kind)


def array(kind, values):
    if is_time(kind):
        return pyarrow.array(values, pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64()).cast(kind)
    if pyarrow.types.is_run_end_encoded(kind):
        return pyarrow.compute.run_end_encode(pyarrow.array(values, kind.value_type), run_end_type=kind.run_end_type)
    if pyarrow.types.is_dictionary(kind):
        # Nulls are among the values of the dictionary.
        values = [None, *values]
        distinct = list({repr(value): value for value in values}.values())
        places = {repr(value): place for place, value in enumerate(distinct)}
        if len(distinct) > 100:
            return pyarrow.array(values[1:], kind.value_type).dictionary_encode()
        indices = pyarrow.array([places[repr(value)] for value in values[1:]], kind.index_type)
        return pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array(distinct, kind.value_type))
    return pyarrow.array(values, kind)


def ticks(text, unit):
    """The number of units that a time, or a duration, has since the beginning."""
    if found := re.fullmatch(r"(-?)P(?:(\d+)D)?(?:T(\d+)(?:\.(\d+))?S)?", text):
        sign, days, seconds, part = found.groups("0")
        whole = (int(days) * 86400 + int(seconds)) * 10**9 + int(part.ljust(9, "0"))
        whole = -whole if sign == "-" else whole
    else:
        day, clock, part, zone = re.fullmatch(r"(-?\d{4}-\d\d-\d\d)?[T ]?(\d\d:\d\d:\d\d)?(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?", text).groups("")
        whole = 0
        if day:
            year, rest = int(day[:-6]), day[-6:]
            # Years of Python begin at 1; 400 years have the same days.
            shift = (1 - year + 399) // 400 * 400 if year < 1 else 0
            whole += (datetime.datetime.fromisoformat(f"{year + shift:04}{rest}") - EPOCH).days - shift // 400 * 146097
        clock = [int(number) for number in (clock or "0:0:0").split(":")]
        seconds = whole * 86400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
        if zone not in ("", "Z"):
            seconds -= (int(zone[1:3]) * 60 + int(zone[4:])) * 60 * (-1 if zone[0] == "-" else 1)
        whole = seconds * 10**9 + int(part.ljust(9, "0") or 0)
    assert whole % (10**9 // PER_SECOND[unit]) == 0, text
    return whole // (10**9 // PER_SECOND[unit])


def is_same_float(one, other):
    return one == other and math.copysign(1, one) == math.copysign(1, other) or math.isnan(one) and math.isnan(other)


def is_held(kind, value, text, is_json):
    """Whether a text, or a value of JSON, is this value of a type."""
    if pyarrow.types.is_dictionary(kind) or pyarrow.types.is_run_end_encoded(kind):
        kind = kind.value_type
    if value is None or text is None:
        return value is text
    if pyarrow.types.is_list_view(kind) or pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind) or pyarrow.types.is_fixed_size_list(kind):
        return len(value) == len(text) and all(is_held(kind.value_type, one, other, is_json) for one, other in zip(value, text))
    if pyarrow.types.is_struct(kind):
        names = [kind.field(number).name for number in range(kind.num_fields)]
        return list(text) == names and all(is_held(kind.field(name).type, value[name], text[name], is_json) for name in names)
    if is_time(kind):
        if isinstance(value, datetime.datetime):
            return ticks(text, "us") == (value.replace(tzinfo=None) - (value.utcoffset() or datetime.timedelta()) - EPOCH) // datetime.timedelta(microseconds=1)
        unit = "s" if pyarrow.types.is_date(kind) else kind.unit
        return ticks(text, unit) == (value * 86400 if pyarrow.types.is_date(kind) else value)
    if pyarrow.types.is_floating(kind):
        forms = {16: "e", 32: "f", 64: "d"}
        return (not is_json or isinstance(text, D)) and is_same_float(value, narrow(forms[kind.bit_width], float(text)))
    if pyarrow.types.is_boolean(kind):
        return text is value if is_json else text == str(value).lower()
    if pyarrow.types.is_decimal(kind):
        return isinstance(text, D if kind.scale and is_json else int if is_json else str) and D(text).as_tuple() == D(value).as_tuple()
    if pyarrow.types.is_integer(kind):
        return text == (value if is_json else str(value))
    return text == value


def rows_of(text, delimiter):
    """The fields of a table as RFC 4180 has them; an empty field without quotes is `None`."""
    rows, row, at = [], [], 0
    while at < len(text):
        if text[at] == '"':
            found = re.compile(r'"((?:[^"]|"")*)"').match(text, at)
            field, at = found[1].replace('""', '"'), found.end()
        else:
            found = re.compile(f"[^{delimiter}\n\"\r]*").match(text, at)
            field, at = found[0] or None, found.end()
        row.append(field)
        if text[at] == delimiter:
            at += 1
            if text[at] == "\n":
                row.append(None)
        if text[at] == "\n":
            rows.append(row)
            row, at = [], at + 1
    return rows


def run(binary, args):
    done = subprocess.run([binary, "sort", "-q", "-d", "cpu", *args], stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stderr.decode()


def convert(binary, folder, source, name, keys=("-k", "id")):
    """Converts a file. Returns where it is, or `None` and what was said of a refusal, which left nothing."""
    target = os.path.join(folder, name)
    args = [*keys, source] + (["--memory", "1"] if name.startswith("little") else [])
    code, said = run(binary, [*args, "-o", target])
    assert code in (0, 2) and (code == 0) == os.path.exists(target), f"{args}: {code} {said}"
    assert "internal error" not in said and "panicked" not in said, said
    if code == 2 and name.rsplit(".")[-1] in ("csv", "tsv", "jsonl", "parquet"):
        piped = subprocess.run([binary, "sort", "-q", *args, "--to", name.rsplit(".")[-1]], stdin=subprocess.DEVNULL, capture_output=True)
        assert (piped.returncode, piped.stdout) == (2, b""), f"{args}: {piped}"
    return (target, said) if code == 0 else (None, said)


def read(path):
    if path.endswith(".parquet"):
        return pyarrow.parquet.read_table(path)
    with pyarrow.memory_map(path) as source:
        return pyarrow.ipc.open_file(source).read_all()


def stored(column):
    """The values of a column, those of times as numbers."""
    if is_time(column.type):
        width = pyarrow.int32() if column.type.bit_width == 32 else pyarrow.int64()
        return column.cast(width).to_pylist()
    return column.to_pylist()


def shuffled(rng, rows):
    ids = list(range(rows))
    rng.shuffle(ids)
    return ids


def of_columns(rng, binary, folder):
    """Columns become text, and each value is read from it."""
    rows = rng.choice([0, 1, 3, 40, 300])
    chosen = [rng.choice(TYPES) for _ in range(rng.randrange(1, 5))]
    names = [rng.choice(["a", "b\"", "ß, c"]) + str(number) for number in range(len(chosen))]
    nulls = rng.choice([0, 0.3])
    columns = [[None if rng.random() < nulls else value(rng) for _ in range(rows)] for _, value in chosen]
    ids = shuffled(rng, rows)
    made = pyarrow.table([array(kind, values) for (kind, _), values in zip(chosen, columns)] + [pyarrow.array(ids, pyarrow.int64())], names=names + ["id"])
    # Parquet of pyarrow has no such columns.
    is_odd = lambda kind: pyarrow.types.is_run_end_encoded(kind) or pyarrow.types.is_list_view(kind) or pyarrow.types.is_dictionary(kind)
    has_odd = any(is_odd(kind) for kind, _ in chosen)
    extension = "arrow" if has_odd else rng.choice(["parquet", "arrow"])
    source = os.path.join(folder, f"in.{extension}")
    if extension == "parquet":
        pyarrow.parquet.write_table(made, source, row_group_size=100)
    else:
        with pyarrow.ipc.new_file(source, made.schema) as writer:
            writer.write_table(made)
    made = read(source)
    order = sorted(range(rows), key=lambda row: ids[row])
    columns = [[stored(made.column(number))[row] for row in order] for number in range(len(chosen))]
    for form in ["csv", "tsv", "jsonl"]:
        is_json = form == "jsonl"
        target, said = convert(binary, folder, source, rng.choice(["", "little-"]) + "out." + form)
        if target is None:
            wrong = [name for name, values, field in zip(names, columns, made.schema) if is_lacking(field.type, values, is_json)]
            assert any(f"column '{name}'" in said for name in wrong), f"{said} {made.schema}"
            continue
        text = open(target, newline="", encoding="utf-8").read()
        if is_json:
            found = [json.loads(line, parse_float=D) for line in text.split("\n")[:-1]]
            head = names + ["id"]
            assert all(list(one) == head for one in found), found
            found = [[one[name] for name in head] for one in found]
        else:
            head, *found = rows_of(text, "\t" if form == "tsv" else ",")
            assert head == names + ["id"], head
        assert len(found) == rows, (found, rows)
        for number, field in enumerate(list(made.schema)[:-1]):
            for one, row in zip(columns[number], found):
                assert is_held(field.type, one, row[number], is_json), f"{form}: {field} {one!r} became {row[number]!r}"


def is_lacking(kind, values, is_json):
    """Whether text of this form may refuse a column."""
    if pyarrow.types.is_dictionary(kind) or pyarrow.types.is_run_end_encoded(kind):
        kind = kind.value_type
    if pyarrow.types.is_nested(kind):
        return not is_json or pyarrow.types.is_map(kind) or "double" in str(kind)
    is_special = lambda value: value is not None and not math.isfinite(value)
    return pyarrow.types.is_binary(kind) or is_json and pyarrow.types.is_floating(kind) and any(map(is_special, values))


def day(rng):
    return f"{rng.randrange(1, 9999):04}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"


def clock(rng):
    return f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"


def spelled_times(rng):
    separator, zone = rng.choice("T "), rng.choice(["", "Z", "+02:00", "+00:00", "-09:30"])
    places = rng.choice([0, 3, 6, 9])
    part = lambda rng: "." + f"{rng.randrange(10**places):0{places}}" if places else ""
    near = lambda rng: f"{rng.randrange(1700, 2250):04}{day(rng)[4:]}"
    days = rng.choice([near, day])
    return lambda rng: days(rng) + separator + clock(rng) + part(rng) + zone


# What makes the fields of a column, by the random numbers of a case.
FIELDS = [
    lambda rng: lambda rng: str(rng.randrange(-99, 99)),
    lambda rng: integers_as_text(rng.choice([2**31, 2**63, 2**64, 10**30, 10**40])),
    lambda rng: lambda rng, places=rng.randrange(1, 20): f"{rng.choice(['', '-'])}{rng.randrange(10**rng.randrange(1, 12))}.{rng.randrange(10**places):0{places}}",
    lambda rng: lambda rng: repr(float_of(rng)).replace("nan", "NaN"),
    lambda rng: lambda rng: repr(rng.randrange(-9999, 9999) / 2**rng.randrange(9)).removesuffix(".0"),
    lambda rng: day,
    spelled_times,
    spelled_times,
    lambda rng: lambda rng: rng.choice(["true", "false"]),
    lambda rng: texts,
    lambda rng: lambda rng: "",
]
# Fields that a type would alter.
ODD = ["007", "+1", "1.50", "1e3", "-0", "-0.0", "0.0", "1_000", "2026-02-30", "2026-1-2", "9999-01-01T00:00:00", "2026-01-01T00:00:00.123456789", "NaN", "nan", "inf", "x", "True", ".5", "5.", "1,5", " 1", "1 ", "24:00:00", "2026-01-01T23:59:60", "0x10", "--1", "1e400", "1.7976931348623157e309", "9" * 40, "0." + "1" * 40]


def integers_as_text(most):
    return lambda rng: str(rng.randrange(-most, most))


def value_of(kind, field):
    """The value of a field in a column of this type."""
    if pyarrow.types.is_string(kind):
        return field
    if pyarrow.types.is_boolean(kind):
        return {"true": True, "false": False}[field]
    if pyarrow.types.is_integer(kind):
        return int(field)
    if pyarrow.types.is_decimal(kind):
        return D(field)
    if pyarrow.types.is_floating(kind):
        return float(field)
    if pyarrow.types.is_date(kind):
        return ticks(field, "s") // 86400
    return ticks(field, kind.unit)


def claims(path):
    groups = pyarrow.parquet.ParquetFile(path).metadata
    return all(groups.row_group(number).sorting_columns for number in range(groups.num_row_groups))


def of_fields(rng, binary, folder):
    """Fields become columns that have the same values, and fields again that are spelled the same."""
    rows = rng.choice([1, 3, 40, 300])
    makers = [rng.choice(FIELDS)(rng) for _ in range(rng.randrange(1, 5))]
    names = [f"c{number}" for number in range(len(makers))]
    odd, nulls = rng.choice([0, 0, 0.02]), rng.choice([0, 0.2])
    field = lambda maker: None if rng.random() < nulls else rng.choice(ODD) if rng.random() < odd else maker(rng)
    columns = [[field(maker) for _ in range(rows)] for maker in makers]
    ids = shuffled(rng, rows)
    delimiter, form = rng.choice([(",", "csv"), ("\t", "tsv")])
    quoted = lambda text: "" if text is None else text if text and not re.search(f'["\n\r{delimiter}]', text) and rng.random() < 0.8 else '"' + text.replace('"', '""') + '"'
    lines = [delimiter.join(map(quoted, row)) + "\n" for row in [names + ["id"], *zip(*columns, map(str, ids))]]
    source = os.path.join(folder, f"in.{form}")
    open(source, "w", newline="", encoding="utf-8").write("".join(lines))
    order = sorted(range(rows), key=lambda row: ids[row])
    columns = [[column[row] for row in order] for column in columns]
    for middle in ["parquet", "arrow", "jsonl"]:
        target, said = convert(binary, folder, source, rng.choice(["", "little-"]) + "out." + middle)
        if middle == "jsonl":
            assert target, said
            found = [json.loads(line, parse_float=str, parse_int=str) for line in open(target, newline="", encoding="utf-8").read().split("\n")[:-1]]
            shown = [[one[name] for one in found] for name in names]
            shown = [[str(one).lower() if isinstance(one, bool) else one for one in column] for column in shown]
            assert shown == columns, f"{columns} became {shown}"
            continue
        assert target, said
        made = read(target)
        assert made.column_names == names + ["id"] and made.column("id").type == pyarrow.int64()
        for name, column in zip(names, columns):
            kind = made.schema.field(name).type
            for one, other in zip(stored(made.column(name)), column):
                expected = None if other is None else value_of(kind, other)
                assert one == expected or is_same_float(one, expected), f"{kind}: {other!r} became {one!r}"
        assert middle == "arrow" or claims(target), "an order is claimed"
        code = subprocess.run([binary, "check", "-q", target, *(["-k", "id"] if middle == "arrow" else [])]).returncode
        assert code == 0, target
        back, said = convert(binary, folder, target, f"back.{form}")
        _, *again = rows_of(open(back, newline="", encoding="utf-8").read(), delimiter)
        assert [list(column) for column in zip(*again)][:-1] == columns, f"{columns} became {again}"
    key = rng.choice(names)
    args = ["-k", key, *(["--invalid", "last"] if rng.random() < 0.2 else [])]
    words = [one for column in columns for one in column if one and re.fullmatch("[-+.:\\w]+", one)]
    if words and rng.random() < 0.5:
        args.append(f"--na={rng.choice(words)}")
    target, said = convert(binary, folder, source, "by.parquet", args)
    if target is not None and claims(target):
        assert subprocess.run([binary, "check", "-q", target]).returncode == 0, f"{key} in {columns}"


# Numbers of JSON, strings and others, by the random numbers of a case.
NUMBERS = [
    lambda rng: str(rng.randrange(-99, 99)),
    lambda rng: str(rng.randrange(2**64)),
    lambda rng: repr(rng.random()),
    lambda rng: rng.choice(["1", "0.5", "2.50", "-0.25", "1e3", "-0"]),
    lambda rng: rng.choice(["1", "9007199254740993", "0.5"]),
    lambda rng: rng.choice(["123456789012345678901234567890", "-5"]),
    lambda rng: str(rng.randrange(10**9)) + f".{rng.randrange(100):02}",
]
OTHERS = [
    lambda rng: json.dumps(texts(rng), ensure_ascii=rng.random() < 0.5),
    lambda rng: rng.choice(["true", "false"]),
    lambda rng: "[" + ",".join(rng.choice(["1", "null", "-3"]) for _ in range(rng.randrange(3))) + "]",
    lambda rng: rng.choice(['{"x":1,"y":"z"}', '{"y":null}', '{"x":2}', '{"y":"","x":null}']),
    lambda rng: '[{"k":[' + rng.choice(["", '"a"', '"b",null']) + "]}]",
    lambda rng: "null",
]
DAMAGED = ['{"id":1,"a":', '{"id":1,"a":oops,"b":6}', '{"id":1,,"b":2}', '{"id":1,"a":"\\ud800"}', '{"id":1,"id":1}', "[1]", '{"id":1} x', '{"\\udc00":1,"id":5}']


def same_json(one, other):
    if isinstance(other, dict):
        return isinstance(one, dict) and all(same_json(value, other.get(name)) for name, value in one.items()) and set(other) <= set(one)
    if isinstance(other, list):
        return isinstance(one, list) and len(one) == len(other) and all(map(same_json, one, other))
    if isinstance(other, D) or isinstance(other, int) and not isinstance(other, bool):
        is_number = isinstance(one, (int, float, D)) and not isinstance(one, bool)
        return is_number and (D(repr(one)) if isinstance(one, float) else D(one)) == D(other)
    return type(one) is type(other) and one == other


def of_objects(rng, binary, folder):
    """Objects become columns and rows of the same values, or are refused with their line."""
    rows = rng.choice([1, 3, 40])
    names = [f"c{number}" for number in range(rng.randrange(1, 5))]
    makers = [rng.choice(NUMBERS + OTHERS) for _ in names]
    ids = shuffled(rng, rows)
    missing = rng.choice([0, 0.2])
    lines = []
    for number in ids:
        pairs = [(name, maker(rng)) for name, maker in zip(names, makers) if rng.random() >= missing]
        lines.append("{" + ", ".join(f"{json.dumps(name)}:{value}" for name, value in pairs + [("id", str(number))]) + "}\n")
    expected = sorted((json.loads(line, parse_float=D) for line in lines), key=lambda one: one["id"])
    damaged = rng.choice(DAMAGED) if rng.random() < 0.2 else None
    if damaged:
        lines.insert(rng.randrange(len(lines) + 1), damaged + "\n")
    source = os.path.join(folder, "in.jsonl")
    open(source, "w", newline="", encoding="utf-8").write("".join(lines))
    keys = ("-k", "id:number", "--invalid", "last")
    for form in ["parquet", "arrow", "csv"]:
        target, said = convert(binary, folder, source, "out." + form, keys)
        if damaged:
            assert target is None and f"in.jsonl:{lines.index(damaged + chr(10)) + 1}" in said, f"{damaged}: {target} {said}"
            continue
        if target is None:
            is_nested = form == "csv" and "is nested" in said
            assert is_nested or "no column type holds exactly" in said or "Parquet" in said, said
            continue
        if form == "csv":
            head, *found = rows_of(open(target, newline="", encoding="utf-8").read(), ",")
            found = [dict(zip(head, row)) for row in found]
            shown = lambda value: None if value is None else json.dumps(value) if isinstance(value, bool) else value
            raw = sorted((json.loads(line, parse_float=str, parse_int=str) for line in lines), key=lambda one: int(one["id"]))
            assert all(row[name] == shown(one.get(name)) for one, row in zip(raw, found) for name in row), f"{raw} became {found}"
            continue
        made = read(target).to_pylist()
        for one, other in zip(made, expected):
            assert same_json(one, {name: other.get(name) for name in one}) and set(other) <= set(one), f"{other} became {one}"
        back, said = convert(binary, folder, target, "back.jsonl")
        if back is not None:
            again = [json.loads(line, parse_float=D) for line in open(back, encoding="utf-8")]
            assert all(map(same_json, again, expected)), f"{expected} became {again}"


def case(rng, binary, folder):
    rng.choice([of_columns, of_fields, of_objects])(rng, binary, folder)


def self_test(rng):
    """A conversion that loses something must be found out."""
    assert is_held(pyarrow.float64(), -0.0, "-0.0", False) and not is_held(pyarrow.float64(), -0.0, "0.0", False)
    assert is_held(pyarrow.timestamp("ns"), 1, "1970-01-01T00:00:00.000000001", False)
    assert not is_held(pyarrow.timestamp("ns"), 2, "1970-01-01T00:00:00.000000001", False)
    assert ticks("0000-12-31", "s") == -719163 * 86400 and ticks("-PT0.5S", "ms") == -500
    assert rows_of('a,""\n"b\n""",\n', ",") == [["a", ""], ['b\n"', None]]
    assert not same_json(1.5, D("1.25")) and not same_json("5", 5) and same_json({"a": None}, {})
    found = noticed(rng, 'for last; do :; done\n[ "$1" = check ] || cp "$7" "$last"\n', case)
    assert found == 20, f"{found} of 20 wrong answers were noticed"



def main():
    asked = arguments()
    self_test(random.Random(7))
    run_all(asked.cases, asked.seed, lambda rng, folder, _: case(rng, asked.binary, folder))


main()
