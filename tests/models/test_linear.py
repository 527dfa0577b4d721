"""Linear models: scores and values by hand and by SciPy, in the caller's order, explained, kept unchanged."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from scipy.special import expit

import rankloom as rl
from rankloom.models.explanation import Contribution
from rankloom.models.scoring import row_blocks, rows_of

X = [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]
MODEL = rl.LinearModel([0.5, -1.0, 2.0], bias=0.25, feature_names=["a", "b", "c"])


def test_scores_by_hand():
    """.5 + 4 + .25 and -3 + .25."""
    assert MODEL.decision_function(X).tolist() == [4.75, -2.75]
    assert MODEL.predict(X).tolist() == [4.75, -2.75]


@pytest.mark.parametrize("form", [np.asarray, csr_array, coo_array, rl.RankingData])
def test_rows_in_any_form(form):
    assert MODEL.decision_function(form(np.array(X))).tolist() == [4.75, -2.75]


def pandas_frame(rows, columns):
    return pd.DataFrame(rows, columns=columns)


def polars_frame(rows, columns):
    return pl.DataFrame(rows, columns, orient="row")


@pytest.mark.parametrize("frame", [pandas_frame, polars_frame])
def test_frames_must_have_the_features_of_the_model(frame):
    assert MODEL.decision_function(frame(X, ["a", "b", "c"])).tolist() == [4.75, -2.75]
    with pytest.raises(
        rl.InputError, match=r"column 1 is 'b' in the model and 'c' in the data \(the same names"
    ):
        MODEL.decision_function(frame(X, ["a", "c", "b"]))
    with pytest.raises(rl.InputError, match=r"'b' in the model and 'x' in the data \(it has no 'b'\)"):
        MODEL.decision_function(frame(X, ["a", "x", "c"]))


def test_values_by_the_link_and_the_range():
    """Score 0 is probability 1/2, the middle of 1..5; score log 3 is 3/4."""
    half = rl.LinearModel([1.0], link="logistic")
    assert half.predict([[0.0], [math.log(3.0)]]).tolist() == pytest.approx([0.5, 0.75])
    graded = rl.LinearModel([1.0], link="logistic", target_range=(1, 5))
    assert graded.predict([[0.0], [math.log(3.0)]]).tolist() == pytest.approx([3.0, 4.0])
    assert rl.LinearModel([1.0], target_range=(1, 5)).predict([[0.5]]).tolist() == [3.0]
    assert graded.decision_function([[2.0]]).tolist() == [2.0]


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20))
@settings(max_examples=40)
def test_probabilities_are_scipys(scores):
    table = np.array(scores, dtype=np.float32).reshape(-1, 1)
    found = rl.LinearModel([1.0], link="logistic").predict(table)
    np.testing.assert_allclose(found, expit(table[:, 0].astype(float)), rtol=1e-14, atol=1e-300)


def test_scores_come_in_the_order_of_the_caller():
    rows = np.arange(12.0).reshape(6, 2)
    data = rl.RankingData(rows, qid=["b", "a", "b", "c", "a", "b"])
    assert data.order is not None
    model = rl.LinearModel([1.0, 10.0])
    assert model.predict(data).tolist() == (rows @ [1.0, 10.0]).tolist()
    sparse = rl.RankingData(csr_array(rows), qid=["b", "a", "b", "c", "a", "b"])
    assert model.predict(sparse).tolist() == (rows @ [1.0, 10.0]).tolist()
    for given_data in (data, sparse):
        explained = model.explain(given_data)
        table = explained.contributions
        table = table if isinstance(table, np.ndarray) else table.toarray()
        assert table.tolist() == (rows * [1.0, 10.0]).tolist()
        assert explained[5] == [Contribution("column 1", 110.0), Contribution("column 0", 10.0)]


@pytest.mark.parametrize("sparse", [False, True])
def test_any_number_of_threads_gives_the_same_bits(sparse, monkeypatch):
    monkeypatch.setattr("rankloom.models.scoring._VALUES_PER_BLOCK", 640)
    random = np.random.default_rng(0)
    table = random.normal(size=(1000, 7)).astype(np.float32)
    table[table < 0.3] = 0.0
    data = rl.RankingData(csr_array(table) if sparse else table)
    assert len(row_blocks(rows_of(data).features)) > 3
    model = rl.LinearModel(random.normal(size=7))
    one = model.decision_function(data, threads=1)
    assert one.tobytes() == model.decision_function(data, threads=3).tobytes()
    np.testing.assert_allclose(one, table.astype(float) @ model.weights, rtol=1e-12)


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 1000])
@pytest.mark.parametrize("width", [0, 1, 50_000])
def test_blocks_hold_every_row_once(rows, width):
    features = rl.RankingData(csr_array((rows, width), dtype=np.float32)).features
    blocks = row_blocks(features)
    assert [row for start, stop in blocks for row in range(start, stop)] == list(range(rows))


def test_no_rows_no_scores():
    assert MODEL.predict(np.empty((0, 3))).tolist() == []
    assert len(MODEL.explain(np.empty((0, 3)))) == 0


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ([[1.0, 2.0]], r"the model has 3 features, the data 2; if its last ones .* n_features=3"),
        ([[1.0, 2.0, 3.0, 4.0]], r"the model has 3 features, the data 4$"),
        ([1.0, 2.0, 3.0], "X must be a table"),
        ([[1.0, np.nan, 3.0]], r"X must be finite, got NaN .* row 0, column 1"),
    ],
)
def test_rows_that_do_not_fit(table, told):
    for method in (MODEL.predict, MODEL.decision_function, MODEL.explain):
        with pytest.raises(rl.InputError, match=told):
            method(np.array(table))


def test_missing_values_and_overflow_have_no_score():
    data = rl.RankingData([[1, 2, 3], [1, np.nan, 3]], qid=[1, 2], allow_missing=True)
    with pytest.raises(rl.InputError, match=r"cannot score missing values \(NaN\), and row 1 has one"):
        MODEL.predict(data)
    huge = rl.LinearModel([1e308, -1e308])
    with pytest.raises(rl.InputError, match="the score of row 1 is beyond all numbers"):
        huge.predict([[0.0, 0.0], [1e30, 1e30]])


def test_explanations_add_up_and_name_the_strongest():
    """Row 0: a adds .5 and c 4, b nothing; row 1: b takes 3 away."""
    found = MODEL.explain(X)
    assert found.bias == 0.25
    assert found.contributions.tolist() == [[0.5, 0.0, 4.0], [0.0, -3.0, 0.0]]
    assert (found.contributions.sum(axis=1) + found.bias).tolist() == found.scores.tolist() == [4.75, -2.75]
    assert found[0] == [("c", 4.0), ("a", 0.5)]
    assert found[-1] == [("b", -3.0)]
    assert list(found) == found[:] == [found[0], found[1]]
    with pytest.raises(IndexError, match="row must be below 2"):
        found[2]
    assert repr(found) == "Explanation(2 rows, bias 0.25)"


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_only_the_strongest(form):
    found = MODEL.explain(form(X), top=1)
    assert found.contributions.toarray().tolist() == [[0.0, 0.0, 4.0], [0.0, -3.0, 0.0]]
    assert found.scores.tolist() == [4.75, -2.75]
    assert list(MODEL.explain(form(X), top=9)) == list(MODEL.explain(form(X)))
    for top in (0, -1, True, 1.5):
        with pytest.raises(rl.InputError, match="top must be a whole number from 1, or None"):
            MODEL.explain(form(X), top=top)


@given(st.integers(0, 99), st.integers(1, 6), st.booleans())
@settings(max_examples=40)
def test_the_strongest_are_those_that_sorting_finds(seed, top, sparse):
    random = np.random.default_rng(seed)
    table = random.integers(-2, 3, size=(5, 6)).astype(np.float32)
    model = rl.LinearModel(random.integers(-2, 3, size=6))
    found = model.explain(csr_array(table) if sparse else table, top=top)
    for row in range(5):
        amounts = table[row].astype(float) * model.weights
        order = sorted(np.flatnonzero(amounts).tolist(), key=lambda column: (-abs(amounts[column]), column))
        assert found[row] == [(f"column {column}", amounts[column]) for column in order[:top]]


def test_weights_by_name():
    assert MODEL.named_weights() == {"a": 0.5, "b": -1.0, "c": 2.0}
    assert list(MODEL.named_weights(top=2).items()) == [("c", 2.0), ("b", -1.0)]
    assert rl.LinearModel([3.0, 4.0]).named_weights() == {"column 0": 3.0, "column 1": 4.0}
    with pytest.raises(rl.InputError, match="top must be"):
        MODEL.named_weights(top=0)


def test_a_model_does_not_change():
    weights = np.array([1.0, 2.0])
    facts = {"method": "spd", "list": [1]}
    model = rl.LinearModel(weights, about=facts)
    weights[0], facts["list"][0] = 9.0, 9
    model.about["list"].append(2)
    assert model == rl.LinearModel([1.0, 2.0], about={"method": "spd", "list": [1]})
    with pytest.raises(ValueError, match="read-only"):
        model.weights[0] = 3.0
    with pytest.raises(AttributeError, match="immutable: bias cannot be set"):
        model.bias = 3.0
    with pytest.raises(AttributeError, match="immutable: bias cannot be deleted"):
        del model.bias
    with pytest.raises(TypeError, match="unhashable"):
        hash(model)


@pytest.mark.parametrize(
    "change",
    [
        {"weights": [1.0, 3.0]},
        {"weights": [1.0]},
        {"bias": 1.0},
        {"link": "logistic"},
        {"target_range": (0, 1)},
        {"feature_names": ["x", "y"]},
        {"about": {"method": "crr"}},
    ],
    ids=str,
)
def test_models_that_differ_are_not_equal(change):
    base = {"weights": [1.0, 2.0], "bias": 0.0}
    assert rl.LinearModel(**base) == rl.LinearModel(**base)
    assert rl.LinearModel(**base) != rl.LinearModel(**{**base, **change})
    assert rl.LinearModel(**base) != "a model"


def test_copies_and_pickles_are_equal():
    facts = {"target_range": (0, 2), "feature_names": ["a", "b"], "about": {"k": None}}
    model = rl.LinearModel([1, 2], 3, link="logistic", **facts)
    assert copy.copy(model) is copy.deepcopy(model) is model
    assert pickle.loads(pickle.dumps(model)) == model


def test_facts_can_be_added():
    model = rl.LinearModel([1.0], about={"method": "spd", "n": np.int64(3), "v": np.arange(2)})
    assert model.with_about(method="crr", x=1).about == {"method": "crr", "n": 3, "v": [0, 1], "x": 1}
    assert model.about == {"method": "spd", "n": 3, "v": [0, 1]}


def test_it_says_what_it_is():
    assert repr(rl.LinearModel([1, 0, 2], 0.5)) == "LinearModel(3 features (2 not 0), bias 0.5)"
    about = {"method": "crr"}
    model = rl.LinearModel([1.0], link="logistic", target_range=(0, 4), about=about)
    assert repr(model) == "LinearModel(learned by crr, 1 feature, bias 0, logistic link, values 0 to 4)"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"weights": [1.0, np.nan]}, "weights must be finite, got NaN"),
        ({"weights": ["x"]}, "weights must be numbers, got 'x'"),
        ({"weights": 3.0}, "weights must be a sequence"),
        ({"weights": [[1.0, 2.0], [3.0, 4.0]]}, "weights must have one value"),
        ({"bias": np.inf}, "bias must be a finite number, got inf"),
        ({"bias": "1"}, "bias must be a finite number, got '1'"),
        ({"bias": None}, "bias must be a finite number, got None"),
        ({"link": "probit"}, "link must be one of identity, logistic, got 'probit'"),
        ({"target_range": (1, 1)}, "target_range must rise from low to high, got 1 and 1"),
        ({"target_range": 3}, r"target_range must be two numbers \(low, high\) or None, got 3"),
        ({"target_range": (0, np.nan)}, "target_range must be a finite number"),
        ({"feature_names": ["a"]}, "feature_names must have one name per column"),
        ({"feature_names": ["a", "a"]}, "feature_names must be all different"),
        ({"about": ["x"]}, "about must be a dict of facts, got list"),
        ({"about": {"x": 1j}}, "about must hold what JSON can say"),
        ({"about": {"x": float("nan")}}, "about must hold what JSON can say"),
    ],
    ids=str,
)
def test_what_no_model_can_be_made_of(arguments, told):
    with pytest.raises(rl.InputError, match=told):
        rl.LinearModel(**{"weights": [1.0, 2.0], **arguments})
