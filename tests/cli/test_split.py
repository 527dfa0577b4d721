"""rankloom split: every query whole in one part, and nothing lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl

DATA = rl.make_letor(40, seed=1).data


@pytest.fixture(autouse=True)
def _judged(run: Any) -> None:
    rl.write(DATA, "judged.txt")


@pytest.mark.parametrize(
    ("outputs", "shares", "queries"),
    [
        ("a.txt b.csv", "", [30, 10]),
        ("a.txt b.csv c.store", "", [24, 8, 8]),
        ("a.txt b.txt c.txt d.txt", "", [10, 10, 10, 10]),
        ("a.txt b.txt", "--shares 0.5,0.5", [20, 20]),
    ],
)
def test_every_query_goes_whole_to_one_part(
    run_json: Any, outputs: str, shares: str, queries: list[int]
) -> None:
    found = run_json(f"split judged.txt {outputs} {shares}")
    parts = [rl.read(name) for name in outputs.split()]
    assert [part["queries"] for part in found["parts"]] == queries == [part.n_queries for part in parts]
    ids = [str(qid) for part in parts for qid in part.qids]
    assert sorted(ids) == sorted(str(qid) for qid in DATA.qids)
    assert sum(part.n_rows for part in parts) == DATA.n_rows
    assert np.isclose(sum(part.y.sum() for part in parts), DATA.y.sum())


def test_the_parts_are_those_of_python_and_of_the_seed(run: Any) -> None:
    run("split judged.txt a.txt b.txt --seed 7")
    train, test = rl.split(DATA, (0.75, 0.25), seed=7)
    assert rl.read("a.txt").qids.tolist() == train.qids.tolist()
    assert rl.read("b.txt").qids.tolist() == test.qids.tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("judged.txt a.txt", "split needs two parts or more"),
        ("judged.txt a.txt a.txt", "a.txt is named twice"),
        ("judged.txt a.txt -", "none of them to standard output"),
        ("judged.txt a.txt judged.txt", "judged.txt is one of the inputs"),
        ("judged.txt a.txt b.txt --shares 0.5", "a number for each OUT, 2 of them, got 1"),
        ("judged.txt a.txt b.txt --shares half,half", "--shares must be numbers"),
        ("judged.txt a.txt b.txt --shares 0.5,0.6", "sum to 1"),
    ],
)
def test_what_makes_no_sense_is_refused(complain: Any, arguments: str, message: str) -> None:
    assert message in complain(f"split {arguments}")
    assert not Path("a.txt").exists()


def test_nothing_is_overwritten_unasked(run: Any, complain: Any) -> None:
    Path("b.txt").write_text("mine")
    assert "b.txt is there already" in complain("split judged.txt a.txt b.txt")
    assert not Path("a.txt").exists()
    run("split judged.txt a.txt b.txt --force")
    assert rl.read("b.txt").n_queries == 10
