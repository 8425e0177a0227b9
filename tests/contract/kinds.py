"""The kinds of section 4: the first kind that all fields of a column fit, and the value of each field."""

from dataclasses import dataclass

import exact_numbers
import times
import units
import versions
from exact_numbers import Notation
from tables import Field
from undecided import mark

BLANKS = " \t\n"


@dataclass(frozen=True)
class Decision:
    """What was decided for a column.

    `symbol` is the sign of a currency or percent. `looked` tells that the kind was found and not given.
    `mixed` tells that numbers or times stand beside words; `misfit` is the first field that does not fit.
    `broken` tells that no option brings the fields into one order, such as times with and without a zone.
    """

    kind: str
    symbol: str = ""
    looked: bool = True
    mixed: bool = False
    misfit: int | None = None
    broken: bool = False


def is_empty(field: Field, notation: Notation, kind: str) -> bool:
    """Tell whether a field is empty: missing, without a character, or a word of `--na` (section 4).

    Blanks around a field count in text only, so a field of blanks is empty in all other kinds.
    In JSON `""` is text, and empty where the column is of another kind.
    """
    if field.text is None or (field.json != "number" and field.text.strip(BLANKS) in notation.na):
        return True
    if kind != "text":
        return not field.text.strip(BLANKS)
    if field.text and not field.text.strip(BLANKS):
        mark("text-field-of-blanks")
    return not field.text and field.json != "string"


def time_of(field: Field, notation: Notation) -> times.Time | None:
    """Read the time of a field; in lines a time takes as many fields as it needs (section 4, kind 2)."""
    if field.rest is not None:
        return times.parse(field.rest, notation.time_formats, False)
    return times.parse(field.text.strip(BLANKS), notation.time_formats, True)


def is_time_behind_number(field: Field) -> bool:
    """Tell whether a number begins a time: `21 Nov 2026 10:00:00 +0100` (section 4, kind 2)."""
    return field.rest is not None and times.number_begins_time(field.rest)


def like(field: Field, notation: Notation):
    """Read a field as a number with any sign of a currency, or None."""
    if field.json in ("string", "word") or is_time_behind_number(field):
        return None
    return exact_numbers.number_like(field.text.strip(BLANKS), notation)


def size_of(field: Field, notation: Notation):
    """Read a field as a size, or None."""
    return units.parse_size(field.text.strip(BLANKS), notation)


def all_numbers(fields: list[Field], notation: Notation) -> str | None:
    """Give the sign of a column where all fields are numbers with the same sign, or with none (section 4, kind 1).

    `inf` and `nan` count in a column that has a digit or nothing else.
    """
    found = [like(field, notation) for field in fields]
    if not all(found):
        return None
    symbols = {symbol for symbol, _ in found}
    return symbols.pop() if len(symbols) == 1 else None


def all_sizes(fields: list[Field], notation: Notation) -> bool:
    """Tell whether all fields are sizes and at least one has a unit (section 4, kind 3)."""
    found = [size_of(field, notation) for field in fields]
    return all(found) and any(unit for unit, _ in found)


def duration_forms(fields: list[Field]) -> set[str] | None:
    """Give the forms of a column where all fields are durations, or None (section 4, kind 3)."""
    found = [units.parse_duration(field.text.strip(BLANKS)) for field in fields]
    return {form for form, _ in found} if all(found) else None


def all_versions(fields: list[Field]) -> bool:
    """Tell whether all fields are versions and at least one has two points (section 4, kind 3)."""
    points = [versions.points_of_version(encode(field.text.strip(BLANKS))) for field in fields]
    if None in points or max(points) < 2:
        return False
    if 0 in points:
        mark("version-without-a-point")
    return True


def encode(text: str) -> bytes:
    """Give the bytes of a text, as they stand in the file."""
    return text.encode("utf-8", "surrogateescape")


def time_decision(found: list[times.Time]) -> Decision:
    """Decide for a column of times: with and without a year, or with and without a zone, is an error (section 4, kind 2)."""
    forms = [(time.year, time.zone) for time in found]
    for index, form in enumerate(forms):
        if form != forms[0]:
            return Decision("time", mixed=True, misfit=index, broken=True)
    return Decision("time")


def kind_three(fields: list[Field], notation: Notation) -> Decision | None:
    """Decide between size, duration and version, in that order (section 4, kind 3)."""
    if all_sizes(fields, notation):
        return Decision("size")
    forms = duration_forms(fields)
    if forms and forms != {"zero"}:
        if units.mixes_clocks(forms):
            return Decision("duration", mixed=True, misfit=first_other_clock(fields), broken=True)
        return Decision("duration")
    return Decision("version") if all_versions(fields) else None


