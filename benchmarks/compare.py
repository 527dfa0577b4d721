"""compare: how fast its resampling is, and how honest its answers are.

    python benchmarks/compare.py speed      10,000 resamples of 10,000 queries, beside SciPy and the floor
    python benchmarks/compare.py honesty    how often the tests reject where nothing differs, where something
                                            does, and how often the interval covers the truth

The second simulates queries with graded labels, ranks them by noisy scores, and measures them with
`evaluate`, so that per-query values have the ties, zeros and steps of real ones.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
from scipy import stats

from rankloom.kernels.random import GOLDEN, mix
from rankloom.measures import significance
from rankloom.measures.compare import compare_values
from rankloom.measures.evaluate import evaluate

RESAMPLES = QUERIES = 10_000
TRIALS = 10_000
POOL = 200_000  # queries of each scene; a trial draws its own from them


def main() -> None:
    """Run what is asked for, or both."""
    for part in sys.argv[1:] or ["speed", "honesty"]:
        {"speed": speed, "honesty": honesty}[part]()


def cpu(function: Callable[[], Any], times: int = 5) -> float:
    """The least CPU time of a few runs, all threads together, in ms; the first run, which compiles, apart."""
    function()
    found = []
    for _ in range(times):
        begin = time.process_time()
        function()
        found.append(time.process_time() - begin)
    return 1000 * min(found)


@numba.njit(nogil=True)
def draw(seed: int, words: int) -> int:
    """The floor: splitmix64 alone, so many times."""
    total = np.uint64(0)
    state = np.uint64(seed)
    for _ in range(words):
        state += GOLDEN
        total ^= mix(state)
    return total


def speed() -> None:
    """Ours, SciPy's and the floor."""
    rng = np.random.default_rng(0)
    a = rng.beta(2, 2, QUERIES)
    b = np.clip(a + rng.normal(0.002, 0.1, QUERIES), 0, 1)
    difference, ours = b - a, {"resamples": RESAMPLES, "seed": 0, "threads": 1}
    scipys: dict[str, Any] = {"n_resamples": RESAMPLES, "batch": 500, "rng": 0}
    bits, halves = RESAMPLES * -(-QUERIES // 64), RESAMPLES * QUERIES // 2
    print(f"{RESAMPLES:,} resamples of {QUERIES:,} queries, CPU ms")
    print(f"{'':28}{'rankloom':>10}{'SciPy':>10}{'floor':>10}   (floor: drawing the random numbers)")
    rows: list[tuple[str, Callable[[], Any], Callable[[], Any], int]] = [
        (
            "randomisation test",
            lambda: significance.randomisation_test(difference, None, **ours),
            lambda: stats.permutation_test((difference,), mean, permutation_type="samples", **scipys),
            bits,
        ),
        (
            "bootstrap, percentile",
            lambda: significance.bootstrap_interval(difference, **ours),
            lambda: stats.bootstrap((difference,), mean, method="percentile", **scipys),
            halves,
        ),
        (
            "bootstrap, BCa",
            lambda: significance.bootstrap_interval(difference, method="bca", **ours),
            lambda: stats.bootstrap((difference,), mean, method="BCa", **scipys),
            halves,
        ),
    ]
    for name, our, their, words in rows:
        cells = (cpu(our), cpu(their, times=1), cpu(lambda words=words: draw(1, words)))  # type: ignore[misc]
        print(f"{name:28}{cells[0]:10.1f}{cells[1]:10.0f}{cells[2]:10.1f}")
    print(f"{'compare_values, all of it':28}{cpu(lambda: compare_values(a, b, threads=1)):10.1f}")


def mean(values: np.ndarray, axis: int = -1) -> Any:
    """For SciPy, which gives the axis."""
    return np.mean(values, axis=axis)


def scene(measure: str, noise: tuple[float, float], relevant: float, seed: int) -> np.ndarray:
    """Differences per query of two systems that see graded labels through noise."""
    rng = np.random.default_rng(seed)
    y = rng.choice([0.0, 1.0, 2.0], (POOL, 10), p=[1 - relevant, 0.7 * relevant, 0.3 * relevant]).ravel()
    qid = np.repeat(np.arange(POOL), 10)
    values = []
    for deviation in noise:
        scores = y + rng.normal(0, deviation, len(y))
        values.append(evaluate(scores, y, qid=qid, measures=measure).per_query(measure))
    return significance.differences(*values)


# Measure, noise of both systems, part of relevant documents. Equal noise: nothing differs but by chance.
SCENES = {
    "ndcg@10": ("ndcg@10", 2.0, 1.3, 0.2),
    "mrr": ("mrr", 2.0, 1.3, 0.05),
    "p@1": ("p@1", 2.0, 1.3, 0.1),
}


Trial = tuple[np.ndarray, np.ndarray | None]  # differences, and weights


def drawn(pool: np.ndarray, n: int, *, null: bool = False, weigh: bool = False) -> Iterator[Trial]:
    """Trials of n queries. Under the null, A and B change places by the toss of a coin, query by query."""
    rng = np.random.default_rng(n)
    for _ in range(TRIALS):
        difference = rng.choice(pool, n)
        weights = rng.lognormal(0, 1, n) if weigh else None
        yield difference * rng.choice([-1.0, 1.0], n) if null else difference, weights


def rates(trials: Iterator[Trial], truth: float) -> list[float]:
    """Parts of trials with p <= 0.05 (t, Wilcoxon, randomisation), and of intervals that hold the truth."""
    found = np.zeros(5)
    for trial, (difference, weights) in enumerate(trials):
        drawing = {"resamples": 1999, "seed": trial, "threads": 1}
        p = (
            significance.t_test(difference),
            significance.wilcoxon_test(difference),
            significance.randomisation_test(difference, weights, **drawing),
        )
        found[:3] += [x is not None and x <= 0.05 for x in p]
        for place, method in ((3, "percentile"), (4, "bca")):
            interval = significance.bootstrap_interval(difference, weights, method=method, **drawing)
            found[place] += interval is not None and interval.low <= truth <= interval.high
    found /= TRIALS
    if weights is not None:
        found[:2] = np.nan  # these two know no weights
    return list(found)


def lopsided() -> np.ndarray:
    """No difference in the mean, but a lopsided one: a few queries lose much, many win a little."""
    values = np.where(np.random.default_rng(5).random(POOL) < 0.9, 0.05, -0.45)
    return values - values.mean()


def honesty() -> None:
    """The table of the documentation."""
    error = 100 * np.sqrt(0.05 * 0.95 / TRIALS)
    print(f"{TRIALS:,} trials a line; one standard error of 5 % is {error:.1f} %")
    print(f"{'':46}{'p <= 0.05, %':>26}{'covered, %':>20}")
    heads = ("t", "Wilcoxon", "random.", "percentile", "BCa")
    print(
        f"{'':38}{'queries':>8}"
        + "".join(f"{head:>{width}}" for head, width in zip(heads, WIDTHS, strict=True))
    )
    for name, (measure, worse, better, relevant) in SCENES.items():
        for null in (True, False):
            pool = scene(measure, (worse, worse if null else better), relevant, seed=len(name) + null)
            truth = 0.0 if null else float(pool.mean())
            what = "no difference" if null else f"B - A = {truth:.4f}"
            lines(f"{name}, {what}, {np.mean(pool == 0):.0%} ties", pool, truth, null=null)
            if name == "ndcg@10":
                lines(f"{name}, {what}, weights", pool, truth, null=null, weigh=True)
    lines("mean 0, lopsided, no ties", lopsided(), 0.0)


WIDTHS = (6, 10, 10, 12, 8)


def lines(name: str, pool: np.ndarray, truth: float, **how: bool) -> None:
    """A scene's lines of the table."""
    for n in (10, 20, 50, 200, 1000):
        cells = rates(drawn(pool, n, **how), truth)
        texts = (
            f"{'-' if np.isnan(cell) else f'{100 * cell:.1f}':>{width}}"
            for cell, width in zip(cells, WIDTHS, strict=True)
        )
        print(f"{name:38}{n:8}" + "".join(texts), flush=True)


if __name__ == "__main__":
    main()
