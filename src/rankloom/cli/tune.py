"""`rankloom tune`: choose a ranker's settings, every trial on record, and write the best model to a file."""

from __future__ import annotations

import inspect
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rankloom.cli import options
from rankloom.cli.compiling import telling_of_compiling
from rankloom.cli.convert import check_output
from rankloom.cli.failures import tell
from rankloom.cli.methods import METHODS, make_ranker, parameters, parse_spaces, ranker_class
from rankloom.cli.output import counted, print_json, print_table
from rankloom.cli.progress import progress
from rankloom.cli.reporting import check_report, report_option, settings_asked, write_report
from rankloom.cli.train import Clock, described
from rankloom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankloom.data.ranking_data import RankingData

RECORD_SUFFIX = ".tune.json"
_SHOWN = 10

_SEARCHING = [
    click.option("--model", "target", metavar="OUT", required=True, help="Where the best model goes."),
    click.option("--valid", metavar="FILE", help="Data to choose by, that are not learned from."),
    click.option(
        "--folds", type=click.IntRange(min=2), help="Choose by so many folds of TRAIN, cut by query."
    ),
    click.option(
        "--set", "settings", multiple=True, metavar="NAME=VALUE",
        help="A parameter of METHOD that is not searched; repeat it for more.",
    ),
    click.option(
        "--space", "spaces", multiple=True, metavar="NAME=LOW:HIGH",
        help="What to try: NAME=LOW:HIGH, NAME=LOW:HIGH:POINTS or NAME=A,B,C; repeat it for more.",
    ),
    click.option(
        "--search", type=click.Choice(["grid", "random", "optuna"]), default="grid",
        help="All combinations (grid), random ones, or guided by the trials so far (optuna).",
    ),
    click.option("--trials", type=click.IntRange(min=1), help="Random and guided: how many trials (30)."),
    click.option(
        "--workers", type=click.IntRange(min=1),
        help="Processes side by side (as many as threads, if it takes long); the result is the same.",
    ),
    click.option(
        "--record", metavar="FILE", help=f"Every trial, to go on from (OUT{RECORD_SUFFIX})."
    ),
    click.option(
        "--seed", type=click.IntRange(min=0), default=0,
        help="Of folds, search and ranker (0): same seed, same bits.",
    ),
    click.option("--force", is_flag=True, help="Overwrite OUT if it is there."),
]  # fmt: skip


class Asked(NamedTuple):
    """What is to be searched, and how."""

    method: str
    ranker: Any
    space: Any
    measures: tuple[str, ...]
    how: dict[str, Any]


@click.command()
@click.argument("method", type=click.Choice(list(METHODS)), metavar="METHOD")
@click.argument("train")
@options.all_of(_SEARCHING)
@options.measures
@report_option
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
    spaces: tuple[str, ...],
    record: str | None,
    force: bool,
    measures: tuple[str, ...],
    report: str | None,
    as_json: bool,
    **more: Any,
) -> None:
    """Choose a ranker's settings by held-out data or folds, and write the best model to a file.

    METHOD and TRAIN are as for train. Without --space, a grid that suits the method is tried, but for what
    --set sets. The first measure chooses. Every trial is written to the record at once: stopped and called
    again, the same command goes on, and repeats no finished trial.

    \b
    Examples:
      rankloom tune spd train.txt --valid vali.txt --model best.rank
      rankloom tune crr train.txt --folds 5 --model best.rank --set loss=logistic -m map
      rankloom tune spd train.store --folds 5 --model best.rank --space lam=1e-7:1 --space loss=hinge,logistic
      rankloom tune spd train.txt --valid vali.txt --model best.rank --search optuna --trials 50 --workers 2
    """
    inputs = (train,) if valid is None else (train, valid)
    if target == "-":
        raise InputError("--model needs the name of a file, got -")
    if (valid is None) == (more["folds"] is None):
        raise InputError("give either --valid FILE or --folds K, one of them")
    options.check_standard_input(*inputs)
    check_output(inputs, target, force)
    how = {name: more.pop(name) for name in ("folds", "search", "trials", "workers", "seed")}
    how["record"] = target + RECORD_SUFFIX if record is None else record
    check_output((*inputs, target), how["record"], True)
    kept = (*inputs, target, how["record"])
    check_report(report, kept)
    asked = _asked(method, settings, spaces, options.names_of_measures(measures, ("ndcg@10",)), how)
    about = _tuned(asked, (train, valid), target, more)
    table, facts = about.pop("table"), about.pop("run")
    if report is not None:
        write_report(report, {**facts, "settings": settings_asked()}, kept)
    if as_json:
        print_json(about)
    else:
        _show(about, table)


