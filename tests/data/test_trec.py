"""Runs, qrels and score files, read: by hand, and what is wrong with them by file and line."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest

from rankloom.data.trec import Run, read_qrels, read_ranking, read_run, read_scores
from rankloom.errors import InputError, ParseError

RUN = "q2 Q0 d1 1 2.5 sys\nq1\tQ0\td1\t1\t0.1\tsys\r\n\nq2 Q0 d9 2 -1e-3 sys"


def named(text: str | bytes, name: str = "made.txt") -> io.BytesIO:
    file = io.BytesIO(text.encode() if isinstance(text, str) else text)
    file.name = name
    return file


def test_a_run() -> None:
    run = read_run(named(RUN))
    assert run.qids.tolist() == ["q2", "q1"]
    assert run.qid.tolist() == ["q2", "q1", "q2"]
    assert list(run.doc_ids) == ["d1", "d1", "d9"]
    assert run.scores.tolist() == [2.5, 0.1, -0.001]
    assert (run.tag, run.name, len(run)) == ("sys", "made.txt", 3)


def test_qrels() -> None:
    qrels = read_qrels(named("301 0 FR-1 1\n301 0 FR-2 -2\n302 0 FR-1 0\n"))
    assert qrels.qid.tolist() == ["301", "301", "302"]
    assert list(qrels.doc_ids) == ["FR-1", "FR-2", "FR-1"]
    assert qrels.labels.tolist() == [1.0, -2.0, 0.0]


def test_scores() -> None:
    assert read_scores(named("1.5\n-2\r\n 3e-1 \ninf\n-inf")).tolist() == [1.5, -2.0, 0.3, np.inf, -np.inf]


@pytest.mark.parametrize("read", [read_run, read_qrels, read_scores, read_ranking])
@pytest.mark.parametrize("text", ["", "\n", " \n\n"])
def test_nothing(read: object, text: str) -> None:
    if text and read in (read_scores, read_ranking):
        return
    assert len(read(named(text))) == 0


def test_files_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(RUN.encode()))
    assert read_run(path).scores.tolist() == [2.5, 0.1, -0.001]
    path.write_bytes(gzip.compress(b"1\n2\n"))
    assert read_ranking(path).tolist() == [1.0, 2.0]


def test_a_ranking_is_what_its_first_line_looks_like() -> None:
    found = read_ranking(named("\n" + RUN))
    assert isinstance(found, Run)
    assert len(found) == 3
    assert read_ranking(named("1\n2\n")).tolist() == [1.0, 2.0]
    with pytest.raises(ParseError, match=r"one number a line, or six fields \(qid Q0 .*\), got 2 fields"):
        read_ranking(named("1 2\n"))


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_run, "q Q0 d 1 2.5 s\nq Q0 e 1 2.5\n", r"made.txt:2: a line here has 6 fields .*, got 5"),
        (read_run, "q Q0 d 1 2.5 my tag\n", r"made.txt:1: a line here has 6 fields .*, got 7"),
        (read_run, "q Q0 d 1 high s\n", "made.txt:1: the score must be a number, got 'high'"),
        (read_run, "\nq Q0 d 1 nan s\n", "made.txt:2: the score must be a number, got 'nan'"),
        (read_run, "q Q0 d 1 inf s\n", "made.txt:1: the score must be a number, got 'inf'"),
        (read_run, "q Q0 d 1 1_0 s\n", "made.txt:1: the score must be a number, got '1_0'"),
        (
            read_run,
            "q Q0 d 1 2 s\nr Q0 d 1 2 s\nq Q0 d 2 1 s\n",
            "made.txt:3: document 'd' of query 'q' is there already, in line 1",
        ),
        (read_qrels, "q 0 d\n", r"made.txt:1: a line here has 4 fields \(qid iteration docid label\), got 3"),
        (read_qrels, "q 0 d x\n", "made.txt:1: the label must be a number, got 'x'"),
        (
            read_qrels,
            "q 0 d 1\nq 1 d 0\n",
            "made.txt:2: document 'd' of query 'q' is there already, in line 1",
        ),
        (read_scores, "1\nx\n", "made.txt:2: a score must be a number, got 'x'"),
        (read_scores, "1\nnan\n", "made.txt:2: a score must be a number, got 'nan'"),
        (read_scores, "1\n\n2\n", "made.txt:2: a score file has one number a line, got a blank line"),
        (read_scores, "1 2\n", r"made.txt:1: a line here has 1 field \(score\), got 2"),
        (read_scores, "1_000\n", "made.txt:1: a score must be a number"),
    ],
)
def test_what_is_wrong_is_named(read: object, text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read(named(text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for read in (read_run, read_qrels, read_scores, read_ranking):
        with pytest.raises(InputError, match="no such file"):
            read(tmp_path / "nothing.txt")
        with pytest.raises(InputError, match="one file is read at a time"):
            read([tmp_path / "a", tmp_path / "b"])


def test_names_that_are_not_utf8_come_through() -> None:
    run = read_run(named(b"q\xff Q0 d\xfe 1 1 s\n"))
    assert run.qids.tolist() == ["q\udcff"]
    assert list(run.doc_ids) == ["d\udcfe"]
