"""Stochastic pairwise descent: who is drawn, by a chi-square test; each step, beside its formula."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from rankloom.kernels import spd
from rankloom.kernels.pair_index import build_pair_index
from rankloom.kernels.spd import NOBODY, RING, Recipe, Rows, State, Truth, new_state, take_steps, weights_of
from twins import spd_twin

LEARNERS = ["sgd", "pegasos", "passive-aggressive", "romma", "perceptron"]
LOSSES = ["hinge", "logistic", "squared"]


def rows_of(X: Any, is_sparse: bool) -> Rows:
    if not is_sparse:
        return Rows(
            np.ascontiguousarray(X, dtype=np.float32).ravel(),
            np.empty(0, np.uint32),
            np.empty(0, np.uint64),
            X.shape[1],
        )
    table = sparse.csr_array(X.astype(np.float32))
    return Rows(table.data, table.indices.astype(np.uint32), table.indptr.astype(np.uint64), 0)


def truth_of(y: Any, weights: Any = ()) -> Truth:
    return Truth(np.asarray(y, dtype=np.float64), np.asarray(weights, dtype=np.float64))


def recipe(**changed: Any) -> Recipe:
    plain = {
        "sampler": spd.PAIRS, "learner": spd.PEGASOS, "loss": spd.HINGE, "target": spd.SIGN, "lam": 0.1,
        "cap": 0.7, "rate": 10.0, "rate_offset": 0.0, "margin": 0.5, "alpha": 0.0, "bias_rate": 0.0,
        "average_from": 0, "l1": 0.0,
    }  # fmt: skip
    return Recipe(**{**plain, **changed})


def drawn(y: Any, offsets: Any, count: int, **changed: Any) -> Counter[tuple[int, int]]:
    """How often each (better, worse) comes in `count` steps."""
    y = np.asarray(y, dtype=np.float64)
    rows, truth = rows_of(np.zeros((len(y), 1)), False), truth_of(y)
    index, state, how = build_pair_index(y, offsets), new_state(1, 7), recipe(**changed)
    found: Counter[tuple[int, int]] = Counter()
    for first in range(1, count, 8):
        take_steps(rows, truth, index, how, state, first, 8)
        found.update(tuple(state.ring[step % RING].tolist()) for step in range(first, first + 8))
    return found


def assert_drawn_by(found: Counter[tuple[int, int]], chances: dict[tuple[int, int], float]) -> None:
    assert set(found) <= set(chances)
    total = sum(found.values())
    seen = [found[pair] for pair in chances]
    p = stats.chisquare(seen, [chance * total for chance in chances.values()]).pvalue
    assert p > 1e-3, p


# Queries of unequal size, with two, three and four labels, one label, and no row.
Y = [0, 0, 0, 1, 2, 1, 0, 5, 5, 3, 0, 1, 2, 3, 0, 0, 0, 0, 1.5]
OFFSETS = np.array([0, 5, 7, 9, 9, 19])


@pytest.mark.bounds
def test_uniform_over_all_pairs() -> None:
    pairs = spd_twin.pairs(Y, OFFSETS)
    assert_drawn_by(drawn(Y, OFFSETS, 24_000), {pair: 1 / len(pairs) for pair in pairs})


@pytest.mark.bounds
def test_balanced_over_queries_and_labels() -> None:
    found = drawn(Y, OFFSETS, 24_000, sampler=spd.BALANCED)
    assert_drawn_by(found, spd_twin.balanced_chances(Y, OFFSETS))


def test_a_part_of_the_steps_is_on_rows() -> None:
    found = drawn(Y, OFFSETS, 24_000, alpha=0.3)
    pairs = spd_twin.pairs(Y, OFFSETS)
    chances = {pair: 0.7 / len(pairs) for pair in pairs}
    chances |= {(row, NOBODY): 0.3 / len(Y) for row in range(len(Y))}
    assert_drawn_by(found, chances)


def twin_step(how: Recipe, w: Any, bias: float, x: Any, pair: Any, y: Any, weight: float, step: int) -> Any:
    """The weights and the bias after one step, by the twin."""
    learner, loss, is_pair = LEARNERS[how.learner], LOSSES[how.loss], pair[1] != NOBODY
    eta = how.rate / (how.rate_offset + step)
    if learner == "passive-aggressive":
        return spd_twin.passive_aggressive_step(w, x, how.cap * weight), bias
    if learner == "romma":
        return spd_twin.romma_step(w, x), bias
    if learner == "perceptron":
        return spd_twin.perceptron_step(w, x, eta * weight, how.margin), bias
    target = y[pair[0]]
    if is_pair:
        difference = y[pair[0]] - y[pair[1]]
        graded = (1 + difference) / 2 if loss == "logistic" else difference
        target = 1.0 if how.target == spd.SIGN else graded
    p = w @ x + (0 if is_pair else bias)
    g = spd_twin.slope(loss, target, p) * weight
    after = spd_twin.gradient_step(w, x, g, eta, how.lam, learner == "pegasos")
    return after, bias if is_pair else bias + how.bias_rate * eta * g


def example(seed: int, is_sparse: bool, weighted: bool) -> tuple[Any, Rows, Truth, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 6)) * (rng.random((14, 6)) < 0.6)
    X[3] = 0
    X[5] = X[6]
    X = X.astype(np.float32).astype(np.float64)
    y = rng.integers(0, 3, 14) / 2
    y[:2] = [0, 1]
    weights = rng.random(14) + 0.5 if weighted else []
    return X, rows_of(X, is_sparse), truth_of(y, weights), build_pair_index(y, np.array([0, 9, 14]))


SCHEDULES = [(10.0, 0.0), (2.0, 3.0), (1e17, 1e18)]


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=60)
@given(
    st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from(range(5)), st.sampled_from(range(3)),
    st.sampled_from(SCHEDULES), st.sampled_from([0.0, 0.4]), st.sampled_from([spd.SIGN, spd.DIFFERENCE]),
)  # fmt: skip
def test_each_step_is_the_papers(
    seed: int,
    is_sparse: bool,
    weighted: bool,
    learner: int,
    loss: int,
    schedule: Any,
    alpha: float,
    target: int,
) -> None:
    X, rows, truth, index = example(seed, is_sparse, weighted)
    gradient = learner <= spd.PEGASOS
    how = recipe(
        learner=learner, loss=loss if gradient else spd.HINGE, rate=schedule[0], rate_offset=schedule[1],
        alpha=alpha if gradient else 0.0, target=target, bias_rate=0.5,
    )  # fmt: skip
    state = new_state(6, seed)
    for step in range(1, 40):
        w, bias = weights_of(state)
        take_steps(rows, truth, index, how, state, step, 1)
        pair = state.ring[step % RING].tolist()
        x, weight = X[pair[0]], truth.weights[pair[0]] if weighted else 1.0
        if pair[1] != NOBODY:
            x, weight = x - X[pair[1]], weight * (truth.weights[pair[1]] if weighted else 1.0)
        wanted, wanted_bias = twin_step(how, w, bias, x, pair, truth.targets, weight, step)
        got, got_bias = weights_of(state)
        size = max(1.0, np.abs(wanted).max(), np.abs(w).max())
        if learner == spd.ROMMA and not np.isfinite(size):
            return
        np.testing.assert_allclose(got, wanted, atol=1e-7 * size)
        assert got_bias == pytest.approx(wanted_bias, rel=1e-9, abs=1e-9)
        assert not state.scratch.any()


def run(state: State, chunks: list[int], is_sparse: bool, **changed: Any) -> State:
    _, rows, truth, index = example(3, is_sparse, False)
    first = 1
    for count in chunks:
        take_steps(rows, truth, index, recipe(**changed), state, first, count)
        first += count
    return state


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("learner", range(5))
def test_in_one_go_or_in_many(learner: int, is_sparse: bool) -> None:
    whole = run(new_state(6, 1, average=True), [300], is_sparse, learner=learner, average_from=100)
    parts = run(
        new_state(6, 1, average=True), [1, 98, 2, 0, 17, 182], is_sparse, learner=learner, average_from=100
    )
    assert weights_of(whole)[0].tobytes() == weights_of(parts)[0].tobytes()
    assert whole.random == parts.random


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("learner", range(5))
def test_the_average_is_that_of_the_weights_after_each_step(learner: int, is_sparse: bool) -> None:
    """Also where the scale shrinks to nothing every few steps and is brought back to 1."""
    for rate, lam in ((10.0, 0.1), (9e17, 1.0)):
        offset = 0.0 if rate == 10.0 else 1e18
        how = {"learner": learner, "alpha": 0.3 if learner < 2 else 0.0, "bias_rate": 1.0, "lam": lam}
        how |= {"rate": rate, "rate_offset": offset}
        last, each = new_state(6, 5), []
        for steps in range(1, 61):
            _, rows, truth, index = example(3, is_sparse, False)
            take_steps(rows, truth, index, recipe(**how), last, steps, 1)
            each.append(np.append(*weights_of(last)))
        state = run(new_state(6, 5, average=True), [60], is_sparse, average_from=20, **how)
        np.testing.assert_allclose(
            np.append(*weights_of(state)), np.mean(each[20:], axis=0), rtol=1e-8, atol=1e-10
        )


def test_dense_and_sparse_take_the_same_way() -> None:
    for learner in range(5):
        dense = run(new_state(6, 2), [200], False, learner=learner)
        same = run(new_state(6, 2), [200], True, learner=learner)
        np.testing.assert_allclose(weights_of(dense)[0], weights_of(same)[0], rtol=1e-6)


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("offset", [20, 0])
def test_with_l1_weights_minimise_the_sum_of_slopes_and_costs(is_sparse: bool, offset: int) -> None:
    """After step i: soft threshold of the sum of g x by i l1, over lam (i + offset). Without an offset, the
    first step forgets everything: its g x counts, and its l1.
    """
    X, rows, truth, index = example(8, is_sparse, False)
    how = recipe(learner=spd.SGD, alpha=0.3, bias_rate=1.0, l1=0.2, rate=1 / 0.1, rate_offset=float(offset))
    single, whole = new_state(6, 4), new_state(6, 4)
    total, zeros = np.zeros(6), 0
    for step in range(1, 61):
        w, bias = weights_of(single)
        take_steps(rows, truth, index, how, single, step, 1)
        better, worse = single.ring[step % RING].tolist()
        is_pair = worse != NOBODY
        x = X[better] - X[worse] if is_pair else X[better]
        p, t = (w @ x, 1.0) if is_pair else (w @ x + bias, truth.targets[better])
        total += spd_twin.slope("hinge", t, p) * x
        wanted = spd_twin.shrink(total, step * how.l1) / (0.1 * (step + offset))
        np.testing.assert_allclose(weights_of(single)[0], wanted, atol=1e-9)
        zeros += int((wanted == 0).sum())
    take_steps(rows, truth, index, how, whole, 1, 60)
    assert weights_of(whole)[0].tobytes() == weights_of(single)[0].tobytes()
    assert 30 < zeros < 330


def test_l1_survives_a_scale_that_starts_again_from_1() -> None:
    """A constant rate halves the scale at each step: w is the sum of g x / 2^age, shrunk by that of l1."""
    X, rows, truth, index = example(8, True, False)
    how = recipe(learner=spd.SGD, l1=0.1, rate=5e18, rate_offset=1e18)
    state, total, cost = new_state(6, 4), np.zeros(6), 0.0
    for step in range(1, 61):
        w = weights_of(state)[0]
        take_steps(rows, truth, index, how, state, step, 1)
        better, worse = state.ring[step % RING].tolist()
        x = X[better] - X[worse]
        total = total / 2 + 5.0 * spd_twin.slope("hinge", 1.0, w @ x) * x
        cost = cost / 2 + 5.0 * 0.1
        np.testing.assert_allclose(weights_of(state)[0], spd_twin.shrink(total, cost), atol=1e-9)
