"""CRR on MQ2008, five folds: `python benchmarks/mq2008_crr.py FOLDER [--steps 1000000]`.

The protocol of Sculley 2010 (Section 4.3): squared loss, alpha 0.5, lam by a coarse grid on each fold's
validation part, means over the five test parts. Regression is chosen by its MSE, all others by their MAP.

    exact       the optimum of the objective, by solving its normal equations: what converging would give
    as printed  Algorithm 1: Pegasos' rate, the last weights, a bias that is a feature like others
    CRR         as it is here: bounded steps, averaged, calibrated

MAP and NDCG are LETOR 4.0's (NDCG its mean over all cutoffs). MSE is on the graded labels; "binary" on labels
y >= 1, after one more fit of scale and offset to those, as the paper's figures seem to be.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import rankloom as rl
from rankloom.rankers.calibration import least_squares

MEASURES = ("map/letor4", "mean-ndcg/letor4")
LAMS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
Fit = Callable[[rl.RankingData, float], rl.LinearModel]


class Row(NamedTuple):
    """What a method reached on one fold."""

    map: float
    ndcg: float
    mse: float
    binary: float
    seconds: float


def squared_error(model: rl.LinearModel, data: rl.RankingData) -> float:
    return float(np.mean((data.y - model.decision_function(data)) ** 2))


def binary_error(model: rl.LinearModel, train: rl.RankingData, test: rl.RankingData) -> float:
    a, b = least_squares(model.decision_function(train), (train.y >= 1).astype(float), None)
    return float(np.mean(((test.y >= 1) - (a * model.decision_function(test) + b)) ** 2))


def one_fold(fold: Any, fit: Fit, by_error: bool) -> Row:
    """Choose lam on the validation part, report on the test part. Seconds are of one training."""
    chosen: list[tuple[float, rl.LinearModel]] = []
    seconds = []
    for lam in LAMS:
        begin = time.process_time()
        try:
            model = fit(fold.train, lam)
        except rl.InputError:
            continue  # diverged
        seconds.append(time.process_time() - begin)
        found = rl.evaluate(model.decision_function(fold.vali), fold.vali, measures=MEASURES)
        chosen.append((-squared_error(model, fold.vali) if by_error else found[MEASURES[0]], model))
    if not chosen:
        return Row(*[np.nan] * 5)
    model = max(chosen, key=lambda pair: pair[0])[1]
    found = rl.evaluate(model.decision_function(fold.test), fold.test, measures=MEASURES)
    errors = squared_error(model, fold.test), binary_error(model, fold.train, fold.test)
    return Row(found[MEASURES[0]], found[MEASURES[1]], *errors, min(seconds))


class Normal(NamedTuple):
    """Second moments of rows (with a column of ones) and of pairs of P."""

    rows: NDArray[np.float64]
    rows_y: NDArray[np.float64]
    pairs: NDArray[np.float64]
    pairs_y: NDArray[np.float64]


def normal_of(data: rl.RankingData, known: dict[int, Normal] = {}) -> Normal:  # noqa: B006
    """Kept for the next call."""
    if id(data) in known:
        return known[id(data)]
    X, y = np.c_[data.X, np.ones(data.n_rows)].astype(float), data.y
    n, count = X.shape[1], 0
    pairs, pairs_y = np.zeros((n, n)), np.zeros(n)
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        d = y[start:stop, None] - y[None, start:stop]
        differ = (d != 0).astype(float)
        count += differ.sum()
        pairs += 2.0 * X[start:stop].T @ (np.diag(differ.sum(axis=1)) - differ) @ X[start:stop]
        pairs_y += 2.0 * X[start:stop].T @ (d * differ).sum(axis=1)
    known[id(data)] = Normal(X.T @ X / len(X), X.T @ y / len(X), pairs / count, pairs_y / count)
    return known[id(data)]


def exact(alpha: float, calibrated: bool) -> Fit:
    def fit(data: rl.RankingData, lam: float) -> rl.LinearModel:
        moments = normal_of(data)
        n = data.n_features
        penalty = lam * np.eye(n + 1)
        penalty[n, n] = 1e-12
        left = alpha * moments.rows + (1 - alpha) * moments.pairs + penalty
        w = np.linalg.solve(left, alpha * moments.rows_y + (1 - alpha) * moments.pairs_y)
        model = rl.LinearModel(w[:n], w[n])
        if not calibrated:
            return model
        a, b = least_squares(model.decision_function(data), data.y, None)
        return rl.LinearModel(a * w[:n], a * w[n] + b)

    return fit


def as_printed(alpha: float, steps: int) -> Fit:
    """A column of ones in place of the bias, Pegasos' rate, nothing averaged or fitted afterwards."""

    def fit(data: rl.RankingData, lam: float) -> rl.LinearModel:
        wide = rl.RankingData(np.c_[data.X, np.ones(data.n_rows)], data.y, np.repeat(data.qids, data.lengths))
        options = {"rate": "pegasos", "average": False, "calibrate": False, "bias": False}
        w = rl.CRR(alpha, lam=lam, steps=steps, **options).fit(wide).model_.weights
        return rl.LinearModel(w[:-1], w[-1])

    return fit


def ours(alpha: float, steps: int, **options: Any) -> Fit:
    def fit(data: rl.RankingData, lam: float) -> rl.LinearModel:
        model = rl.CRR(alpha, lam=lam, steps=steps, **options).fit(data).model_
        return _Values(model) if model.link == "logistic" else model

    return fit


class _Values:
    """A model whose scores are its values, for the errors; the ranking is the same."""

    def __init__(self, model: rl.LinearModel) -> None:
        self.decision_function = model.predict


def methods(steps: int) -> dict[str, tuple[Fit, bool]]:
    raw = {"calibrate": False}
    return {
        "regression, exact": (exact(1.0, False), True),
        "ranking, exact": (exact(0.0, False), False),
        "ranking, exact, calibrated": (exact(0.0, True), False),
        "CRR, exact": (exact(0.5, False), False),
        "CRR, exact, calibrated": (exact(0.5, True), False),
        "regression as printed": (as_printed(1.0, steps), True),
        "ranking as printed": (as_printed(0.0, steps), False),
        "CRR as printed": (as_printed(0.5, steps), False),
        "rl.CRR(alpha=1)": (ours(1.0, steps), True),
        "rl.CRR(alpha=0)": (ours(0.0, steps), False),
        "rl.CRR(calibrate=False)": (ours(0.5, steps, **raw), False),
        "rl.CRR()": (ours(0.5, steps), False),
        "rl.CRR(loss='logistic', alpha=1)": (ours(1.0, steps, loss="logistic"), True),
        "rl.CRR(loss='logistic', calibrate=False)": (ours(0.5, steps, loss="logistic", **raw), False),
        "rl.CRR(loss='logistic')": (ours(0.5, steps, loss="logistic"), False),
    }


def main() -> None:
    warnings.simplefilter("ignore", rl.RankloomWarning)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=1_000_000)
    given = parser.parse_args()
    folds = rl.read_folds(given.folder)
    rl.CRR(steps=10).fit(folds[0].train)  # compiles, or loads from disk
    print("| method | MAP | NDCG | MSE | MSE, binary | CPU s |\n| --- | --- | --- | --- | --- | --- |")
    for name, (fit, by_error) in methods(given.steps).items():
        found = np.mean([one_fold(fold, fit, by_error) for fold in folds], axis=0)
        print(f"| {name} | " + " | ".join(f"{value:.4f}" for value in found[:4]) + f" | {found[4]:.2f} |")


if __name__ == "__main__":
    main()
