"""CRR on rare events: `python benchmarks/rare_events.py [--rows 100000] [--steps 1000000]`.

The shape of Table 1 of Sculley 2010: a generated RCV1-like corpus, topics from 0.05 % to 50 % positive,
logistic loss, a million steps. Regression only (alpha 1), ranking only (alpha 0) and CRR (alpha 0.5), each
with the lam that a fifth of the rows chooses by its own measure: MSE, AUC loss, and for CRR the sum of the
two relative to the best of each. Losses are on another fifth. Half of CRR's steps are on rows, half on
pairs: with twice the steps it sees as many of each as the others do. "Calibrated" fits scale and offset to
the training labels, which CRR with logistic loss does not do unless told. Ranking only keeps the bias it
begins with, that of the mean label.

Below the table: Wilcoxon's signed rank tests over the topics, as in the paper, and on how many topics both
goals are reached, to the paper's three decimals.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import wilcoxon

import rankloom as rl

SHARES = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
LAMS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
METHODS: dict[str, dict[str, Any]] = {
    "regression": {"alpha": 1.0},
    "ranking": {"alpha": 0.0},
    "CRR": {"alpha": 0.5},
    "CRR, twice the steps": {"alpha": 0.5},
    "CRR, calibrated": {"alpha": 0.5, "calibrate": True},
}
TWICE = "CRR, twice the steps"


class Losses(NamedTuple):
    """What a model loses on some rows."""

    auc: float
    mse: float


def losses_of(model: rl.LinearModel, data: rl.RankingData) -> Losses:
    scores = model.decision_function(data)
    mse = float(np.mean((model.values_of(scores) - data.y) ** 2))
    return Losses(float(rl.evaluate(scores, data, measures="auc-loss")["auc-loss"]), mse)


def part(data: rl.RankingData, start: int, stop: int) -> rl.RankingData:
    return rl.RankingData(data.X[start:stop], data.y[start:stop])


def chosen(found: list[Losses], name: str) -> int:
    """Which lam, by the losses on validation rows."""
    auc, mse = np.array(found).T
    if name == "regression":
        return int(mse.argmin())
    if name == "ranking":
        return int(auc.argmin())
    return int((auc / max(auc.min(), 1e-9) + mse / mse.min()).argmin())


def topic(data: rl.RankingData, steps: int) -> dict[str, Losses]:
    """Train on the first three fifths, choose on the next, test on the last."""
    edges = [0, data.n_rows * 3 // 5, data.n_rows * 4 // 5, data.n_rows]
    train, vali, test = (part(data, a, b) for a, b in pairwise(edges))
    result = {}
    for name, options in METHODS.items():
        own = 2 * steps if name == TWICE else steps
        models = [rl.CRR(loss="logistic", lam=lam, steps=own, **options).fit(train).model_ for lam in LAMS]
        best = chosen([losses_of(model, vali) for model in models], name)
        result[name] = losses_of(models[best], test)
    return result


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--steps", type=int, default=1_000_000)
    given = parser.parse_args()
    print("| positive | " + " | ".join(f"{name}: AUC loss, MSE" for name in METHODS) + " |")
    print("| --- " * (len(METHODS) + 1) + "|")
    rows = []
    made = rl.make_rcv1(given.rows, shares=SHARES)
    for number, share in enumerate(SHARES):
        data = made.topic(number).data
        found = topic(data, given.steps)
        rows.append(found)
        cells = " | ".join(f"{loss.auc:.5f}, {loss.mse:.6f}" for loss in found.values())
        print(f"| {share:.2%} | {cells} |", flush=True)
    for method in ("CRR", TWICE):
        print(f"\n{method}:")
        conclude(method, rows)


def conclude(method: str, rows: list[dict[str, Losses]]) -> None:
    """Beside ranking and regression: each loss by itself, and both together."""
    reached = []
    for field, name, base in ((0, "AUC loss", "ranking"), (1, "MSE", "regression")):
        ours, theirs = (np.array([row[one][field] for row in rows]) for one in (method, base))
        p = wilcoxon(ours, theirs).pvalue
        reached.append(ours.round(3) <= theirs.round(3))
        print(
            f"- {name}: better than {base} on {(ours < theirs).sum()} of {len(rows)}, Wilcoxon p = {p:.4f};"
        )
        print(f"  as good, rounded, on {reached[-1].sum()}; means {ours.mean():.5f} and {theirs.mean():.5f}")
    print(f"- both, to three decimals: on {(reached[0] & reached[1]).sum()} of {len(rows)}")


if __name__ == "__main__":
    main()
