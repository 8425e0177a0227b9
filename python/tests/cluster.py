"""What takes too long for every change: sorts of gigabytes by a cluster of Ray, with what can go wrong on the way.

    python tests/cluster.py FOLDER                    all of it, in a folder with four times 4 GB of room
    python tests/cluster.py FOLDER sizes --gigabytes 1
    python tests/cluster.py FOLDER kills --runs 20    skew, files, kills, full, interrupt

A cluster of a head and two nodes with a core each is started; the command is found as ``python -m gpusort`` finds it.
Whatever is not as one process writes it ends this with an error. A full disk needs root, for a file system of its own.
"""

import argparse
import contextlib
import glob
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

import duckdb
import numpy as np

import gpusort
import gpusort.ray
import ray
from gpusort.ray import _nodes


def command(*arguments):
    subprocess.run([sys.executable, "-m", "gpusort", *map(str, arguments)], check=True)


def same(manifest, alone):
    """Compares the parts, of tables under one header, with a file, byte for byte."""
    with open(alone, "rb") as expected:
        for number, path in enumerate(manifest.paths()):
            with open(path, "rb") as part:
                if manifest.format == "csv" and number > 0:
                    part.readline()
                while block := part.read(1 << 24):
                    assert block == expected.read(len(block)), f"{path} differs before {expected.tell()}"
        assert not expected.read(1), f"{alone} has more"


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def table(path, rows, expression="hash(i) % 1000000007"):
    """A file of CSV of about 25 bytes a row, with line ends in some fields."""
    quoted = "CASE WHEN i % 997 = 0 THEN 'x' || chr(10) || 'y' ELSE 'z' END"
    query = f"SELECT {expression} AS id, 'n' || (hash(i + 1) % 100000) AS name, {quoted} AS text, i AS row FROM range({rows}) t(i)"
    duckdb.sql(f"COPY ({query}) TO '{path}' (HEADER)")
    return path


def sorted_as_alone(folder, inputs, how, **options):
    out, alone = fresh(folder / "out"), folder / "alone"
    begin = time.monotonic()
    manifest = gpusort.ray.sort_files(inputs, out, **options)
    by_cluster = time.monotonic() - begin
    begin = time.monotonic()
    command("sort", "-o", alone, *how, *inputs)
    by_command = time.monotonic() - begin
    same(manifest, alone)
    command("check", out / "manifest.json")
    alone.unlink()
    return manifest, by_cluster, by_command


def sizes(folder, gigabytes):
    files = [table(folder / f"{number}.csv", int(gigabytes * 8e6)) for number in range(4)]
    numbers = folder / "x.u64"
    np.random.default_rng(1).integers(0, 1 << 63, int(gigabytes * 125e6), np.uint64).tofile(numbers)
    for name, inputs, options, how in [
        ("CSV by a number", files, {"key": "id"}, ["-k", "id"]),
        ("CSV by text, then a number", files, {"key": [("name", "desc"), "id"]}, ["-k", "name:r", "-k", "id"]),
        ("u64", [numbers], {}, []),
    ]:
        size = sum(path.stat().st_size for path in inputs)
        manifest, by_cluster, by_command = sorted_as_alone(folder, inputs, how, **options)
        phases = ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in manifest.seconds.items())
        print(f"{name}: {size / 1e9:.2f} GB, {len(manifest.parts)} parts: {by_cluster:.1f} s ({phases}); the command {by_command:.1f} s", flush=True)
    for path in [*files, numbers]:
        path.unlink()


def skew(folder):
    for name, expression in [
        ("zipf", "CAST(floor(1 / (0.0000001 + (hash(i) % 1000003) / 1000003.0)) AS BIGINT)"),
        ("all equal", "7"),
        ("half equal", "CASE WHEN hash(i) % 2 = 0 THEN 7 ELSE hash(i) % 1000 END"),
        ("sorted", "i"),
        ("reversed", "3000000 - i"),
        ("two keys", "hash(i) % 2"),
    ]:
        path = table(folder / "skew.csv", 3_000_000, expression)
        manifest, seconds, _ = sorted_as_alone(folder, [path], ["-k", "id"], key="id", parts=12)
        rows = [part.rows for part in manifest.parts]
        print(f"{name}: {len(rows)} parts of {min(rows)} to {max(rows)} rows, {seconds:.1f} s", flush=True)
        assert max(rows) < 1.6 * sum(rows) / len(rows)
        path.unlink()


