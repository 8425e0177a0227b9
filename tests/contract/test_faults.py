"""Plants one fault at a time into the oracle and shows that the comparison on generated cases notices the fault."""

import sys
import unittest
from functools import cmp_to_key
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

import exact_numbers  # noqa: E402
import kinds  # noqa: E402
import layout  # noqa: E402
import oracle  # noqa: E402
import order  # noqa: E402
import records  # noqa: E402
import run  # noqa: E402
import tables  # noqa: E402
import times  # noqa: E402
import units  # noqa: E402
import versions  # noqa: E402
from generate import FAMILIES, case  # noqa: E402

CASES_OF_A_FAMILY = 60


def notices(module, name: str, fault, families: list[str]) -> bool:
    """Tell whether a case of the families differs where `module.name` is replaced by `fault`."""
    for family in families:
        for number in range(CASES_OF_A_FAMILY):
            one = case(family, number, 1)
            want = run.expected(one)
            with mock.patch.object(module, name, fault):
                try:
                    got = run.expected(one)
                except (ArithmeticError, ValueError):
                    return True
            if run.difference(want, got.output, " ".join(got.words).encode("utf-8", "surrogateescape"), got.code):
                return True
    return False


def as_float(number) -> float:
    """Give a number as a float, as a program does that rounds."""
    if number.special:
        return number.sign * float("inf")
    return number.sign * float(f"0.{number.digits or 0}e{max(-10**6, min(10**6, number.exponent))}")


def numbers_as_floats(a, b) -> int:
    return (as_float(a) > as_float(b)) - (as_float(a) < as_float(b))


def without_blank_lines(name, data, ends, zero, split=records.split):
    return [record for record in split(name, data, ends, zero) if record.data]


def unstable(keys, count, options):
    return sorted(range(count), key=cmp_to_key(lambda a, b: order.compare(keys, a, b, options) or b - a))


def lines_not_reversed_on_ties(columns, found, options, original=order.keys_of_lines):
    keys = original(columns, found, options)
    if len(keys) > 1:
        keys[-1].reverse = False
    return keys


def nulls_turn_with_r(key, a, b, options):
    (left, x), (right, y) = key.cells[a], key.cells[b]
    found = order.place(left, options) - order.place(right, options) or (kinds.compare(key.decision.kind, x, y) if left == 0 else 0)
    return -found if key.reverse else found


def last_of_each_key(keys, found, options, original=order.keep_first):
    return list(reversed(original(keys, list(reversed(found)), options)))


def fields_with_leading_blanks(text):
    return [tables.Field(part, part) for part in tables.re.split("[ \t]+", text)]


def carriage_return_in_the_line(piece, zero):
    return (piece[:-1], piece[-1:]) if piece.endswith((b"\n", b"\0")) else (piece, b"")


def split_without_last_end(name, data, ends, zero, split=records.split):
    found = split(name, data, ends, zero)
    if found and (not ends or ends[-1] < len(data)):
        found[-1].end = b""
    return found


def comments_at_the_front(found):
    stop = next((i for i, record in enumerate(found) if not record.data.startswith(b"#")), len(found))
    return found[:stop], found[stop:]


def text_beside_numbers(present, notation):
    return kinds.Decision("text")


def size_without_unit(text, notation, original=units.parse_size):
    found = original(text, notation)
    return found and (found[0], exact_numbers.parse_leading(text, notation))


def strings_as_numbers(fields, notation, original=kinds.decide_json):
    return kinds.Decision("number") if all(f.text is None or f.text.isdigit() for f in fields) else original(fields, notation)


FAULTS = {
    "numbers are compared as floats": (exact_numbers, "compare", numbers_as_floats, ["numbers"]),
    "blank lines are dropped": (records, "split", without_blank_lines, ["blank-lines"]),
    "equal keys lose their order": (order, "stable_sort", unstable, ["words"]),
    "-r is ignored on ties of lines": (order, "keys_of_lines", lines_not_reversed_on_ties, ["uniq-counts"]),
    "-r turns the place of nulls": (order, "compare_key", nulls_turn_with_r, ["passwd", "mixed"]),
    "-u keeps the last record": (order, "keep_first", last_of_each_key, ["authorized-keys", "words"]),
    "leading blanks begin a field": (tables, "awk_fields", fields_with_leading_blanks, ["uniq-counts"]),
    "CR belongs to the line": (records, "split_end", carriage_return_in_the_line, ["words", "numbers", "sizes"]),
    "the last line end is not added": (records, "split", split_without_last_end, ["words"]),
    "a byte order mark belongs to the field": (records, "without_mark", lambda data: (b"", data), ["words", "sizes"]),
    "zones are ignored": (times, "offset_of", lambda zone: 0, ["git-log", "access-log", "iso-times"]),
    "a time is one field": (kinds, "time_of", lambda f, n: times.parse(f.text.strip(), n.time_formats, True), ["syslog"]),
    "versions are text": (versions, "compare", lambda a, b: (a > b) - (a < b), ["addresses"]),
    "units of sizes are ignored": (units, "parse_size", size_without_unit, ["du"]),
    "comments are read at the front only": (records, "take_comments", comments_at_the_front, ["gff"]),
    "columns are never cut by position": (layout.Columns, "cut_by_position", lambda self: False, ["docker"]),
    "fields beyond the header belong to no column": (tables, "counted_field", lambda text, number, columns: (tables.awk_fields(text) + [tables.MISSING] * 99)[number - 1], ["ps", "columns-of-blanks"]),
    "numbers beside words are text": (kinds, "text_or_mixed", text_beside_numbers, ["mixed"]),
    "line breaks in quotes end rows": (records, "ends_of_rows", lambda data, separator: records.ends_of_lines(data, False), ["quoted"]),
    "strings of JSON are numbers": (kinds, "decide_json", strings_as_numbers, ["json-lines"]),
    "positions begin at 1": (oracle, "positions", lambda o, found: b"".join(b"%d\n" % (at + 1) for at in found), ["words", "numbers"]),
    "the name of a column implies no header": (layout, "holds", lambda names, keys: False, ["prices"]),
    "durations have no unit": (units, "parse_units", lambda text: None, ["durations"]),
    "a column of all kinds but one is no text": (kinds, "kind_three", lambda present, notation: None, ["soup"]),
    "currencies are text": (exact_numbers, "split_symbol", lambda text: None, ["prices"]),
    "--decimal has no effect": (exact_numbers, "digits_pattern", lambda n, original=exact_numbers.digits_pattern: original(exact_numbers.Notation()), ["decimal-comma"]),
    "-f compares bytes": (order, "own_nocase", lambda key, options: False, ["words"]),
    "the second header is a row": (records, "take_headers", lambda files, count: ((files or [[]])[0][:count], sum([files[0][count:], *files[1:]], [])), ["tsv", "prices"]),
}


class Faults(unittest.TestCase):
    def test_each_fault_is_noticed(self) -> None:
        for name, (module, function, fault, families) in FAULTS.items():
            with self.subTest(fault=name):
                self.assertTrue(set(families) <= set(FAMILIES))
                self.assertTrue(notices(module, function, fault, families))

    def test_no_fault_no_difference(self) -> None:
        self.assertFalse(notices(order, "place", order.place, ["words", "numbers", "mixed"]))


if __name__ == "__main__":
    unittest.main()
