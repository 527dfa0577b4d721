"""Frames of any maker become the same data."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from rankloom.data.frames import from_frame
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from twins.data_examples import ranking_data

MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
COLUMNS = {
    "query_id": ["b", "a", "b"],
    "relevance": [0, 1, 2],
    "DocId": ["x", "y", None],
    "weight": [1.0, 2, 3],
    "query_weight": [5, 6, 5],
    "price": [1.5, 2, 3],
    "is_new": [True, False, True],
}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def test_usual_names_are_found_and_the_rest_are_features(make):
    data = from_frame(make(COLUMNS))
    expected = RankingData(
        np.array([[1.5, 1], [2, 0], [3, 1]]),
        [0, 1, 2],
        ["b", "a", "b"],
        doc_ids=["x", "y", ""],
        weights=[1, 2, 3],
        query_weights={"b": 5, "a": 6},
        feature_names=["price", "is_new"],
    )
    assert data == expected
    assert RankingData.from_frame(make(COLUMNS)) == expected


def test_columns_as_asked_for(make):
    frame = make({"group": [1, 1], "clicks": [3, 4], "a": [1, 2], "b": [3, 4]})
    data = from_frame(frame, qid="group", label="clicks", features=["b", "a"])
    assert data.X.tolist() == [[3, 1], [4, 2]]
    assert data.feature_names == ("b", "a")
    unlabelled = from_frame(frame, qid=None, label=None, features=["a"])
    assert unlabelled.y is None
    assert unlabelled.qids.tolist() == [0]
    kept = from_frame(make(COLUMNS), weight=None, query_weight=None, doc_id=None, features=["weight"])
    assert kept.weights is None
    assert kept.X.ravel().tolist() == [1, 3, 2]


def test_a_column_of_lists(make):
    frame = make({"qid": [1, 1, 2], "y": [1, 2, 3], "vector": [[1, 2], [3, 4], [5, 6]]})
    data = from_frame(frame)
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert data.feature_names is None
    assert from_frame(frame, features="vector") == data
    empty = from_frame(make({"qid": [1, 2], "y": [1, 2], "vector": [[], []]}))
    assert empty.X.shape == (2, 0)


@pytest.mark.parametrize(
    "vector",
    [
        pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2, 3, 4]), 2),
        pa.array([[1, 2], [3, 4]], type=pa.large_list(pa.float32())),
        pa.chunked_array([[[1, 2]], [[3, 4]]]),
        pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Float32, 2)),
        pd.Series([np.array([1, 2]), np.array([3, 4])]),
        pd.Series([[1, 2], [3, 4]], dtype=pd.ArrowDtype(pa.list_(pa.float32()))),
    ],
    ids=["fixed", "large", "chunked", "polars array", "arrays", "pandas of arrow"],
)
def test_lists_of_other_kinds(vector):
    maker = (
        pl.DataFrame
        if isinstance(vector, pl.Series)
        else pd.DataFrame
        if isinstance(vector, pd.Series)
        else pa.table
    )
    assert from_frame(maker({"qid": [1, 2], "y": [1, 2], "v": vector})).X.tolist() == [[1, 2], [3, 4]]


def test_frames_as_features(make):
    data = RankingData(make({"a": [1, 2], "b": [3, 4]}), [1, 0], ["q", "q"])
    assert data.feature_names == ("a", "b")
    assert data.X.tolist() == [[1, 3], [2, 4]]
    named = RankingData(make({"a": [1, 2]}), feature_names=["other"])
    assert named.feature_names == ("other",)


def test_pandas_columns_named_by_numbers():
    data = RankingData(pd.DataFrame(np.arange(6).reshape(3, 2)))
    assert data.X.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert data.feature_names == ("0", "1")


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "float64", "int64[pyarrow]", "boolean"])
def test_nullable_columns_of_pandas(dtype):
    values = [True, None, False] if dtype == "boolean" else [1, None, 0]
    frame = pd.DataFrame({"qid": [1, 1, 2], "y": [1, 2, 3], "f": pd.array(values, dtype=dtype)})
    with pytest.raises(InputError, match=r"NaN .* at row 1 \(query 1\) of feature column 'f'"):
        from_frame(frame)
    data = from_frame(frame, allow_missing=True)
    np.testing.assert_array_equal(data.X.ravel(), [1, np.nan, 0])


def test_nulls_of_any_maker(make):
    frame = make({"qid": [1, 1, 2], "y": [1, 2, 3], "f": [1, None, 0], "g": [True, None, False]})
    with pytest.raises(InputError, match="fill it in, or pass allow_missing=True"):
        from_frame(frame)
    np.testing.assert_array_equal(from_frame(frame, allow_missing=True).X, [[1, 1], [np.nan, np.nan], [0, 0]])
    for column in ("y", "qid"):
        with pytest.raises(InputError, match="at row 1"):
            from_frame(make({"qid": [1, 2, 3], "y": [1, 2, 3], "f": [1, 1, 1], column: [1, None, 3]}))


def test_numbers_of_other_kinds():
    exact = [decimal.Decimal("1.5"), decimal.Decimal(2)]
    for frame in (pa.table({"f": exact}), pl.DataFrame({"f": exact}), pd.DataFrame({"f": exact})):
        assert RankingData(frame).X.tolist() == [[1.5], [2]]
    sparse = pd.DataFrame.sparse.from_spmatrix(sp.eye_array(2))
    assert RankingData(sparse).X.tolist() == [[1, 0], [0, 1]]


def test_many_columns_and_rows_are_all_copied():
    """More columns and rows than are copied in one step."""
    table = np.random.default_rng(0).normal(size=(5000, 40)).astype(np.float32)
    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        np.testing.assert_array_equal(RankingData(frame).X, table)


@given(ranking_data(dense=True))
@settings(max_examples=30)
def test_columns_or_arrays_make_the_same_data(data):
    flat = data.take(slice(None)).with_names([f"x{j}" for j in range(data.n_features)])
    columns = {name: flat.X[:, j] for j, name in enumerate(flat.feature_names)}
    columns |= {"qid": np.repeat(flat.qids, flat.lengths).tolist()}
    for role, values in {
        "label": flat.y,
        "doc_id": flat.doc_ids,
        "comment": flat.comments,
        "weight": flat.weights,
    }.items():
        if values is not None:
            columns[role] = list(values)
    if flat.query_weights is not None:
        columns["query_weight"] = np.repeat(flat.query_weights, flat.lengths)
    for make in MAKERS.values():
        assert from_frame(make(columns), label=None if flat.y is None else "auto") == flat


BASE = {"qid": [1, 2], "label": [0, 1], "f": [0.5, 1]}
BAD = {
    "no label": ({"qid": [1], "f": [1]}, {}, r"no label column \(looked for label, rel.*columns are qid, f"),
    "no qid": ({"label": [1], "f": [1]}, {}, r'no qid column .*qid="...", or qid=None if there is none'),
    "wrong name": (BASE, {"label": "labels"}, "got 'labels'; did you mean 'label'"),
    "wrong feature": (BASE, {"features": ["g", "zzz"]}, "features must name a column.*got 'g'"),
    "text feature": ({**BASE, "title": ["a", "b"]}, {}, "'title' must be numbers, got String; leave it out"),
    "overflow": ({**BASE, "f": [1.0, 1e39]}, {}, r"got 1e\+39 at row 1 \(query 2\) of feature column 'f'"),
    "infinite": ({**BASE, "f": [1.0, float("inf")]}, {"allow_missing": True}, "finite, got inf at row 1"),
    "query weights": (
        {**BASE, "qid": [7, 7], "query_weight": [1, 2]},
        {},
        "query_weight must be the same in all rows of a query, got 1 and 2 in query 7",
    ),
    "ragged": ({**BASE, "f": [[1, 2], [3]]}, {}, r"equally many .*got 1 at row 1 \(query 2\) after 2"),
    "missing list": ({**BASE, "f": [[1, 2], None]}, {}, r"a list of numbers in every row, got none at row 1"),
    "missing in list": ({**BASE, "f": [[1.0, 2.0], [None, 3.0]]}, {}, "NaN .* at row 1"),
    "negative weight": ({**BASE, "weight": [1, -1]}, {}, "weights must be 0 or more, got -1 at row 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_refused(make, case):
    columns, options, message = BAD[case]
    with pytest.raises(InputError, match=message):
        from_frame(make(columns), **options)


def test_what_is_no_frame_is_refused():
    with pytest.raises(InputError, match="a lazy frame has no rows yet, got LazyFrame; call collect"):
        from_frame(pl.DataFrame(BASE).lazy())
    with pytest.raises(InputError, match="call collect"):
        RankingData(pl.DataFrame(BASE).lazy())
    with pytest.raises(InputError, match="expected a pandas, polars or Arrow table, got list"):
        from_frame([1, 2])
    twice = pd.DataFrame([[1, 2, 3]], columns=["qid", "label", "label"])
    with pytest.raises(InputError, match="column names must be all different"):
        from_frame(twice)
