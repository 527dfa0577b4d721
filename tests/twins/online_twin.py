"""Online learners as their papers write them, one pair at a time, with whole matrices."""

from __future__ import annotations

from typing import Any

import numpy as np


def loss(w: Any, x: Any) -> float:
    return max(0.0, 1.0 - float(w @ x))


def first_order(w: Any, x: Any, C: float, weight: float = 1.0) -> Any:
    """Equations 5 and 6."""
    if not x.any() or weight == 0:
        return w
    return w + loss(w, x) / (x @ x + 1.0 / (2.0 * C * weight)) * x


def second_order(w: Any, S: Any, x: Any, gamma: float, weight: float = 1.0) -> Any:
    """Equations 8 and 9: (w, S)."""
    short = loss(w, x)
    if short == 0.0 or weight == 0:
        return w, S
    beta = x @ S @ x + gamma / weight
    return w + short / beta * S @ x, S - S @ np.outer(x, x) @ S / beta


def diagonal(w: Any, s: Any, x: Any, gamma: float, weight: float = 1.0) -> Any:
    """The same with S = diag(s), of which only the diagonal is kept."""
    w, S = second_order(w, np.diag(s), x, gamma, weight)
    return w, np.diag(S)


def forgotten(w: Any, S: Any, f: float) -> Any:
    """After a query."""
    return np.sqrt(f) * w, f * S + (1.0 - f) * (np.eye(len(w)) if S.ndim == 2 else 1.0)


def sketched(p: Any, U: Any, X: Any, gamma: float) -> Any:
    """What diag(p) + U U' becomes when the rows of X join, by whole matrices: (p, U)."""
    rank = U.shape[1]
    exact = np.diag(p) + U @ U.T + X.T @ X / gamma
    values, vectors = np.linalg.eigh(U @ U.T + X.T @ X / gamma)
    values, vectors = values[::-1], vectors[:, ::-1]
    rest = values[rank] if rank < len(values) else 0.0
    U = vectors[:, :rank] * np.sqrt(np.maximum(values[:rank] - rest, 0.0))
    return np.diag(exact - U @ U.T).copy(), U


class Committee:
    """A perceptron on pairs, and the members it left behind."""

    def __init__(self, n_features: int, size: int) -> None:
        self.w, self.run = np.zeros(n_features), 0
        self.members = [(0, np.zeros(n_features)) for _ in range(size)]

    def learn(self, x: Any) -> None:
        if not x.any():
            return
        if self.w @ x > 0:
            self.run += 1
            return
        weakest = min(range(len(self.members)), key=lambda i: self.members[i][0])
        if self.run > self.members[weakest][0]:
            self.members[weakest] = (self.run, self.w)
        self.w, self.run = self.w + x, 0

    def weights(self) -> Any:
        everyone = [*self.members, (self.run, self.w)]
        total = sum(count for count, _ in everyone)
        return self.w if total == 0 else sum(count * w for count, w in everyone) / total


def prank(w: Any, b: Any, x: Any, level: int) -> Any:
    """One document of PRank: (w, b)."""
    sides = np.where(level > np.arange(len(b)), 1.0, -1.0)
    wrong = (w @ x - b) * sides <= 0
    return w + (sides * wrong).sum() * x, b - sides * wrong


def pairs_of(clicked: Any, rule: str) -> list[tuple[int, int]]:
    """Pairs of places from clicks, by the rule in words."""
    hits = [place for place, hit in enumerate(clicked) if hit]
    if rule == "next-unclicked":
        return [(i, i + 1) for i in hits if i + 1 < len(clicked) and not clicked[i + 1]]
    if rule == "last-skip-above":
        hits = hits[-1:]
    return [(i, j) for i in hits for j in range(i) if not clicked[j]]
