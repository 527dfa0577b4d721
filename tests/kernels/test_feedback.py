"""Pairs are drawn without bias; what a ranking is measured by is what `evaluate` says."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankloom as rl
from rankloom.kernels.feedback import MEASURES, choose_some, draw_pairs, measure_queries
from twins import spd_twin

Y = [0, 2, 1, 0, 2, 5, 5, 3, 0, 1, 0, 0, 7, 0, 0, 1.5]
OFFSETS = np.array([0, 5, 7, 7, 8, 16])


def drawn(y: Any, offsets: Any, most: int, seed: int) -> list[list[tuple[int, int]]]:
    room = sum(int(n) * (int(n) - 1) // 2 for n in np.diff(offsets))
    starts, pairs = np.zeros(len(offsets), np.int64), np.empty((room, 2), np.int64)
    draw_pairs(offsets, np.asarray(y, dtype=float), most, np.array([seed], np.uint64), starts, pairs)
    return [[tuple(pair) for pair in pairs[start:stop].tolist()] for start, stop in pairwise(starts)]


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 3), max_size=40), max_size=4), st.integers(1, 60), st.integers(0, 99))
def test_all_pairs_or_as_many_as_allowed_none_twice(labels: Any, most: int, seed: int) -> None:
    y = np.array([label for query in labels for label in query], dtype=float)
    offsets = np.cumsum([0, *(len(query) for query in labels)])
    for query, found in enumerate(drawn(y, offsets, most, seed)):
        rows = np.arange(offsets[query], offsets[query + 1])
        wanted = {(int(a), int(b)) for a in rows for b in rows if y[a] > y[b]}
        assert len(set(found)) == len(found) == min(most, len(wanted))
        assert set(found) <= wanted


def test_every_pair_of_a_query_has_the_same_chance_at_every_place() -> None:
    wanted = [pair for pair in spd_twin.pairs(Y, OFFSETS) if pair[0] >= 8]
    found = [drawn(Y, OFFSETS, 4, seed)[-1] for seed in range(4000)]
    for place in range(4):
        seen = Counter(draw[place] for draw in found)
        assert stats.chisquare([seen[pair] for pair in wanted]).pvalue > 1e-3


def test_every_set_of_numbers_in_every_order() -> None:
    found = Counter(tuple(choose_some(4, 2, np.array([s], np.uint64)).tolist()) for s in range(6000))
    orders = [(a, b) for one in combinations(range(4), 2) for a, b in (one, one[::-1])]
    assert set(found) == set(orders)
    assert stats.chisquare([found[order] for order in orders]).pvalue > 1e-3
    assert sorted(choose_some(5, 99, np.array([1], np.uint64)).tolist()) == list(range(5))
    assert len(choose_some(0, 5, np.array([1], np.uint64))) == 0


def test_more_pairs_than_32_bits_can_count() -> None:
    n = 200_000
    y = np.arange(n) % 2.0
    starts, pairs = np.zeros(2, np.int64), np.empty((1000, 2), np.int64)
    draw_pairs(np.array([0, n]), y, 1000, np.array([3], np.uint64), starts, pairs)
    assert starts[1] == 1000
    assert (y[pairs[:, 0]] > y[pairs[:, 1]]).all()
    assert pairs.min() < n / 50
    assert pairs.max() > n - n / 50


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 45), min_size=1, max_size=5), st.integers(0, 10**6), st.sampled_from([2, 5, 60])
)
def test_measures_are_those_of_evaluate(lengths: list[int], seed: int, grades: int) -> None:
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *lengths])
    y = rng.integers(0, grades, offsets[-1]).astype(float)
    scores = rng.integers(0, 30, offsets[-1]) / 8
    values = np.empty((len(lengths), MEASURES))
    measure_queries(offsets, y, scores, values)
    qid = np.repeat(np.arange(len(lengths)), lengths)
    found = rl.evaluate(scores, y, qid=qid, measures=["ndcg", "ndcg@10", "map"])
    means = [found["ndcg"], found["ndcg@10"], found["map"]]
    np.testing.assert_allclose(values.mean(axis=0), means, atol=1e-12)
