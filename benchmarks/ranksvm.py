"""What exact RankSVM costs, beside the floor and its peers: `python benchmarks/ranksvm.py [PART ...]`.

PART is products, training, growth, memory or pairs; without one, all of them. Times are the least of several
runs; CPU seconds with one thread, wall clock with two. The floor is one read of the feature values, as fast
as NumPy reads them. Training is at C=1 to the default tolerance.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

import rankloom as rl
from rankloom.data.ranking_data import RankingData
from rankloom.rankers.pair_problem import PairProblem


def least(work: Callable[[], Any], runs: int = 7, clock: Callable[[], float] = time.process_time) -> float:
    """Milliseconds of the best run, after one that compiles."""
    work()
    found = []
    for _ in range(runs):
        begin = clock()
        work()
        found.append(clock() - begin)
    return min(found) * 1e3


def lists(n_queries: int, length: int, n_features: int, labels: int, seed: int = 0) -> RankingData:
    """Normal features, a linear truth with as much noise; labels of falling share, or all distinct (0)."""
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((n_queries * length, n_features), dtype=np.float32)
    truth = X @ draw.normal(size=n_features).astype(np.float32) / np.sqrt(n_features)
    truth += draw.normal(size=len(X))
    if labels == 0:
        y = truth.reshape(n_queries, length).argsort(axis=1).argsort(axis=1).reshape(-1)
    else:
        y = np.digitize(truth, np.quantile(truth, 1.0 - 0.5 ** np.arange(1, labels)))
    return RankingData(X, y, np.repeat(np.arange(n_queries), length))


def products() -> None:
    """A product with the Hessian on the first step's weights, against one read of X."""
    print("a product                                       floor ms   1 thread ms   2 threads ms, wall")
    for name, data in (
        ("300k x 136, 5 labels, 2,500 queries", lists(2500, 120, 136, 5)),
        ("400k x 46, all distinct, 400 queries", lists(400, 1000, 46, 0)),
    ):
        values = np.asarray(data.values).reshape(-1)
        floor = least(values.max, 20)
        line = f"{name:<46}{floor:>9.2f}"
        for threads, clock in ((1, time.process_time), (2, time.perf_counter)):
            problem = PairProblem(data, threads=threads)
            gradient = problem.evaluate(np.zeros(data.n_features))[1]
            problem.evaluate(-gradient / np.linalg.norm(gradient))
            v = np.random.default_rng(1).normal(size=data.n_features)
            taken = least(lambda problem=problem, v=v: problem.product(v), 60, clock)
            line += f"{taken:>9.2f} ({taken / floor:.2f} x)"
        print(line)


def training() -> None:
    """Whole training, CPU seconds of one thread."""
    print(
        "\nwhole training, C=1                              CPU s  iterations  products  residual  objective"
    )
    topics = rl.make_rcv1(781_265, topic=0)
    sets = {"300k x 136, 5 labels, 2,500 queries": lists(2500, 120, 136, 5)}
    sets |= {
        f"781k x 47k sparse, {share:.2%} relevant": topics.topic(number).data
        for number, share in ((60, topics.shares[60]), (30, topics.shares[30]), (0, topics.shares[0]))
    }
    for name, data in sets.items():
        ranker = rl.RankSVM(n_jobs=1)
        seconds = least(lambda data=data, ranker=ranker: ranker.fit(data), 2) / 1e3
        found = ranker.result_
        counts = f"{found.iterations:>12}{found.products:>10}"
        print(f"{name:<46}{seconds:>8.2f}{counts}   {found.residual:.1e}   {found.objective:.3g}")
    y = np.random.default_rng(0).integers(0, 3, 1_000_000)
    many = RankingData(np.zeros((1_000_000, 2)), y, np.repeat(np.arange(100_000), 10))
    print(f"grouping 100,000 queries: {least(lambda: PairProblem(many, threads=1), 3):.0f} ms")


def growth() -> None:
    """One query, all labels distinct."""
    print("\nrows, all distinct, one query    a product ms   ns / (row log2 row)   evaluating ms")
    for n in (10_000, 100_000, 1_000_000):
        data = lists(1, n, 10, 0)
        problem = PairProblem(data, threads=1)
        w = np.random.default_rng(0).normal(size=10)
        evaluating = least(lambda problem=problem, w=w: problem.evaluate(w), 3)
        taken = least(lambda problem=problem, w=w: problem.product(w))
        print(f"{n:>12,}{taken:>33.2f}{taken * 1e6 / (n * np.log2(n)):>22.2f}{evaluating:>16.1f}")


def memory() -> None:
    """Ten million rows of two labels in one query."""
    draw = np.random.default_rng(0)
    X = draw.standard_normal((10_000_000, 46), dtype=np.float32)
    data = RankingData(X, X[:, 0] + draw.normal(size=len(X)) > 0.5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    ranker = rl.RankSVM(normalize="pairs").fit(data)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = data.values.nbytes / 2**20
    print(
        f"\n1e7 rows, two labels, one query: data {size:,.0f} MB, peak before {before / 1024:,.0f} MB, peak "
        f"{peak / 1024:,.0f} MB = {peak / 1024 / size:.2f} x data; CPU {time.process_time() - begin:.1f} s, "
        f"{ranker.result_.products} products"
    )


def written_out(data: RankingData) -> np.ndarray:
    """x_i - x_j of all pairs of one query."""
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
    i, j = np.nonzero(y[:, None] > y[None])
    return X[i] - X[j]


def pairs() -> None:
    """Training on one query with all labels distinct, beside pairs written out, until they take 4 GB."""
    print("\nrows   pairs       ours s   LinearSVC on pairs s   FastSurvivalSVM s")
    for n in (100, 300, 1000, 3000, 10_000):
        data = lists(1, n, 10, 0)
        n_pairs = n * (n - 1) // 2
        C = 1.0 / n_pairs
        ours = least(lambda data=data, C=C: rl.RankSVM(C, n_jobs=1).fit(data), 3) / 1e3
        line = f"{n:<7,}{n_pairs:<12,}{ours:<9.3f}"
        if n_pairs * 10 * 8 * 3 < 4e9:
            begin = time.process_time()
            D = written_out(data)
            signs = np.where(np.arange(len(D)) % 2, 1.0, -1.0)
            LinearSVC(C=C, dual=False, fit_intercept=False, tol=1e-3).fit(D * signs[:, None], signs)
            line += f"{time.process_time() - begin:<23.3f}"
        else:
            line += f"{n_pairs * 240 / 1e9:<.0f} GB{'':<18}"
        print(line + survival(data, C))


def survival(data: RankingData, C: float) -> str:
    """scikit-survival's time, where it is installed."""
    try:
        from sksurv.svm import FastSurvivalSVM
    except ImportError:
        return "not installed"
    y = np.array([(True, time + 1.0) for time in data.y], dtype=[("event", bool), ("time", float)])
    X = np.asarray(data.X, dtype=np.float64)
    begin = time.process_time()
    FastSurvivalSVM(alpha=2.0 * C, rank_ratio=1.0).fit(X, y)
    return f"{time.process_time() - begin:.3f}"


PARTS = {"products": products, "training": training, "growth": growth, "memory": memory, "pairs": pairs}


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    for part in parser.parse_args().parts or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
