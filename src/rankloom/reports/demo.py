"""The page of a demo: every family of rankers on one set of data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankloom.reports.parts import Cell, Chart, Page, Part, Section, Series, Table, Text


def page(run: Mapping[str, Any]) -> Page:
    """What a newcomer should see: who is best, whether that is chance, what it costs, what a model knows."""
    found = run["result"]
    sections = [
        Section("How good each ranking is", [_table(found), _quality(found), _who(found)]),
        Section("Could it be chance?", [*_chance(found)]),
        Section("What it costs", [_cost(found)]),
    ]
    if found["calibration"] is not None:
        sections.append(Section("Values that mean something", [*_calibration(found["calibration"])]))
    sections.append(Section("Learning online", [*_online(found)]))
    if found["weights"] is not None:
        sections.append(Section("What was learned", [*_weights(found["weights"])]))
    return Page("All families of rankers on one set of data", found["told"], sections)


def _table(found: Mapping[str, Any]) -> Table:
    measures = found["measures"]
    rows: list[list[Cell]] = [
        [one["name"], *(one["measures"][name] for name in measures)] for one in found["systems"]
    ]
    rankers = [place for place, one in enumerate(found["systems"]) if one["choosing"] is not None]
    marks = [
        (max(rankers, key=lambda place: float(found["systems"][place]["measures"][name])), column)
        for column, name in enumerate(measures, 1)
    ]
    caption = "Measured on the test queries. The best of the rankers stands out."
    return Table(["ranking", *measures], rows, caption, best=marks)


def _who(found: Mapping[str, Any]) -> Table:
    rows: list[list[Cell]] = [[one["name"], one["says"], _settings(one)] for one in found["systems"]]
    return Table(["ranking", "what it is", "settings chosen"], rows, "Settings were chosen by folds.")


def _settings(one: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_brief(value)}" for name, value in one["parameters"].items())


def _brief(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _quality(found: Mapping[str, Any]) -> Chart:
    measure = found["measures"][0]
    systems = sorted(found["systems"], key=lambda one: -one["measures"][measure])
    values = [one["measures"][measure] for one in systems]
    names = [one["name"] for one in systems]
    says = f"From {names[0]} with {values[0]:.4f} down to {names[-1]} with {values[-1]:.4f}."
    return Chart(
        "quality",
        f"{measure} on the test queries",
        "bars",
        measure,
        "",
        [Series(measure, names, values)],
        says,
    )


def _chance(found: Mapping[str, Any]) -> list[Part]:
    compared, baseline = found["comparison"], found["baseline"]
    rows: list[list[Cell]] = []
    names, values, low, high = [], [], [], []
    for row in compared["rows"]:
        counts = (row["wins"], row["ties"], row["losses"])
        name = row["b"] + (" *" if row["significant"] else "")
        rows.append([name, row["difference"], row["low"], row["high"], *counts, row["holm_randomisation"]])
        if row["low"] is not None:
            names.append(row["b"])
            values.append(row["difference"])
            low.append(row["low"])
            high.append(row["high"])
    headers = ["ranker", f"better than {baseline} by", "from", "to", "wins", "ties", "losses", "p"]
    measure = compared["rows"][0]["measure"]
    caption = (
        f"{measure} against {baseline}: the mean difference, its 95 % bootstrap interval, queries won, tied "
        "and lost, and p of a randomisation test after Holm's correction. "
        f"* p is {compared['alpha']:g} or less."
    )
    chart = Chart(
        "differences", f"{measure}: difference from {baseline}", "bars", "difference", "",
        [Series("difference", names, values, low, high)],
        "Lines are intervals; where one crosses 0, the difference may be chance.",
    )  # fmt: skip
    return [Table(headers, rows, caption), chart]


def _cost(found: Mapping[str, Any]) -> Chart:
    measure = found["measures"][0]
    timed = [one for one in found["systems"] if one["seconds"]]
    seconds = [max(one["seconds"], 1e-4) for one in timed]
    return Chart(
        "cost", "Quality against the time to learn once", "points", "seconds", measure,
        [Series(measure, seconds, [one["measures"][measure] for one in timed])],
        "The further up and to the left, the better.",
        x_log=True,
        labels=[one["name"] for one in timed],
    )  # fmt: skip


def _calibration(curve: Mapping[str, Any]) -> list[Part]:
    text = (
        "Test documents in groups of like predictions by crr: the mean prediction against the mean label, "
        f"both as parts of the largest label, {curve['high']:g}. On the diagonal, values can be taken as "
        f"they are; on average they are {curve['error']:.3f} away."
    )
    chart = Chart(
        "reliability", "Reliability of crr's values", "lines", "predicted", "observed",
        [Series("crr", curve["predicted"], curve["observed"])],
        f"The expected calibration error is {curve['error']:.3f}.",
        diagonal=True,
    )  # fmt: skip
    return [Text(text), chart]


def _online(found: Mapping[str, Any]) -> list[Part]:
    online = found["online"]
    reached = {one["name"]: one["measures"][online["measure"]] for one in found["systems"]}
    text = (
        "solar ranks each training query, is measured, and only then learns from it, once: the mean so far. "
        "Its settings are those chosen by folds. On the test queries it reaches "
        f"{reached['solar']:.4f}, least squares {reached[found['baseline']]:.4f}."
    )
    chart = Chart(
        "online", f"{online['measure']} so far, before learning", "lines", "queries", online["measure"],
        [Series("solar", online["queries"], online["so_far"])],
        f"It begins at {online['so_far'][0]:.4f} and ends at {online['so_far'][-1]:.4f}.",
    )  # fmt: skip
    return [Text(text), chart]


def _weights(weights: Mapping[str, Any]) -> list[Part]:
    series = [Series("learned by ranksvm", weights["names"], weights["learned"])]
    text = "The strongest weights of ranksvm, all weights together of length 1."
    if "true" in weights:
        series.append(Series("truth", weights["names"], weights["true"]))
        text += " Beside them those by which the labels were drawn."
    says = f"The strongest is {weights['names'][0]} with {weights['learned'][0]:+.2f}."
    return [Text(text), Chart("weights", "Strongest weights", "bars", "weight", "", series, says)]
