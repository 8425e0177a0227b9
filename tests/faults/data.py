"""Inputs, their right results by Python's own sort, and the jobs that are made of them."""

from __future__ import annotations

import ast
import math
import random
import subprocess
from array import array
from collections.abc import Callable
from pathlib import Path

from harness import Job, Setup

WORDS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q"}
WORDS |= {"f32": "f", "f64": "d"}
NUMPY = {"u8": "|u1", "i8": "|i1", "u16": "<u2", "i16": "<i2", "u32": "<u4", "i32": "<i4", "u64": "<u8", "i64": "<i8"}
NUMPY |= {"f16": "<f2", "f32": "<f4", "f64": "<f8"}


# --- The oracle ----------------------------------------------------------------------------------------------


def lines(tokens: list[bytes]) -> bytes:
    return b"\n".join([*tokens, b""])


def float_key(token: bytes) -> tuple:
    """By value, -0 before +0, NaN last."""
    value = float(token)
    return (1, 0, 0) if math.isnan(value) else (0, value, math.copysign(1, value))


def key_for(tokens: list[bytes]) -> Callable:
    """How tokens of one text compare: as integers where all are, else as f64."""
    if set(b"".join(tokens)) <= set(b"+-0123456789"):
        return int
    # Much quicker, where nothing needs more.
    return float if all(value < 0 or value > 0 for value in map(float, tokens)) else float_key


def sorted_text(tokens: list[bytes]) -> bytes:
    return lines(sorted(tokens, key=key_for(tokens)))


def bits_key(width: int, fraction: int) -> Callable[[int], tuple]:
    """The order of floats by their bits: NaN last, positive ones by rising bits, then negative ones by falling bits."""
    sign, infinity = 1 << (width - 1), ((1 << (width - 1)) - 1) >> fraction << fraction

    def key(bits: int) -> tuple:
        negative, rest = bits & sign, bits & ~sign
        if rest > infinity:
            return (2, -rest) if negative else (1, rest)
        return (0, -rest - 1) if negative else (0, rest)

    return key


def sorted_binary(content: bytes, name: str) -> bytes:
    """Little-endian words in order."""
    width = {"16": ("H", 10), "32": ("I", 23), "64": ("Q", 52)}.get(name[1:]) if name[0] == "f" else None
    words = array(width[0] if width else WORDS[name])
    words.frombytes(content)
    return array(words.typecode, sorted(words, key=bits_key(int(name[1:]), width[1]) if width else None)).tobytes()


def npy(name: str, content: bytes, count: int) -> bytes:
    header = f"{{'descr': '{NUMPY[name]}', 'fortran_order': False, 'shape': ({count},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + content


def is_npy(name: str, content: bytes, count: int) -> Callable[[bytes], str | None]:
    """Says what is wrong with an array, whatever the spelling of its header."""

    def check(got: bytes) -> str | None:
        if got[:8] != b"\x93NUMPY\x01\x00":
            return f"no .npy of version 1: {got[:8]!r}, {len(got)} bytes"
        end = 10 + int.from_bytes(got[8:10], "little")
        try:
            header = ast.literal_eval(got[10:end].decode())
        except (SyntaxError, ValueError):
            return f"a header that does not read: {got[10:end]!r}"
        if header != {"descr": NUMPY[name], "fortran_order": False, "shape": (count,)}:
            return f"a wrong header: {header}"
        return None if got[end:] == content else f"wrong data: {len(got) - end} bytes, not {len(content)}"

    return check


BENCH_COLUMNS = b"device,algo,variant,type,dist,n,runs,dispatches,bytes_moved,median_ms,min_ms,max_ms,end_to_end_ms"
BENCH_COLUMNS += b",keys_per_s,ns_per_element,bytes_per_s,vs_cpu"


def is_bench_csv(got: bytes) -> str | None:
    rows = got.split(b"\n")
    if rows[0] != BENCH_COLUMNS:
        return f"wrong columns: {rows[0][:200]!r}"
    if rows[-1] != b"":
        return "the last row is cut"
    wide = len(BENCH_COLUMNS.split(b","))
    wrong = [row for row in rows[1:-1] if len(row.split(b",")) != wide]
    return f"a row of another width: {wrong[0]!r}" if wrong else None


def is_something(got: bytes) -> str | None:
    return None if got else "nothing was written"


# --- Inputs --------------------------------------------------------------------------------------------------


