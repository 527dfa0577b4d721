"""Drawings inside a page: no id is used twice, colours are the page's, nothing of the program is left."""

from __future__ import annotations

import re

from rankloom.reports.colours import FIGURES
from rankloom.reports.figures import NARROW, WIDE, svg
from rankloom.reports.parts import Chart, Series
from rankloom.reports.svg import inlined, standalone

CHART = Chart(
    "n", "A <title>", "lines", "x", "y",
    [Series('b" id="f1-t', [1, 2, 3], [1, 2, 1], [0, 1, 0], [2, 3, 2]), Series("b", [1, 2], [2, 2])],
    'in "words" & more',
)  # fmt: skip


def test_ids_begin_with_what_they_should_and_are_all_used() -> None:
    both = inlined(svg(CHART, WIDE), "f1", CHART.title, CHART.says) + inlined(
        svg(CHART, NARROW), "f2", CHART.title, CHART.says
    )
    tags = re.findall(r"<[a-zA-Z][^>]*>", both)
    ids = [found for tag in tags for found in re.findall(r'\sid="([^"]+)"', tag)]
    assert len(ids) == len(set(ids))
    assert {name.split("-")[0] for name in ids} == {"f1", "f2"}
    used = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', both))
    assert {a or b for a, b in used} | {f"{f}-{end}" for f in ("f1", "f2") for end in "td"} == set(ids)


def test_colours_are_the_pages() -> None:
    drawn = inlined(svg(CHART, WIDE), "f1", CHART.title, CHART.says)
    assert "var(--c1)" in drawn
    assert "var(--soft)" in drawn
    assert not re.findall(r"#[0-9a-f]{6}\b", drawn)
    assert "font-family" not in drawn
    alone = standalone(svg(CHART, WIDE), CHART.title, CHART.says)
    assert "var(" not in alone
    assert FIGURES["c1"].light in alone


def test_titles_are_escaped_and_nothing_is_left_of_the_program() -> None:
    drawn = inlined(svg(CHART, WIDE), "f1", CHART.title, CHART.says)
    assert '<title id="f1-t">A &lt;title&gt;</title>' in drawn
    assert "in &quot;words&quot; &amp; more</desc>" in drawn
    for word in ("metadata", "matplotlib", "<style", "<?xml", "DOCTYPE", "xlink"):
        assert word not in drawn
