"""Comparisons of the binary with itself: check, sorting again, compressed inputs, merging, and a small memory."""

import gzip
from pathlib import Path

from generate import Case
from oracle import Result


def differences(call, one: Case, want: Result, folder: Path) -> str:
    """Run all comparisons on a case whose sort went well; give the first difference, or nothing.

    `call(words, stdin)` runs the binary. What `--top` and `--argsort` write is not sorted again:
    the kinds of a few records may differ from those of all.
    """
    wrong = small_memory(call, one, want)
    if wrong or has(one.options, ("--argsort", "--top")):
        return wrong
    for compare in (checked, again):
        wrong = wrong or compare(call, one, want)
    wrong = wrong or compressed(call, one, want, folder)
    return wrong or merged(call, one, want, folder)


def has(options: list[str], names: tuple[str, ...]) -> bool:
    """Tell whether one of the options is among the words."""
    return any(word.partition("=")[0] in names for word in options)


def outcome(what: str, got: tuple[bytes, bytes, int], output: bytes) -> str:
    """Say how an outcome differs from exit code 0 and `output`, or nothing."""
    bytes_, messages, code = got
    if code != 0:
        return f"{what} gives exit code {code}: {messages[-200:].decode('utf-8', 'replace').strip()}"
    return "" if bytes_ == output else f"{what} gives other output"


def extension(one: Case) -> str:
    """Give the extension of the case's files."""
    name = next(iter(one.files), "")
    return name.rpartition(".")[2] if "." in name else ""


def form(one: Case) -> list[str]:
    """Give `-f` for standard input where the extension of a file decides the format."""
    return ["-f", extension(one)] if extension(one) in ("csv", "tsv", "jsonl") else []


def small_memory(call, one: Case, want: Result) -> str:
    """`--memory 1` gives the same bytes (section 6)."""
    return outcome("--memory 1", call([*one.words, "--memory", "1"], one.stdin), want.output)


def checked(call, one: Case, want: Result) -> str:
    """`check` of the sorted result says 0 (section 2)."""
    _, messages, code = call(["check", *one.options, *form(one)], want.output)
    return outcome("check of the result", (b"", messages, code), b"")


def again(call, one: Case, want: Result) -> str:
    """Sorting the result again gives the same bytes (section 4: equal keys keep their order)."""
    return outcome("sorting again", call(["sort", *one.options, *form(one)], want.output), want.output)


def compressed(call, one: Case, want: Result, folder: Path) -> str:
    """The inputs compressed by gzip give the same bytes (section 3, Compression)."""
    packed = {}
    for name, data in one.files.items():
        packed[name] = f"{name}.gz"
        (folder / packed[name]).write_bytes(gzip.compress(data, 1))
    words = [packed.get(word, word) for word in one.words]
    stdin = None if one.stdin is None else gzip.compress(one.stdin, 1)
    return outcome("gzip of the inputs", call(words, stdin), want.output)


def merged(call, one: Case, want: Result, folder: Path) -> str:
    """Merging two sorted parts gives the whole (section 2)."""
    names = []
    for number, part in enumerate(want.parts):
        name = f"part{number}" + ("." + extension(one) if extension(one) else "")
        (folder / name).write_bytes(part)
        names.append(name)
    given = [] if extension(one) else form(one)
    return outcome("-m of two sorted parts", call(["sort", "-m", *one.options, *given, *names], None), want.output)
