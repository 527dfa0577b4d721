"""Pointwise: named regressors are those of the libraries, what can be kept is kept, bad choices are named."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR
from sklearn.utils.estimator_checks import check_estimator

import rankloom as rl
from rankloom.rankers.pointwise import LINEAR, REGRESSORS, TREES

DATA = rl.make_letor(40, seed=5).data
X, Y, QID = np.array(DATA.X), np.array(DATA.y), np.repeat(DATA.qids, DATA.lengths)
RANDOM = "rows are drawn at random, or the optimum is only approached"
LOOSE = {
    name: {f"check_sample_weight_equivalence_on_{form}_data": RANDOM for form in ("dense", "sparse")}
    for name in ("forest", "svr-l1")
}


@pytest.mark.filterwarnings("ignore::rankloom.RankloomWarning")
@pytest.mark.parametrize("name", REGRESSORS[1:])
def test_scikit_learns_own_checks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKLOOM_THREADS", "1")
    found = check_estimator(
        rl.Pointwise(name), on_skip=None, on_fail=None, expected_failed_checks=LOOSE.get(name)
    )
    assert not [result for result in found if result["status"] == "failed"]


def test_ridge_by_hand() -> None:
    """Centred: x = -1, 0, 1, y = -1, 0, 1; w = 2 / (2 + lam)."""
    ranker = rl.Pointwise(lam=2.0).fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    np.testing.assert_allclose(ranker.model_.weights, [0.5])
    np.testing.assert_allclose(ranker.predict([[1.0], [3.0]]), [2.0, 3.0])


@pytest.mark.parametrize(
    ("options", "peer"),
    [
        ({"lam": 0.5}, Ridge(0.5)),
        (
            {"regressor": "svr", "C": 4.0},
            LinearSVR(loss="squared_epsilon_insensitive", C=4.0, dual=False, fit_intercept=False),
        ),
    ],
    ids=["ridge", "svr"],
)
def test_linear_ones_are_scikit_learns(options: dict[str, Any], peer: Any) -> None:
    ranker = rl.Pointwise(**options).fit(X, Y, qid=QID)
    expected = peer.fit(X.astype(float), Y).predict(X)
    assert isinstance(ranker.model_, rl.LinearModel)
    np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-3, atol=1e-4)


def test_not_converging_is_said_aloud() -> None:
    with pytest.warns(rl.RankloomWarning, match="svr-l1 has not converged in 1,000 passes: .*smaller C"):
        rl.Pointwise("svr-l1", C=1e4).fit(DATA)


def test_svr_is_at_the_optimum_of_its_objective() -> None:
    """|w|^2 / 2 + C sum of (y - w.x)^2: its gradient is 0, whatever solves it."""
    table = X.astype(float)
    weights = rl.Pointwise("svr", C=2.0).fit(DATA).model_.weights
    exact = np.linalg.solve(np.eye(46) + 4.0 * table.T @ table, 4.0 * table.T @ Y)
    np.testing.assert_allclose(weights, exact, atol=2e-3)


def test_gbdt_is_lightgbms() -> None:
    """With the paper's parameters."""
    how = {"max_depth": 4, "num_leaves": 16, "learning_rate": 0.1, "objective": "regression"}
    booster = lightgbm.train(
        {**how, "verbosity": -1, "deterministic": True, "force_row_wise": True}, lightgbm.Dataset(X, Y), 100
    )
    ranker = rl.Pointwise("gbdt").fit(DATA)
    assert ranker.model_.n_trees == 100
    assert ranker.predict(X).tolist() == booster.predict(X).tolist()


