"""Files: every option that the command has, file objects, progress, errors, and Ctrl-C."""

import collections
import gzip
import io
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import gpusort


@pytest.fixture
def sales(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text("id,item,price\n1,lamp,20\n2,desk,249\n3,book,9\n4,pen,\n5,book,9\n")
    return path


def ids(path, **options):
    out = path.with_name("out.csv")
    report = gpusort.sort_file(path, out, **options)
    lines = out.read_text().splitlines()
    assert lines[0] == "id,item,price"
    return [int(line.split(",")[0]) for line in lines[1:]], report


def test_keys_of_every_form(sales):
    for key, right in [
        ("price", [3, 5, 1, 2, 4]),
        ("price:r", [2, 1, 3, 5, 4]),
        (("price", "desc"), [2, 1, 3, 5, 4]),
        (3, [3, 5, 1, 2, 4]),
        (["item", ("id", "desc")], [5, 3, 2, 1, 4]),
        ([("item", "desc"), "price"], [4, 1, 2, 3, 5]),
    ]:
        found, report = ids(sales, key=key)
        assert found == right, key
        assert report.records == 5 and report.format == "csv"
    assert ids(sales, key="price")[1].empty == 1


def test_options_of_the_command(sales, tmp_path):
    assert ids(sales, key="price", empty="first")[0] == [4, 3, 5, 1, 2]
    assert ids(sales, key="price", reverse=True)[0] == [2, 1, 3, 5, 4]
    found, report = ids(sales, key="price", unique=True)
    assert found == [3, 1, 2, 4] and report.repeated == 1
    found, report = ids(sales, key="price", top=2)
    assert found == [3, 5] and report.cut == 3
    gpusort.sort_file(sales, tmp_path / "at.txt", key="price", argsort=True, to="text")
    assert (tmp_path / "at.txt").read_text().split() == ["2", "4", "0", "1", "3"]
    gpusort.sort_file(sales, tmp_path / "out.csv.gz", key="price", bgzf=True)
    assert gzip.open(tmp_path / "out.csv.gz", "rt").read().startswith("id,item,price\n3,")
    lines = tmp_path / "lines"
    lines.write_text("v1.10 b\nv1.9 a\n")
    out = io.BytesIO()
    gpusort.sort_file(lines, out, key=1, type="version", from_="lines")
    assert out.getvalue() == b"v1.9 a\nv1.10 b\n"
    lines.write_text("# a comment\n#n,t\n10%,x\n9%,y\n")
    out = io.BytesIO()
    gpusort.sort_file(lines, out, key=1, leading=True, comments=True, delimiter=",", from_="lines")
    assert out.getvalue() == b"# a comment\n#n,t\n9%,y\n10%,x\n"
    lines.write_text("1.234,5;a\nk.A.;b\n999,0;c\n")
    out = io.BytesIO()
    options = {"decimal": ",", "thousands": ".", "na": "k.A.", "delimiter": ";", "header": False}
    gpusort.sort_file(lines, out, key=1, from_="csv", **options)
    assert out.getvalue() == b"999,0;c\n1.234,5;a\nk.A.;b\n"
    lines.write_text("31/12/2023\n01/02/2024\n")
    out = io.BytesIO()
    gpusort.sort_file(lines, out, key=1, time_format="%d/%m/%Y", from_="lines", reverse=True)
    assert out.getvalue() == b"01/02/2024\n31/12/2023\n"
    out = io.BytesIO()
    gpusort.sort_file(io.BytesIO(b"b\0a\0"), out, zero_terminated=True)
    assert out.getvalue() == b"a\0b\0"
    out = io.BytesIO()
    gpusort.sort_file(io.BytesIO(b"b\nA\n"), out, key=1, ignore_case=True, type="text", from_="lines")
    assert out.getvalue() == b"A\nb\n"
    out = io.BytesIO()
    gpusort.sort_file(io.BytesIO(b"3 x\n1\n2 y\n"), out, numeric_sort=True, invalid="last")
    assert out.getvalue() == b"1\n2 y\n3 x\n"


def sorted_text(text, **options):
    out = io.BytesIO()
    report = gpusort.sort_file(io.BytesIO(text), out, **options)
    return out.getvalue(), report


def test_lines_are_written_as_they_were_read():
    found, report = sorted_text(b"1e1\n007\n\n-0\n0x\n", numeric_sort=True, invalid="first")
    assert found == b"0x\n-0\n007\n1e1\n\n" and report.types == ["number"]
    # Two numbers a line are one line, unless all numbers are to be sorted.
    assert sorted_text(b"3 1\n2 4\n")[0] == b"2 4\n3 1\n"
    assert sorted_text(b"3 1\n2 4\n", from_="text")[0] == b"1\n2\n3\n4\n"
    # A comment is a line like others.
    assert sorted_text(b"2\n# of\n1\n")[0] == b"# of\n1\n2\n"
    assert sorted_text(b"#n\n2\n1\n", comments=True, key=1)[0] == b"#n\n1\n2\n"


def test_numbers_are_exact():
    lines = [b"0.1", b"0.10000000000000000000000001", b"18446744073709551616", b"18446744073709551617", b"1e999"]
    found, report = sorted_text(b"\n".join(reversed(lines)) + b"\n", key=1)
    assert found.split() == lines and report.types == ["number"]


def test_the_kind_of_a_key_is_found_or_named():
    for text, kind in [
        (b"2\n10\n", "number"),
        (b"2024-05-02\n2024-05-11\n", "time"),
        (b"900K\n1M\n", "size"),
        (b"900ms\n2s\n", "duration"),
        (b"1.2.9\n1.2.10\n", "version"),
        (b"a\nb\n", "text"),
    ]:
        lines = text.split(b"\n")
        found, report = sorted_text(b"\n".join([*lines[1::-1], b""]), key=1)
        assert (found, report.types) == (text, [kind])
    assert sorted_text(b"10\n9\n", key=1, type="text")[0] == b"10\n9\n"
    assert sorted_text(b"10\n9\n", key="1:text")[0] == b"10\n9\n"
    # Another option does not change what a key is.
    assert sorted_text(b"b 10\na 9\n", key=["2:text", 1], na="-")[0] == b"b 10\na 9\n"


def test_what_does_not_fit_is_told_with_arguments_that_help():
    for text, options, message in [
        (b"n\n1\nx2\n", {"key": "n", "from_": "csv"}, "input:3: 'x2' is not a number, but '1' \\(input:2\\) is; use key=\"n:text\" or key=\"n:number\" with invalid=\"last\"$"),
        (b"n\n1\n-\n", {"key": "n", "from_": "csv"}, "use key=\"n:text\", key=\"n:number\" with invalid=\"last\", or na=\\[\"-\"\\]$"),
        (b"n\n1\n2\n", {"key": 1, "from_": "csv", "header": False}, "use key=\"1:text\", .*header=True$"),
        (b"n\n1\n\n", {"key": 1, "from_": "csv", "empty": "error"}, ", not allowed by empty=\"error\"$"),
        (b"1\nnan\n", {"key": 1, "nan": "error"}, ", not allowed by nan=\"error\"$"),
        (b"a,a\n1,2\n", {"key": "a", "from_": "csv"}, "use key=1 or key=2$"),
        (b"a b\n", {"key": 3}, "no line has field 3, split at blanks; use delimiter= for another separator$"),
        (b"1,5\n", {"key": 1, "decimal": ",", "delimiter": ","}, "change delimiter=, decimal= or thousands=$"),
        (b"1\nx\n", {"invalid": "last"}, "; use numeric_sort=True, or name a key$"),
        (b"5px\n", {"type": "number"}, "; use leading=True or invalid=\"last\"$"),
        (b"-5\n", {"key": 1, "type": "u32"}, "not a number that u32 holds; leave out type=$"),
        (b"20\n1,500\n", {"key": 1}, "use key=\"1:text\", .*, or thousands=\",\"$"),
        (b"PAR1", {"from_": "npy", "header": False}, "^header=False applies to .*; leave it out$"),
        (b"a\n", {"key": 1, "time_format": "%q"}, "^time_format '%q' is not"),
    ]:
        with pytest.raises(ValueError, match=message):
            sorted_text(text, **options)


def test_networks_are_chosen_by_name():
    for algo, variant in [("bitonic", "fused"), ("odd-even", None), ("radix", None)]:
        out = io.BytesIO()
        gpusort.sort_file(io.BytesIO(b"3\n1\n2\n"), out, algo=algo, variant=variant, device="cpu")
        assert out.getvalue() == b"1\n2\n3\n"
    with pytest.raises(ValueError, match="algo: .*quick"):
        gpusort.sort_file(io.BytesIO(b"1\n"), io.BytesIO(), algo="quick")


def test_a_file_larger_than_its_budget(tmp_path):
    numbers = np.random.default_rng(1).integers(0, 1 << 63, 6_000_000, dtype=np.uint64)
    source, out = tmp_path / "in.u64", tmp_path / "out.u64"
    numbers.tofile(source)
    seen = []
    report = gpusort.sort_file(
        source, out, memory="16M", temp_dir=tmp_path, progress=seen.append, threads=2
    )
    assert report.runs > 1 and report.spilled_bytes > 0 and report.types == ["u64"]
    assert np.array_equal(np.fromfile(out, np.uint64), np.sort(numbers))
    assert seen and all(isinstance(one, gpusort.Progress) for one in seen)
    assert {one.phase for one in seen} <= {"read", "parse", "sort", "write", "merge"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.u64", "out.u64"]
    assert set(report.seconds) >= {"read", "sort", "write", "total"} and report.seconds["total"] > 0


def test_file_objects_of_every_kind(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(b"3\n1\n")
    with open(path, "rb") as source, open(tmp_path / "out", "wb") as out:
        gpusort.sort_file([source, pathlib.Path(path), str(path)], out)
    assert (tmp_path / "out").read_bytes() == b"1\n1\n1\n3\n3\n3\n"
    gpusort.sort_file(path, path)
    assert path.read_bytes() == b"1\n3\n"
    with open(path) as source, pytest.raises(TypeError, match='gives bytes; open it with mode "rb"'):
        gpusort.sort_file(source, io.BytesIO())

    class Broken:
        def read(self, size):
            raise LookupError("of the caller's")

        write = read

    with pytest.raises(LookupError, match="of the caller's"):
        gpusort.sort_file(Broken(), io.BytesIO())
    with pytest.raises(LookupError, match="of the caller's"):
        gpusort.sort_file(path, Broken())
    with pytest.raises(TypeError, match="an input is a path or a file object, not int"):
        gpusort.sort_file([5], io.BytesIO())
    with pytest.raises(TypeError, match="an output is a path or a file object, not NoneType"):
        gpusort.sort_file(path, None)


def test_checks_and_merges(sales, tmp_path):
    assert not gpusort.check_file(sales, key="price")
    found = gpusort.check_file(sales, key="price")
    assert (found.place, found.value, found.before) == (f"{sales}:4", "9", "249")
    assert str(found) == f"{sales}:4: out of order: 9 after 249"
    out = tmp_path / "sorted.csv"
    gpusort.sort_file(sales, out, key="price")
    assert gpusort.check_file(out, key="price").is_sorted
    assert not gpusort.check_file(out, key="price", unique=True)
    merged = io.BytesIO()
    report = gpusort.merge_files([out, out], merged, key="price")
    assert report.records == 10 and merged.getvalue().count(b"book") == 4
    with pytest.raises(ValueError, match="out of order.*use sort_file to sort it"):
        gpusort.merge_files([sales], io.BytesIO(), key="price")


def test_counts_are_those_of_a_counter(tmp_path):
    rng = random.Random(5)
    words = [f"w{rng.randrange(90)}" for _ in range(5000)]
    counts = sorted(collections.Counter(words).items(), key=lambda pair: (-pair[1], pair[0]))
    out = io.BytesIO()
    report = gpusort.count_file(io.BytesIO("".join(word + "\n" for word in words).encode()), out)
    assert out.getvalue().decode() == "".join(f"{count:7} {word}\n" for word, count in counts)
    assert (report.records, report.repeated) == (5000, 5000 - len(counts))
    source, target = tmp_path / "words.csv", tmp_path / "counts.csv"
    source.write_text("id,word\n" + "".join(f"{at},{word}\n" for at, word in enumerate(words)))
    gpusort.count_file(source, target, key="word", top=3, temp_dir=tmp_path)
    assert target.read_text() == "count,word\n" + "".join(f"{count},{word}\n" for word, count in counts[:3])
    with pytest.raises(ValueError, match="each key once; leave unique out"):
        gpusort.count_file(source, target, key="word", unique=True)


def test_the_first_records_of_each_value_and_of_each_key(sales):
    assert ids(sales, key="price", top=1, per="item")[0] == [3, 1, 2, 4]
    assert ids(sales, key=("price", "desc"), unique=True, keep_order=True)[0] == [1, 2, 3, 4]
    out = sales.with_name("counts.csv")
    gpusort.sort_file(sales, out, key="item", unique=True, count=True)
    assert out.read_text() == "count,id,item,price\n2,3,book,9\n1,2,desk,249\n1,1,lamp,20\n1,4,pen,\n"
    for options, message in [
        ({"count": True}, "count and keep_order need unique=True"),
        ({"keep_order": True}, "count and keep_order need unique=True"),
        ({"unique": True, "count": True, "keep_order": True}, "only one of count, keep_order and per"),
        ({"unique": True, "count": True, "per": "item", "top": 1}, "only one of count, keep_order and per"),
        ({"per": "item"}, "per needs top and key"),
    ]:
        with pytest.raises(ValueError, match=message):
            gpusort.sort_file(sales, out, key="price", **options)


def test_a_shuffle_is_a_permutation_that_a_seed_repeats(sales):
    lines = b"".join(b"%d\n" % number for number in range(1000))

    def shuffled(**options):
        out = io.BytesIO()
        gpusort.shuffle_file(io.BytesIO(lines), out, **options)
        return out.getvalue().split(b"\n")[:-1]

    assert shuffled(seed=7) == shuffled(seed=7, threads=1) != shuffled(seed=8)
    assert sorted(shuffled()) == sorted(lines.split()) and shuffled() != shuffled()
    assert shuffled(seed=7, top=10) == shuffled(seed=7)[:10]
    out = sales.with_name("shuffled.csv")
    gpusort.shuffle_file(sales, out, seed=1)
    assert out.read_text().startswith("id,item,price\n")
    for options, error, message in [
        ({"seed": -1}, ValueError, "seed is a number from 0"),
        ({"seed": "1"}, ValueError, "seed is a number from 0"),
        ({"unique": True}, TypeError, "a shuffle has no unique; its options are from_, header"),
    ]:
        with pytest.raises(error, match=message):
            gpusort.shuffle_file(sales, out, **options)


def test_errors_are_pythons_own_and_name_the_argument(sales, tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        gpusort.sort_file(tmp_path / "none.csv", tmp_path / "out")
    assert error.value.filename == str(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="input:3: 'x2' is not a number; use invalid=\"last\""):
        gpusort.sort_file(io.BytesIO(b"n\n1\nx2\n"), io.BytesIO(), key=1, from_="csv", numeric_sort=True)
    with pytest.raises(ValueError, match="no column 'prize'; columns: 'id', 'item', 'price'"):
        gpusort.sort_file(sales, io.BytesIO(), key="prize")
    with pytest.raises(ValueError, match="nan is last, first, error; not .middle."):
        gpusort.sort_file(sales, io.BytesIO(), nan="middle")
    with pytest.raises(TypeError, match="unknown option: keys; there are"):
        gpusort.sort_file(sales, io.BytesIO(), keys="price")
    with pytest.raises(ValueError, match="memory: expected a size such as 500M"):
        gpusort.sort_file(sales, io.BytesIO(), memory="much")
    with pytest.raises(ValueError, match="no inputs"):
        gpusort.sort_file([], io.BytesIO())
    with pytest.raises(RuntimeError, match='no GPU has .quantum. in its name(.|\\n)*device="cpu"'):
        gpusort.sort_file(sales, io.BytesIO(), key="price", device="quantum")
    before = sales.read_bytes()
    with pytest.raises(ValueError):
        gpusort.sort_file(sales, sales, key="item:number")
    assert sales.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")
def test_ctrl_c_ends_a_sort_and_leaves_nothing(tmp_path):
    numbers = np.random.default_rng(2).integers(0, 1 << 63, 8_000_000, dtype=np.uint64)
    numbers.tofile(tmp_path / "in.u64")
    program = """
import gpusort, sys
def told(progress):
    print(progress.phase, flush=True)
try:
    while True:
        gpusort.sort_file("in.u64", "out.u64", memory="16M", temp_dir=".", progress=told)
except KeyboardInterrupt:
    sys.exit(7)
"""
    process = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait(60) == 7
    left = {path.name for path in tmp_path.iterdir()}
    assert left <= {"in.u64", "out.u64"}


def test_the_line_of_progress_is_for_terminals(sales, capfd):
    gpusort.sort_file(sales, io.BytesIO(), key="price", progress=True)
    assert capfd.readouterr().err == ""


def test_the_line_of_progress_shows_at_once(sales, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    gpusort.sort_file(sales, io.BytesIO(), key="price", progress=True)
    assert sys.stderr.getvalue().startswith("\r\x1b[Kread") and sys.stderr.getvalue().endswith("\r\x1b[K")


def test_patterns_folders_and_names(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name, row in (("b.csv", "1,b"), ("a.csv", "1,a"), ("c.txt", "1,c"), (".hidden", "x"), ("_SUCCESS", "")):
        (folder / name).write_text(f"k,v\n{row}\n")
    out = tmp_path / "out.csv"
    gpusort.sort_file(f"{folder}/*.csv", out, key="k")
    assert out.read_text() == "k,v\n1,a\n1,b\n"
    (folder / "c.txt").unlink()
    gpusort.sort_file(folder, out, key="k")
    assert out.read_text() == "k,v\n1,a\n1,b\n"
    gpusort.merge_files([folder / "b.csv", folder / "?.csv"], out, key="k")
    assert out.read_text() == "k,v\n1,b\n1,a\n1,b\n"
    assert gpusort.check_file(f"{folder}/**", key="k")
    # A name counts as it is before it is a pattern.
    (tmp_path / "[x].csv").write_text("k\n2\n1\n")
    gpusort.sort_file(tmp_path / "[x].csv", out, key="k")
    assert out.read_text() == "k\n1\n2\n"
    with pytest.raises(FileNotFoundError, match="none"):
        gpusort.sort_file(tmp_path / "none*.csv", out, key="k")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no inputs"):
        gpusort.sort_file(tmp_path / "empty", out, key="k")
    # The name of a file object tells its format.
    with open(folder / "a.csv", "rb") as file:
        gpusort.sort_file(file, out, key="v")
    assert out.read_text() == "k,v\n1,a\n"


def test_the_command_by_the_module(tmp_path):
    command = [sys.executable, "-m", "gpusort", "--version"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode == 2:
        assert found.stderr == "gpusort: the command is not installed; pip install gpusort-cli\n"
    else:
        assert found.stdout.startswith("gpusort ")
    assert os.environ.get("GPUSORT_COMMAND") is None or found.returncode == 0


def test_a_callback_that_raises_ends_the_sort(tmp_path):
    np.arange(3_000_000, dtype=np.uint64)[::-1].tofile(tmp_path / "in.u64")

    def told(progress):
        raise LookupError("enough")

    start = time.monotonic()
    try:
        while time.monotonic() < start + 60:
            gpusort.sort_file(tmp_path / "in.u64", tmp_path / "out.u64", memory="16M", progress=told)
    except LookupError:
        return
    pytest.fail("the callback was never called")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"top": -1}, ValueError, "top is a number from 0, not -1"),
        ({"top": "3"}, ValueError, "top is a number from 0, not '3'"),
        ({"header": -1}, ValueError, "header is True, False or a number of lines, not -1"),
        ({"delimiter": 5}, TypeError, "delimiter is a string, not 5"),
        ({"decimal": ",,"}, ValueError, "decimal is one character, not ',,'"),
        ({"unique": 1}, TypeError, "unique is True or False, not 1"),
        ({"na": ["x", 1]}, TypeError, "na is a word or several"),
        ({"comments": "#"}, TypeError, "comments is True or False, not '#'"),
        ({"nan": None}, TypeError, "nan is a string, not None"),
        ({"type": "int"}, ValueError, 'type is .*u32, .*not "int"'),
        ({"to": "xml"}, ValueError, 'to is .*csv.*not "xml"'),
        ({"from_": "xml"}, ValueError, 'from_ is .*csv.*not "xml"'),
        ({"key": 1.5}, TypeError, "a key is the name of a column"),
        ({"key": [["price", "desc"]]}, TypeError, "a key is the name of a column"),
        ({"threads": 0}, ValueError, "threads is at least 1, not 0"),
    ],
)
def test_wrong_values_of_options(sales, options, error, message):
    with pytest.raises(error, match=message):
        gpusort.sort_file(sales, io.BytesIO(), **options)


def test_names_and_keys_of_other_kinds(sales, tmp_path):
    out = tmp_path / "out.csv"
    gpusort.sort_file(os.fsencode(sales), out, key=np.int64(3))
    assert out.read_text().splitlines()[1] == "3,book,9"
    gpusort.sort_file(sales, out, key=("price", "descending"))
    assert out.read_text().splitlines()[1] == "2,desk,249"
    for inputs in (None, 5):
        with pytest.raises(TypeError, match="inputs are paths or file objects, not"):
            gpusort.sort_file(inputs, out)


def test_a_file_object_that_miscounts():
    class Counts:
        def write(self, data):
            return 2 * len(data)

    with pytest.raises(OSError, match="more was written than was given"):
        gpusort.sort_file(io.BytesIO(b"2\n1\n"), Counts())


def test_parquet_by_a_column(tmp_path: pathlib.Path) -> None:
    table = pyarrow.table({"a": [3, 1, None, 2], "b": ["x", "y", "z", "w"]})
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pyarrow.parquet.write_table(table, source)
    report = gpusort.sort_file(source, target, key="a", parquet_compression="zstd")
    assert (report.records, report.empty) == (4, 1)
    assert pyarrow.parquet.read_table(target).equals(table.take([1, 3, 0, 2]))
    assert pyarrow.parquet.ParquetFile(target).metadata.row_group(0).column(0).compression == "ZSTD"
    assert gpusort.check_file(target)
    with pytest.raises(ValueError, match="no column 'c'; columns: 'a', 'b'"):
        gpusort.sort_file(source, target, key="c")
    lines = io.BytesIO()
    gpusort.sort_file(io.BytesIO(source.read_bytes()), lines, key="b", from_="parquet", to="jsonl", top=1)
    assert lines.getvalue() == b'{"a":2,"b":"w"}\n'


def test_the_layout_of_parquet(tmp_path: pathlib.Path) -> None:
    table = pyarrow.table({"a": list(range(3000))[::-1]})
    source, target, folder = tmp_path / "in.parquet", tmp_path / "out.parquet", tmp_path / "parts"
    pyarrow.parquet.write_table(table, source)
    gpusort.sort_file(source, target, key="a", row_group_rows=1000, parquet_compression="zstd:3")
    metadata = pyarrow.parquet.ParquetFile(target).metadata
    assert [metadata.row_group(number).num_rows for number in range(3)] == [1000] * 3
    report = gpusort.merge_files([target], folder, key="a", split_size="6K")
    names = sorted(path.name for path in folder.glob("*.parquet"))
    assert report.records == 3000 and len(names) > 1 and (folder / "_SUCCESS").exists()
    assert pyarrow.concat_tables(pyarrow.parquet.read_table(folder / name) for name in names).equals(table.sort_by("a"))
    with pytest.raises(ValueError, match="row_group_size: "):
        gpusort.sort_file(source, target, key="a", row_group_size="much")


def test_a_manifest_stands_for_its_folder(tmp_path: pathlib.Path) -> None:
    source, folder = tmp_path / "in.parquet", tmp_path / "parts"
    pyarrow.parquet.write_table(pyarrow.table({"a": list(range(3000))[::-1]}), source)
    gpusort.sort_file(source, folder, key="a", split_size="6K")
    manifest, names = folder / "manifest.json", sorted(path.name for path in folder.glob("*.parquet"))
    assert gpusort.check_file(manifest) and len(names) > 1
    first, second = (folder / name for name in names[:2])

    def problem() -> str:
        with pytest.raises(ValueError) as found:
            gpusort.check_file(manifest)
        return str(found.value)

    data = first.read_bytes()
    first.write_bytes(data[:10] + bytes([data[10] ^ 1]) + data[11:])
    assert problem() == f"{names[0]} differs from what was written"
    first.write_bytes(data + b"x")
    assert problem() == f"{names[0]} has {len(data) + 1} bytes, but {len(data)} were written"
    first.unlink()
    (folder / "_SUCCESS").unlink()
    (folder / "part-99999.parquet").write_bytes(b"")
    assert problem() == (
        "_SUCCESS is missing: the sort did not finish, or the copy is incomplete; "
        f"{names[0]} is missing; part-99999.parquet is not in the manifest"
    )
    (folder / "part-99999.parquet").unlink()
    (folder / "_SUCCESS").write_bytes(b"")
    # A manifest whose parts are named in another order.
    first.write_bytes(data)
    text = manifest.read_text()
    swapped = json.loads(text)
    swapped["parts"][:2] = swapped["parts"][1::-1]
    manifest.write_text(json.dumps(swapped))
    found = gpusort.check_file(manifest)
    assert not found and str(first) in str(found) and second.exists()
    manifest.write_text(text[: len(text) // 2])
    assert "manifest.json: not a manifest: " in problem()
    # Options that a check does not have, or that the call adds.
    manifest.write_text(json.dumps({**json.loads(text), "check": ["--no-such-option"]}))
    with pytest.raises(TypeError, match="unknown option: no_such_option"):
        gpusort.check_file(manifest)
    manifest.write_text(text)
    assert gpusort.check_file(manifest, reverse=True)
    # Without the marks of a sort's output it is a file like any other.
    (tmp_path / "manifest.json").write_text('{"a": 1}\n')
    assert gpusort.check_file(tmp_path / "manifest.json", key="a")
