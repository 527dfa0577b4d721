"""`rankloom experiment scaling`: how the time of training grows with the data."""

from __future__ import annotations

from typing import Any

import click

from rankloom.cli import options
from rankloom.cli.experiments.running import count, record, reporting, run, seed, several

_OWN = [
    click.option(
        "--sizes", type=several(count), metavar="NUMBERS",
        help="How many rows (10000,40000,160000; of a SOURCE a sixteenth, a quarter and all).",
    ),
    click.option("--methods", type=several(), metavar="NAMES", help="Methods of train (all there are)."),
]  # fmt: skip


@click.command()
@click.argument("source", required=False)
@options.all_of(_OWN)
@seed
@options.n_features
@record
@reporting
def command(source: str | None, as_json: bool, report: str | None, **given: Any) -> None:
    """Time the training of every method on growing data, and say how it grows.

    SOURCE is a folder of LETOR folds, a file, or nothing: generated lists. CPU seconds at each size with
    fixed settings, and the exponent: 1 is linear, 0 does not depend on the data.

    \b
    Examples:
      rankloom experiment scaling
      rankloom experiment scaling --sizes 1e4,1e5,1e6 --methods spd,crr,ranksvm --record s.json
      rankloom experiment scaling MQ2008 --report page.html
    """
    run("scaling", source, "fits", as_json, report, given)
