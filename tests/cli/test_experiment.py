"""rankloom experiment: the table of a protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import rankloom as rl


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
    assert found["record"] == "letor.json"
    assert {each["method"] for each in found["methods"]} == {"spd", "crr"}
    assert run(line).stdout == done.stdout
    assert "methods must be of" in complain("experiment letor made --methods sdp")
