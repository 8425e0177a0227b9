"""The driver of a sort of files."""

# pyright: basic

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
from collections.abc import Iterable
from typing import Any

import ray

from .._files import Path, _arguments
from .._gpusort import VERSION
from .._keys import Keys
from ._manifest import Manifest, make_folder, manifest_of, put, remove_parts
from ._nodes import Nodes, got
from ._paths import join, listed
from ._plan import Plan, planned
from ._tasks import Done, Written, map_task, reduce_task, sample_task


def memory_of(threads: int) -> int:
    """Returns the bytes for each task: half of its cores' share of memory, on the node with the smallest share."""
    shares = [
        node["Resources"].get("memory", 4 << 30) / node["Resources"]["CPU"]
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU")
    ]
    return max(int(min(shares, default=2 << 30) * threads / 2), 64 << 20)


class Bars:
    """A Ray progress bar for each phase."""

    def __init__(self, shown: bool) -> None:
        self.shown, self.bar = shown, None

    def begin(self, phase: str, total: int) -> None:
        self.end()
        if self.shown:
            from ray.experimental.tqdm_ray import tqdm

            self.bar = tqdm(desc=f"gpusort: {phase}", total=total)

    def tell(self) -> None:
        if self.bar is not None:
            self.bar.update(1)

    def end(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


class Sort:
    """The state of a running sort in its driver."""

    def __init__(self, plan: Plan, nodes: Nodes, ask: dict[str, Any], device: str | int, bars: Bars) -> None:
        self.plan, self.nodes, self.device, self.bars = plan, nodes, device, bars
        self.plan_ref = ray.put(plan)
        remote = ray.remote(max_retries=3, **ask)
        self.sampled, self.mapped, self.reduced = remote(sample_task), remote(map_task), remote(reduce_task)
        self.pending: dict[Any, int] = {}
        # The corrected beginnings of misplaced stretches, by task.
        self.starts: dict[int, dict[int, int]] = {}

    def wait(self, submit: Any, numbers: Iterable[int], phase: str) -> Iterable[tuple[int, Any]]:
        """Yields the results of tasks as they finish; submits tasks without a result again."""
        waiting = list(numbers)
        self.bars.begin(phase, len(waiting))
        # Only tasks that can start soon, so that a lost node takes little work with it.
        most = 4 * max(1, int(ray.cluster_resources().get("CPU", 1)))
        while waiting or self.pending:
            while waiting and len(self.pending) < most:
                number = waiting.pop(0)
                self.pending[submit(number)] = number
            ready, _ = ray.wait(list(self.pending), num_returns=1)
            number = self.pending.pop(ready[0])
            result = got(ready[0])
            if result is None:
                # The task ran on a node that joined later.
                self.nodes.refresh()
                waiting.insert(0, number)
                continue
            yield number, result
            self.bars.tell()

    def sample(self, many: int) -> list[str]:
        # A share for each task in proportion to its records.
        sizes = [sum(map(self.plan.weight, stretches)) for stretches in self.plan.tasks]
        each = [1 + many * size // max(sum(sizes), 1) for size in sizes]
        submit = lambda number: self.sampled.remote(self.plan_ref, number, each[number])
        return [found for _, found in self.wait(submit, range(len(self.plan.tasks)), "sample")]

    def map(self, splitters: str, done: dict[int, Done], again: Iterable[int]) -> None:
        """Maps these tasks, then again each task that did not begin at a record."""
        numbers = list(again)
        splitters_ref = ray.put(splitters)
        while numbers:
            submit = lambda number: self.mapped.remote(
                self.plan_ref, number, self.starts.get(number, {}), splitters_ref, self.nodes.where, self.device
            )
            for number, found in self.wait(submit, numbers, "map"):
                done[number] = found
                # Only a stretch that certainly begins at a record can prove an error in the data.
                if found.error is not None and not any(
                    stretch.begin > self.plan.files[stretch.file].records for stretch in self.plan.tasks[number]
                ):
                    raise found.error
            numbers = self.misplaced(done)
        for _, found in sorted(done.items()):
            if found.error is not None:
                raise found.error

    def misplaced(self, done: dict[int, Done]) -> list[int]:
        """Returns the tasks with a stretch that does not begin where the previous stretch ends."""
        wrong = set()
        ends: dict[int, int | None] = {}
        for number in range(len(self.plan.tasks)):
            for at, stretch in enumerate(self.plan.tasks[number]):
                if number not in done:
                    return sorted(wrong)
                start, end = done[number].places[at]
                expected = ends.get(stretch.file)
                if expected is not None and start != expected:
                    self.starts.setdefault(number, {})[at] = expected
                    wrong.add(number)
                # The stretch after a misplaced one is checked in the next round.
                ends[stretch.file] = end if number not in wrong else None
        return sorted(wrong)

    def cancel(self) -> None:
        """Cancels the running tasks and waits for their end, so that no task writes a part later."""
        pending = list(self.pending)
        for reference in pending:
            with contextlib.suppress(Exception):
                # Without force, which can also end the driver.
                ray.cancel(reference)
        if pending:
            ray.wait(pending, num_returns=len(pending), timeout=60)




def sort_files(
    inputs: Path | Iterable[Path],
    output_dir: Path,
    *,
    key: Keys | None = None,
    to: str | None = None,
    parts: int | None = None,
    memory: int | None = None,
    threads: int = 1,
    num_gpus: float = 0,
    device: str | int | None = None,
    temp_dir: str | None = None,
    progress: bool = False,
    **options: Any,
) -> Manifest:
    """Sorts files on the connected Ray cluster, or on a local one, into parts in a folder.

    The concatenated parts (for CSV under one header) equal the output of :func:`gpusort.sort_file` byte for byte. The
    first 7 MiB of the inputs decide the types of keys for all inputs, and records with equal keys keep the order of the
    files.

    inputs
        Paths, patterns, folders, or URLs of any file system that fsspec supports; every node must be able to read
        them. One task reads a compressed file; several tasks read byte ranges of other files.
    output_dir
        A new or empty folder, or its URL. ``manifest.json`` describes the parts. ``_SUCCESS`` is written last; without
        it, the output is incomplete.
    parts
        The number of parts; by default, the number of tasks that read the inputs, but at most four for each core.
    memory
        The bytes for each task, which Ray reserves; by default, half of its cores' share of a node's memory.
    threads
        The number of cores for each task.
    num_gpus
        The share of a GPU for each sorting task; with 0, tasks sort on the CPU.
    device
        The device of sorting tasks, as for :class:`gpusort.Sorter`; by default ``"gpu"`` with ``num_gpus``, otherwise
        ``"cpu"``.
    temp_dir
        A folder on each node's disk for sorted runs, in total as large as the inputs; by default the system's.
    options
        The options of :func:`gpusort.sort_file` for the interpretation and the order of inputs.

    Raises TypeError for options that a cluster does not support, and FileExistsError for an output folder with files.
    """
    begin = time.monotonic()
    unknown = options.keys() & {"top", "argsort", "bgzf", "parquet_compression"}
    if unknown:
        raise TypeError(f"{', '.join(sorted(unknown))}: not supported by sort_files")
    if not ray.is_initialized():
        ray.init()
    memory = memory_of(threads) if memory is None else memory
    arguments = _arguments(key, {**options, "memory": memory})
    files = listed(inputs)
    folder = os.fspath(output_dir)
    folder = folder if "://" in folder else os.path.abspath(folder)
    make_folder(folder)
    if device is None:
        device = "gpu" if num_gpus else "cpu"
    bars, seconds = Bars(progress), {}
    nodes = Nodes(temp_dir)
    sort = None
    try:
        plan = planned(files, arguments, to, memory, threads)
        task = plan.task()
        form = plan.to or task.format[0]
        # Merges take little memory: enough parts to keep all cores busy to the end, and no more.
        parts = parts or min(len(plan.tasks), 4 * plan.cores)
        ask: dict[str, Any] = {"num_cpus": threads, "memory": memory}
        sort = Sort(plan, nodes, ask, device, bars)
        if num_gpus:
            sort.mapped = sort.mapped.options(num_gpus=num_gpus)
        samples = sort.sample(256 * parts)
        splitters, parts = task.splitters(samples, parts)
        nodes.refresh()
        seconds["sample"] = time.monotonic() - begin
        done: dict[int, Done] = {}
        sort.map(splitters, done, range(len(plan.tasks)))
        seconds["map"] = time.monotonic() - begin - seconds["sample"]
        elements = {element for found in done.values() for element, _ in found.runs}
        suffix = {"text": "txt", "lines": "txt"}.get(form, form)
        suffix = next(iter(elements - {None}), suffix) if form == "bin" else suffix
        names = [f"part-{number:05}.{suffix}" for number in range(parts)]
        results: dict[int, Written] = {}
        while len(results) < parts:
            lost: set[str] = set()
            sources = lambda part: [one for number in range(len(plan.tasks)) for one in done[number].sources(part, number)]
            submit = lambda part: sort.reduced.remote(
                sort.plan_ref, sources(part), nodes.where, join(folder, names[part])
            )
            for part, result in sort.wait(submit, [part for part in range(parts) if part not in results], "reduce"):
                if result.lost:
                    lost.update(result.lost)
                else:
                    results[part] = result
            if lost:
                # The runs of lost nodes are sorted again on other nodes.
                nodes.refresh(lost)
                gone = [number for number, found in done.items() if found.node in lost]
                sort.map(splitters, done, gone)
        seconds["reduce"] = time.monotonic() - begin - sum(seconds.values())
        manifest = manifest_of(plan, folder, form, done, results, names, seconds)
        seconds["total"] = time.monotonic() - begin
        put(folder, "manifest.json", json.dumps({"gpusort": VERSION, **dataclasses.asdict(manifest)}, indent=1))
        put(folder, "_SUCCESS", "")
        return manifest
    except BaseException:
        if sort is not None:
            sort.cancel()
        remove_parts(folder)
        raise
    finally:
        bars.end()
        nodes.close()


