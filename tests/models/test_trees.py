"""Tree models: LightGBM's own scores, bit by bit; explained; kept as text that is looked through first."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path

import lightgbm
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rankloom as rl
from rankloom.models.files import write_model
from rankloom.models.tree_text import read_forest
from rankloom.models.trees import useful_threads

ROWS, WIDTH = 120, 6
_draw = np.random.default_rng(3)
X = np.where(_draw.random((ROWS, WIDTH)) < 0.4, 0.0, _draw.normal(size=(ROWS, WIDTH))).astype(np.float32)
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * _draw.normal(size=ROWS)
QUIET = {"verbosity": -1, "num_leaves": 8, "min_data_in_leaf": 4, "deterministic": True, "num_threads": 1}
FOREST = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}


def grown(X: np.ndarray = X, n: int = 7, **more: object) -> lightgbm.Booster:
    """A booster."""
    return lightgbm.train({**QUIET, "objective": "regression", **more}, lightgbm.Dataset(X, Y), n)


BOOSTER, RANDOM = grown(), grown(**FOREST)
MODEL = rl.TreeModel(BOOSTER)
LINEAR = rl.LinearModel([1.0, -2.0, 0.0, 0.5, 0.0, 3.0], bias=0.25)
STUMP = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=1
feature_names=Column_0 Column_1
feature_infos=none none

Tree=0
num_leaves=3
num_cat=0
split_feature=1 0
split_gain=5 2.5
threshold=0.5 2
decision_type=2 2
left_child=1 -2
right_child=-1 -3
leaf_value=1 10 100
leaf_weight=2 1 1
leaf_count=2 1 1
internal_value=0 0
internal_weight=4 2
internal_count=4 2
is_linear=0
shrinkage=1


end of trees
"""
# Splits by categories: node 0 by set 1 of feature 1, which is {0, 33}; node 1 by set 0 of feature 0, {1, 2}.
SETS = (
    STUMP.replace("num_cat=0", "num_cat=2")
    .replace("threshold=0.5 2", "threshold=1 0")
    .replace("decision_type=2 2", "decision_type=9 1")
    .replace("is_linear=0", "cat_boundaries=0 1 3\ncat_threshold=6 1 2\nis_linear=0")
)
CATEGORIES = X.copy()
CATEGORIES[:, 0] = _draw.integers(0, 40, ROWS)
CATEGORIES[:, 4] = _draw.integers(0, 3, ROWS)
CATEGORIES[::9, 0] = np.nan
BY_SET: dict[str, object] = {"min_data_per_group": 2, "cat_smooth": 1.0, "cat_l2": 1.0}


def with_categories(**more: object) -> lightgbm.Booster:
    """A booster that splits by sets of categories, numbers and single categories."""
    Y = (CATEGORIES[:, 0] % 3 == 1) + (CATEGORIES[:, 4] == 2) + X[:, 1]
    table = lightgbm.Dataset(CATEGORIES, Y, categorical_feature=[0, 4])
    return lightgbm.train({**QUIET, "objective": "regression", **BY_SET, **more}, table, 7)


def test_scores_by_hand() -> None:
    """x[1] > 0.5 is leaf 0; else x[0] <= 2 is leaf 1, and leaf 2 what is left."""
    model = rl.TreeModel(STUMP)
    rows = [[0.0, 1.0], [2.0, 0.5], [3.0, 0.0]]
    assert model.decision_function(rows).tolist() == [1.0, 10.0, 100.0]
    assert model.importances() == {"column 0": 2.5, "column 1": 5.0}
    assert model.importances("split", top=1) == {"column 0": 1.0}
    assert repr(model) == "TreeModel(1 tree, 2 features)"


def test_scores_by_sets_of_categories_by_hand() -> None:
    """Categories in the node's set go left; others, unknown and missing ones right."""
    model = rl.TreeModel(SETS)
    assert model.categorical == (0, 1)
    rows = [[1.0, 5.0], [2.0, 33.0], [1.0, 0.0], [3.0, 0.0], [1.0, 1e6], [np.nan, 33.0], [1.0, np.nan]]
    data = rl.RankingData(rows, allow_missing=True)
    assert model.decision_function(data).tolist() == [1.0, 10.0, 10.0, 100.0, 1.0, 100.0, 1.0]


