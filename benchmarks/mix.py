"""The best mix of two rankers, exactly, beside a grid: `python benchmarks/mix.py`.

Lists as long as MSLR's and longer, with two noisy scores each. A grid of n alphas is n evaluations of all
queries; it is given as many points as take the time of the walk. CPU seconds, the least of up to three.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import rankloom as rl


def least(work: Callable[[], Any]) -> tuple[float, Any]:
    taken, found = [], None
    while len(taken) < 3 and sum(taken) < 5.0:
        begin = time.process_time()
        found = work()
        taken.append(time.process_time() - begin)
    return min(taken), found


def main() -> None:
    rl.warm_up()
    draw = np.random.default_rng(0)
    print("| queries x rows | measure | walk s | crossings | best | grid of as many points | its best |")
    print("|" + " --- |" * 7)
    for queries, length in ((2500, 120), (250, 1200), (1, 100_000), (1, 5000)):
        n = queries * length
        y = draw.choice(5, n, p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(float)
        a, b = y + 2 * draw.normal(size=(2, n))
        data = rl.RankingData(np.empty((n, 0)), y, np.repeat(np.arange(queries), length))
        for measure in ("ndcg@10", "err@10", "map", "ndcg"):
            if (queries, length) == (1, 100_000) and measure in ("map", "ndcg"):
                continue
            walk, found = least(partial(rl.mix, a, b, data, measure=measure))
            one, _ = least(partial(rl.evaluate, a, data, measures=measure))
            points = max(2, int(walk / one))
            alphas = np.linspace(0.0, 1.0, points).tolist()
            grid = max(rl.evaluate(x * a + (1 - x) * b, data, measures=measure)[measure] for x in alphas)
            print(
                f"| {queries:,} x {length:,} | {measure} | {walk:.2f} | {found.crossings:,} "
                f"| {found.value:.6f} | {points:,} | {grid:.6f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
