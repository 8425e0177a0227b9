"""Tables of cases for each rule of the contract, written by hand: a command line, the input, and what is right."""

import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import oracle  # noqa: E402
import times  # noqa: E402
import versions  # noqa: E402
from exact_numbers import Notation, compare, number_like, parse_leading, parse_plain, scale  # noqa: E402
from units import parse_duration, parse_size  # noqa: E402

ERROR = None
GNU = b"GNU coreutils" in subprocess.run(["sort", "--version"], capture_output=True, check=False).stdout
PLAIN = Notation()


def sort(words: str | list[str], data, name: str = "-") -> bytes | None:
    """Run `gpusort sort WORDS` on standard input or on one file; give the output, or None for exit code 2."""
    words = words.split() if isinstance(words, str) else words
    files = [] if name == "-" else [name]
    result = oracle.run(["sort", *words, *files], lambda _: data.encode() if isinstance(data, str) else data)
    return result.output if result.code == 0 else ERROR


def lines(text: str) -> str:
    """Write words as lines: `|` ends a line."""
    return "".join(part + "\n" for part in text.split("|"))


class Table(unittest.TestCase):
    """Runs tables of (words, input, output), where `|` stands between lines and None for an error."""

    def table(self, rows, name: str = "-") -> None:
        for words, data, want in rows:
            with self.subTest(words=words, data=data):
                got = sort(words, lines(data), name)
                self.assertEqual(got.decode() if got is not None else ERROR, lines(want) if want is not ERROR else ERROR)


class Numbers(Table):
    """Section 4, kind 1."""

    def test_order(self) -> None:
        rising = ["-inf", "-1e1000000000000000000", "-18446744073709551617", "-18446744073709551616", "-2", "-1.5", "-1e-400",
                  "0", "5e-1000000000000000000", "1e-400", "1.00000000000000000000000000001e-399", ".5", "0.50000000000000000000000001", "1", "9.99",
                  "10", "1e2", "18446744073709551616", "18446744073709551617", "9e999999999999999999", "1e1000000000000000000", "Infinity"]
        values = [number_like(text, PLAIN)[1] for text in rising]
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                self.assertEqual(compare(a, b), (i > j) - (i < j), (rising[i], rising[j]))

    def test_equal(self) -> None:
        for texts in (["0", "-0", "+0.0", "0e9", ".0", "0.", "0e-1000000000000000000"], ["1", "1.", "01", "10e-1", "0.1e1", "+1.000"], ["1e3", "1000", "1E+3"]):
            values = [parse_plain(text, PLAIN) for text in texts]
            self.assertTrue(all(value == values[0] for value in values), texts)

    def test_not_numbers(self) -> None:
        for text in ("", "-", "+", ".", "e5", "1e", "1e+", "1_000", "1,5", "0x10", "1.2.3", "--1", "1e1000000000000000001", "1 2", "12a", "½"):
            self.assertIsNone(parse_plain(text, PLAIN), text)

    def test_signs_of_currencies(self) -> None:
        for text in ("-$3", "$-3", "$ -3", "-3$", "-3 $"):
            symbol, number = number_like(text, PLAIN)
            self.assertEqual((symbol, number), ("$", parse_plain("-3", PLAIN)), text)
        self.assertEqual(number_like("9.5%", PLAIN), ("%", parse_plain("9.5", PLAIN)))
        self.assertEqual(number_like("3 €", PLAIN), ("€", parse_plain("3", PLAIN)))
        for text in ("-$-3", "$", "$$3", "$3%", "USD 3"):
            self.assertIsNone(number_like(text, PLAIN), text)

    def test_notation(self) -> None:
        comma = Notation(decimal=",", thousands=".")
        self.assertEqual(parse_plain("1.234,50", comma), parse_plain("1234.5", PLAIN))
        self.assertEqual(parse_plain("1234,5", comma), parse_plain("1234.5", PLAIN))
        self.assertIsNone(parse_plain("1,234,5", comma))

    def test_leading(self) -> None:
        for text, want in (("45%", "45"), ("12ms", "12"), ("0003-msg.md", "3"), ("-1.5x", "-1.5"), ("1e3x", "1000"), ("1ex", "1")):
            self.assertEqual(parse_leading(text, PLAIN), parse_plain(want, PLAIN))
        self.assertIsNone(parse_leading("x1", PLAIN))

    def test_columns(self) -> None:
        self.table([
            ("-k 1", "10|9|-1", "-1|9|10"),
            ("-k 1", "nan|1|inf|-inf", "-inf|1|inf|nan"),
            ("-k 1 -r", "nan|1|inf|-inf", "inf|1|-inf|nan"),
            ("-k 1 --nan first", "1|nan|0", "nan|0|1"),
            ("-k 1 --nan error", "1|nan", ERROR),
            ("-k 1", "nan|inf|-inf", "-inf|inf|nan"),
            ("-k 1", "nan|abc|inf", "abc|inf|nan"),
            ("-k 1", "$10|$9|$-1", "$-1|$9|$10"),
            ("-k 1", "10%|9%|100%", "9%|10%|100%"),
            ("-k 1", "1.10|1.9", "1.10|1.9"),
            ("-k 1", "5|x", ERROR), ("-k 1", "x|5", ERROR), ("-k 1:text", "5|x|10", "10|5|x"),
            ("-k 1 --invalid last", "x|5|a|1", "1|5|x|a"), ("-k 1 --invalid first", "5|x|1|a", "x|a|1|5"),
            ("-k 1 --invalid skip", "5|x|1|a", "1|5"), ("-k 1 --na x", "5|x|1", "1|5|x"), ("-k 1 --na x --empty first", "5|x|1", "x|1|5"),
            ("-k 1:number --invalid last", "5|4x|1", "1|5|4x"), ("-n --leading", "10x|9y|8", "8|9y|10x"), ("-k 1 --leading", "b1|a2", "a2|b1"),
            ("-k 1:hex", "0x10|0xF|0x1", "0x1|0xF|0x10"), ("-k 1:hex", "10|f|fe", "f|10|fe"), ("-k 1:hex", "10|xyz", ERROR),
        ])


