"""What a data set is, and what looks wrong with it, before anything is learned from it.

    found = rankloom.inspect(rankloom.read("train.txt"))
    print(found)                     # for a person
    found.to_dict()                  # for a program

One pass over the features in blocks, so that a store larger than memory can be inspected.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rankloom.data.ranking_data import RankingData
    from rankloom.data.survey import Columns

MOST_LEVELS = 20
_NOT_PLAIN = ("columns", "feature_names", "findings")


@dataclass(frozen=True)
class Finding:
    """One thing that looks wrong, or is worth knowing."""

    kind: str  # a word for programs: "constant_features"
    count: int  # how many features, queries or documents
    text: str  # one sentence for a person: what, and what to do
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inspection:
    """What `inspect` found out."""

    n_rows: int
    n_queries: int
    n_features: int
    sparse: bool
    stored: int  # values kept: rows x features when dense
    density: float  # the part of all values that is not 0
    lengths: dict[str, float]  # documents per query: min, quartiles, mean, percentiles, max
    labels: dict[str, Any] | None  # levels with their counts (or quantiles, where there are many), or None
    columns: Columns
    feature_names: tuple[str, ...] | None
    findings: tuple[Finding, ...]

    def name(self, place: int) -> str:
        """What the i-th column of `columns` is called: its name, or its number from 0."""
        column = int(self.columns.number[place])
        return f"column {column}" if self.feature_names is None else self.feature_names[column]

    def to_dict(self, features: bool = False) -> dict[str, Any]:
        """Plain values, ready for JSON; with `features`, the statistics of each one too."""
        plain = {name: value for name, value in vars(self).items() if name not in _NOT_PLAIN}
        plain["findings"] = [{**asdict(found), "examples": list(found.examples)} for found in self.findings]
        if features:
            plain["features"] = self.features()
        return plain

    def features(self) -> list[dict[str, Any]]:
        """Statistics of each feature; None where there is nothing to count."""
        columns = self.columns._asdict()
        columns["name"] = [self.name(place) for place in range(len(self.columns.number))]
        rows = zip(*(map(_plain, np.asarray(column).tolist()) for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def __str__(self) -> str:
        lines = [f"{self.n_rows:,} rows, {self.n_queries:,} queries, {self.n_features:,} features"]
        lines += [f"- {found.text}" for found in self.findings]
        return "\n".join(lines)


def inspect(data: RankingData, *, threads: int | None = None) -> Inspection:
    """Look through data once: its shape, and what looks wrong.

    Args:
        data: what `rankloom.read` gives, or any RankingData.
        threads: how many to use; None for all cores. The result does not depend on it.

    Returns:
        An Inspection: a plain value with `findings`, and `to_dict()` for programs.
    """
    from rankloom.data.findings import find
    from rankloom.data.survey import survey

    seen = survey(data, threads)
    columns = seen.columns
    entries = data.n_rows * data.n_features
    inspection = Inspection(
        n_rows=data.n_rows,
        n_queries=data.n_queries,
        n_features=data.n_features,
        sparse=data.is_sparse,
        stored=data.nnz,
        density=float((columns.nonzero.sum() + columns.missing.sum()) / entries) if entries else 0.0,
        lengths=_distribution(data.lengths),
        labels=None if data.y is None else _labels(data.y),
        columns=columns,
        feature_names=data.feature_names,
        findings=(),
    )
    return replace(inspection, findings=tuple(find(data, inspection, seen.hashes)))


def _plain(value: Any) -> Any:
    """None where there is no number, as JSON has it."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _distribution(values: NDArray[Any]) -> dict[str, float]:
    """Order statistics and the mean; nothing for no values."""
    if not len(values):
        return {}
    points = {"min": 0, "p25": 25, "median": 50, "p75": 75, "p90": 90, "p99": 99, "max": 100}
    found = np.percentile(values, list(points.values()), method="inverted_cdf").tolist()
    return {**dict(zip(points, map(float, found), strict=True)), "mean": float(np.mean(values))}


def _labels(y: NDArray[np.float64]) -> dict[str, Any]:
    """How often each label occurs, or how labels are spread where there are many."""
    levels, counts = np.unique(y, return_counts=True)
    found: dict[str, Any] = {"levels": len(levels), "distribution": _distribution(y)}
    if len(levels) <= MOST_LEVELS:
        found["counts"] = {f"{level:g}": int(count) for level, count in zip(levels, counts, strict=True)}
    return found
