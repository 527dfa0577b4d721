"""The page of `rankloom experiment alpha`: measures against alpha, the trade-off, the reliability diagram."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankloom.reports.parts import Chart, Page, Section, Series, Table, Text

_FEWEST = 3  # alphas between 0 and 1, for their odds to be drawn


def page(run: Mapping[str, Any]) -> Page:
    """The page of a run."""
    found = run["result"]
    best = ", ".join(f"{name} at {alpha:g}" for name, alpha in found["best"].items())
    lead = [
        f"CRR on {found['source']}: {found['loss']} loss, lam = {found['lam']:g}, {found['steps']:,} steps "
        "for each alpha. 0 is ranking only, 1 regression only.",
        f"Best on the test part: {best}.",
    ]
    sections = [
        Section("Against alpha", [_curve(found, name) for name in found["measures"]]),
        Section("One against the other", [_trade(found)] if len(found["measures"]) > 1 else []),
        Section("Numbers", [_table(found)]),
    ]
    if found["reliability"]:
        sections.append(_reliability(found["reliability"]))
    return Page("The trade-off of values and ranking", lead, [one for one in sections if one.parts])


def _values(found: Mapping[str, Any], name: str) -> list[float]:
    return [point["values"][name] for point in found["points"]]


def _alphas(found: Mapping[str, Any]) -> list[float]:
    return [point["alpha"] for point in found["points"]]


def _is_spread(values: list[float]) -> bool:
    """Whether values are better seen by their ratios."""
    return min(values) > 0.0 and max(values) > 5.0 * min(values)


def _curve(found: Mapping[str, Any], name: str) -> Chart:
    """Against the odds of a step on rows, which spreads both ends; alpha 0 and 1 have none, and are lines."""
    known = dict(zip(_alphas(found), _values(found, name), strict=True))
    inner = {alpha: value for alpha, value in known.items() if 0.0 < alpha < 1.0}
    if len(inner) < _FEWEST:
        return _plain_curve(found, name)
    better = "less" if name in found["losses"] else "more"
    low, high = min(inner.values()), max(inner.values())
    reach = 2.0 * (high - low)
    ends = [(f"alpha {alpha:g}", known[alpha]) for alpha in (0.0, 1.0) if alpha in known]
    near = [end for end in ends if low - reach <= end[1] <= high + reach]
    far = "".join(f" Far away: {value:.4g} at {what}." for what, value in ends if (what, value) not in near)
    return Chart(
        f"alpha-{name.replace('@', '-')}",
        name,
        "lines",
        "alpha / (1 - alpha): steps on rows for each step on a pair",
        name,
        [Series(name, [alpha / (1.0 - alpha) for alpha in inner], list(inner.values()))],
        f"{name} on the test part against the odds of alpha; {better} is better.{far}",
        x_log=True,
        lines=near,
    )


def _plain_curve(found: Mapping[str, Any], name: str) -> Chart:
    values = _values(found, name)
    better = "less" if name in found["losses"] else "more"
    return Chart(
        f"alpha-{name.replace('@', '-')}",
        name,
        "lines",
        "alpha (0: ranking only, 1: regression only)",
        name,
        [Series(name, _alphas(found), values)],
        f"{name} on the test part for each alpha; {better} is better.",
        y_log=name in found["losses"] and _is_spread(values),
    )


def _trade(found: Mapping[str, Any]) -> Chart:
    first, second = found["measures"][:2]
    x, y = _values(found, first), _values(found, second)
    return Chart(
        "trade-off",
        f"{second} against {first}",
        "points",
        first,
        second,
        [Series("an alpha each", x, y)],
        f"Each point is an alpha: its {first} (across) and its {second} (up).",
        x_log=first in found["losses"] and _is_spread(x),
        y_log=second in found["losses"] and _is_spread(y),
        labels=[f"{alpha:g}" for alpha in _alphas(found)],
    )


def _table(found: Mapping[str, Any]) -> Table:
    rows = [
        [f"{point['alpha']:g}", *(point["values"][name] for name in found["measures"]), point["seconds"]]
        for point in found["points"]
    ]
    places = {alpha: place for place, alpha in enumerate(_alphas(found))}
    best = [(places[found["best"][name]], column) for column, name in enumerate(found["measures"], 1)]
    headers = ["alpha", *found["measures"], "CPU s"]
    return Table(headers, rows, "On the test part; seconds are of learning and measuring.", best=best)


def _reliability(found: Mapping[str, Any]) -> Section:
    series = [
        Series(f"bins of equal {binning}", found[binning]["predicted"], found[binning]["observed"])
        for binning in ("width", "mass")
    ]
    chart = Chart(
        "reliability",
        f"Reliability at alpha {found['alpha']:g}",
        "lines",
        "mean value predicted",
        "share of positives observed",
        series,
        "For each bin of rows, the mean value predicted and the share that was positive; on the diagonal, "
        "values are probabilities.",
        diagonal=True,
    )
    width = found["width"]
    columns = ("lower", "upper", "predicted", "observed", "counts")
    rows = [list(row) for row in zip(*(width[name] for name in columns), strict=True)]
    table = Table(["from", "to", "predicted", "observed", "rows"], rows, "Bins of equal width.", digits=3)
    said = (
        f"The expected calibration error is {width['error']:.4f} with bins of equal width, "
        f"{found['mass']['error']:.4f} with bins of equal mass."
    )
    return Section("Are values probabilities?", [Text(said), chart, table])
