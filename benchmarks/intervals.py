"""Which 95 % interval holds the true mean difference in 95 %: `python benchmarks/intervals.py`.

Percentile and BCa intervals of the same bootstrap resamples, with the tails that are usual and with tails
moved outwards for few queries, beside Student's, on differences of several shapes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankloom.measures import significance

TRIALS = 10_000
TAIL = 0.025
STEPS = np.array([-0.5, -0.3691, -0.1309, 0.1309, 0.3691, 0.5, 0.63])  # of NDCG, when a document changes rank

Generator = np.random.Generator


def normal(rng: Generator, n: int) -> np.ndarray:
    """The textbook's."""
    return rng.normal(0.1, 1.0, n)


def steps(rng: Generator, n: int) -> np.ndarray:
    """60 % ties, and few values to both sides."""
    return np.where(rng.random(n) < 0.6, 0.0, rng.choice(STEPS, n))


def reciprocal(rng: Generator, n: int) -> np.ndarray:
    """Of reciprocal ranks, where one system often misses."""
    return 1 / rng.integers(1, 9, n) - 1 / rng.integers(1, 9, n) * (rng.random(n) < 0.7)


def clipped(rng: Generator, n: int) -> np.ndarray:
    """Two correlated values from 0 to 1, a fifth of them 0 for both."""
    a = rng.beta(1.2, 1.2, n) * (rng.random(n) < 0.8)
    return np.clip(a + rng.normal(0.02, 0.1, n) * (a > 0), 0, 1) - a


def sparse(rng: Generator, n: int) -> np.ndarray:
    """90 % ties; most of the others gain."""
    draw = rng.random(n)
    return np.where(draw < 0.9, 0.0, np.where(draw < 0.98, 0.5, -0.3))


def lognormal(rng: Generator, n: int) -> np.ndarray:
    """A long tail to one side."""
    return rng.lognormal(0.0, 1.0, n) - 1.2


SHAPES: dict[str, Callable[[Generator, int], np.ndarray]] = {
    "normal": normal,
    "60 % ties, few values": steps,
    "reciprocal ranks": reciprocal,
    "from 0 to 1, 20 % ties": clipped,
    "90 % ties, one side": sparse,
    "log-normal": lognormal,
}


def tails(difference: np.ndarray, means: np.ndarray) -> list[tuple[float, float]]:
    """What percentile and BCa cut off: as usual, and widened."""
    found = []
    for tail in (TAIL, significance._widened_tail(TAIL, difference, None)):
        plain = (tail, 1 - tail)
        centre = float(difference.mean())
        found += [plain, significance._corrected_tails(plain, means, centre, difference, None)]
    return found


def covered(difference: np.ndarray, truth: float, seed: int) -> list[bool]:
    """Whether each interval holds the truth."""
    student = significance.student_interval(difference)
    assert student is not None
    if difference.min() == difference.max():
        return [difference[0] == truth] * 5
    means = significance.bootstrap_means(difference, None, resamples=1999, seed=seed, threads=1)
    ends = [np.quantile(means, cut) for cut in tails(difference, means)]
    return [bool(low <= truth <= high) for low, high in [*ends, student]]


def main() -> None:
    """The table of the documentation."""
    print(f"{TRIALS:,} trials a line; covered, %; one standard error of 95 % is 0.2 %")
    print(f"{'':24}{'':>8}{'percentile':>20}{'BCa':>20}{'Student':>10}")
    print(f"{'differences':24}{'queries':>8}" + f"{'plain':>10}{'widened':>10}" * 2)
    for name, shape in SHAPES.items():
        truth = float(shape(np.random.default_rng(99), 20_000_000).mean())
        for n in (10, 20, 50, 200):
            rng = np.random.default_rng(n)
            hits = np.mean([covered(shape(rng, n), truth, seed) for seed in range(TRIALS)], axis=0)
            cells = "".join(f"{100 * hits[place]:10.1f}" for place in (0, 2, 1, 3, 4))
            print(f"{name:24}{n:8}{cells}", flush=True)


if __name__ == "__main__":
    main()
