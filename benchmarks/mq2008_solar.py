"""SOLAR beside batch learners on MQ2008, Table 3 of Wang et al.: `python benchmarks/mq2008_solar.py FOLDER`.

Five folds, C (gamma) chosen by MAP on each validation part. Beside each, what the paper prints. Table 2 and
the figures are `rankloom experiment online`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import rankloom as rl

CUTS = (1, 5, 10)
# The second is LETOR's, but for its rule that a query with fewer than k documents counts 0.
CONVENTIONS = {"burges": "burges", "letor, short lists too": "letor4:short=truncate", "letor4": "letor4"}
PAPER_3 = {
    "SOLAR-I": (0.3677, 0.4634, 0.5086),
    "SOLAR-II": (0.3720, 0.4771, 0.5171),
    "RankSVM": (0.3626, 0.4695, 0.2279),
}


def measures() -> list[str]:
    return [f"ndcg@{cut}/{convention}" for convention in CONVENTIONS.values() for cut in CUTS]


def row(name: str, cells: Sequence[Any], paper: tuple[float, ...] | None, more: Sequence[str] = ()) -> str:
    found = [f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in cells]
    told = [f"{one:.4f}" for one in paper] if paper else ["-"] * len(CUTS)
    return "| " + " | ".join([name, *told, *found, *more]) + " |"


def heads(last: Sequence[str]) -> str:
    names = ["method", *(f"paper @{cut}" for cut in CUTS)]
    names += [f"{convention} @{cut}" for convention in CONVENTIONS for cut in CUTS]
    names += last
    return "| " + " | ".join(names) + " |\n" + "| --- " * len(names) + "|"


def batch() -> dict[str, list[Any]]:
    """Learners of Table 3, each with what is chosen from."""
    grid_c, grid_gamma = 10.0 ** -np.arange(3.5, 6.6, 0.5), 10.0 ** np.arange(3.0, 6.1, 0.5)
    return {
        "SOLAR-I": [rl.SOLAR(order=1, C=float(C)) for C in grid_c],
        "SOLAR-II": [rl.SOLAR(gamma=float(gamma)) for gamma in grid_gamma],
        "SPD": [rl.SPD(lam=10.0**-k) for k in range(1, 6)],
        "RankSVM": [rl.RankSVM(C=10.0**k) for k in range(-5, 2)],
        "LambdaMART": [
            rl.LambdaMART(n_trees=trees, leaves=8, learning_rate=0.05) for trees in (25, 50, 100, 200)
        ],
    }


def table_3(folds: Any) -> None:
    print("\nTable 3, NDCG on the test parts of five folds\n\n" + heads(["map", "CPU s"]))
    for name, learners in batch().items():
        found, seconds = [], 0.0
        for fold in folds:
            begin = time.process_time()
            fitted = [learner.fit(fold.train) for learner in learners]
            seconds += time.process_time() - begin
            on_valid = [
                rl.evaluate(one.decision_function(fold.vali), fold.vali, measures="map")["map"]
                for one in fitted
            ]
            best = fitted[int(np.argmax(on_valid))]
            result = rl.evaluate(best.decision_function(fold.test), fold.test, measures=[*measures(), "map"])
            found.append([result[measure] for measure in [*measures(), "map"]])
        means = np.mean(found, axis=0).tolist()
        print(row(name, means, PAPER_3.get(name), [f"{seconds:.2f}"]), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    table_3(rl.read_folds(parser.parse_args().folder))


if __name__ == "__main__":
    main()
