"""What is ranked: rows with features, perhaps labels, in queries.

    query q = rows offsets[q] : offsets[q+1],        row i here = the caller's row order[i]

Rows of one query lie together, queries in the order of their first appearance, rows of a query in the order
given. `order` remembers where they came from, so that whatever is computed per row can go back there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import check_length, row_namer
from rankloom.data.features import (
    Features,
    check_csr,
    check_values,
    features_from,
    features_from_csr,
    row_steps,
)
from rankloom.data.parts import Extras, Parts, checked_parts
from rankloom.data.row_texts import decoded, names_of, same_texts
from rankloom.errors import InputError

ROWS_PER_BLOCK = 1 << 16


class RankingData:
    """Rows in queries, with features and, where known, labels. Immutable: read-only arrays, fixed attributes.

    Arrays that already have the right type and order are shared with the caller, not copied: leave them be.

    Args:
        X: features: an array-like of shape (n_rows, n_features), a SciPy sparse matrix, or a data frame.
        y: labels, larger is better; None when they are not known.
        qid: one query id per row, whole numbers or strings, in any order; None is one query over everything.
        doc_ids: one text per row.
        comments: one text per row.
        weights: one number per row, 0 or more.
        query_weights: one number per query in order of first appearance, or a mapping from qid to number.
        feature_names: one name per column, all different.
        allow_missing: accept NaN in X (never in labels or weights).
    """

    __slots__ = ("_matrix", "_names", "_parts", "_qids")

    _parts: Parts
    _matrix: Any
    _qids: NDArray[Any] | None
    _names: tuple[str, ...] | None

    def __init__(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        *,
        doc_ids: Any = None,
        comments: Any = None,
        weights: Any = None,
        query_weights: Any = None,
        feature_names: Any = None,
        allow_missing: bool = False,
    ) -> None:
        if _is_frame(X):
            from rankloom.data.frames import dense, frame_values

            table, own_names = frame_values(X, allow_missing, row_namer(qid))
            feature_names = own_names if feature_names is None else feature_names
            features = dense(table)
        else:
            features = features_from(X, allow_missing, row_namer(qid))
        extras = Extras(doc_ids, comments, weights, query_weights, feature_names)
        self._hold(checked_parts(features, y, qid, extras))

    @classmethod
    def from_frame(cls, frame: Any, **columns: Any) -> RankingData:
        """Build from a pandas, polars or Arrow table; `rankloom.data.frames.from_frame` says how."""
        from rankloom.data.frames import from_frame

        return from_frame(frame, **columns)

    @classmethod
    def from_csr(
        cls,
        values: Any,
        columns: Any,
        row_offsets: Any,
        n_features: int,
        y: Any = None,
        qid: Any = None,
        *,
        allow_missing: bool = False,
        trusted: bool = False,
        **extras: Any,
    ) -> RankingData:
        """Build from the arrays of a CSR matrix, shared where they are float32, uint32 (or int32) and int64.

        `trusted` skips the pass over values and columns, for callers who have made sure of them.
        `extras` are doc_ids, comments, weights, query_weights and feature_names.
        """
        features = features_from_csr(values, columns, row_offsets, n_features)
        return cls.from_features(features, y, qid, allow_missing=allow_missing, trusted=trusted, **extras)

    @classmethod
    def from_features(
        cls,
        features: Features,
        y: Any = None,
        qid: Any = None,
        *,
        allow_missing: bool = False,
        trusted: bool = False,
        **extras: Any,
    ) -> RankingData:
        """Build from a feature table as kernels take it; a `trusted` one is not looked through."""
        if not trusted:
            check_csr(features)
            check_values(features, features.values, allow_missing, row_namer(qid))
        return cls.from_parts(checked_parts(features, y, qid, Extras(**extras)))

    @classmethod
    def from_parts(cls, parts: Parts) -> RankingData:
        """Hold parts that are checked and grouped already, as they are."""
        self = cls.__new__(cls)
        self._hold(parts)
        return self

    def _hold(self, parts: Parts) -> None:
        parts = parts.frozen()
        object.__setattr__(self, "_parts", parts)
        object.__setattr__(self, "_matrix", None)
        object.__setattr__(self, "_qids", parts.qids if isinstance(parts.qids, np.ndarray) else None)
        object.__setattr__(self, "_names", parts.names if isinstance(parts.names, tuple) else None)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(
            f"RankingData is immutable: {name} cannot be set; build a new RankingData instead"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"RankingData is immutable: {name} cannot be deleted")

    @property
    def X(self) -> Any:  # noqa: N802
        """Features: a read-only float32 array, or a SciPy csr_array over the same memory."""
        if not self.is_sparse:
            return self.values
        if self._matrix is None:
            from rankloom.data.sparse import as_csr_array

            object.__setattr__(self, "_matrix", as_csr_array(self.features))
        return self._matrix

    @property
    def y(self) -> NDArray[np.float64] | None:
        """Labels, one per row, or None."""
        return self._parts.y

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each query's rows start; n_queries + 1 of them."""
        return self._parts.offsets

    @property
    def qids(self) -> NDArray[Any]:
        """One id per query: int64 (uint64 if it must be), or an object array of str."""
        if self._qids is None:
            object.__setattr__(self, "_qids", decoded(self._parts.qids))
        return self._qids  # type: ignore[return-value]

    @property
    def order(self) -> NDArray[np.int64] | None:
        """Row i here is the caller's row order[i]; None when no row was moved."""
        return self._parts.order

    @property
    def doc_ids(self) -> Any:
        """One text per row, or None."""
        return self._parts.doc_ids

    @property
    def comments(self) -> Any:
        """One text per row, or None."""
        return self._parts.comments

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """One weight per row, or None."""
        return self._parts.weights

    @property
    def query_weights(self) -> NDArray[np.float64] | None:
        """One weight per query, or None."""
        return self._parts.query_weights

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """One name per column, or None."""
        if self._names is None and self._parts.names is not None:
            object.__setattr__(self, "_names", tuple(self._parts.names))
        return self._names

    @property
    def features(self) -> Features:
        """The feature table as kernels take it: values, columns, row_offsets, n_features."""
        return self._parts.features

    @property
    def values(self) -> NDArray[np.float32]:
        """Feature values for kernels: the dense table, or the stored values of a sparse one."""
        return self.features.values

    @property
    def columns(self) -> NDArray[np.uint32] | None:
        """The column of each stored value; None when dense."""
        return self.features.columns

    @property
    def row_offsets(self) -> NDArray[np.int64] | None:
        """Where each row's stored values start, n_rows + 1 of them; None when dense."""
        return self.features.row_offsets

    @property
    def n_rows(self) -> int:
        """How many rows (documents)."""
        return self.features.n_rows

    @property
    def n_features(self) -> int:
        """How many columns."""
        return self.features.n_features

    @property
    def n_queries(self) -> int:
        """How many queries."""
        return len(self.offsets) - 1

    @property
    def is_sparse(self) -> bool:
        """True when only some values are stored."""
        return self.row_offsets is not None

    @property
    def nnz(self) -> int:
        """How many values are stored: all of them when dense."""
        return int(self.values.size)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Rows per query."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return self.n_rows

    def take(self, queries: Any) -> RankingData:
        """The queries at these positions (a slice, whole numbers, or one bool per query), in this order.

        A contiguous range shares memory, anything else is copied. Rows of the result count from its own start
        (its `order` is None). A query can be taken only once.
        """
        numbers = _query_numbers(queries, self.n_queries)
        if isinstance(numbers, slice):
            return RankingData.from_parts(self._parts.query_range(numbers.start, numbers.stop))
        return RankingData.from_parts(self._parts.gather_queries(numbers))

    def blocks(self, rows: int = ROWS_PER_BLOCK) -> Iterator[RankingData]:
        """Walk through all queries in runs of about `rows` rows, whole queries each, over the same memory."""
        if rows < 1:
            raise InputError(f"rows must be a whole number from 1, got {rows!r}")
        for first, last in row_steps(self.offsets, rows):
            yield RankingData.from_parts(self._parts.query_range(first, last))

    def with_names(self, feature_names: Any) -> RankingData:
        """The same data with other feature names, or with none (None)."""
        return RankingData.from_parts(self._parts._replace(names=names_of(feature_names, self.n_features)))

    def with_features(self, features: Features) -> RankingData:
        """The same rows with other values of the same features; they are not looked through."""
        if (features.n_rows, features.n_features) != (self.n_rows, self.n_features):
            got = f"{features.n_rows:,} and {features.n_features:,}"
            raise InputError(
                f"features must have {self.n_rows:,} rows and {self.n_features:,} columns, got {got}"
            )
        return RankingData.from_parts(self._parts._replace(features=features))

    def in_caller_order(self, per_row: Any) -> NDArray[Any]:
        """Bring values, one per row of X here, back into the order in which the caller gave the rows."""
        values = np.asarray(per_row)
        check_length(len(values), self.n_rows, "per_row")
        if self.order is None:
            return values
        result = np.empty_like(values)
        result[self.order] = values
        return result

    def in_query_order(self, per_row: Any) -> NDArray[Any]:
        """Bring values given in the caller's order into the order of the rows here."""
        values = np.asarray(per_row)
        check_length(len(values), self.n_rows, "per_row")
        return values if self.order is None else values[self.order]

    def fingerprint(self) -> str:
        """A hash of what learning and measuring depend on; see `rankloom.data.fingerprint`."""
        from rankloom.data.fingerprint import fingerprint

        return fingerprint(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RankingData):
            return NotImplemented
        return (
            self.n_features == other.n_features
            and self.feature_names == other.feature_names
            and all(_same(getattr(self, name), getattr(other, name)) for name in _ARRAYS)
            and same_texts(self.doc_ids, other.doc_ids)
            and same_texts(self.comments, other.comments)
        )

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> RankingData:
        return self

    def __deepcopy__(self, memo: Any) -> RankingData:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return RankingData.from_parts, (self._parts,)

    def __repr__(self) -> str:
        kind = f"sparse, {self.nnz:,} values" if self.is_sparse else "dense"
        features = f"{_count(self.n_features, 'feature')} ({kind})"
        parts = [_count(self.n_rows, "row"), _count(self.n_queries, "query"), features]
        if self.n_queries:
            low, high = int(self.lengths.min()), int(self.lengths.max())
            parts.append(
                f"{low:,} to {high:,} rows a query" if low < high else f"{_count(low, 'row')} a query"
            )
        parts.append("no labels" if self.y is None else _label_range(self.y))
        parts += [name for name in ("doc_ids", "weights", "query_weights") if getattr(self, name) is not None]
        return f"RankingData({', '.join(parts)})"


