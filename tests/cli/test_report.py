"""rankloom report, and --report of the commands that have it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl
from reports.outline import check


@pytest.fixture
def record(run: Any, small: Path) -> Path:
    """A comparison on record, page.json beside page.html."""
    run("compare scores.txt other.txt test.txt -m ndcg@5,map --seed 3 --report page.html")
    return small.parent / "page.json"


def test_a_page_and_its_run(run: Any, record: Path) -> None:
    line = "compare scores.txt other.txt test.txt -m ndcg@5,map --seed 3 --report page.html"
    done = run(line)
    assert done.stderr == "rankloom: wrote page.html, and the run to page.json\n"
    assert done.stdout == run(line.removesuffix(" --report page.html")).stdout
    found = json.loads(record.read_text())
    assert found["command"] == f"rankloom {line}"
    assert found["settings"]["seed"] == 3
    assert found["settings"]["measure"] == ["ndcg@5,map"]
    assert found["data"]["data"] == {
        "rows": 5, "queries": 2, "features": 2, "fingerprint": rl.read("test.txt").fingerprint(),
    }  # fmt: skip
    assert found["data"]["scores of scores"]["rows"] == 5
    assert found["result"]["values"]["map"]["scores"] == [1.0, 0.5]
    told = check(Path("page.html").read_text()).words()
    assert f"rankloom {line}" in told
    assert str(Path(sys.executable)) not in told


def test_the_command_is_as_a_shell_takes_it(run: Any, small: Path) -> None:
    from click.testing import CliRunner

    from rankloom.cli.main import program

    run("evaluate scores.txt test.txt")
    Path("test.txt").rename("my test.txt")
    line = ["compare", "scores.txt", "other.txt", "my test.txt", "--report", "page.html"]
    assert CliRunner().invoke(program, line).exit_code == 0
    found = json.loads(Path("page.json").read_text())
    assert found["command"] == "rankloom compare scores.txt other.txt 'my test.txt' --report page.html"


def test_the_page_again_is_the_same_bytes(run: Any, complain: Any, record: Path) -> None:
    first = Path("page.html").read_bytes()
    assert "page.html is there already" in complain("report page.json")
    assert run("report page.json --force").stderr == "rankloom: wrote page.html\n"
    assert Path("page.html").read_bytes() == first
    run("report page.json --out other.html")
    assert Path("other.html").read_bytes() == first


@pytest.mark.parametrize("form", ["svg", "png"])
def test_figures(run: Any, complain: Any, record: Path, form: str) -> None:
    done = run(f"report page.json --force --figures figures --format {form}")
    files = {path.name: path.read_bytes() for path in Path("figures").iterdir()}
    assert done.stderr.splitlines()[0] == f"rankloom: wrote {len(files)} figures to figures"
    assert "map-by-system." + form in files
    start = b"\x89PNG\r\n" if form == "png" else b"<?xml"
    assert all(content.startswith(start) for content in files.values())
    assert "is there already" in complain(f"report page.json --out x.html --figures figures --format {form}")
    assert not Path("x.html").exists()


def test_judgements_have_a_fingerprint_too(run: Any, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("1 Q0 x 1 9 a\n1 Q0 y 2 8 a\n2 Q0 z 1 9 a\n")
    (tmp_path / "b.run").write_text("1 Q0 y 1 9 b\n1 Q0 x 2 8 b\n")
    (tmp_path / "qrels.txt").write_text("1 0 x 1\n1 0 y 0\n2 0 z 1\n")
    run("compare a.run b.run qrels.txt -m map --report page.html")
    found = json.loads(Path("page.json").read_text())
    assert found["data"]["judgements"]["queries"] == 2
    assert len(found["data"]["judgements"]["fingerprint"]) == 32
    assert found["result"]["queries"] == ["1", "2"]
    assert "qrels.txt" in check(Path("page.html").read_text()).words()


def test_tune_and_letor(run: Any, tmp_path: Path) -> None:
    data = rl.make_letor(30, seed=2).data
    (tmp_path / "made" / "Fold1").mkdir(parents=True)
    for part, first in (("train", 0), ("vali", 10), ("test", 20)):
        rl.write(data.take(np.arange(first, first + 10)), tmp_path / "made" / "Fold1" / f"{part}.txt")
    line = "experiment letor made --methods spd,crr --workers 1 -m ndcg@10 --report letor-page.html"
    assert "wrote letor-page.html" in run(line).stderr
    found = json.loads(Path("letor-page.json").read_text())
    assert (found["kind"], found["command"]) == ("letor", f"rankloom {line}")
    assert found["data"]["fold 1 test"]["queries"] == 10
    check(Path("letor-page.html").read_text())
    line = (
        "tune spd made/Fold1/train.txt --valid made/Fold1/vali.txt --model m.rank --set steps=300 "
        "--workers 1 --space lam=0.1,1 --report tune.html"
    )
    assert "wrote tune.html" in run(line).stderr
    found = json.loads(Path("tune.json").read_text())
    assert (found["kind"], found["settings"]["model"]) == ("tune", "m.rank")
    assert found["settings"]["space"] == ["lam=0.1,1"]
    assert found["data"]["train"]["fingerprint"] == rl.read("made/Fold1/train.txt").fingerprint()
    assert len(found["result"]["features"]["values"]) == 20
    check(Path("tune.html").read_text())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("compare scores.txt other.txt test.txt --report page.txt", "must have a name that ends in .html"),
        ("compare scores.txt other.txt test.txt --report none/page.html", "the folder none does not exist"),
        ("compare scores.txt other.json test.txt --report other.html", "other.json is there already, and no"),
        ("compare scores.txt other.txt test.txt --report mine.html", "mine.html is there already, and no"),
        ("experiment letor made --record a.json --report a.html", "the report would replace a.json"),
        ("tune spd test.txt --folds 2 --model m.html --report m.html", "the report would replace m.html"),
        ("tune spd test.txt --folds 2 --model m --record r.json --report r.html", "would replace r.json"),
        ("report missing.json", "missing.json: no such file"),
        ("report test.txt", "test.txt is no run"),
        ("report -", "report needs the name of a file"),
        ("report other.json --out other.json", "other.json is one of the inputs"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_one_line_before_any_work(
    complain: Any, small: Path, line: str, words: str
) -> None:
    Path("other.json").write_text(Path("other.txt").read_text())
    Path("mine.html").write_text("mine")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert words in complain(line)
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_a_folder_that_cannot_be_written_to(
    complain: Any, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "cannot be written to" in complain("compare scores.txt other.txt test.txt --report page.html")


def test_without_matplotlib_nothing_is_begun(
    complain: Any, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for line in ("compare scores.txt missing.txt test.txt --report page.html", "report missing.json"):
        assert 'pip install "rankloom[report]"' in complain(line)
