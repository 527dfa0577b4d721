"""Tuning: the best is what a plain loop finds, whoever did the work, and however often it was interrupted."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl
from rankloom.experiments import crew
from rankloom.experiments.trial import Job
from rankloom.rankers.methods import METHODS
from twins.toy_ranker import Toy
from twins.tuning_rankers import Failing, Mapped, Pathed, Telling, Watching

LAMS = [1e-3, 1.0, 1e3]


@pytest.fixture(scope="module")
def parts() -> tuple[rl.RankingData, rl.RankingData]:
    data = rl.make_letor(60, seed=1).data
    return data.take(slice(0, 40)), data.take(slice(40, 60))


def by_hand(lam: float, train: rl.RankingData, valid: rl.RankingData, measure: str = "ndcg@10") -> float:
    return float(rl.evaluate(Toy(lam).fit(train).predict(valid), valid, measures=measure)[measure])


def facts(found: rl.Tuning) -> list[Any]:
    """All that is not time."""
    return [trial._replace(seconds=0.0) for trial in found]


def test_the_best_is_what_a_plain_loop_finds(parts: Any) -> None:
    train, valid = parts
    found = rl.tune(Toy(), train, valid, space={"lam": LAMS}, workers=1)
    expected = {lam: by_hand(lam, train, valid) for lam in LAMS}
    assert {trial.parameters["lam"]: trial.value for trial in found} == expected
    assert found.best.parameters["lam"] == max(expected, key=expected.__getitem__)
    assert [trial.value for trial in found] == sorted(expected.values(), reverse=True)
    again = Toy(found.best.parameters["lam"]).fit(train).model_
    assert np.array_equal(found.best_model.weights, again.weights)
    assert found.best_model.about["tuning"] == {"measure": "ndcg@10", "value": found.best.value, "trials": 3}


def test_folds_are_those_of_k_folds(parts: Any) -> None:
    train, _ = parts
    found = rl.tune(Toy(), train, folds=4, space={"lam": LAMS}, workers=1, seed=5)
    for trial in found:
        lam = trial.parameters["lam"]
        expected = [by_hand(lam, learn, held) for learn, held in rl.k_folds(train, 4, seed=5)]
        assert list(trial.folds) == pytest.approx(expected, rel=1e-12)
        assert trial.value == pytest.approx(np.mean(expected), rel=1e-12)


def test_less_is_better_where_it_is(parts: Any) -> None:
    train, valid = parts
    found = rl.tune(Toy(), train, valid, space={"lam": LAMS}, measure="mse", workers=1)
    expected = {lam: by_hand(lam, train, valid, "mse") for lam in LAMS}
    assert found.best.parameters["lam"] == min(expected, key=expected.__getitem__)
    assert found.best.value == min(expected.values())


def test_of_equals_the_first_is_best(parts: Any) -> None:
    train, valid = parts
    found = rl.tune(Toy(), train, valid, space={"lam": [2e-9, 1e-9]}, measure="p@1", workers=1)
    assert found.best.parameters["lam"] == 2e-9


def test_methods_have_names_and_grids_of_their_own(parts: Any) -> None:
    train, valid = parts
    found = rl.tune("spd", train, valid, seed=7, search="random", trials=3, refit=False, workers=1)
    assert found.method == "spd"
    assert found.parameters == ["loss", "lam"]
    kept = rl.tune(rl.SPD(loss="logistic", steps=500), train, valid, workers=1)
    assert kept.parameters == ["lam"]
    assert kept.best_ranker.steps == 500
    with pytest.raises(rl.InputError, match="there is no model, since refit=False"):
        found.best_model  # noqa: B018


@pytest.mark.parametrize(("how", "crews"), [("valid", (1, 2)), ("folds", (1, 2, 8))])
def test_workers_find_what_one_process_finds(
    parts: Any, how: str, crews: tuple[int, ...], tmp_path: Path
) -> None:
    """A guided search over folds or validation data: proposals, values on the way, the model, bit by bit."""
    train, valid = parts
    given = {"valid": valid} if how == "valid" else {"folds": 3}
    found = [
        rl.tune(
            rl.SPD(steps=3000), train, **given, space={"lam": (1e-6, 1e2)}, search="optuna", trials=16,
            workers=workers, record=tmp_path / f"{workers}.json",
        )
        for workers in crews
    ]  # fmt: skip
    for other in found[1:]:
        assert facts(found[0]) == facts(other)
        assert found[0].best_model.weights.tobytes() == other.best_model.weights.tobytes()
    assert "pruned" in {trial.state for trial in found[0]}
    assert found[0].best.state == "complete"
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".json"] == []
    one, two = (json.loads((tmp_path / f"{n}.json").read_text())["trials"] for n in (1, 2))
    assert [trial["settings"] for trial in one] == [trial["settings"] for trial in two]


def test_a_trial_given_up_was_worse_than_the_median(parts: Any) -> None:
    train, valid = parts
    found = rl.tune(
        rl.SPD(steps=3000), train, valid, space={"lam": (1e-6, 1e2)}, search="optuna", trials=16, workers=1
    )
    for trial in found:
        if trial.state == "pruned":
            step = trial.curve[-1][0]
            before = [
                dict(other.curve)[step]
                for other in found
                if other.number <= trial.number - 8 and other.state == "complete"
            ]
            assert len(before) >= 5
            assert max(value for _, value in trial.curve) < np.median(before)


def test_workers_map_the_data(parts: Any, tmp_path: Path) -> None:
    """Not a byte of the features is a worker's own."""
    train, valid = parts
    if not Path("/proc/self/smaps").exists():
        pytest.skip("the system does not say what is mapped")
    for given in ({"valid": valid}, {"folds": 3}):
        log = tmp_path / "mapping.txt"
        rl.tune(
            Mapped(log=str(log)), train, **given, space={"lam": [1.0]}, workers=2, refit=False,
            record=tmp_path / "record.json",
        )  # fmt: skip
        name, changed = log.read_text().split()
        assert name.endswith("values.npy")
        assert str(tmp_path) in name
        assert changed == "0"
        (tmp_path / "record.json").unlink()


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system does not say what is mapped")
@pytest.mark.parametrize("workers", [1, 3])
def test_all_are_on_one_fold_and_nothing_of_another_is_mapped(
    parts: Any, workers: int, tmp_path: Path
) -> None:
    """Together they look at one copy: no two folds at a time, and each fold begins with nothing mapped."""
    rl.save_store(parts[0], tmp_path / "train.store")
    log = tmp_path / "log.txt"
    rl.tune(
        Watching(log=str(log)), tmp_path / "train.store", folds=4, space={"lam": [1.0, 2.0, 3.0, 4.0]},
        workers=workers, refit=False,
    )  # fmt: skip
    lines = [line.split() for line in log.read_text().splitlines()]
    fits = sorted((float(begin), float(end), data) for begin, end, data, *_ in lines)
    assert len(fits) == 16
    assert len({data for *_, data in fits}) == 4
    for begin, end, data in fits:
        together = {other for start, stop, other in fits if start < end and begin < stop}
        assert together == {data}
    files, mapped = zip(*((line[3], (int(line[4]), int(line[6]))) for line in lines), strict=True)
    assert {Path(file).name for file in files} == {"values.npy"}
    firsts = mapped if workers > 1 else mapped[::4]
    assert {before for before, _ in firsts} == {0}
    assert min(after for _, after in mapped) > 0


