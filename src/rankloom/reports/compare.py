"""The page of a comparison: means, differences with their tests, won and lost queries, reliability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankloom.measures.comparison import TESTS
from rankloom.reports.paired import MARK_SAYS, difference_chart, gains, interval, p_cell, signed
from rankloom.reports.parts import Chart, Page, Part, Section, Series, Table, Text

_CHARTS = 12  # of single queries: so many rows of the table have one
_WITH_QUERIES = 4  # with so few rows, the queries that differ most are named
_EXTREMES = 5
_INTERVALS = {"percentile": "bootstrap", "bca": "BCa bootstrap", "t": "Student's t"}

Result = Mapping[str, Any]


def page(run: Mapping[str, Any]) -> Page:
    """A page of a run of kind "compare"."""
    result = run["result"]
    rows = result["rows"]
    systems = result["systems"]
    title = f"{systems[1]} against {systems[0]}" if len(systems) == 2 else f"{len(systems)} rankings compared"
    sections = [
        Section("Means", [*_mean_charts(result), _mean_table(result)]),
        Section("Differences and tests", [*_difference_tables(result), *_notes(rows)]),
        Section("Query by query", list(_query_parts(result))),
    ]
    if result["reliability"]:
        sections.append(Section("Can scores be taken as probabilities?", _reliability(result["reliability"])))
    return Page(title, [row["summary"] for row in rows], sections)


def _mean_charts(result: Result) -> list[Chart]:
    """One figure a measure: each system's mean and its interval."""
    percent, keys = f"{result['confidence'] * 100:g} %", ("mean", "low", "high")
    return [
        Chart(
            f"{measure} by system", f"{measure} by system", "dots", "system", measure,
            [Series(measure, list(means), *([one[key] for one in means.values()] for key in keys))],
            f"Means over queries; the line is each mean's own {percent} interval. Systems are compared on "
            "the same queries, so that a difference can be clear where these intervals overlap.",
        )
        for measure, means in result["means"].items()
    ]  # fmt: skip


def _mean_table(result: Result) -> Table:
    measures = list(result["means"])
    lower = {row["measure"] for row in result["rows"] if row["lower_is_better"]}
    rows: list[list[Any]] = []
    for system in result["systems"]:
        each = [result["means"][measure][system] for measure in measures]
        rows.append([system, *(cell for one in each for cell in (one["mean"], interval(one, sign=False)))])
    best = []
    for place, measure in enumerate(measures):
        column = [row[1 + 2 * place] for row in rows]
        known = [value for value in column if value is not None]
        if known:
            wanted = min(known) if measure in lower else max(known)
            best += [(at, 1 + 2 * place) for at, value in enumerate(column) if value == wanted]
    headers = ["system", *(text for measure in measures for text in (measure, "interval"))]
    return Table(
        headers,
        rows,
        "Mean over the queries that have a value, and its interval; the best stand out",
        best=best,
    )


def _difference_tables(result: Result) -> list[Part]:
    """What the tests found; then all of what they are based on."""
    test, rows = result["test"], result["rows"]
    over = f" after Holm's correction over all {len(rows)} rows" if len(rows) > 1 else ""
    less = list(dict.fromkeys(row["measure"] for row in rows if row["lower_is_better"]))
    caption = (
        f"The mean difference over the queries where both have a value. {MARK_SAYS} p at most "
        f"{result['alpha']:g} by the {TESTS[test]}{over} (p Holm). Intervals: "
        f"{result['confidence'] * 100:g} %, {_INTERVALS[result['interval']]}, one by one."
        + (f" Less is better: {', '.join(less)}." if less else "")
    )
    found = [
        [
            row["measure"], row["a"], row["b"], row["mean_a"], row["mean_b"],
            signed(row["difference"], row["significant"]), interval(row), p_cell(row[f"holm_{test}"]),
        ]
        for row in rows
    ]  # fmt: skip
    counts = [
        [
            row["measure"], row["a"], row["b"], row["wins"], row["ties"], row["losses"], row["n_queries"],
            *(p_cell(row[f"p_{name}"]) for name in ("t", "wilcoxon", "randomisation")),
        ]
        for row in rows
    ]  # fmt: skip
    return [
        Table(["measure", "A", "B", "mean A", "mean B", "B − A", "interval", "p Holm"], found, caption),
        Table(
            ["measure", "A", "B", "wins", "ties", "losses", "queries", "p t", "p Wilcoxon", "p random."],
            counts,
            "On how many queries B is better, the same and worse; the p-values of all tests, not corrected",
        ),
    ]  # fmt: skip


def _notes(rows: Sequence[Result]) -> list[Part]:
    return [
        Text(f"{row['measure']}, {row['b']} against {row['a']}: {row['note']}.")
        for row in rows
        if row["note"]
    ]


def _query_parts(result: Result) -> Iterator[Part]:
    """For each row of the table its queries, as far as there are not too many rows."""
    rows = result["rows"]
    for row in rows[:_CHARTS]:
        names = row["a"], row["b"]
        values = result["values"][row["measure"]]
        found, kept = gains(values[row["a"]], values[row["b"]], row["lower_is_better"])
        yield difference_chart(row["measure"], names, found)
        if len(rows) <= _WITH_QUERIES and len(found):
            yield _extremes(row, values, found, [result["queries"][place] for place in kept], kept)
    if len(rows) > _CHARTS:
        yield Text(f"The first {_CHARTS} of {len(rows)} rows of the table are drawn.")


def _extremes(
    row: Result, values: Mapping[str, Sequence[Any]], found: Any, queries: list[Any], kept: Any
) -> Table:
    """The queries on which two systems differ most."""
    order = sorted(range(len(found)), key=lambda place: -found[place])
    won = [place for place in order if found[place] > 0][:_EXTREMES]
    lost = [place for place in order if found[place] < 0][-_EXTREMES:]
    rows = [
        [
            str(queries[place]),
            values[row["a"]][kept[place]],
            values[row["b"]][kept[place]],
            signed(float(found[place])),
        ]
        for place in [*won, *lost]
    ]
    gain = f"{row['b']} is better by"
    return Table(
        ["query", row["a"], row["b"], gain],
        rows,
        f"{row['measure']}: the queries on which the two differ most",
    )


def _reliability(curves: Mapping[str, Result]) -> list[Part]:
    """Predicted against observed, in ten bins."""
    series = [Series(name, curve["predicted"], curve["observed"]) for name, curve in curves.items()]
    gaps = {
        name: sum(
            weight * abs(seen - said)
            for weight, seen, said in zip(
                curve["weights"], curve["observed"], curve["predicted"], strict=True
            )
        )
        / (sum(curve["weights"]) or 1.0)
        for name, curve in curves.items()
    }
    says = (
        "Rows in ten bins by score: where a system's points lie on the dashed line, its scores are right as "
        "probabilities; below it, they promise too much."
    )
    rows = [
        [name, f"{low:.2g} to {high:.2g}", count, said, seen]
        for name, curve in curves.items()
        for low, high, count, said, seen in zip(
            *(curve[key] for key in ("lower", "upper", "counts", "predicted", "observed")), strict=True
        )
    ]
    return [
        Chart("reliability", "Reliability", "lines", "mean score", "mean label", series, says, diagonal=True),
        Table(["system", "calibration error"], [[name, gap] for name, gap in gaps.items()],
              "Expected calibration error: the mean distance from the line, by rows"),
        Table(["system", "bin", "rows", "mean score", "mean label"], rows, "The bins"),
    ]  # fmt: skip
