"""rankloom demo: what it shows is what its files say."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl
from rankloom.experiments.tour import BASELINE, FAMILIES, MEASURES

NAMES = ["random", "feature", BASELINE, *FAMILIES, "truth"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Families that learn at once."""
    from rankloom.experiments import tour

    spaces = {"spd": {"lam": [1e-3]}, "crr": {"lam": [1e-3], "loss": ["logistic"]}, "ranksvm": {"C": [0.01]}}
    spaces |= {"lambdarank": {"rate": [0.01]}, "lambdamart": {"leaves": [7]}, "solar": {"gamma": [100.0]}}
    for name, family in FAMILIES.items():
        monkeypatch.setitem(tour.FAMILIES, name, family._replace(spaces=spaces[name]))


@pytest.mark.usefixtures("small")
def test_better_rankings_are_better(run_json: Any) -> None:
    found = run_json("demo --out play")
    assert [one["name"] for one in found["systems"]] == NAMES
    quality = {one["name"]: one["measures"]["ndcg@10"] for one in found["systems"]}
    order = [quality[name] for name in ("random", "feature", "linear", "ranksvm", "truth")]
    assert order == sorted(order)
    assert found["train"] == {"rows": 11_375, "queries": 600}
    assert found["test"] == {"rows": 3_928, "queries": 200}
    rows = {row["b"]: row for row in found["comparison"]["rows"]}
    assert list(rows) == list(FAMILIES)
    for name, row in rows.items():
        assert row["a"] == BASELINE
        assert row["difference"] == pytest.approx(quality[name] - quality[BASELINE])
    assert found["weights"]["true"][0] > 0.3
    assert found["online"]["so_far"][-1] > found["online"]["so_far"][0]
    assert 0.0 <= found["calibration"]["error"] < 0.1


@pytest.mark.usefixtures("small")
def test_its_files_measure_as_it_says(run_json: Any) -> None:
    made = run_json("demo --out play --queries 60 --seed 3")
    files, measures = made["files"], ",".join(MEASURES)
    for one in made["systems"]:
        found = run_json(f"evaluate {files[one['name']]} {files['test']} -m {measures}")
        assert found["measures"] == pytest.approx(one["measures"], abs=1e-12)
    for name in FAMILIES:
        found = run_json(f"evaluate {files[f'{name}.rank']} {files['test']} -m {measures}")
        system = next(one for one in made["systems"] if one["name"] == name)
        assert found["measures"] == pytest.approx(system["measures"], abs=1e-9)


@pytest.mark.usefixtures("small")
def test_its_page_is_there_and_can_be_made_again(run: Any) -> None:
    run("demo --out play --queries 40")
    page = Path("play/report.html").read_text()
    assert "All families of rankers" in page
    assert json.loads(Path("play/report.json").read_text())["kind"] == "demo"
    run("report play/report.json --out again.html")
    assert Path("again.html").read_text() == page


@pytest.mark.usefixtures("small")
def test_the_same_seed_gives_the_same_files(run: Any) -> None:
    for folder in ("one", "two"):
        run(f"demo --out {folder} --queries 20 --seed 5")
    run("demo --out three --queries 20 --seed 6")
    for name in ("test.txt", "crr.txt", "lambdamart.rank"):
        one, two, three = (Path(folder, name).read_bytes() for folder in ("one", "two", "three"))
        assert one == two
        assert one != three


@pytest.mark.usefixtures("small")
def test_what_a_person_sees(run: Any) -> None:
    done = run("demo --queries 60")
    assert "to demo-output" in done.stderr
    for name in NAMES:
        assert f"\n{name} " in done.stdout
    assert "Best by ndcg@10 is " in done.stdout
    for line in done.stdout.split("Try next:\n")[1].strip().splitlines():
        run(line.strip().removeprefix("rankloom "))