class Times(Table):
    """Section 4, kind 2."""

    def test_instants(self) -> None:
        zero = ["1970-01-01T00:00:00Z", "1970-01-01 01:00:00+01:00", "1970-01-01 01:00:00 +0100", "1970-01-01 00:00:00 UTC", "1970-01-01 00:00 GMT",
                "1970/01/01 00:00:00Z", "[01/Jan/1970:01:00:00 +0100]", "Thu, 01 Jan 1970 00:00:00 +0000", "1 Jan 1970 05:30:00 +0530",
                "1969-12-31T19:00:00-05", "Thu Jan  1 00:00:00 1970 +0000", "1970-01-01T00:00:00.000000000Z"]
        for text in zero:
            time = times.parse(text, (), True)
            self.assertIsNotNone(time, text)
            self.assertEqual((time.nanoseconds, time.year, time.zone), (0, True, True), text)

    def test_without_zone(self) -> None:
        for text, want in (("1970-01-02", 86400 * 10**9), ("1970-01-01 00:00:00.000000001", 1), ("1970/01/01 00:00:01", 10**9),
                           ("Thu Jan  1 00:00:01 1970", 10**9), ("1 Jan 1970 00:00:01", 10**9), ("1969-12-31 23:59:59.5", -5 * 10**8),
                           ("2000-02-29", 951782400 * 10**9)):
            time = times.parse(text, (), True)
            self.assertEqual((time.nanoseconds, time.zone), (want, False), text)

    def test_none(self) -> None:
        for text in ("2024-02-30", "2023-02-29", "1900-02-29", "2024-13-01", "2024-1-1", "24-01-01", "2024-01-01 24:00:00", "2024-01-01 10:60", "12:30:00",
                     "2024-01-01T10:00:00.1234567890Z", "01/02/2024", "Mar  3 10:11", "Dec 24  2019", "Feb 30 10:00:00", "2024-01-01 10:00:00 +01",
                     "2024-01-01 10:00:00 EST", "2024-01-01x", "31 Foo 2024 10:00:00"):
            self.assertIsNone(times.parse(text, (), True), text)

    def test_patterns(self) -> None:
        for text, pattern, want in (("12/31/1970", "%m/%d/%Y", 364 * 86400), ("31.12.70", "%d.%m.%y", 364 * 86400), ("01.01.1970 01:02", "%d.%m.%Y %H:%M", 3720),
                                    ("1.5", "epoch", 1.5), ("1500", "epoch-ms", 1.5), ("01/Jan/1970:00:00:01 +0000", "clf", 1),
                                    ("Jan 1, 1970 1:00 PM", "%b %d, %Y %I:%M %p", 46800)):
            time = times.parse(text, (pattern,), True)
            self.assertEqual(time.nanoseconds, int(want * 10**9), text)

    def test_columns(self) -> None:
        self.table([
            ("-k 1", "Feb  3 01:00:00 b|Jan 12 23:00:00 a|Feb 29 00:00:00 c", "Jan 12 23:00:00 a|Feb  3 01:00:00 b|Feb 29 00:00:00 c"),
            ("-k 2", "x 21 Nov 2026 10:00:00 +0100|y 3 Dec 2026 10:00:00 +0100|z 21 Nov 2026 09:30:00 +0000",
             "x 21 Nov 2026 10:00:00 +0100|z 21 Nov 2026 09:30:00 +0000|y 3 Dec 2026 10:00:00 +0100"),
            ("-k 2", "a 12 Nov 21 10:00 f|a 3 Dec 24  2019 g", "a 3 Dec 24  2019 g|a 12 Nov 21 10:00 f"),
            ("-k 1", "2024-01-01 x|2023-05-06 07:08:09 y", "2023-05-06 07:08:09 y|2024-01-01 x"),
            ("-k 1", "2024-01-01 10:00:00Z|2024-01-01 10:00:00", ERROR),
            ("-k 1", "Jan  1 10:00:00 a|2024-01-01 10:00:00 b", ERROR),
            ("-k 1", "2024-01-01|2024-02-30", ERROR), ("-k 1 --invalid first", "2024-01-01|2024-02-30", "2024-02-30|2024-01-01"),
            ("-k 1", "2024-01-01|n/a", ERROR), ("-k 1 --na n/a", "2024-02-01|n/a|2024-01-01", "2024-01-01|2024-02-01|n/a"),
            ("-k 1", "12/25/2019|01/02/2020", "01/02/2020|12/25/2019"), ("-k 1 --time-format %m/%d/%Y", "01/02/2020|12/25/2019", "12/25/2019|01/02/2020"),
            ("-k 1", "25.12.2019|01.02.2020", "01.02.2020|25.12.2019"),
            ("-k 1", "10.9.1|9.10.1", "9.10.1|10.9.1"),
            ("-k -1", "a 2024-01-01 10:00:00|b 2023-01-01 11:00:00", "a 2024-01-01 10:00:00|b 2023-01-01 11:00:00"),
        ])

    def test_delimited_time_stays_in_its_field(self) -> None:
        self.table([("-t , -k 1", "2024-01-01 10:00:00,1|2024-01-01 09:00:00,2", "2024-01-01 09:00:00,2|2024-01-01 10:00:00,1")])


