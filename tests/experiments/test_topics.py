"""The topics protocol: losses are those one gets by hand, tests are Wilcoxon's, nothing is made twice."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import wilcoxon

import rankloom as rl
from rankloom.experiments import topics as module
from rankloom.experiments.sources import cut_rows, rows_of
from rankloom.reports.parts import Chart, Table
from rankloom.reports.topics import page

LAMS = (1e-4, 1e-2)
SETTINGS: dict[str, Any] = {"steps": 2_000, "lams": LAMS, "min_positives": 5}


def text_of(data: rl.RankingData, labels: Any) -> str:
    lines = []
    for i, topics in enumerate(labels):
        row = data.features.rows(i, i + 1)
        values = " ".join(f"{c + 1}:{v}" for c, v in zip(row.columns, row.values, strict=True))
        lines.append(",".join(map(str, topics)) + " " + values)
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory: Any) -> Path:
    """Four topics, of which one is in training rows only, one in one of them, and some rows in none."""
    place: Path = tmp_path_factory.mktemp("corpus")
    made = rl.make_rcv1(600, n_features=300, shares=(0.05, 0.2, 0.4), seed=3)
    y = np.array([made.topic(topic).data.y for topic in range(3)], dtype=int)
    labels = [np.flatnonzero(y[:, row]).tolist() for row in range(600)]
    for row in range(0, 400, 20):
        labels[row].append(7)
    labels[5].append(8)
    rows = np.arange(600)
    for name, part in (("train", rows[:400]), ("test", rows[400:])):
        (place / f"{name}.svm").write_text(text_of(rows_of(made.data, part), [labels[row] for row in part]))
    (place / "names.txt").write_text("0 rare\n1 some\n2 many\n7 gone\n8 once\n")
    return place


@pytest.fixture(scope="module")
def found(files: Path) -> Any:
    options = {"test": files / "test.svm", "names": files / "names.txt", **SETTINGS}
    return rl.experiment("topics", files / "train.svm", **options, record=files / "record.json")


def by_hand(
    train: rl.RankingData, test: rl.RankingData, alpha: float, choose: Any
) -> tuple[float, float, float]:
    kept, held = cut_rows(train.y, 0.2, 0)
    vali = rows_of(train, held)
    losses = []
    for lam in LAMS:
        model = rl.CRR(alpha, "logistic", lam=lam, steps=2_000).fit(rows_of(train, kept)).model_
        losses.append(measured(model, vali))
    lam = LAMS[int(np.argmin([choose(losses, one) for one in losses]))]
    return (*measured(rl.CRR(alpha, "logistic", lam=lam, steps=2_000).fit(train).model_, test), lam)


def measured(model: Any, data: rl.RankingData) -> tuple[float, float]:
    auc = rl.evaluate(model.decision_function(data), data, measures="auc-loss")["auc-loss"]
    return float(auc), float(np.mean((model.predict(data) - data.y) ** 2))


def test_losses_are_what_one_gets_by_hand(files: Path, found: Any) -> None:
    train = rl.read_topics(files / "train.svm", names=files / "names.txt")
    test = rl.read_topics(files / "test.svm", train.data.n_features, names=files / "names.txt")
    choices = {
        "regression": (1.0, lambda _, one: one[1]),
        "ranking": (0.0, lambda _, one: one[0]),
        "crr": (
            0.5,
            lambda all_, one: one[0] / min(a for a, _ in all_) + one[1] / min(b for _, b in all_),
        ),
    }
    for row in found.to_dict()["topics"]:
        for method, (alpha, choose) in choices.items():
            expected = by_hand(train.topic(row["topic"]), test.topic(row["topic"]), alpha, choose)
            there = row["methods"][method]
            assert (there["auc-loss"], there["mse"], there["lam"]) == pytest.approx(expected)


def test_topics_are_those_with_enough_positives(files: Path, found: Any) -> None:
    facts = found.to_dict()
    assert [row["topic"] for row in facts["topics"]] == ["rare", "some", "many"]
    assert facts["left_out"] == 2
    train = rl.read_topics(files / "train.svm", names=files / "names.txt")
    for row in facts["topics"]:
        assert row["share"] == pytest.approx(train.labels(row["topic"]).mean())
        assert row["positives"][0] == train.labels(row["topic"]).sum()
    few = rl.experiment(
        "topics", files / "train.svm", test=files / "test.svm", **{**SETTINGS, "min_share": 0.3, "steps": 10}
    )
    assert [row["topic"] for row in few.to_dict()["topics"]] == ["2"]


def test_tests_are_wilcoxons(found: Any) -> None:
    facts = found.to_dict()
    assert {(one["method"], one["against"], one["measure"]) for one in facts["tests"]} == {
        ("ranking", "regression", "auc-loss"),
        ("regression", "ranking", "mse"),
        ("crr", "ranking", "auc-loss"),
        ("crr", "regression", "mse"),
    }
    for one in facts["tests"]:
        rows = [
            row["methods"] for row in facts["topics"] if one["below"] is None or row["share"] < one["below"]
        ]
        ours, theirs = (
            np.array([row[name][one["measure"]] for row in rows]) for name in (one["method"], one["against"])
        )
        assert one["p"] == pytest.approx(wilcoxon(ours, theirs).pvalue)
        assert (one["better"], one["of"]) == ((ours < theirs).sum(), len(rows))


def test_both_counts_to_three_decimals() -> None:
    def row(auc: float, mse: float) -> dict[str, Any]:
        losses = {"regression": (0.9, 0.0104), "ranking": (0.0104, 0.9), "crr": (auc, mse)}
        return {"methods": {name: {"auc-loss": a, "mse": b} for name, (a, b) in losses.items()}}

    rows = [row(0.0104, 0.0104), row(0.01049, 0.0104), row(0.0106, 0.01), row(0.01, 0.0111)]
    assert module._both(rows, module.METHODS) == {"crr": 2}
    assert module._both(rows, ("crr", "ranking")) == {}


def test_it_goes_on_where_it_stopped(files: Path, found: Any, tmp_path: Path, monkeypatch: Any) -> None:
    content = json.loads((files / "record.json").read_text())
    content["runs"] = [entry for entry in content["runs"] if entry["topic"] != "some"]
    (tmp_path / "record.json").write_text(json.dumps(content))
    made, ticks = [], []
    original = module._losses
    monkeypatch.setattr(
        module, "_losses", lambda material, topic, how: made.append(topic) or original(material, topic, how)
    )
    again = rl.experiment(
        "topics", files / "train.svm", test=files / "test.svm", names=files / "names.txt", **SETTINGS,
        record=tmp_path / "record.json", progress=lambda *told: ticks.append(told),
    )  # fmt: skip
    assert len(made) == 1
    assert ticks == [(1, 3), (2, 3), (3, 3)]
    first, second = (copy.deepcopy(one.to_dict()) for one in (again, found))
    for facts in (first, second):
        for row in facts["topics"]:
            for losses in row["methods"].values():
                losses.pop("seconds", None)
    assert first["topics"] == second["topics"]


def test_what_it_says(found: Any) -> None:
    headers, rows = found.table()
    assert headers == ["topic", "positive"] + [
        text for method in module.METHODS for text in (f"{method} AUC loss", "MSE")
    ]
    assert [row[0] for row in rows] == ["rare", "some", "many"]
    assert found.note.endswith("not asked for: 2")
    assert "crr has the best of both, to three decimals, on" in str(found)


def test_the_page_has_table_and_figures(found: Any) -> None:
    made = page({"result": found.to_dict()})
    parts = [part for section in made.sections for part in section.parts]
    assert [part.name for part in parts if isinstance(part, Chart)] == ["topics-auc-loss", "topics-mse"]
    table = next(part for part in parts if isinstance(part, Table))
    assert len(table.rows) == 3
    assert {row for row, _ in table.best} == {0, 1, 2}
    for row, column in table.best:
        values = [round(table.rows[row][place], 3) for place in range(column % 2 + 2, 8, 2)]
        assert round(table.rows[row][column], 3) == min(values)


def test_a_page_of_one_method_has_no_comparison(found: Any) -> None:
    facts = copy.deepcopy(found.to_dict())
    facts |= {"methods": ["crr"], "tests": [], "both": {}}
    made = page({"result": facts})
    assert [section.title for section in made.sections] == [
        "Topics", "Tests over the topics", "What was chosen, and what it cost",
    ]  # fmt: skip
    assert not [part for section in made.sections for part in section.parts if isinstance(part, Chart)]


def test_generated_topics() -> None:
    facts = rl.experiment(
        "topics", rows=2_000, steps=500, lams=[1e-4], methods=["crr", "crr-twice"]
    ).to_dict()
    assert facts["source"] == "generated documents"
    assert facts["rows"] == {"train": 1400, "test": 600}
    assert facts["topics"][0]["topic"] == "made 2.00%"
    assert facts["tests"] == []
    assert facts["published"]["both"] == {"reached": 16, "of": 40}


def test_a_part_of_the_rows_tests_where_no_test_part_is_given(files: Path) -> None:
    train = rl.read_topics(files / "train.svm")
    facts = rl.experiment("topics", train, topics=["2"], steps=10).to_dict()
    assert facts["rows"] == {"train": 280, "test": 120}
    assert sum(facts["topics"][0]["positives"]) == train.labels("2").sum()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"topics": ["wheat"]}, "there is no topic 'wheat'; topics are rare, some, many, gone, once"),
        ({"topics": ["gone"]}, "topic gone has 0 positive rows in the test part, and needs 1"),
        ({"topics": ["once"]}, "topic once has 1 positive rows in the train part, and needs 2"),
        ({"topics": []}, "topics must name at least one"),
        ({"min_positives": 1000}, "no topic has 1000 positive training rows"),
        ({"methods": ["svm"]}, "methods must be one of regression"),
        ({"lams": []}, "at least one each"),
        ({"alpha": 2.0}, "alpha must be a number from 0 up to 1"),
    ],
)
def test_bad_input_is_named(files: Path, options: dict[str, Any], words: str) -> None:
    given = {"test": files / "test.svm", "names": files / "names.txt", **SETTINGS, **options}
    with pytest.raises(rl.InputError, match=words):
        rl.experiment("topics", files / "train.svm", **given)


def test_empty_parts_are_named(files: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.svm").write_text("")
    with pytest.raises(rl.InputError, match="no rows: the text is empty"):
        rl.experiment("topics", tmp_path / "empty.svm")
    with pytest.raises(rl.InputError, match="no rows: the text is empty"):
        rl.experiment("topics", files / "train.svm", test=tmp_path / "empty.svm")
    with pytest.raises(rl.InputError, match="need a source"):
        rl.experiment("topics", test=files / "test.svm")
