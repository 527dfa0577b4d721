"""CRR: the optimum of its objective, what its values mean, calibration, the trade-off over alpha."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import ElasticNet, LogisticRegression

from rankloom import CRR, InputError, RankingData, alpha_sweep, evaluate, load, make_letor, make_rcv1
from rankloom.rankers.calibration import cross_entropy, least_squares

LETOR = make_letor(60, seed=1).data
TOPIC = make_rcv1(400, n_features=150, shares=(0.1,)).data


def pairs_of(data: RankingData) -> tuple[np.ndarray, np.ndarray]:
    """a - b and the difference of labels, for every pair of P."""
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
    query = np.repeat(np.arange(data.n_queries), data.lengths)
    a, b = np.nonzero((query[:, None] == query[None]) & (y[:, None] > y[None]))
    return X[a] - X[b], y[a] - y[b]


class Objective:
    """alpha L(D) + (1 - alpha) L(P) + lam/2 |w|^2 of z = (w, bias), and its gradient."""

    def __init__(self, data: RankingData, alpha: float, loss: str, lam: float = 0.01) -> None:
        X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
        D, d = pairs_of(data)
        self.table = np.vstack([np.c_[X, np.ones(len(X))], np.c_[D, np.zeros(len(D))]])
        self.share = np.r_[np.full(len(X), alpha / len(X)), np.full(len(D), (1 - alpha) / len(D))]
        self.loss, self.lam = loss, lam
        if loss == "squared":
            self.t = np.r_[y, d]
        elif loss == "logistic":
            self.t = np.r_[y / 2.0, (1.0 + d / 2.0) / 2.0]
        else:
            self.t = np.r_[np.where(y > y.min(), 1.0, -1.0), np.ones(len(D))]

    def value(self, z: np.ndarray) -> float:
        p, t = self.table @ z, self.t
        each = {
            "squared": lambda: 0.5 * (t - p) ** 2,
            "logistic": lambda: np.logaddexp(0.0, p) - t * p,
            "hinge": lambda: np.maximum(0.0, 1.0 - t * p),
        }[self.loss]()
        return float(self.share @ each + 0.5 * self.lam * z[:-1] @ z[:-1])

    def slope(self, z: np.ndarray) -> np.ndarray:
        p = self.table @ z
        away = p - self.t if self.loss == "squared" else 1 / (1 + np.exp(-p)) - self.t
        return self.table.T @ (self.share * away) + self.lam * np.r_[z[:-1], 0.0]


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("alpha", [0.2, 0.5, 1.0])
def test_a_million_steps_reach_the_optimum(loss: str, alpha: float) -> None:
    aim = Objective(LETOR, alpha, loss)
    found = minimize(aim.value, np.zeros(LETOR.n_features + 1), jac=aim.slope, method="L-BFGS-B")
    model = CRR(alpha, loss, lam=aim.lam, steps=1_000_000, calibrate=False).fit(LETOR).model_
    reached = aim.value(np.r_[model.weights, model.bias])
    assert found.fun * (1 - 1e-5) <= reached < 1.01 * found.fun


def test_hinge_loss_comes_close_to_its_optimum() -> None:
    """Nothing near is better: a convex objective has no other lowest point."""
    data = RankingData(LETOR.X, np.asarray(LETOR.y) > 0, np.repeat(LETOR.qids, LETOR.lengths))
    aim = Objective(data, 0.5, "hinge")
    model = CRR(0.5, "hinge", lam=aim.lam, steps=1_000_000, calibrate=False).fit(data).model_
    z = np.r_[model.weights, model.bias]
    near = z + np.random.default_rng(0).normal(scale=0.02, size=(200, len(z)))
    assert aim.value(z) < 1.001 * min(map(aim.value, near))


@pytest.mark.parametrize("l1", [1e-3, 1e-2])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_l1_is_the_elastic_net(l1: float, alpha: float) -> None:
    """scikit-learn's, on rows and pairs written out: the same optimum, and the same weights are 0."""
    aim = Objective(LETOR, alpha, "squared")
    table, share = aim.table[:, :-1], aim.share / aim.share.mean()
    net = ElasticNet(l1 + aim.lam, l1_ratio=l1 / (l1 + aim.lam), fit_intercept=False, tol=1e-9)
    w = net.set_params(max_iter=100_000).fit(table, aim.t, sample_weight=share).coef_

    def value(w: np.ndarray) -> float:
        return aim.value(np.r_[w, 0.0]) + l1 * float(np.abs(w).sum())

    ranker = CRR(alpha, lam=aim.lam, l1=l1, bias=False, calibrate=False, steps=1_000_000).fit(LETOR)
    found = ranker.model_.weights
    assert value(w) * (1 - 1e-5) <= value(found) < 1.01 * value(w)
    assert 5 < np.count_nonzero(w) < 40
    assert abs(np.count_nonzero(found) - np.count_nonzero(w)) <= 3
    assert CRR(alpha, l1=l1, steps=1000).fit(LETOR).model_.named_weights(top=1)  # with a bias, calibrated


