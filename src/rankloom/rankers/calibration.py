"""The scale and the offset that fit scores to labels best: two numbers, found exactly, that keep the ranking.

    squared     min over a, b of mean of (y - (a s + b))^2                       closed form
    logistic    min over a, b of mean cross entropy of t and 1 / (1 + e^-(a s + b))   Newton (Platt 1999)

Rows may have weights. The logistic fit is drawn, ever so slightly, towards a = 1 and b = 0: where scores part
the labels without an error, a would grow for ever.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankloom.models.values import logistic

_MOST_STEPS = 100
_CLOSE = 1e-12
_PULL = 0.01


def least_squares(
    scores: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> tuple[float, float]:
    """(a, b) of the squared fit. Where scores do not rise with the labels, only b is fitted: a is 1."""
    share = _shares(scores, weights)
    s_mean, y_mean = float(share @ scores), float(share @ y)
    spread = float(share @ (scores - s_mean) ** 2)
    rise = float(share @ ((scores - s_mean) * (y - y_mean)))
    a = rise / spread if spread > 0.0 and rise > 0.0 else 1.0
    return a, y_mean - a * s_mean


def cross_entropy(
    scores: NDArray[np.float64], t: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> tuple[float, float]:
    """(a, b) of the logistic fit. Where scores do not rise with the targets, a stays 1."""
    share = _shares(scores, weights)
    prior = _PULL / len(scores)
    scale = float(np.sqrt(share @ (scores - share @ scores) ** 2)) or 1.0
    design = np.stack((scores / scale, np.ones_like(scores)))
    start = np.array([scale, 0.0])
    fitted = _newton(design, t, share, start, prior, free=2)
    if fitted[0] <= 0.0:
        fitted = _newton(design, t, share, start, prior, free=1)
    return float(fitted[0] / scale), float(fitted[1])


def _newton(
    design: NDArray[np.float64],
    t: NDArray[np.float64],
    share: NDArray[np.float64],
    start: NDArray[np.float64],
    prior: float,
    free: int,
) -> NDArray[np.float64]:
    """Newton's steps, halved while they do not lead down; the last `free` of the two numbers move."""
    at, moving = start.copy(), slice(2 - free, 2)

    def value(point: NDArray[np.float64]) -> float:
        z = point @ design
        loss = np.logaddexp(0.0, z) - t * z
        return float(share @ loss + 0.5 * prior * ((point - start) ** 2).sum())

    best = value(at)
    for _ in range(_MOST_STEPS):
        p = logistic(at @ design)
        slope = (design * share) @ (p - t) + prior * (at - start)
        curve = (design * (share * p * (1.0 - p))) @ design.T + prior * np.eye(2)
        step = np.zeros(2)
        step[moving] = np.linalg.solve(curve[moving, moving], slope[moving])
        size = 1.0
        while size > 1e-8 and value(at - size * step) > best:
            size /= 2.0
        found = value(at - size * step)
        if not best - found > _CLOSE * abs(best):
            break
        at, best = at - size * step, found
    return at


def _shares(scores: NDArray[np.float64], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    if weights is None:
        return np.full(len(scores), 1.0 / len(scores))
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares
