"""LightGBM's own lambdarank gradients in double precision, with its table of sigmoids: pair after pair."""

from __future__ import annotations

import math

import numpy as np

BINS = 1024 * 1024


def sigmoid_table(sigma: float) -> tuple[np.ndarray, float, float]:
    """1 / (1 + e^(sigma x)) at the lower ends of a million bins, the lowest x, and bins per unit of x."""
    lowest = -50.0 / sigma / 2.0
    per_unit = BINS / (-lowest - lowest)
    x = np.arange(BINS) / per_unit + lowest
    return 1.0 / (1.0 + np.exp(x * sigma)), lowest, per_unit


class LightGBMLambdas:
    """grad, hess = twin(scores, _), as LightGBM's update takes it."""

    def __init__(self, labels, offsets, truncation=30, sigma=1.0, norm=True, use_table=True):
        self.labels, self.offsets = np.asarray(labels, dtype=np.float64), offsets
        self.truncation, self.sigma, self.norm = truncation, sigma, norm
        self.table, self.lowest, self.per_unit = sigmoid_table(sigma)
        self.use_table = use_table

    def sigmoid(self, gap: np.ndarray) -> np.ndarray:
        if not self.use_table:
            return 1.0 / (1.0 + np.exp(gap * self.sigma))
        places = np.clip(((gap - self.lowest) * self.per_unit).astype(np.int64), 0, BINS - 1)
        return self.table[places]

    def __call__(self, scores, _=None):
        grad, hess = np.zeros(len(scores), np.float32), np.zeros(len(scores), np.float32)
        for start, end in zip(self.offsets[:-1], self.offsets[1:], strict=True):
            grad[start:end], hess[start:end] = self.of_query(self.labels[start:end], scores[start:end])
        return grad, hess

    def of_query(self, labels, scores):
        n = len(labels)
        order = np.argsort(-scores, kind="stable")
        gains = 2.0**labels - 1.0
        discounts = 1.0 / np.log2(2.0 + np.arange(n))
        ideal = float((np.sort(gains)[::-1] * discounts)[: self.truncation].sum())
        inverse = 1.0 / ideal if ideal > 0 else 0.0
        grad, hess = np.zeros(n, np.float32), np.zeros(n, np.float32)
        spread = scores[order[0]] != scores[order[-1]]
        total = 0.0
        for i in range(min(self.truncation, n - 1)):
            for j in range(i + 1, n):
                if labels[order[i]] == labels[order[j]]:
                    continue
                better, worse = (i, j) if labels[order[i]] > labels[order[j]] else (j, i)
                high, low = order[better], order[worse]
                gap = scores[high] - scores[low]
                delta = (gains[high] - gains[low]) * abs(discounts[better] - discounts[worse]) * inverse
                if self.norm and spread:
                    delta /= float(np.float32(0.01)) + abs(gap)
                rho = float(self.sigmoid(np.array([gap]))[0])
                pull, bend = -self.sigma * delta * rho, self.sigma**2 * delta * rho * (1.0 - rho)
                grad[low] -= np.float32(pull)
                hess[low] += np.float32(bend)
                grad[high] += np.float32(pull)
                hess[high] += np.float32(bend)
                total -= 2.0 * pull
        if self.norm and total > 0.0:
            factor = math.log2(1.0 + total) / total
            grad, hess = (grad * factor).astype(np.float32), (hess * factor).astype(np.float32)
        return grad, hess
