"""Rows find their queries, as a dictionary of lists would have it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from rankloom.data.groups import expand_ranges, group_rows
from rankloom.errors import InputError
from twins.data_examples import qid_values, queries_twin


def check_against_twin(qids, groups):
    twin = queries_twin(qids)
    assert groups.qids.tolist() == list(twin)
    rows = np.arange(len(qids)) if groups.order is None else groups.order
    cut = [part.tolist() for part in np.split(rows, groups.offsets[1:-1])]
    assert (cut if twin else []) == list(twin.values())
    assert groups.offsets[0] == 0
    assert groups.offsets[-1] == len(qids)
    assert groups.offsets.dtype == np.int64
    already_grouped = [row for rows in twin.values() for row in rows] == list(range(len(qids)))
    assert (groups.order is None) == already_grouped


@given(qid_values)
def test_groups_are_those_of_a_dictionary(qids):
    check_against_twin(qids, group_rows(qids, len(qids)))


@pytest.mark.parametrize("spread", [1, 10**6, 2**55])
def test_many_shuffled_rows(spread):
    """More runs than 2^16 numbers of queries, so that the sort takes two passes."""
    generator = np.random.default_rng(0)
    qids = (generator.permutation(np.repeat(np.arange(70_000), 2)) - 35_000) * spread
    check_against_twin(qids.tolist(), group_rows(qids, len(qids)))


def test_by_hand():
    groups = group_rows(["b", "a", "b", "c", "a"], 5)
    assert groups.qids.tolist() == ["b", "a", "c"]
    assert groups.offsets.tolist() == [0, 2, 4, 5]
    assert groups.order.tolist() == [0, 2, 1, 4, 3]


def test_contiguous_rows_are_not_moved_though_ids_fall():
    groups = group_rows(np.array([9, 9, 2, 5, 5]), 5)
    assert groups.order is None
    assert groups.qids.tolist() == [9, 2, 5]


def test_no_qid_is_one_query_and_no_rows_are_none():
    assert group_rows(None, 3).offsets.tolist() == [0, 3]
    assert group_rows(None, 3).qids.tolist() == [0]
    assert group_rows(None, 0).offsets.tolist() == [0]
    assert group_rows([], 0).offsets.tolist() == [0]
    assert group_rows(np.array([], dtype=np.uint64), 0).qids.dtype == np.int64


STRINGS = ["b", "a", "b"]
KINDS = {
    "list": STRINGS,
    "tuple": tuple(STRINGS),
    "array of str": np.array(STRINGS),
    "array of objects": np.array(STRINGS, dtype=object),
    "array of bytes": np.array(STRINGS, dtype="S"),
    "objects that are bytes": np.array([b"b", b"a", b"b"], dtype=object),
    "variable strings": np.array(STRINGS, dtype=np.dtypes.StringDType()),
    "column": np.array(STRINGS).reshape(-1, 1),
    "pandas": pd.Series(STRINGS),
    "pandas index": pd.Index(STRINGS),
    "pandas category": pd.Series(STRINGS, dtype="category"),
    "pandas string": pd.Series(STRINGS, dtype="string"),
    "polars": pl.Series(STRINGS),
    "polars category": pl.Series(STRINGS, dtype=pl.Categorical),
    "polars enum": pl.Series(STRINGS, dtype=pl.Enum(["a", "b"])),
    "arrow": pa.array(STRINGS),
    "arrow chunks": pa.chunked_array([STRINGS[:1], STRINGS[1:]]),
    "arrow dictionary": pa.array(STRINGS).dictionary_encode(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_strings_of_any_kind(kind):
    groups = group_rows(KINDS[kind], 3)
    assert groups.qids.tolist() == ["b", "a"]
    assert [type(qid) for qid in groups.qids] == [str, str]
    assert groups.order.tolist() == [0, 2, 1]


NUMBERS = [7, -1, 7]
NUMBER_KINDS = {
    "list": NUMBERS,
    "int8": np.array(NUMBERS, dtype=np.int8),
    "whole floats": [7.0, -1.0, 7.0],
    "objects": np.array(NUMBERS, dtype=object),
    "pandas Int64": pd.Series(NUMBERS, dtype="Int64"),
    "pandas category of numbers": pd.Series(NUMBERS, dtype="category"),
    "polars": pl.Series(NUMBERS),
    "arrow dictionary of numbers": pa.array(NUMBERS).dictionary_encode(),
    "masked, none of them": np.ma.masked_array(NUMBERS, [False] * 3),
}


@pytest.mark.parametrize("kind", NUMBER_KINDS)
def test_numbers_of_any_kind(kind):
    groups = group_rows(NUMBER_KINDS[kind], 3)
    assert groups.qids.tolist() == [7, -1]
    assert groups.qids.dtype == np.int64


def test_numbers_beyond_int64_stay_exact():
    big = 2**64 - 1
    assert group_rows(np.array([big, 1, big], dtype=np.uint64), 3).qids.tolist() == [big, 1]
    assert group_rows([2**60 + 1, 2**60], 2).qids.tolist() == [2**60 + 1, 2**60]


BAD = {
    "None": (["a", None], "every row needs a qid, got None at row 1"),
    "NaN among strings": (np.array(["a", float("nan")], dtype=object), "needs a qid, got nan at row 1"),
    "NaN": ([1.0, float("nan")], "got NaN .a missing value. at row 1"),
    "infinite": ([1.0, float("inf")], "got inf at row 1"),
    "half": ([1.0, 1.5], "whole numbers or strings, got 1.5 at row 1"),
    "float too large to be exact": ([1.0, 1e17], "got 1e.17 at row 1"),
    "mixed": ([1, "a"], "all whole numbers or all strings, got int, str"),
    "pandas missing": (pd.Series([1, None], dtype="Int64"), "missing value.* at row 1"),
    "polars missing": (pl.Series(["a", None]), "got None at row 1"),
    "masked": (np.ma.masked_array([1, 2], [False, True]), "got None at row 1"),
    "dates": (np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"), "turn it into strings"),
    "complex": ([1j, 2j], "whole numbers or strings, got complex128"),
    "too large": ([2**70, 1], "must fit 64 bits"),
    "objects": (np.array([object(), object()], dtype=object), "got object"),
    "too short": ([1], "X has 2 rows, qid has 1"),
    "table": (np.ones((2, 2)), "1-D.*shape .2, 2."),
    "ragged": ([[1], [1, 2]], "lists of different lengths"),
    "text": ("ab", "a sequence with one value per row, got str"),
    "number": (3, "a sequence with one value per row, got int"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_an_id_is_refused(case):
    qid, message = BAD[case]
    with pytest.raises(InputError, match=message):
        group_rows(qid, 2)


def test_expand_ranges():
    ranges = expand_ranges(np.array([5, 0, 9]), np.array([2, 0, 3]))
    assert ranges.tolist() == [5, 6, 9, 10, 11]
    assert expand_ranges(np.array([], dtype=np.int64), np.array([], dtype=np.int64)).tolist() == []
