"""Times of the package beside its peers, in one run: medians, each in turns.

    python peers.py [N] [--runs 5]

Prints a row for each: the time of gpusort, of the peer, and how many times as long the peer takes.
"""

import argparse
import statistics
import time

import numpy as np

import gpusort

parser = argparse.ArgumentParser()
parser.add_argument("count", nargs="?", type=int, default=10_000_000)
parser.add_argument("--runs", type=int, default=5)
parser.add_argument("--only", default="")
parser.add_argument("--torch", type=int, metavar="LOG2", help="also beside torch, with 2^LOG2 elements")
parser.add_argument("--more", action="store_true", help="also where peers may be the better choice")
arguments = parser.parse_args()
N = arguments.count
random = np.random.default_rng(1)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def row(name, ours, theirs, runs=arguments.runs):
    if arguments.only not in name:
        return
    ours(), theirs()
    times = [(seconds(ours), seconds(theirs)) for _ in range(runs)]
    own, peer = (statistics.median(column) for column in zip(*times, strict=True))
    unit, scale = ("ms", 1e3) if own > 1e-4 else ("us", 1e6)
    print(f"| {name} | {own * scale:.3g} {unit} | {peer * scale:.3g} {unit} | {peer / own:.2f} |", flush=True)


def few(call, times=2000):
    def repeated():
        for _ in range(times):
            call()

    return repeated


print(f"| {N:,} elements | gpusort | peer | peer takes |\n|---|---:|---:|---:|")
arrays = {
    "i32": random.integers(-(2**31), 2**31, N, dtype=np.int32),
    "i64": random.integers(-(2**63), 2**63, N, dtype=np.int64),
    "f32": random.standard_normal(N, dtype=np.float32),
    "f64": random.standard_normal(N),
}
for name, x in arrays.items():
    row(f"sort {name}, numpy.sort", lambda: gpusort.sort(x), lambda: np.sort(x))
for name in ("i32", "f64"):
    x = arrays[name]
    row(f"argsort {name}, numpy.argsort stable", lambda: gpusort.argsort(x), lambda: np.argsort(x, kind="stable"), 3)
few_keys = random.integers(0, 1000, N, dtype=np.int32)
row(
    "lexsort i32 of 1000 values, f64; numpy.lexsort",
    lambda: gpusort.lexsort([few_keys, arrays["f64"]]),
    lambda: np.lexsort([arrays["f64"], few_keys]),
    3,
)
row(
    "lexsort i32, f64; numpy.lexsort",
    lambda: gpusort.lexsort([arrays["i32"], arrays["f64"]]),
    lambda: np.lexsort([arrays["f64"], arrays["i32"]]),
    3,
)
row("top 100 f32, numpy.partition", lambda: gpusort.top(arrays["f32"], 100), lambda: np.sort(np.partition(arrays["f32"], 100)[:100]))
row("unique i32 of 1000, numpy.unique", lambda: gpusort.unique(few_keys), lambda: np.unique(few_keys), 3)
for count in (10, 100, 1000):
    x = random.standard_normal(count)
    row(f"2000 sorts of {count} f64, numpy.sort", few(lambda: gpusort.sort(x)), few(lambda: np.sort(x)))
    row(f"2000 argsorts of {count} f64, stable", few(lambda: gpusort.argsort(x)), few(lambda: np.argsort(x, kind="stable")))
if arguments.more:
    for name, x in arrays.items():
        row(f"sort {name} on one core, numpy.sort", lambda: gpusort.sort(x, threads=1), lambda: np.sort(x))
    for name in ("i32", "f64"):
        x = arrays[name]
        row(f"argsort {name}, numpy.argsort of its own choice, not stable", lambda: gpusort.argsort(x), lambda: np.argsort(x), 3)
    x = np.concatenate([np.sort(arrays["i64"][: N // 2]), np.sort(arrays["i64"][N // 2 :])])
    row("sort of two sorted halves, numpy.sort stable", lambda: gpusort.sort(x), lambda: np.sort(x, kind="stable"), 3)
    x = np.sort(arrays["i64"])
    row("sort of what is sorted, numpy.sort stable", lambda: gpusort.sort(x), lambda: np.sort(x, kind="stable"), 3)
    x = np.sort(arrays["f64"])
    x[:: N // 10] = 0.5
    row("sort of what is sorted but for ten, numpy.sort stable", lambda: gpusort.sort(x), lambda: np.sort(x, kind="stable"), 3)
    x = arrays["i32"].view(np.uint8)[:N].copy()
    row("sort u8, numpy.sort stable", lambda: gpusort.sort(x), lambda: np.sort(x, kind="stable"), 3)
    x = arrays["f32"].astype(np.float16)
    row("sort f16, numpy.sort", lambda: gpusort.sort(x), lambda: np.sort(x), 3)
    for shape in ((N // 10, 10), (N // 1000, 1000), (10, N // 10)):
        x = arrays["f64"][: shape[0] * shape[1]].reshape(shape)
        row(f"sort {shape[0]:,} rows of {shape[1]:,}, numpy.sort", lambda: gpusort.sort(x), lambda: np.sort(x), 3)
        row(f"the same along the other axis", lambda: gpusort.sort(x, axis=0), lambda: np.sort(x, axis=0), 3)
if arguments.torch:
    import torch

    x = random.standard_normal(1 << arguments.torch, dtype=np.float32)

    def by_torch():
        return torch.from_numpy(x).cuda().sort().values.cpu().numpy()

    gpu = gpusort.Sorter("gpu")
    assert gpu.sort(x).tobytes() == gpusort.sort(x).tobytes()
    assert np.array_equal(gpusort.sort(x), by_torch())
    row(f"sort 2^{arguments.torch} f32 by default, torch.sort on {gpu.name} with its copies", lambda: gpusort.sort(x), by_torch, 5)
    row(f"sort 2^{arguments.torch} f32 on the CPU, the same", lambda: gpusort.sort(x, device="cpu"), by_torch, 5)
    row(f"sort 2^{arguments.torch} f32 on the GPU, the same", lambda: gpu.sort(x), by_torch, 5)
    there = torch.from_numpy(x).cuda()

    def resident():
        there.sort()
        torch.cuda.synchronize()

    row(f"sort 2^{arguments.torch} f32 on the CPU, torch.sort of what is on the GPU", lambda: gpusort.sort(x), resident, 5)
    del there
    host = torch.from_numpy(x)
    row("argsort on the CPU, torch.sort of the host, stable", lambda: gpusort.argsort(x[: N]), lambda: torch.sort(host[: N], stable=True), 3)
    del x, host
try:
    import polars as pl
except ImportError:
    pass
else:
    rows = N // 2
    table = pl.DataFrame(
        {
            "key": random.integers(-(2**63), 2**63, rows, dtype=np.int64),
            "x": random.standard_normal(rows),
            "n": random.integers(0, 1000, rows, dtype=np.int64),
            "name": [f"name-{number}" for number in random.integers(0, 10**6, rows)],
        }
    )
    for keys in ("key", "n", "name"):
        row(
            f"sort_table of {rows:,} rows by {keys}, Polars",
            lambda: gpusort.sort_table(table, keys),
            lambda: table.sort(keys, maintain_order=True),
            3,
        )
    try:
        arrow = table.to_arrow()
    except ImportError:
        arrow = None
    if arrow is not None:
        row(
            f"sort_table of {rows:,} rows by key, pyarrow",
            lambda: gpusort.sort_table(arrow, "key"),
            lambda: arrow.sort_by("key"),
            3,
        )
