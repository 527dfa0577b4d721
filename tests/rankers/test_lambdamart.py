"""LambdaMART: its trees beside the formulas, what it watches, what it starts from, what it refuses."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pytest
from scipy.sparse import csr_array

import rankloom as rl
from rankloom import InputError, LambdaMART, RankingData, TreeModel, make_letor
from rankloom.rankers.boosting import table_of
from rankloom.rankers.lambdas import Lambdas

DATA = make_letor(80, seed=2).data
TRAIN, VALID = rl.split(DATA, [0.7, 0.3], seed=1)
QUICK: dict[str, Any] = {"n_trees": 8, "leaves": 6, "min_data_in_leaf": 5, "lambda_l2": 0.0}


def leaves_and_values(model: TreeModel, data: RankingData, tree: int) -> tuple[np.ndarray, np.ndarray]:
    booster = lightgbm.Booster(model_str=model.text)
    leaves = booster.predict(table_of(data), start_iteration=tree, num_iteration=1, pred_leaf=True).ravel()
    values = booster.predict(table_of(data), start_iteration=tree, num_iteration=1, raw_score=True)
    return leaves.astype(int), values


@pytest.mark.parametrize("splits", ["newton", "least-squares"])
@pytest.mark.parametrize("measure", ["ndcg@10", "map", "ranknet"])
@pytest.mark.parametrize("damping", [0.0, 2.5, None])
def test_leaf_values_are_newton_steps(splits: str, measure: str, damping: float | None) -> None:
    """gamma = -sum of lambda / (l2 + sum of w) over the rows of a leaf, times the learning rate."""
    how = {**QUICK, "lambda_l2": damping}
    model = LambdaMART(measure, splits=splits, learning_rate=0.3, **how).fit(DATA).model_
    objective, scores = Lambdas(DATA.y, DATA.offsets, measure), np.zeros(DATA.n_rows)
    if damping is None:
        damping = 30 * objective.gradients(scores).weights.mean(dtype=float)
    for tree in range(model.n_trees):
        pull, bend = (part.astype(float) for part in objective.gradients(scores))
        leaves, values = leaves_and_values(model, DATA, tree)
        steps = -0.3 * np.bincount(leaves, pull) / (np.bincount(leaves, bend) + damping)
        np.testing.assert_allclose(values, steps[leaves], rtol=2e-4, atol=1e-6)
        scores += values
    np.testing.assert_allclose(scores, model.decision_function(DATA), atol=1e-9)


def test_noise_shakes_the_scores_of_each_round() -> None:
    """The leaves of each tree step by the lambdas at scores with the noise that its seed draws."""
    ranker = LambdaMART(noise=1.4, sigma=2.0, seed=3, learning_rate=0.3, **QUICK).fit(DATA)
    model, scores, rng = ranker.model_, np.zeros(DATA.n_rows), np.random.default_rng(3)
    for tree in range(model.n_trees):
        shaken = scores + rng.gumbel(0.0, 0.7, DATA.n_rows)
        pull, bend = Lambdas(DATA.y, DATA.offsets, "ndcg@10", sigma=2.0).gradients(shaken)
        leaves, values = leaves_and_values(model, DATA, tree)
        steps = -0.3 * np.bincount(leaves, pull) / np.bincount(leaves, bend)
        np.testing.assert_allclose(values, steps[leaves], rtol=2e-4, atol=1e-6)
        scores += values
    again = LambdaMART(noise=1.4, sigma=2.0, seed=3, learning_rate=0.3, **QUICK).fit(DATA).model_
    assert again.text == model.text


def test_least_squares_splits_fit_the_lambdas() -> None:
    """Of all splits of one feature in two leaves, the one whose means are nearest to the lambdas."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, (60, 3)), rng.integers(0, 4, 60)
    data = RankingData(X, y, np.repeat([1, 2, 3], 20))
    pull = Lambdas(data.y, data.offsets, "ndcg").gradients(np.zeros(60)).lambdas.astype(float)
    best = min(
        (
            pull[X[:, f] <= t].var() * (X[:, f] <= t).sum() + pull[X[:, f] > t].var() * (X[:, f] > t).sum(),
            f,
            t,
        )
        for f in range(3)
        for t in range(8)
        if 0 < (X[:, f] <= t).sum() < 60
    )
    ranker = LambdaMART("ndcg", splits="least-squares", n_trees=1, leaves=2, min_data_in_leaf=1)
    ranker.set_params(lambda_l2=0.0)
    leaves, _ = leaves_and_values(ranker.fit(data).model_, data, 0)
    upper = X[:, best[1]] > best[2]
    assert len(set(zip(leaves.tolist(), upper.tolist(), strict=True))) == 2


