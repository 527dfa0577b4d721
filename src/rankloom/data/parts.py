"""Everything a RankingData holds, as one value: checked and grouped here, then cut or gathered by queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import frozen, number_column, row_namer, weight_column
from rankloom.data.features import Features
from rankloom.data.groups import Groups, expand_ranges, group_rows
from rankloom.data.row_texts import gather_texts, names_of, slice_texts, text_column
from rankloom.errors import InputError


class Parts(NamedTuple):
    """Rows of one query lie together; query q is rows offsets[q]:offsets[q+1]."""

    features: Features
    y: NDArray[np.float64] | None
    offsets: NDArray[np.int64]
    qids: Any
    order: NDArray[np.int64] | None = None
    doc_ids: Any = None
    comments: Any = None
    weights: NDArray[np.float64] | None = None
    query_weights: NDArray[np.float64] | None = None
    names: Any = None

    def frozen(self) -> Parts:
        """The same with all arrays read-only."""
        features = Features(*(_frozen(part) for part in self.features))
        return Parts(features, *(_frozen(part) for part in self[1:]))

    def query_range(self, first: int, last: int) -> Parts:
        """Queries first:last over the same memory, in their own order."""
        start, stop = int(self.offsets[first]), int(self.offsets[last])
        return Parts(
            self.features.rows(start, stop),
            None if self.y is None else self.y[start:stop],
            self.offsets[first : last + 1] - start,
            slice_texts(self.qids, first, last),
            None,
            slice_texts(self.doc_ids, start, stop),
            slice_texts(self.comments, start, stop),
            None if self.weights is None else self.weights[start:stop],
            None if self.query_weights is None else self.query_weights[first:last],
            self.names,
        )

    def gather_queries(self, queries: NDArray[np.int64]) -> Parts:
        """These queries in this order, copied, in their own order."""
        lengths = self.offsets[queries + 1] - self.offsets[queries]
        moved = self._gather_rows(expand_ranges(self.offsets[queries], lengths))
        return moved._replace(
            offsets=np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths))),
            qids=gather_texts(self.qids, queries),
            order=None,
            query_weights=None if self.query_weights is None else self.query_weights[queries],
        )

    def grouped(self) -> Parts:
        """The parts of rows in the caller's order, moved to where `order` wants them."""
        return self if self.order is None else self._gather_rows(self.order)

    def _gather_rows(self, rows: NDArray[np.int64]) -> Parts:
        """What there is per row, of these rows; what there is per query is left as it is."""
        return self._replace(
            features=self.features.gather(rows),
            y=None if self.y is None else self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            doc_ids=gather_texts(self.doc_ids, rows),
            comments=gather_texts(self.comments, rows),
        )


class Extras(NamedTuple):
    """What may come with the rows, as the caller gives it."""

    doc_ids: Any = None
    comments: Any = None
    weights: Any = None
    query_weights: Any = None
    feature_names: Any = None


class PerRow(NamedTuple):
    """Weights of queries given once per row, as a column of a table holds them."""

    values: Any


def checked_parts(features: Features, y: Any, qid: Any, extras: Extras) -> Parts:
    """Check everything in the caller's order, then bring it into query order."""
    n_rows, place = features.n_rows, row_namer(qid)
    groups = group_rows(qid, n_rows)
    given = Parts(
        features,
        None if y is None else number_column(y, "y", n_rows, place),
        *groups,
        text_column(extras.doc_ids, "doc_ids", n_rows),
        text_column(extras.comments, "comments", n_rows),
        None if extras.weights is None else weight_column(extras.weights, "weights", n_rows, place),
        per_query_weights(extras.query_weights, groups),
        names_of(extras.feature_names, features.n_features),
    )
    return given.grouped()


def per_query_weights(given: Any, groups: Groups) -> NDArray[np.float64] | None:
    """One weight per query, from as many numbers, from a mapping by qid, or from a column of rows."""
    if given is None:
        return None
    qids = groups.qids
    if isinstance(given, PerRow):
        return _one_per_query(given.values, groups)
    if isinstance(given, Mapping):
        given = _looked_up(given, qids.tolist())
    elif not hasattr(given, "__len__"):
        raise InputError(
            f"query_weights must be one number per query or a mapping from qid, got {given!r:.60}"
        )
    if len(given) != len(qids):
        raise InputError(
            f"query_weights must have one value per query in order of first appearance ({len(qids):,}), "
            f"got {len(given):,}; or pass a mapping from qid to weight"
        )
    return weight_column(given, "query_weights", len(qids), lambda query: f"query {qids[query]!r}")


def _one_per_query(values: Any, groups: Groups) -> NDArray[np.float64]:
    """The value that all rows of a query share."""
    rows = weight_column(values, "query_weight", int(groups.offsets[-1]))
    rows = rows if groups.order is None else rows[groups.order]
    firsts = rows[groups.offsets[:-1]]
    different = rows != np.repeat(firsts, np.diff(groups.offsets))
    if different.any():
        row = int(different.argmax())
        query = int(np.searchsorted(groups.offsets, row, side="right")) - 1
        got = f"{firsts[query]:g} and {rows[row]:g} in query {groups.qids[query]}"
        raise InputError(f"query_weight must be the same in all rows of a query, got {got}")
    return firsts


def _looked_up(weights: Mapping[Any, Any], qids: list[Any]) -> list[Any]:
    missing = [qid for qid in qids if qid not in weights]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise InputError(f"query_weights must have every qid, got nothing for {missing[0]!r}{more}")
    return [weights[qid] for qid in qids]


def _frozen(part: Any) -> Any:
    return frozen(part) if isinstance(part, np.ndarray) else part
