"""The page of LETOR's protocol: every method by every measure, against the baseline, and what it took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankloom.reports.cells import brief
from rankloom.reports.paired import MARK_SAYS, difference_chart, gains, interval, p_cell, signed
from rankloom.reports.parts import Chart, Page, Part, Section, Series, Table

_LEVEL = 0.05

Result = Mapping[str, Any]


def page(run: Mapping[str, Any]) -> Page:
    """A page of a run of kind "letor"."""
    result = run["result"]
    folds = max((len(values) for row in result["methods"] for values in row["folds"].values()), default=0)
    sections = [Section("Measures", [_table(result), *_charts(result)])]
    if result["differences"]:
        sections.append(Section(f"Against {result['baseline']}", list(_against(result))))
    sections += [
        Section("Time against quality", [_time(result)]),
        Section("Settings chosen", [_settings(result, folds)]),
    ]
    methods = len(result["methods"])
    title = f"LETOR's folds: {counted(methods, 'method')} over {counted(folds, 'fold')}"
    return Page(title, list(_lead(result)), sections)


def counted(number: int, noun: str) -> str:
    """How many of something."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _lead(result: Result) -> Iterator[str]:
    """The best by each measure, and what is significant."""
    baseline = result["baseline"]
    for measure in result["measures"]:
        order = _ranked(result, measure)
        best = order[0]
        told = f"{best['method']} has the best {measure}, {best['means'][measure]:.4f}"
        if best["method"] != baseline:
            other = next((row for row in order if row["method"] == baseline), None)
            told += f", where {baseline} has {other['means'][measure]:.4f}" if other else ""
        yield f"{told}. {_found(result, measure)}".strip()


def _found(result: Result, measure: str) -> str:
    """Which methods differ significantly from the baseline."""
    rows = [row for row in result["differences"] if row["measure"] == measure]
    if not rows:
        return ""
    told = []
    for word, wanted in (("better", True), ("worse", False)):
        names = [row["b"] for row in rows if _is_significant(row) and (_gain(row) > 0) == wanted]
        if names:
            told.append(f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} significantly {word}")
    if not told:
        return f"No method differs significantly from {result['baseline']}."
    return f"Against {result['baseline']}, {' and '.join(told)}."


def _gain(row: Result) -> float:
    difference = float(row["difference"] or 0.0)
    return -difference if row["lower_is_better"] else difference


def _is_significant(row: Result) -> bool:
    return row["holm_randomisation"] is not None and row["holm_randomisation"] <= _LEVEL


def _ranked(result: Result, measure: str) -> list[Any]:
    """Methods, the best first."""
    sign = 1.0 if result["lower_is_better"][measure] else -1.0
    return sorted(result["methods"], key=lambda row: sign * row["means"][measure])


def _table(result: Result) -> Table:
    """Means, marked where they differ significantly, and what others published beside them."""
    measures = result["measures"]
    headers = ["method", *(text for measure in measures for text in (measure, "p")), "seconds"]
    rows: list[list[Any]] = []
    best = []
    for place, row in enumerate(result["methods"]):
        cells: list[Any] = [row["method"]]
        for column, measure in enumerate(measures):
            p = row["p"][measure]
            marked = "*" if p is not None and p <= _LEVEL else ""
            cells += [f"{row['means'][measure]:.4f}{marked}", p_cell(p)]
            if row is _ranked(result, measure)[0]:
                best.append((place, 1 + 2 * column))
        rows.append([*cells, f"{row['seconds']:.1f}"])
    for other in result["published"]:
        figures = (other["figures"].get(measure) for measure in measures)
        cells = [text for figure in figures for text in ("" if figure is None else f"{figure:.3f}", "")]
        rows.append([f"{other['name']} ({other['source']})", *cells, ""])
    others = " Below, figures that others published for the same data." if result["published"] else ""
    caption = (
        f"Mean over folds. p is against {result['baseline']}, over all test queries, by a randomisation test "
        f"after Holm's correction over methods; {MARK_SAYS} p at most {_LEVEL:g}. The best stand out.{others}"
    )
    return Table(headers, rows, caption, best=best)


def _charts(result: Result) -> list[Chart]:
    """One figure a measure: the mean over folds, and from the worst fold to the best."""
    charts = []
    for measure in result["measures"]:
        rows = _ranked(result, measure)
        folds = [row["folds"][measure] for row in rows]
        baseline = next((row for row in rows if row["method"] == result["baseline"]), None)
        charts.append(Chart(
            f"{measure} by method", f"{measure} by method", "dots", "method", measure,
            [Series(measure, [row["method"] for row in rows], [row["means"][measure] for row in rows],
                    [min(each) for each in folds], [max(each) for each in folds])],
            "Mean over folds; the line goes from the lowest fold to the highest. Folds may differ more than "
            "methods do: methods are compared query by query below.",
            lines=_level(result["baseline"], baseline, measure) if len(rows) > 1 else [],
        ))  # fmt: skip
    return charts


def _level(name: str, row: Result | None, measure: str) -> list[tuple[str, float]]:
    return [] if row is None else [(name, row["means"][measure])]


def _against(result: Result) -> Iterator[Part]:
    """Wins and losses of every method, and query by query those of the best."""
    headers = ["method", "measure", "difference", "interval", "p Holm", "wins", "ties", "losses", "queries"]
    rows = [
        [
            row["b"], row["measure"], signed(row["difference"], _is_significant(row)), interval(row),
            p_cell(row["holm_randomisation"]), row["wins"], row["ties"], row["losses"], row["n_queries"],
        ]
        for row in result["differences"]
    ]  # fmt: skip
    yield Table(
        headers, rows,
        f"Each method less {result['baseline']}, over all test queries: the mean difference with its 95 % "
        "bootstrap interval, and on how many queries it is better, the same and worse. "
        f"{MARK_SAYS} p at most {_LEVEL:g} after Holm's correction.",
    )  # fmt: skip
    for measure in result["measures"]:
        yield from _best_query_by_query(result, measure)


def _best_query_by_query(result: Result, measure: str) -> Iterator[Chart]:
    """The best method but the baseline, against the baseline."""
    baseline = result["baseline"]
    best = next((row["method"] for row in _ranked(result, measure) if row["method"] != baseline), None)
    if best is None:
        return
    values, lower = result["values"][measure], result["lower_is_better"][measure]
    found, _ = gains(values[baseline], values[best], lower)
    yield difference_chart(measure, (baseline, best), found)


def _time(result: Result) -> Chart:
    measure = result["measures"][0]
    rows: Sequence[Any] = result["methods"]
    return Chart(
        "time against quality", f"{measure} against the time it took", "points",
        "seconds, choosing settings included", measure,
        [Series("methods", [row["seconds"] for row in rows], [row["means"][measure] for row in rows])],
        "Each point is a method: the further left, the faster; the higher, the "
        f"{'worse' if result['lower_is_better'][measure] else 'better'}. Seconds are by the clock, over all "
        "folds.",
        x_log=True, labels=[row["method"] for row in rows],
    )  # fmt: skip


def _settings(result: Result, folds: int) -> Table:
    rows = [
        [
            row["method"],
            *(_brief(each) for each in row["parameters"]),
            *[""] * (folds - len(row["parameters"])),
        ]
        for row in result["methods"]
    ]
    chosen = f"What was chosen on each fold's validation part, by {result['measures'][0]}"
    return Table(["method", *(f"fold {number}" for number in range(1, folds + 1))], rows, chosen)


def _brief(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={brief(value)}" for name, value in parameters.items())
