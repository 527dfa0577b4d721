"""Features of parsed blocks, joined in the layout that fits.

The layout is guessed from the first rows, so that rows are put where they stay, and settled at the end by how
much of the whole table the text wrote: a wrong guess costs a conversion, which may drop stored zeros.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.features import Features
from rankloom.data.growing import Growing, physical_memory
from rankloom.errors import InputError

DENSE_FROM = 0.25  # a dense table takes 4 bytes a cell, a sparse one 8 bytes a value
_CELLS_PER_STEP = 1 << 22


class Layout(NamedTuple):
    """What the caller asked for: see `read_text`."""

    n_features: int | None
    index_base: int | str
    layout: str

    def checked(self) -> Layout:
        """Itself, if every choice is one that exists."""
        if self.layout not in ("auto", "dense", "sparse"):
            raise InputError(f"layout must be 'auto', 'dense' or 'sparse', got {self.layout!r}")
        if isinstance(self.index_base, bool) or self.index_base not in ("auto", 0, 1):
            raise InputError(f"index_base must be 0, 1 or 'auto', got {self.index_base!r}")
        if self.n_features is not None and not 0 <= int(self.n_features) < 2**31:
            raise InputError(f"n_features must be from 0 to 2147483647 (or None), got {self.n_features!r}")
        return self


class ParsedRows(NamedTuple):
    """Rows as the kernel leaves them: raw indices, row i up to ends[i], the least and the largest index."""

    columns: NDArray[np.uint32]
    values: NDArray[np.float32]
    ends: NDArray[np.int64]
    lowest: int
    highest: int


class SparseRows:
    """Features as rows of (column, value) one after the other."""

    def __init__(self, expected_bytes: int) -> None:
        self._columns = Growing(np.uint32, expected_bytes // 4)
        self._values = Growing(np.float32, expected_bytes // 4)
        self._offsets = Growing(np.int64, expected_bytes // 8)
        self._offsets.append([0])

    def add(self, rows: ParsedRows, base: int) -> None:
        """Add rows whose first column has the index `base`."""
        np.add(rows.ends, self._values.length, out=self._offsets.extend(len(rows.ends)))
        np.subtract(rows.columns, np.uint32(base), out=self._columns.extend(len(rows.columns)))
        self._values.append(rows.values)

    def add_table(self, table: NDArray[np.float32]) -> None:
        """Add the rows of a dense table, without its zeros."""
        step = max(1, _CELLS_PER_STEP // max(table.shape[1], 1))
        for first in range(0, len(table), step):
            part = table[first : first + step]
            row, column = np.nonzero(part)
            ends = np.cumsum(np.bincount(row, minlength=len(part)))
            self.add(ParsedRows(column.astype(np.uint32), part[row, column], ends, 0, 0), 0)

    def shift(self) -> None:
        """Make room for a column before the first."""
        columns = self._columns.filled()
        columns += np.uint32(1)

    def finish(self, n_features: int) -> Features:
        """The feature table."""
        return Features(self._values.finish(), self._columns.finish(), self._offsets.finish(), n_features)


class DenseRows:
    """Features as a table, as wide as the largest index so far."""

    def __init__(self, width: int, expected_bytes: int) -> None:
        self.width = width
        self._expected = expected_bytes
        self._n_rows = 0
        self._cells = Growing(np.float32, expected_bytes if width else 0)

    @property
    def table(self) -> NDArray[np.float32]:
        """The rows so far."""
        return self._cells.filled().reshape(self._n_rows, self.width)

    def add(self, rows: ParsedRows, base: int) -> None:
        """Add rows whose first column has the index `base`."""
        from rankloom.kernels.text import place_dense

        count = len(rows.ends)
        room = self._cells.extend(count * self.width).reshape(count, self.width)
        place_dense(rows.columns, rows.values, rows.ends, base, room)
        self._n_rows += count

    def widen(self, left: int, right: int) -> None:
        """Add columns of zeros before the first and after the last."""
        old, width = self.table, self.width + left + right
        cells = Growing(np.float32, max(self._expected, len(old) * width))
        table = cells.extend(len(old) * width).reshape(len(old), width)
        table[:, :left] = 0
        table[:, left : left + self.width] = old
        table[:, left + self.width :] = 0
        self._cells, self.width = cells, width

    def shift(self) -> None:
        """Make room for a column before the first."""
        self.widen(1, 0)

    def finish(self) -> Features:
        """The feature table."""
        cells = self._cells.finish()
        return Features(cells.reshape(self._n_rows, self.width), None, None, self.width)


class FeatureRows:
    """All features so far, in the layout asked for or guessed."""

    def __init__(self, asked: Layout, expected_bytes: int) -> None:
        self._asked = asked.checked()
        self._expected = expected_bytes
        self._base = 0 if asked.index_base == 0 else 1
        self._width = asked.n_features or 0
        self._rows: SparseRows | DenseRows | None = None
        self._n_rows = self._n_values = 0

    @property
    def base(self) -> int:
        """The index of the first column, by what came so far."""
        return self._base

    def base_with(self, lowest: int) -> int:
        """The index of the first column, once rows with this lowest index are added."""
        return 0 if self._asked.index_base == "auto" and lowest == 0 else self._base

    def add(self, rows: ParsedRows) -> None:
        """Add rows after those so far."""
        base = self.base_with(rows.lowest)
        if self._rows is not None and base < self._base:
            self._rows.shift()
            self._width += 1
        self._base = base
        if self._asked.n_features is None:
            self._width = max(self._width, rows.highest - base + 1)
        else:
            self._width = self._asked.n_features
        self._n_rows += len(rows.ends)
        self._n_values += len(rows.columns)
        self._fitting().add(rows, base)

    def _fitting(self) -> SparseRows | DenseRows:
        """Where the next rows go: a table is made wide enough, unless that leaves too little in it."""
        rows = self._rows
        if rows is None:
            rows = (
                DenseRows(self._width, self._expected) if self._wants_dense() else SparseRows(self._expected)
            )
        elif isinstance(rows, DenseRows) and rows.width < self._width:
            if self._wants_dense():
                rows.widen(0, self._width - rows.width)
            else:
                rows = _to_sparse(rows, self._expected)
        self._rows = rows
        return rows

    def _wants_dense(self) -> bool:
        n_cells = self._n_rows * self._width
        if self._asked.layout == "dense" and 4 * n_cells > physical_memory():
            raise InputError(
                f"layout='dense' needs {4 * n_cells / 2**30:,.0f} GiB for {self._n_rows:,} rows of "
                f"{self._width:,} features, more than this machine has; use layout='sparse'"
            )
        return self._asked.layout == "dense" or (
            self._asked.layout == "auto" and self._n_values >= DENSE_FROM * n_cells
        )

    def finish(self) -> Features:
        """The feature table, in its final layout."""
        rows = self._fitting()
        if isinstance(rows, DenseRows):
            if self._asked.layout != "sparse" and self._wants_dense():
                return rows.finish()
            rows = _to_sparse(rows, self._expected)
        features = rows.finish(self._width)
        return _to_dense(features) if self._wants_dense() else features


def _to_sparse(rows: DenseRows, expected_bytes: int) -> SparseRows:
    sparse = SparseRows(expected_bytes)
    sparse.add_table(rows.table)
    return sparse


def _to_dense(features: Features) -> Features:
    from rankloom.kernels.text import place_dense

    if features.columns is None or features.row_offsets is None:
        return features
    table = np.empty((features.n_rows, features.n_features), dtype=np.float32)
    place_dense(features.columns, features.values, features.row_offsets[1:], 0, table)
    return Features(table, None, None, features.n_features)