@pytest.mark.parametrize(
    "more", [{}, FOREST, {"max_cat_to_onehot": 50, "min_data_in_leaf": 1}], ids=["sets", "random", "single"]
)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_categories_are_scored_explained_and_kept(
    tmp_path: Path, more: dict[str, object], form: type
) -> None:
    booster = with_categories(**more)
    model = rl.TreeModel(booster)
    assert model.categorical == (0, 4)
    assert "cat_threshold" in model.text
    assert rl.TreeModel(model.text) == model
    rows = rl.RankingData(form(CATEGORIES), allow_missing=True)
    assert model.decision_function(rows).tolist() == booster.predict(CATEGORIES).tolist()
    told = model.explain(rows)
    np.testing.assert_allclose(np.asarray(told.contributions.sum(axis=1)) + told.bias, told.scores, rtol=1e-9)
    model.save(tmp_path / "a.rank")
    again = rl.load(tmp_path / "a.rank")
    assert again == model
    assert again.categorical == (0, 4)
    assert again.decision_function(rows).tolist() == booster.predict(CATEGORIES).tolist()


@pytest.mark.parametrize("bad", [-1.0, 2.5, 2.0**24])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_what_is_no_category_is_not_scored(bad: float, form: type) -> None:
    with pytest.raises(rl.InputError, match=rf"^column 1 is a category.*16,777,215, got {bad:.9g};"):
        rl.TreeModel(SETS).decision_function(form(np.array([[1.0, 0.0], [0.0, bad]])))
    with pytest.raises(rl.InputError, match="'b' is a category"):
        rl.TreeModel(SETS, feature_names=["a", "b"]).explain(form(np.array([[0.0, bad]])))


@pytest.mark.parametrize(
    "booster",
    [BOOSTER, RANDOM, grown(n=1), grown(min_data_in_leaf=1000)],
    ids=["many", "random", "one", "stumps"],
)
def test_scores_are_lightgbms(booster: lightgbm.Booster) -> None:
    model = rl.TreeModel(booster)
    assert model.decision_function(X).tolist() == booster.predict(X).tolist()
    assert model.n_trees == booster.num_trees()
    assert list(model.importances().values()) == pytest.approx(booster.feature_importance("gain"), rel=1e-4)
    assert list(model.importances("split").values()) == booster.feature_importance("split").tolist()


@pytest.mark.parametrize("form", [np.asarray, csr_array, rl.RankingData, pl.DataFrame])
def test_rows_in_any_form(form: type) -> None:
    assert MODEL.decision_function(form(X)).tolist() == BOOSTER.predict(X).tolist()


def test_rows_come_back_in_the_callers_order() -> None:
    data = rl.RankingData(X, qid=np.arange(ROWS) % 7)
    assert data.order is not None
    assert MODEL.decision_function(data).tolist() == BOOSTER.predict(X).tolist()
    explained = MODEL.explain(data).contributions
    assert explained.tolist() == MODEL.explain(X).contributions.tolist()
    sparse = rl.RankingData(csr_array(X), qid=np.arange(ROWS) % 7)
    np.testing.assert_allclose(MODEL.explain(sparse).contributions.toarray(), explained, atol=1e-12)


def test_missing_values_have_a_score() -> None:
    holes = X.copy()
    holes[::3, 0] = np.nan
    booster = grown(holes)
    model = rl.TreeModel(booster)
    assert model.decision_function(holes).tolist() == booster.predict(holes).tolist()
    told = model.explain(rl.RankingData(holes, allow_missing=True))
    np.testing.assert_allclose(told.contributions.sum(axis=1) + told.bias, told.scores)
    with pytest.raises(rl.InputError, match="linear model cannot score missing"):
        rl.TreeModel(booster, base=LINEAR).predict(rl.RankingData(holes, allow_missing=True))


def test_threads_change_nothing() -> None:
    many = np.tile(X, (4000, 1))
    assert useful_threads(rl.RankingData(many).features, 3) == 3
    assert useful_threads(rl.RankingData(X).features, 3) == 1
    one = MODEL.decision_function(many, threads=1)
    assert MODEL.decision_function(many, threads=3).tobytes() == one.tobytes()


@pytest.mark.parametrize("booster", [BOOSTER, RANDOM])
@pytest.mark.parametrize("base", [None, LINEAR, rl.TreeModel(RANDOM)], ids=str)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_contributions_add_up_to_scores(booster, base, form) -> None:
    model = rl.TreeModel(booster, base=base)
    told = model.explain(form(X))
    own = booster.predict(X) + (0.0 if base is None else base.decision_function(X))
    np.testing.assert_allclose(told.scores, own, rtol=1e-12)
    np.testing.assert_allclose(np.asarray(told.contributions.sum(axis=1)) + told.bias, own, rtol=1e-9)
    strong = model.explain(form(X), top=2)
    assert [one.feature for one in strong[5]] == [one.feature for one in told[5]][:2]


