"""What is ranked: rows with features, perhaps labels, in queries.

    query q = rows offsets[q] : offsets[q+1],        row i here = the caller's row order[i]

Rows of one query lie together, queries in the order of their first appearance, rows of a query in the order given.
`order` remembers where they came from, so that whatever is computed per row goes back in the caller's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import check_length, frozen, number_column, row_namer, weight_column
from rankloom.data.features import (
    Features,
    check_csr,
    check_values,
    features_from,
    features_from_csr,
    row_steps,
)
from rankloom.data.groups import Groups, expand_ranges, group_rows
from rankloom.data.row_texts import decoded, gather_texts, names_of, same_texts, slice_texts, text_column
from rankloom.errors import InputError

ROWS_PER_BLOCK = 1 << 16


class RankingData:
    """Rows in queries, with features and, where known, labels. Immutable: arrays are read-only, attributes fixed.

    Arrays that already have the right type and order are shared with the caller, not copied: do not change them.

    Args:
        X: features: an array-like of shape (n_rows, n_features), a SciPy sparse matrix, or a data frame.
        y: labels, larger is better; None when they are not known.
        qid: one query id per row, whole numbers or strings, in any order; None is one query over everything.
        doc_ids: one text per row. comments: one text per row.
        weights: one number per row, 0 or more.
        query_weights: one number per query in order of first appearance, or a mapping from qid to number.
        feature_names: one name per column, all different.
        allow_missing: accept NaN in X (never in labels or weights).

    Attributes:
        y: float64 per row, or None. offsets: int64, n_queries + 1. order: int64 per row, or None when nothing moved.
        doc_ids, comments: a sequence of str per row, or None.
        weights, query_weights: float64, or None.
    """

    __slots__ = (
        "_features",
        "_matrix",
        "_names",
        "_qids",
        "comments",
        "doc_ids",
        "offsets",
        "order",
        "query_weights",
        "weights",
        "y",
    )

    y: NDArray[np.float64] | None
    offsets: NDArray[np.int64]
    order: NDArray[np.int64] | None
    doc_ids: Any
    comments: Any
    weights: NDArray[np.float64] | None
    query_weights: NDArray[np.float64] | None

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
            from rankloom.data.frames import frame_values

            X, own_names = frame_values(X)
            feature_names = own_names if feature_names is None else feature_names
        features = features_from(X, allow_missing, row_namer(qid))
        self._take_in(features, y, qid, doc_ids, comments, weights, query_weights, feature_names)

    @classmethod
    def from_frame(cls, frame: Any, **columns: Any) -> RankingData:
        """Build from a pandas, polars or Arrow table; see `rankloom.data.frames.from_frame` for the columns."""
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
        **rest: Any,
    ) -> RankingData:
        """Build from the arrays of a CSR matrix, shared where float32, uint32 (or int32) and int64 are given.

        `trusted` skips the pass over values and columns, for callers who have made sure of them.
        The rest is as for RankingData itself.
        """
        features = features_from_csr(values, columns, row_offsets, n_features)
        return cls.from_features(features, y, qid, allow_missing=allow_missing, trusted=trusted, **rest)

    @classmethod
    def from_features(
        cls,
        features: Features,
        y: Any = None,
        qid: Any = None,
        *,
        doc_ids: Any = None,
        comments: Any = None,
        weights: Any = None,
        query_weights: Any = None,
        feature_names: Any = None,
        allow_missing: bool = False,
        trusted: bool = False,
    ) -> RankingData:
        """Build from a feature table as kernels take it, without a pass over its values when it is `trusted`."""
        if not trusted:
            check_csr(features)
            check_values(features, features.values, allow_missing, row_namer(qid))
        self = cls.__new__(cls)
        self._take_in(features, y, qid, doc_ids, comments, weights, query_weights, feature_names)
        return self

    @classmethod
    def from_groups(
        cls,
        features: Features,
        y: NDArray[np.float64] | None,
        groups: Groups,
        *,
        doc_ids: Any = None,
        comments: Any = None,
        weights: NDArray[np.float64] | None = None,
        query_weights: NDArray[np.float64] | None = None,
        feature_names: Any = None,
    ) -> RankingData:
        """Put parts together as they are: rows already grouped, everything checked, nothing copied or looked at."""
        self = cls.__new__(cls)
        self._set(features, y, groups, doc_ids, comments, weights, query_weights, feature_names)
        return self

    def _take_in(
        self,
        features: Features,
        y: Any,
        qid: Any,
        doc_ids: Any,
        comments: Any,
        weights: Any,
        query_weights: Any,
        feature_names: Any,
    ) -> None:
        """Check everything in the caller's order, then move it into query order."""
        n_rows, place = features.n_rows, row_namer(qid)
        groups = group_rows(qid, n_rows)
        labels = None if y is None else number_column(y, "y", n_rows, place)
        row_weights = None if weights is None else weight_column(weights, "weights", n_rows, place)
        ids = text_column(doc_ids, "doc_ids", n_rows)
        notes = text_column(comments, "comments", n_rows)
        names = names_of(feature_names, features.n_features)
        per_query = _query_weights(query_weights, groups.qids)
        if groups.order is not None:
            order = groups.order
            features = features.gather(order)
            labels = None if labels is None else labels[order]
            row_weights = None if row_weights is None else row_weights[order]
            ids, notes = gather_texts(ids, order), gather_texts(notes, order)
        self._set(features, labels, groups, ids, notes, row_weights, per_query, names)

    def _set(
        self,
        features: Features,
        y: NDArray[np.float64] | None,
        groups: Groups,
        doc_ids: Any,
        comments: Any,
        weights: NDArray[np.float64] | None,
        query_weights: NDArray[np.float64] | None,
        feature_names: Any,
    ) -> None:
        parts = {
            "_features": Features(*map(_freeze, features)),
            "_matrix": None,
            "_names": feature_names,
            "_qids": groups.qids,
            "comments": comments,
            "doc_ids": doc_ids,
            "offsets": groups.offsets,
            "order": groups.order,
            "query_weights": query_weights,
            "weights": weights,
            "y": y,
        }
        for name, part in parts.items():
            object.__setattr__(self, name, _freeze(part))

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(
            f"RankingData is immutable: {name} cannot be set; build a new RankingData instead"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"RankingData is immutable: {name} cannot be deleted")

    # What it holds

    @property
    def X(self) -> Any:
        """Features as a read-only float32 array, or as a SciPy csr_array over the same memory."""
        if not self.is_sparse:
            return self._features.values
        if self._matrix is None:
            from rankloom.data.sparse import as_csr_array

            object.__setattr__(self, "_matrix", as_csr_array(self._features))
        return self._matrix

    @property
    def values(self) -> NDArray[np.float32]:
        """Feature values for kernels: the dense table, or the stored values of a sparse one."""
        return self._features.values

    @property
    def columns(self) -> NDArray[np.uint32] | None:
        """The column of each stored value; None when dense."""
        return self._features.columns

    @property
    def row_offsets(self) -> NDArray[np.int64] | None:
        """Where each row's stored values start, n_rows + 1; None when dense."""
        return self._features.row_offsets

    @property
    def features(self) -> Features:
        """values, columns, row_offsets and n_features together."""
        return self._features

    @property
    def qids(self) -> NDArray[Any]:
        """One id per query: int64 (uint64 if it must be), or an object array of str."""
        if not isinstance(self._qids, np.ndarray):
            object.__setattr__(self, "_qids", frozen(decoded(self._qids)))
        return self._qids

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """One name per column, or None."""
        if self._names is not None and not isinstance(self._names, tuple):
            object.__setattr__(self, "_names", tuple(self._names))
        return self._names

    @property
    def n_rows(self) -> int:
        return self._features.n_rows

    @property
    def n_features(self) -> int:
        return self._features.n_features

    @property
    def n_queries(self) -> int:
        return len(self.offsets) - 1

    @property
    def is_sparse(self) -> bool:
        return self._features.row_offsets is not None

    @property
    def nnz(self) -> int:
        """How many values are stored: all of them when dense."""
        return int(self._features.values.size)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Rows per query."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return self.n_rows

    # Parts of it

    def take(self, queries: Any) -> RankingData:
        """The queries at these positions (a slice, whole numbers, or one bool per query), in this order.

        A contiguous range shares memory, anything else is copied. Rows of the result are in its own order
        (`order` is None). A query may be taken only once.
        """
        numbers = _query_numbers(queries, self.n_queries)
        if isinstance(numbers, slice):
            return self._range(numbers.start, numbers.stop)
        lengths = self.lengths[numbers]
        rows = expand_ranges(self.offsets[:-1][numbers], lengths)
        edges = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
        return RankingData.from_groups(
            self._features.gather(rows),
            None if self.y is None else self.y[rows],
            Groups(edges, self.qids[numbers], None),
            doc_ids=gather_texts(self.doc_ids, rows),
            comments=gather_texts(self.comments, rows),
            weights=None if self.weights is None else self.weights[rows],
            query_weights=None if self.query_weights is None else self.query_weights[numbers],
            feature_names=self._names,
        )

    def _range(self, first: int, last: int) -> RankingData:
        """Queries first:last over the same memory."""
        start, stop = int(self.offsets[first]), int(self.offsets[last])
        return RankingData.from_groups(
            self._features.rows(start, stop),
            None if self.y is None else self.y[start:stop],
            Groups(self.offsets[first : last + 1] - start, slice_texts(self._qids, first, last), None),
            doc_ids=slice_texts(self.doc_ids, start, stop),
            comments=slice_texts(self.comments, start, stop),
            weights=None if self.weights is None else self.weights[start:stop],
            query_weights=None if self.query_weights is None else self.query_weights[first:last],
            feature_names=self._names,
        )

    def blocks(self, rows: int = ROWS_PER_BLOCK) -> Iterator[RankingData]:
        """Walk through all queries in runs of about `rows` rows, whole queries each, over the same memory."""
        if rows < 1:
            raise InputError(f"rows must be a whole number from 1, got {rows!r}")
        for first, last in row_steps(self.offsets, rows):
            yield self._range(first, last)

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

    # What it is among other objects

    def fingerprint(self) -> str:
        """A hash of what learning and measuring depend on; see `rankloom.data.fingerprint`."""
        from rankloom.data.fingerprint import fingerprint

        return fingerprint(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RankingData):
            return NotImplemented
        mine, theirs = self._features, other._features
        pairs = [(getattr(self, name), getattr(other, name)) for name in _COMPARED]
        return (
            mine.n_features == theirs.n_features
            and self.feature_names == other.feature_names
            and all(_same(a, b) for a, b in pairs)
            and all(_same(a, b) for a, b in zip(mine[:3], theirs[:3], strict=True))
            and same_texts(self.doc_ids, other.doc_ids)
            and same_texts(self.comments, other.comments)
        )

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> RankingData:
        return self

    def __deepcopy__(self, memo: Any) -> RankingData:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "_matrix"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        features = Features(*map(_freeze, state["_features"]))
        for name, part in {**state, "_features": features, "_matrix": None}.items():
            object.__setattr__(self, name, _freeze(part))

    def __repr__(self) -> str:
        kind = f"sparse, {self.nnz:,} values" if self.is_sparse else "dense"
        parts = [
            _count(self.n_rows, "row"),
            _count(self.n_queries, "query"),
            f"{_count(self.n_features, 'feature')} ({kind})",
        ]
        if self.n_queries:
            low, high = int(self.lengths.min()), int(self.lengths.max())
            parts.append(
                f"{low:,} to {high:,} rows a query" if low < high else f"{_count(low, 'row')} a query"
            )
        parts.append("no labels" if self.y is None else _label_range(self.y))
        parts += [name for name in ("doc_ids", "weights", "query_weights") if getattr(self, name) is not None]
        return f"RankingData({', '.join(parts)})"


