"""Parts of data by query: every query lies whole in one part.

    train, valid, test = split(data, [0.6, 0.2, 0.2], seed=0)
    for train, valid in k_folds(data, 5, seed=0): ...

Queries are shuffled, then dealt out. With strata, queries that are alike (as many relevant documents, as
long) are dealt out together, so that each part gets its share of every kind. Same seed, same parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import as_column
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError

STRATA = ("relevant", "length")
_GOLDEN = 0x9E3779B97F4A7C15
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def split(
    data: RankingData,
    parts: Sequence[float] | None = None,
    *,
    test: float | None = None,
    seed: int = 0,
    stratify: Any = None,
) -> tuple[RankingData, ...]:
    """Cut data into parts by query; each keeps the order of the queries.

    Args:
        data: what to cut.
        parts: the share of queries for each part; they sum to 1.
        test: in place of `parts`: the share of the second of two parts.
        seed: a whole number from 0; the same parts for the same seed.
        stratify: None, "relevant" (alike in how many documents have a label above 0), "length" (alike in how
            many documents they have), or one value per query: queries with equal values are alike.
    """
    shares = _shares(parts, test)
    counts = _counts(data.n_queries, shares)
    strata = _strata(data, stratify)
    slots = _rolled(np.repeat(np.arange(len(counts)), counts)[_dealing_order(counts)], seed)
    owner = np.empty(data.n_queries, dtype=np.int64)
    owner[_shuffled(data.n_queries, seed, strata)] = slots
    return tuple(data.take(np.flatnonzero(owner == part)) for part in range(len(counts)))


def k_folds(
    data: RankingData, n: int = 5, *, seed: int = 0, stratify: Any = None
) -> Iterator[tuple[RankingData, RankingData]]:
    """For each of `n` folds: the queries outside it, to learn from, and those in it, to measure on.

    Folds differ by at most one query. `seed` and `stratify` are as for `split`.
    """
    owner = fold_numbers(data, n, seed=seed, stratify=stratify)
    return ((data.take(owner != fold), data.take(owner == fold)) for fold in range(n))


def fold_numbers(data: RankingData, n: int, *, seed: int = 0, stratify: Any = None) -> NDArray[np.int64]:
    """The fold of each query, as `k_folds` deals them out."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2:
        raise InputError(f"n must be a whole number of folds from 2, got {n!r}")
    if n > data.n_queries:
        raise InputError(
            f"{n:,} folds need at least as many queries, got {data.n_queries:,}; ask for fewer folds"
        )
    owner = np.empty(data.n_queries, dtype=np.int64)
    slots = _rolled(np.arange(data.n_queries) % n, seed)
    owner[_shuffled(data.n_queries, seed, _strata(data, stratify))] = slots
    return owner


def _shares(parts: Sequence[float] | None, test: float | None) -> NDArray[np.float64]:
    if (parts is None) == (test is None):
        raise InputError("give either parts=[...] or test=..., one of them")
    if test is not None:
        if not 0 < test < 1:
            raise InputError(f"test must be a share between 0 and 1, got {test!r}")
        return np.array([1 - test, test])
    shares = np.asarray(parts, dtype=np.float64)
    if shares.ndim != 1 or len(shares) < 2 or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-9:
        raise InputError(f"parts must be two or more shares above 0 that sum to 1, got {parts!r}")
    return shares


def _counts(n_queries: int, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many queries each part gets: rounded so that they sum up (largest remainders), one at least."""
    if n_queries < len(shares):
        raise InputError(
            f"{len(shares)} parts need at least as many queries, got {n_queries:,}; ask for fewer parts"
        )
    exact = shares * n_queries
    counts = np.floor(exact + 1e-9).astype(np.int64)
    missing = n_queries - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    for part in np.flatnonzero(counts == 0):
        counts[counts.argmax()] -= 1
        counts[part] = 1
    return counts


def _dealing_order(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Deal parts out evenly: the i-th of c queries of a part has its turn at (i + 1/2) / c of the way."""
    turns = np.concatenate([(np.arange(count) + 0.5) / count for count in counts])
    return np.argsort(turns, kind="stable")


def _strata(data: RankingData, stratify: Any) -> NDArray[np.int64]:
    """A number per query; queries with the same number are alike."""
    if stratify is None:
        return np.zeros(data.n_queries, dtype=np.int64)
    if isinstance(stratify, str):
        return _named_strata(data, stratify)
    values = as_column(stratify, "stratify")
    if len(values) != data.n_queries:
        raise InputError(f"stratify must have one value per query ({data.n_queries:,}), got {len(values):,}")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values.tolist()], dtype=np.int64)


def _named_strata(data: RankingData, name: str) -> NDArray[np.int64]:
    if name == "length":
        return data.lengths
    if name == "relevant":
        if data.y is None:
            raise InputError('stratify="relevant" needs labels, and this data has none; use "length" or None')
        above = np.concatenate(([0], np.cumsum(data.y > 0)))
        return np.asarray(np.diff(above[data.offsets]), dtype=np.int64)
    raise InputError(f"stratify must be {', '.join(STRATA)}, None or one value per query, got {name!r}")


def _rolled(slots: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Begin dealing anywhere, so that a stratum of few queries does not always go to one part."""
    return np.roll(slots, int(_random_keys(1, _checked_seed(seed) ^ _GOLDEN)[0] % np.uint64(len(slots))))


def _shuffled(n_queries: int, seed: int, strata: NDArray[np.int64]) -> NDArray[np.int64]:
    """All queries in random order, those that are alike one after the other."""
    return np.lexsort((_random_keys(n_queries, _checked_seed(seed)), strata))


def _checked_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise InputError(f"seed must be a whole number from 0 to 2^64 - 1, got {seed!r}")
    return int(seed)


def _random_keys(count: int, seed: int) -> NDArray[np.uint64]:
    """splitmix64 from `seed`, as in kernels/random.py; all different, so that sorting by them shuffles."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX[0])
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX[1])
    return z ^ (z >> np.uint64(31))
