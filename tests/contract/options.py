"""The command line of sections 2 to 4: options and keys."""

import re
from dataclasses import dataclass, field

from undecided import mark

FORMATS = {"lines", "csv", "tsv", "jsonl"}
KINDS = {"number", "time", "size", "duration", "version", "text", "hex", "month"}
LETTER_KINDS = {"n": "number", "g": "number", "h": "size", "V": "version"}
KINDS_OF_KEYS = LETTER_KINDS | {"M": "month"}


class Refusal(Exception):
    """An error of the contract: exit code 2, and words that the message must have."""

    def __init__(self, kind: str, words: tuple[str, ...] = ()):
        super().__init__(kind)
        self.kind, self.words = kind, words


@dataclass
class Key:
    """One `-k`: `column` is a number or a name; `letters` tells that the key has letters as the keys of `sort` have."""

    raw: str
    column: int | str
    kind: str | None = None
    direction: str | None = None
    nocase: bool = False
    letters: bool = False


@dataclass
class Options:
    """All options that the oracle knows, as the command line gives them."""

    command: str = "sort"
    files: list[str] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    format: str | None = None
    kind: str | None = None
    nocase: bool = False
    reverse: bool = False
    unique: bool = False
    zero: bool = False
    argsort: bool = False
    comments: bool = False
    leading: bool = False
    top: int | None = None
    header: int | None = None
    delimiter: str | None = None
    na: tuple[str, ...] = ()
    invalid: str = "error"
    empty: str = "last"
    nan: str = "last"
    decimal: str = "."
    thousands: str = ""
    time_formats: tuple[str, ...] = ()
    output: str | None = None


def parse_key(raw: str) -> Key:
    """Read one key: the form of `sort`, a number or a name with modifiers (section 4)."""
    sort_key = re.fullmatch(r"([0-9]+)(?:,([0-9]+))?([nghVMfbr]*)", raw)
    if sort_key and (sort_key[2] or sort_key[3]):
        return parse_sort_key(raw, sort_key)
    column, *modifiers = raw.split(":")
    if re.fullmatch(r"([0-9]+),\1", column):
        mark("modifier-of-a-key-of-sort")
        column = column.partition(",")[0]
    if re.fullmatch(r"-?[0-9]+", column):
        number = int(column)
        if number < -1:
            mark("column-from-the-end-beyond-1")
        return with_modifiers(Key(raw, number), modifiers, strict=True)
    return parse_name(raw)


def parse_sort_key(raw: str, match: re.Match) -> Key:
    """Read `-k1,1`, `-k2,2n` or `-k2n` (section 4: "`sort`'s keys")."""
    first, letters = int(match[1]), match[3]
    if match[2] and int(match[2]) != first:
        raise Refusal("keys of several fields are not of this oracle")
    kinds = {KINDS_OF_KEYS[letter] for letter in letters if letter in KINDS_OF_KEYS}
    if len(kinds) > 1 or first == 0:
        raise Refusal("key")
    return Key(raw, first, kinds.pop() if kinds else None, "r" if "r" in letters else None, "f" in letters, bool(letters))


def parse_name(raw: str) -> Key:
    """Split a name from the modifiers behind it; the whole is kept, since the whole may be a name (section 4)."""
    parts = raw.split(":")
    for cut in range(1, len(parts)):
        try:
            return with_modifiers(Key(raw, ":".join(parts[:cut]).strip()), parts[cut:], strict=True)
        except Refusal:
            continue
    return Key(raw, raw.strip())


def with_modifiers(key: Key, modifiers: list[str], strict: bool) -> Key:
    """Apply `:r`, `:a`, `:nocase` and the kinds to a key (section 4)."""
    for modifier in modifiers:
        if modifier in KINDS and key.kind is None and key.column != 0:
            key.kind = modifier
        elif modifier in ("r", "a") and key.direction is None:
            key.direction = modifier
        elif modifier == "nocase":
            key.nocase = True
        elif strict:
            raise Refusal("modifier", (modifier,))
    return key


