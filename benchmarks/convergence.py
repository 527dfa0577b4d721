"""How fast each learner nears the RankSVM objective: `python benchmarks/convergence.py [FOLDER]`.

The figure of Sculley 2009 (Section 6): the objective

    lam/2 |w|^2 + mean over pairs of max(0, 1 - <w, a - b>)

on training and on test queries, after 1e2, 1e3, ... steps. FOLDER has train.txt and test.txt (such as
MQ2008/Fold1); without it, a generated set of the same shape. The optimum is that of a convex solver: L-BFGS
on the hinge rounded off, less and less. `--figure FILE` draws it (needs matplotlib).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rankloom as rl

METHODS: dict[str, dict[str, Any]] = {
    "SGD-SVM": {"learner": "sgd"},
    "Pegasos": {"learner": "pegasos"},
    "Passive-Aggressive": {"learner": "passive-aggressive"},
    "ROMMA": {"learner": "romma"},
    "combined": {"learner": "combined", "early": 1000},
}


class Objective:
    """The objective of any weights on one data set, over all its pairs, written out once."""

    def __init__(self, data: rl.RankingData, lam: float) -> None:
        self.X, self.lam = np.asarray(data.X, dtype=np.float64), lam
        self.better, self.worse = _pairs(data)

    def __call__(self, weights: NDArray[np.float64]) -> float:
        scores = self.X @ weights
        hinge = np.maximum(0.0, 1.0 - (scores[self.better] - scores[self.worse])).mean()
        return float(self.lam / 2 * weights @ weights + hinge)

    def smooth(self, weights: NDArray[np.float64], width: float) -> tuple[float, NDArray[np.float64]]:
        """The objective with the hinge rounded over `width`, and its gradient."""
        scores = self.X @ weights
        short = 1.0 - (scores[self.better] - scores[self.worse])
        inside = np.clip(short / width, 0.0, 1.0)
        loss = np.where(short >= width, short - width / 2, inside * inside * width / 2)
        up, down = (np.bincount(rows, inside, len(scores)) for rows in (self.better, self.worse))
        gradient = self.lam * weights - self.X.T @ (up - down) / len(short)
        return float(self.lam / 2 * weights @ weights + loss.mean()), gradient

    def optimum(self) -> float:
        """The least value, by L-BFGS over narrower and narrower roundings."""
        from scipy.optimize import minimize

        weights = np.zeros(self.X.shape[1])
        for width in (1.0, 0.1, 0.01, 0.001, 0.0001):
            found = minimize(
                self.smooth, weights, args=(width,), jac=True, method="L-BFGS-B", options={"maxiter": 2000}
            )
            weights = found.x
        return self(weights)


def _pairs(data: rl.RankingData) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    better, worse = [], []
    for first, last in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        y = data.y[first:last]
        a, b = np.nonzero(y[:, None] > y[None, :])
        better.append(a + first)
        worse.append(b + first)
    return np.concatenate(better), np.concatenate(worse)


def sets(folder: Path | None) -> tuple[rl.RankingData, rl.RankingData]:
    """Training and test data."""
    if folder is None:
        return tuple(rl.split(rl.make_letor(784, seed=1).data, [0.75, 0.25], seed=1))
    return rl.read(next(folder.glob("train*"))), rl.read(next(folder.glob("test*")))


def curve(
    method: dict[str, Any], train: Objective, test: Objective, data: rl.RankingData, most: int, lam: float
) -> Any:
    """(steps, training objective, test objective, CPU seconds) as the learner goes on."""
    points: list[tuple[int, float, float]] = []
    stops = [10**power for power in range(2, 10) if 10**power <= most]
    settings = dict(method)
    if settings["learner"] == "combined":
        settings["early"] = settings["early"] / most
    ranker = rl.SPD(
        steps=most,
        lam=lam,
        callback=lambda step, model: points.append((step, train(model.weights), test(model.weights))),
        callback_at=stops,
        seed=1,
        **settings,
    )
    start = time.process_time()
    try:
        ranker.fit(data)
    except rl.InputError as error:
        print(f"  {error}")
    return points, time.process_time() - start


def draw(curves: dict[str, Any], best: float, target: Path) -> None:
    """Both panels of the figure."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for panel, place, title in zip(panels, (1, 2), ("training queries", "test queries"), strict=True):
        for (name, points), marker in zip(curves.items(), "osv^D", strict=True):
            panel.plot(
                [p[0] for p in points], [p[place] for p in points], marker=marker, markersize=4, label=name
            )
        panel.set(xscale="log", yscale="log", xlabel="steps", title=title, ylim=(0.8 * best, 40 * best))
        panel.grid(alpha=0.3)
    panels[0].axhline(best, color="black", linewidth=0.8, linestyle=":", label="optimum")
    panels[0].set_ylabel("objective")
    panels[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(target, dpi=110)


def main() -> None:
    """Print the table, and draw the figure if asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--steps", type=int, default=10**7)
    parser.add_argument("--lam", type=float, default=1e-3)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    data, held_out = sets(options.folder)
    train, test = Objective(data, options.lam), Objective(held_out, options.lam)
    best = train.optimum()
    print(
        f"{data!r}\n{len(train.better):,} pairs; lam {options.lam:g}; "
        f"the optimum is {best:.5f} on training queries\n"
    )
    curves = {}
    for name, method in METHODS.items():
        curves[name], seconds = curve(method, train, test, data, options.steps, options.lam)
        print(f"{name} ({seconds:.1f} s of CPU time)")
        for step, on_train, on_test in curves[name]:
            print(
                f"  {step:>12,} steps  training {on_train:10.6g} ({on_train / best:7.4g} x)"
                f"  test {on_test:10.6g}"
            )
    if options.figure:
        draw(curves, best, options.figure)


if __name__ == "__main__":
    main()
