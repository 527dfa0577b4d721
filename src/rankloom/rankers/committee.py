"""The committee perceptron: a perceptron on pairs, and the best of what it was on the way.

Elsas, Carvalho & Carbonell, "Fast learning of document ranking functions with the committee perceptron", WSDM
2008. Before a mistake changes the weights, they join a committee of so many members if they were right about
more pairs in a row than its weakest member; the committee ranks by the mean of its members and the learner,
each weighed by how many pairs it was right about. The paper chooses members by a measure of ranking over all
training queries, which a stream does not have; the run of right pairs stands in for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.online import State
from rankloom.rankers.checks import whole
from rankloom.rankers.online import Mind, Online


class CommitteePerceptron(Online):
    """A linear ranker: the mean of the perceptrons that were right for longest.

    Args:
        experts: how many members the committee has.
        max_pairs: at most so many pairs are drawn from a query's feedback; None takes all.
        window: `progress_` also has the measures of so many last queries.
        start: a linear model to begin with: SPD's, CRR's, one from a file.
        measure: what `score` measures; None is ndcg@10.
        seed: of the pairs drawn and their order.
    """

    _stay = ("experts",)

    def __init__(
        self,
        experts: int = 20,
        *,
        max_pairs: int | None = 10_000,
        window: int = 100,
        start: Any = None,
        measure: Any = None,
        seed: int = 0,
    ) -> None:
        self.experts, self.max_pairs, self.window = experts, max_pairs, window
        self.start, self.measure, self.seed = start, measure, seed

    @classmethod
    def method_name(cls) -> str:
        """What the command line calls this ranker."""
        return "committee"

    def _check(self) -> None:
        whole("experts", self.experts, 1)
        self._most()

    def _begun(self, n_features: int, state: State) -> Mind:
        from rankloom.kernels.online import COMMITTEE

        experts = whole("experts", self.experts, 1)
        state = state._replace(table=np.zeros((experts, n_features)), small=np.zeros(experts))
        return Mind(COMMITTEE, state, {"queries": 0, "rows": 0}, {})

    def _recipe(self, mind: Mind) -> Any:
        from rankloom.kernels.online import Recipe

        return Recipe(mind.form, 1.0, 1.0, 1.0)

    def _weights(self, mind: Mind) -> NDArray[np.float64]:
        from rankloom.kernels.online import combined

        found: NDArray[np.float64] = combined(mind.state)
        return found
