"""Minimise f(w) = 1/2 |w|^2 + C L(w) for L1-loss RankSVM by a bundle of cutting planes.

    L(w) >= a_t . w + b_t              the tangent planes at the points looked at (Lee & Lin, Section 3.2)
    w' = argmin 1/2 |w|^2 + C max over t of (a_t . w + b_t)                                    (equation 33)
    the next plane at the best point on the way from the best w so far to w', or a bit beyond it
    stop where the best f and the value at w', a lower bound of the optimum, differ by tol times the best

The minimum over w is found in the dual, over as many variables as there are planes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError
from rankloom.rankers.newton import Solved
from rankloom.rankers.pair_problem import PairProblem

_MOST_PLANES = 400
_AHEAD = 0.1  # how far towards the model's minimum the second plane is
_MOST_MOVES = 200_000


class _Bundle:
    """The planes, and the minimum of what they say."""

    def __init__(self, n_features: int, C: float) -> None:
        self.C = C
        self.a = np.zeros((0, n_features))
        self.b = np.zeros(0)
        self.gram = np.zeros((0, 0))
        self.shares = np.zeros(0)

    def add(self, gradient: NDArray[np.float64], loss: float, w: NDArray[np.float64]) -> None:
        if len(self.b) >= _MOST_PLANES:
            keep = np.sort(np.argsort(-self.shares, kind="stable")[: _MOST_PLANES // 2])
            self.a, self.b, self.gram = self.a[keep], self.b[keep], self.gram[np.ix_(keep, keep)]
            self.shares = self.shares[keep] / self.shares[keep].sum()
        a = self.C * gradient
        column = self.a @ a
        n = len(self.b)
        gram = np.empty((n + 1, n + 1))
        gram[:n, :n], gram[n, :n], gram[:n, n], gram[n, n] = self.gram, column, column, a @ a
        self.gram, self.a = gram, np.vstack((self.a, a))
        self.b = np.append(self.b, self.C * loss - float(a @ w))
        self.shares = np.append(self.shares, 1.0 if n == 0 else 0.0)

    def minimum(self, gap: float) -> tuple[NDArray[np.float64], float]:
        """w', and the bound: the dual's value, true however well it was solved."""
        from rankloom.kernels.simplex import solve_simplex

        solve_simplex(self.gram, self.b, self.shares, gap, _MOST_MOVES)
        w = -(self.shares @ self.a)
        return w, float(self.b @ self.shares - 0.5 * (w @ w))


def bundle(
    problem: PairProblem, C: float, start: NDArray[np.float64] | None, tol: float, max_iter: int
) -> Solved:
    """From `start` (None is 0) to the optimum."""
    evaluations = problem.n_evaluations
    planes = _Bundle(problem.n_features, C)
    best_w = np.zeros(problem.n_features) if start is None else start.copy()
    best = _look(problem, planes, best_w)
    bound, done = 0.0, 0
    while best - bound > tol * best and done < max_iter:
        done += 1
        w, value = planes.minimum(0.1 * max(best - bound, tol * best))
        bound = max(bound, value)
        if best - bound <= tol * best:
            break
        ahead = best_w + _AHEAD * (w - best_w)
        for point in (w, ahead):
            found = _look(problem, planes, point)
            if found < best:
                best, best_w = found, point
    gap = max(best - bound, 0.0) / best if best > 0.0 else 0.0
    return Solved(best_w, best, gap, done, problem.n_evaluations - evaluations, 0, gap <= tol)


def _look(problem: PairProblem, planes: _Bundle, w: NDArray[np.float64]) -> float:
    """Add the plane at w; the value of f there."""
    losses, gradient = problem.evaluate(w, "hinge")
    f = 0.5 * float(w @ w) + planes.C * losses.hinges
    if not (np.isfinite(f) and np.isfinite(gradient).all()):
        raise InputError(
            "the scores overflow: features, C or weights are too large to add; scale the features "
            "(rl.QueryScaler) or take a smaller C"
        )
    planes.add(gradient, losses.hinges, w)
    return f