_ARRAYS = ("values", "columns", "row_offsets", "y", "offsets", "qids", "order", "weights", "query_weights")


def _same(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    """Equal arrays, or both None; NaN equals NaN."""
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b) or (a.dtype.kind == "f" and np.array_equal(a, b, equal_nan=True))


def _count(number: int, noun: str) -> str:
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def _label_range(y: NDArray[np.float64]) -> str:
    if not len(y):
        return "labels"
    low, high = y.min(), y.max()
    return f"labels {low:g}" if low == high else f"labels {low:g} to {high:g}"


def _is_frame(X: Any) -> bool:
    """True for tables with named columns: pandas, polars, Arrow, and whatever else narwhals knows."""
    if isinstance(X, np.ndarray):
        return False
    return hasattr(X, "collect_schema") or hasattr(X, "columns") or hasattr(X, "column_names")


def _query_numbers(queries: Any, n_queries: int) -> slice | NDArray[np.int64]:
    """Positions of queries as a slice of step 1 where they are one, else as non-negative numbers."""
    numbers = (
        np.arange(n_queries)[queries] if isinstance(queries, slice) else np.atleast_1d(np.asarray(queries))
    )
    if numbers.dtype == bool:
        if numbers.shape != (n_queries,):
            raise InputError(
                f"a mask must have one entry per query ({n_queries:,}), got shape {numbers.shape}"
            )
        numbers = np.flatnonzero(numbers)
    if numbers.size == 0:
        return slice(0, 0)
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
        got = f"{numbers.dtype} of shape {numbers.shape}"
        raise InputError(f"queries must be a slice, whole numbers or a mask, got {got}")
    return _in_range(numbers.astype(np.int64), n_queries)


def _in_range(numbers: NDArray[np.int64], n_queries: int) -> slice | NDArray[np.int64]:
    outside = (numbers < -n_queries) | (numbers >= n_queries)
    if outside.any():
        raise InputError(
            f"queries must be below the number of queries, {n_queries:,}, got {numbers[outside][0]:,}"
        )
    numbers = np.where(numbers < 0, numbers + n_queries, numbers)
    if (np.diff(numbers) == 1).all():
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    if len(np.unique(numbers)) < len(numbers):
        raise InputError("queries must be all different, got one of them twice")
    return numbers
