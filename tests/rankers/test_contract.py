"""What holds for every ranker there is: found by looking through `rankloom.rankers`, so that none escapes."""

from __future__ import annotations

import importlib
import pickle
import pkgutil

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import rankloom as rl
import rankloom.rankers
from rankloom.rankers.base import Ranker
from twins.toy_ranker import Toy


def all_rankers() -> list[type[Ranker]]:
    """Every class in `rankloom.rankers` that learns by itself, and the toy of the tests."""
    for module in pkgutil.iter_modules(rankloom.rankers.__path__):
        importlib.import_module(f"rankloom.rankers.{module.name}")
    found, open_classes = {Toy}, [Ranker]
    while open_classes:
        below = open_classes.pop().__subclasses__()
        open_classes += below
        found.update(cls for cls in below if cls.__module__.startswith("rankloom.") and is_whole(cls))
    return sorted(found, key=lambda cls: cls.__name__)


def is_whole(cls: type[Ranker]) -> bool:
    """Whether a class is a ranker and not what rankers share: that has no parameters."""
    return bool(cls._get_param_names())


RANKERS = all_rankers()
every_ranker = pytest.mark.parametrize("cls", RANKERS, ids=lambda cls: cls.__name__)

# Checks of scikit-learn that cannot hold for a ranker that draws rows at random, with the reason.
RANDOM = "which rows are drawn depends on how many there are: equal in the mean, not bit by bit"
DRAWN = "pairs are weighed and drawn one by one: two rows are more pairs than one row of weight two"
BATCHES = "features are scaled and queries dealt to batches by rows, not by their weights"
LISTS = "a list that holds a row twice has other places than one that holds it once, with twice the weight"


def not_equal(why: str) -> dict[str, str]:
    """Weighting a row is not repeating it, and why."""
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}


EXCEPTIONS = {
    "SOLAR": not_equal(DRAWN),
    "PRank": not_equal(DRAWN),
    "CommitteePerceptron": not_equal(DRAWN),
    "RankNet": not_equal(BATCHES),
    "LambdaMART": not_equal(LISTS),
    "LambdaRank": not_equal(LISTS),
    "SPD": {
        "check_sample_weight_equivalence_on_dense_data": RANDOM,
        "check_sample_weight_equivalence_on_sparse_data": RANDOM,
    },
    "CRR": {
        "check_sample_weight_equivalence_on_dense_data": RANDOM,
        "check_sample_weight_equivalence_on_sparse_data": RANDOM,
    },
}


@pytest.fixture(scope="module")
def data() -> rl.RankingData:
    """Thirty queries with labels 0, 1 and 2."""
    return rl.make_letor(30, seed=5).data


