"""The oracle must fail where something is wrong."""

import numpy as np
import oracle


def test_positions_of_the_oracle_are_those_of_numpy_where_numpy_has_an_order():
    random = np.random.default_rng(0)
    for dtype in oracle.NUMBERS + oracle.TIMES:
        array = oracle.elements(random, dtype, 50)
        if array.dtype.kind == "f":
            array = np.abs(np.nan_to_num(array))
        assert np.array_equal(oracle.positions(array), np.argsort(array, kind="stable"))


def test_a_wrong_order_is_told():
    assert not np.array_equal(oracle.positions(np.array([1, 0])), [0, 1])
    assert oracle.positions(np.array([0.0, -0.0])).tolist() == [1, 0]
    assert oracle.positions(np.array([np.nan, 1.0]), nulls="first").tolist() == [0, 1]
    assert oracle.positions(np.array([1, 1, 2]), descending=True).tolist() == [2, 0, 1]
    assert not oracle.same(np.array([0.0]), np.array([-0.0]))
    assert not oracle.same(np.array([1], "i4"), np.array([1], "i8"))
