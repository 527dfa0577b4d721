"""What lambdas say, query by query: to see why an objective learns nothing, or only from a few."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class LambdaReport(NamedTuple):
    """One number per query.

    Attributes:
        rows: how many rows.
        pairs: how many pairs with different labels.
        counted: how many of those have a row within the truncation and the measure's cutoff.
        norm: the Euclidean norm of the lambdas.
        largest: the largest |lambda|.
        weight: the sum of the second derivatives (w).
    """

    rows: NDArray[np.int64]
    pairs: NDArray[np.int64]
    counted: NDArray[np.int64]
    norm: NDArray[np.float64]
    largest: NDArray[np.float64]
    weight: NDArray[np.float64]

    @property
    def silent(self) -> NDArray[np.int64]:
        """The queries that say nothing: all their lambdas are 0."""
        return np.flatnonzero(self.largest == 0.0)

    @property
    def share_of_loudest(self) -> float:
        """What the loudest tenth of the queries has of the sum of all norms."""
        loud = np.sort(self.norm)[::-1]
        total = float(loud.sum())
        return float(loud[: -(-len(loud) // 10)].sum()) / total if total > 0.0 else 0.0

    def __str__(self) -> str:
        lines = [
            f"{len(self.rows):,} queries, {int(self.rows.sum()):,} rows",
            f"{int(self.pairs.sum()):,} pairs with different labels, {int(self.counted.sum()):,} counted",
            f"{len(self.silent):,} queries say nothing",
            f"norm of lambdas: median {np.median(self.norm):.3g}, largest {self.norm.max():.3g}; "
            f"the loudest tenth of the queries has {self.share_of_loudest:.0%}",
            f"sum of w: {self.weight.sum():.3g}",
        ]
        return "\n".join(lines)


def report_on(lambdas: Any, scores: NDArray[np.float64]) -> LambdaReport:
    """The report of `Lambdas` for some scores."""
    offsets, labels = lambdas.offsets, lambdas.labels
    lengths = np.diff(offsets)
    queries = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((np.arange(len(scores)), -scores, queries))
    places = np.empty(len(scores), dtype=np.int64)
    places[order] = np.arange(len(scores)) - np.repeat(offsets[:-1], lengths)
    pairs = _pairs(labels, queries, len(lengths))
    below = places >= lambdas.reach
    pull, bend = (part.astype(np.float64) for part in lambdas.gradients(scores))
    largest = np.zeros(len(lengths))
    np.maximum.at(largest, queries, np.abs(pull))
    return LambdaReport(
        lengths,
        pairs,
        pairs - _pairs(labels[below], queries[below], len(lengths)),
        np.sqrt(np.bincount(queries, pull * pull, len(lengths))),
        largest,
        np.asarray(np.bincount(queries, bend, len(lengths)), dtype=np.float64),
    )


def _pairs(labels: NDArray[np.float64], queries: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Pairs of different labels in each query: all pairs, less those within each label."""
    rows = np.bincount(queries, minlength=n)
    _, cells = np.unique(labels, return_inverse=True)
    runs, counts = np.unique(np.stack((queries, cells)), axis=1, return_counts=True)
    same = np.bincount(runs[0], counts * (counts - 1) // 2, n).astype(np.int64)
    return rows * (rows - 1) // 2 - same
