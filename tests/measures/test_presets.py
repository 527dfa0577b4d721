"""Conventions on four lists small enough for a pencil, tool by tool.

A: labels 3 2 0 1 with scores .1 .4 .3 .2.     B, C: four equal scores, the relevant row first, last in the
file. D: two queries; the first has its relevant row at place 2, the second has none.     E: AP@2 with 3
relevant rows, all of them ranked first.
"""

from __future__ import annotations

import math

import pytest

from rankloom.errors import InputError
from rankloom.measures.evaluate import evaluate
from rankloom.measures.measure import Measure
from rankloom.measures.presets import FIELDS, PRESETS

pytestmark = pytest.mark.jit_free

LINEAR = (2 / 1 + 0 + 1 / 2 + 3 / math.log2(5)) / (3 / 1 + 2 / math.log2(3) + 1 / 2)
BURGES = (3 / 1 + 0 + 1 / 2 + 7 / math.log2(5)) / (7 / 1 + 3 / math.log2(3) + 1 / 2)
LETOR = (3 / 1 + 0 + 1 / math.log2(3) + 7 / 2) / (7 / 1 + 3 / 1 + 1 / math.log2(3))
FOURTH = 1 / math.log2(5)
AVERAGE = (1 / 1 + 1 / math.log2(3) + 1 / 2 + FOURTH) / 4
SECOND = 1 / math.log2(3)


def value(measure, scores, labels, **more):
    return next(iter(evaluate(scores, labels, measures=measure, **more).values()))


def test_the_numbers_of_the_table():
    assert (round(BURGES, 4), round(LINEAR, 4)) == (0.6936, 0.7963)
    assert (round(FOURTH, 3), round(AVERAGE, 3)) == (0.431, 0.640)
    assert (round((SECOND + 1) / 2, 4), round(SECOND / 2, 4)) == (0.8155, 0.3155)


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        ("ndcg@10", BURGES),
        ("ndcg@10/lightgbm", BURGES),
        ("ndcg@10/xgboost", BURGES),
        ("ndcg@10/xgboost:gain=linear", LINEAR),
        ("ndcg@10/catboost", LINEAR),
        ("ndcg@10/catboost:gain=exp2", BURGES),
        ("ndcg@10/sklearn", LINEAR),
        ("ndcg@10/trec", LINEAR),
        ("ndcg@10/ranx", LINEAR),
        ("ndcg@10/ranx:gain=exp2", BURGES),
        ("ndcg@10/yahoo", BURGES),
        ("ndcg@4/letor3", LETOR),
        ("ndcg@4/letor4", LETOR),
        ("ndcg@4/mslr", LETOR),
    ],
)
def test_a_gain_and_discount(measure, wanted):
    assert value(measure, [0.1, 0.4, 0.3, 0.2], [3, 2, 0, 1], doc_ids="abcd") == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("measure", "first", "last"),
    [
        ("ndcg", 1, FOURTH),
        ("ndcg/lightgbm", 1, FOURTH),
        ("ndcg/xgboost", 1, FOURTH),
        ("ndcg/catboost", FOURTH, FOURTH),
        ("ndcg/sklearn", AVERAGE, AVERAGE),
        ("ndcg/trec", FOURTH, 1),
        ("ndcg/letor4", 1, 1 / 2),
        ("ndcg:ties=optimistic", 1, 1),
    ],
)
def test_b_and_c_ties(measure, first, last):
    ids = ["d1", "d2", "d3", "d4"]
    assert value(measure, [1] * 4, [1, 0, 0, 0], doc_ids=ids) == pytest.approx(first)
    assert value(measure, [1] * 4, [0, 0, 0, 1], doc_ids=ids) == pytest.approx(last)


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        ("ndcg", SECOND / 2),
        ("ndcg/lightgbm", (SECOND + 1) / 2),
        ("map/lightgbm", (1 / 2 + 1) / 2),
        ("ndcg/xgboost", (SECOND + 1) / 2),
        ("ndcg/xgboost-", SECOND / 2),
        ("map/xgboost", (1 / 2 + 1) / 2),
        ("map/xgboost-", 1 / 4),
        ("ndcg/catboost", (SECOND + 1) / 2),
        ("map/catboost", 1 / 4),
        ("err/catboost", (1 / 2) / 2),
        ("ndcg/sklearn", SECOND / 2),
        ("ndcg/trec", SECOND / 2),
        ("map/trec", 1 / 4),
        ("ndcg/ranx", SECOND / 2),
        ("ndcg/letor4", 1 / 2),
        ("ndcg:empty=skip", SECOND),
        ("ndcg:empty=1", (SECOND + 1) / 2),
    ],
)
def test_d_queries_without_relevant_rows(measure, wanted):
    found = value(measure, [2, 1, 2, 1], [0, 1, 0, 0], qid=[1, 1, 2, 2], doc_ids="abcd")
    assert found == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        ("map@2", 2 / 3),
        ("map@2/lightgbm", 1),
        ("map@2/xgboost", 1),
        ("map@2/catboost", 1),
        ("map@2/trec", 2 / 3),
        ("map@2/ranx", 2 / 3),
        ("map@2/letor4", 2 / 3),
        ("map/burges", 1),
        ("map@2:denominator=found", 1),
    ],
)
def test_e_denominators(measure, wanted):
    assert value(measure, [4, 3, 2, 1], [1, 1, 1, 0], doc_ids="abcd") == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("measure", "at_half", "at_one"),
    [
        ("p@1", 1, 1),
        ("p@1/catboost", 0, 1),
        ("map/lightgbm:empty=0", 0, 1),
        ("p@1/trec", 0, 1),
        ("p@1/ranx", 0, 1),
        ("p@1/letor3", 0, 1),
        ("p@1/mslr", 0, 0),
    ],
)
def test_what_counts_as_relevant(measure, at_half, at_one):
    assert value(measure, [1], [0.5], doc_ids="a") == at_half
    assert value(measure, [1], [1], doc_ids="a") == at_one


