"""A buffer that goes through rows once: windows of at most so many rows, and a little more.

    pieces ... -> [ rows carried over | piece | piece ... ] -> window, rows carried over -> ...

The last query of a window may go on in the next piece, so it is carried over whole, unless it fills more
than half of the buffer: then it is cut, and pairs across the cut are never drawn. Rows of a query must lie
together in the stream for all their pairs to be seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.features import Features
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError


def windows(pieces: Iterable[RankingData], rows: int) -> Iterator[RankingData]:
    """What the buffer holds, one filling after the other."""
    held: RankingData | None = None
    for piece in pieces:
        held = piece if held is None else joined(held, piece)
        if held.n_rows < rows:
            continue
        whole, held = _without_last_query(held, rows)
        yield from cut(whole, rows)
    if held is not None and held.n_rows:
        yield from cut(held, rows)


def _without_last_query(data: RankingData, rows: int) -> tuple[RankingData, RankingData | None]:
    last = data.n_queries - 1
    if last == 0 or 2 * int(data.lengths[last]) > rows:
        return data, None
    return data.take(slice(0, last)), data.take(slice(last, last + 1))


def cut(data: RankingData, rows: int) -> Iterator[RankingData]:
    """Runs of whole queries of up to `rows` rows; a longer query is cut into equal parts."""
    first, n_queries = 0, data.n_queries
    while first < n_queries:
        end = int(np.searchsorted(data.offsets, data.offsets[first] + rows, side="right")) - 1
        if end > first:
            yield data if (first, end) == (0, n_queries) else data.take(slice(first, end))
        else:
            end = first + 1
            yield from _parts(data.take(slice(first, end)), rows)
        first = end


def _parts(query: RankingData, rows: int) -> Iterator[RankingData]:
    """A single query, in runs of its rows."""
    count = -(-query.n_rows // rows)
    edges = np.arange(count + 1) * query.n_rows // count
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        yield RankingData.from_features(
            query.features.rows(start, stop),
            None if query.y is None else query.y[start:stop],
            None,
            weights=None if query.weights is None else query.weights[start:stop],
            query_weights=query.query_weights,
            trusted=True,
        )


def joined(first: RankingData, second: RankingData) -> RankingData:
    """The rows of both; as many features as the wider one."""
    features = _joined_features(first.features, second.features)
    if first.y is None or second.y is None:
        raise InputError("learning to rank needs labels, and a piece of the stream has none")
    if (first.weights is None) != (second.weights is None):
        raise InputError("either all pieces of a stream have weights, or none has")
    if first.query_weights is not None or second.query_weights is not None:
        raise InputError("a stream cannot weigh queries; weigh rows, or learn in memory")
    weights = None
    if first.weights is not None and second.weights is not None:
        weights = np.concatenate((first.weights, second.weights))
    return RankingData.from_features(
        features, np.concatenate((first.y, second.y)), _joined_qids(first, second), weights=weights,
        feature_names=first.feature_names, trusted=True,
    )  # fmt: skip


def _joined_qids(first: RankingData, second: RankingData) -> NDArray[Any]:
    one, other = (np.repeat(data.qids, data.lengths) for data in (first, second))
    if (one.dtype.kind == "O") != (other.dtype.kind == "O"):
        one, other = one.astype(str).astype(object), other.astype(str).astype(object)
    return np.concatenate((one, other))


def _joined_features(first: Features, second: Features) -> Features:
    width = max(first.n_features, second.n_features)
    if first.row_offsets is None and second.row_offsets is None:
        tables = [widened(part.values, width) for part in (first, second)]
        return Features(np.concatenate(tables), None, None, width)
    if (
        first.columns is None
        or first.row_offsets is None
        or second.columns is None
        or second.row_offsets is None
    ):
        raise InputError("the pieces of a stream must all be dense or all be sparse")
    return Features(
        np.concatenate((first.values, second.values)),
        np.concatenate((first.columns, second.columns)),
        np.concatenate((first.row_offsets, second.row_offsets[1:] + first.row_offsets[-1])),
        width,
    )


def widened(table: NDArray[Any], width: int) -> NDArray[Any]:
    """A table, or one row of it, with zeros in new columns at its right."""
    missing = width - table.shape[-1]
    if missing == 0:
        return table
    return np.pad(table, [(0, 0)] * (table.ndim - 1) + [(0, missing)])
