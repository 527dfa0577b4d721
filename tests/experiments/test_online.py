"""The online protocol: measures are those of a stream ranked before it is learned, costs add up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl
from rankloom.experiments import online as module
from rankloom.reports.online import page
from rankloom.reports.parts import Chart, Table

NAMES = ["PRank, pairs", "committee", "SOLAR-I", "SOLAR-II"]
SETTINGS: dict[str, Any] = {"learners": NAMES, "orders": 2, "points": 3, "measures": ["ndcg@5"], "seed": 4}


@pytest.fixture(scope="module")
def data() -> rl.RankingData:
    return rl.make_letor(30, seed=2).data


@pytest.fixture(scope="module")
def found(data: Any) -> Any:
    return rl.experiment("online", data, **SETTINGS)


def twin(data: rl.RankingData, make: Any) -> tuple[dict[str, float], Any]:
    """Query by query: rank, measure, learn."""
    means, curves = [], []
    for order in range(2):
        learner = make(4 + order).begin(data.n_features)
        ndcg, ap = [], []
        for place in np.random.default_rng(4 + order).permutation(data.n_queries):
            one = data.take([place])
            scores = learner.learn_one_query(one.X, one.y)
            result = rl.evaluate(scores, one, measures=["ndcg@5", "map"])
            ndcg.append(result["ndcg@5"])
            ap.append(result["map"])
        means.append((np.mean(ndcg), np.mean(ap)))
        curves.append(np.cumsum(ap) / np.arange(1, data.n_queries + 1))
    return dict(zip(("ndcg@5", "map"), np.mean(means, axis=0), strict=True)), np.mean(curves, axis=0)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("PRank, pairs", lambda seed: rl.PRank("pairs", seed=seed)),
        ("committee", lambda seed: rl.CommitteePerceptron(20, seed=seed)),
        ("SOLAR-I", lambda seed: rl.SOLAR(order=1, C=1e-5, seed=seed)),
        ("SOLAR-II", lambda seed: rl.SOLAR(gamma=1e4, seed=seed)),
    ],
)
def test_measures_are_those_of_a_stream(data: Any, found: Any, name: str, make: Any) -> None:
    facts = found.to_dict()
    row = next(row for row in facts["learners"] if row["learner"] == name)
    means, curve = twin(data, make)
    assert row["means"] == pytest.approx(means)
    assert row["curve"] == pytest.approx(curve)
    assert facts["curve_at"] == list(range(1, 31))


def test_costs_add_up(found: Any) -> None:
    current = {entry["current"]: entry for entry in found.to_dict()["current"]}
    assert list(current) == ["SOLAR-I", "SOLAR-II", "RankSVM", "LinearSVC"]
    for entry in current.values():
        assert (np.diff(entry["seconds"]) >= 0).all()
    assert current["SOLAR-I"]["queries"] == list(range(1, 31))
    assert current["RankSVM"]["queries"] == [1, 16, 30]
    costs = np.interp(np.arange(1, 31), [1, 16, 30], current["RankSVM"]["costs"])
    assert current["RankSVM"]["seconds"] == pytest.approx([costs[:1].sum(), costs[:16].sum(), costs.sum()])


def test_costs_between_stops_lie_on_a_line() -> None:
    assert module.summed(np.array([1, 3, 5]), np.array([0.0, 2.0, 4.0])).tolist() == [0, 3, 10]
    every = np.array([3.0, 1.0, 2.0])
    assert module.summed(np.arange(1, 4), every).tolist() == np.cumsum(every).tolist()


def test_training_anew_learns_from_all_queries_so_far(data: Any, monkeypatch: Any) -> None:
    seen: list[int] = []
    monkeypatch.setattr(module, "_ranksvm", lambda part: seen.append(part.n_queries))
    settings = {**SETTINGS, "learners": ["SOLAR-I"], "orders": 1, "retrained": ["RankSVM"]}
    rl.experiment("online", data, **settings)
    assert seen == [30, 1, 16, 30]
    seen.clear()
    facts = rl.experiment("online", data, **{**settings, "points": 0}).to_dict()
    assert seen == [30, *range(1, 31)]
    assert [entry["current"] for entry in facts["current"]] == ["SOLAR-I", "RankSVM", "RankSVM, warm"]
    assert len(facts["current"][-1]["costs"]) == 30


def test_published_figures_are_shown_beside_their_data(data: Any, monkeypatch: Any) -> None:
    monkeypatch.setitem(module.PUBLISHED, (data.n_queries, data.n_rows), module.PUBLISHED[784, 15_211])
    settings = {**SETTINGS, "learners": ["SOLAR-II", "SOLAR-II diagonal"], "orders": 1, "retrained": []}
    known = rl.experiment("online", data, **settings)
    headers, rows = known.table()
    assert headers == ["learner", "paper @1", "@5", "@10", "ndcg@5", "map", "CPU s"]
    assert [row[1] for row in rows] == ["0.3594", "-"]
    assert "paper @1" in page({"result": known.to_dict()}).sections[0].parts[0].headers


def test_it_goes_on_where_it_stopped(data: Any, found: Any, tmp_path: Path, monkeypatch: Any) -> None:
    record = tmp_path / "record.json"
    rl.experiment("online", data, **SETTINGS, record=record)
    content = json.loads(record.read_text())
    content["runs"] = [entry for entry in content["runs"] if entry.get("learner") != "committee"]
    record.write_text(json.dumps(content))
    made, ticks = [], []
    original = module._stream
    monkeypatch.setattr(module, "_stream", lambda *given: made.append(given[1:3]) or original(*given))
    again = rl.experiment(
        "online", data, **SETTINGS, record=record, progress=lambda *told: ticks.append(told)
    )
    assert made == [("committee", 0), ("committee", 1)]
    assert ticks == [(number, 12) for number in range(1, 13)]
    assert [row[:-1] for row in again.table()[1]] == [row[:-1] for row in found.table()[1]]


def test_all_queries_of_folds_are_taken_once(data: Any, tmp_path: Path) -> None:
    for fold in (1, 2, 3):
        (tmp_path / f"Fold{fold}").mkdir()
        for place, part in enumerate(("test", "vali", "train")):
            first = 10 * ((fold - 1 + place) % 3)
            rl.write(data.take(np.arange(first, first + 10)), tmp_path / f"Fold{fold}" / f"{part}.txt")
    settings = {"learners": ["SOLAR-I"], "orders": 1, "retrained": []}
    for source in (tmp_path, tmp_path / "Fold2"):
        facts = rl.experiment("online", source, **settings).to_dict()
        assert (facts["queries"], facts["rows"]) == (30, data.n_rows)
    (tmp_path / "Fold2" / "vali.txt").write_bytes((tmp_path / "Fold2" / "test.txt").read_bytes())
    with pytest.raises(rl.InputError, match="is in more than one of the parts"):
        rl.experiment("online", tmp_path / "Fold2", **settings)


def test_what_it_says(found: Any) -> None:
    headers, rows = found.table()
    assert headers == ["learner", "ndcg@5", "map", "CPU s"]
    assert [row[0] for row in rows] == NAMES
    assert "staying current, RankSVM, trained anew after each" in found.note
    assert "times SOLAR-II" in found.note


def test_the_page_has_table_and_figures(found: Any) -> None:
    made = page({"result": found.to_dict()})
    parts = [part for section in made.sections for part in section.parts]
    assert [part.name for part in parts if isinstance(part, Chart)] == ["map-so-far", "cost-so-far"]
    table = next(part for part in parts if isinstance(part, Table))
    for row, column in table.best:
        assert table.rows[row][column] == max(other[column] for other in table.rows)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"learners": ["SOLAR-III"]}, "learners must be of PRank, rows; PRank, pairs"),
        ({"learners": []}, "learners must name at least one"),
        ({"measures": ["mse"]}, "mse has no value for each query"),
        ({"retrained": ["SVM"]}, "retrained must be of RankSVM; LinearSVC"),
        ({"orders": 0}, "orders must be a whole number from 1"),
        ({"C": 0.0}, "C must be a number > 0"),
    ],
)
def test_bad_options_are_named(data: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(rl.InputError, match=words):
        rl.experiment("online", data, **{**SETTINGS, **options})


def test_one_query_is_no_stream(data: Any) -> None:
    with pytest.raises(rl.InputError, match="takes query after query, and the data have 1"):
        rl.experiment("online", data.take([0]))
