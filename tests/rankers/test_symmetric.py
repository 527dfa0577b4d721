"""Symmetric trees: each question beside all others, each leaf beside its formula, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rankloom as rl
from rankloom import InputError, LambdaMART, RankingData
from rankloom.rankers.bins import BELOW_ALL, borders_of, cut, cut_alike
from rankloom.rankers.lambdas import Lambdas
from rankloom.rankers.symmetric import Search, Setting, Tree
from twins import symmetric_twin as twin

PLAIN = Setting(8, 0.5, 1, 0.7, 1.0, 1.0, 255, 0)
DATA = rl.make_letor(80, seed=2).data
TRAIN, VALID = rl.split(DATA, [0.7, 0.3], seed=1)
QUICK: dict[str, Any] = {"trees": "symmetric", "n_trees": 8, "leaves": 8, "min_data_in_leaf": 5}


def table(seed: int, n: int, missing: float) -> tuple[Any, Any, Any]:
    """Three features of few values, gradients and curvatures as floats."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, 3)).astype(np.float32)
    X[rng.random(X.shape) < missing] = np.nan
    pull, bend = rng.normal(size=n).astype(np.float32), rng.random(n).astype(np.float32)
    return X, pull, bend


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 40), st.sampled_from([0.0, 0.3]), st.sampled_from([0.0, 0.7]))
def test_each_level_asks_the_best_question(seed: int, n: int, missing: float, damping: float) -> None:
    X, pull, bend = table(seed, n, missing)
    bend += np.float32(0.1)
    bins = cut(RankingData(X, np.arange(n), allow_missing=True), 255)
    how = PLAIN._replace(lambda_l2=damping)
    found, place = Search(bins, how).questions(np.arange(n, dtype=np.uint32), np.arange(3), pull, bend)
    rows, own = X.tolist(), (pull.tolist(), bend.tolist(), damping)
    asked: list[twin.Asked] = []
    for one in found:
        best = max(twin.gain_of([*asked, other], rows, *own) for other in twin.questions_of(rows))
        asked.append(
            twin.Asked(one.feature, bins.borders[one.feature][one.last_left], bool(one.missing_right))
        )
        assert twin.gain_of(asked, rows, *own) == pytest.approx(best, rel=1e-9)
    if len(found) < 3:  # nothing divides any leaf to any gain
        further = [twin.gain_of([*asked, other], rows, *own) for other in twin.questions_of(rows)]
        assert max(further, default=0.0) <= twin.gain_of(asked, rows, *own) * (1 + 1e-9)
    for row, at in zip(rows, place.tolist(), strict=True):
        assert [bool(at >> level & 1) for level in range(len(asked))] == [one.answer(row) for one in asked]


@pytest.mark.jit_free
@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 12))
def test_leaves_have_so_many_rows_and_step_by_their_sums(seed: int, n: int, least: int) -> None:
    X, pull, bend = table(seed, n, 0.2)
    bins = cut(RankingData(X, np.arange(n), allow_missing=True), 255)
    how = PLAIN._replace(min_data_in_leaf=least)
    found, place = Search(bins, how).questions(np.arange(n, dtype=np.uint32), np.arange(3), pull, bend)
    tree = Tree.of(found, place, pull, bend, how)
    asked = [
        twin.Asked(q.feature, bins.borders[q.feature][q.last_left], bool(q.missing_right)) for q in found
    ]
    expected = np.zeros(n)
    for rows in twin.leaf_rows(asked, X.tolist(), range(n), least):
        expected[rows] = -0.5 * pull[rows].sum(dtype=float) / (bend[rows].sum(dtype=float) + 0.7)
    np.testing.assert_allclose(tree.values[tree.leaf_of[place]], expected, rtol=1e-12)
    assert len(tree.nodes) == len(tree.values) - 1