def test_mslr_counts_grades_from_two_as_relevant():
    assert value("p@1/mslr", [1], [2]) == 1.0


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        ("p@10", 1),
        ("p@10/xgboost", 1),
        ("p@10/catboost", 1),
        ("p@10/trec", 2 / 10),
        ("p@10/ranx", 2 / 10),
        ("p@10/letor3", 0),
        ("p@10/letor4", 2 / 10),
        ("p@10/mslr", 2 / 10),
        ("ndcg@10", 1),
        ("ndcg@10/yahoo", 1),
        ("ndcg@10/trec", 1),
        ("ndcg@10/letor3", 0),
        ("ndcg@10/letor4", 0),
        ("ndcg@2/letor4", 1),
        ("mean-ndcg/letor4", 1),
        ("map/letor4", 1),
        ("r@10:short=zero", 0),
        ("mrr@10:short=zero", 0),
        ("err@10:short=zero", 0),
    ],
)
def test_lists_shorter_than_k(measure, wanted):
    """Two rows, both relevant, ranked right."""
    assert value(measure, [2, 1], [2, 2], doc_ids="ab") == pytest.approx(wanted)


def test_mean_ndcg_by_hand():
    """Lee & Lin: the mean over i of NDCG@i; labels 0 1 in ranked order, then 1 0."""
    # NDCG@1 = 0 / 1, NDCG@2 = discount(2) / discount(1).
    assert value("mean-ndcg", [2, 1], [0, 1]) == pytest.approx((0 + SECOND) / 2)
    assert value("mean-ndcg/letor4", [2, 1], [0, 1]) == pytest.approx((0 + 1) / 2)
    assert value("mean-ndcg", [1, 2], [0, 1]) == 1.0


def test_every_preset_says_what_it_covers():
    for preset, covered in PRESETS.items():
        for name in FIELDS:
            if name in covered:
                assert Measure(name, 5 if name in ("p", "r") else None, preset=preset).preset == preset
            else:
                with pytest.raises(InputError, match="says nothing about"):
                    Measure(name, 5 if name in ("p", "r") else None, preset=preset)


def test_ties_by_document_id_need_ids():
    with pytest.raises(InputError, match="orders ties by document id, and there are none"):
        evaluate([1], [1], measures="ndcg/trec")