def first_other_clock(fields: list[Field]) -> int:
    """Give the first field of another form than the first clock."""
    forms = [units.parse_duration(field.text.strip(BLANKS))[0] for field in fields]
    clocks = [form for form in forms if form in ("a:b", "a:b:c")]
    return next(i for i, form in enumerate(forms) if form in ("a:b", "a:b:c") and form != clocks[0])


def decide(fields: list[Field], notation: Notation) -> Decision:
    """Find the first kind that all fields fit, empty ones aside (section 4, Kinds); `fields` has all of the column."""
    if any(field.json for field in fields):
        return decide_json(fields, notation)
    places = [i for i, field in enumerate(fields) if not is_empty(field, notation, "number")]
    present = [fields[i] for i in places]
    if not present:
        return Decision("text")
    decision = decide_present(present, notation)
    return at_place(decision, places)


def at_place(decision: Decision, places: list[int]) -> Decision:
    """Give the decision with the place of its misfit among all fields."""
    if decision.misfit is None:
        return decision
    return Decision(decision.kind, decision.symbol, decision.looked, decision.mixed, places[decision.misfit], decision.broken)


def decide_present(present: list[Field], notation: Notation) -> Decision:
    """Find the kind of fields that are not empty (section 4, Kinds 1 to 5)."""
    symbol = all_numbers(present, notation)
    if symbol is not None:
        if notation.time_formats and all(time_of(field, notation) for field in present):
            mark("time-format-that-reads-numbers")
        return Decision("number", symbol)
    found = [time_of(field, notation) for field in present]
    if all(found):
        return time_decision(found)
    third = kind_three(present, notation)
    if third and third.kind == "version" and times.all_day_month([f.text.strip(BLANKS) for f in present]):
        return Decision("text")
    return third or text_or_mixed(present, notation)


def text_or_mixed(present: list[Field], notation: Notation) -> Decision:
    """Decide between text and numbers or times beside words (section 4, kinds 4 and 5)."""
    symbol = symbol_of_numbers(present, notation)
    classes = [class_of(field, notation, symbol) for field in present]
    if symbol == "" and "number" in classes:
        classes = ["number" if is_special(field, notation) else found for field, found in zip(present, classes)]
    if set(classes) == {"word"}:
        return Decision("text")
    misfit = next((i for i, found in enumerate(classes) if found != classes[0]), 0)
    return Decision("number" if "number" in classes else "time", symbol, mixed=True, misfit=misfit)


def symbol_of_numbers(present: list[Field], notation: Notation) -> str:
    """Give the sign of the numbers of a mixed column: the first one's; other signs are no numbers then."""
    symbols = [found[0] for field in present if (found := like(field, notation)) and found[1].special == ""]
    if len(set(symbols)) > 1:
        mark("numbers-with-several-signs")
        return "" if "" in symbols else "several"
    if symbols and symbols[0]:
        mark("signed-numbers-beside-words")
    return symbols[0] if symbols else ""


def is_special(field: Field, notation: Notation) -> bool:
    """Tell whether a field is `inf` or `nan`, which count in a column that has a digit (section 4, kind 1)."""
    found = like(field, notation)
    return bool(found and found[1].special)


def class_of(field: Field, notation: Notation, symbol: str) -> str:
    """Tell whether a field is a number, a time or a word (section 4, kind 5: sizes count as numbers)."""
    found = like(field, notation)
    if found and found[0] == symbol and not found[1].special:
        return "number"
    if found and found[1].special:
        if symbol:
            mark("inf-or-nan-beside-numbers-with-a-sign")
        return "word"
    if time_of(field, notation):
        return "time"
    size = size_of(field, notation)
    if size and symbol == "":
        mark("sizes-beside-words")
        return "number"
    return "word"


def decide_json(fields: list[Field], notation: Notation) -> Decision:
    """Decide for JSON: a number is a number, strings are text unless all fit kind 2 or 3 (section 4)."""
    places = [i for i, field in enumerate(fields) if not is_empty(field, notation, "number")]
    present = [fields[i] for i in places]
    sorts = {field.json for field in present}
    if not present or sorts == {"word"}:
        return Decision("text")
    if sorts == {"number"}:
        return Decision("number")
    if sorts == {"string"}:
        found = [time_of(field, notation) for field in present]
        decision = time_decision(found) if all(found) else kind_three(present, notation)
        if decision and decision.broken:
            mark("json-strings-of-times-that-do-not-fit")
        if decision and decision.kind == "version" and times.all_day_month([f.text.strip(BLANKS) for f in present]):
            return Decision("text")
        return at_place(decision, places) if decision else Decision("text")
    if "number" not in sorts:
        return Decision("text")
    return Decision("number", mixed=True, misfit=next(i for i in places if fields[i].json != fields[places[0]].json))


