"""The list kernel against its slow twin, and against numbers worked out on paper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankloom.kernels.measures as kernels
from rankloom.measures.evaluate import evaluate
from rankloom.measures.measure import Measure
from twins import measures_twin as twin

pytestmark = [pytest.mark.jit_free, pytest.mark.bounds]

RELEVANT = {">0": lambda y: y > 0, ">=2": lambda y: y >= 2, ">0.5": lambda y: y > 0.5}

LIST = st.lists(
    st.tuples(st.sampled_from([0, 1, 2, 3, 4, 0.5]), st.sampled_from([-1.5, 0.0, 0.25, 7.0])),
    min_size=1,
    max_size=6,
)
CUTOFF = st.sampled_from([None, 1, 2, 3, 10])
TIES = st.sampled_from(["file", "average", "pessimistic", "optimistic", "docid"])


def ours(name, rows, k, fields):
    """One query through evaluate; NaN where it is not defined."""
    labels, scores = zip(*rows, strict=True)
    if "empty" in Measure(name, k, **fields).__dict__ and name != "dcg":
        fields = {**fields, "empty": "skip"}
    measure = Measure(name, k, **fields)
    ids = [f"d{(7 * i) % 11}" for i in range(len(rows))]
    return evaluate(scores, labels, measures=[measure], doc_ids=ids, threads=1).per_query(measure)[0], ids


def agree(name, rows, k, told, fields):
    got, ids = ours(name, rows, k, fields)
    labels, scores = zip(*rows, strict=True)
    wanted = twin.value(name, labels, scores, k=k, ids=ids, **told)
    if wanted is None:
        assert math.isnan(got)
    else:
        assert got == pytest.approx(wanted, rel=1e-12, abs=1e-15)


@given(
    LIST,
    CUTOFF,
    TIES,
    st.sampled_from(["exp2", "linear"]),
    st.sampled_from(["log2", "letor"]),
    st.sampled_from(["truncate", "zero"]),
    st.sampled_from(["ndcg", "dcg"]),
)
@settings(max_examples=150)
def test_graded_measures_equal_their_twins(rows, k, ties, gain, discount, short, name):
    told = {"ties": ties, "gain": gain, "discount": discount, "short": short}
    agree(name, rows, k, told, told)


@given(LIST, CUTOFF, TIES, st.sampled_from(["exp2", "linear"]), st.sampled_from(["log2", "letor"]))
@settings(max_examples=80)
def test_mean_ndcg_equals_its_twin(rows, k, ties, gain, discount):
    told = {"ties": ties, "gain": gain, "discount": discount}
    agree("mean-ndcg", rows, k, told, told)


@given(LIST, CUTOFF, TIES, st.sampled_from(["exp2", "linear"]))
@settings(max_examples=80)
def test_err_equals_its_twin(rows, k, ties, gain):
    told = {"ties": ties, "gain": gain}
    agree("err", rows, k, told, told)


@given(
    LIST,
    CUTOFF,
    TIES,
    st.sampled_from(sorted(RELEVANT)),
    st.sampled_from(["relevant", "reachable", "found"]),
)
@settings(max_examples=150)
def test_average_precision_equals_its_twin(rows, k, ties, threshold, denominator):
    if ties == "average" and denominator == "found":
        ties = "file"
    told = {"ties": ties, "denominator": denominator}
    fields = {**told, "threshold": threshold}
    agree("map", rows, k, {**told, "relevant": RELEVANT[threshold]}, fields)


@given(
    LIST,
    st.sampled_from([1, 2, 3, 10]),
    TIES,
    st.sampled_from(sorted(RELEVANT)),
    st.sampled_from(["truncate", "pad", "zero"]),
    st.sampled_from(["mrr", "p", "r"]),
)
@settings(max_examples=150)
def test_measures_of_relevance_equal_their_twins(rows, k, ties, threshold, short, name):
    told = {"ties": ties, "short": short}
    agree(name, rows, k, {**told, "relevant": RELEVANT[threshold]}, {**told, "threshold": threshold})


def test_ndcg_by_hand():
    # Scores rank rows 1, 2, 3, 0: labels 2, 0, 1, 3.
    dcg = 3 / math.log2(2) + 0 / math.log2(3) + 1 / math.log2(4) + 7 / math.log2(5)
    ideal = 7 / math.log2(2) + 3 / math.log2(3) + 1 / math.log2(4) + 0 / math.log2(5)
    found = evaluate([0.1, 0.4, 0.3, 0.2], [3, 2, 0, 1], measures=["ndcg", "ndcg@2", "dcg"])
    assert found["ndcg@2"] == pytest.approx(3 / (7 + 3 / math.log2(3)))
    assert found["dcg"] == pytest.approx(dcg)
    assert found["ndcg"] == pytest.approx(dcg / ideal)


def test_precision_measures_by_hand():
    # Ranked: relevant, not, relevant, not, relevant.
    scores, labels = [5, 4, 3, 2, 1], [1, 0, 1, 0, 1]
    found = evaluate(
        scores, labels, measures=["map", "map@3", "p@4", "r@4", "mrr", "map@3:denominator=found"]
    )
    assert found["map"] == pytest.approx((1 / 1 + 2 / 3 + 3 / 5) / 3)
    assert found["map@3"] == pytest.approx((1 / 1 + 2 / 3) / 3)
    assert found["map@3:denominator=found"] == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert found["p@4"] == 2 / 4
    assert found["r@4"] == pytest.approx(2 / 3)
    assert found["mrr"] == 1.0


def test_err_by_hand():
    # Grades 3, 0, 1 of at most 4: a reader stops with probability 7/16, 0, 1/16.
    found = evaluate([3, 2, 1], [3, 0, 1], measures="err")
    assert found["err"] == pytest.approx(7 / 16 + 9 / 16 * 1 * (1 / 16) / 3)


def test_averaged_ties_by_hand():
    # Four rows tie, one is relevant: it stands at each place with probability 1/4.
    places = [1, 2, 3, 4]
    found = evaluate([1, 1, 1, 1], [0, 0, 1, 0], measures=["ndcg:ties=average", "mrr:ties=average"])
    assert found["ndcg:ties=average"] == pytest.approx(sum(1 / math.log2(i + 1) for i in places) / 4)
    assert found["mrr:ties=average"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)


@pytest.mark.parametrize("levels", [60, 300, 1200])
def test_hundreds_of_levels_do_not_overflow(levels):
    """2^1200 is no float, but its share of an ideal list is."""
    labels = np.arange(levels, dtype=float)
    found = evaluate(labels, labels, measures=["ndcg", "ndcg@10", "mean-ndcg", "mean-ndcg/letor4"])
    assert list(found.values()) == [1.0] * 4
    # The best one last: its gain outweighs all others together, so NDCG is close to its discount.
    scores = labels.copy()
    scores[-1] = -1.0
    found = evaluate(scores, labels, measures=["ndcg"])
    halves = sum(0.5**i / math.log2(i + 1) for i in range(1, 60))
    ideal = sum(0.5 ** (i - 1) / math.log2(i + 1) for i in range(1, 60))
    assert found["ndcg"] == pytest.approx((halves + 1 / math.log2(levels + 1)) / ideal, rel=1e-9)


def test_scaled_gains_are_the_same_ndcg():
    """Above 53, gains are taken relative to the greatest label; exact integers say what NDCG is."""
    labels = [60, 59, 0, 3, 58]
    scores = [1, 2, 3, 4, 5]
    ranked = [58, 3, 0, 59, 60]
    best = sorted(labels, reverse=True)
    dcg = [sum((2**y - 1) / math.log2(i + 1) for i, y in enumerate(r, start=1)) for r in (ranked, best)]
    assert evaluate(scores, labels, measures="ndcg")["ndcg"] == pytest.approx(dcg[0] / dcg[1], rel=1e-14)


def test_gains_of_rows_are_what_measures_use():
    from rankloom.measures.conventions import discounts, row_gains

    labels, offsets = np.array([3.0, 0.0, -1.0, 1.5, 60.0, 59.0]), np.array([0, 4, 6])
    exact = 2**1.5 - 1
    gains = row_gains(Measure("ndcg"), labels, offsets)
    assert gains.tolist() == pytest.approx([7, 0, 0, exact, 1, 0.5])
    assert row_gains(Measure("ndcg", gain="linear"), labels, offsets).tolist() == [3, 0, 0, 1.5, 60, 59]
    table = Measure("ndcg", gain=(0, 2, 2, 9))
    assert row_gains(table, labels[:3], np.array([0, 3])).tolist() == [9, 0, 0]
    assert discounts("log2", 3).tolist() == pytest.approx([1, 1 / math.log2(3), 0.5])
    assert discounts("letor", 4).tolist() == pytest.approx([1, 1, 1 / math.log2(3), 0.5])


def test_every_kernel_has_one_signature():
    if not hasattr(kernels.measure_block, "signatures"):
        pytest.skip("plain Python")
    evaluate([1, 2], [0, 1], measures=["ndcg@10", "err", "map:ties=average"])
    evaluate(np.float32([1, 2, 3]), np.int8([0, 1, 1]), qid=["a", "b", "a"], measures=["ndcg", "dcg@3"])
    assert len(kernels.measure_block.signatures) == 1
