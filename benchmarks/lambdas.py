"""What lambdas cost: pair visits a second, and how that grows with queries: `python benchmarks/lambdas.py`.

CPU time of one thread, the least of several rounds in this process. A round is all there is: ranking (scores
move a little each time), gathering, every pair, scattering. `floor` is the time to read and write once the
arrays that each visit touches (five read, two of them written), all in the first cache: measured as NumPy
adding two arrays of 4,096 float32.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from rankloom.rankers.lambdas import Lambdas

LENGTHS = (30, 100, 1_000, 10_000, 100_000)
MEASURES = ("ndcg", "ranknet", "map", "err", "auc")
ROWS = 300_000


def least(work: Callable[[], object], times: int) -> float:
    """The least CPU time of this thread."""
    found = []
    for _ in range(times):
        begin = time.thread_time()
        work()
        found.append(time.thread_time() - begin)
    return min(found)


def made(n: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Labels, offsets, and scores that move a little, as from one tree to the next."""
    rng = np.random.default_rng(0)
    queries = max(1, min(ROWS, 30_000_000 // n) // n)
    rows = queries * n
    labels = rng.choice(5, rows, p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(float)
    scores = [rng.normal(size=rows)]
    for _ in range(3):
        scores.append(scores[-1] + 0.01 * rng.normal(size=rows))
    return labels, np.arange(queries + 1) * n, scores


def pairs(n: int, queries: int, truncation: int) -> float:
    """How many pairs of places a round visits."""
    rows = min(n, truncation)
    return queries * (rows * (n - 1) - rows * (rows - 1) / 2)


def timed(measure: str, n: int, truncation: int | None, moving: bool = True) -> tuple[float, float]:
    """Seconds a round, and pairs a round. Scores that stay are in order already: sorting aside."""
    labels, offsets, scores = made(n)
    objective = Lambdas(labels, offsets, measure, truncation=truncation, threads=1)
    objective.gradients(scores[0])
    rounds = iter(scores * 2 if moving else [scores[0]] * 8)
    seconds = least(lambda: objective.gradients(next(rounds)), 3 if n > 10_000 else 6)
    return seconds, pairs(n, len(offsets) - 1, truncation or n)


def main() -> None:
    """Growth with the length of queries, then the measures side by side."""
    a, b = np.ones(4096, np.float32), np.ones(4096, np.float32)
    floor = least(lambda: [np.add(a, b, out=b) for _ in range(2000)], 5) / 2000 / 4096
    print(f"floor: {1e-6 / (floor * 7 / 3):,.0f} million visits a second")
    print("\n| rows a query | all pairs: M visits/s | ns a row | first 30: M visits/s | ns a row |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for n in LENGTHS:
        cells = []
        for truncation in (None, 30):
            seconds, visits = timed("ndcg", n, truncation)
            rows = max(1, min(ROWS, 30_000_000 // n) // n) * n
            cells += [f"{visits / seconds / 1e6:,.0f}", f"{seconds / rows * 1e9:,.0f}"]
        print(f"| {n:,} | {' | '.join(cells)} |", flush=True)
    print("\n| measure | 120 rows a query: M visits/s | sorting aside | 1,000 rows |")
    print("| --- | ---: | ---: | ---: |")
    for measure in MEASURES:
        speeds = [timed(measure, n, None, moving) for n, moving in ((120, True), (120, False), (1000, True))]
        print(f"| {measure} | " + " | ".join(f"{v / s / 1e6:,.0f}" for s, v in speeds) + " |", flush=True)


if __name__ == "__main__":
    main()
