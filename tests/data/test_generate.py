"""Made-up lists: shaped as they say, the same for the same seed, and true as they say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rankloom.data.generate import (
    LETOR_SHARES,
    MSLR_SHARES,
    Generated,
    make_distinct,
    make_letor,
    make_mslr,
)
from rankloom.errors import InputError
from rankloom.measures.evaluate import evaluate

MAKERS = [make_letor, make_distinct, make_mslr]


def queries(made: Generated) -> list[slice]:
    edges = made.data.offsets.tolist()
    return [slice(first, last) for first, last in pairwise(edges)]


def quality(made: Generated, scores: np.ndarray, measure: str = "ndcg@10") -> float:
    return evaluate(scores, made.data, measures=measure)[measure]


@pytest.mark.parametrize("make", MAKERS)
def test_the_same_seed_gives_the_same_bits(make: object) -> None:
    first, second, other = make(5, seed=3), make(5, seed=3), make(5, seed=4)
    assert first.data == second.data
    assert np.array_equal(first.truth, second.truth)
    assert not np.array_equal(first.truth[:20], other.truth[:20])


def test_threads_change_nothing() -> None:
    one, three = make_mslr(900, threads=1), make_mslr(900, threads=3)
    assert one.data.n_rows > 2**16  # more than one block
    assert one.data == three.data
    assert np.array_equal(one.truth, three.truth)


@pytest.mark.parametrize("make", MAKERS)
def test_without_noise_the_truth_orders_every_query(make: object) -> None:
    made = make(12, noise=0.0)
    for rows in queries(made):
        labels = made.data.y[rows][np.argsort(-made.truth[rows], kind="stable")]
        assert (np.diff(labels) <= 0).all()


@pytest.mark.parametrize("make", MAKERS)
def test_nothing_beats_the_truth(make: object) -> None:
    """With noise the truth is not perfect, and anything other than the truth is worse."""
    made = make(150, seed=1) if make is not make_mslr else make(60, seed=1)
    best = quality(made, made.truth, "pairwise")
    assert best < 0.999
    draw = np.random.default_rng(0)
    for size in (0.3, 1.0):
        blurred = made.truth + draw.normal(0, size * made.truth.std(), made.data.n_rows)
        assert quality(made, blurred, "pairwise") < best


def test_letor_has_the_shape_of_mq2008() -> None:
    made = make_letor(600)
    data = made.data
    assert data.n_features == 46
    assert np.allclose(np.bincount(data.y.astype(int)) / data.n_rows, LETOR_SHARES, atol=0.001)
    assert np.median(data.lengths) == 8
    assert data.lengths.min() == 5
    assert data.lengths.max() <= 121
    empty = np.mean([data.y[rows].max() == 0 for rows in queries(made)])
    assert 0.2 < empty < 0.4
    assert (data.X.max(axis=0) == 0).sum() == 6
    assert (data.X[:, 26] == 0).mean() > 0.6  # anchors are rare
    assert list(data.doc_ids[:2]) == ["D0000000", "D0000001"]


def test_letor_is_scaled_within_each_query() -> None:
    made = make_letor(40)
    for rows in queries(made):
        low, high = made.data.X[rows].min(axis=0), made.data.X[rows].max(axis=0)
        assert (low == 0).all()
        assert np.isin(high, (0, 1)).all()


@pytest.mark.parametrize("make", [make_letor, make_distinct])
def test_letor_truth_is_linear_and_can_be_learned(make: object) -> None:
    made = make(200)
    X = made.data.X.astype(np.float64)
    assert np.allclose(X @ made.weights, made.truth)
    centred = np.concatenate([X[rows] - X[rows].mean(axis=0) for rows in queries(made)])
    wanted = np.concatenate([made.data.y[rows] - made.data.y[rows].mean() for rows in queries(made)])
    learned = X @ np.linalg.lstsq(centred, wanted, rcond=None)[0]
    best, found = quality(made, made.truth), quality(made, learned)
    assert best - 0.05 < found < best + 0.01


def test_distinct_labels_are_places() -> None:
    made = make_distinct(8, rows=(3, 40))
    assert made.data.lengths.min() >= 3
    assert made.data.lengths.max() <= 40
    for rows in queries(made):
        labels = made.data.y[rows]
        assert sorted(labels) == list(range(1, len(labels) + 1))


def test_mslr_has_the_shape_of_mslr() -> None:
    made = make_mslr(300)
    data = made.data
    assert data.n_features == 136
    assert 90 < data.lengths.mean() < 150
    assert np.allclose(np.bincount(data.y.astype(int)) / data.n_rows, MSLR_SHARES, atol=0.001)
    assert (data.X[:, 11] == 0).mean() > 0.6  # documents without an anchor
    assert data.X[:, 127].max() > 1e5  # links in
    assert data.X[:, 110].max() <= 0  # logarithms of probabilities


@pytest.mark.jit_free
def test_mslr_features_are_what_they_are_called() -> None:
    X = make_mslr(3, seed=5).data.X.astype(np.float64)
    covered, ratio, length, _, total, least, most, mean, spread = (
        X[:, 5 * group : 5 * group + 5] for group in range(9)
    )
    n_terms = np.round(np.where(ratio > 0, covered / np.where(ratio > 0, ratio, 1), 0)).max(axis=1)
    known = n_terms > 0
    assert (covered == np.floor(covered)).all()
    assert np.allclose(length[:, 4], length[:, :4].sum(axis=1))
    assert np.allclose(total[:, 4], total[:, :4].sum(axis=1), rtol=1e-6)
    assert (total[:, :4] <= length[:, :4]).all()
    assert (least <= mean + 1e-6).all()
    assert (mean <= most + 1e-6).all()
    assert (spread >= 0).all()
    assert np.allclose((mean * n_terms[:, None])[known], total[known], rtol=1e-5, atol=1e-4)
    everywhere = X[:, 95:100]
    assert np.array_equal(everywhere == 1, ratio == 1)
    vector_space, bm25, models = X[:, 100:105], X[:, 105:110], X[:, 110:125]
    assert (vector_space <= 1.000001).all()
    assert np.array_equal(bm25 > 0, covered > 0)
    assert (models <= 0).all()


@pytest.mark.jit_free
def test_mslr_truth_is_a_function_of_the_features() -> None:
    made = make_mslr(3, seed=6)
    X = made.data.X.astype(np.float64)
    expected = (
        1.6 * X[:, 9]
        + 1.4 * np.tanh(X[:, 109] / 20)
        + 0.6 * np.tanh(X[:, 107] / 10)
        + 0.5 * np.tanh(X[:, 105] / 15) * X[:, 7]
        + 0.12 * np.log1p(X[:, 134])
        + 0.05 * np.log1p(X[:, 127])
        + 0.4 * X[:, 131] / 250
        - 0.1 * X[:, 125]
    )
    assert made.weights is None
    assert np.allclose(made.truth, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (make_letor, {"n_queries": 0}, "n_queries must be a whole number from 1, got 0"),
        (make_letor, {"n_queries": 2.5}, "n_queries must be a whole number from 1, got 2.5"),
        (make_mslr, {"n_queries": True}, "n_queries must be a whole number from 1, got True"),
        (make_letor, {"noise": -1}, "noise must be a number, 0 or more, got -1"),
        (make_letor, {"noise": float("nan")}, "noise must be a number, 0 or more, got nan"),
        (make_mslr, {"seed": -1}, "seed must be a whole number from 0"),
        (make_mslr, {"seed": 2**63}, "seed must be a whole number from 0"),
        (make_distinct, {"rows": (5, 4)}, "rows must be the fewest and the most rows"),
        (make_distinct, {"rows": (0, 4)}, "rows must be the fewest and the most rows"),
    ],
)
def test_arguments_that_mean_nothing(make: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(**options)
