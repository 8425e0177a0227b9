"""Times of section 4, kind 2, as nanoseconds since 1970-01-01.

A time is never guessed from a day and a month: only the forms of the contract and the patterns of `--time-format` are read.
"""

import re
from dataclasses import dataclass

from undecided import mark

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
LONG_MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
               "november", "december"]
DAYS_OF_WEEK = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
LONG_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

# A time without a year is placed in a leap year, so that 29 February is read.
YEAR_OF_TIMES_WITHOUT = 2000


@dataclass(frozen=True)
class Time:
    """A time in nanoseconds; `year` and `zone` tell whether the field has one; `length` is what was read of the text."""

    nanoseconds: int
    year: bool
    zone: bool
    length: int


def days_from_civil(year: int, month: int, day: int) -> int:
    """Count the days from 1970-01-01 in the Gregorian calendar."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def days_in_month(year: int, month: int) -> int:
    """Give the number of days of a month."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def nanoseconds(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0, fraction: str = "",
                offset: int = 0) -> int | None:
    """Build an instant, or None where no calendar has that day or no clock shows that time."""
    if not (1 <= month <= 12 and 1 <= day <= days_in_month(year, month)):
        return None
    if second == 60:
        mark("leap-second")
    if not (0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 60):
        return None
    seconds = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset
    return seconds * 10**9 + int((fraction + "0" * 9)[:9])


def offset_of(zone: str | None) -> int | None:
    """Give the seconds of a zone: `Z`, `UTC`, `GMT`, `±hhmm`, `±hh:mm` or `±hh` (section 4, kind 2)."""
    if not zone or zone.upper() in ("Z", "UTC", "GMT"):
        return 0
    digits = zone[1:].replace(":", "")
    hours, minutes = int(digits[:2]), int(digits[2:] or 0)
    if hours > 23 or minutes > 59:
        return None
    return (hours * 3600 + minutes * 60) * (-1 if zone[0] == "-" else 1)


END = r"(?=[ \t]|\Z)"
# AM or PM behind a time means a clock of twelve hours, which only patterns read.
END_OF_FORM = END + r"(?![ \t][AaPp][Mm](?:[ \t]|\Z))"
ZONE = r"(?P<zone>[ \t]?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})|[+-][0-9]{2})"
CLOCK = r"(?P<H>[0-9]{2}):(?P<M>[0-9]{2})(?::(?P<S>[0-9]{2})(?:[.,](?P<f>[0-9]{1,9}))?)?"
NO_CLOCK = r"(?![Tt \t][0-9]{2}:[0-9]{2})"
FULL_CLOCK = r"(?P<H>[0-9]{2}):(?P<M>[0-9]{2}):(?P<S>[0-9]{2})(?:\.(?P<f>[0-9]{1,9}))?"
MONTH = r"(?P<b>[A-Za-z]{3})"
WEEKDAY = r"(?P<a>Mon|Tue|Wed|Thu|Fri|Sat|Sun)"

ISO = rf"(?P<Y>[0-9]{{4}})-(?P<m>[0-9]{{2}})-(?P<d>[0-9]{{2}})(?:[Tt \t]{CLOCK}{ZONE}?|{NO_CLOCK})"
SLASHES = rf"(?P<Y>[0-9]{{4}})/(?P<m>[0-9]{{2}})/(?P<d>[0-9]{{2}})(?:[Tt \t]{CLOCK}{ZONE}?|{NO_CLOCK})"
ACCESS = rf"\[(?P<d>[0-9]{{2}})/{MONTH}/(?P<Y>[0-9]{{4}}):{FULL_CLOCK}{ZONE}?\]"
ACCESS_WITHOUT_BRACKETS = rf"(?P<d>[0-9]{{2}})/{MONTH}/(?P<Y>[0-9]{{4}}):{FULL_CLOCK}{ZONE}?"
SYSLOG = rf"{MONTH}[ \t]{{1,2}}(?P<d>[0-9]{{1,2}})[ \t]{FULL_CLOCK}"
RFC2822 = rf"(?:{WEEKDAY},[ \t])?(?P<d>[0-9]{{1,2}})[ \t]{MONTH}[ \t](?P<Y>[0-9]{{4}})[ \t]{CLOCK}{ZONE}?"
CTIME = rf"{WEEKDAY}[ \t]{MONTH}[ \t]{{1,2}}(?P<d>[0-9]{{1,2}})[ \t]{FULL_CLOCK}[ \t](?P<Y>[0-9]{{4}}){ZONE}?"
DATE_COMMAND = rf"{WEEKDAY}[ \t]{MONTH}[ \t]{{1,2}}(?P<d>[0-9]{{1,2}})[ \t]{FULL_CLOCK}[ \t](?P<zone>UTC|GMT)[ \t](?P<Y>[0-9]{{4}})"

