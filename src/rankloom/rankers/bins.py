"""Features cut into bins, a byte a value, column after column: what symmetric trees are grown on.

Missing values are bin 0 of their feature, below all others. A border lies halfway between two values that
occur; a value equal to a border is below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.kernels.symmetric import Table
from rankloom.kernels.threads import ordered_map

MOST_BINS = 255
BELOW_ALL = -1e300  # a threshold that no value is below, and that LightGBM's text can hold
_SAMPLE = 100_000
_COLUMNS = 16


class Bins(NamedTuple):
    """The bins of all rows, and between which values they lie, by feature."""

    table: Table
    borders: list[NDArray[np.float64]]


def cut(data: RankingData, max_bin: int) -> Bins:
    """Bins of about equal numbers of rows; a value that fills one alone has its own."""
    if max_bin > MOST_BINS:
        raise InputError(f'max_bin must be up to {MOST_BINS} with trees="symmetric", got {max_bin}')

    def learn(block: NDArray[np.float32]) -> tuple[NDArray[np.uint8], list[NDArray[np.float64]]]:
        borders = [borders_of(column, max_bin) for column in block]
        return _placed(block, borders), borders

    parts = list(ordered_map(learn, _blocks(data)))
    borders = [one for _, some in parts for one in some]
    starts = np.cumsum([0, *(len(one) + 1 for one in borders)], dtype=np.int64)
    missing = np.array([one.size > 0 and one[0] == BELOW_ALL for one in borders])
    return Bins(Table(np.concatenate([columns for columns, _ in parts]), starts, missing), borders)


def cut_alike(data: RankingData, bins: Bins) -> NDArray[np.uint8]:
    """Other rows, in the same bins."""
    pairs = ((block, bins.borders[at * _COLUMNS :]) for at, block in enumerate(_blocks(data)))
    return np.concatenate(list(ordered_map(lambda pair: _placed(*pair), pairs)))


def borders_of(column: NDArray[np.float32], max_bin: int) -> NDArray[np.float64]:
    """Where a feature is cut; BELOW_ALL comes first if values are missing.

    Rows are counted by value, no value for more than its share; whenever a share is full, there is a border.
    """
    there = ~np.isnan(column)
    missing = not there.all()
    known = column[there] if missing else column
    if not len(known):
        return np.empty(0)
    values, counts = np.unique(known[:: max(1, len(known) // _SAMPLE)], return_counts=True)
    room = max(max_bin - missing, 1)
    if len(values) > room:
        share = -(-int(counts.sum()) // room)
        counts = np.minimum(counts, share)
        full = (np.cumsum(counts) - counts) * room // counts.sum()
        last = np.flatnonzero(np.diff(full))
    else:
        last = np.arange(len(values) - 1)
    wide = values.astype(np.float64)
    found = (wide[last] + wide[last + 1]) / 2
    return np.concatenate(([BELOW_ALL], found)) if missing else found


def _placed(block: NDArray[np.float32], borders: list[NDArray[np.float64]]) -> NDArray[np.uint8]:
    found = np.empty(block.shape, dtype=np.uint8)
    for own, column, cuts in zip(found, block, borders, strict=False):
        own[:] = np.searchsorted(cuts, column.astype(np.float64))
        own[np.isnan(column)] = 0
    return found


def _blocks(data: RankingData) -> Iterator[NDArray[np.float32]]:
    """Some columns at a time, each in one piece."""
    table: Any = data.values
    if data.is_sparse:
        from rankloom.rankers.boosting import table_of

        table = table_of(data).tocsc()
    for first in range(0, data.n_features, _COLUMNS):
        some = table[:, first : first + _COLUMNS]
        yield np.ascontiguousarray((some.toarray() if data.is_sparse else some).T)
