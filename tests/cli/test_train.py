"""rankloom train: a model in a file, with all that is to be known of it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import rankloom as rl

QUICK = "--set steps=2000"


@pytest.fixture
def files(tmp_path: Path) -> rl.RankingData:
    """train.txt, and vali.txt with fewer features than it has: none uses the last ones."""
    data = rl.make_letor(40, seed=1).data
    train, vali = data.take(slice(0, 30)), data.take(slice(30, 40))
    rl.write(train, tmp_path / "train.txt", zeros=False)
    rl.write(vali, tmp_path / "vali.txt", zeros=False)
    return train


def test_what_a_person_sees(run: Any, files: Any) -> None:
    done = run(f"train spd train.txt --valid vali.txt --model m.rank {QUICK} -m ndcg@10,map")
    head, _, first, second = done.stdout.splitlines()
    assert head.split() == ["measure", "train", "valid"]
    assert (first.split()[0], second.split()[0]) == ("ndcg@10", "map")
    assert done.stderr.startswith("rankloom: wrote m.rank: spd learned from 30 queries, ")
    model = rl.load("m.rank")
    found = rl.evaluate(model.predict(rl.read("train.txt", n_features=46)), rl.read("train.txt"))
    assert first.split()[1] == f"{found['ndcg@10']:.4f}"


def test_what_a_program_sees_is_what_the_file_holds(run_json: Any, files: rl.RankingData) -> None:
    found = run_json(
        f"train crr train.txt --valid vali.txt --model m.rank {QUICK} --set alpha=0.25 --seed 7 -m mse"
    )
    about = rl.load("m.rank").about
    assert {name: found[name] for name in about} == about
    assert set(found) - set(about) == {"model", "seconds"}
    assert found["method"] == "crr"
    assert (found["parameters"]["alpha"], found["parameters"]["seed"]) == (0.25, 7)
    data = rl.read("train.txt")
    assert about["data"] == {
        "rows": data.n_rows, "queries": 30, "features": data.n_features, "fingerprint": data.fingerprint(),
    }  # fmt: skip
    assert set(about["measures"]) == {"train", "valid"}
    valid = rl.read("vali.txt", n_features=data.n_features)
    expected = rl.evaluate(rl.load("m.rank").predict(valid), valid, measures="mse")["mse"]
    assert about["measures"]["valid"]["mse"] == pytest.approx(expected, rel=1e-12)
    assert set(about["versions"]) >= {"rankloom", "python", "numpy", "numba"}


def test_a_path_keeps_the_best_by_held_out_data(run: Any, files: Any) -> None:
    done = run("train ranksvm train.txt --valid vali.txt --model m.rank --path -m pairwise,map")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["C", "pairwise", "map", "iterations", "residual"]
    assert (lines[2][0], lines[27][0]) == ("2^-15", "2^10")
    best = max(lines[2:28], key=lambda line: float(line[1]))
    about = rl.load("m.rank").about
    assert about["parameters"]["C"] == about["solver"]["C"] == 2.0 ** float(best[0][2:])
    assert f"{about['measures']['valid']['pairwise']:.4f}" == best[1]
    assert f"C={about['solver']['C']:g}: objective " in done.stderr
    assert f"residual {about['solver']['residual']:.1e} after" in done.stderr


@pytest.mark.parametrize("method", ["lambdamart", "lambdarank"])
def test_rankers_that_watch_are_given_the_validation_data(run: Any, files: Any, method: str) -> None:
    size = {"lambdamart": "n_trees", "lambdarank": "epochs"}[method]
    options = f"--set measure=map --set stop_measure=ndcg@5 --set {size}=15 --set patience=3"
    run(f"train {method} train.txt --valid vali.txt --model m.rank {options} -m ndcg@5")
    train = rl.read("train.txt")
    ranker = {"lambdamart": rl.LambdaMART, "lambdarank": rl.LambdaRank}[method]("map", stop_measure="ndcg@5")
    ranker.set_params(**{size: 15}, patience=3)
    ranker.fit(train, valid=rl.read("vali.txt", n_features=train.n_features))
    scores = rl.load("m.rank").decision_function(train)
    assert scores.tolist() == ranker.decision_function(train).tolist()
    assert rl.load("m.rank").about["measures"]["valid"]["ndcg@5"] == pytest.approx(ranker.curve_.max())


def test_a_base_model_is_named_by_its_file(run: Any, complain: Any, files: Any) -> None:
    run(f"train spd train.txt --model base.rank {QUICK}")
    run("train lambdamart train.txt --model m.rank --set base=base.rank --set n_trees=3")
    assert rl.load("m.rank").base == rl.load("base.rank")
    said = complain("train lambdamart train.txt --model n.rank --set base=base.rank --set patience=3")
    assert said.startswith("patience=3 needs validation data")


def test_the_command_line_learns_what_python_learns(run: Any, files: Any) -> None:
    run("train spd train.txt --model m.rank --set steps=3000 --set lam=1e-3 --set average=true --seed 5")
    ranker = rl.SPD(steps=3000, lam=1e-3, average=True, seed=5).fit(rl.read("train.txt"))
    assert rl.load("m.rank").weights.tolist() == ranker.model_.weights.tolist()


def test_the_same_command_writes_the_same_bytes(run: Any, files: Any) -> None:
    for name in ("a.rank", "b.rank"):
        run(f"train spd train.txt --model {name} {QUICK} --threads {1 if name == 'a.rank' else 3}")
    assert Path("a.rank").read_bytes() == Path("b.rank").read_bytes()


@pytest.mark.parametrize("kind", ["train.csv", "train.parquet", "train.store", "train.txt.gz", "-"])
def test_any_data(run: Any, run_json: Any, files: Any, kind: str) -> None:
    """The same weights, whatever the data come in; tables give names too."""
    run(f"train spd train.txt --model text.rank {QUICK}")
    stdin = None
    if kind == "-":
        stdin = Path("train.txt").read_bytes()
    else:
        run(f"convert train.txt {kind}")
    run(f"train spd {kind} --model other.rank {QUICK}", stdin=stdin)
    text, other = rl.load("text.rank"), rl.load("other.rank")
    assert other.weights.tolist() == text.weights.tolist()
    assert (other.feature_names is not None) == (kind == "train.csv")


def test_columns_are_counted_as_in_training(run: Any, run_json: Any, tmp_path: Path) -> None:
    """Counted from 0 in training, so from 0 in validation and prediction, where the index 0 does not come."""
    (tmp_path / "train.txt").write_text("1 qid:1 0:1 2:5\n0 qid:1 1:1 2:5\n" * 4)
    (tmp_path / "test.txt").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    run("train spd train.txt --valid test.txt --model m.rank --set steps=500")
    model = rl.load("m.rank")
    assert model.about["reading"] == {"index_base": 0}
    expected = model.predict([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]).tolist()
    assert run_json("predict m.rank test.txt")["values"] == expected
    assert run_json("predict m.rank test.txt --index-base 1")["values"] != expected
    assert run_json("evaluate m.rank test.txt -m pairwise")["measures"]["pairwise"] == float(
        expected[0] > expected[1]
    )


def test_features_that_the_training_data_do_not_use(run: Any, complain: Any, tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    (tmp_path / "vali.txt").write_text("1 qid:1 3:1\n0 qid:1 2:1\n")
    told = complain("train spd train.txt --valid vali.txt --model m.rank --set steps=9")
    assert told.startswith("vali.txt:1:")
    assert not Path("m.rank").exists()
    run("train spd train.txt --valid vali.txt --model m.rank --set steps=9 --n-features 3")
    assert rl.load("m.rank").n_features == 3


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("train spd train.txt", "missing option '--model'"),
        ("train spd train.txt --model -", "--model needs the name of a file, got -"),
        ("train spd train.txt --model train.txt", "train.txt is one of the inputs"),
        ("train spd train.txt --model vali.txt", "vali.txt is there already; give another name, or --force"),
        ("train spd train.txt --valid vali.txt --model vali.txt --force", "vali.txt is one of the inputs"),
        ("train spd train.txt --model no/m.rank --set steps=9", "the folder"),
        ("train spd none.txt --model m.rank", "none.txt: no such file"),
        ("train spd train.txt --valid none.txt --model m.rank", "none.txt: no such file"),
        ("train spd - --valid - --model m.rank", "only one of the inputs can be -"),
        ("train forest train.txt --model m.rank", "'forest' is not one of 'spd', 'crr'"),
        (
            "train spd train.txt --model m.rank --set setps=3",
            "spd has no parameter 'setps' (did you mean steps?)",
        ),
        ("train spd train.txt --model m.rank --set x=3", "spd has no parameter 'x'; it has loss, learner"),
        ("train spd train.txt --model m.rank --set steps", "--set must be name=value, got 'steps'"),
        ("train spd train.txt --model m.rank --set steps=1 --set steps=2", "--set steps is given twice"),
        ("train spd train.txt --model m.rank --set seed=2", "the seed has an option of its own: --seed N"),
        (
            "train spd train.txt --model m.rank --set steps=many",
            "--set steps must be a whole number, got 'many'",
        ),
        ("train spd train.txt --model m.rank --set lam=-1", "lam must be a number > 0, got -1.0"),
        (
            "train spd train.txt --model m.rank --set loss=cross",
            "loss must be one of hinge, logistic, squared",
        ),
        ("train spd train.txt --model m.rank -m ndgc", "no measure is called 'ndgc'"),
        ("train spd train.txt --model m.rank --seed -1", "-1 is not in the range"),
        ("train ranksvm train.txt --model m.rank --path", "--path chooses C by held-out data"),
        ("train spd train.txt --valid vali.txt --model m.rank --path", "spd has no path over C"),
        (
            "train ranksvm train.txt --valid vali.txt --model m.rank --path --set C=2",
            "--path goes through all C itself",
        ),
        ("train ranksvm train.txt --model m.rank --seed 1", "ranksvm draws nothing at random"),
        ("train ranksvm train.txt --model m.rank --stream", "ranksvm must see all rows"),
        ("train ranksvm train.txt --model m.rank --set C=0", "C must be a number > 0, got 0"),
        ("train spd same.txt --model m.rank", "label"),
        ("train spd one.txt --model m.rank", "X has 1 sample"),
        ("train spd train.txt --model m.rank --label y", "label is no option for text"),
    ],
)
def test_what_cannot_be_trained(complain: Any, files: Any, line: str, told: str) -> None:
    Path("same.txt").write_text("1 qid:1 1:1\n1 qid:1 1:2\n")
    Path("one.txt").write_text("1 qid:1 1:1\n")
    assert told in complain(line)
    assert not Path("m.rank").exists()


@pytest.mark.parametrize("name", ["train.txt", "train.txt.gz", "-"])
def test_a_stream_is_learned_from_as_python_does(run: Any, run_json: Any, files: Any, name: str) -> None:
    """The rows go through the buffer once; only the validation data are there to be measured."""
    if name.endswith(".gz"):
        run(f"convert train.txt {name}")
    stdin = Path("train.txt").read_bytes() if name == "-" else None
    line = f"train spd --stream {name} --valid vali.txt --model m.rank --set buffer=200"
    found = run_json(f"{line} --steps-per-row 3 --seed 2", stdin=stdin)
    ranker = rl.SPD(sampler="stream", buffer=200, seed=2)
    ranker.fit_stream("train.txt", steps_per_row=3, index_base=1)
    assert rl.load("m.rank").weights.tolist() == ranker.model_.weights.tolist()
    assert set(found["measures"]) == {"valid"}
    assert found["data"] == {"rows": files.n_rows, "features": files.n_features}
    assert found["reading"] == {"index_base": 1}
    assert found["parameters"]["steps_per_row"] == 3.0
    assert "steps" not in found["parameters"]
    run(f"train spd --stream {name} --model m.rank --force --set buffer=200", stdin=stdin)
    assert rl.load("m.rank").about["measures"] == {}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("train crr --stream train.txt --model m.rank", "crr must see all rows before it learns"),
        ("train spd train.txt --model m.rank --steps-per-row 2", "--steps-per-row is for --stream"),
        (
            "train spd --stream train.txt --model m.rank --set steps=9",
            "--set steps has no meaning with --stream",
        ),
        (
            "train spd --stream train.txt --model m.rank --set sampler=pairs",
            'fit_stream needs sampler="stream"',
        ),
        ("train spd --stream train.txt --model m.rank --index-base auto", "--index-base must be 0 or 1"),
        (
            "train spd --stream train.txt --model m.rank --layout dense",
            "--layout has no meaning with --stream",
        ),
        ("train spd --stream train.txt --model m.rank --doc-id x", "--doc-id has no meaning with --stream"),
        ("train spd --stream train.csv --model m.rank", "--stream is for text, and train.csv is none"),
        ("train spd --stream zero.txt --model m.rank", "zero.txt:1:9: the index 0 is below index_base=1"),
        ("train spd --stream empty.txt --model m.rank", "nothing to learn a ranking from"),
        ("train spd --stream none.txt --model m.rank", "none.txt: no such file"),
    ],
)
def test_what_cannot_be_streamed(complain: Any, files: Any, line: str, told: str) -> None:
    Path("train.csv").write_text("qid,label,f\n1,1,2\n")
    Path("zero.txt").write_text("1 qid:1 0:1\n")
    Path("empty.txt").write_text("")
    assert told in complain(line)
    assert not Path("m.rank").exists()


def test_force_replaces_a_model(run: Any, files: Any) -> None:
    run(f"train spd train.txt --model m.rank {QUICK}")
    before = Path("m.rank").read_bytes()
    run(f"train spd train.txt --model m.rank --force {QUICK} --seed 3")
    assert Path("m.rank").read_bytes() != before


def test_a_measure_that_is_not_defined_is_null(run: Any, run_json: Any, files: Any) -> None:
    """No pair in the validation data: nothing to say about pairs."""
    Path("few.txt").write_text("1 qid:1 1:1\n")
    found = run_json(f"train spd train.txt --valid few.txt --model m.rank {QUICK} -m pairwise")
    assert found["measures"]["valid"] == {"pairwise": None}
    done = run(f"train spd train.txt --valid few.txt --model m.rank --force {QUICK} -m pairwise")
    assert done.stdout.splitlines()[-1].split()[-1] == "-"


def test_json_is_one_document(run: Any, files: Any) -> None:
    assert json.load(io.StringIO(run(f"train spd train.txt --model m.rank {QUICK} --json").stdout))
