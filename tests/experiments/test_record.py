"""The record of a search: goes on after any end, repeats nothing, and is refused where it does not belong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import rankloom as rl
from twins.toy_ranker import Toy
from twins.tuning_rankers import Telling

LAMS = [1e-3, 1.0, 1e3]


@pytest.fixture(scope="module")
def parts() -> tuple[rl.RankingData, rl.RankingData]:
    data = rl.make_letor(30, seed=1).data
    return data.take(slice(0, 20)), data.take(slice(20, 30))


def learned(log: Path) -> list[str]:
    return [line.split()[1] for line in log.read_text().splitlines()] if log.exists() else []


def test_what_is_on_record_is_not_repeated(parts: Any, tmp_path: Path) -> None:
    log, record = tmp_path / "log.txt", tmp_path / "record.json"

    def tune(lams: Any) -> rl.Tuning:
        log.unlink(missing_ok=True)
        ranker = Telling(log=str(log))
        return rl.tune(ranker, *parts, space={"lam": lams}, workers=1, record=record, refit=False)

    first = tune(LAMS)
    assert learned(log) == ["0.001", "1.0", "1000.0"]
    second = tune(LAMS)
    assert learned(log) == []
    assert list(second) == list(first)
    wider = tune([*LAMS, 7.0])
    assert learned(log) == ["7.0"]
    assert len(wider) == 4
    assert len(tune([7.0])) == 1
    assert len(json.loads(record.read_text())["trials"]) == 4


def test_the_record_is_json_that_says_it_all(parts: Any, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    found = rl.tune(Toy(), *parts, space={"lam": LAMS}, workers=1, record=record)
    content = json.loads(record.read_text())
    assert {name: content[name] for name in ("format", "method", "measure", "folds", "seed")} == {
        "format": "rankloom-tuning", "method": "toy", "measure": "ndcg@10", "folds": None, "seed": 0,
    }  # fmt: skip
    assert (content["train"], content["valid"]) == (parts[0].fingerprint(), parts[1].fingerprint())
    assert [trial["parameters"] for trial in content["trials"]] == [{"lam": lam} for lam in LAMS]
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert found.to_dict()["best"]["value"] == found.best.value


def test_failed_trials_are_tried_again_and_pruned_ones_in_a_grid(parts: Any, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    first = rl.tune(Toy(), *parts, space={"lam": LAMS}, workers=1, record=record)
    content = json.loads(record.read_text())
    content["trials"][0] |= {"state": "failed", "error": "no memory"}
    content["trials"][1] |= {"state": "pruned"}
    record.write_text(json.dumps(content))
    again = rl.tune(Toy(), *parts, space={"lam": LAMS}, workers=1, record=record)
    assert [trial._replace(seconds=0) for trial in again] == [trial._replace(seconds=0) for trial in first]


def test_folds_on_record_are_not_repeated(parts: Any, tmp_path: Path) -> None:
    """Of three trials one has all folds, one a fold less, one (given up elsewhere) two less."""
    log, record = tmp_path / "log.txt", tmp_path / "record.json"

    def tune() -> rl.Tuning:
        log.unlink(missing_ok=True)
        ranker = Telling(log=str(log))
        return rl.tune(ranker, parts[0], folds=3, space={"lam": LAMS}, workers=1, record=record, refit=False)

    first = tune()
    assert learned(log) == [f"{lam}" for _ in range(3) for lam in LAMS]
    content = json.loads(record.read_text())
    done, given_up, begun = content["trials"]
    given_up |= {"state": "pruned", "folds": given_up["folds"][:1]}
    begun |= {"state": "begun", "folds": begun["folds"][:2]}
    content |= {"trials": [done, given_up], "begun": [begun]}
    record.write_text(json.dumps(content))
    again = tune()
    assert learned(log) == ["1.0", "1000.0", "1.0"]
    assert [trial._replace(seconds=0) for trial in again] == [trial._replace(seconds=0) for trial in first]
    assert "begun" not in json.loads(record.read_text())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ranker": rl.SPD(steps=10)}, "a record of another method: method 'toy', where it is 'spd' now"),
        ({"measure": "map"}, "a record of another measure: measure 'ndcg@10'"),
        ({"train": 1}, "a record of other training data"),
        ({"valid": 1}, "a record of other validation data"),
        ({"valid": None, "folds": 3}, "a record of other validation data"),
        ({"seed": 3}, "a record of another seed"),
    ],
)
def test_a_record_of_something_else_is_refused(
    parts: Any, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    train, valid = parts
    common = {"space": {"lam": LAMS}, "workers": 1, "record": tmp_path / "record.json"}
    rl.tune(Toy(), train, valid, **common)
    before = (tmp_path / "record.json").read_bytes()
    given = {"ranker": Toy(), "train": train, "valid": valid, **change}
    given |= {name: parts[0].take(slice(0, 9)) for name in ("train", "valid") if change.get(name) == 1}
    with pytest.raises(rl.InputError, match=f"{words}.*; give another name for this search, or remove it"):
        rl.tune(given.pop("ranker"), given.pop("train"), **given, **common)  # fmt: skip
    assert (tmp_path / "record.json").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not the record of a search"),
        ("[]", "is not the record of a search"),
        ('{"format": "other"}', "is not the record of a search"),
        ('{"format": "rankloom-tuning", "version": 2}', "is a record of version 2"),
    ],
)
def test_what_is_no_record_is_refused(parts: Any, tmp_path: Path, text: str, words: str) -> None:
    record = tmp_path / "record.json"
    record.write_text(text)
    with pytest.raises(rl.InputError, match=words):
        rl.tune(Toy(), *parts, space={"lam": LAMS}, workers=1, record=record)
    assert record.read_text() == text


def test_a_damaged_record_is_refused(parts: Any, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    rl.tune(Toy(), *parts, space={"lam": LAMS}, workers=1, record=record)
    content = json.loads(record.read_text())
    del content["trials"][1]["value"]
    record.write_text(json.dumps(content))
    with pytest.raises(rl.InputError, match="is damaged; restore it from a copy, or remove it"):
        rl.tune(Toy(), *parts, space={"lam": LAMS}, workers=1, record=record)
    record.write_text(json.dumps({**content, "trials": [], "begun": [{"state": "begun", "settings": {}}]}))
    with pytest.raises(rl.InputError, match="is damaged; restore it from a copy, or remove it"):
        rl.tune(Toy(), *parts, space={"lam": LAMS}, workers=1, record=record)


PROGRAM = """
import sys
import rankloom as rl
from twins.tuning_rankers import Telling
data = rl.make_letor(30, seed=1).data
train, valid = data.take(slice(0, 20)), data.take(slice(20, 30))
how = {"folds": int(sys.argv[5])} if sys.argv[5] != "0" else {"valid": valid}
rl.tune(Telling(log=sys.argv[1], pause=float(sys.argv[3])), train, **how, space={"lam": (1e-3, 1e3, 9)},
        workers=2, record=sys.argv[2]).best_model.save(sys.argv[4])
