"""Rows to score, whatever they come in, and their scores by a linear model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import all_finite, row_place
from rankloom.data.features import Features
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError

_VALUES_PER_BLOCK = 1 << 20
_LEAST_ROWS = 1 << 6


class Rows(NamedTuple):
    """A feature table to score. `order`: row i here is the caller's row order[i]."""

    features: Features
    order: NDArray[np.int64] | None
    names: tuple[str, ...] | None

    def in_caller_order(self, per_row: NDArray[Any]) -> NDArray[Any]:
        """Values of the rows here, back where the caller had the rows."""
        if self.order is None:
            return per_row
        result = np.empty_like(per_row)
        result[self.order] = per_row
        return result

    def place(self, row: int) -> str:
        """How a message names a row: by its number for the caller."""
        return row_place(row if self.order is None else int(self.order[row]))


def rows_of(X: Any, allow_missing: bool = False) -> Rows:
    """The rows of a RankingData, an array, a sparse matrix or a data frame."""
    data = X if isinstance(X, RankingData) else RankingData(X, allow_missing=allow_missing)
    return Rows(data.features, data.order, data.feature_names)


def check_fit(rows: Rows, n_features: int, names: tuple[str, ...] | None) -> None:
    """Refuse rows whose features are not those of the model."""
    found = rows.features.n_features
    if found != n_features:
        few = "; if its last ones are never used, read text with n_features=" + str(n_features)
        raise InputError(
            f"the model has {n_features:,} features, the data {found:,}" + (few if found < n_features else "")
        )
    if names is None or rows.names is None or names == rows.names:
        return
    place = next(place for place, name in enumerate(names) if name != rows.names[place])
    missing = [name for name in names if name not in set(rows.names)]
    hint = f"it has no {missing[0]!r}" if missing else "the same names come in another order"
    raise InputError(
        f"the data must have the features of the model, in its order: column {place} is {names[place]!r} "
        f"in the model and {rows.names[place]!r} in the data ({hint})"
    )


def linear_scores(
    rows: Rows, weights: NDArray[np.float64], bias: float, threads: int | None
) -> NDArray[np.float64]:
    """weights . x + bias of every row, in the caller's order. The same bits for any number of threads."""
    from rankloom.kernels.threads import ordered_map, thread_count

    scores = np.empty(rows.features.n_rows)
    blocks = row_blocks(rows.features)
    threads = thread_count(threads) if len(blocks) > 1 else 1

    def work(block: tuple[int, int]) -> None:
        start, stop = block
        _score_block(rows.features.rows(start, stop), weights, bias, scores[start:stop])

    for _ in ordered_map(work, blocks, threads):
        pass
    _refuse_undefined(rows, scores)
    return rows.in_caller_order(scores)


def row_blocks(features: Features) -> list[tuple[int, int]]:
    """Runs of rows with about equally many values, by the table alone."""
    n_rows = features.n_rows
    per_row = features.values.size / max(n_rows, 1)
    rows = max(_LEAST_ROWS, int(_VALUES_PER_BLOCK / max(per_row, 1.0)))
    return [(start, min(start + rows, n_rows)) for start in range(0, n_rows, rows)]


def _score_block(
    features: Features, weights: NDArray[np.float64], bias: float, scores: NDArray[np.float64]
) -> None:
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.linear import score_dense, score_sparse

    values, weights = as_kernel(features.values, np.float32), as_kernel(weights, np.float64)
    if features.columns is None or features.row_offsets is None:
        score_dense(values, weights, bias, scores)
        return
    columns = as_kernel(features.columns, np.uint32)
    score_sparse(values, columns, as_kernel(features.row_offsets, np.int64), weights, bias, scores)


def _refuse_undefined(rows: Rows, scores: NDArray[np.float64]) -> None:
    """A linear model has no answer to a missing value, which data may have where it was allowed."""
    if all_finite(scores):
        return
    row = int((~np.isfinite(scores)).argmax())
    if not all_finite(rows.features.rows(row, row + 1).values):
        told = f"a linear model cannot score missing values (NaN), and {rows.place(row)} has one"
        raise InputError(f"{told}; fill them in")
    told = f"the score of {rows.place(row)} is beyond all numbers"
    raise InputError(f"{told}: its values and the weights are too large together; scale the features")
