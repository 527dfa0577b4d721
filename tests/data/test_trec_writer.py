"""Runs, qrels and scores written: by hand, and read back."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.data.ranking_data import RankingData
from rankloom.data.trec import read_qrels, read_run, read_scores
from rankloom.data.trec_join import run_scores
from rankloom.data.trec_writer import write_qrels, write_run, write_scores
from rankloom.errors import InputError

# In the caller's order: queries 7 and 8 in turn.
DATA = RankingData(np.zeros((4, 1)), [0, 1, 2, 0], [7, 8, 7, 8], doc_ids=["a", "a", "b", "c"])


def written(write: object, *arguments: object, **options: object) -> str:
    target = io.BytesIO()
    write(*arguments, target, **options)
    return target.getvalue().decode()


def test_a_run_from_the_best_down() -> None:
    assert written(write_run, [0.1, 2, 1e-7, -3], DATA, tag="sys") == (
        "7 Q0 a 1 0.1 sys\n7 Q0 b 2 1e-07 sys\n8 Q0 a 1 2.0 sys\n8 Q0 c 2 -3.0 sys\n"
    )


def test_a_run_from_arrays_with_ties_and_a_depth() -> None:
    ids = ["a", "b", "c", "d"]
    assert written(write_run, [1, 2, 2, 2], ["q", "q", "q", "r"], doc_ids=ids, depth=2) == (
        "q Q0 b 1 2.0 rankloom\nq Q0 c 2 2.0 rankloom\nr Q0 d 1 2.0 rankloom\n"
    )


def test_what_was_not_retrieved_is_not_written() -> None:
    assert (
        written(write_run, [-np.inf, 1.0, -np.inf, 2.0], DATA)
        == "8 Q0 c 1 2.0 rankloom\n8 Q0 a 2 1.0 rankloom\n"
    )


def test_qrels() -> None:
    wanted = "7 0 a 0\n7 0 b 2\n8 0 a 1\n8 0 c 0\n"
    assert written(write_qrels, None, DATA) == wanted
    assert written(write_qrels, [0, 1, 2, 0], DATA) == wanted
    assert written(write_qrels, [0, 1, 2, 0], [7, 8, 7, 8], doc_ids=["a", "a", "b", "c"]) == wanted


def test_scores() -> None:
    assert written(write_scores, [1, 0.1, -np.inf]) == "1.0\n0.1\n-inf\n"


@settings(max_examples=60)
@given(st.lists(st.floats(allow_nan=False), max_size=30))
def test_scores_read_back(scores: list[float]) -> None:
    assert read_scores(io.BytesIO(written(write_scores, scores).encode())).tolist() == scores


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.floats(-1e300, 1e300), st.integers(-2, 4)), min_size=1, max_size=30
    )
)
def test_runs_and_qrels_read_back(entries: list[tuple[int, float, int]]) -> None:
    qid, scores, labels = (list(column) for column in zip(*entries, strict=True))
    doc_ids = [f"d{row}" for row in range(len(qid))]
    data = RankingData(np.zeros((len(qid), 1)), labels, qid, doc_ids=doc_ids)
    run = read_run(io.BytesIO(written(write_run, scores, data).encode()))
    assert run_scores(run, data).tolist() == scores
    qrels = read_qrels(io.BytesIO(written(write_qrels, None, data).encode()))
    judged = dict(
        zip(zip(qrels.qid.tolist(), qrels.doc_ids, strict=True), qrels.labels.tolist(), strict=True)
    )
    assert judged == {
        (str(query), doc): label for query, doc, label in zip(qid, doc_ids, labels, strict=True)
    }


def test_compressed_and_whole_or_not_at_all(tmp_path: Path) -> None:
    write_run([1.0, 2.0, 3.0, 4.0], DATA, tmp_path / "run.gz")
    assert read_run(tmp_path / "run.gz").scores.tolist() == [3.0, 1.0, 4.0, 2.0]
    (tmp_path / "scores.txt").write_text("old")
    with pytest.raises(InputError, match="got nan at row 1"):
        write_scores([1.0, np.nan], tmp_path / "scores.txt")
    assert (tmp_path / "scores.txt").read_text() == "old"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda to: write_run([1.0], DATA, to), "scores"),
        (lambda to: write_run([1.0, np.nan, 0, 0], DATA, to), "scores must be numbers, got nan at row 1"),
        (lambda to: write_run([1.0] * 4, DATA, to, tag="my tag"), "a tag in TREC's files has a character"),
        (lambda to: write_run([1.0] * 4, DATA, to, depth=0), "depth must be a whole number from 1"),
        (lambda to: write_run([1.0], [1], to), "doc_ids must be given"),
        (lambda to: write_run([1.0], [1], to, doc_ids=["a b"]), "a doc id in TREC's files .* got 'a b'"),
        (lambda to: write_run([1.0], ["a b"], to, doc_ids=["a"]), "a qid in TREC's files .* got 'a b'"),
        (lambda to: write_run([1.0], RankingData([[1.0]], [1]), to), "the data has none; pass doc_ids"),
        (lambda to: write_qrels([0.5], [1], to, doc_ids=["a"]), "whole numbers, got label 0.5 at row 0"),
        (lambda to: write_qrels(None, [1], to, doc_ids=["a"]), "labels must be given"),
        (lambda to: write_scores([np.nan], to), "scores must be numbers"),
    ],
)  # fmt: skip
def test_what_cannot_be_written(call: object, message: str) -> None:
    target = io.BytesIO()
    with pytest.raises(InputError, match=message):
        call(target)
    assert target.getvalue() == b""
