"""CRR on rare events: `python benchmarks/rare_topics.py [--rows 100000] [--topics 20]`.

The shape of Table 1 of Sculley 2010: topics from one row in two to one in two thousand, sparse rows, one
list. Regression only (alpha 1), ranking only (alpha 0) and CRR, with logistic loss. Chosen on validation
rows: lam for regression by MSE, lam for ranking by AUC loss, lam and alpha for CRR by the sum of both, each
over the best of its kind. Ranking only gives no values of its own: its MSE is that of sigma(score), as in
the paper.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

import rankloom as rl

LAMS = (1e-4, 1e-5, 1e-6)
METHODS = {
    "regression": [{"alpha": 1.0, "calibrate": False}],
    "ranking": [{"alpha": 0.0, "calibrate": False}],
    "CRR": [{"alpha": alpha, "calibrate": True} for alpha in (0.5, 0.8, 0.9)],
}


def figures(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """AUC loss and mean squared error."""
    scores, values = model.decision_function(X), model.predict(X)
    return rl.evaluate(scores, y, measures="auc-loss")["auc-loss"], float(np.mean((values - y) ** 2))


def fitted(settings: list[dict[str, Any]], parts: Any, steps: int) -> list[tuple[Any, Any]]:
    """(validation, test) figures for each setting and lam."""
    (X, y), valid, test = parts
    found = []
    for setting, lam in product(settings, LAMS):
        model = rl.CRR(loss="logistic", steps=steps, lam=lam, seed=1, **setting).fit(X, y).model_
        found.append((figures(model, *valid), figures(model, *test)))
    return found


def chosen(name: str, found: list[tuple[Any, Any]], least: tuple[float, float]) -> tuple[float, float]:
    """The test figures of what is best on validation rows."""
    costs = {
        "regression": [valid[1] for valid, _ in found],
        "ranking": [valid[0] for valid, _ in found],
        "CRR": [valid[0] / least[0] + valid[1] / least[1] for valid, _ in found],
    }[name]
    return found[int(np.argmin(costs))][1]


def topic_figures(made: Any, number: int, steps: int) -> tuple[float, dict[str, tuple[float, float]]]:
    """The share of positives, and (AUC loss, MSE) of each method on test rows."""
    data = made.topic(number).data
    edges = [0, int(0.6 * data.n_rows), int(0.8 * data.n_rows), data.n_rows]
    parts = [(data.X[a:b], data.y[a:b]) for a, b in pairwise(edges)]
    found = {name: fitted(settings, parts, steps) for name, settings in METHODS.items()}
    tiny = 1e-6
    least = (
        max(tiny, min(valid[0] for valid, _ in found["ranking"])),
        max(tiny, min(valid[1] for valid, _ in found["regression"])),
    )
    return float(data.y.mean()), {name: chosen(name, found[name], least) for name in METHODS}


def main() -> None:
    """Print the table and what it says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--steps", type=int, default=1_000_000)
    options = parser.parse_args()
    made = rl.make_rcv1(options.rows, shares=np.geomspace(0.5, 0.0005, options.topics).tolist(), seed=1)
    print("            AUC loss                        MSE")
    print("positive    regression  ranking  CRR        regression  ranking  CRR")
    start, rows = time.process_time(), []
    for number in reversed(range(options.topics)):
        share, found = topic_figures(made, number, options.steps)
        auc, mse = ([found[name][which] for name in METHODS] for which in (0, 1))
        rows.append((auc, mse))
        print(
            f"{share:8.3%}    {auc[0]:10.4f}{auc[1]:9.4f}{auc[2]:8.4f}"
            f"   {mse[0]:11.5f}{mse[1]:9.4f}{mse[2]:9.5f}",
            flush=True,
        )
    table = np.array(rows)
    for which, name, rival in ((0, "AUC loss", 1), (1, "MSE", 0)):
        ours, theirs = table[:, which, 2], table[:, which, rival]
        near, less = int((ours <= 1.02 * theirs).sum()), int((ours < theirs).sum())
        print(
            f"\nCRR's {name} is at most 1.02 times that of {list(METHODS)[rival]} only on {near} of "
            f"{len(rows)} topics, less on {less}; Wilcoxon p = {wilcoxon(ours, theirs).pvalue:.3g}; "
            f"geometric mean of the ratios {np.exp(np.mean(np.log(ours / theirs))):.3f}"
        )
    both = (table[:, 0, 2] <= 1.02 * table[:, 0, 1]) & (table[:, 1, 2] <= 1.02 * table[:, 1, 0])
    seconds = time.process_time() - start
    print(f"\nBoth at once on {int(both.sum())} of {len(rows)}. {seconds:.0f} s of CPU time.")


if __name__ == "__main__":
    main()
