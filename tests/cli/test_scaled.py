"""Baselines and scaling on the command line: settings, and data whose queries a model needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl

DATA = rl.make_mslr(8, seed=1).data.with_names([f"f{place}" for place in range(136)])


@pytest.fixture
def files(tmp_path: Path) -> None:
    """The same rows as text, CSV, and CSV without queries."""
    rl.write(DATA.with_names(None), tmp_path / "train.txt")
    rl.write(DATA, tmp_path / "train.csv")
    bare = rl.RankingData(np.asarray(DATA.X), DATA.y, feature_names=DATA.feature_names)
    rl.write(bare, tmp_path / "bare.csv")
    lines = (tmp_path / "bare.csv").read_text().split("\n")
    assert lines[0].startswith('"qid",')
    (tmp_path / "bare.csv").write_text("\n".join(line.partition(",")[2] for line in lines))


@pytest.mark.parametrize("regressor", ["ridge", "svr", "gbdt", "forest"])
def test_baselines_are_trained(run: Any, files: None, regressor: str) -> None:
    run(f"train pointwise train.txt --model m.rank --set regressor={regressor} --set scale=minmax")
    expected = rl.Pointwise(regressor, scale="minmax").fit(rl.read("train.txt"))
    assert rl.load("m.rank").predict(DATA.with_names(None)).tolist() == expected.predict(DATA.X).tolist()


def test_a_model_that_scales_queries_asks_for_them(run: Any, files: None) -> None:
    run("train pointwise train.csv --model m.rank --set scale=standard/query")
    expected = rl.load("m.rank").predict(DATA)
    written = run("predict m.rank train.csv").stdout.split()
    np.testing.assert_allclose([float(value) for value in written], expected, rtol=1e-6)
    assert "ndcg@10" in run("evaluate m.rank train.csv").stdout
    done = run("predict m.rank bare.csv", code=2)
    assert "no qid column" in done.stderr


def test_settings_that_cannot_be(run: Any, files: None) -> None:
    done = run("train pointwise train.txt --model m.rank --set scale=max", code=2)
    assert "scale must be None or one of minmax" in done.stderr
    done = run("train pointwise train.txt --model m.rank --set regressor=mlp", code=2)
    assert "regressor must be one of ridge" in done.stderr
    assert not Path("m.rank").exists()