class KindThree(Table):
    """Section 4, kind 3: sizes, durations and versions."""

    def test_sizes(self) -> None:
        rising = ["0", "900", "1.0K", "1023K", "1.0M", "1.5MiB", "1023M", "1G", "2T"]
        values = [parse_size(text, PLAIN)[1] for text in rising]
        self.assertTrue(all(compare(a, b) < 0 for a, b in zip(values, values[1:])))
        self.assertEqual(parse_size("1K", PLAIN)[1], parse_size("1024", PLAIN)[1])
        for text in ("1m", "1g", "K", "1KK", "1.2.3K", "1e3K", "1b"):
            self.assertIsNone(parse_size(text, PLAIN), text)

    def test_durations(self) -> None:
        for text, seconds in (("12ms", "0.012"), ("1h2m3s", "3723"), ("0:01:23", "83"), ("1.5s", "1.5"), ("1:23", "83"), ("1-02:03:04", "93784"), ("0", "0"),
                              ("100ns", "1e-7"), ("3µs", "3e-6"), ("1m30.5s", "90.5"), ("2d", "172800")):
            self.assertEqual(parse_duration(text)[1], scale(parse_plain(seconds, PLAIN), 10**9), text)
        for text in ("5", "ms", "1h2", "1:2", "1:60:00", "h", "1 h", "1x"):
            self.assertIsNone(parse_duration(text), text)

    def test_versions_as_sort_does(self) -> None:
        rising = [b"1.2~beta", b"1.2", b"1.2.9", b"1.2.10-rc1", b"1.2.10-rc2", b"1.2.10-rc10", b"1.3", b"9.1.1.1", b"10.0.0.9", b"10.0.0.10", b"v1.0.0"]
        for i, a in enumerate(rising):
            for j, b in enumerate(rising):
                found = versions.compare(a, b)
                self.assertEqual((found > 0) - (found < 0), (i > j) - (i < j), (a, b))
        self.assertEqual(versions.compare(b"1.01", b"1.1"), 0)

    @unittest.skipUnless(GNU, "no GNU sort")
    def test_versions_beside_sort(self) -> None:
        r = random.Random(1)
        texts = ["".join(r.choice("0019a.~-Z+v:/") for _ in range(r.randint(1, 8))) for _ in range(400)]
        texts = [text for text in texts if not text.startswith(".")]
        done = subprocess.run(["sort", "-V", "-s"], input=lines("|".join(texts)), capture_output=True, text=True, env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
        self.assertEqual(done.stdout, sort("-k 1:version", lines("|".join(texts))).decode())

    def test_columns(self) -> None:
        self.table([
            ("-k 1", "2.0M|10K|0|900", "0|900|10K|2.0M"), ("-k 1", "10k|9k", "9k|10k"),
            ("-k 1", "1h|12ms|0|90s", "0|12ms|90s|1h"), ("-k 1", "12ms|5", ERROR), ("-k 1", "10:30|9:45", "9:45|10:30"),
            ("-k 1", "1:02|1:02:03", ERROR), ("-k 1:duration", "1:02:03|90:00|1:02", "1:02|1:02:03|90:00"),
            ("-k 1", "1-00:00:00|2:00:00|1:02", "1:02|2:00:00|1-00:00:00"),
            ("-k 1", "1.2.10|1.2.9", "1.2.9|1.2.10"), ("-k 1", "1.10|1.9", "1.10|1.9"), ("-k 1:version", "1.10|1.9", "1.9|1.10"),
            ("-k 1", "10.0.0.1/8|9.0.0.0/16", "9.0.0.0/16|10.0.0.1/8"), ("-k 1", "1.2.3x|1.2.10", "1.2.10|1.2.3x"),
            ("-k 1", "12ms|x|1s", "12ms|1s|x"), ("-k 1", "12ms|0|x", ERROR), ("-k 1 --invalid last", "4K|x|900|1M", "900|4K|1M|x"),
        ])


class Lines(Table):
    """Section 3, Lines, and section 4, No key."""

    def bytes_(self, words: str, data: bytes, want: bytes | None) -> None:
        with self.subTest(words=words, data=data):
            self.assertEqual(sort(words, data), want)

    def test_ends(self) -> None:
        self.bytes_("", b"b\na", b"a\nb\n")
        self.bytes_("", b"b\r\na", b"a\r\nb\r\n")
        self.bytes_("", b"b\r\na\n", b"a\nb\r\n")
        self.bytes_("", b"b", b"b\n")
        self.bytes_("", b"", b"")
        self.bytes_("-u", b"a\r\na\n", b"a\r\n")
        self.bytes_("-z", b"b\0a", b"a\0b\0")
        self.bytes_("", b"\xef\xbb\xbf10\n9\n", b"\xef\xbb\xbf9\n10\n")
        self.bytes_("", b"\xff\n\x80\na\n", b"a\n\x80\n\xff\n")

    def test_no_key(self) -> None:
        self.table([
            ("", "10 b|9|10 a", "9|10 a|10 b"), ("-r", "10 b|9|10 a", "10 b|10 a|9"), ("", "10|x|9", "10|9|x"), ("", "|b||a", "||a|b"),
            ("", "3||1", "1|3|"), ("-r", "3||1", "3|1|"), ("--empty first", "3||1", "|1|3"), ("", "  10|9", "9|  10"),
            ("-u", "1 a|1 b|1 a", "1 a|1 b"), ("-nu", "1 a|1 b|1 a", "1 a|1 b"), ("-k 1 -u", "1 a|1 b|1 a", "1 a"),
            ("-n", "x|1", ERROR), ("-n --invalid last", "x 2|x 1|1", "1|x 1|x 2"), ("-V", "a10|a9", "a9|a10"), ("-f", "b|A|a|B", "A|a|b|B"),
            ("", "#b|#a", "#a|#b"), ("--header", "h|b|a", "h|a|b"), ("--header=9", "b|a", "b|a"), ("--top 1", "3|1|2", "1"), ("-h", "1K|900", "900|1K"),
            ("--argsort", "3|1|2", "1|2|0"), ("--header --argsort", "h|3|1", "1|0"), ("--na n/a", "3|n/a|1", "1|3|n/a"),
            ("--comments", "b|#2|a|#1", "#2|#1|a|b"),
        ])

    def test_fields(self) -> None:
        self.table([
            ("-k 2", "x 2|  y 1", "  y 1|x 2"), ("-k 2", "x\t2|y   1", "y   1|x\t2"), ("-k -1", "a 3|b x 1|c", ERROR), ("-k -1", "a 3|1|b x 2", "1|b x 2|a 3"),
            ("-t : -k 2", "a::1|b:5:2", "b:5:2|a::1"), ("-t : -k 2 -r", "a::1|b:5:2", "b:5:2|a::1"), ("-k 2", "a|b 1", "b 1|a"), ("-k 5", "a|b", ERROR),
            ("-k 5", "|", "|"), ("-k 0", "b|a|10|9", "10|9|a|b"), ("-k 0 -n", "10|9|x", "10|9|x"), ("-k 0", "a||b", "|a|b"),
            ("-t , -k 2", "x, b|y,a|z,A", "x, b|z,A|y,a"), ("-t , -k 2", "x, 10|y,9", "y,9|x, 10"),
        ])


class Keys(Table):
    """Section 4: keys, modifiers and order."""

    def test_keys(self) -> None:
        self.table([
            ("-k 1 -k 2:r", "a 1|b 5|a 2", "a 2|a 1|b 5"), ("-r -k 1 -k 2:a", "a 2|b 5|a 1", "b 5|a 1|a 2"), ("-k1,1 -k2,2n", "b 1|a 10|a 9", "a 9|a 10|b 1"),
            ("-k2nr", "a 1|b 2", "b 2|a 1"), ("-r -k 2,2n", "a 2|b 1", "b 1|a 2"), ("-r -k 2,2", "a 1|b 2", "b 2|a 1"), ("-n -k 1,1r", "x|y", "y|x"),
            ("-k 1:text", "10|9", "10|9"), ("-k 1:nocase", "b|A|a|B", "A|a|b|B"), ("-k 1 -f", "b|A|a|B", "A|a|b|B"), ("-k 1:zzz", "a", ERROR),
            ("-k 0:number", "1", ERROR), ("-k 1 -r", "1 a|1 b|2 c", "2 c|1 a|1 b"), ("-k 1 -u", "1 a|1.0 b|0 c", "0 c|1 a"),
            ("-k 2 -u", "a|b|c 1|d 2", "c 1|d 2|a"), ("-k 2 -u --invalid last", "a 1|b x|c x|d 1", "a 1|b x|c x"), ("-k 1 -u --top 1", "1|1|2", "1"),
            ("-k 2 --empty error", "a|b 1", ERROR), ("-k 2 --invalid first --empty first --nan first", "a 1|b nan|c|d x", "d x|c|b nan|a 1"),
            ("-k 2 --invalid last", "d x|c|b nan|a 1", "a 1|b nan|c|d x"), ("-k 2 --argsort --invalid skip", "a 3|b x|c 1", "2|0"), ("--top x", "1", ERROR),
            ("-o x -o y", "1", ERROR), ("--invalid maybe", "1", ERROR), ("-k 1 --na a", "b|a|c", "b|c|a"), ("-k 2 -n --na -f", "b -f|a 1|c 2", "a 1|c 2|b -f"),
        ])

    def test_check(self) -> None:
        for words, data, want in (("", "1|2", 0), ("", "2|1", 1), ("-r", "2|1", 0), ("-u", "1|1", 1), ("-k 1 -u", "1 a|1 b", 1), ("-u", "1 a|1 b", 0),
                                  ("-k 1", "1 b|1 a", 0), ("", "1 b|1 a", 1), ("-k 1", "1|x", 2), ("--header", "z|a|b", 0), ("-k 1", "", 0)):
            for command in (["check"], ["sort", "-c"]):
                result = oracle.run([*command, *words.split()], lambda _: lines(data).encode() if data else b"")
                self.assertEqual(result.code, want, (words, data))


class Tables(Table):
    """Section 3: CSV, TSV, JSON Lines, headers, names and comments."""

    def test_csv(self) -> None:
        self.table([
            ("-k b", 'a,b|"x, y",2|z,1', 'a,b|z,1|"x, y",2'), ("-k 2", "a,b|x,2|z,1", "a,b|z,1|x,2"), ("-k b", "a, b |x, 10|z,9", "a, b |z,9|x, 10"),
            ("-k a", 'a|"b""c"|"b"', 'a|"b"|"b""c"'), ("", "a,b|1,2", ERROR), ("-k c", "a,b|1,2", ERROR), ("-k 3", "a,b|1,2", ERROR),
            ("-k b", "a;b|x;2|y;1", "a;b|y;1|x;2"), ("-k b", "a\tb|x\t2|y\t1", "a\tb|y\t1|x\t2"), ("-k 2", "2,b|1,5|0,4", ERROR),
            ("-k b", "a,b|1,|2,5|3,", "a,b|2,5|1,|3,"), ("-k b", "a,b|1,5||3,4", "a,b|3,4|1,5|"), ("-k 0", "b,a|2|10", "b,a|10|2"),
            ("-k b:r", "b:r,b|2,1|1,2", "b:r,b|1,2|2,1"), ("--header=2 -k b", "#x|a,b|1,2|2,1", "#x|a,b|2,1|1,2"),
        ], "t.csv")
        self.assertEqual(sort("-k a", b'a,b\n"2\n3",1\n1,2\n', "t.csv"), ERROR)
        self.assertEqual(sort("-k b", b'a,b\n"2\n3",2\n1,1\n', "t.csv"), b'a,b\n1,1\n"2\n3",2\n')
        self.assertEqual(sort("-k b", b"a,b\r\n1,2\r\n2,1", "t.csv"), b"a,b\r\n2,1\r\n1,2\r\n")
        self.assertEqual(sort("-k b", b"", "t.csv"), b"")

    def test_several_files(self) -> None:
        files = {"a.csv": b"k\n3\n1\n", "b.csv": b"k\n2\n", "c.csv": b"other\n2\n", "d.csv": b"", "x": b"3\n1", "y": b"2\r\n0"}
        run = lambda *words: oracle.run(["sort", *words], files.__getitem__)  # noqa: E731
        self.assertEqual(run("-k", "k", "a.csv", "b.csv").output, b"k\n1\n2\n3\n")
        self.assertEqual(run("-k", "k", "d.csv", "b.csv").output, b"k\n2\n")
        self.assertEqual(run("-k", "k", "a.csv", "c.csv").code, 2)
        self.assertEqual(run("x", "y").output, b"0\r\n1\n2\r\n3\n")
        self.assertEqual(run("--argsort", "x", "y").output, b"3\n1\n2\n0\n")

    def test_names_in_lines(self) -> None:
        self.table([
            ("-k b", "a,b|1,2|2,1", "a,b|2,1|1,2"), ("-k b", "a b|1 2|2 1", "a b|2 1|1 2"), ("-k b", "a\tb|1\t2|2\t1", "a\tb|2\t1|1\t2"),
            ("-k b", "a;b|1;2|2;1", "a;b|2;1|1;2"), ("-k c", "a b|1 2", ERROR), ("-k a", '{"a":2}|{"a":1}', '{"a":1}|{"a":2}'),
            ("-k C", "A B C|1 2 x y|1 2 a", "A B C|1 2 a|1 2 x y"), ("-k B", "A   B  C|1   9  x|22  10", "A   B  C|1   9  x|22  10"),
            ("-k B", "A   B   C|x      1|y   5   2|z   3   3", "A   B   C|z   3   3|y   5   2|x      1"),
            ("-k POS --comments", "##x|#CHROM\tPOS|1\t10|1\t9", "##x|#CHROM\tPOS|1\t9|1\t10"), ("-t : -k b", "a:b|1:2|2:1", "a:b|2:1|1:2"),
        ])

    def test_columns_by_position(self) -> None:
        header, a, b, c = "ID    IMAGE ID   SIZE|a     ab cdefgh  2K|b     xy cdefgh  1K|c                1M".split("|")
        text = lines("|".join([header, a, b, c]))
        self.assertEqual(sort("--header -k SIZE", text).decode(), lines("|".join([header, b, a, c])))
        self.assertEqual(sort(["-k", "SIZE:r"], text).decode(), lines("|".join([header, c, a, b])))
        self.assertEqual(sort(["--header", "-k", "IMAGE ID:r"], text).decode(), lines("|".join([header, b, a, c])))

    def test_json(self) -> None:
        self.table([
            ("-k a", '{"a":10}|{"a":9}', '{"a":9}|{"a":10}'), ("-k a", '{"a":"10"}|{"a":"9"}', '{"a":"10"}|{"a":"9"}'),
            ("-k a.b", '{"a":{"b":2}}|{"a":{"b":1}}', '{"a":{"b":1}}|{"a":{"b":2}}'), ("-k a[1]", '{"a":[0,2]}|{"a":[0,1]}', '{"a":[0,1]}|{"a":[0,2]}'),
            ("-k a", '{"a":null}||{"a":1}|{}', '{"a":1}|{"a":null}||{}'), ("-k a", '{"a":true}|{"a":false}', '{"a":false}|{"a":true}'),
            ("-k a", '{"a":1}|{"a":true}', ERROR), ("-k a", '{"a":""}|{"a":null}|{"a":"x"}', '{"a":""}|{"a":"x"}|{"a":null}'),
            ("-k a", '{"a":""}|{"a":1}', '{"a":1}|{"a":""}'), ("-k a", '{"a":"1h"}|{"a":"2ms"}', '{"a":"2ms"}|{"a":"1h"}'),
            ("-k a", '{"a":"1h"}|{"a":"2ms"}|{"a":"x"}', '{"a":"1h"}|{"a":"2ms"}|{"a":"x"}'), ("-k b", '{"a":1}', ERROR), ("", '{"a":1}', ERROR),
            ("-k a", '{"a":1e400}|{"a":18446744073709551617}', '{"a":18446744073709551617}|{"a":1e400}'), ("-k a", '{"a":1}|x', ERROR),
            ("-k a --invalid last", '{"a":"x"}|{"a":2}|{"a":1}', '{"a":1}|{"a":2}|{"a":"x"}'), ("-k a:text", '{"a":10}|{"a":9}', '{"a":10}|{"a":9}'),
        ], "j.jsonl")


if __name__ == "__main__":
    unittest.main()
