"""`rankloom train`: learn a ranker from data, measure it, and write the model to a file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from rankloom.cli import options
from rankloom.cli.compiling import telling_of_compiling
from rankloom.cli.failures import tell
from rankloom.cli.methods import METHODS, make_ranker
from rankloom.cli.output import counted, print_json, print_table
from rankloom.errors import InputError

if TYPE_CHECKING:
    from rankloom.data.ranking_data import RankingData

DEFAULT_MEASURES = ("ndcg@10", "map")

_LEARNING = [
    click.option("--model", "target", metavar="OUT", required=True, help="Where the model goes."),
    click.option(
        "--valid", metavar="FILE", help="Data to measure the ranker on too, that it does not learn from."
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of METHOD; repeat it for more.",
    ),
    click.option(
        "--seed", type=click.IntRange(min=0), help="Of the random numbers (0): same seed, same bits."
    ),
    click.option("--force", is_flag=True, help="Overwrite OUT if it is there."),
]


@click.command()
@click.argument("method", type=click.Choice(list(METHODS)), metavar="METHOD")
@click.argument("train")
@options.all_of(_LEARNING)
@options.measures
@options.as_json
@options.column_options
@options.text_options
@options.n_features
@options.threads
def command(
    method: str,
    train: str,
    target: str,
    valid: str | None,
    settings: tuple[str, ...],
    seed: int | None,
    force: bool,
    measures: tuple[str, ...],
    as_json: bool,
    **reading: Any,
) -> None:
    """Learn a ranker from data, measure it, and write the model to a file.

    METHOD is spd (stochastic pairwise descent) or crr (combined regression and ranking). TRAIN is any data
    with labels: text, Parquet, CSV, a store, or - for text on standard input.

    The model file holds the parameters, a fingerprint of the data, versions and the measures. OUT appears
    whole or not at all.

    \b
    Examples:
      rankloom train spd train.txt --model model.rank
      rankloom train spd train.txt --valid vali.txt --model model.rank --set lam=1e-5 --set steps=1e6
      rankloom train crr train.store --model model.rank --set alpha=0.5 --seed 7 -m ndcg@10,mse
    """
    _check_output(train, valid, target, force)
    names = options.names_of_measures(measures, DEFAULT_MEASURES)
    _check_measures(names)
    ranker = make_ranker(method, settings, seed)
    clock = Clock()
    with telling_of_compiling():
        with clock("read"):
            data, held_out, alike = read_both(train, valid, reading)
        with clock("train"):
            ranker.fit(data)
        with clock("measure"):
            model = described(ranker.model_, data, held_out, names, reading["threads"])
    model = model.with_about(reading=alike)
    model.save(target)
    about = {"model": target, **model.about, "seconds": clock.seconds}
    if as_json:
        print_json(about)
        return
    show(about, data)


class Clock:
    """How long each part took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Take the time of the block."""
        begin = time.perf_counter()
        yield
        self.seconds[part] = round(time.perf_counter() - begin, 4)


def _check_output(train: str, valid: str | None, target: str, force: bool) -> None:
    from rankloom.cli.convert import check_output

    if target == "-":
        raise InputError("--model needs the name of a file, got -")
    inputs = (train,) if valid is None else (train, valid)
    options.check_standard_input(*inputs)
    check_output(inputs, target, force)


def _check_measures(names: tuple[str, ...]) -> None:
    """A misspelt measure is found before the training, not after it."""
    from rankloom.measures.measure import Measure

    for name in names:
        Measure.parse(name)


def read_both(
    train: str, valid: str | None, reading: dict[str, Any]
) -> tuple[RankingData, RankingData | None, dict[str, Any]]:
    """Data to learn from, data to measure on with the same features, and how text is to be read for those."""
    from rankloom.cli.reading import read, read_noting_base
    from rankloom.data.read import source_kind

    data, alike = read_noting_base(train, reading)
    if valid is None:
        return data, None, alike
    exact = {"n_features": data.n_features, **alike} if source_kind(valid) == "text" else {}
    return data, read([valid], reading, **exact), alike


def described(
    model: Any, train: RankingData, valid: RankingData | None, names: tuple[str, ...], threads: int | None
) -> Any:
    """The model with the facts that its file is to hold: what it was learned from, and how good it is."""
    from rankloom.cli.scoring import measure_model

    measures = {
        part: measure_model(model, rows, names, threads).to_dict()["measures"]
        for part, rows in (("train", train), ("valid", valid))
        if rows is not None
    }
    data = {**model.about["data"], "fingerprint": train.fingerprint()}
    return model.with_about(data=data, measures=measures)


def show(about: dict[str, Any], data: RankingData) -> None:
    """A table of measures, and where the model is."""
    found = about["measures"]
    rows = [[name, *(_cell(found[part][name]) for part in found)] for name in found["train"]]
    print_table(["measure", *found], rows)
    told = f"{counted(data.n_queries, 'query')}, {counted(data.n_rows, 'row')}"
    seconds = about["seconds"]["train"]
    tell(f"wrote {about['model']}: {about['method']} learned from {told} in {seconds:.2f} s")


def _cell(value: float | None) -> float:
    return float("nan") if value is None else value
