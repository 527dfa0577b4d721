"""Features from any table: the numbers that NumPy and SciPy have, and clear words for what cannot be one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rankloom.data.features import check_csr, features_from, features_from_csr, row_steps
from rankloom.data.sparse import as_csr_array
from rankloom.errors import InputError
from twins.data_examples import floats32

FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]


def test_a_ready_array_is_not_copied():
    table = np.ones((3, 2), dtype=np.float32)
    assert np.shares_memory(features_from(table).values, table)
    matrix = sp.csr_array(table)
    features = features_from(matrix)
    assert np.shares_memory(features.values, matrix.data)
    assert np.shares_memory(features.columns, matrix.indices)
    again = as_csr_array(features)
    assert np.shares_memory(again.data, matrix.data)
    assert np.shares_memory(again.indices, matrix.indices)
    assert (again.toarray() == table).all()


@pytest.mark.parametrize(
    "table",
    [
        [[1, 2], [3, 4]],
        np.asfortranarray([[1.0, 2], [3, 4]]),
        np.array([[1, 9, 2, 9], [3, 9, 4, 9]], dtype=np.int8)[:, ::2],
        np.array([[1, 2], [3, 4]], dtype=object),
        np.array([[1, 2], [3, 4]], dtype=np.float16),
        np.matrix([[1, 2], [3, 4]]),
    ],
)
def test_dense_tables_of_many_kinds(table):
    values = features_from(table).values
    assert values.dtype == np.float32
    assert values.flags.c_contiguous
    assert values.tolist() == [[1, 2], [3, 4]]


def test_booleans_are_numbers():
    assert features_from([[True, False]]).values.tolist() == [[1, 0]]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("is_array", [True, False])
def test_sparse_tables_of_any_format(kind, is_array):
    dense = np.array([[0, 1.5, 0], [0, 0, 0], [2, 0, -3]])
    matrix = (sp.csr_array if is_array else sp.csr_matrix)(dense).asformat(kind)
    features = features_from(matrix)
    assert features.values.tolist() == [1.5, 2, -3]
    assert features.columns.tolist() == [1, 0, 2]
    assert features.row_offsets.tolist() == [0, 1, 1, 3]
    assert (features.values.dtype, features.columns.dtype, features.row_offsets.dtype) == ("f4", "u4", "i8")


def test_unsorted_columns_are_sorted_and_duplicates_summed_in_a_copy():
    matrix = sp.csr_array((np.array([1.0, 2, 3]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    features = features_from(matrix)
    assert features.columns.tolist() == [0, 2]
    assert features.values.tolist() == [2, 4]
    assert matrix.indices.tolist() == [2, 0, 2]


@given(hnp.arrays(np.float32, st.tuples(st.integers(0, 8), st.integers(0, 4)), elements=floats32), st.data())
def test_rows_and_gather_are_slicing_and_indexing(table, data):
    n_rows = len(table)
    chosen = np.array(
        data.draw(st.lists(st.integers(0, max(0, n_rows - 1)), max_size=9 if n_rows else 0)), dtype=int
    )
    start, stop = sorted(data.draw(st.tuples(st.integers(0, n_rows), st.integers(0, n_rows))))
    for features in (features_from(table), features_from(sp.csr_array(table))):
        dense = (lambda f: f.values) if features.columns is None else (lambda f: as_csr_array(f).toarray())
        np.testing.assert_array_equal(dense(features.rows(start, stop)), table[start:stop])
        np.testing.assert_array_equal(dense(features.gather(chosen)), table[chosen])


def test_gather_in_steps_is_gather_at_once(monkeypatch):
    matrix = sp.random_array((50, 20), density=0.4, format="csr", rng=0, dtype=np.float32)
    rows = np.random.default_rng(0).permutation(50)
    monkeypatch.setattr("rankloom.data.features._ENTRIES_PER_STEP", 7)
    assert (as_csr_array(features_from(matrix).gather(rows)) != matrix[rows]).nnz == 0


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 12))
def test_row_steps_cover_all_rows_once_and_hold_no_more_than_asked(lengths, size):
    edges = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    steps = row_steps(edges, size)
    assert [row for first, last in steps for row in range(first, last)] == list(range(len(lengths)))
    assert all(last == first + 1 or edges[last] - edges[first] <= size for first, last in steps)


def test_missing_values_only_where_allowed():
    table = np.array([[1, 2], [3, np.nan]])
    with pytest.raises(InputError, match=r"got NaN .* at row 1, column 1 .*allow_missing=True"):
        features_from(table)
    assert np.isnan(features_from(table, allow_missing=True).values[1, 1])
    with pytest.raises(InputError, match="got inf at row 0, column 0"):
        features_from(np.array([[np.inf, np.nan]]), allow_missing=True)
    assert np.isnan(features_from([[1.0, None]], allow_missing=True).values[0, 1])
    masked = np.ma.masked_array([[1.0, 2.0]], [[False, True]])
    with pytest.raises(InputError, match=r"NaN .* at row 0, column 1"):
        features_from(masked)


def test_many_infinities_cannot_cancel_out():
    with pytest.raises(InputError, match="got inf at row 0, column 0"):
        features_from([[np.inf, -np.inf]])


def test_finite_values_whose_sum_overflows_are_fine():
    assert features_from(np.full((3, 3), 3e38)).values[0, 0] == np.float32(3e38)


BAD = {
    "1-D": ([1.0, 2.0], r"shape \(2,\); for a single feature pass X.reshape\(-1, 1\)"),
    "3-D": (np.ones((1, 1, 1)), r"got shape \(1, 1, 1\)"),
    "number": (3, r"got shape \(\)"),
    "None": (None, r"got shape \(\)"),
    "ragged": ([[1], [1, 2]], "rows of different lengths"),
    "complex": ([[1j]], "real numbers, got complex128"),
    "strings": ([["a"]], "real numbers, got <U1"),
    "string objects": (np.array([[1, "a"]], dtype=object), "X, column 1, must be numbers, got 'a' at row 0"),
    "dates": (np.array([["2020-01-01"]], dtype="datetime64[D]"), "real numbers, got datetime64"),
    "too large": ([[1.0, 1e39]], r"fit float32 \(up to 3.4e38\), got 1e\+39 at row 0, column 1"),
    "sparse too large": (sp.csr_array([[0, 1e39]]), r"fit float32 .* got 1e\+39 at row 0, column 1"),
    "sparse NaN": (sp.csr_array([[0, 0], [0, np.nan]]), "NaN .* at row 1, column 1"),
    "sparse complex": (sp.csr_array([[1j]]), "real numbers, got complex128"),
    "sparse 1-D": (sp.coo_array([1.0, 2.0]), r"got shape \(2,\)"),
    "sparse too wide": (sp.coo_array((1, 2**31)), "from 0 to 2,147,483,647, got 2,147,483,648"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_features_is_refused(case):
    X, message = BAD[case]
    with pytest.raises(InputError, match=message):
        features_from(X)


def csr(values=(1, 2), columns=(0, 1), row_offsets=(0, 2), n_features=2):
    features = features_from_csr(np.array(values), np.array(columns), np.array(row_offsets), n_features)
    check_csr(features)


BAD_CSR = {
    "columns too few": ({"columns": [0]}, r"columns must be as many as values \(2\), got 1"),
    "offsets end early": ({"row_offsets": [0, 1]}, r"from 0 to the number of values \(2\), got 0 to 1"),
    "offsets start late": ({"row_offsets": [1, 2]}, "got 1 to 2"),
    "no offsets": ({"row_offsets": []}, "got none"),
    "offsets fall": ({"row_offsets": [0, 2, 1, 2]}, "must not decrease, got 2 then 1 at row 1"),
    "column out of range": ({"n_features": 1}, "below n_features=1, got 1"),
    "columns fall": ({"columns": [1, 0]}, "must increase within a row, got 0 out of place in row 0"),
    "column twice": ({"columns": [1, 1], "row_offsets": [0, 0, 2]}, "got 1 out of place in row 1"),
    "too many features": ({"n_features": 2**31}, "from 0 to 2,147,483,647"),
}


@pytest.mark.parametrize("case", BAD_CSR)
def test_csr_arrays_that_do_not_fit_are_refused(case):
    arguments, message = BAD_CSR[case]
    with pytest.raises(InputError, match=message):
        csr(**arguments)


def test_csr_arrays_that_fit_are_taken():
    csr()
    csr(columns=[1, 0], row_offsets=[0, 1, 1, 2])
    csr(values=[], columns=[], row_offsets=[0, 0], n_features=0)
