"""The pair index: cells by hand, every pair counted, weights and errors of rounding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.kernels import pair_index
from rankloom.kernels.pair_index import FIRST, LAST, START, STOP, build_pair_index, pair_counts
from twins import spd_twin


@pytest.mark.jit_free
def test_cells_by_hand() -> None:
    """Query 0 has labels 1, 0, 1, 2; query 1 has one label only; query 2 is empty; query 3 has 0, 5."""
    y, offsets = np.array([1.0, 0, 1, 2, 3, 3, 0, 5]), np.array([0, 4, 6, 6, 8])
    index = build_pair_index(y, offsets)
    assert index.rows.tolist() == [1, 0, 2, 3, 4, 5, 6, 7]
    assert index.cells.tolist() == [[0, 1, 0, 4], [1, 3, 0, 4], [3, 4, 0, 4], [6, 7, 6, 8], [7, 8, 6, 8]]
    assert index.groups.tolist() == [[0, 3], [3, 2]]
    assert pair_counts(index.cells).tolist() == [3, 4, 3, 1, 1]


@pytest.mark.parametrize("y", [[], [1.0], [2.0, 2.0, 2.0]])
def test_without_a_pair_there_is_no_cell(y: list[float]) -> None:
    index = build_pair_index(np.array(y), np.array([0, len(y)]))
    assert len(index.cells) == len(index.groups) == 0


labels = st.one_of(st.integers(0, 3).map(float), st.floats(-2, 2))
queries = st.lists(st.lists(labels, max_size=9), min_size=1, max_size=6)


def chances(index: pair_index.PairIndex) -> np.ndarray:
    """The chance of each cell, from the alias table."""
    n = len(index.threshold)
    kept = index.threshold.astype(np.float64) / 2**32
    result = kept / n
    np.add.at(result, index.alias, (1 - kept) / n)
    return result


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=80)
@given(queries, st.sampled_from([2, 32]))
def test_every_pair_is_counted_twice_and_drawn_by_its_weight(lists: list[list[float]], most: int) -> None:
    y = np.array([label for one in lists for label in one], dtype=np.float64)
    offsets = np.concatenate(([0], np.cumsum([len(one) for one in lists])))
    index = build_pair_index(y, offsets)
    assert sorted(index.rows.tolist()) == list(range(len(y)))
    for cell in index.cells.astype(int):
        inside = y[index.rows[cell[FIRST] : cell[LAST]]]
        around = np.delete(
            y[index.rows[cell[START] : cell[STOP]]],
            np.s_[cell[FIRST] - cell[START] : cell[LAST] - cell[START]],
        )
        assert len(set(inside)) == 1
        assert inside[0] not in around
    n_pairs = len(spd_twin.pairs(y, offsets))
    counts = pair_counts(index.cells)
    assert counts.sum() == 2 * n_pairs
    if n_pairs:
        np.testing.assert_allclose(chances(index), counts / counts.sum(), atol=1e-8)


def test_many_labels_are_sorted_and_few_are_counted_alike() -> None:
    rng = np.random.default_rng(0)
    offsets = np.array([0, 500, 500, 1300, 1301])
    few = rng.integers(0, 20, 1301).astype(float)
    many = few.copy()
    many[700:] += rng.random(601)
    for y in (few, many):
        index = build_pair_index(y, offsets)
        query = np.repeat(np.arange(4), np.diff(offsets))
        assert index.rows.tolist() == np.lexsort((y, query)).tolist()


def test_query_weights_multiply() -> None:
    y, offsets = np.array([0.0, 1, 0, 1, 1]), np.array([0, 2, 5])
    index = build_pair_index(y, offsets, np.array([6.0, 1.0]))
    np.testing.assert_allclose(chances(index), np.array([6, 6, 2, 2]) / 16, atol=1e-8)


def test_a_rare_label_in_a_long_list() -> None:
    y = np.zeros(1_000_000)
    y[123_456] = 1
    index = build_pair_index(y, np.array([0, len(y)]))
    assert index.cells[:, : LAST + 1].tolist() == [[0, 999_999], [999_999, 1_000_000]]
    assert index.rows[-1] == 123_456
    np.testing.assert_allclose(chances(index), [0.5, 0.5])