FORMS = [("iso", ISO), ("slashes", SLASHES), ("access", ACCESS), ("access-without-brackets", ACCESS_WITHOUT_BRACKETS),
         ("syslog", SYSLOG), ("rfc2822", RFC2822), ("ctime", CTIME), ("date-command", DATE_COMMAND)]
COMPILED = [(name, re.compile(pattern + END_OF_FORM)) for name, pattern in FORMS]
UNDECIDED_FORMS = {"access-without-brackets", "date-command"}


def month_number(text: str) -> int | None:
    """Give the number of a month from its short or long name in any case."""
    low = text.lower()
    return MONTHS.index(low) + 1 if low in MONTHS else LONG_MONTHS.index(low) + 1 if low in LONG_MONTHS else None


def from_groups(match: re.Match) -> Time | None:
    """Build a time from the named groups of a match."""
    groups = match.groupdict()
    month = month_number(groups["b"]) if groups.get("b") else int(groups["m"])
    if month is None:
        return None
    zone = (groups.get("zone") or "").strip()
    offset = offset_of(zone)
    if offset is None:
        return None
    has_year = groups.get("Y") is not None
    year = int(groups["Y"]) if has_year else YEAR_OF_TIMES_WITHOUT
    value = nanoseconds(year, month, int(groups["d"]), int(groups.get("H") or 0), int(groups.get("M") or 0),
                        int(groups.get("S") or 0), groups.get("f") or "", offset)
    return None if value is None else Time(value, has_year, bool(zone), match.end())


def built_in(text: str) -> list[Time]:
    """Read all built-in forms that the text begins with (section 4, kind 2)."""
    found = []
    for name, pattern in COMPILED:
        match = pattern.match(text)
        time = from_groups(match) if match else None
        if time:
            if name in UNDECIDED_FORMS:
                mark("time-form-" + name)
            if name in ("iso", "slashes") and "," in match[0]:
                mark("comma-before-decimals-of-a-second")
            if "\t" in match[0]:
                mark("tab-within-a-time")
            found.append(time)
    return found


DIRECTIVES = {
    "Y": r"(?P<Y>[0-9]{4})", "m": r"(?P<m>[0-9]{1,2})", "d": r"(?P<d>[0-9]{1,2})", "e": r"[ ]?(?P<d>[0-9]{1,2})",
    "H": r"(?P<H>[0-9]{1,2})", "M": r"(?P<M>[0-9]{1,2})", "S": r"(?P<S>[0-9]{1,2})", "f": r"(?P<f>[0-9]{1,9})",
    "y": r"(?P<y>[0-9]{2})", "b": r"(?P<b>[A-Za-z]+)", "B": r"(?P<b>[A-Za-z]+)", "h": r"(?P<b>[A-Za-z]+)",
    "a": r"(?P<a>[A-Za-z]+)", "A": r"(?P<a>[A-Za-z]+)", "I": r"(?P<I>[0-9]{1,2})", "p": r"(?P<p>[AaPp][Mm])",
    "z": r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})", "%": "%",
}


def expand(pattern: str) -> str:
    """Replace the short directives of strftime by what they stand for."""
    for short, long in (("%T", "%H:%M:%S"), ("%F", "%Y-%m-%d"), ("%R", "%H:%M"), ("%D", "%m/%d/%y")):
        pattern = pattern.replace(short, long)
    return pattern


def pattern_regex(pattern: str) -> re.Pattern:
    """Turn a pattern of strftime into a regular expression."""
    parts, at, pattern = [], 0, expand(pattern)
    while at < len(pattern):
        if pattern[at] == "%":
            parts.append(DIRECTIVES[pattern[at + 1]])
            at += 2
        else:
            parts.append(re.escape(pattern[at]))
            at += 1
    return re.compile("".join(parts) + END)


