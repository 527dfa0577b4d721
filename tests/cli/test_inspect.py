"""rankloom inspect: a page for a person, a document for a program."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest


def test_what_a_person_sees(run: Any, small: Path) -> None:
    shown = run("inspect test.txt").stdout
    assert (
        shown
        == """\
rows          5
queries       2
features      2 (dense, 100 % not 0)
rows a query  2 to 3: median 2, mean 2.5, 99 % up to 3
label 0       2 rows (40 %)
label 1       2 rows (40 %)
label 2       1 row (20 %)

What looks wrong
- 1 feature has one value in every row, which tells nothing: drop it (column 1).

Columns are counted from 0: column 5 is feature 6 of a text whose first feature is 1.
"""
    )


def test_what_a_program_sees(run_json: Any, small: Path) -> None:
    found = run_json("inspect test.txt")
    assert found["data"] == ["test.txt"]
    assert (found["n_rows"], found["n_queries"], found["density"]) == (5, 2, 1.0)
    assert [finding["kind"] for finding in found["findings"]] == ["constant_features"]
    assert "features" not in found
    features = run_json("inspect test.txt --features")["features"]
    assert [feature["name"] for feature in features] == ["column 0", "column 1"]
    assert features[1]["std"] == 0.0


def test_features_as_a_table(run: Any, small: Path) -> None:
    lines = run("inspect test.txt --features").stdout.splitlines()
    assert lines[-4:] == [
        "feature   min  max  mean     std  not 0  missing",
        "--------  ---  ---  ----  ------  -----  -------",
        "column 0  0.1  0.9   0.5  0.3162      5        0",
        "column 1    5    5     5       0      5        0",
    ]


@pytest.mark.parametrize("store", [False, True])
def test_nothing_wrong(run: Any, tmp_path: Path, store: bool) -> None:
    (tmp_path / "a.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n0 qid:2 1:3\n1 qid:2 1:4\n")
    name = "a.txt"
    if store:
        run("convert a.txt a.store")
        name = "a.store"
    assert run(f"inspect {name}").stdout.endswith("\nNothing looks wrong.\n")


def test_several_files_are_one_and_standard_input_is_read(run_json: Any, small: Path) -> None:
    (small.parent / "more.txt.gz").write_bytes(gzip.compress(b"0 qid:9 1:4 2:5\n"))
    assert run_json("inspect test.txt more.txt.gz")["n_rows"] == 6
    assert run_json("inspect -", stdin=small.read_text())["n_rows"] == 5
    assert run_json("inspect test.txt -", stdin="1 qid:7 1:1 2:5\n")["n_queries"] == 2


def test_missing_values_are_refused_or_counted(run_json: Any, complain: Any) -> None:
    text = "1 qid:1 1:nan\n0 qid:1 1:2\n"
    assert "nan" in complain("inspect -", stdin=text)
    found = run_json("inspect - --allow-missing", stdin=text)
    assert "missing_values" in [finding["kind"] for finding in found["findings"]]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("inspect missing.txt", "missing.txt: no such file"),
        ("inspect empty.txt", "empty.txt: no rows"),
        ("inspect .", "is a folder"),
        ("inspect - -", "standard input"),
        ("inspect", "missing argument 'DATA...' (see rankloom inspect --help)"),
        ("inspect bad.txt", "bad.txt:2:"),
        ("inspect test.txt --threads 0", "0 is not in the range"),
        ("inspect test.txt --layout round", "'round' is not one of"),
    ],
)
def test_what_cannot_be_inspected(complain: Any, small: Path, line: str, told: str) -> None:
    (small.parent / "empty.txt").write_text("")
    (small.parent / "bad.txt").write_text("1 qid:1 1:2\n1 qid:1 1:two\n")
    assert told in complain(line)


def test_a_bad_setting_of_threads_is_an_error_and_no_bug(
    complain: Any, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKLOOM_THREADS", "many")
    told = "RANKLOOM_THREADS must be a whole number from 1, got 'many'"
    assert complain("inspect test.txt") == told
