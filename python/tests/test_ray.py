"""Sorts by a Ray cluster of two nodes: the parts are what one process writes, whatever dies on the way."""

import dataclasses
import glob
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
import xxhash

import gpusort
import gpusort.ray
import ray
from gpusort._gpusort import LOOKED
from gpusort.ray import _nodes, _plan, _sort

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def little_tasks(monkeypatch):
    """Inputs of these tests are worth several tasks."""
    monkeypatch.setattr(_plan, "LEAST", 1 << 16)


def rows(rng, count, names=1000):
    for number in range(count):
        quoted = '"x\ny, ""z"""' if rng.random() < 0.02 else "z"
        yield f"{rng.randrange(count)},n{rng.randrange(names)},{quoted},{number}\n"


def csv_files(folder, count=20_000, files=3):
    rng = random.Random(1)
    for number in range(files):
        (folder / f"{number}.csv").write_text("id,name,text,n\n" + "".join(rows(rng, count)))
    return sorted(glob.glob(f"{folder}/*.csv"))


def has_names(manifest):
    """Whether each part begins with the names of its columns."""
    return manifest.format in ("csv", "tsv") or manifest.format == "lines" and not all(name[0].isdigit() for name, _ in manifest.keys)


def joined(manifest):
    """The parts as one file: of tables under one header."""
    if manifest.format == "npy":
        return np.concatenate([np.load(path) for path in manifest.paths()]).tobytes()
    parts = [open(path, "rb").read() for path in manifest.paths()]
    if has_names(manifest):
        head = parts[0].find(b"\n") + 1
        assert all(part[:head] == parts[0][:head] for part in parts)
        parts = parts[:1] + [part[head:] for part in parts[1:]]
    return b"".join(parts)


def checked(folder):
    """What the command says of a sort's manifest."""
    command = [sys.executable, "-m", "gpusort", "check", str(folder / "manifest.json")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.returncode, found.stderr


def holds(manifest, unique):
    """Checks the sums of a manifest by another library's hash of other records: what is between line ends."""
    if manifest.format in ("npy", "bin"):
        arrays = [np.load(path) if manifest.format == "npy" else np.fromfile(path, f"{path[-3]}{int(path[-2:]) // 8}") for path in manifest.paths()]
        records = [[one.tobytes() for one in array[:, None]] for array in arrays]
    else:
        # A line end in quotes is one that a record has beside its own.
        whole = re.compile(rb'(?:[^"\n]|"[^"]*")*\n') if manifest.format == "csv" else re.compile(rb".*\n")
        records = [whole.findall(open(path, "rb").read()) for path in manifest.paths()]
        records = [of[1:] for of in records] if has_names(manifest) else records
    total = lambda sums: sum(int(digits, 16) for digits in sums) % (1 << 64)
    for part, of_part in zip(manifest.parts, records, strict=True):
        assert part.rows == len(of_part)
        assert int(part.checksum, 16) == sum(map(xxhash.xxh3_64_intdigest, of_part)) % (1 << 64)
        for keys, record in [(part.first, of_part[:1]), (part.last, of_part[-1:])]:
            spelled = [key.removesuffix(" (invalid)").encode() for key in keys if key != "an empty field"]
            assert len(keys) == len(record) if manifest.format in ("npy", "bin") else all(key in record[0] for key in spelled)
    assert int(manifest.checksum, 16) == total(part.checksum for part in manifest.parts)
    assert unique or int(manifest.checksum, 16) == total(one.checksum for one in manifest.inputs)


def same_as_alone(tmp_path, inputs, several=True, temp_dir=None, **options):
    """Sorts by the cluster and by one process."""
    manifest = gpusort.ray.sort_files(inputs, tmp_path / "out", temp_dir=temp_dir, **options)
    alone = {name: value for name, value in options.items() if name not in ("parts", "memory")}
    report = gpusort.sort_file(inputs, tmp_path / "alone", **{"to": manifest.format.replace("npy", "bin"), **alone})
    assert joined(manifest) == (tmp_path / "alone").read_bytes()
    assert manifest.rows == report.records - report.repeated and sum(part.rows for part in manifest.parts) == manifest.rows
    assert (tmp_path / "out" / "_SUCCESS").exists()
    said = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert said == {"gpusort": gpusort.__version__, **dataclasses.asdict(manifest)}
    assert checked(tmp_path / "out") == (0, "") and gpusort.check_file(tmp_path / "out" / "manifest.json")
    holds(manifest, options.get("unique", False))
    if several:
        assert len(manifest.parts) > 3
    return manifest


@pytest.mark.parametrize("key", ["id", "name", [("name", "desc"), "id"], "n:r"])
def test_tables(cluster, tmp_path, key):
    (tmp_path / "in").mkdir()
    same_as_alone(tmp_path, csv_files(tmp_path / "in"), key=key)


def test_files_that_are_empty_many_and_compressed(cluster, tmp_path):
    (tmp_path / "in").mkdir()
    rng = random.Random(2)
    for number in range(100):
        text = "" if number == 7 else "id,name,text,n\n" + "".join(rows(rng, 0 if number == 3 else 200))
        (tmp_path / "in" / f"{number:03}.csv").write_text(text)
    packed = tmp_path / "in" / "100.csv.gz"
    packed.write_bytes(gzip.compress(("id,name,text,n\n" + "".join(rows(rng, 20_000))).encode()))
    same_as_alone(tmp_path, sorted(glob.glob(f"{tmp_path}/in/*")), key="id", memory=64 << 20)


@pytest.mark.parametrize("unique", [False, True])
def test_one_key_is_in_several_parts_unless_it_is_to_be_unique(cluster, tmp_path, unique):
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"7,{number}\n" for number in range(200_000)))
    manifest = same_as_alone(tmp_path, [tmp_path / "x.csv"], several=not unique, key="a", unique=unique, parts=8)
    if not unique:
        sizes = [part.rows for part in manifest.parts]
        assert len(sizes) == 8 and max(sizes) < 1.5 * min(sizes)


