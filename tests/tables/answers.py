"""Compares counts, first records and shuffles of the command with Python's, over generated cases."""

import csv
import io
import json
import os
import random
import subprocess
from collections import Counter
from decimal import Decimal
from functools import cmp_to_key

from generated import arguments, noticed, run_all

TEXTS = ["a", "b", "Rome", "Oslo", "", "é", "a,b", 'a "b"', "x y"]
NUMBERS = ["1", "1.0", "01", "2", "-3", "10", "1e1", "", "9007199254740993"]
WORDS = ["n/a", "none"]


class Case:
    """Records of two columns, t of texts and n of numbers, and beside them the position p."""

    def __init__(self, rng, folder, may_be_invalid):
        self.format = rng.choice(["lines", "split", "csv", "json"])
        texts = [text for text in TEXTS if self.format != "split" or not set(text) & {",", '"'}]
        texts = rng.sample(texts, rng.randint(1, len(texts))) + [f"t{rng.random()}" for _ in range(rng.choice([0, 0, 300]))]
        self.invalid = rng.choice(["skip", "last", "first"]) if may_be_invalid else None
        numbers = rng.sample(NUMBERS, rng.randint(1, len(NUMBERS))) + (WORDS if self.invalid else [])
        count = rng.choice([0, 1, 5, 40, 40, 1000])
        self.rows = [(rng.choice(texts), rng.choice(numbers), str(number)) for number in range(count)]
        self.keys = {"lines": []}.get(self.format) or rng.choice([["t"], ["n"], ["t", "n"], ["n", "t"]])
        if self.format == "lines":
            self.keys = []
        self.end = rng.choice(["\n", "\n", "\r\n"]) if self.format != "json" else "\n"
        self.reverse = rng.random() < 0.3
        self.top = rng.choice([None, None, 0, 1, 3, 10**6])
        self.records = [self.record(row) for row in self.rows]
        cut = rng.randint(0, count)
        parts = [self.records[:cut], self.records[cut:]] if rng.random() < 0.3 else [self.records]
        self.files = []
        for number, part in enumerate(parts):
            name = os.path.join(folder, f"{number}.{ {'csv': 'csv', 'json': 'jsonl'}.get(self.format, 'txt') }")
            head = ["t,n,p"] if self.format == "csv" else []
            text = "".join(record + self.end for record in head + part)
            if rng.random() < 0.3 and part and not (self.format == "lines" and part[-1] == ""):
                text = text.removesuffix(self.end)
            with open(name, "w", newline="", encoding="utf-8") as file:
                file.write(text)
            self.files.append(name)
        self.options = ["-f", "lines"] if self.format in ("lines", "split") else []
        self.options += ["-k", "0"] if self.format == "lines" else []
        self.options += ["--delimiter", ","] if self.format == "split" else []
        for key in self.keys:
            name = key if self.format in ("csv", "json") else {"t": "1", "n": "2"}[key]
            self.options += ["-k", name + (":text" if key == "t" else ":number")]
        self.options += ["--invalid", self.invalid] if self.invalid and "n" in self.keys else []
        self.options += ["-r"] if self.reverse else []
        self.options += rng.choice([[], ["--memory", "1"], ["--parallel", "1"]])
        if not (self.invalid and "n" in self.keys):
            self.invalid = None

    def record(self, row):
        if self.format == "lines":
            return row[0]
        if self.format == "json":
            values = [json.dumps(row[0], ensure_ascii=False), row[1] if row[1] not in ["", "01", *WORDS] else json.dumps(row[1])]
            return '{"t":%s,"n":%s,"p":%s}' % (*values, row[2])
        if self.format == "split":
            return ",".join(row)
        out = io.StringIO()
        csv.writer(out, lineterminator="").writerow(row)
        return out.getvalue()

    def fields(self, row):
        """The fields of the keys as they are written."""
        if self.format == "json":
            value = json.loads(self.record(row), parse_float=str, parse_int=str)
            raw = {"t": json.dumps(row[0], ensure_ascii=False), "n": row[1] if row[1] not in ["", "01", *WORDS] else json.dumps(row[1])}
            assert value["t"] == row[0]
            return [raw[key] for key in self.keys]
        if self.format == "csv":
            quoted = next(csv.reader([self.record(row)], quoting=csv.QUOTE_NONE, quotechar=None)) if '"' not in self.record(row) else None
            fields = dict(zip("tn", quoted or [self.record((row[0],) + ("", ""))[:-2], row[1]]))
            return [fields[key] for key in self.keys]
        return [row[0] if key == "t" else row[1] for key in self.keys] or [row[0]]

    def key(self, row):
        """The keys of a row as (place of a null, value)."""
        keys = []
        for column in self.keys:
            value = row[0] if column == "t" else row[1]
            if column == "t":
                # An empty string of JSON is a text.
                keys.append((1, "") if value == "" and self.format != "json" else (0, value.encode()))
            elif value == "":
                keys.append((1, 0))
            elif value in WORDS:
                keys.append((2 if self.invalid == "last" else -1, 0))
            else:
                keys.append((0, Decimal(value)))
        return tuple(keys) or ((0, row[0].encode()),)

    def compare(self, one, other):
        for (place, value), (other_place, other_value) in zip(one, other):
            if place != other_place:
                return -1 if place < other_place else 1
            if value != other_value:
                return (-1 if value < other_value else 1) * (-1 if self.reverse else 1)
        return 0

    def compare_spelled(self, one, other):
        """Compare keys that may have a spelling behind them."""
        return self.compare(one[: len(self.keys) or 1], other) or (one > other) - (one < other)

    def kept(self):
        return [row for row in self.rows if self.invalid != "skip" or row[1] not in WORDS]

    def run(self, binary, *args):
        done = subprocess.run([binary, *args, *self.options, *self.files], stdin=subprocess.DEVNULL, capture_output=True)
        assert done.returncode == 0, (args, self.options, done.stderr)
        return done.stdout.decode().replace("\r\n", "\n").split("\n")[:-1]

    def cut(self, lines):
        return lines if self.top is None else lines[: self.top]

    def options_of_top(self):
        return [] if self.top is None else ["--top", str(self.top)]


