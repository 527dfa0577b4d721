"""LambdaRank: RankNet's gradient, each pair times what a swap of the two would change (Burges 2010, 4).

lambda_ij = -sigma / (1 + e^(sigma (s_i - s_j))) |delta Z_ij|        (equation 6, for any measure Z)

No cost is computed, only its gradient: rows are ranked by their scores, then lambdas are read off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankloom.rankers.net_ranker import NetRanker


class LambdaRank(NetRanker):
    """LambdaRank, a net that learns to make a measure large. Needs PyTorch to learn.

    Args:
        hidden: how many units each hidden layer has, (64, 32) or "64,32"; () or "" is a linear model.
        module: a torch.nn.Module that gives one score a row, in place of `hidden`; it is copied.
        activation: "relu" or "tanh".
        epochs: how often all queries are seen.
        batch: queries a step.
        learning_rate: how large steps are.
        optimizer: "adam" or "sgd".
        weight_decay: how strongly weights are drawn to 0.
        standardize: give each feature mean 0 and standard deviation 1; how is kept in the model.
        sigma: how steep the sigmoid is.
        truncation: only pairs with one of the two among so many first places count; None is all.
        patience: with validation data, stop after so many epochs without a better value; None never stops.
        device: where PyTorch computes.
        measure: what the net learns to make large: a measure (ndcg, dcg, map, mrr, err, p, r, auc, with any
            convention) or a function of labels in ranked order. Also what `score` and validation measure,
            ndcg@10 where it is no measure.
        seed: of the random numbers: same seed, same bits.

    Attributes:
        model_: what was learned; scoring by a plain net needs no PyTorch.
        curve_: the measure on the validation data after each epoch.
    """

    def __init__(
        self,
        hidden: Sequence[int] | str = (64, 32),
        module: Any = None,
        activation: str = "relu",
        epochs: int = 30,
        batch: int = 8,
        learning_rate: float = 1e-3,
        optimizer: str = "adam",
        weight_decay: float = 0.0,
        standardize: bool = True,
        sigma: float = 1.0,
        truncation: int | None = None,
        patience: int | None = None,
        device: str = "cpu",
        measure: Any = "ndcg@10",
        seed: int = 0,
    ) -> None:
        self.hidden = hidden
        self.module = module
        self.activation = activation
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.standardize = standardize
        self.sigma = sigma
        self.truncation = truncation
        self.patience = patience
        self.device = device
        self.measure = measure
        self.seed = seed

    def _lambdas(self) -> Any:
        return self.measure
