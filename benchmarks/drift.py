"""A stream whose truth turns half-way: who notices, who recovers. `python benchmarks/drift.py [--svg FILE]`.

Lists of 20 documents with 20 features; labels 0, 1 and 2 by a linear truth with noise, whose sign is turned
after half of the queries. ndcg@10 over windows of 100 queries, each query measured before it is learned.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import rankloom as rl

QUERIES, ROWS, FEATURES, WINDOW = 4000, 20, 20, 100
COLOURS = ("#1f4e79", "#2e8b57", "#c0392b", "#8e44ad", "#e67e22")


def stream(seed: int) -> rl.RankingData:
    """Half of the queries by one truth, half by its opposite."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=FEATURES)
    X = rng.normal(size=(QUERIES * ROWS, FEATURES))
    sign = np.where(np.arange(QUERIES * ROWS) < QUERIES * ROWS // 2, 1.0, -1.0)
    value = sign * (X @ truth) / np.linalg.norm(truth) + 0.5 * rng.normal(size=len(X))
    y = np.digitize(value, [0.8, 1.8]).astype(float)
    return rl.RankingData(X, y, np.repeat(np.arange(QUERIES), ROWS))


def learners() -> dict[str, Any]:
    return {
        "SOLAR-I": rl.SOLAR(order=1, C=1e-3, max_pairs=20),
        "SOLAR-II": rl.SOLAR(gamma=10.0, max_pairs=20),
        "SOLAR-II, forget 0.999": rl.SOLAR(gamma=10.0, max_pairs=20, forget=0.999),
        "SOLAR-II, forget 0.99": rl.SOLAR(gamma=10.0, max_pairs=20, forget=0.99),
        "SOLAR-I, forget 0.99": rl.SOLAR(order=1, C=1e-3, max_pairs=20, forget=0.99),
    }


def windows() -> dict[str, np.ndarray]:
    """By learner: ndcg@10 of the last queries and of all, every WINDOW queries; means of five streams."""
    found: dict[str, list[Any]] = {}
    for seed in range(5):
        data = stream(seed)
        for name, learner in learners().items():
            learner.set_params(seed=seed, window=WINDOW)
            learner.begin(FEATURES)
            points = []
            for first in range(0, QUERIES, WINDOW):
                learner.learn_many(data.take(slice(first, first + WINDOW)))
                progress = learner.progress_
                points.append((progress.window["ndcg@10"], progress.total["ndcg@10"]))
            found.setdefault(name, []).append(points)
    return {name: np.mean(points, axis=0) for name, points in found.items()}


def drawing(found: dict[str, np.ndarray]) -> str:
    width, height, left, top = 600, 280, 50, 20
    parts = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#999"/>']
    half = left + width / 2
    parts.append(
        f'<line x1="{half}" y1="{top}" x2="{half}" y2="{top + height}" stroke="#999" stroke-dasharray="4"/>'
    )
    for level in np.arange(0.0, 1.01, 0.2):
        y = top + (1.0 - level) * height
        parts.append(f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{level:.1f}</text>')
    for query in range(0, QUERIES + 1, 1000):
        x = left + query / QUERIES * width
        parts.append(f'<text x="{x:.0f}" y="{top + height + 16}" text-anchor="middle">{query}</text>')
    for place, (colour, (name, points)) in enumerate(zip(COLOURS, found.items(), strict=True)):
        for column, dash in ((0, ""), (1, ' stroke-dasharray="2 3"')):
            if column == 1 and place != 1:
                continue  # one cumulative curve is enough to see what it hides
            spots = " ".join(
                f"{left + (i + 1) * WINDOW / QUERIES * width:.1f},{top + (1.0 - point[column]) * height:.1f}"
                for i, point in enumerate(points)
            )
            parts.append(
                f'<polyline points="{spots}" fill="none" stroke="{colour}" stroke-width="1.6"{dash}/>'
            )
        x, y = left + (place % 3) * 200, top + height + 38 + 18 * (place // 3)
        parts.append(f'<text x="{x}" y="{y}" fill="{colour}">{name}</text>')
    parts.append(
        f'<text x="{left + 400}" y="{top + height + 56}" fill="{COLOURS[1]}">dotted: mean of all</text>'
    )
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 390" font-family="sans-serif" '
    head += 'font-size="12">'
    return "\n".join([head, '<rect width="680" height="390" fill="#fff"/>', *parts, "</svg>"]) + "\n"


def main() -> None:
    """Print the windows around the turn, and draw all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--svg")
    given = parser.parse_args()
    found = windows()
    marks = [QUERIES // 2, QUERIES // 2 + 100, QUERIES // 2 + 200, QUERIES // 2 + 500, QUERIES]
    print("| ndcg@10 of the last 100 at query | " + " | ".join(f"{mark:,}" for mark in marks) + " | all |")
    print("| --- " * (len(marks) + 2) + "|")
    for name, points in found.items():
        cells = [f"{points[mark // WINDOW - 1, 0]:.3f}" for mark in marks]
        print(f"| {name} | " + " | ".join(cells) + f" | {points[-1, 1]:.3f} |")
    if given.svg:
        Path(given.svg).write_text(drawing(found))


if __name__ == "__main__":
    main()