def test_l1_goes_on_and_has_no_average() -> None:
    options = {"loss": "logistic", "l1": 1e-3}
    whole = CRR(steps=4000, **options).fit(LETOR).model_
    warm = CRR(steps=2000, warm_start=True, **options).fit(LETOR).fit(LETOR).model_
    assert np.array_equal(whole.weights, warm.weights)
    assert 0 < np.count_nonzero(whole.weights) < np.count_nonzero(CRR(steps=4000).fit(LETOR).model_.weights)
    assert (
        CRR(steps=4000, average=False, **options).fit(LETOR).model_.weights.tolist() == whole.weights.tolist()
    )
    default, half, last = (CRR(steps=999, average=part).fit(LETOR).model_.weights for part in (None, 0.5, 0))
    assert np.array_equal(default, half)
    assert not np.array_equal(default, last)


def test_pairs_make_scores_too_wide_and_calibration_mends_it() -> None:
    """Pairs of P never tie, so the differences they ask for are larger than those to be expected."""
    y = np.asarray(LETOR.y)
    error = {}
    for name, options in {
        "regression": {"alpha": 1.0},
        "plain": {"calibrate": False},
        "calibrated": {},
    }.items():
        ranker = CRR(lam=0.01, steps=300_000, **options).fit(LETOR)
        error[name] = float(np.mean((y - ranker.predict(LETOR)) ** 2))
    plain, calibrated = (CRR(lam=0.01, steps=3000, calibrate=on).fit(LETOR) for on in (False, True))
    assert error["plain"] > 1.1 * error["regression"]
    assert error["calibrated"] < 1.04 * error["regression"]
    order = [np.argsort(ranker.decision_function(LETOR), kind="stable") for ranker in (plain, calibrated)]
    assert np.array_equal(*order)


def test_least_squares_is_the_best_line() -> None:
    random = np.random.default_rng(0)
    scores, weights = random.normal(size=50), random.uniform(size=50)
    y = 3.0 * scores - 2.0 + random.normal(size=50)
    slope, offset = np.polyfit(scores, y, 1, w=np.sqrt(weights))
    assert least_squares(scores, y, weights) == pytest.approx((slope, offset))
    assert least_squares(scores, -y, None) == pytest.approx((1.0, -y.mean() - scores.mean()))
    assert least_squares(np.zeros(50), y, None) == pytest.approx((1.0, y.mean()))


def test_cross_entropy_is_the_best_logistic_fit() -> None:
    random = np.random.default_rng(0)
    scores = 5.0 * random.normal(size=5000)
    y = (random.uniform(size=5000) < 1 / (1 + np.exp(-(0.4 * scores - 2.0)))).astype(float)
    known = LogisticRegression(C=1e9, tol=1e-10).fit(scores[:, None], y)
    expected = known.coef_[0, 0], known.intercept_[0]
    assert cross_entropy(scores, y, None) == pytest.approx(expected, rel=2e-3)
    a, b = cross_entropy(scores, 1.0 - y, None)
    assert a == 1.0
    assert np.isfinite(b)


def test_separated_scores_do_not_blow_up() -> None:
    a, b = cross_entropy(np.array([-1.0, -2.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0, 1.0]), None)
    assert 1.0 < a < 40.0
    assert abs(b) < 1e-9
    a, b = cross_entropy(np.array([1e-9, 2e-9]), np.array([0.0, 0.0]), None)
    assert np.isfinite([a, b]).all()


