"""Fields and columns of section 3: lines split at blanks, at a character, as a table with quotes, or by position."""

import json
import re
from dataclasses import dataclass

from options import Refusal
from undecided import mark


@dataclass
class Field:
    """The field of a key: `text` is None where it is missing.

    `rest` is the text from the field to the end of the line, where a time may take further fields.
    `json` is "number", "string", "word" or "null" in JSON Lines.
    """

    text: str | None
    rest: str | None = None
    json: str = ""


MISSING = Field(None)
FIELD = re.compile(r"[^ \t\n]+")


def awk_fields(text: str) -> list[Field]:
    """Split at runs of blanks, numbered as `awk` numbers fields: leading blanks begin no field (section 3, Lines)."""
    return [Field(match[0], text[match.start():]) for match in FIELD.finditer(text)]


def delimited_fields(text: str, delimiter: str) -> list[Field]:
    """Split at each delimiter; a blank line has no field that counts (section 3: `--delimiter`)."""
    return [Field(part) for part in text.split(delimiter)] if text else []


def quoted_fields(text: str, separator: str) -> list[Field]:
    """Split a row at the separator, with quotes as in RFC 4180 (section 3, CSV)."""
    fields, at = [], 0
    while True:
        if text.startswith('"', at):
            value, at = quoted_value(text, at + 1)
            stop = text.find(separator, at)
            stop = len(text) if stop < 0 else stop
            fields.append(value + text[at:stop])
        else:
            stop = text.find(separator, at)
            stop = len(text) if stop < 0 else stop
            fields.append(text[at:stop])
        if stop == len(text):
            return [Field(value) for value in fields]
        at = stop + len(separator)


def quoted_value(text: str, at: int) -> tuple[str, int]:
    """Read a value behind its opening quote; two quotes are one (RFC 4180)."""
    value = ""
    while at < len(text):
        if text[at] != '"':
            value += text[at]
            at += 1
        elif text.startswith('""', at):
            value += '"'
            at += 2
        else:
            return value, at + 1
    raise Refusal("a quote is not closed")


@dataclass
class Column:
    """A column by position: its name, and where it begins and ends in characters."""

    name: str
    start: int
    stop: int | None


def columns_by_position(header: str, rows: list[str]) -> list[Column]:
    """Cut columns at the positions that are blank in the header and in all rows (section 3, A name means a header).

    A part without a name belongs to the column on its left.
    """
    lines = [header, *rows]
    width = max(len(line) for line in lines)
    blank = [all(at >= len(line) or line[at] in " \t" for line in lines) for at in range(width)]
    columns: list[Column] = []
    for match in re.finditer("x+", "".join(" " if b else "x" for b in blank)):
        name = header[match.start():match.end()].strip(" \t")
        if not name:
            continue
        if columns:
            columns[-1].stop = match.start()
        columns.append(Column(name, match.start(), None))
    return columns


def field_by_position(text: str, column: Column) -> Field:
    """Cut one column out of a row; the blanks that align the column belong to no field."""
    value = text[column.start:column.stop].strip(" \t")
    return Field(value)


def counted_field(text: str, number: int, columns: int) -> Field:
    """Give a field by its number; fields beyond the last column belong to the last column (section 3)."""
    fields = awk_fields(text)
    if number > len(fields):
        return MISSING
    if number == columns and len(fields) > columns:
        rest = fields[number - 1].rest.rstrip(" \t")
        return Field(rest, rest)
    return fields[number - 1]


class RawNumber(str):
    """A number of JSON as it is written."""


def json_object(text: str) -> dict | None:
    """Read a line as a JSON object, with numbers as they are written; None where it is none."""
    try:
        value = json.loads(text, parse_int=RawNumber, parse_float=RawNumber)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def json_path(column: str) -> list[str | int]:
    """Split `user.id` and `tags[0]` into steps (section 3, JSON Lines)."""
    steps: list[str | int] = []
    for part in column.split("."):
        match = re.fullmatch(r"([^\[]*)((?:\[[0-9]+\])*)", part)
        if not match:
            return [column]
        steps += [match[1]] if match[1] else []
        steps += [int(index) for index in re.findall(r"\[([0-9]+)\]", match[2])]
    return steps


ABSENT = object()


def json_value(record: dict, column: str):
    """Follow the path of a column; the exact name of a member comes first."""
    if column in record:
        return record[column]
    value = record
    for step in json_path(column):
        if isinstance(step, str) and isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return ABSENT
    return value


def json_field(value) -> Field:
    """Turn a value of JSON into a field: null is empty, true and false are text (section 4)."""
    if value is ABSENT or value is None:
        return MISSING if value is ABSENT else Field(None, json="null")
    if isinstance(value, RawNumber):
        return Field(str(value), json="number")
    if isinstance(value, str):
        return Field(value, json="string")
    if isinstance(value, bool):
        return Field("true" if value else "false", json="word")
    mark("json-object-or-array-as-a-key")
    return Field(json.dumps(value), json="word")
