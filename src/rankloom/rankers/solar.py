"""SOLAR: learning to rank online from pairs, with one or two orders (Wang, Wan, Zhang & Hoi 2015).

    SOLAR-I    w = argmin 1/2 |w - w_t|^2 + C loss(w)^2                                       (Equation 4)
    SOLAR-II   w, S = argmin KL(N(w, S) || N(w_t, S_t)) + (loss(w)^2 + x'S x) / (2 gamma)     (Equation 7)

with x = a - b for a pair of documents of one query, a the better, and loss = max(0, 1 - <w, x>). Both have a
closed form, which is written out in `rankloom.kernels.online`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError
from rankloom.kernels.online import State
from rankloom.rankers.checks import number, one_of, whole
from rankloom.rankers.online import Batch, Mind, Online
from rankloom.rankers.sketch import Held, joined, new_sketch, settle, weights_of

COVARIANCES = ("auto", "full", "low-rank", "diagonal")
FULL_UP_TO = 1_000
_NAMES = (None, "full", "diagonal", "low-rank")  # by the number of the kernel's form


class SOLAR(Online):
    """A linear ranker that learns online from pairs.

    Args:
        order: 1 is SOLAR-I, passive-aggressive steps; 2 is SOLAR-II, which also knows how sure it is of each
            weight, and moves those least that it is sure of.
        C: of SOLAR-I: the larger, the longer a step; None is 1e-5, the paper's.
        gamma: of SOLAR-II: the larger, the shorter a step; None is 1e4, the paper's.
        covariance: of SOLAR-II: "full", "low-rank" (a diagonal and a few directions), "diagonal", or "auto":
            full up to 1,000 features, diagonal beyond. `covariance_` says which it was.
        rank: of "low-rank": how many directions; None is 8.
        forget: the factor by which what was learned counts less with each further query: w shrinks by its
            root, and the covariance goes back towards 1. 1 forgets nothing; 0.99 remembers about 100 queries.
        max_pairs: at most so many pairs are drawn from a query's feedback; None takes all.
        window: `progress_` also has the measures of so many last queries.
        start: a linear model to begin with: SPD's, CRR's, one from a file.
        measure: what `score` measures; None is ndcg@10.
        seed: of the pairs drawn and their order.

    Attributes:
        covariance_: which form of covariance is kept; None for SOLAR-I.
    """

    _stay = ("order", "covariance", "rank")

    def __init__(
        self,
        order: int = 2,
        *,
        C: float | None = None,
        gamma: float | None = None,
        covariance: str = "auto",
        rank: int | None = None,
        forget: float = 1.0,
        max_pairs: int | None = 10_000,
        window: int = 100,
        start: Any = None,
        measure: Any = None,
        seed: int = 0,
    ) -> None:
        self.order, self.C, self.gamma = order, C, gamma
        self.covariance, self.rank, self.forget = covariance, rank, forget
        self.max_pairs, self.window, self.start = max_pairs, window, start
        self.measure, self.seed = measure, seed

    def _check(self) -> None:
        if whole("order", self.order, 1) > 2:
            raise InputError(f"order must be 1 (SOLAR-I) or 2 (SOLAR-II), got {self.order!r:.60}")
        one_of("covariance", self.covariance, COVARIANCES)
        number("forget", self.forget, 0.0, 1.0)
        other = {1: ("gamma", "rank"), 2: ("C",)}[int(self.order)]
        for name in other:
            if getattr(self, name) is not None:
                raise InputError(
                    f"{name} needs order={3 - int(self.order)}; leave {name} out, or choose that"
                )
        if self.order == 1 and self.covariance != "auto":
            raise InputError(f"covariance={self.covariance!r} needs order=2; leave it out, or choose that")
        if self.rank is not None and self.covariance != "low-rank":
            raise InputError(f'rank needs covariance="low-rank", got {self.covariance!r}; leave rank out')
        if self.covariance == "low-rank" and self.forget < 1.0:
            raise InputError('forget needs covariance="full" or "diagonal"; low-rank cannot forget')
        self._most()
        self._C(), self._gamma(), self._rank()

    def _C(self) -> float:  # noqa: N802
        return 1e-5 if self.C is None else number("C", self.C, 0.0)

    def _gamma(self) -> float:
        return 1e4 if self.gamma is None else number("gamma", self.gamma, 0.0)

    def _rank(self) -> int:
        return 8 if self.rank is None else whole("rank", self.rank, 1)

    def _form(self, n_features: int) -> int:
        from rankloom.kernels.online import DIAGONAL, FIRST, FULL, LOW_RANK

        if self.order == 1:
            return FIRST
        if self.covariance != "auto":
            return {"full": FULL, "low-rank": LOW_RANK, "diagonal": DIAGONAL}[self.covariance]
        return FULL if n_features <= FULL_UP_TO else DIAGONAL

    @property
    def covariance_(self) -> str | None:
        """Which form of covariance is kept."""
        self._model()
        return _NAMES[self._mind.form]

    def _begun(self, n_features: int, state: State) -> Mind:
        from rankloom.kernels.online import DIAGONAL, FULL, LOW_RANK

        form, extra = self._form(n_features), {}
        if form == FULL:
            spread = np.zeros(n_features * (n_features + 1) // 2)
            spread[np.cumsum(np.arange(1, n_features + 1)) - 1] = 1.0
            state = state._replace(spread=spread)
        elif form == DIAGONAL:
            state = state._replace(spread=np.ones(n_features))
        elif form == LOW_RANK:
            state = new_sketch(state, n_features, min(self._rank(), n_features))
            extra = Held.nothing()._asdict()
        return Mind(form, state, {"queries": 0, "rows": 0}, extra)

    def _recipe(self, mind: Mind) -> Any:
        from rankloom.kernels.online import Recipe

        return Recipe(mind.form, self._C(), self._gamma(), float(self.forget))

    def _one_by_one(self) -> bool:
        from rankloom.kernels.online import LOW_RANK

        return hasattr(self, "_mind") and self._mind.form == LOW_RANK

    def _learned(
        self,
        mind: Mind,
        batch: Batch,
        pairs: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
    ) -> Mind:
        """Low rank: what was learned waits to join the covariance."""
        from scipy.sparse import csr_array

        from rankloom.data.sparse import as_csr_array

        features = batch.features
        table = csr_array(features.values) if features.row_offsets is None else as_csr_array(features)
        table = table.astype(np.float64)
        differences = csr_array(table[pairs[:, 0]] - table[pairs[:, 1]])
        if weights is not None:
            differences = csr_array(differences.multiply(np.sqrt(weights)[:, None]))
        differences.eliminate_zeros()
        differences.sort_indices()
        state, held = settle(mind.state, joined(Held(**mind.extra), differences), self._gamma())
        return mind._replace(state=state, extra=held._asdict())

    def _weights(self, mind: Mind) -> NDArray[np.float64]:
        from rankloom.kernels.online import LOW_RANK

        return weights_of(mind.state) if mind.form == LOW_RANK else super()._weights(mind)

    def _found(self, mind: Mind) -> dict[str, Any]:
        return {} if _NAMES[mind.form] is None else {"covariance": _NAMES[mind.form]}
