"""rankloom evaluate: scores or a run, data or judgements."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import pytest

import rankloom as rl

# Query 7 has labels 2, 0, 1 with scores .9, .1, .5: in order. Query 8 has 1, 0 with .2, .8: reversed.
# By NDCG they are worth 1 and 1/log2(3) = .6309, by AP and RR 1 and 1/2.
RUN = """\
7 Q0 a 1 0.9 mine
7 Q0 c 2 0.5 mine
7 Q0 b 3 0.1 mine
8 Q0 e 1 0.8 mine
8 Q0 d 2 0.2 mine
"""
QRELS = "7 0 a 2\n7 0 b 0\n7 0 c 1\n8 0 d 1\n8 0 e 0\n9 0 f 1\n"


@pytest.fixture
def trec(tmp_path: Path) -> None:
    (tmp_path / "run.trec").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(QRELS)


def test_what_a_person_sees(run: Any, small: Path) -> None:
    assert (
        run("evaluate scores.txt test.txt -m ndcg@10,map -m mrr").stdout
        == """\
measure    mean
-------  ------
ndcg@10  0.8155
map      0.7500
mrr      0.7500

2 queries, each with a relevant row; 5 rows.
"""
    )


def test_what_a_program_sees(run_json: Any, small: Path) -> None:
    found = run_json("evaluate scores.txt test.txt -m ndcg@10")
    assert found == {
        "scores": "scores.txt",
        "data": "test.txt",
        "measures": {"ndcg@10": pytest.approx((1 + 0.6309297535714575) / 2)},
        "n_rows": 5,
        "n_queries": 2,
        "n_empty": 0,
    }


def test_the_usual_measures_are_those_of_evaluate(run_json: Any, small: Path) -> None:
    found = run_json("evaluate scores.txt test.txt")["measures"]
    expected = rl.evaluate([0.9, 0.1, 0.5, 0.2, 0.8], rl.read("test.txt"))
    assert found == dict(expected)


def test_names_of_ir_measures_with_commas_in_brackets(run_json: Any, small: Path) -> None:
    found = run_json("evaluate scores.txt test.txt -m nDCG(gains={0:0,1:1,2:5})@3,RR@10")
    assert len(found["measures"]) == 2


def test_values_per_query(run: Any, small: Path) -> None:
    run("evaluate scores.txt test.txt -m mrr -m ndcg@10:empty=skip --per-query each.csv")
    with Path("each.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["qid"] for row in rows] == ["7", "8"]
    assert [float(row["mrr"]) for row in rows] == [1.0, 0.5]
    Path("test.txt").write_text(small.read_text().replace("1 qid:8", "0 qid:8"))
    run("evaluate scores.txt test.txt -m ndcg@10:empty=skip --per-query each.csv")
    assert Path("each.csv").read_text().splitlines()[2] == "8,"


def test_queries_without_relevant_rows_are_counted(run: Any, small: Path) -> None:
    small.write_text(small.read_text().replace("1 qid:8", "0 qid:8"))
    assert "2 queries, 1 of them without a relevant row" in run("evaluate scores.txt test.txt").stdout


@pytest.mark.parametrize("data", ["test.txt", "test.txt.gz", "test.csv", "test.parquet", "test.store"])
def test_a_run_finds_its_rows_in_any_data(run_json: Any, small: Path, trec: None, data: str) -> None:
    """Lines of a run come in any order; documents that it lacks were not found."""
    if data.endswith(".gz"):
        Path(data).write_bytes(gzip.compress(small.read_bytes()))
    elif data != "test.txt":
        run_json(f"convert test.txt {data}")
    found = run_json(f"evaluate run.trec {data} -m map,ndcg@10")["measures"]
    assert found == run_json("evaluate scores.txt test.txt -m map,ndcg@10")["measures"]
    Path("run.trec").write_text(RUN.replace("8 Q0 d 2 0.2 mine\n", ""))
    assert run_json(f"evaluate run.trec {data} -m map")["measures"]["map"] == 0.5


def test_a_run_with_judgements(run_json: Any, trec: None) -> None:
    found = run_json("evaluate run.trec qrels.txt -m AP")
    assert (found["measures"]["map"], found["n_queries"]) == (0.75, 2)
    found = run_json("evaluate run.trec qrels.txt -m AP --complete")
    assert (found["measures"]["map"], found["n_queries"]) == (0.5, 3)


def test_standard_input_on_either_side(run_json: Any, small: Path, trec: None) -> None:
    expected = run_json("evaluate scores.txt test.txt -m map")["measures"]
    for line, text in [
        ("evaluate - test.txt -m map", Path("scores.txt").read_text()),
        ("evaluate scores.txt - -m map", small.read_text()),
        ("evaluate - qrels.txt -m map", RUN),
        ("evaluate run.trec - -m map", QRELS),
        ("evaluate run.trec - -m map", small.read_text()),
    ]:
        assert run_json(line, stdin=text)["measures"] == expected


def test_tables_say_which_column_is_what(run_json: Any, small: Path) -> None:
    Path("table.csv").write_text("q,grade,f\n7,2,1\n7,0,1\n7,1,1\n8,1,1\n8,0,1\n")
    found = run_json("evaluate scores.txt table.csv --qid q --label grade -m map")
    assert found["measures"]["map"] == 0.75


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("evaluate missing.txt test.txt", "missing.txt: no such file"),
        ("evaluate scores.txt missing.txt", "missing.txt: no such file"),
        ("evaluate empty.txt test.txt", "empty.txt has 0 scores, and the data 5 rows; give one score a row"),
        ("evaluate scores.txt empty.txt", "empty.txt: no rows"),
        ("evaluate four.txt test.txt", "four.txt has 4 scores, and the data 5 rows; give one score a row"),
        ("evaluate nan.txt test.txt", "nan.txt:4: a score must be a number, got 'nan' (query 8)"),
        ("evaluate word.txt test.txt", "word.txt:2: a score must be a number, got 'high' (query 7)"),
        ("evaluate test.txt scores.txt", "test.txt:1: a ranking has one number a line, or six fields"),
        ("evaluate scores.txt test.txt -m ndgc@10", "no measure is called 'ndgc'"),
        ("evaluate scores.txt test.txt -m ndcg@10/letor5", "no preset is called 'letor5'"),
        ("evaluate scores.txt test.txt -m ndcg@ten", "must be a whole number"),
        ("evaluate - -", "only one of the inputs can be -"),
        ("evaluate scores.txt test.txt --per-query -", "--per-query needs the name of a file"),
        ("evaluate scores.txt test.txt --per-query no/each.csv", "no"),
        ("evaluate scores.txt test.txt --complete", "--complete is for judgements"),
        ("evaluate scores.txt qrels.txt", "scores.txt has one number a line, but judgements"),
        ("evaluate run.trec others.txt", "others.txt judges no query of run.trec"),
        ("evaluate scores.txt no-labels.csv", "label"),
        ("evaluate scores.txt test.txt --label grade", "label is no option for text"),
        ("evaluate scores.txt", "missing argument 'DATA'"),
    ],
)
def test_what_cannot_be_measured(complain: Any, small: Path, trec: None, line: str, told: str) -> None:
    Path("empty.txt").write_text("")
    Path("four.txt").write_text("1\n2\n3\n4\n")
    Path("nan.txt").write_text("1\n2\n3\nnan\n5\n")
    Path("word.txt").write_text("1\nhigh\n3\n4\n5\n")
    Path("others.txt").write_text("1 0 a 2\n")
    Path("no-labels.csv").write_text("qid,f\n1,2\n")
    assert told in complain(line)
    assert not Path("each.csv").exists()


def test_a_bad_score_names_the_query_of_scattered_rows_too(complain: Any, tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text("1 qid:b 1:1\n0 qid:a 1:1\n0 qid:b 1:1\n")
    assert "(query a)" in complain("evaluate - test.txt", stdin="1\nnan\n3\n")
