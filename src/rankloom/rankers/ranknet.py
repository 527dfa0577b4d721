"""RankNet: a net that learns which of two is better (Burges et al. 2005; Burges 2010, section 2).

P_ij = 1 / (1 + e^(-sigma (s_i - s_j)))            the probability that i is ranked above j
C    = -Pbar_ij log P_ij - (1 - Pbar_ij) log(1 - P_ij)
dC/ds_i = sigma (P_ij - Pbar_ij) = -dC/ds_j        (equation 1, for any Pbar)
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.base import Model
from rankloom.rankers.checks import number, unused, whole
from rankloom.rankers.lambdas import RANKNET
from rankloom.rankers.net_ranker import Net
from rankloom.rankers.net_training import Batch
from rankloom.rankers.validation import held_out, rows_to_score
from rankloom.rankers.watching import Watching


class PairBatch(NamedTuple):
    """Some pairs: places of their rows among those of the batch, and how likely the first is better."""

    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    probability: NDArray[np.float64]
    sigma: float

    def gradient(self, scores: NDArray[np.float64]) -> NDArray[np.float32]:
        """dC/ds by row, over the number of pairs."""
        gaps = scores[self.first] - scores[self.second]
        pulls = self.sigma * (0.5 + 0.5 * np.tanh(0.5 * self.sigma * gaps) - self.probability)
        total = np.bincount(self.first, pulls, len(self.rows))
        total -= np.bincount(self.second, pulls, len(self.rows))
        return (total / len(self.first)).astype(np.float32)


class RankNet(Watching):
    """RankNet, a net that learns from pairs; all pairs of a query cost one pass. Needs PyTorch to learn.

    Args:
        hidden: how many units each hidden layer has; () is a linear model.
        module: a torch.nn.Module that gives one score a row, in place of `hidden`; it is copied.
        activation: of hidden layers: "relu" or "tanh".
        epochs: how often every query is seen.
        rate: the size of the first steps.
        batch: how many queries (or, for `fit_pairs`, hundreds of pairs) make a step.
        lam: how much large weights cost, beside the mean over queries.
        sigma: how steep the sigmoid of a pair is.
        patience: with validation data, stop after so many epochs without a better value; None never stops.
        measure: what `score` and early stopping measure.
        stop_measure: what is measured on the validation data; None is `measure`.
        device: where PyTorch computes.
        seed: of the order of the batches and of the first weights: same seed, same bits.

    Attributes:
        model_: what was learned; scoring by a plain net needs no PyTorch.
        curve_: how good the validation data were ranked after each epoch.
    """

    def __init__(
        self,
        hidden: tuple[int, ...] = (64, 32),
        *,
        module: Any = None,
        activation: str = "relu",
        epochs: int = 30,
        rate: float = 0.003,
        batch: int = 8,
        lam: float = 0.0,
        sigma: float = 1.0,
        patience: int | None = None,
        measure: Any = "ndcg@10",
        stop_measure: Any = None,
        device: str = "cpu",
        seed: int = 0,
    ) -> None:
        self.hidden, self.module, self.activation, self.device = hidden, module, activation, device
        self.epochs, self.rate, self.batch, self.lam = epochs, rate, batch, lam
        self.sigma, self.patience, self.seed = sigma, patience, seed
        self.measure, self.stop_measure = measure, stop_measure

    def _learn(self, data: RankingData, valid: RankingData | None) -> Model:
        net = Net(self, RANKNET)
        model: Model = net.learned(data, net.query_batches(data), valid)
        return model

    def fit_pairs(self, X: Any, pairs: Any, probability: Any = 1.0, *, valid: Any = None) -> Self:
        """Learn from pairs of rows and how likely the first is the better one.

        Args:
            X: features, a row per document.
            pairs: (first row, second row) each; a pair may come more than once, and pairs may disagree.
            probability: Pbar from 0 to 1, one per pair or one for all: 1 is certain, 0.5 is a tie.
            valid: a RankingData to measure after each epoch; the parameters of the best epoch are kept.
        """
        data = rows_to_score(X)
        if isinstance(X, RankingData) and X.order is not None:
            raise InputError("pairs are places of rows, and these rows were put in another order; give X")
        places, wanted = _checked_pairs(pairs, probability, data.n_rows)
        if valid is None:
            unused("patience", self.patience, None, "validation data: fit_pairs(..., valid=data)")
            unused("stop_measure", self.stop_measure, None, "validation data: fit_pairs(..., valid=data)")
        watched = held_out(type(self).__name__, valid, data)
        batches = self._pair_batches(places, wanted)
        return self._keep(Net(self, RANKNET).learned(data, batches, watched), data)

    def _pair_batches(self, pairs: NDArray[np.int64], probability: NDArray[np.float64]) -> list[Batch]:
        """Pairs in batches that share their rows: rows in a drawn order, pairs by their first row."""
        size = 100 * whole("batch", self.batch, 1)
        sigma = number("sigma", self.sigma, 0.0)
        keys = np.random.default_rng(whole("seed", self.seed, 0)).permutation(int(pairs.max()) + 1)
        order = np.argsort(keys[pairs[:, 0]], kind="stable")
        found: list[Batch] = []
        for start in range(0, len(order), size):
            own = order[start : start + size]
            rows, places = np.unique(pairs[own], return_inverse=True)
            first, second = places.reshape(-1, 2).T
            found.append(PairBatch(rows, first, second, probability[own], sigma))
        return found


def _checked_pairs(
    pairs: Any, probability: Any, n_rows: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    places = np.asarray(pairs)
    if places.ndim != 2 or places.shape[1] != 2 or not len(places) or places.dtype.kind not in "iu":
        raise InputError(
            f"pairs must be two row numbers each, one or more, got {places.dtype} of shape {places.shape}"
        )
    if places.min() < 0 or places.max() >= n_rows:
        raise InputError(
            f"pairs must name rows from 0 to {n_rows - 1:,}, got {places.min()} to {places.max()}"
        )
    if (places[:, 0] == places[:, 1]).any():
        raise InputError("a pair must be of two different rows")
    wanted = np.asarray(probability, dtype=np.float64)
    wanted = np.full(len(places), float(wanted)) if wanted.ndim == 0 else wanted
    if wanted.shape != (len(places),) or not ((wanted >= 0.0) & (wanted <= 1.0)).all():
        raise InputError("probability must be from 0 to 1, one per pair or one for all")
    return places.astype(np.int64), wanted
