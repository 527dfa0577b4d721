"""Tests and intervals for paired differences d_i = b_i - a_i, one per query.

    t-test        t = mean(d) / (s / sqrt(n)), s^2 = sum (d - mean)^2 / (n - 1), in Student's t with n - 1
    Wilcoxon      W = sum of the ranks of |d_i| over d_i > 0; zeros left out, equal |d_i| share a mean rank
    randomisation T = sum w_i d_i against the same sum with every sign flipped or not (Fisher, 1935)
    interval      quantiles of the mean over bootstrap resamples of the queries (Efron, 1979; 1987 for BCa),
                  moved outwards for few queries (Hesterberg, 2015, "What teachers should know about the
                  bootstrap")
    Holm          adjusted p_(i) = max over j <= i of min(1, (m - j + 1) p_(j))  (Holm, 1979)

All p-values are two-sided. A test that has no answer gives None, never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

NOISE = 1e-12  # relative: what two sums of the same numbers in another order may differ by
EXACT_FLIPS = 32  # up to so many differences other than 0, all 2^m sign flips are counted
EXACT_RANKS = 50  # likewise for Wilcoxon's ranks
_BLOCK = 1024  # resamples a block of work
_FLIPS, _QUERIES = 0x66C1B5, 0x71E2A7  # the two uses of a seed draw from different places of the stream
_NORMAL = NormalDist()


class Interval(NamedTuple):
    """From `low` to `high`."""

    low: float
    high: float


def differences(a: Values, b: Values) -> Values:
    """b - a, cleaned of rounding noise: what should be 0 is 0, and magnitudes that should be equal are equal.

    The same mean of the same numbers, summed in another order, must count as a tie.
    """
    difference = b - a
    noise = NOISE * np.maximum(np.abs(a), np.abs(b))
    difference[np.abs(difference) <= noise] = 0.0
    size = np.abs(difference)
    order = np.argsort(size, kind="stable")
    steps = np.diff(size[order]) > np.minimum(noise[order][1:], noise[order][:-1])
    starts = np.flatnonzero(np.concatenate(([True], steps))) if len(size) else np.zeros(0, np.int64)
    lengths = np.diff(np.append(starts, len(size)))
    size[order] = np.repeat(size[order][starts], lengths)
    return np.copysign(size, difference)


def weighted_mean(values: Values, weights: Values | None) -> float:
    """The mean; 0 queries have none (NaN)."""
    if not len(values):
        return math.nan
    return float(values.mean() if weights is None else (values * weights).sum() / weights.sum())


def t_test(difference: Values) -> float | None:
    """Paired t-test. 1 where nothing differs; None for fewer than 2 queries, or without any spread."""
    n = len(difference)
    if n and not difference.any():
        return 1.0
    if n < 2 or difference.min() == difference.max():
        return None
    from scipy.special import stdtr

    scaled = difference / np.abs(difference).max()
    t = float(scaled.mean()) / (float(scaled.std(ddof=1)) / math.sqrt(n))
    return min(1.0, 2.0 * float(stdtr(n - 1, -abs(t))))


def student_interval(difference: Values, confidence: float = 0.95) -> Interval | None:
    """mean +- t s / sqrt(n): no resampling. None for fewer than 2 queries."""
    n = len(difference)
    if n < 2:
        return None
    from scipy.special import stdtrit

    scale = float(np.abs(difference).max()) or 1.0
    deviation = scale * float((difference / scale).std(ddof=1)) / math.sqrt(n)
    half = -float(stdtrit(n - 1, (1.0 - confidence) / 2.0)) * deviation
    centre = float(difference.mean())
    return Interval(centre - half, centre + half)


def wilcoxon_test(difference: Values) -> float | None:
    """Wilcoxon's signed-rank test: exact, ties included, up to 50 differences other than 0, then normal."""
    if not len(difference):
        return None
    kept = difference[difference != 0]
    if not len(kept):
        return 1.0
    twice_ranks = _twice_ranks(np.abs(kept))
    above = int(twice_ranks[kept > 0].sum())
    if len(kept) <= EXACT_RANKS:
        return _exact_rank_p(twice_ranks, above)
    centre, deviation = (
        twice_ranks.sum() / 2,
        math.sqrt(float((twice_ranks.astype(np.float64) ** 2).sum())) / 2,
    )
    return min(1.0, 2.0 * _NORMAL.cdf(-abs(above - centre) / deviation))