FLAGS = {"-r": "reverse", "--reverse": "reverse", "-u": "unique", "--unique": "unique", "-z": "zero",
         "--zero-terminated": "zero", "--argsort": "argsort", "--comments": "comments", "--leading": "leading",
         "--ignore-case": "nocase"}
VALUES = {"-k": "keys", "--key": "keys", "-t": "delimiter", "--delimiter": "delimiter", "--top": "top", "--na": "na",
          "--invalid": "invalid", "--empty": "empty", "--nan": "nan", "--decimal": "decimal",
          "--thousands": "thousands", "--time-format": "time_formats", "-o": "output", "--output": "output"}
WITHOUT_EFFECT = {"-s", "-b", "-q"}
VALUES_WITHOUT_EFFECT = {"--memory", "--device"}
PLACES = {"invalid": {"first", "last", "skip", "error"}, "empty": {"first", "last", "error"},
          "nan": {"first", "last", "error"}}


def parse(words: list[str]) -> Options:
    """Read the words behind the program's name; the word `sort` may be left out (section 2)."""
    options, rest = Options(), list(words)
    if rest and rest[0] in ("sort", "check", "merge"):
        options.command = rest.pop(0)
    while rest:
        word = rest.pop(0)
        if word == "--":
            options.files += rest
            break
        if word == "-" or not word.startswith("-"):
            options.files.append(word)
        elif word.startswith("--"):
            long_option(options, word, rest)
        else:
            short_options(options, word, rest)
    return options


def long_option(options: Options, word: str, rest: list[str]) -> None:
    """Read `--name`, `--name=value` or `--name value`."""
    name, equals, value = word.partition("=")
    if name == "--header":
        if equals and not value.isdigit():
            raise Refusal("option", (value,))
        options.header = int(value) if equals else 1
    elif name in FLAGS and not equals:
        setattr(options, FLAGS[name], True)
    elif name in VALUES or name in VALUES_WITHOUT_EFFECT:
        if not equals and not rest:
            raise Refusal("option", (name,))
        given = value if equals else rest.pop(0)
        if name in VALUES:
            set_value(options, VALUES[name], given)
    else:
        raise Refusal("option", (name,))


def short_options(options: Options, word: str, rest: list[str]) -> None:
    """Read one or several short options in one word, the last one with its value behind it."""
    at = 1
    while at < len(word):
        letter, behind = "-" + word[at], word[at + 1:]
        at += 1
        if letter == "-f":
            at = format_or_fold(options, word, at, rest)
        elif letter in VALUES:
            if not behind and not rest:
                raise Refusal("option", (letter,))
            set_value(options, VALUES[letter], behind or rest.pop(0))
            return
        elif letter in FLAGS:
            setattr(options, FLAGS[letter], True)
        elif letter[1] in LETTER_KINDS:
            if options.kind not in (None, LETTER_KINDS[letter[1]]):
                raise Refusal("two kinds for all keys")
            options.kind = LETTER_KINDS[letter[1]]
        elif letter in ("-c", "-m"):
            options.command = "check" if letter == "-c" else "merge"
        elif letter not in WITHOUT_EFFECT:
            raise Refusal("option", (letter,))


def format_or_fold(options: Options, word: str, at: int, rest: list[str]) -> int:
    """Read `-f FORMAT`; without a format `-f` ignores case, as in `sort`."""
    if word[at:] in FORMATS:
        options.format = word[at:]
        return len(word)
    if at == len(word) and rest and rest[0] in FORMATS:
        options.format = rest.pop(0)
    else:
        options.nocase = True
    return at


def set_value(options: Options, name: str, value: str) -> None:
    """Store the value of an option, or refuse a value that it does not take."""
    if name == "keys":
        options.keys.append(parse_key(value))
    elif name == "top":
        if not re.fullmatch(r"[0-9]+", value):
            raise Refusal("option", (value,))
        options.top = int(value)
    elif name == "na":
        options.na += tuple(value.split(","))
    elif name == "time_formats":
        options.time_formats += (value,)
    elif name == "output" and options.output is not None:
        raise Refusal("-o is given once")
    elif name in PLACES and value not in PLACES[name]:
        raise Refusal("option", (value,))
    else:
        setattr(options, name, value)
