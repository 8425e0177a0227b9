"""Exact decimal numbers of section 4, kind 1, and their notations.

The module is not called `numbers`: a module of that name would hide the one of the standard library.
A number is never converted to a float and a power of ten is never built, so an exponent of 10^18 costs nothing.
"""

import re
import sys
import unicodedata
from dataclasses import dataclass, field

from undecided import mark

sys.set_int_max_str_digits(0)

EXPONENT_LIMIT = 10**18


@dataclass(frozen=True)
class Notation:
    """The options that say how fields are written (section 4: "Notations count when kinds are found")."""

    decimal: str = "."
    thousands: str = ""
    time_formats: tuple[str, ...] = ()
    na: tuple[str, ...] = ()


@dataclass(frozen=True)
class Number:
    """An exact decimal: `sign` × 0.`digits` × 10^`exponent`, where `digits` has no zero at either end.

    `special` is "inf" or "nan" for a number without digits.
    """

    sign: int
    exponent: int = 0
    digits: str = ""
    special: str = field(default="")

    @property
    def is_nan(self) -> bool:
        return self.special == "nan"


def make(sign: int, digits: str, exponent: int) -> Number:
    """Build the number `sign` × `digits` × 10^`exponent`; zero has no sign (section 4, kind 1)."""
    significant = digits.lstrip("0")
    if not significant:
        return Number(0)
    return Number(sign, exponent + len(significant), significant.rstrip("0"))


def compare(a: Number, b: Number) -> int:
    """Compare two numbers that are no NaN exactly, as decimals of any length (section 4, kind 1)."""
    if a.sign != b.sign:
        return -1 if a.sign < b.sign else 1
    if a.sign == 0:
        return 0
    return a.sign * compare_magnitudes(a, b)


def compare_magnitudes(a: Number, b: Number) -> int:
    """Compare the absolute values of two numbers that are not zero."""
    left = (a.special == "inf", a.exponent, a.digits)
    right = (b.special == "inf", b.exponent, b.digits)
    return (left > right) - (left < right)


def scale(number: Number, factor: int) -> Number:
    """Multiply a number by a positive integer, exactly."""
    if number.sign == 0 or number.special:
        return number
    product = str(int(number.digits) * factor)
    return make(number.sign, product, number.exponent - len(number.digits))


SPECIAL = re.compile(r"([+-]?)(inf|infinity|nan)", re.I)


def parse_special(text: str) -> Number | None:
    """Read `inf`, `infinity` or `nan` in any case (section 4, kind 1)."""
    match = SPECIAL.fullmatch(text)
    if not match:
        return None
    if match[2].lower() == "nan":
        if match[1]:
            mark("signed-nan")
        return Number(1, special="nan")
    return Number(-1 if match[1] == "-" else 1, special="inf")


def digits_pattern(notation: Notation) -> str:
    """Give the pattern of `digits[.digits]`, `.digits` and `digits.`, with the decimal mark and the thousands mark."""
    point = re.escape(notation.decimal)
    whole = r"[0-9]+"
    if notation.thousands:
        whole = rf"(?:[0-9]{{1,3}}(?:{re.escape(notation.thousands)}[0-9]{{3}})+|[0-9]+)"
    return rf"(?:(?P<whole>{whole})(?:{point}(?P<part>[0-9]*))?|{point}(?P<only>[0-9]+))"


def from_match(match: re.Match, notation: Notation) -> Number | None:
    """Build a number from a match of `[+-]`, `digits_pattern` and an exponent."""
    groups = match.groupdict()
    whole = groups.get("whole") or ""
    if notation.thousands:
        whole = whole.replace(notation.thousands, "")
    part = groups.get("part") or groups.get("only") or ""
    exponent = int(groups.get("exp") or 0)
    if abs(exponent) > EXPONENT_LIMIT:
        return None
    sign = -1 if groups.get("sign") == "-" else 1
    return make(sign, whole + part, exponent - len(part))


def parse_plain(text: str, notation: Notation) -> Number | None:
    """Read a number with digits and without a currency or percent sign (section 4, kind 1)."""
    pattern = rf"(?P<sign>[+-]?){digits_pattern(notation)}(?:[eE](?P<exp>[+-]?[0-9]+))?"
    match = re.fullmatch(pattern, text)
    return from_match(match, notation) if match else None


def is_symbol(character: str) -> bool:
    """Tell whether a character is a currency sign or the percent sign (section 4, kind 1)."""
    return character == "%" or unicodedata.category(character) == "Sc"


def split_symbol(text: str) -> tuple[str, str] | None:
    """Split `-$3`, `$-3`, `$ 3`, `3 €` or `3%` into the sign of the currency and the number (section 4, kind 1)."""
    if not text:
        return None
    if is_symbol(text[-1]):
        return text[-1], text[:-1].rstrip(" \t")
    if is_symbol(text[0]):
        return text[0], text[1:].lstrip(" \t")
    if text[0] in "+-" and len(text) > 1 and is_symbol(text[1]):
        rest = text[2:].lstrip(" \t")
        return (text[1], text[0] + rest) if not rest.startswith(("+", "-")) else None
    return None


def number_like(text: str, notation: Notation) -> tuple[str, Number] | None:
    """Read a number with any currency sign, percent sign or none; give the sign and the number."""
    plain = parse_plain(text, notation) or parse_special(text)
    if plain:
        return "", plain
    split = split_symbol(text)
    if not split:
        return None
    number = parse_plain(split[1], notation)
    return (split[0], number) if number else None


def parse_with_symbol(text: str, notation: Notation, symbol: str) -> Number | None:
    """Read a number of a column whose sign is `symbol` (section 4, kind 1: "the same one")."""
    like = number_like(text, notation)
    return like[1] if like and like[0] == symbol else None


def parse_leading(text: str, notation: Notation) -> Number | None:
    """Read the number that a field begins with: `--leading` reads 45% as 45 and 12ms as 12 (section 4)."""
    pattern = rf"(?P<sign>[+-]?){digits_pattern(notation)}(?:[eE](?P<exp>[+-]?[0-9]+))?"
    match = re.match(pattern, text)
    return from_match(match, notation) if match else None


def parse_hex(text: str) -> Number | None:
    """Read a hexadecimal integer with or without `0x` (section 4, `:hex`)."""
    match = re.fullmatch(r"([+-]?)(0[xX])?([0-9a-fA-F]+)", text)
    if not match:
        return None
    if match[1]:
        mark("signed-hex")
    return make(-1 if match[1] == "-" else 1, str(int(match[3], 16)), 0)
