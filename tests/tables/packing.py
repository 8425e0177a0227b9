"""Puts the files of a case into gzip and zstd, as such files come: in one member or several, with what may follow them."""

import gzip
import random
import re
from dataclasses import replace

import zstandard

from oracle import Case, Expected


def pack(rng: random.Random, data: bytes, kind: str) -> bytes:
    """The data in members."""
    cuts = sorted(rng.randint(0, len(data)) for _ in range(rng.choice([0, 0, 1, 3])))
    parts = [data[begin:end] for begin, end in zip([0] + cuts, cuts + [len(data)])]
    if kind == "zst":
        frame = zstandard.ZstdCompressor(
            level=rng.choice([-1, 1, 3, 12]), write_checksum=True, write_content_size=rng.random() < 0.5
        )
        skippable = b"\x51\x2a\x4d\x18\x03\0\0\0abc"
        return skippable * (rng.random() < 0.1) + b"".join(map(frame.compress, parts))
    members = [gzip.compress(part, rng.choice([0, 1, 6, 9]), mtime=rng.choice([0, 10**9])) for part in parts]
    return b"".join(members) + bytes(rng.choice([0, 0, 0, 1, 512]))


def spoil(rng: random.Random, data: bytes) -> bytes:
    """Damage that a checksum tells, or an end that is missing, or other bytes after it."""
    way = rng.randrange(3)
    if way == 0:
        return data.rstrip(b"\0")[: -rng.randint(1, 4)] if data[-1:] == b"\0" else data[: -rng.randint(1, 4)]
    if way == 1:
        return data + b"1\n"
    # In the checksum, or in what stands beside it.
    end = len(data.rstrip(b"\0"))
    return data[: end - 1] + bytes([data[end - 1] ^ 0x40]) + data[end:]


def packed(rng: random.Random, case: Case, expected: Expected) -> tuple[Case, Expected]:
    """The case with compressed files, under names that say so where they have to, and what comes of it."""
    if case.stdin and not case.is_table:
        return case, expected  # any first bytes are data
    files, bytes_of, names = [], {}, {}
    for name, data in case.files:
        kind = rng.choice(["gz", "zst", ""])
        new = name
        if kind and (not case.is_table or rng.random() < 0.7) and not case.stdin:
            new = f"{name}.{kind if case.is_table or rng.random() < 0.8 else kind.upper()}"
        files.append((new, data))
        names[name] = new
        if kind:
            bytes_of[new] = pack(rng, data, kind)
    args = [names.get(arg, arg) for arg in case.args]
    stderr = expected.stderr
    for name, new in names.items():
        stderr = [pattern.replace(re.escape(name), re.escape(new)) for pattern in stderr]
    expected = replace(expected, stderr=stderr)
    if bytes_of and expected.code == 0 and rng.random() < 0.1:
        name = rng.choice(list(bytes_of))
        bytes_of[name] = spoil(rng, bytes_of[name])
        shown = "standard input" if case.stdin else re.escape(name)
        expected = Expected(2, b"", [shown], why="damaged data")
    return replace(case, files=files, args=args, packed=bytes_of), expected
