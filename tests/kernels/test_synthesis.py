"""Made-up rows: what a row or a query holds depends on the seed and its place alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from rankloom.data.generate_topics import _alias_table
from rankloom.kernels.synthesis import MSLR_FEATURES, mslr_queries, rcv1_rows

WRAP = 2**64
GOLDEN = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WRAP
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WRAP
    return z ^ (z >> 31)


def drawn_terms(seed: int, row: int, tokens: int, keep: np.ndarray, aliases: np.ndarray) -> Counter[int]:
    """The tokens of one row in plain integers: a place, then whether it stays or gives way to its alias."""
    state = mix(seed ^ mix((row + 1) * GOLDEN % WRAP))
    found: Counter[int] = Counter()
    for _ in range(tokens):
        state = (state + GOLDEN) % WRAP
        place = (mix(state) >> 32) * len(keep) >> 32
        state = (state + GOLDEN) % WRAP
        stays = (mix(state) >> 11) / 2**53 < keep[place]
        found[place if stays else int(aliases[place])] += 1
    return found


Rows = list[dict[int, float]]


def rows_of(seed: int, first: int, tokens: list[int], keep: np.ndarray, aliases: np.ndarray) -> Rows:
    idf = np.linspace(0.5, 4.0, len(keep))
    columns, values = np.empty(sum(tokens), np.uint32), np.empty(sum(tokens), np.float32)
    sizes = np.empty(len(tokens), np.int64)
    used = rcv1_rows(seed, first, np.array(tokens), keep, aliases, idf, columns, values, sizes)
    assert used == sizes.sum()
    ends = np.cumsum(sizes)
    return [
        dict(zip(columns[end - size : end].tolist(), values[end - size : end].tolist(), strict=True))
        for size, end in zip(sizes, ends, strict=True)
    ]


@pytest.mark.jit_free
@pytest.mark.bounds
def test_sparse_rows_equal_their_twin() -> None:
    chances = np.random.default_rng(0).dirichlet(np.ones(150))
    keep, aliases = _alias_table(chances)
    tokens = [1, 5, 80, 300]
    idf = np.linspace(0.5, 4.0, 150)
    for row, found in enumerate(rows_of(9, 4, tokens, keep, aliases)):
        counts = drawn_terms(9, 4 + row, tokens[row], keep, aliases)
        assert list(found) == sorted(counts)
        weights = {term: (1 + np.log(count)) * idf[term] for term, count in counts.items()}
        length = np.sqrt(sum(weight**2 for weight in weights.values()))
        for term, value in found.items():
            assert value == pytest.approx(weights[term] / length, rel=5e-6)  # six digits


def test_blocks_change_nothing() -> None:
    keep, aliases = _alias_table(np.full(70, 1 / 70))
    whole = rows_of(1, 0, [20] * 10, keep, aliases)
    assert rows_of(1, 0, [20] * 4, keep, aliases) + rows_of(1, 4, [20] * 6, keep, aliases) == whole
    assert rows_of(2, 0, [20] * 10, keep, aliases) != whole


def test_the_alias_table_keeps_the_chances() -> None:
    chances = np.random.default_rng(1).dirichlet(np.full(40, 0.3))
    keep, aliases = _alias_table(chances)
    given = keep / 40
    np.add.at(given, aliases, (1 - keep) / 40)
    assert given == pytest.approx(chances)


@pytest.mark.bounds
def test_queries_are_the_same_in_any_block() -> None:
    offsets = np.array([0, 3, 4, 9], dtype=np.int64)
    whole, parts = np.zeros((2, 9, MSLR_FEATURES), np.float32)
    truth, truths = np.zeros((2, 9))
    mslr_queries(5, 7, offsets, whole, truth)
    mslr_queries(5, 7, offsets[:2], parts[:3], truths[:3])
    mslr_queries(5, 8, offsets[1:] - 3, parts[3:], truths[3:])
    assert np.array_equal(whole, parts)
    assert np.array_equal(truth, truths)
    assert np.isfinite(whole).all()
