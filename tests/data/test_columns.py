"""One column of anything, and the checks that all columns share."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloom.data.columns import (
    all_finite,
    as_column,
    as_numbers,
    as_objects,
    describe,
    frozen,
    is_missing,
    number_column,
    row_namer,
    weight_column,
)
from rankloom.errors import InputError


@given(st.lists(st.floats(width=32)))
def test_all_finite_is_what_it_says(values):
    assert all_finite(np.array(values, dtype=np.float32)) == bool(np.isfinite(values).all())


def test_missing_values_of_every_kind():
    import pandas as pd

    assert all(map(is_missing, [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT]))
    assert not any(map(is_missing, [0, "", "nan", False, np.int64(0), float("inf")]))


def test_rows_are_named_with_their_query_in_whatever_form_qids_came():
    for qid in (["a", "b"], np.array(["a", "b"])):
        assert row_namer(qid)(1) == "row 1 (query b)"
    assert row_namer(None)(1) == "row 1"
    assert row_namer("no column")(1) == "row 1"
    assert row_namer(["a"])(1) == "row 1"


def test_objects_that_are_numbers():
    array = as_objects([1, True, Decimal("0.5"), np.float32(2), None])
    numbers = as_numbers(array, "y")
    assert numbers[:4].tolist() == [1, 1, 0.5, 2]
    assert np.isnan(numbers[4])


@pytest.mark.parametrize("value", ["1", b"1", 1j, [1], object()])
def test_objects_that_are_none(value):
    with pytest.raises(InputError, match=r"y must be numbers, got .* at row 1"):
        as_numbers(as_objects([1, value]), "y")


def test_what_has_a_length_is_a_column():
    assert as_column(range(3), "y").tolist() == [0, 1, 2]
    assert as_column(np.ones((1, 3)), "y").shape == (3,)
    for bad in (iter([1]), 3, "abc", None):
        with pytest.raises(InputError, match="y must be a sequence with one value per row"):
            as_column(bad, "y")


def test_number_and_weight_columns():
    assert number_column([1, 2], "y", 2).dtype == np.float64
    assert weight_column([0, 2], "w", 2).tolist() == [0, 2]
    assert weight_column([], "w", 0).tolist() == []
    with pytest.raises(InputError, match="w must be 0 or more, got -1 at row 1"):
        weight_column([0, -1], "w", 2)


def test_describe_and_frozen():
    assert describe(float("nan")) == "NaN (a missing value)"
    assert describe(0.25) == "0.25"
    array = np.ones(2)
    with pytest.raises(ValueError, match="read-only"):
        frozen(array)[0] = 1
    assert array.flags.writeable
