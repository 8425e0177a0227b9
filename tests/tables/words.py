"""Fields that are words, and the keys that order them: pools of bytes that are alike in all ways that may matter."""

from __future__ import annotations

import random

FEW = [b"chr1", b"chr2", b"chr10", b"chrX", b"chrY", b"chrM", b"chr1_random"]
LEVELS = [b"info", b"INFO", b"warn", b"error", b"debug", b"Error", b"nan", b"inf"]
NOT_NUMBERS = [b"nan", b"NaN", b"inf", b"-inf", b"Infinity", b"+nan", b"-INFINITY", b"INF"]
CASES = [b"a", b"A", b"b", b"B", b"ab", b"aB", b"Ab", b"AB", b"_", b"[", b"`", b"{", b"@", b"Z", b"z", b"zz", b"a_", b"A["]
UNICODE = ["é", "é", "ß", "日本", "日", "中文", "\U0001f600", "\U0001f601", "z", "Z", "Å", "Å", "￿", "\U00010000", " x", "ÿ"]
INVALID = [b"\xff", b"\xfe", b"\xc3", b"\xc3\xa9", b"\x80", b"a\xff", b"a\x80b", b"\xed\xa0\x80", b"\xf0\x9f", b"a", b"\x7f", b"\xff\xff"]
ZEROS = [b"a", b"a\0", b"a\0\0", b"\0", b"\0\0", b"a\0b", b"a\x01", b"\x01", b"a\0\x01", b"b", b"aaaaaaaa", b"aaaaaaaa\0", b"aaaaaaa\0"]
VERSIONS = [b"1.9", b"1.10", b"v1.0", b"v1.0~rc1", b"1.0.0", b"01.0", b"2", b"a0", b"a", b"a.txt", b"a10.txt", b"a2.tar.gz"]
VERSIONS += [b"a~", b"file-1.2", b"file-1.10", b".b", b".a.1", b"..", b".", b"10.0.0.2", b"10.0.0.10", b"1:2", b"A.txt"]
VERSIONS += [b"x.y-00", b"x.y-", b"linux-6.9-rc1", b"linux-6.10", b"1.0a", b"1.0.0.deb", b"99999999999999999999.1"]
HEXES = [b"0", b"00", b"0x0", b"ff", b"FF", b"0xff", b"0X00fF", b"100", b"deadbeef", b"DEADBEEF0", b"a", b"f" * 40, b"0" + b"f" * 40]
HEXES += [b"1" + b"0" * 40, b"1e5", b"0123", b"7", b"10", b"ffffffffffffffff", b"10000000000000000", b"1" * 600]
NO_HEXES = [b"0x", b"x", b"-1", b"g", b"1.5", b"0x0x1", b"+f", b"1_0"]
DURATIONS = ["12ms", "1.5s", ".5s", "1h2m3s", "2d", "0m1.234s", "1min30.5s", "90", "1.5", "2e-3", "1:23", "0:01:23", "83"]
DURATIONS += ["00:01:02.50", "1-02:03:04", "PT1H30M", "P1DT2H", "P2W", "PT0.5S", "pt83s", "-1h1s", "+1.5", "-0:01:23", "1w2d"]
DURATIONS += ["7hr", "8sec", "9us", "10ns", "9\u00b5s", "1H30m15S", "100:00:00", "1e3ms", "5400", "90:00", "0", "-0", "1500ms"]
SPACED = ["3 days", "1h 2min 3s", "1min 30.5s", "1h  1s"]
NO_DURATIONS = ["5M", "1m1h", "1:60", "1:2", "P", "PT", "1.5h1m", "0.0000000001s", "1y", "1h1h", "x", "1-24:00:00", "P1H", "1-1:30"]
TIMES = [b"2026-11-21", b"2026-11-20T23:59:59.5", b"1999-12-31T00:00", b"2026-11-21T10:00:00", b"2026-11-21T10:00:00.000"]
LETTERS = [b"ab", b"abAB", b"xyz~", b"a", b"01x", b"\x01\xff", b"abcdefghijklmnopqrstuvwxyz", b"a\0"]
LENGTHS = [0, 1, 6, 7, 8, 9, 10, 15, 16, 17, 24, 25]


def spell(rng: random.Random, letters: bytes, length: int) -> bytes:
    return bytes(rng.choices(letters, k=length))


def some_words(rng: random.Random, big: bool) -> list[bytes]:
    """Different words: few or many, of one length or of several, with beginnings that they share."""
    way = rng.randrange(16)
    count = rng.choice([2, 10, 50, 300] + [3000] * (1 + 3 * big))
    letters = rng.choice(LETTERS)
    if way < 8:
        return [FEW, LEVELS, CASES, [text.encode() for text in UNICODE], INVALID, ZEROS, VERSIONS, NOT_NUMBERS + [b"x"]][way]
    if way == 8:  # one length
        length = rng.choice([1, 2, 7, 8, 9, 16, 20])
        return [spell(rng, letters, length) for _ in range(count)]
    if way == 9:  # all different
        return [b"%s-%d" % (spell(rng, letters, 3), at) for at in rng.sample(range(10**6), count)]
    if way == 10:
        return [b"https://www.example.com/%s/%s" % (spell(rng, b"ab", rng.randint(0, 20)), spell(rng, letters, 2)) for _ in range(count)]
    if way == 11:  # each is the beginning of others
        return [letters[:1] * length for length in range(min(count, 40))]
    beginnings = [spell(rng, b"pq", rng.choice(LENGTHS + [100])) for _ in range(rng.choice([1, 1, 2, 5]))]
    return [rng.choice(beginnings) + spell(rng, letters, rng.choice(LENGTHS[:9])) for _ in range(count)]


