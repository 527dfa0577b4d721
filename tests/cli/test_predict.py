"""rankloom predict, and evaluate and compare of models: the numbers that Python gives, from any data."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom as rl

# Scores of test.txt by f1 - .1 f2 + .75: .9 - .5 + .75 and so on.
WEIGHTS, BIAS = [1.0, -0.1], 0.75
SCORES = [1.15, 0.35, 0.75, 0.45, 1.05]


@pytest.fixture
def model(small: Path, run: Any) -> rl.LinearModel:
    """model.rank, which knows no names, and named.rank, whose columns are those of test.csv."""
    run("convert test.txt test.csv")
    rl.LinearModel(WEIGHTS, BIAS).save("model.rank")
    rl.LinearModel(WEIGHTS, BIAS, feature_names=["f0", "f1"]).save("named.rank")
    return rl.load("model.rank")


def numbers(text: str) -> list[float]:
    return [float(line) for line in text.splitlines()]


def test_one_number_a_line(run: Any, model: Any) -> None:
    done = run("predict model.rank test.txt")
    assert numbers(done.stdout) == pytest.approx(SCORES, rel=1e-6)
    assert numbers(done.stdout) == model.predict(rl.read("test.txt")).tolist()
    assert done.stderr == ""


def test_to_a_file_for_evaluate_to_read(run: Any, run_json: Any, model: Any) -> None:
    done = run("predict model.rank test.txt --out p.txt")
    assert (done.stdout, done.stderr) == ("", "rankloom: wrote p.txt: 5 rows\n")
    assert numbers(Path("p.txt").read_text()) == model.predict(rl.read("test.txt")).tolist()
    expected = run_json("evaluate p.txt test.txt")["measures"]
    assert run_json("evaluate model.rank test.txt")["measures"] == expected
    run("predict model.rank test.txt --out p.txt.gz")
    assert gzip.decompress(Path("p.txt.gz").read_bytes()) == Path("p.txt").read_bytes()


def test_as_json(run_json: Any, model: Any) -> None:
    found = run_json("predict model.rank test.txt")
    assert found == {
        "model": "model.rank", "data": "test.txt", "output": "-", "rows": 5,
        "values": model.predict(rl.read("test.txt")).tolist(),
    }  # fmt: skip
    assert "scores" in run_json("predict model.rank test.txt --scores")
    found = run_json("predict model.rank test.txt --out p.txt")
    assert found == {"model": "model.rank", "data": "test.txt", "output": "p.txt", "rows": 5}


def test_values_or_raw_scores(run: Any, run_json: Any, small: Path) -> None:
    """With weight 1 on f1 alone and a logistic link from 0 to 2: 2 / (1 + exp(-f1))."""
    rl.LinearModel([1.0, 0.0], link="logistic", target_range=(0, 2)).save("model.rank")
    values = numbers(run("predict model.rank test.txt").stdout)
    assert values == pytest.approx([2 / (1 + math.exp(-x)) for x in (0.9, 0.1, 0.5, 0.2, 0.8)])
    assert numbers(run("predict model.rank test.txt --scores").stdout) == pytest.approx(
        [0.9, 0.1, 0.5, 0.2, 0.8]
    )
    labels = np.array([2, 0, 1, 1, 0])
    found = run_json("evaluate model.rank test.txt -m mse,ndcg@10,pairwise")["measures"]
    assert list(found) == ["mse", "ndcg@10", "pairwise"]
    assert found["mse"] == pytest.approx(np.mean((values - labels) ** 2))
    assert found["ndcg@10"] == run_json("evaluate scores.txt test.txt -m ndcg@10")["measures"]["ndcg@10"]


@pytest.mark.parametrize("data", ["test.txt.gz", "test.csv", "test.parquet", "test.store", "-"])
@pytest.mark.parametrize("name", ["model.rank", "named.rank"])
def test_any_data(run: Any, run_json: Any, model: Any, data: str, name: str) -> None:
    stdin = Path("test.txt").read_bytes() if data == "-" else None
    if data not in ("-", "test.csv"):
        run(f"convert test.txt {data}")
    assert run(f"predict {name} {data}", stdin=stdin).stdout == run("predict model.rank test.txt").stdout
    found = run_json(f"evaluate {name} {data} -m map", stdin=stdin)["measures"]
    assert found == run_json("evaluate model.rank test.txt -m map")["measures"]


def test_tables_need_neither_labels_nor_queries_nor_an_order(run: Any, model: Any) -> None:
    expected = run("predict model.rank test.txt").stdout
    table = rl.read("test.csv")
    rows = [f"{high:g},{low:g}" for low, high in np.asarray(table.X).tolist()]
    Path("bare.csv").write_text("\n".join(["f1,f0", *rows]))
    assert numbers(run("predict named.rank bare.csv").stdout) == pytest.approx(numbers(expected), rel=1e-6)
    Path("more.csv").write_text("\n".join(["f1,f0,label,note", *(f"{row},,x" for row in rows)]))
    assert run("predict named.rank more.csv").stdout == run("predict named.rank bare.csv").stdout
    rows = [f"{low:g},{high:g}" for low, high in np.asarray(table.X).tolist()]
    Path("unnamed.csv").write_text("\n".join(["a,b", *rows]))
    assert numbers(run("predict model.rank unnamed.csv").stdout) == pytest.approx(numbers(expected), rel=1e-6)


def test_rows_come_in_the_order_of_the_file(run: Any, small: Path) -> None:
    rl.LinearModel([1.0]).save("model.rank")
    Path("mixed.txt").write_text("0 qid:b 1:1\n0 qid:a 1:2\n0 qid:b 1:3\n")
    assert numbers(run("predict model.rank mixed.txt").stdout) == [1.0, 2.0, 3.0]


def test_text_has_as_many_features_as_the_model(run: Any, complain: Any, small: Path) -> None:
    rl.LinearModel([1.0, 2.0, 4.0]).save("model.rank")
    assert numbers(run("predict model.rank -", stdin="0 qid:1 1:1\n0 qid:1 2:1\n").stdout) == [1.0, 2.0]
    assert "standard input:1:" in complain("predict model.rank -", stdin="0 qid:1 4:1\n")


def test_models_among_rankings_to_compare(run: Any, run_json: Any, model: Any) -> None:
    """A model ranks as the file of its predictions does."""
    run("predict model.rank test.txt --out p.txt")
    with_model = run_json("compare scores.txt model.rank test.txt -m ndcg@10,map")["rows"]
    with_file = run_json("compare scores.txt p.txt test.txt -m ndcg@10,map")["rows"]
    names = ("a", "b", "summary")
    assert [without(row, names) for row in with_model] == [without(row, names) for row in with_file]
    assert [row["b"] for row in with_model] == ["model", "model"]


def without(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def test_values_stand_for_scores_in_compare_unless_they_tie(
    run: Any, run_json: Any, complain: Any, small: Path
) -> None:
    rl.LinearModel([1.0, 0.0], link="logistic").save("model.rank")
    run("predict model.rank test.txt --out p.txt")
    names = ("a", "b", "summary")
    rows = run_json("compare scores.txt model.rank test.txt -m mse,map")["rows"]
    expected = run_json("compare scores.txt p.txt test.txt -m mse,map")["rows"]
    assert [without(row, names) for row in rows] == [without(row, names) for row in expected]
    rl.LinearModel([1000.0, 0.0], link="logistic").save("steep.rank")
    told = complain("compare scores.txt steep.rank test.txt -m mse,map")
    assert "ask for mse, logloss and ece by themselves" in told
    run_json("compare scores.txt steep.rank test.txt -m mse")
    assert run_json("evaluate steep.rank test.txt -m mse,map")["measures"]["map"] == 0.75


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("predict missing.rank test.txt", "missing.rank: no such file"),
        (
            "predict test.txt test.txt",
            "test.txt is no model: it does not start as a file that rankloom saved",
        ),
        ("predict - test.txt", "a model must be a file, got -"),
        ("predict model.rank missing.txt", "missing.txt: no such file"),
        ("predict model.rank test.txt --out test.txt", "test.txt is one of the inputs"),
        ("predict model.rank test.txt --out model.rank --force", "model.rank is one of the inputs"),
        ("predict model.rank test.txt --out scores.txt", "scores.txt is there already"),
        ("predict model.rank test.txt --out no/p.txt", "the folder"),
        ("predict half.rank test.txt", "the model half.rank is damaged"),
        ("predict other.zip test.txt", "other.zip is no model"),
        ("predict wide.rank test.csv", "the model has 3 features, the data 2"),
        ("predict strange.rank test.csv", "'x'"),
        ("predict model.rank test.txt --label y", "label is no option for text"),
        ("evaluate half.rank test.txt", "the model half.rank is damaged"),
        ("evaluate model.rank qrels.txt", "qrels.txt has judgements without; give the data"),
        ("evaluate model.rank test.txt --complete", "--complete is for runs and judgements"),
        ("evaluate model.rank bare.csv", "no label column"),
        ("compare scores.txt model.rank qrels.txt", "qrels.txt has judgements without; give the data"),
    ],
)
def test_what_cannot_be_predicted(complain: Any, model: Any, line: str, told: str) -> None:
    Path("half.rank").write_bytes(Path("model.rank").read_bytes()[:200])
    Path("other.zip").write_bytes(b"PK\x03\x04" + bytes(100))
    Path("qrels.txt").write_text("7 0 a 2\n7 0 b 0\n")
    Path("bare.csv").write_text("f0,f1\n1,2\n")
    rl.LinearModel([1.0, 2.0, 3.0]).save("wide.rank")
    rl.LinearModel([1.0, 2.0], feature_names=["f0", "x"]).save("strange.rank")
    assert told in complain(line)
