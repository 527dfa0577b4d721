"""inspect finds what was planted, and counts as a slow pass would."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

import rankloom.data.survey as survey_module
from rankloom.data.inspect import Finding, Inspection, inspect
from rankloom.data.ranking_data import RankingData
from rankloom.data.survey import repeats, survey, text_hashes
from rankloom.data.texts import Texts


def healthy(n_queries: int = 40, length: int = 10, n_features: int = 6, seed: int = 0) -> dict[str, Any]:
    """Parts of data in which nothing is wrong."""
    draw = np.random.default_rng(seed)
    n_rows = n_queries * length
    return {
        "X": draw.uniform(0.1, 1.0, (n_rows, n_features)).astype(np.float32),
        "y": np.arange(n_rows) % 3.0,
        "qid": np.repeat(np.arange(n_queries), length),
    }


def found(parts: dict[str, Any], **more: Any) -> dict[str, Finding]:
    """Findings by kind, dense and sparse alike."""
    dense = inspect(RankingData(**parts, **more))
    thin = inspect(RankingData(**{**parts, "X": sparse.csr_array(parts["X"])}, **more))
    kinds = {finding.kind: finding for finding in dense.findings}
    assert kinds == {finding.kind: finding for finding in thin.findings}
    return kinds


@pytest.mark.jit_free
def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert found(healthy(10)) == {}


@pytest.mark.jit_free
@pytest.mark.bounds
def test_constant_and_unused_features_are_named() -> None:
    parts = healthy(10)
    parts["X"][:, 2] = 0.0
    parts["X"][:, 4] = 0.7
    kinds = found(parts)
    assert set(kinds) == {"unused_features", "constant_features"}
    assert kinds["unused_features"].examples == ("column 2",)
    assert kinds["constant_features"].text == (
        "1 feature has one value in every row, which tells nothing: drop it (column 4)."
    )
    named = found(parts, feature_names=list("abcdef"))
    assert named["constant_features"].examples == ("e",)


def test_one_different_value_is_enough_not_to_be_constant() -> None:
    parts = healthy()
    parts["X"][:, 1] = 1e6
    parts["X"][-1, 1] = np.nextafter(np.float32(1e6), np.float32(0))
    assert "constant_features" not in found(parts)


@pytest.mark.parametrize(("factor", "size"), [(1000, "1e+03"), (1 / 1000, "0.001")])
def test_features_of_another_size_are_named(factor: float, size: str) -> None:
    parts = healthy()
    parts["X"][:, 3] *= factor
    parts["X"][0, 3] = factor
    (finding,) = found(parts).values()
    assert (finding.kind, finding.count, finding.examples) == (
        "unscaled_features",
        1,
        (f"column 3 up to {size}",),
    )


def test_repeated_documents_count_within_a_query_only() -> None:
    parts = healthy()
    parts["X"][15] = parts["X"][12]  # both of query 1, labels 0 and 0
    parts["X"][19] = parts["X"][12]  # label 1
    parts["X"][25] = parts["X"][3]  # another query
    kinds = found(parts)
    assert kinds["repeated_documents"].count == 2
    assert kinds["repeated_documents"].examples == ("row 15 of query 1", "row 19 of query 1")
    assert kinds["contradictions"].count == 1
    assert kinds["contradictions"].examples == ("row 19 of query 1",)
    assert set(kinds) == {"repeated_documents", "contradictions"}


@pytest.mark.parametrize("as_texts", [False, True])
def test_repeated_doc_ids_count_within_a_query_only(as_texts: bool) -> None:
    parts = healthy()
    ids = [f"d{row}" for row in range(400)]
    ids[7], ids[8], ids[33], ids[34] = "d5", "d15", "", ""
    texts = Texts.from_strings(ids) if as_texts else ids
    kinds = found(parts, doc_ids=texts)
    assert set(kinds) == {"repeated_doc_ids"}
    assert kinds["repeated_doc_ids"].examples == ("row 7 of query 0",)


def test_queries_without_preference_or_relevance_are_named() -> None:
    parts = healthy()
    parts["y"][20:30] = 2.0  # query 2: all alike
    parts["y"][50:60] = 0.0  # query 5: all alike, and none relevant
    parts["y"][70:80] = -np.arange(10.0)  # query 7: none relevant
    kinds = found(parts)
    assert kinds["no_preference"].examples == ("query 2", "query 5")
    assert kinds["no_relevant"].examples == ("query 5", "query 7")
    assert kinds["negative_labels"].count == 9


def test_single_and_long_queries() -> None:
    parts = healthy(1200)
    parts["qid"][0] = 7000
    parts["qid"][1000:11_001] = 8000
    kinds = found(parts)
    assert kinds["single_document"].examples == ("query 7000",)
    assert kinds["long_queries"].count == 1
    assert "10,000" in kinds["long_queries"].text


def test_one_query_over_everything_is_said() -> None:
    parts = healthy()
    assert set(found({**parts, "qid": None})) == {"one_query"}


def test_labels_that_measures_stumble_over() -> None:
    parts = healthy()
    parts["y"][:4] = [0.5, 1.5, 31, 400]
    kinds = found(parts)
    assert (kinds["fractional_labels"].count, kinds["high_labels"].count) == (2, 2)
    assert set(found({**parts, "y": None})) == {"no_labels"}


def test_rows_are_named_as_the_caller_counts_them() -> None:
    parts = healthy()
    swapped = np.random.default_rng(1).permutation(400)
    mixed = {name: part[swapped] for name, part in parts.items()}
    mixed["X"][200] = 0.0
    kinds = found(mixed)
    assert set(kinds) == {"scattered_queries", "empty_documents"}
    assert kinds["empty_documents"].examples == (f"row 200 of query {mixed['qid'][200]}",)


def test_missing_values_are_counted_and_left_out() -> None:
    parts = healthy()
    parts["X"][3, 1] = parts["X"][5, 1] = np.nan
    kinds = found(parts, allow_missing=True)
    assert set(kinds) == {"missing_values"}
    assert kinds["missing_values"].text == "1 feature has missing values, 2 in all (column 1)."
    columns = inspect(RankingData(**parts, allow_missing=True)).columns
    np.testing.assert_allclose(columns.mean, np.nanmean(parts["X"].astype(float), axis=0))
    np.testing.assert_allclose(columns.std, np.nanstd(parts["X"].astype(float), axis=0))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (1, 0), (1, 1)])
def test_hardly_any_data(shape: tuple[int, int]) -> None:
    for X in (np.zeros(shape), sparse.csr_array(shape)):
        seen = inspect(RankingData(X, np.zeros(shape[0])))
        assert (seen.n_rows, seen.n_features) == shape
        json.dumps(seen.to_dict(features=True), allow_nan=False)


def test_shape_labels_and_lengths() -> None:
    parts = healthy(4, 5)
    parts["qid"][:] = [0] * 2 + [1] * 3 + [2] * 5 + [3] * 10
    parts["X"][:, 0] = 0.0
    parts["X"][0, 0] = 1.0
    seen = inspect(RankingData(**parts))
    assert (seen.n_rows, seen.n_queries, seen.n_features, seen.sparse, seen.stored) == (20, 4, 6, False, 120)
    assert seen.density == pytest.approx((100 + 1) / 120)
    assert seen.lengths["mean"] == 5.0
    assert (seen.lengths["min"], seen.lengths["median"], seen.lengths["max"]) == (2.0, 3.0, 10.0)
    assert seen.labels is not None
    assert seen.labels["counts"] == {"0": 7, "1": 7, "2": 6}


def test_many_labels_are_summed_up() -> None:
    parts = healthy()
    seen = inspect(RankingData(**{**parts, "y": np.arange(400.0) / 10}))
    assert seen.labels is not None
    assert seen.labels["levels"] == 400
    assert "counts" not in seen.labels
    assert seen.labels["distribution"]["max"] == pytest.approx(39.9)


def test_what_it_gives_is_plain_and_readable() -> None:
    parts = healthy()
    parts["X"][:, 1] = 0.5
    seen = inspect(RankingData(**parts))
    plain = json.loads(json.dumps(seen.to_dict(features=True)))
    assert plain["findings"][0]["kind"] == "constant_features"
    assert plain["features"][1] == {
        "number": 1, "low": 0.5, "high": 0.5, "mean": 0.5, "std": 0.0, "nonzero": 400, "missing": 0,
        "name": "column 1",
    }  # fmt: skip
    assert "features" not in seen.to_dict()
    assert str(seen).splitlines()[0] == "400 rows, 40 queries, 6 features"
    assert "drop it (column 1)" in str(seen)


@pytest.mark.jit_free
def test_a_column_far_from_zero_keeps_its_spread() -> None:
    X = np.full((3, 1), 1e6, dtype=np.float32)
    X[:, 0] += [0.0, 0.25, 0.5]
    columns = survey(RankingData(X)).columns
    assert columns.std[0] == pytest.approx(np.std([0.0, 0.25, 0.5]), rel=1e-12)
    assert columns.mean[0] == pytest.approx(1e6 + 0.25, rel=1e-15)


TABLES = arrays.arrays(
    np.float32,
    st.tuples(st.integers(0, 9), st.integers(0, 4)),
    elements=st.sampled_from([0.0, -0.0, 1.0, -2.5, 3e-5, 1e6]),
)


@pytest.mark.bounds
@given(TABLES, st.integers(1, 3), st.booleans())
def test_the_survey_is_what_numpy_says(X: np.ndarray[Any, Any], n_queries: int, thin: bool) -> None:
    qid = np.sort(np.arange(len(X)) % n_queries)
    data = RankingData(sparse.csr_array(X) if thin else X, qid=qid)
    columns, hashes = survey(data)
    wide = X.astype(np.float64)
    if len(X):
        np.testing.assert_array_equal(columns.low, wide.min(axis=0))
        np.testing.assert_array_equal(columns.high, wide.max(axis=0))
        np.testing.assert_allclose(columns.mean, wide.mean(axis=0), rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(columns.std, wide.std(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(columns.nonzero, (wide != 0).sum(axis=0))
    expected = [
        (row, earlier)
        for row in range(len(X))
        for earlier in range(row)
        if qid[row] == qid[earlier] and (X[row] == X[earlier]).all()
    ]
    first = {row: min(e for r, e in expected if r == row) for row, _ in expected}
    rows, firsts = repeats(hashes, data.offsets)
    assert dict(zip(rows.tolist(), firsts.tolist(), strict=True)) == first


def test_threads_and_blocks_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    data = RankingData(**healthy(200))
    monkeypatch.setattr(survey_module, "ROWS_PER_BLOCK", 64)
    one, four = survey(data, threads=1), survey(data, threads=4)
    for mine, theirs in zip((*one.columns, one.hashes), (*four.columns, four.hashes), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    whole = RankingData(**healthy(200))
    monkeypatch.setattr(survey_module, "ROWS_PER_BLOCK", 1 << 16)
    np.testing.assert_allclose(survey(whole).columns.std, one.columns.std, rtol=1e-12)


def test_very_wide_data_gets_statistics_of_what_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.array([5, 2_000_000_000, 5, 7], dtype=np.int64)
    X = sparse.csr_array((np.array([1.0, 2.0, 3.0, 4.0]), columns, [0, 2, 3, 4]), shape=(3, 2**31 - 1))
    seen = inspect(RankingData(X, [0.0, 1.0, 2.0], [1, 1, 1]))
    assert seen.columns.number.tolist() == [5, 7, 2_000_000_000]
    assert seen.columns.mean.tolist() == pytest.approx([4 / 3, 4 / 3, 2 / 3])
    kinds = {finding.kind: finding.count for finding in seen.findings}
    assert kinds["unused_features"] == 2**31 - 1 - 3


def test_texts_hash_alike_however_they_are_kept() -> None:
    texts = Texts.from_strings(["a", "b", "", "a", "ä"])
    a, b, empty, again, other = text_hashes(texts).tolist()
    assert a == again
    assert empty == 0
    assert len({a, b, empty, other}) == 4


def test_inspection_is_a_value() -> None:
    seen = inspect(RankingData(**healthy(3)))
    assert isinstance(seen, Inspection)
    with pytest.raises(AttributeError):
        seen.n_rows = 3  # type: ignore[misc]
