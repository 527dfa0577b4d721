"""Linear LambdaRank: where it ends up, what it keeps, what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

import rankloom as rl
from rankloom import InputError, LambdaRank, RankingData, make_letor
from rankloom.rankers.lambdarank import Adam, add, deviations

DATA = make_letor(120, seed=4).data
TRAIN, VALID = rl.split(DATA, [0.6, 0.4], seed=0)


def ranknet_cost(data: RankingData, w: np.ndarray, lam: float, scale: np.ndarray) -> float:
    """Mean over queries of the sum of log(1 + e^(-difference)) over pairs, and the cost of scaled weights."""
    scores, y, total = np.asarray(data.X, dtype=float) @ w, np.asarray(data.y), 0.0
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        s, labels = scores[start:end], y[start:end]
        gaps = (s[:, None] - s[None, :])[labels[:, None] > labels[None, :]]
        total += np.logaddexp(0.0, -gaps).sum()
    return total / data.n_queries + 0.5 * lam * float((w * scale) @ (w * scale))


def test_ranknet_reaches_the_optimum_of_its_cost() -> None:
    """Its cost is convex for a linear model; an independent solver says where the least is."""
    data, lam = TRAIN.take(slice(0, 15)), 0.5
    scale = deviations(data.features)
    start = np.zeros(data.n_features)
    least = minimize(lambda v: ranknet_cost(data, v / scale, lam, scale), start, method="L-BFGS-B").fun
    model = LambdaRank("ranknet", lam=lam, epochs=1000, rate=0.1, batch=15).fit(data).model_
    reached = ranknet_cost(data, model.weights, lam, scale)
    assert least * (1 - 1e-6) <= reached < least * 1.002
    assert ranknet_cost(data, start, lam, scale) > 1.2 * least


@pytest.mark.parametrize("measure", ["ndcg@10", "map", "err", "mrr", "ranknet"])
def test_it_finds_the_direction_of_a_linear_truth(measure: str) -> None:
    rng = np.random.default_rng(0)
    X, truth = rng.normal(size=(3000, 6)).astype(np.float32), np.array([3.0, -2, 1, 0, 0, 0.5])
    labels = np.digitize(X @ truth + rng.normal(size=3000), [1.0, 4.0])
    data = RankingData(X * [1, 10, 1e3, 1, 1e-3, 1] + 5, labels, np.repeat(np.arange(150), 20))
    weights = LambdaRank(measure, rate=0.1, epochs=60, seed=1).fit(data).model_.weights * [
        1,
        10,
        1e3,
        1,
        1e-3,
        1,
    ]
    assert truth @ weights / np.linalg.norm(truth) / np.linalg.norm(weights) > (
        0.95 if measure == "mrr" else 0.98
    )


def test_the_best_epoch_on_held_out_data_is_kept() -> None:
    ranker = LambdaRank(epochs=40, rate=0.3, patience=4, seed=3).fit(TRAIN, valid=VALID)
    best = int(np.argmax(ranker.curve_))
    assert len(ranker.curve_) == min(40, best + 5)
    assert ranker.score(VALID) == pytest.approx(ranker.curve_[best], abs=1e-9)
    stopped = LambdaRank("ranknet", epochs=3, stop_measure="map").fit(TRAIN, valid=VALID)
    found = rl.evaluate(stopped.decision_function(VALID), VALID, measures="map")["map"]
    assert found == pytest.approx(stopped.curve_.max(), abs=1e-9)


def test_seeds_choose_the_order_of_batches() -> None:
    one, same, other = (LambdaRank(epochs=3, seed=seed).fit(DATA).model_ for seed in (0, 0, 1))
    assert one == same
    assert not np.array_equal(one.weights, other.weights)


def test_weights_of_queries_and_rows_count() -> None:
    X, y, qid = [[1.0], [0.0], [1.0], [0.0]], [1, 0, 0, 1], [1, 1, 2, 2]
    for weights, sign in (([9, 1], 1.0), ([1, 9], -1.0)):
        data = RankingData(X, y, qid, query_weights=weights)
        assert np.sign(LambdaRank("ranknet").fit(data).model_.weights[0]) == sign
        rows = LambdaRank("ranknet").fit(X, y, qid, sample_weight=np.repeat(weights, 2))
        assert np.sign(rows.model_.weights[0]) == sign


@pytest.mark.jit_free
@pytest.mark.bounds
def test_the_way_back_from_rows_to_features() -> None:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(9, 5)) * (rng.random((9, 5)) < 0.5)).astype(np.float32)
    pulls = rng.normal(size=9).astype(np.float32)
    pulls[2] = 0.0
    for table in (X, csr_array(X)):
        features, total = RankingData(table).features, np.ones(5)
        add(features, pulls, total)
        np.testing.assert_allclose(total, 1.0 + X.T.astype(float) @ pulls)
        expected = X.astype(float).std(axis=0)
        np.testing.assert_allclose(deviations(features), np.where(expected > 0, expected, 1.0), rtol=1e-6)


def test_adams_first_step_is_the_rate() -> None:
    steps = Adam(2)
    steps.take(np.array([1e-3, -50.0]), 0.1)
    np.testing.assert_allclose(steps.weights, [-0.1, 0.1], rtol=1e-4)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"measure": "ece"}, "lambdas can be made from ranknet"),
    ({"epochs": 0}, "epochs must be a whole number from 1"),
    ({"batch": 1.5}, "batch must be a whole number from 1"),
    ({"rate": 0}, "rate must be a number > 0"),
    ({"lam": -1}, "lam must be a number from 0"),
    ({"patience": 3}, "patience=3 needs validation data"),
    ({"seed": None}, "seed must be a whole number from 0"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_means_nothing_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        LambdaRank(**options).fit(DATA)
    assert str(caught.value).startswith(message)


def test_data_that_teach_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="do two rows differ in label"):
        LambdaRank().fit([[1.0], [2.0]], [1, 1])
