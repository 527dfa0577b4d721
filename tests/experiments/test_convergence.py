"""The convergence protocol: the objective is that of the model, the optimum is least, and it goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl
from rankloom.experiments import convergence as module
from rankloom.reports.convergence import page
from rankloom.reports.parts import Chart, Table

STEPS = 3_000


@pytest.fixture(scope="module")
def parts() -> tuple[rl.RankingData, rl.RankingData]:
    data = rl.make_letor(60, seed=2).data
    return data.take(slice(0, 40)), data.take(slice(40, 60))


@pytest.fixture(scope="module")
def found(parts: Any) -> Any:
    return rl.experiment("convergence", parts[0], test=parts[1], steps=STEPS, lam=0.01, seed=3)


def test_the_objective_is_that_of_the_model(parts: Any, found: Any) -> None:
    facts = found.to_dict()
    for curve in facts["curves"]:
        for place, step in ((0, 100), (-1, STEPS)):
            settings = dict(curve["parameters"])
            if "early" in settings:
                settings["early"] = min(1000 / step, 1.0)
            model = rl.SPD(steps=step, lam=0.01, seed=3, **settings).fit(parts[0]).model_
            for name, data in zip(("train", "test"), parts, strict=True):
                exact = 0.01 * rl.objective(model, data, C=100.0, loss="l1", normalize="pairs")
                assert curve["steps"][place] == step
                assert curve[name][place] == pytest.approx(exact)


def test_nothing_is_below_the_optimum_and_the_best_are_near_it(found: Any) -> None:
    facts = found.to_dict()
    least = facts["optimum"]["train"]
    assert all(value >= least * (1 - 1e-4) for curve in facts["curves"] for value in curve["train"])
    ends = {curve["learner"]: curve["train"][-1] for curve in facts["curves"]}
    assert ends["pegasos"] < 1.05 * least
    assert ends["romma"] > 1.5 * least


def test_time_goes_on(found: Any) -> None:
    for curve in found.to_dict()["curves"]:
        assert len(curve["seconds"]) == len(curve["steps"]) == len(module.marks(STEPS))
        assert (np.diff(curve["seconds"]) >= 0).all()
        assert curve["seconds"][0] > 0


def test_lam_is_chosen_on_the_validation_part(parts: Any) -> None:
    vali = rl.make_letor(30, seed=5).data
    chosen = rl.experiment("convergence", parts[0], test=parts[1], vali=vali, steps=100, learners=["sgd"])
    values = [
        rl.evaluate(
            rl.RankSVM(C=1 / lam, loss="l1", normalize="pairs").fit(parts[0]).decision_function(vali),
            vali,
            measures="map",
        )["map"]
        for lam in module.LAMS
    ]
    facts = chosen.to_dict()
    assert facts["lam_chosen_by"]["measure"] == "map"
    assert facts["lam"] in module.LAMS
    assert values[module.LAMS.index(facts["lam"])] == pytest.approx(max(values), abs=0.005)
    assert "as chosen by MAP" in chosen.note


def test_it_goes_on_where_it_stopped(parts: Any, found: Any, tmp_path: Path, monkeypatch: Any) -> None:
    record, ticks = tmp_path / "record.json", []
    settings = {"test": parts[1], "steps": STEPS, "lam": 0.01, "seed": 3, "record": record}
    rl.experiment("convergence", parts[0], **settings)
    content = json.loads(record.read_text())
    content["runs"] = content["runs"][:-2]
    record.write_text(json.dumps(content))
    made: list[str] = []
    original = module._Curve.__call__
    monkeypatch.setattr(
        module._Curve, "__call__", lambda self: made.append(self._parameters["learner"]) or original(self)
    )
    again = rl.experiment(
        "convergence", parts[0], **settings, progress=lambda done, total: ticks.append((done, total))
    )
    assert made == ["combined", "combined"]
    assert ticks == [(number, 9) for number in range(1, 10)]
    same = [[curve["train"] for curve in one.to_dict()["curves"]] for one in (again, found)]
    assert same[0] == same[1]
    with pytest.raises(rl.InputError, match="record of another experiment: steps 3000, where it is 100 now"):
        rl.experiment("convergence", parts[0], **{**settings, "steps": 100})


def test_what_it_says(found: Any) -> None:
    headers, rows = found.table()
    assert headers[0] == "steps"
    assert [row[0] for row in rows] == ["100", "1,000", "3,000", "CPU s"]
    assert all(len(row) == len(headers) == 10 for row in rows)
    assert str(found).splitlines()[-1].startswith("given data, lam = 0.01, as given")
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


def test_the_page_shows_both_panels(found: Any) -> None:
    made = page({"result": found.to_dict()})
    charts = [part for section in made.sections for part in section.parts if isinstance(part, Chart)]
    tables = [part for section in made.sections for part in section.parts if isinstance(part, Table)]
    assert [chart.name for chart in charts] == ["above-the-optimum", "objective-train", "objective-test"]
    best, curves = found.to_dict()["optimum"]["train"], found.to_dict()["curves"]
    for series, curve in zip(charts[0].series, curves, strict=True):
        expected = [value - best if value - best <= 10.0 else None for value in curve["train"]]
        assert series.y == pytest.approx(expected)
    assert all(len(series.x) == len(series.y) for chart in charts for series in chart.series)
    assert tables[0].rows[-1][0] == "exact optimum (RankSVM)"
    assert len(tables[0].rows) == 10


def test_generated_data_by_default() -> None:
    facts = rl.experiment("convergence", steps=100, learners=["pegasos"]).to_dict()
    assert (facts["source"], facts["lam"]) == ("generated lists", 0.001)
    assert [curve["learner"] for curve in facts["curves"]] == ["pegasos, paper's rate", "pegasos"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"learners": ["perceptron"]}, "learners must be of sgd, pegasos"),
        ({"learners": []}, "learners must name at least one"),
        ({"steps": 10}, "steps must be a whole number from 100"),
        ({"lam": 0.0}, "lam must be a number > 0"),
        ({"caps": [-1.0]}, "caps must be a number > 0"),
        ({"alphas": [0.5]}, "alphas is no option of convergence; its options are test, vali, fold, steps"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(rl.InputError, match=words):
        rl.experiment("convergence", **options)


def test_data_without_pairs_are_refused() -> None:
    alike = rl.RankingData(np.ones((6, 2)), np.zeros(6), [0, 0, 1, 1, 2, 2])
    with pytest.raises(rl.InputError, match="nothing to learn a ranking from"):
        rl.experiment("convergence", alike, test=alike)
    with pytest.raises(rl.InputError, match="protocol must be one of letor, convergence"):
        rl.experiment("convergance")