def test_forest_has_deep_trees_and_few_features_a_node() -> None:
    ranker = rl.Pointwise("forest", seed=3).fit(DATA)
    assert ranker.model_.n_trees == 40
    leaves = [int(line.partition("=")[2]) for line in ranker.model_.text.split("\n") if "num_leaves=" in line]
    assert min(leaves) > 100
    peer = RandomForestRegressor(40, max_features="sqrt", random_state=0)
    train, test = DATA.take(slice(0, 25)), DATA.take(slice(25, 40))
    peer.fit(train.X, train.y)
    ours = rl.Pointwise("forest").fit(train).score(test)
    assert ours > rl.evaluate(peer.predict(test.X), test)["ndcg@10"] - 0.06


@pytest.mark.parametrize("name", REGRESSORS)
def test_named_ones_keep_the_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    ranker = rl.Pointwise(name, seed=1).fit(DATA)
    monkeypatch.setenv("RANKLOOM_THREADS", "3")
    assert clone(ranker).fit(DATA).model_ == ranker.model_
    assert isinstance(ranker.model_, rl.TreeModel if name in TREES else rl.LinearModel)
    ranker.model_.save(tmp_path / "a.rank")
    assert rl.load(tmp_path / "a.rank").predict(DATA).tolist() == ranker.predict(X).tolist()
    sparse = clone(ranker).fit(csr_array(X), Y, qid=QID)
    np.testing.assert_allclose(sparse.predict(X), ranker.predict(X), rtol=1e-5, atol=1e-4)
    assert ranker.score(DATA) > rl.evaluate(np.random.default_rng(0).random(len(Y)), DATA)["ndcg@10"] + 0.1
    scaled = rl.Pointwise(name, scale="rank/query").fit(DATA)
    assert scaled.score(DATA) > 0.35 or name == "svr-l1"  # whose optimum is near 0 for every row
    assert isinstance(scaled.model_, rl.ScaledModel)
    assert pickle.loads(pickle.dumps(scaled)).predict(DATA).tolist() == scaled.predict(DATA).tolist()


@pytest.mark.parametrize("name", REGRESSORS)
def test_weights_count(name: str) -> None:
    """Half of the queries are turned round; whose weight is large is believed."""
    first = np.repeat(np.arange(DATA.n_queries) % 2 == 0, DATA.lengths)
    labels = np.where(first, Y, 2.0 - Y)
    for believed in (first, ~first):
        by_rows = rl.Pointwise(name).fit(X, labels, qid=QID, sample_weight=np.where(believed, 1.0, 0.01))
        weights = np.where(believed[DATA.offsets[:-1]], 1.0, 0.01)
        by_query = rl.Pointwise(name).fit(rl.RankingData(X, labels, QID, query_weights=weights))
        assert by_rows.predict(X).tolist() == by_query.predict(X).tolist()
        found = np.corrcoef(by_rows.predict(X), Y)[0, 1]
        assert (found > 0.1) == bool((believed == first).all())


def test_missing_values_are_for_trees() -> None:
    holes = X.copy()
    holes[::5, 3] = np.nan
    for name in TREES:
        ranker = rl.Pointwise(name, trees=5).fit(holes, Y, qid=QID)
        assert np.isfinite(ranker.predict(holes)).all()
        assert ranker.__sklearn_tags__().input_tags.allow_nan
        with pytest.raises(rl.InputError, match="NaN"):
            rl.Pointwise(name, scale="minmax").fit(holes, Y, qid=QID)
    for name in LINEAR:
        with pytest.raises(rl.InputError, match="NaN"):
            rl.Pointwise(name).fit(holes, Y, qid=QID)
    found = rl.Pointwise(HistGradientBoostingRegressor(max_iter=5)).fit(holes, Y, qid=QID)
    assert np.isfinite(found.predict(holes)).all()


