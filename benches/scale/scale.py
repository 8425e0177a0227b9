#!/usr/bin/env python3
"""Sweeps a gpusort binary over sizes: time per element and bytes per second of whole processes, by surface and device.

    python3 benches/scale/scale.py --binary target/release/gpusort --folder /dev/shm --markdown scale.md --plot scale.svg

Only the standard library of Python 3 is needed. Sizes are powers of two: an element is a number, a line or a row, and
a surface is one use of the program (--list prints all). Inputs are made in a new subfolder of --folder and doubled from
size to size, so that they are in the page cache; outputs are new files beside them. A time is the median of three
processes, or of one that takes over a second; a size that is marked is run twice as often again. At the smallest size
every result is compared with a sort by Python; at every size the length of the output is compared with that of the input.

A size is marked where its time per element is more than 1.3 times that of the size before, by the medians and by the
fastest runs. The fixed cost, which is the
time of the fastest (usually the smallest) size, is subtracted from both, and a cell of less than 50 ms beyond it is not
marked: the start of a process or of a GPU hides no jump and makes none. Marks are `!` in tables and red rings in the plot.
"""

import argparse
import array
import json
import math
import os
import platform
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from html import escape
from pathlib import Path

GROWTH = 1.3
# Seconds beyond the fixed cost from which a cell can be marked.
LEAST = 0.05
# The spread of one series is the time per element of its largest size over that of this one.
MIDDLE = 26
# A cell whose first run takes longer has one run.
SHORT = 1.0
ROWS = 1 << 16

# Each surface: its data, what it does, the options of `gpusort sort`.
SURFACES = {
    "u32": ("u32", "sort", []),
    "argsort": ("u32", "argsort", ["--argsort"]),
    "top": ("u32", "top", ["--top", "100"]),
    "unique": ("u32", "unique", ["-u"]),
    "memory-u32": ("u32", "sort", ["--memory", "1G"]),
    "u64": ("u64", "sort", []),
    "f64": ("f64", "sort", []),
    "numbers": ("numbers", "sort", []),
    "decimals": ("decimals", "sort", []),
    "names": ("names", "sort", []),
    "memory-names": ("names", "sort", ["--memory", "1G"]),
    "csv-number": ("csv", "sort", ["-k", "price"]),
    "csv-text": ("csv", "sort", ["-k", "name"]),
    "csv-both": ("csv", "sort", ["-k", "city", "-k", "price"]),
    "jsonl": ("jsonl", "sort", ["-k", "ms"]),
    "parquet": ("parquet", "sort", ["-k", "price"]),
    "check-u32": ("sorted-u32", "check", []),
    "check-names": ("sorted-names", "check", []),
    "merge-u32": ("parts-u32", "merge", ["-m"]),
    "merge-names": ("parts-names", "merge", ["-m"]),
    "python-sort": ("python", "sort", []),
    "python-argsort": ("python", "argsort", []),
}
# What `gpusort gen` makes: the type, and the extension that selects the format.
GENERATED = {
    "u32": ("u32", ".u32"),
    "u64": ("u64", ".u64"),
    "f64": ("f64", ".f64"),
    "numbers": ("u32", ".txt"),
    "decimals": ("f64", ".txt"),
    "names": ("text", ".txt"),
}
PYTHON = """
import json, sys, time, numpy, gpusort
call, count, device, runs = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
values = numpy.random.default_rng(1).integers(0, 2**32, count, dtype=numpy.uint32)
seconds = []
for _ in range(runs + 1):
    begin = time.perf_counter()
    result = getattr(gpusort, call)(values, device=device)
    seconds.append(time.perf_counter() - begin)
    if seconds[-1] > 1:
        break
if count <= 1 << 20:
    expected = getattr(numpy, call)(values, kind="stable")
    assert (result == expected).all(), "not in order"
print(json.dumps(seconds[1:] or seconds))
"""


class Failed(Exception):
    """Why a cell has no time."""


