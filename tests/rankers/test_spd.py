"""SPD as an estimator: where it ends up, what stays the same bits, what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from rankloom import SPD, InputError, LinearModel, RankingData, make_letor, make_rcv1
from rankloom.kernels import spd as kernel
from rankloom.rankers import recipes

LETOR = make_letor(60, seed=1).data
TOPIC = make_rcv1(300, n_features=200, shares=(0.2,)).data


def explicit_pairs(data: RankingData) -> np.ndarray:
    """a - b for every pair of P, the better first."""
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
    pairs = [
        X[a] - X[b]
        for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True)
        for a in range(start, stop)
        for b in range(start, stop)
        if y[a] > y[b]
    ]
    return np.array(pairs)


def objective(pairs: np.ndarray, lam: float, w: np.ndarray, loss: str = "hinge") -> float:
    p = pairs @ w
    each = {
        "hinge": np.maximum(0.0, 1.0 - p),
        "logistic": np.logaddexp(0.0, -p),
        "squared": 0.5 * (1.0 - p) ** 2,
    }
    return 0.5 * lam * float(w @ w) + float(each[loss].mean())


def optimum(pairs: np.ndarray, lam: float, loss: str) -> float:
    """By an independent solver: LIBLINEAR's dual for hinge loss, L-BFGS for the others."""
    if loss == "hinge":
        signs = np.where(np.arange(len(pairs)) % 2, -1.0, 1.0)
        svm = LinearSVC(
            loss="hinge", C=1.0 / (lam * len(pairs)), fit_intercept=False, tol=1e-8, max_iter=1_000_000
        )
        svm.fit(pairs * signs[:, None], signs)
        return objective(pairs, lam, svm.coef_[0])
    found = minimize(lambda w: objective(pairs, lam, w, loss), np.zeros(pairs.shape[1]), method="L-BFGS-B")
    return float(found.fun)


@pytest.mark.parametrize(
    ("loss", "learner", "rate"),
    [
        ("hinge", "sgd", "pegasos"),
        ("hinge", "pegasos", "pegasos"),
        ("hinge", "combined", "pegasos"),
        ("hinge", "sgd", None),
        ("hinge", "pegasos", None),
        ("hinge", "combined", None),
        ("logistic", "sgd", "pegasos"),
        ("logistic", "pegasos", None),
        ("squared", "sgd", None),
        ("squared", "pegasos", None),
    ],
)
def test_a_million_steps_reach_the_optimum(loss: str, learner: str, rate: str | None) -> None:
    lam, pairs = 0.01, explicit_pairs(LETOR)
    least = optimum(pairs, lam, loss)
    for average in (False, True):
        ranker = SPD(loss, learner, lam=lam, rate=rate, steps=1_000_000, average=average)
        reached = objective(pairs, lam, ranker.fit(LETOR).model_.weights, loss)
        assert least * (1.0 - 1e-6) <= reached < 1.01 * least


@pytest.mark.parametrize("data", [LETOR, TOPIC], ids=["dense", "sparse"])
@pytest.mark.parametrize("learner", recipes.LEARNERS)
def test_the_same_seed_is_the_same_bits_and_another_is_not(data: RankingData, learner: str) -> None:
    one, same, other = (SPD(learner=learner, steps=3000, seed=seed).fit(data).model_ for seed in (0, 0, 1))
    assert one == same
    assert not np.array_equal(one.weights, other.weights)


