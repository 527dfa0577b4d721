"""SPD and CRR among scikit-learn's tools: its own checks, grids over queries, pipelines, pickles."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankloom import CRR, SPD, Landmarks, RankingData, make_letor
from rankloom.rankers.base import Ranker

DATA = make_letor(60, seed=4).data
X, Y, QID = np.asarray(DATA.X), np.asarray(DATA.y), np.repeat(DATA.qids, DATA.lengths)
QUICK = {"steps": 2000}
RANKERS = [SPD(**QUICK), SPD(sampler="stream", **QUICK), CRR(**QUICK), CRR(loss="logistic", **QUICK)]


def not_for_samplers(estimator: Ranker | Landmarks) -> dict[str, str]:
    """A row of weight 2 is the same aim as the row twice, not the same bits: rows are drawn at random."""
    why = "pairs are drawn at random; weights change steps, not draws"
    names = ("dense_data", "sparse_data")
    checks = {f"check_sample_weight_equivalence_on_{name}": why for name in names}
    return checks if isinstance(estimator, Ranker) else {}


@parametrize_with_checks([*RANKERS, Landmarks()], expected_failed_checks=not_for_samplers)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_own_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
def test_grids_over_queries(ranker: Ranker) -> None:
    grid = {"lam": [1e-1, 1e-3]}
    with sklearn.config_context(enable_metadata_routing=True):
        folds = GroupKFold(3).set_split_request(groups="qid")
        search = GridSearchCV(ranker, grid, cv=folds).fit(X, Y, qid=QID)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.best_estimator_.get_params()["lam"] == search.best_params_["lam"]
    assert search.best_score_ > 0.3


def test_landmarks_in_a_pipeline_learn_what_is_not_linear() -> None:
    random = np.random.default_rng(0)
    points = random.uniform(-1.0, 1.0, (400, 2))
    inside = (np.hypot(points[:, 0], points[:, 1]) < 0.6).astype(float)
    qid = np.arange(400) // 20
    with sklearn.config_context(enable_metadata_routing=True):
        plain = CRR(measure="pairwise").fit(points, inside, qid=qid)
        mapped = make_pipeline(Landmarks(n=60), CRR(measure="pairwise", lam=1e-5)).fit(
            points, inside, qid=qid
        )
        assert plain.score(points, inside, qid=qid) < 0.65
        assert mapped.score(points, inside, qid=qid) > 0.97


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
def test_clones_and_pickles_learn_the_same(ranker: Ranker) -> None:
    fitted = clone(ranker).fit(X, Y, qid=QID)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.model_ == fitted.model_
    assert clone(fitted).fit(RankingData(X, Y, QID)).model_ == fitted.model_


def test_sparse_rows_learn_what_dense_rows_learn() -> None:
    from scipy.sparse import csr_array

    for ranker in RANKERS:
        dense = clone(ranker).fit(X, Y, qid=QID).model_
        sparse = clone(ranker).fit(csr_array(X), Y, qid=QID).model_
        assert np.allclose(dense.weights, sparse.weights, rtol=1e-6, atol=1e-9)


def test_a_pipeline_passes_queries_on() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(MaxAbsScaler(), SPD(**QUICK)).fit(X, Y, qid=QID)
        assert pipeline.score(X, Y, qid=QID) > pipeline[-1].set_params(steps=1).fit(X, Y, qid=QID).score(
            X, Y, qid=QID
        )


def test_landmarks_are_rows_and_similarities_are_kernels() -> None:
    mapped = Landmarks("rbf", n=10, gamma=0.5, seed=3).fit(X)
    rows = {row.tobytes() for row in X.astype(np.float64)}
    assert len(mapped.landmarks_) == 10
    assert all(row.tobytes() in rows for row in mapped.landmarks_)
    squares = ((X[:, None, :].astype(float) - mapped.landmarks_[None]) ** 2).sum(axis=2)
    expected = np.exp(-0.5 * squares) / np.sqrt(10)
    assert np.allclose(mapped.transform(X), expected, rtol=1e-5)
    assert mapped.get_feature_names_out()[0] == "landmarks0"
    own = Landmarks(lambda a, b: float(a @ b), n=10, seed=3).fit(X).transform(X)
    assert np.allclose(own, Landmarks("linear", n=10, seed=3).fit(X).transform(X), rtol=1e-5)


def test_landmarks_that_mean_nothing_are_refused() -> None:
    for options, message in (
        ({"kernel": "gauss"}, "kernel must be one of rbf, laplacian"),
        ({"n": 0}, "n must be a whole number from 1, got 0"),
        ({"gamma": -1.0}, "gamma must be a number > 0, got -1.0"),
    ):
        with pytest.raises(ValueError, match=message):
            Landmarks(**options).fit(X)
