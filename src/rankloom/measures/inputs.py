"""What `evaluate` is given, checked and grouped by query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError


@dataclass(frozen=True)
class Judged:
    """Scores and labels, grouped by query."""

    scores: NDArray[np.float64]
    labels: NDArray[np.float64]
    offsets: NDArray[np.int64]
    qids: NDArray[Any]
    order: NDArray[np.int64] | None  # row i here is the caller's row order[i]
    doc_ids: Any  # one per row here, or None
    query_weights: NDArray[np.float64] | None

    def where(self, row: int) -> str:
        """The query and the caller's row, in words."""
        query = int(np.searchsorted(self.offsets, row, side="right")) - 1
        at = row if self.order is None else int(self.order[row])
        return f"query {self.qids[query]}, row {at}"

    def refuse(self, bad: NDArray[np.bool_], complaint: str, values: NDArray[Any]) -> None:
        """Raise for the first bad row, if there is one."""
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise InputError(f"{complaint}, got {values[row]:g} in {self.where(row)}")


def judged(scores: Any, y: Any, qid: Any, query_weights: Any, doc_ids: Any) -> Judged:
    """Group the caller's rows by query and refuse what cannot be measured."""
    if hasattr(y, "offsets") and hasattr(y, "qids"):
        return _from_data(scores, y, qid, query_weights, doc_ids)
    from rankloom.data.groups import group_rows

    labels = _column(y, "y")
    numbers = _column(scores, "scores")
    _check_length("scores", len(numbers), len(labels))
    groups = group_rows(qid, len(labels))
    if doc_ids is not None:
        _check_length("doc_ids", len(doc_ids), len(labels))
    if groups.order is not None:
        labels, numbers = labels[groups.order], numbers[groups.order]
        doc_ids = _taken(doc_ids, groups.order)
    weights = _weights(query_weights, len(groups.qids))
    return _checked(Judged(numbers, labels, groups.offsets, groups.qids, groups.order, doc_ids, weights))


def _from_data(scores: Any, data: Any, qid: Any, query_weights: Any, doc_ids: Any) -> Judged:
    """y is a RankingData: it knows the queries, and may know weights and ids."""
    if qid is not None:
        raise InputError("qid is given twice: in the data and beside it; leave out qid=")
    if data.y is None:
        raise InputError("the data has no labels, so there is nothing to measure against")
    numbers = _column(scores, "scores")
    _check_length("scores", len(numbers), len(data.y))
    ids = data.doc_ids
    if doc_ids is not None:
        _check_length("doc_ids", len(doc_ids), len(data.y))
        ids = doc_ids if data.order is None else _taken(doc_ids, data.order)
    if data.order is not None:
        numbers = numbers[data.order]
    given = data.query_weights if query_weights is None else query_weights
    weights = _weights(given, len(data.qids))
    return _checked(Judged(numbers, _column(data.y, "y"), data.offsets, data.qids, data.order, ids, weights))


def _column(values: Any, name: str) -> NDArray[np.float64]:
    if values is None:
        raise InputError(f"{name} is missing: evaluate(scores, y, qid=...) or evaluate(scores, data)")
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"got {array.dtype}")
        array = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers, one per row: {error}") from None
    if array.ndim != 1:
        raise InputError(f"{name} must have one number per row, got an array of shape {array.shape}")
    return array


def _check_length(name: str, got: int, wanted: int) -> None:
    if got != wanted:
        raise InputError(f"{name} must have one entry per row, got {got} for {wanted} rows")


def _taken(doc_ids: Any, order: NDArray[np.int64]) -> Any:
    if doc_ids is None:
        return None
    return doc_ids.take(order) if hasattr(doc_ids, "take") else [doc_ids[row] for row in order]


def _weights(given: Any, n_queries: int) -> NDArray[np.float64] | None:
    if given is None:
        return None
    weights = _column(given, "query_weights")
    if len(weights) != n_queries:
        raise InputError(
            f"query_weights must have one weight per query, in the order in which queries first appear; "
            f"got {len(weights)} for {n_queries} queries"
        )
    bad = ~(np.isfinite(weights) & (weights >= 0.0))
    if bad.any():
        query = int(np.flatnonzero(bad)[0])
        raise InputError(f"query weights must be finite and not negative, got {weights[query]:g} at {query}")
    if n_queries and not weights.any():
        raise InputError("query weights must not all be zero")
    return weights


def _checked(rows: Judged) -> Judged:
    rows.refuse(np.isnan(rows.scores), "a score must be a number", rows.scores)
    rows.refuse(~np.isfinite(rows.labels), "a label must be a finite number", rows.labels)
    return rows
