"""Validation curves: how a measure goes with each parameter of a search, readable with several parameters.

Parameters with few values become lines of their own, as long as there are no more than six lines; over all
others the best value stands for what a setting can reach. Where hardly any value was tried twice, as in a
random search, each trial is a point.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from rankloom.reports.cells import brief
from rankloom.reports.parts import Chart, Part, Series

_LINES = 6

Trial = Mapping[str, Any]


def parameter_charts(trials: Sequence[Trial], measure: str, lower_is_better: bool) -> list[Part]:
    """A figure for each parameter of which more than one value was tried."""
    names = list(dict.fromkeys(name for trial in trials for name in trial["parameters"]))
    charts: list[Part] = []
    for name in names:
        own = [trial for trial in trials if name in trial["parameters"]]
        values = _distinct(own, name)
        if len(values) > 1:
            charts.append(_chart(name, own, values, measure, lower_is_better))
    return charts


def _distinct(trials: Sequence[Trial], name: str) -> list[Any]:
    """The values of a parameter that were tried: numbers rising, others in the order of trials."""
    by_text = {brief_key(trial["parameters"].get(name)): trial["parameters"].get(name) for trial in trials}
    values = list(by_text.values())
    return sorted(values) if all(_is_number(value) for value in values) else values


def brief_key(value: Any) -> str:
    """What tells values apart, also those that cannot be hashed."""
    return repr(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _chart(name: str, trials: Sequence[Trial], values: list[Any], measure: str, lower: bool) -> Chart:
    numeric = all(_is_number(value) for value in values)
    by_ratio = numeric and values[0] > 0 and values[-1] >= 10 * values[0]
    uneven = numeric and values[0] == 0 and len(values) > 2 and values[-1] >= 10 * values[1]
    lines, rest = _grouping(name, trials)
    scattered = numeric and len(values) > 0.8 * len(trials) and len(trials) > 3 and bool(lines or rest)
    kind = "points" if scattered else "lines" if numeric else "dots"
    groups = _groups(trials, lines)
    bands = kind == "lines" and len(groups) == 1
    series = []
    for combination, group in groups:
        label = (
            ", ".join(f"{key}={brief(value)}" for key, value in zip(lines, combination, strict=True))
            or measure
        )
        kept = list(group) if scattered else _best_by(group, name, values, lower)
        places = [trial["parameters"][name] for trial in kept]
        x = [brief(place) for place in places] if uneven or not numeric else places
        series.append(
            Series(label, x, [trial["value"] for trial in kept], *(_spread(kept) if bands else (None, None)))
        )
    told = f"{measure} by {name}" if not lines else f"{measure} by {name} and {' and '.join(lines)}"
    banded = bands and any(one.low for one in series)
    return Chart(
        f"{measure} by {name}", told, kind, name, measure, series, _says(rest, scattered, banded, lower),
        x_log=by_ratio,
    )  # fmt: skip


def _grouping(name: str, trials: Sequence[Trial]) -> tuple[list[str], list[str]]:
    """Which other parameters become lines, and over which the best counts: as many lines as six allow."""
    others = [
        other
        for other in dict.fromkeys(key for trial in trials for key in trial["parameters"])
        if other != name and len(_distinct(trials, other)) > 1
    ]
    for size in range(len(others), 0, -1):
        fitting = [
            chosen
            for chosen in itertools.combinations(others, size)
            if len({_combination(trial, chosen) for trial in trials}) <= _LINES
        ]
        if fitting:
            lines = list(fitting[0])
            return lines, [other for other in others if other not in lines]
    return [], others


def _combination(trial: Trial, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(brief_key(trial["parameters"].get(name)) for name in names)


def _groups(trials: Sequence[Trial], names: Sequence[str]) -> list[tuple[tuple[Any, ...], list[Trial]]]:
    """Trials by the values of some parameters, in the order of these values."""
    order = {
        name: {brief_key(value): place for place, value in enumerate(_distinct(trials, name))}
        for name in names
    }
    found: dict[tuple[int, ...], list[Trial]] = {}
    for trial in trials:
        key = tuple(order[name][brief_key(trial["parameters"].get(name))] for name in names)
        found.setdefault(key, []).append(trial)
    return [
        (tuple(found[key][0]["parameters"].get(name) for name in names), found[key]) for key in sorted(found)
    ]


def _best_by(trials: Sequence[Trial], name: str, values: list[Any], lower: bool) -> list[Trial]:
    """For each value of a parameter the best trial with it."""
    sign = 1.0 if lower else -1.0
    found = []
    for value in values:
        own = [trial for trial in trials if brief_key(trial["parameters"][name]) == brief_key(value)]
        if own:
            found.append(min(own, key=lambda trial: sign * trial["value"]))
    return found


def _spread(trials: Sequence[Trial]) -> tuple[list[float] | None, list[float] | None]:
    """From the worst fold to the best, where there are folds."""
    if not trials or any(len(trial["folds"]) < 2 for trial in trials):
        return None, None
    return [min(trial["folds"]) for trial in trials], [max(trial["folds"]) for trial in trials]


def _says(rest: Sequence[str], scattered: bool, banded: bool, lower: bool) -> str:
    better = "Lower is better." if lower else "Higher is better."
    if scattered:
        return f"Each point is a trial. {better}"
    over = f" Over {' and '.join(rest)}, the best trial counts." if rest else ""
    return f"{better}{over}{' The band is from the lowest fold to the highest.' if banded else ''}"
