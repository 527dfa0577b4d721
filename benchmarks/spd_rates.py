"""The RankSVM objective against the number of steps, as Figure 2 of Sculley 2009, drawn.

    python benchmarks/spd_rates.py [FOLDER] [--steps 100000000] [--svg FILE]

What `rankloom experiment convergence` finds, on fold 1 of a folder of MQ2008 or on generated lists, as a
table of Markdown: the objective on train / test at 1e2, 1e3, ... steps. "Paper's rate" is Pegasos' own,
1 / (lam i), else the rate is bounded; `combined` begins with 1,000 passive-aggressive steps.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import rankloom as rl

COLOURS = ("#1f4e79", "#5dade2", "#2e8b57", "#82e0aa", "#c0392b", "#8e44ad", "#e67e22", "#7f8c8d", "#111111")
LEVELS = (0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.5, 2.0)


def drawing(found: Mapping[str, Any]) -> str:
    """Two panels, train and test, as SVG."""
    width, height, left, top = 360, 260, 50, 30
    curves, best = found["curves"], found["optimum"]
    low, high = np.log10(min(best["train"], best["test"]) * 0.98), np.log10(best["train"] * 4.0)
    last = np.log10(found["steps"])
    parts = []

    def at(value: float | None) -> float:
        level = high if value is None else min(max(np.log10(value), low), high)
        return float(top + (high - level) / (high - low) * height)

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
        parts.extend(
            f'<text x="{x0 - 6}" y="{at(value) + 4:.0f}" text-anchor="end">{value}</text>'
            for value in LEVELS
            if low < np.log10(value) < high
        )
        y, x1 = at(best[title]), x0 + width
        parts.append(
            f'<line x1="{x0}" y1="{y:.1f}" x2="{x1}" y2="{y:.1f}" stroke="#999" stroke-dasharray="4"/>'
        )
        for colour, curve in zip(COLOURS, curves, strict=False):
            spots = []
            for step, value in zip(curve["steps"], curve[title], strict=True):
                spots.append(f"{x0 + (np.log10(step) - 2) / (last - 2) * width:.1f},{at(value):.1f}")
            line = " ".join(spots)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    for place, (colour, curve) in enumerate(zip(COLOURS, curves, strict=False)):
        x, y = left + (place % 4) * 205, top + height + 40 + 18 * (place // 4)
        parts.append(f'<text x="{x}" y="{y}" fill="{colour}">{curve["learner"]}</text>')
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 380" font-family="sans-serif" '
    head += 'font-size="12">'
    return "\n".join([head, '<rect width="880" height="380" fill="#fff"/>', *parts, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--steps", type=int, default=100_000_000)
    parser.add_argument("--record", help="what is done, to go on from")
    parser.add_argument("--svg")
    given = parser.parse_args()
    found = rl.experiment("convergence", given.folder, steps=given.steps, record=given.record)
    headers, rows = found.table()
    print("| " + " | ".join(headers) + " |\n" + "| --- " * len(headers) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print("\n" + found.note)
    if given.svg:
        Path(given.svg).write_text(drawing(found.to_dict()))


if __name__ == "__main__":
    main()
