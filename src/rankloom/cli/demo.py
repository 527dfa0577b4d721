"""`rankloom demo`: made-up data with a known truth, ranked in four ways, measured and compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankloom.cli import options
from rankloom.cli.compiling import telling_of_compiling
from rankloom.cli.failures import tell
from rankloom.cli.output import count, print_item, print_json, print_table
from rankloom.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankloom.data.ranking_data import RankingData

    Scores = NDArray[np.float64]

MEASURES = ("ndcg@10", "map", "err@10", "pairwise")
RANKINGS = {
    "random": "documents in random order",
    "feature": "the feature that is best on the training queries",
    "linear": "all features, weighted by least squares on the training queries",
    "truth": "what the labels were drawn from: nothing ranks better",
}


@click.command()
@click.option("--out", metavar="FOLDER", default="demo-output", help="Where the files go (demo-output).")
@click.option("--queries", type=click.IntRange(min=10), default=800, help="How many queries to make (800).")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Other numbers make other data (0).")
@click.option("--force", is_flag=True, help="Write into a folder that has files already.")
@options.as_json
@options.threads
def command(out: str, queries: int, seed: int, force: bool, as_json: bool, threads: int | None) -> None:
    """Make judged data with a known truth, rank it, measure it and compare.

    The data are made up in the shape of LETOR's: 46 features a document, labels 0, 1 and 2, some queries with
    nothing relevant. A quarter of the queries is kept for testing. Data and scores are written as files, for
    the other commands to be tried on.

    \b
    Examples:
      rankloom demo
      rankloom demo --out play --queries 5000 --seed 7
    """
    folder = Path(out)
    _check(folder, force)
    with telling_of_compiling():
        found = play(folder, queries, seed, threads)
    if as_json:
        print_json(found)
    else:
        _show(folder, found)


def _check(folder: Path, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder with --out")
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} has files already; give another folder with --out, or --force")


def play(folder: Path, queries: int, seed: int, threads: int | None) -> dict[str, Any]:
    """Everything the demo does; what it found, and where it put it."""
    from rankloom.data.generate import make_letor
    from rankloom.measures.compare import compare
    from rankloom.measures.evaluate import evaluate

    made = make_letor(queries, seed=seed)
    held_back = queries - queries // 4
    train, test = made.data.take(slice(0, held_back)), made.data.take(slice(held_back, queries))
    rankings = rank(train, test, made.truth[train.n_rows :], seed)
    files = write(folder, train, test, rankings)
    tell(f"wrote {len(files)} files to {folder}")
    measured = {
        name: evaluate(scores, test, measures=MEASURES, threads=threads).to_dict()["measures"]
        for name, scores in rankings.items()
    }
    two = {name: rankings[name] for name in ("feature", "linear")}
    comparison = compare(two, test, measures=MEASURES[:2], seed=seed, threads=threads)
    found = {"files": files, "train": _size(train), "test": _size(test)}
    return {**found, "measures": measured, "comparison": comparison.to_dict()}


def _size(data: RankingData) -> dict[str, int]:
    return {"rows": data.n_rows, "queries": data.n_queries}


def rank(train: RankingData, test: RankingData, truth: Scores, seed: int) -> dict[str, Scores]:
    """Four rankings of the test documents."""
    import numpy as np

    best = best_feature(train)
    weights = least_squares(train)
    return {
        "random": np.random.default_rng(seed).random(test.n_rows),
        "feature": test.X[:, best].astype(np.float64),
        "linear": test.X.astype(np.float64) @ weights[1:] + weights[0],
        "truth": truth,
    }


def best_feature(train: RankingData) -> int:
    """The column by which the training queries are ranked best."""
    from rankloom.measures.evaluate import evaluate

    def quality(column: int) -> float:
        return evaluate(train.X[:, column], train, measures=MEASURES[0])[MEASURES[0]]

    return max(range(train.n_features), key=quality)


def least_squares(train: RankingData) -> Scores:
    """The constant, and the weight of each feature, whose sum is nearest to the labels."""
    import numpy as np

    table = np.column_stack((np.ones(train.n_rows), train.X))
    weights: Scores = np.linalg.lstsq(table, np.asarray(train.y), rcond=None)[0]
    return weights


def write(folder: Path, train: RankingData, test: RankingData, rankings: dict[str, Scores]) -> dict[str, str]:
    """Data as LETOR text, scores as one number a line."""
    from rankloom.data.files import atomic_write
    from rankloom.data.text_writer import write_text

    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"{name}.txt" for name in ("train", "test", *rankings)}
    write_text(train, files["train"])
    write_text(test, files["test"])
    for name, scores in rankings.items():
        atomic_write(files[name], "".join(f"{score!r}\n" for score in scores.tolist()))
    return {name: str(path) for name, path in files.items()}


def _show(folder: Path, found: dict[str, Any]) -> None:
    train, test = found["train"], found["test"]
    made = f"Made {count(train['queries'])} queries ({count(train['rows'])} documents) to learn from"
    click.echo(f"{made}, and {count(test['queries'])} ({count(test['rows'])}) to test on.\n")
    rows = [[name, *found["measures"][name].values(), RANKINGS[name]] for name in RANKINGS]
    print_table(["ranking", *MEASURES, "documents are ranked by"], rows)
    click.echo("\nCould it be chance?")
    for row in found["comparison"]["rows"]:
        print_item(row["summary"])
    click.echo(f"\nThe files are in {folder}:")
    for name, path in found["files"].items():
        click.echo(f"  {path:<28}  {_what(name)}")
    click.echo("\nTry next:")
    for line in _try_next(folder):
        click.echo(f"  {line}")


def _what(name: str) -> str:
    data = {"train": "judged documents to learn from", "test": "judged documents to test on"}
    return data.get(name) or f"a score for each line of test.txt: {name}"


def _try_next(folder: Path) -> list[str]:
    return [
        f"rankloom inspect {folder / 'train.txt'}",
        f"rankloom train ranksvm {folder / 'train.txt'} --valid {folder / 'test.txt'} --model model.rank",
        f"rankloom evaluate {folder / 'linear.txt'} {folder / 'test.txt'} -m ndcg@5 -m ndcg@5/letor4",
        f"rankloom compare {folder / 'feature.txt'} {folder / 'linear.txt'} {folder / 'test.txt'}",
        f"rankloom convert {folder / 'train.txt'} {folder / 'train.store'}",
    ]
