"""Symmetric trees the slow and obvious way: every question of every level tried, on the values themselves."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple


class Asked(NamedTuple):
    """Whether a value is above the threshold; a missing one is where `missing_right` says so."""

    feature: int
    threshold: float
    missing_right: bool

    def answer(self, row: Sequence[float]) -> bool:
        """True for right."""
        value = row[self.feature]
        return self.missing_right if math.isnan(value) else value > self.threshold


def questions_of(X: Sequence[Sequence[float]]) -> Iterator[Asked]:
    """One between each two neighbouring values, missing ones on either side; and missing ones alone."""
    for feature in range(len(X[0])):
        column = [row[feature] for row in X]
        values = sorted({value for value in column if not math.isnan(value)})
        missing = len(values) > 0 and any(math.isnan(value) for value in column)
        if missing:
            yield Asked(feature, -1e300, False)
        for low, high in pairwise(values):
            yield Asked(feature, (low + high) / 2, False)
            if missing:
                yield Asked(feature, (low + high) / 2, True)


def gain_of(
    asked: Sequence[Asked],
    X: Sequence[Sequence[float]],
    pull: Sequence[float],
    bend: Sequence[float],
    damping: float,
) -> float:
    """Sum over leaves of (sum of g)^2 / (sum of h + damping)."""
    leaves = defaultdict(list)
    for i, row in enumerate(X):
        leaves[tuple(one.answer(row) for one in asked)].append(i)
    return sum(
        math.fsum(pull[i] for i in rows) ** 2 / (math.fsum(bend[i] for i in rows) + damping)
        for rows in leaves.values()
    )


def leaf_rows(
    asked: Sequence[Asked], X: Sequence[Sequence[float]], rows: Sequence[int], least: int
) -> list[list[int]]:
    """The rows of each leaf: a question is not asked where one side would have fewer than `least` rows."""
    for at, one in enumerate(asked):
        left = [i for i in rows if not one.answer(X[i])]
        right = [i for i in rows if one.answer(X[i])]
        if min(len(left), len(right)) >= least:
            below = asked[at + 1 :]
            return [*leaf_rows(below, X, left, least), *leaf_rows(below, X, right, least)]
    return [list(rows)]
