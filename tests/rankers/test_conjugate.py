from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankloom as rl
from rankloom.rankers import pair_problem
from rankloom.rankers.newton import newton
from rankloom.rankers.pair_problem import PairProblem
from twins import ranksvm_twin as twin

LABELS = {"rare": 0.1, "even": 0.5, "common": 0.9, "graded": 5, "distinct": 0}


def make(kind, rows=400, weighted=False, features=6):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(rows, features)).astype(np.float32)
    truth = X @ draw.normal(size=features) + draw.normal(size=rows)
    if LABELS[kind] == 0:
        y = truth.argsort().argsort()
    elif LABELS[kind] == 5:
        y = np.digitize(truth, [-1.0, 0.0, 0.5, 2.0])
    else:
        y = truth > np.quantile(truth, 1.0 - LABELS[kind])
    return rl.RankingData(X, y, weights=draw.integers(0, 3, rows) / 2.0 if weighted else None)


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", LABELS)
def test_a_line_is_what_evaluating_its_points_says(kind, weighted):
    data = make(kind, 120, weighted)
    problem, plain = PairProblem(data, cache=1), PairProblem(data)
    assert problem.is_one_query
    assert not plain.is_one_query
    w, v = np.random.default_rng(1).normal(size=(2, data.n_features))
    losses, slope = problem.move(problem.scores(w), problem.scores(v), 0.25)
    wanted, gradient = plain.evaluate(w + 0.25 * v)
    np.testing.assert_allclose(losses, wanted)
    assert slope == pytest.approx(gradient @ v)
    np.testing.assert_allclose(problem.pull(), gradient, atol=1e-9)
    assert problem.bend(problem.scores(v)) == pytest.approx(v @ plain.product(v))


@pytest.mark.parametrize("C", [1e-5, 1e-2])
@pytest.mark.parametrize("kind", LABELS)
def test_both_ways_lead_to_the_optimum(kind, C):
    data = make(kind, weighted=True)
    wanted = newton(PairProblem(data), C, None, 1e-9, 500)
    found = newton(PairProblem(data, cache=1), C, None, 1e-9, 500)
    assert found.converged
    np.testing.assert_allclose(found.weights, wanted.weights, rtol=1e-6, atol=1e-8)
    assert found.objective == pytest.approx(wanted.objective)
    again = newton(PairProblem(data, cache=1), C, found.weights, 1e-7, 500)
    assert again.iterations == 0


def test_a_rare_label_does_not_stop_far_above_the_optimum():
    """The gradient at 0 is long where nearly all rows are alike: the rule alone is met early."""
    draw = np.random.default_rng(0)
    y = draw.random(3000) < 0.01
    X = draw.normal(size=(3000, 40)) * 0.1 + np.outer(y, draw.normal(size=40)) * 0.5
    data = rl.RankingData(X, y)
    found, least = (newton(PairProblem(data, cache=1), 1.0, None, tol, 1000) for tol in (1e-2, 1e-8))
    assert found.objective < 3.0 * least.objective
    assert found.iterations < least.iterations


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(pair_problem, "_LEAST_SAMPLED", 100)
    data = make("rare", 4000)
    found = [newton(PairProblem(data, cache=1, threads=n), 1e-3, None, 1e-6, 99) for n in (1, 2, 3)]
    assert found[0].weights.tolist() == found[1].weights.tolist() == found[2].weights.tolist()


@pytest.mark.parametrize("kind", ["rare", "graded", "distinct"])
def test_a_sample_keeps_the_rare_label(kind, monkeypatch):
    monkeypatch.setattr(pair_problem, "_LEAST_SAMPLED", 100)
    monkeypatch.setattr(pair_problem, "_KEPT", 50 if kind == "graded" else 112)
    data = make(kind, 4000)
    problem = PairProblem(data, cache=1)
    rows = problem.sample()._data
    if kind == "rare":
        assert int(np.sum(rows.y)) == pytest.approx(400 / 3, abs=1)
        assert rows.n_rows == pytest.approx(400 / 3 + 3600 / 32, abs=2)
    elif kind == "graded":
        assert set(rows.y.tolist()) == {0.0, 1.0, 2.0, 3.0, 4.0}
    else:
        assert rows.n_rows == 4000 // 32 + 1
    wanted = newton(PairProblem(data), 1e-4, None, 1e-9, 500).weights
    np.testing.assert_allclose(newton(problem, 1e-4, None, 1e-9, 500).weights, wanted, rtol=1e-6)
    assert PairProblem(make(kind, 4000, weighted=True), cache=1).sample() is None
    assert PairProblem(data).sample() is None


@pytest.mark.bounds
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(-6, 6)), min_size=34, max_size=80),
    st.sampled_from([0.25, 1.0, 1.0 / 3.0, 1e-3, 1e6]),
    st.sampled_from([0.0, 1e5]),
)
def test_lookups_agree_with_every_difference(rows, unit, middle):
    """Scores that tie, and that are 1 apart or nearly so."""
    y, scores = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    if len(set(y.tolist())) < 2:
        return
    X = np.float32(scores * unit + middle)[:, None]
    data = rl.RankingData(X, y)
    problem = PairProblem(data)
    wanted = twin.at(data, np.ones(1), np.ones(1), False)
    losses, gradient = problem.evaluate(np.ones(1))
    np.testing.assert_allclose(losses, (wanted.hinges, wanted.squares), rtol=1e-7, atol=1e-6)
    np.testing.assert_allclose(gradient, wanted.gradient, rtol=1e-7, atol=1e-2)
    np.testing.assert_allclose(problem.product(np.ones(1)), wanted.product, rtol=1e-6, atol=1.0)
