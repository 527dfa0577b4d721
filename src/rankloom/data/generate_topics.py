"""Made-up documents and topics in the shape of RCV1: sparse rows, no queries, rare positives, a linear truth.

A row is a bag of tokens drawn from a Zipf-Mandelbrot law, weighted as (1 + log tf) * idf and scaled to length
one. A topic has some hundred key terms, each with a weight; its truth is their weighted sum in a row, and its
positives are the rows with most truth and noise together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.generate import Generated, check_count, check_size, random_numbers
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError

# From two rows in five to three in ten thousand, as RCV1's topics are.
TOPIC_SHARES = tuple(float(share) for share in np.geomspace(0.4, 0.0003, 103))
_ROWS_PER_BLOCK = 1 << 13
_KEY_TERMS = 300
_FLATTENED_HEAD = 30.0
_TOKENS = 65  # of the median row
_TEXT, _TOPICS = 4, 5


@dataclass(frozen=True)
class GeneratedTopics(Generated):
    """Rows with many topics. `data`, `truth` and `weights` are those of one topic; `topic(i)` gives
    another's.

    `shares` says what part of all rows each topic has.
    """

    shares: tuple[float, ...] = ()
    noise: float = 0.0
    seed: int = 0

    def topic(self, number: int) -> Generated:
        """The same rows, not copied, labelled 1 where they are of this topic and 0 elsewhere."""
        return _labelled(self.data, self.shares, number, self.noise, self.seed)


def make_rcv1(
    n_rows: int = 20_000,
    *,
    n_features: int = 47_236,
    topic: int = 0,
    shares: Sequence[float] = TOPIC_SHARES,
    noise: float = 0.3,
    seed: int = 0,
    threads: int | None = None,
) -> GeneratedTopics:
    """Sparse rows like RCV1's, about 75 terms each of 47,236, in one list, with topics from 40 % down to
    0.03 %.

    Labels are those of `topic`; the truth is linear. `noise` is the standard deviation of what the terms
    do not tell, beside that of the truth. Values have six significant digits, as in the published files.
    """
    check_count("n_rows", n_rows)
    check_count("n_features", n_features)
    check_size("noise", noise)
    if not len(shares) or not all(0.0 < share < 1.0 for share in shares):
        raise InputError(f"shares must be numbers between 0 and 1, one per topic, got {shares!r:.80}")
    data = RankingData.from_csr(*_documents(n_rows, n_features, seed, threads), n_features, trusted=True)
    made = _labelled(data, tuple(shares), topic, noise, seed)
    return GeneratedTopics(made.data, made.truth, made.weights, tuple(shares), noise, seed)


def _labelled(data: RankingData, shares: tuple[float, ...], topic: int, noise: float, seed: int) -> Generated:
    if isinstance(topic, bool) or topic not in range(-len(shares), len(shares)):
        raise InputError(
            f"topic must be a whole number below {len(shares)}, the number of topics, got {topic!r}"
        )
    topic %= len(shares)
    rng = random_numbers(seed, _TOPICS, topic)
    weights = np.zeros(data.n_features)
    n_keys = min(_KEY_TERMS, data.n_features)
    chances = _chances(data.n_features, seed)
    keys = rng.choice(data.n_features, size=n_keys, replace=False, p=chances)
    weights[keys] = rng.exponential(size=n_keys)
    truth = data.X @ weights
    spread = float(truth.std()) or 1.0
    relevance = truth + rng.normal(0.0, noise * spread, data.n_rows)
    n_positive = max(1, round(shares[topic] * data.n_rows))
    y = np.zeros(data.n_rows)
    y[np.argpartition(-relevance, n_positive - 1)[:n_positive]] = 1.0
    labelled = RankingData.from_csr(
        data.values, data.columns, data.row_offsets, data.n_features, y, trusted=True
    )
    return Generated(labelled, truth, weights)


def _documents(n_rows: int, n_features: int, seed: int, threads: int | None) -> tuple[Any, Any, Any]:
    """values, columns and row offsets."""
    from rankloom.kernels.synthesis import rcv1_rows
    from rankloom.kernels.threads import ordered_map

    chances = _chances(n_features, seed)
    keep, aliases = _alias_table(chances)
    tokens = random_numbers(seed, _TEXT).lognormal(np.log(_TOKENS), 0.6, n_rows)
    tokens = np.clip(tokens, 5, 1500).astype(np.int64)
    idf = np.log1p(1.0 / -np.expm1(tokens.mean() * np.log1p(-chances)))

    def block(first: int) -> tuple[Any, Any, Any]:
        mine = tokens[first : first + _ROWS_PER_BLOCK]
        columns, values = np.empty(mine.sum(), np.uint32), np.empty(mine.sum(), np.float32)
        sizes = np.empty(len(mine), np.int64)
        used = rcv1_rows(seed, first, mine, keep, aliases, idf, columns, values, sizes)
        return values[:used].copy(), columns[:used].copy(), sizes

    blocks = list(ordered_map(block, range(0, n_rows, _ROWS_PER_BLOCK), threads))
    values, columns, sizes = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return values, columns, np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))


def _chances(n_features: int, seed: int) -> NDArray[np.float64]:
    """How likely a token is each of the terms: 1 / (30 + rank), ranks spread over the columns at random."""
    chances = 1.0 / (_FLATTENED_HEAD + np.arange(1, n_features + 1))
    return random_numbers(seed, _TEXT, 1).permutation(chances / chances.sum())


def _alias_table(chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
    """Walker's alias method: a uniformly drawn place i is i with keep[i], else aliases[i]."""
    keep = chances * len(chances)
    aliases = np.arange(len(chances), dtype=np.uint32)
    small, large = np.flatnonzero(keep < 1.0).tolist(), np.flatnonzero(keep >= 1.0).tolist()
    while small and large:
        poor, rich = small.pop(), large[-1]
        aliases[poor] = rich
        keep[rich] -= 1.0 - keep[poor]
        if keep[rich] < 1.0:
            small.append(large.pop())
    keep[small + large] = 1.0
    return keep, aliases
