"""rankloom convert: every format into every other, whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rankloom.data.read import read


@pytest.mark.parametrize("name", ["a.store", "a.txt.gz", "a.txt.zst", "a.svm", "a.parquet", "a.csv"])
def test_there_and_back(run: Any, run_json: Any, small: Path, name: str) -> None:
    found = run_json(f"convert test.txt {name}")
    assert found == {"inputs": ["test.txt"], "output": name, "rows": 5, "queries": 2, "features": 2}
    told = run(f"convert {name} back.txt").stderr.splitlines()
    assert told[-1] == "rankloom: wrote back.txt: 5 rows, 2 queries, 2 features"
    assert ("rankloom: warning: text cannot hold feature_names" in told[0]) == (name == "a.csv")
    there, back = read(str(small)), read("back.txt")
    assert (there.X == back.X).all()
    assert there.y.tolist() == back.y.tolist()
    assert there.qids.tolist() == back.qids.tolist()
    assert list(there.doc_ids) == list(back.doc_ids)


def test_options_of_reading_and_writing(run: Any, small: Path) -> None:
    run("convert test.txt zero.txt --write-base 0 --no-zeros")
    assert Path("zero.txt").read_text().splitlines()[1].startswith("0 qid:7 0:0.1 1:5")
    run("convert zero.txt wide.txt --index-base 0 --n-features 4")
    assert Path("wide.txt").read_text().splitlines()[1].startswith("0 qid:7 1:0.1 2:5 3:0 4:0")
    Path("table.csv").write_text("query,grade,id,f\n3,1,x,0.5\n3,0,y,0.25\n")
    run("convert table.csv table.txt --qid query --label grade --doc-id id")
    lines = Path("table.txt").read_text().splitlines()
    assert lines == ["1 qid:3 1:0.5 #docid = x", "0 qid:3 1:0.25 #docid = y"]


def test_from_standard_input_to_standard_output(small: Path) -> None:
    """Messages go to standard error, so that what is piped on is data alone."""
    command = [sys.executable, "-m", "rankloom", "convert", "-", "-", "--no-zeros"]
    done = subprocess.run(command, input=b"1 qid:1 1:0 2:3\n", capture_output=True, check=True)
    assert done.stdout == b"1 qid:1 2:3\n"
    assert done.stderr.decode().strip().endswith("rankloom: wrote 1 row, 1 query, 2 features")


def test_several_become_one(run_json: Any, small: Path) -> None:
    Path("more.txt").write_text("0 qid:9 1:4 2:5\n")
    assert run_json("convert test.txt more.txt both.txt.xz")["rows"] == 6


def test_nothing_is_overwritten_unasked(run: Any, complain: Any, small: Path) -> None:
    Path("b.txt").write_text("mine\n")
    assert complain("convert test.txt b.txt") == (
        "b.txt is there already; give another name, or --force to overwrite it"
    )
    assert Path("b.txt").read_text() == "mine\n"
    run("convert test.txt b.txt --force")
    assert "qid:7" in Path("b.txt").read_text()
    run("convert test.txt b.store")
    assert "there already" in complain("convert test.txt b.store")
    run("convert test.txt b.store --force")


def test_ctrl_c_leaves_nothing_half_written(run: Any, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: Any) -> Iterator[bytes]:
        yield b"1 qid:1 1:1\n"
        raise KeyboardInterrupt

    monkeypatch.setattr("rankloom.data.text_writer._formatted", interrupted)
    before = sorted(small.parent.iterdir())
    assert run("convert test.txt out.txt.gz", code=130).stderr.strip() == "rankloom: interrupted"
    assert sorted(small.parent.iterdir()) == before


def test_an_input_is_never_the_output(complain: Any, small: Path) -> None:
    before = small.read_text()
    assert "is one of the inputs" in complain("convert test.txt ./test.txt --force")
    assert small.read_text() == before


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("convert missing.txt out.txt", "missing.txt: no such file"),
        ("convert test.txt", "missing argument"),
        ("convert bad.txt out.txt", "bad.txt:2:"),
        ("convert test.txt nowhere/out.txt", "nowhere"),
        ("convert test.txt test.txt/out.txt", "test.txt"),
        ("convert test.txt /dev/full", "no space left"),
        ("convert test.txt out.parquet --zeros", "zeros is no option for parquet"),
    ],
)
def test_what_cannot_be_converted_leaves_nothing(complain: Any, small: Path, line: str, told: str) -> None:
    Path("bad.txt").write_text("1 qid:1 1:2\n1 qid:1 1:two\n")
    before = sorted(path.name for path in small.parent.iterdir())
    assert told in complain(line)
    assert sorted(path.name for path in small.parent.iterdir()) == before
