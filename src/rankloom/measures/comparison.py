"""What a comparison found: rows of plain numbers, a table, and sentences that claim no more than those."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

from rankloom.errors import InputError

if TYPE_CHECKING:
    from rankloom.measures.detail import Detail

TESTS = {"randomisation": "randomisation test", "t": "paired t-test", "wilcoxon": "Wilcoxon signed-rank test"}

_HEADINGS = (
    "measure",
    "A",
    "B",
    "mean A",
    "mean B",
    "B - A",
    "interval",
    "wins",
    "ties",
    "losses",
    "queries",
)
_P_HEADINGS = ("p t", "p Wilcoxon", "p random.", "p Holm")


@dataclass(frozen=True, slots=True)
class Difference:
    """System `b` against system `a` by one measure, over the queries that have a value for both.

    `difference` is mean_b - mean_a, `low` to `high` its bootstrap interval. `wins` counts queries where `b`
    is better, `losses` where `a` is. `p_...` are two-sided p-values, `holm_...` the same after Holm's
    correction over all rows. None stands where a number is not defined; `note` says why.
    """

    measure: str
    a: str
    b: str
    lower_is_better: bool
    n_queries: int
    n_skipped: int
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    low: float | None
    high: float | None
    wins: int
    ties: int
    losses: int
    p_t: float | None
    p_wilcoxon: float | None
    p_randomisation: float | None
    weighted: bool = False
    holm_t: float | None = None
    holm_wilcoxon: float | None = None
    holm_randomisation: float | None = None
    note: str = ""

    def p(self, test: str) -> float | None:
        """The p-value of "randomisation", "t" or "wilcoxon", before Holm's correction."""
        value: float | None = getattr(self, f"p_{test}")
        return value

    def holm(self, test: str) -> float | None:
        """The p-value of "randomisation", "t" or "wilcoxon", after Holm's correction."""
        value: float | None = getattr(self, f"holm_{test}")
        return value

    @property
    def gain(self) -> float:
        """How much better `b` is than `a`: the difference, turned round where lower is better."""
        return (self.difference or 0.0) * (-1.0 if self.lower_is_better else 1.0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows of a comparison, and how they came about. `print(comparison)` shows a table and a summary."""

    run_kind: ClassVar[str] = "compare"

    rows: tuple[Difference, ...]
    systems: tuple[str, ...]
    test: str
    confidence: float
    interval: str
    resamples: int
    seed: int
    detail: Detail | None = field(default=None, repr=False, compare=False)
    """Every system's value for every query."""

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> Difference:
        return self.rows[row]

    @property
    def alpha(self) -> float:
        """The level of the tests: 1 - confidence."""
        return round(1.0 - self.confidence, 12)

    def significant(self, row: Difference) -> bool:
        """Whether the comparison's test, after Holm's correction, rejects that the two are alike."""
        p = row.holm(self.test)
        return p is not None and p <= self.alpha

    def summary(self) -> str:
        """One sentence a row."""
        return "\n".join(sentence(self, row) for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON's own types."""
        settings = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name not in ("rows", "detail")
        }
        rows = [
            asdict(row) | {"significant": self.significant(row), "summary": sentence(self, row)}
            for row in self.rows
        ]
        return settings | {
            "systems": list(self.systems),
            "alpha": self.alpha,
            "tests": len(self.rows),
            "rows": rows,
        }

    def for_run(self) -> dict[str, Any]:
        """Everything, and every system's value for every query: what a report is made from."""
        if self.detail is None:
            raise InputError("this comparison has no values by query; compare again to have a report of it")
        return {**self.to_dict(), **self.detail.to_dict(self)}

    def __str__(self) -> str:
        return f"{table(self)}\n\n{self.summary()}"


def table(comparison: Comparison) -> str:
    """The rows as aligned text."""
    lines = [(*_HEADINGS, *_P_HEADINGS), *(cells(comparison, row) for row in comparison.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    left = 3  # names are aligned to the left, numbers to the right
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def cells(comparison: Comparison, row: Difference) -> tuple[str, ...]:
    """One row of the table, as text."""
    interval = "-" if row.low is None else f"{number(row.low, sign=True)} to {number(row.high, sign=True)}"
    counts = (row.wins, row.ties, row.losses, row.n_queries)
    p_values = (row.p_t, row.p_wilcoxon, row.p_randomisation, row.holm(comparison.test))
    return (
        row.measure,
        row.a,
        row.b,
        number(row.mean_a),
        number(row.mean_b),
        number(row.difference, sign=True),
        interval,
        *map(str, counts),
        *map(p_text, p_values),
    )


def number(value: float | None, *, sign: bool = False) -> str:
    """Four decimals, or two digits and an exponent where four decimals would show too little or too much."""
    if value is None:
        return "-"
    plain = value == 0 or 1e-4 <= abs(value) < 1e5
    return f"{value:{'+' if sign else ''}{'.4f' if plain else '.2g'}}"


def p_text(p: float | None) -> str:
    """Four decimals; what is smaller is not told apart."""
    if p is None:
        return "-"
    return f"{p:.4f}" if p >= 1e-4 else "<0.0001"


def sentence(comparison: Comparison, row: Difference) -> str:
    """What the row shows, and no more."""
    if row.n_queries == 0:
        return _with_note(f"{row.measure}: no query could be compared ({row.n_skipped} skipped).", row)
    if row.wins == row.losses == 0:
        queries = "the one query" if row.n_queries == 1 else f"each of the {row.n_queries} queries"
        return _with_note(f"{row.measure}: {row.a} and {row.b} score the same on {queries}.", row)
    said = _found(comparison, row) if comparison.significant(row) else _not_found(comparison, row)
    return _with_note(f"{said} {_counts(row)}", row)


def _found(comparison: Comparison, row: Difference) -> str:
    if comparison.test == "wilcoxon" and (row.wins - row.losses) * row.gain <= 0:
        return (
            f"{row.measure}: {row.a} and {row.b} differ, but neither is better all round: "
            f"{row.b} - {row.a} is {number(row.difference, sign=True)} ({_evidence(comparison, row)})."
        )
    better, worse = (row.b, row.a) if row.gain > 0 else (row.a, row.b)
    size = f"{number(abs(row.gain))} {row.measure}"
    lower = " (lower is better)" if row.lower_is_better else ""
    return f"{better} is better than {worse} by {size}{lower} ({_evidence(comparison, row)})."


def _not_found(comparison: Comparison, row: Difference) -> str:
    shown = f"{row.measure}: no difference between {row.a} and {row.b} is shown"
    return (
        f"{shown}; {row.b} - {row.a} is {number(row.difference, sign=True)} ({_evidence(comparison, row)})."
    )


def _evidence(comparison: Comparison, row: Difference) -> str:
    parts = []
    if row.low is not None and row.high is not None:
        flip = comparison.significant(row) and (row.difference or 0.0) < 0
        low, high = (-row.high, -row.low) if flip else (row.low, row.high)
        parts.append(f"{comparison.confidence * 100:g} % interval {number(low)} to {number(high)}")
    p, alone = row.holm(comparison.test), row.p(comparison.test)
    name = TESTS[comparison.test]
    if p is None or alone is None:
        return ", ".join([*parts, f"{name}: not defined here"])
    after = f" after Holm over {len(comparison)} tests" if len(comparison) > 1 else ""
    only_alone = f"; {_told(alone)} if it were the only test" if alone <= comparison.alpha < p else ""
    return ", ".join([*parts, f"{name}: {_told(p)}{after}{only_alone}"])


def _told(p: float) -> str:
    return f"p = {p_text(p)}" if p >= 1e-4 else "p < 0.0001"


def _counts(row: Difference) -> str:
    skipped = f", {row.n_skipped} skipped" if row.n_skipped else ""
    return (
        f"{row.b} wins {row.wins}, ties {row.ties}, loses {row.losses} of {row.n_queries} queries{skipped}."
    )


def _with_note(text: str, row: Difference) -> str:
    return f"{text} Note: {row.note}." if row.note else text