def test_other_formats(cluster, tmp_path):
    rng = np.random.default_rng(3)
    numbers = rng.integers(-(1 << 40), 1 << 40, 200_000)
    (tmp_path / "x.txt").write_text("".join(f"{number}\n" for number in numbers))
    (tmp_path / "x.log").write_text("".join(f"{number % 977}  line {at}\n" for at, number in enumerate(numbers)))
    (tmp_path / "x.jsonl").write_text("".join(f'{{"u": {{"v": {number % 97}}}, "n": {at}}}\n' for at, number in enumerate(numbers)))
    (tmp_path / "x.ps").write_text("PID %CPU COMMAND\n" + "".join(f"{at} {number % 977} a b\n" for at, number in enumerate(numbers)))
    (tmp_path / "x.dump").write_text("id;n\n" + "".join(f"{at};{number % 977}\n" for at, number in enumerate(numbers)))
    shutil.copy(tmp_path / "x.jsonl", tmp_path / "x.events")
    numbers.tofile(tmp_path / "x.i64")
    np.save(tmp_path / "x.npy", rng.random(200_000).astype("f4"))
    for at, (name, options) in enumerate(
        [
            ("x.txt", {}),
            ("x.log", {"key": 1}),
            ("x.log", {"type": "text", "reverse": True}),
            ("x.jsonl", {"key": "u.v"}),
            # A name means that the first line has it.
            ("x.ps", {"key": "%CPU:r"}),
            ("x.dump", {"key": "n"}),
            ("x.events", {"key": "u.v"}),
            ("x.i64", {"reverse": True}),
            ("x.npy", {}),
            ("x.npy", {"to": "bin"}),
        ]
    ):
        folder = tmp_path / str(at)
        folder.mkdir()
        same_as_alone(folder, [tmp_path / name], **options)


def test_a_column_has_one_kind_in_all_files(cluster, tmp_path):
    (tmp_path / "0.csv").write_text("a,b\n" + "".join(f"{'-0' if n % 3 else '0'},{n}\n" for n in range(30_000)))
    (tmp_path / "1.csv").write_text("a,b\n" + "".join(f"{'-0.0' if n % 3 else '0.5'},{n}\n" for n in range(30_000)))
    same_as_alone(tmp_path, [tmp_path / "0.csv", tmp_path / "1.csv"], key="a")


def refused(tmp_path, inputs, **options):
    with pytest.raises((ValueError, OSError)) as raised:
        gpusort.ray.sort_files(inputs, tmp_path / "out", **options)
    assert os.listdir(tmp_path / "out") == []
    return str(raised.value)


