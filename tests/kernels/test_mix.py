"""The walk over crossings: against measuring between all of them, for every measure and convention."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankloom as rl
from rankloom.measures import walk as module
from rankloom.measures.inputs import judged
from rankloom.measures.measure import Measure
from rankloom.measures.walk import walk
from twins import mix_twin as twin

MEASURES = [
    "ndcg@3",
    "ndcg",
    "ndcg@3/letor4",
    "ndcg@3:empty=skip",
    "dcg@2",
    "mean-ndcg",
    "mean-ndcg@3",
    "map",
    "map@3:denominator=reachable",
    "map@3:denominator=found",
    "mrr",
    "mrr@2",
    "err",
    "err@3",
    "err@2:gain=linear",
    "p@3",
    "p@3:short=pad",
    "p@3/letor3",
    "r@2",
    "pairwise",
    "tau",
    "auc",
    "auc-loss",
    "ndcg@3:ties=average",
    "map:ties=average",
    "ndcg@3:ties=pessimistic",
    "err@3:ties=optimistic",
    "ndcg@3:ties=docid",
]
FEW = st.sampled_from([0.0, 1.0, 2.0, 3.0])
MANY = st.integers(-3000, 3000).map(lambda n: n / 1024)
ROWS = st.one_of(
    st.lists(st.tuples(FEW, FEW, st.integers(0, 3), st.integers(0, 1)), min_size=2, max_size=12),
    st.lists(st.tuples(MANY, MANY, st.integers(0, 3), st.integers(0, 1)), min_size=2, max_size=12),
)


def agrees(rows, name):
    a, b, y, qid = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    ids = [f"d{(7 * i) % 13:02d}" for i in range(len(a))]
    measure = Measure.parse(name)
    wanted = twin.curve(a, b, y, qid, measure, ids)
    if np.isnan(wanted[0][2]):
        with pytest.raises(rl.InputError, match="defined for no query"):
            walk(a, b, judged(b, y, qid, None, ids), measure)
        return
    order = np.argsort(qid, kind="stable")
    found = walk(a[order], b[order], grouped(y, qid, ids), measure)
    assert found.edges[0] == 0.0
    assert found.edges[-1] == 1.0
    for low, high, value in wanted:
        place = np.searchsorted(found.edges, (low + high) / 2) - 1
        assert found.values[place] == pytest.approx(value, abs=1e-9)
    best = min if measure.lower_is_better else max
    wide = [one.value for one in found.best if one.high - one.low > 1e-9]
    assert best(wide) == pytest.approx(best(value for _, _, value in wanted), abs=1e-9)


def grouped(y, qid, ids):
    """Labels with rows of a query together, queries by their number."""
    order = np.argsort(qid, kind="stable")
    return judged(np.zeros(len(y)), y[order], qid[order], None, [ids[row] for row in order])


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize("name", MEASURES)
@given(rows=ROWS)
@settings(max_examples=12)
def test_it_is_what_measuring_between_all_crossings_gives(name, rows):
    agrees(rows, name)


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize("name", ["ndcg@2", "map", "err@3", "pairwise"])
@given(rows=ROWS)
@settings(max_examples=20)
def test_little_memory_gives_the_same(name, rows):
    """Room for two crossings at a time, and alpha cut into many stretches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROOM", 2)
        patch.setattr(module, "CHANGES", 3)
        agrees(rows, name)


def test_all_rows_may_cross_at_one_point():
    """b = 1 - a: every pair changes places at alpha = 1/2, more than there is room for."""
    draw = np.random.default_rng(0)
    a, y = draw.random(60), draw.integers(0, 3, 60).astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROOM", 100)
        found = walk(a, 1.0 - a, judged(a, y, None, None, None), Measure.parse("ndcg"))
    ends = [rl.evaluate(scores, y, measures="ndcg")["ndcg"] for scores in (1.0 - a, a)]
    wide = found.values[np.diff(found.edges) > 1e-9]
    assert wide.tolist() == pytest.approx(ends, abs=1e-12)


def test_many_queries_on_threads_are_the_same_bits():
    draw = np.random.default_rng(1)
    qid = np.repeat(np.arange(2000), 40)
    a, b = draw.normal(size=(2, len(qid)))
    y = draw.integers(0, 5, len(qid)).astype(float)
    rows = judged(b, y, qid, None, None)
    one, three = (walk(a, b, rows, Measure.parse("ndcg@10"), threads) for threads in (1, 3))
    assert one.edges.tolist() == three.edges.tolist()
    assert one.values.tolist() == three.values.tolist()
    assert one.best == three.best


def test_two_rows_by_hand():
    """a has the right order, b the wrong one; 3 alpha = 1 (1 - alpha) at alpha = 1/4: NDCG from .631 to 1."""
    rows = judged([0, 0], [1, 0], None, None, None)
    found = walk(np.array([3.0, 0.0]), np.array([0.0, 1.0]), rows, Measure.parse("ndcg"))
    assert found.edges.tolist() == [0.0, 0.25, 1.0]
    assert found.values.tolist() == pytest.approx([1.0 / np.log2(3.0), 1.0])
    assert found.best[0] == (pytest.approx(1.0), 0.25, 1.0)


def test_measures_of_values_are_refused():
    with pytest.raises(rl.InputError, match="mse compares values"):
        walk(np.ones(2), np.ones(2), judged([0, 0], [1, 0], None, None, None), Measure.parse("mse"))
