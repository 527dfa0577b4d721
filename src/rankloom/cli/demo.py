"""`rankloom demo`: judged data learned by all families of rankers, which are compared and shown on a page."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rankloom.cli import options
from rankloom.cli.compiling import telling_of_compiling
from rankloom.cli.failures import tell
from rankloom.cli.output import count, number, print_item, print_json, print_table
from rankloom.cli.progress import progress
from rankloom.errors import InputError

if TYPE_CHECKING:
    from rankloom.data.ranking_data import RankingData
    from rankloom.experiments.tour import Tour

QUERIES = 800


class Stage(NamedTuple):
    """What is learned from and measured on, and what is known of its truth."""

    train: RankingData
    test: RankingData
    files: dict[str, str]
    truth: dict[str, Any]
    reading: dict[str, Any]
    """How text like the training data is read for its columns to be the same."""


@click.command()
@click.option("--out", metavar="FOLDER", default="demo-output", help="Where the files go (demo-output).")
@click.option("--queries", type=click.IntRange(min=12), help=f"How many queries to make ({QUERIES}).")
@click.option("--train", metavar="FILE", help="Your own judged data, in place of data that are made up.")
@click.option("--test", metavar="FILE", help="To measure on; else a quarter of the queries of --train.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Other numbers make other data (0).")
@click.option("--force", is_flag=True, help="Write into a folder that has files already.")
@options.as_json
@options.threads
def command(
    out: str,
    queries: int | None,
    train: str | None,
    test: str | None,
    seed: int,
    force: bool,
    as_json: bool,
    threads: int | None,
) -> None:
    """Learn judged data with every family of rankers, compare them, and show it on a page.

    Unless --train is given, the data are made up in the shape of LETOR's: 46 features a document, labels 0, 1
    and 2, some queries with nothing relevant, and a known truth. A quarter of the queries is kept for
    testing. Settings of each ranker are chosen by folds of the others.

    In FOLDER are then the data, the scores of each ranking, the models, and report.html, a page that needs
    nothing but a browser (with pip install "rankloom[report]"; trees ask for "rankloom[trees]").

    \b
    Examples:
      rankloom demo
      rankloom demo --out play --queries 5000 --seed 7
      rankloom demo --train mine.csv --out mine
    """
    folder = Path(out)
    _check(folder, force, queries, train, test)
    _warm()
    with telling_of_compiling():
        if train is None:
            stage = _made(folder, queries or QUERIES, seed)
        else:
            stage = _given(folder, train, test, seed)
        found = play(folder, stage, seed, threads)
    if as_json:
        print_json(found)
    else:
        _show(folder, found)


def _check(folder: Path, force: bool, queries: int | None, train: str | None, test: str | None) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder with --out")
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} has files already; give another folder with --out, or --force")
    if train is not None and queries is not None:
        raise InputError("--queries is for data that are made up; leave it out with --train")
    if test is not None and train is None:
        raise InputError("--test needs --train; give both, or neither")
    if "-" in (train, test):
        raise InputError("--train and --test need the names of files, got -")


def _warm() -> None:
    """Compile what is not on disk, by as many processes as there are cores for it."""
    from rankloom.kernels.threads import thread_count
    from rankloom.warm import is_warm, warm_up

    workers = thread_count()
    if workers > 1 and not is_warm():
        tell("compiling kernels: once on this machine, some seconds (rankloom warmup does it ahead)")
        warm_up(workers)


def _made(folder: Path, queries: int, seed: int) -> Stage:
    """Data that are made up, as files."""
    from rankloom.data.generate import make_letor

    made = make_letor(queries, seed=seed)
    held_back = queries - queries // 4
    train, test = made.data.take(slice(0, held_back)), made.data.take(slice(held_back, queries))
    known = {"truth": made.truth[train.n_rows :], "true_weights": made.weights}
    return Stage(train, test, _written(folder, train, test), known, {})


def _given(folder: Path, source: str, held_out: str | None, seed: int) -> Stage:
    """Somebody's own data; where there is no test part, a quarter of the queries becomes one."""
    from rankloom.cli.reading import read_noting_base
    from rankloom.cli.train import read_held_out
    from rankloom.data.splits import split

    data, alike = read_noting_base(source, {})
    if held_out is not None:
        test = read_held_out(held_out, {}, data.n_features, alike)["valid"]
        return Stage(data, test, {"train": source, "test": held_out}, {}, alike)
    train, test = split(data, (0.75, 0.25), seed=seed)
    return Stage(train, test, _written(folder, train, test), {}, {})


