"""`rankloom experiment letor`: LETOR's protocol over all folds and methods."""

from __future__ import annotations

import time
from typing import Any

import click

from rankloom.cli import options
from rankloom.cli.compiling import telling_of_compiling
from rankloom.cli.experiments.running import reporting, telling_of_record
from rankloom.cli.failures import tell
from rankloom.cli.output import print_json, print_table
from rankloom.cli.progress import progress
from rankloom.cli.reporting import check_report, settings_asked, write_report

_RUNNING = [
    click.option(
        "--methods", metavar="NAMES",
        help="Methods, with commas; also lightgbm, xgboost, catboost. Unless told, all that are installed.",
    ),
    click.option("--baseline", metavar="NAME", help="What the others are tested against (lightgbm)."),
    click.option(
        "--record", metavar="FILE", default="letor-record.json",
        help="What is done, to go on from (letor-record.json).",
    ),
    click.option(
        "--workers", type=click.IntRange(min=1),
        help="Processes side by side (as many as threads, if it takes long); the result is the same.",
    ),
    click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the random numbers (0)."),
]  # fmt: skip


@click.command()
@click.argument("folder")
@options.all_of(_RUNNING)
@options.measures
@reporting
@options.n_features
def command(
    folder: str,
    methods: str | None,
    measures: tuple[str, ...],
    as_json: bool,
    report: str | None,
    **more: Any,
) -> None:
    """Tune and measure every method on LETOR's folds, all in one table.

    For each method and each of FOLDER's Fold1, Fold2, ..., settings are chosen on vali.txt and the model is
    measured on test.txt. Stopped and called again, the same command goes on.

    \b
    Examples:
      rankloom experiment letor MQ2008
      rankloom experiment letor MQ2008 --methods spd,crr,lightgbm --baseline lightgbm -m ndcg@10,map
    """
    from rankloom.experiments.letor import MEASURES, letor
    from rankloom.experiments.run import document

    check_report(report, (more["record"],))
    begin = time.perf_counter()
    names = None if methods is None else [name.strip() for name in methods.split(",")]
    n_features = more.pop("n_features")
    reading = {} if n_features is None else {"n_features": n_features}
    asked = options.names_of_measures(measures, MEASURES)
    with telling_of_compiling(), telling_of_record(more), progress("methods and folds", True) as tick:
        found = letor(folder, names, measures=asked, progress=tick, **more, **reading)
    if report is not None:
        seconds = time.perf_counter() - begin
        told = document("letor", found.for_run(), settings=settings_asked(), data=found.data, seconds=seconds)
        write_report(report, told, (more["record"],))
    if as_json:
        print_json({"folder": folder, "record": more["record"], **found.to_dict()})
        return
    print_table(*found.table())
    tell(f"p is of a randomisation test against {found.baseline} over all test queries, corrected by Holm")