def test_links_and_names() -> None:
    model = rl.TreeModel(BOOSTER, link="logistic", target_range=(0, 4), feature_names=list("abcdef"))
    scores = BOOSTER.predict(X)
    np.testing.assert_allclose(model.predict(X), 4 / (1 + np.exp(-scores)))
    assert list(model.importances()) == list("abcdef")
    named = lightgbm.train(
        {**QUIET, "objective": "regression"}, lightgbm.Dataset(X, Y, feature_name=list("uvwxyz")), 2
    )
    assert rl.TreeModel(named).feature_names == tuple("uvwxyz")
    with pytest.raises(rl.InputError, match="features of the model, in its order"):
        model.predict(pl.DataFrame(X, list("abcdeg")))


@pytest.mark.parametrize("base", [None, LINEAR, rl.TreeModel(RANDOM, base=LINEAR)], ids=str)
def test_it_is_kept(tmp_path: Path, base: object) -> None:
    model = rl.TreeModel(BOOSTER, base=base, feature_names=list("abcdef"), about={"method": "gbdt"})
    model.save(tmp_path / "a.rank")
    again = rl.load(tmp_path / "a.rank")
    assert again == model == pickle.loads(pickle.dumps(model)) == copy.deepcopy(model)
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    again.save(tmp_path / "b.rank")
    assert (tmp_path / "a.rank").read_bytes() == (tmp_path / "b.rank").read_bytes()
    assert again != again.with_about(note=1)
    assert again.with_about(note=1).about == {"method": "gbdt", "note": 1}
    assert "learned by gbdt, 7 trees, 6 features" in repr(again)
    with pytest.raises(AttributeError, match="immutable"):
        again.base = None


def test_the_text_is_the_same_however_it_was_learned() -> None:
    """Training parameters, threads among them, are no part of the model; LightGBM reads what is left."""
    other = grown(num_threads=2)
    assert rl.TreeModel(other) == MODEL
    assert rl.TreeModel(MODEL.text) == MODEL
    assert lightgbm.Booster(model_str=MODEL.text).predict(X).tolist() == BOOSTER.predict(X).tolist()
    estimator = lightgbm.LGBMRegressor(n_estimators=3, verbosity=-1).fit(X, Y)
    assert rl.TreeModel(estimator).decision_function(X).tolist() == estimator.predict(X).tolist()


def test_no_rows_no_scores() -> None:
    nothing = np.empty((0, WIDTH), dtype=np.float32)
    assert MODEL.decision_function(nothing).tolist() == []
    assert len(MODEL.explain(nothing)) == 0


def test_without_lightgbm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    MODEL.save(tmp_path / "a.rank")
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    model = rl.load(tmp_path / "a.rank")
    assert model == MODEL
    assert model.importances() == MODEL.importances()
    with pytest.raises(rl.MissingPackageError, match=r'pip install "rankloom\[trees\]"'):
        model.predict(X)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("tree\n", "forest\n", "must begin with 'tree'"),
        ("end of trees", "", "must begin with 'tree'"),
        ("Tree=0", "Tree=1", "tree 0 is called '1'"),
        ("\nTree=0", "\nTrees=0", "it has no tree"),
        ("num_class=1", "num_class=3", "num_class must be 1, got '3'"),
        ("num_tree_per_iteration=1", "", "num_tree_per_iteration must be 1, got None"),
        ("max_feature_idx=1", "max_feature_idx=-1", "max_feature_idx must be a whole number"),
        ("max_feature_idx=1", "max_feature_idx=99999999999", "max_feature_idx must be a whole number"),
        ("num_leaves=3", "num_leaves=4", "tree 0: split_feature must be 3 numbers"),
        ("num_leaves=3", "num_leaves=0", "tree 0: num_leaves must be"),
        ("num_cat=0", "num_cat=1", "tree 0: threshold must name each of the 1 sets"),
        ("num_cat=0", "num_cat=3", "tree 0: num_cat must be a whole number"),
        ("is_linear=0", "is_linear=1", "tree 0: it has linear leaves"),
        ("split_feature=1 0", "split_feature=1 2", "split_feature must be from 0 to 1"),
        ("split_feature=1 0", "split_feature=1 -1", "split_feature must be from 0 to 1"),
        ("decision_type=2 2", "decision_type=2 3", "threshold must name each of the 0 sets"),
        ("decision_type=2 2", "decision_type=2 12", "decision_type must be from 0 to 11"),
        ("decision_type=2 2", "decision_type=2 258", "decision_type must be from 0 to 11"),
        ("decision_type=2 2", "decision_type=2 -2", "decision_type must be from 0 to 11"),
        ("split_feature=1 0", "split_feature=1 0_0", "split_feature must be whole numbers with one blank"),
        ("split_feature=1 0", "split_feature=1 \t0", "split_feature must be whole numbers with one blank"),
        ("threshold=0.5 2", "threshold=0.5 2\r", "threshold must be numbers with one blank between"),
        ("threshold=0.5 2", "threshold=0.5 ", "threshold must be numbers with one blank between"),
        ("left_child=1 -2", "left_child=0 -2", "must lead to every node and every leaf once"),
        ("left_child=1 -2", "left_child=1 -1", "must lead to every node and every leaf once"),
        ("left_child=1 -2", "left_child=1000000 -2", "must lead to every node and every leaf once"),
        ("left_child=1 -2", "left_child=1 x", "left_child must be whole numbers"),
        ("leaf_value=1 10 100", "leaf_value=1 nan 100", "leaf_value must be finite"),
        ("leaf_value=1 10 100", "leaf_value=1 10", "leaf_value must be 3 numbers"),
        ("leaf_count=2 1 1\n", "", "leaf_count must be 3 numbers"),
        ("threshold=0.5 2", "threshold=0.5 2\nthreshold=1 1", "'threshold' is in it twice"),
        ("split_gain=5 2.5", "split_gain=5 inf", "split_gain must be finite"),
    ],
)
def test_trees_that_are_none(tmp_path: Path, old: str, new: str, told: str) -> None:
    refused(tmp_path, STUMP, old, new, told)


