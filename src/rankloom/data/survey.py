"""What a pass over data finds out: the columns' statistics, and which documents of a query are the same.

    mean = shift + sum(x - shift) / n        std = sqrt(sum((x - shift)^2) / n - (sum(x - shift) / n)^2)

with the first row as shift, so that a column far from 0 loses no digits. What is not stored counts as 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rankloom.data.features import Features
    from rankloom.data.ranking_data import RankingData

# Above this, columns that are never used are left out of the tables, so that memory follows what is stored.
MOST_COLUMNS = 1 << 20
ROWS_PER_BLOCK = 1 << 16


class Columns(NamedTuple):
    """Statistics by column: place i is of column `number[i]`; all columns, or those used of very many."""

    number: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    nonzero: NDArray[np.int64]
    missing: NDArray[np.int64]


class Survey(NamedTuple):
    """Statistics by column, and a hash by row: 0 where a row has no value but 0."""

    columns: Columns
    hashes: NDArray[np.uint64]


def survey(data: RankingData, threads: int | None = None) -> Survey:
    """One pass over the features, in blocks of rows; the same bits for any number of threads."""
    from rankloom.kernels.inspection import FIELDS, HIGH, LOW, NONZERO
    from rankloom.kernels.threads import ordered_map

    number = _used_columns(data)
    shift = _shift(data)
    hashes = np.zeros(data.n_rows, dtype=np.uint64)
    fields = _empty_fields(len(number))
    blocks = [slice(start, start + ROWS_PER_BLOCK) for start in range(0, data.n_rows, ROWS_PER_BLOCK)]

    def look(rows: slice) -> NDArray[np.float64]:
        features = data.features.rows(rows.start, min(rows.stop, data.n_rows))
        fields = _empty_fields(len(number))
        if features.row_offsets is None:
            _look_dense(features.values, shift, fields, hashes[rows])
        else:
            _look_sparse(features, number, fields, hashes[rows])
        return fields

    for part in ordered_map(look, blocks, threads):
        np.minimum(fields[:, LOW], part[:, LOW], out=fields[:, LOW])
        np.maximum(fields[:, HIGH], part[:, HIGH], out=fields[:, HIGH])
        fields[:, HIGH + 1 : FIELDS] += part[:, HIGH + 1 : FIELDS]
    if data.is_sparse:
        _count_zeros(fields, data.n_rows - fields[:, NONZERO])
    return Survey(_columns(number, fields, shift, data.n_rows), hashes)


def _used_columns(data: RankingData) -> NDArray[np.int64]:
    """The columns that get statistics, in order."""
    if data.columns is None or data.n_features <= MOST_COLUMNS:
        return np.arange(data.n_features, dtype=np.int64)
    return np.unique(data.columns).astype(np.int64)


def _empty_fields(n_columns: int) -> NDArray[np.float64]:
    from rankloom.kernels.inspection import FIELDS, HIGH, LOW

    fields = np.zeros((n_columns, FIELDS))
    fields[:, LOW], fields[:, HIGH] = np.inf, -np.inf
    return fields


def _shift(data: RankingData) -> NDArray[np.float64]:
    if data.is_sparse or not data.n_rows:
        return np.zeros(1 if data.is_sparse else data.n_features)
    first: NDArray[np.float64] = data.values[0].astype(np.float64)
    return np.nan_to_num(first)


def _look_dense(
    X: NDArray[np.float32],
    shift: NDArray[np.float64],
    fields: NDArray[np.float64],
    hashes: NDArray[np.uint64],
) -> None:
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.inspection import survey_dense

    table, bits = as_kernel(X, np.float32), as_kernel(X.view(np.uint32), np.uint32)
    survey_dense(table, bits, as_kernel(shift, np.float64), fields, hashes)


def _look_sparse(
    features: Features, number: NDArray[np.int64], fields: NDArray[np.float64], hashes: NDArray[np.uint64]
) -> None:
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.inspection import survey_sparse

    values, columns, row_offsets, n_features = features
    places = columns if len(number) == n_features else np.searchsorted(number, columns)  # type: ignore[arg-type]
    survey_sparse(
        as_kernel(values, np.float32), as_kernel(values.view(np.uint32), np.uint32),
        as_kernel(places, np.uint32), as_kernel(row_offsets, np.int64), fields, hashes,
    )  # fmt: skip


def _count_zeros(fields: NDArray[np.float64], zeros: NDArray[np.float64]) -> None:
    """Values that are not stored are 0: they widen a range, and add nothing to the sums."""
    from rankloom.kernels.inspection import HIGH, LOW, MISSING

    some = zeros - fields[:, MISSING] > 0
    fields[some, LOW] = np.minimum(fields[some, LOW], 0.0)
    fields[some, HIGH] = np.maximum(fields[some, HIGH], 0.0)


def _columns(
    number: NDArray[np.int64], fields: NDArray[np.float64], shift: NDArray[np.float64], n_rows: int
) -> Columns:
    from rankloom.kernels.inspection import HIGH, LOW, MISSING, NONZERO, SQUARES, TOTAL

    known = n_rows - fields[:, MISSING]
    with np.errstate(invalid="ignore", divide="ignore"):
        away = fields[:, TOTAL] / known
        spread = np.sqrt(np.maximum(fields[:, SQUARES] / known - away * away, 0.0))
    nothing = known == 0
    low, high = (np.where(nothing, np.nan, fields[:, field]) for field in (LOW, HIGH))
    spread[low == high] = 0.0
    counts = fields[:, [NONZERO, MISSING]].astype(np.int64)
    return Columns(number, low, high, away + shift, spread, counts[:, 0], counts[:, 1])


class Repeats(NamedTuple):
    """Rows that say again what an earlier row of the same query said."""

    rows: NDArray[np.int64]  # the later ones, in order
    first: NDArray[np.int64]  # for each, the first row that says the same


def repeats(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], among: NDArray[np.bool_] | None = None
) -> Repeats:
    """Rows with the same hash in the same query, among those marked.

    The hash has 64 bits: that two of ten million different rows pass as the same has odds of 1 to 370,000.
    """
    query = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint64), np.diff(offsets))
    keys = (hashes + query * np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    rows = np.arange(len(keys)) if among is None else np.flatnonzero(among)
    rows = rows[np.argsort(keys[rows], kind="stable")]
    starts = np.ones(len(rows), dtype=bool)
    starts[1:] = keys[rows[1:]] != keys[rows[:-1]]
    first = rows[starts][np.cumsum(starts) - 1]
    later = np.flatnonzero(~starts)
    in_order = later[np.argsort(rows[later], kind="stable")]
    return Repeats(rows[in_order], first[in_order])


def text_hashes(texts: Any) -> NDArray[np.uint64]:
    """A hash by text; 0 for the empty one."""
    from rankloom.data.row_texts import is_texts

    if is_texts(texts):
        from rankloom.kernels.compile import as_kernel
        from rankloom.kernels.inspection import hash_texts

        hashes = np.empty(len(texts), dtype=np.uint64)
        starts, ends = as_kernel(texts.starts, np.int64), as_kernel(texts.ends, np.int64)
        hash_texts(as_kernel(texts.blob, np.uint8), starts, ends, hashes)
        return hashes
    found = np.fromiter((hash(text) if text else 0 for text in texts), dtype=np.int64, count=len(texts))
    return found.view(np.uint64)
