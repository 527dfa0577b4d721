"""The small problem inside a bundle method: minimise 1/2 a.G a - b.a over a >= 0 with sum 1.

Weight goes from the coordinate with the largest gradient that has some to the one with the smallest, as far
as that pays, until these gradients differ by at most `gap`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel


@kernel
def solve_simplex(
    gram: NDArray[np.float64], b: NDArray[np.float64], a: NDArray[np.float64], gap: float, most: int
) -> Any:
    """Improve `a`, which has sum 1; the gradients' difference that is left."""
    n = len(b)
    gradient = np.empty(n)
    for i in range(n):
        gradient[i] = -b[i]
        for j in range(n):
            gradient[i] += gram[i, j] * a[j]
    left = np.inf
    for _ in range(most):
        low, high = 0, -1
        for i in range(n):
            if gradient[i] < gradient[low]:
                low = i
            if a[i] > 0.0 and (high < 0 or gradient[i] > gradient[high]):
                high = i
        left = gradient[high] - gradient[low]
        if left <= gap:
            break
        curve = gram[low, low] + gram[high, high] - 2.0 * gram[low, high]
        step = a[high] if curve <= 0.0 else min(a[high], left / curve)
        a[low] += step
        a[high] = 0.0 if step == a[high] else a[high] - step
        for i in range(n):
            gradient[i] += step * (gram[i, low] - gram[i, high])
    return left