def _twice_ranks(sizes: Values) -> NDArray[np.int64]:
    """Twice the mean rank of each size, from 1: whole numbers, also where sizes are equal."""
    _, place, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    twice: NDArray[np.int64] = (2 * last - counts + 1)[place]
    return twice


def _exact_rank_p(twice_ranks: NDArray[np.int64], above: int) -> float:
    """P(|W - E W| >= what was seen), from the number of sign patterns (below 2^53, so exact) for each W."""
    total = int(twice_ranks.sum())
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in twice_ranks.tolist():
        ways[rank:] += ways[:-rank].copy()
    far = np.abs(2 * np.arange(total + 1) - total) >= abs(2 * above - total)
    return float(ways[far].sum() / 2.0 ** len(twice_ranks))


def randomisation_test(
    difference: Values, weights: Values | None, *, resamples: int, seed: int, threads: int | None = None
) -> float | None:
    """Paired randomisation test of the (weighted) mean difference.

    Exact over all 2^m sign flips for m <= 32 differences other than 0; else (count + 1) / (resamples + 1)
    over seeded random flips, a valid p-value for any number of resamples (Phipson & Smyth, 2010).
    """
    if not len(difference):
        return None
    kept = np.flatnonzero(difference)
    values = difference[kept] if weights is None else difference[kept] * weights[kept]
    least = abs(float(values.sum())) - NOISE * float(np.abs(values).sum())
    if least <= 0:
        return 1.0
    if len(values) <= EXACT_FLIPS:
        return _exact_flip_p(values, least)
    return (_count_flips(values, least, resamples, seed, threads) + 1) / (resamples + 1)


def _exact_flip_p(values: Values, least: float) -> float:
    """The part of all sign flips whose sum is at least `least` away from 0, both sides being equal.

    Every signed sum of one half of the values meets those of the other half by binary search.
    """
    left, right = _all_signed_sums(values[::2]), np.sort(_all_signed_sums(values[1::2]))
    reached = len(right) - np.searchsorted(right, least - np.sort(left), side="left")
    return min(1.0, 2.0 * float(reached.sum()) / 2.0 ** len(values))


def _all_signed_sums(values: Values) -> Values:
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate((sums - value, sums + value))
    return sums


def _count_flips(values: Values, least: float, resamples: int, seed: int, threads: int | None) -> int:
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.resampling import count_extreme_flips
    from rankloom.kernels.threads import ordered_map

    ready, place = as_kernel(values, np.float64), _stream(seed, _FLIPS)

    def count(block: tuple[int, int]) -> int:
        return int(count_extreme_flips(ready, place, *block, least))

    return sum(ordered_map(count, _blocks(resamples), threads))


def bootstrap_means(
    difference: Values, weights: Values | None, *, resamples: int, seed: int, threads: int | None = None
) -> Values:
    """The (weighted) mean difference of each of `resamples` draws of n queries with replacement."""
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.resampling import resampled_means
    from rankloom.kernels.threads import ordered_map

    values = as_kernel(difference if weights is None else difference * weights, np.float64)
    ready = as_kernel(np.zeros(0) if weights is None else weights, np.float64)
    place, means = _stream(seed, _QUERIES), np.empty(resamples)

    def fill(block: tuple[int, int]) -> None:
        resampled_means(values, ready, place, *block, means)

    for _ in ordered_map(fill, _blocks(resamples), threads):
        pass
    return means


