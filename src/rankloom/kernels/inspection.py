"""One pass over a feature table: statistics of each column, and a hash of each row.

    hash(row) = sum over its values x != 0 in column j of mix(bits(x) + mix(j + 1))      (mod 2^64)

The sum does not depend on the order of columns nor on stored zeros, so a row hashes alike dense and sparse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel
from rankloom.kernels.random import mix

# Fields of a column: least and greatest value, sums of x - shift and of its square, counts.
LOW, HIGH, TOTAL, SQUARES, NONZERO, MISSING = range(6)
FIELDS = 6

_FNV_START, _FNV_TIMES = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


@kernel(inline=True)
def _entry_hash(bits: Any, column: Any) -> Any:
    return mix(np.uint64(bits) + mix(np.uint64(column) + np.uint64(1)))


@kernel(inline=True)
def _note(field: NDArray[np.float64], value: Any, shift: Any) -> None:
    """Enter one value that is not missing into its column's fields."""
    if value < field[LOW]:
        field[LOW] = value
    if value > field[HIGH]:
        field[HIGH] = value
    away = value - shift
    field[TOTAL] += away
    field[SQUARES] += away * away
    if value != 0.0:
        field[NONZERO] += 1.0


@kernel
def survey_dense(
    X: NDArray[np.float32],
    bits: NDArray[np.uint32],
    shift: NDArray[np.float64],
    fields: NDArray[np.float64],
    hashes: NDArray[np.uint64],
) -> None:
    """Enter all of X (its bit patterns in `bits`) into fields[column, :] and hashes[row]."""
    for row in range(X.shape[0]):
        found = np.uint64(0)
        for column in range(X.shape[1]):
            value = np.float64(X[row, column])
            if np.isnan(value):
                fields[column, MISSING] += 1.0
            else:
                _note(fields[column], value, shift[column])
            if value != 0.0:
                found += _entry_hash(bits[row, column], column)
        hashes[row] = found


@kernel
def survey_sparse(
    values: NDArray[np.float32],
    bits: NDArray[np.uint32],
    columns: NDArray[np.uint32],
    row_offsets: NDArray[np.int64],
    fields: NDArray[np.float64],
    hashes: NDArray[np.uint64],
) -> None:
    """Enter the stored values of all rows into fields[column, :] and hashes[row]. Nothing is shifted."""
    base = row_offsets[0]
    for row in range(len(row_offsets) - 1):
        found = np.uint64(0)
        for entry in range(row_offsets[row] - base, row_offsets[row + 1] - base):
            value, column = np.float64(values[entry]), columns[entry]
            if np.isnan(value):
                fields[column, MISSING] += 1.0
            else:
                _note(fields[column], value, 0.0)
            if value != 0.0:
                found += _entry_hash(bits[entry], column)
        hashes[row] = found


@kernel
def hash_texts(
    blob: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], hashes: NDArray[np.uint64]
) -> None:
    """A hash of each text (Fowler-Noll-Vo 1a over its bytes, then mixed); 0 for the empty text."""
    for text in range(len(starts)):
        found = _FNV_START
        for at in range(starts[text], ends[text]):
            found = (found ^ np.uint64(blob[at])) * _FNV_TIMES
        hashes[text] = mix(found) if ends[text] > starts[text] else np.uint64(0)
