"""The page of `rankloom experiment topics`: the table of the paper, its tests, and the losses by rarity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankloom.reports.parts import Cell, Chart, Page, Section, Series, Table, Text

_MEASURES = (("auc-loss", "AUC loss"), ("mse", "MSE"))


def page(run: Mapping[str, Any]) -> Page:
    """The page of a run."""
    found = run["result"]
    rows = found["rows"]
    lead = [
        f"{len(found['topics'])} topics of {found['source']}, each told from all others: {rows['train']:,} "
        f"rows to learn from, {rows['test']:,} to test, {found['steps']:,} steps, {found['loss']} loss.",
        *(_said(one) for one in found["tests"] if one["method"].startswith("crr")),
    ]
    sections = [
        Section("Topics", [_table(found)]),
        Section("By rarity", _charts(found)),
        Section("Tests over the topics", [*([_tests(found)] if found["tests"] else []), *_beside(found)]),
        Section("What was chosen, and what it cost", [_choices(found)]),
    ]
    return Page("Regression, ranking and both, topic by topic", lead, [one for one in sections if one.parts])


def _said(one: Mapping[str, Any]) -> str:
    where = "" if one["below"] is None else f" with less than {one['below']:.0%} positive rows"
    measure = dict(_MEASURES)[one["measure"]]
    p = one["p"]
    chance = "" if p is None else f" (Wilcoxon p {'< 0.001' if p < 0.001 else f'= {p:.3f}'})"
    return (
        f"{one['method']} has a lower {measure} than {one['against']} on {one['better']} of {one['of']} "
        f"topics{where}{chance}."
    )


def _table(found: Mapping[str, Any]) -> Table:
    headers = ["topic", "positive"]
    headers += [f"{method} {measure}" for method in found["methods"] for _, measure in _MEASURES]
    rows: list[list[Cell]] = []
    best = []
    for place, row in enumerate(found["topics"]):
        values = [row["methods"][method][key] for method in found["methods"] for key, _ in _MEASURES]
        rows.append([row["topic"], f"{row['share']:.2%}", *values])
        for offset in range(len(_MEASURES)):
            mine = values[offset :: len(_MEASURES)]
            least = round(min(mine), 3)
            best += [
                (place, 2 + offset + len(_MEASURES) * column)
                for column, value in enumerate(mine)
                if round(value, 3) == least
            ]
    caption = "Losses on the test part; the best of a row, to three decimals, stands out."
    return Table(headers, rows, caption, best=best)


def _chart(found: Mapping[str, Any], key: str, measure: str, base: str) -> Chart:
    """Each topic's loss beside that of the method whose goal it is."""
    shares = [100.0 * row["share"] for row in found["topics"]]
    series = [
        Series(method, shares, [_ratio(row["methods"], key, method, base) for row in found["topics"]])
        for method in found["methods"]
        if method != base
    ]
    return Chart(
        f"topics-{key}",
        f"{measure} beside that of {base}",
        "points",
        "positive training rows, percent",
        f"{measure}, times that of {base}",
        series,
        f"Each point is a topic, the rarest on the left: below 1, the {measure} is less than that of {base}.",
        x_log=True,
        y_log=True,
        lines=[(f"as {base}", 1.0)],
    )


def _ratio(row: Mapping[str, Mapping[str, float]], key: str, method: str, base: str) -> float | None:
    """None where there is nothing to divide, or nothing to draw on a logarithmic scale."""
    value, beside = row[method][key], row[base][key]
    return value / beside if value > 0.0 and beside > 0.0 else None


def _charts(found: Mapping[str, Any]) -> list[Chart]:
    goals = (("auc-loss", "AUC loss", "ranking"), ("mse", "MSE", "regression"))
    return [
        _chart(found, *goal) for goal in goals if goal[2] in found["methods"] and len(found["methods"]) > 1
    ]


def _tests(found: Mapping[str, Any]) -> Table:
    rows: list[Sequence[Cell]] = [
        [
            one["method"],
            one["against"],
            dict(_MEASURES)[one["measure"]],
            "all" if one["below"] is None else f"below {one['below']:.0%}",
            f"{one['better']} of {one['of']}",
            one["p"],
            *one["means"],
        ]
        for one in found["tests"]
    ]
    headers = ["method", "against", "loss", "topics", "better on", "p", "mean", "mean of the other"]
    return Table(headers, rows, "Wilcoxon's signed rank tests over the topics.")


def _beside(found: Mapping[str, Any]) -> list[Text]:
    """What the paper says of its own topics."""
    there = found["published"]
    lines = [
        f"{name} has the best of both losses, to three decimals, on {count} of {len(found['topics'])}; "
        f"in the paper ({there['source']}), on {there['both']['reached']} of {there['both']['of']}."
        for name, count in found["both"].items()
    ]
    rare = there["rare_mse"]
    lines.append(
        f"In the paper, CRR's MSE is below that of regression on {rare['better']} of the {rare['of']} topics "
        f"with less than 10 % positive rows, p = {rare['p']}."
    )
    return [Text(line) for line in lines]


def _choices(found: Mapping[str, Any]) -> Table:
    headers = ["topic"]
    headers += [f"{method} {what}" for method in found["methods"] for what in ("lam", "CPU s")]
    rows = [
        [
            row["topic"],
            *(
                cell
                for method in found["methods"]
                for cell in (f"{row['methods'][method]['lam']:.0e}", row["methods"][method]["seconds"])
            ),
        ]
        for row in found["topics"]
    ]
    return Table(
        headers, rows, "lam by the validation rows; seconds of the last training, one thread.", digits=2
    )