def counts(rng, binary, folder):
    case = Case(rng, folder, rng.random() < 0.3)
    groups = {}
    for row in case.kept():
        key = case.key(row)
        # A column that may hold invalid fields is counted as it is spelled.
        if case.invalid in ("first", "last"):
            key += ((0, row[1].encode()),)
        groups.setdefault(key, []).append(row)
    order = sorted(groups, key=cmp_to_key(case.compare_spelled))
    order.sort(key=lambda key: -len(groups[key]))
    expected = []
    for key in case.cut(order):
        count, fields = len(groups[key]), case.fields(groups[key][0])
        if case.format == "json":
            names = "".join(f',"{name}":{field}' for name, field in zip(case.keys, fields))
            expected.append('{"count":%d%s}' % (count, names))
        elif case.format == "csv":
            expected.append(",".join([str(count), *fields]))
        else:
            expected.append(f"{count:>7} " + ",".join(fields))
    if case.format == "csv":
        expected.insert(0, ",".join(["count", *case.keys]))
    assert case.run(binary, "count", *case.options_of_top()) == expected, (case.options, expected)
    report = json.loads("".join(case.run(binary, "count", "--json", "-o", os.path.join(folder, "counts"))))
    classes = Counter(place for row in case.kept() for place, _ in case.key(row))
    expected = {"empty": classes[1], "invalid": classes[2] + classes[-1], "skipped": len(case.rows) - len(case.kept())}
    assert {name: report.get(name, 0) for name in expected} == expected, (case.options, expected, report)


def firsts(case):
    """The first row of each key, and the number of its rows; invalid rows are all kept."""
    groups = {}
    for number, row in enumerate(case.kept()):
        key = (case.key(row), number if case.invalid and row[1] in WORDS else None)
        groups.setdefault(key, []).append(row)
    return [(key, rows) for (key, _), rows in groups.items()]


def unique_counts(rng, binary, folder):
    case = Case(rng, folder, rng.random() < 0.3)
    groups = sorted(firsts(case), key=cmp_to_key(lambda one, other: case.compare(one[0], other[0])))
    expected = ["count,t,n,p"] if case.format == "csv" else []
    for _, rows in case.cut(groups):
        count, record = len(rows), case.record(rows[0])
        form = {"json": '{"count":%d,"record":%s}', "csv": "%d,%s"}.get(case.format, "%7d %s")
        expected.append(form % (count, record))
    assert case.run(binary, "sort", "-u", "--count", *case.options_of_top()) == expected, (case.options, expected)