def shuffled(data: rl.RankingData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and qid with rows of all queries mixed, rows within a query and queries in their old order."""
    draw = np.random.default_rng(0)
    keys = np.concatenate([np.sort(draw.random(length)) for length in data.lengths])
    keys[data.offsets[:-1]] = np.arange(data.n_queries) * 1e-9
    order = np.argsort(keys, kind="stable")
    qid = np.repeat(data.qids, data.lengths)
    return np.asarray(data.X)[order], np.asarray(data.y)[order], qid[order]


@every_ranker
def test_it_keeps_scikit_learns_conventions(cls):
    found = check_estimator(
        cls(), on_skip=None, on_fail=None, expected_failed_checks=EXCEPTIONS.get(cls.__name__)
    )
    failed = {result["check_name"]: result["exception"] for result in found if result["status"] == "failed"}
    assert not failed
    assert sum(result["status"] == "passed" for result in found) > 40


@every_ranker
def test_the_same_seed_gives_the_same_bits(cls, data):
    assert cls().fit(data).model_ == cls().fit(data).model_


@every_ranker
def test_threads_change_nothing(cls, data, monkeypatch):
    monkeypatch.setenv("RANKLOOM_THREADS", "1")
    one = cls().fit(data).model_
    monkeypatch.setenv("RANKLOOM_THREADS", "3")
    assert cls().fit(data).model_ == one


@every_ranker
def test_rows_may_come_in_any_order(cls, data):
    X, y, qid = shuffled(data)
    ranker = cls().fit(X, y, qid=qid)
    assert ranker.predict(data).tolist() == cls().fit(data).predict(data).tolist()
    assert ranker.predict(X).tolist() == ranker.predict(rl.RankingData(X, y, qid)).tolist()


@every_ranker
def test_query_ids_are_only_names(cls, data):
    X, y, qid = np.asarray(data.X), data.y, np.repeat(data.qids, data.lengths)
    named = cls().fit(X, y, qid=[f"query {one}" for one in qid.tolist()])
    assert named.predict(X).tolist() == cls().fit(X, y, qid=qid).predict(X).tolist()


@every_ranker
def test_sparse_and_dense_learn_alike(cls, data):
    sparse = rl.RankingData(csr_array(np.asarray(data.X)), data.y, np.repeat(data.qids, data.lengths))
    dense = cls().fit(data)
    np.testing.assert_allclose(cls().fit(sparse).predict(data), dense.predict(data), rtol=1e-6, atol=1e-6)


@every_ranker
def test_it_learns_to_rank(cls, data):
    """Better than the labels' own order turned round, than chance, and than half of all pairs."""
    ranker = cls().fit(data)
    found = rl.evaluate(ranker.decision_function(data), data, measures=["pairwise", "ndcg@10"])
    chance = rl.evaluate(np.random.default_rng(0).random(data.n_rows), data, measures="ndcg@10")
    assert found["pairwise"] > 0.7
    assert found["ndcg@10"] > chance["ndcg@10"] + 0.1


@every_ranker
def test_data_are_left_as_they_were(cls, data):
    before = data.fingerprint()
    X, y, qid = np.array(data.X), np.array(data.y), np.repeat(data.qids, data.lengths)
    kept = X.copy(), y.copy(), qid.copy()
    cls().fit(data).predict(data)
    cls().fit(X, y, qid=qid).predict(X)
    assert data.fingerprint() == before
    assert all(np.array_equal(one, other) for one, other in zip((X, y, qid), kept, strict=True))


@every_ranker
def test_the_model_does_all_that_the_ranker_does(cls, data, tmp_path):
    ranker = cls().fit(data)
    ranker.model_.save(tmp_path / "a.rank")
    model = rl.load(tmp_path / "a.rank")
    assert model == ranker.model_
    assert model.predict(data).tolist() == ranker.predict(data).tolist()
    assert model.decision_function(data).tolist() == ranker.decision_function(data).tolist()
    assert model.about["method"] == cls.method_name()
    assert set(model.about["parameters"]) <= set(ranker.get_params())


@every_ranker
def test_clones_and_pickles_are_as_good(cls, data):
    ranker = cls().fit(data)
    assert pickle.loads(pickle.dumps(ranker)).predict(data).tolist() == ranker.predict(data).tolist()
    assert clone(ranker).fit(data).model_ == ranker.model_


@every_ranker
def test_what_is_mapped_from_a_file_predicts_and_learns(cls, data, tmp_path):
    """joblib maps the arrays of what it loads, so that they cannot be written to."""
    ranker = cls().fit(data)
    joblib.dump(ranker, tmp_path / "ranker.joblib")
    mapped = joblib.load(tmp_path / "ranker.joblib", mmap_mode="r")
    assert mapped.predict(data).tolist() == ranker.predict(data).tolist()
    if hasattr(ranker, "partial_fit"):
        assert mapped.partial_fit(data).model_ == ranker.partial_fit(data).model_


@every_ranker
def test_every_parameter_is_documented(cls):
    """In the docstring of the class, by name."""
    missing = [name for name in cls._get_param_names() if f"{name}:" not in (cls.__doc__ or "")]
    assert not missing or cls is Toy


@every_ranker
def test_one_label_is_not_enough_or_says_so(cls, data):
    """A ranker either learns something from a single label (values), or says why it cannot."""
    same = rl.RankingData(np.asarray(data.X), np.ones(data.n_rows), np.repeat(data.qids, data.lengths))
    try:
        ranker = cls().fit(same)
    except rl.InputError as error:
        assert "label" in str(error)  # noqa: PT017
        return
    assert np.isfinite(ranker.predict(same)).all()


def test_none_escapes():
    names = {cls.__name__ for cls in RANKERS}
    assert "Toy" in names
    assert names - {"Toy"} == {name for name in rl.__all__ if is_ranker(getattr(rl, name))}


def is_ranker(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Ranker)