def refused(tmp_path: Path, whole: str, old: str, new: str, told: str) -> None:
    """The text with a change makes no model, by itself or from a file."""
    assert old in whole
    text = whole.replace(old, new)
    with pytest.raises(rl.InputError, match=told):
        rl.TreeModel(text)
    held = rl.TreeModel(whole).content()
    write_model(tmp_path / "a.rank", held._replace(arrays={"trees": np.frombuffer(text.encode(), np.uint8)}))
    with pytest.raises(rl.ModelError, match=f"is damaged.*{told}"):
        rl.load(tmp_path / "a.rank")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("num_cat=2", "num_cat=1", "threshold must name each of the 1 sets"),
        ("num_cat=2", "num_cat=0", "threshold must name each of the 0 sets"),
        ("num_cat=2", "num_cat=-1", "num_cat must be a whole number from 0"),
        ("num_cat=2", "", "num_cat must be a whole number from 0"),
        ("threshold=1 0", "threshold=1 1", "threshold must name each of the 2 sets"),
        ("threshold=1 0", "threshold=1 2", "threshold must name each of the 2 sets"),
        ("threshold=1 0", "threshold=1 0.5", "threshold must name each of the 2 sets"),
        ("threshold=1 0", "threshold=-1 0", "threshold must name each of the 2 sets"),
        ("threshold=1 0", "threshold=1 nan", "threshold must name each of the 2 sets"),
        ("threshold=1 0", "threshold=1e9 0", "threshold must name each of the 2 sets"),
        ("decision_type=9 1", "decision_type=9 0", "threshold must name each of the 2 sets"),
        ("decision_type=9 1", "decision_type=13 1", "decision_type must be from 0 to 11"),
        ("decision_type=9 1", "decision_type=9 257", "decision_type must be from 0 to 11"),
        ("cat_boundaries=0 1 3\n", "", "cat_boundaries must be 3 numbers"),
        ("cat_boundaries=0 1 3", "cat_boundaries=0 1", "cat_boundaries must be 3 numbers"),
        ("cat_boundaries=0 1 3", "cat_boundaries=0 3 1", "cat_boundaries must rise from 0"),
        ("cat_boundaries=0 1 3", "cat_boundaries=0 0 3", "cat_boundaries must rise from 0"),
        ("cat_boundaries=0 1 3", "cat_boundaries=1 2 3", "cat_boundaries must rise from 0"),
        ("cat_boundaries=0 1 3", "cat_boundaries=-1 1 3", "cat_boundaries must rise from 0"),
        ("cat_boundaries=0 1 3", "cat_boundaries=0 1 4", "cat_threshold must be 4 numbers"),
        ("cat_boundaries=0 1 3", "cat_boundaries=0 1 4294967299", "cat_threshold must be 4294967299 numbers"),
        ("cat_boundaries=0 1 3", "cat_boundaries=0 1 3.0", "cat_boundaries must be whole numbers"),
        ("cat_threshold=6 1 2\n", "", "cat_threshold must be 3 numbers"),
        ("cat_threshold=6 1 2", "cat_threshold=6 1", "cat_threshold must be 3 numbers"),
        ("cat_threshold=6 1 2", "cat_threshold=6  2", "cat_threshold must be whole numbers"),
        ("cat_threshold=6 1 2", "cat_threshold=6 1 4294967296", "cat_threshold must be words of 32 bits"),
        ("cat_threshold=6 1 2", "cat_threshold=6 1 -1", "cat_threshold must be words of 32 bits"),
        ("split_feature=1 0", "split_feature=1 2", "split_feature must be from 0 to 1"),
    ],
)
def test_sets_of_categories_that_are_none(tmp_path: Path, old: str, new: str, told: str) -> None:
    refused(tmp_path, SETS, old, new, told)