def test_probabilities_are_probabilities() -> None:
    ranker = CRR(loss="logistic", lam=1e-4, steps=200_000, calibrate=True).fit(TOPIC)
    values, scores = ranker.predict(TOPIC), ranker.decision_function(TOPIC)
    assert np.allclose(values, 1 / (1 + np.exp(-scores)))
    assert values.mean() == pytest.approx(0.1, abs=0.005)
    assert evaluate(values, TOPIC, measures="logloss")["logloss"] < 0.2
    assert ranker.model_.link == "logistic"
    assert ranker.model_.target_range is None


@pytest.mark.parametrize(("low", "high"), [(0.0, 2.0), (-1.0, 1.0), (1.0, 5.0)])
def test_labels_elsewhere_are_scaled_and_mapped_back(low: float, high: float) -> None:
    y = low + (high - low) * np.asarray(TOPIC.y)
    unit = CRR(loss="logistic", steps=5000).fit(TOPIC)
    ranker = CRR(loss="logistic", steps=5000).fit(TOPIC.X, y)
    assert ranker.model_.target_range == (low, high)
    assert np.allclose(ranker.decision_function(TOPIC), unit.decision_function(TOPIC), rtol=1e-6)
    assert np.allclose(ranker.predict(TOPIC), low + (high - low) * unit.predict(TOPIC), rtol=1e-6)


def test_the_range_of_labels_holds_while_learning_goes_on(tmp_path: Any) -> None:
    ranker = CRR(loss="logistic", steps=100).fit([[1.0], [2.0], [3.0]], [0, 1, 4])
    ranker.partial_fit([[1.0], [2.0]], [1, 3])
    assert ranker.model_.target_range == (0.0, 4.0)
    ranker.model_.save(tmp_path / "m.rank")
    assert load(tmp_path / "m.rank").target_range == (0.0, 4.0)
    with pytest.raises(
        InputError, match=r"labels must lie within target_range, 0 to 4, .* from 1 to 5; pass"
    ):
        ranker.partial_fit([[1.0], [2.0]], [1, 5])
    wide = CRR(loss="logistic", steps=100, target_range=(0, 8)).fit([[1.0], [2.0]], [1, 3])
    assert wide.model_.target_range == (0.0, 8.0)
    again = ranker.fit([[1.0], [2.0]], [0, 9])
    assert again.model_.target_range == (0.0, 9.0)


@pytest.mark.parametrize("calibrate", [True, False])
def test_hinge_values_are_labels(calibrate: bool) -> None:
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    for low, high in ((0.0, 1.0), (-1.0, 1.0), (3.0, 7.0)):
        y = np.where(X[:, 0] > 0, high, low)
        values = CRR(0.9, "hinge", lam=1e-3, calibrate=calibrate).fit(X, y).predict(X)
        assert np.abs(values - y).max() < 0.25 * (high - low)


def test_calibration_is_the_default_unless_logistic_loss_has_too_few_rows() -> None:
    y = np.asarray(LETOR.y) > 0
    all_rows = RankingData(LETOR.X, y, np.repeat(LETOR.qids, LETOR.lengths))
    few = all_rows.take(slice(0, 20))
    assert all_rows.n_rows >= 920 > few.n_rows  # twenty a feature
    cases = [
        ("squared", few, True),
        ("hinge", few, True),
        ("logistic", few, False),
        ("logistic", all_rows, True),
    ]
    for loss, binary, usual in cases:
        default, same, other = (
            CRR(loss=loss, steps=500, calibrate=choice).fit(binary).model_.weights
            for choice in (None, usual, not usual)
        )
        assert np.array_equal(default, same)
        assert not np.array_equal(default, other)


def test_no_bias_is_no_bias() -> None:
    ranker = CRR(bias=False, calibrate=False, steps=1000).fit(LETOR)
    assert ranker.model_.bias == 0.0
    assert CRR(bias=True, calibrate=False, steps=1000).fit(LETOR).model_.bias != 0.0


