"""Why a row has its score: what each feature adds to it.

contribution(i, j) = weights[j] x[i, j]            score(i) = bias + sum over j of contribution(i, j)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError

if TYPE_CHECKING:
    from rankloom.models.scoring import Rows


class Contribution(NamedTuple):
    """What one feature adds to the score of one row."""

    feature: str
    amount: float


class Explanation(Sequence[list[Contribution]]):
    """The contributions of all rows, in the caller's order; `explanation[i]` lists those of row i.

    Attributes:
        bias: what every score has beside the contributions.
        scores: the score of each row.
        contributions: rows by features, as an array, or as a SciPy csr_array if the data are sparse or only
            the strongest were asked for.
    """

    def __init__(
        self,
        bias: float,
        scores: NDArray[np.float64],
        contributions: Any,
        feature_names: tuple[str, ...] | None,
    ) -> None:
        self.bias, self.scores, self.contributions = bias, scores, contributions
        self._names = feature_names

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, row: int) -> list[Contribution]: ...
    @overload
    def __getitem__(self, row: slice) -> list[list[Contribution]]: ...
    def __getitem__(self, row: Any) -> Any:
        """The contributions of a row that are not 0, the strongest first."""
        if isinstance(row, slice):
            return [self[place] for place in range(*row.indices(len(self)))]
        place = int(row) + (len(self) if row < 0 else 0)
        if not 0 <= place < len(self):
            raise IndexError(f"row must be below {len(self):,}, got {row}")
        columns, amounts = self._entries(place)
        order = np.argsort(-np.abs(amounts), kind="stable")
        return [Contribution(self._name(columns[at]), float(amounts[at])) for at in order.tolist()]

    def _entries(self, row: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        table = self.contributions
        if isinstance(table, np.ndarray):
            columns = np.flatnonzero(table[row])
            return columns, table[row][columns]
        start, stop = table.indptr[row], table.indptr[row + 1]
        columns, amounts = table.indices[start:stop], table.data[start:stop]
        return columns[amounts != 0.0], amounts[amounts != 0.0]

    def _name(self, column: Any) -> str:
        return column_name(self._names, int(column))

    def __repr__(self) -> str:
        return f"Explanation({len(self):,} rows, bias {self.bias:g})"


def column_name(names: tuple[str, ...] | None, column: int) -> str:
    """What a feature is called."""
    return f"column {column}" if names is None else names[column]


def contributions(rows: Rows, weights: NDArray[np.float64]) -> Any:
    """weights[j] * x[i, j], rows in the caller's order."""
    features = rows.features
    if features.columns is None or features.row_offsets is None:
        return rows.in_caller_order(features.values.astype(np.float64) * weights)
    from scipy.sparse import csr_array

    amounts = features.values.astype(np.float64) * weights[features.columns]
    parts = amounts, features.columns.astype(np.int64), features.row_offsets
    return in_caller_order(rows, csr_array(parts, shape=(features.n_rows, features.n_features)))


def in_caller_order(rows: Rows, table: Any) -> Any:
    """A table of the rows here, dense or sparse, back where the caller had the rows."""
    if isinstance(table, np.ndarray):
        return rows.in_caller_order(table)
    return table if rows.order is None else table[np.argsort(rows.order)]


def strongest(table: Any, top: int) -> Any:
    """Only the `top` contributions of each row that are furthest from 0; of equal ones the first columns."""
    from scipy.sparse import csr_array

    table = csr_array(table)
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    order = np.lexsort((table.indices, -np.abs(table.data), rows))
    rank = np.arange(len(order)) - table.indptr[rows[order]]
    kept = np.sort(order[(rank < top) & (table.data[order] != 0.0)])
    edges = np.searchsorted(rows[kept], np.arange(table.shape[0] + 1))
    return csr_array((table.data[kept], table.indices[kept], edges), shape=table.shape)


def check_top(top: Any) -> None:
    """How many of the strongest to keep: a whole number from 1, or None for all."""
    if top is not None and (isinstance(top, bool) or not isinstance(top, (int, np.integer)) or top < 1):
        raise InputError(f"top must be a whole number from 1, or None for all features, got {top!r}")
