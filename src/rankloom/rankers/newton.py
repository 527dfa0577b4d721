"""Minimise f(w) = 1/2 |w|^2 + C L(w) for L2-loss RankSVM by a truncated Newton method.

each iteration: s from  H s = -g  by preconditioned conjugate gradients, until the residual in the norm of
                the preconditioner is half of what it was; then w + a s, with a = 1, 1/2, 1/4, ...  the
                first for which f falls by 0.01 a |g.s|
stop            |g(w)| <= tol |g(0)|                                               (Lee & Lin, equation 38)

One large query begins at the optimum of a sample of its rows, and goes down by `conjugate` while that is
quick.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError
from rankloom.kernels.linear import dot
from rankloom.rankers.conjugate import go_down, length
from rankloom.rankers.pair_problem import PairProblem

_FORCING = 0.5
_DIAGONAL = 0.01  # the part of the preconditioner that is not the identity
_ARMIJO = 0.01
_LEAST_STEP = 1e-10
_ROUGH = 1e-3  # the tolerance for a sample


class Solved(NamedTuple):
    """Where a solver got to."""

    weights: NDArray[np.float64]
    objective: float
    residual: float
    """|gradient| beside that at w = 0; for L1 loss, the gap to the lower bound beside the objective."""
    iterations: int
    evaluations: int
    products: int
    converged: bool


def newton(
    problem: PairProblem, C: float, start: NDArray[np.float64] | None, tol: float, max_iter: int
) -> Solved:
    """From `start` (None is 0) to the optimum."""
    evaluations, products = problem.n_evaluations, problem.n_products
    zero = C * length(problem.gradient_at_zero("squared"))
    scale = (1.0 - _DIAGONAL) + _DIAGONAL * (1.0 + C * problem.diagonal())
    w = _rough(problem, C, tol, max_iter) if start is None else start.copy()
    f, g = _evaluate(problem, C, w)
    if start is None and f > C * problem.pair_weight:
        w = np.zeros(problem.n_features)
        f, g = _evaluate(problem, C, w)
    done, moving = 0, True
    if problem.is_one_query and length(g) > tol * zero:
        w, f, g, done = go_down(problem, C, (w, f, g), scale, tol * zero, max_iter)
        if length(g) > tol * zero:
            f, g = _evaluate(problem, C, w)
    while length(g) > tol * zero and done < max_iter and moving:
        done += 1
        s = _direction(problem, C, g, scale)
        w, f, g, moving = _searched(problem, C, w, f, g, s)
    residual = length(g) / zero if zero > 0.0 else 0.0
    return Solved(
        w,
        f,
        residual,
        done,
        problem.n_evaluations - evaluations,
        problem.n_products - products,
        length(g) <= tol * zero,
    )


def _rough(problem: PairProblem, C: float, tol: float, max_iter: int) -> NDArray[np.float64]:
    """Where a sample of one large query has its optimum, else 0."""
    part = problem.sample()
    if part is None:
        return np.zeros(problem.n_features)
    return newton(part, C * problem.pair_weight / part.pair_weight, None, max(tol, _ROUGH), max_iter).weights


def _evaluate(problem: PairProblem, C: float, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    losses, gradient = problem.evaluate(w)
    f, g = 0.5 * dot(w, w) + C * losses.squares, w + C * gradient
    if not (np.isfinite(f) and np.isfinite(g).all()):
        raise InputError(
            "the scores overflow: features, C or weights are too large to square and add; scale the features "
            "(rl.QueryScaler) or take a smaller C"
        )
    return f, g


def _direction(
    problem: PairProblem, C: float, g: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Conjugate gradients; at least one step, at most one for each feature."""
    s, r = np.zeros_like(g), -g
    z = r / scale
    d, rz = z.copy(), dot(r, z)
    enough = _FORCING**2 * rz
    for _ in range(len(g) + 1):
        product = d + C * problem.product(d)
        step = rz / dot(d, product)
        s += step * d
        r = r - step * product
        z = r / scale
        rz, before = dot(r, z), rz
        if not rz > enough:
            break
        d = z + (rz / before) * d
    return s


def _searched(
    problem: PairProblem,
    C: float,
    w: NDArray[np.float64],
    f: float,
    g: NDArray[np.float64],
    s: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float, NDArray[np.float64], bool]:
    """The first step along s that is worth it, and whether there is one: rounding has the last word."""
    slope, step = dot(g, s), 1.0
    while step > _LEAST_STEP:
        new, there = _evaluate(problem, C, w + step * s)
        if new - f <= _ARMIJO * step * slope:
            return w + step * s, new, there, True
        if abs(new - f) <= 1e-14 * abs(f) and length(there) < length(g):
            return w + step * s, new, there, True
        step *= 0.5
    return w, f, g, False