def test_parts_are_the_same_bits_and_so_are_seeds() -> None:
    for loss in ("squared", "logistic"):
        for n_jobs in (1, 2):
            options = {"loss": loss, "n_jobs": n_jobs, "average": False}
            whole = CRR(steps=4000, **options).fit(LETOR).model_
            warm = CRR(steps=2000, warm_start=True, **options).fit(LETOR).fit(LETOR).model_
            assert np.array_equal(whole.weights, warm.weights)
            assert whole.bias == warm.bias
            other = CRR(steps=4000, seed=1, **options).fit(LETOR).model_
            assert not np.array_equal(whole.weights, other.weights)


def test_weights_of_rows_move_values() -> None:
    X = np.zeros((4, 1))
    for loss in ("squared", "logistic"):
        for calibrate in (True, False):
            ranker = CRR(1.0, loss, lam=0.01, steps=50_000, calibrate=calibrate)
            values = ranker.fit(X, [0, 0, 1, 1], sample_weight=[3, 3, 1, 1]).predict(X)
            assert np.allclose(values, 0.25, atol=0.02)


REFUSED = [
    ({"alpha": 1.5}, "alpha must be a number from 0 up to 1, got 1.5"),
    ({"loss": "mse"}, "loss must be one of hinge, logistic, squared, got 'mse'"),
    ({"loss": "hinge"}, "hinge loss tells two labels apart, got 3 different ones; use squared or logistic"),
    ({"sampler": "stream"}, "sampler must be one of pairs, balanced, got 'stream'"),
    ({"target_range": (0, 1)}, 'target_range needs loss="logistic"'),
    ({"loss": "logistic", "target_range": (0, 1)}, "with logistic loss, labels must lie within target_range"),
    ({"loss": "logistic", "target_range": 3}, "target_range must be two numbers (low, high) or None, got 3"),
    ({"loss": "logistic", "target_range": (1, 0)}, "target_range must rise from low to high"),
    ({"c": 1.0}, 'c=1.0 needs rate="inverse" or rate="constant"'),
    ({"l1": -1}, "l1 must be a number from 0, got -1"),
    ({"l1": 0.1, "average": True}, "an average of sparse weights is not sparse: average=True needs l1=0"),
    ({"bias": 1.5}, "bias must be True or False"),
    ({"rate": "pegasos", "lam": 1e-9}, "learning diverged"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[str(options) for options, _ in REFUSED])
def test_what_means_nothing_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        CRR(**options).fit(LETOR)
    assert str(caught.value).startswith(message)


def test_without_a_pair_only_values_can_be_learned() -> None:
    X, y, qid = [[1.0], [2.0], [3.0], [4.0]], [1, 1, 0, 0], [1, 1, 2, 2]
    with pytest.raises(InputError, match="alpha=1 learns values without any ranking"):
        CRR().fit(X, y, qid)
    assert np.corrcoef(CRR(alpha=1.0).fit(X, y, qid).predict(X), y)[0, 1] > 0.8
    with pytest.raises(InputError, match='query weights choose pairs, which needs sampler="pairs"'):
        CRR(sampler="balanced").fit(RankingData(X, [1, 0, 1, 0], qid, query_weights=[1, 2]))


def test_the_sweep_measures_values_and_ranking() -> None:
    ranker = CRR(lam=0.01, steps=20_000, calibrate=False)
    sweep = alpha_sweep(ranker, LETOR, LETOR, alphas=[1, 0, 0.5], measures=["mse", "pairwise"])
    assert sweep.alphas == [0.0, 0.5, 1.0]
    assert sweep.best("mse").alpha == 1.0
    middle = CRR(0.5, lam=0.01, steps=20_000, calibrate=False).fit(LETOR)
    assert sweep[1].model.weights.tolist() == middle.model_.weights.tolist()
    expected = evaluate(middle.predict(LETOR), LETOR, measures="mse")["mse"]
    assert sweep[1].values["mse"] == expected
    assert str(sweep).splitlines()[0].split() == ["alpha", "mse", "pairwise"]
    assert ranker.alpha == 0.5
    with pytest.raises(InputError, match="the sweep has measured mse, pairwise, not map"):
        sweep.best("map")
    with pytest.raises(InputError, match="alphas must name at least one"):
        alpha_sweep(ranker, LETOR, LETOR, alphas=[])