def test_a_feature_is_a_number_or_a_category() -> None:
    text = SETS.replace("num_cat=2", "num_cat=1").replace("split_feature=1 0", "split_feature=0 0")
    text = text.replace("threshold=1 0", "threshold=0 0.5").replace("decision_type=9 1", "decision_type=9 2")
    text = text.replace("cat_boundaries=0 1 3", "cat_boundaries=0 3")
    with pytest.raises(rl.InputError, match="feature 0 is split both as a number and by categories"):
        rl.TreeModel(text)


def test_lines_that_nobody_asked_for_are_left_out() -> None:
    """LightGBM takes all up to the next = sign for a name: what was not looked at does not reach it."""
    noise = "no sign\nwhat=\rnum_cat=7\nshrinkage=1"
    assert rl.TreeModel(SETS.replace("shrinkage=1", noise)).text == rl.TreeModel(SETS).text


@given(st.sampled_from((STUMP, SETS)), st.data())
@settings(max_examples=300)
def test_changed_text_is_refused_or_scores(whole: str, data: st.DataObject) -> None:
    """LightGBM gets nothing that leads it out of its memory."""
    text = list(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from("0123456789-. \n=ex"))
    try:
        scores = rl.TreeModel("".join(text)).decision_function([[0.0, 1.0], [3.0, 0.0], [40.0, 16777215.0]])
    except rl.RankloomError:
        return
    assert len(scores) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"facts": {}},
        {"arrays": {}},
        {"arrays": {"trees": np.zeros(3)}},
        {"arrays": {"trees": np.full(9, 200, dtype=np.uint8)}},
        {"facts": {"link": "x", "target_range": None, "feature_names": None, "about": {}}},
        {"facts": {"link": "identity", "target_range": None, "feature_names": ["a"], "about": {}}},
        {"facts": {"link": "identity", "target_range": None, "feature_names": None, "about": 3}},
        {"facts": {**MODEL.content().facts, "parts": {"base": 3}}},
        {"facts": {**MODEL.content().facts, "parts": {"other": 3}}},
    ],
    ids=range(9),
)
def test_files_that_are_not_as_they_were_written(tmp_path: Path, change: dict[str, object]) -> None:
    write_model(tmp_path / "a.rank", MODEL.content()._replace(**change))
    with pytest.raises(rl.ModelError, match="is damaged"):
        rl.load(tmp_path / "a.rank")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"trees": 3}, "must be a LightGBM Booster, or the text of one, got int"),
        ({"trees": STUMP, "base": LINEAR}, "base has 6 features and the trees 2"),
        ({"trees": STUMP, "base": "m.rank"}, "base must be a model, such as ranker.model_, got str"),
        ({"trees": STUMP, "link": "x"}, "link must be one of"),
        ({"trees": STUMP, "feature_names": ["a"]}, "one name per column"),
        ({"trees": grown(linear_tree=True)}, "linear leaves"),
    ],
    ids=range(6),
)
def test_what_makes_no_model(arguments: dict[str, object], told: str) -> None:
    with pytest.raises(rl.InputError, match=told):
        rl.TreeModel(**arguments)


def test_bad_questions() -> None:
    with pytest.raises(rl.InputError, match="kind must be one of gain, split"):
        MODEL.importances("weight")
    with pytest.raises(rl.InputError, match="the model has 6 features, the data 2"):
        MODEL.predict([[1.0, 2.0]])


def test_a_text_is_read_and_written_once() -> None:
    forest = read_forest(BOOSTER.model_to_string())
    assert read_forest(forest.text).text == forest.text
