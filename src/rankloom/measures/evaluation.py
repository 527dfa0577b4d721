"""What `evaluate` hands back: the mean of every measure, its values per query, and how many queries there
were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError
from rankloom.measures.measure import Measure

if TYPE_CHECKING:
    from rankloom.measures.curves import ReliabilityCurve

Entry = TypeVar("Entry")


class Evaluation(Mapping[str, float]):
    """A mapping from a measure's name to its mean, in the order asked for; any spelling of a name finds it.

    Means are weighted by query where weights were given, and leave out queries that a measure skips.
    """

    def __init__(
        self,
        means: dict[Measure, float],
        per_query: dict[Measure, NDArray[np.float64]],
        empty: dict[Measure, int],
        curves: dict[Measure, ReliabilityCurve],
        counts: dict[str, int],
        qids: NDArray[Any],
    ) -> None:
        self._means, self._per_query, self._empty, self._curves = means, per_query, empty, curves
        self.qids = qids
        self.n_rows, self.n_queries, self.n_empty = counts["rows"], counts["queries"], counts["empty"]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What was measured."""
        return tuple(self._means)

    def __getitem__(self, name: str | Measure) -> float:
        return self._means[self._find(name)]

    def __iter__(self) -> Iterator[str]:
        return map(str, self._means)

    def __len__(self) -> int:
        return len(self._means)

    def _find(self, name: str | Measure) -> Measure:
        try:
            measure = Measure.parse(name)
        except InputError:
            raise KeyError(name) from None
        if measure not in self._means:
            raise KeyError(name)
        return measure

    def per_query(self, name: str | Measure) -> NDArray[np.float64]:
        """One value per query, in the order of `qids`; NaN where the measure skips a query."""
        measure = self._find(name)
        if measure not in self._per_query:
            raise InputError(f"{measure} is one number for all rows; it has no value per query")
        return self._per_query[measure]

    def empty(self, name: str | Measure) -> int:
        """For how many queries the measure is not defined, so that they count as its `empty` says."""
        return self._empty[self._find(name)]

    @property
    def points(self) -> ReliabilityCurve | None:
        """The reliability curve behind the first calibration error asked for, if one was."""
        return next(iter(self._curves.values()), None)

    def curve(self, name: str | Measure) -> ReliabilityCurve:
        """The reliability curve behind one calibration error."""
        return self._curves[self._find(name)]

    def joined(self, other: Evaluation, measures: Sequence[Measure]) -> Evaluation:
        """These measures, in this order, from here and from another evaluation of the same rows."""
        if (self.n_rows, self.n_queries) != (other.n_rows, other.n_queries):
            raise InputError("evaluations to be joined must be of the same rows")
        counts = {"rows": self.n_rows, "queries": self.n_queries, "empty": self.n_empty}
        return Evaluation(
            _picked(measures, self._means, other._means),
            _picked(measures, self._per_query, other._per_query),
            _picked(measures, self._empty, other._empty),
            _picked(measures, self._curves, other._curves),
            counts,
            self.qids,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings only, as JSON takes them; a mean over no query at all is None."""
        means = {str(m): None if np.isnan(v) else v for m, v in self._means.items()}
        result: dict[str, Any] = {
            "measures": means,
            "n_rows": self.n_rows,
            "n_queries": self.n_queries,
            "n_empty": self.n_empty,
        }
        if self._curves:
            result["reliability"] = {str(m): curve.to_dict() for m, curve in self._curves.items()}
        return result

    def __repr__(self) -> str:
        values = ", ".join(f"{name}: {value:.4f}" for name, value in self.items())
        return f"Evaluation({{{values}}}, {self.n_queries} queries, {self.n_empty} without relevant rows)"


def _picked(
    measures: Sequence[Measure], first: dict[Measure, Entry], second: dict[Measure, Entry]
) -> dict[Measure, Entry]:
    """What there is of these measures in one or the other, in their order."""
    both = {**second, **first}
    return {measure: both[measure] for measure in measures if measure in both}