def test_the_model_scores_as_the_trees_grew() -> None:
    """Each tree's step by the lambdas at the scores so far, as LightGBM reads them, some values missing."""
    X = np.array(DATA.X)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    data = RankingData(X, DATA.y, np.repeat(DATA.qids, DATA.lengths), allow_missing=True)
    ranker = LambdaMART(learning_rate=0.3, lambda_l2=2.5, **QUICK).fit(data)
    scores, objective = np.zeros(data.n_rows), Lambdas(data.y, data.offsets, "ndcg@10")
    bins = cut(data, 255)
    how = Setting(8, 0.3, 5, 2.5, 1.0, 1.0, 255, 0)
    for _ in range(8):
        pull, bend = objective.gradients(scores)
        rows = np.arange(data.n_rows, dtype=np.uint32)
        questions, place = Search(bins, how).questions(rows, np.arange(46), pull, bend)
        tree = Tree.of(questions, place, pull, bend, how)
        scores += tree.values[tree.leaf_of[place]]
    np.testing.assert_allclose(ranker.decision_function(data), scores, rtol=1e-12, atol=1e-14)
    told = ranker.model_.explain(data)
    np.testing.assert_allclose(told.contributions.sum(axis=1) + told.bias, scores, atol=1e-6)
    assert "lightgbm" not in ranker.model_.about


def test_what_is_held_out_is_measured_as_the_model_ranks_it() -> None:
    ranker = LambdaMART(**{**QUICK, "n_trees": 40}, patience=10).fit(TRAIN, valid=VALID)
    assert ranker.model_.n_trees == int(np.argmax(ranker.curve_)) + 1
    assert ranker.curve_.max() == pytest.approx(ranker.score(VALID), abs=1e-12)
    first, many = (LambdaMART(**{**QUICK, "n_trees": n}).fit(DATA).score(DATA) for n in (1, 60))
    assert many > first + 0.03


def test_the_same_bits_for_any_threads_and_layout(monkeypatch: Any) -> None:
    sparse = RankingData(csr_array(DATA.X), DATA.y, np.repeat(DATA.qids, DATA.lengths))
    how = {**QUICK, "noise": 0.5, "draws": 2, "bagging_fraction": 0.8, "feature_fraction": 0.5, "seed": 4}
    texts = set()
    for threads in ("1", "3"):
        monkeypatch.setenv("RANKLOOM_THREADS", threads)
        texts |= {LambdaMART(**how).fit(data).model_.text for data in (DATA, sparse)}
    assert len(texts) == 1
    assert LambdaMART(**{**how, "seed": 5}).fit(DATA).model_.text not in texts


def test_an_exclusive_or_needs_two_questions() -> None:
    """Neither feature alone says anything: the first is asked all the same, and the second of both halves."""
    data = RankingData(
        np.tile(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), (50, 1)), np.tile([0, 1, 1, 0], 50)
    )
    ranker = LambdaMART("auc", trees="symmetric", n_trees=1, leaves=4, min_data_in_leaf=1).fit(data)
    assert ranker.score(data) == 1.0


def test_weights_base_models_and_labels_row_by_row() -> None:
    """A weight of 2 is twice the gradient; a base model's scores are the start; a mean starts regression."""
    one = LambdaMART(objective="regression", **QUICK).fit(DATA)
    assert one.predict(DATA).mean() == pytest.approx(np.mean(DATA.y), abs=0.05)
    twice = np.concatenate((np.asarray(DATA.X), np.asarray(DATA.X)[:100]))
    y = np.concatenate((DATA.y, DATA.y[:100]))
    weights = np.ones(DATA.n_rows)
    weights[:100] = 2
    how = {**QUICK, "objective": "regression", "min_data_in_leaf": 1, "n_trees": 2, "max_bin": 32}
    rows = np.asarray(DATA.X)
    rows, twice = np.round(rows * 4), np.round(twice * 4)
    heavy = LambdaMART(**how).fit(rows, DATA.y, sample_weight=weights)
    np.testing.assert_allclose(
        heavy.decision_function(rows), LambdaMART(**how).fit(twice, y).decision_function(rows), atol=1e-5
    )
    base = LambdaMART(**QUICK).fit(DATA)
    further = LambdaMART(**{**QUICK, "n_trees": 3}, base=base).fit(DATA)
    both = LambdaMART(**{**QUICK, "n_trees": 11}).fit(DATA)
    np.testing.assert_allclose(further.decision_function(DATA), both.decision_function(DATA), atol=1e-9)


