"""What rankings are read from: TREC's runs and qrels, and files of scores.

    run     qid Q0 docid rank score tag          documents are ranked by score, the rank is not used
    qrels   qid iteration docid label
    scores  one number a line, for the rows of the data in the caller's order

Fields are separated by blanks, and blank lines are passed over. Files may be compressed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.fields import Content, Fields, read_content, read_numbers, split_lines
from rankloom.data.matching import first_place, numbered
from rankloom.data.row_texts import decoded
from rankloom.data.texts import Texts
from rankloom.errors import ParseError

RUN = "qid Q0 docid rank score tag"
QRELS = "qid iteration docid label"


@dataclass(frozen=True)
class Listing:
    """Documents of queries, one entry per line of a file, in its order; a document is there once per query.

    Attributes:
        qids: the ids of the queries, as text, in order of first appearance.
        query: for each entry the place of its query in `qids`.
        doc_ids: the document of each entry.
        name: the file.
    """

    qids: NDArray[Any]
    query: NDArray[np.int64]
    doc_ids: Texts
    name: str

    @property
    def qid(self) -> NDArray[Any]:
        """The id of the query of each entry."""
        return np.asarray(self.qids[self.query])

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True)
class Run(Listing):
    """What a system found, each document with its score."""

    scores: NDArray[np.float64]
    tag: str


@dataclass(frozen=True)
class Qrels(Listing):
    """What judges said, each document with its label."""

    labels: NDArray[np.float64]


def read_run(source: Any) -> Run:
    """Read a run: `qid Q0 docid rank score tag`. A document found twice for a query is an error."""
    return _run(read_content(source))


def read_qrels(source: Any) -> Qrels:
    """Read judgements: `qid iteration docid label`. A document judged twice for a query is an error."""
    fields = split_lines(read_content(source), QRELS, ("qid", "docid", "label"))
    qids, query, doc_ids = _entries(fields)
    labels = read_numbers(fields.texts[2], "the label", fields.lines, fields.name)
    return Qrels(qids, query, doc_ids, fields.name, labels)


def read_scores(source: Any) -> NDArray[np.float64]:
    """Read scores, one number a line. Infinite ones are taken, nan is an error: it cannot be ranked."""
    return _scores(read_content(source))


def read_ranking(source: Any) -> NDArray[np.float64] | Run:
    """Read scores or a run, whichever the first line that is not blank looks like."""
    content = read_content(source)
    n_fields = len(content.first_fields())
    if n_fields == len(RUN.split()):
        return _run(content)
    if n_fields > 1:
        raise ParseError(
            f"a ranking has one number a line, or six fields ({RUN}), got {n_fields} fields", content.name, 1
        )
    return _scores(content)


def _run(content: Content) -> Run:
    fields = split_lines(content, RUN, ("qid", "docid", "score", "tag"))
    qids, query, doc_ids = _entries(fields)
    scores = read_numbers(fields.texts[2], "the score", fields.lines, fields.name)
    tag = fields.texts[3][0] if len(scores) else ""
    return Run(qids, query, doc_ids, fields.name, scores, tag)


def _scores(content: Content) -> NDArray[np.float64]:
    fields = split_lines(content, "score", ("score",))
    gaps = np.flatnonzero(fields.lines != np.arange(1, len(fields.lines) + 1))
    if len(gaps):
        raise ParseError(
            "a score file has one number a line, got a blank line", fields.name, int(gaps[0]) + 1
        )
    return read_numbers(fields.texts[0], "a score", fields.lines, fields.name, infinite=True)


def _entries(fields: Fields) -> tuple[NDArray[Any], NDArray[np.int64], Texts]:
    """Distinct qids, the query of each entry, and the documents, each there once per query."""
    qids, query = numbered(fields.texts[0])
    doc_ids = fields.texts[1]
    first = first_place(doc_ids, query)
    again = first != np.arange(len(first))
    if again.any():
        row = int(again.argmax())
        raise ParseError(
            f"document {doc_ids[row]!r} of query {qids[int(query[row])]!r} is there already, "
            f"in line {fields.lines[first[row]]}; leave one of them out",
            fields.name,
            int(fields.lines[row]),
        )
    return decoded(qids), query, doc_ids
