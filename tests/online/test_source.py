"""What comes in line by line: LETOR text and JSON, and what is wrong with a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankloom as rl
from rankloom.online import source as module
from rankloom.online.source import Source

LETOR = b"""# a comment
2 qid:7 1:0.9 2:5 # docid = a
0 qid:7 1:0.1 2:5 # docid = b

1 qid:8 1:0.2 2:5
0 qid:8 1:0.8 2:5
1 qid:7 1:0.2 2:5 # docid = c
0 qid:7 2:5 # docid = d"""


def asked(text: bytes, **options: Any) -> list[Any]:
    return list(Source(text.splitlines(keepends=True), "stream", **options))


def test_letor_text_by_query() -> None:
    one, two, three = asked(LETOR)
    assert [a.id for a in (one, two, three)] == ["7", "8", "7/2"]
    assert (one.docs, two.docs, three.docs) == (["a", "b"], ["0", "1"], ["c", "d"])
    assert one.feedback.labels.tolist() == [2, 0]
    assert one.is_new
    assert one.features.values.tolist() == np.float32([[0.9, 5], [0.1, 5]]).tolist()


def test_a_query_is_there_as_soon_as_an_empty_line_or_another_query_comes() -> None:
    given: list[bytes] = []

    def lines() -> Any:
        for line in LETOR.splitlines(keepends=True):
            given.append(line)
            yield line

    seen = [len(given) for _ in Source(lines(), "stream")]
    assert seen == [4, 7, 8]


JSON = b"""{"query": "q", "docs": ["a", "b", "c"], "x": [[1, 2], [3, 4], [5, 6]]}
{"query": "q", "clicks": ["b"]}
{"query": "q", "clicks": ["b"], "shown": ["a", "b"], "id": "mine"}
{"query": "r", "x": [[1, 2], [3, 4]], "labels": [0, 1]}
{"query": "q", "pairs": [["a", "c"]]}
"""


def test_json_lines() -> None:
    stream = Source(JSON.splitlines(keepends=True), "stream", examined=1.0)
    found = []
    for one in stream:
        found.append(one)
        if one.is_new and one.query == "q":
            stream.shown("q", [2, 0, 1])
    first, second, third, fourth, fifth = found
    assert (first.feedback, first.is_new, first.id) == (None, True, "")
    assert (second.id, second.is_new) == ("q", False)
    assert second.feedback.pairs.tolist() == [[1, 2], [1, 0]]  # b was shown third
    assert second.feedback.weights.tolist() == [3.0, 3.0]
    assert (third.id, third.feedback.pairs.tolist()) == ("mine", [[1, 0]])
    assert (fourth.docs, fourth.feedback.labels.tolist()) == (["0", "1"], [0, 1])
    assert (fifth.id, fifth.feedback.pairs.tolist()) == ("q/2", [[0, 2]])


def test_sparse_rows() -> None:
    (one,) = asked(b'{"query": 1, "x": [{"3": 0.5, "1": 2}, {}]}', n_features=4)
    assert one.features.columns.tolist() == [0, 2]
    assert one.features.n_features == 4
    (one,) = asked(b'{"query": 1, "x": [{"3": 0.5}]}', n_features=4, index_base=0)
    assert one.features.columns.tolist() == [3]


def test_old_queries_are_forgotten(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 2)
    text = b"".join(b'{"query": "%d", "x": [[1], [2]]}\n' % query for query in range(3))
    with pytest.raises(rl.ParseError, match="stream:4: the query '0' was not ranked here"):
        asked(text + b'{"query": "0", "labels": [1, 0]}')
    assert len(asked(text + b'{"query": "1", "labels": [1, 0]}')) == 4


NEW = b'{"query": "q", "x": [[1, 2], [3, 4]]}\n'
WRONG = [
    (b"1 qid:1 1:2\n0 qid:1 1:x\n", "stream:2:1[0-9]: "),
    (b"1 qid:1 1:2 2:3\n\n0 qid:2 3:1\n", "stream:3:.*index.*3"),
    (b'{"query": "q",}', "stream:1:15: this is no JSON"),
    (b'{"x": [[1]]}', 'stream:1: every line must have a "query"'),
    (b'{"query": "q", "y": 1}', "'y' is not known here; there are clicks, docs, id"),
    (b'{"query": "q"}', "the query 'q' was not ranked here"),
    (b'{"query": "q", "docs": ["a"]}', '"docs" names the rows of "x", which is not there'),
    (b'{"query": "q", "x": []}', '"x" must be a list of rows'),
    (b'{"query": "q", "x": [[1, "a"]]}', "must be"),
    (b'{"query": "q", "x": [[1], [NaN]]}', "X must be finite"),
    (b'{"query": "q", "x": [{"1": 1}]}', "how many features sparse rows have must be said"),
    (b'{"query": "q", "x": [[1]], "docs": ["a", "b"]}', '"docs" must name the 1 rows of "x"'),
    (b'{"query": "q", "x": [[1], [2]], "docs": ["a", "a"]}', '"docs" must name the 2 rows of "x"'),
    (NEW + b'{"query": "r", "x": [[1]]}', 'stream:2: rows of "x" must have 2 features, got 1'),
    (NEW + b'{"query": "r", "x": [{"3": 1}]}', "indices must be from 1 for 2 features, got 3"),
    (NEW + b'{"query": "r", "x": [{"a": 1}]}', '"x" must hold rows of one kind'),
    (NEW + b'{"query": "q"}', "there is nothing to rank or to learn"),
    (NEW + b'{"query": "q", "labels": [1]}', "feedback must be on the 2 rows of the query, got 1"),
    (
        NEW + b'{"query": "q", "labels": [1, 2], "clicks": []}',
        "feedback must be one of",
    ),
    (NEW + b'{"query": "q", "clicks": ["c"]}', "'c' is none of the query's docs"),
    (NEW + b'{"query": "q", "labels": [1, 0], "shown": ["0"]}', '"shown" goes with "clicks"'),
]


@pytest.mark.parametrize(("text", "told"), WRONG)
def test_what_is_wrong_with_a_line(text: bytes, told: str) -> None:
    with pytest.raises(rl.ParseError, match=told):
        asked(text)
