"""Nets on MQ2008, five folds: `python benchmarks/mq2008_nets.py FOLDER [--seeds 3]`.

Each method has its hidden layers and rate chosen, and its epochs stopped, by NDCG@10 on each fold's
validation part; scores are the mean over the seeds' models (each over its spread), figures are over the
queries of all five test parts, and p is of a paired randomisation test against linear LambdaRank. `s` is of
the longest training.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

import rankloom as rl

MEASURES = ("ndcg@10", "map", "err@10")
GRID: dict[str, list[tuple[Any, dict[str, Any]]]] = {
    "LambdaRank, linear": [(rl.LambdaRank, {"rate": rate}) for rate in (0.003, 0.01, 0.03)],
    "RankNet, linear": [(rl.RankNet, {"hidden": (), "rate": rate}) for rate in (0.003, 0.01, 0.03)],
    "LambdaRank, net": [
        (rl.LambdaRank, {"hidden": hidden, "rate": rate, "lam": lam})
        for hidden in ((16,), (64, 32))
        for rate in (0.001, 0.003)
        for lam in (0.0, 1e-3)
    ],
    "RankNet, net": [
        (rl.RankNet, {"hidden": hidden, "rate": rate, "lam": lam})
        for hidden in ((16,), (64, 32))
        for rate in (0.001, 0.003)
        for lam in (0.0, 1e-3)
    ],
}


def run(folds: Any, grid: list[tuple[Any, dict[str, Any]]], seeds: int) -> tuple[Any, float]:
    """Values of all test queries by measure, and the longest training."""
    values: dict[str, list[Any]] = {name: [] for name in MEASURES}
    longest = 0.0
    for fold in folds:
        found = []
        for cls, options in grid:
            total, reached = 0.0, []
            for seed in range(seeds):
                begin = time.perf_counter()
                ranker = cls(seed=seed, patience=10, **options).fit(fold.train, valid=fold.vali)
                longest = max(longest, time.perf_counter() - begin)
                total += float(ranker.curve_.max())
                scores = ranker.decision_function(fold.test)
                reached.append(scores / scores.std())
            found.append((total, len(found), np.mean(reached, axis=0)))
        measured = rl.evaluate(max(found)[2], fold.test, measures=MEASURES)
        for name in MEASURES:
            values[name].append(measured.per_query(name))
    return {name: np.concatenate(parts) for name, parts in values.items()}, longest


def p_value(values: Any, base: Any) -> str:
    """Of the paired randomisation test."""
    differences = values - base
    if not differences.any():
        return "-"
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(10_000, len(differences)))
    return f"{np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12):.2f}"


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    folds = list(rl.read_folds(given.folder))
    base: Any = None
    print("| method | NDCG@10 | p | MAP | p | ERR@10 | p | s |\n|" + " --- |" * 8)
    for name, grid in GRID.items():
        found, seconds = run(folds, grid, given.seeds)
        base = base or found
        cells = [f"{found[m].mean():.4f} | {p_value(found[m], base[m])}" for m in MEASURES]
        print(f"| {name} | {' | '.join(cells)} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
