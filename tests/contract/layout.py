"""How keys find their fields: the format, the header, and the columns of section 3."""

from dataclasses import dataclass

import records
import tables
from options import Key, Options, Refusal
from tables import MISSING, Field
from undecided import mark

EXTENSIONS = {"csv": "csv", "tsv": "tsv", "jsonl": "jsonl", "ndjson": "jsonl"}


@dataclass
class Layout:
    """What was decided: "lines", "delimited", "table" or "json", the separator, and the lines of a header."""

    form: str
    separator: str = ""
    header: int = 0
    named: bool = False


def format_of(options: Options, names: list[str]) -> str:
    """Decide the format by `-f`, else by the extension, else lines (section 3)."""
    if options.format:
        return options.format
    found = {EXTENSIONS.get(name.rpartition(".")[2], "lines") if "." in name else "lines" for name in names}
    if len(found) > 1:
        mark("files-of-several-formats")
        raise Refusal("files of several formats")
    return found.pop() if found else "lines"


def names_of(keys: list[Key]) -> list[Key]:
    """Give the keys that are names."""
    return [key for key in keys if isinstance(key.column, str)]


def holds(names: list[str], keys: list[Key]) -> bool:
    """Tell whether a line holds the name of each key exactly, before or after its modifiers (sections 3 and 4)."""
    return all(key.raw.strip() in names or key.column in names for key in keys)


def cells(text: str, form: str, separator: str) -> list[str]:
    """Split a header line into names; blanks around a name do not count (section 4)."""
    if form == "blanks":
        return [field.text for field in tables.awk_fields(text)]
    split = tables.delimited_fields if form == "delimited" else tables.quoted_fields
    try:
        return [field.text.strip(" \t") for field in split(text, separator)]
    except Refusal:
        return []


def name_line(options: Options, inputs: list[tuple[str, bytes]], keys: list[Key], tries: list[tuple[str, str]]):
    """Give the line that holds the names and the way to split the line (section 3, A name means a header).

    With `--comments` the line is the last comment that holds all names, else a line of the header.
    """
    lines = first_lines(options, inputs)
    for line in [line for line in reversed(lines.comments)] + lines.header[-1:]:
        for form, separator in tries:
            if holds(cells(line.text, form, separator), keys):
                return line, form, separator
        if ("blanks", "") in tries and not line.data.startswith(b"#"):
            rows = [record.text for record in lines.records]
            if holds([column.name for column in tables.columns_by_position(line.text, rows)], keys):
                return line, "blanks", ""
    return None


def mark_missing_name(options: Options, inputs: list[tuple[str, bytes]], keys: list[Key]) -> None:
    """Mark names that a reader sees in the header and that the rule of positions does not give."""
    lines = first_lines(options, inputs)
    header = lines.header[-1].text if lines.header else ""
    if any(" " in str(key.column) and str(key.column) in header for key in keys):
        mark("name-with-a-blank-above-short-fields")
    if not lines.records:
        mark("header-without-rows")


def first_lines(options: Options, inputs: list[tuple[str, bytes]]) -> records.Input:
    """Read the inputs as lines, with the header that a name implies."""
    present = [(name, data) for name, data in inputs if records.without_mark(data)[1]]
    count = 1 if options.header is None else options.header
    return records.read(present[:1], options.zero, None, options.comments, count)


def decide(options: Options, inputs: list[tuple[str, bytes]]) -> tuple[Layout, records.Record | None]:
    """Decide the layout and the line that has the names (section 3)."""
    form = format_of(options, [name for name, _ in inputs])
    named = names_of(options.keys)
    if form == "jsonl":
        if options.header:
            mark("header-of-json-lines")
        return Layout("json"), None
    tries = separators(options, form)
    line = None
    if named and any(records.without_mark(data)[1] for _, data in inputs):
        if form == "lines" and not options.delimiter and starts_with_object(options, inputs):
            return Layout("json"), None
        found = name_line(options, inputs, named, tries)
        if not found:
            mark_missing_name(options, inputs, named)
            raise Refusal("no column of that name", ())
        line, way, separator = found
        if form == "lines" and way == "quoted" and len(cells(line.text, way, separator)) == 1:
            mark("header-of-one-column")
        tries = [(way, separator)]
    way, separator = tries[0] if form != "lines" or named else (("delimited", options.delimiter) if options.delimiter else ("blanks", ""))
    from_comment = line is not None and options.comments and line.data.startswith(b"#")
    default = 0 if from_comment else 1 if named or way == "quoted" else 0
    header = default if options.header is None else options.header
    names = {"quoted": "table", "delimited": "delimited", "blanks": "lines"}
    return Layout(names[way], separator, header, bool(named)), line


def separators(options: Options, form: str) -> list[tuple[str, str]]:
    """Give the separators to try, in order: tabs, commas, semicolons, blanks; a `.csv` tries commas first (section 3)."""
    if options.delimiter and form == "lines":
        return [("delimited", options.delimiter)]
    if options.delimiter:
        mark("delimiter-of-a-table")
        return [("quoted", options.delimiter)]
    if form == "csv":
        return [("quoted", ","), ("quoted", "\t"), ("quoted", ";")]
    if form == "tsv":
        return [("quoted", "\t")]
    return [("quoted", "\t"), ("quoted", ","), ("quoted", ";"), ("blanks", "")]


