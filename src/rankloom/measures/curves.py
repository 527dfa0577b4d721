"""How far scores can be taken as probabilities: reliability curves and the expected calibration error.

    ECE = sum over bins of (weight of the bin / weight of all) * |mean label - mean score|

Bins have equal width, and an inner edge belongs to the bin below it, or hold equal mass: their
edges are quantiles of the scores (Naeini, Cooper & Hauskrecht, 2015; Guo et al., 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError


@dataclass(frozen=True)
class ReliabilityCurve:
    """One entry per bin that holds rows: what was predicted there, what was observed, and how much weight it
    has.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]

    @property
    def error(self) -> float:
        """The expected calibration error."""
        if not len(self.weights):
            return float("nan")
        gaps = np.abs(self.observed - self.predicted)
        return float((self.weights * gaps).sum() / self.weights.sum())

    def to_dict(self) -> dict[str, list[float]]:
        """Plain lists."""
        return {name: getattr(self, name).tolist() for name in self.__dataclass_fields__}


def reliability_curve(
    scores: Any, y: Any, *, bins: int = 10, binning: str = "width", weights: Any = None
) -> ReliabilityCurve:
    """The points of a reliability diagram: scores are probabilities, labels lie in [0, 1]."""
    predicted = _unit_interval("scores", scores)
    observed = _unit_interval("y", y)
    weight = np.ones(len(predicted)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not len(predicted) == len(observed) == len(weight):
        raise InputError(
            "scores, y and weights must be equally many, "
            f"got {len(predicted)}, {len(observed)} and {len(weight)}"
        )
    if isinstance(bins, bool) or int(bins) != bins or bins < 1:
        raise InputError(f"bins must be a whole number from 1, got {bins!r}")
    if binning == "width":
        place, lower, upper = _equal_width(predicted, int(bins))
    elif binning == "mass":
        place, lower, upper = _equal_mass(predicted, int(bins))
    else:
        raise InputError(f"binning must be one of width, mass, got {binning!r}")
    counts = np.bincount(place, minlength=bins)
    total = np.bincount(place, weights=weight, minlength=bins).astype(np.float64)
    used = total > 0.0
    mean_score = np.bincount(place, weights=weight * predicted, minlength=bins)[used] / total[used]
    mean_label = np.bincount(place, weights=weight * observed, minlength=bins)[used] / total[used]
    return ReliabilityCurve(lower[used], upper[used], mean_score, mean_label, counts[used], total[used])


def _unit_interval(name: str, values: Any) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    bad = ~((array >= 0.0) & (array <= 1.0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(f"{name} must lie within 0 and 1, got {array[row]:g} at row {row}")
    return array


def _equal_width(scores: NDArray[np.float64], bins: int) -> tuple[Any, Any, Any]:
    edges = np.linspace(0.0, 1.0, bins + 1)
    return np.searchsorted(edges[1:-1], scores, side="left"), edges[:-1], edges[1:]


def _equal_mass(scores: NDArray[np.float64], bins: int) -> tuple[Any, Any, Any]:
    """Bins between quantiles of the scores; rows of equal score share a bin."""
    shares = np.linspace(0.0, 1.0, bins + 1)
    edges = np.quantile(scores, shares) if len(scores) else shares
    return np.searchsorted(edges[1:-1], scores, side="left"), edges[:-1], edges[1:]
