"""The order of section 4: keys, places of what is no value, -r, -u, --top, and the order of lines without a key."""

import re
from dataclasses import dataclass
from functools import cmp_to_key

import kinds
from exact_numbers import Notation, Number
from kinds import Decision
from layout import Columns
from options import Key, Options, Refusal
from records import Record
from tables import Field
from undecided import mark

VALUE, NAN, EMPTY, INVALID = 0, 1, 2, 3


@dataclass
class SortKey:
    """One key as it is compared: its column, what was decided, its direction, and its cells, one per record."""

    column: Key | None
    decision: Decision
    reverse: bool
    cells: list[tuple[int, object]]


def whole_record(record: Record, nocase: bool):
    """Give the whole record as a value; its end is no part of it, and a whole line is never empty (section 4, No key).

    `-f` acts beside `-V`, as in `sort`.
    """
    return VALUE, (record.data.upper() if nocase else record.data)


def own_reverse(key: Key, options: Options) -> bool:
    """Tell whether a key is reversed: by `:r` or `:a`, else by `-r`; a key with letters takes no global option (section 4)."""
    if key.direction:
        if options.reverse and key.direction == "r" and not key.letters:
            mark("direction-of-a-key-under-r")
        return key.direction == "r"
    return options.reverse and not key.letters


def own_kind(key: Key, options: Options) -> str | None:
    """Give the kind of a key: its own, else that of -n, -g, -h or -V; a key with letters takes no global one (section 4)."""
    return key.kind or (None if key.letters else options.kind)


def own_nocase(key: Key, options: Options) -> bool:
    """Tell whether a key ignores case: by `:nocase` or the letter f, else by `-f`."""
    return key.nocase or (options.nocase and not key.letters)


def notation_of(options: Options) -> Notation:
    """Give the notations of the command line."""
    return Notation(options.decimal, options.thousands, options.time_formats, options.na)


def check_column(key: Key, records: list[Record], fields: list[Field]) -> None:
    """Refuse a key that no record has, though one is not blank (section 4)."""
    if all(field.text is None and not field.json for field in fields) and any(not record.blank for record in records):
        raise Refusal("no record has the key", ())


def cell(field: Field, decision: Decision, options: Options, nocase: bool) -> tuple[int, object]:
    """Give the state of a field (value, NaN, empty or invalid) and its value (section 4, Order)."""
    notation = notation_of(options)
    if kinds.is_empty(field, notation, decision.kind):
        return EMPTY, None
    leading = options.leading and (not decision.looked or decision.mixed)
    value = kinds.value(field, decision, notation, leading, nocase)
    if value is None:
        return INVALID, None
    if isinstance(value, Number) and value.is_nan:
        return NAN, None
    return VALUE, value


def refuse_cells(key: Key, cells: list[tuple[int, object]], fields: list[Field], decision: Decision, records: list[Record],
                 options: Options) -> None:
    """Refuse what an option refuses; an invalid field is an error unless `--invalid` places it (section 4, Order)."""
    states = [state for state, _ in cells]
    if decision.broken:
        if options.invalid != "error":
            mark("fields-that-fit-no-one-kind-under-invalid")
        words = words_of(key, decision.misfit, fields, records, options, False)
        raise Refusal("fields that do not fit one kind", words + ((":duration",) if decision.kind == "duration" else ()))
    if decision.looked and decision.kind == "time" and given_time(fields, options).broken:
        # Times that do not compare beside words: the contract speaks of either alone.
        mark("fields-that-fit-no-one-kind-under-invalid")
    if INVALID in states and options.invalid == "error":
        at = states.index(INVALID) if decision.misfit is None or options.leading else decision.misfit
        words = words_of(key, at, fields, records, options, True)
        if decision.kind == "time" and given_time(fields, options).broken:
            # Without the words, the times still do not compare.
            words = tuple(word for word in words if word != "--invalid")
        raise Refusal("a field that does not fit", words)
    for state in states if options.command != "check" else []:
        refuse_null(state, options)