@pytest.mark.parametrize(
    ("regressor", "kind"),
    [
        (Ridge(), "LinearModel"),
        (lightgbm.LGBMRegressor(n_estimators=5, verbosity=-1), "TreeModel"),
        (lightgbm.LGBMRegressor(n_estimators=5, objective="poisson", verbosity=-1), "ForeignModel"),
        (PoissonRegressor(), "ForeignModel"),
        (RandomForestRegressor(5, random_state=0), "ForeignModel"),
        (make_pipeline(StandardScaler(), Ridge()), "ForeignModel"),
    ],
    ids=repr,
)
def test_any_regressor(tmp_path: Path, regressor: Any, kind: str) -> None:
    """A model is linear, or trees, where predictions say so: those of a log link are neither."""
    ranker = rl.Pointwise(regressor).fit(X, Y, qid=QID)
    assert type(ranker.model_).__name__ == kind
    expected = clone(regressor).fit(X.astype(float), Y).predict(X)
    np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-5, atol=1e-6)
    assert ranker.predict(DATA).tolist() == ranker.predict(X).tolist()
    assert not hasattr(regressor, "n_features_in_")
    assert pickle.loads(pickle.dumps(ranker)).predict(X).tolist() == ranker.predict(X).tolist()
    if kind == "ForeignModel":
        with pytest.raises(rl.InputError, match="cannot be kept in a model file: that would be a pickle"):
            ranker.model_.save(tmp_path / "a.rank")
        assert not list(tmp_path.iterdir())
        with pytest.raises(rl.InputError, match="only its own library could explain"):
            ranker.model_.explain(X)
        assert "ForeignModel(46 features, " in repr(ranker.model_)
        assert ranker.model_.about["method"] == "pointwise"
        assert ranker.predict(X[:0]).tolist() == []


def test_grids_reach_the_regressor() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        folds = GroupKFold(3).set_split_request(groups="qid")
        search = GridSearchCV(rl.Pointwise(Ridge()), {"regressor__alpha": [1e-2, 1e9]}, cv=folds).fit(
            X, Y, qid=QID
        )
    scores = search.cv_results_["mean_test_score"]
    assert search.best_score_ == scores.max() > scores.min()
    assert search.best_estimator_.regressor_.alpha == search.best_params_["regressor__alpha"]


class Two:
    """A regressor with two outputs."""

    def fit(self, X: Any, y: Any) -> Two:
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros((len(X), 2))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"regressor": "svm"}, "regressor must be one of ridge, svr, svr-l1, forest, gbdt, got 'svm'"),
        ({"regressor": 3}, "or have fit and predict, got 3"),
        ({"regressor": Ridge}, "or have fit and predict, got <class"),
        ({"C": 2.0}, r'C=2.0 needs regressor="svr" or regressor="svr-l1"; leave C out'),
        ({"regressor": "svr", "C": 0}, "C must be a number > 0, got 0"),
        ({"lam": -1}, "lam must be a number > 0, got -1"),
        ({"regressor": "gbdt", "trees": 0}, "trees must be a whole number from 1, got 0"),
        ({"regressor": "gbdt", "depth": 0}, "depth must be a whole number from 1, got 0"),
        ({"regressor": "gbdt", "rate": 2}, "rate must be a number > 0 up to 1, got 2"),
        ({"regressor": "forest", "rate": 0.1}, 'rate=0.1 needs regressor="gbdt"'),
        ({"regressor": Ridge(), "lam": 0.1}, 'lam=0.1 needs regressor="ridge"'),
        ({"regressor": "ridge", "seed": -1}, "seed must be a whole number from 0, got -1"),
        ({"regressor": Two()}, r"must predict one number a row, got an array of shape \(\d+, 2\)"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_choices_that_cannot_be(options: dict[str, Any], told: str) -> None:
    with pytest.raises(rl.InputError, match=told):
        rl.Pointwise(**options).fit(X, Y, qid=QID)


def test_a_regressor_without_weights_says_so() -> None:
    with pytest.raises(rl.InputError, match="KNeighborsRegressor takes no weights of rows"):
        rl.Pointwise(KNeighborsRegressor()).fit(X, Y, qid=QID, sample_weight=np.ones(len(Y)))
