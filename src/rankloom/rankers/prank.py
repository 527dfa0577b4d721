"""PRank, the perceptron that ranks: on single documents, with thresholds between levels, or on pairs.

Crammer & Singer, "Pranking with Ranking", NIPS 2001. A document's level is the first whose threshold its
score does not reach; every threshold on the wrong side pulls the weights, and moves. On pairs it is the plain
perceptron: w <- w + a - b where b is scored as high as a, or higher.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.kernels.online import State
from rankloom.rankers.checks import one_of
from rankloom.rankers.online import Batch, Mind, Online

ON = ("rows", "pairs")


class PRank(Online):
    """A linear ranker by perceptron steps.

    Args:
        on: "rows", as in the paper: every label is a level, and there is a threshold between any two;
            or "pairs".
        max_pairs: with "pairs": at most so many are drawn from a query's feedback; None takes all.
        window: `progress_` also has the measures of so many last queries.
        start: a linear model to begin with: SPD's, CRR's, one from a file.
        measure: what `score` measures; None is ndcg@10.
        seed: of the pairs drawn, and of the order of rows or pairs.

    Attributes:
        levels_: with "rows": the labels seen so far, rising.
        thresholds_: with "rows": from which score on a row is of the next level.
    """

    _stay = ("on",)

    def __init__(
        self,
        on: str = "rows",
        *,
        max_pairs: int | None = 10_000,
        window: int = 100,
        start: Any = None,
        measure: Any = None,
        seed: int = 0,
    ) -> None:
        self.on, self.max_pairs, self.window = on, max_pairs, window
        self.start, self.measure, self.seed = start, measure, seed

    def _check(self) -> None:
        one_of("on", self.on, ON)
        self._most()

    def _learns_rows(self) -> bool:
        return bool(self.on == "rows")

    def _begun(self, n_features: int, state: State) -> Mind:  # noqa: ARG002
        from rankloom.kernels.online import PERCEPTRON, PRANK

        counts = {"queries": 0, "rows": 0}
        if self._learns_rows():
            return Mind(PRANK, state, counts, {"levels": np.empty(0)})
        return Mind(PERCEPTRON, state, counts, {})

    def _recipe(self, mind: Mind) -> Any:
        from rankloom.kernels.online import Recipe

        return Recipe(mind.form, 1.0, 1.0, 1.0)

    def _prepared(self, mind: Mind, batch: Batch) -> tuple[Mind, NDArray[np.float64]]:
        """New labels become levels, with the threshold of the level next to them."""
        if not self._learns_rows() or batch.labels is None:
            return super()._prepared(mind, batch)
        levels, thresholds = mind.extra["levels"], mind.state.small
        for label in np.setdiff1d(batch.labels, levels).tolist():
            place = int(np.searchsorted(levels, label))
            if len(levels):
                near = thresholds[min(place, len(thresholds) - 1)] if len(thresholds) else 0.0
                thresholds = np.insert(thresholds, min(place, len(thresholds)), near)
            levels = np.insert(levels, place, label)
        mind = mind._replace(state=mind.state._replace(small=thresholds), extra={"levels": levels})
        return mind, np.searchsorted(levels, batch.labels).astype(np.float64)

    def _cuts(self, data: RankingData) -> list[tuple[int, int]]:
        """A query with a label that nobody has seen begins a run: before it, there is no such level."""
        if not self._learns_rows() or data.y is None:
            return super()._cuts(data)
        _, firsts = np.unique(data.y, return_index=True)
        new = firsts[~np.isin(data.y[firsts], self._mind.extra["levels"])]
        bringing = np.unique(np.searchsorted(data.offsets, new, side="right") - 1).tolist()
        edges = sorted({*bringing, *(edge for cut in super()._cuts(data) for edge in cut)})
        return list(pairwise(edges))

    @property
    def levels_(self) -> NDArray[np.float64]:
        """The labels seen so far, rising."""
        return self._rows_only("levels_").extra["levels"].copy()

    @property
    def thresholds_(self) -> NDArray[np.float64]:
        """From which score on a row is of the next level; one fewer than levels."""
        return self._rows_only("thresholds_").state.small.copy()

    def _rows_only(self, what: str) -> Mind:
        self._model()
        if not self._mind.extra:
            raise AttributeError(f'{what} is of on="rows"; on pairs there are no levels')
        return self._mind

    def grades(self, X: Any) -> NDArray[np.float64]:
        """The label that each row is given: the first level whose threshold its score is below."""
        mind = self._rows_only("grades")
        found: NDArray[np.float64] = mind.extra["levels"][
            np.searchsorted(mind.state.small, self.decision_function(X), side="right")
        ]
        return found

    def _found(self, mind: Mind) -> dict[str, Any]:
        if not mind.extra:
            return {}
        return {"levels": mind.extra["levels"].tolist(), "thresholds": mind.state.small.tolist()}
