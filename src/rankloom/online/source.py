"""A stream of queries, line by line: LETOR text or JSON lines, from a file or a pipe.

LETOR    the lines of one query, up to another qid or an empty line; labels are its feedback
JSON     {"query": "q", "docs": ["a", "b"], "x": [[0.5, 1], [0.2, 0]]}        rank these
         {"query": "q", "clicks": ["b"]}                                       learn: what was ranked last
         feedback is one of "labels": [2, 0], "pairs": [["a", "b"]] (better, worse), "clicks": ["b"] with
         "shown": ["b", "a"]; it may stand beside "x". "id" names it; "x" may hold {"3": 0.5} for sparse rows

Feedback without an id is named by its query, and counted from the second on: q, q/2, q/3. So a stream that is
sent again is recognised.
"""

from __future__ import annotations

import io
import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rankloom.data.features import Features, features_from
from rankloom.data.feedback import Feedback
from rankloom.errors import InputError, ParseError

REMEMBERED = 10_000
_KNOWN = {"query", "docs", "x", "labels", "pairs", "clicks", "shown", "id"}
_TOLD = ("labels", "pairs", "clicks")


class Asked(NamedTuple):
    """One thing that comes in: rows to rank, feedback to learn, or both."""

    query: str
    docs: list[str]
    features: Features
    is_new: bool
    """Whether its rows came with it, and want a ranking."""
    feedback: Feedback | None
    id: str


