"""Validation curves: which parameters become lines, and over which the best counts."""

from __future__ import annotations

import itertools
from typing import Any

from rankloom.reports.curves import parameter_charts
from rankloom.reports.parts import Chart


def trials(grid: dict[str, list[Any]], folds: int = 0) -> list[dict[str, Any]]:
    """A trial for each combination; the value is 1 for the first and falls."""
    found = []
    for place, values in enumerate(itertools.product(*grid.values())):
        value = 1 / (1 + place)
        spread = [value - 0.1 * fold for fold in range(folds)]
        found.append({"parameters": dict(zip(grid, values, strict=True)), "value": value, "folds": spread})
    return found


def charts(grid: dict[str, list[Any]], **more: Any) -> dict[str, Chart]:
    lower = more.pop("lower", False)
    found = parameter_charts(trials(grid, **more), "map", lower)
    return {part.x_label: part for part in found if isinstance(part, Chart)}


def test_one_parameter_is_one_line_with_its_folds() -> None:
    (chart,) = charts({"C": [0.1, 1.0, 10.0]}, folds=2).values()
    (line,) = chart.series
    assert (chart.kind, chart.x_log, list(line.x)) == ("lines", True, [0.1, 1.0, 10.0])
    assert line.y == [1.0, 0.5, 1 / 3]
    assert line.low is not None
    assert line.low[0] == 0.9
    assert "lowest fold" in chart.says


def test_three_parameters_are_few_lines_and_the_best_of_the_rest() -> None:
    found = charts({"a": [1, 2, 3], "b": [1, 2, 3], "c": ["x", "y", "z"]})
    assert found["a"].kind == "lines"
    assert [one.name for one in found["a"].series] == ["b=1", "b=2", "b=3"]
    assert "Over c, the best trial counts." in found["a"].says
    assert list(found["a"].series[0].y) == [1.0, 1 / 10, 1 / 19]
    assert found["c"].kind == "dots"
    assert all(len(chart.series) <= 6 for chart in found.values())


def test_where_less_is_better_the_least_counts() -> None:
    found = charts({"a": [1, 2], "b": list(range(7))}, lower=True)
    assert list(found["a"].series[0].y) == [1 / 7, 1 / 14]
    assert found["a"].says.startswith("Lower is better.")


def test_zero_among_powers_of_ten_is_a_name() -> None:
    (chart,) = charts({"lam": [0, 1e-4, 1e-2]}).values()
    assert list(chart.series[0].x) == ["0", "0.0001", "0.01"]
    assert not chart.x_log


def test_random_trials_are_points() -> None:
    found = [
        {"parameters": {"lam": 10.0**-at, "steps": 100 + at, "loss": "ab"[at % 2]}, "value": at, "folds": []}
        for at in range(8)
    ]
    drawn = parameter_charts(found, "map", False)
    by_name = {part.x_label: part for part in drawn if isinstance(part, Chart)}
    assert by_name["lam"].kind == "points"
    assert [one.name for one in by_name["lam"].series] == ["loss=a", "loss=b"]
    assert sum(len(one.x) for one in by_name["lam"].series) == 8


def test_what_was_tried_once_has_no_figure() -> None:
    assert charts({"a": [1], "b": [None]}) == {}
    assert parameter_charts([], "map", False) == []


def test_values_of_any_kind() -> None:
    (chart,) = charts({"C": [None, 0.5, "auto", True, [1, 2]]}).values()
    assert chart.kind == "dots"
    assert list(chart.series[0].x) == ["none", "0.5", "auto", "True", "1, 2"]
