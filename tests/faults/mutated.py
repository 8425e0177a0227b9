"""Inputs that were tampered with: the command says what is wrong with them or sorts them, and loses nothing."""

from __future__ import annotations

import gzip
import random
import re
import sys
import zlib
from collections import Counter
from pathlib import Path

import data
from harness import Run, Scenario, compare, snapshot

sys.path.append(str(Path(__file__).resolve().parent.parent / "contract"))
import oracle

SEEDS: dict[str, list[bytes]] = {
    "txt": [
        b"3\n1\n2\n",
        b"  7 -8\t007 +5\r\n# a comment\r\n\r\n1e3 1.10\r\n",
        b"\xef\xbb\xbf5\n4\n",
        b"3\r1\r2\r",
        b"nan\n-inf\n0\n-0\n1.5\n.5\n5.\nInfinity\n1e-400\n",
        b"18446744073709551615\n9223372036854775808\n1\n",
        b"-9223372036854775808\n-1\n4294967296\n",
        b"9007199254740993\n1.5\n",
        b"# only a comment\n",
        b"",
        b"1 2 3 4 5 6 7 8 9 10 11 12\n" * 20,
    ],
    "csv": [
        b"id,price,name\n1,2.5,x\n2,1.5,y\n3,,z\n4,nan,w\n",
        b'id,price,name\r\n1,2.5,"a, b"\r\n2,"1.5","say ""hi"""\r\n3,7,"two\r\nlines"\r\n',
        b"\xef\xbb\xbfprice\n3\n1\n2",
        b"price\r3\r1\r",
        b"id,price\n1,x\n2,007\n3,+5\n4,1e3\n5, 6 \n",
        b"price,price\n1,2\n",
        b"price\n",
        b"",
    ],
    "tsv": [b"id\tprice\n1\t3\n2\t1\n3\t2\n"],
    "npy": [data.npy(name, bytes(range(64)), 64 // (int(name[1:]) // 8)) for name in data.NUMPY],
    **{name: [bytes(range(48)), bytes(range(255, 207, -1)), b"\0\0\x80\x7f\0\0\xc0\xff" * 6] for name in data.WORDS},
    "f16": [bytes(range(48)), b"\0\x7e\0\xfe\0\x7c\0\xfc" * 3],
    "bin": [bytes(range(48))],
    "log": [
        b"12\t./b\n4\t./a\n1020\t.\n",
        b"      3 GET /x\n     12 PUT\r\n      1 \xff\n",
        b"2026-11-21 10:00:00.5 5 4.0K\n2026-11-20T23:59:60Z 7 1kB\n\n1999-02-30 9 3GiB",
        b"USER %CPU\nroot 45%\nme 9ms\n",
        b"root:x:0:0\nbin:x:2:1\n:\n",
        b"3 a\nb\0 1 c\r\n\0\0",
        b"",
    ],
}
# Text of two members, a table, binary, and members of zstd.
SEEDS["txt.gz"] = [gzip.compress(b"3\n1\n2", mtime=0) + gzip.compress(b"7\n", mtime=0) + b"\0\0"]
SEEDS["csv.gz"] = [gzip.compress(content, mtime=0) for content in SEEDS["csv"]]
SEEDS["log.gz"] = [gzip.compress(content, 0, mtime=0) for content in SEEDS["log"]]
SEEDS["u32.gz"] = [gzip.compress(bytes(range(48)), mtime=0)]
TEXT_OF_ZSTD = bytes.fromhex("28b52ffd0458310000330a310a320ad935f33f")
SEEDS["txt.zst"] = [TEXT_OF_ZSTD, TEXT_OF_ZSTD * 3]
SEEDS["csv.zst"] = [bytes.fromhex("28b52ffd045889000069642c70726963650a312c370a322c350a0710b4c6")]
# Text and tables more often than the many types of binary.
KINDS = ["txt"] * 8 + ["csv"] * 8 + ["tsv"] + ["npy"] * 4 + ["f16", "bin", *data.WORDS] + ["log"] * 8
KINDS += ["txt.gz", "csv.gz", "csv.gz", "log.gz", "u32.gz", "txt.zst", "csv.zst"]
PIECES = [b"\n", b"\r\n", b"\r", b",", b'"', b'""', b"#", b" ", b"\t", b"-", b"+", b".", b"e", b"nan", b"inf", b"\0"]
PIECES += [b"1e999", b"99999999999999999999", b"0x1F", b"1_0", b"\x1b[31m", b"\xff", b"\xc2\x85", b"\xef\xbb\xbf"]
PIECES += [b"x" * 5000]
PIECES += [b"9" * 400, b"\x0b", b"\x0c", b"\xe2\x80\xa8", b"shape", b"(99999999999,)", b"'<f8'", b"True", b"\x1f\x8b\x08"]
PIECES += [b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18\0\0\0\0", b"2026-11-21", b" 10:00", b"Z", b"+02:00", b"K", b"kB"]


def mutate(rng: random.Random, content: bytes, others: list[bytes]) -> bytes:
    for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3, 8])):
        place = rng.randint(0, len(content))
        end = min(len(content), place + rng.randint(0, 12))
        how = rng.randrange(9)
        if how == 0 and content:
            place = min(place, len(content) - 1)
            content = content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]
        elif how == 1:
            content = content[:place] + rng.choice(PIECES) + content[place:]
        elif how == 2:
            content = content[:place] + content[end:]
        elif how == 3:
            content = content[:place] + content[place:end] * rng.randint(2, 30) + content[end:]
        elif how == 4:
            other = rng.choice(others)
            content = content[:place] + other[rng.randint(0, len(other)) :]
        elif how == 5:
            content = content[:place]
        elif how == 6 and content:
            place = min(place, len(content) - 1)
            content = content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]
        elif how >= 7:
            # Whole lines, which leaves what is right as it is.
            rows = content.split(b"\n")
            rows = rng.sample(rows, len(rows)) if how == 7 else rows + rng.choices(rows, k=4)
            content = b"\n".join(rows)
    return content


