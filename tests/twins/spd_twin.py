"""Pairs counted one by one, and the steps of the papers written as they stand there."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np


def pairs(y: Any, offsets: Any) -> list[tuple[int, int]]:
    """P: all (better, worse) of one query."""
    found = []
    for first, last in itertools.pairwise(offsets):
        found += [(a, b) for a in range(first, last) for b in range(first, last) if y[a] > y[b]]
    return found


def balanced_chances(y: Any, offsets: Any) -> dict[tuple[int, int], float]:
    """Query, label, other label, row, row, each uniform (Sculley 2009, Section 3.1)."""
    chances: Counter[tuple[int, int]] = Counter()
    queries = [list(range(a, b)) for a, b in itertools.pairwise(offsets) if len(set(y[a:b])) > 1]
    for rows in queries:
        labels = sorted({y[row] for row in rows})
        with_label = {label: [row for row in rows if y[row] == label] for label in labels}
        for one in labels:
            for other in labels:
                if one == other:
                    continue
                chance = 1 / len(queries) / len(labels) / (len(labels) - 1)
                for a in with_label[one]:
                    for b in with_label[other]:
                        pair = (a, b) if one > other else (b, a)
                        chances[pair] += chance / len(with_label[one]) / len(with_label[other])
    return dict(chances)


def slope(loss: str, t: float, p: float) -> float:
    if loss == "hinge":
        return t if t * p < 1 else 0.0
    return t - p if loss == "squared" else t - 1 / (1 + np.exp(-p))


def gradient_step(w: Any, x: Any, g: float, eta: float, lam: float, project: bool) -> Any:
    """SGD: w <- (1 - eta lam) w + eta g x; Pegasos projects into the ball of radius 1 / sqrt(lam)."""
    w = (1 - eta * lam) * w + eta * g * x
    norm = np.linalg.norm(w)
    return w / (norm * np.sqrt(lam)) if project and norm > 1 / np.sqrt(lam) else w


def shrink(w: Any, amount: float) -> Any:
    """Every weight nearer to 0 by the amount, but not beyond."""
    return np.where(np.abs(w) <= amount, 0.0, w - np.sign(w) * amount)


def passive_aggressive_step(w: Any, x: Any, cap: float) -> Any:
    """PA-I: tau = min(C, hinge / |x|^2)."""
    hinge = max(0.0, 1 - w @ x)
    return w + min(cap, hinge / (x @ x)) * x if hinge > 0 and x @ x > 0 else w


def romma_step(w: Any, x: Any) -> Any:
    """Aggressive ROMMA with y = 1."""
    p, square, norm = w @ x, x @ x, w @ w
    if p >= 1 or square == 0:
        return w
    if norm == 0:
        return x / square
    rest = square * norm - p * p
    if rest <= 1e-12 * square * norm:
        return w
    return (square * norm - p) / rest * w + norm * (1 - p) / rest * x


def perceptron_step(w: Any, x: Any, eta: float, margin: float) -> Any:
    return w + eta * x if w @ x <= margin else w
