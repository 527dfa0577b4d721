"""`rankloom experiment alpha`: values against ranking as CRR's alpha goes from 0 to 1."""

from __future__ import annotations

from typing import Any

import click

from rankloom.cli import options
from rankloom.cli.experiments.running import count, record, reporting, run, seed, several

_OWN = [
    click.option("--test", metavar="FILE", help="The test part, where SOURCE is a file."),
    click.option("--fold", type=click.IntRange(min=0), help="Which fold of a folder (its first)."),
    click.option(
        "--alphas", type=several(float), metavar="NUMBERS", help="From 0 to 1 (15 of them)."
    ),
    click.option("--at", type=float, metavar="ALPHA", help="The alpha of the reliability diagram (0.5)."),
    click.option(
        "--loss", type=click.Choice(["logistic", "squared", "hinge"]),
        help="What is learned by (logistic where there are two labels, else squared).",
    ),
    click.option("--lam", type=float, help="The cost of large weights (1e-5)."),
    click.option("--steps", type=count, metavar="N", help="Steps for each alpha (1e6, the paper's)."),
    click.option("--rows", type=count, metavar="N", help="How many rows are generated (60000)."),
]  # fmt: skip


@click.command()
@click.argument("source", required=False)
@options.all_of(_OWN)
@options.measures
@seed
@options.n_features
@record
@reporting
def command(
    source: str | None, measures: tuple[str, ...], as_json: bool, report: str | None, **given: Any
) -> None:
    """Show how values and ranking trade as CRR's alpha goes from 0 to 1 (Sculley 2010, Figure 1).

    SOURCE is a folder of LETOR folds, a file, or nothing: a generated topic of which 1 % is positive. The
    measures of each alpha on the test part, and for one alpha how far values can be taken as probabilities.

    \b
    Examples:
      rankloom experiment alpha --report page.html
      rankloom experiment alpha MQ2008 --fold 1 --lam 1e-3
      rankloom experiment alpha corn.train.svm.gz --test corn.test.svm.gz -m mse,auc-loss --at 0.9
    """
    given["measures"] = options.names_of_measures(measures, ()) or None
    run("alpha", source, "alphas", as_json, report, given)
