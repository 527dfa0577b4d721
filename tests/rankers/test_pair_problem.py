from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rankloom as rl
from rankloom.rankers.pair_problem import PairProblem, losses_of_scores
from twins import ranksvm_twin as twin

# rows, queries, labels (0: all distinct), adjacent, sparse, weighted
SHAPES = {
    "short queries": (60, 12, 3, False, False, False),
    "one query, two labels": (90, 1, 2, False, False, True),
    "a rare better label": (90, 1, -1, False, True, False),
    "a rare worse label": (90, 1, -2, False, False, True),
    "few labels": (300, 2, 5, False, False, True),
    "eight labels": (120, 2, 8, False, True, False),
    "nine labels": (120, 1, 9, False, False, False),
    "twenty labels": (150, 1, 20, False, False, True),
    "all distinct": (150, 2, 0, False, False, False),
    "adjacent, short": (60, 12, 4, True, False, True),
    "adjacent, few": (280, 1, 4, True, False, False),
    "adjacent, all distinct": (120, 1, 0, True, True, True),
}


def make(rows, queries, labels, sparse, weighted, seed=0, features=11):
    """Data with ties in the features, too, so that scores tie."""
    draw = np.random.default_rng(seed)
    X = draw.integers(-3, 4, (rows, features)) / 2.0
    y = draw.permutation(rows) if labels == 0 else draw.integers(0, max(labels, 2), rows)
    if labels < 0:
        y = (draw.random(rows) < 0.1).astype(int)
        y[0] = 1
        y = y if labels == -1 else 1 - y
    qid = draw.integers(0, queries, rows)
    weights = draw.integers(0, 3, rows) / 2.0 if weighted else None
    query_weights = draw.random(len(np.unique(qid))) + 0.1 if weighted else None
    X = csr_array(X) if sparse else X
    return rl.RankingData(X, y, qid, weights=weights, query_weights=query_weights)


def check(problem, data, w, v, adjacent):
    wanted = twin.at(data, w, v, adjacent)
    losses, gradient = problem.evaluate(w)
    close = {"rtol": 1e-10, "atol": 1e-8}
    np.testing.assert_allclose(losses, (wanted.hinges, wanted.squares), **close)
    np.testing.assert_allclose(gradient, wanted.gradient, **close)
    np.testing.assert_allclose(problem.product(v), wanted.product, **close)
    losses, gradient = problem.evaluate(w, "hinge")
    np.testing.assert_allclose(losses.hinges, wanted.hinges, **close)
    np.testing.assert_allclose(gradient, wanted.hinge_gradient, **close)


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("cache", [1 << 19, 1 << 10, 1], ids=["cached", "in batches", "large"])
def test_it_is_the_sum_over_all_pairs(shape, cache):
    rows, queries, labels, adjacent, sparse, weighted = shape
    data = make(rows, queries, labels, sparse, weighted)
    problem = PairProblem(data, adjacent=adjacent, cache=cache)
    draw = np.random.default_rng(1)
    for scale in (0.0, 0.2, 1.0):  # each leaves an order for the next
        w, v = scale * draw.normal(size=(2, data.n_features))
        check(problem, data, w, v if scale else draw.normal(size=data.n_features), adjacent)
    assert problem.pair_weight == pytest.approx(twin.pairs_of(data, adjacent)[2].sum())


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize("features", [1, 7, 8, 46])
@pytest.mark.parametrize("cache", [1 << 19, 1], ids=["cached", "large"])
def test_any_number_of_columns(features, cache):
    """Rows of less than eight columns, of some eights, and of more."""
    data = make(61, 2, 4, False, True, features=features)
    w, v = np.random.default_rng(1).normal(size=(2, features)) / features
    check(PairProblem(data, cache=cache), data, w, v, False)


@pytest.mark.parametrize("labels", [0, 2, 40, -1])
def test_queries_of_more_than_one_layer(labels):
    """1,200 rows: distinct labels make more leaves than one layer has digits."""
    data = make(1200, 1, labels, False, True, features=3)
    w, v = np.random.default_rng(1).normal(size=(2, 3))
    check(PairProblem(data), data, w, v, False)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-8, 8), st.integers(0, 2)), min_size=2, max_size=90))
def test_whatever_labels_scores_and_queries(rows):
    y, scores, qid = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    data = rl.RankingData(scores[:, None] / 4.0, y, qid)
    if all(len(np.unique(y[qid == q])) < 2 for q in qid):
        with pytest.raises(rl.InputError, match="nothing to learn a ranking from"):
            PairProblem(data)
        return
    for adjacent in (False, True):
        check(PairProblem(data, adjacent=adjacent), data, np.ones(1), np.ones(1), adjacent)
        order = data.in_query_order(scores / 4.0)
        wanted = twin.at(data, np.ones(1), np.ones(1), adjacent)
        found, weight = losses_of_scores(data, order, adjacent=adjacent)
        np.testing.assert_allclose(found, (wanted.hinges, wanted.squares), atol=1e-9)
        assert weight == len(twin.pairs_of(data, adjacent)[0])


def test_derivatives_are_those_of_the_value():
    data = make(80, 3, 4, False, True)
    problem, draw = PairProblem(data), np.random.default_rng(3)
    w, v = draw.normal(size=(2, data.n_features)) * 0.3 + 1e-3  # off the grid where hinges have kinks
    step = 1e-6
    up, down = (problem.evaluate(w + sign * step * v) for sign in (1.0, -1.0))
    gradient = problem.evaluate(w)[1]
    assert (up[0].squares - down[0].squares) / (2 * step) == pytest.approx(gradient @ v, rel=1e-6)
    np.testing.assert_allclose((up[1] - down[1]) / (2 * step), problem.product(v), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("cache", [1 << 19, 1 << 10, 1])
def test_threads_change_no_bit(cache):
    data = make(3000, 7, 6, False, False, features=50)
    v = np.random.default_rng(0).normal(size=50)
    found = []
    for threads in (1, 2, 3):
        problem = PairProblem(data, threads=threads, cache=cache)
        found.append((problem.evaluate(v)[1].tolist(), problem.product(v).tolist()))
    assert found[0] == found[1] == found[2]


def test_one_step_of_squares_at_zero_counts_pairs():
    """At w = 0 every pair is active: the losses are the number of pairs."""
    data = rl.RankingData([[1.0], [2.0], [4.0]], [0, 1, 2])
    losses, gradient = PairProblem(data).evaluate(np.zeros(1))
    assert losses == (3.0, 3.0)
    assert gradient.tolist() == [-2.0 * (1.0 + 2.0 + 3.0)]


@pytest.mark.parametrize(("normalize", "weight"), [("pairs", 1.0), ("query", 2.0), (None, 4.0)])
def test_normalisation_is_of_the_pairs_weights(normalize, weight):
    """Queries of three pairs and of one; without pairs a third."""
    data = rl.RankingData(np.eye(7)[:, :3], [0, 1, 2, 0, 1, 5, 5], [1, 1, 1, 2, 2, 3, 3])
    problem = PairProblem(data, normalize=normalize)
    assert problem.pair_weight == pytest.approx(weight)
    assert problem.evaluate(np.zeros(3))[0].hinges == pytest.approx(weight)
