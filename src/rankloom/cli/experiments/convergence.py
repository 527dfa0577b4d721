"""`rankloom experiment convergence`: the RankSVM objective against the steps of SPD's learners."""

from __future__ import annotations

from typing import Any

import click

from rankloom.cli import options
from rankloom.cli.experiments.running import count, parts, record, reporting, run, seed, several

_OWN = [
    click.option("--steps", type=count, metavar="N", help="How many steps (1e6; the paper's are 1e8)."),
    click.option(
        "--lam", type=float, help="The cost of large weights (chosen on the validation part, else 0.001)."
    ),
    click.option(
        "--learners", type=several(), metavar="NAMES",
        help="Of sgd, pegasos, passive-aggressive, romma, combined (all).",
    ),
    click.option(
        "--caps", type=several(float), metavar="NUMBERS",
        help="The largest steps of passive-aggressive, a curve each (0.001,0.1).",
    ),
]  # fmt: skip


@click.command()
@click.argument("source", required=False)
@parts
@options.all_of(_OWN)
@seed
@options.n_features
@record
@reporting
def command(source: str | None, as_json: bool, report: str | None, **given: Any) -> None:
    """Show how fast each SPD learner nears the exact optimum (Sculley 2009, Figure 2).

    SOURCE is a folder of LETOR folds, a file, or nothing: 500 generated queries to learn from, 200 to test.
    The RankSVM objective on train and test at 1e2, 1e3, ... steps, with the paper's rate and the bounded one,
    beside the exact optimum.

    \b
    Examples:
      rankloom experiment convergence
      rankloom experiment convergence MQ2008 --fold 1 --steps 1e8 --record c.json --report page.html
      rankloom experiment convergence train.txt --test test.txt --lam 0.01 --learners pegasos,romma
    """
    run("convergence", source, "curves", as_json, report, given)