def test_what_is_wrong_is_told_with_file_and_line(cluster, tmp_path):
    (tmp_path / "in").mkdir()
    files = csv_files(tmp_path / "in")
    lines = open(files[1]).read().split("\n")
    at = len(lines) * 3 // 4
    while lines[at].count(",") < 3 or lines[at].count('"'):
        at += 1
    lines[at] = "1,2"
    open(files[1], "w").write("\n".join(lines))
    assert f"{files[1]}:{at + 1}" in refused(tmp_path, files, key="id")
    # A word among numbers, of which another task has all others.
    lines[at] = "x7,n1,z,0"
    open(files[1], "w").write("\n".join(lines))
    assert f"{files[1]}:{at + 1}: 'x7' is not a number" in refused(tmp_path, files, key="id")
    assert "no column 'nome'" in refused(tmp_path, files, key="nome")


def numbers_of(count, seed=7):
    """So many numbers, a line each, of 16 bytes."""
    return [f"{number:015}\n" for number in np.random.default_rng(seed).integers(0, 10**15, count)]


def test_what_is_looked_at_decides_for_all_files(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(_plan, "LEAST", 1 << 22)
    (tmp_path / "in").mkdir()
    files = [tmp_path / "in" / name for name in ("0", "1")]
    files[0].write_text("".join(numbers_of(500_000)))
    lines = numbers_of(200_000, seed=8)
    files[1].write_text("".join(lines))
    same_as_alone(tmp_path, files, several=False)
    # Beyond that, and far from the end.
    lines[10_000] = "x7\n"
    files[1].write_text("".join(lines))
    shutil.rmtree(tmp_path / "out")
    assert f"{files[1]}:10001: 'x7' is not a number; use key=0" in refused(tmp_path, files)
    # In text there may be everything.
    files[0].write_text("".join(f"x{line}" for line in numbers_of(500_000)))
    same_as_alone(tmp_path, files, several=False, key="1:text")


def test_the_last_input_that_is_looked_at_may_be_cut_off_anywhere(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(_plan, "LEAST", 1 << 22)
    (tmp_path / "in").mkdir()
    for name, text in [("0", "".join(numbers_of(LOOKED // 16 - 1)) + "7\n" * 6), ("1", "".join(numbers_of(1000))), ("2", "3\n")]:
        (tmp_path / "in" / name).write_text(text)
    assert os.path.getsize(tmp_path / "in" / "0") == LOOKED - 4
    same_as_alone(tmp_path, sorted(glob.glob(f"{tmp_path}/in/*")), several=False)


def test_inputs_of_several_formats_are_refused(cluster, tmp_path):
    (tmp_path / "x.csv").write_text("a\n1\n")
    (tmp_path / "x.jsonl").write_text('{"a":1}\n')
    assert "x.csv is csv, but" in refused(tmp_path, [tmp_path / "x.csv", tmp_path / "x.jsonl"], key="a")


def test_what_is_compressed_otherwise_is_refused(cluster, tmp_path):
    (tmp_path / "x.csv").write_bytes(b"BZh91AY&SY" + bytes(90_000))
    assert "x.csv: " in (told := refused(tmp_path, tmp_path / "x.csv", key="a")) and "bzip2" in told


def test_the_first_input_may_be_compressed(cluster, tmp_path):
    long = "a" * 200_000
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(f"id,text\n2,{long}\n1,b\n".encode()))
    (tmp_path / "y.csv").write_text("id,text\n0,c\n")
    same_as_alone(tmp_path, [tmp_path / "x.csv.gz", tmp_path / "y.csv"], several=False, key="id")
    with pa.CompressedOutputStream(str(tmp_path / "z.csv.zst"), "zstd") as file:
        file.write(f"id,text\n5,{long}\n3,b\n".encode())
    (tmp_path / "second").mkdir()
    same_as_alone(tmp_path / "second", [tmp_path / "z.csv.zst", tmp_path / "y.csv"], several=False, key="id")


def test_a_part_that_was_changed_is_found(cluster, tmp_path):
    (tmp_path / "in").mkdir()
    manifest = same_as_alone(tmp_path, csv_files(tmp_path / "in"), key=[("name", "desc"), "id"])
    path = manifest.paths()[1]
    data = open(path, "rb").read()
    open(path, "wb").write(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
    assert checked(tmp_path / "out") == (1, f"gpusort: {path}: differs from what was written\n")


def test_binary_is_compressed_where_its_name_says_so(cluster, tmp_path):
    numbers = np.arange(30_000, dtype="u4")[::-1].copy()
    (tmp_path / "x.u32.gz").write_bytes(gzip.compress(numbers.tobytes()))
    numbers.tofile(tmp_path / "y.u32")
    same_as_alone(tmp_path, [tmp_path / "x.u32.gz", tmp_path / "y.u32"], several=False, memory=64 << 20)
    # This begins as gzip does.
    np.array([35615, 1, 2], "u2").tofile(tmp_path / "z.u16")
    (tmp_path / "second").mkdir()
    assert same_as_alone(tmp_path / "second", [tmp_path / "z.u16"], several=False).rows == 3


def test_arrays_that_are_cut_off_are_refused(cluster, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(1000))
    data = (tmp_path / "x.npy").read_bytes()
    for wrong in (data[:-80], data + bytes(80)):
        (tmp_path / "x.npy").write_bytes(wrong)
        assert "1000 int64 elements need 8000 bytes, but" in refused(tmp_path, tmp_path / "x.npy")


def test_repeated_rows_are_counted(cluster, tmp_path):
    (tmp_path / "a.csv").write_text("n,t\n1,a\n1,b\n" + "2,z\n" * 1000)
    (tmp_path / "b.csv").write_text("n,t\n2,c\n2,d\n3,e\n")
    manifest = same_as_alone(tmp_path, [tmp_path / "a.csv", tmp_path / "b.csv"], several=False, key="n", unique=True)
    assert (manifest.rows, manifest.repeated) == (3, 1002)
    # Of all of their records.
    assert int(manifest.inputs[1].checksum, 16) == sum(map(xxhash.xxh3_64_intdigest, [b"2,c\n", b"2,d\n", b"3,e\n"])) % (1 << 64)


def test_what_the_command_reads_otherwise_is_checked_right(cluster, tmp_path):
    (tmp_path / "x.csv").write_text("a:r,a,b\n2,1,x\n1,2,y\n\"n,a\",3,z\n")
    (tmp_path / "x.txt").write_text("b 1\na 2\nB 0\n")
    for number, (name, options) in enumerate(
        [
            ("x.csv", {"key": ("a", "desc")}),
            ("x.csv", {"key": "a:r", "na": "n,a"}),
            ("x.csv", {"key": "a", "type": "number"}),
            ("x.csv", {"key": ["b", 2], "delimiter": ","}),
            ("x.txt", {"from_": "lines", "key": 0, "ignore_case": True}),
            ("x.txt", {"from_": "lines", "key": 1, "reverse": True}),
        ]
    ):
        (tmp_path / str(number)).mkdir()
        same_as_alone(tmp_path / str(number), [tmp_path / name], several=False, **options)
    assert "cannot keep comments on top" in refused(tmp_path, tmp_path / "x.txt", from_="lines", comments=True)


def test_an_output_folder_may_be_an_input(cluster, tmp_path):
    (tmp_path / "in").mkdir()
    manifest = same_as_alone(tmp_path, csv_files(tmp_path / "in", count=3000, files=1), several=False, key="id", parts=3)
    again = gpusort.ray.sort_files(tmp_path / "out", tmp_path / "again", key="n")
    assert (again.rows, again.checksum) == (manifest.rows, manifest.checksum)


def test_a_node_whose_runs_nobody_gives_gets_another_process(cluster, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    files = csv_files(tmp_path / "in")
    mapped, killed = _sort.Sort.map, []

    def kill(sort, splitters, done, again):
        mapped(sort, splitters, done, again)
        if not killed:
            node = next(iter(done.values())).node
            killed.append(node)
            ray.kill(sort.nodes.actors[node])

    monkeypatch.setattr(_sort.Sort, "map", kill)
    same_as_alone(tmp_path, files, key="name")
    assert len(killed) == 1


def test_a_folder_with_something_in_it_is_refused(cluster, tmp_path):
    (tmp_path / "x.csv").write_text("a\n1\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("stays")
    with pytest.raises(FileExistsError, match="not empty"):
        gpusort.ray.sort_files(tmp_path / "x.csv", tmp_path / "out", key="a")
    assert os.listdir(tmp_path / "out") == ["mine"]


def dying(function, when, marker):
    """The same function, whose process is killed before or after the first call."""

    def once(*arguments):
        result = function(*arguments) if when == "after" else None
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return function(*arguments) if when == "before" else result
        os.kill(os.getpid(), signal.SIGKILL)

    return once


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("phase", ["sample_task", "map_task", "reduce_task"])
def test_a_worker_that_is_killed_changes_nothing(cluster, tmp_path, monkeypatch, phase, when):
    (tmp_path / "in").mkdir()
    files = csv_files(tmp_path / "in")
    marker = str(tmp_path / "killed")
    monkeypatch.setattr(_sort, phase, dying(getattr(_sort, phase), when, marker))
    same_as_alone(tmp_path, files, key="name")
    assert os.path.exists(marker)


def test_a_node_that_goes_away_changes_nothing(cluster, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    files = csv_files(tmp_path / "in")
    cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    mapped, gone = _sort.Sort.map, []

    def remove(sort, splitters, done, again):
        mapped(sort, splitters, done, again)
        if gone:
            return
        with_runs = {task.node for task in done.values()}
        node = next(node for node in cluster.worker_nodes if node.node_id in with_runs)
        gone.append(node.node_id)
        cluster.remove_node(node, allow_graceful=False)

    monkeypatch.setattr(_sort.Sort, "map", remove)
    same_as_alone(tmp_path, files, key="name")
    assert len(gone) == 1


def test_runs_of_a_sort_that_was_killed_are_removed_by_the_next(cluster, tmp_path):
    (tmp_path / "x.csv").write_text("a\n2\n1\n")
    old = [tmp_path / f"{_nodes.PREFIX}{name}" for name in ("dead", "alive", "young")]
    for folder in old:
        folder.mkdir()
        (folder / "run").write_text("left")
    lock = _nodes.locked(old[1])
    for folder in old[:2]:
        os.utime(folder, (0, 0))
    gpusort.ray.sort_files(tmp_path / "x.csv", tmp_path / "out", key="a", temp_dir=str(tmp_path))
    assert [folder.exists() for folder in old] == [False, True, True]
    assert len(glob.glob(f"{tmp_path}/{_nodes.PREFIX}*")) == 2
    lock.close()


def test_urls_of_other_file_systems(cluster, tmp_path):
    (tmp_path / "in").mkdir()
    csv_files(tmp_path / "in")
    manifest = gpusort.ray.sort_files(f"file://{tmp_path}/in/*.csv", f"file://{tmp_path}/out", key="id")
    gpusort.sort_file(sorted(glob.glob(f"{tmp_path}/in/*.csv")), tmp_path / "alone.csv", key="id")
    parts = [open(path.removeprefix("file://"), "rb").read() for path in manifest.paths()]
    head = b"id,name,text,n\n"
    assert head + b"".join(part.removeprefix(head) for part in parts) == (tmp_path / "alone.csv").read_bytes()
    assert (tmp_path / "out" / "_SUCCESS").exists()


def test_a_temporary_folder_that_is_not_there_is_an_error(cluster, tmp_path):
    (tmp_path / "x.csv").write_text("a\n2\n1\n")
    assert "/no/such/folder" in refused(tmp_path, tmp_path / "x.csv", key="a", temp_dir="/no/such/folder")


def test_inputs_without_records(cluster, tmp_path):
    for name in ("empty.csv", "header.csv"):
        (tmp_path / name).write_text("a,b\n" if name == "header.csv" else "")
        (tmp_path / name[:-4]).mkdir()
        same_as_alone(tmp_path / name[:-4], [tmp_path / name], several=False, key=1)


def test_tasks_sort_on_gpus_where_nodes_have_them(cluster, tmp_path):
    numbers = np.random.default_rng(5).integers(0, 1 << 32, 100_000, np.uint32)
    numbers.tofile(tmp_path / "x.u32")
    # What it has is Mesa's software driver, unless there is a GPU.
    node = cluster.add_node(num_cpus=1, num_gpus=1, object_store_memory=100 << 20)
    try:
        manifest = gpusort.ray.sort_files(tmp_path / "x.u32", tmp_path / "out", num_gpus=1, device=0)
    finally:
        cluster.remove_node(node)
    assert joined(manifest) == np.sort(numbers).tobytes()
