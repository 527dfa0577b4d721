"""`rankloom train`: learn a ranker from data, measure it, and write the model to a file."""

from __future__ import annotations

import inspect
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
        "--valid",
        metavar="FILE",
        help="Data to measure on too, not to learn from; lambdamart, lambdarank and ranknet stop by it.",
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
    click.option(
        "--path",
        "along",
        is_flag=True,
        help="Learn with C = 2^-15 ... 2^10, keep the best by --valid (ranksvm).",
    ),
    click.option("--stream", is_flag=True, help="Learn from text as it comes, without keeping it (spd)."),
    click.option(
        "--steps-per-row",
        type=click.FloatRange(min=0, min_open=True),
        help="With --stream: how many steps for each row (1).",
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
    along: bool,
    stream: bool,
    steps_per_row: float | None,
    force: bool,
    measures: tuple[str, ...],
    as_json: bool,
    **reading: Any,
) -> None:
    """Learn a ranker from data, measure it, and write the model to a file.

    METHOD is a family of rankers:

    \b
    {methods}

    TRAIN is any data with labels: text, Parquet, CSV, a store, or - for text on standard input. With
    --stream, text is learned from while it is read, once, in memory that does not grow with it (spd).

    The model file holds the parameters, a fingerprint of the data, versions and the measures. OUT appears
    whole or not at all.

    \b
    Examples:
      rankloom train spd train.txt --model model.rank
      rankloom train spd train.txt --valid vali.txt --model model.rank --set lam=1e-5 --set steps=1e6
      rankloom train lambdamart train.txt --valid vali.txt --model model.rank --set measure=map
      rankloom train crr train.store --model model.rank --set alpha=0.5 --seed 7 -m ndcg@10,mse
      rankloom train ranksvm train.txt --valid vali.txt --model model.rank --path
      zcat huge.txt.gz | rankloom train spd --stream - --model model.rank
    """
    _check_output(train, valid, target, force)
    names = options.names_of_measures(measures, DEFAULT_MEASURES)
    _check_measures(names)
    if steps_per_row is not None and not stream:
        raise InputError("--steps-per-row is for --stream; without it, say how many with --set steps=N")
    ranker = make_ranker(method, settings, seed, stream)
    _check_path(along, ranker, method, valid, settings)
    clock = Clock()
    with telling_of_compiling():
        learn = stream_through if stream else learn_from
        asked = {**reading, "steps_per_row": steps_per_row, "path": names if along else ()}
        sets, alike = learn(ranker, (train, valid), asked, clock)
        with clock("measure"):
            model = described(ranker.model_, sets, names, reading["threads"])
    model = model.with_about(reading=alike)
    if stream:
        model = _with_steps_per_row(model, steps_per_row)
    model.save(target)
    about = {"model": target, **model.about, "seconds": clock.seconds}
    if as_json:
        print_json(about)
    else:
        show(about)


def _check_path(along: bool, ranker: Any, method: str, valid: str | None, settings: tuple[str, ...]) -> None:
    if not along:
        return
    if not hasattr(ranker, "path"):
        raise InputError(f"{method} has no path over C; leave --path out, or take ranksvm")
    if valid is None:
        raise InputError("--path chooses C by held-out data; say which with --valid FILE")
    if any(setting.partition("=")[0].strip() == "C" for setting in settings):
        raise InputError("--path goes through all C itself; leave --set C out, or --path")


_METHOD_LINES = "\n".join(f"{name:<11} {method.summary}" for name, method in METHODS.items())
command.help = inspect.cleandoc(str(command.help)).replace("{methods}", _METHOD_LINES)


def _with_steps_per_row(model: Any, steps_per_row: float | None) -> Any:
    """In a stream, steps go with rows."""
    parameters = {name: value for name, value in model.about["parameters"].items() if name != "steps"}
    return model.with_about(parameters={**parameters, "steps_per_row": steps_per_row or 1.0})


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


Sets = dict[str, "RankingData"]
Alike = dict[str, Any]


