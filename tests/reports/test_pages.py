"""The pages of runs: what the result says is what the page says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankloom.reports.html import html
from rankloom.reports.make import figures_of, page_of
from rankloom.reports.parts import Chart, Page, Section, Series, Table, Text
from reports import runs
from reports.outline import Outline, check


@pytest.fixture(scope="module")
def letor(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return runs.letor(tmp_path_factory.mktemp("letor") / "folds")


def shown(run: dict[str, Any]) -> Outline:
    return check(html(page_of(run), run))


def tables(page: Page) -> dict[str, Table]:
    """The tables of a page by their first header and how many columns they have."""
    return {
        f"{part.headers[0]} {len(part.headers)}": part
        for section in page.sections
        for part in section.parts
        if isinstance(part, Table)
    }


def charts(page: Page) -> dict[str, Chart]:
    return dict(figures_of(page))


def test_a_comparison() -> None:
    found = runs.comparison()
    run = runs.run_of(found)
    page, told = page_of(run), shown(run).words()
    for row in found:
        assert " ".join(found.summary().split())[:60] in told
        difference = f"{row.difference:+.4f}"
        assert f"{difference} *" in told if found.significant(row) else difference in told
    assert any(map(found.significant, found))
    assert "Less is better: logloss." in told
    assert "rankloom <made>" in told
    wins = next(each for name, each in tables(page).items() if "wins" in each.headers)
    assert [tuple(row[3:7]) for row in wins.rows] == [
        (row.wins, row.ties, row.losses, row.n_queries) for row in found
    ]
    drawn = charts(page)
    means = drawn["ndcg-5-by-system"].series[0]
    assert list(means.x) == list(found.systems)
    assert means.y[0] == pytest.approx(found[0].mean_a)
    assert means.low is not None
    assert means.low[0] < means.y[0] < means.high[0]  # type: ignore[index, operator]


def test_differences_are_turned_so_that_above_is_better() -> None:
    found = runs.comparison()
    drawn = charts(page_of(runs.run_of(found)))
    row = next(row for row in found if row.measure == "logloss" and row.b == "new")
    values = drawn["logloss-new-against-old"].series[0].y
    assert sum(value > 0 for value in values) == row.wins
    assert np.mean(values) == pytest.approx(row.gain)


def test_reliability_only_where_scores_may_be_probabilities() -> None:
    run = runs.run_of(runs.comparison())
    curve = charts(page_of(run))["reliability"]
    assert curve.diagonal
    assert [one.name for one in curve.series] == list(runs.comparison().systems)
    run["result"]["reliability"] = {}
    assert "reliability" not in charts(page_of(run))
    assert "probabilities" not in shown(run).words()


def test_names_are_text_and_never_markup() -> None:
    run = runs.run_of(runs.comparison())
    page = html(page_of(run), run)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert(1)</script>" in check(page).words()


def test_a_tuning() -> None:
    found = runs.tuning()
    run = runs.run_of(found)
    page, told = page_of(run), shown(run).words()
    best = found.best
    assert f"lam={best.parameters['lam']:g}, alpha={best.parameters['alpha']:g} was the best" in told
    assert f"{best.value:.4f}" in told
    assert "2 failed" in told
    assert "lam must be a number > 0" in told
    drawn = charts(page)
    curve = drawn["ndcg-10-by-lam"]
    assert curve.x_log
    assert [one.name for one in curve.series] == ["alpha=0.2", "alpha=0.8"]
    values = {tuple(sorted(trial.parameters.items())): trial.value for trial in found}
    for one, alpha in zip(curve.series, (0.2, 0.8), strict=True):
        assert list(one.y) == [values[("alpha", alpha), ("lam", lam)] for lam in one.x]
    weights = drawn["features"].series[0]
    assert dict(zip(weights.x, weights.y, strict=True)) == found.best_model.named_weights(20)


def test_letor_says_what_its_table_says(letor: Any) -> None:
    run = runs.run_of(letor)
    page, told = page_of(run), shown(run).words()
    for row in letor:
        for measure in letor.measures:
            assert f"{row.means[measure]:.4f}" in told
    drawn = charts(page)
    best = max((row for row in letor if row.method != "spd"), key=lambda row: row.means["map"])
    values = run["result"]["values"]["map"]
    expected = np.subtract(values[best.method], values["spd"])
    assert np.sort(drawn[f"map-{best.method}-against-spd"].series[0].y) == pytest.approx(np.sort(expected))
    counts = next(each for each in tables(page).values() if "losses" in each.headers)
    row = next(row for row in counts.rows if row[0] == best.method and row[1] == "map")
    assert row[5] == sum(expected > 1e-12)
    assert row[7] == sum(expected < -1e-12)
    assert drawn["time-against-quality"].labels == [row.method for row in letor]
    assert "fold 2" in told


def test_one_method_alone_has_a_page(letor: Any) -> None:
    run = runs.run_of(letor)
    result = run["result"]
    result["methods"] = [row for row in result["methods"] if row["method"] == "spd"]
    result["differences"] = []
    assert "1 method over 2 folds" in shown(run).words()


def test_parts_of_every_sort() -> None:
    run = runs.run_of(runs.comparison())
    page = Page(
        "Title & more", ["First, `code`.", "Second."],
        [
            Section("One", [
                Text("A `b<c` d"),
                Table(
                    ["what", "many", "some"],
                    [["x", 1234, 0.5], ["y", None, float("nan")], ["z", 7, "1.5*"]],
                    "Numbers", digits=2, best=[(0, 2)],
                ),
                Chart("c", "C", "lines", "x", "y", [Series("s", [1, 2], [3.0, 4.0], [1.0, None], [5.0, 5])]),
            ]),
            Section("Empty", []),
        ],
    )  # fmt: skip
    text = html(page, run)
    told = check(text)
    assert "<code>b&lt;c</code>" in text
    assert "<strong>0.50</strong>" in text
    assert "1,234" in text
    assert "1.5<sup>*</sup>" in text
    assert "Title & more" in told.words()
    assert [each["aria-labelledby"] for each in told.all("section")[1:]] == ["s1", "s2", "s3"]
    assert len(told.all("details")) == 1
    assert "The numbers of this figure: C" in told.words()


def test_how_it_was_made_is_there() -> None:
    run = runs.run_of(runs.tuning())
    run.update(command="rankloom tune crr 'my data.txt'", seconds=75.2, settings={"measure": ["map", "mse"]})
    run["data"] = {"train": runs.tuning().data["train"], "odd": {"rows": {}}, "other": None}
    told = shown(run).words()
    for word in (
        "rankloom tune crr 'my data.txt'", "1 min 15 s", "map, mse", runs.data()[0].fingerprint(), "numpy",
        "cores", run["made"][:10],
    ):  # fmt: skip
        assert word in told
    run.update(command=None, seconds=None, made="some day", settings={}, data={})
    shown(run)