def test_it_is_lightgbms_lambdarank_where_that_is_asked_for() -> None:
    params = {"objective": "lambdarank", "num_leaves": 6, "learning_rate": 0.2, "min_data_in_leaf": 5}
    params |= {"lambdarank_truncation_level": 20, "verbose": -1, "seed": 0, "num_threads": 1}
    own = lightgbm.train(
        params, lightgbm.Dataset(np.asarray(DATA.X), DATA.y, group=DATA.lengths), num_boost_round=6
    )
    ranker = LambdaMART("ndcg", normalisation="lightgbm", truncation=20, learning_rate=0.2, **QUICK)
    model = ranker.set_params(n_trees=6).fit(DATA).model_
    assert model.importances("split") == TreeModel(own).importances("split")
    gap = np.abs(model.decision_function(DATA) - own.predict(np.asarray(DATA.X), raw_score=True)).max()
    assert 0.0 < gap < 5e-5  # its sigmoid comes from a table


@pytest.mark.parametrize("splits", ["newton", "least-squares"])
def test_the_best_trees_on_held_out_data_are_kept(splits: str) -> None:
    ranker = LambdaMART(splits=splits, n_trees=60, leaves=8, learning_rate=0.4, patience=5)
    ranker.fit(TRAIN, valid=VALID)
    assert ranker.model_.n_trees == int(np.argmax(ranker.curve_)) + 1
    assert len(ranker.curve_) == min(60, ranker.model_.n_trees + 5)
    assert ranker.score(VALID) == pytest.approx(ranker.curve_.max(), abs=1e-12)
    other = LambdaMART(stop_measure="auc-loss", **QUICK)
    found = other.fit(TRAIN, valid=VALID).model_
    loss = rl.evaluate(found.decision_function(VALID), VALID, measures="auc-loss")["auc-loss"]
    assert loss == pytest.approx(-other.curve_.max())


def test_a_base_model_is_where_learning_starts_and_goes_along(tmp_path: Any) -> None:
    base = rl.SPD(steps=2000, seed=1).fit(TRAIN)
    path = str(tmp_path / "base.rank")
    base.model_.save(path)
    models = [LambdaMART(base=given, **QUICK).fit(TRAIN).model_ for given in (base, base.model_, path)]
    assert models[0].text == models[1].text == models[2].text
    assert models[0].base == models[1].base == models[2].base
    model = models[0]
    pull, bend = Lambdas(TRAIN.y, TRAIN.offsets, "ndcg@10").gradients(base.decision_function(TRAIN))
    leaves, values = leaves_and_values(model, TRAIN, 0)
    steps = -0.1 * np.bincount(leaves, pull) / np.bincount(leaves, bend)
    np.testing.assert_allclose(values, steps[leaves], rtol=2e-3, atol=1e-6)
    model.save(tmp_path / "whole.rank")
    kept = rl.load(tmp_path / "whole.rank")
    assert np.array_equal(kept.decision_function(VALID), model.decision_function(VALID))
    watched = LambdaMART(base=base, **QUICK).fit(TRAIN, valid=VALID)
    assert watched.score(VALID) == pytest.approx(watched.curve_.max(), abs=1e-12)


def test_a_base_model_needs_fewer_trees() -> None:
    """A model of other queries of the same kind, adapted: as good with a few trees as many from scratch."""
    big, small = rl.split(make_letor(400, seed=9).data, [0.8, 0.2], seed=0)
    train, test = rl.split(small, [0.5, 0.5], seed=0)
    base = LambdaMART(n_trees=50, leaves=8).fit(big)
    few = LambdaMART(base=base, n_trees=3, leaves=8, learning_rate=0.05).fit(train).score(test)
    assert few > LambdaMART(n_trees=50, leaves=8).fit(train).score(test)