def refuse_null(state: int, options: Options) -> None:
    """Refuse an empty field or NaN where `--empty error` or `--nan error` says so (section 4, Order)."""
    if state == EMPTY and options.empty == "error":
        raise Refusal("an empty field", ())
    if state == NAN and options.nan == "error":
        raise Refusal("a field that is NaN", ())


def words_of(key: Key, at: int, fields: list[Field], records: list[Record], options: Options, remedies: bool) -> tuple[str, ...]:
    """Give the words that the message must have: place, field, and what to write (sections 1 and 4)."""
    record, field, text = records[at], fields[at], fields[at].text or ""
    words = [f"{record.file}:{record.line}"] if record.file != "-" else []
    if is_simple(text) and not field.json:
        words.append(text.strip())
    if not remedies:
        return tuple(words)
    if key.column is not None and own_kind(key, options) is None:
        words += [f"{key.column}:text", "--invalid"] if is_simple(str(key.column)) and key.raw == str(key.column) else []
        words += ["--na"] if na_goes_through(field, fields, options) else []
    elif own_kind(key, options) in (None, "number", "size") and not options.leading:
        words += ["--leading"] if leading_goes_through(fields, options) else []
    return tuple(words)


def is_simple(text: str) -> bool:
    """Tell whether a message can only show the text as it is."""
    return text.isascii() and text.isprintable() and len(text.split()) == 1 and len(text) <= 24


def na_goes_through(field: Field, fields: list[Field], options: Options) -> bool:
    """Tell whether `--na WORD` with one word brings the column through (section 1: a remedy has been tried)."""
    if field.json or not is_simple(field.text) or "," in field.text or any(c.isdigit() for c in field.text):
        return False
    decision = kinds.decide([f for f in fields if f.text != field.text], notation_of(options))
    return decision.kind != "text" and not decision.mixed


def leading_goes_through(fields: list[Field], options: Options) -> bool:
    """Tell whether `--leading` reads all fields, and reads no part of a date or a version."""
    notation = notation_of(options)
    texts = [f.text for f in fields if not kinds.is_empty(f, notation, "number")]
    return all(re.fullmatch(r"[0-9]+[-_A-Za-z][A-Za-z].*", text) for text in texts)


def sort_key(key: Key, columns: Columns, records: list[Record], options: Options) -> SortKey:
    """Decide the kind of one key and read its fields (section 4)."""
    reverse, nocase = own_reverse(key, options), own_nocase(key, options)
    if key.column == 0:
        if nocase:
            mark("whole-record-that-ignores-case")
        return SortKey(key, Decision("text"), reverse, [whole_record(record, nocase) for record in records])
    fields = [columns.field(key, record) for record in records]
    check_column(key, records, fields)
    kind = own_kind(key, options)
    decision = kinds.given(kind, fields, notation_of(options)) if kind else kinds.decide(fields, notation_of(options))
    if nocase and decision.kind != "text":
        mark("nocase-of-a-kind-that-is-no-text")
    if kind == "time":
        decision = given_time(fields, options)
    cells = [cell(field, decision, options, nocase) for field in fields]
    refuse_cells(key, cells, fields, decision, records, options)
    return SortKey(key, decision, reverse, cells)


def given_time(fields: list[Field], options: Options) -> Decision:
    """Check a column of `:time`: with and without a year or a zone is an error (section 4, kind 2)."""
    notation = notation_of(options)
    places = [i for i, field in enumerate(fields) if not kinds.is_empty(field, notation, "time")]
    found = [(i, time) for i in places if (time := kinds.time_of(fields[i], notation))]
    decision = kinds.time_decision([time for _, time in found]) if found else Decision("time")
    if decision.broken:
        return kinds.at_place(decision, [i for i, _ in found])
    return Decision("time", looked=False)


