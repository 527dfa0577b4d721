"""What lies behind a comparison: every system's value for every query, and how sure each mean is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankloom.measures import significance

if TYPE_CHECKING:
    from rankloom.measures.comparison import Comparison

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Detail:
    """Values by measure and system, one a query, NaN where a system has none; and weights by measure.

    `reliability` has a curve for each system whose scores may be probabilities: where they and the labels lie
    within 0 and 1.
    """

    values: Mapping[str, Mapping[str, Values]]
    weights: Mapping[str, Values | None]
    queries: Any
    reliability: Mapping[str, Mapping[str, Any]]

    def to_dict(self, comparison: Comparison) -> dict[str, Any]:
        """All of it as JSON's own types, None for what is no number; and each system's mean and interval."""
        return {
            "queries": np.asarray(self.queries).tolist(),
            "values": {
                measure: {name: _listed(values) for name, values in systems.items()}
                for measure, systems in self.values.items()
            },
            "means": {
                measure: {
                    name: _mean(values, self.weights[measure], comparison) for name, values in systems.items()
                }
                for measure, systems in self.values.items()
            },
            "reliability": {name: dict(curve) for name, curve in self.reliability.items()},
        }


def _listed(values: Values) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def _mean(values: Values, weights: Values | None, how: Comparison) -> dict[str, Any]:
    """A system's mean over its own queries, and the interval of it, by the comparison's settings."""
    kept = ~np.isnan(values)
    own = values[kept]
    weighing = None if weights is None else np.asarray(weights, dtype=np.float64)[kept]
    if how.interval == "t":
        interval = significance.student_interval(own, how.confidence)
    else:
        settings: dict[str, Any] = {"method": how.interval, "resamples": how.resamples, "seed": how.seed}
        interval = significance.bootstrap_interval(own, weighing, confidence=how.confidence, **settings)
    return {
        "mean": significance.weighted_mean(own, weighing) if len(own) else None,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "queries": len(own),
    }


def reliability_of(systems: Mapping[str, Any], y: Any) -> dict[str, dict[str, Any]]:
    """The reliability curve of each system whose scores lie within 0 and 1, if the labels do."""
    from rankloom.measures.curves import reliability_curve

    labels = np.asarray(y.in_caller_order(y.y) if hasattr(y, "in_caller_order") else y, dtype=np.float64)
    if not len(labels) or not _within(labels):
        return {}
    columns = {str(name): np.asarray(scores, dtype=np.float64) for name, scores in systems.items()}
    return {
        name: reliability_curve(column, labels).to_dict()
        for name, column in columns.items()
        if _within(column)
    }


def _within(values: Values) -> bool:
    return bool(((values >= 0.0) & (values <= 1.0)).all())