def _written(folder: Path, train: RankingData, test: RankingData) -> dict[str, str]:
    from rankloom.data.text_writer import write_text

    folder.mkdir(parents=True, exist_ok=True)
    files = {"train": folder / "train.txt", "test": folder / "test.txt"}
    write_text(train, files["train"])
    write_text(test, files["test"])
    return {name: str(path) for name, path in files.items()}


def play(folder: Path, stage: Stage, seed: int, threads: int | None) -> dict[str, Any]:
    """Everything the demo does; what it found, and where it put it."""
    from rankloom.experiments.run import document
    from rankloom.experiments.tour import told, tour

    folder.mkdir(parents=True, exist_ok=True)
    with progress("rankers", True) as tick:
        found = tour(stage.train, stage.test, seed=seed, threads=threads, progress=tick, **stage.truth)
    files = {**stage.files, **_kept(folder, found, stage.reading)}
    sizes = (stage.train.n_queries, stage.test.n_queries)
    result = {**found.to_dict(), "told": told(found, sizes)}
    run = document("demo", result, settings={"seed": seed}, data={"train": stage.train, "test": stage.test})
    files |= _report(folder, run)
    tell(f"wrote {len(files)} files to {folder}")
    return {"files": files, "train": _size(stage.train), "test": _size(stage.test), **result}


def _size(data: RankingData) -> dict[str, int]:
    return {"rows": data.n_rows, "queries": data.n_queries}


def _kept(folder: Path, found: Tour, reading: dict[str, Any]) -> dict[str, str]:
    """Scores as one number a line, and the models."""
    from rankloom.data.trec_writer import write_scores
    from rankloom.experiments.tour import FAMILIES

    files = {}
    for one in found.systems:
        files[one.name] = str(folder / f"{one.name}.txt")
        write_scores(one.scores, files[one.name])
        if one.model is not None and one.name in FAMILIES:
            files[f"{one.name}.rank"] = str(folder / f"{one.name}.rank")
            one.model.with_about(reading=reading).save(files[f"{one.name}.rank"])
    return files


def _report(folder: Path, run: dict[str, Any]) -> dict[str, str]:
    """The page, where figures can be drawn; else the user is told what to install."""
    from rankloom.cli.reporting import write_report

    if importlib.util.find_spec("matplotlib") is None:
        tell('no report is written, for want of matplotlib: pip install "rankloom[report]"')
        return {}
    page = folder / "report.html"
    write_report(str(page), run)
    return {"report": str(page), "run": str(page.with_suffix(".json"))}


def _show(folder: Path, found: dict[str, Any]) -> None:
    train, test = found["train"], found["test"]
    learned = f"{count(train['queries'])} queries ({count(train['rows'])} documents) to learn from"
    click.echo(f"{learned}, {count(test['queries'])} ({count(test['rows'])}) to test on.\n")
    headers = ["ranking", *found["measures"], "seconds", "documents are ranked by"]
    print_table(headers, [_row(one) for one in found["systems"]])
    click.echo("\nWhat it shows")
    for line in found["told"]:
        print_item(line)
    click.echo()
    click.echo(_where(folder, found["files"]))
    click.echo("\nTry next:")
    for line in _try_next(folder, found["files"]):
        click.echo(f"  {line}")


def _where(folder: Path, files: dict[str, str]) -> str:
    """What lies in the folder."""
    data = "the data (train.txt, test.txt), " if files["test"] == str(folder / "test.txt") else ""
    page = ", and report.html: open it in a browser" if "report" in files else ""
    return f"In {folder}: {data}each ranking's scores (crr.txt) and model (crr.rank){page}."


def _row(one: dict[str, Any]) -> list[Any]:
    seconds = "" if one["seconds"] is None else number(one["seconds"], 2)
    return [one["name"], *one["measures"].values(), seconds, one["says"]]


def _try_next(folder: Path, files: dict[str, str]) -> list[str]:
    train, test = files["train"], files["test"]
    return [
        f"rankloom inspect {train}",
        f"rankloom evaluate {folder / 'ranksvm.rank'} {test} -m ndcg@5 -m ndcg@5/letor4",
        f"rankloom compare {folder / 'linear.txt'} {folder / 'ranksvm.rank'} {test}",
        f"rankloom tune crr {train} --folds 3 --model {folder / 'best.rank'}",
        f"rankloom predict {folder / 'crr.rank'} {test} --out {folder / 'values.txt'}",
    ]
