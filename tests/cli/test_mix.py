"""rankloom mix: two models or files of scores, and the model that holds both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl


@pytest.fixture
def two(tmp_path: Path) -> rl.RankingData:
    """a.rank and b.rank see different features of test.txt; a.txt and b.txt are their scores."""
    data = rl.make_letor(30, seed=4).data
    rl.write_text(data, tmp_path / "test.txt")
    data = rl.read(tmp_path / "test.txt")
    weights = rl.SPD(steps=2000).fit(data).model_.weights
    for half, name in enumerate("ab"):
        own = weights.copy()
        own[half::2] = 0.0
        model = rl.LinearModel(own, feature_names=data.feature_names)
        model.save(tmp_path / f"{name}.rank")
        rl.write_scores(model.predict(data), tmp_path / f"{name}.txt")
    return data


def test_what_a_program_sees_is_what_mix_says(run_json: Any, two: rl.RankingData) -> None:
    found = run_json("mix a.txt b.txt test.txt -m map")
    expected = rl.mix(rl.read_scores("a.txt"), rl.read_scores("b.txt"), two, measure="map").to_dict()
    assert found == {"scores": ["a.txt", "b.txt"], "data": "test.txt", "model": None, **expected}
    assert found["value"] > max(found["a"], found["b"])


def test_two_models_leave_one(run: Any, run_json: Any, two: rl.RankingData) -> None:
    found = run_json("mix a.rank b.rank test.txt --model both.rank --svg mix.svg")
    model = rl.load("both.rank")
    assert (model.alpha, model.a, model.b) == (found["alpha"], rl.load("a.rank"), rl.load("b.rank"))
    assert rl.evaluate(model.predict(two), two, measures="ndcg@10")["ndcg@10"] == found["value"]
    assert Path("mix.svg").read_text().startswith("<svg")
    scores = run("predict both.rank test.txt").stdout.split()
    np.testing.assert_allclose([float(score) for score in scores], model.predict(two), rtol=1e-12)


def test_a_person_reads_a_sentence(run: Any, two: rl.RankingData) -> None:
    found = run("mix a.rank b.txt test.txt --scale")
    assert found.stdout.startswith("ndcg@10 is best, 0.")
    assert "b alone" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("a.rank b.txt test.txt --model m.rank", "--model needs two models"),
        ("a.txt b.txt test.txt -m map,err", "best for one measure, got map, err"),
        ("a.txt b.txt test.txt -m mse", "mse compares values"),
        ("a.rank b.rank test.txt --model a.rank", "a.rank"),
        ("a.rank b.rank test.txt --svg -", "need the name of a file"),
    ],
)
def test_bad_input_is_one_line(run: Any, two: rl.RankingData, arguments: str, complaint: str) -> None:
    found = run(f"mix {arguments}", code=2)
    assert complaint in found.stderr
    assert found.stderr.count("\n") == 1
