"""The alpha protocol: each point is what one gets by hand, and the values are compared with what came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl
from rankloom.experiments import alpha as module
from rankloom.experiments.sources import relabelled
from rankloom.reports.alpha import page
from rankloom.reports.parts import Chart, Table

SETTINGS: dict[str, Any] = {"steps": 3_000, "lam": 1e-3, "alphas": [0, 0.3, 1]}


@pytest.fixture(scope="module")
def parts() -> tuple[rl.RankingData, rl.RankingData]:
    made = rl.make_rcv1(1_500, n_features=300, shares=(0.1,), seed=3).data
    X, y = made.X, made.y
    return rl.RankingData(X[:1000], y[:1000]), rl.RankingData(X[1000:], y[1000:])


@pytest.fixture(scope="module")
def found(parts: Any) -> Any:
    return rl.experiment("alpha", parts[0], test=parts[1], **SETTINGS)


def test_each_point_is_what_one_gets_by_hand(parts: Any, found: Any) -> None:
    train, test = parts
    facts = found.to_dict()
    assert [point["alpha"] for point in facts["points"]] == [0.0, 0.3, 0.5, 1.0]
    for point in facts["points"]:
        model = rl.CRR(point["alpha"], "logistic", lam=1e-3, steps=3_000).fit(train).model_
        scores = model.decision_function(test)
        measured = rl.evaluate(scores, test, measures=["auc-loss", "ndcg"])
        assert point["values"]["auc-loss"] == pytest.approx(measured["auc-loss"])
        assert point["values"]["ndcg"] == pytest.approx(measured["ndcg"])
        assert point["values"]["mse"] == pytest.approx(np.mean((model.predict(test) - test.y) ** 2))


def test_the_best_of_losses_is_the_least(found: Any) -> None:
    facts = found.to_dict()
    assert facts["losses"] == ["mse", "auc-loss"]
    for name in facts["measures"]:
        values = {point["alpha"]: point["values"][name] for point in facts["points"]}
        pick = min if name in facts["losses"] else max
        assert facts["best"][name] == pick(values, key=lambda alpha, v=values: v[alpha])  # type: ignore[misc]


def test_reliability_is_that_of_the_alpha_asked_for(parts: Any) -> None:
    facts = rl.experiment("alpha", parts[0], test=parts[1], **SETTINGS, at=0.3).to_dict()
    assert [point["alpha"] for point in facts["points"]] == [0.0, 0.3, 1.0]
    model = rl.CRR(0.3, "logistic", lam=1e-3, steps=3_000).fit(parts[0]).model_
    curve = rl.reliability_curve(model.predict(parts[1]), parts[1].y)
    assert facts["reliability"]["alpha"] == 0.3
    assert facts["reliability"]["width"]["error"] == pytest.approx(curve.error)
    assert facts["reliability"]["width"]["predicted"] == pytest.approx(curve.predicted)
    assert sum(facts["reliability"]["mass"]["counts"]) == 500


def test_two_labels_of_any_kind_stand_for_0_and_1(parts: Any, found: Any) -> None:
    signs = [relabelled(part, np.where(part.y > 0, 1.0, -1.0)) for part in parts]
    other = rl.experiment("alpha", signs[0], test=signs[1], **SETTINGS)
    assert [point["values"] for point in other.to_dict()["points"]] == [
        point["values"] for point in found.to_dict()["points"]
    ]


def test_other_labels_keep_rows_queries_and_weights() -> None:
    data = rl.RankingData(np.eye(4), [0, 1, 1, 0], ["a", "b", "a", "b"], weights=[1, 2, 3, 4])
    other = relabelled(data, [5, 6, 7, 8])
    assert other.y.tolist() == [5, 6, 7, 8]
    assert (other.qids.tolist(), other.lengths.tolist()) == (["a", "b"], [2, 2])
    assert other.X.tolist() == data.X.tolist()
    assert other.weights.tolist() == data.weights.tolist()


def test_graded_lists_have_no_reliability() -> None:
    data = rl.make_letor(60, seed=1).data
    facts = rl.experiment("alpha", data, steps=500, alphas=[0, 1], lam=1e-3).to_dict()
    assert facts["measures"] == ["mse", "pairwise", "ndcg@10", "map"]
    assert (facts["loss"], facts["reliability"]) == ("squared", None)
    assert len(page({"result": facts}).sections) == 3


def test_it_goes_on_where_it_stopped(parts: Any, found: Any, tmp_path: Path, monkeypatch: Any) -> None:
    record = tmp_path / "record.json"
    rl.experiment("alpha", parts[0], test=parts[1], **SETTINGS, record=record)
    content = json.loads(record.read_text())
    content["runs"].pop(1)
    record.write_text(json.dumps(content))
    made: list[float] = []
    original = module.alpha_sweep
    monkeypatch.setattr(
        module, "alpha_sweep", lambda *given, **more: made.extend(more["alphas"]) or original(*given, **more)
    )
    again = rl.experiment("alpha", parts[0], test=parts[1], **SETTINGS, record=record)
    assert made == [0.3]
    assert again.table() == found.table()


def test_what_it_says(found: Any) -> None:
    headers, rows = found.table()
    assert headers == ["alpha", "mse", "auc-loss", "ndcg"]
    assert [row[0] for row in rows] == ["0", "0.3", "0.5", "1"]
    assert all(sum(row[column].endswith("*") for row in rows) == 1 for column in (1, 2, 3))
    assert "alpha 0.5: calibration error" in str(found)


def test_the_page_has_all_figures(found: Any) -> None:
    made = page({"result": found.to_dict()})
    parts = [part for section in made.sections for part in section.parts]
    charts = {part.name: part for part in parts if isinstance(part, Chart)}
    assert list(charts) == ["alpha-mse", "alpha-auc-loss", "alpha-ndcg", "trade-off", "reliability"]
    assert charts["trade-off"].labels == ["0", "0.3", "0.5", "1"]
    assert charts["reliability"].diagonal
    numbers = next(part for part in parts if isinstance(part, Table))
    assert len(numbers.rows) == 4
    assert len(numbers.best) == 3


def test_curves_are_drawn_against_the_odds_of_alpha() -> None:
    values = {0.0: 9.0, 0.1: 2.0, 0.5: 1.0, 0.9: 2.0, 1.0: 3.0}
    points = [{"alpha": alpha, "values": {"mse": value}, "seconds": 1.0} for alpha, value in values.items()]
    facts = {
        "source": "rows",
        "loss": "squared",
        "lam": 0.1,
        "steps": 10,
        "measures": ["mse"],
        "losses": ["mse"],
    }
    made = page({"result": {**facts, "points": points, "best": {"mse": 0.5}, "reliability": None}})
    (chart,) = made.sections[0].parts
    assert isinstance(chart, Chart)
    assert chart.series[0].x == pytest.approx([1 / 9, 1.0, 9.0])
    assert chart.series[0].y == [2.0, 1.0, 2.0]
    assert chart.lines == [("alpha 1", 3.0)]
    assert "Far away: 9 at alpha 0." in chart.says


def test_generated_data_by_default() -> None:
    facts = rl.experiment("alpha", rows=2_000, steps=100, alphas=[0.5]).to_dict()
    assert facts["rows"] == {"train": 1000, "test": 1000}
    assert facts["source"] == "generated documents, 1% positive"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alphas": []}, "alphas must name at least one number"),
        ({"alphas": [1.5]}, "alphas must be a number from 0 up to 1"),
        ({"measures": []}, "measures must name at least one"),
        ({"measures": ["ndgc"]}, "ndgc"),
        ({"loss": "exp"}, "loss must be one of logistic, squared, hinge"),
        ({"at": -1}, "at must be a number from 0 up to 1"),
        ({"steps": 0}, "steps must be a whole number from 1"),
    ],
)
def test_bad_options_are_named(parts: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(rl.InputError, match=words):
        rl.experiment("alpha", parts[0], test=parts[1], **{**SETTINGS, **options})


def test_a_test_part_without_positives_is_named(parts: Any) -> None:
    negative = relabelled(parts[1], np.zeros(500))
    with pytest.raises(rl.InputError, match="not defined on the test part"):
        rl.experiment("alpha", parts[0], test=negative, **SETTINGS)
