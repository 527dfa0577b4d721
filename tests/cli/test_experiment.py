"""rankloom experiment: one command a protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import rankloom as rl
from rankloom.cli.experiment import PROTOCOLS as SHOWN
from rankloom.cli.main import program
from rankloom.experiments.protocols import PROTOCOLS


def test_letor_by_one_command(run: Any, run_json: Any, complain: Any, tmp_path: Path) -> None:
    data = rl.make_letor(30, seed=2).data
    (tmp_path / "made" / "Fold1").mkdir(parents=True)
    for part, first in (("train", 0), ("vali", 10), ("test", 20)):
        rl.write(data.take(np.arange(first, first + 10)), tmp_path / "made" / "Fold1" / f"{part}.txt")
    line = "experiment letor made --methods spd,crr --baseline crr --workers 1 -m ndcg@10"
    done = run(line)
    head, _, *rows = done.stdout.splitlines()
    assert head.split() == ["method", "ndcg@10", "p", "seconds"]
    assert sorted(row.split()[0] for row in rows) == ["crr", "spd"]
    assert "against crr" in done.stderr
    found = run_json(line)
    assert found["record"] == "letor-record.json"
    assert {each["method"] for each in found["methods"]} == {"spd", "crr"}
    assert run(line).stdout == done.stdout
    assert "methods must be of" in complain("experiment letor made --methods sdp")


def test_every_protocol_has_a_command() -> None:
    assert list(SHOWN) == list(PROTOCOLS)


def test_an_unknown_protocol_is_named(complain: Any) -> None:
    assert "no such command 'leter'" in complain("experiment leter").lower()


def test_the_list_of_protocols_imports_none() -> None:
    shown = CliRunner().invoke(program, ["experiment", "-h"]).output
    assert all(name in shown for name in PROTOCOLS)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("convergence --steps many", "'many' is no whole number from 1, such as 20000 or 1e6"),
        ("convergence --steps 0.5", "is no whole number"),
        ("convergence --caps a,b", "'a,b' must be numbers, with commas between them"),
        ("convergence --learners ,", "nothing is named"),
        ("convergence --fold 1", "need a source"),
        ("convergence missing.txt", "missing.txt"),
        ("convergence --report page.txt", "must have a name that ends in .html"),
    ],
)
def test_what_cannot_be_is_told(complain: Any, line: str, words: str) -> None:
    assert words in complain(f"experiment {line}")


def test_convergence_by_one_command(run: Any, run_json: Any) -> None:
    line = "experiment convergence --steps 1e3 --learners pegasos,romma --record c.json"
    done = run(line)
    head, _, first, second, last = done.stdout.splitlines()
    assert head.split("  ")[0] == "steps"
    assert [row.split()[0] for row in (first, second, last)] == ["100", "1,000", "CPU"]
    assert "the exact optimum is" in done.stderr
    assert run(line).stdout == done.stdout  # seconds as well: nothing was made again
    found = run_json(line)
    assert found["protocol"] == "convergence"
    assert [curve["learner"] for curve in found["curves"]][-1] == "romma"
    assert json.loads(Path("c.json").read_text())["format"] == "rankloom-convergence"


def test_topics_by_one_command(run: Any, run_json: Any, complain: Any) -> None:
    line = "experiment topics --rows 2000 --steps 1e3 --min-share 0.25 --lams 1e-4 --record t.json"
    done = run(line)
    head, _, *rows = done.stdout.splitlines()
    assert head.split()[:2] == ["topic", "positive"]
    assert len(rows) == 2
    assert "crr against ranking, auc-loss: better on" in done.stderr
    assert run(line).stdout == done.stdout
    assert [row["topic"] for row in run_json(line)["topics"]] == ["made 30.00%", "made 50.00%"]
    assert "there is no topic 'gold'" in complain("experiment topics --rows 2000 --topics gold")


def test_alpha_by_one_command(run: Any, run_json: Any, tmp_path: Path) -> None:
    rl.write(rl.make_letor(30, seed=2).data, tmp_path / "rows.txt")
    line = "experiment alpha rows.txt --steps 1e3 --alphas 0,1 -m mse,map --record a.json"
    done = run(line)
    head, _, *rows = done.stdout.splitlines()
    assert head.split() == ["alpha", "mse", "map"]
    assert [row.split()[0] for row in rows] == ["0", "1"]
    assert "rows.txt, squared loss" in done.stderr
    assert run_json(line)["points"][0]["alpha"] == 0


def test_online_by_one_command(run: Any, run_json: Any, complain: Any) -> None:
    line = "experiment online --queries 30 --orders 1 --learners solar-1,prank-pairs -m ndcg@5 --points 2"
    line += " --record o.json"
    done = run(line)
    head, _, *rows = done.stdout.splitlines()
    assert head.split() == ["learner", "ndcg@5", "map", "CPU", "s"]
    assert [row.split("  ")[0] for row in rows] == ["SOLAR-I", "PRank, pairs"]
    assert "staying current, RankSVM, trained anew after each" in done.stderr
    assert run(line).stdout == done.stdout
    assert run_json(line)["points"] == 2
    assert "learners must be of PRank, rows" in complain("experiment online --learners solar-3")


def test_scaling_by_one_command(run: Any, run_json: Any) -> None:
    line = "experiment scaling --sizes 200,400 --methods prank,solar --record s.json"
    done = run(line)
    head, _, *rows = done.stdout.splitlines()
    assert head.split()[-1] == "exponent"
    assert [row.split()[0] for row in rows] == ["prank", "solar"]
    assert run(line).stdout == done.stdout
    assert [row["method"] for row in run_json(line)["methods"]] == ["prank", "solar"]


@pytest.mark.parametrize(
    "line",
    [
        "convergence --steps 200 --learners pegasos",
        "alpha --rows 1000 --steps 500 --alphas 0,0.5,1",
        "topics --rows 2000 --steps 500 --lams 1e-4 --min-share 0.25",
        "online --queries 20 --orders 1 --learners solar-2 --points 2",
        "scaling --sizes 100,200 --methods prank",
    ],
)
def test_every_protocol_writes_a_page(run: Any, line: str) -> None:
    done = run(f"experiment {line} --report page.html")
    assert "wrote page.html, and the run to page.json" in done.stderr
    known = json.loads(Path("page.json").read_text())
    assert known["kind"] == line.split()[0]
    assert known["command"] == f"rankloom experiment {line} --report page.html"
    assert all(facts["rows"] > 0 for facts in known["data"].values())
    text = Path("page.html").read_text()
    assert "<svg" in text
    assert 'src="http' not in text


def test_who_stops_it_is_told_how_to_go_on(run: Any, monkeypatch: Any) -> None:
    import rankloom.experiments.scaling as module

    def stopped(*_given: Any) -> Any:
        raise KeyboardInterrupt

    line = "experiment scaling --sizes 100,200 --methods prank"
    run(f"{line} --record s.json")
    monkeypatch.setattr(module, "_timed", stopped)
    assert "with --record FILE, the same command goes on" in run(line, code=130).stderr
    told = run("experiment scaling --sizes 100,200,300 --methods prank --record s.json", code=2).stderr
    assert "is the record of another experiment" in told
    told = run(f"{line},solar --record s.json", code=130).stderr
    assert "what is done so far is in s.json; the same command goes on from there" in told
