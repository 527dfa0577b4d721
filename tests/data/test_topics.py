"""Multi-label text: as scikit-learn and a slow twin read it, with errors that say where."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

import rankloom as rl

TEXT = b"""\
# a comment
6,26 1:0.5 3:1.5 # why
 2:0.25
26 1:1

0 4:2
3:7
"""


def twin(text: bytes) -> tuple[list[list[int]], list[dict[int, float]]]:
    """Topics and features of each row, line by line."""
    topics, rows = [], []
    for line in text.decode().splitlines():
        fields = line.split("#")[0].split()
        if not fields:
            continue
        labels = [] if ":" in fields[0] else [int(part) for part in fields.pop(0).split(",")]
        topics.append(sorted(set(labels)))
        rows.append({int(key): float(value) for key, value in (field.split(":") for field in fields)})
    return topics, rows


def check(found: rl.Topics, text: bytes) -> None:
    topics, rows = twin(text)
    members = [
        [found.numbers[place] for place in found.members[start:stop]]
        for start, stop in zip(found.row_starts[:-1], found.row_starts[1:], strict=True)
    ]
    assert members == topics
    assert found.data.n_rows == len(rows)
    table = found.X.toarray()
    for i, row in enumerate(rows):
        expected = np.zeros(table.shape[1])
        for index, value in row.items():
            expected[index - found.index_base] = value
        assert table[i] == pytest.approx(expected)


def test_rows_and_topics() -> None:
    found = rl.read_topics(io.BytesIO(TEXT))
    check(found, TEXT)
    assert found.names == ("0", "6", "26")
    assert found.counts.tolist() == [1, 1, 2]
    assert found.data.y is None
    assert found.data.is_sparse
    assert found.Y.toarray().tolist() == [[0, 1, 1], [0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0]]
    assert found.labels("26").tolist() == [1, 0, 1, 0, 0]
    assert found.topic(1).y.tolist() == [1, 0, 0, 0, 0]
    assert np.shares_memory(found.topic(1).values, found.data.values)


def test_scikit_learn_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm.gz"
    path.write_bytes(gzip.compress(TEXT))
    X, y = load_svmlight_file(str(path), multilabel=True, zero_based=False)
    found = rl.read_topics(path)
    assert found.X.toarray() == pytest.approx(X.toarray())
    assert [tuple(np.array(found.numbers)[row.astype(bool)]) for row in found.Y.toarray()] == list(y)


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 30), max_size=4),
            st.dictionaries(st.integers(1, 9), st.integers(-9, 9).filter(bool), max_size=4),
        ).filter(lambda row: row[0] or row[1]),
        min_size=1,
        max_size=30,
    )
)
def test_any_rows_are_read_as_by_the_twin(rows: Any) -> None:
    lines = [
        ",".join(map(str, topics)) + "".join(f" {key}:{features[key]}" for key in sorted(features))
        for topics, features in rows
    ]
    text = ("\n".join(lines) + "\n").encode()
    check(rl.read_topics(io.BytesIO(text)), text)


def test_long_files_come_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "long.svm"
    path.write_bytes(TEXT * 60_000)
    found = rl.read_topics(path)
    assert found.counts.tolist() == [60_000, 60_000, 120_000]
    assert found.data.nnz == 60_000 * 6


def test_several_files_are_read_as_one(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(TEXT)
    found = rl.read_topics([tmp_path / "a", tmp_path / "b"])
    check(found, TEXT + TEXT)


def test_names(tmp_path: Path) -> None:
    (tmp_path / "numbered").write_text("6\tcorn\t12\n26 earn\n\n7 gold\n")
    (tmp_path / "plain").write_text("zero\none\n")
    found = rl.read_topics(io.BytesIO(TEXT), names=tmp_path / "numbered")
    assert (found.names, found.counts.tolist()) == (("0", "corn", "gold", "earn"), [1, 1, 0, 2])
    assert rl.read_topics(io.BytesIO(TEXT), names=tmp_path / "plain").names == ("zero", "one", "6", "26")
    assert rl.read_topics(io.BytesIO(TEXT), names=["a", "b"]).names == ("a", "b", "6", "26")
    assert rl.read_topics(io.BytesIO(TEXT), names={26: "x"}).names == ("0", "6", "x")
    with pytest.raises(rl.InputError, match="there is no topic 'wheat'; topics are 0, corn, gold, earn"):
        found.labels("wheat")
    with pytest.raises(rl.InputError, match="there is no topic 4"):
        found.topic(4)


def test_other_text_is_read_alike() -> None:
    first = rl.read_topics(io.BytesIO(b"1 0:1 2:1\n"))
    assert first.index_base == 0
    other = rl.read_topics(io.BytesIO(b"1 1:1\n"), first.data.n_features, index_base=first.index_base)
    assert other.X.toarray().tolist() == [[0, 1, 0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"1 1:1\n6,x 1:1\n", r":2:1: a line begins with its topics.*got '6,x'"),
        (b"1 1:1\n  6, 1:1\n", r":2:3: a line begins.*got '6,'"),
        (b"-1 1:1\n", r":1:1: .*got '-1'"),
        (b"1.5 1:1\n", r":1:1: .*got '1.5'"),
        (b"1,2 1:1 2:x\n", r":1:11: a feature.s value must be a number"),
        (b"1,2 1:nan\n", r":1:7: a feature.s value must be finite"),
        (b"1 2:1 2:1\n", r":1:7: feature 2 comes twice"),
        (b"1 qid:1 2:1\n2 qid:2 2:1\n", "has a qid; leave qid out"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: bytes, words: str) -> None:
    with pytest.raises(rl.InputError, match=words):
        rl.read_topics(io.BytesIO(text))


@pytest.mark.parametrize(
    ("names", "words"),
    [(["a", "a"], "two topics are called a"), (7, "names must be a file"), ("missing.txt", "cannot be read")],
)
def test_bad_names_are_told(names: Any, words: str) -> None:
    with pytest.raises(rl.InputError, match=words):
        rl.read_topics(io.BytesIO(TEXT), names=names)


def test_nothing_to_read() -> None:
    with pytest.raises(rl.ParseError, match="no rows: the text is empty"):
        rl.read_topics(io.BytesIO(b""))
