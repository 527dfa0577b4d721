"""Ranked order: against Python's sort, above all where packed scores collide."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.kernels import order as kernels
from rankloom.measures.order import NO_TIES, docid_ties, ideal_labels, pack_block

pytestmark = [pytest.mark.jit_free, pytest.mark.bounds]

NEAR = 1.0 + np.arange(6) * 2.0**-52  # one bit apart: equal once packed
SCORE = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324, 1e308]),
    st.sampled_from(NEAR.tolist()),
    st.floats(allow_nan=False),
)
QUERIES = st.lists(st.lists(SCORE, max_size=12), min_size=1, max_size=5)


def flat(queries):
    offsets = np.cumsum([0, *map(len, queries)])
    return np.array([score for query in queries for score in query], dtype=float), offsets


@given(QUERIES, st.sampled_from([0, 1, -1]), st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_order_is_pythons(queries, direction, random):
    scores, offsets = flat(queries)
    labels = np.array([random.randint(0, 2) for _ in scores], dtype=float)
    ties = direction * labels
    order = pack_block(scores, offsets).order(ties if direction else NO_TIES)
    for start, end in pairwise(offsets):
        wanted = sorted(range(start, end), key=lambda row: (-scores[row], ties[row]))
        assert order[start:end].tolist() == wanted


@pytest.mark.parametrize("rows", [23, 24, 25, 48, 49, 1000, 1537])
def test_long_runs_of_nearly_equal_scores(rows):
    """All leading bits are the same, so that packing decides nothing and merging does all the work."""
    random = np.random.default_rng(rows)
    scores = 1.0 + random.integers(0, rows // 2, rows) * 2.0**-52
    ties = random.integers(0, 3, rows).astype(float)
    order = pack_block(scores, np.array([0, rows])).order(ties)
    assert order.tolist() == sorted(range(rows), key=lambda row: (-scores[row], ties[row]))


def test_equal_scores_stay_in_file_order():
    order = pack_block(np.zeros(100), np.array([0, 60, 100])).order()
    assert order.tolist() == list(range(100))


def test_document_ids_are_compared_as_strings_and_fall():
    scores, offsets = np.array([1.0, 1, 1, 2, 1, 1]), np.array([0, 4, 6])
    block = pack_block(scores, offsets)
    order = block.order(docid_ties(block, ["skip", "d10", "d9", "d2", "z", "a", "b"], 1))
    # The block starts at row 1 of the data. Its row 3 has the best score; then, as strings, d9 > d2 > d10.
    assert order[:4].tolist() == [3, 1, 2, 0]
    assert order[4:].tolist() == [5, 4]


def test_no_ids_are_read_where_nothing_ties():
    block = pack_block(np.array([1.0, 2, 1]), np.array([0, 2, 3]))
    assert docid_ties(block, None, 0) is NO_TIES


@given(st.lists(st.lists(st.sampled_from([0, 1, 4, 31]), max_size=9), min_size=1, max_size=4))
def test_ideal_labels_by_counting(queries):
    labels, offsets = flat(queries)
    ideal = np.empty(len(labels))
    assert kernels.ideal_block(offsets, labels, ideal)
    assert ideal.tolist() == [label for query in queries for label in sorted(query, reverse=True)]


@given(st.lists(st.lists(st.sampled_from([0, -1, 4.5, 31, 32, 700]), max_size=9), min_size=1, max_size=4))
def test_ideal_labels_by_sorting(queries):
    labels, offsets = flat(queries)
    wanted = [label for query in queries for label in sorted(query, reverse=True)]
    assert ideal_labels(labels, offsets).tolist() == wanted
