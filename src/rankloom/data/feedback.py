"""What users say of a ranking, in the three forms a service has it, as labels or pairs to learn from.

    grades   a label for each row, larger is better
    pairs    (better, worse): two rows, one preferred
    clicks   which rows were clicked on, in the order shown; a rule makes pairs of them (Joachims 2002,
             Joachims et al. 2005):
             skip-above       a click over every row above it that was not clicked on
             last-skip-above  the last click over every row above it that was not clicked on
             next-unclicked   a click over the row right below it, if that was not clicked on

A user looks at the top more than at the rest, so clicks further down say more. With `examined`, the
probability that a user looks at each place, a pair weighs 1 / examined(place of its click): inverse
propensity weighting (Joachims, Swaminathan & Schnabel 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import as_column, number_column, weight_column
from rankloom.errors import InputError

RULES = ("skip-above", "last-skip-above", "next-unclicked")
_SHAPE = "pairs must be a list of (better, worse), rows counted from 0"


@dataclass(frozen=True, eq=False)
class Feedback:
    """Feedback on the rows of one query: made by `Feedback.grades`, `Feedback.preferences` or `.clicks`.

    Attributes:
        labels: one per row, what the ranking is measured by; None if nobody knows.
        pairs: rows (better, worse), one pair a line; None: every two rows with different labels.
        weights: one per pair, or None.
    """

    labels: NDArray[np.float64] | None
    pairs: NDArray[np.int64] | None
    weights: NDArray[np.float64] | None

    @classmethod
    def grades(cls, labels: Any) -> Feedback:
        """A label for each row."""
        column = as_column(labels, "labels")
        return cls(number_column(column, "labels", len(column)), None, None)

    @classmethod
    def preferences(cls, pairs: Any, weights: Any = None) -> Feedback:
        """Pairs of rows, better and worse, counted from 0; with a weight for each, if they differ."""
        found = np.asarray(pairs)
        if found.size == 0:
            found = np.empty((0, 2), dtype=np.int64)
        if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
            raise InputError(f"{_SHAPE}, got {pairs!r:.80}")
        if (found < 0).any() or (found[:, 0] == found[:, 1]).any():
            raise InputError(f"{_SHAPE} and two different ones, got {pairs!r:.80}")
        own = None
        if weights is not None:
            own = weight_column(weights, "weights", len(found), _pair_place)
        return cls(None, found.astype(np.int64), own)

    @classmethod
    def clicks(
        cls, clicked: Any, shown: Any = None, *, rule: str = "skip-above", examined: Any = None
    ) -> Feedback:
        """Clicks on a ranking.

        Args:
            clicked: whether each row was clicked on (bools, or 0 and 1), one per row.
            shown: the rows in the order shown, from the top, counted from 0; rows that are not in it were
                not shown. None is their own order.
            rule: "skip-above", "last-skip-above" or "next-unclicked".
            examined: the probability that a user looks at each place, from the top; or a number eta, for
                place^-eta. None: all pairs weigh the same.
        """
        hit = _bools(clicked)
        order = _order(shown, len(hit))
        if rule not in RULES:
            raise InputError(f"rule must be one of {', '.join(RULES)}, got {rule!r:.60}")
        seen = hit[order]
        places = np.flatnonzero(seen)
        pairs = [(i, j) for i in _speaking(places, rule) for j in _skipped(seen, int(i), rule)]
        found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        weights = None if examined is None else 1.0 / _looks(examined, len(order))[found[:, 0]]
        return cls(hit.astype(np.float64), order[found], weights)

    @property
    def n_rows(self) -> int | None:
        """How many rows this is about, if it is known."""
        return None if self.labels is None else len(self.labels)

    def check(self, n_rows: int) -> None:
        """Refuse feedback on other rows than there are."""
        if self.labels is not None and len(self.labels) != n_rows:
            raise InputError(f"feedback must be on the {n_rows} rows of the query, got {len(self.labels)}")
        if self.pairs is not None and len(self.pairs) and int(self.pairs.max()) >= n_rows:
            raise InputError(f"{_SHAPE}, below {n_rows}, got row {int(self.pairs.max())}")


def _pair_place(pair: int) -> str:
    return f"pair {pair}"


def _bools(clicked: Any) -> NDArray[np.bool_]:
    found = np.asarray(clicked)
    if found.ndim != 1 or found.dtype.kind not in "biuf" or not np.isin(found, (0, 1)).all():
        raise InputError(f"clicked must be true or false for each row, got {clicked!r:.80}")
    return found.astype(np.bool_)


def _order(shown: Any, n_rows: int) -> NDArray[np.int64]:
    if shown is None:
        return np.arange(n_rows)
    order = np.asarray(shown)
    if order.size == 0:
        return np.empty(0, dtype=np.int64)
    whole = order.ndim == 1 and order.dtype.kind in "iu"
    if not whole or order.min() < 0 or order.max() >= n_rows or len(np.unique(order)) < len(order):
        raise InputError(f"shown must be rows from 0 to {n_rows - 1}, each once, got {shown!r:.80}")
    return order.astype(np.int64)


def _speaking(places: NDArray[np.int64], rule: str) -> NDArray[np.int64]:
    """The clicks that a rule listens to."""
    return places[-1:] if rule == "last-skip-above" else places


def _skipped(seen: NDArray[np.bool_], click: int, rule: str) -> list[int]:
    """The places that lose against a click."""
    if rule == "next-unclicked":
        return [click + 1] if click + 1 < len(seen) and not seen[click + 1] else []
    return [place for place in range(click) if not seen[place]]


def _looks(examined: Any, n_places: int) -> NDArray[np.float64]:
    given = np.asarray(examined)
    if given.dtype.kind not in "iuf":
        raise InputError(f"examined must be probabilities by place, or a number eta, got {examined!r:.80}")
    if given.ndim == 0:
        if not 0.0 <= float(given) < np.inf:
            raise InputError(f"examined as a number eta must be 0 or more, got {examined!r:.60}")
        powers: NDArray[np.float64] = np.arange(1, n_places + 1, dtype=np.float64) ** -float(given)
        return powers
    chances = given.astype(np.float64)
    if chances.ndim != 1 or len(chances) < n_places or not ((chances > 0.0) & (chances <= 1.0)).all():
        raise InputError(
            f"examined must be a probability above 0 and up to 1 for each of {n_places} places, "
            f"got {examined!r:.80}"
        )
    return chances
