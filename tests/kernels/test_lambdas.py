"""The pieces of the lambda kernel: its exponential, its orders, its tiles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloom.kernels import lambdas as kernel
from rankloom.kernels.compile import jit_disabled
from rankloom.kernels.compile import kernel as compiled
from rankloom.rankers.lambdas import Lambdas
from twins import lambdas_twin


@compiled
def exponentials(x, found):
    for i in range(len(x)):
        found[i] = kernel._exp_minus(x[i])


@compiled
def ranked(scores, order, depth):
    n = len(scores)
    keys, spare_keys = np.empty(n + 1), np.empty(n + 1)
    items, spare_items = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
    kernel._rank(scores, order, depth, keys, items, spare_keys, spare_items)


def test_the_exponential_is_as_exact_as_it_says() -> None:
    x = np.linspace(0.0, 87.0, 2_000 if jit_disabled() else 2_000_001).astype(np.float32)
    found = np.empty_like(x)
    exponentials(x, found)
    exact = np.exp(-x.astype(np.float64))
    error = np.abs(found - exact) / exact
    assert error.max() < 4e-6
    assert error[x <= 10.0].max() < 6e-7
    sigmoid, exact_sigmoid = 1.0 / (1.0 + found.astype(np.float64)), 1.0 / (1.0 + exact)
    assert np.abs(sigmoid - exact_sigmoid).max() < 1e-7
    far = np.array([88.0, 1e4, 1e38, np.inf], np.float32)
    found = np.empty_like(far)
    exponentials(far, found)
    assert ((found >= 0.0) & (found < 1e-37)).all()


@pytest.mark.jit_free
@pytest.mark.bounds
@given(
    st.lists(st.sampled_from([-1.5, -1.0, 0.0, -0.0, 0.5, 2.0, 3.0, 4.0]), min_size=1, max_size=80),
    st.integers(1, 90),
    st.randoms(use_true_random=False),
)
def test_the_order_is_that_of_measures_whatever_the_last_one_was(values, depth, random) -> None:
    """By falling score, equal ones as in the file; below `depth`, as in the file."""
    scores, n = np.array(values), len(values)
    last = list(range(n))
    random.shuffle(last)
    order = np.array(last, np.int32)
    ranked(scores, order, min(depth, n))
    expected = np.argsort(-scores, kind="stable")
    assert order.tolist() == [*expected[:depth].tolist(), *sorted(expected[depth:].tolist())]


def test_long_shuffled_lists_are_sorted_too() -> None:
    """Where insertion gives up and merging takes over."""
    rng = np.random.default_rng(0)
    for n in (25, 100, 1000):
        scores, order = rng.integers(0, n // 2, n).astype(float), np.arange(n, dtype=np.int32)
        ranked(scores, order, n)
        assert order.tolist() == np.argsort(-scores, kind="stable").tolist()


@pytest.mark.parametrize("measure", ["ranknet", "ndcg", "map", "mrr", "err", "auc"])
def test_tiles_are_seams_that_nobody_sees(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query longer than two tiles, with more rows than are summed in float32 before a flush."""
    rng = np.random.default_rng(1)
    n = 2 * kernel._TILE + 77
    labels, scores = np.zeros(n), rng.normal(size=n)
    some = np.argsort(-scores)[
        [5, kernel._TILE - 1, kernel._TILE, kernel._TILE + 64, 2 * kernel._TILE, n - 1]
    ]
    labels[some] = [1, 2, 3, 1, 2, 4]
    found = Lambdas(labels, [0, n], measure).gradients(scores)
    rows = some[[0, 2]]
    for row in rows:
        pull, bend = _of_row(labels, scores, measure, int(row))
        assert found.lambdas[row] == pytest.approx(pull, rel=2e-4, abs=1e-7)
        assert found.weights[row] == pytest.approx(bend, rel=2e-4, abs=1e-7)
    assert abs(found.lambdas.sum(dtype=float)) < 1e-4 * np.abs(found.lambdas).sum(dtype=float)


def _of_row(labels: np.ndarray, scores: np.ndarray, measure: str, row: int) -> tuple[float, float]:
    """Sums over all other rows for one, each |delta Z| in closed form over whole arrays."""
    order = np.argsort(-scores, kind="stable")
    place = np.empty(len(order), dtype=int)
    place[order] = np.arange(len(order))
    pull = bend = 0.0
    lists = labels[order]
    value = _value(measure, lists)
    for other in _partners(labels, measure, row, order):
        swapped = lists.copy()
        i, j = place[row], place[other]
        swapped[i], swapped[j] = lists[j], lists[i]
        size = 1.0 if measure == "ranknet" else abs(_value(measure, swapped) - value)
        sign = np.sign(labels[row] - labels[other])
        rho = 1.0 / (1.0 + np.exp(sign * (scores[row] - scores[other])))
        pull -= sign * size * rho
        bend += size * rho * (1.0 - rho)
    return pull, bend


def _partners(labels: np.ndarray, measure: str, row: int, order: np.ndarray) -> list[int]:
    return [int(other) for other in order if labels[other] != labels[row]]


def _value(measure: str, ranked_labels: np.ndarray) -> float:
    places = np.arange(1, len(ranked_labels) + 1)
    relevant = ranked_labels > 0
    if measure == "ndcg":
        gains = 2.0**ranked_labels - 1.0
        worth = 1.0 / np.log2(places + 1.0)
        return float((gains * worth).sum() / (np.sort(gains)[::-1] * worth).sum())
    hits = np.flatnonzero(relevant) + 1.0
    if measure == "map":
        return float((np.arange(1, len(hits) + 1) / hits).mean())
    if measure == "mrr":
        return float(1.0 / hits[0])
    if measure == "auc":
        others = len(places) - len(hits)
        return float(1.0 - (hits - np.arange(1, len(hits) + 1)).sum() / (len(hits) * others))
    stops = (2.0 ** ranked_labels[relevant] - 1.0) / 16.0
    reading = np.concatenate(([1.0], np.cumprod(1.0 - stops)[:-1]))
    return float((reading * stops / hits).sum())


def test_the_twin_knows_ranklibs_mistake() -> None:
    """Labels 3, 2, 0, 1 in ranked order: swapping places 3 and 4 changes ERR by 0.0025, places 2 and 3 by
    R2 (1 - R1) (1/2 - 1/3) - what the reader who stops at neither loses; worked out by the definition.
    """
    err = lambdas_twin.measured("err")
    R = [7 / 16, 3 / 16, 0.0, 1 / 16]
    plain = R[0] + (1 - R[0]) * R[1] / 2 + (1 - R[0]) * (1 - R[1]) * R[3] / 4
    swapped = R[0] + (1 - R[0]) * R[1] / 3 + (1 - R[0]) * (1 - R[1]) * R[3] / 4
    assert err([3, 2, 0, 1]) == pytest.approx(plain)
    assert err([3, 0, 2, 1]) - err([3, 2, 0, 1]) == pytest.approx(swapped - plain)