# Most are there.
KEYS = ["price"] * 9 + ["1"] * 5 + ["2", "price:r", "id", "id:a", "9", "", "\x1b[31m", "no", "\u202e", "x" * 3000]


def some_options(rng: random.Random, kind: str) -> list[str]:
    options = []
    if kind.startswith("log"):
        options += rng.choice([["-k", "1"]] * 6 + [["-k2"], ["-k", "2:r", "-k1"], ["-k2,2nr"], ["-k1h"], ["-f", "lines"]])
        for word in ("--header", "--leading", "-z", "-t:", "-ttime", "-tsize", "-h"):
            if rng.random() < 0.1:
                options.append(word)
    if kind.startswith(("csv", "tsv")):
        options += ["-k", rng.choice(KEYS)]
        if rng.random() < 0.2:
            options += ["-k", rng.choice(["1", "id:r", "name"])]
        if rng.random() < 0.2:
            options.append("--no-header")
        if rng.random() < 0.1:
            options += ["--delimiter", rng.choice([";", "tab", " ", "1", ".", "-"])]
    for chance, choices in (
        (0.15, [["-u"]]),
        (0.2, [["-r"]]),
        (0.1, [["--top", "2"], ["--top", "0"], ["--top", "1000000000000"]]),
        (0.1, [["--argsort"]]),
        (0.3, [["--invalid", where] for where in ("error", "last", "first", "skip")]),
        (0.3, [["--empty", where] for where in ("last", "first", "error")]),
        (0.3, [["--nan", where] for where in ("last", "first", "error")]),
        (0.1, [["-t", name] for name in (*data.WORDS, "f16")]),
        (0.05, [["--to", name] for name in ("text", "bin", "csv", "tsv", "npy")]),
        (0.05, [["-a", "bitonic"], ["-a", "odd-even"]]),
        (0.1, [["--json"], ["-q"], ["--timing", "off"]]),
    ):
        if rng.random() < chance:
            options += rng.choice(choices)
    return options


FORMATS = {"csv": "csv", "tsv": "tsv", "npy": "npy", "txt": "text", "log": "lines"}

# What leaves every record in, in the order that the oracle knows.
PLAIN = {"-q", "--timing", "off", "--json", "-k", "price", "1", "-f", "text"}


