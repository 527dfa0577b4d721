"""Counting pairs: against counting them one by one, SciPy, scikit-learn, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankloom.kernels.pairs as kernels
from rankloom.measures.evaluate import evaluate
from rankloom.measures.measure import Measure
from twins import measures_twin as twin

SCORE = st.sampled_from([-2.0, 0.0, 0.5, 3.0, 9.0])
FEW_LEVELS = st.lists(st.tuples(st.sampled_from([0, 1, 2, 4]), SCORE), min_size=1, max_size=40)
ANY_LEVELS = st.lists(st.tuples(st.sampled_from([-3, 0, 0.5, 1, 40, 99]), SCORE), min_size=1, max_size=40)
TIES = st.sampled_from(["average", "pessimistic", "optimistic", "file", "docid"])


def agree(name, rows, **fields):
    labels, scores = zip(*rows, strict=True)
    ids = [f"d{(7 * i) % 41:02d}" for i in range(len(rows))]
    measure = Measure(name, **fields)
    got = evaluate(scores, labels, measures=measure, doc_ids=ids, threads=1).per_query(measure)[0]
    wanted = twin.value(name, labels, scores, ids=ids, **fields)
    assert math.isnan(got) if wanted is None else got == pytest.approx(wanted, abs=1e-12)


@pytest.mark.jit_free
@pytest.mark.bounds
@given(st.one_of(FEW_LEVELS, ANY_LEVELS), TIES)
@settings(max_examples=100)
def test_pairwise_accuracy_equals_counting_all_pairs(rows, ties):
    agree("pairwise", rows, ties=ties)


@pytest.mark.jit_free
@pytest.mark.bounds
@given(st.one_of(FEW_LEVELS, ANY_LEVELS))
@settings(max_examples=100)
def test_tau_equals_its_definition(rows):
    agree("tau", rows)


@pytest.mark.jit_free
@pytest.mark.bounds
@given(st.lists(st.tuples(st.sampled_from([0, 0, 1, 2]), SCORE), min_size=1, max_size=6), TIES)
@settings(max_examples=100)
def test_auc_equals_counting_all_pairs(rows, ties):
    agree("auc", rows, ties=ties)


def test_by_hand():
    # Pairs with different labels: (a b) (a c) (b c), a best. Scores put c above b and tie a with c.
    labels, scores = [3, 2, 0], [5.0, 4.0, 5.0]
    found = evaluate(scores, labels, measures=["pairwise", "pairwise:ties=pessimistic", "tau"])
    assert found["pairwise"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert found["pairwise:ties=pessimistic"] == pytest.approx(1 / 3)
    assert found["tau"] == pytest.approx((1 - 1) / math.sqrt(3 * 2))


def test_auc_loss_is_what_is_missing():
    found = evaluate([4, 3, 2, 1], [1, 0, 1, 0], measures=["auc", "auc-loss"])
    assert found["auc"] == 3 / 4
    assert found["auc-loss"] == 1 / 4


def test_strict_pairwise_accuracy_is_that_of_lee_and_lin():
    """Theirs counts pairs with score_i > score_j only: a constant score has none right."""
    found = evaluate([1, 1, 1], [0, 1, 2], measures=["pairwise", "pairwise:ties=pessimistic"])
    assert found["pairwise"] == 0.5
    assert found["pairwise:ties=pessimistic"] == 0.0


def test_a_constant_score_has_no_tau():
    assert evaluate([1, 1, 1], [0, 1, 2], measures="tau")["tau"] == 0.0


@pytest.mark.parametrize("levels", [2, 5, 31, 33, 10_000])
@pytest.mark.parametrize("ties", [False, True])
def test_tau_equals_scipy(levels, ties):
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(levels)
    labels = random.integers(0, levels, 3000).astype(float)
    scores = random.integers(0, 500, 3000) / 8 if ties else random.normal(size=3000)
    wanted = stats.kendalltau(labels, scores).statistic
    assert evaluate(scores, labels, measures="tau")["tau"] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_auc_equals_scikit_learn(ties):
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(5)
    labels = random.integers(0, 2, 3000)
    scores = random.integers(0, 60, 3000) / 8 if ties else random.normal(size=3000)
    assert evaluate(scores, labels, measures="auc/sklearn")["auc/sklearn"] == pytest.approx(
        metrics.roc_auc_score(labels, scores), abs=1e-12
    )


def test_millions_of_pairs_do_not_overflow():
    """300,000 rows have 4.5e10 pairs, whose square is no int64."""
    labels = np.arange(300_000, dtype=float)
    found = evaluate(labels, labels, measures=["pairwise", "tau", "auc:threshold=150000"])
    assert list(found.values()) == [1.0, 1.0, 1.0]
    turned = evaluate(-labels, labels, measures=["pairwise", "tau"])
    assert list(turned.values()) == [0.0, -1.0]


def test_every_kernel_has_one_signature():
    if not hasattr(kernels.pair_block, "signatures"):
        pytest.skip("plain Python")
    evaluate([1, 2], [0, 1], measures=["tau", "auc"])
    evaluate(np.float32([1, 2, 3]), np.int8([0, 1, 1]), qid=["a", "b", "a"], measures=["pairwise:ties=file"])
    assert len(kernels.pair_block.signatures) == 1
