"""A page as one HTML file: style sheet and figures inside, nothing from anywhere else, no script.

All that comes from a run is escaped. A content security policy keeps the browser from loading anything,
whatever a name in the run may look like.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from rankloom.reports.cells import is_number_column, shown
from rankloom.reports.colours import style_variables
from rankloom.reports.figures import NARROW, WIDE, svg
from rankloom.reports.made import made_of, when_and_how_long
from rankloom.reports.parts import Chart, Page, Part, Section, Table, Text
from rankloom.reports.svg import inlined

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_CODE = re.compile(r"`([^`]+)`")
_LISTED = 3  # so many sentences stand as paragraphs, more as a list
_FEW_NUMBERS = 200
_SHORT_PAGE = 2
_LONG, _LONG_NAME = 34, 26  # letters of a cell, or of the name of a row, beyond which it may be broken


def html(page: Page, run: Mapping[str, Any]) -> str:
    """The whole file."""
    version = run["versions"].get("rankloom", "")
    style = style_variables() + files("rankloom.reports").joinpath("style.css").read_text(encoding="utf-8")
    sections = [*page.sections, Section("How this was made", [])]
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta name="generator" content="rankloom {_clean(version)}">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="color-scheme" content="light dark">',
        '<link rel="icon" href="data:,">',
        f"<title>{_clean(page.title)}</title>",
        f"<style>\n{style}</style>",
        "</head>",
        "<body>",
        f'<header><p class="kind">rankloom {_clean(run["kind"])}</p><h1>{_clean(page.title)}</h1>'
        f'<p class="when">{_clean(when_and_how_long(run))}</p></header>',
        "<main>",
        _lead(page.lead),
        _contents(sections),
        *(_section(f"s{number}", section) for number, section in enumerate(page.sections, 1)),
        _made(f"s{len(sections)}", run),
        "</main>",
        f"<footer>Made by rankloom {_clean(version)}; this page needs no network.</footer>",
        "</body>",
        "</html>",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def _clean(text: Any) -> str:
    """A text as HTML: escaped, and without what no file can hold."""
    told = "".join(letter for letter in str(text) if letter.isprintable() or letter in "\n ")
    return escape(told.encode("utf-8", "replace").decode())


def _prose(text: str) -> str:
    """The same, with what stands between backticks as code."""
    return _CODE.sub(r"<code>\1</code>", _clean(text))


def _lead(sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    if len(sentences) <= _LISTED:
        inner = "".join(f"<p>{_prose(sentence)}</p>" for sentence in sentences)
    else:
        inner = "<ul>" + "".join(f"<li>{_prose(sentence)}</li>" for sentence in sentences) + "</ul>"
    return f'<section class="lead" aria-label="The outcome">{inner}</section>'


def _contents(sections: Sequence[Section]) -> str:
    if len(sections) <= _SHORT_PAGE:
        return ""
    links = "".join(
        f'<li><a href="#s{number}">{_clean(section.title)}</a></li>'
        for number, section in enumerate(sections, 1)
    )
    return f'<nav aria-label="On this page"><ul>{links}</ul></nav>'


def _section(name: str, section: Section) -> str:
    parts = "\n".join(_part(f"{name}-{number}", part) for number, part in enumerate(section.parts, 1))
    return (
        f'<section aria-labelledby="{name}"><h2 id="{name}">{_clean(section.title)}</h2>\n{parts}</section>'
    )


def _part(name: str, part: Part) -> str:
    if isinstance(part, Text):
        return f"<p>{_prose(part.text)}</p>"
    return table(name, part) if isinstance(part, Table) else _figure(name, part)


def table(name: str, part: Table) -> str:
    """A table in a box of its own that scrolls where the screen is narrow."""
    numbers = [column > 0 and is_number_column(part, column) for column in range(len(part.headers))]
    best = set(map(tuple, part.best))
    caption = f'<caption><span id="{name}-c">{_prose(part.caption)}</span></caption>' if part.caption else ""
    told = f'aria-labelledby="{name}-c"' if part.caption else 'aria-label="A table"'
    heads = "".join(
        f'<th scope="col"{_class(right)}>{_clean(header)}</th>'
        for header, right in zip(part.headers, numbers, strict=True)
    )
    rows = "".join(
        f"<tr>{''.join(_cells(row, place, numbers, part.digits, best))}</tr>\n"
        for place, row in enumerate(part.rows)
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" {told}><table>{caption}'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>"
    )


def _class(right: bool, text: str = "", longest: int = _LONG) -> str:
    if right:
        return ' class="n"'
    return (' class="long"' if len(text) > longest else ' class="s"') if text else ""


def _cells(
    row: Sequence[Any], place: int, numbers: Sequence[bool], digits: int, best: Iterable[tuple[int, ...]]
) -> Iterator[str]:
    for column, (value, right) in enumerate(zip(row, numbers, strict=False)):
        text = shown(value, digits)
        inner = _marked(text) if right else _clean(text)
        inner = f"<strong>{inner}</strong>" if (place, column) in best else inner
        if column == 0:
            yield f'<th scope="row"{_class(right, text, _LONG_NAME)}>{inner}</th>'
        else:
            yield f"<td{_class(right, text)}>{inner}</td>"


def _marked(text: str) -> str:
    """A mark behind a number hangs beside it, so that numbers stay aligned."""
    bare = text.rstrip("*")
    return _clean(bare) + (f"<sup>{text[len(bare) :]}</sup>" if bare != text else "")


def _figure(name: str, chart: Chart) -> str:
    """Drawn twice, for wide and for narrow screens; the style sheet shows one of them."""
    drawings = "".join(
        inlined(svg(chart, look), f"{name}-{look.name[0]}", chart.title, chart.says, look.name)
        for look in (WIDE, NARROW)
    )
    says = f"<span>{_prose(chart.says)}</span>" if chart.says else ""
    caption = f"<figcaption><strong>{_prose(chart.title)}</strong>{says}</figcaption>"
    return f"<figure>{caption}{drawings}{_numbers(name, chart)}</figure>"


def _numbers(name: str, chart: Chart) -> str:
    """The values of a figure as a table, for who would rather read."""
    count = sum(len(one.y) for one in chart.series)
    if chart.kind == "differences" or not 0 < count <= _FEW_NUMBERS:
        return ""
    several = len(chart.series) > 1
    around = any(one.low is not None and one.high is not None for one in chart.series)
    labelled = bool(chart.labels) and chart.kind == "points"
    headers = [
        *(["what"] if labelled else []), *(["series"] if several else []), chart.x_label, chart.y_label,
        *(["from", "to"] if around else []),
    ]  # fmt: skip
    rows: list[list[Any]] = []
    for one in chart.series:
        for place, (x, y) in enumerate(zip(one.x, one.y, strict=False)):
            label = chart.labels[place] if labelled and place < len(chart.labels) else ""
            ends = [one.low and one.low[place], one.high and one.high[place]] if around else []
            rows.append([*([label] if labelled else []), *([one.name] if several else []), x, y, *ends])
    inner = table(f"{name}-n", Table(headers, rows, f"The numbers of this figure: {chart.title}"))
    return f"<details><summary>The numbers</summary>{inner}</details>"


def _made(name: str, run: Mapping[str, Any]) -> str:
    """What it takes to do the same again."""
    command, tables = made_of(run)
    words = " ".join(f"<span>{_clean(word)}</span>" for word in command.split(" "))
    told = f"<pre><code>{words}</code></pre>" if command else ""
    facts = ""
    for number, part in enumerate(tables, 1):
        whole = ' class="whole"' if len(part.headers) > 2 else ""
        facts += f"<div{whole}>{table(f'{name}-{number}', part)}</div>"
    return (
        f'<section aria-labelledby="{name}"><h2 id="{name}">How this was made</h2>{told}'
        f'<div class="facts">{facts}</div></section>'
    )
