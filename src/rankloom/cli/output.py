"""What a command prints on standard output: a table for a person, or one JSON document for a program."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click


def print_json(document: Any) -> None:
    """Exactly one JSON document. What JSON has no word for (NaN, infinities) becomes null."""
    click.echo(json.dumps(as_json(document), indent=2, allow_nan=False))


def as_json(value: Any) -> Any:
    """`value` with NumPy's numbers and arrays as Python's own, and None for numbers that are not finite."""
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, str) or value is None:
        return value
    if hasattr(value, "tolist"):
        return as_json(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Iterable):
        return [as_json(item) for item in value]
    return value


def print_table(headers: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None) -> None:
    """Columns under headers: in colour on a terminal; elsewhere plain text, never cut, whatever the width."""
    cells = [[_text(cell) for cell in row] for row in rows]
    right = [_is_number_column(cells, column) for column in range(len(headers))]
    if sys.stdout.isatty():
        _rich_table(headers, cells, right, title)
        return
    if title:
        click.echo(title)
    for line in plain_lines(headers, cells, right):
        click.echo(line)


def plain_lines(headers: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool]) -> list[str]:
    """The lines of a plain table: two blanks between columns, a rule under the headers, none at the end."""
    table = [list(headers), *cells]
    widths = [max(len(row[column]) for row in table) for column in range(len(headers))]

    def line(row: Sequence[str]) -> str:
        parts = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        return "  ".join(parts).rstrip()

    return [line(headers), "  ".join("-" * width for width in widths), *(line(row) for row in cells)]


def number(value: float, digits: int = 4) -> str:
    """A measure's value for a table; a dash where there is none."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def count(value: int) -> str:
    """A whole number, with commas between thousands."""
    return f"{value:,}"


def counted(number: int, noun: str) -> str:
    """How many of something: 1 row, 2 rows, 3 queries."""
    if number == 1:
        return f"1 {noun}"
    return f"{count(number)} {noun[:-1]}ies" if noun.endswith("y") else f"{count(number)} {noun}s"


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return number(cell)
    return count(cell) if isinstance(cell, int) and not isinstance(cell, bool) else str(cell)


def _is_number_column(cells: Sequence[Sequence[str]], column: int) -> bool:
    texts = [row[column] for row in cells]
    return bool(texts) and all(text[:1].isdigit() or text[:1] in "-+." or text == "" for text in texts)


def _rich_table(
    headers: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool], title: str | None
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for header, to_right in zip(headers, right, strict=True):
        table.add_column(Text(header), justify="right" if to_right else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def print_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """What is what, a line each."""
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        click.echo(f"{name.ljust(width)}  {value}")


def print_item(text: str) -> None:
    """One point of a list, broken into lines that fit the terminal (or 100 letters, where there is none)."""
    width = max(40, shutil.get_terminal_size((100, 24)).columns)
    wrapper = textwrap.TextWrapper(width, initial_indent="- ", subsequent_indent="  ", break_long_words=False)
    click.echo(wrapper.fill(text))