_COMPARED = ("y", "offsets", "qids", "order", "weights", "query_weights")


def _freeze(part: Any) -> Any:
    return frozen(part) if isinstance(part, np.ndarray) else part


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
    return hasattr(X, "columns") or hasattr(X, "column_names") or hasattr(X, "collect_schema")


def _query_weights(given: Any, qids: NDArray[Any]) -> NDArray[np.float64] | None:
    if given is None:
        return None
    if isinstance(given, Mapping):
        missing = [qid for qid in qids.tolist() if qid not in given]
        if missing:
            raise InputError(
                f"query_weights must hold every qid, got none for {missing[0]!r} ({len(missing):,} missing)"
            )
        given = [given[qid] for qid in qids.tolist()]
    if not isinstance(given, np.ndarray):
        given = list(given) if isinstance(given, (list, tuple)) else np.asarray(given)
    if len(given) != len(qids):
        raise InputError(
            f"query_weights must have one value per query in order of first appearance ({len(qids):,}), "
            f"got {len(given):,}; or pass a mapping from qid to weight"
        )
    return weight_column(given, "query_weights", len(qids), lambda query: f"query {qids[query]!r}")


def _query_numbers(queries: Any, n_queries: int) -> slice | NDArray[np.int64]:
    """Positions of queries as a slice of step 1 where they are one, else as non-negative numbers."""
    if isinstance(queries, slice):
        numbers = np.arange(n_queries)[queries]
    else:
        numbers = np.atleast_1d(np.asarray(queries))
    if numbers.dtype == bool:
        if numbers.shape != (n_queries,):
            raise InputError(
                f"a mask of queries must have one entry per query ({n_queries:,}), got {len(numbers):,}"
            )
        numbers = np.flatnonzero(numbers)
    if numbers.size == 0:
        return slice(0, 0)
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
        raise InputError(
            f"queries must be a slice, whole numbers or a mask, got {numbers.dtype} of shape {numbers.shape}"
        )
    return _in_range(numbers.astype(np.int64), n_queries)


def _in_range(numbers: NDArray[np.int64], n_queries: int) -> slice | NDArray[np.int64]:
    outside = (numbers < -n_queries) | (numbers >= n_queries)
    if outside.any():
        raise InputError(
            f"queries must be below {n_queries:,}, the number of queries, got {numbers[outside][0]:,}"
        )
    numbers = np.where(numbers < 0, numbers + n_queries, numbers)
    if (np.diff(numbers) == 1).all():
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    if len(np.unique(numbers)) < len(numbers):
        raise InputError(
            "queries must be all different, got one of them twice; a query can be taken only once"
        )
    return numbers