def words(rng: random.Random, name: str, count: int) -> bytes:
    return rng.randbytes(count * array(WORDS[name]).itemsize)


def integers(rng: random.Random, count: int, width: int = 0) -> list[bytes]:
    return [b"%*d" % (width, value) for value in memoryview(words(rng, "i32", count)).cast("i")]


def decimals(rng: random.Random, count: int, width: int = 0) -> list[bytes]:
    """Short ones, in spellings that must be kept, behind blanks up to this width."""
    shapes = [b"%d.%d", b"%d.%d0", b"%d.%de1", b"00%d.%d", b"+%d.%d", b"-%d.%d"]
    tokens = [shapes[n % 6] % (n // 6 % 1000 + 1, n >> 13 & 63) for n in memoryview(words(rng, "u32", count)).cast("I")]
    return [token.rjust(width) for token in tokens]


def table(rng: random.Random, count: int, width: int = 0) -> tuple[bytes, bytes]:
    """A table and the same by its column `value`."""
    keys = decimals(rng, count)
    rows = [b'%d,%s,"item, %*d"' % (number, key, width, number % 97) for number, key in enumerate(keys)]
    values = list(map(key_for(keys), keys))
    order = sorted(range(count), key=values.__getitem__)
    header = [b"id,value,name"]
    return lines(header + rows), lines(header + [rows[number] for number in order])


def texts_apart(tokens: list[bytes]) -> tuple[bytes, bytes]:
    """Two sorted texts that make up one."""
    return sorted_text(tokens[::2]), sorted_text(tokens[1::2])


OLD = b"this is the old file\n" * 50


MADE: dict[tuple[Path, int, int], dict[str, Job]] = {}


def jobs(setup: Setup, count: int, width: int = 0) -> dict[str, Job]:
    """A job for every way of reading and writing, with inputs of about `count` numbers; made once.

    Each line of text has at least `width` bytes.
    """
    made = (setup.root, count, width)
    if made not in MADE:
        MADE[made] = make_jobs(setup, count, width)
    return MADE[made]


def make_jobs(setup: Setup, count: int, width: int) -> dict[str, Job]:
    folder, rng = setup.root / f"inputs-{count}-{width}", random.Random(f"{setup.seed}/{count}")
    folder.mkdir()
    folder.chmod(0o755)

    def put(name: str, content: bytes) -> str:
        path = folder / name
        path.write_bytes(content)
        return str(path)

    made: dict[str, Job] = {}

    def job(name: str, kind: str, *args: str, **rest) -> None:
        made[name] = Job(kind, [kind, *args], **rest)

    tokens = integers(rng, count, width)
    right = sorted_text(tokens)
    text, in_order = put("ints.txt", lines(tokens)), put("in-order.txt", right)
    old = {"old.txt": OLD}
    job("text to a new file", "sort", text, "-o", "new.txt", new={"new.txt": right})
    job("text over an old file", "sort", text, "-o", "old.txt", old=old, new={"old.txt": right})
    linked = {"sub/real.txt": OLD}
    job(
        "text through a link",
        "sort",
        text,
        "-o",
        "link.txt",
        old=linked,
        links={"link.txt": "sub/real.txt"},
        new={"sub/real.txt": right},
    )
    job("text to stdout", "sort", text, out=right)
    job("text from a pipe", "sort", "-o", "old.txt", stdin=text, piped=True, old=old, new={"old.txt": right})
    job("text from stdin", "sort", stdin=text, out=right)
    # So little that there are ten runs or more.
    little = ["--memory", str(max(count, count * width // 11, 4096))]
    job("text in parts", "sort", *little, text, "-o", "old.txt", old=old, new={"old.txt": right})
    job("text in parts from a pipe", "sort", *little, stdin=text, piped=True, out=right)
    positions = sorted(range(count), key=list(map(int, tokens)).__getitem__)
    positions = lines([b"%d" % position for position in positions])
    job("argsort", "sort", "--argsort", text, "-o", "old.txt", old=old, new={"old.txt": positions})
    in_parts = [*little, "--argsort", text, "-o", "old.txt"]
    job("argsort in parts", "sort", *in_parts, old=old, new={"old.txt": positions})
    first = lines(right.split(b"\n")[:7]) if count >= 7 else right
    job("top", "sort", "--top", "7", text, out=first)
    short = decimals(rng, count, width)
    # Numbers that are equal follow each other as lines do.
    right_short = sorted_text(sorted(short))
    path = put("decimals.txt", lines(short))
    job("decimals", "sort", path, "-o", "old.txt", old=old, new={"old.txt": right_short})
    job("decimals to stdout", "sort", path, out=right_short)
    job("decimals in parts", "sort", *little, path, "-o", "old.txt", old=old, new={"old.txt": right_short})
    job("unique", "sort", "-u", path, out=sorted_text(sorted(set(short))))

    for name in ("u8", "u32", "f64"):
        content = words(rng, name, count)
        file, right_words = f"old.{name}", sorted_binary(content, name)
        path = put(f"words.{name}", content)
        job(name, "sort", path, "-o", file, old={file: OLD}, new={file: right_words})
        if name == "u32":
            least = ["--memory", str(max(count, 4096))]
            job("u32 in parts", "sort", *least, path, "-o", file, old={file: OLD}, new={file: right_words})
            ordered = put("in-order.u32", right_words)
            halves = content[: len(content) // 8 * 4], content[len(content) // 8 * 4 :]
            parts = [put(f"part{n}.u32", sorted_binary(half, name)) for n, half in enumerate(halves)]
            array_of = is_npy("u32", right_words, count)
            job("merge to .npy", "sort", "-m", *parts, "-o", "old.npy", old={"old.npy": OLD}, new={"old.npy": array_of})
            job("merge words to stdout", "sort", "-m", *parts, out=right_words)
            job("check u32", "check", ordered, out=b"")
    rows, right_rows = table(rng, count, width)
    path = put("table.csv", rows)
    job("table", "sort", "-k", "value", path, "-o", "old.csv", old={"old.csv": OLD}, new={"old.csv": right_rows})
    old_table, new_table = {"old.csv": OLD}, {"old.csv": right_rows}
    job("table in parts", "sort", *little, "-k", "value", path, "-o", "old.csv", old=old_table, new=new_table)
    job("table to stdout", "sort", "-k", "value", path, out=right_rows)
    job("check table", "check", "-k", "value", put("in-order.csv", right_rows), out=b"")

    parts = [put(f"merge{n}.txt", content) for n, content in enumerate(texts_apart(tokens))]
    job("merge", "sort", "-m", *parts, "-o", "old.txt", old=old, new={"old.txt": right})
    job("merge to stdout", "sort", "-m", *parts, out=right)
    job("check", "check", in_order, out=b"")
    job("check of disorder", "check", put("disorder.txt", right + b"-3000000000\n"), code=1)
    job("check from stdin", "check", stdin=in_order, out=b"")

    quarters = {f"q{n}.txt": tokens[n::4] for n in range(4)}
    files = [put(name, lines(quarter)) for name, quarter in quarters.items()]
    sorted_quarters = {name: sorted_text(quarter) for name, quarter in quarters.items()}
    into = {f"out/{name}": content for name, content in sorted_quarters.items()}
    job("each into a folder", "sort", "--each", "-o", "out", *files, new=into, partial=True)
    unsorted = {name: lines(quarter) for name, quarter in quarters.items()}
    job(
        "each in place", "sort", "--each", "--in-place", *quarters, old=unsorted, new=sorted_quarters, partial=True
    )

    # The same options make the same bytes: what one run in peace makes.
    for name, kind in (("gen text", "text"), ("gen u32", "bin")):
        options = ["-c", str(count), "-t", "u32"]
        command = [str(setup.binary), "gen", *options, "--to", kind]
        content = subprocess.run(command, stdout=subprocess.PIPE, timeout=60, check=True).stdout
        made_count = content.count(b"\n") if kind == "text" else len(content) // 4
        assert made_count == count, f"gen made {made_count} numbers, not {count}"
        file = "old.u32" if kind == "bin" else "old.txt"
        job(name, "gen", *options, "-o", file, old={file: OLD}, new={file: content})
        job(f"{name} to stdout", "gen", *options, "--to", kind, out=content)
    most = "256..4K" if count > 100_000 else "256"
    job(
        "bench",
        "bench",
        *f"-s {most} --runs 2 --warmup 0 -a bitonic -d cpu --export-csv old.csv".split(),
        old={"old.csv": OLD},
        new={"old.csv": is_bench_csv},
        partial=True,
    )
    for path in folder.iterdir():
        path.chmod(0o644)
    return made