"""


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def on_record(record: Path) -> list[tuple[str, int]]:
    """The lam of each trial that is done or begun, and how many fits it has taken."""
    content = json.loads(record.read_text()) if record.exists() else {"trials": []}
    every = [*content["trials"], *content.get("begun", [])]
    return [(str(trial["parameters"]["lam"]), len(trial.get("folds", [0]))) for trial in every]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not list processes")
@pytest.mark.parametrize(("end", "folds"), [(signal.SIGKILL, 0), (signal.SIGINT, 0), (signal.SIGKILL, 3)])
def test_killed_and_resumed_it_repeats_nothing(
    parts: Any, tmp_path: Path, end: signal.Signals, folds: int
) -> None:
    """The process ends in the middle of trials: the record is whole, no worker stays, it goes on."""
    log, record, model = tmp_path / "log.txt", tmp_path / "record.json", tmp_path / "m.rank"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    fits = 9 * max(folds, 1)

    def start(pause: float) -> subprocess.Popen[bytes]:
        arguments = [str(log), str(record), str(pause), str(model), str(folds)]
        command = [sys.executable, "-c", PROGRAM, *arguments]
        return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)

    process = start(0.2)
    assert process.stderr is not None
    deadline = time.monotonic() + 120
    while sum(count for _, count in on_record(record)) < (20 if folds else 3):
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(end)
    process.wait()
    process.stderr.close()
    workers = {int(line.split()[0]) for line in log.read_text().splitlines()}
    assert len(workers) == 2
    while any(alive(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker was left behind"
        time.sleep(0.02)

    before = on_record(record)
    done = {lam for lam, count in before if count == max(folds, 1)}
    assert 1 <= len(done) < 9
    log.unlink()
    resumed = start(0.2)
    assert resumed.wait() == 0
    assert resumed.stderr is not None
    resumed.stderr.close()
    assert not done & set(learned(log)[:-1])
    assert len(learned(log)[:-1]) + sum(count for _, count in before) == fits
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".tmp-")] == []
    how: dict[str, Any] = {"folds": folds} if folds else {"valid": parts[1]}
    whole = rl.tune(Toy(), parts[0], **how, space={"lam": (1e-3, 1e3, 9)}, workers=1)
    assert rl.load(model).weights.tobytes() == whole.best_model.weights.tobytes()