def test_lambdas_are_means_over_draws() -> None:
    found = LambdaMART(noise=0.8, draws=3, seed=6, trees="symmetric", n_trees=1, leaves=2).fit(DATA)
    rng, objective = np.random.default_rng(6), Lambdas(DATA.y, DATA.offsets, "ndcg@10")
    pulls = [objective.gradients(rng.gumbel(0.0, 0.8, DATA.n_rows)) for _ in range(3)]
    pull, bend = (np.mean(parts, axis=0, dtype=float) for parts in zip(*pulls, strict=True))
    damping = 10 * objective.gradients(np.zeros(DATA.n_rows)).weights.mean(dtype=float)
    scores = found.decision_function(DATA)
    for value in np.unique(scores):
        rows = scores == value
        assert value == pytest.approx(-0.1 * pull[rows].sum() / (bend[rows].sum() + damping), rel=1e-4)


def test_borders_share_the_rows_and_stand_between_values() -> None:
    assert borders_of(np.array([3, 1, 2, 2], np.float32), 255).tolist() == [1.5, 2.5]
    assert borders_of(np.array([np.nan, 1, 2], np.float32), 255).tolist() == [BELOW_ALL, 1.5]
    assert borders_of(np.array([np.nan, np.nan], np.float32), 255).size == 0
    assert borders_of(np.array([5.0, 5.0], np.float32), 255).size == 0
    mostly_zero = np.concatenate((np.zeros(900), np.arange(1, 101))).astype(np.float32)
    found = borders_of(mostly_zero, 10)
    assert 0 < found[0] < 20
    assert 5 <= len(found) <= 9  # the zeros are one bin, not nine
    even = borders_of(np.arange(1000, dtype=np.float32), 10)
    np.testing.assert_allclose(even, np.arange(1, 10) * 100 - 0.5)


def test_other_rows_fall_into_the_same_bins() -> None:
    data = RankingData([[0.0], [1.0], [2.0]], [0, 1, 2])
    bins = cut(data, 255)
    other = RankingData([[0.5], [0.6], [9.0], [np.nan]], [0, 0, 0, 0], allow_missing=True)
    assert bins.table.columns.tolist() == [[0, 1, 2]]
    assert cut_alike(other, bins).tolist() == [[0, 1, 2, 0]]


REFUSED = [
    ({"trees": "round"}, "trees must be one of leaf-wise, symmetric, got 'round'"),
    ({"splits": "least-squares"}, "splits='least-squares' needs trees=\"leaf-wise\""),
    ({"quantised": True}, 'quantised=True needs trees="leaf-wise"'),
    ({"monotone": {0: 1}}, 'monotone={0: 1} needs trees="leaf-wise"'),
    ({"categorical": [3]}, 'categorical=[3] needs trees="leaf-wise"'),
    ({"params": {"max_depth": 3}}, "params={'max_depth': 3} needs trees=\"leaf-wise\""),
    ({"leaves": 257}, 'leaves must be up to 256 with trees="symmetric", got 257'),
    ({"max_bin": 256}, 'max_bin must be up to 255 with trees="symmetric", got 256'),
    ({"draws": 3}, "draws=3 needs noise"),
    ({"draws": 0}, "draws must be a whole number from 1"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_it_has_not_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        LambdaMART(**{"trees": "symmetric", **options}).fit(DATA)
    assert str(caught.value).startswith(message)


def test_sums_that_would_fill_the_memory_are_refused() -> None:
    X = np.random.default_rng(0).random((300, 3000), dtype=np.float32)
    with pytest.raises(InputError, match=r"would keep 1\.6 GB of sums for 3,000 features"):
        LambdaMART(trees="symmetric", leaves=256).fit(X, np.arange(300) % 3)
