"""Devices: a kept one, one by name, and a fork after it was started."""

import multiprocessing

import numpy as np
import pytest

import gpusort

GPUS = gpusort.devices()


def test_devices_are_told():
    assert all(isinstance(device, gpusort.Device) and device.number == at for at, device in enumerate(GPUS))
    assert GPUS, "no GPU and no software driver; apt-get install mesa-vulkan-drivers"


def test_a_sorter_keeps_its_device():
    sorter = gpusort.Sorter(device="cpu")
    x = np.array([3.0, 1.0, np.nan, 2.0])
    assert sorter.sort(x)[:3].tolist() == [1, 2, 3] and sorter.argsort(x).tolist() == [1, 3, 0, 2]
    assert sorter.top(x, 1).tolist() == [1] and sorter.argtop(x, 1).tolist() == [1]
    assert sorter.lexsort([x, x]).tolist() == [1, 3, 0, 2] and sorter.unique([1, 1]).tolist() == [1]
    assert sorter.rank([5, 4]).tolist() == [2, 1] and repr(sorter) == "<gpusort.Sorter on CPU>"
    with pytest.raises(ValueError, match="a Sorter keeps one device"):
        gpusort.Sorter("auto")
    assert gpusort.sort([2, 1], device="CPU").tolist() == gpusort.sort([2, 1], device=None).tolist() == [1, 2]
    with pytest.raises(ValueError, match='device is a name or a number; "" is neither'):
        gpusort.sort(x, device="")
    with pytest.raises(ValueError, match="device is a number from 0, not -1"):
        gpusort.sort(x, device=-1)
    with pytest.raises(TypeError, match="device is a name, a number or a Sorter, not float"):
        gpusort.sort(x, device=1.5)


def test_sorts_on_a_gpu_are_those_on_the_cpu():
    sorter = gpusort.Sorter(GPUS[0].number)
    assert sorter.name == GPUS[0].name
    random = np.random.default_rng(3)
    for dtype in ("u1", "f2", "i4", "f4", "u8", "f8"):
        x = random.integers(0, 1 << 63, 3000, dtype=np.uint64).astype(f"u{dtype[1]}").view(dtype)
        for options in ({}, {"descending": True, "nulls": "first"}):
            cpu = {"device": "cpu", **options}
            assert gpusort.sort(x, **cpu).tobytes() == sorter.sort(x, **options).tobytes(), dtype
            assert np.array_equal(gpusort.argsort(x, **cpu), sorter.argsort(x, **options)), dtype
            assert np.array_equal(gpusort.argtop(x, 9, **cpu), sorter.argtop(x, 9, **options)), dtype
            rows = x.reshape(3, 1000)
            assert gpusort.sort(rows, **cpu).tobytes() == sorter.sort(rows, **options).tobytes(), dtype
    keys = [random.integers(0, 9, 3000), random.standard_normal(3000)]
    assert np.array_equal(gpusort.lexsort(keys, device="cpu"), sorter.lexsort(keys))


def child(queue):
    try:
        gpusort.sort([2, 1], device=GPUS[0].number)
    except RuntimeError as error:
        queue.put(str(error))
    queue.put(gpusort.sort([2, 1]).tolist())


def test_a_fork_after_the_start_is_an_error_that_says_so():
    gpusort.sort([2, 1], device=GPUS[0].number)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    message = queue.get(timeout=60)
    assert "forked after the GPU was started" in message and '"spawn"' in message
    assert queue.get(timeout=60) == [1, 2]
    process.join()
