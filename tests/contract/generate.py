"""A seeded generator of cases: a command line with options that people type, and its inputs."""

import shlex
from dataclasses import dataclass, field
from random import Random

from samples import FAMILIES, Sample


@dataclass
class Case:
    """One command line with its files; `stdin` is None where files are named."""

    family: str
    number: int
    words: list[str]
    files: dict[str, bytes] = field(default_factory=dict)
    stdin: bytes | None = None
    options: list[str] = field(default_factory=list)

    @property
    def command(self) -> str:
        """Give the words as a shell takes them."""
        return "gpusort " + shlex.join(self.words)


MODIFIERS = [":r", ":r", ":a", ":text", ":nocase", ":number", ":time", ":version", ":size", ":duration"]


def random_key(r: Random, sample: Sample) -> str:
    """Take a key of the sample, at times with another modifier, or another field."""
    key = r.choice(sample.keys)
    if r.random() < 0.08 and ":" not in key and not key[-1:].isalpha():
        key += r.choice(MODIFIERS)
    if r.random() < 0.04:
        key = r.choice(["0", "-1", "1", "2", "9", "1,1", "2,2r"])
    return key


def key_words(r: Random, sample: Sample) -> list[str]:
    """Give no key, one key, or two keys; tables and objects need one."""
    if not sample.table and r.random() < 0.35:
        return []
    keys = [random_key(r, sample) for _ in range(r.choice([1, 1, 1, 2]))]
    words = []
    for key in keys:
        words += r.choice([["-k", key], ["-k", key], ["--key", key]]) if key.startswith("-") or r.random() < 0.7 else ["-k" + key]
    return words


OPTIONS = [["-r"], ["-r"], ["-u"], ["-u"], ["--top", "3"], ["--top=1"], ["--top", "100"], ["--argsort"], ["--invalid", "last"], ["--invalid=first"],
           ["--invalid", "skip"], ["--empty", "first"], ["--empty=last"], ["--nan", "first"], ["--nan=last"], ["-n"], ["-s"], ["-b"], ["-f"], ["-V"],
           ["--empty", "error"], ["--na", "n/a,-"], ["--leading"], ["-h"], ["-g"], ["--comments"], ["-ru"]]


def option_words(r: Random, sample: Sample) -> list[str]:
    """Give the options of the sample and at times others."""
    words = list(r.choice(sample.options))
    seen = {word.partition("=")[0] for word in words}
    for _ in range(r.choice([0, 0, 0, 1, 1, 2])):
        extra = r.choice(OPTIONS)
        if extra[0].partition("=")[0] not in seen:
            words += extra
            seen.add(extra[0].partition("=")[0])
    return words


def end_lines(r: Random, lines: list[str], plain: bool) -> bytes:
    """Join lines with LF, at times with CRLF, with a byte order mark, or without the last line end."""
    end = "\r\n" if not plain and r.random() < 0.12 else "\n"
    text = end.join(lines) + (end if lines else "")
    if lines and not plain and r.random() < 0.12:
        text = text[: -len(end)]
    data = text.encode("utf-8", "surrogateescape")
    return b"\xef\xbb\xbf" + data if not plain and r.random() < 0.05 else data


def add_blank_lines(r: Random, sample: Sample) -> None:
    """Put blank lines between the lines."""
    for _ in range(r.randint(1, 3)):
        sample.lines.insert(r.randint(0, len(sample.lines)), r.choice(["", "", " "]) if not sample.table else "")


def several_files(r: Random, sample: Sample) -> list[list[str]]:
    """Cut the lines into two or three files, each with the header."""
    pieces: list[list[str]] = [[] for _ in range(r.choice([2, 3]))]
    for line in sample.lines:
        r.choice(pieces).append(line)
    return [sample.head + piece for piece in pieces]


class Scaled(Random):
    """A random generator whose cases have `scale` times as many records."""

    scale = 1


def case(family: str, number: int, seed: int, scale: int = 1) -> Case:
    """Make the case of a number; the same seed, family, number and scale give the same case."""
    r = Scaled(f"{seed} {family} {number}")
    r.scale = scale
    sample = FAMILIES[family](r)
    if r.random() < 0.08:
        add_blank_lines(r, sample)
    options = key_words(r, sample) + option_words(r, sample)
    if not sample.table and not sample.head and r.random() < 0.04:
        return zero_case(r, family, number, sample, options)
    return place(r, family, number, sample, options)


def place(r: Random, family: str, number: int, sample: Sample, options: list[str]) -> Case:
    """Put the lines into one file, several files, or standard input."""
    start = r.choice([["sort"], ["sort"], []]) if options and "-h" not in options else ["sort"]
    if r.random() < 0.06 and not any(word.partition("=")[0] in ("--top", "--argsort") for word in options):
        start = ["check"]
    whole = sample.head + sample.lines
    if sample.head and not sample.lines and r.random() < 0.5:
        whole = []
    stem, dot, extension = sample.name.rpartition(".")
    if r.random() < 0.1 and "--comments" not in options:
        pieces = several_files(r, sample)
        names = [f"{stem}{i}{dot}{extension}" for i in range(len(pieces))]
        files = {name: end_lines(r, piece, True) for name, piece in zip(names, pieces)}
        return Case(family, number, start + options + names, files, None, options)
    data = end_lines(r, whole, False)
    if r.random() < 0.25:
        form = {"csv": ["-f", "csv"], "tsv": ["-f", "tsv"], "jsonl": ["-f", "jsonl"]}.get(extension, [])
        form = form if form and r.random() < 0.6 else []
        return Case(family, number, start + options + form, {}, data, options + form)
    return Case(family, number, start + options + [sample.name], {sample.name: data}, None, options)


def zero_case(r: Random, family: str, number: int, sample: Sample, options: list[str]) -> Case:
    """Write the records with NUL ends."""
    data = "\0".join(sample.lines).encode("utf-8", "surrogateescape") + (b"\0" if sample.lines and r.random() < 0.8 else b"")
    options = ["-z", *options]
    return Case(family, number, ["sort", *options, sample.name], {sample.name: data}, None, options)