def files(folder):
    few = folder / "few"
    few.mkdir(exist_ok=True)
    for number in range(1000):
        table(few / f"{number:04}.csv", number % 50, f"hash(i + {number}) % 1000")
    (few / "0500.csv").write_bytes(b"")
    command("sort", "-o", few / "0700.csv.gz", "-k", "row", few / "0700.csv")
    (few / "0700.csv").unlink()
    inputs = sorted(few.iterdir())
    manifest, seconds, _ = sorted_as_alone(folder, inputs, ["-k", "id"], key="id")
    print(f"1,000 files: {manifest.rows} rows, {seconds:.1f} s", flush=True)
    shutil.rmtree(few)


def workers(name):
    """Processes that run a task of this name, or any."""
    for entry in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if open(entry, "rb").read().startswith(b"ray::" + name.encode()):
                yield int(entry.split("/")[2])


def kills(folder, runs):
    path = table(folder / "kills.csv", 4_000_000)
    command("sort", "-o", folder / "alone", "-k", "name", path)
    begin = time.monotonic()
    gpusort.ray.sort_files([path], fresh(folder / "out"), key="name", memory=96 << 20)
    usual = time.monotonic() - begin
    rng, hit = random.Random(time.time()), []
    for run in range(runs):
        ended = threading.Event()
        phase = ["sample_task", "map_task", "reduce_task"][run % 3]

        def kill():
            # Once there is one, at a moment of its work that nobody chose.
            while not ended.is_set():
                if found := list(workers(phase)):
                    time.sleep(rng.random() * 0.05)
                    with contextlib.suppress(OSError):
                        os.kill(rng.choice(found), signal.SIGKILL)
                        hit.append(phase)
                    return
                time.sleep(0.002)

        thread = threading.Thread(target=kill)
        thread.start()
        manifest = gpusort.ray.sort_files([path], fresh(folder / "out"), key="name", memory=96 << 20)
        ended.set()
        thread.join()
        same(manifest, folder / "alone")
    told = ", ".join(f"{hit.count(phase)} of {phase}" for phase in sorted(set(hit)))
    print(f"kills: {runs} runs of {usual:.1f} s undisturbed; killed {told}; all as written by one process", flush=True)
    assert len(hit) > runs * 3 // 4
    (folder / "alone").unlink()
    path.unlink()


def nothing_done(out):
    assert not out.exists() or not [name for name in os.listdir(out) if not name.startswith(".")], os.listdir(out)


@contextlib.contextmanager
def small(folder, megabytes):
    """A file system of so many megabytes."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        folder.rmdir()


def full(folder):
    path = table(folder / "full.csv", 2_000_000)
    with small(folder / "small", 20) as disk:
        for what, out, temp in [("runs", folder / "out", disk), ("output", disk / "out", None)]:
            try:
                gpusort.ray.sort_files([path], fresh(out), key="id", temp_dir=temp and str(temp))
            except OSError as error:
                print(f"a full disk under the {what}: {type(error).__name__}: {error}", flush=True)
                assert "No space left" in str(error)
            else:
                raise AssertionError("a full disk was not noticed")
            nothing_done(out)
            assert not glob.glob(f"{disk}/{_nodes.PREFIX}*")
    path.unlink()


def interrupt(folder, address):
    path = table(folder / "interrupt.csv", 4_000_000)
    temp = fresh(folder / "temp")
    temp.mkdir()
    script = (
        f"import ray, gpusort.ray; ray.init(address={address!r}, log_to_driver=False); "
        f"gpusort.ray.sort_files({str(path)!r}, {str(folder / 'out')!r}, key='name', memory=96 << 20, temp_dir={str(temp)!r})"
    )
    for phase in ["sample_task", "map_task", "reduce_task"]:
        fresh(folder / "out")
        driver = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
        while not list(workers(phase)):
            assert driver.poll() is None, driver.stderr.read()
            time.sleep(0.002)
        driver.send_signal(signal.SIGINT)
        begin = time.monotonic()
        _, told = driver.communicate(timeout=60)
        seconds = time.monotonic() - begin
        assert driver.returncode != 0 and "KeyboardInterrupt" in told, told
        nothing_done(folder / "out")
        assert not list(temp.iterdir()), list(temp.iterdir())
        print(f"Ctrl-C during {phase}: over in {seconds:.1f} s, nothing left", flush=True)
    shutil.rmtree(temp)
    path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    names = ["sizes", "skew", "files", "kills", "full", "interrupt"]
    parser.add_argument("what", nargs="*", choices=[*names, []])
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--runs", type=int, default=20)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 100 << 20})
    for _ in range(2):
        cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    ray.init(address=cluster.address, log_to_driver=False)
    all_of_them = {
        "sizes": lambda: sizes(args.folder, args.gigabytes),
        "skew": lambda: skew(args.folder),
        "files": lambda: files(args.folder),
        "kills": lambda: kills(args.folder, args.runs),
        "full": lambda: full(args.folder),
        "interrupt": lambda: interrupt(args.folder, cluster.address),
    }
    for name in args.what or names:
        all_of_them[name]()
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
