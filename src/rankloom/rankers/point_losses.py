"""Gradients of losses that look at one row at a time: what pointwise MART follows.

    regression    (y - s)^2 / 2                                 gradient s - y, curvature 1
    logistic      cross entropy of y and sigma(s)               gradient p - y, curvature p (1 - p)
    balanced      the same over n+ for y = 1, over n- for 0     (Burges 2010, section 6.1)

The paper's F is s / (2 sigma): as it says, sigma makes no difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError
from rankloom.rankers.lambdas import Gradients

POINTWISE = ("regression", "logistic", "balanced")


class PointLoss:
    """The gradients of one of the losses, and the score that all rows should start from."""

    def __init__(self, loss: str, labels: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        self.loss = loss
        self.target_range: tuple[float, float] | None = None
        targets = labels
        if loss != "regression":
            classes = np.unique(labels)
            if len(classes) != 2:
                raise InputError(
                    f'objective="{loss}" needs two different labels, got {len(classes)}; '
                    'take objective="regression", or one that ranks'
                )
            self.target_range = float(classes[0]), float(classes[1])
            targets = (labels == classes[1]).astype(np.float64)
            if loss == "balanced":
                weights = weights * balance(targets)
        self._targets, self._weights = targets, weights
        mean = float(np.average(targets, weights=weights))
        self.start = mean if loss == "regression" else float(np.log(mean / (1.0 - mean)))

    def gradients(self, scores: Any) -> Gradients:
        """Slope and curvature of each row's loss, as float32."""
        if self.loss == "regression":
            slope, curve = scores - self._targets, np.ones(len(scores))
        else:
            p = 0.5 + 0.5 * np.tanh(0.5 * scores)
            slope, curve = p - self._targets, p * (1.0 - p)
        return Gradients(
            (slope * self._weights).astype(np.float32), (curve * self._weights).astype(np.float32)
        )


def balance(targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """n / (2 n+) for 1 and n / (2 n-) for 0: both classes weigh the same, and a row 1 in the mean."""
    n, positive = len(targets), float(targets.sum())
    return np.asarray(np.where(targets > 0.0, n / (2.0 * positive), n / (2.0 * (n - positive))))
