"""LETOR's protocol, on folds that are made here: the table is what one gets by doing it by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl
from rankloom.experiments import letor as module

NAMES = ["spd", "crr"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    """Two folds of 60 queries."""
    place: Path = tmp_path_factory.mktemp("made")
    data = rl.make_letor(60, seed=2).data
    for fold, shift in ((1, 0), (2, 20)):
        (place / f"Fold{fold}").mkdir()
        for part, first in (("train", 0), ("vali", 20), ("test", 40)):
            queries = (np.arange(first, first + 20) + shift) % 60
            rl.write(data.take(queries), place / f"Fold{fold}" / f"{part}.txt")
    return place


@pytest.fixture(scope="module")
def found(folder: Path) -> rl.Letor:
    return rl.letor(folder, NAMES, baseline="crr", workers=1, record=folder / "record.json")


def test_the_table_is_what_one_gets_by_hand(folder: Path, found: rl.Letor) -> None:
    row = next(row for row in found if row.method == "spd")
    folds = rl.read_folds(folder)
    tuned = [rl.tune("spd", fold.train, fold.vali, measure="map/letor4", workers=1) for fold in folds]
    for name in found.measures:
        values = [
            rl.evaluate(each.best_model.predict(fold.test), fold.test, measures=name).per_query(name)
            for each, fold in zip(tuned, folds, strict=True)
        ]
        assert row.folds[name] == pytest.approx([value.mean() for value in values])
        assert row.means[name] == pytest.approx(np.mean([value.mean() for value in values]))
    assert list(row.parameters) == [each.best.parameters for each in tuned]


def test_significance_is_over_all_test_queries(folder: Path, found: rl.Letor) -> None:
    runs = json.loads((folder / "record.json").read_text())["runs"]
    values = {
        name: [value for run in runs if run["method"] == name for value in run["values"]["map/letor4"]]
        for name in NAMES
    }
    assert {len(each) for each in values.values()} == {40}
    expected = rl.compare_values(values, baseline="crr")[0].holm("randomisation")
    rows = {row.method: row for row in found}
    assert rows["spd"].p["map/letor4"] == pytest.approx(expected)
    assert rows["crr"].p["map/letor4"] is None


def test_it_goes_on_where_it_stopped(folder: Path, found: rl.Letor, monkeypatch: Any, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    content = json.loads((folder / "record.json").read_text())
    content["runs"] = content["runs"][:-1]
    record.write_text(json.dumps(content))
    made = []
    original = module._run
    monkeypatch.setattr(
        module, "_run", lambda name, fold, *rest: made.append(name) or original(name, fold, *rest)
    )
    again = rl.letor(folder, NAMES, baseline="crr", workers=1, record=record)
    assert made == ["crr"]
    assert [row.means for row in again] == [row.means for row in found]


def test_what_another_grid_gave_is_made_anew(
    folder: Path, found: rl.Letor, monkeypatch: Any, tmp_path: Path
) -> None:
    """As after an upgrade that changed what is tried for a method."""
    record = tmp_path / "record.json"
    record.write_text((folder / "record.json").read_text())
    changed = module.default_of("spd")._replace(spaces=[{"lam": [1e-3]}])
    original = module.default_of
    monkeypatch.setattr(module, "default_of", lambda name: changed if name == "spd" else original(name))
    made = []
    run = module._run
    monkeypatch.setattr(module, "_run", lambda name, fold, *rest: made.append(name) or run(name, fold, *rest))
    rl.letor(folder, NAMES, baseline="crr", workers=1, record=record)
    assert set(made) == {"spd"}


def test_what_it_says(found: rl.Letor) -> None:
    text = str(found)
    assert "map/letor4" in text.splitlines()[0]
    assert text.endswith("p: against crr")
    assert json.loads(json.dumps(found.to_dict()))["baseline"] == "crr"
    means = [row.means["map/letor4"] for row in found]
    assert means == sorted(means, reverse=True)


def test_peers_are_tuned_too(folder: Path, monkeypatch: Any) -> None:
    peer = module.PEERS["lightgbm"]._replace(grid={"num_leaves": [2, 7], "learning_rate": [0.1]})
    monkeypatch.setitem(module.PEERS, "lightgbm", peer)
    row = rl.letor(folder, ["lightgbm"], measures=["ndcg@10"])[0]
    for place, fold in enumerate(rl.read_folds(folder)):
        tried = [peer.learn(fold.train, {"num_leaves": n, "learning_rate": 0.1}, 0) for n in (2, 7)]
        vali = [rl.evaluate(each(fold.vali), fold.vali)["ndcg@10"] for each in tried]
        test = [rl.evaluate(each(fold.test), fold.test)["ndcg@10"] for each in tried]
        assert row.folds["ndcg@10"][place] == pytest.approx(test[int(np.argmax(vali))])


@pytest.mark.parametrize("name", ["xgboost", "catboost"])
def test_peers_learn(folder: Path, name: str) -> None:
    fold = rl.read_folds(folder)[0]
    settings = {key: values[0] for key, values in module.PEERS[name].grid.items()}
    scores = module.PEERS[name].learn(fold.train, settings, 0)(fold.test)
    chance = rl.evaluate(np.zeros(fold.test.n_rows), fold.test)["ndcg@10"]
    assert rl.evaluate(scores, fold.test)["ndcg@10"] > chance + 0.05


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"methods": ["sdp"]}, "methods must be of spd, crr"),
        ({"methods": []}, "methods must name at least one"),
        ({"measures": ["mse"]}, "mse has no value for each query"),
        ({"measures": []}, "measures must name at least one"),
        ({"baseline": "lightgbm"}, "baseline must be one of the methods, spd, crr, got 'lightgbm'"),
        ({"seed": 1}, "is the record of another experiment: seed 0, where it is 1 now"),
        ({"measures": ["ndcg@5"]}, "is the record of another experiment: measures"),
    ],
)
def test_bad_input_is_named(folder: Path, found: rl.Letor, change: dict[str, Any], words: str) -> None:
    given = {"methods": NAMES, "record": folder / "record.json", "workers": 1, **change}
    with pytest.raises(rl.InputError, match=words):
        rl.letor(folder, **given)


def test_what_is_no_record_is_refused(folder: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    for text in ("{", "[]", '{"runs": []}', '{"runs": [{}]}'):
        record.write_text(text)
        with pytest.raises(rl.InputError, match="is not the record of such an experiment"):
            rl.letor(folder, NAMES, record=record)


def test_it_is_an_experiment_by_name(folder: Path, found: rl.Letor) -> None:
    same = rl.experiment("letor", folder, methods=NAMES, baseline="crr", record=folder / "record.json")
    assert same.kind == "letor"
    assert [row.means for row in same] == [row.means for row in found]
    with pytest.raises(rl.InputError, match="letor needs a folder"):
        rl.experiment("letor")