def learn_from(
    ranker: Any, sources: tuple[str, str | None], reading: dict[str, Any], clock: Clock
) -> tuple[Sets, Alike]:
    """Read and fit; the data to measure on by name, and how text like them is to be read."""
    from rankloom.cli.reading import read_noting_base

    train, valid = sources
    measures = reading["path"]
    reading = {name: value for name, value in reading.items() if name not in ("steps_per_row", "path")}
    with clock("read"):
        data, alike = read_noting_base(train, reading)
        held_out = read_held_out(valid, reading, data.n_features, alike)
    watches = bool(held_out) and "valid" in inspect.signature(ranker.fit).parameters
    with clock("train"):
        if measures:
            path = ranker.path(data, valid=held_out["valid"], measures=measures)
            ranker.model_ = ranker.model_.with_about(path=path.facts())
        else:
            ranker.fit(data, **held_out) if watches else ranker.fit(data)
    return {"train": data, **held_out}, alike


def stream_through(
    ranker: Any, sources: tuple[str, str | None], reading: dict[str, Any], clock: Clock
) -> tuple[Sets, Alike]:
    """Learn while reading. Nobody can look ahead, so text counts from 1 unless told otherwise."""
    from rankloom.cli.options import reader_arguments
    from rankloom.cli.progress import progress

    train, valid = sources
    reading = {name: value for name, value in reading.items() if name != "path"}
    given = {"index_base": 1, "steps_per_row": 1.0, **reader_arguments(reading)}
    _check_stream(train, given)
    names = ("steps_per_row", "n_features", "index_base")
    asked = {name: given[name] for name in names if name in given}
    with clock("train"), progress("learning") as tick:
        ranker.fit_stream(train, **asked, progress=tick)
    alike = {"index_base": given["index_base"]}
    with clock("read"):
        own = {name: value for name, value in reading.items() if name not in names}
        held_out = read_held_out(valid, own, ranker.n_features_in_, alike)
    return held_out, alike


def _check_stream(train: str, given: dict[str, Any]) -> None:
    from rankloom.data.read import source_kind

    if source_kind(train) != "text":
        raise InputError(f"--stream is for text, and {train} is none; leave --stream out")
    if given["index_base"] == "auto":
        raise InputError("--index-base must be 0 or 1 with --stream: nobody knows what will come")
    for name in ("layout", "label", "qid", "doc_id"):
        if name in given:
            raise InputError(f"--{name.replace('_', '-')} has no meaning with --stream; leave it out")


def read_held_out(valid: str | None, reading: dict[str, Any], n_features: int, alike: Alike) -> Sets:
    """Data to measure on, with the features of the training data."""
    from rankloom.cli.reading import read
    from rankloom.data.read import source_kind

    if valid is None:
        return {}
    exact = {"n_features": n_features, **alike} if source_kind(valid) == "text" else {}
    return {"valid": read([valid], reading, **exact)}


def described(model: Any, sets: Sets, names: tuple[str, ...], threads: int | None) -> Any:
    """The model with the facts that its file is to hold: what it was learned from, and how good it is."""
    from rankloom.cli.scoring import measure_model

    measures = {
        part: measure_model(model, rows, names, threads).to_dict()["measures"] for part, rows in sets.items()
    }
    if "train" not in sets:
        return model.with_about(measures=measures)
    data = {**model.about["data"], "fingerprint": sets["train"].fingerprint()}
    return model.with_about(data=data, measures=measures)


def show(about: dict[str, Any]) -> None:
    """A table of measures, and where the model is."""
    found, data = about["measures"], about["data"]
    if "path" in about:
        rows = about["path"]
        print_table(list(rows[0]), [list(row.values()) for row in rows])
    if found:
        names = next(iter(found.values()))
        print_table(
            ["measure", *found], [[name, *(_cell(found[part][name]) for part in found)] for name in names]
        )
    counts = [counted(data[many], one) for many, one in _COUNTS.items() if many in data]
    seconds = about["seconds"]["train"]
    tell(f"wrote {about['model']}: {about['method']} learned from {', '.join(counts)} in {seconds:.2f} s")
    if "solver" in about:
        tell(_ended(about["solver"]))


def _ended(solver: dict[str, Any]) -> str:
    """How an exact solver ended."""
    return (
        f"C={solver['C']:g}: objective {solver['objective']:.6g}, residual {solver['residual']:.1e} after "
        f"{solver['iterations']} iterations and {solver['products']} products"
    )


_COUNTS = {"queries": "query", "rows": "row"}


def _cell(value: float | None) -> float:
    return float("nan") if value is None else value