def some_number(rng: random.Random) -> bytes:
    return rng.choice([b"%d" % rng.randint(-20, 20), b"%.2f" % rng.uniform(-9, 9), b"%d" % rng.getrandbits(31), b"-0", b"1e3"])


def some_size(rng: random.Random) -> bytes:
    return b"%d%s" % (rng.randint(0, 2000), rng.choice([b"", b"K", b"k", b"M", b"kB", b"KiB", b"B"]))


def some_marked(rng: random.Random, decimal: str, thousands: str) -> bytes:
    """A number with these marks, mostly."""
    number = f"{rng.choice([rng.randint(-99, 99), rng.randint(-(10**7), 10**7)])}"
    sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    if thousands and rng.random() < 0.7:
        digits = f"{int(digits):,}".replace(",", thousands)
    fraction = (decimal or ".") + str(rng.randint(0, 99)) if rng.random() < 0.6 else ""
    return (sign + digits + fraction).encode()


class Column:
    """What the fields of a column are, what else is between them, and which keys order them."""

    def __init__(self, rng: random.Random, big: bool, spaced: bool, marks: tuple[str, str]):
        self.flavour = rng.choices(
            ["words", "numbers", "sizes", "durations", "hexes", "times", "versions", "blank"], [50, 12, 4, 5, 5, 4, 8, 1]
        )[0]
        many = rng.choice([1, 5, 100, 1000])
        self.odd: list[bytes] = []  # where a field is refused
        if self.flavour == "words":
            self.pool = some_words(rng, big)
        elif self.flavour == "numbers":
            self.pool = [some_marked(rng, *marks) if any(marks) else some_number(rng) for _ in range(many)]
            self.odd = [b"x", b"1.2.3", b"0x1"]
        elif self.flavour == "sizes":
            self.pool = [some_size(rng) for _ in range(many)]
            self.odd = [b"x", b"5KK"]
        elif self.flavour == "durations":
            self.pool = [text.encode() for text in DURATIONS + SPACED * spaced]
            self.odd = [text.encode() for text in NO_DURATIONS]
        elif self.flavour == "hexes":
            self.pool, self.odd = HEXES, NO_HEXES
        elif self.flavour == "times":
            self.pool, self.odd = TIMES, [b"2026-02-30", b"x"]
        elif self.flavour == "versions":
            self.pool = VERSIONS + [b"%d.%d.%d" % tuple(rng.choices(range(12), k=3)) for _ in range(many)]
        else:
            self.pool = [b""]
        if self.flavour in ("words", "versions") and rng.random() < 0.1:
            self.pool = self.pool + NOT_NUMBERS
        if self.flavour in ("words", "versions") and rng.random() < 0.05:
            self.pool = self.pool + [b" ", b"  ", b" a", b"a ", b"\ta"] * spaced
        self.empty = rng.choice([0, 0, 0, 0.02, 0.3])
        self.na = rng.choice([0, 0, 0.1])
        self.wrong = 0.0

    def key(self, rng: random.Random, name: str, number: int) -> str:
        """A key for it, mostly one that suits what it is."""
        kinds = {
            "words": ["", "", "", ":text", ":nocase", ":text:nocase", ":version", ":version:nocase"],
            "versions": [":version", ":version", ":text", "V", ",", ":nocase:version", "Vf"],
            "numbers": ["", ":number", ":text", "n", "g", "n,", ","],
            "sizes": [":size", "h", ":text", ","],
            "durations": [":duration", ":text"],
            "hexes": [":hex", ":hex", ":text", ","],
            "times": ["", ":time", ":text", ","],
            "blank": ["", ":text", ","],
        }[self.flavour]
        if self.flavour in ("words", "versions", "hexes"):
            kinds = kinds + [",", ",", "b", "f", "V", "fb"]
        if rng.random() < 0.03:
            kinds = [":text", ":version", ",", ":hex", ":duration", ":number"]
        kind = rng.choice(kinds)
        if kind and kind[0] != ":":
            letters = kind.rstrip(",") if kind != "," else ""
            letters += rng.choice(["", "", "r"])
            letters = "".join(rng.sample(letters, len(letters)))
            cut = rng.randint(0, len(letters))
            begin, end = (letters[:cut], letters[cut:]) if rng.random() < 0.3 else ("", letters)
            whole = f"{number}{begin},{number}{end}"
            if set(letters) & set("ngh"):
                whole = rng.choice([whole, f"{number}{letters}", f"{number}{begin},{number + rng.randint(0, 3)}{end}"])
            return whole + rng.choice(["", "", "", ":r", ":a"])
        modifiers = [kind[1:]] if kind.count(":") == 1 else kind.split(":")[1:]
        modifiers = [modifier for modifier in modifiers if modifier]
        turn = rng.choice(["", "", "r", "a"])
        if turn:
            modifiers.insert(rng.randint(0, len(modifiers)), turn)
        return ":".join([name if rng.random() < 0.6 else str(number)] + modifiers)

    def field(self, rng: random.Random, na: list[str]) -> bytes:
        chance = rng.random()
        if chance < self.empty:
            return b""
        if na and rng.random() < self.na:
            return rng.choice(na).encode()
        if self.odd and rng.random() < self.wrong:
            return rng.choice(self.odd)
        return rng.choice(self.pool)
