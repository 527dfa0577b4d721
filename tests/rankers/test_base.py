"""The base of rankers: what it takes, what it refuses, how it scores, and queries through scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import rankloom as rl
from rankloom.rankers.base import Ranker
from twins.toy_ranker import Toy


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and qid of forty queries, all rows shuffled."""
    data = rl.make_letor(40, seed=3).data
    qid = np.repeat(data.qids, data.lengths)
    order = np.random.default_rng(0).permutation(data.n_rows)
    return np.asarray(data.X)[order], np.asarray(data.y)[order], qid[order]


@parametrize_with_checks([Toy()])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_arrays_and_ranking_data_learn_the_same(rows):
    X, y, qid = rows
    weights = np.linspace(1.0, 2.0, len(y))
    from_arrays = Toy().fit(X, y, qid=qid, sample_weight=weights)
    from_data = Toy().fit(rl.RankingData(X, y, qid, weights=weights))
    assert from_arrays.model_ == from_data.model_
    assert from_arrays.predict(X).tolist() == from_data.predict(rl.RankingData(X, y, qid)).tolist()
    assert from_arrays.n_features_in_ == 46
    assert not np.array_equal(from_arrays.model_.weights, Toy().fit(X, y, qid=qid).model_.weights)
    assert not np.array_equal(
        from_arrays.model_.weights, Toy().fit(X, y, sample_weight=weights).model_.weights
    )


@pytest.mark.parametrize("form", [csr_array, csr_matrix, np.ndarray.tolist, np.asfortranarray])
def test_features_in_any_form(rows, form):
    X, y, qid = rows
    ranker = Toy().fit(form(X.astype(float)), y.tolist(), qid=qid.tolist())
    np.testing.assert_allclose(ranker.model_.weights, Toy().fit(X, y, qid=qid).model_.weights, rtol=1e-12)
    np.testing.assert_allclose(ranker.predict(form(X.astype(float))), ranker.predict(X), rtol=1e-12)


def pandas_frame(X):
    return pd.DataFrame(X, columns=[f"f{column}" for column in range(X.shape[1])])


