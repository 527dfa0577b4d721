"""rankloom tune: the best model in a file, every trial in another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankloom as rl
from rankloom.cli.methods import parameters, parse_spaces

QUICK = "--set steps=500 --workers 1"


@pytest.fixture
def files(tmp_path: Path) -> None:
    data = rl.make_letor(40, seed=1).data
    rl.write(data.take(slice(0, 30)), tmp_path / "train.txt")
    rl.write(data.take(slice(30, 40)), tmp_path / "vali.txt", zeros=False)


def test_what_a_person_sees(run: Any, files: Any) -> None:
    done = run(f"tune spd train.txt --valid vali.txt --model m.rank {QUICK} --set loss=hinge")
    head, _, *lines = done.stdout.splitlines()
    assert head.split() == ["lam", "ndcg@10", "seconds"]
    values = [float(line.split()[1]) for line in lines]
    assert len(values) == 6
    assert values == sorted(values, reverse=True)
    assert done.stderr.startswith(
        f"rankloom: wrote m.rank: spd with lam={lines[0].split()[0]} was best of 6 trials"
    )
    trials = json.loads(Path("m.rank.tune.json").read_text())["trials"]
    assert len(trials) == 6
    assert [path.name for path in Path().iterdir() if path.name.startswith(".tmp")] == []


def test_the_command_line_finds_what_python_finds(run_json: Any, files: Any) -> None:
    found = run_json(
        f"tune crr train.txt --folds 3 --model m.rank {QUICK} --space lam=1e-3:10:3 --space alpha=0.2,0.8 "
        "--search random --trials 4 --seed 5 -m map,mse --record r.json"
    )
    again = rl.tune(
        rl.CRR(steps=500, seed=5), rl.read("train.txt"), folds=3, seed=5, measure="map", workers=1,
        space={"lam": (1e-3, 10.0, 3), "alpha": [0.2, 0.8]}, search="random", trials=4,
    )  # fmt: skip
    values = {json.dumps(trial["parameters"]): trial["value"] for trial in found["tuning"]["trials"]}
    assert values == {json.dumps(trial.parameters): trial.value for trial in again}
    model = rl.load("m.rank")
    assert model.weights.tolist() == again.best_model.weights.tolist()
    assert found["parameters"]["lam"] == again.best.parameters["lam"]
    assert set(found["measures"]["train"]) == {"map", "mse"}
    assert (found["record"], found["model"]) == ("r.json", "m.rank")
    assert model.about["reading"] == {"index_base": 1}
    assert model.about["data"]["fingerprint"] == rl.read("train.txt").fingerprint()
    assert model.about["tuning"] == {"measure": "map", "value": again.best.value, "trials": 4}


def test_stores_and_text_are_alike(run: Any, files: Any) -> None:
    for name in ("train", "vali"):
        run(f"convert {name}.txt {name}.store --n-features 46")
    common = f"--model m.rank {QUICK} --space lam=0.1,1 --force"
    run(f"tune spd train.txt --valid vali.txt --record a.json {common}")
    text = rl.load("m.rank").weights
    run(f"tune spd train.store --valid vali.store --record b.json {common}")
    assert rl.load("m.rank").weights.tolist() == text.tolist()


def test_the_same_command_goes_on(run: Any, files: Any) -> None:
    line = f"tune spd train.txt --valid vali.txt --model m.rank {QUICK} --space lam=0.1,1"
    first = run(line)
    before = Path("m.rank.tune.json").read_bytes()
    assert run(f"{line} --force").stdout == first.stdout
    assert Path("m.rank.tune.json").read_bytes() == before


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "give either --valid FILE or --folds K, one of them"),
        ("--valid vali.txt --folds 3", "give either --valid FILE or --folds K, one of them"),
        ("--folds 3 --space lam", "--space must be name=low:high or name=value,value,..., got 'lam'"),
        ("--folds 3 --space lamb=1:2", "spd has no parameter 'lamb' (did you mean lam?)"),
        ("--folds 3 --space lam=a:b", "an end of --space lam must be a number, got 'a'"),
        ("--folds 3 --space lam=1:2:x", "the points of --space lam must be a whole number, got 'x'"),
        ("--folds 3 --space lam=1,x", "--space lam must be a number, got 'x'"),
        ("--folds 3 --space lam=2:1", "a range for lam must rise, got 2 to 1"),
        ("--folds 3 --space lam=1,2 --set lam=3", "lam is both set and searched"),
        ("--folds 3 --space lam=1,2 --space lam=3", "--space lam is given twice"),
        ("--folds 3 --space seed=1,2", "the seed has an option of its own: --seed N"),
        ("--folds 3 --trials 3", "a grid has as many trials as it has points; leave trials out"),
        ("--folds 99", "99 folds need at least as many queries, got 30"),
        ("--folds 3 -m ndgc@10", "no measure is called 'ndgc'"),
        ("--folds 3 --record train.txt", "train.txt is one of the inputs"),
        (
            "--folds 3 --set lam=1 --set loss=hinge",
            "nothing is left to search: the grid of spd has nothing",
        ),
        ("--folds 3 --set lam=-1", "no trial of 2 came to an end; the first said: lam must be a number > 0"),
    ],
)
def test_what_cannot_work_is_one_line(complain: Any, files: Any, line: str, words: str) -> None:
    assert words in complain(f"tune spd train.txt --model m.rank --workers 1 {line}")
    assert not Path("m.rank").exists()


def test_a_model_that_is_there_stays(complain: Any, files: Any) -> None:
    Path("m.rank").write_text("mine")
    assert "m.rank is there already" in complain("tune spd train.txt --folds 3 --model m.rank")
    assert Path("m.rank").read_text() == "mine"


def test_spaces_are_read_by_what_a_parameter_may_be() -> None:
    known = parameters(rl.SPD)
    found = parse_spaces(
        "spd", ["lam=1e-3:1", "steps=1e3:1e5:3", "loss=hinge, logistic", "C=none,0.5"], known
    )
    assert found == {
        "lam": (0.001, 1.0), "steps": (1000, 100000, 3), "loss": ["hinge", "logistic"], "C": [None, 0.5],
    }  # fmt: skip
