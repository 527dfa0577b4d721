"""QueryScaler and the parameter `scale`: beside scikit-learn's scalers, in pipelines, inside models."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import rankloom as rl
from rankloom.models.files import write_model
from rankloom.models.scaling import KINDS, PER, SPARSE_KINDS, learned_scaling
from rankloom.rankers.base import Ranker
from twins.scaling_twin import scaled_table
from twins.toy_ranker import Toy

DATA = rl.make_mslr(12, seed=2).data
X, Y, QID = np.asarray(DATA.X), np.asarray(DATA.y), np.repeat(DATA.qids, DATA.lengths)
MIXED = np.random.default_rng(0).permutation(len(X))


class ScaledToy(Toy):
    """The toy with a scale."""

    def __init__(self, lam: float = 1.0, measure: str = "ndcg@10", scale: str | None = None) -> None:
        super().__init__(lam, measure)
        self.scale = scale


class TreeToy(Ranker):
    """A stump on scaled rows: a model that is not linear."""

    def __init__(self, scale: str | None = None) -> None:
        self.scale = scale

    def _fit(self, data: rl.RankingData) -> rl.TreeModel:
        quiet = {"verbosity": -1, "num_threads": 1, "objective": "regression"}
        return rl.TreeModel(lightgbm.train(quiet, lightgbm.Dataset(np.array(data.X), np.array(data.y)), 5))


@pytest.mark.parametrize("kind", KINDS)
def test_scikit_learns_own_checks(kind: str) -> None:
    found = check_estimator(rl.QueryScaler(kind), on_skip=None, on_fail=None)
    assert not [result for result in found if result["status"] == "failed"]


@pytest.mark.parametrize(
    ("kind", "peer"),
    [
        ("minmax", MinMaxScaler()),
        ("standard", StandardScaler()),
        ("deviation", StandardScaler(with_mean=False)),
        ("maxabs", MaxAbsScaler()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_over_all_rows_it_is_scikit_learns(kind: str, peer: object) -> None:
    train, test = X[:900].astype(float), X[900:].astype(float)
    changing = train.min(axis=0) < train.max(axis=0)  # where nothing changes, they keep the value
    found = rl.QueryScaler(kind).fit(train).transform(test)
    assert found.dtype == np.float32
    expected = peer.fit(train).transform(test)
    np.testing.assert_allclose(found[:, changing], expected[:, changing], rtol=2e-4, atol=2e-5)
    assert (found[:, ~changing] == 0).all() or kind == "maxabs"


def test_ranks_over_all_rows() -> None:
    """Exact where there are no more rows than quantiles; between known values, in proportion."""
    scaler = rl.QueryScaler("rank").fit(X[:900])
    expected = scaled_table("rank", X[:900, :40], [0, 900])
    np.testing.assert_allclose(scaler.transform(X[:900])[:, :40], expected, atol=1e-6)
    small = rl.QueryScaler("rank").fit([[0.0], [0.0], [1.0], [5.0]])
    found = small.transform([[-1.0], [0.0], [3.0], [5.0], [9.0]])[:, 0]
    np.testing.assert_allclose(found, [0.0, 1 / 6, 5 / 6, 1.0, 1.0], rtol=1e-6)
    many = np.random.default_rng(0).random((5000, 1))
    found = rl.QueryScaler("rank").fit(many).transform(many)
    np.testing.assert_allclose(found, scaled_table("rank", many, [0, 5000]), atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_queries_may_come_in_any_order(kind: str) -> None:
    expected = scaled_table(kind, X[:, :9], DATA.offsets.tolist())
    found = rl.QueryScaler(kind, per="query").fit_transform(X[MIXED, :9], qid=QID[MIXED])
    np.testing.assert_allclose(found, expected[MIXED], rtol=1e-5, atol=1e-6)
    assert found.flags.writeable
    whole = rl.QueryScaler(kind, per="query").fit_transform(rl.RankingData(X[:, :9], Y, QID))
    np.testing.assert_allclose(whole.X, expected, rtol=1e-5, atol=1e-6)
    assert (whole.y == Y).all()


@pytest.mark.parametrize("per", PER)
@pytest.mark.parametrize("kind", SPARSE_KINDS)
def test_sparse_stays_sparse(kind: str, per: str) -> None:
    scaler = rl.QueryScaler(kind, per)
    qid = None if per == "all" else QID[MIXED]
    dense = scaler.fit_transform(X[MIXED], qid=qid)
    sparse = scaler.fit_transform(csr_array(X[MIXED]), qid=qid)
    assert isinstance(sparse, csr_array)
    np.testing.assert_allclose(sparse.toarray(), dense, rtol=1e-6, atol=1e-7)


def test_frames_come_back_as_frames() -> None:
    frame = pl.DataFrame(X[:50, :3], ["a", "b", "c"])
    scaler = rl.QueryScaler().set_output(transform="polars")
    found = scaler.fit_transform(frame)
    assert found.columns == ["a", "b", "c"]
    assert found.min().row(0) == (0.0, 0.0, 0.0)
    pandas = scaler.set_output(transform="pandas").transform(frame.to_pandas())
    assert isinstance(pandas, pd.DataFrame)
    assert scaler.get_feature_names_out().tolist() == ["a", "b", "c"]
    with pytest.raises(rl.InputError, match="column 0 was 'a', and now it is 'b'"):
        scaler.transform(frame.select("b", "a", "c"))


def test_a_pipeline_passes_queries_to_the_scaler() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(rl.QueryScaler("rank", per="query"), Toy())
        found = pipeline.fit(X, Y, qid=QID).predict(X, qid=QID)
        score = pipeline.score(X, Y, qid=QID)
        assert clone(pipeline).fit(X, Y, qid=QID).score(X, Y, qid=QID) == score
    scaled = rl.QueryScaler("rank", per="query").fit_transform(DATA)
    assert found.tolist() == Toy().fit(scaled).predict(scaled).tolist()


@pytest.mark.parametrize("per", PER)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("toy", [ScaledToy, TreeToy])
def test_a_ranker_keeps_its_scaling(tmp_path: Path, toy: type, kind: str, per: str) -> None:
    """What it learned is what it would have learned from scaled rows; the model takes rows as they are."""
    scale = kind if per == "all" else f"{kind}/query"
    ranker = toy(scale=scale).fit(DATA)
    by_hand = rl.QueryScaler(kind, per).fit(DATA)
    expected = toy().fit(by_hand.transform(DATA)).decision_function(by_hand.transform(DATA))
    np.testing.assert_allclose(ranker.decision_function(DATA), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        ranker.predict(X[MIXED], qid=QID[MIXED]), expected[MIXED], rtol=1e-5, atol=1e-5
    )
    ranker.model_.save(tmp_path / "a.rank")
    model = rl.load(tmp_path / "a.rank")
    assert model == ranker.model_ == pickle.loads(pickle.dumps(ranker.model_))
    assert model.predict(DATA).tolist() == ranker.predict(DATA).tolist()
    assert model.about["parameters"]["scale"] == scale
    folded = toy is ScaledToy and per == "all" and kind != "rank"
    assert isinstance(model, rl.LinearModel if folded else rl.ScaledModel)
    assert model.needs_queries == (per == "query")
    told = model.explain(DATA)
    np.testing.assert_allclose(told.contributions.sum(axis=1) + told.bias, told.scores, rtol=1e-6, atol=1e-6)
    assert told.scores.tolist() == model.decision_function(DATA).tolist()
    assert ranker.score(DATA) == ranker.score(X, Y, qid=QID)


def test_scores_of_queries_need_their_queries() -> None:
    ranker = ScaledToy(scale="minmax/query").fit(DATA)
    with pytest.raises(rl.InputError, match="so it must know them to score: pass qid beside X"):
        ranker.predict(X)
    with pytest.raises(rl.InputError, match="pass a RankingData, or, to a ranker, qid"):
        ranker.model_.predict(X)
    with pytest.raises(rl.InputError, match='per="query" scales each query by its own rows'):
        rl.QueryScaler(per="query").fit(X)
    with pytest.raises(rl.InputError, match="qid is given beside a RankingData"):
        ranker.predict(DATA, qid=QID)
    alone = DATA.take([3])
    rows = slice(DATA.offsets[3], DATA.offsets[4])
    assert ranker.predict(alone).tolist() == ranker.predict(DATA)[rows].tolist()


def test_a_tree_model_on_a_scaled_base_needs_queries_too() -> None:
    base = ScaledToy(scale="rank/query").fit(DATA).model_
    model = rl.TreeModel(TreeToy().fit(DATA).model_.text, base=base)
    assert model.needs_queries
    with pytest.raises(rl.InputError, match="must know them"):
        model.predict(X)
    assert model.predict(DATA).tolist() == (TreeToy().fit(DATA).predict(DATA) + base.predict(DATA)).tolist()


def test_what_cannot_be_scaled() -> None:
    for scale in ("linear", "minmax/all", 3, "minmax/"):
        with pytest.raises(
            rl.InputError, match=r'scale must be None or one of minmax, .*"minmax/query", got'
        ):
            ScaledToy(scale=scale).fit(DATA)
    with pytest.raises(rl.InputError, match="kind must be one of"):
        rl.QueryScaler("max").fit(X)
    with pytest.raises(rl.InputError, match="per must be one of all, query"):
        rl.QueryScaler(per="group").fit(X)
    with pytest.raises(rl.InputError, match="take deviation or maxabs, which leave zeros alone"):
        rl.QueryScaler().fit(csr_array(X))
    holes = X[:5].copy()
    holes[3, 1] = np.nan
    missing = rl.RankingData(holes, qid=[1, 2, 1, 2, 1], allow_missing=True)
    with pytest.raises(rl.InputError, match=r"missing values \(NaN\) cannot be scaled, and row 3 has one"):
        rl.QueryScaler().fit(missing)
    with pytest.raises(rl.InputError, match="row 3 has one"):
        rl.QueryScaler().fit(X).transform(missing)
    narrow = rl.QueryScaler().fit([[0.0], [1e-30]])
    with pytest.raises(rl.InputError, match="beyond float32: some are very far"):
        narrow.transform([[1e30]])
    with pytest.raises(rl.InputError, match="X has 1 features, but QueryScaler is expecting 136"):
        rl.QueryScaler().fit(X).transform([[1.0]])


def test_what_makes_no_scaled_model() -> None:
    scaler = rl.QueryScaler().fit(X)
    with pytest.raises(rl.InputError, match="the model has 2 features and the scaling 136"):
        rl.ScaledModel(rl.LinearModel([1.0, 2.0]), scaler)
    with pytest.raises(rl.InputError, match="must be a QueryScaler that was fitted, got QueryScaler"):
        rl.ScaledModel(rl.LinearModel([1.0]), rl.QueryScaler())
    with pytest.raises(rl.InputError, match=r"inner must be a model, such as ranker\.model_, got Toy"):
        rl.ScaledModel(Toy(), scaler)
    model = rl.ScaledModel(rl.LinearModel(np.ones(136)), scaler)
    with pytest.raises(rl.InputError, match="the model has 136 features, the data 1"):
        model.predict([[1.0]])
    assert repr(model) == "ScaledModel(minmax per all, LinearModel(136 features, bias 0))"
    assert model.predict(X).tolist() == pytest.approx(scaler.transform(X).astype(float).sum(axis=1).tolist())


@pytest.mark.parametrize(
    ("facts", "arrays"),
    [
        ({"kind": "max"}, {}),
        ({"per": "row"}, {}),
        ({"per": "query"}, {}),
        ({"kind": "rank"}, {}),
        ({"n_features": 3}, {}),
        ({"n_features": True}, {}),
        ({"n_features": None}, {}),
        ({"more": 1}, {}),
        ({"parts": {}}, {}),
        ({}, {"shift": np.zeros(3)}),
        ({}, {"factor": np.array([0.0, np.nan])}),
        ({}, {"factor": np.zeros(2, dtype=np.float32)}),
        ({}, {"more": np.zeros(2)}),
        ({"kind": "rank"}, {"knots": np.array([[0.0, 0.0], [1.0, -1.0]]), "shift": None, "factor": None}),
        ({"kind": "rank"}, {"knots": np.zeros((0, 2)), "shift": None, "factor": None}),
    ],
    ids=range(15),
)
def test_files_that_are_not_as_they_were_written(
    tmp_path: Path, facts: dict[str, object], arrays: dict[str, object]
) -> None:
    scaling = learned_scaling("minmax", "all", rl.RankingData([[0.0, 1.0], [2.0, 5.0]]))
    held = rl.ScaledModel(rl.LinearModel([1.0, 2.0]), scaling).content()
    kept = {name: array for name, array in {**held.arrays, **arrays}.items() if array is not None}
    write_model(tmp_path / "a.rank", held._replace(facts={**held.facts, **facts}, arrays=kept))
    with pytest.raises(rl.ModelError, match="is damaged"):
        rl.load(tmp_path / "a.rank")


STEPPERS = [rl.SPD(steps=2_000, seed=1), rl.CRR(steps=2_000, seed=1), rl.CRR(loss="logistic", steps=2_000)]


@pytest.mark.parametrize("kind", ["standard", "minmax", "rank", "standard/query"])
@pytest.mark.parametrize("ranker", STEPPERS, ids=lambda ranker: type(ranker).__name__)
def test_steps_on_scaled_rows(ranker: Any, kind: str) -> None:
    """The same as scaling before: in the model, and in what a callback is shown."""
    seen: list[Any] = []
    raw = DATA.with_features(DATA.features)
    kind_, _, per = kind.partition("/")
    scaler = rl.QueryScaler(kind_, per=per or "all")
    before = clone(ranker).fit(scaler.fit_transform(raw))
    within = clone(ranker).set_params(scale=kind, callback=lambda _step, model: seen.append(model)).fit(raw)
    expected = before.decision_function(scaler.transform(raw))
    np.testing.assert_allclose(within.decision_function(raw), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(seen[-1].decision_function(raw), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["standard", "rank"])
def test_the_objective_of_scaled_steps_is_that_of_scaled_rows(kind: str) -> None:
    scaled = rl.QueryScaler(kind).fit_transform(DATA)
    before, within = rl.SPD(steps=500).fit(scaled), rl.SPD(steps=500, scale=kind).fit(DATA)
    assert within.objective(DATA) == pytest.approx(before.objective(scaled), rel=1e-6)
    values: list[float] = []
    again = rl.SPD(steps=500, scale=kind, callback_at=[500])
    again.set_params(callback=lambda _step, model: values.append(again.objective(DATA, model=model)))
    again.fit(DATA)
    assert values == [pytest.approx(within.objective(DATA), rel=1e-9)]


def test_a_warm_start_keeps_its_scale() -> None:
    ranker = rl.SPD(steps=500, scale="standard", warm_start=True).fit(DATA)
    first, second = rl.split(DATA, (0.5, 0.5), seed=0)
    ranker.fit(second)
    whole = rl.SPD(steps=500, warm_start=True).fit(rl.QueryScaler("standard").fit_transform(DATA))
    whole.fit(rl.QueryScaler("standard").fit(DATA).transform(second))
    np.testing.assert_allclose(
        ranker.decision_function(first),
        whole.decision_function(rl.QueryScaler("standard").fit(DATA).transform(first)),
        rtol=1e-5,
        atol=1e-6,
    )
    with pytest.raises(rl.InputError, match="scale must stay what it was"):
        ranker.set_params(scale="minmax").fit(DATA)


def test_rows_to_come_have_no_scale() -> None:
    with pytest.raises(rl.InputError, match=r"partial_fit cannot scale.*rl\.QueryScaler"):
        rl.CRR(scale="minmax").partial_fit(DATA)
    with pytest.raises(rl.InputError, match="fit_stream cannot scale"):
        rl.SPD(sampler="stream", scale="minmax").fit_stream([DATA])


def test_steps_on_unscaled_rows_are_warned_of() -> None:
    """Grades hang on a feature of size 1 beside three of size 1,000: unscaled, SPD never sees it."""
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.random(600), 1000.0 * rng.random((600, 3))))
    data = rl.RankingData(X, (X[:, 0] > 0.5).astype(float), np.arange(600) // 10)
    with pytest.warns(rl.RankloomWarning, match='SPD learns faster and better.*scale="standard"'):
        unscaled = rl.SPD(steps=5_000).fit(data)
    scaled = rl.SPD(steps=5_000, scale="standard").fit(data)
    assert scaled.score(data) > 0.95 > unscaled.score(data)
