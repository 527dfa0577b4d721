"""What `predict` makes of a score, for models that score by themselves.

value(x) = score(x)                        link "identity"
         = 1 / (1 + exp(-score(x)))        link "logistic": a probability
and with a target range: low + (high - low) value(x)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError
from rankloom.models.kept import KeptModel, finite

LINKS = ("identity", "logistic")


class ValueModel(KeptModel):
    """A kept model whose scores stand for values, by a link and a target range."""

    __slots__ = ("link", "target_range")

    link: str
    target_range: tuple[float, float] | None

    def _facts(self) -> dict[str, Any]:
        return {"link": self.link, "target_range": self.target_range, "feature_names": self.feature_names}

    def decision_function(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:
        """The score of each row of X, in the caller's order; the largest is ranked first."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it scores")

    def predict(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:
        """The value of each row: its score, or the probability the link makes of it, in the target range."""
        return self.values_of(self.decision_function(X, threads))

    def values_of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """What `predict` makes of scores."""
        values = logistic(scores) if self.link == "logistic" else scores
        if self.target_range is None:
            return values
        low, high = self.target_range
        return low + (high - low) * values

    def _told(self, parts: list[str]) -> str:
        """What the model is, in a line."""
        if self.link != "identity":
            parts.append(f"{self.link} link")
        if self.target_range is not None:
            parts.append(f"values {self.target_range[0]:g} to {self.target_range[1]:g}")
        method = self.about.get("method")
        learned = [f"learned by {method}"] if method else []
        return f"{type(self).__name__}({', '.join([*learned, *parts])})"


def logistic(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + exp(-score)), without overflow on either side."""
    small = np.exp(-np.abs(scores))
    result: NDArray[np.float64] = np.where(scores >= 0.0, 1.0, small) / (1.0 + small)
    return result


def checked_link(value: Any) -> str:
    """A link that there is."""
    if value not in LINKS:
        raise InputError(f"link must be one of {', '.join(LINKS)}, got {value!r:.60}")
    return str(value)


def checked_range(value: Any) -> tuple[float, float] | None:
    """Two numbers that rise, or None."""
    if value is None:
        return None
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
        raise InputError(f"target_range must be two numbers (low, high) or None, got {value!r:.60}")
    low, high = (finite(end, "target_range") for end in value)
    if not low < high:
        raise InputError(f"target_range must rise from low to high, got {low:g} and {high:g}")
    return low, high
