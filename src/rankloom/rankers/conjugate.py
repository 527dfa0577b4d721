"""The way down f(w) = 1/2 |w|^2 + C L(w) where all data are one large query: nonlinear conjugate gradients.

    s = -M g + b s_before,   b = max(0, g.M (g - g_before) / g_before.M g_before)       (Polak & Ribiere)
    w + a s, a nearly the best on this line

The scores X w and X s of all rows are kept: a point of the line, and how f bends there, costs a pass over
scores and none over X. So a step reads X twice, for X s and for the gradient, and reads only rows with active
pairs for that; it goes as far as the line is worth, where a Newton step trusts the pairs active at w.

It ends where |g(w)| <= tol |g(0)| and the last step left more than 65 % of f: with few relevant rows, |g(0)|
is so large that the rule alone would stop at 200 times the least f.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.linear import dot
from rankloom.rankers.pair_problem import PairProblem

_FLAT = 0.1  # of the slope that a line began with: there it is searched no further
_ARMIJO = 0.01
_STEEP = 0.65  # what a step leaves of f where going on is worth it
_MOST_POINTS = 40
_LOOK_BACK = 4
_WORTH = 0.5  # what this many steps have to leave of the gradient at most


class Reached(NamedTuple):
    """Where it got to."""

    weights: NDArray[np.float64]
    objective: float
    gradient: NDArray[np.float64]
    steps: int


def length(vector: NDArray[np.float64]) -> float:
    """|vector|."""
    return math.sqrt(dot(vector, vector))


class _Line:
    """f along w + a s."""

    def __init__(
        self, problem: PairProblem, C: float, w: NDArray[np.float64], z: NDArray[np.float64]
    ) -> None:
        self.problem, self.C, self.w, self.z = problem, C, w, z
        self.square = dot(w, w)

    def search(self, s: NDArray[np.float64], f: float, slope: float) -> tuple[float, float]:
        """How far to go and f there; 0 where rounding has the last word. Moves s and w there."""
        problem, C, z = self.problem, self.C, self.z
        along, across, square = problem.scores(s), dot(self.w, s), dot(s, s)
        low, high, at = 0.0, np.inf, 0.0
        rise = slope
        for _ in range(_MOST_POINTS):
            bent = square + C * problem.bend(along)
            step = at - rise / bent if bent > 0.0 else high
            if not low < step < high:
                step = 0.5 * (low + high) if high < np.inf else 2.0 * low
            losses, grows = problem.move(z, along, step)
            value = 0.5 * (self.square + step * (2.0 * across + step * square)) + C * losses.squares
            rise, at = across + step * square + C * grows, step
            if abs(rise) <= _FLAT * abs(slope) and value - f <= _ARMIJO * step * slope:
                along *= step
                z += along
                self.w += step * s
                self.square = dot(self.w, self.w)
                return step, value
            if rise > 0.0:
                high = step
            else:
                low = step
        return 0.0, f


def go_down(
    problem: PairProblem,
    C: float,
    start: tuple[NDArray[np.float64], float, NDArray[np.float64]],
    scale: NDArray[np.float64],
    target: float,
    max_iter: int,
) -> Reached:
    """From w, f and g, where the problem is, until it ends or steps become slow."""
    w, f, g = start
    before = f
    line = _Line(problem, C, w.copy(), problem.scores(w))
    sizes = [length(g)]
    s = -g / scale
    while (sizes[-1] > target or f < _STEEP * before) and len(sizes) <= max_iter:
        if len(sizes) > _LOOK_BACK and sizes[-1] > _WORTH * sizes[-1 - _LOOK_BACK]:
            break
        step, value = line.search(s, f, dot(g, s))
        if step == 0.0:
            break
        there = line.w + C * problem.pull()
        scaled = there / scale
        b = max(0.0, dot(scaled, there - g) / dot(g, g / scale))
        s = b * s - scaled
        if not dot(there, s) < 0.0:
            s = -scaled
        before, f, g = f, value, there
        sizes.append(length(g))
    return Reached(line.w, f, g, len(sizes) - 1)