class Source:
    """Reads a stream. `shown` is told which ranking was given, so that clicks know what was above them.

    Args:
        lines: the lines, with their ends.
        name: what messages call the stream.
        n_features: how many features rows have; None is as many as the first query has.
        index_base: the index of the first feature, 0 or 1.
        rule: which pairs clicks become; see `Feedback.clicks`.
        examined: how much a user looks at each place: a number eta, or None.
    """

    def __init__(
        self,
        lines: Iterable[bytes],
        name: str,
        *,
        n_features: int | None = None,
        index_base: int = 1,
        rule: str = "skip-above",
        examined: float | None = None,
    ) -> None:
        self.n_features, self.is_json = n_features, False
        self._lines, self._name, self._base = lines, name, index_base
        self._rule, self._examined = rule, examined
        self._times: dict[str, int] = {}
        self._open: OrderedDict[str, tuple[list[str], Features, list[int] | None]] = OrderedDict()

    def __iter__(self) -> Iterator[Asked]:
        held: list[bytes] = []
        qid, begun = b"", 0
        for number, line in enumerate(self._lines, 1):
            text = line.strip()
            if text.startswith(b"{"):
                if held:
                    yield self._letor(held, begun)
                    held = []
                self.is_json = True
                yield self._json(text, number)
                continue
            own = _qid(text)
            if held and (not text or (own and own != qid)):
                yield self._letor(held, begun)
                held = []
            if text and not text.startswith(b"#"):
                if not held:
                    qid, begun = own, number
                held.append(line if line.endswith(b"\n") else line + b"\n")
        if held:
            yield self._letor(held, begun)

    def shown(self, query: str, order: list[int]) -> None:
        """A ranking was given: rows from the top."""
        if query in self._open:
            docs, features, _ = self._open[query]
            self._open[query] = docs, features, order

    def _letor(self, lines: list[bytes], begun: int) -> Asked:
        from rankloom.data.text import read_text

        try:
            data = read_text(
                io.BytesIO(b"".join(lines)), n_features=self.n_features, index_base=self._base, threads=1
            )
        except ParseError as error:
            line = None if error.line is None else error.line + begun - 1
            raise ParseError(error.reason, self._name, line, error.column) from error
        self.n_features = data.n_features
        query = str(data.qids[0])
        docs = [str(i) for i in range(data.n_rows)] if data.doc_ids is None else list(data.doc_ids)
        assert data.y is not None  # text always has labels
        told = Feedback.grades(data.y)
        return Asked(query, [str(doc) for doc in docs], data.features, True, told, self._id(query))

    def _id(self, query: str, given: Any = None) -> str:
        if given is not None:
            return str(given)
        self._times[query] = self._times.get(query, 0) + 1
        return query if self._times[query] == 1 else f"{query}/{self._times[query]}"

    def _json(self, text: bytes, number: int) -> Asked:
        try:
            message = json.loads(text)
            return self._message(message)
        except json.JSONDecodeError as error:
            raise ParseError(f"this is no JSON: {error.msg}", self._name, number, error.colno) from error
        except ParseError:
            raise
        except InputError as error:
            raise ParseError(str(error), self._name, number) from error

    def _message(self, message: dict[str, Any]) -> Asked:
        unknown = sorted(set(message) - _KNOWN)
        if unknown:
            raise InputError(f"{unknown[0]!r} is not known here; there are {', '.join(sorted(_KNOWN))}")
        if "query" not in message:
            raise InputError('every line must have a "query"')
        query = str(message["query"])
        is_new = "x" in message
        if is_new:
            self._remember(query, message)
        elif "docs" in message:
            raise InputError('"docs" names the rows of "x", which is not there')
        elif query not in self._open:
            raise InputError(
                f"the query {query!r} was not ranked here (or {REMEMBERED:,} queries ago); send its x again"
            )
        docs, features, order = self._open[query]
        told = self._feedback(message, docs, order)
        if told is None and not is_new:
            raise InputError(f"there is nothing to rank or to learn; give x, {' or '.join(_TOLD)}")
        name = self._id(query, message.get("id")) if told is not None else ""
        return Asked(query, docs, features, is_new, told, name)

    def _remember(self, query: str, message: dict[str, Any]) -> None:
        features = self._rows(message["x"])
        docs = message.get("docs")
        docs = [str(i) for i in range(features.n_rows)] if docs is None else [str(doc) for doc in docs]
        if len(docs) != features.n_rows or len(set(docs)) < len(docs):
            raise InputError(f'"docs" must name the {features.n_rows} rows of "x", each differently')
        self.n_features = features.n_features
        self._open.pop(query, None)
        self._open[query] = docs, features, None
        while len(self._open) > REMEMBERED:
            self._open.popitem(last=False)

    def _rows(self, x: Any) -> Features:
        if not isinstance(x, list) or not x:
            raise InputError('"x" must be a list of rows, each a list of numbers or {"index": number}')
        features = self._sparse(x) if isinstance(x[0], dict) else features_from(x)
        if self.n_features is not None and features.n_features != self.n_features:
            raise InputError(f'rows of "x" must have {self.n_features} features, got {features.n_features}')
        return features

    def _sparse(self, x: list[Any]) -> Features:
        from scipy.sparse import csr_array

        if self.n_features is None:
            raise InputError("how many features sparse rows have must be said: --n-features N")
        try:
            columns = [[int(index) - self._base for index in row] for row in x]
            values = [float(value) for row in x for value in row.values()]
        except (AttributeError, TypeError, ValueError) as error:
            raise InputError(f'"x" must hold rows of one kind, {{"index": number}}: {error}') from error
        flat = [column for row in columns for column in row]
        if flat and not 0 <= min(flat) <= max(flat) < self.n_features:
            at = next(c for c in flat if not 0 <= c < self.n_features) + self._base
            raise InputError(f"indices must be from {self._base} for {self.n_features} features, got {at}")
        ends = np.cumsum([0, *(len(row) for row in columns)])
        table = csr_array((np.array(values), np.array(flat, dtype=np.int32), ends), (len(x), self.n_features))
        return features_from(table)

    def _feedback(self, message: dict[str, Any], docs: list[str], order: list[int] | None) -> Feedback | None:
        given = [name for name in _TOLD if name in message]
        if len(given) > 1:
            raise InputError(f"feedback must be one of {', '.join(_TOLD)}, got {' and '.join(given)}")
        if "shown" in message and given != ["clicks"]:
            raise InputError('"shown" goes with "clicks"')
        if not given:
            return None
        if given == ["labels"]:
            told = Feedback.grades(message["labels"])
            told.check(len(docs))
            return told
        rows = {doc: row for row, doc in enumerate(docs)}
        if given == ["pairs"]:
            return Feedback.preferences([[_row(rows, one) for one in pair] for pair in message["pairs"]])
        clicked = np.zeros(len(docs))
        clicked[[_row(rows, doc) for doc in message["clicks"]]] = 1.0
        shown = [_row(rows, doc) for doc in message["shown"]] if "shown" in message else order
        return Feedback.clicks(clicked, shown, rule=self._rule, examined=self._examined)


def _row(rows: dict[str, int], doc: Any) -> int:
    if str(doc) not in rows:
        raise InputError(f"{doc!r:.60} is none of the query's docs")
    return rows[str(doc)]


def _qid(text: bytes) -> bytes:
    """The query of a line of LETOR text, as it is written."""
    for token in text.split(None, 2)[1:2]:
        if token.startswith(b"qid:"):
            return token
    return b""