FRAMES = {
    "pandas": pandas_frame,
    "polars": lambda X: pl.DataFrame(X, [f"f{column}" for column in range(X.shape[1])]),
    "arrow": lambda X: pa.Table.from_pandas(pandas_frame(X)),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_name_the_features(rows, kind):
    X, y, qid = rows
    frame = FRAMES[kind](X)
    ranker = Toy().fit(frame, pd.Series(y), qid=pl.Series(qid))
    assert ranker.feature_names_in_.tolist() == [f"f{column}" for column in range(46)]
    assert ranker.model_.feature_names == tuple(ranker.feature_names_in_)
    assert ranker.predict(frame).tolist() == ranker.predict(X).tolist()
    with pytest.raises(rl.InputError, match="column 0 is 'f0' in the model and 'f45' in the data"):
        ranker.predict(FRAMES["pandas"](X)[[f"f{column}" for column in reversed(range(46))]])
    ranker.fit(X, y, qid=qid)
    assert not hasattr(ranker, "feature_names_in_")


def test_columns_that_nobody_named_have_no_names(rows):
    X, y, qid = rows
    ranker = Toy().fit(pd.DataFrame(X), y, qid=qid)
    assert not hasattr(ranker, "feature_names_in_")
    assert ranker.model_.feature_names is None
    named = Toy().fit(FRAMES["pandas"](X), y, qid=qid)
    assert named.predict(pd.DataFrame(X)).tolist() == ranker.predict(pd.DataFrame(X)).tolist()


def test_the_model_knows_how_it_was_learned(rows):
    X, y, qid = rows
    about = Toy(lam=np.float64(0.5)).fit(X, y, qid=qid).model_.about
    assert about["method"] == "toy"
    assert about["parameters"] == {"lam": 0.5, "measure": "ndcg@10"}
    assert about["data"] == {"rows": len(y), "queries": 40, "features": 46}
    assert about["versions"]["rankloom"] == rl.__version__
    assert set(about["versions"]) >= {"python", "numpy"}


def test_a_parameter_that_is_no_plain_value_is_left_out(rows):
    X, y, qid = rows
    ranker = Toy(measure=rl.Measure.parse("map")).fit(X, y, qid=qid)
    assert ranker.model_.about["parameters"] == {"lam": 1.0}
    assert ranker.score(X, y, qid=qid) == Toy(measure="map").fit(X, y, qid=qid).score(X, y, qid=qid)


def test_score_is_evaluate(rows):
    X, y, qid = rows
    ranker = Toy().fit(X, y, qid=qid)
    scores = ranker.decision_function(X)
    expected = rl.evaluate(scores, y, qid=qid, measures=["ndcg@10", "map", "mse", "auc-loss"])
    assert ranker.score(X, y, qid=qid) == ranker.score(rl.RankingData(X, y, qid)) == expected["ndcg@10"]
    assert ranker.set_params(measure="map").score(X, y, qid=qid) == expected["map"]
    assert ranker.set_params(measure="mse").score(X, y, qid=qid) == -expected["mse"]
    assert ranker.set_params(measure="auc-loss").score(X, y, qid=qid) == -expected["auc-loss"]


def test_measures_of_values_measure_what_is_predicted():
    """Score 0 is probability 1/2: the log loss is log 2, and the ranking undecided."""
    ranker = Toy(measure="logloss").fit([[0.0], [1.0]], [0, 1])
    ranker.model_ = rl.LinearModel([0.0], link="logistic")
    assert ranker.score([[3.0], [4.0]], [0, 1]) == pytest.approx(-np.log(2.0))


def test_weights_of_rows_weigh_queries_in_score():
    """Query 1 is ranked right, query 2 wrong; their rows weigh 3 and 1 on average."""
    ranker = Toy(measure="pairwise").fit([[0.0], [1.0]], [0, 1])
    X, y, qid = [[0.0], [1.0], [1.0], [0.0]], [0, 1, 0, 1], [1, 1, 2, 2]
    assert ranker.score(X, y, qid=qid) == 0.5
    assert ranker.score(X, y, qid=qid, sample_weight=[2, 4, 1, 1]) == 0.75
    assert ranker.score(rl.RankingData(X, y, qid, weights=[2, 4, 1, 1])) == 0.5
    assert ranker.score(rl.RankingData(X, y, qid, query_weights=[3, 1])) == 0.75


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"y": None}, "Toy requires y to be passed, but the target y is None"),
        ({"X": rl.RankingData([[1.0], [2.0]])}, "y is given beside a RankingData"),
        (
            {"X": rl.RankingData([[1.0], [2.0]]), "y": None},
            "requires y to be passed, but the data has no labels",
        ),
        ({"X": rl.RankingData([[1.0], [2.0]], [0, 1]), "y": None, "qid": [1, 1]}, "qid is given beside"),
        ({"X": [[1.0]], "y": [1]}, r"X has 1 sample \(shape=\(1, 1\)\) while a minimum of 2 is required"),
        ({"X": np.empty((0, 1)), "y": []}, r"X has 0 sample\(s\)"),
        ({"X": np.empty((2, 0))}, r"X has 0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1"),
        ({"X": [1.0, 2.0]}, "Reshape your data"),
        ({"X": np.array([[1j], [2j]])}, "Complex data not supported"),
        ({"y": [0]}, "y must have one value per row: X has 2 rows, y has 1"),
        ({"y": [0, np.nan]}, "y must be finite"),
        ({"qid": [1]}, "qid"),
        ({"sample_weight": [1, -1]}, "weights must be 0 or more"),
        ({"sample_weight": [0, 0]}, "sample weights must not all be zero"),
    ],
    ids=str,
)
def test_what_cannot_be_learned_from(arguments, told):
    with pytest.raises(rl.InputError, match=told):
        Toy().fit(**{"X": [[1.0], [2.0]], "y": [0, 1], **arguments})


def test_missing_values_are_refused_however_they_come():
    for X in ([[1.0], [np.nan]], rl.RankingData([[1.0], [np.nan]], [0, 1], allow_missing=True)):
        with pytest.raises(rl.InputError, match="NaN"):
            Toy().fit(X, None if isinstance(X, rl.RankingData) else [0, 1])


def test_what_cannot_be_predicted(rows):
    X, y, qid = rows
    with pytest.raises(NotFittedError, match="not fitted yet"):
        Toy().predict(X)
    ranker = Toy().fit(X, y, qid=qid)
    for method in (ranker.predict, ranker.decision_function, lambda X: ranker.score(X, y, qid=qid)):
        with pytest.raises(
            rl.InputError, match="X has 2 features, but Toy is expecting 46 features as input"
        ):
            method(X[:, :2])
    with pytest.raises(rl.InputError, match="X has 2 features"):
        ranker.predict(rl.RankingData(X[:, :2]))


def test_the_base_learns_nothing_by_itself():
    with pytest.raises(NotImplementedError, match="Ranker does not say how it learns"):
        Ranker().fit([[1.0], [2.0]], [0, 1])


def test_clones_and_pickles(rows):
    X, y, qid = rows
    ranker = Toy(lam=3.0).fit(X, y, qid=qid)
    assert pickle.loads(pickle.dumps(ranker)).predict(X).tolist() == ranker.predict(X).tolist()
    fresh = clone(ranker)
    assert fresh.get_params() == ranker.get_params()
    assert not hasattr(fresh, "model_")