def test_pointwise_regression_is_lightgbms() -> None:
    params = {"objective": "regression", "num_leaves": 6, "min_data_in_leaf": 5, "verbose": -1}
    own = lightgbm.train(params, lightgbm.Dataset(np.asarray(DATA.X), DATA.y), num_boost_round=8)
    model = LambdaMART(objective="regression", **QUICK).fit(DATA).model_
    np.testing.assert_allclose(model.predict(DATA), own.predict(np.asarray(DATA.X)), atol=1e-5)


@pytest.mark.parametrize("loss", ["logistic", "balanced"])
def test_two_classes_follow_section_6(loss: str) -> None:
    """The first step of each leaf: equations 13 to 15, with F = s / 2."""
    y = np.where(np.asarray(DATA.y) > 0, 5.0, -1.0)
    data = RankingData(DATA.X, y, np.repeat(DATA.qids, DATA.lengths))
    model = LambdaMART(objective=loss, learning_rate=1.0, **{**QUICK, "n_trees": 1}).fit(data).model_
    signs = np.where(y > 0, 1.0, -1.0)
    counts = {1.0: (signs > 0).sum(), -1.0: (signs < 0).sum()}
    weight = np.array([1.0 / counts[sign] if loss == "balanced" else 1.0 for sign in signs.tolist()])
    share = (weight * (signs > 0)).sum() / weight.sum()
    F = 0.5 * np.log(share / (1.0 - share))
    response = 2.0 * signs / (1.0 + np.exp(2.0 * signs * F))
    leaves, values = leaves_and_values(model, data, 0)
    size = np.abs(response) * (2.0 - np.abs(response))
    steps = np.bincount(leaves, weight * response) / np.bincount(leaves, weight * size)
    np.testing.assert_allclose(values / 2.0, F + steps[leaves], rtol=1e-4)
    p = 1.0 / (1.0 + np.exp(-model.decision_function(data)))
    np.testing.assert_allclose(model.predict(data), -1.0 + 6.0 * p)
    with pytest.raises(InputError, match="needs two different labels, got 3"):
        LambdaMART(objective=loss).fit([[1.0], [2.0], [3.0]], [0, 1, 2])


def test_missing_values_monotone_features_and_weights() -> None:
    X = np.array(DATA.X)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    holed = RankingData(X, DATA.y, np.repeat(DATA.qids, DATA.lengths), allow_missing=True)
    assert LambdaMART(**QUICK).fit(holed).score(holed) > 0.5
    column = int(np.argmax(list(LambdaMART(**QUICK).fit(DATA).model_.importances().values())))
    for sign in (1, -1):
        model = LambdaMART(monotone={column: sign}, **QUICK).fit(DATA).model_
        rows = np.tile(np.asarray(DATA.X)[7], (50, 1))
        rows[:, column] = np.linspace(rows.min(), rows.max(), 50)
        assert (sign * np.diff(model.decision_function(rows)) >= 0.0).all()
    opposite = {"X": [[1.0], [0.0], [1.0], [0.0]], "y": [1, 0, 0, 1], "qid": [1, 1, 2, 2]}
    small: dict[str, Any] = {"min_data_in_leaf": 1, "params": {"min_data_in_bin": 1}}
    for weights, sign in (([9, 1], 1.0), ([1, 9], -1.0)):
        data = RankingData(**opposite, query_weights=weights)
        scores = LambdaMART("ranknet", n_trees=3, **small).fit(data).decision_function(data)
        assert np.sign(scores[0] - scores[1]) == sign
        doubled = LambdaMART("ranknet", n_trees=3, **small).fit(
            **opposite, sample_weight=np.repeat(weights, 2)
        )
        assert np.sign(np.diff(doubled.decision_function(data)[:2])) == -sign


