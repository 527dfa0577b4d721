"""Sign flips and bootstrap resamples of per-query differences, many at once.

    flip r:      T_r = sum_i s_ri v_i,              s_ri = +1 or -1, each with probability 1/2
    resample r:  m_r = sum_j v_i(rj) / sum_j w_i(rj),   i(rj) uniform over the queries, j = 1..n

Resample r has its own place in the splitmix64 stream, known from r alone: draws r k + 1 .. r k + k, k words a
resample. So any cut into blocks, by any number of threads, gives the same bits, and no draw serves twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel
from rankloom.kernels.random import GOLDEN, mix

_GROUP = 8  # queries whose signs are one byte, and whose signed sum is one look-up
_WORD = 64  # signs in one draw


@kernel(inline=True)
def _signed_sums(values: NDArray[np.float64], start: int, table: NDArray[np.float64]) -> None:
    """table[b] = the sum of up to 8 values from `start`, value j taken as negative where bit j of b is 0."""
    table[0] = 0.0
    size = 1
    for j in range(_GROUP):
        value = values[start + j] if start + j < len(values) else 0.0
        for b in range(size):
            table[size + b] = table[b] + value
            table[b] -= value
        size *= 2


@kernel
def count_extreme_flips(values: NDArray[np.float64], seed: Any, first: int, last: int, least: float) -> int:
    """How many of the sign flips first..last-1 have |T_r| >= least.

    Group by group over all flips of the block, so that the table of a group's 256 sums stays in the nearest
    cache and the work is one look-up for 8 queries.
    """
    n_flips = last - first
    words_each = np.uint64((len(values) + _WORD - 1) // _WORD)
    sums = np.zeros(n_flips, np.float64)
    words = np.zeros(n_flips, np.uint64)
    table = np.zeros(1 << _GROUP, np.float64)
    for start in range(0, len(values), _GROUP):
        if start % _WORD == 0:
            word = np.uint64(start // _WORD) + np.uint64(1)
            for r in range(n_flips):
                words[r] = mix(seed + (np.uint64(first + r) * words_each + word) * GOLDEN)
        _signed_sums(values, start, table)
        for r in range(n_flips):
            sums[r] += table[words[r] & np.uint64(255)]
            words[r] >>= np.uint64(_GROUP)
    count = 0
    for r in range(n_flips):
        if abs(sums[r]) >= least:
            count += 1
    return count


@kernel
def resampled_means(
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    seed: Any,
    first: int,
    last: int,
    means: NDArray[np.float64],
) -> None:
    """means[r] for the bootstrap resamples first..last-1. `values` are w_i d_i; no `weights` stand for ones.

    One draw gives two queries, by multiply and shift of its two halves (n up to 2^32).
    """
    n = len(values)
    wide, half, low = np.uint64(n), np.uint64(32), np.uint64(0xFFFFFFFF)
    words_each = np.uint64((n + 1) // 2)
    for r in range(first, last):
        state = seed + np.uint64(r) * words_each * GOLDEN
        even, odd, even_weight, odd_weight = 0.0, 0.0, 0.0, 0.0
        for _ in range(n // 2):
            state += GOLDEN
            word = mix(state)
            i = ((word >> half) * wide) >> half
            j = ((word & low) * wide) >> half
            even += values[i]
            odd += values[j]
            if len(weights) > 0:
                even_weight += weights[i]
                odd_weight += weights[j]
        if n % 2 == 1:
            i = ((mix(state + GOLDEN) >> half) * wide) >> half
            even += values[i]
            if len(weights) > 0:
                even_weight += weights[i]
        total = even_weight + odd_weight if len(weights) > 0 else float(n)
        means[r] = (even + odd) / total