def test_a_job_of_another_fold_waits_until_nobody_is_busy() -> None:
    waiting = crew.Waiting()
    jobs = [Job([], fold=fold) for fold in (1, 0, 0, 2)]
    for name, job in enumerate(jobs):
        waiting.put(name, job)
    assert waiting.folds_left(3) == 2 + 3 + 3 + 1
    taken = [waiting.take(busy=False), waiting.take(busy=True), waiting.take(busy=True)]
    assert taken == [(1, jobs[1]), (2, jobs[2]), None]
    waiting.put(4, jobs[0])
    assert waiting.take(busy=False) == (0, jobs[0])
    assert waiting.take(busy=True) == (4, jobs[0])
    assert waiting.take(busy=False) == (3, jobs[3])
    assert waiting.take(busy=False) is None


def test_progress_counts_folds_as_the_trials_they_add_up_to(parts: Any) -> None:
    seen = []
    rl.tune(
        Toy(), parts[0], folds=3, space={"lam": LAMS}, workers=1, refit=False,
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert seen == [(0, 3), (0, 3), (1, 3), (1, 3), (1, 3), (2, 3), (2, 3), (2, 3), (3, 3)]


def test_stores_are_used_where_they_are(parts: Any, tmp_path: Path) -> None:
    train, valid = parts
    rl.save_store(train, tmp_path / "train.store")
    rl.save_store(valid, tmp_path / "valid.store")
    log = tmp_path / "mapping.txt"
    stores = (tmp_path / "train.store", tmp_path / "valid.store")
    found = rl.tune(Mapped(log=str(log)), *stores, space={"lam": LAMS}, workers=2)
    assert Path(log.read_text().split()[0]).parent == tmp_path / "train.store"
    assert found.best.value == rl.tune(Toy(), train, valid, space={"lam": LAMS}, workers=1).best.value


def test_what_fails_is_written_down_and_the_search_goes_on(parts: Any, tmp_path: Path) -> None:
    train, valid = parts
    record = tmp_path / "record.json"
    found = rl.tune(
        Failing(), train, valid, space={"lam": [0.5, 10.0, 1000.0, 1.0]}, workers=2, record=record
    )
    errors = {trial.parameters["lam"]: trial.error for trial in found if trial.state == "failed"}
    assert errors == {10.0: "lam must be small, got 10", 1000.0: "its process ended with code 7"}
    assert "failed" in str(found)
    assert len(found) == 4
    written = {
        trial["parameters"]["lam"]: trial["state"] for trial in json.loads(record.read_text())["trials"]
    }
    assert written == {0.5: "complete", 10.0: "failed", 1000.0: "failed", 1.0: "complete"}
    with pytest.raises(
        rl.InputError, match="no trial of 2 came to an end; the first said: lam must be small"
    ):
        rl.tune(Failing(), train, valid, space={"lam": [10.0, 20.0]}, workers=1)


def test_workers_are_hired_when_it_takes_long(parts: Any, tmp_path: Path, monkeypatch: Any) -> None:
    train, valid = parts
    log = tmp_path / "log.txt"
    for worth, expected in ((20.0, 1), (0.0, 2)):
        log.unlink(missing_ok=True)
        monkeypatch.setattr(crew, "WORTH_WORKERS", worth)
        monkeypatch.setenv("RANKLOOM_THREADS", "2")
        rl.tune(Telling(log=str(log), pause=0.2), train, valid, space={"lam": (1e-3, 1e3, 12)}, refit=False)
        processes = {line.split()[0] for line in log.read_text().splitlines()}
        assert str(os.getpid()) in processes
        assert len(processes) >= expected
        assert (len(processes) == 1) == (expected == 1)


def test_a_ranker_that_workers_cannot_have_is_refused(parts: Any) -> None:
    class Local(Toy):
        pass

    with pytest.raises(rl.InputError, match=r"the ranker cannot be sent to a worker .* or take workers=1"):
        rl.tune(Local(), *parts, space={"lam": LAMS}, workers=2)
    assert len(rl.tune(Local(), *parts, space={"lam": LAMS}, workers=1)) == 3


def test_a_path_is_one_job(parts: Any, tmp_path: Path, monkeypatch: Any) -> None:
    from rankloom.experiments import grids

    monkeypatch.setitem(grids.DEFAULTS, "pathed", grids.Default([{"lam": LAMS}], path="lam"))
    log = tmp_path / "log.txt"
    found = rl.tune(Pathed(log=str(log)), *parts, workers=1, refit=False)
    plain = rl.tune(Toy(), *parts, space={"lam": LAMS}, workers=1)
    assert log.read_text() == f"path {LAMS}\n"
    log.unlink()
    folds = rl.tune(Pathed(log=str(log)), parts[0], folds=4, workers=1, refit=False)
    assert log.read_text() == f"path {LAMS}\n" * 4
    assert {trial.parameters["lam"]: trial.folds for trial in folds} == {
        trial.parameters["lam"]: trial.folds
        for trial in rl.tune(Toy(), parts[0], folds=4, space={"lam": LAMS}, workers=1, refit=False)
    }
    assert [(trial.parameters, trial.value) for trial in found] == [
        (trial.parameters, trial.value) for trial in plain
    ]
    unsorted = rl.tune(Pathed(), *parts, space={"lam": LAMS[::-1]}, workers=1)
    assert {trial.parameters["lam"]: trial.value for trial in unsorted} == {
        trial.parameters["lam"]: trial.value for trial in plain
    }


def test_optuna_is_asked_for_by_name(parts: Any, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(rl.MissingPackageError, match=r'pip install "rankloom\[optuna\]"'):
        rl.tune(Toy(), *parts, space={"lam": LAMS}, search="optuna", workers=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"valid": None}, "either validation data or folds=5"),
        ({"folds": 3}, "either validation data or folds=5"),
        ({"ranker": "sdp"}, "ranker must be a ranker or one of spd, crr"),
        ({"ranker": Toy}, "ranker must be a ranker or one of spd, crr"),
        ({"space": None}, "toy has no grid of its own; say what to search"),
        ({"search": "clever"}, "search must be one of grid, random, optuna, got 'clever'"),
        ({"trials": 3}, "leave trials out, or search at random"),
        ({"search": "random", "trials": 0}, "trials must be a whole number from 1"),
        ({"workers": 0}, "workers must be a whole number from 1"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"train": [[1.0]]}, "train must be a RankingData or the folder of a store, got list"),
        (
            {"valid": rl.RankingData([[1.0]], [1.0])},
            "the training data have 46 features, the validation data 1",
        ),
        ({"valid": rl.RankingData([[1.0] * 46])}, "the validation data have no labels"),
    ],
)
def test_bad_input_is_named(parts: Any, change: dict[str, Any], words: str) -> None:
    given = {"ranker": Toy(), "train": parts[0], "valid": parts[1], "space": {"lam": LAMS}, **change}
    with pytest.raises(rl.InputError, match=words):
        rl.tune(given.pop("ranker"), given.pop("train"), **{"workers": 1, **given})


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_tuned(parts: Any, method: str) -> None:
    train, valid = parts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.RankloomWarning)  # few rows, wide ranges: some do not converge
        found = rl.tune(method, train, valid, search="random", trials=2, workers=1)
    assert [trial.error for trial in found] == [None, None]
    value = rl.evaluate(found.best_model.decision_function(valid), valid)["ndcg@10"]
    assert value == pytest.approx(found.best.value, rel=1e-3)
    assert found.best_model.about["method"] == method


def test_the_path_of_ranksvm_is_its_grid(parts: Any) -> None:
    train, valid = parts
    Cs = [2.0**-6, 2.0**-3, 1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.RankloomWarning)
        found = rl.tune(rl.RankSVM(), train, valid, space={"C": Cs}, workers=1)
        path = rl.RankSVM().path(train, Cs=Cs, valid=valid, measures=["ndcg@10"])
    assert {trial.parameters["C"]: trial.value for trial in found} == dict(
        zip(path.Cs, path.curve("ndcg@10"), strict=True)
    )
