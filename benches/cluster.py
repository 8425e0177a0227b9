#!/usr/bin/env python3
"""Sorts of 10 million rows of CSV by a cluster on this machine: gpusort's, Ray Data's and Dask's; and how gpusort's grow.

    python benches/cluster.py FOLDER [--rows 10_000_000] [--rounds 3]     beside the others: two nodes of one core
    python benches/cluster.py FOLDER nodes                                one to eight nodes, all on the same cores

Needs the package with its extras `ray` and `dask`, and distributed. Memory is what the machine had less at the worst moment
than before, page cache aside; the object store is what of it was in shared memory.
"""

import argparse
import pathlib
import shutil
import statistics
import threading
import time

import numpy as np

import gpusort
import gpusort.dask
import gpusort.ray


def available():
    for line in open("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10


class Peak:
    """The most memory that was taken meanwhile, and the most in shared memory."""

    def __enter__(self):
        self.memory = self.shared = 0
        self.over = threading.Event()
        before, shared = available(), shutil.disk_usage("/dev/shm").used

        def watch():
            while not self.over.wait(0.02):
                self.memory = max(self.memory, before - available())
                self.shared = max(self.shared, shutil.disk_usage("/dev/shm").used - shared)

        self.thread = threading.Thread(target=watch)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def written(folder, rows):
    """Three files of CSV: numbers to sort by, names, and texts, some of them quoted."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    files = []
    for number in range(3):
        path = folder / f"{number}.csv"
        files.append(path)
        ids, names, quoted = rng.integers(0, rows, rows // 3), rng.integers(0, 1000, rows // 3), rng.random(rows // 3) < 0.01
        with open(path, "w") as file:
            file.write("id,name,v\n")
            for row, (id, name, is_quoted) in enumerate(zip(ids.tolist(), names.tolist(), quoted.tolist())):
                text = f'"x,{row}"' if is_quoted else f"z{row}"
                file.write(f"{id},n{name},{text}\n")
    return files


def measured(name, run, out):
    shutil.rmtree(out, ignore_errors=True)
    with Peak() as peak:
        begin = time.monotonic()
        run(out)
        seconds = time.monotonic() - begin
    print(f"  {name}: {seconds:.2f} s, memory {peak.memory / 1e6:.0f} MB, object store {peak.shared / 1e6:.0f} MB", flush=True)
    return seconds


def cluster_of(nodes, object_store=3 << 30):
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 200 << 20})
    for _ in range(nodes):
        cluster.add_node(num_cpus=1, object_store_memory=object_store)
    ray.init(address=cluster.address, log_to_driver=False)
    return cluster


def beside(folder, rows, rounds):
    import ray

    files = written(folder / "in", rows)
    size = sum(path.stat().st_size for path in files)
    print(f"{rows} rows, {size / 1e6:.0f} MB", flush=True)

    def ray_data(out, polars=False):
        import ray.data

        ray.data.DataContext.get_current().use_polars_sort = polars
        ray.data.read_csv([str(path) for path in files]).sort("id").write_csv(str(out))

    def of_dataset(out):
        import ray.data

        gpusort.ray.sort(ray.data.read_csv([str(path) for path in files]), "id").write_csv(str(out))

    found = {}
    by_ray = {
        "gpusort.ray.sort_files": lambda out: gpusort.ray.sort_files(files, out, key="id"),
        "Ray Data": ray_data,
        "Ray Data, use_polars_sort": lambda out: ray_data(out, True),
        "Ray Data, gpusort.ray.sort": of_dataset,
    }
    # The object store keeps the memory that it once had: each has a cluster of its own, which has run something.
    for _ in range(rounds):
        for name, run in by_ray.items():
            cluster = cluster_of(2)
            ray.get([ray.remote(lambda: time.sleep(0.1)).remote() for _ in range(4)])
            found.setdefault(name, []).append(measured(name, run, folder / "out"))
            ray.shutdown()
            cluster.shutdown()

    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    def by_dask(out, **how):
        dd.read_csv([str(path) for path in files]).sort_values("id", **how).to_csv(str(out), index=False)

    for _ in range(rounds):
        for name, how in [("Dask", {}), ("Dask, gpusort.dask.sort_function", {"sort_function": gpusort.dask.sort_function})]:
            with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers, Client(workers):
                found.setdefault(name, []).append(measured(name, lambda out, how=how: by_dask(out, **how), folder / "out"))
    ours = statistics.median(found["gpusort.ray.sort_files"])
    for name, seconds in found.items():
        print(f"{name}: {statistics.median(seconds):.2f} s, {statistics.median(seconds) / ours:.2f} x", flush=True)


def grow(folder, rows):
    import ray

    files = written(folder / "in", rows)
    for nodes in (1, 2, 4, 8):
        cluster = cluster_of(nodes, 100 << 20)
        gpusort.ray.sort_files(files, folder / "warm", key="id")
        shutil.rmtree(folder / "warm")
        shutil.rmtree(folder / "out", ignore_errors=True)
        with Peak() as peak:
            manifest = gpusort.ray.sort_files(files, folder / "out", key="id")
        shutil.rmtree(folder / "out")
        phases = ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in manifest.seconds.items())
        print(f"{nodes} nodes: {len(manifest.parts)} parts; {phases} s; object store {peak.shared / 1e6:.1f} MB", flush=True)
        ray.shutdown()
        cluster.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("what", nargs="?", choices=["beside", "nodes"], default="beside")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if args.what == "nodes":
        grow(args.folder, args.rows)
    else:
        beside(args.folder, args.rows, args.rounds)


if __name__ == "__main__":
    main()
