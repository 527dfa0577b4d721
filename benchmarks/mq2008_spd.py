"""SPD on MQ2008 beside RankSVM, five folds: `python benchmarks/mq2008_spd.py FOLDER [--steps 1000000]`.

RankSVM is scikit-learn's LinearSVC (hinge loss, no intercept) on all pairs written out. Every method has its
lam (its C) chosen by MAP on each fold's validation part; figures are over the queries of all five test parts,
and p is of a paired randomisation test of its MAP (its NDCG) against RankSVM's. MAP and NDCG are LETOR 4.0's.
CPU seconds are of one training, the least over folds and parameters; RankSVM's without writing out the pairs.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

import rankloom as rl

MAP, NDCG = "map/letor4", "mean-ndcg/letor4"
LAMS = (1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
CAPS = (1e-4, 3e-4, 1e-3, 1e-2, 1e-1)
Learn = Callable[[rl.RankingData, float], NDArray[np.float64]]


class Result(NamedTuple):
    """Values of all test queries, and seconds of one training."""

    map: NDArray[np.float64]
    ndcg: NDArray[np.float64]
    seconds: float


def pairs_of(data: rl.RankingData) -> NDArray[np.float64]:
    """a - b for every pair of P."""
    X = data.X.astype(float)
    differences = []
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        y = data.y[start:stop]
        a, b = np.nonzero(y[:, None] > y[None])
        differences.append(X[start:stop][a] - X[start:stop][b])
    return np.concatenate(differences)


def rank_svm(pairs: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
    signs = np.where(np.arange(len(pairs)) % 2, -1.0, 1.0)
    options = {"fit_intercept": False, "max_iter": 20_000, "random_state": 0}
    svm = LinearSVC(loss="hinge", C=1.0 / (lam * len(pairs)), **options)
    return svm.fit(pairs * signs[:, None], signs).coef_[0]


def spd(steps: int, **options: Any) -> Learn:
    def learn(data: rl.RankingData, parameter: float) -> NDArray[np.float64]:
        name = "C" if options.get("learner") == "passive-aggressive" else "lam"
        return rl.SPD(steps=steps, **{name: parameter}, **options).fit(data).model_.weights

    return learn


def run(folds: Any, learn: Learn, grid: tuple[float, ...], prepare: Any = lambda data: data) -> Result:
    """Choose by validation, report on test, over all folds."""
    values: dict[str, list[NDArray[np.float64]]] = {MAP: [], NDCG: []}
    seconds = []
    for fold in folds:
        ready, found = prepare(fold.train), []
        for parameter in grid:
            begin = time.process_time()
            w = learn(ready, parameter)
            seconds.append(time.process_time() - begin)
            found.append((rl.evaluate(fold.vali.X @ w, fold.vali, measures=MAP)[MAP], len(found), w))
        reached = rl.evaluate(fold.test.X @ max(found)[2], fold.test, measures=(MAP, NDCG))
        for name, parts in values.items():
            parts.append(reached.per_query(name))
    return Result(np.concatenate(values[MAP]), np.concatenate(values[NDCG]), min(seconds))


def p_value(values: NDArray[np.float64], base: NDArray[np.float64]) -> str:
    """Of the paired randomisation test; queries without a relevant row are 0 for both."""
    if np.array_equal(values, base):
        return "-"
    differences = values - base
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(10_000, len(differences)))
    return f"{np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12):.2f}"


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=1_000_000)
    given = parser.parse_args()
    folds = list(rl.read_folds(given.folder))
    base = run(folds, rank_svm, LAMS, pairs_of)
    methods: dict[str, tuple[Learn, tuple[float, ...]]] = {
        name: (spd(given.steps, learner=name), CAPS if name == "passive-aggressive" else LAMS)
        for name in ("pegasos", "sgd", "passive-aggressive", "combined")
    }
    methods["pegasos, the paper's rate"] = spd(given.steps, rate="pegasos"), LAMS
    methods["romma"] = spd(given.steps, learner="romma"), (1.0,)
    methods["perceptron, margin 1"] = spd(given.steps, learner="perceptron"), (1.0,)
    methods["perceptron, margin 1, averaged"] = spd(given.steps, learner="perceptron", average=True), (1.0,)
    methods["pegasos, averaged"] = spd(given.steps, average=True), LAMS
    methods["pegasos, balanced"] = spd(given.steps, sampler="balanced"), LAMS
    methods["sgd, logistic"] = spd(given.steps, learner="sgd", loss="logistic"), LAMS
    methods["sgd, squared"] = spd(given.steps, learner="sgd", loss="squared"), LAMS
    print("| method | MAP | p | NDCG | p | CPU s |\n| --- | --- | --- | --- | --- | --- |")
    for name, result in {
        "RankSVM (LinearSVC)": base,
        **{name: run(folds, learn, grid) for name, (learn, grid) in methods.items()},
    }.items():
        p_map, p_ndcg = p_value(result.map, base.map), p_value(result.ndcg, base.ndcg)
        print(
            f"| {name} | {result.map.mean():.4f} | {p_map} | {result.ndcg.mean():.4f} | {p_ndcg} | "
            f"{result.seconds:.3f} |"
        )


if __name__ == "__main__":
    main()
