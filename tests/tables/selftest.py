"""Can the oracle fail, and is it right where the answer is known?

Planted wrong outputs must each be found, hand-written cases must give hand-written bytes.
"""

from __future__ import annotations

import gzip
import io
import random
import unittest
import zlib

import numpy as np
import zstandard

from generate import make_case
from oracle import BOM, Case, Options, Undecided, decided, expect, find_key, read_size, read_time, split, to_f32
from packing import pack, spoil
from run import compare, lost_or_added, records


def table(*files: bytes, delimiter: bytes = b",", **options: object) -> Case:
    named = [(f"t{at}.csv", data) for at, data in enumerate(files)]
    return Case(named, [], Options(**options), delimiter)  # type: ignore[arg-type]


def npy(values: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


# Options, files, what comes out.
KNOWN: list[tuple[dict, list[bytes], bytes]] = [
    ({}, [b"v\n3\n5\n2\n2.01\nNaN\n2\n0\n"], b"v\n0\n2\n2\n2.01\n3\n5\nNaN\n"),
    ({"reverse": True}, [b"v\n3\n5\n2\n2.01\nNaN\n2\n0\n"], b"v\n5\n3\n2.01\n2\n2\n0\nNaN\n"),
    ({"nan": "first"}, [b"v\n3\nnan\n1\n"], b"v\nnan\n1\n3\n"),
    # Stable, descending too.
    ({"keys": ["a"]}, [b"a,b\n1,x\n0,y\n1,w\n0,z\n"], b"a,b\n0,y\n0,z\n1,x\n1,w\n"),
    ({"keys": ["a:r"]}, [b"a,b\n1,x\n0,y\n1,w\n0,z\n"], b"a,b\n1,x\n1,w\n0,y\n0,z\n"),
    ({"keys": ["a", "b:r"]}, [b"a,b\n1,1\n0,5\n1,2\n0,6\n"], b"a,b\n0,6\n0,5\n1,2\n1,1\n"),
    ({"keys": ["a:a", "b"], "reverse": True}, [b"a,b\n1,1\n0,5\n1,2\n0,6\n"], b"a,b\n0,6\n0,5\n1,2\n1,1\n"),
    # Zeros: one as integers, two as decimals.
    ({"keys": ["1"]}, [b"a,b\n0,x\n-0,y\n+0,z\n"], b"a,b\n0,x\n-0,y\n+0,z\n"),
    ({"keys": ["1"]}, [b"a,b\n0,x\n-0,y\n.5,z\n"], b"a,b\n-0,y\n0,x\n.5,z\n"),
    ({"unique": True}, [b"v\n0\n-0\n1\n"], b"v\n0\n1\n"),
    ({"unique": True}, [b"v\n0\n-0\n1.0\n1\nnan\n-NaN\n"], b"v\n-0\n0\n1.0\nnan\n"),
    # Line ends: kept; a missing one is the file's.
    ({}, [b"v\r\n2\r\n1"], b"v\r\n1\r\n2\r\n"),
    ({}, [b"v\n2\r\n1"], b"v\n1\n2\r\n"),
    ({"header": False}, [b"2\r\n1"], b"1\r\n2\r\n"),
    ({}, [b"v\r\n3\r\n1", b"v\n4\n2"], b"v\r\n1\r\n2\n3\r\n4\n"),
    ({}, [b"v"], b"v\n"),
    # BOM, blank lines, an empty file.
    ({}, [BOM + b"v\n2\n1\n"], BOM + b"v\n1\n2\n"),
    ({"header": False}, [BOM + b"2\n1\n", BOM + b"0\n"], BOM + b"0\n1\n2\n"),
    ({"keys": ["b"]}, [b"\n\na,b\n\n1,2\n\r\n2,1\n\n"], b"a,b\n2,1\n1,2\n"),
    ({}, [b"\nv\n2\n\n1\n"], b"v\n1\n2\n\n"),
    ({"empty": "first"}, [b"v\n2\n\r\n1\n"], b"v\n\r\n1\n2\n"),
    ({"keys": ["nosuch"]}, [b""], b""),
    # Quotes: numbers in them, line ends and delimiters in them, quotes that mean nothing.
    ({"keys": ["v"]}, [b't,v\n"a\n,""b",2\nc"d,"1"\n'], b't,v\nc"d,"1"\n"a\n,""b",2\n'),
    ({"keys": ["2"]}, [b'a"b,2\nc,"1"5\n"d" , 3\n'], b'a"b,2\n"d" , 3\nc,"1"5\n'),
    # Ends: numbers, NaN, empty, invalid; at the front the mirror image.
    ({"invalid": "last"}, [b"v\nx\n\nnan\n1\n0\n"], b"v\n0\n1\nnan\n\nx\n"),
    ({"invalid": "first", "empty": "first", "nan": "first"}, [b"v\n1\nnan\n\nx\n0\n"], b"v\nx\n\nnan\n0\n1\n"),
    ({"invalid": "last", "reverse": True}, [b"v\nx\n\nnan\n1\n0\ny\n"], b"v\n1\n0\nnan\n\nx\ny\n"),
    ({"invalid": "skip"}, [b"v\n1\nx\n0\n"], b"v\n0\n1\n"),
    ({"invalid": "skip", "argsort": True}, [b"v\n1\nx\n0\n"], b"2\n0\n"),
    # Types.
    ({}, [b"v\n18446744073709551615\n18446744073709551614\n"], b"v\n18446744073709551614\n18446744073709551615\n"),
    ({}, [b"v\n9007199254740993\n9007199254740992\n"], b"v\n9007199254740992\n9007199254740993\n"),
    ({"type": "f64"}, [b"v\n9007199254740993\n9007199254740992\n"], b"v\n9007199254740993\n9007199254740992\n"),
    ({"type": "f32", "keys": ["1"]}, [b"a,b\n16777217,x\n16777216,y\n"], b"a,b\n16777217,x\n16777216,y\n"),
    ({"top": 2, "unique": True}, [b"v\n3\n1\n1\n2\n"], b"v\n1\n2\n"),
    ({"argsort": True, "reverse": True, "keys": ["1"]}, [b"a,b\n1,\n\n2,\n", b"a,b\n2,"], b"1\n2\n0\n"),
]

# Of lines: options, files, what comes out.
LINES: list[tuple[dict, bytes, list[bytes], bytes]] = [
    ({}, b"", [b"  10 b\n\t9\ta x\n 2\n"], b" 2\n\t9\ta x\n  10 b\n"),
    ({"keys": ["2:r"]}, b"", [b"a 1\nb\n\nc 3 x\r\nd 2"], b"c 3 x\r\nd 2\na 1\nb\n\n"),
    ({"header": True, "keys": ["N"]}, b"", [b" A  N\nx 2 y\nx 1\n"], b" A  N\nx 1\nx 2 y\n"),
    ({"header": True}, b"", [b"", b"\n2\n1\n"], b"\n1\n2\n"),
    ({"leading": True, "invalid": "last"}, b"", [b"info\n45%\n9/s\n1e1x\n\n"], b"9/s\n1e1x\n45%\n\ninfo\n"),
    ({"keys": ["3"]}, b"", [b"2026-11-21 10:00 x 2\nq x 1\n"], b"q x 1\n2026-11-21 10:00 x 2\n"),
    ({"keys": ["2"]}, b":", [b'a: 2:x\n"b:1\nc\n:0'], b':0\n"b:1\na: 2:x\nc\n'),
    ({"unique": True}, b"", [BOM + b"1 a\n1 b\n0 #\n"], BOM + b"0 #\n1 a\n"),
    ({"keys": ["1"]}, b"", [b"2026-11-21 10:00 a\n2026-11-21 b\n\n"], b"2026-11-21 b\n2026-11-21 10:00 a\n\n"),
    ({"invalid": "last"}, b"", [b"x\n2026-02-30\n1999-12-31T23:59:60.5Z\n2000-01-01T00:00Z\n"],
     b"2000-01-01T00:00Z\n1999-12-31T23:59:60.5Z\nx\n2026-02-30\n"),
    ({"zero": True}, b"", [b"3 a\nb\0\n2\r\0", b"1 2\n"], b"1 2\n\0\n2\r\0" + b"3 a\nb\0"),
    ({"type": "size", "reverse": True}, b"", [b"1kB\n1023\n1K\n1.5M a\n0.5k\n"], b"1.5M a\n1K\n1023\n1kB\n0.5k\n"),
    ({"type": "size"}, b"", [b"1Q\n9007199254740993\n16E\n9007199254740992.5\n0.5\n1R\n-1Z\n"],
     b"-1Z\n0.5\n9007199254740992.5\n9007199254740993\n16E\n1R\n1Q\n"),
]

# Of text: options, files, what comes out.
TEXTS: list[tuple[dict, list[bytes], bytes]] = [
    ({"plain": True}, [b"# 1 2\n\n5\r4\n"], b"4\n5\n"),
    ({"plain": True}, [b"3 1\n2 9\n"], b"2 9\n3 1\n"),
    ({"plain": True}, [b"b\na 9\n"], b"a 9\nb\n"),
    ({}, [BOM + b"# 9\n 3 +2\r-1\r\n#\r"], b"-1\n+2\n3\n"),
    ({"type": "size"}, [b"1M 2 3k\n#5\n\n", b"2B 7"], b"2\n2B\n7\n3k\n1M\n"),
    ({"type": "time", "reverse": True, "unique": True}, [b"1999-01-01\t2000-01-01 1999-01-01T00:00"], b"2000-01-01\n1999-01-01\n"),
    ({"type": "size", "argsort": True}, [b"1K\n# 2\n1 5"], b"1\n2\n0\n"),
]

# What a time is in nanoseconds from 1970, its decimals, whether it has a zone.
TIMES = {
    "1970-01-01": (0, 0, False),
    "1970-01-01T00:00:00.50Z": (500_000_000, 1, True),
    "1969-12-31 23:00-02:00": (3600 * 10**9, 0, True),
    "0000-03-01": (-62162035200 * 10**9, 0, False),
    "9999-12-31T23:59:60,123456789": (253402300800 * 10**9 + 123456789, 9, False),
    "1900-02-29": None,
    "2000-02-29T24:00": None,
}

# Options, files, what stderr must name.
ERRORS: list[tuple[dict, list[bytes], str]] = [
    ({}, [b"v\n1\nx\n"], "t0.csv:3: no number"),
    ({"keys": ["b"]}, [b'a,b\n"x\ny",1\n2,x\n'], "t0.csv:4: no number"),
    ({}, [b"v\n1\n", b"v\n2\n1,2\n"], "t1.csv:3: two fields"),
    ({}, [b'v\n1\n"2\n'], "t0.csv:3: quote"),
    ({"empty": "error"}, [b"v\n1\n\n"], "t0.csv:3: empty"),
    ({"nan": "error"}, [b"v\n1\nnan\n"], "t0.csv:3: nan"),
    ({}, [b"v\n1\n18446744073709551616\n"], "t0.csv:3: too large"),
    ({}, [b"v\n-1\n18446744073709551615\n"], "t0.csv:2: both"),
    ({}, [b"v\n9007199254740993\n1.5\n"], "t0.csv:2: inexact"),
    ({}, [b"v\n1e309\n"], "t0.csv:2: overflow"),
    ({"type": "f32"}, [b"v\n340282356779733661637539395458142568448\n"], "t0.csv:2: overflow"),
    ({"type": "i32", "invalid": "last"}, [b"v\n2147483648\n"], "t0.csv:2: range"),
    ({"type": "i32"}, [b"v\nnan\n"], "t0.csv:2: range"),
    ({"keys": ["c"]}, [b"a,b\n1,2\n"], "no column c; there are a, b"),
    ({"keys": ["a"]}, [b"a,a\n1,2\n"], "two columns are called a"),
    ({}, [b"a,b\n1,2\n"], "which column?"),
    ({}, [b"a\n1\n", b"b\n2\n"], "t1.csv has another header"),
    ({}, [b"v\n2026-11-21\n5\n"], "t0.csv:3: a number and a time"),
    ({}, [b"v\n2026-11-21\n2026-11-21T10:00Z\n"], "t0.csv:3: zones"),
    ({}, [b"v\n0001-01-01\n2026-11-21T10:00:00.123456789\n"], "t0.csv:3: too fine"),
    ({"type": "time"}, [b"v\n2026-11-21\n5\n"], "t0.csv:3: no time"),
]


class Known(unittest.TestCase):
    def test_output(self) -> None:
        for options, files, wanted in KNOWN:
            with self.subTest(options=options, files=files):
                case = table(*files, **options)
                expected = expect(case)
                self.assertEqual((expected.code, expected.stdout), (0, wanted))
                self.assertEqual(compare(case, expected, 0, wanted, ""), "")

    def test_lines(self) -> None:
        for options, delimiter, files, wanted in LINES:
            with self.subTest(options=options, files=files):
                case = table(*files, delimiter=delimiter, lines=True, **{"header": False, **options})
                expected = expect(case)
                self.assertEqual((expected.code, expected.stdout), (0, wanted))
                self.assertEqual(compare(case, expected, 0, wanted, ""), "")
                end = b"\0" if options.get("zero") else b"\n"
                lost = wanted.rstrip(b"\r" + end).rpartition(end)[0] + end
                self.assertIn("records", compare(case, expected, 0, lost, ""))

    def test_texts(self) -> None:
        for options, files, wanted in TEXTS:
            with self.subTest(options=options, files=files):
                case = decided(table(*files, delimiter=b" ", text=True, **{"header": False, **options}))
                expected = expect(case)
                self.assertEqual((expected.code, expected.stdout), (0, wanted))
                self.assertEqual(compare(case, expected, 0, wanted, ""), "")
                lost = wanted.rstrip(b"\n").rpartition(b"\n")[0] + b"\n"
                self.assertIn("records", compare(case, expected, 0, lost, ""))
        case = table(b"1K\n#\n2 zz\n", delimiter=b" ", text=True, header=False, type="size")
        expected = expect(case)
        self.assertEqual(compare(case, expected, 2, b"", "gpusort: t0.csv:3:3: no size"), "")
        self.assertIn("stderr has none", compare(case, expected, 2, b"", "gpusort: t0.csv:2: no size"))
        case = table(b"5\n4 3\n", delimiter=b" ", text=True, plain=True, header=False)
        self.assertEqual(compare(case, expect(case), 2, b"", "gpusort: t0.csv:2:3: several"), "")

    def test_times_and_sizes(self) -> None:
        for text, wanted in TIMES.items():
            self.assertEqual(read_time(text), wanted, text)
        for text, wanted in (("4.0K", "4096"), ("1kB", "1000"), ("2MiB", "2097152"), ("3B", "3"), ("1e3k", "1024000")):
            self.assertEqual(read_size(text.encode(), False), ("integer", wanted))
        self.assertEqual(read_size(b"1.1K", False), ("decimal", "1126.4"))
        self.assertEqual(read_size(b"9007199254740993.5", False), ("decimal", "9007199254740993/"))
        self.assertEqual(read_size(b"-1.5Z", False), ("integer", str(-3 * 2**69)))
        self.assertEqual(read_size(b"1K/s", False), None)
        self.assertEqual(read_size(b"1K/s", True), ("integer", "1024"))

    def test_errors(self) -> None:
        for options, files, stderr in ERRORS:
            with self.subTest(options=options, files=files):
                case = table(*files, **options)
                expected = expect(case)
                self.assertEqual(compare(case, expected, 2, b"", f"gpusort: {stderr}"), "")
                self.assertIn("exit code", compare(case, expected, 0, files[0], ""))
                self.assertIn("standard output", compare(case, expected, 2, b"v\n", stderr))
                if ":" in stderr:
                    moved = stderr.replace(".csv:", ".csv:1")
                    self.assertIn("stderr has none", compare(case, expected, 2, b"", moved))

    def test_columns(self) -> None:
        names = [b"a", b"a:r", b"3", b"b", b"b"]
        for wanted, column, descending in (("a", 0, True), ("a:r", 1, True), ("a:a", 0, False), ("3", 2, True), ("4:r", 3, True)):
            plan = find_key(wanted, names, 5, Options(reverse=True))
            assert plan
            self.assertEqual((plan.column, plan.descending), (column, descending))
        for wanted in ("b", "6", "", "-", "a:x", "1:x", "0x"):
            self.assertIsNone(find_key(wanted, names, 5, Options()), wanted)

    def test_f32_is_rounded_once(self) -> None:
        for text, bits in (
            ("1.00000017881393432617187499", 0x3F800001),
            ("1.000000178813934326171875", 0x3F800002),
            ("1.00000017881393432617187501", 0x3F800002),
            ("7.006492321624085e-46", 0),
            ("7.006492321624086e-46", 1),
            ("340282356779733661637539395458142568447", 0x7F7FFFFF),
            ("340282356779733661637539395458142568448", 0x7F800000),
        ):
            self.assertEqual(int(np.float32(to_f32(text)).view(np.uint32)), bits, text)

    def test_arrays(self) -> None:
        bits = [0xFFC00001, 0x80000000, 0x7FC00000, 0, 0xFF800000, 0xFFFFFFFF, 0x7F800001, 0x3F800000]
        data = np.array(bits, "<u4").tobytes()
        nans = [0x7F800001, 0x7FC00000, 0xFFFFFFFF, 0xFFC00001]
        numbers = [0xFF800000, 0x80000000, 0, 0x3F800000]
        for options, wanted in (
            ({}, numbers + nans),
            ({"reverse": True}, numbers[::-1] + nans),
            ({"nan": "first"}, nans + numbers),
            ({"nan": "first", "reverse": True}, nans + numbers[::-1]),
            ({"argsort": True, "top": 3}, [4, 1, 3]),
        ):
            case = Case([("a.f32", data)], [], Options(**options), dtype="f4")  # type: ignore[arg-type]
            self.assertEqual(expect(case).stdout, np.array(wanted, "<u4").tobytes())

    def test_two_splitters_agree(self) -> None:
        data = b'a,"b\r\n""",\r\n"x"y"z",\n\n,"",q"\r,"\n"\r\nlast'
        rows, unclosed = split(data, b",")
        self.assertEqual(unclosed, [])
        self.assertEqual(
            [row.fields for row in rows],
            [[b"a", b'b\r\n"', b""], [b'xy"z"', b""], [b""], [b"", b"", b'q"\r', b"\n"], [b"last"]],
        )
        self.assertEqual([row.line for row in rows], [1, 3, 4, 5, 7])
        self.assertEqual(records(data, b","), [row.raw for row in rows])
        self.assertEqual(b"".join(row.raw + row.end for row in rows), data)
        self.assertEqual(split(b'1\n"a"",\n""', b",")[1], [2, 2])


class Planted(unittest.TestCase):
    """Each way of being wrong is found."""

    def test_tables(self) -> None:
        case = table(b'id,v\r\na,2\r\n"b\n",1\r\nc,2\r\nd,nan\r\ne,-3\r\n', keys=["v"])
        right = b'id,v\r\ne,-3\r\n"b\n",1\r\na,2\r\nc,2\r\nd,nan\r\n'
        expected = expect(case)
        self.assertEqual(compare(case, expected, 0, right, ""), "")
        # What is wrong, the bytes, what the count of records says of them by itself.
        for what, wrong, message in (
            ("a row lost", right.replace(b"a,2\r\n", b""), "4 records"),
            ("a row doubled", right.replace(b"a,2\r\n", b"a,2\r\na,2\r\n"), "6 records"),
            ("a row instead of another", right.replace(b"c,2\r\n", b"a,2\r\n"), "did not go in"),
            ("equal keys swapped", right.replace(b"a,2\r\nc,2\r\n", b"c,2\r\na,2\r\n"), ""),
            ("a byte altered", right.replace(b"-3", b"-4"), "did not go in"),
            ("no header", right.removeprefix(b"id,v\r\n"), "header"),
            ("two headers", b"id,v\r\n" + right, "6 records"),
            ("NaN first", b'id,v\r\nd,nan\r\ne,-3\r\n"b\n",1\r\na,2\r\nc,2\r\n', ""),
            ("a line end changed", right.replace(b"a,2\r\n", b"a,2\n"), ""),
            ("no final line end", right[:-2], ""),
            ("nothing", b"", "header"),
        ):
            with self.subTest(what):
                self.assertIn("byte", compare(case, expected, 0, wrong, ""))
                self.assertIn(message, lost_or_added(case, expected, wrong))
                self.assertEqual(message == "", lost_or_added(case, expected, wrong) == "")

    def test_bom_lost(self) -> None:
        case = table(BOM + b"v\n1\n")
        self.assertIn("byte 0", compare(case, expect(case), 0, b"v\n1\n", ""))

    def test_arrays(self) -> None:
        right = np.array([-0.0, 0.0, 1.5, np.nan], ">f4")
        case = Case([("a.npy", npy(right[::-1]))], [], Options(), dtype="f4")
        expected = expect(case)
        self.assertEqual(compare(case, expected, 0, npy(right.astype("<f4")), ""), "")
        for wrong in (
            npy(right),  # the wrong byte order
            npy(right.astype("<f8")),
            npy(right.astype("<f4")[:3]),
            npy(right.astype("<f4")[[1, 0, 2, 3]]),
            npy(right.astype("<f4")[[3, 0, 1, 2]]),
            npy(right.astype("<f4"))[:-1],
            npy(right.astype("<f4")[[0, 0, 2, 3]]),
            b"",
        ):
            self.assertNotEqual(compare(case, expected, 0, wrong, ""), "")

    def test_generated(self) -> None:
        """In generated cases two records that differ cannot change places unseen."""
        tried = 0
        for number in range(400):
            case = make_case("selftest", number, "lines" if number % 2 else "tables")
            try:
                expected = expect(case)
            except Undecided:
                continue
            lines = expected.stdout.splitlines(keepends=True)
            if expected.code or len(lines) < 3 or len(lines) > 1000 or lines[-1] == lines[-2]:
                continue
            tried += 1
            lines[-2:] = lines[:-3:-1]
            self.assertEqual(compare(case, expected, 0, expected.stdout, ""), "")
            self.assertNotEqual(compare(case, expected, 0, b"".join(lines), ""), "")
        self.assertGreater(tried, 100)

    def test_packed_files_are_what_they_were_and_spoilt_ones_are_not(self) -> None:
        rng = random.Random(7)
        for number in range(300):
            data, kind = rng.randbytes(rng.choice([0, 1, 50])), rng.choice(["gz", "zst"])
            whole = pack(rng, data, kind)
            self.assertEqual(unpack(whole, kind), data)
            with self.assertRaises((EOFError, OSError, zlib.error, zstandard.ZstdError), msg=str(number)):
                unpack(spoil(rng, whole), kind)


def unpack(data: bytes, kind: str) -> bytes:
    """What the programs that made it say of it; an error for what is cut off, damaged, or followed by other bytes."""
    if kind == "gz":
        return gzip.decompress(data)
    content = b""
    while data:
        decoder = zstandard.ZstdDecompressor().decompressobj()
        content += decoder.decompress(data)
        if not decoder.eof:
            raise EOFError
        data = decoder.unused_data
    return content


if __name__ == "__main__":
    unittest.main()