def keys_of_lines(columns: Columns, records: list[Record], options: Options) -> list[SortKey]:
    """Give the keys of lines without a key: the first field if its kind is 1, 2 or 3, then the whole line (section 4, No key)."""
    whole_kind = options.kind if options.kind == "version" else "text"
    cells = [whole_record(record, options.nocase) for record in records]
    whole = SortKey(None, Decision(whole_kind), options.reverse, cells)
    if options.kind == "version" or (options.nocase and not options.kind):
        return [whole]
    if options.nocase:
        mark("nocase-beside-a-kind-without-a-key")
    if options.invalid != "error" and not options.kind:
        mark("invalid-without-a-key")
    first = first_field(columns, records, options)
    return [first, whole] if first else [whole]


def first_field(columns: Columns, records: list[Record], options: Options) -> SortKey | None:
    """Give the first field as a key, or None where the whole line alone decides (section 4, No key)."""
    key = Key("1", 1)
    fields = [columns.field(key, record) for record in records]
    notation = notation_of(options)
    decision = kinds.given(options.kind, fields, notation) if options.kind else kinds.decide(fields, notation)
    if not options.kind and (decision.kind == "text" or decision.mixed):
        if options.leading and decision.mixed:
            mark("leading-without-a-key")
        return None
    cells = [cell(field, decision, options, False) for field in fields]
    key.column = None
    refuse_cells(key, cells, fields, decision, records, options)
    return SortKey(key, decision, options.reverse, cells)


def place(state: int, options: Options) -> int:
    """Give the place of what is no value; from the values outward: NaN, empty, invalid (section 4, Order)."""
    where = {VALUE: "last", NAN: options.nan, EMPTY: options.empty, INVALID: options.invalid}[state]
    return -state if where == "first" else state


def compare_key(key: SortKey, a: int, b: int, options: Options) -> int:
    """Compare two records by one key; `-r` turns the order, not the place of what is no value (section 4, Order)."""
    (left, x), (right, y) = key.cells[a], key.cells[b]
    if left != VALUE or right != VALUE:
        return place(left, options) - place(right, options)
    found = kinds.compare(key.decision.kind, x, y)
    return -found if key.reverse else found


def compare(keys: list[SortKey], a: int, b: int, options: Options) -> int:
    """Compare two records by all keys in turn."""
    for key in keys:
        found = compare_key(key, a, b, options)
        if found:
            return found
    return 0


def stable_sort(keys: list[SortKey], count: int, options: Options) -> list[int]:
    """Sort; equal keys keep their input order (section 4, Order)."""
    return sorted(range(count), key=cmp_to_key(lambda a, b: compare(keys, a, b, options)))


def skip_invalid(keys: list[SortKey], order: list[int], options: Options) -> list[int]:
    """Leave out records with an invalid field where `--invalid skip` is given (section 1, 3)."""
    if options.invalid != "skip":
        return order
    return [at for at in order if all(key.cells[at][0] != INVALID for key in keys)]


def equal(keys: list[SortKey], a: int, b: int, options: Options) -> bool:
    """Tell whether two records have one key: empty ones are equal, invalid ones never (section 4, `-u`)."""
    if any(key.cells[at][0] == INVALID for key in keys for at in (a, b)):
        return False
    return compare(keys, a, b, options) == 0


def keys_of_unique(keys: list[SortKey], options: Options) -> list[SortKey]:
    """Give the keys that `-u` compares: all, and without a key the whole line (section 4, No key)."""
    if options.keys:
        return keys
    if any(state == INVALID for key in keys[:-1] for state, _ in key.cells):
        mark("unique-invalid-lines-without-a-key")
    if keys[-1].decision.kind == "version" or options.nocase:
        mark("unique-by-the-order-of-V-or-f-without-a-key")
    return keys[-1:]


def keep_first(keys: list[SortKey], order: list[int], options: Options) -> list[int]:
    """Keep the first record of each key (section 4, `-u`)."""
    compared, kept = keys_of_unique(keys, options), []
    for at in order:
        if not kept or not equal(compared, kept[-1], at, options):
            kept.append(at)
    return kept
