"""What a protocol found: facts that JSON can say, and a table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankloom.data.ranking_data import RankingData
from rankloom.experiments.kept import plain

Table = tuple[list[str], list[list[str]]]


class Findings:
    """What came of a protocol.

    Args:
        kind: which protocol it was.
        facts: all of it, as JSON can say it.
        table: makes headers and rows of the facts.
        data: what it ran on, by part.
        note: a line that belongs below the table.
    """

    def __init__(
        self,
        kind: str,
        facts: Mapping[str, Any],
        table: Callable[[Mapping[str, Any]], Table],
        data: Mapping[str, RankingData] | None = None,
        note: str = "",
    ) -> None:
        self.kind = self.run_kind = kind
        self.data, self.note = dict(data or {}), note
        self._facts: dict[str, Any] = plain(facts)
        self._table = table

    def table(self) -> Table:
        """Headers and rows."""
        return self._table(self._facts)

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can say it."""
        return self._facts

    def for_run(self) -> dict[str, Any]:
        """What a run on record keeps of it, for a report."""
        return self._facts

    def __str__(self) -> str:
        lines = aligned(*self.table())
        return "\n".join([*lines, self.note] if self.note else lines)

    def __repr__(self) -> str:
        return f"Findings({self.kind}: {', '.join(self._facts)})"


def aligned(headers: list[str], rows: list[list[str]]) -> list[str]:
    """A table as lines of text, its columns one below the other."""
    widths = [max(len(row[column]) for row in [headers, *rows]) for column in range(len(headers))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [headers, *rows]
    ]


def p_text(value: float | None) -> str:
    """A p-value in a sentence."""
    if value is None:
        return "unknown"
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def figure(value: float | None, digits: int = 4) -> str:
    """A number for a table; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"
