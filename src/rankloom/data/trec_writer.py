"""Rankings written for others to read: score files, TREC's runs and qrels.

Each number is the shortest text that reads back as the same float64.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import check_length, number_column
from rankloom.data.groups import group_rows
from rankloom.data.ranking_data import RankingData
from rankloom.data.row_texts import text_column
from rankloom.data.targets import Target, open_target
from rankloom.errors import InputError

_LINES_PER_WRITE = 1 << 14


def write_scores(scores: Any, target: Target) -> None:
    """Write scores, one number a line."""
    values = _scores(scores, None)
    _write_lines((f"{score!r}\n" for score in values.tolist()), target)


def write_run(
    scores: Any,
    qid: Any,
    target: Target,
    *,
    doc_ids: Any = None,
    tag: str = "rankloom",
    depth: int | None = None,
) -> None:
    """Write a TREC run: `qid Q0 docid rank score tag`, documents of a query from the best down.

    qid is one id per row, or a RankingData, which knows doc ids too; scores are in the caller's order.
    Equal scores keep the order of rows. depth: how many documents of a query are written, at most. Scores
    of -inf are not written: those documents were not retrieved.
    """
    names, offsets, rows, documents = _rows(qid, doc_ids)
    values = _scores(scores, len(rows))[rows]
    _check_name("tag", tag)
    if depth is not None and depth < 1:
        raise InputError(f"depth must be a whole number from 1, or None for all documents, got {depth!r}")

    def lines() -> Iterable[str]:
        for query, name in enumerate(names):
            start, stop = offsets[query], offsets[query + 1]
            ranked = start + np.argsort(-values[start:stop], kind="stable")[:depth]
            for rank, place in enumerate(ranked[values[ranked] > -np.inf].tolist(), 1):
                yield f"{name} Q0 {documents[place]} {rank} {values[place].item()!r} {tag}\n"

    _write_lines(lines(), target)


def write_qrels(labels: Any, qid: Any, target: Target, *, doc_ids: Any = None) -> None:
    """Write judgements: `qid 0 docid label`. Labels must be whole numbers, as in all qrels.

    qid is one id per row, or a RankingData, which knows doc ids too; labels are in the caller's order. For a
    RankingData's own labels give `labels=None`.
    """
    if labels is None:
        labels = _own_labels(qid)
    names, offsets, rows, documents = _rows(qid, doc_ids)
    values = number_column(labels, "labels", len(rows))
    if (values != np.floor(values)).any():
        row = int((values != np.floor(values)).argmax())
        raise InputError(
            f"qrels hold whole numbers, got label {values[row]:g} at row {row}; round labels first"
        )
    whole = values[rows].astype(np.int64).tolist()
    lines = (
        f"{name} 0 {documents[place]} {whole[place]}\n"
        for query, name in enumerate(names)
        for place in range(offsets[query], offsets[query + 1])
    )
    _write_lines(lines, target)


def _own_labels(data: Any) -> NDArray[np.float64]:
    if not isinstance(data, RankingData) or data.y is None:
        raise InputError("labels must be given, as there is no RankingData with labels of its own")
    return data.in_caller_order(data.y)


def _rows(qid: Any, doc_ids: Any) -> tuple[list[str], list[int], NDArray[np.int64], list[str]]:
    """Names of queries, their offsets, and for each row in query order its caller's row and its document."""
    if isinstance(qid, RankingData):
        if qid.doc_ids is None and doc_ids is None:
            raise InputError("a document needs an id in TREC's files and the data has none; pass doc_ids")
        offsets, qids, order, n_rows = qid.offsets, qid.qids, qid.order, qid.n_rows
        documents = list(qid.doc_ids) if doc_ids is None else None
    else:
        n_rows = len(qid)
        offsets, qids, order = group_rows(qid, n_rows)
        documents = None
    rows = np.arange(n_rows) if order is None else order
    if documents is None:
        if doc_ids is None:
            raise InputError("doc_ids must be given, one per row: a document needs an id in TREC's files")
        texts = list(text_column(doc_ids, "doc_ids", n_rows))
        documents = [texts[row] for row in rows.tolist()]
    names = [str(name) for name in qids.tolist()]
    for name in names:
        _check_name("qid", name)
    for name in documents:
        _check_name("doc id", name)
    return names, offsets.tolist(), rows, documents


def _check_name(what: str, name: str) -> None:
    if not name or any(character <= " " for character in name):
        raise InputError(
            f"a {what} in TREC's files has a character or more and no blank, got {name!r}; rename it"
        )


def _scores(scores: Any, n_rows: int | None) -> NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64).reshape(-1)
    if n_rows is not None:
        check_length(len(values), n_rows, "scores")
    if np.isnan(values).any():
        raise InputError(f"scores must be numbers, got nan at row {int(np.isnan(values).argmax())}")
    return values


def _write_lines(lines: Iterable[str], target: Target) -> None:
    remaining = iter(lines)
    with open_target(target) as file:
        while block := "".join(islice(remaining, _LINES_PER_WRITE)):
            file.write(block.encode(errors="surrogateescape"))
