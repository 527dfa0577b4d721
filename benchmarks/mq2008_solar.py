"""SOLAR on MQ2008 as Wang et al. have it: `python benchmarks/mq2008_solar.py FOLDER [--svg FILE]`.

Table 2: one pass over all 784 queries in 10 random orders, each ranked before it is learned; C = 1e-5,
gamma = 1e4, 20 experts. Figure 2: MAP so far, over the queries. Table 3: five folds, C (gamma) chosen
by MAP on each validation part. Beside each, what the paper prints.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import rankloom as rl

CUTS = (1, 5, 10)
# The second is LETOR's, but for its rule that a query with fewer than k documents counts 0.
CONVENTIONS = {"burges": "burges", "letor, short lists too": "letor4:short=truncate", "letor4": "letor4"}
ORDERS = 10
LEARNERS: dict[str, Callable[[int], Any]] = {
    "PRank, rows": lambda seed: rl.PRank("rows", seed=seed),
    "PRank, pairs": lambda seed: rl.PRank("pairs", seed=seed),
    "committee": lambda seed: rl.CommitteePerceptron(20, seed=seed),
    "SOLAR-I": lambda seed: rl.SOLAR(order=1, C=1e-5, seed=seed),
    "SOLAR-II": lambda seed: rl.SOLAR(order=2, gamma=1e4, seed=seed),
    "SOLAR-II diagonal": lambda seed: rl.SOLAR(gamma=1e4, covariance="diagonal", seed=seed),
    "SOLAR-II low-rank": lambda seed: rl.SOLAR(gamma=1e4, covariance="low-rank", seed=seed),
}
PAPER_2 = {
    "PRank, rows": (0.2369, 0.3352, 0.4036),
    "PRank, pairs": (0.2834, 0.3823, 0.4403),
    "committee": (0.3378, 0.4415, 0.4885),
    "SOLAR-I": (0.3490, 0.4584, 0.5022),
    "SOLAR-II": (0.3594, 0.4680, 0.5107),
}
PAPER_3 = {
    "SOLAR-I": (0.3677, 0.4634, 0.5086),
    "SOLAR-II": (0.3720, 0.4771, 0.5171),
    "RankSVM": (0.3626, 0.4695, 0.2279),
}
COLOURS = ("#7f8c8d", "#e67e22", "#2e8b57", "#1f4e79", "#c0392b")


def measures() -> list[str]:
    return [f"ndcg@{cut}/{convention}" for convention in CONVENTIONS.values() for cut in CUTS]


def whole(folds: Any) -> rl.RankingData:
    """All queries: the five test parts."""
    parts = [fold.test for fold in folds]
    qid = np.concatenate([np.repeat(part.qids, part.lengths) for part in parts])
    X, y = np.concatenate([part.X for part in parts]), np.concatenate([part.y for part in parts])
    return rl.RankingData(X, y, qid)


def row(name: str, cells: Sequence[Any], paper: tuple[float, ...] | None, more: Sequence[str] = ()) -> str:
    found = [f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in cells]
    told = [f"{one:.4f}" for one in paper] if paper else ["-"] * len(CUTS)
    return "| " + " | ".join([name, *told, *found, *more]) + " |"


def heads(last: Sequence[str]) -> str:
    names = ["method", *(f"paper @{cut}" for cut in CUTS)]
    names += [f"{convention} @{cut}" for convention in CONVENTIONS for cut in CUTS]
    names += last
    return "| " + " | ".join(names) + " |\n" + "| --- " * len(names) + "|"


def table_2(data: rl.RankingData) -> dict[str, np.ndarray]:
    """Prints the table; the mean curve of MAP by learner."""
    print("\nTable 2, NDCG over the stream\n\n" + heads(["map", "CPU s"]))
    curves = {}
    for name, make in LEARNERS.items():
        found, curve, seconds = [], [], 0.0
        for seed in range(ORDERS):
            shuffled = data.take(np.random.default_rng(seed).permutation(data.n_queries))
            begin = time.process_time()
            scores = make(seed).learn_many(shuffled)
            seconds += time.process_time() - begin
            result = rl.evaluate(scores, shuffled, measures=[*measures(), "map"])
            found.append([result[name] for name in [*measures(), "map"]])
            curve.append(np.cumsum(result.per_query("map")) / np.arange(1, data.n_queries + 1))
        means = np.mean(found, axis=0).tolist()
        print(row(name, means, PAPER_2.get(name), [f"{seconds / ORDERS:.3f}"]), flush=True)
        curves[name] = np.mean(curve, axis=0)
    return curves


def drawing(curves: dict[str, np.ndarray]) -> str:
    """Figure 2's curves, as SVG."""
    width, height, left, top = 560, 300, 50, 20
    shown = {name: curves[name] for name in PAPER_2}
    count, low, high = len(next(iter(shown.values()))), 0.2, 0.5
    parts = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#999"/>']
    for level in np.arange(low, high + 0.01, 0.05):
        y = top + (high - level) / (high - low) * height
        parts.append(f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{level:.2f}</text>')
    for query in range(0, count + 1, 100):
        x = left + query / count * width
        parts.append(f'<text x="{x:.0f}" y="{top + height + 16}" text-anchor="middle">{query}</text>')
    for place, (colour, (name, curve)) in enumerate(zip(COLOURS, shown.items(), strict=True)):
        spots = []
        for query in range(9, count, 5):
            level = min(max(float(curve[query]), low), high)
            x, y = left + (query + 1) / count * width, top + (high - level) / (high - low) * height
            spots.append(f"{x:.1f},{y:.1f}")
        parts.append(
            f'<polyline points="{" ".join(spots)}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
        )
        parts.append(f'<text x="{left + place * 112}" y="{top + height + 38}" fill="{colour}">{name}</text>')
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 370" font-family="sans-serif" '
    head += 'font-size="12">'
    return "\n".join([head, '<rect width="640" height="370" fill="#fff"/>', *parts, "</svg>"]) + "\n"


def batch() -> dict[str, list[Any]]:
    """Learners of Table 3, each with what is chosen from."""
    grid_c, grid_gamma = 10.0 ** -np.arange(3.5, 6.6, 0.5), 10.0 ** np.arange(3.0, 6.1, 0.5)
    found = {
        "SOLAR-I": [rl.SOLAR(order=1, C=float(C)) for C in grid_c],
        "SOLAR-II": [rl.SOLAR(gamma=float(gamma)) for gamma in grid_gamma],
        "SPD": [rl.SPD(lam=10.0**-k) for k in range(1, 6)],
    }
    if hasattr(rl, "RankSVM"):
        found["RankSVM"] = [rl.RankSVM(C=10.0**k) for k in range(-5, 2)]
    if hasattr(rl, "LambdaMART"):
        found["LambdaMART"] = [rl.LambdaMART(learning_rate=rate) for rate in (0.03, 0.1)]
    return found


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
    """Print the tables and draw the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--svg", help="where Figure 2 goes")
    given = parser.parse_args()
    folds = rl.read_folds(given.folder)
    data = whole(folds)
    print(data)
    curves = table_2(data)
    if given.svg:
        Path(given.svg).write_text(drawing(curves))
    table_3(folds)


if __name__ == "__main__":
    main()