def kept_order(rng, binary, folder):
    case = Case(rng, folder, rng.random() < 0.3)
    expected = ["t,n,p"] if case.format == "csv" else []
    expected += case.cut([case.record(rows[0]) for _, rows in firsts(case)])
    assert case.run(binary, "sort", "-u", "--keep-order", *case.options_of_top()) == expected, (case.options, expected)


def per(rng, binary, folder):
    case = Case(rng, folder, rng.random() < 0.3)
    column = rng.choice("tn") if case.format != "lines" else "t"
    most = rng.choice([0, 1, 2, 50])
    found, expected = Counter(), ["t,n,p"] if case.format == "csv" else []
    for row in sorted(case.kept(), key=cmp_to_key(lambda one, other: case.compare(case.key(one), case.key(other)))):
        value = row["tn".index(column)]
        if case.format == "lines":
            value = (value.split() or [""])[0]
        found[value] += 1
        if found[value] <= most:
            expected.append(case.record(row))
    name = column if case.format in ("csv", "json") else {"t": "1", "n": "2"}[column]
    assert case.run(binary, "sort", "--top", str(most), "--per", name) == expected, (case.options, name, expected)


def chi_squared(observed, cells, total):
    """Chi-squared of these counts against cells that are equally likely."""
    mean = total / cells
    return sum((count - mean) ** 2 / mean for count in observed.values()) + (cells - len(observed)) * mean


def seems_uniform(order):
    """True if a permutation passes two tests that a uniform one fails less than once in 100,000 times."""
    count = len(order)
    moves = Counter((place * 16 // count, record * 16 // count) for place, record in enumerate(order))
    places = sorted(range(count), key=order.__getitem__)
    triples = Counter(
        tuple(sorted(range(3), key=lambda at: places[first + at])) for first in range(0, count - 2, 3)
    )
    # 225 and 5 degrees of freedom.
    return chi_squared(moves, 256, count) < 325 and chi_squared(triples, 6, sum(triples.values())) < 30


def shuffles(rng, binary, folder):
    count, seed = rng.choice([0, 2, 50_000, 50_000]), str(rng.randrange(2**64))
    name = os.path.join(folder, "lines.csv" if rng.random() < 0.5 else "lines")
    head = ["n"] if name.endswith(".csv") else []
    with open(name, "w") as file:
        file.writelines(f"{line}\n" for line in head + list(range(count)))

    def run(*args):
        done = subprocess.run([binary, "shuffle", "--seed", seed, *args, name], capture_output=True, check=True)
        lines = done.stdout.decode().split("\n")[:-1]
        assert lines[: len(head)] == head
        return [int(line) for line in lines[len(head) :]]

    order = run()
    assert sorted(order) == list(range(count))
    for args in (["--memory", "200K"], ["--parallel", "1"]):
        assert run(*args) == order, args
    assert run("--top", "7", "--memory", "200K") == order[:7]
    if count > 1000:
        assert seems_uniform(order)
        other = subprocess.run([binary, "shuffle", name], capture_output=True, check=True).stdout.decode().split()
        assert other[len(head) :] != [str(number) for number in order]


def biased_orders_are_noticed():
    rng, count = random.Random(2), 50_000
    uniform = list(range(count))
    rng.shuffle(uniform)
    assert seems_uniform(uniform)
    # Keys of four bits keep the order of the input where they are equal.
    keys = [rng.getrandbits(4) for _ in range(count)]
    assert not seems_uniform(sorted(range(count), key=keys.__getitem__))
    # Each place is exchanged with any other.
    naive = list(range(count))
    for place in range(count):
        other = rng.randrange(count)
        naive[place], naive[other] = naive[other], naive[place]
    assert not seems_uniform(naive)


ALL = [counts, unique_counts, kept_order, per, shuffles]


def main():
    args = arguments()

    def one(rng, folder, number):
        # Shuffles are few and large.
        case = shuffles if number % 50 == 49 else ALL[number % 4]
        case(rng, os.path.abspath(args.binary), folder)

    biased_orders_are_noticed()
    for case in ALL:
        # A program that writes its input unchanged.
        found = noticed(random.Random(1), 'for file; do :; done; cat "$file"\n', case)
        assert found > (4 if case is shuffles else 12), (case, found)
    run_all(args.cases, args.seed, one)


if __name__ == "__main__":
    main()
