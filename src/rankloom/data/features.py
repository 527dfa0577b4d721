"""The feature table as kernels take it: dense, or rows of (column, value) one after the other (CSR).

dense   values[i, j]
sparse  row i is values[row_offsets[i]:row_offsets[i+1]], in the columns of the same places, which increase
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import Place, all_finite, as_numbers, describe, row_place
from rankloom.data.groups import expand_ranges
from rankloom.errors import InputError

MOST_FEATURES = 2**31 - 1
_ENTRIES_PER_STEP = 1 << 21


class Features(NamedTuple):
    """The feature table of all rows. `columns` and `row_offsets` are None when it is dense."""

    values: NDArray[np.float32]
    columns: NDArray[np.uint32] | None
    row_offsets: NDArray[np.int64] | None
    n_features: int

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.values) if self.row_offsets is None else len(self.row_offsets) - 1

    def rows(self, start: int, stop: int) -> Features:
        """Rows start:stop, without copying values."""
        if self.columns is None or self.row_offsets is None:
            return self._replace(values=self.values[start:stop])
        edges = self.row_offsets[start : stop + 1]
        first, last = (int(edges[0]), int(edges[-1])) if len(edges) else (0, 0)
        return Features(self.values[first:last], self.columns[first:last], edges - first, self.n_features)

    def gather(self, rows: NDArray[np.int64]) -> Features:
        """These rows in this order, copied; in steps, so that the numbers of entries take little memory."""
        if self.columns is None or self.row_offsets is None:
            return self._replace(values=np.take(self.values, rows, axis=0))
        starts = self.row_offsets[rows]
        lengths = self.row_offsets[rows + 1] - starts
        edges = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
        values = np.empty(int(edges[-1]), dtype=np.float32)
        columns = np.empty(int(edges[-1]), dtype=np.uint32)
        for first, last in row_steps(edges, _ENTRIES_PER_STEP):
            entries = expand_ranges(starts[first:last], lengths[first:last])
            values[edges[first] : edges[last]] = self.values[entries]
            columns[edges[first] : edges[last]] = self.columns[entries]
        return Features(values, columns, edges, self.n_features)


def row_steps(edges: NDArray[np.int64], size: int) -> list[tuple[int, int]]:
    """Cut rows (or queries) into runs with about `size` of what `edges` counts; each run has at least one."""
    count = len(edges) - 1
    steps, first = [], 0
    while first < count:
        last = int(np.searchsorted(edges, edges[first] + size, side="right")) - 1
        last = min(max(last, first + 1), count)
        steps.append((first, last))
        first = last
    return steps


def features_from(X: Any, allow_missing: bool = False, place: Place = row_place) -> Features:
    """The feature table of an array-like or a SciPy sparse matrix of any format."""
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        features, source = _from_sparse(X)
    else:
        source = _as_table(X)
        features = Features(_as_float32(source), None, None, source.shape[1])
    check_values(features, source, allow_missing, place)
    return features


def _as_float32(array: NDArray[Any]) -> NDArray[np.float32]:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(array, dtype=np.float32)


def check_values(
    features: Features, source: NDArray[Any], allow_missing: bool = False, place: Place = row_place
) -> None:
    """Refuse infinite values, and NaN unless allowed. `source`: the values before they became float32."""
    values = features.values
    if all_finite(values) or (allow_missing and not np.isinf(values).any()):
        return
    bad = np.isinf(values) if allow_missing else ~np.isfinite(values)
    index = np.unravel_index(int(bad.argmax()), values.shape)
    row, column = _entry_place(features, index)
    value = float(source[index])
    where = f"at {place(row)}, column {column} (rows and columns from 0)"
    if np.isfinite(value):
        raise InputError(f"X must fit float32 (up to 3.4e38), got {value:g} {where}; scale that feature")
    hint = "" if allow_missing or np.isinf(value) else "; fill it in, or pass allow_missing=True"
    raise InputError(f"X must be finite, got {describe(value)} {where}{hint}")


def _entry_place(features: Features, index: Any) -> tuple[int, int]:
    """Row and column of a stored value."""
    if features.row_offsets is None or features.columns is None:
        return int(index[0]), int(index[1])
    entry = int(index[0])
    row = int(np.searchsorted(features.row_offsets, entry, side="right")) - 1
    return row, int(features.columns[entry])


def _as_table(X: Any) -> NDArray[Any]:
    """An array-like as a 2-D array of real numbers."""
    if isinstance(X, np.ma.MaskedArray):
        X = np.where(np.ma.getmaskarray(X), np.nan, X.data)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InputError("X must have as many columns in every row, got rows of different lengths") from error
    if array.ndim != 2:
        hint = "; for a single feature pass X.reshape(-1, 1)" if array.ndim == 1 else ""
        raise InputError(f"X must be a table of shape (n_rows, n_features), got shape {array.shape}{hint}")
    if array.dtype.kind == "O":
        return _from_objects(array)
    if array.dtype.kind not in "biuf":
        raise InputError(f"X must be real numbers, got {array.dtype}")
    return array


def _from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    table = np.empty(array.shape, dtype=np.float64)
    for column in range(array.shape[1]):
        table[:, column] = as_numbers(array[:, column], f"X, column {column},")
    return table


def _from_sparse(X: Any) -> tuple[Features, NDArray[Any]]:
    """CSR arrays, shared where types allow, and their values as given. Columns sorted, duplicates summed."""
    if X.ndim != 2:
        raise InputError(f"X must be a table of shape (n_rows, n_features), got shape {X.shape}")
    if X.dtype.kind not in "biuf":
        raise InputError(f"X must be real numbers, got {X.dtype}")
    check_feature_count(X.shape[1])
    csr = X.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy() if csr is X else csr
        csr.sum_duplicates()
    edges = np.asarray(csr.indptr, dtype=np.int64)
    return Features(_as_float32(csr.data), as_columns(csr.indices), edges, X.shape[1]), csr.data


def as_columns(indices: NDArray[Any]) -> NDArray[np.uint32]:
    """Column numbers as uint32, in the same memory where they have 32 bits."""
    if indices.dtype == np.int32 and indices.flags.c_contiguous:
        return indices.view(np.uint32)
    return np.ascontiguousarray(indices, dtype=np.uint32)


def check_feature_count(n_features: int) -> None:
    """Column numbers must fit the 31 bits that SciPy has for them."""
    if not 0 <= n_features <= MOST_FEATURES:
        raise InputError(f"n_features must be from 0 to {MOST_FEATURES:,}, got {n_features:,}")


def features_from_csr(values: Any, columns: Any, row_offsets: Any, n_features: int) -> Features:
    """The three arrays as they are, if they have the right types; only lengths and ends are checked."""
    check_feature_count(n_features)
    values = np.ascontiguousarray(values, dtype=np.float32)
    columns = as_columns(np.asarray(columns))
    edges = np.ascontiguousarray(row_offsets, dtype=np.int64)
    if len(values) != len(columns):
        raise InputError(f"columns must be as many as values ({len(values):,}), got {len(columns):,}")
    if len(edges) == 0 or edges[0] != 0 or edges[-1] != len(values):
        got = f"{edges[0]:,} to {edges[-1]:,}" if len(edges) else "none"
        raise InputError(f"row_offsets must run from 0 to the number of values ({len(values):,}), got {got}")
    return Features(values, columns, edges, int(n_features))


def check_csr(features: Features) -> None:
    """Refuse rows that end before they start, and columns out of range or not increasing within a row."""
    edges, columns = features.row_offsets, features.columns
    if edges is None or columns is None:
        return
    if (edges[1:] < edges[:-1]).any():
        row = int((edges[1:] < edges[:-1]).argmax())
        raise InputError(
            f"row_offsets must not decrease, got {edges[row]} then {edges[row + 1]} at row {row}"
        )
    if len(columns) and int(columns.max()) >= features.n_features:
        raise InputError(
            f"columns must be below n_features={features.n_features:,}, got {int(columns.max()):,}"
        )
    falls = np.flatnonzero(columns[1:] <= columns[:-1]) + 1
    inside = falls[edges[np.searchsorted(edges, falls, side="left")] != falls] if len(falls) else falls
    if len(inside):
        row, column = _entry_place(features, inside[:1])
        raise InputError(f"columns must increase within a row, got {column} out of place in row {row}")
