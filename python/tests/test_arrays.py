"""Arrays of NumPy: every type, axis, order and layout."""

import concurrent.futures
import gc
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import oracle
import pytest

import gpusort


def generated(random):
    """An array, and how it is asked to be sorted."""
    dtype = random.choice(oracle.NUMBERS + oracle.TIMES)
    ndim = int(random.integers(1, 4))
    most = {1: 150, 2: 14, 3: 6}[ndim]
    shape = tuple(int(size) for size in random.integers(0, most, ndim))
    array = oracle.elements(random, dtype, int(np.prod(shape))).reshape(shape)
    layout = random.integers(0, 7)
    if layout == 1:
        array = np.asfortranarray(array)
    elif layout == 2:
        array = array[::-1]
    elif layout == 3:
        array = array[..., ::2]
    elif layout == 4:
        array = array.astype(array.dtype.newbyteorder())
    elif layout == 5:
        array.flags.writeable = False
    elif layout == 6:
        # Contiguous, and not aligned.
        room = np.zeros(array.nbytes + 1, np.uint8)[1:]
        room[:] = np.frombuffer(array.tobytes(), np.uint8)
        array = room.view(array.dtype).reshape(shape)
    axis = None if random.integers(0, 5) == 0 else int(random.integers(-array.ndim, array.ndim))
    options = {"descending": bool(random.integers(0, 2)), "nulls": str(random.choice(["last", "first"]))}
    return array, axis, options


def test_forms_of_numpy():
    array = np.array([[3, 1, 2], [0, 5, 4]])
    assert gpusort.sort(array, 0).tolist() == np.sort(array, 0).tolist()
    assert gpusort.argsort(array, 1, kind="stable").tolist() == np.argsort(array, 1, kind="stable").tolist()
    assert gpusort.sort(array, None, kind="quicksort").tolist() == [0, 1, 2, 3, 4, 5]
    assert gpusort.top(array, k=1).tolist() == [[1], [0]] and gpusort.argtop(array[0], k=2).tolist() == [1, 2]
    with pytest.raises(ValueError, match="kind is quicksort, mergesort, heapsort or stable, not 'bogo'"):
        gpusort.sort(array, kind="bogo")
    with pytest.raises(TypeError, match="order"):
        gpusort.sort(array, order="x")


def test_generated_arrays():
    random = np.random.default_rng(int(os.environ.get("GPUSORT_SEED", "42")))
    for case in range(oracle.CASES):
        array, axis, options = generated(random)
        before = array.copy()
        note = f"case {case}: {array.dtype} {array.shape} axis={axis} {options}"
        expected = oracle.along(array, axis, lambda row: oracle.positions(row, **options))
        found, positions = gpusort.sort(array, axis=axis, **options), gpusort.argsort(array, axis=axis, **options)
        assert found.dtype == array.dtype and positions.dtype == np.int64, note
        source = array.ravel() if axis is None else array
        of_axis = -1 if axis is None else axis
        if expected is None or expected.size == 0:
            assert found.shape == positions.shape == source.shape, note
            continue
        assert np.array_equal(positions, expected), note
        right = np.take_along_axis(source, expected, of_axis)
        assert oracle.same(found, right), note
        if not options["descending"] and options["nulls"] == "last":
            np.testing.assert_array_equal(found, np.sort(array, axis=axis), note)
        k = int(random.integers(0, found.shape[of_axis] + 2))
        first = np.moveaxis(np.moveaxis(right, of_axis, 0)[:k], 0, of_axis)
        assert oracle.same(gpusort.top(array, k, axis=axis, **options), first), note
        first = np.moveaxis(np.moveaxis(expected, of_axis, 0)[:k], 0, of_axis)
        assert np.array_equal(gpusort.argtop(array, k, axis=axis, **options), first), note
        assert gpusort.is_sorted(found, axis=of_axis, **options), note
        is_so = np.array_equal(expected, np.sort(expected, axis=of_axis))
        assert gpusort.is_sorted(source, axis=of_axis, **options) == is_so, note
        assert oracle.same(array, before), note


