"""The scaling protocol: sizes are whole queries, exponents are slopes, nothing is timed twice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl
from rankloom.experiments import scaling as module
from rankloom.rankers.methods import METHODS
from rankloom.reports.parts import Chart, Table
from rankloom.reports.scaling import page

SETTINGS: dict[str, Any] = {"sizes": [100, 200, 400], "methods": ["prank", "solar"]}


@pytest.fixture(scope="module")
def data() -> rl.RankingData:
    return rl.make_letor(60, seed=2).data


@pytest.fixture(scope="module")
def found(data: Any) -> Any:
    return rl.experiment("scaling", data, **SETTINGS)


def test_the_exponent_is_the_slope() -> None:
    rows = [10, 40, 160]
    assert module.exponent(rows, [3.0 * n**1.5 for n in rows]) == pytest.approx(1.5)
    assert module.exponent(rows, [2.0] * 3) == pytest.approx(0.0)
    noisy = [1.0, 5.0, 7.0]
    assert module.exponent(rows, noisy) == pytest.approx(np.polyfit(np.log(rows), np.log(noisy), 1)[0])


def test_sizes_are_whole_queries_each_within_the_next(data: Any, found: Any) -> None:
    sizes = found.to_dict()["sizes"]
    for size, wanted in zip(sizes, SETTINGS["sizes"], strict=True):
        assert wanted <= size["rows"] < wanted + data.lengths.max()
    parts = module._subsets(data, SETTINGS["sizes"], 0)
    qids = [set(part.qids) for part in parts.values()]
    assert qids[0] < qids[1] < qids[2]
    assert [len(one) for one in qids] == [size["queries"] for size in sizes]


def test_each_method_is_timed_at_each_size(found: Any) -> None:
    for row in found.to_dict()["methods"]:
        assert len(row["seconds"]) == len(row["rows"]) == 3
        assert min(row["seconds"]) > 0
        assert row["exponent"] == pytest.approx(module.exponent(row["rows"], row["seconds"]))


def test_every_method_has_settings_that_work(data: Any) -> None:
    assert set(module.SETTINGS) == set(METHODS)
    facts = rl.experiment(
        "scaling", data, sizes=[100, 400], methods=["spd", "crr", "pointwise", "ranksvm"]
    ).to_dict()
    assert [row["settings"] for row in facts["methods"]] == [
        dict(module.SETTINGS[name]) for name in ("spd", "crr", "pointwise", "ranksvm")
    ]


def test_the_least_of_some_runs_counts_and_the_first_does_not(data: Any, monkeypatch: Any) -> None:
    fits: list[int] = []
    clock = iter([0.0, 0.4, 1.0, 1.3, 2.0, 2.5])
    monkeypatch.setattr(module.time, "process_time", lambda: next(clock))
    monkeypatch.setattr(rl.PRank, "fit", lambda self, part: fits.append(part.n_rows) or self)
    found = module._timed("prank", {}, data)
    assert found == {"rows": data.n_rows, "seconds": pytest.approx(0.3)}
    assert len(fits) == 4


def test_one_thread_is_used_and_the_setting_comes_back(monkeypatch: Any) -> None:
    for before in ("7", None):
        if before is None:
            monkeypatch.delenv("RANKLOOM_THREADS", raising=False)
        else:
            monkeypatch.setenv("RANKLOOM_THREADS", before)
        with module.one_thread():
            assert os.environ["RANKLOOM_THREADS"] == "1"
        assert os.environ.get("RANKLOOM_THREADS") == before


def test_it_goes_on_where_it_stopped(data: Any, tmp_path: Path, monkeypatch: Any) -> None:
    record, ticks = tmp_path / "record.json", []
    first = rl.experiment("scaling", data, **SETTINGS, record=record)
    content = json.loads(record.read_text())
    gone = content["runs"].pop(1)
    record.write_text(json.dumps(content))
    made = []
    original = module._timed
    monkeypatch.setattr(
        module,
        "_timed",
        lambda name, how, part: made.append((name, part.n_rows)) or original(name, how, part),
    )
    again = rl.experiment(
        "scaling", data, **SETTINGS, record=record, progress=lambda *told: ticks.append(told)
    )
    assert made == [("prank", gone["rows"])]
    assert ticks[-1] == (6, 6)
    assert again.table()[1][1] == first.table()[1][1]


def test_what_it_says(found: Any) -> None:
    headers, rows = found.table()
    assert headers[0] == "method"
    assert headers[-1] == "exponent"
    assert [row[0] for row in rows] == ["prank", "solar"]
    assert found.note.startswith("CPU seconds of training on given data")


def test_the_page(found: Any) -> None:
    made = page({"result": found.to_dict()})
    parts = [part for section in made.sections for part in section.parts]
    (chart,) = [part for part in parts if isinstance(part, Chart)]
    assert (chart.x_log, chart.y_log, len(chart.series)) == (True, True, 2)
    assert [len(part.rows) for part in parts if isinstance(part, Table)] == [2, 2]


def test_sizes_by_default(data: Any) -> None:
    assert module._sizes(None, None) == list(module.SIZES)
    assert module._sizes(None, 1600) == [100, 400, 1600]
    assert module._sizes(None, 10**6) == list(module.SIZES)
    facts = rl.experiment("scaling", sizes=[50, 100], methods=["prank"]).to_dict()
    assert facts["source"] == "generated lists"
    assert facts["sizes"][1]["rows"] >= 100


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sizes": [100]}, "sizes must be two or more different numbers"),
        ({"sizes": [100, 10**7]}, "sizes go up to 10,000,000 rows, and the data have"),
        ({"sizes": [100, 101]}, "sizes must differ by whole queries"),
        ({"methods": ["svm"]}, "methods must be of spd"),
        ({"methods": []}, "methods must name at least one"),
    ],
)
def test_bad_options_are_named(data: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(rl.InputError, match=words):
        rl.experiment("scaling", data, **{**SETTINGS, **options})
