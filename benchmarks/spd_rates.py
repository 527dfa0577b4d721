"""The RankSVM objective against the number of steps, as Figure 2 of Sculley 2009.

    python benchmarks/spd_rates.py [FOLDER] [--steps 100000000] [--svg FILE]

With a folder of MQ2008, fold 1 (train and test); without, generated lists of the same shape. Prints the
objective on train and test at 1e2, 1e3, ... steps, and draws it. lam is 0.001, C is 0.1 or as said.
`combined` begins with 1,000 passive-aggressive steps; "(paper)" is with Pegasos' own rate, 1 / (lam i), else
the rate is bounded.
"""

from __future__ import annotations

import argparse
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rankloom as rl

LAM = 0.001
COLOURS = ("#1f4e79", "#2e8b57", "#c0392b", "#8e44ad", "#e67e22", "#7f8c8d", "#111111", "#d4ac0d")


class Objective:
    """lam/2 |w|^2 + mean hinge loss over all pairs of some data."""

    def __init__(self, data: rl.RankingData) -> None:
        rows = [
            np.argwhere(data.y[start:stop, None] > data.y[None, start:stop]) + start
            for start, stop in pairwise(data.offsets)
        ]
        self.a, self.b = np.concatenate(rows).T
        self.X = data.X.astype(float)

    def __call__(self, w: NDArray[np.float64]) -> float:
        scores = self.X @ w
        return float(LAM / 2 * w @ w + np.maximum(0.0, 1.0 - scores[self.a] + scores[self.b]).mean())


def methods(steps: int) -> dict[str, dict[str, Any]]:
    paper = {"rate": "pegasos"}
    early = {"learner": "combined", "C": 0.1, "early": 1e3 / steps}
    return {
        "sgd (paper)": {"learner": "sgd", **paper},
        "pegasos (paper)": {"learner": "pegasos", **paper},
        "passive-aggressive, C 0.001": {"learner": "passive-aggressive", "C": 0.001},
        "passive-aggressive, C 0.1": {"learner": "passive-aggressive", "C": 0.1},
        "romma": {"learner": "romma"},
        "combined (paper)": {**early, **paper},
        "pegasos": {"learner": "pegasos"},
        "combined": early,
    }


def curves(
    train: rl.RankingData, test: rl.RankingData, steps: int
) -> dict[str, list[tuple[int, float, float]]]:
    on_train, on_test = Objective(train), Objective(test)
    found: dict[str, list[tuple[int, float, float]]] = {}
    for name, options in methods(steps).items():
        points: list[tuple[int, float, float]] = []

        def note(step: int, model: Any, points: Any = points) -> None:
            points.append((step, on_train(model.weights), on_test(model.weights)))

        at = np.unique(np.round(10.0 ** np.arange(2.0, np.log10(steps) + 0.01, 0.25)).astype(np.int64))
        with suppress(rl.InputError):  # ROMMA's weights may grow beyond all numbers
            rl.SPD(lam=LAM, steps=steps, callback=note, callback_at=at, **options).fit(train)
        points += [(int(step), np.inf, np.inf) for step in at[len(points) :]]
        found[name] = points
    return found


def print_table(found: dict[str, list[tuple[int, float, float]]]) -> None:
    names = list(found)
    print("| steps | " + " | ".join(names) + " |\n" + "| --- " * (len(names) + 1) + "|")
    for place, (step, _, _) in enumerate(found[names[0]]):
        if np.log10(step) % 1 < 1e-9:
            cells = [cell(*found[name][place][1:]) for name in names]
            print(f"| {step:,} | " + " | ".join(cells) + " |")


def cell(train: float, test: float) -> str:
    """Both objectives, unless they are beyond all measure."""
    return f"{train:.4f} / {test:.4f}" if train < 1e6 else "above 1e6"


def drawing(found: dict[str, list[tuple[int, float, float]]]) -> str:
    """Two panels, train and test, as SVG."""
    width, height, left, top = 360, 260, 50, 30
    best = min(train for points in found.values() for _, train, _ in points)
    low, high = np.log10(best * 0.98), np.log10(best * 4.0)
    last = np.log10(max(step for step, _, _ in next(iter(found.values()))))
    parts = []
    for panel, title in enumerate(("train", "test")):
        x0 = left + panel * (width + 60)
        parts.append(
            f'<rect x="{x0}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#999"/>'
        )
        parts.append(f'<text x="{x0 + width / 2}" y="{top - 8}" text-anchor="middle">{title}</text>')
        for exponent in range(2, int(last) + 1):
            x = x0 + (exponent - 2) / (last - 2) * width
            parts.append(
                f'<text x="{x:.0f}" y="{top + height + 16}" text-anchor="middle">1e{exponent}</text>'
            )
        for value in (0.5, 0.6, 0.7, 0.8, 1.0, 1.5, 2.0):
            if low < np.log10(value) < high:
                y = top + (high - np.log10(value)) / (high - low) * height
                parts.append(f'<text x="{x0 - 6}" y="{y + 4:.0f}" text-anchor="end">{value}</text>')
        for colour, points in zip(COLOURS, found.values(), strict=False):
            spots = []
            for step, *values in points:
                x = x0 + (np.log10(step) - 2) / (last - 2) * width
                level = min(max(np.log10(values[panel]), low), high)
                spots.append(f"{x:.1f},{top + (high - level) / (high - low) * height:.1f}")
            line = " ".join(spots)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    for place, (colour, name) in enumerate(zip(COLOURS, found, strict=False)):
        x, y = left + (place % 4) * 205, top + height + 40 + 18 * (place // 4)
        parts.append(f'<text x="{x}" y="{y}" fill="{colour}">{name}</text>')
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 850 360" font-family="sans-serif" '
    head += 'font-size="12">'
    return "\n".join([head, '<rect width="850" height="360" fill="#fff"/>', *parts, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--steps", type=int, default=100_000_000)
    parser.add_argument("--svg")
    given = parser.parse_args()
    if given.folder:
        fold = rl.read_folds(given.folder)[0]
        train, test = fold.train, fold.test
    else:
        made = rl.make_letor(700).data
        train, test = made.take(slice(0, 500)), made.take(slice(500, 700))
    found = curves(train, test, given.steps)
    print_table(found)
    if given.svg:
        Path(given.svg).write_text(drawing(found))


if __name__ == "__main__":
    main()
