"""rankloom local-optimum: a sentence, a document, a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl


@pytest.fixture
def model(tmp_path: Path) -> rl.LinearModel:
    """m.rank, and test.txt whose first feature is the label."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 3, 400)
    lines = [f"{y[i]} qid:{i // 10} 1:{y[i]} 2:{draw.normal():.4f}\n" for i in range(400)]
    (tmp_path / "test.txt").write_text("".join(lines))
    found = rl.LinearModel([0.3, 1.0])
    found.save(tmp_path / "m.rank")
    return found


def test_what_a_program_sees_is_what_local_optimum_says(run_json: Any, model: rl.LinearModel) -> None:
    found = run_json("local-optimum m.rank test.txt -m map --directions 9 --svg around.svg")
    expected = rl.local_optimum(model, rl.read("test.txt"), "map", directions=9).to_dict()
    assert found == {"model": "m.rank", "data": "test.txt", **expected}
    assert not found["local_maximum"]
    assert Path("around.svg").read_text().startswith("<svg")


def test_a_person_reads_a_sentence(run: Any, model: rl.LinearModel) -> None:
    rl.LinearModel([1.0, 0.0]).save("best.rank")
    assert run("local-optimum m.rank test.txt --directions 9").stdout.startswith("no: ndcg@10 is 0.")
    yes = run("local-optimum best.rank test.txt --confidence 0.9 --share 0.1 --coordinates 1").stdout
    assert "of 1 weights one by one and 22 random directions none leads up" in yes


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("m.rank test.txt -m map,err", "a maximum is of one measure"),
        ("m.rank test.txt --share 2", "share must be"),
        ("test.txt test.txt", "no model"),
    ],
)
def test_bad_input_is_one_line(complain: Any, model: rl.LinearModel, arguments: str, complaint: str) -> None:
    assert complaint in complain(f"local-optimum {arguments}")