def _blocks(resamples: int) -> list[tuple[int, int]]:
    return [(first, min(first + _BLOCK, resamples)) for first in range(0, resamples, _BLOCK)]


def _stream(seed: int, use: int) -> np.uint64:
    """Where in the splitmix64 stream a seed's resamples begin: near seeds and other uses begin far apart."""
    from rankloom.kernels.random import mix

    with np.errstate(over="ignore"):
        return np.uint64(mix(np.uint64(mix(np.uint64(seed))) ^ np.uint64(use)))


def bootstrap_interval(
    difference: Values,
    weights: Values | None = None,
    *,
    confidence: float = 0.95,
    method: str = "percentile",
    resamples: int = 10_000,
    seed: int = 0,
    threads: int | None = None,
) -> Interval | None:
    """Where the mean difference over all queries of this kind lies. None for fewer than 2 queries.

    Where all differences are equal no resample can differ, and the interval is that point.
    """
    if len(difference) < 2:
        return None
    centre = weighted_mean(difference, weights)
    if difference.min() == difference.max():
        return Interval(centre, centre)
    means = bootstrap_means(difference, weights, resamples=resamples, seed=seed, threads=threads)
    tail = _widened_tail((1.0 - confidence) / 2.0, difference, weights)
    tails = (tail, 1.0 - tail)
    if method == "bca":
        tails = _corrected_tails(tails, means, centre, difference, weights)
    low, high = np.quantile(means, tails).tolist()
    return Interval(low, high)


def _widened_tail(tail: float, difference: Values, weights: Values | None) -> float:
    """The tail to cut off so that few queries do not make the interval too short.

    Resampled means spread by the deviation over n, not n - 1, and know no t distribution: Hesterberg's tail
    is Phi(-sqrt(n / (n - 1)) t). With weights, n is (sum w)^2 / sum w^2.
    """
    from scipy.special import stdtrit

    n = len(difference) if weights is None else float(weights.sum() ** 2 / (weights**2).sum())
    freedom = max(n - 1.0, 1e-3)
    return _NORMAL.cdf(float(stdtrit(freedom, tail)) * math.sqrt(n / freedom))


def _corrected_tails(
    tails: tuple[float, float], means: Values, centre: float, difference: Values, weights: Values | None
) -> tuple[float, float]:
    """BCa: tails moved for the bias z0 and the acceleration (from the jackknife) of the resampled mean."""
    noise = NOISE * float(np.abs(difference).max())
    below = np.mean(means < centre - noise) + np.mean(np.abs(means - centre) <= noise) / 2
    low, high = tails
    if not (0.0 < below < 1.0 and low > 0.0 and high < 1.0):
        return tails
    bias, acceleration = _NORMAL.inv_cdf(float(below)), _acceleration(difference, weights)

    def moved(tail: float) -> float:
        shifted = bias + _NORMAL.inv_cdf(tail)
        divisor = 1.0 - acceleration * shifted
        return _NORMAL.cdf(bias + shifted / divisor) if divisor > 0 else float(shifted > 0)

    return moved(low), moved(high)


def _acceleration(difference: Values, weights: Values | None) -> float:
    """Skewness of the jackknife: sum c^3 / (6 (sum c^2)^1.5), c from the means that leave out one query."""
    weight = np.ones(len(difference)) if weights is None else weights
    rest = weight.sum() - weight
    without = ((difference * weight).sum() - difference * weight) / rest
    change = without.mean() - without
    change /= np.abs(change).max()
    return float((change**3).sum() / (6.0 * (change**2).sum() ** 1.5))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p-values: compare each with alpha, and the chance of any false alarm is at most alpha.

    Valid whatever the dependence between the tests. None (no answer) stays None and counts as a test that
    found nothing.
    """
    m = len(p_values)
    given = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * m
    reached = 0.0
    for rank, (p, i) in enumerate(given):
        reached = max(reached, min(1.0, (m - rank) * p))
        adjusted[i] = reached
    return adjusted
