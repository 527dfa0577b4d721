"""Sign flips, resamples and the tests on them, slowly: one number after the other, Python's own integers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def splitmix64(seed: int, draw: int) -> int:
    """Output number `draw` (from 1) of splitmix64."""
    z = (seed + draw * GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def flip_sum(values: Sequence[float], seed: int, flip: int) -> float:
    """The values' sum under sign flip number `flip`: value i takes bit i % 64 of the flip's word i // 64."""
    words = -(-len(values) // 64)
    total = 0.0
    for i, value in enumerate(values):
        word = splitmix64(seed, flip * words + i // 64 + 1)
        total += value if word >> (i % 64) & 1 else -value
    return total


def resample(n: int, seed: int, number: int) -> list[int]:
    """Which of n queries resample `number` draws, in order: two from the halves of each word."""
    words = (n + 1) // 2
    drawn = []
    for word in range(words):
        bits = splitmix64(seed, number * words + word + 1)
        drawn += [(bits >> 32) * n >> 32, (bits & 0xFFFFFFFF) * n >> 32]
    return drawn[:n]


def resampled_mean(values: Sequence[float], weights: Sequence[float], seed: int, number: int) -> float:
    """The resample's sum of `values` over its sum of weights (or its size, without weights)."""
    drawn = resample(len(values), seed, number)
    total = math.fsum(values[i] for i in drawn)
    return total / (math.fsum(weights[i] for i in drawn) if len(weights) else len(drawn))


def randomisation_p(values: Sequence[int]) -> Fraction:
    """The exact p-value of a sum of whole numbers, by writing down all sign flips."""
    seen = abs(sum(values))
    sums = [
        sum(s * v for s, v in zip(signs, values, strict=True))
        for signs in itertools.product((-1, 1), repeat=len(values))
    ]
    return Fraction(sum(abs(total) >= seen for total in sums), len(sums))


def wilcoxon_p(values: Sequence[int]) -> Fraction:
    """Wilcoxon's exact p-value: the same with the signed (twice, mean) ranks of the values that are not 0."""
    kept = [value for value in values if value]
    sizes = [abs(value) for value in kept]
    twice = [
        2 * sum(other < size for other in sizes) + sum(other == size for other in sizes) + 1 for size in sizes
    ]
    return randomisation_p([rank if value > 0 else -rank for rank, value in zip(twice, kept, strict=True)])