def test_generated_unique_and_rank():
    random = np.random.default_rng(43)
    for case in range(oracle.CASES // 2):
        array, _, _ = generated(random)
        note = f"case {case}: {array.dtype} {array.shape}"
        values, index, inverse, counts = gpusort.unique(
            array, return_index=True, return_inverse=True, return_counts=True
        )
        flat = array.ravel()
        right = np.unique(flat, return_index=True, return_counts=True)
        np.testing.assert_array_equal(values, right[0], note)
        np.testing.assert_array_equal(index, right[1], note)
        np.testing.assert_array_equal(counts, right[2], note)
        np.testing.assert_array_equal(values[inverse], array, note)
        np.testing.assert_array_equal(gpusort.unique(array, return_counts=True)[1], right[2], note)
        ranks = {method: gpusort.rank(array, method=method).ravel() for method in ("min", "max", "dense")}
        number = inverse.ravel()
        ends = np.cumsum(counts)
        np.testing.assert_array_equal(ranks["dense"], number + 1, note)
        np.testing.assert_array_equal(ranks["max"], ends[number] if flat.size else [], note)
        np.testing.assert_array_equal(ranks["min"], (ends - counts + 1)[number] if flat.size else [], note)
        average = gpusort.rank(array).ravel()
        np.testing.assert_array_equal(average, (ranks["min"] + ranks["max"]) / 2, note)
        ordinal = gpusort.rank(array, method="ordinal").ravel()
        np.testing.assert_array_equal(np.sort(ordinal), np.arange(1, flat.size + 1), note)


def test_generated_lexsort():
    random = np.random.default_rng(44)
    for case in range(oracle.CASES // 2):
        rows, count = int(random.integers(0, 200)), int(random.integers(1, 5))
        keys = []
        for _ in range(count):
            key = oracle.elements(random, random.choice(oracle.NUMBERS + oracle.TIMES), rows)
            if key.dtype.kind == "f":
                # NumPy takes these for equal, and the library orders them.
                key[key == 0] = 0
                key[np.isnan(key)] = np.nan
            keys.append(key)
        found = gpusort.lexsort(keys)
        assert np.array_equal(found, np.lexsort(keys[::-1])), f"case {case}: {[key.dtype for key in keys]}"
        descending = [bool(flag) for flag in random.integers(0, 2, count)]
        nulls = [str(place) for place in random.choice(["last", "first"], count)]
        ranks = [
            gpusort.rank(key, method="dense", descending=flag, nulls=place)
            for key, flag, place in zip(keys, descending, nulls, strict=True)
        ]
        found = gpusort.lexsort(keys, descending=descending, nulls=nulls)
        assert np.array_equal(found, np.lexsort(ranks[::-1])), f"case {case}"


@pytest.mark.parametrize("dtype", oracle.NUMBERS + oracle.TIMES)
def test_sizes_around_every_threshold(dtype):
    random = np.random.default_rng(45)
    for size in (0, 1, 2, 1023, 1024, 1025, 16383, 16384, 70_000, 300_007):
        array = oracle.elements(random, dtype, size)
        if array.dtype.kind == "f":
            array = np.abs(np.nan_to_num(array))
        right = np.argsort(array, kind="stable")
        assert np.array_equal(gpusort.argsort(array), right), size
        assert oracle.same(gpusort.sort(array), array[right]), size
        assert oracle.same(gpusort.top(array, size // 5), array[right][: size // 5]), size
        assert np.array_equal(gpusort.argtop(array, size // 5), right[: size // 5]), size
        for threads in (1, 3):
            assert oracle.same(gpusort.sort(array, threads=threads), array[right]), size
        rows = np.tile(array, 3).reshape(3, size)
        assert oracle.same(gpusort.sort(rows), np.tile(array[right], 3).reshape(3, size)), size


def test_what_comes_in_is_what_goes_out():
    assert isinstance(gpusort.sort((3, 1, 2)), np.ndarray)
    assert gpusort.sort(range(3, 0, -1)).tolist() == [1, 2, 3]
    assert gpusort.sort([]).dtype == np.float64
    assert gpusort.sort(np.array([[3, 1], [2, 0]]), axis=0).tolist() == [[2, 0], [3, 1]]
    assert gpusort.sort([True, False]).dtype == np.bool_

    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.array([2.0, 1.0])

    assert gpusort.sort(Wrapped()).tolist() == [1.0, 2.0]


def test_unique_has_the_first_of_each_as_it_is():
    assert str(gpusort.unique(np.array([-0.0]))) == "[-0.]"
    assert str(gpusort.unique(np.array([1.0, -0.0, 0.0]))) == "[-0.  1.]"
    assert str(gpusort.unique(np.array([0.0, -0.0]), return_counts=True)) == "(array([0.]), array([2]))"


def test_results_in_arrays_of_the_caller():
    x = np.array([3, 1, 2])
    out = np.empty(3, np.int64)
    assert gpusort.sort(x, out=out) is out and out.tolist() == [1, 2, 3] and x.tolist() == [3, 1, 2]
    assert gpusort.argsort(x, out=out) is out and out.tolist() == [1, 2, 0]
    assert gpusort.sort(x, out=x) is x and x.tolist() == [1, 2, 3]
    turned = np.asfortranarray([[3, 1], [2, 0]])
    for rows in (turned, np.ascontiguousarray(turned), turned[:, ::-1].copy()[:, ::-1]):
        for axis in (0, 1):
            right, found = np.sort(rows, axis=axis), rows.copy(order="K")
            assert gpusort.sort(found, axis=axis, out=found) is found and np.array_equal(found, right)
    wide = np.zeros((2, 6))
    gpusort.sort(np.array([[3.0, 1.0, 2.0]] * 2), out=wide[:, ::2])
    assert wide.tolist() == [[1, 0, 2, 0, 3, 0]] * 2
    with pytest.raises(ValueError, match=r"out has the shape \(2,\), the result \(3,\)"):
        gpusort.sort(x, out=np.empty(2, np.int64))
    with pytest.raises(TypeError, match="out is of float64, the result of int64"):
        gpusort.sort(x, out=np.empty(3))
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        gpusort.sort(x, out=x)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.array([1, "a", None], object), "arrays of objects are not supported; use x.astype(str)"),
        (["b", 1], "sequences of strings must be flat and of one type"),
        (np.array([1j]), "arrays of complex128 are not supported"),
        (np.zeros(2, np.longdouble), "at most 64 bits"),
        (np.zeros(2, [("a", "i4")]), "structured arrays are not supported; use lexsort"),
        (np.ma.array([1, 2], mask=[0, 1]), "masked arrays are not supported; use x.compressed"),
    ],
)
def test_what_has_no_order_is_refused_with_a_remedy(x, message):
    for call in (gpusort.sort, gpusort.argsort, gpusort.unique, lambda x: gpusort.top(x, 1)):
        with pytest.raises(TypeError, match=re.escape(message)):
            call(x)


def of_strings(random, count):
    """The same strings in each of NumPy's types, byte orders and layouts."""
    letters = np.array(list("ab\x01\x7f\xe9\xdfz\u00c0\u6f22\U0001f600"))
    longest = int(random.choice([0, 1, 3, 40]))
    texts = ["".join(random.choice(letters, random.integers(0, longest + 1))) for _ in range(count)]
    wide = np.array(texts, f"U{longest + 1}")
    narrow = np.array([text.encode() for text in texts], f"S{4 * longest + 1}")
    arrays = [wide, narrow, wide.astype(wide.dtype.newbyteorder()), wide.repeat(2)[::2], narrow.repeat(2)[::-2]]
    if hasattr(np.dtypes, "StringDType"):
        arrays.append(np.array(texts, np.dtypes.StringDType()))
    return arrays


@pytest.mark.parametrize("count", [0, 1, 2, 17, 1000])
def test_strings_are_sorted_as_numpy_sorts_them(count):
    random = np.random.default_rng(count)
    for x in [x for _ in range(5) for x in of_strings(random, count)]:
        positions = np.argsort(x, kind="stable")
        assert np.array_equal(gpusort.argsort(x), positions)
        result = gpusort.sort(x)
        assert result.dtype == x.dtype and np.array_equal(result, x[positions])
        assert np.array_equal(gpusort.top(x, 3), x[positions[:3]])
        assert gpusort.is_sorted(result) and gpusort.is_sorted(x) == np.array_equal(result, x)
        backwards = gpusort.sort(x, descending=True)
        assert np.array_equal(backwards, result[::-1]) and gpusort.is_sorted(backwards, descending=True)
        expected = np.unique(x, return_index=True, return_counts=True)
        values, index, inverse, counts = gpusort.unique(x, return_index=True, return_inverse=True, return_counts=True)
        assert np.array_equal(values, expected[0]) and np.array_equal(values[inverse], x)
        assert np.array_equal(index, expected[1]) and np.array_equal(counts, expected[2])
        assert np.array_equal(gpusort.rank(x, method="dense"), inverse + 1)
        other = random.integers(0, 3, count)
        assert np.array_equal(gpusort.lexsort([other, x]), positions[np.argsort(other[positions], kind="stable")])
        copy = x.copy()
        assert gpusort.sort(copy, out=copy) is copy and np.array_equal(copy, result)


def test_forms_of_strings():
    assert gpusort.sort(["b", "a"]).tolist() == ["a", "b"]
    assert gpusort.sort(np.array([["b", "a"]]), axis=None).tolist() == ["a", "b"]
    grid = np.array([["b", "a"], ["b", "c"]])
    with pytest.raises(ValueError, match="have one dimension here, not 2; sort each row, or use axis=None"):
        gpusort.sort(grid)
    assert np.array_equal(gpusort.unique(grid, return_inverse=True)[1], [[1, 0], [1, 2]])
    assert np.array_equal(gpusort.rank(grid, method="dense"), [[2, 1], [2, 3]])
    assert not gpusort.is_sorted(grid, axis=None) and gpusort.is_sorted(np.sort(grid, axis=None))
    for call in (gpusort.sort, gpusort.argsort, gpusort.is_sorted):
        with pytest.raises(np.exceptions.AxisError):
            call(np.array("b"))
        with pytest.raises(np.exceptions.AxisError):
            call(np.array(["b"]), axis=1)
    assert gpusort.sort(list(np.array(["b", "a"]))).tolist() == ["a", "b"]
    with pytest.raises(TypeError, match="masked arrays are not supported"):
        gpusort.sort(np.ma.array(["b", "a"], mask=[True, False]))
    if not hasattr(np.dtypes, "StringDType"):
        return
    for missing in (np.nan, None):
        x = np.array(["b", missing, "a"], np.dtypes.StringDType(na_object=missing))
        assert gpusort.argsort(x).tolist() == [2, 0, 1]
        assert gpusort.argsort(x, descending=True, nulls="first").tolist() == [1, 0, 2]


def test_tensors_on_a_gpu_are_refused_with_a_remedy():
    class Tensor:
        def __dlpack__(self):
            raise AssertionError("nobody asks for it")

        def __dlpack_device__(self):
            return (2, 0)

    class Cuda:
        __cuda_array_interface__ = {}

    for x in (Tensor(), Cuda()):
        with pytest.raises(TypeError, match=r"on a GPU; copy it to the host first, as in x\.cpu\(\)"):
            gpusort.sort(x)


def test_tensors_that_numpy_does_not_take_are_refused():
    class Tensor:
        dtype = "bfloat16"

        def __dlpack__(self, **options):
            raise BufferError("Unsupported dtype in DLTensor.")

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(TypeError, match="tensor of bfloat16 is not supported: Unsupported dtype"):
        gpusort.sort(Tensor())


def test_tensors_of_the_host_come_back_as_what_they_are():
    class Tensor:
        __module__ = "tensors"

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __array_namespace__(self):
            return Space

    class Space:
        @staticmethod
        def from_dlpack(x):
            return Tensor(np.from_dlpack(x))

    found = gpusort.sort(Tensor(np.array([3, 1, 2])))
    assert isinstance(found, Tensor) and found.array.tolist() == [1, 2, 3]
    assert gpusort.argsort(Tensor(np.array([3, 1, 2]))).array.tolist() == [1, 2, 0]


def test_wrong_arguments():
    with pytest.raises(np.exceptions.AxisError):
        gpusort.sort(np.zeros(3), axis=1)
    with pytest.raises(np.exceptions.AxisError):
        gpusort.sort(np.zeros((2, 2)), axis=2)
    with pytest.raises(np.exceptions.AxisError):
        gpusort.sort(np.array(5))
    assert gpusort.sort(np.array(5), axis=None).tolist() == [5]
    with pytest.raises(ValueError, match='nulls is "first" or "last", not \'middle\''):
        gpusort.sort([1], nulls="middle")
    with pytest.raises(ValueError, match="cannot be negative"):
        gpusort.top([1], -1)
    with pytest.raises(ValueError, match="no keys"):
        gpusort.lexsort([])
    with pytest.raises(ValueError, match="different lengths: 1, 2"):
        gpusort.lexsort([[1], [1, 2]])
    with pytest.raises(ValueError, match="2 keys, but 1 values of descending"):
        gpusort.lexsort([[1], [1]], descending=[True])
    with pytest.raises(ValueError, match="keys have one"):
        gpusort.lexsort([[[1]]])
    with pytest.raises(ValueError, match="method is average"):
        gpusort.rank([1], method="best")
    for threads in (0, -1):
        with pytest.raises(ValueError, match=f"threads is at least 1, not {threads}"):
            gpusort.sort([1], threads=threads)
    assert gpusort.sort(np.arange(5)[::-1], threads=100_000).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(TypeError, match="out is an array of NumPy, not list"):
        gpusort.sort([1], out=[0])
    with pytest.raises(TypeError, match="descending"):
        gpusort.sort([1], descending="asc")
    for nothing in (None, {1: 2}, {1, 2}, (number for number in [1])):
        with pytest.raises(TypeError, match="is not an array or a sequence of numbers"):
            gpusort.sort(nothing)
    with pytest.raises(TypeError, match="descending is one value, or one for each key, not 1"):
        gpusort.lexsort([[1]], descending=1)
    with pytest.raises(TypeError, match="unexpected keyword"):
        gpusort.sort([1], reverse=True)


def test_eight_threads_at_once():
    random = np.random.default_rng(46)
    arrays = [random.integers(0, 1000, size, dtype=np.int32) for size in (10, 2000, 50_000, 400_000)] * 8
    right = [np.argsort(array, kind="stable") for array in arrays]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for found, positions, array in zip(pool.map(gpusort.argsort, arrays), right, arrays, strict=True):
            assert np.array_equal(found, positions)
        for found, positions, array in zip(pool.map(gpusort.sort, arrays), right, arrays, strict=True):
            assert np.array_equal(found, array[positions])


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "float32", "uint64", "float64"])
def test_arrays_that_another_thread_writes_to(dtype):
    """The order of changed elements is undefined, but positions are a permutation, and no other memory changes."""
    pa = pytest.importorskip("pyarrow")
    random = np.random.default_rng(5)
    for n in [3_000, 40_000, 300_000]:
        x = random.integers(0, 1 << 16, n).astype(dtype)
        other = random.integers(0, 3, n)
        column = pa.Array.from_buffers(pa.from_numpy_dtype(dtype), n, [None, pa.py_buffer(x)])
        table = pa.table({"x": column, "other": other})
        done = threading.Event()

        def write():
            words = x.view(np.uint16)
            while not done.is_set():
                words[:: 1 + int(random.integers(0, 7))] = random.integers(0, 1 << 16)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(8):
                for positions in [gpusort.argsort(x), gpusort.lexsort((x, other)), gpusort.lexsort((other, x))]:
                    assert np.array_equal(np.sort(positions), np.arange(n))
                assert len(np.unique(gpusort.argtop(x, n // 9))) == n // 9
                assert len(gpusort.top(x, 10)) == 10 and len(gpusort.sort(x)) == n
                gpusort.sort(x, out=x)
                assert gpusort.sort_table(table, "x").num_rows == n
        finally:
            done.set()
            writer.join()


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system does not tell what is resident")
def test_no_call_leaks():
    arrow = pytest.importorskip("pyarrow").array([3, None, 1])
    calls = 50 * oracle.CASES
    x, y = np.arange(1000.0)[::-1].copy(), np.array(["2020", "NaT"], "M8[D]")

    def all_calls():
        gpusort.sort(x), gpusort.argsort(x), gpusort.top(x, 5), gpusort.sort(y), gpusort.lexsort([x, x])
        gpusort.sort(arrow), gpusort.argsort(arrow)
        try:
            gpusort.sort("text")
        except TypeError:
            pass

    for _ in range(calls // 80):
        all_calls()
    gc.collect()
    before = resident()
    for _ in range(calls // 8):
        all_calls()
    gc.collect()
    assert resident() - before < 8 << 20


def child(queue):
    x = np.arange(200_000)[::-1].copy()
    queue.put(bool(np.array_equal(gpusort.sort(x), np.arange(200_000))))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_process_sorts_as_well():
    # Its threads are not in the child.
    gpusort.sort(np.arange(200_000)[::-1].copy())
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert queue.get(timeout=60)
    process.join()
    assert process.exitcode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")
def interrupted(call: str) -> list[float]:
    """Seconds of a call, and from Ctrl-C in a later call to its exception; then whether the array has all elements."""
    program = f"""
import numpy as np, gpusort, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
whole = np.random.default_rng(1).integers(0, 1 << 32, 1 << 26, dtype=np.uint32)
x = whole.copy()
begin = time.time()
{call}
print(time.time() - begin, flush=True)
try:
    while True:
        x[:] = whole
        {call}
except KeyboardInterrupt:
    print(time.time(), flush=True)
assert gpusort.argsort(whole[:1 << 21]).size == 1 << 21
print(int(np.array_equal(gpusort.sort(x), gpusort.sort(whole))))
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    whole = float(process.stdout.readline())
    time.sleep(whole / 2)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    ended, are_all = (float(word) for word in process.stdout.read().split())
    assert process.wait() == 0
    return [whole, ended - sent, are_all]


def test_ctrl_c_ends_a_sort_of_an_array():
    whole, ended, _ = interrupted("gpusort.argsort(x)")
    # A whole sort takes several seconds on few cores, and the look for signals a moment.
    assert ended < max(1, whole / 2)


def test_ctrl_c_loses_no_element_of_a_sort_in_place():
    assert interrupted("gpusort.sort(x, out=x)")[2] == 1


def test_first_elements_are_in_order_either_way():
    assert gpusort.top([3, 1, 2], 2, sorted=False).tolist() == [1, 2]
    assert gpusort.argtop([3, 1, 2], 2, sorted=False).tolist() == [1, 2]


def test_subclasses_come_back_as_arrays():
    class Sub(np.ndarray):
        pass

    for call in (gpusort.sort, gpusort.argsort, lambda x: gpusort.top(x, 2)):
        assert type(call(np.array([2, 1]).view(Sub))) is np.ndarray
    with pytest.raises(TypeError, match="masked arrays are not supported; use x.compressed"):
        gpusort.sort(np.ma.masked_array([2, 1], [True, False]))