@pytest.fixture
def routing():
    """scikit-learn's metadata routing, on."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def by_hand(X, y, qid, lam, prepare=None, **more):
    """The mean of ndcg@10 over five folds by query, in plain steps."""
    found = []
    for train, test in GroupKFold(5).split(X, y, qid):
        inner, outer = X[train], X[test]
        if prepare is not None:
            scaler = prepare().fit(inner)
            inner, outer = scaler.transform(inner), scaler.transform(outer)
        weights = {name: values[train] for name, values in more.items()}
        ranker = Toy(lam=lam).fit(inner, y[train], qid=qid[train], **weights)
        weights = {name: values[test] for name, values in more.items()}
        found.append(ranker.score(outer, y[test], qid=qid[test], **weights))
    return float(np.mean(found))


def test_one_qid_goes_to_fit_to_score_and_to_the_splitter(rows, routing):
    X, y, qid = rows
    folds = GroupKFold(5).set_split_request(groups="qid")
    search = GridSearchCV(Toy(), {"lam": [0.1, 1000.0]}, cv=folds, error_score="raise").fit(X, y, qid=qid)
    expected = [by_hand(X, y, qid, lam) for lam in (0.1, 1000.0)]
    assert search.cv_results_["mean_test_score"].tolist() == pytest.approx(expected, rel=1e-12)
    assert expected[0] != expected[1]
    assert search.score(X, y, qid=qid) == search.best_estimator_.score(X, y, qid=qid)
    both = GridSearchCV(Toy(), {"lam": [0.1, 1000.0]}, cv=GroupKFold(5)).fit(X, y, qid=qid, groups=qid)
    assert both.cv_results_["mean_test_score"].tolist() == search.cv_results_["mean_test_score"].tolist()


def test_pipelines_pass_qid_on(rows, routing):
    X, y, qid = rows
    folds = GroupKFold(5).set_split_request(groups="qid")
    line = make_pipeline(StandardScaler(), Toy())
    search = GridSearchCV(line, {"toy__lam": [1.0]}, cv=folds, error_score="raise").fit(X, y, qid=qid)
    expected = by_hand(X, y, qid, 1.0, StandardScaler)
    assert search.best_score_ == pytest.approx(expected, rel=1e-12)
    found = cross_val_score(line, X, y, cv=folds, params={"qid": qid}, error_score="raise")
    assert found.mean() == pytest.approx(expected, rel=1e-12)


def test_weights_go_to_fit_and_score(rows, routing):
    X, y, qid = rows
    weights = np.random.default_rng(1).random(len(y))
    folds = GroupKFold(5).set_split_request(groups="qid")
    search = GridSearchCV(Toy(), {"lam": [1.0]}, cv=folds, error_score="raise")
    search.fit(X, y, qid=qid, sample_weight=weights)
    expected = by_hand(X, y, qid, 1.0, sample_weight=weights)
    assert search.best_score_ == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "learn",
    [lambda data: rl.SPD().fit(data), lambda data: rl.SPD(sampler="stream").fit_stream([data])],
    ids=["fit", "fit_stream"],
)
def test_more_features_than_memory_are_refused(learn, monkeypatch):
    monkeypatch.setattr("rankloom.rankers.checks.memory", lambda: 10**9)
    wide = csr_array((np.ones(2, dtype=np.float32), ([0, 1], [0, 2**31 - 2])), shape=(2, 2**31 - 1))
    data = rl.RankingData(wide, [1, 0])
    expected = "number 2,147,483,647.*would take 69 GB of memory.*has 1; number the features"
    with pytest.raises(rl.InputError, match=expected):
        learn(data)


class Holes(Toy):
    """A ranker that takes missing values, as 0."""

    def _takes_missing(self):
        return True

    def _fit(self, data):
        return super()._fit(rl.RankingData(np.nan_to_num(data.X), data.y))


def test_missing_values_are_for_those_who_take_them():
    X, y = [[1.0, np.nan], [0.0, 2.0], [2.0, 1.0]], [1, 0, 2]
    with pytest.raises(rl.InputError, match="NaN"):
        Toy().fit(X, y)
    with pytest.raises(rl.InputError, match="cannot learn from missing values"):
        Toy().fit(rl.RankingData(X, y, allow_missing=True))
    ranker = Holes().fit(X, y)
    assert ranker.model_ == Holes().fit(rl.RankingData(X, y, allow_missing=True)).model_
    assert ranker.__sklearn_tags__().input_tags.allow_nan
    assert not Toy().__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(rl.InputError, match="linear model cannot score missing"):
        ranker.predict(X)
