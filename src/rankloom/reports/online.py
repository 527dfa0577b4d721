"""The page of `rankloom experiment online`: measures over the stream, MAP so far, the cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankloom.reports.parts import Cell, Chart, Page, Section, Series, Table, Text

_FIRST = 0.01  # of the queries: where curves begin to be drawn


def page(run: Mapping[str, Any]) -> Page:
    """The page of a run."""
    found = run["result"]
    best = max(found["learners"], key=lambda row: row["means"]["map"])
    lead = [
        f"{found['queries']:,} queries of {found['source']}, each ranked before it is learned from, in "
        f"{found['settings']['orders']} random orders.",
        f"{best['learner']} has the highest MAP, {best['means']['map']:.4f}.",
    ]
    sections = [Section("Over the stream", [_table(found)]), Section("As queries come", [_map(found)])]
    if found["current"]:
        sections.append(Section("Staying current", [_cost(found), _costs(found), *_how(found)]))
    return Page("Learning to rank online", lead, sections)


def _table(found: Mapping[str, Any]) -> Table:
    there, measures = found["published"], found["measures"]
    headers = ["learner", *(["paper @1", "paper @5", "paper @10"] if there else []), *measures, "CPU s"]
    rows: list[list[Cell]] = []
    for row in found["learners"]:
        paper = there["figures"].get(row["learner"], (None, None, None)) if there else ()
        rows.append([row["learner"], *paper, *(row["means"][name] for name in measures), row["seconds"]])
    first = len(headers) - 1 - len(measures)
    best = []
    for column, name in enumerate(measures):
        values = [row["means"][name] for row in found["learners"]]
        best.append((values.index(max(values)), first + column))
    spread = max(max(row["deviations"].values()) for row in found["learners"])
    caption = f"Means over the orders; their standard deviation is at most {spread:.4f}."
    if there:
        caption += f" The paper's figures are those of {there['source']}."
    return Table(headers, rows, caption, best=best)


def _map(found: Mapping[str, Any]) -> Chart:
    at = found["curve_at"]
    first = next(place for place, query in enumerate(at) if query >= _FIRST * at[-1])
    series = [Series(row["learner"], at[first:], row["curve"][first:]) for row in found["learners"]]
    return Chart(
        "map-so-far",
        "MAP so far",
        "lines",
        "queries",
        "mean average precision so far",
        series,
        "For each learner the mean of average precision over all queries so far, and over the orders.",
    )


def _cost(found: Mapping[str, Any]) -> Chart:
    return Chart(
        "cost-so-far",
        "The cost of staying current",
        "lines",
        "queries received",
        "CPU seconds so far",
        [Series(entry["current"], entry["queries"], entry["seconds"]) for entry in found["current"]],
        "CPU seconds spent so far by learners that learn from each query once, and by RankSVM trained anew "
        "on all queries so far after each.",
        y_log=all(value > 0 for entry in found["current"] for value in entry["seconds"]),
    )


def _costs(found: Mapping[str, Any]) -> Table:
    ends = {entry["current"]: entry["seconds"][-1] for entry in found["current"]}
    base = ends.get("SOLAR-II")
    rows: list[Sequence[Cell]] = [
        [name, seconds, None if base is None else seconds / base] for name, seconds in ends.items()
    ]
    return Table(["learner", "CPU s", "times SOLAR-II"], rows, "After the last query.", digits=3)


def _how(found: Mapping[str, Any]) -> list[Text]:
    if found["points"] == 0:
        return [Text("RankSVM was trained anew after each query.")]
    return [
        Text(
            f"RankSVM was trained anew after {found['points']} of the queries; what it costs between them is "
            "taken to lie on a line."
        )
    ]
