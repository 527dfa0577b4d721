"""What looks wrong with data: for each kind of finding, a few lines over what the survey counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.inspect import Finding, Inspection
from rankloom.data.survey import repeats, text_hashes

if TYPE_CHECKING:
    from rankloom.data.ranking_data import RankingData

MOST_EXAMPLES = 5
FAR = (
    100.0  # a feature whose largest size is this many times the median feature's, or a part of it that small
)
LONG_QUERY = 10_000
HIGH_LABEL = 31  # 2^31 - 1 as a gain leaves nothing of the labels below


def find(data: RankingData, inspection: Inspection, hashes: NDArray[np.uint64]) -> Iterator[Finding]:
    """Everything that looks wrong, features first, then documents, labels and queries."""
    if not data.n_rows:
        yield Finding("empty", 0, "There are no rows.")
        return
    yield from _features(inspection)
    yield from _documents(data, hashes)
    if data.y is None:
        yield Finding("no_labels", data.n_rows, "There are no labels to learn or to measure from.")
    else:
        yield from _labels(data.y)
        yield from _preferences(data, data.y)
    yield from _queries(data)


# Features


def _features(seen: Inspection) -> Iterator[Finding]:
    columns = seen.columns
    unused = columns.nonzero + columns.missing == 0
    n_unused = int(unused.sum()) + seen.n_features - len(columns.number)
    constant = (columns.low == columns.high) & ~unused
    missing = columns.missing > 0
    if n_unused:
        names = _names(seen, unused)
        text = f"{_are(n_unused, 'feature')} 0 in every row: drop {_them(n_unused)}"
        yield Finding("unused_features", n_unused, text + _such_as(names, n_unused), names)
    if constant.any():
        count, names = int(constant.sum()), _names(seen, constant)
        text = f"{_have(count, 'feature')} one value in every row, which tells nothing: drop {_them(count)}"
        yield Finding("constant_features", count, text + _such_as(names, count), names)
    if missing.any():
        count, names = int(missing.sum()), _names(seen, missing)
        text = f"{_have(count, 'feature')} missing values, {int(columns.missing.sum()):,} in all"
        yield Finding("missing_values", count, text + _such_as(names, count), names)
    yield from _scales(seen, columns.low < columns.high)


def _scales(seen: Inspection, varied: NDArray[np.bool_]) -> Iterator[Finding]:
    """Features of very different size: gradient steps and penalties see little but the largest."""
    if not varied.any():
        return
    columns = seen.columns
    size = np.where(varied, np.maximum(np.abs(columns.low), np.abs(columns.high)), 1.0)
    usual = float(np.median(size[varied]))
    apart = np.where(varied, np.abs(np.log(size / usual)), 0.0)
    count = int((apart > np.log(FAR)).sum())
    if not count:
        return
    farthest = np.argsort(-apart, kind="stable")[: min(count, MOST_EXAMPLES)].tolist()
    names = tuple(f"{seen.name(place)} up to {size[place]:.3g}" for place in farthest)
    text = f"{_are(count, 'feature')} of another size than the rest, which reach {usual:.3g}"
    advice = ": scale them before linear methods or nets"
    yield Finding("unscaled_features", count, text + advice + _such_as(names, count), names)


# Documents


def _documents(data: RankingData, hashes: NDArray[np.uint64]) -> Iterator[Finding]:
    empty = hashes == 0
    if empty.any() and data.n_features:
        count = int(empty.sum())
        text = f"{_have(count, 'document')} no feature but 0."
        yield Finding("empty_documents", count, text, _rows(data, np.flatnonzero(empty)))
    yield from _same_features(data, hashes, ~empty)
    if data.doc_ids is not None:
        ids = text_hashes(data.doc_ids)
        rows, _ = repeats(ids, data.offsets, ids != 0)
        if len(rows):
            text = f"{_have(len(rows), 'document')} the id of an earlier one of the same query."
            yield Finding("repeated_doc_ids", len(rows), text, _rows(data, rows))


def _same_features(
    data: RankingData, hashes: NDArray[np.uint64], some: NDArray[np.bool_]
) -> Iterator[Finding]:
    rows, first = repeats(hashes, data.offsets, some)
    if not len(rows):
        return
    told = f"{_have(len(rows), 'document')} the features of an earlier one of the same query"
    text = f"{told}: no ranker can tell them apart."
    yield Finding("repeated_documents", len(rows), text, _rows(data, rows))
    torn = rows[data.y[rows] != data.y[first]] if data.y is not None else rows[:0]
    if len(torn):
        have = "1 of them has" if len(torn) == 1 else f"{len(torn):,} of them have"
        text = f"{have} another label than the document repeated."
        yield Finding("contradictions", len(torn), text, _rows(data, torn))


# Labels


def _labels(y: NDArray[np.float64]) -> Iterator[Finding]:
    negative, fractions, high = (int(found.sum()) for found in (y < 0, y != np.rint(y), y >= HIGH_LABEL))
    if negative:
        text = (
            f"{_are(negative, 'label')} below 0: measures take 0 as not relevant, and refuse or ignore less."
        )
        yield Finding("negative_labels", negative, text)
    if fractions:
        yield Finding("fractional_labels", fractions, f"{_are(fractions, 'label')} not whole numbers.")
    if high:
        told = f"{_are(high, 'label')} {HIGH_LABEL} or more"
        text = f"{told}: with the gain 2^y - 1 only the highest would count; use y as gain."
        yield Finding("high_labels", high, text)


def _preferences(data: RankingData, y: NDArray[np.float64]) -> Iterator[Finding]:
    starts = data.offsets[:-1]
    highest, lowest = np.maximum.reduceat(y, starts), np.minimum.reduceat(y, starts)
    several = data.lengths > 1
    alike = several & (highest == lowest)
    none = highest <= 0
    if alike.any():
        text = (
            f"{_have(int(alike.sum()), 'query')} one label only, so no document is to be put before another."
        )
        yield Finding("no_preference", int(alike.sum()), text, _some(data.qids[alike]))
    if none.any():
        text = (
            f"{_have(int(none.sum()), 'query')} no relevant document (label above 0): "
            "whether a measure counts them 0, 1 or not at all is its convention."
        )
        yield Finding("no_relevant", int(none.sum()), text, _some(data.qids[none]))


# Queries


def _queries(data: RankingData) -> Iterator[Finding]:
    single, long = data.lengths == 1, data.lengths > LONG_QUERY
    if data.n_queries == 1 and data.n_rows > 1:
        text = "All rows are one query: right for AUC or Kendall's tau; for search data, qids are missing."
        yield Finding("one_query", 1, text)
    if single.any():
        text = f"{_have(int(single.sum()), 'query')} a single document: any ranking of it is perfect."
        yield Finding("single_document", int(single.sum()), text, _some(data.qids[single]))
    if long.any() and data.n_queries > 1:
        text = (
            f"{_have(int(long.sum()), 'query')} more than {LONG_QUERY:,} documents, which LightGBM refuses."
        )
        yield Finding("long_queries", int(long.sum()), text, _some(data.qids[long]))
    if data.order is not None:
        text = "Rows of a query do not lie together: fine here, but other tools need them sorted."
        yield Finding("scattered_queries", data.n_queries, text)


# Words


def _are(count: int, noun: str) -> str:
    return f"{_number(count, noun)} {'is' if count == 1 else 'are'}"


def _have(count: int, noun: str) -> str:
    return f"{_number(count, noun)} {'has' if count == 1 else 'have'}"


def _number(count: int, noun: str) -> str:
    plural = {"query": "queries"}.get(noun, noun + "s")
    return f"1 {noun}" if count == 1 else f"{count:,} {plural}"


def _them(count: int) -> str:
    return "it" if count == 1 else "them"


def _such_as(names: tuple[str, ...], count: int) -> str:
    """Ends a sentence with its examples."""
    if not names:
        return "."
    more = f", and {count - len(names):,} more" if count > len(names) else ""
    return f" ({', '.join(names)}{more})."


def _names(seen: Inspection, chosen: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(seen.name(place) for place in np.flatnonzero(chosen)[:MOST_EXAMPLES].tolist())


def _rows(data: RankingData, rows: NDArray[np.int64]) -> tuple[str, ...]:
    """Where documents are: the row as the caller counts, from 0, and the query."""
    some = rows[:MOST_EXAMPLES]
    queries = np.searchsorted(data.offsets, some, side="right") - 1
    given = some if data.order is None else data.order[some]
    return tuple(f"row {row} of query {qid}" for row, qid in zip(given, data.qids[queries], strict=True))


def _some(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(f"query {value}" for value in list(values)[:MOST_EXAMPLES])