def shops(seed: int = 0) -> RankingData:
    """Two categories without order, of which the label is made, and a number that says nothing."""
    rng = np.random.default_rng(seed)
    X = np.column_stack((rng.random(1200), rng.integers(0, 60, 1200), rng.integers(0, 3, 1200)))
    y = (X[:, 1] % 7 < 2).astype(float) + (X[:, 2] == 1)
    qid = np.repeat(np.arange(120), 10)
    return RankingData(X, y, qid, feature_names=["noise", "shop", "colour"])


CATEGORICAL: dict[str, Any] = {
    "n_trees": 10,
    "leaves": 4,
    "params": {"min_data_per_group": 5, "cat_smooth": 1},
}


@pytest.mark.parametrize("splits", ["newton", "least-squares"])
def test_categories_are_split_into_sets(splits: str, tmp_path: Any) -> None:
    train, test = shops(), shops(1)
    known = LambdaMART(categorical=["shop", "colour"], splits=splits, **CATEGORICAL).fit(train, valid=test)
    plain = LambdaMART(splits=splits, **CATEGORICAL).fit(train)
    assert known.score(test) > 0.96 > 0.92 > plain.score(test)
    assert known.score(test) == pytest.approx(known.curve_.max(), abs=1e-12)
    assert known.model_.categorical == (1, 2)
    for same in ((1, 2), "shop, colour", "2,1", [np.int64(1), "colour"]):
        other = LambdaMART(categorical=same, splits=splits, **CATEGORICAL).fit(train, valid=test)
        assert other.model_.text == known.model_.text
    known.model_.save(tmp_path / "a.rank")
    kept = rl.load(tmp_path / "a.rank")
    assert kept.decision_function(test).tolist() == known.decision_function(test).tolist()
    told = kept.explain(test)
    np.testing.assert_allclose(told.contributions.sum(axis=1) + told.bias, told.scores, atol=1e-9)


def test_categories_on_the_command_line() -> None:
    from rankloom.cli.methods import make_ranker

    assert make_ranker("lambdamart", ["categorical=shop,2"], None).categorical == "shop,2"


def test_categories_are_lightgbms() -> None:
    data = shops()
    params = {"objective": "lambdarank", "num_leaves": 4, "verbose": -1, **CATEGORICAL["params"]}
    table = lightgbm.Dataset(np.asarray(data.X), data.y, group=data.lengths, categorical_feature=[1, 2])
    own = lightgbm.train({**params, "num_threads": 1}, table, 5)
    how = {**CATEGORICAL, "n_trees": 5, "categorical": [1, 2], "truncation": 30}
    model = LambdaMART("ndcg", normalisation="lightgbm", **how).fit(data).model_
    assert model.importances("split") == TreeModel(own, feature_names=data.feature_names).importances("split")
    gap = np.abs(model.decision_function(data) - own.predict(np.asarray(data.X), raw_score=True)).max()
    assert gap < 5e-5


def test_what_is_no_category_is_refused() -> None:
    data = shops()
    X = np.array(data.X)
    X[5, 1] = 1.5
    broken = RankingData(X, data.y, np.repeat(data.qids, data.lengths))
    with pytest.raises(InputError, match=r"^column 1 is a category.*, got 1\.5;"):
        LambdaMART(categorical=[1]).fit(broken)
    with pytest.raises(InputError, match=r"is a category.*, got 1\.5;"):
        LambdaMART(categorical=[1]).fit(data, valid=broken)
    with pytest.raises(InputError, match="monotone must be 0 for features in categorical"):
        LambdaMART(categorical="shop", monotone={"shop": 1}).fit(data)
    with pytest.raises(InputError, match="categorical names the feature 'price', which the data do not have"):
        LambdaMART(categorical="shop,price").fit(data)
    holed = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, np.array(data.X))
    missing = RankingData(holed, data.y, np.repeat(data.qids, data.lengths), allow_missing=True)
    assert LambdaMART(categorical=[1, 2], **CATEGORICAL).fit(missing).score(missing) > 0.9
    sparse = RankingData(csr_array(np.array(data.X)), data.y, np.repeat(data.qids, data.lengths))
    found = LambdaMART(categorical=[1, 2], **CATEGORICAL)
    whole = found.fit(data).decision_function(data)
    np.testing.assert_allclose(found.fit(sparse).decision_function(sparse), whole, atol=1e-6)