@pytest.mark.parametrize("sampler", ["pairs", "balanced"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_steps_in_parts_are_the_same_bits(sampler: str, n_jobs: int) -> None:
    whole = SPD(sampler=sampler, steps=6000, n_jobs=n_jobs).fit(LETOR)
    warm = SPD(sampler=sampler, steps=2000, n_jobs=n_jobs, warm_start=True)
    partly = SPD(sampler=sampler, steps=2000, n_jobs=n_jobs)
    for _ in range(3):
        warm.fit(LETOR)
        partly.partial_fit(LETOR)
    seen: list[int] = []
    watched = SPD(sampler=sampler, steps=6000, n_jobs=n_jobs, callback=lambda step, _: seen.append(step))
    watched.set_params(callback_at=700).fit(LETOR)
    for ranker in (warm, partly, watched):
        assert np.array_equal(ranker.model_.weights, whole.model_.weights)
    assert seen == [700, 1400, 2100, 2800, 3500, 4200, 4900, 5600]


def test_learning_goes_on_with_other_rows_and_survives_a_pickle() -> None:
    ranker = SPD(steps=1000).fit(LETOR.take(slice(0, 30)))
    before = ranker.model_.weights.copy()
    again = pickle.loads(pickle.dumps(ranker))
    for one in (ranker, again):
        one.partial_fit(LETOR.take(slice(30, 60)))
    assert np.array_equal(ranker.model_.weights, again.model_.weights)
    assert not np.array_equal(ranker.model_.weights, before)


def test_workers_share_the_steps_and_are_averaged() -> None:
    one = SPD(steps=2000, n_jobs=1).fit(LETOR).model_.weights
    models = [SPD(steps=2000, n_jobs=n_jobs).fit(LETOR).model_.weights for n_jobs in (2, 2, 4)]
    assert np.array_equal(models[0], models[1])
    assert not np.array_equal(models[0], models[2])
    assert not np.array_equal(models[0], one)


def test_a_worker_more_for_a_step_more() -> None:
    """A worker without a step of its own stays at 0."""
    one = SPD(steps=1, learner="passive-aggressive", C=1e9).fit(LETOR).model_.weights
    two = SPD(steps=1, learner="passive-aggressive", C=1e9, n_jobs=2).fit(LETOR).model_.weights
    assert np.allclose(two, one / 2)


def test_the_callback_gets_models_and_can_stop() -> None:
    seen: list[tuple[int, LinearModel]] = []

    def watch(step: int, model: LinearModel) -> bool:
        seen.append((step, model))
        return step >= 500

    ranker = SPD(steps=100_000, callback=watch).fit(LETOR)
    assert [step for step, _ in seen] == [100, 200, 500]
    assert np.array_equal(seen[-1][1].weights, SPD(steps=500).fit(LETOR).model_.weights)
    assert np.array_equal(ranker.model_.weights, seen[-1][1].weights)
    ranker.set_params(callback=lambda step, _: seen.append((step, _)), callback_at=[700, 650, 9]).partial_fit(
        LETOR
    )
    assert [step for step, _ in seen[3:]] == [650, 700]


def test_weights_of_queries_choose_the_pairs() -> None:
    """Two queries that want opposite things: the heavier one gets its way, whatever draws the pairs."""
    X, y, qid = [[1.0], [0.0], [1.0], [0.0]], [1, 0, 0, 1], [1, 1, 2, 2]
    for sampler in ("pairs", "balanced", "stream"):
        for weights, sign in (([9, 1], 1.0), ([1, 9], -1.0)):
            data = RankingData(X, y, qid, query_weights=weights)
            found = SPD(sampler=sampler, steps=20_000, lam=0.1).fit(data).model_.weights
            assert np.sign(found[0]) == sign


@pytest.mark.parametrize("learner", ["pegasos", "sgd", "passive-aggressive", "perceptron", "combined"])
@pytest.mark.parametrize("sampler", recipes.SAMPLERS)
def test_weights_of_rows_count(sampler: str, learner: str) -> None:
    X, y, qid = [[1.0], [0.0], [1.0], [0.0]], [1, 0, 0, 1], [1, 1, 2, 2]
    for weights, sign in (([3, 3, 1, 1], 1.0), ([1, 1, 3, 3], -1.0)):
        ranker = SPD(learner=learner, sampler=sampler, steps=5000, lam=0.1)
        if learner == "passive-aggressive":
            ranker.set_params(C=1e-3)
        found = ranker.fit(X, y, qid, sample_weight=weights).model_.weights
        assert np.sign(found[0]) == sign


def test_weights_that_are_all_equal_are_no_weights() -> None:
    plain = SPD(steps=500).fit(LETOR.X, LETOR.y, np.repeat(LETOR.qids, LETOR.lengths)).model_
    equal = SPD(steps=500).fit(
        LETOR.X, LETOR.y, np.repeat(LETOR.qids, LETOR.lengths), sample_weight=np.full(LETOR.n_rows, 7.0)
    )
    assert np.array_equal(plain.weights, equal.model_.weights)


def test_averaging_quiets_steps_that_do_not_shrink() -> None:
    def spread(average: bool) -> float:
        ranker = SPD(steps=3000, lam=0.1, rate="constant", c=0.1, average=average)
        runs = [ranker.set_params(seed=seed).fit(LETOR).model_.weights for seed in range(8)]
        return float(np.std(runs, axis=0).mean())

    assert spread(average=True) < 0.5 * spread(average=False)


@pytest.mark.parametrize("loss", recipes.LOSSES)
def test_the_objective_is_the_mean_over_all_pairs(loss: str) -> None:
    ranker = SPD(loss, "sgd", lam=0.3, steps=500).fit(LETOR)
    expected = objective(explicit_pairs(LETOR), 0.3, ranker.model_.weights, loss)
    assert ranker.objective(LETOR) == pytest.approx(expected, rel=1e-6)
    other = LinearModel(np.zeros(46))
    assert ranker.objective(LETOR, model=other) == pytest.approx(
        {"logistic": np.log(2), "squared": 0.5}.get(loss, 1)
    )


def test_the_objective_knows_samplers_and_weights() -> None:
    """Scores 0, 1, 2, 3 of labels 0, 1, 1, 2; query 2 has the one pair 0 < 1 with scores 0, 5."""
    X, y, qid = [[0.0], [1.0], [2.0], [3.0], [0.0], [5.0]], [0, 1, 1, 2, 0, 1], [1, 1, 1, 1, 2, 2]
    model = LinearModel([-1.0])
    losses = {(1, 0): 2.0, (2, 0): 3.0, (3, 0): 4.0, (3, 1): 3.0, (3, 2): 2.0, (5, 4): 6.0}
    plain = SPD(lam=2.0).objective(X, y, qid, model=model)
    assert plain == pytest.approx(1.0 + np.mean(list(losses.values())))
    balanced = SPD(lam=2.0, sampler="balanced").objective(X, y, qid, model=model)
    assert balanced == pytest.approx(1.0 + ((2.5 + 4.0 + 2.5) / 3 + 6.0) / 2)
    weighted = RankingData(X, y, qid, weights=[1, 1, 0, 1, 1, 2], query_weights=[1, 3])
    assert SPD(lam=2.0).objective(weighted, model=model) == pytest.approx(1.0 + (2 + 4 + 3 + 6 * 6) / 9)
    with pytest.raises(InputError, match="the data have none"):
        SPD().objective([[1.0], [2.0]], [1, 1], model=model)


REFUSED = [
    ({"loss": "huber"}, "loss must be one of hinge, logistic, squared, got 'huber'"),
    ({"learner": "adam"}, "learner must be one of pegasos"),
    ({"sampler": "all"}, "sampler must be one of pairs, balanced, stream"),
    ({"learner": "romma", "loss": "logistic"}, "loss='logistic' needs a learner that follows its gradient"),
    ({"learner": "combined", "loss": "squared"}, "loss='squared' needs a learner that follows its gradient"),
    ({"C": 1.0}, 'C=1.0 needs learner="passive-aggressive" or "combined"'),
    ({"margin": 1.0}, 'margin=1.0 needs learner="perceptron"'),
    ({"early": 0.2}, 'early=0.2 needs learner="combined"'),
    ({"buffer": 100}, 'buffer=100 needs sampler="stream"'),
    ({"learner": "romma", "rate": "constant"}, "rate='constant' needs a learner with a rate"),
    ({"rate": "fast"}, "rate must be one of pegasos, bounded, inverse, constant"),
    ({"c": 3.0}, 'c=3.0 needs rate="inverse" or rate="constant"'),
    ({"rate": "inverse", "c": -1.0}, "c must be a number > 0, got -1.0"),
    ({"lam": 0.0}, "lam must be a number > 0, got 0.0"),
    ({"lam": float("nan")}, "lam must be a number > 0, got nan"),
    ({"lam": "1"}, "lam must be a number > 0, got '1'"),
    ({"steps": 0}, "steps must be a whole number from 1, got 0"),
    ({"steps": 1e5}, "steps must be a whole number from 1, got 100000.0"),
    ({"n_jobs": -1}, "n_jobs must be a whole number from 1 "),
    ({"seed": -1}, "seed must be a whole number from 0, got -1"),
    ({"seed": None}, "seed must be a whole number from 0, got None"),
    ({"average": 1.5}, "average must be a number from 0 up to 1, got 1.5"),
    ({"warm_start": "yes"}, "warm_start must be True or False"),
    ({"learner": "combined", "early": 2}, "early must be a number > 0 up to 1, got 2"),
    ({"callback": print, "callback_at": "all"}, "callback_at must be a whole number or steps"),
    ({"callback": print, "callback_at": 0}, "callback_at must be a whole number from 1"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[str(options) for options, _ in REFUSED])
def test_what_means_nothing_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        SPD(**options).fit(LETOR)
    assert str(caught.value).startswith(message)


def test_data_without_a_pair_are_refused() -> None:
    with pytest.raises(InputError, match="in none of the 2 queries do two rows differ in label"):
        SPD().fit([[1.0], [2.0], [3.0], [4.0]], [1, 1, 0, 0], qid=[1, 1, 2, 2])
    with pytest.raises(InputError, match='"romma" has no step that a weight could change'):
        SPD(learner="romma").fit([[1.0], [2.0]], [1, 0], sample_weight=[1, 2])


def test_going_on_with_something_else_is_refused() -> None:
    ranker = SPD(steps=10).fit([[1.0, 0.0], [2.0, 0.0]], [0, 1])
    with pytest.raises(InputError, match="X has 1 features, but SPD is expecting 2 features as input"):
        ranker.partial_fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(InputError, match="n_jobs must stay 1 while learning goes on, got 2"):
        ranker.set_params(n_jobs=2).partial_fit([[1.0, 0.0], [2.0, 0.0]], [0, 1])


def test_steps_that_are_too_large_are_an_error_not_nonsense() -> None:
    X = 1e4 * np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(
        InputError, match=r'learning diverged: a weight was .* take smaller steps \(rate="bounded"'
    ):
        SPD(loss="squared", learner="sgd", rate="pegasos").fit(X, X[:, 0] > 0)
    assert SPD(loss="squared", learner="sgd").fit(X, X[:, 0] > 0).score(X, X[:, 0] > 0) == 1.0


@pytest.mark.filterwarnings("ignore:features differ in scale")
def test_values_too_large_for_numbers_are_an_error() -> None:
    X = np.array([[3e38, 1.0], [-3e38, 0.0]], dtype=np.float32)
    with pytest.raises(InputError, match="learning diverged"):
        SPD(learner="perceptron", rate="constant", c=1e300).fit(X, [1, 0])


def test_romma_may_leave_all_numbers_and_says_so() -> None:
    with pytest.raises(
        InputError, match="ROMMA's weights grow without end where labels are noisy; take fewer"
    ):
        SPD(learner="romma", steps=10_000_000).fit(make_letor(100, seed=0, noise=3.0).data)


def test_numbers_of_choices_are_those_of_the_kernel() -> None:
    assert recipes.LEARNER_NUMBERS == {
        "sgd": kernel.SGD,
        "pegasos": kernel.PEGASOS,
        "combined": kernel.PEGASOS,
        "passive-aggressive": kernel.PASSIVE_AGGRESSIVE,
        "romma": kernel.ROMMA,
        "perceptron": kernel.PERCEPTRON,
    }
    assert recipes.LOSS_NUMBERS == {
        "hinge": kernel.HINGE,
        "logistic": kernel.LOGISTIC,
        "squared": kernel.SQUARED,
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pegasos", [1 / (0.01 * i) for i in (1, 2, 1000)]),
        ("bounded", [1 / (0.01 * (i + 500)) for i in (1, 2, 1000)]),
        ("inverse", [3 / (3 + i) for i in (1, 2, 1000)]),
        ("constant", [3.0, 3.0, 3.0]),
    ],
)
def test_rates_are_what_they_say(name: str, expected: list[float]) -> None:
    rate = recipes.rate_of(name, c=3.0, lam=0.01, square=5.0)
    assert [rate.rate / (rate.offset + i) for i in (1, 2, 1000)] == pytest.approx(expected, rel=1e-12)
