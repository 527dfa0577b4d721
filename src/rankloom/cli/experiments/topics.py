"""`rankloom experiment topics`: regression, ranking and both on each topic of a multi-label file."""

from __future__ import annotations

from typing import Any

import click

from rankloom.cli import options
from rankloom.cli.experiments.running import count, record, reporting, run, seed, several

_LOSSES = ["logistic", "hinge", "squared"]
_OWN = [
    click.option("--test", metavar="FILE", help="The test part; else three rows in ten of SOURCE."),
    click.option(
        "--names", metavar="FILE", help="What topics are called: a line each, number and name."
    ),
    click.option("--topics", type=several(), metavar="NAMES", help="Which topics (all common enough)."),
    click.option(
        "--min-positives", type=click.IntRange(min=0),
        help="Leave out topics with fewer positive training rows (20).",
    ),
    click.option(
        "--min-share", type=float, metavar="SHARE",
        help="Leave out topics with a smaller share of positive training rows (0).",
    ),
    click.option(
        "--methods", type=several(), metavar="NAMES",
        help="Of regression, ranking, crr, crr-twice, crr-calibrated (the first three).",
    ),
    click.option("--steps", type=count, metavar="N", help="Steps for each model (2e5; the paper's are 1e6)."),
    click.option("--alpha", type=float, help="Of CRR: the part of steps on rows (0.5)."),
    click.option("--loss", type=click.Choice(_LOSSES), help="What is learned by (logistic)."),
    click.option(
        "--lams", type=several(float), metavar="NUMBERS", help="What lam is chosen from (1e-7 to 1e-3).",
    ),
    click.option(
        "--rows", type=count, metavar="N", help="How many rows are generated (60000).",
    ),
]  # fmt: skip


@click.command()
@click.argument("source", required=False)
@options.all_of(_OWN)
@seed
@options.n_features
@record
@reporting
def command(source: str | None, as_json: bool, report: str | None, **given: Any) -> None:
    """Compare regression, ranking and CRR on each topic of a corpus (Sculley 2010, Table 1).

    SOURCE is multi-label SVMlight text, a list of topics with commas as the label, or nothing: a generated
    corpus. Each topic is told from all others; lam is chosen on a fifth of the training rows.

    \b
    Examples:
      rankloom experiment topics
      rankloom experiment topics train.svm.gz --test test.svm.gz --names topics.txt --record t.json
      rankloom experiment topics train.svm --test test.svm --topics 3,17 --steps 1e6 --report page.html
    """
    run("topics", source, "topics", as_json, report, given)
