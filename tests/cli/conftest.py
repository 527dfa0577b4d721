"""What tests of the command line share: an empty folder to stand in, a way to run, and small files."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rankloom.cli.main import program
from rankloom.errors import RankloomWarning

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in an empty folder. Nothing may ever end in a traceback or as a bug of ours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def invoke(line: str, code: int = 0, stdin: str | bytes | None = None) -> Result:
        with warnings.catch_warnings():
            warnings.simplefilter("default", RankloomWarning)
            done = CliRunner().invoke(program, line.split(), input=stdin)
        told = f"{line}\nexit {done.exit_code}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.output, told
        assert done.exit_code == code, told
        if code == 2:
            assert done.stderr.startswith("rankloom: error: "), told
            assert done.stderr.count("\n") == 1, told
        return done

    return invoke


@pytest.fixture
def run_json(run: Run) -> Callable[..., Any]:
    """Run with --json: standard output is one JSON document and nothing else."""

    def invoke(line: str, **more: Any) -> Any:
        return json.loads(run(f"{line} --json", **more).stdout)

    return invoke


@pytest.fixture
def complain(run: Run) -> Callable[..., str]:
    """Run what cannot work; the one line that says why, after "rankloom: error: ". Nothing is printed."""

    def invoke(line: str, **more: Any) -> str:
        done = run(line, code=2, **more)
        assert done.stdout == ""
        return done.stderr.removeprefix("rankloom: error: ").strip()

    return invoke


# Two queries: by f1, the first is ranked 2, 1, 0 and the second 0, 1.
SMALL = """\
2 qid:7 1:0.9 2:5 # docid = a
0 qid:7 1:0.1 2:5 # docid = b
1 qid:7 1:0.5 2:5 # docid = c
1 qid:8 1:0.2 2:5 # docid = d
0 qid:8 1:0.8 2:5 # docid = e
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """test.txt, and scores.txt with its first feature."""
    (tmp_path / "scores.txt").write_text("0.9\n0.1\n0.5\n0.2\n0.8\n")
    (tmp_path / "other.txt").write_text("0.1\n0.9\n0.5\n0.8\n0.2\n")
    path = tmp_path / "test.txt"
    path.write_text(SMALL)
    return path