def test_float_labels_and_quantised_gradients_and_functions() -> None:
    data = RankingData(DATA.X, np.asarray(DATA.y) / 2 + 0.25, np.repeat(DATA.qids, DATA.lengths))
    plain = LambdaMART(n_trees=30).fit(data)
    assert plain.score(data) > 0.7
    assert LambdaMART(n_trees=30, quantised=True).fit(data).score(data) > plain.score(data) - 0.05

    def first(ranked: np.ndarray) -> float:
        return float(ranked[0])

    own = LambdaMART(first, n_trees=2, leaves=4).fit(DATA.take(slice(0, 20)))
    assert own.model_.n_trees == 2
    assert "measure" not in own.model_.about["parameters"]


REFUSED = [
    ({"measure": "mse"}, "lambdas can be made from ranknet"),
    ({"objective": "hinge"}, "objective must be one of lambdas, regression, logistic, balanced"),
    ({"objective": "regression", "sigma": 2.0}, 'sigma=2.0 needs objective="lambdas"'),
    ({"objective": "regression", "noise": 0.5}, 'noise=0.5 needs objective="lambdas"'),
    ({"noise": -1}, "noise must be a number from 0"),
    ({"lambda_l2": -1}, "lambda_l2 must be a number from 0"),
    ({"objective": "logistic", "truncation": 5}, 'truncation=5 needs objective="lambdas"'),
    ({"n_trees": 0}, "n_trees must be a whole number from 1"),
    ({"leaves": 1}, "leaves must be a whole number from 2"),
    ({"learning_rate": -1}, "learning_rate must be a number > 0"),
    ({"splits": "exact"}, "splits must be one of newton, least-squares"),
    ({"splits": "least-squares", "quantised": True}, 'quantised=True needs splits="newton"'),
    ({"patience": 3}, "patience=3 needs validation data"),
    ({"stop_measure": "map"}, "stop_measure='map' needs validation data"),
    ({"base": 3}, "base must be a model"),
    ({"base": rl.LinearModel([1.0])}, "base has 1 features and the data 46"),
    ({"monotone": [1]}, "monotone must be -1, 0 or 1 for each of 46 features"),
    ({"monotone": {"price": 1}}, "monotone names the feature 'price'"),
    ({"params": {"num_leaf": 3}}, "params cannot hold 'num_leaf'; that is said by leaves"),
    ({"params": {"min_gain": 3}}, "LightGBM has no parameter 'min_gain'"),
    ({"params": [1]}, "params must be a dict"),
    (
        {"params": {"categorical_feature": [1]}},
        "params cannot hold 'categorical_feature'; that is said by categorical",
    ),
    ({"categorical": 3}, "categorical must be a list of names or column numbers, got 3"),
    ({"categorical": [46]}, "categorical names the feature 46, which the data do not have"),
    ({"categorical": [True]}, "categorical names the feature True"),
    ({"categorical": [0]}, "column 0 is a category, so its values must be whole numbers"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_means_nothing_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        LambdaMART(**options).fit(DATA)
    assert str(caught.value).startswith(message)


def test_data_that_teach_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="in none of the 2 queries do two rows differ in label"):
        LambdaMART().fit([[1.0], [2.0], [3.0], [4.0]], [1, 1, 0, 0], qid=[1, 1, 2, 2])
    with pytest.raises(InputError, match="in no query is any label worth something to map"):
        LambdaMART("map").fit([[1.0], [2.0]], [0, -1])
    with pytest.raises(InputError, match="valid must be a RankingData, got list"):
        LambdaMART().fit(TRAIN, valid=[1])
    with pytest.raises(InputError, match="valid has 1 features and the training data 46"):
        LambdaMART().fit(TRAIN, valid=RankingData([[1.0]], [1]))
    with pytest.raises(InputError, match="it has no labels"):
        LambdaMART().fit(TRAIN, valid=RankingData(VALID.X))
