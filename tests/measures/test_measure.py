"""Measures as values, and as text."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloom.errors import InputError
from rankloom.measures.measure import CHOICES, Measure
from rankloom.measures.presets import FIELDS, NEEDS_CUTOFF, PRESETS, WITH_CUTOFF

EVERY_PRESET = [(name, preset) for preset, covered in PRESETS.items() for name in covered if name]


@pytest.mark.parametrize(
    ("text", "name", "k", "preset"),
    [
        ("ndcg@10", "ndcg", 10, "burges"),
        ("ndcg", "ndcg", None, "burges"),
        ("ndcg@10/letor4", "ndcg", 10, "letor4"),
        ("map", "map", None, "burges"),
        ("err@20", "err", 20, "burges"),
        ("ndcg@3/xgboost-", "ndcg", 3, "xgboost-"),
        ("mean-ndcg/mslr", "mean-ndcg", None, "mslr"),
        (" ndcg @ 10 / trec ", "ndcg", 10, "trec"),
        ("auc-loss", "auc-loss", None, "burges"),
        ("nDCG@10", "ndcg", 10, "burges"),
        ("AP", "map", None, "burges"),
        ("AP@100/trec", "map", 100, "trec"),
        ("RR@10", "mrr", 10, "burges"),
        ("MRR", "mrr", None, "burges"),
        ("P@5", "p", 5, "burges"),
        ("Precision@5", "p", 5, "burges"),
        ("R@5", "r", 5, "burges"),
        ("Recall@5", "r", 5, "burges"),
        ("ERR@20", "err", 20, "burges"),
    ],
)
def test_names_are_understood(text, name, k, preset):
    measure = Measure.parse(text)
    assert (measure.name, measure.k, measure.preset) == (name, k, preset)


def test_text_is_the_shortest_that_says_it_all():
    assert str(Measure("ndcg", 10)) == "ndcg@10"
    assert str(Measure("NDCG", 10, preset="burges", ties="file")) == "ndcg@10"
    assert str(Measure("ndcg", 10, ties="average")) == "ndcg@10:ties=average"
    assert str(Measure("map", preset="trec", ties="file", threshold=2)) == "map/trec:threshold=2:ties=file"
    assert str(Measure("ndcg", 5, gain=(0, 1, 5.5))) == "ndcg@5:gain=0,1,5.5"
    assert str(Measure("logloss", threshold=0.1)) == "logloss:threshold=0.1"
    assert str(Measure("map", threshold=">0.5")) == "map:threshold=>0.5"
    assert repr(Measure("ndcg", 10)) == "Measure.parse('ndcg@10')"


def test_values_are_equal_when_they_compute_the_same():
    assert Measure.parse("nDCG@10") == Measure("ndcg", 10)
    assert Measure.parse("ndcg@10/sklearn:ties=average:gain=linear") == Measure("ndcg", 10, preset="sklearn")
    assert Measure("map", threshold=1) == Measure("map", threshold=">=1")
    assert len({Measure("ndcg", 10), Measure.parse("ndcg@10"), Measure.parse("NDCG@10:empty=0")}) == 1


def test_values_differ_when_something_differs():
    different = [
        "ndcg@10",
        "ndcg@5",
        "ndcg",
        "ndcg@10/trec",
        "ndcg@10:empty=1",
        "ndcg@10:gain=0,1,3",
        "dcg@10",
    ]
    assert len({Measure.parse(text) for text in different}) == len(different)


def test_a_measure_cannot_be_changed():
    with pytest.raises(AttributeError):
        Measure("ndcg", 10).k = 5


def test_a_measure_survives_pickling():
    measure = Measure.parse("ndcg@10/trec:gain=0,1,5")
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert str(pickle.loads(pickle.dumps(measure))) == str(measure)


@pytest.mark.parametrize(("name", "preset"), EVERY_PRESET)
def test_text_reads_back_as_the_same_measure(name, preset):
    measure = Measure(name, 7 if name in WITH_CUTOFF else None, preset=preset)
    assert Measure.parse(str(measure)) == measure
    assert eval(repr(measure)) == measure


@st.composite
def any_measure(draw):
    name = draw(st.sampled_from(sorted(FIELDS)))
    fields = {}
    for field in FIELDS[name]:
        if draw(st.booleans()):
            continue
        if field == "threshold":
            fields[field] = draw(st.sampled_from([">0", ">=1", ">0.1", ">=1e-07", 2, -1.5]))
        elif field == "max_grade":
            fields[field] = draw(st.sampled_from([1, 2.5, 1000]))
        elif field == "bins":
            fields[field] = draw(st.integers(1, 100))
        elif field == "gain" and name != "err" and draw(st.booleans()):
            fields[field] = tuple(sorted(draw(st.lists(st.floats(0, 1e9), min_size=1, max_size=4))))
        else:
            fields[field] = draw(st.sampled_from(CHOICES[field]))
    if name == "map" and fields.get("denominator") == "found":
        fields["ties"] = "file"
    needed = name in NEEDS_CUTOFF
    k = draw(st.integers(1, 10**6)) if needed or (name in WITH_CUTOFF and draw(st.booleans())) else None
    return Measure(name, k, **fields)


@given(any_measure())
def test_any_measure_reads_back_from_its_text(measure):
    again = Measure.parse(str(measure))
    assert again == measure
    assert hash(again) == hash(measure)
    assert str(again) == str(measure)


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("nDCG(dcg='exp-log2')@10", "ndcg@10:gain=exp2"),
        ("nDCG(dcg='log2')@10", "ndcg@10:gain=linear"),
        ("nDCG(cutoff=5)", "ndcg@5"),
        ("nDCG(gains={0:0,1:1,2:5})@10", "ndcg@10:gain=0,1,5"),
        ("AP(rel=2)@100/trec", "map@100/trec:threshold=>=2"),
        ("P(rel=2)@5", "p@5:threshold=2"),
    ],
)
def test_parameters_of_ir_measures(text, same_as):
    assert Measure.parse(text) == Measure.parse(same_as)


@pytest.mark.parametrize("text", ["AP@10", "nDCG@5", "RR@3", "P@1", "R@1000", "ERR@20", "AP(rel=2)@10", "RR"])
def test_every_name_here_is_one_of_ir_measures(text):
    ir_measures = pytest.importorskip("ir_measures")
    theirs = ir_measures.parse_measure(text)
    assert Measure.parse(str(theirs)) == Measure.parse(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "written like ndcg@10"),
        ("ndgc@10", "no measure is called 'ndgc'"),
        ("ndcg@ten", "whole number, got 'ten'"),
        ("ndcg@0", "k must be a whole number from 1, got 0"),
        ("ndcg@2.5", "whole number"),
        ("ndcg@99999999999", "k must be a whole number from 1"),
        ("p", "p needs a cutoff"),
        ("auc@10", "auc has no cutoff"),
        ("ndcg@10/lettor", "no preset is called 'lettor'"),
        ("err/lightgbm", "preset 'lightgbm' says nothing about err, only about ndcg, map"),
        ("ndcg:ties=random", "ties must be one of file, average"),
        ("ndcg:threshold=2", "'threshold' means nothing for ndcg"),
        ("tau:ties=average", "'ties' means nothing for tau"),
        ("mse:empty=0", "the fields it has: none"),
        ("ndcg:ties", "expected field=value"),
        ("ndcg:ties=file:ties=average", "given twice"),
        ("ndcg:empty=2", "empty must be one of 0, 1, skip"),
        ("map:threshold=many", "threshold must be a finite number"),
        ("map:threshold=none", "threshold must be a finite number"),
        ("ndcg:gain=3,2,1", "must not be empty, nor fall"),
        ("ndcg:gain=cubic", "gain must be one of exp2, linear, or a table"),
        ("err:gain=0,1,2", "not a table"),
        ("map:ties=average:denominator=found", "no closed form"),
        ("err:max_grade=0", "max_grade must be a number above 0"),
        ("ece:bins=0", "bins must be a whole number from 1"),
        ("ece:bins=1.5", "bins must be a whole number from 1"),
        ("nDCG(judged_only=True)@10", "judged_only=True"),
        ("nDCG(dcg='log10')", "dcg='log10'"),
        ("nDCG(__import__('os'))", "cannot read the parameters"),
        ("nDCG(rel=print())", "cannot read the parameters"),
        ("AP(**{})", "cannot read the parameters"),
    ],
)
def test_what_is_wrong_is_said(text, complaint):
    with pytest.raises(InputError, match=re.escape(complaint)):
        Measure.parse(text)


@pytest.mark.parametrize("k", [True, 0, -1, 2.5, "10", 2**31])
def test_a_cutoff_is_a_whole_number(k):
    with pytest.raises(InputError, match="k must be"):
        Measure("ndcg", k)


def test_an_unknown_field_is_refused():
    with pytest.raises(InputError, match="'tise' means nothing for ndcg"):
        Measure("ndcg", tise="file")


def test_fields_are_the_whole_convention():
    assert Measure("err", preset="catboost").fields == {
        "gain": "linear",
        "max_grade": 1.0,
        "ties": "pessimistic",
        "empty": 0,
        "short": "truncate",
    }
    for name, preset in EVERY_PRESET:
        measure = Measure(name, 7 if name in WITH_CUTOFF else None, preset=preset)
        plain = Measure(name, measure.k, **measure.fields)
        assert plain.fields == measure.fields


def test_losses_say_so():
    assert [
        name for name in FIELDS if Measure(name, 1 if name in NEEDS_CUTOFF else None).lower_is_better
    ] == [
        "auc-loss",
        "mse",
        "logloss",
        "ece",
    ]


def test_thresholds():
    assert Measure("map").lowest_relevant == 5e-324
    assert Measure("map", threshold=2).lowest_relevant == 2.0
    assert Measure("map", threshold=">= 1.5").lowest_relevant == 1.5
    assert Measure("logloss").lowest_relevant is None
