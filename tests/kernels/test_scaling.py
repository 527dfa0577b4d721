"""Scaling: against the twin, dense and sparse, queries of any size; exact ends; flat columns become 0."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rankloom.data.ranking_data import RankingData
from rankloom.kernels import scaling
from rankloom.models.scaling import KINDS, SPARSE_KINDS, Scaling, learned_scaling
from twins.scaling_twin import scaled_table

values = st.sampled_from([0.0, 0.0, 0.1, -2.5, 3.0, 3.0, 1e-3, 7e4, -1e-2])


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, list[int]]:
    """A table with many ties and zeros, cut into queries."""
    lengths = draw(st.lists(st.integers(1, 7), min_size=1, max_size=5))
    width = draw(st.integers(1, 4))
    cells = draw(st.lists(values, min_size=sum(lengths) * width, max_size=sum(lengths) * width))
    offsets = np.concatenate(([0], np.cumsum(lengths))).tolist()
    return np.array(cells, dtype=np.float32).reshape(-1, width), offsets


def by_query(kind: str, table: object, offsets: list[int]) -> np.ndarray:
    data = RankingData(table, qid=np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)))
    out = Scaling(kind, "query", data.n_features).applied(data).X
    return out.toarray() if data.is_sparse else np.asarray(out)


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize("kind", KINDS)
@given(tables())
@settings(max_examples=40)
def test_queries_are_scaled_as_the_twin_does(kind, problem):
    table, offsets = problem
    expected = scaled_table(kind, table, offsets)
    found = by_query(kind, table, offsets)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    if kind in SPARSE_KINDS:
        sparse = by_query(kind, csr_array(table), offsets)
        np.testing.assert_allclose(sparse, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "rank"])
@given(tables())
@settings(max_examples=30)
def test_one_query_over_everything_is_what_all_rows_teach(kind, problem):
    table, _ = problem
    for form in (np.asarray, csr_array) if kind in SPARSE_KINDS else (np.asarray,):
        data = RankingData(form(table))
        found = learned_scaling(kind, "all", data).applied(data).values
        alone = Scaling(kind, "query", data.n_features).applied(data).values
        assert found.tobytes() == alone.tobytes()


@pytest.mark.parametrize("n", [2, 3, 255, 256, 257, 400])
def test_ranks_are_the_same_by_counting_and_by_sorting(n):
    draw = np.random.default_rng(n)
    table = np.column_stack((draw.random(n), draw.integers(0, 4, n), np.full(n, 3.0))).astype(np.float32)
    found = by_query("rank", table, [0, n])
    np.testing.assert_allclose(found, scaled_table("rank", table, [0, n]), rtol=1e-6)
    assert scaling._COUNTED == 256


def test_ends_are_exact_and_values_of_any_size_have_a_place():
    """No sum of two float32 overflows here, and the least differences count."""
    table = np.array([[-3e38, 1e-45, 0.1], [3e38, 0.0, 0.1], [0.0, 3e-45, 0.1]], dtype=np.float32)
    found = by_query("minmax", table, [0, 3])
    assert found[:, 0].tolist() == [0.0, 1.0, 0.5]
    assert found[:, 1].tolist() == [0.5, 0.0, 1.0]
    assert found[:, 2].tolist() == [0.0, 0.0, 0.0]
    for kind in KINDS:
        assert np.isfinite(by_query(kind, table, [0, 3])).all()


@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_nothing(kind):
    data = RankingData(
        np.random.default_rng(0).normal(size=(40_000, 9)), qid=np.sort(np.arange(40_000) % 900)
    )
    for per in ("all", "query"):
        scale = learned_scaling(kind, per, data)
        one = scale.values(data, threads=1)
        assert scale.values(data, threads=3).tobytes() == one.tobytes()
