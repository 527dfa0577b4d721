"""RankingData: what goes in comes out by query, and back in the caller's order; nothing can be changed."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.data.ranking_data import RankingData
from rankloom.data.texts import Texts
from rankloom.errors import InputError
from twins.data_examples import queries_twin, ranking_data

X = np.array([[10.0], [20], [30], [40]])
QID = ["b", "a", "b", "a"]


def small(**more):
    return RankingData(X, [0, 1, 2, 3], QID, **more)


def table(data):
    return data.X.toarray() if data.is_sparse else data.X


def test_by_hand():
    data = small(doc_ids=["w", "x", "y", "z"], weights=[1, 2, 3, 4], query_weights={"a": 5, "b": 6})
    assert data.X.ravel().tolist() == [10, 30, 20, 40]
    assert data.y.tolist() == [0, 2, 1, 3]
    assert data.qids.tolist() == ["b", "a"]
    assert data.offsets.tolist() == [0, 2, 4]
    assert data.order.tolist() == [0, 2, 1, 3]
    assert list(data.doc_ids) == ["w", "y", "x", "z"]
    assert data.weights.tolist() == [1, 3, 2, 4]
    assert data.query_weights.tolist() == [6, 5]
    assert (data.n_rows, data.n_queries, data.n_features, data.nnz, len(data)) == (4, 2, 1, 4, 4)
    assert data.lengths.tolist() == [2, 2]
    assert data.in_caller_order(data.X.ravel()).tolist() == X.ravel().tolist()
    assert data.in_query_order([0, 1, 2, 3]).tolist() == data.y.tolist()


@given(ranking_data(), st.data())
@settings(max_examples=60)
def test_every_row_is_found_where_the_order_says(data, draw):
    order = np.arange(data.n_rows) if data.order is None else data.order
    assert sorted(order) == list(range(data.n_rows))
    values = np.arange(data.n_rows * 2).reshape(-1, 2)
    assert (data.in_caller_order(data.in_query_order(values)) == values).all()
    assert (data.in_query_order(data.in_caller_order(values)) == values).all()
    for query in range(data.n_queries):
        rows = order[data.offsets[query] : data.offsets[query + 1]]
        assert (np.diff(rows) > 0).all()


@given(ranking_data(), st.data())
@settings(max_examples=60)
def test_take_gives_the_rows_of_each_query(data, draw):
    chosen = draw.draw(st.lists(st.integers(0, data.n_queries - 1), unique=True))
    taken = data.take(chosen)
    assert taken.qids.tolist() == data.qids[chosen].tolist()
    assert taken.order is None
    rows = [row for query in chosen for row in range(data.offsets[query], data.offsets[query + 1])]
    np.testing.assert_array_equal(table(taken), table(data)[rows])
    assert taken.lengths.tolist() == data.lengths[chosen].tolist()
    for name in ("y", "weights", "doc_ids", "comments"):
        before, after = getattr(data, name), getattr(taken, name)
        assert (after is None) == (before is None)
        if before is not None:
            assert list(after) == [before[row] for row in rows]
    if data.query_weights is not None:
        assert taken.query_weights.tolist() == data.query_weights[chosen].tolist()


@given(ranking_data(), st.integers(1, 10))
@settings(max_examples=60)
def test_blocks_are_all_queries_in_turn(data, rows):
    blocks = list(data.blocks(rows))
    assert all(block.n_rows <= rows or block.n_queries == 1 for block in blocks)
    assert [qid for block in blocks for qid in block.qids] == data.qids.tolist()
    np.testing.assert_array_equal(np.concatenate([table(block) for block in blocks]), table(data))


@pytest.mark.parametrize(
    "queries", [slice(1, 3), [1, 2], np.array([False, True, True, False]), [-3, -2], range(1, 3)]
)
def test_a_contiguous_range_shares_memory(queries):
    dense = RankingData(
        np.arange(8, dtype=np.float32).reshape(8, 1), np.arange(8.0), np.repeat([4, 3, 2, 1], 2)
    )
    taken = dense.take(queries)
    assert taken.qids.tolist() == [3, 2]
    assert taken.y.tolist() == [2, 3, 4, 5]
    assert np.shares_memory(taken.X, dense.X)
    assert np.shares_memory(taken.y, dense.y)
    sparse = RankingData(sp.csr_array(dense.X), None, np.repeat([4, 3, 2, 1], 2))
    assert np.shares_memory(sparse.take(queries).values, sparse.values)


def test_take_in_other_orders():
    data = small()
    assert data.take(slice(None, None, -1)).qids.tolist() == ["a", "b"]
    assert data.take(1).qids.tolist() == ["a"]
    assert data.take([]).n_rows == 0
    assert data.take([False, False]).n_queries == 0
    assert data.take(slice(None)).order is None


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ([2], "below the number of queries, 2, got 2"),
        ([-3], "got -3"),
        ([0, 0], "all different, got one of them twice"),
        ([0, -2], "all different"),
        ([True], r"one entry per query \(2\), got shape \(1,\)"),
        ([0.5], "a slice, whole numbers or a mask, got float64"),
        (["a"], "a slice, whole numbers or a mask"),
        ([[0]], r"of shape \(1, 1\)"),
    ],
)
def test_take_refuses(queries, message):
    with pytest.raises(InputError, match=message):
        small().take(queries)


def test_nothing_can_be_changed():
    data = small(weights=[1, 1, 1, 1], query_weights=[1, 1])
    for name in ("y", "X", "n_rows", "anything", "_parts"):
        with pytest.raises(AttributeError, match=f"RankingData is immutable: {name} cannot be set"):
            setattr(data, name, 1)
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del data.y
    sparse = RankingData(sp.csr_array(X), None, QID)
    arrays = [
        getattr(data, name) for name in ("X", "y", "offsets", "qids", "order", "weights", "query_weights")
    ]
    for array in [*arrays, sparse.X.data, sparse.columns, sparse.row_offsets]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_callers_arrays_stay_writable():
    mine = np.ones((2, 1), dtype=np.float32)
    RankingData(mine)
    mine[0] = 2


@given(ranking_data())
@settings(max_examples=40)
def test_pickles_and_copies_are_equal(data):
    again = pickle.loads(pickle.dumps(data))
    assert again == data
    assert not again.offsets.flags.writeable
    assert copy.copy(data) is data
    assert copy.deepcopy(data) is data
    assert again.fingerprint() == data.fingerprint()


def test_equality_sees_every_part():
    parts = {
        "doc_ids": list("wxyz"),
        "comments": list("stuv"),
        "weights": np.ones(4),
        "query_weights": np.ones(2),
    }
    parts["feature_names"] = ["x"]
    data = small(**parts)
    assert data == small(**parts)
    for name in parts:
        assert data != small(**{**parts, name: None})
    assert data != small(**{**parts, "doc_ids": list("wxyy")})
    assert data != small(**{**parts, "weights": [1, 1, 1, 2]})
    assert data != RankingData(X, [0, 1, 2, 9], QID, **parts)
    assert data != RankingData(X + 1, [0, 1, 2, 3], QID, **parts)
    assert data != RankingData(sp.csr_array(X), [0, 1, 2, 3], QID, **parts)
    assert data != data.take(slice(None))
    assert data != "data"
    assert small() == small(doc_ids=None)
    assert RankingData([[np.nan]], allow_missing=True) == RankingData([[np.nan]], allow_missing=True)
    with pytest.raises(TypeError):
        hash(data)


def test_texts_are_as_good_as_strings():
    packed, plain = (
        small(doc_ids=Texts.from_strings(["w", "x", "", "z"])),
        small(doc_ids=["w", "x", None, "z"]),
    )
    assert packed == plain
    assert isinstance(packed.doc_ids, Texts)
    assert list(packed.take([1]).doc_ids) == ["x", "z"]
    assert small(doc_ids=[1, 2, 3, 4]) == small(doc_ids=np.array(["1", "2", "3", "4"]))


def test_no_labels_and_no_queries():
    data = RankingData(X)
    assert data.y is None
    assert data.qids.tolist() == [0]
    assert data.order is None
    assert data.offsets.tolist() == [0, 4]


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (3, 0), (0, 0)])
def test_edges_of_size(shape):
    for table in (np.zeros(shape), sp.csr_array(shape)):
        data = RankingData(table, np.zeros(shape[0]), ["q"] * shape[0])
        assert (data.n_rows, data.n_features) == shape
        assert data.n_queries == min(1, shape[0])
        assert data.take(slice(None)) == data
        assert list(data.blocks()) == [data][: data.n_queries]
        assert repr(data).startswith("RankingData(")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (small(doc_ids=[*"wxyz"]), "4 rows, 2 queries, 1 feature (dense), 2 rows a query, "
         "labels 0 to 3, doc_ids"),
        (RankingData(np.ones((1, 2))), "1 row, 1 query, 2 features (dense), 1 row a query, no labels"),
        (
            RankingData(sp.eye_array(1200), np.ones(1200), [1] * 1000 + [2] * 200, weights=np.ones(1200)),
            "1,200 rows, 2 queries, 1,200 features (sparse, 1,200 values), 200 to 1,000 rows a query, "
            "labels 1, weights",
        ),
        (RankingData(np.ones((0, 2)), []), "0 rows, 0 queries, 2 features (dense), labels"),
    ],
)  # fmt: skip
def test_repr_tells_the_essentials(data, expected):
    assert repr(data) == f"RankingData({expected})"


BAD = {
    "y too short": ({"y": [1]}, "y must have one value per row: X has 4 rows, y has 1"),
    "y NaN": (
        {"y": [0, np.nan, 0, 0]},
        r"y must be finite, got NaN \(a missing value\) at row 1 \(query a\)",
    ),
    "y None": ({"y": [0, 0, None, 0]}, r"y must be finite, got NaN .* at row 2 \(query b\)"),
    "y infinite": ({"y": [0, 0, 0, -np.inf]}, r"y must be finite, got -inf at row 3 \(query a\)"),
    "y strings": ({"y": list("abcd")}, r"y must be numbers, got 'a' at row 0 \(query b\)"),
    "y complex": ({"y": [1j, 0, 0, 0]}, "y must be numbers, got complex128"),
    "y dates": ({"y": np.zeros(4, dtype="datetime64[s]")}, "y must be numbers, got datetime64"),
    "y a table": ({"y": np.ones((4, 2))}, r"1-D\), got an array of shape \(4, 2\)"),
    "y pandas missing": ({"y": pd.Series([1, 2, None, 3], dtype="Int64")}, r"NaN .* at row 2 \(query b\)"),
    "qid too long": ({"qid": [1] * 5}, "qid must have one value per row: X has 4 rows, qid has 5"),
    "weights negative": (
        {"weights": [1, 1, -2, 1]},
        r"weights must be 0 or more, got -2 at row 2 \(query b\)",
    ),
    "weights NaN": (
        {"weights": [1, 1, 1, np.nan]},
        r"weights must be finite, got NaN .* at row 3 \(query a\)",
    ),
    "weights too short": ({"weights": [1]}, "weights must have one value per row"),
    "doc_ids too short": ({"doc_ids": ["a"]}, "doc_ids must have one value per row"),
    "doc_ids floats": ({"doc_ids": [0.5, 1, 2, 3]}, "doc_ids must be texts, got float64"),
    "doc_ids objects": ({"doc_ids": ["a", "b", "c", 0.5]}, "doc_ids must be texts, got float at row 3: 0.5"),
    "query_weights per row": ({"query_weights": np.ones(4)}, r"order of first appearance \(2\), got 4"),
    "query_weights negative": ({"query_weights": [1, -1]}, "got -1 at query 'a'"),
    "query_weights unknown": ({"query_weights": {"b": 1}}, "must have every qid, got nothing for 'a'"),
    "query_weights a number": ({"query_weights": 1.0}, "one number per query or a mapping"),
    "names too few": ({"feature_names": []}, "one name per column: X has 1, got 0 names"),
    "names a string": ({"feature_names": "x"}, "a sequence of names, got str: 'x'"),
    "X NaN": (
        {"X": [[1], [np.nan], [1], [1]]},
        r"X must be finite, got NaN .* at row 1 \(query a\), column 0",
    ),
    "X one row": ({"X": [1.0, 2, 3, 4]}, "must be a table"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_refused_with_its_place(case):
    arguments, message = BAD[case]
    with pytest.raises(InputError, match=message):
        RankingData(**{"X": X, "y": [0, 1, 2, 3], "qid": QID, **arguments})


def test_names_must_be_different():
    with pytest.raises(InputError, match="feature_names must be all different, got 'a' twice"):
        RankingData(np.ones((1, 3)), feature_names=["a", "b", "a"])


def test_orders_of_other_lengths_are_refused():
    with pytest.raises(InputError, match="per_row must have one value per row: X has 4 rows, per_row has 1"):
        small().in_caller_order([1])
    with pytest.raises(InputError, match="per_row"):
        small().in_query_order([1])
    with pytest.raises(InputError, match="rows must be a whole number from 1, got 0"):
        list(small().blocks(0))


@pytest.mark.parametrize(
    "y", [[True, False], np.array([1, 0], dtype=np.int8), pd.Series([True, False]), [1.0, 0]]
)
def test_labels_of_many_kinds(y):
    data = RankingData(np.ones((2, 1)), y)
    assert data.y.dtype == np.float64
    assert data.y.tolist() == [1, 0]


def test_from_csr_shares_memory_and_trusts_when_told():
    values, columns, edges = (
        np.ones(2, dtype=np.float32),
        np.array([0, 7], dtype=np.uint32),
        np.array([0, 1, 2]),
    )
    data = RankingData.from_csr(values, columns, edges, 8, [1, 2], ["a", "b"], doc_ids=["x", "y"])
    assert np.shares_memory(data.values, values)
    assert np.shares_memory(data.columns, columns)
    assert data.X.toarray()[1, 7] == 1
    with pytest.raises(InputError, match="below n_features=3, got 7"):
        RankingData.from_csr(values, columns, edges, 3)
    assert RankingData.from_csr(values, columns, edges, 3, trusted=True).n_features == 3


def test_with_names():
    data = small().with_names(["x"])
    assert data.feature_names == ("x",)
    assert data.with_names(None) == small()
    assert np.shares_memory(data.X, data.with_names(None).X)


def test_queries_twin_is_as_simple_as_it_looks():
    assert queries_twin(["b", "a", "b"]) == {"b": [0, 2], "a": [1]}