@pytest.mark.usefixtures("small")
def test_ones_own_data(run_json: Any, complain: Any) -> None:
    data = rl.make_letor(60, seed=4).data
    rl.write(data, "mine.csv")
    found = run_json("demo --train mine.csv --out mine")
    assert (found["train"]["queries"], found["test"]["queries"]) == (45, 15)
    assert [one["name"] for one in found["systems"]] == NAMES[:-1]
    assert "true" not in found["weights"]
    train, test = rl.split(data, (0.5, 0.5), seed=0)
    rl.write(train, "train.txt")
    rl.write(test, "test.txt")
    found = run_json("demo --train train.txt --test test.txt --out both")
    assert found["files"]["train"] == "train.txt"
    assert not Path("both/train.txt").exists()
    assert "--test needs --train" in complain("demo --test test.txt --out x")
    assert "leave it out with --train" in complain("demo --train train.txt --queries 20 --out x")
    assert "got -" in complain("demo --train - --out x")


@pytest.mark.usefixtures("small")
def test_features_of_very_different_size(run_json: Any) -> None:
    """What counts is a feature up to 1 beside three up to 1,000: all find it."""
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.random(1200), 1000.0 * rng.random((1200, 3))))
    rl.write(rl.RankingData(X, np.floor(3 * X[:, 0]), np.arange(1200) // 10), "mine.txt")
    found = run_json("demo --train mine.txt --out mine")
    for one in found["systems"]:
        if one["name"] in FAMILIES:
            assert one["measures"]["ndcg@10"] > 0.95, one
    assert found["weights"]["names"][0] == "column 0"
    again = run_json(f"evaluate mine/solar.rank {found['files']['test']} -m ndcg@10")
    solar = next(one for one in found["systems"] if one["name"] == "solar")
    assert again["measures"]["ndcg@10"] == pytest.approx(solar["measures"]["ndcg@10"], abs=1e-9)


@pytest.mark.usefixtures("small")
def test_what_is_not_installed_is_said(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    missing = ("lightgbm", "matplotlib")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in missing else find(name))
    done = run("demo --queries 40")
    assert "lambdamart was left out, for want of lightgbm: pip install lightgbm" in " ".join(
        done.stdout.split()
    )
    assert 'no report is written, for want of matplotlib: pip install "rankloom[report]"' in done.stderr
    assert not Path("demo-output/report.html").exists()
    assert "report.html" not in done.stdout


def test_a_folder_with_files_is_left_alone(run: Any, complain: Any, request: pytest.FixtureRequest) -> None:
    Path("play").mkdir()
    Path("play", "mine.txt").write_text("mine")
    assert "play has files already" in complain("demo --out play")
    Path("file").write_text("mine")
    assert "file is a file" in complain("demo --out file")
    assert "file" in complain("demo --out file/inner")
    request.getfixturevalue("small")
    run("demo --out play --queries 20 --force")
    assert Path("play", "mine.txt").read_text() == "mine"


@pytest.mark.usefixtures("run")
def test_data_that_cannot_be_toured(complain: Any) -> None:
    rl.write(rl.make_letor(2, seed=0).data, "two.txt")
    assert "3 folds of queries" in complain("demo --train two.txt --out x")


@pytest.mark.usefixtures("small")
def test_text_that_counts_from_0_is_read_alike(run_json: Any) -> None:
    """The test part never has the index 0: read by itself, its columns would be those before."""
    rng = np.random.default_rng(1)
    X = np.column_stack((np.zeros(600), rng.random((600, 2))))
    X[:300, 0] = rng.random(300)
    y, qid = np.floor(3 * X[:, 2]), np.arange(600) // 10
    rl.write(rl.RankingData(X[:300], y[:300], qid[:300]), "train.txt", index_base=0, zeros=False)
    rl.write(rl.RankingData(X[300:], y[300:], qid[300:]), "test.txt", index_base=0, zeros=False)
    found = run_json("demo --train train.txt --test test.txt --out both")
    ranksvm = next(one for one in found["systems"] if one["name"] == "ranksvm")
    assert ranksvm["measures"]["ndcg@10"] > 0.95
    again = run_json("evaluate both/ranksvm.rank test.txt -m ndcg@10")
    assert again["measures"]["ndcg@10"] == pytest.approx(ranksvm["measures"]["ndcg@10"], abs=1e-9)
