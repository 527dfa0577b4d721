"""rankloom demo: what it shows is what its files say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rankloom.cli.demo import RANKINGS


def test_better_rankings_are_better(run_json: Any) -> None:
    found = run_json("demo --out play")
    quality = [found["measures"][name]["ndcg@10"] for name in ("random", "feature", "linear", "truth")]
    assert quality == sorted(quality)
    assert found["train"]["queries"] == 600
    assert found["test"]["queries"] == 200
    (row, _) = found["comparison"]["rows"]
    assert (row["a"], row["b"]) == ("feature", "linear")
    assert row["difference"] == pytest.approx(quality[2] - quality[1])


def test_its_files_measure_as_it_says(run_json: Any) -> None:
    made = run_json("demo --out play --queries 60 --seed 3")
    for name in RANKINGS:
        files = made["files"]
        found = run_json(f"evaluate {files[name]} {files['test']} -m ndcg@10,map,err@10,pairwise")
        assert found["measures"] == pytest.approx(made["measures"][name], abs=1e-12)


def test_the_same_seed_gives_the_same_files(run: Any) -> None:
    for folder in ("one", "two"):
        run(f"demo --out {folder} --queries 20 --seed 5")
    run("demo --out three --queries 20 --seed 6")
    one, two, three = (Path(folder, "test.txt").read_text() for folder in ("one", "two", "three"))
    assert one == two
    assert one != three


def test_what_a_person_sees(run: Any) -> None:
    done = run("demo --queries 40")
    assert "wrote 6 files to demo-output" in done.stderr
    for name in RANKINGS:
        assert f"demo-output/{name}.txt" in done.stdout
    for line in done.stdout.split("Try next:\n")[1].strip().splitlines():
        run(line.strip().removeprefix("rankloom "))


def test_a_folder_with_files_is_left_alone(run: Any, complain: Any) -> None:
    Path("play").mkdir()
    Path("play", "mine.txt").write_text("mine")
    assert "play has files already" in complain("demo --out play")
    Path("file").write_text("mine")
    assert "file is a file" in complain("demo --out file")
    assert "file" in complain("demo --out file/inner")
    run("demo --out play --queries 10 --force")
    assert Path("play", "mine.txt").read_text() == "mine"
