"""local_optimum: yes for a LambdaRank that has converged, no for a perturbed one; its arithmetic by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

import rankloom as rl
from rankloom.rankers.local_optimum import directions_needed, upper_share


@pytest.fixture(scope="module")
def data():
    """As many queries as it takes for curves to be smooth."""
    return rl.make_letor(400, seed=8).data


@pytest.fixture(scope="module")
def learned(data):
    return rl.LambdaRank(epochs=150).fit(data).model_


def perturbed(model, data, seed):
    """Weights moved by their own length, in units of features of standard deviation 1."""
    spread = np.std(np.asarray(data.X, dtype=float), axis=0)
    spread[spread == 0] = 1.0
    move = np.random.default_rng(seed).normal(size=len(spread))
    move *= np.linalg.norm(model.weights * spread) / np.linalg.norm(move)
    return rl.LinearModel(model.weights + move / spread)


def test_a_lambdarank_that_has_converged_is_at_a_maximum(data, learned):
    found = rl.local_optimum(learned, data)
    assert found
    assert str(found).startswith("yes, a local maximum: ndcg@10 is 0.")
    assert (len(found.random), found.up_random, found.up_coordinates) == (459, 0, 0)
    assert found.share == pytest.approx(0.01, abs=5e-5)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_perturbed_one_is_not(data, learned, seed):
    found = rl.local_optimum(perturbed(learned, data, seed), data)
    assert not found
    assert str(found).startswith("no: ndcg@10 is 0.")
    assert found.up_random > 0
    assert found.share > found.up_random / 459
    assert found.steepest.leads_up


def test_steps_mean_what_they_say(data, learned):
    """A coordinate's curve is the measure of the model with that one weight changed."""
    found = rl.local_optimum(learned, data, directions=0, coordinates=3, steps=(0.1,))
    names = data.feature_names or [f"column {j}" for j in range(data.n_features)]
    spread = np.std(np.asarray(data.X, dtype=float), axis=0)
    length = np.linalg.norm(learned.weights * spread)
    for one in found.coordinates:
        assert one.steps == pytest.approx([-0.1, 0.0, 0.1])
        place = list(names).index(one.name)
        for step, value in zip(one.steps, one.values, strict=True):
            weights = learned.weights.copy()
            weights[place] += step * length / spread[place]
            again = rl.evaluate(rl.LinearModel(weights).predict(data), data, measures="ndcg@10")["ndcg@10"]
            assert value == pytest.approx(again, abs=1e-3)


def test_what_features_are_measured_in_means_nothing(data, learned):
    units = 2.0 ** np.arange(-20, 26)
    other = rl.RankingData(
        (np.asarray(data.X) * units).astype(np.float32), data.y, np.repeat(data.qids, data.lengths)
    )
    one = rl.local_optimum(learned, data, directions=20)
    two = rl.local_optimum(rl.LinearModel(learned.weights / units), other, directions=20)
    for first, second in zip(one.random, two.random, strict=True):
        np.testing.assert_allclose(first.values, second.values, atol=1e-3)


def test_a_net_has_as_many_coordinates_as_weights():
    """Two units of two inputs: 4 weights, 2 biases, 2 weights; the last bias moves no ranking."""
    data = rl.RankingData(
        np.random.default_rng(0).normal(size=(60, 2)), np.tile([0, 1, 2], 20), np.arange(60) // 6
    )
    layers = [(np.eye(2), np.zeros(2)), (np.ones((2, 1)), np.zeros(1))]
    found = rl.local_optimum(rl.NetModel(layers), data, directions=5)
    assert len(found.coordinates) == 8
    assert [one.name for one in found.coordinates][:3] == [
        "layer 1, 0 to 0",
        "layer 1, 0 to 1",
        "layer 1, 1 to 0",
    ]
    assert len(rl.local_optimum(rl.NetModel(layers), data, directions=0, coordinates=3).coordinates) == 3


def test_the_best_of_all_is_a_maximum_and_the_worst_is_not():
    """One feature is the label, the other is noise that matters little."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 3, 600).astype(float)
    X = np.column_stack((y, draw.normal(size=600)))
    data = rl.RankingData(X, y, np.arange(600) // 10)
    assert rl.local_optimum(rl.LinearModel([1.0, 0.0]), data, "pairwise")
    assert not rl.local_optimum(rl.LinearModel([0.3, 1.0]), data, "pairwise")
    assert rl.local_optimum(rl.LinearModel([1.0, 0.0]), data, "auc-loss:threshold=2")
    assert not rl.local_optimum(rl.LinearModel([0.3, 1.0]), data, "auc-loss:threshold=2")


def test_the_tolerance_is_a_quarter_of_the_standard_error(data, learned):
    found = rl.local_optimum(learned, data, directions=1, coordinates=1)
    values = rl.evaluate(learned.predict(data), data, measures="ndcg@10").per_query("ndcg@10")
    assert found.tolerance == pytest.approx(0.25 * values.std() / np.sqrt(len(values)))
    assert rl.local_optimum(learned, data, directions=1, coordinates=1, tolerance=0.5).tolerance == 0.5


def test_equation_9():
    assert directions_needed(0.99, 0.01) == 459
    assert directions_needed(0.5, 0.5) == 1
    assert directions_needed(0.75, 0.5) == 2


def test_shares_are_clopper_and_pearsons():
    assert upper_share(0, 459, 0.99) == pytest.approx(1 - 0.01 ** (1 / 459))
    assert upper_share(3, 50, 0.95) == pytest.approx(beta.ppf(0.95, 4, 47))
    assert upper_share(0, 0, 0.99) == 1.0
    assert upper_share(5, 5, 0.99) == 1.0


def test_the_same_seed_gives_the_same_bits(data, learned):
    one, two = (rl.local_optimum(learned, data, directions=5, threads=threads) for threads in (1, 3))
    assert [line.values.tolist() for line in one.random] == [line.values.tolist() for line in two.random]
    other = rl.local_optimum(learned, data, directions=5, seed=1)
    assert other.random[0].values.tolist() != one.random[0].values.tolist()


def test_it_says_what_it_found(data, learned):
    found = rl.local_optimum(learned, data, directions=5)
    told = found.to_dict()
    assert told["random"] == {"tested": 5, "lead_up": found.up_random}
    assert told["steepest"]["rise"] == found.steepest.rise
    assert found.svg().count("<polyline") >= 45


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"measure": "mse"}, "mse measures values"),
        ({"steps": ()}, "steps must be numbers > 0"),
        ({"steps": (-0.1,)}, "steps must be numbers > 0"),
        ({"confidence": 1.0}, "confidence must be"),
        ({"share": 0.0}, "share must be"),
        ({"tolerance": -1.0}, "tolerance must be"),
        ({"directions": -1}, "directions must be"),
    ],
)
def test_bad_input_is_named(data, options, complaint):
    with pytest.raises(rl.InputError, match=complaint):
        rl.local_optimum(rl.LinearModel(np.ones(46)), data, **options)


def test_models_without_weights_are_refused(data):
    with pytest.raises(rl.InputError, match="a model with weights to move"):
        rl.local_optimum("model", data)
    with pytest.raises(rl.InputError, match="all weights of the model are 0"):
        rl.local_optimum(rl.LinearModel(np.zeros(46)), data)
    with pytest.raises(rl.InputError, match="with labels"):
        rl.local_optimum(rl.LinearModel(np.ones(46)), rl.RankingData(np.ones((2, 46))))