# Data.


def rows(kind):
    """The first rows of a table: digits and upper-case letters vary, all other bytes stay."""
    rng = random.Random(1)
    cities = [f"town of {rng.choice('bdfgklmnprst')}{vowel}{end}" for vowel in "aeiou" for end in ("ll", "rn", "ssen", "")]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for _ in range(ROWS):
        number, price = rng.randrange(10**8, 10**9), f"{rng.randrange(10**4, 10**5)}.{rng.randrange(10**6):06d}"
        name = "".join(rng.choices(letters, k=rng.randrange(8, 20)))
        if kind == "csv":
            yield f"{number},{name},{price},{rng.choice(cities)}\n"
        else:
            yield f'{{"id":{number},"user":{{"name":"{name}","city":"{rng.choice(cities)}"}},"ms":{price}}}\n'


def permuted(chunk, number):
    """The chunk with digits and upper-case letters exchanged for others, so that every chunk has keys of its own."""
    if number == 0:
        return chunk
    rng = random.Random(number)
    # No number may begin with a zero in JSON.
    digits, letters = b"123456789", bytes(range(65, 91))
    others = bytes(rng.sample(digits, len(digits)) + rng.sample(letters, len(letters)))
    return chunk.translate(bytes.maketrans(digits + letters, others))


class Data:
    """Input files of one kind, which grow."""

    def __init__(self, kind, binary, folder):
        self.kind, self.binary, self.folder, self.count = kind, binary, folder, 0
        self.is_sorted = kind.startswith(("sorted-", "parts-"))
        self.base = kind.split("-")[-1] if self.is_sorted else "csv" if kind == "parquet" else kind
        self.suffix = GENERATED[self.base][1] if self.base in GENERATED else f".{self.base}"
        parts = 4 if kind.startswith("parts-") else 1
        self.made = [folder / f"data-{part}{self.suffix}" for part in range(parts)]
        self.files = [folder / "data.parquet"] if kind == "parquet" else self.made
        self.chunk = None

    def bytes(self):
        return sum(file.stat().st_size for file in self.files if file.exists())

    def held(self):
        return sum(file.stat().st_size for file in {*self.files, *self.made} if file.exists())

    def remove(self):
        for file in {*self.files, *self.made}:
            file.unlink(missing_ok=True)

    def grow(self, count):
        if self.kind == "python":
            self.count = count
            return
        more = (count - self.count) // len(self.made)
        for number, file in enumerate(self.made):
            with open(file, "ab") as out:
                if self.base in GENERATED:
                    self.generate(more, count + number, out)
                else:
                    self.write_rows(self.count, count, out)
            if self.is_sorted:
                self.run(["sort", "-q", file, "-o", file])
        if self.kind == "parquet":
            try:
                self.run(["sort", "-q", "-k", "id", *self.made, "-o", *self.files])
            except Failed as failed:
                raise Failed(f"no Parquet was made ({failed})") from None
        self.count = count

    def generate(self, count, seed, out):
        element, suffix = GENERATED[self.base]
        form = ["--to", "text" if suffix == ".txt" else "bin"] if element != "text" else []
        self.run(["gen", "-q", "--count", count, "--type", element, "--seed", seed, *form], out)

    def write_rows(self, first, last, out):
        if self.chunk is None:
            self.chunk = "".join(rows(self.base)).encode()
        if first == 0 and self.base == "csv":
            out.write(b"id,name,price,city\n")
        for number in range(first // ROWS, -(-last // ROWS)):
            chunk = permuted(self.chunk, number)
            begin, end = max(first - number * ROWS, 0), min(last - number * ROWS, ROWS)
            if (begin, end) != (0, ROWS):
                chunk = b"".join(chunk.splitlines(keepends=True)[begin:end])
            out.write(chunk)

    def run(self, words, out=subprocess.DEVNULL):
        done = subprocess.run([self.binary, *map(str, words)], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
        if done.returncode:
            raise Failed(reason(done.stderr))


def reason(stderr):
    return (stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1][:200]


# What must come out.


def key(data, surface):
    """The key of a record of the input, for Python."""
    if data.base in ("numbers", "decimals"):
        return float if data.base == "decimals" else int
    if data.base == "jsonl":
        return lambda line: json.loads(line)["ms"]
    if data.base == "csv":
        fields = {"csv-number": lambda row: float(row[2]), "csv-text": lambda row: row[1]}
        chosen = fields.get(surface, lambda row: (row[3], float(row[2])))
        return lambda line: chosen(line.rstrip(b"\n").split(b","))
    return lambda record: record


def records(data, content):
    codes = {".u32": "I", ".u64": "Q", ".f64": "d"}
    if data.suffix in codes:
        return array.array(codes[data.suffix], content).tolist()
    return content.splitlines(keepends=True)


def verify(data, surface, mode, output):
    """Compares an output with Python's own stable sort of the input."""
    if data.kind == "parquet":
        data.run(["check", "-q", "-k", "price", output])
        return
    if mode == "check":
        spoiled = data.folder / f"spoiled{data.suffix}"
        spoiled.write_bytes(data.files[0].read_bytes() + (bytes(4) if data.suffix == ".u32" else b"a\n"))
        done = subprocess.run([data.binary, "check", "-q", spoiled], capture_output=True)
        spoiled.unlink()
        if done.returncode != 1:
            raise Failed("a record out of order was not found")
        return
    given = [record for file in data.files for record in records(data, file.read_bytes())]
    header = [given.pop(0)] if data.base == "csv" else []
    by = key(data, surface)
    if mode == "argsort":
        expected = sorted(range(len(given)), key=lambda place: by(given[place]))
    else:
        expected = sorted(given, key=by)
    if mode == "unique":
        expected = [record for place, record in enumerate(expected) if place == 0 or record != expected[place - 1]]
    if header + (expected[:100] if mode == "top" else expected) != records(data, output.read_bytes()):
        raise Failed("WRONG: not the input in order")


# Runs.


def timed(command, limit, cores):
    """Seconds of one process, and what it wrote on standard output."""
    pin = (lambda: os.sched_setaffinity(0, cores)) if cores else None
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True, preexec_fn=pin)
    try:
        out, error = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failed(f"over {limit:g} s") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    took = time.perf_counter() - begin
    if process.returncode:
        raise Failed(reason(error))
    return took, out


def cell(options, data, surface, device, is_first):
    """All times of one surface at one size, after one more run at the first size."""
    _, mode, words = SURFACES[surface]
    if data.kind == "python":
        command = [sys.executable, "-c", PYTHON, mode, str(data.count), device, str(options.runs)]
        return json.loads(timed(command, 3 * options.limit, options.cores)[1])
    output = data.folder / f"out{'.u32' if mode == 'argsort' else data.files[0].suffix}"
    if mode == "check":
        command = [options.binary, "check", "-q", *words, *data.files]
    else:
        temp = ["--temp-dir", options.temp] if options.temp else []
        on = [] if mode == "merge" else ["-d", device]
        command = [options.binary, "sort", "-q", *on, *words, *temp, *data.files, "-o", output]
    seconds = []
    try:
        while len(seconds) < options.runs + is_first and (not seconds or seconds[-1] < SHORT):
            output.unlink(missing_ok=True)
            seconds.append(timed([str(word) for word in command], options.limit, options.cores)[0])
        if is_first:
            verify(data, surface, mode, output)
            seconds = seconds[1:] or seconds
        # Row groups of Parquet are encoded anew.
        if mode in ("sort", "merge") and data.kind != "parquet" and output.stat().st_size != data.bytes():
            raise Failed("WRONG: the output is not as long as the input")
    finally:
        output.unlink(missing_ok=True)
    return seconds


# The machine.


def is_in_memory(folder):
    folder, found = str(folder.resolve()), ("", "")
    for line in Path("/proc/mounts").read_text().splitlines():
        _, at, kind = line.split()[:3]
        if (folder + "/").startswith(at.rstrip("/") + "/") and len(at) >= len(found[0]):
            found = at, kind
    return found[1] in ("tmpfs", "ramfs")


def available():
    """Bytes that a process can still take, in this control group too."""
    free = int(re.search(r"MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) * 1024
    group = Path("/sys/fs/cgroup")
    try:
        most, now = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
        cached = int(re.search(r"inactive_file (\d+)", (group / "memory.stat").read_text())[1])
        return min(free, most - now + cached)
    except (OSError, ValueError):
        return free


def misfit(data, folder, in_memory):
    """Why the next size has no room, if it has none: two copies in the process, the input, and in memory the output."""
    size, held = 2 * data.bytes(), data.held()
    if data.kind == "python":
        size = 8 * data.count
    if size * (4 if in_memory else 3) > available() + held * in_memory:
        return "does not fit memory"
    if 2 * size + held > shutil.disk_usage(folder).free + held:
        return "does not fit the folder"
    return None


def machine(binary, cores):
    info = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.*)", info)
    version = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.strip()
    listed = subprocess.run([binary, "devices", "--json"], capture_output=True, text=True).stdout
    devices = json.loads(listed) if listed.strip() else []
    return {
        "cpu": model[1] if model else platform.machine(),
        "cores": len(cores) if cores else len(os.sched_getaffinity(0)),
        "available_bytes": available(),
        "version": version,
        "gpus": [device["name"] for device in devices if device["kind"] in ("discrete", "integrated", "virtual")],
        "date": time.strftime("%Y-%m-%d"),
    }


# Results.


def beyond_fixed(seconds):
    """Of every size but the fastest one and those below it: time and time per element beyond the fixed cost."""
    if not seconds:
        return {}
    base = min(seconds, key=lambda at: (seconds[at], at))
    return {at: (seconds[at] - seconds[base], (seconds[at] - seconds[base]) / (2**at - 2**base)) for at in seconds if at > base}


def marked(seconds):
    """The sizes whose time per element is more than GROWTH times that of the size before."""
    found = beyond_fixed(seconds)
    return {at for at, (took, each) in found.items() if at - 1 in found and took > LEAST and each > GROWTH * found[at - 1][1]}


def spread(seconds):
    found = beyond_fixed(seconds)
    largest = max(found, default=0)
    if largest > MIDDLE and found.get(MIDDLE, (0,))[0] > LEAST:
        return f"{found[largest][1] / found[MIDDLE][1]:.2f}"
    return ""


class Series:
    def __init__(self, surface, device):
        self.surface, self.device = surface, device
        self.runs, self.bytes, self.end = {}, {}, None

    def seconds(self):
        return {at: statistics.median(runs) for at, runs in self.runs.items()}

    def marks(self):
        # Other work on the machine only adds time: a jump is in the fastest runs, too.
        return marked(self.seconds()) & marked({at: min(runs) for at, runs in self.runs.items()})

    def record(self):
        marks = self.marks()
        return {
            "surface": self.surface, "device": self.device, "end": self.end,
            "cells": [
                {"exponent": at, "n": 2**at, "bytes": self.bytes[at], "seconds": self.runs[at], "median": median,
                 "ns_per_element": median * 1e9 / 2**at, "bytes_per_s": self.bytes[at] / median, "grows": at in marks}
                for at, median in self.seconds().items()
            ],
        }


def short(value):
    """Three digits."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.{2 - math.floor(math.log10(value)) if value < 10 else 1}f}" if value > 0 else "0"


def markdown(machine, series):
    sizes = sorted({at for one in series for at in one.runs})
    gpus = ", ".join(machine["gpus"]) or "no GPU"
    lines = [f"{machine['date']}: {machine['cpu']}, {machine['cores']} cores; {gpus}. Files in {machine['folder']}.", "",
             "```", machine["version"], "```", ""]
    tables = [
        (f"Nanoseconds per element; `!`: more than {GROWTH} times the size before, beyond the fixed cost. "
         f"Last column: time per element of the largest size over that of 2^{MIDDLE}.",
         lambda one, at, median: short(median * 1e9 / 2**at) + "!" * (at in one.marks())),
        ("Megabytes of input per second.", lambda one, at, median: short(one.bytes[at] / median / 1e6)),
    ]
    for title, show in tables:
        lines += [title, "", "| surface | device | " + " | ".join(f"2^{at}" for at in sizes) + f" | over 2^{MIDDLE} |",
                  "|---|---|" + "---:|" * (len(sizes) + 1)]
        for one in series:
            seconds = one.seconds()
            shown = [show(one, at, seconds[at]) if at in seconds else "" for at in sizes]
            lines.append(f"| {one.surface} | {one.device} | " + " | ".join(shown) + f" | {spread(seconds)} |")
        lines.append("")
    ends = [f"- {one.surface}, {one.device}: {one.end}" for one in series if one.end]
    return "\n".join(lines + (["Where a series ends:", "", *ends, ""] if ends else []))


def plot(series):
    """One panel for each surface: time per element over size, a line for each device, a red ring for each mark."""
    surfaces = list(dict.fromkeys(one.surface for one in series if one.runs))
    sizes = sorted({at for one in series for at in one.runs}) or [0]
    width, height, across = 330, 220, 3
    colours = {"cpu": "#1f77b4", "gpu": "#e08214", "auto": "#4d9221"}
    total = across * width, -(-max(len(surfaces), 1) // across) * height + 24
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total[0]} {total[1]}" font-family="sans-serif" font-size="11">',
           f'<rect width="{total[0]}" height="{total[1]}" fill="white"/>',
           '<text x="10" y="16">ns per element over the number of elements</text>']
    for at, (device, colour) in enumerate(colours.items()):
        if any(one.device == device for one in series):
            out.append(f'<text x="{330 + 60 * at}" y="16" fill="{colour}">{device}</text>')
    out.append(f'<text x="520" y="16" fill="red">red ring: more than {GROWTH} times the size before</text>')
    for number, surface in enumerate(surfaces):
        left, top = number % across * width + 44, number // across * height + 44
        wide, high = width - 64, height - 64
        shown = [one for one in series if one.surface == surface and one.runs]
        each = {id(one): {at: median * 1e9 / 2**at for at, median in one.seconds().items()} for one in shown}
        values = [value for points in each.values() for value in points.values()]
        low = math.log10(min(values)) - 0.1
        # At least a decade, so that small differences look small.
        most = max(math.log10(max(values)) + 0.1, low + 1)
        x = lambda at: left + wide * (at - sizes[0]) / max(sizes[-1] - sizes[0], 1)
        y = lambda value: top + high * (most - math.log10(value)) / (most - low)
        out.append(f'<text x="{left}" y="{top - 6}" font-weight="bold">{escape(surface)}</text>'
                   f'<rect x="{left}" y="{top}" width="{wide}" height="{high}" fill="none" stroke="#bbb"/>')
        ticks = [tick * 10**power for power in range(-3, 7) for tick in (1, 2, 5) if low <= math.log10(tick * 10**power) <= most]
        for tick in ticks if len(ticks) < 9 else ticks[::3]:
            out.append(f'<line x1="{left}" x2="{left + wide}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#eee"/>'
                       f'<text x="{left - 4}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
        for at in sizes[:: max(len(sizes) // 5, 1)]:
            out.append(f'<text x="{x(at):.1f}" y="{top + high + 13}" text-anchor="middle">2^{at}</text>')
        for one in shown:
            points = each[id(one)]
            colour = colours.get(one.device, "#333")
            path = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in points.items())
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
            for at, value in points.items():
                place = f'cx="{x(at):.1f}" cy="{y(value):.1f}"'
                out.append(f'<circle {place} r="2" fill="{colour}"/>')
                if at in one.marks():
                    out.append(f'<circle {place} r="6" fill="none" stroke="red" stroke-width="1.5"/>')
    return "\n".join(out + ["</svg>", ""])


# The sweep.


def sweep(options, about, series):
    """Measures all series, data by data; those of one data share it at each size, and a part of the time that is left."""
    groups = {}
    for one in series:
        groups.setdefault(SURFACES[one.surface][0], []).append(one)
    over = time.monotonic() + options.budget
    left = len(series)
    folder = Path(tempfile.mkdtemp(prefix="gpusort-scale-", dir=options.folder))
    in_memory = is_in_memory(folder)
    try:
        for kind, group in groups.items():
            now = time.monotonic()
            until = now + (over - now) * len(group) / left
            left -= len(group)
            data = Data(kind, options.binary, folder)
            try:
                measure(options, data, group, until, in_memory)
            finally:
                data.remove()
            write(options, about, series)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(options, data, group, until, in_memory):
    for at in range(options.from_, options.to + 1):
        going = [one for one in group if one.end is None]
        why = misfit(data, options.folder, in_memory) if data.count else None
        if going and why is None and time.monotonic() < until:
            try:
                data.grow(2**at)
            except Failed as failed:
                why = str(failed)
        for one in going:
            before = statistics.median(one.runs[at - 1]) if at - 1 in one.runs else 0
            if why is None and time.monotonic() + before > until:
                one.end = f"2^{at}: the budget is spent"
            elif why is None and 2 * before > options.limit:
                one.end = f"2^{at}: would take over {options.limit:g} s"
            elif why is None:
                try:
                    one.runs[at] = cell(options, data, one.surface, one.device, is_first=at == options.from_)
                    if at in one.marks():
                        # Other work on the machine looks alike, but does not last.
                        for _ in range(2):
                            one.runs[at] += cell(options, data, one.surface, one.device, is_first=False)
                    one.bytes[at] = 4 * data.count if data.kind == "python" else data.bytes()
                except Failed as failed:
                    one.runs.pop(at, None)
                    one.end = f"2^{at}: {failed}"
            else:
                one.end = f"2^{at}: {why}"
            tell(one, at)


def tell(one, at):
    if at in one.runs:
        median = one.seconds()[at]
        mark = "!" if at in one.marks() else ""
        result = f"{median * 1e3:10.1f} ms {short(median * 1e9 / 2**at) + mark:>8} ns {one.bytes[at] / median / 1e6:8.0f} MB/s"
    else:
        result = one.end
    print(f"{one.surface:16} {one.device:5} 2^{at:<3} {result}", flush=True)


def write(options, about, series):
    if options.json:
        record = {"machine": about, "series": [one.record() for one in series]}
        Path(options.json).write_text(json.dumps(record, indent=1) + "\n")
    if options.markdown:
        Path(options.markdown).write_text(markdown(about, series))
    if options.plot:
        Path(options.plot).write_text(plot(series))


# Checks of this program.


def self_test():
    steady = {at: 0.2 + 2e-9 * 2**at * (1 + 0.1 * (at % 3)) for at in range(16, 31)}
    assert marked(steady) == set(), marked(steady)
    jump = {at: took + (3e-9 * 2**at if at >= 27 else 0) for at, took in steady.items()}
    assert marked(jump) == {27}, marked(jump)
    below = {at: took / 1000 for at, took in jump.items() if at < 29}
    assert marked(below) == set(), "cells of less than 50 ms are not marked"
    drop = {at: 0.2 + (1e-9 if at >= 27 else 2e-9) * 2**at for at in steady}
    assert marked(drop) == set(), marked(drop)
    one, other = Series("u32", "cpu"), Series("u32", "gpu")
    about = {"date": "", "cpu": "", "cores": 1, "gpus": [], "folder": "", "version": ""}
    for series, seconds in [(one, jump), (other, steady)]:
        series.runs = {at: [took, 1.01 * took, 9 * took] for at, took in seconds.items()}
        series.bytes = {at: 4 * 2**at for at in seconds}
    assert markdown(about, [one, other]).count("!") == 2, "the legend and the jump"
    assert plot([one, other]).count('stroke="red"') == 1
    assert [at["n"] for at in one.record()["cells"] if at["grows"]] == [2**27]
    other.runs[27] = [steady[27], 9 * steady[27], 9 * steady[27]]
    assert markdown(about, [other]).count("!") == 1, "other work on the machine is no jump"
    assert plot([other]).count('stroke="red"') == 0
    chunk = b"AZ,190\n"
    assert permuted(chunk, 1) != chunk and len(permuted(chunk, 1)) == len(chunk) and b"0\n" in permuted(chunk, 1)
    print("self-test: a planted jump is marked, a steady series is not")


def cores(text):
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/gpusort", help="the gpusort that is measured")
    parser.add_argument("--surfaces", default="", help="these, separated by commas, instead of all")
    parser.add_argument("--devices", default="", help="cpu, gpu, auto [default: cpu, and gpu if there is a hardware one]")
    parser.add_argument("--from", type=int, default=16, dest="from_", metavar="EXPONENT", help="[default: 16]")
    parser.add_argument("--to", type=int, default=33, metavar="EXPONENT", help="[default: 33, or what memory holds]")
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"), help="for inputs and outputs [default: /dev/shm]")
    parser.add_argument("--temp", help="--temp-dir of gpusort; no folder in memory will do for within 1G")
    parser.add_argument("--taskset", type=cores, dest="cores", metavar="CORES", help="runs only on these, such as 0-3,6")
    parser.add_argument("--budget", type=float, default=1800, help="seconds for the whole [default: 1800]")
    parser.add_argument("--limit", type=float, default=20, help="seconds for one run [default: 20]")
    parser.add_argument("--runs", type=int, default=3, help="of cells under a second [default: 3]")
    parser.add_argument("--python", action="store_true", help="also gpusort.sort and argsort of NumPy arrays of u32, by this Python")
    parser.add_argument("--json", help="write all times to this file")
    parser.add_argument("--markdown", help="write the tables to this file")
    parser.add_argument("--plot", help="write a picture to this file (SVG)")
    parser.add_argument("--list", action="store_true", help="print the surfaces")
    parser.add_argument("--self-test", action="store_true", help="check how sizes are marked")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.list:
        return print("\n".join(f"{name:15} {data:13} {mode:8} {' '.join(words)}" for name, (data, mode, words) in SURFACES.items()))
    chosen = options.surfaces.split(",") if options.surfaces else [name for name in SURFACES if options.python or not name.startswith("python")]
    unknown = [name for name in chosen if name not in SURFACES]
    if unknown:
        parser.error(f"no surface is called {unknown[0]}; --list prints all")
    options.binary = str(Path(options.binary).resolve())
    if not os.access(options.binary, os.X_OK):
        parser.error(f"{options.binary} is no program; name one by --binary")
    about = machine(options.binary, options.cores)
    about["folder"] = str(options.folder)
    devices = options.devices.split(",") if options.devices else ["cpu"] + ["gpu"] * bool(about["gpus"])
    # Checks and merges compare on the CPU alone.
    series = [Series(name, device) for name in chosen for device in devices
              if device == devices[0] or SURFACES[name][1] not in ("check", "merge")]
    # So that inputs and running processes go.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sweep(options, about, series)
    write(options, about, series)
    print(markdown(about, series))
    wrong = [one for one in series if one.end and ("WRONG" in one.end or "not found" in one.end)]
    sys.exit(f"{wrong[0].surface}, {wrong[0].device}: {wrong[0].end}" if wrong else 0)


main()
