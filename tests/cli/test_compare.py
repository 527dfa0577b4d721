"""rankloom compare: two files of scores or more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl


@pytest.fixture
def many(tmp_path: Path) -> rl.RankingData:
    """40 queries of 8 rows; good.txt knows the labels, half.txt half of them, bad.txt nothing."""
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 3, 320)
    lines = [f"{label} qid:{row // 8} 1:0 #docid = D{row}\n" for row, label in enumerate(labels)]
    (tmp_path / "test.txt").write_text("".join(lines))
    noise = draw.normal(size=(3, 320))
    for name, knows, own in zip(("good", "half", "bad"), (2.0, 0.6, 0.0), noise, strict=True):
        (tmp_path / f"{name}.txt").write_text("".join(f"{x}\n" for x in labels * knows + own))
    return rl.read(tmp_path / "test.txt")


def test_what_a_program_sees_is_what_compare_says(run_json: Any, many: rl.RankingData) -> None:
    found = run_json("compare bad.txt good.txt test.txt -m ndcg@5,map --seed 3 --resamples 500")
    systems = {name: rl.read_scores(f"{name}.txt") for name in ("bad", "good")}
    expected = rl.compare(systems, many, measures=["ndcg@5", "map"], seed=3, resamples=500).to_dict()
    assert found == {"scores": ["bad.txt", "good.txt"], "data": "test.txt", **expected}
    assert found["rows"][0]["significant"]
    assert found["rows"][0]["mean_b"] > found["rows"][0]["mean_a"]


def test_what_a_person_sees(run: Any, many: rl.RankingData) -> None:
    table, told = run("compare bad.txt good.txt test.txt").stdout.split("\n\n")
    header, row = table.splitlines()
    assert header.split()[:3] == ["measure", "A", "B"]
    assert row.split()[:3] == ["ndcg@10", "bad", "good"]
    assert told.startswith("- good is better than bad by ")


def test_several_systems_with_the_first_or_each_with_each(run_json: Any, many: rl.RankingData) -> None:
    rows = run_json("compare bad.txt half.txt good.txt test.txt")["rows"]
    assert [(row["a"], row["b"]) for row in rows] == [("bad", "half"), ("bad", "good")]
    rows = run_json("compare bad.txt half.txt good.txt test.txt --all-pairs")["rows"]
    assert [(row["a"], row["b"]) for row in rows] == [("bad", "half"), ("bad", "good"), ("half", "good")]


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomisation"])
def test_settings_are_passed_on(run_json: Any, many: rl.RankingData, test: str) -> None:
    found = run_json(f"compare bad.txt half.txt test.txt --test {test} --confidence 0.9 --interval bca")
    assert (found["test"], found["confidence"], found["interval"]) == (test, 0.9, "bca")


def test_systems_are_called_by_their_files(run_json: Any, many: rl.RankingData) -> None:
    Path("new").mkdir()
    Path("new", "bad.txt").write_text(Path("good.txt").read_text())
    assert run_json("compare bad.txt new/bad.txt test.txt")["systems"] == ["bad.txt", "new/bad.txt"]


def test_runs_with_data_and_with_judgements(run_json: Any, many: rl.RankingData) -> None:
    """The same numbers as from scores: 8 documents a query, all of them in the runs."""
    for name in ("bad", "good"):
        rl.write_run(rl.read_scores(f"{name}.txt").astype(np.float32), many, f"{name}.run")
    rl.write_qrels(None, many, "qrels.txt")
    expected = run_json("compare bad.txt good.txt test.txt -m map,ndcg@5")["rows"]
    counts = ("wins", "ties", "losses")
    for data in ("test.txt", "qrels.txt"):
        rows = run_json(f"compare bad.run good.run {data} -m map,ndcg@5")["rows"]
        for row, wanted in zip(rows, expected, strict=True):
            assert [row[key] for key in counts] == [wanted[key] for key in counts]
            assert row["mean_a"] == pytest.approx(wanted["mean_a"], abs=1e-12)
            assert row["mean_b"] == pytest.approx(wanted["mean_b"], abs=1e-12)


def test_documents_and_queries_that_one_run_lacks_were_not_found(run_json: Any, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("1 Q0 x 1 9 a\n1 Q0 y 2 8 a\n2 Q0 z 1 9 a\n")
    (tmp_path / "b.run").write_text("1 Q0 y 1 9 b\n1 Q0 new 2 8 b\n")
    (tmp_path / "qrels.txt").write_text("1 0 x 1\n1 0 y 1\n1 0 w 0\n2 0 z 1\n")
    (row,) = run_json("compare a.run b.run qrels.txt -m map")["rows"]
    assert row["mean_a"] == pytest.approx((1 + 1) / 2)
    assert row["mean_b"] == pytest.approx((1 / 2 + 0) / 2)
    assert (row["wins"], row["losses"]) == (0, 2)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("compare good.txt test.txt", "compare needs two files of scores or more"),
        ("compare good.txt good.txt test.txt", "the same one twice"),
        ("compare good.txt missing.txt test.txt", "missing.txt: no such file"),
        ("compare good.txt short.txt test.txt", "short.txt has 1 scores, and the data 320 rows"),
        ("compare - - test.txt", "only one of the inputs can be -"),
        ("compare good.txt bad.txt test.txt -m ece", "ece is one number for all rows"),
        ("compare good.txt bad.txt test.txt --confidence 2", "confidence must be a number from 0.5"),
        ("compare good.txt bad.txt test.txt --resamples 1", "resamples must be a whole number from 100"),
        ("compare good.txt bad.txt test.txt --test sign", "'sign' is not one of"),
    ],
)
def test_what_cannot_be_compared(complain: Any, many: rl.RankingData, line: str, told: str) -> None:
    Path("short.txt").write_text("1\n")
    assert told in complain(line, stdin="1\n")