def _asked(
    method: str,
    settings: tuple[str, ...],
    spaces: tuple[str, ...],
    names: tuple[str, ...],
    how: dict[str, Any],
) -> Asked:
    """Everything that can be wrong without a look at the data."""
    from rankloom.experiments.tune import default_spaces
    from rankloom.measures.measure import Measure

    for name in names:
        Measure.parse(name)
    ranker = ranker_class(method)
    space: Any = parse_spaces(method, spaces, parameters(ranker)) if spaces else None
    fixed = {setting.partition("=")[0].strip() for setting in settings}
    twice = sorted(fixed.intersection(space or ()))
    if twice:
        raise InputError(f"{twice[0]} is both set and searched; leave out --set {twice[0]}, or --space")
    seeded = "seed" in inspect.signature(ranker).parameters
    made = make_ranker(method, settings, how["seed"] if seeded else None)
    if space is None:
        space = default_spaces(made, method, {name: getattr(made, name) for name in fixed})
    return Asked(method, made, space, names, how)


def _tuned(
    asked: Asked, sources: tuple[str, str | None], target: str, reading: dict[str, Any]
) -> dict[str, Any]:
    """Search, write the model, and say what there is to say."""
    from rankloom.data.files import scratch_folder
    from rankloom.data.store import load_store
    from rankloom.experiments.run import document
    from rankloom.experiments.tune import tune

    clock = Clock()
    with scratch_folder(Path(os.path.realpath(target)).parent) as folder, telling_of_compiling():
        with clock("read"):
            stores, alike = _stored(sources, reading, folder)
        with clock("tune"), _telling_of_record(asked.how["record"]), progress("trials", True) as tick:
            found = tune(
                asked.ranker,
                *stores,
                space=asked.space,
                measure=asked.measures[0],
                progress=tick,
                **asked.how,
            )
        sets = dict(zip(("train", "valid"), (load_store(store) for store in stores), strict=False))
        model = described(found.best_model, sets, asked.measures, reading["threads"])
    model.with_about(reading=alike).save(target)
    facts = {"model": target, "record": asked.how["record"], **model.about}
    run = document("tune", found.for_run(), data=found.data, seconds=sum(clock.seconds.values()))
    return {
        **facts, "tuning": found.to_dict(), "table": found.table(), "seconds": clock.seconds, "run": run
    }  # fmt: skip


def _stored(
    sources: tuple[str, str | None], reading: dict[str, Any], folder: Path
) -> tuple[list[str], dict[str, Any]]:
    """Data as stores: what was read is let go of, so that nobody holds more than what is mapped."""
    from rankloom.cli.reading import read_noting_base
    from rankloom.cli.train import read_held_out
    from rankloom.data.store import load_store

    train, valid = sources
    alike: dict[str, Any] = {}
    if _is_store(train):
        stores, n_features = [train], load_store(train).n_features
    else:
        data, alike = read_noting_base(train, reading)
        stores, n_features = [_saved(data, folder / "train.store")], data.n_features
        del data
    if valid is not None:
        held_out = None if _is_store(valid) else read_held_out(valid, reading, n_features, alike)["valid"]
        stores.append(valid if held_out is None else _saved(held_out, folder / "valid.store"))
    return stores, alike


def _is_store(source: str) -> bool:
    from rankloom.data.read import source_kind

    return source_kind(source) == "store"


def _saved(data: RankingData, target: Path) -> str:
    from rankloom.data.store import save_store

    save_store(data, target)
    return str(target)


@contextmanager
def _telling_of_record(record: str) -> Iterator[None]:
    """Whoever stops it is told how to go on."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if Path(record).exists():
            tell(f"the trials so far are in {record}; the same command goes on from there")
        raise


def _show(about: dict[str, Any], table: tuple[list[str], list[list[Any]]]) -> None:
    """The best trials, and where the model is."""
    from rankloom.experiments.tuning import brief

    headers, rows = table
    print_table(headers, rows[:_SHOWN])
    if len(rows) > _SHOWN:
        tell(f"... and {counted(len(rows) - _SHOWN, 'trial')} more in {about['record']}")
    best = about["tuning"]["best"]
    settings = ", ".join(f"{name}={brief(value)}" for name, value in best["parameters"].items())
    tell(
        f"wrote {about['model']}: {about['method']} with {settings} was best of "
        f"{counted(len(rows), 'trial')} in {about['seconds']['tune']:.1f} s"
    )