def given(kind: str, fields: list[Field], notation: Notation) -> Decision:
    """Take a kind that an option gives, without looking; with `:number` the first field's sign is the column's (section 4)."""
    if kind != "number":
        return Decision(kind, looked=False)
    for field in fields:
        if field.json in ("", "number") and not is_empty(field, notation, "number"):
            found = exact_numbers.number_like(field.text.strip(BLANKS), notation)
            if found and not found[1].special:
                mark_other_signs(found[0], fields, notation)
                return Decision("number", found[0], looked=False)
            if not found:
                mark("number-key-whose-first-field-is-no-number") if any_symbol(fields, notation) else None
    return Decision("number", looked=False)


def mark_other_signs(symbol: str, fields: list[Field], notation: Notation) -> None:
    """Mark numbers with another sign than the first one's: the result may begin with one of them."""
    for field in fields:
        found = exact_numbers.number_like(field.text.strip(BLANKS), notation) if field.text else None
        if found and not found[1].special and found[0] != symbol:
            mark("number-key-of-several-signs")


def any_symbol(fields: list[Field], notation: Notation) -> bool:
    """Tell whether any field has the sign of a currency or percent."""
    return any(f.text and (found := exact_numbers.number_like(f.text.strip(BLANKS), notation)) and found[0] for f in fields)


def value(field: Field, decision: Decision, notation: Notation, leading: bool, nocase: bool):
    """Give the value of a field that is not empty, or None where the field is invalid."""
    if decision.kind == "text":
        data = encode(field.text)
        return data.upper() if nocase else data
    text = field.text.strip(BLANKS)
    if decision.kind == "number":
        return number_value(field, text, decision, notation, leading)
    if decision.kind == "time":
        time = time_of(field, notation)
        return time.nanoseconds if time else None
    if decision.kind == "size":
        size = units.parse_size(text, notation)
        if not size and not decision.looked and units.parse_size(text.upper(), notation):
            mark("size-unit-in-lower-case")
        return size[1] if size else exact_numbers.parse_special(text) or leading_value(text, notation, leading)
    if decision.kind == "duration":
        duration = units.parse_duration(text)
        return duration[1] if duration else seconds(text) if not decision.looked else None
    if decision.kind == "version":
        if not decision.looked and versions.points_of_version(encode(text)) is None:
            mark("version-key-of-a-field-that-is-none")
        return encode(text)
    if decision.kind == "month":
        return month(text)
    return exact_numbers.parse_hex(text)


def month(text: str) -> int | None:
    """Give the number of a month by its name, short or long, in any case (section 4, `:month`)."""
    long = "january february march april may june july august september october november december".split()
    names = [{name, name[:3]} for name in long]
    return next((number for number, both in enumerate(names) if text.lower() in both), None)


def number_value(field: Field, text: str, decision: Decision, notation: Notation, leading: bool):
    """Read a number; in a column that was looked at a size is a number, and a string of JSON is none (section 4)."""
    if decision.looked and field.json in ("string", "word"):
        return None
    if not decision.looked and field.json == "string":
        mark("json-string-as-a-number")
    if decision.looked and is_time_behind_number(field):
        return None
    number = exact_numbers.parse_with_symbol(text, notation, decision.symbol)
    if number:
        return number
    special = exact_numbers.parse_special(text)
    if special:
        mark("inf-or-nan-without-the-sign-of-the-column")
        return special
    size = units.parse_size(text, notation) if decision.symbol == "" else None
    if size and decision.looked:
        return size[1]
    if size and not leading:
        mark("size-in-a-column-of-number")
    return leading_value(text, notation, leading)


def leading_value(text: str, notation: Notation, leading: bool):
    """Read the number that a field begins with, where `--leading` is given (section 4)."""
    return exact_numbers.parse_leading(text, notation) if leading else None


def seconds(text: str):
    """Read a number without a unit as seconds, as `:duration` does."""
    number = exact_numbers.parse_with_symbol(text, Notation(), "")
    return exact_numbers.scale(number, 10**9) if number and not number.special else None


def compare(kind: str, a, b) -> int:
    """Compare two values of one kind."""
    if kind in ("number", "size", "duration", "hex"):
        return exact_numbers.compare(a, b)
    if kind == "version":
        return versions.compare(a, b)
    return (a > b) - (a < b)
