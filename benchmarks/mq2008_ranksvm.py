"""RankSVM on MQ2008, beside Lee & Lin's tables: `python benchmarks/mq2008_ranksvm.py FOLDER [--svg FILE]`.

Five folds; each method's C (or lam) is chosen on the validation part, by each measure that is reported.
Pairwise accuracy is the share of all pairs that are strictly in order (Section 4.4); mean NDCG and MAP are
LETOR 4.0's, over all queries. CPU seconds are of learning along the whole grid, on fold 1, one thread. Then
the path over C = 2^-15 ... 2^10 on fold 1, drawn with --svg.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rankloom as rl

MAP, NDCG = "map/letor4", "mean-ndcg/letor4"
LAMS = (1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
Models = Iterator[tuple[str, Any]]
Learn = Callable[[rl.RankingData], Models]


def in_order(scores: NDArray[np.float64], data: rl.RankingData) -> float:
    """The share of all pairs with the better row strictly above."""
    right = total = 0
    for start, stop in pairwise(data.offsets):
        y, s = data.y[start:stop], scores[start:stop]
        better = y[:, None] > y
        right, total = right + int((better & (s[:, None] > s)).sum()), total + int(better.sum())
    return right / total


def measured(model: Any, data: rl.RankingData) -> dict[str, float]:
    scores = model.decision_function(data)
    found = rl.evaluate(scores, data, measures=(NDCG, MAP))
    return {"pairs": in_order(scores, data), NDCG: found[NDCG], MAP: found[MAP]}


def ranksvm(**options: Any) -> Learn:
    def learn(data: rl.RankingData) -> Models:
        for point in rl.RankSVM(n_jobs=1, **options).path(data):
            yield f"2^{np.log2(point.C):.0f}", point.model

    return learn


def spd(data: rl.RankingData) -> Models:
    for lam in LAMS:
        yield f"lam {lam:g}", rl.SPD(steps=1_000_000, lam=lam).fit(data).model_


# To add a column: a name, and a function from training data to (setting, model) pairs.
METHODS: dict[str, Learn] = {
    "RankSVM": ranksvm(),
    "RankSVM, adjacent": ranksvm(pairs="adjacent"),
    "RankSVM, per query": ranksvm(normalize="query"),
    "SPD (Pegasos)": spd,
}


def fold_table(folds: list[Any]) -> None:
    print("| method | pairs, fold 1 | C | mean NDCG, fold 1 | C | pairs | mean NDCG | MAP | CPU s |")
    print("| " + "--- | " * 9)
    for name, learn in METHODS.items():
        chosen: dict[str, list[tuple[float, str]]] = {}
        seconds = 0.0
        for number, fold in enumerate(folds):
            begin = time.process_time()
            models = list(learn(fold.train))
            seconds = time.process_time() - begin if number == 0 else seconds
            values = [measured(model, fold.vali) for _, model in models]
            for measure in values[0]:
                best = int(np.argmax([value[measure] for value in values]))
                reached = measured(models[best][1], fold.test)[measure]
                chosen.setdefault(measure, []).append((reached, models[best][0]))
        (pairs, C), (ndcg, other) = chosen["pairs"][0], chosen[NDCG][0]
        means = [np.mean([value for value, _ in chosen[measure]]) for measure in ("pairs", NDCG, MAP)]
        print(
            f"| {name} | {pairs:.2%} | {C} | {ndcg:.4f} | {other} | {means[0]:.2%} | {means[1]:.4f} | "
            f"{means[2]:.4f} | {seconds:.2f} |"
        )


def path_of(fold: Any) -> list[tuple[float, float, float]]:
    """Exponent of C, pairs in order and mean NDCG on validation."""
    ranker = rl.RankSVM(n_jobs=1)
    ranker.path(fold.train)  # compiles
    begin = time.process_time()
    path = ranker.path(fold.train)
    cpu = time.process_time() - begin
    hardest = max(
        least(lambda C=C: rl.RankSVM(C, n_jobs=1).fit(fold.train))
        for C in (path[10].C, path[15].C, path[25].C)
    )
    print(
        f"\npath over {len(path)} values of C, fold 1: {cpu:.3f} CPU s; its hardest point alone {hardest:.3f}"
    )
    found = []
    for point in path:
        values = measured(point.model, fold.vali)
        found.append((float(np.log2(point.C)), values["pairs"], values[NDCG]))
    return found


def least(work: Callable[[], Any]) -> float:
    found = []
    for _ in range(3):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return min(found)


def drawing(points: list[tuple[float, float, float]]) -> str:
    """Two panels over the exponent of C."""
    parts = []
    for panel, title in enumerate(("pairs in order, validation", "mean NDCG, validation")):
        left, top, width, height = 60 + panel * 400, 40, 320, 220
        values = [point[panel + 1] for point in points]
        low, high = min(values), max(values)
        low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
        frame = f'x="{left}" y="{top}" width="{width}" height="{height}"'
        parts.append(f'<rect {frame} fill="none" stroke="#999"/>')
        parts.append(f'<text x="{left}" y="{top - 12}">{title}</text>')
        spots = []
        for (power, *_), value in zip(points, values, strict=True):
            x = left + (power - points[0][0]) / (points[-1][0] - points[0][0]) * width
            spots.append(f"{x:.1f},{top + (high - value) / (high - low) * height:.1f}")
            if power % 5 == 0:
                parts.append(
                    f'<text x="{x:.0f}" y="{top + height + 18}" text-anchor="middle">2^{power:.0f}</text>'
                )
        for value in np.linspace(min(values), max(values), 4):
            y = top + (high - value) / (high - low) * height + 4
            parts.append(f'<text x="{left - 6}" y="{y:.0f}" text-anchor="end">{value:.3f}</text>')
        line = " ".join(spots)
        parts.append(f'<polyline points="{line}" fill="none" stroke="#1f4e79" stroke-width="1.8"/>')
        parts.append(f'<text x="{left + width / 2}" y="{top + height + 38}" text-anchor="middle">C</text>')
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 310" font-family="sans-serif" '
    return "\n".join(
        [head + 'font-size="12">', '<rect width="820" height="310" fill="#fff"/>', *parts, "</svg>"]
    )


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--svg")
    given = parser.parse_args()
    folds = list(rl.read_folds(given.folder))
    fold_table(folds)
    points = path_of(folds[0])
    if given.svg:
        Path(given.svg).write_text(drawing(points) + "\n")


if __name__ == "__main__":
    main()
