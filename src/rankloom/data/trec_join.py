"""A run put together with judgements, as trec_eval does it, or with the rows of a RankingData.

Of a query's documents, the run holds those that were retrieved and the qrels those that were judged.

    retrieved, judged      score of the run, label of the qrels
    retrieved, not judged  score of the run, label 0
    judged, not retrieved  score -inf, label of the qrels: it counts among the relevant ones, and is not found
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.matching import as_texts, chained, first_place
from rankloom.data.ranking_data import RankingData
from rankloom.data.texts import Texts
from rankloom.data.trec import Qrels, Run
from rankloom.errors import InputError

_LARGEST = float(np.finfo(np.float32).max)


class Judged(NamedTuple):
    """What `evaluate(scores, labels, qid=qid, doc_ids=doc_ids)` takes; and which documents were judged."""

    scores: NDArray[np.float64]
    labels: NDArray[np.float64]
    qid: NDArray[np.object_]
    doc_ids: Texts
    judged: NDArray[np.bool_]


def join_qrels(run: Run, qrels: Qrels, *, complete: bool = False) -> Judged:
    """Give the documents of a run their labels, by trec_eval's rules.

    Queries that were not judged are left out. Judged queries that are not in the run are left out too,
    unless `complete` is true (trec_eval -c): then they count as queries for which nothing was found.
    Labels below 0 count as 0. Scores are rounded to single precision, as trec_eval does, so that smaller
    differences are ties.
    """
    n = len(run)
    codes = _codes(run.qids.tolist(), qrels.qids.tolist())
    queries = np.concatenate((run.query, codes[qrels.query]))
    texts = chained([run.doc_ids, qrels.doc_ids])
    first = first_place(texts, queries)[n:]
    found = first < n
    given = np.maximum(qrels.labels, 0.0)
    labels, judged = np.zeros(n), np.zeros(n, dtype=bool)
    labels[first[found]] = given[found]
    judged[first[found]] = True
    kept = np.isin(run.query, codes)
    is_searched = codes[qrels.query] < len(run.qids)
    lost = ~found & np.where(is_searched, given > 0.0, complete)
    scores = np.clip(run.scores[kept], -_LARGEST, _LARGEST).astype(np.float32).astype(np.float64)
    return Judged(
        np.concatenate((scores, np.full(int(lost.sum()), -np.inf))),
        np.concatenate((labels[kept], given[lost])),
        np.concatenate((run.qid[kept], qrels.qid[lost])),
        texts.take(np.flatnonzero(np.concatenate((kept, lost)))),
        np.concatenate((judged[kept], np.ones(int(lost.sum()), dtype=bool))),
    )


def run_scores(run: Run, data: RankingData, *, missing: float | None = None) -> NDArray[np.float64]:
    """The run's score for each row of the data, by qid and doc id, in the caller's order.

    A row that the run does not have gets the score `missing` (-inf: not found), and is an error where that is
    None. A document of the run that the data does not have is an error: to leave it out would move others up.
    Queries of the run that the data does not have are passed over.
    """
    if data.doc_ids is None:
        raise InputError("the rows of a run are found by doc id and the data has none; give it doc_ids")
    n = data.n_rows
    codes = _codes([str(qid) for qid in data.qids.tolist()], run.qids.tolist())
    own = np.repeat(np.arange(data.n_queries), data.lengths)
    entries = np.flatnonzero(codes[run.query] < data.n_queries)
    texts = chained([as_texts(data.doc_ids), run.doc_ids.take(entries)])
    first = first_place(texts, np.concatenate((own, codes[run.query[entries]])))
    _refuse_twins(data, own, first[:n])
    place = first[n:]
    if (place >= n).any():
        entry = int(entries[int((place >= n).argmax())])
        raise InputError(
            f"{run.name} has document {run.doc_ids[entry]!r} for query {run.qids[run.query[entry]]!r}, "
            f"and the data does not ({int((place >= n).sum()):,} such in all); join it with qrels instead"
        )
    scores = np.full(n, np.nan if missing is None else missing)
    scores[place] = run.scores[entries]
    if missing is None and np.isnan(scores).any():
        row = int(np.isnan(scores).argmax())
        raise InputError(
            f"{run.name} has no score for document {data.doc_ids[row]!r} of query {_name(data, own[row])} "
            f"({int(np.isnan(scores).sum()):,} such in all); pass missing=-inf to count them as not found"
        )
    return data.in_caller_order(scores)


def _refuse_twins(data: RankingData, own: NDArray[np.int64], first: NDArray[np.int64]) -> None:
    """A doc id that two rows of one query share says nothing of which row is meant."""
    twins = first != np.arange(len(first))
    if twins.any():
        row = int(twins.argmax())
        raise InputError(
            f"the data has document {data.doc_ids[row]!r} twice in query {_name(data, own[row])} "
            f"(rows {first[row]} and {row}); doc ids must differ within a query to be found by"
        )


def _name(data: RankingData, query: int) -> str:
    """A query's id as a person writes it."""
    return repr(data.qids[query : query + 1].tolist()[0])


def _codes(known: list[str], others: list[str]) -> NDArray[np.int64]:
    """Where each of the others is among the known, and numbers after those for the new ones."""
    places = {qid: place for place, qid in enumerate(known)}
    return np.array([places.setdefault(qid, len(places)) for qid in others], dtype=np.int64)