def starts_with_object(options: Options, inputs: list[tuple[str, bytes]]) -> bool:
    """Tell whether the first line is a JSON object (section 3, A name means a header)."""
    first = first_lines(options, inputs)
    lines = first.header + first.records
    return bool(lines) and tables.json_object(lines[0].text) is not None


class Columns:
    """Finds the field of a key in a record."""

    def __init__(self, layout: Layout, data: records.Input, line: records.Record | None, options: Options):
        self.layout, self.data = layout, data
        self.rows = [record.text for record in data.records]
        header = line or (data.header[-1] if data.header and layout.form == "table" else None)
        self.header = header
        self.names: list[str] = []
        self.positions: list[tables.Column] = []
        if header and layout.form in ("table", "delimited"):
            self.names = cells(header.text, "quoted" if layout.form == "table" else "delimited", layout.separator)
        elif header:
            self.names = cells(header.text, "blanks", "")
            from_comment = options.comments and header.data.startswith(b"#")
            self.positions = [] if from_comment else tables.columns_by_position(header.text, self.rows)
        self.objects = {}
        first = self.names or (tables.quoted_fields(self.rows[0], layout.separator) if self.rows and layout.form == "table" else [])
        self.width = len(first)

    def resolve(self, key: Key) -> None:
        """Take a key for the name of a column before it has modifiers (section 4)."""
        if self.layout.form == "json":
            if any(key.raw in (self.object(record) or {}) for record in self.data.records) and key.raw != key.column:
                key.column, key.kind, key.direction, key.nocase, key.letters = key.raw, None, None, False, False
            return
        whole = key.raw.strip()
        known = self.names + [column.name for column in self.positions]
        if whole in known and isinstance(key.column, str):
            key.column, key.kind, key.direction, key.nocase, key.letters = whole, None, None, False, False
        elif self.layout.form == "table" and isinstance(key.column, int):
            self.resolve_number(key, whole)
        if isinstance(key.column, str) and self.names.count(key.column) > 1:
            mark("two-columns-of-one-name")

    def resolve_number(self, key: Key, whole: str) -> None:
        """Refuse a number that is also the name of another column, and a number beyond the table (section 4)."""
        if whole in self.names and self.names.index(whole) + 1 != key.column:
            if key.column > len(self.names):
                mark("name-that-is-a-number-beyond-the-table")
                key.column = whole
                return
            raise Refusal("a number that is also the name of another column", (whole,))

    def object(self, record: records.Record) -> dict | None:
        """Read a record of JSON Lines; a blank line is a record without members (section 3)."""
        if record.position not in self.objects:
            value = {} if record.blank else tables.json_object(record.text)
            if value is None:
                raise Refusal("no JSON object", (f"{record.file}:{record.line}",))
            self.objects[record.position] = value
        return self.objects[record.position]

    def field(self, key: Key, record: records.Record) -> Field:
        """Give the field of a key."""
        if self.layout.form == "json":
            return tables.json_field(tables.json_value(self.object(record), str(key.column)))
        if isinstance(key.column, str):
            return self.named_field(key.column, record)
        fields = self.fields(record)
        if key.column == -1:
            if self.layout.form == "delimited" and record.text.endswith(self.layout.separator):
                mark("last-field-behind-a-last-delimiter")
            return Field(fields[-1].text) if fields else MISSING
        return fields[key.column - 1] if key.column <= len(fields) else MISSING

    def fields(self, record: records.Record) -> list[Field]:
        """Split a record into fields."""
        if self.layout.form == "table":
            fields = tables.quoted_fields(record.text, self.layout.separator) if record.data else []
            if record.text.strip(" \t") and len(fields) != self.width:
                place = "standard input" if record.file == "-" else record.file
                raise Refusal("a row with another number of fields", (f"{place}:{record.line}",))
            return fields
        if self.layout.form == "delimited":
            return tables.delimited_fields(record.text, self.layout.separator)
        return tables.awk_fields(record.text)

    def named_field(self, name: str, record: records.Record) -> Field:
        """Give the field of a column that has a name (section 3, A name means a header)."""
        if self.layout.form != "lines":
            fields, number = self.fields(record), self.names.index(name)
            return fields[number] if number < len(fields) else MISSING
        if self.cut_by_position() or name not in self.names:
            for column in self.positions:
                if column.name == name:
                    return tables.field_by_position(record.text, column)
        if name not in self.names:
            raise Refusal("no column of that name", (name,))
        return tables.counted_field(record.text, self.names.index(name) + 1, len(self.names))

    def cut_by_position(self) -> bool:
        """Tell whether a row that is not blank has another number of fields than the header (section 3)."""
        counts = {len(tables.awk_fields(row)) for row in self.rows if row.strip(" \t\n")}
        return bool(counts - {len(self.names)})
