"""How well a learner ranks what it has not learned from yet, as a stream goes by.

    NDCG = 1/Q sum over queries of NDCG_i,   MAP = 1/Q sum over queries of MAP_i,
    each measured before the query was learned from                                         (Equation 3)

Beside these, which remember everything, stand the same over the last queries: a change of taste shows there
first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NAMES = ("ndcg", "ndcg@10", "map")


class Progress(NamedTuple):
    """Measures of rankings made before learning from them. NaN where no query was measured yet."""

    queries: int
    """How many queries were measured; feedback without labels measures nothing."""
    total: dict[str, float]
    """Means over all of them: ndcg (over whole lists), ndcg@10 and map."""
    window: dict[str, float]
    """The same over the last of them."""
    window_queries: int

    def __str__(self) -> str:
        whole = " ".join(f"{name} {value:.4f}" for name, value in self.total.items())
        last = " ".join(f"{name} {value:.4f}" for name, value in self.window.items())
        return f"{self.queries:,} queries: {whole}; last {self.window_queries:,}: {last}"


class Meter:
    """Keeps the sums behind `Progress`: the same bits, however queries come in groups."""

    def __init__(self, window: int) -> None:
        self.sums = np.zeros(len(NAMES))
        self.ring = np.zeros((window, len(NAMES)))
        self.queries = 0

    def add(self, values: NDArray[np.float64]) -> None:
        """One row of measures a query; NaN: it was not measured."""
        known = values[~np.isnan(values[:, 0])]
        if not len(known):
            return
        self.sums = np.cumsum(np.vstack((self.sums, known)), axis=0)[-1]
        size = len(self.ring)
        last = known[-size:]
        places = np.arange(self.queries + len(known) - len(last), self.queries + len(known)) % size
        self.ring[places] = last
        self.queries += len(known)

    def progress(self) -> Progress:
        """Where it stands."""
        seen = min(self.queries, len(self.ring))
        total = self.sums / self.queries if self.queries else np.full(len(NAMES), np.nan)
        window = self.ring[:seen].mean(axis=0) if seen else np.full(len(NAMES), np.nan)
        return Progress(self.queries, _named(total), _named(window), seen)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a state file keeps."""
        return {"progress_sums": self.sums, "progress_ring": self.ring}


def _named(values: NDArray[np.float64]) -> dict[str, float]:
    return dict(zip(NAMES, values.tolist(), strict=True))
