"""Sizes and durations of section 4, kind 3, as exact numbers."""

import re

from exact_numbers import Notation, Number, digits_pattern, from_match, make, parse_plain, scale
from undecided import mark

PREFIXES = "KMGTPEZYRQ"


def parse_size(text: str, notation: Notation) -> tuple[bool, Number] | None:
    """Read a size: `4.0K`, `900`, `1.5MiB`; a unit is in upper case or `k` (section 4, kind 3).

    Units are powers of 1024 (section 2). The first value tells whether the field has a unit.
    """
    match = re.fullmatch(rf"(?P<sign>[+-]?){digits_pattern(notation)}(?P<unit>|B|(?P<p>[{PREFIXES}k])(?P<b>|B|iB|i))", text)
    if not match:
        plain = parse_plain(text, notation)
        return (False, plain) if plain else None
    number = from_match(match, notation)
    if not match["unit"]:
        return False, number
    if match["unit"] == "B" or match["b"] in ("B", "i"):
        mark("size-unit-" + match["b"] if match["p"] else "size-unit-bytes")
    power = PREFIXES.index(match["p"].upper()) + 1 if match["p"] else 0
    return True, scale(number, 1024**power)


NANOSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9,
               "h": 3600 * 10**9, "d": 86400 * 10**9, "w": 7 * 86400 * 10**9}
UNIT_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h|d|w)")


def decimal_number(text: str) -> Number:
    """Read `digits[.digits]` as an exact number."""
    whole, _, part = text.partition(".")
    return make(1, whole + part, -len(part))


def add(a: Number, b: Number) -> Number:
    """Add two numbers that are not negative and are close in size, exactly."""
    if a.sign == 0 or b.sign == 0:
        return b if a.sign == 0 else a
    low = min(a.exponent - len(a.digits), b.exponent - len(b.digits))
    total = sum(int(n.digits) * 10 ** (n.exponent - len(n.digits) - low) for n in (a, b))
    return make(1, str(total), low)


def parse_units(text: str) -> Number | None:
    """Read `12ms` or `1h2m3s` as nanoseconds (section 4, kind 3)."""
    total, at = make(1, "0", 0), 0
    while at < len(text):
        match = UNIT_PART.match(text, at)
        if not match:
            return None
        if match[2] == "w":
            mark("duration-weeks")
        total = add(total, scale(decimal_number(match[1]), NANOSECONDS[match[2]]))
        at = match.end()
    return total if text else None


CLOCK = re.compile(r"(?:(?P<days>[0-9]+)-)?(?:(?P<hours>[0-9]+):)?(?P<minutes>[0-9]+):(?P<seconds>[0-9]{2}(?:\.[0-9]+)?)")


def parse_clock(text: str) -> tuple[str, Number] | None:
    """Read `0:01:23`, `12:30` or `1-02:03:04`; give the form "a:b", "a:b:c" or "days" and the nanoseconds.

    A field of two parts is minutes and seconds, as in the elapsed times of `ps`.
    """
    match = CLOCK.fullmatch(text)
    if not match:
        return None
    if match["hours"] is not None and (len(match["minutes"]) != 2 or int(match["minutes"]) > 59):
        mark("clock-out-of-range")
        return None
    if float(match["seconds"]) >= 60:
        mark("clock-out-of-range")
        return None
    if match["days"] is not None and match["hours"] is None:
        mark("clock-days-without-hours")
        return None
    seconds = decimal_number(match["seconds"])
    whole = int(match["days"] or 0) * 86400 + int(match["hours"] or 0) * 3600 + int(match["minutes"]) * 60
    total = scale(add(seconds, make(1, str(whole), 0)), 10**9)
    form = "days" if match["days"] is not None else "a:b:c" if match["hours"] is not None else "a:b"
    return form, total


def parse_duration(text: str) -> tuple[str, Number] | None:
    """Read a duration; give its form ("zero", "units", "a:b", "a:b:c" or "days") and its nanoseconds.

    Every field but 0 has a unit or a colon (section 4, kind 3).
    """
    sign = -1 if text.startswith("-") else 1
    body = text[1:] if text.startswith(("-", "+")) else text
    if re.fullmatch(r"0+(\.0*)?", body):
        if body != "0":
            mark("duration-zero-with-more-digits")
        return "zero", make(1, "0", 0)
    clock = parse_clock(body)
    if clock:
        return clock[0], scale_sign(clock[1], sign)
    units = parse_units(body)
    return ("units", scale_sign(units, sign)) if units else None


def scale_sign(number: Number, sign: int) -> Number:
    """Give the number the sign."""
    if sign < 0:
        mark("negative-duration")
    return Number(number.sign * sign, number.exponent, number.digits)


def mixes_clocks(forms: set[str]) -> bool:
    """Tell whether `a:b` stands beside `a:b:c` and no field has days (section 4, kind 3: that is an error)."""
    return "a:b" in forms and "a:b:c" in forms and "days" not in forms
