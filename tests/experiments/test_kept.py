"""Pieces on record: made once, found again, and never those of another experiment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl
from rankloom.experiments.kept import Kept, plain


def test_a_piece_is_made_once(tmp_path: Path) -> None:
    path, calls = tmp_path / "record.json", []

    def make() -> dict[str, Any]:
        calls.append(1)
        return {"value": np.float64(0.1), "missing": float("nan"), "rows": np.arange(2)}

    first = Kept(path, "toy", {"seed": 0}).made({"name": "a", "at": (1, 2)}, make)
    assert first == {"name": "a", "at": [1, 2], "value": 0.1, "missing": None, "rows": [0, 1]}
    again = Kept(path, "toy", {"seed": 0})
    assert again.made({"name": "a", "at": (1, 2)}, make) == first
    assert len(calls) == 1
    again.made({"name": "b", "at": (1, 2)}, make)
    assert len(calls) == 2
    assert [entry["name"] for entry in json.loads(path.read_text())["runs"]] == ["a", "b"]


def test_without_a_file_nothing_is_written(tmp_path: Path) -> None:
    kept = Kept(None, "toy", {})
    assert kept.made({"name": "a"}, lambda: {"value": 1}) == kept.made({"name": "a"}, dict)
    assert not list(tmp_path.iterdir())


def test_the_record_of_another_experiment_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    Kept(path, "toy", {"seed": 0}).made({"name": "a"}, lambda: {"value": 1})
    with pytest.raises(rl.InputError, match=r"record of another experiment: seed 0, where it is 1 now"):
        Kept(path, "toy", {"seed": 1})
    with pytest.raises(rl.InputError, match="is not the record of such an experiment"):
        Kept(path, "other", {"seed": 0})
    with pytest.raises(rl.InputError, match="is not the record of such an experiment"):
        Kept(path, "toy", {"seed": 0}, ["name", "other"])


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"runs": 3}', '{"runs": [3]}', '{"runs": []}'])
def test_what_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "record.json"
    path.write_text(text)
    with pytest.raises(rl.InputError, match="is not the record of such an experiment"):
        Kept(path, "toy", {})


def test_what_is_plain_stays() -> None:
    value = {"a": [1, 2.5, None, True, "x"], "b": {"c": "d"}}
    assert plain(value) == value
    assert plain({1: (np.inf, np.int64(3))}) == {"1": [None, 3]}
