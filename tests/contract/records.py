"""Records of section 3: lines, rows, their ends, the byte order mark, comments and headers."""

from dataclasses import dataclass

from options import Refusal
from undecided import mark

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass
class Record:
    """A line or a row: its bytes without the end, the end, and where it stands."""

    data: bytes
    end: bytes
    file: str
    line: int
    position: int = -1

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "surrogateescape")

    @property
    def blank(self) -> bool:
        return not self.data.strip(b" \t\n")


@dataclass
class Input:
    """All inputs as records: what stays on top, and what is sorted."""

    mark: bytes
    comments: list[Record]
    header: list[Record]
    records: list[Record]


def without_mark(data: bytes) -> tuple[bytes, bytes]:
    """Split a byte order mark from a file; the mark belongs to no field (section 3, Lines)."""
    if data.startswith(BYTE_ORDER_MARK):
        return BYTE_ORDER_MARK, data[len(BYTE_ORDER_MARK):]
    return b"", data


def ends_of_lines(data: bytes, zero: bool) -> list[int]:
    """Give the position behind each line end: LF, or NUL with `-z` (section 3, Lines)."""
    end = 0 if zero else 10
    return [at + 1 for at, byte in enumerate(data) if byte == end]


def ends_of_rows(data: bytes, separator: bytes) -> list[int]:
    """Give the position behind each row end; a line break in quotes ends no row (section 3, CSV)."""
    ends, state = [], "start"
    for at, byte in enumerate(data):
        if state == "quoted":
            state = "closed" if byte == 34 else "quoted"
        elif byte == 34 and state in ("start", "closed"):
            state = "quoted"
        elif byte == 10:
            ends.append(at + 1)
            state = "start"
        else:
            state = "start" if byte == separator[0] else "field" if state == "start" else state
    return ends


def split(name: str, data: bytes, ends: list[int], zero: bool) -> list[Record]:
    """Cut a file into records; a last line without an end gets that of the file's first line, or LF (section 3, Lines)."""
    records, start, line = [], 0, 1
    for stop in ends + ([len(data)] if not ends or ends[-1] < len(data) else []):
        piece = data[start:stop]
        if piece:
            body, end = split_end(piece, zero)
            records.append(Record(body, end, name, line))
        line += piece.count(b"\0" if zero else b"\n")
        start = stop
    if records and not records[-1].end:
        records[-1].end = records[0].end or (b"\0" if zero else b"\n")
    return records


def split_end(piece: bytes, zero: bool) -> tuple[bytes, bytes]:
    """Split a record from its end: LF, CRLF, NUL or none (section 3, Lines)."""
    if zero:
        return (piece[:-1], b"\0") if piece.endswith(b"\0") else (piece, b"")
    for end in (b"\r\n", b"\n"):
        if piece.endswith(end):
            return piece[: -len(end)], end
    return piece, b""


def take_comments(records: list[Record]) -> tuple[list[Record], list[Record]]:
    """Split lines that begin with `#` from the others, wherever they stand (section 3, `--comments`)."""
    comments = [record for record in records if record.data.startswith(b"#")]
    return comments, [record for record in records if not record.data.startswith(b"#")]


def take_headers(files: list[list[Record]], count: int) -> tuple[list[Record], list[Record]]:
    """Split the first `count` records of each file from the others (section 3).

    The first header is kept, equal ones are left out, a different one is an error.
    """
    header: list[Record] | None = None
    rest: list[Record] = []
    for records in files:
        if not records:
            continue
        own = records[:count]
        if header is None:
            header = own
        elif [record.data for record in own] != [record.data for record in header]:
            raise Refusal("a different header", (own[0].file,))
        rest += records[count:]
    return header or [], rest


def read(inputs: list[tuple[str, bytes]], zero: bool, separator: bytes | None, comments: bool, header: int) -> Input:
    """Read all inputs as one: rows where `separator` is one of a table with quotes, else lines (section 3)."""
    first_mark, files, on_top = b"", [], []
    for number, (name, data) in enumerate(inputs):
        found, data = without_mark(data)
        if found and number:
            mark("byte-order-mark-of-a-later-file")
        first_mark = first_mark or found
        ends = ends_of_rows(data, separator) if separator else ends_of_lines(data, zero)
        records = split(name, data, ends, zero)
        if comments:
            own, records = take_comments(records)
            on_top += own
        files.append(records)
    top, rest = take_headers(files, header)
    for position, record in enumerate(rest):
        record.position = position
    return Input(first_mark, on_top, top, rest)