def by_pattern(text: str, pattern: str) -> Time | None:
    """Read a time by one pattern of `--time-format` (section 4, kind 2)."""
    if pattern in ("epoch", "epoch-ms"):
        return epoch(text, 10**9 if pattern == "epoch" else 10**6)
    if pattern in ("clf", "syslog", "rfc2822"):
        forms = {"clf": ("access", "access-without-brackets")}.get(pattern, (pattern,))
        found = [from_groups(m) for name, regex in COMPILED if name in forms and (m := regex.match(text))]
        return max((t for t in found if t), key=lambda t: t.length, default=None)
    match = pattern_regex(pattern).match(text)
    return from_pattern(match) if match else None


def from_pattern(match: re.Match) -> Time | None:
    """Build a time from a match of a pattern; two digits of a year are 1969 to 2068, as POSIX has it."""
    groups = match.groupdict()
    year = int(groups["Y"]) if groups.get("Y") else None
    if groups.get("y"):
        year = int(groups["y"]) + (1900 if int(groups["y"]) >= 69 else 2000)
    hour = int(groups.get("H") or 0)
    if groups.get("I"):
        hour = int(groups["I"]) % 12 + (12 if (groups.get("p") or "").lower() == "pm" else 0)
    month = month_number(groups["b"]) if groups.get("b") else int(groups.get("m") or 1)
    offset = offset_of(groups.get("zone"))
    if month is None or offset is None:
        return None
    value = nanoseconds(year or YEAR_OF_TIMES_WITHOUT, month, int(groups.get("d") or 1), hour,
                        int(groups.get("M") or 0), int(groups.get("S") or 0), groups.get("f") or "", offset)
    return None if value is None else Time(value, year is not None, bool(groups.get("zone")), match.end())


def epoch(text: str, unit: int) -> Time | None:
    """Read seconds or milliseconds since 1970 with up to nine decimals of a second."""
    match = re.match(r"(-?)([0-9]+)(?:\.([0-9]{1,9}))?" + END, text)
    if not match:
        return None
    part = match[3] or ""
    value = int(match[2]) * unit + int((part + "0" * 9)[:9]) * unit // 10**9
    return Time(-value if match[1] else value, True, True, match.end())


def parse(text: str, patterns: tuple[str, ...], whole: bool) -> Time | None:
    """Read the longest time that the text begins with; `whole` wants no text behind it (section 4, kind 2).

    In lines a time begins at the field that is named, and takes as many fields as it needs.
    """
    found = built_in(text) + [t for p in patterns if (t := by_pattern(text, p))]
    if whole:
        found = [time for time in found if time.length == len(text)]
    return max(found, key=lambda time: time.length, default=None)


def number_begins_time(text: str) -> bool:
    """Tell whether a number that a month's name follows begins a time (section 4, kind 2)."""
    if not re.match(r"[0-9]{1,2}[ \t][A-Za-z]{3}[ \t]", text):
        return False
    return parse(text, (), False) is not None


DAY_MONTH = [(r"(?P<d>[0-9]{1,2})/(?P<m>[0-9]{1,2})/(?:[0-9]{2}|[0-9]{4})", "/"),
             (r"(?P<m>[0-9]{1,2})/(?P<d>[0-9]{1,2})/(?:[0-9]{2}|[0-9]{4})", "/"),
             (r"(?P<d>[0-9]{1,2})\.(?P<m>[0-9]{1,2})\.[0-9]{4}", "."),
             (r"(?P<d>[0-9]{1,2})-(?P<m>[0-9]{1,2})-(?:[0-9]{2}|[0-9]{4})", "-")]


def all_day_month(texts: list[str]) -> bool:
    """Tell whether all fields fit one pattern of day, month and year: such a column is text (section 4, kind 2)."""
    for pattern, _ in DAY_MONTH:
        regex = re.compile(pattern + r"(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?")
        matches = [regex.fullmatch(text) for text in texts]
        if texts and all(m and 1 <= int(m["m"]) <= 12 and 1 <= int(m["d"]) <= 31 for m in matches):
            if any(len(m["d"]) == 1 or len(m["m"]) == 1 for m in matches):
                mark("day-or-month-of-one-digit")
            return True
    return False
