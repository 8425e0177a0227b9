#!/usr/bin/env python3
"""An oracle of the command `gpusort`: what the contract says that a command line gives for its inputs.

`run(words, read)` gives a `Result`. Called as a program the module acts as `gpusort` does: `oracle.py sort -k 2 FILE`.
The oracle is naive: it reads all inputs, decides each rule by one short function, and compares values as Python objects.
"""

import sys
from dataclasses import dataclass, field

import order
import undecided
from layout import Columns, decide
from options import Options, Refusal, parse
from records import Input, Record, read


@dataclass
class Result:
    """The outcome: bytes and exit code 0 or 1, or an error with exit code 2 and the words of its message.

    `labels` names the undecided places that were reached. `parts` are two sorted files whose merge gives `output`.
    """

    output: bytes = b""
    code: int = 0
    error: str = ""
    words: tuple[str, ...] = ()
    labels: set[str] = field(default_factory=set)
    parts: tuple[bytes, ...] = ()


def run(words: list[str], read_file) -> Result:
    """Run a command line; `read_file(name)` gives the bytes of a file, and of standard input for `-`.

    Options and keys are checked before a file is read (section 5: "Errors come first").
    """
    undecided.clear()
    try:
        options = parse(words)
        check(options)
        inputs = [(name, read_file(name)) for name in options.files or ["-"]]
        result = answer(options, inputs)
    except Refusal as refusal:
        result = Result(code=2, error=refusal.kind, words=refusal.words)
    except OSError as problem:
        result = Result(code=2, error=str(problem))
    result.labels = set(undecided.LABELS)
    return result


def check(options: Options) -> None:
    """Refuse options that do not fit each other, before anything is read (section 5)."""
    for mark_of_number in (options.decimal, options.thousands):
        if mark_of_number.isdigit():
            raise Refusal("option")
    if options.decimal == options.thousands or not options.decimal:
        raise Refusal("option")


def answer(options: Options, inputs: list[tuple[str, bytes]]) -> Result:
    """Decide the layout, read the records, and sort or check them (sections 1 and 2)."""
    layout, line = decide(options, inputs)
    separator = layout.separator.encode() if layout.form == "table" else None
    data = read(inputs, options.zero, separator, options.comments, layout.header)
    if layout.form in ("table", "json") and not options.keys:
        names = Columns(layout, data, line, options).names
        raise Refusal("tables and objects need a key", tuple(name for name in names if order.is_simple(name)))
    columns = Columns(layout, data, line, options)
    check_names(options, columns, data)
    if layout.form == "json":
        for record in data.records:
            columns.object(record)
    for key in options.keys:
        columns.resolve(key)
    keys = sort_keys(options, columns, data.records)
    if options.command == "check":
        return check_order(options, keys, len(data.records))
    return sort(options, data, keys)


def check_names(options: Options, columns: Columns, data: Input) -> None:
    """Refuse a column number beyond the header of a table; an empty input is sorted, whatever the key (section 4)."""
    if columns.layout.form != "table" or not columns.header:
        return
    for key in options.keys:
        if isinstance(key.column, int) and key.column > len(columns.names) and key.raw.strip() not in columns.names:
            if not data.records or all(record.blank for record in data.records):
                undecided.mark("header-without-rows")
            raise Refusal("no such column")


def sort_keys(options: Options, columns: Columns, records: list[Record]) -> list[order.SortKey]:
    """Give all keys as they are compared; words are demanded only where one key has an error."""
    if not options.keys:
        return order.keys_of_lines(columns, records, options)
    keys, refusals = [], []
    for key in options.keys:
        try:
            keys.append(order.sort_key(key, columns, records, options))
        except Refusal as refusal:
            refusals.append(refusal)
    if len(refusals) > 1:
        raise Refusal(refusals[0].kind)
    if refusals:
        raise refusals[0]
    return keys


def sort(options: Options, data: Input, keys: list[order.SortKey]) -> Result:
    """Sort, apply `-u`, `--invalid skip` and `--top`, and write the records whole (sections 1 and 4)."""
    found = order.stable_sort(keys, len(data.records), options)
    found = order.skip_invalid(keys, found, options)
    if options.unique:
        found = order.keep_first(keys, found, options)
    if options.top is not None:
        found = found[: options.top]
    if options.argsort:
        return Result(positions(options, found))
    return Result(records_in(data, found), parts=halves(data, found))


def positions(options: Options, found: list[int]) -> bytes:
    """Write positions from 0, one a line (section 4, `--argsort`)."""
    if options.zero:
        undecided.mark("argsort-with-z")
    return b"".join(b"%d\n" % at for at in found)


def records_in(data: Input, found: list[int]) -> bytes:
    """Write the byte order mark, comments, the header, and the records in order (section 3)."""
    records = [*data.comments, *data.header, *(data.records[at] for at in found)]
    return data.mark + b"".join(record.data + record.end for record in records)


def halves(data: Input, found: list[int]) -> tuple[bytes, ...]:
    """Write the sorted records of the first and of the second half of the input, each with the header."""
    middle = len(data.records) // 2
    first = records_in(data, [at for at in found if at < middle])
    second = Input(b"", [], data.header, data.records)
    return first, records_in(second, [at for at in found if at >= middle])


def check_order(options: Options, keys: list[order.SortKey], count: int) -> Result:
    """Tell whether the records are in order: 0, or 1; with `-u` equal keys are out of order, too (sections 2 and 5).

    A check stops at the first record out of order, so `--empty error` and `--nan error` refuse no record behind it.
    """
    kept = order.skip_invalid(keys, list(range(count)), options)
    compared = order.keys_of_unique(keys, options)
    before = None
    for at in kept:
        for key in keys:
            order.refuse_null(key.cells[at][0], options)
        if before is not None and is_disorder(options, keys, compared, before, at):
            return Result(code=1)
        before = at
    return Result()


def is_disorder(options: Options, keys: list[order.SortKey], compared: list[order.SortKey], a: int, b: int) -> bool:
    """Tell whether a record is out of order behind another one."""
    return order.compare(keys, a, b, options) > 0 or (options.unique and order.equal(compared, a, b, options))


def read_from_disk(name: str) -> bytes:
    """Read a file, or standard input for `-`."""
    if name == "-":
        return sys.stdin.buffer.read()
    with open(name, "rb") as file:
        return file.read()


def main() -> int:
    """Act as the command does."""
    result = run(sys.argv[1:], read_from_disk)
    if result.code == 2:
        print(result.error, *result.words, file=sys.stderr)
        return 2
    output = parse(sys.argv[1:]).output
    if output:
        with open(output, "wb") as file:
            file.write(result.output)
    else:
        sys.stdout.buffer.write(result.output)
        sys.stdout.flush()
    return result.code


if __name__ == "__main__":
    sys.exit(main())