def run_mutated(run: Run) -> None:
    """One file, or two for a merge, through a call that is picked at random."""
    rng = run.rng
    kind = rng.choice(KINDS)
    content = mutate(rng, rng.choice(SEEDS[kind]), SEEDS[kind])
    name = f"in.{kind}"
    (run.work / name).write_bytes(content)
    options = [] if rng.random() < 0.3 and not kind.startswith(("csv", "tsv", "log")) else some_options(rng, kind)
    if kind.startswith("txt") and rng.random() < 0.5:
        options += ["-f", "text"]
    how = rng.choices(["stdout", "output", "stdin", "merge", "check", "each", "in place"], [5, 3, 2, 2, 2, 1, 1])[0]
    if how == "check":
        kept = [word for word in options if word not in ("--argsort", "--json")]
        run.gpusort("check", *kept, name, codes=(0, 1, 2))
        return
    call = {
        "stdout": ["sort", name],
        "output": ["sort", name, "-o", "old.out"],
        "stdin": ["sort", "-f", FORMATS.get(kind.partition(".")[0], "bin")],
        "merge": ["sort", "-m", name, name],
        "each": ["sort", "--each", "-o", "out", name],
        "in place": ["sort", "--each", "--in-place", name],
    }[how]
    if how == "stdin" and kind.partition(".")[0] in (*data.WORDS, "f16"):
        call += ["-t", kind.partition(".")[0]]
    (run.work / "old.out").write_bytes(data.OLD)
    before = snapshot(run.work)
    outcome = run.gpusort(*call, *options, feed=content if how == "stdin" else None)
    run.last_command += f"  ({name}: {content[:300]!r})"
    if outcome.code == 2:
        # The folder for the results is there all the same.
        run.unchanged(before, {f"out/{name}": lambda _: "is there"} if how == "each" else {})
        if outcome.out and how in ("stdout", "output", "stdin"):
            run.fail(f"exit 2, and yet on stdout: {outcome.out[:100]!r}")
        return
    if how in ("stdout", "output", "stdin") and outcome.code == 0 and set(options) <= PLAIN:
        got = (run.work / "old.out").read_bytes() if how == "output" else outcome.out
        if problem := check_result(kind, content, [*call, *options], got):
            run.fail(problem)


def check_result(kind: str, content: bytes, options: list[str], got: bytes) -> str | None:
    """What is wrong with the result of a plain sort, where that is certain."""
    if kind in data.WORDS or kind == "f16":
        return compare(got, data.sorted_binary(content, kind))
    if kind == "u32.gz":
        return None
    if content.startswith(b"\x1f\x8b"):
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, zlib.error):
            return "taken for compressed data, and is none"
    elif content[:4] == b"\x28\xb5\x2f\xfd" or content[1:4] == b"\x2a\x4d\x18":
        return None
    kind = kind.partition(".")[0]
    if kind == "txt":
        return check_text(content, got) if "-f" in options else check_plain(content, got)
    if kind == "log":
        return check_lines(content, got)
    if kind in ("csv", "tsv"):
        return check_table(content, got)
    return None


def check_text(content: bytes, got: bytes) -> str | None:
    """All numbers in order, as `-f text` writes them."""
    # What else ends a line or separates numbers is another question.
    if b"#" in content and re.search(rb"\r(?!\n)", content) or set(content) & set(b"\x0b\x0c\0"):
        return None
    tokens = content.removeprefix(b"\xef\xbb\xbf").split()
    try:
        return compare(got, data.sorted_text(tokens))
    except ValueError:
        return "taken for a number, and is none"


def check_plain(content: bytes, got: bytes) -> str | None:
    """The lines in the order of the contract."""
    if content.endswith(b"\r"):
        return None  # It gets the LF that it lacks.
    result = oracle.run(["sort", "in.txt"], lambda _: content)
    if result.labels:
        return None
    return compare(got, result.output) if result.code == 0 else f"sorted, where the contract refuses: {result.error}"


def check_lines(content: bytes, got: bytes) -> str | None:
    """All lines in some order."""
    body = content.removeprefix(b"\xef\xbb\xbf")
    if body.endswith(b"\r"):
        return None  # it gets the LF that it lacks
    was, now = (some.replace(b"\r\n", b"\n").split(b"\n") for some in (body, got.removeprefix(b"\xef\xbb\xbf")))
    was = was if was[-1] else was[:-1]
    lost, more = Counter(was) - Counter(now[:-1]), Counter(now[:-1]) - Counter(was)
    return f"lines lost: {list(lost)[:3]}, too many: {list(more)[:3]}" if lost or more else None


def check_table(content: bytes, got: bytes) -> str | None:
    """All rows in some order, below the header; with quotes at least the same bytes but for line ends."""
    body = content.removeprefix(b"\xef\xbb\xbf")
    if b'"' in content or re.search(rb"\r(?!\n)", content):
        was, now = (Counter(some.translate(None, b"\r\n")) for some in (body, got.removeprefix(b"\xef\xbb\xbf")))
        return None if was == now else f"bytes lost: {was - now}, too many: {now - was}"
    was, now = (some.replace(b"\r\n", b"\n").split(b"\n") for some in (body, got.removeprefix(b"\xef\xbb\xbf")))
    was, now = ([row for row in rows if row] for rows in (was, now))
    if was[:1] != now[:1]:
        return f"another header: {now[:1]}"
    lost, more = Counter(was) - Counter(now), Counter(now) - Counter(was)
    return f"rows lost: {list(lost)[:3]}, too many: {list(more)[:3]}" if lost or more else None


SCENARIOS = [Scenario("mutated", run_mutated, full=20_000)]
