"""The page of `rankloom experiment scaling`: seconds against rows, and how fast they grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankloom.reports.cells import setting
from rankloom.reports.parts import Cell, Chart, Page, Section, Series, Table


def page(run: Mapping[str, Any]) -> Page:
    """The page of a run."""
    found = run["result"]
    rows, ends = found["methods"], [size["rows"] for size in found["sizes"]]
    fastest = min(rows, key=lambda row: row["seconds"][-1])
    steepest = max(rows, key=lambda row: row["exponent"])
    lead = [
        f"CPU seconds of training on {found['source']}, from {ends[0]:,} to {ends[-1]:,} rows.",
        f"{fastest['method']} is fastest on the largest, with {fastest['seconds'][-1]:.3g} s; "
        f"{steepest['method']} grows fastest, with the power {steepest['exponent']:.2f} of the rows.",
    ]
    return Page(
        "Time against data",
        lead,
        [Section("Growth", [_chart(found)]), Section("Seconds", [_table(found), _settings(found)])],
    )


def _chart(found: Mapping[str, Any]) -> Chart:
    return Chart(
        "seconds",
        "Seconds of training",
        "lines",
        "rows",
        "CPU seconds",
        [Series(row["method"], row["rows"], row["seconds"]) for row in found["methods"]],
        "CPU seconds of training against the number of rows, a line for each method; scales logarithmic.",
        x_log=True,
        y_log=all(value > 0 for row in found["methods"] for value in row["seconds"]),
    )


def _table(found: Mapping[str, Any]) -> Table:
    headers = ["method", *(f"{size['rows']:,} rows" for size in found["sizes"]), "exponent"]
    rows: list[list[Cell]] = [[row["method"], *row["seconds"], row["exponent"]] for row in found["methods"]]
    caption = "CPU seconds, one thread; the exponent is the slope of log seconds against log rows."
    return Table(headers, rows, caption, digits=3)


def _settings(found: Mapping[str, Any]) -> Table:
    rows = [
        [
            row["method"],
            ", ".join(f"{name}={setting(value)}" for name, value in row["settings"].items()) or "-",
        ]
        for row in found["methods"]
    ]
    return Table(["method", "settings"], rows, "Beyond what is fixed here, defaults hold.")
