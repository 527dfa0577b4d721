"""The page of `rankloom experiment convergence`: two panels, the last values, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankloom.reports.parts import Cell, Chart, Page, Section, Series, Table

_SHOWN = 4.0  # times the optimum: what lies above is not drawn
_BEYOND = 10.0  # above the optimum: not drawn either
_LARGE = 1e6


def page(run: Mapping[str, Any]) -> Page:
    """The page of a run."""
    found = run["result"]
    best = found["optimum"]
    lead = [
        f"The RankSVM objective on {found['source']}, lam = {found['lam']:g}, {found['steps']:,} steps.",
        f"The exact optimum on the training part is {best['train']:.4f} ({best['seconds']:.2f} CPU s); "
        f"{_closest(found)}",
    ]
    sections = [
        Section("Convergence", [_gap(found), _chart(found, "train"), _chart(found, "test")]),
        Section("At the end", [_ends(found)]),
        Section("On the way", [_way(found, "train"), _way(found, "test")]),
    ]
    if found["lam_chosen_by"]:
        sections.append(Section("The choice of lam", [_choice(found)]))
    return Page("Convergence of stochastic pairwise descent", lead, sections)


def _closest(found: Mapping[str, Any]) -> str:
    ends = [(curve["train"][-1], curve["learner"]) for curve in found["curves"] if curve["error"] is None]
    known = [end for end in ends if end[0] is not None]
    if not known:
        return "every learner diverged."
    value, name = min(known)
    return f"the nearest to it after the last step is {name}, at {value:.4f}."


def _chart(found: Mapping[str, Any], part: str) -> Chart:
    best = found["optimum"][part]
    limit = _SHOWN * max(best, 1e-12)
    series = [
        Series(
            curve["learner"],
            curve["steps"],
            [value if value is not None and value <= limit else None for value in curve[part]],
        )
        for curve in found["curves"]
    ]
    return Chart(
        f"objective-{part}",
        f"Objective on {part}",
        "lines",
        "steps",
        "objective",
        [one for one in series if any(value is not None for value in one.y)],
        f"The objective on the {part} part against the number of steps, a line for each learner; values "
        f"above {_SHOWN:g} times that of the optimum are left out.",
        x_log=True,
        lines=[("exact optimum", best)],
    )


def _gap(found: Mapping[str, Any]) -> Chart:
    """How far each learner still is from the least there is."""
    best = found["optimum"]["train"]
    series = [
        Series(curve["learner"], curve["steps"], [_above(value, best) for value in curve["train"]])
        for curve in found["curves"]
    ]
    return Chart(
        "above-the-optimum",
        "Above the exact optimum, on train",
        "lines",
        "steps",
        "objective less its optimum",
        [one for one in series if any(value is not None for value in one.y)],
        "How far the objective on the training part is above the least there is, against the steps; values "
        f"above {_BEYOND:g} are left out.",
        x_log=True,
        y_log=True,
    )


def _above(value: float | None, best: float) -> float | None:
    """What can be drawn of the distance on a logarithmic scale."""
    if value is None or not 0.0 < value - best <= _BEYOND:
        return None
    return value - best


def _ends(found: Mapping[str, Any]) -> Table:
    rows: list[Sequence[Any]] = [
        [
            curve["learner"],
            _seen(curve["train"][-1]),
            _seen(curve["test"][-1]),
            _seen(_excess(curve["train"][-1], found["optimum"]["train"])),
            curve["seconds"][-1],
            "diverged" if curve["error"] else "",
        ]
        for curve in found["curves"]
    ]
    best = found["optimum"]
    rows.append(["exact optimum (RankSVM)", best["train"], best["test"], 0.0, best["seconds"], ""])
    known = [(row[1], place) for place, row in enumerate(rows[:-1]) if isinstance(row[1], float)]
    return Table(
        ["learner", "train", "test", "above the optimum", "CPU s", ""],
        rows,
        "After the last step. Seconds are of one thread, looking at the objective not counted.",
        best=[(min(known)[1], 1)] if known else (),
    )


def _excess(value: float | None, best: float) -> float | None:
    return None if value is None else value - best


def _seen(value: float | None) -> Cell:
    return f"above {_LARGE:g}" if value is not None and value > _LARGE else value


def _way(found: Mapping[str, Any], part: str) -> Table:
    steps = [step for step in found["curves"][0]["steps"] if step in _decades(found["steps"])]
    at = [dict(zip(curve["steps"], curve[part], strict=True)) for curve in found["curves"]]
    rows = [[f"{step:,}", *(_seen(each.get(step)) for each in at)] for step in steps]
    return Table(["steps", *(curve["learner"] for curve in found["curves"])], rows, f"On the {part} part.")


def _decades(steps: int) -> set[int]:
    return {steps, *(10**power for power in range(2, 19))}


def _choice(found: Mapping[str, Any]) -> Table:
    by = found["lam_chosen_by"]
    values = by["values"]
    place = max(range(len(values)), key=lambda row: values[row][1])
    rows = [[f"{lam:.1e}", value] for lam, value in values]
    return Table(["lam", f"RankSVM's {by['measure']} on the validation part"], rows, best=[(place, 1)])
